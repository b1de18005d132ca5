/**
 * The frame around every page of the server.
 * @module
 */
import { displayText, html, renderHtml, type SafeHtml } from './html.js'
import type { Language } from './texts/texts.js'

/** The parts that differ from page to page. */
export interface Layout {
  /** The title of the document, as text. */
  readonly title: string
  /** The URL of the stylesheet. */
  readonly stylesheet: string
  /** The landmarks of the page: an optional `<header>` and one `<main>`. */
  readonly body: SafeHtml
}

/**
 * Writes a whole document. It has no script, no inline style and nothing from another origin, so it works under
 * `default-src 'none'; style-src 'self'; img-src 'self'`.
 *
 * @param layout - the title, the stylesheet and the body
 * @param language - the language of the page
 * @returns the document
 */
export function layOut(layout: Layout, { locale, texts }: Language): string {
  return renderHtml(html`<!doctype html>
<html lang="${locale}" dir="${texts.direction}">
<head>
<meta charset="utf-8">
<title>${displayText(layout.title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="stylesheet" href="${layout.stylesheet}">
</head>
<body>
${layout.body}
</body>
</html>
`)
}

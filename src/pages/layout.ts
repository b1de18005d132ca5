/**
 * The frame around every page of the server.
 * @module
 */
import { type Appearance, brandOf, linksOf } from './appearance/appearance.js'
import { isolated, shortened } from './fragments.js'
import { displayText, html, renderHtml, type SafeHtml } from './html.js'
import type { Language, Texts } from './texts/texts.js'
import { fillHtml } from './texts/texts.js'

/** The user who is signed in. */
export interface SignedInUser {
  /** The name that the pages show. */
  readonly name: string
  /** The address at which somebody else can sign in, from the option `switchAccountUrl`; absent without that option. */
  readonly switchAccountUrl?: string
}

/** The parts that differ from page to page. */
export interface Layout {
  /** The title of the document, as text. */
  readonly title: string
  /** The URL of the stylesheet. */
  readonly stylesheet: string
  /** The user who is signed in; absent on a page for anybody. */
  readonly user?: SignedInUser
  /** The content of `<main>`. */
  readonly main: SafeHtml
}

/** The language and the look of a page. */
export interface Frame extends Language {
  readonly appearance: Appearance
}

/**
 * Writes a whole document. It has no script, no inline style and nothing from another origin, so it works under
 * `default-src 'none'; style-src 'self'; img-src 'self'`.
 *
 * @param layout - the title, the stylesheet, the user and the content
 * @param frame - the language and the look of the page
 * @returns the document
 */
export function layOut({ title, stylesheet, user, main }: Layout, { locale, texts, appearance }: Frame): string {
  const { name } = appearance
  return renderHtml(html`<!doctype html>
<html lang="${locale}" dir="${texts.direction}">
<head>
<meta charset="utf-8">
<title>${displayText(name === undefined ? title : `${title} – ${name}`)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
${header(brandOf(appearance), user, texts)}<main>
${main}
</main>
${linksOf(appearance, texts)}</body>
</html>
`)
}

/** Writes the landmark that names the service and the user; nothing where there is neither. */
function header(brand: SafeHtml | undefined, user: Layout['user'], texts: Texts): SafeHtml | undefined {
  if (brand === undefined && user === undefined) return undefined
  return html`<header>
${brand}${user && signedIn(user, texts)}</header>
`
}

function signedIn({ name, switchAccountUrl: url }: SignedInUser, texts: Texts): SafeHtml {
  const link = url === undefined ? undefined : html` <a href="${url}">${texts['page.switchAccount']}</a>`
  return html`<p>${fillHtml(texts['page.signedInAs'], { user: isolated(shortened(name)) })}${link}</p>
`
}

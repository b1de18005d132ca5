/**
 * The look of the pages as a host has it: its name and logo in front, its colours and font, and links to its own pages.
 * @module
 */
import { displayText, html, type SafeHtml } from '../html.js'
import type { Texts } from '../texts/texts.js'
import type { ColourSchemes } from './colours.js'

/** The look of the pages. What is left out is as in the default pages, or is not shown. */
export interface Appearance {
  /** The name of the service: in front of every page and behind its title. */
  readonly name?: string
  /** The path of an image on this server, beside the name, which it needs: the pages take images of their own origin alone. */
  readonly logo?: string
  /** Some of the colours, in the light and in the dark. A pair that is too faint is told to `onError`. */
  readonly colours?: ColourSchemes
  /** The names of fonts that the browser has, as CSS writes them: `'Inter', sans-serif`. */
  readonly font?: string
  /** The start page of the service, behind its name, which it needs: a path, or an https URL. */
  readonly homeUrl?: string
  /** The page with help. */
  readonly helpUrl?: string
  /** The terms of the service. */
  readonly termsUrl?: string
  /** The privacy policy of the service. */
  readonly privacyUrl?: string
}

/** Writes the name and logo of the service; nothing where it has no name. */
export function brandOf({ name, logo, homeUrl }: Appearance): SafeHtml | undefined {
  if (name === undefined) return undefined
  const image = logo === undefined ? undefined : html`<img src="${logo}" alt="" height="32"> `
  const words = html`${image}<span>${displayText(name)}</span>`
  return html`<p class="brand">${homeUrl === undefined ? words : html`<a href="${homeUrl}">${words}</a>`}</p>\n`
}

/** Writes the links to the pages of the service; nothing where it has none. */
export function linksOf({ helpUrl, termsUrl, privacyUrl }: Appearance, texts: Texts): SafeHtml | undefined {
  const links = (
    [
      [helpUrl, 'page.help'],
      [termsUrl, 'page.terms'],
      [privacyUrl, 'page.privacy'],
    ] as const
  ).flatMap(([url, name]) => (url === undefined ? [] : [html`<li><a href="${url}">${texts[name]}</a></li>\n`]))
  return links.length === 0 ? undefined : html`<footer>\n<ul>\n${links}</ul>\n</footer>\n`
}

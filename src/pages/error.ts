/**
 * The page for a request that cannot be answered with a redirect (RFC 6749, 4.1.2.1).
 * @module
 */
import { ownModel } from './fragments.js'
import { displayText, html } from './html.js'
import { layOut } from './layout.js'

/** What the error page shows. */
export interface ErrorPageModel {
  /** One line: what happened. Heading and title of the page. */
  readonly title: string
  /** What the user can do about it. It must not name a path, a query or a secret. */
  readonly message: string
  /** A link below the message on which the user goes on; absent where there is nowhere. */
  readonly link?: { readonly href: string; readonly text: string }
  /** URL path of the stylesheet. */
  readonly stylesheet: string
}

/** The words for an authorization request with wrong parameters (specification, 4.1). */
export const inaccessibleLink: Readonly<Omit<ErrorPageModel, 'stylesheet'>> = {
  title: 'This link cannot be accessed',
  message:
    'The link that brought you here is incomplete, or the application may not use it. ' +
    'Nothing was shared. Go back to the application and try again; if that does not help, tell the people who run it.',
}

/**
 * The error page.
 *
 * @param model what to show; every value is text
 * @returns a whole HTML document
 * @example
 * errorPage({ ...inaccessibleLink, stylesheet: '/oauth2/style.css' })
 */
export function errorPage(model: ErrorPageModel): string {
  const own = ownModel(model)
  const { link } = own
  return layOut({
    title: own.title,
    stylesheet: own.stylesheet,
    body: html`<main>
<h1><bdi>${displayText(own.title)}</bdi></h1>
<p dir="auto">${displayText(own.message)}</p>
${link && html`<p><a href="${link.href}">${displayText(link.text)}</a></p>`}
</main>`,
  })
}

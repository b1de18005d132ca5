/**
 * The page for a request that cannot be answered with a redirect.
 * @module
 * @see RFC 6749, section 4.1.2.1
 */
import { ownModel } from './fragments.js'
import { displayText, html } from './html.js'
import { layOut } from './layout.js'

/** The model of the error page. */
export interface ErrorPageModel {
  /** The heading and title of the page: one line that says what happened. */
  readonly title: string
  /** The advice to the user. It must not name a path, a query or a secret. */
  readonly message: string
  /** The link below the message to go on with; absent if there is none. */
  readonly link?: { readonly href: string; readonly text: string }
  /** The URL path of the stylesheet. */
  readonly stylesheet: string
}

/** The words for an authorization request with wrong parameters (specification, section 4.1). */
export const inaccessibleLink: Readonly<Omit<ErrorPageModel, 'stylesheet'>> = {
  title: 'This link cannot be accessed',
  message:
    'The link that brought you here is incomplete, or the application may not use it. ' +
    'Nothing was shared. Go back to the application and try again; if that does not help, tell the people who run it.',
}

/**
 * Writes the error page.
 *
 * @param model - the things to show; every value is text
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

/**
 * The page for a request that cannot be answered with a redirect.
 * @module
 * @see RFC 6749, section 4.1.2.1
 */
import { backLink } from './fragments.js'
import { displayText, html } from './html.js'
import { type DefaultPageInput, readInput } from './input.js'
import { layOut } from './layout.js'
import { fillHtml } from './texts/texts.js'

/** The code of an error, for a page with words of its own. */
export type PageErrorCode =
  | 'link'
  | 'consentForm'
  | 'deviceForm'
  | 'applicationsForm'
  | 'notApproved'
  | 'clientRefused'
  | 'hostRefused'
  | 'clientUnreadable'
  | 'notFound'
  | 'forbidden'
  | 'busy'
  | 'signedOut'

/** The model of the error page. */
export interface ErrorPageModel {
  /** The code of the error. */
  readonly code: PageErrorCode

  /** The heading and title of the page: one line that says what happened. */
  readonly title: string
  /** The advice to the user. It must not name a path, a query or a secret. */
  readonly message: string
  /**
   * The wrong parameter of the link, for the developer who reads this page; absent if there is none to tell. The server sets it only where
   * the signed-in user is the applicant of the application. Nothing of the parameter's value is in it.
   */
  readonly detail?: {
    /** The name of the parameter, such as `redirect_uri`. */
    readonly parameter: string
    /** The rule that it breaks: a sentence in the user's language. */
    readonly rule: string
  }
  /** The link below the message to go on with; absent if there is none. */
  readonly link?: { readonly href: string; readonly text: string }
  /**
   * The application that the error is about, to link back to its website; absent if it is unknown. The server sets it only for one that
   * administrators approved and have not stopped, since any link can show this page.
   */
  readonly application?: {
    readonly name: string
    /** An `http` or `https` URL, as registered. */
    readonly website: string
  }
  /** The URL path of the stylesheet. */
  readonly stylesheet: string
}

/**
 * Writes the error page.
 *
 * @param input - the things to show, every one of them text, and the language
 * @returns a whole HTML document
 */
export function errorPage(input: DefaultPageInput<ErrorPageModel>): string {
  const { model, ...frame } = readInput(input)
  const { title, message, detail, link, application, stylesheet } = model
  const main = html`<h1><bdi>${displayText(title)}</bdi></h1>
<p dir="auto">${displayText(message)}</p>
${
  detail &&
  html`<p>${fillHtml(frame.texts['error.detail'], { parameter: html`<code dir="ltr">${detail.parameter}</code>` })}</p>
<p dir="auto">${displayText(detail.rule)}</p>`
}
${link && html`<p><a href="${link.href}">${displayText(link.text)}</a></p>`}
${application && backLink(frame.texts, application)}`
  return layOut({ title, stylesheet, main }, frame)
}

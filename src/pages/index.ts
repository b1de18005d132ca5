/**
 * `grantwell/pages`: the default pages, their stylesheet, and what a host needs to write its own.
 * @module
 */
import { type ConsentPageModel, consentPage } from './consent.js'
import { type ErrorPageModel, errorPage } from './error.js'

export type { ConsentPageModel, ConsentResource, ConsentScope, ResourceKind } from './consent.js'
export { consentPage } from './consent.js'
export type { ErrorPageModel } from './error.js'
export { errorPage, inaccessibleLink } from './error.js'
export type { HtmlValue, SafeHtml } from './html.js'
export { displayText, escapeHtml, html, renderHtml } from './html.js'
export { stylesheet } from './stylesheet.js'

/** The pages that the server shows. Each is a function from a model to a whole HTML document. */
export interface Pages {
  readonly consent: (model: ConsentPageModel) => string
  readonly error: (model: ErrorPageModel) => string
}

/** The pages of this package. A host replaces them one by one: `{ ...defaultPages, error: myErrorPage }`. */
export const defaultPages: Pages = { consent: consentPage, error: errorPage }

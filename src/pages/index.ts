/**
 * The entry point `grantwell/pages`: the default pages, their stylesheet, and the tools to write others.
 * @module
 */
import { type AuthorizedApplicationsPageModel, authorizedApplicationsPage } from './authorized-applications.js'
import { type ConsentPageModel, consentPage } from './consent.js'
import { type DevicePageModel, devicePage } from './device.js'
import { type DeviceResultPageModel, deviceResultPage } from './device-result.js'
import { type ErrorPageModel, errorPage } from './error.js'

export type {
  AuthorizedApplication,
  AuthorizedApplicationsPageModel,
  AuthorizedGrant,
  AuthorizedResources,
} from './authorized-applications.js'
export { authorizedApplicationsPage } from './authorized-applications.js'
export type { ConsentPageModel, ConsentResource } from './consent.js'
export { consentPage } from './consent.js'
export type { DevicePageModel } from './device.js'
export { devicePage } from './device.js'
export type { DeviceResultPageModel } from './device-result.js'
export { deviceResultPage } from './device-result.js'
export type { ErrorPageModel } from './error.js'
export { errorPage, inaccessibleLink } from './error.js'
export type { HtmlValue, SafeHtml } from './html.js'
export { displayText, escapeHtml, html, renderHtml } from './html.js'
export type { ConsentAudience, ConsentScope, ResourceKind } from './permissions.js'
export { stylesheet } from './stylesheet.js'

/** The pages that the server shows. Each function takes a model, and returns a whole HTML document. */
export interface Pages {
  /** Writes the page that asks the user for consent. */
  readonly consent: (model: ConsentPageModel) => string
  /** Writes the page of an error. */
  readonly error: (model: ErrorPageModel) => string
  /** Writes the page on which the user enters the code of a device. */
  readonly device: (model: DevicePageModel) => string
  /** Writes the page after a decision on a device. */
  readonly deviceResult: (model: DeviceResultPageModel) => string
  /** Writes the page of the applications that the user permitted. */
  readonly authorizedApplications: (model: AuthorizedApplicationsPageModel) => string
}

/** The pages of this package. A host can replace each of them: `{ ...defaultPages, error: myErrorPage }`. */
export const defaultPages: Pages = {
  consent: consentPage,
  error: errorPage,
  device: devicePage,
  deviceResult: deviceResultPage,
  authorizedApplications: authorizedApplicationsPage,
}

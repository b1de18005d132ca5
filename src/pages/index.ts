/**
 * The entry point `grantwell/pages`: the default pages, their stylesheet, and the tools to write others.
 * @module
 */
import { type AuthorizedApplicationsPageModel, authorizedApplicationsPage } from './authorized-applications.js'
import { type ConsentPageModel, consentPage } from './consent.js'
import { type DevicePageModel, devicePage } from './device.js'
import { type DeviceResultPageModel, deviceResultPage } from './device-result.js'
import { type ErrorPageModel, errorPage } from './error.js'
import type { PageInput } from './input.js'

export type { Appearance } from './appearance/appearance.js'
export type { ColourName, ColourSchemes, Colours } from './appearance/colours.js'
export { stylesheet } from './appearance/stylesheet.js'
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
export type { ErrorPageModel, PageErrorCode } from './error.js'
export { errorPage } from './error.js'
export type { HtmlValue, SafeHtml } from './html.js'
export { displayText, escapeHtml, html, renderHtml } from './html.js'
export type { DefaultPageInput, PageInput, PageRequest } from './input.js'
export type { SignedInUser } from './layout.js'
export type { ConsentAudience, ConsentScope, ResourceKind } from './permissions.js'
export type { enForDevelopers } from './texts/developers/en.js'
export type { en, enForUsers } from './texts/en.js'
export type { ShownFaultCode } from './texts/fault-text.js'
export { faultText } from './texts/fault-text.js'
export type { PageLanguage } from './texts/languages.js'
export { loadTexts, pageLanguages } from './texts/languages.js'
export type { Language, PluralName, PluralText, TextName, Texts } from './texts/texts.js'
export { countedText, fillHtml, fillText } from './texts/texts.js'

/** The pages that the server shows. Each function takes a model and a language, and returns a whole HTML document, or a promise of it. */
export interface Pages {
  /** Writes the page that asks the user for consent. */
  readonly consent: (input: PageInput<ConsentPageModel>) => string | Promise<string>
  /** Writes the page of an error. */
  readonly error: (input: PageInput<ErrorPageModel>) => string | Promise<string>
  /** Writes the page on which the user enters the code of a device. */
  readonly device: (input: PageInput<DevicePageModel>) => string | Promise<string>
  /** Writes the page after a decision on a device. */
  readonly deviceResult: (input: PageInput<DeviceResultPageModel>) => string | Promise<string>
  /** Writes the page of the applications that the user permitted. */
  readonly authorizedApplications: (input: PageInput<AuthorizedApplicationsPageModel>) => string | Promise<string>
}

/** The pages of this package. A host can replace each of them: `{ ...defaultPages, error: myErrorPage }`. */
export const defaultPages: {
  readonly consent: typeof consentPage
  readonly error: typeof errorPage
  readonly device: typeof devicePage
  readonly deviceResult: typeof deviceResultPage
  readonly authorizedApplications: typeof authorizedApplicationsPage
} = {
  consent: consentPage,
  error: errorPage,
  device: devicePage,
  deviceResult: deviceResultPage,
  authorizedApplications: authorizedApplicationsPage,
} satisfies Pages

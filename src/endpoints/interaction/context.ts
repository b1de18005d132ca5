/**
 * The context of the endpoints with pages: all that they work with.
 * @module
 */
import type { Pages } from '../../pages/index.js'
import { ENDPOINT_PATHS } from '../../protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from '../../protocol/message.js'
import type { RefusedEvent, ReportRefusal } from '../../shell/audit.js'
import type { ConsentRecords } from '../../shell/consents.js'
import { createConsentRecords } from '../../shell/consents.js'
import type { Settings } from '../../shell/options/settings.js'
import type { Transactions } from '../../shell/transactions.js'
import type { RegistrationLimiter } from '../limits/registration-limiter.js'
import { createDocumentLimiter, createRegistrationLimiter } from '../limits/registration-limiter.js'
import { completePages } from './host-pages.js'

/** The settings of a server, with the store, the audit trail and a page for everything that is shown. */
export type PageContext<Native> = Settings<Native> & {
  readonly pages: Pages
  /** The path of the stylesheet. */
  readonly stylesheet: string
  readonly transactions: Transactions
  readonly consents: ConsentRecords
  readonly registrationLimit: RegistrationLimiter
  /** The limit on documents of clients that are known. */
  readonly documentLimit: RegistrationLimiter
  readonly reportRefusal: ReportRefusal
}

/** The endpoints that answer with pages. */
export type PageEndpoint = Extract<RefusedEvent['endpoint'], 'authorization' | 'device' | 'applications'>

/** A function that answers a request of a browser. */
export type PageAnswer<Native> = (request: HttpRequest<Native>) => Promise<HttpResponse>

/** Makes the context of a server. */
export function createPageContext<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
  reportRefusal: ReportRefusal,
): PageContext<Native> {
  return {
    ...settings,
    pages: completePages(settings),
    stylesheet: settings.issuerPath + ENDPOINT_PATHS.stylesheet,
    transactions,
    consents: createConsentRecords(settings, transactions),
    registrationLimit: createRegistrationLimiter(settings, transactions),
    documentLimit: createDocumentLimiter(settings, transactions),
    reportRefusal,
  }
}

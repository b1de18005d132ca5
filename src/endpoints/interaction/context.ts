/**
 * The context of the endpoints with pages: all that they work with.
 * @module
 */
import { isOAuthError } from '../../core/errors.js'
import type { Language } from '../../pages/index.js'
import { ENDPOINT_PATHS } from '../../protocol/endpoint-paths.js'
import type { HttpRequest, HttpResponse } from '../../protocol/message.js'
import { parseParameters, valueIn } from '../../protocol/parameters.js'
import type { AuditTrail, RefusedEvent, ReportRefusal } from '../../shell/audit.js'
import type { ConsentRecords } from '../../shell/consents.js'
import { createConsentRecords } from '../../shell/consents.js'
import type { Internals } from '../../shell/internals.js'
import type { Settings } from '../../shell/options/settings.js'
import type { Transactions } from '../../shell/transactions.js'
import { createTransactions } from '../../shell/transactions.js'
import type { RegistrationLimiter } from '../limits/registration-limiter.js'
import { createDocumentLimiter, createRegistrationLimiter } from '../limits/registration-limiter.js'
import { readAppearance } from './appearance.js'
import type { ShownPages } from './host-pages.js'
import { pagesOf } from './host-pages.js'
import type { FindLanguage } from './language.js'
import { createLanguages } from './language.js'
import { readPageSources } from './page-sources.js'

/** The settings of a server, with the store and the audit trail. */
export type ServerContext<Native> = Settings<Native> & {
  /** The path of the stylesheet. */
  readonly stylesheet: string
  readonly transactions: Transactions
  readonly registrationLimit: RegistrationLimiter
  /** The limit on documents of clients that are known. */
  readonly documentLimit: RegistrationLimiter
  readonly trail: AuditTrail
  readonly findLanguage: FindLanguage<Native>
}

/**
 * The context of one request: with a page for everything that is shown, in the language of its reader, and with transactions whose events
 * name the request.
 */
export type PageContext<Native> = ServerContext<Native> & {
  readonly consents: ConsentRecords
  readonly reportRefusal: ReportRefusal
  readonly show: ShownPages
  readonly language: Language
}

/** The endpoints that answer with pages. */
export type PageEndpoint = Extract<RefusedEvent['endpoint'], 'authorization' | 'device' | 'applications'>

/** A function that answers a request of a browser. */
export type PageAnswer<Native> = (request: HttpRequest<Native>) => Promise<HttpResponse>

/** Makes the context of a server. */
export function createPageContext<Native>(internals: Internals<Native>): ServerContext<Native> {
  const { settings, audit: trail } = internals
  const transactions = createTransactions(internals)
  return {
    ...settings,
    appearance: readAppearance(settings),
    pageSources: readPageSources(settings),
    findLanguage: createLanguages(settings),
    stylesheet: settings.issuerPath + ENDPOINT_PATHS.stylesheet,
    transactions,
    registrationLimit: createRegistrationLimiter(settings, transactions),
    documentLimit: createDocumentLimiter(settings, transactions),
    trail,
  }
}

/**
 * Makes the context of a request.
 * @param query - that may have the parameter `ui_locales`
 */
export async function contextOf<Native>(
  server: ServerContext<Native>,
  request: HttpRequest<Native>,
  query: string,
): Promise<PageContext<Native>> {
  const language = await server.findLanguage(request, uiLocalesIn(query))
  const transactions = server.transactions.by(request)
  return {
    ...server,
    transactions,
    consents: createConsentRecords(server, transactions),
    reportRefusal: (...refusal) => server.trail.refuse(request, ...refusal),
    language,
    show: pagesOf(server, language, request),
  }
}

/** Reads the languages that an authorization request asks for; undefined where it names none, or anything else. */
function uiLocalesIn(query: string): string | undefined {
  if (!query.includes('ui_locales')) return undefined
  const parameters = parseParameters(query)
  const value = isOAuthError(parameters) ? undefined : valueIn(parameters, 'ui_locales')
  return typeof value === 'string' ? value : undefined
}

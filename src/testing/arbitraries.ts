/**
 * Arbitraries of fast-check for everything that a server meets: scopes, registrations, applications and grants in any
 * reachable state, requests well-formed and hostile.
 * @module
 */
import type * as fc from 'fast-check'
import type { Registration } from '../core/application/registration.js'
import { serviceScopes } from '../core/scopes/service-scopes.js'
import type { Scope, ScopeCatalogue } from '../core/scopes.js'
import type { HttpRequest } from '../protocol/message.js'
import type { ReachedApplication } from './arbitraries/applications.js'
import { applications } from './arbitraries/applications.js'
import type { GrantOptions, ReachedGrant } from './arbitraries/grants.js'
import { grants } from './arbitraries/grants.js'
import type { RegistrationOptions } from './arbitraries/registrations.js'
import { registrations } from './arbitraries/registrations.js'
import { scopes, scopeText } from './arbitraries/scopes.js'
import type { RequestOptions } from './arbitraries/sound-requests.js'
import { requests } from './arbitraries/spoilt-requests.js'
import { checkedOptions, FLAG, OBJECT, type Takes, TEXT } from './options.js'

/** Functions that make arbitraries. */
export interface Arbitraries {
  /** Scopes of a catalogue (`serviceScopes()` by default): one or more, in normal form. Shrinks to fewer. */
  readonly scopes: (catalogue?: ScopeCatalogue) => fc.Arbitrary<readonly Scope[]>
  /** Values of a parameter `scope`, well-formed and not: unknown names, wrong case, doubled spaces, any text. */
  readonly scopeText: (catalogue?: ScopeCatalogue) => fc.Arbitrary<string>
  /** Sound registrations: clients of both types, one or more redirect URIs of every kind, names in any script. */
  readonly registration: (options?: RegistrationOptions) => fc.Arbitrary<Registration>
  /**
   * Applications in any state: pending, rejected, approved and suspended, with a change that waits or was refused, with
   * secrets that were rotated. Shrinks to one that was just handed in.
   * @throws TypeError for a `clientId` that is none; `web` by default
   */
  readonly application: (
    options?: RegistrationOptions & { readonly clientId?: string },
  ) => fc.Arbitrary<ReachedApplication>
  /**
   * Grants in any state: a code issued, expired, used or replayed, a device that waits, was refused or agreed to, pairs in
   * grace, tokens revoked, everything revoked or expired. With all credentials that were handed out, and the moment.
   * Shrinks to a code that was just issued.
   * @throws TypeError for a `clientId` that is none
   */
  readonly grant: (options?: GrantOptions & { readonly scopes?: ScopeCatalogue }) => fc.Arbitrary<ReachedGrant>
  /**
   * Requests to every endpoint, each well-formed at first and then spoilt in none, one or several ways: method, content
   * type, parameters that are missing, doubled, huge, badly encoded or of a strange name, credentials that are changed,
   * cut, or of another kind, doubled and malformed headers, bodies that were parsed by somebody else.
   * No parameter that an answer repeats (`state`) has a credential in it. Shrinks to a request that is not spoilt.
   */
  readonly request: (options?: RequestOptions) => fc.Arbitrary<HttpRequest<undefined>>
}

/**
 * Arbitraries for tests with fast-check.
 * @example
 * ```ts
 * fc.assert(fc.asyncProperty(arbitraries.request(), async (request) => {
 *   const response = await server.handle(request)
 *   assert(response === undefined || response.status < 500)
 * }))
 * ```
 */
export const arbitraries: Arbitraries = {
  scopes,
  scopeText,
  registration,
  application: (options = {}) => {
    const { clientId = 'web', ...own } = checkedOptions('arbitraries.application', options, {
      ...REGISTRATION,
      clientId: TEXT,
    })
    return applications(registration(own), own.scopes ?? serviceScopes(), clientId)
  },
  grant: (options = {}) => {
    const { scopes: catalogue, ...own } = checkedOptions('arbitraries.grant', options, GRANT)
    return grants(scopes(catalogue), own)
  },
  request: (options = {}) => requests(scopeText(), checkedOptions('arbitraries.request', options, REQUEST)),
}

const LIST: Takes = { words: 'a list', fits: Array.isArray }

function registration(options: RegistrationOptions = {}): fc.Arbitrary<Registration> {
  return registrations(checkedOptions('arbitraries.registration', options, REGISTRATION))
}

const REGISTRATION = { scopes: OBJECT, specifiedResources: FLAG }
const GRANT = { scopes: OBJECT, clientId: TEXT, subject: TEXT, redirectUri: TEXT, rules: OBJECT }
const REQUEST = { clients: LIST, credentials: LIST }

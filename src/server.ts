/**
 * The shell: binds the protocol and the grant's transitions to a store, a clock, randomness and the host's users.
 * @module
 */
import type { Applications } from './applications.js'
import { applicationsOf } from './applications.js'
import { authorizationEndpoint } from './authorization-endpoint.js'
import { clientKeyOf } from './core/digests.js'
import type { OAuthError, RefusalReason } from './core/errors.js'
import { GrantwellError, oauthError } from './core/errors.js'
import type { Resources } from './core/grant.js'
import { inspect, invalidGrant } from './core/grant.js'
import type { Scope } from './core/scopes.js'
import { coversScopes, parseScopes } from './core/scopes.js'
import { transition } from './core/transition.js'
import type { ClientId, GrantId, Seconds, Subject } from './core/values.js'
import type { AuthorizationServerOptions, Refused, RefusedEvent } from './options.js'
import { resolveOptions } from './options.js'
import { stylesheet } from './pages/index.js'
import type { NoToken } from './protocol/bearer.js'
import { bearerChallenge, bearerToken, insufficientScope, invalidToken } from './protocol/bearer.js'
import { authenticateClient } from './protocol/client-authentication.js'
import type { HttpRequest, HttpResponse, RequestLike } from './protocol/message.js'
import {
  documentResponse,
  errorResponse,
  headersOf,
  pathOf,
  revocationResponse,
  tokenResponse,
  withAllow,
} from './protocol/message.js'
import { ENDPOINT_PATHS, METADATA_PATH, metadataResponse } from './protocol/metadata.js'
import { isError } from './protocol/parameters.js'
import { revocationRequest } from './protocol/revocation.js'
import { tokenRequest } from './protocol/token.js'
import { keys, recordAs, transactionsOf } from './transactions.js'

/** What the guard found: who is calling for whom, or the response to send. */
export type Authentication =
  | {
      readonly type: 'authenticated'
      readonly subject: Subject
      readonly clientId: ClientId
      readonly grantId: GrantId
      readonly scopes: readonly Scope[]
      readonly resources: Resources
      /** Seconds since the epoch, exclusive. */
      readonly expiresAt: Seconds
    }
  | { readonly type: 'refused'; readonly error: OAuthError | NoToken; readonly response: HttpResponse }

/** An authorization server. */
export interface AuthorizationServer<Native = unknown> {
  readonly issuer: string
  /** How many bytes of a body an adapter may read. */
  readonly bodyLimit: number
  /** Whether a path (or path and query) is one of this server's own. */
  readonly owns: (url: string) => boolean
  /**
   * Answers a request; undefined where its path is not this server's own. Never throws. The answer to a `HEAD` has its
   * body, for the adapter to leave out.
   */
  readonly handle: (request: HttpRequest<Native>) => Promise<HttpResponse | undefined>
  /**
   * The guard of an API route: whether the request's bearer token works and permits what the route needs. One read of
   * the store.
   * @param request - Node's `IncomingMessage`, a fetch `Request`, or anything with their headers
   * @param options.scope - scopes that the route needs, such as `repo-code:r`; none by default
   * @returns who calls, for whom, and what the grant permits; which of the user's resources it is about (`resources`) is
   * the host's to enforce. Otherwise the response to send
   * @throws GrantwellError `ERR_CONFIGURATION` for a scope that the catalogue does not have, or any other option
   * @see RFC 6750
   */
  readonly authenticate: (request: RequestLike, options?: { readonly scope?: string }) => Promise<Authentication>
  /** Functions for the host's administrators. */
  readonly applications: Applications
}

const NO_SCOPES: readonly Scope[] = []

/** What answers at a path. */
interface Route<Native> {
  /** Its name in the audit trail; absent for documents. */
  readonly endpoint?: RefusedEvent['endpoint']
  readonly methods: readonly string[]
  readonly answer: (request: HttpRequest<Native>) => HttpResponse | Promise<HttpResponse>
}

/** Where nobody has looked up, or found, who the client says it is, that may be anything: a misplaced secret, too. */
const UNVERIFIED: ReadonlySet<RefusalReason> = new Set(['client_unknown', 'store_failed'])

/**
 * Makes an authorization server.
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown, missing or wrong option
 * @example
 * ```ts
 * const server = createAuthorizationServer({
 *   issuer: 'https://git.example',
 *   store: memoryStore(),
 *   user: (request) => sessions.userOf(request.native),
 *   signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
 * })
 * http.createServer(createNodeHandler(server)).listen(8080)
 * ```
 * In TypeScript, `createAuthorizationServer<IncomingMessage>({ ... })` (or Express's or the fetch `Request`) gives
 * `request.native` its type.
 */
export function createAuthorizationServer<Native = unknown>(
  options: AuthorizationServerOptions<Native>,
): AuthorizationServer<Native> {
  const settings = resolveOptions(options)
  const { issuer, bodyLimit, clock, rules, mountPath, issuerPath } = settings
  const { digests } = rules
  const protocol = { catalogue: settings.scopes, allowPost: settings.allowClientSecretPost }
  const transactions = transactionsOf(settings)

  const refused: Refused = (endpoint, reason, error, clientId) => {
    const told = error === undefined ? {} : { error }
    const known = clientId === undefined || UNVERIFIED.has(reason) ? {} : { clientId }
    settings.onEvent({ type: 'refused', at: clock(), endpoint, reason, ...told, ...known })
  }

  async function token(request: HttpRequest): Promise<HttpResponse> {
    const asked = tokenRequest(request, protocol)
    if (isError(asked)) return refuse(asked)
    const { client, grant: wanted } = asked
    const clientKey = clientKeyOf(digests, client.clientId)
    // A credential under another client's key is another client's: its grant need not be read to refuse it.
    const credential = wanted.credential?.clientKey === clientKey ? wanted.credential : undefined
    const reply = await transactions.onGrant(clientKey, credential?.grantId, (stored, grant, now, entropy) => {
      const application = authenticateClient(stored, client, digests)
      if (isError(application)) return { reply: application, events: [] }
      if (wanted.type === 'faulty') return { reply: wanted.error, events: [] }
      if (credential === undefined) {
        return {
          reply: invalidGrant(wanted.credential === undefined ? 'credential_unknown' : 'credential_of_another_client'),
          events: [],
        }
      }
      const { clientId } = application
      if (wanted.type === 'refresh_token') {
        return transition(grant, { type: 'refresh', credential, clientId, scopes: wanted.scopes }, now, entropy, rules)
      }
      const { redirectUri, codeVerifier } = wanted
      return transition(
        grant,
        { type: 'exchange', credential, clientId, redirectUri, codeVerifier },
        now,
        entropy,
        rules,
      )
    })
    return isError(reply) ? refuse(reply, client.clientId) : tokenResponse(reply)

    function refuse(error: OAuthError, clientId?: string): HttpResponse {
      refused('token', error.reason, error.code, clientId)
      return errorResponse(error)
    }
  }

  async function revocation(request: HttpRequest): Promise<HttpResponse> {
    const asked = revocationRequest(request)
    if (isError(asked)) return refuse(asked)
    const { client, credential, fault } = asked
    const clientKey = clientKeyOf(digests, client.clientId)
    const reply = await transactions.onGrant(clientKey, credential?.grantId, (stored, grant, now, entropy) => {
      const application = authenticateClient(stored, client, digests)
      if (isError(application)) return { reply: application, events: [] }
      if (fault !== undefined) return { reply: fault, events: [] }
      if (credential === undefined)
        return { reply: { type: 'unchanged', reason: 'credential_unknown' } as const, events: [] }
      const revoke = { type: 'revoke', credential, clientId: application.clientId } as const
      const outcome = transition(grant, revoke, now, entropy, rules)
      // Under another client's key it is another client's, whatever else it says; decided on, so that it takes as long.
      return credential.clientKey === clientKey
        ? outcome
        : { reply: { type: 'unchanged', reason: 'credential_of_another_client' } as const, events: [] }
    })
    if (isError(reply)) return refuse(reply, client.clientId)
    if (reply.type === 'unchanged') refused('revocation', reply.reason, undefined, client.clientId)
    return revocationResponse()

    function refuse(error: OAuthError, clientId?: string): HttpResponse {
      refused('revocation', error.reason, error.code, clientId)
      return errorResponse(error, 'revocation')
    }
  }

  /** Strict with what a host wrote, since a guard that passes over a slip of the pen would let everybody in. */
  function neededScopes(options: { readonly scope?: unknown } | null | undefined): readonly Scope[] {
    if (options === undefined) return NO_SCOPES
    const names = typeof options === 'object' && options !== null ? Object.keys(options) : undefined
    if (names?.length === 0) return NO_SCOPES
    const scope = names?.length === 1 ? options?.scope : undefined
    const scopes = typeof scope === 'string' ? parseScopes(settings.scopes, scope) : undefined
    if (scopes !== undefined) return scopes
    throw new GrantwellError(
      'ERR_CONFIGURATION',
      'grantwell: authenticate takes { scope }, scopes of the catalogue in a string',
    )
  }

  async function authenticate(request: RequestLike, options?: { readonly scope?: string }): Promise<Authentication> {
    const scopes = neededScopes(options)
    const credential = bearerToken(headersOf(request), request.url ?? '')
    if ('type' in credential) return refuse(credential)
    const records = await transactions.read([keys.application(credential.clientKey), keys.grant(credential.grantId)])
    if ('type' in records) return refuse(records)
    const application = recordAs.application(records[0]?.value)
    const found = inspect(recordAs.grant(records[1]?.value), credential, clock(), digests)
    if (found.type === 'inactive') return refuse(invalidToken(found.reason), application?.clientId)
    const { grantId, clientId, subject, expiresAt } = found
    // The key in the credential is only a claim until the grant is of that very application.
    if (application?.clientId !== clientId) return refuse(invalidToken('credential_unknown'))
    if (application.state !== 'approved') return refuse(invalidToken('client_suspended'), clientId)
    if (!coversScopes(found.scopes, scopes)) return refuse(insufficientScope(), clientId)
    // Copies: what a host does with them must not reach a record that a store in memory may still hold.
    const { kind } = found.resources
    const resources = kind === 'specified' ? { kind, ids: [...found.resources.ids] } : { kind }
    return { type: 'authenticated', subject, clientId, grantId, scopes: [...found.scopes], resources, expiresAt }

    function refuse(error: OAuthError | NoToken, clientId?: string): Authentication {
      if (error.type === 'error') refused('api', error.reason, error.code, clientId)
      return { type: 'refused', error, response: bearerChallenge(error, scopes) }
    }
  }

  const metadata = metadataResponse(issuer, protocol)
  const css = documentResponse('text/css;charset=UTF-8', stylesheet)

  /** Every path of ours. */
  const routes = new Map<string, Route<Native>>([
    [
      mountPath + ENDPOINT_PATHS.authorization,
      {
        endpoint: 'authorization',
        methods: ['GET', 'HEAD', 'POST'],
        answer: authorizationEndpoint(settings, transactions, refused),
      },
    ],
    [mountPath + ENDPOINT_PATHS.token, { endpoint: 'token', methods: ['POST'], answer: token }],
    [mountPath + ENDPOINT_PATHS.revocation, { endpoint: 'revocation', methods: ['POST'], answer: revocation }],
    [mountPath + ENDPOINT_PATHS.stylesheet, { methods: ['GET', 'HEAD'], answer: () => css }],
    [METADATA_PATH + issuerPath, { methods: ['GET', 'HEAD'], answer: () => metadata }],
    // Where only what lies under the mount path arrives.
    [mountPath + METADATA_PATH, { methods: ['GET', 'HEAD'], answer: () => metadata }],
  ])

  return {
    issuer,
    bodyLimit,
    owns: (url) => routes.has(pathOf(url)),
    handle: async (request) => {
      const route = routes.get(pathOf(request.url))
      if (route === undefined) return undefined
      try {
        if (route.methods.includes(request.method)) return await route.answer(request)
        const methods = route.methods.filter((method) => method !== 'HEAD').join(' or ')
        const error = oauthError('invalid_request', 'method_not_allowed', `The method must be ${methods}.`, {
          status: 405,
        })
        if (route.endpoint !== undefined) refused(route.endpoint, error.reason, error.code)
        return withAllow(errorResponse(error), route.methods.join(', '))
      } catch (error) {
        settings.onError(error)
        return errorResponse(oauthError('server_error', 'host_failed', 'The service failed.'))
      }
    },
    authenticate,
    applications: applicationsOf(settings, transactions),
  }
}

/**
 * The shell: binds the protocol and the grant's transitions to a store, a clock, randomness and the host's users.
 * @module
 */
import type { Applications } from './applications.js'
import { applicationsOf } from './applications.js'
import { authorizationEndpoint } from './authorization-endpoint.js'
import { authorizedApplicationsEndpoint } from './authorized-applications.js'
import { isPublished, limitResources } from './core/application.js'
import type { Credential } from './core/credential.js'
import { clientKeyOf } from './core/digests.js'
import type { OAuthError, RefusalReason } from './core/errors.js'
import { oauthError } from './core/errors.js'
import type { GrantRecord, IssuedTokens, Outcome, Resources } from './core/grant.js'
import { inspect, invalidGrant } from './core/grant.js'
import type { Scope } from './core/scopes.js'
import { coversScopes, limitScopes, parseScopes } from './core/scopes.js'
import { transition } from './core/transition.js'
import type { ClientId, GrantId, Seconds, Subject } from './core/values.js'
import { deviceAuthorizationEndpoint } from './device-authorization-endpoint.js'
import { deviceEndpoint } from './device-endpoint.js'
import type { Grants } from './grants.js'
import { grantsOf } from './grants.js'
import { interactionOf } from './interaction.js'
import type { AuthorizationServerOptions, Refused, RefusedEvent } from './options.js'
import { mistake, resolveOptions } from './options.js'
import { stylesheet } from './pages/index.js'
import type { NoToken } from './protocol/bearer.js'
import { bearerChallenge, bearerToken, insufficientScope, invalidToken } from './protocol/bearer.js'
import { authenticateClient } from './protocol/client-authentication.js'
import { deviceFlowFault } from './protocol/device.js'
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
import type { TokenRequest } from './protocol/token.js'
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
  /** Functions for the host's applicants and administrators. */
  readonly applications: Applications
  /** Functions for what users permitted: to list it, and to take it back. */
  readonly grants: Grants
}

const NO_SCOPES: readonly Scope[] = []

/** What answers at a path. */
interface Route<Native> {
  /** Its name in the audit trail; absent for documents. */
  readonly endpoint?: RefusedEvent['endpoint']
  readonly methods: readonly string[]
  readonly answer: (request: HttpRequest<Native>) => HttpResponse | Promise<HttpResponse>
}

/** What a token request asks for, and is not at fault. */
type WantedGrant = Exclude<TokenRequest['grant'], { readonly type: 'faulty' }>

/**
 * Tokens with no more scopes than the application is still registered for. Where none is left, there is nothing to hand
 * out, and nothing changes.
 */
function limited(
  outcome: Outcome<IssuedTokens, GrantRecord>,
  registered: readonly Scope[],
): Outcome<IssuedTokens, GrantRecord> {
  const { reply } = outcome
  if (reply.type === 'error') return outcome
  const scopes = limitScopes(reply.scopes, registered)
  if (scopes === reply.scopes) return outcome
  return scopes.length === 0
    ? { reply: invalidGrant('scope_not_registered'), events: [] }
    : {
        ...outcome,
        reply: { ...reply, scopes },
        events: outcome.events.map((event) => ('scopes' in event ? { ...event, scopes } : event)),
      }
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

  const refused: Refused = (endpoint, reason, error, clientId, subject) => {
    const told = error === undefined ? {} : { error }
    const known = clientId === undefined || UNVERIFIED.has(reason) ? {} : { clientId }
    const user = subject === undefined ? {} : { subject }
    settings.onEvent({ type: 'refused', at: clock(), endpoint, reason, ...told, ...known, ...user })
  }

  async function token(request: HttpRequest): Promise<HttpResponse> {
    const asked = tokenRequest(request, protocol)
    if (isError(asked)) return refuse(asked)
    const { client, grant: wanted } = asked
    const clientKey = clientKeyOf(digests, client.clientId)
    // A credential under another client's key is another client's: its grant need not be read to refuse it.
    const credential = wanted.credential?.clientKey === clientKey ? wanted.credential : undefined
    const reply = await transactions.onGrant(clientKey, credential?.grantId, (stored, grant, now, entropy) => {
      const application = authenticateClient(stored, client, digests, now)
      if (isError(application)) return { reply: application, events: [] }
      if (wanted.type === 'faulty') return { reply: wanted.error, events: [] }
      if (credential === undefined) {
        return {
          reply: invalidGrant(wanted.credential === undefined ? 'credential_unknown' : 'credential_of_another_client'),
          events: [],
        }
      }
      const fault = wanted.type === 'device_code' ? deviceFlowFault(application) : undefined
      if (fault !== undefined) return { reply: fault, events: [] }
      return limited(redeem(grant, wanted, credential, application.clientId, now, entropy), application.scopes)
    })
    return isError(reply) ? refuse(reply, client.clientId) : tokenResponse(reply)

    function refuse(error: OAuthError, clientId?: string): HttpResponse {
      // A device that asks as it should is no news.
      if (error.code !== 'authorization_pending') refused('token', error.reason, error.code, clientId)
      return errorResponse(error)
    }
  }

  /** What the credential of a token request is good for. */
  function redeem(
    grant: GrantRecord | undefined,
    wanted: WantedGrant,
    credential: Credential,
    clientId: ClientId,
    now: Seconds,
    entropy: Uint8Array,
  ): Outcome<IssuedTokens, GrantRecord> {
    switch (wanted.type) {
      case 'refresh_token': {
        const { scopes } = wanted
        return transition(grant, { type: 'refresh', credential, clientId, scopes }, now, entropy, rules)
      }
      case 'device_code':
        return transition(grant, { type: 'poll', credential, clientId }, now, entropy, rules)
      case 'authorization_code': {
        const { redirectUri, codeVerifier } = wanted
        const exchange = { type: 'exchange', credential, clientId, redirectUri, codeVerifier } as const
        return transition(grant, exchange, now, entropy, rules)
      }
    }
  }

  async function revocation(request: HttpRequest): Promise<HttpResponse> {
    const asked = revocationRequest(request)
    if (isError(asked)) return refuse(asked)
    const { client, credential, fault } = asked
    const clientKey = clientKeyOf(digests, client.clientId)
    const reply = await transactions.onGrant(clientKey, credential?.grantId, (stored, grant, now, entropy) => {
      const application = authenticateClient(stored, client, digests, now)
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
    const given = typeof scope === 'string' ? `, not ${JSON.stringify(scope)}` : ''
    throw mistake(`authenticate takes { scope }, scopes of the catalogue in a string${given}`)
  }

  async function authenticate(request: RequestLike, options?: { readonly scope?: string }): Promise<Authentication> {
    const scopes = neededScopes(options)
    const credential = bearerToken(headersOf(request), request.url ?? '')
    if ('type' in credential) return refuse(credential)
    const records = await transactions.read([keys.application(credential.clientKey), keys.grant(credential.grantId)])
    if ('type' in records) return refuse(records)
    const application = recordAs.application(records[0]?.value)
    const found = inspect(recordAs.grant(records[1]?.value), credential, clock(), digests)
    if (found.type === 'inactive') return refuse(invalidToken(found.reason), application?.id)
    const { grantId, clientId, subject, expiresAt } = found
    // The key in the credential is only a claim until the grant is of that very application.
    if (!isPublished(application) || application.clientId !== clientId)
      return refuse(invalidToken('credential_unknown'))
    if (application.state !== 'approved') return refuse(invalidToken('client_suspended'), clientId)
    const granted = limitScopes(found.scopes, application.scopes)
    if (granted.length === 0) return refuse(invalidToken('scope_not_registered'), clientId)
    if (!coversScopes(granted, scopes)) return refuse(insufficientScope(), clientId)
    // Copies: what a host does with them must not reach a record that a store in memory may still hold.
    const open = limitResources(found.resources, application.resourceScope)
    const resources = open.kind === 'specified' ? { kind: open.kind, ids: [...open.ids] } : { kind: open.kind }
    return { type: 'authenticated', subject, clientId, grantId, scopes: [...granted], resources, expiresAt }

    function refuse(error: OAuthError | NoToken, clientId?: string): Authentication {
      if (error.type === 'error') refused('api', error.reason, error.code, clientId)
      return { type: 'refused', error, response: bearerChallenge(error, scopes) }
    }
  }

  const interaction = interactionOf(settings, transactions, refused)
  const grants = grantsOf(settings, transactions)
  const metadata = metadataResponse(issuer, protocol)
  const css = documentResponse('text/css;charset=UTF-8', stylesheet)

  /** Every path of ours. */
  const routes = new Map<string, Route<Native>>([
    [
      mountPath + ENDPOINT_PATHS.authorization,
      {
        endpoint: 'authorization',
        methods: ['GET', 'HEAD', 'POST'],
        answer: authorizationEndpoint(settings, transactions, interaction, refused),
      },
    ],
    [mountPath + ENDPOINT_PATHS.token, { endpoint: 'token', methods: ['POST'], answer: token }],
    [mountPath + ENDPOINT_PATHS.revocation, { endpoint: 'revocation', methods: ['POST'], answer: revocation }],
    [
      mountPath + ENDPOINT_PATHS.deviceAuthorization,
      {
        endpoint: 'device_authorization',
        methods: ['POST'],
        answer: deviceAuthorizationEndpoint(settings, transactions, refused),
      },
    ],
    [
      mountPath + ENDPOINT_PATHS.device,
      {
        endpoint: 'device',
        methods: ['GET', 'HEAD', 'POST'],
        answer: deviceEndpoint(settings, transactions, interaction, refused),
      },
    ],
    [
      mountPath + ENDPOINT_PATHS.applications,
      {
        endpoint: 'applications',
        methods: ['GET', 'HEAD', 'POST'],
        answer: authorizedApplicationsEndpoint(settings, transactions, interaction, grants),
      },
    ],
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
    grants,
  }
}

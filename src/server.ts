/**
 * The shell: binds the protocol and the grant's transitions to a store, a clock, randomness and the host's users.
 * @module
 */

import type { PublishedApplication } from './core/application/application.js'
import type { OAuthError, RefusalReason } from './core/errors.js'
import { hostFailed, oauthError } from './core/errors.js'
import type { GrantRecord, IssuedTokens, Outcome } from './core/grant/grant.js'
import { invalidGrant } from './core/grant/grant.js'
import { transition } from './core/grant/transition.js'
import type { Scope, ScopeCatalogue } from './core/scopes.js'
import { limitScopes } from './core/scopes.js'
import type { Credential } from './core/tokens/credential.js'
import { clientKeyOf } from './core/tokens/digests.js'
import type { Seconds } from './core/values.js'
import type { FrontChannel } from './endpoints/front-channel.js'
import { introspectionEndpoint } from './endpoints/introspection.js'
import type { Authenticate, Guarding } from './guard/guard.js'
import { authenticateBy, guardOf } from './guard/guard.js'
import { administrationOf } from './management/administration.js'
import type { Applications } from './management/applications.js'
import type { Grants } from './management/grants.js'
import type { PresentedClient } from './protocol/client-authentication.js'
import { authenticateClient, clientIdsOf, meantClient, registeredClient } from './protocol/client-authentication.js'
import { ENDPOINT_PATHS, METADATA_PATH } from './protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from './protocol/message.js'
import { errorResponse, originForm, pathOf, revocationResponse, tokenResponse, withAllow } from './protocol/message.js'
import { isError } from './protocol/parameters.js'
import { requestAboutToken } from './protocol/revocation.js'
import type { TokenRequest } from './protocol/token.js'
import { deviceFlowFault, tokenRequest } from './protocol/token.js'
import { loadLater } from './shell/lazy.js'
import type { AuthorizationServerOptions, Refused, RefusedEvent } from './shell/options.js'
import { resolveOptions } from './shell/options.js'
import type { Soon } from './shell/transactions.js'
import { after, keys, recordAs, transactionsOf } from './shell/transactions.js'

/** An authorization server. */
export interface AuthorizationServer<Native = unknown> extends Guarding {
  readonly issuer: string
  /** How many bytes of a body an adapter may read. */
  readonly bodyLimit: number
  /** Whether a path is one of this server's own: alone, with its query, or in a whole URL. Never throws. */
  readonly owns: (url: string) => boolean
  /**
   * Answers a request, at once where the store does; undefined where its path is not this server's own. Never throws, nor
   * rejects. The answer to a `HEAD` has its body, for the adapter to leave out.
   */
  readonly handle: (
    request: HttpRequest<Native>,
  ) => HttpResponse<string | Uint8Array> | undefined | Promise<HttpResponse<string | Uint8Array> | undefined>
  /**
   * Checks whether a request's access token works and permits what the route needs: the same as `guard(needs)(request)`, for where
   * a route is decided on as it comes. One read of the store, and for a token of the type `mac` one write.
   * @param request - Node's `IncomingMessage`, a fetch `Request`, or anything with their headers
   * @param needs.scope - scopes that the route needs, such as `repo-code:r`; none by default
   * @param needs.resource - which resource the request is about; absent where it is about none, or where the host enforces
   * `resources` of the answer itself
   * @returns who calls, for whom, what the grant permits, and that resource; otherwise the response to send
   * @throws GrantwellError `ERR_CONFIGURATION` for a scope that the catalogue does not have, or any other option
   * @see RFC 6750
   */
  readonly authenticate: Authenticate
  /** Functions for the host's applicants and administrators. */
  readonly applications: Applications
  /** Functions for what users permitted: to list it, and to take it back. */
  readonly grants: Grants
}

/** What answers at a path. */
interface Route<Native> {
  /** Its name in the audit trail; absent for documents. */
  readonly endpoint?: RefusedEvent['endpoint']
  readonly methods: readonly string[]
  readonly answer: (
    request: HttpRequest<Native>,
  ) => HttpResponse<string | Uint8Array> | Promise<HttpResponse<string | Uint8Array>>
}

/** Tells of a refusal, and makes its answer. */
type Refuse = (error: OAuthError, clientId?: string) => HttpResponse

/** What a token request asks for, and is not at fault. */
type WantedGrant = Exclude<TokenRequest['grant'], { readonly type: 'faulty' }>

/**
 * Tokens with no more scopes than the application is still registered for, and the service still has. Where none is left,
 * there is nothing to hand out, and nothing changes.
 */
function limited(
  outcome: Outcome<IssuedTokens, GrantRecord>,
  registered: readonly Scope[],
  catalogue: ScopeCatalogue,
): Outcome<IssuedTokens, GrantRecord> {
  const { reply } = outcome
  if (reply.type === 'error') return outcome
  const scopes = limitScopes(reply.scopes, registered, catalogue)
  if (scopes === reply.scopes) return outcome
  return scopes.length === 0
    ? { reply: invalidGrant('scope_not_registered'), events: [] }
    : {
        ...outcome,
        reply: { ...reply, scopes },
        events: outcome.events.map((event) => ('scopes' in event ? { ...event, scopes } : event)),
      }
}

/** Gives an answer headers of its own, since a host may add some and many answers have the same. */
function withOwnHeaders<Body extends string | Uint8Array>({ status, headers, body }: HttpResponse<Body>) {
  return { status, headers: { ...headers }, body }
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

  const refused: Refused = (endpoint, reason, error, clientId, subject, rule) => {
    const told = error === undefined ? {} : { error }
    const known = clientId === undefined || UNVERIFIED.has(reason) ? {} : { clientId }
    const user = subject === undefined ? {} : { subject }
    const broken = rule === undefined ? {} : { rule }
    settings.onEvent({ type: 'refused', at: clock(), endpoint, reason, ...told, ...known, ...user, ...broken })
  }

  function token(request: HttpRequest): Soon<HttpResponse> {
    const asked = tokenRequest(request, protocol)
    if (isError(asked)) return refuse(asked)
    const { grant: wanted } = asked
    return withClient(asked.client, wanted.credential, refuse, (client) => redeemed(wanted, client, refuse))

    function refuse(error: OAuthError, clientId?: string): HttpResponse {
      // A device that asks as it should is no news.
      if (error.code !== 'authorization_pending') refused('token', error.reason, error.code, clientId)
      return errorResponse(error)
    }
  }

  function redeemed(wanted: TokenRequest['grant'], client: PresentedClient, refuse: Refuse): Soon<HttpResponse> {
    const clientKey = clientKeyOf(digests, client.clientId)
    // A credential under another client's key is another client's: its grant need not be read to refuse it.
    const credential = wanted.credential?.clientKey === clientKey ? wanted.credential : undefined
    const replied = transactions.onGrant(clientKey, credential?.grantId, (stored, grant, now, entropy) => {
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
      return limited(redeem(grant, wanted, credential, application, now, entropy), application.scopes, settings.scopes)
    })
    return after(replied, (reply) => (isError(reply) ? refuse(reply, client.clientId) : tokenResponse(reply)))
  }

  /** Goes on with the client that is meant. What is registered is looked up where nothing else tells its two readings apart. */
  function withClient(
    presented: PresentedClient,
    credential: Credential | undefined,
    refuse: Refuse,
    go: (client: PresentedClient) => Soon<HttpResponse>,
  ): Soon<HttpResponse> {
    const client = meantClient(presented, credential, digests)
    if (client.clientIdAsItIs === undefined) return go(client)
    const asked = clientIdsOf(client).map((id) => keys.application(clientKeyOf(digests, id)))
    return after(transactions.read(asked), (found) => {
      if (isError(found)) return refuse(found, client.clientId)
      const registered = found.map((record) => recordAs.application(record?.value))
      return go(registeredClient(client, registered))
    })
  }

  function failed(error: unknown): HttpResponse {
    settings.onError(error)
    return errorResponse(hostFailed())
  }

  /** What the credential of a token request is good for. */
  function redeem(
    grant: GrantRecord | undefined,
    wanted: WantedGrant,
    credential: Credential,
    { clientId, tokenType: registered }: PublishedApplication,
    now: Seconds,
    entropy: Uint8Array,
  ): Outcome<IssuedTokens, GrantRecord> {
    const tokenType = settings.macTokens ? registered : undefined
    switch (wanted.type) {
      case 'refresh_token': {
        const { scopes } = wanted
        return transition(grant, { type: 'refresh', credential, clientId, scopes, tokenType }, now, entropy, rules)
      }
      case 'device_code':
        return transition(grant, { type: 'poll', credential, clientId, tokenType }, now, entropy, rules)
      case 'authorization_code': {
        const { redirectUri, codeVerifier } = wanted
        const exchange = { type: 'exchange', credential, clientId, redirectUri, codeVerifier, tokenType } as const
        return transition(grant, exchange, now, entropy, rules)
      }
    }
  }

  function revocation(request: HttpRequest): Soon<HttpResponse> {
    const asked = requestAboutToken(request, { allowPost: true })
    if (isError(asked)) return refuse(asked)
    const { client: presented, credential, fault } = asked
    return withClient(presented, credential, refuse, (client) => {
      const clientKey = clientKeyOf(digests, client.clientId)
      const replied = transactions.onGrant(clientKey, credential?.grantId, (stored, grant, now, entropy) => {
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
      return after(replied, (reply) => {
        if (isError(reply)) return refuse(reply, client.clientId)
        if (reply.type === 'unchanged') refused('revocation', reply.reason, undefined, client.clientId)
        return revocationResponse(request.headers)
      })
    })

    function refuse(error: OAuthError, clientId?: string): HttpResponse {
      refused('revocation', error.reason, error.code, clientId)
      return errorResponse(error, 'revocation')
    }
  }

  const guard = guardOf(settings, transactions, refused)
  const { applications, grants } = administrationOf(settings, transactions)
  const frontChannel = loadLater(async () => {
    const { frontChannelOf } = await import('./endpoints/front-channel.js')
    return frontChannelOf(settings, transactions, refused, grants)
  })
  const inFront =
    (endpoint: keyof FrontChannel<Native>): Route<Native>['answer'] =>
    async (request) =>
      (await frontChannel())[endpoint](request)

  /** Every path of ours. */
  const routes = new Map<string, Route<Native>>([
    [
      mountPath + ENDPOINT_PATHS.authorization,
      {
        endpoint: 'authorization',
        methods: ['GET', 'HEAD', 'POST'],
        answer: inFront('authorization'),
      },
    ],
    [mountPath + ENDPOINT_PATHS.token, { endpoint: 'token', methods: ['POST'], answer: token }],
    [mountPath + ENDPOINT_PATHS.revocation, { endpoint: 'revocation', methods: ['POST'], answer: revocation }],
    [
      mountPath + ENDPOINT_PATHS.introspection,
      {
        endpoint: 'introspection',
        methods: ['POST'],
        answer: introspectionEndpoint(settings, transactions, refused),
      },
    ],
    [
      mountPath + ENDPOINT_PATHS.deviceAuthorization,
      {
        endpoint: 'device_authorization',
        methods: ['POST'],
        answer: inFront('deviceAuthorization'),
      },
    ],
    [
      mountPath + ENDPOINT_PATHS.device,
      {
        endpoint: 'device',
        methods: ['GET', 'HEAD', 'POST'],
        answer: inFront('device'),
      },
    ],
    [
      mountPath + ENDPOINT_PATHS.applications,
      {
        endpoint: 'applications',
        methods: ['GET', 'HEAD', 'POST'],
        answer: inFront('applications'),
      },
    ],
    [mountPath + ENDPOINT_PATHS.stylesheet, { methods: ['GET', 'HEAD'], answer: inFront('stylesheet') }],
    [mountPath + ENDPOINT_PATHS.logo, { methods: ['GET', 'HEAD'], answer: inFront('logo') }],
    [METADATA_PATH + issuerPath, { methods: ['GET', 'HEAD'], answer: inFront('metadata') }],
    // Where only what lies under the mount path arrives.
    [mountPath + METADATA_PATH, { methods: ['GET', 'HEAD'], answer: inFront('metadata') }],
  ])

  return {
    issuer,
    bodyLimit,
    owns: (url) => routes.has(pathOf(originForm(url))),
    handle: (request) => {
      const route = routes.get(pathOf(request.url))
      if (route === undefined) return undefined
      try {
        if (route.methods.includes(request.method)) {
          const answer = route.answer(request)
          return answer instanceof Promise ? answer.catch(failed).then(withOwnHeaders) : withOwnHeaders(answer)
        }
        const methods = route.methods.filter((method) => method !== 'HEAD').join(' or ')
        const error = oauthError('invalid_request', 'method_not_allowed', `The method must be ${methods}.`, {
          status: 405,
        })
        if (route.endpoint !== undefined) refused(route.endpoint, error.reason, error.code)
        return withAllow(errorResponse(error), route.methods.join(', '))
      } catch (error) {
        return failed(error)
      }
    },
    guard,
    authenticate: authenticateBy(guard),
    applications,
    grants,
  }
}

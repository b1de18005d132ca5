/**
 * A service as one client of it knows it: who asks whom, and what the service says of itself.
 * @module
 * @see RFC 8414
 */
import * as oauth from 'oauth4webapi'
import { isLoopback } from '../core/redirect-uri.js'
import { ClientError } from './errors.js'
import { ask, type HttpOptions, type HttpSettings, memberOf, plain, wholeAnswers } from './http.js'
import { isFunction, isWait, mistake, type OptionChecks, readOptions } from './options.js'

/** Options of {@link discover}. */
export interface ClientOptions {
  /** The address of the service, as it calls itself: `https://host` or `https://host/path`; `http` on loopback alone. */
  readonly issuer: string
  readonly clientId: string
  /** Of a confidential client; none by default. A program that others can read keeps no secret. */
  readonly clientSecret?: string
  /** How the secret is sent; `client_secret_basic` by default (RFC 6749, section 2.3.1). */
  readonly clientAuthentication?: 'client_secret_basic' | 'client_secret_post'
  /** What requests are made with; the platform's by default. */
  readonly fetch?: typeof fetch
  /** Seconds to wait for a whole answer; 10 by default. */
  readonly timeout?: number
  /** Seconds since the epoch; the system's clock by default. */
  readonly clock?: () => number
}

/** A service that was discovered, and the client that asks it: what the other functions work with. Made by {@link discover} alone. */
export interface Client {
  /** As the service spells it. */
  readonly issuer: string
  readonly clientId: string
  /** What the service says of itself (RFC 8414, section 2). */
  readonly metadata: oauth.AuthorizationServer
}

/** What requests of a client need. */
export interface Connection extends HttpSettings {
  readonly as: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly authentication: oauth.ClientAuth
  /** Whether the client proves who it is. */
  readonly hasSecret: boolean
  /** Options of a request of oauth4webapi: its answer is whole, and the signal ends it (see `wholeAnswers`). */
  readonly http: (signal?: AbortSignal) => HttpOptions
  /** Whole seconds since the epoch. */
  readonly now: () => number
}

/** By a name that all copies of this module know: in CommonJS each entry point has its own. */
const connection: unique symbol = Symbol.for('grantwell.client.connection')

/** The endpoints that a client sends credentials to, or its user. */
const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'device_authorization_endpoint',
  'revocation_endpoint',
  'introspection_endpoint',
] as const

/**
 * Reads what a service says of itself.
 * @throws ClientError `ERR_CONFIGURATION` for a wrong option; `ERR_UNREACHABLE` where nobody answers; `ERR_RESPONSE` where
 *   the answer is none of an authorization server, or of one with another name
 * @example
 * ```ts
 * const client = await discover({ issuer: 'https://git.example', clientId: 'my-tool' })
 * ```
 * @see RFC 8414, section 3
 */
export async function discover(options: ClientOptions): Promise<Client> {
  const given = readOptions<ClientOptions>(options, OPTIONS, ['issuer', 'clientId'])
  const issuer = readIssuer(given.issuer)
  const authentication = authenticationOf(given)
  const { fetch = globalThis.fetch, timeout = 10, clock = () => Date.now() / 1000 } = given
  if (!Number.isFinite(clock())) throw mistake('clock() must give seconds since the epoch')
  const http: Connection['http'] = (signal) => ({
    [oauth.customFetch]: wholeAnswers({ fetch, timeout }, signal),
    [oauth.allowInsecureRequests]: issuer.protocol === 'http:', // on loopback: see readIssuer and checkEndpoints
  })

  const as = await ask(`there is no authorization server at ${issuer.href}`, undefined, async () => {
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...http() })
    const named = response.status === 200 ? await memberOf(response, 'issuer') : undefined
    if (named === undefined || isSame(named, issuer)) return oauth.processDiscoveryResponse(issuer, response)
    throw new ClientError('ERR_RESPONSE', `the service at ${issuer.href} calls itself ${plain(named)}`)
  })
  checkEndpoints(as, issuer)
  const own: Connection = {
    as,
    client: { client_id: given.clientId },
    authentication,
    hasSecret: given.clientSecret !== undefined,
    http,
    now: () => Math.floor(clock()),
    fetch,
    timeout,
  }
  const client: Client = { issuer: as.issuer, clientId: given.clientId, metadata: as }
  return Object.freeze(Object.defineProperty(client, connection, { value: own, enumerable: false }))
}

/**
 * What requests of this client need.
 * @throws ClientError `ERR_CONFIGURATION` for what `discover` has not made
 */
export function connectionOf(client: Client): Connection {
  // The one thing that discover puts there; no JSON has a symbol.
  const own = (client as { readonly [connection]?: Connection } | undefined)?.[connection]
  if (own === undefined) throw mistake('this is no client that discover() has made')
  return own
}

const OPTIONS: OptionChecks<ClientOptions> = {
  issuer: (value) => typeof value === 'string',
  clientId: isText,
  clientSecret: isText,
  clientAuthentication: (value) => value === 'client_secret_basic' || value === 'client_secret_post',
  fetch: isFunction,
  timeout: isWait,
  clock: isFunction,
}

/** Without TLS everybody on the way could read the tokens: never but on loopback. */
function readIssuer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !isProtected(url, true))
    throw mistake('the issuer must be an https address, or an http one on loopback')
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text))
    throw mistake('the issuer must have no user, no query and no fragment')
  return url
}

/** Whether nobody on the way can read what is sent there. */
function isProtected({ protocol, hostname }: URL, allowLoopback: boolean): boolean {
  return protocol === 'https:' || (allowLoopback && protocol === 'http:' && isLoopback(hostname, true))
}

/**
 * Whether an address that a service gives may be used: one that nobody on the way can read and, since it may come to the
 * opener of a desktop, of the web. `http` is for services on loopback, to loopback.
 */
export function isSafeAddress(text: unknown, issuer: string | URL): boolean {
  return (
    typeof text === 'string' && URL.canParse(text) && isProtected(new URL(text), new URL(issuer).protocol === 'http:')
  )
}

function checkEndpoints(as: oauth.AuthorizationServer, issuer: URL): void {
  for (const name of ENDPOINTS) {
    if (as[name] !== undefined && !isSafeAddress(as[name], issuer))
      throw new ClientError('ERR_RESPONSE', `the service at ${issuer.href} gives a wrong address as its ${name}`)
  }
}

function isSame(text: string, issuer: URL): boolean {
  return URL.canParse(text) && new URL(text).href === issuer.href
}

function authenticationOf({ clientSecret, clientAuthentication }: ClientOptions): oauth.ClientAuth {
  if (clientSecret === undefined) {
    if (clientAuthentication !== undefined) throw mistake('clientAuthentication needs a clientSecret')
    return oauth.None()
  }
  return clientAuthentication === 'client_secret_post'
    ? oauth.ClientSecretPost(clientSecret)
    : oauth.ClientSecretBasic(clientSecret)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

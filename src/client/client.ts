/**
 * A service as one client of it knows it: who asks whom, and what the service says of itself.
 * @module
 * @see RFC 8414
 */
import * as oauth from 'oauth4webapi'
import { isLoopback } from '../core/application/redirect-uri.js'
import { came, FUNCTION, isObject, isTaken, mustBe, NAME, oneOf, type Takes } from '../core/takes.js'
import { ClientError } from './errors.js'
import { parseAddress } from './http/address.js'
import { ask, type HttpOptions, type HttpSettings, memberOf, wholeAnswers } from './http/http.js'
import { plain } from './http/plain.js'
import { checkArgument, mistake, type OptionChecks, readOptions, wait } from './options.js'

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
  /** Seconds to wait for a whole answer; 10 by default, an hour at most. */
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
  const given = readOptions<ClientOptions>('discover', options, OPTIONS, ['issuer', 'clientId'])
  const issuer = readIssuer(given.issuer)
  const authentication = authenticationOf(given)
  const { fetch = globalThis.fetch, timeout = 10, clock = () => Date.now() / 1000 } = given
  checkClock(clock())
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
  if (own === undefined) throw mistake(`the client ${mustBe(CLIENT, client)}`)
  return own
}

/** Its connection is checked where it is used: {@link connectionOf}. */
export const CLIENT: Takes = { words: 'a client that discover() has made', fits: isObject }

const SECONDS: Takes = { words: 'seconds since the epoch', fits: Number.isFinite }

function checkClock(now: unknown): void {
  if (!isTaken(SECONDS, now)) throw mistake(`discover: clock() must give ${SECONDS.words}; got ${came(now)}`)
}

/** @throws ClientError `ERR_CONFIGURATION` for an argument that is no client */
export function checkClient(of: string, client: unknown): void {
  checkArgument(of, 'client', { ...CLIENT, fits: isClient }, client)
}

function isClient(value: unknown): boolean {
  return isObject(value) && connection in value
}

const OPTIONS: OptionChecks<ClientOptions> = {
  issuer: { words: "an https address, such as 'https://git.example'", fits: (value) => typeof value === 'string' },
  clientId: NAME,
  clientSecret: { ...NAME, secret: true },
  clientAuthentication: oneOf('client_secret_basic', 'client_secret_post'),
  fetch: FUNCTION,
  timeout: wait(3600),
  clock: FUNCTION,
}

/** Without TLS everybody on the way could read the tokens: never but on loopback. */
function readIssuer(text: string): URL {
  const url = parseAddress(text)
  if (url === undefined || !isProtected(url, true))
    throw mistake(`discover: the option issuer must be an https address, or an http one on loopback; got ${came(text)}`)
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text))
    throw mistake(`discover: the option issuer must have no user, no query and no fragment; got ${came(text)}`)
  return url
}

/** Whether nobody on the way can read what is sent there. */
function isProtected({ protocol, hostname }: URL, allowLoopback: boolean): boolean {
  return protocol === 'https:' || (allowLoopback && protocol === 'http:' && isLoopback(hostname, true))
}

/** Characters that a terminal obeys, or that show an address otherwise than it is; URL parsers take them away or escape them. */
const NOT_OF_ADDRESS = /[\p{Cc}\p{Cf}\p{Z}\p{Cs}]/u

/**
 * Whether an address that a service gives may be used: one that nobody on the way can read and, since it may come to the
 * opener of a desktop or to a terminal, of the web, as it is written, without a user in front of its host, and not long. `http`
 * is for services on loopback, to loopback.
 */
export function isSafeAddress(text: unknown, issuer: string | URL): boolean {
  const url = typeof text === 'string' && !NOT_OF_ADDRESS.test(text) ? parseAddress(text) : undefined
  if (url === undefined || url.username !== '' || url.password !== '') return false
  return isProtected(url, new URL(issuer).protocol === 'http:')
}

function checkEndpoints(as: oauth.AuthorizationServer, issuer: URL): void {
  for (const name of ENDPOINTS) {
    if (as[name] !== undefined && !isSafeAddress(as[name], issuer))
      throw new ClientError('ERR_RESPONSE', `the service at ${issuer.href} gives a wrong address as its ${name}`)
  }
}

function isSame(text: string, issuer: URL): boolean {
  return !NOT_OF_ADDRESS.test(text) && parseAddress(text)?.href === issuer.href
}

function authenticationOf({ clientSecret, clientAuthentication }: ClientOptions): oauth.ClientAuth {
  if (clientSecret === undefined) {
    if (clientAuthentication !== undefined)
      throw mistake('discover: the option clientSecret must be given with clientAuthentication; got undefined')
    return oauth.None()
  }
  return clientAuthentication === 'client_secret_post'
    ? oauth.ClientSecretPost(clientSecret)
    : oauth.ClientSecretBasic(clientSecret)
}

/**
 * A client of an authorization service: its settings, and the metadata that the service publishes.
 * @module
 * @see RFC 8414
 */
import * as oauth from 'oauth4webapi'
import { isLoopback } from '../core/application/redirect-uri.js'
import type { Takes } from '../core/takes.js'
import { came, FUNCTION, isObject, isTaken, mustBe, NAME, oneOf } from '../core/takes.js'
import { ClientError, configurationError } from './errors.js'
import { parseAddress } from './http/address.js'
import type { HttpOptions, HttpSettings } from './http/http.js'
import { ask, createWholeFetch, memberOf } from './http/http.js'
import { ownMembers } from './http/own-members.js'
import { plain } from './http/plain.js'
import type { OptionChecks } from './options.js'
import { checkArgument, readOptions, waitingTime } from './options.js'

/** Options of {@link discover}. */
export interface ClientOptions {
  /** The issuer identifier of the service: `https://host` or `https://host/path`; `http` only on loopback. */
  readonly issuer: string
  /** The identifier of the client, as the service registered it. */
  readonly clientId: string
  /** The secret of a confidential client; none by default. A program that others can read cannot keep a secret. */
  readonly clientSecret?: string
  /** The way to send the secret; `client_secret_basic` by default (RFC 6749, section 2.3.1). */
  readonly clientAuthentication?: 'client_secret_basic' | 'client_secret_post'
  /** The function that sends requests; the platform's by default. */
  readonly fetch?: typeof fetch
  /** Seconds to wait for a complete answer; 10 by default, an hour at most. */
  readonly timeout?: number
  /** Returns seconds since the epoch; the system's clock by default. */
  readonly clock?: () => number
}

/** A client of a service that was discovered. The other functions take it. Only {@link discover} makes one. */
export interface Client {
  /** The issuer identifier, as the service spells it. */
  readonly issuer: string
  /** The identifier of the client. */
  readonly clientId: string
  /** The metadata of the service (RFC 8414, section 2). */
  readonly metadata: oauth.AuthorizationServer
}

/** The settings for requests of a client. */
export interface Connection extends HttpSettings {
  readonly as: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly authentication: oauth.ClientAuth
  /** True if the client authenticates with a secret. */
  readonly hasSecret: boolean
  /** Makes options of a request of oauth4webapi: its answer is complete, and the signal ends it (see `createWholeFetch`). */
  readonly http: (signal?: AbortSignal) => HttpOptions
  /** Returns whole seconds since the epoch. */
  readonly now: () => number
}

/** A registered symbol, since in CommonJS each entry point has its own copy of this module. */
const connection: unique symbol = Symbol.for('grantwell.client.connection')

/** The endpoints to which a client sends credentials, or its user. */
const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'device_authorization_endpoint',
  'revocation_endpoint',
  'introspection_endpoint',
] as const

/**
 * Reads the metadata of a service.
 * @throws ClientError `ERR_CONFIGURATION` for a wrong option; `ERR_UNREACHABLE` if the service gives no answer; `ERR_RESPONSE` if
 *   the answer is not from an authorization server, or from one with another issuer identifier
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
    [oauth.customFetch]: createWholeFetch({ fetch, timeout }, signal),
    [oauth.allowInsecureRequests]: issuer.protocol === 'http:', // on loopback: see readIssuer and checkEndpoints
  })

  const as = await ask(`there is no authorization server at ${issuer.href}`, undefined, async () => {
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...http() })
    const named = response.status === 200 ? await memberOf(response, 'issuer') : undefined
    if (named === undefined || isSame(named, issuer))
      return ownMembers(await oauth.processDiscoveryResponse(issuer, response))
    throw new ClientError('ERR_RESPONSE', `the service at ${issuer.href} calls itself ${plain(named)}`)
  })
  checkEndpoints(as, issuer)
  const own: Connection = {
    as,
    client: ownMembers({ client_id: given.clientId }),
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
 * Returns the settings for requests of a client.
 * @throws ClientError `ERR_CONFIGURATION` for an object that `discover` has not made
 */
export function connectionOf(client: Client): Connection {
  // Only discover sets this member, and JSON cannot contain a symbol.
  const own = (client as { readonly [connection]?: Connection } | undefined)?.[connection]
  if (own === undefined) throw configurationError(`the client ${mustBe(CLIENT, client)}`)
  return own
}

/** A client. {@link connectionOf} checks its connection when it is used. */
export const CLIENT: Takes = { words: 'a client that discover() has made', fits: isObject }

const SECONDS: Takes = { words: 'seconds since the epoch', fits: Number.isFinite }

function checkClock(now: unknown): void {
  if (!isTaken(SECONDS, now)) throw configurationError(`discover: clock() must give ${SECONDS.words}; got ${came(now)}`)
}

/** Checks the argument `client`. @throws ClientError `ERR_CONFIGURATION` for anything but a client */
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
  timeout: waitingTime(3600),
  clock: FUNCTION,
}

/** Parses the option `issuer`. Without TLS others on the network could read the tokens, so `http` is allowed only on loopback. */
function readIssuer(text: string): URL {
  const url = parseAddress(text)
  if (url === undefined || !isProtected(url, true))
    throw configurationError(
      `discover: the option issuer must be an https address, or an http one on loopback; got ${came(text)}`,
    )
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text))
    throw configurationError(
      `discover: the option issuer must have no user, no query and no fragment; got ${came(text)}`,
    )
  return url
}

/** Checks whether nobody on the network can read requests to an address. */
function isProtected({ protocol, hostname }: URL, allowLoopback: boolean): boolean {
  return protocol === 'https:' || (allowLoopback && protocol === 'http:' && isLoopback(hostname, true))
}

/** Characters that a terminal obeys, or that make an address look like another one. URL parsers remove or escape them. */
const FORBIDDEN_IN_ADDRESS = /[\p{Cc}\p{Cf}\p{Z}\p{Cs}]/u

/**
 * Checks whether an address that a service gives is safe to use. It must be `https` or, if the issuer is on loopback, `http`
 * on loopback. It may be passed to a terminal or to the program that opens a browser, so it must be short, and without
 * control characters and a user name.
 */
export function isSafeAddress(text: unknown, issuer: string | URL): boolean {
  const url = typeof text === 'string' && !FORBIDDEN_IN_ADDRESS.test(text) ? parseAddress(text) : undefined
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
  return !FORBIDDEN_IN_ADDRESS.test(text) && parseAddress(text)?.href === issuer.href
}

function authenticationOf({ clientSecret, clientAuthentication }: ClientOptions): oauth.ClientAuth {
  if (clientSecret === undefined) {
    if (clientAuthentication !== undefined)
      throw configurationError(
        'discover: the option clientSecret must be given with clientAuthentication; got undefined',
      )
    return oauth.None()
  }
  return clientAuthentication === 'client_secret_post'
    ? oauth.ClientSecretPost(clientSecret)
    : oauth.ClientSecretBasic(clientSecret)
}

/**
 * A client of an authorization service: its settings, and the metadata that the service publishes.
 * @module
 * @see RFC 8414
 */
import * as oauth from 'oauth4webapi'
import type { Takes } from '../core/takes.js'
import { came, FUNCTION, isObject, isTaken, mustBe, NAME, oneOf } from '../core/takes.js'
import { discoverService, ISSUER, readIssuer } from './discovery/service.js'
import { configurationError } from './errors.js'
import type { HttpOptions, HttpSettings } from './http/http.js'
import { httpOptions } from './http/http.js'
import { ownMembers } from './http/own-members.js'
import type { OptionChecks } from './options.js'
import { checkArgument, RESOURCE, readOptions, waitingTime } from './options.js'

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
  /**
   * The protected resources that the tokens are for, each by its URL: `https://api.example/mcp`, or a list of some. The client names
   * them when it asks for an authorization, for tokens and for codes of a device (RFC 8707, section 2). By default it names none.
   */
  readonly resource?: string | readonly string[]
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
  /** The parameters `resource` of a request for tokens (RFC 8707, section 2). */
  readonly resources: [name: string, value: string][]
  /** Makes options of a request of oauth4webapi: its answer is complete, and the signal ends it (see `createWholeFetch`). */
  readonly http: (signal?: AbortSignal) => HttpOptions
  /** Returns whole seconds since the epoch. */
  readonly now: () => number
}

/** A registered symbol, since in CommonJS each entry point has its own copy of this module. */
const connection: unique symbol = Symbol.for('grantwell.client.connection')

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
  const issuer = readIssuer('discover', given.issuer)
  const authentication = authenticationOf(given)
  const { fetch = globalThis.fetch, timeout = 10, clock = () => Date.now() / 1000, resource = [] } = given
  checkClock(clock())
  const http: Connection['http'] = (signal) => httpOptions({ fetch, timeout }, issuer, signal)
  const as = await discoverService(issuer, http())
  const own: Connection = {
    as,
    client: ownMembers({ client_id: given.clientId }),
    authentication,
    hasSecret: given.clientSecret !== undefined,
    resources: [resource].flat().map((each) => ['resource', each]),
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
  issuer: ISSUER,
  clientId: NAME,
  clientSecret: { ...NAME, secret: true },
  clientAuthentication: oneOf('client_secret_basic', 'client_secret_post'),
  resource: RESOURCE,
  fetch: FUNCTION,
  timeout: waitingTime(3600),
  clock: FUNCTION,
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

/**
 * Registration of a client by itself, and the end of it.
 * @module
 * @see RFC 7591; RFC 7592
 */
import { FUNCTION, isObject, isThenable, NAME } from '../../core/takes.js'
import { challengesOf, parameterOf } from '../discovery/challenge.js'
import { discoverService, ISSUER, readIssuer, wrong } from '../discovery/service.js'
import { ClientError } from '../errors.js'
import { isSafeAddress } from '../http/address.js'
import { ask, createWholeFetch, httpOptions, memberOf } from '../http/http.js'
import { ownMembers } from '../http/own-members.js'
import { plain } from '../http/plain.js'
import type { OptionChecks } from '../options.js'
import { checkArgument, readOptions, waitingTime } from '../options.js'
import { isBearer, isCredential } from '../tokens/tokens-check.js'
import type { ClientRegistration } from './client-information.js'
import { readInformation } from './client-information.js'

/** Metadata of a client, as they are sent (RFC 7591, section 2). */
export interface ClientMetadata {
  /** The addresses that a browser may be redirected to. `loginByBrowser` needs `http://127.0.0.1/callback`. */
  readonly redirect_uris?: readonly string[]
  /** The way to authenticate: `none` for a public client, `client_secret_basic` or `client_secret_post`. */
  readonly token_endpoint_auth_method?: string
  /** The grant types that the client uses, such as `authorization_code` and `refresh_token`. */
  readonly grant_types?: readonly string[]
  /** The response types that the client uses, such as `code`. */
  readonly response_types?: readonly string[]
  /** The name that users see. */
  readonly client_name?: string
  /** The address of a page about the client. */
  readonly client_uri?: string
  /** The address of a logo. */
  readonly logo_uri?: string
  /** Scopes separated by spaces. */
  readonly scope?: string
  /** Ways to reach the people behind the client, such as e-mail addresses. */
  readonly contacts?: readonly string[]
  /** The identifier of the software, which is the same for all of its installations. */
  readonly software_id?: string
  /** The version of the software. */
  readonly software_version?: string
  /** Any other member, as JSON. */
  readonly [name: string]: unknown
}

/** Options of requests about a registration. */
export interface RegistrationRequestOptions {
  /** The function that sends requests; the platform's by default. */
  readonly fetch?: typeof fetch
  /** Seconds to wait for a complete answer; 10 by default, an hour at most. */
  readonly timeout?: number
}

/** Options of {@link registerClient}. */
export interface RegistrationOptions extends RegistrationRequestOptions {
  /** The issuer identifier of the service: `https://host` or `https://host/path`; `http` only on loopback. */
  readonly issuer: string
  /** The metadata of the client. */
  readonly metadata: ClientMetadata
  /** The token that permits a registration; none by default, for a service where anybody may register. */
  readonly initialAccessToken?: string
}

/**
 * Registers a client at a service. Each call makes another client, so store what it returns: it is JSON.
 *
 * The service may register other metadata than those that were sent. Compare `metadata` where that matters.
 * @throws ClientError `ERR_UNREACHABLE`: the client may be registered all the same; `ERR_RESPONSE` if the service registers no
 *   clients, or if its answer is wrong or a refusal, with its code in `error`, such as `invalid_redirect_uri`,
 *   `invalid_client_metadata` or `invalid_software_statement`; `ERR_CONFIGURATION` for a wrong option
 * @example
 * ```ts
 * const metadata = { client_name: 'My tool', redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' }
 * const { credentials } = await registerClient({ issuer, metadata })
 * const client = await discover({ issuer, ...credentials })
 * ```
 * @see RFC 7591, section 3
 */
export async function registerClient(options: RegistrationOptions): Promise<ClientRegistration> {
  const given = readOptions<RegistrationOptions>('registerClient', options, OPTIONS, ['issuer', 'metadata'])
  const body = JSON.stringify(given.metadata)
  const issuer = readIssuer('registerClient', given.issuer)
  const { fetch = globalThis.fetch, timeout = 10, initialAccessToken: token } = given
  const as = await discoverService(issuer, httpOptions({ fetch, timeout }, issuer))
  const address = as.registration_endpoint
  if (address === undefined)
    throw new ClientError('ERR_RESPONSE', `the service at ${issuer.href} has no registration endpoint`)
  if (!isSafeAddress(address, issuer)) throw wrong('registration_endpoint', issuer)
  const answer = await request('the service registered no client', given, { method: 'POST', address, token, body }, 201)
  return readInformation(as.issuer, answer)
}

/**
 * Reads the registration of a client. Replace the stored one by the result: the service may have changed credentials.
 * @throws ClientError `ERR_UNREACHABLE`; `ERR_RESPONSE` if the service does not know the registration, or answers about another client;
 *   `ERR_CONFIGURATION` for a wrong argument, or a registration that the service does not let its client manage
 * @see RFC 7592, section 2.1
 */
export async function readRegistration(
  registration: ClientRegistration,
  options: RegistrationRequestOptions = {},
): Promise<ClientRegistration> {
  const { given, own, ...target } = managed('readRegistration', registration, options)
  const answer = await request('the service gave no registration', given, { method: 'GET', ...target }, 200)
  return readInformation(own.issuer, answer, own)
}

/**
 * Deletes the registration of a client at the service. Its credentials stop working, and so do its tokens.
 * @throws ClientError as {@link readRegistration}
 * @see RFC 7592, section 2.3
 */
export async function deleteRegistration(
  registration: ClientRegistration,
  options: RegistrationRequestOptions = {},
): Promise<void> {
  const { given, ...target } = managed('deleteRegistration', registration, options)
  await request('the service did not delete the registration', given, { method: 'DELETE', ...target }, 204)
}

const REQUEST_OPTIONS: OptionChecks<RegistrationRequestOptions> = { fetch: FUNCTION, timeout: waitingTime(3600) }

const OPTIONS: OptionChecks<RegistrationOptions> = {
  issuer: ISSUER,
  metadata: {
    words: 'an object that is JSON',
    fits: (value) => isObject(value) && !isThenable(value) && JSON.stringify(value).startsWith('{'),
  },
  initialAccessToken: { ...NAME, words: 'a bearer token', fits: isToken, secret: true },
  ...REQUEST_OPTIONS,
}

/** Checks the arguments of a request about a registration, and returns its target. */
function managed(of: string, registration: ClientRegistration, options: RegistrationRequestOptions) {
  const takes = { words: 'a registration that its client may manage', fits: isManaged, secret: true } as const
  checkArgument(of, 'registration', takes, registration)
  const given = readOptions<RegistrationRequestOptions>(of, options, REQUEST_OPTIONS)
  const own: ClientRegistration = ownMembers(registration)
  return { given, own, address: own.registrationUri ?? '', token: own.registrationAccessToken }
}

function isManaged(value: unknown): boolean {
  if (!isObject(value)) return false
  const { issuer, registrationUri, registrationAccessToken, credentials } = ownMembers(value)
  const isFromService = typeof issuer === 'string' && isSafeAddress(registrationUri, issuer)
  return isFromService && isToken(registrationAccessToken) && isObject(credentials)
}

function isToken(value: unknown): boolean {
  return isCredential(value) && isBearer(value)
}

/** One request to a registration endpoint. */
interface RegistrationRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly address: string
  readonly token: string | undefined
  readonly body?: string
}

/**
 * Sends a request, and checks the status of the answer.
 * @param failure - the failure, as the beginning of a sentence
 */
function request(
  failure: string,
  { fetch = globalThis.fetch, timeout = 10 }: RegistrationRequestOptions,
  { method, address, token, body }: RegistrationRequest,
  status: number,
): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`
  if (body !== undefined) headers['content-type'] = 'application/json'
  return ask(failure, undefined, async () => {
    const answer = await createWholeFetch({ fetch, timeout })(address, { method, headers, redirect: 'manual', body })
    if (answer.status === status) return answer
    const error = (await memberOf(answer, 'error')) ?? parameterOf(challengesOf(answer), 'error')
    const description = await memberOf(answer, 'error_description')
    const problem = error === undefined ? `it answers ${answer.status}` : plain(error)
    const told = description === undefined ? problem : `${plain(description)} (${problem})`
    throw new ClientError('ERR_RESPONSE', `${failure}: ${told}`, { error })
  })
}

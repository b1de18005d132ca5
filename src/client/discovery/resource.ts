/**
 * The metadata of a protected resource. They lead from an API that refused a request to the service that gives tokens for it.
 * @module
 * @see RFC 9728
 */
import * as oauth from 'oauth4webapi'
import { answerFault, FUNCTION, isObject } from '../../core/takes.js'
import { parseUrl } from '../../core/url.js'
import { RESOURCE_METADATA_PATH } from '../../protocol/audiences/resource-metadata.js'
import { ClientError, configurationError } from '../errors.js'
import { isSafeAddress } from '../http/address.js'
import type { HttpOptions } from '../http/http.js'
import { ask, httpOptions, memberOf } from '../http/http.js'
import { ownMembers } from '../http/own-members.js'
import { plain } from '../http/plain.js'
import type { OptionChecks } from '../options.js'
import { readOptions, waitingTime } from '../options.js'
import { challengesOf, parameterOf } from './challenge.js'
import { scopeOf } from './required-scope.js'

/** Options of {@link discoverResource}. */
export interface ResourceDiscoveryOptions {
  /** The address that was asked: `https`, or `http` on loopback. */
  readonly url: string
  /** The answer, or the text of its header `WWW-Authenticate`. Without it, the document of `url` itself is read. */
  readonly challenge?: Response | string
  /** Chooses one of the services that give tokens for the API, by their issuer identifiers; the first one by default. */
  readonly chooseIssuer?: (issuers: readonly string[]) => string | Promise<string>
  /** The function that sends requests; the platform's by default. */
  readonly fetch?: typeof fetch
  /** Seconds to wait for a complete answer; 10 by default, an hour at most. */
  readonly timeout?: number
}

/** A protected resource, and the service that gives tokens for it. */
export interface ProtectedResource {
  /** The identifier of the resource, for the option `resource` of `discover`. */
  readonly resource: string
  /** The issuer identifier of the service, for the option `issuer` of `discover`, which checks it (RFC 8414, section 3.3). */
  readonly issuer: string
  /** The scopes that the challenge named, for a login; absent if it named none. */
  readonly scope?: string
  /** The metadata of the resource (RFC 9728, section 2). */
  readonly metadata: oauth.ResourceServer
}

/**
 * Finds the service that gives tokens for an API.
 *
 * It reads the document that the challenge names in `resource_metadata`. The document must be at the well-known address of a resource
 * that the asked address lies in: of the same origin, and with the same path or its beginning. Otherwise it is not read. Without such a
 * challenge it reads the document of the asked address. The document must name this resource as its own.
 * @throws ClientError `ERR_UNREACHABLE` if there is no answer; `ERR_RESPONSE` if there is no such document, if it is about another
 *   resource, or if it names no service with a safe address; `ERR_CONFIGURATION` for a wrong option; the errors of `chooseIssuer`
 * @example
 * ```ts
 * const url = 'https://api.example/mcp'
 * const { issuer, resource, scope } = await discoverResource({ url, challenge: await fetch(url) })
 * ```
 * @see RFC 9728, sections 3 and 5
 */
export async function discoverResource(options: ResourceDiscoveryOptions): Promise<ProtectedResource> {
  const given = readOptions<ResourceDiscoveryOptions>('discoverResource', options, OPTIONS, ['url'])
  const { challenge = '', chooseIssuer = ([first = '']) => first, fetch = globalThis.fetch, timeout = 10 } = given
  const url = new URL(given.url)
  const challenges = challengesOf(challenge)
  const expected = expectedResource(url, parameterOf(challenges, 'resource_metadata'))
  const metadata = await readDocument(expected, httpOptions({ fetch, timeout }, url))
  const issuers: unknown = metadata.authorization_servers ?? []
  if (!isListOfStrings(issuers) || issuers.length === 0)
    throw new ClientError('ERR_RESPONSE', `${plain(expected.href)} names no authorization server`)
  const issuer: unknown = await chooseIssuer([...issuers])
  if (typeof issuer !== 'string' || !issuers.includes(issuer))
    throw configurationError(answerFault('discoverResource: chooseIssuer', 'one of the issuers', issuer))
  if (!isSafeAddress(issuer, url) || /[?#]/.test(issuer))
    throw new ClientError('ERR_RESPONSE', `${plain(expected.href)} gives a wrong address as its authorization server`)
  const scope = scopeOf(challenges)
  return { resource: metadata.resource, issuer, ...(scope !== undefined && { scope }), metadata }
}

const OPTIONS: OptionChecks<ResourceDiscoveryOptions> = {
  url: {
    words: 'an https address, or an http one on loopback',
    fits: (value) => typeof value === 'string' && isSafeAddress(value, value),
  },
  challenge: {
    words: 'a Response, or the text of its WWW-Authenticate header',
    fits: (value) =>
      typeof value === 'string' ||
      (isObject(value) && isObject(value['headers']) && typeof value['headers']['get'] === 'function'),
    secret: true,
  },
  chooseIssuer: FUNCTION,
  fetch: FUNCTION,
  timeout: waitingTime(3600),
}

/**
 * Returns the identifier of the resource whose document is to be read.
 * @param named - the address of the document, if the challenge named it
 * @throws ClientError `ERR_RESPONSE` if it is not the address of a resource that the asked address lies in: whoever wrote the challenge
 *   could make the client ask for tokens of another API, and would get them
 */
function expectedResource(url: URL, named: string | undefined): URL {
  if (named === undefined) return new URL(url.origin + url.pathname)
  const resource = isSafeAddress(named, url) ? resourceOf(new URL(named)) : undefined
  if (resource !== undefined && isWithin(url, resource)) return resource
  throw new ClientError('ERR_RESPONSE', `the challenge names ${plain(named)}, which is not the document of this API`)
}

/** Returns the identifier of which the address of a document is made; undefined if it is made of none (section 3.1). */
function resourceOf({ pathname, search, hash, origin }: URL): URL | undefined {
  const path = pathname.slice(RESOURCE_METADATA_PATH.length)
  const isMade = pathname.startsWith(RESOURCE_METADATA_PATH) && /^(?:\/|$)/.test(path) && hash === ''
  return isMade ? parseUrl(origin + path + search) : undefined
}

/** Checks whether an address lies in a resource: of the same origin, and below its path. */
function isWithin(url: URL, { origin, pathname, search }: URL): boolean {
  if (url.origin !== origin) return false
  if (url.pathname === pathname) return search === '' || url.search === search
  return search === '' && url.pathname.startsWith(pathname.endsWith('/') ? pathname : `${pathname}/`)
}

/** Reads the document of a resource. Its address is made of the identifier (RFC 9728, section 3.1). */
function readDocument(expected: URL, http: HttpOptions): Promise<oauth.ResourceServer> {
  return ask(`there is no document of a protected resource for ${plain(expected.href)}`, undefined, async () => {
    const response = await oauth.resourceDiscoveryRequest(expected, http)
    const named = response.status === 200 ? await memberOf(response, 'resource') : undefined
    if (named === undefined || isSame(named, expected))
      return ownMembers(await oauth.processResourceDiscoveryResponse(expected, response))
    throw new ClientError('ERR_RESPONSE', `the document of ${plain(expected.href)} is about ${plain(named)}`)
  })
}

/** Compares identifiers (RFC 9728, sections 3.3 and 6). A bare host may have a slash or none. */
function isSame(text: string, { href, origin }: URL): boolean {
  return text === href || (href === `${origin}/` && text === origin)
}

function isListOfStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

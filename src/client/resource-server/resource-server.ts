/**
 * The guard of an API that runs elsewhere than the service: it asks the service about each token by introspection.
 * @module
 * @see RFC 7662; RFC 6750
 */

import type { Credential } from '../../core/credentials/credential.js'
import { printCredential } from '../../core/credentials/credential.js'
import type { OAuthError } from '../../core/errors.js'
import { hostFailed, oauthError } from '../../core/errors.js'
import { nearest } from '../../core/nearest.js'
import { isProtectedResource, opensResource, RESOURCE_WORDS } from '../../core/resource.js'
import type { Inclusions, Scope, ScopeCatalogue } from '../../core/scopes.js'
import { CATALOGUE, coversScopes, readWrite, splitScopes } from '../../core/scopes.js'
import type { TakesOf } from '../../core/takes.js'
import { ANYTHING, answerFault, came, FUNCTION, promisesIn } from '../../core/takes.js'
import { parseResourceUrl } from '../../core/url.js'
import type { AuthInfo, GuardResult, ResourceOf } from '../../guard/auth-info.js'
import type { Guard, GuardProvider } from '../../guard/guard.js'
import { resourceMetadataUrl } from '../../protocol/audiences/resource-metadata.js'
import type { NoToken } from '../../protocol/bearer.js'
import {
  bearerToken,
  challenge,
  insufficientResources,
  insufficientScope,
  invalidToken,
} from '../../protocol/bearer.js'
import type { RequestLike } from '../../protocol/message.js'
import { headersOf, memberOf } from '../../protocol/message.js'
import { harmless } from '../../shell/host.js'
import type { Client } from '../client.js'
import { CLIENT, checkClient, connectionOf } from '../client.js'
import { ClientError, configurationError, isClientError } from '../errors.js'
import { checkArgument, readOptions } from '../options.js'
import type { FindAccess } from './access-cache.js'
import { createAccessCache } from './access-cache.js'
import { introspect } from './introspection.js'

/** Options of {@link resourceServer}. */
export interface ResourceServerOptions {
  /** The service, discovered with the credentials that `registerResourceServer` returned. */
  readonly client: Client
  /**
   * The catalogue of the service: give it wherever a scope has the host's own spelling. By default every `x:rw` counts as
   * including `x:r`, and nothing else includes anything.
   */
  readonly scopes?: ScopeCatalogue
  /**
   * The protected resource that this API is, as its registration at the service names it: tokens for it alone are taken, and every
   * challenge says where its document is (RFC 9728). By default tokens are taken that are limited to none.
   */
  readonly audience?: string
  /**
   * The number of answers kept at once, each as long as the service allows (`introspectionMaxAge`); 10,000 by default, 0 for
   * none, ten million at most.
   */
  readonly cacheSize?: number
  /** Gets errors of the service and of functions of the host, which no client gets; `console.error` by default. */
  readonly onError?: (error: unknown) => void
}

/** The parts of a resource server. */
interface ResourceServer {
  readonly findAccess: FindAccess
  /** The scopes of the service; undefined if it does not publish them. */
  readonly supported: readonly string[] | undefined
  /** The catalogue of the service, where the host gave it. */
  readonly scopes: ScopeCatalogue | undefined
  /** The protected resource that this API is. */
  readonly audience: string | undefined
  readonly onError: (error: unknown) => unknown
}

const CACHE_SIZE = 10_000

/** The form of a scope: the longest is a name of 64 characters with `:rw` (RFC 6749, section 3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,67}$/

/**
 * Creates the guards of an API that runs elsewhere: for `createNodeGuard`, `createFastifyGuard` and `createFetchGuard`, in place
 * of the server. A token costs one request to the service, or none while an answer is kept. Callers who come while a request is
 * running share the next one. If the service does not answer, the response of the guard is a 503.
 * @throws ClientError `ERR_CONFIGURATION` for a wrong option, a client without a secret, or a service without introspection;
 *   `ERR_RESPONSE` for a service whose `scopes_supported` is no list of strings
 * @example
 * ```ts
 * const client = await discover({ issuer: 'https://git.example', clientId, clientSecret })
 * const guard = createNodeGuard(resourceServer({ client }))
 * app.get('/packages/:id', guard({ scope: 'registry-package:r', resource: packageOf }, showPackage))
 * ```
 */
export function resourceServer(options: ResourceServerOptions): GuardProvider {
  const given = readOptions<ResourceServerOptions>('resourceServer', options, OPTIONS, ['client'])
  const { client, cacheSize = CACHE_SIZE } = given
  checkClient('resourceServer', client)
  // biome-ignore lint/suspicious/noConsole: an error without a listener must not vanish
  const { onError = (error: unknown) => console.error(error) } = given
  const connection = connectionOf(client)
  const { as, hasSecret, now, timeout } = connection
  if (!hasSecret)
    throw configurationError('resourceServer: the option client must be one with a clientSecret; got one without')
  if (as.introspection_endpoint === undefined)
    throw configurationError(
      `resourceServer: the option client must be of a service with introspection; got ${client.issuer}`,
    )
  const server: ResourceServer = {
    supported: given.scopes === undefined ? supportedScopes(as.scopes_supported) : [...given.scopes.entries.keys()],
    scopes: given.scopes,
    audience: given.audience,
    findAccess: createAccessCache({
      introspect: (token) => introspect(connection, client.issuer, given.audience, token),
      size: cacheSize,
      now,
      patience: timeout,
    }),
    onError,
  }
  return { guard: (needs) => createGuard(server, needs) }
}

const OPTIONS: TakesOf<ResourceServerOptions> = {
  client: CLIENT,
  scopes: CATALOGUE,
  audience: {
    words: 'the URL of a protected resource, spelled as the service declares it',
    fits: (value) => typeof value === 'string' && parseResourceUrl(value) !== undefined,
  },
  cacheSize: {
    words: 'a whole number from 0 to 10,000,000',
    // A Map of V8 holds 2 ** 24 entries, and throws for one more.
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 1e7,
  },
  onError: FUNCTION,
}

/** The scopes that a route needs, and the scopes that include them. */
interface Needed {
  readonly scopes: readonly Scope[]
  readonly inclusions: Inclusions
}

/** Tells from the spelling alone which scopes include those that are needed. */
function bySpelling(needed: readonly Scope[]): Inclusions {
  return { entries: new Map(needed.map((scope) => [scope, { includedBy: readWrite(scope) }])) }
}

function createGuard(server: ResourceServer, needs: unknown): Guard {
  const scopes = neededScopes(needs, server)
  const inclusions = server.scopes ?? bySpelling(scopes)
  const metadataUrl = server.audience === undefined ? undefined : resourceMetadataUrl(server.audience)
  const guard = async (request: RequestLike, ...rest: [resourceOf?: ResourceOf]): Promise<GuardResult> => {
    const [resourceOf] = rest
    // An undefined argument was meant to be a function. Without this check everybody would be let in.
    if (rest.length > 0) checkArgument('guard', 'resourceOf', FUNCTION, resourceOf)
    const found = await authenticate(server, request, { scopes, inclusions }, resourceOf)
    return found.type === 'authenticated'
      ? found
      : { type: 'refused', error: found, response: challenge(found, scopes, ['Bearer'], metadataUrl) }
  }
  return guard as Guard // the resource in the access is the one that resourceOf returned
}

/** Reads the token of a request, and decides. */
async function authenticate(
  server: ResourceServer,
  request: RequestLike,
  needed: Needed,
  resourceOf: ResourceOf | undefined,
): Promise<AuthInfo | OAuthError | NoToken> {
  const credential = bearerToken(headersOf(request), memberOf(request, 'url') ?? '')
  // Checks an own property, so a polluted prototype cannot turn a refusal into a token.
  if (isRefusal(credential)) return credential
  try {
    const access = await server.findAccess(printCredential(credential))
    return await decide(access, needed, resourceOf)
  } catch (error) {
    report(server, error)
    return isClientError(error) && error.code === 'ERR_UNREACHABLE' ? unavailable() : hostFailed()
  }
}

/** Decides whether an access permits the scopes and the resource that the route needs. */
async function decide(
  found: AuthInfo | undefined,
  needed: Needed,
  resourceOf: ResourceOf | undefined,
): Promise<AuthInfo | OAuthError> {
  if (found === undefined) return invalidToken('credential_unknown')
  if (!coversScopes(found.scopes, needed.scopes, needed.inclusions)) return insufficientScope()
  // A copy, since the host may change it, and the original is in the cache.
  const access = structuredClone(found)
  if (resourceOf === undefined) return access
  const resource = await resourceOf(access)
  if (resource === undefined || resource === null) return insufficientResources()
  if (!isProtectedResource(resource)) {
    // Nobody waits for promises in a wrong resource. If one failed, the process would end.
    for (const forgotten of promisesIn(resource)) Promise.resolve(forgotten).catch(() => {})
    throw configurationError(answerFault('resource()', RESOURCE_WORDS, resource))
  }
  return opensResource(access.resources, resource) ? { ...access, resource } : insufficientResources()
}

/** Calls the host's `onError`. Its own errors are ignored: it has got the error, and there is nobody else to tell. */
function report({ onError }: ResourceServer, error: unknown): void {
  harmless(onError, () => {})(error)
}

/** Checks the scopes in the metadata of the service, which may be anything. */
function supportedScopes(given: unknown): readonly string[] | undefined {
  if (given === undefined || isTexts(given)) return given
  throw new ClientError('ERR_RESPONSE', 'the service gives scopes_supported that is not a list of scopes')
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

/** The needs of a route, of any type. */
interface Needs {
  readonly scope?: unknown
  readonly audience?: unknown
}

const NEEDS: TakesOf<Needs> = { scope: ANYTHING, audience: ANYTHING }

/** Reads the scopes that a route needs. It refuses every misspelling, since a guard that ignored one would let everybody in. */
function neededScopes(needs: unknown, { supported, audience: own }: ResourceServer): readonly Scope[] {
  if (needs === undefined) return []
  const { scope, audience } = readOptions<Needs>('guard', needs as object, NEEDS, [], true)
  // It may name the API itself, as a guard beside the service does, and no other.
  if (Object.hasOwn(needs as object, 'audience') && (audience === undefined || audience !== own))
    throw configurationError(
      `guard: the option audience must be ${own ?? 'absent: resourceServer has none'}; got ${came(audience)}`,
    )
  // An undefined scope was meant to be a string. If it were ignored, everybody would be let in.
  if (scope === undefined && !Object.hasOwn(needs as object, 'scope')) return []
  const scopes = typeof scope === 'string' ? splitScopes(scope) : []
  const unknown = scopes.find((each) => !SCOPE.test(each) || supported?.includes(each) === false)
  if (scopes.length > 0 && unknown === undefined) return scopes // each has the form of one
  const meant = nearest(unknown ?? '', supported ?? [])
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
  const words = 'scopes of the service in a string, separated by a space'
  throw configurationError(`guard: the option scope must be ${words}; got ${came(scope)}${hint}`)
}

/** Checks whether reading the token failed. A credential has no type. */
function isRefusal(found: Credential | NoToken | OAuthError): found is NoToken | OAuthError {
  return Object.hasOwn(found, 'type')
}

function unavailable(): OAuthError {
  return oauthError('temporarily_unavailable', 'contention', 'The service is busy; try again.', { retryAfter: 1 })
}

/**
 * The guard of an API that lives elsewhere: it asks the service by introspection what a token is good for.
 * @module
 * @see RFC 7662; RFC 6750
 */
import * as oauth from 'oauth4webapi'
import type { Access } from '../access.js'
import type { Credential } from '../core/credential.js'
import { printCredential } from '../core/credential.js'
import { portableDigests } from '../core/digests.js'
import type { OAuthError } from '../core/errors.js'
import { hostFailed, oauthError } from '../core/errors.js'
import type { Resources } from '../core/grant.js'
import { isProtectedResource, opensResource, RESOURCE_SHAPE } from '../core/resource.js'
import type { Scope } from '../core/scopes.js'
import { coversScopes } from '../core/scopes.js'
import type { ClientId, GrantId } from '../core/values.js'
import type { Authentication, Guarding, ResourceOf } from '../guard.js'
import type { NoToken } from '../protocol/bearer.js'
import { bearerToken, challenge, insufficientResources, insufficientScope, invalidToken } from '../protocol/bearer.js'
import { headersOf } from '../protocol/message.js'
import type { Client } from './client.js'
import { connectionOf } from './client.js'
import { ClientError } from './errors.js'
import { ask, isClientError } from './http.js'
import { isFunction, mistake, readOptions } from './options.js'

/** Options of {@link resourceServer}. */
export interface ResourceServerOptions {
  /** The service, discovered with the credentials that `registerResourceServer` gave. */
  readonly client: Client
  /** How many answers are kept at once, each as long as the service allows (`introspectionMaxAge`); 10,000 by default, 0 for none. */
  readonly cacheSize?: number
  /** Told what went wrong at the service, or in a function of the host, which no client is; `console.error` by default. */
  readonly onError?: (error: unknown) => void
}

/** What is known of a token. */
interface Known {
  readonly access: Access
  /** Until when, exclusive: milliseconds of the stopwatch, which nobody can set back. */
  readonly until: number
}

const CACHE_SIZE = 10_000

/** A scope as this service has them. */
const SCOPE = /^[\x21\x23-\x39\x3b-\x5b\x5d-\x7e]{1,64}:rw?$/

/**
 * Makes the guards of an API that lives elsewhere: for `createNodeGuard`, `createFastifyGuard` and `createFetchGuard`, in the place
 * of the server. A token costs one request to the service, or none while an answer is kept; callers with the same
 * token share it. Where the service does not answer, the guard's answer is 503.
 * @throws ClientError `ERR_CONFIGURATION` for a wrong option, a client without a secret, or a service without introspection
 * @example
 * ```ts
 * const client = await discover({ issuer: 'https://git.example', clientId, clientSecret })
 * const guard = createNodeGuard(resourceServer({ client }))
 * app.get('/packages/:id', guard({ scope: 'registry-package:r', resource: packageOf }, showPackage))
 * ```
 */
export function resourceServer(options: ResourceServerOptions): Guarding {
  const given = readOptions(options, OPTIONS, ['client'])
  const { client, cacheSize = CACHE_SIZE } = given
  // biome-ignore lint/suspicious/noConsole: an error that nobody asked to be told of must not vanish
  const { onError = (error: unknown) => console.error(error) } = given
  const { as, client: self, authentication, hasSecret, http, now } = connectionOf(client)
  if (!hasSecret) throw mistake('resourceServer needs a client with a secret')
  if (as.introspection_endpoint === undefined) throw mistake(`the service at ${client.issuer} has no introspection`)
  const kept = new Map<string, Known>()
  const asking = new Map<string, Promise<Access | undefined>>()

  /** What the token is good for, as the service says now. */
  async function introspect(token: string, key: string): Promise<Access | undefined> {
    const begun = performance.now()
    const [answer, maxAge] = await ask('the service did not tell what a token is good for', undefined, async () => {
      const response = await oauth.introspectionRequest(as, self, authentication, token, http())
      return [await oauth.processIntrospectionResponse(as, self, response), maxAgeOf(response)] as const
    })
    const access = accessOf(answer, client.issuer)
    if (access === undefined) return undefined
    const until = begun + maxAge * 1000
    if (cacheSize > 0 && works({ access, until })) {
      const [oldest] = kept.keys()
      if (kept.size >= cacheSize && oldest !== undefined) kept.delete(oldest)
      kept.set(key, { access, until })
    }
    return access
  }

  function access(token: string): Access | undefined | Promise<Access | undefined> {
    // By its digest, so that no dump of the memory has tokens because of this.
    const key = portableDigests.sha256(token)
    const known = kept.get(key)
    if (known !== undefined && works(known)) return known.access
    kept.delete(key)
    const running = asking.get(key) ?? introspect(token, key).finally(() => asking.delete(key))
    asking.set(key, running)
    return running
  }

  const works = ({ access, until }: Known): boolean => performance.now() < until && now() < access.expiresAt

  function tell(error: unknown): void {
    try {
      onError(error)
    } catch {} // there is nobody left to tell
  }

  async function check(request: Parameters<typeof headersOf>[0], needed: readonly Scope[], resourceOf?: ResourceOf) {
    const credential = bearerToken(headersOf(request), request.url ?? '')
    // Own alone: were the prototype polluted, any token would pass for an answer.
    if (isRefusal(credential)) return credential
    try {
      const found = await access(printCredential(credential))
      if (found === undefined) return invalidToken('credential_unknown')
      if (!coversScopes(found.scopes, needed)) return insufficientScope()
      // A copy, so that what a host does with it reaches nobody else.
      const own = structuredClone(found)
      if (resourceOf === undefined) return own
      const resource = (await resourceOf(own)) ?? undefined
      if (resource !== undefined && !isProtectedResource(resource)) throw mistake(RESOURCE_SHAPE)
      return opensResource(own.resources, resource) ? own : insufficientResources()
    } catch (error) {
      tell(error)
      return isClientError(error) && error.code === 'ERR_UNREACHABLE' ? unavailable() : hostFailed()
    }
  }

  return {
    guard: (needs) => {
      const scopes = neededScopes(needs, as.scopes_supported)
      return async (request, ...rest): Promise<Authentication> => {
        const [resourceOf] = rest
        // A slip of the pen, which must not let everybody in.
        if (rest.length > 0 && resourceOf === undefined) throw mistake('a guard takes the resource as a function')
        const found: Access | OAuthError | NoToken = await check(request, scopes, resourceOf)
        return found.type === 'authenticated'
          ? found
          : { type: 'refused', error: found, response: challenge(found, scopes) }
      }
    },
  }
}

const OPTIONS = {
  client: (value: unknown) => typeof value === 'object' && value !== null,
  cacheSize: (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0,
  onError: isFunction,
} as const

/** Strict with what a host wrote, since a guard that passes over a slip of the pen would let everybody in. */
function neededScopes(
  needs: { readonly scope?: unknown } | null | undefined,
  supported: readonly string[] | undefined,
): readonly Scope[] {
  if (needs === undefined) return []
  const names = typeof needs === 'object' && needs !== null ? Object.keys(needs) : undefined
  if (names?.length === 0) return []
  const scope = names?.length === 1 && names[0] === 'scope' ? needs?.scope : undefined
  const scopes = typeof scope === 'string' ? scope.split(' ') : []
  const known = scopes.every((each) => SCOPE.test(each) && (supported?.includes(each) ?? true))
  if (scopes.length > 0 && known) return scopes as Scope[] // each has the form of one
  const wrong = typeof scope === 'string' ? `, not ${JSON.stringify(scope)}` : ''
  throw mistake(`a guard takes { scope }, scopes of the service in a string${wrong}`)
}

/** Seconds that an answer may be kept (RFC 9111, section 5.2.2). */
function maxAgeOf({ headers }: Response): number {
  const control = (headers.get('cache-control') ?? '').toLowerCase()
  if (/(?:^|[\s,])no-(?:store|cache)(?:$|[\s,=])/.test(control)) return 0
  return Number(/(?:^|[\s,])max-age=(\d{1,9})/.exec(control)?.[1] ?? 0)
}

/** Whether there was no credential that is one. A credential has no type. */
function isRefusal(found: Credential | NoToken | OAuthError): found is NoToken | OAuthError {
  return Object.hasOwn(found, 'type')
}

/**
 * The answer of the service as a guard has it; undefined for a token that does not work.
 * @throws ClientError `ERR_RESPONSE` where something is missing, or it is of another service
 */
function accessOf(answer: oauth.IntrospectionResponse, issuer: string): Access | undefined {
  const own: oauth.IntrospectionResponse = Object.assign(Object.create(null), answer)
  const { active, sub, client_id: clientId, grant_id: grantId, scope, exp, iss, token_type: type, resources } = own
  if (active !== true) return undefined
  const bearer = typeof type !== 'string' || type.toLowerCase() === 'bearer'
  const open = resourcesOf(resources)
  if (
    typeof sub !== 'string' ||
    typeof clientId !== 'string' ||
    typeof grantId !== 'string' ||
    typeof scope !== 'string' ||
    typeof exp !== 'number' ||
    open === undefined ||
    !bearer ||
    (iss !== undefined && iss !== issuer)
  )
    throw new ClientError('ERR_RESPONSE', 'the service did not tell of a token what a grantwell service tells')
  return {
    type: 'authenticated',
    subject: sub,
    clientId: clientId as ClientId, // as the service, which checked it, says
    grantId: grantId as GrantId, // the same
    scopes: scope.split(' ') as Scope[], // the same
    resources: open,
    expiresAt: exp,
  }
}

function resourcesOf(value: unknown): Resources | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { kind, ids: listed }: { readonly kind?: unknown; readonly ids?: unknown } = Object.assign(
    Object.create(null),
    value,
  )
  if (kind === 'all' || kind === 'public') return { kind }
  if (kind !== 'specified' || !Array.isArray(listed)) return undefined
  const ids: readonly unknown[] = listed
  return { kind: 'specified', ids: ids.filter((id) => typeof id === 'string') }
}

function unavailable(): OAuthError {
  return oauthError('temporarily_unavailable', 'contention', 'The service is busy; try again.', { retryAfter: 1 })
}

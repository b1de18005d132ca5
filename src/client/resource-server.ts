/**
 * The guard of an API that lives elsewhere: it asks the service by introspection what a token is good for.
 * @module
 * @see RFC 7662; RFC 6750
 */
import * as oauth from 'oauth4webapi'
import type { OAuthError } from '../core/errors.js'
import { hostFailed, oauthError } from '../core/errors.js'
import { nearest } from '../core/nearest.js'
import type { Resources } from '../core/resource.js'
import { isProtectedResource, opensResource, RESOURCE_WORDS } from '../core/resource.js'
import type { Scope } from '../core/scopes.js'
import { coversScopes, splitScopes } from '../core/scopes.js'
import { ANYTHING, answerFault, came, FUNCTION, promisesIn, type TakesOf } from '../core/takes.js'
import type { Credential } from '../core/tokens/credential.js'
import { printCredential } from '../core/tokens/credential.js'
import { portableDigests } from '../core/tokens/digests.js'
import type { ClientId, GrantId } from '../core/values.js'
import type { Access } from '../guard/access.js'
import type { Authentication, Guard, Guarding, ResourceOf } from '../guard/guard.js'
import type { NoToken } from '../protocol/bearer.js'
import { bearerToken, challenge, insufficientResources, insufficientScope, invalidToken } from '../protocol/bearer.js'
import type { RequestLike } from '../protocol/message.js'
import { headersOf, memberOf } from '../protocol/message.js'
import type { Client } from './client.js'
import { CLIENT, checkClient, connectionOf } from './client.js'
import { ClientError } from './errors.js'
import { ask, isClientError } from './http/http.js'
import { limited } from './http/limited.js'
import { checkArgument, mistake, readOptions } from './options.js'

/** Options of {@link resourceServer}. */
export interface ResourceServerOptions {
  /** The service, discovered with the credentials that `registerResourceServer` gave. */
  readonly client: Client
  /** The number of answers kept at once, each as long as the service allows (`introspectionMaxAge`); 10,000 by default, 0 for none, ten million at most. */
  readonly cacheSize?: number
  /** Told what went wrong at the service, or in a function of the host, which no client is; `console.error` by default. */
  readonly onError?: (error: unknown) => void
}

/** A question that is under way. */
interface Asking {
  readonly answer: Promise<Access | undefined>
  /**
   * The answer to the question after it, shared by all who came meanwhile. The first answer is none for them: a token that was revoked
   * before they came may have worked when it was made.
   */
  next?: Promise<Access | undefined>
}

/** What is known of a token. */
interface Known {
  readonly access: Access
  /** Until when, exclusive: milliseconds of the stopwatch, which nobody can set back. */
  readonly until: number
}

const CACHE_SIZE = 10_000

/** Questions of one API: each has a socket, of which one client that pipelines made-up tokens could take all. */
const QUESTIONS = { atOnce: 64, waiting: 4096 } as const

/** A scope as this service has them. */
const SCOPE = /^[\x21\x23-\x39\x3b-\x5b\x5d-\x7e]{1,64}:rw?$/

/**
 * Makes the guards of an API that lives elsewhere: for `createNodeGuard`, `createFastifyGuard` and `createFetchGuard`, in the place
 * of the server. A token costs one request to the service, or none while an answer is kept; callers who come while one is under
 * way share the next. Where the service does not answer, the guard's answer is 503.
 * @throws ClientError `ERR_CONFIGURATION` for a wrong option, a client without a secret, or a service without introspection;
 *   `ERR_RESPONSE` for a service whose `scopes_supported` is no list of texts
 * @example
 * ```ts
 * const client = await discover({ issuer: 'https://git.example', clientId, clientSecret })
 * const guard = createNodeGuard(resourceServer({ client }))
 * app.get('/packages/:id', guard({ scope: 'registry-package:r', resource: packageOf }, showPackage))
 * ```
 */
export function resourceServer(options: ResourceServerOptions): Guarding {
  const given = readOptions<ResourceServerOptions>('resourceServer', options, OPTIONS, ['client'])
  const { client, cacheSize = CACHE_SIZE } = given
  checkClient('resourceServer', client)
  // biome-ignore lint/suspicious/noConsole: an error that nobody asked to be told of must not vanish
  const { onError = (error: unknown) => console.error(error) } = given
  const { as, client: self, authentication, hasSecret, http, now, timeout } = connectionOf(client)
  if (!hasSecret) throw mistake('resourceServer: the option client must be one with a clientSecret; got one without')
  if (as.introspection_endpoint === undefined)
    throw mistake(`resourceServer: the option client must be of a service with introspection; got ${client.issuer}`)
  const supported = supportedScopes(as.scopes_supported)
  const kept = new Map<string, Known>()
  const asking = new Map<string, Asking>()
  const inTurn = limited({ ...QUESTIONS, patience: timeout })

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
    const running = asking.get(key)
    if (running === undefined) {
      const answer = inTurn(() => introspect(token, key)).finally(() => asking.delete(key))
      asking.set(key, { answer })
      return answer
    }
    const next = (): ReturnType<typeof access> => access(token)
    running.next ??= running.answer.then(next, next)
    return running.next
  }

  const works = ({ access, until }: Known): boolean => performance.now() < until && now() < access.expiresAt

  function tell(error: unknown): void {
    try {
      const later: unknown = onError(error)
      // There is nobody left to tell.
      if (later instanceof Promise) later.catch(() => {})
    } catch {}
  }

  async function check(request: RequestLike, needed: readonly Scope[], resourceOf?: ResourceOf) {
    const credential = bearerToken(headersOf(request), memberOf(request, 'url') ?? '')
    // Own alone: were the prototype polluted, any token would pass for an answer.
    if (isRefusal(credential)) return credential
    try {
      const found = await access(printCredential(credential))
      if (found === undefined) return invalidToken('credential_unknown')
      if (!coversScopes(found.scopes, needed)) return insufficientScope()
      // A copy, so that what a host does with it reaches nobody else.
      const own = structuredClone(found)
      if (resourceOf === undefined) return own
      const resource = await resourceOf(own)
      if (resource === undefined || resource === null) return insufficientResources()
      if (!isProtectedResource(resource)) {
        // Nobody waits for them: were one to fail, it would end the process.
        for (const forgotten of promisesIn(resource)) Promise.resolve(forgotten).catch(() => {})
        throw mistake(answerFault('resource()', RESOURCE_WORDS, resource))
      }
      return opensResource(own.resources, resource) ? { ...own, resource } : insufficientResources()
    } catch (error) {
      tell(error)
      return isClientError(error) && error.code === 'ERR_UNREACHABLE' ? unavailable() : hostFailed()
    }
  }

  return {
    guard: (needs) => {
      const scopes = neededScopes(needs, supported)
      const guard = async (request: RequestLike, ...rest: [resourceOf?: ResourceOf]): Promise<Authentication> => {
        const [resourceOf] = rest
        // A slip of the pen, which must not let everybody in.
        if (rest.length > 0) checkArgument('guard', 'resourceOf', FUNCTION, resourceOf)
        const found: Access | OAuthError | NoToken = await check(request, scopes, resourceOf)
        return found.type === 'authenticated'
          ? found
          : { type: 'refused', error: found, response: challenge(found, scopes) }
      }
      return guard as Guard // the resource that comes with an access is the one that resourceOf returned
    },
  }
}

const OPTIONS: TakesOf<ResourceServerOptions> = {
  client: CLIENT,
  cacheSize: {
    words: 'a whole number from 0 to 10,000,000',
    // A Map of V8 holds 2 ** 24 entries, and throws for one more.
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 1e7,
  },
  onError: FUNCTION,
}

/** The scopes that a service says it has; it may say anything. */
function supportedScopes(given: unknown): readonly string[] | undefined {
  if (given === undefined || isTexts(given)) return given
  throw new ClientError('ERR_RESPONSE', 'the service gives scopes_supported that is no list of scopes')
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

/** Strict with what a host wrote, since a guard that passes over a slip of the pen would let everybody in. */
function neededScopes(needs: unknown, supported: readonly string[] | undefined): readonly Scope[] {
  if (needs === undefined) return []
  const { scope } = readOptions<{ scope?: unknown }>('guard', needs as object, { scope: ANYTHING }, [], true)
  // One that is undefined was meant to be some: left out, it would let everybody in.
  if (scope === undefined && !Object.hasOwn(needs as object, 'scope')) return []
  const scopes = typeof scope === 'string' ? splitScopes(scope) : []
  const unknown = scopes.find((each) => !SCOPE.test(each) || supported?.includes(each) === false)
  if (scopes.length > 0 && unknown === undefined) return scopes as Scope[] // each has the form of one
  const meant = nearest(unknown ?? '', supported ?? [])
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
  const words = 'scopes of the service in a string, separated by a space'
  throw mistake(`guard: the option scope must be ${words}; got ${came(scope)}${hint}`)
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
    scopes: splitScopes(scope) as readonly Scope[], // the same
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

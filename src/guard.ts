/**
 * The guard of an API: whether a request's access token works and permits what the route needs.
 * @module
 * @see RFC 6750; specification, sections 2.1 and 5.2
 */
import { isPublished, limitResources } from './core/application.js'
import { constantTimeEqual, encodeBase64url } from './core/base64url.js'
import type { Credential } from './core/credential.js'
import { digestOf } from './core/digests.js'
import type { OAuthError } from './core/errors.js'
import { oauthError } from './core/errors.js'
import type { Resources } from './core/grant.js'
import { inspect } from './core/grant.js'
import { macKeyOf } from './core/mac.js'
import type { ProtectedResource } from './core/resource.js'
import { isProtectedResource, opensResource, RESOURCE_SHAPE } from './core/resource.js'
import type { Scope } from './core/scopes.js'
import { coversScopes, limitScopes, parseScopes } from './core/scopes.js'
import type { ClientId, GrantId, Seconds, Subject } from './core/values.js'
import type { Refused, Settings } from './options.js'
import { mistake } from './options.js'
import type { NoToken } from './protocol/bearer.js'
import {
  bearerToken,
  challenge,
  insufficientResources,
  insufficientScope,
  invalidToken,
  tokenInQuery,
} from './protocol/bearer.js'
import type { PresentedMac } from './protocol/mac.js'
import { macOf, presentedMac, replayedMac, staleMac, targetOf } from './protocol/mac.js'
import type { HttpHeaders, HttpResponse, RequestLike } from './protocol/message.js'
import { headersOf } from './protocol/message.js'
import { isError } from './protocol/parameters.js'
import type { JsonValue } from './storage/record-store.js'
import type { Soon, Transactions } from './transactions.js'
import { after, keys, recordAs } from './transactions.js'

/** Who is calling, for whom, and what is permitted. */
export interface Access {
  readonly type: 'authenticated'
  readonly subject: Subject
  readonly clientId: ClientId
  readonly grantId: GrantId
  readonly scopes: readonly Scope[]
  readonly resources: Resources
  /** Seconds since the epoch, exclusive. */
  readonly expiresAt: Seconds
}

/** What the guard found: who is calling for whom, or the response to send. */
export type Authentication =
  | Access
  | { readonly type: 'refused'; readonly error: OAuthError | NoToken; readonly response: HttpResponse }

/**
 * The resource that a request is about, as the host knows it; undefined or null where there is none. What it throws goes to
 * `onError`, and the answer is a 500.
 */
export type ResourceOf = (
  access: Access,
) => ProtectedResource | null | undefined | Promise<ProtectedResource | null | undefined>

/**
 * Checks one request.
 * @param request - Node's `IncomingMessage`, a fetch `Request`, or anything with their headers
 * @param resourceOf - which resource the request is about; left out where it is about none, or where the host enforces
 * `access.resources` itself
 * @returns at once where the store answers at once, else a promise
 * @throws GrantwellError `ERR_CONFIGURATION` for a resource that is undefined
 */
export type Guard = (request: RequestLike, resourceOf?: ResourceOf) => Authentication | Promise<Authentication>

/** What makes guards: the server itself, or an API elsewhere that asks it (`resourceServer` of `grantwell/client`). */
export interface Guarding {
  /**
   * Makes the guard of a route. Called at start, so that a slip of the pen is found there.
   * @param needs.scope - scopes that the route needs, such as `repo-code:rw`, separated by a space; none by default
   * @throws GrantwellError `ERR_CONFIGURATION` for a scope that the catalogue does not have, or any other name
   */
  readonly guard: (needs?: { readonly scope?: string }) => Guard
}

/** The record of a request that was signed: its nonce is not good again. */
interface NonceRecord {
  readonly v: 1
  /** Random, so that no two servers take the write of one for their own. */
  readonly by: string
}

/**
 * Seconds that a nonce is kept for longer than it must be: servers whose clocks differ do not take it away from one another,
 * and a store that times out has done so before a write that did not happen would pass for one that expired.
 */
const NONCE_MARGIN: Seconds = 600

const NO_SCOPES: readonly Scope[] = []

/** Binds the guard to a server. */
export function guardOf<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
  refused: Refused,
): Guarding['guard'] {
  const { clock, digests, rules, macTokens, macWindow } = settings
  const secure = settings.issuer.startsWith('https:')

  /** Strict with what a host wrote, since a guard that passes over a slip of the pen would let everybody in. */
  function neededScopes(needs: { readonly scope?: unknown } | null | undefined): readonly Scope[] {
    if (needs === undefined) return NO_SCOPES
    const names = typeof needs === 'object' && needs !== null ? Object.keys(needs) : undefined
    if (names?.length === 0) return NO_SCOPES
    const scope = names?.length === 1 && names[0] === 'scope' ? needs?.scope : undefined
    const scopes = typeof scope === 'string' ? parseScopes(settings.scopes, scope) : undefined
    if (scopes !== undefined) return scopes
    const given = typeof scope === 'string' ? `, not ${JSON.stringify(scope)}` : ''
    throw mistake(`a guard takes { scope }, scopes of the catalogue in a string${given}`)
  }

  function accessByBearer(credential: Credential): Soon<Access | Refusal> {
    const read = transactions.read([keys.application(credential.clientKey), keys.grant(credential.grantId)])
    return after(read, (records) => {
      if (isError(records)) return refusal(records)
      return accessBy(settings, credential, records[0]?.value, records[1]?.value, clock(), undefined)
    })
  }

  /** Verifies the signature, and that this very request was not made before (draft-ietf-oauth-v2-http-mac-01, section 4). */
  async function accessByMac(presented: PresentedMac, request: RequestLike): Promise<Access | Refusal> {
    const { credential, id, ts, nonce, ext } = presented
    const key = keys.nonce(digestOf(digests, `${id}\n${ts}\n${nonce}`))
    const asked = [keys.application(credential.clientKey), keys.grant(credential.grantId), key]
    const found = await transactions.transact<Access | Refusal>(asked, ([application, grant, used], now, entropy) => {
      const access = accessBy(settings, credential, application, grant, now, 'mac')
      if (access.type === 'refusal') return { reply: access }
      const { clientId } = access
      const refuse = (error: OAuthError) => ({ reply: refusal(error, clientId) })
      const input = { ts, nonce, ext, ...targetOf(request, secure) }
      const expected = macOf(digests, macKeyOf(credential.secret, rules), input)
      if (!constantTimeEqual(presented.mac, expected)) return refuse(invalidToken('mac_mismatch'))
      if (Math.abs(now - Number(ts)) > macWindow) return refuse(staleMac())
      if (used !== undefined) return refuse(replayedMac())
      const value: NonceRecord = { v: 1, by: encodeBase64url(entropy.subarray(0, 16)) }
      // Twice the window, so that a clock that steps back by as much does not open it again; and the margin.
      return { reply: access, write: { key, value, expiresAt: Number(ts) + 2 * macWindow + NONCE_MARGIN } }
    })
    return found.type === 'error' ? refusal(found) : found
  }

  return (needs) => {
    const scopes = neededScopes(needs)
    return (request, ...rest) => {
      const [resourceOf] = rest
      // A slip of the pen, which must not let everybody in.
      if (rest.length > 0 && resourceOf === undefined)
        return Promise.reject(mistake('a guard takes the resource as a function'))
      const headers = headersOf(request)
      const presented = macTokens ? presentedMac(headers) : undefined
      const scheme = presented === undefined ? 'Bearer' : 'MAC'
      return after(accessOf(request, headers, presented), (access) =>
        authentication(access, scheme, scopes, resourceOf),
      )
    }
  }

  /** Whether who is calling may do what the route needs. */
  function authentication(
    access: Access | Refusal,
    scheme: 'Bearer' | 'MAC',
    needed: readonly Scope[],
    resourceOf: ResourceOf | undefined,
  ): Soon<Authentication> {
    if (access.type === 'refusal') return refuse(access, scheme, needed)
    if (!coversScopes(access.scopes, needed))
      return refuse(refusal(insufficientScope(), access.clientId), scheme, needed)
    if (resourceOf === undefined) return access
    return openedBy(access, resourceOf).then((error) =>
      error === undefined ? access : refuse(refusal(error, access.clientId), scheme, needed),
    )
  }

  /** Why a resource is not open to who is calling; undefined where it is. */
  async function openedBy(access: Access, resourceOf: ResourceOf): Promise<OAuthError | undefined> {
    try {
      const resource = (await resourceOf(access)) ?? undefined
      if (resource !== undefined && !isProtectedResource(resource)) throw mistake(RESOURCE_SHAPE)
      return opensResource(access.resources, resource) ? undefined : insufficientResources()
    } catch (error) {
      settings.onError(error)
      return oauthError('server_error', 'host_failed', 'The service failed.')
    }
  }

  function accessOf(
    request: RequestLike,
    headers: HttpHeaders,
    presented: PresentedMac | OAuthError | undefined,
  ): Soon<Access | Refusal> {
    const url = request.url ?? ''
    const own = presented === undefined ? bearerToken(headers, url) : (tokenInQuery(url) ?? presented)
    if (isCredential(own)) return accessByBearer(own)
    return own.type === 'mac' ? accessByMac(own, request) : refusal(own)
  }

  function refuse({ error, clientId }: Refusal, scheme: 'Bearer' | 'MAC', scopes: readonly Scope[]): Authentication {
    if (error.type === 'error') refused('api', error.reason, error.code, clientId)
    const every = macTokens && error.type === 'no_token' ? (['Bearer', 'MAC'] as const) : ([scheme] as const)
    return { type: 'refused', error, response: challenge(error, scopes, every) }
  }
}

/** Told by a property of its own, whatever has been done to the prototype of all objects. */
function isCredential(own: Credential | PresentedMac | OAuthError | NoToken): own is Credential {
  return Object.hasOwn(own, 'secret')
}

/**
 * Who is calling by a credential, or why not: what the guard and introspection go by.
 * @param tokenType - how it was presented; undefined for a bearer token
 */
export function accessBy(
  { digests, macTokens }: Pick<Settings<never>, 'digests' | 'macTokens'>,
  credential: Credential,
  storedApplication: JsonValue | undefined,
  storedGrant: JsonValue | undefined,
  now: Seconds,
  tokenType: 'mac' | undefined,
): Access | Refusal {
  const application = recordAs.application(storedApplication)
  const found = inspect(recordAs.grant(storedGrant), credential, now, digests)
  if (found.type === 'inactive') return refusal(invalidToken(found.reason), application?.id)
  const { grantId, clientId, subject, expiresAt } = found
  // The key in the credential is only a claim until the grant is of that very application.
  if (!isPublished(application) || application.clientId !== clientId) return refusal(invalidToken('credential_unknown'))
  if (application.state !== 'approved') return refusal(invalidToken('client_suspended'), clientId)
  // A token whose uses are to be signed is worth nothing to whoever only saw it; nor one from before they were to be.
  if (found.tokenType !== tokenType || (macTokens && tokenType === undefined && application.tokenType === 'mac'))
    return refusal(invalidToken('token_type_mismatch'), clientId)
  const scopes = limitScopes(found.scopes, application.scopes)
  if (scopes.length === 0) return refusal(invalidToken('scope_not_registered'), clientId)
  // Copies: what a host does with them must not reach a record that a store in memory may still hold.
  const open = limitResources(found.resources, application.resourceScope)
  const resources = open.kind === 'specified' ? { kind: open.kind, ids: [...open.ids] } : { kind: open.kind }
  return { type: 'authenticated', subject, clientId, grantId, scopes: [...scopes], resources, expiresAt }
}

/** Why somebody is not let in, and who it is where that is known. */
export interface Refusal {
  readonly type: 'refusal'
  readonly error: OAuthError | NoToken
  readonly clientId?: ClientId | undefined
}

function refusal(error: OAuthError | NoToken, clientId?: ClientId): Refusal {
  return { type: 'refusal', error, clientId }
}

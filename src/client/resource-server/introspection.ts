/**
 * Token introspection at the service: one request, and its answer as an {@link AuthInfo}.
 * @module
 * @see RFC 7662, section 2
 */
import * as oauth from 'oauth4webapi'
import type { ResourceIdentifier } from '../../core/audiences/audience.js'
import type { Resources } from '../../core/resource.js'
import type { Scope } from '../../core/scopes.js'
import { splitScopes } from '../../core/scopes.js'
import type { ClientId, GrantId } from '../../core/values.js'
import type { AuthInfo } from '../../guard/auth-info.js'
import type { Connection } from '../client.js'
import { ClientError } from '../errors.js'
import { ask } from '../http/http.js'
import { ownMembers } from '../http/own-members.js'

/** The answer to an introspection request. */
export interface Introspection {
  /** Undefined if the token does not work. */
  readonly access: AuthInfo | undefined
  /** Seconds that the answer may be kept. */
  readonly maxAge: number
}

/**
 * Asks the service about a token.
 * @param issuer - the service whose tokens are accepted
 * @param audience - the protected resource whose tokens are accepted; undefined accepts those that are limited to none
 * @throws ClientError `ERR_UNREACHABLE`, `ERR_RESPONSE`
 */
export async function introspect(
  { as, client, authentication, http }: Connection,
  issuer: string,
  audience: string | undefined,
  token: string,
): Promise<Introspection> {
  const [answer, maxAge] = await ask('the service did not introspect the token', undefined, async () => {
    const response = await oauth.introspectionRequest(as, client, authentication, token, http())
    return [await oauth.processIntrospectionResponse(as, client, response), maxAgeOf(response)] as const
  })
  return { access: accessOf(answer, issuer, audience), maxAge }
}

/** Returns the seconds that an answer may be kept (RFC 9111, section 5.2.2). */
function maxAgeOf({ headers }: Response): number {
  const control = (headers.get('cache-control') ?? '').toLowerCase()
  if (/(?:^|[\s,])no-(?:store|cache)(?:$|[\s,=])/.test(control)) return 0
  return Number(/(?:^|[\s,])max-age=(\d{1,9})/.exec(control)?.[1] ?? 0)
}

/**
 * Converts an answer of the service.
 * @returns undefined for a token that does not work
 * @throws ClientError `ERR_RESPONSE` if a member is missing or wrong, or if the token is from another service
 */
function accessOf(
  answer: oauth.IntrospectionResponse,
  issuer: string,
  audience: string | undefined,
): AuthInfo | undefined {
  const own: oauth.IntrospectionResponse = ownMembers(answer)
  const { active, sub, client_id: clientId, grant_id: grantId, scope, exp, iss, token_type: type } = own
  if (active !== true) return undefined
  // The service tells of no such token: so this API is registered for another resource than it takes itself for.
  if (!isMeantFor(audience, own.aud))
    throw new ClientError(
      'ERR_RESPONSE',
      `the introspection response is about a token for another resource than ${audience ?? 'none'}: give resourceServer the audience that the API is registered with`,
    )
  const isBearer = typeof type !== 'string' || type.toLowerCase() === 'bearer'
  const resources = resourcesOf(own['resources'])
  if (
    typeof sub !== 'string' ||
    typeof clientId !== 'string' ||
    typeof grantId !== 'string' ||
    typeof scope !== 'string' ||
    typeof exp !== 'number' ||
    resources === undefined ||
    !isBearer ||
    (iss !== undefined && iss !== issuer)
  )
    throw new ClientError('ERR_RESPONSE', 'the introspection response does not have the members of a grantwell service')
  return {
    type: 'authenticated',
    subject: sub,
    clientId: clientId as ClientId, // the service has checked it
    grantId: grantId as GrantId, // the same
    scopes: splitScopes(scope) as readonly Scope[], // the same
    resources,
    expiresAt: exp,
    ...(audience !== undefined && { audience: audience as ResourceIdentifier }), // the service has named it
  }
}

/** True if a token is for an audience by its `aud`: one name or a list (RFC 7662, section 2.2). */
function isMeantFor(audience: string | undefined, aud: unknown): boolean {
  if (audience === undefined) return aud === undefined
  return aud === audience || (Array.isArray(aud) && aud.includes(audience))
}

function resourcesOf(value: unknown): Resources | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { kind, ids: listed }: { readonly kind?: unknown; readonly ids?: unknown } = ownMembers(value)
  if (kind === 'all' || kind === 'public') return { kind }
  if (kind !== 'specified' || !Array.isArray(listed)) return undefined
  const ids: readonly unknown[] = listed
  return { kind: 'specified', ids: ids.filter((id) => typeof id === 'string') }
}

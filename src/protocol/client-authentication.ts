/**
 * Client authentication: what a client presents, and whether it is enough.
 * @module
 * @see Specification, section 5.1; RFC 6749, section 2.3; RFC 7617
 */
import type { Application, PublishedApplication } from '../core/application/application.js'
import { hasSecret, isPublished } from '../core/application/application.js'
import type { Credential } from '../core/credentials/credential.js'
import type { Digests } from '../core/credentials/digests.js'
import { clientKeyOf, digestOf } from '../core/credentials/digests.js'
import type { OAuthError, RefusalReason } from '../core/errors.js'
import { malformed, oauthError } from '../core/errors.js'
import type { ClientId, Seconds } from '../core/values.js'
import { parseClientId } from '../core/values.js'
import type { HttpHeaders } from './message.js'
import { headerOf } from './message.js'
import type { Values } from './parameters.js'
import { decodeComponent } from './parameters.js'

/** The names of the methods, as in the metadata (RFC 8414; RFC 7591, section 2). */
export type ClientAuthenticationMethod = 'client_secret_basic' | 'client_secret_post' | 'none'

/** A client as a request presents it. */
export interface PresentedClient {
  readonly clientId: ClientId
  /** The identifier as HTTP Basic has it, where that is another one than what it decodes to; see {@link meantClient}. */
  readonly clientIdAsItIs?: ClientId
  readonly method: ClientAuthenticationMethod
  /** The secret in every reading that it may have; none for the method `none`. */
  readonly clientSecrets: readonly string[]
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i

/**
 * Reads the client that a request presents.
 * @param body - `client_id` and `client_secret` of the body
 * @param allowPost - whether a secret in the body is admitted at this endpoint
 */
export function presentedClient(
  headers: HttpHeaders,
  body: Values<'client_id' | 'client_secret'>,
  allowPost: boolean,
): PresentedClient | OAuthError {
  const authorization = headerOf(headers, 'authorization')
  if (typeof authorization === 'object') return malformed('The Authorization header is repeated.')
  if (authorization !== undefined) {
    if (body.client_secret !== undefined) return malformed('The client must authenticate by one method alone.')
    const presented = parseBasic(authorization)
    if (presented === undefined) return failed('client_authentication_method')
    // A body may repeat who the client is, which is no second authentication (RFC 6749, section 4.1.3), and not contradict it.
    if (body.client_id === undefined) return presented
    const { clientId, clientIdAsItIs, ...rest } = presented
    const meant = [clientId, clientIdAsItIs].find((each) => each === body.client_id)
    return meant === undefined
      ? malformed('The client_id is not the one that authenticates.')
      : { clientId: meant, ...rest }
  }
  if (body.client_id === undefined) return failed('client_not_authenticated')
  const clientId = parseClientId(body.client_id)
  if (clientId === undefined) return failed('client_unknown')
  if (body.client_secret === undefined) return { clientId, method: 'none', clientSecrets: [] }
  return allowPost
    ? { clientId, method: 'client_secret_post', clientSecrets: [body.client_secret] }
    : failed('client_authentication_method', wrongMethod('client_secret_post', 'client_secret_basic'))
}

/**
 * Reads HTTP Basic credentials. Each part is form-urlencoded by RFC 6749 (section 2.3.1) and stands as it is by the
 * specification (section 4.2), so one that would differ is taken in both readings.
 */
function parseBasic(header: string): PresentedClient | undefined {
  const encoded = BASIC.exec(header)?.[1]
  const decoded = encoded === undefined ? undefined : decodeBase64(encoded)
  const colon = decoded?.indexOf(':') ?? -1
  if (decoded === undefined || colon < 0) return undefined
  const [first, second] = readingsOf(decoded.slice(0, colon))
  const clientId = parseClientId(first)
  const asItIs = second === undefined ? undefined : parseClientId(second)
  const secret = decoded.slice(colon + 1)
  const meant = clientId ?? asItIs
  if (meant === undefined) return undefined
  // An empty secret may be left out, also by a client that uses Basic to say who it is (section 2.3.1).
  const presented: PresentedClient =
    secret === ''
      ? { clientId: meant, method: 'none', clientSecrets: [] }
      : { clientId: meant, method: 'client_secret_basic', clientSecrets: readingsOf(secret) }
  return clientId === undefined || asItIs === undefined ? presented : { ...presented, clientIdAsItIs: asItIs }
}

/** Returns the readings of a part of the credentials, that of RFC 6749 first. */
function readingsOf(asItIs: string): readonly [string] | readonly [string, string] {
  const decoded = decodeComponent(asItIs)
  return decoded === undefined || decoded === asItIs ? [asItIs] : [decoded, asItIs]
}

/**
 * Finds out which client is meant where its identifier can be read in two ways: the one that the credential it presents belongs
 * to. Where the credential does not tell, both readings stay, for {@link registeredClient}.
 */
export function meantClient(
  presented: PresentedClient,
  credential: Credential | undefined,
  digests: Digests,
): PresentedClient {
  if (presented.clientIdAsItIs === undefined || credential === undefined) return presented
  const meant = clientIdsOf(presented).find((id) => clientKeyOf(digests, id) === credential.clientKey)
  const { method, clientSecrets } = presented
  return meant === undefined ? presented : { clientId: meant, method, clientSecrets }
}

/**
 * Finds out which client is meant where nothing that it presents belongs to it, by what is registered: the one of RFC 6749 where
 * that exists, else the one that its identifier is as it is.
 * @param registered - the application of each of {@link clientIdsOf}
 */
export function registeredClient(
  presented: PresentedClient,
  registered: readonly (Application | undefined)[],
): PresentedClient {
  const { clientIdAsItIs } = presented
  const [first, second] = registered
  const meant = clientIdAsItIs !== undefined && first?.id !== presented.clientId && second?.id === clientIdAsItIs
  return meant ? { ...presented, clientId: clientIdAsItIs } : presented
}

/** The identifiers that a client may mean, that of RFC 6749 first. */
export function clientIdsOf({ clientId, clientIdAsItIs }: PresentedClient): readonly [ClientId, ...ClientId[]] {
  return clientIdAsItIs === undefined ? [clientId] : [clientId, clientIdAsItIs]
}

/** One character a byte; undefined where it is no base64. */
function decodeBase64(text: string): string | undefined {
  try {
    return atob(text)
  } catch {
    return undefined
  }
}

/**
 * Authenticates the client against its registration. A suspended application is told so only once it has
 * authenticated; everything else fails alike, in the same time.
 * @returns the application, or `invalid_client`
 */
export function authenticateClient(
  application: Application | undefined,
  presented: PresentedClient,
  digests: Digests,
  now: Seconds,
): PublishedApplication | OAuthError {
  // Every reading is tried whatever the one before it gave, and the time does not tell which it was.
  let authentic = false
  for (const secret of presented.clientSecrets) {
    authentic = hasSecret(application, digestOf(digests, secret), now) || authentic
  }
  if (application === undefined || application.id !== presented.clientId) return failed('client_unknown')
  if (!isPublished(application)) return failed('client_not_approved')
  if (application.type === 'public') {
    if (presented.method !== 'none')
      return failed('client_authentication_method', wrongMethod(presented.method, 'none, as it is public'))
  } else if (presented.method === 'none') {
    return failed('client_not_authenticated', wrongMethod('none', 'a secret, as it is confidential'))
  } else if (!authentic) {
    return failed('client_secret_wrong')
  }
  return application.state === 'approved' ? application : failed('client_suspended')
}

/**
 * Describes a method that a client does not take. It gives the type of the client away, which anybody can find out at the authorization
 * endpoint: public clients need PKCE there.
 */
function wrongMethod(used: ClientAuthenticationMethod, takes: string): string {
  return `The client authenticated by ${used}; it takes ${takes}.`
}

function failed(reason: RefusalReason, description = 'Client authentication failed.'): OAuthError {
  return oauthError('invalid_client', reason, description)
}

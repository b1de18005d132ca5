/**
 * The forms of our pages, consent above all: how one is bound to the user, the client, the whole request and the browser
 * that shows it, without anything being stored.
 *
 * The browser keeps a random key in a cookie; the form carries a MAC under that key over everything that the user was
 * shown. The identifier of the grant follows from the MAC, so one consent form can make one grant.
 * @module
 * @see RFC 6749, section 10.12; RFC 9700, section 4.7
 */

import type { ResourceScope } from '../../core/application/registration.js'
import { RESOURCE_CHOICES } from '../../core/application/registration.js'
import type { Resources } from '../../core/resource.js'
import { printScopes } from '../../core/scopes.js'
import { constantTimeEqual, decodeBase64url, encodeBase64url } from '../../core/tokens/base64url.js'
import { GRANT_ID_BYTES, grantIdOf } from '../../core/tokens/credential.js'
import type { Digests } from '../../core/tokens/digests.js'
import type { GrantId, Seconds, Subject } from '../../core/values.js'
import type { AuthorizationRequest } from '../authorization.js'
import type { HttpHeaders } from '../message.js'
import { headerOf } from '../message.js'

/** What a form is bound to. */
export interface FormBinding {
  readonly issuer: string
  readonly subject: Subject
  /** The key of the browser, 32 bytes. */
  readonly browserKey: Uint8Array
  /** What the form is for, and everything that the user was shown. */
  readonly shown: readonly (string | null)[]
}

/** A form that came back as it was made. */
export interface VerifiedForm {
  /** The grant that it makes, if it makes one. */
  readonly grantId: GrantId
  /** 32 bytes that the form alone holds. */
  readonly secret: Uint8Array
  /** Exclusive. */
  readonly expiresAt: Seconds
}

/** Names of the forms' fields. */
export const FORM_FIELDS = {
  request: 'request',
  consent: 'consent',
  decision: 'decision',
  resourceScope: 'resource_scope',
  resource: 'resource',
  userCode: 'user_code',
  device: 'device',
  clientId: 'client_id',
} as const

/** How many bytes of entropy a form and a browser key take. */
export const FORM_NONCE_BYTES = 16
export const BROWSER_KEY_BYTES = 32

/** How many resources one grant can name. */
export const SPECIFIED_RESOURCES_MAX = 256

/** Makes the field that binds a form: `<expiry>.<nonce>.<mac>`. */
export function formToken(binding: FormBinding, expiresAt: Seconds, nonce: Uint8Array, digests: Digests): string {
  const head = `${expiresAt}.${encodeBase64url(nonce)}`
  return `${head}.${encodeBase64url(mac(binding, head, digests))}`
}

/**
 * Checks the field that binds a form, whatever its age.
 * @returns undefined for a field that is not the one that was made for this binding
 */
export function verifyFormToken(binding: FormBinding, token: string, digests: Digests): VerifiedForm | undefined {
  const end = token.lastIndexOf('.')
  const head = token.slice(0, Math.max(0, end))
  // The key is the browser's own, so its user can sign any head: only what we write is read.
  if (!FORM_HEAD.test(head)) return undefined
  const secret = mac(binding, head, digests)
  const expected = encodeBase64url(secret)
  if (!constantTimeEqual(expected, token.slice(end + 1))) return undefined
  const id = decodeBase64url(digests.sha256(`grant of ${expected}`)) as Uint8Array // a digest is base64url
  return { grantId: grantIdOf(id.subarray(0, GRANT_ID_BYTES)), secret, expiresAt: Number.parseInt(head, 10) }
}

/** A time of at most eleven digits, and 16 bytes. */
const FORM_HEAD = /^\d{1,11}\.[\w-]{22}$/

/** Over a JSON list, so that no two bindings are written alike. */
function mac({ issuer, subject, browserKey, shown }: FormBinding, head: string, digests: Digests): Uint8Array {
  const bound = ['grantwell form 1', head, issuer, subject, ...shown]
  return digests.hmacSha256(browserKey, new TextEncoder().encode(JSON.stringify(bound)))
}

/** What a consent page shows of an authorization request. */
export function shownOf({
  application,
  redirectUri,
  state,
  scopes,
  codeChallenge,
}: AuthorizationRequest): FormBinding['shown'] {
  const { clientId, name, resourceScope } = application
  const asked = [redirectUri, state ?? null, printScopes(scopes), codeChallenge ?? null]
  return ['consent', clientId, name, resourceScope, ...asked]
}

/** The request as a query, to be read again when the form comes back. */
export function printAuthorizationRequest({
  application,
  redirectUri,
  state,
  scopes,
  codeChallenge,
}: AuthorizationRequest): string {
  const parameters: (readonly [string, string])[] = [
    ['response_type', 'code'],
    ['client_id', application.clientId],
    ['redirect_uri', redirectUri],
  ]
  // What is asked for when nothing is said need not be said, and can be longer than a parameter may be.
  const scope = printScopes(scopes)
  if (scope !== printScopes(application.scopes)) parameters.push(['scope', scope])
  if (state !== undefined) parameters.push(['state', state])
  if (codeChallenge !== undefined) parameters.push(['code_challenge', codeChallenge], ['code_challenge_method', 'S256'])
  return parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
}

/** Name of the cookie that holds the browser's key; bound to the host by its prefix wherever that is possible. */
export function browserKeyCookie(issuer: string): string {
  return issuer.startsWith('https:') ? '__Host-grantwell' : 'grantwell'
}

/** The browser's key, if its cookie is there and whole. */
export function browserKeyOf(headers: HttpHeaders, issuer: string): Uint8Array | undefined {
  const cookie = headerOf(headers, 'cookie')
  if (typeof cookie !== 'string') return undefined
  const start = `${browserKeyCookie(issuer)}=`
  const [found, ...more] = cookie.split(/; */).filter((part) => part.startsWith(start))
  const key = found === undefined || more.length > 0 ? undefined : decodeBase64url(found.slice(start.length))
  return key?.length === BROWSER_KEY_BYTES ? key : undefined
}

/** The header that gives a browser its key, for as long as it is open. */
export function setBrowserKey(key: Uint8Array, issuer: string): string {
  const secure = issuer.startsWith('https:') ? '; Secure' : ''
  return `${browserKeyCookie(issuer)}=${encodeBase64url(key)}; Path=/; HttpOnly; SameSite=Lax${secure}`
}

/**
 * Whether a form can have been sent by a page of this server: a browser says so. Only a second line, behind the token;
 * with `Referrer-Policy: no-referrer` a browser's `Origin` is `null`.
 */
export function fromOwnPage(headers: HttpHeaders, issuer: string): boolean {
  const site = headerOf(headers, 'sec-fetch-site')
  const origin = headerOf(headers, 'origin')
  return (
    (site === undefined || site === 'same-origin') &&
    (origin === undefined || origin === 'null' || origin === new URL(issuer).origin)
  )
}

/**
 * The resources that the user chose.
 * @param registered - the widest choice that there was
 * @param ids - those of the fields `resource`
 * @param offered - identifiers that the page offered
 * @returns undefined where the choice was not among those offered, or specifies nothing
 */
export function chosenResources(
  choice: string | undefined,
  ids: readonly string[],
  registered: ResourceScope,
  offered: ReadonlySet<string>,
): Resources | undefined {
  const kind = RESOURCE_CHOICES[registered].find((each) => each === choice)
  if (kind === undefined) return undefined
  if (kind !== 'specified') return { kind }
  const chosen = [...new Set(ids)]
  const sound = chosen.length > 0 && chosen.length <= SPECIFIED_RESOURCES_MAX && chosen.every((id) => offered.has(id))
  return sound ? { kind, ids: chosen } : undefined
}

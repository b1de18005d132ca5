/**
 * The forms of the pages, above all the consent form. Each is bound to the user, the client, the whole request and the browser
 * that shows it, and nothing is stored.
 *
 * The browser keeps a random key in a cookie. The form has a MAC under that key, over everything that the user was shown. The
 * grant's identifier is derived from the MAC, so one consent form can make one grant.
 * @module
 * @see RFC 6749, section 10.12; RFC 9700, section 4.7
 */

import type { ResourceScope } from '../../core/application/registration.js'
import { RESOURCE_CHOICES } from '../../core/application/registration.js'
import { constantTimeEqual, decodeBase64url, encodeBase64url } from '../../core/credentials/base64url.js'
import { GRANT_ID_BYTES, grantIdOf } from '../../core/credentials/credential.js'
import type { Digests } from '../../core/credentials/digests.js'
import type { Resources } from '../../core/resource.js'
import { printScopes } from '../../core/scopes.js'
import type { GrantId, Seconds, Subject } from '../../core/values.js'
import type { AuthorizationRequest } from '../authorization.js'
import type { HttpHeaders } from '../message.js'
import { headerOf } from '../message.js'

/** The values that a form is bound to. */
export interface FormBinding {
  readonly issuer: string
  readonly subject: Subject
  /** The key of the browser, 32 bytes. */
  readonly browserKey: Uint8Array
  /** The purpose of the form, and everything that the user was shown. */
  readonly shown: readonly (string | null)[]
}

/** A form that came back unchanged. */
export interface VerifiedForm {
  /** The identifier of the grant, if the form makes one. */
  readonly grantId: GrantId
  /** 32 bytes that only the form holds. */
  readonly secret: Uint8Array
  /** The time from which the form is too old. */
  readonly expiresAt: Seconds
}

/** The names of the forms' fields. */
export const FORM_FIELDS = {
  request: 'request',
  consent: 'consent',
  decision: 'decision',
  resourceScope: 'resource_scope',
  resource: 'resource',
  search: 'search',
  userCode: 'user_code',
  device: 'device',
  clientId: 'client_id',
} as const

/** Bytes of entropy in a form. */
export const FORM_NONCE_BYTES = 16

/** Bytes of entropy in a browser's key. */
export const BROWSER_KEY_BYTES = 32

/** Resources that one grant can name. */
export const SPECIFIED_RESOURCES_MAX = 256

/** Makes the field that binds a form: `<expiry>.<nonce>.<mac>`. */
export function formToken(binding: FormBinding, expiresAt: Seconds, nonce: Uint8Array, digests: Digests): string {
  const head = `${expiresAt}.${encodeBase64url(nonce)}`
  return `${head}.${encodeBase64url(mac(binding, head, digests))}`
}

/**
 * Verifies the field that binds a form, without regard to its age.
 * @returns undefined for any other field than the one that was made for this binding
 */
export function verifyFormToken(binding: FormBinding, token: string, digests: Digests): VerifiedForm | undefined {
  const end = token.lastIndexOf('.')
  const head = token.slice(0, Math.max(0, end))
  // The browser has the key, so its user can sign any head. Only a head as we write it is read.
  if (!FORM_HEAD.test(head)) return undefined
  const secret = mac(binding, head, digests)
  const expected = encodeBase64url(secret)
  if (!constantTimeEqual(expected, token.slice(end + 1))) return undefined
  const id = decodeBase64url(digests.sha256(`grant of ${expected}`)) as Uint8Array // a digest is base64url
  return { grantId: grantIdOf(id.subarray(0, GRANT_ID_BYTES)), secret, expiresAt: Number.parseInt(head, 10) }
}

/**
 * Derives 32 bytes of a form that came back: the same each time, and unknown to whoever has the form alone, since the key of the browser is
 * needed.
 * @param token - the field of a form that was verified
 */
export function deriveFromForm(binding: FormBinding, token: string, digests: Digests): Uint8Array {
  const [expiry, nonce] = token.split('.')
  return mac({ ...binding, shown: ['derived', ...binding.shown] }, `${expiry}.${nonce}`, digests)
}

/** The head of a form: a time of at most eleven digits, and 16 bytes. */
const FORM_HEAD = /^\d{1,11}\.[\w-]{22}$/

/** Returns the MAC over a JSON list of all values, so that no two bindings have the same input. */
function mac({ issuer, subject, browserKey, shown }: FormBinding, head: string, digests: Digests): Uint8Array {
  const bound = ['grantwell form 1', head, issuer, subject, ...shown]
  return digests.hmacSha256(browserKey, new TextEncoder().encode(JSON.stringify(bound)))
}

/** Returns what a consent page shows of an authorization request. */
export function shownOf({
  application,
  redirectUri,
  state,
  scopes,
  audience,
  codeChallenge,
}: AuthorizationRequest): FormBinding['shown'] {
  const { clientId, name, resourceScope } = application
  const asked = [redirectUri, state ?? null, printScopes(scopes), codeChallenge ?? null, ...(audience ?? [])]
  return ['consent', clientId, name, resourceScope, ...asked]
}

/** Writes the request as a query, to be parsed again when the form comes back. */
export function printAuthorizationRequest({
  application,
  redirectUri,
  state,
  scopes,
  audience = [],
  codeChallenge,
  uiLocales,
}: AuthorizationRequest): string {
  const parameters: (readonly [string, string])[] = [
    ['response_type', 'code'],
    ['client_id', application.clientId],
    ['redirect_uri', redirectUri],
  ]
  // Without a scope the registered ones are asked for. Written out, they could be longer than a parameter may be.
  const scope = printScopes(scopes)
  if (scope !== printScopes(application.scopes)) parameters.push(['scope', scope])
  for (const resource of audience) parameters.push(['resource', resource])
  if (state !== undefined) parameters.push(['state', state])
  if (codeChallenge !== undefined) parameters.push(['code_challenge', codeChallenge], ['code_challenge_method', 'S256'])
  if (uiLocales !== undefined) parameters.push(['ui_locales', uiLocales])
  return parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
}

/** Returns the name of the cookie with the browser's key. Over https its prefix binds it to the host. */
export function browserKeyCookie(issuer: string): string {
  return issuer.startsWith('https:') ? '__Host-grantwell' : 'grantwell'
}

/** Returns the browser's key; undefined where its cookie is missing, malformed or sent twice. */
export function browserKeyOf(headers: HttpHeaders, issuer: string): Uint8Array | undefined {
  const cookie = headerOf(headers, 'cookie')
  if (typeof cookie !== 'string') return undefined
  const start = `${browserKeyCookie(issuer)}=`
  const [found, ...more] = cookie.split(/; */).filter((part) => part.startsWith(start))
  const key = found === undefined || more.length > 0 ? undefined : decodeBase64url(found.slice(start.length))
  return key?.length === BROWSER_KEY_BYTES ? key : undefined
}

/** Makes the header that gives a browser its key, for as long as the browser is open. */
export function setBrowserKey(key: Uint8Array, issuer: string): string {
  const secure = issuer.startsWith('https:') ? '; Secure' : ''
  return `${browserKeyCookie(issuer)}=${encodeBase64url(key)}; Path=/; HttpOnly; SameSite=Lax${secure}`
}

/**
 * True if a page of this server can have sent a form, by the browser's headers. It is a second check beside the token: with
 * `Referrer-Policy: no-referrer` a browser's `Origin` is `null`.
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
 * Returns the resources that the user chose.
 * @param ids - the values of the fields `resource`
 * @param registered - the widest choice that the page offered
 * @param offered - the identifiers that the page offered
 * @returns undefined where the choice was not offered, or names no resource or too many
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

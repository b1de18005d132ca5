/**
 * The forms of the pages: each is bound to the user, the browser and what the page shows, and verified when it comes back.
 * @module
 * @see RFC 6749, section 10.12; RFC 9700, section 4.7
 */
import type { Seconds } from '../../core/values.js'
import type { HttpRequest } from '../../protocol/message.js'
import type { FormBinding, VerifiedForm } from '../../protocol/pages/form-binding.js'
import {
  BROWSER_KEY_BYTES,
  browserKeyOf,
  deriveFromForm,
  FORM_FIELDS,
  FORM_NONCE_BYTES,
  formToken,
  fromOwnPage,
  setBrowserKey,
  verifyFormToken,
} from '../../protocol/pages/form-binding.js'
import type { User } from '../../shell/options.js'
import type { PageContext } from './context.js'

/** A field of a form that its page does not show. */
export interface HiddenField {
  readonly name: string
  readonly value: string
}

/** The binder of the forms of one page. */
export interface FormBinder {
  /** Makes the field that binds a form to what it shows. */
  readonly field: (shown: FormBinding['shown']) => HiddenField
  /** Headers of the page: they give the browser a key where it has none yet. */
  readonly headers: Readonly<Record<string, string>>
}

/** Seconds by which the clocks of two servers may differ. */
const CLOCKS_APART: Seconds = 300

/** Makes the binder of a page that this user sees in this browser. */
export function createFormBinder(
  { issuer, clock, entropy, digests, consentLifetime }: PageContext<never>,
  { headers }: HttpRequest,
  { subject }: User,
): FormBinder {
  const kept = browserKeyOf(headers, issuer)
  const browserKey = kept ?? entropy(BROWSER_KEY_BYTES)
  const expiresAt = clock() + consentLifetime
  return {
    field: (shown) => {
      const binding = { issuer, subject, browserKey, shown }
      return { name: FORM_FIELDS.consent, value: formToken(binding, expiresAt, entropy(FORM_NONCE_BYTES), digests) }
    },
    headers: kept === undefined ? { 'Set-Cookie': setBrowserKey(browserKey, issuer) } : {},
  }
}

/** Verifies a form that came back; undefined where it was changed, is too old, or is another browser's. */
export function verifyForm(
  context: PageContext<never>,
  request: HttpRequest,
  user: User,
  shown: FormBinding['shown'],
  token: string | undefined,
): VerifiedForm | undefined {
  const verified = verifyFormOfAnyAge(context, request, user, shown, token)
  const { clock } = context
  return verified !== undefined && clock() < verified.expiresAt ? verified : undefined
}

/** Verifies a form that may be old, where one that was decided in time may come again to ask for the outcome. */
export function verifyFormOfAnyAge(
  { issuer, clock, digests, consentLifetime }: PageContext<never>,
  { headers }: HttpRequest,
  { subject }: User,
  shown: FormBinding['shown'],
  token: string | undefined,
): VerifiedForm | undefined {
  const browserKey = findKey(headers, token, issuer)
  if (browserKey === undefined || token === undefined) return undefined
  const form = verifyFormToken({ issuer, subject, browserKey, shown }, token, digests)
  // No form of ours ends later, on a server whose clock is right.
  return form !== undefined && form.expiresAt <= clock() + consentLifetime + CLOCKS_APART ? form : undefined
}

/** Derives 32 bytes of a form that came back unchanged: the same each time, and unknown to whoever has the form without the browser's key. */
export function deriveFromVerified(
  context: PageContext<never>,
  { headers }: HttpRequest,
  { subject }: User,
  shown: FormBinding['shown'],
  token: string,
): Uint8Array {
  const { issuer, digests } = context
  const browserKey = browserKeyOf(headers, issuer) as Uint8Array // it was verified with it
  return deriveFromForm({ issuer, subject, browserKey, shown }, token, digests)
}

/** Checks what can be known of a form before anything is looked up: if it is false, no form verifies. */
export function canBeOurs(
  { issuer }: PageContext<never>,
  { headers }: HttpRequest,
  token: string | undefined,
): boolean {
  return findKey(headers, token, issuer) !== undefined
}

/** Returns the browser's key for a form that can be one of ours. */
function findKey(headers: HttpRequest['headers'], token: string | undefined, issuer: string): Uint8Array | undefined {
  return token !== undefined && fromOwnPage(headers, issuer) ? browserKeyOf(headers, issuer) : undefined
}

/**
 * The guard of requests that are signed with a token of the type `mac`. Loaded with the first of them.
 * @module
 * @see Specification, section 5.2; draft-ietf-oauth-v2-http-mac-01, section 4
 */

import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import { constantTimeEqual, encodeBase64url } from '../core/tokens/base64url.js'
import { digestOf } from '../core/tokens/digests.js'
import { macKeyOf } from '../core/tokens/mac.js'
import type { Seconds } from '../core/values.js'
import { invalidToken } from '../protocol/bearer.js'
import { macOf, misdirected, presentedMac, replayedMac, staleMac, targetOf, timeOf } from '../protocol/mac.js'
import type { RequestLike } from '../protocol/message.js'
import type { MaybePromise } from '../shell/maybe-promise.js'
import { andThen } from '../shell/maybe-promise.js'
import type { Settings } from '../shell/options.js'
import { keys } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'
import type { Access, Refusal } from './access.js'
import { accessBy, refusal } from './access.js'

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

/**
 * Who is calling by a signed request, or why not.
 * @param attributes - what stands behind the scheme in its `Authorization` header
 */
export type MacGuard = (attributes: string, request: RequestLike) => MaybePromise<Access | Refusal>

/** Binds it to a server. */
export function macGuardOf<Native>(settings: Settings<Native>, transactions: Transactions): MacGuard {
  const { digests, rules, macWindow } = settings
  const secure = settings.issuer.startsWith('https:')
  /** The nonce of each request that was let in, by the headers that came with it: a second guard of one request is no replay. */
  const letIn = new WeakMap<object, string>()

  /** Verifies the signature, and that this very request was not made before. */
  return (attributes, request) => {
    const presented = presentedMac(attributes)
    if (isOAuthError(presented)) return refusal(presented)
    const target = targetOf(request, secure)
    if (target === undefined) return refusal(misdirected())
    const { credential, id, ts, nonce, ext } = presented
    const key = keys.nonce(digestOf(digests, `${id}\n${ts}\n${nonce}`))
    const asked = [keys.application(credential.clientKey), keys.grant(credential.grantId), key]
    const found = transactions.transact<Access | Refusal>(asked, ([application, grant, used], now, entropy) => {
      const access = accessBy(settings, credential, application, grant, now, 'mac')
      if (access.type === 'refusal') return { reply: access }
      const { clientId } = access
      const refuse = (error: OAuthError) => ({ reply: refusal(error, clientId) })
      const input = { ts, nonce, ext, ...target }
      const macKey = macKeyOf(credential.secret, rules)
      const expected = macOf(digests, macKey, input)
      if (!constantTimeEqual(presented.mac, expected)) return refuse(invalidToken('mac_mismatch'))
      // A long upload may lie between two guards of one request.
      if (letIn.get(request.headers) === key) return { reply: access }
      if (Math.abs(now - Number(ts)) > macWindow) return refuse(staleMac(timeOf(digests, macKey, now, input)))
      if (used !== undefined) return refuse(replayedMac())
      const value: NonceRecord = { v: 1, by: encodeBase64url(entropy.subarray(0, 16)) }
      // The request is good for one window from its `ts`. The second window and the margin are how far a clock may jump ahead
      // in that time, and back, before the nonce is good again.
      return { reply: access, write: { key, value, expiresAt: Number(ts) + 2 * macWindow + NONCE_MARGIN } }
    })
    return andThen(found, (access) => {
      if (isOAuthError(access)) return refusal(access)
      if (access.type === 'authenticated') letIn.set(request.headers, key)
      return access
    })
  }
}

/**
 * The guard of requests that are signed with a token of the type `mac`. Loaded after the start.
 * @module
 * @see Specification, section 5.2; draft-ietf-oauth-v2-http-mac-01, section 4
 */

import type { DeclaredResource } from '../core/audiences/audience.js'
import { constantTimeEqual, encodeBase64url } from '../core/credentials/base64url.js'
import { rulesOfEachKey } from '../core/credentials/derivation-keys.js'
import { digestOf } from '../core/credentials/digests.js'
import { macKeyOf } from '../core/credentials/mac.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import type { Seconds } from '../core/values.js'
import { invalidToken } from '../protocol/bearer.js'
import { macOf, misdirected, presentedMac, replayedMac, staleMac, targetOf, timeOf } from '../protocol/mac.js'
import type { RequestLike } from '../protocol/message.js'
import type { Internals } from '../shell/internals.js'
import type { MaybePromise } from '../shell/maybe-promise.js'
import { andThen, isPromise } from '../shell/maybe-promise.js'
import { keys } from '../shell/records.js'
import { createTransactions } from '../shell/transactions.js'
import type { AuthInfo } from './auth-info.js'
import type { Refusal } from './check-token.js'
import { checkToken, refusal } from './check-token.js'

/** The record of a signed request: its nonce works only once. */
interface NonceRecord {
  readonly v: 1
  /** Random, so that no two servers take one write for their own. */
  readonly by: string
}

/**
 * Seconds that the record of a nonce is kept longer than necessary. Servers whose clocks differ do not remove each other's
 * records. And a store times out before an expired record could pass for a write that did not happen.
 */
const NONCE_MARGIN: Seconds = 600

/**
 * Identifies the caller of a signed request.
 * @param attributes - the part of its `Authorization` header after the scheme
 * @param audience - the protected resource of the guard
 */
export type MacGuard = (
  attributes: string,
  request: RequestLike,
  audience: DeclaredResource | undefined,
) => MaybePromise<AuthInfo | Refusal>

/** Creates the guard of a server's signed requests. */
export function createMacGuard(internals: Internals<never>): MacGuard {
  const { settings } = internals
  const transactions = createTransactions(internals)
  const { digests, rules, macWindow } = settings
  const secure = settings.issuer.startsWith('https:')
  /** The nonce of each request that was let in, by the request's headers: a second guard of one request sees no replay. */
  const letIn = new WeakMap<object, string>()

  const verify: MacGuard = (attributes, request, audience) => {
    const presented = presentedMac(attributes)
    if (isOAuthError(presented)) return refusal(presented)
    const target = targetOf(request, secure)
    if (target === undefined) return refusal(misdirected())
    const { credential, id, ts, nonce, ext } = presented
    const key = keys.nonce(digestOf(digests, `${id}\n${ts}\n${nonce}`))
    const asked = [keys.application(credential.clientKey), keys.grant(credential.grantId), key]
    const found = transactions.transact<AuthInfo | Refusal>(asked, ([application, grant, used], now, entropy) => {
      const access = checkToken(settings, credential, application, grant, now, 'mac', audience)
      if (access.type === 'refusal') return { reply: access }
      const { clientId, grantId, subject } = access
      const refuse = (error: OAuthError) => ({ reply: refusal(error, clientId, grantId, subject) })
      const input = { ts, nonce, ext, ...target }
      const macKey = rulesOfEachKey(rules)
        .map((each) => macKeyOf(credential.secret, each))
        .find((each) => constantTimeEqual(presented.mac, macOf(digests, each, input)))
      if (macKey === undefined) return refuse(invalidToken('mac_mismatch'))
      // A long upload may lie between two guards of one request.
      if (letIn.get(request.headers) === key) return { reply: access }
      if (Math.abs(now - Number(ts)) > macWindow) return refuse(staleMac(timeOf(digests, macKey, now, input)))
      if (used !== undefined) return refuse(replayedMac())
      const value: NonceRecord = { v: 1, by: encodeBase64url(entropy.subarray(0, 16)) }
      // The request is valid for one window from its `ts`. The second window and the margin allow a clock to jump ahead in that
      // time, and back, before the nonce could be used again.
      return { reply: access, write: { key, value, expiresAt: Number(ts) + 2 * macWindow + NONCE_MARGIN } }
    })
    return andThen(found, (access) => {
      if (isOAuthError(access)) return refusal(access, undefined, credential.grantId)
      if (access.type === 'authenticated') letIn.set(request.headers, key)
      return access
    })
  }
  return oneByOne(verify)
}

/**
 * Verifies a request for one guard after the other. A second guard that read the nonce while the write of the first is under way
 * would see a replay.
 */
function oneByOne(verify: MacGuard): MacGuard {
  /** The verification that is under way, by the request's headers. */
  const running = new WeakMap<object, Promise<unknown>>()

  const verifyInTurn: MacGuard = (attributes, request, audience) => {
    const { headers } = request
    const before = running.get(headers)
    if (before !== undefined) return before.then(() => verifyInTurn(attributes, request, audience))
    const found = verify(attributes, request, audience)
    if (!isPromise(found)) return found
    const end = (): unknown => running.delete(headers)
    running.set(headers, found.then(end, end))
    return found
  }
  return verifyInTurn
}

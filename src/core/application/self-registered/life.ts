/**
 * The life of a client that registered itself. Anybody may register one, so a record that nobody uses must not stay.
 *
 * A record outlives every token of its client: when tokens are given out it is kept for as long as they work, and a week more, so
 * that it is written once a week at most. A client that an administrator decided on stays for good, as any other application.
 * @module
 * @see RFC 7591, section 5
 */
import type { Seconds } from '../../values.js'
import type { Application, PublishedApplication, SelfRegistered } from '../application.js'
import { isPublished, selfRegisteredOf } from '../application.js'

const DAY: Seconds = 86_400

/** Seconds for which a client is kept that gets no token: a week. */
export const UNUSED_LIFETIME: Seconds = 7 * DAY

/** Seconds for which a client waits for an administrator: thirty days. */
export const WAITING_LIFETIME: Seconds = 30 * DAY

/** Seconds that a record is kept beyond the tokens of its client. */
const SLACK: Seconds = 7 * DAY

/** Lifetimes of tokens. No access token outlives the refresh token beside it. */
interface Lifetimes {
  readonly refreshTokenLifetime: Seconds
  /** Seconds for which a pair works on after its refresh. */
  readonly gracePeriod: Seconds
}

/** Returns the time until which a client is kept that gets tokens now; undefined where its record outlives them as it is. */
export function keepUntilOf(
  application: Application | undefined,
  now: Seconds,
  { refreshTokenLifetime, gracePeriod }: Lifetimes,
): Seconds | undefined {
  const keepUntil = isPublished(application) ? selfRegisteredOf(application)?.keepUntil : undefined
  const tokensEnd = now + refreshTokenLifetime + gracePeriod
  return keepUntil === undefined || keepUntil >= tokensEnd ? undefined : tokensEnd + SLACK
}

/** Returns the record of a client's own registration with another end; undefined for none. */
export function keptUntil(
  { keepUntil: _, approvedByPolicy: __, ...rest }: SelfRegistered,
  keepUntil: Seconds | undefined,
): SelfRegistered {
  return keepUntil === undefined ? rest : { ...rest, keepUntil }
}

/** True for a client that registered itself, and that no administrator decided on: nobody knows whether what it says is true. */
export function isUnreviewed(application: Application): boolean {
  return selfRegisteredOf(application)?.keepUntil !== undefined
}

/**
 * Returns the time at which administrators approved an application; undefined where the policy of the host did, and nobody has looked at
 * what it says.
 */
export function checkedAtOf(application: PublishedApplication): Seconds | undefined {
  const { keepUntil, approvedByPolicy } = selfRegisteredOf(application) ?? {}
  return keepUntil === undefined && approvedByPolicy === undefined ? application.approvedAt : undefined
}

/** Returns an application that an administrator decided on, which is no more removed where nobody uses it. */
export function decidedByAdministrator<Decided extends Application>(application: Decided): Decided {
  const selfRegistered = selfRegisteredOf(application)
  if (selfRegistered === undefined) return application
  const kept = keptUntil(selfRegistered, undefined)
  // Who suspends an application has not approved it.
  const byPolicy = isPublished(application) && checkedAtOf(application) === undefined
  return { ...application, selfRegistered: byPolicy ? { ...kept, approvedByPolicy: true } : kept }
}

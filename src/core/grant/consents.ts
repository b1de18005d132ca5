/**
 * The decisions of one user on one application, as one small record: the first decision on a form counts, and only so many
 * grants live at once.
 *
 * A decision that is over stays in the record until its form has expired, and some minutes longer, so that the form is not decided
 * twice.
 * @module
 */
import type { OAuthError } from '../errors.js'
import { oauthError } from '../errors.js'
import type { GrantId, Seconds } from '../values.js'
import { CLOCK_SET_BACK } from './grant.js'

/** Decisions of one user on one application, the oldest first. JSON. */
export interface Consents {
  /** Version of this shape. */
  readonly v: 1
  readonly decisions: readonly Decision[]
}

/** One decision. */
export interface Decision {
  readonly grantId: GrantId
  /** The time at which it was taken in: its grant is written a moment later. */
  readonly at: Seconds
  /** The time at which its form expires, exclusive; absent where no form of the authorization endpoint made it. */
  readonly formExpiresAt?: Seconds
  /** True where nobody was asked, since a consent of before was remembered. */
  readonly unasked?: true
  /** Present where no grant is left: the user refused, or newer grants took its place. */
  readonly over?: 'refused' | 'replaced'
}

/** A decision that comes in. */
export interface NewDecision {
  readonly decision: 'agree' | 'refuse'
  readonly grantId: GrantId
  /** Absent for a device, and for a consent that is remembered. */
  readonly formExpiresAt?: Seconds
  /** True for a consent that is remembered: nobody was asked. */
  readonly unasked?: true | undefined
}

/** The answer to a decision. */
export type Admission =
  /** It is the first one on its form; the record to write. */
  | { readonly type: 'first'; readonly consents: Consents }
  /** This decision came before. */
  | { readonly type: 'repeated' }
  /** Another decision came before, or the form is too old. */
  | { readonly type: 'refused' }
  /** There is no room: one of these grants must end first. The oldest is at the head. */
  | { readonly type: 'full'; readonly grants: readonly Decision[] }
  | OAuthError

/** Seconds for which a decision makes its grant: a request ends sooner, and a form whose grant could not be written may come again. */
export const MAKES_WITHIN: Seconds = 240

/**
 * Seconds after which a decision whose grant is not there gives way to others. Nobody makes that grant any more, on no server
 * whose clock is right within a minute.
 */
export const GIVES_WAY_AFTER: Seconds = 300

/** Decisions that are over and whose form could still come back: at most so many are kept, so that no more are taken in. */
export const DECISIONS_KEPT = 1000

/**
 * Takes in a decision.
 * @param limit - grants that the record names at most
 * @param replaced - decisions whose grants have ended, to make room; none by default
 */
export function admitDecision(
  consents: Consents | undefined,
  { decision, grantId, formExpiresAt, unasked }: NewDecision,
  now: Seconds,
  limit: number,
  replaced: readonly Decision[] = [],
): Admission {
  const { decisions: known } = consents ?? NONE
  // A device has a record of its own until somebody has decided on it: its user may try again, however late.
  const all =
    formExpiresAt === undefined ? known.filter((each) => each.grantId !== grantId || makesGrant(each, now)) : known
  const before = all.find((each) => each.grantId === grantId)
  if (before !== undefined) return { type: before.over === OVER[decision] ? 'repeated' : 'refused' }
  if (formExpiresAt !== undefined && now >= formExpiresAt) return { type: 'refused' }
  const decisions = all
    .map((each): Decision => (replaced.some(isSame(each)) ? { ...each, over: 'replaced' } : each))
    .filter((each) => each.over === undefined || now < keptUntil(each))
  const grants = decisions.filter(({ over }) => over === undefined)
  const over = decisions.filter((each) => each.over !== undefined)
  const isFull = decision === 'agree' && grants.length >= limit
  // Before anything ends for it: a decision that is not taken in must cost no grant. Whoever has made room was let in.
  const more = isFull || decision === 'refuse' ? 1 : 0
  if (replaced.length === 0 && over.length + more > DECISIONS_KEPT)
    return tooManyDecisions(Math.min(...over.map(keptUntil)) - now)
  if (isFull) return { type: 'full', grants }
  const made: Decision = {
    grantId,
    at: now,
    ...(formExpiresAt !== undefined && { formExpiresAt }),
    ...(unasked && { unasked }),
    ...(decision === 'refuse' && { over: 'refused' }),
  }
  return { type: 'first', consents: { v: 1, decisions: [...decisions, made] } }
}

/** True if a grant counts against the limit of grants. */
export function isCounted(consents: Consents | undefined, grantId: GrantId): boolean {
  return consents?.decisions.some((each) => each.grantId === grantId && each.over === undefined) ?? false
}

/**
 * Checks that a grant that is not there may be made: its decision stands, and was made a moment ago. A request that is late, or a
 * form of before a clock was set back, finds that a newer grant took its place, or that its own was made and forgotten.
 */
export function mayMake(consents: Consents | undefined, grantId: GrantId, now: Seconds): boolean {
  return consents?.decisions.some((each) => each.grantId === grantId && makesGrant(each, now)) ?? false
}

function makesGrant({ at, over }: Decision, now: Seconds): boolean {
  return over === undefined && at - MAKES_WITHIN < now && now < at + MAKES_WITHIN
}

/** Makes the test for one decision. The decision on a device may have been made again meanwhile, so its time is compared too. */
function isSame({ grantId, at }: Decision): (other: Decision) => boolean {
  return (other) => other.grantId === grantId && other.at === at
}

const NONE: Consents = { v: 1, decisions: [] }

/** Each decision as the record has it. */
const OVER = { agree: undefined, refuse: 'refused' } as const

function keptUntil({ formExpiresAt }: Decision): Seconds {
  return formExpiresAt === undefined ? 0 : formExpiresAt + CLOCK_SET_BACK
}

function tooManyDecisions(retryAfter: Seconds): OAuthError {
  const description = 'Too many decisions were made on this application in too short a time.'
  return oauthError('temporarily_unavailable', 'too_many_attempts', description, { status: 429, retryAfter })
}

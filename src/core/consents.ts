/**
 * The decisions of one user on one application, as one small record: the first decision on a form counts, and only so many
 * grants live at once.
 *
 * A decision that is over stays in the record until its form has expired, and some minutes longer, so that the form is not decided
 * twice.
 * @module
 */
import type { OAuthError } from './errors.js'
import { oauthError } from './errors.js'
import type { GrantId, Seconds } from './values.js'

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
  /** The same decision came before. */
  | { readonly type: 'repeated' }
  /** Another decision came before, or the form is too old. */
  | { readonly type: 'refused' }
  /** There is no room: one of these grants must end first, the oldest first. */
  | { readonly type: 'full'; readonly grants: readonly Decision[] }
  | OAuthError

/** Decisions that are over and whose form could still come back: at most so many are kept, so that no more are taken in. */
export const DECISIONS_KEPT = 1000

/**
 * Takes in a decision.
 * @param limit - grants that the record names at most
 * @param replaced - grants that have ended, to make room; none by default
 */
export function admitDecision(
  consents: Consents | undefined,
  { decision, grantId, formExpiresAt, unasked }: NewDecision,
  now: Seconds,
  limit: number,
  replaced: readonly GrantId[] = [],
): Admission {
  const { decisions: all } = consents ?? NONE
  const before = all.find((each) => each.grantId === grantId)
  if (before !== undefined) return { type: before.over === OVER[decision] ? 'repeated' : 'refused' }
  if (formExpiresAt !== undefined && now >= formExpiresAt) return { type: 'refused' }
  const decisions = all
    .map((each): Decision => (replaced.includes(each.grantId) ? { ...each, over: 'replaced' } : each))
    .filter((each) => each.over === undefined || now < keptUntil(each))
  const grants = decisions.filter(({ over }) => over === undefined)
  if (decision === 'agree' && grants.length >= limit) return { type: 'full', grants }
  const over = decisions.filter((each) => each.over !== undefined)
  if (over.length >= DECISIONS_KEPT) return tooManyDecisions(Math.min(...over.map(keptUntil)) - now)
  const made: Decision = {
    grantId,
    at: now,
    ...(formExpiresAt !== undefined && { formExpiresAt }),
    ...(unasked && { unasked }),
    ...(decision === 'refuse' && { over: 'refused' }),
  }
  return { type: 'first', consents: { v: 1, decisions: [...decisions, made] } }
}

const NONE: Consents = { v: 1, decisions: [] }

/** Each decision as the record has it. */
const OVER = { agree: undefined, refuse: 'refused' } as const

/** Seconds by which a clock may be set back without an old form deciding anew. */
const CLOCK_SET_BACK: Seconds = 600

function keptUntil({ formExpiresAt }: Decision): Seconds {
  return formExpiresAt === undefined ? 0 : formExpiresAt + CLOCK_SET_BACK
}

function tooManyDecisions(retryAfter: Seconds): OAuthError {
  const description = 'Too many decisions were made on this application in too short a time.'
  return oauthError('temporarily_unavailable', 'too_many_attempts', description, { status: 429, retryAfter })
}

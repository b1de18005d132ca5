/**
 * The model: the life of a grant by section 3 of the specification, and by the promises of grantwell where that leaves things
 * open, above all the grace period. It is written from them and not from the code: tokens are named by the number of their
 * pair, there are no secrets and no digests, and every pair is remembered.
 * @module
 */
import type { Scope } from '../core/scopes.js'
import type { Answer, Lifecycle, Ruling, Sent, Shown, Terms } from './model/interface.js'

export type { Access, Answer, Lifecycle, Ruling, Sent, Shown, Terms } from './model/interface.js'

interface Pair {
  readonly accessEnds: number
  readonly refreshEnds: number
  readonly scopes: readonly Scope[]
  readonly audience: readonly string[] | undefined
  /** The time of its first refresh. */
  refreshedAt?: number
  accessRevoked: boolean
  /** True if a write after its grace took it out of the record, its digest kept for a while. */
  retired: boolean
}

const PAIRS_IN_GRACE = 32
const RETIRED_KEPT = 64

/** The state of a grant in the model. */
interface State {
  readonly terms: Terms
  readonly granted: readonly Scope[]
  readonly audience: readonly string[] | undefined
  readonly challenged: boolean
  readonly formExpiresAt: number
  readonly code: { ends: number; used: boolean }
  /** The first decision on the form; undefined before it. */
  decided: string | undefined
  readonly pairs: Pair[]
  /** The pairs that were taken out of the record, in this order. */
  readonly retired: Pair[]
  revoked: boolean
}

/**
 * Makes a grant in the model.
 * @param issuedAt - the time at which its code was issued; undefined where nobody has decided on its form
 * @param formExpiresAt - the time from which the form can no more be decided on; never by default
 * @param audience - the protected resources that it is for; those of none by default
 */
export function lifecycle(
  terms: Terms,
  granted: readonly Scope[],
  challenged: boolean,
  issuedAt: number | undefined,
  formExpiresAt: number = Number.POSITIVE_INFINITY,
  audience?: readonly string[],
): Lifecycle {
  const state: State = {
    terms,
    granted,
    audience,
    challenged,
    formExpiresAt,
    code: { ends: (issuedAt ?? 0) + terms.codeLifetime, used: false },
    decided: issuedAt === undefined ? undefined : 'agree',
    pairs: [],
    retired: [],
    revoked: false,
  }
  return {
    access: (...args) => access(state, ...args),
    decide: (...args) => decide(state, ...args),
    exchange: (...args) => exchange(state, ...args),
    refresh: (...args) => refresh(state, ...args),
    revoke: (...args) => revoke(state, ...args),
    ends: (...args) => ends(state, ...args),
  }
}

const INVALID_GRANT: Ruling = { answer: { says: 'invalid_grant' } }
const INVALID_TARGET: Ruling = { answer: { says: 'invalid_target' } }
const UNCHANGED: Ruling = { answer: { says: 'unchanged' } }

function access(state: State, number: number, now: number): ReturnType<Lifecycle['access']> {
  const pair = state.pairs[number]
  if (state.revoked || pair === undefined || pair.retired || pair.accessRevoked) return undefined
  const until = endOf(state, pair, 'access')
  return now < until ? { until, scopes: pair.scopes, audience: pair.audience } : undefined
}

function decide(state: State, now: number, decision: string): Ruling {
  const { code, decided, revoked, terms } = state
  const answer = { says: decision === 'refuse' ? 'denied' : 'code' } as const
  if (decided === undefined) {
    if (now >= state.formExpiresAt) return INVALID_GRANT
    return {
      answer,
      change: () => {
        state.decided = decision
        code.ends = now + terms.codeLifetime
      },
    }
  }
  if (decision !== decided) return INVALID_GRANT
  return decision === 'refuse' || (!revoked && !code.used && now < code.ends) ? { answer } : INVALID_GRANT
}

function exchange(
  state: State,
  now: number,
  shown: Shown,
  byOwner: boolean,
  redirectUri: Sent,
  verifier: Sent,
  audience: readonly string[] | undefined,
): Ruling {
  const { code, granted } = state
  if (shown.what !== 'code' || !byOwner || state.revoked || state.decided === undefined) return INVALID_GRANT
  const proven = state.challenged ? verifier === 'right' : verifier === 'none'
  if (redirectUri === 'wrong' || !proven) return INVALID_GRANT
  if (code.used) return { ...INVALID_GRANT, change: () => revokeAll(state) }
  if (now >= code.ends) return INVALID_GRANT
  if (!isPermitted(state, audience)) return INVALID_TARGET
  return {
    answer: tokens(state, 0, now, granted),
    change: () => {
      code.used = true
      addPair(state, now, granted, audience)
    },
  }
}

function refresh(
  state: State,
  now: number,
  shown: Shown,
  byOwner: boolean,
  wish: readonly Scope[] | undefined,
  audience: readonly string[] | undefined,
): Ruling {
  const { pairs, granted } = state
  const pair = pairOf(state, shown, 'refresh')
  if (pair === undefined || !byOwner || state.revoked) return INVALID_GRANT
  if (now >= graceEnd(state, pair) || pair.retired) return replay(state, now, pair)
  if (now >= pair.refreshEnds) return INVALID_GRANT
  if (!isPermitted(state, audience)) return INVALID_TARGET
  if (wish?.some((scope) => !isCovered(state, scope)) === true) return { answer: { says: 'invalid_scope' } }
  if (pair.refreshedAt !== undefined) return refreshAgain(state, now, pairs.indexOf(pair), audience)
  const inGrace = pairs.filter((one) => !one.retired && one.refreshedAt !== undefined && now < graceEnd(state, one))
  if (inGrace.length >= PAIRS_IN_GRACE)
    return { answer: { says: 'too many', retryAfter: Math.min(...inGrace.map((one) => graceEnd(state, one))) - now } }
  const scopes = wish ?? granted
  return {
    answer: tokens(state, pairs.length, now, scopes),
    change: () => {
      retireOld(state, now)
      pair.refreshedAt = now
      addPair(state, now, scopes, audience)
    },
  }
}

/** Answers a refresh token that comes back after its grace. */
function replay(state: State, now: number, pair: Pair): Ruling {
  if (pair.retired && !state.retired.slice(-RETIRED_KEPT).includes(pair)) return INVALID_GRANT
  // A replay is refused for good: also where it revokes nothing, no clock that steps back undoes it.
  if (state.terms.refreshReplay === 'revoke') return { ...INVALID_GRANT, change: () => revokeAll(state) }
  return state.pairs.some((one) => !one.retired && now >= graceEnd(state, one))
    ? { ...INVALID_GRANT, change: () => retireOld(state, now) }
    : INVALID_GRANT
}

/** Answers a refresh token that comes back within its grace: with the same successor. */
function refreshAgain(state: State, now: number, number: number, audience: readonly string[] | undefined): Ruling {
  const successor = state.pairs[number + 1]
  if (successor === undefined) throw new Error('a refreshed pair without a successor')
  // A successor whose own grace ended before its predecessor's, since a clock stepped back, is no answer any more.
  const gone = successor.retired || now >= endOf(state, successor, 'refresh')
  if (gone || successor.accessRevoked) return INVALID_GRANT
  // Who asks for one protected resource gets no token that works at another, too.
  if (audience !== undefined && successor.audience?.every((each) => audience.includes(each)) !== true)
    return INVALID_TARGET
  return { answer: tokens(state, number + 1, now, successor.scopes) }
}

function revoke(state: State, now: number, shown: Shown, byOwner: boolean): Ruling {
  if (shown.what !== 'access' && shown.what !== 'refresh') return UNCHANGED
  const pair = pairOf(state, shown, shown.what)
  if (pair === undefined || !byOwner || state.revoked || pair.retired || now >= endOf(state, pair, shown.what))
    return UNCHANGED
  if (shown.what === 'refresh') return { answer: { says: 'revoked' }, change: () => revokeAll(state) }
  if (pair.accessRevoked) return UNCHANGED
  return {
    answer: { says: 'revoked' },
    change: () => {
      retireOld(state, now)
      pair.accessRevoked = true
    },
  }
}

function ends(state: State, now: number): ReturnType<Lifecycle['ends']> {
  const { code, pairs } = state
  if (state.revoked) return []
  const codeEnd = code.used || state.decided === undefined ? [] : [{ at: code.ends, what: 'the code expires' }]
  // Past the grace period nothing of a pair is left that could end.
  const pairEnds = pairs.flatMap((pair, number) =>
    [
      { at: graceEnd(state, pair), what: `the grace period of pair ${number + 1} is over` },
      { at: pair.accessEnds, what: `access token ${number + 1} expires` },
      { at: pair.refreshEnds, what: `refresh token ${number + 1} expires` },
    ].filter(({ at }) => at <= graceEnd(state, pair)),
  )
  return [...codeEnd, ...pairEnds].filter(({ at }) => at > now && at < Number.POSITIVE_INFINITY)
}

function graceEnd({ terms }: State, { refreshedAt }: Pair): number {
  return (refreshedAt ?? Number.POSITIVE_INFINITY) + terms.gracePeriod
}

/** Returns the exclusive end of a token: `now < min(own expiry, t + grace)`. */
function endOf(state: State, pair: Pair, token: 'access' | 'refresh'): number {
  return Math.min(token === 'access' ? pair.accessEnds : pair.refreshEnds, graceEnd(state, pair))
}

/** Takes out the pairs whose grace is over, as every write does. */
function retireOld(state: State, now: number): void {
  for (const pair of state.pairs) {
    if (pair.retired || now < graceEnd(state, pair)) continue
    pair.retired = true
    state.retired.push(pair)
  }
}

function revokeAll(state: State): void {
  state.revoked = true
}

function pairOf({ pairs }: State, shown: Shown, token: 'access' | 'refresh'): Pair | undefined {
  return shown.what === token ? pairs[shown.pair] : undefined
}

function isCovered({ granted }: State, scope: Scope): boolean {
  return granted.includes(scope) || granted.some((one) => one === scope.replace(/:r$/, ':rw'))
}

/** True if the user permitted every protected resource that is asked for. Without any, all that were permitted are asked for. */
function isPermitted(state: State, audience: readonly string[] | undefined): boolean {
  return audience === undefined || audience.every((resource) => state.audience?.includes(resource) === true)
}

function addPair(
  { pairs, terms, audience: permitted }: State,
  now: number,
  scopes: readonly Scope[],
  audience: readonly string[] | undefined,
): void {
  pairs.push({
    accessEnds: now + terms.accessTokenLifetime,
    refreshEnds: now + terms.refreshTokenLifetime,
    scopes,
    audience: audience ?? permitted,
    accessRevoked: false,
    retired: false,
  })
}

function tokens(state: State, number: number, now: number, scopes: readonly Scope[]): Answer {
  const pair = state.pairs[number]
  const until = pair === undefined ? now + state.terms.accessTokenLifetime : endOf(state, pair, 'access')
  return { says: 'tokens', pair: number, expiresIn: Math.max(0, until - now), scopes }
}

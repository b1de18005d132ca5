/**
 * The model: the life of a grant as section 3 of the specification tells it, and what grantwell promises where that leaves
 * things open, the grace period above all. Written from them and not from the code: tokens are named by the number of their pair,
 * there are no secrets and no digests, and every pair that ever was is remembered.
 * @module
 */
import type { Scope } from '../core/scopes.js'

/** The settings that the model knows, in seconds. */
export interface Terms {
  readonly codeLifetime: number
  readonly accessTokenLifetime: number
  readonly refreshTokenLifetime: number
  readonly gracePeriod: number
  readonly refreshReplay: 'revoke' | 'refuse'
}

/** What somebody shows: a token of a pair, the code, or something that this grant never gave. */
export type Shown =
  | { readonly what: 'code' | 'unknown' }
  | { readonly what: 'access' | 'refresh'; readonly pair: number }

/** What is answered; `pair` is the number of an old pair, or the next number for a new one. */
export type Answer =
  | { readonly says: 'tokens'; readonly pair: number; readonly expiresIn: number; readonly scopes: readonly Scope[] }
  | {
      readonly says: 'code' | 'denied' | 'invalid_client' | 'invalid_grant' | 'invalid_scope' | 'revoked' | 'unchanged'
    }
  | { readonly says: 'too many'; readonly retryAfter: number }

/** An answer, and what becomes of the grant; nothing does where `change` is absent. */
export interface Ruling {
  readonly answer: Answer
  readonly change?: () => void
}

interface Pair {
  readonly accessEnds: number
  readonly refreshEnds: number
  readonly scopes: readonly Scope[]
  /** When it was first refreshed. */
  refreshedAt?: number
  accessRevoked: boolean
  /** Whether a write after its grace took it out of the record, its digest kept for a while. */
  retired: boolean
}

const PAIRS_IN_GRACE = 32
const RETIRED_KEPT = 64

/** What is sent beside a code. */
export type Sent = 'right' | 'wrong' | 'none'

/** A grant in the model. */
export interface Lifecycle {
  /** When an access token works until, if it works. */
  readonly access: (
    number: number,
    now: number,
  ) => { readonly until: number; readonly scopes: readonly Scope[] } | undefined
  /** The form of the consent is sent, with `refuse` or with a way to agree: the first decision counts. */
  readonly decide: (now: number, decision: string) => Ruling
  readonly exchange: (now: number, shown: Shown, byOwner: boolean, redirectUri: Sent, verifier: Sent) => Ruling
  readonly refresh: (now: number, shown: Shown, byOwner: boolean, wish: readonly Scope[] | undefined) => Ruling
  readonly revoke: (now: number, shown: Shown, byOwner: boolean) => Ruling
  /** When something that still works ends by itself, and what; none of a revoked grant. */
  readonly ends: (now: number) => readonly { readonly at: number; readonly what: string }[]
}

/**
 * A grant in the model.
 * @param issuedAt - when its code was issued; undefined where nobody has decided on its form
 * @param formExpiresAt - when the form can no more be decided on, exclusive; never by default
 */
export function lifecycle(
  terms: Terms,
  granted: readonly Scope[],
  challenged: boolean,
  issuedAt: number | undefined,
  formExpiresAt: number = Number.POSITIVE_INFINITY,
): Lifecycle {
  const code = { ends: (issuedAt ?? 0) + terms.codeLifetime, used: false }
  let decided = issuedAt === undefined ? undefined : 'agree'
  const pairs: Pair[] = []
  /** In the order in which they were taken out. */
  const retired: Pair[] = []
  let revoked = false

  const graceEnd = (pair: Pair): number => (pair.refreshedAt ?? Number.POSITIVE_INFINITY) + terms.gracePeriod

  /** The exclusive end of a token: `now < min(own expiry, t + grace)`. */
  const endOf = (pair: Pair, token: 'access' | 'refresh'): number =>
    Math.min(token === 'access' ? pair.accessEnds : pair.refreshEnds, graceEnd(pair))

  /** Every write takes out the pairs whose grace is over. */
  const clear = (now: number): void => {
    for (const pair of pairs) {
      if (pair.retired || now < graceEnd(pair)) continue
      pair.retired = true
      retired.push(pair)
    }
  }

  const revokeAll = (): void => {
    revoked = true
  }

  const pairOf = (shown: Shown, token: 'access' | 'refresh'): Pair | undefined =>
    shown.what === token ? pairs[shown.pair] : undefined

  const covered = (scope: Scope): boolean =>
    granted.includes(scope) || granted.some((one) => one === scope.replace(/:r$/, ':rw'))

  const add = (now: number, scopes: readonly Scope[]): void => {
    pairs.push({
      accessEnds: now + terms.accessTokenLifetime,
      refreshEnds: now + terms.refreshTokenLifetime,
      scopes,
      accessRevoked: false,
      retired: false,
    })
  }

  const tokens = (number: number, now: number, scopes: readonly Scope[]): Answer => {
    const pair = pairs[number]
    const ends = pair === undefined ? now + terms.accessTokenLifetime : endOf(pair, 'access')
    return { says: 'tokens', pair: number, expiresIn: Math.max(0, ends - now), scopes }
  }

  const invalidGrant: Ruling = { answer: { says: 'invalid_grant' } }

  return {
    access: (number, now) => {
      const pair = pairs[number]
      if (revoked || pair === undefined || pair.retired || pair.accessRevoked) return undefined
      const until = endOf(pair, 'access')
      return now < until ? { until, scopes: pair.scopes } : undefined
    },

    decide: (now, decision) => {
      const answer = { says: decision === 'refuse' ? 'denied' : 'code' } as const
      if (decided === undefined) {
        if (now >= formExpiresAt) return invalidGrant
        return {
          answer,
          change: () => {
            decided = decision
            code.ends = now + terms.codeLifetime
          },
        }
      }
      if (decision !== decided) return invalidGrant
      return decision === 'refuse' || (!revoked && !code.used && now < code.ends) ? { answer } : invalidGrant
    },

    exchange: (now, shown, byOwner, redirectUri, verifier) => {
      if (shown.what !== 'code' || !byOwner || revoked || decided === undefined) return invalidGrant
      const proven = challenged ? verifier === 'right' : verifier === 'none'
      if (redirectUri === 'wrong' || !proven) return invalidGrant
      if (code.used) return { ...invalidGrant, change: revokeAll }
      if (now >= code.ends) return invalidGrant
      return {
        answer: tokens(0, now, granted),
        change: () => {
          code.used = true
          add(now, granted)
        },
      }
    },

    refresh: (now, shown, byOwner, wish) => {
      const pair = pairOf(shown, 'refresh')
      if (pair === undefined || !byOwner || revoked) return invalidGrant
      const number = pairs.indexOf(pair)
      if (now >= graceEnd(pair) || pair.retired) {
        if (pair.retired && !retired.slice(-RETIRED_KEPT).includes(pair)) return invalidGrant
        // A replay is refused for good: also where it revokes nothing, no clock that steps back undoes it.
        if (terms.refreshReplay === 'revoke') return { ...invalidGrant, change: revokeAll }
        return pairs.some((one) => !one.retired && now >= graceEnd(one))
          ? { ...invalidGrant, change: () => clear(now) }
          : invalidGrant
      }
      if (now >= pair.refreshEnds) return invalidGrant
      if (wish?.some((scope) => !covered(scope)) === true) return { answer: { says: 'invalid_scope' } }
      if (pair.refreshedAt !== undefined) {
        const successor = pairs[number + 1]
        if (successor === undefined) throw new Error('a refreshed pair without a successor')
        // A successor whose own grace ended before its predecessor's, since a clock stepped back, is no answer any more.
        const gone = successor.retired || now >= endOf(successor, 'refresh')
        if (gone || successor.accessRevoked) return invalidGrant
        return { answer: tokens(number + 1, now, successor.scopes) }
      }
      const inGrace = pairs.filter((one) => !one.retired && one.refreshedAt !== undefined && now < graceEnd(one))
      if (inGrace.length >= PAIRS_IN_GRACE)
        return { answer: { says: 'too many', retryAfter: Math.min(...inGrace.map(graceEnd)) - now } }
      const scopes = wish ?? granted
      return {
        answer: tokens(pairs.length, now, scopes),
        change: () => {
          clear(now)
          pair.refreshedAt = now
          add(now, scopes)
        },
      }
    },

    revoke: (now, shown, byOwner) => {
      const unchanged: Ruling = { answer: { says: 'unchanged' } }
      if (shown.what !== 'access' && shown.what !== 'refresh') return unchanged
      const pair = pairOf(shown, shown.what)
      if (pair === undefined || !byOwner || revoked || pair.retired || now >= endOf(pair, shown.what)) return unchanged
      if (shown.what === 'refresh') return { answer: { says: 'revoked' }, change: revokeAll }
      if (pair.accessRevoked) return unchanged
      return {
        answer: { says: 'revoked' },
        change: () => {
          clear(now)
          pair.accessRevoked = true
        },
      }
    },

    ends: (now) => {
      if (revoked) return []
      const codeEnd = code.used || decided === undefined ? [] : [{ at: code.ends, what: 'the code expires' }]
      // Past the grace period nothing of a pair is left that could end.
      const pairEnds = pairs.flatMap((pair, number) =>
        [
          { at: graceEnd(pair), what: `the grace period of pair ${number + 1} is over` },
          { at: pair.accessEnds, what: `access token ${number + 1} expires` },
          { at: pair.refreshEnds, what: `refresh token ${number + 1} expires` },
        ].filter(({ at }) => at <= graceEnd(pair)),
      )
      return [...codeEnd, ...pairEnds].filter(({ at }) => at > now && at < Number.POSITIVE_INFINITY)
    },
  }
}

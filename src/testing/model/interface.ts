/**
 * The words of the model: what is shown to it, what it answers, and what it can be asked.
 * @module
 */
import type { Scope } from '../../core/scopes.js'

/** The settings that the model knows, in seconds. */
export interface Terms {
  /** Seconds for which a code can be exchanged. */
  readonly codeLifetime: number
  /** Seconds for which an access token works. */
  readonly accessTokenLifetime: number
  /** Seconds for which a refresh token works. */
  readonly refreshTokenLifetime: number
  /** Seconds for which a pair works on after its refresh. */
  readonly gracePeriod: number
  /** The consequence of a refresh token that comes back after its grace. */
  readonly refreshReplay: 'revoke' | 'refuse'
}

/** A credential that somebody shows: a token of a pair, the code, or something that this grant never gave. */
export type Shown =
  | { readonly what: 'code' | 'unknown' }
  | { readonly what: 'access' | 'refresh'; readonly pair: number }

/** An answer; `pair` is the number of an old pair, or the next number for a new one. */
export type Answer =
  | { readonly says: 'tokens'; readonly pair: number; readonly expiresIn: number; readonly scopes: readonly Scope[] }
  | {
      readonly says:
        | 'code'
        | 'denied'
        | 'invalid_client'
        | 'invalid_grant'
        | 'invalid_scope'
        | 'invalid_target'
        | 'revoked'
        | 'unchanged'
    }
  | { readonly says: 'too many'; readonly retryAfter: number }

/** An answer, and the change of the grant, where there is one. */
export interface Ruling {
  readonly answer: Answer
  readonly change?: () => void
}

/** A parameter that is sent beside a code. */
export type Sent = 'right' | 'wrong' | 'none'

/** The use that an access token has. */
export interface Access {
  readonly until: number
  readonly scopes: readonly Scope[]
  /** The protected resources that it works at, and nowhere else; undefined for the service itself. */
  readonly audience: readonly string[] | undefined
}

/** A grant in the model. */
export interface Lifecycle {
  /** Returns the time until which an access token works, exclusive, if it works, and what for. */
  readonly access: (number: number, now: number) => Access | undefined
  /** Decides on the form of the consent, with `refuse` or with a way to agree: the first decision counts. */
  readonly decide: (now: number, decision: string) => Ruling
  readonly exchange: (
    now: number,
    shown: Shown,
    byOwner: boolean,
    redirectUri: Sent,
    verifier: Sent,
    audience?: readonly string[],
  ) => Ruling
  readonly refresh: (
    now: number,
    shown: Shown,
    byOwner: boolean,
    wish: readonly Scope[] | undefined,
    audience?: readonly string[],
  ) => Ruling
  readonly revoke: (now: number, shown: Shown, byOwner: boolean) => Ruling
  /** Lists the times at which something that still works ends by itself; none for a revoked grant. */
  readonly ends: (now: number) => readonly { readonly at: number; readonly what: string }[]
}

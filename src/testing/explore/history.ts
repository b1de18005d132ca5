/**
 * The record of a history: each request with its times, its answer, and its writes.
 * @module
 */
import type { Scope } from '../../core/scopes.js'
import type { Seconds } from '../../core/values.js'
import type { JsonValue } from '../../storage/record-store.js'
import type { Terms } from '../model.js'
import type { Choice, Ending, Fate } from './schedule.js'

/** The kind of a request, from a client, an API or a user's browser. */
export type OperationKind = 'decide' | 'exchange' | 'refresh' | 'revoke' | 'validate' | 'introspect'

/** A pair as a client receives it. */
export interface ReceivedPair {
  /** The access token. */
  readonly accessToken: string
  /** The refresh token. */
  readonly refreshToken: string
}

/** The answer to a client, the host of the API, or a user's browser. */
export type CallAnswer =
  /** The browser is sent to the application with a code. */
  | { readonly says: 'code'; readonly code: string }
  /** The browser is sent to the application, which is told that the user refused. */
  | { readonly says: 'denied' }
  | ({ readonly says: 'tokens'; readonly expiresIn: Seconds; readonly scope: string } & ReceivedPair)
  /** The guard lets the token through. */
  | { readonly says: 'active'; readonly until: Seconds; readonly scope: string }
  /** 200 of the revocation endpoint, whatever there was to revoke. */
  | { readonly says: 'done' }
  | { readonly says: 'refused'; readonly status: number; readonly error: string }

/** One request at a server. */
export interface Operation {
  /** The place of the request that sent it, from 0. Or `before` the requests, a `retry` after them, a `probe` of what works. */
  readonly by: number | 'before' | 'retry' | 'probe'
  readonly does: OperationKind
  /** The code or the token that it shows, or the decision on the form. */
  readonly shows: string
  /** The protected resource that a refresh is for, or at which an access token is shown; undefined for none. */
  readonly resource: string | undefined
  /** The events of its first step and of its answer, counted over the history; absent before they happen. */
  begin?: number
  end?: number
  told?: CallAnswer
  /** Every time that the clock showed between the two. */
  readonly nows: Seconds[]
  readonly faults: Fate[]
  /** The events of its writes to the store, but for those that the store refused. */
  readonly wrote: number[]
}

/** One line of a story. */
export interface Line {
  readonly actor: number
  readonly text: string
  /** A remark on what a reader should look at. */
  readonly note?: string
}

/** Everything about one history. */
export interface History {
  readonly terms: Terms
  readonly scopes: readonly Scope[]
  /** The protected resources that the grant is for; undefined for none. */
  readonly audience: readonly string[] | undefined
  /** The time at which the code was issued; absent where the grant begins with the form of a consent. */
  readonly issuedAt: Seconds | undefined
  /** The time at which the form of the consent expires, exclusive; absent where the grant begins with more. */
  readonly formExpiresAt: Seconds | undefined
  /** The time at which the requests began. */
  readonly startedAt: Seconds
  readonly choices: readonly Choice[]
  readonly ending: Ending
  readonly lines: readonly Line[]
  /** In the order in which they were sent: before, during and after the requests that ran at once. */
  readonly operations: readonly Operation[]
  /** The record of the grant, once every request was over. */
  readonly record: JsonValue | undefined
  /** Empty as long as there is none. */
  readonly code: string
  /** Every pair that anybody received, in the order in which they did. */
  readonly pairs: readonly ReceivedPair[]
  /** The error of one of the user's own requests. */
  readonly thrown?: unknown
}

/** Returns true if an operation was answered by more than "try again". */
export function isAnswered({ told }: Operation): boolean {
  return told !== undefined && !isUnavailable(told)
}

/** Returns true if an answer is the 503 of a store that fails. */
export function isUnavailable(told: CallAnswer | undefined): boolean {
  return told?.says === 'refused' && told.status === 503
}

/** Returns true if a code or tokens were handed out, or let through. */
export function isGranted({ told }: Operation): boolean {
  return told?.says === 'tokens' || told?.says === 'active' || told?.says === 'code'
}

/** Returns true if an operation asks whether an access token works. */
export function isCheck(does: OperationKind): does is 'validate' | 'introspect' {
  return does === 'validate' || does === 'introspect'
}

/** Returns true if one operation was over before another one began. */
export function isBefore(first: Operation, second: Operation): boolean {
  return first.end !== undefined && second.begin !== undefined && first.end < second.begin
}

/** Counts the faults among choices. */
export function faultsIn(choices: readonly Choice[]): number {
  return choices.filter(({ fate }) => fate !== 'happens').length
}

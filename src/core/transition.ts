/**
 * Every rule of a grant as one total, pure function: what a command does to it, what it answers, what happened.
 * @module
 */
import type { Approve, Exchange, IssuedCode } from './exchange.js'
import { approve, exchange } from './exchange.js'
import type { Grant, GrantRules, IssuedTokens, Outcome } from './grant.js'
import type { Refresh } from './refresh.js'
import { refresh } from './refresh.js'
import type { Revocation, Revoke } from './revoke.js'
import { revoke } from './revoke.js'
import type { Seconds } from './values.js'

/** What can be asked of a grant. */
export type Command = Approve | Exchange | Refresh | Revoke

/** What each command is answered with, where it is not an error. */
export interface Replies {
  readonly approve: IssuedCode
  readonly exchange: IssuedTokens
  readonly refresh: IssuedTokens
  readonly revoke: Revocation
}

/** How many bytes of entropy every transition is given. */
export const ENTROPY_BYTES = 64

/**
 * Applies a command to a grant.
 * @param grant - the record as it was read; undefined where there is none
 * @param now - seconds since the epoch
 * @param entropy - {@link ENTROPY_BYTES} random bytes, fresh for every attempt
 * @returns the answer, the grant to write (absent where nothing changes), and the events: never throws for anything that
 * a peer can send
 * @throws TypeError for less entropy, which would make secrets that can be guessed
 */
export function transition<Asked extends Command>(
  grant: Grant | undefined,
  command: Asked,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): Outcome<Replies[Asked['type']]>
export function transition(
  grant: Grant | undefined,
  command: Command,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): Outcome<Replies[Command['type']]> {
  if (entropy.length < ENTROPY_BYTES) throw new TypeError(`grantwell: entropy must have ${ENTROPY_BYTES} bytes`)
  switch (command.type) {
    case 'approve':
      return approve(grant, command, now, entropy, rules)
    case 'exchange':
      return exchange(grant, command, now, entropy, rules)
    case 'refresh':
      return refresh(grant, command, now, entropy, rules)
    case 'revoke':
      return revoke(grant, command, now, rules)
  }
}

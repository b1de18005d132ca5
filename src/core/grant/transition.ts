/**
 * Every rule of a grant as one total, pure function: what a command does to it, what it answers, what happened.
 * @module
 */

import type { Seconds } from '../values.js'
import type { ApproveCommand, IssuedCode } from './approve.js'
import { approve } from './approve.js'
import type { DecideCommand, Decided, IssuedDeviceCode, PollCommand, RequestDeviceCommand } from './device.js'
import { decide, poll, requestDevice } from './device.js'
import type { ExchangeCommand } from './exchange.js'
import { exchange } from './exchange.js'
import type { DeviceAuthorization, Grant, GrantRecord } from './grant.js'
import { isGrant } from './grant.js'
import type { GrantOutcome } from './outcome.js'
import type { IssuedTokens } from './pair.js'
import type { RefreshCommand } from './refresh.js'
import { refresh } from './refresh.js'
import type { Revocation, RevokeCommand, WithdrawCommand } from './revoke.js'
import { revoke, withdraw } from './revoke.js'
import type { GrantRules } from './rules.js'

/** What can be asked of a grant, or of the device that waits to have one. */
export type GrantCommand =
  | ApproveCommand
  | ExchangeCommand
  | RefreshCommand
  | RevokeCommand
  | WithdrawCommand
  | RequestDeviceCommand
  | DecideCommand
  | PollCommand

/** What each command is answered with, where it is not an error. */
export interface GrantReplies {
  readonly approve: IssuedCode
  readonly exchange: IssuedTokens
  readonly refresh: IssuedTokens
  readonly revoke: Revocation
  readonly withdraw: Revocation
  readonly request_device: IssuedDeviceCode
  readonly decide: Decided
  readonly poll: IssuedTokens
}

/** What each command may leave in the store. */
export interface GrantWrites {
  readonly approve: Grant
  readonly exchange: Grant
  readonly refresh: Grant
  readonly revoke: Grant
  readonly withdraw: Grant
  readonly request_device: DeviceAuthorization
  readonly decide: Grant
  readonly poll: GrantRecord
}

/** How many bytes of entropy every transition is given. */
export const ENTROPY_BYTES = 64

/**
 * Applies a command to a grant.
 * @param record - as it was read; undefined where there is none
 * @param now - seconds since the epoch
 * @param entropy - {@link ENTROPY_BYTES} random bytes, fresh for every attempt
 * @returns the answer, the grant to write (absent where nothing changes), and the events: never throws for anything that
 * a peer can send
 * @throws TypeError for less entropy, which would make secrets that can be guessed
 */
export function transition<Asked extends GrantCommand>(
  record: GrantRecord | undefined,
  command: Asked,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): GrantOutcome<GrantReplies[Asked['type']], GrantWrites[Asked['type']]>
export function transition(
  record: GrantRecord | undefined,
  command: GrantCommand,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): GrantOutcome<GrantReplies[GrantCommand['type']], GrantRecord> {
  if (entropy.length < ENTROPY_BYTES) throw new TypeError(`grantwell: entropy must have ${ENTROPY_BYTES} bytes`)
  // A device that waits has no token and no code to exchange.
  const grant = isGrant(record) ? record : undefined
  switch (command.type) {
    case 'approve':
      return approve(record, command, now, entropy, rules)
    case 'exchange':
      return exchange(grant, command, now, entropy, rules)
    case 'refresh':
      return refresh(grant, command, now, entropy, rules)
    case 'revoke':
      return revoke(grant, command, now, rules)
    case 'withdraw':
      return withdraw(grant, command, now)
    case 'request_device':
      return requestDevice(record, command, now, entropy, rules)
    case 'decide':
      return decide(record, command, now)
    case 'poll':
      return poll(record, command, now, entropy, rules)
  }
}

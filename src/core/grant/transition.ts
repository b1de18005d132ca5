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
import { ENTROPY_BYTES } from './rules.js'

/** A command to a grant, or to the device that waits to have one. */
export type GrantCommand =
  | ApproveCommand
  | ExchangeCommand
  | RefreshCommand
  | RevokeCommand
  | WithdrawCommand
  | RequestDeviceCommand
  | DecideCommand
  | PollCommand

/** The reply to each command, where it is not an error. */
export interface GrantReplies {
  /** The reply to a user who agrees. */
  readonly approve: IssuedCode
  /** The reply to the exchange of a code. */
  readonly exchange: IssuedTokens
  /** The reply to a refresh. */
  readonly refresh: IssuedTokens
  /** The reply to a revocation by the client. */
  readonly revoke: Revocation
  /** The reply to the end of a grant by somebody else. */
  readonly withdraw: Revocation
  /** The reply to the request of a device. */
  readonly request_device: IssuedDeviceCode
  /** The reply to the decision on a device. */
  readonly decide: Decided
  /** The reply to the poll of a device. */
  readonly poll: IssuedTokens
}

/** The record that each command may leave in the store. */
export interface GrantWrites {
  /** The record after a user who agrees. */
  readonly approve: Grant
  /** The record after the exchange of a code. */
  readonly exchange: Grant
  /** The record after a refresh. */
  readonly refresh: Grant
  /** The record after a revocation by the client. */
  readonly revoke: Grant
  /** The record after the end of a grant by somebody else. */
  readonly withdraw: Grant
  /** The record after the request of a device. */
  readonly request_device: DeviceAuthorization
  /** The record after the decision on a device. */
  readonly decide: Grant
  /** The record after the poll of a device. */
  readonly poll: GrantRecord
}

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

/**
 * The device flow: a device asks, its user decides on another screen, and the device, which polls meanwhile, gets tokens
 * once.
 *
 * It is all in the one record that becomes the grant, so whatever races, one decision counts and one poll redeems.
 * @module
 * @see Specification, section 4.5; RFC 8628
 */

import type { OAuthError } from '../errors.js'
import { oauthError } from '../errors.js'
import type { Resources } from '../resource.js'
import type { Scope } from '../scopes.js'
import { constantTimeEqual } from '../tokens/base64url.js'
import type { Credential } from '../tokens/credential.js'
import { printCredential, secretOf } from '../tokens/credential.js'
import { digestOf } from '../tokens/digests.js'
import type { ClientId, ClientKey, GrantId, Seconds, Subject } from '../values.js'
import { pairOf, refused, secretsOf, tokensOf } from './exchange.js'
import type { DeviceAuthorization, DeviceCode, Grant, GrantRecord, GrantRules, IssuedTokens, Outcome } from './grant.js'
import { about, isGrant } from './grant.js'

/** A device's request for a permission. */
export interface RequestDevice {
  readonly type: 'request_device'
  readonly grantId: GrantId
  readonly clientId: ClientId
  readonly clientKey: ClientKey
  readonly scopes: readonly Scope[]
}

/** The answer to {@link RequestDevice}. */
export interface IssuedDeviceCode {
  readonly type: 'device_code'
  readonly deviceCode: string
  /** Seconds. */
  readonly expiresIn: Seconds
  /** Seconds between two polls. */
  readonly interval: Seconds
}

/** A user's answer to a device. */
export interface Decide {
  readonly type: 'decide'
  readonly decision: 'agree' | 'refuse'
  readonly subject: Subject
  /** What the user was shown. */
  readonly scopes: readonly Scope[]
  readonly resources: Resources
}

/** The answer to {@link Decide}. */
export interface Decided {
  readonly type: 'decided'
}

/** A device's question whether its user has decided. */
export interface Poll {
  readonly type: 'poll'
  readonly credential: Credential
  /** The client that authenticated. */
  readonly clientId: ClientId
  /** The type of the access token that it gets; `bearer` where it is absent (specification, section 5.2). */
  readonly tokenType?: 'mac' | undefined
}

/** Seconds by which the interval grows when a poll comes too soon (RFC 8628, section 3.5). */
const SLOW_DOWN_SECONDS = 5

/** How often in a row a device must have grown slower to be believed. */
const OBEYED = 2

/** Seconds for which a poll that comes too late is told so; after them the code is unknown. */
const LATE_POLL_SECONDS = 300

/**
 * Issues a device code.
 * @param record - must be absent: the identifier is random
 * @param entropy - 32 bytes
 * @see RFC 8628, section 3.2
 */
export function requestDevice(
  record: GrantRecord | undefined,
  command: RequestDevice,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): Outcome<IssuedDeviceCode, DeviceAuthorization> {
  if (record !== undefined) return refused('credential_unknown')
  const { grantId, clientId, clientKey, scopes } = command
  const { deviceCodeLifetime: expiresIn, devicePollingInterval: interval, digests } = rules
  const secret = secretOf(grantId, entropy)
  const expiresAt = now + expiresIn
  return {
    reply: {
      type: 'device_code',
      deviceCode: printCredential({ kind: 'device_code', clientKey, grantId, secret }),
      expiresIn,
      interval,
    },
    grant: {
      v: 1,
      id: grantId,
      clientId,
      scopes,
      createdAt: now,
      keepUntil: expiresAt + LATE_POLL_SECONDS,
      code: { digest: digestOf(digests, secret), expiresAt, interval },
    },
    events: [{ type: 'device_requested', at: now, grantId, clientId, scopes }],
  }
}

/**
 * Takes the user's decision: the first one counts. A refusal is kept as a grant that was ended before it began.
 * @see RFC 8628, section 3.3
 */
export function decide(record: GrantRecord | undefined, command: Decide, now: Seconds): Outcome<Decided> {
  if (record === undefined || isGrant(record) || now >= record.code.expiresAt) {
    return { reply: userCodeUnknown(), events: [] }
  }
  const { decision, subject, scopes, resources } = command
  const { v, id, clientId, keepUntil, code } = record
  const grant: Grant = {
    v,
    id,
    clientId,
    subject,
    scopes,
    resources,
    createdAt: now,
    keepUntil,
    code,
    pairs: [],
    retired: [],
    ...(decision === 'refuse' && { revokedAt: now }),
  }
  const event =
    decision === 'agree' ? ({ type: 'issued', scopes, resources } as const) : ({ type: 'device_refused' } as const)
  return { reply: { type: 'decided' }, grant, events: [{ ...event, ...about(grant, now) }] }
}

/**
 * Answers a poll: with tokens once, after the user agreed and not before the interval is over.
 *
 * A code that was redeemed is refused and revokes nothing: a device polls again whenever an answer takes long.
 * @param entropy - 64 bytes
 * @see RFC 8628, sections 3.4 and 3.5
 */
export function poll(
  record: GrantRecord | undefined,
  command: Poll,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): Outcome<IssuedTokens, GrantRecord> {
  const { credential } = command
  const digest = digestOf(rules.digests, credential.secret)
  if (record === undefined || credential.kind !== 'device_code' || !constantTimeEqual(record.code.digest, digest))
    return refused('credential_unknown')
  const { code } = record
  if (code.redirectUri !== undefined) return refused('credential_unknown')
  if (record.clientId !== command.clientId) return refused('credential_of_another_client')
  if (code.usedAt !== undefined) return refused('credential_replayed')
  if (isGrant(record) && record.revokedAt !== undefined) {
    return { reply: pollError('access_denied', 'consent_refused', 'The request was refused.'), events: [] }
  }
  if (now >= code.expiresAt) {
    return { reply: pollError('expired_token', 'credential_expired', 'The device code expired.'), events: [] }
  }
  if (code.polledAt !== undefined && now < code.polledAt + code.interval) {
    const slower = slowedDown(code, Math.max(0, now - code.polledAt), now)
    const description = `Polled too soon: wait ${slower.interval} seconds between two requests.`
    return {
      reply: pollError('slow_down', 'polled_too_soon', description),
      grant: { ...record, code: slower },
      events: [],
    }
  }
  if (!isGrant(record)) {
    return {
      reply: pollError('authorization_pending', 'decision_pending', 'The user has not decided yet.'),
      grant: { ...record, code: polled(code, now) },
      events: [],
    }
  }
  const secrets = secretsOf(credential.grantId, entropy)
  const pair = pairOf(secrets, record.scopes, command.tokenType, now, rules)
  return {
    reply: tokensOf(credential, secrets, pair, now, rules),
    grant: { lastUsedAt: now, ...record, code: { usedAt: now, ...code }, pairs: [pair] },
    events: [{ type: 'exchanged', scopes: record.scopes, ...about(record, now) }],
  }
}

/** The code after a poll that came in time. */
function polled({ digest, expiresAt, interval, tooSoon }: DeviceCode, now: Seconds): DeviceCode {
  const code = { digest, expiresAt, interval, polledAt: now }
  return tooSoon === undefined ? code : { tooSoon, ...code }
}

/**
 * The code after a poll that came too soon: the interval grows. Only where the device has grown slower by as much time and
 * again, it stays: the device obeys, and an answer that it never got has left it behind, where it could obey for ever.
 */
function slowedDown(code: DeviceCode, waited: Seconds, now: Seconds): DeviceCode {
  const { tooSoon } = code
  const slower = tooSoon !== undefined && waited >= tooSoon.waited + SLOW_DOWN_SECONDS ? tooSoon.slower + 1 : 0
  const interval = slower < OBEYED ? code.interval + SLOW_DOWN_SECONDS : code.interval
  return { digest: code.digest, expiresAt: code.expiresAt, interval, polledAt: now, tooSoon: { waited, slower } }
}

/** A user code that nobody may decide on: unknown, used, refused or expired, which is told apart to nobody. */
export function userCodeUnknown(): OAuthError {
  return oauthError('invalid_request', 'user_code_unknown', 'The code is unknown, was used before, or expired.')
}

/** An answer of the token endpoint, so always a 400 (RFC 6749, section 5.2). */
function pollError(...[code, reason, description]: Parameters<typeof oauthError>): OAuthError {
  return oauthError(code, reason, description, { status: 400 })
}

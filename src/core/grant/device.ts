/**
 * The device flow: a device asks, its user decides on another screen, and the device, which polls meanwhile, gets tokens
 * once.
 *
 * It is all in the one record that becomes the grant, so whatever races, one decision counts and one poll redeems.
 * @module
 * @see Specification, section 4.5; RFC 8628
 */

import type { RegistrationDetails } from '../application/registration.js'
import type { Audience } from '../audiences/audience.js'
import { audienceOf, coversAudience } from '../audiences/audience.js'
import { audienceTooWide } from '../audiences/errors.js'
import { constantTimeEqual } from '../credentials/base64url.js'
import type { Credential } from '../credentials/credential.js'
import { printCredential, secretFrom } from '../credentials/credential.js'
import { digestOf } from '../credentials/digests.js'
import type { OAuthError, OAuthErrorCode, RefusalReason } from '../errors.js'
import { oauthError } from '../errors.js'
import type { Resources } from '../resource.js'
import type { Scope } from '../scopes.js'
import type { ClientId, ClientKey, GrantId, Seconds, Subject } from '../values.js'
import type { DeviceAuthorization, DeviceCode, Grant, GrantRecord } from './grant.js'
import { isGrant } from './grant.js'
import type { GrantOutcome } from './outcome.js'
import { about, issuedEvent, refused, withoutChange } from './outcome.js'
import type { IssuedTokens } from './pair.js'
import { createPair, createSecrets, issuedTokens, redeemed, scopesNow, withoutScopes } from './pair.js'
import type { GrantRules } from './rules.js'

/** Returns the error for an application that may not use the device flow; undefined for one that may (RFC 6749, section 5.2). */
export function deviceFlowFault({ deviceFlow }: Pick<RegistrationDetails, 'deviceFlow'>): OAuthError | undefined {
  const description = 'The application is not registered for the device flow.'
  return deviceFlow ? undefined : oauthError('unauthorized_client', 'grant_type_not_registered', description)
}

/** A device's request for a permission. */
export interface RequestDeviceCommand {
  /** The name of the command. */
  readonly type: 'request_device'
  /** The identifier of the grant that it may become: random. */
  readonly grantId: GrantId
  /** The client that authenticated. */
  readonly clientId: ClientId
  /** The key of the client's application. */
  readonly clientKey: ClientKey
  /** The scopes that the device asks for, in normal form. */
  readonly scopes: readonly Scope[]
  /** The protected resources that the device asks for; absent where it named none. */
  readonly audience?: Audience
}

/** The answer to {@link RequestDeviceCommand}. */
export interface IssuedDeviceCode {
  /** The kind of the reply. */
  readonly type: 'device_code'
  /** The code that the device polls with. */
  readonly deviceCode: string
  /** Seconds. */
  readonly expiresIn: Seconds
  /** Seconds between two polls. */
  readonly interval: Seconds
}

/** A user's answer to a device. */
export interface DecideCommand {
  /** The name of the command. */
  readonly type: 'decide'
  /** The decision of the user. */
  readonly decision: 'agree' | 'refuse'
  /** The user who decides. */
  readonly subject: Subject
  /** The scopes that the user was shown. */
  readonly scopes: readonly Scope[]
  /** The resources that the user permits. */
  readonly resources: Resources
}

/** The answer to {@link DecideCommand}. */
export interface Decided {
  /** The kind of the reply. */
  readonly type: 'decided'
}

/** A device's question whether its user has decided. */
export interface PollCommand {
  /** The name of the command. */
  readonly type: 'poll'
  /** The device code that the client presents. */
  readonly credential: Credential
  /** The client that authenticated. */
  readonly clientId: ClientId
  /** The protected resources that the access token is for; absent asks for all that the user permitted. */
  readonly audience?: Audience | undefined
  /** The scopes that the application is registered for now: its tokens have no others. */
  readonly registered: readonly Scope[]
  /** The type of the access token that it gets; `bearer` where it is absent (specification, section 5.2). */
  readonly tokenType?: 'mac' | undefined
}

/** Seconds by which the interval grows when a poll comes too soon (RFC 8628, section 3.5). */
const SLOW_DOWN_SECONDS = 5

/** Polls in a row that must have grown slower for a device to be believed. */
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
  command: RequestDeviceCommand,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): GrantOutcome<IssuedDeviceCode, DeviceAuthorization> {
  if (record !== undefined) return refused('credential_unknown')
  const { grantId, clientId, clientKey, scopes } = command
  const audience = audienceOf(command)
  const asked = audience === undefined ? { scopes } : { scopes, audience }
  const { deviceCodeLifetime: expiresIn, devicePollingInterval: interval, digests } = rules
  const secret = secretFrom(entropy)
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
      ...asked,
      createdAt: now,
      keepUntil: expiresAt + LATE_POLL_SECONDS,
      code: { digest: digestOf(digests, secret), expiresAt, interval },
    },
    events: [{ type: 'device_requested', at: now, grantId, clientId, ...asked }],
  }
}

/**
 * Takes the user's decision: the first one counts. A refusal is kept as a grant that was ended before it began.
 * @see RFC 8628, section 3.3
 */
export function decide(record: GrantRecord | undefined, command: DecideCommand, now: Seconds): GrantOutcome<Decided> {
  if (record === undefined || isGrant(record) || now >= record.code.expiresAt) {
    return { reply: userCodeUnknown(), events: [] }
  }
  const { decision, subject, scopes, resources } = command
  const { v, id, clientId, keepUntil, code } = record
  const audience = audienceOf(record)
  const grant: Grant = {
    v,
    id,
    clientId,
    subject,
    scopes,
    resources,
    ...(audience !== undefined && { audience }),
    createdAt: now,
    keepUntil,
    code,
    pairs: [],
    retired: [],
    ...(decision === 'refuse' && { revokedAt: now }),
  }
  const event =
    decision === 'agree' ? issuedEvent(grant, now) : ({ type: 'device_refused', ...about(grant, now) } as const)
  return { reply: { type: 'decided' }, grant, events: [event] }
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
  command: PollCommand,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): GrantOutcome<IssuedTokens, GrantRecord> {
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
  const [granted, requested] = [audienceOf(record), audienceOf(command)]
  if (!coversAudience(granted, requested)) return withoutChange(audienceTooWide())
  const access = { scopes: record.scopes, audience: requested ?? granted, type: command.tokenType }
  const scopes = scopesNow(access, command.registered, rules)
  if (scopes.length === 0) return withoutScopes(access, command.registered, rules)
  const secrets = createSecrets(entropy)
  const pair = createPair(secrets, access, now, rules)
  return {
    reply: issuedTokens(credential, secrets, pair, scopes, now, rules),
    grant: redeemed(record, { ...code, usedAt: now }, pair, now),
    events: [{ type: 'exchanged', scopes, ...about(record, now) }],
  }
}

/** Returns the code after a poll that came in time. */
function polled({ digest, expiresAt, interval, tooSoon }: DeviceCode, now: Seconds): DeviceCode {
  const code = { digest, expiresAt, interval, polledAt: now }
  return tooSoon === undefined ? code : { ...code, tooSoon }
}

/**
 * Returns the code after a poll that came too soon: the interval grows. Only where the device has grown slower by as much time and
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

/** Makes an error of the token endpoint, so always a 400 (RFC 6749, section 5.2). */
function pollError(code: OAuthErrorCode, reason: RefusalReason, description: string): OAuthError {
  return oauthError(code, reason, description, { status: 400 })
}

/**
 * The agreement of a user: a grant is made, and its code is issued.
 * @module
 * @see Specification, sections 2.2 and 4.1; RFC 6749, section 4.1.2
 */

import type { Audience } from '../audiences/audience.js'
import { audienceOf } from '../audiences/audience.js'
import { constantTimeEqual, decodeBase64url, encodeBase64url } from '../credentials/base64url.js'
import { printCredential, SECRET_BYTES, secretFrom } from '../credentials/credential.js'
import { rulesOfEachKey } from '../credentials/derivation-keys.js'
import { bytesOfAscii, digestOf, hkdf, keyMaterialOf } from '../credentials/digests.js'
import { sameJson } from '../json.js'
import type { Resources } from '../resource.js'
import type { Scope } from '../scopes.js'
import type { ClientId, ClientKey, GrantId, Seconds, Subject } from '../values.js'
import type { Grant, GrantRecord } from './grant.js'
import { CLOCK_SET_BACK, isGrant } from './grant.js'
import type { GrantOutcome } from './outcome.js'
import { issuedEvent, refused } from './outcome.js'
import type { GrantRules } from './rules.js'

/** The command of a user who agrees. */
export interface ApproveCommand {
  /** The name of the command. */
  readonly type: 'approve'
  /** Derived from the consent, so that one consent makes one grant. */
  readonly grantId: GrantId
  /** The client that gets the code. */
  readonly clientId: ClientId
  /** The key of the client's application. */
  readonly clientKey: ClientKey
  /** The user who agrees. */
  readonly subject: Subject
  /** The scopes that the user permits, in normal form. */
  readonly scopes: readonly Scope[]
  /** The resources that the user permits. */
  readonly resources: Resources
  /** The protected resources that the user permits; absent where the request named none. */
  readonly audience?: Audience
  /** The redirect URI of the request, which the code is bound to. */
  readonly redirectUri: string
  /** S256 challenge, where the request had one. */
  readonly codeChallenge?: string | undefined
  /** The time at which the form of the consent expires, exclusive; absent where no form was sent. */
  readonly formExpiresAt?: Seconds
  /** True where nobody was asked, since a consent of before was remembered: for the audit trail. */
  readonly unasked?: true
  /** 32 bytes that the form alone holds: the code is derived from them. Random where no form was sent. */
  readonly formSecret: Uint8Array
}

/** The answer to {@link ApproveCommand}. */
export interface IssuedCode {
  /** The kind of the reply. */
  readonly type: 'code'
  /** The authorization code. */
  readonly code: string
}

/**
 * Issues a code: makes the grant that the user agreed to.
 *
 * The same form with the same decision gets the same code until it is exchanged or expires, since the code is derived
 * from the form's secret and a salt in the grant. Neither of the two yields the code alone.
 * @param record - as it is where the form was sent before
 * @param entropy - 32 bytes
 */
export function approve(
  record: GrantRecord | undefined,
  command: ApproveCommand,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): GrantOutcome<IssuedCode> {
  if (record !== undefined) return isGrant(record) ? approveAgain(record, command, now, rules) : refusedForm()
  const { formExpiresAt } = command
  if (formExpiresAt !== undefined && now >= formExpiresAt) return refusedForm()
  const { grantId, clientId, clientKey, subject, scopes, resources, redirectUri, codeChallenge } = command
  const audience = audienceOf(command)
  const salt = entropy.subarray(0, SECRET_BYTES)
  const secret = deriveCode(command, salt, rules)
  const expiresAt = now + rules.codeLifetime
  const code = { digest: digestOf(rules.digests, secret), redirectUri, expiresAt, salt: encodeBase64url(salt) }
  // Whole literals: spreads of absent fields take several times as long.
  const made = {
    v: 1,
    id: grantId,
    clientId,
    subject,
    scopes,
    resources,
    createdAt: now,
    keepUntil: formExpiresAt === undefined ? expiresAt : Math.max(expiresAt, formExpiresAt + CLOCK_SET_BACK),
    code: codeChallenge === undefined ? code : { codeChallenge, ...code },
    pairs: [],
    retired: [],
  } as const
  const grant: Grant = audience === undefined ? made : { ...made, audience }
  const event = issuedEvent(grant, now)
  return {
    reply: { type: 'code', code: printCredential({ kind: 'code', clientKey, grantId, secret }) },
    grant,
    events: [command.unasked ? { ...event, unasked: true } : event],
  }
}

/** Answers a form that was sent before: with the same code, if the decision is the same and the code is still good. */
function approveAgain(
  grant: Grant,
  command: ApproveCommand,
  now: Seconds,
  rules: GrantRules,
): GrantOutcome<IssuedCode> {
  const { code } = grant
  if (grant.revokedAt !== undefined || code.redirectUri === undefined || code.salt === undefined) return refusedForm()
  if (now >= code.expiresAt || !isSameDecision(grant, command)) return refusedForm()
  const salt = decodeBase64url(code.salt) as Uint8Array // written by approve
  const secret = rulesOfEachKey(rules)
    .map((each) => deriveCode(command, salt, each))
    .find((derived) => constantTimeEqual(code.digest, digestOf(rules.digests, derived)))
  // Another form, or a derivation key that is on no list any more: no code that we could tell would work.
  if (secret === undefined) return refusedForm()
  const { clientKey, grantId } = command
  return {
    reply: { type: 'code', code: printCredential({ kind: 'code', clientKey, grantId, secret }) },
    events: [{ ...issuedEvent(grant, now), retry: true }],
  }
}

/** True if a command asks for the very grant that was made. */
function isSameDecision(grant: Grant, command: ApproveCommand): boolean {
  const decided = (by: Grant | ApproveCommand) => [
    by.clientId,
    by.subject,
    by.scopes,
    by.resources,
    audienceOf(by) ?? null,
  ]
  return (
    sameJson(decided(grant), decided(command)) &&
    grant.code.redirectUri === command.redirectUri &&
    grant.code.codeChallenge === command.codeChallenge
  )
}

function refusedForm(): GrantOutcome<never, never> {
  return refused('consent_invalid')
}

/** Names what is derived: `grantwell code 1` in ASCII. */
const CODE_LABEL = bytesOfAscii('grantwell code 1')

/** Derives the secret of a code (RFC 5869). */
function deriveCode({ formSecret }: ApproveCommand, salt: Uint8Array, rules: GrantRules): string {
  return secretFrom(hkdf(rules.digests, keyMaterialOf(formSecret, rules), salt, CODE_LABEL, SECRET_BYTES))
}

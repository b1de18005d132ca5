/**
 * From consent to the first token pair: a code is issued, and redeemed once.
 * @module
 * @see Specification, sections 2.2, 3 and 4.2; RFC 6749, section 4.1; RFC 7636
 */

import type { RefusalReason } from '../errors.js'
import { sameJson } from '../json.js'
import type { Resources } from '../resource.js'
import type { Scope } from '../scopes.js'
import { constantTimeEqual, decodeBase64url, encodeBase64url } from '../tokens/base64url.js'
import type { Credential } from '../tokens/credential.js'
import { printCredential, SECRET_BYTES, secretOf } from '../tokens/credential.js'
import { bytesOfAscii, concatenate, digestOf, hkdf } from '../tokens/digests.js'
import { macKeyOf } from '../tokens/mac.js'
import type { ClientId, ClientKey, GrantId, Seconds, Subject } from '../values.js'
import type { AuthorizationCode, Grant, GrantRecord, GrantRules, IssuedTokens, Outcome, TokenPair } from './grant.js'
import { about, CLOCK_SET_BACK, invalidGrant, isGrant, tombstone, worksUntil } from './grant.js'

/** A user's agreement: the command that makes a grant. */
export interface Approve {
  readonly type: 'approve'
  /** Derived from the consent, so that one consent makes one grant. */
  readonly grantId: GrantId
  readonly clientId: ClientId
  readonly clientKey: ClientKey
  readonly subject: Subject
  readonly scopes: readonly Scope[]
  readonly resources: Resources
  readonly redirectUri: string
  /** S256 challenge, where the request had one. */
  readonly codeChallenge?: string
  /** The time at which the form of the consent expires, exclusive; absent where no form was sent. */
  readonly formExpiresAt?: Seconds
  /** True where nobody was asked, since a consent of before was remembered: for the audit trail. */
  readonly unasked?: true
  /** 32 bytes that the form alone holds: the code is derived from them. Random where no form was sent. */
  readonly formSecret: Uint8Array
}

/** The answer to {@link Approve}. */
export interface IssuedCode {
  readonly type: 'code'
  readonly code: string
}

/** A client's exchange of its code. */
export interface Exchange {
  readonly type: 'exchange'
  readonly credential: Credential
  /** The client that authenticated. */
  readonly clientId: ClientId
  /** Where it was sent, it must be the one that the code is bound to; where it was not, client and PKCE bind the code (specification, section 4.2). */
  readonly redirectUri?: string | undefined
  readonly codeVerifier?: string | undefined
  /** The type of the access token that it gets; `bearer` where it is absent (specification, section 5.2). */
  readonly tokenType?: 'mac' | undefined
}

/**
 * A verifier: 43 to 128 visible ASCII characters. RFC 7636 (section 4.1) has unreserved ones alone; git-credential-oauth of
 * Debian 12 makes padded base64, and what matters is that it hashes to the challenge.
 */
const VERIFIER = /^[\x21-\x7e]{43,128}$/

/**
 * Issues a code: makes the grant that the user agreed to.
 *
 * The same form with the same decision gets the same code until it is exchanged or expires, since the code is derived
 * from the form's secret and a salt in the grant. Neither of the two yields the code alone.
 * @param grant - as it is where the form was sent before
 * @param entropy - 32 bytes
 */
export function approve(
  grant: GrantRecord | undefined,
  command: Approve,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): Outcome<IssuedCode> {
  if (grant !== undefined) return isGrant(grant) ? approveAgain(grant, command, now, rules) : refusedForm()
  const { formExpiresAt } = command
  if (formExpiresAt !== undefined && now >= formExpiresAt) return refusedForm()
  const { grantId, clientId, clientKey, subject, scopes, resources, redirectUri, codeChallenge } = command
  const salt = entropy.subarray(0, SECRET_BYTES)
  const secret = deriveCode(command, salt, rules)
  const expiresAt = now + rules.codeLifetime
  const made: Grant = {
    v: 1,
    id: grantId,
    clientId,
    subject,
    scopes,
    resources,
    createdAt: now,
    keepUntil: formExpiresAt === undefined ? expiresAt : Math.max(expiresAt, formExpiresAt + CLOCK_SET_BACK),
    code: {
      digest: digestOf(rules.digests, secret),
      redirectUri,
      ...(codeChallenge !== undefined && { codeChallenge }),
      expiresAt,
      salt: encodeBase64url(salt),
    },
    pairs: [],
    retired: [],
  }
  return {
    reply: { type: 'code', code: printCredential({ kind: 'code', clientKey, grantId, secret }) },
    grant: made,
    events: [{ type: 'issued', scopes, resources, ...(command.unasked && { unasked: true }), ...about(made, now) }],
  }
}

/** Answers a form that was sent before: with the same code, if the decision is the same and the code is still good. */
function approveAgain(grant: Grant, command: Approve, now: Seconds, rules: GrantRules): Outcome<IssuedCode> {
  const { code, scopes, resources } = grant
  if (grant.revokedAt !== undefined || code.redirectUri === undefined || code.salt === undefined) return refusedForm()
  if (now >= code.expiresAt || !isSameDecision(grant, command)) return refusedForm()
  const secret = deriveCode(command, decodeBase64url(code.salt) as Uint8Array, rules) // written by approve
  // Another form, or another derivation key than at the first time: the code that follows would not work.
  if (!constantTimeEqual(code.digest, digestOf(rules.digests, secret))) return refusedForm()
  const { clientKey, grantId } = command
  return {
    reply: { type: 'code', code: printCredential({ kind: 'code', clientKey, grantId, secret }) },
    events: [{ type: 'issued', scopes, resources, retry: true, ...about(grant, now) }],
  }
}

/** True if a command asks for the very grant that was made. */
function isSameDecision(grant: Grant, command: Approve): boolean {
  const decided = ({ clientId, subject, scopes, resources }: Grant | Approve) => [clientId, subject, scopes, resources]
  return (
    sameJson(decided(grant), decided(command)) &&
    grant.code.redirectUri === command.redirectUri &&
    grant.code.codeChallenge === command.codeChallenge
  )
}

function refusedForm(): Outcome<never, never> {
  return refused('consent_invalid')
}

/** Names what is derived: `grantwell code 1` in ASCII. */
const CODE_LABEL = bytesOfAscii('grantwell code 1')

/** Derives the secret of a code (RFC 5869). */
function deriveCode({ grantId, formSecret }: Approve, salt: Uint8Array, rules: GrantRules): string {
  return secretOf(grantId, hkdf(rules.digests, keyMaterialOf(formSecret, rules), salt, CODE_LABEL, SECRET_BYTES))
}

/** Returns the bytes that a secret is derived from: those that were presented, and the server's own key where it has one. */
export function keyMaterialOf(presented: Uint8Array, { derivationKey }: GrantRules): Uint8Array {
  return derivationKey === undefined ? presented : concatenate(presented, derivationKey)
}

/**
 * Redeems a code for the first token pair, once. A second redemption by the same client revokes what the first one
 * gave; a client, redirect URI or verifier that does not match changes nothing, the second time either.
 * @param entropy - 64 bytes
 * @see RFC 6749, section 4.1.2; RFC 7636, section 4.6; RFC 9700, section 4.8.2
 */
export function exchange(
  grant: Grant | undefined,
  command: Exchange,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): Outcome<IssuedTokens> {
  const { credential } = command
  const digest = digestOf(rules.digests, credential.secret)
  if (grant === undefined || credential.kind !== 'code' || !constantTimeEqual(grant.code.digest, digest))
    return refused('credential_unknown')
  const { code } = grant
  if (code.redirectUri === undefined) return refused('credential_unknown')
  if (grant.clientId !== command.clientId) return refused('credential_of_another_client')
  if (grant.revokedAt !== undefined) return refused('credential_revoked')
  if (code.usedAt === undefined && now >= code.expiresAt) return refused('credential_expired')
  if (command.redirectUri !== undefined && command.redirectUri !== code.redirectUri)
    return refused('redirect_uri_mismatch')
  if (!verifies(code.codeChallenge, command.codeVerifier, rules)) return refused('pkce_mismatch')
  // Behind the checks above: whoever saw a code, and has no verifier, must not be able to end what became of it.
  if (code.usedAt !== undefined) {
    return {
      reply: invalidGrant('credential_replayed'),
      grant: tombstone(grant, now),
      events: [
        { type: 'replayed', credential: 'code', ...about(grant, now) },
        { type: 'revoked', what: 'grant', cause: 'replay', ...about(grant, now) },
      ],
    }
  }

  const secrets = secretsOf(credential.grantId, entropy)
  const pair = pairOf(secrets, grant.scopes, command.tokenType, now, rules)
  // What is new stands before the spread: behind it, engines make a shape of its own for each grant.
  const exchanged: Grant = { lastUsedAt: now, ...grant, code: usedCode(code, now), pairs: [pair] }
  return {
    reply: tokensOf(credential, secrets, pair, now, rules),
    grant: exchanged,
    events: [{ type: 'exchanged', scopes: grant.scopes, ...about(grant, now) }],
  }
}

/** The code after its exchange, without the salt from which it was derived. */
function usedCode(
  { digest, redirectUri, codeChallenge, expiresAt }: AuthorizationCode,
  usedAt: Seconds,
): AuthorizationCode {
  const used = { digest, redirectUri, expiresAt, usedAt }
  return codeChallenge === undefined ? used : { codeChallenge, ...used }
}

/** The secrets of a pair. */
export interface PairSecrets {
  readonly access: string
  readonly refresh: string
}

/** The secrets that 64 bytes make, the access token's first. */
export function secretsOf(grantId: GrantId, bytes: Uint8Array): PairSecrets {
  return {
    access: secretOf(grantId, bytes, 0),
    refresh: secretOf(grantId, bytes, SECRET_BYTES),
  }
}

/** A pair that has these secrets. */
export function pairOf(
  secrets: PairSecrets,
  scopes: readonly Scope[],
  type: 'mac' | undefined,
  now: Seconds,
  rules: GrantRules,
): TokenPair {
  const access = {
    digest: digestOf(rules.digests, secrets.access),
    expiresAt: now + rules.accessTokenLifetime,
    scopes,
  }
  return {
    access: type === undefined ? access : { type, ...access },
    refresh: {
      digest: digestOf(rules.digests, secrets.refresh),
      expiresAt: now + rules.refreshTokenLifetime,
    },
  }
}

/** The answer that hands out a pair, to be found where the presented credential is. */
export function tokensOf(
  { clientKey, grantId }: Credential,
  secrets: PairSecrets,
  pair: TokenPair,
  now: Seconds,
  rules: GrantRules,
): IssuedTokens {
  const tokens: IssuedTokens = {
    type: 'tokens',
    accessToken: printCredential({ kind: 'access_token', clientKey, grantId, secret: secrets.access }),
    refreshToken: printCredential({ kind: 'refresh_token', clientKey, grantId, secret: secrets.refresh }),
    expiresIn: Math.max(0, worksUntil(pair, 'access') - now),
    scopes: pair.access.scopes,
  }
  if (pair.access.type === undefined) return tokens
  return { macKey: macKeyOf(secrets.access, rules), ...tokens }
}

/** An answer of `invalid_grant` that changes nothing. */
export function refused(reason: RefusalReason): Outcome<never, never> {
  return { reply: invalidGrant(reason), events: [] }
}

/** Whether the verifier is the one of the challenge; without a challenge, whether there is none (a downgrade has one). */
function verifies(challenge: string | undefined, verifier: string | undefined, rules: GrantRules): boolean {
  if (challenge === undefined || verifier === undefined) return challenge === verifier
  return VERIFIER.test(verifier) && constantTimeEqual(challenge, rules.digests.sha256(verifier))
}

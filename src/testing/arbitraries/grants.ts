/**
 * Grants in every state that can be reached: random commands applied by the transitions, while time passes.
 * @module
 */
import * as fc from 'fast-check'
import { grantIdOf } from '../../core/credentials/credential.js'
import { clientKeyOf, portableDigests } from '../../core/credentials/digests.js'
import { configurationError } from '../../core/errors.js'
import type { GrantRecord } from '../../core/grant/grant.js'
import { isGrant } from '../../core/grant/grant.js'
import type { IssuedTokens } from '../../core/grant/pair.js'
import type { GrantRules } from '../../core/grant/rules.js'
import { ENTROPY_BYTES } from '../../core/grant/rules.js'
import { transition } from '../../core/grant/transition.js'
import { inheritedName } from '../../core/options.js'
import { serviceScopes } from '../../core/scopes/service-scopes.js'
import type { Scope } from '../../core/scopes.js'
import { MUST_BE_OWN } from '../../core/takes.js'
import type { Seconds, Subject } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import { CHALLENGE } from '../lifecycle/client.js'
import type { Entropy } from '../seeded-entropy.js'
import { seededEntropy } from '../seeded-entropy.js'
import type { Step, Terms } from './grant-steps.js'
import { commandOf, grantSteps } from './grant-steps.js'
import { usually } from './usually.js'

/** A grant, or a device that waits to have one, with everything that was handed out on the way. */
export interface ReachedGrant {
  /** The record of the grant or the device. */
  readonly record: GrantRecord
  /** The moment at which the grant is as it is, in seconds since the epoch. */
  readonly now: Seconds
  /** The rules by which it got there. */
  readonly rules: GrantRules
  /** The authorization code or device code that was handed out first. */
  readonly code: string
  /** Every token pair, in the order in which they were made. */
  readonly pairs: readonly IssuedTokens[]
  /** All of them: the code and every token, those that no longer work included. */
  readonly credentials: readonly string[]
}

/** The time at which every history begins: 15 January 2027. */
export const START: Seconds = 1_800_000_000

const DEFAULT_RULES: GrantRules = {
  catalogue: serviceScopes(),
  codeLifetime: 600,
  accessTokenLifetime: 28_800,
  refreshTokenLifetime: 15_552_000,
  gracePeriod: 300,
  refreshReplay: 'revoke',
  deviceCodeLifetime: 600,
  devicePollingInterval: 5,
  digests: portableDigests,
}

/** Options of `arbitraries.grant`: the client, the user and the rules. */
export interface GrantOptions {
  /** `web` by default. */
  readonly clientId?: string
  /** `ada` by default. */
  readonly subject?: Subject
  /** The redirect URI that the code is bound to; `https://app.example/callback` by default. */
  readonly redirectUri?: string
  /** Lifetimes and the like; the defaults of `createAuthorizationServer` where nothing is said. */
  readonly rules?: Partial<GrantRules>
}

/** Makes an arbitrary of grants with scopes of another one. */
export function grants(scopes: fc.Arbitrary<readonly Scope[]>, options: GrantOptions): fc.Arbitrary<ReachedGrant> {
  const { subject = 'ada', redirectUri = 'https://app.example/callback' } = options
  const clientId = parseClientId(options.clientId ?? 'web')
  if (clientId === undefined) throw new TypeError('a client identifier has 1 to 255 printable ASCII characters')
  const inherited = inheritedName(options.rules, Object.keys(DEFAULT_RULES))
  if (inherited !== undefined)
    throw configurationError(`arbitraries.grant, rules: the option ${inherited} ${MUST_BE_OWN}`)
  const rules = { ...DEFAULT_RULES, ...options.rules }
  return fc
    .record({
      flow: usually<'code' | 'device'>('code', fc.constant('device'), 2),
      challenged: fc.boolean(),
      scopes,
      seed: fc.nat(),
      steps: grantSteps,
    })
    .map(({ flow, seed, steps, ...asked }) =>
      reach(flow, { ...asked, clientId, subject, redirectUri }, seededEntropy(seed), steps, rules),
    )
}

/** Begins a grant, and applies all steps to it. */
function reach(
  flow: 'code' | 'device',
  terms: Terms,
  entropy: Entropy,
  steps: readonly Step[],
  rules: GrantRules,
): ReachedGrant {
  let now = START
  const begun = begin(flow, terms, entropy, rules)
  const { code } = begun
  let { record } = begun
  const pairs: IssuedTokens[] = []
  for (const step of steps) {
    if (step.do === 'wait') now += step.seconds
    const command = commandOf(step, terms, code, pairs)
    if (command === undefined) continue
    const outcome = transition(record, command, now, entropy(ENTROPY_BYTES), rules)
    record = outcome.grant ?? record
    const answer = outcome.reply
    if (answer.type === 'tokens' && !pairs.some((pair) => pair.accessToken === answer.accessToken)) pairs.push(answer)
  }
  const credentials = [code, ...pairs.flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken])]
  return { record, now, rules, code, pairs, credentials }
}

/** Issues a code, or begins the login of a device. */
function begin(
  flow: 'code' | 'device',
  { clientId, subject, scopes, redirectUri, challenged }: Terms,
  entropy: Entropy,
  rules: GrantRules,
): { readonly record: GrantRecord; readonly code: string } {
  const grantId = grantIdOf(entropy(16))
  const clientKey = clientKeyOf(rules.digests, clientId)
  if (flow === 'device') {
    const request = { type: 'request_device', grantId, clientId, clientKey, scopes } as const
    const { reply, grant } = transition(undefined, request, START, entropy(ENTROPY_BYTES), rules)
    if (grant === undefined || reply.type === 'error') throw new Error('a grant that could not begin')
    return { record: grant, code: reply.deviceCode }
  }
  const approve = {
    type: 'approve',
    grantId,
    clientId,
    clientKey,
    subject,
    scopes,
    resources: { kind: 'all' },
    redirectUri,
    ...(challenged && { codeChallenge: CHALLENGE }),
    formExpiresAt: START + 600,
    formSecret: entropy(32),
  } as const
  const { reply, grant } = transition(undefined, approve, START, entropy(ENTROPY_BYTES), rules)
  if (grant === undefined || reply.type === 'error') throw new Error('a grant that could not begin')
  return { record: grant, code: reply.code }
}

/** Names the state of a grant: to see which states were reached. */
export function stateOf({ record, now }: Pick<ReachedGrant, 'record' | 'now'>): string {
  if (!isGrant(record)) return now < record.code.expiresAt ? 'device waiting' : 'device expired'
  if (record.revokedAt !== undefined) return record.code.usedAt === undefined ? 'refused or withdrawn' : 'revoked'
  if (record.code.usedAt === undefined) return now < record.code.expiresAt ? 'code issued' : 'code expired'
  const inGrace = record.pairs.filter(({ superseded }) => superseded !== undefined && now < superseded.until).length
  return inGrace > 1 ? 'several in grace' : inGrace === 1 ? 'in grace' : 'exchanged'
}

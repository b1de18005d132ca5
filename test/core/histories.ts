/**
 * Grants in every state that can be reached: random commands from everybody, with tokens new and old, while time passes
 * and sometimes steps back. A history is played on the transitions; what was sent, answered and stored is kept.
 * @module
 */

import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import type { ClientId, OAuthError, Scope } from 'grantwell'
import type {
  GrantCommand as AnyCommand,
  Audience,
  Credential,
  CredentialKind,
  DeclaredResources,
  Grant,
  GrantOutcome,
  GrantReplies,
  GrantRules,
  Inspection,
  IssuedTokens,
  ResourceIdentifier,
} from 'grantwell/core'
import { clientKeyOf, inspect, normalizeScopes, parseClientId, parseCredential, transition } from 'grantwell/core'
import { nodeDigests } from 'grantwell/node'
import { grantIdOf, secretFrom } from '../../src/core/credentials/credential.js'
import { serviceScopes } from '../../src/core/scopes/service-scopes.js'
import type { Shown } from '../../src/testing/model.js'

export const START = 1_800_000_000

/** What a grant of the authorization-code flow is asked; devices have a model of their own. */
export type Command = Exclude<AnyCommand, { readonly type: 'request_device' | 'decide' | 'poll' }>

/** Protected resources of a service, which know all its scopes. */
export const RESOURCES = ['https://git.example/mcp', 'https://git.example/api', 'https://ci.example'].map(
  (resource) => resource as ResourceIdentifier, // as the option would have them
)

const AUDIENCES: DeclaredResources = new Map(
  RESOURCES.map((resource) => [
    resource,
    { resource, name: resource, scopes: normalizeScopes(serviceScopes(), [...serviceScopes().entries.keys()]) ?? [] },
  ]),
)

/** The defaults: sections 3 and 8 of the specification. */
export const RULES: GrantRules = {
  catalogue: serviceScopes(),
  audiences: AUDIENCES,
  codeLifetime: 600,
  accessTokenLifetime: 28_800,
  refreshTokenLifetime: 15_552_000,
  gracePeriod: 300,
  refreshReplay: 'revoke',
  deviceCodeLifetime: 600,
  devicePollingInterval: 5,
  digests: nodeDigests,
}

export function clientIdOf(text: string): ClientId {
  const clientId = parseClientId(text)
  if (clientId === undefined) throw new Error(`no client identifier: ${text}`)
  return clientId
}

export const OWNER = clientIdOf('web')
export const OTHER = clientIdOf('other')
export const REDIRECT_URI = 'https://app.example/callback'
export const VERIFIER = 'a-verifier-that-is-long-enough-to-be-one-0123456789'
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')
export const GRANTED: readonly Scope[] = ['repo-code:rw', 'repo-pr:r', 'account-email:rw']

/** What only the form of the consent holds. */
export const FORM_SECRET = new Uint8Array(32).fill(7)

/** What a grant begins with. */
export interface Setup {
  readonly rules: GrantRules
  readonly challenged: boolean
  readonly scopes: readonly Scope[]
  readonly audience?: Audience
}

export const SETUP: Setup = { rules: RULES, challenged: false, scopes: GRANTED }

/** The default terms, in one part changed. */
export function setupWith(rules: Partial<GrantRules>): Setup {
  return { ...SETUP, rules: { ...RULES, ...rules } }
}

/** What is shown: the code or a token, so many pairs back from the newest; perhaps under another prefix than its own. */
export interface Pick {
  readonly what: 'code' | 'access' | 'refresh' | 'unknown'
  readonly back: number
  readonly as?: CredentialKind
}

/** What is sent beside a code. */
export type Sent = 'right' | 'wrong' | 'none'

/** Which form is sent again: the one that made the grant, the same with another decision, or another form. */
export type Form = 'same' | 'decided otherwise' | 'for another audience' | 'another'

/** One thing that happens. */
export type Step =
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'approve'; readonly form: Form }
  | {
      readonly do: 'exchange'
      readonly pick: Pick
      readonly byOwner: boolean
      readonly redirectUri: Sent
      readonly verifier: Sent
      readonly audience?: Audience | undefined
    }
  | {
      readonly do: 'refresh'
      readonly pick: Pick
      readonly byOwner: boolean
      readonly scopes?: readonly Scope[]
      readonly audience?: Audience | undefined
    }
  | { readonly do: 'revoke'; readonly pick: Pick; readonly byOwner: boolean }

/** 64 bytes, the same for the same number, with no pattern that a derivation could reproduce. */
export function entropyOf(number: number): Uint8Array {
  return Uint8Array.from(createHash('sha512').update(`entropy ${number}`).digest())
}

/** The grant that every history is of. */
export const GRANT_ID = grantIdOf(entropyOf(-1).subarray(0, 16))

/** A secret that a credential of this grant could have, the same for the same number. */
export function strangeSecret(number: number): string {
  return secretFrom(entropyOf(number))
}

/** The secret that 32 bytes make; written by another encoder. */
export function secretWith(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}

/** The 32 bytes of a secret; read by another decoder. */
export function bytesOfSecret(secret: string): Buffer {
  return Buffer.from(secret, 'base64url')
}

/** What was sent at a moment, and what came of it. */
export interface Moment<Asked extends Command = Command> {
  readonly command: Asked
  readonly now: number
  readonly entropy: Uint8Array
  readonly before: Grant | undefined
  readonly outcome: GrantOutcome<GrantReplies[Asked['type']]>
}

/** A grant, the clock beside it, and everybody who holds something of it. */
export interface World {
  readonly setup: Setup
  /** May be set: time passes, or the clock steps back. */
  now: number
  grant: Grant | undefined
  readonly moments: readonly Moment[]
  readonly code: string
  /** Every pair that was handed out, in the order in which they were made. */
  readonly pairs: readonly IssuedTokens[]
  /** Applies a command, and stores what comes of it. */
  readonly send: <Asked extends Command>(command: Asked) => Moment<Asked>['outcome']
  /** What a command would be answered, nothing stored. */
  readonly ask: <Asked extends Command>(command: Asked) => Moment<Asked>['outcome']
}

export const approval = (setup: Setup = SETUP): Command & { readonly type: 'approve' } => ({
  type: 'approve',
  grantId: GRANT_ID,
  clientId: OWNER,
  clientKey: clientKeyOf(nodeDigests, OWNER),
  subject: 'ada',
  scopes: setup.scopes,
  resources: { kind: 'all' },
  ...(setup.audience !== undefined && { audience: setup.audience }),
  redirectUri: REDIRECT_URI,
  ...(setup.challenged && { codeChallenge: CHALLENGE }),
  formExpiresAt: START + 300,
  formSecret: FORM_SECRET,
})

/** A grant whose code was just issued. */
export function world(setup: Setup = SETUP): World {
  const moments: Moment[] = []
  const pairs: IssuedTokens[] = []
  const ask: World['ask'] = (command) =>
    transition(here.grant, command, here.now, entropyOf(moments.length), here.setup.rules)
  const here: World & { code: string } = {
    setup,
    now: START,
    grant: undefined,
    moments,
    code: '',
    pairs,
    ask,
    send: <Asked extends Command>(command: Asked) => {
      const before = here.grant
      const outcome = ask(command)
      moments.push({ command, now: here.now, entropy: entropyOf(moments.length), before, outcome })
      if (outcome.grant !== undefined) here.grant = outcome.grant
      const { reply } = outcome
      if (reply.type === 'tokens' && !pairs.some((pair) => pair.accessToken === reply.accessToken)) pairs.push(reply)
      return outcome
    },
  }
  const { reply } = here.send(approval(setup))
  if (reply.type !== 'code') throw new Error('not approved')
  here.code = reply.code
  return here
}

/** A grant whose code was exchanged: a world with its first pair. */
export function exchangedWorld(setup: Setup = SETUP): World {
  const here = world(setup)
  here.send(exchangeOf(here))
  return here
}

export function credentialOf(text: string): Credential {
  const credential = parseCredential(text)
  if (credential === undefined) throw new Error(`no credential: ${text}`)
  return credential
}

/** The token of a pair; negative numbers count from the newest. */
export function tokenOf(here: World, token: 'access' | 'refresh', pair = -1): Credential {
  const issued = here.pairs.at(pair)
  if (issued === undefined) throw new Error(`no pair ${pair}`)
  return credentialOf(token === 'access' ? issued.accessToken : issued.refreshToken)
}

/** The exchange that a sound client sends. */
export function exchangeOf(here: World): Command & { readonly type: 'exchange' } {
  return {
    type: 'exchange',
    credential: credentialOf(here.code),
    clientId: OWNER,
    registered: GRANTED,
    redirectUri: REDIRECT_URI,
    ...(here.setup.challenged && { codeVerifier: VERIFIER }),
  }
}

/** The refresh that a sound client sends, with the token of a pair; the newest by default. */
export function refreshOf(here: World, pair = -1, scopes?: readonly Scope[]): Command & { readonly type: 'refresh' } {
  const credential = tokenOf(here, 'refresh', pair)
  return { type: 'refresh', credential, clientId: OWNER, registered: GRANTED, ...(scopes !== undefined && { scopes }) }
}

export function revokeOf(here: World, token: 'access' | 'refresh', pair = -1): Command & { readonly type: 'revoke' } {
  return { type: 'revoke', credential: tokenOf(here, token, pair), clientId: OWNER }
}

/** What the guard would find of the access token of a pair. */
export function inspected(here: World, pair = -1): Inspection {
  return inspect(here.grant, tokenOf(here, 'access', pair), here.now, here.setup.rules.digests)
}

/** Whether a token of a pair works now. */
export function works(here: World, token: 'access' | 'refresh', pair = -1): boolean {
  return token === 'access'
    ? inspected(here, pair).type === 'active'
    : here.ask(refreshOf(here, pair)).reply.type === 'tokens'
}

/** The stable code of an error; undefined for what is none. */
export function errorOf({ reply }: { readonly reply: { readonly type: string } | OAuthError }): string | undefined {
  return 'code' in reply && reply.type === 'error' ? reply.code : undefined
}

/** The tokens of an answer. */
export function issuedBy({ reply }: GrantOutcome<IssuedTokens>): IssuedTokens {
  if (reply.type === 'error') throw new Error(`refused: ${reply.reason}`)
  return reply
}

/** Refreshes the newest token so many times, the same number of seconds after each other. */
export function refreshTimes(here: World, times: number, seconds = 0): void {
  for (let done = 0; done < times; done++) {
    issuedBy(here.send(refreshOf(here)))
    here.now += seconds
  }
}

/** What is shown by a pick, as the model names it, and as the credential that is sent. */
export function shownBy(
  here: World,
  { what, back, as }: Pick,
): { readonly shown: Shown; readonly credential: Credential } {
  const code = credentialOf(here.code)
  const unknown = {
    shown: { what: 'unknown' },
    credential: { ...code, kind: as ?? 'refresh_token', secret: strangeSecret(-2) },
  } as const
  if (what === 'unknown') return unknown
  if (what !== 'code' && here.pairs.length === 0) return unknown
  const pair = here.pairs.length - 1 - (back % Math.max(1, here.pairs.length))
  const own = what === 'code' ? code : tokenOf(here, what, pair)
  const shown: Shown = what === 'code' ? { what } : { what, pair }
  // Under another prefix than its own it is nothing that this grant gave.
  return as === undefined || as === own.kind
    ? { shown, credential: own }
    : { shown: { what: 'unknown' }, credential: { ...own, kind: as } }
}

/** The command of a step; undefined where it only lets time pass. */
export function commandOf(here: World, step: Step): Command | undefined {
  if (step.do === 'wait') return undefined
  if (step.do === 'approve') {
    const command = approval(here.setup)
    if (step.form === 'decided otherwise') return { ...command, resources: { kind: 'public' } }
    if (step.form === 'for another audience') return { ...command, audience: RESOURCES.slice(2) }
    return step.form === 'same' ? command : { ...command, formSecret: new Uint8Array(32).fill(8) }
  }
  const { credential } = shownBy(here, step.pick)
  const clientId = step.byOwner ? OWNER : OTHER
  if (step.do === 'revoke') return { type: 'revoke', credential, clientId }
  if (step.do === 'refresh')
    return {
      type: 'refresh',
      credential,
      clientId,
      registered: GRANTED,
      audience: step.audience,
      ...(step.scopes && { scopes: step.scopes }),
    }
  const { redirectUri, verifier, audience } = step
  return {
    type: 'exchange',
    credential,
    clientId,
    registered: GRANTED,
    audience,
    ...(redirectUri !== 'none' && { redirectUri: redirectUri === 'right' ? REDIRECT_URI : `${REDIRECT_URI}/` }),
    ...(verifier !== 'none' && { codeVerifier: verifier === 'right' ? VERIFIER : `${VERIFIER}x` }),
  }
}

/** Plays a history to its end. */
export function play(setup: Setup, steps: readonly Step[]): World {
  const here = world(setup)
  for (const step of steps) {
    const command = commandOf(here, step)
    if (command !== undefined) here.send(command)
    else if (step.do === 'wait') here.now += step.seconds
  }
  return here
}

const seldom = <Value>(usual: Value, other: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other })

const back = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.nat(3) },
  { weight: 1, arbitrary: fc.nat(120) },
)

const pickOf = (...whats: Pick['what'][]): fc.Arbitrary<Pick> =>
  fc
    .tuple(
      seldom<readonly Pick['what'][]>(whats, fc.constant(['code', 'access', 'refresh', 'unknown'])).chain((some) =>
        fc.constantFrom(...some),
      ),
      back,
      seldom<CredentialKind | undefined>(
        undefined,
        fc.constantFrom('code', 'access_token', 'refresh_token', 'device_code'),
      ),
    )
    .map(([what, places, as]) => ({ what, back: places, ...(as !== undefined && { as }) }))

/** Scopes that are asked for: as granted, narrower, wider, others. */
const wish = fc.constantFrom<readonly Scope[]>(
  GRANTED,
  ['repo-code:r'],
  ['repo-code:rw'],
  ['repo-pr:r', 'account-email:r'],
  ['repo-pr:rw'],
  ['repo-code:r', 'repo-delete:rw'],
)

/** Protected resources that are asked for: one, two in another order, all. */
const audience = seldom<Audience | undefined>(
  undefined,
  fc.constantFrom<Audience>(RESOURCES.slice(0, 1), RESOURCES.slice(0, 2).reverse(), RESOURCES),
)

const byOwner = seldom(true, fc.constant(false))

const exchange = fc.record({
  do: fc.constant('exchange' as const),
  pick: pickOf('code'),
  byOwner,
  redirectUri: seldom<Sent>('right', fc.constantFrom('none', 'wrong')),
  verifier: fc.constantFrom<Sent[]>('right', 'right', 'none', 'none', 'wrong'),
  audience: fc.oneof(audience, fc.constant(RESOURCES)),
})

const refresh = fc
  .record({ pick: pickOf('refresh'), byOwner, scopes: seldom<readonly Scope[] | undefined>(undefined, wish), audience })
  .map(({ scopes, ...rest }): Step => ({ do: 'refresh', ...rest, ...(scopes !== undefined && { scopes }) }))

const revoke = fc.record({
  do: fc.constant('revoke' as const),
  pick: pickOf('access', 'access', 'access', 'refresh'),
  byOwner,
})

const wait = fc
  .oneof(
    { weight: 6, arbitrary: fc.nat(40) },
    { weight: 4, arbitrary: fc.constantFrom(1, 299, 300, 301) },
    { weight: 2, arbitrary: fc.constantFrom(-1, -10, -299, -300, -301, -100_000) },
    { weight: 1, arbitrary: fc.constantFrom(599, 600, 28_799, 28_800, 15_551_999, 15_552_000) },
  )
  .map((seconds): Step => ({ do: 'wait', seconds }))

const sound: Step = {
  do: 'exchange',
  pick: { what: 'code', back: 0 },
  byOwner: true,
  redirectUri: 'right',
  verifier: 'none',
}
const soundWithVerifier: Step = { ...sound, verifier: 'right' }
const newest: Step = { do: 'refresh', pick: { what: 'refresh', back: 0 }, byOwner: true }

/** The newest token refreshed many times on end: how a grant comes to many pairs in grace, and to many retired ones. */
const burst = fc
  .tuple(fc.integer({ min: 2, max: 40 }), fc.constantFrom(0, 1, 9, 10, 100, 300))
  .map(([times, seconds]) => Array.from({ length: times }, () => [newest, { do: 'wait', seconds } as const]).flat())

const steps = fc
  .array(
    fc.oneof(
      { weight: 12, arbitrary: refresh.map((step): readonly Step[] => [step]) },
      { weight: 8, arbitrary: wait.map((step) => [step]) },
      { weight: 2, arbitrary: revoke.map((step) => [step]) },
      { weight: 1, arbitrary: exchange.map((step) => [step]) },
      { weight: 1, arbitrary: burst },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom<Form>('same', 'same', 'decided otherwise', 'for another audience', 'another')
          .map((form) => [{ do: 'approve', form } as const]),
      },
    ),
    { maxLength: 24, size: 'max' },
  )
  .map((parts) => parts.flat())

/** Long terms as the defaults are, and ones so short that they cross each other. */
const rules: fc.Arbitrary<Partial<GrantRules>> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ refreshReplay: fc.constantFrom('revoke', 'refuse') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      codeLifetime: fc.integer({ min: 1, max: 300 }),
      accessTokenLifetime: fc.integer({ min: 1, max: 100 }),
      refreshTokenLifetime: fc.integer({ min: 1, max: 400 }),
      gracePeriod: fc.constantFrom(0, 1, 20, 300, 1000),
      refreshReplay: fc.constantFrom('revoke', 'refuse'),
    }),
  },
)

/** A setup and what happens. Most histories begin with a sound exchange, since little happens without one. */
export const histories: fc.Arbitrary<{ readonly setup: Setup; readonly steps: readonly Step[] }> = fc
  .record({
    rules,
    challenged: fc.boolean(),
    audience: fc.constantFrom(undefined, RESOURCES.slice(0, 1), RESOURCES.slice(0, 2)),
    early: fc.array(fc.oneof(exchange, wait), { maxLength: 3 }),
    begins: seldom(true, fc.constant(false)),
    steps,
  })
  .map(({ rules: changes, challenged, audience: granted, early, begins, steps: rest }) => ({
    setup: { ...setupWith(changes), challenged, ...(granted !== undefined && { audience: granted }) },
    steps: begins ? [challenged ? soundWithVerifier : sound, ...rest] : [...early, ...rest],
  }))

/**
 * Grants and applications in every state that can be reached: random commands played on the transitions, while time
 * passes.
 * @module
 */
import * as fc from 'fast-check'
import type { Application, ApplicationDetails } from '../../core/application/application.js'
import type { Registration } from '../../core/application/registration.js'
import { checkRegistration } from '../../core/application/registration-check.js'
import type { ApplicationCommand } from '../../core/application/transition.js'
import { transitionApplication } from '../../core/application/transition.js'
import type { GrantRecord } from '../../core/grant/grant.js'
import { isGrant } from '../../core/grant/grant.js'
import type { IssuedTokens } from '../../core/grant/pair.js'
import type { GrantRules } from '../../core/grant/rules.js'
import type { Command } from '../../core/grant/transition.js'
import { ENTROPY_BYTES, transition } from '../../core/grant/transition.js'
import type { Scope, ScopeCatalogue } from '../../core/scopes.js'
import { serviceScopes } from '../../core/scopes.js'
import { MUST_BE_OWN, strayName } from '../../core/takes.js'
import { grantIdOf, parseCredential } from '../../core/tokens/credential.js'
import { clientKeyOf, digestOf, portableDigests } from '../../core/tokens/digests.js'
import type { ClientId, Seconds, Subject } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import { CHALLENGE, VERIFIER } from '../lifecycle/client.js'
import { seededEntropy } from '../seeded-entropy.js'

/** A grant, or a device that waits to have one, with everything that was handed out on the way. */
export interface ReachedGrant {
  readonly record: GrantRecord
  /** The moment at which the grant is as it is, in seconds since the epoch. */
  readonly now: Seconds
  readonly rules: GrantRules
  /** What was handed out first: an authorization code or a device code. */
  readonly code: string
  /** Every token pair, in the order in which they were made. */
  readonly pairs: readonly IssuedTokens[]
  /** All of them: the code and every token, those that no longer work included. */
  readonly credentials: readonly string[]
}

/** An application, with every secret that it was given. */
export interface ReachedApplication {
  readonly application: Application
  /** Seconds since the epoch. */
  readonly now: Seconds
  /** Oldest first, those that no longer work included; none for a public client. */
  readonly clientSecrets: readonly string[]
}

/** Where histories begin: 15 January 2027. */
const START: Seconds = 1_800_000_000

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

/** One thing that happens to a grant. */
type Step =
  | { readonly do: 'wait'; readonly seconds: Seconds }
  | { readonly do: 'exchange'; readonly soundly: boolean }
  | { readonly do: 'refresh'; readonly back: number; readonly narrow: boolean }
  | { readonly do: 'revoke'; readonly what: 'access' | 'refresh'; readonly back: number }
  | { readonly do: 'withdraw' }
  | { readonly do: 'decide'; readonly decision: 'agree' | 'refuse' }
  | { readonly do: 'poll' }

const usually = <Value>(usual: Value, other: fc.Arbitrary<Value>, weight: number): fc.Arbitrary<Value> =>
  fc.oneof({ withCrossShrink: true }, { weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other })

const back = usually(0, fc.nat(4), 2)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: usually<Seconds>(
        5,
        fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(1, 100, 299, 300) },
          { weight: 1, arbitrary: fc.constantFrom(600, 28_800, 15_552_000) },
        ),
        1,
      ),
    }),
  },
  { weight: 14, arbitrary: fc.record({ do: fc.constant('refresh' as const), back, narrow: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('revoke' as const),
      what: usually<'access' | 'refresh'>('access', fc.constant('refresh'), 6),
      back,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('exchange' as const), soundly: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'withdraw' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'poll' } as const) },
)

/** How most grants get to their first pair; a few get nowhere, and there the shrinking leads. */
const opening: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { withCrossShrink: true },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.oneof(
        fc.record({ do: fc.constant('decide' as const), decision: fc.constantFrom('agree', 'refuse') }),
        fc.record({ do: fc.constant('exchange' as const), soundly: fc.boolean() }),
        step,
      ),
      { maxLength: 4 },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constant<readonly Step[]>([
      { do: 'decide', decision: 'agree' },
      { do: 'poll' },
      { do: 'exchange', soundly: true },
    ]),
  },
)

/** Who a grant is of, and on which terms. */
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

/** Grants with scopes of an arbitrary. */
export function grants(scopes: fc.Arbitrary<readonly Scope[]>, options: GrantOptions): fc.Arbitrary<ReachedGrant> {
  const { subject = 'ada', redirectUri = 'https://app.example/callback' } = options
  const clientId = parseClientId(options.clientId ?? 'web')
  if (clientId === undefined) throw new TypeError('a client identifier has 1 to 255 printable ASCII characters')
  const stray = strayName(options.rules, Object.keys(DEFAULT_RULES))
  if (stray !== undefined) throw new TypeError(`the rule ${stray} of arbitraries.grant ${MUST_BE_OWN}`)
  const rules = { ...DEFAULT_RULES, ...options.rules }
  return fc
    .record({
      flow: usually<'code' | 'device'>('code', fc.constant('device'), 2),
      challenged: fc.boolean(),
      scopes,
      seed: fc.nat(),
      // Short ones too, or few would be alive.
      steps: fc
        .tuple(opening, fc.oneof(fc.array(step, { maxLength: 4 }), fc.array(step, { maxLength: 24, size: 'max' })))
        .map((parts) => parts.flat()),
    })
    .map((history) => play({ ...history, clientId, subject, redirectUri, rules }))
}

interface History {
  readonly flow: 'code' | 'device'
  readonly challenged: boolean
  readonly scopes: readonly Scope[]
  readonly seed: number
  readonly steps: readonly Step[]
  readonly clientId: ClientId
  readonly subject: Subject
  readonly redirectUri: string
  readonly rules: GrantRules
}

function play({ flow, challenged, scopes, seed, steps, clientId, subject, redirectUri, rules }: History): ReachedGrant {
  const entropy = seededEntropy(seed)
  const grantId = grantIdOf(entropy(16))
  const clientKey = clientKeyOf(rules.digests, clientId)
  const resources = { kind: 'all' } as const
  let now = START
  const begun =
    flow === 'code'
      ? transition(
          undefined,
          {
            type: 'approve',
            grantId,
            clientId,
            clientKey,
            subject,
            scopes,
            resources,
            redirectUri,
            ...(challenged && { codeChallenge: CHALLENGE }),
            formExpiresAt: now + 600,
            formSecret: entropy(32),
          },
          now,
          entropy(ENTROPY_BYTES),
          rules,
        )
      : transition(
          undefined,
          { type: 'request_device', grantId, clientId, clientKey, scopes },
          now,
          entropy(ENTROPY_BYTES),
          rules,
        )
  const { reply } = begun
  const code = reply.type === 'code' ? reply.code : reply.type === 'device_code' ? reply.deviceCode : undefined
  if (begun.grant === undefined || code === undefined) throw new Error('a grant that could not begin')
  let record: GrantRecord = begun.grant
  const pairs: IssuedTokens[] = []
  for (const each of steps) {
    if (each.do === 'wait') now += each.seconds
    const command = commandOf(each)
    if (command === undefined) continue
    const outcome = transition(record, command, now, entropy(ENTROPY_BYTES), rules)
    record = outcome.grant ?? record
    const answer = outcome.reply
    if (answer.type === 'tokens' && !pairs.some((pair) => pair.accessToken === answer.accessToken)) pairs.push(answer)
  }
  const credentials = [code, ...pairs.flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken])]
  return { record, now, rules, code, pairs, credentials }

  /** Undefined for what only lets time pass, and where there is nothing yet to show. */
  function commandOf(asked: Step): Command | undefined {
    switch (asked.do) {
      case 'wait':
        return undefined
      case 'withdraw':
        return { type: 'withdraw', by: 'user' }
      case 'decide':
        return { type: 'decide', decision: asked.decision, subject, scopes, resources }
      case 'poll':
      case 'exchange': {
        const credential = parseCredential(code ?? '')
        if (credential === undefined) return undefined
        if (asked.do === 'poll') return { type: 'poll', credential, clientId, registered: scopes }
        const codeVerifier = challenged ? { codeVerifier: VERIFIER } : {}
        return {
          type: 'exchange',
          credential,
          clientId,
          registered: scopes,
          redirectUri: asked.soundly ? redirectUri : 'https://x',
          ...codeVerifier,
        }
      }
      case 'refresh':
      case 'revoke': {
        const pair = pairs.at(-1 - asked.back)
        const isAccess = asked.do === 'revoke' && asked.what === 'access'
        const credential = pair && parseCredential(isAccess ? pair.accessToken : pair.refreshToken)
        if (credential === undefined) return undefined
        if (asked.do === 'revoke') return { type: 'revoke', credential, clientId }
        return {
          type: 'refresh',
          credential,
          clientId,
          registered: scopes,
          ...(asked.narrow && { scopes: scopes.slice(0, 1) }),
        }
      }
    }
  }
}

/** What a grant is like, in a word: to see which states were reached. */
export function stateOf({ record, now }: Pick<ReachedGrant, 'record' | 'now'>): string {
  if (!isGrant(record)) return now < record.code.expiresAt ? 'device waiting' : 'device expired'
  if (record.revokedAt !== undefined) return record.code.usedAt === undefined ? 'refused or withdrawn' : 'revoked'
  if (record.code.usedAt === undefined) return now < record.code.expiresAt ? 'code issued' : 'code expired'
  const inGrace = record.pairs.filter(({ superseded }) => superseded !== undefined && now < superseded.until).length
  return inGrace > 1 ? 'several in grace' : inGrace === 1 ? 'in grace' : 'exchanged'
}

/** Applications of registrations. */
export function applications(
  registrations: fc.Arbitrary<Registration>,
  catalogue: ScopeCatalogue,
  clientId: string,
): fc.Arbitrary<ReachedApplication> {
  const id = parseClientId(clientId)
  if (id === undefined) throw new TypeError('a client identifier has 1 to 255 printable ASCII characters')
  const details = registrations.map((registration) => detailsOf(registration, catalogue))
  const seconds = fc.constantFrom(0, 1, 3600, 86_400)
  const steps = fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('approve' as const),
          outdated: usually(false, fc.constant(true), 6),
          seconds,
        }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('change' as const), details, seconds }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('reject' as const), seconds }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('suspend' as const, 'reinstate' as const), seconds }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('rotate_secret' as const), overlap: seconds, seconds }) },
    ),
    { maxLength: 10, size: 'max' },
  )
  return fc
    .record({ submitted: details, applicant: fc.constantFrom(undefined, 'ada'), steps })
    .map(({ submitted, applicant, steps: asked }) => {
      let now = START
      let application = applied(undefined, {
        type: 'submit',
        id,
        details: submitted,
        ...(applicant !== undefined && { applicant }),
      })
      const clientSecrets: string[] = []
      for (const each of asked) {
        now += each.seconds
        const clientSecret = `a-secret-of-${id}-number-${clientSecrets.length + 1}`
        const secretDigest = digestOf(portableDigests, clientSecret)
        const before = application
        const revision = before?.revision ?? 0
        if (each.do === 'approve')
          application = applied(before, {
            type: 'approve',
            revision: each.outdated ? revision - 1 : revision,
            secretDigest,
          })
        else if (each.do === 'reject')
          application = applied(before, { type: 'reject', revision, reason: 'Not needed.' })
        else if (each.do === 'rotate_secret')
          application = applied(before, { type: 'rotate_secret', secretDigest, overlap: each.overlap })
        else if (each.do === 'change') application = applied(before, { type: 'change', details: each.details })
        else application = applied(before, { type: each.do })
        if (JSON.stringify(application).includes(secretDigest)) clientSecrets.push(clientSecret)
      }
      if (application === undefined) throw new Error('an application that could not begin')
      return { application, now, clientSecrets }

      function applied(before: Application | undefined, command: ApplicationCommand): Application | undefined {
        const outcome = transitionApplication(before, command, now)
        return outcome.type === 'done' ? outcome.application : before
      }
    })
}

function detailsOf(registration: Registration, catalogue: ScopeCatalogue): ApplicationDetails {
  const checked = checkRegistration(registration, {
    scopes: catalogue,
    redirect: { matching: 'domain', allowLocalhost: false },
    specifiedResources: true,
    macTokens: false,
    reasons: 'optional',
    logo: 'required',
    redirectUris: 'required',
  })
  if (checked.type === 'faults') throw new Error(`not a sound registration: ${JSON.stringify(checked.faults)}`)
  return { ...checked.details, logo: 'logo' }
}

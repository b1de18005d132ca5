/**
 * Every transition against the model, and what all transitions have in common: they are pure, total and deterministic,
 * and leave JSON behind.
 * @module
 */
import * as fc from 'fast-check'
import { portableDigests } from 'grantwell'
import type { GrantCommand, GrantRules } from 'grantwell/core'
import { ENTROPY_BYTES, transition } from 'grantwell/core'
import { nodeDigests } from 'grantwell/node'
import { describe, expect, it } from 'vitest'
import type { Answer, Lifecycle, Ruling } from '../../src/testing/model.js'
import { lifecycle } from '../../src/testing/model.js'
import type { Setup, Step, World } from './histories.js'
import {
  commandOf,
  credentialOf,
  entropyOf,
  GRANTED,
  histories,
  inspected,
  play,
  refreshOf,
  START,
  shownBy,
  world,
} from './histories.js'
import { anyText } from './texts.js'

/** What was answered, in the words of the model. */
function answerOf(
  here: World,
  reply: ReturnType<World['ask']>['reply'],
  known: number,
): Answer | { readonly says: string } {
  switch (reply.type) {
    case 'error':
      return reply.status === 429 ? { says: 'too many', retryAfter: reply.retryAfter } : { says: reply.code }
    case 'tokens': {
      const { accessToken, refreshToken, expiresIn, scopes } = reply
      const before = here.pairs.slice(0, known)
      const pair = before.findIndex((one) => one.accessToken === accessToken)
      const fresh = pair < 0 && !before.some((one) => one.refreshToken === refreshToken)
      if (!fresh && before[pair]?.refreshToken !== refreshToken) return { says: 'half a pair' }
      return { says: 'tokens', pair: fresh ? known : pair, expiresIn, scopes }
    }
    default:
      return { says: reply.type }
  }
}

function rulingOf(model: Lifecycle, here: World, step: Step): Ruling | undefined {
  if (step.do === 'wait') return undefined
  if (step.do === 'approve') return model.decide(here.now, step.form === 'same' ? 'agree' : step.form)
  const { shown } = shownBy(here, step.pick)
  if (step.do === 'exchange')
    return model.exchange(here.now, shown, step.byOwner, step.redirectUri, step.verifier, step.audience)
  if (step.do === 'refresh') return model.refresh(here.now, shown, step.byOwner, step.scopes, step.audience)
  return model.revoke(here.now, shown, step.byOwner)
}

/** Every token that there ever was works exactly when the model says so. */
function compare(here: World, model: Lifecycle): void {
  here.pairs.forEach((_, pair) => {
    const found = inspected(here, pair)
    const active =
      found.type === 'active' ? { until: found.expiresAt, scopes: found.scopes, audience: found.audience } : undefined
    same(active, model.access(pair, here.now), () => `access token ${pair}`)
    const { reply, grant } = here.ask(refreshOf(here, pair))
    const ruling = model.refresh(here.now, { what: 'refresh', pair }, true, undefined)
    same(answerOf(here, reply, here.pairs.length), ruling.answer, () => `refresh token ${pair}`)
    same(grant !== undefined, ruling.change !== undefined, () => `whether refresh token ${pair} changes anything`)
  })
}

/** Equality by JSON, since it is asked for a hundred thousand times. */
function same(actual: unknown, expected: unknown, what: () => string): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) expect(actual, what()).toEqual(expected)
}

/** Plays a history on the transitions and on the model, and compares them after every step. */
function playAlongside(setup: Setup, steps: readonly Step[]): World {
  const here = world(setup)
  const model = lifecycle(setup.rules, setup.scopes, setup.challenged, START, undefined, setup.audience)
  steps.forEach((step, index) => {
    const command = commandOf(here, step)
    const ruling = rulingOf(model, here, step)
    if (command === undefined || ruling === undefined) {
      if (step.do === 'wait') here.now += step.seconds
    } else {
      const known = here.pairs.length
      const { reply, grant } = here.send(command)
      same(answerOf(here, reply, known), ruling.answer, () => `step ${index}: ${JSON.stringify(step)}`)
      same(grant !== undefined, ruling.change !== undefined, () => `whether step ${index} changes anything`)
      ruling.change?.()
    }
    compare(here, model)
  })
  return here
}

describe('the lifecycle (specification, section 3; DESIGN, "The refresh grace period, precisely")', () => {
  it('is the one of the model after every command: what is answered, what changes, and which tokens work', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        playAlongside(setup, steps)
      }),
      { numRuns: 150 },
    )
  })

  it('is walked through far enough by the histories to say something', () => {
    const reached = new Set<string>()
    for (const { setup, steps } of fc.sample(histories, { seed: 1, numRuns: 400 })) {
      const here = play(setup, steps)
      for (const { command, outcome } of here.moments) {
        const { reply } = outcome
        reached.add(`${command.type}: ${reply.type === 'error' ? reply.reason : reply.type}`)
        for (const event of outcome.events)
          reached.add('retry' in event && event.retry === true ? `${event.type} again` : event.type)
        if ((outcome.grant?.retired.length ?? 0) === 64) reached.add('64 retired')
        if ((outcome.grant?.pairs.length ?? 0) === 33) reached.add('33 pairs')
      }
    }
    expect([...reached].sort()).toEqual(
      [
        ...[
          '33 pairs',
          '64 retired',
          'issued',
          'exchanged',
          'issued again',
          'refreshed',
          'refreshed again',
          'replayed',
          'revoked',
        ],
        ...['approve: code', 'approve: consent_invalid', 'exchange: tokens', 'exchange: credential_unknown'],
        ...['exchange: credential_of_another_client', 'exchange: credential_revoked', 'exchange: credential_replayed'],
        ...['exchange: credential_expired', 'exchange: redirect_uri_mismatch', 'exchange: pkce_mismatch'],
        ...['refresh: tokens', 'refresh: credential_unknown', 'refresh: credential_of_another_client'],
        ...['refresh: credential_revoked', 'refresh: credential_replayed', 'refresh: credential_expired'],
        ...[
          'refresh: scope_insufficient',
          'refresh: audience_mismatch',
          'exchange: audience_mismatch',
          'refresh: too_many_pairs_in_grace',
          'revoke: revoked',
          'revoke: unchanged',
        ],
      ].sort(),
    )
  })
})

/** Freezes a value all through; bytes cannot be frozen, they are compared instead. */
function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  for (const part of Object.values(value)) freeze(part)
  return Object.freeze(value)
}

/** Every byte array in a value, copied. */
function bytesIn(value: unknown): readonly string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('hex')]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(bytesIn) : []
}

const KEY = entropyOf(-3).subarray(0, 32)

describe('every transition', () => {
  it('changes none of its arguments and keeps none of them', () => {
    fc.assert(
      fc.property(histories, fc.boolean(), ({ setup, steps }, keyed) => {
        const rules: GrantRules = { ...setup.rules, ...(keyed && { derivationKey: KEY.slice() }) }
        const { moments } = play({ ...setup, rules }, steps)
        for (const { command, now, entropy, before } of moments) {
          const given = freeze([
            structuredClone(before),
            structuredClone(command),
            now,
            entropy.slice(),
            rules,
          ] as const)
          const bytes = bytesIn(given)
          const outcome = transition(...given)
          expect(bytesIn(given)).toEqual(bytes)
          // What comes later to the bytes that were given is nothing to the outcome.
          const then = JSON.stringify(outcome)
          given[3].fill(0)
          expect(JSON.stringify(outcome)).toBe(then)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('is deterministic: the same arguments, copied, give the same outcome', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        for (const { command, now, entropy, before, outcome } of play(setup, steps).moments)
          expect(
            transition(structuredClone(before), structuredClone(command), now, entropy.slice(), setup.rules),
          ).toStrictEqual(outcome)
      }),
      { numRuns: 60 },
    )
  })

  it('leaves JSON behind: a grant that went through it is the same, and no later answer differs', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        for (const { command, now, entropy, before, outcome } of play(setup, steps).moments) {
          const read = before === undefined ? undefined : JSON.parse(JSON.stringify(before))
          expect(read).toStrictEqual(before)
          expect(transition(read, command, now, entropy, setup.rules)).toStrictEqual(outcome)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('has the same outcome with portableDigests and with nodeDigests, byte for byte', () => {
    fc.assert(
      fc.property(histories, fc.boolean(), ({ setup, steps }, keyed) => {
        const rules: GrantRules = { ...setup.rules, ...(keyed && { derivationKey: KEY }) }
        for (const { command, now, entropy, before, outcome } of play(
          { ...setup, rules: { ...rules, digests: nodeDigests } },
          steps,
        ).moments)
          expect(transition(before, command, now, entropy, { ...rules, digests: portableDigests })).toStrictEqual(
            outcome,
          )
      }),
      { numRuns: 40 },
    )
  })

  it('needs no more than 64 bytes of entropy, and looks at no more', () => {
    expect(ENTROPY_BYTES).toBe(64)
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        for (const { command, now, entropy, before, outcome } of play(setup, steps).moments) {
          const longer = new Uint8Array(100)
          longer.set(entropy)
          expect(transition(before, command, now, longer, setup.rules)).toStrictEqual(outcome)
        }
      }),
      { numRuns: 20 },
    )
  })

  it('says in its events who and when and what, and no secret, no digest and no salt', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        const here = play(setup, steps)
        for (const { now, outcome } of here.moments) {
          for (const event of outcome.events)
            expect(event).toMatchObject({ at: now, clientId: 'web', subject: 'ada', grantId: here.grant?.id })
          const told = JSON.stringify([outcome.events, outcome.reply.type === 'error' ? outcome.reply : []])
          expect(told.replaceAll(String(here.grant?.id), '')).not.toMatch(/[\w-]{40}/)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('tells of a change by events exactly where something changed, save retries and refused replays', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        for (const { outcome } of play(setup, steps).moments) {
          const changes = outcome.events.filter(
            (event) => event.type !== 'replayed' && !('retry' in event && event.retry === true),
          )
          const told = outcome.grant === undefined ? changes : outcome.events
          expect(told.length > 0).toBe(outcome.grant !== undefined)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('of any credential on any grant is answered without a throw', () => {
    const credential = fc.record({
      kind: fc.constantFrom('code', 'access_token', 'refresh_token', 'device_code'),
      secret: fc.oneof(fc.stringMatching(/^[\w-]{43}$/), anyText({ maxLength: 64 })),
    })
    fc.assert(
      fc.property(histories, credential, anyText(), fc.double(), ({ setup, steps }, { kind, secret }, text, now) => {
        const here = play(setup, steps)
        const shown = { ...credentialOf(here.code), kind, secret }
        const { clientId } = here.grant ?? expect.fail('no grant')
        const commands: readonly GrantCommand[] = [
          { type: 'exchange', credential: shown, clientId, registered: GRANTED, redirectUri: text, codeVerifier: text },
          { type: 'refresh', credential: shown, clientId, registered: GRANTED, scopes: [] },
          { type: 'revoke', credential: shown, clientId },
        ]
        for (const command of commands) transition(here.grant, command, now, entropyOf(0), setup.rules)
      }),
      { numRuns: 60 },
    )
  })
})

describe('entropy', () => {
  it('[28] of fewer bytes than are asked for is refused, since it would make secrets that can be guessed', () => {
    const command = { type: 'revoke' } as unknown as GrantCommand // not looked at
    const rules = {} as GrantRules // nor they
    expect(() => transition(undefined, command, 0, new Uint8Array(ENTROPY_BYTES - 1), rules)).toThrow(TypeError)
  })
})

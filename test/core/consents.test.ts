/**
 * The decisions of one user on one application: the first on a form counts, and so many grants live at once.
 * @module
 * @see DESIGN, "a form that is sent twice"
 */
import * as fc from 'fast-check'
import type { GrantId } from 'grantwell'
import { describe, expect, it } from 'vitest'
import type { Consents, NewDecision } from '../../src/core/grant/consents.js'
import {
  admitDecision,
  DECISIONS_KEPT,
  GIVES_WAY_AFTER,
  isCounted,
  MAKES_WITHIN,
  mayMake,
} from '../../src/core/grant/consents.js'
import type { Grant } from '../../src/core/grant/grant.js'
import { retention } from '../../src/core/grant/grant.js'
import { transition } from '../../src/core/grant/transition.js'
import { approval, entropyOf, RULES } from './histories.js'

const START = 1_800_000_000
const LIMIT = 3

const idOf = (number: number): GrantId => `grant-${number}` as GrantId // an identifier for the tests

const agree = (number: number, formExpiresAt?: number): NewDecision => ({
  decision: 'agree',
  grantId: idOf(number),
  ...(formExpiresAt !== undefined && { formExpiresAt }),
})
const refuse = (number: number, formExpiresAt: number): NewDecision => ({
  decision: 'refuse',
  grantId: idOf(number),
  formExpiresAt,
})

/** Takes in decisions one after the other, and ends the oldest grant wherever there is no room. */
function taken(decisions: readonly NewDecision[], now = START, limit = LIMIT): Consents {
  let consents: Consents = { v: 1, decisions: [] }
  for (const decision of decisions) {
    let admission = admitDecision(consents, decision, now, limit)
    if (admission.type === 'full')
      admission = admitDecision(consents, decision, now, limit, admission.grants.slice(0, 1))
    if (admission.type === 'first') consents = admission.consents
  }
  return consents
}

describe('a form', () => {
  it('is decided once: the same decision repeats it, another is refused', () => {
    const form = START + 600
    const agreed = taken([agree(1, form)])
    expect(admitDecision(agreed, agree(1, form), START, LIMIT)).toStrictEqual({ type: 'repeated' })
    expect(admitDecision(agreed, refuse(1, form), START, LIMIT)).toStrictEqual({ type: 'refused' })
    const refused = taken([refuse(1, form)])
    expect(admitDecision(refused, refuse(1, form), START, LIMIT)).toStrictEqual({ type: 'repeated' })
    expect(admitDecision(refused, agree(1, form), START, LIMIT)).toStrictEqual({ type: 'refused' })
  })

  it('that is too old is refused, unless it was decided in time', () => {
    expect(admitDecision(undefined, agree(1, START), START, LIMIT)).toStrictEqual({ type: 'refused' })
    expect(admitDecision(undefined, agree(1, START + 1), START, LIMIT).type).toBe('first')
    const agreed = taken([agree(1, START + 1)])
    expect(admitDecision(agreed, agree(1, START + 1), START + 1, LIMIT)).toStrictEqual({ type: 'repeated' })
  })

  it('of a grant that newer ones replaced is refused', () => {
    const form = START + 600
    const consents = taken([1, 2, 3, 4].map((number) => agree(number, form)))
    expect(consents.decisions.map(({ grantId, over }) => [grantId, over])).toStrictEqual([
      [idOf(1), 'replaced'],
      [idOf(2), undefined],
      [idOf(3), undefined],
      [idOf(4), undefined],
    ])
    expect(admitDecision(consents, agree(1, form), START, LIMIT)).toStrictEqual({ type: 'refused' })
  })

  it('is never decided in two ways, whatever comes in whatever order, and however the clock is set', () => {
    const decision = fc.record({
      number: fc.nat(6),
      decision: fc.constantFrom('agree' as const, 'refuse' as const),
      wait: fc.constantFrom(0, 0, 200, 700, -550, -550),
    })
    fc.assert(
      fc.property(fc.array(decision, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), (all, limit) => {
        let consents: Consents | undefined
        let now = START
        let latest = START
        const first = new Map<number, string>()
        for (const each of all) {
          // A clock that is set back by up to ten minutes makes nothing anew.
          now = Math.max(now + each.wait, latest - 600)
          latest = Math.max(latest, now)
          const formExpiresAt = START + 600 + 500 * (each.number % 3)
          const form = { decision: each.decision, grantId: idOf(each.number), formExpiresAt }
          let admission = admitDecision(consents, form, now, limit)
          if (admission.type === 'full') {
            if (admission.grants.length !== limit) expect.fail(`full with ${admission.grants.length} grants`)
            admission = admitDecision(consents, form, now, limit, admission.grants.slice(0, 1))
          }
          const before = first.get(each.number)
          const fits = {
            first: before === undefined && now < formExpiresAt,
            repeated: before === each.decision,
            refused: true,
            full: false,
            error: false,
          }
          expect([admission.type, fits[admission.type]]).toEqual([admission.type, true])
          if (admission.type === 'first') {
            first.set(each.number, each.decision)
            consents = admission.consents
          }
          expect(consents?.decisions.filter(({ over }) => over === undefined).length ?? 0).toBeLessThanOrEqual(limit)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('a grant', () => {
  it('may be made for a while after its decision, and before it by a clock that is behind, as long as nothing took its place', () => {
    const consents = taken([agree(1), agree(2, START + 600), refuse(3, START + 600)])
    for (const number of [1, 2]) {
      for (const away of [0, 1, -1, MAKES_WITHIN - 1, 1 - MAKES_WITHIN])
        expect(mayMake(consents, idOf(number), START + away)).toBe(true)
      for (const away of [MAKES_WITHIN, -MAKES_WITHIN, 600, -600, 1e9])
        expect(mayMake(consents, idOf(number), START + away)).toBe(false)
    }
    for (const number of [3, 4]) expect(mayMake(consents, idOf(number), START)).toBe(false)
    expect(mayMake(undefined, idOf(1), START)).toBe(false)
    const full = taken([1, 2, 3, 4].map((number) => agree(number, START + 600)))
    expect([1, 2, 3, 4].map((number) => mayMake(full, idOf(number), START))).toStrictEqual([false, true, true, true])
    expect([1, 2, 3, 4, 5].map((number) => isCounted(full, idOf(number)))).toStrictEqual([
      false,
      true,
      true,
      true,
      false,
    ])
    expect(isCounted(undefined, idOf(1))).toBe(false)
    expect(isCounted(consents, idOf(3))).toBe(false)
  })

  it('may be made no more by the time when its decision gives way to others, by a minute', () => {
    expect(GIVES_WAY_AFTER - MAKES_WITHIN).toBe(60)
  })

  it('of a device may be decided on again once it can be made no more, as the newest; that of a form may not', () => {
    const consents = taken([agree(1), agree(2)])
    for (const now of [START, START + MAKES_WITHIN - 1])
      expect(admitDecision(consents, agree(1), now, LIMIT)).toStrictEqual({ type: 'repeated' })
    for (const now of [START + MAKES_WITHIN, START - MAKES_WITHIN])
      expect(admitDecision(consents, agree(1), now, 2)).toStrictEqual({
        type: 'first',
        consents: {
          v: 1,
          decisions: [
            { grantId: idOf(2), at: START },
            { grantId: idOf(1), at: now },
          ],
        },
      })
    const form = START + 600
    const late = START + MAKES_WITHIN
    expect(admitDecision(taken([agree(1, form)]), agree(1, form), late, LIMIT)).toStrictEqual({ type: 'repeated' })
    // What was ended for another is that decision, and not the one that came since.
    const again = admitDecision(consents, agree(1), late, LIMIT)
    const since = again.type === 'first' ? again.consents : expect.fail('not taken in')
    expect(admitDecision(since, agree(3), late, 2, [{ grantId: idOf(1), at: START }]).type).toBe('full')
    expect(admitDecision(since, agree(3), late, 2, [{ grantId: idOf(1), at: late }]).type).toBe('first')
  })

  it('that was ended never comes back by its form, in whatever order things come, and however the clock is set', () => {
    const step = fc.record({
      number: fc.nat(2),
      does: fc.constantFrom('agree' as const, 'agree' as const, 'admit' as const, 'revoke' as const),
      wait: fc.constantFrom(0, 0, 1, 240, 300, 600, 600, -5, -300, -600, -600),
    })
    const lifetimes = fc.record({ codeLifetime: fc.constantFrom(1, 60, 600), form: fc.constantFrom(1, 300, 600, 900) })
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 3 }),
        lifetimes,
        (steps, limit, given) => {
          const rules = { ...RULES, codeLifetime: given.codeLifetime }
          const records = new Map<GrantId, { readonly grant: Grant; readonly until: number }>()
          const over = new Set<GrantId>()
          let consents: Consents | undefined
          let now = START
          let latest = START
          // The store has the clock that is ahead.
          const found = (id: GrantId): Grant | undefined => {
            const record = records.get(id)
            return record !== undefined && latest < record.until ? record.grant : undefined
          }
          const end = (id: GrantId, until?: number): void => {
            const { grant } = transition(found(id), { type: 'withdraw', by: 'user' }, now, entropyOf(0), rules)
            const ended = grant ?? found(id)
            if (ended === undefined) return
            over.add(id)
            records.set(id, { grant: ended, until: until ?? retention(ended) })
          }
          for (const { number, does, wait } of steps) {
            now = Math.max(now + wait, latest - 600)
            latest = Math.max(latest, now)
            const id = idOf(number)
            if (does === 'revoke') {
              end(id)
              continue
            }
            const formExpiresAt = START + number * 300 + given.form
            const decision = agree(number, formExpiresAt)
            let admission = admitDecision(consents, decision, now, limit)
            if (admission.type === 'full') {
              const leaving = admission.grants.find((each) => found(each.grantId) || now >= each.at + GIVES_WAY_AFTER)
              if (leaving === undefined) continue
              end(leaving.grantId)
              admission = admitDecision(consents, decision, now, limit, [leaving])
              end(leaving.grantId, Math.max(now, leaving.at + GIVES_WAY_AFTER))
            }
            if (admission.type === 'first') consents = admission.consents
            // The request may end before it makes the grant.
            if ((admission.type !== 'first' && admission.type !== 'repeated') || does === 'admit') continue
            const before = found(id)
            if (before === undefined && !mayMake(consents, id, now)) continue
            const command = { ...approval(), grantId: id, formExpiresAt }
            const { grant, reply } = transition(before, command, now, entropyOf(0), rules)
            expect(over.has(id) && reply.type === 'code', `form ${number}`).toBe(false)
            if (grant !== undefined) records.set(id, { grant, until: retention(grant) })
          }
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('room', () => {
  it('is for so many grants; a refusal takes none', () => {
    const consents = taken([refuse(9, START + 600), agree(1), agree(2), agree(3)])
    expect(admitDecision(consents, agree(4), START, LIMIT)).toStrictEqual({
      type: 'full',
      grants: [1, 2, 3].map((number) => ({ grantId: idOf(number), at: START })),
    })
    expect(admitDecision(consents, refuse(4, START + 600), START, LIMIT).type).toBe('first')
    // Another one than was asked for may end as well: whichever is worth the least.
    const next = admitDecision(consents, agree(4), START, LIMIT, [{ grantId: idOf(2), at: START }])
    expect(next).toMatchObject({ type: 'first' })
    const left = next.type === 'first' ? next.consents.decisions.map(({ grantId }) => grantId) : []
    expect(left).toStrictEqual([idOf(9), idOf(1), idOf(3), idOf(4)])
  })

  it('stays bounded: what is over goes ten minutes after its form, and too many decisions at once must wait', () => {
    const form = START + 600
    const refusals = Array.from({ length: DECISIONS_KEPT }, (_, number) => refuse(number, form + (number % 7)))
    const consents = taken(refusals)
    expect(consents.decisions).toHaveLength(DECISIONS_KEPT)
    const busy = admitDecision(consents, refuse(-9, form), START + 10, LIMIT)
    expect(busy).toMatchObject({ type: 'error', status: 429, retryAfter: 1190, reason: 'too_many_attempts' })
    const later = admitDecision(consents, agree(-9, form + 700), START + 1207, LIMIT)
    expect(later.type === 'first' && later.consents.decisions).toStrictEqual([
      { grantId: idOf(-9), at: START + 1207, formExpiresAt: form + 700 },
    ])
  })

  it('is not made for a decision that is not taken in: too many decisions come before it', () => {
    const form = START + 600
    const refusals = Array.from({ length: DECISIONS_KEPT }, (_, number) => refuse(number, form))
    const consents = taken([...refusals, agree(-1), agree(-2)])
    // There is room for one more, which leaves nothing over.
    expect(admitDecision(consents, agree(-3, form), START, LIMIT).type).toBe('first')
    expect(admitDecision(consents, refuse(-3, form), START, LIMIT)).toMatchObject({ status: 429, retryAfter: 1200 })
    const full = taken([...refusals.slice(1), agree(-1), agree(-2), agree(-3)])
    const asked = admitDecision(full, agree(-4, form), START, LIMIT)
    const [oldest] = asked.type === 'full' ? asked.grants : []
    expect(admitDecision(full, agree(-4, form), START, LIMIT, oldest && [oldest]).type).toBe('first')
    const over = taken([...refusals, agree(-1), agree(-2), agree(-3)])
    expect(admitDecision(over, agree(-4, form), START, LIMIT)).toMatchObject({ status: 429 })
    // As many as a lower limit demands may end at once.
    const many = taken(
      Array.from({ length: 1200 }, (_, number) => agree(number, form)),
      START,
      1200,
    )
    const lower = admitDecision(many, agree(-1, form), START, 1)
    const ended = lower.type === 'full' ? lower.grants : []
    expect(ended).toHaveLength(1200)
    expect(admitDecision(many, agree(-1, form), START, 1, ended).type).toBe('first')
  })

  it('is left by a grant without a form as soon as it is replaced', () => {
    const consents = taken([1, 2, 3, 4, 5].map((number) => agree(number)))
    expect(consents.decisions.map(({ grantId }) => grantId)).toStrictEqual([idOf(3), idOf(4), idOf(5)])
  })
})

/**
 * The decisions of one user on one application: the first on a form counts, and so many grants live at once.
 * @module
 * @see DESIGN, "a form that is sent twice"
 */
import * as fc from 'fast-check'
import type { GrantId } from 'grantwell'
import { describe, expect, it } from 'vitest'
import type { Consents, NewDecision } from '../../src/core/consents.js'
import { admitDecision, DECISIONS_KEPT } from '../../src/core/consents.js'

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

const firstOf = (grants: readonly { readonly grantId: GrantId }[]): GrantId[] =>
  grants.slice(0, 1).map(({ grantId }) => grantId)

/** Takes in decisions one after the other, and ends the oldest grant wherever there is no room. */
function taken(decisions: readonly NewDecision[], now = START, limit = LIMIT): Consents {
  let consents: Consents = { v: 1, decisions: [] }
  for (const decision of decisions) {
    let admission = admitDecision(consents, decision, now, limit)
    if (admission.type === 'full') admission = admitDecision(consents, decision, now, limit, firstOf(admission.grants))
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
            expect(admission.grants).toHaveLength(limit)
            admission = admitDecision(consents, form, now, limit, firstOf(admission.grants))
          }
          const before = first.get(each.number)
          if (admission.type === 'first') {
            expect([before, now < formExpiresAt]).toStrictEqual([undefined, true])
            first.set(each.number, each.decision)
            consents = admission.consents
          } else if (admission.type === 'repeated') expect(before).toBe(each.decision)
          expect(consents?.decisions.filter(({ over }) => over === undefined).length ?? 0).toBeLessThanOrEqual(limit)
        }
      }),
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
    const next = admitDecision(consents, agree(4), START, LIMIT, [idOf(2)])
    expect(next).toMatchObject({ type: 'first' })
    const left = next.type === 'first' ? next.consents.decisions.map(({ grantId }) => grantId) : []
    expect(left).toStrictEqual([idOf(9), idOf(1), idOf(3), idOf(4)])
  })

  it('stays bounded: what is over goes ten minutes after its form, and too many decisions at once must wait', () => {
    const form = START + 600
    const refusals = Array.from({ length: DECISIONS_KEPT }, (_, number) => refuse(number, form + (number % 7)))
    const consents = taken([...refusals, ...[-1, -2, -3].map((number) => agree(number))])
    expect(consents.decisions).toHaveLength(DECISIONS_KEPT + LIMIT - 3)
    const busy = admitDecision(consents, agree(-9, form), START + 10, LIMIT)
    expect(busy).toMatchObject({ type: 'error', status: 429, retryAfter: 1190, reason: 'too_many_attempts' })
    const later = admitDecision(consents, agree(-9, form + 700), START + 1207, LIMIT)
    expect(later.type === 'first' && later.consents.decisions).toStrictEqual([
      { grantId: idOf(-9), at: START + 1207, formExpiresAt: form + 700 },
    ])
  })

  it('is left by a grant without a form as soon as it is replaced', () => {
    const consents = taken([1, 2, 3, 4, 5].map((number) => agree(number)))
    expect(consents.decisions.map(({ grantId }) => grantId)).toStrictEqual([idOf(3), idOf(4), idOf(5)])
  })
})

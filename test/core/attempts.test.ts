/**
 * The limit on attempts: so many at once, then one in every period, at any times whatever. A clock that steps back neither
 * gives attempts back nor keeps anybody out until it has caught up.
 * @module
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttemptLimit, Attempts } from '../../src/core/rate-limit.js'
import { attempt } from '../../src/core/rate-limit.js'

const START = 1_800_000_000

const limits: fc.Arbitrary<AttemptLimit> = fc.record({
  allowance: fc.integer({ min: 1, max: 12 }),
  period: fc.integer({ min: 1, max: 90 }),
})

/** Seconds between attempts: none mostly, some, now and then a pause. */
const gaps = fc.array(
  fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 4, arbitrary: fc.nat(100) }, fc.nat(2_000)),
  { maxLength: 120, size: 'max' },
)

/** What is kept after an attempt: what it says, or what was kept before where it says nothing. */
function keptAfter(before: Attempts | undefined, outcome: ReturnType<typeof attempt>): Attempts | undefined {
  return 'attempts' in outcome ? outcome.attempts : before
}

/** Those that are too many: within a span of time, more than the allowance and one for each period. */
function tooMany(passed: readonly number[], limit: AttemptLimit): readonly number[] {
  return passed.flatMap((from, first) =>
    passed.slice(first).filter((to, more) => more + 1 > limit.allowance + Math.floor((to - from) / limit.period)),
  )
}

/** Makes attempts at times; those that passed, and what is kept in the end. */
function made(
  times: readonly number[],
  limit: AttemptLimit,
  before?: Attempts,
): { passed: number[]; kept: Attempts | undefined } {
  const passed: number[] = []
  let kept = before
  for (const now of times) {
    const outcome = attempt(kept, now, limit)
    kept = keptAfter(kept, outcome)
    if (outcome.type === 'allowed') passed.push(now)
  }
  return { passed, kept }
}

function timesOf(waits: readonly number[]): number[] {
  let now = START
  return waits.map((seconds) => {
    now += seconds
    return now
  })
}

describe('attempts', () => {
  it('[44] within any span of time of a clock that does not step back, no more pass than the allowance and one for each period', () => {
    fc.assert(
      fc.property(limits, gaps, (limit, waits) => {
        const { passed } = made(timesOf(waits), limit)
        expect(tooMany(passed, limit)).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it('[44] as many pass as are allowed: the whole allowance at once, then one as soon as each period is over', () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 20 }), (limit, periods) => {
        // One who knocks every second gets everything that there is.
        const span = periods * limit.period
        const hammering = Array.from({ length: span + 1 }, (_, second) =>
          Array.from({ length: limit.allowance + 1 }, () => START + second),
        ).flat()
        expect(made(hammering, limit).passed).toHaveLength(limit.allowance + periods)
      }),
      { numRuns: 100 },
    )
  })

  it('[44] that are refused cost nothing, and say to the second when the next one passes', () => {
    fc.assert(
      fc.property(limits, gaps, fc.integer({ min: 1, max: 50 }), (limit, waits, times) => {
        const { kept } = made(timesOf(waits), limit)
        const now = START + waits.reduce((sum, seconds) => sum + seconds, 0)
        let before = kept
        for (let passed = 0; ; passed++) {
          expect(passed).toBeLessThanOrEqual(limit.allowance)
          const outcome = attempt(before, now, limit)
          if (outcome.type === 'allowed') {
            before = outcome.attempts
            continue
          }
          const { retryAfter } = outcome
          expect(retryAfter).toBeGreaterThan(0)
          expect(retryAfter).toBeLessThanOrEqual(limit.period)
          for (let count = 0; count < times; count++) expect(attempt(before, now, limit)).toStrictEqual(outcome)
          expect(attempt(before, now + retryAfter - 1, limit)).toMatchObject({ type: 'limited', retryAfter: 1 })
          expect(attempt(before, now + retryAfter, limit).type).toBe('allowed')
          expect(attempt(before, now + retryAfter + 1, limit).type).toBe('allowed')
          break
        }
      }),
      { numRuns: 200 },
    )
  })

  it('whose record is gone from the moment that it names are counted as if it were still there', () => {
    fc.assert(
      fc.property(limits, gaps, fc.nat(1_000), (limit, waits, later) => {
        const { kept } = made(timesOf(waits), limit)
        fc.pre(kept !== undefined)
        const now = kept.freeAt + later
        expect(attempt(kept, now, limit)).toStrictEqual(attempt(undefined, now, limit))
      }),
      { numRuns: 200 },
    )
  })

  it('are kept as one time and nothing else, and what was read is not changed', () => {
    const limit = { allowance: 10, period: 60 }
    const first = Object.freeze({ v: 1, freeAt: START + 100 } as const)
    const outcome = attempt(first, START, limit)
    expect(outcome).toStrictEqual({ type: 'allowed', attempts: { v: 1, freeAt: START + 160 } })
    expect(attempt(undefined, START, limit)).toStrictEqual({
      type: 'allowed',
      attempts: { v: 1, freeAt: START + 60 },
    })
  })

  it('[44] are not had back by a clock that steps back: it makes the wait longer, and never longer than a period', () => {
    fc.assert(
      fc.property(limits, gaps, fc.integer({ min: 1, max: 100_000 }), (limit, waits, back) => {
        const { kept } = made(timesOf(waits), limit)
        const now = START + waits.reduce((sum, seconds) => sum + seconds, 0)
        const usual = attempt(kept, now, limit)
        const early = attempt(kept, now - back, limit)
        // An attempt that passes is on top of those that were made before.
        const freeAt = Math.max(kept?.freeAt ?? 0, now - back) + limit.period
        const passed = { type: 'allowed', attempts: { freeAt } }
        const waiting = (seconds: number) => ({ type: 'limited', retryAfter: Math.min(seconds + back, limit.period) })
        expect(early).toMatchObject(
          usual.type === 'limited'
            ? waiting(usual.retryAfter)
            : early.type === 'allowed'
              ? passed
              : { type: 'limited' },
        )
      }),
      { numRuns: 200 },
    )
  })

  it('[44] after a clock stepped back, however far, nobody is locked out for longer than allowance times period', () => {
    fc.assert(
      fc.property(limits, gaps, fc.integer({ min: 0, max: 1_000_000 }), (limit, waits, back) => {
        let { kept } = made(timesOf(waits), limit)
        const from = START + waits.reduce((sum, seconds) => sum + seconds, 0) - back
        for (let now = from; now <= from + limit.allowance * limit.period; now++) {
          const outcome = attempt(kept, now, limit)
          if (outcome.type === 'allowed') return
          expect(outcome.retryAfter).toBeLessThanOrEqual(limit.period)
          kept = keptAfter(kept, outcome)
        }
        expect.fail('locked out')
      }),
      { numRuns: 200 },
    )
  })

  it('[44] after a clock stepped back count as the whole allowance at most, and then as ever', () => {
    const limit = { allowance: 10, period: 60 }
    const far = { v: 1, freeAt: START + 1_000_000 } as const
    // Every second for an hour.
    const { passed } = made(
      Array.from({ length: 3601 }, (_, second) => START + second),
      limit,
      far,
    )
    expect(passed).toEqual(Array.from({ length: 60 }, (_, minute) => START + 60 * (minute + 1)))
  })

  it('[44] of a clock that goes back and forth are never too many between two steps back', () => {
    fc.assert(
      fc.property(
        limits,
        fc.array(fc.integer({ min: -300, max: 300 }), { maxLength: 80, size: 'max' }),
        (limit, jumps) => {
          let kept: Attempts | undefined
          let before = START
          let stretch: number[] = []
          for (const now of timesOf(jumps)) {
            if (now < before) stretch = []
            before = now
            const outcome = attempt(kept, now, limit)
            kept = keptAfter(kept, outcome)
            if (outcome.type === 'allowed') stretch.push(now)
            expect(tooMany(stretch, limit)).toEqual([])
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it('with an allowance of one are a period apart', () => {
    expect(
      made([START, START, START + 59, START + 60, START + 119, START + 120], { allowance: 1, period: 60 }).passed,
    ).toEqual([START, START + 60, START + 120])
  })
})

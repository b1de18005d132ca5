/**
 * The limit on operations that run at the same time, with a clock of the test.
 * @module
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { limitConcurrency } from '../../src/client/http/concurrency.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Creates operations that the test ends. */
function openWork() {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const work = (name: number) => () =>
    new Promise<number>((resolve) => {
      begun.push(name)
      ends.push(() => resolve(name))
    })
  return { begun, ends, work }
}

const late = expect.objectContaining({
  code: 'ERR_UNREACHABLE',
  message: 'grantwell: the request was not sent: earlier requests got no answer within 10 seconds',
})

describe('an operation that waits for others', () => {
  it('starts in its order of arrival', async () => {
    const { begun, ends, work } = openWork()
    const runLimited = limitConcurrency({ atOnce: 2, waiting: 10, patience: 10 })
    const all = Promise.all([0, 1, 2, 3, 4].map((name) => runLimited(work(name))))
    for (let ended = 0; ended < 5; ended++) {
      expect(begun).toEqual([0, 1, 2, 3, 4].slice(0, ended + 2))
      ends[ended]?.()
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(await all).toEqual([0, 1, 2, 3, 4])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is refused after the time that one answer may take, and never starts', async () => {
    const { begun, ends, work } = openWork()
    const runLimited = limitConcurrency({ atOnce: 1, waiting: 2, patience: 10 })
    const first = runLimited(work(0))
    const waiting = [runLimited(work(1)), runLimited(work(2))].map((each) => each.catch((error: unknown) => error))
    await expect(runLimited(work(3))).rejects.toThrow('too many other requests are waiting')
    await vi.advanceTimersByTimeAsync(9_999)
    const third = runLimited(work(4)).catch((error: unknown) => error)
    expect(await third).toMatchObject({ message: expect.stringContaining('too many other requests') })
    await vi.advanceTimersByTimeAsync(1)
    expect(await Promise.all(waiting)).toEqual([late, late])
    // The place of the first goes to the new operation, not to one that was refused.
    const last = runLimited(work(5))
    ends[0]?.()
    expect(await first).toBe(0)
    ends[1]?.()
    expect(await last).toBe(5)
    expect(begun).toEqual([0, 5])
    expect(vi.getTimerCount()).toBe(0)
  })
})

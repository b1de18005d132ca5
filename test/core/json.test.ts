/**
 * JSON values beside each other: what was written and what an engine gives back.
 * @module
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sameJson } from '../../src/core/json.js'

const value = fc.jsonValue({ maxDepth: 3 }).map((each) => JSON.parse(JSON.stringify(each)))

/** The same value, the names of its objects in the opposite order. */
function reversed(each: unknown): unknown {
  if (Array.isArray(each)) return each.map(reversed)
  if (typeof each !== 'object' || each === null) return each
  return Object.fromEntries(
    Object.entries(each)
      .reverse()
      .map(([name, part]) => [name, reversed(part)]),
  )
}

describe('two JSON values', () => {
  it('are the same whatever the order of names', () => {
    fc.assert(
      fc.property(value, (each) => {
        expect(sameJson(each, reversed(each))).toBe(true)
      }),
    )
  })

  it('are the same exactly when JSON in one order of names says so', () => {
    const small = fc.jsonValue({ maxDepth: 2, depthSize: 'small', stringUnit: fc.constantFrom('a', 'b') })
    fc.assert(
      fc.property(small, small, (a, b) => {
        const [one, other] = [a, b].map((each) => JSON.parse(JSON.stringify(each)))
        let equal = true
        try {
          expect(one).toStrictEqual(other)
        } catch {
          equal = false
        }
        expect(sameJson(one, other)).toBe(equal)
      }),
    )
  })

  it.each([
    [[], {}],
    [{}, []],
    [null, {}],
    [{}, null],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: undefined }, { b: undefined }],
    [
      [1, 2],
      [2, 1],
    ],
    ['1', 1],
    [[[1]], [[2]]],
    [JSON.parse('{"__proto__":1}'), {}],
  ])('%j and %j are not', (one, other) => {
    expect([sameJson(one, other), sameJson(other, one)]).toEqual([false, false])
  })
})

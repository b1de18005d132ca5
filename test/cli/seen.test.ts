/**
 * The set of digests that tells which records a scan has shown already.
 * @module
 */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { createSeen } from '../../src/cli/shell/seen.js'

const digest = (index: number) => createHash('sha256').update(String(index)).digest()

it('knows each digest that was added, and no other, however many there are', () => {
  const seen = createSeen()
  for (const count of [50_000, 20_000]) {
    const digests = Array.from({ length: count }, (_, index) => digest(index))
    expect(digests.filter((each) => seen.has(each) || !seen.add(each))).toEqual([])
    expect(digests.filter((each) => !seen.has(each) || seen.add(each))).toEqual([])
    seen.clear()
    expect(digests.filter(seen.has)).toEqual([])
  }
})

it('tells digests apart that begin alike', () => {
  const seen = createSeen()
  const like = (index: number, value: number): Buffer => {
    const bytes = Buffer.alloc(32, 1)
    bytes[index] = value
    return bytes
  }
  expect(Array.from({ length: 12 }, (_, index) => seen.add(like(index, 2)))).not.toContain(false)
  expect(seen.add(like(20, 2))).toBe(true)
  expect(seen.add(like(21, 3))).toBe(false)
})

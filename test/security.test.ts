/**
 * The tables of statements are true: each statement has its row, and each test that a row names bears its number.
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('..', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** Number, where it is held, where it is tested. */
const rows = read('docs/security/statements.md')
  .replaceAll('`', '')
  .split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, number, , held = '', tested = '']) => ({ number: Number(number), held, tested }))

describe('the tables of statements', () => {
  it('has all of them, each once', () => {
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 58 }, (_, index) => index + 1))
  })

  it.each(rows)('[$number] names files that hold it, and tests that bear its number', ({ number, held, tested }) => {
    for (const file of held.split(', ')) expect([file, existsSync(new URL(`src/${file}`, root))]).toEqual([file, true])
    for (const file of tested.split(', '))
      expect([file, read(`test/${file}`).includes(`[${number}]`)]).toEqual([file, true])
  })
})

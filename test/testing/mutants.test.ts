/**
 * The mutations themselves: each has its place in the sources, however these are formatted.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { BROKEN_SERVERS } from './broken-servers.js'
import { MUTATIONS } from './explored-servers.js'
import type { Edit } from './mutants.js'
import { mutate, mutatedSources } from './mutants.js'

const EDIT: Edit = { within: 'rule', find: "$x.kind === 'a' && !done", replace: '$x.kind !== $x' }

/** Edits one source. */
function edited(text: string, edit: Edit = EDIT): string | undefined {
  return mutate(new Map([['a.ts', text]]), [edit]).get('a.ts')
}

describe('a mutation', () => {
  it.each([
    ["function rule() { return b.kind === 'a' && !done }", 'function rule() { return (b.kind !== b) }'],
    ['const rule = () =>\n  b\n    ?.kind === "a" && // why\n  (!done)', 'const rule = () =>\n  (b !== b)'],
  ])('finds its expression in any layout: %s', (text, made) => {
    expect(edited(text)?.replace('.kind', '')).toBe(made.replace('.kind', ''))
  })

  it.each([
    ['another function', "function other() { return b.kind === 'a' && !done }"],
    ['another operator', "function rule() { return b.kind === 'a' && -done }"],
    ['another text', "function rule() { return b.kind === 'b' && !done }"],
    ['two places', "function rule() { return [b.kind === 'a' && !done, c.kind === 'a' && !done] }"],
  ])('is refused where there is %s', (_, text) => {
    expect(() => edited(text)).toThrow(/found [02] times in rule: /)
  })

  it('is made at every place where it asks for that', () => {
    const text = 'function rule() { return a(1) + b(a(2)) }'
    const edit = { find: 'a($x)', replace: '$x', everywhere: true } as const
    expect(edited(text, edit)).toBe('function rule() { return (1) + b((2)) }')
  })

  it.each([...BROKEN_SERVERS, ...Object.values(MUTATIONS)])('has its place in our sources: $name', (mutation) => {
    expect(mutatedSources(mutation).size).toBeGreaterThan(0)
  })
})

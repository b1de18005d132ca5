/**
 * The pages at the top of the repository: short, with links that lead somewhere.
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './project.js'
import { relativeLinks } from './readme.js'

/** The pages, each with the bytes that it may have. */
const PAGES = [
  ['README.md', 8192],
  ['SECURITY.md', 4096],
  ['CONTRIBUTING.md', 8192],
] as const

describe.each(PAGES)('%s', (file, longest) => {
  const text = readFileSync(join(ROOT, file), 'utf8')

  it(`has at most ${longest} bytes`, () => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(longest)
  })

  it('has links that lead somewhere', () => {
    const links = relativeLinks(text)
    expect(links.length).toBeGreaterThan(0)
    expect(links.filter((link) => !existsSync(join(ROOT, link.split('#')[0] ?? '')))).toEqual([])
  })
})

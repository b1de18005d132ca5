/**
 * The page on what is supported says what the package demands, and on what the tests run.
 * @module
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { runtimes } from '../runtimes/runtimes.mjs'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = read('docs/operations/support.md').replaceAll('\\|', '|')
const manifest = JSON.parse(read('package.json'))

it('names every runtime of the matrix, and no other', () => {
  const versionOf: Readonly<Record<string, (version: string) => string>> = {
    Node: (version) => version.split('.')[0] ?? '',
    Bun: (version) => version.split('.').slice(0, 2).join('.'),
    Deno: (version) => version.split('.').slice(0, 2).join('.'),
    workerd: (version) => version,
  }
  const versions: Record<string, string[]> = {}
  for (const { title } of runtimes) {
    const [name = '', version = ''] = title.split(' ')
    versions[name] = [...(versions[name] ?? []), versionOf[name]?.(version) ?? '']
  }
  const rows = Object.entries(versions).map(([name, all]) => `| ${name} | ${all.join(', ')} |`)
  const written = page.slice(page.indexOf('## Runtimes'), page.indexOf('## Engines')).match(/^\| \w+ \| [\d., ]+ \|/gm)
  expect(written).toEqual(rows)
})

it('names every optional peer, with the versions that the package takes', () => {
  const peers: Readonly<Record<string, string>> = manifest.peerDependencies
  const written = [...page.matchAll(/^\| `([\w@/-]+)` \| `([^`]+)` \|/gm)].map(([, name, range]) => [name, range])
  expect(Object.fromEntries(written)).toEqual(peers)
})

it('begins with the oldest Node that the package takes', () => {
  expect(manifest.engines.node).toMatch(new RegExp(`^>=${/^\| Node \| (\d+)/m.exec(page)?.[1]}\\.`))
})

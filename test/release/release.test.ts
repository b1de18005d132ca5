/**
 * What a release needs beside the build: links of the packed front pages, the changelog, and what must be there before it goes out.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addresses, missing, packedPage, releasedChangelog } from '../../.ci/release.mjs'
import { ROOT } from '../package/project.js'
import { readme, relativeLinks } from '../package/readme.js'

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const manifest: { readonly version: string; readonly files: readonly string[] } = JSON.parse(read('package.json'))
const known = { ...manifest, repository: 'github:Owner/name' }

describe('the address of the repository', () => {
  it.each([
    'github:Owner/name',
    'Owner/name',
    'https://github.com/Owner/name',
    'git+https://github.com/Owner/name.git',
  ])('is read from %s', (repository) => {
    const found = { repository: 'https://github.com/Owner/name', site: 'https://owner.github.io/name' }
    expect(addresses({ ...manifest, repository })).toEqual(found)
    expect(addresses({ ...manifest, repository: { url: repository } })).toEqual(found)
  })

  it('leaves the site to homepage', () => {
    expect(addresses({ ...known, homepage: 'https://docs.example/' })?.site).toBe('https://docs.example')
  })

  it('may be missing, but not of another kind', () => {
    expect(addresses(manifest)).toBeUndefined()
    expect(() => addresses({ ...manifest, repository: 'https://git.example/owner/name' })).toThrow(
      'package.json: repository must be like github:owner/name; got "https://git.example/owner/name"',
    )
  })
})

describe('the front pages of the package', () => {
  it.each(['README.md', 'SECURITY.md'])(
    'leave in %s only links to files of the package, without an address',
    (page) => {
      const packed = packedPage(read(page), manifest)
      expect(relativeLinks(packed).filter((target) => !manifest.files.includes(target))).toEqual([])
      // The words stay, and pictures go.
      const words = (text: string): string => text.replaceAll(/!\[.*\)/g, '').replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
      expect(words(packed)).toBe(words(read(page)))
    },
  )

  it.each(['README.md', 'SECURITY.md'])('have in %s no relative link, with an address', (page) => {
    expect(relativeLinks(read(page)).length).toBeGreaterThan(2)
    expect(relativeLinks(packedPage(read(page), known))).toEqual([])
  })

  it.each([
    ['docs/guides/guard.md', 'https://owner.github.io/name/guides/guard'],
    ['docs/rules/index.md#scopes', 'https://owner.github.io/name/rules/#scopes'],
    ['examples/demo/start.mjs', 'https://github.com/Owner/name/blob/v0.1.0/examples/demo/start.mjs'],
    ['LICENSE', 'https://github.com/Owner/name/blob/v0.1.0/LICENSE'],
    ['https://www.rfc-editor.org/rfc/rfc6749', 'https://www.rfc-editor.org/rfc/rfc6749'],
    ['#status', '#status'],
  ])('lead %s to %s', (target, to) => {
    expect(packedPage(`See [this](${target}).`, { ...known, version: '0.1.0' })).toBe(`See [this](${to}).`)
  })

  it('are as before after packing, also after a packing that was cut short', () => {
    const folder = mkdtempSync(join(tmpdir(), 'grantwell-front-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    for (const file of ['package.json', 'README.md', 'SECURITY.md']) cpSync(join(ROOT, file), join(folder, file))
    const run = (command: string): number | null =>
      spawnSync(process.execPath, [join(ROOT, '.ci/release.mjs'), command], { cwd: folder }).status
    const there = (): string => readFileSync(join(folder, 'README.md'), 'utf8')
    expect([run('pages'), run('pages')]).toEqual([0, 0])
    expect(there()).toBe(packedPage(readme(), manifest))
    expect([run('restore'), run('restore')]).toEqual([0, 0])
    expect(there()).toBe(readme())
  })
})

describe('a picture of a front page', () => {
  const page = 'Before ![A picture](docs/public/pictures/site.png) after'

  it('comes from the repository, or not at all', () => {
    expect(packedPage(page, { ...known, version: '0.1.0' })).toBe(
      'Before ![A picture](https://github.com/Owner/name/raw/v0.1.0/docs/public/pictures/site.png) after',
    )
    expect(packedPage(page, manifest)).toBe('Before  after')
  })
})

describe('the changelog of a release', () => {
  const text = '# Changelog\n\nWhat changed.\n\n## [Unreleased]\n\n### Added\n\n- A thing, in\n  two lines.\n'
  const date = new Date('2026-11-24T12:00:00Z')

  it('has its version and date where Unreleased was', () => {
    expect(releasedChangelog(text, { ...manifest, version: '0.2.0' }, date)).toBe(
      text.replace('## [Unreleased]', '## 0.2.0 - 2026-11-24'),
    )
    expect(releasedChangelog(text, { ...known, version: '0.2.0' }, date)).toBe(
      `${text.replace('[Unreleased]', '[0.2.0] - 2026-11-24')}\n[0.2.0]: https://github.com/Owner/name/releases/tag/v0.2.0\n`,
    )
  })

  it('loses nothing of ours', () => {
    const ours = read('CHANGELOG.md')
    const released = releasedChangelog(ours, { ...manifest, version: '99.0.0' }, date)
    expect(released).toBe(ours.replace(/^## .*Unreleased.*$/m, '## 99.0.0 - 2026-11-24'))
  })

  it('is refused where nothing changed, or the version is there', () => {
    const empty = text.slice(0, text.indexOf('### Added'))
    expect(() => releasedChangelog(empty, manifest, date)).toThrow('CHANGELOG.md: nothing is under Unreleased')
    const twice = `${text}\n## 0.2.0 - 2026-11-01\n\n### Fixed\n\n- Another.\n`
    expect(() => releasedChangelog(twice, { ...manifest, version: '0.2.0' }, date)).toThrow(
      'CHANGELOG.md: 0.2.0 is there already',
    )
  })
})

describe('what is missing before publishing', () => {
  const changelog = '# Changelog\n\n## 0.2.0 - 2026-11-24\n\n### Added\n\n- A thing.\n'

  it('is nothing where tag, version, changelog and address agree', () => {
    expect(missing({ ...known, version: '0.2.0' }, changelog, 'v0.2.0')).toEqual([])
  })

  it('is said, all at once', () => {
    expect(missing({ ...manifest, version: '0.3.0' }, changelog, 'v0.2.0')).toEqual([
      'the tag is v0.2.0, and package.json has the version 0.3.0',
      'CHANGELOG.md has no 0.3.0 with a date',
      'package.json has no repository: npm pkg set repository=github:owner/name',
    ])
  })

  it('fails the command', () => {
    const folder = mkdtempSync(join(tmpdir(), 'grantwell-check-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...known, version: '0.2.0' }))
    writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
    const run = (tag: string) =>
      spawnSync(process.execPath, [join(ROOT, '.ci/release.mjs'), 'check', tag], { cwd: folder, encoding: 'utf8' })
    expect(run('v0.2.0').status).toBe(0)
    expect(run('v0.2.1')).toMatchObject({ status: 1, stderr: expect.stringContaining('the tag is v0.2.1') })
  })
})

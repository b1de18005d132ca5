/**
 * The pages of the site: that each can be reached, that its links and snippets exist, and that its sentences are short.
 * @module
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { SECTIONS } from '../../docs/.vitepress/sections.js'
import { ENTRY_POINTS, readTables } from '../../docs/tables.mjs'
import { resolveOptions } from '../../src/shell/options/settings.js'
import { SCREENSHOTS } from '../pages/screenshots.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const docs = join(root, 'docs')

/** Words that a sentence may have. */
const LONGEST_SENTENCE = 40

/** Languages of code that stands in a page itself. All other code comes from a file that the tests run. */
const STANDING = new Set(['sh', 'console', 'json', 'http', 'text', 'sql', 'html', 'css', 'proto', 'nginx', 'yaml', ''])

interface Page {
  readonly path: string
  readonly text: string
}

const pages: readonly Page[] = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md') && !file.startsWith('reference/') && !file.startsWith('.vitepress/'))
  .map((file) => ({ path: `/${file.replace(/(index)?\.md$/, '')}`, text: readFileSync(join(docs, file), 'utf8') }))

/** Pages that are made from the sources when the site is built. */
const MADE = [
  ...['/reference/', '/reference/options', '/reference/events', '/reference/errors'],
  ...Object.values(ENTRY_POINTS).map((path) => `/reference/${path}`),
]

const listed = Object.values(SECTIONS).flatMap((section) => section.map(([path]) => path))

describe('the site', () => {
  it('lists every page in its side bar, and has every page that it lists', () => {
    const written = pages.map(({ path }) => path).filter((path) => path !== '/')
    expect([...written, ...MADE].toSorted()).toEqual(listed.toSorted())
  })

  it.each(pages.map((page) => [page.path, page] as const))('%s has links that lead somewhere', (_path, { text }) => {
    expect(linksIn(text).filter((link) => !leadsSomewhere(link, text))).toEqual([])
  })

  it.each(pages.map((page) => [page.path, page] as const))('%s has sentences that are not too long', (_path, page) => {
    expect(sentencesIn(page.text).filter((sentence) => wordsIn(sentence) > LONGEST_SENTENCE)).toEqual([])
  })

  it.each(pages.map((page) => [page.path, page] as const))('%s shows code that the tests run', (path, { text }) => {
    const fences = [...text.matchAll(/^```([a-z]*)/gm)].map(([, language = '']) => language)
    expect(fences.filter((language) => !STANDING.has(language))).toEqual([])
    const included = [...text.matchAll(/^<<< (\S+?)(?:#([\w-]+))?(?:\{.*\})?\s*$/gm)]
    for (const [, file = '', region] of included) {
      const source = readFileSync(join(docs, dirname(`.${path}x`), file), 'utf8')
      // Or a template or configuration that such a file reads, or an example that has tests of its own.
      expect(file).toMatch(
        /\/snippets\/([\w-]+\.test\.ts|templates\/[\w-]+\.eta|grantwell\.config\.mjs)$|\/examples\/mcp\/server\.mjs$/,
      )
      const shown = region === undefined ? source : regionOf(source, region)
      expect(shown.trim(), `${file}#${region}`).not.toBe('')
    }
  })

  it.each(pages.map((page) => [page.path, page] as const))('%s shows what its code imports', (path, { text }) => {
    const shown = new Map<string, string>()
    for (const [, file = '', region = ''] of text.matchAll(/^<<< (\S+?)#([\w-]+)(?:\{.*\})?\s*$/gm)) {
      const source = readFileSync(join(docs, dirname(`.${path}x`), file), 'utf8')
      shown.set(source, `${shown.get(source) ?? ''}\n${regionOf(source, region)}`)
    }
    const missing = [...shown].flatMap(([source, code]) => {
      const names = importedNames(source).filter((name) => !importedNames(code).includes(name))
      const uses = (name: string): boolean => new RegExp(`(?<![\\w.$':/])${name}\\b(?! *:)`).test(withoutComments(code))
      return names.filter(uses)
    })
    expect(missing).toEqual([])
  })

  it('has the screenshots that its script writes, of less than 1.5 MB in all', () => {
    const folder = join(docs, 'public', 'screenshots')
    const files = readdirSync(folder)
    expect(files.toSorted()).toEqual(SCREENSHOTS.map(({ file }) => file).toSorted())
    const bytes = files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
    expect(bytes).toBeLessThan(1_500_000)
  })

  it('names every entry point of the package', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const all = pages.map(({ text }) => text).join('\n')
    const names = Object.keys(exports).map((entry) => entry.replace(/^\./, 'grantwell'))
    expect(names.filter((name) => name !== 'grantwell/package.json' && !all.includes(`\`${name}\``))).toEqual([])
  })

  it('has the reference of every entry point in its side bar, under its name', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const names = Object.keys(exports).map((entry) => entry.replace(/^\./, 'grantwell'))
    const titles = Object.values(SECTIONS).flatMap((section) => section.map(([path, title]) => [title, path]))
    const listed = Object.fromEntries(titles)
    const pages = Object.entries(ENTRY_POINTS).map(([name, path]) => [name, `/reference/${path}`])
    expect(names.filter((name) => name !== 'grantwell/package.json').toSorted()).toEqual(
      Object.keys(ENTRY_POINTS).toSorted(),
    )
    expect(pages).toEqual(pages.map(([name = '']) => [name, listed[name]]))
  })
})

/** The code between the marks of a region; empty where there is none. */
function regionOf(source: string, region: string): string {
  const [, code = ''] = new RegExp(`// #region ${region}\\n(.*?)// #endregion ${region}\\b`, 's').exec(source) ?? []
  return code
}

/** The names that the imports of a code bring in. */
function importedNames(code: string): readonly string[] {
  // A page leaves the runner of the tests to its reader.
  const imports = code.matchAll(/^import (?:type )?([^'"]+?) from '(?!vitest')/gm)
  const parts = [...imports].flatMap(([, names = '']) => names.split(/[{},]/))
  return parts
    .map((part) =>
      part
        .replace(/.* as /, '')
        .replace(/^\s*type /, '')
        .trim(),
    )
    .filter((name) => name !== '')
}

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*.*?\*\/|\/\/ .*$/gms, '')
}

describe('the tables of the reference', () => {
  it.each(readTables().map((table) => [`${table.page}: ${table.title}`, table] as const))(
    '%s says what every row means',
    (_name, { rows }) => {
      expect(rows.length).toBeGreaterThan(0)
      expect(rows.filter(({ text }) => text === '')).toEqual([])
    },
  )

  it('say the defaults that the options of a server have', () => {
    const settings = resolveOptions({
      issuer: 'https://git.example',
      store: memoryStore(),
      user: () => undefined,
      signInUrl: () => '/sign-in',
    })
    const found: Readonly<Record<string, unknown>> = { ...settings, ...settings.rules }
    const [options] = readTables()
    const said = options?.rows.flatMap(({ name, text }) => {
      const [, value] = /([\d,]+|true|false)(?: \([^)]*\))? by default/.exec(text) ?? []
      return value === undefined ? [] : [[name, JSON.parse(value.replaceAll(',', ''))]]
    })
    expect(said?.length).toBeGreaterThan(15)
    expect(said).toEqual(said?.map(([name]) => [name, found[name]]))
  })
})

/** Returns the targets of links outside code. */
function linksIn(text: string): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)|^\s+link: (\S+)$/gm)].map(([, a, b]) => a ?? b ?? '')
}

function leadsSomewhere(link: string, text: string): boolean {
  if (/^https:\/\//.test(link)) return true
  const [path = '', anchor] = link.split('#')
  if (path.startsWith('/reference/')) return MADE.includes(path)
  if (/^\/(pictures|screenshots)\//.test(path)) return existsSync(join(docs, 'public', path))
  const target = path === '' ? text : pages.find((page) => page.path === path)?.text
  return target !== undefined && (anchor === undefined || anchorsIn(target).includes(anchor))
}

/** Returns the anchors of a page's headings: given ones, and those that are made of their words. */
function anchorsIn(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) => {
    const given = /\{#([^}]+)\}\s*$/.exec(heading)?.[1]
    const words = heading.toLowerCase().replace(/[^\p{L}\p{N}\s-]/gu, ' ')
    return given ?? words.trim().replace(/\s+/g, '-')
  })
}

/** Returns the sentences of a page: of its paragraphs, list items and cells of tables. */
function sentencesIn(text: string): string[] {
  const prose = withoutCode(text)
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/<[^>]+>/g, ' ')
  const blocks = prose.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\||\n(?=#)|\n(?=:::)/)
  return blocks.flatMap((block) =>
    block
      .replace(/\s+/g, ' ')
      .trim()
      .split(/(?<=[.!?:;])\s+/),
  )
}

function wordsIn(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, 'code')
}

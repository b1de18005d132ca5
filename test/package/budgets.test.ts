/**
 * The budget of each entry point: the files that its import loads, their bytes in a bundle, and the sources that must wait
 * behind the start. Counts are the same on every machine; `bench/import.mjs` measures the time.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { weigh } from '../../bench/weight.mjs'
import { ROOT } from './project.js'

/** The most that an entry point may weigh. */
interface Budget {
  /** The most files that Node reads for its import, those of our libraries with them. */
  readonly files: number
  /** The most bytes of its bundle, minified, each file compressed by gzip at level 9. */
  readonly gzip: number
  /** The same by brotli, where there is a limit to it. */
  readonly brotli?: number
  /** The same of what is loaded behind the start, by gzip; nothing by default. */
  readonly later?: number
}

const BUDGETS: { readonly [entry: string]: Budget } = {
  '.': { files: 13, gzip: 20_000, brotli: 18_000, later: 127_000 },
  './core': { files: 6, gzip: 14_450 },
  './console': { files: 6, gzip: 41_000, later: 52_000 },
  './node': { files: 6, gzip: 7_250 },
  './fetch': { files: 6, gzip: 3_650 },
  './storage/memory': { files: 4, gzip: 3_500 },
  './storage/sqlite': { files: 5, gzip: 4_450 },
  './storage/postgres': { files: 12, gzip: 10_550 },
  './storage/redis': { files: 9, gzip: 8_500 },
  './pages': { files: 2, gzip: 15_200, later: 52_000 },
  './metadata': { files: 1, gzip: 26_500 },
  './client': { files: 14, gzip: 22_300 },
  './client/node': { files: 5, gzip: 10_100 },
  './testing': { files: 21, gzip: 73_000, later: 117_000 },
  './opentelemetry': { files: 8, gzip: 6_000 },
}

/** Sources that no start waits for: they are loaded behind it. */
const LATER =
  /^src\/(pages\/|endpoints\/|guard\/mac-guard|management\/(?!administration)|shell\/consents|core\/(rate-limit|text)|core\/application\/(?!application\.|registration\.)|core\/grant\/(?!grant\.|inspect|rules)|core\/credentials\/(user-code|derivation)|protocol\/(authorization|cors\/(?!preflight)|client-authentication|device|introspection|metadata|pages|revocation|token))/

interface Output {
  readonly entryPoint?: string
  readonly imports: readonly { readonly path: string; readonly kind: string }[]
  readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>
}

const directory = mkdtempSync(join(tmpdir(), 'grantwell-budgets-'))
const { exports, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const files = new Map<string, string>(
  Object.entries<{ import?: { default: string } }>(exports).flatMap(([entry, { import: module }]) =>
    module === undefined ? [] : [[entry, join(directory, module.default)]],
  ),
)
let outputs: Readonly<Record<string, Output>>

beforeAll(() => {
  const tsup = join(ROOT, 'node_modules/tsup/dist/cli-default.js')
  const args = [tsup, '--config', join(ROOT, 'test/package/tsup.config.ts'), '--out-dir', join(directory, 'dist')]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the library was not built: ${stdout}\n${stderr}`)
  copyFileSync(join(ROOT, 'package.json'), join(directory, 'package.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'), 'junction')
  outputs = JSON.parse(readFileSync(join(directory, 'dist/metafile-esm.json'), 'utf8')).outputs
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** The sources in the files of the build that an entry point leads to. */
function sourcesOf(source: string, kinds: readonly string[]): readonly string[] {
  const [first = ''] = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === source)
  const found = new Set([first])
  for (const path of found)
    for (const next of outputs[path]?.imports ?? []) if (kinds.includes(next.kind)) found.add(next.path)
  return [...found].flatMap((path) =>
    Object.entries(outputs[path]?.inputs ?? {}).flatMap(([input, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [input] : [],
    ),
  )
}

describe('the budget of an entry point', () => {
  it('is there for each', () => expect(Object.keys(BUDGETS)).toEqual([...files.keys()]))

  it.each(Object.entries(BUDGETS))('%s is kept', async (entry, budget) => {
    const { files: read, loaded, all } = await weigh(files.get(entry) ?? '', Object.keys(peerDependencies))
    const weight = { files: read.length, gzip: loaded.gzip, brotli: loaded.brotli, later: all.gzip - loaded.gzip }
    const told = `${JSON.stringify(weight)}: ${read.join(', ')}`
    const { brotli = Number.POSITIVE_INFINITY, later = 0 } = budget
    expect(weight.files, told).toBeLessThanOrEqual(budget.files)
    expect(weight.gzip, told).toBeLessThanOrEqual(budget.gzip)
    expect(weight.brotli, told).toBeLessThanOrEqual(brotli)
    expect(weight.later, told).toBeLessThanOrEqual(later)
  })
})

describe('what is loaded behind the start', () => {
  it('is every endpoint, the transitions, the administration and the guard of signed requests, and nothing of them is there before', () => {
    expect(sourcesOf('src/index.ts', ['import-statement']).filter((source) => LATER.test(source))).toEqual([])
    const later = sourcesOf('src/index.ts', ['import-statement', 'dynamic-import']).filter((source) =>
      LATER.test(source),
    )
    for (const source of [
      'src/pages/consent.ts',
      'src/pages/appearance/stylesheet.ts',
      'src/endpoints/front-channel.ts',
      'src/endpoints/token.ts',
      'src/core/grant/refresh.ts',
      'src/management/applications.ts',
      'src/protocol/metadata.ts',
      'src/guard/mac-guard.ts',
    ])
      expect(later).toContain(source)
  })

  it('is asked for again where a file was not there, and told of: 500, or a promise that rejects', () => {
    const program = join(directory, 'missing.mjs')
    writeFileSync(
      program,
      `import { readdirSync, renameSync } from 'node:fs'
      import { createAuthorizationServer } from './dist/index.js'
      import { memoryStore } from './dist/storage/memory.js'
      const errors = []
      const server = createAuthorizationServer({
        issuer: 'https://git.example', store: memoryStore(), user: () => undefined, signInUrl: () => '/',
        onError: (error) => errors.push(error.code), macTokens: true, derivationKey: new Uint8Array(32),
      })
      const later = readdirSync('dist').filter((file) => /^(back-channel|front-channel|applications|grants|mac-guard)-.*js$/.test(file))
      const status = async () => (await server.handle({ method: 'GET', url: '/oauth2/style.css', headers: {} })).status
      const token = async () => (await server.handle({ method: 'POST', url: '/oauth2/token', headers: {} })).status
      const signed = async () => (await server.authenticate({ headers: { authorization: 'MAC x' } })).response.status
      const code = (promise) => promise.then(() => 'found', (error) => error.code)
      const said = async () => [await status(), await token(), await signed(), await code(server.applications.get('a')), await code(server.grants.listGrants('a'))]
      for (const file of later) renameSync('dist/' + file, 'dist/not-' + file)
      const before = await said()
      for (const file of later) renameSync('dist/not-' + file, 'dist/' + file)
      console.log(JSON.stringify([later.length, before, await said(), errors]))`,
    )
    const { stdout, stderr } = spawnSync(process.execPath, [program], { cwd: directory, encoding: 'utf8' })
    const missing = 'ERR_MODULE_NOT_FOUND'
    expect(JSON.parse(stdout || JSON.stringify(stderr))).toEqual([
      5,
      [500, 500, 500, missing, missing],
      [200, 400, 400, 'found', 'found'],
      [missing, missing, missing],
    ])
  })

  it('is there before a stranger can take the files that loading needs', () => {
    const program = join(directory, 'descriptors.mjs')
    writeFileSync(
      program,
      `import { openSync } from 'node:fs'
      import { createAuthorizationServer } from './dist/index.js'
      import { memoryStore } from './dist/storage/memory.js'
      const server = createAuthorizationServer({
        issuer: 'https://git.example', store: memoryStore(), user: () => undefined, signInUrl: () => '/',
        macTokens: true, derivationKey: new Uint8Array(32),
      })
      await new Promise((resolve) => setTimeout(resolve, 1000))
      let taken = 0
      try {
        for (;;) taken += openSync('/dev/null') > 0 ? 1 : 0
      } catch {}
      const status = (await server.handle({ method: 'GET', url: '/oauth2/style.css', headers: {} })).status
      const token = (await server.handle({ method: 'POST', url: '/oauth2/token', headers: {} })).status
      const signed = (await server.authenticate({ headers: { authorization: 'MAC x' } })).response.status
      const found = [await server.applications.get('a'), await server.grants.listGrants('a')]
      console.log(JSON.stringify([taken > 10, status, token, signed, found]))`,
    )
    const limited = `ulimit -n 100 && exec "${process.execPath}" "${program}"`
    const { stdout, stderr } = spawnSync('sh', ['-c', limited], { cwd: directory, encoding: 'utf8' })
    expect(JSON.parse(stdout || JSON.stringify(stderr))).toEqual([true, 200, 400, 400, [null, { grants: [] }]])
  })

  it('of a language is loaded by the first page in it, and no other language is', () => {
    const hooks = `export async function load(url, context, next) {
      if (/\\/(de|fr|es|pt|ja|zh-hans|ar)-\\w+\\.js$/.test(url)) process._rawDebug(url.split('/').pop().split(/-\\w+\\.js/)[0])
      return next(url, context)
    }`
    const program = join(directory, 'language.mjs')
    writeFileSync(
      program,
      `import { register } from 'node:module'
      register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))
      const { createAuthorizationServer } = await import('./dist/index.js')
      const { memoryStore } = await import('./dist/storage/memory.js')
      const server = createAuthorizationServer({
        issuer: 'https://git.example', store: memoryStore(), user: () => ({ subject: 'a' }), signInUrl: () => '/',
      })
      for (const language of ['en', 'ja', 'ja']) {
        const headers = { 'accept-language': language }
        const { body } = await server.handle({ method: 'GET', url: '/oauth2/applications', headers })
        console.log(/lang="([^"]+)"/.exec(body)[1])
      }`,
    )
    const { stdout, stderr } = spawnSync(process.execPath, [program], { cwd: directory, encoding: 'utf8' })
    expect([stdout, stderr]).toEqual(['en\nja\nja\n', 'ja\n'])
  })
})

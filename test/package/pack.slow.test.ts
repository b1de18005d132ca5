/**
 * The packed package in an empty project: what is in it, that every entry point loads in both module kinds and loads
 * nothing else, that the whole flow runs, that its types compile, that the README's code and other programs do what
 * they say, and that the bench runs.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transformSync } from 'esbuild'
import { memoryStore } from 'grantwell/storage/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, sender } from '../adapters/http.js'
import { decide, openService } from '../client/service.js'
import { freePort } from '../engines/process.js'
import { authorizationUrl, authorize, exchange, hiddenFields, registration } from '../support.js'
import type { Project } from './project.js'
import { compile, installPackage, ROOT, start } from './project.js'
import { blocksOf, consumers, readme } from './readme.js'

const ENTRIES = [
  '.',
  './core',
  './console',
  './node',
  './fetch',
  './storage/memory',
  './storage/sqlite',
  './storage/postgres',
  './storage/redis',
  './pages',
  './metadata',
  './client',
  './client/node',
  './testing',
  './opentelemetry',
] as const
type Entry = (typeof ENTRIES)[number]

/** What an entry point is called in an import. */
const nameOf = (entry: Entry): string => `grantwell${entry.slice(1)}`

let project: Project
beforeAll(async () => {
  project = await installPackage()
})
afterAll(() => project?.remove())

const manifest = () => JSON.parse(readFileSync(join(project.installed, 'package.json'), 'utf8'))

/** Every file of the installed package, with slashes. */
function filesIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(directory, file)).isFile())
    .map((file) => file.split(sep).join('/'))
    .sort()
}

describe('the tarball', () => {
  it('has the files of its list and no other', () => {
    const files = filesIn(project.installed)
    const listed: readonly string[] = manifest().files
    expect(listed).toEqual(['dist', 'README.md', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md'])
    for (const file of listed) expect(existsSync(join(project.installed, file)), file).toBe(true)
    for (const file of files)
      expect(file).toMatch(
        /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|SECURITY\.md|dist\/.+\.(c?js(\.map)?|d\.c?ts)|dist\/bin\/LICENSES\.txt|dist\/sbom\.cdx\.json)$/,
      )
  })

  it('says which packages it is made of, in its bill of materials as in the licences', () => {
    const read = (file: string): string => readFileSync(join(project.installed, file), 'utf8')
    const { metadata, components } = JSON.parse(read('dist/sbom.cdx.json'))
    const named = (each: { readonly purl: string }): string => decodeURIComponent(each.purl.replace('pkg:npm/', ''))
    const bundled: readonly string[] = metadata.component.components.map(named).sort()
    const licensed = read('dist/bin/LICENSES.txt').matchAll(/^(\S+) (\d\S+) \(.+\)$/gm)
    expect(bundled).toEqual([...licensed].map(([, name, version]) => `${name}@${version}`).sort())
    expect(bundled.length).toBeGreaterThan(3)
    expect(components.map(named)).toEqual([expect.stringMatching(/^@noble\/hashes@\d/)])
    expect(named(metadata.component)).toBe(`grantwell@${manifest().version}`)
  })

  it('has every file that its exports name, and exports the entry points and its package.json alone', () => {
    const { exports } = manifest()
    expect(Object.keys(exports)).toEqual([...ENTRIES, './package.json'])
    const targets = JSON.stringify(exports).match(/\.\/[\w./-]+\.(?:json|c?js|d\.c?ts)/g) ?? []
    expect(targets.length).toBeGreaterThanOrEqual(ENTRIES.length * 4)
    for (const target of targets.filter((each) => each !== './package.json'))
      expect(existsSync(join(project.installed, target)), target).toBe(true)
  })

  it('depends on @noble/hashes alone', () => {
    const { dependencies, peerDependencies, optionalDependencies, bundledDependencies } = manifest()
    expect(Object.keys(dependencies)).toEqual(['@noble/hashes'])
    expect([optionalDependencies, bundledDependencies]).toEqual([undefined, undefined])
    const optional = [
      '@bufbuild/protobuf',
      '@electric-sql/pglite',
      '@opentelemetry/api',
      'better-sqlite3',
      'fast-check',
      'ioredis',
      'libsql',
      'oauth4webapi',
      'pg',
      'redis',
    ]
    expect(Object.keys(peerDependencies)).toEqual(optional)
    expect(manifest().peerDependenciesMeta).toEqual(
      Object.fromEntries(optional.map((name) => [name, { optional: true }])),
    )
    const installed = readdirSync(join(project.directory, 'node_modules')).filter((name) => !name.startsWith('.'))
    expect(installed.sort()).toEqual(['@noble', 'grantwell'])
    expect(readdirSync(join(project.directory, 'node_modules/@noble'))).toEqual(['hashes'])
  })

  it('maps each of its files to sources of ours, which the map has in it', () => {
    const files = filesIn(project.installed)
    // The command has packages in it, and has no map.
    const scripts = files.filter((file) => /\.c?js$/.test(file) && !file.startsWith('dist/bin/'))
    expect(scripts.length).toBeGreaterThanOrEqual(ENTRIES.length * 2)
    for (const file of scripts) {
      const text = readFileSync(join(project.installed, file), 'utf8')
      const [, url] = /\n\/\/# sourceMappingURL=(.+)\s*$/.exec(text) ?? []
      expect(url).toBe(`${file.split('/').at(-1)}.map`)
      const map = JSON.parse(readFileSync(join(project.installed, `${file}.map`), 'utf8'))
      for (const [index, source] of map.sources.entries()) {
        const path = relative(project.installed, resolve(project.installed, dirname(file), source))
          .split(sep)
          .join('/')
        expect(path).toMatch(/^src\/[\w./-]+\.ts$/)
        expect(map.sourcesContent[index]).toBe(readFileSync(join(ROOT, path), 'utf8'))
      }
    }
  })

  it('says nothing of the machine that made it', () => {
    for (const file of filesIn(project.installed)) {
      const text = readFileSync(join(project.installed, file), 'utf8')
      for (const place of [ROOT, project.directory, dirname(project.directory), 'file://'])
        expect(text.includes(place), `${place} in ${file}`).toBe(false)
    }
  })

  it('has no hook that runs when it is installed', () => {
    const hooks = Object.keys(manifest().scripts ?? {}).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))
    expect(hooks).toEqual([])
  })
})

describe('the command', () => {
  it('is a file that runs by its name, with what it loads late and the licences beside it, and needs no other package', () => {
    expect(manifest().bin).toEqual({ grantwell: 'dist/bin/grantwell.cjs' })
    expect(filesIn(join(project.installed, 'dist/bin'))).toEqual([
      'LICENSES.txt',
      'connect.cjs',
      'grantwell.cjs',
      'prompts.cjs',
    ])
    expect(existsSync(join(project.directory, 'node_modules/@bufbuild'))).toBe(false)
    expect(project.npx('grantwell', '--version')).toBe(`${manifest().version}\n`)
    project.write('METADATA', 'name: "zlib"\nthird_party { version: "1.3.1" }\n')
    expect(project.npx('grantwell', 'metadata', 'set', 'third_party.version=1.3.2', 'METADATA')).toBe('')
    expect(JSON.parse(project.npx('grantwell', 'metadata', 'show', '--json', 'METADATA'))).toEqual({
      name: 'zlib',
      thirdParty: { version: '1.3.2' },
    })
  })
})

describe('the optional peers', () => {
  const ASKED = {
    metadata: ['@bufbuild/protobuf'],
    client: ['oauth4webapi'],
    testing: ['fast-check', 'pure-rand'],
    opentelemetry: ['@opentelemetry/api'],
  } as const

  it.each(Object.entries(ASKED))('are asked for by grantwell/%s alone, and by their names', (entry, [peer, ...own]) => {
    project.write('peer.mjs', `import 'grantwell/${entry}'`)
    expect(() => project.run('peer.mjs')).toThrow(`Cannot find package '${peer}'`)
    for (const name of [peer, ...own]) project.addPeer(name)
    expect(project.run('peer.mjs')).toBe('')
  })

  it('makes the codec work in both module kinds, and both with each other', () => {
    const run = `const { MetaData, formatText, editText, parseText } = metadata
      const record = parseText('name: "zlib" third_party { identifier { version: "v1" } }')
      const bytes = MetaData.encode(record, { unknownText: 'omit' })
      console.log(MetaData.decode(bytes).name, editText(formatText(record), { 'third_party.identifier.version': 'v2' }).length)`
    project.write('codec.mjs', `import * as metadata from 'grantwell/metadata'\n${run}`)
    project.write('codec.cjs', `const metadata = require('grantwell/metadata')\n${run}`)
    for (const file of ['codec.mjs', 'codec.cjs']) expect(project.run(file)).toBe('zlib 66\n')
  })
})

/** The whole flow, without imports, so that it runs in both module kinds. */
const FLOW = `
async function flow({ root, core, node, fetch: adapter, memory, pages }) {
  const assert = (holds, what) => { if (!holds) throw new Error(what) }
  const server = root.createAuthorizationServer({
    issuer: 'https://git.example',
    store: memory.memoryStore(),
    user: () => ({ subject: 'ada', name: 'Ada' }),
    signInUrl: () => '/sign-in',
    digests: DIGESTS === 'node' ? node.nodeDigests : root.portableDigests,
    pages: { error: pages.defaultPages.error },
  })
  const { clientId, clientSecret } = await server.applications.register({
    name: 'Sample',
    logo: Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=='), (each) => each.charCodeAt(0)),
    website: 'https://app.example',
    type: 'confidential',
    redirectUris: ['https://app.example/callback'],
    scopes: ['repo-code:rw'],
    resourceScope: 'all',
  })
  const handler = adapter.createFetchHandler(server)
  const send = (path, form, headers = {}) => handler(new Request('https://git.example' + path, {
    headers: { ...(form && { 'content-type': 'application/x-www-form-urlencoded' }), ...headers },
    ...(form && { method: 'POST', body: String(new URLSearchParams(form)) }),
  }))
  const page = await send('/oauth2/auth?' + new URLSearchParams({ response_type: 'code', client_id: clientId, state: 's' }))
  assert(page.status === 200, 'no consent page')
  const fields = Object.fromEntries([...(await page.text()).matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
    .map(([, name, value]) => [name, value.replaceAll('&amp;', '&')]))
  const cookie = page.headers.get('set-cookie').split(';')[0]
  const agreed = await send('/oauth2/auth', { ...fields, resource_scope: 'all', decision: 'agree' }, { cookie })
  assert(agreed.status === 302, 'not agreed: ' + agreed.status)
  const code = new URL(agreed.headers.get('location')).searchParams.get('code')
  const authorization = 'Basic ' + btoa(clientId + ':' + clientSecret)
  const token = async (form) => (await send('/oauth2/token', form, { authorization })).json()
  const first = await token({ grant_type: 'authorization_code', code })
  const second = await token({ grant_type: 'refresh_token', refresh_token: first.refresh_token })
  const api = (text) => server.authenticate({ headers: { authorization: 'Bearer ' + text } }, { scope: 'repo-code:r' })
  assert((await api(first.access_token)).type === 'authenticated', 'the old token')
  assert((await api(second.access_token)).subject === 'ada', 'the new token')
  const revoked = await send('/oauth2/revoke', { token: second.refresh_token }, { authorization })
  assert(revoked.status === 200, 'not revoked')
  assert((await api(second.access_token)).type === 'refused', 'works after revocation')
  const refused = await token({ grant_type: 'refresh_token', refresh_token: second.refresh_token })
  assert(refused.error === 'invalid_grant', 'refreshed after revocation')
  assert(core.parseCredential(first.access_token).kind === 'access_token', 'no credential')
  assert(typeof node.createNodeHandler(server) === 'function', 'no handler')
  return 'the flow is complete'
}
`

describe('both module kinds', () => {
  const MODULES = {
    root: '.',
    core: './core',
    ofConsole: './console',
    node: './node',
    fetch: './fetch',
    memory: './storage/memory',
    sqlite: './storage/sqlite',
    postgres: './storage/postgres',
    redis: './storage/redis',
    pages: './pages',
    metadata: './metadata',
    client: './client',
    clientNode: './client/node',
    testing: './testing',
    opentelemetry: './opentelemetry',
  } as const
  const esm = Object.entries(MODULES).map(([name, entry]) => `import * as ${name} from '${nameOf(entry)}'`)
  const cjs = Object.entries(MODULES).map(([name, entry]) => `const ${name} = require('${nameOf(entry)}')`)
  const list = `{ ${Object.keys(MODULES).join(', ')} }`

  it('give the same names at every entry point, those of the sources', async () => {
    const names = `console.log(JSON.stringify(Object.entries(${list}).map(([name, all]) =>
      [name, Object.keys(all).filter((key) => key !== 'default' && key !== 'module.exports').sort()])))`
    project.write('names.mjs', [...esm, names].join('\n'))
    project.write('names.cjs', [...cjs, names].join('\n'))
    const imported = JSON.parse(project.run('names.mjs'))
    expect(JSON.parse(project.run('names.cjs'))).toEqual(imported)
    const sources = {
      root: Object.keys(await import('grantwell')).sort(),
      core: Object.keys(await import('grantwell/core')).sort(),
      ofConsole: Object.keys(await import('grantwell/console')).sort(),
      node: Object.keys(await import('grantwell/node')).sort(),
      fetch: Object.keys(await import('grantwell/fetch')).sort(),
      memory: Object.keys(await import('grantwell/storage/memory')).sort(),
      sqlite: Object.keys(await import('grantwell/storage/sqlite')).sort(),
      postgres: Object.keys(await import('grantwell/storage/postgres')).sort(),
      redis: Object.keys(await import('grantwell/storage/redis')).sort(),
      pages: Object.keys(await import('grantwell/pages')).sort(),
      metadata: Object.keys(await import('grantwell/metadata')).sort(),
      client: Object.keys(await import('grantwell/client')).sort(),
      clientNode: Object.keys(await import('grantwell/client/node')).sort(),
      testing: Object.keys(await import('grantwell/testing')).sort(),
      opentelemetry: Object.keys(await import('grantwell/opentelemetry')).sort(),
    }
    expect(Object.fromEntries(imported)).toEqual(sources)
  })

  it('run the whole flow', () => {
    for (const digests of ['node', 'portable']) {
      const run = `const DIGESTS = '${digests}'\n${FLOW}\nflow(${list}).then(console.log)`
      project.write(`flow-${digests}.mjs`, [...esm, run].join('\n'))
      project.write(`flow-${digests}.cjs`, [...cjs, run].join('\n'))
      for (const kind of ['mjs', 'cjs'])
        expect(project.run(`flow-${digests}.${kind}`).trim()).toBe('the flow is complete')
    }
  })

  it('share no identity, which is why errors are told apart by their code', () => {
    project.write(
      'both.mjs',
      `import { createRequire } from 'node:module'
      import * as esm from 'grantwell'
      const cjs = createRequire(import.meta.url)('grantwell')
      console.log(esm.GrantwellError === cjs.GrantwellError)
      for (const { createAuthorizationServer } of [esm, cjs])
        try { createAuthorizationServer({}) } catch (error) { console.log(error.code) }`,
    )
    const said = project.run('both.mjs').trim().split('\n')
    expect(said).toEqual(['false', 'ERR_CONFIGURATION', 'ERR_CONFIGURATION'])
  })

  it('keep everything inside that is not exported', () => {
    const inside = ['grantwell/dist/index.js', 'grantwell/core/grant', 'grantwell/server', 'grantwell/storage']
    for (const name of inside) {
      project.write('inside.mjs', `await import('${name}')`)
      expect(() => project.run('inside.mjs')).toThrow(/ERR_PACKAGE_PATH_NOT_EXPORTED/)
    }
    project.write('manifest.cjs', "console.log(require('grantwell/package.json').name)")
    expect(project.run('manifest.cjs').trim()).toBe('grantwell')
  })
})

describe('what an entry point loads', () => {
  interface Loaded {
    /** Source files of ours that the loaded files were made of. */
    readonly sources: readonly string[]
    readonly builtins: readonly string[]
    /** Packages besides ours. */
    readonly packages: readonly string[]
  }

  const HOOKS = `
    import { appendFileSync } from 'node:fs'
    export async function resolve(specifier, context, next) {
      const found = await next(specifier, context)
      if (context.parentURL?.includes('/node_modules/') || found.url.includes('/node_modules/'))
        appendFileSync(process.env.LOADED, found.url + '\\n')
      return found
    }`

  const IN_CJS = `
    const Module = require('node:module')
    const { pathToFileURL } = require('node:url')
    const { _resolveFilename: resolveFilename, _load: load } = Module
    const loaded = []
    Module._load = function (request, ...rest) {
      if (request.startsWith('node:')) loaded.push(request)
      return load.call(this, request, ...rest)
    }
    Module._resolveFilename = function (request, parent, ...rest) {
      const found = resolveFilename.call(this, request, parent, ...rest)
      if (parent.filename.includes('node_modules') || found.includes('node_modules'))
        loaded.push(Module.isBuiltin(found) ? 'node:' + found.replace('node:', '') : pathToFileURL(found).href)
      return found
    }`

  function loadedBy(entry: Entry, kind: 'import' | 'require'): Loaded {
    const name = nameOf(entry)
    let urls: readonly string[]
    if (kind === 'import') {
      const log = join(project.directory, `loaded${entry.replaceAll(/\W/g, '-')}.log`)
      project.write('hooks.mjs', HOOKS)
      project.write('register.mjs', "import { register } from 'node:module'\nregister('./hooks.mjs', import.meta.url)")
      project.write('load.mjs', `import '${name}'`)
      project.run('load.mjs', { args: ['--import', './register.mjs'], env: { LOADED: log } })
      urls = readFileSync(log, 'utf8').trim().split('\n')
    } else {
      project.write('load.cjs', `${IN_CJS}\nrequire('${name}')\nconsole.log(loaded.join('\\n'))`)
      urls = project.run('load.cjs').trim().split('\n')
    }
    const home = `${pathToFileURL(join(project.directory, 'node_modules')).href}/`
    const builtins = urls.filter((url) => url.startsWith('node:'))
    const files = urls.filter((url) => url.startsWith(home)).map((url) => url.slice(home.length))
    expect(builtins.length + files.length).toBe(urls.length)
    const ours = [...new Set(files.filter((file) => file.startsWith('grantwell/')))]
    const sources = ours.flatMap((file): readonly string[] => {
      const path = join(project.directory, 'node_modules', file)
      const map = JSON.parse(readFileSync(`${path}.map`, 'utf8'))
      return map.sources.map((source: string) => relative(project.installed, resolve(dirname(path), source)))
    })
    const packages = files
      .filter((file) => !ours.includes(file))
      .flatMap((file) => /^(?:@[^/]+\/)?[^/]+/.exec(file) ?? [])
    return {
      sources: [...new Set(sources)].map((source) => source.split(sep).join('/')).sort(),
      builtins: [...new Set(builtins)].sort(),
      packages: [...new Set(packages)].sort(),
    }
  }

  /** What nobody but the one entry point may load. */
  const OWN: { readonly [Name in Entry]: RegExp } = {
    '.': /^src\/(index|server|options|transactions|applications|authorization-endpoint)\.ts$/,
    './core': /^src\/core\/application\/transition\.ts$/,
    './console': /^src\/console\//,
    './node': /^src\/adapters\/node\//,
    './fetch': /^src\/adapters\/fetch\//,
    './storage/memory': /^src\/storage\/memory[./]/,
    './storage/sqlite': /^src\/storage\/sqlite[./]/,
    './storage/postgres': /^src\/storage\/postgres[./]/,
    './storage/redis': /^src\/storage\/redis[./]/,
    './pages': /^src\/pages\//,
    './metadata': /^src\/metadata\//,
    './client': /^src\/client\/(resource-server|fetch)\//,
    './client/node': /^src\/client\/node\//,
    './testing': /^src\/testing\//,
    './opentelemetry': /^src\/opentelemetry\//,
  }

  /**
   * What the testing kit, which runs whole servers on memory, shares with entry points that it is built on. The pages of a server
   * are loaded with the first of them that is shown; in CommonJS, they are in the same file.
   */
  const UNDER: { readonly [Kind in 'import' | 'require']: { readonly [Name in Entry]?: readonly Entry[] } } = {
    import: { './console': ['./core', './pages'], './testing': ['.', './core', './storage/memory'] },
    require: {
      '.': ['./core', './pages'],
      './console': ['./core', './pages'],
      './testing': ['.', './core', './storage/memory', './pages'],
    },
  }

  const BUILTINS: { readonly [Name in Entry]?: readonly string[] } = {
    './node': ['node:crypto', 'node:dns/promises', 'node:http', 'node:https', 'node:net'],
    './client/node': [
      'node:child_process',
      'node:crypto',
      'node:fs',
      'node:fs/promises',
      'node:http',
      'node:os',
      'node:path',
      'node:stream/promises',
      'node:timers/promises',
      'node:url',
    ],
  }

  const PACKAGES: { readonly [Name in Entry]?: readonly string[] } = {
    '.': ['@noble/hashes'],
    './core': ['@noble/hashes'],
    './console': ['@noble/hashes'],
    './storage/postgres': ['@noble/hashes'],
    './storage/redis': ['@noble/hashes'],
    './metadata': ['@bufbuild/protobuf'],
    './client': ['@noble/hashes', 'oauth4webapi'],
    './client/node': ['oauth4webapi'],
    './testing': ['@noble/hashes', 'fast-check', 'pure-rand'],
    './opentelemetry': ['@opentelemetry/api'],
  }

  /** All that small entry points have beside themselves: the checks of options. */
  const BESIDE = [
    ['./metadata', []],
    ['./pages', []],
    ['./storage/memory', ['src/core/errors.ts', 'src/core/nearest.ts', 'src/core/options.ts', 'src/core/takes.ts']],
  ] as const

  for (const kind of ['import', 'require'] as const) {
    it.each(BESIDE)(`${kind} of %s loads beside itself %j`, (entry, beside) => {
      expect(loadedBy(entry, kind).sources.filter((source) => !OWN[entry].test(source))).toEqual(beside)
    })

    for (const entry of ENTRIES) {
      it(`${kind} of ${nameOf(entry)} is itself and nothing of the other entry points`, () => {
        const { sources, builtins, packages } = loadedBy(entry, kind)
        expect(sources.some((source) => OWN[entry].test(source))).toBe(true)
        const others = ENTRIES.filter((other) => other !== entry && !UNDER[kind][entry]?.includes(other))
        for (const other of others) expect(sources.filter((source) => OWN[other].test(source))).toEqual([])
        expect(packages).toEqual(PACKAGES[entry] ?? [])
        expect(builtins).toEqual(BUILTINS[entry] ?? [])
      })
    }
  }
})

describe('types', () => {
  const CONSUMER = `
    import { createServer } from 'node:http'
    import type { AuditEvent, AuthorizationServer, GuardResult, HttpRequest, RecordStore, User } from 'grantwell'
    import { createAuthorizationServer, GrantwellError, scopeCatalogue, serviceScopes } from 'grantwell'
    import { transition } from 'grantwell/core'
    import { createFetchHandler, toResponse } from 'grantwell/fetch'
    import { createNodeHandler, nodeDigests, sendResponse } from 'grantwell/node'
    import { defaultPages } from 'grantwell/pages'
    import { memoryStore } from 'grantwell/storage/memory'
    import type { IncomingMessage } from 'node:http'

    const store: RecordStore = memoryStore({ clock: () => 1 })
    const seen: AuditEvent[] = []
    const server = createAuthorizationServer<IncomingMessage>({
      issuer: 'https://git.example',
      store,
      digests: nodeDigests,
      scopes: serviceScopes({ service: 'git' }),
      pages: { error: defaultPages.error },
      user: (request: HttpRequest<IncomingMessage>): User | undefined =>
        request.native.headers['x-user'] === undefined ? undefined : { subject: 'ada' },
      signInUrl: (returnTo) => returnTo,
      onEvent: (event) => seen.push(event),
    })
    createServer(createNodeHandler(server)).on('request', async (request, response) => {
      const found: GuardResult = await server.authenticate(request, { scope: 'repo-code:r' })
      if (found.type === 'refused') sendResponse(response, found.response)
      else response.end(found.subject + found.resources.kind)
    })
    declare const other: AuthorizationServer<Request>
    export const handler: (request: Request) => Promise<Response> = createFetchHandler(other)
    export const made: Response = toResponse({ status: 200, headers: {}, body: '' })
    export const code = (error: unknown): string | undefined => (error instanceof GrantwellError ? error.code : undefined)
    export { scopeCatalogue, transition }
    // @ts-expect-error an option that there is not
    createAuthorizationServer({ issuer: 'https://git.example', store, user: () => undefined, signInUrl: () => '', no: 1 })
    // @ts-expect-error a required option that is missing
    createAuthorizationServer({ issuer: 'https://git.example', store, user: () => undefined })
    // @ts-expect-error the fetch adapter hands over a Request, which this server’s user() does not know
    createFetchHandler(server)
  `

  it('compile in a consumer of either module kind, strictly, the declarations themselves too', () => {
    project.write('consumer.mts', CONSUMER)
    project.write('consumer.cts', CONSUMER)
    compile(project, ['consumer.mts', 'consumer.cts'])
  })

  it('need nothing of Node or of a browser at the entry points that run everywhere', () => {
    const portable = `
      import { createAuthorizationServer } from 'grantwell'
      import { memoryStore } from 'grantwell/storage/memory'
      import { defaultPages } from 'grantwell/pages'
      export const server = createAuthorizationServer({
        issuer: 'https://git.example', store: memoryStore(), user: () => undefined, signInUrl: (to) => to, pages: defaultPages,
      })
      export const found = server.authenticate({ headers: { authorization: 'Bearer a' } })`
    project.write('portable.mts', portable)
    project.write('portable.cts', portable)
    compile(project, ['portable.mts', 'portable.cts'], { types: [] })
    project.write('web.mts', "import { createFetchHandler } from 'grantwell/fetch'\nexport { createFetchHandler }")
    compile(project, ['web.mts'], { types: [], lib: ['es2022', 'dom', 'dom.iterable'] })
  })
})

describe('programs that use the package', () => {
  const [embedding = ''] = blocksOf(readme()).flatMap(({ code }) => (code.startsWith('// complete\n') ? [code] : []))
  const others = blocksOf(consumers())
  const ADA = { 'x-demo-user': 'ada' }

  /** Runs a module of the project that listens on the port it is given. */
  async function running<Result>(
    file: string,
    use: (port: number, output: () => string) => Promise<Result>,
  ): Promise<Result> {
    const port = await freePort()
    const send = sender(port)
    const isUp = async () => (await send({ path: '/oauth2/style.css' })).status === 200
    const { output, stop } = await start(project, file, { PORT: String(port) }, isUp)
    try {
      return await use(port, output)
    } finally {
      await stop()
    }
  }

  it('embeds a server as it stands: metadata answers, a page says no to strangers, the API asks for a token', async () => {
    expect(embedding).toContain('createAuthorizationServer')
    project.write('embedding.mjs', embedding)
    await running('embedding.mjs', async (port) => {
      const send = sender(port)
      const metadata = await send({ path: '/.well-known/oauth-authorization-server' })
      expect(JSON.parse(metadata.body).issuer).toBe(`http://127.0.0.1:${port}`)
      expect((await send({ path: authorizationUrl() })).status).toBe(400)
      expect((await send({ path: '/elsewhere' })).status).toBe(404)
      const api = await send({ path: '/api/repositories' })
      expect([api.status, api.headers['www-authenticate']]).toEqual([401, 'Bearer realm="oauth2"'])
    })
  })

  it('registers an application, which then gets a user to sign in, and a token, and is let in', async () => {
    const registering = others.find(({ code }) => code.includes('applications.register('))?.code ?? ''
    expect(registering).toContain('redirectUris')
    const lines = [
      embedding,
      'const readFile = async () => Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="), (character) => character.charCodeAt(0))',
      registering,
      'console.log(JSON.stringify({ clientId, clientSecret }))',
    ]
    project.write('registering.mjs', lines.join('\n'))
    await running('registering.mjs', async (port, output) => {
      const send = sender(port)
      await eventually(() => output().includes('}'))
      const client: { clientId: string; clientSecret: string } = JSON.parse(output())
      const redirectUri = 'https://mirror.example/callback'
      const path = authorizationUrl({ client_id: client.clientId, redirect_uri: redirectUri, scope: 'repo-code:r' })
      const stranger = await send({ path })
      expect(stranger.status).toBe(302)
      expect(stranger.headers['location']).toMatch(/^\/sign-in\?return_to=http/)
      const page = await send({ path, headers: ADA })
      expect(page.body).toContain('Issue Mirror')
      const form = { ...hiddenFields(page.body), resource_scope: 'all', decision: 'agree' }
      const posting = (to: string, fields: Record<string, string>, headers: Record<string, string>) =>
        send({
          method: 'POST',
          path: to,
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
          body: String(new URLSearchParams(fields)),
        })
      const cookie = page.headers['set-cookie']?.split(';')[0] ?? ''
      const agreed = await posting('/oauth2/auth', form, { ...ADA, cookie })
      const location = new URL(agreed.headers['location'] ?? '')
      expect(location.origin + location.pathname).toBe(redirectUri)
      const authorization = `Basic ${btoa(`${client.clientId}:${client.clientSecret}`)}`
      const code = location.searchParams.get('code') ?? ''
      const answer = await posting('/oauth2/token', { grant_type: 'authorization_code', code }, { authorization })
      const { access_token } = JSON.parse(answer.body)
      const call = await send({ path: '/api/repositories', headers: { authorization: `Bearer ${access_token}` } })
      const listed: { id: string }[] = JSON.parse(call.body)
      expect([call.status, listed.map(({ id }) => id)]).toEqual([200, ['ada/engine', 'ada/notes']])
    })
  })

  it('takes an application in by submission and approval, with no more than was approved', async () => {
    const submitting = others.find(({ code }) => code.includes('applications.submit('))?.code ?? ''
    expect(submitting).toContain('approve')
    const lines = [
      embedding.replace(/\nhttp\n.*?\n\n/s, '\n'),
      'const readFile = async () => Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="), (character) => character.charCodeAt(0))',
      submitting,
      'const { state, scopes } = await server.applications.get(clientId)',
      'console.log(applications.length, state, scopes.join(), clientId === submitted.id, clientSecret.slice(0, 4))',
    ]
    project.write('submitting.mjs', lines.join('\n'))
    expect(project.run('submitting.mjs').trim()).toBe('1 approved repo-issue:r true gws_')
  })

  it('serves by the fetch adapter', () => {
    const fetching = others.find(({ code }) => code.includes("from 'grantwell/fetch'"))?.code ?? ''
    expect(fetching).toContain('export default')
    project.write(
      'server.mjs',
      `import { createAuthorizationServer } from 'grantwell'
      import { memoryStore } from 'grantwell/storage/memory'
      export const server = createAuthorizationServer({
        issuer: 'https://git.example', store: memoryStore(), user: () => undefined, signInUrl: () => '/sign-in' })`,
    )
    project.write('fetching.mjs', `import { server } from './server.mjs'\n${fetching}`)
    project.write(
      'fetch.mjs',
      `import service from './fetching.mjs'
      for (const path of ['/.well-known/oauth-authorization-server', '/oauth2/auth', '/api'])
        console.log((await service.fetch(new Request('https://git.example' + path))).status)`,
    )
    expect(project.run('fetch.mjs').trim().split('\n')).toEqual(['200', '400', '401'])
  })

  it('reads and changes a metadata record, as its comments say', () => {
    const code = others.find((block) => block.code.includes("from 'grantwell/metadata'"))?.code ?? ''
    project.addPeer('@bufbuild/protobuf')
    project.write('record.mjs', `${code}\nprocess.stdout.write(next)`)
    const said = project.run('record.mjs')
    expect(said).toMatch(/^zlib 1\.3\.1\nv1\.3\.1\n\[ 'third_party.license_type: no kind of licence' \]\n/)
    const before = /const text = `(.*?)`/s.exec(code)?.[1]?.split('\n') ?? []
    const after = said.split('\n').slice(-before.length)
    expect(after).toHaveLength(before.length)
    expect(before.flatMap((line, index) => (line === after[index] ? [] : [after[index]]))).toEqual([
      '  version: "1.3.2"',
      '  last_upgrade_date { year: 2026 month: 11 day: 21 }',
      '  security { tag: "NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.2" }',
      '  identifier { type: "Git" version: "v1.3.2" }',
    ])
    project.write('record.mts', code)
    compile(project, ['record.mts'])
  })

  it('compiles against the installed types where it is TypeScript, its dots apart', () => {
    const typed = others.filter(({ language }) => language === 'ts')
    expect(typed.length).toBeGreaterThan(0)
    for (const name of ['fast-check', 'pure-rand']) project.addPeer(name)
    typed.forEach(({ code }, index) => {
      project.write(`typed${index}.mts`, code.replaceAll('{ ... }', '{ throw new Error() }'))
    })
    // The clients of the engines, as this repository has them; their own declarations are not ours to check.
    const clients = {
      libsql: 'libsql/types/index.d.ts',
      pg: '@types/pg/index.d.ts',
      ioredis: 'ioredis/built/index.d.ts',
    }
    const paths = Object.entries(clients).map(([name, types]) => [name, [join(ROOT, 'node_modules', types)]])
    compile(
      project,
      typed.map((_, index) => `typed${index}.mts`),
      { paths: Object.fromEntries(paths), skipLibCheck: true },
    )
  })

  it('proves a store, a lifecycle and every order of two requests by the kit, as it stands', () => {
    for (const name of ['fast-check', 'pure-rand']) project.addPeer(name)
    const [contract = '', runs = ''] = others.flatMap(({ code }) =>
      code.includes("from 'grantwell/testing'") ? [transformSync(code, { loader: 'ts' }).code] : [],
    )
    project.write('contract.mjs', contract)
    const said = project.run('contract.mjs', { args: ['--test'] })
    expect(Number(/^# pass (\d+)$/m.exec(said)?.[1])).toBeGreaterThan(30)
    expect(said).toMatch(/^# fail 0$/m)
    project.write('runs.mjs', runs)
    expect(project.run('runs.mjs')).toMatch(/^\d+ histories, and no rule was broken\n$/)
  })

  it('logs a tool in by the device flow, keeps its tokens, and calls the API with them', async () => {
    const tool = others.find(({ code }) => code.includes('createTokenSource'))?.code ?? ''
    expect(tool).toContain('fileTokenStore')
    project.addPeer('oauth4webapi')
    // Its home is a folder of the test.
    const here = tool.replace('homedir()', JSON.stringify(project.directory))
    project.write('tool.mjs', transformSync(here, { loader: 'ts' }).code)
    // With a clock that stands still, every poll of a slow machine would come too soon.
    const clock = () => Math.floor(Date.now() / 1000)
    const service = await openService({ store: memoryStore(), clock, devicePollingInterval: 1 })
    try {
      const native = registration({ name: 'Tool', type: 'public', redirectUris: ['http://127.0.0.1/callback'] })
      await service.test.server.applications.register(native, { clientId: 'my-tool' })
      const ask = /^Open (\S+) and type in (\S+)$/m
      const isUp = async (output: string) => ask.test(output)
      const started = await start(project, 'tool.mjs', { ISSUER: service.issuer }, isUp)
      const [, page = '', code = ''] = ask.exec(started.output()) ?? []
      expect(page).toBe(`${service.issuer}/oauth2/device`)
      await decide(service.issuer, code, 'agree')
      // The service has no such route: what it answers is what a path that is nobody's gets.
      await eventually(() => /^404$/m.test(started.output()))
      const kept = join(project.directory, '.config/my-tool/tokens.json')
      expect(JSON.parse(readFileSync(kept, 'utf8'))).toMatchObject({ scope: 'repo-code:r', clientId: 'my-tool' })
      expect(statSync(kept).mode & 0o777).toBe(0o600)
      await started.stop()
    } finally {
      await service.close()
    }
  })

  it('has an API elsewhere ask what a token is good for', async () => {
    const registering = others.find(({ code }) => code.includes('registerResourceServer('))?.code ?? ''
    const asking = others.find(({ code }) => code.includes('resourceServer({'))?.code ?? ''
    project.addPeer('oauth4webapi')
    const service = await openService()
    try {
      const register = new Function('server', `return (async () => { ${registering}; return packages })()`)
      const { clientId, clientSecret } = await register(service.test.server)
      const here = asking.replace('https://git.example', service.issuer)
      project.write('asking.mjs', transformSync(here, { loader: 'ts' }).code)
      const { code } = await authorize(service.test)
      const { body } = await exchange(service.test, code)
      project.write(
        'ask.mjs',
        `import { packageGuard } from './asking.mjs'
        const guard = await packageGuard('${clientId}', '${clientSecret}')
        const response = { getHeaderNames: () => [], writeHead: (status) => (console.log(status), response), end() {} }
        const request = { headers: { authorization: 'Bearer ${body.access_token}' }, rawHeaders: [] }
        await guard({ scope: 'registry-package:r' }, () => {})(request, response)`,
      )
      // Not waited for in a way that would keep the service, which is in this process, from answering.
      const { output, stop } = await start(project, 'ask.mjs', {}, async (text) => /^\d+$/m.test(text))
      // It has none of the scopes of the registry, so for that API it is none.
      expect(output().trim()).toBe('401')
      await stop()
      expect(service.paths).toContain('/oauth2/introspect')
    } finally {
      await service.close()
    }
  })

  it('are the one of the README, and those tried above', () => {
    const tried = (code: string, language: string) =>
      language === 'ts' ||
      /applications\.(?:register|submit|registerResourceServer)\(|from 'grantwell\/(?:fetch|metadata)'/.test(code)
    expect(blocksOf(readme()).map(({ code }) => code)).toEqual([embedding])
    expect(others.filter(({ code, language }) => !tried(code, language))).toEqual([])
  })
})

describe('the bench', () => {
  const SMALL = '--rounds 1 --warm-up 40 --requests 40 --connections 4 --grants 20 --stores memory'.split(' ')
  const OPERATIONS = ['guard', 'introspect', 'refresh', 'exchange', 'revoke', 'device poll']

  /** Runs it as small as can be, beside the package; without the environment, which may tell of engines. */
  function bench(...args: readonly string[]) {
    const json = join(project.directory, 'bench.json')
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['bench/run.mjs', ...SMALL, '--only', 'bare,grantwell', '--json', json, ...args],
      { cwd: project.directory, encoding: 'utf8', env: { PATH: process.env['PATH'] } },
    )
    return { status, stdout, stderr, ...JSON.parse(readFileSync(json, 'utf8')) }
  }

  beforeAll(() =>
    cpSync(join(ROOT, 'bench'), join(project.directory, 'bench'), {
      recursive: true,
      filter: (file) => !file.includes('node_modules'),
    }),
  )

  it('measures every operation of every contestant, and finds no wrong answer', () => {
    const { status, stdout, stderr, measured, wrong, replays } = bench()
    expect({ status, wrong }, stderr).toEqual({ status: 0, wrong: [] })
    const what = measured.map((each: Record<string, unknown>) => `${each['operation']}: ${each['name']}`)
    const slices = (each: string): readonly string[] => Array(5).fill(each)
    const all = OPERATIONS.flatMap((each) => [...slices(`${each}: bare`), ...slices(`${each}: grantwell`)])
    expect(what.sort()).toEqual(all.sort())
    for (const { rate, p50, p99, cpu } of measured)
      for (const each of [rate, p50, p99, cpu]) expect(each).toBeGreaterThan(0)
    for (const each of OPERATIONS) expect(stdout).toMatch(new RegExp(`^${each} +bare .*\\n +grantwell `, 'm'))
    expect(replays).toEqual({ bare: 'refused', grantwell: 'same pair' })
  })

  it('names a contestant that answers wrongly, and fails', () => {
    const server = `import http from 'node:http'
      export async function start({ port }) {
        const answer = (request, response) => response.end(JSON.stringify({ sub: 'u', active: true }))
        await new Promise((listening) => http.createServer(answer).listen(port, '127.0.0.1', listening))
        const pair = { access_token: 'access-token', refresh_token: 'refresh-token' }
        return { token: '/', api: '/', seed: (kind, count) => Array(count).fill(pair) }
      }`
    const { status, stdout, wrong } = bench('--operations', 'guard', '--add', project.write('lax.mjs', server))
    expect(wrong).toEqual([expect.stringMatching(/^lax, round 1: a wrong secret was not refused: 200 /)])
    expect({ status, isSaid: stdout.includes(`WRONG ${wrong[0]}`) }).toEqual({ status: 1, isSaid: true })
  })
})

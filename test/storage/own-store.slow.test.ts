/**
 * The example of a store of one's own, on a real etcd.
 * @module
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import type { RecordStore } from 'grantwell'
import { explore, lifecycle, storageContract, virtualClock, wire } from 'grantwell/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { describeWith, etcd } from '../engines/available.js'
import type { EtcdEngine } from '../engines/etcd.js'
import { startEtcd } from '../engines/etcd.js'
import type { Edit } from '../testing/mutants.js'
import { mutate } from '../testing/mutants.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const EXAMPLE = join(ROOT, 'examples/own-store')
const source = readFileSync(join(EXAMPLE, 'etcd-store.mjs'), 'utf8')

interface Options {
  readonly url: string
  readonly namespace?: string
  readonly timeoutMs?: number
  readonly clock?: () => number
}
type MakeStore = (options: Options) => RecordStore

/** What is looked at of an answer of etcd. */
interface Answer {
  readonly kvs?: readonly { readonly key: string; readonly lease?: string }[]
  readonly grantedTTL?: string
}

/** Loads the example, or a copy of it. */
async function load(file: string): Promise<MakeStore> {
  const module = await import(/* @vite-ignore */ pathToFileURL(file).href)
  return module.etcdStore
}

/** Mistakes in the example, the edits that make them, and the case of the contract that finds each. */
const BROKEN: readonly (readonly [string, readonly Edit[], string])[] = [
  [
    'compares no version',
    [{ find: "[{ key, target: 'MOD', mod_revision: expected }, ...alive]", replace: 'alive' }],
    'write: with expected 0',
  ],
  [
    "counts a record's own writes, from 1 again once it was removed",
    [
      {
        find: "{ key, target: 'MOD', mod_revision: expected }",
        replace: "{ key, target: 'VERSION', version: expected }",
      },
      { find: 'found.mod_revision', replace: 'found.version' },
    ],
    'write: never gives a version again',
  ],
  ['lets a write pass over a record that expired', [{ find: 'expected === 0', replace: 'true' }], 'expiry: holds for'],
  ['takes an expired record for one that is there', [{ find: 'expected !== 0', replace: 'true' }], 'expiry: holds for'],
  [
    'keeps a record a second too long for writes',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written there
    [{ find: '`${digits(now)}~`', replace: 'digits(now)' }],
    'expiry: holds for a',
  ],
  [
    'keeps a record a second too long for reads',
    [{ find: 'text.slice(0, 16) > now', replace: 'text.slice(0, 16) >= now' }],
    'expiry: is to the second',
  ],
  ['never removes what has expired', [{ find: '[remove(key)]', replace: '[]' }], 'expiry: that has passed removes'],
  ['writes no labels', [{ find: '[...new Set(labels)]', replace: '[]' }], 'labels: find a record'],
  ['writes a label twice', [{ find: 'new Set(labels)', replace: 'labels' }], 'labels: may be twenty'],
  [
    'lists what lost its label',
    [{ find: '!found[index]?.labels.includes(label)', replace: 'found[index] === undefined' }],
    'labels: are replaced',
  ],
  [
    'begins a page behind its first record',
    [{ find: "keyOf('label', label, cursor)", replace: "(keyOf('label', label, cursor) + '0')" }],
    'list: comes in pages',
  ],
  [
    'begins a page with the last of the one before',
    [{ find: 'keys[limit]', replace: 'keys[limit - 1]' }],
    'list: comes',
  ],
  ['reads all in one transaction', [{ within: 'BATCH', find: '100', replace: '1_000' }], 'read: takes 1,000 keys'],
  ['has one namespace', [{ find: '[namespace, ...parts]', replace: "['', ...parts]" }], 'namespaces: neither see'],
]

it('has fewer than 100 lines, as they are formatted', () => {
  expect(source.trimEnd().split('\n').length).toBeLessThan(100)
})

describeWith(describe, etcd, 'the store of one’s own, in etcd', () => {
  let engine: EtcdEngine
  let etcdStore: MakeStore
  let folder: string
  let stores = 0

  beforeAll(async () => {
    mkdirSync(join(ROOT, 'temp'), { recursive: true })
    // Within the tree, where what the example imports is found.
    folder = mkdtempSync(join(ROOT, 'temp/own-store-'))
    etcdStore = await load(join(EXAMPLE, 'etcd-store.mjs'))
    engine = await startEtcd()
  })
  afterAll(async () => {
    await engine?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const contract = (make: () => MakeStore) =>
    storageContract(({ clock, namespace }) => ({ store: make()({ url: engine.url, clock, namespace }) }), {
      numRuns: 15,
    })

  /** A store in a namespace that nobody used before, and another connection to it. */
  function made(clock = virtualClock(), options: Partial<Options> = {}) {
    const namespace = `own ${stores++}`
    const make = () => etcdStore({ url: engine.url, namespace, clock, ...options })
    return { clock, namespace, store: make(), other: make() }
  }

  /** Asks etcd itself. */
  async function call(path: string, body: object): Promise<Answer> {
    const response = await fetch(`${engine.url}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) })
    return (await response.json()) as Answer // by its documentation
  }

  /** All that etcd has of a namespace, by its keys. */
  async function entries(namespace: string): Promise<readonly { readonly key: string; readonly lease: string }[]> {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const start = `["${namespace}",`
    const { kvs = [] } = await call('kv/range', { key: base64(start), range_end: base64(`${start}~`) })
    return kvs.map(({ key, lease = '0' }) => ({
      key: Buffer.from(key, 'base64').toString().slice(start.length, -1),
      lease,
    }))
  }

  describe('keeps the contract', () => {
    for (const { name, run } of contract(() => etcdStore)) it(name, run)
  })

  it('keeps the contract under the test runner of Node, as its README has it', async () => {
    const readme = readFileSync(join(EXAMPLE, 'README.md'), 'utf8')
    expect(readme).toContain('\nnode --test examples/own-store/etcd-store.test.mjs\n')
    // A clone in which the package is built, as far as the example needs it.
    cpSync(EXAMPLE, join(folder, 'examples/own-store'), { recursive: true })
    cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
    await build({
      entryPoints: [join(ROOT, 'src/testing/index.ts')],
      outfile: join(folder, 'dist/testing.js'),
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      external: ['node:*', 'fast-check'],
    })
    // All of it has just run: a part shows that it runs here, too.
    const args = [
      '--test',
      '--test-reporter=tap',
      '--test-name-pattern=^expiry',
      'examples/own-store/etcd-store.test.mjs',
    ]
    const inherited = Object.entries(process.env).filter(([name]) => !/^(NODE_|VITEST)/.test(name))
    const env = { ...Object.fromEntries(inherited), ETCD_URL: engine.url }
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
    expect(stdout).toMatch(/^\s*ok \d+ - expiry: is to the second/m)
    expect(stdout).toMatch(/^# fail 0$/m)
  })

  it('serves a server through the lifecycle of its grants', async () => {
    await lifecycle(
      () => {
        const { clock, store } = made()
        return wire({ store, clock })
      },
      { numRuns: 5, maxCommands: 30 },
    )
  })

  it.each([[['refresh', 'revoke']], [['exchange', 'exchange']]] as const)(
    'serves %s in every order, with a fault at every step',
    async (requests) => {
      const { histories, exhaustive } = await explore({ requests, store: ({ clock }) => made(clock).store })
      expect(exhaustive).toBe(true)
      expect(histories).toBeGreaterThan(100)
    },
  )

  describe('is found out by the contract, were it one that', () => {
    it.each(BROKEN)('%s', async (name, edits, clause) => {
      const broken = mutate(new Map([['etcd-store.mjs', source]]), edits).get('etcd-store.mjs') ?? ''
      const file = join(folder, `${name.replaceAll(/\W+/g, '-')}.mjs`)
      writeFileSync(file, broken)
      const store = await load(file)
      const found = contract(() => store).find((each) => each.name.startsWith(clause))
      await expect(found?.run()).rejects.toThrow(/the contract demands|^etcd: 400/)
    })
  })

  describe('lets etcd forget', () => {
    it('what expires, one to two hours after that, and nothing else', async () => {
      const { clock, namespace, store } = made()
      const expiresAt = clock() + 10_000
      await store.write('a', 1, { expected: 0, expiresAt, labels: ['label'] })
      await store.write('b', 1, { expected: 0, labels: ['other'] })
      const leases = new Map((await entries(namespace)).map(({ key, lease }) => [key, lease]))
      expect([...leases.keys()]).toEqual(['"label","label","a"', '"label","other","b"', '"record","a"', '"record","b"'])
      expect(leases.get('"record","b"')).toBe('0')
      expect(leases.get('"label","other","b"')).toBe('0')
      const ID = leases.get('"record","a"')
      expect(leases.get('"label","label","a"')).toBe(ID)
      const { grantedTTL } = await call('lease/timetolive', { ID })
      expect(Number(grantedTTL)).toBeGreaterThanOrEqual(10_000 + 3_600)
      expect(Number(grantedTTL)).toBeLessThan(10_000 + 7_200)
    })

    it('and goes on when it has', async () => {
      const { clock, namespace, store } = made()
      const expiresAt = clock() + 20_000
      const write = () => store.write('key', 1, { expected: 0, expiresAt, labels: ['label'] })
      expect(await write()).toBe(true)
      const [first] = await entries(namespace)
      await call('lease/revoke', { ID: first?.lease })
      expect(await entries(namespace)).toEqual([])
      expect(await write()).toBe(true)
      expect((await store.list('label')).records).toHaveLength(1)
    })

    it('a label that is no longer used, when it is come across', async () => {
      const { namespace, store } = made()
      const labels = Array.from({ length: 3 }, (_, index) => `label ${index}`)
      await store.write('key', 1, { expected: 0, labels })
      const version = (await store.read(['key']))[0]?.version ?? 0
      await store.write('key', 2, { expected: version, labels: ['label 2'] })
      for (const label of labels) await store.list(label)
      expect((await entries(namespace)).map(({ key }) => key)).toEqual(['"label","label 2","key"', '"record","key"'])
    })

    it('no label that is used again at that moment', async () => {
      const { store, other } = made()
      await store.write('key', 1, { expected: 0, labels: ['label'] })
      const version = async () => (await other.read(['key']))[0]?.version ?? 0
      await store.write('key', 2, { expected: await version() })
      const real = fetch
      let meanwhile = false
      vi.stubGlobal('fetch', async (url: string, init: { readonly body: string }) => {
        if (!meanwhile && init.body.includes('request_delete_range')) {
          meanwhile = true
          expect(await other.write('key', 3, { expected: await version(), labels: ['label'] })).toBe(true)
        }
        return real(url, init)
      })
      await store.list('label')
      vi.unstubAllGlobals()
      expect(meanwhile).toBe(true)
      expect((await store.list('label')).records).toMatchObject([{ key: 'key', value: 3 }])
    })
  })

  it('fails by throwing while etcd is down, which makes a 503, and goes on after', async () => {
    const { clock, store } = made()
    const wiring = await wire({ store, clock })
    const { clientId, clientSecret } = wiring.client
    const ask = () =>
      wiring.send({
        method: 'POST',
        url: '/oauth2/token',
        headers: {
          authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'grant_type=refresh_token&refresh_token=unknown',
      })
    expect(await ask()).toMatchObject({ status: 400, body: expect.stringContaining('invalid_grant') })
    await engine.stop()
    await expect(store.read(['key'])).rejects.toThrow()
    expect(await ask()).toMatchObject({ status: 503, body: expect.stringContaining('temporarily_unavailable') })
    await engine.start()
    expect(await ask()).toMatchObject({ status: 400, body: expect.stringContaining('invalid_grant') })
  })

  it('waits no longer than it was told to', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const address = silent.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const { store } = made(virtualClock(), { url: `http://127.0.0.1:${port}`, timeoutMs: 50 })
    await expect(store.read(['key'])).rejects.toThrow(/timeout/)
    await expect(store.write('key', 1, { expected: 0 })).rejects.toThrow(/timeout/)
    await expect(store.list('label')).rejects.toThrow(/timeout/)
    silent.close()
  })
})

/**
 * The shell for administrators, as a process, on the stores that it opens itself and on that of a configuration file: each command.
 * @module
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { AuthorizationServer, RecordStore, ScannedRecord } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { sqliteStore } from 'grantwell/storage/sqlite'
import { Redis } from 'ioredis'
import Database from 'libsql'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { allRecords, createSumming } from '../../src/cli/shell/all-records.js'
import { BUILT, build } from '../built.js'
import { describeWith, postgresql, redis } from '../engines/available.js'
import type { PostgresEngine } from '../engines/postgres.js'
import { startPostgres } from '../engines/postgres.js'
import type { RedisEngine } from '../engines/redis.js'
import { startRedis } from '../engines/redis.js'
import { authorize, exchange, ISSUER, LOGO, registration, send, WEB } from '../support.js'
import type { Outcome } from './command.js'
import { folder, grantwell, link, write } from './command.js'

beforeAll(build)

/** A store that a test writes to and the command opens, by its own options. */
interface Opened {
  readonly store: RecordStore
  readonly options: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly close: () => unknown
}

/** Makes the server of a store, for what users and applicants do. */
function serverOf(store: RecordStore): AuthorizationServer {
  return createAuthorizationServer({
    issuer: ISSUER,
    store,
    user: () => ({ subject: 'ada', name: 'Ada' }),
    signInUrl: () => '/sign-in',
    onError: (error) => expect.fail(String(error)),
  })
}

/** Makes a pair of tokens of Ada. */
async function permit(server: AuthorizationServer): Promise<string> {
  const test = { server } as Parameters<typeof authorize>[0] // all that these two read of it
  return (await exchange(test, (await authorize(test)).code)).body.access_token
}

/** Reads all records of a store. */
async function recordsOf(store: RecordStore): Promise<readonly ScannedRecord[]> {
  const records: ScannedRecord[] = []
  for await (const record of allRecords(store)) records.push(record)
  return records
}

/** What holds of each store. */
function administering(open: () => Promise<Opened>): void {
  let opened: Opened
  let server: AuthorizationServer
  beforeEach(async () => {
    installClients()
    opened = await open()
    server = serverOf(opened.store)
  })
  afterEach(() => opened.close())

  const run = (...args: readonly string[]): Outcome =>
    grantwell([...args, ...opened.options], opened.env === undefined ? {} : { env: opened.env })
  /** Runs a command that must succeed, and reads its JSON. */
  const json = (...args: readonly string[]) => {
    const outcome = run(...args, '--json')
    expect(outcome).toMatchObject({ code: 0, stderr: '' })
    return JSON.parse(outcome.stdout)
  }
  const status = async (token: string): Promise<string> =>
    (await server.authenticate({ headers: { authorization: `Bearer ${token}` } })).type

  it('lists, shows, approves, rejects, suspends, reinstates, rotates and deletes applications', async () => {
    const scopes = [{ scope: 'repo-code:rw', reason: 'To read' }]
    const submission = { ...registration({ name: 'Shop' }), scopes, logo: LOGO }
    const { id } = await server.applications.submit(submission, { applicant: 'eve' })
    const { id: other } = await server.applications.submit({ ...submission, name: 'Other' }, { applicant: 'eve' })
    const waiting: { id: string }[] = json('applications', 'list', '--state', 'pending')
    expect(new Set(waiting.map((each) => each.id))).toEqual(new Set([id, other]))
    expect(run('applications', 'list', '--applicant', 'eve').stdout).toMatch(
      /^ID +STATE +NAME +WAITS +APPLICANT +SINCE\n(?:.*\n)?\S+ +pending +Shop +revision 1 +eve/,
    )
    expect(json('applications', 'show', id)).toMatchObject({ id, state: 'pending' })

    const { clientId, clientSecret } = json('applications', 'approve', id, '--revision', '1', '--scopes', 'repo-code:r')
    expect(await server.applications.get(id)).toMatchObject({
      clientId,
      state: 'approved',
      scopes: ['repo-code:r'],
    })
    expect(clientSecret).toMatch(/^\S{24,}$/)
    expect(JSON.stringify(json('applications', 'show', id))).not.toContain('digest')
    expect(json('applications', 'reject', other, '--revision', '1', '--reason', 'No.')).toEqual({ rejected: other })
    expect(await server.applications.get(other)).toMatchObject({ state: 'rejected' })

    json('applications', 'suspend', id, '--yes')
    expect(await server.applications.get(id)).toMatchObject({ state: 'suspended' })
    json('applications', 'reinstate', id)
    const rotated = json('applications', 'rotate', id, '--overlap', '0', '--yes')
    expect(rotated.clientSecret).not.toBe(clientSecret)
    json('applications', 'delete', id, '--yes')
    expect(await server.applications.get(id)).toBeUndefined()
    expect(run('applications', 'show', id)).toMatchObject({
      code: 1,
      stderr: `grantwell: there is no application ${id}\n`,
    })
  })

  it('takes an identifier that begins as an option does', async () => {
    const id = `-V${'A'.repeat(20)}`
    const scopes = [{ scope: 'repo-code:rw', reason: 'To read' }]
    await server.applications.submit({ ...registration(), scopes, logo: LOGO }, { applicant: id, id })
    expect(json('applications', 'show', id)).toMatchObject({ id, state: 'pending' })
    expect(json('applications', 'list', '--applicant', id)).toMatchObject([{ id }])
    const shown = grantwell(['applications', 'show', ...opened.options, '--', id], { env: opened.env ?? {} })
    expect(shown.stdout).toContain(id)
    json('applications', 'reject', id, '--revision', '1', '--reason', 'No.')
    expect(run('grants', 'revoke', id, id, '--yes').stderr).toContain(`${id} has no grant ${id}`)
  })

  it('registers an application from a file', async () => {
    writeFileSync(join(folder(), 'logo.gif'), LOGO)
    const { logo: _, ...details } = registration({ name: 'Imported' })
    write('app.json', JSON.stringify({ ...details, logo: 'logo.gif' }))
    const { clientId } = json('applications', 'register', 'app.json', '--issuer', ISSUER)
    expect(await server.applications.get(clientId)).toMatchObject({ name: 'Imported', state: 'approved' })
    write('bad.json', JSON.stringify({ ...details, name: '' }))
    expect(run('applications', 'register', 'bad.json')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ERR_REGISTRATION'),
    })
  })

  it('lists and ends grants, and nothing without a yes', async () => {
    await server.applications.register(registration(), WEB)
    const [first, second] = [await permit(server), await permit(server)]
    const listed = json('grants', 'list', 'ada')
    expect(listed).toMatchObject([{ clientId: 'web' }, { clientId: 'web' }])
    expect(run('grants', 'list', 'ada').stdout).toContain(listed[0].grantId)

    expect(run('grants', 'revoke', 'ada', listed[0].grantId)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--yes'),
    })
    expect([await status(first), await status(second)]).toEqual(['authenticated', 'authenticated'])
    expect(json('grants', 'revoke', 'ada', listed[0].grantId, '--yes')).toEqual({ revoked: 1 })
    expect([await status(first), await status(second)].sort()).toEqual(['authenticated', 'refused'])
    expect(run('grants', 'revoke', 'ada', listed[0].grantId, '--yes').code).toBe(1)

    expect(json('grants', 'revoke-all', 'ada', '--yes')).toEqual({ revoked: 1 })
    await permit(server)
    expect(json('grants', 'revoke-all', '--client', 'web', '--yes')).toEqual({ revoked: 1 })
    const last = await permit(server)
    expect(run('grants', 'revoke-all', '--yes')).toMatchObject({ code: 2 })
    expect(json('grants', 'revoke-all', '--everything', '--yes')).toEqual({ revoked: 1 })
    expect(await status(last)).toBe('refused')
  })

  it('asks the store, makes its tables, and removes what expired', async () => {
    await send(server, { url: '/.well-known/oauth-authorization-server' })
    await server.health()
    expect(json('store', 'health')).toMatchObject({ problems: [] })
    expect(json('store', 'migrate')).toEqual({ migrated: true })
    expect(json('store', 'remove-expired')).toEqual({ removed: expect.any(Number) })
    expect(run('store', 'migrate').stdout).toBe('the store is ready\n')
  })

  it('checks every record, and counts them by their kinds', async () => {
    await server.applications.register(registration(), WEB)
    await permit(server)
    expect(json('store', 'check')).toMatchObject({ broken: 0, faults: [] })
    const counted: { kind: string; records: number }[] = json('store', 'stats')
    expect(counted).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'application, approved', records: 1, expiring: 0 }),
        expect.objectContaining({ kind: 'grant', records: 1, expiring: 1 }),
      ]),
    )
    expect(run('store', 'stats').stdout).toMatch(/^KIND +RECORDS +BYTES +EXPIRING\napplication, approved +1 +\d+ +0\n/)
    await opened.store.write('grant:broken', { v: 1, id: 'broken' }, { expected: 0 })
    await opened.store.write('user_code:digest', { v: 1 }, { expected: 0 })
    const records = counted.reduce((sum, kind) => sum + kind.records, 2)
    const { code, stdout } = run('store', 'check')
    expect(code).toBe(1)
    expect(stdout).toContain('grant:broken: clientId must be a text that is not empty\n')
    // The code of a user is found out from its digest.
    expect(stdout).toMatch(/^user_code:…: \S/m)
    expect(stdout).not.toContain('digest')
    expect(stdout).toMatch(new RegExp(`^${records} records, 2 broken\n`, 'm'))
  })

  it('finds nothing wrong with what an erasure left', async () => {
    await server.applications.register(registration(), WEB)
    await permit(server)
    expect(await server.grants.erase('ada')).toBe(1)
    expect(json('store', 'check')).toMatchObject({ broken: 0, faults: [] })
    expect(json('store', 'stats')).toContainEqual(expect.objectContaining({ kind: 'grant, ended', records: 1 }))
  })

  it('copies all records into another store, which then serves the tokens', async () => {
    await server.applications.register(registration(), WEB)
    const token = await permit(server)
    const exported = json('store', 'export', 'records.jsonl')
    expect(run('store', 'export', 'records.jsonl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there already'),
    })
    const other = ['--sqlite', join(folder(), 'other.db'), '--json']
    const imported = grantwell(['store', 'import', 'records.jsonl', ...other])
    expect(imported).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(imported.stdout)).toEqual({ imported: exported.exported, digest: exported.digest })
    // An import can be run again, also where the file comes from.
    expect(json('store', 'import', 'records.jsonl')).toMatchObject({ imported: exported.exported })
    const database = new Database(join(folder(), 'other.db'))
    const copy = serverOf(sqliteStore(database))
    expect((await copy.authenticate({ headers: { authorization: `Bearer ${token}` } })).type).toBe('authenticated')
    expect(await copy.grants.revokeAll('ada')).toBe(1)
    const before = await recordsOf(sqliteStore(database))
    expect(grantwell(['store', 'import', 'records.jsonl', ...other])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the store has another record \S+ already, and nothing was written/),
    })
    expect(await recordsOf(sqliteStore(database))).toEqual(before)
    database.close()
  })
}

describe('on a file of SQLite', () => {
  administering(async () => {
    const file = join(folder(), 'grants.db')
    const database = new Database(file)
    return { store: sqliteStore(database), options: ['--sqlite', file], close: () => database.close() }
  })
})

describe('on the store of a configuration file', () => {
  administering(async () => {
    const file = join(folder(), 'grants.db')
    const database = new Database(file)
    const config = readFileSync(new URL('../../docs/snippets/grantwell.config.mjs', import.meta.url), 'utf8')
    const built = pathToFileURL(join(BUILT, 'storage/sqlite.js')).href
    write('grantwell.config.mjs', config.replace('grantwell/storage/sqlite', built))
    return { store: sqliteStore(database), options: [], close: () => database.close() }
  })
})

describeWith(describe, postgresql, 'on PostgreSQL', () => {
  let engine: PostgresEngine
  let count = 0
  beforeAll(async () => {
    engine = await startPostgres()
  })
  afterAll(() => engine.remove())

  administering(async () => {
    const pool = new pg.Pool(engine.connection)
    const namespace = `shell-${count++}`
    const store = postgresStore(pool, { namespace })
    await store.migrate()
    const { user, host, port, database } = engine.connection
    const url = `postgres://${user}@${host}:${port}/${database}`
    return { store, options: ['--namespace', namespace], env: { GRANTWELL_POSTGRES: url }, close: () => pool.end() }
  })
})

describeWith(describe, redis, 'on Redis', () => {
  let engine: RedisEngine
  let count = 0
  beforeAll(async () => {
    engine = await startRedis()
  })
  afterAll(() => engine.remove())

  administering(async () => {
    const client = new Redis(engine.port, engine.host)
    const namespace = `shell-${count++}`
    const options = ['--redis', `redis://${engine.host}:${engine.port}`, '--namespace', namespace]
    return { store: redisStore(client, { namespace }), options, close: () => client.disconnect() }
  })
})

/** Writes a line of a file of records. */
const line = (record: object): string => `${JSON.stringify(record)}\n`
const head = line({ grantwell: 'records', version: 1, at: 1 })

/** Writes a whole file of an export. */
function exportOf(records: readonly { key: string; value: number; labels: string[] }[]): string {
  const summing = createSumming(1)
  for (const record of records) summing.add(record)
  return head + records.map(line).join('') + line({ end: true, ...summing.all() })
}

/** Installs the clients of the engines in the folder of a test. */
function installClients(): void {
  link(fileURLToPath(new URL('../../node_modules', import.meta.url)), 'node_modules')
}

/** Makes a file of SQLite in the folder, with the tables of another program. */
function foreignDatabase(file: string): Buffer {
  const database = new Database(join(folder(), file))
  database.exec('CREATE TABLE invoices (id INTEGER PRIMARY KEY); INSERT INTO invoices VALUES (1)')
  database.close()
  return readFileSync(join(folder(), file))
}

describe('a file that is not whole', () => {
  const record = line({ key: 'a', value: 1, labels: [] })

  it.each([
    ['is no file of an export', record, 'is no file of store export'],
    ['is of a later release', head.replace(':1,', ':2,'), 'or of a later release'],
    ['was cut off', head + record, 'is cut off'],
    ['was cut within a line', head + record.slice(0, 12), 'line 2: it is no record'],
    ['was changed', `${head}${record}${line({ end: true, records: 1, digest: '0'.repeat(64) })}`, 'was changed'],
    ['goes on', `${exportOf([])}${record}`, 'goes on after its end'],
    ['has no labels', head + line({ key: 'a', value: 1 }), 'line 2: it is no record'],
  ])('is refused, and nothing of it is written: it %s', async (_, text, said) => {
    installClients()
    write('records.jsonl', text)
    const refused = grantwell(['store', 'import', 'records.jsonl', '--sqlite', 'a.db'])
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(said) })
    const database = new Database(join(folder(), 'a.db'))
    expect(await recordsOf(sqliteStore(database))).toEqual([])
    database.close()
  })
})

describe('an export', () => {
  beforeEach(() => {
    installClients()
    grantwell(['store', 'migrate', '--sqlite', 'a.db'])
  })

  it('leaves a file alone that another export writes', () => {
    write('records.jsonl.part', 'of another export')
    expect(grantwell(['store', 'export', 'records.jsonl', '--sqlite', 'a.db'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'grantwell: records.jsonl.part is there already: remove it if no other export writes it\n',
    })
    expect(readdirSync(folder())).not.toContain('records.jsonl')
    expect(readFileSync(join(folder(), 'records.jsonl.part'), 'utf8')).toBe('of another export')
  })

  it('leaves no file where the store fails', () => {
    write(
      'grantwell.config.mjs',
      `let pages = 0
       const scan = () => { if (pages++ > 0) throw new Error('gone'); return { records: [{ key: 'a', value: 1, labels: [] }], cursor: 'b' } }
       export const store = { scan, read: () => [], write: () => true, list: () => ({ records: [] }) }`,
    )
    expect(grantwell(['store', 'export', 'records.jsonl'])).toMatchObject({ code: 2, stderr: 'grantwell: gone\n' })
    expect(readdirSync(folder()).filter((name) => name.startsWith('records'))).toEqual([])
  })
})

describe('the store that a command works on', () => {
  it('is that of the command line, else that of a variable, else that of the configuration file', () => {
    installClients()
    write(
      'grantwell.config.mjs',
      'export const store = { read: () => [], write: () => true, list: () => ({ records: [] }) }\n',
    )
    const stats = (args: readonly string[], env = {}) => grantwell(['store', 'stats', ...args], { env })
    expect(stats([]).stderr).toContain('this store cannot list its records')
    expect(stats(['--namespace', 'other']).stderr).toContain('grantwell.config.mjs makes its store itself')
    expect(stats([], { GRANTWELL_SQLITE: 'variable.db' }).stderr).toContain('there is no file variable.db')
    expect(stats(['--sqlite', 'line.db'], { GRANTWELL_REDIS: 'redis://x' }).stderr).toContain(
      'there is no file line.db',
    )
    expect(stats([], { GRANTWELL_SQLITE: 'a.db', GRANTWELL_REDIS: 'redis://x' }).stderr).toContain(
      'GRANTWELL_SQLITE and GRANTWELL_REDIS name different stores',
    )
  })

  it.each([
    [
      'in the middle of an import',
      `Object.assign(new Error('grantwell: it is full'), { name: 'StorageUnavailable', code: 'ERR_STORAGE_UNAVAILABLE' })`,
      'ERR_STORAGE_UNAVAILABLE: it is full',
    ],
    ['by an error of its own', `new Error('it is full')`, 'it is full'],
  ])('says so where it fails %s', (_, error, said) => {
    const records = Array.from({ length: 5_000 }, (_, index) => ({ key: `a${index}`, value: 1, labels: [] }))
    write('records.jsonl', exportOf(records))
    write(
      'grantwell.config.mjs',
      `const write = async () => { throw ${error} }
       export const store = { write, read: () => [], list: () => ({ records: [] }), scan: () => ({ records: [] }) }`,
    )
    expect(grantwell(['store', 'import', 'records.jsonl'])).toEqual({
      code: 1,
      stdout: '',
      stderr: `grantwell: ${said}\n`,
    })
  })

  it('is written to by no import if it cannot list its records', () => {
    write('records.jsonl', exportOf([{ key: 'a', value: 1, labels: [] }]))
    write(
      'grantwell.config.mjs',
      `const write = () => { console.log('written') }
       export const store = { write, read: () => [], list: () => ({ records: [] }) }`,
    )
    expect(grantwell(['store', 'import', 'records.jsonl'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'grantwell: this store cannot list its records: it has no method scan\n',
    })
  })

  it('is closed by the command, and what a configuration file leaves open keeps no command from ending', () => {
    write(
      'grantwell.config.mjs',
      `setInterval(() => {}, 1_000)
       export const store = { write: () => true, read: () => [], list: () => ({ records: [] }), scan: () => ({ records: [] }) }`,
    )
    expect(grantwell(['store', 'check'], { hangsAfter: 30_000 })).toEqual({
      code: 0,
      stdout: '0 records, 0 broken\n',
      stderr: '',
    })
    write('grantwell.config.mjs', `export const close = () => console.error('closed')`)
    expect(grantwell(['store', 'check'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^closed\n.*must export the store/),
    })
    installClients()
    for (const address of [
      ['--redis', 'redis://127.0.0.1:1'],
      ['--postgres', 'postgres://127.0.0.1:1/a'],
    ])
      expect(grantwell(['store', 'check', ...address, '--namespace', ''], { hangsAfter: 30_000 })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('namespace'),
      })
  })

  it('is ready only if it answers', () => {
    installClients()
    expect(grantwell(['store', 'migrate', '--redis', 'redis://127.0.0.1:1'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('ERR_STORAGE_UNAVAILABLE'),
    })
  })

  it('leaves a file of SQLite as it is if it has no records, but for migrate and import', () => {
    installClients()
    const before = foreignDatabase('invoices.db')
    for (const command of [
      ['grants', 'list', 'ada'],
      ['store', 'check'],
      ['store', 'migrate', '--print'],
    ])
      expect(grantwell([...command, '--sqlite', 'invoices.db'])).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('invoices.db has no records of a store'),
      })
    expect(readFileSync(join(folder(), 'invoices.db')).equals(before)).toBe(true)
    expect(grantwell(['store', 'migrate', '--print', '--sqlite', 'new.db']).code).toBe(2)
    expect(readdirSync(folder())).not.toContain('new.db')
    expect(grantwell(['store', 'migrate', '--sqlite', 'new.db'])).toMatchObject({ code: 0 })
    expect(grantwell(['store', 'check', '--sqlite', 'new.db'])).toMatchObject({ code: 0 })
  })

  it('can be in a file of TypeScript, where Node reads one', () => {
    write('grantwell.config.ts', 'const store: unknown = 1\nexport { store }\n')
    const { code, stderr } = grantwell(['store', 'stats'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/must export the store|does not read grantwell.config.ts: take Node 22.18 or later/)
  })
})

describe('a command line that names no store', () => {
  it.each([
    [['grants', 'list', 'ada'], 'there is no grantwell.config.ts'],
    [['grants', 'list', 'ada', '--sqlite', 'missing.db'], 'there is no file missing.db'],
    [['grants', 'list', 'ada', '--sqlite', 'a.db', '--redis', 'redis://127.0.0.1'], 'name different stores'],
    [
      ['grants', 'list', 'ada', '--redis', 'redis://user:hunter2@127.0.0.1:1'],
      'the client of Redis is not installed here',
    ],
    [['applications', 'approve', 'a', '--revision', 'one', '--sqlite', 'a.db'], 'whole number'],
  ])('%j says what is missing, and nothing of a password', (args, said) => {
    const { code, stdout, stderr } = grantwell(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(said)
    expect(stderr).not.toContain('hunter2')
  })
})

/**
 * The shell for administrators, as a process, on the stores that it opens itself and on that of a configuration file: each command.
 * @module
 */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { AuthorizationServer, RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { sqliteStore } from 'grantwell/storage/sqlite'
import { Redis } from 'ioredis'
import Database from 'libsql'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { describeWith, postgresql, redis } from '../engines/available.js'
import type { PostgresEngine } from '../engines/postgres.js'
import { startPostgres } from '../engines/postgres.js'
import type { RedisEngine } from '../engines/redis.js'
import { startRedis } from '../engines/redis.js'
import { authorize, exchange, ISSUER, LOGO, registration, send, WEB } from '../support.js'
import type { Outcome } from './command.js'
import { BUILT, build, folder, grantwell, removeBuild, write } from './command.js'

beforeAll(build, 120_000)
afterAll(removeBuild)

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

/** What holds of each store. */
function administering(open: () => Promise<Opened>): void {
  let opened: Opened
  let server: AuthorizationServer
  beforeEach(async () => {
    symlinkSync(
      fileURLToPath(new URL('../../node_modules', import.meta.url)),
      join(folder(), 'node_modules'),
      'junction',
    )
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
      stderr: `grantwell: ERR_CLIENT_UNKNOWN: there is no application ${id}\n`,
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

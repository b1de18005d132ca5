/**
 * The PostgreSQL store beyond the contract: how its table comes to be, that each operation is one prepared statement,
 * that expired records go in the background, and what a database says in its own words.
 * @module
 */
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import { StorageUnavailable } from 'grantwell'
import type { EmbeddedPostgres, NodePostgres, PostgresStore } from 'grantwell/storage/postgres'
import { postgresStore } from 'grantwell/storage/postgres'
import { virtualClock } from 'grantwell/testing'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../adapters/http.js'
import { describeWith, postgresql } from '../engines/available.js'
import type { PostgresEngine } from '../engines/postgres.js'
import { startPostgres } from '../engines/postgres.js'

/** Runs SQL, whatever the client. */
type Sql = (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>

/** What holds of PostgreSQL and of PGlite. */
function everywhere(connect: () => Promise<{ client: NodePostgres | EmbeddedPostgres; sql: Sql }>): void {
  const clock = virtualClock()
  let client: NodePostgres | EmbeddedPostgres
  let sql: Sql
  let store: PostgresStore
  const count = async (where = 'true') =>
    (await sql(`SELECT count(*)::int AS n FROM grantwell_records WHERE ${where}`))[0]

  beforeEach(async () => {
    const connected = await connect()
    client = connected.client
    sql = connected.sql
    await sql('DROP TABLE IF EXISTS grantwell_records')
    store = postgresStore(client, { clock })
  })

  it('without its table says so by the cause of its error, and has it after migrate(), however often', async () => {
    await expect(store.read(['key'])).rejects.toMatchObject({
      code: 'ERR_STORAGE_UNAVAILABLE',
      message: 'grantwell: PostgreSQL has no table grantwell_records: call migrate() first',
      cause: { code: '42P01' },
    })
    await store.migrate()
    expect(await store.write('key', 1, { expected: 0 })).toBe(true)
    await store.migrate()
    expect(await store.read(['key'])).toMatchObject([{ value: 1 }])
    const updates = () => sql(`SELECT FROM pg_proc WHERE proname = 'grantwell_records_update'`)
    await sql('DROP FUNCTION grantwell_records_update')
    expect(await updates()).toHaveLength(0)
    await store.migrate()
    expect(await updates()).toHaveLength(1)
  })

  it('prints the SQL where it is asked to, and makes nothing then', async () => {
    const text = await store.migrate({ print: true })
    expect(text).toContain('CREATE TABLE "grantwell_records"')
    await expect(store.read(['key'])).rejects.toMatchObject({ code: 'ERR_STORAGE_UNAVAILABLE' })
    await store.migrate({ print: false })
    expect(await store.read(['key'])).toEqual([undefined])
    await expect(store.migrate({ prnt: true } as never)).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
  })

  it('lifts a table that kept digests alone of long labels, and leaves its records as they are', async () => {
    const text = await store.migrate({ print: true })
    const digested = /CASE WHEN starts_with\(each, '#'\) THEN left\(each, \d+\) ELSE each END/g
    expect(text.match(digested)).toHaveLength(2)
    for (const statement of text
      .replace(digested, 'each')
      .split(/(?<=\$relabel\$;|;\n)\s*(?=CREATE OR REPLACE FUNCTION "grantwell_records_relabel|DO)/))
      await sql(statement)
    const label = 'x'.repeat(300)
    await store.write('old', 1, { expected: 0, labels: [label, 'short'] })
    // What an earlier release wrote.
    await sql(`UPDATE grantwell_records SET labels = regexp_replace(labels, '(#.{43})x+', '\\1') WHERE label = ''`)
    await store.migrate()
    await store.write('new', 2, { expected: 0, labels: [label] })
    const keysOf = async (of: string) => (await store.list(of)).records.map(({ key }) => key)
    expect(await keysOf(label)).toEqual(['new', 'old'])
    expect(await keysOf('short')).toEqual(['old'])
    // A copy without that label would not be equal, and nobody would know.
    await expect(store.scan?.()).rejects.toThrow('a label was kept as a digest alone by an earlier release')
    const [old] = await store.read(['old'])
    await store.write('old', 3, { expected: old?.version ?? 0, labels: [label] })
    expect((await store.scan?.())?.records.map(({ labels }) => labels)).toEqual([[label], [label]])
    expect(await keysOf('short')).toEqual([])
  })

  // A page of the host may take a cursor from its address.
  it('gives a page for any text as a cursor', async () => {
    await store.migrate()
    for (const key of ['a', 'b', 'c']) await store.write(key, key, { expected: 0, labels: ['label'] })
    const keysAfter = async (cursor: string) =>
      (await store.list('label', { cursor })).records.map(({ key }) => key).join('')
    const cursors = ['', '\0', 'a', 'a\0', 'a\0c', 'ab\0', '\ud800', '\u001f', '\ufeff', 'z'.repeat(5000), '\0z']
    expect(await Promise.all(cursors.map(keysAfter))).toEqual(
      ['abc', 'abc', 'bc', 'bc', 'bc', 'bc', '', 'abc', '', '', 'abc'], // by the bytes of their names
    )
  })

  it.each<[string, string, string]>([
    [
      'is somebody else’s',
      'CREATE TABLE grantwell_records (key text PRIMARY KEY, body jsonb NOT NULL)',
      'body jsonb NOT NULL',
    ],
    ['has a column of another type', 'ALTER TABLE grantwell_records ALTER version TYPE integer', 'version bigint'],
    ['lacks a column', 'ALTER TABLE grantwell_records DROP COLUMN labels CASCADE', 'labels text'],
    ['lacks its key', 'ALTER TABLE grantwell_records DROP CONSTRAINT grantwell_records_pkey', 'PRIMARY KEY'],
    ['lacks a trigger', 'DROP TRIGGER grantwell_update ON grantwell_records', 'the trigger grantwell_update'],
    [
      'has a trigger switched off',
      'ALTER TABLE grantwell_records DISABLE TRIGGER grantwell_insert',
      'grantwell_insert',
    ],
    [
      'has a column that every write must name',
      'ALTER TABLE grantwell_records ADD tenant text NOT NULL',
      'tenant text',
    ],
  ])('says what it found where the table %s', async (what, change, named) => {
    if (what !== 'is somebody else’s') await store.migrate()
    await sql(change)
    await expect(store.migrate()).rejects.toMatchObject({
      code: 'ERR_CONFIGURATION',
      message: expect.stringMatching(
        /^grantwell: postgresStore: the table grantwell_records has another shape: it (?:lacks|has) .*; rename it/,
      ),
    })
    await expect(store.migrate()).rejects.toThrow(named)
    await expect(store.migrate()).rejects.not.toThrow(/(?:lacks|has) nothing/)
    await sql('DROP TABLE grantwell_records')
    await store.migrate()
    await sql('ALTER TABLE grantwell_records ADD note text, ADD since bigint NOT NULL DEFAULT 0')
    await store.migrate()
    expect(await store.write('key', 1, { expected: 0 })).toBe(true)
  })

  it('keeps its records in whatever table it is told, in a schema too', async () => {
    await sql('CREATE SCHEMA IF NOT EXISTS oauth')
    const elsewhere = postgresStore(client, { clock, table: 'oauth.records' })
    await elsewhere.migrate()
    await elsewhere.migrate()
    await elsewhere.write('key', 1, { expected: 0, labels: ['label'] })
    expect(await sql('SELECT key, label FROM oauth.records ORDER BY label')).toEqual([
      { key: 'key', label: '' },
      { key: 'key', label: '=label' },
    ])
    await sql('DROP SCHEMA oauth CASCADE')
  })

  it('has rows of labels in step with the record, and none that are left over', async () => {
    await store.migrate()
    const version = async () => (await store.read(['key']))[0]?.version ?? 0
    const labels = async () =>
      (await sql(`SELECT label FROM grantwell_records WHERE label <> '' ORDER BY 1`)).flatMap(Object.values)
    for (const [given, kept] of [
      [
        ['a', 'a', 'b'],
        ['=a', '=b'],
      ],
      [
        ['a', 'b'],
        ['=a', '=b'],
      ],
      [
        ['b', 'c'],
        ['=b', '=c'],
      ],
      [[], []],
      [['d'.repeat(300)], [expect.stringMatching(/^#[\w-]{43}$/)]],
    ] as const) {
      expect(await store.write('key', 1, { expected: await version(), labels: given })).toBe(true)
      expect(await labels()).toEqual(kept)
    }
    await store.write('key', 1, { expected: await version(), expiresAt: 1 })
    expect(await count()).toEqual({ n: 0 })
    // A record that expired, and is written anew before anybody removed it.
    await store.write('key', 1, { expected: 0, labels: ['a', 'b'], expiresAt: clock() + 1 })
    clock.advance(1)
    await store.write('key', 1, { expected: 0, labels: ['b', 'c'] })
    expect(await labels()).toEqual(['=b', '=c'])
  })

  it('writes what is asked for in one turn in one transaction, and says of each what became of it', async () => {
    await store.migrate()
    const keys = Array.from({ length: 10 }, (_, index) => `key ${index}`)
    for (const key of keys) await store.write(key, key, { expected: 0, labels: ['label'] })
    await store.write('short', 1, { expected: 0, expiresAt: clock() + 1 })
    const found = await store.read([...keys, 'short'])
    const version = (place: number) => found[place]?.version ?? 0
    clock.advance(1)
    const write = (key: string, expected: number, value: string, expiresAt?: number) =>
      store.write(key, value, { expected, expiresAt, labels: ['label', 'other \u0000 "label"'] })
    expect(
      await Promise.all([
        write('key 3', version(3), 'late in the alphabet'),
        write('key 0', version(0), 'first'),
        write('key 0', version(0), 'second'),
        write('key 1', version(0), 'wrong'),
        write('key 2', version(2), '\u0000 \ud800 \u{1f600} "\\', clock() + 1_000),
        write('short', version(10), 'expired'),
        write('absent', 7, 'never was'),
      ]),
    ).toEqual([true, true, false, false, true, false, false])
    const values = (await store.read(['key 3', 'key 0', 'key 1', 'key 2'])).map((record) => record?.value)
    expect(values).toEqual(['late in the alphabet', 'first', 'key 1', '\u0000 \ud800 \u{1f600} "\\'])
    const listed = (await store.list('other \u0000 "label"')).records.map(({ key }) => key)
    expect(listed.toSorted()).toEqual(['key 0', 'key 2', 'key 3'])
    clock.advance(1_000)
    expect(await store.read(['key 2', 'key 3'])).toMatchObject([undefined, { value: 'late in the alphabet' }])
    expect(
      await sql(`SELECT xmin::text AS transaction FROM grantwell_records
        WHERE label = '' AND key IN ('key 0', 'key 2', 'key 3') GROUP BY 1`),
    ).toHaveLength(1)
  })

  it('fails for the record alone that the database refuses, or whose text is none', async () => {
    await store.migrate()
    for (const key of ['a', 'b', 'c']) await store.write(key, key, { expected: 0 })
    const versions = (await store.read(['a', 'b', 'c'])).map((record) => record?.version ?? 0)
    await sql(`ALTER TABLE grantwell_records ADD CHECK (value <> '"b 2"')`)
    const settled = await Promise.allSettled(
      ['a', 'b', 'c'].map((key, place) => store.write(key, `${key} 2`, { expected: versions[place] ?? 0 })),
    )
    expect(settled).toMatchObject([
      { status: 'fulfilled', value: true },
      { status: 'rejected', reason: { code: 'ERR_STORAGE_UNAVAILABLE', cause: { code: '23514' } } },
      { status: 'fulfilled', value: true },
    ])
    await sql(`UPDATE grantwell_records SET value = '{"cut' WHERE key = 'b'`)
    const read = await Promise.allSettled(['a', 'b', 'c'].map((key) => store.read([key])))
    expect(read.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('removes expired records and their labels, at most 1,000 at a time, those of other namespaces apart', async () => {
    await store.migrate()
    const expiresAt = clock() + 10
    await sql(`INSERT INTO grantwell_records
      SELECT 'grantwell', '', 'key ' || i, i, '1', ${expiresAt}, ${expiresAt}, E'=a\\n=b' FROM generate_series(1, 1500) i`)
    await store.write('stays', 1, { expected: 0, labels: ['a'], expiresAt: expiresAt + 1 })
    await postgresStore(client, { clock, namespace: 'other' }).write('key', 1, { expected: 0, expiresAt })
    expect(await store.removeExpired()).toBe(0)
    clock.set(expiresAt)
    expect(await store.removeExpired()).toBe(1_000)
    expect([await count(`label = ''`), await count(`label <> ''`)]).toEqual([{ n: 502 }, { n: 1_001 }])
    expect(await store.removeExpired()).toBe(500)
    expect([await count(`label = ''`), await count(`label <> ''`)]).toEqual([{ n: 2 }, { n: 1 }])
    expect(await store.list('a')).toMatchObject({ records: [{ key: 'stays' }] })
  })

  it('removes them by itself, a minute after the last time, while a write goes on without waiting', async () => {
    await store.migrate()
    await store.write('key', 1, { expected: 0, expiresAt: clock() + 1 })
    clock.advance(59)
    await store.write('another', 1, { expected: 0 })
    expect(await count()).toEqual({ n: 2 })
    clock.advance(1)
    // The removal beside the first write may still be under way; then the next write begins this one.
    let more = 0
    await eventually(async () => {
      await store.write(`more ${more++}`, 1, { expected: 0 })
      return (await count(`key = 'key'`))?.['n'] === 0
    })
  })
}

describe('on PGlite', () => {
  let embedded: PGlite
  beforeAll(async () => {
    embedded = await PGlite.create()
  })
  afterAll(() => embedded.close())
  everywhere(async () => ({
    client: embedded,
    sql: async (text) => (await embedded.query<Record<string, unknown>>(text)).rows,
  }))
})

describeWith(describe, postgresql, 'on PostgreSQL', () => {
  let engine: PostgresEngine
  let pools: pg.Pool[] = []
  const poolOf = (options: pg.PoolConfig = {}): pg.Pool => {
    const pool = new pg.Pool({ ...engine.connection, ...options })
    pools.push(pool)
    return pool
  }
  beforeAll(async () => {
    engine = await startPostgres()
  })
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    pools = []
  })
  afterAll(() => engine?.remove())

  everywhere(async () => {
    const pool = poolOf()
    return { client: pool, sql: async (text) => (await pool.query(text)).rows }
  })

  it('is migrated by many servers at once', async () => {
    for (let round = 0; round < 5; round++) {
      await poolOf().query('DROP TABLE IF EXISTS grantwell_records')
      const stores = Array.from({ length: 12 }, () => postgresStore(poolOf({ max: 1 })))
      await Promise.all(stores.map(({ migrate }) => migrate()))
      expect(await stores[0]?.write('key', 1, { expected: 0 })).toBe(true)
    }
  })

  it('needs no right to create anything where the table is there', async () => {
    const owner = poolOf()
    const store = postgresStore(owner)
    await store.migrate()
    await owner.query(`DROP ROLE IF EXISTS app; CREATE ROLE app LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC;
      GRANT SELECT, INSERT, UPDATE, DELETE ON grantwell_records TO app`)
    const app = postgresStore(poolOf({ user: 'app' }))
    await app.migrate()
    expect(await app.write('by app', 1, { expected: 0, labels: ['label'] })).toBe(true)
  })

  it('asks by one prepared statement an operation, and removes what expired beside the first write', async () => {
    const pool = poolOf({ max: 1 })
    const asked: string[] = []
    const client: NodePostgres = {
      query: (query) => {
        asked.push(query.name ?? query.text)
        return pool.query(query)
      },
      on: () => {},
      listenerCount: () => 1,
    }
    // As long as names may be: PostgreSQL takes no more than 63 characters of a statement's name.
    const table = `${'s'.repeat(40)}.${'t'.repeat(40)}`
    await pool.query(`CREATE SCHEMA IF NOT EXISTS ${'s'.repeat(40)}`)
    const store = postgresStore(client, { table })
    await store.migrate()
    asked.length = 0
    await store.write('key', 1, { expected: 0 })
    const [record] = await store.read(['key'])
    await store.write('key', 2, { expected: record?.version ?? 0 })
    const [again] = await store.read(['key', 'another'])
    await store.list('label')
    await store.write('key', 1, { expected: again?.version ?? 0, expiresAt: 1 })
    const names = ['create', 'removeExpired', 'read', 'update', 'read', 'list', 'remove']
    expect(asked.map((name) => /^grantwell\.(\w+)\.[\w-]{12}$/.exec(name)?.[1])).toEqual(names)
    const { rows } = await pool.query('SELECT name FROM pg_prepared_statements')
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining([...new Set(asked)]))
  })

  it('finds records by their keys alone, in a table that the planner knows nothing of and in one that it knows', async () => {
    const pool = poolOf({ max: 1 })
    const asked = new Map<string, { readonly text: string; readonly values?: unknown[] }>()
    const client: NodePostgres = {
      query: (query) => {
        asked.set(/^grantwell\.(\w+)/.exec(query.name ?? '')?.[1] ?? '', query)
        return pool.query(query)
      },
      on: () => {},
      listenerCount: () => 1,
    }
    const clock = virtualClock()
    const store = postgresStore(client, { clock, table: 'planned' })
    await store.migrate()
    await pool.query(`ALTER TABLE planned SET (autovacuum_enabled = false);
      INSERT INTO planned SELECT 'grantwell', '', 'grant:' || i, i, '1', ${clock()} + i, ${clock()} + i, E'=client:x\\n=subject:x' FROM generate_series(1, 20000) i`)
    const version = async (key: string) => (await store.read([key, 'absent']))[0]?.version ?? 0
    for (const known of [false, true]) {
      if (known) await pool.query('ANALYZE planned')
      await store.write(`new ${known}`, 1, { expected: 0, labels: ['client:x'] })
      await store.write('grant:7', 1, { expected: await version('grant:7'), labels: ['client:x'] })
      await store.write('grant:8', 1, { expected: (await version('grant:8')) + 1, expiresAt: 1 })
      await store.list('client:x', { limit: 10 })
      await store.removeExpired()
      for (const name of ['read', 'create', 'update', 'remove', 'list', 'removeExpired']) {
        const { text = '', values = [] } = asked.get(name) ?? {}
        const given = values.map((value) => (value === null ? 'NULL' : `'${value}'`))
        // The plan for any values, which is the one that a statement gets that runs often.
        const explained =
          await pool.query(`BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; PREPARE planned AS ${text};
          EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE planned(${given.join()})`)
        await pool.query('ROLLBACK; DEALLOCATE planned')
        const [plan = []] = [explained]
          .flat()
          .flatMap(({ rows }) => (rows.length > 0 ? [rows.flatMap(Object.values)] : []))
        const rows = plan.flatMap((line) => /(?:Removed by \w+: |actual rows=)(\d+)/.exec(line)?.[1] ?? []).map(Number)
        expect(rows.length, name).toBeGreaterThan(0)
        expect(Math.max(...rows), `${name}\n${plan.join('\n')}`).toBeLessThan(50)
      }
    }
  })

  it('finds what it writes together by their keys alone, too, and never has two servers wait for each other', async () => {
    const pool = poolOf({ max: 1 })
    const clock = virtualClock()
    const store = postgresStore(pool, { clock, table: 'together' })
    await store.migrate()
    await pool.query(`ALTER TABLE together SET (autovacuum_enabled = false);
      INSERT INTO together SELECT 'grantwell', '', 'grant:' || i, i, '1', NULL, NULL, '' FROM generate_series(1, 20000) i`)
    const keys = Array.from({ length: 16 }, (_, index) => `grant:${index + 1}`)
    const renew = async (on: PostgresStore, order: readonly string[]) => {
      const versions = (await on.read(order)).map((record) => record?.version ?? 0)
      return Promise.all(order.map((key, place) => on.write(key, 2, { expected: versions[place] ?? 0 })))
    }
    const counts = async () => {
      const text = `SELECT seq_scan::int AS scans, n_tup_upd::int AS updated FROM pg_stat_xact_user_tables WHERE relname = 'together'`
      return (await pool.query(text)).rows[0]
    }
    for (const known of [false, true]) {
      if (known) await pool.query('ANALYZE together')
      await renew(store, keys)
      await pool.query('BEGIN')
      const before = await counts()
      for (let round = 0; round < 8; round++) expect(await renew(store, keys)).not.toContain(false)
      const after = await counts()
      await pool.query('COMMIT')
      expect([after.scans - before.scans, after.updated - before.updated]).toEqual([0, 8 * 16])
    }
    const deadlocks = async () => {
      const text = `SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()`
      return (await pool.query(text)).rows[0].deadlocks
    }
    const before = await deadlocks()
    const servers = Array.from({ length: 4 }, () => postgresStore(poolOf(), { clock, table: 'together' }))
    for (let round = 0; round < 20; round++)
      await Promise.all(servers.map((each, place) => renew(each, place % 2 === 0 ? keys : keys.toReversed())))
    expect(await deadlocks()).toBe(before)
  })

  it('writes the others where somebody holds on to one of them', async () => {
    const store = postgresStore(poolOf(), { timeoutMs: 1_000 })
    await store.migrate()
    const keys = ['free', 'held', 'open']
    for (const key of keys) await store.write(key, 1, { expected: 0 })
    const versions = (await store.read(keys)).map((record) => record?.version ?? 0)
    const holder = await poolOf().connect()
    await holder.query(`BEGIN; SELECT FROM grantwell_records WHERE key = 'held' FOR UPDATE`)
    const write = (place: number) => store.write(keys[place] ?? '', 2, { expected: versions[place] ?? 0 })
    const settled = await Promise.allSettled([write(0), write(1), write(2)])
    await holder.query('ROLLBACK')
    holder.release()
    expect(settled).toMatchObject([{ value: true }, { reason: { code: 'ERR_STORAGE_UNAVAILABLE' } }, { value: true }])
  })

  it('keeps a plan for any values of what it asks often, and plans no more', async () => {
    const pool = poolOf({ max: 1 })
    const store = postgresStore(pool)
    await store.migrate()
    for (let round = 0; round < 20; round++) {
      const [record] = await store.read(['often', 'absent'])
      await store.write('often', round, { expected: record?.version ?? 0, labels: ['a', 'b'] })
      await store.write(`often ${round}`, round, { expected: 0, labels: ['a', 'b'] })
    }
    const { rows } = await pool.query(`SELECT split_part(name, '.', 2) AS name, custom_plans::int AS planned,
      generic_plans::int > 0 AS kept FROM pg_prepared_statements WHERE name ~ 'read|create|update' ORDER BY 1`)
    // The first five times PostgreSQL looks what a plan for the very values would cost.
    expect(rows).toEqual(['create', 'read', 'update'].map((name) => ({ name, planned: 5, kept: true })))
  })

  it('writes no index anew where a record lives a little longer with the labels that it had', async () => {
    const pool = poolOf({ max: 1 })
    const clock = virtualClock()
    const store = postgresStore(pool, { clock, table: 'renewed' })
    await store.migrate()
    const text = 'a'.repeat(900)
    const days = 86_400
    const write = async () => {
      const [record] = await store.read(['key'])
      const options = {
        expected: record?.version ?? 0,
        expiresAt: clock() + 180 * days,
        labels: ['subject:a', 'client:b'],
      }
      expect(await store.write('key', { text }, options)).toBe(true)
    }
    const changes = async () => {
      const { rows } = await pool.query(`SELECT n_tup_upd::int AS updated, n_tup_hot_upd::int AS heap_only,
        n_tup_ins::int AS inserted, n_tup_del::int AS deleted FROM pg_stat_xact_user_tables WHERE relname = 'renewed'`)
      return rows[0]
    }
    await write()
    await pool.query('BEGIN')
    const before = await changes()
    for (let round = 0; round < 30; round++) {
      clock.advance(days / 3)
      await write()
    }
    const { updated, heap_only, inserted, deleted } = await changes()
    await pool.query('COMMIT')
    expect(updated).toBe(30)
    expect([inserted, deleted]).toEqual([before.inserted, before.deleted])
    // In ten days it is moved in the index once at most; and within a transaction nothing cleans its page, which fills up at times.
    expect(heap_only).toBeGreaterThanOrEqual(24)
  })

  it('lets one of many writers through where the database serializes every transaction, too', async () => {
    const options = '-c default_transaction_isolation=serializable'
    const store = postgresStore(poolOf({ options, max: 20 }))
    await store.migrate()
    for (let round = 0; round < 20; round++) {
      const expected = (await store.read(['raced']))[0]?.version ?? 0
      const written = await Promise.all(Array.from({ length: 20 }, () => store.write('raced', round, { expected })))
      expect(written.filter((each) => each)).toHaveLength(1)
    }
  })

  it('reads, lists and writes without an error there, where each writer has keys of its own', async () => {
    const options = '-c default_transaction_isolation=serializable'
    const store = postgresStore(poolOf({ options, max: 8 }))
    await store.migrate()
    const worker = async (key: string) => {
      for (let round = 0; round < 30; round++) {
        const [record] = await store.read([key, 'raced'])
        expect(await store.write(key, round, { expected: record?.version ?? 0, labels: ['serial'] })).toBe(true)
        await store.list('serial')
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, index) => worker(`serial ${index}`)))
  })

  it('keeps the labels of a record that is written anew while it is being removed', async () => {
    const clock = virtualClock()
    const [store, remover] = [postgresStore(poolOf(), { clock }), postgresStore(poolOf(), { clock })]
    await store.migrate()
    const keys = Array.from({ length: 20 }, (_, index) => `anew ${index}`)
    for (let round = 0; round < 60; round++) {
      await Promise.all(
        keys.map((key) => store.write(key, 1, { expected: 0, labels: ['anew'], expiresAt: clock() + 1 })),
      )
      clock.advance(1)
      const writes = keys.map((key) => store.write(key, 2, { expected: 0, labels: ['anew'], expiresAt: clock() + 1 }))
      const [written] = await Promise.all([Promise.all(writes), remover.removeExpired(), remover.removeExpired()])
      expect(written.every((each) => each)).toBe(true)
      expect((await store.list('anew')).records).toHaveLength(keys.length)
      clock.advance(1)
    }
  })

  it('answers the same, whatever parsers the host has set for any type but text', async () => {
    const pool = poolOf()
    const types: pg.CustomTypesConfig = {
      getTypeParser: (oid, format) => (oid === 25 ? pg.types.getTypeParser(oid, format) : () => 'of the host'),
    }
    const strange: NodePostgres = {
      query: (query) => pool.query({ ...query, types }),
      on: () => {},
      listenerCount: () => 1,
    }
    const clock = virtualClock()
    const store = postgresStore(strange, { clock })
    await store.migrate()
    await store.migrate()
    const options = { expected: 0, expiresAt: clock() + 1 }
    expect(await store.write('parsed', { a: [1] }, options)).toBe(true)
    expect(await store.write('parsed', { a: [2] }, options)).toBe(false)
    expect(await store.read(['parsed'])).toEqual([{ value: { a: [1] }, version: expect.any(Number) }])
    clock.advance(1)
    expect(await store.removeExpired()).toBe(1)
  })

  it('uses a pool again whose connections were accepted and never answered', async () => {
    const hung = new Set<Socket>()
    let hanging = true
    const proxy = createServer((socket) => {
      socket.on('error', () => {})
      if (hanging) hung.add(socket)
      else socket.pipe(connect(engine.connection.port, '127.0.0.1')).pipe(socket)
    })
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
    const { port } = proxy.address() as AddressInfo // it listens on TCP
    const store = postgresStore(poolOf({ port, max: 2 }), { timeoutMs: 200 })
    await postgresStore(poolOf()).migrate()
    const asked = await Promise.allSettled(Array.from({ length: 5 }, () => store.read(['key'])))
    expect(asked.map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
    hanging = false
    await eventually(async () => (await Promise.resolve(store.read(['key'])).catch(() => undefined)) !== undefined)
    for (const socket of hung) socket.destroy()
    proxy.close()
  })

  it('listens to a pool that nobody listens to, since an idle connection’s end would else end the process', () => {
    const alone = poolOf()
    postgresStore(alone)
    expect(alone.listenerCount('error')).toBe(1)
    postgresStore(alone)
    expect(alone.listenerCount('error')).toBe(1)
  })

  it('fails with StorageUnavailable where there is no server', async () => {
    const store = postgresStore(new pg.Pool({ host: '127.0.0.1', port: 1 }))
    const failed = store.read(['key'])
    await expect(failed).rejects.toBeInstanceOf(StorageUnavailable)
    await expect(failed).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  })
})

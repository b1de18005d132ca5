/**
 * The SQLite store beyond the contract: how its file is kept, that expired records go, and labels with them.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SqliteDatabase, SqliteStoreOptions } from 'grantwell/storage/sqlite'
import { sqliteStore } from 'grantwell/storage/sqlite'
import { virtualClock } from 'grantwell/testing'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { refresh, testServer, tokens } from '../support.js'

let folder = ''
let opened: Database.Database[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'grantwell-sqlite-'))
  opened = []
})
afterEach(() => {
  for (const database of opened) database.close()
  rmSync(folder, { recursive: true })
})

function open(options: SqliteStoreOptions = {}) {
  const database = new Database(join(folder, 'grants.db'))
  opened.push(database)
  const store = sqliteStore(database, options)
  const count = (table: string): unknown => database.prepare(`SELECT count(*) FROM ${table}`).raw().get()
  const counts = () => [count('grantwell_records'), count('grantwell_labels')].flat()
  return { database, store, counts }
}

describe('the file', () => {
  it('is kept by write-ahead logging, and every write waits for the disk unless told otherwise', () => {
    const pragma = (database: Database.Database, name: string) => database.prepare(`PRAGMA ${name}`).raw().get()
    const { database } = open()
    expect(pragma(database, 'journal_mode')).toEqual(['wal'])
    expect(pragma(database, 'synchronous')).toEqual([2])
    expect(pragma(open({ synchronous: 'normal' }).database, 'synchronous')).toEqual([1])
  })

  it('has the tables made once, whoever opens it, and keeps what they hold', async () => {
    const first = open()
    expect(first.store.write('key', { a: 1 }, { expected: 0, labels: ['label'] })).toBe(true)
    const second = open()
    expect(second.store.read(['key'])).toEqual(first.store.read(['key']))
    expect(await second.store.list('label')).toMatchObject({ records: [{ key: 'key' }] })
  })

  it('is refused where a table of that name has another shape, with what it has and lacks', () => {
    const database = new Database(join(folder, 'other.db'))
    opened.push(database)
    database.exec('CREATE TABLE grantwell_records (key TEXT NOT NULL, body TEXT)')
    expect(() => sqliteStore(database)).toThrow(
      expect.objectContaining({
        code: 'ERR_CONFIGURATION',
        message:
          'grantwell: sqliteStore: the table grantwell_records has another shape: it lacks namespace TEXT NOT NULL, version INTEGER NOT NULL, ' +
          'value TEXT NOT NULL, expires_at INTEGER, kept_until INTEGER, labels TEXT NOT NULL, and has body TEXT; rename it, or give the store a place of its own',
      }),
    )
    const { database: own, store } = open()
    // A column of the host's does no harm.
    own.exec('ALTER TABLE grantwell_records ADD COLUMN note TEXT')
    expect(open().store.read(['key'])).toEqual(store.read(['key']))
  })

  it('that another process holds locked makes the server answer 503, and works on afterwards', async () => {
    const { store } = open()
    const test = await testServer({ store, clock: () => 1_800_000_000 })
    const first = await tokens(test)
    const other = open()
    other.database.exec('BEGIN IMMEDIATE')
    const refused = await refresh(test, first.refresh_token)
    expect([refused.status, refused.body.error]).toEqual([503, 'temporarily_unavailable'])
    expect(refused.response.headers['Retry-After']).toBe('1')
    expect(test.errors).toMatchObject([{ name: 'StorageUnavailable', code: 'ERR_STORAGE_UNAVAILABLE' }])
    other.database.exec('ROLLBACK')
    expect((await refresh(test, first.refresh_token)).status).toBe(200)
  })
})

describe('expired records', () => {
  it('are removed with their labels, at most 1,000 at a time, those of other namespaces apart', () => {
    const clock = virtualClock()
    const { store, counts } = open({ clock, synchronous: 'normal' })
    const other = open({ clock, namespace: 'other' })
    for (let index = 0; index < 1_500; index++)
      store.write(`key ${index}`, index, { expected: 0, labels: ['a', 'b'], expiresAt: clock() + 10 })
    store.write('stays', 1, { expected: 0, labels: ['a'], expiresAt: clock() + 11 })
    other.store.write('key', 1, { expected: 0, expiresAt: clock() + 10 })
    expect(store.removeExpired()).toBe(0)
    clock.advance(10)
    expect(store.removeExpired()).toBe(1_000)
    expect(counts()).toEqual([502, 1_001])
    expect(store.removeExpired()).toBe(500)
    expect(counts()).toEqual([2, 1])
    expect(other.store.removeExpired()).toBe(1)
  })

  it('are removed by a write: the first, one a minute after the last time, and the next where there were more', () => {
    const clock = virtualClock()
    const { store, counts } = open({ clock, synchronous: 'normal' })
    store.write('key', 1, { expected: 0, expiresAt: clock() + 10 })
    clock.advance(59)
    store.write('another', 1, { expected: 0 })
    expect(counts()[0]).toBe(2)
    clock.advance(1)
    store.write('third', 1, { expected: 0 })
    expect(counts()[0]).toBe(2)
    for (let index = 0; index < 1_001; index++) store.write(`key ${index}`, 1, { expected: 0, expiresAt: clock() + 1 })
    clock.advance(60)
    store.write('fourth', 1, { expected: 0 })
    expect(counts()[0]).toBe(4)
    store.write('fifth', 1, { expected: 0 })
    expect(counts()[0]).toBe(4)
    store.write('sixth', 1, { expected: 0, expiresAt: clock() + 1 })
    clock.advance(1)
    open({ clock }).store.write('seventh', 1, { expected: 0 })
    expect(counts()[0]).toBe(5)
  })
})

it('writes nothing that somebody else’s transaction on the connection could take back', async () => {
  const { database, store } = open()
  database.exec('BEGIN')
  expect(() => store.write('key', 1, { expected: 0 })).toThrowError(
    expect.objectContaining({ code: 'ERR_STORAGE_UNAVAILABLE', message: expect.stringContaining('transaction') }),
  )
  database.exec('COMMIT')
  expect(store.write('key', 1, { expected: 0 })).toBe(true)
})

describe('a database that is closed', () => {
  const unavailable = expect.objectContaining({
    name: 'StorageUnavailable',
    message: expect.stringContaining('closed'),
  })

  // libsql would end the process: it panics where it is asked for its transaction then.
  it('makes a write fail, so that a request in flight at a shutdown gets 503 and the process goes on', async () => {
    const { database, store } = open()
    const test = await testServer({ store, clock: () => 1_800_000_000 })
    const { refresh_token } = await tokens(test)
    database.close()
    expect(() => store.write('key', 1, { expected: 0 })).toThrowError(unavailable)
    expect((await refresh(test, refresh_token)).status).toBe(503)
    expect(test.errors).toEqual([unavailable])
  })

  it.each<[driver: string, members: () => Partial<SqliteDatabase>]>([
    ['libsql and better-sqlite3', () => ({ open: false, inTransaction: false })],
    ['node:sqlite', () => ({ open: () => {}, isOpen: false, isTransaction: false })],
  ])('is told by the members of %s', (_, members) => {
    const { database } = open()
    const closing: SqliteDatabase = { exec: (sql) => database.exec(sql), prepare: (sql) => database.prepare(sql) }
    const store = sqliteStore(closing)
    expect(store.write('key', 1, { expected: 0 })).toBe(true)
    Object.assign(closing, members())
    expect(() => store.write('key', 2, { expected: 0 })).toThrowError(unavailable)
  })

  it('is an error of SQLite where a driver refuses to tell its transaction', () => {
    const { database } = open()
    const store = sqliteStore({
      exec: (sql) => database.exec(sql),
      prepare: (sql) => database.prepare(sql),
      get isTransaction(): boolean {
        throw new Error('database is not open')
      },
    })
    expect(() => store.write('key', 1, { expected: 0 })).toThrowError(
      expect.objectContaining({ name: 'StorageUnavailable', message: 'grantwell: SQLite failed' }),
    )
  })
})

it('takes a driver for what it is that counts the rows of triggers, too', () => {
  const { database } = open()
  const counting: SqliteDatabase = {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql)
      return {
        get: (...values) => statement.get(...values),
        all: (...values) => statement.all(...values),
        run: (...values) => {
          const changes = Number(statement.run(...values).changes)
          return { changes: changes * 3 }
        },
      }
    },
  }
  const store = sqliteStore(counting)
  expect(store.write('key', 1, { expected: 0, labels: ['a', 'b'] })).toBe(true)
  expect(store.write('key', 1, { expected: 0, labels: ['a', 'b'] })).toBe(false)
})

it('labels that a record has no more are nowhere', () => {
  const { store, counts } = open()
  store.write('key', 1, { expected: 0, labels: ['a', 'a', 'b'] })
  expect(counts()).toEqual([1, 2])
  const version = () => Object(store.read(['key']))[0].version // it answers at once
  store.write('key', 1, { expected: version(), labels: ['b', 'c', 'd'] })
  expect(counts()).toEqual([1, 3])
  store.write('key', 1, { expected: version(), labels: [] })
  expect(counts()).toEqual([1, 0])
  store.write('key', 1, { expected: version(), labels: ['e'] })
  store.write('key', null, { expected: version(), expiresAt: 1 })
  expect(counts()).toEqual([0, 0])
})

/**
 * Records of every version that a release wrote: this release reads them all, and writes the newest as it is kept here.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { memoryStore } from 'grantwell/storage/memory'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import { START } from '../support.js'
import type { Fixture } from './record-life.js'
import { expectRead, liveOnce, load } from './record-life.js'

const FOLDER = new URL('records/', import.meta.url)

const versions = readdirSync(FOLDER)
const fixtureOf = (file: string): Fixture => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))

const clock = () => START + 60

describe.each(versions)('the records of %s', (file) => {
  it('are read in memory', async () => {
    const { records, held } = fixtureOf(file)
    const store = memoryStore({ clock })
    await load(store, records)
    await expectRead(store, held)
  })

  it('are read in SQLite', async () => {
    const { records, held } = fixtureOf(file)
    const database = new Database(':memory:')
    const store = sqliteStore(database, { clock })
    await load(store, records)
    await expectRead(store, held)
    database.close()
  })
})

it('this release writes the records of version 1: others need a version of their own, and a file made by liveOnce', async () => {
  const lived = JSON.parse(JSON.stringify(await liveOnce()))
  expect(lived).toStrictEqual(fixtureOf('version-1.json'))
})

it('there is a record of every kind among them', () => {
  for (const file of versions) {
    const kinds = new Set(fixtureOf(file).records.map(({ key }) => key.split(':')[0]))
    expect([...kinds].toSorted()).toEqual([
      'application',
      'attempts',
      'consent',
      'grant',
      'issuer',
      'logo',
      'mac_nonce',
      'user_code',
    ])
  }
})

/**
 * Records of every version that a release wrote: this release reads them all, and writes the newest as it is kept here.
 * @module
 */
import { memoryStore } from 'grantwell/storage/memory'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import { START } from '../support.js'
import { expectRead, FIXTURES, liveOnce, load } from './record-life.js'

const clock = () => START + 60

describe.each(FIXTURES)('the records of %s', (_, { records, held }) => {
  it('are read in memory', async () => {
    const store = memoryStore({ clock })
    await load(store, records)
    await expectRead(store, held)
  })

  it('are read in SQLite', async () => {
    const database = new Database(':memory:')
    const store = sqliteStore(database, { clock })
    await load(store, records)
    await expectRead(store, held)
    database.close()
  })
})

it('this release writes the records of version 1: others need a version of their own, and a file made by liveOnce', async () => {
  const lived = JSON.parse(JSON.stringify(await liveOnce()))
  expect(lived).toStrictEqual(new Map(FIXTURES).get('version-1'))
})

it('there is a record of every kind among them', () => {
  for (const [, { records }] of FIXTURES) {
    const kinds = new Set(records.map(({ key }) => key.split(':')[0]))
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

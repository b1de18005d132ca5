/**
 * The check of stored records: it finds nothing wrong with those that a server writes, and each thing that is broken in one.
 * @module
 */
import type { JsonValue } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { recordFault } from '../../src/shell/records/check-record.js'
import type { FixtureRecord } from './record-life.js'
import { FIXTURES, liveOnce } from './record-life.js'

const SOUND = FIXTURES.flatMap(([, { records }]) => records)

const faultOf = ({ key, value, expiresAt, labels = [] }: FixtureRecord) =>
  recordFault({ key, value, version: 1, labels, ...(expiresAt !== undefined && { expiresAt }) })

type Edit = (value: JsonValue) => JsonValue | undefined

/** Returns a value with the part at a path edited; undefined takes the part away. */
function edited(value: JsonValue, path: readonly (string | number)[], edit: Edit): JsonValue {
  const copy = structuredClone(value) as { [name: string]: JsonValue }
  const [last = '', ...before] = path.toReversed()
  let holder = copy
  for (const step of before.toReversed()) holder = holder[step] as typeof copy // the path leads through objects
  const next = edit(holder[last] as JsonValue) // the path ends at a part
  if (next === undefined) delete holder[last]
  else holder[last] = next
  return copy
}

/** Returns the paths of all parts of a value. */
function pathsOf(value: JsonValue, path: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [...(path.length > 0 ? [path] : []), ...entries.flatMap(([name, each]) => pathsOf(each, [...path, name]))]
}

it('finds nothing wrong with a record that a server wrote', async () => {
  const lived = (await liveOnce()).records
  expect(SOUND.length).toBeGreaterThan(15)
  for (const record of [...SOUND, ...lived]) expect([record.key, faultOf(record)]).toEqual([record.key, undefined])
})

const ofOtherType: Edit = (part) => (typeof part === 'object' ? 'wrong' : { wrong: [true] })

/** Makes a list of an object: its values are right, and its names are gone. */
const asList: Edit = (part) =>
  typeof part === 'object' && part !== null && !Array.isArray(part) ? Object.values(part) : ofOtherType(part)

it('finds each part of a record that is of another type', () => {
  let parts = 0
  for (const record of SOUND) {
    for (const path of pathsOf(record.value)) {
      parts++
      for (const toWrong of [ofOtherType, asList]) {
        const wrong = edited(record.value, path, toWrong)
        expect([record.key, path, wrong, faultOf({ ...record, value: wrong }) ?? 'sound']).toEqual([
          record.key,
          path,
          wrong,
          expect.not.stringMatching(/^sound$/),
        ])
      }
    }
  }
  expect(parts).toBeGreaterThan(300)
})

describe('says what is wrong', () => {
  const of = (begins: string, like: (record: FixtureRecord) => boolean = () => true): FixtureRecord =>
    SOUND.find((record) => record.key.startsWith(begins) && like(record)) ?? expect.fail()
  const grant = of('grant:', ({ labels }) => (labels?.length ?? 0) > 0)
  const application = of('application:', ({ labels, expiresAt }) =>
    Boolean(labels?.includes('applications:approved') && expiresAt === undefined),
  )

  it.each([
    ['a later version', { ...grant, value: edited(grant.value, ['v'], () => 2) }, /has version 2; this release reads/],
    ['no object', { ...grant, value: 'text' }, /has no version/],
    ['an unknown kind', { ...grant, key: 'token:1' }, 'this release knows no records of that kind'],
    [
      'a part that is missing',
      { ...grant, value: edited(grant.value, ['clientId'], () => undefined) },
      /^clientId must be/,
    ],
    [
      'a digest that was cut',
      { ...grant, value: edited(grant.value, ['code', 'digest'], (digest) => String(digest).slice(1)) },
      'code.digest must be a digest',
    ],
    ['another key', { ...grant, key: 'grant:AAAAAAAAAAAAAAAAAAAAAA' }, `it belongs under the key ${grant.key}`],
    ['another client key', { ...application, key: 'application:x' }, `it belongs under the key ${application.key}`],
    ['no labels', { ...grant, labels: [] }, `lists do not find it: it lacks the label ${grant.labels?.join(', ')}`],
    ['an early expiry', { ...grant, expiresAt: 1 }, `it expires at 1, and it is needed until ${grant.expiresAt}`],
    ['an expiry of what stays', { ...application, expiresAt: 1 }, 'it expires at 1, and it is needed for ever'],
    ['a stay of what passes', (({ expiresAt: _, ...rest }) => rest)(of('mac_nonce:')), /never expires/],
    ['no label of a decision', { ...of('consent:'), labels: [] }, /lacks the label consents:/],
  ])('of %s', (_, record, fault) => {
    expect(faultOf(record as FixtureRecord)).toEqual(typeof fault === 'string' ? fault : expect.stringMatching(fault))
  })
})

/**
 * The time for which the headers of a response let it be kept.
 * @module
 * @see RFC 9111, sections 4.2 and 5.2
 */
import { describe, expect, it } from 'vitest'
import { maxAgeOf } from '../../src/adapters/node/client-metadata/freshness.js'

const DATE = 'Wed, 25 Nov 2026 12:00:00 GMT'
const LATER = 'Wed, 25 Nov 2026 13:00:00 GMT'

describe('a response may be kept', () => {
  it.each([
    ['max-age=60', 60],
    ['public, max-age=60', 60],
    [' Max-Age = 60 ,public', 60],
    ['max-age="60"', 60],
    ['private="a, max-age=99", max-age=60', 60],
    ['private="a\\", max-age=99", max-age=60', 60],
    ['max-age=60, max-age=99', 60],
    ['s-maxage=99, x-max-age=98, max-age=60', 60],
    ['max-age=0', 0],
    ['max-age=99999999999999999999', 2 ** 31],
  ])('as long as Cache-Control says, with %j', (control, seconds) => {
    expect(maxAgeOf({ 'cache-control': control })).toBe(seconds)
  })

  it.each(['no-store', 'no-cache', 'max-age=60, No-Store', 'no-cache="Set-Cookie", max-age=60', 'no-cache=x'])(
    'not at all, with %j',
    (control) => {
      expect(maxAgeOf({ 'cache-control': control, expires: LATER, date: DATE })).toBe(0)
    },
  )

  it.each(['max-age', 'max-age=', 'max-age=-1', 'max-age=1.5', 'max-age=1h', 'max-age="', 'max-age=0x10'])(
    'not at all if its age cannot be read, with %j',
    (control) => {
      expect(maxAgeOf({ 'cache-control': control })).toBe(0)
    },
  )

  it.each([
    ['20', 40],
    ['60', 0],
    ['99', 0],
    ['-20', 60],
    ['x', 60],
    ['99999999999999999999', 0],
  ])('less long by its Age, %j', (age, seconds) => {
    expect(maxAgeOf({ 'cache-control': 'max-age=60', age })).toBe(seconds)
  })

  it.each([
    [{ expires: LATER, date: DATE }, 3600],
    [{ expires: LATER, date: DATE, age: '600' }, 3000],
    [{ expires: LATER, date: DATE, 'cache-control': 'public' }, 3600],
    [{ expires: LATER, date: DATE, 'cache-control': 'max-age=60' }, 60],
    [{ expires: 'Wed, 25 Nov 9999 13:00:00 GMT', date: DATE }, 2 ** 31],
    [{ expires: DATE, date: LATER }, 0],
    [{ expires: '0', date: DATE }, 0],
    [{ expires: '-1' }, 0],
    [{ expires: 'Wed, 99 Nov 2026 13:00:00 GMT', date: DATE }, 0],
    [{ expires: 'Wed, 25 Nov 2026 13:00:00 GMT+01', date: DATE }, 0],
  ])('until it expires, with %j', (headers, seconds) => {
    expect(maxAgeOf(headers)).toBe(seconds)
  })

  it.each([
    {},
    { 'cache-control': '' },
    { 'cache-control': 'public, must-revalidate' },
    { 'cache-control': 'x="max-age=60"' },
    { 'cache-control': 'x="no-store, no-cache' },
    { 'cache-control': 'xno-store, no-cachex' },
    { expires: LATER },
    { expires: LATER, date: 'now' },
    { date: DATE, age: '5' },
  ])('for a time that the headers do not say, with %j', (headers) => {
    expect(maxAgeOf(headers)).toBeUndefined()
  })
})

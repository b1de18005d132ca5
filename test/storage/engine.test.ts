/**
 * What the stores on engines share: their options, names that every engine keeps apart, versions, and how errors and
 * time-outs come out.
 * @module
 */
import * as fc from 'fast-check'
import { StorageUnavailable } from 'grantwell'
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import { batch, batchReads } from '../../src/storage/shared/batch.js'
import { keptUntil } from '../../src/storage/shared/expiry.js'
import { freshVersion } from '../../src/storage/shared/fresh-version.js'
import { decodeName, encodeName } from '../../src/storage/shared/names.js'
import { createParseCache } from '../../src/storage/shared/parse-cache.js'
import { withTimeout } from '../../src/storage/shared/time-out.js'
import { unicodeText } from '../unicode.js'

const never = (): Promise<never> => new Promise(() => {})
const POOL = { query: never, on: () => {}, listenerCount: () => 1 }
const REDIS = { call: never, on: () => {} }

/** Each store on an engine that never answers, with any options. */
const STORES: Readonly<Record<string, (options: object) => unknown>> = {
  sqliteStore: (options) => sqliteStore(new Database(':memory:'), options),
  postgresStore: (options) => postgresStore(POOL, options),
  redisStore: (options) => redisStore(REDIS, options),
}

describe.each(Object.entries(STORES))('the options of %s', (name, make) => {
  it('may be left out, and be undefined', () => {
    for (const options of [{}, { namespace: undefined, clock: undefined }, { namespace: 'a.b:c-1_Z' }])
      expect(make(options)).toMatchObject({ read: expect.any(Function), write: expect.any(Function) })
  })

  it('are refused where one is unknown or wrong, by its name', () => {
    const wrong: Readonly<Record<string, readonly unknown[]>> = {
      namespace: ['', 'a b', 'a{1}', 'a\n', 'a'.repeat(65), 1, null],
      clock: [0, 'now', null, () => 1.5, () => Number.NaN],
      timeoutMs: name === 'sqliteStore' ? [5_000] : [0, -1, 1.5, Number.NaN, 2 ** 31, '1', null],
      nameSpace: ['a'],
      ...(name === 'postgresStore' && { table: ['', 'A', 'aB.c', 'a;b', 'a"b', 'a.b.c', 'a'.repeat(41), 1] }),
      ...(name === 'sqliteStore' && { synchronous: ['off', 'FULL', true] }),
    }
    for (const [option, values] of Object.entries(wrong))
      for (const value of values)
        expect(() => make({ [option]: value }), `${option}: ${String(value)}`).toThrowError(
          expect.objectContaining({ code: 'ERR_CONFIGURATION', message: expect.stringContaining(option) }),
        )
  })

  it('are an object', () => {
    for (const wrong of [null, 'a', 1])
      expect(() => make(wrong as unknown as object)).toThrowError(
        expect.objectContaining({ code: 'ERR_CONFIGURATION', message: expect.stringContaining(name) }),
      )
  })

  it('are refused where the object has them from another', () => {
    expect(() => make(Object.create({ namespace: 'a' }))).toThrowError(
      expect.objectContaining({
        code: 'ERR_CONFIGURATION',
        message: expect.stringContaining(`${name}: the option namespace must be the object's own`),
      }),
    )
  })
})

it('a store of anything else than its engine is a mistake', () => {
  for (const wrong of [undefined, null, {}, 'file.db', 1]) {
    // As a program without types would.
    for (const make of [sqliteStore, postgresStore, redisStore] as readonly ((engine: never) => unknown)[])
      expect(() => make(wrong as never), `${make.name} ${String(wrong)}`).toThrowError(
        expect.objectContaining({ code: 'ERR_CONFIGURATION' }),
      )
  }
})

describe('names', () => {
  const name = fc.oneof(
    unicodeText(),
    fc.string({ unit: fc.constantFrom('\\', '"', '0', 'u', '\ufeff', '\0', '\ud800', '\udc00', 'a') }),
  )

  it('come back as they were, are told apart, and are text that no engine changes', () => {
    fc.assert(
      fc.property(name, name, (one, other) => {
        expect(decodeName(encodeName(one))).toBe(one)
        expect(encodeName(one) === encodeName(other)).toBe(one === other)
        expect(new TextDecoder().decode(new TextEncoder().encode(encodeName(one)))).toBe(encodeName(one))
        expect([...encodeName(one)].every((character) => character >= ' ') && encodeName(one) !== '').toBe(true)
      }),
      {
        examples: [
          ['', '\\0'],
          ['', '\0'],
          ['\ud800', '\ud801'],
          ['\\0', '0'],
        ],
      },
    )
  })

  it('of ordinary characters stay what they are', () => {
    for (const plain of ['grant:AAAAAAAAAAAAAAAAAAAAAA', 'subject:Ada Lovelace', 'é😀'])
      expect(encodeName(plain)).toBe(plain)
  })
})

it('versions are positive integers that a number holds exactly, and differ', () => {
  const versions = Array.from({ length: 20_000 }, freshVersion)
  expect(versions.every((version) => Number.isSafeInteger(version) && version > 0)).toBe(true)
  expect(new Set(versions).size).toBe(versions.length)
  // All 53 bits are used.
  expect(Math.max(...versions)).toBeGreaterThan(2 ** 52)
  expect(new Set(versions.map((version) => version % 2)).size).toBe(2)
})

describe('how long a record is kept', () => {
  it('is as long as it lives, and an eighth longer at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 40 }), fc.integer({ min: 1, max: 2 ** 40 }), (now, life) => {
        const longer = keptUntil(now + life, now) - (now + life)
        expect(Number.isInteger(longer) && longer >= 0 && longer <= life / 8).toBe(true)
      }),
    )
  })

  it('seldom changes while it lives a little longer each time', () => {
    const [hours, days] = [3_600, 86_400]
    const kept = Array.from({ length: 3 * 365 }, (_, refresh) => refresh * 8 * hours).map((now) =>
      keptUntil(now + 180 * days, now),
    )
    expect(new Set(kept).size).toBeLessThan(40)
  })
})

describe('the values that a store remembers', () => {
  it('are those that were asked for twice, as long as their text is the same', () => {
    const parse = createParseCache()
    const first = parse('{"a":1}', 1)
    expect(first).toEqual({ a: 1 })
    const second = parse('{"a":1}', 1)
    expect(second).toEqual({ a: 1 })
    expect(second).not.toBe(first)
    expect(parse('{"a":1}', 1)).toBe(second)
    expect(parse('{"a":2}', 1)).toEqual({ a: 2 })
    expect(parse('{"a":1}', 2)).toEqual({ a: 1 })
    expect(parse('{"a":1}', 2)).not.toBe(second)
  })

  it('are none of those that are large', () => {
    const parse = createParseCache()
    const values = (json: string, version: number) => new Set([1, 2, 3, 4].map(() => parse(json, version))).size
    expect(values('{"v":1}', 1)).toBe(2)
    expect(values(JSON.stringify({ v: 1, base64url: 'A'.repeat(10_000) }), 2)).toBe(4)
  })

  it('are those that were read last, 512 or so', () => {
    const parse = createParseCache()
    const again = (index: number): unknown => {
      parse(`[${index}]`, index + 1)
      return parse(`[${index}]`, index + 1)
    }
    const values = Array.from({ length: 2_000 }, (_, index) => ({ index, value: again(index) }))
    const kept = values.toReversed().filter(({ index, value }) => parse(`[${index}]`, index + 1) === value)
    expect(kept.length).toBeGreaterThanOrEqual(512)
    expect(kept.length).toBeLessThanOrEqual(1_024)
    expect(kept[0]?.index).toBe(1_999)
    parse('["often"]', 5_000)
    const often = parse('["often"]', 5_000)
    for (let index = 0; index < 5_000; index++) {
      parse(`[${index}]`, 10_000 + index)
      expect(parse('["often"]', 5_000)).toBe(often)
    }
  })
})

/** Round trips that nobody watches. */
const UNWATCHED = { operation: 'read', engine: { system: 'other' } } as const

describe('what is asked for in one turn of the event loop', () => {
  /** Asks for a number's double, and keeps what each round trip was for. */
  function doubling(refuse: (numbers: readonly number[]) => Error | undefined = () => undefined) {
    const trips: (readonly number[])[] = []
    const ask = batch(UNWATCHED, async (numbers: readonly number[]) => {
      trips.push(numbers)
      const error = refuse(numbers)
      if (error !== undefined) throw error
      return numbers.map((number) => 2 * number)
    })
    return { trips, ask }
  }
  const range = (length: number) => Array.from({ length }, (_, index) => index)

  it('goes on one round trip, 16 at a time, and each gets its own answer', async () => {
    const { trips, ask } = doubling()
    expect(await Promise.all(range(40).map(ask))).toEqual(range(40).map((number) => 2 * number))
    expect(trips).toEqual([range(16), range(32).slice(16), range(40).slice(32)])
    expect([await ask(1), await ask(2)]).toEqual([2, 4])
    expect(trips.slice(3)).toEqual([[1], [2]])
  })

  it('and is refused together is asked for one by one, so that what is wrong fails alone', async () => {
    for (const cause of [
      new Error('WRONGTYPE Operation against a key holding the wrong kind of value'),
      Object.assign(new Error('keine Berechtigung'), { severity: 'FEHLER', code: '42501' }),
      new SyntaxError('no JSON'),
    ]) {
      const error = cause instanceof SyntaxError ? cause : new StorageUnavailable('the engine failed', cause)
      const { trips, ask } = doubling((numbers) => (numbers.includes(1) ? error : undefined))
      const settled = await Promise.allSettled(range(3).map(ask))
      expect(settled).toEqual([
        { status: 'fulfilled', value: 0 },
        { status: 'rejected', reason: error },
        { status: 'fulfilled', value: 4 },
      ])
      expect(trips).toEqual([range(3), [0], [1], [2]])
    }
  })

  it('and gets no answer fails at once', async () => {
    for (const cause of [
      undefined,
      new Error('Connection is closed.'),
      Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }),
      Object.assign(new Error('terminating connection'), { severity: 'FATAL', code: '57P01' }),
    ]) {
      const error = new StorageUnavailable('the engine failed', cause)
      const { trips, ask } = doubling(() => error)
      const settled = await Promise.allSettled(range(3).map(ask))
      expect(settled).toEqual(range(3).map(() => ({ status: 'rejected', reason: error })))
      expect(trips).toEqual([range(3)])
    }
  })

  it('and gets no answer fails at once, whatever the client had said before', async () => {
    let calls = 0
    const silent = {
      call: () => {
        calls++
        return never()
      },
      on: (_: string, listener: (error: Error) => void) => listener(new Error('WRONGPASS invalid password')),
    }
    const store = redisStore(silent, { timeoutMs: 20 })
    const settled = await Promise.allSettled(range(4).map((key) => store.write(`${key}`, 1, { expected: 0 })))
    expect(settled.map(({ status }) => status)).toEqual(range(4).map(() => 'rejected'))
    expect(calls).toBe(1)
  })

  it('and is left out of an answer fails', async () => {
    const ask = batch(UNWATCHED, async (numbers: readonly number[]) => numbers.slice(1))
    const settled = await Promise.allSettled(range(2).map(ask))
    expect(settled).toMatchObject([{ value: 1 }, { status: 'rejected', reason: { code: 'ERR_STORAGE_UNAVAILABLE' } }])
  })

  it('is read once, whoever asks for it', async () => {
    const trips: (readonly string[])[] = []
    const read = batchReads(UNWATCHED.engine, async (keys) => {
      trips.push(keys)
      return keys.map((key) => (key === 'absent' ? undefined : { value: key, version: 1 }))
    })
    const asked = [['application', 'a'], ['application', 'absent'], [], ['b', 'application', 'b']]
    const found = await Promise.all(asked.map((keys) => read(keys)))
    expect(found.map((records) => records.map((record) => record?.value))).toEqual([
      ['application', 'a'],
      ['application', undefined],
      [],
      ['b', 'application', 'b'],
    ])
    expect(trips).toEqual([['application', 'a', 'absent', 'b']])
  })
})

describe('an engine that fails', () => {
  it('gives StorageUnavailable, which has what the engine said as its cause, not in its message, nor in its fields', async () => {
    const cause = new Error('password authentication failed for user "secret"')
    const failed = withTimeout(1_000, 'The engine', Promise.reject(cause))
    await expect(failed).rejects.toBeInstanceOf(StorageUnavailable)
    await expect(failed).rejects.toMatchObject({ code: 'ERR_STORAGE_UNAVAILABLE', cause })
    await expect(failed).rejects.toThrow(/^grantwell: The engine failed$/)
    const error = await failed.catch((thrown: unknown) => thrown)
    expect(JSON.stringify({ ...Object(error) })).not.toContain('secret')
  })

  it('and told of it before gives that as the cause of the time-out', async () => {
    const cause = new Error('connect ECONNREFUSED')
    const refused = { call: never, on: (_: string, listener: (error: Error) => void) => listener(cause) }
    await expect(redisStore(refused, { timeoutMs: 5 }).read(['key'])).rejects.toMatchObject({ cause })
  })

  it('or never answers gives StorageUnavailable after the time it had', async () => {
    for (const store of [postgresStore(POOL, { timeoutMs: 5 }), redisStore(REDIS, { timeoutMs: 5 })]) {
      const asked = [
        async () => store.read(['key']),
        async () => store.write('key', 1, { expected: 0 }),
        async () => store.list('label'),
      ]
      for (const ask of asked)
        await expect(ask()).rejects.toMatchObject({
          code: 'ERR_STORAGE_UNAVAILABLE',
          message: expect.stringMatching(/did not answer within 5 ms$/),
        })
    }
  })
})

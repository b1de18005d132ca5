/**
 * The one loop that reads and writes the store, where the store fails, lies, loses answers, or somebody else is quicker.
 * @module
 * @see SECURITY statements 49 and 52; DESIGN, "The one idea"
 */
import * as fc from 'fast-check'
import type { HttpResponse, JsonValue, RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { logoIn } from '../protocol/consent-form.js'
import { API, withApi } from '../protocol/resource-server.js'
import type { TestServer } from '../support.js'
import {
  authorizationUrl,
  authorize,
  basic,
  call,
  exchange,
  ISSUER,
  laterServer,
  openConsent,
  post,
  refresh,
  registration,
  requestOf,
  revoke,
  send,
  testServer,
  tokens,
  WEB,
  works,
} from '../support.js'
import type { WatchedServer } from './helpers.js'
import {
  atRevocation,
  BUSY,
  busyPage,
  CONSENT_REFUSED,
  grantsOf,
  INVALID_GRANT,
  REVOKED,
  StoreFailure,
  watchedServer,
} from './helpers.js'

/** How often a decision is made before the answer is that the service is busy. */
const ATTEMPTS = 32

/** One thing that changes a grant: how to come so far, how to do it, and how to tell that it was done. */
interface Step {
  /** Does it, as often as one likes. */
  readonly act: () => Promise<HttpResponse>
  /** The answer to a store that fails. */
  readonly busy: HttpResponse
  /** Records that it writes; 1 by default. */
  readonly writes?: number
  /** Whether an answer says that it was done, and it was. */
  readonly done: (response: HttpResponse) => Promise<boolean>
}

const STEPS: Record<string, (test: WatchedServer) => Promise<Step>> = {
  consent: async (test) => {
    const { fields, headers } = await openConsent(test)
    return {
      act: () => post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers),
      busy: busyPage(503),
      writes: 2,
      done: async ({ status, headers: answered }) => {
        const code = new URL(answered['Location'] ?? 'none:').searchParams.get('code') ?? ''
        return status === 302 && (await exchange(test, code)).status === 200
      },
    }
  },
  exchange: async (test) => {
    const { code } = await authorize(test)
    return {
      act: async () => (await exchange(test, code)).response,
      busy: BUSY,
      done: ({ status, body }) => pairWorks(test, status, body),
    }
  },
  refresh: async (test) => {
    const { refresh_token } = await tokens(test)
    return {
      act: async () => (await refresh(test, refresh_token)).response,
      busy: BUSY,
      done: ({ status, body }) => pairWorks(test, status, body),
    }
  },
  'revocation of an access token': async (test) => {
    const { access_token } = await tokens(test)
    return {
      act: () => revoke(test, access_token),
      busy: atRevocation(BUSY),
      done: async ({ status }) => status === 200 && !(await works(test, access_token)),
    }
  },
  'revocation of a refresh token': async (test) => {
    const { access_token, refresh_token } = await tokens(test)
    return {
      act: () => revoke(test, refresh_token),
      busy: atRevocation(BUSY),
      done: async ({ status }) => status === 200 && !(await works(test, access_token)),
    }
  },
}

async function pairWorks(test: WatchedServer, status: number, body: string): Promise<boolean> {
  if (status !== 200) return false
  const { access_token, refresh_token } = JSON.parse(body)
  return (await works(test, access_token)) && (await refresh(test, refresh_token)).status === 200
}

/** What the store holds of a user. */
async function snapshot(test: WatchedServer): Promise<string> {
  return JSON.stringify(await grantsOf(test.store))
}

describe.each(Object.entries(STEPS))('[49] %s', (_name, prepare) => {
  it.each([
    [
      'throws',
      () => {
        throw new StoreFailure()
      },
    ],
    ['rejects', () => Promise.reject(new StoreFailure())],
  ] as const)(
    '[49] a store whose read %s: 503 with Retry-After, nothing changes, and a retry is safe',
    async (_how, fail) => {
      const test = await watchedServer()
      const { act, busy, done } = await prepare(test)
      const before = await snapshot(test)
      const told = test.events.length
      test.instead.read = fail
      expect(await act()).toStrictEqual(busy)
      expect(test.errors).toStrictEqual([new StoreFailure()])
      expect(test.events.slice(told).map((event) => event.type === 'refused' && event.reason)).toStrictEqual([
        'store_failed',
      ])
      expect(await snapshot(test)).toBe(before)
      test.instead.read = undefined
      expect(await done(await act())).toBe(true)
    },
  )

  it.each([
    [
      'throws',
      () => {
        throw new StoreFailure()
      },
    ],
    ['rejects', () => Promise.reject(new StoreFailure())],
  ] as const)(
    '[49] a store whose write %s: 503 with Retry-After, nothing changes, and a retry is safe',
    async (_how, fail) => {
      const test = await watchedServer()
      const { act, busy, done } = await prepare(test)
      const before = await snapshot(test)
      const told = test.events.length
      test.instead.write = fail
      expect(await act()).toStrictEqual(busy)
      expect(test.errors).toStrictEqual([new StoreFailure()])
      expect(test.events.slice(told).map((event) => event.type === 'refused' && event.reason)).toStrictEqual([
        'store_failed',
      ])
      expect(await snapshot(test)).toBe(before)
      test.instead.write = undefined
      expect(await done(await act())).toBe(true)
    },
  )

  it.each([
    ['as it was written', (value: JsonValue) => value],
    ['with its names in another order', reversed],
    ['as another object', (value: JsonValue) => JSON.parse(JSON.stringify(value))],
  ])(
    '[49] a write that happened, its answer lost, found again %s: done, and what the client gets works',
    async (_how, found) => {
      const test = await watchedServer()
      const { act, done, writes = 1 } = await prepare(test)
      const told = test.events.length
      let lost = 0
      test.instead.write = async (key, value, options) => {
        await test.store.write(key, value, options)
        lost++
        throw new StoreFailure()
      }
      test.instead.read = async (keys) => {
        const records = await test.store.read(keys)
        return records.map((record) => record && { ...record, value: found(record.value) })
      }
      test.forget()
      const response = await act()
      Object.assign(test.instead, { read: undefined, write: undefined })
      expect(lost).toBe(writes)
      // Nobody was refused, and what happened is told once.
      expect(test.events.slice(told).filter(({ type }) => type === 'refused')).toStrictEqual([])
      expect(test.events.slice(told)).toHaveLength(1)
      expect(test.errors).toStrictEqual(Array(writes).fill(new StoreFailure()))
      expect(await done(response)).toBe(true)
    },
  )

  it('[49] a write that happened, its answer lost, and then every other answer: 503, and a retry does no harm', async () => {
    const test = await watchedServer()
    const { act, busy } = await prepare(test)
    test.instead.write = async (key, value, options) => {
      await test.store.write(key, value, options)
      test.instead.read = () => Promise.reject(new StoreFailure())
      throw new StoreFailure()
    }
    expect(await act()).toStrictEqual(busy)
    expect(test.errors).toStrictEqual([new StoreFailure(), new StoreFailure()])
    Object.assign(test.instead, { read: undefined, write: undefined })
    const again = await act()
    // A code or a form that was used is used; a refresh gives what it gave; what is revoked is revoked.
    const { status } = again
    const succeeded = status === 200 || status === 302
    expect(succeeded ? INVALID_GRANT : again).toStrictEqual(
      again.body === CONSENT_REFUSED.body ? CONSENT_REFUSED : INVALID_GRANT,
    )
    expect(await grantsOf(test.store)).toHaveLength(1)
  })

  it('[49] a store that always says that somebody else was quicker: 503 after a bounded number of attempts', async () => {
    const test = await watchedServer()
    const { act, busy, done } = await prepare(test)
    const before = await snapshot(test)
    const told = test.events.length
    test.instead.write = () => false
    test.forget()
    expect(await act()).toStrictEqual(busy)
    // A consent reads its application once more before.
    expect(test.trips.writes).toBe(ATTEMPTS)
    expect([ATTEMPTS, ATTEMPTS + 1]).toContain(test.trips.reads)
    expect(test.events.slice(told).map((event) => event.type === 'refused' && event.reason)).toStrictEqual([
      'contention',
    ])
    expect(test.errors).toStrictEqual([])
    expect(await snapshot(test)).toBe(before)
    test.instead.write = undefined
    expect(await done(await act())).toBe(true)
  })

  it('[49] somebody else was quicker, any number of times below that: done, and told once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: ATTEMPTS - 1 }), fc.boolean(), async (times, promised) => {
        const test = await watchedServer()
        const { act, done, writes = 1 } = await prepare(test)
        const told = test.events.length
        let left = times
        test.instead.write = (key, value, options) => {
          if (left-- > 0) return promised ? Promise.resolve(false) : false
          return test.store.write(key, value, options)
        }
        test.forget()
        const response = await act()
        expect(test.trips.writes).toBe(times + writes)
        expect(test.events.slice(told)).toHaveLength(1)
        expect(await done(response)).toBe(true)
      }),
      { numRuns: 6, examples: [[ATTEMPTS - 1, true]] },
    )
  })

  it('[49] somebody changes the record between the lost write and the look at it: 503, and nothing is handed out', async () => {
    const test = await watchedServer()
    const { act, busy } = await prepare(test)
    test.instead.write = async (key, value, options) => {
      await test.store.write(key, value, options)
      const [written] = await test.store.read([key])
      const other = { ...(value as Record<string, JsonValue>), changed: true } // a grant is an object
      await test.store.write(key, other, { expected: written?.version ?? 0 })
      throw new StoreFailure()
    }
    expect(await act()).toStrictEqual(busy)
  })

  it('[52] what the store says in its failure is in no answer, and in the error that the host gets', async () => {
    const test = await watchedServer()
    const { act } = await prepare(test)
    const failure = new StoreFailure()
    for (const operation of ['write', 'read'] as const) {
      const fail = (): never => {
        throw failure
      }
      test.instead[operation] = fail
      const { status, headers, body } = await act()
      expect(status).toBe(503)
      for (const word of ['postgres', 'hunter2', 'SELECT', 'StoreFailure', 'Error', 'at ', '.ts', 'stack']) {
        expect(JSON.stringify([headers, body])).not.toContain(word)
      }
    }
    expect(test.errors.every((error) => error === failure)).toBe(true)
  })
})

/** The same JSON with the names of every object in the opposite order. */
function reversed(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(reversed)
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, part]): [string, JsonValue] => [name, reversed(part)])
      .reverse(),
  )
}

describe('[49] what only reads', () => {
  it('[49] the authorization request: a page with 503', async () => {
    const test = await watchedServer()
    test.instead.read = (keys) => {
      if (keys[0]?.startsWith('application:')) throw new StoreFailure()
      return test.store.read(keys)
    }
    expect(await send(test.server, { url: authorizationUrl({ state: 's' }) })).toStrictEqual(busyPage(503))
    expect(test.errors).toStrictEqual([new StoreFailure()])
    expect(test.events.map((event) => event.type === 'refused' && event.reason)).toStrictEqual(['store_failed'])
  })

  it('[49] the logo of an application: 503, for the application and for the logo', async () => {
    for (const failing of ['application:', 'logo:']) {
      const test = await watchedServer()
      const { page } = await openConsent(test)
      test.instead.read = (keys) => {
        if (keys[0]?.startsWith(failing)) throw new StoreFailure()
        return test.store.read(keys)
      }
      expect(await send(test.server, { url: logoIn(page.body) })).toStrictEqual(BUSY)
      expect(test.errors).toStrictEqual([new StoreFailure()])
    }
  })

  describe.each([
    ['at once', <Value>(value: Value) => value],
    ['a moment later', <Value>(value: Value) => Promise.resolve(value)],
  ])('[49] a record that an engine gives as null, %s, is absent', (_when, given) => {
    const nulls = ({ store }: Pick<TestServer, 'store'>): RecordStore['read'] => {
      const found = (keys: readonly string[]) => store.read(keys) as readonly unknown[] // the memory store answers at once
      const read = (keys: readonly string[]) => given(found(keys).map((record) => record ?? null))
      return read as unknown as RecordStore['read'] // what an engine without types could do
    }

    it('[49] from the first use of an empty store on: every step of a flow is answered', async () => {
      const test = await watchedServer()
      const empty = memoryStore({ clock: () => test.clock.now })
      const server = createAuthorizationServer({
        issuer: ISSUER,
        store: { ...empty, read: nulls({ store: empty }) },
        user: () => test.session.user,
        signInUrl: () => '/sign-in',
        clock: () => test.clock.now,
        onError: (error) => test.errors.push(error),
      })
      const flow = { ...test, server }
      expect((await call(flow, 'x')).type).toBe('refused')
      expect((await exchange(flow, 'x')).status).toBe(401)
      await server.applications.register(registration(), WEB)
      const { access_token, refresh_token } = await tokens(flow)
      expect(await works(flow, access_token)).toBe(true)
      expect((await refresh(flow, refresh_token)).status).toBe(200)
      expect(test.errors).toStrictEqual([])
    })

    it('[49] where the answer to a write of something that is gone by then was lost: it is done', async () => {
      const test = await watchedServer()
      const { refresh_token } = await tokens(test)
      test.clock.now += 28_800
      test.instead.read = nulls(test)
      test.instead.write = async (key, value, options) => {
        await test.store.write(key, value, options)
        throw new StoreFailure()
      }
      expect(await revoke(test, refresh_token)).toStrictEqual(REVOKED)
    })
  })
})

describe('a store that answers at once', () => {
  /** What the server says to a request: a response, or the promise of one. */
  const asked = ({ server }: TestServer, path: string, form: Record<string, string>, client = WEB) =>
    server.handle({
      ...requestOf({ method: 'POST', url: `/oauth2/${path}` }),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...basic(client) },
      body: { type: 'text', text: new URLSearchParams(form).toString() },
    })

  it('is not waited for where a bearer token is read: at a guard, and by introspection', async () => {
    for (const [make, isLater] of [
      [testServer, false],
      [laterServer, true],
    ] as const) {
      const test = await withApi(await make())
      const { access_token } = await tokens(test)
      const guard = test.server.guard({ scope: 'repo-code:r' })
      const answers = [
        asked(test, 'introspect', { token: access_token }, API),
        guard({ headers: { authorization: `Bearer ${access_token}` } }),
      ]
      expect(answers.map((each) => each instanceof Promise)).toEqual(answers.map(() => isLater))
      const found = await Promise.all(answers)
      expect(found).toMatchObject([
        { status: 200, body: expect.stringContaining('"active":true') },
        { type: 'authenticated' },
      ])
    }
  })
})

describe('[49] racing writers', () => {
  /** The next write is beaten by somebody else, who does something at the very moment before it. */
  function beat(test: WatchedServer, other: () => Promise<unknown>): void {
    test.instead.write = async (key, value, options) => {
      test.instead.write = undefined
      await other()
      return test.store.write(key, value, options)
    }
  }

  it('[49] two refreshes: both get the one successor', async () => {
    const test = await watchedServer()
    const { refresh_token } = await tokens(test)
    let first: unknown
    beat(test, async () => {
      first = (await refresh(test, refresh_token)).body
    })
    const { body } = await refresh(test, refresh_token)
    expect(body).toStrictEqual(first)
    expect(await works(test, body.access_token)).toBe(true)
    expect(test.events.slice(-2).map((event) => event.type === 'refreshed' && event.retry)).toStrictEqual([false, true])
  })

  it('[49] two exchanges: the second is a replay, which revokes what the first got', async () => {
    const test = await watchedServer()
    const { code } = await authorize(test)
    let first = ''
    beat(test, async () => {
      first = (await exchange(test, code)).body.access_token
    })
    expect((await exchange(test, code)).response).toStrictEqual(INVALID_GRANT)
    expect(first).not.toBe('')
    expect(await works(test, first)).toBe(false)
  })

  it('[49] two forms: one code', async () => {
    const test = await watchedServer()
    const { fields, headers } = await openConsent(test)
    const agree = () => post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    let first: HttpResponse | undefined
    beat(test, async () => {
      first = await agree()
    })
    expect(await agree()).toStrictEqual(first)
    expect(first?.status).toBe(302)
    expect(await grantsOf(test.store)).toHaveLength(1)
  })

  it('[49] a refresh and a revocation: what is revoked stays revoked, whichever was quicker', async () => {
    for (const refreshFirst of [true, false]) {
      const test = await watchedServer()
      const { refresh_token, access_token } = await tokens(test)
      const refreshing = () => refresh(test, refresh_token)
      const revoking = () => revoke(test, refresh_token)
      beat(test, refreshFirst ? revoking : refreshing)
      const answered = await (refreshFirst ? refreshing().then(({ response }) => response) : revoking())
      expect(answered).toStrictEqual(refreshFirst ? INVALID_GRANT : REVOKED)
      expect(await works(test, access_token)).toBe(false)
      expect((await refreshing()).response).toStrictEqual(INVALID_GRANT)
    }
  })

  it('[49] a suspension during an exchange counts at the next request, and the code is used', async () => {
    const test = await watchedServer()
    const { code } = await authorize(test)
    beat(test, () => test.server.applications.suspend('web'))
    const { status, body } = await exchange(test, code)
    expect(status).toBe(200)
    expect(await works(test, body.access_token)).toBe(false)
  })

  it('[49] many at once over a store that takes its time, in any order: one successor, one grant, no error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 6 }), async (scheduler, count) => {
        const test = await watchedServer()
        const { refresh_token } = await tokens(test)
        const { read, write } = test.store
        test.instead.read = (keys) => scheduler.schedule(Promise.resolve(), 'read').then(() => read(keys))
        test.instead.write = (key, value, options) =>
          scheduler.schedule(Promise.resolve(), 'write').then(() => write(key, value, options))
        const all = Promise.all(Array.from({ length: count }, () => refresh(test, refresh_token)))
        await scheduler.waitFor(all)
        const results = await all
        expect(results.map(({ status }) => status)).toStrictEqual(Array(count).fill(200))
        expect(new Set(results.map(({ body }) => JSON.stringify(body))).size).toBe(1)
        expect(test.errors).toStrictEqual([])
      }),
      { numRuns: 30 },
    )
  })

  it('[49] every attempt decides with the time and the randomness of its own', async () => {
    let draws = 0
    const test = await watchedServer({ entropy: (length) => new Uint8Array(length).fill(++draws) })
    const { code } = await authorize(test)
    const before = draws
    const secrets: JsonValue[] = []
    let left = 3
    test.instead.write = (key, value, options) => {
      secrets.push(value)
      test.clock.now += 10
      return left-- > 0 ? false : test.store.write(key, value, options)
    }
    const { body } = await exchange(test, code)
    expect(draws).toBe(before + 4)
    expect(new Set(secrets.map((value) => JSON.stringify(value))).size).toBe(4)
    expect(await works(test, body.access_token)).toBe(true)
    expect(test.events.at(-1)).toMatchObject({ type: 'exchanged', at: test.clock.now - 10 })
  })
})

it('[49] a revocation after which nothing need be kept, its answer lost, is done where nothing is found; where the record is there it is not', async () => {
  for (const happened of [true, false]) {
    const test = await watchedServer()
    const { refresh_token } = await tokens(test)
    // No access token lives any more, so that what is left of the grant may be forgotten at once.
    test.clock.now += 28_800
    test.instead.write = async (key, value, options) => {
      expect(options.expiresAt).toBeLessThanOrEqual(test.clock.now)
      if (happened) await test.store.write(key, value, options)
      throw new StoreFailure()
    }
    expect(await revoke(test, refresh_token)).toStrictEqual(happened ? REVOKED : atRevocation(BUSY))
    test.instead.write = undefined
    expect(await refresh(test, refresh_token)).toMatchObject({ status: happened ? 400 : 200 })
  }
})

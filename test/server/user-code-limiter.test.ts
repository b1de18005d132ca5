/**
 * How often user codes can be guessed: for each user, for each address, and what the odds are then.
 * @module
 * @see RFC 8628, section 5.1; SECURITY statement 44
 */
import fc from 'fast-check'
import type { AuthorizationServerOptions, HttpRequest } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { describe, expect, it } from 'vitest'
import type { AttemptLimit } from '../../src/core/rate-limit.js'
import { networkOf } from '../../src/endpoints/limits/network.js'
import { ADDRESS_LIMIT, USER_LIMIT } from '../../src/endpoints/limits/user-code-limiter.js'
import { overFetch } from '../adapters/bridge.js'
import { sender } from '../adapters/http.js'
import { overNode } from '../adapters/node-listener.js'
import { serve } from '../adapters/suite.js'
import { codesOf, decideOn, enter, enterCode, openDevicePage, told } from '../protocol/device-form.js'
import type { TestServer } from '../support.js'
import { ISSUER, laterServer, post, testServer } from '../support.js'
import { busyPage, StoreFailure, watchedServer } from './helpers.js'

const WRONG = 'WDJB-MJHT'

/** A guess, as the host's own limiter is told of it. */
type UserCodeAttempt = Parameters<NonNullable<AuthorizationServerOptions['userCodeLimiter']>>[0]

/** Requests say in a header who sends them, and from where. */
const byHeaders: Partial<AuthorizationServerOptions> = {
  user: ({ headers }) => ({ subject: String(headers['x-user'] ?? 'ada') }),
  remoteAddress: ({ headers }) => (headers['x-address'] === undefined ? undefined : String(headers['x-address'])),
}

interface Guesser {
  readonly user?: string
  readonly address?: string
}

/** Enters a code, as a user with an address. */
async function guess(test: Pick<TestServer, 'server'>, { user = 'ada', address }: Guesser, code = WRONG) {
  const headers = { 'x-user': user, ...(address !== undefined && { 'x-address': address }) }
  return (await enter(test, await openDevicePage(test, '', headers), code, {}, headers)).page
}

/** How many guesses pass before one does not. */
async function passing(test: TestServer, guesser: Guesser | ((count: number) => Guesser), most = 200): Promise<number> {
  for (let count = 0; count < most; count++) {
    const { status } = await guess(test, typeof guesser === 'function' ? guesser(count) : guesser)
    if (status === 429) return count
    expect(status).toBe(400)
  }
  return most
}

/** How many attempts a limit lets pass in so many seconds. */
function mostIn({ allowance, period }: AttemptLimit, seconds: number): number {
  return allowance + Math.floor(seconds / period)
}

describe('[44] the odds', () => {
  it('[44] a user has 20 guesses in the 600 seconds of a code: 7.8 in 10^10 for one code that waits', () => {
    const guesses = mostIn(USER_LIMIT, 600)
    expect(guesses).toBe(20)
    expect(guesses / 20 ** 8).toBeCloseTo(7.8e-10, 11)
  })

  it('[44] all users of one address together have 100: 3.9 in 10^9', () => {
    const guesses = mostIn(ADDRESS_LIMIT, 600)
    expect(guesses).toBe(100)
    expect(guesses / 20 ** 8).toBeCloseTo(3.9e-9, 10)
  })

  it('[44] somebody who guesses every second of those 600 has no more', async () => {
    const test = await testServer({ ...byHeaders })
    let passed = 0
    for (let second = 0; second <= 600; second++) {
      for (let count = 0; count < 2; count++) if ((await guess(test, {})).status === 400) passed++
      test.clock.now++
    }
    expect(passed).toBe(20)
  })
})

describe('[44] guesses of a user', () => {
  it('[44] are 10 at once and one a minute more; a right code does not pass either until then', async () => {
    const test = await testServer(byHeaders)
    const codes = await codesOf(test)
    expect(await passing(test, {})).toBe(10)
    test.clock.now += 59
    const tooMany = await guess(test, {}, codes.user_code)
    expect([tooMany.status, tooMany.headers['Retry-After']]).toEqual([429, '1'])
    expect(tooMany.body).toContain('Too many codes were tried. Wait a minute, and try again.')
    test.clock.now += 1
    expect((await guess(test, {}, codes.user_code)).status).toBe(200)
    expect((await guess(test, {}, codes.user_code)).status).toBe(429)
  })

  it('[44] too many are told how long to wait, in the answer and in the audit trail', async () => {
    const test = await testServer(byHeaders)
    await passing(test, {})
    const { status, headers, body } = await guess(test, {})
    expect([status, headers['Retry-After'], headers['Content-Type']]).toEqual([429, '60', 'text/html;charset=UTF-8'])
    expect(headers['Cache-Control']).toBe('no-store')
    expect(body).toContain('Too many codes were tried. Wait a minute, and try again.')
    expect(test.events.at(-1)).toStrictEqual({
      type: 'refused',
      at: test.clock.now,
      endpoint: 'device',
      error: 'invalid_request',
      reason: 'too_many_attempts',
      subject: 'ada',
    })
  })

  it('[44] count whether they were right, wrong or no code at all', async () => {
    const test = await testServer(byHeaders)
    const { user_code } = await codesOf(test)
    const typed = [user_code, WRONG, 'nonsense', '']
    const statuses: number[] = []
    for (let count = 0; count < 11; count++) statuses.push((await guess(test, {}, typed[count % 4])).status)
    expect(statuses).toEqual([200, 400, 400, 400, 200, 400, 400, 400, 200, 400, 429])
  })

  it('[44] are counted for each user alone, and on all servers and browsers together', async () => {
    const test = await testServer(byHeaders)
    expect(await passing(test, { user: 'ada' })).toBe(10)
    expect(await passing(test, { user: 'bob' })).toBe(10)
    const clock = () => test.clock.now
    const base = { issuer: ISSUER, store: test.store, clock, signInUrl: () => '/sign-in', user: () => undefined }
    const server = createAuthorizationServer({ ...base, ...byHeaders })
    expect((await guess({ server }, { user: 'ada' })).status).toBe(429)
    expect((await guess(test, { user: 'ada', address: '192.0.2.7' })).status).toBe(429)
  })

  it('[44] that never were forms of the page do not count: nobody can use up another’s by a link or a foreign form', async () => {
    const test = await testServer(byHeaders)
    for (let count = 0; count < 30; count++) {
      const headers = { 'x-user': 'ada', origin: 'https://evil.example' }
      expect((await post(test.server, '/oauth2/device', { user_code: WRONG }, headers)).status).toBe(400)
      await openDevicePage(test, `user_code=${WRONG}`, { 'x-user': 'ada' })
    }
    expect(await passing(test, { user: 'ada' })).toBe(10)
  })

  it('[44] do not hold up a decision: that is of a device that was found', async () => {
    const test = await testServer(byHeaders)
    const codes = await codesOf(test)
    const consent = await enterCode(test, codes.user_code)
    expect(await passing(test, {})).toBe(9)
    expect((await decideOn(test, consent)).status).toBe(200)
    expect(await told(test, codes)).toBe('tokens')
  })

  it('[44] at once, are no more than one after the other', async () => {
    const test = await laterServer(byHeaders)
    const page = await openDevicePage(test)
    const answers = await Promise.all(Array.from({ length: 25 }, () => enter(test, page, WRONG)))
    const statuses = answers.map(({ page: { status } }) => status)
    expect(statuses.filter((status) => status === 400)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(15)
  })
})

describe('[44] a clock that steps back', () => {
  it('[44] locks nobody out until it has caught up, and gives no guesses back', async () => {
    for (const [guesser, allowance, { period }] of [
      [() => ({}), 10, USER_LIMIT],
      [(count: number) => ({ user: `user ${count}`, address: '192.0.2.1' }), 50, ADDRESS_LIMIT],
    ] as const) {
      const test = await testServer(byHeaders)
      expect(await passing(test, guesser)).toBe(allowance)
      test.clock.now -= 1_000_000
      for (let count = 0; count < 5; count++) {
        const { status, headers } = await guess(test, guesser(1000 + count))
        expect([status, headers['Retry-After']]).toEqual([429, String(period)])
        test.clock.now += period
        expect((await guess(test, guesser(2000 + count))).status).toBe(400)
      }
    }
  })
})

describe('[44] guesses from an address', () => {
  const users = (address: string) => (count: number) => ({ user: `user ${count}`, address })

  it('[44] are 50 at once and one in twelve seconds more, whoever makes them', async () => {
    const test = await testServer(byHeaders)
    expect(await passing(test, users('192.0.2.1'))).toBe(50)
    test.clock.now += 11
    const { status, headers } = await guess(test, { user: 'somebody', address: '192.0.2.1' })
    expect([status, headers['Retry-After']]).toEqual([429, '1'])
    test.clock.now += 1
    expect((await guess(test, { user: 'else', address: '192.0.2.1' })).status).toBe(400)
    expect((await guess(test, { user: 'and more', address: '192.0.2.2' })).status).toBe(400)
  })

  it('[44] of a user who is over the own limit cost the address nothing', async () => {
    const test = await testServer(byHeaders)
    const address = '192.0.2.1'
    expect(await passing(test, { user: 'ada', address })).toBe(10)
    for (let count = 0; count < 100; count++) expect((await guess(test, { user: 'ada', address })).status).toBe(429)
    expect(await passing(test, users(address))).toBe(40)
  })

  it.each([
    ['an IPv4 address and the same mapped into IPv6', '192.0.2.1', '::ffff:192.0.2.1', '::FFFF:192.0.2.1'],
    ['addresses of one IPv6 /64', '2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:0DB8:0001:2::'],
    ['short and long forms', '2001:db8::1', '2001:db8:0:0:5::', '2001:0db8:0000:0000:0000:0000:0000:0009'],
    ['loopback as it is written', '::1', '0:0:0:0:0:0:0:1', '::2'],
    ['forms with zeros at the front', '::5:6:7:8:9', '0:0:0:5:6:7:8:a', '0::5:1:1:1:1'],
    ['an interface’s own', 'fe80::1%eth0', 'fe80::2%eth1', 'fe80:0:0:0::'],
    ['an IPv4 address with and without a port', '1.2.3.4', '1.2.3.4:5678', '1.2.3.4:1', '[::ffff:1.2.3.4]:443'],
    ['an IPv6 address with and without brackets and a port', '2001:db8::1', '[2001:db8::1]', '[2001:DB8::2]:443'],
    ['loopback in brackets', '::1', '[::1]', '[::1]:8080'],
    ['an IPv4 address in hexadecimal', '::ffff:102:304', '0:0:0:0:0:FFFF:0102:0304', '[::ffff:102:304]:443'],
    ['an IPv4 address in all its forms', '1.2.3.4', '::ffff:102:304', '0:0:0:0:0:ffff:1.2.3.4', '::ffff:1.2.3.4%eth0'],
    [
      'an IPv4 address behind a translator',
      '64:ff9b::102:304',
      '64:FF9B::1.2.3.4',
      '1.2.3.4',
      '[64:ff9b::102:304]:443',
    ],
    ['the networks of one IPv4 address', '2002:102:304::1', '2002:102:304:5::1', '1.2.3.4'],
  ])('[44] are of one subscriber: %s', async (_what, ...addresses) => {
    const test = await testServer(byHeaders)
    expect(
      await passing(test, (count) => ({ user: `user ${count}`, address: addresses[count % addresses.length] ?? '' })),
    ).toBe(50)
  })

  it.each([
    ['192.0.2.1', '192.0.2.2'],
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['2001:db8::1', '2001:db9::1'],
    ['::1', '192.0.2.1'],
    ['1:2:3:4::', '1:2:3:40::'],
    ['12:3::', '1:23::'],
    ['1.2.3.4:5678', '1.2.3.5:5678'],
    ['[2001:db8:1:2::1]:443', '[2001:db8:1:3::1]:443'],
    ['::ffff:102:304', '::ffff:102:305'],
    ['::ffff:102:304', '::ffff:202:304'],
    ['::ffff:102:304', '::1'],
    ['0:0:0:0:0:ffff:1.2.3.4', '0:0:0:0:0:ffff:1.2.3.5'],
    ['64:ff9b::102:304', '64:ff9b::506:708'],
    ['64:ff9b::1.2.3.4', '64:ff9b::1.2.3.5'],
    ['64:ff9b:1::102:304', '64:ff9b:1::506:708'],
    ['64:ff9b:1:2:3:4:1.2.3.4', '64:ff9b:1:2:3:4:5.6.7.8'],
    ['::ffff:0:1.2.3.4', '::ffff:0:5.6.7.8'],
    ['2002:102:304::1', '2002:506:708::1'],
    ['2002::1', '2002:0:1::1'],
    ['64:ff9b:2::1', '64:ff9b:3::1'],
  ])('[44] are of different ones: %s and %s', async (one, other) => {
    const test = await testServer(byHeaders)
    expect(await passing(test, users(one))).toBe(50)
    expect((await guess(test, { user: 'somebody', address: other })).status).toBe(400)
  })

  it.each([
    '',
    'unknown',
    'localhost:80',
    '203.0.113.9, 192.0.2.1',
    '192.0.2.1 ',
    '1.2.3',
    '2001:db8::1, 192.0.2.1',
    '[2001:db8::1',
    'g::1',
    '256.2.3.4',
    '::ffff:1.2.3.1000',
    '1::1.2.3.256',
    '1.2.3.4::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '12345::',
    ':',
    '1:2:3:4:5:6:7:1.2.3.4',
    ['203.0.113.9', '192.0.2.1'],
    7,
  ])(
    '[44] that are none fail closed, since whoever chose a part would be somebody else each time: %j',
    async (address) => {
      let told: unknown
      const test = await watchedServer({ remoteAddress: () => told as string }) // as a host without types may
      const { user_code } = await codesOf(test)
      told = address
      const page = await openDevicePage(test)
      test.forget()
      expect((await enter(test, page, user_code)).page).toStrictEqual(busyPage(500))
      expect(test.trips.keys.filter((key) => !key.startsWith('attempts:'))).toEqual([])
      const message = expect.stringMatching(/^grantwell: remoteAddress\(\) must give .+; got ./)
      expect(test.errors).toMatchObject([{ code: 'ERR_CONFIGURATION', message }])
    },
  )

  it('[44] that nobody knows are limited by user alone', async () => {
    for (const remoteAddress of [() => undefined, () => null]) {
      const test = await testServer({ ...byHeaders, remoteAddress })
      expect(await passing(test, (count) => ({ user: `user ${count}` }), 120)).toBe(120)
      expect(await passing(test, { user: 'ada' })).toBe(10)
      expect(test.errors).toStrictEqual([])
    }
  })

  it('[44] and a user of the same name are two', async () => {
    const test = await testServer(byHeaders)
    const name = '192.0.2.1'
    expect(await passing(test, { user: name })).toBe(10)
    expect((await guess(test, { user: 'ada', address: name })).status).toBe(400)
    expect(await passing(test, { user: 'address 192.0.2.2' })).toBe(10)
    expect((await guess(test, { user: 'bob', address: '192.0.2.2' })).status).toBe(400)
  })
})

describe('[44] the network of an address', () => {
  const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
  const pair = (high = 0, low = 0): string => (high * 256 + low).toString(16)
  /** The ways in which an IPv4 address is written, and the IPv6 addresses that stand for it. */
  const FORMS: readonly ((dotted: string, first: string, second: string) => string)[] = [
    (dotted) => dotted,
    (dotted) => `${dotted}:443`,
    (dotted) => `::ffff:${dotted}`,
    (dotted) => `::FFFF:${dotted}:443`,
    (dotted) => `[0:0::0:ffff:${dotted}]:443`,
    (dotted) => `::ffff:${dotted}%eth0`,
    (_, first, second) => `::ffff:${first}:${second}`,
    (_, first, second) => `0000:0:0:0:0:ffff:${first.padStart(4, '0')}:${second}`,
    (_, first, second) => `[::ffff:${first.toUpperCase()}:${second}]`,
    (dotted) => `64:ff9b::${dotted}`,
    (_, first, second) => `0064:ff9b:0:0::${first}:${second}`,
    (dotted) => `::ffff:0:${dotted}`,
    (_, first, second) => `2002:${first}:${second}:7::1`,
  ]
  const form = fc.constantFrom(...FORMS)
  const written = ([a, b, c, d]: readonly number[], write: (typeof FORMS)[number]): string =>
    write([a, b, c, d].join('.'), pair(a, b), pair(c, d))

  it('[44] is one for one IPv4 address, however it is written, and another for every other', () => {
    fc.assert(
      fc.property(octets, octets, form, form, (one, other, write, rewrite) => {
        const network = networkOf(written(one, write))
        expect(networkOf(written(one, rewrite))).toBe(network)
        expect(networkOf(written(other, rewrite)) === network).toBe(one.join() === other.join())
      }),
    )
  })

  it('[44] is the first half of an IPv6 address, however its zeros are written', () => {
    const group = fc.oneof(fc.constant(0), fc.nat(0xffff))
    const groups = fc.array(group, { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(fc.integer({ min: 0x2003, max: 0x3fff }), groups, fc.nat(7), fc.nat(7), (first, rest, from, to) => {
        const all = [first, ...rest.slice(1)].map((each) => each.toString(16))
        const long = all.map((each) => each.padStart(4, '0').toUpperCase()).join(':')
        const [start, end] = [Math.max(1, Math.min(from, to)), Math.max(from, to) + 1]
        const zeros = all.map((each, index) => (index >= start && index < end ? '0' : each))
        const short = `${zeros.slice(0, start).join(':')}::${zeros.slice(end).join(':')}`
        expect(networkOf(long)).toBe(all.slice(0, 4).join(':'))
        expect(networkOf(`[${short}]`)).toBe(zeros.slice(0, 4).join(':'))
      }),
    )
  })
})

describe('[44] what is kept of attempts', () => {
  it('[44] is one time and a random mark under a digest: no subject and no address, and it goes when it says nothing any more', async () => {
    const test = await watchedServer(byHeaders)
    const written: { key: string; text: string; expiresAt: number | undefined }[] = []
    test.instead.write = (key, value, options) => {
      written.push({ key, text: JSON.stringify([key, value, options]), expiresAt: options.expiresAt })
      return test.store.write(key, value, options)
    }
    await guess(test, { user: 'ada.lovelace', address: '192.0.2.77' })
    expect(written.map(({ text }) => text)).toStrictEqual([
      expect.stringMatching(
        /^\["attempts:[\w-]{43}",\{"v":1,"freeAt":1800000060,"by":"[\w-]{22}"\},\{"expected":0,"expiresAt":1800000060\}\]$/,
      ),
      expect.stringMatching(
        /^\["attempts:[\w-]{43}",\{"v":1,"freeAt":1800000012,"by":"[\w-]{22}"\},\{"expected":0,"expiresAt":1800000012\}\]$/,
      ),
    ])
    // Its name is a digest, and its mark is random: they can have any letters.
    const words = written.map(({ text }) => text.slice(54).replace(/"by":"[\w-]{22}"/, ''))
    for (const text of words) for (const clear of ['ada', 'lovelace', '192', '77']) expect(text).not.toContain(clear)
    const [user, address] = written
    expect(user?.key).not.toBe(address?.key)
    test.clock.now += 60
    expect(await test.store.read(written.map(({ key }) => key))).toEqual([undefined, undefined])
  })

  it('[49] fails closed with the store: no attempt is made that cannot be counted', async () => {
    const test = await watchedServer(byHeaders)
    const { user_code } = await codesOf(test)
    for (const failing of ['read', 'write'] as const) {
      test.instead[failing] = () => {
        throw new StoreFailure()
      }
      test.forget()
      expect(await guess(test, { address: '192.0.2.1' }, user_code)).toStrictEqual(
        expect.objectContaining({ status: 503, body: busyPage(503).body }),
      )
      expect(test.trips.keys.filter((key) => key.startsWith('user_code:'))).toEqual([])
      test.instead[failing] = undefined
    }
  })
})

describe('[44] the host’s own limiter', () => {
  it('[44] is asked instead, with who and from where, before any code is looked up; nothing is kept', async () => {
    const asked: UserCodeAttempt[] = []
    const test = await watchedServer({
      ...byHeaders,
      userCodeLimiter: async (attempt) => {
        asked.push(attempt)
        return asked.length > 2 ? 61.2 : 0
      },
    })
    const { user_code } = await codesOf(test)
    expect((await guess(test, { address: '192.0.2.1' }, user_code)).status).toBe(200)
    expect((await guess(test, {}, WRONG)).status).toBe(400)
    test.forget()
    const { status, headers, body } = await guess(test, { user: 'bob' }, user_code)
    expect([status, headers['Retry-After']]).toEqual([429, '62'])
    expect(body).toContain('Too many codes were tried. Wait 2 minutes, and try again.')
    expect(test.trips).toMatchObject({ reads: 0, writes: 0 })
    expect(asked).toStrictEqual([
      { subject: 'ada', address: '192.0.2.1' },
      { subject: 'ada', address: undefined },
      { subject: 'bob', address: undefined },
    ])
  })

  it('[44] is told of no address where the host gives null for it', async () => {
    const asked: UserCodeAttempt[] = []
    const userCodeLimiter = (attempt: UserCodeAttempt) => {
      asked.push(attempt)
      return 0
    }
    const test = await testServer({ userCodeLimiter, remoteAddress: () => null })
    expect((await guess(test, {})).status).toBe(400)
    expect(asked).toStrictEqual([{ subject: 'ada', address: undefined }])
  })

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['NaN', Number.NaN],
    ['infinite', Number.POSITIVE_INFINITY],
    ['negative', -1],
    ['true', true],
    ['a text', '0'],
    ['an object', {}],
    ['a list', []],
    ['a result of another kind', { type: 'allowed' }],
  ])('[44] that gives %s fails closed: 500, no code is looked up, and the host is told', async (_what, wait) => {
    const test = await watchedServer({ userCodeLimiter: (() => wait) as unknown as () => number }) // as a host without types may
    const { user_code } = await codesOf(test)
    const page = await openDevicePage(test)
    test.forget()
    expect((await enter(test, page, user_code)).page).toStrictEqual(busyPage(500))
    expect(test.trips.keys).toEqual([])
    expect(test.errors).toHaveLength(1)
  })

  it('[44] that throws fails closed, at once and by its promise', async () => {
    for (const userCodeLimiter of [
      () => {
        throw new Error('of the host')
      },
      () => Promise.reject(new Error('of the host')),
    ]) {
      const test = await watchedServer({ userCodeLimiter })
      const { user_code } = await codesOf(test)
      expect((await enterCode(test, user_code)).page).toStrictEqual(busyPage(500))
      expect(test.errors).toHaveLength(1)
    }
  })
})

describe('[44] the address of a browser', () => {
  async function addressSeen(options: Partial<AuthorizationServerOptions>, listener = overNode) {
    const asked: UserCodeAttempt[] = []
    const userCodeLimiter = (attempt: UserCodeAttempt) => {
      asked.push(attempt)
      return 0
    }
    const platform = { title: '', listener, elsewhere: '', twoAuthorizations: { status: 400, error: '' } }
    const site = await serve(platform, { userCodeLimiter, ...options })
    const cookie = 'session=ada'
    const send = sender(site.listening.port)
    const page = await send({ path: '/oauth2/device', headers: { cookie } })
    const key = page.headers['set-cookie']?.split(';')[0]
    const consent = /name="consent" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
    const headers = {
      cookie: `${cookie}; ${key}`,
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': '203.0.113.9',
      forwarded: 'for=203.0.113.9',
    }
    const body = new URLSearchParams({ consent, user_code: WRONG }).toString()
    const answered = await send({ method: 'POST', path: '/oauth2/device', headers, body })
    await site.listening.close()
    expect(answered.status).toBe(400)
    return asked
  }

  it('[44] is what Node’s socket says, and never what the request itself claims', async () => {
    expect(await addressSeen({})).toStrictEqual([{ subject: 'ada', address: '127.0.0.1' }])
  })

  it('[44] is unknown on a platform that does not tell, unless the host does', async () => {
    expect(await addressSeen({}, overFetch)).toStrictEqual([{ subject: 'ada', address: undefined }])
    const remoteAddress = ({ native, headers }: HttpRequest) =>
      native instanceof Request ? String(headers['x-forwarded-for']) : undefined
    expect(await addressSeen({ remoteAddress }, overFetch)).toStrictEqual([{ subject: 'ada', address: '203.0.113.9' }])
  })

  it('[44] by default is taken of nothing that only looks like a socket', async () => {
    const asked: UserCodeAttempt[] = []
    const test = await testServer({
      userCodeLimiter: (attempt) => {
        asked.push(attempt)
        return 0
      },
    })
    const { headers, fields } = await openDevicePage(test)
    const body = { type: 'text', text: new URLSearchParams({ ...fields, user_code: WRONG }).toString() } as const
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    for (const native of [
      undefined,
      null,
      'text',
      7,
      {},
      { socket: null },
      { socket: {} },
      { socket: { remoteAddress: 5 } },
    ]) {
      const response = await test.server.handle({ method: 'POST', url: '/oauth2/device', headers: form, body, native })
      expect(response?.status).toBe(400)
    }
    expect(asked).toStrictEqual(Array.from({ length: 8 }, () => ({ subject: 'ada', address: undefined })))
    expect(test.errors).toStrictEqual([])
  })
})

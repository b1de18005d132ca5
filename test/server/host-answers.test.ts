/**
 * Wrong answers of every function of the host: each is found where it enters, the host is told which function gave what, and
 * nobody else learns more than that the service is busy.
 * @module
 * @see SECURITY statement 52
 */
import type { AuthorizationServerOptions } from 'grantwell'
import { createAuthorizationServer, portableDigests } from 'grantwell'
import { defaultPages } from 'grantwell/pages'
import { memoryStore } from 'grantwell/storage/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationUrl,
  authorize,
  basic,
  call,
  exchange,
  hiddenFields,
  post,
  START,
  send,
  testServer,
  WEB,
} from '../support.js'
import { transport } from '../transports/index.js'

/** What a function gives that should give something else. Made anew each time: a promise rejects for whoever has it. */
const WRONG: { readonly [what: string]: () => unknown } = {
  undefined: () => undefined,
  null: () => null,
  'a number': () => -7,
  'not a number': () => Number.NaN,
  'a number with a part': () => START + 0.5,
  'a string': () => 'hunter2 \u{1f511}',
  'an object': () => ({}),
  'an array': () => [7],
  'a symbol': () => Symbol('hunter2'),
  'a function': () => () => 'hunter2',
  'a Promise': () => Promise.resolve({}),
  'a Promise that rejects': () => Promise.reject(new Error('hunter2')),
  // biome-ignore lint/suspicious/noThenProperty: that it is one is the test
  'a thenable': () => ({ then: (done: (value: unknown) => void) => done(7) }),
  'an object that throws': () => ({
    get subject() {
      throw new Error('hunter2')
    },
  }),
  'a Proxy that throws': () =>
    new Proxy(
      {},
      {
        get: (_, name) => {
          if (name === 'then') return undefined
          throw new Error('hunter2')
        },
        getPrototypeOf: () => {
          throw new Error('hunter2')
        },
      },
    ),
}

type Options = Partial<AuthorizationServerOptions>
type Given = () => never // any value, as a program without types may give

/** Each function, as messages name it; how a server gets it; what of the table it may give; and a request that calls it. */
const FUNCTIONS: {
  readonly [name: string]: {
    readonly options: (wrong: Given) => Options
    readonly takes?: readonly string[]
    readonly at?: 'authorization' | 'device' | 'token' | 'error' | 'applications' | 'code'
  }
} = {
  'user()': { options: (user) => ({ user }), takes: ['undefined', 'null'] },
  'signInUrl()': { options: (signInUrl) => ({ user: () => undefined, signInUrl }) },
  'switchAccountUrl()': { options: (switchAccountUrl) => ({ switchAccountUrl }) },
  'resources()': { options: (resources) => ({ resources }) },
  'locale()': { options: (locale) => ({ locale }), takes: ['undefined', 'null', 'a string'] },
  'userCodeLimiter()': {
    options: (userCodeLimiter) => ({ userCodeLimiter }),
    takes: ['a thenable', 'a number with a part'],
    at: 'code',
  },
  'remoteAddress()': { options: (remoteAddress) => ({ remoteAddress }), takes: ['undefined', 'null'], at: 'code' },
  'clock()': { options: (clock) => ({ clock }), at: 'token' },
  'entropy()': { options: (entropy) => ({ entropy }), at: 'token' },
  'digests.sha256()': { options: (sha256) => ({ digests: { ...portableDigests, sha256 } }), at: 'token' },
  'digests.hmacSha256()': { options: (hmacSha256) => ({ digests: { ...portableDigests, hmacSha256 } }) },
  'store.read()': { options: (read) => ({ store: { ...memoryStore(), read } }), at: 'token' },
  'store.write()': { options: (write) => ({ store: { ...memoryStore(), write } }), at: 'token' },
  'store.list()': { options: (list) => ({ store: { ...memoryStore(), list } }), at: 'applications' },
  'pages.consent()': { options: (consent) => ({ pages: { consent } }), takes: ['a string'] },
  'pages.error()': { options: (error) => ({ pages: { error } }), takes: ['a string'], at: 'error' },
  'pages.device()': { options: (device) => ({ pages: { device } }), takes: ['a string'], at: 'device' },
  'pages.authorizedApplications()': {
    options: (authorizedApplications) => ({ pages: { authorizedApplications } }),
    takes: ['a string'],
    at: 'applications',
  },
}

const unhandled: unknown[] = []
const onUnhandled = (error: unknown): void => void unhandled.push(error)
beforeAll(() => void process.on('unhandledRejection', onUnhandled))
afterAll(() => void process.off('unhandledRejection', onUnhandled))

/** A server whose function is sound until it is broken. */
async function breakable(options: (wrong: Given) => Options, what: string) {
  let broken = false
  const given = options((() => WRONG[what]?.()) as Given)
  const sound = await testServer()
  const store = sound.store
  const merge = (whole: object, part: object): object =>
    Object.fromEntries(
      Object.entries(part).map(([name, value]) => {
        const before: unknown = Reflect.get(whole, name)
        if (typeof value !== 'function') return [name, { ...(before as object), ...merge(before as object, value) }]
        const swap = (...args: unknown[]): unknown =>
          broken || typeof before !== 'function' ? value(...args) : before(...args)
        return [name, swap]
      }),
    )
  const errors: unknown[] = []
  const base: AuthorizationServerOptions = {
    issuer: 'https://git.example',
    store,
    digests: portableDigests,
    user: () => sound.session.user,
    signInUrl: () => '/sign-in',
    clock: () => START,
    entropy: (length) => crypto.getRandomValues(new Uint8Array(length)),
    onError: (error) => errors.push(error),
    onEvent: () => {},
    pages: defaultPages,
  }
  const part = given.store === undefined ? given : { store: pick(given.store) }
  const all = { ...base, ...merge(base, part) } as AuthorizationServerOptions
  const server = createAuthorizationServer(all)
  const test = { ...sound, server, errors }
  const setBroken = (isBroken: boolean): void => {
    broken = isBroken
  }
  return { test, setBroken }
}

/** The one function of a store that is the table's own. */
function pick(store: object): object {
  const plain: Readonly<Record<string, unknown>> = { ...store }
  const own = ['read', 'write', 'list'].filter((name) => String(plain[name]).includes('WRONG'))
  return Object.fromEntries(own.map((name) => [name, plain[name]]))
}

describe(`[52] a wrong answer of a function of the host (${transport.name})`, () => {
  const table = Object.entries(FUNCTIONS).flatMap(([name, { takes = [] }]) =>
    Object.keys(WRONG).flatMap((what) => (takes.includes(what) ? [] : [[name, what] as const])),
  )

  it.each(table)('%s gives %s: it is named to onError, and the answer says nothing of it', async (name, what) => {
    const { options, at = 'authorization' } = FUNCTIONS[name] ?? { options: () => ({}) }
    const { test, setBroken } = await breakable(options, what)
    const { code } = at === 'token' ? await authorize(test) : { code: '' }
    const page = at === 'code' ? await send(test.server, { url: '/oauth2/device' }) : undefined
    setBroken(true)
    const ask = async () => {
      if (at === 'token') return (await exchange(test, code)).response
      if (page !== undefined) {
        const cookie = String(page.headers['Set-Cookie']).split(';', 1)[0] ?? ''
        const form = { ...hiddenFields(page.body), user_code: 'BCDF-GHJK' }
        return post(test.server, '/oauth2/device', form, { cookie, origin: 'https://git.example' })
      }
      if (at === 'error') return send(test.server, { url: '/oauth2/auth' })
      if (at === 'authorization') return send(test.server, { url: authorizationUrl() })
      return send(test.server, { url: `/oauth2/${at}` })
    }
    const response = await ask()
    setBroken(false)
    expect(typeof response.body).toBe('string')
    expect([200, at === 'error' ? 400 : 200, 500, 503]).toContain(response.status)
    expect(response.body).not.toMatch(/hunter2|must give|object Promise|grantwell:/)
    expect(test.errors).not.toEqual([])
    const named = test.errors.filter((error) => String(error).includes(`${name} must give `))
    // What rejects is told as it is where a promise may be given.
    const isRejection = what === 'a Promise that rejects' && String(test.errors[0]) === 'Error: hunter2'
    const wrong = { name: 'GrantwellError', code: 'ERR_CONFIGURATION' }
    expect(isRejection ? wrong : named[0]).toMatchObject(wrong)
    const message = isRejection
      ? /^Error: hunter2$/
      : /^GrantwellError: grantwell: \S+ must give (?!.*hunter2).+; got .+/
    expect(String(isRejection ? test.errors[0] : named[0])).toMatch(message)
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled.splice(0)).toEqual([])
  })

  it.each(Object.keys(WRONG))('onEvent and onError may give %s: nobody looks at it', async (what) => {
    const given = (() => WRONG[what]?.()) as Given
    const test = await testServer({ onEvent: given, onError: given })
    expect((await send(test.server, { url: '/oauth2/auth' })).status).toBe(400)
    expect((await call(test, 'gwa_none')).type).toBe('refused')
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled.splice(0)).toEqual([])
  })
})

describe('a promise inside an answer, which nobody awaited', () => {
  const late = (): never => Promise.reject(new Error('hunter2')) as never // as a program without types may give

  it.each<readonly [string, () => Options, string, string]>([
    ['user()', () => ({ user: () => ({ subject: late() }) }), '/oauth2/auth', 'subject'],
    ['user()', () => ({ user: () => ({ subject: 'ada', name: late() }) }), '/oauth2/auth', 'name'],
    ['user()', () => ({ user: () => ({ 'a b': late() }) as never }), '/oauth2/auth', 'a field'],
    ['resources()', () => ({ resources: () => [{ id: 'a' }, late(), late()] }), authorizationUrl(), '[1]'],
    ['resources()', () => ({ resources: () => [{ id: late(), name: late() }] }), authorizationUrl(), '[0].id'],
  ])('%s: it ends no process, and is named (%#)', async (name, options, url, place) => {
    const test = await testServer(options())
    expect((await send(test.server, { url: url === '/oauth2/auth' ? authorizationUrl() : url })).status).toBe(500)
    expect(test.errors).toMatchObject([{ code: 'ERR_CONFIGURATION' }])
    expect(String(test.errors[0])).toContain(`${name} must give `)
    expect(String(test.errors[0])).toContain(`, in which ${place} is a Promise (did you forget await?)`)
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled.splice(0)).toEqual([])
  })

  it('resource(): the same', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const headers = { authorization: `Bearer ${(await exchange(test, code)).body.access_token}` }
    const resource = () => ({ id: 'a', public: false, accessible: late() })
    expect(await test.server.authenticate({ headers, url: '/' }, { resource })).toMatchObject({
      type: 'refused',
      response: { status: 500 },
    })
    expect(String(test.errors[0])).toContain('accessible is a Promise (did you forget await?)')
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled.splice(0)).toEqual([])
  })

  it.each(['a Promise that rejects', 'a number', 'an array'])(
    'remoteAddress() gives %s at the device authorization endpoint: it is named',
    async (what) => {
      const limited: unknown[] = []
      const test = await testServer({
        remoteAddress: () => WRONG[what]?.() as never, // as above
        deviceLimiter: (attempt) => limited.push(attempt) * 0,
      })
      const response = await post(test.server, '/oauth2/device_authorization', { scope: 'repo-code:r' }, basic(WEB))
      expect([response.status, limited]).toEqual([500, []])
      expect(String(test.errors[0])).toContain('remoteAddress() must give ')
      await new Promise((resolve) => setImmediate(resolve))
      expect(unhandled.splice(0)).toEqual([])
    },
  )

  it('a resource without a name may say so by null', async () => {
    const test = await testServer({ resources: () => [{ id: 'repo/1', name: null as never }] })
    const page = await send(test.server, { url: authorizationUrl() })
    expect([page.status, page.body.includes('repo/1'), test.errors]).toEqual([200, true, []])
  })

  it.each<[Partial<AuthorizationServerOptions>, string]>([
    [{ user: () => ({ subject: 7, name: '' }) as never }, 'got an object, { subject: a number, name: a string }'],
    [{ resources: () => [{ id: 3, name: 'x' }] as never }, 'got an array of 1, { id: a number, name: a string }'],
  ])('%#: a wrong field is told by its type', async (options, said) => {
    const test = await testServer(options)
    await send(test.server, { url: authorizationUrl() })
    expect(test.errors.map((error) => String(error))).toEqual([expect.stringContaining(said)])
  })
})

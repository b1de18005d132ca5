/**
 * Discovery of a service by its own metadata only.
 * @module
 * @see RFC 8414
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { ClientError, type ClientOptions, discover } from 'grantwell/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WEB } from '../support.js'
import { type MadeUp, madeUp, openService, type Reply, type Service, thrownBy } from './service.js'

const METADATA = '/.well-known/oauth-authorization-server'

const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** A made-up service that ends with the test. */
async function service(...args: Parameters<typeof madeUp>): Promise<MadeUp> {
  const made = await madeUp(...args)
  open.push(made.close)
  return made
}

/** Its metadata as one answer. */
async function answering(reply: Reply): Promise<MadeUp> {
  return service({ [METADATA]: [reply] })
}

describe('a client of a real service', () => {
  let real: Service

  beforeAll(async () => {
    real = await openService()
  })
  afterAll(() => real.close())

  it('finds the endpoints, and shows no more than who asks whom', async () => {
    const client = await discover({ issuer: real.issuer, ...WEB })
    expect(client).toEqual({ issuer: real.issuer, clientId: 'web', metadata: client.metadata })
    expect(client.metadata.token_endpoint).toBe(`${real.issuer}/oauth2/token`)
    expect(Object.isFrozen(client)).toBe(true)
    expect(inspect(client, { showHidden: true, depth: 10 })).not.toContain(WEB.clientSecret)
    expect(JSON.stringify(client)).not.toContain('symbol')
  })

  it('spells the issuer as the service does', async () => {
    expect((await discover({ issuer: `${real.issuer}/`, ...WEB })).issuer).toBe(real.issuer)
  })

  it('finds a service below a path', async () => {
    const below = await service()
    below.replies[`${METADATA}/deep/er`] = [{ body: { issuer: `${below.issuer}/deep/er` } }]
    expect((await discover({ issuer: `${below.issuer}/deep/er`, clientId: 'a' })).issuer).toBe(
      `${below.issuer}/deep/er`,
    )
  })
})

describe('options', () => {
  const sound = { issuer: 'https://git.example', clientId: 'web' }
  /** Typed wrongly by somebody who writes JavaScript. */
  const mistakes: readonly [string, object][] = [
    ['there is no option secret; ', { ...sound, secret: 'x' }],
    ['there is no option toString; ', { ...sound, toString: () => 'x' }],
    ['the option issuer must be', { clientId: 'web' }],
    ['the option clientId must be', { issuer: 'https://git.example', clientId: undefined }],
    [
      'the option clientId must be',
      Object.create({ clientId: 'web' }, { issuer: { value: 'https://git.example', enumerable: true } }),
    ],
    ['the option issuer must be', { ...sound, issuer: new URL('https://git.example') }],
    ['the option clientId must be', { ...sound, clientId: '' }],
    ['the option clientSecret must be', { ...sound, clientSecret: '' }],
    ['the option clientAuthentication must be', { ...sound, clientSecret: 'x', clientAuthentication: 'none' }],
    [
      'the option clientSecret must be given with clientAuthentication',
      { ...sound, clientAuthentication: 'client_secret_post' },
    ],
    ['the option fetch must be', { ...sound, fetch: 'node-fetch' }],
    ['the option timeout must be', { ...sound, timeout: 0 }],
    ['the option timeout must be', { ...sound, timeout: Number.NaN }],
    ['the option timeout must be', { ...sound, timeout: 2 ** 31 }],
    ['the option clock must be', { ...sound, clock: 1 }],
    ['clock() must give seconds', { ...sound, clock: () => new Date() }],
    ['an https address', { ...sound, issuer: 'git.example' }],
    ['an https address', { ...sound, issuer: 'http://git.example' }],
    ['an https address', { ...sound, issuer: 'http://127.0.0.1.git.example' }],
    ['an https address', { ...sound, issuer: 'http://localhost.git.example' }],
    ['an https address', { ...sound, issuer: 'ftp://127.0.0.1' }],
    ['no user, no query', { ...sound, issuer: 'https://a:b@git.example' }],
    ['no user, no query', { ...sound, issuer: 'https://git.example/?' }],
    ['no user, no query', { ...sound, issuer: 'https://git.example/#x' }],
  ]

  it.each(mistakes)('that are wrong are refused before anybody is asked: %s', async (message, options) => {
    let asked = 0
    const fetch: typeof globalThis.fetch = async () => {
      asked++
      return new Response()
    }
    const given = Object.hasOwn(options, 'fetch') ? options : Object.assign(options, { fetch })
    const error = await thrownBy(discover(given as ClientOptions)) // that it is none is the test
    expect(error).toBeInstanceOf(ClientError)
    expect(error).toMatchObject({ name: 'ClientError', code: 'ERR_CONFIGURATION' })
    expect(String(error)).toContain(message)
    expect(asked).toBe(0)
  })

  it.each([undefined, null, 'https://git.example'])('that are none are refused: %s', async (options) => {
    const error = await thrownBy(discover(options as unknown as ClientOptions)) // that it is none is the test
    expect(error).toMatchObject({ code: 'ERR_CONFIGURATION' })
  })

  it.each(['http://127.0.0.1:1', 'http://[::1]:1', 'http://localhost:1', 'https://git.example/path'])(
    'may name %s',
    async (issuer) => {
      const urls: string[] = []
      const fetch: typeof globalThis.fetch = async (url) => {
        urls.push(String(url))
        return Response.json({ issuer })
      }
      expect((await discover({ issuer, clientId: 'web', fetch })).issuer).toBe(issuer)
      const { origin, pathname } = new URL(issuer)
      expect(urls).toEqual([`${origin}${METADATA}${pathname.replace(/\/$/, '')}`])
    },
  )

  it('are their own properties alone: a polluted prototype changes nothing', async () => {
    const { issuer } = await service()
    const prototype = Object.prototype as Record<string, unknown> // to be polluted
    const polluted = { clientSecret: 1, clientAuthentication: 'client_secret_post', fetch: () => expect.fail('used') }
    Object.assign(prototype, polluted)
    try {
      expect((await discover({ issuer, clientId: 'web' })).issuer).toBe(issuer)
    } finally {
      for (const name of Object.keys(polluted)) delete prototype[name]
    }
  })
})

describe('a service that answers otherwise', () => {
  it.each<[string, Reply]>([
    ['it answers 404', { status: 404 }],
    ['it answers 302', { status: 302, headers: { Location: 'https://elsewhere.example/' } }],
    ['its answer is not JSON', { body: '<h1>Hello</h1>' }],
    ['its answer is not JSON', { body: '{"issuer": ', headers: { 'Content-Type': 'application/json' } }],
    ['must be a top level object', { body: [] }],
    ['issuer', { body: {} }],
    ['issuer', { body: { issuer: 1 } }],
    ['calls itself https://elsewhere.example', { body: { issuer: 'https://elsewhere.example' } }],
    ['calls itself x]0;y', { body: { issuer: 'x\u001b]0;y\u0007\u202e\n' } }],
    ['more than 1048576 bytes', { body: { issuer: 'x'.repeat(1_048_576) } }],
  ])('is none: %s', async (message, reply) => {
    const { issuer } = await answering(reply)
    const error = await thrownBy(discover({ issuer, clientId: 'web' }))
    expect(error).toMatchObject({ code: 'ERR_RESPONSE', error: undefined })
    expect(String(error)).toContain(message)
    expect(String(error)).toContain(new URL(issuer).host)
    expect(String(error)).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })

  it.each([
    '\u0007\u001b\r\nhttps://git.example',
    'https://git.\texample',
    'https://git.example\n',
    ' https://git.example',
  ])('calls itself otherwise where only a URL parser takes its name for the same: %j', async (issuer) => {
    const fetch = async (): Promise<Response> => Response.json({ issuer })
    const error = await thrownBy(discover({ issuer: 'https://git.example', clientId: 'web', fetch }))
    expect(error).toMatchObject({ code: 'ERR_RESPONSE' })
    expect(String(error)).toContain('calls itself')
  })

  it.each([
    ['authorization_endpoint', 'file:///etc/passwd'],
    ['authorization_endpoint', 'javascript:alert(1)'],
    ['authorization_endpoint', '--help'],
    ['authorization_endpoint', 'https://git.example/\u001b[2J'],
    ['authorization_endpoint', 'https://git.example@evil.example/'],
    ['token_endpoint', 'http://git.example/token'],
    ['device_authorization_endpoint', 'http://192.168.0.1/device'],
    ['revocation_endpoint', 7],
    ['introspection_endpoint', 'http://192.168.0.1/introspect'],
    ['authorization_endpoint', `https://git.example/${'a'.repeat(2048)}`],
  ])('may not send anybody to a wrong %s', async (name, address) => {
    const { issuer } = await service({}, { [name]: address })
    const error = await thrownBy(discover({ issuer, clientId: 'web' }))
    expect(error).toMatchObject({ code: 'ERR_RESPONSE' })
    expect(String(error)).toContain(name)
  })

  it.each(['issuer', 'authorization_endpoint', 'token_endpoint', 'device_authorization_endpoint'])(
    'stops nothing else that runs, whatever it gives as its %s',
    async (name) => {
      const marks = `https://a${'\u0301'.repeat(50_000)}${'\u0323'.repeat(50_000)}/`
      const { issuer } = await service({}, { [name]: marks })
      let longest = 0
      let last = performance.now()
      const watch = setInterval(() => {
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
      }, 5)
      expect(await thrownBy(discover({ issuer, clientId: 'web' }))).toMatchObject({ code: 'ERR_RESPONSE' })
      await new Promise((resolve) => setTimeout(resolve, 20))
      clearInterval(watch)
      // It took seconds.
      expect(longest).toBeLessThan(500)
    },
  )

  it('may not send anybody from https to http, not even on loopback', async () => {
    const issuer = 'https://git.example'
    const token_endpoint = 'http://127.0.0.1/token'
    const fetch = async () => Response.json({ issuer, token_endpoint })
    await expect(discover({ issuer, clientId: 'web', fetch })).rejects.toMatchObject({ code: 'ERR_RESPONSE' })
  })

  it.each<[string, Reply]>([
    ['is busy (503)', { status: 503 }],
    ['is busy (503, temporarily_unavailable)', { status: 503, body: { error: 'temporarily_unavailable' } }],
    ['is busy (429)', { status: 429, body: 'wait' }],
    ['is busy (500)', { status: 500, body: '<h1>Oh</h1>' }],
    ['gives no answer within 0.2 seconds', { how: 'hang' }],
    ['gives no answer within 0.2 seconds', { body: { issuer: 'x' }, how: { stall: 5 } }],
    ['gives no answer', { body: { issuer: 'x' }, headers: { 'Content-Length': '15' }, how: { cut: 5 } }],
    ['gives no answer', { body: { issuer: 'x' }, how: { cut: 5 } }],
  ])('cannot be reached: %s', async (message, reply) => {
    const { issuer } = await answering(reply)
    const error = await thrownBy(discover({ issuer, clientId: 'web', timeout: 0.2 }))
    expect(error).toMatchObject({ code: 'ERR_UNREACHABLE' })
    expect(String(error)).toContain(message)
  })

  it('cannot be reached where nobody listens', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo // it listens on TCP
    await new Promise((resolve) => server.close(resolve))
    const error = await thrownBy(discover({ issuer: `http://127.0.0.1:${port}`, clientId: 'web' }))
    expect(error).toMatchObject({ code: 'ERR_UNREACHABLE', cause: expect.any(TypeError) })
    expect(String(error)).toContain(`127.0.0.1:${port} gives no answer (ECONNREFUSED)`)
    expect(Object.keys(error as object)).not.toContain('cause')
  })

  it('cannot be reached by a fetch that knows no end', async () => {
    const fetch = () => new Promise<never>(() => {})
    const options = { issuer: 'https://git.example', clientId: 'web', timeout: 0.05, fetch }
    await expect(discover(options)).rejects.toMatchObject({ code: 'ERR_UNREACHABLE' })
  })
})

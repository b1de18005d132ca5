/**
 * What a signed request presents, and the one string that client and server make of it.
 * @module
 * @see draft-ietf-oauth-v2-http-mac-01, sections 1.1 and 3
 */
import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import type { HttpHeaders, OAuthError, RequestLike } from 'grantwell'
import { portableDigests } from 'grantwell'
import { CREDENTIAL_PREFIXES, parseCredential } from 'grantwell/core'
import { nodeDigests } from 'grantwell/node'
import { describe, expect, it } from 'vitest'
import type { MacInput } from '../../src/core/credentials/mac.js'
import { normalizedRequest } from '../../src/core/credentials/mac.js'
import { macAttributes } from '../../src/protocol/bearer.js'
import type { PresentedMac } from '../../src/protocol/mac.js'
import { macOf, presentedMac, targetOf } from '../../src/protocol/mac.js'
import { unicodeText } from '../unicode.js'
import { signatureOf } from './mac-client.js'

/** The request of section 1.1. */
const EXAMPLE: MacInput = {
  ts: '1336363200',
  nonce: 'dj83hs9s',
  method: 'GET',
  requestUri: '/resource/1?b=1&a=2',
  host: 'example.com',
  port: '80',
  ext: '',
}

/** That of section 3.2.1. */
const WITH_EXT: MacInput = {
  ts: '264095',
  nonce: '7d8f3e4a',
  method: 'POST',
  requestUri: '/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b&c2&a3=2+q',
  host: 'example.com',
  port: '80',
  ext: 'a,b,c',
}

/** What Firefox Sync signs in its own tests. */
const SYNC: MacInput = {
  ts: '1329181221',
  nonce: 'wGX71',
  method: 'GET',
  requestUri: '/alias/',
  host: '10.250.2.176',
  port: '80',
  ext: '',
}
const SYNC_KEY = 'b8u1cc5iiio5o319og7hh8faf2gi5ym4aq0zwf112cv1287an65fudu5zj7zo7dz'

/** One that rack-oauth2 has, of a service that uses it. */
const WALLET: MacInput = {
  ...EXAMPLE,
  requestUri: '/wallet/rest/api/v1/payment/123',
  host: 'www.webtopay.com',
  port: '443',
}

describe('3.2 what is signed', () => {
  it('is each part on a line of its own, in this order, with a line end behind the last one', () => {
    expect(normalizedRequest(EXAMPLE)).toBe('1336363200\ndj83hs9s\nGET\n/resource/1?b=1&a=2\nexample.com\n80\n\n')
    expect(normalizedRequest(WITH_EXT)).toBe(
      '264095\n7d8f3e4a\nPOST\n/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b&c2&a3=2+q\nexample.com\n80\na,b,c\n',
    )
  })

  it.each([
    // The draft itself prints bhCQXTVyfj5cmA9uKkPFx1zeOXM= for its example, which no reading of its own text gives (the
    // mistake was reported on the list of its working group); these are what its implementations agree on.
    ['the example of section 1.1', EXAMPLE, '489dks293j39', '6T3zZzy2Emppni6bzL7kdRxUWL4='],
    ['the example of section 3.2.1', WITH_EXT, '489dks293j39', '+txL5oOFHGYjrfdNYH5VEzROaBY='],
    ['Firefox Sync', SYNC, SYNC_KEY, 'jzh5chjQc2zFEvLbyHnPdX11Yck='],
    ['Firefox Sync, with ext', { ...SYNC, ext: 'EXTRA DATA; foo,bar=1' }, SYNC_KEY, 'bNf4Fnt5k6DnhmyipLPkuZroH68='],
  ])('signed by others with hmac-sha-1: %s', (_, input, key, mac) => {
    expect(createHmac('sha1', key).update(normalizedRequest(input)).digest('base64')).toBe(mac)
  })

  it('signed by others with hmac-sha-256, which is ours', () => {
    for (const digests of [nodeDigests, portableDigests]) {
      const mac = macOf(digests, 'IrdTc8uQodU7PRpLzzLTW6wqZAO6tAMU', WALLET)
      expect(mac).toBe('OZE9fTk2qiRtL1jb01L8lRxC66PTiAGhMDEmboeVeLs=')
    }
  })

  it('is signed as node:crypto does it, whatever the key and the parts', () => {
    const part = fc.string({ maxLength: 30 })
    const input = fc.record({
      ts: part,
      nonce: part,
      method: fc.constantFrom('GET', 'POST'),
      requestUri: part,
      host: part.map((host) => host.toLowerCase()),
      port: part,
      ext: part,
    })
    fc.assert(
      fc.property(input, fc.string({ minLength: 1, maxLength: 100 }), (given, key) => {
        const mac = signatureOf(key, { ...given, url: given.requestUri })
        expect(mac).toMatch(/^[A-Za-z0-9+/]{43}=$/)
        for (const digests of [nodeDigests, portableDigests]) expect(macOf(digests, key, given)).toBe(mac)
      }),
    )
  })

  it('tells any two requests apart: no part can be moved into another', () => {
    // None of them can have a line end: not a header, not a request line, not an attribute.
    const part = fc.stringMatching(/^[\x20-\x7e]{0,6}$/)
    const input = fc.record({
      ts: part,
      nonce: part,
      method: part,
      requestUri: part,
      host: part,
      port: part,
      ext: part,
    })
    fc.assert(
      fc.property(input, input, (one, other) => {
        const same = (Object.keys(one) as (keyof MacInput)[]).every((name) => one[name] === other[name]) // its own keys
        expect(normalizedRequest(one) === normalizedRequest(other)).toBe(same)
      }),
    )
  })
})

const ID = `${CREDENTIAL_PREFIXES.access_token}${'A'.repeat(81)}`
const SOUND = { id: ID, ts: '1336363200', nonce: 'dj83hs9s', mac: 'bWFj' }

function read(authorization: string | readonly string[]): PresentedMac | OAuthError | undefined {
  const attributes = macAttributes({ authorization } as HttpHeaders) // one header of any number of lines
  return attributes === undefined ? undefined : presentedMac(attributes)
}

/** Reads a header that must be sound. */
function presented(authorization: string): PresentedMac {
  const found = read(authorization)
  return found?.type === 'mac' ? found : expect.fail(JSON.stringify(found))
}

const header = (attributes: Readonly<Record<string, string>>, separator = ', '): string =>
  `MAC ${Object.entries(attributes)
    .map(([name, value]) => `${name}="${value}"`)
    .join(separator)}`

const MALFORMED = {
  type: 'error',
  code: 'invalid_request',
  status: 400,
  description: 'The Authorization header is not well-formed.',
  reason: 'malformed_request',
}

describe('3.1 the Authorization header', () => {
  it('has id, ts, nonce and mac, and perhaps ext, each between quotes', () => {
    const expected = { type: 'mac', ...SOUND, credential: parseCredential(ID), ext: '' }
    expect(presented(header(SOUND))).toStrictEqual(expected)
    expect(presented(header({ ...SOUND, ext: 'a,b;c=d' }))).toStrictEqual({ ...expected, ext: 'a,b;c=d' })
    expect(presented(header({ ...SOUND, ext: '' }))).toStrictEqual(expected)
  })

  it('in any order, with the scheme in any case, and with or without spaces around the commas', () => {
    const names = Object.keys({ ...SOUND, ext: 'x' })
    const values: Readonly<Record<string, string>> = { ...SOUND, ext: 'x' }
    const space = fc.constantFrom('', ' ', '   ')
    const scheme = fc.constantFrom('MAC', 'mac', 'Mac', 'mAc')
    fc.assert(
      fc.property(fc.shuffledSubarray(names, { minLength: 5 }), scheme, space, space, (order, name, before, after) => {
        const attributes = order.map((each) => `${each}="${values[each]}"`).join(`${before},${after}`)
        expect(presented(`${name} ${after}${attributes}${before}`)).toMatchObject(values)
      }),
    )
  })

  it.each([
    ['another scheme', 'Bearer x'],
    ['a scheme that begins alike', `MACaroon ${header(SOUND).slice(4)}`],
    ['no space behind it', `MAC${header(SOUND).slice(4)}`],
    ['a tab behind it', `MAC\t${header(SOUND).slice(4)}`],
    ['a space in front of it', ` ${header(SOUND)}`],
    ['nothing', ''],
  ])('%s is none of it', (_, authorization) => {
    expect(read(authorization)).toBeUndefined()
    expect(macAttributes({})).toBeUndefined()
    expect(read([header(SOUND), header(SOUND)])).toBeUndefined()
  })

  const { id, ts, nonce, mac } = SOUND

  it.each([
    ['nothing but the scheme', 'MAC'],
    ['nothing but spaces', 'MAC    '],
    ['no id', header({ ts, nonce, mac })],
    ['no ts', header({ id, nonce, mac })],
    ['no nonce', header({ id, ts, mac })],
    ['no mac', header({ id, ts, nonce })],
    ['an empty ts', header({ ...SOUND, ts: '' })],
    ['an empty nonce', header({ ...SOUND, nonce: '' })],
    ['ts twice', `${header(SOUND)}, ts="${ts}"`],
    ['ext twice', `${header(SOUND)}, ext="a", ext="a"`],
    ['an unknown attribute', header({ ...SOUND, bodyhash: 'x' })],
    ['realm', header({ ...SOUND, realm: 'oauth2' })],
    ['a prototype name', header({ ...SOUND, constructor: 'x' })],
    ['another prototype name', `${header(SOUND)}, __proto__="x"`],
    ['an attribute in capitals', header(SOUND).replace('ts=', 'TS=')],
    ['a value without quotes', header(SOUND).replace(`"${ts}"`, ts)],
    ['a value between other quotes', header(SOUND).replaceAll('"', "'")],
    ['a quote that is left open', header(SOUND).slice(0, -1)],
    ['an escape', header({ ...SOUND, ext: 'a\\"b' })],
    ['a backslash', header({ ...SOUND, ext: 'a\\b' })],
    ['a line end', header({ ...SOUND, ext: 'a\nb' })],
    ['NUL', header({ ...SOUND, nonce: 'a\0' })],
    ['a character that is not ASCII', header({ ...SOUND, ext: '\u{e9}' })],
    ['spaces around an equals sign', header(SOUND).replace('ts=', 'ts = ')],
    ['a semicolon for a comma', header(SOUND, '; ')],
    ['a space for a comma', header(SOUND, ' ')],
    ['two commas', header(SOUND, ',, ')],
    ['a comma in front', header(SOUND).replace('MAC ', 'MAC , ')],
    ['another scheme behind it', `${header(SOUND)}, Bearer x`],
    ['itself behind it, as the fetch API joins two headers', `${header(SOUND)}, ${header(SOUND)}`],
    ['a token68', 'MAC bWFj'],
    ['a ts with a sign', header({ ...SOUND, ts: '+1336363200' })],
    ['a negative ts', header({ ...SOUND, ts: '-1' })],
    ['a ts with a leading zero', header({ ...SOUND, ts: '01336363200' })],
    ['a ts of 0', header({ ...SOUND, ts: '0' })],
    ['a ts with a point', header({ ...SOUND, ts: '1336363200.5' })],
    ['a ts with an exponent', header({ ...SOUND, ts: '1e9' })],
    ['a ts in hexadecimal', header({ ...SOUND, ts: '0x4fa7' })],
    ['a ts with a space', header({ ...SOUND, ts: ' 1336363200' })],
    ['a ts of other digits', header({ ...SOUND, ts: '١٣٣٦' })],
    ['a ts of 13 digits', header({ ...SOUND, ts: '1336363200000' })],
  ])('with %s is not well-formed', (_, authorization) => {
    expect(read(authorization)).toStrictEqual(MALFORMED)
  })

  it('with an id that is no credential is no token of ours', () => {
    const ids = ['', 'h480djs93hd8', `${ID}A`, ID.slice(1), `x${ID.slice(1)}`, '__proto__']
    for (const each of ids)
      expect(read(header({ ...SOUND, id: each }))).toMatchObject({
        code: 'invalid_token',
        reason: 'credential_unknown',
      })
  })

  it('is read by a total function: what it takes says what it says, and says it again', () => {
    const attribute = fc.tuple(
      fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom('id', 'ts', 'nonce', 'ext', 'mac') },
        fc.string({ maxLength: 3 }),
      ),
      fc.oneof(fc.constantFrom(ID, '1336363200', 'n', ''), unicodeText({ maxLength: 8 })),
    )
    const built = fc
      .tuple(fc.array(attribute, { maxLength: 7 }), fc.constantFrom(', ', ',', ' ,  ', ' '))
      .map(([list, separator]) => `MAC ${list.map(([name, value]) => `${name}="${value}"`).join(separator)}`)
    const cut = fc
      .tuple(fc.nat(200), unicodeText({ maxLength: 3 }))
      .map(([at, put]) => header(SOUND).slice(0, at) + put + header(SOUND).slice(at + put.length))
    let taken = 0
    fc.assert(
      fc.property(fc.oneof(built, cut, unicodeText()), (authorization) => {
        const found = read(authorization)
        expect(/^mac(?: |$)/i.test(authorization)).toBe(found !== undefined)
        const all = found === undefined ? [] : [found]
        const reasons = all.flatMap((each) => (each.type === 'error' ? [each.reason] : []))
        for (const reason of reasons) expect(['malformed_request', 'credential_unknown']).toContain(reason)
        for (const each of all.flatMap((one) => (one.type === 'error' ? [] : [one]))) {
          taken++
          const said = { id: each.id, ts: each.ts, nonce: each.nonce, ext: each.ext, mac: each.mac }
          expect(presented(header(said))).toStrictEqual(each)
          for (const value of Object.values(said)) expect(authorization).toContain(value)
        }
      }),
      { numRuns: 1500 },
    )
    expect(taken).toBeGreaterThan(20)
  })

  it('costs no more than its length: hundreds of thousands of hostile characters are read at once', () => {
    const many = 300_000
    const hostile = [
      ' '.repeat(many),
      ','.repeat(many),
      'a'.repeat(many),
      '='.repeat(many),
      '"'.repeat(many),
      `id="${' '.repeat(many)}`,
      `id="${'a'.repeat(many)}`,
      `id="${'a'.repeat(many)}"${' '.repeat(many)}x`,
      `id="a"${' '.repeat(many)}x`,
      `id="a"${' ,'.repeat(many / 2)}`,
      'id="a",'.repeat(many / 7),
      `${'a'.repeat(many)}="a"`,
      `${header(SOUND).slice(4)}${' '.repeat(many)}`,
      header({ ...SOUND, nonce: 'n'.repeat(many) }).slice(4),
    ]
    for (const rest of hostile) {
      for (const text of [`MAC ${rest}`, `MAC${rest}`, rest]) read(text)
      targetOf({ headers: { host: rest }, url: rest, method: 'GET' }, true)
    }
    const hosts = [':'.repeat(many), `:${'1'.repeat(many)}x`, ':1'.repeat(many / 2), `http://${'a'.repeat(many)}`]
    for (const host of hosts) targetOf({ headers: { host }, url: host, method: 'GET' }, true)
  })
})

describe('3.2.1 what a request was sent to', () => {
  /** Of a request that lacks nothing but what it is given. */
  const target = (request: Partial<RequestLike>, secure = true) =>
    targetOf({ headers: { host: 'git.example' }, method: 'GET', url: '/', ...request }, secure)

  it('is the same for every platform that took it in', () => {
    const expected = { method: 'PUT', requestUri: '/repos/1?page=2', host: 'git.example', port: '8443' }
    const host = 'git.example:8443'
    const requests: readonly RequestLike[] = [
      { headers: { host }, method: 'PUT', url: '/repos/1?page=2' },
      // Express, connect and Fastify, below a mount path.
      { headers: { host }, method: 'PUT', url: '/1?page=2', originalUrl: '/repos/1?page=2' },
      { headers: { host }, method: 'PUT', url: '/?page=2', originalUrl: '/repos/1?page=2' },
      // A client that speaks to it as to a proxy.
      { headers: { host }, method: 'PUT', url: 'http://git.example:8443/repos/1?page=2' },
      // The fetch API.
      { headers: new Headers({ host }), method: 'PUT', url: 'https://git.example:8443/repos/1?page=2' },
      { headers: new Headers(), method: 'PUT', url: 'https://git.example:8443/repos/1?page=2' },
      new Request('https://git.example:8443/repos/1?page=2', { method: 'PUT' }),
      // A server behind it that knows it by another name.
      new Request('http://10.0.0.1:3000/repos/1?page=2', { method: 'PUT', headers: { host } }),
      { headers: { host: [host] }, method: 'PUT', url: '/repos/1?page=2' },
      // HTTP/2.
      { headers: { ':authority': host }, method: 'PUT', url: '/repos/1?page=2' },
    ]
    for (const request of requests) expect(targetOf(request, true)).toStrictEqual(expected)
  })

  it('has the port of the scheme where the host ends in a colon', () => {
    expect(target({ headers: { host: 'git.example:' } })).toMatchObject({ host: 'git.example', port: '443' })
    expect(target({ headers: { host: '[::1]:' } }, false)).toMatchObject({ host: '[::1]', port: '80' })
  })

  it('has the port of the scheme that clients use, where the host leaves it out', () => {
    for (const [secure, port] of [
      [true, '443'],
      [false, '80'],
    ] as const) {
      for (const headers of [{ host: 'git.example' }, new Headers({ host: 'git.example' })])
        expect(target({ headers, url: '/' }, secure)).toMatchObject({ host: 'git.example', port })
      expect(target({ headers: { host: 'git.example:443' }, url: '/' }, secure)?.port).toBe('443')
      expect(target({ headers: { host: 'git.example:80' }, url: '/' }, secure)?.port).toBe('80')
    }
  })

  it.each([
    ['git.example', 'git.example', '443'],
    ['GIT.Example', 'git.example', '443'],
    ['git.example:1', 'git.example', '1'],
    ['127.0.0.1:8080', '127.0.0.1', '8080'],
    ['[::1]', '[::1]', '443'],
    ['[::1]:8080', '[::1]', '8080'],
    ['[2001:DB8::1]:8080', '[2001:db8::1]', '8080'],
    ['localhost:3000', 'localhost', '3000'],
  ])('the host %s is %s, its port %s', (host, name, port) => {
    expect(target({ headers: { host }, url: '/' })).toMatchObject({ host: name, port })
  })

  it.each([
    ['/', '/'],
    ['/a?b=c', '/a?b=c'],
    ['/a?', '/a?'],
    ['/?a=http://b/c', '/?a=http://b/c'],
    ['/http://b/c', '/http://b/c'],
    ['/%2F..%2f', '/%2F..%2f'],
    ['http://git.example/a?b', '/a?b'],
    ['HTTPS://GIT.example/a', '/a'],
    ['http://git.example', '/'],
    ['http://git.example?b', '/?b'],
  ])('the target %s is the path and query %s, as they were sent', (url, requestUri) => {
    const headers = { host: 'git.example' }
    expect(target({ headers, url })?.requestUri).toBe(requestUri)
    expect(target({ headers, url: '/elsewhere', originalUrl: url })?.requestUri).toBe(requestUri)
  })

  it('is a total function: a request that lacks its method, target or host is refused', () => {
    for (const lacking of [
      { headers: {} },
      { url: undefined },
      { method: undefined },
      { headers: { host: ['a', 'b'] } },
    ])
      expect(target(lacking)).toBeUndefined()
    expect(target({ headers: { host: 'a\nb' } })).toBeUndefined()
    expect(target({ method: 'get' })).toBeUndefined()
    const any = fc.option(unicodeText(), { nil: undefined })
    fc.assert(
      fc.property(any, any, any, any, fc.boolean(), (host, url, originalUrl, method, secure) => {
        const found = targetOf({ headers: { host }, url, originalUrl, method }, secure)
        for (const part of Object.values(found ?? {})) expect(typeof part).toBe('string')
      }),
    )
  })

  it('is refused with two Host headers, be they the same, of which Node keeps the first (RFC 9112, section 3.2)', () => {
    const headers = { host: 'git.example' }
    for (const second of ['evil.example', 'git.example', '']) {
      const rawHeaders = ['Host', 'git.example', 'Accept', 'host', 'HOST', second]
      expect(target({ headers, rawHeaders })).toBeUndefined()
    }
    expect(target({ headers, rawHeaders: ['Host', 'git.example', 'X-Name', 'Host'] })?.host).toBe('git.example')
  })

  it('may have headers beside Host whose names contain that word, as a proxy adds them', () => {
    for (const other of ['X-Forwarded-Host', 'Host-Check']) {
      const rawHeaders = ['Host', 'git.example', other, 'evil.example']
      expect(target({ headers: { host: 'git.example' }, rawHeaders })?.host, other).toBe('git.example')
    }
  })

  it('is refused where the address of a fetch Request has another name than its Host', () => {
    const at = (url: string, host = 'git.example') => target({ headers: new Headers({ host }), url })?.host
    for (const url of ['http://evil.example/', 'http://evil.example:443/', 'https://git.example.evil.example/'])
      expect(at(url), url).toBeUndefined()
    for (const url of ['http://ada@git.example/', 'http://evil.example', 'http://git.example./'])
      expect(at(url), url).toBeUndefined()
    for (const url of ['http://git.example/', 'http://GIT.example:3000/', 'https://git.example:/'])
      expect(at(url), url).toBe('git.example')
    // A server calls itself such a name behind its proxy.
    const own = ['localhost:3000', '0.0.0.0:3000', '[::1]:3000', '[::ffff:10.0.0.1]:3000', '3f2a1b']
    for (const url of [...own.map((authority) => `http://${authority}/`), '/']) expect(at(url), url).toBe('git.example')
  })

  it.each([
    ['originalUrl', '/x'],
    ['url', '/x'],
    ['method', 'PUT'],
    ['rawHeaders', ['host', 'a', 'host', 'b']],
  ])('is what it is where any code has added %s to every object', (name, value) => {
    const requests = [
      { headers: { host: 'git.example' }, url: '/a', method: 'GET' },
      new Request('https://git.example/a'),
      Object.assign(Object.create({ url: '/a', method: 'GET', originalUrl: '/a' }), {
        headers: { host: 'git.example' },
      }),
    ]
    const lacking = [{ headers: { host: 'git.example' } }, { headers: { host: 'git.example' }, url: '/a' }]
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
    try {
      for (const request of requests)
        expect(targetOf(request, true)).toMatchObject({ method: 'GET', requestUri: '/a', host: 'git.example' })
      for (const request of lacking) expect(targetOf(request, true)).toBeUndefined()
    } finally {
      Reflect.deleteProperty(Object.prototype, name)
    }
  })

  it('takes a header that is called get, or host in a prototype, for what it is', () => {
    expect(target({ headers: { get: 'x', host: 'git.example' }, url: '/' })?.host).toBe('git.example')
    const inherited: HttpHeaders = Object.create({ host: 'evil.example' })
    expect(target({ headers: inherited, url: '/' })).toBeUndefined()
  })
})

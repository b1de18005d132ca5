/**
 * The way from an API that refused a request to the service that gives tokens for it.
 * @module
 * @see RFC 9728
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  authorizedFetch,
  createTokenSource,
  discover,
  discoverResource,
  memoryTokenStore,
  type ResourceDiscoveryOptions,
} from 'grantwell/client'
import { loginByBrowser } from 'grantwell/client/node'
import { createNodeGuard } from 'grantwell/node'
import { afterEach, describe, expect, it } from 'vitest'
import { challengesOf, parseChallenges } from '../../src/client/discovery/challenge.js'
import { NATIVE } from '../support.js'
import { always, consent, type MadeUp, madeUp, openService, type Reply, thrownBy, visit } from './service.js'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** A real service with an API at its own origin. */
async function serviceWithApi() {
  const service = await openService((issuer) => ({
    audiences: [{ resource: `${issuer}/mcp`, name: 'Tools for agents', scopes: ['repo-code:r'] }],
  }))
  open.push(service.close)
  const url = `${service.issuer}/mcp`
  const guard = createNodeGuard(service.test.server)
  const route = guard({ audience: url, scope: 'repo-code:r' }, (_, response) => void response.end('tools'))
  const answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    void route(request, response)
    return true
  }
  for (const path of ['/mcp', '/mcp/tools']) always(service, path, answer)
  return { service, url }
}

describe('at a real service', () => {
  it('leads from a 401 to tokens that open the API', async () => {
    const { service, url } = await serviceWithApi()
    const refused = await fetch(`${url}/tools`)
    const found = await discoverResource({ url: `${url}/tools`, challenge: refused })
    expect(found).toEqual({
      resource: url,
      issuer: service.issuer,
      scope: 'repo-code:r',
      metadata: {
        resource: url,
        authorization_servers: [service.issuer],
        scopes_supported: ['repo-code:r'],
        bearer_methods_supported: ['header'],
        resource_name: 'Tools for agents',
      },
    })
    const { issuer, resource, scope = '' } = found
    const client = await discover({ issuer, resource, ...NATIVE, clock: () => service.test.clock.now })
    const source = createTokenSource({ client, store: memoryTokenStore() })
    await source.save(await loginByBrowser(client, { scope, openBrowser: async (at) => void visit(await consent(at)) }))
    expect(await (await authorizedFetch(source)(`${url}/tools`)).text()).toBe('tools')
  })

  it('takes the text of the header, and does without a challenge', async () => {
    const { service, url } = await serviceWithApi()
    const header = (await fetch(url)).headers.get('www-authenticate') ?? ''
    const expected = { resource: url, issuer: service.issuer }
    expect(await discoverResource({ url, challenge: header })).toMatchObject({ ...expected, scope: 'repo-code:r' })
    const alone = await discoverResource({ url: `${url}?page=2#top` })
    expect(alone).toMatchObject(expected)
    expect(Object.hasOwn(alone, 'scope')).toBe(false)
  })

  it('is refused without a document: another address of the API has none (section 3.1)', async () => {
    const { url } = await serviceWithApi()
    expect(await thrownBy(discoverResource({ url: `${url}/tools` }))).toMatchObject({
      code: 'ERR_RESPONSE',
      message: expect.stringMatching(/^grantwell: there is no document of a protected resource for \S+\/mcp\/tools: /),
    })
  })
})

/** An API with a document at the address of `/mcp`, written by a test. */
async function apiWith(document: object | ((origin: string) => object), reply: Reply = {}): Promise<MadeUp> {
  const made = await madeUp()
  open.push(made.close)
  const members = typeof document === 'function' ? document(made.issuer) : document
  const body = { resource: `${made.issuer}/mcp`, authorization_servers: ['https://git.example'], ...members }
  made.replies[`${WELL_KNOWN}/mcp`] = [{ body, ...reply }]
  return made
}

const find = (api: MadeUp, options: Partial<ResourceDiscoveryOptions> = {}) =>
  discoverResource({ url: `${api.issuer}/mcp`, ...options })

const naming = (address: string): string => `Bearer resource_metadata="${address}"`

describe('a document', () => {
  it.each<[string, string]>([
    ['', ''],
    ['', '/'],
    ['/a/b', '/a/b'],
    ['/a/', '/a/'],
  ])('at %s is about the resource %s', async (path, resource) => {
    const made = await madeUp()
    open.push(made.close)
    const body = { resource: made.issuer + resource, authorization_servers: ['https://git.example'] }
    made.replies[WELL_KNOWN + path] = [{ body }]
    const found = await discoverResource({
      url: made.issuer + resource,
      challenge: naming(made.issuer + WELL_KNOWN + path),
    })
    expect(found.resource).toBe(made.issuer + resource)
    expect((await discoverResource({ url: made.issuer + resource })).resource).toBe(made.issuer + resource)
  })

  it.each<[string, (origin: string) => unknown]>([
    ["another host's", () => 'https://victim.example/mcp'],
    ['that of a path beside it', (origin) => `${origin}/mcp2`],
    ['the whole host', (origin) => origin],
    ['a path below', (origin) => `${origin}/mcp/tools`],
    ['the same in other words', (origin) => `${origin}/x/../mcp`],
    ['the same with a query', (origin) => `${origin}/mcp?a`],
    ['the same with a backslash', (origin) => `${origin}\\mcp`],
    ['a long address', (origin) => `${origin}/${'ü'.repeat(100_000)}`],
    ['a number', () => 1],
    ['missing', () => undefined],
  ])('is refused if its resource is %s (section 3.3)', async (_, resourceAt) => {
    const api = await apiWith((origin) => ({ resource: resourceAt(origin) }))
    for (const challenge of ['', naming(`${api.issuer}${WELL_KNOWN}/mcp`)])
      expect(await thrownBy(find(api, { challenge }))).toMatchObject({ code: 'ERR_RESPONSE' })
  })

  it.each<[string, unknown]>([
    ['none', undefined],
    ['an empty list', []],
    ['a text', 'https://git.example'],
    ['a list with a number', ['https://git.example', 1]],
  ])('is refused if it names no services: %s', async (_, authorization_servers) => {
    expect(await thrownBy(find(await apiWith({ authorization_servers })))).toMatchObject({
      code: 'ERR_RESPONSE',
      message: expect.stringMatching(/names no authorization server$/),
    })
  })

  it.each([
    'http://git.example',
    'ftp://127.0.0.1',
    'https://user@git.example',
    'https://git.example/?a',
    'https://git.example/#a',
    'https://git.example/\u202e',
    `https://git.example/${'a'.repeat(2048)}`,
    'git.example',
    '',
  ])('is refused if it names a service with the wrong address %s', async (issuer) => {
    expect(await thrownBy(find(await apiWith({ authorization_servers: [issuer] })))).toMatchObject({
      code: 'ERR_RESPONSE',
      message: expect.stringMatching(/gives a wrong address as its authorization server$/),
    })
  })

  it('of an API on the network names no service on loopback', async () => {
    const body = { resource: 'https://api.example', authorization_servers: ['http://127.0.0.1:1'] }
    const fetch = async () => Response.json(body)
    expect(await thrownBy(discoverResource({ url: 'https://api.example', fetch }))).toMatchObject({
      code: 'ERR_RESPONSE',
    })
  })

  it.each<[string, string, Reply]>([
    ['ERR_RESPONSE', 'it answers 302', { status: 302, headers: { Location: 'https://elsewhere.example/' } }],
    ['ERR_RESPONSE', 'it answers 404', { status: 404 }],
    ['ERR_RESPONSE', 'its answer is not JSON', { body: '<h1>Hello</h1>' }],
    ['ERR_RESPONSE', 'must be a top level object', { body: [] }],
    ['ERR_RESPONSE', 'an answer of more than 1048576 bytes', { body: { a: 'a'.repeat(1_048_576) } }],
    ['ERR_UNREACHABLE', 'is busy (503)', { status: 503 }],
    ['ERR_UNREACHABLE', 'gives no answer', { how: { cut: 5 } }],
    ['ERR_UNREACHABLE', 'gives no answer within 0.5 seconds', { how: 'hang' }],
  ])('is refused: %s, %s', async (code, message, reply) => {
    const api = await apiWith({}, reply)
    expect(await thrownBy(find(api, { timeout: 0.5 }))).toMatchObject({
      code,
      message: expect.stringContaining(message),
    })
    expect(api.asked).toHaveLength(1)
  })

  it('is not filled up by a polluted prototype', async () => {
    const made = await madeUp({ [`${WELL_KNOWN}/mcp`]: [{ body: {} }] })
    open.push(made.close)
    made.replies[`${WELL_KNOWN}/mcp`] = [{ body: { resource: `${made.issuer}/mcp` } }]
    Object.assign(Object.prototype, { authorization_servers: ['https://evil.example'] })
    try {
      expect(await thrownBy(find(made))).toMatchObject({ code: 'ERR_RESPONSE' })
    } finally {
      Reflect.deleteProperty(Object.prototype, 'authorization_servers')
    }
  })
})

describe('a challenge', () => {
  it.each<[string, (origin: string) => string]>([
    ["another host's document", () => `https://victim.example${WELL_KNOWN}/mcp`],
    ['the document of an API beside it', (origin) => `${origin}${WELL_KNOWN}/other`],
    ['that of a path that only begins like it', (origin) => `${origin}${WELL_KNOWN}/mc`],
    ['that of a path below', (origin) => `${origin}${WELL_KNOWN}/mcp/tools`],
    ['that of a slash behind it', (origin) => `${origin}${WELL_KNOWN}/mcp/`],
    ['that of another query', (origin) => `${origin}${WELL_KNOWN}/mcp?a`],
    ['an address that is not well-known', (origin) => `${origin}/mcp/document`],
    ['an address that only begins so', (origin) => `${origin}${WELL_KNOWN}-of/mcp`],
    ['a fragment', (origin) => `${origin}${WELL_KNOWN}/mcp#a`],
    ['a user', (origin) => `${origin.replace('//', '//a@')}${WELL_KNOWN}/mcp`],
    ['no address', () => 'mcp'],
    ['an empty one', () => ''],
    ['a long one', (origin) => `${origin}${WELL_KNOWN}/${'a'.repeat(2048)}`],
  ])('that names %s is refused, and nobody is asked', async (_, addressAt) => {
    const api = await apiWith({})
    expect(await thrownBy(find(api, { challenge: naming(addressAt(api.issuer)) }))).toMatchObject({
      code: 'ERR_RESPONSE',
      message: expect.stringMatching(/^grantwell: the challenge names .*, which is not the document of this API$/),
    })
    expect(api.asked).toEqual([])
  })

  it('of an API on the network is refused if it names a document over http, or adds a port to its host', async () => {
    const fetch = () => expect.fail('was asked')
    for (const address of [`http://api.example${WELL_KNOWN}/mcp`, `https://api.example${WELL_KNOWN}:443/mcp`]) {
      const found = discoverResource({ url: 'https://api.example/mcp', challenge: naming(address), fetch })
      expect(await thrownBy(found)).toMatchObject({
        message: expect.stringContaining('is not the document of this API'),
      })
    }
  })

  it('may name the document of a resource with a query, which covers that query alone', async () => {
    const fetch: typeof globalThis.fetch = async (input) => {
      expect(String(input)).toBe(`https://api.example${WELL_KNOWN}/mcp?a=b`)
      return Response.json({ resource: 'https://api.example/mcp?a=b', authorization_servers: ['https://git.example'] })
    }
    const challenge = naming(`https://api.example${WELL_KNOWN}/mcp?a=b`)
    const found = await discoverResource({ url: 'https://api.example/mcp?a=b', challenge, fetch })
    expect(found.resource).toBe('https://api.example/mcp?a=b')
    for (const url of ['https://api.example/mcp', 'https://api.example/mcp?a=c', 'https://api.example/mcp/x?a=b'])
      expect(await thrownBy(discoverResource({ url, challenge, fetch }))).toMatchObject({ code: 'ERR_RESPONSE' })
  })

  it.each<[string, readonly object[]]>([
    ['', []],
    ['Bearer', [{}]],
    ['Bearer realm="a, b=\\"c\\"", scope=x', [{ realm: 'a, b="c"', scope: 'x' }]],
    ['bearer REALM = "a" ,Scope="x y"', [{ realm: 'a', scope: 'x y' }]],
    ['Basic realm="a", Bearer scope="b", DPoP algs="c"', [{ realm: 'a' }, { scope: 'b' }, { algs: 'c' }]],
    ['Negotiate abc==, Bearer scope="b"', [{}, { scope: 'b' }]],
    [', ,Bearer scope="b",, ', [{ scope: 'b' }]],
    ['Bearer scope="a", scope="b"', [{ scope: 'a' }]],
    ['scope="b"', []],
    ['Bearer a="b", c=", scope="d"', [{ a: 'b' }]],
    ['Bearer a="b", =, scope="c"', [{ a: 'b' }]],
    ['Bearer realm="a\\", scope=b", scope=c', [{ realm: 'a", scope=b', scope: 'c' }]],
    ['Bearer scope="a', []],
    ['Bearer __proto__="a"', [{ ['__proto__']: 'a' }]],
    [`Bearer scope="${'a'.repeat(8192)}"`, []],
  ])('is read: %s', (header, expected) => {
    expect(parseChallenges(header).map((each) => [...each])).toEqual(expected.map((each) => Object.entries(each)))
    expect(challengesOf({ headers: new Headers({ 'www-authenticate': header }) })).toEqual(parseChallenges(header))
  })

  it('that names scopes with wrong characters names none', async () => {
    const api = await apiWith({})
    const scopeBy = async (scope: string) =>
      (await find(api, { challenge: `${naming(`${api.issuer}${WELL_KNOWN}/mcp`)}, scope="${scope}"` })).scope
    expect([await scopeBy('a  b '), await scopeBy('a\\"b'), await scopeBy('')]).toEqual(['a b', undefined, undefined])
  })
})

describe('the service', () => {
  it('is the first one, or the one that a function chooses', async () => {
    const authorization_servers = ['https://git.example', 'https://other.example/a']
    const api = await apiWith({ authorization_servers })
    expect((await find(api)).issuer).toBe('https://git.example')
    const chosen = await find(api, { chooseIssuer: async (issuers) => issuers.at(-1) ?? '' })
    expect(chosen.issuer).toBe('https://other.example/a')
  })

  it('is one of those that the document names, and nothing else', async () => {
    const api = await apiWith({})
    for (const answer of ['https://evil.example', undefined, {}]) {
      const chooseIssuer = (): string => answer as string // that it is none is the test
      expect(await thrownBy(find(api, { chooseIssuer }))).toMatchObject({
        code: 'ERR_CONFIGURATION',
        message: expect.stringContaining('chooseIssuer must give one of the issuers; got'),
      })
    }
    const failed = new Error('the user does not know it')
    expect(await thrownBy(find(api, { chooseIssuer: () => Promise.reject(failed) }))).toBe(failed)
  })

  it('must call itself as the document does: another issuer is refused (RFC 8414, section 3.3)', async () => {
    const service = await madeUp({}, { issuer: 'https://honest.example' })
    open.push(service.close)
    const { issuer } = await find(await apiWith({ authorization_servers: [service.issuer] }))
    expect(await thrownBy(discover({ issuer, clientId: 'tool' }))).toMatchObject({
      code: 'ERR_RESPONSE',
      message: expect.stringMatching(/calls itself https:\/\/honest\.example$/),
    })
  })
})

it.each(['http://api.example/mcp', 'api.example', 'https://user:word@api.example/', 'ftp://127.0.0.1/'])(
  'the option url is refused: %s',
  async (url) => {
    expect(await thrownBy(discoverResource({ url }))).toMatchObject({ code: 'ERR_CONFIGURATION' })
  },
)

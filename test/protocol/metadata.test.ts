/**
 * The metadata document, and where it and the stylesheet are found.
 * @module
 * @see RFC 8414, sections 2 and 3; RFC 9207, section 3
 */
import type { AuthorizationServerOptions } from 'grantwell'
import { scopeCatalogue, serviceScopes } from 'grantwell'
import { stylesheet } from 'grantwell/pages'
import { describe, expect, it } from 'vitest'
import { tokenError } from '../server/helpers.js'
import { answeredTo, authorize, basic, canSend, exchange, post, requestOf, send, testServer, WEB } from '../support.js'
import { transport } from '../transports/index.js'

const DOCUMENT_HEADERS = { 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' }
const WELL_KNOWN = '/.well-known/oauth-authorization-server'

function documentOf(issuer: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth2/auth`,
    token_endpoint: `${issuer}/oauth2/token`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    introspection_endpoint: `${issuer}/oauth2/introspect`,
    device_authorization_endpoint: `${issuer}/oauth2/device_authorization`,
    scopes_supported: [...serviceScopes().entries.keys()],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    ...changes,
  }
}

/** Every path of a server that has this issuer and mount path, and what belongs there. */
async function pathsOf(options: Partial<AuthorizationServerOptions>) {
  const { server } = await testServer(options)
  const found: string[] = []
  for (const prefix of ['', '/base', '/base/deep', '/mounted']) {
    for (const path of ['/oauth2/auth', '/oauth2/token', '/oauth2/revoke', '/oauth2/style.css', WELL_KNOWN]) {
      if (server.owns(prefix + path)) found.push(prefix + path)
    }
    if (prefix !== '' && server.owns(WELL_KNOWN + prefix)) found.push(WELL_KNOWN + prefix)
  }
  return found
}

describe('RFC 8414, 2 the document', () => {
  it('says exactly this', async () => {
    const { server } = await testServer()
    const { body, ...rest } = await send(server, { url: WELL_KNOWN })
    const headers = { 'Content-Type': 'application/json', ...DOCUMENT_HEADERS, 'Access-Control-Allow-Origin': '*' }
    expect(rest).toStrictEqual({ status: 200, headers })
    expect(JSON.parse(body)).toStrictEqual(documentOf('https://git.example'))
    expect(JSON.parse(body).scopes_supported).toHaveLength(26 + 17)
  })

  it('names the methods and scopes that there are', async () => {
    const scopes = scopeCatalogue([
      { name: 'wiki', permissions: ['rw', 'r'], description: 'Wiki pages' },
      { name: 'repo-code', permissions: ['rw'], description: 'Code' },
      { name: 'account-profile', permissions: ['r'], description: 'Profile' },
    ])
    const { server } = await testServer({ allowClientSecretPost: false, scopes })
    const { body } = await send(server, { url: WELL_KNOWN })
    expect(JSON.parse(body)).toStrictEqual(
      documentOf('https://git.example', {
        scopes_supported: ['wiki:rw', 'wiki:r', 'repo-code:rw', 'account-profile:r'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
        introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
      }),
    )
  })

  it('is the same whatever the request says of its host, and with any query', async () => {
    const { server } = await testServer()
    const plain = await send(server, { url: WELL_KNOWN })
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
    expect(await send(server, { url: `${WELL_KNOWN}?a=b&%zz`, headers })).toStrictEqual(plain)
    expect(await send(server, { method: 'HEAD', url: WELL_KNOWN })).toStrictEqual(answeredTo('HEAD', plain))
  })

  it('is for GET and HEAD; every other method gets 405 with Allow', async () => {
    const { server } = await testServer()
    const expected = tokenError(405, 'invalid_request', 'The method must be GET.', { Allow: 'GET, HEAD' })
    for (const url of [WELL_KNOWN, '/oauth2/style.css']) {
      for (const method of ['POST', 'PUT', 'OPTIONS', 'get', ''].filter((each) => canSend({ method: each }))) {
        expect(await send(server, { method, url })).toStrictEqual(expected)
      }
    }
  })
})

describe('RFC 8414, 3 where it is', () => {
  it('is at the path of OpenID Connect too, in front of the path of the issuer and behind it, by option', async () => {
    const issuer = 'https://git.example/base'
    const paths = ['/.well-known/openid-configuration/base', '/base/.well-known/openid-configuration']
    const { server } = await testServer({ issuer, openidConfiguration: true })
    const document = await send(server, { url: '/.well-known/oauth-authorization-server/base' })
    expect(JSON.parse(document.body)).toMatchObject({ issuer })
    const without = (await testServer({ issuer })).server
    for (const url of paths) {
      expect(await send(server, { url })).toStrictEqual(document)
      expect(server.owns(url)).toBe(true)
      expect(without.owns(url)).toBe(false)
    }
    const atRoot = (await testServer({ openidConfiguration: true })).server
    expect((await send(atRoot, { url: '/.well-known/openid-configuration' })).status).toBe(200)
  })

  it('in front of the path of the issuer, and behind it, for whom only that path reaches', async () => {
    const issuer = 'https://git.example/base'
    const { server } = await testServer({ issuer })
    const response = await send(server, { url: `${WELL_KNOWN}/base` })
    expect(JSON.parse(response.body)).toStrictEqual(documentOf(issuer))
    expect(await send(server, { url: `/base${WELL_KNOWN}` })).toStrictEqual(response)
  })

  it.each([
    [
      'an issuer without a path',
      {},
      ['/oauth2/auth', '/oauth2/token', '/oauth2/revoke', '/oauth2/style.css', WELL_KNOWN],
    ],
    [
      'an issuer with a path',
      { issuer: 'https://git.example/base' },
      [
        '/base/oauth2/auth',
        '/base/oauth2/token',
        '/base/oauth2/revoke',
        '/base/oauth2/style.css',
        `/base${WELL_KNOWN}`,
        `${WELL_KNOWN}/base`,
      ],
    ],
    [
      'a deeper path',
      { issuer: 'https://git.example/base/deep' },
      [
        '/base/deep/oauth2/auth',
        '/base/deep/oauth2/token',
        '/base/deep/oauth2/revoke',
        '/base/deep/oauth2/style.css',
        `/base/deep${WELL_KNOWN}`,
        `${WELL_KNOWN}/base/deep`,
      ],
    ],
    [
      'a proxy that strips the path',
      { issuer: 'https://git.example/base', mountPath: '' },
      ['/oauth2/auth', '/oauth2/token', '/oauth2/revoke', '/oauth2/style.css', WELL_KNOWN, `${WELL_KNOWN}/base`],
    ],
    [
      'a router that adds one',
      { mountPath: '/mounted' },
      [
        WELL_KNOWN,
        '/mounted/oauth2/auth',
        '/mounted/oauth2/token',
        '/mounted/oauth2/revoke',
        '/mounted/oauth2/style.css',
        `/mounted${WELL_KNOWN}`,
      ],
    ],
  ] as [string, Partial<AuthorizationServerOptions>, string[]][])(
    '%s: these paths and no other',
    async (_what, options, paths) => {
      expect(await pathsOf(options)).toStrictEqual(paths)
    },
  )

  it('with a mount path, the documents and pages still name what clients know', async () => {
    const issuer = 'https://git.example/base'
    const test = await testServer({ issuer, mountPath: '' })
    const { body } = await send(test.server, { url: WELL_KNOWN })
    expect(JSON.parse(body)).toStrictEqual(documentOf(issuer))
    const shown = await send(test.server, { url: '/oauth2/auth?client_id=web&response_type=code' })
    expect(shown.body).toContain('action="/base/oauth2/auth"')
    expect(shown.body).toContain('href="/base/oauth2/style.css"')
    const { code } = await authorize(test)
    expect((await exchange(test, code)).status).toBe(200)
    test.session.user = undefined
    const { headers } = await send(test.server, { url: '/oauth2/auth?client_id=web&response_type=code' })
    expect(headers['Location']).toContain(encodeURIComponent(`${issuer}/oauth2/auth?`))
  })

  it.each([
    '/',
    '',
    '/oauth2',
    '/oauth2/',
    '/oauth2/token/',
    '//oauth2/token',
    '/oauth2//token',
    '/OAuth2/token',
    '/oauth2/%74oken',
    '/oauth2/auth;x',
    '/oauth2/authx',
    '/x/oauth2/token',
    '*',
    '/oauth2/devices',
    '__proto__',
    '/.well-known/openid-configuration',
    `${WELL_KNOWN}/`,
    '/?/oauth2/token',
  ])('%j is not ours, and is left to the host', async (url) => {
    const { server } = await testServer()
    expect(server.owns(url)).toBe(false)
    expect(await server.handle(requestOf({ url }))).toBeUndefined()
    // A target with scheme and host is the path in it to every adapter (RFC 9112, section 3.2.2).
    const carried = url.startsWith('/') && canSend({ url })
    expect(carried ? await transport.handle(server, requestOf({ url })) : undefined).toBeUndefined()
  })

  it('a query does not change whose a path is', async () => {
    const { server } = await testServer()
    expect(server.owns('/oauth2/token?a=b')).toBe(true)
    expect(server.owns('/oauth2/token?')).toBe(true)
    expect((await post(server, '/oauth2/token?', {}, basic(WEB))).status).toBe(400)
  })

  it.each([
    'https://git.example',
    'HTTP://Git.Example:8443',
    'http://127.0.0.1:1',
    'http://[::1]:8080',
    'http://my_host:',
  ])('nor does what stands in front of it in a whole URL: %s', async (origin) => {
    const { server } = await testServer()
    for (const target of ['/oauth2/token', '/oauth2/token?a=/b']) expect(server.owns(origin + target)).toBe(true)
    for (const target of ['', '/', '?/oauth2/token', '/elsewhere', '/x/../oauth2/token', '/oauth2\\token'])
      expect(server.owns(origin + target)).toBe(false)
  })

  it.each([
    '',
    'http://',
    'http:///oauth2/token',
    'http:/oauth2/token',
    'http://a b<>/oauth2/token',
    'http://[::1/oauth2/token',
    'http://e;x/oauth2/token',
    'http://e:x/oauth2/token',
    'http://e%2f/oauth2/token',
    'http://%/oauth2/token',
    "http://e'/oauth2/token",
    'http://u:p@e/oauth2/token',
    'http://e\\oauth2/token',
    'http://e\\/oauth2/token',
    'http://e#/oauth2/token',
    'ftp://e/oauth2/token',
  ])('%j, in which frameworks see another path or none, is not ours', async (url) => {
    const { server } = await testServer()
    expect(server.owns(url)).toBe(false)
  })
})

describe('the stylesheet', () => {
  it('is a document that may be kept', async () => {
    const { server } = await testServer()
    expect(await send(server, { url: '/oauth2/style.css' })).toStrictEqual({
      status: 200,
      headers: { 'Content-Type': 'text/css;charset=UTF-8', ...DOCUMENT_HEADERS },
      body: stylesheet,
    })
  })
})

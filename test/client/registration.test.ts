/**
 * Registration of a client by itself, at a service that answers as it is told.
 * @module
 * @see RFC 7591; RFC 7592
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type ClientRegistration,
  deleteRegistration,
  discover,
  readRegistration,
  registerClient,
} from 'grantwell/client'
import { afterEach, describe, expect, it } from 'vitest'
import { madeUp, type Reply, thrownBy } from './service.js'

const METADATA = {
  client_name: 'My tool',
  redirect_uris: ['http://127.0.0.1/callback'],
  token_endpoint_auth_method: 'client_secret_post',
} as const

/** A request that the service got. */
interface Asked {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly type: string | undefined
  readonly authorization: string | undefined
  readonly body: string
}

const open: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** A service with registration (RFC 7591, section 3.2.1). A test changes what it answers. */
async function openRegistry(
  change: { readonly metadata?: object; readonly answer?: object; readonly reply?: Reply } = {},
) {
  const asked: Asked[] = []
  let registered: object | undefined
  const http = createServer((request, response) => void respond(request, response))
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ''
    for await (const part of request) body += part
    const { method, url: path, headers } = request
    const send = (status: number, value?: unknown, more = {}): void => {
      response.writeHead(status, { 'Content-Type': 'application/json', ...more })
      response.end(typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))
    }
    if (path === '/.well-known/oauth-authorization-server') {
      const sound = { issuer, token_endpoint: `${issuer}/token`, registration_endpoint: `${issuer}/oauth2/register` }
      send(200, { ...sound, ...change.metadata })
      return
    }
    asked.push({ method, path, type: headers['content-type'], authorization: headers.authorization, body })
    if (change.reply !== undefined) {
      const { status = 201, body: given, headers: more, how } = change.reply
      if (how === undefined) send(status, given, more)
      return
    }
    const isManager = headers.authorization === 'Bearer manage'
    if (method === 'POST') {
      registered = JSON.parse(body)
      send(201, { ...information(), client_secret: 'word', client_secret_expires_at: 0, ...change.answer })
    } else if (registered === undefined || !isManager) {
      send(401, undefined, { 'WWW-Authenticate': 'Bearer error="invalid_token"' })
    } else if (method === 'GET') {
      send(200, { ...information(), ...change.answer })
    } else {
      registered = undefined
      send(204)
    }
  }
  const information = () => ({
    client_id: 'made',
    client_id_issued_at: 1_800_000_000,
    registration_access_token: 'manage',
    registration_client_uri: `${issuer}/oauth2/register/made`,
    ...registered,
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}` // it listens on TCP
  open.push(async () => {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })
  return { issuer, asked }
}

describe('a registration', () => {
  it('gives the credentials of the client, and the metadata that were registered', async () => {
    const { issuer, asked } = await openRegistry()
    const registration = await registerClient({ issuer, metadata: METADATA })
    expect(registration).toEqual({
      issuer,
      credentials: { clientId: 'made', clientSecret: 'word', clientAuthentication: 'client_secret_post' },
      registrationAccessToken: 'manage',
      registrationUri: `${issuer}/oauth2/register/made`,
      metadata: { client_id_issued_at: 1_800_000_000, ...METADATA },
    } satisfies ClientRegistration)
    expect(asked).toEqual([
      {
        method: 'POST',
        path: '/oauth2/register',
        type: 'application/json',
        authorization: undefined,
        body: JSON.stringify(METADATA),
      },
    ])
    const client = await discover({ issuer: registration.issuer, ...registration.credentials })
    expect(client.clientId).toBe('made')
  })

  it('of a public client has no secret, and may be one that nobody manages', async () => {
    const client_secret = undefined
    const answer = { client_secret, registration_access_token: undefined, registration_client_uri: undefined }
    const { issuer } = await openRegistry({ answer })
    expect(await registerClient({ issuer, metadata: { token_endpoint_auth_method: 'none' } })).toEqual({
      issuer,
      credentials: { clientId: 'made' },
      metadata: { client_id_issued_at: 1_800_000_000, token_endpoint_auth_method: 'none' },
    })
  })

  it('tells when the secret expires, and leaves out a way to authenticate that this client does not know', async () => {
    const answer = { client_secret_expires_at: 1_900_000_000, token_endpoint_auth_method: 'private_key_jwt' }
    const { issuer } = await openRegistry({ answer })
    const registration = await registerClient({ issuer, metadata: {} })
    expect(registration.credentials).toEqual({ clientId: 'made', clientSecret: 'word' })
    expect(registration).toMatchObject({
      clientSecretExpiresAt: 1_900_000_000,
      metadata: { token_endpoint_auth_method: 'private_key_jwt' },
    })
  })

  it('sends the token that permits it', async () => {
    const { issuer, asked } = await openRegistry()
    await registerClient({ issuer, metadata: {}, initialAccessToken: 'first' })
    expect(asked[0]?.authorization).toBe('Bearer first')
  })

  it.each(['invalid_redirect_uri', 'invalid_client_metadata', 'invalid_software_statement'])(
    'is refused with the code of the service: %s',
    async (error) => {
      const reply = { status: 400, body: { error, error_description: 'Not this\u001b[1m one.' } }
      const { issuer } = await openRegistry({ reply })
      expect(await thrownBy(registerClient({ issuer, metadata: METADATA }))).toMatchObject({
        code: 'ERR_RESPONSE',
        error,
        message: `grantwell: the service registered no client: Not this[1m one (${error})`,
      })
    },
  )

  it.each<[string, string, Reply]>([
    ['ERR_RESPONSE', 'it answers 200', { status: 200, body: { client_id: 'made' } }],
    ['ERR_RESPONSE', 'it answers 307', { status: 307, headers: { Location: 'https://elsewhere.example/' } }],
    ['ERR_RESPONSE', 'it answers 400', { status: 400, body: '<h1>No</h1>' }],
    ['ERR_RESPONSE', 'invalid_token', { status: 401, headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } }],
    ['ERR_RESPONSE', 'an answer of more than 1048576 bytes', { body: { client_id: 'a'.repeat(1_048_576) } }],
    ['ERR_UNREACHABLE', 'is busy (503)', { status: 503 }],
    ['ERR_UNREACHABLE', 'is busy (429, slow_down)', { status: 429, body: { error: 'slow_down' } }],
    ['ERR_UNREACHABLE', 'gives no answer within 0.5 seconds', { how: 'hang' }],
  ])('fails: %s, %s', async (code, message, reply) => {
    const { issuer, asked } = await openRegistry({ reply })
    const error = await thrownBy(registerClient({ issuer, metadata: METADATA, timeout: 0.5 }))
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(asked).toHaveLength(1)
  })

  it.each<[string, object]>([
    ['client_id', { client_id: undefined }],
    ['client_id', { client_id: 1 }],
    ['client_id', { client_id: '' }],
    ['client_id', { client_id: 'a\nb' }],
    ['client_id', { client_id: ['a'] }],
    ['client_secret', { client_secret: 1 }],
    ['client_secret', { client_secret: '' }],
    ['client_secret', { client_secret: null }],
    ['client_secret', { client_secret: 'wörd' }],
    ['client_secret_expires_at', { client_secret_expires_at: undefined }],
    ['client_secret_expires_at', { client_secret_expires_at: '0' }],
    ['client_secret_expires_at', { client_secret_expires_at: -1 }],
    ['registration_access_token', { registration_access_token: {} }],
    ['registration_access_token', { registration_access_token: 'a b' }],
    ['registration_access_token', { registration_access_token: 'a\r\nb' }],
    ['registration_client_uri', { registration_client_uri: 'http://git.example/made' }],
    ['registration_client_uri', { registration_client_uri: '/made' }],
    ['registration_client_uri', { registration_client_uri: 1 }],
    ['registration_client_uri', { registration_client_uri: `https://git.example/${'a'.repeat(2048)}` }],
  ])('whose answer has a wrong %s is refused: %j', async (name, answer) => {
    const { issuer } = await openRegistry({ answer })
    expect(await thrownBy(registerClient({ issuer, metadata: METADATA }))).toMatchObject({
      code: 'ERR_RESPONSE',
      message: `grantwell: the answer about the registration has a wrong ${name}, or none`,
    })
  })

  it.each([['null'], ['"made"'], ['made'], ['']])('whose answer is no object is refused: %s', async (body) => {
    const { issuer } = await openRegistry({ reply: { body } })
    expect(await thrownBy(registerClient({ issuer, metadata: METADATA }))).toMatchObject({
      code: 'ERR_RESPONSE',
      message: 'grantwell: the answer about the registration has no JSON object',
    })
  })

  it('whose answer lacks members does not get them from a polluted prototype', async () => {
    const { issuer } = await openRegistry({ reply: { body: {} } })
    Object.assign(Object.prototype, { client_id: 'evil' })
    try {
      expect(await thrownBy(registerClient({ issuer, metadata: METADATA }))).toMatchObject({ code: 'ERR_RESPONSE' })
    } finally {
      Reflect.deleteProperty(Object.prototype, 'client_id')
    }
  })

  it.each<[string, object]>([
    ['has no registration endpoint', { registration_endpoint: undefined }],
    ['gives a wrong address as its registration_endpoint', { registration_endpoint: 'http://git.example/register' }],
    ['gives a wrong address as its registration_endpoint', { registration_endpoint: 'https://a@git.example/' }],
    ['gives a wrong address as its registration_endpoint', { registration_endpoint: 1 }],
    ['calls itself https://honest.example', { issuer: 'https://honest.example' }],
  ])('at a service that %s is not sent', async (message, metadata) => {
    const { issuer, asked } = await openRegistry({ metadata })
    const error = await thrownBy(registerClient({ issuer, metadata: METADATA, initialAccessToken: 'first' }))
    expect(error).toMatchObject({ code: 'ERR_RESPONSE', message: expect.stringContaining(message) })
    expect(asked).toEqual([])
  })

  it('is not sent to an issuer on the network over http, nor with metadata that are no JSON', async () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const issuer = 'https://git.example'
    for (const options of [
      { issuer: 'http://git.example', metadata: {} },
      { issuer, metadata: circle },
      { issuer, metadata: { client_name: 1n } },
      { issuer, metadata: { toJSON: () => 'text' } },
      { issuer, metadata: {}, initialAccessToken: 'a b' },
    ])
      expect(await thrownBy(registerClient(options))).toMatchObject({ code: 'ERR_CONFIGURATION' })
  })
})

describe('a registered client', () => {
  it('reads its registration, and keeps what the answer leaves out', async () => {
    const { issuer, asked } = await openRegistry()
    const registration = await registerClient({ issuer, metadata: METADATA })
    expect(await readRegistration(registration)).toEqual(registration)
    const fetch = async () => Response.json({ client_id: 'made' })
    expect(await readRegistration(registration, { fetch })).toEqual({ ...registration, metadata: {} })
    expect(asked[1]).toEqual({
      method: 'GET',
      path: '/oauth2/register/made',
      type: undefined,
      authorization: 'Bearer manage',
      body: '',
    })
  })

  it('takes over credentials that the service has changed (RFC 7592, section 3)', async () => {
    const { issuer } = await openRegistry()
    const registration = await registerClient({ issuer, metadata: METADATA })
    const body = {
      client_id: 'made',
      client_secret: 'new',
      client_secret_expires_at: 5,
      registration_access_token: 'b',
    }
    const fetch = async () => Response.json({ ...body, registration_client_uri: `${issuer}/elsewhere` })
    expect(await readRegistration(registration, { fetch })).toEqual({
      issuer,
      credentials: { clientId: 'made', clientSecret: 'new', clientAuthentication: 'client_secret_post' },
      clientSecretExpiresAt: 5,
      registrationAccessToken: 'b',
      registrationUri: `${issuer}/elsewhere`,
      metadata: {},
    })
  })

  it('refuses an answer about another client', async () => {
    const { issuer } = await openRegistry()
    const registration = await registerClient({ issuer, metadata: METADATA })
    const fetch = async () => Response.json({ client_id: 'another' })
    expect(await thrownBy(readRegistration(registration, { fetch }))).toMatchObject({
      code: 'ERR_RESPONSE',
      message: 'grantwell: the answer about the registration is about another client',
    })
  })

  it('deletes its registration, which then is not known', async () => {
    const { issuer, asked } = await openRegistry()
    const registration = await registerClient({ issuer, metadata: METADATA })
    expect(await deleteRegistration(registration)).toBe(undefined)
    expect(asked.at(-1)).toMatchObject({ method: 'DELETE', path: '/oauth2/register/made' })
    for (const again of [deleteRegistration(registration), readRegistration(registration)])
      expect(await thrownBy(again)).toMatchObject({ code: 'ERR_RESPONSE', error: 'invalid_token' })
  })

  it('follows no redirect with its token', async () => {
    const elsewhere = await madeUp({ '/made': [{ body: { client_id: 'made' } }] })
    open.push(elsewhere.close)
    const { issuer } = await openRegistry({
      reply: { status: 307, headers: { Location: `${elsewhere.issuer}/made` } },
    })
    const registration: ClientRegistration = {
      issuer,
      credentials: { clientId: 'made' },
      registrationAccessToken: 'manage',
      registrationUri: `${issuer}/oauth2/register/made`,
      metadata: {},
    }
    for (const failed of [readRegistration(registration), deleteRegistration(registration)])
      expect(await thrownBy(failed)).toMatchObject({ code: 'ERR_RESPONSE' })
    expect(elsewhere.asked).toEqual([])
  })

  it.each<[string, object]>([
    ['without a token', { registrationAccessToken: undefined }],
    ['without an address', { registrationUri: undefined }],
    ['with an address over http', { registrationUri: 'http://git.example/made' }],
    ['with the address of loopback', { registrationUri: 'http://127.0.0.1/made' }],
    ['with a token of two lines', { registrationAccessToken: 'a\nb' }],
  ])('is refused %s, and nobody is asked', async (_, change) => {
    const sound: ClientRegistration = {
      issuer: 'https://git.example',
      credentials: { clientId: 'made' },
      registrationAccessToken: 'manage',
      registrationUri: 'https://git.example/register/made',
      metadata: {},
    }
    const fetch = () => expect.fail('was asked')
    // As it is read from a file, without the members that are undefined.
    const registration: ClientRegistration = JSON.parse(JSON.stringify({ ...sound, ...change }))
    Object.assign(Object.prototype, { registrationUri: 'https://evil.example', registrationAccessToken: 'evil' })
    try {
      for (const failed of [readRegistration(registration, { fetch }), deleteRegistration(registration, { fetch })]) {
        const error = await thrownBy(failed)
        expect(error).toMatchObject({ code: 'ERR_CONFIGURATION' })
        expect(String(error)).toMatch(/the argument registration must be .*; got an object$/)
      }
    } finally {
      for (const name of ['registrationUri', 'registrationAccessToken']) Reflect.deleteProperty(Object.prototype, name)
    }
  })
})

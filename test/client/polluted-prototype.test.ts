/**
 * A client where some code has added to the prototype of all objects: what a service does not say stays unsaid.
 * @module
 */
import {
  authorizedFetch,
  type Client,
  createTokenSource,
  discover,
  login,
  memoryTokenStore,
  resourceServer,
  revokeTokens,
  type Tokens,
} from 'grantwell/client'
import { loginByBrowser } from 'grantwell/client/node'
import { afterEach, describe, expect, it } from 'vitest'
import { loginWith } from '../../src/client/login.js'
import { refreshTokens } from '../../src/client/token-endpoint.js'
import { type MadeUp, madeUp, type Reply, TOKENS } from './service.js'

const polluted: string[] = []
const open: MadeUp[] = []

afterEach(async () => {
  for (const name of polluted.splice(0)) Reflect.deleteProperty(Object.prototype, name)
  for (const { close } of open.splice(0)) await close()
})

function pollute(name: string, value: unknown): void {
  polluted.push(name)
  Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
}

async function service(replies: Record<string, Reply[]>, metadata: object = {}): Promise<MadeUp> {
  const made = await madeUp(replies, metadata)
  open.push(made)
  return made
}

const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'revocation_endpoint',
  'device_authorization_endpoint',
  'introspection_endpoint',
]

/** Everything that sends credentials, or the user, to an endpoint. */
async function useAll(client: Client): Promise<void> {
  const tokens: Tokens = { ...TOKENS, issuer: client.issuer, clientId: client.clientId, refreshToken: 'refresh' }
  const uses = [
    () => refreshTokens(client, tokens),
    () => revokeTokens(client, tokens),
    () => login(client, { show: () => {} }),
    () => loginByBrowser(client, { openBrowser: false, onUrl: (url) => void fetch(url), timeout: 0.2 }),
    () => resourceServer({ client, onError: () => {} }).guard()({ headers: { authorization: `Bearer ${API_TOKEN}` } }),
  ]
  for (const use of uses)
    await (async () => use())().catch((error: unknown) => expect(error).toMatchObject({ name: 'ClientError' }))
}

/** A token in the form of a grantwell service. */
const API_TOKEN = `gwa_${'AbC012_-AbC012_-'}${'A'.repeat(65)}`

describe('an endpoint that the metadata of a service does not have', () => {
  it.each(ENDPOINTS)('is not taken from the prototype: %s', async (name) => {
    for (const when of ['before', 'after'] as const) {
      const elsewhere = await service({ '/stolen': [{ body: {} }] })
      const none = Object.fromEntries(ENDPOINTS.map((each) => [each, undefined]))
      const { issuer, asked } = await service({}, none)
      if (when === 'before') pollute(name, `${elsewhere.issuer}/stolen`)
      const client = await discover({ issuer, clientId: 'tool', clientSecret: 'secret' })
      if (when === 'after') pollute(name, `${elsewhere.issuer}/stolen`)
      await useAll(client)
      expect(elsewhere.asked).toEqual([])
      expect(asked.map(({ path }) => path)).toEqual(['/.well-known/oauth-authorization-server'])
      Reflect.deleteProperty(Object.prototype, name)
    }
  })
})

describe('a member that an answer does not have', () => {
  it.each([
    ['refresh_token', 'stolen'],
    ['scope', 'everything:rw'],
    ['mac_key', 'stolen'],
  ])('is not taken from the prototype: %s of a token response', async (name, value) => {
    const body = { access_token: 'new', token_type: 'bearer' }
    const { issuer } = await service({ '/token': [{ body }] })
    const client = await discover({ issuer, clientId: 'tool' })
    pollute(name, value)
    const tokens = await refreshTokens(client, { ...TOKENS, issuer, refreshToken: 'refresh' })
    expect(tokens).toEqual({
      ...{ v: 1, issuer, clientId: 'tool', accessToken: 'new', refreshToken: 'refresh', tokenType: 'bearer' },
      issuedAt: expect.any(Number),
    })
  })

  it('is not taken from the prototype: the access token of a token response', async () => {
    const { issuer } = await service({ '/token': [{ body: { token_type: 'bearer' } }] })
    const client = await discover({ issuer, clientId: 'tool' })
    pollute('access_token', 'stolen')
    const source = createTokenSource({
      client,
      store: memoryTokenStore({ ...TOKENS, issuer, refreshToken: 'refresh', expiresAt: 1 }),
    })
    await expect(authorizedFetch(source)(`${issuer}/api`)).rejects.toMatchObject({ code: 'ERR_RESPONSE' })
  })

  it('is not taken from the prototype: the complete address of a device authorization response', async () => {
    const body = { device_code: 'd', user_code: 'ABCD-EFGH', verification_uri: 'https://git.example/d', expires_in: 1 }
    const { issuer } = await service({
      '/device': [{ body }],
      '/token': [{ body: { error: 'expired_token' }, status: 400 }],
    })
    const client = await discover({ issuer, clientId: 'tool' })
    pollute('verification_uri_complete', 'https://elsewhere.example/')
    const shown: object[] = []
    const waiting = { now: () => 0, sleep: async () => {} }
    await loginWith(client, { show: (code) => void shown.push(code) }, waiting).catch(() => {})
    expect(shown).toMatchObject([{ userCode: 'ABCD-EFGH' }])
    expect(Object.hasOwn(shown[0] ?? {}, 'verificationUriComplete')).toBe(false)
  })
})

/**
 * The option `resource`: tokens for one protected resource, or for several.
 * @module
 * @see RFC 8707
 */
import { type Client, type ClientOptions, createTokenSource, discover, login, memoryTokenStore } from 'grantwell/client'
import { loginByBrowser } from 'grantwell/client/node'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { refreshTokens } from '../../src/client/token-endpoint.js'
import { NATIVE } from '../support.js'
import { consent, decide, openService, type Service, thrownBy, visit } from './service.js'

const MCP = 'https://git.example/mcp'
const API = 'https://git.example'
const TOKEN = '/oauth2/token'

let service: Service
beforeAll(async () => {
  const audiences = [
    { resource: MCP, name: 'Tools for agents', scopes: ['repo-code:r'] },
    { resource: API, name: 'The API' },
  ]
  service = await openService({ audiences, devicePollingInterval: 1 })
})
afterAll(() => service?.close())

/** The parameters `resource` of the requests that were sent, by their path. */
let sent: (readonly [path: string, resources: readonly string[]])[] = []
beforeEach(() => {
  sent = []
})

function clientFor(resource?: string | readonly string[]): Promise<Client> {
  const watched: typeof fetch = (input, init) => {
    if (init?.body instanceof URLSearchParams)
      sent.push([new URL(String(input)).pathname, init.body.getAll('resource')])
    return fetch(input, init)
  }
  const options: ClientOptions = { issuer: service.issuer, ...NATIVE, clock: () => service.test.clock.now }
  return discover({ ...options, fetch: watched, ...(resource !== undefined && { resource }) })
}

async function logIn(client: Client) {
  let asked: readonly string[] = []
  const openBrowser = async (url: string): Promise<void> => {
    asked = new URL(url).searchParams.getAll('resource')
    await visit(await consent(url))
  }
  return { tokens: await loginByBrowser(client, { openBrowser }), asked }
}

async function opens(accessToken: string, audience?: string): Promise<boolean> {
  const request = { headers: { authorization: `Bearer ${accessToken}` } }
  const found = await service.test.server.authenticate(request, audience === undefined ? {} : { audience })
  return found.type === 'authenticated'
}

describe('a client for a protected resource', () => {
  it('names it in the authorization request and in the token requests (sections 2.1 and 2.2)', async () => {
    const client = await clientFor(MCP)
    const { tokens, asked } = await logIn(client)
    expect(asked).toEqual([MCP])
    expect(tokens.scope).toBe('repo-code:r')
    const next = await refreshTokens(client, tokens)
    expect(sent).toEqual([
      [TOKEN, [MCP]],
      [TOKEN, [MCP]],
    ])
    for (const { accessToken } of [tokens, next])
      expect([await opens(accessToken, MCP), await opens(accessToken, API), await opens(accessToken)]).toEqual([
        true,
        false,
        false,
      ])
  })

  it('names it when it asks for the codes of a device, and for the tokens', async () => {
    const client = await clientFor(MCP)
    const tokens = await login(client, { show: ({ userCode }) => decide(service.issuer, userCode, 'agree') })
    expect(sent).toEqual([
      ['/oauth2/device_authorization', [MCP]],
      [TOKEN, [MCP]],
    ])
    expect([await opens(tokens.accessToken, MCP), await opens(tokens.accessToken, API)]).toEqual([true, false])
  })

  it('names all of several', async () => {
    const { tokens, asked } = await logIn(await clientFor([MCP, API]))
    expect([asked, sent]).toEqual([[MCP, API], [[TOKEN, [MCP, API]]]])
    expect([await opens(tokens.accessToken, MCP), await opens(tokens.accessToken, API)]).toEqual([true, true])
  })

  it('refreshes the tokens of a source for some of them', async () => {
    const { tokens } = await logIn(await clientFor([MCP, API]))
    const source = createTokenSource({ client: await clientFor(API), store: memoryTokenStore() })
    await source.save(tokens)
    const { accessToken } = await source.refresh(tokens)
    expect([await opens(accessToken, MCP), await opens(accessToken, API)]).toEqual([false, true])
  })

  it('names none without the option', async () => {
    const { tokens, asked } = await logIn(await clientFor())
    expect([asked, sent]).toEqual([[], [[TOKEN, []]]])
    expect([await opens(tokens.accessToken), await opens(tokens.accessToken, MCP)]).toEqual([true, false])
  })

  it('says that the service knows no such resource, or that the user did not permit it', async () => {
    const unknown = login(await clientFor('https://elsewhere.example'), { show: () => {} })
    expect(await thrownBy(unknown)).toMatchObject({ code: 'ERR_RESPONSE', error: 'invalid_target' })
    const { tokens } = await logIn(await clientFor(MCP))
    const refreshed = refreshTokens(await clientFor(API), tokens)
    expect(await thrownBy(refreshed)).toMatchObject({ code: 'ERR_RESPONSE', error: 'invalid_target' })
  })
})

it.each([['mcp'], ['https://git.example/#part'], [[]], [[MCP, 'mcp']], [`https://git.example/${'a'.repeat(2048)}`]])(
  'the option is refused: %s',
  async (resource) => {
    expect(await thrownBy(clientFor(resource))).toMatchObject({
      code: 'ERR_CONFIGURATION',
      message: expect.stringContaining('the option resource must be the URL of a protected resource'),
    })
  },
)

/**
 * The MCP server of the examples, and the client of the MCP SDK, which is told its URL and nothing else.
 * @module
 * @see The Model Context Protocol, version 2025-11-25, "Authorization"
 */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AuthorizationServerOptions } from 'grantwell'
import { afterEach, describe, expect, it } from 'vitest'
import { createGitHost } from '../../examples/mcp/server.mjs'
import type { Agent, AgentSettings } from './mcp-agent.js'
import { AGENT_METADATA, createAgent } from './mcp-agent.js'

const METADATA_URL = 'https://agent.example/oauth/client.json'
const NOTE = { repository: 'ada/notes', path: 'today.md', text: 'A note' }

let http: Server
let agents: Agent[] = []

/** Starts the example, and returns the URL that agents are told. */
async function start(options: Partial<AuthorizationServerOptions> = {}): Promise<string> {
  http = createServer().listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo // a port, for it listens on TCP
  const issuer = `http://127.0.0.1:${port}`
  http.on('request', createGitHost(issuer, options))
  return `${issuer}/mcp`
}

/** Connects an agent. */
async function connect(url: string, settings: AgentSettings = {}): Promise<Agent> {
  const agent = createAgent(url, settings)
  agents.push(agent)
  await agent.connect()
  return agent
}

afterEach(async () => {
  for (const agent of agents) await agent.close()
  agents = []
  http.closeAllConnections()
  http.close()
})

/** The steps by which the SDK finds the service: each time that it needs a token. */
const DISCOVERY = [
  'GET /.well-known/oauth-protected-resource/mcp -> 200',
  'GET /.well-known/oauth-authorization-server -> 200',
]
const EXCHANGE = [...DISCOVERY, 'POST /oauth2/token grant_type=authorization_code resource=/mcp code_verifier -> 200']
const CONNECTED = [
  'POST /mcp initialize -> 200',
  'POST /mcp notifications/initialized -> 202',
  'GET /mcp -> 405', // it asks for a stream of messages, which this server does not have
]
const STRANGER = 'POST /mcp initialize -> 401 scope=repo-code:r resource_metadata'
const STEP_UP = 'POST /mcp write_file -> 403 error=insufficient_scope scope=repo-code:rw resource_metadata'

describe('the client of the MCP SDK', () => {
  it('gets through from the bare URL: it registers, asks for one scope, then for another one, and refreshes', async () => {
    let now = Math.floor(Date.now() / 1000)
    const agent = await connect(await start({ clock: () => now }), { forgetsToStepUp: true })
    expect(await agent.takeSteps()).toEqual([
      STRANGER,
      ...DISCOVERY,
      'POST /oauth2/register scope=repo-code:r -> 201',
      'browser: GET /oauth2/auth scope=repo-code:r resource=/mcp code_challenge_method=S256 -> sign-in, consent',
      ...EXCHANGE,
      ...CONNECTED,
    ])
    expect(agent.tokens()?.scope).toBe('repo-code:r')

    expect(await agent.listTools()).toEqual(['list_repositories', 'read_file', 'write_file'])
    expect(await agent.callTool('list_repositories')).toBe('ada/engine: README.md\nada/notes: ideas.md')
    expect(await agent.takeSteps()).toEqual(['POST /mcp tools/list -> 200', 'POST /mcp list_repositories -> 200'])

    expect(await agent.callTool('write_file', NOTE)).toBe('ada wrote today.md in ada/notes')
    expect(await agent.takeSteps()).toEqual([
      STEP_UP,
      ...DISCOVERY,
      'browser: GET /oauth2/auth scope=repo-code:rw resource=/mcp code_challenge_method=S256 -> consent',
      ...EXCHANGE,
      'POST /mcp write_file -> 200',
    ])
    expect(agent.tokens()?.scope).toBe('repo-code:rw')

    now += agent.tokens()?.expires_in ?? 0
    expect(await agent.callTool('read_file', NOTE)).toBe('A note')
    expect(await agent.takeSteps()).toEqual([
      'POST /mcp read_file -> 401 error=invalid_token scope=repo-code:r resource_metadata',
      ...DISCOVERY,
      'POST /oauth2/token grant_type=refresh_token resource=/mcp refresh_token -> 200',
      'POST /mcp read_file -> 200',
    ])
    expect(agent.tokens()?.scope).toBe('repo-code:rw')
  })

  it('gets through without a registration, by the URL of its metadata', async () => {
    const fetched: string[] = []
    const url = await start({
      fetchClientMetadata: async (each) => {
        fetched.push(each)
        return { type: 'document', text: JSON.stringify({ client_id: METADATA_URL, ...AGENT_METADATA }) }
      },
    })
    const agent = await connect(url, { clientMetadataUrl: METADATA_URL, forgetsToStepUp: true })
    const asked = `browser: GET /oauth2/auth client_id=${METADATA_URL}`
    expect(await agent.takeSteps()).toEqual([
      STRANGER,
      ...DISCOVERY,
      `${asked} scope=repo-code:r resource=/mcp code_challenge_method=S256 -> sign-in, consent`,
      ...EXCHANGE,
      ...CONNECTED,
    ])
    expect(await agent.callTool('write_file', NOTE)).toBe('ada wrote today.md in ada/notes')
    expect(await agent.takeSteps()).toContain(
      `${asked} scope=repo-code:rw resource=/mcp code_challenge_method=S256 -> consent`,
    )
    expect(fetched).toEqual([METADATA_URL])
  })

  it('cannot step up by itself while it has a refresh token: it refreshes, which adds no scope, and gives up', async () => {
    const agent = await connect(await start())
    await agent.takeSteps()
    await expect(agent.callTool('write_file', NOTE)).rejects.toThrow('Server returned 403 after trying upscoping')
    expect(await agent.takeSteps()).toEqual([
      STEP_UP,
      ...DISCOVERY,
      'POST /oauth2/token grant_type=refresh_token resource=/mcp refresh_token -> 200',
      STEP_UP,
    ])
  })
})

describe('the MCP server of the examples', () => {
  /** Sends a body with the token of an agent. */
  const send = async (url: string, agent: Agent | undefined, body: string, type = 'application/json') => {
    const authorization = agent === undefined ? {} : { authorization: `Bearer ${agent.tokens()?.access_token}` }
    const headers = { ...authorization, 'content-type': type, accept: 'application/json, text/event-stream' }
    const response = await fetch(url, { method: 'POST', headers, body })
    return { status: response.status, text: await response.text() }
  }
  const calls = (name: unknown, id = 1) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: NOTE },
  })

  it('reads nothing that a stranger sends', async () => {
    expect(await send(await start(), undefined, '{')).toEqual({ status: 401, text: '' })
  })

  it('lets a token that may only read call no tool that may write, however the call is written', async () => {
    const url = await start()
    const agent = await connect(url)
    const writes = JSON.stringify(calls('write_file'))
    const bodies: readonly (readonly [status: number, body: string, type?: string])[] = [
      [403, writes],
      [403, JSON.stringify([calls('read_file'), calls('write_file', 2)])],
      [403, JSON.stringify(calls('delete_everything'))],
      [403, writes.replace('"method"', '"method":"tools/list","method"')],
      [403, writes, 'text/plain'],
      [403, writes, 'application/json;charset=utf-8'],
      [400, JSON.stringify([[calls('write_file')]])],
      [400, '[null]'],
      [200, JSON.stringify(calls('read_file'))],
    ]
    for (const [status, body, type] of bodies) expect((await send(url, agent, body, type)).status, body).toBe(status)
    expect(await agent.callTool('read_file', { ...NOTE, path: 'ideas.md' })).toBe('Bernoulli numbers')
  })

  it('would let no client step up whose policy approves what it registered for, and no more', async () => {
    const agent = await connect(await start({ clientPolicy: () => 'approve' }), { forgetsToStepUp: true })
    await expect(agent.callTool('write_file', NOTE)).rejects.toThrow('error=invalid_scope')
  })

  it('opens no repository that the user does not have, and says so to the model', async () => {
    const agent = await connect(await start())
    const answer = await agent.callTool('read_file', { repository: 'grace/compiler', path: 'README.md' })
    expect(answer).toBe('There is no such repository, or the user did not permit it.')
  })

  it.each([
    ['com.example.agent:/callback', 'any program can claim its scheme'],
    ['https://agent.example/callback', 'nobody knows its host'],
  ])('lets a client wait whose redirect URI is %s, since %s', async (redirectUri) => {
    const { origin } = new URL(await start())
    const response = await fetch(`${origin}/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...AGENT_METADATA, redirect_uris: [redirectUri] }),
    })
    const { client_id } = (await response.json()) as { readonly client_id: string }
    const asked = new URLSearchParams({ client_id, redirect_uri: redirectUri, response_type: 'code' })
    const page = await fetch(`${origin}/oauth2/auth?${asked}`)
    expect([response.status, page.status, await page.text()]).toEqual([
      201,
      400,
      expect.stringContaining('This application is not approved'),
    ])
  })

  it('lets VS Code work at once, which comes back to its websites and to this machine', async () => {
    const { origin } = new URL(await start())
    const response = await fetch(`${origin}/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Visual Studio Code',
        redirect_uris: [
          'https://insiders.vscode.dev/redirect',
          'https://vscode.dev/redirect',
          'http://127.0.0.1:33418/',
        ],
        token_endpoint_auth_method: 'none',
        scope: 'repo-code:r',
      }),
    })
    expect(await response.json()).toMatchObject({ scope: 'repo-code:rw' })
  })
})

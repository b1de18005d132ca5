/**
 * The code of docs/guides/mcp.md: the blocks of its server, put together in the order of the page, and a client that steps up.
 * @module
 */

// #region client-imports
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
// #endregion client-imports
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, expect, it, vi } from 'vitest'
import { Browser } from '../../test/examples/visitor.js'
import { readPage } from './page-words.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const example = readFileSync(join(root, 'examples/mcp/server.mjs'), 'utf8')
const NOTE = { repository: 'ada/notes', path: 'today.md', text: 'A note' }

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** Returns the blocks of the page that are of the example, in the order of the page. */
function blocksOfPage(): string {
  const names = [...readPage('guides/mcp').matchAll(/^<<< \S+\/server\.mjs#([\w-]+)/gm)].map(([, name = '']) => name)
  const blocks = names.map((name) => example.split(`// #region ${name}\n`)[1]?.split(`// #endregion ${name}`)[0])
  return blocks.join('\n')
}

/** Runs code as a module of its own, and returns the URL at which it listens. */
async function run(code: string): Promise<string> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo // it listens on TCP
  await new Promise((closed) => probe.close(closed))

  mkdirSync(join(root, 'temp'), { recursive: true })
  const folder = mkdtempSync(join(root, 'temp', 'mcp-'))
  closers.push(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'server.mjs')
  writeFileSync(file, code)
  vi.stubEnv('PORT', `${port}`)
  const listen = vi.spyOn(Server.prototype, 'listen')
  await import(pathToFileURL(file).href)
  const http = listen.mock.contexts[0] as Server // the only one that the code starts
  listen.mockRestore()
  vi.unstubAllEnvs()
  if (!http.listening) await once(http, 'listening')
  closers.unshift(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${port}/mcp`
}

/** Creates the client of the page, and the browser of its user. */
function createAgent(url: string) {
  const browser = new Browser()
  const consents: string[] = []
  let callback = ''
  const openBrowser = async ({ href, searchParams }: URL): Promise<void> => {
    consents.push(searchParams.get('scope') ?? '')
    const signIn = await browser.open(href)
    if (signIn !== '') {
      await browser.open(signIn)
      await browser.open(await browser.submit())
    }
    callback = await browser.submit([
      ['decision', 'agree'],
      ['resource_scope', 'all'],
    ])
  }
  const receiveCode = async (): Promise<string> => new URL(callback).searchParams.get('code') ?? ''

  // #region client
  const redirectUrl = 'http://127.0.0.1:8976/callback'
  let information: OAuthClientInformationMixed | undefined // keep these where your client keeps its secrets
  let tokens: OAuthTokens | undefined
  let verifier = ''

  const authProvider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { client_name: 'An agent', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
    clientInformation: () => information,
    saveClientInformation: (given) => {
      information = given
    },
    tokens: () => tokens,
    saveTokens: (given) => {
      tokens = given
    },
    codeVerifier: () => verifier,
    saveCodeVerifier: (given) => {
      verifier = given
    },
    redirectToAuthorization: openBrowser,
  }
  // #endregion client

  // #region forget
  /** Forgets the refresh token if a scope is missing, before the SDK sees the 403: a refresh adds no scope. */
  const fetchAndForget: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (response.headers.get('www-authenticate')?.includes('insufficient_scope') && tokens !== undefined) {
      const { refresh_token: _, ...rest } = tokens
      tokens = rest
    }
    return response
  }
  // #endregion forget

  // #region step-up
  /** Connects and acts. If the server wants the user's consent, waits for it, and begins again with a new transport. */
  async function withConsent<Done>(act: (client: Client) => Promise<Done>): Promise<Done> {
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider, fetch: fetchAndForget })
    const client = new Client({ name: 'agent', version: '1.0.0' })
    try {
      await client.connect(transport as Transport)
      return await act(client)
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error
      // The SDK has called openBrowser.
      await transport.finishAuth(await receiveCode())
    } finally {
      await client.close()
    }
    return withConsent(act)
  }
  // #endregion step-up

  // #region call
  const write = (note: Record<string, string>) =>
    withConsent((client) => client.callTool({ name: 'write_file', arguments: note }))
  // #endregion call
  return { write, consents }
}

it('has blocks that run when they are put together, and a client that steps up', async () => {
  const { write, consents } = createAgent(await run(blocksOfPage()))
  expect(await write(NOTE)).toMatchObject({ content: [{ text: 'ada wrote today.md in ada/notes' }] })
  expect(consents).toEqual(['repo-code:r', 'repo-code:rw'])
})

it('sends nobody from the sign-in page to another site', async () => {
  const { origin } = new URL(await run(blocksOfPage()))
  const elsewhere = `${origin}/sign-in?return_to=https://evil.example/`
  expect((await fetch(elsewhere, { method: 'POST', redirect: 'manual' })).status).toBe(400)
})

it('names what the SDK says where the handler is not mounted', async () => {
  const mounted = /^ *app\.use\(createNodeHandler.*\n/m
  expect(blocksOfPage()).toMatch(mounted)
  const { write } = createAgent(await run(blocksOfPage().replace(mounted, '')))
  const said = 'HTTP 404: Invalid OAuth error response'
  await expect(write(NOTE)).rejects.toThrow(said)
  expect(readPage('guides/mcp')).toContain(`\`${said}\``)
})

/**
 * An agent by the client of the MCP SDK, which is told the URL of a server and nothing else, and the browser of its user.
 * @module
 * @see The Model Context Protocol, version 2025-11-25, "Authorization"
 */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { expect } from 'vitest'
import { Browser } from './visitor.js'

/** The redirect URI of the agent. Nobody listens there: the browser of the tests reads it from the answer. */
export const REDIRECT_URI = 'http://127.0.0.1:8976/callback'

/** The words by which an agent presents itself. */
export const AGENT_METADATA = {
  client_name: 'An agent',
  redirect_uris: [REDIRECT_URI],
  token_endpoint_auth_method: 'none',
} as const

/** An agent that keeps what it learns in memory. */
export interface Agent {
  /** Connects, by way of the user's browser where the server asks for a token. */
  readonly connect: () => Promise<void>
  /** Lists the names of the tools. */
  readonly listTools: () => Promise<readonly string[]>
  /** Calls a tool, by way of the user's browser where the server asks for more, and returns the text of its answer. */
  readonly callTool: (name: string, parameters?: Record<string, unknown>) => Promise<string>
  /** Takes the steps since it was asked last, one line each, in the order in which they began. */
  readonly takeSteps: () => Promise<readonly string[]>
  /** The tokens that the agent has. */
  readonly tokens: () => OAuthTokens | undefined
  readonly close: () => Promise<void>
}

/** The parts of an SDK that an agent is made of. */
export interface Sdk {
  readonly Client: typeof Client
  readonly StreamableHTTPClientTransport: typeof StreamableHTTPClientTransport
  readonly UnauthorizedError: typeof UnauthorizedError
}

/** The SDK of npm's `@modelcontextprotocol/sdk`. */
const SDK: Sdk = { Client, StreamableHTTPClientTransport, UnauthorizedError }

/** Settings of an agent. */
export interface AgentSettings {
  /** Another version of the SDK. */
  readonly sdk?: Sdk
  /** The URL of the agent's metadata, which is its identifier then. */
  readonly clientMetadataUrl?: string
  /**
   * True to forget the refresh token when a scope is missing. SDK 1.32.2 refreshes first, which can add no scope (RFC 6749, section 6),
   * and gives up: https://github.com/modelcontextprotocol/typescript-sdk/issues/2255
   */
  readonly forgetsToStepUp?: boolean
}

/** Creates an agent. @param url - of the MCP server */
export function createAgent(url: string, settings: AgentSettings = {}): Agent {
  const { sdk = SDK, clientMetadataUrl, forgetsToStepUp = false } = settings
  const steps: Promise<string>[] = []
  const browser = new Browser()
  const client = new sdk.Client({ name: 'agent', version: '1.0.0' })
  let information: OAuthClientInformationMixed | undefined
  let tokens: OAuthTokens | undefined
  let verifier = ''
  let callback = ''

  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT_URI,
    clientMetadata: { ...AGENT_METADATA, redirect_uris: [REDIRECT_URI] },
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientInformation: () => information,
    saveClientInformation: (given) => {
      information = given
    },
    tokens: () => tokens,
    saveTokens: (given) => {
      tokens = given
    },
    redirectToAuthorization: async (address) => {
      const page = await agree(browser, address.href)
      steps.push(wordsOf(new Request(address), url).then((words) => `browser: ${words} -> ${page.shown}`))
      callback = page.callback
    },
    saveCodeVerifier: (given) => {
      verifier = given
    },
    codeVerifier: () => verifier,
  }

  const observe: typeof fetch = (input, init) => {
    const request = new Request(input, init)
    const words = wordsOf(request.clone(), url)
    const answer = fetch(request)
    steps.push(answer.then(async (response) => `${await words} -> ${answerOf(response)}`))
    return answer.then((response) => {
      if (forgetsToStepUp && response.status === 403 && tokens !== undefined) {
        const { refresh_token: _, ...rest } = tokens
        tokens = rest
      }
      return response
    })
  }
  const open = () => new sdk.StreamableHTTPClientTransport(new URL(url), { authProvider: provider, fetch: observe })
  let transport = open()

  /** Does something, and once more after the user has agreed. */
  async function authorized<Done>(run: () => Promise<Done>, again = run): Promise<Done> {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof sdk.UnauthorizedError)) throw error
      const answer = new URL(callback).searchParams
      const finish: (code: string, iss?: string) => Promise<void> = transport.finishAuth.bind(transport)
      await finish(answer.get('code') ?? expect.fail(`no code: ${callback}`), answer.get('iss') ?? undefined) // version 2 compares `iss`
      return again()
    }
  }
  const connect = () => client.connect(transport as Parameters<typeof client.connect>[0]) // but for undefined properties
  return {
    takeSteps: () => Promise.all(steps.splice(0)),
    tokens: () => tokens,
    connect: () =>
      authorized(connect, () => {
        transport = open()
        return connect()
      }),
    listTools: async () => (await authorized(() => client.listTools())).tools.map(({ name }) => name),
    callTool: async (name, parameters = {}) => {
      const { content } = await authorized(() => client.callTool({ name, arguments: parameters }))
      return (content as readonly { readonly text: string }[]).map(({ text }) => text).join('\n') // of our tools
    },
    close: () => client.close(),
  }
}

/**
 * Signs in where the service asks for it, and agrees.
 * @returns the address that the browser is sent to, and the pages that the user saw
 */
async function agree(
  browser: Browser,
  address: string,
): Promise<{ readonly callback: string; readonly shown: string }> {
  const signIn = await browser.open(address)
  if (signIn.startsWith(REDIRECT_URI)) return { shown: 'nothing', callback: signIn }
  if (signIn !== '') {
    await browser.open(signIn)
    await browser.open(await browser.submit())
  }
  expect(browser.status, browser.html).toBe(200)
  expect(browser.html).toContain('Git tools for agents')
  const choice = [
    ['decision', 'agree'],
    ['resource_scope', 'all'],
  ] as const
  return { shown: signIn === '' ? 'consent' : 'sign-in, consent', callback: await browser.submit(choice) }
}

/** Parameters that the steps show. Those that are secret or differ every time are shown by their names alone. */
const SHOWN = ['grant_type', 'scope', 'resource', 'code_challenge_method']
const NAMED = ['code_verifier', 'refresh_token']

/** Writes a request in one line. */
async function wordsOf(request: Request, server: string): Promise<string> {
  const { origin, pathname, searchParams } = new URL(request.url)
  const text = await request.text()
  const isJson = text.startsWith('{')
  const said: Record<string, string> = isJson
    ? JSON.parse(text)
    : Object.fromEntries([...searchParams, ...new URLSearchParams(text)])
  const method = isJson ? (JSON.parse(text).params?.name ?? said['method']) : undefined
  const shown = SHOWN.flatMap((name) => (said[name] === undefined ? [] : [`${name}=${said[name]}`]))
  const named = NAMED.filter((name) => said[name] !== undefined)
  const client =
    request.method === 'GET' && said['client_id']?.startsWith('https:') ? [`client_id=${said['client_id']}`] : []
  const line = [request.method, pathname, ...(method === undefined ? [] : [method]), ...client, ...shown, ...named]
  return line.join(' ').replaceAll(new URL(server).origin, '').replaceAll(origin, '')
}

/** Writes an answer in a few words: its status, and what a challenge says. */
function answerOf(response: Response): string {
  const challenge = response.headers.get('www-authenticate') ?? ''
  const said = ['error', 'scope', 'resource_metadata'].flatMap((name) => {
    const value = new RegExp(`\\b${name}="([^"]*)"`).exec(challenge)?.[1]
    return value === undefined ? [] : [name === 'resource_metadata' ? name : `${name}=${value}`]
  })
  return [response.status, ...said].join(' ')
}

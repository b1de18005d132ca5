/**
 * A service with device codes that answers as a test tells it to.
 * @module
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An answer, or none. */
export type Answer = { readonly status: number; readonly body: object } | 'hang up'

/** An answer, or how it is made. */
export type Reply = Answer | (() => Answer)

/** A refusal, as the token endpoint gives it. */
export const refusal = (error: string): Answer => ({ status: 400, body: { error } })

export const TOKENS = {
  token_type: 'bearer',
  access_token: `gwa_${'a'.repeat(80)}`,
  refresh_token: `gwr_${'r'.repeat(80)}`,
}

/** The user has agreed. */
export const tokens: Answer = { status: 200, body: TOKENS }

/** What the service was asked. */
export interface Asked {
  readonly path: string
  readonly form: URLSearchParams
  readonly authorization: string | undefined
  /** Milliseconds by a stopwatch. */
  readonly at: number
}

/** A service that runs. */
export interface DeviceService {
  readonly issuer: string
  readonly asked: readonly Asked[]
  /** Seconds between the request for a code and the polls, one after the other. */
  readonly pauses: () => number[]
  readonly end: () => void
}

/**
 * Starts it.
 * @param polls - the answers to the polls for tokens, one after the other; afterwards the user is still to decide
 * @param codes - what is other in the answer with the code
 * @param others - the answers at other paths, `refresh` being the one to a refresh; made when they are needed, where functions
 */
export async function deviceService(
  polls: Answer[],
  codes: object = {},
  others: Record<string, Reply> = {},
): Promise<DeviceService> {
  const asked: Asked[] = []
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a port, for it listens on TCP
  const issuer = `http://127.0.0.1:${port}`
  const answers: Record<string, (form: URLSearchParams) => Answer> = {
    '/.well-known/oauth-authorization-server': () => ({
      status: 200,
      body: {
        issuer,
        token_endpoint: `${issuer}/token`,
        revocation_endpoint: `${issuer}/revoke`,
        device_authorization_endpoint: `${issuer}/device`,
      },
    }),
    '/device': () => ({
      status: 200,
      body: {
        device_code: `gwd_${'d'.repeat(80)}`,
        user_code: 'WDJB-MJHT',
        verification_uri: `${issuer}/go`,
        expires_in: 600,
        interval: 0.2,
        ...codes,
      },
    }),
    '/token': (form) => {
      if (form.get('grant_type') === 'refresh_token') return now(others['refresh']) ?? refusal('invalid_grant')
      return polls.shift() ?? refusal('authorization_pending')
    },
    '/api/user': () => ({ status: 200, body: { name: 'Ada\u001b[31m', username: 'ada' } }),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const part of request) text += part
    const path = request.url ?? ''
    const form = new URLSearchParams(text)
    asked.push({ path, form, authorization: request.headers.authorization, at: performance.now() })
    const reply = now(others[path]) ?? answers[path]?.(form) ?? { status: 200, body: {} }
    if (reply === 'hang up') response.destroy()
    else response.writeHead(reply.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(reply.body))
  }

  return {
    issuer,
    asked,
    pauses: () => {
      const times = asked.filter(({ path }) => path === '/device' || path === '/token').map(({ at }) => at)
      return times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / 1000)
    },
    end: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function now(reply: Reply | undefined): Answer | undefined {
  return typeof reply === 'function' ? reply() : reply
}

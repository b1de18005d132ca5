/**
 * A service for other people's clients: on loopback, with the defaults of every option but those that it cannot be without. It has
 * a guarded route, a user who is signed in by a cookie, and a record of how each client presented itself.
 * @module
 */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AuthorizationServerOptions, createAuthorizationServer } from 'grantwell'
import { createNodeHandler, sendResponse } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { listen } from '../adapters/http.js'
import { sessionUser } from '../adapters/suite.js'
import { registration } from '../support.js'

/** The scopes that the clients ask for, and that the guarded route needs. */
export const SCOPES: readonly string[] = ['repo-code:r', 'account-profile:r']

/** A way in which a client presents itself to the token endpoint. */
export type Authentication = 'Basic' | 'body' | 'identifier alone'

/** A request of a client, as far as the tests compare it. */
export interface Seen {
  readonly path: string
  readonly parameters: Readonly<Record<string, string>>
  readonly authentication: Authentication
}

/** An application that is registered. */
export interface Application {
  readonly clientId: string
  /** Absent if the application is public. */
  readonly clientSecret?: string
}

/** A service that listens. */
export interface Service {
  readonly issuer: string
  /** The guarded route. It answers with the claims that a user's profile has. */
  readonly api: string
  /** The requests that came, in order. */
  readonly seen: Seen[]
  readonly server: ReturnType<typeof createAuthorizationServer>
  /** Registers an application of its own for a test. @param path - of its redirect URI on loopback */
  readonly register: (type: 'confidential' | 'public', path: string) => Promise<Application>
  readonly close: () => Promise<void>
}

/** Opens a service on a free port of loopback. */
export async function openService(options: Partial<AuthorizationServerOptions> = {}): Promise<Service> {
  const seen: Seen[] = []
  let handle: ReturnType<typeof createNodeHandler> = () => {}
  const listening = await listen((request, response) => {
    const { pathname } = new URL(request.url ?? '/', listening.origin)
    if (pathname === '/api') return answer(request, response)
    watch(request, seen)
    return handle(request, response)
  })
  const issuer = listening.origin
  const server = createAuthorizationServer({
    issuer,
    store: memoryStore(),
    user: sessionUser,
    signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
    ...options,
  })
  handle = createNodeHandler(server)

  /** Answers the guarded route. */
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const found = await server.authenticate(request, { scope: 'account-profile:r' })
    if (found.type === 'refused') return sendResponse(response, found.response)
    const { subject, scopes } = found
    const body = { sub: subject, id: subject, name: 'Ada', email: 'ada@git.example', scope: scopes.join(' ') }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(body))
  }

  let registered = 0
  const register: Service['register'] = async (type, path) => {
    const clientId = `app-${++registered}`
    const changes = { type, redirectUris: [`http://127.0.0.1${path}`], deviceFlow: true } as const
    const clientSecret = randomBytes(32).toString('base64url')
    const credentials = type === 'public' ? { clientId } : { clientId, clientSecret }
    await server.applications.register(registration(changes), credentials)
    return credentials
  }
  return { issuer, api: `${issuer}/api`, seen, server, register, close: listening.close }
}

/** Notes what a request of a client says, while the service reads it. */
function watch(request: IncomingMessage, seen: Seen[]): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const body = new URLSearchParams(Buffer.concat(parts).toString())
    const parameters = Object.fromEntries([...searchParams, ...body])
    // An empty secret is none.
    const inBody = (parameters['client_secret'] ?? '') === '' ? 'identifier alone' : 'body'
    const authentication = /^Basic /i.test(request.headers.authorization ?? '') ? 'Basic' : inBody
    seen.push({ path: pathname, parameters, authentication })
  })
}

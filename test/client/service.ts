/**
 * Services for the tests of the client, over HTTP: a real one whose answers can get lost, and one that answers as it is told.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuthorizationServerOptions } from 'grantwell'
import type { Tokens } from 'grantwell/client'
import { createNodeHandler } from 'grantwell/node'
import { expect } from 'vitest'
import { type Answer, listen, sender } from '../adapters/http.js'
import { Browser, locationOf } from '../demo/walk.js'
import { hiddenFields, registration, type TestServer, testServer } from '../support.js'

/** A confidential client that is registered with a redirect URI on loopback, for logins by a browser. */
export const DESKTOP = { clientId: 'desktop', clientSecret: 'a-secret-of-the-desktop-application' }

/** The least that tokens have. */
export const TOKENS: Tokens = {
  v: 1,
  issuer: 'https://git.example',
  clientId: 'tool',
  accessToken: 'access',
  issuedAt: 1_800_000_000,
  tokenType: 'bearer',
}

/** Sees a request before the service does; true where it has dealt with it. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean

export type ServiceOptions = Partial<AuthorizationServerOptions>

/** A real service. */
export interface Service {
  readonly issuer: string
  readonly test: TestServer
  /** The paths that were asked for, in order. */
  readonly paths: string[]
  /** Faults of the next requests of a path, one for each request. */
  readonly faults: { readonly path: string; readonly fault: Fault }[]
  readonly close: () => Promise<void>
}

/** Opens a service on a free port; its user is signed in. Its options may depend on its issuer. */
export async function openService(
  options: ServiceOptions | ((issuer: string) => ServiceOptions) = {},
): Promise<Service> {
  const paths: string[] = []
  const faults: Service['faults'] = []
  let handle: ReturnType<typeof createNodeHandler> = () => {}
  const listening = await listen((request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    paths.push(path)
    const index = faults.findIndex((each) => each.path === path)
    const [found] = index < 0 ? [] : faults.splice(index, 1)
    if (found?.fault(request, response) !== true) handle(request, response)
  })
  const own = typeof options === 'function' ? options(listening.origin) : options
  const test = await testServer({ issuer: listening.origin, ...own })
  const loopback = registration({ name: 'Desktop', redirectUris: ['http://127.0.0.1/callback'] })
  await test.server.applications.register(loopback, DESKTOP)
  handle = createNodeHandler(test.server)
  return { issuer: listening.origin, test, paths, faults, close: listening.close }
}

/** The connection breaks before the service has seen the request. */
export const breaks: Fault = (request) => {
  request.socket.destroy()
  return true
}

/** The service does its work, and nobody hears of it. */
export const losesAnswer: Fault = (request, response) => {
  response.writeHead = () => response
  response.end = () => {
    request.socket.destroy()
    return response
  }
  return false
}

/** No answer ever comes. */
export const hangs: Fault = () => true

/** Goes wrong with every request of a path, from now on. */
export function always({ faults }: Service, path: string, fault: Fault): void {
  const again: Fault = (...args) => {
    faults.push({ path, fault: again })
    return fault(...args)
  }
  faults.push({ path, fault: again })
}

/** The user at the page of the device flow: types the code and decides. */
export async function decide(issuer: string, userCode: string, decision: 'agree' | 'refuse'): Promise<void> {
  const browser = new Browser()
  const page = `${issuer}/oauth2/device`
  const entry = hiddenFields(await (await browser.get(page)).text())
  const consent = hiddenFields(await (await browser.post(page, { ...entry, user_code: userCode })).text())
  const answer = await browser.post(page, { ...consent, resource_scope: 'all', decision })
  expect(answer.status).toBe(200)
}

/** The user at the consent page: opens the address, and decides. Where the service then sends the browser. */
export async function consent(url: string, decision: 'agree' | 'refuse' = 'agree'): Promise<URL> {
  const browser = new Browser()
  const page = await (await browser.get(url)).text()
  const answer = await browser.post(new URL('/oauth2/auth', url), {
    ...hiddenFields(page),
    resource_scope: 'all',
    decision,
  })
  expect(answer.status, await answer.text()).toBe(302)
  return locationOf(answer)
}

/** Reads the parameters of an authorization request from its address. */
export function requested(url: string): {
  readonly port: number
  readonly redirectUri: string
  readonly state: string
} {
  const { searchParams } = new URL(url)
  const redirectUri = searchParams.get('redirect_uri') ?? ''
  return { port: Number(new URL(redirectUri).port), redirectUri, state: searchParams.get('state') ?? '' }
}

/** Gets an address of loopback, as the browser does that comes back to it. */
export function visit(url: URL): Promise<Answer> {
  return sender(Number(url.port))({ path: url.pathname + url.search, headers: { host: url.host } })
}

/** The answer of a fake service. `hang` is no answer, `cut` one that breaks off after some bytes, `stall` one that stops there. */
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, unless it is text. */
  readonly body?: unknown
  readonly how?: 'hang' | { readonly cut: number } | { readonly stall: number }
}

/** A request that a made-up service got. */
export interface Asked {
  readonly path: string
  readonly method: string
  readonly form: Readonly<Record<string, string>>
  readonly authorization: string | undefined
}

export interface MadeUp {
  readonly issuer: string
  readonly asked: Asked[]
  /** The answers of a path, in order; the last one again and again. */
  readonly replies: Record<string, Reply[]>
  readonly close: () => Promise<void>
}

const METADATA = '/.well-known/oauth-authorization-server'

/** A service whose every answer a test writes; its metadata are sound, unless they are written as well. */
export async function madeUp(replies: Record<string, Reply[]> = {}, metadata: object = {}): Promise<MadeUp> {
  const asked: Asked[] = []
  const listening = await listen((request, response) => void answer(request, response))
  const issuer = listening.origin
  const sound = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    device_authorization_endpoint: `${issuer}/device`,
    ...metadata,
  }
  const all: MadeUp['replies'] = { [METADATA]: [{ body: sound }], ...replies }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const part of request) text += part
    const [path = ''] = (request.url ?? '').split('?')
    const { authorization } = request.headers
    asked.push({
      path,
      method: request.method ?? '',
      form: Object.fromEntries(new URLSearchParams(text)),
      authorization,
    })
    const queue = all[path] ?? [{ status: 404 }]
    const { status = 200, headers = {}, body = '', how } = (queue.length > 1 ? queue.shift() : queue[0]) ?? {}
    if (how === 'hang') return
    const whole = typeof body === 'string' ? body : JSON.stringify(body)
    const type = typeof body === 'string' ? 'text/html' : 'application/json'
    response.writeHead(status, { 'Content-Type': type, ...headers })
    if (how === undefined) {
      response.end(whole)
      return
    }
    response.write(whole.slice(0, 'cut' in how ? how.cut : how.stall), () => {
      if ('cut' in how) setTimeout(() => request.socket.destroy(), 20)
    })
  }
  return { issuer, asked, replies: all, close: listening.close }
}

/** Returns the error of a promise. */
export async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => expect.fail(`no failure, but ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
}

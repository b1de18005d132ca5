/**
 * Somebody who uses the console in a browser: it keeps cookies, reads forms and sends them.
 * @module
 */
import type { AuthorizationServerOptions, HttpRequest, HttpResponse } from 'grantwell'
import type { ConsoleOptions } from 'grantwell/console'
import { createConsole } from 'grantwell/console'
import { expect } from 'vitest'
import type { Form } from '../../src/testing/check-pages/document.js'
import { readDocument } from '../../src/testing/check-pages/document.js'
import type { TestServer } from '../support.js'
import { LOGO, testServer } from '../support.js'

/** The console's first page. */
export const HOME = '/oauth2/console'

/** A page that somebody sees. */
export interface Seen {
  readonly status: number
  readonly body: string
  readonly headers: HttpResponse['headers']
  readonly forms: readonly Form[]
  /** The words that a reader sees, without tags. */
  readonly text: string
}

/** A server with a console. The user of a request is who the header `x-user` says; `root` administrates. */
export interface ConsoleTest extends TestServer {
  readonly console: ReturnType<typeof createConsole>
}

/** Makes a server with a console. */
export async function consoleServer(
  options: Partial<AuthorizationServerOptions> = {},
  consoleOptions: ConsoleOptions = {},
): Promise<ConsoleTest> {
  const session: TestServer['session'] = { user: undefined }
  const userOf = ({ headers }: Pick<HttpRequest, 'headers'>) => {
    const subject = headers['x-user']
    return typeof subject === 'string' ? { subject, name: subject } : session.user
  }
  const test = await testServer({ user: userOf, ...options })
  const administrator: ConsoleOptions['administrator'] = (request) => {
    const user = userOf(request)
    return user?.subject === 'root' || user?.subject === 'boss' ? user : undefined
  }
  return { ...test, session, console: createConsole(test.server, { administrator, ...consoleOptions }) }
}

/** The values of a form's fields: text, several texts, or a file. */
export type Fields = Readonly<Record<string, string | readonly string[] | Uint8Array | undefined>>

/** A browser in which somebody is signed in. */
export class Visitor {
  #cookie = ''
  readonly #console: ConsoleTest['console']
  readonly #headers: Readonly<Record<string, string>>

  constructor(
    { console }: Pick<ConsoleTest, 'console'>,
    user?: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.#console = console
    this.#headers = { ...headers, ...(user !== undefined && { 'x-user': user }) }
  }

  /** Opens a page. */
  open(url: string): Promise<Seen> {
    return this.#send({ method: 'GET', url })
  }

  /** Sends the form of a page with an action. */
  async act(page: Seen, action: string, fields: Fields = {}): Promise<Seen> {
    return this.submit(formOf(page, action), fields)
  }

  /** Sends a form with its hidden fields, and others. */
  async submit(form: Form, fields: Fields = {}): Promise<Seen> {
    const hidden = form.controls.filter(({ hidden: isHidden }) => isHidden).map(({ name, value }) => [name, value])
    const all: Fields = { ...Object.fromEntries(hidden), ...fields }
    const isMultipart = form.controls.some(({ name }) => name === 'logo')
    if (isMultipart) return this.#send(await multipart(form.action, all))
    const body = new URLSearchParams()
    for (const [name, value] of Object.entries(all))
      for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) body.append(name, String(each))
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    return this.#send({
      method: 'POST',
      url: form.action,
      headers: type,
      body: { type: 'text', text: body.toString() },
    })
  }

  async #send(
    request: Omit<Parameters<ConsoleTest['console']['handle']>[0], 'native' | 'headers'> & { headers?: object },
  ) {
    const headers = {
      ...this.#headers,
      ...(this.#cookie !== '' && { cookie: this.#cookie }),
      ...request.headers,
    }
    const response =
      (await this.#console.handle({ ...request, headers, native: undefined })) ?? expect.fail(request.url)
    this.#cookie = response.headers['Set-Cookie']?.split(';')[0] ?? this.#cookie
    const body = typeof response.body === 'string' ? response.body : ''
    const { forms, text } = readDocument(body)
    return { status: response.status, body, headers: response.headers, forms, text: text.replace(/\s+/g, ' ') }
  }
}

/** Returns the form of a page with an action. */
export function formOf({ forms, text }: Seen, action: string): Form {
  const found = forms.find(({ controls }) => controls.some(({ name, value }) => name === 'action' && value === action))
  return found ?? expect.fail(`no form ${action}: ${text}`)
}

async function multipart(url: string, fields: Fields) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    if (value instanceof Uint8Array) form.append(name, new File([Uint8Array.from(value)], 'logo'))
    else
      for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) form.append(name, String(each))
  const response = new Response(form)
  const bytes = new Uint8Array(await response.arrayBuffer())
  const headers = { 'content-type': response.headers.get('content-type') ?? '' }
  return { method: 'POST', url, headers, body: { type: 'bytes', bytes } as const }
}

/** The fields of a sound application. */
export const SOUND: Fields = {
  name: 'Mirror',
  website: 'https://mirror.example',
  description: 'Keeps a copy.',
  type: 'confidential',
  redirectUris: 'https://mirror.example/callback',
  redirectMatching: 'domain',
  authorizedDomain: '',
  scope: ['repo-code:rw', 'account-profile:r'],
  'reason repo-code:rw': 'To push',
  'reason account-profile:r': 'To greet you',
  resourceScope: 'all',
  logo: LOGO,
}

/** Hands in an application, and returns the page of it and its identifier. */
export async function handIn(
  visitor: Visitor,
  fields: Fields = SOUND,
): Promise<{ readonly page: Seen; readonly id: string }> {
  const { forms } = await visitor.open(`${HOME}/new`)
  const page = await visitor.submit(forms[0] ?? expect.fail('no form'), fields)
  const id = /\/applications\/([\w-]+)\/edit/.exec(page.body)?.[1] ?? expect.fail(page.text)
  return { page, id }
}

/** Returns the client secrets that a page shows. */
export const secretsIn = ({ body }: Seen): readonly string[] =>
  [...body.matchAll(/<dt>Client secret<\/dt><dd><code dir="ltr">([^<]+)/g)].map(([, secret = '']) => secret)

/** Returns the client secret that a page shows. */
export function secretIn(seen: Seen): string {
  return secretsIn(seen)[0] ?? expect.fail(seen.text)
}

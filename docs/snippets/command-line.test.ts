/**
 * The code of docs/guides/command-line.md: a tool that logs its user in, keeps the tokens, calls the API and logs out.
 * @module
 */

// #region imports
import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Client, ClientError, TokenStore, Tokens } from 'grantwell/client'
import { authorizedFetch, createTokenSource, discover, login, requiredScope, revokeTokens } from 'grantwell/client'
import { fileTokenStore, loginByBrowser } from 'grantwell/client/node'
import type { Registration } from 'grantwell'
// #endregion imports
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createNodeGuard } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Service } from '../../test/client/service.js'
import { always, breaks, consent, decide, openService, visit } from '../../test/client/service.js'
import { messageOf, readPage } from './page-words.js'

// #region registration
const registration: Registration = {
  name: 'My tool',
  logo: readFileSync(new URL('logo.png', import.meta.url)), // a PNG, JPEG, GIF or WebP
  website: 'https://my-tool.example',
  type: 'public', // a tool that its users install cannot keep a secret
  redirectUris: ['http://127.0.0.1/callback'], // any port is allowed; loginByBrowser needs this one
  scopes: ['repo-code:rw', 'account-profile:r'],
  resourceScope: 'all',
  deviceFlow: true, // only if the tool uses login()
}
// #endregion registration

async function createTool() {
  // #region source
  const issuer = process.env['MY_TOOL_ISSUER'] ?? 'https://git.example'
  const configuration = process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config')

  const client = await discover({ issuer, clientId: 'my-tool' })
  const store = fileTokenStore(join(configuration, 'my-tool', 'tokens.json'))
  const source = createTokenSource({ client, store })
  // #endregion source

  // #region browser
  async function logIn(options: { readonly noBrowser: boolean }): Promise<void> {
    await store.exclusively(async () => store.read()) // fails here if tokens cannot be kept
    const tokens = await loginByBrowser(client, {
      scope: 'repo-code:r',
      onUrl: (url) => console.log(`Your browser opens ${url}`),
      ...(options.noBrowser && { openBrowser: false }),
    })
    await keep(tokens)
  }
  // #endregion browser

  // #region device
  async function logInOnAnotherDevice(): Promise<void> {
    await store.exclusively(async () => store.read())
    const tokens = await login(client, {
      scope: 'repo-code:r',
      show: ({ userCode, verificationUri }) => console.log(`Open ${verificationUri} and type in ${userCode}`),
    })
    await keep(tokens)
  }
  // #endregion device

  // #region keep
  async function keep(tokens: Tokens): Promise<void> {
    const before = await store.read()
    await source.save(tokens)
    if (before !== undefined) await revokeTokens(client, before) // otherwise the older login lives on at the service
  }
  // #endregion keep

  // #region call
  const api = authorizedFetch(source) // to the origin of the issuer; { origins: ['https://api.example'] } adds others

  async function whoAmI(): Promise<string> {
    const response = await api(`${issuer}/api/profile`)
    if (!response.ok) throw new Error(reasonOf(response, await source.get()))
    return response.text()
  }
  // #endregion call

  // #region more
  async function publish(): Promise<Response> {
    const send = () => api(`${issuer}/api/packages`, { method: 'POST' })
    const response = await send()
    const scope = requiredScope(response, await source.get())
    if (scope === undefined) return response
    await keep(await loginByBrowser(client, { scope, onUrl: (url) => console.log(`Your browser opens ${url}`) }))
    return send() // once: if the API refuses it again, one more login does not help
  }
  // #endregion more

  // #region logout
  async function logOut(): Promise<void> {
    await source.revoke()
    console.log('You are logged out.')
  }
  // #endregion logout

  return { store, client, source, logIn, logInOnAnotherDevice, api, whoAmI, publish, logOut }
}

// #region answers
function reasonOf(response: Response, tokens: Tokens): string {
  const { status, headers } = response
  const scope = requiredScope(response, tokens)
  if (status === 403 && scope !== undefined) return `Not permitted. Run: my-tool login --scope "${scope}"`
  if (status === 403) return 'Not permitted: you chose other resources at login, or you may not do this.'
  if (status === 503) return `The service is busy. Try again in ${headers.get('retry-after') ?? 'a few'} seconds.`
  return `the service answered ${status}`
}
// #endregion answers

// #region errors
function explain(error: unknown): string {
  if (error instanceof TypeError) return `The API does not answer: ${error.message}` // of fetch itself
  switch ((error as ClientError).code) {
    case 'ERR_AUTHORIZATION_REQUIRED':
      return 'You are not logged in. Run: my-tool login'
    case 'ERR_ACCESS_DENIED':
      return 'You refused, so nothing was stored.'
    case 'ERR_LOGIN_EXPIRED':
      return 'The login took too long. Start it again.'
    case 'ERR_UNREACHABLE':
      return 'The service does not answer. Try again later.'
    default:
      return error instanceof Error ? error.message : String(error)
  }
}
// #endregion errors

// #region stored-metadata
async function discoverOrStored(issuer: string, file: string): Promise<Client> {
  const withStored: typeof fetch = async (input, init) => {
    if (!String(input).includes('/.well-known/oauth-authorization-server')) return fetch(input, init)
    return fetch(input, { ...init, signal: AbortSignal.timeout(3000) }).catch(async () => {
      return new Response(await readFile(file), { headers: { 'content-type': 'application/json' } })
    })
  }
  const client = await discover({ issuer, clientId: 'my-tool', fetch: withStored })
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, JSON.stringify(client.metadata), { mode: 0o600 })
  return client
}
// #endregion stored-metadata

// #region own-store
interface Keychain {
  get(name: string): Promise<string | undefined>
  set(name: string, value: string): Promise<void>
  remove(name: string): Promise<void>
}

function keychainStore(keychain: Keychain): TokenStore {
  let last: Promise<unknown> = Promise.resolve()
  return {
    async read() {
      const text = await keychain.get('my-tool')
      return text === undefined ? undefined : (JSON.parse(text) as Tokens) // write() put them there
    },
    async write(tokens) {
      if (tokens === undefined) await keychain.remove('my-tool')
      else await keychain.set('my-tool', JSON.stringify(tokens))
    },
    exclusively(action) {
      const result = last.then(action)
      last = result.catch(() => {}) // the next action runs all the same
      return result
    },
  }
}
// #endregion own-store

let service: Service
let folder: string
beforeEach(async () => {
  const clock = () => Math.floor(Date.now() / 1000)
  service = await openService({ store: memoryStore(), clock, devicePollingInterval: 1 })
  const { server } = service.test
  // #region register
  await server.applications.register(registration, { clientId: 'my-tool' })
  // #endregion register
  folder = mkdtempSync(join(tmpdir(), 'grantwell-docs-'))
  vi.stubEnv('MY_TOOL_ISSUER', service.issuer)
  vi.stubEnv('XDG_CONFIG_HOME', folder)
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
  await service.close()
})

/** Stands for a user who follows what the tool prints. */
function userWho(decision: 'agree' | 'refuse'): void {
  vi.spyOn(console, 'log').mockImplementation((text: string) => {
    const url = /browser opens (\S+)/.exec(text)?.[1]
    if (url !== undefined) void consent(url, decision).then(visit)
    const code = /type in (\S+)/.exec(text)?.[1]
    if (code !== undefined) void decide(service.issuer, code, decision)
  })
}

it('logs in by the browser, calls the API, and logs out', async () => {
  userWho('agree')
  const tool = await createTool()
  expect(explain(await tool.whoAmI().catch((error: unknown) => error))).toBe(
    'You are not logged in. Run: my-tool login',
  )
  await tool.logIn({ noBrowser: true })
  expect(await tool.store.read()).toMatchObject({ clientId: 'my-tool', scope: 'repo-code:r' })
  expect(statSync(join(folder, 'my-tool', 'tokens.json')).mode & 0o777).toBe(0o600)
  expect(await messageOf(tool.whoAmI)).toBe('the service answered 404') // after the token: this service has no API
  const { accessToken } = await tool.source.get()
  const works = async () => {
    const found = await service.test.server.authenticate({ headers: { authorization: `Bearer ${accessToken}` } })
    return found.type
  }
  expect(await works()).toBe('authenticated')

  await tool.logIn({ noBrowser: true })
  expect(await works()).toBe('refused')
  const { grants } = await service.test.server.grants.listGrants('ada')
  expect(grants).toHaveLength(1)
  await tool.logOut()
  expect((await service.test.server.grants.listGrants('ada')).grants).toHaveLength(0)
  expect(readdirSync(join(folder, 'my-tool'))).not.toContain('tokens.json')
})

it('logs in by the device flow, and takes a refusal', async () => {
  userWho('agree')
  const tool = await createTool()
  await tool.logInOnAnotherDevice()
  expect(await tool.store.read()).toMatchObject({ clientId: 'my-tool', scope: 'repo-code:r' })
  vi.restoreAllMocks()
  userWho('refuse')
  expect(explain(await tool.logIn({ noBrowser: true }).catch((error: unknown) => error))).toBe(
    'You refused, so nothing was stored.',
  )
})

it('quotes the errors', async () => {
  userWho('agree')
  const page = readPage('guides/command-line')
  const tool = await createTool()
  expect(page).toContain(await messageOf(tool.source.get))
  await tool.logIn({ noBrowser: true })
  await service.test.server.grants.revokeAll('ada')
  const stale = await tool.source.get()
  expect(page).toContain(await messageOf(() => tool.source.refresh(stale)))
  expect(page).toContain(await messageOf(() => tool.api('https://api.example/')))
  await tool.logIn({ noBrowser: true })
  const file = join(folder, 'my-tool', 'tokens.json')
  chmodSync(file, 0o644)
  const message = await messageOf(tool.store.read)
  expect(page).toContain(message.replace(file, '/home/ada/.config/my-tool/tokens.json'))
})

it('keeps tokens in a store of its own', async () => {
  userWho('agree')
  const values = new Map<string, string>()
  const store = keychainStore({
    get: async (name) => values.get(name),
    set: async (name, value) => void values.set(name, value),
    remove: async (name) => void values.delete(name),
  })
  const tool = await createTool()
  await tool.logIn({ noBrowser: true })
  const source = createTokenSource({ client: tool.client, store })
  const tokens = await tool.source.get()
  await source.save(tokens)
  expect((await source.get()).accessToken).toBe(tokens.accessToken)
  expect((await source.refresh(tokens)).accessToken).not.toBe(tokens.accessToken)
  await source.revoke()
  expect(values.size).toBe(0)
})

it('explains the answers of an API, and an API that does not answer', async () => {
  const reasonBehind = async (scope: string) => {
    const tokens = await tool.source.get()
    const request = { headers: { authorization: `Bearer ${tokens.accessToken}` } }
    const found = await service.test.server.guard({ scope })(request, () => undefined) // there is no such resource
    if (found.type !== 'refused') return expect.fail('was let in')
    const challenge = String(found.response.headers['WWW-Authenticate'])
    const { status } = found.response
    return reasonOf(new Response('', { status, headers: { 'www-authenticate': challenge } }), tokens)
  }
  userWho('agree')
  const tool = await createTool()
  await tool.logIn({ noBrowser: true })
  expect(await reasonBehind('repo-code:rw')).toBe(
    'Not permitted. Run: my-tool login --scope "repo-code:r repo-code:rw"',
  )
  expect(await reasonBehind('repo-code:r')).toMatch(/^Not permitted: you chose/)
  const busy = new Response('', { status: 503, headers: { 'retry-after': '7' } })
  expect(reasonOf(busy, await tool.source.get())).toBe('The service is busy. Try again in 7 seconds.')
  always(service, '/api/profile', breaks)
  const error: unknown = await tool.whoAmI().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(TypeError)
  expect(Object.hasOwn(error as object, 'code')).toBe(false)
  expect(explain(error)).toBe('The API does not answer: fetch failed')
})

it('asks for more scopes once the API names them, and once only', async () => {
  userWho('agree')
  const tool = await createTool()
  await tool.logIn({ noBrowser: true })
  const asked: string[] = []
  const route = createNodeGuard(service.test.server)({ scope: 'repo-code:rw' }, (_, response) => {
    response.end('published')
  })
  always(service, '/api/packages', (request, response) => {
    asked.push(request.method ?? '')
    void route(request, response)
    return true
  })
  expect(await (await tool.publish()).text()).toBe('published')
  expect((await tool.source.get()).scope).toBe('repo-code:rw')
  expect(asked).toEqual(['POST', 'POST'])
})

it('starts without the service, by the metadata that it stored', async () => {
  const file = join(folder, 'my-tool', 'service.json')
  always(service, '/.well-known/oauth-authorization-server', breaks)
  await expect(discoverOrStored(service.issuer, file)).rejects.toMatchObject({ code: 'ERR_UNREACHABLE' })
  service.faults.length = 0
  const { metadata } = await discoverOrStored(service.issuer, file)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  always(service, '/.well-known/oauth-authorization-server', breaks)
  expect((await discoverOrStored(service.issuer, file)).metadata).toEqual(metadata)
})

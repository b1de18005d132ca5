/**
 * The code of docs/guides/command-line.md for a tool that knows only the address of an API.
 * @module
 */

// #region imports
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ClientCredentials, ClientRegistration } from 'grantwell/client'
import {
  authorizedFetch,
  createTokenSource,
  deleteRegistration,
  discover,
  discoverResource,
  registerClient,
} from 'grantwell/client'
import { fileTokenStore, loginByBrowser } from 'grantwell/client/node'
// #endregion imports
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { createNodeGuard } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Service } from '../../test/client/service.js'
import { always, consent, openService, visit } from '../../test/client/service.js'

function createTool() {
  // #region register
  const configuration = join(process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'my-tool')
  const fileOf = (issuer: string, name: string) => join(configuration, encodeURIComponent(issuer), name)

  async function credentialsAt(issuer: string): Promise<ClientCredentials> {
    const file = fileOf(issuer, 'registration.json')
    const stored = await readFile(file, 'utf8').catch(() => undefined)
    if (stored !== undefined) return (JSON.parse(stored) as ClientRegistration).credentials
    const registration = await registerClient({
      issuer,
      metadata: {
        client_name: 'My tool',
        client_uri: 'https://my-tool.example',
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none', // a tool that its users install cannot keep a secret
      },
    })
    await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
    await writeFile(file, JSON.stringify(registration), { mode: 0o600 })
    return registration.credentials
  }
  // #endregion register

  // #region find
  async function connect(url: string): Promise<typeof fetch> {
    const { issuer, resource, scope } = await discoverResource({ url, challenge: await fetch(url) })
    const client = await discover({ issuer, resource, ...(await credentialsAt(issuer)) })
    const store = fileTokenStore(fileOf(issuer, `${encodeURIComponent(resource)}.json`))
    const source = createTokenSource({ client, store })
    if ((await store.read()) === undefined) {
      const onUrl = (address: string) => console.log(`Your browser opens ${address}`)
      await source.save(await loginByBrowser(client, { onUrl, ...(scope !== undefined && { scope }) }))
    }
    return authorizedFetch(source, { origins: [new URL(resource).origin] })
  }
  // #endregion find

  // #region delete
  async function forget(issuer: string): Promise<void> {
    await deleteRegistration(JSON.parse(await readFile(fileOf(issuer, 'registration.json'), 'utf8')))
  }
  // #endregion delete
  return { connect, forget }
}

let service: Service
let folder: string
/** The changes of applications. */
const changes: string[] = []

beforeEach(async () => {
  const clock = () => Math.floor(Date.now() / 1000)
  service = await openService((issuer) => ({
    store: memoryStore(),
    clock,
    clientPolicy: () => 'approve' as const,
    onEvent: (event) => {
      if (event.type === 'application' && event.change !== 'submitted') changes.push(event.change)
    },
    audiences: [{ resource: `${issuer}/mcp`, name: 'Tools for agents', scopes: ['repo-code:r'] }],
  }))
  changes.length = 0 // those of the applications that a service of a test has
  const { issuer, test } = service
  const guard = createNodeGuard(test.server)({ audience: `${issuer}/mcp`, scope: 'repo-code:r' }, (_, response) => {
    response.end('tools')
  })
  answer('/mcp', (request, response) => void guard(request, response))
  folder = mkdtempSync(join(tmpdir(), 'grantwell-docs-'))
  vi.stubEnv('XDG_CONFIG_HOME', folder)
  // Stands for a user who opens the address and agrees.
  vi.spyOn(console, 'log').mockImplementation((text: string) => {
    void consent(text.replace('Your browser opens ', '')).then(visit)
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
  await service.close()
})

function answer(path: string, by: (request: IncomingMessage, response: ServerResponse) => unknown): void {
  always(service, path, (request, response) => {
    void by(request, response)
    return true
  })
}

it('finds the service of an API, registers once, logs in for this API, and deletes its registration', async () => {
  const { connect, forget } = createTool()
  const url = `${service.issuer}/mcp`
  const api = await connect(url)
  expect(await (await api(url)).text()).toBe('tools')
  const again = await connect(url)
  expect(await (await again(url)).text()).toBe('tools')
  expect(changes).toEqual(['approved'])
  await forget(service.issuer)
  expect(changes).toEqual(['approved', 'deleted'])
  await expect(again(url)).rejects.toMatchObject({ code: 'ERR_RESPONSE' })
})

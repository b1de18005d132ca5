/**
 * Pages of other origins in a real browser: client libraries as they come, on an origin of their application and on another one.
 * The service is on `127.0.0.1`, the page of the application on `localhost`, so not even their site is the same.
 * @module
 * @see RFC 9700, section 2.6; SECURITY statement 53
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../adapters/http.js'
import { registration, VERIFIER, WEB } from '../support.js'
import { BROWSER_ARGUMENTS, browserOfTests, closePages, openPage } from './chromium.js'
import type { Service } from './service.js'
import { openService } from './service.js'

const executablePath = browserOfTests()
const CLIENTS = fileURLToPath(new URL('./clients/', import.meta.url))

/** The part of a user of oidc-client-ts that the test reads, or the error of a step. */
interface Shown {
  readonly access_token?: string
  readonly refresh_token?: string
  readonly scope?: string
  readonly failed?: string
}

/** Bundles the page of a client library. */
async function bundle(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(CLIENTS, `${name}.mjs`)],
    bundle: true,
    write: false,
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  return outputFiles[0]?.text ?? expect.fail('nothing was built')
}

describe.skipIf(executablePath === undefined)('a page of another origin in Chromium', () => {
  let browser: Browser
  let service: Service
  let site: Awaited<ReturnType<typeof openSite>>

  beforeAll(async () => {
    if (!existsSync(join(CLIENTS, 'node_modules/.package-lock.json')))
      execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: CLIENTS })
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: BROWSER_ARGUMENTS })
  })

  afterEach(async () => {
    await closePages(browser)
    service?.close()
    await site?.close()
  })

  afterAll(() => browser?.close())

  /** Opens a service with the application `page`, and a site with its page. */
  async function open(library: string, options: Parameters<typeof openService>[0] = {}): Promise<Page> {
    service = await openService(options)
    const redirectUris = ['http://localhost/callback']
    const given = registration({ type: 'public', redirectUris, scopes: ['wiki:rw', 'mail:r'] })
    await service.server.applications.register(given, { clientId: 'page' })
    const basic = registration({ redirectUris, scopes: ['wiki:rw', 'mail:r'] })
    await service.server.applications.register(basic, WEB)
    site = await openSite(service.origin, await bundle(library))
    const { page } = await openPage(browser)
    await page.goto(`http://localhost:${site.port}/`)
    return page
  }

  const step = (page: Page, name: string) => page.evaluate<Shown | undefined>(`step(${JSON.stringify(name)})`)

  /** Agrees on the consent page, and comes back to the page of the application. */
  async function agree(page: Page): Promise<void> {
    await page.waitForURL(`${service.origin}/oauth2/auth?**`)
    await page.getByRole('button', { name: 'Agree' }).click()
    await page.waitForURL(`http://localhost:${site.port}/callback?**`)
  }

  /** Asks an endpoint from a page as a script does: the status that the page can read, or the error that it gets instead. */
  const ask = (page: Page, path: string, form: Record<string, string>, init: Record<string, unknown> = {}) =>
    page.evaluate<string>(`
      fetch(${JSON.stringify(service.origin + path)}, {
        method: 'POST', body: new URLSearchParams(${JSON.stringify(form)}), ...${JSON.stringify(init)},
      }).then(
        async (answer) => [answer.status, answer.headers.get('www-authenticate'), await answer.text()].join(' '),
        (error) => String(error),
      )
    `)

  it('signs in, refreshes and revokes by oidc-client-ts, which finds the endpoints itself', async () => {
    const page = await open('oidc-client-ts', { openidConfiguration: true })
    await Promise.all([agree(page), step(page, 'start').catch(() => {})])
    const signedIn = await step(page, 'finish')
    expect(signedIn).toMatchObject({ access_token: expect.stringMatching(/^gwa_/), scope: 'wiki:r mail:r' })
    const refreshed = await step(page, 'refresh')
    expect(refreshed).toMatchObject({ access_token: expect.stringMatching(/^gwa_/) })
    expect(refreshed?.access_token).not.toBe(signedIn?.access_token)
    const call = () => service.server.authenticate({ headers: { authorization: `Bearer ${refreshed?.access_token}` } })
    expect(await call()).toMatchObject({ type: 'authenticated', clientId: 'page' })
    expect(await step(page, 'revoke')).toBeUndefined()
    expect(await call()).toMatchObject({ type: 'refused' })
  })

  it('signs in and refreshes by react-oauth2-code-pkce', async () => {
    // It refreshes when less than 30 seconds are left.
    const page = await open('react-oauth2-code-pkce', { accessTokenLifetime: 20 })
    await Promise.all([agree(page), page.getByRole('button', { name: 'Sign in' }).click()])
    const token = page.locator('#token')
    await expect.poll(() => token.textContent(), { timeout: 300_000 }).toMatch(/^gwa_/)
    const first = await token.textContent()
    await expect.poll(() => token.textContent(), { timeout: 300_000 }).not.toBe(first)
    expect(await token.textContent()).toMatch(/^gwa_/)
    expect(await page.locator('#error').textContent()).toBe('')
  })

  it('reads the errors of its own client, also those behind a preflight, and never with credentials', async () => {
    const page = await open('oidc-client-ts')
    const exchange = { grant_type: 'authorization_code', code: 'none', client_id: 'page' }
    expect(await ask(page, '/oauth2/token', exchange)).toMatch(/^400 .*invalid_grant/)
    const authorization = (secret: string) => ({ headers: { authorization: `Basic ${btoa(`web:${secret}`)}` } })
    const form = { grant_type: 'refresh_token', refresh_token: 'none' }
    expect(await ask(page, '/oauth2/token', form, authorization(WEB.clientSecret))).toMatch(/^400 .*invalid_grant/)
    expect(await ask(page, '/oauth2/token', form, authorization('wrong'))).toMatch(/^401 Basic .*invalid_client/)
    expect(await ask(page, '/oauth2/token', exchange, { credentials: 'include' })).toMatch(/^TypeError/)
    expect(await ask(page, '/oauth2/token', exchange, { headers: { 'x-other': '1' } })).toMatch(/^TypeError/)
    expect(await ask(page, '/oauth2/introspect', { token: 'none' })).toMatch(/^TypeError/)
    const consent = `fetch(${JSON.stringify(service.authorizationUrl())}).then(() => 'read', (error) => String(error))`
    expect(await page.evaluate(consent)).toMatch(/^TypeError/)
  })

  it('[53] cannot read anything of the application from a foreign origin, not even with its code', async () => {
    await open('oidc-client-ts')
    const { page, complaints } = await openPage(browser)
    await page.goto(
      service.authorizationUrl({
        client_id: 'page',
        redirect_uri: `http://localhost:${site.port}/callback`,
        state: 's',
      }),
    )
    await page.getByRole('button', { name: 'Agree' }).click()
    await page.waitForURL(`http://localhost:${site.port}/callback?**`)
    const code = new URL(page.url()).searchParams.get('code') ?? expect.fail('no code')
    const form = { grant_type: 'authorization_code', code, client_id: 'page', code_verifier: VERIFIER }
    await page.goto(`http://127.0.0.1:${site.port}/`)
    for (const path of ['/oauth2/revoke', '/oauth2/device_authorization', '/oauth2/token'])
      expect(await ask(page, path, path === '/oauth2/token' ? form : { client_id: 'page', token: 'x' })).toMatch(
        /^TypeError/,
      )
    expect(complaints.filter((text) => text.includes('blocked by CORS policy'))).toHaveLength(3)
    const document = await page.evaluate(
      `fetch(${JSON.stringify(`${service.origin}/.well-known/oauth-authorization-server`)}).then((answer) => answer.json())`,
    )
    expect(document).toMatchObject({ issuer: service.origin })
  })

  it('reads nothing where the option is false', async () => {
    const page = await open('oidc-client-ts', { openidConfiguration: true, corsOrigins: false })
    expect((await step(page, 'start'))?.failed).toMatch(/Failed to fetch|NetworkError/)
    expect(await ask(page, '/oauth2/token', { grant_type: 'refresh_token', client_id: 'page' })).toMatch(/^TypeError/)
  })
})

/** Opens a site that answers every path with one page, which has a script. */
async function openSite(issuer: string, script: string) {
  const { port, close } = await listen((request, response) => {
    const isScript = request.url === '/page.js'
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html;charset=UTF-8')
    response.end(
      isScript
        ? `globalThis.ISSUER = ${JSON.stringify(issuer)};${script}`
        : '<!doctype html><link rel="icon" href="data:,"><title>Page</title><body><script src="/page.js"></script>',
    )
  })
  return { port, close }
}

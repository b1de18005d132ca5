/**
 * The console of the demo in a real browser without scripts: from the submission of an application to its first token, and to its
 * suspension.
 * @module
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BROWSER_ARGUMENTS, browserOfTests } from '../browser/chromium.js'
import { basic } from '../support.js'
import { builtClone, type Clone, type Demo, startDemo } from './start.js'
import { asAdministrator, callApi } from './walk.js'

const executablePath = browserOfTests()

let clone: Clone
let demo: Demo
let browser: Browser

beforeAll(async () => {
  clone = await builtClone()
  demo = await startDemo(clone.path)
  if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args: BROWSER_ARGUMENTS })
})

afterAll(async () => {
  await browser?.close()
  await demo?.end()
  clone?.remove()
})

/** Opens a page of the service in a browser of its own, and signs in there. */
async function openAs({ username, password }: Pick<Demo, 'username' | 'password'>, path: string): Promise<Page> {
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
  page.setDefaultTimeout(300_000)
  await page.goto(demo.issuer + path)
  await page.getByLabel('User name').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return page
}

/** Opens what suspends the application of the page, and sends it. */
async function suspend(page: Page): Promise<void> {
  await page.locator('summary').filter({ hasText: 'Suspend' }).click()
  await page.getByRole('button', { name: 'Suspend' }).click()
}

it.skipIf(executablePath === undefined)(
  'an application gets from its submission to its first token, and to its suspension',
  async () => {
    const ada = await openAs(demo, '/oauth2/console/new')
    await ada.getByLabel('Name', { exact: true }).fill('Mirror')
    await ada.getByLabel('Logo').setInputFiles('examples/demo/logo.png')
    await ada.getByLabel('Website').fill('http://127.0.0.1:9/')
    await ada.getByLabel('Redirect URIs', { exact: true }).fill('http://127.0.0.1:9/callback')
    await ada.getByRole('button', { name: 'Hand in' }).click()
    expect(await ada.locator('.fault').textContent()).toContain('Nothing was handed in yet.')
    // The logo and the words stay; the scope was forgotten.
    await ada.getByRole('checkbox', { name: 'repo-code:r', exact: false }).first().check()
    await ada.getByLabel('Why repo-code:r is needed').fill('To copy what you push')
    await ada.getByRole('button', { name: 'Hand in' }).click()
    expect(await ada.locator('.notice').textContent()).toContain('The application was handed in.')

    const grace = await openAs(asAdministrator(demo), '/oauth2/console/administration')
    await grace.getByRole('link', { name: 'Mirror' }).click()
    // A double click decides once.
    await grace.getByRole('button', { name: 'Approve' }).dblclick()
    expect(await grace.locator('.notice').textContent()).toMatch(
      /It is approved\.|This form was sent before, and is done\./,
    )

    await ada.goto(`${demo.issuer}/oauth2/console`)
    await ada.getByRole('link', { name: 'Mirror' }).click()
    await ada.getByRole('button', { name: 'New secret' }).dblclick()
    const shown = async (index: number) => (await ada.locator('.notice code').nth(index).textContent()) ?? ''
    const [clientId, clientSecret] = [await shown(0), await shown(1)]

    const query = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: 'http://127.0.0.1:9/callback',
    })
    await ada.goto(`${demo.issuer}/oauth2/auth?${query}`)
    const answered = ada.waitForRequest(/^http:\/\/127\.0\.0\.1:9\/callback/)
    await ada.getByRole('button', { name: 'Agree' }).click()
    const code = new URL((await answered).url()).searchParams.get('code') ?? expect.fail('no code')
    const response = await fetch(`${demo.issuer}/oauth2/token`, {
      method: 'POST',
      headers: basic({ clientId, clientSecret }),
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: 'http://127.0.0.1:9/callback',
      }),
    })
    const { access_token: accessToken } = (await response.json()) as { access_token: string } // an answer of ours
    expect((await callApi(demo.api, accessToken)).status).toBe(200)

    await suspend(grace)
    expect(await grace.locator('.notice').textContent()).toContain('suspended')
    expect((await callApi(demo.api, accessToken)).status).toBe(401)
    await ada.goto(`${demo.issuer}/oauth2/auth?${query}`)
    expect(await ada.title()).toBe('This link cannot be accessed')
    await ada.goto(`${demo.issuer}/oauth2/applications`)
    expect(await ada.getByRole('main').textContent()).toContain('The administrators stopped it')
  },
  300_000,
)

it.skipIf(executablePath === undefined)(
  'no form of another site that an administrator is lured to is taken',
  async () => {
    const page = await openAs(asAdministrator(demo), '/oauth2/console/administration?state=approved')
    await page.getByRole('link', { name: 'Demo command line' }).click()
    await page.getByRole('heading', { name: 'Demo command line', level: 1 }).waitFor()
    // A copy of the page on another port: the same site, so the administrator's cookies go along.
    const copy = (await page.content()).replaceAll('action="/', `action="${demo.issuer}/`)
    const other = createServer((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(copy)
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo // a port, for it listens on TCP
    await page.goto(`http://127.0.0.1:${port}/`)
    await suspend(page)
    await page.waitForURL(`${demo.issuer}/**`)
    expect(await page.locator('.fault').textContent()).toContain('belongs to another session. Nothing was changed.')
    other.close()
    await page.goto(`${demo.issuer}/oauth2/console/administration?state=suspended`)
    expect(await page.getByRole('main').textContent()).not.toContain('Demo command line')
  },
  300_000,
)

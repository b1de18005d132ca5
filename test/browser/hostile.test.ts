/**
 * What a hostile page, a session that ends or a list that changes does to the pages, in a real browser.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { basic, VERIFIER, WEB } from '../support.js'
import { BROWSER_ARGUMENTS, closePages, findChromium, openPage } from './chromium.js'
import { openService, type Service } from './service.js'

const executablePath = findChromium()

const CLIENT = basic({ ...WEB, clientId: 'sample' })

describe.skipIf(executablePath === undefined)('a service in Chromium', () => {
  let browser: Browser
  let service: Service
  let elsewhere: { readonly server: Server; readonly port: number; readonly origin: string }

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: BROWSER_ARGUMENTS })
    elsewhere = await openSite()
    service = await openService({
      signInUrl: (returnTo) => `${elsewhere.origin}/sign-in?return_to=${encodeURIComponent(returnTo)}`,
    })
  })

  afterEach(() => {
    service.session.user = { subject: 'ada', name: 'Ada' }
    return closePages(browser)
  })

  afterAll(async () => {
    await browser?.close()
    service?.close()
    elsewhere?.server.closeAllConnections()
    elsewhere?.server.close()
  })

  async function post(path: string, form: Record<string, string>): Promise<Record<string, string>> {
    const body = new URLSearchParams(form)
    const response = await fetch(`${service.origin}${path}`, { method: 'POST', headers: CLIENT, body })
    return (await response.json()) as Record<string, string> // an answer of ours
  }

  describe('the session ends, and the sign-in page is of another origin', () => {
    /** Presses a button after the session ended. */
    async function pressSignedOut(page: Page, name: string): Promise<void> {
      service.session.user = undefined
      await page.getByRole('button', { name }).click()
      await page.waitForURL(`${elsewhere.origin}/sign-in?**`)
    }

    function returnTo(page: Page): string {
      return new URL(page.url()).searchParams.get('return_to') ?? ''
    }

    it('the consent form leads there, and back to the same request', async () => {
      const { page, complaints } = await openPage(browser)
      const address = service.authorizationUrl()
      await page.goto(address)
      await pressSignedOut(page, 'Agree')
      expect(new URL(returnTo(page)).searchParams.get('client_id')).toBe('sample')
      // It stands in place of the page that said so: Back leads to the request.
      service.session.user = { subject: 'ada', name: 'Ada' }
      await page.goBack()
      await page.waitForURL(address)
      expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([])
    })

    it('so do both forms of a device', async () => {
      const { page } = await openPage(browser)
      const { user_code: code = '' } = await post('/oauth2/device_authorization', {})
      await page.goto(`${service.origin}/oauth2/device?user_code=${code}`)
      await pressSignedOut(page, 'Continue')
      expect(returnTo(page)).toBe(`${service.origin}/oauth2/device?user_code=${code}`)
      service.session.user = { subject: 'ada', name: 'Ada' }
      await page.goto(returnTo(page))
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('button', { name: 'Agree' }).waitFor()
      await pressSignedOut(page, 'Agree')
      expect(returnTo(page)).toBe(`${service.origin}/oauth2/device?user_code=${code}`)
    })

    it('and that of the authorized applications', async () => {
      const { page } = await openPage(browser, { javaScriptEnabled: false })
      await page.goto(service.authorizationUrl())
      await page.getByRole('button', { name: 'Agree' }).click()
      await page.waitForURL('**/callback?**')
      const code = new URL(page.url()).searchParams.get('code') ?? ''
      await post('/oauth2/token', { grant_type: 'authorization_code', code, code_verifier: VERIFIER })
      await page.goto(`${service.origin}/oauth2/applications`)
      await pressSignedOut(page, 'Revoke access')
      expect(returnTo(page)).toBe(`${service.origin}/oauth2/applications`)
    })
  })
})

/** A site that answers everything alike. */
async function openSite(): Promise<{ readonly server: Server; readonly port: number; readonly origin: string }> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>Elsewhere</title><button>Open</button>')
  }).listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a port, for it listens on TCP
  return { server, port, origin: `http://127.0.0.1:${port}` }
}

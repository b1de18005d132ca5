/**
 * Impatient users in a real browser: every form of the pages, sent twice, with a store that is near or far away.
 * @module
 * @see DESIGN, "a form that is sent twice"
 */
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { basic, VERIFIER, WEB } from '../support.js'
import { BROWSER_ARGUMENTS, closePages, findChromium, openPage } from './chromium.js'
import { openService, type Service } from './service.js'

const executablePath = findChromium()

const CLIENT = basic({ ...WEB, clientId: 'sample' })

describe.skipIf(executablePath === undefined).each([0, 50, 500])('with a store %i ms away', (delay) => {
  let browser: Browser
  let service: Service

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: BROWSER_ARGUMENTS })
    service = await openService({ delay })
  })

  afterEach(() => closePages(browser))

  afterAll(async () => {
    await browser?.close()
    service?.close()
  })

  async function post(path: string, form: Record<string, string>) {
    const response = await fetch(`${service.origin}${path}`, {
      method: 'POST',
      headers: CLIENT,
      body: new URLSearchParams(form),
    })
    const body = (await response.json()) as Record<string, string> // an answer of ours
    return { status: response.status, body }
  }

  /** Whether the code that the browser brought is good. */
  async function redeemed(page: Page): Promise<number> {
    const code = new URL(page.url()).searchParams.get('code') ?? ''
    const form = { grant_type: 'authorization_code', code, code_verifier: VERIFIER }
    return (await post('/oauth2/token', form)).status
  }

  async function openConsent(): Promise<Page> {
    const { page } = await openPage(browser)
    page.setDefaultTimeout(300_000)
    await page.goto(service.authorizationUrl())
    return page
  }

  it('a double click on "Agree" brings the user to the application, with a code that is good', async () => {
    const page = await openConsent()
    await page.getByRole('button', { name: 'Agree' }).dblclick()
    await atApplication(page)
    expect(await redeemed(page)).toBe(200)
  })

  it('so does a second click a moment later, while the first is still under way', async () => {
    for (const moment of [30, 100, 300]) {
      const page = await openConsent()
      await clickTwice(page, page.getByRole('button', { name: 'Agree' }), moment)
      await atApplication(page)
      expect(await redeemed(page)).toBe(200)
    }
  })

  it('and a double click on "Refuse", with the refusal', async () => {
    const page = await openConsent()
    await page.getByRole('button', { name: 'Refuse' }).dblclick()
    await atApplication(page)
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
  })

  it('a double click on the pages of a device connects it', async () => {
    const { body } = await post('/oauth2/device_authorization', {})
    const { page } = await openPage(browser)
    page.setDefaultTimeout(300_000)
    await page.goto(`${service.origin}/oauth2/device?user_code=${body['user_code']}`)
    await page.getByRole('button', { name: 'Continue' }).dblclick()
    const agree = page.getByRole('button', { name: 'Agree' })
    await agree.waitFor()
    await agree.dblclick()
    await page.getByRole('heading', { name: 'Your device is connected' }).waitFor()
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: body['device_code'] ?? '' }
    expect((await post('/oauth2/token', form)).status).toBe(200)
  })

  it('a double click on the page of authorized applications leaves it as it is by then', async () => {
    const page = await openConsent()
    await page.getByRole('button', { name: 'Agree' }).click()
    await atApplication(page)
    expect(await redeemed(page)).toBe(200)
    await page.goto(`${service.origin}/oauth2/applications`)
    const remove = page.locator('form button').first()
    await remove.dblclick()
    await expect.poll(() => service.server.grants.listGrants('ada'), { timeout: 300_000 }).toStrictEqual({ grants: [] })
    // The answer to the second click may still take the place of a page that is opened now.
    const opened = () => page.goto(`${service.origin}/oauth2/applications`).then((answer) => answer?.status())
    await expect.poll(() => opened().catch(() => undefined), { timeout: 300_000 }).toBe(200)
    await expect.poll(() => page.locator('form button').count(), { timeout: 300_000 }).toBe(0)
  })
})

/** Waits until the browser is at the application; a navigation that another one takes the place of is none. */
async function atApplication(page: Page): Promise<void> {
  await expect.poll(() => page.url(), { timeout: 300_000 }).toContain('/callback?')
  await page.waitForLoadState()
}

/** Clicks, and clicks again on the same place a moment later, whatever is there by then. */
async function clickTwice(page: Page, button: Locator, milliseconds: number): Promise<void> {
  await button.scrollIntoViewIfNeeded()
  const box = await button.boundingBox()
  const { x = 0, y = 0, width = 0, height = 0 } = box ?? {}
  await page.mouse.click(x + width / 2, y + height / 2)
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  await page.mouse.click(x + width / 2, y + height / 2)
}

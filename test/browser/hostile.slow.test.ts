/**
 * What a hostile page, a session that ends or a list that changes does to the pages, in a real browser.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { basic, VERIFIER, WEB } from '../support.js'
import { BROWSER_ARGUMENTS, closePages, findChromium, openPage } from './chromium.js'
import { HOSTILE, openService, type Service } from './service.js'

const executablePath = findChromium()

const CLIENT = basic({ ...WEB, clientId: 'sample' })

describe.skipIf(executablePath === undefined)('a service in Chromium', () => {
  let browser: Browser
  let service: Service
  let resources: readonly { readonly id: string; readonly name: string }[] = []
  let elsewhere: { readonly server: Server; readonly port: number; readonly origin: string }

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: BROWSER_ARGUMENTS })
    elsewhere = await openSite()
    service = await openService({
      resources: () => resources,
      signInUrl: (returnTo) => `${elsewhere.origin}/sign-in?return_to=${encodeURIComponent(returnTo)}`,
    })
  })

  beforeEach(() => {
    service.session.user = { subject: 'ada', name: 'Ada' }
  })

  afterEach(() => closePages(browser))

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

  describe('a page that opened the window scrolls it', () => {
    /** Opens an address in a small window of its own, from a page of another site. */
    async function openSmall(address: string) {
      const { page: opener, context } = await openPage(browser)
      await opener.goto(`http://localhost:${elsewhere.port}/`)
      await opener.evaluate(`document.querySelector('button').onclick = () => {
        window.opened = open(${JSON.stringify(address)}, 'x', 'width=420,height=260')
      }`)
      const [page] = await Promise.all([context.waitForEvent('page'), opener.getByRole('button').click()])
      await page.waitForLoadState()
      /** Leads the window to a part of its document. */
      const scrollTo = async (fragment: string) => {
        await opener.evaluate(`window.opened.location = ${JSON.stringify(page.url().split('#')[0] + fragment)}`)
        await page.waitForTimeout(200)
      }
      return { page, scrollTo }
    }

    /** Wherever the page is led, no button is seen without the line that says what it is about. */
    async function expectHonest({ page, scrollTo }: Awaited<ReturnType<typeof openSmall>>, buttons: string) {
      const ids = await page.locator('[id]').evaluateAll((elements) => elements.map(({ id }) => id))
      let seen = 0
      for (const fragment of [...ids, ':~:text=Refuse', ':~:text=Continue', 'top']) {
        await scrollTo(`#${fragment}`)
        const shown = await inWindow(page, buttons)
        seen += shown.length
        const isHonest = shown.length === 0 || (await isLineWhole(page))
        expect([fragment, shown, isHonest]).toEqual([fragment, shown, true])
      }
      return seen
    }

    it('who asks, for which account and where the answer goes stay with the buttons', async () => {
      const opened = await openSmall(service.authorizationUrl())
      expect(await expectHonest(opened, '[name=decision]')).toBeGreaterThan(0)
      const text = await opened.page.locator('.asked').textContent()
      expect(text).toContain(`${HOSTILE} wants to access the account Ada.`)
      expect(text).toContain(`Your answer goes to ${new URL(service.origin).host}.`)
      // Nor does the Tab key leave the line behind.
      await opened.scrollTo('#top')
      await opened.page.locator('[name=resource_scope]:checked').focus()
      await opened.page.keyboard.press('Tab')
      expect(await isLineWhole(opened.page)).toBe(true)
    })

    it.each([
      ['spacing marks', `\u0b95${'\u0bbe'.repeat(400)}`],
      ['joined emoji', Array(200).fill('\u{1f512}').join('\u200d')],
    ])('so do their words, whatever a name is made of: %s', async (_, pile) => {
      service.session.user = { subject: 'ada', name: `Ada ${pile} Lovelace` }
      const { page } = await openSmall(service.authorizationUrl())
      await page.locator('.decision').scrollIntoViewIfNeeded()
      for (const words of ['Your answer goes to', 'Agree', 'Refuse'])
        expect([words, ...(await acrossWindow(page, words))]).toEqual([words, true])
    })

    it('so do the code of a device and its warning, on every page of it', async () => {
      const { user_code: code = '' } = await post('/oauth2/device_authorization', {})
      const entry = await openSmall(`${service.origin}/oauth2/device`)
      expect(await expectHonest(entry, 'button')).toBeGreaterThan(0)
      const opened = await openSmall(`${service.origin}/oauth2/device?user_code=${code}`)
      await expectHonest(opened, 'button')
      await opened.page.getByRole('button').click()
      await opened.page.waitForLoadState()
      expect(await expectHonest(opened, '[name=decision]')).toBeGreaterThan(0)
      expect(await opened.page.locator('.asked').textContent()).toContain(`shows the code ${code}.`)
    })
  })

  it('another origin of the same site cannot tell which logos the browser has', async () => {
    const { page } = await openPage(browser)
    const timesAsked = () => service.asked.filter((path) => path.startsWith('/oauth2/logo?')).length
    const before = timesAsked()
    for (let time = 0; time < 2; time++) {
      await page.goto(service.authorizationUrl({ state: `${time}` }))
      await page.waitForLoadState('networkidle')
    }
    const logo = await page.locator('img').evaluate((image) => (image as unknown as { readonly src: string }).src) // an image
    // Our own page has it from the cache.
    expect(timesAsked() - before).toBe(1)
    await page.goto(elsewhere.origin)
    await page.evaluate(`fetch(${JSON.stringify(logo)}, { mode: 'no-cors', cache: 'force-cache' }).catch(() => {})`)
    expect(timesAsked() - before).toBe(2)
  })

  describe('a list of resources changes, and the browser fills the page in again', () => {
    const one = { id: '1', name: 'ada/one' }
    const two = { id: '2', name: 'ada/two' }

    it.each([
      ['Reload', async (page: Page) => void (await page.reload())],
      [
        'Back',
        async (page: Page) => {
          await page.goto(`${service.origin}/elsewhere`)
          await page.goBack()
        },
      ],
    ])('%s brings a consent page on which nothing is chosen that was not chosen there', async (_, again) => {
      const { page } = await openPage(browser)
      resources = [one, two]
      await page.goto(service.authorizationUrl())
      await page.getByLabel('Only the resources that you choose').check()
      await page.getByLabel('ada/two').check()
      resources = [{ id: '9', name: 'eve/new' }, one, two]
      await again(page)
      await page.getByText('eve/new').waitFor({ state: 'attached' })
      expect(await page.locator('input:checked').evaluateAll((inputs) => inputs.map((each) => each.outerHTML))).toEqual(
        [expect.stringContaining('value="all"')],
      )
    })

    it('nor does the device page have what was typed before', async () => {
      const { page } = await openPage(browser)
      await page.goto(`${service.origin}/oauth2/device`)
      await page.getByRole('textbox').fill('WDJB-MJHT')
      await page.goto(`${service.origin}/elsewhere`)
      await page.goBack()
      expect(await page.getByRole('textbox').inputValue()).toBe('')
    })
  })

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

/** Returns the tops and bottoms of elements that are in the window with more than their edge. */
function inWindow(page: Page, selector: string): Promise<readonly (readonly [number, number])[]> {
  // Of numbers, as it is written.
  return page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .map((element) => element.getBoundingClientRect())
    .filter(({ top, bottom }) => top < innerHeight - 10 && bottom > 10)
    .map(({ top, bottom }) => [Math.round(top), Math.round(bottom)])`)
}

/** Whether the line that says what the buttons are about is in the window as a whole. */
/** Tells for each element around the buttons that has these words whether the words are between the sides of the window. */
function acrossWindow(page: Page, words: string): Promise<readonly boolean[]> {
  return page.evaluate(`(() => {
    const walk = document.createTreeWalker(document.querySelector('.decision'), NodeFilter.SHOW_TEXT)
    const found = []
    for (let text = walk.nextNode(); text !== null; text = walk.nextNode()) {
      const at = text.data.indexOf(${JSON.stringify(words)})
      if (at < 0) continue
      const range = document.createRange()
      range.setStart(text, at)
      range.setEnd(text, at + ${words.length})
      const { left, right } = range.getBoundingClientRect()
      found.push(left >= 0 && right <= innerWidth)
    }
    return found
  })()`)
}

async function isLineWhole(page: Page): Promise<boolean> {
  const [line] = await inWindow(page, '.asked')
  return line !== undefined && line[0] >= 0 && line[1] <= (page.viewportSize()?.height ?? 260)
}

/** A site that answers everything alike. */
async function openSite(): Promise<{ readonly server: Server; readonly port: number; readonly origin: string }> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>Elsewhere</title><button>Open</button>')
  }).listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a port, for it listens on TCP
  return { server, port, origin: `http://127.0.0.1:${port}` }
}

/** The pages in a browser, under the policy that the server sends: what only a browser can tell. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { stylesheet } from 'grantwell/pages'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { BROWSER_ARGUMENTS, browserOfTests, closePages } from '../browser/chromium.js'
import {
  authorizedApplicationsPage,
  consentPage,
  devicePage,
  deviceResultPage,
  errorPage,
  inaccessibleLink,
} from './english.js'
import {
  plainApplication,
  plainApplications,
  plainComplete,
  plainDevice,
  plainDeviceConsent,
  plainDeviceResult,
  plainGrant,
  plainModel,
} from './models.js'

const executablePath = browserOfTests()
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

const plainPages: Readonly<Record<string, string>> = {
  consent: consentPage(plainModel),
  'consent on a device': consentPage(plainDeviceConsent),
  error: errorPage({ ...inaccessibleLink, stylesheet: plainModel.stylesheet }),
  device: devicePage({ ...plainDevice, fault: 'x' }),
  'device with the code of a link': devicePage(plainComplete),
  'device with its answer': deviceResultPage(plainDeviceResult),
  applications: authorizedApplicationsPage(plainApplications),
}

const long = 'W'.repeat(300)
const longScopes = [{ scope: 'x', permission: 'r', description: long }] as const
const longConsent = {
  ...plainModel,
  application: { name: long, description: long, website: long },
  redirectHost: long,
  scopes: longScopes,
  resources: { ...plainModel.resources, items: [{ id: 'x', name: long, checked: false }] },
}
const longGrant = { ...plainGrant, scopes: longScopes, resources: { kind: 'specified', items: [long] } } as const
const longPages: Readonly<Record<string, string>> = {
  consent: consentPage(longConsent),
  'consent on a device': consentPage({ ...plainDeviceConsent, userCode: long }),
  error: errorPage({ title: long, message: long, stylesheet: plainModel.stylesheet }),
  device: devicePage({ ...plainDevice, user: { name: long }, userCode: long, fault: long }),
  'device with the code of a link': devicePage({ ...plainComplete, userCode: long }),
  'device with its answer': deviceResultPage({ ...plainDeviceResult, application: { name: long } }),
  applications: authorizedApplicationsPage({
    ...plainApplications,
    applications: [{ ...plainApplication, name: long, website: long, grants: [longGrant] }],
    fault: long,
  }),
}

/** A name that a registration admits: letters, each with 31 marks that are drawn below one another. */
const piled = `a${'\u0323'.repeat(31)}`.repeat(24)
const piledApplication = { ...plainModel.application, name: piled }
const piledPages: Readonly<Record<string, string>> = {
  consent: consentPage({ ...plainModel, application: piledApplication }),
  'consent on a device': consentPage({ ...plainDeviceConsent, application: piledApplication }),
  'device with its answer': deviceResultPage({ ...plainDeviceResult, application: piledApplication }),
  'device with its refusal': deviceResultPage({
    ...plainDeviceResult,
    decision: 'refuse',
    application: piledApplication,
  }),
  applications: authorizedApplicationsPage({
    ...plainApplications,
    applications: [{ ...plainApplication, name: piled }],
  }),
}

describe.skipIf(executablePath === undefined)('the pages in Chromium', () => {
  let document = ''
  let server: Server
  let browser: Browser

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const headers = { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' }
      const send = (type: string, body: string) =>
        response.writeHead(200, { ...headers, 'Content-Type': `${type}; charset=utf-8` }).end(body)
      if (request.url === '/favicon.ico') return response.writeHead(204).end()
      if (request.url === plainModel.stylesheet) return send('text/css', stylesheet)
      if (request.method === 'GET') return send('text/html', document)
      return send('text/plain', (await request.toArray()).join(''))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: BROWSER_ARGUMENTS })
  })

  afterEach(() => closePages(browser))

  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  async function open(shown: string, options: { readonly width?: number; readonly hash?: string } = {}) {
    document = shown
    const page = await browser.newPage({ viewport: { width: options.width ?? 1000, height: 800 } })
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('dialog', (dialog) => complaints.push(dialog.message()))
    // A port, for the server listens on TCP.
    const { port } = server.address() as AddressInfo
    await page.goto(`http://127.0.0.1:${port}/page${options.hash ?? ''}`)
    return { page, complaints }
  }

  describe('the consent page', () => {
    it('posts the decision, the choice and the resources', async () => {
      const { page, complaints } = await open(consentPage(plainModel))
      await page.getByLabel('ada/engine').check()
      await page.getByRole('button', { name: 'Agree' }).click()
      await page.waitForURL('**/oauth2/auth')
      expect(await page.textContent('body')).toBe(
        'request=abc&resource_scope=specified&resource=1&resource=2&decision=agree',
      )
      expect(complaints).toEqual([])
    })

    it('is driven by the keyboard alone', async () => {
      const { page } = await open(consentPage(plainModel))
      const names: unknown[] = []
      for (let i = 0; i < 6; i++) {
        await page.keyboard.press('Tab')
        names.push(await focused(page))
      }
      expect(names).toEqual(['', 'specified', '1', '2', 'agree', 'refuse'])
      await page.keyboard.press('Enter')
      await page.waitForURL('**/oauth2/auth')
      expect(await page.textContent('body')).toContain('decision=refuse')
    })

    it('is not submitted by the Enter key in a radio button or a checkbox', async () => {
      const { page } = await open(consentPage(plainModel))
      for (const selector of ['[value="specified"]', '[name="resource"]']) {
        await page.focus(selector)
        await page.keyboard.press('Enter')
        await page.waitForTimeout(100)
        expect(page.url()).toMatch(/\/page$/)
      }
    })

    it('shows the list of resources only while it means something', async () => {
      const { page } = await open(consentPage(plainModel))
      expect(await page.getByLabel('ada/engine').isVisible()).toBe(true)
      await page.getByLabel('All resources of your account').check()
      expect(await page.getByLabel('ada/engine').isVisible()).toBe(false)
    })

    it('keeps the words around a name in their order', async () => {
      const { page } = await open(
        consentPage({ ...plainModel, application: { name: '\u2069\u202Emool', website: 'x' } }),
      )
      const left = (from: number, to: number) =>
        page.evaluate(`(() => {
          const range = document.createRange()
          const text = [...document.querySelector('h1').childNodes].find((node) => node.nodeType === Node.TEXT_NODE)
          range.setStart(text, ${from})
          range.setEnd(text, ${to})
          return range.getBoundingClientRect().left
        })()`)
      expect(Number(await left(0, 1))).toBeLessThan(Number(await left(1, 2)))
    })
  })

  describe('the device page', () => {
    it('posts the code as it was typed, by the Enter key too', async () => {
      const { page, complaints } = await open(devicePage(plainDevice))
      await page.getByRole('textbox', { name: 'Code on your device' }).fill('wdjb mjht')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/oauth2/device')
      expect(await page.textContent('body')).toBe('request=abc&user_code=wdjb+mjht')
      expect(complaints).toEqual([])
    })

    it('is driven by the keyboard alone, and does not post an empty field', async () => {
      const { page } = await open(devicePage(plainDevice))
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.waitForTimeout(100)
      expect(page.url()).toMatch(/\/page$/)
      // Where the browser leads when the field is empty.
      await page.keyboard.type('WDJBMJHT')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/oauth2/device')
      expect(await page.textContent('body')).toBe('request=abc&user_code=WDJBMJHT')
    })

    it('ties the fault and the hint to the field', async () => {
      const { page } = await open(devicePage({ ...plainDevice, userCode: 'x', fault: 'No device waits for it.' }))
      expect(await accessible(page, 'textbox')).toEqual([
        {
          name: 'Code on your device',
          description: 'No device waits for it. 8 letters, such as WDJB-MJHT',
          invalid: 'true',
          required: true,
        },
      ])
      const plain = await open(devicePage(plainDevice))
      expect(await accessible(plain.page, 'textbox')).toMatchObject([{ invalid: 'false' }])
    })

    it('posts the code of a link, by the button alone', async () => {
      const { page, complaints } = await open(devicePage(plainComplete))
      await page.keyboard.press('Enter')
      await page.waitForTimeout(100)
      expect(page.url()).toMatch(/\/page$/)
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.waitForURL('**/oauth2/device')
      expect(await page.textContent('body')).toBe('request=abc&user_code=WDJB-MJHT')
      expect(complaints).toEqual([])
    })

    it('shows the code of a link in one line and larger than all else, even on a screen of 320 px', async () => {
      const { page } = await open(devicePage(plainComplete), { width: 320 })
      const size = (selector: string) =>
        page.evaluate(`Number.parseFloat(getComputedStyle(document.querySelector('${selector}')).fontSize)`)
      expect(Number(await size('.code'))).toBeGreaterThan(Number(await size('h1')))
      expect(await page.evaluate(`document.querySelector('.code bdi').getClientRects().length`)).toBe(1)
    })
  })

  describe('the page of the authorized applications', () => {
    it('posts the fields of the one application whose button is pressed', async () => {
      const form = { ...plainApplication.form, fields: [{ name: 'application', value: 'shuttle' }] }
      const applications = [plainApplication, { ...plainApplication, name: 'Shuttle', form }]
      const { page, complaints } = await open(authorizedApplicationsPage({ ...plainApplications, applications }))
      await page.getByRole('button', { name: 'Revoke access of Shuttle' }).click()
      await page.waitForURL('**/oauth2/applications')
      expect(await page.textContent('body')).toBe('application=shuttle')
      expect(complaints).toEqual([])
    })

    it('names the parts and the buttons by their application', async () => {
      const { page } = await open(authorizedApplicationsPage(plainApplications))
      const names = async (role: string) => (await accessible(page, role)).map(({ name }) => name)
      expect(await names('region')).toEqual(['Loom', 'Shuttle'])
      expect(await names('button')).toEqual(['Revoke access of Loom', 'Revoke access of Shuttle'])
    })

    it('unfolds a long list of resources without a script', async () => {
      const items = Array.from({ length: 13 }, (_, i) => `resource ${i}`)
      const grants = [{ ...plainGrant, resources: { kind: 'specified', items } }] as const
      const applications = [{ ...plainApplication, grants }]
      const { page } = await open(authorizedApplicationsPage({ ...plainApplications, applications }))
      expect(await page.getByText('resource 7').isVisible()).toBe(false)
      await page.getByText('13 resources').click()
      expect(await page.getByText('resource 7').isVisible()).toBe(true)
    })
  })

  it.each(Object.entries(plainPages))('%s: no button gets the focus through the address', async (_, shown) => {
    const { page, complaints } = await open(shown)
    const ids = await page.locator('[id]').evaluateAll((elements) => elements.map(({ id }) => id))
    for (const id of ids) {
      const linked = await open(shown, { hash: `#${id}` })
      expect(await focused(linked.page)).toBeUndefined()
      await linked.page.close()
    }
    expect(complaints).toEqual([])
  })

  it.each(Object.entries(longPages))('%s: fits a screen of 320 px, whatever the names', async (_, shown) => {
    const { page } = await open(shown, { width: 320 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
    // What clips its content would hide that it is too wide.
    const clipped = `[...document.querySelectorAll('main *')].filter((e) => e.scrollWidth > e.clientWidth && e.clientWidth > 0)`
    expect(await page.evaluate(`${clipped}.filter((e) => e.nodeName !== 'INPUT').map((e) => e.outerHTML)`)).toEqual([])
  })

  it('fits a screen of 320 px, whatever spaces the name of its user has', async () => {
    const { page } = await open(devicePage({ ...plainDevice, user: { name: `${'\u3000'.repeat(96)}x` } }), {
      width: 320,
    })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
  })

  it.each(Object.entries(piledPages))(
    '%s: no name is drawn over other words, whatever marks it has',
    async (_, shown) => {
      const { page } = await open(shown, { width: 420 })
      const words = await wordsBeside(page, piled)
      expect(words.length).toBeGreaterThan(0)
      const drawn = () => Promise.all(words.map((clip) => page.screenshot({ clip, fullPage: true })))
      const before = await drawn()
      await page.evaluate(`[...document.querySelectorAll('bdi')].filter(({ textContent }) => textContent === '${piled}')
      .forEach(({ style }) => { style.color = 'transparent' })`)
      for (const [index, picture] of (await drawn()).entries())
        expect(picture.equals(before[index] ?? picture)).toBe(true)
    },
  )
})

interface Rectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** What assistive technology is told of the elements of a role. */
async function accessible(page: Page, role: string) {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  return nodes
    .filter((node) => !node.ignored && node.role?.value === role)
    .map(({ name, description, properties = [] }) => ({
      name: name?.value,
      description: description?.value,
      ...Object.fromEntries(
        properties
          .filter((each) => /^(invalid|required)$/.test(each.name))
          .map((each) => [each.name, each.value.value]),
      ),
    }))
}

function focused(page: Page): Promise<unknown> {
  return page.evaluate(
    `document.activeElement === document.body ? undefined : document.activeElement.getAttribute('value') ?? ''`,
  )
}

/** Returns the places of the words that are not of a name, each without the edges, where letters have nothing. */
function wordsBeside(page: Page, name: string): Promise<readonly Rectangle[]> {
  // Of numbers, as it is written.
  return page.evaluate(`(() => {
    const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
    const found = []
    for (let text = walk.nextNode(); text !== null; text = walk.nextNode()) {
      if (text.data.trim() === '' || text.data === '${name}') continue
      const range = document.createRange()
      range.selectNodeContents(text)
      found.push(...range.getClientRects())
    }
    return found
      .filter(({ width }) => width > 1)
      .map(({ x, y, width, height }) => ({ x, y: y + scrollY + 4, width, height: height - 6 }))
  })()`)
}

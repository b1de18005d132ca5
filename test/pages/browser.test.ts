/** The consent page in a browser, under the policy that the server sends: what only a browser can tell. */
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ConsentPageModel, consentPage, stylesheet } from 'grantwell/pages'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plainModel } from './models.js'

const executablePath = '/usr/bin/chromium'
const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync']
const offline = ['--disable-background-networking', '--disable-component-update']
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

describe.skipIf(!existsSync(executablePath))('the consent page in Chromium', () => {
  let model: ConsentPageModel = plainModel
  let server: Server
  let browser: Browser

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const headers = { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' }
      const send = (type: string, body: string) =>
        response.writeHead(200, { ...headers, 'Content-Type': `${type}; charset=utf-8` }).end(body)
      if (request.url === '/favicon.ico') return response.writeHead(204).end()
      if (request.url === plainModel.stylesheet) return send('text/css', stylesheet)
      if (request.method === 'GET') return send('text/html', consentPage(model))
      return send('text/plain', (await request.toArray()).join(''))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    browser = await chromium.launch({ executablePath, args: [...quiet, ...offline] })
  })

  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  async function open(shown: ConsentPageModel, options: { readonly width?: number; readonly hash?: string } = {}) {
    model = shown
    const page = await browser.newPage({ viewport: { width: options.width ?? 1000, height: 800 } })
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('dialog', (dialog) => complaints.push(dialog.message()))
    // A port, for the server listens on TCP.
    const { port } = server.address() as AddressInfo
    await page.goto(`http://127.0.0.1:${port}/consent${options.hash ?? ''}`)
    return { page, complaints }
  }

  it('posts the decision, the choice and the resources', async () => {
    const { page, complaints } = await open(plainModel)
    await page.getByLabel('ada/engine').check()
    await page.getByRole('button', { name: 'Agree' }).click()
    await page.waitForURL('**/oauth2/auth')
    expect(await page.textContent('body')).toBe(
      'request=abc&resource_scope=specified&resource=1&resource=2&decision=agree',
    )
    expect(complaints).toEqual([])
  })

  it('is driven by the keyboard alone', async () => {
    const { page } = await open(plainModel)
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
    const { page } = await open(plainModel)
    for (const selector of ['[value="specified"]', '[name="resource"]']) {
      await page.focus(selector)
      await page.keyboard.press('Enter')
      await page.waitForTimeout(100)
      expect(page.url()).toMatch(/\/consent$/)
    }
  })

  it('gives no button the focus through the address', async () => {
    const { page } = await open(plainModel)
    const ids = await page.locator('[id]').evaluateAll((elements) => elements.map(({ id }) => id))
    for (const id of ids) {
      const linked = await open(plainModel, { hash: `#${id}` })
      expect(await focused(linked.page)).toBeUndefined()
    }
  })

  it('shows the list of resources only while it means something', async () => {
    const { page } = await open(plainModel)
    expect(await page.getByLabel('ada/engine').isVisible()).toBe(true)
    await page.getByLabel('All resources of your account').check()
    expect(await page.getByLabel('ada/engine').isVisible()).toBe(false)
  })

  it('keeps the words around a name in their order', async () => {
    const { page } = await open({ ...plainModel, application: { name: '\u2069\u202Emool', website: 'x' } })
    const left = (from: number, to: number) =>
      page.evaluate(`(() => {
        const range = document.createRange()
        const text = document.querySelector('h1 span').firstChild
        range.setStart(text, ${from})
        range.setEnd(text, ${to})
        return range.getBoundingClientRect().left
      })()`)
    expect(Number(await left(0, 1))).toBeLessThan(Number(await left(1, 2)))
  })

  it('fits a screen of 320 px, whatever the names', async () => {
    const long = 'W'.repeat(300)
    const resources = { ...plainModel.resources, items: [{ id: 'x', name: long, checked: false }] }
    const scopes = [{ scope: 'x', permission: 'r', description: long }] as const
    const { page } = await open(
      {
        ...plainModel,
        application: { name: long, description: long, website: long },
        redirectHost: long,
        scopes,
        resources,
      },
      { width: 320 },
    )
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
  })
})

function focused(page: Page): Promise<unknown> {
  return page.evaluate(
    `document.activeElement === document.body ? undefined : document.activeElement.getAttribute('value') ?? ''`,
  )
}

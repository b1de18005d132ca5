/**
 * A browser with one tab that shows pages of a server on this machine, under the policy that the real server sends.
 * @module
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Language, PageLanguage } from 'grantwell/pages'
import { loadTexts, stylesheet } from 'grantwell/pages'
import type { CDPSession, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { stylesheetOf } from '../../src/pages/appearance/stylesheet.js'
import { BROWSER_ARGUMENTS } from '../browser/chromium.js'
import { SHOWN_LOGO } from '../console/states.js'
import { plainModel } from './models.js'
import { BRAND, type PageState } from './states.js'

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

/** The screen that a page is shown on. */
export interface Screen {
  /** In CSS pixels. */
  readonly width: 390 | 1280
  readonly colours: 'light' | 'dark'
}

/** The one tab of a browser. */
export interface Viewer {
  readonly page: Page
  readonly session: CDPSession
  /** The messages of the browser's console, such as breaches of the policy. */
  readonly complaints: readonly string[]
  /** Opens a state of a page in a language. */
  readonly open: (state: PageState, language: PageLanguage) => Promise<void>
  /** Changes the screen, with so many device pixels to a CSS pixel. */
  readonly changeScreen: (screen: Screen, pixels?: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** Returns a language with its texts. */
export async function languageOf(locale: PageLanguage): Promise<Language> {
  return { locale, texts: await loadTexts(locale) }
}

/** Starts a browser and its server. */
export async function openViewer(executablePath: string): Promise<Viewer> {
  const served = await serve()
  const browser = await chromium.launch({ executablePath, args: BROWSER_ARGUMENTS })
  const page = await browser.newPage({ viewport: null })
  const session = await page.context().newCDPSession(page)
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  return {
    page,
    session,
    complaints,
    open: async (state, locale) => {
      served.document = await state(await languageOf(locale))
      await page.goto(`${served.address}/page`)
    },
    changeScreen: async ({ width, colours }, pixels = 1) => {
      const features = [{ name: 'prefers-color-scheme', value: colours }]
      await session.send('Emulation.setEmulatedMedia', { features })
      const size = { width, height: 900, deviceScaleFactor: pixels, mobile: false }
      await session.send('Emulation.setDeviceMetricsOverride', size)
    },
    close: async () => {
      await browser.close()
      served.close()
    },
  }
}

/** Starts the server of one document, which can be exchanged. */
async function serve() {
  const files: Readonly<Record<string, readonly [type: string, body: string]>> = {
    [plainModel.stylesheet]: ['text/css', stylesheet],
    [BRAND.stylesheet]: ['text/css', stylesheetOf(BRAND)],
    [BRAND.logo]: ['image/svg+xml', readFileSync('docs/public/icon.svg', 'utf8')],
  }
  const served = { document: '', address: '', close: () => server.close() }
  const server = createServer((request, response) => {
    const [type, body] = files[request.url ?? ''] ?? ['text/html', served.document]
    const headers = { 'Content-Security-Policy': POLICY, 'Content-Type': `${type}; charset=utf-8` }
    if (request.url === '/favicon.ico') response.writeHead(204).end()
    else if (request.url?.includes('/logo/')) response.writeHead(200, { 'Content-Type': 'image/png' }).end(SHOWN_LOGO)
    else response.writeHead(200, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // since the server listens on TCP
  served.address = `http://127.0.0.1:${port}`
  return served
}

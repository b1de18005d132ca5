/**
 * The browser of the tests: a Chromium or Chrome that the machine has.
 * @module
 */
import { existsSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect, it } from 'vitest'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The path of the browser; undefined where there is none. `CHROMIUM_PATH` goes before the usual places. */
export function findChromium(): string | undefined {
  return process.env['CHROMIUM_PATH'] || PLACES.find(existsSync)
}

export const NO_BROWSER =
  'The flow in a real browser was NOT tested, since no Chromium or Chrome was found. ' +
  'Install one, or set CHROMIUM_PATH to the program, and run the tests again.'

/** Finds the browser for a file of tests. Without one, a test says so: it fails with `CI=true`, and is skipped elsewhere. */
export function browserOfTests(): string | undefined {
  const path = findChromium()
  if (path !== undefined) return path
  if (process.env['CI']) {
    it('finds a browser', () => expect.fail(NO_BROWSER))
  } else {
    console.warn(NO_BROWSER)
    it.skip(NO_BROWSER, () => {})
  }
  return undefined
}

/** Without a sandbox, since the tests may run as root in a container; quiet, so that it asks for nothing from outside. */
export const BROWSER_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A page of a browser of its own, and all that the browser complained about on its pages. */
export async function openPage(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<{ readonly context: BrowserContext; readonly page: Page; readonly complaints: string[] }> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(240_000)
  const complaints: string[] = []
  context.on('console', (message) => complaints.push(message.text()))
  context.on('weberror', (error) => complaints.push(String(error.error())))
  context.on('dialog', (dialog) => complaints.push(dialog.message()))
  return { context, page: await context.newPage(), complaints }
}

/** Closes all pages. */
export async function closePages(browser: Browser | undefined): Promise<void> {
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()))
}

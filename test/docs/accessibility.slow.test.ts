/**
 * The site in a real browser, in the light, in the dark and on a phone: axe-core finds nothing, the browser complains of
 * nothing, nothing is wider than the screen, and no request leaves the origin.
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BROWSER_ARGUMENTS, findChromium, NO_BROWSER, openPage } from '../browser/chromium.js'
import type { BuiltSite } from './site.js'
import { builtSite } from './site.js'

const executablePath = findChromium()
if (executablePath === undefined) console.warn(NO_BROWSER)

const PAGES = [
  '/',
  '/start/express',
  '/guides/guard',
  '/security/statements',
  '/reference/options',
  '/playground/lifecycle',
  '/playground/metadata',
  '/playground/rules',
] as const

/** What the pages are shown on. */
const SCREENS = [
  ['in the light', { colorScheme: 'light', viewport: { width: 1280, height: 900 } }],
  ['in the dark', { colorScheme: 'dark', viewport: { width: 1280, height: 900 } }],
  ['on a phone', { colorScheme: 'light', viewport: { width: 390, height: 844 } }],
] as const

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe.skipIf(executablePath === undefined)('the site', () => {
  let site: BuiltSite
  let browser: Browser
  beforeAll(async () => {
    ;[site, browser] = await Promise.all([
      builtSite(),
      chromium.launch({ args: BROWSER_ARGUMENTS, ...(executablePath && { executablePath }) }),
    ])
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  describe.each(SCREENS)('%s', (_name, screen) => {
    it.each(PAGES)('has nothing wrong at %s', async (path) => {
      const { context, page, complaints } = await openPage(browser, screen)
      const asked: string[] = []
      context.on('request', (request) => asked.push(request.url()))
      try {
        await page.goto(site.origin + path)
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        await page.waitForLoadState('networkidle')
        await page.evaluate(axe)
        const found = await page.evaluate('axe.run()').then((results) => results as AxeResults) // as axe-core says
        expect(found.passes.length).toBeGreaterThan(10)
        expect(found.violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)])).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        expect(complaints).toEqual([])
        expect(asked.filter((url) => !url.startsWith(`${site.origin}/`) && !url.startsWith('data:'))).toEqual([])
      } finally {
        await context.close()
      }
    })
  })
})

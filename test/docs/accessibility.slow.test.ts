/**
 * The site in a real browser, in the light, in the dark and on a phone: axe-core finds nothing, the browser complains of
 * nothing, nothing is wider than the screen, and no request leaves the origin.
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { describe, expect, it } from 'vitest'
import { browserOfTests } from '../browser/chromium.js'
import { readSite } from './reader.js'

const executablePath = browserOfTests()

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

/** What the pages are shown on, and the rules of axe-core that they are checked by: the dark differs from the light in its colours alone. */
const SCREENS = [
  ['in the light', { width: 1280, colorScheme: 'light' }, undefined],
  ['in the dark', { width: 1280, colorScheme: 'dark' }, ['color-contrast', 'link-in-text-block']],
  ['on a phone', { width: 390, colorScheme: 'light' }, undefined],
] as const

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe.skipIf(executablePath === undefined)('the site', () => {
  const { open } = readSite(executablePath)

  describe.each(SCREENS)('%s', (_name, screen, rules) => {
    it.each(PAGES)('has nothing wrong at %s', async (path) => {
      const { page, check } = await open(path, screen)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await page.waitForLoadState('networkidle')
      await page.evaluate(axe)
      const found = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(rules ? { runOnly: rules } : {})})`)
      // In the dark, two rules are asked alone, and every page has something for one of them.
      expect(found.passes.length).toBeGreaterThan(rules === undefined ? 10 : 0)
      expect(found.violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)])).toEqual([])
      await check()
    })
  })
})

/**
 * A reader of the built site in a real browser, by keyboard alone.
 * @module
 */
import type { Browser, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { BROWSER_ARGUMENTS, closePages, openPage } from '../browser/chromium.js'
import type { BuiltSite } from './site.js'
import { builtSite } from './site.js'

/** More than the stops of any page. */
const MOST_TABS = 200

/** What a page is shown on. */
export interface Screen {
  /** In CSS pixels. */
  readonly width: number
  readonly colorScheme: 'light' | 'dark'
}

/** An opened page, and what it did that it should not. */
export interface Opened {
  readonly page: Page
  /** Checks that the page fits its window, has complained of nothing, and has asked nobody else. */
  readonly check: () => Promise<void>
}

/** The site of a file of tests. */
export interface Reader {
  /** The address of the site, without a slash at the end. */
  readonly address: () => string
  /** Opens a path of the site, and waits until its components run. */
  readonly open: (path: string, screen: Screen) => Promise<Opened>
}

/**
 * Builds the site before the tests of a file, and opens its pages in a browser.
 * @param executablePath - the program of the browser; without it, the site is only served
 */
export function readSite(executablePath: string | undefined): Reader {
  let browser: Browser
  let site: BuiltSite
  beforeAll(async () => {
    site = await builtSite()
    if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args: BROWSER_ARGUMENTS })
  })
  afterEach(() => closePages(browser))
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })
  return {
    address: () => site.address,
    open: async (path, { width, colorScheme }) => {
      const { context, page, complaints } = await openPage(browser, { viewport: { width, height: 800 }, colorScheme })
      const elsewhere: string[] = []
      context.on('request', (request) => {
        if (!request.url().startsWith(`${site.address}/`)) elsewhere.push(request.url())
      })
      await page.goto(site.address + path)
      await page.waitForFunction(`document.querySelector('#app')?.__vue_app__ !== undefined`)
      const check = async (): Promise<void> => {
        const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
        expect(beyond).toBeLessThanOrEqual(0)
        expect([complaints, elsewhere]).toEqual([[], []])
      }
      return { page, check }
    },
  }
}

/** Goes by the tabulator, from the top of the page, to a control by its id or its words, and checks that it looks chosen. */
export async function tabTo(page: Page, wanted: string): Promise<void> {
  await page.evaluate(beginWalk(wanted))
  for (let tabs = 0; tabs < MOST_TABS; tabs += TABS_AT_ONCE) {
    // Sent without waiting for the page after each: that takes a third of the time.
    const keys = Array.from({ length: TABS_AT_ONCE }, () => [page.keyboard.down('Tab'), page.keyboard.up('Tab')])
    await Promise.all(keys.flat())
    const outline = await page.evaluate<string | undefined>('walk.end()')
    if (outline === undefined) continue
    expect(Number.parseFloat(outline)).toBeGreaterThan(0)
    return
  }
  expect.fail(`no tabulator leads to ${wanted}`)
}

/** Keys that are pressed before the page is looked at. */
const TABS_AT_ONCE = 20

/**
 * Returns a script that goes to the top of the page. From there, keys of the tabulator go to a control and no further, until `walk.end()`
 * has given the width of its outline. While the control is not reached, that gives undefined.
 */
const beginWalk = (wanted: string): string => `
  document.activeElement?.blur()
  document.getSelection().collapse(document.body, 0)
  globalThis.walk = {
    isThere: () => [document.activeElement.id, document.activeElement.textContent.trim()].includes(${JSON.stringify(wanted)}),
    handleEvent(event) {
      if (event.key !== 'Tab' || !walk.isThere()) return
      event.preventDefault()
      event.stopImmediatePropagation()
    },
    end() {
      if (!walk.isThere()) return undefined
      removeEventListener('keydown', walk, true)
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
      return outlineStyle === 'none' ? '0px' : outlineWidth
    },
  }
  addEventListener('keydown', walk, true)`

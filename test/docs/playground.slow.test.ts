/**
 * The playground in a real browser, by keyboard alone, on a phone and on a desk, light and dark.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { BROWSER_ARGUMENTS, closePages, findChromium, NO_BROWSER, openPage } from '../browser/chromium.js'
import { type BuiltSite, builtSite } from './site.js'

const executablePath = findChromium()

if (executablePath === undefined) {
  if (process.env['CI']) {
    it('finds a browser', () => expect.fail(NO_BROWSER))
  } else {
    console.warn(NO_BROWSER)
    it.skip(NO_BROWSER, () => {})
  }
}

/** A folder for pictures of the pages; without it there are none. */
const PICTURES = process.env['PICTURES']

/** More than the stops of any page. */
const MOST_TABS = 200

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

/** An opened page, and what it did that it should not. */
interface Opened {
  readonly page: Page
  /** Checks that the page fits its window, has complained of nothing, and has asked nobody else. */
  readonly check: () => Promise<void>
}

/** Opens a page of the site, and waits until it answers to keys. */
async function open(path: string, width: number, colorScheme: 'light' | 'dark'): Promise<Opened> {
  const { context, page, complaints } = await openPage(browser, { viewport: { width, height: 800 }, colorScheme })
  const elsewhere: string[] = []
  context.on('request', (request) => {
    if (!request.url().startsWith(`${site.origin}/`)) elsewhere.push(request.url())
  })
  await page.goto(site.origin + path)
  await page.waitForFunction(`document.querySelector('#app')?.__vue_app__ !== undefined`)
  const check = async (): Promise<void> => {
    const beyond = await page.evaluate<number>(`document.documentElement.scrollWidth - window.innerWidth`)
    expect(beyond).toBeLessThanOrEqual(0)
    expect([complaints, elsewhere]).toEqual([[], []])
  }
  return { page, check }
}

/** Goes by the tabulator, from the top of the page, to a control by its id or its words, and checks that it looks chosen. */
async function tabTo(page: Page, wanted: string): Promise<void> {
  await page.evaluate(`document.activeElement?.blur(); document.getSelection().collapse(document.body, 0)`)
  for (let tabs = 0; tabs < MOST_TABS; tabs++) {
    await page.keyboard.press('Tab')
    const [id, text, outline] = await page.evaluate<[string, string, string]>(`(() => {
      const { id, textContent } = document.activeElement
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
      return [id, textContent.trim(), outlineStyle === 'none' ? '0px' : outlineWidth]
    })()`)
    if (id !== wanted && text !== wanted) continue
    expect(Number.parseFloat(outline)).toBeGreaterThan(0)
    return
  }
  expect.fail(`no tabulator leads to ${wanted}`)
}

/** Writes a text over the one of a control. */
async function write(page: Page, id: string, text: string): Promise<void> {
  await tabTo(page, id)
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(text)
}

/** Presses a button or follows a link. */
async function press(page: Page, words: string): Promise<void> {
  await tabTo(page, words)
  await page.keyboard.press('Enter')
}

/** Takes a picture of the whole page, where somebody wants one. */
async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
}

describe('the built pages', () => {
  it.each([
    ['/playground/metadata', 'Read. 12 fields, no problems.'],
    ['/playground/rules', 'Not covered by the registration: repo-code:rw.'],
  ])('%s has results before a script runs, and names no other origin', async (path, result) => {
    const response = await fetch(site.origin + path)
    const html = await response.text()
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(html).toContain(result)
    const loaded = [...html.matchAll(/<(?:link|script|img)\b[^>]*?\b(?:href|src)="([^"]*)"/g)].map(([, url]) => url)
    expect(loaded.length).toBeGreaterThan(3)
    expect(loaded.filter((url) => url?.startsWith('/') !== true || url.startsWith('//'))).toEqual([])
  })

  it('are served, and nothing beside them', async () => {
    expect((await fetch(`${site.origin}/`)).status).toBe(200)
    expect((await fetch(`${site.origin}/nothing`)).status).toBe(404)
    expect((await fetch(`${site.origin}/..%2fpackage.json`)).status).toBe(404)
  })
})

describe.skipIf(executablePath === undefined).each([
  { width: 390, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const)('the playground, $width wide and $colorScheme', ({ width, colorScheme }) => {
  it('reads a metadata record, and changes it', async () => {
    const { page, check } = await open('/playground/metadata', width, colorScheme)
    const summary = page.locator('#metadata-summary')
    const text = page.getByLabel('METADATA file, in text format')
    expect(await summary.textContent()).toBe('Read. 12 fields, no problems.')
    await picture(page, `metadata-${width}-${colorScheme}`)
    await check()

    await write(page, 'metadata-value', '1.3.2')
    const lines = page.getByRole('region', { name: 'Lines that the field changes' })
    expect(await lines.textContent()).toContain('-   version: "1.3.1"+   version: "1.3.2"')
    await press(page, 'Take the change into the text')
    expect(await text.inputValue()).toContain('  version: "1.3.2"\n  license_type: NOTICE')
    expect(await page.evaluate('document.activeElement.id')).toBe('metadata-text')
    expect(await page.getByRole('region', { name: 'Bytes' }).textContent()).toContain('31 2e 33 2e 32')

    const json = page.getByLabel('The record in JSON')
    await write(page, 'metadata-json', (await json.inputValue()).replace('"zlib"', '"zlib-ng"'))
    const byJson = page.getByRole('region', { name: 'Lines that the JSON changes' })
    expect(await byJson.textContent()).toContain('- name: "zlib"+ name: "zlib-ng"')
    await picture(page, `metadata-changed-${width}-${colorScheme}`)
    await check()
  })

  it('goes to the problems of a record', async () => {
    const { page, check } = await open('/playground/metadata', width, colorScheme)
    const summary = page.locator('#metadata-summary')
    await write(page, 'metadata-text', `name: "${'a'.repeat(300)}"\nthird_party { url { value: "x" } }\n`)
    expect(await summary.textContent()).toBe('Read. 2 fields, 1 error, 2 warnings.')
    await check()
    await press(page, 'A text that is broken')
    expect(await summary.textContent()).toBe('Not read. Line 3 is wrong.')
    await press(page, 'Line 3')
    const selected = `(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))`
    expect(await page.evaluate(`${selected}(document.activeElement)`)).toBe('  version: 8.7.1')
    await press(page, 'A record with problems')
    expect(await summary.textContent()).toBe('Read. 8 fields, 5 errors, 1 warning.')
    await picture(page, `problems-${width}-${colorScheme}`)
    await check()
  })

  it('judges a redirect URI', async () => {
    const { page, check } = await open('/playground/rules', width, colorScheme)
    const verdict = page.locator('#redirect-verdict')
    expect(await verdict.textContent()).toMatch(/^Accepted\..*authorized domain app\.example/)
    await picture(page, `rules-${width}-${colorScheme}`)
    await write(page, 'requested-uri', 'http://localhost:5000/callback')
    expect(await verdict.textContent()).toMatch(/^Refused\..*in place of localhost/)
    await write(page, 'registered-uris', 'http://localhost/callback')
    await tabTo(page, 'allow-localhost')
    await page.keyboard.press('Space')
    expect(await verdict.textContent()).toMatch(/^Accepted\..*RFC 8252/)

    await press(page, 'Another path')
    await write(page, 'registered-uris', 'https://app.example/callback')
    expect(await verdict.textContent()).toMatch(/^Accepted\./)
    await tabTo(page, 'matching-domain')
    await page.keyboard.press('ArrowDown')
    expect(await verdict.textContent()).toMatch(/^Refused\..*exactly a registered/)
    await check()

    await press(page, 'Section 2.1: the registration')
    await page.waitForURL(`${site.origin}/rules/authorization-service#section-2-1`)
    await page.locator('#section-2-1').waitFor()
    await check()
  })

  it('judges scopes', async () => {
    const { page, check } = await open('/playground/rules', width, colorScheme)
    const verdict = page.locator('#scopes-verdict')
    expect(await verdict.textContent()).toMatch(/^Refused with invalid_scope\..*repo-code:rw\.$/)
    await write(page, 'registered-scopes', 'repo-code:rw account-profile:rw')
    expect(await verdict.textContent()).toBe('Accepted. The request is for repo-code:rw account-profile:r.')
    await write(page, 'requested-scopes', `repo-cod:r ${'x'.repeat(200)}`)
    expect(await verdict.textContent()).toMatch(/^Refused.*repo-code:r is close/)
    await check()
  })
})

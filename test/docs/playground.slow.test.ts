/**
 * The playground in a real browser, by keyboard alone, on a phone and on a desk, light and dark.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { browserOfTests } from '../browser/chromium.js'
import { readSite, tabTo } from './reader.js'

const executablePath = browserOfTests()

/** A folder for pictures of the pages; without it there are none. */
const PICTURES = process.env['PICTURES']

const { address, open } = readSite(executablePath)

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
    const response = await fetch(address() + path)
    const html = await response.text()
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(html).toContain(result)
    const loaded = [...html.matchAll(/<(?:link|script|img)\b[^>]*?\b(?:href|src)="([^"]*)"/g)].map(([, url]) => url)
    expect(loaded.length).toBeGreaterThan(3)
    expect(loaded.filter((url) => url?.startsWith('/') !== true || url.startsWith('//'))).toEqual([])
  })

  it('are served, and nothing beside them', async () => {
    expect((await fetch(`${address()}/`)).status).toBe(200)
    expect((await fetch(`${address()}/nothing`)).status).toBe(404)
    expect((await fetch(`${address()}/..%2f..%2fpackage.json`)).status).toBe(404)
  })
})

describe.skipIf(executablePath === undefined).each([
  { width: 390, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const)('the playground, $width wide and $colorScheme', ({ width, colorScheme }) => {
  it('reads a metadata record, and changes it', async () => {
    const { page, check } = await open('/playground/metadata', { width, colorScheme })
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
    const { page, check } = await open('/playground/metadata', { width, colorScheme })
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
    const { page, check } = await open('/playground/rules', { width, colorScheme })
    const verdict = page.locator('#redirect-verdict')
    expect(await verdict.textContent()).toMatch(/^Accepted\..*authorized domain app\.example/)
    await picture(page, `rules-${width}-${colorScheme}`)
    await write(page, 'requested-uri', 'http://localhost:5000/callback')
    expect(await verdict.textContent()).toMatch(/^Refused\..*only the port may differ/)
    await write(page, 'registered-uris', 'http://localhost/callback')
    expect(await verdict.textContent()).toMatch(/^Accepted\..*RFC 8252/)
    await tabTo(page, 'allow-localhost')
    await page.keyboard.press('Space')
    expect(await verdict.textContent()).toMatch(/^Refused\..*in place of localhost/)
    await page.keyboard.press('Space')

    await press(page, 'Another path')
    await write(page, 'registered-uris', 'https://app.example/callback')
    expect(await verdict.textContent()).toMatch(/^Accepted\./)
    await tabTo(page, 'matching-domain')
    await page.keyboard.press('ArrowDown')
    expect(await verdict.textContent()).toMatch(/^Refused\..*exactly a registered/)
    await check()

    await press(page, 'Section 2.1: the registration')
    await page.waitForURL(`${address()}/rules/authorization-service#section-2-1`)
    await page.locator('#section-2-1').waitFor()
    await check()
  })

  it('judges scopes', async () => {
    const { page, check } = await open('/playground/rules', { width, colorScheme })
    const verdict = page.locator('#scopes-verdict')
    expect(await verdict.textContent()).toMatch(/^Refused with invalid_scope\..*repo-code:rw\.$/)
    await write(page, 'registered-scopes', 'repo-code:rw account-profile:rw')
    expect(await verdict.textContent()).toBe('Accepted. The request is for repo-code:rw account-profile:r.')
    await write(page, 'requested-scopes', `repo-cod:r ${'x'.repeat(200)}`)
    expect(await verdict.textContent()).toMatch(/^Refused.*repo-code:r is close/)
    await check()
  })
})

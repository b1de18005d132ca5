/**
 * The page of one grant's life in a real browser, by keyboard alone, on a phone and on a desk, light and dark.
 */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { browserOfTests } from '../browser/chromium.js'
import type { Opened, Screen } from './reader.js'
import { readSite, tabTo } from './reader.js'

const executablePath = browserOfTests()

const PATH = '/playground/lifecycle'

describe.skipIf(executablePath === undefined)('the page of a lifecycle in Chromium', () => {
  const { address, open: openPath } = readSite(executablePath)

  /** Opens a history. */
  async function open(history = '', width = 1280, colorScheme: Screen['colorScheme'] = 'light'): Promise<Opened> {
    const opened = await openPath(`${PATH}${history === '' ? '' : `#${history}`}`, { width, colorScheme })
    await opened.page.locator('.lifecycle').waitFor()
    return opened
  }

  it.each([
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('at %i px, %s, keys alone walk through a lost answer and a replay', async (width, colorScheme) => {
    const { page, check } = await open('', width, colorScheme)
    await says(page, 'Press “Authorize” to begin.')
    await press(page, 'Authorize', 'The user agreed: 302, and the client has a code.')
    await press(page, 'Exchange the code', 'Client: exchange of the code: 200, pair 1.')
    await press(page, 'Lose the next answer', 'The next answer will be lost.')
    await press(page, 'Refresh', 'Client: refresh with refresh token 1: 200, pair 2, but the answer is lost.')
    await press(page, '+1 min', 'The clock shows 1 min.')
    await press(page, 'Refresh', 'Client: refresh with refresh token 1: 200, pair 2.')
    expect(await rows(page)).toEqual([
      'Code used at 0',
      'Access token 1 grace period, works until 5 min',
      'Refresh token 1 grace period, works until 5 min',
      'Access token 2 works until 8 h',
      'Refresh token 2 works until 180 d',
    ])
    await press(page, '+5 min', 'The clock shows 6 min.')
    await press(
      page,
      'Replay refresh token 1',
      'Client: replay of refresh token 1: 400 invalid_grant. The grant is revoked.',
    )
    expect((await rows(page)).at(-1)).toBe('Refresh token 2 revoked at 6 min')
    expect(await page.locator('pre[aria-label="Stored record"]').textContent()).toContain('"revokedAt": 1800000360')
    expect(new URL(page.url()).hash).toBe('#authorize,exchange,lose,refresh,+1m,refresh,+5m,again-1')
    await check()
    await press(page, 'Undo', 'The clock shows 6 min.')
    await press(page, 'Start again', 'Press “Authorize” to begin.')
    expect(new URL(page.url()).hash).toBe('')
    await check()
  })

  it('a reader orders the steps of a race, and its link shows the same in another browser', async () => {
    const { page, check } = await open('authorize,exchange', 390)
    await press(page, 'Race two refreshes', 'Client A and client B wait for their first step.')
    await press(page, 'Client A: read the grant', 'Client A reads the grant: version 6.')
    await press(page, 'Client B: read the grant', 'Client B reads the grant: version 6.')
    await press(
      page,
      'Client B: write the grant if its version still is 6',
      'Client B: refresh with refresh token 1: 200',
    )
    await press(page, 'Client A: write the grant if its version still is 6', 'not stored.')
    await press(page, 'Client A: read the grant', 'Client A: refresh with refresh token 1: 200, pair 2.')
    await check()
    const { hash } = new URL(page.url())
    expect(hash).toBe('#authorize,exchange,race,a,b,b,a,a')
    const other = await open(hash.slice(1), 1280, 'dark')
    expect(await other.page.locator('.lifecycle').textContent()).toBe(await page.locator('.lifecycle').textContent())
    await other.check()
  })

  it('follows an example, and a heading of the page leaves the grant alone', async () => {
    const { page, check } = await open()
    await press(page, 'A stolen token ends the grant', 'The grant is revoked.')
    expect(new URL(page.url()).hash).toBe('#authorize,exchange,refresh,+5m,again-1')
    await page.evaluate('location.hash = "read-the-time-line"')
    await says(page, 'The grant is revoked.')
    expect(await page.getByRole('alert').count()).toBe(0)
    await check()
  })

  it('takes a story of the explorer, and says what is wrong with other texts', async () => {
    const { page, check } = await open('authorize,fly')
    expect(await page.getByRole('alert').textContent()).toBe('There is no command “fly”.')
    await press(page, 'Open a history')
    await tabTo(page, 'lifecycle-pasted')
    await page.keyboard.insertText(
      "Explored 6 histories of exchange, exchange; ...\nOnce more: explore({ ..., history: 'A B B A' })",
    )
    await press(page, 'Show it', 'not stored.')
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(new URL(page.url()).hash).toBe('#authorize,race-code,a,b,b,a')
    await tabTo(page, 'lifecycle-pasted')
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText('refresh')
    await press(page, 'Show it', 'Press “Authorize” to begin.')
    expect(await page.getByRole('alert').textContent()).toBe('Command 1, refresh, is not possible at its place.')
    await check()
  })

  it('has its words before a script runs', async () => {
    const html = await (await fetch(address() + PATH)).text()
    expect(html).toContain('This page runs the package in your browser.')
    expect(html).toContain('Read the time line')
  })
})

/** Waits until the page says that something came of a command. */
async function says(page: Page, words: string): Promise<void> {
  await page.getByRole('status').filter({ hasText: words }).waitFor()
}

/** Returns the texts of the time line. */
async function rows(page: Page): Promise<readonly string[]> {
  const texts = await page.locator('.lifecycle .rows li').allInnerTexts()
  return texts.map((text) => text.trim().replace(/\s+/g, ' '))
}

/** Presses a button or follows a link, and waits for what the page says of it. */
async function press(page: Page, words: string, outcome = ''): Promise<void> {
  await tabTo(page, words)
  await page.keyboard.press('Enter')
  await says(page, outcome)
}

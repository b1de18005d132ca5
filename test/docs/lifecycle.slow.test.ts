/**
 * The page of one grant's life in a real browser, by keyboard alone, on a phone and on a desk, light and dark.
 */
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

const PATH = '/playground/lifecycle'

/** More than the stops of the page. */
const MOST_TABS = 200

describe.skipIf(executablePath === undefined)('the page of a lifecycle in Chromium', () => {
  let browser: Browser
  let site: BuiltSite

  beforeAll(async () => {
    site = await builtSite()
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: BROWSER_ARGUMENTS })
  })

  afterEach(() => closePages(browser))

  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  /** Opens a history. The check says whether the page fits, complained, or asked anybody else. */
  async function open(history = '', width = 1280, colorScheme: 'light' | 'dark' = 'light') {
    const { context, page, complaints } = await openPage(browser, { viewport: { width, height: 800 }, colorScheme })
    const elsewhere: string[] = []
    context.on('request', (request) => {
      if (!request.url().startsWith(`${site.origin}/`)) elsewhere.push(request.url())
    })
    await page.goto(`${site.origin}${PATH}${history === '' ? '' : `#${history}`}`)
    await page.locator('.lifecycle').waitFor()
    const check = async (): Promise<void> => {
      const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
      expect(beyond).toBeLessThanOrEqual(0)
      expect([complaints, elsewhere]).toEqual([[], []])
    }
    return { page, check }
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
    const html = await (await fetch(site.origin + PATH)).text()
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

/** Goes by the tabulator, from the top of the page, to a control by its id or its words, and checks that it looks chosen. */
async function tabTo(page: Page, wanted: string): Promise<void> {
  await page.evaluate('document.activeElement?.blur(); document.getSelection().collapse(document.body, 0)')
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

/** Presses a button or follows a link, and waits for what the page says of it. */
async function press(page: Page, words: string, outcome = ''): Promise<void> {
  await tabTo(page, words)
  await page.keyboard.press('Enter')
  await says(page, outcome)
}

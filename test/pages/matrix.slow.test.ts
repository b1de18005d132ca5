/**
 * Every page in every state in Chromium: light and dark, on a phone and a desktop, in four languages, and by keyboard alone. The pages are
 * loaded with scripts switched off, since they have none.
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { PageLanguage } from 'grantwell/pages'
import { pageLanguages } from 'grantwell/pages'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserOfTests } from '../browser/chromium.js'
import { ALL_STATES, type PageState } from './states.js'
import { elementsOf } from './tree.js'
import type { Screen, Viewer } from './viewer.js'
import { languageOf, openViewer } from './viewer.js'

const executablePath = browserOfTests()
const LANGUAGES: readonly PageLanguage[] = ['en', 'de', 'ja', 'ar']

/** The first screen is checked by all rules of axe-core, the others by those that depend on colours or the width. */
const SCREENS: readonly Screen[] = [
  { width: 1280, colours: 'light' },
  { width: 1280, colours: 'dark' },
  { width: 390, colours: 'dark' },
  { width: 390, colours: 'light' },
]
/** The screens of the languages after the first, each width and each colour once: words change what fits a width, and no colour. */
const WORDS: readonly Screen[] = [
  { width: 1280, colours: 'light' },
  { width: 390, colours: 'dark' },
]
const COMMON: RunOptions = { iframes: false, resultTypes: ['violations'] }
// `target-size` is off by default.
const WHOLE: RunOptions = { ...COMMON, rules: { 'target-size': { enabled: true } } }
const PART: RunOptions = { ...COMMON, runOnly: { type: 'rule', values: ['color-contrast', 'target-size'] } }

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// Longer than the pages need on a machine that does something else.
const PATIENCE = 300_000

describe('every page in every state', () => {
  it.each(ALL_STATES)('%s has no script, in any language', async (_, state) => {
    for (const locale of pageLanguages) {
      const elements = elementsOf(await state(await languageOf(locale)))
      expect(elements.filter(({ nodeName }) => nodeName === 'script')).toEqual([])
      const attributes = elements.flatMap(({ attrs = [] }) => attrs)
      expect(attributes.filter(({ name, value }) => /^on/i.test(name) || /^\s*javascript:/i.test(value))).toEqual([])
    }
  })
})

describe.skipIf(executablePath === undefined)('every page in every state in Chromium', () => {
  let viewer: Viewer

  beforeAll(async () => {
    viewer = await openViewer(executablePath ?? '')
  })
  afterAll(() => viewer?.close())

  /** Loads a state with scripts switched off. What DevTools evaluate runs all the same, but for timers. */
  async function openScriptless(state: PageState, locale: PageLanguage): Promise<void> {
    await viewer.session.send('Emulation.setScriptExecutionDisabled', { value: true })
    await viewer.open(state, locale)
  }

  async function lookedAt(options: RunOptions): Promise<{ readonly passes: number; readonly violations: unknown }> {
    const found = await viewer.page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`)
    const violations = found.violations.map(({ id, nodes }) => [id, nodes.slice(0, 2).map(({ html }) => html)])
    return { passes: found.passes.length, violations }
  }

  it.each(ALL_STATES)('%s fits its screen, and axe-core finds nothing', async (_, state) => {
    for (const locale of LANGUAGES) {
      await openScriptless(state, locale)
      await viewer.session.send('Emulation.setScriptExecutionDisabled', { value: false })
      // By the session, in which the browser keeps what it has compiled for the next page.
      await viewer.session.send('Runtime.evaluate', { expression: axe })
      const passes: number[] = []
      for (const screen of locale === LANGUAGES[0] ? SCREENS : WORDS) {
        await viewer.changeScreen(screen)
        const place = `${locale} ${screen.width} ${screen.colours}`
        const layout = await viewer.page.evaluate(LAYOUT)
        expect(layout, place).toEqual({ scrolls: screen.width, cut: [], split: [], joined: [] })
        const looked = await lookedAt(passes.length === 0 ? WHOLE : PART)
        expect(looked.violations, place).toEqual([])
        passes.push(looked.passes)
      }
      // Some pages have nothing that the two rules of the other screens apply to.
      expect(passes[0]).toBeGreaterThan(10)
    }
    expect(viewer.complaints).toEqual([])
  })

  it.each(ALL_STATES)('%s is reached by keyboard in the order of the document', async (_, state) => {
    await viewer.changeScreen({ width: 390, colours: 'light' })
    await openScriptless(state, 'en')
    await expect.poll(() => viewer.page.evaluate(BEGUN), { timeout: PATIENCE }).toBe(true)
    const { count, start } = await viewer.page.evaluate<{ count: number; start: number }>(CONTROLS)
    const later = Array.from({ length: count - start - 1 }, (_, index) => start + 1 + index)
    expect(await walk('Tab', later.length)).toEqual(later)
    // A page that begins in a field has the controls before it the other way.
    await viewer.page.evaluate('controls[start]?.focus()')
    const earlier = Array.from({ length: Math.max(start, 0) }, (_, index) => start - 1 - index)
    expect(await walk('Shift+Tab', earlier.length)).toEqual(earlier)
  })

  /** Presses a key so many times, and returns the places of the controls that got the focus; -1 where nobody sees it. */
  async function walk(key: string, times: number): Promise<readonly number[]> {
    const places: number[] = []
    for (let press = 0; press < times; press++) {
      await viewer.page.keyboard.press(key)
      places.push(await viewer.page.evaluate<number>(FOCUSED))
    }
    return places
  }
})

/** Measures the width of the page, and finds what is cut off, codes over two lines, and paragraphs without space between them. */
const LAYOUT = `(() => {
  // As in the stylesheet: what is that near to a box is drawn.
  const margin = 4
  const cut = [...document.querySelectorAll('body *')].filter((e) => {
    if (['INPUT', 'SELECT', 'TEXTAREA'].includes(e.nodeName) || e.className === 'unseen' || e.clientWidth === 0) return false
    if (e.scrollWidth > e.clientWidth + 1) return true
    return e.scrollHeight > e.clientHeight + margin && ['clip', 'hidden'].includes(getComputedStyle(e).overflowY)
  })
  const split = [...document.querySelectorAll('bdi')].filter((e) => {
    return /^\\w{4}-\\w{4}$/.test(e.textContent) && e.getClientRects().length > 1
  })
  const joined = [...document.querySelectorAll('main > p + p')].filter((e) => {
    return e.getBoundingClientRect().top - e.previousElementSibling.getBoundingClientRect().bottom < 8
  })
  const written = (found) => found.map((e) => e.outerHTML)
  const scrolls = document.documentElement.scrollWidth
  return { scrolls, cut: written(cut), split: written(split), joined: written(joined) }
})()`

/** Tells whether the field that the page begins in, if there is one, has its focus. */
const BEGUN = `[null, document.activeElement].includes(document.querySelector('[autofocus]'))`

/** Finds the controls that the tabulator reaches: of a group of radio buttons the chosen one, else the first. */
const CONTROLS = `(() => {
  const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')]
  const seen = all.filter((e) => e.checkVisibility())
  const radios = (name) => seen.filter((e) => e.type === 'radio' && e.name === name)
  const stopOf = (group) => group.find((e) => e.checked) ?? group[0]
  globalThis.controls = seen.filter((e) => e.type !== 'radio' || stopOf(radios(e.name)) === e)
  globalThis.start = controls.indexOf(document.activeElement)
  return { count: controls.length, start }
})()`

/** Returns the place of the control that has the focus; -1 where it is out of sight or has no ring. */
const FOCUSED = `(() => {
  const e = document.activeElement
  const { top, bottom, left, right } = e.getBoundingClientRect()
  const { outlineStyle, outlineWidth } = getComputedStyle(e)
  const ringed = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2
  // Of a field of several lines, the browser shows the one with the caret.
  const end = e.nodeName === 'TEXTAREA' ? top + 32 : bottom
  const inside = top >= 0 && end <= innerHeight + 1 && left >= 0 && right <= innerWidth
  return ringed && inside && e.matches(':focus-visible') ? controls.indexOf(e) : -1
})()`

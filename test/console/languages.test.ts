/**
 * The languages of the console: every word on every page comes from the catalogue.
 * @module
 */
import { loadTexts } from 'grantwell/pages'
import { describe, expect, it } from 'vitest'
import { en } from '../../src/pages/texts/en.js'
import { pseudoTexts, readableIn } from '../pages/pseudo.js'
import { CONSOLE_STATES } from './states.js'

/** Reads the words of a page, but for what somebody wrote, and what every language has. */
function wordsOf(document: string): readonly string[] {
  const withoutData = document.replace(/<(bdi|code|time|textarea)\b[^>]*>.*?<\/\1>/gs, '')
  const data = /Loom(?: CI)?|Mirror|Sample|Tools|https?:\S+|[\w-]+:rw?\b/g
  return readableIn(withoutData).map((text) => text.replace(data, '').trim())
}

describe.each(Object.entries(CONSOLE_STATES))('the page %s of the console', (_, state) => {
  it('has no letter in a language without letters', async () => {
    const document = await state({ locale: 'tlh', texts: pseudoTexts })
    expect(document).toContain('lang="tlh"')
    expect(wordsOf(document).filter((text) => /[a-z]/i.test(text))).toStrictEqual([])
  })

  it('has no text in English where it is in German', async () => {
    const texts = await loadTexts('de')
    const german = new Set(Object.values(texts).map(String))
    const english = Object.values(en).map(String)
    const words = wordsOf(await state({ locale: 'de', texts }))
    expect(words.filter((word) => english.includes(word) && !german.has(word))).toStrictEqual([])
  })
})

/**
 * The formats of a language, kept once they are made: a new one for each page takes 50 microseconds for a day, a quarter of the time of a
 * consent page.
 * @module
 */

/** The formats of one language. */
export interface Formats {
  /** Days of UTC, written out. */
  readonly days: Intl.DateTimeFormat
  readonly numbers: Intl.NumberFormat
  readonly plurals: Intl.PluralRules
}

const kept = new Map<string, Formats>()

/** The languages that are kept. A host has a few; the limit is for one that makes tags from what a request says. */
const LANGUAGES_KEPT = 100

/** Returns the formats of a language. */
export function formatsOf(locale: string): Formats {
  const found = kept.get(locale)
  if (found !== undefined) return found
  if (kept.size >= LANGUAGES_KEPT) kept.clear()
  const made = {
    days: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }),
    numbers: new Intl.NumberFormat(locale),
    plurals: new Intl.PluralRules(locale),
  }
  kept.set(locale, made)
  return made
}

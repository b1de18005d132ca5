/**
 * The limits of long lists: a page shows their beginning, so that no page is larger than some hundred kilobytes.
 * @module
 */
import { escapeHtml } from '../pages/index.js'

/** The maximum number of characters of HTML of all lists on one page. */
export const LIST_CHARACTERS = 131_072

/** Characters of HTML around an entry of a list. */
const MARKUP = 150

/** Returns the characters of HTML of an entry: its texts and the markup around them. */
export function entrySize(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + escapeHtml(text).length, MARKUP)
}

/**
 * Returns the entries at the beginning of a list that fit. The first one always fits.
 * @param characters - the maximum number of characters of HTML
 * @param most - the maximum number of entries
 */
export function beginningOf<Entry>(
  list: readonly Entry[],
  sizeOf: (entry: Entry) => number,
  { characters, most }: { readonly characters: number; readonly most: number },
): { readonly shown: readonly Entry[]; readonly notShown?: number } {
  let left = characters
  let count = 0
  for (const entry of list) {
    left -= sizeOf(entry)
    if (count === most || (count > 0 && left < 0)) break
    count++
  }
  return count === list.length ? { shown: list } : { shown: list.slice(0, count), notShown: list.length - count }
}

/**
 * The beginnings of lists that have no end: what a page shows of them, so that no page is larger than some hundred kilobytes.
 * @module
 */
import { escapeHtml } from '../pages/index.js'

/** Characters of HTML that the lists of one page may have together. */
export const LIST_CHARACTERS = 131_072

/** Characters of HTML around an entry of a list. */
const MARKUP = 150

/** Characters of HTML that an entry takes: its texts, and what is around them. */
export function entrySize(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + escapeHtml(text).length, MARKUP)
}

/**
 * Takes entries from the beginning of a list as long as they fit; the first one always does.
 * @param characters - of HTML, all together
 * @param most - entries at most
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

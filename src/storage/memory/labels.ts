/**
 * An index of entries by their labels. A page of a list costs as much as the records on it, however many have the label.
 *
 * Each label has a list of entries in the order of their creation. A removed entry stays in the list, marked by its version 0,
 * until more than half of the list are removed.
 * @module
 */
import type { Entry } from './entry.js'

/** Entries with the same label, in the order of their sequence. */
interface EntryList {
  entries: Entry[]
  /** Number of entries that were removed. */
  removed: number
}

/** An index of entries by their labels. */
export interface LabelIndex {
  readonly add: (entry: Entry) => void
  /** Removes an entry, whose version must be 0 by then. */
  readonly remove: (entry: Entry) => void
  /** Returns the entries with a label, in the order of their sequence. Those with version 0 are removed. */
  readonly entriesWith: (label: string) => readonly Entry[]
}

/** Makes an empty index. */
export function createLabelIndex(): LabelIndex {
  /** Most labels have one entry, which stands here without a list. */
  const index = new Map<string, Entry | EntryList>()

  function addTo(label: string, entry: Entry): void {
    const found = index.get(label)
    if (found === undefined) index.set(label, entry)
    else if (isList(found)) found.entries.push(entry)
    else index.set(label, { entries: [found, entry], removed: 0 })
  }

  function removeFrom(label: string): void {
    const found = index.get(label)
    if (found === undefined) return
    if (!isList(found)) index.delete(label)
    else if (++found.removed === found.entries.length) index.delete(label)
    else if (found.removed * 2 > found.entries.length) {
      found.entries = found.entries.filter(({ version }) => version !== 0)
      found.removed = 0
    }
  }

  return {
    add(entry) {
      for (const label of entry.labels) addTo(label, entry)
    },

    remove(entry) {
      for (const label of entry.labels) removeFrom(label)
    },

    entriesWith(label) {
      const found = index.get(label)
      return found === undefined ? [] : isList(found) ? found.entries : [found]
    },
  }
}

/** Returns the index of the first entry with a greater sequence, by a binary search. */
export function indexAfter(entries: readonly Entry[], sequence: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    const entry = entries[middle] as Entry // the middle is less than the length
    if (entry.sequence > sequence) high = middle
    else low = middle + 1
  }
  return low
}

function isList(found: Entry | EntryList): found is EntryList {
  return 'removed' in found
}

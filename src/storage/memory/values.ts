/**
 * Values of records: up to 65,536 as objects, all others as JSON in blocks of text. The garbage collector's pauses stay short: with
 * a million records as objects, each would be several times as long, since it walks all pages of the heap.
 *
 * The objects are the values that were written last, and those that are read again and again.
 * @module
 */
import type { JsonValue } from '../record-store.js'
import { createTextBlocks } from './blocks.js'
import type { Entry } from './entry.js'

/** Values that are objects at the same time, at most: 32,768 grants with the decisions beside each, some 55 MB with keys and labels. */
const MAX_OBJECTS = 65_536

/** Reads of other texts between two reads of a text, up to which it becomes an object. */
const READ_AGAIN_WITHIN = 4_096

/** The values of a store's entries. */
export interface Values {
  /** Reads the value of an entry. */
  readonly read: (entry: Entry) => JsonValue
  /** Gives a new entry its value. */
  readonly add: (entry: Entry, value: JsonValue) => void
  /**
   * Replaces the value of an entry.
   * @throws TypeError for a value that is not JSON, before anything has changed
   */
  readonly replace: (entry: Entry, value: JsonValue) => void
  /** Removes the value of an entry. */
  readonly remove: (entry: Entry) => void
  /** Gives back some of the space that removed values took. */
  readonly compact: () => void
}

/** Makes a store of values. */
export function createValues(): Values {
  const blocks = createTextBlocks()
  /** Entries whose values are objects. */
  const objects: Entry[] = []
  /** Index of the object that was added last. Once there are `MAX_OBJECTS`, the one after it is the oldest. */
  let newest = -1
  /** Texts read so far. */
  let reads = 0

  /** Makes a value an object. If there are `MAX_OBJECTS` already, the oldest of them becomes a text. */
  function addObject(entry: Entry, value: JsonValue): void {
    newest = (newest + 1) % MAX_OBJECTS
    const oldest = objects.length < MAX_OBJECTS ? undefined : objects[newest]
    const text = oldest === undefined ? '' : JSON.stringify(oldest.value)
    blocks.remove(entry)
    entry.value = value
    entry.place = oldest === undefined ? objects.length : newest
    objects[entry.place] = entry
    if (oldest === undefined) return
    oldest.value = undefined
    blocks.write(oldest, text)
  }

  return {
    read(entry) {
      if (entry.value !== undefined) return entry.value
      const value: JsonValue = JSON.parse(blocks.read(entry))
      const isReadAgain = entry.readAt !== 0 && reads - entry.readAt < READ_AGAIN_WITHIN
      entry.readAt = ++reads
      if (isReadAgain) addObject(entry, value)
      return value
    },

    add: addObject,

    replace(entry, value) {
      if (entry.value !== undefined) entry.value = value
      else {
        JSON.stringify(value) // throws here if it must, not in the operation that makes a text of it
        addObject(entry, value)
      }
    },

    remove(entry) {
      blocks.remove(entry)
      if (entry.value === undefined) return
      entry.value = undefined
      const last = objects.pop()
      if (last === undefined || last === entry) return
      last.place = entry.place
      objects[last.place] = last
    },

    compact: blocks.compact,
  }
}

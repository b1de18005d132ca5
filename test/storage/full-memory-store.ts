/**
 * A memory store that holds as many values as it keeps as objects.
 * @module
 */
import type { RecordStore } from 'grantwell'
import type { MemoryStore } from 'grantwell/storage/memory'
import { memoryStore } from 'grantwell/storage/memory'

/** A time to begin with, in seconds. */
export const NOW = 1_800_000_000

/** How many values are kept as objects, those written last; the others are kept as text. */
export const OBJECTS = 65_536

/** Bytes that the shortest text takes. */
export const LEAST_BYTES = 128

/** A store with so many values that each new one makes a text of another. */
export function fullStore(clock: () => number): MemoryStore {
  const store = memoryStore({ clock })
  for (let index = 0; index < OBJECTS; index++) store.write(`object ${index}`, {}, { expected: 0 })
  return store
}

/** The version of a record, 0 where there is none: this store answers at once. */
export function versionOf(store: RecordStore, key: string): number {
  const [found] = store.read([key]) as readonly ({ readonly version: number } | undefined)[]
  return found?.version ?? 0
}

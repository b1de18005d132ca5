/**
 * One record as the memory store holds it.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { JsonValue } from '../record-store.js'
import type { TextOwner } from './blocks.js'

/** A record of the memory store. Its value is either an object or a text in a block. */
export interface Entry extends TextOwner {
  readonly key: string
  readonly labels: readonly string[]
  /** Position among all records by the time of their creation; cursors of lists refer to it. */
  readonly sequence: number
  /** 0 once the entry was removed. */
  version: number
  /** Undefined for a record that never expires. Infinity would make V8 allocate a number object for every entry. */
  expiresAt: Seconds | undefined
  /** Undefined while the value is a text in a block. */
  value: JsonValue | undefined
  /** Index of the entry among the objects; while the value is a text, its offset in the block. One field for both saves memory. */
  place: number
  /** Count of all texts read by the time that this one was read last; 0 if it never was. */
  readAt: number
}

const NO_LABELS: readonly string[] = []

/** Makes an entry without a value. Each label is kept once. */
export function createEntry(
  key: string,
  labels: readonly string[],
  expiresAt: Seconds | undefined,
  sequence: number,
): Entry {
  return {
    key,
    labels: labels.length === 0 ? NO_LABELS : [...new Set(labels)],
    sequence,
    version: sequence,
    expiresAt,
    value: undefined,
    block: undefined,
    place: 0,
    length: 0,
    readAt: 0,
  }
}

/** Checks whether a record exists at a time: it ends with the second in which it expires. */
export function isLive({ expiresAt }: Entry, now: Seconds): boolean {
  return expiresAt === undefined || now < expiresAt
}

/**
 * Arguments that functions of the management share.
 * @module
 */
import type { TakesOf } from '../core/takes.js'
import { TEXT } from '../core/takes.js'
import type { PageWanted } from '../shell/records/checked-store.js'

/** The options of a page of a list. */
export const PAGE: TakesOf<PageWanted> = {
  limit: {
    words: 'a whole number from 1 on',
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  },
  cursor: TEXT,
}

/**
 * Arguments that functions of the management share.
 * @module
 */
import type { TakesOf } from '../core/takes.js'
import { NAME, TEXT } from '../core/takes.js'
import type { Subject } from '../core/values.js'
import type { PageWanted } from '../shell/records/checked-store.js'

/** The options of a page of a list. */
export const PAGE: TakesOf<PageWanted> = {
  limit: {
    words: 'a whole number from 1 on',
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  },
  cursor: TEXT,
}

/** The one who asks for a change. */
export interface ActedBy {
  /** The administrator or applicant who asks for it, for the audit trail: a name of the host's own, not empty. */
  readonly actor?: Subject
}

/** The option that names who asks. */
export const ACTED_BY: TakesOf<ActedBy> = { actor: NAME }

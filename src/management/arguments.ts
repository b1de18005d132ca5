/**
 * Arguments that functions of the management share.
 * @module
 */
import type { Takes, TakesOf } from '../core/takes.js'
import { isObject, NAME, TEXT } from '../core/takes.js'
import type { Subject } from '../core/values.js'
import type { HttpRequest, RequestLike } from '../protocol/message.js'
import type { PageWanted } from '../shell/records/checked-store.js'

/** The options of a page of a list. */
export const PAGE: TakesOf<PageWanted> = {
  limit: {
    words: 'a whole number from 1 on',
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  },
  cursor: TEXT,
}

/** The one who asks for a change, and the request by which it came: for the audit trail. */
export interface ActedBy {
  /** The administrator or applicant who asks for it: a name of the host's own, not empty. */
  readonly actor?: Subject
  /** A request as a guard takes it, or as the server's functions of the host get it; absent for a change that came by none. */
  readonly request?: HttpRequest | RequestLike
}

const REQUEST: Takes = {
  words: 'a request with headers',
  fits: (value) => isObject(value) && isObject(value['headers']) && !Array.isArray(value['headers']),
}

/** The option that names the request. */
export const ASKED_BY: TakesOf<Pick<ActedBy, 'request'>> = { request: REQUEST }

/** The options that name who asks. */
export const ACTED_BY: TakesOf<ActedBy> = { actor: NAME, ...ASKED_BY }

/**
 * Reasons: for a scope, or for a rejection.
 * @module
 */

import { isLines, isVisible, isWithin, unseenFault } from '../text.js'
import { SUBMISSION_LIMITS } from './registration.js'

/** Finds the fault of a reason, which must have something to see in at most 350 characters; undefined where it has none. */
export function reasonFault(value: unknown): string | undefined {
  if (typeof value !== 'string' || !isVisible(value) || !isWithin(value, SUBMISSION_LIMITS.reason))
    return `must have 1 to ${SUBMISSION_LIMITS.reason} characters`
  return isLines(value) ? undefined : unseenFault(value)
}

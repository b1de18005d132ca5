/**
 * Reasons: for a scope, or for a rejection.
 * @module
 */

import type { Inclusions, Scope } from '../scopes.js'
import { isLines, isVisible, isWithin, unseenFault } from '../text.js'
import { SUBMISSION_LIMITS } from './registration.js'

/** Finds the fault of a reason, which must have something to see in at most 350 characters; undefined where it has none. */
export function reasonFault(value: unknown): string | undefined {
  if (typeof value !== 'string' || !isVisible(value) || !isWithin(value, SUBMISSION_LIMITS.reason))
    return `must have 1 to ${SUBMISSION_LIMITS.reason} characters`
  return isLines(value) ? undefined : unseenFault(value)
}

/**
 * Returns the reason that an applicant gave for a scope, else the one for a scope that includes it: that of `name:rw` goes with `name:r`.
 * Undefined where there is none.
 */
export function reasonOf(
  reasons: Readonly<Record<string, string>>,
  scope: Scope,
  { entries }: Inclusions,
): string | undefined {
  const given = [scope, ...(entries.get(scope)?.includedBy ?? [])].find((each) => Object.hasOwn(reasons, each))
  return given === undefined ? undefined : reasons[given]
}

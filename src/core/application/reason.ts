/**
 * Reasons: for a scope, or for a rejection.
 * @module
 */

import type { Inclusions, Scope } from '../scopes.js'
import { isLines, isVisible, isWithin } from '../text.js'
import type { BrokenRule } from './faults.js'
import { brokenRule, unseenRule } from './faults.js'
import { SUBMISSION_LIMITS } from './registration-form.js'

/** Finds the rule that a reason breaks, which must have something to see in at most 350 characters; undefined where it breaks none. */
export function reasonFault(
  value: unknown,
): BrokenRule<'reason_length' | 'half_character' | 'unseen_mark'> | undefined {
  const { reason: most } = SUBMISSION_LIMITS
  if (typeof value !== 'string' || !isVisible(value) || !isWithin(value, most))
    return brokenRule('reason_length', { least: 1, most })
  return isLines(value) ? undefined : unseenRule(value)
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

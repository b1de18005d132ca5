/**
 * Reasons: for a scope, or for a rejection.
 * @module
 */

import { isLines, isVisible, isWithin } from '../text.js'
import type { BrokenRule } from './faults.js'
import { brokenRule, unseenRule } from './faults.js'
import { SUBMISSION_LIMITS } from './registration.js'

/** Finds the rule that a reason breaks, which must have something to see in at most 350 characters; undefined where it breaks none. */
export function reasonFault(
  value: unknown,
): BrokenRule<'reason_length' | 'half_character' | 'unseen_mark'> | undefined {
  const { reason: most } = SUBMISSION_LIMITS
  if (typeof value !== 'string' || !isVisible(value) || !isWithin(value, most))
    return brokenRule('reason_length', { least: 1, most })
  return isLines(value) ? undefined : unseenRule(value)
}

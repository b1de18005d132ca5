/**
 * Records that are removed.
 * @module
 */
import type { Seconds } from '../core/values.js'

/** The time at which a removed record expires: past on every clock, so that it is gone for every server at once. */
export const LONG_PAST: Seconds = 1

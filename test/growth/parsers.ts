/**
 * Everything that reads what a stranger wrote, each with the inputs that would be dear: what is repeated, what nearly fits.
 * @module
 */
import { CLIENT } from './client-parsers.js'
import { CORE } from './core-parsers.js'
import { METADATA } from './metadata-parsers.js'
import { METADATA_WRITERS } from './metadata-writers.js'
import { PROTOCOL } from './protocol-parsers.js'
import { REGISTRATION } from './registration-parsers.js'
import type { Inputs } from './shapes.js'

/** Parsers by their files and names, as {@link file://./inventory.test.ts} finds them. */
export const PARSERS: Readonly<Record<string, Inputs>> = {
  ...CORE,
  ...PROTOCOL,
  ...REGISTRATION,
  ...CLIENT,
  ...METADATA,
  ...METADATA_WRITERS,
}

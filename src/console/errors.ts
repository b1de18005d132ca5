/**
 * The errors of the functions that the console calls. In CommonJS their class is another than that of this entry point, so they are told
 * by their name.
 * @module
 */
import type { RegistrationFault } from '../core/application/faults.js'
import type { GrantwellErrorCode } from '../core/errors.js'

interface Refusal {
  readonly code: GrantwellErrorCode
  readonly faults: readonly RegistrationFault[]
}

/** Returns the code of an error of `server.applications` or `server.grants`; undefined for any other error. */
export function errorCodeOf(error: unknown): GrantwellErrorCode | undefined {
  return refusalOf(error)?.code
}

/** Returns the faults of a registration that was refused. */
export function faultsOf(error: unknown): readonly RegistrationFault[] {
  return refusalOf(error)?.faults ?? []
}

function refusalOf(error: unknown): Refusal | undefined {
  return error instanceof Error && error.name === 'GrantwellError' ? (error as Error & Refusal) : undefined // has both
}

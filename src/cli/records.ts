/**
 * Reads records from the bytes of files, and reports their faults.
 * @module
 */
import { MAX_BYTES } from '../metadata/errors.js'
import type { ReadOptions, ReadResult } from '../metadata/index.js'
import { MetadataError, readMetadata } from '../metadata/index.js'
import type { Fault } from './files/files.js'
import { STDIN } from './files/files.js'
import { escapeLine, paint, printError } from './output.js'

/** A fault of a record, with its place if it is known. */
export interface RecordFault extends Fault {
  readonly code: string
  readonly line?: number
  readonly column?: number
}

/** A record, or the reason why it cannot be read. */
export type Parsed = ReadResult | RecordFault

/** Reads a record of any format. Never throws, whatever the bytes are. */
export function parseRecord(path: string, bytes: Uint8Array, options: ReadOptions): Parsed {
  try {
    return readMetadata(bytes, options)
  } catch (error) {
    const fault = makeFault(path, error)
    return fault.code === 'ambiguous_format'
      ? { ...fault, reason: `${AMBIGUOUS}: say which it is, with --from` }
      : fault
  }
}

/** Words for bytes that are valid as binary and also as text or JSON. */
export const AMBIGUOUS = 'good as binary and as text or JSON, as another record in each'

/** Words for a result that no command would read again. */
export function tooLargeReason(size: number, format?: string): string {
  return `would be ${size} bytes${format === undefined ? '' : ` of ${format}`}, and no command reads more than ${MAX_BYTES} again`
}

/** Turns any error into a fault of one record, so that the records after it are still read. */
export function makeFault(path: string, error: unknown): RecordFault {
  // `instanceof` is safe here: of the command's files, one alone has the class.
  if (!(error instanceof MetadataError))
    return { path, code: 'failed', reason: `cannot be worked on: ${error instanceof Error ? error.message : error}` }
  const { code, line, column, message } = error
  if (line === undefined || column === undefined) return { path, code, reason: message }
  const place = `${line}:${column}: `
  return { path, code, line, column, reason: message.startsWith(place) ? message.slice(place.length) : message }
}

/** Returns a path as it is shown to people. */
export function displayName(path: string): string {
  return path === STDIN ? '<stdin>' : escapeLine(path)
}

/** Writes `path:line:column:`, the form that compilers write and editors read. */
export function displayPlace(path: string, line?: number, column?: number): string {
  return line === undefined ? `${displayName(path)}:` : `${displayName(path)}:${line}:${column}:`
}

/** Prints a fault on standard error. */
export function reportFault(fault: Fault | RecordFault): void {
  const [line, column] = 'line' in fault ? [fault.line, fault.column] : []
  const kind = paint('red', 'error:', process.stderr)
  printError(`${displayPlace(fault.path, line, column)} ${kind} ${escapeLine(fault.reason)}`)
}

/** Prints a warning on standard error, for something that was skipped. */
export function reportWarning({ path, reason }: Fault): void {
  printError(`${displayPlace(path)} ${paint('yellow', 'warning:', process.stderr)} ${escapeLine(reason)}`)
}

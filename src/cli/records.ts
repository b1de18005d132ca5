/**
 * From the bytes of a file to a record, or to what is wrong with them.
 * @module
 */
import type { ReadOptions, ReadResult } from '../metadata/index.js'
import { MetadataError, readMetadata } from '../metadata/index.js'
import type { Fault } from './files/files.js'
import { STDIN } from './files/files.js'
import { escapeLine, paint, printError } from './output.js'

/** A fault of a record, with its place where it has one. */
export interface RecordFault extends Fault {
  readonly code: string
  readonly line?: number
  readonly column?: number
}

/** A record, or why it is none. */
export type Parsed = ReadResult | RecordFault

/** Reads a record of any format. Never throws for what is in it. */
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

/** Words for bytes that are good as binary and as text or JSON too. */
export const AMBIGUOUS = 'good as binary and as text or JSON, as another record in each'

/** Whatever went wrong with one record as a fault of it, since those after it are to be read all the same. */
export function makeFault(path: string, error: unknown): RecordFault {
  // The class is that of this very bundle.
  if (!(error instanceof MetadataError))
    return { path, code: 'failed', reason: `cannot be worked on: ${error instanceof Error ? error.message : error}` }
  const { code, line, column, message } = error
  if (line === undefined || column === undefined) return { path, code, reason: message }
  const place = `${line}:${column}: `
  return { path, code, line, column, reason: message.startsWith(place) ? message.slice(place.length) : message }
}

/** A path for people. */
export function displayName(path: string): string {
  return path === STDIN ? '<stdin>' : escapeLine(path)
}

/** `path:line:column:`, as compilers write it and editors read it. */
export function displayPlace(path: string, line?: number, column?: number): string {
  return line === undefined ? `${displayName(path)}:` : `${displayName(path)}:${line}:${column}:`
}

/** Says on standard error what is wrong with a file. */
export function reportFault(fault: Fault | RecordFault): void {
  const [line, column] = 'line' in fault ? [fault.line, fault.column] : []
  const kind = paint('red', 'error:', process.stderr)
  printError(`${displayPlace(fault.path, line, column)} ${kind} ${escapeLine(fault.reason)}`)
}

/** Says on standard error what was passed over, or not done, though nothing failed. */
export function reportWarning({ path, reason }: Fault): void {
  printError(`${displayPlace(path)} ${paint('yellow', 'warning:', process.stderr)} ${escapeLine(reason)}`)
}

/**
 * The reading of a text of a metadata record, as the playground shows it.
 * @module
 */
import type { FieldDescription, FieldValue, MetaData } from '../../../src/metadata/index.js'
import {
  describeField,
  formatJson,
  formatText,
  getField,
  locateFields,
  MetaData as MetaDataCodec,
  MetadataError,
  parseText,
  validate,
} from '../../../src/metadata/index.js'

/** Fields that are shown at most, so that a long text does not stop the page. */
export const SHOWN_FIELDS = 300

/** Bytes that are shown at most. */
export const SHOWN_BYTES = 2048

/** Bytes of one line of a dump. */
const BYTES_OF_LINE = 16

/** One field that is set, at its line of the text. */
export interface ShownField {
  readonly path: string
  /** The value as a person reads it. */
  readonly value: string
  readonly line: number
  /** The field of the schema; absent where the schema has none of that name. */
  readonly description?: FieldDescription
}

/** One problem, at its line of the text. */
export interface ShownProblem {
  readonly line: number
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly code: string
}

/** A text that was written, or the reason why there is none. */
export type Written =
  | { readonly text: string; readonly note?: string }
  | { readonly text?: never; readonly note: string }

/** All that is shown of a text. */
export interface ShownRecord {
  /** One sentence about the text. */
  readonly summary: string
  /** `bad` for a text with errors, `fair` for one with warnings alone. */
  readonly grade: 'good' | 'fair' | 'bad'
  readonly problems: readonly ShownProblem[]
  readonly fields: readonly ShownField[]
  /** The number of fields that are set, shown or not. */
  readonly fieldCount: number
  readonly canonical: Written
  readonly json: Written
  readonly bytes: Written
}

/** A leaf of a record: its path and its value. */
export interface Leaf {
  readonly path: string
  readonly value: FieldValue
}

const NOTHING: Written = { note: 'Nothing, since the text cannot be read.' }

/** Reads a text, and tells all that the page shows of it. */
export function showRecord(text: string): ShownRecord {
  const shown = tryTo(() => showRead(text, parseText(text)))
  if (shown.error === undefined) return shown.value
  const { line = 1, code, message } = shown.error
  const problems = [{ line, severity: 'error', message: withoutPlace(message), code }] as const
  const nothing = { canonical: NOTHING, json: NOTHING, bytes: NOTHING }
  return { summary: `Not read. Line ${line} is wrong.`, grade: 'bad', problems, fields: [], fieldCount: 0, ...nothing }
}

/** Tells all that the page shows of a record and its text. */
function showRead(text: string, record: MetaData): ShownRecord {
  const leaves = leavesOf(record)
  const problems = showProblems(text, record)
  return {
    summary: `Read. ${counted(leaves.length, 'field')}, ${countProblems(problems)}.`,
    grade: gradeOf(problems),
    problems,
    fields: showFields(text, leaves.slice(0, SHOWN_FIELDS)),
    fieldCount: leaves.length,
    canonical: written(() => formatText(record)),
    json: written(() => formatJson(record)),
    bytes: writeBytes(record),
  }
}

/** Returns the leaves of a record, in the order of the schema. A message without fields is a leaf of its own. */
export function leavesOf(record: MetaData): readonly Leaf[] {
  const unknown = record._unknownText?.map(({ name }) => name) ?? []
  const names = new Set(['name', 'description', 'third_party', ...unknown])
  return [...names].flatMap((name) => leavesAt(name, getField(record, name)))
}

/** Returns the leaves of a value at its path. */
function leavesAt(path: string, value: FieldValue | undefined): readonly Leaf[] {
  if (value === undefined) return []
  if (isList(value)) return value.flatMap((item, index) => leavesAt(`${path}[${index}]`, item))
  if (!isMessage(value)) return [{ path, value }]
  const inner = Object.entries(value).flatMap(([name, each]) => leavesAt(`${path}.${name}`, each))
  return inner.length === 0 ? [{ path, value }] : inner
}

/** True for a list of values. */
export function isList(value: FieldValue): value is readonly FieldValue[] {
  return Array.isArray(value)
}

/** True for the fields of a message. */
export function isMessage(value: FieldValue): value is { readonly [name: string]: FieldValue } {
  return typeof value === 'object' && !isList(value) && !(value instanceof Uint8Array)
}

/** Writes a value as a person reads it. */
export function showValue(value: FieldValue): string {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return `bytes ${hexOf(value)}`
  return typeof value === 'object' ? 'empty' : String(value)
}

/** Quotes a value that has blanks at its ends, or nothing else, or several lines. */
function visible(value: string): string {
  return value !== value.trim() || value === '' || value.includes('\n') ? JSON.stringify(value) : value
}

/** Tells fields with their lines, in the order of the lines. */
function showFields(text: string, leaves: readonly Leaf[]): readonly ShownField[] {
  const places = locateFields(
    text,
    leaves.map(({ path }) => path),
  )
  return leaves
    .map(({ path, value }, index) => {
      const description = describeField(path)
      const shown = { path, value: visible(showValue(value)), line: places[index]?.line ?? 1 }
      return description === undefined ? shown : { ...shown, description }
    })
    .sort((a, b) => a.line - b.line)
}

/** Tells problems with their lines, in the order of the lines. */
function showProblems(text: string, record: MetaData): readonly ShownProblem[] {
  const found = validate(record).slice(0, SHOWN_FIELDS)
  const places = locateFields(
    text,
    found.map(({ path }) => path),
  )
  return found
    .map(({ path, code, severity, message }, index) => ({
      line: places[index]?.line ?? 1,
      severity,
      message: `${path}: ${message}`,
      code,
    }))
    .sort((a, b) => a.line - b.line)
}

/** Writes a record in binary, as a dump. Fields without a number are left out, and a note says so. */
function writeBytes(record: MetaData): Written {
  const whole = tryTo(() => MetaDataCodec.encode(record))
  if (whole.error === undefined) return { text: dumpOf(whole.value) }
  const { message } = whole.error
  const rest = tryTo(() => MetaDataCodec.encode(record, { unknownText: 'omit' }))
  if (rest.error !== undefined) return { note: `Not written: ${message}.` }
  return { text: dumpOf(rest.value), note: `Written without the fields that have no number. ${message}.` }
}

/** Writes bytes as lines of an offset and sixteen numbers. */
export function dumpOf(bytes: Uint8Array): string {
  const shown = bytes.subarray(0, SHOWN_BYTES)
  const lines = Array.from({ length: Math.ceil(shown.length / BYTES_OF_LINE) }, (_, index) => {
    const from = index * BYTES_OF_LINE
    return `${from.toString(16).padStart(4, '0')}  ${hexOf(shown.subarray(from, from + BYTES_OF_LINE))}`
  })
  const left = bytes.length - shown.length
  return [...lines, left > 0 ? `and ${left} bytes more` : `${bytes.length} bytes`].join('\n')
}

/** Writes bytes as numbers of two digits. */
function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ')
}

/** Writes a text, or says why it cannot be written. */
function written(write: () => string): Written {
  const { value, error } = tryTo(write)
  return error === undefined ? { text: value } : { note: `Not written: ${error.message}.` }
}

/** A value, or the error of the codec that came in place of it. */
export type Tried<Value> =
  | { readonly value: Value; readonly error?: never }
  | { readonly value?: never; readonly error: MetadataError }

/** Calls the codec. Any other error than its own goes on. */
export function tryTo<Value>(call: () => Value): Tried<Value> {
  try {
    return { value: call() }
  } catch (error) {
    if (error instanceof MetadataError) return { error }
    throw error
  }
}

/** Leaves out the place that a message begins with, which is shown beside it. */
function withoutPlace(message: string): string {
  return message.replace(/^\d+:\d+: /, '')
}

/** Grades a record by its problems. */
function gradeOf(problems: readonly ShownProblem[]): ShownRecord['grade'] {
  if (problems.length === 0) return 'good'
  return problems.some(({ severity }) => severity === 'error') ? 'bad' : 'fair'
}

/** Counts errors and warnings in words. */
function countProblems(problems: readonly ShownProblem[]): string {
  if (problems.length === 0) return 'no problems'
  const errors = problems.filter(({ severity }) => severity === 'error').length
  return `${counted(errors, 'error')}, ${counted(problems.length - errors, 'warning')}`
}

/** Writes a number with its word. */
export function counted(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}

/** Returns the offsets at which a line of a text begins and ends. */
export function rangeOfLine(text: string, line: number): { readonly start: number; readonly end: number } {
  const lines = text.split('\n')
  const before = lines.slice(0, line - 1)
  const start = before.reduce((sum, each) => sum + each.length + 1, 0)
  return { start: Math.min(start, text.length), end: Math.min(start + (lines[line - 1]?.length ?? 0), text.length) }
}

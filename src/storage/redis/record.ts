/**
 * A record as text in Redis: a line with its version, its expiry, the time it is kept until and its labels; then its value.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { JsonValue, ScannedRecord, StoredRecord } from '../record-store.js'
import { decodeName } from '../shared/names.js'
import type { Parse } from '../shared/parse-cache.js'

/** The most characters of the three numbers in the first line, with the spaces after them. The labels follow. */
export const NUMBERS_LENGTH = 60

/** The parts of a record. */
interface Parts {
  readonly version: number
  /** Empty for a record that does not expire, or that is removed. */
  readonly expiresAt: Seconds | ''
  /** Empty like `expiresAt`. */
  readonly keptUntil: Seconds | ''
  readonly labels: readonly string[]
  readonly value: JsonValue
}

/** Formats a record. */
export function formatRecord({ version, expiresAt, keptUntil, labels, value }: Parts): string {
  return `${version} ${expiresAt} ${keptUntil}${formatLabels(labels)}\n${JSON.stringify(value)}`
}

/** Formats labels, each between tabs: no encoded label contains a tab. */
function formatLabels(labels: readonly string[]): string {
  return labels.map((label) => `\t=${label}\t`).join('')
}

/** Formats a label as the first line of a record contains it. */
export function formatLabel(label: string): string {
  return formatLabels([label])
}

/** Parses a record. Returns undefined for a record that is absent or expired. */
export function parseRecord(text: string | null, now: Seconds, parse: Parse): StoredRecord | undefined {
  if (text === null) return undefined
  const end = text.indexOf(' ')
  const expiresAt = text.slice(end + 1, text.indexOf(' ', end + 1))
  if (expiresAt !== '' && now >= Number(expiresAt)) return undefined
  const version = Number(text.slice(0, end))
  return { value: parse(text.slice(text.indexOf('\n', end) + 1), version), version }
}

/** Parses a record with all that it was written with, but its key. */
export function parseScanned(text: string | null, now: Seconds, parse: Parse): Omit<ScannedRecord, 'key'> | undefined {
  const record = parseRecord(text, now, parse)
  if (text === null || record === undefined) return undefined
  const line = text.slice(0, text.indexOf('\n'))
  const [numbers = '', ...labels] = line.split('\t').filter((part) => part !== '')
  const [, expiresAt = ''] = numbers.split(' ')
  const expiry = expiresAt === '' ? {} : { expiresAt: Number(expiresAt) }
  return { ...record, labels: labels.map((label) => decodeName(label.slice(1))), ...expiry }
}

/** Returns true if the first line of a record contains a label. */
export function hasLabel(text: string | null, label: string): boolean {
  const line = text?.slice(0, text.indexOf('\n')) ?? ''
  return line.includes(formatLabel(label))
}

/**
 * Conversions of a day, from and to ISO 8601 and `Date`.
 * @module
 */
import { describeKind, MetadataError } from './errors.js'
import type { DateMessage } from './schema/messages.js'
import { DateSchema } from './schema/schema.js'

const ISO_DAY = /^(\d{4})-(\d\d)-(\d\d)$/

/**
 * Formats a day as `YYYY-MM-DD` (ISO 8601).
 * @returns undefined if a part is missing, or if the calendar has no such day in the years 1 to 9999
 * @example
 * dateToISO({ year: 2026, month: 11, day: 21 }) // '2026-11-21'
 */
export function dateToISO(date: DateMessage): string | undefined {
  const { year, month, day } = date
  if (typeof year !== 'number' || typeof month !== 'number' || typeof day !== 'number') return undefined
  const iso = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
  return isDay(iso) ? iso : undefined
}

/**
 * Parses a day in the form `YYYY-MM-DD`.
 * @throws {MetadataError} `invalid_value` if it is not a day
 */
export function dateFromISO(text: string): DateMessage {
  if (typeof text !== 'string' || !isDay(text)) return refuse(text, 'a day of the calendar as YYYY-MM-DD')
  const [, year, month, day] = ISO_DAY.exec(text) ?? []
  return Object.assign(DateSchema.create(), { year: Number(year), month: Number(month), day: Number(day) })
}

/** Returns midnight UTC at the start of a day. Returns undefined if it is not a day, as {@link dateToISO} does. */
export function toDate(date: DateMessage): Date | undefined {
  const iso = dateToISO(date)
  return iso === undefined ? undefined : new Date(`${iso}T00:00:00Z`)
}

/**
 * Returns the day of a moment, in UTC.
 * @throws {MetadataError} `invalid_value` for a year outside 1 to 9999, or an invalid `Date`
 */
export function fromDate(date: Date): DateMessage {
  if (!(date instanceof Date) || Number.isNaN(date.getTime())) return refuse(date, 'a Date')
  return dateFromISO(date.toISOString().slice(0, -14))
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, '0')
}

function isDay(text: string): boolean {
  const [, year, month, day] = ISO_DAY.exec(text) ?? []
  if (Number(year) < 1) return false
  const date = new Date(`${text}T00:00:00Z`)
  // `Date` turns a 31st that a month does not have into a day of the next month.
  return !Number.isNaN(date.getTime()) && date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day)
}

function refuse(value: unknown, expected: string): never {
  const given = typeof value === 'string' || value instanceof Date ? JSON.stringify(String(value)) : describeKind(value)
  throw new MetadataError('invalid_value', `${given} should be ${expected}`, { expected })
}

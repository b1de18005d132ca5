/**
 * Days, from and to what programs have.
 * @module
 */
import { MetadataError } from './errors.js'
import type { DateMessage } from './schema/messages.js'
import { DateSchema } from './schema/schema.js'

const ISO_DAY = /^(\d{4})-(\d\d)-(\d\d)$/

/**
 * A day as `YYYY-MM-DD` (ISO 8601).
 * @returns undefined when it is no day of the calendar between the years 1 and 9999: a part is missing, or there is no such day
 * @example
 * dateToISO({ year: 2026, month: 11, day: 21 }) // '2026-11-21'
 */
export function dateToISO(date: DateMessage): string | undefined {
  const { year, month, day } = date
  if (year === undefined || month === undefined || day === undefined) return undefined
  const iso = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
  return isDay(iso) ? iso : undefined
}

/**
 * The day that `YYYY-MM-DD` says.
 * @throws {MetadataError} `invalid_value` when it is none
 */
export function dateFromISO(text: string): DateMessage {
  if (!isDay(text)) return refuse(text, 'a day of the calendar as YYYY-MM-DD')
  const [, year, month, day] = ISO_DAY.exec(text) ?? []
  return Object.assign(DateSchema.create(), { year: Number(year), month: Number(month), day: Number(day) })
}

/** Midnight UTC at the start of a day; undefined when it is none, as for {@link dateToISO}. */
export function toDate(date: DateMessage): Date | undefined {
  const iso = dateToISO(date)
  return iso === undefined ? undefined : new Date(`${iso}T00:00:00Z`)
}

/**
 * The day, in UTC, of a moment.
 * @throws {MetadataError} `invalid_value` when it is outside the years 1 to 9999, or no moment at all
 */
export function fromDate(date: Date): DateMessage {
  if (!(date instanceof Date) || Number.isNaN(date.getTime())) return refuse(String(date), 'a Date')
  return dateFromISO(date.toISOString().slice(0, -14))
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, '0')
}

function isDay(text: string): boolean {
  const [, year, month, day] = ISO_DAY.exec(text) ?? []
  if (Number(year) < 1) return false
  const date = new Date(`${text}T00:00:00Z`)
  // A month's 31st that does not exist becomes a day of the next.
  return !Number.isNaN(date.getTime()) && date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day)
}

function refuse(value: string, expected: string): never {
  throw new MetadataError('invalid_value', `${JSON.stringify(value)} should be ${expected}`, { expected })
}

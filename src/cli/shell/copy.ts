/**
 * `store export` and `store import`: all records of a store in a file of JSON lines, and from it into another store. Both are streamed.
 * @module
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { RecordStore } from '../../index.js'
import type { CopiedRecord, Sum, Summing } from './all-records.js'
import { allRecords, canonical, copyOf, createSumming } from './all-records.js'
import { Refused } from './run.js'
import type { Seen } from './seen.js'
import { createSeen } from './seen.js'

/** The first line of a file. */
interface Head {
  readonly grantwell: 'records'
  readonly version: 1
  /** The time at which the export began, in seconds since the epoch. */
  readonly at: number
}

/** The time in seconds since the epoch. */
function seconds(): number {
  return Math.floor(Date.now() / 1000)
}

/**
 * Writes all records of a store to a file, and reads the store again to find out if it changed meanwhile.
 * @throws Refused if it did; then there is no file
 */
export async function exportRecords(store: RecordStore, file: string): Promise<Sum> {
  if (existsSync(file)) throw new Error(`${file} is there already`)
  const start = seconds()
  const seen = createSeen()
  try {
    const written = await writeRecords(store, file, start, seen)
    const found = await sumOf(store, start, seen)
    const now = seconds()
    demandEqual(
      written.at(now),
      found.at(now),
      'the store changed while it was read: stop all servers, and export again',
    )
    return written.at(now)
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
}

/** Writes a head, the records, and an end with their sum. */
async function writeRecords(store: RecordStore, file: string, start: number, seen: Seen): Promise<Summing> {
  const written = createSumming(start)
  async function* lines(): AsyncGenerator<string> {
    const head: Head = { grantwell: 'records', version: 1, at: start }
    yield `${JSON.stringify(head)}\n`
    for await (const record of allRecords(store, seen)) {
      const copied = copyOf(record)
      written.add(copied)
      yield `${JSON.stringify(copied)}\n`
    }
    yield `${JSON.stringify({ end: true, ...written.all() })}\n`
  }
  // Nobody else may read it: it says who permitted what, and the codes of this moment can be derived from it.
  await pipeline(Readable.from(lines(), { highWaterMark: 64 }), createWriteStream(file, { mode: 0o600 }))
  return written
}

/** Sums up the records of a store. */
async function sumOf(store: RecordStore, start: number, seen?: Seen): Promise<Summing> {
  const summing = createSumming(start)
  for await (const record of allRecords(store, seen)) summing.add(copyOf(record))
  return summing
}

function demandEqual(a: Sum, b: Sum, otherwise: string): void {
  if (a.records === b.records && a.digest === b.digest) return
  throw new Refused(
    `${otherwise} (${a.records} records with the digest ${a.digest}, and ${b.records} with ${b.digest})`,
  )
}

/** Writes that wait for the store at the same time. */
const AT_ONCE = 512

/**
 * Writes all records of a file into a store that has no others, and reads the store to find out if they are there. A record that is there
 * already counts, so an import that was cut off can be run again.
 * @throws Refused for a file that is not whole, and for a store that has other records
 */
export async function importRecords(store: RecordStore, file: string): Promise<Sum> {
  const start = seconds()
  const summing = createSumming(start)
  let end: Sum | undefined
  let waiting: Promise<void>[] = []
  for await (const line of linesOf(file)) {
    if (end !== undefined) throw new Refused(`${file} goes on after its end`)
    if ('end' in line) end = line
    else {
      summing.add(line)
      const writing = writeRecord(store, line)
      // A failure is thrown when all are awaited, and is no unhandled one until then.
      writing.catch(() => {})
      waiting.push(writing)
    }
    if (waiting.length < AT_ONCE && end === undefined) continue
    await Promise.all(waiting)
    waiting = []
  }
  await Promise.all(waiting)
  if (end === undefined) throw new Refused(`${file} is cut off: its last line is not there`)
  demandEqual(end, summing.all(), `${file} was changed after the export`)
  const found = await sumOf(store, start)
  const now = seconds()
  demandEqual(summing.at(now), found.at(now), 'the store has other records than the file')
  return found.at(now)
}

/** Writes a record, unless it is there already or has expired. */
async function writeRecord(store: RecordStore, record: CopiedRecord): Promise<void> {
  const { key, value, expiresAt, labels } = record
  if (expiresAt !== undefined && expiresAt <= seconds()) return
  const expiry = expiresAt === undefined ? {} : { expiresAt }
  if (await store.write(key, value, { expected: 0, labels, ...expiry })) return
  const [found] = await store.read([key])
  if (found !== undefined && canonical(found.value) !== canonical(value))
    throw new Refused(`the store has another record ${key} already: import into a store or namespace without records`)
}

type Line = CopiedRecord | (Sum & { readonly end: true })

/** Reads the lines of a file after the first. */
async function* linesOf(file: string): AsyncGenerator<Line> {
  let number = 0
  for await (const text of textLines(file)) {
    number++
    const parsed = parseLine(text)
    if (number > 1) {
      if (!isLine(parsed)) throw new Refused(`${file}, line ${number}: it is no record`)
      yield parsed
    } else if (parsed?.['grantwell'] !== 'records' || parsed['version'] !== 1)
      throw new Refused(`${file} is no file of store export, or of a later release`)
  }
}

/** Reads the lines of a file. Unlike Node's readline, it ends them at newlines alone: JSON may have other separators in its texts. */
async function* textLines(file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 18 })) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function isLine(parsed: unknown): parsed is Line {
  if (typeof parsed !== 'object' || parsed === null) return false
  const { end, records, digest, key, value, labels, expiresAt } = parsed as Readonly<Record<string, unknown>>
  if (end === true) return typeof records === 'number' && typeof digest === 'string'
  const isTime = expiresAt === undefined || Number.isSafeInteger(expiresAt)
  const hasLabels = Array.isArray(labels) && labels.every((label) => typeof label === 'string')
  return typeof key === 'string' && value !== undefined && isTime && hasLabels
}

/**
 * `store export` and `store import`: all records of a store in a file of JSON lines, and from it into another store. Both are streamed.
 * @module
 */
import { createReadStream, existsSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { RecordStore } from '../../index.js'
import type { CopiedRecord, Sum, Summing } from './all-records.js'
import { allRecords, canonical, copyOf, createSumming, demandScan, digestOf } from './all-records.js'
import { isTold, Refused } from './run.js'
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
 * Writes all records of a store to a file, and reads the store again to find out if it changed meanwhile. Until then the file is named
 * `.part`.
 * @throws Error if there is a file of either name
 * @throws Refused if the store changed; then there is no file
 */
export async function exportRecords(store: RecordStore, file: string): Promise<Sum> {
  demandScan(store)
  const part = `${file}.part`
  if (existsSync(file)) throw new Error(`${file} is there already`)
  if (existsSync(part)) throw new Error(`${part} is there already: remove it if no other export writes it`)
  const start = seconds()
  const seen = createSeen()
  // Nobody else may read it: it says who permitted what, and the codes of this moment can be derived from it.
  const opened = await open(part, 'wx', 0o600)
  try {
    const written = await writeRecords(store, opened, start, seen)
    const found = await sumOf(store, start, seen)
    const now = seconds()
    demandEqual(
      written.at(now),
      found.at(now),
      'the store changed while it was read: stop all servers, and export again',
    )
    if (existsSync(file)) throw new Error(`${file} is there already`)
    await rename(part, file)
    return written.all()
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** Writes a head, the records, and an end with their sum. Closes the file. */
async function writeRecords(store: RecordStore, file: FileHandle, start: number, seen: Seen): Promise<Summing> {
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
  await pipeline(Readable.from(lines(), { highWaterMark: 64 }), file.createWriteStream({ flush: true }))
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
 * already counts, so an import that was cut off can be run again. Nothing is written before the file is known to be whole, and the store
 * to have no other records.
 * @throws Refused for a file that is not whole, and for a store that has other records
 */
export async function importRecords(store: RecordStore, file: string): Promise<Sum> {
  demandScan(store)
  const start = seconds()
  const inFile = createSeen()
  const expected = await checkFile(file, start, inFile)
  for await (const record of allRecords(store))
    if (!inFile.has(digestOf(copyOf(record))))
      throw new Refused(
        `the store has another record ${record.key} already, and nothing was written: import into a store or namespace without records`,
      )
  try {
    await writeFileRecords(store, file)
    const found = await sumOf(store, start, inFile)
    const now = seconds()
    demandEqual(expected.at(now), found.at(now), 'the store has other records than the file')
  } catch (error) {
    // Records may be written by now. Whatever was wrong, it is not as if nothing had been done.
    throw isTold(error) ? error : new Refused(error instanceof Error ? error.message : String(error))
  }
  return expected.all()
}

/**
 * Reads a file to its end.
 * @param inFile - a set that gets the digest of each record
 * @throws Refused for one that is not whole
 */
async function checkFile(file: string, start: number, inFile: Seen): Promise<Summing> {
  const summing = createSumming(start)
  let end: Sum | undefined
  for await (const line of linesOf(file)) {
    if (end !== undefined) throw new Refused(`${file} goes on after its end`)
    if ('end' in line) end = line
    else inFile.add(summing.add(line))
  }
  if (end === undefined) throw new Refused(`${file} is cut off: its last line is not there`)
  demandEqual(end, summing.all(), `${file} was changed after the export`)
  return summing
}

/** Writes the records of a file, many at a time. */
async function writeFileRecords(store: RecordStore, file: string): Promise<void> {
  let waiting: Promise<void>[] = []
  for await (const line of linesOf(file)) {
    if ('end' in line) break
    const writing = writeRecord(store, line)
    // A failure is thrown when all are awaited, and is no unhandled one until then.
    writing.catch(() => {})
    waiting.push(writing)
    if (waiting.length < AT_ONCE) continue
    await Promise.all(waiting)
    waiting = []
  }
  await Promise.all(waiting)
}

/** Writes a record, unless it is there already or has expired. */
async function writeRecord(store: RecordStore, record: CopiedRecord): Promise<void> {
  const { key, value, expiresAt, labels } = record
  if (expiresAt !== undefined && expiresAt <= seconds()) return
  const expiry = expiresAt === undefined ? {} : { expiresAt }
  if (await store.write(key, value, { expected: 0, labels, ...expiry })) return
  const [found] = await store.read([key])
  if (found !== undefined && canonical(found.value) !== canonical(value))
    throw new Refused(`another record ${key} came into the store during the import: stop all servers, and begin again`)
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

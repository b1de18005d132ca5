/**
 * Records on disk: found in trees, read many at once, replaced whole.
 * @module
 */
import { randomBytes } from 'node:crypto'
import fs, { constants, createReadStream, type Stats } from 'node:fs'
import { access, lstat, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, normalize } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { MAX_BYTES, MetadataError } from '../metadata/errors.js'

/** The path that means standard input. */
export const STDIN = '-'

/** What a record in a tree is called. A file that is named on the command line may have any name. */
const RECORD = /^METADATA$|\.(?:textproto|textpb|txtpb|pbtxt)$/

/** Folders without records: in a `.dist-info`, METADATA is something else. */
const SKIPPED = /^(?:\.git|node_modules)$|\.dist-info$/

// Several times as fast as those of `node:fs/promises`, which is felt with thousands of files.
const stat = promisify(fs.stat)
const readFile = promisify(fs.readFile)

/** How many files are read ahead. */
const AHEAD = 32

/** Something that cannot be read, found or written, and why. */
export interface Fault {
  readonly path: string
  readonly reason: string
}

/** What the paths on a command line lead to. */
export interface Found {
  readonly files: readonly string[]
  readonly faults: readonly Fault[]
  /** Whether one file was named, or standard input alone. */
  readonly single: boolean
}

/** Follows paths: folders to all records in them, in the order of their names; anything else to itself. */
export async function findRecords(paths: readonly string[]): Promise<Found> {
  const faults: Fault[] = []
  const files: string[] = []
  let single = paths.length === 1
  for (const path of paths) {
    const stats = path === STDIN ? undefined : await stat(path).catch(() => undefined)
    if (stats?.isDirectory()) {
      single = false
      const found = await recordsIn(path, faults)
      if (found.length === 0) faults.push({ path, reason: 'no records here' })
      for (const file of found.sort()) files.push(file)
    } else files.push(path === STDIN ? path : normalize(path))
  }
  return { files: [...new Set(files)], faults, single }
}

async function recordsIn(directory: string, faults: Fault[]): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    const found = entries.map(async (entry): Promise<string[]> => {
      const path = join(directory, entry.name)
      if (entry.isDirectory()) return SKIPPED.test(entry.name) ? [] : recordsIn(path, faults)
      if (!RECORD.test(entry.name)) return []
      if (entry.isFile()) return [path]
      // A link that leads nowhere is read all the same, so that its fault is seen.
      return entry.isSymbolicLink() && !(await stat(path).catch(() => undefined))?.isDirectory() ? [path] : []
    })
    return (await Promise.all(found)).flat()
  } catch (error) {
    faults.push({ path: directory, reason: reasonOf(error) })
    return []
  }
}

/** A file that was read, or why it was not. */
export type Read = { readonly path: string; readonly bytes: Uint8Array } | Fault

/** Reads files in their order, a few ahead. */
export async function* readRecords(files: readonly string[]): AsyncGenerator<Read> {
  const running: Promise<Read>[] = []
  for (const path of files) {
    running.push(readRecord(path))
    const first = running.length > AHEAD ? running.shift() : undefined
    if (first !== undefined) yield first
  }
  yield* running
}

/** Reads one file, or standard input. Never rejects. */
export async function readRecord(path: string): Promise<Read> {
  try {
    return { path, bytes: path === STDIN ? await collect(process.stdin) : await read(path) }
  } catch (error) {
    return { path, reason: reasonOf(error) }
  }
}

async function read(path: string): Promise<Uint8Array> {
  const stats = await stat(path)
  if (!stats.isFile()) return collect(createReadStream(path))
  if (stats.size > MAX_BYTES) throw tooLarge()
  return readFile(path)
}

async function collect(stream: Readable): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > MAX_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function tooLarge(): MetadataError {
  return new MetadataError('too_large', `larger than ${MAX_BYTES} bytes, so no record`)
}

/** A file that lies ready beside the one whose place it is to take. */
export interface Prepared {
  /** Puts it there. A reader sees the old file or the new one, and nothing between. */
  readonly commit: () => Promise<void>
  readonly discard: () => Promise<void>
}

/**
 * Writes a file aside. What a link leads to will be replaced, not the link; mode and owner stay.
 * @param replace - whether there has to be a file already
 */
export async function prepareRecord(path: string, content: string | Uint8Array, replace: boolean): Promise<Prepared> {
  const old = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (replace || error.code !== 'ENOENT') throw error
    return undefined
  })
  if (old !== undefined && !old.isFile()) throw new Error('not a file that can be replaced')
  if (old !== undefined) await access(path, constants.W_OK)
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  )
  const target = isThere ? await realpath(path) : path
  const aside = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`)
  const discard = (): Promise<void> => rm(aside, { force: true })
  try {
    await writeAside(aside, content, old)
  } catch (error) {
    await discard()
    throw error
  }
  return { commit: () => rename(aside, target), discard }
}

/** Puts a file in the place of another, or where there is none. */
export async function writeRecord(path: string, content: string | Uint8Array): Promise<void> {
  const prepared = await prepareRecord(path, content, false)
  try {
    await prepared.commit()
  } catch (error) {
    await prepared.discard()
    throw error
  }
}

async function writeAside(path: string, content: string | Uint8Array, old: Stats | undefined): Promise<void> {
  // What takes the place of a file is nobody else's to read before it has that file's owner and mode.
  const handle = await open(path, 'wx', old === undefined ? 0o666 : 0o600)
  try {
    if (old !== undefined) {
      // Where another's file may not be given back to them, it becomes ours.
      await handle.chown(old.uid, old.gid).catch(() => {})
      await handle.chmod(old.mode & 0o7777)
    }
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** What the system says of a failure, without its code and the call that failed. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return /^E[A-Z0-9]+: (.*?),/.exec(message)?.[1] ?? message
}

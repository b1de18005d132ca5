/**
 * Finds records in folders, and reads them in parallel.
 * @module
 */
import fs, { createReadStream } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { normalize, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { MAX_BYTES } from '../../metadata/errors.js'
import { checkPath, isUtf8Name, UNREADABLE_NAME } from './file-names.js'
import type { OpenFile } from './untrusted-file.js'
import { describeKind, isWithin, openFile, openInTree, readOpen, tooLargeError } from './untrusted-file.js'

/** The path that means standard input. */
export const STDIN = '-'

/** The names of records in folders. A file that is named on the command line may have any name. */
const RECORD = /^METADATA$|\.(?:textproto|textpb|txtpb|pbtxt)$/

/** Folders to skip. METADATA in a `.dist-info` folder is Python package metadata, not a record. */
const SKIPPED = /^(?:\.git|node_modules)$|\.dist-info$/

// Several times as fast as `stat` of `node:fs/promises`, which matters with thousands of files.
const stat = promisify(fs.stat)

/** The most files to read ahead, and the most folders or links to look at in parallel. */
const MAX_PARALLEL = 32

/** A path that cannot be read, found or written, and the reason. */
export interface Fault {
  readonly path: string
  readonly reason: string
}

/** The files that the paths of a command line lead to. */
export interface Found {
  readonly files: readonly string[]
  readonly faults: readonly Fault[]
  /** Entries of folders that have the name of a record but are skipped, with the reason. */
  readonly passedOver: readonly Fault[]
  /** The files that were found in folders, each with the real path of its folder. They must be files inside it. */
  readonly found: ReadonlyMap<string, string>
  /** True if one file was named, or standard input alone. */
  readonly single: boolean
}

/**
 * Finds the records of paths. A folder stands for all records in it, sorted by name; any other path stands for itself. A folder
 * may be untrusted, so only its files count, and links to its files: a pipe would block for ever, and a link out of the folder
 * may lead to anything. A named path may be a pipe, such as `<(command)` or `/dev/stdin`.
 */
export async function findRecords(paths: readonly string[]): Promise<Found> {
  const search: Search = { faults: [], passedOver: [] }
  const files: string[] = []
  const found = new Map<string, string>()
  let single = paths.length === 1
  for (const path of paths) {
    const stats = path === STDIN ? undefined : await stat(path).catch(() => undefined)
    if (stats?.isDirectory()) {
      single = false
      const fault = await checkPath(path).then(() => undefined, reasonOf)
      if (fault !== undefined) {
        search.faults.push({ path, reason: fault })
        continue
      }
      const root = await realpath(path).catch(() => path)
      const inFolder = await findInFolder(path, root, search)
      if (inFolder.length === 0) search.faults.push({ path, reason: 'no records here' })
      for (const file of inFolder.sort()) {
        files.push(file)
        found.set(file, root)
      }
    } else files.push(path === STDIN ? path : normalizePath(path))
  }
  const passedOver = search.passedOver.sort((a, b) => (a.path < b.path ? -1 : 1))
  return { files: [...new Set(files)], faults: search.faults, passedOver, found, single }
}

/** Normalizes the path of a file. `./-` stays a file of that name. */
function normalizePath(path: string): string {
  const name = normalize(path)
  return name === STDIN ? `.${sep}${name}` : name
}

interface Search {
  readonly faults: Fault[]
  readonly passedOver: Fault[]
}

/** Lists all records below a folder, with a bounded number of parallel calls: an untrusted tree may have any size. */
async function findInFolder(directory: string, root: string, search: Search): Promise<string[]> {
  const files: string[] = []
  const folders = [normalize(directory)]
  while (folders.length > 0)
    await Promise.all(
      folders.splice(-MAX_PARALLEL).map((folder) => listFolder(folder, root, { ...search, files, folders })),
    )
  return files
}

interface Listing extends Search {
  readonly files: string[]
  /** The folders that are still to be listed. */
  readonly folders: string[]
}

async function listFolder(directory: string, root: string, listing: Listing): Promise<void> {
  const { files, folders, faults, passedOver } = listing
  const others: string[] = []
  // `join` makes a string of many pieces in memory: 60 KB for a file that is a thousand folders deep.
  const before = directory === '.' ? '' : directory.endsWith(sep) ? directory : `${directory}${sep}`
  try {
    for (const entry of await readdir(directory, { withFileTypes: true, encoding: 'buffer' })) {
      const name = entry.name.toString()
      const path = before + name
      if (entry.isDirectory() ? SKIPPED.test(name) : !RECORD.test(name)) continue
      if (!isUtf8Name(entry.name)) faults.push({ path, reason: UNREADABLE_NAME })
      else if (entry.isDirectory()) folders.push(path)
      else (entry.isFile() ? files : others).push(path)
    }
  } catch (error) {
    faults.push({ path: directory, reason: reasonOf(error) })
  }
  for (let at = 0; at < others.length; at += MAX_PARALLEL) {
    const paths = others.slice(at, at + MAX_PARALLEL)
    const reasons = await Promise.all(paths.map((path) => skipReason(path, root)))
    for (const [index, path] of paths.entries()) {
      const reason = reasons[index]
      if (reason === undefined) files.push(path)
      else if (reason !== '') passedOver.push({ path, reason })
    }
  }
}

/**
 * Returns the reason to skip an entry: '' for a folder, which needs no message, and undefined for an entry to read. A broken
 * link is read too, so that its fault is reported.
 */
async function skipReason(path: string, root: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) return undefined
  if (stats.isDirectory()) return ''
  if (!stats.isFile()) return `passed over: ${describeKind(stats)}, and not a file`
  const real = await realpath(path).catch(() => root)
  return isWithin(root, real) ? undefined : 'passed over: a link that leads out of the folder'
}

/** A file that was read, or the reason why it was not. */
export type Read = { readonly path: string; readonly bytes: Uint8Array } | Fault

/**
 * Reads files in their order, some of them ahead.
 * @param found - the files that must lie in a folder, each with that folder; `'files'` if all paths must be files
 */
export async function* readRecords(
  files: readonly string[],
  found: ReadonlyMap<string, string> | 'files' = new Map(),
): AsyncGenerator<Read> {
  const running: Promise<Read>[] = []
  for (const path of files) {
    running.push(found === 'files' ? readRecord(path, undefined, true) : readRecord(path, found.get(path)))
    const first = running.length > MAX_PARALLEL ? running.shift() : undefined
    if (first !== undefined) yield first
  }
  yield* running
}

/**
 * Reads one file, or standard input. Never rejects.
 * @param root - real path of the folder in which the file was found; undefined for a named file
 */
export async function readRecord(path: string, root?: string, fileOnly = false): Promise<Read> {
  try {
    if (path === STDIN) return { path, bytes: await collect(process.stdin) }
    return {
      path,
      bytes: await (root === undefined ? readNamed(path, fileOnly) : readAndClose(openInTree(path, root))),
    }
  } catch (error) {
    return { path, reason: reasonOf(error) }
  }
}

async function readNamed(path: string, fileOnly: boolean): Promise<Uint8Array> {
  await checkPath(path)
  const stats = await stat(path)
  if (stats.isDirectory() || stats.isSocket() || (fileOnly && !stats.isFile()))
    throw new Error(
      `${describeKind(stats)}, where a file is expected: ${stats.isDirectory() ? 'name the files in it' : '- is standard input'}`,
    )
  return stats.isFile() ? readAndClose(openFile(path, { follow: true })) : collect(createReadStream(path))
}

async function readAndClose(opening: Promise<OpenFile>): Promise<Uint8Array> {
  const file = await opening
  try {
    return await readOpen(file)
  } finally {
    await file.handle.close()
  }
}

async function collect(stream: Readable): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > MAX_BYTES) throw tooLargeError()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Returns the message of an error, without the error code and the system call. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return /^E[A-Z0-9]+: (.*?),/.exec(message)?.[1] ?? message
}

/**
 * Records on disk: found in trees, and read many at once.
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

/** What a record in a tree is called. A file that is named on the command line may have any name. */
const RECORD = /^METADATA$|\.(?:textproto|textpb|txtpb|pbtxt)$/

/** Folders without records: in a `.dist-info`, METADATA is something else. */
const SKIPPED = /^(?:\.git|node_modules)$|\.dist-info$/

// Several times as fast as that of `node:fs/promises`, which is felt with thousands of files.
const stat = promisify(fs.stat)

/** Files that are read ahead at most, and folders and links that are looked at together. */
const MAX_PARALLEL = 32

/** Something that cannot be read, found or written, and why. */
export interface Fault {
  readonly path: string
  readonly reason: string
}

/** What the paths on a command line lead to. */
export interface Found {
  readonly files: readonly string[]
  readonly faults: readonly Fault[]
  /** Entries that have the name of a record and are no file of their folder, each with the reason why it was passed over. */
  readonly passedOver: readonly Fault[]
  /** Those of the files that were found in folders, and so have to be files there, with the real path of that folder. */
  readonly found: ReadonlyMap<string, string>
  /** Whether one file was named, or standard input alone. */
  readonly single: boolean
}

/**
 * Follows paths: folders to all records in them, in the order of their names; anything else to itself. In a folder, which may
 * be a stranger's, only files count, and links to files of that folder. A pipe would be read for ever, and a link that leads
 * out of it may lead to anything. What is named may be a pipe: `<(command)` and `/dev/stdin` are.
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

/** A path of a file, in one spelling: `./-` stays what it is, a file of that name. */
function normalizePath(path: string): string {
  const name = normalize(path)
  return name === STDIN ? `.${sep}${name}` : name
}

interface Search {
  readonly faults: Fault[]
  readonly passedOver: Fault[]
}

/** Lists all records below a folder, with a bounded number of calls at once: a stranger's tree may be of any size. */
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
  /** Those that are still to be listed. */
  readonly folders: string[]
}

async function listFolder(directory: string, root: string, listing: Listing): Promise<void> {
  const { files, folders, faults, passedOver } = listing
  const others: string[] = []
  // `join` would make a text of as many pieces as the path has parts, 60 KB for a file that is a thousand folders deep.
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

/** @returns undefined for what is read, and for a link that leads nowhere, so that its fault is seen; '' for a folder */
async function skipReason(path: string, root: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) return undefined
  if (stats.isDirectory()) return ''
  if (!stats.isFile()) return `passed over: ${describeKind(stats)}, and not a file`
  const real = await realpath(path).catch(() => root)
  return isWithin(root, real) ? undefined : 'passed over: a link that leads out of the folder'
}

/** A file that was read, or why it was not. */
export type Read = { readonly path: string; readonly bytes: Uint8Array } | Fault

/**
 * Reads files in their order, a few ahead.
 * @param found - those that are read only if they are files of a folder, with that folder; or whether all have to be files
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
 * @param root - the real path of the folder in which it was found, if it was
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

/** What the system says of a failure, without its code and the call that failed. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return /^E[A-Z0-9]+: (.*?),/.exec(message)?.[1] ?? message
}

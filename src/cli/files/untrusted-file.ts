/**
 * Opens a file in a folder of somebody else, who may exchange it at any moment for a link, a pipe or another file.
 * @module
 */
import type { Stats } from 'node:fs'
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { lstat, open, readlink, realpath } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { MAX_BYTES, MetadataError } from '../../metadata/errors.js'

/** An open file: whatever happens to its name, this is what is read and written. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly stats: Stats
}

interface OpenOptions {
  /** Whether to open it for writing too. */
  readonly writable?: true
  /** Whether the path may be a link, as one that a user names. */
  readonly follow?: true
}

/**
 * Opens a file, and nothing else. No pipe and no device is waited for.
 * @throws where there is a link, a folder, a pipe, a socket or a device
 */
export async function openFile(path: string, { writable, follow }: OpenOptions = {}): Promise<OpenFile> {
  const access = writable ? constants.O_RDWR : constants.O_RDONLY
  // Where a system lacks a flag, it is undefined, which counts as 0 here.
  const flags = access | constants.O_NONBLOCK | (follow ? 0 : constants.O_NOFOLLOW)
  const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    throw isLinkError(error) && !follow ? new Error(`a link, ${EXPECTED}`) : error
  })
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw new Error(`${describeKind(stats)}, ${EXPECTED}`)
    return { handle, stats }
  } catch (error) {
    await handle.close()
    throw error
  }
}

const EXPECTED = 'where a file is expected'

/** Checks whether opening failed for a link, also where many links lead to each other. */
function isLinkError({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ELOOP' || code === 'EMLINK'
}

/**
 * Opens a file that was found in a tree, or one of the tree that a link there leads to.
 * @param root - the tree, by its real path
 * @throws where it leads out of the tree now
 */
export async function openInTree(path: string, root: string): Promise<OpenFile> {
  const isLink = (await lstat(path)).isSymbolicLink()
  const target = isLink ? await realpath(path) : path
  if (isLink && !isWithin(root, target)) throw new Error(LEADS_OUT)
  const file = await openFile(target)
  try {
    if (!(await isOpenWithin(root, target, file))) throw new Error(LEADS_OUT)
    return file
  } catch (error) {
    await file.handle.close()
    throw error
  }
}

const LEADS_OUT = `a link that leads out of the folder, ${EXPECTED}`

/** Asks where an open file is, since a folder above it may have become a link. */
async function isOpenWithin(root: string, path: string, { handle, stats }: OpenFile): Promise<boolean> {
  // Linux tells it of the open file itself.
  const place = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => '')
  if (isAbsolute(place)) return isWithin(root, place)
  const real = await realpath(path)
  return isWithin(root, real) && isSame(await lstat(real), stats)
}

/** Tells whether a real path is one of a tree. */
export function isWithin(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Tells whether two names are of one file or folder. */
export function isSame(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino
}

/**
 * Reads an open file to its end, and never more than a record may have, though it may grow meanwhile.
 * @throws {MetadataError} `too_large`
 */
export async function readOpen({ handle, stats }: OpenFile): Promise<Buffer> {
  if (stats.size > MAX_BYTES) throw tooLargeError()
  // One byte more shows whether it has grown; a file of the system may say that it has none.
  let bytes = Buffer.alloc(stats.size === 0 ? UNKNOWN_SIZE_BUFFER : stats.size + 1)
  let size = 0
  for (;;) {
    const { bytesRead } = await handle.read(bytes, size, bytes.length - size, size)
    size += bytesRead
    if (size > MAX_BYTES) throw tooLargeError()
    // Not asked again at its end: what another program writes in between would be half of another file.
    if (bytesRead === 0 || size === stats.size) return bytes.subarray(0, size)
    if (size === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)])
  }
}

const UNKNOWN_SIZE_BUFFER = 4096

export function tooLargeError(): MetadataError {
  return new MetadataError('too_large', `larger than ${MAX_BYTES} bytes, so no record`)
}

/** Names what something is that is no file. */
export function describeKind(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder (directory)'
  if (stats.isFIFO()) return 'a pipe'
  return stats.isSocket() ? 'a socket' : 'a device'
}

/**
 * Opens files in untrusted folders, where another user may replace a file at any moment by a link, a pipe or another file.
 * @module
 */
import type { Stats } from 'node:fs'
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { lstat, open, readlink, realpath } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { MAX_BYTES, MetadataError } from '../../metadata/errors.js'

/** An open file. Reads and writes go to this file, even if its name leads to another one meanwhile. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly stats: Stats
}

interface OpenOptions {
  /** True to open the file for writing too. */
  readonly writable?: true
  /** True if the path may be a link, as a path that the user named. */
  readonly follow?: true
}

/**
 * Opens a file. Never blocks on a pipe or a device.
 * @throws for a link, a folder, a pipe, a socket or a device
 */
export async function openFile(path: string, { writable, follow }: OpenOptions = {}): Promise<OpenFile> {
  const access = writable ? constants.O_RDWR : constants.O_RDONLY
  // A flag that the system lacks is undefined, which counts as 0 here.
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

/** Checks whether opening failed because of a link, or of links that lead to each other. */
function isLinkError({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ELOOP' || code === 'EMLINK'
}

/**
 * Opens a file that was found in a folder tree. A link is followed if it leads to a file of the tree.
 * @param root - real path of the tree
 * @throws if the path leads out of the tree now
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

/** Checks that an open file is in the tree, since a folder above it may have become a link. */
async function isOpenWithin(root: string, path: string, { handle, stats }: OpenFile): Promise<boolean> {
  // On Linux the path of the open file itself can be read.
  const place = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => '')
  if (isAbsolute(place)) return isWithin(root, place)
  const real = await realpath(path)
  return isWithin(root, real) && isSame(await lstat(real), stats)
}

/** Checks whether a real path is inside a tree. */
export function isWithin(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Checks whether two names belong to one file or folder. */
export function isSame(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino
}

/**
 * Reads an open file to its end. It reads no more than a record may have, even if the file grows meanwhile.
 * @throws {MetadataError} `too_large`
 */
export async function readOpen({ handle, stats }: OpenFile): Promise<Buffer> {
  if (stats.size > MAX_BYTES) throw tooLargeError()
  // One byte more shows whether the file has grown. Files such as those in /proc report a size of 0.
  let bytes = Buffer.alloc(stats.size === 0 ? UNKNOWN_SIZE_BUFFER : stats.size + 1)
  let size = 0
  for (;;) {
    const { bytesRead } = await handle.read(bytes, size, bytes.length - size, size)
    size += bytesRead
    if (size > MAX_BYTES) throw tooLargeError()
    // Stop at the size that was reported: bytes that another program appends meanwhile belong to another version.
    if (bytesRead === 0 || size === stats.size) return bytes.subarray(0, size)
    if (size === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)])
  }
}

/** The first buffer for a file that reports no size, in bytes. */
const UNKNOWN_SIZE_BUFFER = 4096

export function tooLargeError(): MetadataError {
  return new MetadataError('too_large', `larger than ${MAX_BYTES} bytes, so no record`)
}

/** Names the kind of a path that is not a file. */
export function describeKind(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder (directory)'
  if (stats.isFIFO()) return 'a pipe'
  return stats.isSocket() ? 'a socket' : 'a device'
}

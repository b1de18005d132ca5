/**
 * A small file in a folder where others may write too. They may put anything at its path (a link to a secret, a pipe, a
 * device, gigabytes of zeros), and may replace it at any moment.
 * @module
 */
import type { Stats } from 'node:fs'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'

/** Flags that open the entry itself: they follow no link, and wait for no pipe. A flag that the system does not have is 0. */
export const AS_IT_IS: number = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** A file as it was opened, even if its path leads to another one by now. */
export interface UntrustedFile {
  readonly stats: Stats
  readonly text: string
}

/**
 * Reads a file that another user may have put there.
 * @param maxBytes - the largest size of the file
 * @returns undefined for anything but a file, and for a larger file
 * @throws Error of the system, such as ENOENT
 */
export async function readUntrusted(path: string, maxBytes: number): Promise<UntrustedFile | undefined> {
  try {
    const handle = await open(path, AS_IT_IS)
    try {
      const stats = await handle.stat()
      if (!stats.isFile()) return undefined
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0)
      return fileOf(stats, buffer, bytesRead, maxBytes)
    } finally {
      await handle.close()
    }
  } catch (error) {
    return undefinedUnlessFile(error)
  }
}

/** Reads like {@link readUntrusted}, synchronously. */
export function readUntrustedSync(path: string, maxBytes: number): UntrustedFile | undefined {
  try {
    const descriptor = openSync(path, AS_IT_IS)
    try {
      const stats = fstatSync(descriptor)
      if (!stats.isFile()) return undefined
      const buffer = Buffer.alloc(maxBytes + 1)
      return fileOf(stats, buffer, readSync(descriptor, buffer, 0, maxBytes + 1, 0), maxBytes)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    return undefinedUnlessFile(error)
  }
}

function fileOf(stats: Stats, buffer: Buffer, length: number, maxBytes: number): UntrustedFile | undefined {
  return length > maxBytes ? undefined : { stats, text: buffer.toString('utf8', 0, length) }
}

/** Error codes of opening a link, a socket, a folder, or a device without a driver. */
const NOT_A_FILE = new Set(['ELOOP', 'EMLINK', 'ENXIO', 'ENODEV', 'EISDIR', 'EOPNOTSUPP'])

function undefinedUnlessFile(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && NOT_A_FILE.has(String(error.code))) return undefined
  throw error
}

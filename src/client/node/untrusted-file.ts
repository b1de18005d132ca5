/**
 * A small file in a folder where others may write too: somebody may have put anything at its name, a link to a secret, a pipe, a
 * device, gigabytes of nothing, and may exchange it for something else at any moment.
 * @module
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'

/** Opens what has the name itself: no link is followed, and no pipe waited for; 0 where the system has no such thing. */
export const AS_IT_IS: number = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** A file as it was opened, whatever has its name by now. */
export interface UntrustedFile {
  readonly stats: Stats
  readonly text: string
}

/**
 * Reads a file that others may have put there.
 * @param most - bytes that it may have
 * @returns undefined for anything but a file, and for one that is longer
 * @throws Error of the system, such as ENOENT
 */
export async function readUntrusted(path: string, most: number): Promise<UntrustedFile | undefined> {
  try {
    const handle = await open(path, AS_IT_IS)
    try {
      const stats = await handle.stat()
      if (!stats.isFile()) return undefined
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(most + 1), 0, most + 1, 0)
      return fileOf(stats, buffer, bytesRead, most)
    } finally {
      await handle.close()
    }
  } catch (error) {
    return undefinedIfOther(error)
  }
}

/** {@link readUntrusted}, at one go. */
export function readUntrustedSync(path: string, most: number): UntrustedFile | undefined {
  try {
    const descriptor = openSync(path, AS_IT_IS)
    try {
      const stats = fstatSync(descriptor)
      if (!stats.isFile()) return undefined
      const buffer = Buffer.alloc(most + 1)
      return fileOf(stats, buffer, readSync(descriptor, buffer, 0, most + 1, 0), most)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    return undefinedIfOther(error)
  }
}

function fileOf(stats: Stats, buffer: Buffer, length: number, most: number): UntrustedFile | undefined {
  return length > most ? undefined : { stats, text: buffer.toString('utf8', 0, length) }
}

/** Codes of the error that opening gives where a link lies, a socket, a folder, or a device without a driver. */
const OTHER = new Set(['ELOOP', 'EMLINK', 'ENXIO', 'ENODEV', 'EISDIR', 'EOPNOTSUPP'])

function undefinedIfOther(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && OTHER.has(String(error.code))) return undefined
  throw error
}

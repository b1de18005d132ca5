/**
 * Locks between processes of this command: a file beside the record, like git's `index.lock`.
 * @module
 */
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openFile } from './untrusted-file.js'

/** The longest wait for a lock, in milliseconds. A holder usually needs a few. */
const LOCK_TIMEOUT = 60_000

/** Derives the path of a file's lock. All names of locks have one length, so that none is too long. */
export function lockPath(target: string): string {
  const name = createHash('sha256').update(basename(target)).digest('hex').slice(0, 16)
  return join(dirname(target), `.grantwell-${name}.lock`)
}

/**
 * Takes a lock, and waits while another process holds it.
 * @param isStopped - returns true to stop waiting
 * @returns the function that releases the lock
 * @throws if the folder is not writable, or the lock is stale or not released in time
 */
export async function takeLock(path: string, isStopped: () => boolean): Promise<() => Promise<void>> {
  const own = lockText(process.pid)
  const end = Date.now() + LOCK_TIMEOUT
  for (;;) {
    try {
      const handle = await open(path, 'wx', 0o644)
      try {
        await handle.writeFile(own).finally(() => handle.close())
      } catch (error) {
        await rm(path, { force: true })
        throw error
      }
      return () => rm(path, { force: true })
    } catch (error) {
      if (!isError(error) || error.code !== 'EEXIST') throw error
    }
    if (isStopped()) throw new Error('interrupted')
    const holder = await readHolder(path)
    if (await isStale(path, holder)) throw new StaleLockError(path, holder)
    if (Date.now() > end)
      throw new Error(`locked for a minute by ${describeHolder(holder)}: where none runs, remove ${path}`)
    // A random wait, so that two waiting processes do not stay in step.
    await sleep(5 + Math.random() * 40)
  }
}

/** The error for a lock whose process has ended without releasing it, for example because it was killed. */
export class StaleLockError extends Error {
  constructor(path: string, holder: Holder | undefined) {
    super(`locked by ${describeHolder(holder)}, which has ended: remove ${path}, and run this again`)
  }
}

/** Returns the locks whose processes have ended without releasing them. */
export async function findStaleLocks(paths: readonly string[]): Promise<readonly string[]> {
  const left: string[] = []
  for (const path of paths) {
    const isEnded = async (): Promise<boolean> => isStale(path, await readHolder(path))
    if (await isEnded().catch(() => false)) left.push(path)
  }
  return left
}

/** Checks whether a lock is stale. It is read again, since its process may have released it just before it ended. */
async function isStale(path: string, holder: Holder | undefined): Promise<boolean> {
  if (!hasEnded(holder)) return false
  const again = await readHolder(path)
  return again !== undefined && formatHolder(again) === formatHolder(holder)
}

/** The process that a lock names. */
interface Holder {
  readonly pid: string
  readonly host: string
  /** The process namespace, as {@link processNamespace} returns it; undefined in a lock of an earlier version. */
  readonly table: string | undefined
}

/** The most bytes of a lock. */
const MAX_LOCK_LENGTH = 400
const LOCK = /^(\d{1,10}) ([\w.-]{1,255})(?: ([\w.-]{1,100}))?\n$/

/** Returns the text that a process of this machine writes into its lock. */
export function lockText(pid: number): string {
  return formatHolder({ pid: String(pid), host: sanitizeWord(hostname()), table: processNamespace() })
}

function formatHolder({ pid, host, table }: Holder): string {
  return `${pid} ${host}${table === undefined ? '' : ` ${table}`}\n`
}

/**
 * Returns an identifier of the process namespace. Containers may share a host name and a folder, but not their processes. On
 * Linux it includes the boot ID, since copies of a virtual machine share the host name and the number of the namespace.
 */
function processNamespace(): string {
  const table = readOrEmpty(() => readlinkSync('/proc/self/ns/pid'))
  return sanitizeWord(`${table}-${readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))}`)
}

/** Reads a fact from the system; returns an empty text if the system does not provide it. */
function readOrEmpty(read: () => string): string {
  try {
    return read().trim()
  } catch {
    return ''
  }
}

/** Replaces the characters that a lock may not have. */
function sanitizeWord(text: string): string {
  return text.replace(/[^\w.-]/g, '_').slice(0, 100) || '_'
}

function describeHolder(holder: Holder | undefined): string {
  return holder === undefined ? 'a process that has not named itself' : `process ${holder.pid} ${holder.host}`
}

/**
 * Reads the holder of a lock. An untrusted user may have put anything there: a link to a secret, a pipe, a device. So no link is
 * followed, no read blocks, and only a process and a machine from the content are ever shown.
 * @returns undefined if the lock is gone, not yet written, or not readable for this user
 * @throws if something other than a lock is there
 */
async function readHolder(path: string): Promise<Holder | undefined> {
  let text: string | undefined
  try {
    const { handle } = await openFile(path)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_LOCK_LENGTH + 1), 0, MAX_LOCK_LENGTH + 1, 0)
      text = buffer.toString('latin1', 0, bytesRead)
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isError(error) && UNREADABLE_CODES.has(error.code ?? '')) return undefined
    // An error without a code comes from `openFile`: a link, a folder, a pipe or a device.
    if (!isError(error) || (error.code !== undefined && !NOT_A_FILE_CODES.has(error.code))) throw error
  }
  // A process creates the lock first and writes into it afterwards.
  if (text === '') return undefined
  const [, pid, host, table] = (text !== undefined && text.length <= MAX_LOCK_LENGTH && LOCK.exec(text)) || []
  if (pid === undefined || host === undefined)
    throw new Error(`something that is no lock is at ${path}: remove it, and run this again`)
  return { pid, host, table }
}

/** Error codes of reading a lock that was just released, or that belongs to another user. */
const UNREADABLE_CODES = new Set(['ENOENT', 'EACCES', 'EPERM'])

/** Error codes of opening a socket, a folder, or a device without a driver. */
const NOT_A_FILE_CODES = new Set(['ENXIO', 'ENODEV', 'EISDIR', 'EOPNOTSUPP'])

/** Checks whether the holder of a lock was a process of this machine and this namespace, and has ended. */
function hasEnded(holder: Holder | undefined): holder is Holder {
  if (holder === undefined || formatHolder(holder) !== lockText(Number(holder.pid))) return false
  try {
    process.kill(Number(holder.pid), 0)
    return false
  } catch (error) {
    return isError(error) && error.code === 'ESRCH'
  }
}

export function isError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error
}

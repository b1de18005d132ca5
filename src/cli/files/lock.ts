/**
 * Locks between processes of this command: a file beside the record, as git has its `index.lock`.
 * @module
 */
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openFile } from './untrusted-file.js'

/** Milliseconds that a lock is waited for: a holder needs a few. */
const LOCK_TIMEOUT = 60_000

/** Gives the path of a file's lock. Its name is as long for every file, so that no name is too long. */
export function lockPath(target: string): string {
  const name = createHash('sha256').update(basename(target)).digest('hex').slice(0, 16)
  return join(dirname(target), `.grantwell-${name}.lock`)
}

/**
 * Takes a lock, and waits while another process has it.
 * @param isStopped - whether to wait no longer
 * @returns what gives it back
 * @throws where the folder may not be written to, or the lock is not given back
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
    // At random, so that two that wait do not stay in step.
    await sleep(5 + Math.random() * 40)
  }
}

/** A lock whose process has ended without giving it back, as one does that is killed. */
export class StaleLockError extends Error {
  constructor(path: string, holder: Holder | undefined) {
    super(`locked by ${describeHolder(holder)}, which has ended: remove ${path}, and run this again`)
  }
}

/** Finds among locks those whose processes have ended without giving them back. */
export async function findStaleLocks(paths: readonly string[]): Promise<readonly string[]> {
  const left: string[] = []
  for (const path of paths) {
    const isEnded = async (): Promise<boolean> => isStale(path, await readHolder(path))
    if (await isEnded().catch(() => false)) left.push(path)
  }
  return left
}

/** Whether a lock is left behind. It is asked again, since a process that has ended may have given it back in between. */
async function isStale(path: string, holder: Holder | undefined): Promise<boolean> {
  if (!hasEnded(holder)) return false
  const again = await readHolder(path)
  return again !== undefined && formatHolder(again) === formatHolder(holder)
}

/** The process that a lock names. */
interface Holder {
  readonly pid: string
  readonly host: string
  /** The table of processes that it is in; undefined in a lock of an earlier version. */
  readonly table: string | undefined
}

/** No lock is longer. */
const MAX_LOCK_LENGTH = 400
const LOCK = /^(\d{1,10}) ([\w.-]{1,255})(?: ([\w.-]{1,100}))?\n$/

/** The text that a process of this machine writes into its lock. */
export function lockText(pid: number): string {
  return formatHolder({ pid: String(pid), host: sanitizeWord(hostname()), table: processNamespace() })
}

function formatHolder({ pid, host, table }: Holder): string {
  return `${pid} ${host}${table === undefined ? '' : ` ${table}`}\n`
}

/**
 * The table of processes that this one is in. Containers may share the name of their host, and a folder, and none of its processes.
 * On Linux with the start of the machine, since copies of one virtual machine share its name, and the number of that table.
 */
function processNamespace(): string {
  const table = readOrEmpty(() => readlinkSync('/proc/self/ns/pid'))
  return sanitizeWord(`${table}-${readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))}`)
}

/** Reads what the system tells of itself; nothing where it does not. */
function readOrEmpty(read: () => string): string {
  try {
    return read().trim()
  } catch {
    return ''
  }
}

/** A text in the characters that a lock may have. */
function sanitizeWord(text: string): string {
  return text.replace(/[^\w.-]/g, '_').slice(0, 100) || '_'
}

function describeHolder(holder: Holder | undefined): string {
  return holder === undefined ? 'a process that has not named itself' : `process ${holder.pid} ${holder.host}`
}

/**
 * Reads who holds a lock. The folder may be a stranger's, who may have put anything there: a link to a secret, a pipe, a
 * device. So no link is followed, nothing is waited for, and of the content only a process and a machine are ever shown.
 * @returns undefined where the lock is gone, not yet written, or not ours to read
 * @throws where no lock is there but something else
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
    // Without a code it is a link, a folder, a pipe or a device.
    if (!isError(error) || (error.code !== undefined && !NOT_A_FILE_CODES.has(error.code))) throw error
  }
  // Whoever takes a lock makes the file first, and then writes into it.
  if (text === '') return undefined
  const [, pid, host, table] = (text !== undefined && text.length <= MAX_LOCK_LENGTH && LOCK.exec(text)) || []
  if (pid === undefined || host === undefined)
    throw new Error(`something that is no lock is at ${path}: remove it, and run this again`)
  return { pid, host, table }
}

/** Codes of the error that reading a lock gives which was just given back, or is another user's. */
const UNREADABLE_CODES = new Set(['ENOENT', 'EACCES', 'EPERM'])

/** Codes of the error that opening gives where a socket lies, a folder, or a device without a driver. */
const NOT_A_FILE_CODES = new Set(['ENXIO', 'ENODEV', 'EISDIR', 'EOPNOTSUPP'])

/** Whether the process that holds a lock was one of this machine and of these processes, and is no more. */
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

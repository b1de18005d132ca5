/**
 * A lock between processes: a file that only one of them can create.
 *
 * The file contains a random ID of its holder, its machine and its process, and the holder touches it every second. A process
 * that waits takes the lock over at once if the holder was a process of the same machine that has ended. Otherwise it takes
 * it over when it has seen no touch for ten seconds by its own monotonic clock, so no two clocks are compared. So the lock of
 * a killed holder is taken over, and the lock of a running one is not. A file that is no lock is never taken over.
 *
 * A holder that was suspended for ten seconds (by a signal, or by a blocked event loop) looks like a killed one. For tokens
 * that is harmless. Two processes may then refresh with the same refresh token. Within its grace period of 300 seconds the
 * service gives both the same successor, so it does not matter who writes it. A holder that continues later finds that it has
 * lost the lock, and does not overwrite newer tokens.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { linkSync, renameSync, rmSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { atExit } from './at-exit.js'
import { codeOf, look, Refusal, refuseOthers, withFile } from './private-file.js'
import { isEnded, machineName } from './process-identity.js'
import type { UntrustedFile } from './untrusted-file.js'
import { readUntrusted, readUntrustedSync } from './untrusted-file.js'

/** A lock while its action runs. */
export interface HeldLock {
  /** The unique ID of this holder. It is safe as a part of a file name. */
  readonly id: string
  /** Checks whether no other process has taken the lock over. */
  readonly isOurs: () => Promise<boolean>
}

/** Options of waiting for a lock. */
export interface LockOptions {
  /** Seconds to wait for other holders; 60 by default. */
  readonly patience?: number
  /** Gets the ID of a dead holder, so that files which it left behind can be removed. */
  readonly onTakeover?: (id: string) => void
}

/** Seconds between two touches. */
const HEARTBEAT = 1

/** Seconds without a touch after which the holder counts as dead. */
const ABANDONED = 10

/** The shortest pause in milliseconds between two checks of a held lock. A random part of the same length is added. */
const MIN_CHECK_PAUSE = 20

/** Error codes for a file that exists already. Windows gives other codes while a file is being removed. */
const TAKEN = new Set(['EEXIST', ...(process.platform === 'win32' ? ['EPERM', 'EACCES', 'EBUSY'] : [])])

/**
 * Runs an action under the lock. The lock is always released, also when the process ends during the action.
 * @param path - the path of the lock file, in an existing folder
 * @throws ClientError `ERR_TOKEN_STORE` if the lock cannot be created, or others hold it for too long; the error of the action
 */
export async function withFileLock<Result>(
  path: string,
  action: (lock: HeldLock) => Promise<Result>,
  { patience = 60, onTakeover = () => {} }: LockOptions = {},
): Promise<Result> {
  const id = randomUUID()
  const text = printHolder(id)
  const handle = await withFile(path, 'created', () => acquire(path, text, patience, onTakeover))
  const cancelCleanup = atExit(() => {
    if (readUntrustedSync(path, MAX_LOCK)?.text === text) rmSync(path)
  })
  // If one touch fails, the next one is soon enough.
  const touch = (): unknown => handle.utimes(new Date(), new Date()).catch(() => {})
  const heartbeat = setInterval(touch, HEARTBEAT * 1000).unref()
  const isOurs = async (): Promise<boolean> => {
    const found = await readUntrusted(path, MAX_LOCK).catch(() => undefined)
    return found?.text === text
  }
  try {
    return await action({ id, isOurs })
  } finally {
    clearInterval(heartbeat)
    const isHeld = await isOurs()
    // The next process takes over a lock that cannot be removed, so that is no failure of the action.
    await handle.close().catch(() => {})
    if (isHeld) await rm(path, { force: true }).catch(() => {})
    cancelCleanup()
  }
}

/** Waits until the lock can be created, and takes over the lock of a dead holder. */
async function acquire(
  path: string,
  text: string,
  patience: number,
  onTakeover: (id: string) => void,
): Promise<FileHandle> {
  const begun = performance.now()
  let seen: { readonly version: string | undefined; readonly since: number } | undefined
  for (;;) {
    const handle = await create(path, text)
    if (handle !== undefined) return handle
    const found = await lockAt(path)
    const version = found && versionOf(found)
    const now = performance.now()
    if (seen === undefined || seen.version !== version) seen = { version, since: now }
    if (found !== undefined && (now - seen.since >= ABANDONED * 1000 || isHolderEnded(found.text))) {
      const dead = takeOver(path, versionOf(found))
      const [, id] = LOCK.exec(dead ?? '') ?? []
      if (id !== undefined) onTakeover(id)
      seen = undefined
    } else if (now - begun >= patience * 1000) {
      throw new Refusal(`other processes have held it for more than ${patience} seconds`)
    } else {
      await sleep(MIN_CHECK_PAUSE * (1 + Math.random()))
    }
  }
}

/** Bytes that a lock may have. */
const MAX_LOCK = 300

/** The text of a lock; empty until its holder has written its ID. Only an ID of `randomUUID` may become a part of a path. */
const LOCK = /^(?:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\n[^\n]+\n[^\n]*\n)?$/

/** Creates the lock, if there is none. It opens no existing file and follows no link. */
async function create(path: string, text: string): Promise<FileHandle | undefined> {
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => {
    if (TAKEN.has(codeOf(error) ?? '')) return undefined
    throw error
  })
  try {
    // The tokens must be private. On a disk without modes, this fails before there are any tokens.
    if (handle !== undefined) refuseOthers(await handle.stat())
    await handle?.writeFile(text)
    return handle
  } catch (error) {
    await handle?.close()
    await rm(path, { force: true })
    throw error
  }
}

/** Formats the text of a lock: the ID of its holder, its machine and its process, one line each. */
function printHolder(id: string): string {
  return `${id}\n${machineName()}\n${process.pid}\n`
}

/**
 * Checks whether the holder is a process of this machine that has ended. If another process has got its number, it seems to be
 * running, and the ten seconds decide.
 */
function isHolderEnded(text: string): boolean {
  const [, host, pid = ''] = text.split('\n')
  return host === machineName() && isEnded(pid)
}

/**
 * Reads the present lock; undefined if there is none any more.
 * @throws Refusal for any other file: an application may keep tokens in `bob` and in `bob.lock`
 */
async function lockAt(path: string): Promise<UntrustedFile | undefined> {
  const stats = await look(path)
  if (stats === undefined) return undefined
  // A lock that cannot be read may belong to another user. It is not taken over either.
  const found = stats.isFile() ? await readUntrusted(path, MAX_LOCK).catch(() => ({ stats, text: '' })) : undefined
  if (found === undefined || !LOCK.test(found.text))
    throw new Refusal('it exists already and is not a lock; move or remove it')
  return found
}

/** Returns a version of a lock. It changes with every holder and every touch. */
function versionOf({ stats: { ino, mtimeMs }, text }: UntrustedFile): string {
  return `${ino} ${mtimeMs} ${text}`
}

/**
 * Removes the lock of a dead holder, so that any process can create a new one. If several processes try, one moves the lock
 * away. Another one finds no lock, or moves away a new lock of a running process, and puts it back. All calls are
 * synchronous, so that other processes have little time in between.
 * @returns the text of the lock; undefined if it was gone
 */
function takeOver(path: string, version: string): string | undefined {
  // A name of its own: the name of the lock with a suffix could be too long.
  const aside = join(dirname(path), `.grantwell-${randomUUID()}.lock`)
  try {
    if (deadLockAt(path, version) === undefined) return undefined
    renameSync(path, aside)
    const dead = deadLockAt(aside, version)
    if (dead === undefined) linkSync(aside, path)
    return dead
  } catch (error) {
    if (!LOST_RACE.has(codeOf(error) ?? '')) throw error
    return undefined
  } finally {
    rmSync(aside, { force: true })
  }
}

/** Error codes if another process was faster. */
const LOST_RACE = new Set(['ENOENT', 'EEXIST'])

/** Reads the text of the lock at a path; undefined if the lock has another version. */
function deadLockAt(path: string, version: string): string | undefined {
  const found = readUntrustedSync(path, MAX_LOCK)
  return found !== undefined && versionOf(found) === version ? found.text : undefined
}

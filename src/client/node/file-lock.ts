/**
 * A lock between processes: a file that only one of them can make.
 *
 * It holds a random name of its holder, its machine and its process, and the holder touches it every second. Whoever waits for it
 * takes it over at once where the holder was a process of the same machine that is gone, as after a signal, and else once it has
 * not been touched for ten seconds, by the stopwatch of the one who waits: no clocks are compared, and none that can be set is
 * used. So a holder that was killed is found out, and one that lives is not. What is no lock is never taken over.
 *
 * Nobody can tell one that was killed from one that was stopped for as long (a signal, a program that let nothing else run) and
 * goes on later. For tokens that is harmless. Two may refresh then, by the same refresh token: within its grace period, 300
 * seconds, the service gives both the same successor, so that it does not matter who writes. And one that goes on after the
 * grace finds that the lock is not its own any more, and leaves what others have written.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { atExit } from './at-exit.js'
import { codeOf, look, Refusal, refuseOthers, withFile } from './private-file.js'
import { readUntrusted, readUntrustedSync, type UntrustedFile } from './untrusted-file.js'

/** A lock, as long as its action runs. */
export interface HeldLock {
  /** A name that nobody else has, and that a file may have. */
  readonly id: string
  /** Whether nobody has taken it over. */
  readonly isOurs: () => Promise<boolean>
}

/** How a lock is waited for. */
export interface LockOptions {
  /** Seconds to wait for one that others hold; 60 by default. */
  readonly patience?: number
  /** Told the name of a holder that has died, so that what it left behind can be cleared away. */
  readonly onTakeover?: (id: string) => void
}

/** Seconds between two touches. */
const HEARTBEAT = 1

/** Seconds without one after which the holder is taken for dead. */
const ABANDONED = 10

/** Milliseconds between two looks at a lock of somebody else: so many, and up to as many more by chance. */
const LOOK = 20

/** What says that there is such a file already or, on Windows, that it is there for a moment yet. */
const TAKEN = new Set(['EEXIST', ...(process.platform === 'win32' ? ['EPERM', 'EACCES', 'EBUSY'] : [])])

/**
 * Runs an action while nobody else holds the lock. It is released in every case, also when the process ends by itself.
 * @param path - of the lock, in a folder that is there
 * @throws ClientError `ERR_TOKEN_STORE` where it cannot be made, or where others hold it for too long; what the action throws
 */
export async function withFileLock<Result>(
  path: string,
  action: (lock: HeldLock) => Promise<Result>,
  { patience = 60, onTakeover = () => {} }: LockOptions = {},
): Promise<Result> {
  const id = randomUUID()
  const text = printHolder(id)
  const handle = await withFile(path, 'made', () => acquire(path, text, patience, onTakeover))
  const callOff = atExit(() => {
    if (readUntrustedSync(path, MAX_LOCK)?.text === text) rmSync(path)
  })
  // One that fails is made good by the next.
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
    // What cannot be removed is taken over by whoever comes next: that is no failure of the action.
    await handle.close().catch(() => {})
    if (isHeld) await rm(path, { force: true }).catch(() => {})
    callOff()
  }
}

async function acquire(
  path: string,
  text: string,
  patience: number,
  onTakeover: (id: string) => void,
): Promise<FileHandle> {
  const begun = performance.now()
  let seen: { readonly mark: string | undefined; readonly since: number } | undefined
  for (;;) {
    const handle = await create(path, text)
    if (handle !== undefined) return handle
    const found = await lockAt(path)
    const mark = found && markOf(found)
    const now = performance.now()
    if (seen === undefined || seen.mark !== mark) seen = { mark, since: now }
    if (found !== undefined && (now - seen.since >= ABANDONED * 1000 || isGone(found.text))) {
      const dead = takeOver(path, markOf(found))
      const [, id] = LOCK.exec(dead ?? '') ?? []
      if (id !== undefined) onTakeover(id)
      seen = undefined
    } else if (now - begun >= patience * 1000) {
      throw new Refusal(`other processes have it for more than ${patience} seconds`)
    } else {
      await sleep(LOOK * (1 + Math.random()))
    }
  }
}

/** Bytes of a lock, at most. */
const MAX_LOCK = 300

/** A lock, empty until its holder has named itself by what `randomUUID` makes: nothing else may become a part of a path. */
const LOCK = /^(?:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\n[^\n]+\n[^\n]*\n)?$/

/** Makes the lock, if there is none. Nothing that is there already is opened, and no link is followed. */
async function create(path: string, text: string): Promise<FileHandle | undefined> {
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => {
    if (TAKEN.has(codeOf(error) ?? '')) return undefined
    throw error
  })
  try {
    // What the lock is for is to be private: on a disk without modes this is known before there are any tokens.
    if (handle !== undefined) refuseOthers(await handle.stat())
    await handle?.writeFile(text)
    return handle
  } catch (error) {
    await handle?.close()
    await rm(path, { force: true })
    throw error
  }
}

/**
 * This machine, by a name for the text of a lock. With the table of processes that this one is in, since containers may share the
 * name of their host, and a folder, and none of its processes; and, on Linux, with the start of the machine, since copies of one
 * virtual machine may share its name, and that table has the same number on all of them.
 */
export function machine(): string {
  const host = hostname().replace(/[^\w.-]/g, '_')
  const boot = textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
  return `${host.slice(0, 100)} ${textOf(() => readlinkSync('/proc/self/ns/pid'))} ${boot}`
}

/** Reads what the system tells of itself in a word; `-` where it does not. */
function textOf(read: () => string): string {
  try {
    const text = read().trim()
    return /^[\w:[\]-]{1,64}$/.test(text) ? text : '-'
  } catch {
    return '-'
  }
}

/** What is in a lock: the name of its holder, its machine and its process, a line each. */
function printHolder(id: string): string {
  return `${id}\n${machine()}\n${process.pid}\n`
}

/**
 * Whether the holder is a process of this machine that is not there any more. Where its number was given to another one it seems
 * to be there, and the ten seconds decide.
 */
function isGone(text: string): boolean {
  const [, host, pid = ''] = text.split('\n')
  return host === machine() && isEnded(pid)
}

/** Whether no process of this machine has a number any more. */
export function isEnded(pid: string): boolean {
  if (!/^[1-9]\d{0,9}$/.test(pid)) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}

/**
 * The lock that is there; undefined where there is none any more.
 * @throws Refusal for anything else, which is somebody's: an application may keep tokens in `bob` and in `bob.lock`
 */
async function lockAt(path: string): Promise<UntrustedFile | undefined> {
  const stats = await look(path)
  if (stats === undefined) return undefined
  // One that cannot be read may be another user's: it is not taken over either.
  const found = stats.isFile() ? await readUntrusted(path, MAX_LOCK).catch(() => ({ stats, text: '' })) : undefined
  if (found === undefined || !LOCK.test(found.text))
    throw new Refusal('something that is no lock is there; move or remove it')
  return found
}

/** Changes with every holder and every touch. */
function markOf({ stats: { ino, mtimeMs }, text }: UntrustedFile): string {
  return `${ino} ${mtimeMs} ${text}`
}

/**
 * Removes a lock whose holder is dead, so that anybody can make a new one. Of several who try, one moves it away; another finds
 * none or, by then, one that lives, which is put back. All at one go, so that next to nobody comes in between.
 * @returns what it held; undefined where it was gone
 */
function takeOver(path: string, mark: string): string | undefined {
  // A name of its own, so that it is not too long where the lock's is not.
  const aside = join(dirname(path), `.grantwell-${randomUUID()}.lock`)
  try {
    if (deadAt(path, mark) === undefined) return undefined
    renameSync(path, aside)
    const dead = deadAt(aside, mark)
    if (dead === undefined) linkSync(aside, path)
    return dead
  } catch (error) {
    if (!GONE.has(codeOf(error) ?? '')) throw error
    return undefined
  } finally {
    rmSync(aside, { force: true })
  }
}

/** What the system says where others were faster. */
const GONE = new Set(['ENOENT', 'EEXIST'])

/** What the lock at a path holds, where it is the one with that mark. */
function deadAt(path: string, mark: string): string | undefined {
  const found = readUntrustedSync(path, MAX_LOCK)
  return found !== undefined && markOf(found) === mark ? found.text : undefined
}

/**
 * Replaces several files together: all of them or none, each whole, and none that has changed since it was read.
 * @module
 */
import { rm } from 'node:fs/promises'
import type { Fault } from './files.js'
import { reasonOf } from './files.js'
import { findStaleLocks, isError, lockPath, StaleLockError, takeLock } from './lock.js'
import type { Target } from './target.js'
import { commit, findTarget, prepare, readBefore, restore } from './target.js'

/** A file to replace. */
export interface Replacement {
  readonly path: string
  /** Makes the new content from the present one. Undefined leaves this file as it is; a fault leaves all files as they are. */
  readonly content: (before: Uint8Array | undefined) => string | Uint8Array | Fault | undefined
}

/** A replacement, and the file that its path leads to. */
interface Job {
  readonly target: Target
  readonly replacement: Replacement
}

/** The locks that are held, by path, each with the function that releases it. */
type Locks = Map<string, () => Promise<void>>

/** The path that is being worked on, for the message of a failure. */
interface Progress {
  path: string
}

/**
 * Replaces files: all of them, or none if one cannot be replaced. A link stays, and the file that it leads to is replaced.
 * Mode and owner stay, except setuid and setgid. A file that cannot be replaced, such as a mount, is written in place.
 * @param mustExist - true to refuse a path without a file
 * @returns the faults, one for each file concerned
 */
export async function replaceFiles(
  replacements: readonly Replacement[],
  mustExist: boolean,
): Promise<readonly Fault[]> {
  const faults: Fault[] = []
  const locks: Locks = new Map()
  const targets: Target[] = []
  const signals = deferSignals()
  const progress: Progress = { path: replacements[0]?.path ?? '' }
  try {
    const jobs = await findTargets(replacements, mustExist, progress)
    await takeLocks(jobs, locks, signals.isPending, progress)
    faults.push(...(await makeContents(jobs, targets, progress)))
    if (faults.length === 0) await writeTargets(targets, signals.isPending, progress)
  } catch (error) {
    const notRestored: Fault[] = []
    for (const target of [...targets].reverse()) if (target.how !== undefined) await restore(target, notRestored)
    const unchanged = replacements.length > 1 && notRestored.length === 0 ? '; no file is changed' : ''
    faults.push({ path: progress.path, reason: `${reasonOf(error)}${unchanged}` }, ...notRestored)
  } finally {
    const rest = targets.flatMap(({ temporary, backup, keepsBackup }) => [temporary, ...(keepsBackup ? [] : [backup])])
    for (const path of rest) await removeOrReport(() => rm(path, { force: true }), path, faults)
    for (const [path, unlock] of locks) await removeOrReport(unlock, path, faults)
    signals.release()
  }
  return faults
}

/** Finds the file of each path. Every process gets the same order, so that no two of them wait for each other's locks. */
async function findTargets(
  replacements: readonly Replacement[],
  mustExist: boolean,
  progress: Progress,
): Promise<readonly Job[]> {
  const byPath = new Map<string, Job>()
  for (const replacement of replacements) {
    progress.path = replacement.path
    const target = await findTarget(replacement.path, mustExist)
    byPath.set(target.realPath, { target, replacement })
  }
  return [...byPath.values()].sort((a, b) => (a.target.realPath < b.target.realPath ? -1 : 1))
}

/** Takes the locks of all files. @throws if a lock is not released in time, or was left behind by a process that has ended */
async function takeLocks(
  jobs: readonly Job[],
  locks: Locks,
  isStopped: () => boolean,
  progress: Progress,
): Promise<void> {
  for (const { target } of jobs) {
    progress.path = target.path
    const lock = lockPath(target.realPath)
    if (locks.has(lock)) continue
    try {
      locks.set(lock, await lockUnlessReadOnly(lock, isStopped))
    } catch (error) {
      throw error instanceof StaleLockError ? await staleLocksError(error, jobs, locks) : error
    }
  }
}

/** Makes the new content of each file and adds the files that change to `targets`. @returns the faults of the contents */
async function makeContents(jobs: readonly Job[], targets: Target[], progress: Progress): Promise<readonly Fault[]> {
  const faults: Fault[] = []
  for (const { target, replacement } of jobs) {
    progress.path = target.path
    await readBefore(target)
    const content = replacement.content(target.before)
    if (typeof content === 'object' && 'reason' in content) faults.push(content)
    else if (content !== undefined) {
      target.after = Buffer.from(content)
      targets.push(target)
    }
  }
  return faults
}

async function writeTargets(targets: readonly Target[], isStopped: () => boolean, progress: Progress): Promise<void> {
  for (const target of targets) {
    progress.path = target.path
    await prepare(target, targets.length > 1)
  }
  for (const target of targets) {
    progress.path = target.path
    if (isStopped()) throw new Error('interrupted')
    await commit(target)
  }
}

/** Makes one error for all stale locks, since a killed process leaves one for each of its files. */
async function staleLocksError(
  first: StaleLockError,
  jobs: readonly Job[],
  taken: ReadonlyMap<string, unknown>,
): Promise<Error> {
  const wanted = new Set(jobs.map(({ target }) => lockPath(target.realPath)))
  const stale = await findStaleLocks([...wanted].filter((lock) => !taken.has(lock)))
  if (stale.length < 2) return first
  return new Error(
    `${stale.length} files are locked by processes that have ended: remove ${stale.join(', ')}, and run this again`,
  )
}

/** Takes a lock, except on a read-only file system. A single file that is mounted into one may still be writable. */
async function lockUnlessReadOnly(path: string, isStopped: () => boolean): Promise<() => Promise<void>> {
  try {
    return await takeLock(path, isStopped)
  } catch (error) {
    if (isError(error) && error.code === 'EROFS') return async () => {}
    throw error
  }
}

async function removeOrReport(remove: () => Promise<void>, path: string, faults: Fault[]): Promise<void> {
  try {
    await remove()
  } catch (error) {
    faults.push({ path, reason: `could not be removed: ${reasonOf(error)}` })
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Holds signals back until `release`, so that none ends the process between two files. */
function deferSignals(): { readonly release: () => void; readonly isPending: () => boolean } {
  let pending: NodeJS.Signals | undefined
  const defer = (signal: NodeJS.Signals): void => {
    pending = signal
  }
  for (const signal of SIGNALS) process.on(signal, defer)
  const release = (): void => {
    for (const signal of SIGNALS) process.off(signal, defer)
    if (pending !== undefined) process.kill(process.pid, pending)
  }
  return { release, isPending: () => pending !== undefined }
}

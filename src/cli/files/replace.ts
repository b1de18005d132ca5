/**
 * Files replaced together: each whole, all of them or none, and none that has changed since it was read.
 * @module
 */
import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { constants } from 'node:fs'
import { access, link, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MAX_BYTES } from '../../metadata/errors.js'
import { checkPath } from './file-names.js'
import type { Fault } from './files.js'
import { reasonOf } from './files.js'
import { findStaleLocks, isError, lockPath, StaleLockError, takeLock } from './lock.js'
import { isSame, openFile, readOpen } from './untrusted-file.js'

/** A file to replace. */
export interface Replacement {
  readonly path: string
  /** Makes the content from what is there now; undefined where it is to stay. A fault keeps all files as they are. */
  readonly content: (before: Uint8Array | undefined) => string | Uint8Array | Fault | undefined
}

/** The state of a replacement. */
interface Target {
  readonly path: string
  readonly target: string
  /** Of the folder, which another user may exchange for a link while the lock is waited for. */
  readonly folder: Stats
  /** Of the file that was named, and as it was read: others may replace it while the lock is waited for. */
  readonly named: Stats | undefined
  old: Stats | undefined
  before: Uint8Array | undefined
  /** Paths beside the file: its new content, and the file as it was. */
  readonly aside: string
  readonly backup: string
  after: Uint8Array | undefined
  how?: 'replaced' | 'in place'
  /** Whether the backup is all that is left of the file as it was. */
  keepsBackup?: true
}

/** Codes of the error that a rename gives where a file cannot be replaced, but may well be written to: a mount, a sticky folder. */
const NOT_REPLACEABLE = new Set(['EBUSY', 'EXDEV', 'EPERM', 'EACCES', 'EROFS'])

/**
 * Replaces files: all, or none where one cannot be. What a link leads to is replaced, not the link; mode and owner stay,
 * but for setuid and setgid.
 * A file that cannot be replaced, such as one that is a mount of its own, is written in place.
 * @param mustExist - whether there has to be a file already
 * @returns what went wrong, one fault for each file concerned
 */
export async function replaceFiles(
  replacements: readonly Replacement[],
  mustExist: boolean,
): Promise<readonly Fault[]> {
  const faults: Fault[] = []
  const locks = new Map<string, () => Promise<void>>()
  const places: Target[] = []
  const release = deferSignals()
  let current = replacements[0]?.path ?? ''
  try {
    const byTarget = new Map<string, { readonly place: Target; readonly replacement: Replacement }>()
    for (const replacement of replacements) {
      current = replacement.path
      const place = await findTarget(replacement.path, mustExist)
      byTarget.set(place.target, { place, replacement })
    }
    // In one order everywhere, so that no two processes wait for each other.
    const sorted = [...byTarget.values()].sort((a, b) => (a.place.target < b.place.target ? -1 : 1))
    for (const { place } of sorted) {
      current = place.path
      const lock = lockPath(place.target)
      if (locks.has(lock)) continue
      try {
        locks.set(lock, await lockUnlessReadOnly(lock, release.isAsked))
      } catch (error) {
        throw error instanceof StaleLockError ? await staleLocksError(error, sorted, locks) : error
      }
    }
    for (const { place, replacement } of sorted) {
      current = place.path
      await readBefore(place)
      const content = replacement.content(place.before)
      if (typeof content === 'object' && 'reason' in content) faults.push(content)
      else if (content !== undefined) {
        place.after = Buffer.from(content)
        places.push(place)
      }
    }
    if (faults.length > 0) return faults
    for (const place of places) {
      current = place.path
      await prepare(place, places.length > 1)
    }
    for (const place of places) {
      current = place.path
      if (release.isAsked()) throw new Error('interrupted')
      await commit(place)
    }
  } catch (error) {
    const left: Fault[] = []
    for (const place of [...places].reverse()) if (place.how !== undefined) await restore(place, left)
    const unchanged = replacements.length > 1 && left.length === 0 ? '; no file is changed' : ''
    faults.push({ path: current, reason: `${reasonOf(error)}${unchanged}` }, ...left)
  } finally {
    const left = places.flatMap(({ aside, backup, keepsBackup }) => [aside, ...(keepsBackup ? [] : [backup])])
    for (const path of left) await removeOrReport(() => rm(path, { force: true }), path, faults)
    for (const [path, unlock] of locks) await removeOrReport(unlock, path, faults)
    release()
  }
  return faults
}

async function findTarget(path: string, mustExist: boolean): Promise<Target> {
  await checkPath(path)
  const old = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (mustExist || error.code !== 'ENOENT') throw error
    return undefined
  })
  if (old !== undefined && !old.isFile()) throw new Error('not a file that can be replaced')
  if (old !== undefined) await access(path, constants.W_OK)
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  )
  const target = isThere ? await realpath(path) : path
  const folder = await lstat(await realpath(dirname(target)))
  const name = join(dirname(target), `.grantwell-${randomBytes(8).toString('hex')}`)
  const aside = `${name}.new`
  return { path, target, folder, named: old, old, before: undefined, aside, backup: `${name}.old`, after: undefined }
}

/** Reads what is there under the lock. Another user may have put a link to a secret there, whose mode it would not keep. */
async function readBefore(place: Target): Promise<void> {
  await checkFolder(place)
  if (place.old === undefined) return
  const file = await openFile(place.target)
  try {
    place.old = file.stats
    // What is larger is no record: it may be replaced, but not changed.
    if (file.stats.size <= MAX_BYTES) place.before = await readOpen(file)
  } finally {
    await file.handle.close()
  }
}

async function checkFolder({ target, folder }: Target): Promise<void> {
  if (!isSame(await stat(dirname(target)), folder)) throw new Error(CHANGED)
}

const CHANGED = 'changed by another program in the meantime: run this again'

/** All locks that were left behind, in one message: a killed process has one for each of its files. */
async function staleLocksError(
  first: StaleLockError,
  sorted: readonly { readonly place: Target }[],
  taken: ReadonlyMap<string, unknown>,
): Promise<Error> {
  const wanted = new Set(sorted.map(({ place }) => lockPath(place.target)))
  const left = await findStaleLocks([...wanted].filter((lock) => !taken.has(lock)))
  if (left.length < 2) return first
  return new Error(
    `${left.length} files are locked by processes that have ended: remove ${left.join(', ')}, and run this again`,
  )
}

/** A file may be writable where nothing beside it is: one that is mounted into a system of files that is not. */
async function lockUnlessReadOnly(path: string, isStopped: () => boolean): Promise<() => Promise<void>> {
  try {
    return await takeLock(path, isStopped)
  } catch (error) {
    if (isError(error) && error.code === 'EROFS') return async () => {}
    throw error
  }
}

/** Writes the content aside, and keeps the file under another name where others may fail after it. */
async function prepare(
  { aside, backup, target, old, before, after = new Uint8Array() }: Target,
  isOneOfSeveral: boolean,
): Promise<void> {
  try {
    await writeBeside(aside, after, old)
  } catch (error) {
    if (isError(error) && error.code === 'EROFS' && old !== undefined) return
    throw error
  }
  if (!isOneOfSeveral || before === undefined) return
  try {
    await link(target, backup)
  } catch {
    // Not every system of files has a second name for a file.
    await writeBeside(backup, before, old)
  }
}

/** Bits of a mode that are kept. New content runs as nobody else: a program that writes to a file takes setuid and setgid from it. */
const KEPT_MODE = 0o1777

async function writeBeside(path: string, content: Uint8Array, old: Stats | undefined): Promise<void> {
  // What takes the place of a file is nobody else's to read before it has that file's owner and mode.
  const handle = await open(path, 'wx', old === undefined ? 0o666 : 0o600)
  try {
    if (old !== undefined) {
      // Where another's file may not be given back to them, it becomes ours.
      await handle.chown(old.uid, old.gid).catch(() => {})
      await handle.chmod(old.mode & KEPT_MODE)
    }
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Puts the new content there. A reader sees the old file or the new one, and nothing between, unless it is written in place. */
async function commit(place: Target): Promise<void> {
  const { target, aside, before, old, after = new Uint8Array() } = place
  await checkFolder(place)
  if (before !== undefined && old !== undefined) await checkUnchanged(target, before, old)
  try {
    await rename(aside, target)
    place.how = 'replaced'
  } catch (error) {
    if (!isError(error) || !NOT_REPLACEABLE.has(error.code ?? '') || before === undefined) throw error
    await writeInPlace(place, after, () => {
      place.how = 'in place'
    })
  }
}

async function checkUnchanged(target: string, before: Uint8Array, old: Stats): Promise<void> {
  const file = await openFile(target)
  try {
    if (!isSame(file.stats, old) || !(await readOpen(file)).equals(before)) throw new Error(CHANGED)
  } finally {
    await file.handle.close()
  }
}

async function writeInPlace({ target, named }: Target, content: Uint8Array, begins = (): void => {}): Promise<void> {
  const { handle, stats } = await openFile(target, { writable: true })
  try {
    // Another user may have exchanged it for another name of a file that is not theirs.
    if (named === undefined || !isSame(stats, named)) throw new Error(CHANGED)
    begins()
    const { mode } = stats
    // Root's write would leave them. A file of somebody else loses them by the write itself.
    if ((mode & 0o7777 & ~KEPT_MODE) !== 0) await handle.chmod(mode & KEPT_MODE).catch(() => {})
    await handle.writeFile(content)
    await handle.truncate(content.length)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Puts a file back as it was. What cannot be put back is said, and where the old content is. */
async function restore(place: Target, faults: Fault[]): Promise<void> {
  const { path, target, backup, before = new Uint8Array() } = place
  try {
    if (place.how === 'replaced') await rename(backup, target)
    else await writeInPlace(place, before)
  } catch (error) {
    place.keepsBackup = true
    // The other name of a file that was written in place has what was written.
    if (place.how === 'in place') await rm(backup, { force: true }).then(() => writeBeside(backup, before, place.old))
    faults.push({
      path,
      reason: `is changed, and could not be put back (${reasonOf(error)}): as it was, it is ${backup}`,
    })
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

/** Keeps signals back, so that none ends the process between two files; what is returned lets them through. */
function deferSignals(): { (): void; readonly isAsked: () => boolean } {
  let asked: NodeJS.Signals | undefined
  const hold = (signal: NodeJS.Signals): void => {
    asked = signal
  }
  for (const signal of SIGNALS) process.on(signal, hold)
  const release = (): void => {
    for (const signal of SIGNALS) process.off(signal, hold)
    if (asked !== undefined) process.kill(process.pid, asked)
  }
  return Object.assign(release, { isAsked: () => asked !== undefined })
}

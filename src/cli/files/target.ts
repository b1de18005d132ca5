/**
 * One file while it is replaced: found, read under its lock, written beside itself, renamed into place, and put back after a
 * failure.
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
import { isError } from './lock.js'
import { isSame, openFile, readOpen } from './untrusted-file.js'

/** The state of one replacement. */
export interface Target {
  readonly path: string
  readonly realPath: string
  /** The folder when the path was resolved. Another user may exchange it for a link while this process waits for the lock. */
  readonly folder: Stats
  /** The file when the path was resolved. Others may replace it while this process waits for the lock. */
  readonly named: Stats | undefined
  /** The file when it was read under the lock. */
  old: Stats | undefined
  before: Uint8Array | undefined
  /** Path of the new content, beside the file. */
  readonly temporary: string
  /** Path of the old content, beside the file. */
  readonly backup: string
  after: Uint8Array | undefined
  how?: 'replaced' | 'in place'
  /** True if only the backup still has the old content. */
  keepsBackup?: true
}

/** Error codes of a rename that fails although the file may be writable, as on a mount or in a sticky folder. */
const NOT_REPLACEABLE = new Set(['EBUSY', 'EXDEV', 'EPERM', 'EACCES', 'EROFS'])

/** Resolves a path to the file that it leads to. @throws if that is not a file, or not one that may be written */
export async function findTarget(path: string, mustExist: boolean): Promise<Target> {
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
  const real = isThere ? await realpath(path) : path
  const folder = await lstat(await realpath(dirname(real)))
  const name = join(dirname(real), `.grantwell-${randomBytes(8).toString('hex')}`)
  const beside = { temporary: `${name}.new`, backup: `${name}.old` }
  return { path, realPath: real, folder, named: old, old, before: undefined, ...beside, after: undefined }
}

/**
 * Reads the file under its lock. No link is followed: one that another user put there could lead to a
 * secret, and the new file would not have the secret's mode.
 */
export async function readBefore(target: Target): Promise<void> {
  await checkFolder(target)
  if (target.old === undefined) return
  const file = await openFile(target.realPath)
  try {
    target.old = file.stats
    // A larger file is not a record: it can be replaced, but not changed.
    if (file.stats.size <= MAX_BYTES) target.before = await readOpen(file)
  } finally {
    await file.handle.close()
  }
}

async function checkFolder({ realPath, folder }: Target): Promise<void> {
  if (!isSame(await stat(dirname(realPath)), folder)) throw new Error(CHANGED)
}

const CHANGED = 'changed by another program in the meantime: run this again'

/** Writes the new content beside the file, and keeps a backup if other files may fail after this one. */
export async function prepare(
  { temporary, backup, realPath, old, before, after = new Uint8Array() }: Target,
  isOneOfSeveral: boolean,
): Promise<void> {
  try {
    await writeBeside(temporary, after, old)
  } catch (error) {
    if (isError(error) && error.code === 'EROFS' && old !== undefined) return
    throw error
  }
  if (!isOneOfSeveral || before === undefined) return
  try {
    await link(realPath, backup)
  } catch {
    // Not every file system has hard links.
    await writeBeside(backup, before, old)
  }
}

/** The mode bits that are kept. As with any write to a file, setuid and setgid are lost: the new content must not run as its owner. */
const KEPT_MODE = 0o1777

async function writeBeside(path: string, content: Uint8Array, old: Stats | undefined): Promise<void> {
  // Nobody else may read the new file before it has the owner and the mode of the old one.
  const handle = await open(path, 'wx', old === undefined ? 0o666 : 0o600)
  try {
    if (old !== undefined) {
      // If the system does not let this user give the file to its owner, it stays this user's.
      await handle.chown(old.uid, old.gid).catch(() => {})
      await handle.chmod(old.mode & KEPT_MODE)
    }
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Puts the new content in place. A reader sees the old file or the new one, except while a file is written in place. */
export async function commit(target: Target): Promise<void> {
  const { realPath, temporary, before, old, after = new Uint8Array() } = target
  await checkFolder(target)
  if (before !== undefined && old !== undefined) await checkUnchanged(realPath, before, old)
  try {
    await rename(temporary, realPath)
    target.how = 'replaced'
  } catch (error) {
    if (!isError(error) || !NOT_REPLACEABLE.has(error.code ?? '') || before === undefined) throw error
    await writeInPlace(target, after, () => {
      target.how = 'in place'
    })
  }
}

async function checkUnchanged(path: string, before: Uint8Array, old: Stats): Promise<void> {
  const file = await openFile(path)
  try {
    if (!isSame(file.stats, old) || !(await readOpen(file)).equals(before)) throw new Error(CHANGED)
  } finally {
    await file.handle.close()
  }
}

async function writeInPlace({ realPath, named }: Target, content: Uint8Array, onStart = (): void => {}): Promise<void> {
  const { handle, stats } = await openFile(realPath, { writable: true })
  try {
    // Another user may have put a hard link here to a file that is not theirs.
    if (named === undefined || !isSame(stats, named)) throw new Error(CHANGED)
    onStart()
    const { mode } = stats
    // A write by root leaves setuid and setgid. A write to another user's file already removes them.
    if ((mode & 0o7777 & ~KEPT_MODE) !== 0) await handle.chmod(mode & KEPT_MODE).catch(() => {})
    await handle.writeFile(content)
    await handle.truncate(content.length)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Puts the old content back. A failure becomes a fault that names the backup, if there is one. Never rejects. */
export async function restore(target: Target, faults: Fault[]): Promise<void> {
  const { path, realPath, backup, before = new Uint8Array() } = target
  try {
    if (target.how === 'replaced') await rename(backup, realPath)
    else await writeInPlace(target, before)
  } catch (error) {
    const failure = target.how === 'in place' ? await rewriteBackup(target) : undefined
    if (failure === undefined) target.keepsBackup = true
    const copy =
      failure === undefined ? `: as it was, it is ${backup}` : `, nor could its old content be kept (${failure})`
    faults.push({ path, reason: `is changed, and could not be put back (${reasonOf(error)})${copy}` })
  }
}

/**
 * Writes the old content into the backup. After a write in place, a backup that is a hard link has the new content too.
 * @returns the reason if that fails
 */
async function rewriteBackup({ backup, old, before = new Uint8Array() }: Target): Promise<string | undefined> {
  try {
    await rm(backup, { force: true })
    await writeBeside(backup, before, old)
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

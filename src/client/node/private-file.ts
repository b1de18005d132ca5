/**
 * A file that only its owner can read or write. On Windows, where files have no modes, it is as private as its folder.
 * @module
 */
import type { Stats } from 'node:fs'
import { rmSync } from 'node:fs'
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ClientError } from '../errors.js'
import { atExit } from './at-exit.js'
import { AS_IT_IS } from './untrusted-file.js'

/** Modes of files and folders that only their owner can use. */
export const OWNER_ALONE = { file: 0o600, folder: 0o700 }

/** The bits of a mode that give rights to other users. */
export const OTHERS = 0o077

/**
 * Reads the text of a file; undefined if there is none.
 * @throws Error for a link, for anything but a file, and for a file that another user owns or that others can use
 */
export async function readPrivate(file: string): Promise<string | undefined> {
  const found = await look(file)
  if (found === undefined) return undefined
  refuseOthers(found)
  const handle = await open(file, AS_IT_IS)
  try {
    // The path may lead to another file by now, so the opened one is checked.
    refuseOthers(await handle.stat())
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

/**
 * Writes a text into a file, completely or not at all: into a temporary file, which then replaces it.
 * @param temporary - the path of the temporary file, in the same folder, with a unique name
 * @param checkAllowed - called just before the replacement; if it throws, nothing changes
 * @throws Refusal if the temporary file would not be private, as on a disk without modes; nothing is written then
 */
export async function replacePrivate(
  file: string,
  text: string,
  temporary: string,
  checkAllowed: () => Promise<void>,
): Promise<void> {
  const cancelCleanup = atExit(() => rmSync(temporary, { force: true }))
  try {
    // Exclusive: it opens no existing file, and follows no link, that an attacker may have put there.
    const handle = await open(temporary, 'wx', OWNER_ALONE.file)
    try {
      // On a disk without modes, every user could read the file.
      refuseOthers(await handle.stat())
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await checkAllowed()
    // If a link was put at the path meanwhile, it is replaced and not followed.
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  } finally {
    cancelCleanup()
  }
  await syncFolder(dirname(file))
}

/** Removes a file, if it exists. */
export async function removePrivate(file: string): Promise<void> {
  await rm(file, { force: true })
  await syncFolder(dirname(file))
}

/** Creates a folder for its owner only, and its parents. An existing folder keeps its mode. */
export async function makePrivateFolder(folder: string): Promise<void> {
  const make = (): Promise<void> =>
    mkdir(folder, { mode: OWNER_ALONE.folder }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  await make().catch(async (error: unknown) => {
    if (codeOf(error) !== 'ENOENT' || folder === dirname(folder)) throw error
    await makePrivateFolder(dirname(folder))
    // Not { recursive: true }, which never ends in folders such as /proc, where the system refuses with ENOENT.
    await make()
  })
}

/** Returns the status of the entry at a path, without following a link; undefined if there is none. */
export async function look(file: string): Promise<Stats | undefined> {
  return lstat(file).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
}

/**
 * Checks that an entry is a private file.
 * @throws Refusal for a link, for anything but a file, and for a file that another user owns or that others can use
 */
export function refuseOthers(found: Stats): void {
  // An attacker may have put a link there to get the tokens elsewhere. Anything else but a file is a mistake.
  if (found.isSymbolicLink()) throw new Refusal('it is a symbolic link')
  if (!found.isFile()) throw new Refusal('it is not a file')
  // Another user would know the tokens in it, or wants this user to use another login.
  if (process.getuid !== undefined && found.uid !== process.getuid()) throw new Refusal('another user owns it')
  const mode = found.mode & 0o777
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
    throw new Refusal(`other users can use it (its mode is 0${mode.toString(8)}; it must be 0600)`)
}

/** Writes the entries of a folder to the disk, if the system can open a folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

/** An error whose message says what is wrong with a file, as the end of a sentence. */
export class Refusal extends Error {}

/**
 * Runs an action on a file, and explains its errors.
 * @param done - the action as a participle, such as `written`
 * @throws ClientError `ERR_TOKEN_STORE`, with a sentence that names the file
 */
export async function withFile<Result>(file: string, done: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    const reason = REASONS[codeOf(error) ?? ''] ?? text
    throw new ClientError('ERR_TOKEN_STORE', `the file ${file} cannot be ${done}: ${reason}`, { cause: error })
  }
}

const REASONS: { readonly [code: string]: string | undefined } = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'a part of its path is not a folder',
  ELOOP: 'it is a symbolic link',
  ENAMETOOLONG: 'its name is too long',
}

/** Returns the system's code of an error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

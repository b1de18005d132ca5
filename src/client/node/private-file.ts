/**
 * A file that nobody but its owner can read or write. On Windows, where files have no modes, it is as private as the folder
 * that it is in.
 * @module
 */
import { rmSync, type Stats } from 'node:fs'
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ClientError } from '../errors.js'
import { atExit } from './at-exit.js'
import { AS_IT_IS } from './untrusted-file.js'

/** Modes of what only its owner can use. */
export const OWNER_ALONE = { file: 0o600, folder: 0o700 }

/** The bits of a mode that let others than the owner do something. */
export const OTHERS = 0o077

/**
 * The text of a file; undefined where there is none.
 * @throws Error for a link, for anything but a file, and for a file that another user owns or that others can use
 */
export async function readPrivate(file: string): Promise<string | undefined> {
  const found = await look(file)
  if (found === undefined) return undefined
  refuseOthers(found)
  const handle = await open(file, AS_IT_IS)
  try {
    // What was opened, whatever has the name by now.
    refuseOthers(await handle.stat())
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

/**
 * Puts a text into a file, whole or not at all: into a new one beside it, which then takes its place.
 * @param aside - where the new one is made, in the same folder, by a name that nobody else uses
 * @param whileAllowed - called last before it takes its place; what it throws leaves everything as it was
 * @throws Refusal where the new one would not be its owner's alone, as on a disk without modes; nothing is written then
 */
export async function replacePrivate(
  file: string,
  text: string,
  aside: string,
  whileAllowed: () => Promise<void>,
): Promise<void> {
  const callOff = atExit(() => rmSync(aside, { force: true }))
  try {
    // Exclusive, so that nothing that somebody planted at this name is opened, and no link is followed.
    const handle = await open(aside, 'wx', OWNER_ALONE.file)
    try {
      // A disk without modes gives whatever is written to every user.
      refuseOthers(await handle.stat())
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await whileAllowed()
    // Takes the place of the name itself: a link that was put there meanwhile is replaced, not followed.
    await rename(aside, file)
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  } finally {
    callOff()
  }
  await syncFolder(dirname(file))
}

/** Removes a file, also where there is none. */
export async function removePrivate(file: string): Promise<void> {
  await rm(file, { force: true })
  await syncFolder(dirname(file))
}

/** Makes a folder for its owner alone, and those that it is in; one that is there keeps its mode. */
export async function makePrivateFolder(folder: string): Promise<void> {
  const make = (): Promise<void> =>
    mkdir(folder, { mode: OWNER_ALONE.folder }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  await make().catch(async (error: unknown) => {
    if (codeOf(error) !== 'ENOENT' || folder === dirname(folder)) throw error
    await makePrivateFolder(dirname(folder))
    // Not { recursive: true }, which tries for ever where the system says ENOENT to whoever may not, as in /proc.
    await make()
  })
}

/** What is at a path, not where a link there leads to. */
export async function look(file: string): Promise<Stats | undefined> {
  return lstat(file).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
}

/** @throws Refusal for a link, for anything but a file, and for a file that another user owns or that others can use */
export function refuseOthers(found: Stats): void {
  // A link may be somebody's who wants the tokens elsewhere; anything but a file is a mistake.
  if (found.isSymbolicLink()) throw new Refusal('it is a symbolic link')
  if (!found.isFile()) throw new Refusal('it is no file')
  // Who put it there knows what is in it, or wants somebody else's login to be used.
  if (process.getuid !== undefined && found.uid !== process.getuid()) throw new Refusal('another user owns it')
  const mode = found.mode & 0o777
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
    throw new Refusal(`others than its owner can use it (its mode is 0${mode.toString(8)}, and must be 0600)`)
}

/** The new name is on the disk as well, where the system lets a folder be opened. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

/** What is wrong with a file, as the end of a sentence. */
export class Refusal extends Error {}

/**
 * Does something with a file.
 * @param done - what was to be done with it, as in a sentence
 * @throws ClientError `ERR_TOKEN_STORE`, with a sentence
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
  EACCES: 'you may not do that there',
  EPERM: 'you may not do that there',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'a part of its path is no folder',
  ELOOP: 'it is a symbolic link',
  ENAMETOOLONG: 'its name is too long',
}

/** The code that the system gives to a failure. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/**
 * A file for tokens that nobody but its owner can read. On Windows, where files have no modes, it is as private as the
 * folder that it is in.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { chmod, lstat, mkdir, open, rename } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'

const OWNER_ALONE = { file: 0o600, folder: 0o700 }

/** Where tokens are kept unless told otherwise (XDG Base Directory Specification: a relative path is to be ignored). */
export function defaultFile() {
  const { XDG_CONFIG_HOME: given = '' } = process.env
  return join(isAbsolute(given) ? given : join(homedir(), '.config'), 'grantwell-demo', 'tokens.json')
}

/**
 * Makes ready to write a file, so that whoever is asked to log in is not asked in vain. What is written is complete or
 * not there at all: it goes into a new file beside the old one, which then takes its place.
 * @returns `write`, which takes the text and resolves once it is on the disk
 * @throws Error with a sentence where it cannot be written
 */
export async function prepareFile(path) {
  const file = resolve(path)
  const aside = join(dirname(file), `.${basename(file)}.${randomUUID()}`)
  const handle = await attempt(path, async () => {
    await makeFolder(dirname(file))
    await refuseOthers(file)
    // Exclusive, so that nothing that somebody planted at this name is opened, and no link is followed.
    return open(aside, 'wx', OWNER_ALONE.file)
  })
  const forget = () => rmSync(aside, { force: true })
  process.once('exit', forget)

  async function write(text) {
    await attempt(path, async () => {
      await handle.writeFile(text)
      await handle.sync()
      await handle.close()
      await refuseOthers(file)
      // Takes the place of the name itself: a link that was put there meanwhile is replaced, not followed.
      await rename(aside, file)
    }).finally(() => handle.close().catch(() => {})) // it may be closed
    process.off('exit', forget)
    await syncFolder(dirname(file))
  }

  return { write }
}

/** What is made here is for the owner alone; a folder that was there keeps its mode, unless it is the demo's own. */
async function makeFolder(folder) {
  await mkdir(folder, { mode: OWNER_ALONE.folder }).catch(async (error) => {
    if (error.code === 'EEXIST') return
    if (error.code !== 'ENOENT' || folder === dirname(folder)) throw error
    await makeFolder(dirname(folder))
    // Not { recursive: true }, which tries for ever where the system says ENOENT to whoever may not, as in /proc.
    await mkdir(folder, { mode: OWNER_ALONE.folder })
  })
  if (folder === dirname(defaultFile())) await chmod(folder, OWNER_ALONE.folder)
}

/** A link at that name may be somebody's who wants the tokens elsewhere; anything but a file is a mistake. */
async function refuseOthers(file) {
  const found = await lstat(file).catch((error) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (found?.isSymbolicLink()) throw Object.assign(new Error(), { reason: 'it is a symbolic link' })
  if (found && !found.isFile()) throw Object.assign(new Error(), { reason: 'it is no file' })
}

/** The new name is on the disk as well, where the system lets a folder be opened. */
async function syncFolder(folder) {
  const handle = await open(folder, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

async function attempt(path, action) {
  try {
    return await action()
  } catch (error) {
    throw new Error(`The file ${path} cannot be written: ${error.reason ?? REASONS[error.code] ?? error.message}.`)
  }
}

const REASONS = {
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'a part of its path is no folder',
}

/**
 * The folder of a new service: looked at before anything is written, and written to without replacing a file.
 * @module
 */
import { lstat, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPath } from '../files/file-names.js'
import { readRecord, reasonOf } from '../files/files.js'
import { replaceFiles } from '../files/replace.js'
import type { ManifestFile } from './manifest.js'
import { parseManifest } from './manifest.js'

/** The new files, which must not be there yet. */
export const SERVICE = 'service.mjs'
export const TEST = 'service.test.mjs'
const MANIFEST = 'package.json'

/** Names a folder in a sentence. */
export function placeOf(directory: string): string {
  return directory === '.' ? 'this folder' : directory
}

/** The texts to write. A manifest that is undefined stays as it is. */
export interface Texts {
  readonly service: string
  readonly test: string
  readonly manifest: string | undefined
}

/**
 * Looks at a folder that a service shall be written to. It may be missing.
 * @returns its `package.json`, if it has one
 * @throws Error if a file of the service is there, or if `package.json` cannot be completed
 */
export async function inspectFolder(directory: string): Promise<ManifestFile | undefined> {
  await checkPath(directory)
  const stats = await stat(directory).catch(unlessMissing)
  if (stats === undefined) return undefined
  if (!stats.isDirectory()) throw new Error(`${directory} is not a folder: name another one`)
  const taken = []
  for (const name of [SERVICE, TEST]) if (await isThere(join(directory, name))) taken.push(name)
  if (taken.length > 0) {
    const verb = taken.length === 1 ? 'is' : 'are'
    throw new Error(
      `${taken.join(' and ')} ${verb} in ${placeOf(directory)} already, and nothing was written: name another folder`,
    )
  }
  return readManifest(join(directory, MANIFEST))
}

/**
 * Writes the files of a service: all of them, or none if one cannot be written.
 * @param before - the `package.json` that {@link inspectFolder} found
 */
export async function writeFolder(directory: string, texts: Texts, before: ManifestFile | undefined): Promise<void> {
  const created: string[] = []
  const create = async (name: string, text: string): Promise<void> => {
    const path = join(directory, name)
    await writeFile(path, text, { flag: 'wx' }) // fails if somebody else was quicker
    created.push(path)
  }
  try {
    await mkdir(directory, { recursive: true })
    await create(SERVICE, texts.service)
    await create(TEST, texts.test)
    if (texts.manifest === undefined) return
    if (before === undefined) await create(MANIFEST, texts.manifest)
    else await replaceManifest(join(directory, MANIFEST), before.text, texts.manifest)
  } catch (error) {
    for (const path of created) await rm(path, { force: true })
    throw new Error(`nothing was written to ${placeOf(directory)}: ${reasonOf(error)}`)
  }
}

async function readManifest(path: string): Promise<ManifestFile | undefined> {
  if (!(await isThere(path))) return undefined
  const read = await readRecord(path, undefined, true)
  if ('reason' in read) throw new Error(`${read.path}: ${read.reason}`)
  return parseManifest(path, read.bytes)
}

async function replaceManifest(path: string, before: string, after: string): Promise<void> {
  const changed = { path, reason: 'package.json was changed by another program in the meantime: run this again' }
  const content = (now: Uint8Array | undefined) => (Buffer.from(before).equals(now ?? Buffer.of()) ? after : changed)
  const [fault] = await replaceFiles([{ path, content }], true)
  if (fault !== undefined) throw new Error(fault.reason)
}

/** Checks for an entry of any kind, also for a link that leads nowhere. */
async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(unlessMissing)) !== undefined
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
  return undefined
}

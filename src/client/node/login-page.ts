/**
 * A page on this machine's disk that forwards the user's browser to the login. Every user of a machine can list the arguments of
 * programs, so the program that opens the browser gets the address of this page, which only its owner can read.
 * @module
 * @see RFC 8252, section 8.6
 */
import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { rmSync } from 'node:fs'
import { lstat, mkdtemp, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { atExit } from './at-exit.js'
import { escaped } from './html.js'
import { OTHERS, OWNER_ALONE } from './private-file.js'
import { isEnded, machineName } from './process-identity.js'
import { readUntrusted } from './untrusted-file.js'

/** A page that exists until it is removed, or the process ends. */
export interface LoginPage {
  /** The `file:` address of the page, which says nothing about the login. */
  readonly address: string
  readonly remove: () => Promise<void>
}

const PREFIX = 'grantwell-login-'
const FILE = 'login.html'

/** The form of a folder's name, as {@link folderPrefix} and `mkdtemp` make it. */
const NAME = /^grantwell-login-[0-9a-f]{16}-([1-9]\d{0,9})-[A-Za-z0-9]{6}$/

/** Milliseconds until a folder is removed if its process may still run, for example on another machine. */
const MAX_AGE = 86_400_000

/** Returns the start of a folder's name: the machine and the process. Several machines may share the home folder. */
function folderPrefix(pid: number): string {
  return `${PREFIX}${createHash('sha256').update(machineName()).digest('hex').slice(0, 16)}-${pid}-`
}

/**
 * Writes the page into a new folder.
 * @param url - the address of the login; the page forwards to it without a script
 * @throws Error if no private folder can be created
 */
export async function writeLoginPage(url: string): Promise<LoginPage> {
  const folder = await makeFolder()
  const cancelCleanup = atExit(() => rmSync(folder, { recursive: true, force: true }))
  const remove = async (): Promise<void> => {
    await rm(folder, { recursive: true, force: true }).catch(() => {}) // the next login removes it
    cancelCleanup()
  }
  try {
    const file = join(folder, FILE)
    await writeFile(file, pageTo(url), { flag: 'wx', mode: OWNER_ALONE.file })
    return { address: pathToFileURL(file).href, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Creates a folder that no other user can read. */
async function makeFolder(): Promise<string> {
  let reason: unknown
  for (const place of places()) {
    try {
      await removeLeftovers(place)
      const folder = await mkdtemp(join(place, folderPrefix(process.pid))) // private, if the disk has modes
      if (process.platform === 'win32' || ((await lstat(folder)).mode & OTHERS) === 0) return folder
      await rmdir(folder)
      reason = new Error(`${place} is on a disk without modes`)
    } catch (error) {
      reason = error
    }
  }
  throw reason
}

/**
 * Returns folders that a browser can read. On Linux the home folder comes first, not a hidden folder in it: browsers packed as
 * snaps, as on Ubuntu, have a `/tmp` of their own, and cannot read hidden folders. On macOS and Windows each user has a temporary
 * folder.
 */
function places(): readonly string[] {
  const isShared = process.platform !== 'darwin' && process.platform !== 'win32'
  return (isShared ? [home(), tmpdir()] : [tmpdir()]).filter(isAbsolute)
}

/** Returns the home folder; empty if the user has none, as in a container with a numeric user only. */
function home(): string {
  try {
    return homedir()
  } catch {
    return ''
  }
}

/** Removes folders that killed processes of this user have left behind, if they have exactly the expected form. */
async function removeLeftovers(place: string): Promise<void> {
  for (const name of await readdir(place).catch(() => [])) {
    const [, pid] = NAME.exec(name) ?? []
    if (pid === undefined) continue
    const folder = join(place, name)
    const found = await lstat(folder).catch(() => undefined)
    if (!found?.isDirectory() || !isPrivate(found, OWNER_ALONE.folder)) continue
    const isLeft = name.startsWith(folderPrefix(Number(pid))) && isEnded(pid)
    if (!isLeft && Date.now() - found.mtimeMs < MAX_AGE) continue
    const entries = await readdir(folder).catch(() => ['?'])
    // If its process was killed early, a folder has no page.
    if (entries.length > 0 && !(entries.length === 1 && (await isPage(join(folder, FILE))))) continue
    await rm(join(folder, FILE), { force: true }).catch(() => {})
    await rmdir(folder).catch(() => {})
  }
}

/** Checks whether a file is a page that was written here, or the start of one. */
async function isPage(file: string): Promise<boolean> {
  const page = await readUntrusted(file, MAX_PAGE).catch(() => undefined)
  if (page === undefined || !isPrivate(page.stats, OWNER_ALONE.file)) return false
  return page.text.startsWith(HEAD) || HEAD.startsWith(page.text)
}

/** Checks whether a file or folder belongs to this user and has the expected mode. */
function isPrivate(found: Stats, mode: number): boolean {
  const isOwn = process.getuid === undefined || found.uid === process.getuid()
  return isOwn && (process.platform === 'win32' || (found.mode & 0o777) === mode)
}

/** The start of each page. */
const HEAD = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<meta http-equiv="refresh" content="0;url=`

/** Bytes that a page may have: more than two addresses can take. */
const MAX_PAGE = 1_048_576

function pageTo(url: string): string {
  return `${HEAD}${escaped(url)}">
<title>Log in</title>
<p><a href="${escaped(url)}">Go on to log in</a></p>
`
}

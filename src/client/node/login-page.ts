/**
 * A page on this machine's disk that leads the user's browser to where a login begins. The opener of a platform is a program,
 * and every user of a machine can list the arguments of programs: it gets the address of this page, which its owner alone reads.
 * @module
 * @see RFC 8252, section 8.6
 */
import { createHash } from 'node:crypto'
import { rmSync, type Stats } from 'node:fs'
import { lstat, mkdtemp, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { atExit } from './at-exit.js'
import { isEnded, machine } from './file-lock.js'
import { escaped } from './html.js'
import { OTHERS, OWNER_ALONE } from './private-file.js'
import { readUntrusted } from './untrusted-file.js'

/** A page that is there until it is removed, or the process ends by itself. */
export interface LoginPage {
  /** Its own address, `file:`, which says nothing of the login. */
  readonly address: string
  readonly remove: () => Promise<void>
}

const PREFIX = 'grantwell-login-'
const FILE = 'login.html'

/** A name as {@link nameOf} and `mkdtemp` make it. */
const NAME = /^grantwell-login-[0-9a-f]{16}-([1-9]\d{0,9})-[A-Za-z0-9]{6}$/

/** Milliseconds until a folder is cleared away where nobody can tell whether its process has ended: that of another machine, say. */
const LEFT_BEHIND = 86_400_000

/** The beginning of a folder's name: the machine and the process. The home folder may be one of several machines. */
function nameOf(pid: number): string {
  return `${PREFIX}${createHash('sha256').update(machine()).digest('hex').slice(0, 16)}-${pid}-`
}

/**
 * Writes the page, into a new folder.
 * @param url - of the web; the page goes on to it without a script
 * @throws Error where no folder can be made that is its owner's alone
 */
export async function writeLoginPage(url: string): Promise<LoginPage> {
  const folder = await makeFolder()
  const callOff = atExit(() => rmSync(folder, { recursive: true, force: true }))
  const remove = async (): Promise<void> => {
    await rm(folder, { recursive: true, force: true }).catch(() => {}) // the next login clears it away
    callOff()
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

/** Makes a new folder that nobody else can look into. */
async function makeFolder(): Promise<string> {
  let reason: unknown
  for (const place of places()) {
    try {
      await clearAway(place)
      const folder = await mkdtemp(join(place, nameOf(process.pid))) // for its owner alone, where the disk has modes
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
 * Folders that a browser may read from. On Linux the home folder comes first, by its visible part: browsers that are packed as
 * snaps, as those of Ubuntu are, have a `/tmp` of their own. On macOS and Windows each user has a temporary folder of their own.
 */
function places(): readonly string[] {
  const isShared = process.platform !== 'darwin' && process.platform !== 'win32'
  return (isShared ? [home(), tmpdir()] : [tmpdir()]).filter(isAbsolute)
}

/** The home folder; empty where the user has none, as in a container that runs under a number alone. */
function home(): string {
  try {
    return homedir()
  } catch {
    return ''
  }
}

/** Removes what killed processes of this user have left behind: what was made here, and nothing that looks otherwise. */
async function clearAway(place: string): Promise<void> {
  for (const name of await readdir(place).catch(() => [])) {
    const [, pid] = NAME.exec(name) ?? []
    if (pid === undefined) continue
    const folder = join(place, name)
    const found = await lstat(folder).catch(() => undefined)
    if (!found?.isDirectory() || !isPrivate(found, OWNER_ALONE.folder)) continue
    const isLeft = name.startsWith(nameOf(Number(pid))) && isEnded(pid)
    if (!isLeft && Date.now() - found.mtimeMs < LEFT_BEHIND) continue
    const entries = await readdir(folder).catch(() => ['?'])
    // A process that was killed early has left a folder without the page.
    if (entries.length > 0 && !(entries.length === 1 && (await isPage(join(folder, FILE))))) continue
    await rm(join(folder, FILE), { force: true }).catch(() => {})
    await rmdir(folder).catch(() => {})
  }
}

/** Whether there is a page that was written here, or the beginning of one. */
async function isPage(file: string): Promise<boolean> {
  const page = await readUntrusted(file, MAX_PAGE).catch(() => undefined)
  if (page === undefined || !isPrivate(page.stats, OWNER_ALONE.file)) return false
  return page.text.startsWith(HEAD) || HEAD.startsWith(page.text)
}

/** Whether somebody has what this user makes here: it is their own, and has its mode. */
function isPrivate(found: Stats, mode: number): boolean {
  const isOwn = process.getuid === undefined || found.uid === process.getuid()
  return isOwn && (process.platform === 'win32' || (found.mode & 0o777) === mode)
}

/** The beginning of each page. */
const HEAD = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<meta http-equiv="refresh" content="0;url=`

/** Bytes of a page: more than two addresses can be. */
const MAX_PAGE = 1_048_576

function pageTo(url: string): string {
  return `${HEAD}${escaped(url)}">
<title>Log in</title>
<p><a href="${escaped(url)}">Go on to log in</a></p>
`
}

/**
 * Things that take long to build, and that several files of tests use: each is built once in a run, by the first who asks for it.
 *
 * It is Vitest's global setup, too: a run has a folder of its own for them.
 * @module
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Names the folder to the processes of the tests, which inherit it. */
const FOLDER = 'GRANTWELL_TESTS_FOLDER'

/** Makes the folder of the run. */
export function setup(): void {
  // Real, since a module knows itself by its real path.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'grantwell-tests-')))
  // Programs in it run as other users, too.
  chmodSync(folder, 0o711)
  process.env[FOLDER] = folder
}

/** Removes the folder of the run. */
export function teardown(): void {
  const folder = process.env[FOLDER]
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
}

/** Returns the folder of something, whether it is built or not. */
export function folderOf(name: string): string {
  return join(process.env[FOLDER] ?? 'no folder: the run has no global setup', name)
}

/**
 * Builds something in a folder, or waits until another process has built it.
 * @param build - gets an empty folder
 * @returns the folder, which no test may change
 * @throws Error where the build failed, for everybody who asks
 */
export async function once(name: string, build: (folder: string) => void | Promise<void>): Promise<string> {
  const folder = folderOf(name)
  const [done, failed] = [`${folder}.done`, `${folder}.failed`]
  if (isFirst(folder)) {
    try {
      await build(folder)
    } catch (error) {
      writeFileSync(failed, String(error))
      throw error
    }
    writeFileSync(done, '')
  }
  while (!existsSync(done)) {
    if (existsSync(failed)) throw new Error(`${name} was not built: ${readFileSync(failed, 'utf8')}`)
    await wait(100)
  }
  return folder
}

/** Makes a folder; false where another process has made it. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false // an error of the file system
    throw error
  }
}

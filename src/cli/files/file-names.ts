/**
 * Checks names of files that can be mistaken: for an option, for a change, or for another file if the name is not UTF-8. Node
 * shows each invalid byte of a name as U+FFFD.
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { lstat, readdir } from 'node:fs/promises'
import { dirname, parse } from 'node:path'

const REPLACEMENT = '\ufffd'

/** Words for a name that is not UTF-8, whose file cannot be opened reliably. */
export const UNREADABLE_NAME = 'has a name that is not UTF-8: rename it'

/** Checks whether a name is UTF-8, so that its text names exactly this file. */
export function isUtf8Name(name: Buffer): boolean {
  return isUtf8(name)
}

/**
 * Refuses a path that may lead to another file than it names. Node turns the invalid UTF-8 of an argument into U+FFFD.
 * @throws unless each part with U+FFFD is the exact name of a file, and no other name in its folder looks the same
 */
export async function checkPath(path: string): Promise<void> {
  for (let part = path; part.includes(REPLACEMENT); part = dirname(part)) {
    const { base, dir } = parse(part)
    if (!base.includes(REPLACEMENT)) continue
    const names = await readdir(dir || '.', { encoding: 'buffer' })
    const same = names.filter((name) => name.toString() === base)
    const [only] = same
    if (only === undefined || same.length > 1 || !isUtf8Name(only))
      throw new Error(`${part} has U+FFFD in its name, or bytes that are not UTF-8: rename it`)
  }
}

/**
 * Checks whether a word of the command line is also the name of a file. A pattern such as `*` expands to all names in a folder,
 * and an untrusted user may have chosen one of them.
 */
export async function isFileName(word: string): Promise<boolean> {
  const isThere = await lstat(word).then(
    () => true,
    () => false,
  )
  if (isThere) return true
  const parts = word.split('/')
  const first = parts.findIndex((part) => part.includes(REPLACEMENT))
  if (first < 0) return false
  const folder = parts.slice(0, first).join('/') || (word.startsWith('/') ? '/' : '.')
  const names = await readdir(folder).catch((): string[] => [])
  return names.includes(parts[first] ?? '')
}

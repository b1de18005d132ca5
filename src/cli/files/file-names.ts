/**
 * Names of files that mean something else: an option or a change, or, where they are no UTF-8, another file. Node shows each
 * wrong byte of those as U+FFFD.
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { lstat, readdir } from 'node:fs/promises'
import { dirname, parse } from 'node:path'

const REPLACEMENT = '\ufffd'

/** Words for a name whose file cannot be opened for sure. */
export const UNREADABLE_NAME = 'has a name that is not UTF-8: rename it'

/** Tells whether a text is the name that the file has. */
export function isUtf8Name(name: Buffer): boolean {
  return isUtf8(name)
}

/**
 * Refuses a path that may be of another file than it says: an argument of bytes that are no UTF-8 comes as one of U+FFFD.
 * @throws where a part with U+FFFD is not the only one in its folder that is shown so, with these very characters
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
 * Tells whether a word of the command line is the name of a file as well. A pattern such as `*` gives whatever names there are,
 * and a stranger may have made one of them.
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

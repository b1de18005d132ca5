/**
 * Tokens in a private file, which several processes can use at the same time.
 * @module
 */
import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Takes } from '../../core/takes.js'
import { checkArgument } from '../options.js'
import type { TokenStore, Tokens } from '../tokens/tokens.js'
import { checkWhole, parseTokens } from '../tokens/tokens-json.js'
import { type HeldLock, withFileLock } from './file-lock.js'
import { makePrivateFolder, Refusal, readPrivate, removePrivate, replacePrivate, withFile } from './private-file.js'

const PATH: Takes = {
  words: 'the path of a file',
  fits: (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
}

/**
 * Makes a store of one user's tokens at one service, in a file of mode 0600. A lock beside it, `<path>.lock`, sees to it that
 * of all processes one at a time refreshes;
 * a holder that was killed is found out at once on its own machine, within ten seconds on others.
 *
 * What is written is whole or not there at all, also where the machine fails. A file that others own, or can read or write, is not used
 * (on Windows files have no modes: there it is as private as its folder). Nothing is written on a disk without modes, such as vfat
 * or a Windows disk in WSL, where every user could read it. A file with something else in it is never replaced:
 * `ERR_TOKEN_STORE` says so in a sentence. To know before a login whether the tokens can be kept, run
 * `store.exclusively(async () => store.read())`.
 * @param path - of the file; the folder that it is in is made, for its owner alone, when it is first needed
 * @throws ClientError `ERR_CONFIGURATION` for a path that is none
 * @example
 * ```ts
 * const store = fileTokenStore(join(homedir(), '.config', 'my-tool', 'tokens.json'))
 * ```
 */
export function fileTokenStore(path: string): TokenStore {
  checkArgument('fileTokenStore', 'path', PATH, path)
  const file = resolve(path)
  const folder = dirname(file)
  /** Of the action that runs by this store; the others of this process wait in line. */
  let held: HeldLock | undefined
  let last: Promise<unknown> = Promise.resolve()

  // As long for every file, so that none whose lock can be made has a name that is too long to be written.
  const digest = createHash('sha256').update(basename(file)).digest('hex').slice(0, 16)
  /** The beginning of the names of what a holder of the lock writes: it tells who has left them behind. */
  const asidesOf = (id: string): string => `.grantwell-${digest}.${id}.`
  /** The path at which the file is made before it takes its place: each write has one of its own, as two may run at once. */
  const newAside = (): string => join(folder, asidesOf(held?.id ?? randomUUID()) + randomUUID().slice(0, 8))

  function clearAway(id: string): void {
    try {
      const names = readdirSync(folder).filter((name) => name.startsWith(asidesOf(id)))
      for (const name of names) rmSync(join(folder, name), { force: true })
    } catch {
      // What stays is private, and in nobody's way.
    }
  }

  /** What was asked for so long ago that others have taken over must not replace what they have written. */
  async function refuseWithoutLock(): Promise<void> {
    if (held !== undefined && !(await held.isOurs())) throw new Refusal('another process has taken its lock over')
  }

  async function read(): Promise<Tokens | undefined> {
    const text = await readPrivate(file)
    if (text === undefined) return undefined
    const tokens = parseTokens(text)
    if (tokens === undefined) throw new Refusal('it holds something else than tokens; move or remove it')
    return tokens
  }

  async function write(tokens: Tokens | undefined): Promise<void> {
    // Whatever else is there is not ours to throw away.
    const found = await read()
    if (tokens !== undefined) {
      await makePrivateFolder(folder)
      const text = `${JSON.stringify(tokens, null, 2)}\n`
      await replacePrivate(file, text, newAside(), refuseWithoutLock)
    } else if (found !== undefined) {
      await refuseWithoutLock()
      await removePrivate(file)
    }
  }

  return {
    read: () => withFile(file, 'used', read),

    async write(tokens) {
      if (tokens !== undefined) checkWhole('write', tokens)
      await withFile(file, 'written', () => write(tokens))
    },

    exclusively: (action) => {
      const result = last.then(async () => {
        await withFile(file, 'written', () => makePrivateFolder(folder))
        const alone = async (lock: HeldLock): ReturnType<typeof action> => {
          held = lock
          try {
            return await action()
          } finally {
            held = undefined
          }
        }
        return withFileLock(`${file}.lock`, alone, { onTakeover: clearAway })
      })
      last = result.catch(() => {}) // whoever waits for it is told; whoever comes next does not mind
      return result
    },
  }
}

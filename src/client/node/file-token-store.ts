/**
 * A token store in a private file, which several processes can use at the same time.
 * @module
 */
import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Takes } from '../../core/takes.js'
import { checkArgument } from '../options.js'
import type { TokenStore, Tokens } from '../tokens/tokens.js'
import { checkWhole, parseTokens } from '../tokens/tokens-json.js'
import type { HeldLock } from './file-lock.js'
import { withFileLock } from './file-lock.js'
import { makePrivateFolder, Refusal, readPrivate, removePrivate, replacePrivate, withFile } from './private-file.js'

const PATH: Takes = {
  words: 'the path of a file',
  fits: (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
}

/** The state of a store. */
interface FileStore {
  readonly file: string
  readonly folder: string
  /** The lock of the action that is running. */
  held: HeldLock | undefined
  /** The end of the last action of this process: the next one waits for it. */
  last: Promise<unknown>
}

/**
 * Creates a store of one user's tokens at one service, in a file of mode 0600. A lock file beside it, `<path>.lock`, ensures
 * that only one process at a time refreshes. The lock of a killed process is taken over at once on its own machine, and
 * within ten seconds on others.
 *
 * A write is complete or has no effect, also if the machine fails. A file that others own, or can read or write, is not used
 * (on Windows files have no modes: there the file is as private as its folder). Nothing is written to a disk without modes,
 * such as vfat or a Windows disk in WSL, where every user could read it. A file with other content is never replaced:
 * `ERR_TOKEN_STORE` says so in a sentence. To check before a login that the tokens can be stored, run
 * `store.exclusively(async () => store.read())`.
 * @param path - the path of the file; its folder is created when it is first needed, for its owner only
 * @throws ClientError `ERR_CONFIGURATION` for a wrong path
 * @example
 * ```ts
 * const store = fileTokenStore(join(homedir(), '.config', 'my-tool', 'tokens.json'))
 * ```
 */
export function fileTokenStore(path: string): TokenStore {
  checkArgument('fileTokenStore', 'path', PATH, path)
  const file = resolve(path)
  const store: FileStore = { file, folder: dirname(file), held: undefined, last: Promise.resolve() }
  return {
    read: () => withFile(file, 'used', () => read(store)),

    async write(tokens) {
      if (tokens !== undefined) checkWhole('write', tokens)
      await withFile(file, 'written', () => write(store, tokens))
    },

    exclusively: (action) => {
      const result = store.last.then(() => runLocked(store, action))
      store.last = result.catch(() => {}) // the caller gets the error; the next action runs all the same
      return result
    },
  }
}

async function read({ file }: FileStore): Promise<Tokens | undefined> {
  const text = await readPrivate(file)
  if (text === undefined) return undefined
  const tokens = parseTokens(text)
  if (tokens === undefined) throw new Refusal('it contains something other than tokens; move or remove it')
  return tokens
}

async function write(store: FileStore, tokens: Tokens | undefined): Promise<void> {
  const { file, folder } = store
  // Throws if the file has other content, which must not be replaced.
  const found = await read(store)
  if (tokens !== undefined) {
    await makePrivateFolder(folder)
    const text = `${JSON.stringify(tokens, null, 2)}\n`
    await replacePrivate(file, text, newTemporaryPath(store), () => refuseWithoutLock(store))
  } else if (found !== undefined) {
    await refuseWithoutLock(store)
    await removePrivate(file)
  }
}

/** Runs an action under the lock file. */
async function runLocked<Result>(store: FileStore, action: () => Promise<Result>): Promise<Result> {
  await withFile(store.file, 'written', () => makePrivateFolder(store.folder))
  const runHolding = async (lock: HeldLock): Promise<Result> => {
    store.held = lock
    try {
      return await action()
    } finally {
      store.held = undefined
    }
  }
  return withFileLock(`${store.file}.lock`, runHolding, { onTakeover: (id) => removeTemporaryFiles(store, id) })
}

/** Checks that the lock is still held. A late write must not replace tokens of a process that has taken the lock over. */
async function refuseWithoutLock({ held }: FileStore): Promise<void> {
  if (held !== undefined && !(await held.isOurs())) throw new Refusal('another process has taken its lock over')
}

/** Returns a new path for a file that will replace the tokens. Each write has its own, as two may run at once. */
function newTemporaryPath({ file, folder, held }: FileStore): string {
  return join(folder, temporaryPrefix(file, held?.id ?? randomUUID()) + randomUUID().slice(0, 8))
}

/** Removes the temporary files of a dead holder of the lock. */
function removeTemporaryFiles({ file, folder }: FileStore, id: string): void {
  try {
    const names = readdirSync(folder).filter((name) => name.startsWith(temporaryPrefix(file, id)))
    for (const name of names) rmSync(join(folder, name), { force: true })
  } catch {
    // Files that remain are private and do no harm.
  }
}

/**
 * Returns the start of the names of a holder's temporary files. It has the same length for every file: if the lock of a file
 * can be created, no temporary name is too long.
 */
function temporaryPrefix(file: string, id: string): string {
  const digest = createHash('sha256').update(basename(file)).digest('hex').slice(0, 16)
  return `.grantwell-${digest}.${id}.`
}

/**
 * Files of others at the path of a lock, in a folder where they may write: none is waited for, read whole or removed.
 * @module
 */
import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { withFileLock } from '../../src/client/node/file-lock.js'
import { fileTokenStore } from '../../src/client/node/file-token-store.js'
import { readUntrusted, readUntrustedSync } from '../../src/client/node/untrusted-file.js'
import { temporaryFolder } from '../engines/process.js'
import { TOKENS, thrownBy } from './service.js'

const hooks: { afterLook?: (() => void) | undefined } = {}

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const lstat = async (path: string) => {
    const found = await real.lstat(path)
    hooks.afterLook?.()
    return found
  }
  return { ...real, lstat }
})

let folder: ReturnType<typeof temporaryFolder>
let lock: string
beforeEach(() => {
  folder = temporaryFolder('strangers')
  lock = join(folder.path, 'a.lock')
})
afterEach(() => {
  hooks.afterLook = undefined
  folder.remove()
})

const filesIn = (path: string): string[] => readdirSync(path).sort()

const failure = (reason: RegExp): unknown =>
  expect.objectContaining({ code: 'ERR_TOKEN_STORE', message: expect.stringMatching(reason) })

const NO_LOCK = /cannot be created: it exists already and is not a lock; move or remove it$/

/** Puts something else in the place of the lock. */
const put: Readonly<Record<string, () => void>> = {
  'a pipe': () => expect(spawnSync('mkfifo', [lock]).status).toBe(0),
  'a gigabyte of nothing': () => {
    writeFileSync(lock, '')
    truncateSync(lock, 2 ** 30)
  },
  'a link to a device': () => symlinkSync('/dev/zero', lock),
  'a folder': () => mkdirSync(lock),
}

describe('a lock', () => {
  it.each([
    ['tokens of somebody with such a name', `{"v":1,"accessToken":"secret"}\n`],
    ['a text', '# dependencies, locked\n'],
    ['the number of a process', '4194305\n'],
    ['a path', '../../../etc/passwd\nanother host\n4194305\n'],
    ['a lock and more', `2d1a3a80-1111-4222-8333-0123456789ab\nanother host\n4194305\n${'more'.repeat(100)}\n`],
    ['a lock and a little more', '2d1a3a80-1111-4222-8333-0123456789ab\nanother host\n4194305\nmore\n'],
  ])(
    'that holds something else is not waited for, and stays, however old it is: %s',
    async (_, text) => {
      const lock = join(folder.path, 'a.lock')
      writeFileSync(lock, text)
      utimesSync(lock, new Date(0), new Date(0))
      const error = await thrownBy(withFileLock(lock, async () => 'in', { patience: 12 }))
      expect(error).toEqual(failure(NO_LOCK))
      expect([readFileSync(lock, 'utf8'), filesIn(folder.path)]).toEqual([text, ['a.lock']])
    },
    20_000,
  )

  it.skipIf(process.platform === 'win32').each(Object.entries(put))(
    'that another user exchanges with %s is refused, and not waited for',
    async (_, exchange) => {
      writeFileSync(lock, '2d1a3a80-1111-4222-8333-0123456789ab\nanother host\n4194305\n')
      hooks.afterLook = () => {
        rmSync(lock, { recursive: true })
        exchange()
      }
      const error = await thrownBy(withFileLock(lock, async () => 'in', { patience: 2 }))
      expect(error).toEqual(failure(NO_LOCK))
    },
  )

  it.skipIf(process.platform === 'win32').each(Object.entries(put))(
    'that another user exchanges with %s while it is held is lost, and not waited for',
    async (_, exchange) => {
      const before = process.memoryUsage().arrayBuffers
      const found = await withFileLock(lock, async ({ isOurs }) => {
        rmSync(lock)
        exchange()
        return isOurs()
      })
      expect([found, filesIn(folder.path)]).toEqual([false, ['a.lock']])
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 26)
    },
  )
})

describe('tokens', () => {
  it('in a file that has the name of the lock of another one are kept', async () => {
    const other = fileTokenStore(join(folder.path, 'bob.lock'))
    await other.write(TOKENS)
    const bob = fileTokenStore(join(folder.path, 'bob'))
    expect(await thrownBy(bob.exclusively(async () => 'in'))).toEqual(failure(NO_LOCK))
    expect(await other.read()).toEqual(TOKENS)
  })
})

describe.skipIf(process.platform === 'win32')('a file that others may have put there', () => {
  const both = async (path: string, most: number): Promise<unknown[]> => {
    const texts = [await readUntrusted(path, most), readUntrustedSync(path, most)].map((found) => found?.text)
    expect(texts[0]).toBe(texts[1])
    return texts
  }

  it('is read up to its limit', async () => {
    writeFileSync(lock, 'text')
    expect(await both(lock, 4)).toEqual(['text', 'text'])
    expect(await both(lock, 3)).toEqual([undefined, undefined])
  })

  it.each(Object.entries(put))('is none where %s is', async (_, exchange) => {
    exchange()
    expect(await both(lock, 300)).toEqual([undefined, undefined])
  })

  it('is an error of the system where none is', async () => {
    const error = expect.objectContaining({ code: 'ENOENT' })
    expect(await thrownBy(readUntrusted(lock, 300))).toEqual(error)
    expect(() => readUntrustedSync(lock, 300)).toThrow(error)
  })
})

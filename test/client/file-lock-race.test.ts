/**
 * The moments of a lock that no test can hit from outside: somebody else is faster, or the disk is full.
 * @module
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { withFileLock } from '../../src/client/node/file-lock.js'
import { temporaryFolder } from '../engines/process.js'
import { thrownBy } from './service.js'

const hooks: { beforeRename?: (() => void) | undefined; whenWriting?: (() => void) | undefined } = {}

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  const renameSync: typeof real.renameSync = (from, to) => {
    hooks.beforeRename?.()
    real.renameSync(from, to)
  }
  return { ...real, renameSync }
})

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const open: typeof real.open = async (...given) => {
    const handle = await real.open(...given)
    const { writeFile } = handle
    handle.writeFile = async (...written) => {
      hooks.whenWriting?.()
      return writeFile.apply(handle, written)
    }
    return handle
  }
  return { ...real, open }
})

/** Lets so many seconds pass for who waits for a lock. */
let passed = 0
const realNow = performance.now.bind(performance)
vi.spyOn(performance, 'now').mockImplementation(() => realNow() + passed * 1000)

/** Waits until who waits has seen the lock, and lets it grow old. */
async function growOld(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 300))
  passed += 11
}

let folder: ReturnType<typeof temporaryFolder>
let lock: string
beforeEach(() => {
  folder = temporaryFolder('race')
  lock = join(folder.path, 'a.lock')
})
afterEach(() => {
  hooks.beforeRename = undefined
  hooks.whenWriting = undefined
  folder.remove()
})

/** Of another machine, which may have any process. */
const DEAD = '2d1a3a80-1111-4222-8333-0123456789ab\nanother host\n4194305\n'
const ALIVE = '2d1a3a80-1111-4222-8333-0123456789ac\nanother host\n4194305\n'

it('a lock of somebody who lives is put back by who took it for the dead one', async () => {
  writeFileSync(lock, DEAD)
  hooks.beforeRename = () => {
    hooks.beforeRename = undefined
    // Another one has moved the dead one away, and somebody has come in.
    rmSync(lock)
    writeFileSync(lock, ALIVE)
  }
  const waiting = withFileLock(lock, async () => readdirSync(folder.path))
  await growOld()
  while (readFileSync(lock, 'utf8') !== ALIVE) await new Promise((resolve) => setTimeout(resolve, 20))
  for (let time = 0; time < 10; time++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([readFileSync(lock, 'utf8'), readdirSync(folder.path)]).toEqual([ALIVE, ['a.lock']])
  }
  rmSync(lock)
  expect(await waiting).toEqual(['a.lock'])
})

it('a dead lock that is gone by then is none to take over', async () => {
  writeFileSync(lock, DEAD)
  hooks.beforeRename = () => {
    hooks.beforeRename = undefined
    rmSync(lock)
  }
  const taken: string[] = []
  const waiting = withFileLock(lock, async () => 'in', { onTakeover: (id) => taken.push(id) })
  await growOld()
  expect(await waiting).toBe('in')
  expect([taken, readdirSync(folder.path)]).toEqual([[], []])
})

it('a lock that cannot be moved away is an error', async () => {
  writeFileSync(lock, DEAD)
  hooks.beforeRename = () => {
    throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
  }
  const waiting = thrownBy(withFileLock(lock, async () => 'in'))
  await growOld()
  expect(await waiting).toMatchObject({
    code: 'ERR_TOKEN_STORE',
    message: expect.stringMatching(/a\.lock cannot be created: permission denied$/),
  })
  expect(readdirSync(folder.path)).toEqual(['a.lock'])
})

it('a lock whose name does not fit on the disk is not left behind', async () => {
  hooks.whenWriting = () => {
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
  }
  const error = await thrownBy(withFileLock(lock, async () => 'in'))
  expect(error).toMatchObject({ code: 'ERR_TOKEN_STORE', message: expect.stringMatching(/: the disk is full$/) })
  expect(existsSync(lock)).toBe(false)
})

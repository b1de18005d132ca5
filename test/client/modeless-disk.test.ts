/**
 * A disk without modes, such as vfat, a network share or a Windows disk in WSL: every user can read what is written there.
 * @module
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fileTokenStore } from '../../src/client/node/file-token-store.js'
import { temporaryFolder } from '../engines/process.js'
import { TOKENS, thrownBy } from './service.js'

const disk = { hasModes: false, written: [] as string[] }

// No file system can be mounted here: whatever mode is asked for, a new file gets that of the disk.
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const open: typeof real.open = async (path, flags, mode) => {
    const handle = await real.open(path, flags, mode)
    if (disk.hasModes || flags !== 'wx') return handle
    await handle.chmod(0o755)
    const { writeFile } = handle
    handle.writeFile = (data, options) => {
      disk.written.push(String(data))
      return writeFile.call(handle, data, options)
    }
    return handle
  }
  return { ...real, open }
})

let folder: ReturnType<typeof temporaryFolder>
let path: string

beforeEach(() => {
  folder = temporaryFolder('modeless')
  path = join(folder.path, 'tokens.json')
  Object.assign(disk, { hasModes: false, written: [] })
})
afterEach(() => folder.remove())

const refusal = (file: string, done: string): unknown =>
  expect.objectContaining({
    code: 'ERR_TOKEN_STORE',
    message: `grantwell: the file ${file} cannot be ${done}: other users can use it (its mode is 0755; it must be 0600)`,
  })

describe.skipIf(process.platform === 'win32')('on a disk without modes', () => {
  it('no token is written, not even for a moment', async () => {
    const store = fileTokenStore(path)
    expect(await thrownBy(store.write(TOKENS) as Promise<unknown>)).toEqual(refusal(path, 'written'))
    expect(disk.written).toEqual([])
    expect(readdirSync(folder.path)).toEqual([])
    disk.hasModes = true
    await store.write(TOKENS)
    expect(await store.read()).toEqual(TOKENS)
  })

  it('the check before a login says so', async () => {
    const store = fileTokenStore(path)
    const check = store.exclusively(async () => store.read())
    expect(await thrownBy(check as Promise<unknown>)).toEqual(refusal(`${path}.lock`, 'created'))
    expect(disk.written).toEqual([])
    expect(readdirSync(folder.path)).toEqual([])
  })
})

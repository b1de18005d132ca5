/**
 * Tokens in a file: who can read it, what becomes of it when something goes wrong, and the lock between those who use it.
 * @module
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTokenSource, discover, type Tokens } from 'grantwell/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { withFileLock } from '../../src/client/node/file-lock.js'
import { fileTokenStore } from '../../src/client/node/file-token-store.js'
import { memoryTokenStore } from '../../src/client/tokens/memory-token-store.js'
import { temporaryFolder } from '../engines/process.js'
import { thrownBy } from './service.js'

const TOKENS: Tokens = {
  v: 1,
  issuer: 'https://git.example',
  clientId: 'tool',
  accessToken: 'access',
  issuedAt: 1_800_000_000,
  expiresAt: 1_800_028_800,
  refreshToken: 'refresh',
  scope: 'repo-code:r',
  tokenType: 'bearer',
}
const OTHERS: Tokens = {
  v: 1,
  issuer: 'https://git.example',
  clientId: 'tool',
  accessToken: 'other',
  issuedAt: 1_800_000_100,
  tokenType: 'mac',
  macKey: 'a key',
  macAlgorithm: 'hmac-sha-256',
}

let folder: ReturnType<typeof temporaryFolder>
let path: string

beforeEach(() => {
  folder = temporaryFolder('tokens')
  path = join(folder.path, 'tool', 'tokens.json')
})
afterEach(() => {
  vi.restoreAllMocks()
  folder.remove()
})

const failure = (reason: RegExp | string): unknown =>
  expect.objectContaining({ code: 'ERR_TOKEN_STORE', message: expect.stringMatching(reason) })

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8)

const filesIn = (directory: string): string[] => readdirSync(directory).sort()

/** Puts a text where the tokens would be. */
function plant(text: string, mode = 0o600): void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text, { mode })
  chmodSync(path, mode)
}

describe('the file', () => {
  it('holds what was written, for any store of its path, until it is forgotten', async () => {
    const store = fileTokenStore(path)
    expect(await store.read()).toBeUndefined()
    for (const tokens of [TOKENS, OTHERS]) {
      await store.write(tokens)
      expect(await store.read()).toEqual(tokens)
      expect(await fileTokenStore(path).read()).toEqual(tokens)
    }
    await store.write(undefined)
    await store.write(undefined)
    expect(await store.read()).toBeUndefined()
    expect(filesIn(join(path, '..'))).toEqual([])
  })

  it('and the folders that it needs are for the owner alone', async () => {
    const deep = join(folder.path, 'a', 'b', 'tokens.json')
    const umask = process.umask(0)
    try {
      await fileTokenStore(deep).exclusively(async () => {
        await fileTokenStore(deep).write(TOKENS)
        expect(modeOf(`${deep}.lock`)).toBe('600')
      })
    } finally {
      process.umask(umask)
    }
    expect(modeOf(deep)).toBe('600')
    expect([modeOf(join(folder.path, 'a')), modeOf(join(folder.path, 'a', 'b'))]).toEqual(['700', '700'])
  })

  it('leaves a folder that was there as it was', async () => {
    mkdirSync(join(path, '..'), { mode: 0o755 })
    await fileTokenStore(path).write(TOKENS)
    expect(modeOf(join(path, '..'))).toBe('755')
  })

  it('is found by the path that it had when the store was made', async () => {
    const before = process.cwd()
    const store = fileTokenStore('tokens-of-a-test.json')
    try {
      expect(await store.read()).toBeUndefined()
      process.chdir(folder.path)
      writeFileSync('tokens-of-a-test.json', JSON.stringify(TOKENS), { mode: 0o600 })
      expect(await store.read()).toBeUndefined()
    } finally {
      process.chdir(before)
    }
  })

  it('is replaced as a whole, by a new one', async () => {
    const store = fileTokenStore(path)
    await store.write(TOKENS)
    const before = statSync(path).ino
    await store.write(OTHERS)
    expect(statSync(path).ino).not.toBe(before)
    expect(filesIn(join(path, '..'))).toEqual(['tokens.json'])
  })

  it('is written whole by each of several writes at once, the last of which counts', async () => {
    const store = fileTokenStore(path)
    await store.exclusively(async () => {
      for (let time = 0; time < 20; time++) {
        const several = Array.from({ length: 5 }, (_, index) => ({ ...TOKENS, accessToken: `${time}-${index}` }))
        await Promise.all(several.map((tokens) => store.write(tokens)))
        expect(several).toContainEqual(await store.read())
      }
    })
    expect(filesIn(join(path, '..'))).toEqual(['tokens.json'])
  })

  it.skipIf(process.platform === 'win32').each([200, 218, 250])('may have a name of %i characters', async (length) => {
    const store = fileTokenStore(join(folder.path, 'x'.repeat(length)))
    await store.exclusively(async () => store.write(TOKENS))
    expect(await store.read()).toEqual(TOKENS)
  })

  it.skipIf(process.platform === 'win32')('with a name that is too long is refused before a login', async () => {
    const store = fileTokenStore(join(folder.path, 'x'.repeat(251)))
    expect(await thrownBy(store.exclusively(async () => store.read()))).toEqual(failure(/its name is too long$/))
  })

  it.each(['', 'a\0b', undefined, 3])('has a path that is one, not %j', (wrong) => {
    expect(() => fileTokenStore(wrong as string)).toThrow(expect.objectContaining({ code: 'ERR_CONFIGURATION' }))
  })
})

describe('a file is neither used nor replaced', () => {
  async function expectRefused(reason: RegExp): Promise<void> {
    const store = fileTokenStore(path)
    expect(await thrownBy(store.read() as Promise<unknown>)).toEqual(failure(reason))
    expect(await thrownBy(store.write(TOKENS) as Promise<unknown>)).toEqual(failure(reason))
    expect(await thrownBy(store.write(undefined) as Promise<unknown>)).toEqual(failure(reason))
  }

  it.each(['640', '604', '620', '602', '644', '666'])('of mode 0%s', async (digits) => {
    const mode = Number.parseInt(digits, 8)
    const text = JSON.stringify(TOKENS)
    plant(text, mode)
    await expectRefused(/^grantwell: the file .*tokens\.json cannot be (?:used|written): other users can use it/)
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(modeOf(path)).toBe(digits)
    chmodSync(path, 0o600)
    expect(await fileTokenStore(path).read()).toEqual(TOKENS)
  })

  it.each([
    ['nothing', ''],
    ['half of it', JSON.stringify(TOKENS).slice(0, 100)],
    ['something else', '{"name":"a package"}'],
    ['null', 'null'],
    ['a list', '[1]'],
    ['tokens of a later version', JSON.stringify({ ...TOKENS, v: 2 })],
    ['no access token', JSON.stringify({ ...TOKENS, accessToken: undefined })],
    ['an empty access token', JSON.stringify({ ...TOKENS, accessToken: '' })],
    ['an expiry that is no number', JSON.stringify({ ...TOKENS, expiresAt: 'soon' })],
    ['a refresh token that is no text', JSON.stringify({ ...TOKENS, refreshToken: 5 })],
    ['a scope that is no text', JSON.stringify({ ...TOKENS, scope: ['a'] })],
    ['another type', JSON.stringify({ ...TOKENS, tokenType: 'dpop' })],
    ['no key', JSON.stringify({ ...OTHERS, macKey: undefined })],
    ['another algorithm', JSON.stringify({ ...OTHERS, macAlgorithm: 'hmac-sha-1' })],
    ['names of a prototype', '{"__proto__":{"v":1}}'],
  ])('that holds %s', async (_, text) => {
    plant(text)
    await expectRefused(/it contains something other than tokens; move or remove it$/)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it.skipIf(process.getuid === undefined)('that another user owns', async () => {
    plant(JSON.stringify(TOKENS))
    const owner = statSync(path).uid
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(owner + 1)
    await expectRefused(/tokens\.json cannot be (?:used|written): another user owns it$/)
    getuid.mockRestore()
    expect(await fileTokenStore(path).read()).toEqual(TOKENS)
  })

  it('that is a link', async () => {
    const target = join(folder.path, 'elsewhere.json')
    writeFileSync(target, JSON.stringify(TOKENS), { mode: 0o600 })
    mkdirSync(join(path, '..'))
    symlinkSync(target, path)
    await expectRefused(/it is a symbolic link$/)
    rmSync(target)
    await expectRefused(/it is a symbolic link$/)
    expect(existsSync(target)).toBe(false)
  })

  it('that is a folder', async () => {
    mkdirSync(path, { recursive: true })
    await expectRefused(/it is not a file$/)
  })

  it('in a folder that is none', async () => {
    writeFileSync(join(path, '..'), '')
    const store = fileTokenStore(path)
    const reason = /a part of its path is not a folder$/
    expect(await thrownBy(store.write(TOKENS) as Promise<unknown>)).toEqual(failure(reason))
    expect(await thrownBy(store.exclusively(async () => {}))).toEqual(failure(reason))
  })

  it.skipIf(process.platform !== 'linux')('in a folder that nobody can make', async () => {
    const store = fileTokenStore('/proc/nobody/tokens.json')
    expect(await thrownBy(store.exclusively(async () => {}))).toEqual(failure(/there is no such folder$/))
  })

  it('more of it than there is of tokens is left out', async () => {
    plant(JSON.stringify({ ...TOKENS, more: 1 }))
    expect(await fileTokenStore(path).read()).toEqual(TOKENS)
  })
})

describe('tokens that could not be read back', () => {
  const circle: Record<string, unknown> = { ...TOKENS }
  circle['more'] = circle
  const bad: readonly [string, unknown][] = [
    ['an expiry that is no number', { ...TOKENS, expiresAt: Number.NaN }],
    ['an expiry that never comes', { ...TOKENS, expiresAt: Number.POSITIVE_INFINITY }],
    ['an empty refresh token', { ...TOKENS, refreshToken: '' }],
    ['null for a refresh token', { ...TOKENS, refreshToken: null }],
    ['null for a scope', { ...TOKENS, scope: null }],
    ['no version', { ...TOKENS, v: undefined }],
    ['no time', { ...TOKENS, issuedAt: undefined }],
    ['no type', { ...TOKENS, tokenType: undefined }],
    ['no key', { ...OTHERS, macKey: undefined }],
    ['a number that JSON does not have', { ...TOKENS, more: 1n }],
    ['a circle', circle],
    ['members that are not their own', Object.create(TOKENS)],
    ['another form in JSON', { ...TOKENS, toJSON: () => 'tokens' }],
    ['nothing', null],
  ]

  it.each(bad)('take the place of none, in a store or by a source: %s', async (_, tokens) => {
    const store = fileTokenStore(path)
    await store.write(TOKENS)
    const fetch = async () => Response.json({ issuer: TOKENS.issuer })
    const client = await discover({ issuer: TOKENS.issuer, clientId: TOKENS.clientId, fetch })
    const wrong = tokens as Tokens // by somebody who writes JavaScript
    for (const write of [store.write, createTokenSource({ client, store }).save])
      expect(await thrownBy(Promise.resolve(write(wrong)))).toMatchObject({
        code: 'ERR_CONFIGURATION',
        message: expect.stringMatching(/: the argument tokens must be tokens, as a login gives them; got /),
      })
    expect(await store.read()).toEqual(TOKENS)
  })
})

describe('the lock', () => {
  it('is there while an action runs, gives back what that gives, and is gone afterwards', async () => {
    const store = fileTokenStore(path)
    expect(
      await store.exclusively(async () => {
        expect(filesIn(join(path, '..'))).toEqual(['tokens.json.lock'])
        return 'done'
      }),
    ).toBe('done')
    const error = new Error('no')
    expect(await thrownBy(store.exclusively(() => Promise.reject(error)))).toBe(error)
    expect(filesIn(join(path, '..'))).toEqual([])
  })

  it.each([
    ['a file, by one store', () => fileTokenStore(path), true],
    ['a file, by a store each', () => fileTokenStore(path), false],
    ['memory', () => memoryTokenStore(), true],
  ])('lets one in at a time: %s', async (_, make, isShared) => {
    const shared = make()
    let inside = 0
    let most = 0
    const order: number[] = []
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (isShared ? shared : make())
          .exclusively(async () => {
            most = Math.max(most, ++inside)
            await sleep(Math.random() * 5)
            order.push(index)
            inside--
            if (index % 5 === 0) throw new Error('no')
          })
          .catch(() => {}),
      ),
    )
    expect(most).toBe(1)
    expect(order).toHaveLength(20)
    const inOrder = order.toSorted((a, b) => a - b)
    expect(isShared ? order : inOrder).toEqual(inOrder)
  })

  it('is waited for so long, and then it is an error', async () => {
    const lock = join(folder.path, 'a.lock')
    await withFileLock(lock, async () => {
      const begun = performance.now()
      const error = await thrownBy(withFileLock(lock, async () => {}, { patience: 0.3 }))
      expect(error).toEqual(
        failure(/a\.lock cannot be created: other processes have held it for more than 0\.3 seconds$/),
      )
      expect(performance.now() - begun).toBeGreaterThan(290)
    })
    expect(filesIn(folder.path)).toEqual([])
  })

  it('that is something else is not waited for', async () => {
    const lock = join(folder.path, 'a.lock')
    symlinkSync(join(folder.path, 'nowhere'), lock)
    expect(await thrownBy(withFileLock(lock, async () => {}))).toEqual(
      failure(/it exists already and is not a lock; move or remove it$/),
    )
    rmSync(lock)
    mkdirSync(lock)
    expect(await thrownBy(withFileLock(lock, async () => {}))).toEqual(
      failure(/it exists already and is not a lock; move or remove it$/),
    )
  })

  it('that is somebody else’s by now is left to them, and so are the tokens', async () => {
    const store = fileTokenStore(path)
    await store.write(TOKENS)
    const error = await thrownBy(
      store.exclusively(async () => {
        writeFileSync(`${path}.lock`, 'theirs')
        for (const tokens of [OTHERS, undefined])
          expect(await thrownBy(store.write(tokens) as Promise<unknown>)).toEqual(
            failure(/another process has taken its lock over$/),
          )
        throw new Error('ended')
      }),
    )
    expect(error).toEqual(new Error('ended'))
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe('theirs')
    expect(await store.read()).toEqual(TOKENS)
    expect(filesIn(join(path, '..'))).toEqual(['tokens.json', 'tokens.json.lock'])
  })
})

describe('a lock of this machine', () => {
  /** Shorter than the time after which any holder is taken for dead: by then there is but one other way in. */
  const patience = 3

  /** The text of a lock of this process, with another number. */
  async function textBy(pid: string): Promise<{ readonly lock: string; readonly id: string }> {
    const lock = join(folder.path, 'a.lock')
    let text = ''
    await withFileLock(lock, async () => {
      text = readFileSync(lock, 'utf8')
    })
    const [id = '', host = '', own] = text.split('\n')
    expect([host.includes(hostname()), own]).toEqual([true, String(process.pid)])
    writeFileSync(lock, `${id}\n${host}\n${pid}\n`)
    return { lock, id }
  }

  it('whose process is gone is taken over at once', async () => {
    const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' })
    await once(child, 'exit')
    const { lock, id } = await textBy(String(child.pid))
    const taken: string[] = []
    const result = withFileLock(lock, async () => 'in', { patience, onTakeover: (each) => taken.push(each) })
    expect(await result).toBe('in')
    expect([taken, filesIn(folder.path)]).toEqual([[id], []])
  })

  it.each([
    ['is there', String(process.pid)],
    ['is somebody else’s', '1'],
    ['has no number', ''],
    ['has a number that is none', '-1'],
    ['has a number of all of a group', '0'],
  ])('whose process %s is waited for', async (_, pid) => {
    const { lock } = await textBy(pid)
    const error = await thrownBy(withFileLock(lock, async () => 'in', { patience: 0.3 }))
    expect(error).toEqual(failure(/other processes have held it/))
  })

  it.skipIf(process.platform !== 'linux')(
    'by its name, but with another start, is waited for: of copies of one machine all have its name',
    async () => {
      const { lock } = await textBy('4194305')
      const text = readFileSync(lock, 'utf8')
      const other = text.replace(/ [0-9a-f]{8}-[0-9a-f-]{27}\n/, ' 2d1a3a80-1111-4222-8333-0123456789ab\n')
      expect(other).not.toBe(text)
      writeFileSync(lock, other)
      const error = await thrownBy(withFileLock(lock, async () => 'in', { patience: 0.3 }))
      expect(error).toEqual(failure(/other processes have held it/))
    },
  )

  it('whose process may not be asked is waited for', async () => {
    const { lock } = await textBy('4194305')
    vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    })
    const error = await thrownBy(withFileLock(lock, async () => 'in', { patience: 0.3 }))
    expect(error).toEqual(failure(/other processes have held it/))
  })
})

describe.concurrent('a lock whose holder', () => {
  const TIMEOUT = 300_000

  it(
    'lives is not taken over, however long it takes',
    async ({ onTestFinished }) => {
      const own = temporaryFolder('lock')
      onTestFinished(own.remove)
      const lock = join(own.path, 'a.lock')
      const order: string[] = []
      const long = withFileLock(lock, async ({ isOurs }) => {
        await sleep(13_000)
        order.push(`${await isOurs()}`)
      })
      await sleep(100)
      await Promise.all([long, withFileLock(lock, async () => order.push('next'))])
      expect(order).toEqual(['true', 'next'])
    },
    TIMEOUT,
  )

  it.for<[string, string]>([
    ['has died', '2d1a3a80-1111-4222-8333-0123456789ab\nanother host\n4194305\n'],
    ['has died before it wrote its name', ''],
    // No process has so high a number, but who knows those of another machine?
    ['has died without a number', '2d1a3a80-1111-4222-8333-0123456789ad\nanother host\n\n'],
    ['has a clock that is far ahead', '2d1a3a80-1111-4222-8333-0123456789ac\nanother host\n4194305\n'],
  ])(
    '%s is taken over after some seconds, by one of many who wait',
    { timeout: TIMEOUT },
    async ([title, text], { onTestFinished }) => {
      const [name = ''] = text.split('\n')
      const own = temporaryFolder('lock')
      onTestFinished(own.remove)
      const file = join(own.path, 'tokens.json')
      const lock = `${file}.lock`
      writeFileSync(lock, text)
      if (title.includes('ahead')) utimesSync(lock, new Date(), new Date(Date.now() + 86_400_000))
      // What a holder leaves behind that dies while it writes, and what others have there.
      const asides = (holder: string): string =>
        `.grantwell-${createHash('sha256').update('tokens.json').digest('hex').slice(0, 16)}.${holder}`
      const others = asides('2d1a3a80-1111-4222-8333-0123456789af.01234567')
      for (const left of [`${name}.01234567`, `${name}.89abcdef`])
        if (name) writeFileSync(join(own.path, asides(left)), '')
      writeFileSync(join(own.path, others), 'theirs')
      const begun = performance.now()
      const stores = Array.from({ length: 30 }, () => fileTokenStore(file))
      let inside = 0
      let most = 0
      const waits = await Promise.all(
        stores.map((store) =>
          store.exclusively(async () => {
            const waited = performance.now() - begun
            most = Math.max(most, ++inside)
            await sleep(2)
            inside--
            return waited
          }),
        ),
      )
      expect(most).toBe(1)
      expect(Math.min(...waits)).toBeGreaterThan(9_900)
      expect(filesIn(own.path)).toEqual([others])
    },
  )
})

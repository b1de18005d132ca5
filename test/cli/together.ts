/**
 * `set` and `convert -o` as they write: all files or none, whatever fails, and no update lost.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { parseText } from 'grantwell/metadata'
import { expect, it } from 'vitest'
import { lockPath, lockText } from '../../src/cli/files/lock.js'
import { BIN, bash, folder, metadata, write, ZLIB } from './command.js'
import type { Faults } from './faulty.js'
import { runFaulty, start } from './faulty.js'

const SILENT = { code: 0, stdout: '', stderr: '' }
const NEW = ZLIB.replace('name: "zlib"', 'name: "x"')

const read = (path: string): string => readFileSync(join(folder(), path), 'utf8')

/** Returns the faults, whose file to write is one of a folder. */
function within(own: string, { write: theirs, ...faults }: Faults): Faults {
  return { ...faults, ...(theirs && { write: { ...theirs, path: join(own, theirs.path) } }) }
}

/** Runs `set` on two files in a folder of its own, with a fault; what was said and what is there then. */
async function faulty(name: string, faults: Faults) {
  const own = join(folder(), name)
  const paths = ['a', 'b']
  for (const path of paths) write(`${name}/${path}`, ZLIB)
  const args = ['set', 'name=x', ...paths.map((path) => `${name}/${path}`)]
  const outcome = await runFaulty(own, args, within(own, faults))
  return {
    ...outcome,
    files: [read(`${name}/a`), read(`${name}/b`)],
    left: readdirSync(own).filter((file) => file !== 'a' && file !== 'b'),
  }
}

/** Runs `convert` on a file that it replaces, with a fault. */
async function converted(name: string, faults: Faults) {
  const own = join(folder(), name)
  write(`${name}/a`, ZLIB)
  const args = ['convert', '-t', 'json', '-o', `${name}/a`, `${name}/a`]
  const outcome = await runFaulty(own, args, within(own, faults))
  return { ...outcome, file: read(`${name}/a`), left: readdirSync(own).filter((file) => file !== 'a') }
}

/** Does something at each of the calls, from 1, a few at once. */
async function each(calls: readonly string[], work: (at: number, call: string) => Promise<void>): Promise<void> {
  const left = calls.map((call, index) => ({ at: index + 1, call })).values()
  const worker = async (): Promise<void> => {
    for (const { at, call } of left) await work(at, call)
  }
  await Promise.all(Array.from({ length: 4 }, worker))
}

/** Does something at each of the calls at which the faults write. */
const eachSeen: typeof each = (calls, work) =>
  each(calls, (at, call) => (['rename', 'handle.close'].includes(call) ? Promise.resolve() : work(at, call)))

/** A limit against hanging alone. */
const MINUTES = 600_000

/** Whether files may be mounted here, where nobody else sees it. */
const canMount = spawnSync('unshare', ['-m', 'mount', '--bind', '/tmp', '/tmp']).status === 0

export function together(): void {
  it.each([
    ['files that are replaced', {}],
    ['files that cannot be replaced', { rename: 'EBUSY' }],
    ['files without a second name', { link: 'EPERM' }],
  ])(
    'changes all or none, and says which, whatever call of the file system fails: %s',
    async (_, always) => {
      const sound = await faulty('sound', { always })
      expect(sound).toMatchObject({ ...SILENT, files: [NEW, NEW], left: [] })
      expect(sound.calls.length).toBeGreaterThan(30)
      const runs: (Awaited<ReturnType<typeof faulty>> & { readonly at: number; readonly told: string })[] = []
      await each(sound.calls, async (at, call) => {
        const run = await faulty(`at${at}`, { at, code: 'EIO', always })
        runs.push({ ...run, at, told: `${at} ${call}: ${run.stderr}` })
      })
      for (const { files, told } of runs) expect([[ZLIB, ZLIB].join(), [NEW, NEW].join()], told).toContain(files.join())
      for (const { files, left, told } of runs.filter(({ code }) => code === 0))
        expect({ files, left }, told).toEqual({ files: [NEW, NEW], left: [] })
      for (const { at, code, stderr, left, told } of runs.filter((run) => run.code !== 0)) {
        expect(code, told).toBe(2)
        expect(stderr, told).toMatch(
          new RegExp(`^at${at}/[ab]: error: |\\.grantwell-\\w+\\.\\w+: error: could not be removed`),
        )
        expect(stderr, told).not.toMatch(/^ +at /m)
        for (const file of left) expect(stderr, told).toContain(file)
      }
    },
    MINUTES,
  )

  it('puts back every file that it can, where one and its copy cannot be written any more', async () => {
    const { calls } = await faulty('sound', {})
    const [, second = -1] = calls.flatMap((call, index) => (call === 'rename' ? [index] : []))
    const written = calls.slice(0, second).filter((call) => call === 'handle.writeFile').length
    const { code, stderr, files, left } = await faulty('broken', {
      at: second + 1,
      code: 'EBUSY',
      lasting: { 'handle.writeFile': { from: written + 1, code: 'EIO' } },
    })
    expect({ code, files, left }, stderr).toEqual({ code: 2, files: [ZLIB, ZLIB], left: [] })
    expect(stderr).toMatch(
      /^broken\/b: error: a fault of the test\nbroken\/b: error: is changed, and could not be put back \(a fault of the test\), nor could its old content be kept \(a fault of the test\)\n$/,
    )
  })

  it(
    'changes all or none when it is ended by a signal, whenever that comes, and leaves nothing behind',
    async () => {
      const { calls } = await faulty('sound', {})
      await each(calls, async (at) => {
        const { code, files, left } = await faulty(`at${at}`, { at, signal: 'SIGTERM' })
        expect(files[0]).toBe(files[1])
        expect({ code, left }, `${at}`).toEqual({ code: 'SIGTERM', left: [] })
      })
    },
    MINUTES,
  )

  it(
    'never overwrites a change of another program that came after the file was read',
    async () => {
      const { calls } = await faulty('sound', {})
      const theirs = `# another's\n${ZLIB}`
      for (const [index, path] of ['a', 'b'].entries())
        await eachSeen(calls, async (at, call) => {
          const { code, files, stderr, left } = await faulty(`${path}${at}`, { at, write: { path, content: theirs } })
          // Theirs may have come before ours or after it.
          const changed = files.map((_, file) => (file === index ? expect.stringContaining("# another's") : NEW))
          const unchanged = files.map((_, file) => (file === index ? theirs : ZLIB))
          const refusal = /: error: changed by another program in the meantime: run this again; no file is changed\n$/
          const expected =
            code === 0 ? { files: changed, stderr: '' } : { files: unchanged, stderr: expect.stringMatching(refusal) }
          expect({ files, stderr, left }, `${path} ${at} ${call}`).toEqual({ ...expected, left: [] })
        })
    },
    MINUTES,
  )

  it(
    'never overwrites such a change in turning a record into another format where it stands',
    async () => {
      const { calls } = await converted('sound', {})
      await eachSeen(calls, async (at, call) => {
        const { code, stderr, file, left } = await converted(`at${at}`, { at, write: { path: 'a', content: NEW } })
        const done = { file: expect.stringContaining('"x"'), stderr: '' }
        const refused = { file: NEW, stderr: expect.stringContaining('changed by another program') }
        expect({ file, stderr, left }, `${at} ${call}`).toEqual({ ...(code === 0 ? done : refused), left: [] })
      })
    },
    MINUTES,
  )

  it(
    'loses no update of twelve that come at once, to one file or to two in either order',
    async () => {
      write('a', ZLIB)
      write('b', ZLIB)
      const numbers = Array.from({ length: 12 }, (_, index) => index)
      const outcomes = await Promise.all(
        numbers.map((index) =>
          start([
            'set',
            `third_party.security.tag+=n${index}`,
            ...(index % 3 === 0 ? ['a'] : index % 3 === 1 ? ['a', 'b'] : ['b', 'a']),
          ]),
        ),
      )
      for (const outcome of outcomes) expect(outcome).toEqual(SILENT)
      const tags = (path: string): readonly string[] =>
        [...(parseText(read(path)).thirdParty?.security?.tag ?? [])].sort()
      const all = numbers.map((index) => `n${index}`)
      expect(tags('a')).toEqual(['NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.1', ...all].sort())
      expect(tags('b')).toEqual(
        ['NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.1', ...all.filter((_, index) => index % 3 !== 0)].sort(),
      )
      expect(readdirSync(folder()).sort()).toEqual(['a', 'b'])
    },
    MINUTES,
  )

  it(
    'waits for a lock of a process that runs, and says which to remove of one that has ended',
    async () => {
      const lock = lockPath(write('a', ZLIB))
      const ended = spawnSync(process.execPath, ['-e', '']).pid
      writeFileSync(lock, lockText(ended))
      expect(metadata(['set', 'name=x', 'a'])).toEqual({
        code: 2,
        stdout: '',
        stderr: `a: error: locked by process ${ended} ${hostname()}, which has ended: remove ${lock}, and run this again\n`,
      })
      expect([read('a'), readFileSync(lock, 'utf8')]).toEqual([ZLIB, lockText(ended)])
      expect(metadata(['set', '-n', 'name=x', 'a']).code).toBe(0)
      expect(metadata(['set', 'name=zlib', 'a'])).toEqual(SILENT)
      writeFileSync(lock, lockText(process.pid))
      const waiting = start(['set', 'name=x', 'a'])
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(read('a')).toBe(ZLIB)
      rmSync(lock)
      expect(await waiting).toEqual(SILENT)
      expect(read('a')).toBe(NEW)
    },
    MINUTES,
  )

  it.each<[what: string, of: (text: string) => string]>([
    ['another machine of that name', (text) => text.replace(/.\n$/, (end) => (end === '0\n' ? '1\n' : '0\n'))],
    ['another table of processes', (text) => text.replace(/ (\S+)\n$/, ' other-$1\n')],
    ['an earlier version, which did not name its table', (text) => text.replace(/ \S+\n$/, '\n')],
  ])('waits for a lock of %s, since nobody here can tell whether its process has ended', async (_, of) => {
    const lock = lockPath(write('a', ZLIB))
    const text = of(lockText(spawnSync(process.execPath, ['-e', '']).pid))
    expect(text).not.toBe(lockText(Number.parseInt(text, 10)))
    writeFileSync(lock, text)
    const waiting = start(['set', 'name=x', 'a'])
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect([read('a'), readFileSync(lock, 'utf8')]).toEqual([ZLIB, text])
    rmSync(lock)
    expect(await waiting).toEqual(SILENT)
    expect(read('a')).toBe(NEW)
  })

  it('names in one message all locks that a killed process has left, and none of a process that runs', () => {
    const ended = lockText(spawnSync(process.execPath, ['-e', '']).pid)
    const names = ['a', 'b', 'c', 'd', 'e']
    const locks = names.map((name) => lockPath(write(name, ZLIB)))
    const leave = (): void => {
      for (const [index, lock] of locks.entries())
        if (index !== 0) writeFileSync(lock, index === 3 ? lockText(process.pid) : ended)
    }
    leave()
    const [, b, c, , e] = locks
    expect(metadata(['set', 'name=x', ...names])).toEqual({
      code: 2,
      stdout: '',
      stderr: `b: error: 3 files are locked by processes that have ended: remove ${b}, ${c}, ${e}, and run this again; no file is changed\n`,
    })
    for (const name of names) expect(read(name)).toBe(ZLIB)
    for (const lock of locks) rmSync(lock, { force: true })
    expect(metadata(['set', 'name=x', ...names])).toEqual(SILENT)
  })

  const SECRET = 'token=s3cret-of-somebody\n'
  it.runIf(process.platform !== 'win32').each<[what: string, make: (lock: string) => void]>([
    ['a link to a secret', (lock) => symlinkSync(write('secret', SECRET), lock)],
    ['a link to nothing', (lock) => symlinkSync('nowhere', lock)],
    ['a link to what never ends', (lock) => symlinkSync('/dev/zero', lock)],
    ['another name of a secret', (lock) => linkSync(write('secret', SECRET), lock)],
    ['a pipe', (lock) => void spawnSync('mkfifo', [lock])],
    ['a folder', (lock) => mkdirSync(lock)],
    ['a text that is none', (lock) => writeFileSync(lock, `1 host\u001b[2J ${SECRET}`)],
    ['two lines', (lock) => writeFileSync(lock, `1 host\n${SECRET}`)],
    ['a process and more than a name', (lock) => writeFileSync(lock, `1 ${'h'.repeat(256)}\n`)],
    ['a large file', (lock) => writeFileSync(lock, '1 '.repeat(1_000_000))],
  ])('says at once that what lies in place of a lock is none, and nothing of what is in it: %s', (_, make) => {
    const file = write('a', ZLIB)
    const lock = lockPath(file)
    make(lock)
    const message = `a: error: something that is no lock is at ${lock}: remove it, and run this again\n`
    expect(metadata(['set', 'name=x', 'a'])).toEqual({ code: 2, stdout: '', stderr: message })
    expect(metadata(['convert', '--to', 'text', '-o', 'a', 'a'])).toEqual({ code: 2, stdout: '', stderr: message })
    expect(read('a')).toBe(ZLIB)
  })

  it.runIf(canMount)('writes in place what is a mount of its own, and changes it together with others', () => {
    write('a', ZLIB)
    write('real', ZLIB)
    write('mount', '')
    const { code, stdout, stderr } = bash(
      `export BIN='${BIN}'; unshare -m bash -c 'mount --bind real mount && "$0" "$BIN" metadata set name=x a mount && ls -A' '${process.execPath}'`,
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trim().split('\n').sort()).toEqual(['a', 'mount', 'real'])
    expect([read('a'), read('real'), read('mount')]).toEqual([NEW, NEW, ''])
  })

  it.runIf(canMount)('writes in place a mount in a folder that may not be written to', () => {
    write('real', ZLIB)
    write('app/METADATA', '')
    const { code, stderr } = bash(
      `export BIN='${BIN}'; unshare -m bash -c 'mount --bind app app && mount --bind real app/METADATA && mount -o remount,bind,ro app && "$0" "$BIN" metadata set name=x app/METADATA' '${process.execPath}'`,
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(read('real')).toBe(NEW)
  })

  it('replaces a file under the name that is given: its other names keep the old content', () => {
    linkSync(write('a', ZLIB), join(folder(), 'other'))
    expect(metadata(['set', 'name=x', 'a'])).toEqual(SILENT)
    expect([read('a'), read('other')]).toEqual([NEW, ZLIB])
    linkSync(write('b', ZLIB), join(folder(), 'b2'))
    expect(metadata(['set', 'name=x', 'b', 'b2'])).toEqual(SILENT)
    expect([read('b'), read('b2')]).toEqual([NEW, NEW])
  })

  it('changes a file whose name is as long as a name may be', () => {
    const name = 'n'.repeat(255)
    write(name, ZLIB)
    expect(metadata(['set', 'name=x', name])).toEqual(SILENT)
    expect(read(name)).toBe(NEW)
  })
}

/**
 * A folder of another user, who exchanges files and folders while the command works on them.
 * @module
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MetaData } from 'grantwell/metadata'
import { expect, it } from 'vitest'
import { bash, folder, metadata, write, ZLIB } from './command.js'
import type { Faults } from './faulty.js'
import { runFaulty } from './faulty.js'

const SECRET = 'name: "s3cret"\n'

/** Runs the command with something done at one of its calls of the file system. */
const run = (name: string, args: readonly string[], faults: Faults) => runFaulty(join(folder(), name), args, faults)

/** Does something with each number, a few at once. */
async function each(numbers: readonly number[], work: (at: number) => Promise<void>): Promise<void> {
  const left = [...numbers]
  const worker = async (): Promise<void> => {
    for (let at = left.shift(); at !== undefined; at = left.shift()) await work(at)
  }
  // All of them end before the folder is removed.
  for (const ended of await Promise.allSettled([worker(), worker(), worker()]))
    if (ended.status === 'rejected') throw ended.reason
}

const MINUTES = 600_000

/** Names that a stranger may give to a file or a folder, as the bytes of Latin-1. */
const NAMES = [
  '-cname=evil',
  '-c\xff=evil',
  '-cname=\xff',
  '-uthird_party.license_type',
  '-nq',
  '--',
  '--dry-run',
  '--create-unknown',
  '--enum-alias=URL.Type.X=GIT',
  '--help',
  '-V',
  '--no-such',
]

export function amongStrangers(): void {
  it.runIf(process.platform !== 'win32').each([
    ['link', {}],
    ['second name', {}],
    ['pipe', {}],
    ['folder', {}],
    ['link', { rename: 'EPERM' }],
    ['second name', { rename: 'EPERM' }],
    ['folder', { rename: 'EPERM' }],
  ])(
    'changes, copies and shows no file but the one that was named, whenever a %s comes in its place: %j',
    async (kind, always) => {
      write('sound/a', ZLIB)
      const { calls } = await run('sound', ['set', 'name=x', 'sound/a'], { always })
      // Before the command knows what the name means, a link is one that the user named.
      const first = calls.indexOf('realpath') + 2
      const steps = calls.map((_, index) => index + 1).filter((at) => at > first)
      expect(steps.length).toBeGreaterThan(10)
      await each(steps, async (at) => {
        const path = write(`at${at}/a`, ZLIB)
        const other = write(`victim${at}/a`, SECRET)
        chmodSync(other, 0o600)
        const swap = { kind, path, other }
        const outcome = await run(`at${at}`, ['set', 'name=x', `at${at}/a`], { at, swap, always })
        const told = `${at} ${calls[at - 1]}: ${outcome.stderr}`
        expect([0, 2], told).toContain(outcome.code)
        expect(outcome.stdout + outcome.stderr, told).not.toContain('s3cret')
        expect(readFileSync(other, 'utf8'), told).toBe(SECRET)
        expect(lstatSync(other).mode & 0o777, told).toBe(0o600)
        const left = readdirSync(join(folder(), `at${at}`)).map((name) => join(folder(), `at${at}`, name))
        const files = left.filter((each) => lstatSync(each).isFile())
        // A copy is the victim's own to read, as the original is.
        for (const copy of files.filter((each) => readFileSync(each, 'utf8').includes('s3cret')))
          expect(lstatSync(copy).mode & 0o777, told).toBe(0o600)
      })
    },
    MINUTES,
  )

  it.runIf(process.platform !== 'win32').each(['link', 'pipe', 'folder'])(
    'shows nothing from outside of a folder, and waits for nothing, whenever a %s comes in the place of a record',
    async (kind) => {
      write('sound/sub/METADATA', ZLIB)
      const { calls } = await run('sound', ['show', '--json', 'sound'], {})
      const steps = calls.map((_, index) => index + 1)
      expect(steps.length).toBeGreaterThan(4)
      await each(steps, async (at) => {
        const path = write(`at${at}/sub/METADATA`, ZLIB)
        const other = write(`victim${at}/METADATA`, SECRET)
        const outcome = await run(`at${at}`, ['show', '--json', `at${at}`], { at, swap: { kind, path, other } })
        const told = `${at} ${calls[at - 1]}: ${outcome.stderr}`
        expect([0, 2], told).toContain(outcome.code)
        expect(outcome.stdout + outcome.stderr, told).not.toContain('s3cret')
        // Whatever is not read is named.
        expect(outcome.stdout.includes('zlib') || outcome.stderr.includes(`at${at}`), told).toBe(true)
      })
    },
    MINUTES,
  )

  it('repeats no name of a file to a terminal as it is', () => {
    for (const args of [['check', '--\u001b[2J\u001b]0;pwned\u0007'], ['\u001b[2J'], ['show', '--format', '\u202e']]) {
      const { code, stdout, stderr } = metadata(args)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/^error: /)
      expect(stderr).not.toMatch(/[^\P{Cc}\n]|\u202e/u)
    }
  })

  it('takes no name of a file for a change', () => {
    const files = ['name=pwned /METADATA', 'a/METADATA']
    const read = (): readonly string[] => files.map((file) => readFileSync(join(folder(), file), 'utf8'))
    for (const file of files) write(file, ZLIB)
    expect(metadata(['set', 'third_party.version=9', ...files])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        "error: name=pwned /METADATA is a change, and a file has that name: write ./name=pwned /METADATA for the file, --change 'name=pwned /METADATA' for the change",
      ),
    })
    expect(read()).toEqual([ZLIB, ZLIB])
    expect(metadata(['set', 'description=x', './name=pwned /METADATA'])).toMatchObject({ code: 0 })
    expect(metadata(['set', '--change', 'name=pwned /METADATA', 'a/METADATA'])).toMatchObject({ code: 0 })
    expect(read()).toEqual([
      expect.stringContaining('description: "x"'),
      ZLIB.replace('name: "zlib"', 'name: "pwned /METADATA"'),
    ])
    expect(metadata(['set', '--change', 'name', 'a/METADATA']).stderr).toMatch(/^error: --change takes FIELD=VALUE/)
  })

  it.runIf(process.platform === 'linux')('takes no name of a file for a change, also where it is not UTF-8', () => {
    write('a/METADATA', ZLIB)
    writeFileSync(Buffer.from(`${folder()}/name=\xff`, 'latin1'), ZLIB)
    expect(bash("metadata set description=y $'name=\\xff' a/METADATA")).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('error: name=\ufffd is a change, and a file has that name'),
    })
    expect(readFileSync(join(folder(), 'a/METADATA'), 'utf8')).toBe(ZLIB)
  })

  // Each part with some of the names, so that each name is there with two parts.
  const PARTS = ['set third_party.version=2', 'check', 'show', 'convert -t text -o z'] as const
  const OPTIONS = NAMES.map((name, index) => [name, [PARTS[index % 4], PARTS[(index + 1) % 4]]] as const)

  it.runIf(process.platform === 'linux').each(OPTIONS)('takes no name of a file for an option: %j', (name, parts) => {
    const before = Object.fromEntries(
      ['a', 'z'].map((each) => [each, `name: "${each}" third_party { version: "1" }\n`]),
    )
    for (const [each, text] of Object.entries(before))
      for (const path of [`flat/${each}`, `deep/${each}/METADATA`]) write(path, text)
    const bytes = (path: string): Buffer => Buffer.from(`${folder()}/${path}/${name}`, 'latin1')
    writeFileSync(bytes('flat'), before['a'] ?? '')
    mkdirSync(bytes('deep'))
    writeFileSync(Buffer.concat([bytes('deep'), Buffer.from('/METADATA')]), before['a'] ?? '')
    for (const [place, pattern] of [
      ['flat', '*'],
      ['deep', '*/METADATA'],
    ]) {
      for (const part of parts)
        expect([part, bash(`cd ${place} && metadata ${part} ${pattern}`)]).toEqual([
          part,
          {
            code: 2,
            stdout: '',
            stderr: expect.stringMatching(/^error: .* is (?:an option|a change), and a file has/),
          },
        ])
      for (const [each, text] of Object.entries(before))
        expect(readFileSync(join(folder(), place ?? '', pattern?.replace('*', each) ?? ''), 'utf8')).toBe(text)
      expect(bash(`cd ${place} && metadata check ./${pattern}`).stderr).not.toMatch(/is an option/)
    }
  })

  it.runIf(process.platform !== 'win32')('lets no name of a file turn options behind a pattern into paths', () => {
    for (const name of ['--', '-n', 'METADATA']) write(name, ZLIB)
    expect(bash('metadata set name=x * -n')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error: -- is an option, and a file has that name/),
    })
    for (const name of ['--', '-n', 'METADATA']) expect(readFileSync(join(folder(), name), 'utf8')).toBe(ZLIB)
    expect(bash('metadata set name=x ./* --dry-run').stdout).toContain('+name: "x"')
  })

  it.runIf(process.platform === 'linux')('reads and changes no file for another whose name is not UTF-8', () => {
    const bytes = (name: string): Buffer =>
      Buffer.concat([Buffer.from(`${folder()}/tree/`), Buffer.from(name, 'latin1')])
    write('tree/good/METADATA', ZLIB)
    write('tree/\ufffd.textproto', ZLIB)
    write('tree/\ufffd/METADATA', ZLIB)
    writeFileSync(bytes('\xff.textproto'), 'broken')
    mkdirSync(bytes('\xff'))
    writeFileSync(bytes('\xff/METADATA'), 'broken')
    const { code, stdout } = metadata(['check', '--json', 'tree'])
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 2,
      records: 3,
      unreadable: expect.arrayContaining([
        { path: 'tree/\ufffd.textproto', reason: expect.stringContaining('not UTF-8') },
        { path: 'tree/\ufffd', reason: expect.stringContaining('not UTF-8') },
      ]),
    })
    for (const path of ["$'tree/\\xff.textproto'", "$'tree/\\xff/METADATA'"])
      for (const part of ['set name=x', 'convert --to text -o', 'show', 'check'])
        expect(bash(`metadata ${part} ${path} < tree/good/METADATA`)).toMatchObject({
          code: 2,
          stderr: expect.stringContaining('U+FFFD'),
        })
    for (const path of ['tree/\ufffd.textproto', 'tree/\ufffd/METADATA'])
      expect(readFileSync(join(folder(), path), 'utf8')).toBe(ZLIB)
    rmSync(bytes('\xff.textproto'))
    expect(metadata(['set', 'name=x', 'tree/\ufffd.textproto'])).toMatchObject({ code: 0, stderr: '' })
    rmSync(bytes('\xff'), { recursive: true })
    expect(JSON.parse(metadata(['check', '--json', 'tree']).stdout)).toMatchObject({ records: 3, unreadable: [] })
  })

  it('prints a thousand findings of a record, and says how many more there are', () => {
    for (const name of ['a', 'b']) write(`${name}/METADATA`, `third_party { url: [{}${', {}'.repeat(4999)}] }`)
    const { code, stdout } = metadata(['check', '--json', '.'])
    const { findings, errors, ...others } = JSON.parse(stdout)
    expect({ code, errors, ...others }).toEqual({ code: 1, errors: 10_000, records: 2, warnings: 6, unreadable: [] })
    expect(findings).toHaveLength(2 * 1001)
    expect(findings[1000]).toMatchObject({
      path: 'a/METADATA',
      code: 'more',
      message: '4003 more that are not printed',
    })
    expect(metadata(['check', 'a']).stdout.trimEnd().split('\n').at(-1)).toBe(
      'a/METADATA: error: 4003 more that are not printed [more]',
    )
    expect(metadata(['check', '-q', 'a']).stdout).toContain('4000 more')
  })

  it('writes no record that is too large to be read again', () => {
    write('record', MetaData.encode(MetaData.create({ name: '\u0001'.repeat(1_200_000) })))
    const before = readFileSync(join(folder(), 'record'))
    const { code, stderr } = metadata(['convert', '--to', 'text', '-o', 'record', 'record'])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'record: error: would be 4800009 bytes of text, and no command reads more than 4194304 again\n',
    })
    expect(readFileSync(join(folder(), 'record'))).toEqual(before)
  })

  it('walks a deep tree with a small heap', () => {
    let path = 'tree'
    for (let depth = 0; depth < 1000; depth++) {
      for (let file = 0; file < 10; file++) write(`${path}/${file}.textproto`, 'name: "a"')
      path += '/d'
    }
    const { code, stderr } = metadata(['check', '-q', 'tree'], { env: { NODE_OPTIONS: '--max-old-space-size=80' } })
    expect({ code, stderr: stderr.slice(0, 500) }).toEqual({ code: 0, stderr: '' })
  })
}

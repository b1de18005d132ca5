/**
 * What a path leads to: files, folders, pipes, devices, sockets and links to them; and what is said of each.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bash, folder, link, metadata, WITH_UNKNOWN, write, ZLIB } from './command.js'

const PARTS: readonly (readonly string[])[] = [
  ['show'],
  ['show', '--json'],
  ['show', '--format', 'text'],
  ['check'],
  ['check', '--json'],
]

const read = (path: string): string => readFileSync(join(folder(), path), 'utf8')

/** Makes something that is no file; whether it could be made. */
const KINDS: readonly (readonly [name: string, told: string, make: (path: string) => boolean])[] = [
  ['a pipe', 'passed over: a pipe, and not a file', (path) => spawnSync('mkfifo', [path]).status === 0],
  [
    'a device',
    'passed over: a device, and not a file',
    (path) => spawnSync('mknod', [path, 'c', '1', '5']).status === 0,
  ],
  [
    'a link to a pipe',
    'passed over: a pipe, and not a file',
    (path) => spawnSync('mkfifo', [`${path}.pipe`]).status === 0 && linked(`${path}.pipe`, path),
  ],
  ['a link to a device without an end', 'passed over: a device, and not a file', (path) => linked('/dev/zero', path)],
  ['a link to a terminal', 'passed over: a device, and not a file', (path) => linked('/dev/tty', path)],
  ['a link to nothing at all', 'passed over: a device, and not a file', (path) => linked('/dev/null', path)],
  [
    'a link to a link to a pipe',
    'passed over: a pipe, and not a file',
    (path) =>
      spawnSync('mkfifo', [`${path}.pipe`]).status === 0 &&
      linked(`${path}.pipe`, `${path}.link`) &&
      linked(`${path}.link`, path),
  ],
  [
    'a link to a file outside',
    'passed over: a link that leads out of the folder',
    (path) => linked('/etc/passwd', path),
  ],
  [
    'a link to a file of the system that never ends',
    'passed over: a link that leads out of the folder',
    (path) => linked('/proc/kmsg', path),
  ],
]

function linked(target: string, path: string): boolean {
  return spawnSync('ln', ['-s', target, path]).status === 0
}

export function walking(): void {
  it.for(KINDS)('passes over %s in a folder, says so, and does the rest', ([, told, make], { skip }) => {
    write('tree/good/METADATA', ZLIB)
    mkdirSync(join(folder(), 'tree/sub'))
    skip(!make(join(folder(), 'tree/sub/METADATA')), 'this cannot be made on this machine')
    for (const part of PARTS) {
      const { code, stdout, stderr } = metadata([...part, 'tree'])
      expect({ part, code }).toEqual({ part, code: 0 })
      expect(stderr).toContain(`tree/sub/METADATA: warning: ${told}\n`)
      expect(stdout.includes('zlib') || part[0] !== 'show').toBe(true)
    }
  })

  it('passes over a socket in a folder, and says of one that is named that it is none', async () => {
    write('tree/good/METADATA', ZLIB)
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(join(folder(), 'tree/METADATA'), resolve))
    try {
      const { code, stderr } = metadata(['check', 'tree'])
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr:
          'tree/METADATA: warning: passed over: a socket, and not a file\n1 record checked: 0 errors, 0 warnings\n',
      })
      for (const part of [['show'], ['check'], ['convert', '-t', 'json'], ['set', 'name=x']])
        expect(metadata([...part, 'tree/METADATA'])).toMatchObject({
          code: 2,
          stderr: expect.stringContaining('tree/METADATA: error: a socket'),
        })
    } finally {
      server.close()
    }
  })

  it('follows a link to a file of the same folder, and one that is named wherever it leads', () => {
    write('real/METADATA', ZLIB)
    write('tree/a/METADATA', ZLIB)
    mkdirSync(join(folder(), 'tree/b'))
    link('../a/METADATA', 'tree/b/METADATA')
    link('../../real/METADATA', 'tree/b/x.textproto')
    link('tree', 'named')
    for (const tree of ['tree', 'named', 'named/'])
      expect(metadata(['check', tree]).stderr).toMatch(
        /^(?:tree|named)\/b\/x\.textproto: warning: passed over: a link that leads out of the folder\n2 records checked/,
      )
    expect(metadata(['check', 'tree/b/x.textproto'])).toMatchObject({ code: 0 })
    expect(metadata(['check', '.']).stderr).toBe('4 records checked: 0 errors, 0 warnings\n')
  })

  it('reads standard input for - alone, and a file of that name for any other spelling', () => {
    write('-', ZLIB)
    const input = ZLIB.replace('"zlib"', '"piped"')
    const nameOf = ({ stdout }: { readonly stdout: string }): unknown => JSON.parse(stdout).name
    for (const part of [
      ['show', '--json'],
      ['convert', '--to', 'json'],
    ]) {
      expect(nameOf(metadata([...part, '-'], { input }))).toBe('piped')
      for (const path of ['./-', './/-', './/./-', join(folder(), '-')])
        expect([path, nameOf(metadata([...part, path], { input }))]).toEqual([path, 'zlib'])
    }
    expect(metadata(['check', '--json', './-'], { input: 'name: ' })).toMatchObject({ code: 0 })
    expect(metadata(['convert', '--to', 'json', '-o', './-', '-'], { input })).toMatchObject({ code: 0, stdout: '' })
    expect(JSON.parse(readFileSync(join(folder(), '-'), 'utf8')).name).toBe('piped')
  })

  it('reads a pipe or a device that is named: process substitution and /dev/stdin', () => {
    write('METADATA', ZLIB)
    for (const part of ['show --json', 'check', 'convert -t json'])
      for (const line of [
        `metadata ${part} <(cat METADATA)`,
        `cat METADATA | metadata ${part} /dev/stdin`,
        `mkfifo pipe; cat METADATA > pipe & metadata ${part} pipe; rm pipe`,
      ])
        expect(bash(line)).toMatchObject({ code: 0, stdout: part === 'check' ? '' : expect.stringContaining('"zlib"') })
    expect(bash('metadata check <(cat METADATA) <(cat METADATA) /dev/null').stderr).toContain('3 records checked')
  })

  it('says of a folder, a pipe and a device that set cannot change them, and waits for none', () => {
    mkdirSync(join(folder(), 'tree'))
    link('tree', 'link')
    for (const path of ['tree', 'tree/', 'link', '.'])
      for (const part of [
        ['set', 'name=x'],
        ['set', '-n', 'name=x'],
        ['convert', '-t', 'json'],
      ])
        expect(metadata([...part, path])).toEqual({
          code: 2,
          stdout: '',
          stderr: `${path}: error: a folder (directory), where a file is expected: name the files in it\n`,
        })
    expect(bash('mkfifo pipe; metadata set name=x pipe')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'pipe: error: a pipe, where a file is expected: - is standard input\n',
    })
    expect(metadata(['set', 'name=x', '/dev/null']).stderr).toBe(
      '/dev/null: error: a device, where a file is expected: - is standard input\n',
    )
  })

  const broken: readonly (readonly [string, string | Uint8Array])[] = [
    ['a text', 'name "a"\n'],
    ['a text that ends too soon', 'third_party {\n'],
    ['bytes that are no UTF-8', Buffer.from('name: "\xe4"\n', 'latin1')],
    ['UTF-16', Buffer.from('\ufeffname: "a"\n', 'utf16le')],
    ['UTF-16 without a mark', Buffer.from('name: "a"\n', 'utf16le')],
    ['a byte order mark', '\ufeffname: "a"\n'],
    ['half a character', 'name: "\\ud83d"\n'],
    ['JSON', '{"name": "a"'],
    ['JSON with a key twice', '{"name": "a", "name": "b"}'],
    ['JSON that is no record', '{"name": 5}'],
    ['binary that is cut', Uint8Array.of(0x0a, 5, 0x61)],
    ['binary that is none', Uint8Array.of(0, 1, 2, 3)],
  ]
  it.each(broken)('ends with 1 in every part for a broken record: %s', (_, content) => {
    write('METADATA', content)
    const codes = [
      ['show'],
      ['check'],
      ['convert', '-t', 'text'],
      ['set', 'name=x'],
      ['set', '-u', 'name'],
      ['set', '-n', 'name=x'],
    ].map((part) => metadata([...part, 'METADATA']))
    for (const { code, stdout, stderr } of codes) {
      expect(code).toBe(1)
      expect(stdout + stderr).toMatch(/^METADATA:(?:\d+:\d+:)? error: /)
    }
    const reason = /error: (.*?)(?: \[\w+\])?\n/.exec(codes[1]?.stdout ?? '')?.[1] ?? 'none'
    for (const { stdout, stderr } of codes) expect(stdout + stderr).toContain(reason)
    expect(readFileSync(join(folder(), 'METADATA'))).toEqual(Buffer.from(content))
  })

  it('lists what is wrong in the order of lines, and of columns within a line', () => {
    const fields = [
      'last_upgrade_date { year: 2024 month: 13 day: 1 }',
      'security { tag: " " note: "" }',
      'url { value: "b" }',
      'license_note: ""',
      'url { value: "a" } version: ""',
      'local_modifications: " "',
    ]
    for (const order of [fields, [...fields].reverse()]) {
      write('METADATA', `third_party {\n${order.join('\n')}\n}\ndescription: ""\nname: ""\n`)
      const { stdout } = metadata(['check', 'METADATA'])
      const places = [...stdout.matchAll(/^METADATA:(\d+):(\d+):/gm)].map(
        ([, line, column]) => Number(line) * 1000 + Number(column),
      )
      expect(places).toEqual([...places].sort((a, b) => a - b))
      expect(places.length).toBeGreaterThan(9)
      const { findings } = JSON.parse(metadata(['check', '--json', 'METADATA']).stdout)
      expect(findings.map(({ line, column }: { line: number; column: number }) => line * 1000 + column)).toEqual(places)
    }
  })

  it.each([
    [['-u', 'third_party.homepage'], ['third_party.homepage']],
    [['-u', 'third_party.versoin', '-u', 'third_party.version'], ['third_party.versoin']],
    [['-u', 'third_party.url[1]'], ['third_party.url[1]']],
    [['-u', 'third_party.security.note'], ['third_party.security.note']],
    [['third_party.security={"note":null,"tag":null}'], ['third_party.security.note']],
    [['third_party.url[0]={"value":null}'], []],
    [['description=x', '-u', 'description'], []],
  ])('says what is not there to be removed: %j', (args, missing) => {
    for (const dry of [[], ['-n']]) {
      write('METADATA', ZLIB)
      const { code, stderr } = metadata(['set', ...dry, ...args, 'METADATA'])
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: missing
          .map((path) => `METADATA: warning: ${path} is not there, so nothing of it is removed\n`)
          .join(''),
      })
    }
  })

  it.each([
    ['third_party.url+={"tpye":"GIT"}', 'third_party.url[+].tpye'],
    ['third_party.url[0]={"vlaue":"x"}', 'third_party.url[0].vlaue'],
    ['third_party={"versoin":"2"}', 'third_party.versoin'],
    ['third_party={"security":{"ctegory":"SANDBOXED_ONLY"}}', 'third_party.security.ctegory'],
    ['third_party={"url":[{"type":"GIT"},{"tpye":"GIT"}]}', 'third_party.url.tpye'],
    ['third_party={"versoin":null}', 'third_party.versoin'],
    ['third_party.identifier={"vresion":"2"}', 'third_party.identifier.vresion'],
    ['third_party.identifier+={"type":"a","vresion":"2"}', 'third_party.identifier[+].vresion'],
    ['third_party.last_upgrade_date={"yaer":2026}', 'third_party.last_upgrade_date.yaer'],
  ])('refuses a misspelt name inside JSON without --create-unknown: %s', (assignment, path) => {
    write('METADATA', WITH_UNKNOWN)
    expect(metadata(['set', assignment, 'METADATA'])).toEqual({
      code: 2,
      stdout: '',
      stderr: `METADATA: error: ${path} is neither in the schema nor in this file; --create-unknown makes it\n`,
    })
    expect(read('METADATA')).toBe(WITH_UNKNOWN)
    expect(metadata(['set', '--create-unknown', assignment, 'METADATA']).code).toBe(0)
  })

  it('takes inside JSON the names of the schema, those of JSON and those of this file, also where the text does not suit the schema', () => {
    for (const assignment of [
      'third_party={"licenseType":"NOTICE","last_upgrade_date":{"day":1},"url":[{"type":"GIT","value":"x"}]}',
      'third_party.identifier+={"type":"a","depth":3}',
    ]) {
      write('METADATA', WITH_UNKNOWN)
      expect(metadata(['set', assignment, 'METADATA'])).toEqual({ code: 0, stdout: '', stderr: '' })
    }
    write('METADATA', 'name: 5\nother { depth: 1 }\n')
    expect(metadata(['set', 'other.depth=2', 'METADATA'])).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(read('METADATA')).toBe('name: 5\nother { depth: 2 }\n')
  })

  it('takes no JSON with a key twice, and rounds no number of it', () => {
    write('METADATA', WITH_UNKNOWN)
    expect(metadata(['set', 'third_party.url+={"type":"GIT","type":"SVN"}', 'METADATA'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('(1:15: the key "type" comes twice)\n'),
    })
    expect(metadata(['set', 'third_party.identifier={"depth":12345678901234567890}', 'METADATA']).code).toBe(0)
    expect(read('METADATA')).toContain('depth: 12345678901234567890\n')
  })

  it('keeps the blanks at the ends of lines, save those of a line that goes', () => {
    const blanks = ZLIB.replaceAll('\n', '  \t\n')
    write('METADATA', blanks)
    metadata(['set', 'third_party.version=2', 'third_party.license_note=n', 'third_party.security.tag+=t', 'METADATA'])
    const added = /^ +(?:license_note: 'n'|license_note: "n"|tag: "t")\n/gm
    expect(read('METADATA').match(added)).toHaveLength(2)
    expect(read('METADATA').replace(added, '')).toBe(blanks.replace('1.3.1', '2'))
    metadata(['set', '-u', 'description', '-u', 'third_party.security', 'METADATA'])
    expect(read('METADATA').replace(added, '')).toBe(
      blanks
        .replace('1.3.1', '2')
        .replace(/^description.*\n/m, '')
        .replace(/ {2}security[^}]*\}.*\n/, ''),
    )
  })

  it.each([
    ['FOO', 'the name FOO'],
    ['inf', 'the name inf'],
    ['"\\377"', 'bytes that are not UTF-8'],
  ])('does not turn %s into a string of JSON unasked', (value, what) => {
    const text = `name: "a"\nthird_party {\n  x: ${value}\n  y: 12345678901234567890\n  z: 1.0\n}\n`
    write('METADATA', text)
    expect(metadata(['convert', '-t', 'json', 'METADATA'])).toEqual({
      code: 1,
      stdout: '',
      stderr: `METADATA: error: JSON cannot hold ${what} of third_party.x as it is; --drop-unknown leaves it out\n`,
    })
    const dropped = metadata(['convert', '-t', 'json', '--drop-unknown', 'METADATA'])
    expect(dropped.code).toBe(0)
    expect(metadata(['convert', '-t', 'text'], { input: dropped.stdout }).stdout).toBe(text.replace(/ {2}x: .*\n/, ''))
    expect(metadata(['show', '--json', 'METADATA']).code).toBe(0)
  })
}

/**
 * `show`: the three forms, and which records a path leads to.
 * @module
 */
import { mkdirSync } from 'node:fs'
import { formatText, MetaData, parseText } from 'grantwell/metadata'
import { expect, it } from 'vitest'
import { bash, folder, hasTerminal, link, metadata, onTerminal, WITH_UNKNOWN, write, ZLIB } from './command.js'

/** The lines of the table, its columns by name. */
function table(stdout: string): readonly Record<string, string>[] {
  const [header = '', ...lines] = stdout.split('\n').filter((line) => line !== '')
  const titles = [...header.matchAll(/\S+/g)]
  return lines.map((line) =>
    Object.fromEntries(titles.map((title, i) => [title[0], line.slice(title.index, titles[i + 1]?.index).trim()])),
  )
}

const pathsIn = (stdout: string): readonly (string | undefined)[] => table(stdout).map((row) => row['PATH'])

export function showing(): void {
  it('prints one record as canonical text, with what is not ASCII as it is', () => {
    write('METADATA', ZLIB.replace('compression', 'Kömpression'))
    const expected = formatText(parseText(ZLIB.replace('compression', 'Kömpression')), { utf8: true })
    expect(expected).toContain('ö')
    expect(metadata(['show', 'METADATA'])).toEqual({ code: 0, stdout: expected, stderr: '' })
  })

  it('prints one record as JSON: the object', () => {
    write('METADATA', WITH_UNKNOWN)
    const { code, stdout, stderr } = metadata(['show', '--json', 'METADATA'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual(MetaData.toJSON(parseText(WITH_UNKNOWN), { unknownText: 'string' }))
    expect(metadata(['show', '--format', 'json', 'METADATA']).stdout).toBe(stdout)
  })

  it('prints a folder as a table', () => {
    write('a/METADATA', ZLIB)
    write('b/METADATA', WITH_UNKNOWN)
    const urls = 'url { type: HOMEPAGE value: "https://c.example" } url { type: GIT value: "https://d.example" }'
    write('c/METADATA', `third_party { homepage: "https://c.example" ${urls} }`)
    write('d/METADATA', 'name: "日本 語" third_party { homepage: "https://c.example" license_type: ODD }')
    const { code, stdout, stderr } = metadata(['show', '.'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.split('\n')).toEqual([
      'PATH        NAME     VERSION  UPGRADED    LICENSE  URL',
      'a/METADATA  zlib     1.3.1    2024-01-22  NOTICE   https://git.example/zlib',
      'b/METADATA  fiat     v0.1.4   2024-01-22  NOTICE   https://git.example/fiat',
      'c/METADATA                                         https://d.example',
      'd/METADATA  日本 語                       ODD      https://c.example',
      '',
    ])
    expect(metadata(['show', '--format', 'table', 'a/METADATA']).stdout.split('\n')).toHaveLength(3)
  })

  it('prints several as texts that can be read back, each after its path', () => {
    write('a/METADATA', ZLIB)
    write('b/METADATA', WITH_UNKNOWN)
    const { stdout } = metadata(['show', '--format', 'text', '.'])
    const [, first = '', second = ''] = stdout.split(/^# .*\n/m)
    expect([...stdout.matchAll(/^# (.*)$/gm)].map((match) => match[1])).toEqual(['a/METADATA', 'b/METADATA'])
    expect(parseText(first)).toEqual(parseText(ZLIB))
    expect(parseText(second)).toEqual(parseText(WITH_UNKNOWN))
  })

  it('prints several as one array of JSON, each on its line, also where a folder has but one', () => {
    write('a/METADATA', ZLIB)
    write('b/METADATA', MetaData.encode(parseText(ZLIB)))
    const { stdout } = metadata(['show', '--json', '.'])
    const json = MetaData.toJSON(parseText(ZLIB))
    expect(JSON.parse(stdout)).toEqual([
      { path: 'a/METADATA', format: 'text', metadata: json },
      { path: 'b/METADATA', format: 'binary', metadata: json },
    ])
    expect(stdout.split('\n')).toHaveLength(5)
    expect(JSON.parse(metadata(['show', '--json', 'a']).stdout)).toHaveLength(1)
    expect(JSON.parse(metadata(['show', '--json', 'a/METADATA', 'b/METADATA']).stdout)).toHaveLength(2)
  })

  it.each([
    ['binary', MetaData.encode(parseText(ZLIB))],
    ['JSON', JSON.stringify(MetaData.toJSON(parseText(ZLIB)))],
  ])('reads %s as it reads text', (_, content) => {
    write('record', content)
    write('METADATA', ZLIB)
    for (const format of ['text', 'json']) {
      const expected = metadata(['show', '--format', format, 'METADATA'])
      expect(metadata(['show', '--format', format, 'record'])).toEqual(expected)
      expect(metadata(['show', '--format', format], { input: content })).toEqual(expected)
    }
  })

  it('finds records by their names, in the order of their paths, and none where none belong', () => {
    const names = ['METADATA', 'x.textproto', 'x.textpb', 'x.txtpb', 'x.pbtxt']
    for (const name of names) write(`b/${name}`, ZLIB)
    for (const path of ['b/c/METADATA', 'a/METADATA', 'b-c/METADATA', 'METADATA/METADATA', '.hidden/METADATA'])
      write(path, ZLIB)
    for (const path of ['METADATA.md', 'b/metadata', 'b/x.txt', 'textproto', 'b/xtextproto']) write(path, 'no record')
    for (const part of ['.git', 'node_modules', 'some-1.0.dist-info']) write(`b/${part}/METADATA`, 'no record')
    const expected = [
      ...['.hidden/METADATA', 'METADATA/METADATA', 'a/METADATA', 'b-c/METADATA'],
      ...['b/METADATA', 'b/c/METADATA', 'b/x.pbtxt', 'b/x.textpb', 'b/x.textproto', 'b/x.txtpb'],
    ]
    const all = metadata(['show', '.'])
    expect(all).toMatchObject({ code: 0, stderr: '' })
    expect(pathsIn(all.stdout)).toEqual(expected)
    expect(pathsIn(metadata(['show', folder()]).stdout)).toEqual(expected.map((path) => `${folder()}/${path}`))
    expect(pathsIn(metadata(['show', 'b/', 'a', './a/METADATA', 'b/x.pbtxt']).stdout)).toEqual([
      ...expected.filter((path) => path.startsWith('b/')),
      'a/METADATA',
    ])
  })

  it('reads a file that is named whatever it is called and wherever it is', () => {
    write('node_modules/zlib/record', ZLIB)
    expect(metadata(['show', 'node_modules/zlib/record']).code).toBe(0)
    write('node_modules/zlib/METADATA', ZLIB)
    expect(pathsIn(metadata(['show', 'node_modules']).stdout)).toEqual(['node_modules/zlib/METADATA'])
  })

  it('follows links to files of the folder, and to the folder that is named, but to no folder below it', () => {
    write('real/METADATA', ZLIB)
    mkdirSync(`${folder()}/tree/loop`, { recursive: true })
    write('tree/kept', ZLIB)
    link('kept', 'tree/METADATA')
    link('../../real', 'tree/loop/real')
    link('..', 'tree/loop/up')
    link('../../real', 'tree/loop/METADATA')
    link('real', 'named')
    expect(pathsIn(metadata(['show', 'tree']).stdout)).toEqual(['tree/METADATA'])
    expect(pathsIn(metadata(['show', 'named']).stdout)).toEqual(['named/METADATA'])
    link('nowhere', 'tree/x.textproto')
    const broken = metadata(['show', 'tree'])
    expect(broken).toMatchObject({ code: 2, stderr: 'tree/x.textproto: error: no such file or directory\n' })
    expect(pathsIn(broken.stdout)).toEqual(['tree/METADATA'])
  })

  it.each(['table', 'text', 'json'])('shows the good records beside a broken one, as %s, and ends with 1', (format) => {
    write('a/METADATA', ZLIB)
    write('b/METADATA', 'name "b"\n')
    write('c/METADATA', ZLIB)
    const { code, stdout, stderr } = metadata(['show', '--format', format, '.'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^b\/METADATA:1:6: error: expected .*\n$/)
    expect([...stdout.matchAll(/[abc]\/METADATA/g)].map(String)).toEqual(['a/METADATA', 'c/METADATA'])
  })

  it('ends with 2 when a file cannot be read, when a folder has no record, and then whatever else there is', () => {
    write('b/METADATA', 'name "b"\n')
    write('c/METADATA', ZLIB)
    mkdirSync(`${folder()}/empty`)
    const { code, stdout, stderr } = metadata(['show', '--json', 'a/METADATA', 'b', 'c', 'empty'])
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toHaveLength(1)
    expect(stderr).toContain('a/METADATA: error: no such file or directory\n')
    expect(stderr).toContain('empty: error: no records here\n')
    expect(metadata(['show', '--json', 'empty'])).toMatchObject({ code: 2, stdout: '[]\n' })
    expect(metadata(['show', 'empty'])).toMatchObject({ code: 2, stdout: '' })
  })

  it('refuses what is larger than a record can be, from a file or a pipe', () => {
    write('METADATA', `#${'x'.repeat(2 ** 24)}`)
    const reason = 'error: larger than 4194304 bytes, so no record\n'
    expect(metadata(['show', 'METADATA'])).toEqual({ code: 2, stdout: '', stderr: `METADATA: ${reason}` })
    expect(bash('cat METADATA | metadata show')).toMatchObject({
      code: 2,
      stderr: `<stdin>: ${reason}`,
    })
  })

  it.runIf(process.platform === 'linux')('refuses a device without an end', () => {
    const stderr = '/dev/zero: error: larger than 4194304 bytes, so no record\n'
    expect(metadata(['show', '/dev/zero'])).toEqual({ code: 2, stdout: '', stderr })
  })

  it('takes other names for values of enums, and writes them', () => {
    write('METADATA', 'third_party { url { type: PIPER value: "//depot" } license_type: FREE }')
    const aliases = ['--enum-alias', 'URL.Type.PIPER=INTERNAL_VCS', '--enum-alias', 'LicenseType.FREE=UNENCUMBERED']
    expect(metadata(['show', 'METADATA', ...aliases]).stdout).toMatch(/type: PIPER\n[\s\S]*license_type: FREE\n/)
    expect(JSON.parse(metadata(['show', '--json', 'METADATA', ...aliases]).stdout).thirdParty.licenseType).toBe('FREE')
    expect(table(metadata(['show', '.', ...aliases]).stdout)[0]?.['LICENSE']).toBe('UNENCUMBERED')
  })

  it.runIf(hasTerminal)('cuts the table to the width of a terminal, and nowhere else', () => {
    write(
      'METADATA',
      `name: "zlib" third_party { version: "${'v'.repeat(50)}" url { value: "https://git.example/${'z'.repeat(300)}" } }`,
    )
    const wide = onTerminal(['show', '.'], { NO_COLOR: '1' }, 120).stdout.split('\n')
    expect(wide.map((line) => line.length)).toEqual([expect.any(Number), 120, 0])
    expect(wide[1]).toContain('v'.repeat(50))
    expect(wide[1]).toMatch(/https:\/\/git\.example\/z+…$/)
    expect(onTerminal(['show', '.'], { NO_COLOR: '1' }, 70).stdout).toMatch(/ v+… .* https:\/\/git…\n$/)
    expect(onTerminal(['show', '.'], { NO_COLOR: '1' }, 20).stdout).toMatch(
      /^METADATA {2}zlib .* v{11}… .* https:\/\/git…\n/m,
    )
    expect(metadata(['show', '.']).stdout).toMatch(/https:\/\/git\.example\/z{180}…\n$/)
  })

  it('lets no record fill the table, or make the rows of others as long as its own', () => {
    const long = 'x'.repeat(1_000_000)
    for (let i = 0; i < 700; i++) write(`tree/${i}/METADATA`, ZLIB)
    write(
      'tree/long/METADATA',
      `name: "${long}" third_party { version: "${long}" homepage: "${long}" license_type: ${long} }`,
    )
    write('tree/wide/METADATA', `name: "${'😀'.repeat(200)}" third_party { version: "${'😀'.repeat(201)}" }`)
    const { code, stdout } = metadata(['show', 'tree'])
    expect(code).toBe(0)
    const lines = stdout.split('\n')
    expect(lines).toHaveLength(704)
    for (const line of lines) expect([...line].length).toBeLessThan(6 * 210)
    expect(stdout).toContain(` ${'x'.repeat(200)}…`)
    expect(stdout).not.toContain('x'.repeat(201))
    expect(stdout).toContain(` ${'😀'.repeat(200)} `)
    expect(stdout).toContain(` ${'😀'.repeat(200)}… `.trimEnd())
  })

  it('leaves a cell empty for a message or bytes, whatever its fields are called', () => {
    write(
      'tree/a/METADATA',
      'third_party { identifier { version { toString: 1 } value { valueOf: "x" toString: "y" } } }',
    )
    write('tree/b/METADATA', 'third_party { homepage { __proto__ {} toString {} } }')
    write('tree/c/METADATA', 'third_party { homepage: ["https://a.example", { a: 1 }, "https://b.example"] }')
    write('tree/d/METADATA', 'third_party { homepage: "\\377" }')
    const { code, stdout, stderr } = metadata(['show', 'tree'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const rows = stdout.trimEnd().split('\n').slice(1)
    expect(rows.map((row) => row.trimEnd().split(/ +/))).toEqual([
      ['tree/a/METADATA'],
      ['tree/b/METADATA'],
      ['tree/c/METADATA', 'https://a.example,https://b.example'],
      ['tree/d/METADATA'],
    ])
  })

  it('goes on where a record cannot be shown, and says which', () => {
    write('tree/a/METADATA', 'name: "a"')
    write('tree/b/METADATA', 'thirdParty: "x"')
    write('tree/c/METADATA', 'name: "c"')
    const { code, stdout, stderr } = metadata(['show', '--json', 'tree'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout).map(({ metadata: { name } }: { metadata: { name: string } }) => name)).toEqual(['a', 'c'])
    expect(stderr).toBe('tree/b/METADATA: error: thirdParty would be third_party in JSON\n')
    expect(metadata(['convert', '--to', 'json', 'tree/b/METADATA'])).toMatchObject({ code: 1, stdout: '', stderr })
  })

  it('refuses a record of which it would make a hundred times its size, and so does convert', () => {
    write('METADATA', `third_party { ${'a { '.repeat(97)}b: [0${', 0'.repeat(350_000)}]${' }'.repeat(97)} }`)
    const refused = { code: 1, stdout: '', stderr: 'METADATA: error: more than 67108864 characters of text\n' }
    for (const args of [['show'], ['show', '--json'], ['convert', '--to', 'text'], ['convert', '--to', 'json']])
      expect(metadata([...args, 'METADATA'])).toEqual(refused)
    expect(metadata(['show', '--json', '.']).code).toBe(0)
  })
}

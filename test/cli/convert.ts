/**
 * `convert`: from any format to any.
 * @module
 */
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { formatText, MetaData, parseText } from 'grantwell/metadata'
import { expect, it } from 'vitest'
import {
  folder,
  grantwellBytes,
  hasTerminal,
  link,
  metadata,
  onTerminal,
  WITH_UNKNOWN,
  write,
  ZLIB,
} from './command.js'

const RECORD = parseText(ZLIB)
const FORMS = {
  text: formatText(RECORD),
  json: `${JSON.stringify(MetaData.toJSON(RECORD), undefined, 2)}\n`,
  binary: MetaData.encode(RECORD),
} as const
/** With the fields 15 of the record, and 99 of `third_party`. */
const WITH_NUMBERS = Uint8Array.from([0x0a, 1, 0x61, 0x7a, 1, 0x78, 0x6a, 3, 0x98, 6, 7])

export function converting(): void {
  const formats = ['text', 'json', 'binary'] as const
  const pairs = formats.flatMap((from) => formats.map((to) => [from, to] as const))
  it.each(pairs)('from %s to %s, by path, by pipe and into a file', (from, to) => {
    write('record', FORMS[from])
    const expected = { code: 0, stdout: Buffer.from(FORMS[to]), stderr: '' }
    expect(grantwellBytes(['metadata', 'convert', '--to', to, 'record'])).toEqual(expected)
    expect(grantwellBytes(['metadata', 'convert', '-t', to, '-o', '-'], { input: FORMS[from] })).toEqual(expected)
    expect(metadata(['convert', '--to', to, '-o', 'new', 'record'])).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(readFileSync(join(folder(), 'new'))).toEqual(Buffer.from(FORMS[to]))
    expect(readdirSync(folder()).sort()).toEqual(['new', 'record'])
  })

  it('refuses a file that is good as binary and as text, until it is told which it is', () => {
    const file = write('METADATA', `\n name: "${'x'.repeat(0x20 - 8)}"`)
    const before = readFileSync(file)
    const both = 'METADATA: error: good as binary and as text or JSON, as another record in each'
    for (const args of [
      ['show'],
      ['check'],
      ['convert', '--to', 'json'],
      ['convert', '--to', 'text', '-o', 'METADATA'],
    ]) {
      const { code, stdout, stderr } = metadata([...args, 'METADATA'])
      expect(code).toBe(1)
      expect(stdout + stderr).toContain(`${both}: say which it is, with --from`)
    }
    expect(metadata(['set', 'name=a', 'METADATA'])).toEqual({
      code: 1,
      stdout: '',
      stderr: `${both}: convert it first, with --from binary or --from text\n`,
    })
    expect(readFileSync(file)).toEqual(before)
    const nameIn = (from: string): unknown =>
      JSON.parse(metadata(['show', '--json', '--from', from, 'METADATA']).stdout).name
    expect(nameIn('binary')).toBe(`name: "${'x'.repeat(0x20 - 8)}"`)
    expect(nameIn('text')).toBe('x'.repeat(0x20 - 8))
    expect(metadata(['check', '--from', 'text', 'METADATA'])).toMatchObject({ code: 0 })
    expect(metadata(['convert', '--from', 'text', '--to', 'text', '-o', 'METADATA', 'METADATA']).code).toBe(0)
    expect(metadata(['set', 'name=a', 'METADATA']).code).toBe(0)
    expect(metadata(['show', '--from', 'xml', 'METADATA'])).toMatchObject({ code: 2 })
  })

  it('converts what nests as deep as may be, there and back, and destroys nothing that nests deeper', () => {
    const nested = (depth: number, leaf = '') =>
      `{"thirdParty":{"url":[],"x":${'{"a":'.repeat(depth - 2)}{${leaf}}${'}'.repeat(depth - 2)}}}`
    const file = write('METADATA', nested(100, '"b":1'))
    expect(metadata(['convert', '--to', 'text', '-o', 'METADATA', 'METADATA']).code).toBe(0)
    expect(metadata(['convert', '--to', 'json', '-o', 'METADATA', 'METADATA']).code).toBe(0)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ thirdParty: { x: { a: {} } } })
    write('METADATA', nested(101))
    const { code, stderr } = metadata(['convert', '--to', 'text', '-o', 'METADATA', 'METADATA'])
    expect(code).toBe(1)
    expect(stderr).toContain('nested more than 100 deep')
    expect(readFileSync(file, 'utf8')).toBe(nested(101))
  })

  it('keeps in text and in JSON what the schema does not know by name, and refuses to lose it in binary', () => {
    write('METADATA', WITH_UNKNOWN)
    expect(parseText(metadata(['convert', '-t', 'text', 'METADATA']).stdout)).toEqual(parseText(WITH_UNKNOWN))
    const withoutName = WITH_UNKNOWN.replace('    state: ON\n', '')
    const { stdout: json } = metadata(['convert', '-t', 'json'], { input: withoutName })
    expect(JSON.parse(json).thirdParty.identifier).toMatchObject({ version: 'v0.1.4', primary_source: true, depth: 16 })
    expect(metadata(['convert', '-t', 'text'], { input: json }).stdout).toBe(
      metadata(['convert', '-t', 'text'], { input: withoutName.replace('0x10', '16') }).stdout,
    )
    const refused = metadata(['convert', '-t', 'binary', '-o', 'out', 'METADATA'])
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'METADATA: error: binary cannot hold third_party.identifier, which the schema does not know; --drop-unknown leaves it out\n',
    })
    expect(readdirSync(folder())).toEqual(['METADATA'])
    const { code, stdout } = grantwellBytes(['metadata', 'convert', '-t', 'binary', '--drop-unknown', 'METADATA'])
    expect(code).toBe(0)
    const { _unknownText, ...known } = parseText(WITH_UNKNOWN).thirdParty ?? {}
    expect(_unknownText).toHaveLength(1)
    expect(MetaData.decode(stdout).thirdParty).toEqual(known)
  })

  it('counts what it would lose in a heap of 256 MB, however much that is', () => {
    write('unknown', Buffer.alloc(4_194_300, Uint8Array.from([0x10, 0])))
    const args = ['convert', '--from', 'binary', '--to', 'json', 'unknown']
    expect(metadata(args, { env: { NODE_OPTIONS: '--max-old-space-size=256' } })).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'unknown: error: json cannot hold 2, which the schema does not know, and 2097149 more like it; --drop-unknown leaves it out\n',
    })
  })

  it('keeps in binary what the schema does not know by number, and refuses to lose it elsewhere', () => {
    write('record', WITH_NUMBERS)
    expect(grantwellBytes(['metadata', 'convert', '-t', 'binary', 'record']).stdout).toHaveLength(WITH_NUMBERS.length)
    for (const to of ['text', 'json']) {
      const refused = metadata(['convert', '-t', to, 'record'])
      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr).toBe(
        `record: error: ${to} cannot hold 15, which the schema does not know, and 1 more like it; --drop-unknown leaves it out\n`,
      )
      const dropped = metadata(['convert', '-t', to, '--drop-unknown', 'record'])
      expect(dropped.code).toBe(0)
      expect(dropped.stdout).not.toMatch(/15|99/)
    }
    write('record', WITH_NUMBERS.slice(6))
    expect(metadata(['convert', '-t', 'text', 'record']).stderr).toContain('text cannot hold third_party.99, which')
  })

  it('writes text in ASCII as the reference does, or as it is', () => {
    write('METADATA', 'name: "Kö"')
    expect(metadata(['convert', '-t', 'text', 'METADATA']).stdout).toBe('name: "K\\303\\266"\n')
    expect(metadata(['convert', '-t', 'text', '--utf8', 'METADATA']).stdout).toBe('name: "Kö"\n')
  })

  it('takes other names for values of enums, and writes them where they are names', () => {
    write('METADATA', 'third_party { url { type: PIPER } }')
    const alias = ['--enum-alias', 'URL.Type.PIPER=INTERNAL_VCS']
    const binary = grantwellBytes(['metadata', 'convert', '-t', 'binary', 'METADATA', ...alias]).stdout
    expect(MetaData.decode(binary).thirdParty?.url[0]?.type).toBe(4)
    expect(metadata(['convert', '-t', 'binary', 'METADATA']).stderr).toContain('third_party.url[0].type')
    expect(metadata(['convert', '-t', 'text'], { input: binary }).stdout).toContain('type: INTERNAL_VCS')
    for (const to of ['text', 'json'])
      expect(metadata(['convert', '-t', to, ...alias], { input: binary }).stdout).toMatch(/PIPER/)
  })

  it('replaces what a link leads to, whole, and keeps its mode', () => {
    const file = write('real/METADATA', ZLIB)
    link('real/METADATA', 'link')
    metadata(['convert', '-t', 'json', '-o', 'link', 'link'])
    expect(lstatSync(join(folder(), 'link')).isSymbolicLink()).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe(FORMS.json)
    expect(statSync(file).mode & 0o777).toBe(0o644)
    expect(readdirSync(join(folder(), 'real'))).toEqual(['METADATA'])
  })

  it('says what cannot be read or written', () => {
    write('METADATA', 'name "a"')
    expect(metadata(['convert', '-t', 'json', 'METADATA'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^METADATA:1:6: error: /),
    })
    expect(metadata(['convert', '-t', 'json', 'no'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'no: error: no such file or directory\n',
    })
    write('METADATA', ZLIB)
    for (const [output, reason] of [
      ['no/where', 'no such file or directory'],
      ['.', 'not a file that can be replaced'],
    ] as const)
      expect(metadata(['convert', '-t', 'json', '-o', output, 'METADATA'])).toEqual({
        code: 2,
        stdout: '',
        stderr: `${output}: error: ${reason}\n`,
      })
  })

  it.runIf(hasTerminal)('lets no record steer the terminal that it goes to', () => {
    write('METADATA', 'name: "a\\u009bb" homepage: "\\342\\200\\256x"')
    const textAt = onTerminal(['convert', '-t', 'text', '--utf8', 'METADATA']).stdout
    expect(textAt).toBe('name: "a\\302\\233b"\nhomepage: "\\342\\200\\256x"\n')
    expect(parseText(textAt)).toMatchObject({ name: 'a\u009bb' })
    const jsonAt = onTerminal(['convert', '-t', 'json', 'METADATA']).stdout
    expect(jsonAt).toBe('{\n  "name": "a\\u009bb",\n  "homepage": "\\u202ex"\n}\n')
    // Elsewhere it is the record, to the last character.
    expect(metadata(['convert', '-t', 'json', 'METADATA']).stdout).toContain('"a\u009bb"')
  })

  it.runIf(hasTerminal)('writes no binary to a terminal', () => {
    write('METADATA', ZLIB)
    for (const output of [[], ['-o', '-']])
      expect(onTerminal(['convert', '-t', 'binary', 'METADATA', ...output])).toMatchObject({
        code: 2,
        stdout: expect.stringMatching(/^error: binary is not for a terminal/),
      })
    expect(onTerminal(['convert', '-t', 'binary', '-o', 'out', 'METADATA']).code).toBe(0)
    expect(onTerminal(['convert', '-t', 'json', 'METADATA']).stdout).toBe(FORMS.json)
  })
}

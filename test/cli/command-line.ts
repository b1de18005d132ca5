/**
 * What all parts of the command have in common.
 * @module
 */
import { readFileSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { BUILT } from '../built.js'
import { BIN, bash, grantwell, hasTerminal, metadata, onTerminal, write, ZLIB } from './command.js'

/** The files of the command: the second and the third are loaded where a store is opened, and where the user is asked. */
const FILES = ['grantwell.cjs', 'connect.cjs', 'prompts.cjs'] as const

const textOf = (file: (typeof FILES)[number]): string => readFileSync(join(BUILT, 'bin', file), 'utf8')

/** Prints the files of the command that were loaded, when it ends. */
const LOADED = `const { basename } = require('node:path')
process.on('exit', () => {
  const files = Object.keys(require.cache).filter((file) => /[/]bin[/]\\w+[.]cjs$/.test(file))
  require('node:fs').writeSync(1, '\\n' + JSON.stringify(files.map((file) => basename(file)).sort()))
})
`

const PARTS = ['show', 'check', 'convert', 'set']
const LEVELS = ['', 'init', 'metadata', ...PARTS.map((part) => `metadata ${part}`)]

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

export function commandLine(): void {
  it.each(LEVELS)('says its version and its help: grantwell %s', (words) => {
    const level = words.split(' ').filter(Boolean)
    for (const option of ['--version', '-V'])
      expect(grantwell([...level, option])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
    for (const option of ['--help', '-h']) {
      const { code, stdout, stderr } = grantwell([...level, option])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(new RegExp(`^Usage: grantwell ${words}`))
    }
  })

  it('lists its parts, and names in the help of each the exit codes', () => {
    const { stdout } = metadata(['--help'])
    for (const part of PARTS) {
      expect(stdout).toMatch(new RegExp(`^ {2}${part} `, 'm'))
      expect(metadata([part, '--help']).stdout).toContain('Exit code: 0')
    }
  })

  it.each([[[]], [['metadata']]])('alone is a mistake, answered with help on standard error: %j', (args) => {
    const { code, stdout, stderr } = grantwell(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^Usage: grantwell/)
  })

  it.each([
    [['nonsense'], /^error: unknown command 'nonsense'/],
    [['metadata', 'nonsense'], /^error: unknown command 'nonsense'/],
    [['metadata', 'show', '--nonsense'], /^error: unknown option '--nonsense'/],
    [['metadata', 'show', '--format', 'xml'], /^error: .*'xml' is invalid.*text, json, table/],
    [['metadata', 'show', '--format', 'text', '--json'], /^error: .*cannot be used with/],
    [['metadata', 'convert'], /^error: required option '-t, --to <format>' not specified/],
    [['metadata', 'convert', '--to', 'text', 'a', 'b'], /^error: too many arguments/],
    [['metadata', 'set', 'METADATA'], /^error: there is nothing to set\n\nUsage: /],
    [
      ['metadata', 'show', '--enum-alias', 'PIPER'],
      /^error: .*Expected ENUM\.NAME=VALUE, where ENUM is one of URL\.Type, /,
    ],
    [['metadata', 'show', '--enum-alias', 'Nothing.PIPER=GIT'], /^error: .*Expected ENUM\.NAME=VALUE/],
    [
      ['metadata', 'show', '--enum-alias', 'URL.Type.PIPER=CVS'],
      /^error: .*URL\.Type has these values: UNKNOWN, HOMEPAGE/,
    ],
    [['metadata', 'show', '--enum-alias', 'URL.Type.GIT=SVN'], /^error: .*URL\.Type has a value GIT of its own/],
  ])('refuses a wrong command line with one line and exit code 2: %j', (args, message) => {
    write('METADATA', ZLIB)
    const { code, stdout, stderr } = grantwell(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/^ +at /m)
  })

  it.each(['show', 'check'])('%s reads what is piped in, with - and without a path', (part) => {
    const named = metadata([part, '-'], { input: 'name: "a" nonsense' })
    expect(named).toMatchObject({ code: 1 })
    expect(named.stdout + named.stderr).toMatch(/^<stdin>:1:19: error: .*expected/m)
    expect(metadata([part], { input: 'name: "a" nonsense' })).toEqual(named)
    expect(metadata([part, '-', '-'], { input: ZLIB }).code).toBe(0)
  })

  it.runIf(hasTerminal).each([['show'], ['check'], ['convert', '--to', 'json'], ['set', 'name=a']])(
    'without a path, on a terminal, is answered with help: %s',
    (...args) => {
      const { code, stdout } = onTerminal(args)
      expect(code).toBe(2)
      expect(stdout).toMatch(/^error: no PATH is given, and nothing is piped in\n\nUsage: grantwell metadata/)
    },
  )

  it('ends quietly, and not with success, when its reader goes away', () => {
    for (let i = 0; i < 300; i++) write(`tree/${i}/METADATA`, ZLIB + '# filling\n'.repeat(100))
    for (const args of [
      'show --json tree',
      'show --format text tree',
      'show tree',
      'check --strict --json tree tree/0/METADATA',
    ]) {
      const { stdout, stderr } = bash(`metadata ${args} | head -c 1 >/dev/null; echo "\${PIPESTATUS[0]}"`)
      // A result that fits into the pipe whole may be written before the reader goes.
      expect(stdout, args).toMatch(args.startsWith('show --') ? /^141\n$/ : /^(141|0)\n$/)
      expect(stderr, args).toBe('')
    }
  })

  const coloured = [
    ['show', 'a/METADATA'],
    ['show', '.'],
    ['check', '.'],
    ['set', 'name=c', '-n', 'a/METADATA'],
  ]

  it('is coloured as FORCE_COLOR has it, and without a terminal not otherwise', () => {
    write('a/METADATA', ZLIB)
    write('b/METADATA', 'name: "b"')
    for (const args of coloured) {
      const plain = metadata(args)
      expect(plain.stdout + plain.stderr).not.toContain('\u001b')
      const forced = metadata(args, { env: { FORCE_COLOR: '1' } })
      expect(forced.stdout).toContain('\u001b[')
      expect(uncolored(forced.stdout)).toBe(plain.stdout)
      expect(uncolored(forced.stderr)).toBe(plain.stderr)
    }
    const json = metadata(['show', '--json', '.'], { env: { FORCE_COLOR: '1' } })
    expect(json.stdout).not.toContain('\u001b')
  })

  it.runIf(hasTerminal)('is coloured on a terminal, unless NO_COLOR forbids it', () => {
    write('a/METADATA', ZLIB)
    write('b/METADATA', 'name: "b"')
    for (const args of coloured) {
      const plain = metadata(args)
      expect(onTerminal(args).stdout).toContain('\u001b[')
      expect(uncolored(onTerminal(args).stdout)).toBe(plain.stdout + plain.stderr)
      expect(onTerminal(args, { NO_COLOR: '1' }).stdout).toBe(plain.stdout + plain.stderr)
    }
  })

  it('lets no record and no file name move the cursor or turn the direction of reading', () => {
    const name = 'evil\\033[2J\\302\\233\\342\\200\\256'
    write(
      'evil\u001b[2J/METADATA',
      `name: "${name}" third_party { version: "\\007" last_upgrade_date { month: 13 } url { value: "\\177 b" } }`,
    )
    write('evil\u001b[2J/x.textproto', 'name: \u202e')
    const unsafe = /[^\P{Cc}\n]|[\u202a-\u202e]/u
    for (const args of [
      ['show', '.'],
      ['show', '--format', 'text', '.'],
      ['check', '.'],
      ['set', 'name=x', '-n', 'evil\u001b[2J/METADATA'],
    ]) {
      const { stdout, stderr } = metadata(args)
      expect(stdout.replaceAll('\u202e"', '')).not.toMatch(unsafe)
      expect(stderr).not.toMatch(unsafe)
    }
    expect(metadata(['show', '.']).stdout).toContain('evil\\u001b[2J/METADATA')
  })

  // Windows has no such mode.
  it.skipIf(process.platform === 'win32')('may be run by everybody', () => {
    expect(statSync(BIN).mode & 0o111).toBe(0o111)
  })

  it('starts as a program does, and has all that it needs in files beside it', () => {
    expect(textOf('grantwell.cjs').startsWith('#!/usr/bin/env node\n')).toBe(true)
    for (const file of FILES) {
      const required = [...textOf(file).matchAll(/\b(?:require|import)\("([^"]+)"\)/g)].map((match) => match[1] ?? '')
      expect(required.length).toBeGreaterThan(3)
      const others = required.flatMap((name) => (isBuiltin(name) ? [] : [name]))
      expect([file, [...new Set(others)].sort()]).toEqual([
        file,
        file === 'grantwell.cjs' ? ['./connect.cjs', './prompts.cjs'] : [],
      ])
    }
  })

  it('reads the server only where a store is opened, and no questions where none is asked', () => {
    const loaded = (...args: readonly string[]) => {
      const env = { NODE_OPTIONS: `--require=${write('loaded.cjs', LOADED)}` }
      return JSON.parse(grantwell(args, { env }).stdout.trim().split('\n').at(-1) ?? '')
    }
    write('METADATA', ZLIB)
    for (const args of [
      ['--help'],
      ['metadata', 'check', 'METADATA'],
      ['init', 'made', '--framework', 'express', '--store', 'memory'],
      ['store', 'nonsense'],
      ['store', 'check'],
    ])
      expect(loaded(...args)).toEqual(['grantwell.cjs'])
    expect(loaded('store', 'check', '--sqlite', 'absent')).toEqual(['connect.cjs', 'grantwell.cjs'])
  })

  it('has the licences of all that was put into it beside it', () => {
    const licenses = readFileSync(join(BUILT, 'bin/LICENSES.txt'), 'utf8')
    const bundled = FILES.flatMap((file) => [
      ...textOf(file).matchAll(/^\s*\/\/ node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//gm),
    ])
    const names = [...new Set(bundled.map((match) => match[1] ?? ''))].sort()
    expect(names).toEqual([
      '@bufbuild/protobuf',
      '@clack/core',
      '@clack/prompts',
      '@noble/hashes',
      'commander',
      'console-table-printer',
      'diff',
      'fast-string-truncated-width',
      'fast-string-width',
      'fast-wrap-ansi',
      'simple-wcswidth',
      'sisteransi',
    ])
    const sections = licenses.split(`\n${'-'.repeat(80)}\n\n`)
    expect(sections).toHaveLength(names.length)
    names.forEach((name, index) => {
      const manifest = JSON.parse(
        readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8'),
      )
      expect(sections[index]).toContain(`${name} ${manifest.version} (${manifest.license})\n\n`)
      expect(sections[index]).toMatch(/copyright/i)
      expect(sections[index]?.length).toBeGreaterThan(1000)
    })
    for (const notice of ['Copyright 2008 Google Inc.', 'Buf Technologies, Inc.', 'END OF TERMS AND CONDITIONS'])
      expect(sections[0]).toContain(notice)
  })
}

function uncolored(text: string): string {
  return stripVTControlCharacters(text)
}

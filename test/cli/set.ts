/**
 * `set`: the bytes of a file before and after.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MetaData, parseText } from 'grantwell/metadata'
import { expect, it } from 'vitest'
import { bash, folder, hasTerminal, link, metadata, onTerminal, WITH_UNKNOWN, write, ZLIB } from './command.js'

const SILENT = { code: 0, stdout: '', stderr: '' }

const read = (path: string): string => readFileSync(join(folder(), path), 'utf8')

/** Runs `set` on a text; the text that comes of it. */
function set(text: string, ...args: readonly string[]): string {
  write('METADATA', text)
  expect(metadata(['set', ...args, 'METADATA'])).toEqual(SILENT)
  return read('METADATA')
}

/** What `set` says of a text that it cannot change. */
function refusal(text: string | Uint8Array, ...args: readonly string[]): string {
  write('METADATA', text)
  const { code, stdout, stderr } = metadata(['set', ...args, 'METADATA'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  // As one value: a matcher that goes through four million bytes one by one takes most of a minute.
  expect(Buffer.from(text).equals(readFileSync(join(folder(), 'METADATA')))).toBe(true)
  return stderr
}

/** Whether the program patch is on this machine. */
const hasPatch = spawnSync('patch', ['--version']).status === 0

export function setting(): void {
  it('changes the lines concerned and no other byte', () => {
    const changed = set(
      ZLIB,
      'third_party.version=1.3.2',
      'third_party.last_upgrade_date=2026-11-21',
      'third_party.security.tag[0]=NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.2',
    )
    expect(changed).toBe(
      ZLIB.replace("'1.3.1'", "'1.3.2'")
        .replace('year: 2024 month: 1 day: 22', 'year: 2026 month: 11 day: 21')
        .replace('zlib:1.3.1', 'zlib:1.3.2'),
    )
  })

  it.each([
    ['CRLF', ZLIB.replaceAll('\n', '\r\n')],
    ['no line end at the end', ZLIB.trimEnd()],
    ['tabs', ZLIB.replaceAll('  ', '\t')],
    ['what is not ASCII', ZLIB.replace('by hand', 'von Händen')],
  ])('keeps %s', (_, text) => {
    expect(set(text, 'third_party.version=2')).toBe(text.replace('1.3.1', '2'))
  })

  it('adds to lists, removes fields, and makes what is not there', () => {
    expect(set(ZLIB, 'third_party.security.tag+=a', 'third_party.security.tag+=b = c')).toBe(
      ZLIB.replace('1.3.1"\n', '1.3.1"\n    tag: "a"\n    tag: "b = c"\n'),
    )
    expect(set(ZLIB, '--unset', 'description', '-u', 'third_party.security')).toBe(
      ZLIB.replace(/^description.*\n/m, '').replace(/ {2}security \{\n.*\n {2}\}\n/, ''),
    )
    expect(set('name: "a"\n', 'third_party.security.category=SANDBOXED_ONLY')).toBe(
      'name: "a"\nthird_party {\n  security {\n    category: SANDBOXED_ONLY\n  }\n}\n',
    )
    expect(parseText(set('', 'name=a')).name).toBe('a')
  })

  it('removes by the places that fields had before, and after everything else', () => {
    const text = 'third_party {\n  url { value: "a" }\n  url { value: "b" }\n  url { value: "c" }\n}\n'
    const args = ['third_party.url+={"value":"d"}', '-u', 'third_party.url[0]', '--unset', 'third_party.url[1]']
    expect(set(text, ...args)).toBe('third_party {\n  url { value: "c" }\n  url { value: "d" }\n}\n')
    expect(set(text, '-u', 'third_party.url')).not.toContain('url')
  })

  it('takes values in the type of their field', () => {
    const { thirdParty, name } = parseText(
      set(
        '',
        'name=1',
        'third_party.license_type=NOTICE',
        'third_party.last_upgrade_date.year=2026',
        'third_party.url+={"type":"GIT","value":"https://git.example/a"}',
        'third_party.local_modifications=a\n"b"\t',
        'third_party.license_note=',
      ),
    )
    expect({ ...thirdParty, name }).toMatchObject({
      name: '1',
      licenseType: 2,
      lastUpgradeDate: { year: 2026 },
      url: [{ type: 3, value: 'https://git.example/a' }],
      localModifications: 'a\n"b"\t',
      licenseNote: '',
    })
    const both = set(
      ZLIB,
      'third_party.url[0]={"value":"https://b.example"}',
      'third_party.last_upgrade_date={"day":3}',
    )
    expect(both).toBe(ZLIB.replace('https://git.example/zlib', 'https://b.example').replace('day: 22', 'day: 3'))
  })

  it('keeps the type of a field that the schema does not know', () => {
    const at = 'third_party.identifier'
    const args = [`${at}[0].version=2`, `${at}.primary_source=false`, `${at}.depth=17`, `${at}.state=OFF`]
    expect(set(WITH_UNKNOWN, ...args)).toBe(
      WITH_UNKNOWN.replace('v0.1.4', '2').replace('true', 'false').replace('0x10', '17').replace('ON', 'OFF'),
    )
    expect(set(WITH_UNKNOWN, `${at}.depth=16`)).toBe(WITH_UNKNOWN)
    expect(set(WITH_UNKNOWN, `${at}.depth=123456789012345678901`)).toContain('depth: 123456789012345678901\n')
    expect(set(WITH_UNKNOWN, `${at}.depth=+1.50e2`)).toContain('depth: 150\n')
    expect(set(WITH_UNKNOWN, `${at}.depth=0.12345678901234568`)).toContain('depth: 0.12345678901234568\n')
    expect(set(WITH_UNKNOWN, '--create-unknown', `${at}.new=5`)).toContain('    new: "5"\n')
    expect(set('port: 1\nopen: { a: 1 }\nbrace: "}"\n', 'port+=3', 'brace={', 'open+={"a":2}')).toBe(
      'port: 1\nport: 3\nopen: { a: 1 }\nopen: { a: 2 }\nbrace: "{"\n',
    )
    const two = set(WITH_UNKNOWN, `${at}+={"type":"Archive","primary_source":false}`)
    expect(two).toMatch(/ {2}identifier \{\n {4}type: "Archive"\n {4}primary_source: false\n {2}\}\n/)
    expect(set(WITH_UNKNOWN, `${at}={"state":null}`)).toBe(WITH_UNKNOWN.replace('    state: ON\n', ''))
  })

  it.each([
    [
      'third_party.last_upgrade_date=2026-02-30',
      'third_party.last_upgrade_date should be a day of the calendar as YYYY-MM-DD, and not "2026-02-30"',
    ],
    ['third_party.last_upgrade_date.day=x', 'third_party.last_upgrade_date.day should be an integer of 32 bits'],
    [
      'third_party.last_upgrade_date.year=99999999999',
      'third_party.last_upgrade_date.year should be an integer of 32 bits',
    ],
    [
      'third_party.license_type=FREE',
      'third_party.license_type: LicenseType has no value FREE: expected one of UNKNOWN, ',
    ],
    ['third_party.url[0]=x', 'third_party.url[0] should be a JSON object, such as {"type":"GIT"}, and not "x"'],
    ['third_party.url[0]=["x"]', 'third_party.url[0] should be a JSON object'],
    [
      'third_party.url=x',
      'third_party.url should be third_party.url[0]=, or third_party.url+= for a new one, since it is a list',
    ],
    ['third_party.url[7].value=x', 'third_party.url[7]: there is no url[7]'],
    [
      'third_party.identifier.depth=deep',
      'third_party.identifier.depth should be a number, as it is in this file, and not "deep"',
    ],
    ...['0.12345678901234567890', '1.00000000000000000001', '1e400', '+1e-400', '0x20000000000001'].map((number) => [
      `third_party.identifier.depth=${number}`,
      `third_party.identifier.depth should be a number of at most 17 significant digits, since more would be rounded, and not "${number}"`,
    ]),
    [
      'third_party.identifier={"depth":0.12345678901234567890}',
      'third_party.identifier should be a JSON object, such as {"type":"GIT"}, and not "{\\"depth\\":0.12345678901234567890}" (0.12345678901234567890 should be a number of at most 17 significant digits, since more would be rounded)',
    ],
    [
      'third_party.last_upgrade_date={"day":3.00000000000000000001}',
      'third_party.last_upgrade_date should be a JSON object',
    ],
    [
      'third_party.identifier.state=7',
      'third_party.identifier.state should be a name, as it is in this file, and not "7"',
    ],
    ['third_party.identifier=x', 'third_party.identifier should be a JSON object'],
    ['name+=x', 'name[+]: name is not a list'],
    ['name.x=1', 'name'],
    ['a..b=1', '"a..b" is no path: expected '],
  ])('refuses %s, and changes nothing', (assignment, reason) => {
    expect(refusal(WITH_UNKNOWN, 'description=x', assignment)).toContain(`METADATA: error: ${reason}`)
  })

  it('refuses a path to remove that is none', () => {
    expect(refusal(ZLIB, '-u', 'a..b')).toMatch(/^error: "a\.\.b" is no path/)
    expect(refusal(ZLIB, '-u', 'third_party.url[+]')).toContain('nothing to remove at [+]')
  })

  it('takes other names for values of enums', () => {
    const alias = ['--enum-alias', 'URL.Type.PIPER=INTERNAL_VCS']
    expect(set(ZLIB, 'third_party.url[0].type=PIPER', ...alias)).toBe(ZLIB.replace('GIT', 'PIPER'))
    expect(refusal(ZLIB, 'third_party.url[0].type=PIPER')).toContain('URL.Type has no value PIPER')
  })

  it('changes text alone', () => {
    const record = parseText(ZLIB)
    for (const other of [JSON.stringify(MetaData.toJSON(record)), MetaData.encode(record)])
      expect(refusal(other, 'name=a')).toBe(
        'METADATA: error: not in text format, and only text can be changed in place: convert it with --to text\n',
      )
    expect(set('name: 5\nnonsense { a: [b] }\n', 'name=a')).toBe('name: "a"\nnonsense { a: [b] }\n')
  })

  it('ends with 1 for a text that is broken, and changes nothing', () => {
    write('METADATA', 'name "a"\n')
    expect(metadata(['set', 'name=b', 'METADATA'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^METADATA:1:6: error: /),
    })
    expect(read('METADATA')).toBe('name "a"\n')
    write('METADATA', Buffer.from('name: "\xe4"\n', 'latin1'))
    expect(metadata(['set', 'name=b', 'METADATA'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^METADATA:1:8: error: /),
    })
  })

  it('changes all files, or none where one cannot be', () => {
    write('a', ZLIB)
    write('b', ZLIB.replace('1.3.1', '2'))
    expect(metadata(['set', 'third_party.version=3', 'a', 'b', './a'])).toEqual(SILENT)
    expect([read('a'), read('b')]).toEqual([ZLIB.replace('1.3.1', '3'), ZLIB.replace('1.3.1', '3')])
    write('c', 'name "c"')
    const { code, stderr } = metadata(['set', 'name=x', 'a', 'c', 'nowhere', '.'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^c:1:6: error: .*\nnowhere: error: no such file or directory\n\.: error: .*directory.*\n$/)
    expect(read('a')).toContain('"zlib"')
  })

  it('takes the first argument that is no change for a path', () => {
    write('a=b', ZLIB)
    expect(metadata(['set', 'name=x', './a=b'])).toEqual(SILENT)
    expect(read('a=b')).toContain('name: "x"')
    write('file', ZLIB)
    expect(metadata(['set', 'name=x', 'file', 'a=b'])).toEqual(SILENT)
    expect(read('file')).toContain('name: "x"')
  })

  it('does not touch a file that stays as it is', () => {
    const file = write('METADATA', ZLIB)
    const before = statSync(file, { bigint: true })
    set(
      ZLIB,
      'third_party.version=1.3.1',
      'third_party.last_upgrade_date=2024-01-22',
      'third_party.license_type=NOTICE',
    )
    const { ino } = statSync(file, { bigint: true })
    expect(ino).toBe(before.ino)
    expect(metadata(['set', 'third_party.version=2', 'METADATA'])).toEqual(SILENT)
    expect(statSync(file, { bigint: true }).ino).not.toBe(before.ino)
  })

  it('keeps the mode of a file, replaces what a link leads to, and leaves nothing else behind', () => {
    const file = write('real/METADATA', ZLIB)
    chmodSync(file, 0o640)
    link('real/METADATA', 'link')
    expect(metadata(['set', 'third_party.version=2', 'link'])).toEqual(SILENT)
    expect(lstatSync(join(folder(), 'link')).isSymbolicLink()).toBe(true)
    expect(read('real/METADATA')).toBe(ZLIB.replace('1.3.1', '2'))
    expect(statSync(file).mode & 0o7777).toBe(0o640)
    expect(readdirSync(join(folder(), 'real'))).toEqual(['METADATA'])
    expect(readdirSync(folder()).sort()).toEqual(['link', 'real'])
  })

  it.runIf(process.platform !== 'win32').each([0o4755, 0o2755, 0o6711, 0o2664])(
    'takes setuid and setgid from a file of mode %o, as a program that writes to it does',
    (mode) => {
      const names = ['one', 'other']
      for (const name of names) chmodSync(write(name, ZLIB), mode)
      expect(metadata(['set', 'name=x', 'one'])).toEqual(SILENT)
      expect(metadata(['set', 'name=y', ...names])).toEqual(SILENT)
      expect(metadata(['convert', '--to', 'json', '-o', 'other', 'one'])).toEqual(SILENT)
      for (const name of names) expect(statSync(join(folder(), name)).mode & 0o7777).toBe(mode & 0o777)
    },
  )

  it('filters what is piped in', () => {
    const changed = ZLIB.replace('1.3.1', '2')
    for (const args of [['third_party.version=2'], ['third_party.version=2', '-'], ['third_party.version=1.3.1']])
      expect(metadata(['set', ...args], { input: ZLIB })).toEqual({
        ...SILENT,
        stdout: args[0]?.endsWith('2') ? changed : ZLIB,
      })
    expect(bash('metadata set name=a - </dev/null | metadata set third_party.version=1 | metadata show')).toEqual({
      ...SILENT,
      stdout: 'name: "a"\nthird_party {\n  version: "1"\n}\n',
    })
  })

  it('shows what would change as a patch, which patch can apply, and changes nothing', ({ skip }) => {
    const long = `${'# a line\n'.repeat(50)}${ZLIB}`
    write('a/METADATA', long)
    write('b/METADATA', ZLIB)
    const change = ['third_party.version=1.3.2', 'name=zlib']
    const { code, stdout, stderr } = metadata(['set', '--dry-run', ...change, 'a/METADATA', 'b/METADATA'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^--- a\/METADATA\n\+\+\+ a\/METADATA\n@@ -54,7 \+54,7 @@\n/)
    expect(stdout.match(/^-(?!--).*$/gm)).toEqual(["-  version: '1.3.1'", "-  version: '1.3.1'"])
    expect(stdout.match(/^\+(?!\+\+).*$/gm)).toEqual(["+  version: '1.3.2'", "+  version: '1.3.2'"])
    expect([read('a/METADATA'), read('b/METADATA')]).toEqual([long, ZLIB])
    expect(metadata(['set', '-n', 'name=zlib', 'a/METADATA'])).toEqual(SILENT)
    expect(metadata(['set', '-n', 'name=x'], { input: ZLIB }).stdout).toMatch(/^--- <stdin>\n/)
    skip(!hasPatch, 'all but the program patch, which is not on this machine')
    expect(spawnSync('patch', ['-p0'], { cwd: folder(), input: stdout }).status).toBe(0)
    expect(read('a/METADATA')).toBe(long.replace('1.3.1', '1.3.2'))
  })

  it.for([
    ['lines that end', '\n'],
    ['a last line that does not end', ''],
  ])(
    'shows thousands of changes as one, since finding the fewest lines takes time by their square: %s',
    ([, end], { skip }) => {
      const entry = (index: number) => `  url { value: "https://${index}.example" }\n${'  # kept\n'.repeat(8)}`
      const before = `# 1\n# 2\n# 3\n# 4\nthird_party {\n${Array.from({ length: 2100 }, (_, i) => entry(i)).join('')}}${end}`
      write('METADATA', before)
      const { code, stdout } = metadata(['set', '-n', '-u', 'third_party.url', 'METADATA'])
      expect(code).toBe(0)
      expect(stdout.match(/^@@.*$/gm)).toHaveLength(1)
      expect(stdout).toMatch(
        /^--- METADATA\n\+\+\+ METADATA\n@@ -3,\d+ \+3,\d+ @@\n # 3\n # 4\n third_party \{\n- {2}url/,
      )
      expect(metadata(['set', '-u', 'third_party.url', 'METADATA'])).toEqual(SILENT)
      const after = read('METADATA')
      expect(after).not.toContain('url')
      skip(!hasPatch, 'all but the program patch, which is not on this machine')
      write('METADATA', before)
      expect(spawnSync('patch', ['-p0'], { cwd: folder(), input: stdout }).status).toBe(0)
      expect(read('METADATA')).toBe(after)
    },
  )

  it.runIf(hasTerminal)('lets nothing of what is piped in steer the terminal that the result goes to', () => {
    write('METADATA', `# \u001b[2J\n${ZLIB}`)
    expect(metadata(['set', 'name=x', '-'], { input: `# \u001b[2J\n${ZLIB}` }).stdout).toContain('# \u001b[2J\n')
    const { stdout } = onTerminal(['set', 'name=x', '-'], {}, 200, 'METADATA')
    expect(stdout).toContain('# \\u001b[2J\n')
    expect(stdout).not.toContain('\u001b[2J')
  })

  it.runIf(hasTerminal)('lets no comment of a file steer the terminal that a patch goes to', () => {
    write('METADATA', `# \u001b[2J\n${ZLIB}`)
    expect(metadata(['set', '-n', 'name=x', 'METADATA']).stdout).toContain('\u001b[2J')
    const { stdout } = onTerminal(['set', '-n', 'name=x', 'METADATA'])
    expect(stdout).toContain('\\u001b[2J')
    expect(stdout).not.toContain('\u001b[2J')
  })

  it('makes no field by a slip of the pen', () => {
    for (const path of ['thrid_party.version', 'third_party.versoin', 'third_party.identifier.new']) {
      expect(refusal(WITH_UNKNOWN, `${path}=5`)).toBe(
        `METADATA: error: ${path} is neither in the schema nor in this file; --create-unknown makes it\n`,
      )
      expect(set(WITH_UNKNOWN, '--create-unknown', `${path}=5`)).not.toBe(WITH_UNKNOWN)
    }
  })

  it('makes no record that is too large to be read again', () => {
    const text = (bytes: number): string => `# ${'é'.repeat((bytes - 12) / 2)}\nname: ""\n`
    const largest = 4_194_304
    expect(set(text(largest - 2), 'name=ab')).toHaveLength(largest / 2 + 7)
    expect(metadata(['check', '--quiet', 'METADATA'])).toEqual(SILENT)
    expect(refusal(text(largest), 'name=a')).toBe(
      `METADATA: error: would be ${largest + 1} bytes, and no command reads more than ${largest} again\n`,
    )
  })

  it.runIf(process.platform === 'linux')('writes nothing for bytes that are not UTF-8', () => {
    write('METADATA', ZLIB)
    for (const args of ["$'description=caf\\xe9' METADATA", "--change $'description=caf\\xe9' METADATA"])
      expect(bash(`metadata set ${args}`)).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^error: description=caf\ufffd has U\+FFFD in it, or bytes that are not UTF-8/),
      })
    expect(read('METADATA')).toBe(ZLIB)
  })

  it('asks for something to change', () => {
    expect(bash('metadata set name=a </dev/null')).toMatchObject({ code: 2, stdout: '' })
    expect(bash('metadata set name=a - </dev/null')).toEqual({ ...SILENT, stdout: 'name: "a"\n' })
  })

  it('changes no file where one of them cannot be written', () => {
    for (const path of ['good', 'closed']) {
      chmodSync(write(`${path}/METADATA`, ZLIB), 0o666)
      chmodSync(join(folder(), path), path === 'good' ? 0o777 : 0o555)
    }
    const outcome = metadata(['set', 'name=x', 'good/METADATA', 'closed/METADATA'], { asNobody: true })
    chmodSync(join(folder(), 'closed'), 0o755)
    expect(outcome.code).toBe(2)
    expect(outcome.stderr).toContain('METADATA: error: permission denied')
    for (const path of ['good', 'closed']) {
      expect(read(`${path}/METADATA`)).toBe(ZLIB)
      expect(readdirSync(join(folder(), path))).toEqual(['METADATA'])
    }
  })

  it('does not replace a file that may not be written', () => {
    chmodSync(write('METADATA', ZLIB), 0o444)
    expect(metadata(['set', 'name=x', 'METADATA'], { asNobody: true })).toMatchObject({
      code: 2,
      stderr: 'METADATA: error: permission denied\n',
    })
    expect(read('METADATA')).toBe(ZLIB)
  })
}

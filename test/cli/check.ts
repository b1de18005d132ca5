/**
 * `check`: a line for each fault, and exit codes for CI.
 * @module
 */
import { MetaData, parseText } from 'grantwell/metadata'
import { expect, it } from 'vitest'
import { makeFault } from '../../src/cli/records.js'
import { metadata, WITH_UNKNOWN, write, ZLIB } from './command.js'

export function checking(): void {
  it('has nothing to say of good records but how many they are', () => {
    write('a/METADATA', ZLIB)
    expect(metadata(['check', 'a'])).toEqual({
      code: 0,
      stdout: '',
      stderr: '1 record checked: 0 errors, 0 warnings\n',
    })
    write('b/METADATA', WITH_UNKNOWN)
    expect(metadata(['check', 'a', 'b'])).toEqual({
      code: 0,
      stdout: '',
      stderr: '2 records checked: 0 errors, 0 warnings\n',
    })
  })

  it('says where each fault stands, as a compiler does', () => {
    write('a/METADATA', ZLIB.replace('day: 22', 'day: 32').replace('https://git.example/zlib', 'git.example/zlib'))
    write('b/METADATA', 'name: "b"\n\nthird_party {\n  version: "1"\n  last_upgrade_date { year: 2024 }\n}\n')
    write('c/METADATA', 'name: "c"\nthird_party {\n  version "1"\n}\n')
    const { code, stdout, stderr } = metadata(['check', '.'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: '3 records checked: 5 errors, 2 warnings\n' })
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(
        /^a\/METADATA:6:19: error: third_party\.url\[0\]\.value: "git\.example\/zlib" .*\[invalid_url\]$/,
      ),
      expect.stringMatching(/^a\/METADATA:12:3: error: third_party\.last_upgrade_date: .*2024-1-32 \[invalid_date\]$/),
      expect.stringMatching(/^b\/METADATA:3:1: warning: third_party\.url: .* \[missing_url\]$/),
      expect.stringMatching(/^b\/METADATA:3:1: warning: third_party\.license_type: .* \[missing_license_type\]$/),
      expect.stringMatching(/^b\/METADATA:5:3: error: third_party\.last_upgrade_date\.month: .* \[invalid_date\]$/),
      expect.stringMatching(/^b\/METADATA:5:3: error: third_party\.last_upgrade_date\.day: .* \[invalid_date\]$/),
      expect.stringMatching(/^c\/METADATA:3:11: error: expected ":".*, found "1" \[syntax\]$/),
      '',
    ])
  })

  it('finds the place in a list, and of one among several', () => {
    const urls = '  url: [\n    { value: "https://a.example" },\n    { value: "b" }\n  ]\n  url { value: "c" }\n'
    write('METADATA', `name: "a"\nthird_party <\n${urls}  security { tag: ["a", " "] }\n>\n`)
    const { stdout } = metadata(['check', 'METADATA'])
    expect(stdout).toMatch(/^METADATA:5:7: error: third_party\.url\[1\]\.value: /m)
    expect(stdout).toMatch(/^METADATA:7:9: error: third_party\.url\[2\]\.value: /m)
    expect(stdout).toMatch(/^METADATA:8:25: error: third_party\.security\.tag\[1\]: /m)
  })

  it('names the file alone where there is no place to tell', () => {
    const bad = parseText(ZLIB.replace('day: 22', 'day: 32'))
    write('json', JSON.stringify(MetaData.toJSON(bad)))
    write('binary', MetaData.encode(bad))
    write('broken', MetaData.encode(bad).slice(0, -1))
    const { code, stdout } = metadata(['check', 'json', 'binary', 'broken'])
    expect(code).toBe(1)
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^json: error: third_party\.last_upgrade_date: .* \[invalid_date\]$/),
      expect.stringMatching(/^binary: error: third_party\.last_upgrade_date: .* \[invalid_date\]$/),
      expect.stringMatching(/^broken: error: .* \[invalid_length\]$/),
      '',
    ])
    write('text.json', '{\n  "name": x }')
    expect(metadata(['check', 'text.json']).stdout).toMatch(/^text\.json:(?:2:11:)? error: .* \[invalid_json\]\n$/)
  })

  it('fails for warnings where it is told to, and says nothing of them where it is told so', () => {
    write('METADATA', 'name: "a"\n')
    const plain = metadata(['check', 'METADATA'])
    expect(plain).toMatchObject({ code: 0, stderr: '1 record checked: 0 errors, 1 warning\n' })
    expect(plain.stdout).toMatch(/^METADATA:1:1: warning: third_party: .* \[missing_third_party\]\n$/)
    expect(metadata(['check', '--warnings-as-errors', 'METADATA'])).toEqual({ ...plain, code: 1 })
    expect(metadata(['check', '-W', 'METADATA'])).toEqual({ ...plain, code: 1 })
    expect(metadata(['check', '--quiet', 'METADATA'])).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(metadata(['check', '-q', '-W', 'METADATA']).code).toBe(1)
    write('METADATA', 'name: " "\n')
    expect(metadata(['check', '-q', 'METADATA'])).toMatchObject({
      code: 1,
      stderr: '',
      stdout: expect.stringMatching(/^.*\[empty\]\n$/),
    })
  })

  it('refuses names that the schema does not have where it is told to be strict', () => {
    write('METADATA', WITH_UNKNOWN)
    expect(metadata(['check', 'METADATA']).code).toBe(0)
    const strict = metadata(['check', '--strict', 'METADATA'])
    expect(strict.code).toBe(1)
    expect(strict.stdout).toMatch(/^METADATA:3:3: error: .*identifier.* \[unknown_field\]\n$/)
  })

  it('takes other names for values of enums', () => {
    write('METADATA', ZLIB.replace('GIT', 'PIPER'))
    expect(metadata(['check', '-W', 'METADATA'])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^METADATA:6:9: warning: /),
    })
    expect(metadata(['check', '--strict', 'METADATA']).stdout).toContain('[unknown_enum_value]')
    const alias = ['--enum-alias', 'URL.Type.PIPER=INTERNAL_VCS']
    for (const option of ['-W', '--strict'])
      expect(metadata(['check', option, 'METADATA', ...alias])).toMatchObject({ code: 0, stdout: '' })
  })

  it('prints one object of JSON', () => {
    write('a/METADATA', ZLIB)
    write('b/METADATA', 'name: "b"\n')
    write('c/METADATA', 'name: b\n')
    const { code, stdout, stderr } = metadata(['check', '--json', '.', 'nowhere'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    const found = { line: 1, message: expect.any(String) }
    expect(JSON.parse(stdout)).toEqual({
      records: 3,
      errors: 1,
      warnings: 1,
      unreadable: [{ path: 'nowhere', reason: 'no such file or directory' }],
      findings: [
        {
          path: 'b/METADATA',
          ...found,
          column: 1,
          field: 'third_party',
          code: 'missing_third_party',
          severity: 'warning',
        },
        { path: 'c/METADATA', ...found, column: 7, code: expect.any(String), severity: 'error' },
      ],
    })
    expect(JSON.parse(metadata(['check', '--json', '-q', 'a', 'b']).stdout).findings).toEqual([])
  })

  it('ends with 2 for a file that cannot be read, and checks the others', () => {
    write('METADATA', 'name "a"\n')
    const { code, stdout, stderr } = metadata(['check', 'nowhere', 'METADATA'])
    expect(code).toBe(2)
    expect(stdout).toMatch(/^METADATA:1:6: error: /)
    expect(stderr).toBe(
      'nowhere: error: no such file or directory\n1 record checked: 1 error, 0 warnings, 1 not read\n',
    )
    write('empty/README', '')
    expect(metadata(['check', 'empty'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('empty: error: no records here\n'),
    })
  })

  it.each([
    // A name whose first letter is no tag of binary with eight bytes behind it: that would be binary as well.
    ['text', `${'x {'.repeat(100)} b: 1 ${'}'.repeat(100)}`],
    ['JSON', `${'{"a":'.repeat(100)}{"b":1}${'}'.repeat(100)}`],
  ])('checks those after a record that nests as deep as may be: %s', (_, deep) => {
    write('a/METADATA', deep)
    write('b/METADATA', ZLIB.replace('day: 22', 'day: 32'))
    write('c/METADATA', `${'a {'.repeat(101)}${'}'.repeat(101)}`)
    const { code, stdout } = metadata(['check', '--json', '.'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      records: 3,
      findings: [
        { path: 'a/METADATA', severity: 'warning' },
        { path: 'a/METADATA', severity: 'warning' },
        { path: 'b/METADATA', code: 'invalid_date' },
        { path: 'c/METADATA', code: 'too_deep' },
      ],
    })
  })

  it('makes of whatever goes wrong with one record a fault of that record', () => {
    expect(makeFault('a', new RangeError('out of room'))).toEqual({
      path: 'a',
      code: 'failed',
      reason: 'cannot be worked on: out of room',
    })
  })

  it('takes a record with thousands of faults', () => {
    write('METADATA', `name: "a"\nthird_party {\n${'  url { value: "a" }\n'.repeat(20_000)}}\n`)
    const { code, stdout } = metadata(['check', '-q', 'METADATA'])
    expect(code).toBe(1)
    expect(stdout.match(/\n/g)).toHaveLength(1_001)
    expect(stdout).toMatch(/^METADATA:1002:9: error: third_party\.url\[999\]\.value: /m)
    expect(stdout).toMatch(/^METADATA: error: 19000 more that are not printed \[more\]$/m)
  })
}

/** Checks more than one expects in a folder. */
export function checkingMuch(): void {
  it.each([
    ['URLs', `third_party { url: [{}${', {}'.repeat(1_390_000)}] }`],
    ['tags', `third_party { security { tag: [""${', ""'.repeat(1_000_000)}] } }`],
  ])('takes a record with a million faulty %s in a heap of 512 MB', (_, text) => {
    write('METADATA', text.replaceAll(', ', ','))
    const { code, stdout, stderr } = metadata(['check', 'METADATA'], {
      env: { NODE_OPTIONS: '--max-old-space-size=512' },
    })
    expect({ code, lines: stdout.split('\n').length, stderr: stderr.slice(0, 300) }).toEqual({
      code: 1,
      lines: 1002,
      stderr: expect.stringMatching(/^1 record checked: \d{7} errors, \d warnings\n$/),
    })
  })

  it('checks a tree of ten thousand', () => {
    for (let i = 0; i < 10_000; i++)
      write(
        `tree/${i % 100}/${i}.textproto`,
        i % 1000 === 0 ? 'name: "a"\nname: "b"\n' : ZLIB.replaceAll('zlib', `project${i}`),
      )
    const { code, stdout, stderr } = metadata(['check', 'tree'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: '10000 records checked: 10 errors, 0 warnings\n' })
    expect(stdout.match(/^tree\/0\/\d+\.textproto:2:1: error: .* \[duplicate_field\]$/gm)).toHaveLength(10)
    expect(metadata(['show', 'tree']).stdout.split('\n')).toHaveLength(9992)
  })
}

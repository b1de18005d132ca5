import {
  type DateMessage,
  dateFromISO,
  dateToISO,
  editText,
  fromDate,
  getField,
  locateField,
  locateFields,
  MetaData,
  type Problem,
  parseText,
  readMetadata,
  toDate,
  validate,
} from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('getField', () => {
  const message = parseText(`name: "zlib"
third_party {
  url { type: GIT value: "a" }
  url { }
  license_type: SPECIAL
  security { tag: "t" tag: "u" }
  last_upgrade_date { year: 2026 month: 11 }
  homepage: "h"
  identifier { type: "Git" version: "v1" primary_source: true closest: 12345678901234567890 size: 0x10 ratio: .5 kind: FOO raw: "\\377" }
  identifier { version: "v2" tag: 1 tag: 2 }
  [a.b]: 1
  [x.y/a.B] { deep { er: 1 } }
}`)

  it.each([
    ['name', 'zlib'],
    ['description', undefined],
    ['third_party.url[0].type', 'GIT'],
    ['third_party.url[1].type', undefined],
    ['third_party.url[2].type', undefined],
    ['third_party.url', [{ type: 'GIT', value: 'a' }, {}]],
    ['third_party.url[0]', { type: 'GIT', value: 'a' }],
    ['third_party.license_type', 'SPECIAL'],
    ['third_party.type', 'PACKAGE'],
    ['third_party.security', { tag: ['t', 'u'] }],
    ['third_party.security.tag[1]', 'u'],
    ['third_party.security.tag[2]', undefined],
    ['third_party.security.category', undefined],
    ['third_party.last_upgrade_date.year', 2026],
    ['third_party.last_upgrade_date', { year: 2026, month: 11 }],
    ['third_party.homepage', 'h'],
    ['third_party.homepage[0]', 'h'],
    ['third_party.homepage.x', undefined],
    ['third_party.nothing', undefined],
    ['third_party.nothing[4].at.all', undefined],
    ['third_party.identifier[0].version', 'v1'],
    ['third_party.identifier[0].primary_source', true],
    ['third_party.identifier[0].closest', 12345678901234567890n],
    ['third_party.identifier[0].size', 16],
    ['third_party.identifier[0].ratio', 0.5],
    ['third_party.identifier[0].kind', 'FOO'],
    ['third_party.identifier[0].raw', Uint8Array.of(255)],
    ['third_party.identifier[1]', { version: 'v2', tag: [1, 2] }],
    ['third_party.identifier[1].tag', [1, 2]],
    ['third_party.[a.b]', 1],
    ['third_party.[x.y/a.B].deep', { er: 1 }],
  ])('%s', (path, value) => {
    expect(getField(message, path)).toEqual(value)
  })

  it('gives a whole message by the names of text', () => {
    expect(getField(message, 'third_party')).toMatchObject({
      license_type: 'SPECIAL',
      security: { tag: ['t', 'u'] },
      identifier: [{ type: 'Git' }, { version: 'v2' }],
      homepage: 'h',
    })
    expect(getField(MetaData.create(), 'third_party.type')).toBe('PACKAGE')
    expect(getField(parseText('third_party { type: FOO }'), 'third_party.type')).toBe('FOO')
  })

  it.each([
    ['', 'is no path'],
    ['.name', 'is no path'],
    ['name.', 'is no path'],
    ['name..x', 'is no path'],
    ['na me', 'is no path'],
    ['name[x]', 'is no path'],
    ['name[-1]', 'is no path'],
    ['third_party[0', 'is no path'],
    ['[a', 'is no path'],
    ['[a..b]', 'is no path'],
    ['[a/]', 'is no path'],
    ['thirdParty.version', 'thirdParty is third_party in text'],
    [`${'a.'.repeat(200)}a`, 'more than 100 steps'],
    ['name[0]', 'name is not a list'],
    ['name.first', 'name is not a message'],
    ['third_party.url.type', 'url is a list: say which, as url[0]'],
    ['third_party.url[+]', 'there is nothing to read at [+]'],
    ['third_party.foo[+]', 'there is nothing to read at [+]'],
    ['third_party.identifier.version', 'there are 2 of identifier: say which, as identifier[0]'],
  ])('refuses %j', (path, why) => {
    expect(() => getField(message, path)).toThrowError(expect.objectContaining({ code: 'invalid_path', path }))
    expect(() => getField(message, path)).toThrowError(why)
  })
})

describe('an integer of millions of digits', () => {
  const long = '9'.repeat(1_000_000)

  it('is no value of getField, and does not keep validate from its work', () => {
    expect(getField(parseText(`a: ${'9'.repeat(10_000)}`), 'a')).toBe(10n ** 10_000n - 1n)
    for (const digits of ['9'.repeat(10_001), `-${long}`, `0x${long}`, `0${long.replaceAll('9', '7')}`])
      expect(() => getField(parseText(`a { b: ${digits} }`), 'a')).toThrowError(
        expect.objectContaining({ code: 'invalid_value' }),
      )
    const record = parseText(`third_party { identifier { version: ${long} value: ${long} } homepage: ${long} }`)
    expect(validate(record).map(({ code }) => code)).toEqual([
      'missing_name',
      'missing_license_type',
      'missing_upgrade_date',
    ])
  })

  it('is replaced by another, and left where it is the same', () => {
    expect(editText(`a: ${long} third_party { type: ${long} }`, { a: 5, 'third_party.type': 'PACKAGE' })).toBe(
      'a: 5 third_party { type: PACKAGE }',
    )
    for (const [digits, value] of [
      ['9'.repeat(5000), 10n ** 5000n - 1n],
      [`-${'9'.repeat(5000)}`, 1n - 10n ** 5000n],
      [`0x${'0'.repeat(5000)}1F`, 31],
      ['-037', -31n],
      ['-0', 0],
    ] as const) {
      expect(editText(`a: ${digits}`, { a: value })).toBe(`a: ${digits}`)
      expect(editText(`a: ${digits}`, { a: 7 })).toBe('a: 7')
    }
  })
})

describe('locateField', () => {
  const text = 'name: "x"\nthird_party {\n  url: [{ value: "a" },\n    { value: "b" }]\n  security {\n  }\n}'
  it.each([
    ['name', 1, 1],
    ['description', 1, 1],
    ['third_party', 2, 1],
    ['third_party.url[0].value', 3, 11],
    ['third_party.url[1].value', 4, 7],
    ['third_party.url[1].type', 4, 5],
    ['third_party.url[7]', 2, 1],
    ['third_party.security.tag[0]', 5, 3],
    ['third_party.version', 2, 1],
  ])('%s', (path, line, column) => {
    expect(locateField(text, path)).toEqual({ line, column })
    expect(locateFields(text, [path, 'name'])).toEqual([
      { line, column },
      { line: 1, column: 1 },
    ])
  })

  it('refuses a path or a text that is none', () => {
    expect(() => locateField(text, 'url[+]')).toThrowError(expect.objectContaining({ code: 'invalid_path' }))
    expect(() => locateField('{', 'url')).toThrowError(expect.objectContaining({ code: 'syntax' }))
    expect(locateFields('{', [])).toEqual([])
  })
})

describe('a day', () => {
  it.each(['0001-01-01', '2024-02-29', '2026-11-21', '9999-12-31'])('%s, there and back', (iso) => {
    expect(dateToISO(dateFromISO(iso))).toBe(iso)
    expect(toDate(dateFromISO(iso))?.toISOString()).toBe(`${iso}T00:00:00.000Z`)
    expect(dateToISO(fromDate(new Date(`${iso}T23:59:59.999Z`)))).toBe(iso)
  })

  it.each([
    '0000-01-01',
    '2026-02-29',
    '2026-04-31',
    '2026-13-01',
    '2026-00-01',
    '2026-1-1',
    '2026-11-21 ',
    '2026-11-21T00:00:00Z',
    '+002026-11-21',
    '',
  ])('%j is none', (text) => {
    expect(() => dateFromISO(text)).toThrowError(expect.objectContaining({ code: 'invalid_value' }))
  })

  it.each<DateMessage>([
    {},
    { year: 2026 },
    { year: 2026, month: 2, day: 30 },
    { year: 2026, month: 13, day: 1 },
    { year: -1, month: 1, day: 1 },
    { year: 10000, month: 1, day: 1 },
  ])('%j is none', (date) => {
    expect(dateToISO(date)).toBeUndefined()
    expect(toDate(date)).toBeUndefined()
  })

  it('of a moment outside the calendar is refused', () => {
    for (const moment of [Number.NaN, 8.64e15, -8.64e15])
      expect(() => fromDate(new Date(moment))).toThrowError(expect.objectContaining({ code: 'invalid_value' }))
  })
})

describe('readMetadata', () => {
  const text = 'name: "x"'
  const binary = MetaData.encode(MetaData.create({ name: 'x' }))

  it.each<[string, string | Uint8Array, string]>([
    ['text', text, 'text'],
    ['bytes of text', utf8(text), 'text'],
    ['text after blanks and a comment', '\n # {\n name: "x"', 'text'],
    ['JSON', '{"name":"x"}', 'json'],
    ['bytes of JSON after blanks', utf8('\n {"name": "x"}'), 'json'],
    ['JSON after a byte order mark', utf8('\ufeff{"name": "x"}'), 'json'],
    ['binary', binary, 'binary'],
  ])('tells %s', (_, input, format) => {
    expect(readMetadata(input)).toEqual({ format, metadata: { name: 'x' } })
  })

  it('tells binary that looks like text', () => {
    const name = 'n'.repeat(0x20)
    expect(readMetadata(utf8(`\n ${name}`))).toMatchObject({ format: 'binary', metadata: { name } })
    expect(readMetadata(new Uint8Array())).toEqual({ format: 'text', metadata: {} })
    expect(readMetadata(Uint8Array.of(0x0a, 2, 0xc3, 0xa9)).metadata.name).toBe('é')
    expect(readMetadata(Uint8Array.of(0x7a, 1, 0xff)).format).toBe('binary')
  })

  it.each([
    ['text', `\n a: "${'x'.repeat(0x20 - 5)}"`],
    ['text', `\n name: "${'x'.repeat(0x20 - 8)}"`.repeat(2)],
    ['text', `\n#${'x'.repeat(0x23)}`],
    ['text', '  '],
    // A control character in a comment makes it more like binary.
    ['text', `\n #\x01${'x'.repeat(0x20 - 2)}`],
    ['json', `\n{"name": "${'x'.repeat(0x7b - 11)}"}`],
  ] as const)('refuses bytes that are good as binary and as %s, unless it is told which: %j', (form, source) => {
    const bytes = utf8(source)
    for (const options of [{}, { strict: true }, { enumAliases: {} }, { duplicates: 'last' }] as const)
      expect(() => readMetadata(bytes, options)).toThrowError(expect.objectContaining({ code: 'ambiguous_format' }))
    expect(() => readMetadata(bytes)).toThrowError(
      /^the input is good as (?:binary|text|json) and as (?:binary|text|json): /,
    )
    expect(readMetadata(bytes, { format: 'binary' })).toEqual({ format: 'binary', metadata: MetaData.decode(bytes) })
    expect(readMetadata(bytes, { format: form, duplicates: 'last' }).format).toBe(form)
    // A string is no binary.
    expect(readMetadata(source, { duplicates: 'last' }).format).toBe(form)
  })

  it('reads the format that it is told, and no other', () => {
    expect(() => readMetadata(binary, { format: 'text' })).toThrowError(expect.objectContaining({ code: 'syntax' }))
    expect(() => readMetadata(utf8('{}'), { format: 'text' })).toThrowError(expect.objectContaining({ code: 'syntax' }))
    expect(() => readMetadata('name: "x"', { format: 'json' })).toThrowError(
      expect.objectContaining({ code: 'invalid_json' }),
    )
    expect(() => readMetadata('name: "x"', { format: 'binary' })).toThrowError('should be a Uint8Array')
    expect(() => readMetadata('', { format: 'xml' as never })).toThrow(
      new TypeError(`the option format must be 'binary' or 'json' or 'text'; got "xml"`),
    )
  })

  it('says of broken input what is wrong with the form that it is most like', () => {
    const codeOf = (input: string | Uint8Array): unknown => {
      try {
        return readMetadata(input)
      } catch (error) {
        return error
      }
    }
    expect(codeOf('name: ')).toMatchObject({ code: 'syntax', line: 1, column: 7 })
    expect(codeOf(utf8('name: '))).toMatchObject({ code: 'syntax', line: 1, column: 7 })
    expect(codeOf(Uint8Array.of(0x0a, 5, 0x61))).toMatchObject({ code: 'invalid_length' })
    expect(codeOf(Uint8Array.from(Buffer.from('# caf\xe9\nname: "x"', 'latin1')))).toMatchObject({
      code: 'invalid_utf8',
      line: 1,
      column: 6,
    })
    expect(codeOf(Uint8Array.of(0x0a, 2, 0xc3, 0x28))).toMatchObject({ code: 'invalid_utf8' })
    expect(codeOf('{"name": "x",\n "a": }')).toMatchObject({ code: 'invalid_json' })
    expect(codeOf('{"name": "x",\n "a": 01}')).toMatchObject({ code: 'invalid_json', line: 2, column: 8 })
    expect(codeOf('{"name": 5}')).toMatchObject({ code: 'invalid_value', path: 'name' })
  })

  it('takes the options of each form', () => {
    expect(() => readMetadata('{"homepage": "x"}', { strict: true })).toThrowError(
      expect.objectContaining({ code: 'unknown_field' }),
    )
    expect(() => readMetadata('homepage: "x"', { strict: true })).toThrowError(
      expect.objectContaining({ code: 'unknown_field' }),
    )
    for (const input of [text, '{"name":"x"}', binary])
      expect(() => readMetadata(input, { maxBytes: 2 })).toThrowError(expect.objectContaining({ code: 'too_large' }))
  })
})

describe('validate', () => {
  const complete = `name: "zlib" description: "d"
    third_party { url { type: GIT value: "https://x/y" } version: "1" license_type: NOTICE last_upgrade_date { year: 2026 month: 11 day: 21 } }`
  const problems = (text: string): string[] =>
    validate(parseText(text)).map(({ severity, path, code }) => `${severity} ${path} ${code}`)
  const within = (body: string): string[] =>
    problems(`name: "x" third_party { ${body} }`).filter((problem) => problem.startsWith('error'))

  it('finds nothing in a record that is good and complete', () => {
    expect(problems(complete)).toEqual([])
  })

  it('lists what an empty record lacks, as warnings', () => {
    expect(problems('')).toEqual(['warning name missing_name', 'warning third_party missing_third_party'])
    expect(problems('name: "x" third_party {}')).toEqual([
      'warning third_party.url missing_url',
      'warning third_party.version missing_version',
      'warning third_party.license_type missing_license_type',
    ])
    expect(problems('name: "x" third_party { version: "1" }')).toContain(
      'warning third_party.last_upgrade_date missing_upgrade_date',
    )
  })

  it.each([
    ['year: 2026 month: 2 day: 30', 'third_party.last_upgrade_date'],
    ['year: 2026 month: 13 day: 1', 'third_party.last_upgrade_date.month'],
    ['year: 2026 month: 0 day: 1', 'third_party.last_upgrade_date.month'],
    ['year: 2026 month: 1 day: 0', 'third_party.last_upgrade_date'],
    ['year: 0 month: 1 day: 1', 'third_party.last_upgrade_date'],
    ['year: 2026 month: 1', 'third_party.last_upgrade_date.day'],
    ['month: 1 day: 1', 'third_party.last_upgrade_date.year'],
    ['year: 1 day: 1', 'third_party.last_upgrade_date.month'],
  ])('finds a date that does not exist: %s', (date, path) => {
    expect(within(`version: "1" last_upgrade_date { ${date} }`)).toEqual([`error ${path} invalid_date`])
  })

  it('finds an upgrade date without a version', () => {
    expect(within('last_upgrade_date { year: 2026 month: 11 day: 21 }')).toEqual([
      'error third_party.version missing_version',
    ])
    expect(within('last_upgrade_date { year: 2026 month: 11 day: 21 } identifier { version: "1" }')).toEqual([])
  })

  it.each([
    ['type: GIT value: "git@host.example:a/b.git"', []],
    ['type: GIT value: "ssh://git@host.example/a"', []],
    ['type: OTHER value: "file:///a"', []],
    ['type: INTERNAL_VCS value: "//depot/a"', []],
    ['value: "https://é.example/"', []],
    [`value: "https://example.com/${'\u0301'.repeat(5000)}"`, []],
    [`value: "https://${'u'.repeat(500)}@example.com?${'a'.repeat(5000)}"`, []],
    [`value: "file:///${'a'.repeat(5000)}"`, []],
    [`value: "https://${'a'.repeat(1024)}/"`, ['invalid_url']],
    ['type: HOMEPAGE value: "git@host.example:a"', ['invalid_url']],
    ['type: GIT value: "github.com/a/b"', ['invalid_url']],
    ['type: GIT value: "https://x/a b"', ['invalid_url']],
    ['type: GIT value: "https://x/\\n"', ['invalid_url']],
    ['type: ARCHIVE value: "https:///"', ['invalid_url']],
    ['type: INTERNAL_VCS value: " "', ['invalid_url']],
    ['type: GIT value: "mailto:a@b.c"', ['invalid_url']],
    ['type: GIT value: ""', ['invalid_url']],
    ['type: GIT', ['missing_value']],
  ])('knows a URL from what is none: %s', (url, codes) => {
    expect(within(`url { ${url} }`)).toEqual(codes.map((code) => `error third_party.url[0].value ${code}`))
  })

  it('finds texts without content, and names of enums that are not known', () => {
    expect(
      problems(`name: "" description: " " third_party { url { type: X value: "https://x" } version: "" license_type: X license_note: "" local_modifications: "\\t"
        security { category: X note: "" tag: "a" tag: "" mitigated_security_patch: " " } type: X last_upgrade_date { year: 2026 month: 11 day: 21 } }`),
    ).toEqual([
      'error name empty',
      'error description empty',
      'warning third_party.url[0].type unknown_enum_value',
      'error third_party.version empty',
      'warning third_party.license_type unknown_enum_value',
      'error third_party.license_note empty',
      'error third_party.local_modifications empty',
      'warning third_party.security.category unknown_enum_value',
      'error third_party.security.note empty',
      'error third_party.security.tag[1] empty',
      'error third_party.security.mitigated_security_patch[0] empty',
      'warning third_party.type unknown_enum_value',
    ])
  })

  it('counts addresses and versions where the schema does not have them', () => {
    expect(
      problems(
        `name: "x" third_party { license_type: NOTICE last_upgrade_date { year: 2026 month: 11 day: 21 } identifier { value: "https://x" version: "1" } identifier { type: "y" } }`,
      ),
    ).toEqual([])
    expect(problems('name: "x" third_party { homepage: "https://x" identifier: "odd" }')).toEqual([
      'warning third_party.version missing_version',
      'warning third_party.license_type missing_license_type',
    ])
  })

  it('says it in one line, and refuses what is no record', () => {
    const [problem] = validate(parseText('third_party { url { value: "a\\nb" } }')).filter(
      ({ code }) => code === 'invalid_url',
    ) satisfies Problem[]
    expect(problem?.message).toBe('"a\\nb" is no URL')
    expect(() => validate({ name: 5 } as never)).toThrowError(expect.objectContaining({ code: 'invalid_value' }))
  })
})

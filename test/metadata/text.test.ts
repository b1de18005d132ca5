import {
  DirectoryType,
  formatText,
  LicenseType,
  MetaData,
  MetadataError,
  type ParseTextOptions,
  parseText,
  UrlType,
} from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'

const thirdParty = (body: string, options?: ParseTextOptions) =>
  parseText(`third_party {\n${body}\n}`, options).thirdParty
const failure = (text: string | Uint8Array, options?: ParseTextOptions): MetadataError => {
  try {
    parseText(text, options)
  } catch (error) {
    // Another error than this is a fault of the codec, which the test then shows.
    if (error instanceof MetadataError) return error
    throw error
  }
  throw new Error(`not refused: ${text}`)
}

describe('parseText reads', () => {
  it('the canonical form', () => {
    const text = `name: "zlib"
description: "A \\"library\\" of Jean-loup\\'s."
third_party {
  url {
    type: GIT
    value: "https://github.com/madler/zlib"
  }
  version: "1.3.1"
  license_type: NOTICE
  security {
    category: SANDBOXED_ONLY
    tag: "NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.1"
    mitigated_security_patch: "CVE-1"
    mitigated_security_patch: "CVE-2"
  }
  last_upgrade_date {
    year: 2026
    month: 11
    day: 21
  }
  type: VENDOR_INTERNAL
}
`
    const message = parseText(text)
    expect(message).toEqual(
      MetaData.create({
        name: 'zlib',
        description: 'A "library" of Jean-loup\'s.',
        thirdParty: {
          url: [{ type: UrlType.GIT, value: 'https://github.com/madler/zlib' }],
          version: '1.3.1',
          licenseType: LicenseType.NOTICE,
          security: {
            category: 1,
            tag: ['NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.1'],
            mitigatedSecurityPatch: ['CVE-1', 'CVE-2'],
          },
          lastUpgradeDate: { year: 2026, month: 11, day: 21 },
          type: DirectoryType.VENDOR_INTERNAL,
        },
      }),
    )
    expect(formatText(message)).toBe(text)
  })

  it.each([
    ['comments anywhere', '#a\nname#b\n:#c\n"x"#d\n#e', { name: 'x' }],
    ['no text at all', '', {}],
    ['blanks of every kind', '\t\v\f\r\nname\r:\v"x"', { name: 'x' }],
    ['a colon before a message', 'third_party: {}', { thirdParty: { url: [] } }],
    ['angle brackets', 'third_party < url: <value: "a"> >', { thirdParty: { url: [{ value: 'a' }] } }],
    [
      'lists of messages',
      'third_party { url [{value: "a"}, <>] url {value: "c"} }',
      { thirdParty: { url: [{ value: 'a' }, {}, { value: 'c' }] } },
    ],
    [
      'lists of scalars',
      'third_party { security { tag: ["a" "b", \'c\'] tag: [] } }',
      { thirdParty: { url: [], security: { tag: ['ab', 'c'], mitigatedSecurityPatch: [] } } },
    ],
    ['separators', 'name: "a", description: "b";', { name: 'a', description: 'b' }],
    ['adjacent strings', 'name: "a"\'b\' # c\n "c"', { name: 'abc' }],
    [
      'nothing between tokens',
      'name:"a"description:"b"third_party{}',
      { name: 'a', description: 'b', thirdParty: { url: [] } },
    ],
    ['named escapes', String.raw`name: "\a\b\f\n\r\t\v\?\\\'\""`, { name: '\x07\b\f\n\r\t\v?\\\'"' }],
    [
      'octal escapes',
      String.raw`name: "\1\12\1234\0\303\251\477"`.replace('\\477', '\\47\\7'),
      { name: "\x01\nS4\0é'\x07" },
    ],
    ['hexadecimal escapes', String.raw`name: "\x4a\x4\xc3\xA94"`, { name: 'J\x04é4' }],
    ['code points', String.raw`name: "\u00e9\U0001f600\U0010ffff"`, { name: 'é😀\u{10ffff}' }],
    ['bytes of one character in two strings', String.raw`name: "\303" "\251"`, { name: 'é' }],
    ['digits after an escape in the next string', String.raw`name: "\1" "2"`, { name: '\x012' }],
    ['what is not ASCII', 'name: "é😀"', { name: 'é😀' }],
    ['a comment that is not closed by a newline', 'name: "x" # c', { name: 'x' }],
  ])('%s', (_, text, expected) => {
    expect(parseText(text)).toEqual(expected)
    expect(parseText(text, { strict: true })).toEqual(expected)
    expect(parseText(new TextEncoder().encode(text))).toEqual(expected)
  })

  it.each([
    ['0', 0],
    ['-0', -0],
    ['007', 7],
    ['-010', -8],
    ['0x1F', 31],
    ['0X1f', 31],
    ['-0x80000000', -(2 ** 31)],
    ['2147483647', 2 ** 31 - 1],
    ['-2147483648', -(2 ** 31)],
  ])('the integer %s', (text, value) => {
    expect(thirdParty(`last_upgrade_date { year: ${text} }`)?.lastUpgradeDate?.year).toBe(value + 0)
  })

  it('an enum by its number', () => {
    expect(thirdParty('type: 4 license_type: 0x2 url { type: 013 }')).toMatchObject({
      type: 4,
      licenseType: 2,
      url: [{ type: 11 }],
    })
  })
})

describe('parseText refuses, with line, column and what was expected,', () => {
  it.each([
    ['a prose line on top', 'This is zlib.\nname: "x"', 1, 6, '":" or "{"'],
    ['a string that is not closed', 'name: "x"\ndescription: "abc\nthird_party {}\n', 2, 14, 'a closing "'],
    ['a missing colon', 'third_party {\n  version "1"\n}', 2, 11, '":" or "{"'],
    ['a missing brace', 'third_party {\n  version: "1"\n', 3, 1, 'a field name or "}"'],
    ['a brace too many', 'name: "x"\n}', 2, 1, 'a field name'],
    ['brackets of two kinds', 'third_party <}', 1, 14, 'a field name or ">"'],
    ['a missing value', 'name:\n', 2, 1, 'a value'],
    ['a string for a number', 'third_party { last_upgrade_date { year: "1" } }', 1, 41, 'an integer'],
    ['a fraction for an integer', 'third_party { last_upgrade_date { year: 1.0 } }', 1, 41, 'an integer'],
    ['a number for a string', 'name: 5', 1, 7, 'a string'],
    ['a name for a string', 'name: x', 1, 7, 'a string'],
    ['a message for a string', 'name { }', 1, 6, 'a string'],
    ['a scalar for a message', 'third_party: 1', 1, 14, '"{"'],
    ['a scalar in a list of messages', 'third_party { url: [{}, 1] }', 1, 25, '"{"'],
    ['a list for one value', 'name: ["x"]', 1, 7, 'a string'],
    ['a list for one message', 'third_party: [{}]', 1, 14, '"{"'],
    ['a list that ends in a comma', 'third_party { url: [{},] }', 1, 24, 'a value'],
    ['a list without commas', 'third_party { url: [{} {}] }', 1, 24, '"," or "]"'],
    ['a list of scalars without a colon', 'third_party { security { tag ["a"] } }', 1, 31, '":" or "{"'],
    ['two separators', 'name: "x",,', 1, 11, 'a field name'],
    ['a separator first', ';', 1, 1, 'a field name'],
    ['a field number', '1: "x"', 1, 1, 'a field name'],
    ['a quoted name', '"name": "x"', 1, 1, 'a field name'],
    ['a byte order mark', '\ufeffname: "x"', 1, 1, 'a field name'],
    ['a comment of another language', '// c', 1, 1, 'a field name'],
    ['an escape that is none', 'name: "a\\q"', 1, 9, undefined],
    ['an octal escape past a byte', 'name: "\\400"', 1, 8, undefined],
    ['a surrogate escape', 'name: "\\ud83d\\ude00"', 1, 8, undefined],
    ['a code point past Unicode', 'name: "\\U00110000"', 1, 8, undefined],
    ['half an escape', 'name: "\\x"', 1, 8, undefined],
    ['a backslash before a line end', 'name: "\\\n"', 1, 8, undefined],
    ['an enum in quotes', 'third_party { type: "PACKAGE" }', 1, 21, 'a value of DirectoryType'],
    ['a minus before a blank', 'third_party { last_upgrade_date { year: - 1 } }', 1, 42, 'a number right after "-"'],
    ['a minus before a name', 'third_party { type: -PACKAGE }', 1, 22, 'a number'],
    ['a minus before infinity, for an enum', 'third_party { type: -inf }', 1, 21, 'a value of DirectoryType'],
    ['a plus', 'third_party { last_upgrade_date { year: +1 } }', 1, 41, 'a value'],
    ['a missing bracket', '[foo.bar: 1', 1, 9, '"]"'],
    ['an empty extension', '[]: 1', 1, 2, 'the name of an extension or of a type'],
  ])('%s', (_, text, line, column, expected) => {
    const error = failure(text)
    expect(error).toMatchObject({ code: 'syntax', line, column })
    expect(error.message).toMatch(new RegExp(`^${line}:${column}: `))
    expect(error.expected).toBe(expected ?? error.expected)
    expect(error.message).toContain(error.expected)
    expect(
      text
        .split('\n')
        .slice(0, line - 1)
        .join('\n').length +
        (line > 1 ? 1 : 0) +
        column -
        1,
    ).toBe(error.offset)
  })

  it('a message that is not closed, with the line of its bracket', () => {
    const text = 'third_party {\n  url {\n    type: GIT\n  version: "1"\n}\n'
    expect(failure(text).message).toBe('6:1: expected a field name or "}", for the "{" of line 1, found the end')
    expect(failure('a <\n').message).toBe('2:1: expected a field name or ">", for the "<" of line 1, found the end')
  })

  it.each(['08', '0x', '1_0', '0b1', '1month', '1.5.2', '0x1.0', '01e5', '1e', '5.e'])('the number %s', (number) => {
    expect(failure(`third_party { last_upgrade_date { year: ${number} } }`)).toMatchObject({
      code: 'syntax',
      line: 1,
      column: 41,
    })
  })

  it.each(['2147483648', '-2147483649', '0x80000000', '99999999999999999999999'])('the integer %s', (number) => {
    expect(failure(`third_party {\nlast_upgrade_date { year: ${number} } }`)).toMatchObject({
      code: 'out_of_range',
      line: 2,
      column: 27,
    })
    expect(failure(`third_party { type: ${number} }`)).toMatchObject({ code: 'out_of_range' })
  })

  it.each([
    ['NUL', 'name: "\0"', 'syntax', 8],
    ['NUL in a comment', '#\0', 'syntax', 2],
    ['a control character', 'name\x01: "x"', 'syntax', 5],
    ['a blank that is not ASCII', 'name:\u00a0"x"', 'syntax', 6],
    ['a name that is not ASCII', 'né: 1', 'syntax', 2],
    ['a lone surrogate', 'name: "\ud800"', 'invalid_utf8', 8],
    ['bytes of a string that are not UTF-8', String.raw`name: "\xff"`, 'invalid_utf8', 7],
  ])('%s', (_, text, code, column) => {
    expect(failure(text)).toMatchObject({ code, line: 1, column })
  })

  it('bytes that are not UTF-8, in comments too', () => {
    expect(failure(Uint8Array.from(Buffer.from('name: "x"\n# caf\xe9 \n', 'latin1')))).toMatchObject({
      code: 'invalid_utf8',
      line: 2,
      column: 6,
    })
    expect(failure(Uint8Array.of(0xff))).toMatchObject({ code: 'invalid_utf8', line: 1, column: 1, offset: 0 })
  })

  it('more than it may read', () => {
    expect(failure('name: "x"', { maxBytes: 8 })).toMatchObject({ code: 'too_large' })
    expect(parseText('name: "x"', { maxBytes: 9 }).name).toBe('x')
    expect(failure(new Uint8Array(4_194_305))).toMatchObject({ code: 'too_large' })
  })

  it('messages nested more than 100 deep, and comes to an end', () => {
    const nested = (depth: number): string => `${'a{'.repeat(depth)}${'}'.repeat(depth)}`
    expect(formatText(parseText(nested(100)))).toContain('a {')
    expect(failure(nested(101))).toMatchObject({ code: 'too_deep', column: 202 })
    expect(failure('a{'.repeat(1_000_000))).toMatchObject({ code: 'too_deep' })
    expect(failure('a:['.repeat(1_000_000))).toMatchObject({ code: 'syntax' })
  })

  it('a field that comes twice', () => {
    expect(failure('name: "a"\nname: "b"')).toMatchObject({ code: 'duplicate_field', line: 2, column: 1 })
    expect(failure('third_party {} third_party {}')).toMatchObject({ code: 'duplicate_field', column: 16 })
    expect(failure('third_party { type: FOO type: PACKAGE }')).toMatchObject({ code: 'duplicate_field', column: 25 })
    expect(failure('third_party { type: PACKAGE type: FOO }')).toMatchObject({ code: 'duplicate_field', column: 29 })
  })
})

describe('with duplicates: last, parseText takes', () => {
  const duplicates = 'last'
  it('the last value, and merges messages', () => {
    expect(
      parseText('name: "a" name: "b" third_party { version: "1" url {} } third_party { url {} }', { duplicates }),
    ).toEqual(MetaData.create({ name: 'b', thirdParty: { version: '1', url: [{}, {}] } }))
  })

  it('the last name of an enum, known or not', () => {
    expect(thirdParty('type: FOO type: PACKAGE', { duplicates })).toEqual({ url: [], type: 1 })
    expect(thirdParty('type: PACKAGE type: FOO', { duplicates })).toEqual({
      url: [],
      _unknownText: [{ name: 'type', text: 'FOO' }],
    })
    expect(thirdParty('type: FOO type: BAR', { duplicates })).toEqual({
      url: [],
      _unknownText: [{ name: 'type', text: 'BAR' }],
    })
  })
})

describe('what the schema does not know', () => {
  const text = `third_party {
  type: GOOGLE
  homepage: "https://zlib.net/"
  identifier {
    type: "Git"
    version: "v1.3.1"
    primary_source: true
    count: 0x1F
    ratio: -1.5e3f
    nothing: -inf
    raw: "\\377\\'"
  }
  [package.extension]: NAME
  [type.googleapis.com/some.Message] {
    list: 1
    list: 2
  }
}
`
  it('is kept and written back in canonical form', () => {
    expect(formatText(parseText(text))).toBe(text)
    const loose = `third_party { homepage: 'https://' "zlib.net/", type: 0x7 identifier: [{ a: ["x", 'y'] }, < >]; [ a . b / c ]: [] }`
    expect(formatText(parseText(loose))).toBe(`third_party {
  type: 0x7
  homepage: "https://zlib.net/"
  identifier {
    a: "x"
    a: "y"
  }
  identifier {
  }
}
`)
  })

  it('stands beside what it knows', () => {
    expect(thirdParty('homepage: \'a\' "b" x { y: 1 }')).toEqual({
      url: [],
      _unknownText: [
        { name: 'homepage', text: `'a' "b"` },
        { name: 'x', fields: [{ name: 'y', text: '1' }] },
      ],
    })
  })

  it('gives way to a value that the program sets', () => {
    const message = parseText('third_party { type: FOO }')
    if (message.thirdParty !== undefined) message.thirdParty.type = DirectoryType.PACKAGE
    expect(formatText(message)).toBe('third_party {\n  type: PACKAGE\n}\n')
  })

  it.each([
    ['a field', 'name: "x"\nhomepage: "x"', 'unknown_field', 2, 1],
    ['a field within one that is known', 'third_party { homepage: "x" }', 'unknown_field', 1, 15],
    ['an extension', '[a.b]: 1', 'unknown_field', 1, 1],
    ['a name of an enum', 'third_party { type: GOOGLE }', 'unknown_enum_value', 1, 21],
    ['a number of an enum', 'third_party { type: 2 }', 'unknown_enum_value', 1, 21],
  ])('is refused when strict: %s', (_, source, code, line, column) => {
    expect(failure(source, { strict: true })).toMatchObject({ code, line, column })
    expect(() => parseText(source)).not.toThrow()
  })

  it('that a program made up is refused when it is no text format', () => {
    const refused = [
      { name: 'a b', text: '1' },
      { name: 'a', text: '1 b: 2' },
      { name: 'a', text: '"x' },
      { name: 'a', text: '1 # comment' },
      { name: 'a', text: '[1]' },
      { name: 'a', text: '{}' },
      { name: 'a', text: '' },
      { name: 'a' },
      { name: 'a {} b', fields: [] },
      { name: 'a', fields: [{ name: '1', text: '1' }] },
    ]
    for (const entry of refused)
      expect(() => formatText(MetaData.create({ _unknownText: [entry] })), JSON.stringify(entry)).toThrowError(
        expect.objectContaining({ code: 'invalid_value' }),
      )
    expect(formatText(MetaData.create({ _unknownText: [{ name: 'a', text: "'x' # c\n 'y'" }] }))).toBe('a: "xy"\n')
  })
})

describe('enumAliases', () => {
  const enumAliases = { 'URL.Type': { PIPER: 'INTERNAL_VCS' }, DirectoryType: { GOOGLE: 'VENDOR_INTERNAL' } } as const
  const text = 'third_party {\n  url {\n    type: PIPER\n  }\n  type: GOOGLE\n}\n'

  it('are read, beside the names of the schema, and written', () => {
    const message = parseText(text, { enumAliases, strict: true })
    expect(message).toEqual(
      MetaData.create({ thirdParty: { url: [{ type: UrlType.INTERNAL_VCS }], type: DirectoryType.VENDOR_INTERNAL } }),
    )
    expect(formatText(message, { enumAliases })).toBe(text)
    expect(formatText(message)).toBe(text.replace('PIPER', 'INTERNAL_VCS').replace('GOOGLE', 'VENDOR_INTERNAL'))
    expect(thirdParty('type: VENDOR_INTERNAL', { enumAliases })?.type).toBe(4)
  })

  it('that cannot be are a mistake of the program', () => {
    const wrong = [
      { Kind: {} },
      { 'URL.Type': { A: 'NOTHING' } },
      { 'URL.Type': { GIT: 'SVN' } },
      { 'URL.Type': { 'a b': 'SVN' } },
      { 'URL.Type': { A: 'toString' } },
    ]
    for (const aliases of wrong) expect(() => parseText('', { enumAliases: aliases as never })).toThrow(TypeError)
    expect(thirdParty('type: toString', { enumAliases: { DirectoryType: {} } })?.type).toBeUndefined()
  })

  it('of which several mean one value are written as the first', () => {
    const message = MetaData.create({ thirdParty: { type: DirectoryType.PACKAGE } })
    expect(formatText(message, { enumAliases: { DirectoryType: { A: 'PACKAGE', B: 'PACKAGE' } } })).toContain(
      'type: A\n',
    )
  })
})

describe('formatText', () => {
  it('escapes as the reference does, or leaves UTF-8 as it is', () => {
    const message = MetaData.create({ name: '\0\x07\t\n\r\x1f "\'\\\x7f?é\u0085😀' })
    expect(formatText(message)).toBe(
      `name: ${String.raw`"\000\007\t\n\r\037 \"\'\\\177?\303\251\302\205\360\237\230\200"`}\n`,
    )
    expect(formatText(message, { utf8: true })).toBe(`name: ${String.raw`"\000\007\t\n\r\037 \"\'\\\177?é`}\u0085😀"\n`)
  })

  it('prints unknown fields of binary by number, as the reference does, or leaves them out', () => {
    const decode = (hex: string) => MetaData.decode(Uint8Array.from(Buffer.from(hex, 'hex')))
    const message = decode(
      '0a0178 7805 7d01000080 790100000000000080 7a020801 7a01ff 7a00 7b08017c 78ffffffffffffffffff01'.replaceAll(
        ' ',
        '',
      ),
    )
    expect(formatText(message)).toBe(`name: "x"
15: 5
15: 0x80000001
15: 0x8000000000000001
15 {
  1: 1
}
15: "\\377"
15: ""
15 {
  1: 1
}
15: 18446744073709551615
`)
    expect(formatText(message, { unknownFields: 'omit' })).toBe('name: "x"\n')
    expect(formatText(decode('7a1c7a1a7a187a167a147a127a107a0e7a0c7a0a7a087a067a047a020801'))).toContain(
      `${' '.repeat(20)}15: "z\\006z\\004z\\002\\010\\001"\n`,
    )
  })

  it('refuses what is no record', () => {
    expect(() => formatText({ name: 5 } as never)).toThrowError(
      expect.objectContaining({ code: 'invalid_value', path: 'name' }),
    )
    expect(() => formatText('' as never)).toThrowError(expect.objectContaining({ code: 'invalid_value' }))
  })
})

describe('formatText, of what it would repeat,', () => {
  it('refuses the name of a list with so many values that nobody could read the text', () => {
    const record = (values: number) => parseText(`${'a'.repeat(30_000)}: [0${', 0'.repeat(values)}]`)
    expect(formatText(record(100)).length).toBeGreaterThan(3_000_000)
    expect(() => formatText(record(10_000))).toThrowError(expect.objectContaining({ code: 'too_large' }))
    const blocks = parseText(`${'a'.repeat(30_000)}: [{}${', {}'.repeat(10_000)}]`)
    expect(() => formatText(blocks)).toThrowError(expect.objectContaining({ code: 'too_large' }))
  })
})

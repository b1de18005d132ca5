/** Text format and JSON, there and back: an equal record, or a refusal that names the field. */
import * as fc from 'fast-check'
import {
  formatJson,
  formatText,
  getField,
  MetaData,
  MetadataError,
  parseText,
  readMetadata,
  type UnknownText,
} from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'
import { anyMessage } from './arbitraries.js'

type Meaning = readonly [name: string, kind: string, value: unknown]

/** Each value by its kind of literal, however it is spelt; names in one order, since only the order within a name counts. */
function meaningOf(entries: readonly UnknownText[] = []): readonly Meaning[] {
  const meanings = entries.map(({ name, text = '', fields }): Meaning => {
    if (fields !== undefined) return [name, 'message', meaningOf(fields)]
    const kind = /^["']/.test(text)
      ? 'string'
      : /^-?[A-Za-z_]/.test(text)
        ? 'name'
        : /^-?(?:0[xX]|[0-9]+$)/.test(text)
          ? 'integer'
          : 'fraction'
    const value = kind === 'name' ? text : getField(MetaData.create({ _unknownText: [{ name: 'x', text }] }), 'x')
    return [name, kind, value]
  })
  return meanings.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}

/** A record with what it keeps of unknown fields by their meaning. */
function recordOf(message: object): unknown {
  const entries = Object.entries(message).map(([key, value]): [string, unknown] => {
    if (key === '_unknownText') return [key, meaningOf(value)]
    if (Array.isArray(value))
      return [key, value.map((item) => (typeof item === 'object' && item !== null ? recordOf(item) : item))]
    return [key, typeof value === 'object' && value !== null ? recordOf(value) : value]
  })
  return Object.fromEntries(entries)
}

/** Every kind of literal that the language has (text format language specification, "Literals"). */
const literal: fc.Arbitrary<string> = fc.oneof(
  fc.bigInt().map(String),
  fc
    .integer({ min: 0, max: 2 ** 32 })
    .chain((n) => fc.constantFrom(`0${n.toString(8)}`, `0x${n.toString(16)}`, `-0X${n.toString(16)}`)),
  fc.double().map((n) => (Number.isNaN(n) ? 'nan' : !Number.isFinite(n) ? (n < 0 ? '-inf' : 'inf') : String(n))),
  fc
    .tuple(fc.constantFrom('', '-'), fc.constantFrom('1', '0', '1.', '.5', '1.0', '10.25', '123456789012345678901'))
    .chain(([sign, digits]) =>
      fc
        .tuple(fc.constantFrom('', 'e3', 'E-3', 'e+400', 'e-400'), fc.constantFrom('', 'f', 'F'))
        .map(([exponent, suffix]) => `${sign}${digits}${exponent}${suffix}`),
    ),
  fc.constantFrom(
    'FOO',
    'true',
    'false',
    'True',
    't',
    'inf',
    '-inf',
    '-INFINITY',
    'nan',
    'null',
    '_',
    '0',
    '-0',
    '-0.0',
    '00',
    '-00',
  ),
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text.replace(/[\ud800-\udfff\u007f]|[^\P{C}\n]/gu, ''))),
  fc.constantFrom(
    '"\\377"',
    '\'\\xfe\' "b"',
    '"a" \'b\'',
    '"\\u00e9\\U0001f600"',
    '""',
    '"\\000"',
    '"FOO"',
    '"1"',
    '"true"',
  ),
)
const name = fc.constantFrom('homepage', 'identifier', '[a.b]', '[x.y/a.B]', '__proto__', 'toString', 'x')
const { fields } = fc.letrec<{ field: string; fields: string }>((tie) => ({
  field: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(name, literal).map(([key, value]) => `${key}: ${value}`),
    fc.tuple(name, fc.array(literal, { maxLength: 3 })).map(([key, values]) => `${key}: [${values.join(', ')}]`),
    fc.tuple(name, tie('fields')).map(([key, inner]) => `${key} {\n${inner}\n}`),
  ),
  fields: fc.array(tie('field'), { maxLength: 4 }).map((all) => all.join('\n')),
}))
const text = fc
  .tuple(anyMessage, fields, fields, fc.option(fc.constantFrom('FOO', '99', '-7', '0x63')))
  .map(([message, outer, inner, license]) => {
    const { thirdParty, ...rest } = MetaData.create(message)
    const { licenseType, ...project } = thirdParty ?? MetaData.fromJSON({ thirdParty: {} }).thirdParty ?? { url: [] }
    const known = formatText(
      MetaData.create({ ...rest, thirdParty: { ...project, ...(license === null && { licenseType }) } }),
    )
    const more = `${license === null ? '' : `license_type: ${license}\n`}${inner}\n}\n`
    return `${known.replace(/\}\n$/, '')}${more}${outer}\n`
  })

/** Whether an error says which value is refused. */
function namesValue({ code, path = '', message }: MetadataError): boolean {
  return code === 'invalid_value' && /\w/.test(path) && (message.startsWith('the key ') || message.includes(path))
}

/** What came back, or nothing where it was refused as it must be. */
function exchanged(there: () => unknown): unknown {
  try {
    return there()
  } catch (error) {
    if (error instanceof MetadataError && namesValue(error)) return undefined
    throw error
  }
}

/** Decimal numbers with more digits than a number of JavaScript has, by their significant digits and the power of ten. */
const anyDigits = fc
  .tuple(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.integer({ min: -400, max: 400 }))
  .filter(([digits]) => digits !== 0n)

/** The significant digits and the power of ten of a decimal number. */
function digitsOf(source: string): readonly [bigint, number] {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d*))?(?:e(.*))?$/i.exec(source) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const shown = digits.replace(/0+$/, '')
  return [BigInt(`${sign}${shown || '0'}`), Number(exponent) - fraction.length + digits.length - shown.length]
}

/** The digits that a record has as `x`. */
function digitsIn({ _unknownText: [entry] = [] }: MetaData): readonly [bigint, number] {
  return digitsOf(entry?.text ?? '')
}

describe('the digits of a number', () => {
  it('are those of the text, through JSON as text and back', () => {
    fc.assert(
      fc.property(anyDigits, ([digits, exponent]) => {
        for (const source of [`${digits}e${exponent}`, `${digits}.0e${exponent}`]) {
          const expected = digitsOf(source)
          const read = readMetadata(formatJson(parseText(`x: ${source}`))).metadata
          expect(digitsIn(read)).toEqual(expected)
          expect(digitsIn(parseText(formatText(readMetadata(`{"x": ${source}}`).metadata)))).toEqual(expected)
        }
      }),
    )
  })

  it('are those of the text in an object of JSON, or it is refused', () => {
    let kept = 0
    fc.assert(
      fc.property(
        fc.oneof(
          anyDigits,
          fc.tuple(fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }), fc.integer({ min: -30, max: 3 })),
        ),
        (number) => {
          const record = parseText(`x: ${number[0]}e${number[1]}`)
          const json = exchanged(() => MetaData.toJSON(record))
          if (json === undefined) return
          kept++
          expect(digitsIn(MetaData.fromJSON(JSON.parse(JSON.stringify(json))))).toEqual(digitsIn(record))
        },
      ),
    )
    expect(kept).toBeGreaterThan(0)
  })

  it.each([
    '0.12345678901234567890',
    '1.50000000000000000001',
    '4.9e-324',
    '1e300',
    '0.1e-400',
    '123456789012345678901.5',
  ])('of %s are kept in JSON as text, and refused in an object, which would round them', (number) => {
    const record = parseText(`x: ${number}`)
    expect(formatJson(record)).toBe(`{\n  "x": ${number}\n}\n`)
    expect(() => MetaData.toJSON(record)).toThrowError(`JSON cannot hold the number ${number} of x as it is`)
    expect(MetaData.toJSON(record, { unknownText: 'string' })).toEqual({ x: number })
  })

  it('of minus zero are kept, which is another number than zero', () => {
    expect(formatJson(parseText('a: -0 b: -0.0 c: 0'))).toBe('{\n  "a": -0,\n  "b": -0.0,\n  "c": 0\n}\n')
    expect(MetaData.toJSON(parseText('a: -0'))).toEqual({ a: -0 })
    expect(formatText(MetaData.fromJSON({ a: -0 }))).toBe('a: -0\n')
  })

  it.each(['2026.00000000000000000001', '2025.99999999999999999999', '1e-400', '123456789012345678901'])(
    'make %s no integer of a field of the schema, as a number or in quotes',
    (number) => {
      for (const value of [number, `"${number}"`])
        expect(() => readMetadata(`{"thirdParty":{"lastUpgradeDate":{"year":${value}}}}`)).toThrowError(
          'third_party.last_upgrade_date.year should be an integer of 32 bits',
        )
      expect(() => readMetadata(`{"thirdParty":{"type":${number}}}`)).toThrowError('third_party.type')
    },
  )

  it('may be written in any way where the value is an integer', () => {
    for (const year of ['2026.0', '2.026e3', '20260e-1', '2026.000000000000000000000000', '"2026.0"'])
      expect(readMetadata(`{"thirdParty":{"lastUpgradeDate":{"year":${year}}}}`).metadata).toMatchObject({
        thirdParty: { lastUpgradeDate: { year: 2026 } },
      })
  })
})

describe('from text to JSON and back', () => {
  it('every literal that is accepted means the same, through objects and through JSON as text', () => {
    let kept = 0
    fc.assert(
      fc.property(text, (source) => {
        const record = parseText(source)
        const ways = [
          () => MetaData.fromJSON(JSON.parse(JSON.stringify(MetaData.toJSON(record)))),
          () => readMetadata(formatJson(record)).metadata,
          () => readMetadata(new TextEncoder().encode(formatJson(record))).metadata,
        ]
        for (const way of ways) {
          const back = exchanged(way)
          if (back === undefined) continue
          kept++
          expect(recordOf(back as MetaData)).toEqual(recordOf(record))
          expect(recordOf(parseText(formatText(back as MetaData)))).toEqual(recordOf(record))
        }
      }),
      { numRuns: 200 },
    )
    expect(kept).toBeGreaterThan(0)
  })

  it('every number is kept in JSON as text, save those that JSON has not', () => {
    fc.assert(
      fc.property(literal, (value) => {
        const record = parseText(`x: ${value}`)
        const mayBeRefused = /^-?[A-Za-z_]|^["']\\(?:377|xfe)/.test(value)
        const json = exchanged(() => formatJson(record))
        const back = json === undefined ? undefined : recordOf(readMetadata(String(json)).metadata)
        expect(mayBeRefused ? [recordOf(record), undefined] : [recordOf(record)]).toContainEqual(back)
      }),
    )
  })

  it.each([
    ['FOO', 'the name FOO'],
    ['inf', 'the name inf'],
    ['-nan', 'the name -nan'],
    ['"\\377"', 'bytes that are not UTF-8'],
    ['12345678901234567890', 'the number 12345678901234567890'],
    ['1.0', 'the number 1.0'],
  ])('refuses %s in an object of JSON, and says what JSON has no place for', (value, what) => {
    const record = parseText(`third_party { a { b: ${value} } keep: 1 }`)
    const path = 'third_party.a.b'
    expect(() => MetaData.toJSON(record)).toThrowError(expect.objectContaining({ code: 'invalid_value', path }))
    expect(() => MetaData.toJSON(record)).toThrowError(`JSON cannot hold ${what} of third_party.a.b as it is`)
    expect(MetaData.toJSON(record, { unknownText: 'omit' })).toEqual({ thirdParty: { a: {}, keep: 1 } })
    expect(JSON.parse(formatJson(record, { unknownText: 'omit' })).thirdParty.keep).toBe(1)
  })

  it('holds in JSON as text the numbers that an object cannot hold', () => {
    expect(
      formatJson(
        parseText('a: 12345678901234567890 b: 1. c: .5f d: 1e400 e: -0.0 f: 0x10 g: 1e3f h: 0xffffffffffffffffff'),
      ),
    ).toBe(
      '{\n  "a": 12345678901234567890,\n  "b": 1.0,\n  "c": 0.5,\n  "d": 1e400,\n  "e": -0.0,\n  "f": 16,\n  "g": 1e3,\n  "h": 4722366482869645213695\n}\n',
    )
  })

  it('keeps the value of a known enum that the schema does not know, and refuses one that is no name and no number', () => {
    const record = parseText('third_party { license_type: FOO type: 77 }')
    expect(MetaData.fromJSON(MetaData.toJSON(record))).toEqual(record)
    const made = MetaData.create({ thirdParty: { _unknownText: [{ name: 'type', text: '"FOO"' }] } })
    expect(() => MetaData.toJSON(made)).toThrowError(expect.objectContaining({ path: 'third_party.type' }))
  })
})

describe('from JSON to text and back', () => {
  const source = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value)),
    fc.constantFrom('12345678901234567890', '1.0', '-0', '1e400', '1E5', '0.1e-400', '-0.0'),
  )
  it('every value that is accepted means the same', () => {
    fc.assert(
      fc.property(source, source, (a, b) => {
        const json = `{"x": ${a}, "thirdParty": {"y": {"z": ${b}}}}`
        const record = exchanged(() => readMetadata(json).metadata)
        fc.pre(record !== undefined)
        const back = parseText(formatText(record as MetaData))
        expect(recordOf(back)).toEqual(recordOf(record as MetaData))
        expect(recordOf(readMetadata(formatJson(back)).metadata)).toEqual(recordOf(back))
      }),
      { numRuns: 200 },
    )
  })

  it('a number that JSON.parse has rounded is refused, and read from the text as it is', () => {
    expect(() => MetaData.fromJSON(JSON.parse('{"x": 123456789012345678901234567890}'))).toThrowError(
      'x should be an integer of at most 53 bits',
    )
    expect(() => MetaData.fromJSON(JSON.parse('{"x": 12345678901234567890}'))).toThrowError(
      'x should be an integer of at most 53 bits, since JSON.parse rounds larger ones: readMetadata takes the text',
    )
    expect(formatText(readMetadata('{"x": 12345678901234567890, "y": 1.0}').metadata)).toBe(
      'x: 12345678901234567890\ny: 1.0\n',
    )
  })
})

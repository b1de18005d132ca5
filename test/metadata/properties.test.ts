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
  unknownFields,
  validate,
} from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'
import { anyMessage, groups } from './arbitraries.js'

const message = anyMessage.map((base) => MetaData.create(base))

/** A field of binary that no schema knows, of each wire type. */
const unknownField: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    'a00101',
    'f80005',
    '7d01020304',
    '790102030405060708',
    '7b10057c',
    '7b8301840178017c',
    '7a00',
    '2a0161',
    '78ffffffffffffffff7f',
  ),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => `8a01${Buffer.from([bytes.length, ...bytes]).toString('hex')}`),
)

/** A scalar that the schema does not know, as text. */
const unknownScalar: fc.Arbitrary<string> = fc.constantFrom(
  '"a"',
  '\'\\377\' "b"',
  '0x1F',
  '-1.5e3f',
  '-inf',
  'NAME',
  'true',
  '007',
)
const unknownName = fc.constantFrom('homepage', 'identifier', '[a.b]', '[x.y/a.B]', '__proto__', 'toString')

/** Takes input of whatever kind: an answer, or the one error there is. */
function tame(read: () => unknown): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof MetadataError)) throw error
  }
}

describe('for every record', () => {
  it('decoding what was encoded gives it back', () => {
    fc.assert(
      fc.property(message, (record) => {
        expect(MetaData.decode(MetaData.encode(record))).toEqual(record)
      }),
      { numRuns: 500 },
    )
  })

  it('parsing what was formatted gives it back, and formatting that gives the same text', () => {
    fc.assert(
      fc.property(message, fc.boolean(), (record, utf8) => {
        const text = formatText(record, { utf8 })
        expect(parseText(text, { strict: true })).toEqual(record)
        expect(formatText(parseText(text), { utf8 })).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  it('JSON there and back gives it back', () => {
    fc.assert(
      fc.property(message, (record) => {
        const json: unknown = JSON.parse(JSON.stringify(MetaData.toJSON(record)))
        expect(MetaData.fromJSON(json, { strict: true })).toEqual(record)
      }),
      { numRuns: 500 },
    )
  })

  it('its form is told apart, or has to be told', () => {
    /** Where bytes are good in two forms, they are read as the one that is told. */
    const read = (input: string | Uint8Array, told: 'binary' | 'json' | 'text') => {
      try {
        return readMetadata(input)
      } catch (error) {
        if ((error as MetadataError).code !== 'ambiguous_format') throw error // whatever was thrown
        return readMetadata(input, { format: told })
      }
    }
    const utf8 = (text: string) => new TextEncoder().encode(text)
    fc.assert(
      fc.property(message, (record) => {
        expect(readMetadata(formatText(record))).toEqual({ format: 'text', metadata: record })
        expect(read(utf8(formatText(record, { utf8: true })), 'text')).toEqual({ format: 'text', metadata: record })
        expect(read(utf8(JSON.stringify(MetaData.toJSON(record))), 'json')).toEqual({
          format: 'json',
          metadata: record,
        })
        const { format, metadata } = read(MetaData.encode(record), 'binary')
        // Nothing, and a record of printable ASCII alone, may be text as well.
        const mayBeText = MetaData.encode(record).every((byte) => byte > 0x1f || (byte > 8 && byte < 14))
        const asBinary = { format: 'binary', metadata: record }
        const expected = mayBeText ? [asBinary, { format: 'text', metadata }, { format: 'json', metadata }] : [asBinary]
        expect(expected).toContainEqual({ format, metadata })
      }),
      { numRuns: 500 },
    )
  })

  it('unknown fields of binary come back byte for byte behind the known ones', () => {
    fc.assert(
      fc.property(message, fc.array(unknownField, { maxLength: 5 }), (record, fields) => {
        const known = Buffer.from(MetaData.encode(record)).toString('hex')
        // The first tag is written as short as can be.
        const tail = fields.join('').replace(/^f800/, '78')
        const decoded = MetaData.decode(Buffer.from(fields.join('') + known, 'hex'))
        expect(Buffer.from(MetaData.encode(decoded)).toString('hex')).toBe(known + tail)
        expect(unknownFields(decoded)).toHaveLength(fields.length)
        expect({ ...decoded, _unknownFields: undefined }).toEqual(record)
      }),
      { numRuns: 500 },
    )
  })

  it('unknown fields of text come back in canonical text, and can be read by path', () => {
    fc.assert(
      fc.property(message, fc.array(fc.tuple(unknownName, unknownScalar), { maxLength: 5 }), (record, fields) => {
        const text = fields.map(([name, scalar]) => `${name}: ${scalar}\n`).join('')
        const parsed = parseText(text + formatText(record))
        expect(formatText(parsed)).toBe(formatText(record) + formatText(parseText(text)))
        fields.forEach(([name], index) => {
          const before = fields.slice(0, index).filter(([other]) => other === name).length
          expect(getField(parsed, `${name}[${before}]`)).toBeDefined()
        })
        expect(() => MetaData.toJSON(parsed, { unknownText: 'string' })).not.toThrow()
      }),
      { numRuns: 250 },
    )
  })
})

describe('whatever comes in', () => {
  it('random bytes are read or refused, and what was read can be written', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200, size: 'max' }), (bytes) => {
        tame(() => {
          const decoded = MetaData.decode(bytes)
          const again = MetaData.encode(decoded)
          expect(MetaData.decode(again)).toEqual(decoded)
          formatText(decoded)
          validate(decoded)
          MetaData.toJSON(decoded)
        })
        tame(() => readMetadata(bytes))
      }),
      { numRuns: 2500 },
    )
  })

  it('mutated records are read or refused', () => {
    const mutation = fc.tuple(fc.nat(), fc.nat({ max: 255 }), fc.constantFrom('set', 'insert', 'remove', 'cut'))
    fc.assert(
      fc.property(
        message,
        fc.boolean(),
        fc.array(mutation, { minLength: 1, maxLength: 4 }),
        (record, asText, mutations) => {
          const bytes = [...(asText ? new TextEncoder().encode(formatText(record)) : MetaData.encode(record))]
          for (const [at, byte, kind] of mutations) {
            const index = at % (bytes.length + 1)
            if (kind === 'cut') bytes.length = index
            else bytes.splice(index, kind === 'insert' ? 0 : 1, ...(kind === 'remove' ? [] : [byte]))
          }
          tame(() => {
            const { metadata } = readMetadata(Uint8Array.from(bytes))
            formatText(metadata)
            validate(metadata)
            MetaData.encode(metadata, { unknownText: 'omit' })
            MetaData.toJSON(metadata)
          })
        },
      ),
      { numRuns: 1500 },
    )
  })

  it('random JSON is read or refused, and what was read can be written', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (json) => {
        tame(() => {
          const record = MetaData.fromJSON({ ...(typeof json === 'object' ? json : {}), thirdParty: json })
          parseText(formatText(record))
          MetaData.toJSON(record)
        })
        tame(() => MetaData.fromJSON(json))
      }),
      { numRuns: 1000 },
    )
  })

  it('any value at all is encoded or refused', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (value) => {
        const values: unknown[] = [
          value,
          { name: value },
          { thirdParty: value },
          { thirdParty: { url: [value], type: value } },
          { _unknownText: [{ name: value, text: value }] },
        ]
        for (const one of values) {
          tame(() => MetaData.encode(one as never))
          tame(() => formatText(one as never))
          tame(() => MetaData.toJSON(one as never))
          tame(() => MetaData.fromJSON(one))
          tame(() => MetaData.create(one as never))
          tame(() => validate(one as never))
          tame(() => getField(one as never, 'third_party.url[0].value'))
        }
      }),
      { numRuns: 1000 },
    )
  })
})

/** Records whose messages nest this deep, those of the schema counted, each with what it ends in. */
const NESTED: readonly (readonly [kind: string, make: (depth: number, leaf: boolean) => string | Uint8Array])[] = [
  ['text', (depth, leaf) => `${'a {'.repeat(depth)}${leaf ? 'b: 1' : ''}${'}'.repeat(depth)}`],
  ['text in lists', (depth, leaf) => `${'a: [{'.repeat(depth)}${leaf ? 'b: [1]' : ''}${'}]'.repeat(depth)}`],
  [
    'text in a block that the schema knows',
    (depth, leaf) => `third_party { url { ${'a {'.repeat(depth - 2)}${leaf ? 'b: 1' : ''}${'}'.repeat(depth - 2)} } }`,
  ],
  ['JSON', (depth, leaf) => `${'{"a":'.repeat(depth)}{${leaf ? '"b":1' : ''}}${'}'.repeat(depth)}`],
  ['JSON in lists', (depth, leaf) => `${'{"a":['.repeat(depth)}{${leaf ? '"b":[1]' : ''}}${']}'.repeat(depth)}`],
  [
    'JSON in a block that the schema knows',
    (depth, leaf) =>
      `{"thirdParty":{"url":[${'{"a":'.repeat(depth - 2)}{${leaf ? '"b":1' : ''}}${'}'.repeat(depth - 2)}]}}`,
  ],
  ['binary', (depth) => groups(depth, 16)],
]

describe.each(NESTED)('however deep it nests, %s', (_, make) => {
  const read = (depth: number, leaf: boolean) => readMetadata(make(depth, leaf)).metadata

  it.each([99, 100])('is written and read again in every form: %i deep', (depth) => {
    for (const leaf of [true, false]) {
      const record = read(depth, leaf)
      expect(() => validate(record)).not.toThrow()
      const text = formatText(record, { unknownFields: 'omit' })
      expect(formatText(parseText(text))).toBe(text)
      const json = formatJson(record)
      expect(formatJson(readMetadata(json).metadata)).toBe(json)
      expect(MetaData.toJSON(MetaData.fromJSON(MetaData.toJSON(record)))).toEqual(MetaData.toJSON(record))
      const bytes = MetaData.encode(record, { unknownText: 'omit' })
      expect(MetaData.encode(MetaData.decode(bytes))).toEqual(bytes)
    }
  })

  it.each([101, 102, 150])('is refused by every reader: %i deep', (depth) => {
    for (const leaf of [true, false])
      expect(() => read(depth, leaf)).toThrowError(expect.objectContaining({ code: 'too_deep' }))
  })
})

it('a record that a program made is refused by every writer where no reader would take it back', () => {
  let entry: UnknownText = { name: 'b', text: '1' }
  for (let depth = 0; depth < 99; depth++) entry = { name: 'a', fields: [entry] }
  const record = MetaData.create({ thirdParty: { _unknownText: [entry] } })
  expect(formatText(parseText(formatText(record)))).toBe(formatText(record))
  const deeper = MetaData.create({ thirdParty: { _unknownText: [{ name: 'a', fields: [entry] }] } })
  const path = expect.stringMatching(/^third_party(\.a){100}$/)
  const writers = [formatText, formatJson, MetaData.toJSON, MetaData.encode, validate]
  for (const writer of writers)
    expect(() => writer(deeper)).toThrowError(expect.objectContaining({ code: 'too_deep', path }))
})

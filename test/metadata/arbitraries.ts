/**
 * Records at random, for fast-check: messages, and binary, text and JSON that are right, nearly right or broken.
 * @module
 */
import * as fc from 'fast-check'
import type { MetaData } from 'grantwell/metadata'
import { unicodeText } from '../unicode.js'
import type { Kind, KnownField, TypeName } from './specification.js'
import { isType, SCHEMA } from './specification.js'

const OPTIONAL: { requiredKeys: [] } = { requiredKeys: [] }

/** So many times in a hundred, and otherwise the first. */
function seldom<T>(often: fc.Arbitrary<T>, times: number, ...other: fc.Arbitrary<T>[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 100 - times, arbitrary: often }, { weight: times, arbitrary: fc.oneof(...other) })
}

// Characters that an escape, a decoder or a character set may stumble over.
const ODD = [
  ...'\0\x01\n\r\t\v\f\x1b\x7f"\'\\07x?\x80\x85\xa0\xad\xff\u0301\u07ff\u0800\u2028\ud7ff\ue000\ufeff\ufffd\uffff',
  '\u{10000}',
  '\u{1f600}',
  '\u{10ffff}',
]

/** Any string of Unicode characters, NUL, controls and quotes too. */
export const anyString: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
    fc.constantFrom(...ODD),
    unicodeText({ minLength: 1, maxLength: 1 }),
  ),
  maxLength: 24,
})

const EXTREMES = [0, 1, -1, 7, 8, 127, 128, 2 ** 31 - 1, -(2 ** 31)]
const int32 = fc.oneof(fc.constantFrom(...EXTREMES), fc.integer())

/** A message of a type: each field there or not, empty ones too. */
function messageOf(type: TypeName): fc.Arbitrary<object> {
  const contentOf = ({ is }: KnownField): fc.Arbitrary<unknown> => {
    if (is === 'string') return anyString
    if (is === 'int32') return int32
    return isType(is) ? messageOf(is) : fc.constantFrom(...Object.values(is))
  }
  const entries = SCHEMA[type].map((field) => [
    field.key,
    field.repeated ? fc.array(contentOf(field), { maxLength: 3 }) : contentOf(field),
  ])
  return fc.record(Object.fromEntries(entries), OPTIONAL)
}

type Init = NonNullable<Parameters<typeof MetaData.create>[0]>

/** A message for `MetaData.create`. */
export const anyMessage = messageOf('MetaData') as fc.Arbitrary<Init> // as the schema has it

export const anyType = fc.constantFrom(...(Object.keys(SCHEMA) as TypeName[])) // its keys are these

// ---------------------------------------------------------------- binary

const concat = (parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]))

/** @param padding - so many bytes more than it needs */
export function varint(value: bigint | number, padding = 0): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  do {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  } while (rest > 0n)
  for (let i = 0; i < padding; i++) bytes.push(0x80)
  return Uint8Array.from([...bytes.slice(0, -1), (bytes.at(-1) ?? 0) & 0x7f])
}

export const tag = (number: number, wireType: number, padding = 0): Uint8Array => varint(number * 8 + wireType, padding)
export const delimited = (body: Uint8Array): Uint8Array => concat([varint(body.length), body])
export const groups = (depth: number, number = 15): Uint8Array =>
  concat([...Array(depth).fill(tag(number, 3)), ...Array(depth).fill(tag(number, 4))])

const NOTHING = fc.constant(Uint8Array.of())
const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  int32.map(BigInt),
  fc.constantFrom(2n ** 31n, 2n ** 32n, 2n ** 32n + 1n, 2n ** 63n),
)

/** Fields as a writer makes them, in any order, unknown ones and unknown values of enums between them; `sloppy` is less careful. */
class Binary {
  constructor(private readonly sloppy: boolean) {}

  private readonly types = new Map<TypeName, fc.Arbitrary<Uint8Array>>()

  fieldsOf(type: TypeName): fc.Arbitrary<Uint8Array> {
    const made =
      this.types.get(type) ??
      this.several(fc.oneof(...SCHEMA[type].map((field) => this.known(field)), this.unknown(type, 2)))
    this.types.set(type, made)
    return made
  }

  private several(field: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
    const rubbish = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 3 }),
      fc
        .tuple(fc.constantFrom(0, 1, 13, 15, 2 ** 29 - 1, 2 ** 29, 2 ** 32 / 8 + 1), fc.nat(7))
        .map(([number, wire]) => tag(number, wire)),
    )
    return fc.array(this.sloppy ? seldom(field, 2, rubbish) : field, { maxLength: 5 }).map(concat)
  }

  private known({ number, is }: KnownField): fc.Arbitrary<Uint8Array> {
    if (is === 'int32') return this.field(number, 0, this.varint(this.sloppy ? int64 : int32.map(BigInt)))
    if (is === 'string')
      return this.field(number, 2, this.delimited(anyString.map((text) => new TextEncoder().encode(text))))
    if (isType(is)) return this.field(number, 2, this.delimited(this.fieldsOf(is)))
    const value = fc.oneof(
      fc.constantFrom(...Object.values(is)).map(BigInt),
      fc.nat(12).map(BigInt),
      this.sloppy ? int64 : int32.map(BigInt),
    )
    return this.field(number, 0, this.varint(value))
  }

  /** By numbers that the schema does not have, and by those that it has with another wire type. */
  private unknown(type: TypeName | undefined, depth: number): fc.Arbitrary<Uint8Array> {
    const numbers = (wireType: number) => {
      const taken = (type ? SCHEMA[type] : []).filter(({ is }) => wireType === (is === 'string' || isType(is) ? 2 : 0))
      const free = [1, 2, 4, 15, 16, 19_000, 2 ** 29 - 1].filter((number) =>
        taken.every((field) => field.number !== number),
      )
      return fc.constantFrom(...free)
    }
    const any = (wireType: number, value: fc.Arbitrary<Uint8Array>) =>
      numbers(wireType).chain((number) => this.field(number, wireType, value))
    const fixed = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      anyString.map((text) => new TextEncoder().encode(text)),
    )
    const inner =
      depth > 0 ? this.several(fc.oneof({ depthSize: 'small' }, this.unknown(undefined, depth - 1))) : NOTHING
    return fc.oneof(
      any(0, this.varint(int64)),
      any(1, fixed(8)),
      any(2, this.delimited(fc.oneof(bytes, inner))),
      any(5, fixed(4)),
      fc
        .tuple(
          numbers(3),
          inner,
          this.padding(),
          this.sloppy ? seldom(fc.constant(0), 3, fc.constant(1)) : fc.constant(0),
        )
        .map(([number, body, padding, fault]) => concat([tag(number, 3), body, tag(number - fault, 4, padding)])),
    )
  }

  private field(number: number, wireType: number, value: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
    return fc.tuple(this.padding(), value).map(([padding, bytes]) => concat([tag(number, wireType, padding), bytes]))
  }

  private varint(value: fc.Arbitrary<bigint>): fc.Arbitrary<Uint8Array> {
    return fc.tuple(value, this.padding()).map(([number, padding]) => varint(number, padding))
  }

  private delimited(body: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
    const wrong = fc.constantFrom(-1, 1, 3, 100, 2 ** 31 - 20, 2 ** 31, 2 ** 32, 2 ** 53)
    return fc
      .tuple(body, this.padding(), this.sloppy ? seldom(fc.constant(0), 2, wrong) : fc.constant(0))
      .map(([bytes, padding, fault]) => concat([varint(Math.max(0, bytes.length + fault), padding), bytes]))
  }

  private padding(): fc.Arbitrary<number> {
    return this.sloppy ? seldom(fc.constant(0), 3, fc.integer({ min: 1, max: 10 })) : fc.constant(0)
  }
}

const tidy = new Binary(false)
const sloppy = new Binary(true)

/** What the reference reads, every number as short as can be. */
export const tidyBinary = (type: TypeName): fc.Arbitrary<Uint8Array> => tidy.fieldsOf(type)

/** With faults of structure, or of single bits and bytes, or with neither. */
export const brokenBinary = (type: TypeName): fc.Arbitrary<Uint8Array> => {
  const deep = fc
    .tuple(tidyBinary(type), fc.integer({ min: 96, max: 103 }))
    .map(([bytes, depth]) => concat([groups(depth), bytes]))
  return fc.oneof(seldom(sloppy.fieldsOf(type), 2, deep), mutated(fc.oneof(tidyBinary(type), sloppy.fieldsOf(type))))
}

const ODD_BYTES = [0, 1, 2, 4, 6, 7, 0x0c, 0x7b, 0x7c, 0x7f, 0x80, 0x81, 0xc0, 0xed, 0xf5, 0xff]

/** One to three changes of bits and bytes. */
function mutated(original: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const byte = fc.oneof(fc.constantFrom(...ODD_BYTES), fc.nat(255))
  const change = fc.record({ how: fc.nat(5), at: fc.nat(), length: fc.integer({ min: 1, max: 8 }), byte })
  return fc.tuple(original, fc.array(change, { minLength: 1, maxLength: 3 })).map(([bytes, changes]) => {
    let result = [...bytes]
    for (const { how, at: place, length, byte } of changes) {
      const at = place % (result.length + 1)
      if (how === 0) result[at] = (result[at] ?? 0) ^ (1 << (length - 1))
      else if (how === 1) result = result.slice(0, at)
      else if (how === 2) result.splice(at, 0, byte)
      else if (how === 3) result.splice(at, length)
      else if (how === 4) result.splice(at, 0, ...result.slice(at, at + length * 4))
      else result[at] = byte
    }
    return Uint8Array.from(result)
  })
}

// ---------------------------------------------------------------- text

const padded = (value: number, length: number) => value.toString(16).padStart(length, '0')
const octal = (byte: number) => `\\${byte.toString(8).padStart(3, '0')}`
const hex = (byte: number) => `\\x${padded(byte, 2)}`
const anyCharacter = fc.oneof(fc.constantFrom(...ODD), unicodeText({ minLength: 1, maxLength: 1 }))

/** What may stand between quotes; the last ones may not, or are read otherwise. */
const stringPiece = seldom(
  fc.oneof(
    fc.string({ unit: 'grapheme-ascii', maxLength: 8 }).map((text) => text.replace(/["'\\]/g, '_')),
    anyCharacter.map((character) => (/["'\\\n\0]/.test(character) ? octal(character.charCodeAt(0)) : character)),
    fc.constantFrom(
      '\\n',
      '\\r',
      '\\t',
      '\\"',
      "\\'",
      '\\\\',
      '\\?',
      '\\a',
      '\\b',
      '\\f',
      '\\v',
      '\\0',
      '\\7',
      '\\12',
      '\\x9',
      '\\x41',
      '\\x4B',
      '\\1778',
      '\\x41f',
    ),
    fc
      .tuple(anyCharacter, fc.constantFrom(octal, hex))
      .map(([character, form]) => Array.from(new TextEncoder().encode(character), form).join('')),
    anyCharacter
      .filter((character) => character.length === 1)
      .map((character) => `\\u${padded(character.charCodeAt(0), 4)}`),
    anyCharacter.map((character) => `\\U${padded(character.codePointAt(0) ?? 0, 8).toUpperCase()}`),
  ),
  2,
  fc.constantFrom(
    '\\ud83d\\ude00',
    '\\ud83d',
    '\\udc00',
    '\\ud83dA',
    '\\ud83d\\u0041',
    '\\U0000d800',
    '\\400',
    '\\777',
    '\\4',
    '\\47',
    '\\U00110000',
    '\\UFFFFFFFF',
    '\\377',
    '\\xff',
    '\\xc3',
    '\\q',
  ),
  fc.constantFrom('\\8', '\\e', '\\X41', '\\x', '\\xg', '\\u12', '\\u00g0', '\\U0001f60', '\\', '\n', '\0', '"', "'"),
)

const literal = fc
  .tuple(fc.constantFrom('"', "'"), fc.array(stringPiece, { maxLength: 4 }))
  .map(([quote, pieces]) => quote + pieces.join('') + quote)

function integerToken(value: fc.Arbitrary<number>): fc.Arbitrary<string[]> {
  const forms = [
    (digits: bigint) => `${digits}`,
    (digits: bigint) => `0${digits.toString(8)}`,
    (digits: bigint) => `0x${digits.toString(16)}`,
    (digits: bigint) => `0X${digits.toString(16).toUpperCase()}`,
    (digits: bigint) => `0x000000000000000000${digits.toString(16)}`,
    (digits: bigint) => `00000000000000000000000${digits.toString(8)}`,
  ]
  const beyond = fc.constantFrom(2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53)
  const sign = fc.constantFrom<string[]>(['-'], ['-'], ['-'], ['-'], ['-', ''])
  return fc.tuple(seldom(value, 2, beyond), fc.constantFrom(...forms), sign).map(([number, form, minus]) => {
    const digits = form(BigInt(Math.abs(number)))
    if (number >= 0) return [digits]
    return minus.length === 1 ? [`-${digits}`] : ['-', digits]
  })
}

/** A value as tokens. */
function valueTokens(is: Kind): fc.Arbitrary<string[]> {
  if (is === 'string') return fc.array(literal, { minLength: 1, maxLength: 3 })
  if (is === 'int32') return integerToken(int32)
  if (isType(is))
    return fc
      .tuple(fc.constantFrom(['{', '}'], ['<', '>']), fieldTokens(is))
      .map(([[open = '', close = ''], fields]) => [open, ...fields, close])
  return fc.oneof(
    fc.constantFrom(...Object.keys(is)).map((name) => [name]),
    integerToken(seldom(fc.constantFrom(...Object.values(is)), 3, fc.nat(12))),
  )
}

const tokensOfFields = new Map<KnownField, fc.Arbitrary<string[]>>()

function fieldOf(field: KnownField): fc.Arbitrary<string[]> {
  const made = tokensOfFields.get(field) ?? makeField(field)
  tokensOfFields.set(field, made)
  return made
}

function makeField({ name, is, repeated }: KnownField): fc.Arbitrary<string[]> {
  const value = valueTokens(is)
  const list = fc
    .array(value, { maxLength: 3 })
    .map((values) => ['[', ...values.flatMap((item, i) => (i > 0 ? [',', ...item] : item)), ']'])
  const colon = isType(is) ? fc.constantFrom<string[]>([], [':']) : fc.constant([':'])
  return fc
    .tuple(colon, repeated ? fc.oneof(value, list) : value, fc.constantFrom<string[]>([], [], [','], [';']))
    .map(([mark, tokens, separator]) => [name, ...mark, ...tokens, ...separator])
}

const tokensOfTypes = new Map<TypeName, fc.Arbitrary<string[]>>()

/** The tokens of some fields of a type, each once, the repeated ones up to three times. */
function fieldTokens(type: TypeName): fc.Arbitrary<string[]> {
  const made =
    tokensOfTypes.get(type) ??
    fc
      .shuffledSubarray(SCHEMA[type].flatMap((field) => (field.repeated ? [field, field, field] : [field])))
      .chain((some) => fc.tuple(...some.slice(0, 6).map(fieldOf)).map((tokens) => tokens.flat()))
  tokensOfTypes.set(type, made)
  return made
}

const comment = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
    fc.constantFrom('é', '\x01', '\x7f', '\r', '"', '\u2028'),
  ),
  maxLength: 6,
})
const gap = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  { weight: 4, arbitrary: fc.constantFrom(' ', '\n', '\t', '\r\n', '\r', '\v', '\f', '  ') },
  { weight: 1, arbitrary: comment.map((text) => `#${text}\n`) },
  { weight: 1, arbitrary: comment.map((text) => ` # ${text}\n  `) },
)

/** Tokens with gaps between them, at least one blank where two of them would grow together. */
function spaced(tokens: fc.Arbitrary<string[]>): fc.Arbitrary<string> {
  return fc
    .tuple(tokens, fc.array(gap, { minLength: 1, maxLength: 24 }), fc.constantFrom('', '', '\n', '#', '# end'))
    .map(([parts, gaps, end]) => {
      let text = gaps[0] ?? ''
      parts.forEach((token, i) => {
        const between = i === 0 ? '' : (gaps[i % gaps.length] ?? '')
        text += (between === '' && /\w$/.test(text) && /^\w/.test(token) ? ' ' : between) + token
      })
      return text + end
    })
}

const STRAY = [
  ...'{}<>[]:,;-+./"\'#\\@=()!',
  ...[
    'name',
    'third_party',
    'url',
    'type',
    'value',
    'version',
    'security',
    'tag',
    'last_upgrade_date',
    'year',
    'license_type',
  ],
  ...[
    'homepage',
    'Name',
    'third_party.version',
    '[foo.bar]',
    '[type.example/foo.Bar]',
    '[ foo . bar ]',
    '[]',
    '{ }',
    ': 1',
    ': "x"',
    ': { }',
  ],
  ...[
    'GIT',
    'PACKAGE',
    'NOTICE',
    'package',
    'true',
    'inf',
    '-inf',
    'nan',
    '1',
    '-1',
    '0',
    '00',
    '08',
    '0x',
    '0xg',
    '1.0',
    '.5',
    '1.',
    '1e2',
    '1f',
    '1F',
    '0b1',
    '1_0',
  ],
  ...[
    '2147483648',
    '-2147483649',
    '18446744073709551616',
    '""',
    '"a"',
    "'b'",
    '"',
    '\0',
    '\x01',
    '\x7f',
    '\ufeff',
    '\xa0',
    'é',
    '//',
    '/* */',
    '# c',
    '#\n',
    '\r',
    '\v',
  ],
]

const stray = fc.constantFrom(...STRAY)

/** What the grammar allows, by far the most of it accepted. */
export const grammaticalText: fc.Arbitrary<string> = spaced(fieldTokens('MetaData'))

const changedTokens = fc
  .tuple(fieldTokens('MetaData'), fc.array(fc.tuple(fc.nat(4), fc.nat(), stray), { minLength: 1, maxLength: 2 }))
  .map(([original, changes]) => {
    const tokens = [...original]
    for (const [how, place, token] of changes) {
      const at = place % (tokens.length + 1)
      if (how === 0) tokens.splice(at, 0, token)
      else if (how === 1) tokens.splice(at, 1)
      else if (how === 2) tokens.splice(at, 0, ...tokens.slice(at, at + 1))
      else if (how === 3) tokens.splice(at, 2, ...tokens.slice(at, at + 2).reverse())
      else tokens.splice(at, 1, token)
    }
    return tokens
  })

const doubledFields = fc
  .tuple(fieldTokens('ThirdPartyMetaData'), fieldTokens('ThirdPartyMetaData'))
  .map(([some, others]) => ['third_party', '{', ...some, ...others, '}'])

/** One or two tokens too many, missing, doubled, swapped or replaced; or fields that come twice. */
export const nearlyText: fc.Arbitrary<string> = spaced(seldom(changedTokens, 10, doubledFields))

const PLACES = [
  ...[
    'name:@description:"y"',
    'name@',
    'third_party{last_upgrade_date{year:@month:2}}',
    'third_party{last_upgrade_date{year:@}}',
    'third_party{last_upgrade_date{year @}}',
  ],
  ...[
    'third_party{type:@version:"1"}',
    'third_party{license_type:@}',
    'third_party{security{category @}}',
    'third_party@name:"x"',
  ],
  ...[
    'third_party:@',
    'third_party{url:@url{}}',
    'third_party{url@}',
    'third_party{security{tag:@tag:"t"}}',
    'third_party{security{tag@}}',
    '@',
    '@:1',
  ],
]
const VALUES = [
  ...[
    '08',
    '018',
    '0o7',
    '1a',
    '1_0',
    '0x',
    '0x1g',
    '0X1f',
    '1.',
    '1.0',
    '.1',
    '1e1',
    '1e',
    '1e+',
    '0f',
    '1.f',
    '1F',
    '0',
    '00',
    '07',
    '-07',
    '-08',
  ],
  ...[
    '+1',
    '--1',
    '-1',
    '-0',
    '-GIT',
    '-inf',
    'inf',
    'nan',
    'true',
    '4',
    '2147483647',
    '2147483648',
    '-0x80000000',
    '-2147483649',
    '1 ',
  ],
  ...[
    'GIT',
    'PACKAGE',
    'NOTICE',
    'notice',
    '"NOTICE"',
    '"a"',
    "'a'",
    '"a""b"',
    '"a"\'b\'',
    '"a\nb"',
    '"a',
    '"\\',
    '""',
    '"',
    '[',
    ':',
    '-',
    '',
  ],
  ...[
    '[]',
    '[1]',
    '[1,2]',
    '["a"]',
    '["a",]',
    '["a""b"]',
    '["a","b",\'c\']',
    '["a" 1]',
    '["a"',
    '[GIT]',
    '[[]]',
    '[foo.bar]',
    '[a.b/c.D]{}',
  ],
  ...[
    '[{}]',
    '[{},<>]',
    '[{}{}]',
    '[{};{}]',
    '[{},1]',
    '{}',
    '<>',
    '{>',
    '{}{}',
    '{};',
    '{},,',
    ';',
    ',',
    '{',
    '}',
    '>',
  ],
]

/** Each odd value in each place: of another kind, badly written, or with what comes next close behind it; and each escape. */
export const ODD_FIELDS: readonly string[] = [
  ...PLACES.flatMap((place) => VALUES.map((value) => place.replace('@', () => value))),
  ...Array.from({ length: 128 }, (_, code) => `name:"\\${String.fromCharCode(code)}1g"`),
]

/** Texts with one to three characters, or bytes, changed. */
export function mutatedText(original: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> {
  const change = fc.record({ how: fc.nat(4), at: fc.nat(), length: fc.integer({ min: 1, max: 12 }), piece: stray })
  const edited = fc.tuple(original, fc.array(change, { minLength: 1, maxLength: 3 })).map(([text, changes]) => {
    const characters = [...text]
    for (const { how, at: place, length, piece } of changes) {
      const at = place % (characters.length + 1)
      if (how === 0) characters.splice(at, 0, piece)
      else if (how === 1) characters.splice(at, length > 6 ? 1 : length)
      else if (how === 2) characters.splice(at, 0, ...characters.slice(at, at + length))
      else if (how === 3) characters.splice(at, 1, piece)
      else characters.splice(at, 2, ...characters.slice(at, at + 2).reverse())
    }
    return new TextEncoder().encode(characters.join(''))
  })
  return seldom(edited, 12, mutated(original.map((text) => new TextEncoder().encode(text))))
}

// ---------------------------------------------------------------- JSON

const ODD_JSON: unknown[] = [
  null,
  true,
  false,
  0,
  1,
  3,
  -1,
  1.5,
  2 ** 31,
  1e21,
  '',
  '1',
  ' 1',
  '1.0',
  '1e0',
  '01',
  '0x1',
  '-0',
  '+1',
  'GIT',
  'NOTICE',
  'nope',
  [],
  {},
  [null],
  [''],
  '\u0000',
]

function jsonOf(is: Kind): fc.Arbitrary<unknown> {
  if (is === 'string') return anyString
  if (is === 'int32') return fc.oneof(int32, int32.map(String))
  if (isType(is)) return jsonFields(is)
  return fc.oneof(fc.constantFrom(...Object.keys(is)), fc.constantFrom(...Object.values(is)))
}

function jsonFields(type: TypeName): fc.Arbitrary<unknown> {
  const entries = SCHEMA[type].map(({ name, is, repeated }) => {
    const value = seldom(
      repeated ? fc.array(jsonOf(is), { maxLength: 3 }) : jsonOf(is),
      4,
      fc.constantFrom(...ODD_JSON),
    )
    const camel = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
    return fc.tuple(seldom(fc.constant(camel), 5, fc.constant(name), fc.constantFrom('homepage', 'Name', '')), value)
  })
  return fc.shuffledSubarray(entries).chain((some) => fc.tuple(...some).map((pairs) => Object.fromEntries(pairs)))
}

/** JSON of a record, by either name of each field, with a wrong value here and there. */
export const anyJson: fc.Arbitrary<unknown> = jsonFields('MetaData')

/**
 * grantwell/metadata beside the reference implementation (protobuf 3.21): the same verdict, the same message, the same bytes and
 * the same text, but for the differences that are listed here.
 */
import { isUtf8 } from 'node:buffer'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import {
  DateMessage,
  formatText,
  type MessageCodec,
  MetaData,
  type MetadataError,
  parseText,
  Security,
  ThirdPartyMetaData,
  UrlMessage,
} from 'grantwell/metadata'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findUtf16Fault } from '../../src/metadata/text/text.js'
import {
  anyJson,
  anyMessage,
  anyType,
  brokenBinary,
  delimited,
  grammaticalText,
  groups,
  mutatedText,
  nearlyText,
  ODD_FIELDS,
  tag,
  tidyBinary,
  varint,
} from './arbitraries.js'
import { findReference, NO_REFERENCE, type Reference, startReference } from './reference.js'
import type { TypeName } from './specification.js'

/** Binary and JSON of what is read from binary. */
const rewrite =
  <T extends object>(codec: MessageCodec<T>) =>
  (input: Uint8Array) => {
    const message = codec.decode(input)
    return { binary: codec.encode(message), json: codec.toJSON(message) }
  }

const REWRITE = {
  MetaData: rewrite(MetaData),
  ThirdPartyMetaData: rewrite(ThirdPartyMetaData),
  URL: rewrite(UrlMessage),
  Date: rewrite(DateMessage),
  Security: rewrite(Security),
}

/** Other people's records, which tests may read where they are, and which are never a part of this project. */
const RECORDS = fileURLToPath(new URL('../../../shared/metadata/', import.meta.url))

const programs = findReference()

if (programs === undefined) {
  if (process.env['CI']) {
    it('finds the reference implementation', () => expect.fail(NO_REFERENCE))
  } else {
    console.warn(NO_REFERENCE)
    it.skip(NO_REFERENCE, () => {})
  }
}

let reference: Reference

beforeAll(() => {
  if (programs !== undefined) reference = startReference(programs)
})

afterAll(() => reference?.stop())

/** `RUNS=20` for so many times as many cases, `SEED=1` for those of a seed that fast-check has printed. */
const MANY = Number(process.env['RUNS'] ?? 1)

/** Asks the reference about all cases first, many at a time, since it keeps its answers; then judges one by one. */
async function check<T>(cases: fc.Arbitrary<T>, count: number, judge: (value: T) => Promise<void>): Promise<void> {
  const numRuns = count * MANY
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  // As a tuple, like the property, so that these are the very cases that it comes to.
  await Promise.allSettled(fc.sample(fc.tuple(cases), { seed, numRuns }).map(([value]) => judge(value)))
  await fc.assert(fc.asyncProperty(cases, judge), { seed, numRuns })
}

/** Judges a list of cases, all of them, and fails with those that are wrong. */
async function each<T>(cases: readonly T[], judge: (value: T) => Promise<void>): Promise<void> {
  const failures = await Promise.all(cases.map((value) => judge(value).catch((error: unknown) => ({ value, error }))))
  expect(failures.filter((failure) => failure !== undefined)).toEqual([])
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('hex')
const bytes = (...parts: (Uint8Array | readonly number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]))

/** What a call comes to: a value, or the error of a refusal. Any other error is a fault. */
function attempt<T>(
  call: () => T,
): { readonly value: T; readonly error?: never } | { readonly value?: never; readonly error: MetadataError } {
  try {
    return { value: call() }
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'MetadataError') throw error
    return { error: error as MetadataError }
  }
}

/** A kind of input that the reference takes otherwise, on purpose. */
interface Difference<Input, Clue extends unknown[]> {
  readonly what: string
  readonly why: string
  /** Inputs that show it. */
  readonly cases: readonly Input[]
  /** Whether this is why a case came out otherwise. */
  readonly isWhy: (...clue: Clue) => boolean
}

/** All of them are refused here. The clues are the text, where it is at fault, the error, and the bytes. */
const TEXT_DIFFERENCES: readonly Difference<string | Uint8Array, [string, number, MetadataError, Uint8Array]>[] = [
  {
    what: 'a minus sign apart from its number',
    why: 'Python refuses it, and newer editions of the language do not have it',
    cases: ['third_party { last_upgrade_date { year: - 1 } }', 'third_party { last_upgrade_date { year: -#\n1 } }'],
    isWhy: (text, at, { code }) => code === 'syntax' && /^-[\s#]/.test(text.slice(at - 1)),
  },
  {
    what: 'half of a character as an escape, and two halves',
    why: 'the language has no surrogates in escapes (text format, string literals); the reference joins two and stores a lone one as bytes that are no UTF-8',
    cases: ['name: "\\ud83d\\ude00"', 'name: "\\ud83d"', 'name: "\\U0000DE00"'],
    isWhy: (text, at, { code }) => code === 'syntax' && /^\\(?:u|U0000)[dD][89a-fA-F]/.test(text.slice(at)),
  },
  {
    what: 'an octal escape of more than 8 bits',
    why: 'the reference drops the highest bit without a word',
    cases: ['name: "\\400"', 'name: "\\777"'],
    isWhy: (text, at, { code }) => code === 'syntax' && /^\\[4-7][0-7]{2}/.test(text.slice(at)),
  },
  {
    what: 'an escape of a code point beyond 10FFFF',
    why: 'the reference takes the backslash and the digits for themselves',
    cases: ['name: "\\U00110000"', 'name: "\\U001FFFFF"'],
    isWhy: (text, at, { code }) => code === 'syntax' && /^\\U001[1-9a-fA-F]/.test(text.slice(at)),
  },
  {
    what: 'a string whose escapes make no UTF-8',
    why: 'a string of JavaScript cannot hold it; the reference stores the bytes, and complains',
    cases: ['name: "\\xff"', 'name: "\\303" "x"', 'name: "\\377"'],
    isWhy: (text, at, { code }) => code === 'invalid_utf8' && /^["']/.test(text.slice(at)),
  },
  {
    what: 'bytes that are no UTF-8',
    why: 'a text is UTF-8 (text format, encoding), in its comments too; the reference looks at strings alone, and stores them',
    cases: [bytes(utf8('name: "'), [0xff], utf8('"')), bytes(utf8('# caf'), [0xe9], utf8('\nname: "x"'))],
    isWhy: (_, __, { code }, bytes) => code === 'invalid_utf8' && !isUtf8(bytes),
  },
]

/** The clues are the value at fault, and the error; none where it is accepted here and refused there. */
const JSON_DIFFERENCES: readonly Difference<unknown, [unknown, MetadataError?]>[] = [
  {
    what: 'an enum value by a number in quotes, a fraction or a truth value',
    why: 'JSON has its name or its number (ProtoJSON); Python takes whatever int() takes',
    cases: ['1', '+1', ' 4', 1.5, true].map((type) => ({ thirdParty: { type } })),
    isWhy: (value, error) =>
      (error?.code === 'unknown_enum_value' && typeof value === 'string' && /^\s*[-+]?\d+$/.test(value)) ||
      (error?.code === 'invalid_value' &&
        (typeof value === 'boolean' || (typeof value === 'number' && value % 1 !== 0))),
  },
  {
    what: 'an integer in quotes with a plus sign or with zeros before it',
    why: 'that is no number of JSON (ProtoJSON, RFC 8259 section 6); Python takes whatever int() takes',
    cases: ['+1', '01', '-01', '1_0'].map((year) => ({ thirdParty: { lastUpgradeDate: { year } } })),
    isWhy: (value, error) =>
      error?.code === 'invalid_value' && typeof value === 'string' && /^[-+]?[\d_]+$/.test(value),
  },
  {
    what: 'an integer in quotes with a fraction of zeros or with an exponent',
    why: 'ProtoJSON has both, quoted or not; Python has them only without quotes',
    cases: ['1.0', '1e0', '20E2', '-100e-2'].map((year) => ({ thirdParty: { lastUpgradeDate: { year } } })),
    isWhy: (value, error) =>
      error === undefined && typeof value === 'string' && /^-?\d+(?:\.0+)?(?:[eE][-+]?\d+)?$/.test(value),
  },
  {
    what: 'an empty string or list for a message',
    why: 'a message is an object (ProtoJSON); Python goes through the keys, of which these have none',
    cases: [{ thirdParty: '' }, { thirdParty: { security: [] } }, { thirdParty: { url: ['', []] } }],
    isWhy: (value, error) =>
      error?.code === 'invalid_value' && (value === '' || (Array.isArray(value) && value.length === 0)),
  },
]

/** The same verdict as protoc's and, where it accepts, the same message; a listed difference is the one exception. */
async function judgeText(source: Uint8Array): Promise<'accepted' | 'refused' | (typeof TEXT_DIFFERENCES)[number]> {
  const theirs = await reference.parse(source)
  const text = Buffer.from(source).toString()
  const fromBytes = attempt(() => parseText(source, { strict: true }))
  const ours = isUtf8(source) ? attempt(() => parseText(text, { strict: true })) : fromBytes
  // Of bytes alone can be said that they are UTF-16.
  expect(fromBytes).toEqual(findUtf16Fault(source) === undefined ? ours : { error: findUtf16Fault(source) })
  const { value, error } = ours
  if (theirs === undefined)
    return value === undefined ? 'refused' : expect.fail(`refused by protoc: ${JSON.stringify(text)}, and not here`)
  if (error !== undefined) {
    const difference = TEXT_DIFFERENCES.find(({ isWhy }) => isWhy(text, error.offset ?? 0, error, source))
    if (difference === undefined) expect.fail(`accepted by protoc: ${JSON.stringify(text)}, but here: ${error.message}`)
    return difference
  }
  expect(hex(MetaData.encode(value)), JSON.stringify(text)).toBe(hex(theirs))
  // What is not strict accepts as much.
  expect(parseText(source)).toEqual(value)
  return 'accepted'
}

/** Of the records that are there. */
const records = existsSync(RECORDS) ? readdirSync(RECORDS).filter((name) => name.endsWith('.textproto')) : []

describe.skipIf(programs === undefined || records.length === 0)('a record of a public source tree', () => {
  it('is read and printed as protoc and Python do it', async () => {
    const accepted: { readonly source: Uint8Array; readonly python: Uint8Array }[] = []
    await each(records, async (name) => {
      const source = Uint8Array.from(readFileSync(`${RECORDS}${name}`))
      const python = await reference.parseInPython(source, 'text')
      expect(python !== undefined, 'what Python accepts').toBe((await judgeText(source)) === 'accepted')
      if (python !== undefined) accepted.push({ source, python })
    })
    expect(accepted.length).toBeGreaterThan(records.length / 2)
    await each(accepted, async ({ source, python }) => {
      expect(hex(await reference.parse(source))).toBe(hex(python))
      expect(formatText(parseText(source))).toBe(await reference.print(python))
      expect(formatText(parseText(source), { utf8: true })).toBe(await reference.printInPython(python, 'utf8'))
    })
  })

  it('is read as Python reads it where it has names that the schema does not have, but for these', async () => {
    const accepted: { readonly source: Uint8Array; readonly known: Uint8Array }[] = []
    await each(records, async (name) => {
      const source = Uint8Array.from(readFileSync(`${RECORDS}${name}`))
      const known = await reference.parseInPython(source, 'anyText')
      if (known !== undefined) accepted.push({ source, known })
    })
    expect(accepted.length).toBeGreaterThan(records.length / 2)
    for (const { source, known } of accepted)
      expect(hex(MetaData.encode(parseText(source), { unknownText: 'omit' }))).toBe(hex(known))
  })

  it('is accepted or refused as protoc does with a character or a byte changed', async () => {
    const texts = records.map((name) => readFileSync(`${RECORDS}${name}`, 'utf8'))
    await check(mutatedText(fc.constantFrom(...texts)), 300, async (text) => {
      await judgeText(text)
    })
  })
})

describe.skipIf(programs === undefined)('a text', () => {
  it('of the grammar is read as protoc reads it', async () => {
    const counts = { accepted: 0, refused: 0, different: 0 }
    await check(grammaticalText, 800, async (text) => {
      const verdict = await judgeText(utf8(text))
      counts[typeof verdict === 'string' ? verdict : 'different']++
    })
    expect(counts.accepted).toBeGreaterThan(counts.refused + counts.different)
  })

  it('with a token too many, missing or in the wrong place is accepted or refused as protoc does', async () => {
    await check(nearlyText, 800, async (text) => {
      await judgeText(utf8(text))
    })
  })

  it('with an odd value in one field is accepted or refused as protoc does', async () => {
    await each(ODD_FIELDS, async (text) => {
      await judgeText(utf8(text))
    })
  })

  it('with a character or a byte changed is accepted or refused as protoc does', async () => {
    const printed = anyMessage.map((message) => formatText(MetaData.create(message)))
    await check(mutatedText(fc.oneof(printed, grammaticalText)), 600, async (text) => {
      await judgeText(text)
    })
  })

  it.each(TEXT_DIFFERENCES)('differs on purpose: $what', async (difference) => {
    for (const text of difference.cases) expect(await judgeText(Buffer.from(text))).toBe(difference)
  })
})

/** The same verdict as that of Python, and the same message; a listed difference is the one exception. */
async function judgeJson(json: unknown): Promise<(typeof JSON_DIFFERENCES)[number] | undefined> {
  const source = JSON.stringify(json)
  const theirs = await reference.fromJSON('MetaData', source)
  const { value, error } = attempt(() => MetaData.fromJSON(JSON.parse(source), { strict: true }))
  const ours = hex(value && MetaData.encode(value))
  if (ours === hex(theirs)) {
    expect(value).toEqual(theirs && MetaData.decode(theirs))
    return undefined
  }
  const values = error
    ? [valueAt(json, error.path ?? '')]
    : Object.values(Object(valueAt(json, 'third_party.last_upgrade_date')))
  const difference = JSON_DIFFERENCES.find(({ isWhy }) => values.some((value) => isWhy(value, error)))
  if (difference === undefined) expect.fail(`${source}: ${error?.message ?? ours}, and not ${hex(theirs)}`)
  // What Python refuses for its quotes it takes without them, and then reads the same.
  const unquoted = source.replace(/"((?:year|month|day)":)"([-.\deE]+)"/g, '"$1$2')
  const read = error === undefined ? await reference.fromJSON('MetaData', unquoted) : undefined
  expect(ours, source).toBe(hex(read))
  return difference
}

/** What stands in JSON at the path of an error, which has the names of the schema. */
function valueAt(json: unknown, path: string): unknown {
  let value = json
  for (const name of path.match(/\w+/g) ?? []) {
    const camel = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
    value = Object(value)[name] ?? Object(value)[camel]
  }
  return value
}

const escapeControls = (text: string | undefined): string | undefined =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is about them
  text?.replace(/[\0-\x09\x0b-\x1f\x7f]/g, (control) => `\\${control.charCodeAt(0).toString(8).padStart(3, '0')}`)

describe.skipIf(programs === undefined)('a message', () => {
  it('is written in binary, text and JSON, and read from them, as the reference does it', async () => {
    await check(anyMessage, 500, async (fields) => {
      const message = MetaData.create(fields)
      // The fields as they are generated are JSON, so the reference has the message without our help.
      const binary = await reference.fromJSON('MetaData', JSON.stringify(fields))
      if (binary === undefined) return expect.fail('the reference refused the JSON')
      expect(hex(MetaData.encode(message))).toBe(hex(binary))
      expect(MetaData.decode(binary)).toEqual(message)

      const text = await reference.print(binary)
      expect(formatText(message)).toBe(text)
      expect(text).toBe(await reference.printInPython(binary, 'text'))
      const readable = formatText(message, { utf8: true })
      // Python leaves control characters in it as they are, C++ does not.
      expect(readable).toBe(escapeControls(await reference.printInPython(binary, 'utf8')))
      for (const source of [text ?? '', readable]) expect(parseText(source, { strict: true })).toEqual(message)

      const json = await reference.toJSON('MetaData', binary)
      expect(MetaData.toJSON(message)).toEqual(JSON.parse(json ?? ''))
      expect(MetaData.fromJSON(JSON.parse(json ?? ''), { strict: true })).toEqual(message)
    })
  })

  it('is read from JSON, or refused, as the reference does it', async () => {
    await check(anyJson, 3000, async (json) => {
      await judgeJson(json)
    })
  })

  it.each(JSON_DIFFERENCES)('differs on purpose in JSON: $what', async (difference) => {
    for (const json of difference.cases) expect(await judgeJson(json)).toBe(difference)
  })
})

/** Whether the string that was refused at an offset is no UTF-8 indeed: the one thing in binary that is refused on purpose. */
function isInvalidUtf8(input: Uint8Array, { code, offset = 0 }: MetadataError): boolean {
  let at = offset
  let length = 0
  for (let shift = 0; ; shift += 7) {
    const byte = input[at++] ?? 0
    length += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) break
  }
  return code === 'invalid_utf8' && !isUtf8(input.subarray(at, at + length))
}

/**
 * The same verdict as that of C++ and, where it accepts, the same binary. Unknown fields are kept here as they came, and
 * C++ writes their numbers as short as can be: then both are the same to C++.
 */
async function judgeBinary(type: TypeName, input: Uint8Array): Promise<void> {
  const theirs = await reference.rewrite(type, input)
  const { value, error } = attempt(() => REWRITE[type](input).binary)
  const what = `${type} ${hex(input)}: ${error?.message}`
  const isSame = hex(value) === hex(theirs)
  const ours = isSame || value === undefined || theirs === undefined ? value : await reference.rewrite(type, value)
  const isOnPurpose = theirs !== undefined && error !== undefined && isInvalidUtf8(input, error)
  expect(hex(ours), what).toBe(isOnPurpose ? undefined : hex(theirs))
}

const typed = (cases: (type: TypeName) => fc.Arbitrary<Uint8Array>): fc.Arbitrary<[TypeName, Uint8Array]> =>
  anyType.chain((type) => fc.tuple(fc.constant(type), cases(type)))

const third = (...parts: (Uint8Array | readonly number[])[]): Uint8Array =>
  bytes(tag(13, 2), delimited(bytes(...parts)))
const NAME = tag(1, 2)

/** Where a decoder may go wrong by one. */
const BOUNDARIES: readonly (readonly [what: string, input: Uint8Array])[] = [
  ...[1, 4, 5, 8, 9].map((n) => [`a tag with ${n} bytes too many`, bytes(tag(1, 2, n), [1, 0x78])] as const),
  ...[1, 4, 5, 8, 9].map((n) => [`a length with ${n} bytes too many`, bytes(NAME, varint(1, n), [0x78])] as const),
  ...[1, 4, 5, 8, 9, 10].map((n) => [`a varint with ${n} bytes too many`, third(tag(11, 0), varint(4, n))] as const),
  ...[1, 4, 5].map((n) => [`an end of a group with ${n} bytes too many`, bytes(tag(15, 3), tag(15, 4, n))] as const),
  ...[0x01, 0x08, 0x0f, 0x10, 0x7f, 0x80].map(
    (last) => [`a tag whose fifth byte is ${last}`, bytes([0x8a, 0x80, 0x80, 0x80, last, 1, 0x78])] as const,
  ),
  ...[0x00, 0x01, 0x02, 0x7f, 0x80].map(
    (last) => [`a varint whose tenth byte is ${last}`, bytes(tag(15, 0), Array(9).fill(0xff), [last])] as const,
  ),
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((wire) => [`field 0 of wire type ${wire}`, bytes(tag(0, wire), [1, 0x78])] as const),
  ...[0, 1, 2, 3, 4, 5, 6, 7].map(
    (wire) => [`field 15 of wire type ${wire}`, bytes(tag(15, wire), [1, 0x78])] as const,
  ),
  ...[2 ** 29 - 1, 2 ** 29, 2 ** 29 + 1].map(
    (number) => [`field ${number}`, bytes(tag(number, 2), [1, 0x78])] as const,
  ),
  ...[2 ** 31 - 17, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, 2 ** 35 + 1, 2n ** 63n, 2n ** 64n - 1n].flatMap((length) =>
    [1, 13, 15].map((number) => [`a length of ${length}`, bytes(tag(number, 2), varint(length), [0x78])] as const),
  ),
  ...[1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 32 + 2, -1, 2n ** 63n].map(
    (value) => [`the directory type ${value}`, third(tag(11, 0), varint(value))] as const,
  ),
  ...[2 ** 31, 2 ** 32, 2 ** 32 + 5, -1, 2n ** 63n].map(
    (value) => [`the year ${value}`, third(tag(10, 2), delimited(bytes(tag(1, 0), varint(value))))] as const,
  ),
  ...[99, 100, 101].map((depth) => [`${depth} groups`, groups(depth)] as const),
  ...[98, 99, 100].map((depth) => [`${depth} groups in a message`, third(groups(depth))] as const),
  ...[97, 98, 99].map(
    (depth) =>
      [`${depth} groups in a message of a message`, third(groups(90), tag(7, 2), delimited(groups(depth)))] as const,
  ),
  ['a length past the end', bytes(NAME, [2, 0x78])],
  ['a child longer than its parent', bytes(tag(13, 2), [3, 0x12, 4, 0x76], NAME, [1, 0x6e])],
  ['a varint that goes on after its parent', bytes(tag(13, 2), [2, 0x78, 0x81], [0], NAME, [0])],
  ['a tag that goes on after its parent', bytes(tag(13, 2), [1, 0xf8], [1, 5])],
  ['a fixed number that goes on after its parent', bytes(tag(13, 2), [3, 0x7d, 1, 2], [3, 4])],
  ['a group that ends after its parent', bytes(tag(13, 2), [1, 0x7b], [0x7c])],
  ['a group that does not end', bytes(tag(15, 3))],
  ['the end of another group', bytes(tag(15, 3), tag(14, 4))],
  ['groups that overlap', bytes(tag(15, 3), tag(16, 3), tag(15, 4), tag(16, 4))],
  ['the end of no group, last', bytes(NAME, [1, 0x78], tag(15, 4))],
  ['the end of a group in a message in the group', bytes(tag(15, 3), third(tag(15, 4)))],
  ['a zero at the end', bytes(NAME, [1, 0x78, 0])],
  ['a zero at the end of a message', third(tag(2, 2), [1, 0x76, 0])],
  ['a zero in two bytes', bytes([0x80, 0])],
  [
    'a message in three parts',
    bytes(
      third(tag(15, 0), [1]),
      NAME,
      [0],
      third(tag(10, 2), [2, 8, 1]),
      third(tag(10, 2), [2, 16, 2], tag(14, 0), [2]),
    ),
  ],
  ['an enum with a value, then with one that is unknown', third(tag(11, 0), [4], tag(11, 0), [9])],
  ['a number in packed form', third(tag(10, 2), delimited(bytes(tag(1, 2), [1, 5])))],
  ['a message as a group', bytes(tag(13, 3), tag(2, 2), [1, 0x76], tag(13, 4))],
]

const inside = (bytes: Uint8Array, times: number): Uint8Array =>
  times === 0 ? bytes : inside(unknown(bytes), times - 1)
const unknown = (...parts: (Uint8Array | readonly number[])[]): Uint8Array =>
  bytes(tag(15, 2), delimited(bytes(...parts)))
const ONE = bytes(tag(1, 0), [1])

/** Unknown bytes, which are printed as a message where they can be read as one, by rules of their own. */
const PAYLOADS: readonly Uint8Array[] = [
  ...[0, 4, 5, 9, 10].map((n) => unknown(tag(1, 0, n), [1])),
  ...[0, 4, 5, 9, 10].map((n) => unknown(tag(1, 2), varint(1, n), [0x78])),
  ...[0, 8, 9, 10].map((n) => unknown(tag(1, 0), varint(1, n))),
  ...[0x01, 0x0f, 0x10, 0x7f].map((last) => unknown([0x88, 0x80, 0x80, 0x80, last, 5])),
  ...[0x00, 0x01, 0x7f].map((last) => unknown([0x88], Array(8).fill(0x80), [last, 5])),
  ...[2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2n ** 63n + 1n, -1].map((n) => unknown(tag(1, 2), varint(n), [0x78])),
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((wire) => unknown(ONE, [wire, 1, 0x78])),
  ...[3, 4, 6, 7].map((wire) => unknown(ONE, tag(1, wire))),
  ...[[], [0], [0x80, 0], [0xff], [0x0a, 5, 0x78], [0x0d, 1, 2, 3]].map((part) => unknown(part)),
  ...[9, 10, 11, 12].flatMap((depth) => [
    inside(ONE, depth),
    inside(groups(1), depth),
    unknown(groups(depth)),
    unknown(unknown(groups(depth - 1))),
    bytes(Array(depth).fill(0x7b), unknown(ONE), Array(depth).fill(0x7c)),
    third(inside(ONE, depth)),
  ]),
]

describe.skipIf(programs === undefined)('binary', () => {
  it('with unknown fields comes back byte for byte as C++ writes it, and prints as protoc prints it', async () => {
    await check(typed(tidyBinary), 1000, async ([type, input]) => {
      const theirs = await reference.rewrite(type, input)
      const { binary, json } = REWRITE[type](input)
      expect(hex(binary)).toBe(hex(theirs))
      expect(json).toEqual(JSON.parse((await reference.toJSON(type, input)) ?? ''))
    })
    await check(tidyBinary('MetaData'), 400, async (input) => {
      expect(formatText(MetaData.decode(input))).toBe(await reference.print(input))
    })
  })

  it('with faults is read or refused as C++ does it', async () => {
    await check(typed(brokenBinary), 5000, ([type, input]) => judgeBinary(type, input))
  })

  it('prints unknown bytes as protoc does, as a message or as a string', async () => {
    await each(PAYLOADS, async (input) => {
      expect(formatText(MetaData.decode(input))).toBe(await reference.print(input))
    })
  })

  it('keeps the numbers of unknown fields as long as they came, which C++ shortens', async () => {
    const long = bytes(tag(15, 0), varint(5, 3))
    expect(hex(MetaData.encode(MetaData.decode(long)))).toBe(hex(long))
    expect(hex(await reference.rewrite('MetaData', long))).toBe(hex(bytes(tag(15, 0), varint(5))))
  })

  it('with a string that is no UTF-8 is refused, which C++ accepts', async () => {
    const invalid = bytes(NAME, [1, 0xff])
    expect(attempt(() => MetaData.decode(invalid)).error?.code).toBe('invalid_utf8')
    expect(hex(await reference.rewrite('MetaData', invalid))).toBe(hex(invalid))
  })

  it('at its boundaries is read or refused as C++ does it', async () => {
    await each(BOUNDARIES, async ([, input]) => {
      await judgeBinary('MetaData', input)
      // protoc reads from a stream and Python from memory; both are the reference.
      expect((await reference.print(input)) === undefined).toBe(
        (await reference.rewrite('MetaData', input)) === undefined,
      )
    })
  })
})

/**
 * What writes and changes a record that somebody else wrote, and what shows how it was changed.
 * @module
 */
import type { Change } from 'grantwell/metadata'
import { editText, formatJson, formatText, MetaData, parseText } from 'grantwell/metadata'
import { makeHunks } from '../../src/cli/diff.js'
import { formatTree, isExact, parseJson, toJsonFraction } from '../../src/metadata/json/json-text.js'
import type { Sizes } from './growth.js'
import { FACTOR } from './growth.js'
import { ofShapes } from './metadata-parsers.js'
import { BINARIES, JSONS, LONG_NAMES, TEXTS } from './metadata-shapes.js'
import type { Inputs } from './shapes.js'
import { all, of } from './shapes.js'

const ALL_TEXTS = { ...TEXTS, ...LONG_NAMES }
const itself = <Input>(input: Input): Input => input
const decoded = (bytes: Uint8Array) => MetaData.decode(bytes)
const ofJson = (text: string) => MetaData.fromJSON(parseJson(text))

/** Changes of a few fields, which any record may be given. */
const CHANGES: readonly Change[] = [
  {
    name: 'a',
    'third_party.last_upgrade_date': { year: 2026, month: 11, day: 21 },
    'third_party.url[+]': { type: 'GIT', value: 'b' },
    'third_party.security.tag[+]': 'b',
  },
  { 'a[+]': { b: 'c' }, 'third_party.security.tag': ['b'], 'third_party.url': [{ value: 'b' }] },
  { 'a[0]': 7 },
  { name: null, 'third_party.security.tag': null, 'third_party.url': null, a: null },
]

/** Counts of parts, where each part is of a change as well as of a text. */
const PARTS: Sizes = { small: 256, large: 256 * FACTOR }

const indexed = <Item>(size: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: size }, (_, index) => make(index))
const changeOf = (size: number, entry: (index: number) => readonly [string, Change[string]]): Change =>
  Object.fromEntries(indexed(size, entry))

/** Changes as long as the text. */
const LONG_CHANGES = of(
  {
    'many names set': (size) => {
      const text = indexed(size, (index) => `n${index}: 1`).join('\n')
      const change = changeOf(size, (index) => [`n${index}`, 2])
      return () => editText(text, change)
    },
    'many names removed': (size) => {
      const text = indexed(size, (index) => `n${index}: 1`).join(' ')
      const change = changeOf(size, (index) => [`n${index}`, null])
      return () => editText(text, change)
    },
    'many names removed from many blocks': (size) => {
      const text = indexed(size, (index) => `third_party { n${index}: 1 }`).join(' ')
      const change = changeOf(size, (index) => [`third_party.n${index}`, null])
      return () => editText(text, change)
    },
    'many of a list removed': (size) => {
      const text = `a: [${indexed(size, () => '1').join(', ')}]`
      const change = changeOf(size / 2, (index) => [`a[${index * 2}]`, null])
      return () => editText(text, change)
    },
    'many names added to': (size) => {
      const text = indexed(size, (index) => `n${index}: 1`).join(' ')
      const change = changeOf(size, (index) => [`n${index}[+]`, 2])
      return () => editText(text, change)
    },
    'many added to the first of many': (size) => {
      const text = `a: 1 ${indexed(size, (index) => `n${index}: 1`).join(' ')}`
      const change = { a: indexed(size, (index) => index) }
      return () => editText(text, change)
    },
    'many blocks added beside a long one': (size) => {
      const text = `a { b: "${'b'.repeat(size * 16)}" }`
      const change = { a: indexed(size, () => ({ b: 'c' })) }
      return () => editText(text, change)
    },
    'many added to a list behind a long block': (size) => {
      const text = `a: [{ b: "${'b'.repeat(size * 16)}" }\n]`
      const change = { a: indexed(size, () => ({ b: 'c' })) }
      return () => editText(text, change)
    },
    'many empty blocks on one line filled': (size) => {
      const text = 'a {} '.repeat(size)
      const change = changeOf(size, (index) => [`a[${index}].b`, 1])
      return () => editText(text, change)
    },
    'many blocks on one line added to': (size) => {
      const text = 'a { b: 1 } '.repeat(size)
      const change = changeOf(size, (index) => [`a[${index}].c`, 1])
      return () => editText(text, change)
    },
    'many blocks on lines replaced': (size) => {
      const text = 'a: 1\n'.repeat(size)
      const change = changeOf(size, (index) => [`a[${index}]`, { b: 1 }])
      return () => editText(text, change)
    },
    'many scalars on one line replaced': (size) => {
      const text = 'a: 1 '.repeat(size)
      const change = changeOf(size, (index) => [`a[${index}]`, { b: 1 }])
      return () => editText(text, change)
    },
    'a string of many pieces': (size) => {
      const text = `name: ${'"a"\n'.repeat(size)}`
      const value = `${'a'.repeat(size / 2)}b${'a'.repeat(size / 2)}`
      return () => editText(text, { name: value })
    },
  },
  PARTS,
)

/** Lines of two texts, many more than those for which the shortest way is looked for. */
const LINES: Sizes = { small: 4096, large: 4096 * FACTOR }

const lines = (size: number, line: (index: number) => string): string =>
  indexed(size, (index) => `${line(index)}\n`).join('')

/** The writers of `src/metadata`, and the differences that the command shows. */
export const METADATA_WRITERS: Readonly<Record<string, Inputs>> = {
  'metadata/edit/edit.ts editText': all(
    of({
      'blanks between a name and its value': (size) => {
        const text = `third_party { url${' '.repeat(size)}# what it is\n { value: "a" } }`
        return () => editText(text, { 'third_party.url[+]': {} })
      },
    }),
    ...CHANGES.map((change) =>
      renamed(
        Object.keys(change).join(', '),
        ofShapes(ALL_TEXTS, itself, (text) => editText(text, change)),
      ),
    ),
    LONG_CHANGES,
  ),
  // Of a long name with a list as many fields as it has values are written, so that what is written grows faster.
  'metadata/text/format.ts formatText': all(
    ofShapes(TEXTS, parseText, (record) => formatText(record)),
    ofShapes(BINARIES, decoded, (record) => formatText(record)),
  ),
  'metadata/json/to-json.ts formatJson': all(
    ofShapes(ALL_TEXTS, parseText, (record) => formatJson(record, { unknownText: 'omit' })),
    ofShapes(JSONS, ofJson, (record) => formatJson(record)),
  ),
  'metadata/json/to-json.ts toJson': all(
    ofShapes(ALL_TEXTS, parseText, (record) => MetaData.toJSON(record, { unknownText: 'string' })),
    ofShapes(BINARIES, decoded, (record) => MetaData.toJSON(record)),
  ),
  'metadata/codec.ts MetaData.create': all(
    ofShapes(ALL_TEXTS, parseText, (record) => MetaData.create(record)),
    ofShapes(BINARIES, decoded, (record) => MetaData.create(record)),
  ),
  'metadata/json/json-text.ts formatTree': ofShapes(JSONS, parseJson, formatTree),
  'metadata/json/json-text.ts isExact': of({
    digits: (size) => () => isExact(`${'7'.repeat(size)}.${'0'.repeat(size)}e-9`),
    zeros: (size) => () => isExact(`-.${'0'.repeat(size)}1f`),
    'no fraction': (size) => () => isExact(`${'7'.repeat(size)}x`),
  }),
  'metadata/json/json-text.ts toJsonFraction': of({
    digits: (size) => () => toJsonFraction(`.${'7'.repeat(size)}f`),
    'no fraction': (size) => () => toJsonFraction(`${'7'.repeat(size)}x`),
  }),
  'metadata/binary/encode.ts encodeMessage': all(
    ofShapes(BINARIES, decoded, (record) => MetaData.encode(record)),
    ofShapes(ALL_TEXTS, parseText, (record) => MetaData.encode(record, { unknownText: 'omit' })),
  ),
  'cli/diff.ts makeHunks': of(
    {
      'no line alike': (size) =>
        hunks(
          lines(size, () => 'a'),
          lines(size, () => 'b'),
        ),
      'every other line alike': (size) =>
        hunks(
          lines(size, (index) => `${index >> 1}`),
          lines(size, (index) => `${index % 2 === 0 ? index >> 1 : 'b'}`),
        ),
      'one line at first and one at the end': (size) =>
        hunks(
          lines(size, () => 'a'),
          `b\n${lines(size, () => 'a')}b`,
        ),
      'one line without an end': (size) => hunks('a'.repeat(size), 'b'.repeat(size)),
    },
    LINES,
  ),
}

function hunks(before: string, after: string): () => unknown {
  return () => makeHunks(before, after)
}

function renamed(head: string, inputs: Inputs): Inputs {
  return new Map([...inputs].map(([name, input]) => [`${head}: ${name}`, input]))
}

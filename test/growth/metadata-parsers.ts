/**
 * What the metadata codec reads of a record that somebody else wrote.
 * @module
 */
import {
  dateFromISO,
  describeField,
  getField,
  locateFields,
  MetaData,
  parseText,
  readMetadata,
  unknownFields,
  validate,
} from 'grantwell/metadata'
import { parseJson } from '../../src/metadata/json/json-text.js'
import { parsePath } from '../../src/metadata/path.js'
import {
  parseBigint,
  parseDecimal,
  parseInt32,
  parseInteger,
  writeBytesLiteral,
  writeLiteral,
} from '../../src/metadata/text/literals.js'
import { parseSyntax } from '../../src/metadata/text/syntax.js'
import { eachProblem } from '../../src/metadata/validate.js'
import type { Shape } from './metadata-shapes.js'
import { BINARIES, JSONS, LONG_NAMES, TEXTS, tame } from './metadata-shapes.js'
import type { Inputs } from './shapes.js'
import { all, of, ofText } from './shapes.js'

/** A function of records in these shapes; what is prepared of a record is outside the time that is taken. */
export function ofShapes<Input, Prepared>(
  shapes: Readonly<Record<string, Shape<Input>>>,
  prepare: (input: Input) => Prepared,
  work: (prepared: Prepared) => unknown,
): Inputs {
  const cases = Object.entries(shapes).map(([name, shape]) => {
    const prepared = (size: number) => tame(() => prepare(shape(size)))
    // A shape that is refused has nothing to go on with.
    return [
      name,
      (size: number) => {
        const input = prepared(size)
        return () => (input === undefined ? undefined : tame(() => work(input)))
      },
    ] as const
  })
  return of(Object.fromEntries(cases))
}

const itself = <Input>(input: Input): Input => input
const ALL_TEXTS = { ...TEXTS, ...LONG_NAMES }

/** The readers of `src/metadata`. */
export const METADATA: Readonly<Record<string, Inputs>> = {
  'metadata/text/syntax.ts parseSyntax': ofShapes(ALL_TEXTS, itself, parseSyntax),
  'metadata/text/text.ts parseText': all(
    ofText((text) => tame(() => parseText(text))),
    ofShapes(ALL_TEXTS, itself, (text) => parseText(text)),
  ),
  'metadata/json/json-text.ts parseJson': all(
    ofText((text) => tame(() => parseJson(text))),
    ofShapes(JSONS, itself, parseJson),
  ),
  'metadata/json/from-json.ts fromJson': ofShapes(JSONS, parseJson, (tree) => MetaData.fromJSON(tree)),
  'metadata/binary/decode.ts decodeMessage': ofShapes(BINARIES, itself, (bytes) => MetaData.decode(bytes)),
  'metadata/read.ts readMetadata': all(
    ofShapes(BINARIES, itself, (bytes) => readMetadata(bytes)),
    ofShapes(
      TEXTS,
      (text) => Buffer.from(text),
      (bytes) => readMetadata(bytes),
    ),
    ofShapes(
      JSONS,
      (text) => Buffer.from(text),
      (bytes) => readMetadata(bytes),
    ),
  ),
  'metadata/binary/unknown-fields.ts unknownFields': ofShapes(
    BINARIES,
    (bytes) => MetaData.decode(bytes),
    unknownFields,
  ),
  'metadata/path.ts getField': all(
    ofShapes(ALL_TEXTS, parseText, (record) => getField(record, 'a')),
    ofShapes(
      LONG_NAMES,
      (text) => [parseText(text), text.slice(0, text.indexOf(':'))] as const,
      ([record, name]) => getField(record, name),
    ),
  ),
  'metadata/validate.ts eachProblem': ofShapes(ALL_TEXTS, parseText, (record) => eachProblem(record, () => {})),
  'metadata/validate.ts validate': ofShapes(ALL_TEXTS, parseText, validate),
  'metadata/fields.ts locateFields': ofShapes(ALL_TEXTS, itself, (text) =>
    locateFields(text, ['a.a', 'third_party.url[1]']),
  ),
  'metadata/fields.ts describeField': ofText((path) => tame(() => describeField(path))),
  'metadata/path.ts parsePath': ofText(
    (path) => tame(() => parsePath(path)),
    [
      ['', ''],
      ['a[', ''],
      ['[a', ']'],
    ],
  ),
  'metadata/date.ts dateFromISO': ofText((text) => tame(() => dateFromISO(text))),
  // V8 needs the power 1.6 of decimal digits to make a `bigint` of them: only short ones get here.
  'metadata/text/literals.ts parseInteger': of({
    octal: (size) => () => parseInteger('07'.repeat(size / 2)),
    hexadecimal: (size) => () => parseInteger(`-0x${'7'.repeat(size)}`),
  }),
  'metadata/text/literals.ts writeLiteral': ofText((text) =>
    writeLiteral(text, { quote: '"', utf8: false, escapeBothQuotes: true }),
  ),
  'metadata/text/literals.ts writeBytesLiteral': of({ bytes: (size) => () => writeBytesLiteral(new Uint8Array(size)) }),
  'metadata/text/literals.ts parseDecimal': of({
    digits: (size) => () => parseDecimal('7'.repeat(size)),
    hexadecimal: (size) => () => tame(() => parseDecimal(`0x${'7'.repeat(size)}`)),
  }),
  'metadata/text/literals.ts parseBigint': of({
    digits: (size) => () => tame(() => parseBigint('7'.repeat(size))),
    hexadecimal: (size) => () => tame(() => parseBigint(`-0x${'7'.repeat(size)}`)),
  }),
  'metadata/text/literals.ts parseInt32': of({
    decimal: (size) => () => parseInt32('7'.repeat(size)),
    zeros: (size) => () => parseInt32(`0${'0'.repeat(size)}7`),
    hexadecimal: (size) => () => parseInt32(`-0x${'7'.repeat(size)}`),
  }),
}

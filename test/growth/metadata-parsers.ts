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
import { bigintOf, bytesLiteral, decimalOf, int32Of, integerOf, literalOf } from '../../src/metadata/text/literals.js'
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
  'metadata/json/json.ts fromJson': ofShapes(JSONS, parseJson, (tree) => MetaData.fromJSON(tree)),
  'metadata/binary.ts decodeMessage': ofShapes(BINARIES, itself, (bytes) => MetaData.decode(bytes)),
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
  'metadata/binary.ts unknownFields': ofShapes(BINARIES, (bytes) => MetaData.decode(bytes), unknownFields),
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
  'metadata/text/literals.ts integerOf': of({
    octal: (size) => () => integerOf('07'.repeat(size / 2)),
    hexadecimal: (size) => () => integerOf(`-0x${'7'.repeat(size)}`),
  }),
  'metadata/text/literals.ts literalOf': ofText((text) =>
    literalOf(text, { quote: '"', utf8: false, escapeBothQuotes: true }),
  ),
  'metadata/text/literals.ts bytesLiteral': of({ bytes: (size) => () => bytesLiteral(new Uint8Array(size)) }),
  'metadata/text/literals.ts decimalOf': of({
    digits: (size) => () => decimalOf('7'.repeat(size)),
    hexadecimal: (size) => () => tame(() => decimalOf(`0x${'7'.repeat(size)}`)),
  }),
  'metadata/text/literals.ts bigintOf': of({
    digits: (size) => () => tame(() => bigintOf('7'.repeat(size))),
    hexadecimal: (size) => () => tame(() => bigintOf(`-0x${'7'.repeat(size)}`)),
  }),
  'metadata/text/literals.ts int32Of': of({
    decimal: (size) => () => int32Of('7'.repeat(size)),
    zeros: (size) => () => int32Of(`0${'0'.repeat(size)}7`),
    hexadecimal: (size) => () => int32Of(`-0x${'7'.repeat(size)}`),
  }),
}

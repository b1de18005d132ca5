/**
 * The metadata codec: binary, JSON and text there and back, of random records, of documents as people write them and of
 * real ones.
 * @module
 * @see Specification, metadata record
 */
import fc from 'fast-check'
import { portableDigests } from 'grantwell'
import {
  editText,
  formatText,
  getField,
  MetaData,
  MetadataError,
  parseText,
  readMetadata,
  validate,
} from 'grantwell/metadata'
import { anyMessage } from '../../metadata/arbitraries.js'
import { anyDocument } from '../../metadata/documents.js'
import type { Case, Suite } from './case.js'
import { demand, forAll, hexOf, SEED, same } from './case.js'
import { records } from './records.js'

const message = anyMessage.map((base) => MetaData.create(base))

/** Real records, or where there are none, made-up documents. */
function documents(): readonly string[] {
  const real = Object.values(records)
  return real.length > 0 ? real : fc.sample(anyDocument, { seed: SEED, numRuns: 100 }).map(({ text }) => text)
}

/** All three forms of a record, each of which must be read as that record. */
function thereAndBack(record: MetaData): readonly [binary: string, json: string, text: string] {
  const binary = MetaData.encode(record)
  same(MetaData.decode(binary), record, 'from binary')
  const json = JSON.stringify(MetaData.toJSON(record))
  same(MetaData.fromJSON(JSON.parse(json), { strict: true }), record, 'from JSON')
  const text = formatText(record)
  same(parseText(text, { strict: true }), record, 'from text')
  same(parseText(formatText(record, { utf8: true })), record, 'from text with characters')
  return [hexOf(binary), json, text]
}

/** An answer, or the one error there is. */
function verdict<Answer>(read: () => Answer): Answer | MetadataError {
  try {
    return read()
  } catch (error) {
    if (error instanceof MetadataError) return error
    throw error
  }
}

const cases: readonly Case[] = [
  {
    name: 'takes every record there and back in binary, JSON and text, with the same result on every runtime',
    run: () => {
      const forms: string[] = []
      forAll(message, (record) => void forms.push(...thereAndBack(record)), 500)
      return portableDigests.sha256(forms.join('\n'))
    },
  },
  {
    name: 'tells the form of a record',
    run: () =>
      forAll(message, (record) => {
        const utf8 = new TextEncoder().encode(formatText(record, { utf8: true }))
        same(readMetadata(utf8), { format: 'text', metadata: record }, 'text')
        const json = JSON.stringify(MetaData.toJSON(record))
        same(readMetadata(json), { format: 'json', metadata: record }, 'JSON')
        const { format, metadata } = readMetadata(MetaData.encode(record))
        // Nothing, and a record of printable ASCII alone, may be text as well.
        if (format === 'binary') same(metadata, record, 'binary')
      }),
  },
  {
    name: 'reads documents as people write them, and what it formats of them it reads again',
    run: () => {
      const forms: string[] = []
      let read = 0
      for (const text of documents()) {
        const record = verdict(() => parseText(text))
        if (record instanceof MetadataError) forms.push(`${record.code} ${record.message}`)
        else {
          read++
          const formatted = formatText(record)
          same(formatText(parseText(formatted)), formatted, text)
          const binary = MetaData.encode(record, { unknownText: 'omit' })
          same(MetaData.encode(MetaData.decode(binary)), binary, text)
          const json = MetaData.toJSON(record, { unknownText: 'string' })
          same(MetaData.toJSON(MetaData.fromJSON(json)), json, text)
          forms.push(formatted, hexOf(binary), JSON.stringify(json), JSON.stringify(validate(record)))
        }
      }
      demand(read >= 50, `at least 50 documents that are sound, not ${read}`)
      return `${read} ${portableDigests.sha256(forms.join('\n'))}`
    },
  },
  {
    name: 'edits a document and leaves all else of it as it was',
    run: () =>
      forAll(anyDocument, ({ text }) => {
        same(editText(text, {}), text, 'no edit')
        const name = 'another "name" ü\u{1f600}'
        const edited = editText(text, { name })
        same(getField(parseText(edited), 'name'), name, 'the field')
        same({ ...parseText(edited), name: '' }, { ...parseText(text), name: '' }, 'all else')
      }),
  },
  {
    name: 'reads or refuses whatever bytes come',
    run: () => {
      const bytes = fc.oneof(
        fc.uint8Array({ maxLength: 200, size: 'max' }),
        fc
          .tuple(
            message.map((record) => MetaData.encode(record)),
            fc.nat(),
            fc.nat(255),
          )
          .map(([binary, at, byte]) => binary.map((was, index) => (index === at % binary.length ? byte : was))),
      )
      const verdicts: string[] = []
      forAll(
        bytes,
        (some) => {
          const record = verdict(() => MetaData.decode(some))
          verdicts.push(record instanceof MetadataError ? record.code : hexOf(MetaData.encode(record)))
          verdict(() => readMetadata(some))
        },
        1000,
      )
      return portableDigests.sha256(verdicts.join(' '))
    },
  },
  {
    name: 'says of JSON that is none what it is',
    run: () => {
      for (const text of ['{', '{"name": }', '{"name": "a"', '{"name": "a"} b', "{'name': 'a'}"]) {
        const error = verdict(() => readMetadata(text))
        same(error instanceof MetadataError && error.code, 'invalid_json', text)
      }
    },
  },
]

export const metadata: Suite = { title: 'the metadata codec', cases: () => cases }

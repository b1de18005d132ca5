/** The bound on what is written: indentation and repeated names make of some records hundreds of times their bytes. */
import { formatJson, formatText, MetaData, type MetadataError, readMetadata } from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'
import { formatTree } from '../../src/metadata/json/json-text.js'

const MAX_TEXT = 67_108_864

/** Values in as many messages, one in the other, as a record may have. */
const deep = (values: string): string => `third_party { ${'a { '.repeat(97)}${values}${' }'.repeat(97)} }`

/** Bytes within as many groups as a record may have. */
const groups = (part: readonly number[], count: number): Uint8Array => {
  const fields = Buffer.alloc(part.length * count, Uint8Array.from(part))
  return Buffer.concat([Buffer.alloc(99, 0x23), fields, Buffer.alloc(99, 0x24)])
}

type Shape = (count: number) => string | Uint8Array

/** Records of so many values, each of which takes a line of two hundred characters where it is written. */
const SHAPES: Readonly<Record<string, Shape>> = {
  'a deep list of numbers': (count) => deep(`b: [0${', 0'.repeat(count)}]`),
  'a deep list of strings': (count) => deep(`b: [""${', ""'.repeat(count)}]`),
  'a deep list of empty messages': (count) => deep(`b: [{}${', {}'.repeat(count)}]`),
  'deep messages of one value': (count) => deep('b { c: 1 } '.repeat(count / 3)),
  'a deep list in JSON': (count) =>
    `{"thirdParty":${'{"a":'.repeat(97)}{"b":[0${',0'.repeat(count)}]}${'}'.repeat(97)}}`,
  'numbers in deep groups': (count) => groups([0x20, 1], count),
  'bytes in deep groups': (count) => groups([0x22, 1, 0xff], count),
  'empty groups in deep groups': (count) => groups([0x23, 0x24], count),
}

/** The last is how the command shows JSON. */
const WRITERS: readonly ((record: MetaData) => string)[] = [
  formatText,
  formatJson,
  (record) => formatTree(MetaData.toJSON(record, { unknownText: 'string' })),
]

describe('a text has 67,108,864 characters at most', () => {
  it.each(Object.entries(SHAPES))(
    'of %s',
    (_, make) => {
      const lengthsOf = (count: number): readonly (number | string)[] => {
        const input = make(count)
        const format = typeof input !== 'string' ? 'binary' : input.startsWith('{') ? 'json' : 'text'
        const { metadata } = readMetadata(Buffer.from(input), { format })
        return WRITERS.map((write) => {
          try {
            return write(metadata).length
          } catch (error) {
            return (error as MetadataError).code
          }
        })
      }
      for (const length of lengthsOf(1000)) expect(length).toBeLessThan(1_000_000)
      // What is no number is no length but an error.
      const isRight = (length: number | string) =>
        typeof length === 'number' ? length <= MAX_TEXT : length === 'too_large'
      expect(lengthsOf(350_000).filter((length) => !isRight(length))).toEqual([])
    },
    60_000,
  )
})

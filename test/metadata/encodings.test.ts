/** Texts in another encoding, with a byte order mark or with halves of characters: messages that say so. */
import { editText, type MetadataError, parseText, readMetadata } from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'

const TEXT = '# Kept by hand.\nname: "zlib"\nthird_party { version: "1" }\n'
const JSON_TEXT = '{"name": "zlib", "thirdParty": {"version": "1"}}'

const faultOf = (read: () => unknown): MetadataError => {
  try {
    read()
  } catch (error) {
    return error as MetadataError
  }
  throw new Error('taken')
}

const bigEndian = (text: string): Uint8Array => Buffer.from(text, 'utf16le').swap16()
const littleEndian = (text: string): Uint8Array => Buffer.from(text, 'utf16le')

describe('a text in another encoding', () => {
  const texts = [TEXT, JSON_TEXT, 'name: "é"\n', '# Größe und Länge\nname: "日本語"\nthird_party {}\n']
  const encodings = [
    ['UTF-16, little-endian, with a mark', (text: string) => littleEndian(`\ufeff${text}`)],
    ['UTF-16, big-endian, with a mark', (text: string) => bigEndian(`\ufeff${text}`)],
    ['UTF-16, little-endian, without a mark', littleEndian],
    ['UTF-16, big-endian, without a mark', bigEndian],
  ] as const
  it.each(encodings)('is said to be %s', (_, encode) => {
    for (const text of texts)
      for (const read of [parseText, readMetadata]) {
        const fault = faultOf(() => read(encode(text)))
        expect(fault).toMatchObject({ name: 'MetadataError', code: 'invalid_utf8', line: 1, column: 1 })
        expect(fault.message).toMatch(
          /^1:1: UTF-16 \((?:little|big)-endian\), where UTF-8 is taken: save the text as UTF-8$/,
        )
      }
  })

  it('is said to be UTF-16 where it was read into a string as if it were another', () => {
    const text = littleEndian(TEXT).toString()
    for (const read of [() => parseText(text), () => editText(text, { name: 'a' }), () => readMetadata(text)])
      expect(faultOf(read).message).toBe('1:2: a NUL character: is the text UTF-16? It has to be UTF-8')
    expect(faultOf(() => parseText('name: "a\0"')).message).toBe('1:9: a NUL character')
  })

  it('is no such thing where it is a good record of binary', () => {
    expect(readMetadata(Uint8Array.of(0x0a, 2, 0x61, 0, 0x68, 0)).format).toBe('binary')
  })
})

describe('a byte order mark', () => {
  it('is refused in text, by name, wherever it stands', () => {
    for (const [text, place] of [
      [`\ufeff${TEXT}`, '1:1'],
      [`${TEXT}\ufeff${TEXT}`, '4:1'],
    ] as const)
      for (const read of [
        () => parseText(text),
        () => parseText(Buffer.from(text)),
        () => readMetadata(Buffer.from(text)),
        () => editText(text, { name: 'a' }),
      ])
        expect(faultOf(read)).toMatchObject({
          code: 'syntax',
          message: `${place}: expected a field name, found a byte order mark (BOM): save the text as UTF-8 without it`,
        })
  })

  it('may stand before JSON, and in strings and comments', () => {
    expect(readMetadata(Buffer.from(`\ufeff${JSON_TEXT}`)).metadata.name).toBe('zlib')
    expect(parseText('# \ufeff\nname: "\ufeff"').name).toBe('\ufeff')
  })
})

describe('an escape', () => {
  it.each([
    ['\\ud83d\\ude00', 'an escape of half a character (a surrogate): expected \\U0001f600 for both halves'],
    ['\\ud83d', 'an escape of half a character (a surrogate): expected a whole character, such as \\U0001f600'],
    ['\\ude00\\ud83d', 'an escape of half a character (a surrogate): expected a whole character, such as \\U0001f600'],
    ['\\U0000d83d', 'an escape of half a character (a surrogate): expected a whole character, such as \\U0001f600'],
    ['\\U00110000', 'an escape past the last character: expected \\U0010ffff or less'],
    ['\\400', 'an escape past the last byte: expected \\377 or less'],
    ['\\q', 'no such escape: expected one of '],
    ['\\u12', 'no such escape: expected one of '],
  ])('%s in a string of text says what is wrong with it', (source, message) => {
    const fault = faultOf(() => parseText(`name: "a${source}"`))
    expect(fault.code).toBe('syntax')
    expect(fault.message).toContain(`1:9: ${message}`)
  })

  it('of half a character in JSON is refused with the path', () => {
    for (const json of [
      '{"name": "\\ud83d"}',
      '{"thirdParty": {"security": {"tag": ["\\ude00\\ud83d"]}}}',
      '{"x": "\\ud83d"}',
    ])
      expect(faultOf(() => readMetadata(json))).toMatchObject({
        code: 'invalid_value',
        message: expect.stringMatching(/^\S+ should be a string without lone surrogates/),
      })
    expect(readMetadata('{"name": "\\ud83d\\ude00"}').metadata.name).toBe('😀')
  })
})

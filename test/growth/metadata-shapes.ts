/**
 * Metadata records that would be dear to read, to write or to change, each as long as it is told to be.
 * @module
 */
import { MetadataError } from 'grantwell/metadata'

/** Makes an input of about this many characters or bytes. */
export type Shape<Input> = (size: number) => Input

/** As many whole parts as have room. */
const times = (part: string, size: number): string => part.repeat(size / part.length)
/** Parts that differ by their index. */
const many = (part: (index: number) => string, size: number): string => {
  const parts: string[] = []
  for (let length = 0; length < size; length += parts[parts.length - 1]?.length ?? 1) parts.push(part(parts.length))
  return parts.join('')
}
/** As many opened as closed, as deep as a record may be. */
const nested = (open: string, close: string): string => open.repeat(100) + close.repeat(100)

/** Records in text format. */
export const TEXTS: Readonly<Record<string, Shape<string>>> = {
  'comments on lines': (size) => times('# a comment\n', size),
  'blank lines': (size) => times('\n', size),
  'a name of plain characters': (size) => `name: "${times('a', size)}"`,
  'a name that is not ASCII': (size) => `name: "${times('é', size)}"`,
  'a name of escapes': (size) => `name: "${times('\\303\\251', size)}"`,
  'a name in pieces': (size) => `name: ${times('"\\t" ', size)}`,
  'a name that is not closed': (size) => `name: "${times('a', size)}`,
  'many tags': (size) => `third_party { security {\n${times('tag: "a"\n', size)}} }`,
  'one list of tags': (size) => `third_party { security { tag: ["a"${times(', ""', size)}] } }`,
  'many URLs': (size) => `third_party {\n${times('url { type: GIT value: "https://a.bc" }\n', size)}}\n`,
  'a URL with marks as its host': (size) =>
    `third_party { url { value: "https://a${times('\u0301', size / 2)}${times('\u0323', size / 2)}" } }`,
  'a URL with a user of marks': (size) => `third_party { url { value: "https:${times('\u0301\u0323', size)}@a" } }`,
  'a URL with a path of marks': (size) => `third_party { url { value: "https://a/${times('\u0301', size)}" } }`,
  'many URLs with hosts of marks': (size) =>
    `third_party { ${times(`url { value: "https://a${times('\u0301\u0323', 400)}" } `, size)}}`,
  'many URLs on one line': (size) => `third_party { ${times('url { value: "a" } ', size)}}`,
  'one list of URLs': (size) => `third_party { url: [{}${times(', {}', size)}] }`,
  'many URLs of an unknown type': (size) => `third_party {\n${times('url { type: B }\n', size)}}`,
  'a long block, then short ones': (size) => `a { b: "${times('a', size / 2)}"\n}\n${times('c {} ', size / 2)}`,
  'short blocks, then a long one': (size) => `${times('c {} ', size / 2)}\na { b: "${times('a', size / 2)}"\n}`,
  'one unknown name again and again': (size) => times('a: 1 ', size),
  'many unknown names': (size) => many((index) => `n${index}: ${index}\n`, size),
  'many unknown names on one line': (size) => many((index) => `n${index}: ${index} `, size),
  'one unknown list': (size) => `a: [0${times(', 0', size)}]`,
  'a long name of many values in blocks': (size) => `a { ${times('b', size / 2)} { ${times('a: 1 ', size / 2)}} }`,
  'unknown blocks, empty': (size) => times('a {} ', size),
  'unknown blocks, as deep as may be': (size) => times(nested('a {\n', '}\n'), size),
  'brackets alone': (size) => times('a {', size),
  'one number': (size) => `a: ${times('7', size)}`,
  'one fraction': (size) => `a: 0.${times('7', size)}`,
  'one name of an extension': (size) => `[a${times('.a', size)}]: 1`,
}

/** Names that are long and come with many values, of which the written form is longer than the text. */
export const LONG_NAMES: Readonly<Record<string, Shape<string>>> = {
  'a long name with a list': (size) => `${times('a', size / 2)}: [0${times(', 0', size / 2)}]`,
  'a long name with a list of blocks': (size) => `${times('a', size / 2)}: [{}${times(', {}', size / 2)}]`,
}

/** Records as JSON. */
export const JSONS: Readonly<Record<string, Shape<string>>> = {
  'one string': (size) => `{"name": "${times('a', size)}"}`,
  'one string of escapes': (size) => `{"name": "${times('\\u00e9', size)}"}`,
  'one string of quotes': (size) => `{"name": "${times('\\"', size)}"}`,
  'one string that is not closed': (size) => `{"name": "${times('a', size)}`,
  blanks: (size) => `{${times(' ', size)}}`,
  'many unknown keys': (size) => `{${many((index) => `"n${index}": 1, `, size)}"name": ""}`,
  'many tags': (size) => `{"thirdParty": {"security": {"tag": [""${times(', ""', size)}]}}}`,
  'many URLs': (size) => `{"thirdParty": {"url": [{}${times(', {}', size)}]}}`,
  'one unknown list': (size) => `{"a": [0${times(', 0', size)}]}`,
  'a long key with a list': (size) => `{"${times('a', size / 2)}": [0${times(', 0', size / 2)}]}`,
  'a long key with a list of objects': (size) => `{"${times('a', size / 2)}": [{}${times(', {}', size / 2)}]}`,
  'a long key of many keys': (size) =>
    `{"${times('a', size / 2)}": {${many((index) => `"n${index}": 1, `, size / 2)}"z": 1}}`,
  'lists alone': (size) => times('[', size),
  'objects, as deep as may be': (size) => `{"a": [${times(`${nested('{"a":', '}').replace(':}', ':1}')}, `, size)}1]}`,
  'one number': (size) => `{"a": ${times('7', size)}}`,
  'one number with a letter behind it': (size) => `{"a": ${times('7', size)}x`,
  'objects that are not closed': (size) => times('{"a":"', size),
  'one fraction': (size) => `{"a": 0.${times('7', size)}}`,
}

const concatenated = (...parts: readonly (readonly number[] | Uint8Array)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => Uint8Array.from(part)))
const repeated = (part: readonly number[], size: number): Uint8Array =>
  Buffer.alloc(Math.floor(size / part.length) * part.length, Uint8Array.from(part))

/** A field of a number below 16 with a length before it. */
function field(number: number, content: Uint8Array): Uint8Array {
  const length: number[] = []
  let rest = content.length
  for (; rest >= 0x80; rest >>= 7) length.push((rest & 0x7f) | 0x80)
  return concatenated([(number << 3) | 2, ...length, rest], content)
}

const THIRD_PARTY = 13
const URL_FIELD = (1 << 3) | 2

/** Records in binary. */
export const BINARIES: Readonly<Record<string, Shape<Uint8Array>>> = {
  'unknown numbers': (size) => repeated([0x20, 1], size),
  'unknown numbers between fields that are known': (size) => repeated([0x20, 1, 0x0a, 0], size),
  'unknown bytes': (size) => field(4, repeated([0x20, 1], size)),
  'unknown groups, as deep as may be': (size) => repeated([...Array(90).fill(0x23), ...Array(90).fill(0x24)], size),
  'groups that are not closed': (size) => repeated([0x23], size),
  'one name': (size) => field(1, repeated([0x61], size)),
  'one name that is not UTF-8': (size) => field(1, repeated([0xc3], size)),
  'many URLs': (size) => field(THIRD_PARTY, repeated([URL_FIELD, 0], size)),
  // Half the size: every five bytes become four objects, and with more of them the garbage collector takes most of the time.
  'many URLs with unknown fields': (size) => field(THIRD_PARTY, repeated([URL_FIELD, 3, 0xf8, 7, 1], size / 2)),
  'one block again and again': (size) => repeated([(THIRD_PARTY << 3) | 2, 2, 0x18, 1], size),
  'a number that does not end': (size) => concatenated([0x20], repeated([0x80], size)),
}

/** Lets pass that an input is refused, since that has to be quick too. */
export function tame<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof MetadataError) return undefined
    throw error
  }
}

/**
 * JSON as text (RFC 8259). The reader names the place of every fault, refuses a key that comes twice, and rounds no number.
 * @module
 */
import { checkLength, limitWriter, MAX_DEPTH } from '../errors.js'
import { foundAt, textError } from '../text/text-error.js'
import { isIndexLike, makeSparse } from './sparse.js'

/** A number that a JavaScript number would change: too large, with too many digits, or `1.0`, which would become an integer. */
export class JsonNumber {
  constructor(readonly source: string) {}

  /** Distinguishes it from the objects of JSON. */
  get [Symbol.toStringTag](): string {
    return 'JsonNumber'
  }
}

/** The deepest nesting of JSON, deeper than any record: 100 messages within the three of the schema, each in a list. */
const MAX_JSON_DEPTH = 2 * (MAX_DEPTH + 4)

/**
 * Reads one value of JSON. Objects have no prototype; numbers that JavaScript cannot hold are {@link JsonNumber}s.
 * @throws {MetadataError} `invalid_json`, `duplicate_field` or `too_deep`, with line and column
 */
export function parseJson(text: string): unknown {
  return new JsonParser(text).document()
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const WORD = /[A-Za-z_]\w*/y
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
])
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const BLANK = new Set([' ', '\t', '\n', '\r'])

class JsonParser {
  private at: number

  constructor(private readonly text: string) {
    // A parser may ignore a byte order mark (RFC 8259, 8.1).
    this.at = text.startsWith('\ufeff') ? 1 : 0
  }

  document(): unknown {
    const value = this.value(MAX_JSON_DEPTH)
    if (this.peek() !== '') this.fail('the end')
    return value
  }

  private value(depth: number): unknown {
    const next = this.peek()
    if (next === '"') return this.string()
    if (next === '{' || next === '[') {
      if (depth === 0) throw textError('too_deep', 'nested too deep for a record', this.text, this.at)
      this.at++
      return next === '{' ? this.object(depth - 1) : this.list(depth - 1)
    }
    const number = this.match(NUMBER)
    if (number !== '') return parseNumber(number)
    const word = this.match(WORD)
    if (WORDS.has(word)) return WORDS.get(word)
    this.at -= word.length
    return this.fail('a value')
  }

  private object(depth: number): object {
    // Without a prototype, so that `__proto__` is a key like others.
    const object: { [key: string]: unknown } = Object.create(null)
    if (this.accept('}')) return object
    let isSparse = false
    do {
      if (this.peek() !== '"') this.fail('a key in double quotes')
      const start = this.at
      const key = this.string()
      if (key in object)
        throw textError('duplicate_field', `the key ${JSON.stringify(key)} comes twice`, this.text, start)
      if (!this.accept(':')) this.fail('":"')
      const value = this.value(depth)
      if (!isSparse && isIndexLike(key)) {
        makeSparse(object)
        isSparse = true
      }
      object[key] = value
    } while (this.accept(','))
    if (!this.accept('}')) this.fail('"," or "}"')
    return object
  }

  private list(depth: number): unknown[] {
    const list: unknown[] = []
    if (this.accept(']')) return list
    do list.push(this.value(depth))
    while (this.accept(','))
    if (!this.accept(']')) this.fail('"," or "]"')
    return list
  }

  private string(): string {
    const start = this.at++
    let escaped = false
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code === QUOTE) break
      if (code === BACKSLASH) {
        escaped = true
        if (this.match(ESCAPE) === '') this.fail('an escape of JSON: \\n, \\u00e9, \\" and the like')
      } else if (Number.isNaN(code) || code < SPACE) {
        if (Number.isNaN(code)) this.at = start
        this.fail(Number.isNaN(code) ? 'a string that is closed' : 'an escape in place of a control character')
      } else this.at++
    }
    this.at++
    const source = this.text.slice(start, this.at)
    return escaped ? String(JSON.parse(source)) : source.slice(1, -1)
  }

  /** Skips a character if it comes next. Returns true if it did. */
  private accept(character: string): boolean {
    if (this.peek() !== character) return false
    this.at++
    return true
  }

  /** Skips blanks, and returns the next character; empty at the end. */
  private peek(): string {
    while (BLANK.has(this.text[this.at] ?? '')) this.at++
    return this.text[this.at] ?? ''
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [found = ''] = pattern.exec(this.text) ?? []
    this.at += found.length
    return found
  }

  private fail(expected: string): never {
    const found = foundAt(this.text, this.at)
    throw textError('invalid_json', `expected ${expected}, found ${found}`, this.text, this.at, { expected })
  }
}

const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c

function parseNumber(source: string): number | JsonNumber {
  const value = Number(source)
  return String(value) === source && (isFraction(value) || Number.isSafeInteger(value)) ? value : new JsonNumber(source)
}

/** Checks that a number is a fraction, so that JavaScript writes it with a point or a negative exponent. */
export function isFraction(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value)
}

/** Checks that JavaScript's number keeps all digits of a decimal number. It may be written as in text format: `.5`, `1.`, `1f`. */
export function isExact(source: string): boolean {
  const decimal = normalizeDecimal(source)
  return decimal !== undefined && decimal === normalizeDecimal(String(Number.parseFloat(source)))
}

const DECIMAL = /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?[fF]?$/

/** The most significant digits with which JavaScript writes a number. */
const MAX_DIGITS = 17

/**
 * Normalizes a number to its significant digits and its power of ten, so that `1.50` and `15e-1` become equal.
 * @returns undefined for too many digits
 */
function normalizeDecimal(source: string): string | undefined {
  const [match, sign = '', whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(source) ?? []
  if (match === undefined) return undefined
  const digits = (whole + fraction).replace(/^0+/, '')
  let length = digits.length
  while (digits[length - 1] === '0') length--
  if (length > MAX_DIGITS) return undefined
  return length === 0
    ? '0'
    : `${sign}${digits.slice(0, length)}e${Number(exponent) - fraction.length + digits.length - length}`
}

/** Converts a fraction of text format, such as `.5`, `1.` or `1f`, to the form of JSON. */
export function toJsonFraction(text: string): JsonNumber {
  const [, sign = '', whole = '', fraction, exponent = ''] =
    /^(-?)(\d*)(?:\.(\d*))?([eE][+-]?\d+)?[fF]?$/.exec(text) ?? []
  const part = fraction === undefined && exponent !== '' ? '' : `.${fraction || '0'}`
  return new JsonNumber(`${sign}${whole || '0'}${part}${exponent}`)
}

/**
 * Writes a tree of JSON as `JSON.stringify` does with an indentation of two. A {@link JsonNumber} stays as it is.
 * @throws {MetadataError} `too_large` if the text would have more than 67,108,864 characters
 */
export function formatTree(value: unknown): string {
  return limitWriter(() => {
    // The pieces are joined once. To join them at each level would copy a text at each level above it.
    const pieces: string[] = []
    let length = 0
    pushTree(value, '\n', (piece) => {
      length += piece.length
      checkLength(length)
      pieces.push(piece)
    })
    return pieces.join('')
  })
}

/**
 * Writes a tree in pieces.
 * @param newline - the newline and indentation before each line of this level
 */
function pushTree(value: unknown, newline: string, push: (piece: string) => void): void {
  if (value instanceof JsonNumber) push(value.source)
  else if (typeof value !== 'object' || value === null) push(JSON.stringify(value))
  else if (Array.isArray(value)) {
    const inner = `${newline}  `
    const separator = `,${inner}`
    for (const [index, item] of value.entries()) {
      push(index === 0 ? `[${inner}` : separator)
      pushTree(item, inner, push)
    }
    push(value.length === 0 ? '[]' : `${newline}]`)
  } else {
    const inner = `${newline}  `
    const separator = `,${inner}`
    const entries = Object.entries(value)
    for (const [index, [key, item]] of entries.entries()) {
      push(index === 0 ? `{${inner}` : separator)
      push(`${JSON.stringify(key)}: `)
      pushTree(item, inner, push)
    }
    push(entries.length === 0 ? '{}' : `${newline}}`)
  }
}

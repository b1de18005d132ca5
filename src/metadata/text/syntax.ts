/**
 * Parses text format into a syntax tree, without a schema (text format language specification).
 * @module
 */
import { LONE_SURROGATE } from '../check.js'
import { checkSize, MAX_DEPTH } from '../errors.js'
import { explainEscape, readEscape } from './literals.js'
import { foundAt, placeOf, textError } from './text-error.js'
import type { FieldNode, ItemNode, ScalarNode, StringNode, ValueNode } from './tree.js'

const NUMBER =
  /0[xX][0-9a-fA-F]+|0[0-7]+(?![0-9])|(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fF]?/y
const INTEGER = /^(?:0[xX]|[0-9]+$)/
/** The only names that may follow a `-`. */
const NEGATIVE_NAME = /^(?:inf|infinity|nan)$/i

/**
 * Parses a text.
 * @throws {MetadataError} `syntax`, `invalid_utf8`, `too_deep` or `too_large`, with line and column
 */
export function parseSyntax(text: string, maxBytes?: number): readonly FieldNode[] {
  checkSize(text.length, maxBytes)
  const nul = text.indexOf('\0')
  if (nul >= 0) throw textError('syntax', `a NUL character${looksLikeUtf16(text, nul) ? UTF16_HINT : ''}`, text, nul)
  const lone = text.search(LONE_SURROGATE)
  if (lone >= 0) throw textError('invalid_utf8', 'a lone surrogate, which UTF-8 cannot hold', text, lone)
  return new Parser(text).document()
}

const UTF16_HINT = ': is the text UTF-16? It has to be UTF-8'

/** True if a NUL stands beside every character, as when UTF-16 was decoded as another encoding. */
function looksLikeUtf16(text: string, nul: number): boolean {
  return nul < 2 && text[nul + 2] === '\0' && text[nul + 1] !== '\0'
}

const TAB = 9
const NEWLINE = 10
const CARRIAGE_RETURN = 13
const SPACE = 32
const QUOTE = 34
const HASH = 35
const APOSTROPHE = 39
const COMMA = 44
const MINUS = 45
const DOT = 46
const SLASH = 47
const COLON = 58
const SEMICOLON = 59
const LESS = 60
const GREATER = 62
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

const NO_ESCAPE = {
  what: 'no such escape',
  expected: 'one of \\a \\b \\f \\n \\r \\t \\v \\? \\\\ \\\' \\", \\ and up to \\377, \\x41, \\u00e9, \\U0001f600',
}

class Parser {
  private at = 0

  constructor(private readonly text: string) {}

  document(): FieldNode[] {
    this.skipBlanks()
    return this.fields(-1, 0)
  }

  /**
   * Parses fields up to and including the closing bracket. The caller has skipped the blanks before them.
   * @param close - the closing bracket, or -1 for the end of the text
   * @param open - offset of the opening bracket
   */
  private fields(close: number, depth: number, open?: number): FieldNode[] {
    // There may be millions of messages with one field. A literal of one element takes far less memory than a grown array.
    let fields: FieldNode[] | undefined
    for (;;) {
      const code = this.peek()
      if (code === close || (Number.isNaN(code) && close === -1)) {
        this.at++
        return fields ?? []
      }
      if (!isNameStart(code) && code !== OPEN_BRACKET)
        this.fail(close === -1 ? 'a field name' : `a field name or "${String.fromCharCode(close)}"`, open)
      const field = this.field(depth)
      if (fields === undefined) fields = [field]
      else fields.push(field)
    }
  }

  private field(depth: number): FieldNode {
    const start = this.at
    const name = this.peek() === OPEN_BRACKET ? this.bracketedName() : this.name()
    const nameEnd = this.at
    this.skipBlanks()
    let colon = -1
    if (this.peek() === COLON) {
      colon = this.at++
      this.skipBlanks()
    }
    const value = this.value(colon >= 0, depth)
    const end = value.end
    this.skipBlanks()
    let separator = -1
    const code = this.peek()
    if (code === COMMA || code === SEMICOLON) {
      separator = this.at++
      this.skipBlanks()
    }
    return { name, start, nameEnd, colon, value, end, separator }
  }

  private name(): string {
    const start = this.at
    do this.at++
    while (isNamePart(this.peek()))
    return this.text.slice(start, this.at)
  }

  private bracketedName(): string {
    let name = '['
    do {
      this.at++
      this.skipBlanks()
      if (!isNameStart(this.peek())) this.fail('the name of an extension or of a type')
      name += this.name()
      this.skipBlanks()
      if (this.peek() === DOT || this.peek() === SLASH) name += this.text[this.at]
    } while (this.peek() === DOT || this.peek() === SLASH)
    if (this.peek() !== CLOSE_BRACKET) this.fail('"]"')
    this.at++
    return `${name}]`
  }

  /** @param colon - true if a `:` came before: without one, only messages may follow */
  private value(colon: boolean, depth: number): ValueNode {
    if (this.peek() !== OPEN_BRACKET) return this.item(colon, depth)
    const start = this.at++
    const items: ItemNode[] = []
    this.skipBlanks()
    if (this.peek() !== CLOSE_BRACKET)
      for (;;) {
        items.push(this.item(colon, depth))
        this.skipBlanks()
        if (this.peek() === CLOSE_BRACKET) break
        if (this.peek() !== COMMA) this.fail('"," or "]"')
        this.at++
        this.skipBlanks()
      }
    this.at++
    return { kind: 'list', start, end: this.at, items }
  }

  private item(colon: boolean, depth: number): ItemNode {
    const code = this.peek()
    if (code === OPEN_BRACE || code === LESS) {
      const start = this.at++
      if (depth === MAX_DEPTH) throw textError('too_deep', `nested more than ${MAX_DEPTH} deep`, this.text, start)
      this.skipBlanks()
      const fields = this.fields(code === LESS ? GREATER : CLOSE_BRACE, depth + 1, start)
      return { kind: 'message', start, end: this.at, fields }
    }
    if (!colon) this.fail('":" or "{"')
    if (code === QUOTE || code === APOSTROPHE) return this.string(code)
    return this.scalar(code)
  }

  private string(firstQuote: number): StringNode {
    const start = this.at
    // Nearly every string has one piece. A literal of two numbers takes far less memory than a grown array.
    let pieces: number[] | undefined
    let escaped = false
    let end = start
    for (let quote = firstQuote; quote === QUOTE || quote === APOSTROPHE; quote = this.peek()) {
      const pieceStart = this.at++
      for (let code = this.peek(); code !== quote; code = this.peek()) {
        if (code === BACKSLASH) {
          escaped = true
          this.escape()
        } else if (code === NEWLINE || Number.isNaN(code)) this.failUnclosed(pieceStart)
        else this.at++
      }
      end = ++this.at
      if (pieces === undefined) pieces = [pieceStart, end]
      else pieces.push(pieceStart, end)
      this.skipBlanks()
    }
    this.at = end
    return { kind: 'string', start, end, pieces: pieces ?? [], escaped }
  }

  private escape(): void {
    const found = readEscape(this.text, this.at)
    if (found === undefined) {
      const { what, expected } = explainEscape(this.text, this.at) ?? NO_ESCAPE
      throw textError('syntax', `${what}: expected ${expected}`, this.text, this.at, { expected })
    }
    this.at += found.length
  }

  private failUnclosed(start: number): never {
    const expected = `a closing ${this.text[start]}`
    throw textError('syntax', `a string that is not closed on its line: expected ${expected}`, this.text, start, {
      expected,
    })
  }

  private scalar(first: number): ScalarNode {
    const start = this.at
    const negative = first === MINUS
    if (negative) this.at++
    const code = this.peek()
    if (isNameStart(code)) {
      const name = this.name()
      if (negative && !NEGATIVE_NAME.test(name)) {
        this.at = start + 1
        this.fail('a number')
      }
      return { kind: 'identifier', start, end: this.at }
    }
    NUMBER.lastIndex = this.at
    const [number] = NUMBER.exec(this.text) ?? []
    if (number === undefined) this.fail(negative ? 'a number right after "-"' : 'a value')
    const numberStart = this.at
    this.at += number?.length ?? 0
    const next = this.peek()
    if (isNamePart(next) || next === DOT) {
      this.at = numberStart
      this.fail('a number: decimal, octal after a leading 0, or hexadecimal after 0x; with a blank behind it')
    }
    return { kind: INTEGER.test(number ?? '') ? 'integer' : 'float', start, end: this.at }
  }

  private skipBlanks(): void {
    for (;;) {
      const code = this.peek()
      if (code === SPACE || (code >= TAB && code <= CARRIAGE_RETURN)) this.at++
      else if (code === HASH) {
        const end = this.text.indexOf('\n', this.at)
        this.at = end < 0 ? this.text.length : end + 1
      } else return
    }
  }

  /** Returns the code of the next character; NaN at the end. */
  private peek(): number {
    return this.text.charCodeAt(this.at)
  }

  /** @param open - offset of the bracket that is not closed, if there is one */
  private fail(expected: string, open?: number): never {
    const isMark = this.text[this.at] === '\ufeff'
    const found = isMark ? 'a byte order mark (BOM): save the text as UTF-8 without it' : foundAt(this.text, this.at)
    const which =
      open === undefined || this.at < this.text.length
        ? ''
        : `, for the "${this.text[open]}" of line ${placeOf(this.text, open).line}`
    throw textError('syntax', `expected ${expected}${which}, found ${found}`, this.text, this.at, { expected })
  }
}

function isNameStart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
}

function isNamePart(code: number): boolean {
  return isNameStart(code) || (code >= 48 && code <= 57)
}

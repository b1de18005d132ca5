/**
 * The style of a text: its quotes, line ends, indentation and separators, as its fields show them.
 * @module
 */
import type { LiteralStyle } from '../text/literals.js'
import type { FieldNode, ItemNode, ValueNode } from '../text/tree.js'
import { everyField } from '../text/tree.js'
import { LineEnds } from './line-ends.js'
import type { Container } from './occurrences.js'
import { isFirstOnLine, skipBlanks } from './splices.js'

/** The style of the fields of one message. */
interface ContainerStyle {
  /** The characters between the name and the value of a scalar. */
  readonly colon: string
  /** `,` or `;`, or nothing if the fields have only blanks between them. */
  readonly separator: string
  /** The last message of each name. */
  readonly messages: ReadonlyMap<string, FieldNode>
  /** The model for a message of a new name: the last one on several lines, or else the last one. */
  readonly message: FieldNode | undefined
  /** The blanks before the first field that begins a line. */
  readonly indent: string | undefined
}

/** The style of a text. */
export class TextStyle {
  readonly eol: string
  private readonly lineEnds: LineEnds
  /** The quote of most strings. */
  readonly quote: '"' | "'"
  /** The escapes that the strings of this text use. */
  readonly literalStyle: Omit<LiteralStyle, 'quote'>
  readonly indentUnit: string
  /** True if the text writes messages on several lines, or has no message with fields in it. */
  readonly hasBlocks: boolean
  private readonly model: FieldNode | undefined
  private readonly styles = new Map<readonly FieldNode[], ContainerStyle>()

  constructor(
    private readonly text: string,
    root: Container,
  ) {
    this.lineEnds = new LineEnds(text)
    const newline = text.indexOf('\n')
    this.eol = newline > 0 && text[newline - 1] === '\r' ? '\r\n' : '\n'
    const all = everyField(root.fields)
    const strings = all
      .flatMap(({ value }) => (value.kind === 'list' ? value.items : [value]))
      .filter(({ kind }) => kind === 'string')
      .map(({ start, end }) => text.slice(start, end))
    const doubles = strings.filter((string) => string.startsWith('"'))
    this.quote = doubles.length * 2 < strings.length ? "'" : '"'
    this.literalStyle = {
      // The reference escapes both quotes and all bytes that are not ASCII. This text may show that it does not.
      escapeBothQuotes: !doubles.some((string) => /(?<!\\)'/.test(string)),
      utf8: !strings.some((string) => /\\[23][0-7]{2}/.test(string)),
    }
    const blocks = all.filter(({ value }) => value.kind === 'message' && value.fields.length > 0)
    this.hasBlocks = blocks.some((field) => this.isBlock(field)) || blocks.length === 0
    this.model = blocks[0]
    this.indentUnit = this.findIndentUnit(blocks)
  }

  private findIndentUnit(blocks: readonly FieldNode[]): string {
    for (const { start, value } of blocks) {
      const [inner] = value.kind === 'message' ? value.fields : []
      if (inner === undefined || !isFirstOnLine(this.text, inner.start)) continue
      const outer = this.indentAt(start)
      const indent = this.indentAt(inner.start)
      if (indent.length > outer.length && indent.startsWith(outer)) return indent.slice(outer.length)
    }
    return '  '
  }

  /** Returns the style of the fields of one message. */
  of({ fields }: Container): ContainerStyle {
    const known = this.styles.get(fields)
    if (known !== undefined) return known
    const messages = new Map<string, FieldNode>()
    let colon = ': '
    let separator = ''
    let message: FieldNode | undefined
    let indent: string | undefined
    for (const field of fields) {
      if (field.value.kind === 'message') {
        messages.set(field.name, field)
        if (message === undefined || this.isBlock(field) || !this.isBlock(message)) message = field
      } else {
        const between = this.text.slice(field.nameEnd, field.value.start)
        if (/^[ \t]*:[ \t]*$/.test(between)) colon = between
      }
      if (separator === '' && field.separator >= 0) separator = this.text[field.separator] ?? ''
      if (indent === undefined && isFirstOnLine(this.text, field.start)) indent = this.indentAt(field.start)
    }
    const style = { colon, separator, messages, message, indent }
    this.styles.set(fields, style)
    return style
  }

  /** Finds the message whose form a new one takes: one of the same name, or else one beside it, or else any. */
  findModel(container: Container, name: string): FieldNode | undefined {
    const { messages, message } = this.of(container)
    return (
      messages.get(name) ??
      message ??
      (this.model !== undefined && (this.isBlock(this.model) || !this.hasBlocks) ? this.model : undefined)
    )
  }

  /** Checks whether a field is a message on several lines. */
  isBlock({ value }: FieldNode): boolean {
    return value.kind === 'message' && !this.isOnOneLine(value)
  }

  isOnOneLine({ start, end }: ItemNode | ValueNode): boolean {
    return !this.lineEnds.hasBetween(start, end)
  }

  /** Returns the indentation for a field that is put on a line of its own beside a sibling. */
  indentBeside(container: Container, sibling: FieldNode): string {
    if (isFirstOnLine(this.text, sibling.start)) return this.indentAt(sibling.start)
    const { indent } = this.of(container)
    if (indent !== undefined) return indent
    return container.message === undefined ? '' : this.indentAt(container.message.start) + this.indentUnit
  }

  /** Returns the blanks at the start of the line of an offset. */
  indentAt(offset: number): string {
    const start = this.lineEnds.lineStart(offset)
    return this.text.slice(start, skipBlanks(this.text, start))
  }

  /** Returns the line end that stands at an offset, so that a line that is inserted there ends the same way. */
  lineEndAt(offset: number): string {
    return offset >= this.text.length ? this.eol : this.text[offset] === '\r' ? '\r\n' : '\n'
  }
}

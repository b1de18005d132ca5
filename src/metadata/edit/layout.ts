/**
 * Where and how a new field is written: beside its neighbours and in their style.
 * @module
 */

import type { MessageType } from '../schema/schema.js'
import type { LiteralStyle } from '../text/literals.js'
import type { FieldNode, ItemNode, ListNode, MessageNode, ValueNode } from '../text/tree.js'
import { everyField } from '../text/tree.js'
import { makeAnchorFinder } from './anchors.js'
import { LineEnds } from './line-ends.js'
import type { Splice } from './splices.js'
import { isFirstOnLine, lineStart, restOfLine, skipBlanks, wouldJoin } from './splices.js'

/** Where fields stand: a message, or the text as a whole. */
export interface Container {
  readonly fields: readonly FieldNode[]
  /** The message; undefined for the whole text. */
  readonly message: MessageNode | undefined
  readonly type: MessageType | undefined
}

/** A value as it will stand in the text: a literal, or fields. */
export type Written = string | readonly (readonly [name: string, value: Written])[]

/** A field that is not there yet. */
export interface NewField {
  readonly name: string
  readonly written: Written
}

/** How the fields of one message are written. */
interface Style {
  /** What stands between the name and the value of a scalar. */
  readonly colon: string
  /** What stands between fields; nothing where there are only blanks. */
  readonly separator: string
  /** The last message of each name. */
  readonly messages: ReadonlyMap<string, FieldNode>
  /** The message whose form one of a new name takes: the last on lines of its own, else the last. */
  readonly message: FieldNode | undefined
  /** The blanks before the first field that begins a line. */
  readonly indent: string | undefined
}

/** The style of a text. */
export class Layout {
  private readonly eol: string
  private readonly lineEnds: LineEnds
  /** The quote of most strings. */
  readonly quote: '"' | "'"
  /** How strings of this text are escaped. */
  readonly literalStyle: Omit<LiteralStyle, 'quote'>
  private readonly indentUnit: string
  private readonly hasBlocks: boolean
  private readonly model: FieldNode | undefined
  private readonly styles = new Map<readonly FieldNode[], Style>()

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
      // As the reference escapes them, unless this text shows that it does not.
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

  /** New fields, each where the canonical order puts it. */
  insertFields(container: Container, added: readonly NewField[]): Splice[] {
    const afters = new Map<FieldNode, NewField[]>()
    const befores = new Map<FieldNode | undefined, NewField[]>()
    const order = ({ name }: NewField): number => container.type?.byName.get(name)?.number ?? Number.MAX_SAFE_INTEGER
    const anchors = makeAnchorFinder(container)
    for (const field of [...added].sort((a, b) => order(a) - order(b))) {
      const { after, before } = anchors(field.name)
      if (after === undefined) addToGroup(befores, before, field)
      else addToGroup(afters, after, field)
    }
    const splices = [...afters].flatMap(([sibling, fields]) => this.insertAfter(container, sibling, fields))
    for (const [sibling, fields] of befores) {
      if (sibling !== undefined) splices.push(...this.insertBefore(container, sibling, fields))
      else if (container.message === undefined) splices.push(...this.insertFirst(container, fields))
      else splices.push(...this.insertInto(container, container.message, fields))
    }
    return splices
  }

  private insertAfter(container: Container, sibling: FieldNode, fields: readonly NewField[]): Splice[] {
    const separator = this.styleOf(container).separator
    const end = sibling.separator < 0 ? sibling.end : sibling.separator + 1
    const isOpen = separator !== '' && sibling.separator < 0
    const between = isOpen ? [{ start: sibling.end, end: sibling.end, text: separator }] : []
    const own = (index: number): string => (isOpen && index === fields.length - 1 ? '' : separator)
    const rest = restOfLine(this.text, end)
    if (rest.hasToken) {
      const text = fields.map((field, index) => ` ${this.field(container, field, undefined)}${own(index)}`).join('')
      const gap = wouldJoin(text, this.text.slice(end, end + 1)) ? ' ' : ''
      return [...between, { start: end, end, text: text + gap }]
    }
    const indent = this.indentOf(container, sibling)
    const eol = this.lineEndAt(rest.end)
    const lines = fields.map((field, index) => `${eol}${indent}${this.field(container, field, indent)}${own(index)}`)
    return [...between, { start: rest.end, end: rest.end, text: lines.join('') }]
  }

  private insertBefore(container: Container, sibling: FieldNode, fields: readonly NewField[]): Splice[] {
    const separator = this.styleOf(container).separator
    if (!isFirstOnLine(this.text, sibling.start)) {
      const text = fields.map((field) => `${this.field(container, field, undefined)}${separator} `).join('')
      const gap = wouldJoin(this.text.slice(sibling.start - 1, sibling.start), text) ? ' ' : ''
      return [{ start: sibling.start, end: sibling.start, text: gap + text }]
    }
    const indent = this.indentAt(sibling.start)
    const start = this.aboveComments(lineStart(this.text, sibling.start))
    const lines = fields.map((field) => `${indent}${this.field(container, field, indent)}${separator}${this.eol}`)
    return [{ start, end: start, text: lines.join('') }]
  }

  /** Comments right above a field are about it; those that begin the text are about the whole. */
  private aboveComments(line: number): number {
    let start = line
    while (start > 0) {
      const previous = lineStart(this.text, start - 1)
      if (!/^[ \t]*#/.test(this.text.slice(previous, start))) return start
      start = previous
    }
    return line
  }

  private insertFirst(container: Container, fields: readonly NewField[]): Splice[] {
    const { text, eol } = this
    const begin = text === '' || text.endsWith('\n') ? '' : eol
    const lines = fields.map((field) => `${this.field(container, field, '')}${eol}`)
    return [{ start: text.length, end: text.length, text: begin + lines.join('') }]
  }

  /** Into a message that has no field yet. */
  private insertInto(container: Container, message: MessageNode, fields: readonly NewField[]): Splice[] {
    const close = message.end - 1
    const isOpen = !this.isOnOneLine(message)
    if (!isOpen && (!this.hasBlocks || restOfLine(this.text, message.end).hasToken)) {
      const text = fields.map((field) => ` ${this.field(container, field, undefined)}`).join('')
      return [{ start: message.start + 1, end: close, text: `${text} ` }]
    }
    const outer = this.indentAt(message.start)
    const indent = outer + this.indentUnit
    const lines = fields.map((field) => `${indent}${this.field(container, field, indent)}${this.eol}`).join('')
    if (isOpen) {
      // Nothing but comments and blanks is inside, so that the bracket begins its line.
      const line = lineStart(this.text, close)
      return [{ start: line, end: line, text: lines }]
    }
    return [{ start: message.start + 1, end: close, text: `${this.eol}${lines}${outer}` }]
  }

  appendToList(list: ListNode, container: Container, added: readonly Written[]): Splice[] {
    const last = list.items[list.items.length - 1]
    const inLine = (): string => added.map((item) => this.item(container, item, undefined)).join(', ')
    if (last === undefined) return [{ start: list.start + 1, end: list.start + 1, text: inLine() }]
    const rest = restOfLine(this.text, last.end)
    if (rest.hasToken) return [{ start: last.end, end: last.end, text: `, ${inLine()}` }]
    const indent = this.indentAt(last.start) + (isFirstOnLine(this.text, last.start) ? '' : this.indentUnit)
    const lines = added.map(
      (item) =>
        `${this.lineEndAt(rest.end)}${indent}${this.item(container, item, this.isOnOneLine(last) ? undefined : indent)}`,
    )
    return [
      { start: last.end, end: last.end, text: ',' },
      { start: rest.end, end: rest.end, text: lines.join(',') },
    ]
  }

  /** A message that takes the place of something else. */
  block(container: Container, node: FieldNode, written: Written): string {
    return this.item(
      container,
      written,
      restOfLine(this.text, node.end).hasToken ? undefined : this.indentAt(node.start),
    )
  }

  /** @param indent - of the line; undefined where all of it has to be on one line */
  private field(container: Container, { name, written }: NewField, indent: string | undefined): string {
    if (typeof written === 'string') return name + this.styleOf(container).colon + written
    const model = this.modelOf(container, name)
    const open = model === undefined ? ' ' : this.text.slice(model.nameEnd, model.value.start)
    const isBlock = indent !== undefined && (model === undefined ? this.hasBlocks : this.isBlock(model))
    return (
      name +
      (/^[ \t]*(?::[ \t]*)?$/.test(open) ? open : ' ') +
      this.message(container, written, isBlock ? indent : undefined, model)
    )
  }

  private item(container: Container, written: Written, indent: string | undefined): string {
    return typeof written === 'string' ? written : this.message(container, written, indent, undefined)
  }

  private message(
    container: Container,
    written: Exclude<Written, string>,
    indent: string | undefined,
    model: FieldNode | undefined,
  ): string {
    const [open, close] = model !== undefined && this.text[model.value.start] === '<' ? ['<', '>'] : ['{', '}']
    if (indent === undefined) {
      const fields = written.map(([name, value]) => this.field(container, { name, written: value }, undefined))
      return fields.length === 0 ? open + close : `${open} ${fields.join(' ')} ${close}`
    }
    const inner = indent + this.indentUnit
    const lines = written.map(
      ([name, value]) => `${inner}${this.field(container, { name, written: value }, inner)}${this.eol}`,
    )
    return `${open}${this.eol}${lines.join('')}${indent}${close}`
  }

  private styleOf({ fields }: Container): Style {
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

  /** The message whose form a new one takes: one of its name, else one beside it, else any. */
  private modelOf(container: Container, name: string): FieldNode | undefined {
    const { messages, message } = this.styleOf(container)
    return (
      messages.get(name) ??
      message ??
      (this.model !== undefined && (this.isBlock(this.model) || !this.hasBlocks) ? this.model : undefined)
    )
  }

  /** Whether a field is a message on several lines, or one that is empty. */
  private isBlock({ value }: FieldNode): boolean {
    return value.kind === 'message' && !this.isOnOneLine(value)
  }

  private isOnOneLine({ start, end }: ItemNode | ValueNode): boolean {
    return !this.lineEnds.hasBetween(start, end)
  }

  private indentOf(container: Container, sibling: FieldNode): string {
    if (isFirstOnLine(this.text, sibling.start)) return this.indentAt(sibling.start)
    const { indent } = this.styleOf(container)
    if (indent !== undefined) return indent
    return container.message === undefined ? '' : this.indentAt(container.message.start) + this.indentUnit
  }

  /** The blanks with which the line of an offset begins. */
  private indentAt(offset: number): string {
    const start = this.lineEnds.lineStart(offset)
    return this.text.slice(start, skipBlanks(this.text, start))
  }

  /** How the line ends whose end this is, so that it still ends so when another is put behind it. */
  private lineEndAt(offset: number): string {
    return offset >= this.text.length ? this.eol : this.text[offset] === '\r' ? '\r\n' : '\n'
  }
}

function addToGroup<Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [value])
  else group.push(value)
}

/**
 * Inserts new fields beside their neighbours, in the style of the text.
 * @module
 */
import type { FieldNode, ListNode, MessageNode, StringNode, ValueNode } from '../text/tree.js'
import { makeAnchorFinder } from './anchors.js'
import type { Container } from './occurrences.js'
import type { NewField, Written } from './render.js'
import { Renderer } from './render.js'
import type { Splice } from './splices.js'
import { isFirstOnLine, lineStart, restOfLine, wouldJoin } from './splices.js'
import { TextStyle } from './style.js'

/** The places of new fields in a text. */
export class Layout {
  readonly style: TextStyle
  private readonly renderer: Renderer
  /** The new ends of strings that lose their last pieces. */
  private readonly newEnds = new Map<ValueNode, number>()

  constructor(
    private readonly text: string,
    root: Container,
  ) {
    this.style = new TextStyle(text, root)
    this.renderer = new Renderer(text, this.style)
  }

  /**
   * Notes the end of the last piece that a string keeps. A separator after the string goes there: a comment may stand between that
   * piece and the removed ones.
   */
  noteNewEnd(node: StringNode, end: number): void {
    this.newEnds.set(node, end)
  }

  private endOf(node: ValueNode): number {
    return this.newEnds.get(node) ?? node.end
  }

  /** Inserts new fields, each where the canonical order puts it. */
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
    const separator = this.style.of(container).separator
    const end = sibling.separator < 0 ? sibling.end : sibling.separator + 1
    const isOpen = separator !== '' && sibling.separator < 0
    const valueEnd = this.endOf(sibling.value)
    const between = isOpen ? [{ start: valueEnd, end: valueEnd, text: separator }] : []
    const own = (index: number): string => (isOpen && index === fields.length - 1 ? '' : separator)
    const rest = restOfLine(this.text, end)
    if (rest.hasToken) {
      const text = fields
        .map((field, index) => ` ${this.renderer.field(container, field, undefined)}${own(index)}`)
        .join('')
      const gap = wouldJoin(text, this.text.slice(end, end + 1)) ? ' ' : ''
      return [...between, { start: end, end, text: text + gap }]
    }
    const indent = this.style.indentBeside(container, sibling)
    const eol = this.style.lineEndAt(rest.end)
    const lines = fields.map(
      (field, index) => `${eol}${indent}${this.renderer.field(container, field, indent)}${own(index)}`,
    )
    return [...between, { start: rest.end, end: rest.end, text: lines.join('') }]
  }

  private insertBefore(container: Container, sibling: FieldNode, fields: readonly NewField[]): Splice[] {
    const separator = this.style.of(container).separator
    if (!isFirstOnLine(this.text, sibling.start)) {
      const text = fields.map((field) => `${this.renderer.field(container, field, undefined)}${separator} `).join('')
      const gap = wouldJoin(this.text.slice(sibling.start - 1, sibling.start), text) ? ' ' : ''
      return [{ start: sibling.start, end: sibling.start, text: gap + text }]
    }
    const indent = this.style.indentAt(sibling.start)
    const start = this.aboveComments(lineStart(this.text, sibling.start))
    const lines = fields.map(
      (field) => `${indent}${this.renderer.field(container, field, indent)}${separator}${this.style.eol}`,
    )
    return [{ start, end: start, text: lines.join('') }]
  }

  /**
   * Returns the start of the comments right above a line, since they describe the field on it. Comments at the start of the
   * text describe the whole text.
   */
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
    const { text } = this
    const { eol } = this.style
    const begin = text === '' || text.endsWith('\n') ? '' : eol
    const lines = fields.map((field) => `${this.renderer.field(container, field, '')}${eol}`)
    return [{ start: text.length, end: text.length, text: begin + lines.join('') }]
  }

  /** Inserts fields into a message that has none yet. */
  private insertInto(container: Container, message: MessageNode, fields: readonly NewField[]): Splice[] {
    const close = message.end - 1
    const isOpen = !this.style.isOnOneLine(message)
    if (!isOpen && (!this.style.hasBlocks || restOfLine(this.text, message.end).hasToken)) {
      const text = fields.map((field) => ` ${this.renderer.field(container, field, undefined)}`).join('')
      return [{ start: message.start + 1, end: close, text: `${text} ` }]
    }
    const outer = this.style.indentAt(message.start)
    const indent = outer + this.style.indentUnit
    const lines = fields
      .map((field) => `${indent}${this.renderer.field(container, field, indent)}${this.style.eol}`)
      .join('')
    if (isOpen) {
      // The message holds only comments and blanks, so its closing bracket begins a line.
      const line = lineStart(this.text, close)
      return [{ start: line, end: line, text: lines }]
    }
    return [{ start: message.start + 1, end: close, text: `${this.style.eol}${lines}${outer}` }]
  }

  /** Appends items to a list in brackets. */
  appendToList(list: ListNode, container: Container, added: readonly Written[]): Splice[] {
    const last = list.items[list.items.length - 1]
    const inLine = (): string => added.map((item) => this.renderer.item(container, item, undefined)).join(', ')
    if (last === undefined) return [{ start: list.start + 1, end: list.start + 1, text: inLine() }]
    const rest = restOfLine(this.text, last.end)
    if (rest.hasToken) return [{ start: last.end, end: last.end, text: `, ${inLine()}` }]
    const indent = this.style.indentAt(last.start) + (isFirstOnLine(this.text, last.start) ? '' : this.style.indentUnit)
    const lines = added.map(
      (item) =>
        `${this.style.lineEndAt(rest.end)}${indent}${this.renderer.item(container, item, this.style.isOnOneLine(last) ? undefined : indent)}`,
    )
    const lastEnd = this.endOf(last)
    return [
      { start: lastEnd, end: lastEnd, text: ',' },
      { start: rest.end, end: rest.end, text: lines.join(',') },
    ]
  }

  /** Renders a message that replaces another value. */
  block(container: Container, node: FieldNode, written: Written): string {
    return this.renderer.item(
      container,
      written,
      restOfLine(this.text, node.end).hasToken ? undefined : this.style.indentAt(node.start),
    )
  }
}

function addToGroup<Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [value])
  else group.push(value)
}

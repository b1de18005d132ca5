/**
 * Renders new fields and messages in the style of a text.
 * @module
 */
import type { FieldNode } from '../text/tree.js'
import type { Container } from './occurrences.js'
import type { TextStyle } from './style.js'

/** A new value: a literal, or the fields of a message. */
export type Written = string | readonly (readonly [name: string, value: Written])[]

/** A field to insert. */
export interface NewField {
  readonly name: string
  readonly written: Written
}

/** Renders new fields. Every `indent` is that of the line; undefined puts all of a field on one line. */
export class Renderer {
  constructor(
    private readonly text: string,
    private readonly style: TextStyle,
  ) {}

  /** Renders a field of a container. */
  field(container: Container, { name, written }: NewField, indent: string | undefined): string {
    if (typeof written === 'string') return name + this.style.of(container).colon + written
    const model = this.style.findModel(container, name)
    const open = model === undefined ? ' ' : this.text.slice(model.nameEnd, model.value.start)
    const isBlock = indent !== undefined && (model === undefined ? this.style.hasBlocks : this.style.isBlock(model))
    return (
      name +
      (/^[ \t]*(?::[ \t]*)?$/.test(open) ? open : ' ') +
      this.message(container, written, isBlock ? indent : undefined, model)
    )
  }

  /** Renders a value alone, without a name. */
  item(container: Container, written: Written, indent: string | undefined): string {
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
    const { eol, indentUnit } = this.style
    const inner = indent + indentUnit
    const lines = written.map(
      ([name, value]) => `${inner}${this.field(container, { name, written: value }, inner)}${eol}`,
    )
    return `${open}${eol}${lines.join('')}${indent}${close}`
  }
}

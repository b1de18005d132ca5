/**
 * The syntax tree of a text: fields and values with their offsets. The tree knows no schema, and the text itself stays beside
 * it: characters that no node covers are blanks and comments.
 * @module
 */

/** Offsets into the text, in UTF-16 units: from `start` to before `end`. */
interface Span {
  readonly start: number
  readonly end: number
}

/** One string value: one or several adjacent strings. */
export interface StringNode extends Span {
  readonly kind: 'string'
  /** Start and end offset of each piece, in pairs; quotes included. */
  readonly pieces: readonly number[]
  /** True if any piece has a backslash. */
  readonly escaped: boolean
}

/** A number or a name, with its `-` if it has one. */
export interface ScalarNode extends Span {
  readonly kind: 'integer' | 'float' | 'identifier'
}

/** `{ ... }` or `< ... >`, brackets included. */
export interface MessageNode extends Span {
  readonly kind: 'message'
  readonly fields: readonly FieldNode[]
}

/** `[a, b]`, brackets included. */
export interface ListNode extends Span {
  readonly kind: 'list'
  readonly items: readonly (StringNode | ScalarNode | MessageNode)[]
}

export type ItemNode = StringNode | ScalarNode | MessageNode
export type ValueNode = ItemNode | ListNode

/** `name: value` or `name { ... }`, from its name to the end of its value. */
export interface FieldNode extends Span {
  /** The name. `[extension]` and `[host/Type]` keep their brackets and lose their blanks. */
  readonly name: string
  readonly nameEnd: number
  /** Offset of the `:`, or -1 if there is none. */
  readonly colon: number
  readonly value: ValueNode
  /** Offset of the `,` or `;` after the field, or -1 if there is none. */
  readonly separator: number
}

/** Lists the fields of a tree and all fields nested in them, each before its own fields. */
export function everyField(fields: readonly FieldNode[]): FieldNode[] {
  const all: FieldNode[] = []
  const visit = (inner: readonly FieldNode[]): void => {
    for (const field of inner) {
      all.push(field)
      if (field.value.kind === 'message') visit(field.value.fields)
      else if (field.value.kind === 'list')
        for (const item of field.value.items) if (item.kind === 'message') visit(item.fields)
    }
  }
  visit(fields)
  return all
}

/** Returns the text between the quotes of each piece of a string. */
export function piecesOf(node: StringNode, text: string): string[] {
  const pieces: string[] = []
  for (let i = 0; i < node.pieces.length; i += 2)
    pieces.push(text.slice((node.pieces[i] ?? 0) + 1, (node.pieces[i + 1] ?? 0) - 1))
  return pieces
}

/**
 * Beside which fields new ones are written.
 * @module
 */
import type { MessageType } from '../schema/schema.js'
import type { FieldNode } from '../text/tree.js'

/** Tells after which field a new one comes, or before which, by the numbers of the schema; what it does not know comes last. */
export function makeAnchorFinder({
  fields,
  type,
}: {
  readonly fields: readonly FieldNode[]
  readonly type: MessageType | undefined
}): (name: string) => { readonly after?: FieldNode | undefined; readonly before?: FieldNode | undefined } {
  // The last field of each name, and the first, so that each question costs as little as there are names.
  const last = new Map(fields.map((field) => [field.name, field]))
  const first = new Map([...fields].reverse().map((field) => [field.name, field]))
  const end = fields[fields.length - 1]
  return (name) => {
    const own = type?.byName.get(name)?.number
    if (own === undefined) return { after: last.get(name) ?? end }
    let after: FieldNode | undefined
    let before: FieldNode | undefined
    for (const { name: other, number } of type?.fields ?? []) {
      if (number <= own) after = last.get(other) ?? after
      else before ??= first.get(other)
    }
    return { after, before: before ?? fields[0] }
  }
}

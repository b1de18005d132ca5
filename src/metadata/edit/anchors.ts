/**
 * The fields beside which new ones are written.
 * @module
 */
import type { MessageType } from '../schema/schema.js'
import type { FieldNode } from '../text/tree.js'

/**
 * Creates the function that finds the fields before and after a new one, by the numbers of the schema. A field that the schema does
 * not know comes last.
 */
export function makeAnchorFinder({
  fields,
  type,
}: {
  readonly fields: readonly FieldNode[]
  readonly type: MessageType | undefined
}): (name: string) => { readonly after?: FieldNode | undefined; readonly before?: FieldNode | undefined } {
  // The last and the first field of each name, so that each search takes time by the number of names, not of fields.
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

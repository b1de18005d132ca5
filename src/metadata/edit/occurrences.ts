/**
 * The values of fields as they stand in a text.
 * @module
 */
import { refusePath } from '../path.js'
import type { Field } from '../schema/schema.js'
import type { FieldNode, ItemNode } from '../text/tree.js'
import type { Container } from './layout.js'

/** A value of a field, as the field's own or as one of its list. */
export interface Occurrence {
  readonly node: FieldNode
  readonly item: ItemNode
  /** Which of the list it is; undefined where there is no list. */
  readonly listIndex: number | undefined
}

/** The values of each name, in their order; of an empty list none, but its name is there. */
export function groupOccurrences(container: Container): ReadonlyMap<string, readonly Occurrence[]> {
  const occurrences = new Map<string, Occurrence[]>()
  for (const node of container.fields) {
    let here = occurrences.get(node.name)
    if (here === undefined) {
      here = []
      occurrences.set(node.name, here)
    }
    if (node.value.kind !== 'list') here.push({ node, item: node.value, listIndex: undefined })
    else for (const [listIndex, item] of node.value.items.entries()) here.push({ node, item, listIndex })
  }
  return occurrences
}

/** Which is meant when no index is given; 0 where there is none yet. */
export function soleIndex(here: readonly Occurrence[], field: Field | undefined, name: string, path: string): number {
  if (field?.repeated) refusePath(path, `${name} is a list: say which, as ${name}[0], or ${name}[+] for a new one`)
  if (field === undefined && here.length > 1)
    refusePath(path, `there are ${here.length} of ${name}: say which, as ${name}[0]`)
  // Of a field that may come once and comes twice, the last is the one that counts.
  return Math.max(here.length - 1, 0)
}

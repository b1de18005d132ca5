/**
 * The fields of a message and their values, as they stand in a text.
 * @module
 */
import { refusePath } from '../path.js'
import type { Field, MessageType } from '../schema/schema.js'
import type { FieldNode, ItemNode, MessageNode } from '../text/tree.js'

/** A holder of fields: a message, or the text as a whole. */
export interface Container {
  readonly fields: readonly FieldNode[]
  /** The message; undefined for the whole text. */
  readonly message: MessageNode | undefined
  readonly type: MessageType | undefined
}

/** One value of a field: the field's own value, or an item of its list. */
export interface Occurrence {
  readonly node: FieldNode
  readonly item: ItemNode
  /** The index in the list; undefined if the field has no list. */
  readonly listIndex: number | undefined
}

/** Groups the values of a container by name, in their order. An empty list gives its name no values. */
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

/**
 * Returns the index of the value that a path without an index means; 0 if there is no value yet.
 * @throws {MetadataError} `invalid_path` if the path needs an index
 */
export function soleIndex(here: readonly Occurrence[], field: Field | undefined, name: string, path: string): number {
  if (field?.repeated) refusePath(path, `${name} is a list: say which, as ${name}[0], or ${name}[+] for a new one`)
  if (field === undefined && here.length > 1)
    refusePath(path, `there are ${here.length} of ${name}: say which, as ${name}[0]`)
  // If a field that is not repeated comes twice, the last one counts.
  return Math.max(here.length - 1, 0)
}

/**
 * Removals. The fields to remove are found in the text as it was given, and taken out of the text after all other changes.
 * @module
 */
import { refuseJsonName, refusePath } from '../path.js'
import type { MessageType } from '../schema/schema.js'
import { MetaDataSchema } from '../schema/schema.js'
import { parseSyntax } from '../text/syntax.js'
import type { FieldNode, ItemNode } from '../text/tree.js'
import { everyField } from '../text/tree.js'
import type { Container, Occurrence } from './occurrences.js'
import { groupOccurrences, soleIndex } from './occurrences.js'
import type { Removal } from './plan.js'
import { messageTypeOf } from './plan.js'
import type { Splice } from './splices.js'
import { applySplices, removeFields, removeItems } from './splices.js'

/** The value of an occurrence that means a whole field. */
const WHOLE_FIELD: ItemNode = { kind: 'identifier', start: 0, end: 0 }

/** Finds the values at some paths. A path without a value is not an error. */
export function findRemoved(root: Container, removals: readonly Removal[]): Occurrence[] {
  const rootBlocks = new Blocks([root], MetaDataSchema)
  return removals.flatMap(({ path, steps, isOptional }) => {
    let blocks = rootBlocks
    let found: readonly Occurrence[] = []
    steps.forEach(({ name, index }, i) => {
      const field = blocks.type?.byName.get(name)
      const isLast = i === steps.length - 1
      if (index === '+') refusePath(path, 'there is nothing to remove at [+]')
      if (field !== undefined && !field.repeated && index !== undefined) refusePath(path, `${name} is not a list`)
      if (field !== undefined && field.kind !== 'message' && !isLast) refusePath(path, `${name} is not a message`)
      const { nodes, values, inLast } = blocks.named(name)
      if (values.length === 0) refuseJsonName(blocks.type, name, path)
      if (isLast && index === undefined) {
        // The whole field goes, also if it is an empty list.
        found = nodes.map((node) => ({ node, item: WHOLE_FIELD, listIndex: undefined }))
        return
      }
      let here = values
      if (typeof index === 'number') {
        // Indexes count the items of the last block, as they do where values are set.
        if (!isOptional && inLast[index] === undefined && values.length > inLast.length)
          refusePath(path, `there is no ${name}[${index}] in the last of ${blocks.containers.length} blocks`)
        here = inLast.slice(index, index + 1)
      } else if (field === undefined || field.repeated) here = values.slice(0, soleIndex(values, field, name, path) + 1)
      if (isLast) found = here
      else blocks = blocks.inside(name, index, here)
    })
    return found
  })
}

/** The fields of one name in some blocks. */
interface Named {
  readonly nodes: readonly FieldNode[]
  readonly values: readonly Occurrence[]
  /** The values in the last block. */
  readonly inLast: readonly Occurrence[]
}

const NONE: Named = { nodes: [], values: [], inLast: [] }

/**
 * The blocks to which paths with the same beginning lead. There are several if a message that may come once comes again, because
 * readers merge them. They are found once for all such paths.
 */
class Blocks {
  private names: ReadonlyMap<string, Named> | undefined
  private readonly within = new Map<string, Blocks>()

  constructor(
    readonly containers: readonly Container[],
    readonly type: MessageType | undefined,
  ) {}

  named(name: string): Named {
    this.names ??= this.byName()
    return this.names.get(name) ?? NONE
  }

  /** Returns the blocks that are the values of a field. */
  inside(name: string, index: number | undefined, values: readonly Occurrence[]): Blocks {
    const key = `${name}[${index ?? ''}]`
    const known = this.within.get(key)
    if (known !== undefined) return known
    const type = messageTypeOf(this.type?.byName.get(name))
    const containers = values.flatMap(({ item }) =>
      item.kind === 'message' ? [{ fields: item.fields, message: item, type }] : [],
    )
    const blocks = new Blocks(containers, type)
    this.within.set(key, blocks)
    return blocks
  }

  private byName(): ReadonlyMap<string, Named> {
    const names = new Map<string, { nodes: FieldNode[]; values: Occurrence[]; inLast: readonly Occurrence[] }>()
    for (const [index, container] of this.containers.entries()) {
      const isLast = index === this.containers.length - 1
      for (const [name, values] of groupOccurrences(container)) {
        const named = names.get(name)
        if (named === undefined) names.set(name, { nodes: [], values: [...values], inLast: isLast ? values : [] })
        else {
          for (const value of values) named.values.push(value)
          if (isLast) named.inLast = values
        }
      }
      for (const node of container.fields) names.get(node.name)?.nodes.push(node)
    }
    return names
  }
}

/**
 * Removes fields from a text.
 * @param gone - the fields, as they were before other changes
 * @param moved - returns the place of an offset after these changes
 */
export function removeOccurrences(
  text: string,
  gone: readonly Occurrence[],
  moved: (offset: number) => number,
): string {
  const nodes = new Map<number, FieldNode>()
  for (const node of everyField(parseSyntax(text, Number.POSITIVE_INFINITY))) nodes.set(node.start, node)
  const items = new Map<FieldNode, Set<number>>()
  const fields = new Set<FieldNode>()
  for (const { node: before, listIndex } of gone) {
    const node = nodes.get(moved(before.start))
    if (node === undefined) continue
    const indexes = items.get(node)
    if (listIndex === undefined) fields.add(node)
    else if (indexes === undefined) items.set(node, new Set([listIndex]))
    else indexes.add(listIndex)
  }
  const splices: Splice[][] = []
  for (const [node, indexes] of items) {
    if (node.value.kind !== 'list' || fields.has(node)) continue
    if (indexes.size === node.value.items.length) fields.add(node)
    else splices.push(removeItems(text, node.value, indexes))
  }
  const shorter = applySplices(text, [...removeFields(text, [...fields]), ...splices.flat()])
  // A text without a newline at its end does not get one.
  return text.endsWith('\n') || text === '' ? shorter : shorter.replace(/\r?\n$/, '')
}

/** The place of an offset whose text was replaced. */
const REPLACED = -1

/** Creates the function that returns the place of a field's name after some splices. */
export function makeOffsetMap(splices: readonly Splice[]): (offset: number) => number {
  const sorted = [...splices].sort((a, b) => a.start - b.start)
  let delta = 0
  const deltas = sorted.map(({ start, end, text }) => {
    delta += text.length - (end - start)
    return delta
  })
  return (offset) => {
    // Counts the splices that begin at the offset or before it: text that is inserted right before a name moves the name.
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sorted[middle]?.start ?? 0) <= offset) low = middle + 1
      else high = middle
    }
    const last = sorted[low - 1]
    return last !== undefined && offset < last.end ? REPLACED : offset + (deltas[low - 1] ?? 0)
  }
}

/**
 * Removing: what is to go is found in the text as it was given, and taken out of the text as it is after all else.
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

/** Stands for the value where a field as a whole is meant. */
const WHOLE_FIELD: ItemNode = { kind: 'identifier', start: 0, end: 0 }

/** What is at these paths. What is not there is no fault. */
export function findRemoved(root: Container, removals: readonly Removal[]): Occurrence[] {
  const rootBlocks = new Blocks([root], MetaDataSchema)
  return removals.flatMap(({ path, steps }) => {
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
        // Whole fields, empty lists too.
        found = nodes.map((node) => ({ node, item: WHOLE_FIELD, listIndex: undefined }))
        return
      }
      let here = values
      if (typeof index === 'number') {
        // Counted as setting counts: in the last block.
        if (inLast[index] === undefined && values.length > inLast.length)
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
  /** Those of the last block. */
  readonly inLast: readonly Occurrence[]
}

const NONE: Named = { nodes: [], values: [], inLast: [] }

/**
 * What paths that begin alike have in common: one block, or several where a block that may come once comes again, since
 * readers merge them. Found once, however many paths there are.
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

  /** The blocks that are the values of a field. */
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
 * A text without some of its fields.
 * @param gone - as they were before other changes
 * @param moved - where an offset is after these changes
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
  // A text that ends without a newline still does.
  return text.endsWith('\n') || text === '' ? shorter : shorter.replace(/\r?\n$/, '')
}

/** No offset: what was there has given way to something else. */
const REPLACED = -1

/** Where the offset of a field's name is after these splices. */
export function makeOffsetMap(splices: readonly Splice[]): (offset: number) => number {
  const sorted = [...splices].sort((a, b) => a.start - b.start)
  let delta = 0
  const deltas = sorted.map(({ start, end, text }) => {
    delta += text.length - (end - start)
    return delta
  })
  return (offset) => {
    // How many begin at the offset or before: what is put in right before a name moves it.
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

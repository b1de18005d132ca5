/**
 * Removing: what is to go is found in the text as it was given, and taken out of the text as it is after all else.
 * @module
 */
import { cannot, refuseJsonName } from '../path.js'
import { type MessageType, MetaDataSchema } from '../schema.js'
import { everyField, type FieldNode, type ItemNode, parseSyntax } from '../syntax.js'
import type { Container } from './layout.js'
import { type Occurrence, occurrencesOf, soleIndex } from './occurrences.js'
import { type Removal, typeOf } from './plan.js'
import { type Splice, splice, withoutFields, withoutItems } from './splices.js'

/** Stands for the value where a field as a whole is meant. */
const WHOLE: ItemNode = { kind: 'identifier', start: 0, end: 0 }

/** What is at these paths. What is not there is no fault. */
export function occurrencesAt(root: Container, removals: readonly Removal[]): Occurrence[] {
  const known = new Map<readonly FieldNode[], ReadonlyMap<string, readonly Occurrence[]>>()
  const occurrencesIn = (container: Container): ReadonlyMap<string, readonly Occurrence[]> => {
    const occurrences = known.get(container.fields) ?? occurrencesOf(container)
    known.set(container.fields, occurrences)
    return occurrences
  }

  return removals.flatMap(({ path, steps }) => {
    // Several where a block that may come once comes again: readers merge them.
    let containers: readonly Container[] = [root]
    let type: MessageType | undefined = MetaDataSchema
    let found: readonly Occurrence[] = []
    steps.forEach(({ name, index }, i) => {
      const field = type?.byName.get(name)
      const isLast = i === steps.length - 1
      if (index === '+') cannot(path, 'there is nothing to remove at [+]')
      if (field !== undefined && !field.repeated && index !== undefined) cannot(path, `${name} is not a list`)
      if (field !== undefined && field.kind !== 'message' && !isLast) cannot(path, `${name} is not a message`)
      const byContainer = containers.map((container) => occurrencesIn(container).get(name) ?? [])
      if (byContainer.every(({ length }) => length === 0)) refuseJsonName(type, name, path)
      if (isLast && index === undefined) {
        // Whole fields, empty lists too.
        const nodes = containers.flatMap(({ fields }) => fields.filter((node) => node.name === name))
        found = nodes.map((node) => ({ node, item: WHOLE, listIndex: undefined }))
        return
      }
      let here: readonly Occurrence[]
      if (typeof index === 'number') {
        // Counted as setting counts: in the last block. No list is copied whole for one of its items.
        const last = byContainer.at(-1) ?? []
        if (last[index] === undefined && byContainer.some((each) => each !== last && each.length > 0))
          cannot(path, `there is no ${name}[${index}] in the last of ${containers.length} blocks`)
        here = last.slice(index, index + 1)
      } else {
        here = byContainer.flat()
        if (field === undefined || field.repeated) here = here.slice(0, soleIndex(here, field, name, path) + 1)
      }
      if (isLast) found = here
      type = typeOf(field)
      containers = here.flatMap(({ item }) =>
        item.kind === 'message' ? [{ fields: item.fields, message: item, type }] : [],
      )
    })
    return found
  })
}

/**
 * A text without some of its fields.
 * @param gone - as they were before other changes
 * @param moved - where an offset is after these changes
 */
export function without(text: string, gone: readonly Occurrence[], moved: (offset: number) => number): string {
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
    else splices.push(withoutItems(text, node.value, indexes))
  }
  const shorter = splice(text, [...withoutFields(text, [...fields]), ...splices.flat()])
  // A text that ends without a newline still does.
  return text.endsWith('\n') || text === '' ? shorter : shorter.replace(/\r?\n$/, '')
}

/** No offset: what was there has given way to something else. */
const GONE = -1

/** Where the offset of a field's name is after these splices. */
export function movedBy(splices: readonly Splice[]): (offset: number) => number {
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
    return last !== undefined && offset < last.end ? GONE : offset + (deltas[low - 1] ?? 0)
  }
}

/**
 * Changes to a text of a metadata record: of one field, or of the JSON of it.
 * @module
 */
import { makeHunks } from '../../../src/cli/diff.js'
import type { EditValue, FieldDescription, FieldValue } from '../../../src/metadata/index.js'
import { describeField, editText, getField, parseText, readMetadata } from '../../../src/metadata/index.js'
import type { Leaf } from './metadata.js'
import { isList, isMessage, leavesOf, showValue, tryTo } from './metadata.js'

/** One line of a difference. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'place'
  readonly text: string
}

/** A text that was changed: the whole of it and its difference, or why there is none. */
export type Changed =
  | { readonly text: string; readonly lines: readonly DiffLine[]; readonly summary: string; readonly error?: never }
  | { readonly error: string; readonly summary: string }

/** A field that the reader may change, with the value that it has. */
export interface EditableField {
  readonly path: string
  /** The value now; empty where there is none. */
  readonly value: string
  readonly kind: 'text' | 'number' | 'choice'
  /** The names to choose from, for a choice. */
  readonly choices: readonly string[]
  readonly isSet: boolean
}

/** Fields of the schema that can be set where they are not. */
const SETTABLE = [
  'name',
  'description',
  'third_party.version',
  'third_party.license_type',
  'third_party.license_note',
  'third_party.local_modifications',
  'third_party.type',
  'third_party.security.category',
  'third_party.security.note',
  'third_party.last_upgrade_date.year',
  'third_party.last_upgrade_date.month',
  'third_party.last_upgrade_date.day',
]

/** Lists the fields that the reader may change: those that are set, then those that are not. */
export function editableFields(text: string): readonly EditableField[] {
  const read = tryTo(() => leavesOf(parseText(text)))
  if (read.error !== undefined) return []
  const set = read.value.flatMap(editableLeaf)
  const paths = new Set(set.map(({ path }) => path))
  const unset = SETTABLE.filter((path) => !paths.has(path)).map((path) => editable(path, '', false))
  return [...set, ...unset]
}

/** Returns the field of a leaf; none for a value that cannot be typed. */
function editableLeaf({ path, value }: Leaf): readonly EditableField[] {
  const description = describeField(path)
  const canBeTyped = typeof value === 'string' || (typeof value === 'number' && description?.kind === 'int32')
  // A name without quotes is a string here too, and would become one: only the schema tells them apart.
  return canBeTyped && description !== undefined ? [editable(path, showValue(value), true)] : []
}

/** Describes a field for a form. */
function editable(path: string, value: string, isSet: boolean): EditableField {
  const description = describeField(path)
  const choices = description?.values ?? []
  return { path, value, kind: kindOf(description), choices, isSet }
}

/** Tells the kind of control that a field wants. */
function kindOf(description: FieldDescription | undefined): EditableField['kind'] {
  if (description?.kind === 'enum') return 'choice'
  return description?.kind === 'int32' ? 'number' : 'text'
}

/** Changes one field of a text. `undefined` removes it. */
export function changeField(text: string, field: EditableField, value: string | undefined): Changed {
  if (value === undefined) return change(text, [[field.path, null]])
  // Nothing was typed yet.
  if (value === '' && !field.isSet) return unchanged(text)
  if (field.kind === 'text') return change(text, [[field.path, value]])
  if (value === '') return unchanged(text)
  if (field.kind === 'choice') return change(text, [[field.path, value]])
  if (!/^-?\d+$/.test(value.trim())) return refused(`${field.path} must be a whole number`)
  return change(text, [[field.path, Number(value)]])
}

/** Changes a text so that its record is the one of a JSON text. Nothing else of the text changes. */
export function changeByJson(text: string, json: string): Changed {
  const wanted = tryTo(() => readMetadata(json, { format: 'json' }).metadata)
  if (wanted.error !== undefined) return refused(wanted.error.message)
  const before = tryTo(() => parseText(text))
  if (before.error !== undefined) return refused(before.error.message)
  const names = new Set([...leavesOf(before.value), ...leavesOf(wanted.value)].map(({ path }) => topOf(path)))
  const changes = [...names].flatMap((name) =>
    changesAt(name, getField(before.value, name), getField(wanted.value, name)),
  )
  return change(text, changes)
}

/** Returns the first name of a path. */
function topOf(path: string): string {
  return /^(?:\[[^\]]*\]|[^.[]+)/.exec(path)?.[0] ?? path
}

/** A change of one path. */
type PathChange = readonly [path: string, value: EditValue]

/** Lists the changes that make one value of another. */
function changesAt(path: string, before: FieldValue | undefined, after: FieldValue | undefined): readonly PathChange[] {
  if (after === undefined) return before === undefined ? [] : [[path, null]]
  if (before === undefined) return [[path, editValue(after)]]
  if (isList(before) || isList(after)) return changesOfItems(path, itemsOf(before), itemsOf(after))
  if (isMessage(before) && isMessage(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) => changesAt(`${path}.${name}`, before[name], after[name]))
  }
  return before === after ? [] : [[path, editValue(after)]]
}

/** Lists the changes that make one list of another. */
function changesOfItems(path: string, before: readonly FieldValue[], after: readonly FieldValue[]): PathChange[] {
  const indexes = Array.from({ length: Math.max(before.length, after.length) }, (_, index) => index)
  return indexes.flatMap((index) =>
    changesAt(index < before.length ? `${path}[${index}]` : `${path}[+]`, before[index], after[index]),
  )
}

/** Returns the items of a list. A field that the schema does not know is a list only if it comes more than once. */
function itemsOf(value: FieldValue): readonly FieldValue[] {
  return isList(value) ? value : [value]
}

/** Turns a value that was read into one to set. */
function editValue(value: FieldValue): EditValue {
  if (isList(value)) return value.map(editValue)
  if (isMessage(value)) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, editValue(each)]))
  // JSON has no bytes.
  return value instanceof Uint8Array ? showValue(value) : value
}

/** Makes a change, and tells the difference. */
function change(text: string, changes: readonly PathChange[]): Changed {
  const made = tryTo(() => {
    const stay = changes.filter(([path]) => !path.endsWith('[+]'))
    const added = changes.filter(([path]) => path.endsWith('[+]'))
    // One change has one value for a path, so new items of a list are added one by one.
    return added.reduce(
      (next, [path, value]) => editText(next, { [path]: value }),
      editText(text, Object.fromEntries(stay)),
    )
  })
  if (made.error !== undefined) return refused(made.error.message)
  const lines = diffLines(text, made.value)
  const added = lines.filter(({ kind }) => kind === 'added').length
  const removed = lines.filter(({ kind }) => kind === 'removed').length
  if (lines.length === 0) return unchanged(text)
  return { text: made.value, lines, summary: `${added} added, ${removed} removed. All other lines stay as they are.` }
}

/** Tells that nothing changes. */
function unchanged(text: string): Changed {
  return { text, lines: [], summary: 'No line changes.' }
}

/** Tells why a change is refused. */
function refused(error: string): Changed {
  return { error, summary: `Not changed: ${error}.` }
}

const KIND_OF_SIGN: Readonly<Record<string, DiffLine['kind']>> = { '+': 'added', '-': 'removed', ' ': 'same' }

/** Compares two texts by lines. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  return makeHunks(before, after).flatMap(({ oldStart, lines }) => [
    { kind: 'place' as const, text: `line ${oldStart}` },
    ...lines.map((line) => ({ kind: KIND_OF_SIGN[line.slice(0, 1)] ?? ('place' as const), text: line.slice(1) })),
  ])
}

/**
 * The plan of a change: a tree of the fields to set, and a list of the fields to remove.
 * @module
 */
import { MAX_DEPTH, refuse } from '../errors.js'
import { isPlainObject } from '../options.js'
import type { Step } from '../path.js'
import { parsePath, refusePath } from '../path.js'
import { ENUM_VALUE_NAME } from '../schema/aliases.js'
import type { Field, MessageType } from '../schema/schema.js'
import { MetaDataSchema } from '../schema/schema.js'
import type { Change, EditFields, EditMessage, EditValue, EnumNameValue } from './change.js'
import { BARE_NAME } from './change.js'

/** The plan for one field, or for one item of a list. */
export interface Plan {
  readonly path: string
  /** The new value, unless it is a message. */
  value?: ScalarValue
  /** True if the value was given as a message, which may replace a value of another kind. */
  isMessage?: true
  /** The plans for the fields of a message, by name. */
  readonly fields: Map<string, NamePlan>
}

/** The plans for all fields of one name. */
export interface NamePlan {
  /** The plan for the field, if no index was given. */
  sole?: Plan
  /** The plans for all items, if a whole list was given. */
  all?: Plan[]
  readonly byIndex: Map<number, Plan>
  readonly added: Plan[]
}

/** A field to remove. */
export interface Removal {
  readonly path: string
  readonly steps: readonly Step[]
  /** True inside a list that was given whole: an item of it may be new, and then has nothing to remove. */
  readonly isOptional: boolean
}

/**
 * Makes the plan of a change.
 * @throws {MetadataError} `invalid_path` or `invalid_value`
 */
export function makePlan(change: Change): { readonly plan: Plan; readonly removals: readonly Removal[] } {
  const root: Plan = { path: '', fields: new Map() }
  const removals: Removal[] = []
  for (const [path, value] of Object.entries(change)) {
    if (value === undefined) continue
    const steps = parsePath(path)
    if (value === null) removals.push({ path, steps, isOptional: false })
    else planPath(root, steps, value, removals)
  }
  return { plan: root, removals }
}

/** Adds the value of one path to the plan. */
function planPath(root: Plan, steps: readonly Step[], value: EditValue, removals: Removal[]): void {
  let plan = root
  let type: MessageType | undefined = MetaDataSchema
  steps.forEach((step, i) => {
    type = messageTypeOf(type?.byName.get(step.name))
    const names = ensureNamePlan(plan, step.name)
    const index = step.index === undefined ? '' : `[${step.index}]`
    const path = `${plan.path}${plan.path === '' ? '' : '.'}${step.name}${index}`
    const isLast = i === steps.length - 1
    const place: Place = { path, type, steps, isOptional: false, depth: steps.length, removals }
    if (isLast && step.index === undefined && Array.isArray(value)) {
      names.all = planItems(value, place)
      return
    }
    plan = ensurePlan(names, step, path)
    if (isLast) fillPlan(plan, value, place)
  })
}

/** The place of a value in a change. */
interface Place {
  readonly path: string
  readonly type: MessageType | undefined
  /** The steps to the field. */
  readonly steps: readonly Step[]
  readonly isOptional: Removal['isOptional']
  /** The depth of the value, if it is a message. */
  readonly depth: number
  /** Receives the fields that are given as `null`. */
  readonly removals: Removal[]
}

/** Makes one plan for each item of a list that was given whole. */
function planItems(list: readonly EditValue[], place: Place): Plan[] {
  const { name = '' } = place.steps.at(-1) ?? {}
  return Array.from(list, (item, index) => {
    const plan: Plan = { path: `${place.path}[${index}]`, fields: new Map() }
    fillPlan(plan, item, { ...place, isOptional: true, steps: place.steps.with(-1, { name, index }) })
    return plan
  })
}

/** Puts a value into its plan. */
function fillPlan(plan: Plan, value: EditValue, place: Place): void {
  if (plan.value !== undefined) refuseDuplicate(plan.path)
  const one = checkOneValue(value, plan.path)
  if (typeof one !== 'object' || isEnumName(one, plan.path)) {
    plan.value = one
    return
  }
  if (place.depth > MAX_DEPTH) refuse(plan.path, `nested no more than ${MAX_DEPTH} deep`)
  plan.isMessage = true
  const given = new Set<string>()
  for (const [key, inner] of Object.entries(one)) {
    if (inner === undefined) continue
    const [step, ...more] = parsePath(key)
    if (more.length > 0 || step?.index !== undefined || key.startsWith('_unknown'))
      refusePath(`${plan.path}.${key}`, 'only names of fields are keys in a message')
    // The keys of JSON are accepted too, so that a message of this package can be given.
    const field = place.type?.byName.get(key) ?? place.type?.byKey.get(key)
    const name = field?.name ?? key
    // A field may have been given by its name in the schema and by its key in JSON.
    if (given.has(name)) refuseDuplicate(`${plan.path}.${name}`)
    given.add(name)
    planInnerField(plan, name, inner, field, place)
  }
}

/** Adds a field of a message to the message's plan. */
function planInnerField(plan: Plan, name: string, value: EditValue, field: Field | undefined, outer: Place): void {
  const path = `${plan.path}.${name}`
  const step: Step = { name, index: undefined }
  const steps = [...outer.steps, step]
  const { isOptional } = outer
  if (value === null) {
    // In a new item there is nothing to remove.
    if (!steps.some(({ index }) => index === '+')) outer.removals.push({ path, steps, isOptional })
    return
  }
  const names = ensureNamePlan(plan, name)
  const place = { ...outer, path, type: messageTypeOf(field), steps, depth: outer.depth + 1 }
  if (Array.isArray(value)) names.all = planItems(value, place)
  else fillPlan(ensurePlan(names, step, path), value, place)
}

/** Returns the plans for a name, and makes them if there are none yet. */
function ensureNamePlan(plan: Plan, name: string): NamePlan {
  let names = plan.fields.get(name)
  if (names === undefined) {
    names = { byIndex: new Map(), added: [] }
    plan.fields.set(name, names)
  }
  return names
}

/** Returns the plan for a step, and makes it if there is none yet. A step `[+]` always makes a new one. */
function ensurePlan(names: NamePlan, { index }: Step, path: string): Plan {
  const plan: Plan = { path, fields: new Map() }
  if (index === '+') names.added.push(plan)
  else if (index === undefined) names.sole ??= plan
  else {
    const before = names.byIndex.get(index)
    if (before !== undefined) return before
    names.byIndex.set(index, plan)
  }
  return index === undefined ? (names.sole ?? plan) : plan
}

/** A value that is written as one scalar. */
export type ScalarValue = Exclude<EditValue, null | readonly EditValue[] | EditFields | EditMessage>

/** Returns the value, if it is a scalar or an object of fields. */
function checkOneValue(value: EditValue, path: string): ScalarValue | EditFields {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value
    case 'object':
      if (value === null || Array.isArray(value)) return refuse(path, 'one value', value)
      if (!isFields(value)) return refuse(path, EXPECTED_VALUE, value)
      // Null and arrays were refused above, but `Array.isArray` does not narrow a readonly array.
      return value as EnumNameValue | EditFields
    default:
      return refuse(path, EXPECTED_VALUE, value)
  }
}

const EXPECTED_VALUE = 'a string, a number, a truth value, or an object with the fields of a message'

/**
 * Checks whether an object can be read as fields. An instance of a class without fields of its own cannot: it would be taken
 * for a message with nothing to set.
 */
export function isFields(value: object): boolean {
  if (!isPlainObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  const isOfClass = prototype !== null && prototype !== Object.prototype && Object.getPrototypeOf(prototype) !== null
  return !isOfClass || Object.keys(value).length > 0
}

function isEnumName(value: ScalarValue | EditFields, path: string): value is EnumNameValue {
  if (typeof value !== 'object' || !(BARE_NAME in value)) return false
  const name: unknown = value[BARE_NAME]
  return typeof name === 'string' && ENUM_VALUE_NAME.test(name) ? true : refuse(path, 'the name of a value')
}

/**
 * Returns the plans for a name, if they do not contradict each other.
 * @throws {MetadataError} `invalid_path`
 */
export function checkNames(names: NamePlan, field: Field | undefined, name: string): NamePlan {
  const { sole, all, byIndex, added } = names
  const [first = sole] = [...(all ?? []), ...byIndex.values(), ...added]
  const isList = all !== undefined || byIndex.size > 0 || added.length > 0
  if (isList && field !== undefined && !field.repeated) refusePath(first?.path ?? name, `${name} is not a list`)
  if (sole !== undefined && (all !== undefined || byIndex.size > 0)) refuseDuplicate(sole.path)
  if (all !== undefined && byIndex.size > 0) refuseDuplicate(first?.path ?? name)
  return names
}

/** @throws {MetadataError} `invalid_path` for a field that is given twice */
export function refuseDuplicate(path: string): never {
  return refusePath(path, 'it is given twice')
}

/** @throws {MetadataError} `invalid_path` for an index past the end of a list */
export function refuseMissingIndex(path: string, name: string, index: number): never {
  return refusePath(path, `there is no ${name}[${index}]; ${name}[+] makes a new one`)
}

/** @throws {MetadataError} `invalid_value` or `invalid_path` for a message in place of a scalar */
export function refuseMessage(field: Exclude<Field, { readonly kind: 'message' }>, { path, isMessage }: Plan): never {
  return isMessage ? refuse(path, EXPECTED[field.kind]) : refusePath(path, `${field.name} is not a message`)
}

/** Words for the value that a field of each kind takes. */
export const EXPECTED: { readonly [kind in Exclude<Field['kind'], 'message'>]: string } = {
  string: 'a string',
  int32: 'an integer of 32 bits',
  enum: 'the name of a value',
}

/** Returns the type of a message field; undefined for any other field. */
export function messageTypeOf(field: Field | undefined): MessageType | undefined {
  return field?.kind === 'message' ? field.type : undefined
}

/**
 * A change as a tree: what is to become of each field, and what is to go.
 * @module
 */
import { MAX_DEPTH, refuse } from '../errors.js'
import { isPlainObject } from '../options.js'
import type { Step } from '../path.js'
import { parsePath, refusePath } from '../path.js'
import type { Field, MessageType } from '../schema/schema.js'
import { MetaDataSchema } from '../schema/schema.js'
import type { Change, EditFields, EditMessage, EditValue, EnumNameValue } from './change.js'
import { BARE_NAME, NAME } from './change.js'

/** What is to become of one field, or of one of a list. */
export interface Plan {
  readonly path: string
  /** The value, unless it is a message. */
  value?: ScalarValue
  /** Whether the value was given as a message, which may take the place of something else. */
  isMessage?: true
  /** What is to become of the fields of a message. */
  readonly fields: Map<string, NamePlan>
}

/** What is to become of the fields of one name. */
export interface NamePlan {
  /** Of the only one. */
  sole?: Plan
  /** Of all: one plan for each that is to be there. */
  all?: Plan[]
  readonly byIndex: Map<number, Plan>
  readonly added: Plan[]
}

export interface Removal {
  readonly path: string
  readonly steps: readonly Step[]
}

export function makePlan(change: Change): { readonly plan: Plan; readonly removals: readonly Removal[] } {
  const root: Plan = { path: '', fields: new Map() }
  const removals: Removal[] = []
  for (const [path, value] of Object.entries(change)) {
    if (value === undefined) continue
    const steps = parsePath(path)
    if (value === null) removals.push({ path, steps })
    else into(root, steps, value)
  }
  return { plan: root, removals }

  function into(plan: Plan, steps: readonly Step[], value: EditValue): void {
    let at = plan
    let type: MessageType | undefined = MetaDataSchema
    steps.forEach((step, i) => {
      type = messageTypeOf(type?.byName.get(step.name))
      const names = namePlan(at, step.name)
      const path = `${at.path}${at.path === '' ? '' : '.'}${step.name}${step.index === undefined ? '' : `[${step.index}]`}`
      if (i === steps.length - 1 && step.index === undefined && Array.isArray(value)) {
        names.all = Array.from(value, (item, index) =>
          fill({ path: `${path}[${index}]`, fields: new Map() }, item, type, undefined, steps.length),
        )
        return
      }
      at = planAt(names, step, path)
      if (i === steps.length - 1) fill(at, value, type, steps, steps.length)
    })
  }

  /**
   * @param steps - to the field; undefined where it is new, so that there is nothing in it to remove
   * @param depth - of messages, were this one
   */
  function fill(
    plan: Plan,
    value: EditValue,
    type: MessageType | undefined,
    steps: readonly Step[] | undefined,
    depth: number,
  ): Plan {
    if (plan.value !== undefined) refuseDuplicate(plan.path)
    const one = checkOneValue(value, plan.path)
    if (typeof one !== 'object' || isEnumName(one, plan.path)) {
      plan.value = one
      return plan
    }
    if (depth > MAX_DEPTH) refuse(plan.path, `nested no more than ${MAX_DEPTH} deep`)
    plan.isMessage = true
    const given = new Set<string>()
    for (const [key, inner] of Object.entries(one)) {
      if (inner === undefined) continue
      const [step, ...more] = parsePath(key)
      if (more.length > 0 || step?.index !== undefined || key.startsWith('_unknown'))
        refusePath(`${plan.path}.${key}`, 'only names of fields are keys in a message')
      // The keys of JSON are understood too, so that a message of this package can be given.
      const field = type?.byName.get(key) ?? type?.byKey.get(key)
      const name = field?.name ?? key
      const path = `${plan.path}.${name}`
      // By its name in the schema and by its key in JSON.
      if (given.has(name)) refuseDuplicate(path)
      given.add(name)
      const innerSteps = steps && [...steps, { name, index: undefined }]
      if (inner === null) {
        if (innerSteps !== undefined && !innerSteps.some(({ index }) => index === '+'))
          removals.push({ path, steps: innerSteps })
        continue
      }
      const names = namePlan(plan, name)
      if (Array.isArray(inner))
        names.all = Array.from(inner, (item, index) =>
          fill({ path: `${path}[${index}]`, fields: new Map() }, item, messageTypeOf(field), undefined, depth + 1),
        )
      else fill(planAt(names, { name, index: undefined }, path), inner, messageTypeOf(field), innerSteps, depth + 1)
    }
    return plan
  }
}

function namePlan(plan: Plan, name: string): NamePlan {
  let names = plan.fields.get(name)
  if (names === undefined) {
    names = { byIndex: new Map(), added: [] }
    plan.fields.set(name, names)
  }
  return names
}

function planAt(names: NamePlan, { index }: Step, path: string): Plan {
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

export type ScalarValue = Exclude<EditValue, null | readonly EditValue[] | EditFields | EditMessage>

/** A value that is one, and that can be written. */
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
      // Neither null nor an array: the check of a readonly array does not narrow.
      return value as EnumNameValue | EditFields
    default:
      return refuse(path, EXPECTED_VALUE, value)
  }
}

const EXPECTED_VALUE = 'a string, a number, a truth value, or an object with the fields of a message'

/** Whether an object has fields in it: one of a class without any would be taken for a message with nothing to set. */
export function isFields(value: object): boolean {
  if (!isPlainObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  const isOfClass = prototype !== null && prototype !== Object.prototype && Object.getPrototypeOf(prototype) !== null
  return !isOfClass || Object.keys(value).length > 0
}

function isEnumName(value: ScalarValue | EditFields, path: string): value is EnumNameValue {
  if (typeof value !== 'object' || !(BARE_NAME in value)) return false
  const name: unknown = value[BARE_NAME]
  return typeof name === 'string' && NAME.test(name) ? true : refuse(path, 'the name of a value')
}

/** What is to become of the fields of a name, once it is known that it does not contradict itself. */
export function checkNames(names: NamePlan, field: Field | undefined, name: string): NamePlan {
  const { sole, all, byIndex, added } = names
  const [first = sole] = [...(all ?? []), ...byIndex.values(), ...added]
  const isList = all !== undefined || byIndex.size > 0 || added.length > 0
  if (isList && field !== undefined && !field.repeated) refusePath(first?.path ?? name, `${name} is not a list`)
  if (sole !== undefined && (all !== undefined || byIndex.size > 0)) refuseDuplicate(sole.path)
  if (all !== undefined && byIndex.size > 0) refuseDuplicate(first?.path ?? name)
  return names
}

export function refuseDuplicate(path: string): never {
  return refusePath(path, 'it is given twice')
}

export function refuseMissingIndex(path: string, name: string, index: number): never {
  return refusePath(path, `there is no ${name}[${index}]; ${name}[+] makes a new one`)
}

/** A plan of fields for a field that has none. */
export function refuseMessage(field: Exclude<Field, { readonly kind: 'message' }>, { path, isMessage }: Plan): never {
  return isMessage ? refuse(path, EXPECTED[field.kind]) : refusePath(path, `${field.name} is not a message`)
}

/** What a field of each kind takes. */
export const EXPECTED: { readonly [kind in Exclude<Field['kind'], 'message'>]: string } = {
  string: 'a string',
  int32: 'an integer of 32 bits',
  enum: 'the name of a value',
}

/** The type of a field that is a message. */
export function messageTypeOf(field: Field | undefined): MessageType | undefined {
  return field?.kind === 'message' ? field.type : undefined
}

/**
 * The splices of a text that set values and add fields by a plan.
 * @module
 */

import { LONE_SURROGATE } from '../check.js'
import { MetadataError, refuse } from '../errors.js'
import { refuseJsonName, refusePath } from '../path.js'
import type { EnumNames } from '../schema/aliases.js'
import type { EnumField, Field, MessageType } from '../schema/schema.js'
import { DateSchema } from '../schema/schema.js'
import { decodeString, parseInt32, parseInteger, writeLiteral } from '../text/literals.js'
import type { FieldNode, ItemNode, StringNode } from '../text/tree.js'
import { piecesOf } from '../text/tree.js'
import { BARE_NAME } from './change.js'
import { Layout } from './layout.js'
import type { Container, Occurrence } from './occurrences.js'
import { groupOccurrences, soleIndex } from './occurrences.js'
import type { Plan, ScalarValue } from './plan.js'
import { checkNames, EXPECTED, messageTypeOf, refuseDuplicate, refuseMessage, refuseMissingIndex } from './plan.js'
import type { NewField, Written } from './render.js'
import type { Splice } from './splices.js'
import { removePieces, wouldJoin } from './splices.js'

/** Collects the splices that set and add. Their offsets are those of the text as it was given. */
export class Setter {
  readonly splices: Splice[] = []
  /** Items that are left of a list after all its items were set. */
  readonly surplus: Occurrence[] = []
  private readonly layout: Layout
  private readonly withColon = new Set<FieldNode>()

  constructor(
    private readonly text: string,
    root: Container,
    private readonly names: EnumNames,
  ) {
    this.layout = new Layout(text, root)
  }

  setMessage(container: Container, plan: Plan): void {
    const added: NewField[] = []
    const occurrences = groupOccurrences(container)
    for (const [name, names] of plan.fields) {
      const field = container.type?.byName.get(name)
      const here = occurrences.get(name) ?? []
      const set = (index: number, one: Plan): void => {
        const occurrence = here[index]
        if (occurrence !== undefined) this.setOccurrence(container, occurrence, field, one)
        else {
          refuseJsonName(container.type, name, one.path)
          const written = this.renderNew(field, one)
          if (written !== undefined) added.push({ name, written })
        }
      }
      const { sole, all, byIndex, added: more } = checkNames(names, field, name)
      if (sole !== undefined) set(soleIndex(here, field, name, sole.path), sole)
      for (const [index, one] of all?.entries() ?? []) set(index, one)
      if (all !== undefined) for (const occurrence of here.slice(all.length)) this.surplus.push(occurrence)
      for (const [index, one] of byIndex) {
        if (index > 0 && index >= here.length) refuseMissingIndex(one.path, name, index)
        set(index, one)
      }
      for (const one of more) set(here.length, one)
    }
    if (added.length > 0) this.insertNew(container, added)
  }

  /** Inserts new fields. If the last field of the name is a list, the new one becomes an item of it. */
  private insertNew(container: Container, added: readonly NewField[]): void {
    // The last field of each name, also if it is an empty list.
    const last = new Map(container.fields.map((node) => [node.name, node]))
    const fields: NewField[] = []
    const toLists = new Map<FieldNode, Written[]>()
    for (const { name, written } of added) {
      const list = last.get(name)
      if (list?.value.kind !== 'list') fields.push({ name, written })
      else {
        const items = toLists.get(list)
        if (items === undefined) toLists.set(list, [written])
        else items.push(written)
      }
    }
    for (const [node, items] of toLists) {
      if (node.value.kind !== 'list') continue
      if (items.some((item) => typeof item === 'string')) this.addColon(node)
      this.add(this.layout.appendToList(node.value, container, items))
    }
    this.add(this.layout.insertFields(container, fields))
  }

  private add(splices: readonly Splice[]): void {
    for (const one of splices) this.splices.push(one)
  }

  private setOccurrence(container: Container, { node, item }: Occurrence, field: Field | undefined, plan: Plan): void {
    if (plan.value !== undefined) {
      if (plan.fields.size > 0) refuseDuplicate(plan.path)
      this.setScalar(node, item, field, plan.value, plan.path)
      return
    }
    if (field !== undefined && field.kind !== 'message') refuseMessage(field, plan)
    const type = messageTypeOf(field)
    if (item.kind === 'message') this.setMessage({ fields: item.fields, message: item, type }, plan)
    else if (!plan.isMessage) refusePath(plan.path, 'it is not a message in this text')
    else
      this.add([
        { start: item.start, end: item.end, text: this.layout.block(container, node, this.renderFields(type, plan)) },
      ])
  }

  private setScalar(node: FieldNode, item: ItemNode, field: Field | undefined, value: ScalarValue, path: string): void {
    if (this.isUnchanged(field, item, value)) return
    const written = this.renderScalar(field, value, item, path)
    if (item.kind === 'string' && typeof value === 'string' && /^["']/.test(written)) {
      this.add(this.rewrap(item, value))
      return
    }
    const text = wouldJoin(written, this.text.slice(item.end, item.end + 1)) ? `${written} ` : written
    this.addColon(node)
    this.add([{ start: item.start, end: item.end, text }])
  }

  /** Renders a new field. Returns undefined for one without a value. */
  private renderNew(field: Field | undefined, plan: Plan): Written | undefined {
    if (plan.value !== undefined && plan.fields.size > 0) refuseDuplicate(plan.path)
    if (plan.value !== undefined) return this.renderScalar(field, plan.value, undefined, plan.path)
    if (field !== undefined && field.kind !== 'message') return refuseMessage(field, plan)
    const written = this.renderFields(messageTypeOf(field), plan)
    // A path that ends in an empty list makes no field.
    return written.length === 0 && !plan.isMessage ? undefined : written
  }

  /** Renders the fields of a new message, in canonical order. */
  private renderFields(type: MessageType | undefined, plan: Plan): (readonly [string, Written])[] {
    const written: (readonly [string, Written])[] = []
    for (const [name, names] of plan.fields) {
      const field = type?.byName.get(name)
      const { sole, all, byIndex, added } = checkNames(names, field, name)
      refuseJsonName(type, name, `${plan.path}.${name}`)
      if (sole !== undefined) soleIndex([], field, name, sole.path)
      for (const [index, { path }] of byIndex) if (index > 0) refuseMissingIndex(path, name, index)
      for (const one of [...(sole === undefined ? [] : [sole]), ...(all ?? []), ...byIndex.values(), ...added]) {
        const value = this.renderNew(field, one)
        if (value !== undefined) written.push([name, value])
      }
    }
    const order = (name: string): number => type?.byName.get(name)?.number ?? Number.MAX_SAFE_INTEGER
    return written.sort(([a], [b]) => order(a) - order(b))
  }

  /**
   * Renders a scalar.
   * @param before - the present value, whose style the new one keeps where there is a choice
   */
  private renderScalar(
    field: Field | undefined,
    value: ScalarValue,
    before: ItemNode | undefined,
    path: string,
  ): string {
    const bare = typeof value === 'object' ? value[BARE_NAME] : undefined
    switch (field?.kind) {
      case 'message':
        return refuse(path, field.type === DateSchema ? EXPECTED_DATE : 'an object with the fields of the message')
      case 'string':
        return typeof value === 'string' ? this.renderString(value, before, path) : refuse(path, EXPECTED.string)
      case 'int32':
        return typeof value !== 'object' && (Number(value) | 0) === value ? String(value) : refuse(path, EXPECTED.int32)
      case 'enum':
        return bare ?? this.renderEnum(field, value, path)
      case undefined:
        if (bare !== undefined) return bare
        if (typeof value === 'string') {
          const name = before?.kind === 'identifier' ? this.text.slice(before.start, before.end) : ''
          return IS_ENUM_NAME.test(name) && IS_ENUM_NAME.test(value) ? value : this.renderString(value, before, path)
        }
        if (typeof value === 'number' && !Number.isFinite(value))
          return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf'
        return String(value)
    }
  }

  private renderEnum(field: EnumField, value: ScalarValue, path: string): string {
    if (typeof value === 'number' && field.enum.names[value] !== undefined) return this.names.nameOf(field.enum, value)
    if (typeof value === 'string' && this.names.numberOf(field.enum, value) !== undefined) return value
    const expected = `one of ${[...field.enum.numbers.keys()].join(', ')}`
    throw new MetadataError(
      'unknown_enum_value',
      `${path}: ${field.enum.name} has no value ${String(value)}: expected ${expected}`,
      {
        path,
        expected,
      },
    )
  }

  private renderString(value: string, before: ItemNode | undefined, path: string): string {
    if (LONE_SURROGATE.test(value)) return refuse(path, 'a string without lone surrogates')
    const quote = before?.kind === 'string' ? quoteOf(this.text, before.start) : this.layout.style.quote
    return writeLiteral(value, { ...this.layout.style.literalStyle, quote })
  }

  /** Checks that the text has a value already. */
  private isUnchanged(field: Field | undefined, item: ItemNode, value: ScalarValue): boolean {
    const source = this.text.slice(item.start, item.end)
    switch (item.kind) {
      case 'string':
        return typeof value === 'string' && field?.kind !== 'enum' && readString(item, this.text) === value
      case 'integer':
        if (field?.kind === 'enum' && typeof value === 'string')
          return this.names.numberOf(field.enum, value) === parseInt32(source)
        return (typeof value === 'number' || typeof value === 'bigint') && equalsInteger(source, value)
      case 'float':
        return typeof value === 'number' && Number.parseFloat(source) === value
      case 'identifier': {
        const name = typeof value === 'object' ? value[BARE_NAME] : String(value)
        if (name === source) return true
        if (field?.kind !== 'enum') return false
        const number = typeof value === 'number' ? value : this.names.numberOf(field.enum, name)
        return number !== undefined && this.names.numberOf(field.enum, source) === number
      }
      default:
        return false
    }
  }

  /** Adds the colon that a scalar needs and a message may lack. */
  private addColon(node: FieldNode): void {
    if (node.colon >= 0 || this.withColon.has(node)) return
    this.withColon.add(node)
    this.add([{ start: node.nameEnd, end: node.nameEnd, text: ':' }])
  }

  /** Changes a string in as few of its pieces as possible, so that its wrapping stays. */
  private rewrap(node: StringNode, value: string): Splice[] {
    const values = piecesOf(node, this.text).map((piece) => (piece.includes('\\') ? decodeString([piece]) : piece))
    const spanOf = (index: number): { start: number; end: number } => ({
      start: node.pieces[index * 2] ?? 0,
      end: node.pieces[index * 2 + 1] ?? 0,
    })
    const piece = (index: number, text: string): Splice => {
      const span = spanOf(index)
      return {
        ...span,
        text: writeLiteral(text, { ...this.layout.style.literalStyle, quote: quoteOf(this.text, span.start) }),
      }
    }

    let first = 0
    let before = 0
    for (; first < values.length; first++) {
      const text = values[first]
      if (text === undefined || !value.startsWith(text, before)) break
      before += text.length
    }
    let last = values.length
    let after = value.length
    for (; last > first; last--) {
      const text = values[last - 1]
      if (text === undefined || after - text.length < before || !value.endsWith(text, after)) break
      after -= text.length
    }
    const changed = value.slice(before, after)
    if (first === last) {
      // All pieces stay, and new text comes between two of them or at an end: it goes to the piece before it.
      const index = Math.max(first - 1, 0)
      const own = values[index] ?? ''
      return [piece(index, first === 0 ? changed + own : own + changed)]
    }
    const kept = changed !== '' || last - first === values.length ? 1 : 0
    const gone = Array.from({ length: last - first - kept }, (_, index) => spanOf(first + kept + index))
    if (last === values.length && gone.length > 0) this.layout.noteNewEnd(node, spanOf(first + kept - 1).end)
    return [...(kept === 1 ? [piece(first, changed)] : []), ...removePieces(this.text, gone)]
  }
}

/** The words for a caller who gave a date as text. */
const EXPECTED_DATE = 'an object with year, month and day, such as dateFromISO makes'

/** Names of enum values: those that are neither truth values nor numbers. */
const IS_ENUM_NAME = /^(?!(?:true|false|inf|infinity|nan)$)[A-Za-z_]\w*$/i

function quoteOf(text: string, at: number): '"' | "'" {
  return text[at] === "'" ? "'" : '"'
}

function readString(node: StringNode, text: string): string | undefined {
  const pieces = piecesOf(node, text)
  return node.escaped ? decodeString(pieces) : pieces.join('')
}

/** Compares an integer as it is written with a number. Compares decimal digits as text, because a stranger may have written millions. */
function equalsInteger(source: string, value: number | bigint): boolean {
  if (typeof value === 'number' && !Number.isInteger(value)) return false
  const whole = BigInt(value)
  return /^-?[1-9]/.test(source) ? source === String(whole) : parseInteger(source) === whole
}

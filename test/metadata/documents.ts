/**
 * Texts at random, for fast-check, with what stands where in them: written from a tree, so that no reader has to be trusted for it.
 * @module
 */
import * as fc from 'fast-check'
import type { Kind, TypeName } from './specification.js'
import { isType, SCHEMA } from './specification.js'

/** A step of a path; which of several it is, where there may be several. */
export interface Step {
  readonly name: string
  readonly index: number | undefined
}

export const pathOf = (steps: readonly Step[]): string =>
  steps.map(({ name, index }) => (index === undefined ? name : `${name}[${index}]`)).join('.')

export interface Span {
  readonly start: number
  readonly end: number
}

/** A value of the text: of a field, or one of a list. */
export interface Place extends Span {
  readonly steps: readonly Step[]
  readonly path: string
  /** Undefined where the schema does not know the field. */
  readonly is: Kind | undefined
  readonly form: 'string' | 'word' | 'message'
  /** Start and end of each of the adjacent strings. */
  readonly pieces: readonly Span[]
  /** The field, from its name to its separator, where the value is not one of several in a list. */
  readonly field: (Span & { readonly valueEnd: number }) | undefined
  /** The names of a message's fields: of a list, as often as it has values, yet once where it has none. */
  readonly fieldNames: readonly string[]
  readonly [fc.toStringMethod]: () => string
}

export interface Document {
  readonly text: string
  readonly places: readonly Place[]
  readonly eol: '\n' | '\r\n' | undefined
  readonly rootNames: readonly string[]
  /** What fast-check prints of it. */
  readonly [fc.toStringMethod]: () => string
}

// ---------------------------------------------------------------- the tree

interface Tree {
  readonly name: string
  readonly is: Kind | undefined
  readonly repeated: boolean
  readonly colon: boolean
  readonly value: Value
  readonly separator: '' | ',' | ';'
  readonly layout: {
    readonly blankLine: boolean
    readonly above: string | undefined
    readonly behind: string | undefined
    readonly inline: boolean
    readonly tight: boolean
  }
}

type Value =
  | { readonly form: 'string'; readonly literals: readonly string[] }
  | { readonly form: 'word'; readonly word: string }
  | { readonly form: 'message'; readonly angle: boolean; readonly fields: readonly Tree[] }
  | { readonly form: 'list'; readonly items: readonly Value[] }

const ESCAPES = [
  '\\n',
  '\\t',
  '\\"',
  "\\'",
  '\\\\',
  '\\101',
  '\\x42',
  '\\u00e9',
  '\\U0001f600',
  '\\303\\251',
  '\\0',
  '\\?',
]
const character = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...'abcdefgh.:/1234 ') },
  { weight: 2, arbitrary: fc.constantFrom(...'#{}[]<>,;', 'é', '😀', '\t') },
  { weight: 1, arbitrary: fc.constantFrom(...ESCAPES) },
)

const literal = fc
  .tuple(
    fc.constantFrom('"', '"', '"', "'"),
    fc.array(fc.oneof(character, fc.constantFrom('"', "'")), { maxLength: 8 }),
  )
  .map(([quote, parts]) => quote + parts.map((part) => (part === quote ? `\\${quote}` : part)).join('') + quote)

const strings: fc.Arbitrary<Value> = fc
  .oneof(
    { weight: 3, arbitrary: fc.array(literal, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(literal, { minLength: 2, maxLength: 4 }) },
  )
  .map((literals) => ({ form: 'string', literals }))

const word = (words: fc.Arbitrary<string>): fc.Arbitrary<Value> => words.map((text) => ({ form: 'word', word: text }))

const int32 = word(
  fc.oneof(
    fc.integer({ min: 0, max: 3000 }).map(String),
    fc.constantFrom('-1', '0', '2147483647', '-2147483648', '010', '0x1F', '-0x1', '04'),
  ),
)
const unknownWord = word(
  fc.constantFrom(
    '0',
    '1',
    '-7',
    '0x1f',
    '017',
    '1.5',
    '-2.',
    '.5e3',
    '1f',
    'inf',
    'nan',
    'true',
    'false',
    'FOO',
    'a_b',
  ),
)

const message = (fields: fc.Arbitrary<readonly Tree[]>): fc.Arbitrary<Value> =>
  fc.record({
    form: fc.constant('message' as const),
    angle: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    fields,
  })

const remark = fc.constantFrom(
  ' a remark',
  '',
  ' name: "not this"',
  ' } ]',
  ' " \'',
  ' \u00e9\u2028',
  '#',
  ' , ;',
  '\tx',
)
const layout = fc.record({
  blankLine: fc.boolean(),
  above: fc.option(remark, { nil: undefined, freq: 3 }),
  behind: fc.option(remark, { nil: undefined, freq: 3 }),
  inline: fc.boolean(),
  tight: fc.constantFrom(false, false, true),
})

const list = (value: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.array(value, { maxLength: 4 }).map((items) => ({ form: 'list', items }))

function field(
  name: fc.Arbitrary<string>,
  value: fc.Arbitrary<Value>,
  is: Kind | undefined,
  repeated: boolean,
): fc.Arbitrary<Tree> {
  const values = repeated ? fc.oneof({ weight: 3, arbitrary: value }, { weight: 1, arbitrary: list(value) }) : value
  return fc
    .record({
      name,
      value: values,
      colon: fc.boolean(),
      separator: fc.constantFrom('' as const, '' as const, ',' as const, ';' as const),
      layout,
    })
    .map((tree) => ({ ...tree, is, repeated }))
}

const UNKNOWN_NAMES = [
  'homepage',
  'identifier',
  'foo',
  'Bar_2',
  '[ext.name]',
  '[type.example/a.B]',
  '[ spaced . name ]',
]
const unknownName = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...UNKNOWN_NAMES) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString') },
)

const unknownFields = new Map<number, fc.Arbitrary<Tree>>()

function unknownField(depth: number): fc.Arbitrary<Tree> {
  const made =
    unknownFields.get(depth) ??
    field(
      unknownName,
      fc.oneof(
        { weight: 3, arbitrary: strings },
        { weight: 2, arbitrary: unknownWord },
        ...(depth > 0 ? [{ weight: 2, arbitrary: message(fc.array(unknownField(depth - 1), { maxLength: 4 })) }] : []),
      ),
      undefined,
      true,
    )
  unknownFields.set(depth, made)
  return made
}

function valueFrom(is: Kind): fc.Arbitrary<Value> {
  if (is === 'string') return strings
  if (is === 'int32') return int32
  if (isType(is)) return message(fieldsOf(is))
  return word(fc.constantFrom(...Object.keys(is)))
}

const fieldsOfType = new Map<TypeName, fc.Arbitrary<readonly Tree[]>>()

/** Some fields of a type, the repeated ones up to three times, unknown ones among them; in canonical order or in none. */
function fieldsOf(type: TypeName): fc.Arbitrary<readonly Tree[]> {
  const made =
    fieldsOfType.get(type) ??
    fc
      .tuple(
        fc.shuffledSubarray(SCHEMA[type].flatMap((one) => (one.repeated ? [one, one, one] : [one]))),
        fc.array(unknownField(2), { maxLength: 2 }),
        fc.nat(),
        fc.constantFrom('canonical', 'shuffled'),
      )
      .chain(([some, unknown, place, order]) => {
        const inOrder =
          order === 'shuffled' ? some : [...some].sort((a, b) => SCHEMA[type].indexOf(a) - SCHEMA[type].indexOf(b))
        const fields = inOrder.map(({ name, is, repeated }) => field(fc.constant(name), valueFrom(is), is, repeated))
        const at = order === 'shuffled' ? place % (fields.length + 1) : fields.length
        fields.splice(at, 0, ...unknown.map((tree) => fc.constant(tree)))
        return fc.tuple(...fields)
      })
  fieldsOfType.set(type, made)
  return made
}

const plainName = ({ name }: Tree): string => name.replaceAll(' ', '')

function namesOf(tree: Tree): string[] {
  const count = tree.value.form === 'list' ? Math.max(1, tree.value.items.length) : 1
  return Array.from({ length: count }, () => plainName(tree))
}

// ---------------------------------------------------------------- how it is written

/** Writes tokens one after the other, and remembers where. */
class Writer {
  text = ''

  /** A token, kept apart from the one before where they would grow together. */
  token(token: string): Span {
    if (/[\w.]$/.test(this.text) && /^[\w.]/.test(token) && this.lastIsToken) this.text += ' '
    const start = this.text.length
    this.text += token
    this.lastIsToken = true
    return { start, end: this.text.length }
  }

  private lastIsToken = false

  gap(gap: string): void {
    if (gap === '') return
    this.text += gap
    this.lastIsToken = false
  }
}

/** What stands between tokens, as far as it is free. */
interface Style {
  /** Before the first field of a message or after any. */
  gap(place: 'open' | 'between' | 'close', tree: Tree, depth: number): string
  readonly name: (tree: Tree) => string
  readonly colon: (tree: Tree) => string
  readonly piece: (tree: Tree, depth: number) => string
  readonly item: (tree: Tree, depth: number, place: 'open' | 'between' | 'close') => string
  readonly separator: (tree: Tree) => string
  readonly above: (tree: Tree, depth: number) => string
}

interface Parent {
  readonly steps: readonly Step[]
  readonly counts: Map<string, number>
}

class Scribe {
  readonly places: Place[] = []
  readonly writer = new Writer()

  constructor(private readonly style: Style) {}

  fields(trees: readonly Tree[], parent: Parent, depth: number): void {
    trees.forEach((tree, i) => {
      this.writer.gap(this.style.above(tree, depth))
      this.field(tree, parent, depth)
      if (i < trees.length - 1) this.writer.gap(this.style.gap('between', tree, depth))
    })
  }

  private field(tree: Tree, parent: Parent, depth: number): void {
    const { writer, style } = this
    const { start } = writer.token(tree.name)
    const items = tree.value.form === 'list' ? tree.value.items : [tree.value]
    const isMessage = (tree.is === undefined || isType(tree.is)) && items.every(({ form }) => form === 'message')
    if (!isMessage || tree.colon) {
      writer.gap(style.name(tree))
      writer.token(':')
    }
    writer.gap(style.colon(tree))
    const { value } = tree
    const first = this.places.length
    if (value.form !== 'list') this.item(value, tree, parent, depth)
    else {
      writer.token('[')
      value.items.forEach((item, i) => {
        writer.gap(style.item(tree, depth, i === 0 ? 'open' : 'between'))
        this.item(item, tree, parent, depth + 1)
        if (i < value.items.length - 1) writer.token(',')
      })
      writer.gap(style.item(tree, depth, 'close'))
      writer.token(']')
    }
    const valueEnd = writer.text.length
    if (tree.separator !== '') {
      writer.gap(style.separator(tree))
      writer.token(tree.separator)
    }
    const place = this.places[first]
    if (place !== undefined && (value.form !== 'list' || value.items.length === 1))
      this.places[first] = { ...place, field: { start, end: writer.text.length, valueEnd } }
  }

  private item(value: Exclude<Value, { form: 'list' }>, tree: Tree, parent: Parent, depth: number): void
  private item(value: Value, tree: Tree, parent: Parent, depth: number): void
  private item(value: Value, tree: Tree, parent: Parent, depth: number): void {
    if (value.form === 'list') return
    const { writer, style } = this
    const name = plainName(tree)
    const count = parent.counts.get(name) ?? 0
    parent.counts.set(name, count + 1)
    const steps = [...parent.steps, { name, index: tree.repeated ? count : undefined }]
    const index = this.places.length
    const place = {
      steps,
      path: pathOf(steps),
      is: tree.is,
      form: value.form,
      field: undefined,
      fieldNames: [],
      [fc.toStringMethod]: () => pathOf(steps),
    }
    if (value.form === 'message') {
      const { start } = writer.token(value.angle ? '<' : '{')
      this.places.push({ ...place, start, end: 0, pieces: [] })
      if (value.fields.length > 0) writer.gap(style.gap('open', tree, depth))
      this.fields(value.fields, { steps, counts: new Map() }, depth + 1)
      writer.gap(style.gap('close', tree, depth))
      writer.token(value.angle ? '>' : '}')
      this.places[index] = {
        ...place,
        start,
        end: writer.text.length,
        pieces: [],
        fieldNames: value.fields.flatMap(namesOf),
      }
    } else {
      const pieces: Span[] = []
      for (const token of value.form === 'string' ? value.literals : [value.word]) {
        if (pieces.length > 0) writer.gap(style.piece(tree, depth))
        pieces.push(writer.token(token))
      }
      this.places.push({ ...place, start: pieces[0]?.start ?? 0, end: writer.text.length, pieces })
    }
  }
}

function written(trees: readonly Tree[], style: Style, begin: string, end: string, eol: Document['eol']): Document {
  const scribe = new Scribe(style)
  scribe.writer.gap(begin)
  scribe.fields(trees, { steps: [], counts: new Map() }, 0)
  scribe.writer.gap(end)
  return {
    text: scribe.writer.text,
    places: scribe.places,
    eol,
    rootNames: trees.flatMap(namesOf),
    [fc.toStringMethod]: () => JSON.stringify(scribe.writer.text),
  }
}

/** As people write: a field a line, blocks indented or on one line, strings wrapped, comments above and behind. */
export const tidyDocument: fc.Arbitrary<Document> = fc
  .record({
    trees: fieldsOf('MetaData'),
    eol: fc.constantFrom('\n' as const, '\n' as const, '\r\n' as const),
    unit: fc.constantFrom('  ', '    ', '\t', ' '),
    header: fc.constantFrom('', '', '# header\n', '# header\n# goes on\n\n', '\n# late\n\n'),
    end: fc.constantFrom('\n', '\n', '', '\n# the end', '\n\n# the end\n', ' # behind'),
  })
  .map(({ trees, eol, unit, header, end }) => {
    const flat = new Set<Tree>()
    const flatten = (tree: Tree, inline: boolean): void => {
      const isFlat = inline || tree.layout.inline
      if (isFlat) flat.add(tree)
      const values = tree.value.form === 'list' ? tree.value.items : [tree.value]
      for (const value of values)
        if (value.form === 'message')
          for (const inner of value.fields) flatten(inner, isFlat || tree.value.form === 'list')
    }
    const oneLine = new Set<Tree>()
    const mark = (inner: readonly Tree[], inline: boolean): void => {
      for (const tree of inner) {
        if (inline) oneLine.add(tree)
        const values = tree.value.form === 'list' ? tree.value.items : [tree.value]
        for (const value of values)
          if (value.form === 'message') mark(value.fields, inline || tree.layout.inline || tree.value.form === 'list')
      }
    }
    mark(trees, false)
    for (const tree of trees) flatten(tree, false)
    const line = (depth: number): string => eol + unit.repeat(depth)
    const style: Style = {
      gap: (place, tree, depth) => {
        if (place === 'between')
          return oneLine.has(tree)
            ? ' '
            : (tree.layout.behind === undefined ? '' : ` #${tree.layout.behind}`) + line(depth)
        if (flat.has(tree) || oneLine.has(tree)) return tree.layout.tight ? '' : ' '
        const empty = tree.value.form === 'message' && tree.value.fields.length === 0
        if (place === 'close' && tree.layout.tight) return empty ? '' : ' '
        const remarkBehind = place === 'open' && tree.layout.behind !== undefined ? ` #${tree.layout.behind}` : ''
        return remarkBehind + line(place === 'open' ? depth + 1 : depth)
      },
      above: (tree, depth) => {
        if (oneLine.has(tree)) return ''
        const blank = tree.layout.blankLine ? line(depth) : ''
        return blank + (tree.layout.above === undefined ? '' : `#${tree.layout.above}${line(depth)}`)
      },
      name: () => '',
      colon: (tree) => (tree.layout.tight && tree.value.form !== 'message' ? '' : ' '),
      piece: (tree, depth) => (oneLine.has(tree) ? ' ' : line(depth + 1)),
      item: (tree, depth, place) => {
        if (flat.has(tree) || oneLine.has(tree)) return place === 'between' ? ' ' : ''
        const behind = place === 'close' && tree.layout.behind !== undefined ? ` #${tree.layout.behind}` : ''
        return behind + line(place === 'close' ? depth : depth + 1)
      },
      separator: () => '',
    }
    return written(trees, style, header.replaceAll('\n', eol), end.replaceAll('\n', eol), eol)
  })

const gap = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  { weight: 5, arbitrary: fc.constantFrom(' ', '\n', '\t', '\r\n', '  ', '\n  ', '\n\n') },
  { weight: 1, arbitrary: fc.constantFrom('\r', '\v', '\f') },
  { weight: 2, arbitrary: remark.map((text) => `#${text}\n`) },
  { weight: 1, arbitrary: remark.map((text) => ` #${text}\r\n  `) },
)

/** Anything the grammar allows: blanks and comments between any two tokens, or nothing. */
export const wildDocument: fc.Arbitrary<Document> = fc
  .record({
    trees: fieldsOf('MetaData'),
    gaps: fc.array(gap, { minLength: 1, maxLength: 40 }),
    end: fc.constantFrom('', '', '\n', '#', '# end', '\r'),
  })
  .map(({ trees, gaps, end }) => {
    let at = 0
    const next = (): string => gaps[at++ % gaps.length] ?? ''
    const style = { gap: next, above: () => '', name: next, colon: next, piece: next, item: next, separator: next }
    return written(trees, style, next(), end, undefined)
  })

export const anyDocument: fc.Arbitrary<Document> = fc.oneof(tidyDocument, wildDocument)

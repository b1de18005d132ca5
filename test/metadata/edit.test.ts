/** Lossless edit of text format, against a model of what is read and against what stands where in the text. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import {
  type Change,
  type EditValue,
  editText,
  enumName,
  formatText,
  getField,
  MetaData,
  MetadataError,
  parseText,
  type UnknownText,
} from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'
import { anyMessage, anyString } from './arbitraries.js'
import { anyDocument, type Document, type Place, pathOf, type Span, type Step } from './documents.js'
import { isType, type Kind, SCHEMA, type TypeName } from './specification.js'

// ---------------------------------------------------------------- what is read after an edit

/** A value as the model has it; `bare` is a name without quotes. */
type Value = string | number | { readonly bare: string } | readonly [string, Value][]
/** An index of -1 is a new one. */
type Edit = readonly [steps: readonly Step[], value: Value | null]
type Bag = { [key: string]: unknown; _unknownText?: UnknownText[] }

const isFields = (value: Value): value is readonly [string, Value][] => Array.isArray(value)

function toEditValue(value: Value | null): EditValue {
  if (value === null || typeof value !== 'object') return value
  if (isFields(value)) return Object.fromEntries(value.map(([name, inner]) => [name, toEditValue(inner)]))
  return enumName(value.bare)
}

const toPath = (steps: readonly Step[]): string => pathOf(steps).replaceAll('[-1]', '[+]')
const toChange = (edits: readonly Edit[]): Change =>
  Object.fromEntries(edits.map(([steps, value]) => [toPath(steps), toEditValue(value)]))

/** What a record says after edits, made without any text. Removals mean the record as it was, and so go last, from the end to the start. */
function modelled(record: MetaData, edits: readonly Edit[]): MetaData {
  const copy = structuredClone(record)
  const bag = copy as unknown as Bag
  for (const [steps, value] of edits) if (value !== null) setIn(bag, 'MetaData', steps, value)
  const removals = edits.filter(([, value]) => value === null).map(([steps]) => steps)
  for (const steps of removals.sort(fromEndToStart)) removeIn(bag, 'MetaData', steps)
  return copy
}

function fromEndToStart(a: readonly Step[], b: readonly Step[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = (b[i]?.name ?? '').localeCompare(a[i]?.name ?? '') || (b[i]?.index ?? 0) - (a[i]?.index ?? 0)
    if (order !== 0) return order
  }
  return b.length - a.length
}

const fieldOf = (type: TypeName, step: Step) => SCHEMA[type].find(({ name }) => name === step.name)

function setIn(bag: Bag, type: TypeName, steps: readonly Step[], value: Value): void {
  const [step, ...rest] = steps
  if (step === undefined) return
  const field = fieldOf(type, step)
  if (field === undefined) {
    bag._unknownText ??= []
    setUnknown(bag._unknownText, steps, value)
    return
  }
  const { is, key } = field
  if (field.repeated) bag[key] ??= []
  const list = field.repeated ? (bag[key] as unknown[]) : undefined
  const at = step.index === -1 ? (list?.length ?? 0) : (step.index ?? 0)
  const before = list === undefined ? bag[key] : list[at]
  let after: unknown = value
  if (isType(is)) {
    const inner = (before ?? {}) as Bag
    for (const one of SCHEMA[is]) if (one.repeated) inner[one.key] ??= []
    if (rest.length > 0) setIn(inner, is, rest, value)
    else if (isFields(value))
      for (const [name, innerValue] of value) setIn(inner, is, [{ name, index: undefined }], innerValue)
    after = inner
  } else if (typeof is === 'object') {
    after = is[String(value)]
    // A name that the schema does not know gives way.
    if (bag._unknownText !== undefined) bag._unknownText = bag._unknownText.filter(({ name }) => name !== step.name)
  }
  if (list === undefined) bag[key] = after
  else list[at] = after
}

const namedIn = (entries: readonly UnknownText[], { name, index }: Step): UnknownText | undefined =>
  index === -1 ? undefined : entries.filter((entry) => entry.name === name)[index ?? 0]

function setUnknown(entries: UnknownText[], [step, ...rest]: readonly Step[], value: Value): void {
  if (step === undefined) return
  const { name } = step
  let entry = namedIn(entries, step)
  if (entry === undefined) {
    entry = rest.length > 0 ? { name, fields: [] } : { name, text: '0' }
    const last = entries.findLastIndex((other) => other.name === name)
    entries.splice(last < 0 ? entries.length : last + 1, 0, entry)
  }
  if (rest.length > 0) setUnknown(entry.fields ?? expect.fail(`${name} is no message`), rest, value)
  else if (isFields(value)) {
    const fields = entry.fields ?? []
    for (const [inner, innerValue] of value) setUnknown(fields, [{ name: inner, index: undefined }], innerValue)
    entries[entries.indexOf(entry)] = { name, fields }
  } else entries[entries.indexOf(entry)] = { name, text: textOf(value) }
}

const octal = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')

const textOf = (value: Value): string =>
  typeof value === 'string'
    ? `"${octal(value)}"`
    : typeof value === 'object' && 'bare' in value
      ? value.bare
      : `${value}`

function removeIn(bag: Bag, type: TypeName, [step, ...rest]: readonly Step[]): void {
  if (step === undefined) return
  const field = fieldOf(type, step)
  if (field === undefined) removeUnknown(bag._unknownText ?? [], [step, ...rest])
  else if (rest.length > 0) {
    const inner = field.repeated ? (bag[field.key] as Bag[])[step.index ?? 0] : bag[field.key]
    if (isType(field.is) && inner !== undefined) removeIn(inner as Bag, field.is, rest)
  } else if (!field.repeated) {
    delete bag[field.key]
    if (bag._unknownText !== undefined) bag._unknownText = bag._unknownText.filter(({ name }) => name !== step.name)
  } else if (step.index === undefined) bag[field.key] = []
  else (bag[field.key] as unknown[]).splice(step.index, 1)
}

function removeUnknown(entries: UnknownText[], [step, ...rest]: readonly Step[]): void {
  if (step === undefined) return
  const entry = namedIn(entries, step)
  if (entry === undefined) return
  if (rest.length > 0) removeUnknown(entry.fields ?? [], rest)
  else entries.splice(entries.indexOf(entry), 1)
}

/** What a record says, in a form to compare. The place of an unknown field among others is none of its content. */
const said = (record: MetaData): string => formatText(sortedByName(record) as MetaData)
const read = (text: string): string => said(parseText(text))

function sortedByName(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedByName)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const sorted = sortedByName(inner)
      const isEntries = Array.isArray(sorted) && (key === '_unknownText' || key === 'fields')
      return [
        key,
        isEntries ? (sorted as UnknownText[]).sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) : sorted,
      ]
    }),
  )
}

// ---------------------------------------------------------------- what stands in the text after an edit

/** The comments of a text with their offsets, by the lexical rules alone. */
function commentsOf(text: string): { readonly at: number; readonly comment: string }[] {
  const comments: { readonly at: number; readonly comment: string }[] = []
  for (const match of text.matchAll(/#[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g))
    if (match[0].startsWith('#')) comments.push({ at: match.index, comment: match[0].replace(/\r$/, '') })
  return comments
}

const commentsOutside = (text: string, span: Span): string[] =>
  commentsOf(text)
    .filter(({ at }) => at < span.start || at >= span.end)
    .map(({ comment }) => comment)

const lines = (text: string): string[] => text.split('\n')

/** The lines of `before` that are gone or changed, with all that is between them. */
function changedLines(before: string, after: string): string[] {
  const [old, now] = [lines(before), lines(after)]
  let start = 0
  while (start < old.length && old[start] === now[start]) start++
  let end = 0
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end++
  return old.slice(start, old.length - end)
}

/** The lines that one text has and the other has not, or not as often. */
function lostLines(before: string, after: string): string[] {
  const now = lines(after)
  return lines(before).filter((line) => {
    const index = now.indexOf(line)
    if (index >= 0) now.splice(index, 1)
    return index < 0
  })
}

/** That line ends are those of the document, and that its last line ends as it did. */
function expectLineEnds({ text, eol, places }: Document, after: string): void {
  // To a document of several kinds of line ends, or of one line that shows none, no line end is foreign.
  const foreign = eol === '\n' ? /\r/ : eol === '\r\n' && text.includes('\r\n') ? /(?<!\r)\n/ : /(?!)/
  expect(after).not.toMatch(foreign)
  // Without its last field, a text without a newline at its end may end with the blank line that came before.
  const isEnded = text.endsWith('\n')
  const mayChange = places.length === 0 || after === '' || (!isEnded && /\n\s*\n/.test(text))
  expect(mayChange || after.endsWith('\n') === isEnded).toBe(true)
}

// ---------------------------------------------------------------- edits at random

const anyWords = fc.constantFrom<Value>(0, 7, -12, 1.5, { bare: 'BAR' }, { bare: 'x_1' })
const someString = fc.oneof(
  anyString,
  fc.string({ unit: fc.constantFrom(...'abc 1.é'), maxLength: 6 }),
  fc.constantFrom('"', "'", '\n', '}', '# x', '" evil: "1', '\\', '>', ']'),
)

/** A value for what the schema says of a field; for one that it does not know, of any kind. */
function valueFor(is: Kind | undefined, strings: fc.Arbitrary<string> = someString, depth = 1): fc.Arbitrary<Value> {
  if (is === 'string') return strings
  if (is === 'int32') return fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
  if (isType(is)) {
    const entries = SCHEMA[is]
      .filter(({ repeated }) => !repeated)
      .map(({ name, is }) => valueFor(is, strings, depth).map((value): [string, Value] => [name, value]))
    return fc.shuffledSubarray(entries).chain((some) => fc.tuple(...some))
  }
  if (is !== undefined) return fc.constantFrom(...Object.keys(is))
  if (depth === 0) return fc.oneof(strings, anyWords)
  const fields = fc.uniqueArray(
    fc.tuple(fc.constantFrom('foo', 'homepage', '[ext.name]', 'new_one'), valueFor(undefined, strings, 0)),
    { maxLength: 3, selector: ([name]) => name },
  )
  return fc.oneof(strings, anyWords, fields)
}

/** A value for a place, of the kind that stands there where the schema does not know it. */
function valueInto({ is, form, fieldNames }: Place): fc.Arbitrary<Value> {
  if (is !== undefined) return valueFor(is)
  // A string where a name stood becomes a name.
  if (form === 'word') return fc.oneof(anyWords, fc.constantFrom<Value>('two words', '1', ''))
  const isTwice = (name: string): boolean => fieldNames.indexOf(name) !== fieldNames.lastIndexOf(name)
  return valueFor(undefined).filter((value) => !isFields(value) || !value.some(([name]) => isTwice(name)))
}

/** A document with edits of some of its values. */
const editsOf = (values: (place: Place) => fc.Arbitrary<Value | null>, isFit: (place: Place) => boolean = () => true) =>
  anyDocument
    .map((document) => ({ document, fit: document.places.filter(isFit) }))
    .filter(({ fit }) => fit.length > 0)
    .chain(({ document, fit }) =>
      fc.shuffledSubarray(fit, { minLength: 1, maxLength: Math.min(fit.length, 5) }).chain((some) =>
        fc.record({
          document: fc.constant(document),
          edits: fc.tuple(...some.map((place) => fc.record({ place: fc.constant(place), value: values(place) }))),
        }),
      ),
    )

/** A field that is not there yet, in the text as a whole or in one of its messages. */
function additionTo({ places, rootNames }: Document): fc.Arbitrary<Edit> {
  const root = { steps: [] as readonly Step[], is: 'MetaData' as Kind | undefined, fieldNames: rootNames }
  const messages = [root, ...places.filter(({ form }) => form === 'message')]
  return fc.constantFrom(...messages).chain(({ steps, is, fieldNames }) => {
    const known = isType(is) ? SCHEMA[is].filter(({ name, repeated }) => repeated || !fieldNames.includes(name)) : []
    const fresh: { name: string; is: Kind | undefined; index: number | undefined }[] = [
      ...known.map(({ name, is, repeated }) => ({ name, is, index: repeated ? -1 : undefined })),
      { name: 'new_one', is: undefined, index: undefined },
      ...['foo', 'homepage', '[ext.name]'].map((name) => ({ name, is: undefined, index: -1 })),
    ]
    return fc
      .constantFrom(...fresh)
      .chain(({ name, is, index }) => valueFor(is).map((value): Edit => [[...steps, { name, index }], value]))
  })
}

const additions = anyDocument.chain((document) =>
  fc.record({ document: fc.constant(document), edits: fc.array(additionTo(document), { minLength: 1, maxLength: 3 }) }),
)

const RUNS = { numRuns: Number(process.env['FC_RUNS'] ?? 100) }

describe('editText, on texts made at random from the grammar,', () => {
  it('changes nothing when there is nothing to change', () => {
    fc.assert(
      fc.property(anyDocument, ({ text, places }) => {
        expect(editText(text, {})).toBe(text)
        expect(editText(text, Object.fromEntries(places.map(({ path }) => [path, undefined])))).toBe(text)
      }),
      RUNS,
    )
  })

  it('changes nothing when every value is there already', () => {
    fc.assert(
      fc.property(anyDocument, ({ text, places }) => {
        const record = parseText(text)
        const values = places.map(({ path }) => [path, getField(record, path)] as const)
        for (const [path, value] of values) expect(editText(text, { [path]: value as EditValue }), path).toBe(text)
        const scalars = values.filter(([, value]) => typeof value !== 'object')
        expect(editText(text, Object.fromEntries(scalars) as Change)).toBe(text)
      }),
      RUNS,
    )
  })

  it('sets what is asked and nothing else', () => {
    fc.assert(
      fc.property(editsOf(valueInto), ({ document: { text }, edits }) => {
        const record = parseText(text)
        for (const { place, value } of edits) {
          const edit: Edit = [place.steps, value]
          expect(read(editText(text, toChange([edit])))).toBe(said(modelled(record, [edit])))
        }
      }),
      RUNS,
    )
  })

  it('leaves every byte but those of the value as it was, and can go back', () => {
    const scalars = editsOf(
      (place) => valueInto(place).filter((value) => !isFields(value)),
      ({ form, pieces }) => form !== 'message' && pieces.length === 1,
    )
    let wentBack = 0
    fc.assert(
      fc.property(scalars, ({ document: { text }, edits }) => {
        const plain: (readonly [after: string, back: Change])[] = []
        for (const { place, value } of edits) {
          const { steps, path, start, end } = place
          const after = editText(text, toChange([[steps, value]]))
          const rest = after.slice(start)
          expect(after.slice(0, start)).toBe(text.slice(0, start))
          expect(rest.endsWith(text.slice(end))).toBe(true)
          expect(rest.slice(0, rest.length - text.slice(end).length)).not.toContain('\n')
          const isPlain = /^["'][\w .:/]*["']$/.test(text.slice(start, end)) && typeof value === 'string'
          if (isPlain) plain.push([after, { [path]: text.slice(start + 1, end - 1) }])
        }
        for (const [after, back] of plain) expect(editText(after, back)).toBe(text)
        wentBack += plain.length
      }),
      RUNS,
    )
    expect(wentBack).toBeGreaterThan(0)
  })

  it('changes no piece of a wrapped string but those that differ', () => {
    const wrapped = editsOf(
      () => fc.string({ unit: fc.constantFrom(...'ab"\n#é'), maxLength: 4 }).map((text) => `§${text}§`),
      ({ pieces }) => pieces.length > 1,
    )
    fc.assert(
      fc.property(wrapped, fc.nat(), ({ document: { text }, edits }, which) => {
        const chosen = edits.map(({ place, value }) => {
          const pieces = place.pieces.map(({ start, end }) => parseText(`name: ${text.slice(start, end)}`).name ?? '')
          return { place, value, pieces, index: which % pieces.length }
        })
        // What takes the place of nothing may as well be in the piece before.
        const full = chosen.filter(({ pieces, index }) => pieces[index] !== '')
        fc.pre(full.length > 0)
        for (const { place, value, pieces, index } of full) {
          const { start, end } = place.pieces[index] ?? place
          const after = editText(text, { [place.path]: pieces.with(index, String(value)).join('') })
          expect(after.slice(0, start)).toBe(text.slice(0, start))
          expect(after.slice(start).endsWith(text.slice(end))).toBe(true)
          expect(changedLines(text, after)).toHaveLength(1)
        }
      }),
      RUNS,
    )
  })

  it('removes what is asked and nothing else, and keeps the comments and lines around it', () => {
    fc.assert(
      fc.property(anyDocument, (document) => {
        const { text, places } = document
        const record = parseText(text)
        for (const { steps, start, end, field } of places) {
          const after = editText(text, toChange([[steps, null]]))
          expect(read(after)).toBe(said(modelled(record, [[steps, null]])))
          const comments = commentsOf(after).map(({ comment }) => comment)
          expect(comments).toEqual(commentsOutside(text, { start: field?.start ?? start, end: field?.valueEnd ?? end }))
          expectLineEnds(document, after)
          const most =
            field === undefined ? Number.POSITIVE_INFINITY : lines(text.slice(field.start, field.end)).length + 1
          expect(changedLines(text, after).length).toBeLessThanOrEqual(most)
        }
      }),
      RUNS,
    )
  })

  it('adds what is asked and nothing else, and keeps every comment and every other line', () => {
    fc.assert(
      fc.property(additions, ({ document, edits }) => {
        const { text } = document
        const record = parseText(text)
        for (const edit of edits) {
          const after = editText(text, toChange([edit]))
          expect(read(after)).toBe(said(modelled(record, [edit])))
          expect(commentsOf(after).map(({ comment }) => comment)).toEqual(
            commentsOf(text).map(({ comment }) => comment),
          )
          // A list that gets its first scalar gets its colon too.
          expect(lostLines(text, after).length).toBeLessThanOrEqual(2)
          expectLineEnds(document, after)
        }
      }),
      RUNS,
    )
  })

  it('does many edits at once, each as if the text were the one that was given', () => {
    const valueOrNothing = (place: Place) =>
      place.form === 'message' ? fc.constant(null) : fc.option(valueInto(place).filter((value) => !isFields(value)))
    const many = editsOf(valueOrNothing).chain(({ document, edits }) =>
      fc.record({
        document: fc.constant(document),
        edits: fc
          .uniqueArray(additionTo(document), { maxLength: 3, selector: ([steps]) => pathOf(steps) })
          .map((added) => [...edits.map(({ place: { steps }, value }): Edit => [steps, value]), ...added]),
      }),
    )
    fc.assert(
      fc.property(many, ({ document: { text }, edits }) => {
        expect(read(editText(text, toChange(edits)))).toBe(said(modelled(parseText(text), edits)))
      }),
      { numRuns: RUNS.numRuns * 2 },
    )
  })
})

// ---------------------------------------------------------------- a shorter string, and a new value behind it

describe('a string on several lines that gets fewer pieces, beside a value that is added', () => {
  const comments = ['', ' # c']
  const pieces = [1, 2, 3].flatMap((more) =>
    comments.flatMap((first) => comments.map((last) => `"a"${first}\n${'  "b" # d\n'.repeat(more - 1)}  "b"${last}`)),
  )
  const values = ['', 'n', 'a', 'ab']
  const cases = pieces.flatMap((text) => values.map((value) => [text, value] as const))

  it.each(cases)('keeps the items of a list apart, and every comment: %j set to %j', (text, value) => {
    // A comment goes to the end of its line, so the bracket is on the next one.
    for (const end of ['\n]', ' ]', '\n  # e\n]'].filter((each) => !/#[^\n]*\]$/.test(text + each)))
      for (const list of [`[${text}${end}`, `["0",\n  ${text}${end}`]) {
        const before = `third_party {\n  security {\n    tag: ${list}\n  }\n}\n`
        const tags = [...(list.startsWith('["0"') ? ['0'] : []), value, 'y', 'z']
        const after = editText(before, { 'third_party.security.tag': tags })
        expect(getField(parseText(after), 'third_party.security.tag')).toEqual(tags)
        expect(commentsOf(after).map(({ comment }) => comment)).toEqual(
          commentsOf(before).map(({ comment }) => comment),
        )
      }
  })

  it.each(cases)('keeps separators out of comments, and every comment: %j set to %j', (text, value) => {
    const endsInComment = /#[^\n]*$/.test(text)
    const rests = ['\n', '\n\n# e\n', ' # e\n', '\ny: 2\n', ' y: 2\n']
    for (const separator of [',', ';'])
      for (const rest of rests.filter((each) => !endsInComment || each.startsWith('\n'))) {
        const before = `x: 1${separator}\nname: ${text}${rest}`
        const after = editText(before, { name: value, description: 'd' })
        expect(parseText(after)).toMatchObject({ name: value, description: 'd' })
        expect(commentsOf(after).map(({ comment }) => comment)).toEqual(
          commentsOf(before).map(({ comment }) => comment),
        )
      }
  })
})

// ---------------------------------------------------------------- canonical texts

interface Survey {
  /** What is there, messages too. */
  readonly there: { readonly steps: readonly Step[]; readonly is: Kind | undefined; readonly isMessage: boolean }[]
  /** What could be there. */
  readonly absent: { readonly steps: readonly Step[]; readonly is: Kind }[]
}

/** Every path into a record, and every one that the schema allows beyond. */
function surveyOf(record: MetaData): Survey {
  const survey: Survey = { there: [], absent: [] }
  const unknown = (entries: readonly UnknownText[], steps: readonly Step[], isFit: (name: string) => boolean): void => {
    const counts = new Map<string, number>()
    for (const { name, fields } of entries) {
      const index = counts.get(name) ?? 0
      counts.set(name, index + 1)
      if (!isFit(name)) continue
      const at = [...steps, { name, index }]
      survey.there.push({ steps: at, is: undefined, isMessage: fields !== undefined })
      if (fields !== undefined) unknown(fields, at, () => true)
    }
  }
  const known = (bag: Bag, type: TypeName, steps: readonly Step[]): void => {
    for (const { name, key, is, repeated } of SCHEMA[type]) {
      const value = bag[key]
      const items = Array.isArray(value) ? value : value === undefined ? [] : [value]
      items.forEach((item, index) => {
        const at = [...steps, { name, index: repeated ? index : undefined }]
        survey.there.push({ steps: at, is, isMessage: isType(is) })
        if (isType(is)) known(item, is, at)
      })
      const isKept = bag._unknownText?.some((entry) => entry.name === name)
      if (isKept) survey.there.push({ steps: [...steps, { name, index: undefined }], is, isMessage: false })
      else if (repeated || items.length === 0) {
        const at = [...steps, { name, index: repeated ? -1 : undefined }]
        survey.absent.push({ steps: at, is })
        if (isType(is)) known({}, is, at)
      }
    }
    unknown(bag._unknownText ?? [], steps, (name) => !SCHEMA[type].some((field) => field.name === name))
  }
  known(record as unknown as Bag, 'MetaData', [])
  return survey
}

describe('editText, on canonical texts,', () => {
  const ascii = fc.oneof(
    fc.string({ unit: 'grapheme-ascii', maxLength: 8 }),
    fc.constantFrom('"', "'", '\n', '\0', '\x7f', '\\', '\r\t', ''),
  )
  const editsOfMessage = anyMessage
    .map((message) => MetaData.create(message))
    .chain((record) => {
      const { there, absent } = surveyOf(record)
      const set = there.map(({ steps, is }) => valueFor(is, ascii).map((value): Edit => [steps, value]))
      const unset = there.map(({ steps }) => fc.constant<Edit>([steps, null]))
      const add = absent.map(({ steps, is }) => valueFor(is, ascii).map((value): Edit => [steps, value]))
      return fc.record({
        record: fc.constant(record),
        // One of them alone is what a script does most; several need not contradict each other.
        edits: fc.oneof(
          fc.constantFrom(...set, ...unset, ...add).chain((edit) => fc.tuple(edit)),
          fc
            .shuffledSubarray([...set, ...unset, ...add], { maxLength: 4 })
            .chain((some) => fc.tuple(...some))
            .filter(areApart),
        ),
      })
    })

  it('writes what formatText writes of the record with these fields', () => {
    fc.assert(
      fc.property(editsOfMessage, fc.boolean(), ({ record, edits }, utf8) => {
        const text = formatText(record, { utf8 })
        expect(editText(text, toChange(edits))).toBe(formatText(modelled(record, edits), { utf8 }))
      }),
      { numRuns: RUNS.numRuns * 3 },
    )
  })
})

/** Whether no edit is about what another one is within. */
function areApart(edits: readonly Edit[]): boolean {
  const paths = edits.map(([steps]) => toPath(steps))
  return paths.every((path, i) =>
    paths.every((other, j) => i === j || (path !== other && !other.startsWith(`${path}.`))),
  )
}

// ---------------------------------------------------------------- examples

const RECORD = `# Bumped by the updater.
name: "zlib"
description:
    "A compression library, "
    "in every tree."  # wrapped by hand

third_party {
  url { type: HOMEPAGE value: "https://zlib.net" }
  # Mirrored.
  url {
    type: GIT
    value: "https://github.com/madler/zlib"
  }
  version: "1.3.1"  # of January
  license_type: NOTICE
  security {
    tag: "NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.1"
  }
  identifier { type: "Git" version: "v1.3.1" primary_source: true }
  last_upgrade_date { year: 2024 month: 1 day: 22 }
}
`

/** The text with some of its lines changed. */
const withLines = (text: string, changes: { readonly [line: string]: string }): string =>
  lines(text)
    .map((line) => changes[line] ?? line)
    .join('\n')

const outcome = (edit: () => string): string => {
  try {
    return edit()
  } catch (error) {
    if (error instanceof MetadataError) return error.code
    throw error
  }
}

describe('editText sets', () => {
  it('version, date and the version inside a tag on their lines, and touches no other', () => {
    expect(
      editText(RECORD, {
        'third_party.version': '1.3.2',
        'third_party.last_upgrade_date': { year: 2026, month: 11, day: 21 },
        'third_party.security.tag[0]': 'NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.2',
        'third_party.identifier[0].version': 'v1.3.2',
      }),
    ).toBe(
      withLines(RECORD, {
        '  version: "1.3.1"  # of January': '  version: "1.3.2"  # of January',
        '    tag: "NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.1"': '    tag: "NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.2"',
        '  identifier { type: "Git" version: "v1.3.1" primary_source: true }':
          '  identifier { type: "Git" version: "v1.3.2" primary_source: true }',
        '  last_upgrade_date { year: 2024 month: 1 day: 22 }': '  last_upgrade_date { year: 2026 month: 11 day: 21 }',
      }),
    )
  })

  it.each<[what: string, text: string, change: Change, after: string]>([
    ['a piece of a wrapped string', 'a: "x " # one\n   "y"\n', { a: 'x z' }, 'a: "x " # one\n   "z"\n'],
    ['what comes after the last piece, in it', 'a: "x"\n   "y"\n', { a: 'xyz' }, 'a: "x"\n   "yz"\n'],
    ['a wrapped string that becomes nothing', 'a: "x"\n   "y" # c\nb: 1\n', { a: '' }, 'a: ""\n   # c\nb: 1\n'],
    ['a string in the quotes that it has', 'a: \'x\' b: "y"', { a: "it's", b: '"' }, 'a: \'it\\\'s\' b: "\\""'],
    ['a number in the place of a string', 'a:"x"b:1', { a: 5 }, 'a:5 b:1'],
    ['a name in the place of a message', 'a{}b:1', { a: enumName('FOO') }, 'a:FOO b:1'],
    ['a message in the place of a number', 'a: 1\n', { a: { b: 2 } }, 'a: {\n  b: 2\n}\n'],
    ['a scalar in a list of messages', 'a [{}, {}]', { 'a[0]': 'x' }, 'a: ["x", {}]'],
    ['one of a list', 'a: [1, # one\n 2]', { 'a[1]': 3 }, 'a: [1, # one\n 3]'],
    ['the field of a message in a list', 'a [{ b: 1 }, <b: 2>]', { 'a[1].b': 3 }, 'a [{ b: 1 }, <b: 3>]'],
    ['one of several fields', 'a: 1 a: [2, 3] a: 4', { 'a[2]': 0, 'a[3]': 9 }, 'a: 1 a: [2, 0] a: 9'],
    ['the last of a field that should be there once', 'name: "a" name: "b"', { name: 'c' }, 'name: "a" name: "c"'],
    ['a string for a name that is a name', 'a: FOO', { a: 'BAR' }, 'a: BAR'],
    ['a string for a name that is none', 'a: FOO', { a: 'BAR BAZ' }, 'a: "BAR BAZ"'],
    ['a string for a truth value', 'a: true', { a: 'false' }, 'a: "false"'],
    ['a string for a float', 'a: -inf', { a: 'x' }, 'a: "x"'],
    [
      'numbers of all kinds',
      'a: 1 b: 1 c: 1 d: 1 e: 1',
      { a: 2n ** 64n, b: -1.5, c: Number.NaN, d: -1 / 0, e: false },
      'a: 18446744073709551616 b: -1.5 c: nan d: -inf e: false',
    ],
    [
      'an enum by name and by number',
      'third_party { type: 4 license_type: NOTICE }',
      { third_party: { type: 'PACKAGE', license_type: 6 } },
      'third_party { type: PACKAGE license_type: RESTRICTED }',
    ],
    [
      'an enum in the place of a name that the schema does not know',
      'third_party { type: FOO }',
      { 'third_party.type': 'PACKAGE' },
      'third_party { type: PACKAGE }',
    ],
    [
      'what does not suit the schema',
      'name: 5 third_party: 6',
      { name: 'x', third_party: { version: '1' } },
      'name: "x" third_party: {\n  version: "1"\n}',
    ],
    ['a field of an extension', '[a.b] { [c.d/e.F]: 1 }', { '[a.b].[c.d/e.F]': 2 }, '[a.b] { [c.d/e.F]: 2 }'],
    ['a name with blanks and comments in it', '[ a # c\n . b ]: 1', { '[a.b]': 2 }, '[ a # c\n . b ]: 2'],
    ['bytes that are no UTF-8', 'a: "\\377" "x"', { a: 'yx' }, 'a: "y" "x"'],
    [
      'a wrapped string that gets shorter, beside what is new',
      'name: "a "\n  "b "\n  "c"\nthird_party {}\n',
      { name: 'a ', description: 'd' },
      'name: "a "\ndescription: "d"\nthird_party {}\n',
    ],
    [
      'pieces without a blank between them, beside what is new',
      'a: "x""y"  b: 1',
      { 'a[0]': 'v', 'a[+]': 0 },
      'a: "v" a: 0  b: 1',
    ],
    ['a string whose pieces hold half a character', 'a: "\\303" "\\251x"', { a: 'éy' }, 'a: "\\303\\251y"'],
  ])('%s', (_, text, change, after) => {
    expect(editText(text, change)).toBe(after)
  })

  it.each<[what: string, text: string, change: Change]>([
    ['a number in another notation', 'a: 0x10 b: 010 c: 1.0 d: 1f e: -0', { a: 16, b: 8n, c: 1, d: 1, e: 0 }],
    ['a string in another notation', 'a: "\\x61" \'b\'', { a: 'ab' }],
    ['an enum by number', 'third_party { license_type: 2 }', { 'third_party.license_type': 'NOTICE' }],
    ['an enum by name', 'third_party { license_type: NOTICE }', { third_party: { license_type: 2 } }],
    [
      'a name and a number that the schema does not know',
      'third_party { type: FOO license_type: 99 }',
      { third_party: { type: 'FOO', license_type: 99 } },
    ],
    ['names', 'a: FOO b: true c: -inf', { a: 'FOO', b: true, c: '-inf' }],
    ['a whole list', 'third_party { url {} url: [{ type: GIT }] }', { 'third_party.url': [{}, { type: 'GIT' }] }],
    ['an empty list', 'third_party { url [] }', { 'third_party.url': [], 'third_party.security.tag': [] }],
    [
      'nothing to remove',
      'name: "x"',
      { description: null, 'third_party.url[3]': null, 'a.b[1].c': null, 'name[0].x': undefined },
    ],
  ])('nothing when it is there already: %s', (_, text, change) => {
    expect(editText(text, change)).toBe(text)
  })

  it('an enum by an alias, and writes the alias for a number', () => {
    const enumAliases = { 'URL.Type': { PIPER: 'INTERNAL_VCS' } } as const
    const text = 'third_party { url { type: GIT } }'
    const aliased = 'third_party { url { type: PIPER } }'
    expect(editText(text, { 'third_party.url[0].type': 'PIPER' }, { enumAliases })).toBe(aliased)
    expect(editText(text, { 'third_party.url[0].type': 4 }, { enumAliases })).toBe(aliased)
    expect(editText(aliased, { 'third_party.url[0].type': 'INTERNAL_VCS' }, { enumAliases })).toBe(aliased)
    expect(outcome(() => editText(text, { 'third_party.url[0].type': 'PIPER' }))).toBe('unknown_enum_value')
    expect(() => editText(text, {}, { enumAliases: { Nope: {} } as never })).toThrow(TypeError)
  })

  it('a whole list: those that are there, those that are new, and none that is left over', () => {
    const text = 'third_party {\n  security {\n    tag: "a" # one\n    tag: "b" # two\n  }\n}\n'
    const tags = (tag: string[]): string => editText(text, { 'third_party.security.tag': tag })
    expect(tags(['a', 'c', 'd'])).toBe(
      'third_party {\n  security {\n    tag: "a" # one\n    tag: "c" # two\n    tag: "d"\n  }\n}\n',
    )
    expect(tags(['b'])).toBe('third_party {\n  security {\n    tag: "b" # one\n    # two\n  }\n}\n')
    expect(tags([])).toBe('third_party {\n  security {\n    # one\n    # two\n  }\n}\n')
  })
})

describe('editText adds', () => {
  it.each<[what: string, text: string, change: Change, after: string]>([
    ['to nothing', '', { name: 'x' }, 'name: "x"\n'],
    ['to nothing but comments', '# a\n# b', { name: 'x' }, '# a\n# b\nname: "x"\n'],
    [
      'to a text without a newline at its end',
      'name: "x" # c',
      { description: 'y' },
      'name: "x" # c\ndescription: "y"',
    ],
    ['behind the header', '# header\nthird_party {}\n', { name: 'x' }, '# header\nname: "x"\nthird_party {}\n'],
    [
      'before the comments above a field',
      'name: "x"\n\n# why\nthird_party {}\n',
      { description: 'y' },
      'name: "x"\ndescription: "y"\n\n# why\nthird_party {}\n',
    ],
    [
      'where the canonical order puts it',
      'third_party {\n  version: "1"\n  type: PACKAGE\n}\n',
      { 'third_party.license_note': 'n', 'third_party.url[+]': {} },
      'third_party {\n  url {\n  }\n  version: "1"\n  license_note: "n"\n  type: PACKAGE\n}\n',
    ],
    [
      'several at one place, in their order',
      'third_party {\n}\n',
      { 'third_party.type': 'PACKAGE', 'third_party.version': '1' },
      'third_party {\n  version: "1"\n  type: PACKAGE\n}\n',
    ],
    ['after the fields of its name', 'a: 1\nb: 2\n', { 'a[+]': 3 }, 'a: 1\na: 3\nb: 2\n'],
    [
      'an unknown one after all others',
      'name: "x"\nthird_party {}\n',
      { homepage: 'h' },
      'name: "x"\nthird_party {}\nhomepage: "h"\n',
    ],
    [
      'blocks that are not there',
      '',
      { 'third_party.security.tag[+]': 't' },
      'third_party {\n  security {\n    tag: "t"\n  }\n}\n',
    ],
    ['into a block on one line', 'a { b: 1 } # c', { 'a.d': 2 }, 'a { b: 1 d: 2 } # c'],
    ['into a block that ends behind its last field', 'a {\n  b: 1 }', { 'a.d': 2 }, 'a {\n  b: 1 d: 2 }'],
    ['below a comment that would swallow it', 'a { b: 1 # c\n}', { 'a.d': 2 }, 'a { b: 1 # c\n  d: 2\n}'],
    ['into a block of comments', 'a { # c\n  # }\n}', { 'a.b': 1 }, 'a { # c\n  # }\n  b: 1\n}'],
    ['into an empty block on one line', 'a {}\n', { 'a.b': 1 }, 'a {\n  b: 1\n}\n'],
    ['into an empty block within a line', 'x { a {} b: 1 }\n', { 'x.a.c': 1 }, 'x { a { c: 1 } b: 1 }\n'],
    [
      'above the comments of the first',
      'third_party {\n  # why\n  version: "1"\n}\n',
      { 'third_party.url[+]': {} },
      'third_party {\n  url {\n  }\n  # why\n  version: "1"\n}\n',
    ],
    [
      'into an empty block before another field of its line',
      'a {\n  b: 1\n}\nc {} d: 1\n',
      { 'c.e': 1 },
      'a {\n  b: 1\n}\nc { e: 1 } d: 1\n',
    ],
    ['a scalar to a list of messages, and the colon that it needs', 'a [{}]', { 'a[+]': 1 }, 'a: [{}, 1]'],
    [
      'between fields that touch',
      'name:"x"third_party{}',
      { description: 'd' },
      'name:"x" description:"d"third_party{}',
    ],
    ['with the separators that are there', 'a: 1;\nb: 2\n', { c: 3 }, 'a: 1;\nb: 2;\nc: 3\n'],
    ['to a list on one line', 'a: [1, 2] b: 3', { 'a[+]': 4 }, 'a: [1, 2, 4] b: 3'],
    [
      'to a list over several lines',
      'a: [\n  1, # one\n  2 # two\n]\n',
      { 'a[+]': 3 },
      'a: [\n  1, # one\n  2, # two\n  3\n]\n',
    ],
    ['to an empty list', 'a: [# c\n]', { 'a[+]': 1 }, 'a: [1# c\n]'],
    [
      'with the indentation of its neighbours',
      'a {\n\tb: 1\n}\nc {\n\td: 1\n}\n',
      { 'c.e.f': 1 },
      'a {\n\tb: 1\n}\nc {\n\td: 1\n\te {\n\t\tf: 1\n\t}\n}\n',
    ],
    [
      'with their line ends',
      'a {\r\n  b: 1\r\n}\r\n',
      { 'a.c.d': 1 },
      'a {\r\n  b: 1\r\n  c {\r\n    d: 1\r\n  }\r\n}\r\n',
    ],
    ['with their colons', 'a : { b : 1 }\n', { 'c.d': 1 }, 'a : { b : 1 }\nc : { d: 1 }\n'],
    [
      'with their brackets',
      'url <\n  type: GIT\n>\n',
      { 'url[+]': { type: enumName('HG') } },
      'url <\n  type: GIT\n>\nurl <\n  type: HG\n>\n',
    ],
    ['with their quotes', "a: 'x'\nb: 'y'\n", { c: 'z' }, "a: 'x'\nb: 'y'\nc: 'z'\n"],
    ['with their escapes', 'a: "\\303\\251"\n', { b: 'é' }, 'a: "\\303\\251"\nb: "\\303\\251"\n'],
    ['without their escapes', 'a: "é it\'s"\n', { b: "é it's" }, 'a: "é it\'s"\nb: "é it\'s"\n'],
  ])('%s', (_, text, change, after) => {
    expect(editText(text, change)).toBe(after)
  })

  it('fields of a message in canonical order, unknown ones last, in the order given', () => {
    const message = { zz: 1, type: 'GIT', aa: { b: [1, 2] }, value: 'v', nothing: undefined, none: null }
    expect(editText('', { 'third_party.url[+]': message })).toBe(
      'third_party {\n  url {\n    type: GIT\n    value: "v"\n    zz: 1\n    aa {\n      b: 1\n      b: 2\n    }\n  }\n}\n',
    )
  })

  it('a message by its keys in JSON too', () => {
    expect(
      editText('third_party {}', { third_party: { licenseType: 'NOTICE', lastUpgradeDate: { year: 2026 } } }),
    ).toBe(editText('third_party {}', { third_party: { license_type: 'NOTICE', last_upgrade_date: { year: 2026 } } }))
  })
})

describe('editText removes', () => {
  it.each<[what: string, text: string, change: Change, after: string]>([
    ['a field with its line', 'a: 1\nb: 2\n', { a: null }, 'b: 2\n'],
    ['a field and keeps the comments', '# a\na: 1 # b\n# c\nd: 2\n', { a: null }, '# a\n# b\n# c\nd: 2\n'],
    ['a field within a line', 'a: 1 b: 2 c: 3', { b: null }, 'a: 1 c: 3'],
    ['a field between others that touch', 'a:-2. b:""c:1', { b: null }, 'a:-2. c:1'],
    ['a field with its separator', 'a: 1, b: 2; c: 3', { b: null }, 'a: 1, c: 3'],
    ['a separator behind a comment', 'a: 1 # x\n, # y\nb: 2', { a: null }, '# x\n# y\nb: 2'],
    ['every field of a name', 'a: 1\nb: 2\na: [3]\n', { a: null }, 'b: 2\n'],
    ['the last line, and leaves no newline where there was none', 'a: 1\nb: 2', { b: null }, 'a: 1'],
    ['a message with all that is in it', 'a {\n  b: 1 # c\n}\nd: 1\n', { a: null, 'a.b': null }, 'd: 1\n'],
    [
      'a field of an item of a whole list',
      'a { b: 1 c: 2 } a { b: 3 }',
      { a: [{ b: null }, {}] },
      'a { c: 2 } a { b: 3 }',
    ],
    ['no field of an item that is new', 'a { b: 1 }', { a: [{}, { b: null, c: 2 }] }, 'a { b: 1 }\na { c: 2 }'],
    [
      'a field of an item in the last of two blocks, and none of a new one',
      'third_party { url { value: "a" } url { value: "b" } } third_party { url { type: GIT value: "c" } }',
      { 'third_party.url': [{ value: null }, { value: null }] },
      'third_party { url { value: "a" } url { value: "b" } } third_party { url { type: GIT } url {} }',
    ],
    [
      'a field of an item of a list in an item',
      'a { d { e: 1 f: 2 } }',
      { a: [{ d: [{ e: null }] }] },
      'a { d { f: 2 } }',
    ],
    ['the first of a list', 'a: [1, 2, 3]', { 'a[0]': null }, 'a: [2, 3]'],
    ['the last of a list', 'a: [1, 2, 3]', { 'a[2]': null }, 'a: [1, 2]'],
    [
      'those at the end of a list',
      'a: [\n  1, # one\n  2, # two\n  3 # three\n]',
      { 'a[1]': null, 'a[2]': null },
      'a: [\n  1 # one\n  # two\n  # three\n]',
    ],
    ['all of a list, and the list', 'a: [1, 2] b: 3', { 'a[0]': null, 'a[1]': null }, 'b: 3'],
    ['an empty list', 'a: [] b: 3', { a: null }, 'b: 3'],
    ['what is in a message and leaves it', 'a { b: 1 }', { 'a.b': null }, 'a { }'],
    ['the field of a message by null in it', 'a {\n  b: 1\n  c: 2\n}\n', { a: { b: null, c: 3 } }, 'a {\n  c: 3\n}\n'],
  ])('%s', (_, text, change, after) => {
    expect(editText(text, change)).toBe(after)
  })

  it('by the indexes of the text as it was given', () => {
    const text = 'third_party { url { type: GIT } url { type: HG } url { type: SVN } }'
    expect(editText(text, { 'third_party.url[0]': null, 'third_party.url[1]': null })).toBe(
      'third_party { url { type: SVN } }',
    )
    expect(
      editText(text, { 'third_party.url[0]': null, 'third_party.url[1].type': 'DARCS', 'third_party.url[+]': {} }),
    ).toBe('third_party { url { type: DARCS } url { type: SVN } url {} }')
  })

  it('what the text has, beside what is new', () => {
    expect(editText('foo { a: 1 b: 2 }', { 'foo.a': null, 'foo[+]': 3 })).toBe('foo { b: 2 }\nfoo: 3')
    expect(['foo: 5 b: 2', 'invalid_path']).toContain(
      outcome(() => editText('foo { a: 1 } b: 2', { foo: 5, 'foo.a': null })),
    )
    expect(editText('foo { a: 1 a: 2 }\n', { foo: { a: [3] }, 'foo[+]': 4 })).toBe('foo { a: 3 }\nfoo: 4\n')
  })
})

describe('editText refuses', () => {
  const TEXT =
    'name: "x" third_party { version: "1" url {} security { tag: "a" } last_upgrade_date { year: 1 } } foo: 1 foo: 2'

  it.each([
    ...[
      '',
      '.',
      'a.',
      '.a',
      'a..b',
      'a[',
      'a[]',
      'a[-1]',
      'a[1',
      'a]',
      'a b',
      'a\n',
      '1a',
      'é',
      'a[0][1]',
      'a[1e3]',
      'a[99999999999]',
    ],
    ...[
      '[',
      '[]',
      '[a',
      '[a..b]',
      '[a.]',
      '[a/]',
      '[1]',
      '[+]',
      'name[0]',
      'name[+]',
      'name.x',
      'third_party[0].version',
      'third_party.version.x',
    ],
    ...[
      'foo',
      'foo.x',
      'foo[2]',
      'third_party.url',
      'third_party.url.type',
      'third_party.url[1]',
      'third_party.url[1].type',
    ],
    ...[
      'third_party.security.tag',
      'third_party.security.tag[1]',
      'new[1]',
      'new.x[1]',
      'thirdParty',
      'third_party.licenseType',
      Array(101).fill('a').join('.'),
    ],
  ])('to set a path that leads nowhere: %j', (path) => {
    for (const value of ['x', { a: 1 }])
      expect(outcome(() => editText(TEXT, { [path]: value }))).toMatch(/^invalid_(?:path|value)$/)
  })

  it.each([
    ...[
      '',
      'a.',
      'a[',
      'a b',
      '[a..b]',
      'name[0]',
      'name.x',
      'third_party.version.x',
      'third_party.url[+]',
      'foo[+]',
      'foo.x',
      'third_party.url.type',
      'thirdParty',
    ],
  ])('to remove by a path that is none: %j', (path) => {
    expect(outcome(() => editText(TEXT, { [path]: null }))).toBe('invalid_path')
  })

  const NO_VALUE = [
    Symbol('x'),
    () => 1,
    [[1]],
    [null],
    [undefined],
    Uint8Array.of(1),
    new Date(Number.NaN),
  ] as unknown as EditValue[]
  it.each<[path: string, values: readonly EditValue[]]>([
    ['name', [1, 1n, true, {}, [], ['x'], enumName('X'), '\ud800', 'x\udc00', ...NO_VALUE]],
    ['third_party', ['x', 1, [], enumName('X'), ...NO_VALUE.slice(0, 5)]],
    [
      'third_party.last_upgrade_date.year',
      ['1', 1.5, Number.NaN, 2 ** 31, -(2 ** 31) - 1, 5n, true, {}, [1], enumName('X'), ...NO_VALUE],
    ],
    ['third_party.type', ['FOO', 'package', 0, 2, 1.5, true, {}, ['PACKAGE'], '', '4', ...NO_VALUE]],
    ['third_party.url', ['x', 1, {}, [1], ['x'], [[]], [{ type: 'FOO' }], [{ value: 1 }], [{ value: ['x'] }]]],
    ['third_party.url[0]', ['x', 1, [], { type: 1.5 }, { '': 1 }, { 'a.b': 1 }, { 'a[0]': 1 }, { 'a[+]': 1 }]],
    ['third_party.security.tag', [[1], [null] as never, ['x', {}], [undefined] as never, ['\ud800']]],
    ['third_party.security.tag[+]', [1, {}, ['x']]],
    ['third_party.security', [{ tag: 'x' }, { tag: [1] }, { category: 'FOO' }, { note: 1 }]],
    ['foo[0]', [['x'], '\udfff', ...NO_VALUE.slice(0, 6)]],
    ['new', ['\ud800', ...NO_VALUE.slice(0, 6), { a: [[1]] }, { a: Symbol('x') as never }]],
  ])('a value that %s cannot hold', (path, values) => {
    for (const text of ['', TEXT])
      for (const value of values)
        expect(
          ['invalid_value', 'invalid_path', 'unknown_enum_value'],
          Object.prototype.toString.call(value),
        ).toContain(outcome(() => editText(text, { [path]: value })))
  })

  it('to write a value over another, or to drop one in silence', () => {
    const changes: Change[] = [
      { a: 2, 'a[0]': 3 },
      { 'a[0]': 2, a: 3 },
      { a: [2], 'a[0]': 3 },
      { a: 3, 'a.b': 1 },
      { 'a.b': 1, a: 3 },
      { 'a.b': 1, 'a[0].b': 2 },
    ]
    for (const text of ['a: 1', 'a { b: 0 }', 'a: "x"', ''])
      for (const change of changes) {
        const after = outcome(() => editText(text, change))
        expect(['invalid_path', 'invalid_value'], `${text} ${JSON.stringify(change)} ${after}`).toContain(after)
      }
  })

  it('what is no text format, with line and column', () => {
    for (const text of [
      'a',
      'a:',
      'a: 1 }',
      '"x"',
      'a { b: 1',
      'a: "x',
      "a: 'x\ny'",
      'a: 1 b',
      'a: 08',
      '\0',
      'a: "\ud800"',
      '\ufeffa: 1',
    ])
      expect(() => editText(text, { a: 2 })).toThrow(/^\d+:\d+: /)
  })

  it('an array with holes', () => {
    const holes = (length: number): EditValue => Array(length)
    for (const path of ['foo', 'third_party.url', 'third_party.security.tag'])
      for (const text of ['', 'foo: 1'])
        expect(outcome(() => editText(text, { [path]: holes(2) }))).toBe('invalid_value')
    expect(outcome(() => editText('', { third_party: { url: holes(1) } }))).toBe('invalid_value')
  })

  it('a text or a change that is none', () => {
    for (const text of [undefined, null, 5, {}, [], Uint8Array.of(97)])
      expect(outcome(() => editText(text as string, {}))).toBe('invalid_value')
    for (const change of [undefined, null, 5, 'x', [], () => 1])
      expect(outcome(() => editText('', change as unknown as Change))).toBe('invalid_value')
  })

  it('a text of more than 4 MiB', () => {
    const comment = `#${' '.repeat(2 ** 22 - 12)}`
    expect(editText(`name: "x"\n${comment}`, { name: 'y' })).toBe(`name: "y"\n${comment}`)
    expect(outcome(() => editText(`name: "x"\n${comment}  `, { name: 'y' }))).toBe('too_large')
  })

  it('a nesting that could not be read again, and values without an end', () => {
    const circle: { [name: string]: EditValue } = {}
    circle['a'] = circle
    expect(outcome(() => editText('', { a: circle }))).toBe('invalid_value')
    const nest = (depth: number): EditValue => (depth === 0 ? 1 : { a: nest(depth - 1) })
    const nestLists = (depth: number): EditValue => (depth === 0 ? 1 : [{ a: nestLists(depth - 1) }])
    expect(outcome(() => editText('', { a: nestLists(101) }))).toBe('invalid_value')
    parseText(editText('', { a: nestLists(100) }))
    for (const [path, depth] of [
      [1, 100],
      [60, 41],
      [100, 1],
      [101, 0],
      [20_000, 0],
      [1, 5000],
    ] as const) {
      const after = outcome(() => editText('', { [Array(path).fill('a').join('.')]: nest(depth) }))
      const isRefused = after.startsWith('invalid')
      expect(isRefused && path + depth <= 100).toBe(false)
      if (!isRefused) parseText(after)
    }
  })
})

describe('editText lets nothing in', () => {
  it('but the value itself, whatever is in it', () => {
    const values = [
      '"',
      "'",
      '\\',
      '\\"',
      'x" evil: "1',
      "' evil: '",
      '\n}\nevil: 1\n',
      '}',
      '>',
      '] #',
      '# x',
      '\r',
      '\0',
      '\u2028',
      '\\377',
      '\u{10ffff}',
      '\uffff',
      '$&$1',
    ]
    for (const value of values)
      for (const text of [
        'a: "x"',
        "a: 'x' # c",
        'a: "x" "y"',
        'a: ["x"]',
        'a: 1',
        'a {}',
        'b: 1',
        'b { a: "x" }',
        '',
      ]) {
        const after = editText(text, { a: value })
        expect(getField(parseText(after), 'a'), after).toBe(value)
        expect(after).not.toMatch(/^\s*evil/m)
      }
  })

  it('through a name of an enum, a function, or an object that only looks like a value', () => {
    for (const name of ['', '1', 'a b', 'A evil: 1', 'A\n', '-inf', 'é', '"x"', 5])
      expect(() => enumName(name as string)).toThrow(MetadataError)
    const forged = { [Symbol.for('grantwell.metadata.enumName')]: 'A evil: 1' } as unknown as EditValue
    const printed = Object.assign(() => 1, { toString: () => '1 evil: 2' }) as unknown as EditValue
    for (const path of ['name', 'third_party.type', 'third_party.last_upgrade_date.year', 'foo', 'foo[+]'])
      for (const value of [forged, printed])
        expect(outcome(() => editText('', { [path]: value }))).toMatch(/^invalid_value$/)
  })

  it('by the names that objects have of their own', () => {
    const change = JSON.parse(
      '{ "__proto__": { "constructor": "x", "__proto__": { "polluted": 1 } }, "toString": 1, "hasOwnProperty[+]": 2 }',
    )
    const after = editText('', change)
    expect(after).toBe(
      '__proto__ {\n  constructor: "x"\n  __proto__ {\n    polluted: 1\n  }\n}\ntoString: 1\nhasOwnProperty: 2\n',
    )
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(editText(after, { __proto__: null, constructor: null, valueOf: null })).toBe(after)
    expect(editText(after, JSON.parse('{ "__proto__": null, "toString": null, "hasOwnProperty": null }'))).toBe('')
    expect(editText('constructor: 1', { 'constructor[+]': 2, 'third_party.constructor': 'x' })).toBe(
      'third_party {\n  constructor: "x"\n}\nconstructor: 1\nconstructor: 2',
    )
  })

  it('that makes it throw anything but a MetadataError', () => {
    const anything = fc.anything({
      withBigInt: true,
      withSparseArray: true,
      withMap: true,
      withNullPrototype: true,
      withTypedArray: true,
      withObjectString: true,
    })
    const path = fc.oneof(
      fc.constantFrom(
        'name',
        'third_party',
        'third_party.url',
        'third_party.url[+]',
        'third_party.type',
        'foo',
        'foo[0]',
        'foo[+].x',
        'third_party.last_upgrade_date',
      ),
      fc.string({ unit: fc.constantFrom(...'ab.[]+0_é '), maxLength: 6 }),
      fc.string(),
    )
    const change = fc.array(fc.tuple(path, anything), { maxLength: 3 }).map((entries) => Object.fromEntries(entries))
    fc.assert(
      fc.property(anyDocument, change, ({ text }, change) => {
        let after: string | undefined
        const what = outcome(() => {
          after = editText(text, change as unknown as Change) // of values that the type does not have, too
          return 'edited'
        })
        expect(['edited', 'invalid_path', 'invalid_value', 'unknown_enum_value']).toContain(what)
        expect(() => parseText(after ?? '')).not.toThrow()
      }),
      { numRuns: RUNS.numRuns * 3 },
    )
  })

  it('that changes what it was given', () => {
    const change = Object.freeze({
      third_party: Object.freeze({ url: Object.freeze([Object.freeze({ type: 'GIT', value: null })]) }),
    })
    expect(editText(RECORD, change)).toBe(editText(RECORD, change))
  })
})

describe('editText takes time in proportion to the text and the change', () => {
  const N = 20_000
  const numbers = Array.from({ length: N }, (_, i) => i)
  const security = (inner: string): string => `third_party {\n  security {\n${inner}\n  }\n}\n`
  const tagsOf = (text: string): readonly string[] => parseText(text).thirdParty?.security?.tag ?? []
  const byIndex = (value: (i: number) => string | null): Change =>
    Object.fromEntries(numbers.map((i) => [`third_party.security.tag[${i}]`, value(i)]))
  const all = (tag: readonly string[]): Change => ({ 'third_party.security.tag': tag })

  /** By the time that this process had, so that a busy machine passes, and what grows with the square does not. */
  function inTime(work: () => void): void {
    const start = process.cpuUsage()
    work()
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(10_000)
  }

  /** Without a word on how they differ, which takes the longest with texts of this size. */
  const expectSame = (one: string, other: string): void => expect(one === other).toBe(true)

  const old = numbers.map((i) => `t${i}`)
  const quoted = old.map((tag) => `"${tag}"`)
  it.each([
    ['a list on one line', security(`tag: [${quoted.join(', ')}]`)],
    ['a list over lines', security(`tag: [\n${quoted.join(',\n')}\n]`)],
    ['fields on one line', security(quoted.map((tag) => `tag: ${tag}`).join(' '))],
    ['fields on lines of their own', security(quoted.map((tag) => `tag: ${tag}`).join('\n'))],
  ])('where there is %s', (_, text) => {
    inTime(() => {
      const tags = old.map((tag) => tag.replace('t', 'u'))
      const changed = editText(text, all(tags))
      expectSame(tagsOf(changed).join(), tags.join())
      expectSame(editText(text, all(old)), text)
      expectSame(
        editText(
          changed,
          byIndex((i) => `t${i}`),
        ),
        text,
      )
      expect(
        tagsOf(
          editText(
            text,
            byIndex((i) => (i % 2 === 0 ? `t${i}` : null)),
          ),
        ),
      ).toHaveLength(N / 2)
      expect(
        tagsOf(
          editText(
            text,
            byIndex(() => null),
          ),
        ),
      ).toHaveLength(0)
      expect(tagsOf(editText(text, all(['x'])))).toEqual(['x'])
      expect(tagsOf(editText(text, all([...tags, ...tags])))).toHaveLength(2 * N)
    })
  })

  it('where much goes out of one line', () => {
    const length = 100_000
    const text = `a: 1 b: ${' '.repeat(500_000)}2 `.repeat(2) + 'c: 3 d: 4 '.repeat(length)
    const change = Object.fromEntries(Array.from({ length }, (_, i) => [`c[${i}]`, null]))
    inTime(() => expectSame(editText(text, change), text.replaceAll('c: 3 ', '')))
  })

  it('where there are many blocks, names and pieces of a string', () => {
    const blocks = numbers.map((i) => `n${i} { x: ${i} }`).join('\n')
    const change = (path: string, value: EditValue): Change =>
      Object.fromEntries(numbers.map((i) => [path.replace('*', String(i)), value]))
    const wrapped = `a: ${numbers.map((i) => `"p${i}."`).join('\n')}\n`
    inTime(() => {
      expect(lines(editText(blocks, change('n*.x', 7)))[9]).toBe('n9 { x: 7 }')
      expect(lines(editText(blocks, change('n*.y', 7)))[9]).toBe('n9 { x: 9 y: 7 }')
      expect(lines(editText(blocks, change('n*.x', null)))[9]).toBe('n9 { }')
      expect(lines(editText(blocks, change('m*.y', 7)))[N + 9]).toBe('m9 { y: 7 }')
      expect(lines(editText('', change('m*', 7)))[9]).toBe('m9: 7')
      const after = editText(wrapped, { a: numbers.map((i) => (i === 5 ? 'q' : `p${i}.`)).join('') })
      expect(changedLines(wrapped, after)).toEqual(['"p5."'])
      expect(editText(wrapped, { a: '' })).toBe('a: ""\n')
    })
  })

  it('where there are blanks and comments only', () => {
    const blanks = ' '.repeat(1_000_000)
    const comments = '# c\n'.repeat(300_000)
    inTime(() => {
      const after = editText(`${blanks}name:"x"${blanks}third_party{}${blanks}`, { name: null, description: 'd' })
      expect(after.trim().replace(/ +/g, ' ')).toBe('description:"d" third_party{}')
      expectSame(editText(`${comments}third_party {}\n`, { name: 'x' }), `${comments}name: "x"\nthird_party {}\n`)
    })
  })
})

// ---------------------------------------------------------------- real records

/** Other people's records, which tests may read where they are, and which are never a part of this project. */
const RECORDS = fileURLToPath(new URL('../../../shared/metadata/', import.meta.url))

interface RealRecord {
  readonly file: string
  readonly text: string
  readonly record: MetaData
}

/** Those that can be read, and those that are broken. */
function realRecords(): {
  readonly sound: readonly RealRecord[]
  readonly broken: readonly Omit<RealRecord, 'record'>[]
} {
  const sound: RealRecord[] = []
  const broken: Omit<RealRecord, 'record'>[] = []
  for (const file of readdirSync(RECORDS).filter((name) => name.endsWith('.textproto'))) {
    const text = readFileSync(RECORDS + file, 'utf8')
    try {
      sound.push({ file, text, record: parseText(text) })
    } catch {
      broken.push({ file, text })
    }
  }
  return { sound, broken }
}

/** Another value of the same kind, which differs at its end alone. */
function another(value: unknown, is: Kind | undefined): EditValue {
  if (typeof is === 'object') return Object.keys(is).find((name) => name !== value) ?? expect.fail('one value alone')
  switch (typeof value) {
    case 'string':
      return `${value}x`
    case 'number':
      return value + 1
    case 'boolean':
      return !value
    default:
      return expect.fail(`no scalar: ${String(value)}`)
  }
}

describe.skipIf(!existsSync(RECORDS))('editText, on real records,', () => {
  const { sound: records, broken } = existsSync(RECORDS) ? realRecords() : { sound: [], broken: [] }
  /** Enough where every path of a record takes its while. */
  const third = records.filter((_, i) => i % 3 === 0)

  it('refuses those that are broken', () => {
    for (const { file, text } of broken) expect(() => editText(text, {}), file).toThrow(MetadataError)
  })

  it('changes nothing when every value is there already', () => {
    expect(records.length).toBeGreaterThan(100)
    for (const { file, text, record } of records) {
      expect(editText(text, {}), file).toBe(text)
      for (const { steps } of surveyOf(record).there) {
        const path = pathOf(steps)
        expect(editText(text, { [path]: getField(record, path) as EditValue }), `${file} ${path}`).toBe(text)
      }
    }
  })

  it('changes one line alone for a value, and goes back', () => {
    const plain: { readonly at: string; readonly text: string; readonly back: () => string }[] = []
    for (const { file, text, record } of records)
      for (const { steps, is } of surveyOf(record).there.filter(({ isMessage }) => !isMessage)) {
        const path = pathOf(steps)
        const before = getField(record, path)
        const value = another(before, is)
        const after = editText(text, { [path]: value })
        expect(getField(parseText(after), path), `${file} ${path}`).toBe(value)
        const [line = '', ...others] = changedLines(text, after)
        expect(others, `${file} ${path}`).toEqual([])
        expect(lines(after)).toHaveLength(lines(text).length)
        // No name that the schema does not know can be set again.
        const isKnown = typeof is !== 'object' || Object.hasOwn(is, String(before))
        // What is written in another way than the editor writes is not written that way again.
        const isPlain = isKnown && /^[^\\'\x7f-\uffff]*$/.test(line) && !/\b0\d/.test(line)
        const back = () => editText(after, { [path]: before as EditValue })
        if (isPlain) plain.push({ at: `${file} ${path}`, text, back })
      }
    expect(plain.length).toBeGreaterThan(records.length)
    for (const { at, text, back } of plain) expect(back(), at).toBe(text)
  })

  it('touches for an updater the lines of version, date and tag', () => {
    let count = 0
    for (const { file, text, record } of records) {
      const version = record.thirdParty?.version
      const date = record.thirdParty?.lastUpgradeDate
      if (version === undefined || date?.year === undefined || date.month === undefined || date.day === undefined)
        continue
      const change: { [path: string]: EditValue } = {
        'third_party.version': `${version}.1`,
        'third_party.last_upgrade_date': {
          year: date.year + 1,
          month: (date.month % 12) + 1,
          day: (date.day % 28) + 1,
        },
      }
      for (const [i, tag] of (record.thirdParty?.security?.tag ?? []).entries())
        change[`third_party.security.tag[${i}]`] = `${tag}.1`
      const inIdentifier = 'third_party.identifier[0].version'
      if (typeof getField(record, inIdentifier) === 'string') change[inIdentifier] = `${version}.1`
      const after = editText(text, change)
      const [old, now] = [lines(text), lines(after)]
      expect(now, file).toHaveLength(old.length)
      for (const line of old.filter((each, i) => each !== now[i]))
        expect(line, file).toMatch(/\b(?:version|year|month|day|tag)\b|^\s*"/)
      expect(commentsOf(after), file).toHaveLength(commentsOf(text).length)
      for (const [path, value] of Object.entries(change)) expect(getField(parseText(after), path), file).toEqual(value)
      const back = Object.fromEntries(Object.keys(change).map((path) => [path, getField(record, path) as EditValue]))
      const isPlain = !/['\\]|\b0\d/.test(text)
      expect(isPlain ? editText(after, back) : text, file).toBe(text)
      count++
    }
    expect(count).toBeGreaterThan(50)
  })

  it('bumps a version that stands in an identifier', () => {
    let count = 0
    for (const { file, text, record } of records) {
      const path = 'third_party.identifier[0].version'
      const version = getField(record, path)
      if (typeof version !== 'string') continue
      const after = editText(text, { [path]: 'v9.9' })
      expect(getField(parseText(after), path)).toBe('v9.9')
      expect(changedLines(text, after), file).toHaveLength(1)
      count++
    }
    expect(count).toBeGreaterThan(10)
  })

  it('removes each field, with its lines and no comment', () => {
    for (const { file, text, record } of third)
      for (const { steps, isMessage } of surveyOf(record).there) {
        const after = editText(text, toChange([[steps, null]]))
        expect(read(after), `${file} ${pathOf(steps)}`).toBe(said(modelled(record, [[steps, null]])))
        const [left, all] = [commentsOf(after).length, commentsOf(text).length]
        expect(isMessage ? all : left, `${file} ${pathOf(steps)}`).toBe(all)
        const there = new Set(lines(text))
        expect(lines(after).filter((line) => !there.has(line)).length).toBeLessThanOrEqual(1)
      }
  })

  it('adds each field that is not there, and changes no other line', () => {
    const values = new Map<unknown, Value>([
      ['string', 'new'],
      ['int32', 7],
    ])
    for (const { file, text, record } of third)
      for (const { steps, is } of surveyOf(record).absent) {
        const edit: Edit = [steps, isType(is) ? [] : (values.get(is) ?? Object.keys(is)[0] ?? '')]
        const after = editText(text, toChange([edit]))
        expect(read(after), `${file} ${toPath(steps)}`).toBe(said(modelled(record, [edit])))
        expect(commentsOf(after).map(({ comment }) => comment)).toEqual(commentsOf(text).map(({ comment }) => comment))
        expect(changedLines(text, after).length, `${file} ${toPath(steps)}`).toBeLessThanOrEqual(1)
      }
  })
})

describe('a block that may come once and comes again', () => {
  const blocks = [
    'third_party {\n  version: "1"\n  security { note: "a" tag: "t" }\n}\n',
    'third_party {\n  security { note: "b" }\n}\n',
  ]
  const orders = [blocks, [...blocks].reverse(), [...blocks, 'third_party {}\n'], [...blocks, ...blocks]]
  const paths = ['version', 'security', 'security.note', 'security.tag', 'license_note']
  it.each(orders.map((order) => order.join('')))('has a removal made in all of them: %j', (text) => {
    for (const path of paths) {
      const inner = path.split('.').reduceRight<EditValue>((value, name) => ({ [name]: value }), null)
      for (const change of [{ [`third_party.${path}`]: null }, { third_party: inner }]) {
        const record = parseText(editText(text, change), { duplicates: 'last' })
        expect([undefined, []]).toContainEqual(getField(record, `third_party.${path}`))
        const others = paths.filter((other) => !other.startsWith(path) && !path.startsWith(other))
        for (const other of others)
          expect(getField(record, `third_party.${other}`)).toEqual(
            getField(parseText(text, { duplicates: 'last' }), `third_party.${other}`),
          )
      }
    }
  })

  it('has one of a list removed from the last, as it is set there, or it is said that there is none', () => {
    const [first = '', second = ''] = blocks
    expect(() => editText(first + second, { 'third_party.security.tag[0]': null })).toThrow(
      'third_party.security.tag[0]: there is no tag[0] in the last of 2 blocks',
    )
    expect(editText(second + first, { 'third_party.security.tag[0]': null })).toBe(
      second + first.replace(' tag: "t"', ''),
    )
  })
})

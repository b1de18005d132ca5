/**
 * Pieces of a text that give way to others, and what takes fields and items out of a text with as little else as can be.
 * @module
 */
import type { ListNode } from '../text/tree.js'

/** What stands from `start` to before `end` gives way to `text`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** @param splices - those at one offset stay in their order; what overlaps goes once, and all that is new comes in */
export function applySplices(text: string, splices: readonly Splice[]): string {
  let result = ''
  let at = 0
  for (const { start, end, text: replacement } of [...splices].sort((a, b) => a.start - b.start)) {
    result += text.slice(at, start) + replacement
    at = Math.max(at, end)
  }
  return result + text.slice(at)
}

/** Whether two tokens would be read as one when nothing stands between them. */
export function wouldJoin(before: string, after: string): boolean {
  return /[\w.]$/.test(before) && /^[\w.]/.test(after)
}

/** What is taken out of a text: a stretch, and for fields the `,` or `;` behind it. */
interface RemovedSpan {
  readonly start: number
  readonly end: number
  readonly separator?: number
}

/** What takes fields out of a text. Those that stand side by side go as one. */
export function removeFields(text: string, fields: readonly RemovedSpan[]): Splice[] {
  return mergeSpans(text, fields).map(({ start, end }) => removeSpan(text, start, end))
}

/** What takes some of the pieces of a string out of a text, but not the first: with the line end before each, not after. */
export function removePieces(text: string, pieces: readonly RemovedSpan[]): Splice[] {
  return mergeSpans(text, pieces).map(({ start, end }) => {
    const next = skipBlanks(text, end)
    const line = blanksStart(text, start)
    // The blanks behind stay, unless a comment follows: a new field may be put in before them.
    if (text[line - 1] !== '\n') return { start: line, end, text: '' }
    if (next < text.length && text[next] !== '\n') return { start, end: text[next] === '#' ? next : end, text: '' }
    return {
      start: text[line - 2] === '\r' ? line - 2 : line - 1,
      end: text[next - 1] === '\r' ? next - 1 : next,
      text: '',
    }
  })
}

function mergeSpans(
  text: string,
  fields: readonly RemovedSpan[],
): readonly { readonly start: number; readonly end: number }[] {
  const spans: { start: number; end: number }[] = []
  const add = (start: number, end: number): void => {
    const last = spans[spans.length - 1]
    if (last !== undefined && end <= last.end) return
    if (last !== undefined && isBlank(text.slice(last.end, start))) last.end = end
    else spans.push({ start, end })
  }
  for (const { start, end, separator = -1 } of [...fields].sort((a, b) => a.start - b.start)) {
    // A comment between a field and its separator stays.
    if (separator < 0 || text.slice(end, separator).includes('#')) add(start, end)
    else add(start, separator + 1)
    if (separator >= 0 && text.slice(end, separator).includes('#')) add(separator, separator + 1)
  }
  return spans
}

/** What takes some of a list out of it, but not all. */
export function removeItems(text: string, { items }: ListNode, indexes: ReadonlySet<number>): Splice[] {
  const gone: RemovedSpan[] = []
  const commas: Splice[] = []
  const last = items.findLastIndex((_, index) => !indexes.has(index))
  items.forEach(({ start, end }, index) => {
    if (index === last && index < items.length - 1) {
      const comma = skipComments(text, end)
      commas.push({ start: comma, end: comma + 1, text: '' })
    }
    if (indexes.has(index))
      gone.push({ start, end, separator: index < items.length - 1 ? skipComments(text, end) : -1 })
  })
  return [...commas, ...removeFields(text, gone)]
}

/** Takes a stretch with its line where it is alone on it, else with the blanks before or after it. Comments stay. */
function removeSpan(text: string, start: number, end: number): Splice {
  const next = skipBlanks(text, end)
  const isLast = next >= text.length || text[next] === '\n'
  const from = blanksStart(text, start)
  if (from === 0 || text[from - 1] === '\n')
    return isLast ? { start: from, end: Math.min(next + 1, text.length), text: '' } : { start, end: next, text: '' }
  const to = from === start && !isLast && text[next] !== '#' ? next : end
  return { start: from, end: to, text: wouldJoin(text.slice(from - 1, from), text.slice(to, to + 1)) ? ' ' : '' }
}

const BLANKS = new Set([' ', '\t', '\v', '\f', '\r'])

/** Whether there is nothing but blanks, none of them the end of a line. */
function isBlank(text: string): boolean {
  for (const character of text) if (!BLANKS.has(character)) return false
  return true
}

/** Where the blanks begin that end at an offset. */
function blanksStart(text: string, offset: number): number {
  let from = offset
  while (BLANKS.has(text[from - 1] ?? '')) from--
  return from
}

export function skipBlanks(text: string, offset: number): number {
  let at = offset
  while (BLANKS.has(text[at] ?? '')) at++
  return at
}

function skipComments(text: string, offset: number): number {
  let at = skipBlanks(text, offset)
  while (text[at] === '\n' || text[at] === '#') at = skipBlanks(text, text[at] === '#' ? nextLine(text, at) : at + 1)
  return at
}

export function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1
}

function nextLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset)
  return end < 0 ? text.length : end + 1
}

/** Whether nothing but blanks comes before an offset on its line. */
export function isFirstOnLine(text: string, offset: number): boolean {
  const from = blanksStart(text, offset)
  return from === 0 || text[from - 1] === '\n'
}

/** Whether anything but blanks and a comment comes on a line after an offset, and if not, where the line ends. */
export function restOfLine(text: string, offset: number): { readonly end: number; readonly hasToken: boolean } {
  const next = skipBlanks(text, offset)
  if (next < text.length && text[next] !== '\n' && text[next] !== '#') return { end: next, hasToken: true }
  const newline = text.indexOf('\n', next)
  const end = newline < 0 ? text.length : newline
  return { end: newline > offset && text[newline - 1] === '\r' ? end - 1 : end, hasToken: false }
}

/**
 * Replacements of pieces of a text, and those that remove fields and items and as little else as possible.
 * @module
 */
import type { ListNode } from '../text/tree.js'

/** A replacement: `text` takes the place of all characters from `start` to before `end`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * Applies splices to a text.
 * @param splices - those at one offset stay in their order. Where two overlap, the text is removed once, and both insert theirs
 */
export function applySplices(text: string, splices: readonly Splice[]): string {
  let result = ''
  let at = 0
  for (const { start, end, text: replacement } of [...splices].sort((a, b) => a.start - b.start)) {
    result += text.slice(at, start) + replacement
    at = Math.max(at, end)
  }
  return result + text.slice(at)
}

/** Checks that two tokens would be read as one if there were nothing between them. */
export function wouldJoin(before: string, after: string): boolean {
  return /[\w.]$/.test(before) && /^[\w.]/.test(after)
}

/** A span that is removed from a text, and for fields the offset of the `,` or `;` after it. */
interface RemovedSpan {
  readonly start: number
  readonly end: number
  readonly separator?: number
}

/** Returns the splices that remove fields. Fields side by side are removed as one. */
export function removeFields(text: string, fields: readonly RemovedSpan[]): Splice[] {
  return mergeSpans(text, fields).map(({ start, end }) => removeSpan(text, start, end))
}

/** Returns the splices that remove pieces of a string, but not the first: each with the line end before it, not the one after it. */
export function removePieces(text: string, pieces: readonly RemovedSpan[]): Splice[] {
  return mergeSpans(text, pieces).map(({ start, end }) => {
    const next = skipBlanks(text, end)
    const line = blanksStart(text, start)
    // The blanks after the piece stay, unless a comment follows: a new field may be inserted before them.
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

/** Returns the splices that remove some items of a list, but not all. */
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

/** Removes a span: with its line if nothing else is on the line, else with the blanks before or after it. Comments stay. */
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

/** Checks that a text is blank, without the end of a line. */
function isBlank(text: string): boolean {
  for (const character of text) if (!BLANKS.has(character)) return false
  return true
}

/** Returns the start of the blanks that end at an offset. */
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

/** Checks that only blanks come before an offset on its line. */
export function isFirstOnLine(text: string, offset: number): boolean {
  const from = blanksStart(text, offset)
  return from === 0 || text[from - 1] === '\n'
}

/** Looks for a token on a line after an offset. Without one, there are only blanks and a comment up to the end of the line. */
export function restOfLine(text: string, offset: number): { readonly end: number; readonly hasToken: boolean } {
  const next = skipBlanks(text, offset)
  if (next < text.length && text[next] !== '\n' && text[next] !== '#') return { end: next, hasToken: true }
  const newline = text.indexOf('\n', next)
  const end = newline < 0 ? text.length : newline
  return { end: newline > offset && text[newline - 1] === '\r' ? end - 1 : end, hasToken: false }
}

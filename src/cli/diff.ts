/**
 * Compares two texts by lines, in bounded time even for untrusted texts.
 * @module
 */
import type { StructuredPatchHunk } from 'diff'
import { structuredPatch } from 'diff'

/** Unchanged lines to show around a change. */
const CONTEXT = 3

/** The most changed lines for which the shortest patch is computed, since that takes time by their square. */
const MAX_EDITS = 2000

/** Makes the hunks of a patch. Texts with very many changes get one hunk, from the first difference to the last. */
export function makeHunks(before: string, after: string): StructuredPatchHunk[] {
  const patch = structuredPatch('', '', before, after, undefined, undefined, {
    context: CONTEXT,
    maxEditLength: MAX_EDITS,
  })
  return patch === undefined ? [makeSingleHunk(before, after)] : patch.hunks
}

function makeSingleHunk(before: string, after: string): StructuredPatchHunk {
  const old = splitLines(before)
  const now = splitLines(after)
  const shorter = Math.min(old.length, now.length)
  let head = 0
  while (head < shorter && old[head] === now[head]) head++
  let tail = 0
  while (tail < shorter - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++
  const start = Math.max(0, head - CONTEXT)
  const kept = Math.min(tail, CONTEXT)
  const end = old.length - tail
  const marked = (sign: string, lines: readonly string[]): string[] =>
    lines.flatMap((line) => makeDiffLines(sign + line))
  return {
    oldStart: start + 1,
    oldLines: end + kept - start,
    newStart: start + 1,
    newLines: now.length - tail + kept - start,
    lines: [
      ...marked(' ', old.slice(start, head)),
      ...marked('-', old.slice(head, end)),
      ...marked('+', now.slice(head, now.length - tail)),
      ...marked(' ', old.slice(end, end + kept)),
    ],
  }
}

/** Splits a text into lines. Each keeps its line end, which the last line may lack. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function makeDiffLines(line: string): string[] {
  return line.endsWith('\n') ? [line.slice(0, -1)] : [line, '\\ No newline at end of file']
}

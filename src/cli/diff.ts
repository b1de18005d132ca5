/**
 * The lines in which two texts differ, in time that does not run away with a stranger's text.
 * @module
 */
import type { StructuredPatchHunk } from 'diff'
import { structuredPatch } from 'diff'

/** Lines that are shown around a change. */
const CONTEXT = 3

/** With more lines taken out and put in than this, no shortest way is looked for, which takes time by its square. */
const MAX_EDITS = 2000

/** The hunks of a patch; a single one, from the first difference to the last, where there are very many. */
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

/** Lines with their line ends, which the last may lack. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function makeDiffLines(line: string): string[] {
  return line.endsWith('\n') ? [line.slice(0, -1)] : [line, '\\ No newline at end of file']
}

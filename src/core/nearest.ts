/**
 * The name that was meant where one is misspelt. Reached only once something is wrong.
 * @module
 */

/** Finds the known name that is closest to a misspelt one; undefined where none is close. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  // Nobody misspells a name at such length, and the work grows with it.
  if (name.length > 64) return undefined
  const meant = name.toLowerCase()
  let found: string | undefined
  let least = Math.ceil(name.length / 3) + 1
  for (const each of known) {
    const distance = editDistance(meant, each.toLowerCase())
    if (distance < least) {
      found = each
      least = distance
    }
  }
  return found
}

/** Counts the letters to add, leave out, replace or swap with the next one that make one text of another. */
function editDistance(from: string, to: string): number {
  let before: readonly number[] = []
  let last = [...to, ''].map((_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      next.push(
        Math.min(
          at(last, column) + 1,
          at(next, column - 1) + 1,
          at(last, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(before, column - 2) + 1 : from.length + to.length,
        ),
      )
    }
    before = last
    last = next
  }
  return at(last, to.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] as number // the rows have a number for each column
}

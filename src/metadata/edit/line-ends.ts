/**
 * The ends of a text's lines, found once for all fields: to search anew at each field would take time by the square of the length
 * of a text that is one line.
 * @module
 */

/** The ends of the lines of a text. */
export class LineEnds {
  private readonly offsets: number[] = []

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.offsets.push(at)
  }

  /** Checks that a line ends from `start` to before `end`. */
  hasBetween(start: number, end: number): boolean {
    return (this.offsets[this.countBefore(start)] ?? end) < end
  }

  /** Returns the offset at which the line of an offset begins. */
  lineStart(offset: number): number {
    return (this.offsets[this.countBefore(offset) - 1] ?? -1) + 1
  }

  private countBefore(offset: number): number {
    let low = 0
    let high = this.offsets.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.offsets[middle] ?? offset) < offset) low = middle + 1
      else high = middle
    }
    return low
  }
}

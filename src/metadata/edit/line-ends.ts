/**
 * Where the lines of a text end, found once: a text may be one line, and be asked for it at every field.
 * @module
 */

/** The ends of the lines of a text. */
export class LineEnds {
  private readonly offsets: number[] = []

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.offsets.push(at)
  }

  /** Whether a line ends from `start` to before `end`. */
  hasBetween(start: number, end: number): boolean {
    return (this.offsets[this.countBefore(start)] ?? end) < end
  }

  /** Gives the offset at which the line of an offset begins. */
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

/**
 * A stand-in for a string that notes which of its characters were looked at: a comparison by `===` or by a library finds
 * it equal to nothing, one that takes it character by character leaves its trace. So a test of constant time counts
 * steps, and measures no time.
 * @module
 */
export class Counted {
  readonly visited: number[] = []
  readonly text: string

  constructor(text: string) {
    const standIn = {
      length: text.length,
      charCodeAt: (index: number): number => {
        this.visited.push(index)
        return text.charCodeAt(index)
      },
    }
    this.text = standIn as unknown as string // has what a comparison in constant time needs, and nothing else
  }
}

/**
 * Pages whose tests check that the errors they quote are the real ones.
 * @module
 */
import { readFileSync } from 'node:fs'

/** Reads a page, such as `guides/guard`. */
export function readPage(path: string): string {
  return readFileSync(new URL(`../${path}.md`, import.meta.url), 'utf8')
}

/** Returns the message of the error that a function throws, at once or by its promise; empty if it throws none. */
export async function messageOf(run: () => unknown): Promise<string> {
  try {
    await run()
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

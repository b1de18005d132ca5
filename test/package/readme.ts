/**
 * The pages at the top of the repository, and programs in Markdown, as their parts.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './project.js'

/** Reads the README. */
export function readme(): string {
  return readFileSync(join(ROOT, 'README.md'), 'utf8')
}

/** Reads the programs that use the packed package. */
export function consumers(): string {
  return readFileSync(join(ROOT, 'test/package/consumers.md'), 'utf8')
}

/** One block of code. */
export interface Block {
  readonly language: string
  readonly code: string
}

/** The blocks of JavaScript and TypeScript in a text. */
export function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/^```(js|ts)\n(.*?)^```$/gms)].map((match) => ({
    language: match[1] ?? '',
    code: match[2] ?? '',
  }))
}

/** The targets of its links that are not addresses elsewhere. */
export function relativeLinks(text: string): readonly string[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '')
  return targets.filter((target) => !/^[a-z]+:/.test(target))
}

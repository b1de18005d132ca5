/**
 * The words of a story: the names of what a command shows and asks for.
 * @module
 */
import type { AudienceChoice, By } from './answers.js'

/** The names of things in a command: general ones before it runs, with their numbers after that. */
export interface Names {
  readonly shown: string
  readonly scope: (choice: number) => string
}

/** Names before a command is run: no grant and no client is known yet. */
export const BEFORE: Names = {
  shown: '',
  scope: (choice) => (choice === 0 ? 'every scope' : `choice ${choice} of scopes`),
}

export function senderNamed(by: By): readonly string[] {
  return by === 'owner' ? [] : [by === 'other' ? 'by another client' : 'with a wrong client secret']
}

export function atOnce(times: number): readonly string[] {
  return times === 1 ? [] : [`${times} times at once`]
}

/** Says which protected resources a request names. */
export function audienceNamed(choice: AudienceChoice): readonly string[] {
  if (choice === 'none') return []
  return [choice === 'both' ? 'for both resources' : `for the ${choice} resource`]
}

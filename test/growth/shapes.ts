/**
 * The inputs of which the growth tests are made: what is repeated, what nearly fits.
 * @module
 */
import type { Case, Sizes } from './growth.js'
import { FACTOR, WHOLE } from './growth.js'

/** Inputs of one parser, by what they are. */
export type Inputs = ReadonlyMap<string, { readonly prepare: Case; readonly sizes: Sizes }>

/** What texts are made of: what separates, what ends, what is escaped, and what is plain. */
const UNITS = [
  'a',
  'A',
  '0',
  ' ',
  '\t',
  ',',
  ';',
  ':',
  '.',
  '-',
  '=',
  '&',
  '%',
  '%41',
  '%C3%A9',
  '+',
  '"',
  '\\',
  '/',
  '?',
]
// Two marks of different classes, which normalization puts in order.
const WIDE = [
  'é',
  '\u0301',
  '\u0323\u0301',
  '\u{1f511}',
  '\n',
  '[',
  ']',
  '::',
  '. ',
  '; ',
  ', ',
  '= ',
  'a=b&',
  'a="b",',
  'a=b; ',
  ' =',
]

/** What stands before and behind what is repeated. */
export type Around = readonly [head: string, tail: string]

/** A parser of a text. The wide units are left out where a platform lets nothing but ASCII through. */
export function ofText(
  parse: (text: string) => unknown,
  arounds: readonly Around[] = [['', '']],
  sizes = WHOLE,
): Inputs {
  const inputs = new Map<string, { prepare: Case; sizes: Sizes }>()
  for (const [head, tail] of [...arounds, ['', '\0'] as const]) {
    for (const unit of [...UNITS, ...WIDE]) {
      const prepare: Case = (size) => {
        // Flat, as what comes from a socket is.
        const text = Buffer.from(head + unit.repeat(size / unit.length) + tail).toString()
        return () => parse(text)
      }
      inputs.set(JSON.stringify(`${head}${unit}...${tail}`), { prepare, sizes })
    }
  }
  return inputs
}

/** Where the length of a text ends what is read: 350 characters that a person sees, of 16 code units each. */
export const SEEN: Sizes = { small: 350, large: 350 * FACTOR }

/** Where a count ends what is read: the large input has as many parts as may be. */
export const COUNTED: Sizes = { small: 2048 / FACTOR, large: 2048 }

export function of(cases: Readonly<Record<string, Case>>, sizes: Sizes = WHOLE): Inputs {
  return new Map(Object.entries(cases).map(([name, prepare]) => [name, { prepare, sizes }]))
}

export function all(...inputs: readonly Inputs[]): Inputs {
  return new Map(inputs.flatMap((each) => [...each]))
}

/** Forms whose parameters are counted: one name again and again, in every state that a value can be in, and many names. */
export function ofForms(parse: (text: string) => unknown): Inputs {
  const pairs: Record<string, (index: number) => string> = {
    'one name': () => 'a=b',
    'one name without a value': () => 'a',
    'one name, malformed at the end': (index) => (index === 2047 ? 'a=%' : 'a=b'),
    'one name, malformed at first': (index) => (index === 0 ? 'a=%' : 'a=b'),
    'one name in two spellings': (index) => (index % 2 === 0 ? 'a=b' : '%61=b'),
    'many names': (index) => `name${index}=b`,
    'many numbers as names': (index) => `${index * 4096}=b`,
    'many names, each twice': (index) => `name${index >> 1}=b`,
  }
  const cases = Object.entries(pairs).map(([name, pair]): [string, Case] => [
    name,
    (size) => {
      const text = Buffer.from(Array.from({ length: size }, (_, index) => pair(index)).join('&')).toString()
      return () => parse(text)
    },
  ])
  return of(Object.fromEntries(cases), COUNTED)
}

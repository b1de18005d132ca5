/**
 * No parser is left out of the tests of growth: each exported function of the rooms that read what strangers write is measured,
 * or it is said why it need not be.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { EXCUSED } from './excused.js'
import { readersIn } from './exported.js'
import { PARSERS } from './parsers.js'

const { files, functions, readers } = readersIn(['core', 'protocol', 'metadata', 'client'])
const excused = Object.values(EXCUSED).flat()

describe('the functions that may be given what a stranger wrote', () => {
  it('are found', () => {
    expect(files.length).toBeGreaterThan(80)
    expect(readers.size).toBeGreaterThan(150)
  })

  it('are measured, each of them, or excused', () => {
    const known = new Set([...Object.keys(PARSERS), ...excused])
    expect([...readers].filter((name) => !known.has(name))).toEqual([])
  })

  it('are excused once, and only while they are there and not measured', () => {
    expect(excused.filter((name, index) => excused.indexOf(name) !== index)).toEqual([])
    expect(excused.filter((name) => !readers.has(name) || name in PARSERS)).toEqual([])
  })

  it('are measured under their names', () => {
    // Of other rooms, where not every function is looked for.
    const elsewhere = [
      'endpoints/limits/network.ts networkOf',
      'shell/audit/request.ts bareRedirectUri',
      'shell/audit/request.ts printable',
      'cli/diff.ts makeHunks',
      'adapters/node/client-metadata/freshness.ts maxAgeOf',
    ]
    expect(Object.keys(PARSERS).filter((name) => !functions.has(name) && !elsewhere.includes(name))).toEqual([])
  })
})

describe('a function that is added', () => {
  const source = `
    export type Text = string
    export interface Holder { readonly [name: string]: string | undefined }
    export function ofText(text: Text): number { return text.length }
    export const ofMany = (first: number, ...texts: readonly string[]): number => first + texts.length
    export const ofHolder = (holder: Holder): Holder => holder
    export const ofWhatever = async (given: unknown): Promise<unknown> => given
    export const ofAddresses = (urls: ReadonlyMap<string, URL>): number => urls.size
    export const codec = { read: (bytes: Uint8Array | undefined): number => bytes?.length ?? 0, size: 1 }
    export const ofNumbers = (one: number, other: readonly boolean[]): number => one + other.length
    export const ofNames = (name: 'a' | 'b'): string => name
    export class Reader { constructor(readonly text: string) {} }
  `

  it('is found if it may be given a text, bytes, or something unknown', () => {
    const found = readersIn([], { 'core/added.ts': source })
    expect([...found.readers].map((name) => name.replace('core/added.ts ', ''))).toEqual([
      'ofText',
      'ofMany',
      'ofHolder',
      'ofWhatever',
      'ofAddresses',
      'codec.read',
    ])
    expect(found.functions.has('core/added.ts ofNumbers')).toBe(true)
  })
})

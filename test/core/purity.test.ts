/**
 * The rooms of DESIGN: who may import whom, and that core and protocol are pure. Shown on the real program, and on small
 * made-up files that each break one rule.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { ROOMS, readSources } from './rooms.js'

/** Files that are not there, each with what must be found in it. */
const FIXTURES: { readonly [file: string]: readonly [source: string, ...faults: string[]] } = {
  // What is allowed.
  'core/credentials/f1.ts': [
    "import { sha256 } from '@noble/hashes/sha2.js'\nimport { encodeBase64url } from './base64url.js'\nexport const a = Math.max(1, encodeBase64url(sha256(new Uint8Array(3))).length)",
  ],
  'core/f2.ts': [
    "export const count = (text: string): number => [...new Intl.Segmenter('en').segment(text)].length\nfor (let i = 0; i < 2; i++) count('')",
  ],
  'core/f3.ts': [
    'interface Date { readonly time: number }\nexport const of = ({ time }: Date, fetch: () => void): object => ({ Date: time, process: 1, fetch })',
  ],
  'protocol/f1.ts': [
    "import { oauthError } from '../core/errors.js'\nimport { headerOf } from './message.js'\nexport const b = [oauthError, headerOf]",
  ],
  'storage/f1.ts': [
    "import type { Seconds } from '../core/values.js'\nimport type { RecordStore } from './record-store.js'\nexport const c = (s: RecordStore): Seconds => (s ? Date.now() : 0)",
  ],
  'adapters/node/f1.ts': [
    "import { createHash } from 'node:crypto'\nimport { nodeDigests } from './index.js'\nexport const d = [createHash, nodeDigests]",
  ],
  'f1.ts': [
    "import { inspect } from './core/grant/grant.js'\nimport type { Pages } from './pages/index.js'\nimport type { RecordStore } from './storage/record-store.js'\nexport const e = async (s: RecordStore, p: Pages) => [await s, inspect, p]",
  ],

  // (a) Imports of pure files.
  'core/a1.ts': ["import { createHash } from 'node:crypto'\nexport const a = createHash", 'imports node:crypto'],
  'core/a2.ts': [
    "import { headerOf } from '../protocol/message.js'\nexport const a = headerOf",
    'imports the room protocol',
  ],
  'core/a3.ts': [
    "import type { RecordStore } from '../storage/record-store.js'\nexport type A = RecordStore",
    'imports the room storage',
  ],
  'core/a4.ts': ["export { nodeDigests } from '../adapters/node/index.js'", 'imports the room adapters'],
  'core/a5.ts': ["import * as fc from 'fast-check'\nexport const a = fc", 'imports fast-check'],
  'core/a6.ts': ["export type A = import('node:http').Server", 'imports node:http'],
  'core/a7.ts': ["export const a = import('node:fs')", 'imports node:fs', 'imports while it runs'],
  'core/a8.ts': ["import fs = require('node:fs')\nexport const a = fs", 'imports node:fs'],
  'core/a9.ts': ["import '../../test/support.js'", 'imports ../../test/support.js, which is outside'],
  'core/a10.ts': [
    "import { hmac } from '@noble/hashes-of-somebody/hmac.js'\nexport const a = hmac",
    'imports @noble/hashes-of-somebody/hmac.js',
  ],
  'protocol/a1.ts': [
    "import { sha256 } from '@noble/hashes/sha2.js'\nexport const a = sha256",
    'imports @noble/hashes/sha2.js',
  ],
  'protocol/a2.ts': [
    "import type { Settings } from '../shell/options/settings.js'\nexport type A = Settings<never>",
    'imports the room shell',
  ],
  'protocol/a3.ts': ["import { html } from '../pages/html.js'\nexport const a = html", 'imports the room pages'],

  // (b) Globals.
  'core/b1.ts': ['export const a = () => Math.random()', 'uses Math.random'],
  'core/b2.ts': ['export const { random } = Math', 'uses Math'],
  'core/b3.ts': ["export const a = Math['random']", 'uses Math', "uses Math['random']"],
  'core/b4.ts': ['export const a = () => Date.now()', 'uses Date'],
  'core/b5.ts': ['export const a = () => new Date()', 'uses Date'],
  'core/b6.ts': ['export const a = { Date }', 'uses Date'],
  'core/b7.ts': ['export const a = performance.now()', 'uses performance'],
  'core/b8.ts': ['export const a = crypto.getRandomValues(new Uint8Array(1))', 'uses crypto'],
  'core/b9.ts': ['export const a = globalThis.crypto', 'uses globalThis'],
  'core/b10.ts': ["export const a = process.env['HOME']", 'uses process'],
  'core/b11.ts': ['export const a = setTimeout(() => {}, 1)', 'uses setTimeout'],
  'core/b12.ts': ["console.log('a')", 'uses console'],
  'core/b13.ts': ["export const a = fetch('https://a.example')", 'uses fetch'],
  'core/b14.ts': ["export const a = Buffer.from('a')", 'uses Buffer'],
  'core/b15.ts': ["export const a = eval('1')", 'uses eval'],
  'core/b16.ts': ["export const a = new Function('return 1')", 'uses Function'],
  'core/b17.ts': ["export const a = (() => 1).constructor('return Date.now()')", 'uses .constructor'],
  'core/b18.ts': ["export const a = (() => 1)['constructor']", "uses (() => 1)['constructor']"],
  'core/b19.ts': ['export const a = new Intl.DateTimeFormat().format()', 'uses Intl.DateTimeFormat'],
  'core/b20.ts': ["export const a = 'a'.localeCompare('b')", 'uses .localeCompare'],
  'core/b21.ts': ['export const a = (1).toLocaleString()', 'uses .toLocaleString'],
  'core/b22.ts': ['// @ts-ignore\nexport const a = Deno.env', 'uses the unknown name Deno'],
  'core/b23.ts': ['export const a = import.meta.url', 'uses import.meta'],
  'core/b24.ts': ['export const a = new WeakRef({})', 'uses WeakRef'],
  'core/b25.ts': ['export const a = structuredClone(1)', 'uses structuredClone'],
  'core/b26.ts': ['export type A = NodeJS.ProcessEnv', 'uses NodeJS'],
  'core/b27.ts': ['let calls = 0\nexport const a = () => calls++', 'has a variable of the module'],
  'core/b28.ts': ['export var a = 0', 'has a variable of the module'],
  'core/b29.ts': ['export const a = /x/g', 'has a regular expression with a memory: /x/g'],
  'core/b30.ts': [
    'declare const performance: { now(): number }\nexport const a = performance.now()',
    'declares declare const performance: { now(): number }',
  ],
  'core/b31.ts': [
    'declare global { const clock: number }\nexport const a = 1',
    'declares declare global { const clock: number }',
  ],
  'core/b32.ts': ['declare function now(): number\nexport const a = now', 'declares declare function now(): number'],
  'core/b33.ts': ['declare const brand: unique symbol\nexport type A = string & { readonly [brand]: 1 }'],
  'core/b34.ts': ['export function a() { return arguments.length }', 'uses arguments'],
  'protocol/b1.ts': ['export const a = (at: Date) => at', 'uses Date'],

  // (c) What waits.
  'core/c1.ts': ['export async function a() {}', 'is async'],
  'core/c2.ts': ['export const a = async () => 1', 'is async'],
  'core/c3.ts': ['export const a = { async b() {} }', 'is async'],
  'core/c4.ts': ['export const a = Promise.resolve(1)', 'uses Promise'],
  'core/c5.ts': ['export type A = Promise<number>', 'uses Promise'],
  'core/c6.ts': ['export type A = PromiseLike<number>', 'uses PromiseLike'],
  'core/c7.ts': ['await 1\nexport {}', 'awaits'],
  'core/c8.ts': ['for await (const a of []) a\nexport {}', 'awaits'],
  'core/c9.ts': ['export class A { async b() {} }', 'is async'],
  'core/c10.ts': ['export async function* a() {}', 'is async'],
  'protocol/c1.ts': ['export const a = async () => 1', 'is async'],

  // (d) The other rooms.
  'adapters/d1.ts': [
    "import { oauthError } from '../core/errors.js'\nexport const a = oauthError",
    'imports more than types of the room core',
  ],
  'adapters/d2.ts': [
    "import { type Seconds } from '../core/values.js'\nexport type A = Seconds",
    'imports more than types of the room core',
  ],
  'adapters/d3.ts': [
    "import { nodeDigests } from './node/index.js'\nexport const a = nodeDigests",
    'imports adapters/node/index.ts, which is beside it',
  ],
  'adapters/d4.ts': ["import { createServer } from 'node:http'\nexport const a = createServer", 'imports node:http'],
  'adapters/d5.ts': [
    "import { memoryStore } from '../storage/memory.js'\nexport const a = memoryStore",
    'imports the room storage',
  ],
  'adapters/d6.ts': ["import { html } from '../pages/html.js'\nexport const a = html", 'imports the room pages'],
  'storage/d1.ts': [
    "import { headerOf } from '../protocol/message.js'\nexport const a = headerOf",
    'imports the room protocol',
  ],
  'storage/d2.ts': ["export { memoryStore } from './memory.js'", 'imports storage/memory.ts, which is beside it'],
  'storage/d3.ts': [
    "import type { Settings } from '../shell/options/settings.js'\nexport type A = Settings<never>",
    'imports the room shell',
  ],
  'storage/d4.ts': [
    "import type { HttpRequest } from '../protocol/message.js'\nexport type A = HttpRequest",
    'imports the room protocol',
  ],
  'testing/d1.ts': ["import { expect } from 'vitest'\nexport const a = expect", 'imports vitest'],
  'pages/d1.ts': ["import type { Scope } from '../core/scopes.js'\nexport type A = Scope", 'imports the room core'],
  'pages/d2.ts': [
    "import { headerOf } from '../protocol/message.js'\nexport const a = headerOf",
    'imports the room protocol',
  ],
  'pages/d3.ts': ["import { readFileSync } from 'node:fs'\nexport const a = readFileSync", 'imports node:fs'],
  'd1.ts': [
    "import { nodeDigests } from './adapters/node/index.js'\nexport const a = nodeDigests",
    'imports the room adapters',
  ],
  'd2.ts': [
    "import { memoryStore } from './storage/memory.js'\nexport const a = memoryStore",
    'imports more than types of the room storage',
  ],
  'd3.ts': [
    "import type { MemoryStore } from './storage/memory.js'\nexport type A = MemoryStore",
    'imports storage/memory.ts',
  ],
  'd4.ts': ["import { randomBytes } from 'node:crypto'\nexport const a = randomBytes", 'imports node:crypto'],
  'metadata/d1.ts': [
    "import type { Seconds } from '../core/values.js'\nexport type A = Seconds",
    'imports the room core',
  ],
  'cli/d1.ts': [
    "import { readFileSync } from 'node:fs'\nimport { Command } from 'commander'\nimport { MetadataError } from '../metadata/errors.js'\nexport const a = [readFileSync, Command, MetadataError]",
  ],
  'cli/d2.ts': ["import { oauthError } from '../core/errors.js'\nexport const a = oauthError", 'imports the room core'],
  'metadata/d2.ts': ["import { main } from '../cli/main.js'\nexport const a = main", 'imports the room cli'],
  'metadata/d3.ts': ["import { readFileSync } from 'node:fs'\nexport const a = readFileSync", 'imports node:fs'],
  // Folders within a room, and rooms within a room.
  'core/d1.ts': [
    "import { parseCredential } from './credentials/credential.js'\nexport const a = parseCredential",
    'imports the room core/credentials',
  ],
  'core/credentials/d1.ts': [
    "import { oauthError } from '../errors.js'\nimport { isGrant } from '../grant/grant.js'\nexport const a = [oauthError, isGrant]",
    'imports the room core/grant',
  ],
  'shell/d1.ts': [
    "import { createGuard } from '../guard/guard.js'\nexport const a = createGuard",
    'imports the room guard',
  ],
  'guard/d1.ts': [
    "import { createAuthorizationServer } from '../server.js'\nexport const a = createAuthorizationServer",
    'imports the room src',
  ],
  'somewhere/d1.ts': ['export const a = 1', 'the room somewhere has no rule'],

  // Circles.
  'core/e1.ts': ["import { b } from './e2.js'\nexport const a = (): number => b()"],
  'core/e2.ts': ["import { c } from './e3.js'\nexport const b = (): number => c()"],
  'core/e3.ts': ["import type { a } from './e1.js'\nexport const c = (): number => 1\nexport type A = typeof a"],
  'core/e4.ts': ["import * as own from './e4.js'\nexport const a = own"],
}

const sources = readSources(Object.fromEntries(Object.entries(FIXTURES).map(([file, [source]]) => [file, source])))

describe('the rooms (DESIGN, "Rooms, and what each may import")', () => {
  it('are there, with every file in one of them', () => {
    for (const room of Object.keys(ROOMS))
      expect(sources.files.filter((file) => `${file}/`.startsWith(room === '' ? 'server.ts' : `${room}/`))).not.toEqual(
        [],
      )
    const pure = ['core', 'core/credentials', 'core/application', 'core/grant', 'core/index.ts', 'protocol']
    expect(Object.keys(ROOMS).filter((room) => ROOMS[room]?.pure)).toEqual(pure)
  })

  it.each(sources.files)('%s imports what its room may, and is pure where its room is', (file) => {
    expect(sources.faultsOf(file)).toEqual([])
  })

  it('have no circle of imports, not even of types', () => {
    expect(sources.cycles(sources.files)).toEqual([])
  })
})

describe('a guard that would go red', () => {
  it.each(Object.entries(FIXTURES))('%s: %j', (file, [, ...faults]) => {
    expect([...new Set(sources.faultsOf(file))].sort()).toEqual([...faults].sort())
  })

  it('for a circle, of types too, and for a file that imports itself', () => {
    expect(sources.cycles(['core/e1.ts', 'core/e2.ts', 'core/e3.ts'])).toEqual([
      'core/e1.ts -> core/e2.ts -> core/e3.ts -> core/e1.ts',
    ])
    expect(sources.cycles(['core/e4.ts'])).toEqual(['core/e4.ts -> core/e4.ts'])
    expect(sources.cycles(['core/e2.ts', 'core/e3.ts'])).toEqual([])
  })
})

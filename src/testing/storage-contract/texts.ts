/**
 * Texts and values that careless engines get wrong.
 * @module
 */
import type { Arbitrary } from 'fast-check'
import fc from 'fast-check'
import type { JsonValue } from '../../storage/record-store.js'
import { seededNumbers } from '../seeded-entropy.js'
import { numbers } from './bench.js'

/** One unit of a text in JavaScript, half of a surrogate pair too, most often one that engines get wrong. */
export const unit: Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code)),
  fc.constantFrom('\u0000', '\n', ' ', '"', "'", '\\', '%', '_', '*', '?', ':', '{', '}', '[', ']'),
)

/** Any JSON as every engine gives it back: without the sign of zero, which JSON has and engines lose. */
export const jsonValue: Arbitrary<JsonValue> = fc
  .jsonValue({ maxDepth: 4, stringUnit: unit })
  .map((value) => JSON.parse(JSON.stringify(value)))

/** Names that every object has. */
export const BORN_NAMES: readonly string[] = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'toJSON', 'valueOf', 'hasOwnProperty'],
  ...['__defineGetter__', 'length', 'name', 'then', 'size', 'get'],
]

/** Groups of texts that careless engines take for the same one. */
export const ALIKE_TEXTS: readonly (readonly string[])[] = [
  ['key', 'Key', 'KEY', 'kEY', 'K\u212ay'],
  ['key', 'key ', 'key  ', ' key', 'key\t', 'key\n', 'key\r\n', 'key\u00a0', 'key\u0000', 'key\u0000\u0000'],
  ['\u00e9', 'e\u0301', 'e', '\u00c9'],
  ['\u212b', '\u00c5', 'A\u030a'],
  ['\ufb01', 'fi', '\u00df', 'ss', '\u0130', 'i\u0307', 'i', '\u0131', 'I'],
  ['\ud800', '\ud801', '\udbff', '\udc00', '\udfff', '\ufffd', '?', '', '\ud800\ud800', '\udc00\ud800'],
  ['\ud83d', '\ude00', '\ud83d\ude00', '\ude00\ud83d', 'a\ud800', 'a\udc00', 'a\ufffd', 'a', 'a\ud800b', 'a\udc00b'],
  ['\ufeffkey', 'key', '\u200bkey', 'key\u200d', 'k\u00adey', '\u202ekey'],
  ['key*', 'key?', 'key%', 'key_', 'key.', 'key', 'key1', 'ke', 'k*', '*', '%', '[k]ey'],
  ['1', '01', '1.0', '1e0', ' 1', '+1', '-1', '0', '-0', 'true', 'null', 'undefined', 'NaN', ''],
  ['a:b', 'a', 'b', 'a::b', ':a:b', 'a/b', 'a|b', 'a,b', 'a\u0000b', '{a}b', '{a}', '{a}c', 'a-b'],
  ['\\', '\\\\', '\\u0000', '\u0000', '\\0', '\\x00', '%00', '\\ud800', '"', '\\"', "''", "'"],
]

/** Every control character, quotes, patterns, tags, pairs of surrogates and the last code points. */
export const ODD_TEXTS: readonly string[] = [
  ...[...numbers(0x21), ...numbers(0x21).map((index) => 0x7f + index)].map((code) => `a${String.fromCharCode(code)}b`),
  ...['\u0000', '\u0001', '\n', '\u007f', '"', '`', '$1', '$$', '<a>&amp;', "'; --", 'a"b', "a'b", 'a`b'],
  ...['%s', '%25', '%zz', '*', '?', '[a-z]', '^a$', '(a|b)', '~', '#', '@', '../..', '/', '//'],
  ...['{', '}', '{}', '{{a}}', '\u2028', '\u2029', '\ufffe', '\uffff'],
  ...['\ud83d\ude00', '\udbff\udfff', '\ud83d\ude00\ud83d', '\u05d0\u0627'],
]

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * Texts of 1,000 characters, each a byte, that differ in the first, the middle or the last. They cannot be compressed, as
 * some engines do before they look whether an entry of an index is too long.
 */
export const LONG_TEXTS: readonly string[] = ['...', 'x..', '.x.', '..x'].map(
  ([first = '', middle = '', last = '']) => {
    const next = seededNumbers(1)
    const letters = numbers(997).map(() => LETTERS_AND_DIGITS[next(LETTERS_AND_DIGITS.length)])
    return `${first}${letters.slice(0, 499).join('')}${middle}${letters.slice(499).join('')}${last}`
  },
)

/** Any text that JavaScript has, half a surrogate pair too, and those that careless engines get wrong. */
export const anyText: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit, maxLength: 40 }) },
  { weight: 2, arbitrary: fc.constantFrom(...BORN_NAMES, ...ODD_TEXTS, ...ALIKE_TEXTS.flat()) },
)

export const SHAPES: readonly JsonValue[] = [
  ...[null, true, false, 0, 1, -1.5, 0.1, 1e300, 5e-324, 2 ** 31, 2 ** 53 - 1, -(2 ** 53 - 1), 123_456_789.123],
  ...['', ' ', 'text', 'null', '1', '{}', 'a "quoted" \\ text\n\u2028', '\u0000', '\ud800', '\ud83d\ude00'],
  ...[[], {}, [[], [null], [[{}]]], [1, 'two', null, false, { three: [] }], { '': {}, a: [] }, [{}, [], {}]],
  JSON.parse('{"__proto__":{"a":1},"constructor":null,"toString":"","":[]}'),
  { a: { b: { c: { d: { e: { f: [[[[[1]]]]] } } } } } },
  { zebra: 1, apple: 2, '10': 3, '9': 4 },
]

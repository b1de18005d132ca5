/**
 * The words for a wrong option or argument.
 * @module
 */
import { describe, expect, it } from 'vitest'
import type { BrokenRule } from '../../src/core/application/faults.js'
import { faultSentence } from '../../src/core/application/faults.js'
import { brokenRedirectRule } from '../../src/core/application/redirect-uri.js'
import { ANYTHING, answerFault, came, FLAG, isTaken, methods, mustBe, oneOf, promisesIn } from '../../src/core/takes.js'
import { unseenFault } from '../../src/core/text.js'

const throwing = new Proxy(
  {},
  {
    get: () => {
      throw new Error('no')
    },
    ownKeys: () => {
      throw new Error('no')
    },
  },
)

describe('what came', () => {
  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    [7, '7'],
    [7n, '7'],
    [true, 'true'],
    ['text', '"text"'],
    ['a'.repeat(100), `"${'a'.repeat(63)}…`],
    ['https://a:b@c', 'a string'],
    [Symbol('x'), 'a symbol'],
    [() => 1, 'a function'],
    [{}, 'an object'],
    [[1, 2], 'an array of 2'],
    [new Date(0), 'a Date'],
    [new Uint8Array(31), 'a Uint8Array of 31'],
    [{ [Symbol.toStringTag]: '!' }, 'an object'],
    [Promise.resolve(), 'a Promise (did you forget await?)'],
  ])('%o is %s', (value, words) => {
    expect(came(value)).toBe(words)
  })

  it('is its type alone where it may be a secret', () => {
    expect(['text', 7, 7n].map((value) => came(value, true))).toEqual(['a string', 'a number', 'a bigint'])
  })
})

it('a value that throws when it is read is told to be that', () => {
  expect(came(throwing)).toBe('an object that throws when it is read')
})

describe('values that are taken', () => {
  it('are told from others, and one that throws is none', () => {
    expect([
      isTaken(FLAG, true),
      isTaken(ANYTHING, 7),
      isTaken(oneOf('a', 'b'), 'b'),
      isTaken(oneOf('a'), 'c'),
    ]).toEqual([...[true, true, true, false]])
    const reader = methods('a store', 'read')
    expect([{ read: () => {} }, {}, 7, throwing].map((value) => isTaken(reader, value))).toEqual([
      true,
      false,
      false,
      false,
    ])
    expect(mustBe(reader, 7)).toBe('must be a store with the methods read; got a number')
  })
})

describe('the rule that a redirect URI breaks', () => {
  const registered = {
    type: 'public',
    redirectUris: ['https://app.example/a', 'http://127.0.0.1/a', 'com.example.app:/a'],
    authorizedDomain: 'app.example',
    allowSubdomains: false,
  } as const
  const rules = { matching: 'domain', allowLocalhost: false } as const
  const sentenceOf = (rule: BrokenRule | undefined) => rule && faultSentence(rule)

  it.each<[string | undefined, RegExp]>([
    ['https://app.example/b', /^none$/],
    [undefined, /must be sent/],
    ['https://app.example/#a', /fragment/],
    ['https://evil.example/', /must have the host app\.example$/],
    ['https://app.example:8443/', /port/],
    ['http://127.0.0.1:7/b', /loopback/],
    ['com.example.app:/b', /exactly/],
  ])('%s: %s', (uri, rule) => {
    expect(sentenceOf(brokenRedirectRule(registered, uri, rules)) ?? 'none').toMatch(rule)
  })

  it('is that of the registration and of the rules', () => {
    const open = { ...registered, allowSubdomains: true }
    expect(sentenceOf(brokenRedirectRule(open, 'https://evil.example/', rules))).toMatch(/or a subdomain of it$/)
    expect(sentenceOf(brokenRedirectRule(open, 'https://app.example/b', { ...rules, matching: 'exact' }))).toMatch(
      /exactly/,
    )
    const { authorizedDomain: _, ...without } = registered
    expect(sentenceOf(brokenRedirectRule(without, 'https://evil.example/', rules))).toMatch(/exactly/)
  })
})

describe('what nobody sees of a text', () => {
  it('is told: a mark, half of a character, and not a line end', () => {
    expect(['a\u202eb', 'a\0', '\ud800', 'a\nb', 'ab'].map(unseenFault)).toEqual([
      'unseen_mark',
      'unseen_mark',
      'half_character',
      undefined,
      undefined,
    ])
  })
})

describe('the answer of a host', () => {
  const later = Promise.resolve()

  it.each<[unknown, readonly unknown[], string]>([
    [7, [], 'f() must give it; got 7'],
    ['x', [], 'f() must give it; got a string'],
    [later, [later], 'f() must give it; got a Promise (did you forget await?)'],
    [{ a: 1, b: later }, [later], 'f() must give it; got an object, in which b is a Promise (did you forget await?)'],
    [
      { 'a b': later },
      [later],
      'f() must give it; got an object, in which a field is a Promise (did you forget await?)',
    ],
    [
      [{ a: later }, later, [[later]]],
      [later, later],
      'f() must give it; got an array of 3, in which [0].a is a Promise (did you forget await?)',
    ],
    [throwing, [], 'f() must give it; got an object that throws when it is read'],
    [[throwing], [], 'f() must give it; got an array of 1'],
  ])('%#: promises in it are found, and the first is named', (answer, promises, said) => {
    expect(promisesIn(answer)).toEqual(promises)
    expect(answerFault('f()', 'it', answer)).toBe(said)
  })
})

/**
 * The reader of options and arguments.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { nearest } from '../../src/core/nearest.js'
import { checkArgument, inheritedName, readOptions, readStrictOptions } from '../../src/core/options.js'
import type { Takes } from '../../src/core/takes.js'
import { NAME, seconds } from '../../src/core/takes.js'

/** An object that throws at each reading of it. */
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

/** The error for a wrong option or argument. */
function wrong(message: string | RegExp): unknown {
  const said = typeof message === 'string' ? `grantwell: ${message}` : expect.stringMatching(message)
  return expect.objectContaining({ name: 'GrantwellError', code: 'ERR_CONFIGURATION', message: said })
}

describe('options', () => {
  const takes: { readonly name: Takes; readonly life: Takes } = { name: NAME, life: seconds(1, 100) }

  it('are read each once, without those that are undefined', () => {
    expect({ ...(readOptions('f', { name: 'a', life: undefined, other: undefined }, takes) as object) }).toEqual({
      name: 'a',
    })
  })

  it.each<[unknown, string]>([
    [null, 'f: the options must be an object; got null'],
    [[], 'f: the options must be an object; got an array of 0'],
    [new Map([['name', 'a']]), 'f: the options must be an object; got a Map'],
    [new Set(['name']), 'f: the options must be an object; got a Set'],
    [new Date(0), 'f: the options must be an object; got a Date'],
    [new URLSearchParams({ name: 'a' }), 'f: the options must be an object; got a URLSearchParams'],
    [{ nam: 'a' }, 'f: there is no option nam; did you mean name?'],
    [{ 'a b': 1 }, 'f: there is no option "a b"; it takes name, life'],
    [{ name: '' }, 'f: the option name must be a string that is not empty; got ""'],
    [{ name: 'a', life: 5000 }, 'f: the option life must be whole seconds from 1 to 100; got 5000 (milliseconds?)'],
    [{}, 'f: the option name must be a string that is not empty; got undefined'],
    [Object.create({ name: 'a' }), "f: the option name must be the object's own; got an inherited one"],
  ])('%#: wrong ones are refused by a message that names them', (given, said) => {
    expect(() => readOptions('f', given, takes, ['name'])).toThrow(wrong(said))
  })

  it('that throw when they are read are refused', () => {
    expect(() => readOptions('f', throwing, {})).toThrow(
      wrong(/f: the options must be an object; got an object that throws/),
    )
  })

  it('of a strict function are refused if a name is unknown, whatever its value; so are options of a function without any', () => {
    expect(readOptions('f', { other: undefined }, takes)).toEqual({})
    expect(() => readStrictOptions('f', { other: undefined }, takes)).toThrow(
      wrong('f: there is no option other; it takes name, life'),
    )
    expect(() => readOptions('f', { other: 1 }, {})).toThrow(wrong('f: there is no option other; it takes none'))
  })

  it('are refused by the error of the entry point, if it has one of its own', () => {
    const createError = (message: string) => new RangeError(message)
    expect(() => readOptions('f', 7, {}, [], false, createError)).toThrow(
      new RangeError('f: the options must be an object; got a number'),
    )
  })
})

it('a wrong argument is refused by a message that names it', () => {
  checkArgument('f', 'name', NAME, 'a')
  expect(() => checkArgument('f', 'name', NAME, 7)).toThrow(
    wrong('f: the argument name must be a string that is not empty; got 7'),
  )
})

it('an option is only inherited by an object', () => {
  expect([inheritedName(undefined, ['a']), inheritedName(Object.create({ a: 1 }), ['a'])]).toEqual([undefined, 'a'])
})

describe('a misspelt name', () => {
  it.each([
    ['codeLifetme', 'codeLifetime'],
    ['codelifetime', 'codeLifetime'],
    ['sotre', 'store'],
    ['ttl', undefined],
    ['', undefined],
    ['x'.repeat(65), undefined],
  ])('%j means %s', (name, meant) => {
    expect(nearest(name, ['issuer', 'store', 'codeLifetime'])).toBe(meant)
  })
})

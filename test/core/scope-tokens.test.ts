/**
 * Scopes in the host's own spelling: what includes what, and what becomes of an unknown one.
 * @module
 * @see RFC 6749, section 3.3
 */
import * as fc from 'fast-check'
import { scopeCatalogue, serviceScopes } from 'grantwell'
import type { ScopeTokenDefinition } from 'grantwell/core'
import { coversScopes, narrowScopes, normalizeScopes, parseRequestedScopes, parseScopes } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { limitScopes } from '../../src/core/scopes.js'

const token = (scope: string, includes?: readonly string[]): ScopeTokenDefinition => ({
  scope,
  permission: 'r',
  description: scope,
  ...(includes !== undefined && { includes }),
})

/** Makes something while every object has a field that nobody gave it. */
function polluted<Made>(field: string, make: () => Made): Made {
  Object.defineProperty(Object.prototype, field, { value: 'polluted', configurable: true })
  try {
    return make()
  } finally {
    Reflect.deleteProperty(Object.prototype, field)
  }
}

const GITHUB = scopeCatalogue([
  token('repo', ['repo:status', 'public_repo']),
  token('repo:status'),
  token('public_repo'),
  token('user', ['read:user', 'user:email']),
  token('read:user'),
  token('user:email'),
  token('admin:org', ['write:org']),
  token('write:org', ['read:org']),
  token('read:org'),
  token('openid'),
])

/** Spellings that look like names, and others: only names may go by their spelling. */
const SPELLINGS = ['s:0', 's:1', 'a:rw', 'a:r', 's:4', 'b:rw', 's:6', 'b:r', 's:8', 'openid']

/** Catalogues in which a scope includes only later ones, so that none includes itself; some have the name `n` as well. */
const catalogues = fc
  .record({
    lists: fc.array(fc.array(fc.nat(9), { maxLength: 3 }), { minLength: 2, maxLength: SPELLINGS.length }),
    named: fc.boolean(),
  })
  .map(({ lists, named }) => {
    const spelled = SPELLINGS.slice(0, lists.length)
    const tokens = lists.map((list, index) => {
      const later = new Set(list.filter((other) => other > index && other < lists.length))
      return token(SPELLINGS[index] ?? '', [
        ...[...later].map((other) => SPELLINGS[other] ?? ''),
        ...(named ? ['n:r'] : []),
      ])
    })
    const name = { name: 'n', permissions: ['r', 'rw'], description: 'n' } as const
    const direct = new Map(tokens.map(({ scope, includes = [] }) => [scope, includes]))
    if (named) direct.set('n:rw', ['n:r'])
    /** All that scopes permit, themselves among it: found by repeated rounds, as a checker without cleverness would. */
    const permits = (scopes: readonly string[]): ReadonlySet<string> => {
      const found = new Set(scopes)
      for (let round = 0; round <= direct.size; round++)
        for (const [scope, includes] of direct) if (found.has(scope)) for (const each of includes) found.add(each)
      return found
    }
    const catalogue = scopeCatalogue(named ? [...tokens, name] : tokens)
    return { scopes: named ? [...spelled, 'n:r', 'n:rw'] : spelled, catalogue, permits }
  })

/** A catalogue, and some lists of its scopes in normal form. */
const withLists = catalogues.chain((made) => {
  const list = fc
    .subarray([...made.scopes], { minLength: 1 })
    .map((scopes) => normalizeScopes(made.catalogue, scopes) ?? [])
  return fc.record({ made: fc.constant(made), a: list, b: list, c: list })
})

describe('scopes in the host’s own spelling', () => {
  it('include what their definition says, also through others', () => {
    expect(coversScopes(['repo'], ['public_repo', 'repo:status'], GITHUB)).toBe(true)
    expect(coversScopes(['admin:org'], ['read:org'], GITHUB)).toBe(true)
    expect(coversScopes(['read:org'], ['admin:org'], GITHUB)).toBe(false)
    expect(coversScopes(['repo'], ['user'], GITHUB)).toBe(false)
    expect(coversScopes(['repo'], ['nowhere'], GITHUB)).toBe(false)
    expect(GITHUB.entries.get('read:org')?.includedBy).toEqual(['admin:org', 'write:org'])
    expect(GITHUB.entries.get('admin:org')?.includes).toEqual(['write:org', 'read:org'])
  })

  it('are read into the order of the catalogue, without those that another one includes', () => {
    expect(parseScopes(GITHUB, 'openid user:email repo public_repo')).toEqual(['repo', 'user:email', 'openid'])
    expect(parseScopes(GITHUB, 'read:org write:org admin:org')).toEqual(['admin:org'])
    expect(parseScopes(GITHUB, 'repo Repo')).toBeUndefined()
  })

  it('stand beside names, which they may include', () => {
    const catalogue = scopeCatalogue([
      ...serviceScopes().definitions,
      { scope: 'code', permission: 'rw', description: 'All code', includes: ['repo-code:rw', 'repo-pr:rw'] },
    ])
    expect(coversScopes(['code'], ['repo-code:r', 'repo-pr:rw'], catalogue)).toBe(true)
    expect(parseScopes(catalogue, 'code repo-code:r repo-issue:r')).toEqual(['repo-issue:r', 'code'])
    expect(limitScopes(['code'], ['repo-code:r'], catalogue)).toEqual(['repo-code:r'])
  })

  it('cover each other as repeated rounds over the definitions find it', () => {
    let chains = 0
    fc.assert(
      fc.property(withLists, ({ made: { catalogue, permits }, a, b, c }) => {
        const permitted = permits(a)
        expect(coversScopes(a, b, catalogue)).toBe([...permits(b)].every((one) => permitted.has(one)))
        expect(coversScopes(a, a, catalogue)).toBe(true)
        const isChain = coversScopes(a, b, catalogue) && coversScopes(b, c, catalogue)
        chains += Number(isChain)
        expect(isChain && !coversScopes(a, c, catalogue)).toBe(false)
      }),
      { numRuns: 250 },
    )
    expect(chains).toBeGreaterThan(0)
  })

  it('[31] are narrowed, never widened', () => {
    fc.assert(
      fc.property(withLists, ({ made: { catalogue, permits }, a, b }) => {
        const permitted = permits(a)
        for (const one of permits(narrowScopes(a, b, catalogue) ?? [])) expect(permitted).toContain(one)
        expect(narrowScopes(a, undefined, catalogue)).toBe(a)
      }),
      { numRuns: 250 },
    )
  })

  it('leave of a grant exactly what was granted and is registered still, in normal form', () => {
    fc.assert(
      fc.property(withLists, ({ made: { catalogue, permits }, a: granted, b: registered }) => {
        const left = limitScopes(granted, registered, catalogue)
        const still = permits(registered)
        expect(permits(left)).toEqual(new Set([...permits(granted)].filter((one) => still.has(one))))
        expect(normalizeScopes(catalogue, left) ?? []).toEqual(left)
      }),
      { numRuns: 250 },
    )
  })

  it('say the same in both directions', () => {
    fc.assert(
      fc.property(catalogues, ({ catalogue: { entries } }) => {
        for (const { scope, includes, includedBy } of entries.values()) {
          for (const each of includes) expect(entries.get(each)?.includedBy).toContain(scope)
          for (const each of includedBy) expect(entries.get(each)?.includes).toContain(scope)
        }
      }),
    )
  })

  it('go by what they say alone, not by their spelling', () => {
    const both = scopeCatalogue([token('a:rw'), token('a:r')])
    const read = scopeCatalogue([token('a:r')])
    expect(coversScopes(['a:rw'], ['a:r'], both)).toBe(false)
    expect(coversScopes(['a:rw'], ['a:r'], read)).toBe(false)
    expect(limitScopes(['a:rw'], ['a:r', 'a:rw'], read)).toEqual([])
    const beside = scopeCatalogue([
      { name: 'a', permissions: ['r'], description: 'a' },
      { ...token('a:rw'), permission: 'rw' },
    ])
    expect(coversScopes(['a:rw'], ['a:r'], beside)).toBe(false)
    expect(parseScopes(beside, 'a:r a:rw')).toEqual(['a:r', 'a:rw'])
  })

  it('are no names by a field that is undefined, inherited, or on a polluted prototype', () => {
    class Row {
      readonly permission = 'r'
      readonly description = ''
      constructor(readonly scope: string) {}
      get name(): string {
        return 'a'
      }
    }
    const made = [
      scopeCatalogue(['a:rw', 'a:r'].map((scope) => ({ ...token(scope), name: undefined }))),
      scopeCatalogue([new Row('a:rw'), new Row('a:r')]),
      polluted('name', () => scopeCatalogue([token('a:rw'), token('a:r')])),
    ]
    for (const catalogue of made) expect(coversScopes(['a:rw'], ['a:r'], catalogue)).toBe(false)
    const named = { name: 'a', permissions: ['r', 'rw'], description: '', scope: undefined } as const
    expect(coversScopes(['a:rw'], ['a:r'], scopeCatalogue([named as never]))).toBe(true) // wrong on purpose
  })

  it('leave nothing of one that the service does not have any more: nobody knows what it included', () => {
    expect(limitScopes(['gone', 'openid'], ['gone', 'openid'], GITHUB)).toEqual(['openid'])
  })
})

describe('an unknown scope beside known ones', () => {
  const lenient = scopeCatalogue(GITHUB.definitions, { unknown: 'leave_out' })

  it('is refused by default, also from the catalogue of the specification', () => {
    expect([GITHUB.unknown, serviceScopes().unknown]).toEqual(['refuse', 'refuse'])
    expect(parseRequestedScopes(GITHUB, 'openid profile')).toBeUndefined()
    expect(parseRequestedScopes(serviceScopes(), 'repo-code:r profile')).toBeUndefined()
  })

  it('is left out where the catalogue says so, if a known one is left', () => {
    expect(parseRequestedScopes(lenient, 'profile openid email')).toEqual(['openid'])
    expect(parseRequestedScopes(lenient, 'profile email')).toBeUndefined()
    expect(parseRequestedScopes(lenient, '')).toBeUndefined()
    const service = serviceScopes({ unknown: 'leave_out' })
    expect(parseRequestedScopes(service, 'openid repo-code:r')).toEqual(['repo-code:r'])
  })

  it('is never left out of what a host writes', () => {
    expect(parseScopes(lenient, 'openid profile')).toBeUndefined()
    expect(normalizeScopes(lenient, ['openid', 'profile'])).toBeUndefined()
  })
})

describe('a catalogue is refused', () => {
  it.each<[string, readonly unknown[], string | RegExp]>([
    ['with a blank in a scope', [token('a b')], 'definitions[0]: the option scope must be 1 to 64 visible ASCII'],
    ['with a quote in a scope', [token('a"b')], 'definitions[0]: the option scope must be 1 to 64 visible ASCII'],
    ['with an empty scope', [token('')], 'definitions[0]: the option scope must be 1 to 64 visible ASCII'],
    ['without a permission', [{ scope: 'a', description: 'a' }], "the option permission must be 'r' or 'rw'"],
    ['without a description', [{ scope: 'a', permission: 'r' }], 'the option description must be a string'],
    [
      'with a scope given twice',
      [token('a'), token('a')],
      'definitions[1]: the option scope must be given once; got "a"',
    ],
    [
      'with a scope that a name spells too',
      [{ name: 'a', permissions: ['r'], description: 'a' }, token('a:r')],
      'definitions[1]: the option scope must be given once; got "a:r" again',
    ],
    [
      'with an unknown inclusion that is like a known scope',
      [token('a', ['bb']), token('b')],
      'includes must be scopes of the catalogue; got "bb" (did you mean b?)',
    ],
    [
      'with a scope that includes itself',
      [token('a', ['a'])],
      'includes must lead to other scopes alone; "a" includes',
    ],
    ['with a circle', [token('a', ['b']), token('b', ['c']), token('c', ['a'])], '"a" includes itself'],
    ['with an unknown inclusion that is like no other', [token('a', ['something else'])], /; got "something else"$/],
    [
      'with reading that includes a change',
      [token('a', ['b']), token('b', ['c:rw']), { name: 'c', permissions: ['rw'], description: '' }],
      `the option permission must be 'rw', since it includes "c:rw"`,
    ],
    ['with a hole in a list', [{ ...token('a'), includes: new Array(1) }], 'includes must be a list of scopes'],
    ['with both spellings', [{ ...token('a'), name: 'a' }], 'definitions[0]: there is no option name'],
    ['with inclusions that are no list', [{ ...token('a'), includes: 'b' }], 'includes must be a list of scopes'],
  ])('%s', (_, definitions, message) => {
    expect(() => scopeCatalogue(definitions as readonly ScopeTokenDefinition[])).toThrow(message) // wrong on purpose
  })

  it('with a wrong answer to unknown scopes', () => {
    expect(() => scopeCatalogue([], { unknown: 'ignore' as 'refuse' })).toThrow("must be 'refuse' or 'leave_out'")
  })
})

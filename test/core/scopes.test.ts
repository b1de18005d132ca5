/**
 * Permission scopes (specification, section 5.3; DESIGN, "scope strings").
 * @module
 */
import * as fc from 'fast-check'
import type { Scope, ScopeDefinition } from 'grantwell'
import { scopeCatalogue, serviceScopes } from 'grantwell'
import type { Permission } from 'grantwell/core'
import { coversScopes, narrowScopes, normalizeScopes, parseScopes, printScopes } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { limitScopes } from '../../src/core/scopes.js'
import { anyText } from './texts.js'

/** The table of section 5.3, its rows in their order. */
const TABLE: readonly (readonly [name: string, permissions: 'read-only' | 'read-write' | 'both', covers: string])[] = [
  ['repo-code', 'both', 'Repository code through Git commands'],
  ['repo-pr', 'both', 'Pull requests'],
  ['repo-issue', 'both', 'Issues'],
  ['repo-notes', 'both', 'Comments on issues and pull requests'],
  ['repo-release', 'both', 'Tags and releases'],
  ['repo-commit-status', 'both', 'Pipeline status, badges, commit metadata'],
  ['repo-native-trigger', 'both', 'Query, trigger and run cloud-native build and cloud-native development'],
  ['repo-native-history', 'read-only', 'Pipeline build history'],
  ['repo-native-detail', 'both', 'Query or delete cloud-native development spaces'],
  ['repo-basic-info', 'read-only', 'Basic repository info (name, description, language, license)'],
  ['repo-manage', 'both', 'Repository members and settings'],
  ['repo-delete', 'read-write', 'Delete a repository'],
  ['repo-security', 'read-only', 'Repository security module data'],
  ['registry-package', 'both', 'Artifacts'],
  ['registry-package-delete', 'read-write', 'Delete artifacts'],
  ['registry-security', 'read-only', 'Package security, license and SBOM data'],
  ['registry-manage', 'both', 'Artifact registry members and settings'],
  ['registry-delete', 'read-write', 'Delete an artifact registry'],
  ['account-profile', 'both', 'User profile'],
  ['account-email', 'both', "The user's verified email"],
  ['account-engage', 'both', 'Followed repositories, followers, cloud-native development environments, and similar'],
  [
    'group-resource',
    'both',
    'Sub-organizations, repositories, artifact registries and mission sets under an organization',
  ],
  ['group-manage', 'both', 'Organization members, repository wall, organization settings'],
  ['group-delete', 'read-write', 'Delete an organization'],
  ['mission-delete', 'read-write', 'Delete a mission set'],
  ['mission-manage', 'both', 'Access a mission set'],
]

const PERMISSIONS = { 'read-only': ['r'], 'read-write': ['rw'], both: ['r', 'rw'] } as const

const catalogue = serviceScopes()
const every = [...catalogue.entries.keys()] as Scope[] // the keys of a catalogue are its scopes
const someScopes = fc.array(fc.constantFrom(...every), { minLength: 1, maxLength: 12 })
const normal = someScopes.map((scopes) => normalizeScopes(catalogue, scopes) ?? [])

/** What a list of scopes permits, spelled out: the reference that the arithmetic is held against. */
function permits(scopes: readonly Scope[]): ReadonlySet<string> {
  return new Set(
    scopes.flatMap((scope) => {
      const [name, permission] = scope.split(':')
      return permission === 'rw' ? [`read ${name}`, `write ${name}`] : [`read ${name}`]
    }),
  )
}

describe('the catalogue of section 5.3', () => {
  it('has the 26 names in their order, each with its permission types and what it covers', () => {
    expect(TABLE).toHaveLength(26)
    expect(catalogue.definitions).toEqual(
      TABLE.map(([name, permissions, description]) => ({ name, permissions: PERMISSIONS[permissions], description })),
    )
  })

  it.each(TABLE)('%s is granted %s, and in no other way', (name, permissions) => {
    const admitted: readonly Permission[] = PERMISSIONS[permissions]
    for (const permission of ['r', 'rw'] as const) {
      const scope = `${name}:${permission}`
      expect(parseScopes(catalogue, scope)).toEqual(admitted.includes(permission) ? [scope] : undefined)
    }
    for (const wrong of ['', ':', ':w', ':R', ':RW', ':wr', ':rwx', ':r:rw', ' :r', ': r', ':r\t']) {
      expect(parseScopes(catalogue, name + wrong)).toBeUndefined()
    }
  })

  it('has the name of the service where the specification has "native", and nowhere else', () => {
    const renamed = serviceScopes({ service: 'acme' })
    expect(renamed.definitions).toEqual(
      catalogue.definitions.map((definition) => ({
        ...definition,
        name: definition.name.replace('-native-', '-acme-'),
      })),
    )
    expect(parseScopes(renamed, 'repo-acme-history:r')).toEqual(['repo-acme-history:r'])
    expect(parseScopes(renamed, 'repo-native-history:r')).toBeUndefined()
    expect(serviceScopes({})).toEqual(catalogue)
    expect(serviceScopes({ service: 'native' })).toEqual(catalogue)
  })

  it.each(['a b', 'a:b', 'a"b', 'a\\b', 'é', 'x'.repeat(60)])('no service can be called "%s"', (service) => {
    expect(() => serviceScopes({ service })).toThrow(expect.objectContaining({ code: 'ERR_CONFIGURATION' }))
  })
})

describe('a catalogue that a service makes itself', () => {
  const define = (changes: Partial<ScopeDefinition>): ScopeDefinition => ({
    name: 'wiki',
    permissions: ['r', 'rw'],
    description: 'Wiki pages',
    ...changes,
  })

  it('knows its names, in its order', () => {
    const own = scopeCatalogue([define({ name: 'z' }), define({ name: 'a', permissions: ['r'] })])
    expect(parseScopes(own, 'a:r z:rw')).toEqual(['z:rw', 'a:r'])
    expect(parseScopes(own, 'a:rw')).toBeUndefined()
  })

  it.each([
    ['64 characters', 'x'.repeat(64)],
    ['every visible character that a scope token may have', "!#$%&'()*+,-./09;<=>?@AZ[]^_`az{|}~"],
  ])('takes a name of %s (RFC 6749, section 3.3)', (_, name) => {
    expect(parseScopes(scopeCatalogue([define({ name })]), `${name}:r`)).toEqual([`${name}:r`])
  })

  it.each([
    ['65 characters, one too many', 'x'.repeat(65)],
    ['no character', ''],
    ['a space', 'a b'],
    ['a colon', 'a:r'],
    ['a quotation mark', 'a"'],
    ['a backslash', 'a\\'],
    ['a control character', 'a\n'],
    ['a letter outside ASCII', 'é'],
  ])('refuses a name with %s (RFC 6749, section 3.3)', (_, name) => {
    expect(() => scopeCatalogue([define({ name })])).toThrow(expect.objectContaining({ code: 'ERR_CONFIGURATION' }))
  })

  it.each([
    ['missing', undefined, 'undefined'],
    ['an object without a language', {}, 'an object'],
    ['an object with a number', { en: 'Wiki pages', de: 1 }, 'an object'],
    ['a list', ['Wiki pages'], 'an array of 1'],
    ['a String object', new String('Wiki pages'), 'a String of 10'],
  ])('refuses a description that is %s', (_, description, came) => {
    const definition = { name: 'wiki', permissions: ['r'], description } as unknown as ScopeDefinition // a host without a type checker
    const message = `the option description must be a string, or one for each language tag; got ${came}`
    expect(() => scopeCatalogue([definition])).toThrow(
      expect.objectContaining({ code: 'ERR_CONFIGURATION', message: expect.stringMatching(`${message}$`) }),
    )
  })

  it('refuses a name that is given twice, a name without a permission, and a permission that there is not', () => {
    expect(() => scopeCatalogue([define({}), define({})])).toThrow(/option name must be given once; got "wiki" again/)
    expect(() => scopeCatalogue([define({ permissions: [] })])).toThrow(/permissions must be .+; got an array of 0$/)
    const wrong = ['r', 'w'] as unknown as Permission[] // what a caller without types can pass
    expect(() => scopeCatalogue([define({ permissions: wrong })])).toThrow(/permissions must be .+; got an array of 2$/)
  })
})

describe('a list of scopes', () => {
  it('has one normal form: the order of the catalogue, each name once, permitting exactly what was asked', () => {
    fc.assert(
      fc.property(someScopes, (scopes) => {
        const list = parseScopes(catalogue, scopes.join(' ')) ?? []
        expect(permits(list)).toEqual(permits(scopes))
        const names = list.map((scope) => scope.split(':')[0])
        expect(names).toEqual(TABLE.map(([name]) => name).filter((name) => names.includes(name)))
      }),
    )
  })

  it('is the same in whatever order and however often its scopes are named', () => {
    const twoWays = someScopes.chain((scopes) =>
      fc.tuple(fc.constant(scopes), fc.shuffledSubarray([...scopes, ...scopes], { minLength: 2 * scopes.length })),
    )
    fc.assert(
      fc.property(twoWays, ([scopes, again]) => {
        expect(normalizeScopes(catalogue, again)).toEqual(normalizeScopes(catalogue, scopes))
      }),
    )
  })

  it('is read as it is written', () => {
    fc.assert(
      fc.property(normal, (list) => {
        expect(parseScopes(catalogue, printScopes(list))).toEqual(list)
      }),
    )
  })

  it('may have more spaces than one before, between and behind its scopes', () => {
    const spaces = fc.integer({ min: 1, max: 4 }).map((count) => ' '.repeat(count))
    const edge = fc.integer({ min: 0, max: 4 }).map((count) => ' '.repeat(count))
    fc.assert(
      fc.property(someScopes, fc.infiniteStream(spaces), edge, edge, (scopes, between, before, behind) => {
        const written = scopes.reduce<string>((text, scope) => `${text}${between.next().value}${scope}`, '').trim()
        expect(parseScopes(catalogue, before + written + behind)).toEqual(normalizeScopes(catalogue, scopes))
      }),
    )
  })

  it.each([
    ['nothing', ''],
    ['a space', ' '],
    ['many spaces', '    '],
    ['a tab behind', 'repo-code:r\t'],
    ['a no-break space between', 'repo-code:r\u00a0repo-pr:r'],
    ['a tab between', 'repo-code:r\trepo-pr:r'],
    ['a comma between', 'repo-code:r,repo-pr:r'],
    ['a line break behind', 'repo-code:r\n'],
    ['a name without permission', 'repo-code'],
    ['an unknown name', 'repo-unknown:r'],
    ['an unknown name among known ones', 'repo-code:r repo-unknown:r'],
    ['capitals', 'Repo-Code:r'],
    ['a name of every object', '__proto__:r'],
    ['another name of every object', 'constructor'],
  ])('%s is none', (_, text) => {
    expect(parseScopes(catalogue, text)).toBeUndefined()
  })

  it('is never made of any string with a part that the catalogue does not have', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const list = parseScopes(catalogue, text)
        const parts = text.split(' ').filter((part) => part !== '')
        expect(list !== undefined).toBe(parts.length > 0 && parts.every((part) => every.includes(part as Scope))) // read, not trusted
      }),
    )
  })

  it('of no scope at all is none', () => {
    expect(normalizeScopes(catalogue, [])).toBeUndefined()
  })
})

describe('what covers what', () => {
  it('a list covers another exactly when it permits everything that the other does; read-write includes read-only', () => {
    fc.assert(
      fc.property(normal, normal, (granted, needed) => {
        const permitted = permits(granted)
        expect(coversScopes(granted, needed, catalogue)).toBe([...permits(needed)].every((one) => permitted.has(one)))
      }),
      { numRuns: 250 },
    )
    expect(coversScopes(['repo-code:rw'], ['repo-code:r'], catalogue)).toBe(true)
    expect(coversScopes(['repo-code:r'], ['repo-code:rw'], catalogue)).toBe(false)
    expect(coversScopes(['repo-code:r'], [], catalogue)).toBe(true)
  })

  it('every list covers itself, and covering goes through', () => {
    fc.assert(
      fc.property(normal, normal, normal, (a, b, c) => {
        expect(coversScopes(a, a, catalogue)).toBe(true)
        expect(!coversScopes(a, b, catalogue) || !coversScopes(b, c, catalogue) || coversScopes(a, c, catalogue)).toBe(
          true,
        )
      }),
    )
  })

  it('[31] narrowing gives the wish where it is covered, everything where there is none, and never more than was granted', () => {
    fc.assert(
      fc.property(normal, fc.option(normal, { nil: undefined }), (granted, wish) => {
        const ends = narrowScopes(granted, wish, catalogue)
        expect(ends).toEqual(wish === undefined ? granted : coversScopes(granted, wish, catalogue) ? wish : undefined)
        const permitted = permits(granted)
        for (const one of permits(ends ?? [])) expect(permitted).toContain(one)
      }),
      { numRuns: 250 },
    )
  })
})

describe('what is left of a grant once its application is registered for other scopes', () => {
  /** Of few names, so that two lists have some of them in common. */
  const few = fc
    .array(fc.constantFrom(...every.slice(0, 8), 'repo-delete:rw' as const), { minLength: 1, maxLength: 6 })
    .map((scopes) => normalizeScopes(catalogue, scopes) ?? [])
  const both = fc.oneof(fc.tuple(few, few), fc.tuple(normal, normal))

  it('permits exactly what was granted and is registered still, read-write as read-only where no more than that is', () => {
    let narrowed = 0
    fc.assert(
      fc.property(both, ([granted, registered]) => {
        const left = limitScopes(granted, registered, catalogue)
        const registeredStill = permits(registered)
        expect(permits(left)).toEqual(new Set([...permits(granted)].filter((one) => registeredStill.has(one))))
        if (left.some((scope) => !granted.includes(scope))) narrowed++
      }),
      { numRuns: 500 },
    )
    expect(narrowed).toBeGreaterThan(50)
  })

  it('is in normal form, and the very same list where all of it is registered still', () => {
    fc.assert(
      fc.property(both, ([granted, registered]) => {
        const left = limitScopes(granted, registered, catalogue)
        expect(left).toEqual(normalizeScopes(catalogue, left) ?? [])
        expect(left === granted).toBe(coversScopes(registered, granted, catalogue))
      }),
      { numRuns: 250 },
    )
  })

  it('is what it was after a limit that is wider, and the same in whatever order two limits come', () => {
    fc.assert(
      fc.property(few, few, few, (granted, one, other) => {
        const left = limitScopes(granted, one, catalogue)
        expect(limitScopes(left, one, catalogue)).toBe(left)
        expect(limitScopes(left, granted, catalogue)).toBe(left)
        expect(limitScopes(left, other, catalogue)).toEqual(
          limitScopes(limitScopes(granted, other, catalogue), one, catalogue),
        )
        expect(!coversScopes(other, one, catalogue) || limitScopes(left, other, catalogue) === left).toBe(true)
      }),
      { numRuns: 250 },
    )
  })

  it('has nothing that the service does not have any more, and all else', () => {
    const definitions = fc
      .subarray([...catalogue.definitions], { minLength: 1 })
      .chain((kept) =>
        fc.tuple(
          ...kept.map((each) =>
            fc.subarray([...each.permissions], { minLength: 1 }).map((permissions) => ({ ...each, permissions })),
          ),
        ),
      )
    let left = 0
    fc.assert(
      fc.property(both, definitions, ([granted, registered], kept) => {
        const smaller = scopeCatalogue(kept)
        const limited = limitScopes(granted, registered, smaller)
        const before = limitScopes(granted, registered, catalogue)
        for (const scope of limited) expect(smaller.entries.has(scope)).toBe(true)
        expect(coversScopes(before, limited, catalogue)).toBe(true)
        expect(limited).toEqual(expect.arrayContaining(before.filter((scope) => smaller.entries.has(scope))))
        left += limited.length
      }),
      { numRuns: 500 },
    )
    expect(left).toBeGreaterThan(50)
  })

  it.each([
    ['nothing in common', ['repo-code:rw'], ['repo-pr:rw'], []],
    ['less', ['repo-code:rw', 'repo-pr:rw'], ['repo-code:r'], ['repo-code:r']],
    ['more', ['repo-code:r'], ['repo-code:rw', 'repo-pr:rw'], ['repo-code:r']],
    ['a name that only begins alike', ['repo-code:r'], ['repo-commit-status:r'], []],
    ['no scope at all', ['repo-code:r'], [], []],
  ] as const)('with %s: of %j, registered now for %j, there is %j left', (_, granted, registered, left) => {
    expect(limitScopes(granted, registered, catalogue)).toEqual(left)
  })
})

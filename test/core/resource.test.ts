/**
 * Whether what a user permitted opens a resource (specification, section 2.1).
 * @module
 */
import * as fc from 'fast-check'
import type { ProtectedResource, Resources } from 'grantwell'
import { opensResource } from 'grantwell'
import { describe, expect, it } from 'vitest'

const ALL: Resources = { kind: 'all' }
const PUBLIC: Resources = { kind: 'public' }
const SPECIFIED: Resources = { kind: 'specified', ids: ['repo/1', 'repo/2'] }

const repository = (id: string, isPublic: boolean, accessible: boolean): ProtectedResource => ({
  id,
  public: isPublic,
  accessible,
})

describe('2.1 what a token opens', () => {
  it.each([
    // what was permitted, and of the resource: its name, public, accessible to the user: opened
    ['all', ALL, 'repo/1', true, true, true],
    ['all', ALL, 'repo/1', false, true, true],
    ['all', ALL, 'repo/9', false, true, true],
    ['all', ALL, 'repo/1', true, false, false],
    ['all', ALL, 'repo/1', false, false, false],
    ['public', PUBLIC, 'repo/1', true, true, true],
    ['public', PUBLIC, 'repo/9', true, true, true],
    ['public', PUBLIC, 'repo/1', false, true, false],
    ['public', PUBLIC, 'repo/1', true, false, false],
    ['public', PUBLIC, 'repo/1', false, false, false],
    ['specified', SPECIFIED, 'repo/1', true, true, true],
    ['specified', SPECIFIED, 'repo/2', false, true, true],
    ['specified', SPECIFIED, 'repo/9', true, true, false],
    ['specified', SPECIFIED, 'repo/9', false, true, false],
    ['specified', SPECIFIED, 'repo/1', true, false, false],
    ['specified', SPECIFIED, 'repo/1', false, false, false],
    ['none any more', { kind: 'specified', ids: [] }, 'repo/1', true, true, false],
  ] as const)(
    '%s permitted (%j): %s, public %s, accessible %s: %s',
    (_, resources, id, isPublic, accessible, opens) => {
      expect(opensResource(resources, repository(id, isPublic, accessible))).toBe(opens)
    },
  )

  it('what is not there is opened by nothing', () => {
    for (const resources of [ALL, PUBLIC, SPECIFIED])
      for (const resource of [undefined, null]) expect(opensResource(resources, resource)).toBe(false)
  })

  it('what a host does not say is not so, nor what it says in another type', () => {
    const shapes: readonly unknown[] = [
      {},
      { id: 'repo/1' },
      { id: 'repo/1', public: true },
      { id: 'repo/1', public: true, accessible: undefined },
      ...['true', 1, 'yes', {}, [], Promise.resolve(true)].map((accessible) => ({
        id: 'repo/1',
        public: true,
        accessible,
      })),
      true,
      1,
      'repo/1',
      [],
      [{ id: 'repo/1', public: true, accessible: true }],
      () => true,
    ]
    for (const resources of [ALL, PUBLIC, SPECIFIED])
      for (const shape of shapes) expect(opensResource(resources, shape as ProtectedResource)).toBe(false) // on purpose, of any type
    for (const isPublic of [undefined, null, 1, 'true', {}]) {
      const resource = { id: 'repo/1', public: isPublic, accessible: true } as unknown as ProtectedResource // on purpose
      expect([ALL, PUBLIC, SPECIFIED].map((resources) => opensResource(resources, resource))).toEqual([
        true,
        false,
        true,
      ])
    }
  })

  it('a name is compared to the letter: no case, no part, no list and no number counts', () => {
    const specified: Resources = { kind: 'specified', ids: ['repo/1', '7', ''] }
    const ids: readonly unknown[] = ['REPO/1', 'repo/1 ', 'repo', 'repo/11', ['repo/1'], 7, undefined, null, 0]
    for (const id of ids) {
      const resource = { id, public: true, accessible: true } as ProtectedResource // on purpose, of any type
      expect([id, opensResource(specified, resource)]).toEqual([id, false])
    }
    expect(opensResource(specified, repository('7', false, true))).toBe(true)
  })

  it('a token never opens more than its user may, and a narrower permission never more than a wider one', () => {
    const ids = fc.uniqueArray(fc.string({ maxLength: 4 }), { maxLength: 4 })
    fc.assert(
      fc.property(ids, fc.string({ maxLength: 4 }), fc.boolean(), fc.boolean(), (list, id, isPublic, accessible) => {
        const resource = repository(id, isPublic, accessible)
        const opened = (resources: Resources) => opensResource(resources, resource)
        expect(opened(ALL)).toBe(accessible)
        expect(opened(PUBLIC)).toBe(accessible && isPublic)
        expect(opened({ kind: 'specified', ids: list })).toBe(accessible && list.includes(id))
      }),
    )
  })
})

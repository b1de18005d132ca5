/**
 * The sums of a user's permissions: what they tell, in whatever order and pages the permissions come, and how little they hold.
 * @module
 */
import * as fc from 'fast-check'
import type { GrantSummary } from 'grantwell'
import { describe, expect, it } from 'vitest'
import type { PermittedApplication } from '../../src/management/permitted-applications.js'
import { IDS_KEPT, sumUp } from '../../src/management/permitted-applications.js'

const KEPT = 5

const grant: fc.Arbitrary<GrantSummary> = fc
  .record({
    clientId: fc.constantFrom('a', 'b', 'c'),
    scopes: fc.subarray(['repo-code:r', 'wiki:rw', 'account-profile:r']),
    resources: fc.oneof(
      fc.constantFrom({ kind: 'all' }, { kind: 'public' }),
      fc
        .tuple(fc.nat(400), fc.constantFrom(0, 1, 3, 99, 100, 101, 256))
        .map(([from, count]) => ({ kind: 'specified', ids: Array.from({ length: count }, (_, at) => `${from + at}`) })),
    ),
    createdAt: fc.nat(1000),
    lastUsedAt: fc.option(fc.nat(1000), { nil: undefined }),
  })
  .map(({ lastUsedAt, ...rest }) => ({
    ...(rest as unknown as GrantSummary), // what else it has is not looked at
    ...(lastUsedAt !== undefined && { lastUsedAt }),
  }))

const usedAt = ({ lastUsedAt, createdAt }: GrantSummary): number => lastUsedAt ?? createdAt

function sumOf(pages: readonly (readonly GrantSummary[])[]): readonly PermittedApplication[] {
  return [...pages.reduce(sumUp, new Map() as ReturnType<typeof sumUp>).values()]
}

describe('the permissions of an application, summed up', () => {
  it('are its latest ones and all others as one, with every scope and every kind of resource', () => {
    fc.assert(
      fc.property(fc.array(fc.array(grant, { maxLength: 12 }), { maxLength: 6 }), (pages) => {
        const all = pages.flat()
        const sums = sumOf(pages)
        expect(sums.map(({ clientId }) => clientId)).toEqual([...new Set(all.map(({ clientId }) => clientId))])
        for (const { clientId, agreedAt, newest, older } of sums) {
          const own = all.filter((each) => each.clientId === clientId)
          const times = own.map(usedAt).toSorted((a, b) => b - a)
          expect(agreedAt).toBe(Math.max(...own.map(({ createdAt }) => createdAt)))
          expect(newest.map((each) => each.lastUsedAt ?? each.createdAt)).toEqual(times.slice(0, KEPT))
          expect(older?.count ?? 0).toBe(Math.max(0, own.length - KEPT))
          // Of several that were used at one moment, any may be the older one.
          const isLater = (each: GrantSummary): boolean => usedAt(each) > (times[KEPT - 1] ?? -1)
          const surelyOlder = own.filter((each) => usedAt(each) < (times[KEPT - 1] ?? -1))
          const perhapsOlder = own.filter((each) => !isLater(each))
          for (const { scopes, resources } of surelyOlder) {
            for (const scope of scopes) expect(older?.scopes.has(scope)).toBe(true)
            expect(older?.resources.has(resources.kind)).toBe(true)
          }
          const resources = [...(older?.resources.values() ?? [])]
          for (const kept of resources.filter((each) => each.kind === 'specified')) {
            const idsOf = (grants: readonly GrantSummary[]): Set<string> =>
              new Set(grants.flatMap(({ resources }) => (resources.kind === 'specified' ? resources.ids : [])))
            const [least, most] = [idsOf(surelyOlder), idsOf(perhapsOlder)]

            expect(kept.count).toBeLessThanOrEqual(most.size)
            expect(kept.count).toBeGreaterThanOrEqual(kept.isMore ? 0 : least.size)
            for (const id of kept.ids) expect(most.has(id)).toBe(true)
          }
        }
      }),
    )
  })

  it('hold no more than their limits, however many there are, and change none that they are made from', () => {
    fc.assert(
      fc.property(fc.array(grant, { minLength: 20, maxLength: 60 }), (grants) => {
        const given = structuredClone(grants)
        for (const { newest, older } of sumOf([grants, grants])) {
          expect(newest.length).toBeLessThanOrEqual(KEPT)
          for (const { ids } of [...newest.map(({ resources }) => resources), ...(older?.resources.values() ?? [])])
            expect(ids.size).toBeLessThanOrEqual(IDS_KEPT)
        }
        expect(grants).toEqual(given)
      }),
    )
  })
})

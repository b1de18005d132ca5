/**
 * The code of the page "Test your lifecycles".
 * @module
 */

// #region imports
import { deepEqual, equal, notDeepEqual } from 'node:assert/strict'
import * as fc from 'fast-check'
import { createAuthorizationServer } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { arbitraries, lifecycle, seededEntropy, virtualClock, wire } from 'grantwell/testing'
// #endregion imports
import { expect, it as test } from 'vitest'

// #region lifecycle
test('the server is the one of the specification', async () => {
  await lifecycle(() => {
    const clock = virtualClock()
    return wire({ store: memoryStore({ clock }), clock })
  })
})
// #endregion lifecycle

// #region terms
test('the server keeps the terms that this service gives', async () => {
  await lifecycle(
    () => {
      const clock = virtualClock()
      return wire({
        store: memoryStore({ clock }),
        clock,
        createServer: (options) =>
          createAuthorizationServer({ ...options, gracePeriod: 60, accessTokenLifetime: 3_600 }),
      })
    },
    { terms: { gracePeriod: 60, accessTokenLifetime: 3_600 }, numRuns: 20 },
  )
})
// #endregion terms

test('a server with other terms is found out, with the shortest history', async () => {
  const found: unknown = await lifecycle(
    () => {
      const clock = virtualClock()
      return wire({
        store: memoryStore({ clock }),
        clock,
        createServer: (options) => createAuthorizationServer({ ...options, codeLifetime: 660 }),
      })
    },
    { seed: 1 },
  ).catch((error: unknown) => error)
  expect(String(found)).toContain('the server is not the one of the model')
  expect(String(found)).toContain('To have it again: lifecycle(makeWiring, { seed: 1')
})

// #region clock
test('a record ends to the second', async () => {
  const clock = virtualClock()
  const store = memoryStore({ clock })
  await store.write('record', 'value', { expected: 0, expiresAt: clock() + 28_800 })

  clock.advance(28_799)
  equal((await store.read(['record']))[0]?.value, 'value')
  clock.advance(1)
  equal((await store.read(['record']))[0], undefined)
})
// #endregion clock

// #region entropy
test('the same seed gives the same bytes', () => {
  deepEqual(seededEntropy(7)(32), seededEntropy(7)(32))
  notDeepEqual(seededEntropy(7)(32), seededEntropy(8)(32))
})
// #endregion entropy

// #region arbitraries
test('no request makes the server fail', async () => {
  const clock = virtualClock()
  const { server, client, errors } = await wire({ store: memoryStore({ clock }), clock })

  await fc.assert(
    fc.asyncProperty(arbitraries.request({ clients: [client] }), async (request) => {
      const response = await server.handle(request)
      equal(response === undefined || response.status < 500, true)
    }),
  )
  deepEqual(errors, [])
})
// #endregion arbitraries

// #region grants
test('no record of a grant holds a credential', () => {
  fc.assert(
    fc.property(arbitraries.grant(), ({ record, credentials }) => {
      const stored = JSON.stringify(record)
      for (const credential of credentials) equal(stored.includes(credential), false)
    }),
  )
})
// #endregion grants

/**
 * The code of the page "Memory".
 * @module
 */

// #region imports
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { virtualClock } from 'grantwell/testing'
// #endregion imports
import { expect, it } from 'vitest'
import { registration } from '../../test/support.js'

// #region server
const store = memoryStore()

const server = createAuthorizationServer({
  issuer: 'http://127.0.0.1:8080',
  store,
  digests: nodeDigests,
  user: () => ({ subject: 'ada' }), // your session
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
})
// #endregion server

it('keeps the records of a server, and tells how many', async () => {
  expect(store.size).toBe(0)
  const { clientId } = await server.applications.register(registration())
  // #region size
  console.info(`${store.size} records in memory`)
  // #endregion size
  expect(store.size).toBe(3) // the issuer, the application, its logo
  expect((await server.applications.get(clientId))?.state).toBe('approved')
})

it('expires by the clock that it is given', () => {
  // #region clock
  const clock = virtualClock()
  const store = memoryStore({ clock })

  store.write('key', 'value', { expected: 0, expiresAt: clock() + 60 })
  clock.advance(59)
  const before = store.read(['key']) // [{ value: 'value', version: ... }]
  clock.advance(1)
  const after = store.read(['key']) // [undefined]
  // #endregion clock
  expect(before).toEqual([{ value: 'value', version: expect.any(Number) }])
  expect(after).toEqual([undefined])
})

it('refuses a clock of milliseconds, and an unknown option', () => {
  expect(() => memoryStore({ clock: Date.now })).toThrow(
    /the option clock must be a function that gives whole seconds since the epoch/,
  )
  expect(() => memoryStore({ namespace: 'a' } as object)).toThrow('memoryStore: there is no option namespace')
})

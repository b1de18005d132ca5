/**
 * The code of the page "Health and cleanup".
 * @module
 */

// #region imports
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuditEvent, AuthorizationServer } from 'grantwell'
// #endregion imports
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
import { expect, it } from 'vitest'
import { ISSUER, refresh, testServer, tokens } from '../../test/support.js'

// #region ready
/** Answers 200 where the server can work, and 503 with what is wrong where it cannot. */
function readiness(server: AuthorizationServer) {
  return async (_: IncomingMessage, response: ServerResponse) => {
    const { healthy, problems } = await server.health()
    response.writeHead(healthy ? 200 : 503, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
    response.end(JSON.stringify({ healthy, problems }))
  }
}
// #endregion ready

// #region cleanup
/** Removes all expired records, 1,000 at a time. Returns their number. */
async function removeAllExpired(store: { readonly removeExpired: () => number | Promise<number> }) {
  let all = 0
  for (;;) {
    const removed = await store.removeExpired()
    all += removed
    if (removed < 1_000) return all
  }
}
// #endregion cleanup

// #region watch
/** Counts the events that somebody should look at. */
function createCounters() {
  const counters = { replayed: 0, storeFailed: 0, contention: 0, wrongSecrets: 0 }
  const onEvent = (event: AuditEvent) => {
    if (event.type === 'replayed') counters.replayed++
    if (event.type !== 'refused') return
    if (event.reason === 'store_failed') counters.storeFailed++
    if (event.reason === 'contention') counters.contention++
    if (event.reason === 'client_secret_wrong') counters.wrongSecrets++
  }
  return { counters, onEvent }
}
// #endregion watch

/** Asks a readiness route once. */
async function statusOf(store: RecordStore): Promise<number> {
  const server = createAuthorizationServer({
    issuer: ISSUER,
    store,
    user: () => undefined,
    signInUrl: () => '/sign-in',
    onError: () => {},
  })
  const web = http.createServer(readiness(server)).listen(0, '127.0.0.1')
  await new Promise((resolve) => web.once('listening', resolve))
  const { port } = web.address() as AddressInfo
  const { status } = await fetch(`http://127.0.0.1:${port}/`)
  await new Promise((resolve) => web.close(resolve))
  return status
}

it('is ready while the store answers', async () => {
  const database = new Database(':memory:')
  const store = sqliteStore(database)
  expect(await statusOf(memoryStore())).toBe(200)
  expect(await statusOf(store)).toBe(200)
  database.close()
  const broken = () => Promise.reject(new Error('gone'))
  expect(await statusOf({ ...store, read: broken })).toBe(503)
})

it('removes more than one removal takes', async () => {
  const database = new Database(':memory:')
  const store = sqliteStore(database)
  for (let index = 0; index < 1_500; index++) store.write(`key ${index}`, 1, { expected: 0, expiresAt: 4_000_000_000 })
  database.exec('UPDATE grantwell_records SET expires_at = 1, kept_until = 1')
  expect(await removeAllExpired(store)).toBe(1_500)
  database.close()
})

it('counts a replay and a store that fails', async () => {
  const { counters, onEvent } = createCounters()
  const memory = memoryStore({ clock: () => 1_800_000_000 })
  let fails = false
  const failing: RecordStore = {
    ...memory,
    read: (keys) => {
      if (fails) throw new Error('gone')
      return memory.read(keys)
    },
  }
  const clock = { now: 1_800_000_000 }
  const test = await testServer({ onEvent, store: failing, clock: () => clock.now })
  const first = await tokens(test)
  await refresh(test, first.refresh_token)
  clock.now += 301
  expect((await refresh(test, first.refresh_token)).status).toBe(400)
  expect(counters.replayed).toBe(1)
  fails = true
  expect((await refresh(test, first.refresh_token)).status).toBe(503)
  expect(counters.storeFailed).toBe(1)
  expect(
    (
      await test.server.handle({
        method: 'GET',
        url: '/.well-known/oauth-authorization-server',
        headers: {},
        native: undefined,
      })
    )?.status,
  ).toBe(200)
})

/**
 * The code of the page "Backups": what a restored copy brings back, and how to end it.
 * @module
 */

// #region imports
import type { AuditEvent, AuthorizationServer } from 'grantwell'
import { isPublished } from 'grantwell/core'
// #endregion imports
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthorizationServer } from 'grantwell'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
import { afterAll, expect, it } from 'vitest'
import { authorize, exchange, revoke, testServer, tokens, works } from '../../test/support.js'

const folder = mkdtempSync(join(tmpdir(), 'grantwell-docs-backups-'))
afterAll(() => rmSync(folder, { recursive: true }))

// #region end-all
/** Ends every grant of every application. Returns how many worked until now. */
async function endAllGrants(server: AuthorizationServer): Promise<number> {
  let ended = 0
  for (const state of ['approved', 'suspended'] as const) {
    let cursor: string | undefined
    do {
      const page = await server.applications.list({ state }, cursor === undefined ? {} : { cursor })
      for (const application of page.applications)
        if (isPublished(application)) ended += await server.grants.revokeApplication(application.clientId)
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  return ended
}
// #endregion end-all

// #region end-again
/** Ends the grants of which the audit trail says that something was revoked since a time, in seconds since the epoch. */
async function endAgain(server: AuthorizationServer, trail: readonly AuditEvent[], since: number): Promise<number> {
  let ended = 0
  for (const event of trail)
    if (event.type === 'revoked' && event.at >= since)
      if (await server.grants.revokeGrant(event.subject, event.grantId)) ended++
  return ended
}
// #endregion end-again

it('brings back what was revoked and used, until everything is ended', async () => {
  const START = 1_800_000_000
  const live = new Database(join(folder, 'live.db'))
  const before = await testServer({ store: sqliteStore(live, { clock: () => START }) })
  const pair = await tokens(before)
  const { code } = await authorize(before)
  const copy = join(folder, 'copy.db')
  live.prepare('VACUUM INTO ?').run(copy)

  expect((await revoke(before, pair.refresh_token)).status).toBe(200)
  expect(await works(before, pair.access_token)).toBe(false)
  expect((await exchange(before, code)).status).toBe(200)
  live.close()

  const database = new Database(copy)
  const store = sqliteStore(database, { clock: () => START })
  // The applications are in the copy: registering them again is refused.
  const restored = { ...before, ...(await serverOver(store, START)) }
  expect(await works(restored, pair.access_token)).toBe(true) // it was revoked
  expect((await exchange(restored, code)).status).toBe(200) // it was used

  expect(await endAgain(restored.server, before.events, START)).toBe(1)
  expect(await works(restored, pair.access_token)).toBe(false)

  expect(await endAllGrants(restored.server)).toBe(1)
  expect(await works(restored, pair.access_token)).toBe(false)
  expect(await endAllGrants(restored.server)).toBe(0)
  database.close()
})

/** A server over a store that has its applications already. */
async function serverOver(store: ReturnType<typeof sqliteStore>, start: number) {
  const server = createAuthorizationServer({
    issuer: 'https://git.example',
    store,
    clock: () => start,
    user: () => ({ subject: 'ada', name: 'Ada' }),
    signInUrl: () => '/sign-in',
  })
  return { server }
}

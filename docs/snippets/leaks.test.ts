/**
 * The code of the page "After a leak".
 * @module
 */

// #region imports
import type { AuthorizationServer } from 'grantwell'
import { parseCredential } from 'grantwell/core'
// #endregion imports
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthorizationServer } from 'grantwell'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
import { expect, it } from 'vitest'
import { refresh, revoke, START, testServer, tokens, WEB, works } from '../../test/support.js'

// #region secret
/** Replaces a client secret that leaked, and ends what was got with it. */
async function replaceSecret(server: AuthorizationServer, clientId: string): Promise<string> {
  const { clientSecret } = await server.applications.rotateSecret(clientId, { overlap: 0 })
  await server.grants.revokeApplication(clientId)
  return clientSecret // hand it to the application's owner; it is shown once
}
// #endregion secret

// #region token
/** Ends the grant of an access token that leaked, whatever application has it. */
async function endLeaked(server: AuthorizationServer, accessToken: string): Promise<boolean> {
  const found = await server.authenticate({ headers: { authorization: `Bearer ${accessToken}` } })
  return found.type === 'authenticated' && (await server.grants.revokeGrant(found.subject, found.grantId))
}
// #endregion token

it('replaces a client secret at once', async () => {
  const test = await testServer()
  const pair = await tokens(test)
  const clientSecret = await replaceSecret(test.server, WEB.clientId)
  expect(await works(test, pair.access_token)).toBe(false)
  expect((await refresh(test, pair.refresh_token)).body.error).toBe('invalid_client')
  const answer = await refresh(test, pair.refresh_token, {}, { clientId: WEB.clientId, clientSecret })
  expect(answer.body.error).toBe('invalid_grant')
})

it('ends the grant of a token', async () => {
  const test = await testServer()
  const pair = await tokens(test)
  expect(await endLeaked(test.server, pair.access_token)).toBe(true)
  expect(await works(test, pair.access_token)).toBe(false)
  expect((await refresh(test, pair.refresh_token)).body.error).toBe('invalid_grant')
  expect(await endLeaked(test.server, pair.access_token)).toBe(false)
})

it('finds the grant of any credential by its text', async () => {
  const test = await testServer()
  const { refresh_token: leaked } = await tokens(test)
  // #region find
  const credential = parseCredential(leaked)
  const grantId = credential?.grantId // look it up in your audit trail: the event has the subject
  // #endregion find
  const event = test.events.find((each) => 'grantId' in each && each.grantId === grantId)
  expect(event).toMatchObject({ subject: 'ada' })
  expect(await test.server.grants.revokeGrant('ada', String(grantId))).toBe(true)
  expect((await refresh(test, leaked)).body.error).toBe('invalid_grant')
})

it('stops an application at the next request', async () => {
  const test = await testServer()
  const pair = await tokens(test)
  const { server } = test
  const clientId = WEB.clientId
  // #region suspend
  await server.applications.suspend(clientId) // first: it stops at once
  const ended = await server.grants.revokeApplication(clientId) // then its grants, one by one
  // #endregion suspend
  expect(ended).toBe(1)
  await server.applications.reinstate(clientId)
  expect(await works(test, pair.access_token)).toBe(false)
})

it('keeps tokens, but no answer of a refresh that is asked for again, where the derivation key changes', async () => {
  const before = await testServer({ derivationKey: new Uint8Array(32).fill(1) })
  const first = await tokens(before)
  const second = await refresh(before, first.refresh_token)
  const server = createAuthorizationServer({
    issuer: 'https://git.example',
    store: before.store,
    clock: () => before.clock.now,
    user: () => undefined,
    signInUrl: () => '/sign-in',
    derivationKey: new Uint8Array(32).fill(2),
  })
  const after = { ...before, server }
  expect(await works(after, second.body.access_token)).toBe(true)
  expect((await refresh(after, first.refresh_token)).body.error).toBe('invalid_grant') // the same request again
  expect((await refresh(after, second.body.refresh_token)).status).toBe(200)
  expect((await revoke(after, second.body.refresh_token)).status).toBe(200)
})

it.each([
  { title: 'gives the pair that works now to whoever has the old refresh token', key: undefined, same: true },
  { title: 'gives nothing where there is a derivation key', key: new Uint8Array(32).fill(1), same: false },
])('a copy of the store $title', async ({ key, same }) => {
  const folder = mkdtempSync(join(tmpdir(), 'grantwell-docs-leaks-'))
  const live = new Database(join(folder, 'live.db'))
  const time = { now: START }
  const clock = () => time.now
  const derivation = key === undefined ? {} : { derivationKey: key }
  const test = await testServer({ store: sqliteStore(live, { clock }), clock, ...derivation })
  const first = await tokens(test)
  const second = await refresh(test, first.refresh_token)
  time.now += 3_600 // long after the grace period
  live.prepare('VACUUM INTO ?').run(join(folder, 'copy.db'))

  // The thief has the copy and the old refresh token, but not the key, and sets the clock back.
  const copy = new Database(join(folder, 'copy.db'))
  const thief = createAuthorizationServer({
    issuer: 'https://git.example',
    store: sqliteStore(copy, { clock: () => START + 10 }),
    clock: () => START + 10,
    user: () => undefined,
    signInUrl: () => '/sign-in',
  })
  const derived = await refresh({ ...test, server: thief }, first.refresh_token)
  expect(derived.body.access_token === second.body.access_token).toBe(same)
  copy.close()
  live.close()
  rmSync(folder, { recursive: true })
})

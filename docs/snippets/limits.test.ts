/**
 * The code of the page "Limits".
 * @module
 */

// #region imports
import type { AuthorizationServerOptions } from 'grantwell'
// #endregion imports
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNodeHandler } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { expect, it } from 'vitest'
import { authorize, exchange, NATIVE, post, testServer, tokens, works } from '../../test/support.js'

// #region options
const limits = {
  bodyLimit: 65_536, // bytes of a request's body
  grantLimit: 50, // live grants of one user to one application
  codeLifetime: 600, // seconds
  accessTokenLifetime: 28_800,
  refreshTokenLifetime: 15_552_000,
  gracePeriod: 300,
  consentLifetime: 600,
  deviceCodeLifetime: 600,
  devicePollingInterval: 5,
} satisfies Partial<AuthorizationServerOptions>
// #endregion options

// #region limiter
/** Lets each address ask for five codes a minute, in this process. Returns the seconds to wait. */
function createDeviceLimiter(now: () => number): NonNullable<AuthorizationServerOptions['deviceLimiter']> {
  const asked = new Map<string, { minute: number; count: number }>()
  return ({ clientId, address }) => {
    const minute = Math.floor(now() / 60)
    const who = address ?? clientId
    const before = asked.get(who)
    const count = before?.minute === minute ? before.count + 1 : 1
    if (asked.size > 10_000) asked.clear() // bounded, whoever asks
    asked.set(who, { minute, count })
    return count <= 5 ? 0 : (minute + 1) * 60 - now()
  }
}
// #endregion limiter

it('has these limits by default', async () => {
  const test = await testServer(limits)
  const first = await tokens(test)
  expect(first.expires_in).toBe(28_800)
  const web = http.createServer(createNodeHandler(test.server)).listen(0, '127.0.0.1')
  await new Promise((resolve) => web.once('listening', resolve))
  const { port } = web.address() as AddressInfo
  const body = new URLSearchParams({ code: 'a'.repeat(65_536) })
  const answer = await fetch(`http://127.0.0.1:${port}/oauth2/token`, { method: 'POST', body })
  expect([answer.status, await answer.json()]).toEqual([
    413,
    { error: 'invalid_request', error_description: 'The body is too large.' },
  ])
  await new Promise((resolve) => web.close(resolve))
})

it('ends the oldest grant beyond the limit', async () => {
  const test = await testServer({ grantLimit: 2 })
  const first = await tokens(test)
  await exchange(test, (await authorize(test)).code)
  expect(await works(test, first.access_token)).toBe(true)
  await exchange(test, (await authorize(test)).code)
  expect(await works(test, first.access_token)).toBe(false)
  expect(test.events).toContainEqual(expect.objectContaining({ type: 'revoked', what: 'grant', cause: 'limit' }))
})

it('says 429 where the host limits devices', async () => {
  const test = await testServer({ deviceLimiter: createDeviceLimiter(() => 1_800_000_030) })
  const ask = () => post(test.server, '/oauth2/device_authorization', { client_id: NATIVE.clientId })
  for (let index = 0; index < 5; index++) expect((await ask()).status).toBe(200)
  const sixth = await ask()
  expect([sixth.status, sixth.headers['Retry-After']]).toEqual([429, '30'])
})

it('refuses options out of range', async () => {
  const failing = (options: Partial<AuthorizationServerOptions>) =>
    testServer(options).then(String, (error: unknown) => String(error))
  const store = memoryStore()
  expect(await failing({ store, bodyLimit: 100 })).toContain(
    'the option bodyLimit must be a whole number of bytes from 1,024 to 16,777,216; got 100',
  )
  expect(await failing({ store, codeLifetime: 600_000 })).toContain(
    'the option codeLifetime must be whole seconds from 1 to 172800; got 600000',
  )
})

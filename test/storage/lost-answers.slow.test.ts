/**
 * Answers of the store that are lost while several servers do the same: each finds out by its record whether it was written, and no
 * server takes the record of another one for its own where both would count.
 * @module
 * @see RFC 6749, section 4.1.2; RFC 8628, section 5.1; draft-ietf-oauth-v2-http-mac-01, section 4.1
 */
import type { AuthorizationServerOptions, RecordStore } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { askForCodes, codesOf, decide, enter, openDevicePage, poll } from '../protocol/device-form.js'
import { MAC_OPTIONS, macTokens, signedParts, signedRequest, withSigner } from '../protocol/mac-client.js'
import type { TestServer } from '../support.js'
import { authorize, exchange } from '../support.js'
import type { Farm } from './farm.js'
import { farm, randomOf, slowly } from './farm.js'

/** Requests say in a header where they are from. */
const OPTIONS: Partial<AuthorizationServerOptions> = {
  ...MAC_OPTIONS,
  user: ({ headers }) => ({ subject: String(headers['x-user'] ?? 'ada') }),
  remoteAddress: ({ headers }) => (headers['x-address'] === undefined ? undefined : String(headers['x-address'])),
}

/** Does one thing at a server; returns whether it was let through. */
type Act = (test: TestServer, index: number) => Promise<boolean>

const WRONG = 'WDJB-MJHT'

/** Enters a wrong code; true if it was looked up. */
async function guess(test: TestServer, headers: Record<string, string> = {}): Promise<boolean> {
  return (await enter(test, await openDevicePage(test, '', headers), WRONG, {}, headers)).page.status === 400
}

/** Does the same thing so many times, one after the other. */
async function times(count: number, act: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index++) await act(index)
}

/** Everything that may happen once more, and then no more: what leads up to it, and what tries it. */
const ONCE_MORE: Record<string, (test: TestServer) => Promise<Act>> = {
  '[44] a guess of a user code, by its user': async (test) => {
    await times(9, () => guess(test))
    return (server) => guess(server)
  },
  '[44] a guess of a user code, by its address': async (test) => {
    const headers = (index: number) => ({ 'x-user': `user ${index}`, 'x-address': '192.0.2.1' })
    await times(49, (index) => guess(test, headers(index)))
    return (server, index) => guess(server, headers(100 + index))
  },
  '[44] a request for device codes': async (test) => {
    await times(999, () => askForCodes(test))
    return async (server) => (await askForCodes(server)).status === 200
  },
  '[15] an exchange of a code': async (test) => {
    const { code } = await authorize(test)
    return async (server) => (await exchange(server, code)).status === 200
  },
  '[43] a poll of an approved device': async (test) => {
    const codes = await codesOf(test)
    await decide(test, codes)
    return async (server) => (await poll(server, codes)).status === 200
  },
  '[30] a signed request': async (test) => {
    const { method, url, headers } = signedRequest(await macTokens(test), signedParts(test))
    return async ({ server }) =>
      (await server.authenticate({ method, url, headers: { ...headers } })).type === 'authenticated'
  },
}

/** Servers whose store loses answers of writes, once `state.lost` says which; what it loses may be done or not. */
async function losing(seed: number): Promise<Farm & { readonly state: { lost: (written: boolean) => boolean } }> {
  const random = randomOf(seed)
  const state = { lost: (_written: boolean) => false }
  const wrap = (store: RecordStore): RecordStore => ({
    ...store,
    write: async (...write) => {
      // Meanwhile others read as well.
      await new Promise((resolve) => setImmediate(resolve))
      const written = await store.write(...write)
      if (state.lost(written)) throw new Error('the answer was lost')
      return written
    },
  })
  const servers = await farm(3, random, OPTIONS, (store) => slowly(wrap(store), random))
  await withSigner(servers.any())
  return { ...servers, state }
}

describe('servers that do the same at once, where answers of the store are lost', () => {
  it.each(Object.entries(ONCE_MORE))('%s is let through once at most', async (_, prepare) => {
    const fates: Record<string, (written: boolean, random: (below: number) => number) => boolean> = {
      all: () => true,
      'those of writes that did not happen': (written) => !written,
      some: (_, random) => random(2) === 0,
    }
    const counted = new Set<number>()
    for (const [fate, lost] of Object.entries(fates)) {
      for (let seed = 0; seed < 10; seed++) {
        const servers = await losing(seed)
        const [first] = servers.servers
        if (first === undefined) expect.fail('no server')
        const act = await prepare(first)
        const random = randomOf(seed)
        servers.state.lost = (written) => lost(written, random)
        const through = await Promise.all(servers.servers.map(act))
        const count = through.filter(Boolean).length
        expect(count, `${fate}, seed ${seed}`).toBeLessThanOrEqual(1)
        counted.add(count)
      }
    }
    expect(counted).toContain(1)
  })
})

/**
 * A flood of bad requests, over each adapter: it leaves no record, and its memory is given back.
 * @module
 */
import { expect, it } from 'vitest'
import { authorizationUrl, basic, WEB } from '../support.js'
import { overFetch } from './bridge.js'
import { open, wire } from './http.js'
import { usedHeap } from './memory.js'
import { overNode } from './node-listener.js'
import { serve, walk } from './suite.js'

const TOTAL = 20_000

it.each([
  ['Node adapter', overNode],
  ['fetch adapter', overFetch],
])('[50] the %s gives back the memory of a flood of bad requests', async (title, listener) => {
  const platform = { title, listener, elsewhere: '', twoAuthorizations: { status: 400, error: 'invalid_request' } }
  const site = await serve(platform, { onEvent: () => {}, onError: () => {} })
  const { listening, test } = site

  async function flood(from: number, count: number): Promise<void> {
    for (let sent = 0; sent < count; ) {
      // A connection of its own for each thousand, cut off in the middle of one more request.
      const { socket, until } = await open(listening.port)
      const batches = Math.min(1000, count - sent) / 100
      for (let batch = 1; batch <= batches; batch++, sent += 100) {
        const requests = Array.from({ length: 100 }, (_, index) => badRequest(from + sent + index))
        socket.write(requests.join(''), 'latin1')
        await until('HTTP/1.1 ', batch * 100)
      }
      socket.write(badRequest(1).slice(0, -10))
      socket.destroy()
    }
  }

  try {
    await flood(0, 2_000)
    const [size, before] = [test.store.size, await usedHeap()]
    await flood(2_000, TOTAL)
    expect(test.store.size).toBe(size)
    // 200 bytes kept of each request would be over it.
    expect((await usedHeap()) - before).toBeLessThan(200 * TOTAL)
    await walk(site)
  } finally {
    await listening.close()
  }
})

/** Writes a request that is wrong in one of eleven ways, with texts that no other one has. */
function badRequest(index: number): string {
  const unique = `${index}-`.padEnd(40, 'x')
  const type = 'Content-Type: application/x-www-form-urlencoded'
  const stranger = `Authorization: ${basic({ clientId: unique, clientSecret: unique }).authorization}`
  const web = `Authorization: ${basic(WEB).authorization}`
  const kinds: readonly (readonly [line: string, headers: readonly string[], body: string])[] = [
    ['POST /oauth2/token', [type, stranger], `grant_type=authorization_code&code=${unique}`],
    ['POST /oauth2/token', [type, web], `grant_type=refresh_token&refresh_token=gwr_${unique.padEnd(80, 'y')}`],
    ['POST /oauth2/token', [type], `client_id=${unique}&${unique}=%zz`],
    ['POST /oauth2/token', [type, web], `${unique}=a&`.repeat(50)],
    ['POST /oauth2/token', [`Content-Type: ${unique}`], unique],
    ['POST /oauth2/revoke', [type, web], `token=${unique}`],
    [`PUT /.well-known/oauth-authorization-server?${unique}`, [`X-${unique}: ${unique}`], unique],
    [`GET /oauth2/auth?client_id=${unique}&state=${unique}`, [], ''],
    [`GET ${authorizationUrl({ state: unique })}`, ['Cookie: session=eve'], ''],
    [`GET /api?${unique}`, [`Authorization: Bearer ${unique}`], ''],
    [`GET /${unique}`, [], ''],
  ]
  const [line, headers, body] = kinds[index % kinds.length] ?? [`GET /${unique}`, [], '']
  return wire(line, headers, body, 'keep-alive')
}

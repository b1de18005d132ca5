/**
 * A host whose `Promise` is another than that of async functions: zone.js, which servers of Angular load, and Bluebird take the place
 * of the global one, and what an async function gives is then no instance of it.
 * @module
 * @see SECURITY statements 49 and 50
 */
import { createNodeGuard } from 'grantwell/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listen, sender } from '../adapters/http.js'
import { introspect, withApi } from '../protocol/resource-server.js'
import { authorize, call, exchange, laterServer, refresh, revoke, testServer, works } from '../support.js'

const Native = globalThis.Promise

beforeEach(() => {
  globalThis.Promise = class HostPromise<Value> extends Native<Value> {} as PromiseConstructor
})

afterEach(() => {
  globalThis.Promise = Native
})

describe.each([
  ['answers at once', testServer],
  ['answers later', laterServer],
])('a host with promises of its own, and a store that %s', (_how, makeServer) => {
  it('[49] issues, refreshes, introspects and revokes tokens', async () => {
    const test = await withApi(await makeServer())
    const { code } = await authorize(test)
    const { status, body } = await exchange(test, code)
    expect(status).toBe(200)
    const refreshed = await refresh(test, body.refresh_token)
    expect(refreshed.status).toBe(200)
    expect(await works(test, refreshed.body.access_token)).toBe(true)
    const { access_token } = refreshed.body
    expect(await introspect(test, access_token)).toMatchObject({ body: expect.stringContaining('"active":true') })
    expect(await call(test, access_token, 'repo-code:rw')).toMatchObject({ type: 'authenticated' })
    expect(await call(test, access_token, 'repo-delete:rw')).toMatchObject({ type: 'refused' })
    expect(await revoke(test, refreshed.body.refresh_token)).toMatchObject({ status: 200 })
    expect(await works(test, access_token)).toBe(false)
    expect(test.errors).toStrictEqual([])
  })

  it('[37] lets through by its guard on Node whom it should, and nobody else', async () => {
    const test = await makeServer()
    const { body } = await exchange(test, (await authorize(test)).code)
    const guard = createNodeGuard(test.server, { onError: (error) => test.errors.push(error) })
    const { port, close } = await listen(guard({ scope: 'repo-code:r' }, (_request, response) => response.end('in')))
    const ask = (token: string) => sender(port)({ path: '/', headers: { authorization: `Bearer ${token}` } })
    expect(await ask(body.access_token)).toMatchObject({ status: 200, body: 'in' })
    expect(await ask(body.refresh_token)).toMatchObject({ status: 401 })
    expect(test.errors).toStrictEqual([])
    await close()
  })
})

/**
 * The option `authorize`: the host refuses a permission, or makes it narrower.
 * @module
 */
import type { PermissionRequest } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { authorize, openConsent, post, testServer, tokens } from '../support.js'

describe('the host decides on a permission', () => {
  const scopes = ['repo-code:rw', 'account-profile:r']

  it('refuses: the application is told, and the user is not asked', async () => {
    const test = await testServer({ authorize: ({ user }) => user.subject !== 'ada' })
    await expect(authorize(test)).rejects.toThrow(/no consent page: 302 https:.*error=access_denied/)
    expect(test.events).toMatchObject([{ type: 'refused', reason: 'host_refused', clientId: 'web' }])
  })

  it('is asked before the user is, and again with what the user chose', async () => {
    const asked: PermissionRequest[] = []
    const test = await testServer({
      authorize: async (request) => {
        asked.push(request)
        return true
      },
    })
    await authorize(test, { scope: 'repo-code:r' })
    const request = {
      user: { subject: 'ada', name: 'Ada' },
      application: { clientId: 'web', name: 'Sample', type: 'confidential' },
      scopes: ['repo-code:r'],
    }
    expect(asked).toStrictEqual([request, { ...request, resources: { kind: 'all' } }])
  })

  it('makes scopes narrower, on the page and in the token', async () => {
    const test = await testServer({ authorize: () => ({ scopes: ['repo-code:r'] }) })
    const { page } = await openConsent(test, { scope: scopes.join(' ') })
    expect(page.body).not.toContain('Read and change')
    expect((await tokens(test, { scope: scopes.join(' ') })).scope).toBe('repo-code:r')
  })

  it('makes resources narrower, and the same form gets the same code', async () => {
    const test = await testServer({
      authorize: ({ resources }) => resources === undefined || { resources: ['b', 'a'] },
    })
    const { fields, headers } = await openConsent(test)
    const first = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    const second = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    expect(second.headers['Location']).toBe(first.headers['Location'])
    expect(test.events[0]).toMatchObject({ type: 'issued', resources: { kind: 'specified', ids: ['a', 'b'] } })
  })

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'allow'],
    ['a number', 0],
    ['a list', []],
    ['an empty object', {}],
    ['a Map', new Map([['scopes', []]])],
    ['a date', new Date(0)],
    ['an error', new Error('no')],
    ['another name', { scope: [] }],
    ['scopes that are no list', { scopes: 'repo-code:r' }],
    ['no scopes', { scopes: [] }],
    ['wider scopes', { scopes: ['repo-delete:rw'] }],
    ['unknown scopes', { scopes: ['nothing'] }],
  ])('admits nothing if it gives %s', async (_, verdict) => {
    const test = await testServer({ authorize: () => verdict as never }) // a mistake of a host
    await expect(authorize(test, { scope: 'repo-code:rw' })).rejects.toThrow(
      /no consent page: (500|302 .*error=server_error)/,
    )
    expect(test.errors).toMatchObject([{ code: 'ERR_CONFIGURATION', message: expect.stringContaining('authorize()') }])
  })

  it.each([
    ['too many', Array.from({ length: 257 }, (_, i) => `${i}`)],
    ['an empty one', ['']],
    ['half a character', ['\ud800']],
    ['a number', [7]],
  ])('admits no resources with %s', async (_, resources) => {
    const authorizeOf = (request: PermissionRequest) => request.resources === undefined || { resources }
    const test = await testServer({ authorize: authorizeOf as never }) // a mistake of a host
    const { response } = await authorize(test)
    expect(response.status).toBe(500)
    expect(test.errors).toMatchObject([{ code: 'ERR_CONFIGURATION' }])
  })
})

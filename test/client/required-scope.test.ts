/**
 * The scopes to log in with after an API refused a request.
 * @module
 * @see RFC 6750, section 3.1
 */
import { authorizedFetch, createTokenSource, discover, memoryTokenStore, requiredScope } from 'grantwell/client'
import { loginByBrowser } from 'grantwell/client/node'
import { createNodeGuard } from 'grantwell/node'
import { expect, it } from 'vitest'
import { NATIVE } from '../support.js'
import { always, consent, openService, TOKENS, visit } from './service.js'

const answer = (status: number, challenge?: string): Response =>
  new Response('', { status, headers: challenge === undefined ? {} : { 'www-authenticate': challenge } })

const INSUFFICIENT = 'Bearer error="insufficient_scope", scope="a:rw b"'

it.each<[string, Response, string | undefined, string | undefined]>([
  ['those of a 403, and those of the tokens before them', answer(403, INSUFFICIENT), 'c a:rw', 'c a:rw b'],
  ['those of a 403 alone, if it is not known what the tokens have', answer(403, INSUFFICIENT), undefined, 'a:rw b'],
  ['each of them once', answer(403, 'Bearer error=insufficient_scope, scope="b  b a"'), 'a a', 'a b'],
  ['those of any challenge', answer(403, `Basic realm="a", ${INSUFFICIENT}`), 'c', 'c a:rw b'],
  ['those of a 401 without an error', answer(401, 'Bearer scope="a"'), undefined, 'a'],
  [
    'those of a 401, also if the tokens have them',
    answer(401, 'Bearer error="invalid_token", scope="a"'),
    'a b',
    'a b',
  ],
  ['none if the tokens have all that a 403 names', answer(403, INSUFFICIENT), 'b c a:rw', undefined],
  ['none of a 403 for another reason', answer(403, 'Bearer error="other", scope="a"'), '', undefined],
  ['none of a 403 that names none', answer(403, 'Bearer error="insufficient_scope"'), '', undefined],
  ['none of a 403 with an empty scope', answer(403, 'Bearer error="insufficient_scope", scope=" "'), 'a', undefined],
  ['none with wrong characters', answer(403, 'Bearer error="insufficient_scope", scope="a\\"b"'), '', undefined],
  ['none without a challenge', answer(403), '', undefined],
  ['none of another answer', answer(400, INSUFFICIENT), '', undefined],
])('are %s', (_, response, scope, expected) => {
  expect(requiredScope(response, { ...TOKENS, ...(scope !== undefined && { scope }) })).toBe(expected)
})

it('lead to tokens that the API takes, at a real service, and after that are none', async () => {
  const service = await openService()
  try {
    const guard = createNodeGuard(service.test.server)
    const route = guard({ scope: 'repo-code:rw' }, (_, response) => void response.end('done'))
    always(service, '/api', (request, response) => {
      void route(request, response)
      return true
    })
    const clock = () => service.test.clock.now
    const client = await discover({ issuer: service.issuer, ...NATIVE, clock })
    const source = createTokenSource({ client, store: memoryTokenStore() })
    const logIn = async (scope: string) =>
      source.save(await loginByBrowser(client, { scope, openBrowser: async (url) => void visit(await consent(url)) }))
    const api = authorizedFetch(source)
    const call = () => api(`${service.issuer}/api`)

    const refused = await fetch(`${service.issuer}/api`)
    expect([refused.status, requiredScope(refused)]).toEqual([401, undefined])
    await logIn('account-profile:r')
    const before = service.paths.length
    const response = await call()
    expect(service.paths.slice(before)).toEqual(['/api'])
    const scope = requiredScope(response, await source.get()) ?? expect.fail('no scope')
    expect([response.status, scope]).toEqual([403, 'account-profile:r repo-code:rw'])
    await logIn(scope)
    expect(await (await call()).text()).toBe('done')
    expect(requiredScope(response, await source.get())).toBe(undefined)
  } finally {
    await service.close()
  }
})

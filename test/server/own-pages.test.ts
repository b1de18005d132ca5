/**
 * Pages of the host that fail: the host is told, and the user sees an error page, also where it is the error page that fails.
 * @module
 */
import type { AuthorizationServerOptions } from 'grantwell'
import { expect, it } from 'vitest'
import { authorizationUrl, send, testServer } from '../support.js'

const FAILURES: { readonly [what: string]: () => unknown } = {
  throws: () => {
    throw new Error('it failed')
  },
  rejects: () => Promise.reject(new Error('it failed')),
  'gives nothing': () => undefined,
  'is a promise of a number': () => Promise.resolve(7),
}

const URLS = {
  consent: authorizationUrl(),
  device: '/oauth2/device',
  authorizedApplications: '/oauth2/applications',
  error: authorizationUrl({ client_id: 'nobody' }),
} as const

const CASES = Object.keys(FAILURES).flatMap((what) =>
  (Object.keys(URLS) as (keyof typeof URLS)[]).map((name) => [name, what] as const),
) // its own keys

it.each(CASES)('the page %s that %s is told to the host, and the user sees an error page', async (name, what) => {
  for (const isErrorBroken of [false, true]) {
    const told: unknown[] = []
    const broken = isErrorBroken ? { [name]: FAILURES[what], error: FAILURES[what] } : { [name]: FAILURES[what] }
    // On purpose, of wrong types.
    const options = { pages: broken, onError: (error: unknown) => told.push(error) } as unknown
    const { server } = await testServer(options as Partial<AuthorizationServerOptions>)
    const { status, body } = await send(server, { url: URLS[name] })
    expect(status).toBe(name === 'error' ? 400 : 500)
    expect(body).toContain(name === 'error' ? 'This link cannot be accessed' : 'The service is busy')
    expect(body).not.toContain('it failed')
    expect(told).toHaveLength(isErrorBroken && name !== 'error' ? 2 : 1)
    const message = /throws|rejects/.test(what) ? 'it failed' : `pages.${name}() must give a string of HTML`
    expect(String(told[0])).toContain(message)
  }
})

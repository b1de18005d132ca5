/**
 * Pages and answers show nothing that other code has added to the prototype of all objects.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { codesOf, enterCode, openDevicePage } from '../protocol/device-form.js'
import { authorizationUrl, authorize, openConsent, post, send, testServer } from '../support.js'

/** Optional properties of what the pages and answers are made of. */
const OPTIONAL = ['state', 'codeChallenge', 'redirectHost', 'userCode', 'fault', 'description', 'logo', 'notShown']
const MORE = [
  'link',
  'next',
  'more',
  'isIncomplete',
  'older',
  'items',
  'complete',
  'checked',
  'suspended',
  'selected',
  'detail',
  'choice',
  'choiceForm',
  'notice',
  'application',
  'website',
]
const VALUES = ['x', true, 1, { href: '/x', text: 'x', count: 1, scopes: [], resources: [] }]

/** Runs with a property on the prototype of all objects. */
async function polluted<Result>(name: string, value: unknown, run: () => Promise<Result>): Promise<Result> {
  Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
  try {
    return await run()
  } finally {
    Reflect.deleteProperty(Object.prototype, name)
  }
}

/** Everything that a user is shown on the way to two grants, without what is random. */
async function shown(around: <Result>(run: () => Promise<Result>) => Promise<Result>): Promise<readonly string[]> {
  const test = await testServer()
  const codes = await codesOf(test)
  await authorize(test)
  await send(test.server, { url: '/oauth2/applications' })
  const answers = await around(async () => {
    const consent = await openConsent(test)
    const form = { ...consent.fields, decision: 'agree' }
    const request = { ...form, resource_scope: 'x' }
    return [
      consent.page,
      await post(test.server, '/oauth2/auth', request, consent.headers),
      await post(test.server, '/oauth2/auth', form, consent.headers),
      await send(test.server, { url: authorizationUrl({ scope: 'nothing' }) }),
      await send(test.server, { url: authorizationUrl({ client_id: 'nobody' }) }),
      await send(test.server, { url: '/oauth2/applications' }),
      (await openDevicePage(test)).page,
      (await enterCode(test, codes.user_code)).page,
      (await enterCode(test, 'nonsense')).page,
    ]
  })
  const withoutRandom = (text: string): string => text.replace(/[\w-]{22,}|[B-Z]{4}-?[B-Z]{4}(?![a-z])/g, '')
  return answers.map(({ status, headers, body }) => withoutRandom(`${status} ${headers['Location'] ?? ''} ${body}`))
}

describe('a property of the prototype of all objects', () => {
  it.each([...OPTIONAL, ...MORE])('%s is on no page and in no answer', async (name) => {
    const expected = await shown((run) => run())
    expect(expected[0]).toContain('You will return to')
    for (const value of VALUES) expect(await shown((run) => polluted(name, value, run))).toStrictEqual(expected)
  })
})

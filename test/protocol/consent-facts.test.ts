/**
 * The facts by which a user decides: the reasons of the application, what is new, and who has checked it.
 * @module
 * @see Specification, sections 2.1 and 4.1
 */
import { describe, expect, it } from 'vitest'
import { attribute, elementsOf, textOf } from '../pages/tree.js'
import type { TestServer } from '../support.js'
import { authorize, NATIVE_CALLBACK, openConsent, registration, testServer } from '../support.js'
import { PKCE } from './consent-form.js'
import { codesOf, decide, enterCode } from './device-form.js'
import { NATIVE_CLIENT, openServer, parametersOf, register } from './registration.js'

const REASONED = { clientId: 'reasoned', clientSecret: 'a-secret-of-the-application-with-reasons' }

/** A server with an application that gives these reasons. */
async function withReasons(changes: Parameters<typeof registration>[0]): Promise<TestServer> {
  const test = await testServer()
  await test.server.applications.register(registration(changes), REASONED)
  return test
}

function classesIn(body: string, name: string): readonly string[] {
  return elementsOf(body)
    .filter((node) => attribute(node, 'class') === name)
    .map(textOf)
}

const ATTRIBUTION = 'The application says why it asks for each, in its own words:'

describe('the reasons of an application', () => {
  const scopes = [{ scope: 'repo-code:rw', reason: 'To push <b>\nwhat you ask for' }, 'account-profile:r']

  it('are shown under their scopes, as text, in the words of the application', async () => {
    const test = await withReasons({ scopes })
    const { page } = await openConsent(test, { client_id: 'reasoned' })
    expect(classesIn(page.body, 'reason')).toStrictEqual(['To push <b> what you ask for'])
    expect(page.body).toContain(ATTRIBUTION)
  })

  it('go with a scope that a given one includes', async () => {
    const test = await withReasons({ scopes })
    const { page } = await openConsent(test, { client_id: 'reasoned', scope: 'repo-code:r' })
    expect(classesIn(page.body, 'reason')).toHaveLength(1)
  })

  it('are nowhere where there are none, nor who gave them', async () => {
    const test = await withReasons({ scopes })
    for (const query of [{ client_id: 'reasoned', scope: 'account-profile:r' }, { client_id: 'web' }]) {
      const { page } = await openConsent(test, query)
      expect(classesIn(page.body, 'reason')).toStrictEqual([])
      expect(page.body).not.toContain(ATTRIBUTION)
    }
  })
})

describe('what is new', () => {
  /** The scopes that a page marks as new. */
  const newIn = (body: string): readonly string[] =>
    elementsOf(body)
      .filter((node) => node.nodeName === 'li' && node.childNodes?.some((each) => attribute(each, 'class') === 'new'))
      .map((node) => textOf(node).trim())

  /** What a page says of an earlier permission. */
  const beforeIn = (body: string): string | undefined =>
    elementsOf(body)
      .filter((node) => node.nodeName === 'p')
      .map(textOf)
      .find((text) => text.startsWith('You permitted this application something on '))

  it('is not marked the first time, nor after every permission has ended', async () => {
    const test = await testServer()
    const first = await openConsent(test)
    expect([newIn(first.page.body), beforeIn(first.page.body)]).toStrictEqual([[], undefined])
    await authorize(test, { scope: 'repo-code:r' })
    await test.server.grants.revokeAll('ada')
    const again = await openConsent(test)
    expect([newIn(again.page.body), beforeIn(again.page.body)]).toStrictEqual([[], undefined])
  })

  it('is what no live grant to this application has', async () => {
    const test = await testServer()
    await authorize(test, { scope: 'repo-code:r' })
    const { page } = await openConsent(test)
    expect(newIn(page.body)).toStrictEqual(['Repository code through Git commands New', 'User profile New'])
    expect(beforeIn(page.body)).toMatch(
      /^You permitted this application something on \w+ \d+, \d{4}\. New is marked\.$/,
    )
    const same = await openConsent(test, { scope: 'repo-code:r' })
    expect(newIn(same.page.body)).toStrictEqual([])
    expect(beforeIn(same.page.body)).toMatch(/ Nothing of this is new\.$/)
    const native = await openConsent(test, { client_id: 'native', redirect_uri: NATIVE_CALLBACK, ...PKCE })
    expect(beforeIn(native.page.body)).toBeUndefined()
  })

  it('is marked on a device, too, and what a device was permitted is not new', async () => {
    const test = await testServer()
    await decide(test, await codesOf(test, { scope: 'repo-code:r' }))
    const { page } = await enterCode(test, (await codesOf(test)).user_code)
    expect(newIn(page.body)).toHaveLength(2)
    expect(newIn((await openConsent(test, { scope: 'repo-code:r' })).page.body)).toStrictEqual([])
  })
})

describe('who has checked an application', () => {
  const checkedIn = (body: string): readonly string[] => classesIn(body, 'checked')

  it('are the people who run the service, by the name of the service where it has one', async () => {
    const plain = await openConsent(await testServer())
    expect(checkedIn(plain.page.body)[0]).toMatch(/^Checked by the people who run this service on \w+ \d+, \d{4}$/)
    const named = await openConsent(await testServer({ appearance: { name: '<Forge>' } }))
    expect(checkedIn(named.page.body)[0]).toMatch(/^Checked by <Forge> on /)
  })

  it('is nobody where the policy of the host approved it, and it was only suspended and reinstated since', async () => {
    const test = await openServer()
    const { client_id } = await register(test, NATIVE_CLIENT)
    const page = async () => (await openConsent(test, parametersOf(client_id, 'http://127.0.0.1/callback'))).page.body
    expect(checkedIn(await page())).toStrictEqual([])
    await test.server.applications.suspend(client_id)
    await test.server.applications.reinstate(client_id)
    expect(checkedIn(await page())).toStrictEqual([])
  })
})

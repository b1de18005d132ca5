/**
 * The facts by which a user decides: the reasons of the application, what is new, and who has checked it.
 * @module
 * @see Specification, sections 2.1 and 4.1
 */
import { describe, expect, it } from 'vitest'
import { attribute, elementsOf, textOf } from '../pages/tree.js'
import type { TestServer } from '../support.js'
import { openConsent, registration, testServer } from '../support.js'

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

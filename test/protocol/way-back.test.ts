/**
 * The link back to the application, on the pages on which a user ends up elsewhere than there.
 * @module
 */
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../support.js'
import { authorizationUrl, openConsent, post, registration, send, testServer } from '../support.js'
import { codesOf, DEVICE_PATH, decideOn, enterCode } from './device-form.js'
import { openServer, parametersOf, register } from './registration.js'

const BACK = '<a href="https://app.example/" rel="noreferrer noopener">Back to <bdi>Sample</bdi></a>'
const WRONG_LINK = { redirect_uri: 'https://evil.example/callback' }

function wayBackIn({ body }: { readonly body: string }): string | undefined {
  return /<a [^>]*>Back to .*?<\/a>/.exec(body)?.[0]
}

/** Sends a consent form a second time, with the other decision. */
async function sentBefore(test: TestServer, parameters: Record<string, string | undefined> = {}) {
  const { fields, headers } = await openConsent(test, parameters)
  await post(test.server, '/oauth2/auth', { ...fields, resource_scope: 'all', decision: 'agree' }, headers)
  return post(test.server, '/oauth2/auth', { ...fields, decision: 'refuse' }, headers)
}

describe('the page of an error leads back to the registered website', () => {
  it('for a link with a redirect URI that is not registered, whose address is nowhere on the page', async () => {
    const test = await testServer()
    const response = await send(test.server, { url: authorizationUrl(WRONG_LINK) })
    expect([response.status, wayBackIn(response)]).toStrictEqual([400, BACK])
    expect(response.body).not.toContain('evil.example')
  })

  it('for a wrong parameter while nobody is signed in', async () => {
    const test = await testServer()
    test.session.user = undefined
    const response = await send(test.server, { url: authorizationUrl({ scope: 'nothing' }) })
    expect([response.status, wayBackIn(response)]).toStrictEqual([400, BACK])
  })

  it('for a consent form that was sent before, is too old, or was changed', async () => {
    const test = await testServer()
    const again = await sentBefore(test)
    const { fields, headers } = await openConsent(test)
    const changed = await post(test.server, '/oauth2/auth', { ...fields, consent: 'x', decision: 'agree' }, headers)
    const undecided = await post(test.server, '/oauth2/auth', { ...fields, decision: 'x' }, headers)
    test.clock.now += 86_400
    const form = { ...fields, resource_scope: 'all', decision: 'agree' }
    const old = await post(test.server, '/oauth2/auth', form, headers)
    for (const response of [again, changed, undecided, old]) {
      expect(response.body).toContain('This form was sent before')
      expect([response.status, wayBackIn(response)]).toStrictEqual([400, BACK])
    }
  })

  it('for a form of a device that was changed', async () => {
    const test = await testServer()
    const opened = await enterCode(test, (await codesOf(test)).user_code)
    const response = await decideOn(test, opened, 'agree', {
      consent: opened.fields['consent']?.replace(/.$/, '') ?? '',
    })
    expect([response.status, wayBackIn(response)]).toStrictEqual([400, BACK])
  })
})

it.each(['agree', 'refuse'] as const)('the result of a device leads back, after: %s', async (decision) => {
  const test = await testServer()
  const opened = await enterCode(test, (await codesOf(test)).user_code)
  const first = await decideOn(test, opened, decision)
  expect([first.status, wayBackIn(first)]).toStrictEqual([200, BACK])
  // The application may be stopped before the form comes again.
  await test.server.applications.suspend('web')
  const second = await decideOn(test, opened, decision)
  expect([second.status, wayBackIn(second)]).toStrictEqual([200, undefined])
})

describe('nothing leads back', () => {
  it('to an application that is unknown, waits for approval, or was stopped', async () => {
    const test = await testServer()
    const scopes = [{ scope: 'repo-code:rw', reason: 'To push what was built' }]
    const by = { applicant: 'bob' }
    const waiting = await test.server.applications.submit({ ...registration({ name: 'Waiting' }), scopes }, by)
    await test.server.applications.suspend('web')
    for (const client_id of ['nobody', waiting.id, 'web']) {
      const response = await send(test.server, { url: authorizationUrl({ ...WRONG_LINK, client_id }) })
      expect([client_id, response.status, wayBackIn(response)]).toStrictEqual([client_id, 400, undefined])
    }
  })

  it('to one that only a policy approved, even if administrators stopped and reinstated it', async () => {
    const test = await openServer()
    const client = await register(test, { client_uri: 'https://stranger.example', client_name: 'Your bank' })
    const wrong = authorizationUrl(parametersOf(client.client_id, 'https://evil.example/'))
    const sent = () => sentBefore(test, parametersOf(client.client_id, 'http://127.0.0.1/callback'))
    for (const response of [await send(test.server, { url: wrong }), await sent()]) {
      expect([response.status, wayBackIn(response)]).toStrictEqual([400, undefined])
      expect(response.body).not.toMatch(/stranger|Your bank/)
    }
    await test.server.applications.suspend(client.client_id)
    await test.server.applications.reinstate(client.client_id)
    expect(wayBackIn(await send(test.server, { url: wrong }))).toBeUndefined()
  })

  it('where the address names another website: it comes from the registration alone', async () => {
    const test = await testServer()
    const url = `${authorizationUrl(WRONG_LINK)}&website=https%3A%2F%2Fevil.example&client_uri=https%3A%2F%2Fevil.example`
    expect((await send(test.server, { url })).body).not.toContain('evil.example')
    const device = await send(test.server, { url: `${DEVICE_PATH}?website=https%3A%2F%2Fevil.example` })
    expect(wayBackIn(device)).toBeUndefined()
  })
})

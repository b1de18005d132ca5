/**
 * The functions of the host, where they fail: a page or an error without anything of it, and the host is told.
 * @module
 * @see SECURITY statements 49, 50 and 52
 */
import type { AuthorizationServerOptions, User } from 'grantwell'
import { describe, expect, it } from 'vitest'
import {
  answeredTo,
  authorizationUrl,
  authorize,
  exchange,
  openConsent,
  post,
  START,
  send,
  testServer,
  tokens,
  WEB_CALLBACK,
} from '../support.js'
import { answer, BUSY, busyPage, grantsOf, inaccessible, page, redirect, tokenError, watchedServer } from './helpers.js'

class HostFailure extends Error {
  constructor() {
    super('session store at redis://:hunter2@10.0.0.7 is gone')
  }
}

const fail = (): never => {
  throw new HostFailure()
}
const reject = (): Promise<never> => Promise.reject(new HostFailure())

/** The event of a failure of the host. */
const HOST_FAILED = {
  type: 'refused',
  at: START,
  endpoint: 'authorization',
  error: 'server_error',
  reason: 'host_failed',
}

describe('[52] a function of the host that fails', () => {
  it.each([
    ['user() throws', { user: fail }],
    ['user() rejects', { user: reject }],
    ['resources() throws', { resources: fail }],
    ['resources() rejects', { resources: reject }],
    ['signInUrl() throws', { user: () => undefined, signInUrl: fail }],
    ['pages.consent() throws', { pages: { consent: fail } }],
    ['pages.consent() rejects', { pages: { consent: reject } }],
  ] as [string, Partial<AuthorizationServerOptions>][])(
    '[52] %s: a page with 500, nothing of it, and onError gets it',
    async (_what, options) => {
      const test = await testServer(options)
      for (const method of ['GET', 'HEAD']) {
        const response = await send(test.server, { method, url: authorizationUrl({ state: 's' }) })
        expect(response).toStrictEqual(answeredTo(method, busyPage(500)))
        expect(test.errors.splice(0)).toStrictEqual([new HostFailure()])
        expect(test.events.splice(0)).toStrictEqual([HOST_FAILED])
      }
    },
  )

  it('[52] the same where the form is sent, and the form is good afterwards', async () => {
    let failing = false
    const test = await testServer({
      user: () => (failing ? fail() : { subject: 'ada' }),
      resources: () => (failing ? fail() : [{ id: 'a' }]),
    })
    const { fields, headers } = await openConsent(test)
    const form = { ...fields, decision: 'agree', resource_scope: 'specified', resource: 'a' }
    failing = true
    expect(await post(test.server, '/oauth2/auth', form, headers)).toStrictEqual(busyPage(500))
    expect(await grantsOf(test.store)).toStrictEqual([])
    failing = false
    expect((await post(test.server, '/oauth2/auth', form, headers)).status).toBe(302)
  })

  it.each([
    ['an empty subject', { subject: '' }],
    ['no subject', {}],
    ['a subject that is a number', { subject: 7 }],
    ['a subject that is null', { subject: null }],
    ['a string', 'ada'],
  ])('[52] user() gives %s: a page with 500, and no grant could ever be nobody’s', async (_what, user) => {
    const test = await testServer({ user: () => user as unknown as User }) // what a program without types could do
    expect(await send(test.server, { url: authorizationUrl() })).toStrictEqual(busyPage(500))
    expect(test.errors).toHaveLength(1)
    const message = expect.stringMatching(/^grantwell: user\(\) must give \{ subject, name \}.+; got /)
    expect(test.errors[0]).toMatchObject({ name: 'GrantwellError', code: 'ERR_CONFIGURATION', message })
    expect(test.events).toStrictEqual([HOST_FAILED])
  })

  it.each([
    ['undefined', undefined],
    ['an empty string', ''],
    ['a second header', '/sign-in\r\nSet-Cookie: a=b'],
    ['a space', '/sign in'],
    ['a character that no header has', '/\u{1f511}'],
  ])('[52] signInUrl() gives %s: a page with 500', async (_what, url) => {
    const signInUrl = () => url as string // what a program without types could do
    const test = await testServer({ user: () => undefined, signInUrl })
    expect(await send(test.server, { url: authorizationUrl() })).toStrictEqual(busyPage(500))
    const message = expect.stringMatching(/^grantwell: signInUrl\(\) must give a path or URL .+; got /)
    expect(test.errors).toMatchObject([{ name: 'GrantwellError', code: 'ERR_CONFIGURATION', message }])
  })

  it('signInUrl() may give a path or a URL', async () => {
    for (const url of ['/sign-in', 'https://accounts.example/sign-in?a=b#c']) {
      const test = await testServer({ user: () => undefined, signInUrl: () => url })
      expect(await send(test.server, { url: authorizationUrl() })).toStrictEqual(redirect(url))
    }
  })

  it('[52] pages.error() fails: the default page stands in for it, and onError gets what it threw', async () => {
    const test = await testServer({ pages: { error: fail } })
    expect(await send(test.server, { url: '/oauth2/auth' })).toStrictEqual(inaccessible())
    expect(test.errors).toStrictEqual([new HostFailure()])
    const both = await testServer({ pages: { error: fail, consent: fail } })
    expect(await send(both.server, { url: authorizationUrl() })).toStrictEqual(busyPage(500))
    expect(both.errors).toStrictEqual([new HostFailure(), new HostFailure()])
  })

  it('[52] pages.error() rejects: the same', async () => {
    const test = await testServer({ pages: { error: reject } })
    expect(await send(test.server, { url: '/oauth2/auth' })).toStrictEqual(inaccessible())
    expect(test.errors).toStrictEqual([new HostFailure()])
  })

  it('a page may come by a promise, which is awaited: it is sent under the same headers', async () => {
    const later = async () => '<p>later</p>'
    const test = await testServer({
      pages: { consent: later, error: later, device: later, authorizedApplications: later },
    })
    const faulty = await send(test.server, { url: '/oauth2/auth' })
    expect(faulty).toStrictEqual(page(400, '<p>later</p>'))
    for (const url of [authorizationUrl(), '/oauth2/device', '/oauth2/applications']) {
      const response = await send(test.server, { url })
      const cookie = { 'Set-Cookie': response.headers['Set-Cookie'] ?? '' }
      const target = url === authorizationUrl() ? "'self' https:" : "'self'"
      expect(response).toStrictEqual(page(200, '<p>later</p>', target, cookie))
    }
    expect(test.errors).toStrictEqual([])
  })

  it('[52] pages.error() changes its model before it fails: the default page stands in for it all the same', async () => {
    const error = ({ model }: { readonly model: object }): string => {
      Object.assign(model, { title: undefined, message: undefined, stylesheet: undefined, link: undefined })
      return fail()
    }
    const test = await testServer({ pages: { error } })
    expect(await send(test.server, { url: '/oauth2/auth' })).toStrictEqual(inaccessible())
    test.session.user = undefined
    const { body } = await post(test.server, '/oauth2/applications', {})
    expect(body).toContain('You were signed out')
  })

  it('[52] a clock or an entropy source that fails: 500 and no more, at every endpoint', async () => {
    const serverError = tokenError(500, 'server_error', 'The service failed.')
    for (const broken of ['clock', 'entropy'] as const) {
      let failing = false
      const options = {
        clock: () => (failing && broken === 'clock' ? fail() : START),
        entropy: (length: number) =>
          failing && broken === 'entropy' ? fail() : crypto.getRandomValues(new Uint8Array(length)),
      }
      const test = await watchedServer(options)
      const { code } = await authorize(test)
      const { fields, headers } = await openConsent(test)
      failing = true
      expect((await exchange(test, code)).response).toStrictEqual(serverError)
      const form = { ...fields, decision: 'agree' }
      expect((await post(test.server, '/oauth2/auth', form, headers)).status).toBe(500)
      const { status: notAllowed } = await send(test.server, { method: 'PUT', url: '/oauth2/token' })
      expect(notAllowed).toBe(broken === 'clock' ? 500 : 405)
      expect(test.errors.length).toBeGreaterThan(0)
      expect(test.errors.every((error) => error instanceof HostFailure)).toBe(true)
      failing = false
      expect((await exchange(test, code)).status).toBe(200)
      const { status } = await post(test.server, '/oauth2/auth', form, headers)
      expect(status).toBe(302)
    }
  })

  it('[52] a store that gives back what is no answer has failed: 503, and onError is told what it gave', async () => {
    const test = await watchedServer()
    await tokens(test)
    // What an engine without types could do.
    test.instead.read = (() => undefined) as unknown as typeof test.store.read
    expect((await exchange(test, 'x')).response).toStrictEqual(BUSY)
    expect(await send(test.server, { url: authorizationUrl() })).toStrictEqual(busyPage(503))
    const message = expect.stringMatching(/^grantwell: store\.read\(\) must give a list of .+; got undefined$/)
    expect(test.errors).toMatchObject([
      { code: 'ERR_CONFIGURATION', message },
      { code: 'ERR_CONFIGURATION', message },
    ])
  })

  it('a user who changes between two requests is two users', async () => {
    const test = await testServer()
    const { response, code } = await authorize(test)
    expect(response).toStrictEqual(answer(WEB_CALLBACK, { code }))
    test.session.user = { subject: 'eve' }
    await authorize(test)
    expect(await grantsOf(test.store, 'eve')).toHaveLength(1)
    expect(await grantsOf(test.store, 'ada')).toHaveLength(1)
  })
})

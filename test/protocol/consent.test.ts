/**
 * The consent page and the answer to its form.
 * @module
 * @see Specification, section 4.1; RFC 6749, sections 4.1.2 and 10.12; RFC 9700, sections 4.7, 4.12 and 4.16
 */

import { createAuthorizationServer, scopeCatalogue } from 'grantwell'
import type { Grant } from 'grantwell/core'
import type { ConsentPageModel, PageInput } from 'grantwell/pages'
import { html, renderHtml } from 'grantwell/pages'
import { describe, expect, it } from 'vitest'
import { consentPage } from '../pages/english.js'
import { answer, grantsOf, inaccessible, page, redirect, watchedServer } from '../server/helpers.js'
import {
  authorizationUrl,
  authorize,
  exchange,
  hiddenFields,
  openConsent,
  registration,
  START,
  send,
  testServer,
  WEB,
  WEB_CALLBACK,
} from '../support.js'
import type { Form } from './consent-form.js'
import { expectRefused, HOST, ITEMS, model, PKCE, submit, withItems } from './consent-form.js'

describe('4.1 the consent page', () => {
  it('[12] is sent whole: 200, its headers, the cookie of the browser, and the page', async () => {
    const test = await testServer()
    const response = await send(test.server, { url: authorizationUrl({ state: 's' }) })
    const fields = hiddenFields(response.body)
    const cookie = response.headers['Set-Cookie'] ?? ''
    expect(cookie).toMatch(/^__Host-grantwell=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
    expect(fields['consent']).toMatch(new RegExp(`^${START + 600}\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}$`))
    expect(fields).toStrictEqual({
      request: `response_type=code&client_id=web&redirect_uri=${encodeURIComponent(WEB_CALLBACK)}&state=s`,
      consent: fields['consent'],
    })
    expect(response).toStrictEqual(
      page(200, consentPage(model(fields, response.body)), "'self' https:", { 'Set-Cookie': cookie }),
    )
    expect(test.events).toStrictEqual([])
  })

  it('gives no second cookie to a browser that has one, beside other cookies', async () => {
    const test = await testServer()
    const { headers } = await openConsent(test)
    const cookie = `a=b; ${headers.cookie};c=d`
    const response = await send(test.server, { url: authorizationUrl(), headers: { cookie } })
    expect(response).toStrictEqual(page(200, response.body, "'self' https:"))
    const form = { ...hiddenFields(response.body), decision: 'agree', resource_scope: 'all' }
    expect((await submit(test, form, { cookie })).status).toBe(302)
  })

  it.each([
    ['too short', '__Host-grantwell=AAAA'],
    ['not base64url', `__Host-grantwell=${'*'.repeat(43)}`],
    ['of another name', `grantwell=${'A'.repeat(43)}`],
    ['there twice', `__Host-grantwell=${'A'.repeat(43)}; __Host-grantwell=${'A'.repeat(43)}`],
    ['empty', '__Host-grantwell='],
  ])('gives a new cookie where the one that came is %s', async (_how, cookie) => {
    const test = await testServer()
    const { headers } = await send(test.server, { url: authorizationUrl(), headers: { cookie } })
    expect(headers['Set-Cookie']).toMatch(/^__Host-grantwell=[A-Za-z0-9_-]{43};/)
  })

  it('gives a cookie that http can carry where the issuer is http on loopback', async () => {
    const test = await testServer({ issuer: 'http://127.0.0.1:8080' })
    const { headers } = await send(test.server, { url: authorizationUrl() })
    expect(headers['Set-Cookie']).toMatch(/^grantwell=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
    const { response, code } = await authorize(test)
    expect(response).toStrictEqual(answer(WEB_CALLBACK, { code }, 'http://127.0.0.1:8080'))
  })

  it.each([
    ['a loopback address', 'http://127.0.0.1:51004/callback', "'self' http: https:", '127.0.0.1:51004'],
    ['an IPv6 loopback address', 'http://[::1]:51004/callback', "'self' http: https:", '[::1]:51004'],
    ['a private-use scheme', 'com.example.app:/callback', "'self' com.example.app: https:", 'com.example.app:'],
    [
      'a private-use scheme with what looks like a host',
      'com.example.app://accounts.bank.example/callback',
      "'self' com.example.app: https:",
      'com.example.app:',
    ],
  ])('[12] lets its form lead to %s, and says where that is', async (_what, redirectUri, formAction, host) => {
    const test = await testServer()
    const registered = registration({ type: 'public', redirectUris: [redirectUri] })
    await test.server.applications.register(registered, { clientId: 'app' })
    const request = { client_id: 'app', redirect_uri: redirectUri, ...PKCE }
    const response = await send(test.server, { url: authorizationUrl(request) })
    const cookie = { 'Set-Cookie': response.headers['Set-Cookie'] ?? '' }
    const shown = model(hiddenFields(response.body), response.body, { redirectHost: host })
    expect(response).toStrictEqual(page(200, consentPage(shown), formAction, cookie))
    const { code, response: agreed } = await authorize(test, request)
    expect(agreed).toStrictEqual(answer(redirectUri, { code }))
  })

  it('leaves out what the registration does not have', async () => {
    const test = await testServer()
    await test.server.applications.register(registration({ description: '' }), { ...WEB, clientId: 'plain' })
    const response = await send(test.server, { url: authorizationUrl({ client_id: 'plain' }) })
    const { description: _, ...application } = model({}, response.body).application
    expect(response.body).toBe(consentPage(model(hiddenFields(response.body), response.body, { application })))
  })

  it('[13] a scope that the catalogue of the service lost is neither shown nor granted', async () => {
    const before = await testServer()
    const repoCode = { name: 'repo-code', permissions: ['r', 'rw'], description: 'Code' } as const
    const options = { store: before.store, scopes: scopeCatalogue([repoCode]) }
    const server = createAuthorizationServer({ ...HOST, ...options, user: () => before.session.user })
    const test = { ...before, server }
    const { fields, headers, page: shown } = await openConsent(test)
    const scopes = [{ scope: 'repo-code:rw', permission: 'rw', description: 'Code' }] as const
    expect(shown.body).toBe(consentPage(model(fields, shown.body, { scopes })))
    const agreed = await submit(test, { ...fields, decision: 'agree' }, headers)
    const code = new URL(agreed.headers['Location'] ?? '').searchParams.get('code') ?? ''
    expect((await exchange(test, code)).body.scope).toBe('repo-code:rw')
    // What it lost can be asked for no more, and an application that has lost all of its scopes can ask for nothing.
    const invalid = (description: string) => ({ error: 'invalid_scope', error_description: description })
    const url = authorizationUrl({ scope: 'repo-code:rw account-profile:r' })
    expect(await send(server, { url })).toStrictEqual(answer(WEB_CALLBACK, invalid('Scope 2 of 2 is unknown.')))
    const other = createAuthorizationServer({
      ...HOST,
      ...options,
      scopes: scopeCatalogue([]),
      user: () => before.session.user,
    })
    expect(await send(other, { url: authorizationUrl() })).toStrictEqual(
      answer(WEB_CALLBACK, invalid('This application is registered for no scope that the service has.')),
    )
  })

  it('[12] escapes every value of the request, the registration and the host', async () => {
    const test = await testServer({ resources: () => ITEMS })
    const name = '<script>"\'&'
    test.session.user = { subject: 'eve', name: '</p><img src=x>' }
    await test.server.applications.register(registration({ name, description: '</blockquote><a>' }), {
      ...WEB,
      clientId: '"><x>',
    })
    const { body } = await send(test.server, { url: authorizationUrl({ client_id: '"><x>', state: '"><y>' }) })
    for (const raw of ['<script>', '<img src=x>', '</blockquote><a>', '<x>', '<y>', '<b>', '<i>']) {
      expect(body).not.toContain(raw)
    }
  })

  it('shows the pages of the host in place of the default ones, under the same headers', async () => {
    const consent = ({ model }: PageInput<ConsentPageModel>) => renderHtml(html`<p>${model.user.name}</p>`)
    const test = await testServer({ pages: { consent } })
    const { headers, ...rest } = await send(test.server, { url: authorizationUrl() })
    const cookie = { 'Set-Cookie': headers['Set-Cookie'] ?? '' }
    expect({ headers, ...rest }).toStrictEqual(page(200, '<p>Ada</p>', "'self' https:", cookie))
    // The other page is still the default one.
    expect(await send(test.server, { url: '/oauth2/auth' })).toStrictEqual(inaccessible())
  })
})

describe('4.1 the answer to the form', () => {
  it('[6] is a 302 with a code and the state where the user agrees', async () => {
    const test = await testServer()
    const { code, response } = await authorize(test, { state: 'the state' })
    expect(code).toMatch(/^gwc_[A-Za-z0-9_-]{81}$/)
    expect(response).toStrictEqual(
      redirect(`${WEB_CALLBACK}?code=${code}&state=the%20state&iss=https%3A%2F%2Fgit.example`),
    )
    const [grant] = (await grantsOf(test.store)) as readonly Grant[] // only ever written by transitions
    expect(test.events).toStrictEqual([
      {
        type: 'issued',
        at: START,
        grantId: grant?.id,
        clientId: 'web',
        subject: 'ada',
        scopes: ['repo-code:rw', 'account-profile:r'],
        resources: { kind: 'all' },
      },
    ])
  })

  it('[6] is a 302 with access_denied and the state where the user refuses, and no grant is made', async () => {
    const test = await testServer()
    for (const state of [undefined, '', 'the state']) {
      const { response } = await authorize(test, { state }, { decision: 'refuse' })
      const refused = { error: 'access_denied', error_description: 'The user refused.', state }
      expect(response).toStrictEqual(answer(WEB_CALLBACK, refused))
      expect(test.events.splice(0)).toStrictEqual([
        {
          type: 'refused',
          at: START,
          endpoint: 'authorization',
          error: 'access_denied',
          reason: 'consent_refused',
          clientId: 'web',
        },
      ])
    }
    expect(await grantsOf(test.store)).toStrictEqual([])
  })

  it('[6] is never a 307, nor any other redirect that would send the form on', async () => {
    const test = await testServer(withItems)
    const { fields, headers } = await openConsent(test)
    for (const decision of ['agree', 'agree', 'refuse', 'neither']) {
      for (const scope of ['all', 'specified']) {
        const { status } = await submit(test, { ...fields, decision, resource_scope: scope }, headers)
        expect([302, 400]).toContain(status)
      }
    }
  })

  it.each([
    ['no decision', {}],
    ['an empty decision', { decision: '' }],
    ['another decision', { decision: 'Agree' }],
    ['a prototype name', { decision: 'constructor' }],
  ])('[11] %s is no consent', async (_what, decision: Form) => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    await expectRefused(test, await submit(test, { ...fields, ...decision }, headers))
  })

  it.each(['consent', 'decision', 'resource_scope'])('[11] a repeated %s is refused', async (name) => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    const form = Object.entries({ ...fields, decision: 'agree' })
    const value = form.find(([field]) => field === name)?.[1] ?? ''
    expect(await submit(test, [...form, [name, value]], headers)).toStrictEqual(inaccessible())
    expect(await grantsOf(test.store)).toStrictEqual([])
  })

  it('[11] a repeated, missing or broken request is refused', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    const { request = '', ...rest } = { ...fields, decision: 'agree' }
    const forms: [string, string][][] = [
      [
        ['request', request],
        ['request', request],
      ],
      [],
      [['request', '']],
      [['request', '%zz']],
      [['request', `${request}&client_id=web`]],
    ]
    for (const form of forms) {
      expect(await submit(test, [...Object.entries(rest), ...form], headers)).toStrictEqual(inaccessible())
    }
    expect(await grantsOf(test.store)).toStrictEqual([])
  })

  it.each([
    ['JSON', { 'content-type': 'application/json' }, 400],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }, 400],
    ['text', { 'content-type': 'text/plain' }, 400],
  ])('[11] a form sent as %s is refused', async (_type, type, status) => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    expect(await submit(test, { ...fields, decision: 'agree' }, { ...headers, ...type })).toStrictEqual(
      inaccessible(status),
    )
  })

  it('[47] a form over the limit gets the page with 413', async () => {
    const test = await testServer()
    const response = await send(test.server, { method: 'POST', url: '/oauth2/auth', body: { type: 'too_large' } })
    expect(response).toStrictEqual(inaccessible(413))
  })

  it('[12] every page, whatever it says, is sent under the same headers', async () => {
    const test = await watchedServer()
    const { fields, headers, page: shown } = await openConsent(test)
    const pages = [
      await send(test.server, { url: authorizationUrl(), headers }),
      await send(test.server, { url: '/oauth2/auth' }),
      await submit(test, { ...fields, decision: 'neither' }, headers),
      await submit(test, { ...fields, decision: 'agree', resource_scope: 'none' }, headers),
      await send(test.server, { method: 'POST', url: '/oauth2/auth', body: { type: 'too_large' } }),
    ]
    test.instead.read = () => Promise.reject(new Error('down'))
    pages.push(await send(test.server, { url: authorizationUrl() }))
    expect(pages.map(({ status }) => status)).toStrictEqual([200, 400, 400, 400, 413, 503])
    // What only one of them has: its cookie, the time to wait, and where its form leads.
    const { 'Set-Cookie': _, 'Content-Security-Policy': policy = '', ...common } = shown.headers
    for (const { headers: sent } of pages) {
      const { 'Retry-After': __, 'Content-Security-Policy': own = '', ...rest } = sent
      expect(rest).toStrictEqual(common)
      expect(own.replace("'self' https:", "'self'")).toBe(policy.replace("'self' https:", "'self'"))
    }
    expect(`${policy};`).toContain("default-src 'none';")
    expect(policy).not.toMatch(/script-src|unsafe|\*/)
  })
})

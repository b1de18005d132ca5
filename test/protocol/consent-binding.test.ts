/**
 * What a consent form is bound to: the user, the browser, the client, the whole request, and a time.
 * @module
 * @see SECURITY statement 11; RFC 6749, section 10.12; RFC 9700, section 4.7
 */
import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { createAuthorizationServer, portableDigests } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { deriveFromForm, formToken } from '../../src/protocol/pages/form-binding.js'
import {
  answer,
  CONSENT_REFUSED,
  grantsOf,
  inaccessible,
  StoreFailure,
  watchedServer,
  withoutWayBack,
} from '../server/helpers.js'
import {
  authorizationUrl,
  CHALLENGE,
  exchange,
  ISSUER,
  laterServer,
  openConsent,
  registration,
  revoke,
  START,
  send,
  testServer,
  WEB,
  WEB_CALLBACK,
} from '../support.js'
import { unicodeText } from '../unicode.js'
import type { Form } from './consent-form.js'
import { changeApplication, expectRefused, PKCE, submit, withItems } from './consent-form.js'

describe('4.1 what a consent form is bound to', () => {
  const everything = { state: 's', scope: 'repo-code:r', ...PKCE }

  it('[11] needs a POST: the fields in a query agree to nothing', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    const query = new URLSearchParams({ ...fields, decision: 'agree' })
    const { status } = await send(test.server, { url: `${authorizationUrl()}&${query}`, headers })
    expect(status).toBe(200)
    expect(await grantsOf(test.store)).toStrictEqual([])
  })

  it('[11] sent again: the same redirect and the same code for the same decision, until that is exchanged', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test, { state: 's' })
    const form = { ...fields, decision: 'agree' }
    const first = await submit(test, form, headers)
    const code = new URL(first.headers['Location'] ?? '').searchParams.get('code') ?? ''
    expect(await submit(test, form, headers)).toStrictEqual(first)
    test.clock.now += 599
    expect(await submit(test, form, headers)).toStrictEqual(first)
    for (const another of [
      { ...form, resource_scope: 'public' },
      { ...form, decision: 'refuse' },
    ])
      expect(await submit(test, another, headers)).toStrictEqual(CONSENT_REFUSED)
    expect(test.events.map(({ type }) => type)).toStrictEqual(['issued', 'issued', 'issued', 'refused', 'refused'])
    expect(test.events.map((event) => 'retry' in event)).toStrictEqual([false, true, true, false, false])
    expect(test.events.slice(-2)).toMatchObject([{ reason: 'consent_invalid' }, { reason: 'consent_invalid' }])
    expect(await grantsOf(test.store)).toHaveLength(1)
    expect((await exchange(test, code)).status).toBe(200)
    expect(await submit(test, form, headers)).toStrictEqual(CONSENT_REFUSED)
    expect((await exchange(test, code)).status).toBe(400)
  })

  it('[11] sent again when form and code are too old: refused', async () => {
    const test = await testServer({ codeLifetime: 900 })
    const { fields, headers } = await openConsent(test)
    const form = { ...fields, decision: 'agree' }
    test.clock.now += 500
    const first = await submit(test, form, headers)
    expect(first.status).toBe(302)
    // The form is too old for anything new by now, and its code is still good.
    test.clock.now += 899
    expect(await submit(test, form, headers)).toStrictEqual(first)
    test.clock.now += 1
    expect(await submit(test, form, headers)).toStrictEqual(CONSENT_REFUSED)
  })

  it('[11] a refusal that is sent again: the same redirect; then to agree by the same form is refused', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test, { state: 's' })
    const refusal = { ...fields, decision: 'refuse' }
    const first = await submit(test, refusal, headers)
    expect(new URL(first.headers['Location'] ?? '').searchParams.get('error')).toBe('access_denied')
    expect(await submit(test, refusal, headers)).toStrictEqual(first)
    expect(await submit(test, { ...fields, decision: 'agree' }, headers)).toStrictEqual(CONSENT_REFUSED)
    expect(await grantsOf(test.store)).toStrictEqual([])
  })

  it.each([
    [600, 5, 600],
    [600, 599, 60],
    [700, 200, 600],
    [1199, 600, 600],
    [1200, 600, 600],
    [100_000, 600, 60],
    [600, 600, 1],
  ])(
    '[11] [30] sent again %i seconds after its grant was revoked, by a clock that was set back by %i, with codes of %i seconds: refused',
    async (later, back, codeLifetime) => {
      const test = await testServer({ codeLifetime })
      const { fields, headers } = await openConsent(test)
      const form = { ...fields, decision: 'agree' }
      const first = await submit(test, form, headers)
      const code = new URL(first.headers['Location'] ?? '').searchParams.get('code') ?? ''
      expect((await exchange(test, code)).status).toBe(200)
      expect(await test.server.grants.revokeAll('ada')).toBe(1)
      test.clock.now += later
      // The store forgets what it need not keep.
      for (let call = 0; call < 5; call++) await test.store.read(['anything'])
      test.clock.now -= back
      expect(await submit(test, form, headers)).toStrictEqual(CONSENT_REFUSED)
      expect((await test.server.grants.listGrants('ada')).grants).toStrictEqual([])
    },
  )

  it('[11] [30] sent again to a server whose clock is some seconds behind, after its grant was revoked: refused, at any time', async () => {
    const test = await testServer()
    for (const behind of [1, 2, 30, 59]) {
      const server = createAuthorizationServer({
        issuer: ISSUER,
        store: test.store,
        user: () => test.session.user,
        signInUrl: () => '/sign-in',
        clock: () => test.clock.now - behind,
      })
      for (const later of [0, 1, 239, 240, 299, 300, 598, 599, 600, 601, 1199, 1200]) {
        const { fields, headers } = await openConsent(test)
        const form = { ...fields, decision: 'agree' }
        await submit(test, form, headers)
        await test.server.grants.revokeAll('ada')
        test.clock.now += later
        await test.store.list('subject:ada')
        expect(await submit({ ...test, server }, form, headers), `${behind} ${later}`).toStrictEqual(CONSENT_REFUSED)
        expect(await submit(test, form, headers)).toStrictEqual(CONSENT_REFUSED)
      }
    }
  })

  it('[11] sent again where its grant could not be written: makes it for 240 seconds; then the user must begin again', async () => {
    for (const [later, status] of [
      [0, 302],
      [239, 302],
      [240, 400],
      [599, 400],
    ] as const) {
      const test = await watchedServer()
      const { fields, headers } = await openConsent(test)
      const form = { ...fields, decision: 'agree' }
      test.instead.write = (key, value, options) => {
        if (key.startsWith('grant:')) throw new StoreFailure()
        return test.store.write(key, value, options)
      }
      expect((await submit(test, form, headers)).status).toBe(503)
      test.instead.write = undefined
      test.clock.now += later
      const again = await submit(test, form, headers)
      expect(again.status).toBe(status)
      expect(again).toStrictEqual(status === 400 ? CONSENT_REFUSED : again)
      expect(await grantsOf(test.store)).toHaveLength(status === 302 ? 1 : 0)
    }
  })

  it('[11] replayed after all of its grant is over: refused, as long as the form itself is not too old', async () => {
    const test = await testServer({ consentLifetime: 100_000, codeLifetime: 1 })
    const { fields, headers } = await openConsent(test)
    const form = { ...fields, decision: 'agree' }
    await submit(test, form, headers)
    test.clock.now += 99_999
    expect(await submit(test, form, headers)).toStrictEqual(CONSENT_REFUSED)
    test.clock.now += 1
    expect(await submit(test, form, headers)).toStrictEqual(CONSENT_REFUSED)
    test.clock.now += 600
    expect(await grantsOf(test.store)).toStrictEqual([])
  })

  it('[11] replayed after the revocation of its grant: refused', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    const form = { ...fields, decision: 'agree' }
    const first = await submit(test, form, headers)
    const code = new URL(first.headers['Location'] ?? '').searchParams.get('code') ?? ''
    await revoke(test, (await exchange(test, code)).body.refresh_token)
    test.clock.now += 599
    expect(await submit(test, form, headers)).toStrictEqual(CONSENT_REFUSED)
  })

  it('[11] sent twice at once: one code', async () => {
    const test = await laterServer()
    const { fields, headers } = await openConsent(test)
    const form = { ...fields, decision: 'agree' }
    const responses = await Promise.all([1, 2, 3].map(() => submit(test, form, headers)))
    expect(new Set(responses.map((each) => each.headers['Location'])).size).toBe(1)
    expect(responses.map(({ status }) => status)).toStrictEqual([302, 302, 302])
  })

  it('[11] altered in any character of any field: refused', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test, everything)
    const consent = fields['consent'] ?? ''
    for (let index = 0; index < consent.length; index++) {
      const others = [...(consent[index] === 'A' ? 'B.' : 'A9')]
      for (const other of others.filter((each) => each !== consent[index])) {
        const altered = consent.slice(0, index) + other + consent.slice(index + 1)
        await expectRefused(test, await submit(test, { ...fields, consent: altered, decision: 'agree' }, headers))
      }
    }
    expect((await submit(test, { ...fields, decision: 'agree' }, headers)).status).toBe(302)
  })

  it('[11] of an end that its user wrote, signed with the browser’s own key: refused', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    const key = Buffer.from(headers.cookie.split('=')[1] ?? '', 'base64url')
    const shown = ['consent', 'web', 'Sample', 'all', WEB_CALLBACK, null, 'repo-code:rw account-profile:r', null]
    const nonce = 'A'.repeat(22)
    const signed = (head: string): string => {
      const bound = JSON.stringify(['grantwell form 1', head, ISSUER, 'ada', ...shown])
      return `${head}.${createHmac('sha256', key).update(bound).digest('base64url')}`
    }
    const ends = [
      'x',
      '',
      '-1',
      '1e9',
      '9200000000000000',
      '9'.repeat(400),
      '99999999999',
      String(test.clock.now + 901),
    ]
    for (const head of [
      ...ends.map((end) => `${end}.${nonce}`),
      String(test.clock.now + 600),
      `${test.clock.now + 600}.A`,
    ])
      await expectRefused(test, await submit(test, { ...fields, consent: signed(head), decision: 'agree' }, headers))
    const sound = signed(`${test.clock.now + 600}.${nonce}`)
    expect((await submit(test, { ...fields, consent: sound, decision: 'agree' }, headers)).status).toBe(302)
  })

  it('[11] altered as a whole: refused', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    const [expiry, nonce, mac] = (fields['consent'] ?? '').split('.')
    const consents = [
      '',
      '.',
      '..',
      'x',
      `${expiry}`,
      `${expiry}.${nonce}`,
      `${expiry}.${nonce}.`,
      `${nonce}.${mac}`,
      `.${mac}`,
      `${mac}`,
      `0${expiry}.${nonce}.${mac}`,
      `${expiry}.${nonce}..${mac}`,
      `${expiry}.${nonce}.${mac}.${mac}`,
      `${expiry}.${nonce}.${mac}A`,
      `Infinity.${nonce}.${mac}`,
      '\u{1f511}',
    ]
    for (const consent of consents) {
      await expectRefused(test, await submit(test, { ...fields, consent, decision: 'agree' }, headers))
    }
    const { consent: _, ...without } = fields
    await expectRefused(test, await submit(test, { ...without, decision: 'agree' }, headers))
  })

  it('[11] of another user: refused', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    for (const subject of ['eve', 'Ada', 'ada ', 'ad']) {
      test.session.user = { subject, name: 'Ada' }
      await expectRefused(test, await submit(test, { ...fields, decision: 'agree' }, headers), subject)
      await expectRefused(test, await submit(test, { ...fields, decision: 'refuse' }, headers), subject)
    }
  })

  it('[11] of another browser, or none: refused', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    const other = await openConsent(test)
    const cookies = [
      other.headers.cookie,
      '',
      '__Host-grantwell=',
      `${headers.cookie}A`,
      headers.cookie.replace('__Host-', ''),
      `${headers.cookie}; ${other.headers.cookie}`,
      `__Host-grantwell=${'A'.repeat(43)}`,
    ]
    for (const cookie of cookies) {
      await expectRefused(test, await submit(test, { ...fields, decision: 'agree' }, { cookie }))
    }
    await expectRefused(test, await submit(test, { ...fields, decision: 'agree' }, {}))
    // The same user in the other browser has a form of its own.
    expect((await submit(test, { ...other.fields, decision: 'agree' }, other.headers)).status).toBe(302)
  })

  it.each([
    ['sec-fetch-site', 'cross-site'],
    ['sec-fetch-site', 'same-site'],
    ['sec-fetch-site', 'none'],
    ['origin', 'https://evil.example'],
    ['origin', 'http://git.example'],
    ['origin', 'https://git.example:8443'],
    ['origin', ''],
  ])('[11] sent by another page, as the browser says (%s: %s): refused', async (name, value) => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    const form = { ...fields, decision: 'agree' }
    await expectRefused(test, await submit(test, form, { ...headers, [name]: value }))
    expect((await submit(test, form, headers)).status).toBe(302)
  })

  it('takes a form that the browser says comes from this very page', async () => {
    for (const said of [{ 'sec-fetch-site': 'same-origin' }, { origin: 'null' }, { origin: ISSUER }] as Form[]) {
      const test = await testServer()
      const { fields, headers } = await openConsent(test)
      expect((await submit(test, { ...fields, decision: 'agree' }, { ...headers, ...said })).status).toBe(302)
    }
  })

  it('[11] of another server with the same browser key: refused', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    const other = await testServer({ issuer: 'https://git.example/other', mountPath: '' })
    const response = await submit(other, { ...fields, decision: 'agree' }, headers)
    expect(response.status).toBe(400)
    expect(await grantsOf(other.store)).toStrictEqual([])
  })

  it('[11] of another client: refused', async () => {
    const test = await testServer()
    await test.server.applications.register(registration(), { ...WEB, clientId: 'twin' })
    const { fields, headers } = await openConsent(test)
    const request = (fields['request'] ?? '').replace('client_id=web', 'client_id=twin')
    expect((await send(test.server, { url: `/oauth2/auth?${request}` })).status).toBe(200)
    await expectRefused(test, await submit(test, { ...fields, request, decision: 'agree' }, headers))
  })

  it('[11] of another request, in any parameter: refused', async () => {
    const test = await testServer()
    const other = CHALLENGE.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
    const changes: [Form, Record<string, string | undefined>][] = [
      [everything, { state: 't' }],
      [everything, { state: '' }],
      [everything, { state: undefined }],
      [{}, { state: '' }],
      [{ state: '' }, { state: undefined }],
      [everything, { scope: 'repo-code:rw' }],
      [everything, { scope: 'account-profile:r' }],
      [everything, { scope: undefined }],
      [everything, { redirect_uri: 'https://app.example/callback/' }],
      [everything, { redirect_uri: 'https://app.example/callback?a' }],
      [everything, { code_challenge: other }],
      [everything, { code_challenge: undefined, code_challenge_method: undefined }],
      [{}, PKCE],
    ]
    for (const [shown, change] of changes) {
      const { fields, headers } = await openConsent(test, shown)
      const request = authorizationUrl({ ...shown, ...change }).split('?')[1] ?? ''
      expect((await send(test.server, { url: `/oauth2/auth?${request}` })).status).toBe(200)
      await expectRefused(test, await submit(test, { ...fields, request, decision: 'agree' }, headers))
    }
  })

  it('[11] any two requests that differ have forms that do not fit each other', async () => {
    const test = await testServer()
    const text = unicodeText({ maxLength: 12 })
    const request = fc.record({
      state: fc.option(fc.oneof(text, fc.constantFrom('', 'null', '"', '","')), { nil: undefined }),
      scope: fc.constantFrom('repo-code:r', 'repo-code:rw', 'account-profile:r', 'repo-code:rw account-profile:r'),
      redirect_uri: fc.constantFrom(WEB_CALLBACK, 'https://app.example/', 'https://app.example'),
    })
    await fc.assert(
      fc.asyncProperty(request, request, async (shown, sent) => {
        const { fields, headers } = await openConsent(test, shown)
        const form = { ...fields, request: authorizationUrl(sent).split('?')[1] ?? '', decision: 'refuse' }
        const { status } = await submit(test, form, headers)
        expect(status).toBe(JSON.stringify(shown) === JSON.stringify(sent) ? 302 : 400)
      }),
      { numRuns: 60 },
    )
  })

  it('[11] expired to the second: good in its last second, refused in the next', async () => {
    for (const lifetime of [1, 600]) {
      const test = await testServer({ consentLifetime: lifetime })
      const { fields, headers } = await openConsent(test)
      test.clock.now = START + lifetime
      await expectRefused(test, await submit(test, { ...fields, decision: 'agree' }, headers))
      await expectRefused(test, await submit(test, { ...fields, decision: 'refuse' }, headers))
      test.clock.now = START + lifetime - 1
      expect((await submit(test, { ...fields, decision: 'agree' }, headers)).status).toBe(302)
    }
  })

  it('[11] is a MAC under the key of the browser over everything that the user was shown', async () => {
    // In words, so that a change of its making that leaves a part out goes red here.
    const test = await testServer(withItems)
    const { fields, headers } = await openConsent(test, everything)
    const key = Buffer.from(headers.cookie.split('=')[1] ?? '', 'base64url')
    const consent = fields['consent'] ?? ''
    const head = consent.slice(0, consent.lastIndexOf('.'))
    const bound = [
      'grantwell form 1',
      head,
      ISSUER,
      'ada',
      'consent',
      'web',
      'Sample',
      'all',
      WEB_CALLBACK,
      's',
      'repo-code:r',
      CHALLENGE,
    ]
    const mac = portableDigests.hmacSha256(key, new TextEncoder().encode(JSON.stringify(bound)))
    expect(consent).toBe(`${head}.${Buffer.from(mac).toString('base64url')}`)
  })
})

describe('4.1 a registration that changed between the page and the form', () => {
  it('[11] suspended: the page that the link cannot be accessed', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    await test.server.applications.suspend('web')
    for (const decision of ['agree', 'refuse']) {
      expect(await submit(test, { ...fields, decision }, headers)).toStrictEqual(inaccessible())
    }
    expect(await grantsOf(test.store)).toStrictEqual([])
  })

  it('[26] suspended between the reading of the request and the making of the grant: refused', async () => {
    const test = await watchedServer()
    const { fields, headers } = await openConsent(test)
    test.instead.read = async (keys) => {
      if (keys.length === 3) await test.server.applications.suspend('web')
      test.instead.read = keys.length === 3 ? undefined : test.instead.read
      return test.store.read(keys)
    }
    // `suspend` reads one key, the form reads one and then three.
    const response = await submit(test, { ...fields, decision: 'agree' }, headers)
    expect(response).toStrictEqual(inaccessible())
    const reason = 'client_suspended'
    expect(test.events.filter(({ type }) => type !== 'application')).toStrictEqual([
      { type: 'refused', at: START, endpoint: 'authorization', error: 'invalid_request', reason },
    ])
    expect(await grantsOf(test.store)).toStrictEqual([])
  })

  it('[11] renamed: refused, since the user agreed to another name', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    await changeApplication(test, { name: 'Another' })
    await expectRefused(test, await submit(test, { ...fields, decision: 'agree' }, headers))
  })

  it('[11] another resource scope: refused', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    await changeApplication(test, { resourceScope: 'public' })
    await expectRefused(test, await submit(test, { ...fields, resource_scope: 'public', decision: 'agree' }, headers))
  })

  it('[11] fewer scopes: refused where all were asked for, invalid_scope where the lost ones were named', async () => {
    const invalid = {
      error: 'invalid_scope',
      error_description: 'The scope repo-code:rw is not registered for this application.',
      state: 's',
    }
    for (const [asked, response] of [
      [undefined, CONSENT_REFUSED],
      ['repo-code:rw', answer(WEB_CALLBACK, invalid)],
    ] as const) {
      const test = await testServer()
      const { fields, headers } = await openConsent(test, { scope: asked, state: 's' })
      await changeApplication(test, { scopes: ['repo-code:r'] })
      expect(await submit(test, { ...fields, decision: 'agree' }, headers)).toStrictEqual(response)
      expect(await grantsOf(test.store)).toStrictEqual([])
    }
  })

  it('[13] more scopes: nothing is granted that was not shown', async () => {
    const agreed = async (scope: string | undefined) => {
      const test = await testServer()
      const { fields, headers } = await openConsent(test, { scope })
      await changeApplication(test, { scopes: ['repo-code:rw', 'repo-delete:rw', 'account-profile:r'] })
      return { test, response: await submit(test, { ...fields, decision: 'agree' }, headers) }
    }
    const { test, response } = await agreed('repo-code:rw')
    expect(response.status).toBe(302)
    expect(await grantsOf(test.store)).toMatchObject([{ scopes: ['repo-code:rw'] }])
    for (const scope of [undefined, 'repo-code:rw account-profile:r']) {
      const refused = await agreed(scope)
      await expectRefused(refused.test, refused.response)
    }
  })

  it('[11] another domain: the page that the link cannot be accessed', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    await changeApplication(test, {
      authorizedDomain: 'moved.example',
      redirectUris: ['https://moved.example/callback'],
    })
    const response = await submit(test, { ...fields, decision: 'agree' }, headers)
    expect(withoutWayBack(response)).toStrictEqual(inaccessible())
    expect(await grantsOf(test.store)).toStrictEqual([])
  })
})

describe('32 bytes that are derived of a form', () => {
  it('are the same for the same form and browser, others for any other, and not the MAC that the form has in it', () => {
    const binding = { issuer: ISSUER, subject: 'ada', browserKey: new Uint8Array(32).fill(1), shown: ['x', null] }
    const token = formToken(binding, START, new Uint8Array(16), portableDigests)
    const derived = deriveFromForm(binding, token, portableDigests)
    expect([derived.length, deriveFromForm(binding, token, portableDigests)]).toStrictEqual([32, derived])
    expect(token).not.toContain(Buffer.from(derived).toString('base64url'))
    const others = [
      deriveFromForm({ ...binding, browserKey: new Uint8Array(32).fill(2) }, token, portableDigests),
      deriveFromForm({ ...binding, subject: 'bob' }, token, portableDigests),
      deriveFromForm({ ...binding, shown: ['x'] }, token, portableDigests),
      deriveFromForm(binding, formToken(binding, START + 1, new Uint8Array(16), portableDigests), portableDigests),
    ]
    for (const other of others) expect(other).not.toStrictEqual(derived)
  })
})

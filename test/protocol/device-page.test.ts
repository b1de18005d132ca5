/**
 * The page on which a user enters the code of a device and decides: as messages.
 * @module
 * @see Specification, section 4.5; RFC 8628, sections 3.3, 3.3.1, 5.1 and 5.4
 */
import * as fc from 'fast-check'
import type { AuthorizationServerOptions, HttpResponse } from 'grantwell'
import { createAuthorizationServer, scopeCatalogue } from 'grantwell'
import type { DevicePageModel, DeviceResultPageModel, PageInput } from 'grantwell/pages'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { en } from '../../src/pages/texts/en.js'
import { anyText } from '../core/texts.js'
import { consentPage, devicePage, deviceResultPage, errorPage, inaccessibleLink } from '../pages/english.js'
import type { WatchedServer } from '../server/helpers.js'
import {
  busyPage,
  grantsOf,
  page,
  redirect,
  StoreFailure,
  signedOut,
  tokenError,
  watchedServer,
  withoutWayBack,
} from '../server/helpers.js'
import type { TestServer } from '../support.js'
import { call, canSend, hiddenFields, ISSUER, openConsent, post, START, send, testServer } from '../support.js'
import { changeApplication, ITEMS, model, withItems } from './consent-form.js'
import type { Codes, Opened } from './device-form.js'
import { codesOf, DEVICE_PATH, decide, decideOn, enter, enterCode, openDevicePage, poll, told } from './device-form.js'

const STYLESHEET = '/oauth2/style.css'
/** For tests that try more codes than a user may. */
const UNLIMITED: Partial<AuthorizationServerOptions> = { userCodeLimiter: () => 0 }
const UNKNOWN = 'This code is not known, or no longer valid. Compare it with your device, or start again there.'

/** The application of the device, with the website that the page leads back to. */
const SAMPLE = { name: 'Sample', website: 'https://app.example' }

/** The page for a form that is not good (any more). It leads back where the form names a device. */
const FORM_REFUSED = page(
  400,
  errorPage({
    title: inaccessibleLink.title,
    message: 'This form was sent before, is too old, or belongs to another session. Start again on your device.',
    application: SAMPLE,
    stylesheet: STYLESHEET,
  }),
)

/** The page that asks for a code, whole. */
function codePage(
  fields: Record<string, string>,
  changes: { readonly userCode?: string; readonly complete?: boolean; readonly fault?: string } = {},
): string {
  return devicePage({
    user: { name: 'Ada' },
    complete: false,
    form: { action: DEVICE_PATH, fields: [{ name: 'consent', value: fields['consent'] ?? '' }] },
    stylesheet: STYLESHEET,
    ...changes,
  })
}

/** The answer to a code that nobody can decide on, whole. */
function unknownCode({ page: answered }: Opened, userCode?: string): HttpResponse {
  const fields = hiddenFields(answered.body)
  return page(400, codePage(fields, { ...(userCode !== undefined && { userCode }), fault: UNKNOWN }))
}

/** The page after the decision, whole. */
function result(decision: 'agree' | 'refuse'): HttpResponse {
  return page(200, deviceResultPage({ decision, application: SAMPLE, stylesheet: STYLESHEET }))
}

/** Choices of resources in a form, each another one. */
const CHOICES: readonly Record<string, string>[] = [
  { resource_scope: 'all' },
  { resource_scope: 'public' },
  { resource_scope: 'specified', resource: 'repo/1' },
  { resource_scope: 'specified', resource: 'repo/2' },
]

/** A form was refused, and nothing came of it. */
async function expectRefused(test: TestServer, response: HttpResponse, codes?: Codes): Promise<void> {
  // It leads back to the application of the device where the form names one.
  expect(withoutWayBack(response)).toStrictEqual(withoutWayBack(FORM_REFUSED))
  expect(test.events.at(-1)).toStrictEqual({
    type: 'refused',
    at: test.clock.now,
    endpoint: 'device',
    error: 'invalid_request',
    reason: 'consent_invalid',
  })
  if (codes === undefined) return
  expect(await grantsOf(test.store)).toStrictEqual([])
  test.clock.now += 30
  expect(await told(test, codes)).toBe('authorization_pending')
}

describe('RFC 8628, 3.3 the page that asks for the code', () => {
  it('asks for it: an empty field, a form that is bound, and a key for the browser', async () => {
    const test = await testServer()
    const { page: answered, fields } = await openDevicePage(test)
    const cookie = answered.headers['Set-Cookie'] ?? ''
    expect(cookie).toMatch(/^__Host-grantwell=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
    expect(Object.keys(fields)).toStrictEqual(['consent'])
    expect(answered).toStrictEqual(page(200, codePage(fields), "'self'", { 'Set-Cookie': cookie }))
    const again = await openDevicePage(test, '', { cookie: cookie.split(';')[0] ?? '' })
    expect(again.page).toStrictEqual(page(200, codePage(again.fields)))
    expect(test.events).toStrictEqual([])
  })

  it('sends somebody who is not signed in to do so, and the code comes back with them', async () => {
    const test = await testServer()
    test.session.user = undefined
    const to = (query: string) =>
      redirect(`/sign-in?return_to=${encodeURIComponent(`${ISSUER}${DEVICE_PATH}${query}`)}`)
    expect((await openDevicePage(test)).page).toStrictEqual(to(''))
    for (const query of ['user_code=WDJB-MJHT', 'user_code=wdjbmjht', 'user_code=w%20d%20j%20b%20mjht'])
      expect((await openDevicePage(test, query)).page).toStrictEqual(to('?user_code=WDJB-MJHT'))
    for (const query of ['user_code=nonsense', 'user_code=%ff', 'user_code=WDJB-MJHT&user_code=WDJB-MJHT', 'a=%'])
      expect((await openDevicePage(test, query)).page).toStrictEqual(to(''))
    const byPage = (query: string) =>
      signedOut(`/sign-in?return_to=${encodeURIComponent(`${ISSUER}${DEVICE_PATH}${query}`)}`)
    const [code, none] = [byPage('?user_code=WDJB-MJHT'), byPage('')]
    expect(await post(test.server, DEVICE_PATH, { user_code: 'wdjb mjht' })).toStrictEqual(code)
    expect(await post(test.server, DEVICE_PATH, { user_code: 'x', decision: 'agree' })).toStrictEqual(none)
  })

  it('[45] with the code in the link asks to compare it, whatever its case', async () => {
    const test = await testServer()
    const { user_code, verification_uri_complete } = await codesOf(test)
    const url = verification_uri_complete.slice(ISSUER.length)
    for (const query of [url.split('?')[1] ?? '', `user_code=${user_code.toLowerCase().replace('-', '')}`]) {
      const { page: answered } = await openDevicePage(test, query)
      const fields = hiddenFields(answered.body)
      expect(fields['user_code']).toBe(user_code)
      const headers = { 'Set-Cookie': answered.headers['Set-Cookie'] ?? '' }
      expect(answered).toStrictEqual(
        page(200, codePage(fields, { userCode: user_code, complete: true }), "'self'", headers),
      )
      expect(answered.body).toContain('Compare it with the code that your device shows')
      expect(answered.body).not.toContain('name="decision"')
    }
  })

  it('[45] with the code in the link gives nothing away yet: the consent page is behind a form', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const compared = await openDevicePage(test, `user_code=${codes.user_code}`)
    expect(await told(test, codes)).toBe('authorization_pending')
    const consent = await enter(test, compared, compared.fields['user_code'] ?? '')
    expect(consent.page.body).toContain(`<dd class="code"><bdi>${codes.user_code}</bdi></dd>`)
    expect(await decideOn(test, consent)).toStrictEqual(result('agree'))
    test.clock.now += 5
    expect(await told(test, codes)).toBe('tokens')
  })

  it.each([
    'user_code=%3Cscript%3E',
    'user_code=%ff',
    'user_code=a&user_code=b',
    'user_code',
    '%',
    'user_code=WDJB-MJHA',
  ])('with %s in the link is the empty one', async (query) => {
    const test = await testServer()
    const { page: answered, fields } = await openDevicePage(test, query)
    const headers = { 'Set-Cookie': answered.headers['Set-Cookie'] ?? '' }
    expect(answered).toStrictEqual(page(200, codePage(fields), "'self'", headers))
  })

  it('[44] never looks a code up by a link: a GET reads nothing, counts nothing, and says the same of any code', async () => {
    const attempts: unknown[] = []
    const test = await watchedServer({
      userCodeLimiter: (attempt) => {
        attempts.push(attempt)
        return 0
      },
    })
    const { user_code } = await codesOf(test)
    test.forget()
    for (const method of ['GET', 'HEAD']) {
      const pages: string[] = []
      for (const code of [user_code, 'WDJB-MJHT']) {
        const url = `${DEVICE_PATH}?user_code=${code}`
        const { body } = await send(test.server, { method, url })
        pages.push(body.replace(/value="[^"]*"/g, '').replaceAll(code, ''))
      }
      expect(new Set(pages).size).toBe(1)
    }
    expect(test.trips).toMatchObject({ reads: 0, writes: 0 })
    expect(attempts).toStrictEqual([])
  })

  it('by another method is answered with 405 and what is allowed', async () => {
    const test = await testServer()
    for (const method of ['PUT', 'DELETE', 'OPTIONS'])
      expect(await send(test.server, { method, url: DEVICE_PATH })).toStrictEqual(
        tokenError(405, 'invalid_request', 'The method must be GET or POST.', { Allow: 'GET, HEAD, POST' }),
      )
  })
})

describe('RFC 8628, 3.3 a code that is entered', () => {
  it('leads to the consent page, which shows the application, all scopes, and the code once more', async () => {
    const test = await testServer()
    const { user_code } = await codesOf(test)
    const { page: answered, fields } = await enterCode(test, user_code)
    const { redirectHost: _, ...plain } = model({}, answered.body) as Extract<
      ReturnType<typeof model>,
      { redirectHost: string }
    > // it has one
    expect(Object.keys(fields)).toStrictEqual(['user_code', 'device', 'consent'])
    const form = {
      action: DEVICE_PATH,
      fields: Object.entries(fields).map(([name, value]) => ({ name, value })),
    }
    expect(answered).toStrictEqual(page(200, consentPage({ ...plain, userCode: user_code, form })))
  })

  it('is found as a person types it', async () => {
    const test = await testServer(UNLIMITED)
    const { user_code } = await codesOf(test)
    const letters = user_code.replace('-', '')
    for (const typed of [
      user_code,
      letters,
      user_code.toLowerCase(),
      ` ${letters.split('').join(' ')} `,
      `"${letters}".`,
    ])
      expect((await enterCode(test, typed)).page.status).toBe(200)
  })

  /** Codes that are dead, each in its way, on servers of their own. */
  const DEAD: Readonly<Record<string, (test: TestServer, codes: Codes) => Promise<unknown>>> = {
    'never there': async () => {},
    used: async (test, codes) => {
      await decide(test, codes)
      expect(await told(test, codes)).toBe('tokens')
    },
    'agreed to': (test, codes) => decide(test, codes),
    refused: (test, codes) => decide(test, codes, 'refuse'),
    expired: async (test) => {
      test.clock.now += 600
    },
    'expired long ago': async (test) => {
      test.clock.now += 100_000
    },
    'taken back': async (test, codes) => {
      await decide(test, codes)
      expect(await test.server.grants.revokeAll('ada')).toBe(1)
    },
    'of a suspended application': (test) => test.server.applications.suspend('web'),
    'of an application without scopes': (test) => changeApplication(test, { scopes: ['repo-delete:rw'] }),
    'of an application that lost the device flow': (test) => changeApplication(test, { deviceFlow: false }),
    'of an application that is another by now': (test) => changeApplication(test, { clientId: 'another' }),
  }

  it.each(Object.entries(DEAD))('[46] that is %s gets the answer of an unknown one, to the byte', async (how, kill) => {
    // One limit alone, whether the platform knows addresses or not.
    const test = await watchedServer({ remoteAddress: () => undefined })
    const codes = await codesOf(test)
    const browser = await openDevicePage(test)
    await kill(test, codes)
    const later = { ...browser, ...(await reopened(test, browser)) }
    const typed = how === 'never there' ? 'WDJB-MJHT' : codes.user_code
    test.forget()
    const dead = await enter(test, later, typed)
    const trips = tripsOf(test)
    expect(dead.page).toStrictEqual(unknownCode(dead, typed))
    test.forget()
    const unknown = await enter(test, later, typed === 'WDJB-MJHT' ? 'ZZZZ-ZZZZ' : 'WDJB-MJHT')
    expect(withoutFields(unknown.page)).toStrictEqual(withoutFields(dead.page))
    // Nor does the time that it takes tell them apart: the limit, the code, and what may be behind it.
    expect(trips).toStrictEqual({
      reads: 3,
      writes: 1,
      kinds: ['attempts', 'user_code', 'application', 'grant', 'consent'],
    })
    expect(tripsOf(test)).toStrictEqual(trips)
    expect(test.events.at(-1)).toStrictEqual({
      type: 'refused',
      at: test.clock.now,
      endpoint: 'device',
      error: 'invalid_request',
      reason: 'user_code_unknown',
      subject: 'ada',
    })
    expect(test.events.at(-2)).toStrictEqual(test.events.at(-1))
  })

  it('[46] that expired is dead by its own time, though a slow store still has it', async () => {
    const clock = { now: START }
    const test = await testServer({ clock: () => clock.now, store: memoryStore({ clock: () => START }) })
    const codes = await codesOf(test)
    clock.now += 599
    const consent = await enterCode(test, codes.user_code)
    expect(consent.page.status).toBe(200)
    clock.now += 1
    const dead = await enterCode(test, codes.user_code)
    expect(dead.page.status).toBe(400)
    expect(dead.page.body).toContain(UNKNOWN)
    const late = await decideOn(test, consent)
    expect(late).toStrictEqual(unknownCode({ ...consent, page: late }))
    expect(await told(test, codes)).toBe('expired_token')
  })

  it.each(['', 'nonsense', 'WDJB-MJH', 'WDJB-MJHA', '<script>', '\u0130'.repeat(8)])(
    'that is none is unknown, and comes back to be mended: %j',
    async (typed) => {
      const test = await testServer()
      const answered = await enterCode(test, typed)
      expect(answered.page).toStrictEqual(unknownCode(answered, typed))
    },
  )

  it('is found between tabs, line ends and other control characters, as a paste may have them', async () => {
    const test = await testServer(UNLIMITED)
    const { user_code } = await codesOf(test)
    const letters = user_code.replace('-', '')
    for (const control of ['\t', '\r\n', '\0', '\x1b', '\x7f', '\u0085', '\u2028'])
      for (const typed of [
        control + user_code,
        user_code + control,
        user_code.replace('-', control),
        [control, ...letters].join(control),
      ])
        expect((await enterCode(test, typed)).page.status).toBe(200)
    // One that is none comes back as it was.
    for (const typed of ['WDJB\tMJHT', '\t', 'WD\0JB']) {
      const answered = await enterCode(test, typed)
      expect(answered.page).toStrictEqual(unknownCode(answered, typed))
    }
    test.session.user = undefined
    const returnTo = encodeURIComponent(`${ISSUER}${DEVICE_PATH}?user_code=WDJB-MJHT`)
    expect(await post(test.server, DEVICE_PATH, { user_code: 'wdjb\tmjht' })).toStrictEqual(
      signedOut(`/sign-in?return_to=${returnTo}`),
    )
  })

  it('is looked for in the first 64 characters that were typed, and no more of them come back', async () => {
    const test = await testServer(UNLIMITED)
    const { user_code } = await codesOf(test)
    const letters = user_code.replace('-', '')
    expect((await enterCode(test, letters.padStart(64))).page.status).toBe(200)
    expect((await enterCode(test, `${letters.padStart(64)}X`)).page.status).toBe(200)
    for (const typed of [letters.padStart(65), 'X'.repeat(65), '-'.repeat(9000)]) {
      const answered = await enterCode(test, typed)
      expect(answered.page).toStrictEqual(unknownCode(answered, typed.slice(0, 64)))
    }
  })

  it.each([
    ['missing', ''],
    ['not well-formed', '&user_code=%ff'],
    ['repeated', '&user_code=WDJB-MJHT&user_code=WDJB-MJHT'],
  ])('that is %s is an unknown one', async (_how, field) => {
    const test = await testServer()
    const { fields, headers } = await openDevicePage(test)
    const response = await post(test.server, DEVICE_PATH, new URLSearchParams(fields) + field, headers)
    expect(response).toStrictEqual(unknownCode({ fields, headers, page: response }, ''))
    expect(test.errors).toStrictEqual([])
  })

  it('shows and grants no scope that the service has taken out of its catalogue meanwhile', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const none = await codesOf(test, { scope: 'account-profile:r' })
    const before = await enterCode(test, codes.user_code)
    expect(before.page.body).toContain('User profile')
    const events: unknown[] = []
    const server = createAuthorizationServer({
      issuer: ISSUER,
      store: test.store,
      clock: () => test.clock.now,
      user: () => test.session.user,
      signInUrl: () => '/sign-in',
      onEvent: (event) => events.push(event),
      scopes: scopeCatalogue([{ name: 'repo-code', permissions: ['r', 'rw'], description: 'Code of repositories' }]),
    })
    // What was shown before is not what would be granted now.
    expect(await decideOn({ server }, before)).toStrictEqual(FORM_REFUSED)
    const shown = await enter({ server }, before, codes.user_code, {
      consent: (await openDevicePage({ server }, '', before.headers)).fields['consent'] ?? '',
    })
    expect(shown.page.body).toContain('Code of repositories')
    expect(shown.page.body).not.toContain('account-profile')
    // Where none is left, there is nothing to decide.
    const asked = await openDevicePage({ server }, '', before.headers)
    const empty = await enter({ server }, asked, none.user_code)
    expect(empty.page).toStrictEqual(unknownCode(empty, none.user_code))
    expect(await decideOn({ server }, shown)).toStrictEqual(result('agree'))
    expect(events.at(-1)).toMatchObject({ type: 'issued', scopes: ['repo-code:rw'] })
    // Not on the other server either, nor once it is in the catalogue again.
    const { body } = await poll(test, codes)
    expect(body.scope).toBe('repo-code:rw')
    expect(await call(test, body.access_token)).toMatchObject({ scopes: ['repo-code:rw'] })
    expect(await told(test, none)).toBe('authorization_pending')
  })

  it('of two devices is each its own', async () => {
    const test = await testServer()
    const mine = await codesOf(test, { scope: 'repo-code:r' })
    const other = await codesOf(test, { scope: 'account-profile:r' })
    const shown = await enterCode(test, mine.user_code)
    expect(shown.page.body).toContain('Repository code through Git commands')
    expect(shown.page.body).not.toContain('User profile')
    await decideOn(test, shown)
    expect((await poll(test, mine)).body.scope).toBe('repo-code:r')
    expect(await told(test, other)).toBe('authorization_pending')
  })
})

/** The page opened anew in the same browser, since time may have passed. */
function reopened(test: TestServer, { headers }: Opened): Promise<Opened> {
  return openDevicePage(test, '', headers)
}

/** What the store was asked since it was forgotten. */
function tripsOf({ trips: { reads, writes, keys } }: WatchedServer) {
  return { reads, writes, kinds: keys.map((key) => key.split(':')[0]) }
}

/** An answer without what is different in every form. */
function withoutFields({ body, ...rest }: HttpResponse) {
  return { ...rest, body: body.replace(/(name="(?:consent|user_code)" value)="[^"]*"/g, '$1') }
}

describe('RFC 8628, 3.3 the decision', () => {
  it('to agree grants what was shown: the scopes, and the resources that were chosen', async () => {
    const test = await testServer(withItems)
    for (const [chosen, resources] of [
      [{ resource_scope: 'all' }, { kind: 'all' }],
      [{ resource_scope: 'public' }, { kind: 'public' }],
      [
        { resource_scope: 'specified', resource: 'repo/2' },
        { kind: 'specified', ids: ['repo/2'] },
      ],
    ] as const) {
      const codes = await codesOf(test, { scope: 'repo-code:r' })
      expect(await decideOn(test, await enterCode(test, codes.user_code), 'agree', chosen)).toStrictEqual(
        result('agree'),
      )
      expect(test.events.at(-1)).toMatchObject({ type: 'issued', subject: 'ada', scopes: ['repo-code:r'], resources })
      const { body } = await poll(test, codes)
      expect(await call(test, body.access_token)).toMatchObject({ scopes: ['repo-code:r'], resources })
    }
  })

  it('to refuse needs no choice of resources', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const consent = await enterCode(test, codes.user_code)
    expect(await decideOn(test, consent, 'refuse', { resource_scope: '' })).toStrictEqual(result('refuse'))
    expect(test.events.at(-1)).toMatchObject({ type: 'device_refused', subject: 'ada', clientId: 'web' })
    expect(await told(test, codes)).toBe('access_denied')
    expect((await test.server.grants.listGrants('ada')).grants).toStrictEqual([])
  })

  it.each([
    ['none', {}],
    ['one that is none', { resource_scope: 'everything' }],
    ['specified without any', { resource_scope: 'specified' }],
    ['specified with one that was not offered', { resource_scope: 'specified', resource: 'repo/9' }],
  ])('with a choice of resources that cannot be comes back to be mended: %s', async (_what, chosen) => {
    const test = await testServer(withItems)
    const codes = await codesOf(test)
    const consent = await enterCode(test, codes.user_code)
    const form = { ...consent.fields, decision: 'agree', ...(chosen as Record<string, string>) } // of one shape
    const answered = await post(test.server, DEVICE_PATH, form, consent.headers)
    expect(answered.status).toBe(400)
    expect(answered.body).toContain('Choose which resources the application may use')
    expect(answered.body).toContain(`<bdi>${codes.user_code}</bdi>`)
    expect(answered.headers).toStrictEqual(page(400, '').headers)
    expect(await told(test, codes)).toBe('authorization_pending')
    const again = { ...consent, fields: hiddenFields(answered.body) }
    expect(await decideOn(test, again, 'agree', { resource_scope: 'public' })).toStrictEqual(result('agree'))
  })

  it('keeps what was checked in a form that comes back', async () => {
    const test = await testServer({ resources: () => ITEMS })
    await changeApplication(test, { resourceScope: 'specified' })
    const { user_code } = await codesOf(test)
    const { fields, headers } = await enterCode(test, user_code)
    const form = { ...fields, decision: 'agree', resource_scope: 'specified' }
    const pairs = [...Object.entries(form), ['resource', 'repo/2'], ['resource', 'repo/9']] as [string, string][] // pairs all
    const { status, body } = await post(test.server, DEVICE_PATH, pairs, headers)
    expect(status).toBe(400)
    expect(body).toMatch(/value="repo\/2" checked/)
    expect(body).not.toMatch(/value="repo\/1" checked/)
  })

  it('never opens more than the application is registered for', async () => {
    const test = await testServer()
    await changeApplication(test, { resourceScope: 'public' })
    const codes = await codesOf(test)
    const consent = await enterCode(test, codes.user_code)
    expect(consent.page.body).not.toContain('value="all"')
    expect((await decideOn(test, consent, 'agree', { resource_scope: 'all' })).status).toBe(400)
    expect(await decideOn(test, consent, 'agree', { resource_scope: 'public' })).toStrictEqual(result('agree'))
  })

  it.each(['', 'Agree', 'yes', 'agree ', '__proto__'])('of another word is none: %j', async (word) => {
    const test = await testServer()
    const codes = await codesOf(test)
    const consent = await enterCode(test, codes.user_code)
    const response = await decideOn(test, consent, word)
    // Without a decision it is the first form, with a token that is not of that form.
    await expectRefused(test, response, codes)
  })

  it.each([
    ['agree', 'agree'],
    ['agree', 'refuse'],
    ['refuse', 'agree'],
    ['refuse', 'refuse'],
  ] as const)('[46] taken twice counts once: %s, then %s', async (first, second) => {
    const test = await testServer()
    const codes = await codesOf(test)
    const consent = await enterCode(test, codes.user_code)
    expect(await decideOn(test, consent, first)).toStrictEqual(result(first))
    // Sent again, whatever it says now, it is answered with what is so.
    expect(await decideOn(test, consent, second)).toStrictEqual(result(first))
    expect(await told(test, codes)).toBe(first === 'agree' ? 'tokens' : 'access_denied')
    expect(test.events.filter(({ type }) => type === 'issued' || type === 'device_refused')).toHaveLength(1)
  })

  it.each(CHOICES.flatMap((first) => CHOICES.map((second) => [first, second] as const)))(
    '[13] taken twice with other resources is refused, and leaves what was granted: %j, then %j',
    async (first, second) => {
      const test = await testServer(withItems)
      const codes = await codesOf(test)
      const consent = await enterCode(test, codes.user_code)
      expect(await decideOn(test, consent, 'agree', first)).toStrictEqual(result('agree'))
      const granted = test.events.at(-1)
      const again = await decideOn(test, consent, 'agree', second)
      expect(again).toStrictEqual(first === second ? result('agree') : FORM_REFUSED)
      expect(await told(test, codes)).toBe('tokens')
      const { grants } = await test.server.grants.listGrants('ada')
      expect(grants).toMatchObject([{ resources: (granted as { readonly resources?: unknown }).resources }]) // an `issued`
    },
  )

  it('[46] of two users who both have the code is the one who is first', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const adas = await enterCode(test, codes.user_code)
    test.session.user = { subject: 'bob', name: 'Bob' }
    const bobs = await enterCode(test, codes.user_code)
    expect(bobs.page.status).toBe(200)
    expect((await decideOn(test, bobs)).status).toBe(200)
    test.session.user = { subject: 'ada', name: 'Ada' }
    const late = await decideOn(test, adas)
    expect(late).toStrictEqual(unknownCode({ ...adas, page: late }))
    expect(test.events.at(-1)).toMatchObject({ type: 'refused', reason: 'user_code_unknown', subject: 'ada' })
    expect(await call(test, (await poll(test, codes)).body.access_token)).toMatchObject({ subject: 'bob' })
  })

  it('[46] counts in the last second of the code and not in the one behind it', async () => {
    const test = await testServer({ consentLifetime: 10_000 })
    for (const [seconds, status] of [
      [599, 200],
      [600, 400],
    ] as const) {
      const codes = await codesOf(test)
      const consent = await enterCode(test, codes.user_code)
      test.clock.now += seconds
      expect((await decideOn(test, consent)).status).toBe(status)
      expect(await told(test, codes)).toBe(status === 200 ? 'tokens' : 'expired_token')
    }
  })
})

describe('consent that is asked for once', () => {
  it('[45] is asked for a device each time all the same, and what a device got spares no application the question', async () => {
    const test = await testServer({ consent: 'once' })
    await decide(test, await codesOf(test))
    const codes = await codesOf(test)
    expect((await enterCode(test, codes.user_code)).page.body).toContain('name="decision"')
    expect(await told(test, codes)).toBe('authorization_pending')
    expect((await openConsent(test)).page.status).toBe(200)
  })
})

/** The two forms of the page, each with how it is sent. */
const FORMS = {
  'the code form': {
    open: (test: TestServer, _: Codes) => openDevicePage(test),
    submit: async (
      test: TestServer,
      { user_code }: Codes,
      form: Opened,
      changes: Record<string, string> = {},
      headers: Record<string, string> = {},
    ) => (await enter(test, form, user_code, changes, headers)).page,
  },
  'the consent form': {
    open: (test: TestServer, { user_code }: Codes) => enterCode(test, user_code),
    submit: (
      test: TestServer,
      _: Codes,
      form: Opened,
      changes: Record<string, string> = {},
      headers: Record<string, string> = {},
    ) => decideOn(test, form, 'agree', changes, headers),
  },
} as const

describe.each(Object.entries(FORMS))('[11] %s is bound to whom it was shown', (name, { open, submit }) => {
  async function opened(options: Partial<AuthorizationServerOptions> = {}) {
    const test = await testServer(options)
    const codes = await codesOf(test)
    return { test, codes, form: await open(test, codes) }
  }

  it('[11] is good as it was made', async () => {
    const { test, codes, form } = await opened()
    expect((await submit(test, codes, form)).status).toBe(200)
  })

  it.each([
    ['missing', () => ''],
    ['cut', (token: string) => token.slice(0, -1)],
    ['longer', (token: string) => `${token}A`],
    ['of a later end', (token: string) => token.replace(/^\d+/, (end) => String(Number(end) + 1))],
    ['of another nonce', (token: string) => token.replace(/\.[\w-]+\./, '.AAAAAAAAAAAAAAAAAAAAAA.')],
    ['without its parts', () => '..'],
    ['hostile', () => '__proto__'],
  ])('[11] with a token that is %s is refused', async (_how, change) => {
    const { test, codes, form } = await opened()
    const consent = change(form.fields['consent'] ?? '')
    await expectRefused(test, await submit(test, codes, form, { consent }), codes)
  })

  it('[11] of another user, in another browser, or without its cookie is refused', async () => {
    const { test, codes, form } = await opened()
    const { headers } = await openDevicePage(test)
    for (const browser of [headers, { cookie: '' }, { cookie: `${form.headers.cookie}; ${form.headers.cookie}` }])
      await expectRefused(test, await submit(test, codes, { ...form, headers: browser }), codes)
    test.session.user = { subject: 'eve' }
    await expectRefused(test, await submit(test, codes, form), codes)
  })

  it('[11] is good until its time is over, and not from then on', async () => {
    const { test, codes, form } = await opened({ consentLifetime: 60 })
    test.clock.now += 59
    // A decision counts once: that form is not sent a second time.
    const status = name === 'the code form' ? (await submit(test, codes, form)).status : 200
    expect(status).toBe(200)
    test.clock.now += 1
    await expectRefused(test, await submit(test, codes, form), codes)
  })

  it.each([
    { origin: 'https://evil.example' },
    { origin: 'http://git.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
  ])('[11] from another site is refused: %j', async (headers) => {
    const { test, codes, form } = await opened()
    await expectRefused(test, await submit(test, codes, form, {}, headers as Record<string, string>), codes)
  })

  it('[11] from its own page, as browsers say it, is good', async () => {
    for (const headers of [{ origin: ISSUER }, { origin: 'null', 'sec-fetch-site': 'same-origin' }]) {
      const { test, codes, form } = await opened()
      expect((await submit(test, codes, form, {}, headers as Record<string, string>)).status).toBe(200)
    }
  })

  it('[11] of another kind is refused', async () => {
    const { test, codes, form } = await opened()
    const { fields } = name === 'the code form' ? await enterCode(test, codes.user_code) : await openDevicePage(test)
    const { fields: consent } = await openConsent(test, {}, form.headers)
    const others = [fields['consent'], consent['consent']]
    for (const token of others)
      await expectRefused(test, await submit(test, codes, form, { consent: token ?? '' }), codes)
  })

  it('[11] that is repeated, malformed, too large or no form at all is refused before anything is read', async () => {
    const { test, codes, form } = await opened()
    const title = inaccessibleLink.title
    for (const body of [
      'user_code=a&user_code=a',
      'consent=%ff',
      '%ff=a',
      'decision=a&decision=b',
      'device=a&device=a',
    ]) {
      const response = await post(test.server, DEVICE_PATH, body, form.headers)
      expect([response.status, response.body.includes(title)]).toEqual([400, true])
    }
    const json = await post(test.server, DEVICE_PATH, '{}', { ...form.headers, 'content-type': 'application/json' })
    expect([json.status, json.headers['Content-Type']]).toEqual([400, 'text/html;charset=UTF-8'])
    const large = { method: 'POST', url: DEVICE_PATH, headers: form.headers, body: { type: 'too_large' } } as const
    expect((await send(test.server, large)).status).toBe(413)
    expect((await submit(test, codes, form)).status).toBe(200)
  })
})

describe('[11] what a consent form for a device is bound to', () => {
  it('[11] a device that was not shown cannot be decided on with it', async () => {
    const test = await testServer()
    const mine = await codesOf(test)
    const other = await codesOf(test)
    const shown = await enterCode(test, mine.user_code)
    const { fields } = await enterCode(test, other.user_code)
    const device = fields['device'] ?? ''
    await expectRefused(test, await decideOn(test, shown, 'agree', { device }), other)
    const user_code = fields['user_code'] ?? ''
    await expectRefused(test, await decideOn(test, shown, 'agree', { device, user_code }), other)
    expect((await decideOn(test, shown)).status).toBe(200)
  })

  it('[11] nor with another code, none, or one that is none', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const shown = await enterCode(test, codes.user_code)
    for (const user_code of ['WDJBMJHT', '', 'nonsense'])
      await expectRefused(test, await decideOn(test, shown, 'agree', { user_code }), codes)
  })

  it('[11] nor with an identifier that is none; with one of nothing, it is an unknown code', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const shown = await enterCode(test, codes.user_code)
    for (const device of ['', 'x', '__proto__', 'A'.repeat(21), 'A'.repeat(23)])
      await expectRefused(test, await decideOn(test, shown, 'agree', { device }), codes)
    const response = await decideOn(test, shown, 'agree', { device: 'A'.repeat(22) })
    expect(response).toStrictEqual(unknownCode({ ...shown, page: response }))
  })

  it.each([
    ['name', { name: 'Sample!' }],
    ['resource scope', { resourceScope: 'public' }],
    ['scopes', { scopes: ['repo-code:r'] }],
  ])('[11] it is refused once the application has another %s than was shown', async (_what, changes) => {
    const test = await testServer()
    const codes = await codesOf(test)
    const shown = await enterCode(test, codes.user_code)
    await changeApplication(test, changes)
    await expectRefused(test, await decideOn(test, shown), codes)
  })

  it('[11] its fields in a query decide nothing', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const { fields, headers } = await enterCode(test, codes.user_code)
    const query = new URLSearchParams({ ...fields, decision: 'agree', resource_scope: 'all' })
    expect((await openDevicePage(test, query.toString(), headers)).page.status).toBe(200)
    expect(await told(test, codes)).toBe('authorization_pending')
  })

  it('[11] it makes no grant on another server over another store', async () => {
    const test = await testServer()
    const shown = await enterCode(test, (await codesOf(test)).user_code)
    const elsewhere = await testServer()
    const response = await decideOn(elsewhere, shown)
    expect(response).toStrictEqual(unknownCode({ ...shown, page: response }))
  })
})

describe('the host’s own pages', () => {
  it('are given what ours are, and are sent under the same headers', async () => {
    const beside: unknown[] = []
    const json = ({ model, ...rest }: PageInput<DevicePageModel | DeviceResultPageModel>): string => {
      beside.push(rest)
      return JSON.stringify(model)
    }
    const test = await testServer({ pages: { device: json, deviceResult: json } })
    const { user_code } = await codesOf(test)
    const { headers, body, status } = await send(test.server, { url: `${DEVICE_PATH}?user_code=${user_code}` })
    const own = { 'Set-Cookie': headers['Set-Cookie'] ?? '' }
    expect({ headers, body: '', status }).toStrictEqual(page(200, '', "'self'", own))
    const form = { action: DEVICE_PATH, fields: [{ name: 'consent', value: expect.any(String) }] }
    const always = { user: { name: 'Ada' }, form, stylesheet: STYLESHEET }
    expect(JSON.parse(body)).toStrictEqual({ ...always, userCode: user_code, complete: true })
    const url = expect.stringContaining(`${DEVICE_PATH}?user_code=${user_code}`)
    expect(beside).toEqual([
      {
        locale: 'en',
        appearance: {},
        texts: en,
        request: expect.objectContaining({ method: 'GET', url, headers: expect.any(Object) }),
      },
    ])
    const browser = { page: { status, headers, body }, headers: { cookie: own['Set-Cookie'].split(';')[0] ?? '' } }
    const fields = { consent: JSON.parse(body).form.fields[0].value }
    const typed = await enter(test, { ...browser, fields }, 'WDJB')
    expect(JSON.parse(typed.page.body)).toStrictEqual({ ...always, userCode: 'WDJB', complete: false, fault: UNKNOWN })
    const consent = await enter(test, { ...browser, fields }, user_code)
    expect(await decideOn(test, consent, 'refuse')).toStrictEqual(
      page(200, JSON.stringify({ decision: 'refuse', application: SAMPLE, stylesheet: STYLESHEET })),
    )
    // Sent again, it is answered with what is so; altered, with no more than an empty field.
    const shown = { decision: 'refuse', application: SAMPLE, stylesheet: STYLESHEET }
    expect(JSON.parse((await decideOn(test, consent)).body)).toStrictEqual(shown)
    const altered = await decideOn(test, consent, 'agree', { consent: '1.x.y' })
    expect(JSON.parse(altered.body)).toStrictEqual({ ...always, complete: false, fault: UNKNOWN })
  })
})

describe('what happens between the reading of a form and its decision', () => {
  /** Lets something happen at the one transaction of a decision, after the form was found to be sound. */
  async function meanwhile(
    happens: (test: WatchedServer, codes: Codes) => Promise<unknown>,
    decision: 'agree' | 'refuse',
    form: Record<string, string> = {},
  ) {
    const test = await watchedServer()
    const codes = await codesOf(test)
    const shown = await enterCode(test, codes.user_code)
    test.instead.read = async (keys) => {
      if (keys.length === 3) {
        test.instead.read = undefined
        await happens(test, codes)
      }
      return test.store.read(keys)
    }
    const response = await decideOn(test, shown, decision, form)
    return { test, codes, response, unknown: unknownCode({ ...shown, page: response }) }
  }

  it('an application that is suspended: nobody can agree to it any more', async () => {
    const suspend = ({ server }: TestServer) => server.applications.suspend('web')
    const { test, codes, response, unknown } = await meanwhile(suspend, 'agree')
    expect(response).toStrictEqual(unknown)
    expect(test.events.at(-1)).toMatchObject({ type: 'refused', reason: 'user_code_unknown', subject: 'ada' })
    await test.server.applications.reinstate('web')
    expect(await told(test, codes)).toBe('authorization_pending')
  })

  it('an application that is suspended: to refuse it is well and good', async () => {
    const suspend = ({ server }: TestServer) => server.applications.suspend('web')
    const { test, codes, response } = await meanwhile(suspend, 'refuse')
    expect(response).toStrictEqual(result('refuse'))
    await test.server.applications.reinstate('web')
    expect(await told(test, codes)).toBe('access_denied')
  })

  it('[46] a device that the same user decided on: what is so by then', async () => {
    const { test, codes, response } = await meanwhile((each, found) => decide(each, found, 'refuse'), 'agree')
    expect(response).toStrictEqual(result('refuse'))
    expect(await told(test, codes)).toBe('access_denied')
  })

  it('[13] a device that the same user agreed to with other resources: the form is refused', async () => {
    const agree = (each: TestServer, found: Codes) => decide(each, found, 'agree')
    const same = await meanwhile(agree, 'agree', { resource_scope: 'all' })
    expect(same.response).toStrictEqual(result('agree'))
    const { test, codes, response } = await meanwhile(agree, 'agree', { resource_scope: 'public' })
    expect(response).toStrictEqual(FORM_REFUSED)
    expect(await call(test, (await poll(test, codes)).body.access_token)).toMatchObject({ resources: { kind: 'all' } })
  })

  it('[46] a device that somebody else decided on: the code is unknown', async () => {
    const asBob = async (test: WatchedServer, codes: Codes) => {
      test.session.user = { subject: 'bob' }
      await decide(test, codes)
      test.session.user = { subject: 'ada', name: 'Ada' }
    }
    const { test, codes, response, unknown } = await meanwhile(asBob, 'refuse')
    expect(response).toStrictEqual(unknown)
    expect(await told(test, codes)).toBe('tokens')
  })

  it('[46] a code that expires: it is unknown', async () => {
    const expire = async ({ clock }: TestServer) => {
      clock.now += 600
    }
    const { test, codes, response } = await meanwhile(expire, 'agree')
    expect(response.status).toBe(400)
    expect(response.body).toContain(UNKNOWN)
    expect(await told(test, codes)).toBe('expired_token')
  })
})

describe('[49] what fails behind the page', () => {
  /** Lets one operation of the store fail, counted from the next on. */
  function failAt({ store, instead }: WatchedServer, at: number): void {
    let calls = 0
    instead.read = (keys) => (calls++ === at ? Promise.reject(new StoreFailure()) : Promise.resolve(store.read(keys)))
    instead.write = (key, value, options) =>
      calls++ === at ? Promise.reject(new StoreFailure()) : Promise.resolve(store.write(key, value, options))
  }

  it('[49] the store, at any operation of any form: 503 and no more; the form may be sent again', async () => {
    const failed = { code: 0, consent: 0 }
    for (let at = 0; at < 12; at++) {
      const test = await watchedServer({ remoteAddress: () => '192.0.2.1' })
      const codes = await codesOf(test)
      const asked = await openDevicePage(test)
      failAt(test, at)
      const first = await enter(test, asked, codes.user_code)
      test.instead.read = undefined
      test.instead.write = undefined
      const isEntered = first.page.status === 200
      expect(isEntered ? busyPage(503) : first.page).toStrictEqual(busyPage(503))
      const failure = { reason: 'store_failed', endpoint: 'device' }
      expect(isEntered ? failure : test.events.at(-1)).toMatchObject(failure)
      failed.code += isEntered ? 0 : 1
      const consent = await enter(test, asked, codes.user_code)
      failAt(test, at)
      const second = await decideOn(test, consent)
      test.instead.read = undefined
      test.instead.write = undefined
      const isDecided = second.status === 200
      expect(isDecided ? busyPage(503) : second).toStrictEqual(busyPage(503))
      failed.consent += isDecided ? 0 : 1
      expect(isDecided ? second : await decideOn(test, consent)).toStrictEqual(result('agree'))
      expect(await told(test, codes)).toBe('tokens')
    }
    // Two limits of a read and a write, the code, the device with its application; then six.
    expect(failed).toEqual({ code: 6, consent: 6 })
  })

  it('[49] a function of the host: 500, and the host is told', async () => {
    const failing = () => {
      throw new Error('of the host')
    }
    const broken = { user: failing, resources: failing, remoteAddress: failing, userCodeLimiter: failing }
    for (const [name, fails] of Object.entries(broken)) {
      const test = await testServer()
      const codes = await codesOf(test)
      const { server } = test
      const asked = await openDevicePage(test)
      const errors: unknown[] = []
      const other = createAuthorizationServer({
        issuer: ISSUER,
        store: test.store,
        clock: () => test.clock.now,
        user: () => test.session.user,
        signInUrl: () => '/sign-in',
        onError: (error) => errors.push(error),
        [name]: fails,
      })
      expect((await enter({ server: other }, asked, codes.user_code)).page).toStrictEqual(busyPage(500))
      expect(errors).toHaveLength(1)
      expect((await enter({ server }, asked, codes.user_code)).page.status).toBe(200)
    }
  })

  it('an application that a user could choose nothing for: 500', async () => {
    const test = await testServer()
    await changeApplication(test, { resourceScope: 'specified' })
    const { user_code } = await codesOf(test)
    expect((await enterCode(test, user_code)).page).toStrictEqual(busyPage(500))
  })
})

describe('whatever is sent', () => {
  const text = fc.oneof(
    anyText({ maxLength: 60 }),
    fc.constantFrom(
      '',
      'WDJB-MJHT',
      '__proto__',
      'agree',
      'refuse',
      'all',
      'specified',
      '..',
      'A'.repeat(22),
      '%',
      '&=',
    ),
  )
  const names = ['user_code', 'consent', 'decision', 'device', 'resource_scope', 'resource', 'client_id', '__proto__']
  const hostile = fc.dictionary(fc.constantFrom(...names), text, { maxKeys: 4 })
  const headers = fc.dictionary(
    fc.constantFrom('cookie', 'origin', 'sec-fetch-site', 'referer', 'content-type'),
    fc.oneof(text, fc.constantFrom('application/x-www-form-urlencoded; charset=utf-8', '__Host-grantwell=x')),
    { maxKeys: 2 },
  )
  const PAGES = [200, 302, 400]

  it('in any field and header, beside fields that are right, never fails, and decides once at most', async () => {
    const test = await testServer({ ...UNLIMITED, ...withItems })
    const codes = await codesOf(test)
    const asked = await openDevicePage(test)
    const consent = await enter(test, asked, codes.user_code)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(asked, consent), hostile, headers, async (form, fields, more) => {
        const pairs = Object.entries({ ...form.fields, ...fields })
        const sound = new URLSearchParams(pairs).toString()
        fc.pre(canSend({ headers: more }))
        const response = await post(test.server, DEVICE_PATH, sound, { ...form.headers, ...more })
        expect(PAGES).toContain(response.status)
        expect(response.body).not.toContain('<script')
      }),
      { numRuns: 200 },
    )
    expect(test.errors).toStrictEqual([])
    // `decision`, right as it is, may have been added to a form that was right: that is the user's own decision, once.
    const decisions = test.events.filter(({ type }) => type === 'issued' || type === 'device_refused')
    expect(decisions.length).toBeLessThanOrEqual(1)
    for (const event of decisions) expect(event).toMatchObject({ subject: 'ada' })
  })

  it('as a body or a query never fails', async () => {
    const test = await testServer(UNLIMITED)
    const { headers: own } = await openDevicePage(test)
    await fc.assert(
      fc.asyncProperty(anyText({ maxLength: 200 }), headers, async (body, more) => {
        fc.pre(canSend({ headers: more }))
        const posted = await post(test.server, DEVICE_PATH, body, { ...own, ...more })
        expect(PAGES).toContain(posted.status)
        // A body may be what no URL can.
        const query = canSend({ url: `/?${body}` }) ? body : new URLSearchParams({ body })
        const opened = await send(test.server, { url: `${DEVICE_PATH}?${query}`, headers: more })
        expect(opened.status).toBe(200)
        const asked = await post(test.server, '/oauth2/device_authorization', body, more)
        expect([400, 401]).toContain(asked.status)
      }),
      { numRuns: 300 },
    )
    expect(test.errors).toStrictEqual([])
  })
})

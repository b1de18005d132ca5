/**
 * Forms that no page of ours sent: they are refused before anything is looked up, and change nothing in the browser.
 * @module
 * @see RFC 6749, section 10.12; RFC 9700, section 4.7; SECURITY statement 11
 */
import { describe, expect, it } from 'vitest'
import { watchedServer } from '../server/helpers.js'
import { authorize, openConsent, post, send } from '../support.js'
import { codesOf, enterCode, openDevicePage } from './device-form.js'

const OTHER_DEVICE = { device: 'A'.repeat(22), user_code: 'BCDFGHJK' }
const DECISIONS = [{}, { decision: 'agree' }, { decision: 'refuse' }, { decision: 'x' }]

/** Ways in which a browser sends a form of another site, or one of ours after it lost its key. */
const BROWSERS: Readonly<Record<string, (cookie: string) => Record<string, string>>> = {
  'has no key': () => ({ origin: 'https://git.example', 'sec-fetch-site': 'same-origin' }),
  'has a key that is none': () => ({ cookie: '__Host-grantwell=x' }),
  'says another origin': (cookie) => ({ cookie, origin: 'https://evil.example' }),
  'says another site': (cookie) => ({ cookie, origin: 'null', 'sec-fetch-site': 'cross-site' }),
  'says nothing, without cookies': () => ({}),
}

describe('[11] a form that no page of ours can have sent', () => {
  it.each(Object.entries(BROWSERS))(
    '[11] is refused where its browser %s: it gets no key, and no device is looked up',
    async (_how, headersOf) => {
      const test = await watchedServer()
      const waiting = await enterCode(test, (await codesOf(test)).user_code)
      const asking = await openDevicePage(test)
      const consent = await openConsent(test)
      await authorize(test)
      const listed = await send(test.server, { url: '/oauth2/applications' })
      const forms: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
        ['/oauth2/device', asking.fields],
        ['/oauth2/device', { ...asking.fields, user_code: 'WDJB-MJHT' }],
        ['/oauth2/device', waiting.fields],
        ['/oauth2/device', { ...waiting.fields, ...OTHER_DEVICE }],
        ['/oauth2/device', OTHER_DEVICE],
        ['/oauth2/auth', consent.fields],
        ['/oauth2/auth', { request: consent.fields['request'] ?? '' }],
        ['/oauth2/applications', { client_id: 'web', consent: 'x' }],
        ['/oauth2/applications', { client_id: 'web' }],
      ]
      const cookie = listed.headers['Set-Cookie']?.split(';')[0] ?? ''
      for (const [path, fields] of forms)
        for (const decision of DECISIONS)
          for (const choice of [{}, { resource_scope: 'all' }, { resource_scope: 'x' }]) {
            test.forget()
            const { status, headers } = await post(
              test.server,
              path,
              { ...fields, ...decision, ...choice },
              headersOf(cookie),
            )
            expect([path, status, headers['Set-Cookie']]).toStrictEqual([path, 400, undefined])
            // The user's own decisions come with the application.
            expect(test.trips.keys.filter((key) => !/^(?:application|consent):/.test(key))).toStrictEqual([])
            expect(test.trips.writes).toBe(0)
          }
    },
  )
})

/**
 * The secrets of the device flow: what lies in a store, in the audit trail and in errors is of no use to whoever reads it.
 * @module
 * @see SECURITY statement 44
 */
import type { AuthorizationServerOptions, RecordStore } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import type { Codes } from '../protocol/device-form.js'
import { codesOf, decideOn, enter, enterCode, openDevicePage, poll } from '../protocol/device-form.js'
import type { TestServer } from '../support.js'
import { basic, OTHER, post, refresh, testServer, WEB } from '../support.js'
import { expectNoPiece, spellingsOf } from './secret-forms.js'

/** Everything that was told to clients, everything that was kept or told to the host, and where it was. */
interface Trail {
  readonly test: TestServer
  /** Secrets that a client or browser was given. */
  readonly secrets: Set<string>
  /** All that anybody but them can read: records and their keys, events, errors, what clients got as errors. */
  readonly readable: string[]
}

/** What the device flow leaves: with devices that wait, and ones that were agreed to, refused, redeemed and too late. */
async function walkedByDevices(options: Partial<AuthorizationServerOptions>): Promise<Trail> {
  const readable: string[] = []
  const secrets = new Set<string>()
  const clock = { now: 1_800_000_000 }
  const inner = memoryStore({ clock: () => clock.now })
  const recorded: RecordStore = {
    ...inner,
    write: (key, value, rest) => {
      readable.push(JSON.stringify([key, value, rest]))
      return inner.write(key, value, rest)
    },
  }
  const test = await testServer({ store: recorded, clock: () => clock.now, ...options })
  const begun = async (): Promise<Codes> => {
    const codes = await codesOf(test)
    secrets.add(codes.device_code)
    secrets.add(codes.user_code).add(codes.user_code.replace('-', ''))
    return codes
  }
  const polled = async (codes: Codes, client = WEB) => {
    const { status, body } = await poll(test, codes, client)
    if (status === 200) secrets.add(body.access_token).add(body.refresh_token)
    else readable.push(JSON.stringify(body))
    return body
  }
  const entered = async (codes: Codes) => {
    const page = await openDevicePage(test, `user_code=${codes.user_code}`)
    const consent = await enter(test, page, codes.user_code.toLowerCase())
    for (const { fields } of [page, consent]) secrets.add(fields['consent'] ?? '')
    secrets.add(page.headers.cookie.slice(page.headers.cookie.indexOf('=') + 1))
    return consent
  }
  const waits = await begun()
  await entered(waits)
  for (let count = 0; count < 3; count++) await polled(waits)
  const agreed = await begun()
  await decideOn(test, await entered(agreed))
  await polled(agreed, OTHER)
  const { refresh_token } = await polled(agreed)
  const { body } = await refresh(test, refresh_token)
  secrets.add(body.access_token).add(body.refresh_token)
  await polled(agreed)
  const refused = await begun()
  const consent = await entered(refused)
  await decideOn(test, consent, 'refuse')
  await decideOn(test, consent)
  await polled(refused)
  const late = await begun()
  clock.now += 600
  await polled(late)
  // In every wrong place, and so often that it is too often.
  for (const text of [late.device_code, late.user_code, agreed.device_code]) {
    const form = { grant_type: text, device_code: text, scope: text, client_id: text, code: text, token: text }
    for (const path of ['/oauth2/token', '/oauth2/device_authorization', '/oauth2/revoke'])
      for (const headers of [{}, basic(WEB), basic({ clientId: 'web', clientSecret: text })])
        readable.push((await post(test.server, path, form, headers)).body)
    for (let count = 0; count < 4; count++) await enterCode(test, text)
  }
  for (const event of test.events) readable.push(JSON.stringify(event))
  for (const error of test.errors) readable.push(String(error))
  secrets.delete('')
  return { test, secrets, readable }
}

describe('what is kept and told of devices', () => {
  it.each([
    ['without a derivation key', {}],
    ['with one', { derivationKey: new Uint8Array(32).fill(9) }],
  ])(
    '[44] has in it no user code, no device code and no other secret, in whatever spelling: %s',
    async (_, options) => {
      const { test, secrets, readable } = await walkedByDevices(options)
      const text = readable.join('\n')
      const reasons = test.events.flatMap((event) => ('reason' in event ? [event.reason] : []))
      for (const reason of ['polled_too_soon', 'user_code_unknown', 'too_many_attempts', 'consent_refused'] as const)
        expect(reasons).toContain(reason)
      expect([...secrets].filter((secret) => secret.length <= 9)).toHaveLength(8)
      expectNoPiece(text, secrets)
      for (const secret of secrets)
        for (const spelling of spellingsOf(secret)) expect(text.toLowerCase()).not.toContain(spelling.toLowerCase())
    },
  )
})

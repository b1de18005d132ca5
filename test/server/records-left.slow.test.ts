/**
 * Records that one user, address or application can leave in the store: each way is walked until it leaves no more, and the
 * table of the site is held against what was counted.
 * @module
 * @see DESIGN, "bounds"
 */
import { readFileSync } from 'node:fs'
import type { AuthorizationServerOptions, ClientVerdict, RecordStore } from 'grantwell'
import { serviceScopes } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { grantIdOf } from '../../src/core/credentials/credential.js'
import { DECISIONS_KEPT } from '../../src/core/grant/consents.js'
import { enter, openDevicePage } from '../protocol/device-form.js'
import { MAC_OPTIONS, macTokens, signedParts, signedRequest, withSigner } from '../protocol/mac-client.js'
import { askToRegister, NATIVE_CLIENT } from '../protocol/registration.js'
import type { TestServer } from '../support.js'
import {
  authorize,
  call,
  exchange,
  guard,
  openConsent,
  post,
  refresh,
  registration,
  revoke,
  START,
  testServer,
  tokens,
  WEB,
} from '../support.js'

/** A server that counts the records that live, and the most there ever were since `begin`. */
async function countingServer(options: Partial<AuthorizationServerOptions> = {}) {
  const clock = { now: START }
  const store = memoryStore({ clock: () => clock.now })
  /** When each record ends that was written since `begin`. */
  let ends = new Map<string, number>()
  const before = new Set<string>()
  let most = 0
  let prunedAt = START
  const alive = (): number => {
    // Walking through all of them at each write would take the square of the time.
    if (clock.now !== prunedAt) for (const [key, end] of ends) if (end <= clock.now) ends.delete(key)
    prunedAt = clock.now
    return ends.size
  }
  const counted: RecordStore = {
    ...store,
    write: (key, value, rest) => {
      const written = store.write(key, value, rest)
      if (written !== true || before.has(key)) return written
      const end = rest.expiresAt ?? Number.POSITIVE_INFINITY
      if (end > clock.now) ends.set(key, end)
      else ends.delete(key)
      most = Math.max(most, alive())
      return written
    },
  }
  const test: TestServer = {
    ...(await testServer({ store: counted, clock: () => clock.now, ...options })),
    clock,
    store,
  }
  return {
    test,
    begin: () => {
      for (const key of ends.keys()) before.add(key)
      ends = new Map()
      most = 0
    },
    most: () => most,
  }
}

/** One way to leave records: who it is, what they do, and a walk that leaves as many as it can. */
interface Way {
  readonly who: string
  readonly does: string
  readonly bound: string
  readonly walk: () => Promise<number>
}

const DEVICE = '/oauth2/device_authorization'

const WAYS: readonly Way[] = [
  {
    who: 'a user, for each application',
    does: 'agrees and refuses',
    bound: '50 grants (`grantLimit`), one list, 1,000 decisions that are over',
    walk: async () => {
      const { test, begin, most } = await countingServer({ consent: 'once' })
      const forms = []
      // Opened before the first is agreed to, since nobody is asked afterwards.
      for (let form = 0; form < DECISIONS_KEPT + 100; form++) forms.push(await openConsent(test))
      begin()
      for (const { fields, headers } of forms)
        await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
      for (let period = 0; period < 3; period++) {
        for (let turn = 0; turn < 150; turn++) {
          if (turn % 3 === 0) await authorize(test, {}, { decision: 'refuse' }).catch(() => {})
          const { code } = await authorizeAgain(test)
          if (turn % 2 === 0) await post(test.server, '/oauth2/token', { grant_type: 'authorization_code', code })
        }
        test.clock.now += 600
      }
      return most()
    },
  },
  {
    who: 'a user',
    does: 'types user codes',
    bound: 'one count',
    walk: async () => {
      const { test, begin, most } = await countingServer({ remoteAddress: () => undefined })
      const page = await openDevicePage(test)
      begin()
      for (let attempt = 0; attempt < 40; attempt++) await enter(test, page, 'WDJB-MJHT')
      return most()
    },
  },
  {
    who: 'an address',
    does: 'types user codes',
    bound: 'one count, beside those of its users',
    walk: async () => {
      const { test, begin, most } = await countingServer({ remoteAddress: () => '192.0.2.1' })
      begin()
      for (let attempt = 0; attempt < 80; attempt++) {
        test.session.user = { subject: `user ${attempt % 2}` }
        await enter(test, await openDevicePage(test), 'WDJB-MJHT')
      }
      return most() - 2
    },
  },
  {
    who: 'an address',
    does: 'asks for device codes',
    bound: 'see below',
    walk: () => devices('192.0.2.1', 3),
  },
  {
    who: 'an application without a known address',
    does: 'asks for device codes',
    bound: 'see below',
    walk: () => devices(undefined, 1),
  },
  {
    who: 'an address',
    does: 'registers clients that wait',
    bound: 'see below',
    walk: clients,
  },
  {
    who: 'an applicant',
    does: 'submits applications',
    bound: '20 that wait, each with a logo',
    walk: async () => {
      const { test, begin, most } = await countingServer()
      begin()
      const { scopes, ...rest } = registration()
      const submission = { ...rest, scopes: scopes.map((scope) => ({ scope: String(scope), reason: 'Needed' })) }
      const submit = () =>
        test.server.applications.submit(submission, { applicant: 'ada' }).catch((error: { code: string }) => {
          expect(error.code).toBe('ERR_TOO_MANY_SUBMISSIONS')
        })
      // At once as well as one after the other.
      await Promise.all(Array.from({ length: 50 }, submit))
      for (let turn = 0; turn < 30; turn++) await submit()
      return most()
    },
  },
  {
    who: 'an application, for each grant',
    does: 'exchanges, refreshes, revokes, calls',
    bound: 'all is in the record of the grant',
    walk: async () => {
      const { test, begin, most } = await countingServer()
      const { refresh_token, access_token } = await tokens(test)
      begin()
      let newest = refresh_token
      for (let turn = 0; turn < 30; turn++) {
        newest = (await refresh(test, newest)).body.refresh_token ?? newest
        await call(test, access_token)
        await revoke(test, turn % 2 === 0 ? access_token : 'unknown')
      }
      return most()
    },
  },
  {
    who: 'an application, for each signed request',
    does: 'calls with a `mac` token',
    bound: 'one nonce, for 25 minutes',
    walk: async () => {
      const { test, begin, most } = await countingServer(MAC_OPTIONS)
      await withSigner(test)
      const pair = await macTokens(test)
      begin()
      for (let turn = 0; turn < 10; turn++)
        await guard(test.server, signedRequest(pair, signedParts(test, { nonce: `nonce ${turn}` })))
      return most() / 10
    },
  },
]

/** Asks for codes as often as the limit lets it, until the first ones have expired. */
async function devices(address: string | undefined, period: number): Promise<number> {
  const { test, begin, most } = await countingServer({ remoteAddress: () => address })
  begin()
  for (let second = 0; second <= 900; second += period) {
    let status = 200
    while (status === 200) status = (await post(test.server, DEVICE, { client_id: 'native' })).status
    test.clock.now += period
  }
  return most()
}

/** Agrees by a form, or without one where nobody is asked. */
async function authorizeAgain(test: TestServer): Promise<{ readonly code: string }> {
  try {
    return await authorize(test)
  } catch {
    return { code: '' } // the application got its code at once
  }
}

/** Registers clients that wait, as often as the limit lets an address, until the first ones have gone. */
async function clients(): Promise<number> {
  const options = { clientPolicy: (): ClientVerdict => 'review', remoteAddress: () => '192.0.2.1' }
  const { test, begin, most } = await countingServer(options)
  begin()
  const [day, period] = [86_400, 180]
  for (let second = 0; second <= 30 * day; second += period) {
    let status = 201
    while (status === 201) status = (await askToRegister(test, NATIVE_CLIENT)).status
    test.clock.now += period
  }
  return most()
}

const MARK = '## Records that somebody can leave'

/** The page of the site with the figures. */
const page = (): string => readFileSync(new URL('../../docs/security/arithmetic.md', import.meta.url), 'utf8')

function table(rows: readonly { readonly way: Way; readonly records: number }[]): string {
  return [
    '| who | how | records at most | derivation |',
    '|---|---|---:|---|',
    ...rows.map(({ way, records }) => `| ${way.who} | ${way.does} | ${records.toLocaleString('en')} | ${way.bound} |`),
  ].join('\n')
}

describe('records that somebody can leave', () => {
  it('are as many as the arithmetic says, whatever is asked how often', async () => {
    const rows = []
    for (const way of WAYS) rows.push({ way, records: await way.walk() })
    const [, section = ''] = page().split(MARK)
    // The first table of the section.
    const written = section
      .slice(section.indexOf('|'))
      .split('\n\n')[0]
      ?.split('\n')
      .filter((line) => line.startsWith('|'))
    expect(written?.join('\n')).toBe(table(rows))
  })

  it('are no larger than the arithmetic says', async () => {
    const test = await testServer()
    const scopes = serviceScopes().definitions.map(
      ({ name, permissions }) => `${name}:${permissions.includes('rw') ? 'rw' : 'r'}` as const,
    )
    const full = { clientId: 'full', clientSecret: WEB.clientSecret }
    await test.server.applications.register(registration({ scopes }), full)
    const { code } = await authorize(test, { client_id: 'full' })
    let { body } = await exchange(test, code, {}, full)
    let largest = 0
    for (let refreshes = 0; refreshes < 130; refreshes++) {
      const answer = await refresh(test, body.refresh_token, {}, full)
      if (answer.status === 200) body = answer.body
      else test.clock.now += 301
      const { records } = await test.store.list('subject:ada')
      largest = Math.max(largest, ...records.map(({ value }) => JSON.stringify(value).length))
    }
    const ids = (index: number) => grantIdOf(new Uint8Array(16).fill(index % 251))
    const refused = Array.from({ length: DECISIONS_KEPT }, (_, index) => ({
      grantId: ids(index),
      at: START,
      formExpiresAt: START + 600,
      over: 'refused',
    }))
    const agreed = Array.from({ length: 50 }, (_, index) => ({ grantId: ids(index), at: START, formExpiresAt: START }))
    const decisions = JSON.stringify({ v: 1, decisions: [...refused, ...agreed] }).length
    const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 1000)} kB`
    expect(page()).toContain(`| a grant | 700 | ${kilobytes(largest)}, beside the identifiers of its resources |`)
    expect(page()).toContain(`| a list of decisions | | ${kilobytes(decisions)} |`)
  })

  it('grow with no request that changes nothing: a page, a refusal, an unknown client', async () => {
    const { test, begin, most } = await countingServer()
    begin()
    for (let turn = 0; turn < 20; turn++) {
      await openConsent(test)
      await post(test.server, DEVICE, { client_id: `nobody ${turn}` })
      await post(test.server, '/oauth2/token', { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'native' })
      await post(test.server, '/oauth2/auth', { request: 'client_id=web', decision: 'agree', consent: '1.x.y' })
    }
    expect(most()).toBe(0)
  })
})

/**
 * Records that one user, address or application can leave in the store: each way is walked until it leaves no more, and the
 * table of SECURITY.md is held against what was counted.
 * @module
 * @see DESIGN, "bounds"
 */
import { readFileSync } from 'node:fs'
import type { AuthorizationServerOptions, RecordStore } from 'grantwell'
import { serviceScopes } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { grantIdOf } from '../../src/core/credentials/credential.js'
import { DECISIONS_KEPT } from '../../src/core/grant/consents.js'
import { enter, openDevicePage } from '../protocol/device-form.js'
import { MAC_OPTIONS, macTokens, signedParts, signedRequest, withSigner } from '../protocol/mac-client.js'
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
  const ends = new Map<string, number>()
  const before = new Set<string>()
  let most = 0
  const alive = (): number => {
    for (const [key, end] of ends) if (end <= clock.now) ends.delete(key)
    return [...ends.keys()].filter((key) => !before.has(key)).length
  }
  const counted: RecordStore = {
    ...store,
    write: (key, value, rest) => {
      const written = store.write(key, value, rest)
      if (written === true) ends.set(key, rest.expiresAt ?? Number.POSITIVE_INFINITY)
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
    does: 'agrees, refuses, or is asked no more',
    bound: '`grantLimit` grants and their list; and for 5 minutes what newer ones replaced, 1,000 at most',
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
    bound: 'one count, until the attempts are free again',
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
    does: 'types user codes, as however many users',
    bound: 'one count, beside those of the users',
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
    does: 'asks for device codes, as any application',
    bound: '100 devices at once and 20 a minute, for 15 minutes each; their user codes, for 10; and one count',
    walk: () => devices('192.0.2.1', 3),
  },
  {
    who: 'an application, where no address is known',
    does: 'asks for device codes',
    bound: '1,000 devices at once and one a second; the same',
    walk: () => devices(undefined, 1),
  },
  {
    who: 'an applicant',
    does: 'hands in applications',
    bound: '20 that wait, each with its logo; what administrators refused stays, without',
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
    does: 'exchanges, refreshes, revokes, introspects and calls with a bearer token',
    bound: 'the one record of the grant, which is bounded itself',
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
    does: 'calls with a token of the type `mac`',
    bound: 'one nonce for 25 minutes at most: limit the rate of such calls as that of any',
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

const MARK = '## Records that somebody can leave'

function table(rows: readonly { readonly way: Way; readonly records: number }[]): string {
  return [
    '| who | what they do | records at most | what bounds them |',
    '|---|---|---:|---|',
    ...rows.map(({ way, records }) => `| ${way.who} | ${way.does} | ${records.toLocaleString('en')} | ${way.bound} |`),
  ].join('\n')
}

describe('records that somebody can leave', () => {
  it('are as many as SECURITY.md says, whatever is asked how often', { timeout: 300_000 }, async () => {
    const rows = []
    for (const way of WAYS) rows.push({ way, records: await way.walk() })
    const text = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8')
    const [, section = ''] = text.split(MARK)
    const written = section
      .split('\n## ')[0]
      ?.split('\n')
      .filter((line) => line.startsWith('|'))
    expect(written?.join('\n')).toBe(table(rows))
  })

  it('are no larger than SECURITY.md says', { timeout: 120_000 }, async () => {
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
    const text = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8').replaceAll('\n', ' ')
    expect(text).toContain(`A grant has about 700 bytes and at most ${kilobytes(largest)} beside the identifiers`)
    expect(text).toContain(`a list of decisions at most ${kilobytes(decisions)}`)
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

/**
 * A life on the service that leaves a record of every kind and state, and the questions by which a server shows that it reads them.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { AuditEvent, AuthorizationServerOptions, JsonValue, RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { seededEntropy } from 'grantwell/testing'
import { expect } from 'vitest'
import { codesOf, decide, poll } from '../protocol/device-form.js'
import { MAC_OPTIONS, macTokens, signedParts, signedRequest, withSigner } from '../protocol/mac-client.js'
import { register } from '../protocol/registration.js'
import { told, withApi } from '../protocol/resource-server.js'
import type { TestServer } from '../support.js'
import {
  authorize,
  call,
  exchange,
  guard,
  ISSUER,
  LOGO,
  OTHER,
  openConsent,
  refresh,
  registration,
  revoke,
  START,
  send,
  testServer,
  token,
  tokens,
  WEB,
  works,
} from '../support.js'

/** A record as it is in a store. */
export interface FixtureRecord {
  readonly key: string
  readonly value: JsonValue
  readonly expiresAt?: number
  readonly labels?: readonly string[]
}

/** The records of a life, and what its clients have. */
export interface Fixture {
  readonly records: readonly FixtureRecord[]
  readonly held: Held
}

/** What the clients of the life have in their hands. */
export interface Held {
  /** An access token that works. */
  readonly works: string
  /** A refresh token that was used a moment ago, and the pair that it was answered with. */
  readonly used: string
  readonly successor: { readonly access_token: string; readonly refresh_token: string }
  /** The refresh token of a grant that its client revoked. */
  readonly revoked: string
  /** A code that nobody exchanged. */
  readonly code: string
  /** An access token of the application that is suspended. */
  readonly suspended: string
  /** A device that waits, one whose user agreed, and one whose user refused. */
  readonly waiting: { readonly device_code: string; readonly user_code: string }
  readonly agreed: { readonly device_code: string }
  readonly refused: { readonly device_code: string }
  /** A signed request that was let in. */
  readonly signed: { readonly method: string; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  /** Applications: one that waits for an administrator, one whose change waits, and one that was rejected. */
  readonly submitted: string
  readonly changed: string
  readonly rejected: string
  /** The client that registered itself, and its registration access token. */
  readonly self: { readonly client_id: string; readonly registration_access_token: string }
}

const FOLDER = new URL('records/', import.meta.url)

/** The records of every version that a release wrote, by the names of their files. */
export const FIXTURES: readonly (readonly [version: string, fixture: Fixture])[] = readdirSync(FOLDER).map((file) => [
  file.replace('.json', ''),
  JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')),
])

/** The options of the servers of the life, the same in every release. */
const OPTIONS = {
  ...MAC_OPTIONS,
  clientPolicy: () => 'approve',
  resources: () => [{ id: 'engine', name: 'Engine' }],
} satisfies Partial<AuthorizationServerOptions>

/** Lives the life. Whoever lives it again, by the same release, leaves the very same records. */
export async function liveOnce(): Promise<Fixture> {
  const clock = { now: START }
  const store = memoryStore({ clock: () => clock.now })
  const written = new Map<string, FixtureRecord>()
  const recording: RecordStore = {
    read: (keys) => store.read(keys),
    list: (label, page) => store.list(label, page),
    write: async (key, value, options) => {
      const isWritten = await store.write(key, value, options)
      const { expiresAt, labels = [] } = options
      if (isWritten && expiresAt !== undefined && expiresAt <= clock.now) written.delete(key)
      else if (isWritten) written.set(key, { key, value, ...(expiresAt !== undefined && { expiresAt }), labels })
      return isWritten
    },
  }
  const options = { ...OPTIONS, store: recording, clock: () => clock.now, entropy: seededEntropy(7) }
  const test = { ...(await withApi(await withSigner(await testServer(options)))), clock }
  const held = { ...(await liveGrants(test)), ...(await liveApplications(test)) }
  const records = [...written.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
  return { records, held }
}

type HeldOfGrants = Omit<Held, 'submitted' | 'changed' | 'rejected' | 'self'>

async function liveGrants(test: TestServer): Promise<HeldOfGrants> {
  const chosen = { resource_scope: 'specified', resource: 'engine' }
  const working = (await exchange(test, (await authorize(test, {}, chosen)).code)).body
  const first = await tokens(test, { scope: 'repo-code:r' })
  const second = (await refresh(test, first.refresh_token)).body
  const ended = await tokens(test)
  await revoke(test, ended.refresh_token)
  const { code } = await authorize(test)
  const other = { client_id: OTHER.clientId, redirect_uri: 'https://other.example/callback' }
  const suspended = (await exchange(test, (await authorize(test, other)).code, {}, OTHER)).body
  const [waiting, agreed, refused] = [await codesOf(test), await codesOf(test), await codesOf(test)]
  await decide(test, agreed)
  await decide(test, refused, 'refuse')
  const signing = await macTokens(test)
  const signed = signedRequest(signing, signedParts(test, { nonce: 'of-the-fixture' }))
  const { method, url, headers } = signed
  expect((await guard(test.server, signed)).type).toBe('authenticated')
  return {
    works: working.access_token,
    used: first.refresh_token,
    successor: { access_token: second.access_token, refresh_token: second.refresh_token },
    revoked: ended.refresh_token,
    code,
    suspended: suspended.access_token,
    waiting: { device_code: waiting.device_code, user_code: waiting.user_code },
    agreed: { device_code: agreed.device_code },
    refused: { device_code: refused.device_code },
    signed: { method, url, headers: { host: headers.host, authorization: headers.authorization } },
  }
}

async function liveApplications(test: TestServer): Promise<Pick<Held, 'submitted' | 'changed' | 'rejected' | 'self'>> {
  const { applications } = test.server
  const submission = { ...registration(), scopes: [{ scope: 'repo-code:r', reason: 'To read' }] }
  const submitted = await applications.submit(submission, { applicant: 'eve' })
  const rejected = await applications.submit(submission, { applicant: 'eve' })
  await applications.reject(rejected.id, { revision: 1, reason: 'Not this one' })
  const changed = await applications.submit(submission, { applicant: 'eve' })
  await applications.approve(changed.id, { revision: 1 })
  await applications.change(changed.id, { description: 'Another description' })
  await applications.rotateSecret('web', { clientSecret: 'another-secret-of-the-web-application' })
  await applications.setTerms('web', { accessTokenLifetime: 3600 })
  await applications.suspend('other')
  const { client_id, registration_access_token } = await register(test)
  return {
    submitted: submitted.id,
    changed: changed.id,
    rejected: rejected.id,
    self: { client_id, registration_access_token },
  }
}

/** Puts the records of a life into a store. */
export async function load(store: RecordStore, records: readonly FixtureRecord[]): Promise<void> {
  for (const { key, value, ...rest } of records) {
    const isWritten = await store.write(key, value, { expected: 0, ...rest })
    if (!isWritten) throw new Error(`not written: ${key}`)
  }
}

/** Asks a server over the records of a life for everything that they stand for. */
export async function expectRead(store: RecordStore, held: Held): Promise<void> {
  const clock = { now: START + 60 }
  const events: AuditEvent[] = []
  const errors: unknown[] = []
  const session = { user: { subject: 'ada', name: 'Ada' } }
  const server = createAuthorizationServer({
    ...OPTIONS,
    issuer: ISSUER,
    store,
    digests: nodeDigests,
    clock: () => clock.now,
    user: () => session.user,
    signInUrl: () => '/sign-in',
    onEvent: (event) => void events.push(event),
    onError: (error) => void errors.push(error),
  })
  const test = { server, clock, events, errors, session } as unknown as TestServer // without the store, which need not be in memory
  await expectGrants(test, held)
  await expectDevices(test, held)
  await expectApplications(test, held)
  expect(errors).toEqual([])
}

async function expectGrants(test: TestServer, held: Held): Promise<void> {
  const { server } = test
  expect(await told(test, held.works)).toMatchObject({ active: true, sub: 'ada', client_id: 'web' })
  expect(await call(test, held.works)).toMatchObject({ resources: { kind: 'specified', ids: ['engine'] } })
  expect(await works(test, held.suspended)).toBe(false)
  expect((await refresh(test, held.revoked)).status).toBe(400)
  const again = await refresh(test, held.used)
  expect(again.body).toMatchObject(held.successor)
  expect((await refresh(test, held.successor.refresh_token)).status).toBe(200)
  expect((await exchange(test, held.code)).status).toBe(200)
  const signed = await guard(server, held.signed)
  expect(signed.type === 'refused' && 'reason' in signed.error && signed.error.reason).toBe('mac_replayed')
  const { grants } = await server.grants.listGrants('ada')
  expect(grants.map(({ clientId }) => clientId).toSorted()).toEqual(['other', 'signer', 'web', 'web', 'web', 'web'])
  expect((await openConsent(test)).page.status).toBe(200)
}

async function expectDevices(test: TestServer, held: Held): Promise<void> {
  expect((await poll(test, held.agreed)).status).toBe(200)
  expect((await poll(test, held.refused)).body.error).toBe('access_denied')
  expect((await poll(test, held.waiting)).body.error).toBe('authorization_pending')
  await decide(test, held.waiting)
  test.clock.now += 10
  expect((await poll(test, held.waiting)).status).toBe(200)
}

async function expectApplications(test: TestServer, held: Held): Promise<void> {
  const { applications } = test.server
  const states = [held.submitted, held.changed, held.rejected, 'web', 'other', 'native', 'api', held.self.client_id]
  const found = await Promise.all(states.map(async (id) => (await applications.get(id))?.state))
  expect(found).toEqual([
    'pending',
    'approved',
    'rejected',
    'approved',
    'suspended',
    'approved',
    'approved',
    'approved',
  ])
  expect((await applications.list({ applicant: 'eve' })).applications).toHaveLength(3)
  expect((await applications.approve(held.submitted, { revision: 1 })).clientSecret).toMatch(/^gws_/)
  const { revision } = (await applications.get(held.changed)) ?? expect.fail()
  await applications.approve(held.changed, { revision })
  const inForce = await applications.get(held.changed)
  expect(inForce).toMatchObject({ state: 'approved', description: 'Another description' })
  const logo = inForce?.state === 'approved' ? inForce.logo : ''
  expect((await applications.logo(logo))?.bytes).toEqual(LOGO)
  await applications.reinstate('other')
  expect(await works(test, held.suspended)).toBe(true)
  const both = ['a-secret-of-the-web-application', 'another-secret-of-the-web-application']
  for (const clientSecret of both) {
    const answered = await token(test, { grant_type: 'refresh_token', refresh_token: 'x' }, { ...WEB, clientSecret })
    expect(answered.body.error).toBe('invalid_grant')
  }
  const { client_id: id, registration_access_token: own } = held.self
  const url = `/oauth2/register?client_id=${encodeURIComponent(id)}`
  expect((await send(test.server, { url, headers: { authorization: `Bearer ${own}` } })).status).toBe(200)
}

/**
 * Applications: what administrators do to them, and what of that the store holds.
 * @module
 * @see Specification, sections 1, 2.1 and 3; DESIGN, registration
 */
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import type { Amendment, Application, Registration, Submission } from 'grantwell'
import { portableDigests } from 'grantwell'
import type { PublishedApplication } from 'grantwell/core'
import { clientKeyOf, parseClientId } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { gif, jpeg, vp8 } from '../core/images.js'
import type { TestServer } from '../support.js'
import { authorize, exchange, LOGO, laterServer, registration, START, testServer, token, WEB } from '../support.js'
import type { WatchedServer } from './helpers.js'
import { StoreFailure, watchedServer } from './helpers.js'

function keyOf(clientId: string): string {
  return `application:${clientKeyOf(portableDigests, parseClientId(clientId) ?? expect.fail())}`
}

/** A registration error, and every fault that it names. */
function fault(message: string) {
  return expect.objectContaining({ name: 'GrantwellError', code: 'ERR_REGISTRATION', message: `grantwell: ${message}` })
}

const BAD_NAME = 'must have 1 to 50 characters, on one line'

/** What is told of an identifier and a secret from elsewhere. */
const IMPORTED: Readonly<Record<string, string>> = {
  clientId: 'must have 1 to 255 printable ASCII characters',
  clientSecret: 'must have 24 to 255 visible ASCII characters',
}

/** Faults of a registration as they are thrown. */
function faults(...paths: readonly string[]) {
  return { code: 'ERR_REGISTRATION', faults: paths.map((path) => expect.objectContaining({ path })) }
}

/** A logo that is told from others by its last byte. */
function logo(number: number): Uint8Array {
  return Uint8Array.of(...jpeg(1, 1), number)
}

/** What an applicant hands in. */
function submission(changes: Partial<Submission> = {}): Submission {
  return {
    ...registration(),
    scopes: [
      { scope: 'repo-code:rw', reason: 'To push what was built' },
      { scope: 'account-profile:r', reason: 'To greet you' },
    ],
    ...changes,
  }
}

/** The same without a logo. */
function amendment(changes: Partial<Amendment> = {}): Amendment {
  const { logo: left, ...rest } = submission()
  return { ...rest, ...changes }
}

/** Hands in an application and approves it: its identifier and secret. */
async function approved({ server }: TestServer, changes: Partial<Submission> = {}) {
  const { id, revision } = await server.applications.submit(submission(changes), { applicant: 'bob' })
  const { clientSecret = '' } = await server.applications.approve(id, { revision })
  return { clientId: id, clientSecret }
}

/** The record of an application that there is. */
async function recordOf({ server }: TestServer, id: string): Promise<Application> {
  return (await server.applications.get(id)) ?? expect.fail('no such application')
}

/** The same, of one that is in force. */
async function inForce(test: TestServer, id: string): Promise<PublishedApplication> {
  const application = await recordOf(test, id)
  return application.state === 'approved' || application.state === 'suspended'
    ? application
    : expect.fail(application.state)
}

/** Whether a client is believed: it asks for what it cannot have. */
async function isBelieved(test: TestServer, client: { clientId: string; clientSecret?: string }): Promise<boolean> {
  const { status, body } = await token(test, { grant_type: 'refresh_token', refresh_token: 'none' }, client)
  expect([status, body.error]).toEqual(status === 401 ? [401, 'invalid_client'] : [400, 'invalid_grant'])
  return status !== 401
}

const UNKNOWN = { code: 'ERR_CLIENT_UNKNOWN', message: 'grantwell: there is no such application' }
const EXISTS = { code: 'ERR_CLIENT_EXISTS', message: 'grantwell: there is an application with this client identifier' }
const FAILED = { code: 'ERR_STORE', message: 'grantwell: the store failed' }

describe('1, 2.1 registration', () => {
  it('makes an identifier and a secret, which is shown this once and works', async () => {
    const test = await testServer()
    const { clientId, clientSecret, ...rest } = await test.server.applications.register(registration())
    expect(rest).toStrictEqual({})
    expect(clientId).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(clientSecret).toMatch(/^gws_[A-Za-z0-9_-]{43}$/)
    const client = { clientId, clientSecret: clientSecret ?? '' }
    expect((await exchange(test, (await authorize(test, { client_id: clientId })).code, {}, client)).status).toBe(200)
    expect(JSON.stringify(await test.server.applications.get(clientId))).not.toContain(clientSecret)
  })

  it('makes no secret for a public client', async () => {
    const { server } = await testServer()
    const redirectUris = ['com.example.app:/callback']
    const made = await server.applications.register(registration({ type: 'public', redirectUris }))
    expect(made).toStrictEqual({ clientId: made.clientId })
    expect(await server.applications.get(made.clientId)).toMatchObject({ type: 'public', secrets: [] })
  })

  it('keeps this record, and the logo beside it', async () => {
    const test = await testServer()
    const given = registration({ deviceFlow: true })
    const made = await test.server.applications.register(given, { ...WEB, clientId: 'imported' })
    expect(made).toStrictEqual({ clientId: 'imported', clientSecret: WEB.clientSecret })
    const { logo: named } = await inForce(test, 'imported')
    expect(named).toMatch(/^[\w-]{22}$/)
    const record = {
      v: 1,
      id: 'imported',
      clientId: 'imported',
      type: 'confidential',
      state: 'approved',
      name: 'Sample',
      description: 'An application',
      website: 'https://app.example',
      logo: named,
      redirectUris: ['https://app.example/callback'],
      authorizedDomain: 'app.example',
      allowSubdomains: false,
      scopes: ['repo-code:rw', 'account-profile:r'],
      reasons: {},
      resourceScope: 'all',
      deviceFlow: true,
      secrets: [{ digest: portableDigests.sha256(WEB.clientSecret) }],
      revision: 1,
      createdAt: START,
      approvedAt: START,
    }
    expect(await test.server.applications.get('imported')).toStrictEqual(record)
    const [application, kept] = await test.store.read([keyOf('imported'), `logo:${named}`])
    expect(application?.value).toStrictEqual(record)
    expect(kept?.value).toStrictEqual({ v: 1, base64url: Buffer.from(LOGO).toString('base64url') })
    expect(test.events).toStrictEqual(
      (['submitted', 'approved'] as const).map((change) => ({
        type: 'application',
        at: START,
        applicationId: 'imported',
        change,
        revision: 1,
      })),
    )
  })

  it('each application has a logo of its own, so that one that goes takes none from another', async () => {
    const test = await testServer()
    const before = test.store.size
    await test.server.applications.register(registration())
    expect(test.store.size).toBe(before + 2)
  })

  it('tells every fault that there is, with its path, in a list and in words', async () => {
    const test = await testServer()
    const before = test.store.size
    const wrong = registration({ name: '', website: 'ftp://app.example', scopes: ['unknown:r'] })
    await expect(test.server.applications.register(wrong)).rejects.toThrow(
      fault(
        'name must have 1 to 50 characters, on one line; website must be an http or https URL of at most 128 characters, without user info; scopes[0] must be a scope of the catalogue, such as repo-code:r',
      ),
    )
    await expect(test.server.applications.register(wrong)).rejects.toMatchObject({
      faults: [
        { path: 'name', message: 'must have 1 to 50 characters, on one line' },
        {
          path: 'website',
          message: 'must be an http or https URL of at most 128 characters, without user info',
        },
        { path: 'scopes[0]', message: 'must be a scope of the catalogue, such as repo-code:r' },
      ],
    })
    expect([test.store.size, test.events]).toEqual([before, []])
  })

  it.each<readonly [what: string, given: object]>([
    ['an empty identifier', { clientId: '' }],
    ['an identifier that is not ASCII', { clientId: 'w\u{e9}b' }],
    ['an identifier of 256 characters', { clientId: 'w'.repeat(256) }],
    ['an empty secret', { clientSecret: '' }],
    ['a secret of 23 characters', { clientSecret: 's'.repeat(23) }],
    ['a secret of 256 characters', { clientSecret: 's'.repeat(256) }],
    ['a secret with a space', { clientSecret: `${'s'.repeat(24)} ` }],
    ['a secret that is not ASCII', { clientSecret: '\u{e9}'.repeat(24) }],
    ['an identifier and a secret that are too short', { clientId: '', clientSecret: 'short' }],
    ...[7, null, {}, ['a-secret-of-the-web-application']].map(
      (value) => [`${JSON.stringify(value)} for both`, { clientId: value, clientSecret: value }] as const,
    ),
  ])(
    'no application and no API is imported with %s, which is told with all that is wrong besides',
    async (_what, given) => {
      const test = await testServer()
      const before = test.store.size
      const { applications } = test.server
      const imported = given as { clientId: string } // without types
      const own = Object.keys(given).map((path) => ({ path, message: IMPORTED[path] }))
      const api = { name: 'API', website: 'https://api.example', scopes: ['repo-code:rw'] }
      for (const changes of [{}, { name: '' }]) {
        const expected = [...('name' in changes ? [{ path: 'name', message: BAD_NAME }] : []), ...own]
        for (const registered of [
          applications.register(registration(changes), imported),
          applications.registerResourceServer({ ...api, ...changes }, imported),
        ])
          await expect(registered).rejects.toMatchObject({
            code: 'ERR_REGISTRATION',
            message: `grantwell: ${expected.map(({ path, message }) => `${path} ${message}`).join('; ')}`,
            faults: expected,
          })
      }
      expect([test.store.size, test.events]).toEqual([before, []])
    },
  )

  it.each(['hex', 'base64url'] as const)(
    'imports the SHA-256 of a secret that the client keeps, in %s, and shows no secret',
    async (encoding) => {
      const test = await testServer()
      const clientSecretDigest = createHash('sha256').update(WEB.clientSecret).digest(encoding)
      const imported = { clientId: 'imported', clientSecretDigest }
      expect(await test.server.applications.register(registration(), imported)).toStrictEqual({ clientId: 'imported' })
      expect(await isBelieved(test, { clientId: 'imported', clientSecret: WEB.clientSecret })).toBe(true)
      expect(await isBelieved(test, { clientId: 'imported', clientSecret: clientSecretDigest })).toBe(false)
      const { clientSecret } = await test.server.applications.rotateSecret('imported')
      for (const secret of [clientSecret, WEB.clientSecret])
        expect(await isBelieved(test, { clientId: 'imported', clientSecret: secret })).toBe(true)
    },
  )

  it('refuses a digest that is none, one beside a secret, and one of a public client', async () => {
    const { server } = await testServer()
    const clientSecretDigest = 'f'.repeat(64)
    const wrong = 'must be the SHA-256 of a random secret, in 64 hexadecimal digits or 43 characters of base64url'
    for (const digest of ['', 'f'.repeat(63), 7, null, {}]) {
      const registered = server.applications.register(registration(), { clientSecretDigest: digest as string }) // without types
      await expect(registered).rejects.toThrow(fault(`clientSecretDigest ${wrong}`))
    }
    const twice = { clientSecret: WEB.clientSecret, clientSecretDigest }
    await expect(server.applications.register(registration(), twice)).rejects.toThrow(
      fault('clientSecretDigest must not be given beside clientSecret'),
    )
    const native = registration({ type: 'public', redirectUris: ['http://127.0.0.1/'] })
    await expect(server.applications.register(native, { clientSecretDigest })).rejects.toThrow(
      fault('clientSecretDigest must not be given: a public client has none'),
    )
  })

  it('refuses the hash of a password as a secret, and says which kind it is and what to do', async () => {
    const { server } = await testServer()
    const clientSecret = '$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW'
    const message = 'must be the secret itself, not a hash of it (bcrypt): leave it out, and the client gets a new one'
    await expect(server.applications.register(registration(), { clientSecret })).rejects.toThrow(
      fault(`clientSecret ${message}`),
    )
    const api = { name: 'API', website: 'https://api.example', scopes: ['repo-code:rw'] }
    await expect(server.applications.registerResourceServer(api, { clientSecret })).rejects.toMatchObject({
      faults: [{ path: 'clientSecret', code: 'client_secret_hashed', values: { kind: 'bcrypt' } }],
    })
    await expect(server.applications.rotateSecret('web', { clientSecret })).rejects.toMatchObject({
      code: 'ERR_CONFIGURATION',
      message: expect.not.stringContaining(clientSecret),
    })
  })

  it('imports identifiers and secrets at their limits, and refuses a secret of a public client', async () => {
    const { server } = await testServer()
    for (const length of [24, 255]) {
      const imported = { clientId: `${length}`.padEnd(length, ' ~'), clientSecret: '!~'.padEnd(length, 's') }
      expect(await server.applications.register(registration(), imported)).toStrictEqual(imported)
      expect(await server.applications.get(imported.clientId)).toMatchObject({ clientId: imported.clientId })
    }
    const native = registration({ type: 'public', redirectUris: ['http://127.0.0.1/'] })
    await expect(server.applications.register(native, { clientSecret: WEB.clientSecret })).rejects.toThrow(
      fault('clientSecret must not be given: a public client has none'),
    )
  })

  it('tells what is wrong with an identifier, too, where there is no registration at all', async () => {
    const { server } = await testServer()
    for (const nothing of [null, undefined, 'Sample'] as unknown as Registration[])
      await expect(server.applications.register(nothing, { clientId: '' })).rejects.toMatchObject({
        code: 'ERR_REGISTRATION',
        faults: expect.arrayContaining([expect.objectContaining({ path: 'clientId', message: IMPORTED['clientId'] })]),
      })
  })

  it('refuses an identifier that there is already, and changes nothing of it', async () => {
    const test = await testServer()
    const { server } = test
    const before = await server.applications.get('web')
    const size = test.store.size
    const again = server.applications.register(registration({ name: 'Impostor' }), { ...WEB, clientId: 'web' })
    await expect(again).rejects.toMatchObject(EXISTS)
    expect(await server.applications.get('web')).toStrictEqual(before)
    expect([test.store.size, test.events]).toEqual([size, []])
  })

  it('of one identifier by several administrators at once: one succeeds', async () => {
    const { server } = await laterServer()
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) =>
        server.applications.register(registration({ name: `Name ${index}` }), { clientId: 'same' }),
      ),
    )
    expect(results.map(({ status }) => status).sort()).toStrictEqual(['fulfilled', ...Array(4).fill('rejected')])
  })

  it('what is changed in the record that was given out changes nothing', async () => {
    const test = await testServer()
    const { server } = test
    const record = await server.applications.get('web')
    const before = JSON.stringify(record)
    Object.assign(record ?? {}, { state: 'suspended', name: 'changed' })
    const { redirectUris } = await inForce(test, 'web')
    const changeable = redirectUris as string[] // of a host without a type checker
    changeable.push('https://evil.example/')
    expect(JSON.stringify(await server.applications.get('web'))).toBe(before)
  })

  it('what is changed in the registration afterwards changes nothing', async () => {
    const { server } = await testServer()
    const redirectUris = ['https://app.example/callback']
    const mutable: Registration = registration({ redirectUris })
    const { clientId } = await server.applications.register(mutable)
    const before = JSON.stringify(await server.applications.get(clientId))
    redirectUris.push('https://evil.example/callback')
    expect(JSON.stringify(await server.applications.get(clientId))).toBe(before)
  })
})

describe('DESIGN: approved and suspended', () => {
  it('a suspended application is told from an approved one in its record, and nothing else of it changes', async () => {
    const { server } = await testServer()
    const before = await server.applications.get('web')
    await server.applications.suspend('web')
    expect(await server.applications.get('web')).toStrictEqual({ ...before, state: 'suspended' })
    await server.applications.suspend('web')
    await server.applications.reinstate('web')
    expect(await server.applications.get('web')).toStrictEqual(before)
    await server.applications.reinstate('web')
    expect(await server.applications.get('web')).toStrictEqual(before)
  })

  it.each(['nobody', '', 'w\u{e9}b', 'w'.repeat(256), '__proto__', 'Web'])('%j is no application', async (clientId) => {
    const { server, store, events } = await testServer()
    const { size } = store
    expect(await server.applications.get(clientId)).toBeUndefined()
    for (const asked of [
      server.applications.suspend(clientId),
      server.applications.reinstate(clientId),
      server.applications.approve(clientId, { revision: 1 }),
      server.applications.reject(clientId, { revision: 1, reason: 'x' }),
      server.applications.rotateSecret(clientId),
      server.applications.change(clientId, amendment()),
      server.applications.change(clientId, submission()),
    ])
      await expect(asked).rejects.toMatchObject(UNKNOWN)
    expect([store.size, events]).toEqual([size, []])
  })

  it('any identifier that can be registered is found, and none else', async () => {
    const { server } = await testServer()
    const text = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 255,
    })
    const registered = new Set(['web', 'other', 'native'])
    await fc.assert(
      fc.asyncProperty(text, text, async (clientId, another) => {
        const made = await server.applications.register(registration(), { clientId }).catch((error: unknown) => error)
        expect(made).toMatchObject(registered.has(clientId) ? EXISTS : { clientId })
        registered.add(clientId)
        expect((await server.applications.get(another))?.id).toBe(registered.has(another) ? another : undefined)
      }),
      { numRuns: 60 },
    )
  })
})

describe('1 an application is handed in', () => {
  it('and waits: it has an identifier, and nothing works with it', async () => {
    const test = await testServer()
    const given = submission({ deviceFlow: false })
    const application = await test.server.applications.submit(given, { applicant: 'bob' })
    const { logo: named } = application.review.details
    expect(application).toStrictEqual({
      v: 1,
      id: expect.stringMatching(/^[\w-]{22}$/),
      state: 'pending',
      applicant: 'bob',
      revision: 1,
      createdAt: START,
      review: {
        state: 'pending',
        revision: 1,
        submittedAt: START,
        details: {
          type: 'confidential',
          name: 'Sample',
          description: 'An application',
          website: 'https://app.example',
          redirectUris: ['https://app.example/callback'],
          authorizedDomain: 'app.example',
          allowSubdomains: false,
          scopes: ['repo-code:rw', 'account-profile:r'],
          reasons: { 'repo-code:rw': 'To push what was built', 'account-profile:r': 'To greet you' },
          resourceScope: 'all',
          deviceFlow: false,
          logo: named,
        },
      },
    })
    expect(await test.server.applications.get(application.id)).toStrictEqual(application)
    expect(await test.server.applications.logo(named)).toStrictEqual({ type: 'image/png', bytes: LOGO })
    expect(test.events).toStrictEqual([
      { type: 'application', at: START, applicationId: application.id, change: 'submitted', revision: 1, actor: 'bob' },
    ])
    expect(await isBelieved(test, { clientId: application.id, clientSecret: WEB.clientSecret })).toBe(false)
    expect(await isBelieved(test, { clientId: application.id })).toBe(false)
  })

  it('without an applicant, where the host does not say', async () => {
    const test = await testServer()
    for (const by of [undefined, {}]) {
      const { id } = await test.server.applications.submit(submission(), by)
      expect(await recordOf(test, id)).not.toHaveProperty('applicant')
    }
  })

  it('every fault is told at once, those of shape with those of content; nothing is kept', async () => {
    const test = await testServer()
    const before = test.store.size
    const wrong = {
      ...submission({ name: 'x'.repeat(51), description: 'x'.repeat(351), logo: new Uint8Array(1_048_577) }),
      website: 7,
      scopes: ['repo-code:r', { scope: 'repo-pr:r', reason: 'x'.repeat(351) }, { scope: 'nothing', reason: 'x' }],
      resourceScope: 'specified',
      colour: 'green',
    } as unknown as Submission // as an applicant writes it
    const paths = ['colour', 'name', 'logo', 'logo', 'description', 'website']
    const more = ['scopes[0].reason', 'scopes[1].reason', 'scopes[2].scope', 'resourceScope']
    await expect(test.server.applications.submit(wrong)).rejects.toMatchObject(faults(...paths, ...more))
    const { logo: taken, ...bare } = submission()
    await expect(test.server.applications.submit(bare as Submission)).rejects.toMatchObject(faults('logo')) // without types
    expect([test.store.size, test.events]).toEqual([before, []])
    await test.server.applications.submit(submission({ name: 'x'.repeat(50), description: 'x'.repeat(350) }))
  })

  it('for specified resources only where users can specify some', async () => {
    const asked = submission({ resourceScope: 'specified' })
    const { server } = await testServer()
    await expect(server.applications.submit(asked)).rejects.toMatchObject(faults('resourceScope'))
    const able = await testServer({ resources: () => [] })
    expect((await able.server.applications.submit(asked)).state).toBe('pending')
  })

  it('what is changed in the submission afterwards, or in the record that came back, changes nothing', async () => {
    const test = await testServer()
    const bytes = LOGO.slice()
    const redirectUris = ['https://app.example/callback']
    const application = await test.server.applications.submit(submission({ logo: bytes, redirectUris }))
    const before = JSON.stringify(application)
    redirectUris.push('https://evil.example/')
    bytes.fill(0)
    const copy = await recordOf(test, application.id)
    Object.assign(application, { state: 'approved' })
    Object.assign(application.review, { revision: 7 })
    Object.assign(application.review.details.reasons, { 'repo-delete:rw': 'x' })
    expect(JSON.stringify(await recordOf(test, application.id))).toBe(before)
    expect(JSON.stringify(copy)).toBe(before)
    expect((await test.server.applications.logo(copy.review?.details.logo ?? ''))?.bytes).toStrictEqual(LOGO)
  })
})

describe('1 an application is approved or rejected', () => {
  it('[22] approved, it gets its identifier and a secret, which is shown this once; the store has the digest', async () => {
    const test = await testServer()
    const { id } = await test.server.applications.submit(submission(), { applicant: 'bob' })
    test.clock.now += 60
    const credentials = await test.server.applications.approve(id, { revision: 1 })
    const { clientSecret = '' } = credentials
    expect(credentials).toStrictEqual({ clientId: id, clientSecret: expect.stringMatching(/^gws_[\w-]{43}$/) })
    const record = await inForce(test, id)
    expect(record).toMatchObject({
      state: 'approved',
      clientId: id,
      applicant: 'bob',
      createdAt: START,
      approvedAt: START + 60,
      secrets: [{ digest: portableDigests.sha256(clientSecret) }],
    })
    expect(record).not.toHaveProperty('review')
    const { records } = await test.store.list('applications:approved')
    for (const dump of [record, records, test.events]) expect(JSON.stringify(dump)).not.toContain(clientSecret.slice(4))
    expect(test.events.map((event) => event.type === 'application' && [event.change, event.at - START])).toEqual([
      ['submitted', 0],
      ['approved', 60],
    ])
    const { code } = await authorize(test, { client_id: id })
    expect((await exchange(test, code, {}, { clientId: id, clientSecret })).status).toBe(200)
  })

  it('[27] a public client is approved without a secret', async () => {
    const test = await testServer()
    const asked = submission({ type: 'public', redirectUris: ['com.example.app:/callback'] })
    const { id } = await test.server.applications.submit(asked)
    expect(await test.server.applications.approve(id, { revision: 1 })).toStrictEqual({ clientId: id })
    expect((await inForce(test, id)).secrets).toStrictEqual([])
  })

  it('for fewer and narrower scopes than were asked for, in whatever order they are named', async () => {
    const test = await testServer()
    const narrowings: readonly (readonly [readonly string[], string])[] = [
      [['repo-code:r'], 'repo-code:r'],
      [['account-profile:r', 'repo-code:r'], 'repo-code:r account-profile:r'],
      [['account-profile:r', 'account-profile:r'], 'account-profile:r'],
    ]
    for (const [scopes, granted] of narrowings) {
      const { id } = await test.server.applications.submit(submission())
      const { clientSecret = '' } = await test.server.applications.approve(id, { revision: 1, scopes })
      expect((await inForce(test, id)).scopes).toEqual(granted.split(' '))
      const { code } = await authorize(test, { client_id: id })
      expect((await exchange(test, code, {}, { clientId: id, clientSecret })).body.scope).toBe(granted)
    }
  })

  it('not for scopes that were not asked for, or that there are not; and nothing changes', async () => {
    const test = await testServer()
    const { id } = await test.server.applications.submit(submission())
    const before = await recordOf(test, id)
    for (const scopes of [['repo-delete:rw'], ['repo-code:rw', 'account-profile:rw'], [], ['nothing'], ['']]) {
      await expect(test.server.applications.approve(id, { revision: 1, scopes })).rejects.toMatchObject({
        code: 'ERR_REGISTRATION',
        message: 'grantwell: scopes must be among those that were asked for',
        faults: [{ path: 'scopes', message: 'must be among those that were asked for' }],
      })
    }
    expect(await recordOf(test, id)).toStrictEqual(before)
    expect(test.events).toHaveLength(1)
  })

  it('[26] rejected, it has the reason, for good, and gets nothing', async () => {
    const test = await testServer()
    const { id } = await test.server.applications.submit(submission(), { applicant: 'bob' })
    test.clock.now += 60
    expect(await test.server.applications.reject(id, { revision: 1, reason: 'No need to\nwrite' })).toBeUndefined()
    expect(await recordOf(test, id)).toMatchObject({
      state: 'rejected',
      review: { state: 'rejected', rejectedAt: START + 60, reason: 'No need to\nwrite', submittedAt: START },
    })
    expect(test.events.at(-1)).toStrictEqual({
      type: 'application',
      at: START + 60,
      applicationId: id,
      change: 'rejected',
      revision: 1,
    })
    expect(await isBelieved(test, { clientId: id, clientSecret: WEB.clientSecret })).toBe(false)
    await expect(authorize(test, { client_id: id })).rejects.toThrow('no consent page: 400')
  })

  it.each([
    ['nothing', ''],
    ['spaces', '  '],
    ['351 characters', 'x'.repeat(351)],
    ['an override from right to left', 'x\u202e'],
    ['a number', 7],
    ['no word', undefined],
  ])('not rejected with a reason of %s', async (_what, reason) => {
    const test = await testServer()
    const { id } = await test.server.applications.submit(submission())
    const rejected = test.server.applications.reject(id, { revision: 1, reason: reason as string }) // without types
    const message = reason === 'x\u202e' ? 'has a control or direction mark' : 'must have 1 to 350 characters'
    await expect(rejected).rejects.toMatchObject({
      code: 'ERR_REGISTRATION',
      message: `grantwell: reason ${message}`,
      faults: [{ path: 'reason', message }],
    })
    expect((await recordOf(test, id)).state).toBe('pending')
    await test.server.applications.reject(id, { revision: 1, reason: '👩‍👩‍👧‍👦'.repeat(350) })
  })
})

const STATE = {
  code: 'ERR_APPLICATION_STATE',
  message: expect.stringMatching(
    /^grantwell: this cannot be done with an application of this kind and state: it is (?:pending|rejected|approved|suspended)$/,
  ),
  faults: [],
}
const OUTDATED = {
  code: 'ERR_REVISION_OUTDATED',
  message: 'grantwell: there is a newer revision than this one: look at the application again',
  faults: [],
}

describe('1 what cannot be done, and then changes nothing', () => {
  const situations = {
    pending: async (test: TestServer) => (await test.server.applications.submit(submission())).id,
    rejected: async (test: TestServer) => {
      const { id } = await test.server.applications.submit(submission())
      await test.server.applications.reject(id, { revision: 1, reason: 'No' })
      return id
    },
    approved: async (test: TestServer) => (await approved(test)).clientId,
    public: async (test: TestServer) =>
      (await approved(test, { type: 'public', redirectUris: ['http://127.0.0.1/'] })).clientId,
  }
  const commands = {
    suspend: ({ server }: TestServer, id: string) => server.applications.suspend(id),
    reinstate: ({ server }: TestServer, id: string) => server.applications.reinstate(id),
    rotateSecret: ({ server }: TestServer, id: string) => server.applications.rotateSecret(id),
    approve: ({ server }: TestServer, id: string) => server.applications.approve(id, { revision: 1 }),
    'approve of another revision': ({ server }: TestServer, id: string) =>
      server.applications.approve(id, { revision: 2 }),
    reject: ({ server }: TestServer, id: string) => server.applications.reject(id, { revision: 1, reason: 'x' }),
    'reject of another revision': ({ server }: TestServer, id: string) =>
      server.applications.reject(id, { revision: 0, reason: 'x' }),
    change: ({ server }: TestServer, id: string) => server.applications.change(id, submission({ logo: logo(9) })),
    'change of the type': ({ server }: TestServer, id: string) =>
      server.applications.change(id, submission({ type: 'public', redirectUris: ['http://127.0.0.1/'] })),
  }
  const type = {
    code: 'ERR_REGISTRATION',
    message: 'grantwell: type must stay as it is: register another application',
    faults: [{ path: 'type', message: 'must stay as it is: register another application' }],
  }

  it.each([
    ['pending', 'suspend', STATE],
    ['pending', 'reinstate', STATE],
    ['pending', 'rotateSecret', STATE],
    ['pending', 'approve of another revision', OUTDATED],
    ['pending', 'reject of another revision', OUTDATED],
    ['rejected', 'suspend', STATE],
    ['rejected', 'reinstate', STATE],
    ['rejected', 'rotateSecret', STATE],
    ['rejected', 'approve', STATE],
    ['rejected', 'reject', STATE],
    ['rejected', 'change', STATE],
    ['approved', 'approve', STATE],
    ['approved', 'reject', STATE],
    ['approved', 'change of the type', type],
    ['public', 'rotateSecret', STATE],
    ['public', 'change', type],
  ] as const)('%s: %s', async (situation, command, error) => {
    const test = await testServer()
    const id = await situations[situation](test)
    const before = JSON.stringify(await recordOf(test, id))
    const size = test.store.size
    test.events.length = 0
    await expect(commands[command](test, id)).rejects.toMatchObject(error)
    expect(JSON.stringify(await recordOf(test, id))).toBe(before)
    expect([test.store.size, test.events]).toEqual([size, []])
  })
})

describe('1 a change goes through approval again', () => {
  it('while what was approved stays in force, for users and for clients', async () => {
    const test = await testServer()
    const client = await approved(test)
    const before = await inForce(test, client.clientId)
    test.clock.now += 10
    const changed = await test.server.applications.change(
      client.clientId,
      amendment({ name: 'Renamed', redirectUris: ['https://new.example/callback'] }),
    )
    expect(changed).toStrictEqual({
      ...before,
      revision: 2,
      review: {
        state: 'pending',
        revision: 2,
        submittedAt: START + 10,
        details: expect.objectContaining({ name: 'Renamed', authorizedDomain: 'new.example', logo: before.logo }),
      },
    })
    expect(await inForce(test, client.clientId)).toStrictEqual(changed)
    expect((await authorize(test, { client_id: client.clientId })).code).not.toBe('')
    await expect(
      authorize(test, { client_id: client.clientId, redirect_uri: 'https://new.example/callback' }),
    ).rejects.toThrow('no consent page: 400')
    expect(await test.server.applications.approve(client.clientId, { revision: 2 })).toStrictEqual({
      clientId: client.clientId,
    })
    expect(await inForce(test, client.clientId)).toMatchObject({ name: 'Renamed', secrets: before.secrets })
    expect(await isBelieved(test, client)).toBe(true)
    const changes = test.events.flatMap((event) =>
      event.type === 'application' ? [[event.change, event.revision]] : [],
    )
    expect(changes).toEqual([
      ['submitted', 1],
      ['approved', 1],
      ['changed', 2],
      ['approved', 2],
    ])
  })

  it('or is refused, and what was approved stays in force', async () => {
    const test = await testServer()
    const { clientId } = await approved(test)
    const before = await inForce(test, clientId)
    await test.server.applications.change(clientId, amendment({ name: 'Renamed' }))
    await test.server.applications.reject(clientId, { revision: 2, reason: 'Misleading' })
    const { review, revision, ...rest } = await inForce(test, clientId)
    expect({ ...rest, revision: 1 }).toStrictEqual(before)
    expect(review).toMatchObject({ state: 'rejected', revision: 2, reason: 'Misleading' })
    const again = await test.server.applications.change(clientId, amendment({ name: 'Sample 2' }))
    expect(again.review).toMatchObject({ state: 'pending', revision: 3 })
  })

  it('what is changed in the record that came back changes nothing', async () => {
    const test = await testServer()
    const { clientId } = await approved(test)
    const changed = await test.server.applications.change(clientId, amendment({ name: 'Renamed' }))
    const before = JSON.stringify(changed)
    Object.assign(changed, { state: 'suspended', secrets: [] })
    Object.assign(changed.review?.details ?? {}, { name: 'Bank' })
    expect(JSON.stringify(await recordOf(test, clientId))).toBe(before)
  })

  it('takes the place of what waits: nobody approves what they have not seen', async () => {
    const test = await testServer()
    const { id } = await test.server.applications.submit(submission())
    await test.server.applications.change(id, amendment({ name: 'Renamed' }))
    await expect(test.server.applications.approve(id, { revision: 1 })).rejects.toMatchObject(OUTDATED)
    await expect(test.server.applications.reject(id, { revision: 1, reason: 'x' })).rejects.toMatchObject(OUTDATED)
    expect((await recordOf(test, id)).state).toBe('pending')
    const { clientSecret } = await test.server.applications.approve(id, { revision: 2 })
    expect(clientSecret).toBeDefined()
    expect((await inForce(test, id)).name).toBe('Renamed')
  })

  it('tells every fault of a change at once, and a suspended application may be changed, and stays suspended', async () => {
    const test = await testServer()
    const { clientId } = await approved(test)
    const bare = { scope: 'repo-pr:r' } as Submission['scopes'][number] // without types
    const wrong = amendment({ name: '', website: '', scopes: [{ scope: 'repo-code:r', reason: '' }, bare] })
    await expect(test.server.applications.change(clientId, wrong)).rejects.toMatchObject(
      faults('name', 'website', 'scopes[0].reason', 'scopes[1].reason'),
    )
    await test.server.applications.suspend(clientId)
    await test.server.applications.change(clientId, amendment({ name: 'Renamed' }))
    await test.server.applications.approve(clientId, { revision: 2 })
    expect(await inForce(test, clientId)).toMatchObject({ name: 'Renamed', state: 'suspended' })
  })
})

describe('a slip of the pen', () => {
  it('in the name of an option is refused, since it could permit more than was meant', async () => {
    const test = await testServer()
    const { id } = await test.server.applications.submit(submission())
    const { size } = test.store
    test.events.length = 0
    const { applications } = test.server
    const wrong = (value: unknown) => value as never // without types
    const slips: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['register', () => applications.register(registration(), wrong({ clientID: 'web' }))],
      ['register', () => applications.register(registration(), wrong('web'))],
      ['submit', () => applications.submit(submission(), wrong({ subject: 'ada' }))],
      ['submit', () => applications.submit(submission(), wrong('ada'))],
      ['approve', () => applications.approve(id, wrong({ revision: 1, scope: ['repo-code:r'] }))],
      ['approve', () => applications.approve(id, wrong(1))],
      ['approve', () => applications.approve(id, wrong(null))],
      ['approve', () => applications.approve(id, wrong(undefined))],
      ['reject', () => applications.reject(id, wrong({ revision: 1, reason: 'x', by: 'eve' }))],
      ['reject', () => applications.reject(id, wrong('No'))],
      ['rotateSecret', () => applications.rotateSecret('web', wrong({ overlaps: 0 }))],
      ['rotateSecret', () => applications.rotateSecret('web', wrong(0))],
      ['rotateSecret', () => applications.rotateSecret('web', wrong(null))],
    ]
    for (const [name, slip] of slips) {
      const message = expect.stringMatching(
        new RegExp(`^grantwell: applications\\.${name}[:,] .+(; got |; did you mean |; it takes )`),
      )
      const error = { code: 'ERR_CONFIGURATION', message }
      await expect(slip()).rejects.toMatchObject(error)
    }
    for (const scopes of ['repo-code:r', { 0: 'repo-code:r', length: 1 }, null, 7])
      await expect(applications.approve(id, wrong({ revision: 1, scopes }))).rejects.toMatchObject({
        code: 'ERR_CONFIGURATION',
        message: expect.stringMatching(
          /^grantwell: applications\.approve: the option scopes must be a list of scopes; got ./,
        ),
      })
    for (const revision of ['1', undefined, null, Number.NaN, 1n, 1.5]) {
      const error = (name: string) => ({
        code: 'ERR_CONFIGURATION',
        message: expect.stringMatching(
          new RegExp(
            `^grantwell: applications\\.${name}: the option revision must be the whole number that was reviewed; got .`,
          ),
        ),
      })
      await expect(applications.approve(id, wrong({ revision }))).rejects.toMatchObject(error('approve'))
      await expect(applications.reject(id, wrong({ revision, reason: 'No' }))).rejects.toMatchObject(error('reject'))
    }
    for (const applicant of [7, '', null, {}]) {
      await expect(applications.submit(submission(), wrong({ applicant }))).rejects.toMatchObject({
        code: 'ERR_CONFIGURATION',
        message: expect.stringMatching(
          /^grantwell: applications\.submit: the option applicant must be a string that is not empty; got ./,
        ),
      })
    }
    const lists = [
      ...[{}, { state: 'waiting' }, { state: undefined }, { applicant: '' }, { applicant: 7 }],
      ...[{ state: 'pending', applicant: 'ada' }, { states: 'pending' }, 'pending', null, undefined],
    ]
    for (const which of lists) {
      const error = { code: 'ERR_CONFIGURATION', message: expect.stringMatching(/^grantwell: applications\.list: /) }
      await expect(applications.list(wrong(which))).rejects.toMatchObject(error)
    }
    expect([test.store.size, test.events]).toEqual([size, []])
    expect((await recordOf(test, id)).state).toBe('pending')
    expect((await inForce(test, 'web')).secrets).toHaveLength(1)
  })

  it('what is inherited is refused, and changes nothing', async () => {
    const test = await testServer()
    const { applications } = test.server
    const refused = {
      code: 'ERR_CONFIGURATION',
      message: expect.stringMatching(/must be the object's own; got an inherited one$/),
    }
    const by = Object.create({ applicant: 'eve' })
    await expect(applications.submit(submission(), by)).rejects.toMatchObject(refused)
    const { id } = await applications.submit(submission())
    const inherited = Object.assign(Object.create({ scopes: ['repo-code:r'] }), { revision: 1 })
    await expect(applications.approve(id, inherited)).rejects.toMatchObject(refused)
    expect((await recordOf(test, id)).state).toBe('pending')
    await applications.approve(id, { revision: 1 })
    await expect(applications.rotateSecret(id, Object.create({ overlap: 0 }))).rejects.toMatchObject(refused)
    expect((await inForce(test, id)).secrets).toHaveLength(1)
    const { description: _, ...rest } = submission() as unknown as Record<string, unknown>
    const described = Object.assign(Object.create({ description: 'x' }), rest)
    await expect(applications.submit(described)).rejects.toThrow()
  })
})

describe('2.1 logos', () => {
  it('are given by the name that a record has, with their type', async () => {
    const test = await testServer()
    for (const [bytes, type] of [
      [LOGO, 'image/png'],
      [logo(1), 'image/jpeg'],
      [gif(1, 1), 'image/gif'],
      [vp8(1, 1), 'image/webp'],
    ] as const) {
      const { review } = await test.server.applications.submit(submission({ logo: bytes }))
      expect(await test.server.applications.logo(review.details.logo)).toStrictEqual({ type, bytes })
    }
    for (const name of ['', 'nothing', '__proto__', 'web']) {
      expect(await test.server.applications.logo(name)).toBeUndefined()
    }
  })

  it('of 1,048,576 bytes are kept whole', async () => {
    const test = await testServer()
    const bytes = new Uint8Array(1_048_576).fill(7)
    bytes.set(logo(1))
    const { review } = await test.server.applications.submit(submission({ logo: bytes }))
    const kept = await test.server.applications.logo(review.details.logo)
    expect(Buffer.compare(kept?.bytes ?? new Uint8Array(0), bytes)).toBe(0)
  })

  it('whatever happens, those are kept that are in force or in review, and none else', async () => {
    const operations = ['submit', 'change', 'change with a logo', 'approve', 'reject', 'suspend', 'register', 'wrong']
    const steps = fc.array(fc.tuple(fc.constantFrom(...operations), fc.nat(2)), { maxLength: 20 })
    // Those that are replaced before the review, in force until a change is approved, or of a refused change or submission.
    const changed: [string, number][] = [
      ['submit', 0],
      ['change with a logo', 0],
      ['approve', 0],
      ['change with a logo', 0],
    ]
    const examples = [
      changed,
      [...changed, ['approve', 0]],
      [...changed, ['reject', 0], ['change', 0]],
      [
        ['submit', 0],
        ['reject', 0],
      ],
    ]
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const test = await testServer()
        const { applications } = test.server
        const ids = ['web', 'other', 'native']
        /** The last byte of each logo, by its name. */
        const bytes = new Map<string, number | undefined>()
        let number = 0
        const note = (name: string, given: Uint8Array) => bytes.set(name, given.at(-1))
        for (const id of ids) note((await inForce(test, id)).logo, LOGO)
        for (const [operation, which] of sequence) {
          const id = ids.at(-1 - which) ?? 'web'
          const { revision } = await recordOf(test, id)
          const done = {
            submit: async () => {
              const given = logo(++number)
              const { id: made, review } = await applications.submit(submission({ logo: given }))
              ids.push(made)
              note(review.details.logo, given)
            },
            change: () => applications.change(id, amendment()),
            'change with a logo': async () => {
              const given = logo(++number)
              const { review } = await applications.change(id, submission({ logo: given }))
              note(review?.details.logo ?? '', given)
            },
            approve: () => applications.approve(id, { revision }),
            reject: () => applications.reject(id, { revision, reason: 'x' }),
            suspend: () => applications.suspend(id),
            register: () => applications.register(registration(), { clientId: id }),
            wrong: () => applications.submit(submission({ name: '' })),
          }[operation]
          await done?.().catch((error: { code?: unknown }) => expect(error.code).toMatch(/^ERR_(?!STORE)/))
        }
        const records = await Promise.all(ids.map((id) => recordOf(test, id)))
        const named = new Set(
          records.flatMap((record) => [
            ...('logo' in record ? [record.logo] : []),
            ...(record.review?.state === 'pending' ? [record.review.details.logo] : []),
          ]),
        )
        for (const name of named) expect((await applications.logo(name))?.bytes.at(-1)).toBe(bytes.get(name))
        for (const name of [...bytes.keys()].filter((each) => !named.has(each)))
          expect(await applications.logo(name)).toBeUndefined()
        // Beside them the store has the record that says whose it is.
        expect(test.store.size).toBe(ids.length + named.size + 1)
      }),
      { numRuns: 60, examples: examples.map((each): [[string, number][]] => [each as [string, number][]]) },
    )
  })
})

describe('1 the secret is changed', () => {
  it('[22] for a new one that is shown once, and the old one works for a day', async () => {
    const test = await testServer()
    const client = await approved(test)
    const rotated = await test.server.applications.rotateSecret(client.clientId)
    expect(rotated).toStrictEqual({
      clientId: client.clientId,
      clientSecret: expect.stringMatching(/^gws_[\w-]{43}$/),
    })
    const { secrets } = await inForce(test, client.clientId)
    expect(secrets).toStrictEqual([
      { digest: portableDigests.sha256(rotated.clientSecret) },
      { digest: portableDigests.sha256(client.clientSecret), expiresAt: START + 86_400 },
    ])
    expect(test.events.at(-1)).toMatchObject({ change: 'secret_rotated', applicationId: client.clientId })
    expect(JSON.stringify(test.events)).not.toContain(rotated.clientSecret.slice(4))
    test.clock.now = START + 86_399
    expect([await isBelieved(test, client), await isBelieved(test, rotated)]).toEqual([true, true])
    test.clock.now = START + 86_400
    expect([await isBelieved(test, client), await isBelieved(test, rotated)]).toEqual([false, true])
  })

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '60', null])('not with an overlap of %s', async (overlap) => {
    const test = await testServer()
    const before = await inForce(test, 'web')
    const rotated = test.server.applications.rotateSecret('web', { overlap: overlap as number }) // without types
    await expect(rotated).rejects.toMatchObject({
      code: 'ERR_CONFIGURATION',
      message: expect.stringMatching(
        /^grantwell: applications\.rotateSecret: the option overlap must be whole seconds from 0 to 31536000; got ./,
      ),
    })
    expect(await inForce(test, 'web')).toStrictEqual(before)
  })

  it('[22] not while 8 of them work', async () => {
    const test = await testServer()
    const secrets = [WEB]
    for (let count = 1; count < 8; count++) secrets.push(await test.server.applications.rotateSecret('web'))
    for (const client of secrets) expect(await isBelieved(test, client)).toBe(true)
    await expect(test.server.applications.rotateSecret('web')).rejects.toMatchObject({
      code: 'ERR_APPLICATION_STATE',
      message: 'grantwell: too many secrets work at once: let one expire, or rotate without an overlap',
    })
    const last = await test.server.applications.rotateSecret('web', { overlap: 0 })
    for (const client of secrets) expect(await isBelieved(test, client)).toBe(false)
    expect(await isBelieved(test, last)).toBe(true)
  })
})

describe('1 administrators list applications', () => {
  const idsOf = (page: { readonly applications: readonly Application[] }) => page.applications.map(({ id }) => id)

  it('by state: what waits, changes of published ones too, and what is approved, rejected or suspended', async () => {
    const test = await testServer()
    const { applications } = test.server
    const { id: pending } = await applications.submit(submission())
    const { id: rejected } = await applications.submit(submission())
    await applications.reject(rejected, { revision: 1, reason: 'No' })
    const { clientId: changed } = await approved(test)
    await applications.change(changed, amendment())
    await applications.suspend('other')
    const listed = async () => ({
      pending: idsOf(await applications.list({ state: 'pending' })),
      rejected: idsOf(await applications.list({ state: 'rejected' })),
      approved: idsOf(await applications.list({ state: 'approved' })),
      suspended: idsOf(await applications.list({ state: 'suspended' })),
    })
    expect(await listed()).toEqual({
      pending: [pending, changed],
      rejected: [rejected],
      approved: ['web', 'native', changed],
      suspended: ['other'],
    })
    await applications.approve(changed, { revision: 2 })
    await applications.change('other', amendment())
    await applications.reinstate('other')
    await applications.approve(pending, { revision: 1 })
    expect(await listed()).toEqual({
      pending: ['other'],
      rejected: [rejected],
      approved: ['web', 'native', changed, 'other', pending],
      suspended: [],
    })
    expect((await applications.list({ state: 'pending' })).applications).toStrictEqual([await recordOf(test, 'other')])
  })

  it('by applicant, whatever state they are in', async () => {
    const test = await testServer()
    const { applications } = test.server
    const { id: first } = await applications.submit(submission(), { applicant: 'ada' })
    const { clientId } = await approved(test)
    const { id: second } = await applications.submit(submission(), { applicant: 'ada' })
    await applications.reject(first, { revision: 1, reason: 'No' })
    expect(idsOf(await applications.list({ applicant: 'ada' })).sort()).toEqual([first, second].sort())
    expect(idsOf(await applications.list({ applicant: 'bob' }))).toEqual([clientId])
    for (const applicant of ['eve', 'ad', 'ada ', '__proto__'])
      expect(await applications.list({ applicant })).toStrictEqual({ applications: [] })
  })

  it('page by page, each of them once', async () => {
    const test = await testServer()
    const { applications } = test.server
    const ids: string[] = []
    for (let count = 0; count < 7; count++) ids.push((await applications.submit(submission())).id)
    for (const limit of [1, 2, 3, 6, 7, 8]) {
      const pages: string[][] = []
      let cursor: string | undefined
      do {
        const page: Awaited<ReturnType<typeof applications.list>> = await applications.list(
          { state: 'pending' },
          { limit, ...(cursor !== undefined && { cursor }) },
        )
        pages.push(idsOf(page))
        cursor = page.cursor
        expect('cursor' in page).toBe(cursor !== undefined)
      } while (cursor !== undefined)
      expect(pages.flat()).toEqual(ids)
      expect(pages).toHaveLength(Math.ceil(7 / limit))
    }
  })

  it('100 at once, unless more are asked for', async () => {
    const test = await testServer()
    for (let count = 0; count < 101; count++) await test.server.applications.submit(submission())
    const page = await test.server.applications.list({ state: 'pending' })
    expect([page.applications.length, typeof page.cursor]).toEqual([100, 'string'])
    const rest = await test.server.applications.list({ state: 'pending' }, { cursor: page.cursor ?? '' })
    expect([rest.applications.length, rest.cursor]).toEqual([1, undefined])
    expect((await test.server.applications.list({ state: 'pending' }, { limit: 500 })).applications).toHaveLength(101)
  })

  it('as copies: what is changed in them changes nothing', async () => {
    const test = await testServer()
    const { applications } = await test.server.applications.list({ state: 'approved' })
    const before = JSON.stringify(applications)
    for (const application of applications) Object.assign(application, { state: 'suspended' })
    expect(JSON.stringify((await test.server.applications.list({ state: 'approved' })).applications)).toBe(before)
  })
})

describe('several at once', () => {
  /** Has something done between the read and the write of what comes next. */
  function inBetween(test: WatchedServer, meanwhile: () => Promise<unknown>): void {
    test.instead.write = async (key, value, options) => {
      if (!key.startsWith('application:')) return test.store.write(key, value, options)
      test.instead.write = undefined
      await meanwhile()
      return test.store.write(key, value, options)
    }
  }

  it('a change by the applicant while an administrator approves with fewer scopes: what was not seen is not approved', async () => {
    const test = await watchedServer()
    const { id } = await test.server.applications.submit(submission())
    inBetween(test, () => test.server.applications.change(id, amendment({ name: 'Bank' })))
    const approval = test.server.applications.approve(id, { revision: 1, scopes: ['repo-code:r'] })
    await expect(approval).rejects.toMatchObject(OUTDATED)
    expect(await recordOf(test, id)).toMatchObject({ state: 'pending', revision: 2, review: { revision: 2 } })
    expect(test.events.map((event) => event.type === 'application' && event.change)).toEqual(['submitted', 'changed'])
  })

  it('an approval with fewer scopes while the applicant changes: both count, and the change waits', async () => {
    const test = await watchedServer()
    const { id } = await test.server.applications.submit(submission({ logo: logo(1) }))
    inBetween(test, () => test.server.applications.approve(id, { revision: 1, scopes: ['repo-code:r'] }))
    await test.server.applications.change(id, submission({ name: 'Renamed', logo: logo(2) }))
    const record = await inForce(test, id)
    expect(record).toMatchObject({
      state: 'approved',
      name: 'Sample',
      scopes: ['repo-code:r'],
      revision: 2,
      review: { state: 'pending', revision: 2, details: { name: 'Renamed' } },
    })
    expect((await test.server.applications.logo(record.logo))?.bytes).toStrictEqual(logo(1))
    expect((await test.server.applications.logo(record.review?.details.logo ?? ''))?.bytes).toStrictEqual(logo(2))
    expect(test.events.map((event) => event.type === 'application' && event.change)).toEqual([
      'submitted',
      'approved',
      'changed',
    ])
  })

  it('[22] two approvals: one of them counts, and one secret', async () => {
    const test = await laterServer()
    const { id } = await test.server.applications.submit(submission())
    const results = await Promise.allSettled([
      test.server.applications.approve(id, { revision: 1 }),
      test.server.applications.approve(id, { revision: 1, scopes: ['repo-code:r'] }),
    ])
    const rejected = results.filter((result) => result.status === 'rejected')
    expect(rejected).toHaveLength(1)
    expect(rejected[0]?.reason).toMatchObject(STATE)
    const secrets = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    expect((await inForce(test, id)).secrets).toStrictEqual(
      secrets.map(({ clientSecret = '' }) => ({ digest: portableDigests.sha256(clientSecret) })),
    )
    expect(test.events).toHaveLength(2)
    for (const client of secrets) expect(await isBelieved(test, client)).toBe(true)
  })

  it('an approval and a rejection: one of them counts', async () => {
    for (const first of ['approve', 'reject'] as const) {
      const test = await watchedServer()
      const { id } = await test.server.applications.submit(submission())
      const approve = () => test.server.applications.approve(id, { revision: 1 })
      const reject = () => test.server.applications.reject(id, { revision: 1, reason: 'No' })
      inBetween(test, first === 'approve' ? approve : reject)
      await expect(first === 'approve' ? reject() : approve()).rejects.toMatchObject(STATE)
      expect((await recordOf(test, id)).state).toBe(first === 'approve' ? 'approved' : 'rejected')
    }
  })

  it('[26] a suspension while a change is approved, or the secret rotated: it is suspended, and the rest holds too', async () => {
    const test = await watchedServer()
    const { clientId } = await approved(test)
    await test.server.applications.change(clientId, amendment({ name: 'Renamed' }))
    inBetween(test, () => test.server.applications.suspend(clientId))
    await test.server.applications.approve(clientId, { revision: 2 })
    expect(await inForce(test, clientId)).toMatchObject({ state: 'suspended', name: 'Renamed' })
    await test.server.applications.reinstate(clientId)
    inBetween(test, () => test.server.applications.suspend(clientId))
    await test.server.applications.rotateSecret(clientId)
    expect(await inForce(test, clientId)).toMatchObject({ state: 'suspended', secrets: [{}, {}] })
  })

  it('[22] rotations: every secret that was shown works, and the one before', async () => {
    const test = await laterServer()
    const client = await approved(test)
    const rotated = await Promise.all(
      Array.from({ length: 5 }, () => test.server.applications.rotateSecret(client.clientId)),
    )
    expect((await inForce(test, client.clientId)).secrets).toHaveLength(6)
    for (const each of [client, ...rotated]) expect(await isBelieved(test, each)).toBe(true)
  })

  it('changes: the last one waits, and its logo alone', async () => {
    const test = await laterServer()
    const { id } = await test.server.applications.submit(submission({ logo: logo(0) }))
    const size = test.store.size
    await Promise.all(
      [1, 2, 3, 4, 5].map((number) =>
        test.server.applications.change(id, submission({ name: `Name ${number}`, logo: logo(number) })),
      ),
    )
    const { revision, review } = await recordOf(test, id)
    expect(revision).toBe(6)
    const kept = await test.server.applications.logo(review?.details.logo ?? '')
    expect(review?.details.name).toBe(`Name ${kept?.bytes.at(-1)}`)
    expect(test.store.size).toBe(size)
  })

  it('more than the store can bear: ERR_STORE, nothing changes, and no logo is left', async () => {
    const test = await watchedServer()
    const size = test.store.size
    test.instead.write = (key, value, options) => key.startsWith('logo:') && test.store.write(key, value, options)
    await expect(test.server.applications.suspend('web')).rejects.toMatchObject(FAILED)
    expect(test.errors).toEqual([])
    test.instead.write = undefined
    expect([(await inForce(test, 'web')).state, test.store.size]).toEqual(['approved', size])
  })
})

describe('a store that fails', () => {
  /** What there is to begin with: one that waits, one in force, one in force with a change that has a logo. */
  async function prepared() {
    const test = await watchedServer()
    const { id: pending } = await test.server.applications.submit(submission({ logo: logo(1) }))
    const { clientId } = await approved(test, { logo: logo(2) })
    const { clientId: changed } = await approved(test, { logo: logo(3) })
    await test.server.applications.change(changed, submission({ logo: logo(4) }))
    test.forget()
    test.events.length = 0
    return { test, pending, clientId, changed, named: (await inForce(test, clientId)).logo }
  }
  type Prepared = Awaited<ReturnType<typeof prepared>>

  const steps = {
    register: ({ test }: Prepared) => test.server.applications.register(registration(), { clientId: 'new' }),
    submit: ({ test }: Prepared) => test.server.applications.submit(submission({ logo: logo(9) })),
    'change of what waits': ({ test, pending }: Prepared) =>
      test.server.applications.change(pending, submission({ logo: logo(9) })),
    'change without a logo': ({ test, clientId }: Prepared) => test.server.applications.change(clientId, amendment()),
    approve: ({ test, pending }: Prepared) => test.server.applications.approve(pending, { revision: 1 }),
    'approve a change': ({ test, changed }: Prepared) => test.server.applications.approve(changed, { revision: 2 }),
    reject: ({ test, pending }: Prepared) => test.server.applications.reject(pending, { revision: 1, reason: 'No' }),
    suspend: ({ test, clientId }: Prepared) => test.server.applications.suspend(clientId),
    'reinstate what was not suspended': ({ test, clientId }: Prepared) => test.server.applications.reinstate(clientId),
    rotateSecret: ({ test, clientId }: Prepared) => test.server.applications.rotateSecret(clientId),
    get: ({ test }: Prepared) => test.server.applications.get('web'),
    list: ({ test }: Prepared) => test.server.applications.list({ state: 'pending' }),
    logo: ({ test, named }: Prepared) => test.server.applications.logo(named),
  } as const

  /** Fails the call of this number, before or after the engine has done it; counts all of them. */
  function failing({ test }: Prepared, number: number, when: 'before' | 'after', failure = new StoreFailure()) {
    const calls = { count: 0 }
    const { store } = test
    const broken =
      <Arguments extends readonly unknown[], Result>(operation: (...given: Arguments) => Result | Promise<Result>) =>
      async (...given: Arguments): Promise<Result> => {
        const fails = ++calls.count === number
        if (fails && when === 'before') throw failure
        const result = await operation(...given)
        if (fails) throw failure
        return result
      }
    Object.assign(test.instead, { read: broken(store.read), write: broken(store.write), list: broken(store.list) })
    return calls
  }

  const whole = ({ test }: Prepared) => {
    Object.assign(test.instead, { read: undefined, write: undefined, list: undefined })
  }

  /** Everything that the administrators can see. */
  async function seen({ test }: Prepared): Promise<readonly Application[]> {
    const lists = await Promise.all(
      (['pending', 'approved', 'suspended', 'rejected'] as const).map((state) =>
        test.server.applications.list({ state }),
      ),
    )
    return lists.flatMap(({ applications }) => applications)
  }

  const withoutSecrets = (applications: readonly Application[]) =>
    JSON.stringify(applications).replace(/"(?:digest|logo|id|clientId)":"[^"]*"/g, '')

  const names = Object.keys(steps) as (keyof typeof steps)[] // they are its keys

  it.each(names)(
    '[49] %s, whichever of its calls fails: ERR_STORE that says nothing of the store, or done; all or nothing',
    async (name) => {
      const model = await prepared()
      const before = withoutSecrets(await seen(model))
      const { count } = await (async () => {
        const calls = failing(model, 0, 'before')
        await steps[name](model)
        return calls
      })()
      whole(model)
      const afterwards = withoutSecrets(await seen(model))
      expect(count).toBeGreaterThan(0)
      let refused = 0
      for (const when of ['before', 'after'] as const) {
        for (let number = 1; number <= count; number++) {
          const here = await prepared()
          const failure = new StoreFailure()
          failing(here, number, when, failure)
          const result: unknown = await steps[name](here).catch((error: unknown) => error)
          whole(here)
          expect(here.test.errors).toStrictEqual([failure])
          const failed = result instanceof Error
          refused += failed ? 1 : 0
          const error = { ...FAILED, cause: failure }
          expect(failed ? result : error).toMatchObject(error)
          expect(failed ? Object.keys(result) : []).not.toContain('cause')
          const now = await seen(here)
          expect(withoutSecrets(now)).toBe(failed ? before : afterwards)
          expect(here.test.events.length > 0).toBe(!failed && before !== afterwards)
          for (const application of now) {
            const { review } = application
            const named = [
              ...('logo' in application ? [application.logo] : []),
              ...(review?.state === 'pending' ? [review.details.logo] : []),
            ]
            for (const each of named) expect(await here.test.server.applications.logo(each)).toBeDefined()
          }
          if (failed) await steps[name](here)
          expect(withoutSecrets(await seen(here))).toBe(afterwards)
        }
      }
      expect(refused).toBeGreaterThan(0)
    },
  )

  it('keeps a logo where it cannot tell whether a record came to name it', async () => {
    const here = await prepared()
    const { test, clientId } = here
    test.instead.write = async (key, value, options) => {
      const written = await test.store.write(key, value, options)
      if (!key.startsWith('application:')) return written
      // Neither the answer to the write nor the look at what came of it; then the store is well again.
      test.instead.read = () => {
        whole(here)
        throw new StoreFailure()
      }
      throw new StoreFailure()
    }
    const changed = test.server.applications.change(clientId, submission({ logo: logo(9) }))
    await expect(changed).rejects.toMatchObject(FAILED)
    const { review } = await recordOf(test, clientId)
    const kept = await test.server.applications.logo(review?.details.logo ?? '')
    expect([review?.revision, kept?.bytes.at(-1)]).toEqual([2, 9])
  })

  it('[22] a secret that was shown works, though the answer of the store to its write was lost', async () => {
    for (const [name, read] of [
      ['rotateSecret', 2],
      ['approve', 2],
    ] as const) {
      const here = await prepared()
      failing(here, read, 'after')
      const { clientId, clientSecret = '' } = await steps[name](here)
      whole(here)
      expect(await isBelieved(here.test, { clientId, clientSecret })).toBe(true)
    }
  })
})

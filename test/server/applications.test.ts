/**
 * Applications: what administrators do to them, and what of that the store holds.
 * @module
 * @see Specification, sections 1, 2.1 and 3; DESIGN, registration
 */
import * as fc from 'fast-check'
import type { Registration } from 'grantwell'
import { clientKeyOf, parseClientId, portableDigests } from 'grantwell'
import { describe, expect, it } from 'vitest'
import {
  authorize,
  basic,
  call,
  exchange,
  LOGO,
  post,
  registration,
  START,
  testServer,
  tokens,
  WEB,
} from '../support.js'
import { StoreFailure, watchedServer } from './helpers.js'

const LOGO_DIGEST = portableDigests.sha256(LOGO)

function keyOf(clientId: string): string {
  return `application:${clientKeyOf(portableDigests, parseClientId(clientId) ?? expect.fail())}`
}

/** A registration error, and every fault that it names. */
function fault(message: string) {
  return expect.objectContaining({ name: 'GrantwellError', code: 'ERR_REGISTRATION', message: `grantwell: ${message}` })
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
    expect(await server.applications.get(made.clientId)).not.toHaveProperty('secretDigest')
  })

  it('keeps this record, and the logo beside it', async () => {
    const test = await testServer()
    const made = await test.server.applications.register(registration(), { ...WEB, clientId: 'imported' })
    expect(made).toStrictEqual({ clientId: 'imported', clientSecret: WEB.clientSecret })
    const record = {
      v: 1,
      clientId: 'imported',
      type: 'confidential',
      state: 'approved',
      name: 'Sample',
      description: 'An application',
      website: 'https://app.example',
      logo: LOGO_DIGEST,
      redirectUris: ['https://app.example/callback'],
      authorizedDomain: 'app.example',
      allowSubdomains: false,
      scopes: ['repo-code:rw', 'account-profile:r'],
      resourceScope: 'all',
      secretDigest: portableDigests.sha256(WEB.clientSecret),
      createdAt: START,
    }
    expect(await test.server.applications.get('imported')).toStrictEqual(record)
    const [application, logo] = await test.store.read([keyOf('imported'), `logo:${LOGO_DIGEST}`])
    expect(application?.value).toStrictEqual(record)
    expect(logo?.value).toStrictEqual({ v: 1, base64url: Buffer.from(LOGO).toString('base64url') })
  })

  it('is found by its state, as JSON that any store can hold', async () => {
    const test = await testServer()
    const approved = async () => (await test.store.list('applications:approved')).records.map(({ key }) => key).sort()
    const all = ['web', 'other', 'native'].map(keyOf).sort()
    expect(await approved()).toStrictEqual(all)
    await test.server.applications.suspend('web')
    expect(await approved()).toStrictEqual(['other', 'native'].map(keyOf).sort())
    const { records } = await test.store.list('applications:suspended')
    expect(records.map(({ key }) => key)).toStrictEqual([keyOf('web')])
    for (const { value } of records) expect(JSON.parse(JSON.stringify(value))).toStrictEqual(value)
  })

  it('one logo of several applications is kept once', async () => {
    const test = await testServer()
    const before = test.store.size
    await test.server.applications.register(registration())
    expect(test.store.size).toBe(before + 1)
  })

  it('tells every fault that there is, with its path', async () => {
    const { server } = await testServer()
    const wrong = registration({ name: '', website: 'ftp://app.example', scopes: ['unknown:r'] })
    await expect(server.applications.register(wrong)).rejects.toThrow(
      fault(
        'name must have 1 to 50 characters; website must be an http or https URL of at most 128 characters; scopes must be one or more scopes of the catalogue, such as repo-code:r',
      ),
    )
  })

  it.each([
    ['an empty identifier', { clientId: '' }, 'clientId must have 1 to 255 printable ASCII characters'],
    [
      'an identifier that is not ASCII',
      { clientId: 'w\u{e9}b' },
      'clientId must have 1 to 255 printable ASCII characters',
    ],
    [
      'an identifier of 256 characters',
      { clientId: 'w'.repeat(256) },
      'clientId must have 1 to 255 printable ASCII characters',
    ],
    ['an empty secret', { clientSecret: '' }, 'clientSecret must have 24 to 255 visible ASCII characters'],
    [
      'a secret of 23 characters',
      { clientSecret: 's'.repeat(23) },
      'clientSecret must have 24 to 255 visible ASCII characters',
    ],
    [
      'a secret of 256 characters',
      { clientSecret: 's'.repeat(256) },
      'clientSecret must have 24 to 255 visible ASCII characters',
    ],
    [
      'a secret with a space',
      { clientSecret: `${'s'.repeat(24)} ` },
      'clientSecret must have 24 to 255 visible ASCII characters',
    ],
    [
      'a secret that is not ASCII',
      { clientSecret: '\u{e9}'.repeat(24) },
      'clientSecret must have 24 to 255 visible ASCII characters',
    ],
  ])('imports nothing with %s', async (_what, imported, message) => {
    const test = await testServer()
    const before = test.store.size
    await expect(test.server.applications.register(registration(), imported)).rejects.toThrow(fault(message))
    expect(test.store.size).toBe(before)
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
      fault('clientSecret: a public client has none'),
    )
  })

  it('refuses an identifier that there is already, and changes nothing of it', async () => {
    const { server } = await testServer()
    const before = await server.applications.get('web')
    const again = server.applications.register(registration({ name: 'Impostor' }), { ...WEB, clientId: 'web' })
    await expect(again).rejects.toMatchObject(EXISTS)
    expect(await server.applications.get('web')).toStrictEqual(before)
  })

  it('of one identifier by several administrators at once: one succeeds', async () => {
    const { server } = await testServer()
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) =>
        server.applications.register(registration({ name: `Name ${index}` }), { clientId: 'same' }),
      ),
    )
    expect(results.map(({ status }) => status).sort()).toStrictEqual(['fulfilled', ...Array(4).fill('rejected')])
  })

  it('what is changed in the record that was given out changes nothing', async () => {
    const { server } = await testServer()
    const record = await server.applications.get('web')
    const before = JSON.stringify(record)
    Object.assign(record ?? {}, { state: 'suspended', name: 'changed' })
    if (Array.isArray(record?.redirectUris)) record.redirectUris.push('https://evil.example/')
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

  it('[26] a suspended one gets nothing, and its live tokens stop at once; others are not touched', async () => {
    const test = await testServer()
    const mine = await tokens(test)
    const { code } = await authorize(test)
    const theirs = { client_id: 'other', redirect_uri: 'https://other.example/callback' }
    const other = await exchange(
      test,
      (await authorize(test, theirs)).code,
      {},
      {
        clientId: 'other',
        clientSecret: 'a-secret-of-the-other-application',
      },
    )
    await test.server.applications.suspend('web')
    expect((await call(test, mine.access_token)).type).toBe('refused')
    expect((await exchange(test, code)).body.error).toBe('invalid_client')
    const refreshing = { grant_type: 'refresh_token', refresh_token: mine.refresh_token }
    expect((await post(test.server, '/oauth2/token', refreshing, basic(WEB))).status).toBe(401)
    expect((await post(test.server, '/oauth2/revoke', { token: mine.refresh_token }, basic(WEB))).status).toBe(401)
    await expect(authorize(test)).rejects.toThrow('no consent page: 400')
    expect((await call(test, other.body.access_token)).type).toBe('authenticated')
    await test.server.applications.reinstate('web')
    expect((await call(test, mine.access_token)).type).toBe('authenticated')
    expect((await exchange(test, code)).status).toBe(200)
  })

  it('[26] an application that was never approved gets nothing: it has no record', async () => {
    const test = await testServer()
    const refused = registration({ name: ' ' })
    await expect(test.server.applications.register(refused, { ...WEB, clientId: 'pending' })).rejects.toThrow()
    expect(await test.server.applications.get('pending')).toBeUndefined()
    const client = { clientId: 'pending', clientSecret: WEB.clientSecret }
    expect((await exchange(test, 'x', {}, client)).status).toBe(401)
  })

  it.each(['nobody', '', 'w\u{e9}b', 'w'.repeat(256), '__proto__', 'Web'])('%j is no application', async (clientId) => {
    const { server } = await testServer()
    expect(await server.applications.get(clientId)).toBeUndefined()
    await expect(server.applications.suspend(clientId)).rejects.toMatchObject(UNKNOWN)
    await expect(server.applications.reinstate(clientId)).rejects.toMatchObject(UNKNOWN)
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
        const made = server.applications.register(registration(), { clientId })
        if (registered.has(clientId)) await expect(made).rejects.toMatchObject(EXISTS)
        else expect((await made).clientId).toBe(clientId)
        registered.add(clientId)
        expect((await server.applications.get(another))?.clientId).toBe(registered.has(another) ? another : undefined)
      }),
      { numRuns: 60 },
    )
  })
})

describe('a store that fails', () => {
  const steps = {
    register: (test: Awaited<ReturnType<typeof watchedServer>>) =>
      test.server.applications.register(registration({ logo: Uint8Array.of(0xff, 0xd8, 0xff) }), { clientId: 'new' }),
    get: (test: Awaited<ReturnType<typeof watchedServer>>) => test.server.applications.get('web'),
    suspend: (test: Awaited<ReturnType<typeof watchedServer>>) => test.server.applications.suspend('web'),
    reinstate: (test: Awaited<ReturnType<typeof watchedServer>>) => test.server.applications.reinstate('web'),
  }

  it.each([
    ['register', 'read', 'logo:'],
    ['register', 'read', 'application:'],
    ['register', 'write', 'logo:'],
    ['register', 'write', 'application:'],
    ['get', 'read', ''],
    ['suspend', 'read', ''],
    ['suspend', 'write', ''],
    ['reinstate', 'read', ''],
  ] as const)(
    '[49] %s, at the %s of %s: ERR_STORE that says nothing of the store, and it can be done again',
    async (step, operation, of) => {
      const test = await watchedServer()
      const failure = new StoreFailure()
      if (operation === 'read') {
        test.instead.read = (keys) => {
          if (keys.some((key) => key.startsWith(of))) throw failure
          return test.store.read(keys)
        }
      } else {
        test.instead.write = (key, value, options) => {
          if (key.startsWith(of)) throw failure
          return test.store.write(key, value, options)
        }
      }
      const error: unknown = await steps[step](test).catch((reason: unknown) => reason)
      expect(error).toMatchObject(FAILED)
      expect(error).not.toHaveProperty('cause')
      expect(test.errors).toStrictEqual([failure])
      Object.assign(test.instead, { read: undefined, write: undefined })
      await steps[step](test)
    },
  )
})

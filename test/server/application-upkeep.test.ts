/**
 * The life of an application outside of its review: it is changed by a patch, withdrawn, given away, found and deleted, and who did it is
 * in the audit trail.
 * @module
 */
import type { Amendment, Application, Submission } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { register } from '../protocol/registration.js'
import type { TestServer } from '../support.js'
import { authorize, exchange, LOGO, registration, START, testServer, tokens, WEB, works } from '../support.js'

const submission: Submission = {
  ...registration(),
  scopes: [
    { scope: 'repo-code:rw', reason: 'To push' },
    { scope: 'account-profile:r', reason: 'To greet you' },
  ],
}

/** Hands in an application of bob's, and approves it. */
async function approved({ server }: TestServer, given: Partial<Submission> = {}): Promise<string> {
  const { id, revision } = await server.applications.submit({ ...submission, ...given }, { applicant: 'bob' })
  await server.applications.approve(id, { revision })
  return id
}

const recordOf = async ({ server }: TestServer, id: string): Promise<Application> =>
  (await server.applications.get(id)) ?? expect.fail('no such application')

/** Returns the details that wait. */
async function waiting(test: TestServer, id: string) {
  const { review } = await recordOf(test, id)
  return review?.state === 'pending' ? review.details : expect.fail('nothing waits')
}

describe('a change names what is to be other', () => {
  const LATER = 'https://app.example/later'

  it('one more redirect URI, and everything else stays', async () => {
    const test = await testServer()
    const id = await approved(test)
    const before = await recordOf(test, id)
    await test.server.applications.change(id, { redirectUris: [...submission.redirectUris, LATER] })
    await test.server.applications.approve(id, { revision: 2 })
    const redirectUris = [...submission.redirectUris, LATER]
    const after = await recordOf(test, id)
    expect(after).toStrictEqual({ ...before, redirectUris, revision: 2 })
    expect(after).toMatchObject({
      redirectUris,
      reasons: { 'repo-code:rw': 'To push', 'account-profile:r': 'To greet you' },
    })
  })

  const CHANGES: readonly (readonly [string, Amendment, object])[] = [
    ['a name', { name: 'Renamed' }, { name: 'Renamed' }],
    ['undefined for a field', { name: undefined as never, website: 'https://app.example/a' }, { name: 'Sample' }],
    [
      'a scope by its name alone, which keeps its reason',
      { scopes: ['repo-code:rw'] },
      { scopes: ['repo-code:rw'], reasons: { 'repo-code:rw': 'To push' } },
    ],
    [
      'a new reason',
      { scopes: [{ scope: 'repo-code:rw', reason: 'Why not' }] },
      { reasons: { 'repo-code:rw': 'Why not' } },
    ],
    ['nothing at all', {}, { name: 'Sample', authorizedDomain: 'app.example' }],
    [
      'redirect URIs of another host, which tell the domain',
      { redirectUris: ['https://new.example/'] },
      { authorizedDomain: 'new.example' },
    ],
    [
      'several hosts, each URI matched exactly',
      { redirectUris: ['https://a.example/', 'https://b.example/'], redirectMatching: 'exact' },
      { redirectUris: ['https://a.example/', 'https://b.example/'], allowSubdomains: false },
    ],
    ['the device flow', { deviceFlow: true }, { deviceFlow: true }],
    [
      'null for what may be absent',
      { deviceFlow: null, allowSubdomains: null },
      { deviceFlow: false, allowSubdomains: false },
    ],
  ]

  it.each(CHANGES)('%s', async (_, change, expected) => {
    const test = await testServer()
    const id = await approved(test)
    await test.server.applications.change(id, change)
    const details = await waiting(test, id)
    const { website, resourceScope, logo } = submission
    expect(details).toMatchObject({
      website: change.website ?? website,
      resourceScope,
      type: 'confidential',
      ...expected,
    })
    expect(await test.server.applications.logo(details.logo)).toMatchObject({ bytes: logo })
  })

  it('leaves the subdomains of a domain admitted, which the redirect URIs do not tell', async () => {
    const test = await testServer()
    const domain = { authorizedDomain: 'app.example', allowSubdomains: true }
    const id = await approved(test, domain)
    await test.server.applications.change(id, { name: 'Renamed' })
    expect(await waiting(test, id)).toMatchObject({ ...domain, name: 'Renamed' })
  })

  it('takes a description away by null, and no field that must be there', async () => {
    const test = await testServer()
    const id = await approved(test)
    expect(await recordOf(test, id)).toHaveProperty('description')
    await test.server.applications.change(id, { description: null })
    expect(await waiting(test, id)).not.toHaveProperty('description')
    for (const field of ['name', 'website', 'type', 'redirectUris', 'scopes', 'resourceScope', 'logo'] as const) {
      const change = test.server.applications.change(id, { [field]: null } as Amendment) // no field that may be absent
      await expect(change).rejects.toMatchObject({
        code: 'ERR_REGISTRATION',
        faults: [{ path: field, code: field === 'website' ? 'missing' : 'type' }],
      })
    }
  })

  it('tells every fault, and unknown names by their names', async () => {
    const test = await testServer()
    const id = await approved(test)
    const change = { name: '', firstParty: true, terms: undefined, redirectUris: ['http://app.example/'] } as Amendment // as a form has it
    await expect(test.server.applications.change(id, change)).rejects.toMatchObject({
      code: 'ERR_REGISTRATION',
      faults: [{ path: 'firstParty' }, { path: 'terms' }, { path: 'name' }, { path: 'redirectUris[0]' }],
    })
    const odd = [null, 7, 'a name', [], new Map(), new Date(0), Promise.resolve({ name: 'A' })]
    for (const value of odd) {
      const wrong = test.server.applications.change(id, value as never) // no object
      await expect(wrong).rejects.toMatchObject({ faults: [{ path: '' }] })
    }
    expect(await recordOf(test, id)).not.toHaveProperty('review')
  })

  it('takes no name of a prototype for a field', async () => {
    const test = await testServer()
    const id = await approved(test)
    const change = test.server.applications.change(id, JSON.parse('{"__proto__":{"name":"Other"}}'))
    await expect(change).rejects.toMatchObject({ faults: [{ path: '__proto__', code: 'field_unknown' }] })
    class Change {
      get name() {
        return 'Other'
      }
    }
    const inherited = test.server.applications.change(id, new Change())
    await expect(inherited).rejects.toMatchObject({ code: 'ERR_REGISTRATION' })
  })

  it('asks for a reason of each new scope, and of none that was registered without', async () => {
    const test = await testServer()
    await test.server.applications.change('web', { name: 'Renamed' })
    expect(await waiting(test, 'web')).toMatchObject({ name: 'Renamed', reasons: {} })
    const id = await approved(test)
    const change = { scopes: ['repo-code:rw', 'repo-issue:r'] }
    const fault = { path: 'scopes[1].reason', code: 'reason_length' }
    await expect(test.server.applications.change(id, change)).rejects.toMatchObject({ faults: [fault] })
  })

  it('starts from what waits, so that two changes in a row both count', async () => {
    const test = await testServer()
    const id = await approved(test)
    await test.server.applications.change(id, { name: 'Renamed' })
    await test.server.applications.change(id, { website: 'https://app.example/new' })
    expect(await waiting(test, id)).toMatchObject({ name: 'Renamed', website: 'https://app.example/new' })
  })

  it('is refused if it was made from an older revision', async () => {
    const test = await testServer()
    const id = await approved(test)
    await test.server.applications.change(id, { name: 'Renamed' }, { revision: 1 })
    const late = test.server.applications.change(id, { name: 'Late' }, { revision: 1 })
    await expect(late).rejects.toMatchObject({ code: 'ERR_REVISION_OUTDATED' })
    expect(await waiting(test, id)).toMatchObject({ name: 'Renamed' })
  })

  it('of several at once, each without a revision: all of them count', async () => {
    const test = await testServer()
    const id = await approved(test)
    const { applications } = test.server
    await Promise.all([
      applications.change(id, { name: 'Renamed' }),
      applications.change(id, { website: 'https://app.example/new' }),
      applications.change(id, { description: 'Other' }),
      applications.change(id, { logo: LOGO }),
    ])
    const changed = { name: 'Renamed', website: 'https://app.example/new', description: 'Other' }
    expect(await recordOf(test, id)).toMatchObject({ revision: 5, review: { details: changed } })
  })
})

describe('a wish that comes twice, since a form was sent twice', () => {
  it('hands one application in under an identifier that the host chose', async () => {
    const test = await testServer()
    const { applications } = test.server
    const options = { id: 'AAAAAAAAAAAAAAAAAAAAAA', applicant: 'bob' }
    expect(await applications.submit(submission, options)).toMatchObject({ id: options.id, state: 'pending' })
    const told = test.events.length
    await expect(applications.submit(submission, options)).rejects.toMatchObject({ code: 'ERR_CLIENT_EXISTS' })
    expect((await applications.list({ applicant: 'bob' })).applications).toHaveLength(1)
    expect(test.events).toHaveLength(told)
  })

  it('makes one new secret, and one event of it', async () => {
    const test = await testServer()
    const { applications } = test.server
    const id = await approved(test)
    const clientSecret = 'gws_derived-from-the-form'
    const told = test.events.length
    for (let turn = 0; turn < 3; turn++)
      expect(await applications.rotateSecret(id, { clientSecret })).toStrictEqual({ clientId: id, clientSecret })
    expect(await recordOf(test, id)).toMatchObject({ secrets: [{}, {}] })
    expect(test.events.slice(told)).toMatchObject([{ change: 'secret_rotated' }])
  })
})

describe('withdraw', () => {
  it('takes back what waits; a new application is gone with it, and with its logo', async () => {
    const test = await testServer()
    const { applications } = test.server
    const { id, review } = await applications.submit(submission, { applicant: 'bob' })
    await applications.withdraw(id, { actor: 'bob' })
    expect(await applications.get(id)).toBeUndefined()
    expect(await applications.logo(review.details.logo)).toBeUndefined()
    await expect(applications.withdraw(id)).rejects.toMatchObject({ code: 'ERR_CLIENT_UNKNOWN' })
  })

  it('takes back a change, and what is in force stays', async () => {
    const test = await testServer()
    const { applications } = test.server
    const id = await approved(test)
    const before = await recordOf(test, id)
    await applications.change(id, { name: 'Renamed' })
    await applications.withdraw(id)
    expect(await recordOf(test, id)).toStrictEqual({ ...before, revision: 2 })
    await expect(applications.withdraw(id)).rejects.toMatchObject({ code: 'ERR_APPLICATION_STATE' })
    await expect(applications.approve(id, { revision: 2 })).rejects.toMatchObject({ code: 'ERR_APPLICATION_STATE' })
  })
})

describe('transfer', () => {
  it('gives an application to a colleague, on whose list it is from then on', async () => {
    const test = await testServer()
    const { applications } = test.server
    const id = await approved(test)
    await applications.transfer(id, { applicant: 'carol', actor: 'bob' })
    const told = test.events.length
    await applications.transfer(id, { applicant: 'carol', actor: 'bob' })
    expect(test.events).toHaveLength(told)
    expect((await applications.list({ applicant: 'bob' })).applications).toStrictEqual([])
    expect((await applications.list({ applicant: 'carol' })).applications).toMatchObject([{ id, applicant: 'carol' }])
    await test.server.applications.registerResourceServer(
      { name: 'API', website: 'https://api.example', scopes: ['repo-code:r'] },
      { clientId: 'api' },
    )
    await expect(applications.transfer('api', { applicant: 'carol' })).rejects.toMatchObject({
      code: 'ERR_APPLICATION_STATE',
    })
  })
})

describe('delete', () => {
  it('ends every grant, removes the record and the logo, and leaves nothing to come back to', async () => {
    const test = await testServer()
    const { applications, grants } = test.server
    const { access_token, refresh_token } = await tokens(test)
    const { logo } = { logo: '', ...(await recordOf(test, 'web')) }
    await applications.delete('web', { actor: 'root' })
    expect(await applications.get('web')).toBeUndefined()
    expect(await applications.logo(logo)).toBeUndefined()
    expect(await works(test, access_token)).toBe(false)
    expect((await grants.listGrants('ada')).grants).toStrictEqual([])
    // Somebody else who gets the identifier gets nothing of it.
    await applications.register(registration(), WEB)
    expect(await works(test, access_token)).toBe(false)
    const { body } = await exchange(test, '', { grant_type: 'refresh_token', refresh_token })
    expect(body.error).toBe('invalid_grant')
    await expect(applications.delete('nobody')).rejects.toMatchObject({ code: 'ERR_CLIENT_UNKNOWN' })
  })

  it('ends the rest at a second call, after the store failed in between', async () => {
    let fails = false
    const store = memoryStore({ clock: () => START })
    const list: typeof store.list = (...asked) => {
      if (fails) throw new Error('gone')
      return store.list(...asked)
    }
    const test = await testServer({ store: { ...store, list }, clock: () => START })
    const { access_token } = await tokens(test)
    fails = true
    await expect(test.server.applications.delete('web')).rejects.toMatchObject({ code: 'ERR_STORE' })
    expect(await recordOf(test, 'web')).toMatchObject({ state: 'suspended' })
    expect(await works(test, access_token)).toBe(false)
    fails = false
    await test.server.applications.delete('web')
    expect(await test.server.applications.get('web')).toBeUndefined()
    expect((await test.server.grants.listGrants('ada')).grants).toStrictEqual([])
  })

  it.each(['pending', 'rejected', 'suspended'])('works where it is %s', async (state) => {
    const test = await testServer()
    const { applications } = test.server
    const { id } = await applications.submit(submission)
    if (state === 'rejected') await applications.reject(id, { revision: 1, reason: 'No' })
    if (state === 'suspended') {
      await applications.approve(id, { revision: 1 })
      await applications.suspend(id)
    }
    await applications.delete(id)
    expect(await applications.get(id)).toBeUndefined()
  })
})

describe('search and count', () => {
  async function several(): Promise<TestServer> {
    const test = await testServer()
    const { applications } = test.server
    for (let number = 0; number < 8; number++) {
      await applications.submit(
        { ...submission, name: `Mirror ${number}` },
        { applicant: number % 2 === 0 ? 'bob' : 'carol' },
      )
    }
    await applications.submit({
      ...submission,
      redirectUris: ['https://xn--and-6ma2c.example/'],
      name: 'ＭＩＲＲＯＲ wide',
    })
    await applications.change('web', { name: 'Waits' })
    await applications.suspend('other')
    return test
  }

  const namesOf = (applications: readonly Application[]): readonly string[] =>
    applications.map((each) => each.review?.details.name ?? ('name' in each ? each.name : ''))

  const WANTED = [
    [{}, 12],
    [{ text: 'mirror' }, 9],
    [{ text: 'MIRROR 3' }, 1],
    [{ text: '3 mirror' }, 1],
    [{ text: 'waits' }, 1],
    [{ text: 'app.example/callback' }, 9],
    [{ text: 'xn--and' }, 1],
    [{ text: 'carol' }, 4],
    [{ text: 'Native' }, 1],
    [{ text: 'native' }, 1],
    [{ text: 'nativ' }, 1],
    [{ text: 'none' }, 0],
    [{ applicant: 'bob' }, 4],
    [{ applicant: 'bob', text: 'mirror 2' }, 1],
    [{ applicant: 'bob', state: 'approved' }, 0],
    [{ state: 'suspended' }, 1],
    [{ state: 'pending' }, 10],
    [{ state: 'approved' }, 2],
  ] as const

  it.each(WANTED)('%j: %i', async (which, count) => {
    const { server } = await several()
    expect(await server.applications.count(which)).toBe(count)
    for (const limit of [1, 2, 5, 100]) {
      const found: Application[] = []
      let cursor: string | undefined
      do {
        const page = await server.applications.search(which, { limit, ...(cursor !== undefined && { cursor }) })
        expect(page.applications.length).toBeLessThanOrEqual(limit)
        found.push(...page.applications)
        cursor = page.cursor
      } while (cursor !== undefined)
      expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
      expect(found, namesOf(found).join()).toHaveLength(count)
    }
  })

  it('refuses a cursor of something else', async () => {
    const { server } = await testServer()
    for (const cursor of ['', 'x', '9', '-1.a']) {
      const page = server.applications.search({}, { cursor })
      await expect(page).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
    }
  })
})

describe('the one who did it', () => {
  it('is in the event of every change, and nowhere if the host names nobody', async () => {
    const test = await testServer()
    const { applications, grants } = test.server
    const actor = 'root'
    const { id } = await applications.submit(submission, { applicant: 'bob' })
    await applications.change(id, { name: 'Renamed' }, { actor: 'bob' })
    await applications.approve(id, { revision: 2, actor })
    await applications.rotateSecret(id, { actor })
    await applications.setTerms(id, { accessTokenLifetime: 60 }, { actor })
    await applications.transfer(id, { applicant: 'carol', actor })
    await applications.change(id, { name: 'Again' }, { actor })
    await applications.reject(id, { revision: 3, reason: 'No', actor })
    await applications.withdraw(id, { actor })
    await applications.suspend(id, { actor })
    await applications.reinstate(id, { actor })
    await applications.register(registration(), { clientId: 'made', actor })
    await tokens(test)
    await grants.revokeApplication('web', { actor })
    await applications.delete(id, { actor })
    const said = test.events.flatMap((event) =>
      event.type === 'application'
        ? [[event.change, event.actor]]
        : event.type === 'revoked'
          ? [['revoked', event.actor]]
          : [],
    )
    const all = [
      'approved',
      'secret_rotated',
      'terms_set',
      'transferred',
      'changed',
      'rejected',
      'withdrawn',
      'suspended',
      'reinstated',
      'submitted',
      'approved',
      'revoked',
      'suspended',
      'deleted',
    ]
    expect(said).toStrictEqual([['submitted', 'bob'], ['changed', 'bob'], ...all.map((change) => [change, actor])])
    test.events.length = 0
    await applications.suspend('web')
    expect(test.events).toMatchObject([{ change: 'suspended' }])
    expect(test.events[0]).not.toHaveProperty('actor')
  })
})

describe('terms', () => {
  it('give the tokens of an application lifetimes of their own, those of before stay as they are', async () => {
    const test = await testServer()
    const before = await tokens(test)
    await test.server.applications.setTerms('web', { accessTokenLifetime: 60, refreshTokenLifetime: 120 })
    const after = await tokens(test)
    expect([before.expires_in, after.expires_in]).toStrictEqual([28_800, 60])
    test.clock.now += 59
    expect(await works(test, after.access_token)).toBe(true)
    test.clock.now += 1
    expect([await works(test, before.access_token), await works(test, after.access_token)]).toStrictEqual([true, false])
    const refreshed = await exchange(test, '', { grant_type: 'refresh_token', refresh_token: after.refresh_token })
    expect(refreshed.body.expires_in).toBe(60)
    test.clock.now += 120
    const late = { grant_type: 'refresh_token', refresh_token: refreshed.body.refresh_token }
    expect((await exchange(test, '', late)).body.error).toBe('invalid_grant')
    await test.server.applications.setTerms('web', {})
    expect((await tokens(test)).expires_in).toBe(28_800)
    expect(await recordOf(test, 'web')).not.toHaveProperty('terms')
  })

  it('stay through a change by the applicant', async () => {
    const test = await testServer()
    const id = await approved(test)
    await test.server.applications.setTerms(id, { firstParty: true, accessTokenLifetime: 60 })
    await test.server.applications.change(id, { name: 'Renamed' })
    await test.server.applications.approve(id, { revision: 2 })
    expect(await recordOf(test, id)).toMatchObject({
      name: 'Renamed',
      terms: { firstParty: true, accessTokenLifetime: 60 },
    })
  })

  it.each([
    [{ firstParty: false }, 'firstParty'],
    [{ accessTokenLifetime: 0 }, 'accessTokenLifetime'],
    [{ refreshTokenLifetime: 60 }, 'refreshTokenLifetime'],
    [{ accessTokenLifetime: 120, refreshTokenLifetime: 60 }, 'refreshTokenLifetime'],
    [{ gracePeriod: 60 }, 'gracePeriod'],
  ])('%j is refused', async (terms, name) => {
    const { server } = await testServer()
    const wrong = { code: 'ERR_CONFIGURATION', message: expect.stringContaining(name) }
    await expect(server.applications.setTerms('web', terms as object)).rejects.toMatchObject(wrong)
    await expect(server.applications.register(registration(), { terms: terms as object })).rejects.toMatchObject(wrong)
  })

  it('an application of the service itself gets its code without a page, by a navigation alone', async () => {
    const test = await testServer()
    await test.server.applications.setTerms('web', { firstParty: true })
    await expect(authorize(test)).rejects.toThrow(/no consent page: 302 https:\/\/app\.example\/callback\?code=/)
    expect(test.events.at(-1)).toMatchObject({ type: 'issued', unasked: true, resources: { kind: 'all' } })
  })

  it('asks for a redirect URI that is not registered as it is, and of a client that registered itself', async () => {
    const test = await testServer({ clientPolicy: () => 'approve' })
    const { applications } = test.server
    await applications.setTerms('web', { firstParty: true })
    await authorize(test, { redirect_uri: 'https://app.example/go?to=elsewhere' })
    const { client_id } = await register(test)
    await expect(applications.setTerms(client_id, { firstParty: true })).rejects.toMatchObject({
      code: 'ERR_APPLICATION_STATE',
    })
    await applications.setTerms(client_id, { accessTokenLifetime: 60 })
  })

  it('its users are asked for a redirect URI that another program can take over, for resources to choose, and on a device', async () => {
    const test = await testServer({ resources: () => [{ id: 'a' }] })
    const { applications } = test.server
    await applications.setTerms('native', { firstParty: true })
    await authorize(test, {
      client_id: 'native',
      redirect_uri: 'http://127.0.0.1:1/callback',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    })
    await applications.register(registration({ resourceScope: 'specified' }), {
      clientId: 'chosen',
      terms: { firstParty: true },
    })
    await authorize(test, { client_id: 'chosen' }, { resource_scope: 'specified', resource: 'a' })
    expect(test.events.filter((event) => event.type === 'issued' && event.unasked)).toStrictEqual([])
  })
})

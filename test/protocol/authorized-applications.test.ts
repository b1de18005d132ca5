/**
 * The page on which users see what they permitted, and take it back.
 * @module
 */
import type { ClientId, HttpResponse } from 'grantwell'
import { portableDigests } from 'grantwell'
import type { AuthorizedApplicationsPageModel, PageInput } from 'grantwell/pages'
import { describe, expect, it } from 'vitest'
import { clientKeyOf } from '../../src/core/credentials/digests.js'
import { authorizedApplicationsPage } from '../pages/english.js'
import { busyPage, page, redirect, StoreFailure, signedOut, watchedServer } from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  authorize,
  basic,
  call,
  exchange,
  hiddenFields,
  ISSUER,
  OTHER,
  openConsent,
  post,
  refresh,
  registration,
  START,
  send,
  testServer,
  tokens,
  WEB,
} from '../support.js'

const PATH = '/oauth2/applications'
const PUBLIC = { resource_scope: 'public' }
const OTHER_LINK = { client_id: 'other', redirect_uri: 'https://other.example/callback' }
/** Seconds that a refresh token works. */
const REFRESH_LIFETIME = 15_552_000

async function open({ server }: TestServer, cookie?: string): Promise<HttpResponse> {
  return send(server, { url: PATH, headers: cookie === undefined ? {} : { cookie } })
}

function cookieOf(response: HttpResponse): string {
  return response.headers['Set-Cookie']?.split(';')[0] ?? ''
}

/** The form of each application on a page, in their order. */
function formsOf({ body }: HttpResponse): readonly Record<string, string>[] {
  return [...body.matchAll(/<form.*?<\/form>/gs)].map(([form]) => hiddenFields(form))
}

/** What the page says of the form that was just sent. */
function noteIn({ body }: HttpResponse): string | undefined {
  return /role="status"[^>]*>([^<]*)</.exec(body)?.[1]
}

/** What the page is made of, as the server asks for it. */
function watchedPages() {
  const models: AuthorizedApplicationsPageModel[] = []
  const authorizedApplications = ({ model }: PageInput<AuthorizedApplicationsPageModel>): string => {
    models.push(model)
    return authorizedApplicationsPage(model)
  }
  return { models, pages: { authorizedApplications } }
}

describe('GET shows what was permitted', () => {
  it('to nobody who is not signed in', async () => {
    const test = await testServer()
    test.session.user = undefined
    expect(await open(test)).toStrictEqual(redirect(`/sign-in?return_to=${encodeURIComponent(ISSUER + PATH)}`))
  })

  it('nothing, in words', async () => {
    const test = await testServer()
    const response = await open(test)
    expect(response.body).toContain('No application has access to your account.')
    const { 'Set-Cookie': cookie, ...headers } = response.headers
    expect({ ...response, headers }).toStrictEqual(page(200, response.body))
    expect(cookie).toMatch(/^__Host-grantwell=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
    expect(await open(test, cookieOf(response))).not.toHaveProperty('headers.Set-Cookie')
  })

  it('every application, however long somebody made the name of a resource', async () => {
    const { models, pages } = watchedPages()
    const long = `eve/${'"'.repeat(1_000_000)}`
    const test = await testServer({
      pages,
      resources: () => [
        { id: 'repo/1', name: long },
        { id: 'repo/2', name: 'ada/two' },
      ],
    })
    await authorize(test, { client_id: 'other', redirect_uri: 'https://other.example/callback' })
    test.clock.now += 10
    const { fields, headers } = await openConsent(test)
    const chosen = ['repo/1', 'repo/2'].map((id) => ['resource', id] as const)
    const form = Object.entries({ ...fields, decision: 'agree', resource_scope: 'specified' })
    expect((await post(test.server, '/oauth2/auth', [...form, ...chosen], headers)).status).toBe(302)
    const { body } = await open(test)
    expect(models[0]?.applications.map(({ name }) => name)).toStrictEqual(['Sample', 'Other'])
    expect(models[0]?.next).toBeUndefined()
    const { resources } = models[0]?.applications[0]?.grants[0] ?? {}
    expect(resources?.items).toStrictEqual([`${long.slice(0, 255)}…`, 'ada/two'])
    expect(body.length).toBeLessThan(20_000)
  })

  it('one entry for each application, the one agreed to last first, with every permission', async () => {
    const { models, pages } = watchedPages()
    const items = [{ id: 'repo/1', name: 'First' }, { id: 'repo/2' }]
    const test = await testServer({ pages, resources: () => items })
    const form = { resource_scope: 'specified', resource: 'repo/1' }
    const { code } = await authorize(test, { scope: 'repo-code:r' }, form)
    await exchange(test, code)
    test.clock.now += 10
    await authorize(test, {}, { resource_scope: 'public' })
    test.clock.now += 10
    const other = await authorize(test, { client_id: 'other', redirect_uri: 'https://other.example/callback' })
    const { body } = await exchange(test, other.code, {}, OTHER)
    test.clock.now += 10
    await refresh(test, body.refresh_token, {}, OTHER)
    await test.server.applications.suspend('other')
    await open(test)

    const logoOf = (clientId: string) =>
      expect.stringMatching(new RegExp(`^/oauth2/logo\\?client_id=${clientId}&logo=[\\w-]{22}$`))
    const both = [
      { scope: 'repo-code:rw', permission: 'rw', description: 'Repository code through Git commands' },
      { scope: 'account-profile:r', permission: 'r', description: 'User profile' },
    ]
    const read = { scope: 'repo-code:r', permission: 'r', description: 'Repository code through Git commands' }
    const revokeForm = (clientId: string) => ({
      action: PATH,
      fields: [
        { name: 'client_id', value: clientId },
        { name: 'consent', value: expect.any(String) },
      ],
    })
    const website = 'https://app.example'
    expect(models).toStrictEqual([
      {
        user: { name: 'Ada' },
        stylesheet: '/oauth2/style.css',
        more: false,
        applications: [
          {
            name: 'Other',
            website,
            logo: logoOf('other'),
            suspended: true,
            grants: [
              {
                scopes: both,
                resources: { kind: 'all', items: [] },
                createdAt: START + 20,
                lastUsedAt: START + 30,
                expiresAt: expect.any(Number),
              },
            ],
            form: revokeForm('other'),
            choice: { name: 'client_id', value: 'other' },
          },
          {
            name: 'Sample',
            website,
            logo: logoOf('web'),
            suspended: false,
            grants: [
              {
                scopes: both,
                resources: { kind: 'public', items: [] },
                createdAt: START + 10,
                expiresAt: expect.any(Number),
              },
              {
                scopes: [read],
                resources: { kind: 'specified', items: ['First'] },
                createdAt: START,
                lastUsedAt: START,
                expiresAt: START + REFRESH_LIFETIME,
              },
            ],
            form: revokeForm('web'),
            choice: { name: 'client_id', value: 'web' },
          },
        ],
        choiceForm: {
          action: PATH,
          fields: [
            { name: 'decision', value: 'chosen' },
            { name: 'consent', value: expect.any(String) },
          ],
        },
      },
    ])
  })

  it('a resource that the user has no more by its identifier', async () => {
    const { models, pages } = watchedPages()
    const items = [{ id: 'repo/1', name: 'First' }]
    const test = await testServer({ pages, resources: () => items })
    await authorize(test, {}, { resource_scope: 'specified', resource: 'repo/1' })
    items.pop()
    await open(test)
    expect(models[0]?.applications[0]?.grants[0]?.resources.items).toStrictEqual(['repo/1'])
  })

  it('without logos where the store does not say what they are', async () => {
    const { models, pages } = watchedPages()
    const test = await watchedServer({ pages })
    await authorize(test)
    let reads = 0
    test.instead.read = (keys) => {
      if (++reads === 2) throw new StoreFailure()
      return test.store.read(keys)
    }
    await open(test)
    expect(models[0]?.applications.map(({ name, logo }) => [name, logo])).toStrictEqual([['Sample', undefined]])
  })

  it('five grants of an application, and all before those together', async () => {
    const { models, pages } = watchedPages()
    const items = [{ id: 'repo/1', name: 'First' }, { id: 'repo/2' }]
    const test = await testServer({ pages, resources: () => items })
    await authorize(test, { scope: 'repo-code:rw' })
    for (const resource of ['repo/1', 'repo/2', 'repo/2'])
      await authorize(test, { scope: 'repo-code:r' }, { resource_scope: 'specified', resource })
    test.clock.now += 1
    for (let count = 0; count < 5; count++) await authorize(test, { scope: 'account-profile:r' }, PUBLIC)
    await open(test)
    const [application] = models[0]?.applications ?? []
    expect(application?.grants.map(({ scopes }) => scopes.map(({ scope }) => scope))).toStrictEqual(
      Array.from({ length: 5 }, () => ['account-profile:r']),
    )
    expect(application?.older).toMatchObject({
      count: 4,
      // What is wide is not hidden behind what is newer; nor is what it includes said twice.
      scopes: [{ scope: 'repo-code:rw' }],
      resources: [
        { kind: 'all', items: [] },
        { kind: 'specified', items: expect.toSatisfy((names: string[]) => names.toSorted().join() === 'First,repo/2') },
      ],
    })
  })

  it('the number of resources of older permissions, and where nobody can know it, that there may be more', async () => {
    const { models, pages } = watchedPages()
    const items = Array.from({ length: 300 }, (_, index) => ({ id: `repo/${index}` }))
    const test = await testServer({ pages, resources: () => items })
    const permit = async (from: number, to: number): Promise<void> => {
      const { fields, headers } = await openConsent(test, {})
      const form = Object.entries({ ...fields, decision: 'agree', resource_scope: 'specified' })
      const chosen = items.slice(from, to).map(({ id }) => ['resource', id] as const)
      expect((await post(test.server, '/oauth2/auth', [...form, ...chosen], headers)).status).toBe(302)
      test.clock.now += 1
    }
    const shown = async () => {
      const { body } = await open(test)
      const { items: names = [], ...rest } = models.at(-1)?.applications[0]?.older?.resources[0] ?? {}
      return { ...rest, named: names.length, body }
    }
    await permit(0, 60)
    await permit(30, 90)
    for (let count = 0; count < 5; count++) await permit(0, 1)
    // Of 90 that are all known, as many as fit.
    const known = await shown()
    expect(known).toMatchObject({ kind: 'specified', named: expect.any(Number) })
    expect(known.named + (known.notShown ?? 0)).toBe(90)
    expect(known).not.toHaveProperty('isMore')
    await permit(0, 256)
    for (let count = 0; count < 5; count++) await permit(0, 1)
    const many = await shown()
    expect(many).toMatchObject({ kind: 'specified', isMore: true })
    expect(many.named + (many.notShown ?? 0)).toBe(256)
    expect(many.body).toContain('<summary>256 or more resources</summary>')
    expect(many.body).toContain(`<li>${many.notShown} or more others</li>`)
  })

  it('every application on one of its pages, with its button', async () => {
    const test = await testServer()
    const names = Array.from({ length: 230 }, (_, index) => `Application ${index}`)
    for (const [index, name] of names.entries()) {
      const client = { clientId: `client-${index}`, clientSecret: `a-secret-of-the-client-${index}-and-more` }
      await test.server.applications.register(registration({ name }), client)
      await authorize(test, { client_id: client.clientId })
      if (index % 7 === 0) test.clock.now += 1
    }
    const buttons: string[] = []
    let path: string | undefined = PATH
    for (let count = 0; path !== undefined; count++) {
      expect(count).toBeLessThan(10)
      const { body } = await send(test.server, { url: path, headers: {} })
      expect(body.length).toBeLessThan(300_000)
      buttons.push(...[...body.matchAll(/aria-label="Revoke access of ([^"]+)"/g)].map(([, name = '']) => name))
      path = /href="([^"]+)">More applications/.exec(body)?.[1]
    }
    expect(buttons.toSorted()).toStrictEqual(names.toSorted())
  })

  it('every application on one of its pages, also one that is used while its user reads the first', async () => {
    const test = await testServer()
    const clients = Array.from({ length: 120 }, (_, index) => ({
      clientId: `client-${index}`,
      clientSecret: `a-secret-of-the-client-${index}-and-more`,
    }))
    const codes: string[] = []
    for (const [index, client] of clients.entries()) {
      await test.server.applications.register(registration({ name: `Application ${index}.` }), client)
      codes.push((await authorize(test, { client_id: client.clientId })).code)
      test.clock.now += 1
    }
    const first = (await send(test.server, { url: PATH, headers: {} })).body
    const unseen = [...clients.entries()].filter(([index]) => !first.includes(`Application ${index}.`))
    expect(unseen.length).toBeGreaterThan(0)
    for (const [index, client] of unseen)
      expect(await exchange(test, codes[index] ?? '', {}, client)).toMatchObject({ status: 200 })
    const rest: string[] = []
    for (let path = /href="([^"]+)">More applications/.exec(first)?.[1]; path !== undefined; ) {
      const { body } = await send(test.server, { url: path, headers: {} })
      rest.push(body)
      path = /href="([^"]+)">More applications/.exec(body)?.[1]
    }
    expect(rest).not.toEqual([])
    const all = [first, ...rest].join()
    expect(clients.filter((_, index) => !all.includes(`Application ${index}.`))).toEqual([])
  })

  it.each(['1', '230', '99999', '', '-1', '1e3', 'x', '100000', '1&from=2'])(
    'the first page for what is no place: from=%s',
    async (from) => {
      const test = await testServer()
      await authorize(test)
      expect((await send(test.server, { url: `${PATH}?from=${from}` })).body).toContain('Revoke access of Sample')
    },
  )

  it.each(['grant', 'application'] as const)(
    'what can be read, with its button, where a record of the kind %s is of another version',
    async (kind) => {
      const { models, pages } = watchedPages()
      const test = await testServer({ pages })
      await authorize(test)
      const other = { client_id: 'other', redirect_uri: 'https://other.example/callback' }
      await authorize(test, other)
      const { records } = await test.store.list(kind === 'grant' ? 'subject:ada' : 'client:other')
      const broken = records.find(({ value }) => JSON.stringify(value).includes('"other"')) ?? expect.fail()
      const key = kind === 'grant' ? broken.key : `application:${clientKeyOf(portableDigests, 'other' as ClientId)}`
      const [record] = await test.store.read([key])
      const value = { ...(record?.value as object), v: 2 }
      await test.store.write(key, value, { expected: record?.version ?? 0, labels: ['subject:ada'] })
      const { status, body } = await open(test)
      expect(status).toBe(200)
      expect(models[0]).toMatchObject({ isIncomplete: true, applications: [{ name: 'Sample' }] })
      expect(body).toContain('Some applications with access cannot be shown at present.')
      expect(body).toContain('Revoke access of Sample')
      await expect(test.server.grants.listGrants('ada')).rejects.toMatchObject({ code: 'ERR_STORE' })
    },
  )

  it('no more than ten thousand grants, and says so', async () => {
    const { models, pages } = watchedPages()
    const test = await watchedServer({ pages })
    await authorize(test)
    const { records } = await test.store.list('subject:ada')
    let pagesRead = 0
    test.instead.list = async () => ({
      records: Array.from({ length: 1000 }, () => records[0] ?? expect.fail()),
      cursor: String(pagesRead++),
    })
    await open(test)
    expect([pagesRead, models[0]?.more]).toStrictEqual([10, true])
    test.instead.list = async () => ({ records })
    await open(test)
    expect(models[1]?.more).toBe(false)
  })

  it('the identifiers of resources where the host does not say their names, and the buttons', async () => {
    const errors: unknown[] = []
    let isDown = false
    const down = new Error('down')
    const resources = () => {
      if (isDown) throw down
      return [{ id: 'repo/1', name: 'First' }]
    }
    const test = await testServer({ resources, onError: (error) => errors.push(error) })
    await authorize(test, {}, { resource_scope: 'specified', resource: 'repo/1' })
    isDown = true
    const shown = await open(test)
    expect(shown).toMatchObject({ status: 200, body: expect.stringContaining('repo/1') })
    expect(errors).toStrictEqual([down])
    const [form = {}] = formsOf(shown)
    expect((await post(test.server, PATH, form, { cookie: cookieOf(shown) })).status).toBe(200)
    expect((await test.server.grants.listGrants('ada')).grants).toStrictEqual([])
  })
})

describe('POST takes everything back from one application', () => {
  it('and shows the page anew, with what was done; other applications and users keep what they have', async () => {
    const test = await testServer()
    const mine = await tokens(test)
    const other = await authorize(test, OTHER_LINK)
    const others = (await exchange(test, other.code, {}, OTHER)).body
    const shown = await open(test)
    const form = formsOf(shown).find(({ client_id }) => client_id === 'web') ?? expect.fail()
    const response = await post(test.server, PATH, form, { cookie: cookieOf(shown) })
    expect(response).toStrictEqual(page(200, response.body))
    expect(noteIn(response)).toBe('Access was revoked: 1 application.')
    expect(await call(test, mine.access_token)).toMatchObject({ type: 'refused' })
    expect(await call(test, others.access_token)).toMatchObject({ type: 'authenticated' })
    expect(formsOf(response).map(({ client_id }) => client_id)).toStrictEqual(['other'])
    expect(noteIn(await open(test))).toBeUndefined()
  })

  it('twice is no harm, and says the same', async () => {
    const test = await testServer()
    await tokens(test)
    const shown = await open(test)
    const [form = {}] = formsOf(shown)
    for (let time = 0; time < 2; time++) {
      const response = await post(test.server, PATH, form, { cookie: cookieOf(shown) })
      expect([response.status, noteIn(response)]).toStrictEqual([200, 'Access was revoked: 1 application.'])
    }
  })

  /** Sends the form with changes, by which it must be refused. */
  async function refusal(changes: {
    form?: Record<string, string>
    headers?: Record<string, string>
    before?: (test: TestServer) => unknown
  }): Promise<HttpResponse> {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const shown = await open(test)
    changes.before?.(test)
    const form = { ...formsOf(shown)[0], ...changes.form }
    const response = await post(test.server, PATH, form, { cookie: cookieOf(shown), ...changes.headers })
    expect(await call(test, access_token)).toMatchObject({ type: 'authenticated' })
    return response
  }

  it.each([
    ['without the field that binds it', { form: { consent: '' } }],
    [
      'with another',
      { form: { consent: '1800000600.AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' } },
    ],
    ['for another application', { form: { client_id: 'other' } }],
    ['for no application', { form: { client_id: '' } }],
    ['without the browser’s key', { headers: { cookie: '' } }],
    ['from another site', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['from another origin', { headers: { origin: 'https://evil.example' } }],
    ['too late', { before: (test: TestServer) => Object.assign(test.clock, { now: START + 600 }) }],
    ['by another user', { before: (test: TestServer) => Object.assign(test.session, { user: { subject: 'bob' } }) }],
  ])('%s: refused, and nothing changes', async (_, changes) => {
    const response = await refusal(changes)
    expect(response.status).toBe(400)
    expect(response.body).toContain('Nothing was changed.')
  })

  it('by nobody: to the sign-in, by way of a page', async () => {
    const response = await refusal({ before: (test) => Object.assign(test.session, { user: undefined }) })
    expect(response).toStrictEqual(signedOut(`/sign-in?return_to=${encodeURIComponent(ISSUER + PATH)}`))
  })

  it.each([
    [
      'a repeated field',
      [
        ['client_id', 'web'],
        ['client_id', 'web'],
      ],
      {},
    ],
    ['another content type', {}, { 'content-type': 'application/json' }],
  ] as const)('%s: a page with 400', async (_, form, headers) => {
    const test = await testServer()
    const response = await post(test.server, PATH, form, headers)
    expect(response).toMatchObject({ status: 400, headers: { 'Content-Type': 'text/html;charset=UTF-8' } })
    expect(test.events.at(-1)).toMatchObject({ endpoint: 'applications', reason: 'malformed_request' })
  })
})

describe('POST takes everything back from the chosen applications', () => {
  /** Three applications with a permission each, and the form of the page to choose among them. */
  async function threePermitted() {
    const test = await watchedServer()
    await tokens(test)
    await authorize(test, OTHER_LINK)
    const third = { clientId: 'third', clientSecret: 'a-secret-of-the-third-client-and-more' }
    await test.server.applications.register(registration({ name: 'Third' }), third)
    await authorize(test, { client_id: third.clientId })
    const shown = await open(test)
    const form = formsOf(shown).at(-1) ?? {}
    const send = (clientIds: readonly string[], changes: Record<string, string> = {}, path = PATH) => {
      const chosen = clientIds.map((clientId) => ['client_id', clientId] as const)
      return post(test.server, path, [...Object.entries({ ...form, ...changes }), ...chosen], {
        cookie: cookieOf(shown),
      })
    }
    const left = async () => {
      const { grants } = await test.server.grants.listGrants('ada')
      return grants.map(({ clientId }) => clientId).toSorted()
    }
    return { test, shown, send, left }
  }

  it('in one pass over what the user permitted, and says how many', async () => {
    const { test, send, left } = await threePermitted()
    test.forget()
    const response = await send(['web', 'third', 'web'])
    expect([response.status, noteIn(response)]).toStrictEqual([200, 'Access was revoked: 2 applications.'])
    // One list for the pass, and one for the page.
    expect(test.trips.lists).toBe(2)
    expect(await left()).toStrictEqual(['other'])
    expect(formsOf(response)).toHaveLength(1)
  })

  it('twice is no harm, and says the same', async () => {
    const { send } = await threePermitted()
    const [first, second] = [await send(['web', 'other', 'third']), await send(['web', 'other', 'third'])]
    expect([noteIn(first), noteIn(second)]).toStrictEqual(Array(2).fill('Access was revoked: 3 applications.'))
  })

  it('none chosen is a fault, and nothing changes', async () => {
    const { send, left } = await threePermitted()
    for (const chosen of [[], ['']]) {
      const response = await send(chosen)
      expect(response).toMatchObject({ status: 400, body: expect.stringContaining('role="alert"') })
      expect(response.body).toContain('Choose at least one application.')
      expect(noteIn(response)).toBeUndefined()
    }
    expect(await left()).toStrictEqual(['other', 'third', 'web'])
  })

  it('another user keeps what that user permitted to the same application', async () => {
    const { test, send } = await threePermitted()
    test.session.user = { subject: 'bob' }
    await authorize(test)
    test.session.user = { subject: 'ada' }
    await send(['web'])
    expect((await test.server.grants.listGrants('bob')).grants).toHaveLength(1)
  })

  it('the form of one application does not do for several, nor that of several for one', async () => {
    const { shown, send, left } = await threePermitted()
    const [one = {}] = formsOf(shown)
    const refused = [
      await send(['web', 'other'], { consent: one['consent'] ?? '' }),
      await send([one['client_id'] ?? ''], { consent: one['consent'] ?? '' }),
      await send(['web'], { decision: '' }),
      await send(['web'], { consent: '' }),
      await send(Array.from({ length: 101 }, (_, index) => (index === 0 ? 'web' : `client-${index}`))),
    ]
    expect(refused.map(({ status }) => status)).toStrictEqual(Array(refused.length).fill(400))
    for (const { body } of refused) expect(body).toContain('Nothing was changed.')
    expect(await left()).toStrictEqual(['other', 'third', 'web'])
  })

  it('a hundred at once are taken', async () => {
    const { send, left } = await threePermitted()
    const response = await send(Array.from({ length: 100 }, (_, index) => (index === 0 ? 'web' : `client-${index}`)))
    expect(noteIn(response)).toBe('Access was revoked: 100 applications.')
    expect(await left()).toStrictEqual(['other', 'third'])
  })

  it('comes back to the page that it was sent from', async () => {
    const { test, send } = await threePermitted()
    const { body } = await send([], {}, `${PATH}?from=1`)
    expect(body).toContain(`action="${PATH}?from=1"`)
    expect(formsOf(await send(['web'], {}, `${PATH}?from=2`)).length).toBeGreaterThan(0)
    expect((await open(test)).body).toContain(`action="${PATH}"`)
  })

  it('is not offered for one application', async () => {
    const test = await testServer()
    await authorize(test)
    const response = await open(test)
    expect(formsOf(response)).toHaveLength(1)
    expect(response.body).not.toContain('type="checkbox"')
  })

  it.each(['notice', 'fault', 'client_id', 'decision'])('no link makes the page say so: %s', async (name) => {
    const { test } = await threePermitted()
    const said = await send(test.server, { url: `${PATH}?${name}=Access%20was%20revoked` })
    expect(said.body).not.toContain('Access was revoked')
    expect(noteIn(said)).toBeUndefined()
  })
})

describe('what fails', () => {
  it.each([
    ['list', 503],
    ['read', 503],
    ['write', 200],
  ] as const)('the store at %s: 503, and the next try works', async (method, opened) => {
    const test = await watchedServer()
    await tokens(test)
    const shown = await open(test)
    const [form = {}] = formsOf(shown)
    test.instead[method] = () => {
      throw new Error('the store went away')
    }
    const send = () => post(test.server, PATH, form, { cookie: cookieOf(shown) })
    expect(await send()).toStrictEqual(busyPage(503))
    expect((await open(test)).status).toBe(opened)
    test.instead[method] = undefined
    expect((await send()).status).toBe(200)
    expect(await test.server.grants.listGrants('ada')).toStrictEqual({ grants: [] })
  })

  it('a function of the host: 500, and onError is told', async () => {
    const failure = new Error('no session store')
    const test = await testServer({
      user: () => {
        throw failure
      },
    })
    expect(await open(test)).toStrictEqual(busyPage(500))
    expect(test.errors).toStrictEqual([failure])
  })

  it('another method: 405', async () => {
    const test = await testServer()
    const response = await send(test.server, { method: 'DELETE', url: PATH, headers: basic(WEB) })
    expect(response).toMatchObject({ status: 405, headers: { Allow: 'GET, HEAD, POST' } })
  })
})

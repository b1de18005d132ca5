/**
 * Clients whose identifier is the URL of their metadata.
 * @module
 * @see draft-ietf-oauth-client-id-metadata-document
 */
import type { ClientCandidate, FetchedClientMetadata } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { authorizationUrl, openConsent, post, refresh, send, type testServer, works } from '../support.js'
import { CALLBACK, CLIENT_URL, documentOf, documentServer, openFor } from './client-documents.js'
import { openServer, parametersOf, tokensOf } from './registration.js'

const HOUR = 3600
const DAY = 86_400
const OTHER_CALLBACK = 'https://tool.example/other'
const THIEF = 'https://thief.example/callback'

describe('a client whose identifier is a URL', () => {
  it('is told of in the metadata, where the server fetches documents', async () => {
    const told = async (test: Awaited<ReturnType<typeof testServer>>) =>
      JSON.parse((await send(test.server, { url: '/.well-known/oauth-authorization-server' })).body as string)
    expect(await told(await documentServer())).toHaveProperty('client_id_metadata_document_supported', true)
    expect(await told(await openServer())).not.toHaveProperty('client_id_metadata_document_supported')
  })

  it('goes through without any registration, and the page shows its host in front', async () => {
    const test = await documentServer()
    const { page } = await openConsent(test, parametersOf(CLIENT_URL, CALLBACK))
    const text = (page.body as string).replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ')
    expect(text).toContain('tool.example calls itself A tool and wants to access your account')
    expect(text).toContain('This application registered itself.')
    const pair = await tokensOf(test, CLIENT_URL, CALLBACK)
    expect(await works(test, pair.access_token)).toBe(true)
    expect((await refresh(test, pair.refresh_token, {}, { clientId: CLIENT_URL })).status).toBe(200)
  })

  it('is read once until its document is due, and then anew', async () => {
    const test = await documentServer()
    test.documents.set(CLIENT_URL, documentOf({}, 2 * HOUR))
    await tokensOf(test, CLIENT_URL, CALLBACK)
    expect(test.fetched).toEqual([CLIENT_URL])
    test.clock.now += 2 * HOUR - 1
    await openFor(test)
    expect(test.fetched).toHaveLength(1)
    test.clock.now += 1
    await openFor(test)
    expect(test.fetched).toHaveLength(2)
  })

  it.each([
    ['an hour where it does not say', undefined, HOUR],
    ['a minute where it says less', 0, 60],
    ['a day where it says more', 1_000_000, DAY],
    ['what it says in between', 777, 777],
  ])('counts as read for %s', async (_, maxAge, seconds) => {
    const test = await documentServer()
    test.documents.set(CLIENT_URL, documentOf({}, maxAge))
    await openFor(test)
    test.clock.now += seconds - 1
    await openFor(test)
    expect(test.fetched).toHaveLength(1)
    test.clock.now += 1
    await openFor(test)
    expect(test.fetched).toHaveLength(2)
  })

  it('[57] is read for a user who is signed in alone: anybody else is sent to sign in, and back to the same request', async () => {
    const test = await documentServer()
    test.session.user = undefined
    const answer = await openFor(test)
    expect(answer.status).toBe(302)
    const back = new URL(
      new URL(answer.headers['Location'] ?? '', 'https://git.example').searchParams.get('return_to') ?? '',
    )
    expect(Object.fromEntries(back.searchParams)).toEqual(
      Object.fromEntries(
        new URL(`https://git.example${authorizationUrl(parametersOf(CLIENT_URL, CALLBACK))}`).searchParams,
      ),
    )
    expect(test.fetched).toEqual([])
  })

  it('is read for a page that the user opens alone, not for an image or a script of another page', async () => {
    const test = await documentServer()
    const url = authorizationUrl(parametersOf(CLIENT_URL, CALLBACK))
    for (const headers of [{ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, { 'sec-fetch-dest': 'iframe' }])
      expect((await send(test.server, { url, headers })).status).toBe(400)
    expect(test.fetched).toEqual([])
    expect((await send(test.server, { url, headers: { 'sec-fetch-mode': 'navigate' } })).status).toBe(200)
  })

  it('is on its users’ list of applications with its host in front', async () => {
    const test = await documentServer()
    await tokensOf(test, CLIENT_URL, CALLBACK)
    const page = await send(test.server, { url: '/oauth2/applications' })
    expect((page.body as string).replaceAll(/<[^>]*>/g, '')).toContain('tool.example calls itself A tool')
  })

  it('is nobody at a server that fetches no documents', async () => {
    const test = await openServer()
    expect((await openFor(test)).status).toBe(400)
    expect(test.events).toMatchObject([{ reason: 'client_unknown' }])
  })

  it('may be an application that administrators registered: then its URL is never asked', async () => {
    const test = await documentServer()
    const { server } = test
    const logo = (await import('../support.js')).registration()
    await server.applications.register({ ...logo, type: 'public', redirectUris: [CALLBACK] }, { clientId: CLIENT_URL })
    expect((await openFor(test)).status).toBe(200)
    expect(test.fetched).toEqual([])
  })

  it.each([
    'http://tool.example/client.json',
    'https://tool.example',
    'https://tool.example/',
    'https://tool.example/client.json?a=1',
    'https://tool.example/client.json#a',
    'https://user@tool.example/client.json',
    'https://TOOL.example/client.json',
    'https://tool.example:443/client.json',
    'https://tool.example/a/../client.json',
    'https://tool.example/%2e/client.json',
    ' https://tool.example/client.json',
    'https:/tool.example/client.json',
  ])('is no URL that anybody is asked for: %s', async (clientId) => {
    const test = await documentServer()
    test.documents.set(clientId, documentOf({ client_id: clientId }))
    expect((await openFor(test, clientId)).status).toBe(400)
    expect(test.fetched).toEqual([])
  })

  const FAULTY: Readonly<Record<string, FetchedClientMetadata>> = {
    'one that is not there': { type: 'none', reason: 'status' },
    'text that is no JSON': { type: 'document', text: '<html>' },
    'a list': { type: 'document', text: '[]' },
    'one of another client': documentOf({ client_id: 'https://other.example/client.json' }),
    'one that has its own URL in another spelling': documentOf({ client_id: `${CLIENT_URL}#` }),
    'one without its own URL': documentOf({ client_id: undefined }),
    'one with a secret': documentOf({ client_secret: 'x' }),
    'one that asks for a secret': documentOf({ token_endpoint_auth_method: 'client_secret_basic' }),
    'one without a redirect URI': documentOf({ redirect_uris: [] }),
    'one with a faulty redirect URI': documentOf({ redirect_uris: ['http://tool.example/'] }),
  }

  it.each(Object.entries(FAULTY))('does not get through by %s, and nothing is kept', async (_, document) => {
    const test = await documentServer()
    test.documents.set(CLIENT_URL, document)
    const page = await openFor(test)
    expect([page.status, page.body]).toEqual([400, expect.stringContaining('This application cannot be read')])
    expect(test.events).toMatchObject([
      {
        endpoint: 'authorization',
        reason: 'client_metadata_unavailable',
        clientId: CLIENT_URL,
        rule: expect.stringMatching(/^document: /),
      },
    ])
    expect(await test.server.applications.get(CLIENT_URL)).toBeUndefined()
  })

  it.each([
    undefined,
    null,
    'text',
    {},
    { type: 'document' },
    { type: 'document', text: 'x'.repeat(5121) },
    { type: 'document', text: '{}', maxAge: '1' },
  ])('needs a sound answer of the host’s function: %j is an error of the host', async (answer) => {
    const fetchClientMetadata = async () => answer as FetchedClientMetadata // on purpose
    const test = await documentServer({ fetchClientMetadata })
    expect((await openFor(test)).status).toBe(500)
    expect(test.errors).toMatchObject([{ code: 'ERR_CONFIGURATION' }])
  })
})

describe('the policy of the host on a document', () => {
  it('is asked once for what a document says, however often it is read', async () => {
    const asked: ClientCandidate[] = []
    const test = await documentServer({
      clientPolicy: (client) => {
        asked.push(client)
        return 'approve'
      },
    })
    for (let turn = 0; turn < 3; turn++) {
      await openFor(test)
      test.clock.now += DAY
    }
    expect([test.fetched.length, asked.length]).toEqual([3, 1])
    expect(asked[0]).toMatchObject({ source: 'document', clientId: CLIENT_URL, name: 'A tool', type: 'public' })
    test.documents.set(CLIENT_URL, documentOf({ client_name: 'Another name' }))
    await openFor(test)
    expect(asked.map(({ name }) => name)).toEqual(['A tool', 'Another name'])
  })

  it('approves more scopes than a document names, so that the client can ask its users for them later', async () => {
    const test = await documentServer({ clientPolicy: () => ({ approve: ['repo-code:rw'] }) })
    test.documents.set(CLIENT_URL, documentOf({ scope: 'repo-code:r' }))
    for (const scope of ['repo-code:r', 'repo-code:rw']) {
      const asked = { ...parametersOf(CLIENT_URL, CALLBACK), scope }
      expect((await send(test.server, { url: authorizationUrl(asked) })).status).toBe(200)
    }
    expect(await test.server.applications.get(CLIENT_URL)).toMatchObject({ scopes: ['repo-code:rw'] })
  })

  it('[54] refuses: the user sees a page, and nothing is kept', async () => {
    const test = await documentServer({ clientPolicy: () => 'refuse' })
    const page = await openFor(test)
    expect([page.status, page.body]).toEqual([
      400,
      expect.stringContaining('This service does not take this application'),
    ])
    expect(await test.server.applications.get(CLIENT_URL)).toBeUndefined()
  })

  it('lets it wait for an administrator, after whom it goes on', async () => {
    const test = await documentServer({ clientPolicy: () => 'review' })
    expect((await openFor(test)).body).toContain('This application is not approved')
    await test.server.applications.approve(CLIENT_URL, { revision: 1 })
    const page = await openFor(test)
    expect([page.status, page.body]).toEqual([200, expect.not.stringContaining('This application registered itself')])
  })

  it('[58] cannot bring back what an administrator stopped, or refused', async () => {
    const stopped = await documentServer()
    await openFor(stopped)
    await stopped.server.applications.suspend(CLIENT_URL)
    const refused = await documentServer({ clientPolicy: () => 'review' })
    await openFor(refused)
    await refused.server.applications.reject(CLIENT_URL, { revision: 1, reason: 'Not here' })
    for (const test of [stopped, refused]) {
      test.documents.set(CLIENT_URL, documentOf({ client_name: 'Somebody else' }))
      test.clock.now += 400 * DAY
      expect((await openFor(test)).status).toBe(400)
      expect(test.fetched).toHaveLength(1)
    }
  })
})

describe('a document that changes after it was approved', () => {
  it('[56] loses at once a redirect URI that it no longer has, whatever the policy says', async () => {
    for (const verdict of ['approve', 'review', 'refuse'] as const) {
      let now: 'approve' | 'review' | 'refuse' = 'approve'
      const test = await documentServer({ clientPolicy: () => now })
      test.documents.set(CLIENT_URL, documentOf({ redirect_uris: [CALLBACK, OTHER_CALLBACK] }))
      expect((await openFor(test, CLIENT_URL, OTHER_CALLBACK)).status).toBe(200)
      now = verdict
      test.documents.set(CLIENT_URL, documentOf())
      test.clock.now += DAY
      expect((await openFor(test, CLIENT_URL, OTHER_CALLBACK)).status, verdict).toBe(400)
      expect((await openFor(test)).status, verdict).toBe(200)
    }
  })

  it('[56] gets no new redirect URI but by the policy', async () => {
    for (const [verdict, status] of [
      ['approve', 200],
      ['review', 400],
      ['refuse', 400],
    ] as const) {
      let now: 'approve' | 'review' | 'refuse' = 'approve'
      const test = await documentServer({ clientPolicy: () => now })
      await openFor(test)
      now = verdict
      test.documents.set(CLIENT_URL, documentOf({ redirect_uris: [CALLBACK, THIEF] }))
      test.clock.now += DAY
      expect((await openFor(test, CLIENT_URL, THIEF)).status, verdict).toBe(status)
      // What was approved goes on.
      expect((await openFor(test)).status, verdict).toBe(200)
    }
  })

  it('swaps its redirect URI between the page and the decision: the answer goes to neither', async () => {
    let verdict: 'approve' | 'review' = 'approve'
    const test = await documentServer({ clientPolicy: () => verdict })
    const { fields, headers } = await openConsent(test, parametersOf(CLIENT_URL, CALLBACK))
    verdict = 'review'
    test.documents.set(CLIENT_URL, documentOf({ redirect_uris: [THIEF] }))
    test.clock.now += HOUR
    const answer = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    expect([answer.status, answer.headers['Location']]).toEqual([400, undefined])
  })

  it('lengthens the life of nothing: unused, it is gone a week after it was approved', async () => {
    const test = await documentServer()
    await openFor(test)
    for (let day = 1; day < 7; day++) {
      test.clock.now += DAY
      test.documents.set(CLIENT_URL, documentOf({ client_name: `Day ${day}` }))
      await openFor(test)
      expect(await test.server.applications.get(CLIENT_URL)).toMatchObject({ name: `Day ${day}` })
    }
    test.clock.now += DAY
    expect(await test.server.applications.get(CLIENT_URL)).toBeUndefined()
  })

  it('leaves tokens that were given out as they are', async () => {
    const test = await documentServer({ clientPolicy: ({ name }) => (name === 'A tool' ? 'approve' : 'refuse') })
    const pair = await tokensOf(test, CLIENT_URL, CALLBACK)
    test.documents.set(CLIENT_URL, documentOf({ client_name: 'Somebody else', redirect_uris: [THIEF] }))
    test.clock.now += HOUR
    await openFor(test)
    expect(await works(test, pair.access_token)).toBe(true)
  })

  it('that cannot be read any more lets nobody be asked, and leaves tokens as they are', async () => {
    const test = await documentServer()
    const pair = await tokensOf(test, CLIENT_URL, CALLBACK)
    test.documents.set(CLIENT_URL, { type: 'none', reason: 'network' })
    test.clock.now += HOUR
    expect((await openFor(test)).status).toBe(400)
    expect(await works(test, pair.access_token)).toBe(true)
    expect((await refresh(test, pair.refresh_token, {}, { clientId: CLIENT_URL })).status).toBe(200)
  })
})

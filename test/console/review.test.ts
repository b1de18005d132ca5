/**
 * The pages of administrators: the queue, the search, decisions, and resource servers.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { authorize, basic, exchange, post, tokens } from '../support.js'
import type { ConsoleTest, Fields } from './visitor.js'
import { consoleServer, HOME, handIn, SOUND, secretIn, Visitor } from './visitor.js'

const ADMINISTRATION = `${HOME}/administration`
const reviewOf = (id: string): string => `${ADMINISTRATION}/applications/${id}`

async function waiting(test: ConsoleTest, fields: Fields = {}) {
  const { id } = await handIn(new Visitor(test, 'bob'), { ...SOUND, ...fields })
  return { id, root: new Visitor(test, 'root') }
}

/** What the audit trail says of applications: the change and who made it. */
const trail = ({ events }: ConsoleTest) =>
  events.flatMap((event) => (event.type === 'application' ? [`${event.change} by ${event.actor}`] : []))

describe('the queue', () => {
  it('has what waits, new applications and changes, and nothing else', async () => {
    const test = await consoleServer()
    const { id, root } = await waiting(test, { name: 'First' })
    await waiting(test, { name: 'Second' })
    await test.server.applications.approve(id, { revision: 1 })
    expect((await root.open(ADMINISTRATION)).text).not.toContain('First')
    await test.server.applications.change(id, { name: 'Third' })
    const { text } = await root.open(ADMINISTRATION)
    expect(text).toContain('Second')
    expect(text).toContain('Third')
    expect(text).toContain('A change waits for an administrator.')
  })

  it('can be searched by words, applicant and state, and says how many were found', async () => {
    const test = await consoleServer()
    const { root } = await waiting(test, { name: 'Mirror of mirrors' })
    for (const [query, words] of [
      ['text=OF+MIRRORS', '1 application found'],
      ['text=none', '0 applications found'],
      ['applicant=bob', '1 application found'],
      ['applicant=bob&state=approved', '0 applications found'],
      ['state=approved', '3 applications found'],
      ['state=none&text=web', '1 application found'],
    ] as const)
      expect((await root.open(`${ADMINISTRATION}?${query}`)).text, query).toContain(words)
  })
})

describe('a decision', () => {
  it('approves fewer and narrower scopes, and none where nothing was chosen', async () => {
    const test = await consoleServer()
    const { id, root } = await waiting(test)
    const page = await root.open(reviewOf(id))
    expect((await root.act(page, 'approve')).text).toContain('Choose at least one permission to grant.')
    // With the wider one chosen as well, the narrower one is in it.
    const seen = await root.act(page, 'approve', { scope: ['repo-code:rw', 'repo-code:r'] })
    expect(seen.text).toContain('It is approved.')
    expect(await test.server.applications.get(id)).toMatchObject({ state: 'approved', scopes: ['repo-code:rw'] })
    expect(trail(test)).toContain('approved by root')
  })

  it('grants nothing that was not asked for', async () => {
    const test = await consoleServer()
    const { id, root } = await waiting(test)
    const seen = await root.act(await root.open(reviewOf(id)), 'approve', { scope: ['repo-delete:rw'] })
    expect([seen.status, seen.text]).toStrictEqual([400, expect.stringContaining('The scopes must be among those')])
    expect((await test.server.applications.get(id))?.state).toBe('pending')
  })

  it('rejects with a reason, which must be one', async () => {
    const test = await consoleServer()
    const { id, root } = await waiting(test)
    const page = await root.open(reviewOf(id))
    const faulty = await root.act(page, 'reject', { reason: 'r'.repeat(351) })
    expect([faulty.status, faulty.text]).toStrictEqual([400, expect.stringContaining('The reason must have 1 to 350')])
    expect(faulty.body).toContain('aria-describedby="fault-reason">rrr')
    const seen = await root.act(page, 'reject', { reason: 'Too much.\r\nAsk for less.' })
    expect(seen.text).toContain('It is rejected.')
    expect((await test.server.applications.get(id))?.review).toMatchObject({ reason: 'Too much.\nAsk for less.' })
    expect(trail(test)).toContain('rejected by root')
  })

  it('of a change shows what differs, and what is in force beside it', async () => {
    const test = await consoleServer()
    const { id, root } = await waiting(test)
    await test.server.applications.approve(id, { revision: 1 })
    await test.server.applications.change(id, { name: 'Renamed', redirectUris: ['https://mirror.example/next'] })
    const { body } = await root.open(reviewOf(id))
    expect(body).toMatch(/<del>.*Mirror.*<\/del> <ins>.*Renamed/s)
    expect(body).toMatch(/<del>.*mirror\.example\/callback.*<\/del>/)
    expect(body).toMatch(/<ins>.*mirror\.example\/next.*<\/ins>/)
  })

  it('of two administrators at once is that of the first, and the other one is told', async () => {
    const test = await consoleServer()
    const { id, root } = await waiting(test)
    const boss = new Visitor(test, 'boss')
    const pages = [await root.open(reviewOf(id)), await boss.open(reviewOf(id))] as const
    await root.act(pages[0], 'approve', { scope: ['repo-code:r'] })
    const late = await boss.act(pages[1], 'reject', { reason: 'No' })
    expect([late.status, late.text]).toStrictEqual([409, expect.stringContaining('Somebody else was faster.')])
    expect((await test.server.applications.get(id))?.state).toBe('approved')
  })

  it('on something newer than was looked at is not carried out', async () => {
    const test = await consoleServer()
    const { id, root } = await waiting(test)
    const page = await root.open(reviewOf(id))
    await test.server.applications.change(id, { name: 'Bank' })
    expect((await root.act(page, 'approve', { scope: ['repo-code:r'] })).status).toBe(409)
    expect((await test.server.applications.get(id))?.state).toBe('pending')
  })
})

describe('an application in use', () => {
  it('is suspended, whatever was handed in meanwhile, and reinstated', async () => {
    const test = await consoleServer()
    const { id, root } = await waiting(test)
    await test.server.applications.approve(id, { revision: 1 })
    const page = await root.open(reviewOf(id))
    await test.server.applications.change(id, { name: 'Bank' })
    expect((await root.act(page, 'suspend')).text).toContain('It is suspended.')
    expect((await root.act(await root.open(reviewOf(id)), 'reinstate')).text).toContain('It is reinstated.')
    expect(trail(test).slice(-2)).toStrictEqual(['suspended by root', 'reinstated by root'])
  })

  it('has its grants in numbers, and they are ended', async () => {
    const test = await consoleServer()
    const root = new Visitor(test, 'root')
    for (const subject of ['ada', 'ada', 'bob']) {
      test.session.user = { subject }
      await tokens(test)
    }
    const page = await root.open(reviewOf('web'))
    expect(page.text).toContain('Working permissions 3 Users 2 Last used January 15, 2027')
    test.events.length = 0
    expect((await root.act(page, 'endAll')).text).toContain('3 permissions were ended.')
    expect((await root.open(reviewOf('web'))).text).toContain('Working permissions 0 Users 0 Last used Never')
    expect(test.events.map((event) => [event.type, 'actor' in event && event.actor])).toStrictEqual(
      Array.from({ length: 3 }, () => ['revoked', 'root']),
    )
  })

  it('is deleted, and its page is gone', async () => {
    const test = await consoleServer()
    const { id, root } = await waiting(test)
    expect((await root.act(await root.open(reviewOf(id)), 'delete')).text).toContain('The application was deleted.')
    expect((await root.open(reviewOf(id))).status).toBe(404)
    expect(trail(test)).toContain('deleted by root')
  })
})

describe('resource servers', () => {
  const SERVER: Fields = { name: 'API', website: 'https://api.example', scope: ['repo-code:r'] }
  const PLACE = `${ADMINISTRATION}/resource-servers`

  it('are registered with a secret that works, given new ones, suspended and reinstated', async () => {
    const test = await consoleServer()
    const root = new Visitor(test, 'root')
    const page = await root.open(PLACE)
    expect(page.text).toContain('There is no resource server.')
    const seen = await root.act(page, 'register', SERVER)
    const clientId = /Client identifier<\/dt><dd><code dir="ltr">([^<]+)/.exec(seen.body)?.[1] ?? expect.fail(seen.text)
    const asks = async (clientSecret: string) => {
      const credentials = basic({ clientId, clientSecret })
      return (await post(test.server, '/oauth2/introspect', { token: 'x' }, credentials)).status
    }
    expect(await asks(secretIn(seen))).toBe(200)
    const again = await root.act(seen, `rotate ${clientId}`)
    expect(secretIn(again)).not.toBe(secretIn(seen))
    expect(await asks(secretIn(again))).toBe(200)
    await root.act(await root.open(reviewOf(clientId)), 'suspend')
    expect(await asks(secretIn(again))).toBe(401)
    expect(trail(test)).toStrictEqual([
      'submitted by root',
      'approved by root',
      'secret_rotated by root',
      'suspended by root',
    ])
  })

  it('are not registered with faults, which are told', async () => {
    const test = await consoleServer()
    const root = new Visitor(test, 'root')
    const seen = await root.act(await root.open(PLACE), 'register', { name: '', website: 'x' })
    expect(seen.status).toBe(400)
    for (const words of ['The name must have', 'The website must be', 'one or more scopes'])
      expect(seen.text).toContain(words)
  })

  it('stand for a protected resource where the service has some', async () => {
    const audiences = [{ resource: 'https://git.example/mcp', name: 'Tools' }]
    const test = await consoleServer({ audiences })
    const root = new Visitor(test, 'root')
    await root.act(await root.open(PLACE), 'register', { ...SERVER, audience: 'https://git.example/mcp' })
    expect((await root.open(PLACE)).text).toContain('https://git.example/mcp')
  })
})

it('a token of an application that lost a scope at its approval has no more than was granted', async () => {
  const test = await consoleServer()
  const { id, root } = await waiting(test, { type: 'public', redirectUris: 'https://mirror.example/callback' })
  await root.act(await root.open(reviewOf(id)), 'approve', { scope: ['account-profile:r'] })
  test.session.user = { subject: 'ada' }
  const parameters = { client_id: id, redirect_uri: 'https://mirror.example/callback', scope: 'repo-code:rw' }
  const refused = await authorize(test, parameters).catch((error: Error) => error)
  expect(String(refused)).toContain('error=')
  expect((await exchange(test, 'none', {}, { clientId: id })).status).toBe(400)
})

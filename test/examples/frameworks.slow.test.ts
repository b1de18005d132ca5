/**
 * The examples of frameworks, each started as its reader would start it, over the engine that it is for, and driven through the
 * whole flow; and each as it ends where something is not set up as it should be.
 * @module
 */
import { readFileSync } from 'node:fs'
import type { TokenEndpointResponse } from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Clone } from '../demo/start.js'
import { builtClone } from '../demo/start.js'
import { describeWith } from '../engines/available.js'
import { freePort } from '../engines/process.js'
import type { Example } from './clone.js'
import type { Framework, Store } from './frameworks.js'
import { FRAMEWORKS } from './frameworks.js'
import { attack } from './hostile.js'
import { changed, expectRefusal, sourcesOf, startAt, startSomewhere } from './starts.js'
import { Application, Browser, call } from './visitor.js'

let clone: Clone
beforeAll(async () => {
  clone = await builtClone()
})
afterAll(() => clone?.remove())

for (const framework of FRAMEWORKS) {
  const { title, engine } = framework
  if (engine === undefined) describe(title, () => suite(framework))
  else describeWith(describe, engine, title, () => suite(framework))
}

function suite({ path, store: makeStore, nowhere }: Framework): void {
  let store: Store
  let issuer: string
  let example: Example
  let app: Application
  let clientSecret: string

  beforeAll(async () => {
    store = await makeStore()
    const started = await startSomewhere(clone, path, store.env)
    issuer = started.issuer
    example = started.example
    clientSecret = /clientSecret: '([^']+)'/.exec(example.stdout())?.[1] ?? ''
    app = await Application.discover(issuer, clientSecret)
  })
  afterAll(async () => {
    await example?.stop()
    await store?.remove()
  })

  const list = async (token?: string) => call(`${issuer}/api/repos`, 'GET', token)
  const write = async (id: string, token?: string) => call(`${issuer}/api/repos/${id}`, 'PUT', token)
  /** What the status of a write is, repository by repository, and what the list names. */
  const opened = async ({ access_token }: TokenEndpointResponse) => {
    const { status, body } = await list(access_token)
    const ids = status === 200 ? JSON.parse(body).map(({ id }: { readonly id: string }) => id) : status
    const writes: Record<string, number> = {}
    for (const id of ['ada-engine', 'ada-notes', 'grace-compiler', 'nothing'])
      writes[id] = (await write(id, access_token)).status
    return { list: ids, writes }
  }

  it('fits on a page: fewer than 60 lines, none over 120 characters', () => {
    const lines = sourcesOf(clone, path).flatMap((file) => readFileSync(file, 'utf8').trimEnd().split('\n'))
    expect(lines.length).toBeGreaterThan(40)
    expect(lines.length).toBeLessThan(60)
    expect(lines.filter((line) => line.length > 120)).toEqual([])
  })

  it('opens what a user has to an application that was given everything, and nothing of others', async () => {
    const tokens = await app.authorize(new Browser(), 'repo-code:rw', { kind: 'all' })
    expect(await opened(tokens)).toEqual({
      list: ['ada-engine', 'ada-notes'],
      writes: { 'ada-engine': 200, 'ada-notes': 200, 'grace-compiler': 403, nothing: 403 },
    })
    expect((await write('ada-notes', tokens.access_token)).body).toContain('ada-notes')
  })

  it('opens what is public to an application that was given that', async () => {
    const tokens = await app.authorize(new Browser(), 'repo-code:rw', { kind: 'public' })
    expect(await opened(tokens)).toEqual({
      list: ['ada-engine'],
      writes: { 'ada-engine': 200, 'ada-notes': 403, 'grace-compiler': 403, nothing: 403 },
    })
    const refused = await write('ada-notes', tokens.access_token)
    expect(refused.challenge).toMatch(/^Bearer .*error="insufficient_scope"/)
  })

  it('opens what the user specified, of what is theirs to specify', async () => {
    const browser = new Browser()
    const tokens = await app.authorize(browser, 'repo-code:rw', { kind: 'specified', ids: ['ada-notes'] })
    expect(await opened(tokens)).toEqual({
      list: ['ada-notes'],
      writes: { 'ada-engine': 403, 'ada-notes': 200, 'grace-compiler': 403, nothing: 403 },
    })
    const another = app.authorize(browser, 'repo-code:rw', { kind: 'specified', ids: ['grace-compiler'] })
    await expect(another).rejects.toThrow()
    expect(browser.html).toContain('value="ada-engine"')
    expect(browser.html).not.toContain('grace-compiler')
  })

  it('lets a token that may only read list, and not write', async () => {
    const tokens = await app.authorize(new Browser(), 'repo-code:r', { kind: 'all' })
    expect((await list(tokens.access_token)).status).toBe(200)
    const refused = await write('ada-engine', tokens.access_token)
    expect(refused.status).toBe(403)
    expect(refused.challenge).toMatch(/error="insufficient_scope".*scope="repo-code:rw"/)
  })

  it('challenges whoever comes with no token, or one that is none', async () => {
    for (const answer of [await list(), await write('ada-engine')]) {
      expect(answer.status).toBe(401)
      expect(answer.challenge).toMatch(/^Bearer /)
      expect(answer.challenge).not.toContain('error')
    }
    for (const answer of [await list('gwa_nothing'), await write('ada-engine', 'gwa_nothing')]) {
      expect(answer.status).toBe(401)
      expect(answer.challenge).toContain('error="invalid_token"')
    }
  })

  it('answers on every path of the server, and with 404 elsewhere', async () => {
    const statusOf = async (where: string, init?: RequestInit) => (await fetch(`${issuer}${where}`, init)).status
    expect(await statusOf('/oauth2/style.css')).toBe(200)
    expect(await statusOf('/oauth2/style.css', { method: 'HEAD' })).toBe(200)
    expect(await statusOf('/oauth2/token', { method: 'POST', body: new URLSearchParams() })).toBe(401)
    expect(await statusOf('/oauth2/introspect', { method: 'POST', body: new URLSearchParams() })).toBe(401)
    expect(await statusOf('/oauth2/auth')).toBe(400)
    // The server's own answer, whatever the framework makes of bodies.
    const headers = { 'content-type': 'application/json' }
    const noForm = await fetch(`${issuer}/oauth2/token`, { method: 'POST', headers, body: '{' })
    expect(await noForm.json()).toEqual({ error: expect.any(String), error_description: expect.any(String) })
    expect(await statusOf('/oauth2/nothing')).toBe(404)
    expect(await statusOf('/nothing')).toBe(404)
  })

  it('signs in by a cookie that no script reads and no other site sends, and goes on to no other site', async () => {
    for (const returnTo of [
      'https://evil.example/',
      '//evil.example',
      '@evil.example',
      '\\evil.example',
      '\r\nX: y',
      '',
    ]) {
      const browser = new Browser()
      await browser.open(`${issuer}/sign-in?return_to=${encodeURIComponent(returnTo)}`)
      const next = await browser.submit()
      expect(browser.status).toBe(303)
      expect(new URL(next).origin, returnTo).toBe(issuer)
      expect(browser.set.join()).toMatch(/^session=[\w-]+;.*HttpOnly/)
      expect(browser.set.join()).toMatch(/SameSite=Lax/i)
    }
    const browser = new Browser()
    await browser.open(`${issuer}/sign-in`)
    expect(await browser.submit()).toBe(`${issuer}/`)
  })

  it('refreshes, and takes nothing any more once it was revoked', async () => {
    const tokens = await app.authorize(new Browser(), 'repo-code:rw', { kind: 'all' })
    const refreshed = await app.refresh(tokens)
    expect(refreshed.access_token).not.toBe(tokens.access_token)
    expect((await write('ada-engine', refreshed.access_token)).status).toBe(200)
    await app.revoke(refreshed)
    for (const { access_token } of [tokens, refreshed]) {
      expect((await write('ada-engine', access_token)).status).toBe(401)
      expect((await list(access_token)).challenge).toContain('error="invalid_token"')
    }
    await expect(app.refresh(refreshed)).rejects.toThrow()
  })

  it('ends at once when it is told to, and goes on with its tokens when it is started again', async () => {
    const tokens = await app.authorize(new Browser(), 'repo-code:rw', { kind: 'all' })
    // The connections of the calls before are open still.
    expect(await example.stop()).toMatchObject({ signal: 'SIGTERM', stderr: '' })
    example = await startAt(clone, path, issuer, store.env)
    expect(example.stdout()).not.toContain('clientSecret')
    expect((await write('ada-notes', tokens.access_token)).status).toBe(200)
    const refreshed = await app.refresh(tokens)
    expect((await list(refreshed.access_token)).status).toBe(200)
  })

  // Behind the test that finds nothing on standard error: Express reports there each path that it cannot decode.
  it('touches no repository but the one that its guard decided on, whatever path and query are sent', async () => {
    const browser = new Browser()
    const tokenFor = async (opens: string): Promise<string> =>
      (await app.authorize(browser, 'repo-code:rw', { kind: 'specified', ids: [opens] })).access_token
    const route = { base: '/api/repos', ids: ['ada-notes', 'ada-engine'] } as const
    await attack(Number(new URL(issuer).port), route, tokenFor, (opens, { target, body }) =>
      expect(body, target).toBe(`ada wrote to ${opens}\n`),
    )
  })

  const missing = /^ISSUER is missing: /
  const insecure = /^grantwell: createAuthorizationServer: the option issuer must be https/
  const misconfigured = [
    ['no issuer', () => ({ PORT: '0' }), missing],
    ['an empty issuer', () => ({ ISSUER: '', PORT: '0' }), missing],
    ['an issuer that is http and not on loopback', () => ({ ISSUER: 'http://git.example', PORT: '0' }), insecure],
  ] as const
  for (const [what, env, says] of misconfigured) {
    it(`does not start with ${what}, and says so in one sentence`, async () =>
      expectRefusal(clone, path, { ...store.env, ...env() }, says))
  }

  it('does not start over a store that is not there, and says so in one sentence', async () => {
    const port = await freePort()
    await expectRefusal(
      clone,
      path,
      { ISSUER: `http://127.0.0.1:${port}`, PORT: `${port}`, ...nowhere.env(port) },
      nowhere.says,
    )
  })

  // Next.js listens by itself, and reports that itself.
  if (path !== 'nextjs')
    it('does not start on a port that is in use, and says so in one sentence', async () => {
      const fresh = await makeStore()
      try {
        const { port } = new URL(issuer)
        await expectRefusal(clone, path, { ...fresh.env, ISSUER: issuer, PORT: port }, /EADDRINUSE.*:\d+$/m)
      } finally {
        await fresh.remove()
      }
    })

  const slips = [
    [
      'guard',
      "scope: 'repo-code:rw'",
      "scope: 'repo-code:write'",
      /^grantwell: guard: the option scope must be scopes of the catalogue .*"repo-code:write"/,
    ],
    ['application', "scopes: ['repo-code:rw']", "scopes: ['repo-code:write']", /^grantwell: scopes\[0\] must be /],
  ] as const
  for (const [who, from, to, says] of slips) {
    it(`does not start with an unknown scope of its ${who}, and says so in one sentence`, async () => {
      const port = await freePort()
      const fresh = await makeStore()
      try {
        const copy = changed(clone, path, from, to)
        await expectRefusal(clone, copy, { ISSUER: `http://127.0.0.1:${port}`, PORT: `${port}`, ...fresh.env }, says)
      } finally {
        await fresh.remove()
      }
    })
  }
}

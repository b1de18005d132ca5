/**
 * The code of the page "Put it beside your sessions": a service in Express with a session in front of the server.
 * @module
 */

// #region imports
import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import express from 'express'
import session from 'express-session'
import { createAuthorizationServer } from 'grantwell'
import { createNodeHandler, nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
// #endregion imports
// #region postgres-imports
import connectPgSimple from 'connect-pg-simple'
import { Pool } from 'pg'
// #endregion postgres-imports
import passport from 'passport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Listening } from '../../test/adapters/http.js'
import { listen } from '../../test/adapters/http.js'
import { describeWith, postgresql } from '../../test/engines/available.js'
import { startPostgres } from '../../test/engines/postgres.js'
import { Browser } from '../../test/examples/visitor.js'
import { NATIVE, registration } from '../../test/support.js'

// #region session
declare module 'express-session' {
  interface SessionData {
    userId: number // what your sign-in writes
    generation: number // ends all sessions of a user at once; see below
    formToken: string
  }
}

const issuer = process.env['ISSUER'] ?? 'http://127.0.0.1:8080'

const sessions = session({
  secret: process.env['SESSION_SECRET'] ?? randomUUID(), // in production one secret for all processes and starts
  name: 'sid',
  resave: false,
  saveUninitialized: false,
  cookie: { sameSite: 'lax', httpOnly: true, secure: issuer.startsWith('https:') },
  // store: createSessionStore(), // see below; without it, sessions are in the memory of this process
})
// #endregion session

// #region users
const users = new Map([[1, { id: 1, name: 'Ada', blocked: false, generation: 1 }]]) // stands for your table of users

/** Returns who is signed in, from the session that the middleware in front has set. */
function userOf({ session }: Request) {
  const row = session.userId === undefined ? undefined : users.get(session.userId)
  if (row === undefined || row.blocked || row.generation !== session.generation) return undefined
  return { subject: String(row.id), name: row.name }
}
// #endregion users

// #region server
const server = createAuthorizationServer<Request>({
  issuer,
  store: memoryStore(),
  digests: nodeDigests,
  user: ({ native }) => userOf(native),
  signInUrl: (returnTo) => {
    const { pathname, search } = new URL(returnTo)
    return `/sign-in?return_to=${encodeURIComponent(pathname + search)}`
  },
  // Optional: the pages then have a link "Not you? Sign in as somebody else" to the same page.
  switchAccountUrl: (returnTo) => {
    const { pathname, search } = new URL(returnTo)
    return `/sign-in?return_to=${encodeURIComponent(pathname + search)}`
  },
})
// #endregion server

// #region skip
/** The documents that shared caches keep. With an issuer `https://host/auth`: /auth/oauth2/..., and the third one with /auth at its end. */
const PUBLIC = new Set(['/oauth2/style.css', '/oauth2/logo', '/.well-known/oauth-authorization-server'])

/** Leaves a middleware out for the public documents. */
function unlessPublic(middleware: RequestHandler): RequestHandler {
  return (request, response, next) => {
    if (PUBLIC.has(request.path)) next()
    else middleware(request, response, next)
  }
}
// #endregion skip

// #region mount
const app = express()
// app.set('trust proxy', 1) // behind one proxy of yours that ends TLS
app.use(unlessPublic(sessions)) // first the session,
app.use(createNodeHandler(server)) // then grantwell,
// then your own pages
// #endregion mount

// #region sign-in
app.get('/sign-in', (_request, response) => {
  response.send('<form method="post"><input name="name"><button>Sign in</button></form>')
})
app.post('/sign-in', express.urlencoded(), (request, response, next) => {
  const target = new URL(String(request.query['return_to'] ?? '/'), issuer)
  const row = [...users.values()].find(({ name }) => name === request.body.name) // check a password, too
  if (target.origin !== new URL(issuer).origin || row === undefined) {
    response.status(400).send('Try again.')
    return
  }
  request.session.regenerate((error) => {
    if (error) return next(error)
    request.session.userId = row.id
    request.session.generation = row.generation
    response.redirect(303, target.href)
  })
})
// #endregion sign-in

// #region end
/** Signs a user out everywhere: of your service, and of every application. */
async function signOutEverywhere(userId: number): Promise<void> {
  const row = users.get(userId)
  if (row !== undefined) row.generation++ // first your sessions: userOf refuses all that began before
  await server.grants.revokeAll(String(userId)) // then all permissions
}

/** Ends an account. The row stays, so that nobody gets its identifier. */
async function deleteAccount(userId: number): Promise<void> {
  const row = users.get(userId)
  if (row !== undefined) Object.assign(row, { name: '', blocked: true })
  await signOutEverywhere(userId)
}
// #endregion end

// #region form-token
/** Returns the token that the forms of a session have in the hidden field `form_token`. */
function formTokenOf(session: Request['session']): string {
  session.formToken ??= randomUUID()
  return session.formToken
}

/** Refuses a form that a page of another site has sent. It stands behind `express.urlencoded()`. */
function ownForm({ session, body }: Request, response: Response, next: NextFunction): void {
  const known = Buffer.from(session.formToken ?? '')
  const sent = Buffer.from(typeof body?.form_token === 'string' ? body.form_token : '')
  if (known.length > 0 && known.length === sent.length && timingSafeEqual(known, sent)) next()
  else response.status(403).send('Open the page again.')
}
// #endregion form-token

// #region postgres
/** Makes the option `store` of express-session: sessions in a table of PostgreSQL, which all processes share. */
function createSessionStore(pool = new Pool({ connectionString: process.env['DATABASE_URL'] })) {
  const PostgresSessions = connectPgSimple(session)
  return new PostgresSessions({ pool, createTableIfMissing: true })
}
// #endregion postgres

app.get('/form', ({ session }, response) => {
  response.send(formTokenOf(session))
})
app.post('/form', express.urlencoded(), ownForm, (_request, response) => {
  response.send('taken')
})

let web: Listening
const at = (path: string): string => web.origin + path
beforeAll(async () => {
  web = await listen(app)
})
afterAll(() => web.close())

/** The server writes addresses of its issuer, and the test listens elsewhere. */
const here = (address: string): string => address.replace(issuer, web.origin)

it('knows the user of the session behind a sign-in, and forgets a user who is signed out everywhere', async () => {
  await server.applications.register(registration(), { clientId: 'web' })
  const browser = new Browser()
  const redirect_uri = 'https://app.example/callback'
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'web',
    redirect_uri,
    scope: 'account-profile:r',
  })
  const link = at(`/oauth2/auth?${query}`)
  const signIn = await browser.open(link)
  expect(signIn).toBe(at(`/sign-in?return_to=${encodeURIComponent(`/oauth2/auth?${query}`)}`))
  await browser.open(at('/form')) // begins a session without a user
  await browser.open(signIn)
  const back = await browser.submit([['name', 'Ada']])
  const identifiers = browser.set.flatMap((set) => /^sid=([^;]+)/.exec(set)?.[1] ?? [])
  expect([identifiers.length, new Set(identifiers).size]).toEqual([2, 2]) // a new identifier
  expect(browser.set.at(-1)).toMatch(/; HttpOnly; SameSite=Lax$/)
  expect(back).toBe(`${issuer}/oauth2/auth?${query}`)
  await browser.open(here(back))
  expect(browser.html).toContain('Ada')
  const asked = await browser.submit([
    ['decision', 'agree'],
    ['resource_scope', 'all'],
  ])
  expect(new URL(asked).searchParams.get('code')).toMatch(/^gwc_/)
  expect((await server.grants.listGrants('1')).grants).toHaveLength(1)

  await signOutEverywhere(1)
  expect((await server.grants.listGrants('1')).grants).toEqual([])
  expect(await browser.open(link)).toBe(signIn)
  await browser.open(signIn)
  await browser.open(here(await browser.submit([['name', 'Ada']])))
  expect(browser.html).toContain('Ada') // a session that began later works
  await deleteAccount(1)
  expect(await browser.open(link)).toBe(signIn)
  expect(users.get(1)?.blocked).toBe(true)
})

it('sends a user back without a scope only if all registered ones are asked for', async () => {
  await server.applications.register(registration(), { clientId: 'scoped' })
  for (const [scope, stays] of [
    ['account-profile:r', true],
    ['repo-code:rw account-profile:r', false],
  ] as const) {
    const query = new URLSearchParams({ response_type: 'code', client_id: 'scoped', scope })
    const answer = await fetch(at(`/oauth2/auth?${query}`), { redirect: 'manual' })
    const back = new URL(answer.headers.get('location') ?? '', issuer).searchParams.get('return_to') ?? ''
    expect(new URL(back, issuer).searchParams.has('scope')).toBe(stays)
  }
})

it('sends a sign-in nowhere else', async () => {
  for (const return_to of ['https://evil.example/', '//evil.example/', '/\\evil.example/']) {
    const body = new URLSearchParams({ name: 'Ada' })
    const answer = await fetch(at(`/sign-in?${new URLSearchParams({ return_to })}`), {
      method: 'POST',
      body,
      redirect: 'manual',
    })
    expect([return_to, answer.status]).toEqual([return_to, 400])
  }
})

it('adds no cookie to the public documents, and one to all others', async () => {
  await server.applications.register(registration({ type: 'public' }), NATIVE)
  const application = await server.applications.get('native')
  const logo = application?.state === 'approved' ? application.logo : ''
  const app = express()
  app.use(unlessPublic(session({ secret: 'test', resave: false, saveUninitialized: true, rolling: true })))
  app.use(createNodeHandler(server))
  const { origin, close } = await listen(app)
  for (const path of [...PUBLIC, `/oauth2/logo?client_id=native&logo=${logo}`]) {
    const { headers } = await fetch(origin + path)
    // Without its parameters, the logo is an error, which no cache keeps.
    const cached = path === '/oauth2/logo' ? 'no-store' : expect.stringMatching(/^public, /)
    expect([path, headers.getSetCookie(), headers.get('cache-control')]).toEqual([path, [], cached])
  }
  const page = await fetch(`${origin}/oauth2/applications`, { redirect: 'manual' })
  expect(page.headers.getSetCookie()).toEqual([expect.stringContaining('connect.sid=')])
  await close()
  const visitor = await fetch(at('/oauth2/applications'), { redirect: 'manual' })
  expect(visitor.headers.getSetCookie()).toEqual([]) // saveUninitialized: false
})

it('answers 500 where express-session has no secret', async () => {
  const app = express().set('env', 'test')
  app.use(session({ resave: false, saveUninitialized: false } as Parameters<typeof session>[0]))
  const { origin, close } = await listen(app)
  const answer = await fetch(origin)
  expect([answer.status, await answer.text()]).toEqual([
    500,
    expect.stringContaining('secret option required for sessions'),
  ])
  await close()
})

describeWith(describe, postgresql, 'sessions in PostgreSQL', () => {
  it('are the same in every process', async () => {
    const engine = await startPostgres()
    const pool = new Pool(engine.connection)
    const stores = [createSessionStore(pool), createSessionStore(pool)]
    try {
      const origins = await Promise.all(
        stores.map(async (store) => {
          const app = express()
          app.use(session({ secret: 'test', resave: false, saveUninitialized: false, store }))
          app.get('/form', ({ session }, response) => {
            response.send(formTokenOf(session))
          })
          return listen(app)
        }),
      )
      const first = await fetch(`${origins[0]?.origin}/form`)
      const token = await first.text() // its end comes after the session is stored
      const cookie = first.headers.getSetCookie()[0]?.split(';')[0] ?? ''
      const second = await fetch(`${origins[1]?.origin}/form`, { headers: { cookie } })
      expect(await second.text()).toBe(token)
      await Promise.all(origins.map(({ close }) => close()))
    } finally {
      for (const store of stores) store.close()
      await pool.end()
      await engine.remove()
    }
  })
})

it('takes a form of its own session alone', async () => {
  const page = await fetch(at('/form'))
  const cookie = page.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const token = await page.text()
  const send = async (headers: Record<string, string>, form: Record<string, string>) =>
    (await fetch(at('/form'), { method: 'POST', headers, body: new URLSearchParams(form) })).status
  expect(await send({ cookie }, { form_token: token })).toBe(200)
  expect(await send({ cookie }, {})).toBe(403)
  expect(await send({}, { form_token: token })).toBe(403)
  expect(await send({}, { form_token: '' })).toBe(403)
})

it('leaves passport out where the session is left out', async () => {
  const app = express()
  // #region passport
  const signedIn = express.Router()
  signedIn.use(sessions, passport.session()) // passport.session() throws where there is no session
  app.use(unlessPublic(signedIn))
  // #endregion passport
  app.use(createNodeHandler(server))
  const listening = await listen(app)
  expect((await fetch(`${listening.origin}/oauth2/style.css`)).status).toBe(200)
  await listening.close()
})

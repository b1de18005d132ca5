// @ts-check
/** An authorization server and a guarded API in Hono, with their records in PGlite: PostgreSQL in a folder. @module */
import { PGlite } from '@electric-sql/pglite'
import { createAdaptorServer } from '@hono/node-server'
import { createAuthorizationServer, opensResource } from 'grantwell'
import { createFetchGuard, createFetchHandler } from 'grantwell/fetch'
import { nodeDigests } from 'grantwell/node'
import { postgresStore } from 'grantwell/storage/postgres'
import { Hono } from 'hono'
import { setCookie } from 'hono/cookie'

const app = new Hono()
const http = createAdaptorServer(app)
process.once('uncaughtException', (error) => {
  console.error(http.listening ? error : error.message) // a start that fails says why in one sentence
  process.exit(1)
})
const { ISSUER, PORT = '8080', HOST = '127.0.0.1', DATABASE = 'grants' } = process.env
if (!ISSUER) throw new Error('ISSUER is missing: the address of this service, such as http://127.0.0.1:8080')
const session = crypto.randomUUID() // stands for your sessions: whoever has it in a cookie is Ada
const ids = ['ada-engine', 'ada-notes', 'grace-compiler'] // stands for your database; all but Ada's notes are public
const reposOf = (/** @type {{ subject: string }} */ { subject }) =>
  ids.map((id) => ({ id, public: id !== 'ada-notes', accessible: id.startsWith(`${subject}-`) }))

const store = postgresStore(await PGlite.create(DATABASE)) // a new folder takes seconds
const server = createAuthorizationServer({
  issuer: ISSUER,
  store,
  digests: nodeDigests,
  user: ({ headers }) => (`${headers['cookie']}`.includes(session) ? { subject: 'ada' } : undefined),
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo.slice(ISSUER.length + 1))}`,
  resources: (user) => reposOf(user).filter(({ accessible }) => accessible),
})
await store.migrate()
if (!(await server.applications.get('mirror'))) {
  const logo = Buffer.from('R0lGODlhAQABAIAAAB9vXP///ywAAAAAAQABAAACAkQBADs=', 'base64')
  const about = { name: 'Mirror', website: 'https://mirror.example', redirectUris: ['http://127.0.0.1/callback'], logo }
  const rights = /** @type {const} */ ({ type: 'confidential', scopes: ['repo-code:rw'], resourceScope: 'all' })
  console.log(await server.applications.register({ ...about, ...rights }, { clientId: 'mirror' })) // its secret, once
}
const oauth = createFetchHandler(server)
app.get('/sign-in', (c) => c.html('<form method="post"><button>Sign in as Ada</button></form>'))
app.post('/sign-in', (c) => {
  setCookie(c, 'session', session, { httpOnly: true, sameSite: 'Lax', secure: ISSUER.startsWith('https:') })
  return c.redirect(new URL(`${ISSUER}/${c.req.query('return_to') ?? ''}`).href, 303) // of this site
})

const guard = createFetchGuard(server)
const list = guard({ scope: 'repo-code:r' }, ({ auth }) =>
  Response.json(reposOf(auth).filter((repo) => opensResource(auth.resources, repo))),
)
const write = guard(
  { scope: 'repo-code:rw', resource: ({ auth }, id) => reposOf(auth).find((repo) => repo.id === id) },
  ({ auth }) => new Response(`${auth.subject} wrote to ${auth.resource.id}\n`), // the one that was guarded
)
app.get('/api/repos', (c) => list(c.req.raw))
app.put('/api/repos/:id', (c) => write(c.req.raw, c.req.param('id')))
app.all('*', (c) => oauth(c.req.raw, c.env)) // with a 404 for what is not its own
http.listen(Number(PORT), HOST, () => console.log(`listening at ${ISSUER}`))

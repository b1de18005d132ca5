// @ts-check
/** An authorization server and a guarded API in Express 5, with their records in PostgreSQL. @module */
import { createServer } from 'node:http'
import express from 'express'
import { createAuthorizationServer, opensResource } from 'grantwell'
import { createNodeGuard, createNodeHandler, nodeDigests } from 'grantwell/node'
import { postgresStore } from 'grantwell/storage/postgres'
import pg from 'pg'

const app = express()
const http = createServer(app)
process.once('uncaughtException', (error) => {
  console.error(http.listening ? error : error.message) // a start that fails says why in one sentence
  process.exit(1)
})
const { ISSUER, PORT = '8080', HOST = '127.0.0.1', DATABASE_URL } = process.env
if (!ISSUER) throw new Error('ISSUER is missing: the address of this service, such as http://127.0.0.1:8080')
const session = crypto.randomUUID() // stands for your sessions: whoever has it in a cookie is Ada
const ids = ['ada-engine', 'ada-notes', 'grace-compiler'] // stands for your database; all but Ada's notes are public
const reposOf = (/** @type {{ subject: string }} */ { subject }) =>
  ids.map((id) => ({ id, public: id !== 'ada-notes', accessible: id.startsWith(`${subject}-`) }))

const store = postgresStore(new pg.Pool({ connectionString: DATABASE_URL }))
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

app.use(createNodeHandler(server))
app.get('/sign-in', (_request, response) => {
  response.send('<form method="post"><button>Sign in as Ada</button></form>')
})
app.post('/sign-in', ({ query }, response) => {
  response.cookie('session', session, { httpOnly: true, sameSite: 'lax', secure: ISSUER.startsWith('https:') })
  response.redirect(303, `${ISSUER}/${query['return_to'] ?? ''}`) // of this site
})
/** @type {import('grantwell/node').NodeGuard<express.Request, express.Response>} */
const guard = createNodeGuard(server)
const list = guard({ scope: 'repo-code:r' }, ({ auth }, response) =>
  response.json(reposOf(auth).filter((repo) => opensResource(auth.resources, repo))),
)
const write = guard(
  { scope: 'repo-code:rw', resource: ({ auth, params }) => reposOf(auth).find(({ id }) => id === params['id']) },
  ({ auth }, response) => response.send(`${auth.subject} wrote to ${auth.resource.id}\n`), // the one that was guarded
)
app.get('/api/repos', list)
app.put('/api/repos/:id', write)
http.listen(Number(PORT), HOST, () => console.log(`listening at ${ISSUER}`))

// @ts-check
/** An authorization server and a guarded API on node:http, with their records in SQLite. @module */
import { createServer } from 'node:http'
import { createAuthorizationServer, opensResource } from 'grantwell'
import { createNodeGuard, createNodeHandler, nodeDigests } from 'grantwell/node'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'

const http = createServer()
process.once('uncaughtException', (error) => {
  console.error(http.listening ? error : error.message) // a start that fails says why in one sentence
  process.exit(1)
})
const { ISSUER, PORT = '8080', HOST = '127.0.0.1', DATABASE = 'grants.db' } = process.env
if (!ISSUER) throw new Error('ISSUER is missing: the address of this service, such as http://127.0.0.1:8080')
const session = crypto.randomUUID() // stands for your sessions: whoever has it in a cookie (Secure, on https) is Ada
const ids = ['ada-engine', 'ada-notes', 'grace-compiler'] // stands for your database; all but Ada's notes are public
const reposOf = (/** @type {{ subject: string }} */ { subject }) =>
  ids.map((id) => ({ id, public: id !== 'ada-notes', accessible: id.startsWith(`${subject}-`) }))

const server = createAuthorizationServer({
  issuer: ISSUER,
  store: sqliteStore(new Database(DATABASE)),
  digests: nodeDigests,
  user: ({ headers }) => (`${headers['cookie']}`.includes(session) ? { subject: 'ada' } : undefined),
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo.slice(ISSUER.length + 1))}`,
  resources: (user) => reposOf(user).filter(({ accessible }) => accessible),
})
if (!(await server.applications.get('mirror'))) {
  const logo = Buffer.from('R0lGODlhAQABAIAAAB9vXP///ywAAAAAAQABAAACAkQBADs=', 'base64')
  const about = { name: 'Mirror', website: 'https://mirror.example', redirectUris: ['http://127.0.0.1/callback'], logo }
  const rights = /** @type {const} */ ({ type: 'confidential', scopes: ['repo-code:rw'], resourceScope: 'all' })
  console.log(await server.applications.register({ ...about, ...rights }, { clientId: 'mirror' })) // its secret, once
}
const oauth = createNodeHandler(server)
const guard = createNodeGuard(server)
const list = guard({ scope: 'repo-code:r' }, ({ auth }, response) => {
  const opened = reposOf(auth).filter((repo) => opensResource(auth.resources, repo))
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify(opened))
})
const write = guard(
  { scope: 'repo-code:rw', resource: ({ auth, url }) => reposOf(auth).find(({ id }) => url === `/api/repos/${id}`) },
  ({ auth }, response) => response.end(`${auth.subject} wrote to ${auth.resource.id}\n`), // the one that was guarded
)

http.on('request', (request, response) => {
  const [route = '', query] = `${request.method} ${request.url}`.split('?')
  if (route === 'GET /api/repos') list(request, response)
  else if (route.startsWith('PUT /api/repos/')) write(request, response)
  else if (route === 'GET /sign-in')
    response.setHeader('Content-Type', 'text/html').end('<form method="post"><button>Sign in as Ada</button></form>')
  else if (route === 'POST /sign-in') {
    const { href } = new URL(`${ISSUER}/${new URLSearchParams(query).get('return_to') ?? ''}`) // of this site
    response
      .writeHead(303, { Location: href, 'Set-Cookie': `session=${session}; Path=/; HttpOnly; SameSite=Lax` })
      .end()
  } else oauth(request, response)
})
http.listen(Number(PORT), HOST, () => console.log(`listening at ${ISSUER}`))

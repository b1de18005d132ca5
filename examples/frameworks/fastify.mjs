// @ts-check
/** An authorization server and a guarded API in Fastify 5, with their records in Redis. @module */
import Fastify from 'fastify'
import { createAuthorizationServer, opensResource } from 'grantwell'
import { createFastifyGuard, createNodeHandler, nodeDigests } from 'grantwell/node'
import { redisStore } from 'grantwell/storage/redis'
import { Redis } from 'ioredis'

const app = Fastify()
process.once('uncaughtException', (error) => {
  console.error(app.server.listening ? error : error.message) // a start that fails says why in one sentence
  process.exit(1)
})
const { ISSUER, PORT = '8080', HOST = '127.0.0.1', REDIS_URL = 'redis://127.0.0.1:6379' } = process.env
if (!ISSUER) throw new Error('ISSUER is missing: the address of this service, such as http://127.0.0.1:8080')
const session = crypto.randomUUID() // stands for your sessions: whoever has it in a cookie (Secure, on https) is Ada
const ids = ['ada-engine', 'ada-notes', 'grace-compiler'] // stands for your database; all but Ada's notes are public
const reposOf = (/** @type {{ subject: string }} */ { subject }) =>
  ids.map((id) => ({ id, public: id !== 'ada-notes', accessible: id.startsWith(`${subject}-`) }))

const store = redisStore(new Redis(REDIS_URL))
const server = createAuthorizationServer({
  issuer: ISSUER,
  store,
  digests: nodeDigests,
  user: ({ headers }) => (`${headers['cookie']}`.includes(session) ? { subject: 'ada' } : undefined),
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo.slice(ISSUER.length + 1))}`,
  resources: (user) => reposOf(user).filter(({ accessible }) => accessible),
})
await store.read(['is Redis there?']) // the client itself would try for ever
if (!(await server.applications.get('mirror'))) {
  const logo = Buffer.from('R0lGODlhAQABAIAAAB9vXP///ywAAAAAAQABAAACAkQBADs=', 'base64')
  const about = { name: 'Mirror', website: 'https://mirror.example', redirectUris: ['http://127.0.0.1/callback'], logo }
  const rights = /** @type {const} */ ({ type: 'confidential', scopes: ['repo-code:rw'], resourceScope: 'all' })
  console.log(await server.applications.register({ ...about, ...rights }, { clientId: 'mirror' })) // its secret, once
}

const oauth = createNodeHandler(server)
app.addHook('onRequest', ({ raw }, reply, next) => oauth(raw, reply.raw, () => next())) // before bodies are parsed
app.get('/sign-in', (_request, reply) => {
  reply.type('text/html').send('<form method="post"><button>Sign in as Ada</button></form>')
})
app.addContentTypeParser('application/x-www-form-urlencoded', (_request, _form, done) => done(null)) // it is empty
app.post('/sign-in', ({ url }, reply) => {
  const { href } = new URL(`${ISSUER}/${new URLSearchParams(url.split('?')[1]).get('return_to') ?? ''}`) // of this site
  reply.header('Set-Cookie', `session=${session}; Path=/; HttpOnly; SameSite=Lax`).redirect(href, 303)
})
const guard = createFastifyGuard(server)
app.get(
  '/api/repos',
  guard({ scope: 'repo-code:r' }, ({ auth }) => reposOf(auth).filter((repo) => opensResource(auth.resources, repo))),
)
/** @typedef {import('fastify').FastifyRequest<{ Params: { id: string } }>} Write */
const resource = (/** @type {import('grantwell/node').Authorized<Write>} */ { auth, params }) =>
  reposOf(auth).find(({ id }) => id === params.id)
const write = guard({ scope: 'repo-code:rw', resource }, ({ auth }) => `${auth.subject} wrote to ${auth.resource.id}\n`)
app.put('/api/repos/:id', write)
await app.listen({ port: Number(PORT), host: HOST })
console.log(`listening at ${ISSUER}`)

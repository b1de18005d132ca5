// @ts-check
/** An authorization server and a guarded API in route handlers of Next.js, with their records in Redis. @module */
import { createAuthorizationServer, opensResource } from 'grantwell'
import { createFetchGuard, createFetchHandler } from 'grantwell/fetch'
import { nodeDigests } from 'grantwell/node'
import { redisStore } from 'grantwell/storage/redis'
import { Redis } from 'ioredis'

const { ISSUER, REDIS_URL = 'redis://127.0.0.1:6379' } = process.env
if (!ISSUER) throw new Error('ISSUER is missing: the address of this service, such as http://127.0.0.1:3000')
export const session = crypto.randomUUID() // stands for your sessions: whoever has it in a cookie is Ada
const ids = ['ada-engine', 'ada-notes', 'grace-compiler'] // stands for your database; all but Ada's notes are public
const reposOf = (/** @type {{ subject: string }} */ { subject }) =>
  ids.map((id) => ({ id, public: id !== 'ada-notes', accessible: id.startsWith(`${subject}-`) }))
export const store = redisStore(new Redis(REDIS_URL, { lazyConnect: true })) // since a build loads this, too
export const server = createAuthorizationServer({
  issuer: ISSUER,
  store,
  digests: nodeDigests,
  user: ({ headers }) => (`${headers['cookie']}`.includes(session) ? { subject: 'ada' } : undefined),
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo.slice(ISSUER.length + 1))}`,
  resources: (user) => reposOf(user).filter(({ accessible }) => accessible),
})
export const oauth = createFetchHandler(server)
const guard = createFetchGuard(server)
export const list = guard({ scope: 'repo-code:r' }, ({ auth }) =>
  Response.json(reposOf(auth).filter((repo) => opensResource(auth.resources, repo))),
)
export const write = guard(
  { scope: 'repo-code:rw', resource: ({ auth }, id) => reposOf(auth).find((repo) => repo.id === id) },
  ({ auth }) => new Response(`${auth.subject} wrote to ${auth.resource.id}\n`), // the one that was guarded
)

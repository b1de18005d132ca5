/**
 * The parts of the written service that differ by framework.
 * @module
 */
import type { PackageName } from './manifest.js'

/** The code of one framework. */
export interface Framework {
  /** Its name in sentences. */
  readonly title: string
  /** The packages that the service imports. */
  readonly packages: readonly PackageName[]
  readonly imports: readonly string[]
  /** The rest of `createService`, after `signIn` and `server`. */
  readonly routes: string
  /** The name of the value that listens. */
  readonly listener: string
  /** Makes the expression that listens, from those of the port and the host. */
  readonly listen: (port: string, host: string) => string
}

/** Names of all frameworks, as options take them. */
export const FRAMEWORK_NAMES = ['node-http', 'express', 'fastify', 'hono'] as const

export type FrameworkName = (typeof FRAMEWORK_NAMES)[number]

const NODE_IMPORTS = [
  "import { createServer } from 'node:http'",
  "import { createNodeGuard, createNodeHandler, nodeDigests } from 'grantwell/node'",
]

/** Frameworks that listen through Node's `http.Server`. */
const HTTP = {
  listener: 'http',
  listen: (port: string, host: string) => `once(http.listen(${port}, ${host}), 'listening')`,
}

const NODE_HTTP: Framework = {
  ...HTTP,
  title: 'node:http',
  packages: [],
  imports: [...NODE_IMPORTS, "import { text } from 'node:stream/consumers'"],
  routes: `
  const oauth = createNodeHandler(server)
  const guard = createNodeGuard(server)
  const profile = guard({ scope: 'account-profile:r' }, ({ auth }, response) => {
    const body = JSON.stringify({ user: auth.subject, application: auth.clientId })
    response.setHeader('Content-Type', 'application/json').end(body)
  })

  const http = createServer(async (request, response) => {
    const { method, url = '/', headers } = request
    const path = url.split('?')[0]
    if (path === '/api/profile' && method === 'GET') return profile(request, response)
    if (path !== '/sign-in') return oauth(request, response) // with a 404 for what is not its own
    if (method !== 'POST') return response.setHeader('Content-Type', 'text/html').end(signIn.page)
    if (!(Number(headers['content-length']) <= 1000)) return response.writeHead(413).end()
    const form = await text(request).catch(() => '') // empty where the browser has gone
    const { cookie, location } = signIn.enter(url, form)
    return response.writeHead(303, { 'Set-Cookie': cookie, Location: location }).end()
  })
`,
}

const EXPRESS: Framework = {
  ...HTTP,
  title: 'Express',
  packages: ['express'],
  imports: [...NODE_IMPORTS, "import express from 'express'"],
  routes: `
  const app = express()
  const http = createServer(app)
  app.use(createNodeHandler(server))

  app.get('/sign-in', (_request, response) => {
    response.send(signIn.page)
  })
  const form = express.text({ type: 'application/x-www-form-urlencoded', limit: 1000 })
  app.post('/sign-in', form, (request, response) => {
    const { cookie, location } = signIn.enter(request.url, request.body)
    response.set('Set-Cookie', cookie).redirect(303, location)
  })

  /** @type {import('grantwell/node').NodeGuard<express.Request, express.Response>} */
  const guard = createNodeGuard(server)
  const profile = guard({ scope: 'account-profile:r' }, ({ auth }, response) => {
    response.json({ user: auth.subject, application: auth.clientId })
  })
  app.get('/api/profile', profile)
`,
}

const FASTIFY: Framework = {
  title: 'Fastify',
  packages: ['fastify'],
  imports: [
    "import Fastify from 'fastify'",
    "import { createFastifyGuard, createNodeHandler, nodeDigests } from 'grantwell/node'",
  ],
  routes: `
  const app = Fastify()
  const oauth = createNodeHandler(server)
  // As a hook, since Fastify reads bodies after it, and refuses forms.
  app.addHook('onRequest', ({ raw }, reply, next) => oauth(raw, reply.raw, () => next()))

  app.get('/sign-in', (_request, reply) => {
    reply.type('text/html').send(signIn.page)
  })
  const asText = /** @type {const} */ ({ parseAs: 'string', bodyLimit: 1000 })
  app.addContentTypeParser('application/x-www-form-urlencoded', asText, (_request, form, done) => done(null, form))
  app.post('/sign-in', ({ url, body }, reply) => {
    const { cookie, location } = signIn.enter(url, String(body))
    reply.header('Set-Cookie', cookie).redirect(location, 303)
  })

  const guard = createFastifyGuard(server)
  const profile = guard({ scope: 'account-profile:r' }, ({ auth }) => ({
    user: auth.subject,
    application: auth.clientId,
  }))
  app.get('/api/profile', profile)
`,
  listener: 'app',
  listen: (port, host) => `app.listen({ ${property('port', port)}, ${property('host', host)} })`,
}

const HONO: Framework = {
  ...HTTP,
  title: 'Hono',
  packages: ['@hono/node-server', 'hono'],
  imports: [
    "import { createAdaptorServer } from '@hono/node-server'",
    "import { createFetchGuard, createFetchHandler } from 'grantwell/fetch'",
    "import { nodeDigests } from 'grantwell/node'",
    "import { Hono } from 'hono'",
    "import { bodyLimit } from 'hono/body-limit'",
  ],
  routes: `
  const app = new Hono()
  const http = createAdaptorServer(app)

  app.get('/sign-in', (c) => c.html(signIn.page))
  app.post('/sign-in', bodyLimit({ maxSize: 1000 }), async (c) => {
    const { cookie, location } = signIn.enter(c.req.url, await c.req.text())
    c.header('Set-Cookie', cookie)
    return c.redirect(location, 303)
  })

  const guard = createFetchGuard(server)
  const profile = guard({ scope: 'account-profile:r' }, ({ auth }) =>
    Response.json({ user: auth.subject, application: auth.clientId }),
  )
  app.get('/api/profile', (c) => profile(c.req.raw))

  const oauth = createFetchHandler(server)
  app.all('*', (c) => oauth(c.req.raw, c.env)) // last: it answers 404 for what is not its own
`,
}

export const FRAMEWORKS: Readonly<Record<FrameworkName, Framework>> = {
  'node-http': NODE_HTTP,
  express: EXPRESS,
  fastify: FASTIFY,
  hono: HONO,
}

/** Writes a property of an object literal, in the short form where its value is a variable of its name. */
function property(name: string, value: string): string {
  return name === value ? name : `${name}: ${value}`
}

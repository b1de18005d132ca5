/**
 * The code of docs/guides/guard.md: guarded routes in Express, Fastify, `node:http` and on `Request` and `Response`.
 * @module
 */

// #region express-imports
import type { Request, Response } from 'express'
import express from 'express'
import type { ProtectedResource } from 'grantwell'
import { opensResource } from 'grantwell'
import type { Authorized, AuthInfo } from 'grantwell/node'
import { createNodeGuard } from 'grantwell/node'
// #endregion express-imports

// #region offered-imports
import type { User } from 'grantwell'
// #endregion offered-imports

// #region fastify-imports
import type { FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import { createFastifyGuard, createNodeHandler } from 'grantwell/node'
// #endregion fastify-imports

// #region fetch-imports
import { createFetchGuard } from 'grantwell/fetch'
// #endregion fetch-imports

// #region http-imports
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
// #endregion http-imports

import type { RequestListener } from 'node:http'
import type { AuthorizationServer } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { listen } from '../../test/adapters/http.js'
import { authorize, exchange, registration, testServer, tokens } from '../../test/support.js'
import { messageOf, readPage } from './page-words.js'

// #region resource
interface Repository extends ProtectedResource {
  readonly title: string
}

type Act = 'read' | 'write'

async function findRepository(act: Act, given: unknown, subject: string): Promise<Repository | undefined> {
  const row = await database.get(String(given))
  if (row === undefined) return undefined
  const { id, title, public: isPublic, owner } = row // the id of the row, not the one in the address
  const accessible = owner === subject || (act === 'read' && isPublic)
  return { id, title, public: isPublic, accessible }
}
// #endregion resource

interface Row {
  readonly id: string
  readonly owner: string
  readonly title: string
  readonly public: boolean
}

const rows = new Map<string, Row>([
  ['engine', { id: 'engine', owner: 'ada', title: 'Engine', public: true }],
  ['notes', { id: 'notes', owner: 'ada', title: 'Notes', public: false }],
  ['compiler', { id: 'compiler', owner: 'grace', title: 'Compiler', public: true }],
  ['diary', { id: 'diary', owner: 'grace', title: 'Diary', public: false }],
])
const database = {
  get: async (id: string) => rows.get(id.toLowerCase()), // as a database that folds case does
  all: async () => [...rows.keys()],
  allOf: async (owner: string) => [...rows.values()].filter((row) => row.owner === owner),
}

// #region offered
/** The option `resources` of createAuthorizationServer: what a user can choose on the consent page. */
async function resources({ subject }: User) {
  const own = await database.allOf(subject)
  return own.map(({ id, title }) => ({ id, name: title }))
}
// #endregion offered

/** Makes the application in Express. */
function createExpressApp(server: AuthorizationServer) {
  const app = express().set('env', 'test')

  // #region route
  const guard = createNodeGuard<Request, Response>(server)

  const writeRepository = guard(
    {
      scope: 'repo-code:rw',
      resource: ({ params, auth }) => findRepository('write', params['id'], auth.subject),
    },
    ({ auth }, response) => {
      response.json({ wrote: auth.resource.title, for: auth.subject })
    },
  )
  app.put('/repositories/:id', writeRepository)
  // #endregion route

  // #region list
  const listRepositories = guard({ scope: 'repo-code:r' }, async ({ auth }, response) => {
    const ids = await database.all()
    const all = await Promise.all(ids.map((id) => findRepository('read', id, auth.subject)))
    response.json(all.filter((each) => opensResource(auth.resources, each)).map((each) => each?.id))
  })
  app.get('/repositories', listRepositories)
  // #endregion list

  // #region middleware
  const guarded = guard({
    scope: 'repo-issue:r',
    resource: ({ params, auth }) => findRepository('read', params['id'], auth.subject),
  })
  app.get('/repositories/:id/issues', guarded, (request, response) => {
    const { auth } = request as Authorized<Request, AuthInfo<Repository> & { readonly resource: Repository }>
    response.json({ issuesOf: auth.resource.id })
  })
  // #endregion middleware

  return app
}

/** Makes the application in Fastify. */
function createFastifyApp(server: AuthorizationServer) {
  // #region fastify-server
  const app = fastify()
  const oauth = createNodeHandler(server)
  app.addHook('onRequest', ({ raw }, reply, next) => oauth(raw, reply.raw, () => next())) // before bodies are parsed
  // #endregion fastify-server

  // #region fastify
  const guard = createFastifyGuard(server)

  const writeRepository = guard(
    {
      scope: 'repo-code:rw',
      resource: ({ params, auth }: Authorized<FastifyRequest<{ Params: { id: string } }>>) =>
        findRepository('write', params.id, auth.subject),
    },
    async ({ auth }) => ({ wrote: auth.resource.title }),
  )
  app.put('/repositories/:id', writeRepository)
  // #endregion fastify
  return app
}

/** Makes the service on `node:http`. */
function createHttpService(server: AuthorizationServer) {
  // #region http
  const guard = createNodeGuard(server)

  const writeRepository = guard(
    {
      scope: 'repo-code:rw',
      resource: ({ url, auth }) => {
        const id = /^\/repositories\/(\w+)$/.exec(url ?? '')?.[1] // the whole path, without a query
        return id === undefined ? undefined : findRepository('write', id, auth.subject)
      },
    },
    ({ auth }, response) => {
      response.end(`wrote ${auth.resource.title}`)
    },
  )
  // #endregion http

  const signIn = (_request: IncomingMessage, response: ServerResponse) => response.end('sign in')

  // #region http-server
  const oauth = createNodeHandler(server)

  const service = createServer((request, response) => {
    oauth(request, response, () => {
      const [path] = (request.url ?? '').split('?')
      if (path === '/sign-in')
        signIn(request, response) // your sign-in page
      else writeRepository(request, response)
    })
  })
  // #endregion http-server
  return service
}

/** Makes the handler of `Request` and `Response`. */
function createFetchApp(server: AuthorizationServer) {
  // #region fetch
  const guard = createFetchGuard(server)

  const writeRepository = guard(
    {
      scope: 'repo-code:rw',
      resource: ({ auth }, id: string) => findRepository('write', id, auth.subject),
    },
    ({ auth }) => Response.json({ wrote: auth.resource.title }),
  )
  // in Hono: app.put('/repositories/:id', (c) => writeRepository(c.req.raw, c.req.param('id')))
  // #endregion fetch
  return writeRepository
}

/** Makes the listener that decides without a route. */
function createDeciding(server: AuthorizationServer) {
  // #region authenticate
  async function answer(request: IncomingMessage, response: ServerResponse, scope: string): Promise<void> {
    const access = await server.authenticate(request, { scope })
    if (access.type === 'authenticated') {
      response.end(`hello ${access.subject}`)
      return
    }
    const { status, headers, body } = access.response
    response.writeHead(status, headers).end(body)
  }
  // #endregion authenticate
  return answer
}

describe('the guarded routes of the page', async () => {
  const test = await testServer({ resources })
  const { server } = test
  await server.applications.change('web', {
    ...registration(),
    scopes: ['repo-code:rw', 'repo-issue:r'].map((scope) => ({ scope, reason: 'for the test' })),
  })
  await server.applications.approve('web', { revision: 2 })
  const { access_token: all } = await tokens(test)
  const { access_token: reading } = await tokens(test, { scope: 'repo-code:r' })
  const { code } = await authorize(test, { scope: 'repo-code:rw' }, { resource_scope: 'public' })
  const { access_token: publicOnes } = (await exchange(test, code)).body

  const specified = { resource_scope: 'specified', resource: 'notes' }
  const { code: codeOfNotes } = await authorize(test, { scope: 'repo-code:rw repo-issue:r' }, specified)
  const { access_token: notesOnly } = (await exchange(test, codeOfNotes)).body

  /** Calls a route, and returns the status with the body, or with the challenge of a refusal. */
  async function call(url: string, method: string, token?: string): Promise<string> {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(url, { method, headers })
    const challenge = response.headers.get('www-authenticate')
    return `${response.status} ${challenge === null ? await response.text() : `WWW-Authenticate: ${challenge}`}`
  }

  it('let in those in Express whose token opens the resource, and refuse all others as the page says', async () => {
    const { origin, close } = await listen(createExpressApp(server))
    const page = readPage('guides/guard')
    try {
      expect(await call(`${origin}/repositories/notes`, 'PUT', all)).toBe('200 {"wrote":"Notes","for":"ada"}')
      expect(await call(`${origin}/repositories/engine`, 'PUT', publicOnes)).toBe('200 {"wrote":"Engine","for":"ada"}')
      expect(await call(`${origin}/repositories`, 'GET', all)).toBe('200 ["engine","notes","compiler"]')
      expect(await call(`${origin}/repositories`, 'GET', publicOnes)).toBe('200 ["engine","compiler"]')
      expect(await call(`${origin}/repositories/engine/issues`, 'GET', all)).toBe('200 {"issuesOf":"engine"}')
      expect(await call(`${origin}/repositories/compiler/issues`, 'GET', all)).toBe('200 {"issuesOf":"compiler"}')
      expect(await call(`${origin}/repositories/diary/issues`, 'GET', all)).toMatch(/^403/)
      expect(await call(`${origin}/repositories/NOTES`, 'PUT', notesOnly)).toBe('200 {"wrote":"Notes","for":"ada"}')
      expect(await call(`${origin}/repositories/engine`, 'PUT', notesOnly)).toMatch(/^403/)
      expect(await call(`${origin}/repositories/compiler/issues`, 'GET', notesOnly)).toMatch(/^403/)

      const closed = await call(`${origin}/repositories/notes`, 'PUT', publicOnes)
      expect(await call(`${origin}/repositories/compiler`, 'PUT', all)).toBe(closed)
      expect(await call(`${origin}/repositories/none`, 'PUT', all)).toBe(closed)
      const refused = [
        await call(`${origin}/repositories/notes`, 'PUT'),
        await call(`${origin}/repositories/notes`, 'PUT', 'unknown'),
        await call(`${origin}/repositories/notes`, 'PUT', reading),
        closed,
      ]
      expect(refused.map((each) => each.slice(0, 3))).toEqual(['401', '401', '403', '403'])
      const told = test.events.filter((event) => event.type === 'refused').slice(-2) // a request without a token is none
      expect(told.map(({ endpoint, reason }) => `${endpoint} ${reason}`)).toEqual([
        'api credential_unknown',
        'api scope_insufficient',
      ])
      for (const each of refused) expect(page).toContain(each.replace(' WWW', '\nWWW'))
    } finally {
      await close()
    }
  })

  it('are the same in Fastify', async () => {
    const app = createFastifyApp(server)
    try {
      const origin = await app.listen({ port: 0, host: '127.0.0.1' })
      expect(await call(`${origin}/repositories/notes`, 'PUT', all)).toBe('200 {"wrote":"Notes"}')
      expect(await call(`${origin}/repositories/notes`, 'PUT', publicOnes)).toMatch(/^403/)
      expect(await call(`${origin}/.well-known/oauth-authorization-server`, 'GET')).toMatch(/^200 {"issuer"/)
    } finally {
      await app.close()
    }
  })

  it('are the same on node:http, and without a route', async () => {
    const [listener] = createHttpService(server).listeners('request') as RequestListener[] // the one of createServer
    const { origin, close } = await listen(listener ?? expect.fail('no listener'))
    const answer = createDeciding(server)
    const deciding = await listen((request, response) => void answer(request, response, 'repo-code:rw'))
    try {
      expect(await call(`${origin}/repositories/notes`, 'PUT', all)).toBe('200 wrote Notes')
      expect(await call(`${origin}/?/repositories/notes`, 'PUT', all)).toMatch(/^403/)
      expect(await call(`${origin}/sign-in?return_to=x`, 'GET')).toBe('200 sign in')
      expect(await call(`${origin}/.well-known/oauth-authorization-server`, 'GET')).toMatch(/^200 {"issuer"/)
      expect(await call(deciding.origin, 'GET', all)).toBe('200 hello ada')
      expect(await call(deciding.origin, 'GET', reading)).toMatch(/^403/)
    } finally {
      await Promise.all([close(), deciding.close()])
    }
  })

  it('are the same on Request and Response', async () => {
    const write = createFetchApp(server)
    const request = (token: string) =>
      new Request('https://git.example/', { headers: { authorization: `Bearer ${token}` } })
    expect(await (await write(request(all), 'notes')).json()).toEqual({ wrote: 'Notes' })
    expect((await write(request(publicOnes), 'notes')).status).toBe(403)
  })

  it('quote the errors of a wrong guard and of a wrong resource', async () => {
    const page = readPage('guides/guard')
    const guard = createNodeGuard(server)
    expect(page).toContain(await messageOf(() => guard({ scope: 'repo-code:w' })))
    const wrong: object = { scpoe: 'repo-code:r' }
    expect(page).toContain(await messageOf(() => guard(wrong)))
    const failing = createNodeGuard(server)
    const incomplete = { id: 'engine', public: true } as ProtectedResource
    const { origin, close } = await listen(failing({ resource: () => incomplete }, () => expect.fail('was let in')))
    try {
      expect(await call(origin, 'GET', all)).toMatch(/^500/)
      expect(page).toContain(await messageOf(() => Promise.reject(test.errors[0])))
    } finally {
      await close()
    }
  })
})

/**
 * The guarded routes of a table of the site, each as it stands there, on its platform and attacked.
 * @module
 */
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import express from 'express'
import { fastify } from 'fastify'
import type { ProtectedResource } from 'grantwell'
import type { Authorized } from 'grantwell/fetch'
import { createFetchGuard } from 'grantwell/fetch'
import { createFastifyGuard, createNodeGuard } from 'grantwell/node'
import { describe, expect, it } from 'vitest'
import { serveFetch } from '../adapters/bridge.js'
import { listen } from '../adapters/http.js'
import type { TestServer } from '../support.js'
import { authorize, exchange, testServer } from '../support.js'
import { attack } from './hostile.js'

const IDS = ['notes', 'engine'] as const

const GUIDE = readFileSync(new URL('../../docs/guides/guard.md', import.meta.url), 'utf8')

/** A row of the table: its platform, and its code. */
const ROWS = [
  ...GUIDE.matchAll(/^\| ([^|`]*(?:`[^`]*`[^|`]*)*) \| `((?:export )?(?:const|app)[^`]*guard\([^`]*)`/gm),
].map(([, platform = '', code = '']) => [platform, code] as const)

type Handler = (...given: never[]) => unknown

/** Runs the code of a row: its dots, and what it has from elsewhere, are given; what it defines comes back. */
function run(code: string, given: { guard: unknown; repositoryOf: Handler; handler: Handler; app?: unknown }): unknown {
  const whole = code
    .replace(/\(request, response\) => \.\.\./, 'handler')
    .replace(/^(?:export )?const \w+ = /, 'return ')
  return new Function(...Object.keys(given), whole)(...Object.values(given))
}

interface Call {
  readonly url: string
  readonly params: { readonly id: string }
}

/** What only the host knows: all is Ada's, and the notes are not public. */
const find = (id: string): ProtectedResource | undefined =>
  IDS.some((each) => each === id) ? { id, public: id !== 'notes', accessible: true } : undefined
const byParameter = ({ params }: Call) => find(params.id)
const touched = ({ auth }: Authorized<Call>) => auth.resource?.id
const answering = (request: Authorized<Call>, response: { end: (text?: string) => void }) =>
  response.end(touched(request))

/** Listens with the route of a row, at `PUT /repositories/:id`. */
const PLATFORMS: Readonly<
  Record<string, (test: TestServer, code: string) => RequestListener | Promise<RequestListener>>
> = {
  '`http`': ({ server }, code) => {
    const repositoryOf = ({ url }: Call) => IDS.map(find).find((each) => url === `/repositories/${each?.id}`)
    return run(code, { guard: createNodeGuard(server), repositoryOf, handler: answering }) as RequestListener // a guard of Node
  },
  'Express, connect': ({ server }, code) => {
    const app = express().set('env', 'test') // says nothing of paths that it cannot decode
    run(code, { guard: createNodeGuard(server), repositoryOf: byParameter, handler: answering, app })
    return app
  },
  Fastify: async ({ server }, code) => {
    const app = fastify()
    const handler = async (request: Authorized<Call>) => touched(request)
    run(code, { guard: createFastifyGuard(server), repositoryOf: byParameter, handler, app })
    await app.ready()
    return app.routing
  },
  '`Request` and `Response`': ({ server }, code) => {
    const repositoryOf = async (_: unknown, { params }: { params: Promise<Call['params']> }) => find((await params).id)
    const handler = (request: Authorized<Call>) => new Response(touched(request))
    const guard = createFetchGuard(server)
    const PUT = run(code, { guard, repositoryOf, handler }) as (request: Request, context: object) => Promise<Response> // a guard of fetch
    return serveFetch(async (request) => {
      const [, base, id, more] = new URL(request.url).pathname.split('/')
      const isRoute = base === 'repositories' && id !== undefined && more === undefined
      return isRoute ? PUT(request, { params: Promise.resolve({ id }) }) : new Response(null, { status: 404 })
    })
  },
}

describe('a guarded route of the guide', () => {
  it('is there for every platform', () => {
    expect(ROWS.map(([platform]) => platform)).toEqual(Object.keys(PLATFORMS))
  })

  it.each(ROWS)('on %s touches no resource but the one that its guard decided on', async (platform, code) => {
    const test = await testServer({ resources: () => IDS.map((id) => ({ id })) })
    const { port, close } = await listen((await PLATFORMS[platform]?.(test, code)) ?? expect.fail('no platform'))
    try {
      const tokenFor = async (opens: string): Promise<string> => {
        const { code } = await authorize(test, {}, { resource_scope: 'specified', resource: opens })
        return (await exchange(test, code)).body.access_token
      }
      await attack(port, { base: '/repositories', ids: IDS }, tokenFor, (opens, { target, body }) =>
        expect(body, target).toBe(opens),
      )
    } finally {
      await close()
    }
  })
})

/**
 * The code of docs/guides/several-apis.md: a service with two APIs, and a third in another process.
 * @module
 */

// #region imports
import { createAuthorizationServer } from 'grantwell'
import { createFetchGuard } from 'grantwell/fetch'
// #endregion imports
// #region remote-imports
import { discover, resourceServer } from 'grantwell/client'
// #endregion remote-imports
import { readFileSync } from 'node:fs'
import type { AuthorizationServer, AuthorizationServerOptions } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { codeFor } from '../../test/protocol/audience.js'
import type { Service } from '../../test/client/service.js'
import { openService } from '../../test/client/service.js'
import { exchange, registration, send, WEB } from '../../test/support.js'

const MCP = 'https://git.example/mcp'

function serve(yourOptions: Omit<AuthorizationServerOptions, 'audiences'>) {
  // #region server
  const server = createAuthorizationServer({
    ...yourOptions,
    audiences: [
      { resource: 'https://git.example/mcp', name: 'Tools for agents', scopes: ['repo-code:r', 'account-profile:r'] },
      { resource: 'https://git.example/api', name: 'The API' },
    ],
  })
  // #endregion server
  // #region guard
  const guard = createFetchGuard(server)

  const showTools = guard({ audience: 'https://git.example/mcp', scope: 'repo-code:r' }, (request) => {
    return Response.json({ tools: ['search'], for: request.auth.subject })
  })
  // #endregion guard
  return { server, showTools }
}

async function started() {
  const { server, showTools } = serve({
    issuer: 'https://git.example',
    store: memoryStore(),
    user: () => ({ subject: 'ada' }),
    signInUrl: () => '/sign-in',
  })
  await server.applications.register(registration(), WEB)
  const call = (token?: string) =>
    showTools(new Request(MCP, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }))
  return { test: { server } as Parameters<typeof exchange>[0], showTools: call } // its server is all that is used
}

it('Guard the routes of an API: its tokens open it, and no others do', async () => {
  const { test, showTools } = await started()
  const bound = (await exchange(test, await codeFor(test, [MCP]))).body
  expect(await (await showTools(bound.access_token)).json()).toEqual({ tools: ['search'], for: 'ada' })
  const other = (await exchange(test, await codeFor(test, ['https://git.example/api']))).body
  const none = (await exchange(test, await codeFor(test, []))).body
  for (const { access_token } of [other, none]) expect((await showTools(access_token)).status).toBe(401)
  const unguarded = await createFetchGuard(test.server)({}, () => new Response('in'))(
    new Request(MCP, { headers: { authorization: `Bearer ${bound.access_token}` } }),
  )
  expect(unguarded.status).toBe(401)
})

it('Ask for a token: a token request names some of the APIs', async () => {
  const { test } = await started()
  const refreshToken = (await exchange(test, await codeFor(test, [MCP, 'https://git.example/api']))).body.refresh_token
  const authorization = `Basic ${btoa(`${WEB.clientId}:${WEB.clientSecret}`)}`
  interface Sent {
    readonly method: 'POST'
    readonly headers: Record<string, string>
    readonly body: URLSearchParams
  }
  const fetch = async (url: string, { method, headers, body }: Sent) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const text = { type: 'text', text: String(body) } as const
    const { pathname } = new URL(url)
    const answer = await send(test.server, {
      method,
      url: pathname,
      headers: { ...headers, ...type },
      body: text,
    })
    return new Response(answer.body, { status: answer.status })
  }
  // #region narrow
  const response = await fetch('https://git.example/oauth2/token', {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      resource: 'https://git.example/mcp',
    }),
  })
  // #endregion narrow
  expect(await response.json()).toMatchObject({ scope: 'repo-code:r account-profile:r' })
})

it('Clients that know only the address of the API: the challenge, and the document that the page shows', async () => {
  const { test, showTools } = await started()
  const page = readFileSync(new URL('../guides/several-apis.md', import.meta.url), 'utf8')
  const challenge = (await showTools()).headers.get('www-authenticate') ?? ''
  expect(challenge).toBe(`${/Bearer realm="oauth2", resource_metadata="[^"]*"/.exec(page)?.[0]}, scope="repo-code:r"`)
  const where = new URL(/resource_metadata="([^"]*)"/.exec(challenge)?.[1] ?? 'none:').pathname
  const { body } = await send(test.server, { url: where })
  // #region document
  const document = {
    resource: 'https://git.example/mcp',
    authorization_servers: ['https://git.example'],
    scopes_supported: ['repo-code:r', 'account-profile:r'],
    bearer_methods_supported: ['header'],
    resource_name: 'Tools for agents',
  }
  // #endregion document
  expect(JSON.parse(body)).toEqual(document)
})

let service: Service
beforeAll(async () => {
  service = await openService({ audiences: [{ resource: MCP, name: 'Tools for agents' }] })
})
afterAll(() => service?.close())

async function register(server: AuthorizationServer) {
  // #region register
  const credentials = await server.applications.registerResourceServer({
    name: 'Tools for agents',
    website: 'https://git.example/mcp',
    scopes: ['repo-code:rw'],
    audience: 'https://git.example/mcp',
  })
  // #endregion register
  return credentials
}

it('An API in another process: is told of its own tokens alone', async () => {
  const { test, issuer } = service
  const { clientId, clientSecret } = await register(test.server)
  // #region remote
  const client = await discover({ issuer, clientId, clientSecret })
  const guard = createFetchGuard(resourceServer({ client, audience: 'https://git.example/mcp' }))
  // #endregion remote
  const route = guard({ scope: 'repo-code:r' }, (request) => Response.json(request.auth))
  const call = (token: string) => route(new Request(MCP, { headers: { authorization: `Bearer ${token}` } }))
  const bound = (await exchange(test, await codeFor(test, [MCP]))).body
  expect(await (await call(bound.access_token)).json()).toMatchObject({ subject: 'ada', audience: MCP })
  const none = (await exchange(test, await codeFor(test, []))).body
  const refused = await call(none.access_token)
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('resource_metadata="https://git.example/.well-known/oauth-protected-resource/mcp"'),
  ])
})

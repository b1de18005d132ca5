/**
 * What the tests of protected resources share: a server that declares some, and tokens for them.
 * @module
 */
import type { AudienceDefinition, AuthorizationServerOptions, HttpResponse } from 'grantwell'
import type { TestServer, Tokens } from '../support.js'
import { authorizationUrl, exchange, hiddenFields, post, send, testServer } from '../support.js'

/** A resource that only reads, one that knows every scope, and one at an origin of its own. */
export const MCP = 'https://git.example/mcp'
export const REST = 'https://git.example'
export const CI = 'https://ci.example/api'
/** One that knows a single scope. */
export const NARROW = 'https://git.example/narrow'

export const AUDIENCES: readonly AudienceDefinition[] = [
  { resource: MCP, name: 'Tools for agents', scopes: ['repo-code:r', 'account-profile:r'] },
  { resource: REST, name: 'The API' },
  { resource: CI, name: 'Builds' },
  { resource: NARROW, name: 'Code alone', scopes: ['repo-code:r'] },
]

export function audienceServer(options: Partial<AuthorizationServerOptions> = {}): Promise<TestServer> {
  return testServer({ audiences: AUDIENCES, ...options })
}

/** The parameters `resource` of a request, in this order. */
export function resources(...names: readonly string[]): readonly (readonly [string, string])[] {
  return names.map((name) => ['resource', name])
}

/** Opens the consent page of a request for protected resources. */
export async function openFor(
  { server }: Pick<TestServer, 'server'>,
  names: readonly string[],
  parameters: Record<string, string | undefined> = {},
): Promise<{ page: HttpResponse; fields: Record<string, string>; headers: { cookie: string } }> {
  const url = `${authorizationUrl(parameters)}&${new URLSearchParams(resources(...names).map(([...pair]) => pair))}`
  const page = await send(server, { url })
  const cookie = page.headers['Set-Cookie']?.split(';')[0] ?? ''
  return { page, fields: { resource_scope: 'all', ...hiddenFields(page.body) }, headers: { cookie } }
}

/** Agrees to such a request: the code, or the address of the answer where there is none. */
export async function codeFor(
  test: Pick<TestServer, 'server'>,
  names: readonly string[],
  parameters: Record<string, string | undefined> = {},
): Promise<string> {
  const { page, fields, headers } = await openFor(test, names, parameters)
  const answer =
    page.status === 200 ? await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers) : page
  const location = new URL(answer.headers['Location'] ?? 'none:')
  return location.searchParams.get('code') ?? location.href
}

/** A pair of tokens of a grant for protected resources. */
export async function tokensFor(
  test: TestServer,
  names: readonly string[],
  parameters: Record<string, string | undefined> = {},
): Promise<Tokens> {
  const { status, body } = await exchange(test, await codeFor(test, names, parameters))
  if (status !== 200) throw new Error(`no tokens: ${body.error_description}`)
  return body
}

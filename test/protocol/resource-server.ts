/**
 * What the tests of introspection share: an API that is registered to ask, how it asks, and what it is told.
 * @module
 */
import type { Digests, HttpResponse } from 'grantwell'
import { portableDigests } from 'grantwell'
import { TOKEN_HEADERS } from '../server/helpers.js'
import type { TestServer } from '../support.js'
import { basic, post } from '../support.js'

/** An API of the service that lives elsewhere. */
export const API = { clientId: 'api', clientSecret: 'a-secret-of-the-resource-server' }

export const INTROSPECTION_PATH = '/oauth2/introspect'

/** The one answer for what works not, or is none of its business. */
export const INACTIVE: HttpResponse = { status: 200, headers: TOKEN_HEADERS, body: '{"active":false}' }

/** The same server, with an API that may see these scopes. */
export async function withApi<Test extends TestServer>(
  test: Test,
  scopes: readonly string[] = ['repo-code:rw', 'account-profile:r'],
  client = API,
): Promise<Test> {
  await test.server.applications.registerResourceServer(
    { name: 'Packages', website: 'https://packages.example', scopes },
    client,
  )
  test.events.length = 0
  return test
}

/** Asks what a token is good for. */
export function introspect(
  { server }: Pick<TestServer, 'server'>,
  token: string,
  form: Record<string, string> = {},
  client = API,
): Promise<HttpResponse> {
  return post(server, INTROSPECTION_PATH, { token, ...form }, basic(client))
}

/** What it was told, read. */
export async function told(...asked: Parameters<typeof introspect>): Promise<Record<string, unknown>> {
  const { status, body } = await introspect(...asked)
  if (status !== 200) throw new Error(`${status} ${body}`)
  return JSON.parse(body)
}

/** Digests that count how often they are asked. */
export function countedDigests(): { readonly digests: Digests; readonly calls: { sha256: number; hmac: number } } {
  const calls = { sha256: 0, hmac: 0 }
  const digests: Digests = {
    sha256: (data) => {
      calls.sha256++
      return portableDigests.sha256(data)
    },
    hmacSha256: (key, data) => {
      calls.hmac++
      return portableDigests.hmacSha256(key, data)
    },
  }
  return { digests, calls }
}

/**
 * The page "Clients that get through": its tables are those that the tests of the clients hold, and each refusal is caused here.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { DEBIAN_ROWS, NPM_ROWS } from '../../test/clients/table.js'
import type { TestServer } from '../../test/support.js'
import {
  authorizationUrl,
  basic,
  CHALLENGE,
  guard,
  NATIVE,
  NATIVE_CALLBACK,
  post,
  send,
  testServer,
  tokens,
  WEB,
} from '../../test/support.js'
import { readPage } from './page-words.js'

const page = readPage('guides/clients')

describe('the tables of clients', () => {
  it.each([
    ['npm', NPM_ROWS],
    ['Debian 12', DEBIAN_ROWS],
  ])('name the versions, needs and flows of the tests: %s', (heading, rows) => {
    const [, section = ''] = page.split(`## From ${heading}\n`)
    const [table = ''] = section.split('\n## ')
    const written = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| client |'))
    expect(written).toEqual(rows)
  })

  it('name at least 25 clients, and say how many need nothing', () => {
    const count = NPM_ROWS.length + DEBIAN_ROWS.length
    expect(count).toBeGreaterThanOrEqual(25)
    expect(page).toContain(` ${count} clients of other people`)
    const needy = [...NPM_ROWS, ...DEBIAN_ROWS].filter((row) => !row.split(' | ')[2]?.startsWith('nothing'))
    expect(page).toContain(` ${count - needy.length} of them get through out of the box`)
  })
})

const REFRESH = { grant_type: 'refresh_token', refresh_token: 'gwr_any' }
const FORM = 'application/x-www-form-urlencoded'

/** An answer, as far as the page tells it. */
type Answer = Pick<Awaited<ReturnType<typeof send>>, 'status' | 'headers' | 'body'>

/** Writes an answer as the tables of the page do. */
function wordsOf({ status, headers, body }: Answer): string {
  const location = headers['Location']
  if (location !== undefined) {
    const { searchParams } = new URL(location)
    return `redirect with \`${searchParams.get('error')}\`: ${searchParams.get('error_description')}`
  }
  if (body.startsWith('{')) {
    const { error, error_description } = JSON.parse(body)
    return `${status} \`${error}\`: ${error_description}`
  }
  const [, title] = /<title>(.*)<\/title>/.exec(body) ?? []
  return title === undefined
    ? `${status} with \`WWW-Authenticate: ${headers['WWW-Authenticate']}\``
    : `${status}: ${title}`
}

/** Sends an authorization request. */
const asks = (parameters: Record<string, string | undefined>) => (test: TestServer) =>
  send(test.server, { url: authorizationUrl(parameters) })

/** Sends an authorization request of the public application, which differs from a sound one. */
const native = (parameters: Record<string, string | undefined>) =>
  asks({
    client_id: NATIVE.clientId,
    redirect_uri: NATIVE_CALLBACK,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    ...parameters,
  })

/** Sends a form to the token endpoint. */
const tokenForm =
  (form: string | Record<string, string>, query = '') =>
  (test: TestServer) =>
    post(test.server, `/oauth2/token${query}`, form, basic(WEB))

/** Calls the API with a token in a place of its own. */
const callsApi = (request: (token: string) => Parameters<typeof guard>[1]) => async (test: TestServer) => {
  const { access_token } = await tokens(test)
  const found = await guard(test.server, request(access_token))
  return found.type === 'refused' ? found.response : expect.fail('let through')
}

const REFUSALS: readonly (readonly [cause: string, step: (test: TestServer) => Promise<Answer>])[] = [
  ['No `response_type`', asks({ response_type: undefined })],
  ['The implicit flow, `response_type=token`', asks({ response_type: 'token' })],
  ['`response_mode=form_post`', asks({ response_mode: 'form_post' })],
  ['Commas between scopes', asks({ scope: 'repo-code:r,account-profile:r' })],
  ['The scope `openid`', asks({ scope: 'openid account-profile:r' })],
  ['A parameter that comes twice', ({ server }) => send(server, { url: `${authorizationUrl()}&state=a&state=b` })],
  ['A public application without PKCE', native({ code_challenge: undefined, code_challenge_method: undefined })],
  ['PKCE with the method `plain`', native({ code_challenge_method: 'plain' })],
  ['PKCE without a method, which means `plain`', native({ code_challenge_method: undefined })],
  ['Another path on loopback', native({ redirect_uri: 'http://127.0.0.1:51004/callback/github' })],
  ['A slash at the end of the path on loopback', native({ redirect_uri: `${NATIVE_CALLBACK}/` })],
  ['`localhost` in place of `127.0.0.1`', native({ redirect_uri: 'http://localhost:51004/callback' })],
  [
    'A token request by GET',
    ({ server }) => send(server, { url: `/oauth2/token?${new URLSearchParams(REFRESH)}`, headers: basic(WEB) }),
  ],
  ['Parameters in the query of a token request', tokenForm('', `?${new URLSearchParams(REFRESH)}`)],
  [
    'A token request in JSON',
    ({ server }) =>
      send(server, {
        method: 'POST',
        url: '/oauth2/token',
        headers: { ...basic(WEB), 'content-type': 'application/json' },
        body: { type: 'text', text: JSON.stringify(REFRESH) },
      }),
  ],
  ['No `grant_type`', tokenForm({ code: 'gwc_any' })],
  [
    'HTTP Basic, and the secret in the body too',
    tokenForm({ ...REFRESH, client_id: WEB.clientId, client_secret: WEB.clientSecret }),
  ],
  [
    'A revocation without credentials of the client',
    ({ server }) => post(server, '/oauth2/revoke', { token: 'gwa_any' }),
  ],
  ['A revocation with the token in the query', ({ server }) => post(server, '/oauth2/revoke?token=gwa_any', '')],
  ['A token in the query of an API call', callsApi((token) => ({ url: `/api?access_token=${token}` }))],
  [
    'A token in the form of an API call',
    callsApi((token) => ({
      method: 'POST',
      url: '/api',
      headers: { 'content-type': FORM },
      body: { type: 'text', text: `access_token=${token}` },
    })),
  ],
  ['`Authorization: token`, as GitHub has it', callsApi((token) => ({ headers: { authorization: `token ${token}` } }))],
]

describe('a request that other services let pass', () => {
  it.each(REFUSALS)('is refused as the page says: %s', async (cause, step) => {
    const answer = await step(await testServer())
    expect(page).toContain(`\n| ${cause} | ${wordsOf(answer)} | `)
  })

  it('is in the table of the page if it is refused here, and the other way round', () => {
    const [, table = ''] = page.split('| the client | it gets | set in the client |\n')
    const [rows = ''] = table.split('\n\n')
    expect(
      rows
        .split('\n')
        .slice(1)
        .map((row) => row.split(' | ')[0]?.slice(2)),
    ).toEqual(REFUSALS.map(([cause]) => cause))
  })
})

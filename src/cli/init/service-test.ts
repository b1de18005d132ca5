/**
 * The text of `service.test.mjs`.
 * @module
 */
import type { Framework } from './frameworks.js'

/** Writes the test of a service: the life of a token, over HTTP. */
export function testText({ listener, listen }: Framework): string {
  return `${IMPORTS}
const TITLE = 'an application gets tokens when its user agrees, and loses them when it revokes them'
test(TITLE, { timeout: 30_000 }, async (t) => {
  const port = await freePort()
  const issuer = \`http://127.0.0.1:\${port}\`
  const { ${listener}, server } = createService({ issuer, store: memoryStore() })
  const secret = await registerFirst(server)
  await ${listen('port', "'127.0.0.1'")}
  t.after(() => ${listener}.close())
${LIFE}${HELPERS}`
}

const IMPORTS = `// @ts-check
/** Walks through the life of a token over HTTP, with records in memory. @module */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { memoryStore } from 'grantwell/storage/memory'
import { createService, registerFirst } from './service.mjs'

/** @typedef {{ access_token: string, refresh_token: string }} Tokens */

const REDIRECT_URI = 'http://127.0.0.1:9000/callback' // nothing listens there: the test reads the address alone
`

const LIFE = `
  // The user follows a link of the application, signs in, and comes back to the consent page.
  const verifier = randomBytes(32).toString('base64url')
  const request = new URLSearchParams({
    response_type: 'code',
    client_id: 'first',
    redirect_uri: REDIRECT_URI,
    scope: 'account-profile:r',
    state: 'state of the application',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const visit = openBrowser()
  const stranger = await visit(\`\${issuer}/oauth2/auth?\${request}\`)
  assert.match(stranger.location, /\\/sign-in\\?return_to=/)
  const signIn = await visit(stranger.location)
  assert.match(signIn.html, /<form method="post">/)
  for (const elsewhere of ['https://evil.example/', '//evil.example/', '@evil.example/']) {
    const { location } = await visit(\`\${issuer}/sign-in?return_to=\${elsewhere}\`, { name: 'eve' })
    assert.equal(new URL(location).origin, issuer)
  }
  const signedIn = await visit(stranger.location, { name: 'ada' })
  const consent = await visit(signedIn.location)
  assert.match(consent.html, /First application/)

  // The user agrees, and the application gets a code.
  const answer = { ...hiddenFields(consent.html), resource_scope: 'all', decision: 'agree' }
  const callback = new URL((await visit(\`\${issuer}/oauth2/auth\`, answer)).location)
  assert.equal(callback.origin + callback.pathname, REDIRECT_URI)
  assert.equal(callback.searchParams.get('state'), 'state of the application')
  assert.equal(callback.searchParams.get('iss'), issuer)

  // The application sends forms with its secret to the endpoints of the server.
  const send = (/** @type {string} */ path, /** @type {Record<string, string>} */ form) =>
    fetch(issuer + path, {
      method: 'POST',
      headers: { authorization: \`Basic \${btoa(\`first:\${secret}\`)}\` },
      body: new URLSearchParams(form),
    })
  const code = callback.searchParams.get('code') ?? ''
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: verifier }
  const exchanged = await send('/oauth2/token', exchange)
  assert.equal(exchanged.status, 200)
  const tokens = /** @type {Tokens} */ (await exchanged.json())

  // The token opens the route.
  const call = (/** @type {string} */ token) =>
    fetch(\`\${issuer}/api/profile\`, { headers: { authorization: \`Bearer \${token}\` } })
  const profile = await call(tokens.access_token)
  assert.equal(profile.status, 200)
  assert.deepEqual(await profile.json(), { user: 'ada', application: 'first' })

  // The application refreshes its tokens.
  const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
  const refreshed = await send('/oauth2/token', refresh)
  assert.equal(refreshed.status, 200)
  const { access_token, refresh_token } = /** @type {Tokens} */ (await refreshed.json())
  assert.equal((await call(access_token)).status, 200)

  // It revokes them, and the route is closed.
  assert.equal((await send('/oauth2/revoke', { token: refresh_token })).status, 200)
  assert.equal((await call(access_token)).status, 401)
  assert.equal((await send('/oauth2/token', { grant_type: 'refresh_token', refresh_token })).status, 400)
})

test('the placeholder sign-in works on this machine alone', () => {
  const store = memoryStore()
  assert.throws(() => createService({ issuer: 'https://git.example', store }), /replace placeholderSignIn/)
})
`

const HELPERS = `
/** Opens a browser that keeps cookies and follows no redirect. */
function openBrowser() {
  const cookies = new Map()
  return async (/** @type {string} */ url, /** @type {Record<string, string> | undefined} */ form = undefined) => {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies.values()].join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      cookies.set(pair.split('=')[0], pair)
    }
    const location = new URL(response.headers.get('location') ?? '', url).href
    return { location, html: await response.text() }
  }
}

/** Returns the hidden fields of a form. */
function hiddenFields(/** @type {string} */ html) {
  const inputs = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)
  return Object.fromEntries(Array.from(inputs, ([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]))
}

/** Finds a port that is free. The issuer must be known before the service listens. */
async function freePort() {
  const probe = createServer()
  await once(probe.listen(0, '127.0.0.1'), 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
  await once(probe.close(), 'close')
  return port
}
`

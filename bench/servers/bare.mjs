// The floor: node:http alone, with the least that any honest endpoint does. A form; Basic, with a constant-time comparison of digests;
// tokens found and kept by their SHA-256; two new random tokens; JSON. No check of the protocol beyond these, and nothing is remembered
// that would tell a replay, end a family of tokens or answer a retry. On an engine it is the same, and before each answer makes as many
// round trips as grantwell does, of as many bytes, which are read and written by their keys and looked at by nobody.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import http from 'node:http'
import { CLIENT } from '../client.mjs'
import { openTrips } from '../stores/open.mjs'

const sha256 = (text) => createHash('sha256').update(text).digest('base64url')
const fresh = () => randomBytes(32).toString('base64url')
const json = { 'content-type': 'application/json;charset=UTF-8', 'cache-control': 'no-store', pragma: 'no-cache' }

/** What comes to the token endpoint. */
const OPERATIONS = {
  refresh_token: 'refresh',
  authorization_code: 'exchange',
  'urn:ietf:params:oauth:grant-type:device_code': 'device poll',
}

export async function start({ port, store = 'memory' }) {
  const trips = store === 'memory' ? undefined : await openTrips(store)
  const secretDigest = createHash('sha256').update(CLIENT.secret).digest()
  const access = new Map()
  const refresh = new Map()
  const codes = new Map()
  const devices = new Map()
  const issue = () => {
    const pair = { access_token: fresh(), refresh_token: fresh() }
    const record = { subject: 'u', client: CLIENT.id }
    access.set(sha256(pair.access_token), { ...record, until: Date.now() + 28_800_000 })
    refresh.set(sha256(pair.refresh_token), { ...record, until: Date.now() + 15_552_000_000 })
    return pair
  }
  const answer = (response, status, body) => response.writeHead(status, json).end(body)
  const refuse = (response, error, status = 400) => answer(response, status, JSON.stringify({ error }))

  const grants = {
    refresh_token: (form, response) =>
      refresh.delete(sha256(form.get('refresh_token') ?? '')) ? give(response) : refuse(response, 'invalid_grant'),
    authorization_code: (form, response) => {
      const key = sha256(form.get('code') ?? '')
      const found = codes.get(key)
      codes.delete(key)
      const sound =
        found?.redirectUri === form.get('redirect_uri') && found.challenge === sha256(form.get('code_verifier') ?? '')
      return sound && found.until > Date.now() ? give(response) : refuse(response, 'invalid_grant')
    },
    'urn:ietf:params:oauth:grant-type:device_code': (form, response) => {
      const found = devices.get(sha256(form.get('device_code') ?? ''))
      if (found === undefined) return refuse(response, 'invalid_grant')
      const before = found.polledAt
      found.polledAt = Date.now()
      return refuse(response, found.polledAt < before + 5_000 ? 'slow_down' : 'authorization_pending')
    },
  }
  const give = (response) =>
    answer(
      response,
      200,
      JSON.stringify({ ...issue(), token_type: 'bearer', expires_in: 28_800, scope: 'repo-code:rw' }),
    )

  const server = http.createServer((request, response) => {
    if (request.url === '/api')
      return trips === undefined ? admit(request, response) : trips('guard').then(() => admit(request, response))
    const parts = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(parts).toString())
      if (trips === undefined) return carryOut(request, form, response)
      const operation = request.url === '/token' ? OPERATIONS[form.get('grant_type')] : request.url.slice(1)
      trips(operation).then(() => carryOut(request, form, response))
    })
  })
  const admit = (request, response) => {
    const found = access.get(sha256((request.headers.authorization ?? '').slice(7)))
    if (!found || found.until <= Date.now()) return refuse(response, 'invalid_token', 401)
    answer(response, 200, JSON.stringify({ sub: found.subject, client_id: found.client }))
  }
  const carryOut = (request, form, response) => {
    const credentials = Buffer.from((request.headers.authorization ?? '').slice(6), 'base64').toString()
    const [id, secret] = credentials.split(':')
    const presented = createHash('sha256')
      .update(secret ?? '')
      .digest()
    if (id !== CLIENT.id || !timingSafeEqual(presented, secretDigest)) return refuse(response, 'invalid_client', 401)
    if (request.url === '/token') {
      const grant = grants[form.get('grant_type')]
      return grant === undefined ? refuse(response, 'unsupported_grant_type') : grant(form, response)
    }
    const key = sha256(form.get('token') ?? '')
    if (request.url === '/revoke') {
      refresh.delete(key)
      access.delete(key)
      return answer(response, 200, '')
    }
    const found = access.get(key)
    const active = found && found.until > Date.now()
    const body = active
      ? { active: true, sub: found.subject, client_id: found.client, scope: 'repo-code:rw' }
      : { active: false }
    answer(response, 200, JSON.stringify(body))
  }
  await new Promise((listening) => server.listen(port, '127.0.0.1', listening))
  const until = () => Date.now() + 600_000
  const make = {
    pairs: issue,
    codes: () => {
      const seed = { code: fresh(), code_verifier: fresh() }
      codes.set(sha256(seed.code), {
        redirectUri: CLIENT.redirectUri,
        challenge: sha256(seed.code_verifier),
        until: until(),
      })
      return seed
    },
    deviceCodes: () => {
      const device_code = fresh()
      devices.set(sha256(device_code), { polledAt: 0, until: until() })
      return { device_code }
    },
  }
  return {
    token: '/token',
    revoke: '/revoke',
    introspect: '/introspect',
    api: '/api',
    deviceGrant: true,
    replay: 'refused',
    seed: (kind, count) => Array.from({ length: count }, make[kind]),
  }
}

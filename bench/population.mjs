/**
 * Many grants without a page of HTML: made by the public pure transitions and written as a server writes them, each of a user of its
 * own. Their secrets follow from their numbers, so that the driver knows the tokens of a million grants without being sent them.
 */
import { createHash } from 'node:crypto'
import { serviceScopes } from 'grantwell'
import { CREDENTIAL_PREFIXES, clientKeyOf, parseClientId, parseCredential, retention, transition } from 'grantwell/core'
import { nodeDigests } from 'grantwell/node'
import { basic, CLIENT } from './client.mjs'
import { WrongAnswer } from './operations.mjs'

/** The defaults of a server. */
export const RULES = {
  catalogue: serviceScopes(),
  codeLifetime: 600,
  accessTokenLifetime: 28_800,
  refreshTokenLifetime: 15_552_000,
  gracePeriod: 300,
  refreshReplay: 'revoke',
  deviceCodeLifetime: 600,
  devicePollingInterval: 5,
  digests: nodeDigests,
}
export const SCOPES = ['repo-code:rw', 'account-profile:r']

const clientId = parseClientId(CLIENT.id)
const clientKey = clientKeyOf(nodeDigests, clientId)
const verifier = 'bench-verifier-0123456789-0123456789-0123456789'

export const subjectOf = (number) => `user-${number}`
const digestOf = (algorithm, text) => new Uint8Array(createHash(algorithm).update(text).digest())
const grantIdOf = (number) => Buffer.from(digestOf('sha256', `grant ${number}`).subarray(0, 16))
/** What a grant's first pair is made of. */
const secretsOf = (number) => digestOf('sha512', `secrets ${number}`)

/** A grant as it is after the exchange of its code. */
export function grantOf(number, now) {
  const approval = {
    type: 'approve',
    grantId: grantIdOf(number).toString('base64url'),
    clientId,
    clientKey,
    subject: subjectOf(number),
    scopes: [...SCOPES],
    resources: { kind: 'all' },
    redirectUri: Buffer.from(CLIENT.redirectUri).toString(), // a text of its own, as requests bring it
    codeChallenge: nodeDigests.sha256(verifier),
    formExpiresAt: now + 600,
    formSecret: digestOf('sha256', `form ${number}`),
  }
  const approved = transition(undefined, approval, now, digestOf('sha512', `code ${number}`), RULES)
  const exchange = {
    type: 'exchange',
    credential: parseCredential(approved.reply.code),
    clientId,
    registered: SCOPES,
    codeVerifier: verifier,
  }
  return transition(approved.grant, exchange, now, secretsOf(number), RULES).grant
}

/** Its first pair, as its client has it: behind its prefix, a token is the client's key, the grant's identifier and the secret. */
export function pairOf(number) {
  const secrets = secretsOf(number)
  const print = (kind, secret) =>
    CREDENTIAL_PREFIXES[kind] +
    clientKey +
    grantIdOf(number).toString('base64url') +
    Buffer.from(secret).toString('base64url')
  return {
    access_token: print('access_token', secrets.subarray(0, 32)),
    refresh_token: print('refresh_token', secrets.subarray(32)),
  }
}

/** The same grant after a refresh with a token of it, and the token that it gave; nothing where too many pairs are in grace. */
export function refreshed({ grant, token }, now, entropy) {
  const credential = parseCredential(token)
  const { reply, grant: after } = transition(
    grant,
    { type: 'refresh', credential, clientId, registered: SCOPES },
    now,
    entropy,
    RULES,
  )
  if (reply.type === 'tokens') return { grant: after, token: reply.refreshToken }
  if (reply.status === 429) return undefined
  throw new Error(`not refreshed: ${reply.reason}`)
}

/** Writes a grant over one of a version, 0 for none. */
export function put(store, grant, expected) {
  const labels = [`subject:${grant.subject}`, `client:${grant.clientId}`]
  return store.write(`grant:${grant.id}`, grant, { expected, expiresAt: retention(grant), labels })
}

/** Writes the grants of these numbers, some at a time. */
export async function populate(store, from, to, now) {
  for (let at = from; at < to; at += 50) {
    const some = Array.from({ length: Math.min(50, to - at) }, (_, index) => put(store, grantOf(at + index, now), 0))
    if ((await Promise.all(some)).includes(false)) throw new Error('a grant was there before')
  }
}

/** The pairs of so many grants from a number on, drawn by lot, in turn: each rests as long as it can. */
export function sampleOf(grants, size, from = 0) {
  const numbers = new Set()
  while (numbers.size < Math.min(grants - from, size)) numbers.add(from + Math.floor(Math.random() * (grants - from)))
  const pairs = Array.from(numbers, (number) => ({ ...pairOf(number), sub: subjectOf(number) }))
  let at = 0
  return () => pairs[at++ % pairs.length]
}

/** A request about a pair, which is kept up to date; a wrong answer ends the run. */
export const REQUESTS = {
  refresh: async (server, pair) => {
    const { refresh_token } = pair
    const answer = await server.post(server.token, { grant_type: 'refresh_token', refresh_token })
    if (answer.status !== 200) throw new WrongAnswer('refresh', answer)
    const { body } = answer
    if (!body.access_token || body.refresh_token === refresh_token) throw new WrongAnswer('refresh', answer)
    pair.access_token = body.access_token
    pair.refresh_token = body.refresh_token
  },
  guard: async (server, pair) => {
    const answer = await server.get(server.api, `Bearer ${pair.access_token}`)
    if (answer.status !== 200 || answer.body.sub !== pair.sub) throw new WrongAnswer('guard', answer)
  },
  introspect: async (server, pair) => {
    const answer = await server.post(server.introspect, { token: pair.access_token }, basic(server.introspector))
    if (answer.status !== 200 || answer.body.sub !== pair.sub) throw new WrongAnswer('introspect', answer)
  },
}

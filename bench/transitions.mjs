// What each pure transition costs, in SHA-256 digests of 32 bytes, which makes machines comparable.
//   npm run bench:transitions
import { hash, randomBytes } from 'node:crypto'
import { portableDigests, serviceScopes } from 'grantwell'
import { clientKeyOf, inspect, parseClientId, parseCredential, transition } from 'grantwell/core'
import { nodeDigests } from 'grantwell/node'

const GRANTS = 2000
const ROUNDS = 100
const now = 1_800_000_000
const clientId = parseClientId('bench')
const block = randomBytes(32)
const UNIT = 'digest'
const SCOPES = ['repo-code:rw', 'account-profile:r']

/** Grants at each stage of their life, and the commands that come next. */
function lives(digests) {
  const rules = {
    catalogue: serviceScopes(),
    codeLifetime: 600,
    accessTokenLifetime: 28_800,
    refreshTokenLifetime: 15_552_000,
    gracePeriod: 300,
    refreshReplay: 'revoke',
    digests,
  }
  // Entropy is the shell's to draw; one transition does with its 64 bytes what it does with any other.
  const entropy = new Uint8Array(randomBytes(64))
  const apply = (grant, command, at = now) => transition(grant, command, at, entropy, rules)
  return Array.from({ length: GRANTS }, () => {
    const approve = {
      type: 'approve',
      grantId: randomBytes(16).toString('base64url'),
      clientId,
      clientKey: clientKeyOf(digests, clientId),
      subject: 'ada',
      scopes: SCOPES,
      resources: { kind: 'all' },
      redirectUri: 'https://app.example/callback',
      formExpiresAt: now + 600,
      formSecret: randomBytes(32),
    }
    const approved = apply(undefined, approve)
    const code = parseCredential(approved.reply.code)
    const exchanged = apply(approved.grant, { type: 'exchange', credential: code, clientId, registered: SCOPES })
    const access = parseCredential(exchanged.reply.accessToken)
    const refresh = parseCredential(exchanged.reply.refreshToken)
    const refreshed = apply(exchanged.grant, { type: 'refresh', credential: refresh, clientId, registered: SCOPES })
    return { approve, code, access, refresh, approved, exchanged, refreshed, apply }
  })
}

/**
 * What each operation costs in digests. A machine's speed changes from one moment to the next, so all of them take turns with the
 * digest, a round each, and of every one the quickest round counts: what is slower was disturbed.
 */
function measure(digests) {
  const all = lives(digests)
  const { apply } = all[0]
  const rows = {
    'validate (parse and inspect)': ({ exchanged }) =>
      inspect(exchanged.grant, parseCredential(exchanged.reply.accessToken), now, digests),
    approve: ({ approve }) => apply(undefined, approve),
    exchange: ({ approved, code }) =>
      apply(approved.grant, { type: 'exchange', credential: code, clientId, registered: SCOPES }),
    refresh: ({ exchanged, refresh }) =>
      apply(exchanged.grant, { type: 'refresh', credential: refresh, clientId, registered: SCOPES }),
    'refresh again, in grace': ({ refreshed, refresh }) =>
      apply(refreshed.grant, { type: 'refresh', credential: refresh, clientId, registered: SCOPES }),
    'refresh after grace (replay)': ({ refreshed, refresh }) =>
      apply(refreshed.grant, { type: 'refresh', credential: refresh, clientId, registered: SCOPES }, now + 300),
    'revoke the access token': ({ exchanged, access }) =>
      apply(exchanged.grant, { type: 'revoke', credential: access, clientId }),
    'revoke the grant': ({ exchanged, refresh }) =>
      apply(exchanged.grant, { type: 'revoke', credential: refresh, clientId }),
  }
  const best = {}
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, operation] of Object.entries({ ...rows, [UNIT]: () => hash('sha256', block, 'base64url') })) {
      const begun = process.hrtime.bigint()
      for (let index = 0; index < GRANTS; index++) operation(all[index])
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, Number(process.hrtime.bigint() - begun) / GRANTS)
    }
  }
  return best
}

const byNode = measure(nodeDigests)
const portable = measure(portableDigests)
console.log(`one SHA-256 of 32 bytes (node:crypto): ${Math.round(byNode[UNIT])} ns\n`)
console.table(
  Object.fromEntries(
    Object.keys(byNode)
      .filter((name) => name !== UNIT)
      .map((name) => [
        name,
        {
          'nodeDigests, digests': Number((byNode[name] / byNode[UNIT]).toFixed(1)),
          'portableDigests, digests': Number((portable[name] / portable[UNIT]).toFixed(1)),
        },
      ]),
  ),
)

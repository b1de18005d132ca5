// What each pure transition costs, in SHA-256 digests of 32 bytes, which makes machines comparable.
//   npm run bench:transitions
import { hash, randomBytes } from 'node:crypto'
import { clientKeyOf, inspect, parseClientId, parseCredential, portableDigests, transition } from 'grantwell'
import { nodeDigests } from 'grantwell/node'

const GRANTS = 2000
const ROUNDS = 40
const now = 1_800_000_000
const clientId = parseClientId('bench')

/** The quickest of many rounds, in nanoseconds an operation: what is slower was disturbed. */
function cost(operation) {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const begun = process.hrtime.bigint()
    for (let index = 0; index < GRANTS; index++) operation(index)
    best = Math.min(best, Number(process.hrtime.bigint() - begun) / GRANTS)
  }
  return best
}

/** Grants at each stage of their life, and the commands that come next. */
function lives(digests) {
  const rules = {
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
      scopes: ['repo-code:rw', 'account-profile:r'],
      resources: { kind: 'all' },
      redirectUri: 'https://app.example/callback',
      consentExpiresAt: now + 600,
    }
    const approved = apply(undefined, approve)
    const code = parseCredential(approved.reply.code)
    const exchanged = apply(approved.grant, { type: 'exchange', credential: code, clientId })
    const access = parseCredential(exchanged.reply.accessToken)
    const refresh = parseCredential(exchanged.reply.refreshToken)
    const refreshed = apply(exchanged.grant, { type: 'refresh', credential: refresh, clientId })
    return { approve, code, access, refresh, approved, exchanged, refreshed, apply }
  })
}

function measure(digests) {
  const all = lives(digests)
  const { apply } = all[0]
  const rows = {
    'validate (parse and inspect)': ({ exchanged }) =>
      inspect(exchanged.grant, parseCredential(exchanged.reply.accessToken), now, digests),
    approve: ({ approve }) => apply(undefined, approve),
    exchange: ({ approved, code }) => apply(approved.grant, { type: 'exchange', credential: code, clientId }),
    refresh: ({ exchanged, refresh }) => apply(exchanged.grant, { type: 'refresh', credential: refresh, clientId }),
    'refresh again, in grace': ({ refreshed, refresh }) =>
      apply(refreshed.grant, { type: 'refresh', credential: refresh, clientId }),
    'refresh after grace (replay)': ({ refreshed, refresh }) =>
      apply(refreshed.grant, { type: 'refresh', credential: refresh, clientId }, now + 300),
    'revoke the access token': ({ exchanged, access }) =>
      apply(exchanged.grant, { type: 'revoke', credential: access, clientId }),
    'revoke the grant': ({ exchanged, refresh }) =>
      apply(exchanged.grant, { type: 'revoke', credential: refresh, clientId }),
  }
  return Object.fromEntries(
    Object.entries(rows).map(([name, operation]) => [name, cost((index) => operation(all[index]))]),
  )
}

const block = randomBytes(32)
const digest = cost(() => hash('sha256', block, 'base64url'))
const measured = { nodeDigests: measure(nodeDigests), portableDigests: measure(portableDigests) }
console.log(`one SHA-256 of 32 bytes (node:crypto): ${Math.round(digest)} ns\n`)
console.table(
  Object.fromEntries(
    Object.keys(measured.nodeDigests).map((name) => [
      name,
      {
        'nodeDigests, digests': Number((measured.nodeDigests[name] / digest).toFixed(1)),
        'portableDigests, digests': Number((measured.portableDigests[name] / digest).toFixed(1)),
      },
    ]),
  ),
)

/**
 * The code of the page "The one idea".
 * @module
 */
// #region imports
import type { JsonValue, RecordStore } from 'grantwell'
import type { ApproveCommand, ExchangeCommand, Grant, GrantRules } from 'grantwell/core'
import { ENTROPY_BYTES, portableDigests, serviceScopes, transition } from 'grantwell/core'
// #endregion imports
import { clientKeyOf, parseClientId, parseCredential, parseGrantId } from 'grantwell/core'
import { memoryStore } from 'grantwell/storage/memory'
import { expect, test } from 'vitest'

// #region rules
const rules: GrantRules = {
  catalogue: serviceScopes(),
  codeLifetime: 600,
  accessTokenLifetime: 28_800,
  refreshTokenLifetime: 15_552_000,
  gracePeriod: 300,
  refreshReplay: 'revoke',
  deviceCodeLifetime: 600,
  devicePollingInterval: 5,
  digests: portableDigests,
}
const entropy = () => crypto.getRandomValues(new Uint8Array(ENTROPY_BYTES))
// #endregion rules

// #region loop
/** Reads a grant, applies a command, and writes it back if nobody else wrote meanwhile; else begins anew. */
async function apply(store: RecordStore, key: string, command: ApproveCommand | ExchangeCommand, now: number) {
  for (;;) {
    const [record] = await store.read([key])
    const grant = record?.value as unknown as Grant | undefined
    const outcome = transition(grant, command, now, entropy(), rules)
    if (outcome.grant === undefined) return outcome.reply
    const value = outcome.grant as unknown as JsonValue
    if (await store.write(key, value, { expected: record?.version ?? 0 })) return outcome.reply
  }
}
// #endregion loop

const clientId = parseClientId('mirror')
const grantId = parseGrantId('AAAAAAAAAAAAAAAAAAAAAA')
if (clientId === undefined || grantId === undefined) throw new Error('no identifiers')

const approve: ApproveCommand = {
  type: 'approve',
  grantId,
  clientId,
  clientKey: clientKeyOf(portableDigests, clientId),
  subject: 'ada',
  scopes: ['repo-code:r'],
  resources: { kind: 'all' },
  redirectUri: 'https://mirror.example/callback',
  formExpiresAt: 600,
  formSecret: crypto.getRandomValues(new Uint8Array(32)),
}

/** A store whose every answer comes a moment later, so that requests meet in it. */
function slow(store: RecordStore): RecordStore {
  return {
    read: async (keys) => store.read(keys),
    write: async (...write) => store.write(...write),
    list: async (...list) => store.list(...list),
  }
}

async function codeIn(store: RecordStore) {
  const approved = await apply(store, 'grant', approve, 0)
  const code = 'code' in approved && approved.type !== 'error' ? parseCredential(approved.code) : undefined
  if (code === undefined) throw new Error('no code')
  return code
}

test('ten requests with one code get tokens once', async () => {
  const store = slow(memoryStore())
  const credential = await codeIn(store)
  if (clientId === undefined) throw new Error('no client')
  // #region race
  const exchange: ExchangeCommand = { type: 'exchange', credential, clientId, registered: ['repo-code:r'] }
  const replies = await Promise.all(Array.from({ length: 10 }, () => apply(store, 'grant', exchange, 60)))
  const withTokens = replies.filter(({ type }) => type === 'tokens') // one of ten
  // #endregion race
  expect(withTokens).toHaveLength(1)
  const [record] = await store.read(['grant'])
  expect(record?.value).toMatchObject({ revokedAt: 60 })
})

test('the same input gives the same output', async () => {
  const store = memoryStore()
  const credential = await codeIn(store)
  const [record] = await store.read(['grant'])
  const grant = record?.value as unknown as Grant
  if (clientId === undefined) throw new Error('no client')
  const exchange: ExchangeCommand = { type: 'exchange', credential, clientId, registered: ['repo-code:r'] }
  const bytes = entropy()
  expect(transition(grant, exchange, 599, bytes, rules)).toEqual(transition(grant, exchange, 599, bytes, rules))
  expect(transition(grant, exchange, 599, bytes, rules).reply.type).toBe('tokens')
  expect(transition(grant, exchange, 600, bytes, rules).reply).toMatchObject({ type: 'error', code: 'invalid_grant' })
})

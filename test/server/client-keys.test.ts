/**
 * The keys of applications that are kept by client identifiers.
 * @module
 */
import { expect, it, vi } from 'vitest'
import { nodeDigests } from '../../src/adapters/node/digests.js'
import { clientKeyOf } from '../../src/core/credentials/digests.js'
import type { ClientId } from '../../src/core/values.js'
import { createClientKeys, KEPT_MAX } from '../../src/shell/records/client-keys.js'

const ids = Array.from({ length: 3 * KEPT_MAX }, (_, index) => `client ${index}` as ClientId)

it('gives each client its own key, however many others ask in between', () => {
  const keyOf = createClientKeys(nodeDigests)
  for (const id of [...ids, ...ids.toReversed(), ...ids]) expect(keyOf(id)).toBe(clientKeyOf(nodeDigests, id))
})

it('digests an identifier once while it is kept, and keeps a limited number', () => {
  const sha256 = vi.fn(nodeDigests.sha256)
  const keyOf = createClientKeys({ ...nodeDigests, sha256 })
  const [first = '' as ClientId, ...others] = ids
  keyOf(first)
  keyOf(first)
  expect(sha256).toHaveBeenCalledTimes(1)
  for (const id of others.slice(0, KEPT_MAX)) keyOf(id)
  keyOf(first)
  expect(sha256).toHaveBeenCalledTimes(1 + KEPT_MAX + 1)
})

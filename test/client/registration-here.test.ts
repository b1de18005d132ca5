/**
 * Registration of a client by itself, at a server of ours: both ends together.
 * @module
 * @see RFC 7591; RFC 7592
 */
import { deleteRegistration, discover, readRegistration, registerClient } from 'grantwell/client'
import { memoryStore } from 'grantwell/storage/memory'
import { afterEach, expect, it } from 'vitest'
import type { Service } from './service.js'
import { openService, thrownBy } from './service.js'

const open: Service[] = []
afterEach(async () => {
  for (const service of open.splice(0)) await service.close()
})

async function openRegistry(policy: 'approve' | 'review' | 'refuse' = 'approve'): Promise<Service> {
  const service = await openService(() => ({
    store: memoryStore(),
    clock: () => Math.floor(Date.now() / 1000),
    clientPolicy: () => policy,
  }))
  open.push(service)
  return service
}

const METADATA = { client_name: 'My tool', redirect_uris: ['http://127.0.0.1/callback'] } as const

it('registers, reads and deletes a client, with a secret and without', async () => {
  const { issuer } = await openRegistry()
  for (const token_endpoint_auth_method of ['none', 'client_secret_basic', 'client_secret_post']) {
    const made = await registerClient({ issuer, metadata: { ...METADATA, token_endpoint_auth_method } })
    expect(made.metadata).toMatchObject({ ...METADATA, token_endpoint_auth_method })
    expect(made.credentials.clientSecret === undefined).toBe(token_endpoint_auth_method === 'none')
    expect(await discover({ issuer, ...made.credentials })).toBeDefined()
    expect(await readRegistration(made)).toEqual(made)
    await deleteRegistration(made)
    expect(await thrownBy(readRegistration(made))).toMatchObject({ code: 'ERR_RESPONSE' })
  }
})

it('is told why it is refused', async () => {
  const { issuer } = await openRegistry()
  const wrong = { ...METADATA, redirect_uris: ['http://tool.example/callback'] }
  expect(await thrownBy(registerClient({ issuer, metadata: wrong }))).toMatchObject({
    code: 'ERR_RESPONSE',
    error: 'invalid_redirect_uri',
  })
  const { issuer: closed } = await openRegistry('refuse')
  expect(await thrownBy(registerClient({ issuer: closed, metadata: METADATA }))).toMatchObject({
    code: 'ERR_RESPONSE',
    error: 'access_denied',
  })
})

it('has its credentials while it waits for an administrator', async () => {
  const { issuer, test } = await openRegistry('review')
  const made = await registerClient({ issuer, metadata: METADATA })
  await test.server.applications.approve(made.credentials.clientId, { revision: 1 })
  expect(await readRegistration(made)).toEqual(made)
})

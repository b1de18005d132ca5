/**
 * The limits on clients that register themselves, and on the documents that are fetched for others.
 * @module
 * @see RFC 7591, section 5
 */
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../support.js'
import { CALLBACK, documentServer, openFor } from './client-documents.js'
import { askToRegister, NATIVE_CLIENT, openServer } from './registration.js'

/** A server that believes whatever address it is told. */
async function addressedServer(): Promise<TestServer & { address: string | undefined }> {
  const state = { address: '192.0.2.1' as string | undefined }
  const test = await openServer({ remoteAddress: () => state.address })
  return Object.assign(state, test)
}

/** Registers until the server refuses; returns how many it took, and its last answer. */
async function registerAll(test: TestServer, most = 2000) {
  for (let taken = 0; taken <= most; taken++) {
    const answer = await askToRegister(test, NATIVE_CLIENT)
    if (answer.status !== 201)
      return {
        taken,
        status: answer.status,
        retryAfter: answer.headers['Retry-After'],
        body: JSON.parse(String(answer.body)),
      }
  }
  throw new Error('no limit')
}

describe('registrations', () => {
  it('[58] are 20 at once from one address, and one more every three minutes; others go on', async () => {
    const test = await addressedServer()
    expect(await registerAll(test)).toEqual({
      taken: 20,
      status: 429,
      retryAfter: '180',
      body: {
        error: 'temporarily_unavailable',
        error_description: 'Too many clients registered in too short a time.',
      },
    })
    expect(test.events.at(-1)).toMatchObject({
      type: 'refused',
      endpoint: 'registration',
      reason: 'too_many_attempts',
    })
    test.clock.now += 180
    expect((await registerAll(test)).taken).toBe(1)
    test.address = '192.0.2.2'
    expect((await registerAll(test)).taken).toBe(20)
  })

  it('are counted by the first 64 bits of an IPv6 address', async () => {
    const test = await addressedServer()
    test.address = '2001:db8::1'
    expect((await registerAll(test)).taken).toBe(20)
    test.address = '2001:db8::ffff:2'
    expect((await registerAll(test)).taken).toBe(0)
    test.address = '2001:db8:0:1::1'
    expect((await registerAll(test)).taken).toBe(20)
  })

  it('[58] are 1,000 at once from all addresses, and one more every half minute, known or not', async () => {
    const test = await addressedServer()
    for (let host = 0; host < 50; host++) {
      test.address = `198.51.100.${host}`
      // What is beyond the limit of its address does not count for all.
      expect((await registerAll(test)).taken).toBe(20)
    }
    for (const address of ['203.0.113.1', undefined]) {
      test.address = address
      expect(await registerAll(test)).toMatchObject({ taken: 0, status: 429, retryAfter: '30' })
    }
    test.clock.now += 30
    expect((await registerAll(test)).taken).toBe(1)
  })

  it('that say something wrong do not count', async () => {
    const test = await addressedServer()
    for (let turn = 0; turn < 30; turn++) expect((await askToRegister(test, '{')).status).toBe(400)
    expect((await registerAll(test)).taken).toBe(20)
  })

  it('are counted by the host where it wants to', async () => {
    const asked: unknown[] = []
    const registrationLimiter = (attempt: unknown) => {
      asked.push(attempt)
      return asked.length > 2 ? 7 : 0
    }
    const test = await openServer({ registrationLimiter, remoteAddress: () => '192.0.2.1' })
    expect(await registerAll(test)).toMatchObject({ taken: 2, status: 429, retryAfter: '7' })
    expect(asked).toEqual(Array.from({ length: 3 }, () => ({ address: '192.0.2.1' })))
  })
})

describe('documents that are fetched', () => {
  it('[58] count as registrations, whatever is found', async () => {
    const test = await documentServer({ remoteAddress: () => '192.0.2.1' })
    for (let turn = 0; turn < 20; turn++)
      expect((await openFor(test, `https://tool.example/${turn}.json`)).status).toBe(400)
    const page = await openFor(test, 'https://tool.example/20.json', CALLBACK)
    expect([page.status, page.headers['Retry-After']]).toEqual([429, '180'])
    expect(test.fetched).toHaveLength(20)
  })
})

/**
 * How often the store is asked for clients that registered themselves.
 * @module
 * @see DESIGN, "Cost, which is also the bar"
 */
import { describe, expect, it } from 'vitest'
import { CALLBACK, CLIENT_URL, documentOf, openFor } from '../protocol/client-documents.js'
import { askOwn, askToRegister, NATIVE_CLIENT, parametersOf, register, tokensOf } from '../protocol/registration.js'
import { call, exchange, openConsent, post, refresh, VERIFIER } from '../support.js'
import { tripsOf, watchedServer } from './helpers.js'

const DAY = 86_400

const NONE = { reads: 0, writes: 0 }
const READ = { reads: 1, writes: 0 }
const READ_AND_WRITE = { reads: 1, writes: 1 }
const approving = { clientPolicy: () => 'approve' as const }

describe('a client that registers itself', () => {
  it('costs 1 read and 1 write for its record, as many for each limit that counts it, and 1 read before an address is counted', async () => {
    const test = await watchedServer(approving)
    expect(await tripsOf(test, () => register(test))).toStrictEqual({ reads: 2, writes: 2 })
    const known = await watchedServer({ ...approving, remoteAddress: () => '192.0.2.1' })
    expect(await tripsOf(known, () => register(known))).toStrictEqual({ reads: 4, writes: 3 })
    const limited = await watchedServer({ ...approving, registrationLimiter: () => 0 })
    expect(await tripsOf(limited, () => register(limited))).toStrictEqual(READ_AND_WRITE)
  })

  it('costs nothing where it is malformed, and 2 reads where its address is beyond the limit', async () => {
    const test = await watchedServer({ ...approving, remoteAddress: () => '192.0.2.1' })
    expect(await tripsOf(test, () => askToRegister(test, { ...NATIVE_CLIENT, redirect_uris: [] }))).toStrictEqual(NONE)
    for (let count = 0; count < 20; count++) await register(test)
    expect(await tripsOf(test, () => askToRegister(test, NATIVE_CLIENT))).toStrictEqual({ reads: 2, writes: 0 })
  })

  it('reads its registration by 1 read, and deletes it by 1 write more', async () => {
    const test = await watchedServer(approving)
    const made = await register(test)
    const stranger = { ...made, registration_access_token: `gwm_${'A'.repeat(43)}` }
    expect(await tripsOf(test, () => askOwn(test, 'GET', made))).toStrictEqual(READ)
    expect(await tripsOf(test, () => askOwn(test, 'DELETE', stranger))).toStrictEqual(READ)
    expect(await tripsOf(test, () => askOwn(test, 'DELETE', made))).toStrictEqual(READ_AND_WRITE)
  })

  it('costs as much as any other from then on, and once a week 1 read and 1 write more', async () => {
    const test = await watchedServer(approving)
    const { client_id: clientId } = await register(test)
    const redirectUri = 'http://127.0.0.1:5000/callback'
    const { fields, headers } = await openConsent(test, parametersOf(clientId, redirectUri))
    const answer = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    const code = new URL(answer.headers['Location'] ?? 'none:').searchParams.get('code') ?? ''
    const form = { redirect_uri: redirectUri, code_verifier: VERIFIER }
    // The first token lengthens the week of a client that nobody uses.
    let access_token = ''
    let refresh_token = ''
    const keep = ({ body }: Awaited<ReturnType<typeof exchange>>) => {
      access_token = body.access_token
      refresh_token = body.refresh_token
    }
    const first = async () => keep(await exchange(test, code, form, { clientId }))
    expect(await tripsOf(test, first)).toStrictEqual({ reads: 2, writes: 2 })
    expect(await tripsOf(test, () => call(test, access_token))).toStrictEqual(READ)
    const counts: number[] = []
    for (let day = 0; day < 15; day++) {
      const again = async () => keep(await refresh(test, refresh_token, {}, { clientId }))
      const { reads, writes } = await tripsOf(test, again)
      expect(reads).toBe(writes)
      counts.push(writes)
      test.clock.now += DAY
    }
    expect(counts).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1])
  })
})

describe('a client whose identifier is a URL', () => {
  it('costs a fetch once for each time that its document is due, and otherwise as much as any other', async () => {
    let fetched = 0
    const fetchClientMetadata = async () => {
      fetched++
      return documentOf()
    }
    const test = await watchedServer({ ...approving, registrationLimiter: () => 0, fetchClientMetadata })
    const consentPage = await tripsOf(test, () => openFor(test))
    expect([consentPage, fetched]).toStrictEqual([{ reads: 2, writes: 1 }, 1])
    expect([await tripsOf(test, () => openFor(test)), fetched]).toStrictEqual([READ, 1])
    const { access_token, refresh_token } = await tokensOf(test, CLIENT_URL, CALLBACK)
    expect(await tripsOf(test, () => call(test, access_token))).toStrictEqual(READ)
    const again = () => refresh(test, refresh_token, {}, { clientId: CLIENT_URL })
    expect(await tripsOf(test, again)).toStrictEqual(READ_AND_WRITE)
    // The page now says what the user permitted before, which is one read more.
    expect([await tripsOf(test, () => openFor(test)), fetched]).toStrictEqual([{ reads: 2, writes: 0 }, 1])
    test.clock.now += 3600
    expect([await tripsOf(test, () => openFor(test)), fetched]).toStrictEqual([{ reads: 3, writes: 1 }, 2])
  })
})

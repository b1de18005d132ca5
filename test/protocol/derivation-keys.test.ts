/**
 * The change of the derivation key: introduced, changed and retired while servers with the old and the new list run side by side.
 * @module
 */
import type { AuthorizationServerOptions } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../support.js'
import { guard, ISSUER, openConsent, post, refresh, testServer, tokens } from '../support.js'
import { codesOf, decide, told } from './device-form.js'
import type { MacTokens } from './mac-client.js'
import { macTokens, SIGNER, signedParts, signedRequest, withSigner } from './mac-client.js'

type Keys = AuthorizationServerOptions['derivationKey']

const keyOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const [A, B, C] = [keyOf(1), keyOf(2), keyOf(3)]

/** Makes a server with these keys over the store of a test. */
function withKeys(test: TestServer, derivationKey: Keys, macTokens = false): TestServer {
  const server = createAuthorizationServer({
    issuer: ISSUER,
    store: test.store,
    clock: () => test.clock.now,
    user: () => test.session.user,
    signInUrl: () => '/sign-in',
    onError: (error) => test.errors.push(error),
    macTokens,
    grantLimit: 1000,
    ...(derivationKey !== undefined && { derivationKey }),
  })
  return { ...test, server }
}

/** The same steps as in docs/operations/keys.md: each server knows a key before another derives with it. */
const STEPS: readonly Keys[] = [
  undefined,
  ['none', A],
  [A, 'none'],
  A,
  [A, B],
  [B, A],
  B,
  [B, C],
  [C, B],
  C,
  [C, 'none'],
  ['none', C],
]

/** The keys of the server beside: of the same step, of the one before and of the one after. */
const BESIDE = STEPS.flatMap((keys, step) =>
  [step - 1, step, step + 1].flatMap((other) => (other in STEPS ? [{ step, keys, other, beside: STEPS[other] }] : [])),
)

describe('while servers of two neighbouring steps run side by side', () => {
  it.each(BESIDE)('a retry at step $other of what was first asked at step $step gets the same', async (row) => {
    const test = await testServer()
    const first = withKeys(test, row.keys)
    const second = withKeys(test, row.beside)

    const pair = await tokens(first)
    const { body } = await refresh(first, pair.refresh_token)
    expect((await refresh(second, pair.refresh_token)).body).toStrictEqual(body)

    const { fields, headers } = await openConsent(first)
    const agree = { ...fields, decision: 'agree' }
    const answered = await post(first.server, '/oauth2/auth', agree, headers)
    expect(answered.status).toBe(302)
    expect(await post(second.server, '/oauth2/auth', agree, headers)).toStrictEqual(answered)

    const codes = await codesOf(first)
    await decide(second, codes)
    expect(await told(second, codes)).toBe('tokens')
    expect(test.errors).toStrictEqual([])
  })
})

const MAC_STEPS: readonly (readonly [Uint8Array, ...Uint8Array[]])[] = [[A], [A, B], [B, A], [B], [B, C], [C, B], [C]]

/** Signs a request with a token, and asks a server about it. */
async function callWith(test: TestServer, pair: MacTokens): Promise<string> {
  return (await guard(test.server, signedRequest(pair, signedParts(test)))).type
}

describe('three keys in a row under load', () => {
  it('fail no retry in its grace, and end no token of the type mac early', async () => {
    const test = await withSigner(await testServer({ macTokens: true, derivationKey: A }))
    const live: { pair: MacTokens; expiresAt: number }[] = []
    let refreshes = 0
    for (const [step, keys] of MAC_STEPS.entries()) {
      const before = MAC_STEPS[step - 1] ?? keys
      // First beside servers of the step before, then alone for as long as a token lasts.
      for (let round = 0; round < 3 + 8; round++) {
        const servers = [keys, round < 3 ? before : keys].map((each) => withKeys(test, each, true))
        const [here, beside] = round % 2 === 0 ? servers : [...servers].reverse()
        if (here === undefined || beside === undefined) expect.fail('there are two servers')
        await Promise.all(
          Array.from({ length: 4 }, async () => {
            const pair = await macTokens(here)
            const { body } = await refresh(here, pair.refresh_token, {}, SIGNER)
            expect((await refresh(beside, pair.refresh_token, {}, SIGNER)).body).toStrictEqual(body)
            live.push({ pair: body as MacTokens, expiresAt: test.clock.now + body.expires_in }) // its client is registered for them
            refreshes++
          }),
        )
        for (const { pair } of live.filter(({ expiresAt }) => test.clock.now < expiresAt))
          for (const each of servers) expect(await callWith(each, pair), `step ${step}`).toBe('authenticated')
        test.clock.now += 3600
      }
    }
    expect(refreshes).toBe(7 * 11 * 4)
  })

  it('end what an older key derived, once that key is on no list', async () => {
    const test = await withSigner(await testServer({ macTokens: true, derivationKey: A }))
    const pair = await macTokens(test)
    const { body } = await refresh(test, pair.refresh_token, {}, SIGNER)
    const codes = await codesOf(test)
    const after = withKeys(test, [B, C], true)
    expect(await callWith(after, body as MacTokens)).toBe('refused') // its client is registered for them
    expect((await refresh(after, pair.refresh_token, {}, SIGNER)).body.error).toBe('invalid_grant')
    await expect(decide(after, codes)).rejects.toThrow('not decided')
    const fresh = await refresh(after, body.refresh_token, {}, SIGNER)
    expect(await callWith(after, fresh.body as MacTokens)).toBe('authenticated') // as above
  })
})

describe('a list of keys', () => {
  it.each([
    ['no key', []],
    ['no key but none', ['none']],
    ['a short key', [A, new Uint8Array(31)]],
    ['a word', [A, 'old']],
    ['nothing in a place', [A, undefined]],
  ] as const)('with %s is refused at the start', async (_, keys) => {
    const derivationKey = keys as unknown as Uint8Array[] // as a program without types has it
    await expect(testServer({ derivationKey })).rejects.toThrow(
      "the option derivationKey must be a Uint8Array of 32 random bytes or more, or a list of such keys and 'none'",
    )
  })

  it('that is changed afterwards changes nothing', async () => {
    const keys = [A.slice(), B.slice()]
    const test = await testServer({ derivationKey: keys })
    const first = await tokens(test)
    const { body } = await refresh(test, first.refresh_token)
    keys[0]?.fill(9)
    keys.reverse()
    expect((await refresh(test, first.refresh_token)).body).toStrictEqual(body)
  })
})

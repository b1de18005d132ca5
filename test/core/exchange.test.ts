/**
 * From consent to the first pair (specification, sections 2.2, 3 and 4.2; RFC 6749, section 4.1; RFC 7636).
 * @module
 */
import { hkdfSync } from 'node:crypto'
import * as fc from 'fast-check'
import type { Digests } from 'grantwell'
import type { ApproveCommand, ExchangeCommand, Grant } from 'grantwell/core'
import { transition } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { macKeyOf } from '../../src/core/credentials/mac.js'
import { authorizationUrl, NATIVE, NATIVE_CALLBACK, send, testServer } from '../support.js'
import { Counted } from './counted.js'
import type { Setup, World } from './histories.js'
import {
  approval,
  CHALLENGE,
  clientIdOf,
  credentialOf,
  entropyOf,
  errorOf,
  exchangedWorld,
  exchangeOf,
  FORM_SECRET,
  GRANTED,
  issuedBy,
  OTHER,
  REDIRECT_URI,
  RULES,
  refreshOf,
  refreshTimes,
  SETUP,
  START,
  secretWith,
  setupWith,
  strangeSecret,
  VERIFIER,
  works,
  world,
} from './histories.js'
import { inEveryOrder, race } from './servers.js'
import { anyText } from './texts.js'
import s256 from './vectors/s256.json' with { type: 'json' }

const CHALLENGED: Setup = { ...SETUP, challenged: true }

/** Refused as `invalid_grant`, and nothing changed. */
function expectRefused(here: World, changes: Partial<ExchangeCommand>): void {
  const outcome = here.ask({ ...exchangeOf(here), ...changes })
  expect(errorOf(outcome)).toBe('invalid_grant')
  expect(outcome.grant).toBeUndefined()
  expect(outcome.events).toEqual([])
}

/** The same command without its verifier. */
function withoutVerifier(here: World): ExchangeCommand {
  const { codeVerifier, ...command } = { codeVerifier: '', ...exchangeOf(here) }
  expect(codeVerifier).toBe(VERIFIER)
  return command
}

/** The secret of a code, derived by another implementation of HKDF (RFC 5869) from the form's secret and 32 random bytes. */
function derivedCode(entropy: Uint8Array): string {
  const bytes = hkdfSync('sha256', FORM_SECRET, entropy.subarray(0, 32), 'grantwell code 1', 32)
  return secretWith(new Uint8Array(bytes))
}

describe('a code is issued', () => {
  it('with a grant that has no pair yet, and an event that says what was permitted', () => {
    const { outcome } = world(CHALLENGED).moments[0] ?? expect.fail('no moment')
    expect(outcome.grant).toStrictEqual({
      v: 1,
      id: approval().grantId,
      clientId: 'web',
      subject: 'ada',
      scopes: GRANTED,
      resources: { kind: 'all' },
      createdAt: START,
      keepUntil: START + 900,
      code: {
        digest: RULES.digests.sha256(derivedCode(entropyOf(0))),
        redirectUri: REDIRECT_URI,
        codeChallenge: CHALLENGE,
        expiresAt: START + 600,
        salt: Buffer.from(entropyOf(0).subarray(0, 32)).toString('base64url'),
      },
      pairs: [],
      retired: [],
    })
    expect(outcome.events).toEqual([
      {
        at: START,
        grantId: approval().grantId,
        clientId: 'web',
        subject: 'ada',
        type: 'issued',
        scopes: GRANTED,
        resources: { kind: 'all' },
      },
    ])
  })

  it('once for one form: sent again it gets the same code, until that is exchanged or expires', () => {
    const here = world()
    for (const now of [START, START + 300, START + 599]) {
      here.now = now
      const { reply, grant, events } = here.ask(approval())
      expect(reply).toStrictEqual({ type: 'code', code: here.code })
      expect(grant).toBeUndefined()
      expect(events).toMatchObject([{ type: 'issued', retry: true, at: now }])
    }
    here.now = START + 600
    const over = [here, exchangedWorld(), revokedByReplay()].map((each) => each.ask(approval()))
    for (const outcome of over) {
      expect(errorOf(outcome)).toBe('invalid_grant')
      expect(outcome).toStrictEqual({ reply: outcome.reply, events: [] })
    }
  })

  it.each<[string, { readonly [Field in keyof ApproveCommand]?: ApproveCommand[Field] | undefined }]>([
    ['another client', { clientId: clientIdOf('other') }],
    ['another user', { subject: 'eve' }],
    ['other scopes', { scopes: GRANTED.slice(1) }],
    ['other resources', { resources: { kind: 'public' } }],
    ['other resources of the same kind', { resources: { kind: 'specified', ids: ['b'] } }],
    ['another redirect URI', { redirectUri: `${REDIRECT_URI}/` }],
    ['another challenge', { codeChallenge: s256.challenge }],
    ['no challenge', { codeChallenge: undefined }],
    ['another form', { formSecret: new Uint8Array(32).fill(8) }],
    ['a form of an attacker who has the store', { formSecret: new Uint8Array(32) }],
  ])('and with %s the form is refused', (_what, change) => {
    const command = { ...approval(CHALLENGED), resources: { kind: 'specified', ids: ['a'] } } as const
    const { grant } = transition(undefined, command, START, entropyOf(0), RULES)
    const changed = { ...command, ...change }
    if (changed.codeChallenge === undefined) delete (changed as { codeChallenge?: string }).codeChallenge // as one without
    const outcome = transition(grant, changed as ApproveCommand, START, entropyOf(1), RULES)
    expect(outcome).toMatchObject({ reply: { code: 'invalid_grant', reason: 'consent_invalid' }, events: [] })
    expect(outcome.grant).toBeUndefined()
    expect(transition(grant, command, START, entropyOf(1), RULES).reply).toMatchObject({ type: 'code' })
  })

  it('and with another derivation key no code is told that would not work', () => {
    const keyed = { ...RULES, derivationKey: new Uint8Array(32).fill(1) }
    const { grant, reply } = transition(undefined, approval(), START, entropyOf(0), keyed)
    expect(transition(grant, approval(), START, entropyOf(1), keyed).reply).toStrictEqual(reply)
    for (const other of [RULES, { ...RULES, derivationKey: new Uint8Array(32).fill(2) }])
      expect(transition(grant, approval(), START, entropyOf(1), other).reply).toMatchObject({
        reason: 'consent_invalid',
      })
  })

  it('not by a form that is too old, nor for a device that waits under its identifier', () => {
    const late = transition(undefined, approval(), START + 300, entropyOf(0), RULES)
    expect(late).toMatchObject({ reply: { reason: 'consent_invalid' }, events: [] })
    const { grantId, clientId, clientKey } = approval()
    const request = { type: 'request_device', grantId, clientId, clientKey, scopes: GRANTED } as const
    const waiting = transition(undefined, request, START, entropyOf(0), RULES).grant
    const decision = {
      type: 'decide',
      decision: 'agree',
      subject: 'ada',
      scopes: GRANTED,
      resources: { kind: 'all' },
    } as const
    const decided = transition(waiting, decision, START, entropyOf(0), RULES).grant
    for (const record of [waiting, decided])
      expect(transition(record, approval(), START, entropyOf(0), RULES).reply).toMatchObject({
        reason: 'consent_invalid',
      })
  })

  it('and its record is kept as long as the form could come back, by a clock that is 600 seconds behind too, and has no salt once the code is exchanged', () => {
    const keepUntil = (formExpiresAt: number): number | undefined =>
      transition(undefined, { ...approval(), formExpiresAt }, START, entropyOf(0), RULES).grant?.keepUntil
    expect(keepUntil(START + 1)).toBe(START + 601)
    expect(keepUntil(START + 601)).toBe(START + 1201)
    const long = { ...RULES, codeLifetime: 2000 }
    const { grant } = transition(undefined, { ...approval(), formExpiresAt: START + 601 }, START, entropyOf(0), long)
    expect(grant?.keepUntil).toBe(START + 2000)
    const { formExpiresAt: _, ...withoutForm } = approval()
    expect(transition(undefined, withoutForm, START, entropyOf(0), RULES).grant?.keepUntil).toBe(START + 600)
    expect(exchangedWorld().grant?.code).not.toHaveProperty('salt')
    expect(Object.keys(exchangedWorld(CHALLENGED).grant?.code ?? {})).toContain('codeChallenge')
  })

  it('[14] it has 256 bits of entropy: any one bit of 32 random bytes gives another code', () => {
    const codes = new Set<string>()
    for (let bit = 0; bit < 256; bit++) {
      const entropy = entropyOf(0)
      entropy[bit >> 3] = (entropy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const { reply } = transition(undefined, approval(), START, entropy, RULES)
      if (reply.type === 'code') codes.add(reply.code)
    }
    codes.add(world().code)
    expect(codes.size).toBe(257)
    expect(credentialOf(world().code).secret).toBe(derivedCode(entropyOf(0)))
  })
})

describe('a code is exchanged', () => {
  it('for a pair that lives 8 hours and 180 days, with what the user permitted', () => {
    const here = world()
    const tokens = issuedBy(here.send(exchangeOf(here)))
    expect(tokens).toMatchObject({ expiresIn: 28_800, scopes: GRANTED })
    expect(tokens.accessToken).toMatch(/^gwa_[\w-]{81}$/)
    expect(tokens.refreshToken).toMatch(/^gwr_[\w-]{81}$/)
    expect(here.grant?.pairs).toMatchObject([
      { access: { expiresAt: START + 28_800 }, refresh: { expiresAt: START + 15_552_000 } },
    ])
    expect(here.moments[1]?.outcome.events).toMatchObject([{ type: 'exchanged', scopes: GRANTED }])
  })

  it('[14] within its lifetime, to the second, whatever the lifetime', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.boolean(), (codeLifetime, challenged) => {
        const here = world({ ...setupWith({ codeLifetime }), challenged })
        here.now = START + codeLifetime
        expectRefused(here, {})
        here.now = START + codeLifetime - 1
        expect(errorOf(here.send(exchangeOf(here)))).toBeUndefined()
      }),
    )
  })

  it('never, where the grant is gone, the secret is another, or what is shown is no code', () => {
    const here = world()
    expect(errorOf(transition(undefined, exchangeOf(here), START, entropyOf(1), RULES))).toBe('invalid_grant')
    const code = credentialOf(here.code)
    expectRefused(here, { credential: { ...code, secret: strangeSecret(7) } })
    for (const kind of ['access_token', 'refresh_token', 'device_code'] as const)
      expectRefused(here, { credential: { ...code, kind } })
  })
})

/** A grant whose code came twice. */
function revokedByReplay(): World {
  const here = exchangedWorld()
  here.send(exchangeOf(here))
  return here
}

describe('a code is exchanged once', () => {
  it('[16] a second redemption is refused and revokes everything that came from the first', () => {
    const here = exchangedWorld()
    refreshTimes(here, 3)
    const outcome = here.send(exchangeOf(here))
    expect(errorOf(outcome)).toBe('invalid_grant')
    expect(outcome.events).toMatchObject([
      { type: 'replayed', credential: 'code' },
      { type: 'revoked', what: 'grant', cause: 'replay' },
    ])
    for (const pair of here.pairs.keys()) {
      expect(works(here, 'access', pair)).toBe(false)
      expect(works(here, 'refresh', pair)).toBe(false)
    }
  })

  it('[16] so does one after its lifetime', () => {
    const here = exchangedWorld(CHALLENGED)
    here.now += 100_000
    here.send(exchangeOf(here))
    expect(here.grant?.revokedAt).toBe(START + 100_000)
    expect(works(here, 'refresh', 0)).toBe(false)
  })

  it('[16] but not one without verifier, with another, or with another redirect URI, from whoever saw the code', () => {
    for (const after of [0, 100_000]) {
      const here = exchangedWorld(CHALLENGED)
      here.now += after
      expect(errorOf(here.ask(withoutVerifier(here)))).toBe('invalid_grant')
      expectRefused(here, { codeVerifier: 'x'.repeat(43) })
      expectRefused(here, { redirectUri: 'https://evil.example/' })
      expect(works(here, 'refresh')).toBe(true)
    }
  })

  it('[16] but not one by another client, and not one with another secret', () => {
    const here = exchangedWorld()
    expectRefused(here, { clientId: OTHER })
    expectRefused(here, { credential: { ...credentialOf(here.code), secret: strangeSecret(7) } })
    expect(works(here, 'access')).toBe(true)
    expect(works(here, 'refresh')).toBe(true)
  })

  it('a third one finds the grant revoked, and changes nothing', () => {
    expectRefused(revokedByReplay(), {})
  })

  it('yields tokens exactly once in every order in which 3 servers can read and write, and what it yielded is revoked', () => {
    const here = world()
    const requests = [1, 2, 3].map((number) => ({ command: exchangeOf(here), now: START, entropy: entropyOf(number) }))
    const orders = inEveryOrder((choose) => {
      const store = { grant: here.grant, version: 1 }
      const outcomes = race(store, requests, RULES, choose)
      expect(outcomes.filter(({ reply }) => reply.type === 'tokens')).toHaveLength(1)
      expect(outcomes.filter((outcome) => errorOf(outcome) === 'invalid_grant')).toHaveLength(2)
      expect(store.grant).toMatchObject({ revokedAt: START, pairs: [] })
    })
    expect(orders).toBeGreaterThan(100)
  })

  it('yields tokens at most once, however many servers, good and bad requests and clocks there are', () => {
    const request = fc.record({
      bad: fc.constantFrom<Partial<ExchangeCommand>>(
        {},
        {},
        {},
        { clientId: OTHER },
        { redirectUri: 'https://evil.example/' },
        { codeVerifier: VERIFIER },
      ),
      late: fc.constantFrom(0, 0, 1, 599, 600, -5),
    })
    const order = fc.array(fc.nat(), { minLength: 20, maxLength: 60 })
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 8 }), order, (sent, choices) => {
        const here = world()
        const requests = sent.map(({ bad, late }, number) => ({
          command: { ...exchangeOf(here), ...bad },
          now: START + late,
          entropy: entropyOf(number + 1),
        }))
        const store: { grant: Grant | undefined; version: number } = { grant: here.grant, version: 1 }
        let step = 0
        const outcomes = race(store, requests, RULES, (servers) => (choices[step++ % choices.length] ?? 0) % servers)
        const good = sent.filter(({ bad, late }) => Object.keys(bad).length === 0 && late < 600).length
        expect(outcomes.filter(({ reply }) => reply.type === 'tokens')).toHaveLength(Math.min(1, good))
        // Who comes second with the code, in time or not, by whatever URI, was the owner: nothing is left.
        expect(good > 1 && store.grant?.revokedAt === undefined).toBe(false)
        expect(good === 0 && store.grant !== here.grant).toBe(false)
      }),
    )
  })
})

describe('a code is bound', () => {
  it('[17] to its client: presented by another it is invalid_grant, and stays good for its own', () => {
    for (const setup of [SETUP, CHALLENGED]) {
      const here = world(setup)
      expectRefused(here, { clientId: OTHER })
      expect(errorOf(here.send({ ...exchangeOf(here), clientId: OTHER }))).toBe('invalid_grant')
      expect(errorOf(here.send(exchangeOf(here)))).toBeUndefined()
      expect(works(here, 'access')).toBe(true)
    }
  })

  it('[18] to the redirect URI that was used, to the letter; a wrong one does not burn the code', () => {
    const here = world()
    for (const redirectUri of [
      '',
      'https://app.example/',
      'https://app.example/callback/',
      'https://app.example/callback?',
      'https://app.example/callback#',
      'https://APP.example/callback',
      'https://app.example:443/callback',
      'https://app.example/%63allback',
      ' https://app.example/callback',
      'https://evil.example/callback',
    ]) {
      expectRefused(here, { redirectUri })
      here.send({ ...exchangeOf(here), redirectUri })
    }
    expect(errorOf(here.send(exchangeOf(here)))).toBeUndefined()
  })

  it('[18] whatever string is sent, it is accepted when it is the one that was used and never else', () => {
    fc.assert(
      fc.property(anyText(), (redirectUri) => {
        expectRefused(world(), { redirectUri })
      }),
    )
  })

  it('and where no redirect URI is sent, it is bound by its client alone (specification, section 4.2)', () => {
    const here = world()
    const { redirectUri, ...command } = { redirectUri: '', ...exchangeOf(here) }
    expect(redirectUri).toBe(REDIRECT_URI)
    expect(errorOf(here.send(command))).toBeUndefined()
  })
})

describe('PKCE (RFC 7636)', () => {
  const exchangeWith = (here: World, codeVerifier: string): string | undefined =>
    errorOf(here.ask({ ...exchangeOf(here), codeVerifier }))

  it(`accepts the verifier of the challenge (${s256.source})`, () => {
    const made = transition(undefined, { ...approval(), codeChallenge: s256.challenge }, START, entropyOf(0), RULES)
    const command = { ...exchangeOf(world()), codeVerifier: s256.verifier }
    expect(errorOf(transition(made.grant, command, START, entropyOf(1), RULES))).toBeUndefined()
  })

  it('compares a verifier of 43 to 128 visible ASCII characters, and refuses a shorter, longer or other one of a right challenge', () => {
    const shape = /^[!-~]{43,128}$/
    const verifier = fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9\-._~]{40,131}$/),
      fc.constantFrom(42, 43, 128, 129).map((length) => 'x'.repeat(length)),
      fc.stringMatching(/^[!-~]{43,60}$/),
      fc.stringMatching(/^[ -~]{43,60}$/),
      fc.stringMatching(/^[!-~\x7f\u00e9]{43,60}$/),
    )
    fc.assert(
      fc.property(verifier, (codeVerifier) => {
        const codeChallenge = RULES.digests.sha256(codeVerifier)
        const made = transition(undefined, { ...approval(), codeChallenge }, START, entropyOf(0), RULES)
        const command = { ...exchangeOf(world()), codeVerifier }
        const outcome = transition(made.grant, command, START, entropyOf(1), RULES)
        expect(errorOf(outcome)).toBe(shape.test(codeVerifier) ? undefined : 'invalid_grant')
      }),
      { numRuns: 300 },
    )
  })

  it('refuses any other verifier, and none, and the code stays unused', () => {
    const here = world(CHALLENGED)
    expect(errorOf(here.ask(withoutVerifier(here)))).toBe('invalid_grant')
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^[A-Za-z0-9\-._~]{43,128}$/), fc.constant(CHALLENGE)),
        (wrong) => {
          expectRefused(here, { codeVerifier: wrong })
        },
      ),
    )
    expect(exchangeWith(here, VERIFIER)).toBeUndefined()
  })

  it('[20] a verifier where no challenge was made is refused, and the code stays unused', () => {
    const here = world()
    for (const codeVerifier of [VERIFIER, s256.verifier, '', 'x']) {
      expectRefused(here, { codeVerifier })
      here.send({ ...exchangeOf(here), codeVerifier })
    }
    expect(errorOf(here.send(exchangeOf(here)))).toBeUndefined()
  })

  it('[20] a public client without a challenge is refused before there is a code', async () => {
    const { server } = await testServer()
    const url = authorizationUrl({ client_id: NATIVE.clientId, redirect_uri: NATIVE_CALLBACK })
    const location = new URL((await send(server, { url })).headers['Location'] ?? 'none:')
    expect(location.href.startsWith(NATIVE_CALLBACK)).toBe(true)
    expect(location.searchParams.get('error')).toBe('invalid_request')
    expect(location.searchParams.has('code')).toBe(false)
    const challenged = await send(server, { url: `${url}&code_challenge=${CHALLENGE}&code_challenge_method=S256` })
    expect(challenged.status).toBe(200)
  })

  it('[21] the verifier is compared in constant time: every character of its digest once, wherever the first wrong one is', () => {
    const everyPlace = Array.from({ length: 43 }, (_, index) => index)
    const here = world(CHALLENGED)
    for (const at of [...everyPlace, undefined]) {
      const wrong =
        at === undefined
          ? CHALLENGE
          : CHALLENGE.slice(0, at) + (CHALLENGE[at] === 'A' ? 'B' : 'A') + CHALLENGE.slice(at + 1)
      const counted = new Counted(wrong)
      const digests: Digests = {
        ...RULES.digests,
        sha256: (data) => (data === VERIFIER ? counted.text : RULES.digests.sha256(data)),
      }
      const outcome = transition(here.grant, exchangeOf(here), START, entropyOf(1), { ...RULES, digests })
      expect(errorOf(outcome)).toBe(at === undefined ? undefined : 'invalid_grant')
      expect(counted.visited).toEqual(everyPlace)
    }
  })

  it('[21] so is the secret of the code', () => {
    const here = world()
    const { secret } = credentialOf(here.code)
    const right = RULES.digests.sha256(secret)
    for (const at of [0, 21, 42, undefined]) {
      const counted = new Counted(at === undefined ? right : `${right.slice(0, at)}~${right.slice(at + 1)}`)
      const digests: Digests = {
        ...RULES.digests,
        sha256: (data) => (data === secret ? counted.text : RULES.digests.sha256(data)),
      }
      transition(here.grant, exchangeOf(here), START, entropyOf(1), { ...RULES, digests })
      expect(counted.visited).toHaveLength(43)
    }
  })
})

describe('what is refused is refused alike', () => {
  it('the client is told the same of every cause, the audit trail is not', () => {
    const unused = world(CHALLENGED)
    const late = world()
    late.now = START + 600
    const refusals = [
      unused.ask({ ...exchangeOf(unused), clientId: OTHER }),
      unused.ask({ ...exchangeOf(unused), redirectUri: 'x' }),
      unused.ask(withoutVerifier(unused)),
      unused.ask({
        ...exchangeOf(unused),
        credential: { ...credentialOf(unused.code), secret: secretWith(new Uint8Array(32)) },
      }),
      late.ask(exchangeOf(late)),
      exchangedWorld().ask(exchangeOf(world())),
      revokedByReplay().ask(exchangeOf(world())),
      exchangedWorld().ask({ ...refreshOf(exchangedWorld()), clientId: OTHER }),
    ]
    const told = refusals.map(({ reply }) =>
      reply.type === 'error' ? [reply.code, reply.status, reply.description] : [],
    )
    expect(new Set(told.map(String)).size).toBe(1)
    const description = String(told[0]?.[2])
    expect(description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/) // RFC 6749, section 5.2
    expect(refusals.map(({ reply }) => reply.type === 'error' && reply.reason)).toEqual([
      'credential_of_another_client',
      'redirect_uri_mismatch',
      'pkce_mismatch',
      'credential_unknown',
      'credential_expired',
      'credential_replayed',
      'credential_revoked',
      'credential_of_another_client',
    ])
  })
})

describe('an application that is registered for none of the scopes any more', () => {
  it('gets no tokens for a code, and the code stays unused', () => {
    const here = world()
    const outcome = here.ask({ ...exchangeOf(here), registered: [] })
    expect(outcome.reply).toMatchObject({ type: 'error', code: 'invalid_grant', reason: 'scope_not_registered' })
    expect([outcome.grant, outcome.events]).toEqual([undefined, []])
    expect(errorOf(here.send(exchangeOf(here)))).toBeUndefined()
  })
})

describe('5.2 a code is exchanged for a token of the type mac', () => {
  const DERIVATION_KEY = entropyOf(-3).subarray(0, 32)
  const KEYED = setupWith({ derivationKey: DERIVATION_KEY })
  const mac = (here: World): ExchangeCommand => ({ ...exchangeOf(here), tokenType: 'mac' })

  it('where it is asked for: the answer has its key, and the record the type alone', () => {
    const here = world(KEYED)
    const plain = issuedBy(here.ask(exchangeOf(here)))
    const outcome = here.ask(mac(here))
    const { macKey, ...rest } = issuedBy(outcome)
    expect(macKey).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(macKey).toBe(macKeyOf(credentialOf(rest.accessToken).secret, KEYED.rules))
    // All else is as it would have been.
    expect(rest).toStrictEqual(plain)
    const [pair, ...more] = outcome.grant?.pairs ?? []
    const [bearer] = here.ask(exchangeOf(here)).grant?.pairs ?? []
    expect(more).toEqual([])
    expect(pair).toStrictEqual({ ...bearer, access: { ...bearer?.access, type: 'mac' } })
    expect(outcome.events).toStrictEqual(here.ask(exchangeOf(here)).events)
  })

  it('and for bearer else, with no trace of a type, whether there is a derivation key or not', () => {
    for (const setup of [SETUP, KEYED]) {
      const here = world(setup)
      for (const command of [exchangeOf(here), { ...exchangeOf(here), tokenType: undefined }]) {
        const { reply, grant } = here.ask(command)
        expect(reply).not.toHaveProperty('macKey')
        expect(grant?.pairs[0]?.access).not.toHaveProperty('type')
      }
    }
  })

  it('[28] the key is in no event and not in the record, in no form', () => {
    const here = world(KEYED)
    const { macKey = expect.fail('no key') } = issuedBy(here.send(mac(here)))
    const bytes = Buffer.from(macKey, 'base64url')
    const seen = JSON.stringify(here.moments.map(({ outcome: { grant, events } }) => [grant, events]))
    for (const form of [
      macKey,
      bytes.toString('hex'),
      bytes.toString('base64'),
      Buffer.from(macKey).toString('base64'),
    ])
      expect(seen).not.toContain(form)
    for (const secret of [macKey, bytes]) expect(seen).not.toContain(RULES.digests.sha256(secret))
  })

  it('what is refused is refused as ever, and has no key', () => {
    const here = world(KEYED)
    for (const bad of [{ clientId: OTHER }, { redirectUri: 'https://evil.example/' }, { codeVerifier: VERIFIER }])
      expectRefused(here, { ...bad, tokenType: 'mac' })
    issuedBy(here.send(mac(here)))
    expect(errorOf(here.send(mac(here)))).toBe('invalid_grant')
    expect([works(here, 'access'), here.grant?.pairs]).toEqual([false, []])
  })
})

describe('a consent that was remembered', () => {
  it('says in its event that nobody was asked', () => {
    const asked = world().ask(approval())
    expect(asked.events[0]).not.toHaveProperty('unasked')
    const here = world()
    here.grant = undefined
    expect(here.ask({ ...approval(), unasked: true }).events).toMatchObject([{ type: 'issued', unasked: true }])
  })
})

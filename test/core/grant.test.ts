/**
 * The grant as a record: what it says of an access token, how long it is worth keeping, how large it gets, and that
 * whoever reads it can use nothing of it.
 * @module
 */
import { hkdfSync } from 'node:crypto'
import * as fc from 'fast-check'
import { serviceScopes } from 'grantwell'
import type { Credential, CredentialKind, Grant } from 'grantwell/core'
import { inspect, PAIRS_IN_GRACE, RETIRED_KEPT, retention } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import type { World } from './histories.js'
import {
  bytesOfSecret,
  credentialOf,
  entropyOf,
  errorOf,
  exchangedWorld,
  exchangeOf,
  GRANTED,
  histories,
  inspected,
  OWNER,
  play,
  RESOURCES,
  RULES,
  refreshOf,
  refreshTimes,
  revokeOf,
  SETUP,
  START,
  secretWith,
  setupWith,
  tokenOf,
  VERIFIER,
  works,
  world,
} from './histories.js'

const KEY = entropyOf(-3).subarray(0, 32)

describe('what an access token says', () => {
  it('whose it is, what it permits, and until when', () => {
    const here = exchangedWorld()
    expect(inspected(here)).toStrictEqual({
      type: 'active',
      grantId: here.grant?.id,
      clientId: 'web',
      subject: 'ada',
      scopes: GRANTED,
      resources: { kind: 'all' },
      expiresAt: START + 28_800,
    })
    refreshTimes(here, 1)
    expect(inspected(here, 0)).toMatchObject({ type: 'active', expiresAt: START + 300 })
  })

  it('nothing, and the audit trail says why', () => {
    const here = exchangedWorld()
    const access = tokenOf(here, 'access')
    const reason = (grant: Grant | undefined, credential: Credential, now = START): unknown => {
      const found = inspect(grant, credential, now, RULES.digests)
      return found.type === 'inactive' ? found.reason : found.type
    }
    expect(reason(here.grant, access)).toBe('active')
    expect(reason(undefined, access)).toBe('credential_unknown')
    for (const secret of [secretWith(new Uint8Array(32)), access.secret.slice(1), `${access.secret}A`, ''])
      expect(reason(here.grant, { ...access, secret })).toBe('credential_unknown')
    expect(reason(here.grant, { ...access, kind: 'refresh_token' })).toBe('credential_unknown')
    expect(reason(here.grant, tokenOf(here, 'refresh'))).toBe('credential_unknown')
    expect(reason(here.grant, credentialOf(here.code))).toBe('credential_unknown')
    expect(reason(here.grant, access, START + 28_800)).toBe('credential_expired')
    expect(reason(here.ask(revokeOf(here, 'access')).grant, access)).toBe('credential_revoked')
    expect(reason(here.ask(revokeOf(here, 'refresh')).grant, access)).toBe('credential_revoked')
  })
})

describe('5.2 what a token of the type mac says', () => {
  it('what a bearer token says, and its type', () => {
    const here = world(setupWith({ derivationKey: KEY }))
    here.send({ ...exchangeOf(here), tokenType: 'mac' })
    const plain = exchangedWorld(setupWith({ derivationKey: KEY }))
    expect(inspected(plain)).not.toHaveProperty('tokenType')
    expect(inspected(here)).toStrictEqual({ ...inspected(plain), tokenType: 'mac' })
    here.send({ ...refreshOf(here), tokenType: 'mac' })
    expect(inspected(here, 0)).toMatchObject({ type: 'active', expiresAt: START + 300, tokenType: 'mac' })
  })

  it('nothing, once it is expired or revoked, and under another kind', () => {
    const here = world(setupWith({ derivationKey: KEY }))
    here.send({ ...exchangeOf(here), tokenType: 'mac' })
    const access = tokenOf(here, 'access')
    const asked: readonly (readonly [Grant | undefined, Credential, number])[] = [
      [here.grant, access, START + 28_800],
      [here.grant, { ...access, kind: 'refresh_token' }, START],
      [here.ask(revokeOf(here, 'access')).grant, access, START],
      [here.ask(revokeOf(here, 'refresh')).grant, access, START],
    ]
    for (const [grant, credential, now] of asked) {
      const found = inspect(grant, credential, now, RULES.digests)
      expect(found).toStrictEqual({ type: 'inactive', reason: expect.any(String) })
    }
  })
})

describe('expiry', () => {
  it('[30] to the second: the last second of each lifetime works, the next one does not', () => {
    const boundary = (works: (now: number) => boolean, end: number): void => {
      expect([end - 1, end, end + 1].map(works)).toEqual([true, false, false])
    }
    const at =
      (here: World, holds: () => boolean) =>
      (now: number): boolean => {
        here.now = now
        return holds()
      }
    const unused = world()
    boundary(
      at(unused, () => errorOf(unused.ask(exchangeOf(unused))) === undefined),
      START + 600,
    )
    const used = exchangedWorld()
    boundary(
      at(used, () => works(used, 'access')),
      START + 28_800,
    )
    boundary(
      at(used, () => works(used, 'refresh')),
      START + 15_552_000,
    )
    const refreshed = exchangedWorld()
    refreshTimes(refreshed, 1)
    for (const token of ['access', 'refresh'] as const)
      boundary(
        at(refreshed, () => works(refreshed, token, 0)),
        START + 300,
      )
    // Where a lifetime ends within the grace, that end counts.
    const short = exchangedWorld(setupWith({ accessTokenLifetime: 100, refreshTokenLifetime: 200 }))
    refreshTimes(short, 1)
    boundary(
      at(short, () => works(short, 'access', 0)),
      START + 100,
    )
    boundary(
      at(short, () => works(short, 'refresh', 0)),
      START + 200,
    )
  })

  it('[30] in every state that can be reached, no token works at or after the end of its lifetime', () => {
    fc.assert(
      fc.property(histories, fc.nat(40_000), ({ setup, steps }, later) => {
        const here = play(setup, steps)
        const { accessTokenLifetime, refreshTokenLifetime } = setup.rules
        for (const [pair, { accessToken }] of here.pairs.entries()) {
          const issued = here.moments.find(
            ({ outcome: { reply } }) => reply.type === 'tokens' && reply.accessToken === accessToken,
          )
          const since = issued?.now ?? expect.fail('never issued')
          here.now = since + accessTokenLifetime + later
          expect(works(here, 'access', pair)).toBe(false)
          here.now = since + refreshTokenLifetime + later
          expect(works(here, 'refresh', pair)).toBe(false)
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('a polluted prototype', () => {
  const VALUES: readonly unknown[] = [
    true,
    1,
    9e9,
    'x',
    [],
    {},
    { until: 9e9, salt: '' },
    { until: 'x' },
    { until: -1 },
  ]
  const NAMES = [
    'superseded',
    'until',
    'lastUsedAt',
    'usedAt',
    'codeChallenge',
    'tooSoon',
    'polledAt',
    'retired',
    'pairs',
  ]

  it.each(NAMES)('[30] that has %s lets no token work that expired, was superseded or revoked', (name) => {
    const expired = exchangedWorld()
    expired.now += 28_800
    const superseded = exchangedWorld()
    refreshTimes(superseded, 1)
    superseded.now += 300
    const revoked = exchangedWorld()
    revoked.send(revokeOf(revoked, 'refresh'))
    const cases = [
      [expired, tokenOf(expired, 'access', 0)],
      [superseded, tokenOf(superseded, 'access', 0)],
      [revoked, tokenOf(revoked, 'access', 0)],
    ] as const
    for (const value of VALUES) {
      try {
        Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: true, writable: true })
        const types = cases.map(([{ grant, now }, token]) => inspect(grant, token, now, RULES.digests).type)
        Reflect.deleteProperty(Object.prototype, name)
        expect(types, JSON.stringify(value)).toStrictEqual(['inactive', 'inactive', 'inactive'])
      } finally {
        Reflect.deleteProperty(Object.prototype, name)
      }
    }
  })
})

describe('how long a grant is kept', () => {
  it('until nothing that a client could send would be answered differently without it', () => {
    fc.assert(
      fc.property(histories, fc.nat(1000), ({ setup, steps }, later) => {
        const here = play(setup, steps)
        here.now = retention(here.grant ?? expect.fail('no grant')) + later
        const forgotten = { ...here, grant: undefined }
        for (const pair of here.pairs.keys()) {
          for (const token of ['access', 'refresh'] as const)
            expect(here.ask(revokeOf(here, token, pair)).reply.type).toBe('unchanged')
          expect(inspected(here, pair).type).toBe('inactive')
          expect(errorOf(here.ask(refreshOf(here, pair)))).toBe('invalid_grant')
          expect(inspected(forgotten, pair).type).toBe('inactive')
        }
        expect(errorOf(here.ask(exchangeOf(here)))).toBe('invalid_grant')
      }),
      { numRuns: 60 },
    )
  })

  it('an unused code: its lifetime, or that of its consent and 600 seconds where that is longer', () => {
    const { grant } = world()
    expect(grant && retention(grant)).toBe(START + 900)
    expect(grant && retention({ ...grant, keepUntil: START + 5000 })).toBe(START + 5000)
  })

  it('a used one: the 180 days of its newest refresh token', () => {
    const here = exchangedWorld()
    here.now += 1000
    refreshTimes(here, 1)
    expect(here.grant && retention(here.grant)).toBe(START + 1000 + 15_552_000)
  })

  it('the longer of both tokens, where an access token outlives its refresh token', () => {
    const here = exchangedWorld(setupWith({ accessTokenLifetime: 5000, refreshTokenLifetime: 1000 }))
    expect(here.grant && retention(here.grant)).toBe(START + 5000)
  })

  it('a revoked one: no longer than its consent could come back by a clock that is 600 seconds behind', () => {
    const here = exchangedWorld()
    here.send(revokeOf(here, 'refresh'))
    expect(here.grant && retention(here.grant)).toBe(START + 900)
  })
})

describe('how large a grant gets', () => {
  /** JSON of one pair without its scopes and its audience, its comma counted; times have 10 digits until the year 2286. */
  const PAIR =
    JSON.stringify({
      access: { digest: 'd'.repeat(43), expiresAt: 1_800_000_000, scopes: '', revokedAt: 1_800_000_000 },
      refresh: { digest: 'd'.repeat(43), expiresAt: 1_800_000_000 },
      superseded: { at: 1_800_000_000, until: 1_800_000_000, salt: 's'.repeat(43) },
    }).length - 1
  const RETIRED = 43 + 3

  /** What the pairs of a grant repeat: its scopes, and its audience where it has one. */
  const repeated = ({ scopes, audience }: Grant): number =>
    JSON.stringify(scopes).length + (audience ? `,"audience":${JSON.stringify(audience)}`.length : 0)

  /** What a grant was at first, plus 33 pairs, 64 digests, and two moments. */
  const bound = (first: Grant): number =>
    JSON.stringify(first).length +
    (PAIRS_IN_GRACE + 1) * (PAIR + repeated(first)) +
    RETIRED_KEPT * RETIRED +
    '"usedAt":1800000000,"revokedAt":1800000000,'.length

  it('never more than 33 pairs and 64 retired digests beyond what it was at first', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        const { moments } = play(setup, steps)
        const first = moments[0]?.outcome.grant ?? expect.fail('no grant')
        for (const { outcome } of moments)
          expect(JSON.stringify(outcome.grant ?? first).length).toBeLessThanOrEqual(bound(first))
      }),
      { numRuns: 60 },
    )
  })

  it('at most 31 KB with all scopes of the specification, at most 15 KB with three, and 18 KB with an audience of two', () => {
    const { entries } = serviceScopes()
    const all = [...entries.values()]
      .filter(
        ({ permission, definition }) =>
          permission === 'rw' || ('permissions' in definition && definition.permissions.length === 1),
      )
      .map(({ scope }) => scope)
    expect(all).toHaveLength(26)
    for (const [changes, kilobytes] of [
      [{ scopes: all }, 31],
      [{ scopes: GRANTED }, 15],
      [{ scopes: GRANTED, audience: RESOURCES.slice(0, 2) }, 18],
    ] as const) {
      const here = exchangedWorld({ ...SETUP, ...changes })
      const first = here.moments[0]?.outcome.grant ?? expect.fail('no grant')
      refreshTimes(here, 70, 300)
      refreshTimes(here, 32)
      for (const pair of here.pairs.keys()) here.send(revokeOf(here, 'access', pair))
      expect([here.grant?.pairs.length, here.grant?.retired.length]).toEqual([33, 64])
      const size = JSON.stringify(here.grant).length
      expect(size).toBeLessThanOrEqual(bound(first))
      expect(size).toBeLessThan(kilobytes * 1024)
      expect(size).toBeGreaterThan((kilobytes - 2) * 1024) // the bound is one that can be met
    }
  })
})

describe('how large a grant of mac tokens gets', () => {
  it('half a kilobyte more than one of bearer tokens, at most', () => {
    const largest = (tokenType: 'mac' | undefined): Grant => {
      const here = world(setupWith({ derivationKey: KEY }))
      here.send({ ...exchangeOf(here), tokenType })
      for (let count = 0; count < 102; count++) {
        here.now += count < 71 ? 300 : 0
        here.send({ ...refreshOf(here), tokenType })
      }
      return here.grant ?? expect.fail('no grant')
    }
    const grants = [largest('mac'), largest(undefined)] as const
    for (const { pairs, retired } of grants) expect([pairs.length, retired.length]).toEqual([33, 64])
    const [mac = 0, bearer = 0] = grants.map((grant) => JSON.stringify(grant).length)
    expect(mac - bearer).toBe(33 * '"type":"mac",'.length)
    expect(mac - bearer).toBeLessThan(512)
  })
})

describe('who reads the store', () => {
  /** Every secret that there ever was, in every form in which it could lie about. */
  function secretForms(here: World): readonly string[] {
    const texts = [here.code, ...here.pairs.flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken])]
    const secrets = texts.map((text) => credentialOf(text).secret)
    // What is written, as bytes, and what it is written of.
    const bytes = [
      ...secrets.flatMap((secret) => [Buffer.from(secret), bytesOfSecret(secret)]),
      KEY,
      Buffer.from(VERIFIER),
    ].map((secret) => Buffer.from(secret))
    return [
      ...texts,
      ...secrets,
      // The last 30 bytes of a secret as they are spelled within a credential.
      ...texts.map((text) => text.slice(-40)),
      ...bytes.flatMap((secret) =>
        (['base64url', 'base64', 'hex', 'latin1', 'utf8'] as const).map((form) => secret.toString(form)),
      ),
      ...bytes.map((secret) => JSON.stringify(secret.toString('latin1')).slice(1, -1)),
      ...bytes.map((secret) => JSON.stringify([...secret]).slice(1, -1)),
    ]
  }

  /** A text as the bytes that a derivation may begin with: as it is written, and what it is written of. */
  function bytesOfText(text: string): readonly Buffer[] {
    return [Buffer.from(text, 'ascii'), Buffer.from(text, 'base64url'), bytesOfSecret(text)]
  }

  /** The secrets that somebody could make of a dump, with those of tokens that he has. */
  function harvest(dump: string, known: readonly string[], key: Uint8Array = new Uint8Array(0)): readonly string[] {
    const texts = [...dump.matchAll(/[\w-]{43}/g)].map(([text]) => text)
    const values = texts.map((text) => Buffer.from(text, 'base64url'))
    const salts = [...dump.matchAll(/"salt":"([\w-]{43})"/g)].map(
      ([, text]) => new Uint8Array(Buffer.from(String(text), 'base64url')),
    )
    const materials = salts.length > 0 ? [...known, ...texts] : known
    const derived = materials.flatMap(bytesOfText).flatMap((material) =>
      (salts.length > 0 ? salts : values).flatMap((salt) => {
        const both = new Uint8Array(
          hkdfSync('sha256', Buffer.concat([material, key]), salt, 'grantwell successor 1', 64),
        )
        return [secretWith(both.subarray(0, 32)), secretWith(both.subarray(32))]
      }),
    )
    return [...texts, ...values.map(secretWith), ...derived]
  }

  /** Whether one of these is the secret of anything that works. */
  function anyWorks(here: World, secrets: readonly string[]): boolean {
    const digests = new Set<string | undefined>([
      here.grant?.code.digest,
      ...(here.grant?.pairs.flatMap(({ access, refresh }) => [access.digest, refresh.digest]) ?? []),
    ])
    return secrets.some((secret) => {
      // A secret that no digest in the record belongs to opens nothing, as the model and its histories show.
      if (!digests.has(here.setup.rules.digests.sha256(secret))) return false
      const as = (kind: CredentialKind): Credential => ({ ...credentialOf(here.code), kind, secret })
      return (
        inspect(here.grant, as('access_token'), here.now, here.setup.rules.digests).type === 'active' ||
        here.ask({ type: 'refresh', credential: as('refresh_token'), clientId: OWNER, registered: GRANTED }).reply
          .type === 'tokens' ||
        here.ask({ ...exchangeOf(here), credential: as('code') }).reply.type === 'tokens'
      )
    })
  }

  const dumpOf = (here: World): string => JSON.stringify(here.grant)

  /** Old refresh tokens whose pairs are no longer in the record. */
  function goneTokens(here: World): readonly string[] {
    const kept = new Set(here.grant?.pairs.map(({ refresh }) => String(refresh.digest)))
    return here.pairs
      .map((_, pair) => tokenOf(here, 'refresh', pair).secret)
      .filter((secret) => !kept.has(here.setup.rules.digests.sha256(secret)))
  }

  it('finds no secret in it, in no form, after any history', () => {
    fc.assert(
      fc.property(histories, fc.boolean(), ({ setup, steps }, keyed) => {
        const here = play({ ...setup, rules: { ...setup.rules, ...(keyed && { derivationKey: KEY }) } }, steps)
        const forms = secretForms(here)
        for (const { outcome } of here.moments) {
          const dump = JSON.stringify(outcome.grant ?? {})
          for (const form of forms) if (dump.includes(form)) expect.fail(`${form} is in ${dump}`)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('can use nothing that he finds or derives, after any history', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        const here = play(setup, steps)
        expect(anyWorks(here, harvest(dumpOf(here), []))).toBe(false)
      }),
      { numRuns: 30 },
    )
  })

  it('cannot derive a successor from old tokens once the first write after their grace was made', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        const here = play(setup, steps)
        expect(anyWorks(here, harvest(dumpOf(here), goneTokens(here)))).toBe(false)
      }),
      { numRuns: 30 },
    )
    const here = exchangedWorld()
    refreshTimes(here, 2, 300)
    expect(goneTokens(here)).toHaveLength(1) // the grace of the second is over, but nothing was written since
    refreshTimes(here, 1)
    expect(goneTokens(here)).toHaveLength(2)
    expect(anyWorks(here, harvest(dumpOf(here), goneTokens(here)))).toBe(false)
  })

  it('could, within the grace and with the old token, were there no derivation key: so the search does find what there is', () => {
    const here = exchangedWorld()
    refreshTimes(here, 1)
    expect(anyWorks(here, harvest(dumpOf(here), [tokenOf(here, 'refresh', 0).secret]))).toBe(true)
    expect(anyWorks(here, [tokenOf(here, 'access', 1).secret])).toBe(true)
  })

  it('[28] cannot make the key of a mac token: not of what is stored, nor of that and the token itself', () => {
    const here = world(setupWith({ derivationKey: KEY }))
    here.send({ ...exchangeOf(here), tokenType: 'mac' })
    here.send({ ...refreshOf(here), tokenType: 'mac' })
    const keys = new Set(here.pairs.map(({ macKey }) => macKey))
    const tokens = here.pairs.map((_, pair) => tokenOf(here, 'access', pair).secret)
    const known = [...tokens, ...here.pairs.map((_, pair) => tokenOf(here, 'refresh', pair).secret)]
    const texts = [...[...dumpOf(here).matchAll(/[\w-]{43}/g)].map(([text]) => text), ...known]
    const values = texts.flatMap(bytesOfText)
    const derivedOf = (material: Uint8Array, salt: Uint8Array): string =>
      Buffer.from(hkdfSync('sha256', material, salt, 'grantwell mac key 1', 32)).toString('base64url')
    for (const value of [...values, new Uint8Array(0), new Uint8Array(32)])
      for (const salt of values) expect(keys.has(derivedOf(value, salt))).toBe(false)
    for (const text of texts) expect(keys.has(text)).toBe(false)
    for (const value of values) expect(keys.has(value.toString('base64url'))).toBe(false)
    // It is the derivation key that holds it: the search does find what there is.
    expect(keys.has(derivedOf(KEY, Buffer.from(tokens[0] ?? expect.fail(), 'ascii')))).toBe(true)
  })

  it('cannot with a derivation key, not even within the grace and with every old token; without the key, or with another', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        const here = play({ ...setup, rules: { ...setup.rules, derivationKey: KEY } }, steps)
        const old = here.pairs.slice(0, -1).map((_, pair) => tokenOf(here, 'refresh', pair).secret)
        for (const key of [undefined, entropyOf(-4).subarray(0, 32), new Uint8Array(32)])
          expect(anyWorks(here, harvest(dumpOf(here), old.slice(-3), key))).toBe(false)
      }),
      { numRuns: 20 },
    )
    const here = exchangedWorld(setupWith({ derivationKey: KEY }))
    refreshTimes(here, 1)
    const old = [tokenOf(here, 'refresh', 0).secret]
    expect(anyWorks(here, harvest(dumpOf(here), old))).toBe(false)
    expect(anyWorks(here, harvest(dumpOf(here), old, KEY))).toBe(true) // it is the key that holds it
  })
})

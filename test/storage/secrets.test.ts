/**
 * What lies in a store, in the audit trail and in a log after whole flows is of no use to whoever reads it.
 * @module
 */
import fc from 'fast-check'
import type {
  AuthorizationServerOptions,
  ClientKey,
  CredentialKind,
  GrantId,
  RecordStore,
  WriteOptions,
} from 'grantwell'
import { clientKeyOf, parseClientId, parseCredential, portableDigests, printCredential } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { secretFrom } from '../../src/core/tokens/credential.js'
import type { Codes } from '../protocol/device-form.js'
import { codesOf, decideOn, enter, enterCode, openDevicePage, poll } from '../protocol/device-form.js'
import type { TestServer } from '../support.js'
import {
  authorizationUrl,
  basic,
  CHALLENGE,
  call,
  exchange,
  OTHER,
  openConsent,
  post,
  refresh,
  registration,
  revoke,
  send,
  testServer,
  VERIFIER,
  WEB,
} from '../support.js'

const KINDS: readonly CredentialKind[] = ['code', 'access_token', 'refresh_token', 'device_code']

/** One step of a flow; numbers choose among what there is by then. */
type Step =
  | { readonly type: 'authorize'; readonly pkce: boolean; readonly scope?: string | undefined }
  | { readonly type: 'exchange'; readonly which: number; readonly wrong: boolean }
  | { readonly type: 'refresh'; readonly which: number; readonly scope?: string | undefined }
  | { readonly type: 'revoke'; readonly which: number; readonly kind: 'access_token' | 'refresh_token' }
  | { readonly type: 'wait'; readonly seconds: number }
  | { readonly type: 'spoil'; readonly which: number }
  | { readonly type: 'fail'; readonly at: 'read' | 'write' }
  | { readonly type: 'register' }

const scope = fc.constantFrom(undefined, undefined, 'repo-code:r', 'account-profile:r')
const which = fc.nat(20)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('authorize' as const), pkce: fc.boolean(), scope }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('exchange' as const), which, wrong: fc.boolean() }),
  },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('refresh' as const), which, scope }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('revoke' as const),
      which,
      kind: fc.constantFrom('access_token' as const, 'refresh_token' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('wait' as const), seconds: fc.constantFrom(1, 299, 300, 601, 28_800) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('spoil' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('fail' as const),
      at: fc.constantFrom('read' as const, 'write' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('register' as const) }) },
)

/** Everything that was told to clients, everything that was kept or told to the host, and where it was. */
interface Trail {
  readonly test: TestServer
  readonly client: { readonly clientId: string; readonly clientSecret: string }
  /** Secrets that a client or browser was given. */
  readonly secrets: Set<string>
  /** All that anybody but them can read: records and their keys, events, errors, what clients got as errors, the log. */
  readonly readable: string[]
}

async function walked(steps: readonly Step[]): Promise<Trail> {
  const readable: string[] = []
  const secrets = new Set<string>()
  let failing: 'nothing' | 'read' | 'write' = 'nothing'
  let inner: RecordStore | undefined
  const kept = (key: string, value: unknown, options: WriteOptions): void =>
    void readable.push(JSON.stringify([key, value, options]))
  const recorded: RecordStore = {
    read: (keys) => {
      if (failing === 'read') throw new Error(`cannot read ${keys}`)
      return inner?.read(keys) ?? []
    },
    write: (key, value, options) => {
      kept(key, value, options)
      if (failing === 'write') throw new Error(`cannot write ${key} ${JSON.stringify(value)}`)
      return inner?.write(key, value, options) ?? false
    },
    list: (label, page) => inner?.list(label, page) ?? { records: [] },
  }
  const clock = { now: 1_800_000_000 }
  inner = memoryStore({ clock: () => clock.now })
  const test = await testServer({ store: recorded, clock: () => clock.now, consent: 'once' })
  const registered = await test.server.applications.register(registration())
  const client = { clientId: registered.clientId, clientSecret: registered.clientSecret ?? '' }
  secrets.add(client.clientSecret)

  const codes: { code: string; verifier: Record<string, string> }[] = []
  const pairs: { access_token: string; refresh_token: string }[] = []
  const take = ({ status, body }: Awaited<ReturnType<typeof exchange>>): void => {
    if (status !== 200) {
      readable.push(JSON.stringify(body))
      return
    }
    pairs.push(body)
    secrets.add(body.access_token).add(body.refresh_token)
  }
  const pick = <Item>(items: readonly Item[], index: number): Item | undefined => items[index % (items.length || 1)]

  for (const each of steps) {
    if (each.type === 'authorize') {
      const parameters = {
        client_id: client.clientId,
        scope: each.scope,
        ...(each.pkce && { code_challenge: CHALLENGE, code_challenge_method: 'S256' }),
      }
      const asked = await send(test.server, { url: authorizationUrl(parameters) })
      let location = asked.headers['Location']
      if (asked.status === 200) {
        const { fields, headers } = await openConsent(test, parameters)
        secrets.add(fields['consent'] ?? '').add(headers.cookie.slice(headers.cookie.indexOf('=') + 1))
        const agreed = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
        location = agreed.headers['Location']
      }
      const code = new URL(location ?? '').searchParams.get('code') ?? ''
      codes.push({ code, verifier: each.pkce ? { code_verifier: VERIFIER } : {} })
      secrets.add(code)
    } else if (each.type === 'exchange') {
      const found = pick(codes, each.which)
      const wrong: Record<string, string> = each.wrong ? { redirect_uri: 'https://app.example/wrong' } : {}
      if (found !== undefined) take(await exchange(test, found.code, { ...found.verifier, ...wrong }, client))
    } else if (each.type === 'refresh') {
      const found = pick(pairs, each.which)
      const form: Record<string, string> = each.scope === undefined ? {} : { scope: each.scope }
      if (found !== undefined) take(await refresh(test, found.refresh_token, form, client))
    } else if (each.type === 'revoke') {
      const found = pick(pairs, each.which)
      if (found !== undefined) await revoke(test, found[each.kind], {}, client)
    } else if (each.type === 'wait') {
      clock.now += each.seconds
    } else if (each.type === 'spoil') {
      // Secrets in every wrong place: a query, a field that is not theirs, a registration, the name of a client.
      const secret = pick([...secrets], each.which) ?? ''
      const form = { grant_type: secret, code: secret, scope: secret, token: secret }
      const auth = basic({ clientId: 'somebody', clientSecret: secret })
      for (const path of ['/oauth2/token', '/oauth2/revoke', '/oauth2/auth']) {
        readable.push((await post(test.server, path, form, auth)).body)
        readable.push((await post(test.server, `${path}?client_secret=${secret}&token=${secret}`, form, auth)).body)
        readable.push((await send(test.server, { url: `${path}?client_id=web&state=${secret}&scope=${secret}` })).body)
      }
      for (const path of ['/oauth2/token', '/oauth2/revoke'])
        readable.push((await post(test.server, path, form, basic({ clientId: secret, clientSecret: secret }))).body)
      const asked = { refresh_token: secret, code: secret, scope: secret, redirect_uri: secret, code_verifier: secret }
      for (const grant_type of ['refresh_token', 'authorization_code', secret])
        readable.push((await post(test.server, '/oauth2/token', { ...asked, grant_type }, basic(OTHER))).body)
      readable.push((await send(test.server, { url: authorizationUrl({ scope: secret, state: undefined }) })).body)
      readable.push(JSON.stringify(await call(test, `${secret}x`)))
      const twice = { clientId: client.clientId, clientSecret: `${secret} x` }
      await test.server.applications
        .register(registration(), twice)
        .catch((error: unknown) => readable.push(String(error)))
    } else if (each.type === 'fail') {
      failing = each.at
      const found = pick(pairs, pairs.length - 1)
      if (found !== undefined) {
        // A retry within its grace needs no write, so it is answered even now: with tokens, which are the client's alone.
        take(await refresh(test, found.refresh_token, {}, client))
        readable.push((await revoke(test, found.access_token, {}, client)).body)
        readable.push(JSON.stringify(await call(test, found.access_token)))
      }
      await test.server.applications.suspend(client.clientId).catch((error: unknown) => readable.push(String(error)))
      failing = 'nothing'
    } else {
      const { clientSecret = '' } = await test.server.applications.register(registration())
      secrets.add(clientSecret)
    }
  }
  for (const event of test.events) readable.push(JSON.stringify(event))
  for (const error of test.errors) readable.push(String(error), error instanceof Error ? (error.stack ?? '') : '')
  secrets.delete('')
  return { test, client, secrets, readable }
}

/** Length of the piece of a secret that would be too much to find: 72 bits. */
const PIECE = 12

/** What of a credential nobody may read: the last 32 of its bytes; of anything else, all of it. */
function secretPart(text: string): string {
  const credential = parseCredential(text)
  return credential === undefined ? text : credential.secret
}

/** The ways in which somebody could have written it down. */
function spellings(text: string): readonly string[] {
  const secret = parseCredential(text)?.secret
  // What is written, and what it is written of.
  const wholes = secret === undefined ? [Buffer.from(text)] : [Buffer.from(secret), bytesOfSecret(secret)]
  return [
    text,
    secretPart(text),
    ...(secret === undefined ? [] : [secret]),
    ...wholes.flatMap((bytes) => [
      bytes.toString('base64url'),
      bytes.toString('base64'),
      bytes.toString('hex'),
      JSON.stringify([...bytes]).slice(1, -1),
    ]),
  ]
}

/** The 32 bytes of a secret. */
function bytesOfSecret(secret: string): Buffer {
  return Buffer.from(secret, 'base64url')
}

describe('what is kept and told', () => {
  const log: unknown[] = []
  beforeEach(() => {
    log.length = 0
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, method).mockImplementation((...parts) => void log.push(...parts))
  })
  afterEach(() => vi.restoreAllMocks())

  it('[28] has in it no secret that was ever issued, nor a piece of one, after any flow', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const { secrets, readable } = await walked(steps)
        const text = readable.join('\n')
        const pieces = new Set<string>()
        for (let index = 0; index + PIECE <= text.length; index++) pieces.add(text.slice(index, index + PIECE))
        for (const secret of secrets) {
          for (const spelling of spellings(secret)) expect(text.includes(spelling)).toBe(false)
          const part = secretPart(secret).replace(/^gws_/, '')
          for (let index = 0; index + PIECE <= part.length; index++)
            expect(pieces.has(part.slice(index, index + PIECE))).toBe(false)
        }
        expect(log).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it('[28] gives nobody anything that works: what is kept is refused, in whatever place and kind', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        const { test, client, readable } = await walked([
          { type: 'authorize', pkce: false },
          { type: 'exchange', which: 0, wrong: false },
          { type: 'refresh', which: 0 },
          // Several, since one in four digests has the two bits that name its own grant in a credential.
          ...[1, 2, 3, 4, 5, 6].flatMap((which): Step[] => [
            { type: 'authorize', pkce: false },
            { type: 'exchange', which, wrong: false },
          ]),
          ...steps,
        ])
        const text = readable.join('\n')
        const digests = new Set(text.match(/(?<![\w-])[\w-]{43}(?![\w-])/g))
        const grants = new Set([...text.matchAll(/grant:([\w-]{22})/g)].map((match) => match[1] as GrantId)) // what the key says
        const clientId = parseClientId(client.clientId)
        const clientKey = clientKeyOf(portableDigests, clientId ?? ('' as never)) // it was registered
        expect(digests.size).toBeGreaterThan(0)
        expect(grants.size).toBeGreaterThan(0)
        const tries: string[] = [...digests]
        for (const grantId of grants)
          for (const digest of digests)
            for (const kind of KINDS) tries.push(...credentialsOf(kind, clientKey, grantId, digest))
        // Some of them, since there are many: digests under the very grants that have them, the newest last.
        for (const record of readable) {
          const grantId = /^\["grant:([\w-]{22})"/.exec(record)?.[1] as GrantId | undefined // as above
          for (const digest of grantId === undefined ? [] : (record.match(/(?<![\w-])[\w-]{43}(?![\w-])/g) ?? []))
            for (const kind of KINDS) tries.push(...credentialsOf(kind, clientKey, grantId ?? expect.fail(), digest))
        }
        for (const attempt of [...new Set(tries.toReversed())].slice(0, 1200)) {
          expect((await call(test, attempt)).type).toBe('refused')
          expect((await refresh(test, attempt, {}, client)).status).toBe(400)
          expect((await exchange(test, attempt, {}, client)).status).toBe(400)
        }
        for (const digest of digests) {
          const { status } = await refresh(test, 'x', {}, { ...client, clientSecret: digest })
          expect(status).toBe(401)
        }
      }),
      { numRuns: 10 },
    )
  })

  it('[28] is made of enough randomness: each secret has 32 bytes of its own, or is derived from two such', async () => {
    const given: string[] = []
    const test = await testServer({
      entropy: (length) => {
        const bytes = globalThis.crypto.getRandomValues(new Uint8Array(length))
        given.push(Buffer.from(bytes).toString('hex'))
        return bytes
      },
    })
    const { clientSecret = '' } = await test.server.applications.register(registration())
    const placeOf = (bytes: Buffer): string => {
      const hex = bytes.toString('hex')
      expect(hex).toHaveLength(64)
      const call = given.findIndex((each) => each.includes(hex))
      expect(call).toBeGreaterThanOrEqual(0)
      return `${call}.${given[call]?.indexOf(hex)}`
    }
    const places = [placeOf(Buffer.from(clientSecret.replace('gws_', ''), 'base64url'))]
    const secrets: string[] = []
    for (let round = 0; round < 20; round++) {
      const { fields, headers } = await openConsent(test)
      const agreed = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
      const code = new URL(agreed.headers['Location'] ?? '').searchParams.get('code') ?? ''
      const { body: first } = await exchange(test, code)
      // The code is derived from its form, and from random bytes that leave the record with the exchange.
      for (const text of [first.access_token, first.refresh_token])
        places.push(placeOf(bytesOfSecret(parseCredential(text)?.secret ?? '')))
      const { body: second } = await refresh(test, first.refresh_token)
      const grantId = parseCredential(code)?.grantId
      const [record] = await test.store.read([`grant:${grantId}`])
      const salt = /"salt":"([^"]+)"/.exec(JSON.stringify(record?.value))?.[1] ?? ''
      places.push(placeOf(Buffer.from(salt, 'base64url')))
      for (const text of [code, first.access_token, first.refresh_token, second.access_token, second.refresh_token])
        secrets.push(bytesOfSecret(parseCredential(text)?.secret ?? '').toString('hex'))
    }
    expect(new Set(places).size).toBe(places.length)
    expect(new Set(secrets).size).toBe(secrets.length)
    expect(new Set(secrets.map((hex) => hex.length))).toEqual(new Set([64]))
  })
})

/** What the device flow leaves: with devices that wait, and ones that were agreed to, refused, redeemed and too late. */
async function walkedByDevices(options: Partial<AuthorizationServerOptions>): Promise<Trail> {
  const readable: string[] = []
  const secrets = new Set<string>()
  const clock = { now: 1_800_000_000 }
  const inner = memoryStore({ clock: () => clock.now })
  const recorded: RecordStore = {
    ...inner,
    write: (key, value, rest) => {
      readable.push(JSON.stringify([key, value, rest]))
      return inner.write(key, value, rest)
    },
  }
  const test = await testServer({ store: recorded, clock: () => clock.now, ...options })
  const begun = async (): Promise<Codes> => {
    const codes = await codesOf(test)
    secrets.add(codes.device_code)
    secrets.add(codes.user_code).add(codes.user_code.replace('-', ''))
    return codes
  }
  const polled = async (codes: Codes, client = WEB) => {
    const { status, body } = await poll(test, codes, client)
    if (status === 200) secrets.add(body.access_token).add(body.refresh_token)
    else readable.push(JSON.stringify(body))
    return body
  }
  const entered = async (codes: Codes) => {
    const page = await openDevicePage(test, `user_code=${codes.user_code}`)
    const consent = await enter(test, page, codes.user_code.toLowerCase())
    for (const { fields } of [page, consent]) secrets.add(fields['consent'] ?? '')
    secrets.add(page.headers.cookie.slice(page.headers.cookie.indexOf('=') + 1))
    return consent
  }
  const waits = await begun()
  await entered(waits)
  for (let count = 0; count < 3; count++) await polled(waits)
  const agreed = await begun()
  await decideOn(test, await entered(agreed))
  await polled(agreed, OTHER)
  const { refresh_token } = await polled(agreed)
  const { body } = await refresh(test, refresh_token)
  secrets.add(body.access_token).add(body.refresh_token)
  await polled(agreed)
  const refused = await begun()
  const consent = await entered(refused)
  await decideOn(test, consent, 'refuse')
  await decideOn(test, consent)
  await polled(refused)
  const late = await begun()
  clock.now += 600
  await polled(late)
  // In every wrong place, and so often that it is too often.
  for (const text of [late.device_code, late.user_code, agreed.device_code]) {
    const form = { grant_type: text, device_code: text, scope: text, client_id: text, code: text, token: text }
    for (const path of ['/oauth2/token', '/oauth2/device_authorization', '/oauth2/revoke'])
      for (const headers of [{}, basic(WEB), basic({ clientId: 'web', clientSecret: text })])
        readable.push((await post(test.server, path, form, headers)).body)
    for (let count = 0; count < 4; count++) await enterCode(test, text)
  }
  for (const event of test.events) readable.push(JSON.stringify(event))
  for (const error of test.errors) readable.push(String(error))
  secrets.delete('')
  return { test, client: WEB, secrets, readable }
}

describe('what is kept and told of devices', () => {
  it.each([
    ['without a derivation key', {}],
    ['with one', { derivationKey: new Uint8Array(32).fill(9) }],
  ])(
    '[44] has in it no user code, no device code and no other secret, in whatever spelling: %s',
    async (_, options) => {
      const { test, secrets, readable } = await walkedByDevices(options)
      const text = readable.join('\n')
      const reasons = test.events.flatMap((event) => ('reason' in event ? [event.reason] : []))
      for (const reason of ['polled_too_soon', 'user_code_unknown', 'too_many_attempts', 'consent_refused'] as const)
        expect(reasons).toContain(reason)
      expect([...secrets].filter((secret) => secret.length <= 9)).toHaveLength(8)
      for (const secret of secrets) {
        for (const spelling of spellings(secret)) expect(text.toLowerCase()).not.toContain(spelling.toLowerCase())
        const part = secretPart(secret)
        for (let index = 0; index + PIECE <= part.length; index++)
          expect(text.includes(part.slice(index, index + PIECE))).toBe(false)
      }
    },
  )
})

/** A digest in the place of a secret: by its bytes, and by the beginning of its text. */
function credentialsOf(
  kind: CredentialKind,
  clientKey: ClientKey,
  grantId: GrantId,
  digest: string,
): readonly string[] {
  return [secretFrom(Buffer.from(digest, 'base64url')), secretFrom(Buffer.from(digest))].map((secret) =>
    printCredential({ kind, clientKey, grantId, secret }),
  )
}

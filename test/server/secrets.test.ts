/**
 * Secrets, over whole flows with good and bad ends: in no event, no error, no answer but the one that hands them out,
 * and in the store in no form that anybody could use.
 * @module
 * @see SECURITY statements 5, 28 and 52; RFC 9700, section 4.2
 */
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import type { HttpResponse, JsonValue } from 'grantwell'
import { CREDENTIAL_PREFIXES } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { API, INTROSPECTION_PATH, withApi } from '../protocol/resource-server.js'
import {
  authorizationUrl,
  basic,
  CHALLENGE,
  call,
  guard,
  NATIVE,
  NATIVE_CALLBACK,
  OTHER,
  openConsent,
  post,
  send,
  VERIFIER,
  WEB,
} from '../support.js'
import type { WatchedServer } from './helpers.js'
import { StoreFailure, watchedServer } from './helpers.js'

type Client = { readonly clientId: string; readonly clientSecret?: string }

const STEPS = [
  'agree',
  'agree with PKCE',
  'refuse',
  'send a form again',
  'exchange',
  'exchange with a wrong redirect URI',
  'exchange with a wrong verifier',
  'exchange as another client',
  'exchange with a wrong secret',
  'exchange twice in one body',
  'exchange in the query',
  'refresh',
  'refresh as another client',
  'refresh with another scope',
  'refresh an old token',
  'revoke',
  'revoke as another client',
  'revoke with a wrong secret',
  'introspect',
  'introspect as another client',
  'introspect with a wrong secret',
  'call',
  'call for more',
  'call with the token in the query',
  'call with a code',
  'mistake one parameter for another',
  'swap identifier and secret',
  'wait',
  'wait long',
  'suspend',
  'break the store',
] as const

/** What a flow left: everything that somebody other than the client can see, and every secret that there was. */
interface Trace {
  readonly test: WatchedServer
  /** Answers, each with the secrets that it is there to hand out. */
  readonly answers: { readonly step: string; readonly response: HttpResponse; readonly given: readonly string[] }[]
  /** Everything that was ever written. */
  readonly written: string[]
  readonly credentials: Set<string>
  readonly others: Set<string>
}

/** The forms in which a secret could turn up. */
function formsOf(credential: string): string[] {
  const secret = Buffer.from(credential.slice(-43), 'base64url')
  const digest = (data: string | Uint8Array) => createHash('sha256').update(data)
  return [
    credential,
    credential.slice(-43),
    secret.toString('hex'),
    digest(secret).digest('base64url'),
    digest(credential).digest('base64url'),
    digest(secret).digest('hex'),
  ]
}

/** The digests of a secret that is a text. */
function formsOfText(text: string): string[] {
  const digest = createHash('sha256').update(text).digest()
  return [text, digest.toString('base64url'), digest.toString('hex'), Buffer.from(text).toString('base64')]
}

/** Walks through a flow. */
async function walk(steps: readonly (typeof STEPS)[number][]): Promise<Trace> {
  const test: WatchedServer = await withApi(await watchedServer({ onError: (error) => test.errors.push(error) }))
  const { server } = test
  const answers: Trace['answers'] = []
  const written: string[] = []
  const credentials = new Set<string>()
  const others = new Set([WEB.clientSecret, OTHER.clientSecret, API.clientSecret, VERIFIER])
  let code = 'none'
  let client: Client = WEB
  let pair = { access_token: 'none', refresh_token: 'none' }
  let old = pair
  let form: [Record<string, string>, Record<string, string>] = [{}, {}]
  let failing = 0

  test.instead.write = (key, value, options) => {
    if (failing-- > 0) throw new StoreFailure()
    written.push(JSON.stringify([key, value, options]))
    return test.store.write(key, value, options)
  }
  const note = (step: string, response: HttpResponse, given: readonly string[] = []): HttpResponse => {
    answers.push({ step, response, given })
    for (const each of given) credentials.add(each)
    return response
  }
  const asClient = (who: Client, secret = who.clientSecret): [Record<string, string>, Record<string, string>] =>
    secret === undefined
      ? [{ client_id: who.clientId }, {}]
      : [{}, basic({ clientId: who.clientId, clientSecret: secret })]
  const ask = async (step: string, fields: Record<string, string>, who = client, secret?: string) => {
    const [more, headers] = asClient(who, secret ?? who.clientSecret)
    const response = await post(server, '/oauth2/token', { ...fields, ...more }, headers)
    const body = JSON.parse(response.body)
    const got = response.status === 200 ? [body.access_token, body.refresh_token] : []
    note(step, response, got)
    if (response.status === 200) {
      old = pair
      pair = body
    }
  }
  const exchanging = () => ({
    grant_type: 'authorization_code',
    code,
    code_verifier: client === NATIVE ? VERIFIER : '',
  })
  const refreshing = () => ({ grant_type: 'refresh_token', refresh_token: pair.refresh_token })
  const revoking = async (step: string, who: Client, secret?: string) => {
    const [more, headers] = asClient(who, secret ?? who.clientSecret)
    for (const token of [pair.access_token, pair.refresh_token]) {
      note(step, await post(server, '/oauth2/revoke', { token, ...more }, headers))
    }
  }
  const introspecting = async (step: string, who: Client, secret?: string) => {
    const [more, headers] = asClient(who, secret ?? who.clientSecret)
    for (const token of [pair.access_token, pair.refresh_token, code])
      note(step, await post(server, INTROSPECTION_PATH, { token, ...more }, headers))
    note(step, await post(server, `${INTROSPECTION_PATH}?token=${code}`, { token: code }, headers))
  }
  const guarded = async (step: string, text: string, scope?: string, url?: string) => {
    const request = { headers: { authorization: `Bearer ${text}` }, ...(url !== undefined && { url }) }
    const found = await guard(server, request, scope === undefined ? {} : { scope })
    if (found.type === 'refused') note(step, found.response)
  }

  for (const step of steps) {
    const other = client === OTHER ? WEB : OTHER
    switch (step) {
      case 'agree':
      case 'agree with PKCE':
      case 'refuse': {
        client = step === 'agree with PKCE' ? NATIVE : WEB
        const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
        const request = client === NATIVE ? { client_id: 'native', redirect_uri: NATIVE_CALLBACK, ...pkce } : {}
        if ((await send(server, { url: authorizationUrl(request) })).status !== 200) break
        const shown = await openConsent(test, request)
        note(step, shown.page)
        others.add(shown.headers.cookie.split('=')[1] ?? '').add(shown.fields['consent'] ?? '')
        form = [{ ...shown.fields, decision: step === 'refuse' ? 'refuse' : 'agree' }, shown.headers]
        const response = await post(server, '/oauth2/auth', ...form)
        const given = new URL(response.headers['Location'] ?? 'none:').searchParams.get('code')
        note(step, response, given === null ? [] : [given])
        code = given ?? code
        break
      }
      case 'send a form again':
        // The same decision gets the same code, as long as that is good.
        note(step, await post(server, '/oauth2/auth', ...form), [code])
        break
      case 'exchange':
        await ask(step, exchanging())
        break
      case 'exchange with a wrong redirect URI':
        await ask(step, { ...exchanging(), redirect_uri: 'https://evil.example/' })
        break
      case 'exchange with a wrong verifier':
        await ask(step, { ...exchanging(), code_verifier: VERIFIER.toUpperCase() })
        break
      case 'exchange as another client':
        await ask(step, exchanging(), other)
        break
      case 'exchange with a wrong secret':
        await ask(step, exchanging(), WEB, OTHER.clientSecret)
        break
      case 'exchange twice in one body':
        note(step, await post(server, '/oauth2/token', `code=${code}&code=${code}`, basic(WEB)))
        break
      case 'exchange in the query':
        note(step, await post(server, `/oauth2/token?code=${code}`, exchanging(), basic(WEB)))
        break
      case 'refresh':
        await ask(step, refreshing())
        break
      case 'refresh as another client':
        await ask(step, refreshing(), other)
        break
      case 'refresh with another scope':
        await ask(step, { ...refreshing(), scope: 'repo-delete:rw' })
        break
      case 'refresh an old token':
        await ask(step, { ...refreshing(), refresh_token: old.refresh_token })
        break
      case 'revoke':
        await revoking(step, client)
        break
      case 'revoke as another client':
        await revoking(step, other)
        break
      case 'revoke with a wrong secret':
        await revoking(step, WEB, OTHER.clientSecret)
        break
      case 'introspect':
        await introspecting(step, API)
        break
      case 'introspect as another client':
        await introspecting(step, client)
        await introspecting(step, other)
        break
      case 'introspect with a wrong secret':
        await introspecting(step, API, OTHER.clientSecret)
        break
      case 'call':
        await guarded(step, pair.access_token)
        break
      case 'call for more':
        await guarded(step, pair.access_token, 'repo-delete:rw')
        break
      case 'call with the token in the query':
        await guarded(step, pair.access_token, undefined, `/repos?access_token=${pair.access_token}`)
        break
      case 'call with a code':
        await guarded(step, code)
        await guarded(step, pair.refresh_token)
        break
      case 'mistake one parameter for another':
        for (const secret of [code, pair.access_token, pair.refresh_token, WEB.clientSecret]) {
          const url = '/oauth2/token'
          note(step, await post(server, url, { grant_type: secret }, basic(WEB)))
          note(
            step,
            await post(server, url, { grant_type: 'refresh_token', refresh_token: secret, scope: secret }, basic(WEB)),
          )
          note(step, await post(server, url, { [secret]: secret }, basic(WEB)))
          note(step, await post(server, url, `${secret}=%zz&code=%zz${secret}`, basic(WEB)))
          note(step, await send(server, { url: authorizationUrl({ client_id: secret }) }))
          note(step, await send(server, { url: authorizationUrl({ redirect_uri: `https://${secret}/` }) }))
          note(step, await send(server, { url: authorizationUrl({ scope: secret, response_type: secret }) }))
          note(
            step,
            await post(server, '/oauth2/auth', { ...form[0], decision: secret, resource_scope: secret }, form[1]),
          )
        }
        break
      case 'swap identifier and secret':
        for (const secret of [code, pair.access_token, pair.refresh_token, WEB.clientSecret]) {
          const swapped = basic({ clientId: secret, clientSecret: 'web' })
          for (const url of ['/oauth2/token', '/oauth2/revoke', INTROSPECTION_PATH]) {
            note(step, await post(server, url, { token: secret }, swapped))
            note(step, await post(server, url, { client_id: secret, client_secret: 'web' }))
            note(step, await post(server, url, { client_id: secret, token: secret }))
          }
        }
        break
      case 'wait':
        test.clock.now += 100
        break
      case 'wait long':
        test.clock.now += 29_000
        break
      case 'suspend':
        await server.applications.suspend('web')
        note(step, await post(server, '/oauth2/token', exchanging(), basic(WEB)))
        await server.applications.reinstate('web')
        break
      case 'break the store':
        failing = 1
        await ask(step, refreshing())
        failing = 0
        test.instead.read = () => Promise.reject(new StoreFailure())
        await ask(step, refreshing())
        await revoking(step, client)
        await introspecting(step, API)
        // The store did not get so far as to tell that there is no such client.
        note(step, await post(server, '/oauth2/token', {}, basic({ clientId: code, clientSecret: code })))
        test.instead.read = undefined
        break
    }
  }
  for (const none of ['none', '']) credentials.delete(none)
  return { test, answers, written, credentials, others }
}

const flows = fc
  .array(fc.constantFrom(...STEPS), { maxLength: 24 })
  .map((steps): (typeof STEPS)[number][] => ['agree', ...steps])

/** Every step at least once, with tokens and without. */
const EVERYTHING: [(typeof STEPS)[number][]][] = [
  [['agree', 'exchange', ...STEPS, 'exchange', 'refresh', ...STEPS]],
  [[...STEPS].reverse()],
  [['agree with PKCE', 'exchange', 'refresh', ...STEPS]],
]

const parameters = { numRuns: 40, examples: EVERYTHING }

describe('SECURITY secrets in whole flows', () => {
  it('[28] no event ever has a code, a token, a secret, a verifier, a cookie, a form’s token, or a digest of one', async () => {
    await fc.assert(
      fc.asyncProperty(flows, async (steps) => {
        const { test, credentials, others } = await walk(steps)
        const events = JSON.stringify(test.events)
        for (const credential of credentials) {
          for (const form of formsOf(credential)) expect(events).not.toContain(form)
        }
        for (const text of others) for (const form of formsOfText(text)) expect(events).not.toContain(form)
      }),
      parameters,
    )
  })

  it('[5] [28] [52] no answer has one, but the one that hands it out, nor what the store said, a stack or a path', async () => {
    await fc.assert(
      fc.asyncProperty(flows, async (steps) => {
        const { answers, credentials } = await walk(steps)
        const all = [...credentials].map((credential): [string, string[]] => [credential, formsOf(credential)])
        for (const { step, response, given } of answers) {
          const text = JSON.stringify(response)
          for (const [credential, [whole, ...derived]] of all) {
            if (!given.includes(credential)) expect(text, step).not.toContain(whole)
            // Not even where it is handed out does it come with its digest.
            for (const form of given.includes(credential) ? derived.slice(1) : derived)
              expect(text, step).not.toContain(form)
          }
          for (const secret of [WEB.clientSecret, OTHER.clientSecret, API.clientSecret]) {
            for (const form of formsOfText(secret)) expect(text, step).not.toContain(form)
          }
          // Its digest is the challenge, which the browser carries about.
          expect(text, step).not.toContain(VERIFIER)
          for (const word of ['hunter2', 'postgres', 'SELECT', 'node_modules', '.ts:', '.js:', '    at ']) {
            expect(text, step).not.toContain(word)
          }
        }
      }),
      parameters,
    )
  })

  it('[52] the errors that the host is told are the ones that were thrown, and nothing was put into them', async () => {
    await fc.assert(
      fc.asyncProperty(flows, async (steps) => {
        const { test } = await walk(steps)
        for (const error of test.errors) {
          expect(error).toStrictEqual(new StoreFailure())
          expect(error).not.toHaveProperty('cause')
        }
      }),
      { ...parameters, numRuns: 10 },
    )
  })

  it('[28] what the store holds, or ever held, lets nobody use a token, a code or a client', async () => {
    await fc.assert(
      fc.asyncProperty(flows, async (steps) => {
        const { test, written, credentials, others } = await walk(steps)
        const everything = written.join()
        for (const credential of credentials) {
          const [whole = '', end = '', secret = '', hex = ''] = formsOf(credential)
          for (const form of [whole, end, secret, hex]) expect(everything).not.toContain(form)
        }
        for (const text of others) expect(everything).not.toContain(text)

        // A thief takes every value that could be a secret, and tries it as one of each kind, for every grant.
        test.instead.write = undefined
        const values = new Set<string>()
        for (const line of written)
          for (const value of strings(JSON.parse(line))) if (value.length === 43) values.add(value)
        const grants = new Set([...credentials].map((credential) => credential.slice(4, 41)))
        for (const value of values) {
          const { status } = await post(
            test.server,
            '/oauth2/token',
            {},
            basic({ clientId: 'web', clientSecret: value }),
          )
          expect(status).toBe(401)
          for (const grant of grants) {
            // 16 characters of the client key, and the grant's identifier in the 16 bytes behind.
            const head = Buffer.from(grant.padEnd(40, 'A'), 'base64url').subarray(0, 28)
            const stolen = Buffer.concat([head, Buffer.from(value, 'base64url')]).toString('base64url')
            expect((await call(test, CREDENTIAL_PREFIXES.access_token + stolen)).type).toBe('refused')
            for (const [grant_type, name] of [
              ['authorization_code', 'code'],
              ['refresh_token', 'refresh_token'],
            ] as const) {
              const form = { grant_type, [name]: CREDENTIAL_PREFIXES[name] + stolen }
              expect((await post(test.server, '/oauth2/token', form, basic(WEB))).status).not.toBe(200)
            }
          }
        }
      }),
      { ...parameters, numRuns: 6 },
    )
  })

  it('[28] codes and tokens have 256 bits of entropy: no two share any part of their secrets', async () => {
    const { credentials } = await walk(Array(20).fill(['agree', 'exchange', 'refresh']).flat())
    expect(credentials.size).toBe(20 * 5)
    const parts = new Set<string>()
    for (const credential of credentials) {
      const secret = Buffer.from(credential.slice(-43), 'base64url')
      expect(secret).toHaveLength(32)
      for (const at of [0, 8, 16, 24]) parts.add(secret.subarray(at, at + 8).toString('hex'))
    }
    expect(parts.size).toBe(credentials.size * 4)
  })

  it('[5] every page and every redirect forbids to say where it came from', async () => {
    await fc.assert(
      fc.asyncProperty(flows, async (steps) => {
        for (const { response } of (await walk(steps)).answers) {
          const isPage = response.headers['Content-Type']?.startsWith('text/html') === true
          if (isPage || response.status === 302) expect(response.headers['Referrer-Policy']).toBe('no-referrer')
          expect(response.headers['Cache-Control']).toBe('no-store')
        }
      }),
      { ...parameters, numRuns: 10 },
    )
  })
})

/** Every string in a JSON value. */
function strings(value: JsonValue): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : []
}

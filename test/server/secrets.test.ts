/**
 * Secrets, over whole flows with good and bad ends: in no event, no error, no answer but the one that hands them out,
 * and in the store in no form that anybody could use.
 * @module
 * @see SECURITY statements 5, 28 and 52; RFC 9700, section 4.2
 */
import * as fc from 'fast-check'
import type { CredentialKind, GrantId } from 'grantwell/core'
import { clientKeyOf, parseClientId, parseCredential, portableDigests } from 'grantwell/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { API } from '../protocol/resource-server.js'
import {
  authorize,
  basic,
  call,
  exchange,
  OTHER,
  post,
  refresh,
  registration,
  testServer,
  VERIFIER,
  WEB,
} from '../support.js'
import { StoreFailure } from './helpers.js'
import type { Step } from './secret-flows.js'
import { STEPS, walk } from './secret-flows.js'
import { credentialsOf, digestsOf, expectNoPiece, secretPart } from './secret-forms.js'

const KINDS: readonly CredentialKind[] = ['code', 'access_token', 'refresh_token', 'device_code']

const flows = fc.array(fc.constantFrom(...STEPS), { maxLength: 24 }).map((steps): Step[] => ['agree', ...steps])
const consents = fc.constantFrom('always' as const, 'once' as const)

/** Every step at least once, with tokens and without. */
const EVERYTHING: [Step[], 'always' | 'once'][] = [
  [['agree', 'exchange', ...STEPS, 'exchange', 'refresh', ...STEPS], 'always'],
  [[...STEPS].reverse(), 'always'],
  [['agree with PKCE', 'exchange', 'refresh', ...STEPS], 'always'],
  [['agree', 'agree', 'exchange', 'register', ...STEPS], 'once'],
]

const parameters = { numRuns: 40, examples: EVERYTHING }

/** Every text of 43 characters that is kept: digests, and whatever else a thief could take for a secret. */
const textsOf43 = (kept: string): readonly string[] => [...new Set(kept.match(/(?<![\w-])[\w-]{43}(?![\w-])/g))]

describe('SECURITY secrets in whole flows', () => {
  const log: unknown[] = []
  beforeEach(() => {
    log.length = 0
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, method).mockImplementation((...parts) => void log.push(...parts))
  })
  afterEach(() => vi.restoreAllMocks())

  it('[28] no event and no error has a piece of a code, a token, a secret, a verifier, a cookie or a form’s token, or a digest of one', async () => {
    await fc.assert(
      fc.asyncProperty(flows, consents, async (steps, consent) => {
        const { test, credentials, others, thrown } = await walk(steps, consent)
        const told = [JSON.stringify(test.events), ...test.errors.map(String), ...thrown].join('\n')
        const secrets = [...credentials, ...others]
        expectNoPiece(told, secrets)
        for (const secret of secrets) for (const digest of digestsOf(secret)) expect(told).not.toContain(digest)
        expect(log).toEqual([])
      }),
      parameters,
    )
  })

  it('[5] [28] [52] no answer has one, but the one that hands it out, nor what the store said, a stack or a path', async () => {
    await fc.assert(
      fc.asyncProperty(flows, consents, async (steps, consent) => {
        const { answers, credentials, others } = await walk(steps, consent)
        // The browser carries the tokens and cookies of its forms about, and the digest of a verifier, which is the challenge.
        const issued = [...others].filter((text) => text.startsWith('gws_'))
        const secrets = [...credentials, ...issued, WEB.clientSecret, OTHER.clientSecret, API.clientSecret]
        // What an answer is there to hand out is taken out of it: not even there may it stand in another spelling.
        const told = answers.map(({ step, response, given }) => {
          const whole = JSON.stringify(response)
          return `${step}: ${given.reduce((text, each) => text.replaceAll(each, 'given'), whole)}`
        })
        const text = told.join('\n')
        expectNoPiece(text, [...secrets, VERIFIER])
        for (const secret of secrets) for (const digest of digestsOf(secret)) expect(text).not.toContain(digest)
        for (const word of ['hunter2', 'postgres', 'SELECT', 'node_modules', '.ts:', '.js:', '    at '])
          expect(text).not.toContain(word)
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
      { numRuns: 10, examples: EVERYTHING.map(([steps]): [Step[]] => [steps]) },
    )
  })

  it('[28] what the store holds, or ever held, has no piece of a secret', async () => {
    await fc.assert(
      fc.asyncProperty(flows, consents, async (steps, consent) => {
        const { written, credentials, others } = await walk(steps, consent)
        expectNoPiece(written.join('\n'), [...credentials, ...others])
      }),
      parameters,
    )
  })

  it('[28] what the store holds lets nobody use a token, a code or a client: it is refused in whatever place and kind', async () => {
    await fc.assert(
      fc.asyncProperty(flows, async (steps) => {
        // Several grants, since one in four digests has the two bits that end a credential.
        const begun: Step[] = Array.from({ length: 6 }, (): Step[] => ['agree', 'exchange', 'refresh']).flat()
        const { test, written } = await walk([...begun, ...steps])
        test.instead.write = undefined
        const digests = textsOf43(written.join('\n'))
        const grants = new Set(written.flatMap((line) => (/^\["grant:([\w-]{22})"/.exec(line)?.[1] ?? []) as GrantId[])) // what the key says
        expect([digests.length > 0, grants.size > 5]).toEqual([true, true])
        const clientKey = clientKeyOf(portableDigests, parseClientId('web') ?? expect.fail())
        const credentials = (grantId: GrantId, some: readonly string[]): readonly string[] =>
          some.flatMap((digest) => KINDS.flatMap((kind) => credentialsOf(kind, clientKey, grantId, digest)))
        // Digests under the very grants that have them, the newest first; and then under any.
        const own = written.toReversed().flatMap((line) => {
          const grantId = /^\["grant:([\w-]{22})"/.exec(line)?.[1] as GrantId | undefined // as above
          return grantId === undefined ? [] : credentials(grantId, textsOf43(line))
        })
        const tries = new Set([...own, ...digests, ...[...grants].flatMap((grantId) => credentials(grantId, digests))])
        for (const stolen of [...tries].slice(0, 1200)) {
          expect((await call(test, stolen)).type).toBe('refused')
          expect((await refresh(test, stolen)).status).toBe(400)
          expect((await exchange(test, stolen)).status).toBe(400)
        }
        for (const digest of digests) {
          const client = basic({ clientId: 'web', clientSecret: digest })
          expect((await post(test.server, '/oauth2/token', {}, client)).status).toBe(401)
        }
      }),
      { numRuns: 6, examples: EVERYTHING.map(([steps]): [Step[]] => [steps]) },
    )
  })

  it('[28] every secret is 256 random bits of its own, drawn once, or derived from such', async () => {
    const drawn: string[] = []
    const test = await testServer({
      entropy: (length) => {
        const bytes = crypto.getRandomValues(new Uint8Array(length))
        drawn.push(Buffer.from(bytes).toString('hex'))
        return bytes
      },
    })
    const { clientSecret = '' } = await test.server.applications.register(registration())
    const random = [clientSecret.replace('gws_', '')]
    const credentials: string[] = []
    for (let round = 0; round < 20; round++) {
      const { code } = await authorize(test)
      const { body: first } = await exchange(test, code)
      // The code is derived from its form, and from random bytes that leave the record with the exchange.
      random.push(...[first.access_token, first.refresh_token].map(secretPart))
      const { body: second } = await refresh(test, first.refresh_token)
      // The pair of a refresh is derived from this salt and the token that was shown.
      const [record] = await test.store.read([`grant:${parseCredential(code)?.grantId}`])
      random.push(/"salt":"([^"]+)"/.exec(JSON.stringify(record?.value))?.[1] ?? expect.fail('no salt'))
      for (const { access_token, refresh_token } of [first, second]) credentials.push(access_token, refresh_token)
      credentials.push(code)
    }
    const places = random.map((text) => {
      const hex = Buffer.from(text, 'base64url').toString('hex')
      expect(hex).toHaveLength(64)
      const draws = drawn.filter((each) => each.includes(hex))
      expect(draws).toHaveLength(1)
      return `${drawn.indexOf(draws[0] ?? '')}.${draws[0]?.indexOf(hex)}`
    })
    expect(new Set(places).size).toBe(places.length)
    expect(new Set(drawn).size).toBe(drawn.length)
    const parts = credentials.flatMap((credential) => {
      const secret = Buffer.from(secretPart(credential), 'base64url')
      expect(secret).toHaveLength(32)
      return [0, 8, 16, 24].map((at) => secret.subarray(at, at + 8).toString('hex'))
    })
    expect(new Set(parts).size).toBe(parts.length)
  })

  it('[5] every page and every redirect forbids to say where it came from', async () => {
    await fc.assert(
      fc.asyncProperty(flows, consents, async (steps, consent) => {
        for (const { response } of (await walk(steps, consent)).answers) {
          const isPage = response.headers['Content-Type']?.startsWith('text/html') === true
          const leads = isPage || response.status === 302
          expect(leads ? response.headers['Referrer-Policy'] : 'no-referrer').toBe('no-referrer')
          expect(response.headers['Cache-Control']).toBe('no-store')
        }
      }),
      { ...parameters, numRuns: 10 },
    )
  })
})

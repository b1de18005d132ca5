/**
 * What the client reads of a service's answers, and of what it kept.
 * @module
 */
import * as oauth from 'oauth4webapi'
import { challengesOf, parameterOf, parseChallenges } from '../../src/client/discovery/challenge.js'
import { scopeOf } from '../../src/client/discovery/required-scope.js'
import { ClientError } from '../../src/client/errors.js'
import { toldTime } from '../../src/client/fetch/mac.js'
import { nextStep } from '../../src/client/fetch/redirects.js'
import { isSafeAddress, parseAddress } from '../../src/client/http/address.js'
import { createWholeFetch, memberOf, retryAfterOf } from '../../src/client/http/http.js'
import { plain } from '../../src/client/http/plain.js'
import { escaped } from '../../src/client/node/html.js'
import { readInformation } from '../../src/client/registration/client-information.js'
import { isBearer, isCredential } from '../../src/client/tokens/tokens-check.js'
import { parseTokens } from '../../src/client/tokens/tokens-json.js'
import { FACTOR } from './growth.js'
import type { Inputs } from './shapes.js'
import { all, of, ofText } from './shapes.js'

/** An answer of a service whose challenge is this, as a client reads it. */
async function answered(challenge: string): Promise<unknown> {
  const headers = { 'www-authenticate': encodeURI(challenge).replaceAll('%20', ' ').replaceAll('%22', '"') }
  const fetch = async () => new Response('', { status: 401, headers })
  const parts = { method: 'POST', headers: {}, redirect: 'manual', body: undefined } as const
  const answer = await createWholeFetch({ fetch, timeout: 60 }, undefined)('https://git.example/oauth2/revoke', parts)
  return oauth.processRevocationResponse(answer).catch(() => undefined) // it is a refusal
}

/** Beginnings and ends of challenges. A header may have 8 KiB. */
const CHALLENGES: readonly (readonly [string, string])[] = [
  ['', ''],
  ['Bearer ', ''],
  ['Bearer scope="', '"'],
  ['Bearer scope="', ''],
  ['Bearer a=', ', b="c"'],
]
const HEADER = { small: 8192 / FACTOR, large: 8192 }

/** An answer about a registration with these members, as a client reads it. */
function informed(body: object): Promise<unknown> {
  return readInformation('https://git.example', Response.json(body)).catch(() => undefined) // it may be refused
}

/** The parsers of `src/client`. */
export const CLIENT: Readonly<Record<string, Inputs>> = {
  // A fetch gives no headers beyond 16 KiB, which is what Node takes.
  'client/http/http.ts createWholeFetch': ofText(
    answered,
    [
      ['', ''],
      ['Bearer ', ''],
    ],
    { small: 1024, large: 1024 * FACTOR },
  ),
  'client/http/plain.ts plain': ofText(plain),
  'client/http/http.ts memberOf': of({
    'a long answer': (size) => () => memberOf(new Response(JSON.stringify({ error: 'a'.repeat(size) })), 'error'),
    'a deep answer': (size) => () => memberOf(new Response('['.repeat(size)), 'error'),
  }),
  'client/http/http.ts retryAfterOf': ofText(
    (text) => {
      const headers = { 'retry-after': text.replace(/[^\x20-\x7e]/g, '') }
      return retryAfterOf(new ClientError('ERR_UNREACHABLE', 'busy', { cause: new Response('', { headers }) }), 0)
    },
    [
      ['', ''],
      ['Sun, 06 Nov 1994 08:49:37 GMT', ''],
      ['(', ''],
    ],
  ),
  'client/fetch/redirects.ts nextStep': ofText(
    (text) => {
      const headers = new Headers({ location: encodeURI(text) })
      const step = { method: 'GET', url: new URL('https://a.example/'), headers: new Headers(), hasBody: false }
      try {
        return nextStep(step, new Response(null, { status: 302, headers }), true)
      } catch {
        return undefined // it leads nowhere
      }
    },
    [
      ['', ''],
      ['https://', ''],
      ['//', ''],
      ['/', ''],
    ],
  ),
  'client/tokens/tokens-check.ts isCredential': ofText(isCredential),
  'client/tokens/tokens-check.ts isBearer': ofText(isBearer),
  'client/tokens/tokens-json.ts parseTokens': ofText(parseTokens, [
    ['', ''],
    ['{"v":1,"issuer":"', '"}'],
    ['[', ']'],
  ]),
  'client/http/address.ts parseAddress': all(
    ofText(parseAddress, [
      ['', ''],
      ['https://', ''],
      ['https://', '.example/'],
      ['https://git.example/', ''],
    ]),
    of({
      'a host of marks in the wrong order': (size) => () =>
        parseAddress(`https://a${'\u0301'.repeat(size / 2)}${'\u0323'.repeat(size / 2)}/`),
      'a host of characters that are all different': (size) => {
        const host = Array.from({ length: size }, (_, index) => String.fromCodePoint(0x20000 + (index % 42_000)))
        const address = `https://${host.join('')}/`
        return () => parseAddress(address)
      },
    }),
  ),
  'client/http/address.ts isSafeAddress': ofText(
    (text) => isSafeAddress(text, 'https://git.example'),
    [
      ['', ''],
      ['https://', ''],
      ['https://git.example/', ''],
    ],
  ),
  'client/fetch/mac.ts toldTime': ofText(
    (text) => {
      const headers = { 'www-authenticate': text.replace(/[^\x20-\x7e]/g, '') }
      return toldTime(new Response('', { headers }), { macKey: 'k', ts: '1', nonce: 'n' })
    },
    [
      ['', ''],
      ['MAC ts="', '"'],
      ['MAC ts="1", tsm="', '"'],
    ],
  ),
  'client/discovery/challenge.ts parseChallenges': ofText(parseChallenges, CHALLENGES, HEADER),
  'client/discovery/challenge.ts challengesOf': ofText(challengesOf, CHALLENGES, HEADER),
  'client/discovery/challenge.ts parameterOf': ofText(
    (text) => parameterOf(parseChallenges(text), 'none'),
    CHALLENGES,
    HEADER,
  ),
  'client/discovery/required-scope.ts scopeOf': ofText((text) => scopeOf([new Map([['scope', text]])])),
  'client/registration/client-information.ts readInformation': of({
    'a long identifier': (size) => () => informed({ client_id: 'a'.repeat(size) }),
    'a long address': (size) => () =>
      informed({ client_id: 'a', registration_client_uri: `https://${'\u00fc'.repeat(size)}.example/` }),
    'many members': (size) => {
      const names = Array.from({ length: size / 16 }, (_, index) => [`member${index}`, index])
      return () => informed({ client_id: 'a', ...Object.fromEntries(names) })
    },
  }),
  'client/node/html.ts escaped': ofText(escaped),
}

/**
 * Everything that reads what a stranger wrote, each with the inputs that would be dear: what is repeated, what nearly fits.
 * @module
 */
import type { HttpHeaders, HttpRequest } from 'grantwell'
import { portableDigests, serviceScopes } from 'grantwell'
import { editText } from 'grantwell/metadata'
import * as oauth from 'oauth4webapi'
import { ClientError } from '../../src/client/errors.js'
import { memberOf, plain, retryAfterOf, wholeAnswers } from '../../src/client/http.js'
import { nextStep } from '../../src/client/redirects.js'
import { parseTokens } from '../../src/client/tokens-json.js'
import { constantTimeEqual, decodeBase64url, encodeBase64url } from '../../src/core/base64url.js'
import { parseCredential, parseGrantId } from '../../src/core/credential.js'
import { digestOf } from '../../src/core/digests.js'
import type { ImageType } from '../../src/core/image.js'
import { imageSize, imageType } from '../../src/core/image.js'
import { matchRedirectUri, parseRedirectUri, redirectUriRule } from '../../src/core/redirect-uri.js'
import type { RegistrationRules } from '../../src/core/registration-check.js'
import { checkRegistration, isReason } from '../../src/core/registration-check.js'
import { normalizeScopes, parseScopes, splitScopes } from '../../src/core/scopes.js'
import { isLine, isLines, isVisible, isWithin } from '../../src/core/text.js'
import { parseUserCode } from '../../src/core/user-code.js'
import { parseClientId } from '../../src/core/values.js'
import { bearerToken, macAttributes, tokenInQuery } from '../../src/protocol/bearer.js'
import { presentedClient } from '../../src/protocol/client-authentication.js'
import { browserKeyOf, chosenResources, fromOwnPage, verifyFormToken } from '../../src/protocol/consent.js'
import { macOf, presentedMac, targetOf } from '../../src/protocol/mac.js'
import { headersOf, pathOf, queryOf, revocationResponse } from '../../src/protocol/message.js'
import { bodyParameters, decodeComponent, formOf, listIn, parseParameters } from '../../src/protocol/parameters.js'
import { networkOf } from '../../src/user-code-limiter.js'
import type { Case, Sizes } from './growth.js'
import { FACTOR, WHOLE } from './growth.js'

/** Inputs of one parser, by what they are. */
export type Inputs = ReadonlyMap<string, { readonly prepare: Case; readonly sizes: Sizes }>

/** What texts are made of: what separates, what ends, what is escaped, and what is plain. */
const UNITS = [
  'a',
  'A',
  '0',
  ' ',
  '\t',
  ',',
  ';',
  ':',
  '.',
  '-',
  '=',
  '&',
  '%',
  '%41',
  '%C3%A9',
  '+',
  '"',
  '\\',
  '/',
  '?',
]
const WIDE = ['é', '\u0301', '\u{1f511}', '\n', '[', ']', '::', '. ', '; ', ', ', '= ', 'a=b&', 'a="b",', 'a=b; ', ' =']

/** What stands before and behind what is repeated. */
type Around = readonly [head: string, tail: string]

/** A parser of a text. The wide units are left out where a platform lets nothing but ASCII through. */
function ofText(parse: (text: string) => unknown, arounds: readonly Around[] = [['', '']], sizes = WHOLE): Inputs {
  const inputs = new Map<string, { prepare: Case; sizes: Sizes }>()
  for (const [head, tail] of [...arounds, ['', '\0'] as const]) {
    for (const unit of [...UNITS, ...WIDE]) {
      const prepare: Case = (size) => {
        // Flat, as what comes from a socket is.
        const text = Buffer.from(head + unit.repeat(size / unit.length) + tail).toString()
        return () => parse(text)
      }
      inputs.set(JSON.stringify(`${head}${unit}...${tail}`), { prepare, sizes })
    }
  }
  return inputs
}

/** Where the length of a text ends what is read: 350 characters that a person sees, of 16 code units each. */
const SEEN: Sizes = { small: 350, large: 350 * FACTOR }

/** Where a count ends what is read: the large input has as many parts as may be. */
const COUNTED: Sizes = { small: 2048 / FACTOR, large: 2048 }

const GIF_HEAD = 'GIF89a\x01\0\x01\0\0\0\0'

/** An image of a type, filled with a pattern behind a header. */
function sizeOfImage(head: string, pattern: string, type: ImageType): Case {
  return (size) => {
    const text = (head + pattern.repeat(size)).slice(0, size)
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
    return () => imageSize(bytes, type)
  }
}

function of(cases: Readonly<Record<string, Case>>, sizes: Sizes = WHOLE): Inputs {
  return new Map(Object.entries(cases).map(([name, prepare]) => [name, { prepare, sizes }]))
}

function all(...inputs: readonly Inputs[]): Inputs {
  return new Map(inputs.flatMap((each) => [...each]))
}

const FORM = 'application/x-www-form-urlencoded'

function requestOf(text: string, headers: HttpHeaders = {}): HttpRequest {
  const body = { type: 'text', text } as const
  return {
    method: 'POST',
    url: '/oauth2/token',
    headers: { 'content-type': FORM, ...headers },
    body,
    native: undefined,
  }
}

function parsed(fields: unknown): HttpRequest {
  return { ...requestOf(''), body: { type: 'parsed', fields } }
}

/** Forms whose parameters are counted: one name again and again, in every state that a value can be in, and many names. */
function ofForms(parse: (text: string) => unknown): Inputs {
  const pairs: Record<string, (index: number) => string> = {
    'one name': () => 'a=b',
    'one name without a value': () => 'a',
    'one name, malformed at the end': (index) => (index === 2047 ? 'a=%' : 'a=b'),
    'one name, malformed at first': (index) => (index === 0 ? 'a=%' : 'a=b'),
    'one name in two spellings': (index) => (index % 2 === 0 ? 'a=b' : '%61=b'),
    'many names': (index) => `name${index}=b`,
    'many numbers as names': (index) => `${index * 4096}=b`,
    'many names, each twice': (index) => `name${index >> 1}=b`,
  }
  const cases = Object.entries(pairs).map(([name, pair]): [string, Case] => [
    name,
    (size) => {
      const text = Buffer.from(Array.from({ length: size }, (_, index) => pair(index)).join('&')).toString()
      return () => parse(text)
    },
  ])
  return of(Object.fromEntries(cases), COUNTED)
}

const catalogue = serviceScopes()
const redirect = { matching: 'domain', allowLocalhost: true } as const
const registered = {
  type: 'confidential',
  redirectUris: ['https://app.example/callback', 'http://127.0.0.1/callback'],
  authorizedDomain: 'app.example',
  allowSubdomains: true,
} as const
const rules: RegistrationRules = {
  scopes: catalogue,
  redirect,
  specifiedResources: true,
  macTokens: true,
  reasons: 'required',
  logo: 'required',
  redirectUris: 'required',
}

const REDIRECT_URIS: readonly Around[] = [
  ['', ''],
  ['https://app.example/', ''],
  ['https://', '/'],
  ['https://app.example/?', '#'],
  ['com.example.', ':/callback'],
  ['http://127.0.0.1/', ''],
]

const binding = { issuer: 'https://git.example', subject: 'ada', browserKey: new Uint8Array(32), shown: ['x'] }
const body = (values: { client_id?: string; client_secret?: string }) => ({
  client_id: undefined,
  client_secret: undefined,
  ...values,
})

/** Registrations of which one field is what it should not be. */
function ofRegistrations(): Inputs {
  const checked = (given: unknown) => () => checkRegistration(given, rules)
  const texts = (
    name: string,
    make: (text: string) => unknown,
    sizes = WHOLE,
    arounds: readonly Around[] = [['', '']],
  ) =>
    new Map(
      [...ofText((text) => checkRegistration(make(text), rules), arounds, sizes)].map(([of, each]) => [
        `${name} ${of}`,
        each,
      ]),
    )
  const list = <Item>(make: (index: number) => Item, size: number): Item[] =>
    Array.from({ length: size }, (_, index) => make(index))
  const object = (name: (index: number) => string, size: number) =>
    Object.fromEntries(list((index): [string, string] => [name(index), ''], size))
  return all(
    texts('name', (name) => ({ name }), { small: 50, large: 50 * FACTOR }),
    texts('description', (description) => ({ description }), SEEN),
    texts('reason', (reason) => ({ scopes: [{ scope: 'repo-code:r', reason }] }), SEEN),
    texts('website', (website) => ({ website }), { small: 128, large: 128 * FACTOR }, [
      ['', ''],
      ['https://', ''],
    ]),
    texts('redirect URI', (uri) => ({ redirectUris: [uri] }), { small: 128, large: 128 * FACTOR }, REDIRECT_URIS),
    ...['name', 'website', 'type', 'authorizedDomain', 'resourceScope', 'tokenType'].map((field) =>
      texts(field, (text) => ({ [field]: text })),
    ),
    of({
      'many redirect URIs': (size) => checked({ redirectUris: list((index) => `https://h${index}.example/`, size) }),
      'many that are none': (size) => checked({ redirectUris: list(() => 'x', size) }),
      'many scopes': (size) => checked({ scopes: list(() => 'repo-code:r', size) }),
      'a logo': (size) => checked({ logo: new Uint8Array(size) }),
    }),
    of(
      {
        'many fields': (size) => checked(object((index) => `field${index}`, size)),
        'many numbers as fields': (size) => checked(object((index) => `${index * 4096}`, size)),
        'one scope with many fields': (size) => checked({ scopes: [object((index) => `field${index}`, size)] }),
      },
      { small: 1024, large: 1024 * FACTOR },
    ),
  )
}

/** Authorization headers, of the schemes that there are. */
const SCHEMES: readonly Around[] = ['', 'Basic ', 'Bearer ', 'Bearer gwa_', 'MAC ', 'MAC id="'].map((head) => [
  head,
  '',
])

function headerCase(
  read: (headers: HttpHeaders) => unknown,
  name: string,
  arounds: readonly Around[] = [['', '']],
): Inputs {
  return ofText((value) => read({ [name]: value }), arounds)
}

/** An answer of a service whose challenge is this, as a client reads it. */
async function answered(challenge: string): Promise<unknown> {
  const headers = { 'www-authenticate': encodeURI(challenge).replaceAll('%20', ' ').replaceAll('%22', '"') }
  const fetch = async () => new Response('', { status: 401, headers })
  const parts = { method: 'POST', headers: {}, redirect: 'manual', body: undefined } as const
  const answer = await wholeAnswers({ fetch, timeout: 60 }, undefined)('https://git.example/oauth2/revoke', parts)
  return oauth.processRevocationResponse(answer).catch(() => undefined) // it is a refusal
}

/** Parsers by their files and names, as {@link file://./inventory.test.ts} finds them. */
export const PARSERS: Readonly<Record<string, Inputs>> = {
  'core/base64url.ts decodeBase64url': ofText(decodeBase64url),
  'core/base64url.ts constantTimeEqual': ofText((text) => constantTimeEqual(text, text)),
  'core/base64url.ts encodeBase64url': of({
    bytes: (size) => {
      const bytes = new Uint8Array(size)
      return () => Buffer.from(encodeBase64url(bytes)) // which makes it flat
    },
  }),
  'core/credential.ts parseCredential': ofText(parseCredential, [
    ['', ''],
    ['gwa_', ''],
  ]),
  'core/credential.ts parseGrantId': ofText(parseGrantId),
  'core/digests.ts digestOf': ofText((text) => digestOf(portableDigests, text)),
  'core/redirect-uri.ts parseRedirectUri': ofText((text) => parseRedirectUri(text, redirect), REDIRECT_URIS),
  'core/redirect-uri.ts redirectUriRule': ofText(redirectUriRule, REDIRECT_URIS),
  'core/redirect-uri.ts matchRedirectUri': ofText(
    (text) => matchRedirectUri(registered, text, redirect),
    REDIRECT_URIS,
  ),
  'core/registration-check.ts checkRegistration': ofRegistrations(),
  'core/image.ts imageType': of({ bytes: (size) => () => imageType(new Uint8Array(size)) }),
  'core/image.ts imageSize': of({
    'a GIF of empty extensions': sizeOfImage(GIF_HEAD, '\x21\0\0', 'image/gif'),
    'a GIF of small blocks': sizeOfImage(`${GIF_HEAD}\x21\0`, '\x01', 'image/gif'),
    'a GIF of empty frames': sizeOfImage(GIF_HEAD, '\x2c\0\0\0\0\0\0\0\0\0\0\0', 'image/gif'),
    'a JPEG of fill bytes': sizeOfImage('\xff\xd8', '\xff', 'image/jpeg'),
    'a JPEG of stuffed zeros': sizeOfImage('\xff\xd8', '\xff\0', 'image/jpeg'),
    'a JPEG of empty segments': sizeOfImage('\xff\xd8', '\xff\xfe\0\x02', 'image/jpeg'),
    'a JPEG without markers': sizeOfImage('\xff\xd8', 'x', 'image/jpeg'),
  }),
  'core/registration-check.ts isReason': ofText(isReason, [['', '']], SEEN),
  'core/scopes.ts parseScopes': all(
    ofText((text) => parseScopes(catalogue, text)),
    of({
      'one scope again and again': (size) => () => parseScopes(catalogue, 'repo-code:r '.repeat(size / 13)),
      'every scope again and again': (size) => {
        const every = [...catalogue.entries.keys()].join(' ')
        return () => parseScopes(catalogue, `${every} `.repeat(Math.max(1, size / every.length)))
      },
      'spaces between': (size) => () => parseScopes(catalogue, `repo-code:r${' '.repeat(size)}repo-pr:r`),
    }),
  ),
  'core/scopes.ts normalizeScopes': of({
    'one scope again and again': (size) => {
      const list: readonly string[] = Array(size).fill('repo-code:r')
      return () => normalizeScopes(catalogue, list)
    },
  }),
  'core/scopes.ts splitScopes': ofText(splitScopes),
  'core/text.ts isWithin': ofText((text) => isWithin(text, 350), [['', '']], SEEN),
  'core/text.ts isVisible': ofText(isVisible),
  'core/text.ts isLine': ofText(isLine),
  'core/text.ts isLines': ofText(isLines),
  'core/user-code.ts parseUserCode': ofText(parseUserCode),
  'core/values.ts parseClientId': ofText(parseClientId),
  'protocol/bearer.ts bearerToken': all(
    headerCase((headers) => bearerToken(headers, '/'), 'authorization', SCHEMES),
    ofText((url) => bearerToken({}, url), [['/?', '']]),
  ),
  'protocol/bearer.ts macAttributes': headerCase(macAttributes, 'authorization', SCHEMES),
  'protocol/bearer.ts tokenInQuery': ofText(tokenInQuery, [
    ['/?', ''],
    ['/?access_token', ''],
  ]),
  'protocol/client-authentication.ts presentedClient': all(
    headerCase((headers) => presentedClient(headers, body({}), true), 'authorization', SCHEMES),
    ofText(
      (text) => presentedClient({ authorization: `Basic ${btoa(encodeURI(text))}` }, body({}), true),
      [
        ['', ''],
        ['web:', ''],
      ],
    ),
    ofText((text) => presentedClient({}, body({ client_id: text, client_secret: text }), true)),
  ),
  'protocol/consent.ts browserKeyOf': headerCase((headers) => browserKeyOf(headers, 'https://git.example'), 'cookie', [
    ['', ''],
    ['__Host-grantwell=', ''],
    ['__Host-grantwell=a;', '; __Host-grantwell='],
  ]),
  'protocol/consent.ts fromOwnPage': headerCase((headers) => fromOwnPage(headers, 'https://git.example'), 'origin'),
  'protocol/consent.ts verifyFormToken': ofText(
    (text) => verifyFormToken(binding, text, portableDigests),
    [
      ['', ''],
      ['1.', '.a'],
    ],
  ),
  'protocol/consent.ts chosenResources': of({
    'one again and again': (size) => () =>
      chosenResources('specified', Array(size).fill('a'), 'specified', new Set(['a'])),
    many: (size) => {
      const ids = Array.from({ length: size }, (_, index) => `${index}`)
      const offered = new Set(ids)
      return () => chosenResources('specified', ids, 'specified', offered)
    },
  }),
  'protocol/mac.ts presentedMac': ofText(presentedMac, [
    ['', ''],
    ['id="', '"'],
    ['id="a", ', ''],
    ['id="a"', 'x'],
    ['ts="', '"'],
  ]),
  'protocol/mac.ts targetOf': all(
    headerCase((headers) => targetOf({ headers, url: '/' }, true), 'host', [
      ['', ''],
      ['a:', 'a'],
      ['[', ']:443'],
    ]),
    ofText(
      (url) => targetOf({ headers: {}, url }, true),
      [
        ['', ''],
        ['/', ''],
        ['http://', '/'],
        ['http://a/', '#'],
      ],
    ),
  ),
  'protocol/mac.ts macOf': ofText((text) =>
    macOf(portableDigests, 'k', {
      ts: '1',
      nonce: text,
      method: 'GET',
      requestUri: text,
      host: text,
      port: '443',
      ext: text,
    }),
  ),
  'protocol/message.ts headersOf': of({
    'one header again and again': (size) => {
      const rawHeaders = Array(size).fill(['Authorization', 'Bearer x']).flat() as string[] // all are
      return () => headersOf({ headers: {}, rawHeaders })
    },
  }),
  'protocol/message.ts pathOf': ofText(pathOf),
  'protocol/message.ts queryOf': ofText(queryOf),
  'protocol/message.ts revocationResponse': headerCase(revocationResponse, 'accept', [
    ['', ''],
    ['application/json', ''],
    ['application/json;', ','],
    ['application/json;q=0', ''],
  ]),
  'protocol/parameters.ts parseParameters': all(
    ofText(parseParameters, [
      ['', ''],
      ['a=', ''],
    ]),
    ofForms(parseParameters),
  ),
  'protocol/parameters.ts decodeComponent': ofText(decodeComponent),
  'protocol/parameters.ts bodyParameters': all(
    ofForms((text) => bodyParameters(requestOf(text))),
    ofText(
      (type) => bodyParameters(requestOf('a=b', { 'content-type': type })),
      [
        ['', ''],
        [`${FORM};`, ''],
        [`${FORM}; charset=`, ''],
        [FORM, 'x'],
      ],
    ),
    of(
      {
        'a list that the host parsed': (size) => () => bodyParameters(parsed({ a: Array(size).fill('b') })),
        'many names that the host parsed': (size) => {
          const fields = Object.fromEntries(Array.from({ length: size }, (_, index) => [`name${index}`, 'b']))
          return () => bodyParameters(parsed(fields))
        },
        'lists in lists that the host parsed': (size) => () => bodyParameters(parsed({ a: Array(size).fill([['b']]) })),
      },
      COUNTED,
    ),
  ),
  'protocol/parameters.ts formOf': all(
    ofForms((text) => formOf(requestOf(text))),
    ofForms((text) => formOf({ ...requestOf('a=b'), url: `/oauth2/token?${text}` })),
  ),
  'protocol/parameters.ts listIn': of(
    {
      'one name again and again': (size) => {
        const parameters = parseParameters(Array(size).fill('a=b').join('&'))
        return () => (parameters instanceof Map ? listIn(parameters, 'a') : undefined)
      },
    },
    COUNTED,
  ),
  'user-code-limiter.ts networkOf': ofText(
    (text) => {
      try {
        return networkOf(text)
      } catch {
        return undefined // which is what most of them are
      }
    },
    [
      ['', ''],
      ['[', ']'],
      ['[', ']:1'],
      ['::ffff:1.1.1.', ''],
      ['fe80::', '%eth0'],
      ['', '::'],
    ],
  ),
  // A fetch gives no headers beyond 16 KiB, which is what Node takes.
  'client/http.ts wholeAnswers': ofText(
    answered,
    [
      ['', ''],
      ['Bearer ', ''],
    ],
    { small: 1024, large: 1024 * FACTOR },
  ),
  'metadata/edit.ts editText': of({
    'blanks between a name and its value': (size) => {
      const text = `third_party { url${' '.repeat(size)}# what it is\n { value: "a" } }`
      return () => editText(text, { 'third_party.url[+]': {} })
    },
  }),
  'client/http.ts plain': ofText(plain),
  'client/http.ts memberOf': of({
    'a long answer': (size) => () => memberOf(new Response(JSON.stringify({ error: 'a'.repeat(size) })), 'error'),
    'a deep answer': (size) => () => memberOf(new Response('['.repeat(size)), 'error'),
  }),
  'client/http.ts retryAfterOf': ofText(
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
  'client/redirects.ts nextStep': ofText(
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
  'client/tokens-json.ts parseTokens': ofText(parseTokens, [
    ['', ''],
    ['{"v":1,"issuer":"', '"}'],
    ['[', ']'],
  ]),
}

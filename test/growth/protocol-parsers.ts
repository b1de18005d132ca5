/**
 * What the protocol reads of a request: headers, forms, queries.
 * @module
 */
import type { HttpHeaders, HttpRequest } from 'grantwell'
import { portableDigests, serviceScopes } from 'grantwell'
import { maxAgeOf } from '../../src/adapters/node/client-metadata/freshness.js'
import type { DeclaredResources, ResourceIdentifier } from '../../src/core/audiences/audience.js'
import type { Origin } from '../../src/core/url.js'
import { networkOf } from '../../src/endpoints/limits/network.js'
import { requestedAudience } from '../../src/protocol/audiences/requested-audience.js'
import { bearerToken, macAttributes, tokenInQuery } from '../../src/protocol/bearer.js'
import { presentedClient } from '../../src/protocol/client-authentication.js'
import { mayRead, originOf } from '../../src/protocol/cors/readers.js'
import { deviceAuthorizationRequest } from '../../src/protocol/device.js'
import { macOf, presentedMac, targetOf } from '../../src/protocol/mac.js'
import { headersOf, originForm, pathOf, queryOf } from '../../src/protocol/message.js'
import { browserKeyOf, chosenResources, fromOwnPage, verifyFormToken } from '../../src/protocol/pages/form-binding.js'
import { acceptedTags, fittingLanguage, knownLanguages, listedTags, readTag } from '../../src/protocol/pages/locale.js'
import { bodyParameters, decodeComponent, formOf, listIn, parseParameters } from '../../src/protocol/parameters.js'
import { requestAboutToken, revocationResponse } from '../../src/protocol/request-about-token.js'
import { tokenRequest, unknownScope } from '../../src/protocol/token.js'
import { bareRedirectUri, printable } from '../../src/shell/audit/request.js'
import type { Around, Inputs } from './shapes.js'
import { all, COUNTED, of, ofForms, ofText } from './shapes.js'

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

const binding = { issuer: 'https://git.example', subject: 'ada', browserKey: new Uint8Array(32), shown: ['x'] }
const body = (values: { client_id?: string; client_secret?: string }) => ({
  client_id: undefined,
  client_secret: undefined,
  ...values,
})

/** Authorization headers, of the schemes that there are. */
const SCHEMES: readonly Around[] = ['', 'Basic ', 'Bearer ', 'Bearer gwa_', 'MAC ', 'MAC id="'].map((head) => [
  head,
  '',
])

/** Origins of pages, each before and behind what is repeated. */
const RESOURCES: readonly Around[] = [
  ['', ''],
  ['https://git.example/', ''],
  ['https://git.example', '/mcp'],
]

const MCP = 'https://git.example/mcp' as ResourceIdentifier // as the option would have it
const AUDIENCES: DeclaredResources = new Map([[MCP, { resource: MCP, name: 'Tools', scopes: [] }]])

const ORIGINS: readonly Around[] = [
  ['', ''],
  ['https://', ''],
  ['https://app.', ''],
  ['https://app', '.example'],
  ['http://127.0.0.1:', ''],
  ['http://[', ']'],
]
const CALLBACKS = ['https://app.example/callback', 'http://127.0.0.1/callback', 'com.example.app:/callback']
const REDIRECT = { matching: 'domain', allowLocalhost: true } as const

/** Tags of languages, and ranges of a header, each before what is repeated. */
const TAGS: readonly Around[] = [
  ['', ''],
  ['de-', ''],
  ['de-x-', ''],
  ['en-u-', '-nu'],
]
const RANGES: readonly Around[] = [...TAGS, ['de;q=', ''], ['de;q=0.', ', en']]
const LANGUAGES = knownLanguages(['en', 'de', 'pt', 'pt-PT', 'zh-Hans'])

function headerCase(
  read: (headers: HttpHeaders) => unknown,
  name: string,
  arounds: readonly Around[] = [['', '']],
): Inputs {
  return ofText((value) => read({ [name]: value }), arounds)
}

/** The parsers of `src/protocol`, and the one of addresses beside it. */
export const PROTOCOL: Readonly<Record<string, Inputs>> = {
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
  // As one long value, and as many short ones.
  'protocol/audiences/requested-audience.ts requestedAudience': ofText(
    (text) =>
      [
        text,
        { type: 'fault', code: 'parameter_repeated', message: 'is repeated', values: text.split(/[&./]/) } as const,
      ].map((value) => requestedAudience(new Map([['resource', value]]), { audiences: AUDIENCES })),
    RESOURCES,
  ),
  'protocol/cors/readers.ts originOf': headerCase(originOf, 'origin', ORIGINS),
  'protocol/cors/readers.ts mayRead': ofText(
    (text) => mayRead(text as Origin, CALLBACKS, new Set(), REDIRECT),
    ORIGINS,
  ), // longer than one can be
  'protocol/pages/form-binding.ts browserKeyOf': headerCase(
    (headers) => browserKeyOf(headers, 'https://git.example'),
    'cookie',
    [
      ['', ''],
      ['__Host-grantwell=', ''],
      ['__Host-grantwell=a;', '; __Host-grantwell='],
    ],
  ),
  'protocol/pages/form-binding.ts fromOwnPage': headerCase(
    (headers) => fromOwnPage(headers, 'https://git.example'),
    'origin',
  ),
  'protocol/pages/form-binding.ts verifyFormToken': ofText(
    (text) => verifyFormToken(binding, text, portableDigests),
    [
      ['', ''],
      ['1.', '.a'],
    ],
  ),
  'protocol/pages/form-binding.ts chosenResources': of({
    'one again and again': (size) => () =>
      chosenResources('specified', Array(size).fill('a'), 'specified', new Set(['a'])),
    many: (size) => {
      const ids = Array.from({ length: size }, (_, index) => `${index}`)
      const offered = new Set(ids)
      return () => chosenResources('specified', ids, 'specified', offered)
    },
  }),
  'protocol/pages/locale.ts acceptedTags': ofText(acceptedTags, RANGES),
  'protocol/pages/locale.ts listedTags': ofText(listedTags, TAGS),
  // As one tag, and as many of them, each of which is none of ours.
  'protocol/pages/locale.ts fittingLanguage': all(
    ofText((text) => fittingLanguage([text], LANGUAGES), TAGS),
    ofText((text) => fittingLanguage(listedTags(text), LANGUAGES), TAGS),
    ofText((text) => fittingLanguage(acceptedTags(text), LANGUAGES), RANGES),
  ),
  'protocol/pages/locale.ts readTag': ofText(readTag, TAGS),
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
  'protocol/message.ts originForm': ofText(originForm, [
    ['', ''],
    ['http://', '/'],
    ['HTTPS://', ''],
  ]),
  'protocol/message.ts pathOf': ofText(pathOf),
  'protocol/message.ts queryOf': ofText(queryOf),
  'shell/audit/request.ts printable': ofText(
    (text) => printable(text, 256),
    [
      ['', ''],
      ['gwa_', ''],
      ['', '\u202e'],
    ],
  ),
  'shell/audit/request.ts bareRedirectUri': ofText(bareRedirectUri, [
    ['https://', '@'],
    ['https://a/Ab1', '.'],
    [':', '/'],
  ]),
  'protocol/request-about-token.ts revocationResponse': headerCase(revocationResponse, 'accept', [
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
  'protocol/token.ts unknownScope': ofText((text) => unknownScope(serviceScopes(), text)),
  'protocol/token.ts tokenRequest': ofForms((text) =>
    tokenRequest(requestOf(`client_id=native&grant_type=refresh_token&refresh_token=x&${text}`), {
      catalogue: serviceScopes(),
      audiences: new Map(),
      allowPost: true,
    }),
  ),
  'protocol/request-about-token.ts requestAboutToken': ofForms((text) =>
    requestAboutToken(requestOf(`client_id=native&token=x&${text}`), { allowPost: true }),
  ),
  'protocol/device.ts deviceAuthorizationRequest': ofForms((text) =>
    deviceAuthorizationRequest(requestOf(`client_id=native&${text}`), { audiences: new Map(), allowPost: true }),
  ),
  'adapters/node/client-metadata/freshness.ts maxAgeOf': ofText(
    (text) => maxAgeOf({ 'cache-control': text, age: text, expires: text, date: text }),
    [
      ['', ''],
      ['"', ''],
      ['max-age=', ''],
      ['max-age="', '"'],
    ],
  ),
  'endpoints/limits/network.ts networkOf': ofText(
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
}

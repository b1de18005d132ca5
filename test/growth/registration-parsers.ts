/**
 * What the server reads of a client that registers itself: JSON in a request or in a document, and the request about a registration.
 * @module
 */
import type { ClientId, HttpRequest } from 'grantwell'
import { serviceScopes } from 'grantwell'
import { parseParameters, printQuery } from '../../src/protocol/parameters.js'
import { checkClientDocument } from '../../src/protocol/registration/client-id-url.js'
import {
  checkClientMetadata,
  ownMembers,
  parseJsonObject,
  wrong,
} from '../../src/protocol/registration/client-metadata.js'
import { ownRegistrationRequest, registrationRequest } from '../../src/protocol/registration/registration.js'
import type { Case } from './growth.js'
import type { Inputs } from './shapes.js'
import { all, of, ofForms, ofText } from './shapes.js'

const CLIENT_URL = 'https://tool.example/client.json' as ClientId
const rules = {
  scopes: serviceScopes(),
  redirect: { matching: 'domain', allowLocalhost: true },
  specifiedResources: true,
  allowPost: true,
} as const
const SOUND = {
  client_id: CLIENT_URL,
  client_name: 'A tool',
  redirect_uris: ['http://127.0.0.1/callback'],
  token_endpoint_auth_method: 'none',
}

const times = (unit: string, size: number): string => unit.repeat(size / unit.length)
const list = <Item>(make: (index: number) => Item, size: number): Item[] =>
  Array.from({ length: size }, (_, index) => make(index))
const members = (name: (index: number) => string, size: number): object =>
  Object.fromEntries(list((index): [string, string] => [name(index), 'b'], size))

/** Different characters outside ASCII: as a host name, they take a URL parser time by the square of their number. */
const ideographs = (size: number): string => String.fromCodePoint(...list((index) => 0x4e00 + (index % 20_000), size))

/** What clients say about themselves: each of `size` characters, more or less. */
export const METADATA_SHAPES: Readonly<Record<string, (size: number) => object>> = {
  ...Object.fromEntries(
    ['client_name', 'client_uri', 'scope', 'token_endpoint_auth_method', 'grant_types', 'unknown'].flatMap((name) =>
      ['a', 'é', '\u0301', '\u202e', ' ', '/', ':', 'repo-code:r '].map((unit) => [
        `${name} of ${JSON.stringify(unit)}...`,
        (size: number) => ({ ...SOUND, [name]: times(unit, size) }),
      ]),
    ),
  ),
  'no name, and a redirect URI of different ideographs': (size) => ({
    redirect_uris: [`https://${ideographs(size / 3)}/`],
  }),
  'no name, and a redirect URI of encoded ideographs': (size) => ({
    redirect_uris: [`https://${encodeURIComponent(ideographs(size / 9))}/`],
  }),
  'a website of different ideographs': (size) => ({ ...SOUND, client_uri: `https://${ideographs(size / 3)}/` }),
  'redirect URIs, one again and again': (size) => ({
    ...SOUND,
    redirect_uris: list(() => 'https://a.example/', size / 20),
  }),
  'different redirect URIs': (size) => ({
    ...SOUND,
    redirect_uris: list((index) => `https://a${index}.example/`, size / 20),
  }),
  'redirect URIs with many parameters': (size) => ({
    ...SOUND,
    redirect_uris: list((index) => `https://a.example/?${times('a;', 2000)}&${index}`, Math.max(1, size / 2048)),
  }),
  'redirect URIs that are no text': (size) => ({ ...SOUND, redirect_uris: list((index) => [index], size / 8) }),
  'grant types': (size) => ({ ...SOUND, grant_types: list((index) => `type${index}`, size / 16) }),
  'response types': (size) => ({ ...SOUND, response_types: [...list(() => 'token', size / 8), 'code'] }),
  'every scope again and again': (size) => {
    const every = [...rules.scopes.entries.keys()].join(' ')
    return { ...SOUND, scope: `${every} `.repeat(Math.max(1, size / every.length)) }
  },
  // 512 at most, since V8 keeps a thousand and more in another way: the step from the one to the other is no growth.
  'many members': (size) => ({ ...SOUND, ...members((index) => `name${index}`, size / 128) }),
  'many numbers as names': (size) => ({ ...SOUND, ...members((index) => `${index * 4096}`, size / 128) }),
}

/** Texts that are JSON, or nearly. */
const TEXTS: Readonly<Record<string, (size: number) => string>> = {
  'lists in lists': (size) => `{"a":${'['.repeat(size / 2)}${']'.repeat(size / 2)}}`,
  'lists that nobody ends': (size) => `{"a":${'['.repeat(size)}`,
  'objects in objects': (size) => `${times('{"a":', size)}1${times('}', size / 5)}`,
  'objects that nobody ends': (size) => times('{"a":', size),
  'one name again and again': (size) => `{${times('"a":1,', size)}"a":1}`,
  'a text': (size) => `{"a":"${times('a', size)}"}`,
  'a text that nobody ends': (size) => `{"a":"${times('a', size)}`,
  escapes: (size) => `{"a":"${times('\\u0041', size)}"}`,
  'a name': (size) => `{"${times('a', size)}":1}`,
  'a number': (size) => `{"a":${times('1', size)}}`,
  'a number with an exponent': (size) => `{"a":1e${times('9', size)}}`,
  blanks: (size) => `${times(' ', size)}{}`,
}

/** Cases of texts: those above, and metadata that are sound but for one thing. */
function ofJson(read: (text: string) => unknown): Inputs {
  const texts: Readonly<Record<string, (size: number) => string>> = {
    ...TEXTS,
    ...Object.fromEntries(
      Object.entries(METADATA_SHAPES).map(([name, make]) => [
        name,
        (size: number) => JSON.stringify({ client_id: CLIENT_URL, ...make(size) }),
      ]),
    ),
  }
  const cases = Object.entries(texts).map(([name, make]): [string, Case] => [
    name,
    (size) => {
      // Flat, as what comes from a socket is.
      const text = Buffer.from(make(size)).toString()
      return () => read(text)
    },
  ])
  return of(Object.fromEntries(cases))
}

/** Cases of objects, as a host's parser gives them. */
function ofObjects(read: (given: object) => unknown): Inputs {
  const cases = Object.entries(METADATA_SHAPES).map(([name, make]): [string, Case] => [
    name,
    (size) => {
      const given = make(size)
      return () => read(given)
    },
  ])
  return of(Object.fromEntries(cases))
}

const request = (
  headers: Record<string, string>,
  body: HttpRequest['body'],
  url = '/oauth2/register',
): HttpRequest => ({
  method: 'POST',
  url,
  headers,
  body,
  native: undefined,
})
const JSON_TYPE = { 'content-type': 'application/json' }

/** The parsers of registration by clients, by their files and names. */
export const REGISTRATION: Readonly<Record<string, Inputs>> = {
  'protocol/parameters.ts printQuery': all(
    ofForms((text) => printed(text)),
    ofText(printed, [['a=', '']]),
  ),
  'protocol/registration/client-id-url.ts checkClientDocument': ofJson((text) =>
    checkClientDocument(CLIENT_URL, text, rules),
  ),
  'protocol/registration/client-metadata.ts parseJsonObject': all(ofText(parseJsonObject), ofJson(parseJsonObject)),
  'protocol/registration/client-metadata.ts ownMembers': ofObjects(ownMembers),
  'protocol/registration/client-metadata.ts checkClientMetadata': ofObjects((given) =>
    checkClientMetadata(ownMembers(given), 'An application', rules),
  ),
  'protocol/registration/client-metadata.ts wrong': ofText(wrong),
  'protocol/registration/registration.ts registrationRequest': all(
    ofJson((text) => registrationRequest(request(JSON_TYPE, { type: 'text', text }))),
    ofObjects((fields) => registrationRequest(request(JSON_TYPE, { type: 'parsed', fields }))),
    ofText(
      (type) => registrationRequest(request({ 'content-type': type }, { type: 'text', text: '{}' })),
      [
        ['', ''],
        ['application/json', ''],
        ['application/json;', ''],
        ['application/json; charset', '=utf-8'],
        ['application/json; charset=', ''],
        ['application/json; charset=utf-8', 'x'],
      ],
    ),
  ),
  'protocol/registration/registration.ts ownRegistrationRequest': all(
    ofText(
      (authorization) => ownRegistrationRequest(request({ authorization }, undefined, '/oauth2/register?client_id=a')),
      [
        ['', ''],
        ['Bearer ', ''],
        ['Bearer gwm_', ' '],
      ],
    ),
    ofText(
      (url) => ownRegistrationRequest(request({ authorization: 'Bearer x' }, undefined, url)),
      [
        ['/oauth2/register?', ''],
        ['/oauth2/register?client_id=', ''],
      ],
    ),
    ofForms((text) => ownRegistrationRequest(request({ authorization: 'Bearer x' }, undefined, `/?${text}`))),
  ),
}

function printed(text: string): string | undefined {
  const parameters = parseParameters(text)
  return parameters instanceof Map ? printQuery(parameters) : undefined
}

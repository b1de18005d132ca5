/**
 * The largest requests that a host lets through, of several shapes: what is sent beside what an endpoint needs to go on to
 * its end.
 * @module
 */
import type { HttpHeaders, HttpRequest } from 'grantwell'
import type { Sizes } from './growth.js'
import { FACTOR, WHOLE } from './growth.js'

/** What is sent to an endpoint. */
export interface Sent {
  /** Parameters that an endpoint needs to go on to its end. */
  readonly base: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A request of a size, and the sizes that it comes in. */
export interface Shaped {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly sizes: Sizes
  readonly request: (path: string, sent: Sent, size: number) => Partial<HttpRequest>
}

const FORM = 'application/x-www-form-urlencoded'

/** Node takes 16 KiB of headers at most, the request line among them. */
export const HEADER_SIZES: Sizes = { small: 960, large: 960 * FACTOR }

/** As many parameters as are read, those of the endpoint beside them; and as many as fit into a query. */
const PARAMETERS: Sizes = { small: 126, large: 126 * FACTOR }
const IN_QUERY: Sizes = { small: 48, large: 48 * FACTOR }

const times = (unit: string, size: number): string => unit.repeat(size / unit.length)
const list = (size: number, part: (index: number) => string): string =>
  Array.from({ length: size }, (_, index) => part(index)).join('&')

/** Parameters by their number: the most that are read. */
const COUNTS: Readonly<Record<string, (size: number) => string>> = {
  'one parameter again and again': (size) => list(size, () => 'a=b'),
  'one parameter without a value': (size) => list(size, () => 'a'),
  'one parameter in two spellings': (size) => list(size, (index) => (index % 2 === 0 ? 'a=b' : '%61=b')),
  'many parameters': (size) => list(size, (index) => `name${index}=b`),
  'many parameters of escapes': (size) => list(size, (index) => `%41${index}=${'%C3%A9'.repeat(3)}`),
}

/** Parameters that the endpoints know, each with units of what could be dear in it. */
const LONG: Readonly<Record<string, readonly string[]>> = {
  unknown: ['a', '%41', '+', '%', '%C3%A9', '='],
  scope: ['repo-code:r+', 'repo-code:rw+account-profile:r+', 'x+', '+', ':'],
  redirect_uri: ['a', '.', '%2F', 'https://'],
  state: ['a', '%22', '%C3%A9'],
  user_code: ['B', '-', '+'],
  consent: ['A', '.', '1.'],
  request: ['a%26', 'scope%3D', '%2525'],
  client_id: ['a', '%41'],
  ...Object.fromEntries(
    ['token', 'refresh_token', 'code', 'device_code', 'code_verifier', 'code_challenge', 'client_secret', 'logo'].map(
      (name) => [name, ['a']],
    ),
  ),
}

/** Parameters, with one in the place of that name: twice it would be refused. */
const withText = (base: string, name: string, text: string): string =>
  [...base.split('&').filter((pair) => pair !== '' && !pair.startsWith(`${name}=`)), text].join('&')

/** A request with its parameters where its method has them. */
export function requestWith(
  method: 'GET' | 'POST',
  path: string,
  { base, headers }: Sent,
  more: HttpHeaders = {},
): Partial<HttpRequest> {
  if (method === 'GET') return { method, url: `${path}?${base}`, headers: { ...headers, ...more } }
  const body = { type: 'text', text: base } as const
  return { method, url: path, headers: { 'content-type': FORM, ...headers, ...more }, body }
}

/** Both a form and a query with a text beside the parameters that an endpoint needs. */
function inBoth(
  name: string,
  parameter: string,
  text: (size: number) => string,
  sizes: Sizes,
  inQuery: Sizes,
): Shaped[] {
  return (['GET', 'POST'] as const).map((method) => ({
    name: `${method === 'GET' ? 'query' : 'form'}: ${name}`,
    method,
    sizes: method === 'GET' ? inQuery : sizes,
    request: (path, { base, headers = {} }, size) =>
      requestWith(method, path, { base: withText(base, parameter, text(size)), headers }),
  }))
}

/** Fields that the host parsed. */
function parsed(name: string, fields: (size: number) => Record<string, unknown>): Shaped {
  return {
    name: `parsed: ${name}`,
    method: 'POST',
    sizes: PARAMETERS,
    request: (url, { base, headers = {} }, size) => ({
      method: 'POST',
      url,
      headers,
      body: { type: 'parsed', fields: { ...Object.fromEntries(new URLSearchParams(base)), ...fields(size) } },
    }),
  }
}

/** Values of headers, whatever they are before. */
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'Basic ': ['A', ' ', ':', '='],
  'Bearer ': ['a', ' ', '=', ','],
  'MAC id="a", ': [' ', ', ', 'a="",', '"'],
  'cookie:': ['a=b; ', '; ', '=', '__Host-grantwell=a; '],
  'accept:': ['application/json,', 'text/html;q=0,', ' ', ';'],
  'content-type:': [`${FORM};`, ' ', ' charset=utf-8;', ';'],
  'origin:': ['a', '.', 'https://'],
  'host:': ['a', ':', '['],
}

function headerOf(kind: string, value: string): HttpHeaders {
  if (!kind.endsWith(':')) return { authorization: kind + value }
  const name = kind.slice(0, -1)
  return { [name]: name === 'content-type' ? `${FORM};${value}` : value }
}

/** A header, of which there are as many characters as Node lets through. */
export const HEADER_SHAPES: readonly { readonly name: string; readonly headers: (size: number) => HttpHeaders }[] = [
  ...Object.entries(HEADERS).flatMap(([kind, units]) =>
    units.map((unit) => ({
      name: `${kind} ${unit}...`,
      headers: (size: number) => headerOf(kind, times(unit, size)),
    })),
  ),
  ...['a:', '%41:', '+', 'a'].map((unit) => ({
    name: `Basic of ${unit}...`,
    headers: (size: number) => headerOf('Basic ', btoa(times(unit, Math.floor(size / 4) * 3))),
  })),
  {
    name: 'many headers',
    headers: (size) => Object.fromEntries(Array.from({ length: size >> 4 }, (_, i) => [`x-${i}`, ''])),
  },
]

/** Requests to endpoints. */
export const REQUESTS: readonly Shaped[] = [
  ...Object.entries(COUNTS).flatMap(([name, text]) => inBoth(name, '', text, PARAMETERS, IN_QUERY)),
  ...inBoth(
    'many resources',
    'resource_scope',
    (size) => `resource_scope=specified&${list(size - 1, (index) => `resource=${index}`)}`,
    PARAMETERS,
    IN_QUERY,
  ),
  ...Object.entries(LONG).flatMap(([name, units]) =>
    units.flatMap((unit) =>
      inBoth(`${name}=${unit}...`, name, (size) => `${name}=${times(unit, size)}`, WHOLE, HEADER_SIZES),
    ),
  ),
  parsed('one list', (size) => ({ a: Array(size).fill('b') })),
  parsed('many names', (size) => Object.fromEntries(Array.from({ length: size }, (_, index) => [`name${index}`, 'b']))),
  ...HEADER_SHAPES.flatMap(({ name, headers }) =>
    (['GET', 'POST'] as const).map(
      (method): Shaped => ({
        name: `${method}, ${name}`,
        method,
        sizes: HEADER_SIZES,
        request: (path, sent, size) => requestWith(method, path, sent, headers(size)),
      }),
    ),
  ),
]

/**
 * Ways to spoil a request.
 * @module
 */
import * as fc from 'fast-check'
import type { HttpBody, HttpRequest } from '../../protocol/message.js'
import type { Client, Draft, RequestOptions } from './sound-requests.js'
import { basic, FORM, sound } from './sound-requests.js'

type Spoil = (draft: Draft) => void

/** Names that every object has. */
const STRANGE_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'prototype',
  '',
  'scope[]',
  'scope.x',
  'é',
]

/** Any text, half characters too. fast-check's own unit `binary` takes seconds to set up. */
export const anyText: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(fc.nat(0x7f), fc.nat(0x10_ff_ff)).map((code) => String.fromCodePoint(code)),
  maxLength: 20,
})

/** Makes an arbitrary of well-formed and spoilt requests. */
export function requests(
  scopeText: fc.Arbitrary<string>,
  options: RequestOptions,
): fc.Arbitrary<HttpRequest<undefined>> {
  const clients = [...(options.clients ?? []), { clientId: 'nobody', redirectUri: 'https://nobody.example/callback' }]
  const unknown = [`gwa_${'A'.repeat(81)}`, `gwr_${'A'.repeat(81)}`]
  const known = options.credentials?.length ? options.credentials : unknown
  const any = fc.constantFrom(...known, ...unknown)
  const credential = fc.oneof(
    // The code and the newest token more often than what lies between.
    { weight: 6, arbitrary: fc.constantFrom(...known, ...known.slice(0, 1), ...known.slice(-1)) },
    { weight: 1, arbitrary: fc.constantFrom(...unknown) },
    { weight: 2, arbitrary: fc.tuple(any, fc.nat(200), fc.nat(4)).map((args) => changed(...args)) },
  )
  const [owner, ...others] = clients as [Client, ...Client[]] // one at least was put in
  const client = fc.oneof(
    { weight: 2, arbitrary: fc.constant(owner) },
    { weight: 1, arbitrary: fc.constantFrom(owner, ...others) },
  )
  const value = fc.oneof(
    fc.constantFrom(
      '',
      ' ',
      '\u0000',
      '\r\nSet-Cookie: a=b',
      '<script>',
      '../..',
      '%00',
      '\ud800',
      '☃',
      'null',
      '[object Object]',
    ),
    anyText,
  )
  const spoil = fc.oneof(
    { weight: 2, arbitrary: methods },
    { weight: 2, arbitrary: contentTypes },
    { weight: 6, arbitrary: parameters(fc.oneof(value, credential, scopeText)) },
    { weight: 2, arbitrary: tails },
    { weight: 3, arbitrary: authorizations(credential, value) },
    { weight: 2, arbitrary: bodies(value) },
    { weight: 1, arbitrary: headers(value) },
    { weight: 1, arbitrary: urls },
  )
  return fc
    .tuple(
      sound(client, credential, scopeText),
      fc.oneof(fc.constant([]), fc.array(spoil, { minLength: 1, maxLength: 3 })),
    )
    .map(([draft, spoils]) => {
      const spoilt = {
        ...draft,
        parameters: draft.parameters.map(([name, value]): [string, string] => [name, value]),
        headers: { ...draft.headers },
      }
      for (const each of spoils) each(spoilt)
      return written(spoilt)
    })
}

const methods: fc.Arbitrary<Spoil> = fc
  .constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'post', '', '__proto__')
  .map((method) => (draft) => {
    draft.method = method
  })

const contentTypes: fc.Arbitrary<Spoil> = fc
  .constantFrom<(string | readonly string[] | undefined)[]>(
    undefined,
    '',
    'application/json',
    'multipart/form-data; boundary=x',
    `${FORM}; charset=latin1`,
    `${FORM}; charset=utf-8`,
    [FORM, FORM],
  )
  .map((type) => (draft) => {
    const { 'content-type': _, ...others } = draft.headers
    draft.headers = type === undefined ? others : { ...others, 'content-type': type }
  })

/** Parameters that are missing, doubled, huge, of another value, or of a strange name. */
function parameters(value: fc.Arbitrary<string>): fc.Arbitrary<Spoil> {
  const way = fc.constantFrom('drop', 'double', 'replace', 'huge', 'strange', 'many', 'exchange')
  return fc
    .tuple(way, fc.nat(20), value, fc.constantFrom(...STRANGE_NAMES))
    .map(([how, nth, text, strange]) => (draft) => {
      const { parameters: all } = draft
      const at = nth % Math.max(1, all.length)
      const chosen = all[at]
      if (how === 'strange') all.push([strange, text])
      else if (how === 'many') for (let count = 0; count < 2100; count++) all.push([`p${count}`, ''])
      else if (chosen === undefined) all.push(['client_id', text])
      else if (how === 'drop') all.splice(at, 1)
      else if (how === 'double') all.push([chosen[0], text.length % 2 === 0 ? chosen[1] : notState(chosen[0], text)])
      else if (how === 'replace') chosen[1] = notState(chosen[0], text)
      else if (how === 'huge') chosen[1] = 'x'.repeat(9000)
      else chosen[0] = all[(at + 1) % all.length]?.[0] ?? strange
    })
}

/** Keeps credentials out of the parameters that an answer repeats on purpose, or they would look leaked. */
function notState(name: string, text: string): string {
  return ['state', 'request', 'redirect_uri'].includes(name) ? text.replaceAll(/gw[a-z]_/g, '') : text
}

const tails: fc.Arbitrary<Spoil> = fc
  .constantFrom(
    '%',
    '&%zz=1',
    '&a=%ff',
    '&%c3%28=x',
    '&&==&=',
    '&a=\u0000',
    '&é=1',
    '&a=%u0041',
    ';b=1',
    '\n',
    '&state=%00',
    '&client_id=%ED%A0%80',
  )
  .map((tail) => (draft) => {
    draft.tail += tail
  })

/** Header Authorization: of another scheme, malformed, doubled, with the wrong kind of secret. */
function authorizations(credential: fc.Arbitrary<string>, text: fc.Arbitrary<string>): fc.Arbitrary<Spoil> {
  return fc.tuple(fc.nat(7), credential, text).map(([way, shown, any]) => (draft) => {
    const before = draft.headers['authorization'] ?? basic('web', shown)
    const ways: readonly (string | readonly string[])[] = [
      `Bearer ${shown}`,
      'Basic',
      'Basic ====',
      `Basic ${btoa('no colon')}`,
      basic(shown, shown),
      [...(typeof before === 'string' ? [before] : before), `Bearer ${shown}`],
      `Basic ${any}`,
      `Digest username="${any}"`,
    ]
    draft.headers['authorization'] = ways[way] ?? ''
  })
}

/** Bodies that are absent, too large, or were parsed by an earlier middleware. */
function bodies(text: fc.Arbitrary<string>): fc.Arbitrary<Spoil> {
  return fc.tuple(fc.nat(6), text).map(([way, any]) => (draft) => {
    const fields = Object.fromEntries(draft.parameters)
    const ways: readonly (HttpBody | undefined)[] = [
      { type: 'too_large' },
      { type: 'text', text: any },
      { type: 'text', text: JSON.stringify(fields) },
      { type: 'parsed', fields },
      { type: 'parsed', fields: { ...fields, grant_type: ['refresh_token', { a: any }] } },
      { type: 'parsed', fields: any === '' ? null : [any, 1, null, fields] },
      { type: 'parsed', fields: Object.assign(Object.create(null), fields, { scope: 7, token: { toString: null } }) },
    ]
    const body = ways[way]
    if (body !== undefined) draft.body = body
  })
}

/** Other headers that are looked at: cookies, origin, fetch metadata. */
function headers(text: fc.Arbitrary<string>): fc.Arbitrary<Spoil> {
  return fc
    .tuple(fc.constantFrom('cookie', 'origin', 'sec-fetch-site', '__proto__', 'content-length'), text, fc.boolean())
    .map(([name, value, twice]) => (draft) => {
      Object.defineProperty(draft.headers, name, {
        value: twice ? [value, value] : value,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    })
}

const urls: fc.Arbitrary<Spoil> = fc
  .constantFrom('/', '//', '?', '/../token', '%2e', ';a', '#x')
  .map((suffix) => (draft) => {
    draft.path += suffix
  })

/** A credential that is cut, has another character, other cases, another kind, or something behind it. */
function changed(text: string, at: number, way: number): string {
  const place = at % text.length
  const ways = [
    text.slice(0, place),
    `${text.slice(0, place)}${text[place] === 'A' ? 'B' : 'A'}${text.slice(place + 1)}`,
    text.toUpperCase(),
    `gw${'acrd'[at % 4]}_${text.slice(4)}`,
    `${text}=`,
  ]
  return ways[way] ?? text
}

function written({
  method,
  path,
  inQuery,
  parameters: all,
  headers: given,
  tail,
  body,
}: Draft): HttpRequest<undefined> {
  const encoded = new URLSearchParams(all).toString() + tail
  const text: HttpBody = body ?? { type: 'text', text: inQuery ? '' : encoded }
  const hasBody = body !== undefined || !inQuery
  const url = inQuery && encoded !== '' ? `${path}?${encoded}` : path
  return { method, url, headers: given, ...(hasBody && { body: text }), native: undefined }
}

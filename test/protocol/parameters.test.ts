/**
 * Forms: which are read, how strictly, and what becomes of the rest, at every endpoint that takes one.
 * @module
 * @see RFC 6749, sections 3.1, 3.2 and appendix B; SECURITY statements 47 and 48
 */
import * as fc from 'fast-check'
import type { HttpRequest, HttpResponse } from 'grantwell'
import { describe, expect, it } from 'vitest'
import type { Parameters } from '../../src/protocol/parameters.js'
import { bodyParameters, decodeComponent, listIn, parseParameters, valueIn } from '../../src/protocol/parameters.js'
import type { WatchedServer } from '../server/helpers.js'
import { INVALID_CLIENT, tokenError } from '../server/helpers.js'
import {
  answeredTo,
  authorize,
  basic,
  canSend,
  exchange,
  OTHER,
  post,
  send,
  testServer,
  tokens,
  WEB,
  works,
} from '../support.js'
import { transport } from '../transports/index.js'
import { unicodeText } from '../unicode.js'
import { DEVICE_GRANT } from './device-form.js'
import type { FormEndpoint } from './form-endpoints.js'
import { FORM_ENDPOINTS, formServer, refusalAt } from './form-endpoints.js'

const FORM = 'application/x-www-form-urlencoded'
const anyText = unicodeText({ maxLength: 30 })
const prototypeNames = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__']

const bad = (description: string): HttpResponse => tokenError(400, 'invalid_request', description)
const WRONG_TYPE = bad('The content type must be application/x-www-form-urlencoded.')
const TOO_MANY = bad('There are too many parameters.')
const BAD_NAME = bad('A parameter name is not well-formed.')
const malformed = (name: string): HttpResponse => bad(`The parameter ${name} is not well-formed.`)
const tooLong = (name: string): HttpResponse => bad(`The parameter ${name} is too long.`)

/** Sends a request to every endpoint as a client that may ask it, and compares what each answers. */
async function expectAll(
  test: WatchedServer,
  request: (endpoint: FormEndpoint) => Partial<HttpRequest>,
  expected: 'good' | ((name: string) => HttpResponse),
): Promise<void> {
  for (const endpoint of FORM_ENDPOINTS) {
    const { headers, ...rest } = request(endpoint)
    test.forget()
    test.events.length = 0
    const response = await send(test.server, {
      method: 'POST',
      url: endpoint.url,
      headers: { 'content-type': FORM, ...basic(endpoint.client), ...headers },
      ...rest,
    })
    expect(response, endpoint.url).toStrictEqual(
      expected === 'good' ? endpoint.good : endpoint.as(expected(endpoint.name)),
    )
    // A malformed message costs the store nothing.
    expect(test.trips).toMatchObject({ reads: expected === 'good' ? 1 : 0, writes: 0 })
    const reason = response.status === 413 ? 'body_too_large' : 'malformed_request'
    // What is good in form is refused for what it asks for.
    const refusal = refusalAt(endpoint, 'invalid_request', reason)
    const isGood = expected === 'good'
    const ofForm = test.events.filter((event) => event.type === 'refused' && event.reason === reason)
    expect(isGood ? ofForm : test.events).toStrictEqual(isGood ? [] : [refusal])
  }
}

type HttpBody = NonNullable<HttpRequest['body']>

const text = (form: string): HttpBody => ({ type: 'text', text: form })
const parsed = (fields: unknown): HttpBody => ({ type: 'parsed', fields })

describe('4.2, 4.4 the content type', () => {
  it.each([
    FORM,
    'application/x-www-form-urlencoded;charset=UTF-8',
    'application/x-www-form-urlencoded; charset=utf-8',
    'application/x-www-form-urlencoded; charset="utf-8"',
    'Application/X-WWW-Form-URLEncoded ; Charset = "UTF-8" ',
    `${FORM}\t`,
  ])('may be %j', async (type) => {
    const test = await formServer()
    await expectAll(test, ({ form }) => ({ headers: { 'content-type': type }, body: text(form) }), 'good')
    await expectAll(test, ({ form }) => ({ headers: { 'content-type': [type] }, body: text(form) }), 'good')
  })

  it.each([
    undefined,
    '',
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencodedx',
    `x${FORM}`,
    `${FORM}; charset=iso-8859-1`,
    `${FORM}; charset=utf-16`,
    `${FORM}; charset=utf-8; charset=iso-8859-1`,
    `${FORM}, application/json`,
    `application/json; ${FORM}`,
    '__proto__',
  ])('may not be %j: invalid_request, and the body is not looked at', async (type) => {
    const test = await formServer()
    for (const body of [text, (form: string) => parsed(Object.fromEntries(new URLSearchParams(form)))]) {
      await expectAll(
        test,
        ({ form }) => ({ headers: { 'content-type': type }, body: body(form) }),
        () => WRONG_TYPE,
      )
    }
  })

  it('may not come twice', async () => {
    const test = await formServer()
    const headers = { 'content-type': [FORM, FORM] }
    await expectAll(
      test,
      ({ form }) => ({ headers, body: text(form) }),
      () => WRONG_TYPE,
    )
  })
})

describe('4.2, 4.4 the body', () => {
  it('missing: invalid_request', async () => {
    const test = await formServer()
    await expectAll(
      test,
      () => ({}),
      () => bad('The body is missing.'),
    )
  })

  it('[47] over the limit: 413, whatever else is wrong', async () => {
    const test = await formServer()
    const tooLarge = tokenError(413, 'invalid_request', 'The body is too large.')
    for (const type of [FORM, 'text/plain', undefined]) {
      await expectAll(
        test,
        () => ({ headers: { 'content-type': type }, body: { type: 'too_large' } }),
        () => tooLarge,
      )
    }
  })

  it('may have empty pairs and parameters that are empty', async () => {
    const test = await formServer()
    await expectAll(test, ({ form }) => ({ body: text(`&&client_id=&${form}&&client_secret=&`) }), 'good')
  })

  it('unknown parameters are ignored, whatever they are and however often', async () => {
    const test = await formServer()
    const unknown = [
      'a=b',
      'a=c',
      'b=%FF',
      'c=%',
      'd=\u{e9}',
      'e=%00',
      `f=${'f'.repeat(8193)}`,
      '=',
      '=x',
      'Code=x',
      'code[]=x',
    ]
    await expectAll(test, ({ form }) => ({ body: text(`${unknown.join('&')}&${form}&${unknown.join('&')}`) }), 'good')
  })

  it.each([
    ['a broken escape', '%'],
    ['half an escape', '%4'],
    ['an escape of other letters', '%zz'],
    ['a lone continuation byte', '%80'],
    ['a cut sequence', '%E2%82'],
    ['an overlong encoding', '%C0%AF'],
    ['an encoded surrogate', '%ED%A0%80'],
    ['a code point past the last', '%F4%90%80%80'],
    ['a byte that UTF-8 does not have', '%FF'],
    ['NUL', '%00'],
    ['a line end', '%0D%0A'],
    ['DEL', '%7F'],
    ['a control character of Latin-1', '%C2%85'],
    ['a raw control character', '\0'],
    ['a raw line end', '\r\n'],
    ['a raw character that is not ASCII', '\u{e9}'],
  ])('[47] a value with %s: invalid_request', async (_what, value) => {
    const test = await formServer()
    for (const written of [value, `none${value}`, `${value}none`]) {
      await expectAll(
        test,
        ({ form, name }) => ({ body: text(form.replace(`${name}=none`, `${name}=${written}`)) }),
        malformed,
      )
    }
  })

  it.each(['%', '%FF', '%zz', '\u{e9}', '\0'])('[47] a name with %j: invalid_request', async (name) => {
    const test = await formServer()
    for (const pair of [name, `${name}=x`, `a${name}=x`]) {
      await expectAll(
        test,
        ({ form }) => ({ body: text(`${form}&${pair}`) }),
        () => BAD_NAME,
      )
    }
  })

  it('[47] a client_id that is not ASCII is no client’s', async () => {
    const test = await formServer()
    for (const clientId of ['w%C3%A9b', 'web%00', '\u{1f511}']) {
      const response = await send(test.server, {
        method: 'POST',
        url: '/oauth2/token',
        headers: { 'content-type': FORM },
        body: text(`grant_type=refresh_token&refresh_token=x&client_id=${clientId}`),
      })
      expect([400, 401]).toContain(response.status)
      expect(test.trips.reads).toBe(0)
    }
  })

  it('[47] as many as 2,048 parameters, and no more', async () => {
    const test = await formServer({ bodyLimit: 2 ** 17 })
    for (const filler of ['&a=1', '&', '&=']) {
      await expectAll(test, ({ form }) => ({ body: text(form + filler.repeat(2048 - form.split('&').length)) }), 'good')
      await expectAll(
        test,
        ({ form }) => ({ body: text(form + filler.repeat(2049 - form.split('&').length)) }),
        () => TOO_MANY,
      )
      await expectAll(
        test,
        ({ form }) => ({ body: text(filler.repeat(65_536 / filler.length) + form) }),
        () => TOO_MANY,
      )
    }
    const query =
      (count: number) =>
      ({ url, form }: { url: string; form: string }) => ({
        url: `${url}?${Array(count).fill('a=1').join('&')}`,
        body: text(form),
      })
    await expectAll(test, query(2048), 'good')
    await expectAll(test, query(2049), () => TOO_MANY)
  })

  it('[47] a value of 8,192 characters, and no longer', async () => {
    const test = await formServer()
    const of =
      (value: string) =>
      ({ form, name }: { form: string; name: string }) => ({
        body: text(form.replace(`${name}=none`, `${name}=${value}`)),
      })
    await expectAll(test, of('x'.repeat(8192)), 'good')
    await expectAll(test, of('x'.repeat(8193)), tooLong)
    await expectAll(test, of('%C3%A9'.repeat(8193)), tooLong)
    await expectAll(test, of('+'.repeat(8193)), tooLong)
  })

  it('[9] a repeated parameter is invalid_request, also under an encoded name', async () => {
    const test = await formServer()
    const repeated = (name: string): HttpResponse => bad(`The parameter ${name} is repeated.`)
    for (const value of ['none', 'other', '']) {
      await expectAll(test, ({ form, name }) => ({ body: text(`${form}&${name}=${value}`) }), repeated)
      await expectAll(
        test,
        ({ form, name }) => ({ body: text(`${name.replace('o', '%6F')}=${value}&${form}`) }),
        repeated,
      )
    }
    await expectAll(test, ({ form, name }) => ({ body: text(`${form}&${name}=%FF`) }), malformed)
    await expectAll(test, ({ form, name }) => ({ body: text(`${name}=%FF&${form}`) }), malformed)
  })

  it.each(prototypeNames)('[48] %s as a name is data and no more', async (name) => {
    const test = await formServer()
    const before = Object.getOwnPropertyNames(Object.prototype)
    for (const pair of [`${name}=x`, `${name}[client_id]=other`, `${name}=x&${name}=y`, `${name}`]) {
      await expectAll(test, ({ form }) => ({ body: text(`${pair}&${form}`) }), 'good')
    }
    const own = JSON.parse(`{"${name}":{"code":"x","token":"x","scope":"x"}}`)
    await expectAll(
      test,
      ({ form }) => ({ body: parsed({ ...Object.fromEntries(new URLSearchParams(form)), ...own }) }),
      'good',
    )
    await expectAll(
      test,
      ({ form, name: asked }) => ({
        body: text(form.replace(`${asked}=none`, `${asked}=${name}`)),
      }),
      'good',
    )
    expect(Object.getOwnPropertyNames(Object.prototype)).toStrictEqual(before)
    expect(Reflect.get({}, 'code')).toBeUndefined()
  })

  it('[48] a polluted prototype adds no parameter', async () => {
    const test = await formServer()
    const pollution = {
      client_secret: WEB.clientSecret,
      code: 'x',
      token: 'x',
      scope: 'x',
      grant_type: 'refresh_token',
    }
    for (const [name, value] of Object.entries(pollution)) {
      Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: true, writable: true })
    }
    try {
      await expectAll(
        test,
        ({ form, name }) => ({
          body: parsed({ ...Object.fromEntries(new URLSearchParams(form)), [name]: 'none' }),
        }),
        'good',
      )
    } finally {
      for (const name of Object.keys(pollution)) Reflect.deleteProperty(Object.prototype, name)
    }
  })
})

describe('a body that an earlier middleware has parsed', () => {
  const fieldsOf = (form: string): Record<string, unknown> => Object.fromEntries(new URLSearchParams(form))

  it('is taken as it is', async () => {
    const test = await formServer()
    await expectAll(test, ({ form }) => ({ body: parsed(fieldsOf(form)) }), 'good')
    await expectAll(test, ({ form }) => ({ body: parsed(Object.assign(Object.create(null), fieldsOf(form))) }), 'good')
    await expectAll(test, ({ form, name }) => ({ body: parsed({ ...fieldsOf(form), [name]: ['none'] }) }), 'good')
    await expectAll(test, ({ form }) => ({ body: parsed({ ...fieldsOf(form), unknown: [{}, null, 1, [2]] }) }), 'good')
  })

  it('works to the end: a code is exchanged', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const response = await send(test.server, {
      method: 'POST',
      url: '/oauth2/token',
      headers: { 'content-type': FORM, ...basic(WEB) },
      body: parsed({ grant_type: 'authorization_code', code }),
    })
    expect(response.status).toBe(200)
    expect(await works(test, JSON.parse(response.body).access_token)).toBe(true)
  })

  it.each([
    ['a number', 7],
    ['a boolean', true],
    ['null', null],
    ['undefined', undefined],
    ['an object', { a: 'none' }],
    ['a nested list', [['none']]],
    ['a list of an object', [{}]],
    ['a list of null', [null]],
    ['a list with a hole', Array(1)],
    ['a string and a number', ['none', 7]],
    ['a number and a string', [7, 'none']],
    ['an object that would print as a string', { toString: () => 'none' }],
    ['a boxed string', Object('none')],
    ['a function', () => 'none'],
    ['a control character', 'none\0'],
  ])('[47] a value that is %s: invalid_request', async (_what, value) => {
    const test = await formServer()
    await expectAll(test, ({ form, name }) => ({ body: parsed({ ...fieldsOf(form), [name]: value }) }), malformed)
  })

  it('an empty list is an absent parameter, a longer one a repeated parameter', async () => {
    const test = await formServer()
    for (const value of [
      ['none', 'none'],
      ['none', ''],
      ['', '', ''],
    ]) {
      await expectAll(
        test,
        ({ form, name }) => ({ body: parsed({ ...fieldsOf(form), [name]: value }) }),
        (name) => bad(`The parameter ${name} is repeated.`),
      )
    }
    const { status, body } = await send(test.server, {
      method: 'POST',
      url: '/oauth2/revoke',
      headers: { 'content-type': FORM, ...basic(WEB) },
      body: parsed({ token: [] }),
    })
    expect([status, JSON.parse(body).error_description]).toStrictEqual([400, 'The parameter token is missing.'])
  })

  // What is a string or undefined, Node's adapter takes for a text, and for no body.
  const WHOLES = [
    ['null', null],
    ['a number', 1],
    ['a function', () => ({})],
    ['undefined', undefined],
    ['a string', 'code=none'],
  ] as const
  it.each(WHOLES.slice(0, transport.name === 'node' ? 3 : 5))(
    '[47] as a whole %s: invalid_request',
    async (_what, fields) => {
      const test = await formServer()
      await expectAll(
        test,
        () => ({ body: parsed(fields) }),
        () => bad('The body is not a form.'),
      )
    },
  )

  it('[47] as many as 2,048 values, and no more, by names and in lists', async () => {
    const test = await formServer()
    const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, '1']))
    const both = (form: string, more: number, list: number) => {
      const fields = fieldsOf(form)
      return { ...fields, ...names(more - Object.keys(fields).length), list: Array(list).fill('1') }
    }
    await expectAll(
      test,
      ({ form }) => ({ body: parsed({ ...names(2048 - form.split('&').length), ...fieldsOf(form) }) }),
      'good',
    )
    await expectAll(
      test,
      ({ form }) => ({ body: parsed({ ...names(2049 - form.split('&').length), ...fieldsOf(form) }) }),
      () => TOO_MANY,
    )
    await expectAll(test, ({ form }) => ({ body: parsed(both(form, 2000, 48)) }), 'good')
    await expectAll(
      test,
      ({ form }) => ({ body: parsed(both(form, 2000, 49)) }),
      () => TOO_MANY,
    )
    await expectAll(
      test,
      ({ form }) => ({ body: parsed({ ...fieldsOf(form), list: Array(100_000).fill('1') }) }),
      () => TOO_MANY,
    )
  })

  it('[47] a value of 8,192 characters, and no longer', async () => {
    const test = await formServer()
    const of =
      (length: number) =>
      ({ form, name }: { form: string; name: string }) => ({
        body: parsed({ ...fieldsOf(form), [name]: 'x'.repeat(length) }),
      })
    await expectAll(test, of(8192), 'good')
    await expectAll(test, of(8193), tooLong)
  })
})

describe('every parameter of every endpoint', () => {
  const read = FORM_ENDPOINTS.flatMap((endpoint) =>
    endpoint.reads.map((name) => ({ endpoint, name, at: endpoint.endpoint })),
  )

  it.each(read)(
    '[9] $name repeated at $at is invalid_request, with a client or without',
    async ({ endpoint, name }) => {
      const test = await formServer()
      const others = endpoint.form.split('&').filter((pair) => !pair.startsWith(`${name}=`))
      for (const pairs of [`${name}=x&${name}=x`, `${name}=x&${name}=y`, `${name}=&${name}=x`, `${name}&${name}`])
        for (const headers of [basic(endpoint.client), {}]) {
          test.forget()
          test.events.length = 0
          expect(await post(test.server, endpoint.url, [...others, pairs].join('&'), headers)).toStrictEqual(
            endpoint.as(bad(`The parameter ${name} is repeated.`)),
          )
          expect(test.trips).toMatchObject({ reads: 0, writes: 0 })
          expect(test.events).toStrictEqual([refusalAt(endpoint, 'invalid_request', 'malformed_request')])
        }
    },
  )

  it.each(read)('[47] $name not well-formed or too long at $at is invalid_request', async ({ endpoint, name }) => {
    const test = await formServer()
    const others = endpoint.form.split('&').filter((pair) => !pair.startsWith(`${name}=`))
    for (const [value, response] of [
      ['%FF', malformed(name)],
      ['a%00', malformed(name)],
      ['x'.repeat(8193), tooLong(name)],
    ] as const) {
      const form = [...others, `${name}=${value}`].join('&')
      for (const headers of [basic(endpoint.client), {}])
        expect(await post(test.server, endpoint.url, form, headers)).toStrictEqual(endpoint.as(response))
    }
    expect(test.trips).toMatchObject({ reads: 0, writes: 0 })
  })

  const MISSING = {
    token: [
      ['', 'grant_type'],
      ['code=x', 'grant_type'],
      ['grant_type=&code=x', 'grant_type'],
      ['grant_type=authorization_code&redirect_uri=x', 'code'],
      ['grant_type=authorization_code&code=', 'code'],
      ['grant_type=refresh_token&code=x', 'refresh_token'],
      ['grant_type=refresh_token&refresh_token', 'refresh_token'],
      [`grant_type=${encodeURIComponent(DEVICE_GRANT)}&code=x`, 'device_code'],
      [`grant_type=${encodeURIComponent(DEVICE_GRANT)}&device_code=`, 'device_code'],
    ],
    revocation: ['', 'token=', 'token', 'access_token=x', 'Token=x'].map((form) => [form, 'token']),
    introspection: ['', 'token=', 'token', 'access_token=x', 'Token=x'].map((form) => [form, 'token']),
    // Every parameter of it may be left out.
    device_authorization: [],
  } as Readonly<Record<string, readonly (readonly [form: string, name: string])[]>>
  const missing = FORM_ENDPOINTS.flatMap((endpoint) =>
    (MISSING[endpoint.endpoint] ?? []).map(([form, name]) => ({ endpoint, form, name, at: endpoint.endpoint })),
  )

  it.each(missing)(
    '$name missing from $form at $at is told only to a client that has authenticated',
    async ({ endpoint, form, name }) => {
      const test = await formServer()
      const { client, url, as } = endpoint
      expect(await post(test.server, url, form, basic(client))).toStrictEqual(
        as(bad(`The parameter ${name} is missing.`)),
      )
      expect(test.events).toStrictEqual([refusalAt(endpoint, 'invalid_request', 'malformed_request', client.clientId)])
      for (const headers of [{}, basic({ ...client, clientSecret: OTHER.clientSecret })])
        expect(await post(test.server, url, form, headers)).toStrictEqual(as(INVALID_CLIENT))
    },
  )
})

describe('the query of an endpoint that takes a form', () => {
  it.each([
    'client_id',
    'client_secret',
    'code',
    'code_verifier',
    'refresh_token',
    'device_code',
    'token',
    'access_token',
    'grant_type',
  ])('[25] may not have %s, beside good credentials too', async (name) => {
    const test = await formServer()
    const encoded = name.replace('o', '%6F').replace('i', '%69')
    for (const query of [
      `${name}=x`,
      `a=b&${encoded}=x`,
      `a=b&${name}=`,
      `${name}`,
      `${name}=a&${name}=b`,
      `${name}=%FF`,
    ])
      await expectAll(
        test,
        ({ url, form }) => ({ url: `${url}?${query}`, body: text(form) }),
        () => bad(`The parameter ${name} must not be in the query.`),
      )
  })

  it('[25] is no place for a whole request, and a credential that was there still works', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const { access_token } = await tokens(test)
    const query = new URLSearchParams({ client_id: WEB.clientId, client_secret: WEB.clientSecret, code })
    expect((await post(test.server, `/oauth2/token?grant_type=authorization_code&${query}`, '')).status).toBe(400)
    expect((await post(test.server, `/oauth2/revoke?token=${access_token}`, '', basic(WEB))).status).toBe(400)
    expect(await works(test, access_token)).toBe(true)
    expect((await exchange(test, code)).status).toBe(200)
  })

  it('is ignored without credentials, unless it cannot be read at all', async () => {
    const test = await formServer()
    await expectAll(test, ({ url, form }) => ({ url: `${url}?a=b&a=%FF&`, body: text(form) }), 'good')
    await expectAll(
      test,
      ({ url, form }) => ({ url: `${url}?%FF=a`, body: text(form) }),
      () => BAD_NAME,
    )
  })
})

describe('the method of an endpoint that takes a form', () => {
  const METHODS = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'post', '']

  it.each(METHODS.filter((method) => canSend({ method })))('may not be %j: 405 with Allow', async (method) => {
    const test = await formServer()
    const notAllowed = tokenError(405, 'invalid_request', 'The method must be POST.', { Allow: 'POST' })
    for (const endpoint of FORM_ENDPOINTS) {
      test.events.length = 0
      const response = await send(test.server, { method, url: endpoint.url, headers: basic(endpoint.client) })
      expect(response).toStrictEqual(answeredTo(method, notAllowed))
      expect(test.events).toStrictEqual([refusalAt(endpoint, 'invalid_request', 'method_not_allowed')])
    }
    expect(test.trips).toMatchObject({ reads: 0, writes: 0 })
  })
})

describe('RFC 6749, appendix B', () => {
  /** One parameter of each kind, for the properties below. */
  const pairs = fc.array(fc.tuple(anyText, anyText), { maxLength: 12 })

  it('what is written as a form is read back, whoever wrote it', () => {
    fc.assert(
      fc.property(pairs, (written) => {
        const once = [...new Map(written)]
        const forms = [
          new URLSearchParams(once).toString(),
          once.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&'),
        ]
        for (const form of forms) {
          const parameters = parseParameters(form)
          expect(parameters).toBeInstanceOf(Map)
          // A pair without a name and a value is no pair at all, where it is written as nothing.
          const read = [...(parameters as Parameters)] // just checked
          expect(read).toStrictEqual(once)
        }
      }),
      { examples: [[[['__proto__', 'constructor']]], [[['', '']]]] },
    )
  })

  it('is a total function of any string: a map or invalid_request', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          unicodeText({ maxLength: 60 }),
          fc.string({ unit: fc.constantFrom('%', 'F', '0', '=', '&', '+', 'a', '\0', '\ud800') }),
        ),
        (text) => {
          const parameters = parseParameters(text)
          if (parameters instanceof Map) {
            for (const [name, value] of parameters)
              expect(typeof value === 'string' || value.type === 'fault', name).toBe(true)
          } else {
            expect(parameters).toMatchObject({ type: 'error', code: 'invalid_request', status: 400 })
          }
        },
      ),
      { numRuns: 250 },
    )
  })

  it('a component is decoded as every other implementation of the form decodes it, or not at all', () => {
    const component = fc.string({
      unit: fc.oneof(
        fc.constantFrom('%', '+', '%C3%A9', '%41', '%00', '%FF', ' '),
        fc.string({ unit: 'grapheme-ascii', maxLength: 3 }),
      ),
    })
    const isDecodable = (text: string): boolean => {
      try {
        return decodeURIComponent(text) !== undefined
      } catch {
        return false
      }
    }
    fc.assert(
      fc.property(component, (text) => {
        const expected = isDecodable(text)
          ? new URLSearchParams(`x=${text.replaceAll('&', '%26')}`).get('x')
          : undefined
        expect(decodeComponent(text)).toBe(expected)
      }),
      { numRuns: 250 },
    )
  })

  it('of a parameter that may come more than once, all values are read in their order; none where one is malformed', () => {
    const read = (form: string): readonly string[] => listIn(parseParameters(form) as Parameters, 'a') // sound names
    expect(read('')).toStrictEqual([])
    expect(read('b=1')).toStrictEqual([])
    expect(read('a=1')).toStrictEqual(['1'])
    expect(read('a=1&b=2&a=3&a=1')).toStrictEqual(['1', '3', '1'])
    expect(read('a=1&a=%FF')).toStrictEqual([])
    expect(read('a=%FF&a=1&a=2')).toStrictEqual([])
    expect(read('a=%FF')).toStrictEqual([])
  })

  it('empty pairs are nothing, between others, before them and behind them, however many', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('', '', 'a=1', 'b', 'c=%41+', '=')), (parts) => {
        const read = parseParameters(parts.join('&'))
        expect(read).toStrictEqual(parseParameters(parts.filter((part) => part !== '').join('&')))
      }),
      { examples: [[['a=1', '']], [['', 'a=1']], [['', '']], [['a=1', '', 'b']]] },
    )
  })

  it('[47] pairs are counted, empty ones and the one behind the last ampersand too: 2,048 are read, 2,049 are not', () => {
    for (const [pair, names] of [
      ['a=1', 1],
      ['', 0],
      ['=', 1],
    ] as const) {
      const read = (count: number) => parseParameters(Array(count).fill(pair).join('&'))
      expect([...(read(2048) as Parameters)], pair).toHaveLength(names) // sound, unless this fails
      expect(read(2049), pair).toMatchObject({ code: 'invalid_request', description: 'There are too many parameters.' })
    }
    expect(parseParameters(`${'a&'.repeat(2047)}b`)).toBeInstanceOf(Map)
    expect(parseParameters('a&'.repeat(2047))).toBeInstanceOf(Map)
    expect(parseParameters('a&'.repeat(2048))).toMatchObject({ type: 'error' })
    // What is not read is not looked at.
    expect(parseParameters(`${'&'.repeat(2048)}%FF`)).toMatchObject({ description: 'There are too many parameters.' })
  })

  it('every character of ASCII stands for itself, save + and %; none below, above or beyond it is read', () => {
    for (let code = 0; code < 0x180; code++) {
      const character = String.fromCharCode(code)
      const meant = character === '+' ? ' ' : character
      const sound = code >= 0x20 && code <= 0x7e && character !== '%'
      for (const [before, behind, b = before] of [
        ['', ''],
        ['a', 'z'],
        ['%41', '', 'A'],
        ['+', 'z', ' '],
      ] as const)
        expect(decodeComponent(before + character + behind), `U+${code.toString(16)}`).toBe(
          sound ? b + meant + behind : undefined,
        )
    }
  })

  it('control characters are refused where a value is asked for, and they are those of Unicode', () => {
    for (let code = 0; code < 0x10000; code++) {
      const value = valueIn(new Map([['a', `a${String.fromCharCode(code)}`]]), 'a')
      if ((typeof value === 'object') !== /\p{Cc}/u.test(String.fromCharCode(code)))
        expect.fail(`U+${code.toString(16)}`)
    }
    for (let code = 0; code < 0x100; code++) {
      const value = valueIn(new Map([['a', String.fromCharCode(code)]]), 'a')
      const control = code < 0x20 || (code >= 0x7f && code < 0xa0)
      expect(typeof value, `U+${code.toString(16)}`).toBe(control ? 'object' : 'string')
    }
  })

  it('a list of as many equal names as there may be is read as one parameter', () => {
    const form = Array(2048).fill('a=1').join('&')
    const parameters = parseParameters(form)
    expect(listIn(parameters as Parameters, 'a')).toStrictEqual(Array(2048).fill('1')) // sound names
    const body: HttpBody = { type: 'parsed', fields: { a: Array(2048).fill('1') } }
    const request = { method: 'POST', url: '/', headers: { 'content-type': FORM }, body, native: undefined }
    expect(bodyParameters(request)).toStrictEqual(parameters)
  })

  it('a body that was read as bytes, as those of the console are, is no form', () => {
    const body: HttpBody = { type: 'bytes', bytes: new TextEncoder().encode('a=1') }
    const request = { method: 'POST', url: '/', headers: { 'content-type': FORM }, body, native: undefined }
    expect(bodyParameters(request)).toMatchObject({ code: 'invalid_request', description: 'The body is not a form.' })
  })

  it('throws what made the form unreadable, since that is no fault of the client', () => {
    const error = new Error('the host has read the body already')
    const headers = { 'content-type': FORM }
    const request: HttpRequest = {
      method: 'POST',
      url: '/',
      headers,
      body: { type: 'unreadable', error },
      native: undefined,
    }
    expect(() => bodyParameters(request)).toThrow(error)
  })
})

describe('the form of a real client', () => {
  it('goes through, token by token', async () => {
    const test = await testServer()
    const { refresh_token } = await tokens(test)
    const form = `refresh_token=${encodeURIComponent(refresh_token)}&grant_type=refresh%5ftoken`
    expect((await post(test.server, '/oauth2/token', form, basic(WEB))).status).toBe(200)
  })
})

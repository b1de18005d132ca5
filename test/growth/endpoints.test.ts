/**
 * What a request costs a server is linear in its bytes at every endpoint, from its first character to its answer.
 * @module
 */
import type { Pages } from 'grantwell/pages'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { codesOf, enterCode } from '../protocol/device-form.js'
import { register } from '../protocol/registration.js'
import { API, withApi } from '../protocol/resource-server.js'
import type { TestServer } from '../support.js'
import { authorizationUrl, basic, hiddenFields, openConsent, requestOf, send, testServer, tokens } from '../support.js'
import type { Case } from './growth.js'
import { shortestTimeOf, superlinearOf, WHOLE } from './growth.js'
import { METADATA_SHAPES } from './registration-parsers.js'
import type { Sent } from './requests.js'
import { HEADER_SHAPES, HEADER_SIZES, REQUESTS, requestWith } from './requests.js'

/** The parameters that each endpoint needs to go on to its end, and how it then answers. */
interface Endpoint {
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly status: number
  readonly sent: () => Promise<Sent> | Sent
}

let test: TestServer

beforeAll(async () => {
  const derivationKey = new Uint8Array(32)
  const none = (): number => 0
  test = await testServer({
    onEvent: () => {},
    userCodeLimiter: none,
    deviceLimiter: none,
    registrationLimiter: none,
    clientPolicy: () => 'approve',
    fetchClientMetadata: async () => ({ type: 'none', reason: 'status' }),
    macTokens: true,
    derivationKey,
    resources: () => [{ id: 'a', name: 'A' }],
  })
  await withApi(test)
  // A grant, so that there is something to show and to find.
  await tokens(test)
})

afterEach(() => {
  expect(test.errors).toEqual([])
})

const queryOf = (fields: Record<string, string>): string => new URLSearchParams(fields).toString()

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  token: {
    path: '/oauth2/token',
    method: 'POST',
    status: 400,
    sent: () => ({ base: 'client_id=native&grant_type=refresh_token&refresh_token=x' }),
  },
  revocation: {
    path: '/oauth2/revoke',
    method: 'POST',
    status: 200,
    sent: () => ({ base: 'client_id=native&token=x' }),
  },
  introspection: {
    path: '/oauth2/introspect',
    method: 'POST',
    status: 200,
    sent: () => ({ base: 'token=x', headers: basic(API) }),
  },
  'device authorization': {
    path: '/oauth2/device_authorization',
    method: 'POST',
    status: 200,
    sent: () => ({ base: 'client_id=native' }),
  },
  authorization: {
    path: '/oauth2/auth',
    method: 'GET',
    status: 200,
    sent: () => ({ base: authorizationUrl().split('?')[1] ?? '' }),
  },
  'the form of consent': {
    path: '/oauth2/auth',
    method: 'POST',
    status: 302,
    sent: async () => {
      const { fields, headers } = await openConsent(test)
      return { base: queryOf({ ...fields, decision: 'agree' }), headers }
    },
  },
  'the page for a code of a device': {
    path: '/oauth2/device',
    method: 'GET',
    status: 200,
    sent: async () => ({ base: queryOf({ user_code: (await codesOf(test)).user_code }) }),
  },
  'the form of consent to a device': {
    path: '/oauth2/device',
    method: 'POST',
    status: 200,
    sent: async () => {
      const { fields, headers } = await enterCode(test, (await codesOf(test)).user_code)
      return { base: queryOf({ resource_scope: 'all', ...fields, decision: 'agree' }), headers }
    },
  },
  applications: {
    path: '/oauth2/applications',
    method: 'GET',
    status: 200,
    sent: () => ({ base: '' }),
  },
  'the form of applications': {
    path: '/oauth2/applications',
    method: 'POST',
    status: 200,
    sent: async () => {
      const page = await send(test.server, { url: '/oauth2/applications' })
      const cookie = page.headers['Set-Cookie']?.split(';')[0] ?? ''
      return { base: queryOf(hiddenFields(page.body)), headers: { cookie } }
    },
  },
  logo: {
    path: '/oauth2/logo',
    method: 'GET',
    status: 200,
    sent: async () => {
      const { page } = await openConsent(test)
      const [, name = ''] = /logo=([\w-]+)/.exec(page.body) ?? []
      return { base: queryOf({ client_id: 'web', logo: name }) }
    },
  },
  'the style sheet': { path: '/oauth2/style.css', method: 'GET', status: 200, sent: () => ({ base: '' }) },
  'a registration that its client reads': {
    path: '/oauth2/register',
    method: 'GET',
    status: 200,
    sent: async () => {
      const { client_id: clientId, registration_access_token: token } = await register(test)
      return { base: queryOf({ client_id: clientId }), headers: { authorization: `Bearer ${token}` } }
    },
  },
  metadata: {
    path: '/.well-known/oauth-authorization-server',
    method: 'GET',
    status: 200,
    sent: () => ({ base: '' }),
  },
}

describe('the time of an answer grows with the bytes of its request, and no faster', () => {
  it.each(Object.entries(ENDPOINTS))('%s', async (_name, { path, method, status, sent }) => {
    const own = await sent()
    // What is measured is the whole way: this request is none that is refused at first sight.
    const answer = await test.server.handle(requestOf(requestWith(method, path, own)))
    expect(answer?.status).toBe(status)
    const inputs = REQUESTS.filter((shaped) => shaped.method === method).map(({ name, sizes, request }) => {
      const prepare: Case = (size) => {
        const message = requestOf(request(path, own, size))
        return () => test.server.handle(message)
      }
      return [name, { prepare, sizes }] as const
    })
    expect(inputs.length).toBeGreaterThan(50)
    expect(await superlinearOf(inputs)).toEqual([])
  })

  it.each(Object.entries(METADATA_SHAPES))('registration: %s', async (_name, shape) => {
    const prepare: Case = (size) => {
      const headers = { 'content-type': 'application/json' }
      const text = JSON.stringify(shape(size))
      const message = requestOf({ method: 'POST', url: '/oauth2/register', headers, body: { type: 'text', text } })
      return () => test.server.handle(message)
    }
    expect(await superlinearOf([['', { prepare, sizes: WHOLE }]])).toEqual([])
  })

  it('a guard', async () => {
    const guard = test.server.guard({ scope: 'repo-code:r' })
    const queries = ['access_token&', 'a=b&', '%41', '+', 'access_token='].map((unit) => ({
      name: `a query of ${unit}...`,
      of: (size: number) => ({ headers: {}, url: `/?${unit.repeat(size / unit.length)}` }),
    }))
    const headed = HEADER_SHAPES.map(({ name, headers }) => ({
      name,
      of: (size: number) => ({ headers: headers(size), url: '/' }),
    }))
    const inputs = [...queries, ...headed].map(({ name, of }) => {
      const prepare: Case = (size) => {
        const request = { ...of(size), method: 'GET' }
        return () => guard(request)
      }
      return [name, { prepare, sizes: HEADER_SIZES }] as const
    })
    expect(await superlinearOf(inputs)).toEqual([])
  })
})

it('the resources that a form names and those that a host offers cost time beside each other, not for each other', async () => {
  let offered = 0
  let hidden: Record<string, string> = {}
  const resources = Array.from({ length: 1000 }, (_, index) => ({ id: `a repository here ${1000 + index}` }))
  const consent: Pages['consent'] = ({ model }) => {
    hidden = Object.fromEntries(model.form.fields.map(({ name, value }) => [name, value]))
    // What a page costs is another matter, and would hide what is looked for.
    return ''
  }
  const own = await testServer({ resources: () => resources.slice(0, offered), pages: { consent } })
  const page = await send(own.server, { url: authorizationUrl() })
  const headers = { cookie: page.headers['Set-Cookie']?.split(';')[0] ?? '' }
  const base = { ...hidden, decision: 'agree', resource_scope: 'specified' }
  const cost = async (named: number, offers: number) => {
    const ids = Array.from({ length: named }, (_, index): [string, string] => [
      'resource',
      `a repository else ${1000 + index}`,
    ])
    const body = new URLSearchParams([...Object.entries(base), ...ids]).toString()
    const message = requestOf(requestWith('POST', '/oauth2/auth', { base: body, headers }))
    offered = offers
    expect(await own.server.handle(message)).toMatchObject({ status: 400, body: '' })
    return shortestTimeOf(() => own.server.handle(message))
  }
  const [forNamed, forOffered, forBoth] = [await cost(1900, 1), await cost(1, 1000), await cost(1900, 1000)]
  expect(forBoth).toBeLessThan(3 * (forNamed + forOffered))
})

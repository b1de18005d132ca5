/**
 * Malformed requests through the fetch adapter: each has its own error, and the next sound one its answer as ever.
 * @module
 * @see RFC 6749, sections 4.1.2.1 and 5.2
 */
import type { Case, Suite } from './case.js'
import { demand, same } from './case.js'
import type { Ask, Site } from './site.js'
import {
  authorizationPath,
  basic,
  consentForm,
  errorOf,
  form,
  makeSite,
  OTHER,
  pairOf,
  redirected,
  SESSION,
  tokenRequest,
  WEB,
} from './site.js'

const TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

type Headers = Readonly<Record<string, string>>

/** A token request with one fault, its status and its error. */
interface Malformed {
  readonly name: string
  /** What differs from a sound refresh; a body is given as what it does to the sound one. */
  readonly path?: string
  readonly headers?: Headers
  readonly body?: (sound: string) => string | Uint8Array<ArrayBuffer> | undefined
  readonly error: string
}

const many = Array.from({ length: 2049 }, (_, index) => `a${index}=b`).join('&')

const typed = (contentType: string): Headers => ({ ...basic(WEB), 'content-type': contentType })
const as = (authorization: string): Headers => ({ ...TYPE, authorization })

const TOKEN_REQUESTS: readonly Malformed[] = [
  { name: 'plain text', headers: typed('text/plain'), error: '400 invalid_request' },
  { name: 'no content type', headers: typed(''), error: '400 invalid_request' },
  { name: 'a form of many parts', headers: typed('multipart/form-data; boundary=a'), error: '400 invalid_request' },
  {
    name: 'another character set',
    headers: typed('application/x-www-form-urlencoded; charset=iso-8859-1'),
    error: '400 invalid_request',
  },
  { name: 'JSON', headers: typed('application/json'), body: () => '{"grant_type":"a"}', error: '400 invalid_request' },
  { name: 'no body', body: () => undefined, error: '400 invalid_request' },
  { name: 'an empty body', body: () => '', error: '400 invalid_request' },
  { name: 'signs alone', body: () => '&&&=&=', error: '400 invalid_request' },
  { name: 'a NUL', body: (sound) => `${sound}%00`, error: '400 invalid_request' },
  { name: 'every parameter twice', body: (sound) => `${sound}&${sound}`, error: '400 invalid_request' },
  { name: 'too many parameters', body: (sound) => `${sound}&${many}`, error: '400 invalid_request' },
  { name: 'a long token', body: (sound) => sound + 'a'.repeat(9_000), error: '400 invalid_request' },
  { name: 'an escape that is none', body: (sound) => `${sound}%zz`, error: '400 invalid_request' },
  { name: 'an escape that is no UTF-8', body: (sound) => `${sound}%ff`, error: '400 invalid_request' },
  { name: 'a letter outside ASCII', body: (sound) => `${sound}ü`, error: '400 invalid_request' },
  {
    name: 'bytes that are no UTF-8',
    body: (sound) => Uint8Array.from([...new TextEncoder().encode(sound), 0xff, 0xc0, 0x80]),
    error: '400 invalid_request',
  },
  {
    name: 'names of prototypes',
    body: () => '__proto__=a&constructor=b&prototype[c]=d&toString=e',
    error: '400 invalid_request',
  },
  { name: 'a grant type of that name', body: () => 'grant_type=__proto__', error: '400 unsupported_grant_type' },
  {
    name: 'a password',
    body: () => 'grant_type=password&username=a&password=b',
    error: '400 unsupported_grant_type',
  },
  { name: 'no code', body: () => 'grant_type=authorization_code', error: '400 invalid_request' },
  { name: 'no such code', body: () => 'grant_type=authorization_code&code=gwc_none', error: '400 invalid_grant' },
  { name: 'a scope that is not there', body: (sound) => `${sound}&scope=repo-delete%3Arw`, error: '400 invalid_scope' },
  { name: 'two ways to authenticate', body: (sound) => `${sound}&client_secret=a`, error: '400 invalid_request' },
  { name: 'a secret in the query', path: '/oauth2/token?client_secret=a', error: '400 invalid_request' },
  { name: 'a query that is none', path: '/oauth2/token?%zz=a', error: '400 invalid_request' },
  { name: 'nobody', headers: TYPE, error: '401 invalid_client' },
  { name: 'an empty header', headers: as(''), error: '401 invalid_client' },
  { name: 'a scheme alone', headers: as('Basic'), error: '401 invalid_client' },
  { name: 'no base64', headers: as('Basic ====='), error: '401 invalid_client' },
  { name: 'no colon', headers: as(`Basic ${btoa('web')}`), error: '401 invalid_client' },
  { name: 'another scheme', headers: as('Bearer gwa_none'), error: '401 invalid_client' },
  {
    name: 'two headers, which a platform joins',
    headers: as(`${basic(WEB).authorization}, ${basic(WEB).authorization}`),
    error: '401 invalid_client',
  },
  {
    name: 'a wrong secret',
    headers: as(basic({ ...WEB, clientSecret: 'wrong' }).authorization),
    error: '401 invalid_client',
  },
  {
    name: 'a client of the name of a prototype',
    headers: as(basic({ ...WEB, clientId: '__proto__' }).authorization),
    error: '401 invalid_client',
  },
  { name: 'the token of another client', headers: as(basic(OTHER).authorization), error: '400 invalid_grant' },
  { name: 'a revocation without a token', path: '/oauth2/revoke', error: '400 invalid_request' },
]

/** Each on one server, which must be as before after all of them. */
async function tokenRequests(): Promise<void> {
  const site = await makeSite()
  const { refresh_token } = await pairOf(site)
  const sound = tokenRequest({ grant_type: 'refresh_token', refresh_token })
  const text = String(sound.body)
  const isWell = async (): Promise<string> => {
    const { status, body } = await site.send(sound)
    same(status, 200, 'a sound refresh')
    return body
  }
  const before = await isWell()
  const size = site.store.size
  const faults: string[] = []
  for (const { name, path = '/oauth2/token', headers = { ...TYPE, ...basic(WEB) }, body, error } of TOKEN_REQUESTS) {
    const sent = body === undefined ? text : body(text)
    const answer = await site.send({ method: 'POST', path, headers, ...(sent !== undefined && { body: sent }) })
    if (errorOf(answer) !== error) faults.push(`${name}: ${errorOf(answer)} instead of ${error}`)
    if (answer.headers.get('cache-control') !== 'no-store') faults.push(`${name}: may be stored`)
  }
  same(faults, [], 'malformed token requests')
  same([site.store.size, site.errors], [size, []], 'the store and the errors after them')
  same(await isWell(), before, 'the next sound refresh')
}

const AUTHORIZATION_REQUESTS: readonly (readonly [name: string, path: string, error: 'a page' | string])[] = [
  ['nothing', '/oauth2/auth', 'a page'],
  ['an escape that is none', '/oauth2/auth?%zz', 'a page'],
  ['too many parameters', `/oauth2/auth?${many}`, 'a page'],
  ['nobody', authorizationPath({ client_id: '__proto__' }), 'a page'],
  ['another redirect URI', authorizationPath({ redirect_uri: 'https://evil.example/callback' }), 'a page'],
  ['a client twice', `${authorizationPath()}&client_id=web`, 'a page'],
  ['another response type', authorizationPath({ response_type: 'token' }), 'unsupported_response_type'],
  ['a scope that is not there', authorizationPath({ scope: 'everything' }), 'invalid_scope'],
]

async function authorizationRequests(): Promise<void> {
  const site = await makeSite()
  for (const [name, path, error] of AUTHORIZATION_REQUESTS) {
    // Where nobody is signed in, no wrong request sends a browser on.
    await isPage(name, site, { path })
    if (error === 'a page') continue
    const answer = await site.send({ path, headers: { cookie: SESSION } })
    same(redirected(answer).query['error'], error, name)
  }
  const { agree } = await consentForm(site)
  await isPage('an empty form', site, form('/oauth2/auth', {}, { cookie: SESSION }))
  await isPage('plain text', site, { ...agree, headers: { ...agree.headers, 'content-type': 'text/plain' } })
  await isPage('another browser', site, { ...agree, headers: { ...agree.headers, cookie: SESSION } })
  await isPage('a forged form', site, { ...agree, body: agree.body.replace(/consent=[^&]*/, 'consent=1.2.3') })
  await isPage('another origin', site, { ...agree, headers: { ...agree.headers, origin: 'https://evil.example' } })
  demand(redirected(await site.send(agree)).query['code'] !== undefined, 'the sound form is good still')
}

async function isPage(name: string, { send }: Site, ask: Ask): Promise<void> {
  const { status, headers, body } = await send(ask)
  same([status, headers.get('location'), body.includes('<html')], [400, null, true], name)
}

const cases: readonly Case[] = [
  { name: 'at the token endpoint have their errors in JSON, and change nothing', run: tokenRequests },
  { name: 'at the authorization endpoint have a page or a redirect', run: authorizationRequests },
  {
    name: 'by another method are told which there are, and other paths are left to whoever else is there',
    run: async () => {
      const { send } = await makeSite()
      for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'GET']) {
        const { status, headers } = await send({ method, path: '/oauth2/token' })
        same([method, status, headers.get('allow')], [method, 405, 'POST'], 'the token endpoint')
      }
      for (const path of ['/', '/oauth2', '/oauth2/token/', '/OAuth2/token', '/oauth2/token%20', '//oauth2/token']) {
        const { status, body } = await send({ path })
        same([path, status, body], [path, 404, 'Not found\n'], 'another path')
      }
    },
  },
  {
    name: 'with names of prototypes in a form beside a sound one do what the form asks',
    run: async () => {
      const site = await makeSite()
      const { refresh_token } = await pairOf(site)
      const sound = tokenRequest({ grant_type: 'refresh_token', refresh_token })
      for (const name of ['__proto__', 'constructor', 'hasOwnProperty', '__proto__[grant_type]']) {
        const body = `${encodeURIComponent(name)}=x&${sound.body}&${encodeURIComponent(name)}=y`
        same([name, (await site.send({ ...sound, body })).status], [name, 200], 'a sound refresh')
      }
      same(Object.keys(Object.prototype), [], 'the prototype of all objects')
    },
  },
]

export const malformed: Suite = { title: 'malformed requests', cases: () => cases }

/**
 * Quirks of client libraries: what each of them sends that others do not, and what it is answered. As their sources have it, or as
 * they were seen to send it.
 * @module
 */
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../support.js'
import { authorize, CHALLENGE, NATIVE_CALLBACK, requestOf, send, testServer, VERIFIER, WEB, works } from '../support.js'

const FORM = 'application/x-www-form-urlencoded'
const JSON_ALONE = 'application/json'

/** Base64, as `Authorization: Basic` has it. */
const basic = (id: string, secret: string): string => `Basic ${btoa(`${id}:${secret}`)}`
const OF_WEB = basic(WEB.clientId, WEB.clientSecret)
const IN_BODY = `client_id=${WEB.clientId}&client_secret=${WEB.clientSecret}`
const CALLBACK = encodeURIComponent('https://app.example/callback')

/** A request as a library writes it; `CODE`, `REFRESH` and `TOKEN` stand for what it was given. */
interface Quirk {
  readonly client: string
  readonly quirk: string
  readonly path: 'token' | 'revoke' | 'device_authorization'
  readonly headers: Readonly<Record<string, string>>
  readonly form: string
  /** The status and, of a refusal, the error; of a revocation, the body. */
  readonly answer: string
}

const confidential: readonly Quirk[] = [
  [
    'Go, x/oauth2',
    'Basic, each part form-urlencoded; sorted parameters, no Accept',
    'token',
    { authorization: OF_WEB, 'content-type': FORM },
    `code=CODE&grant_type=authorization_code&redirect_uri=${CALLBACK}`,
    '200',
  ],
  [
    'Go, x/oauth2',
    'its second try, after a refusal: the secret in the body',
    'token',
    { 'content-type': FORM },
    `client_id=web&client_secret=${WEB.clientSecret}&code=CODE&grant_type=authorization_code&redirect_uri=${CALLBACK}`,
    '200',
  ],
  [
    'Python, Authlib',
    'a charset without a space',
    'token',
    { authorization: OF_WEB, accept: JSON_ALONE, 'content-type': `${FORM};charset=UTF-8` },
    `grant_type=authorization_code&redirect_uri=${CALLBACK}&code=CODE`,
    '200',
  ],
  [
    'Python, requests-oauthlib',
    'the scope on a refresh, and its own client_id beside Basic',
    'token',
    { authorization: OF_WEB, accept: JSON_ALONE, 'content-type': FORM },
    'grant_type=refresh_token&client_id=web&scope=repo-code%3Ar+account-profile%3Ar&refresh_token=REFRESH',
    '200',
  ],
  [
    'Python, requests-oauthlib',
    'the secret in the body, by include_client_id',
    'token',
    { accept: JSON_ALONE, 'content-type': FORM },
    `grant_type=authorization_code&${IN_BODY}&code=CODE&redirect_uri=${CALLBACK}`,
    '200',
  ],
  [
    'JavaScript, passport-oauth2',
    'the secret in the body, the code last',
    'token',
    { 'content-type': FORM },
    `grant_type=authorization_code&redirect_uri=${CALLBACK}&${IN_BODY}&code=CODE`,
    '200',
  ],
  [
    'JavaScript, axios',
    'several media types in Accept, a charset in lower case',
    'token',
    { authorization: OF_WEB, accept: 'application/json, text/plain, */*', 'content-type': `${FORM};charset=utf-8` },
    'grant_type=refresh_token&refresh_token=REFRESH',
    '200',
  ],
  [
    'JavaScript, XMLHttpRequest',
    'a charset with a space',
    'token',
    { authorization: OF_WEB, accept: '*/*', 'content-type': `${FORM}; charset=UTF-8` },
    'grant_type=refresh_token&refresh_token=REFRESH',
    '200',
  ],
  [
    'C#, ASP.NET Core',
    'the secret in the body, the grant type behind it',
    'token',
    { accept: JSON_ALONE, 'content-type': FORM },
    `client_id=web&redirect_uri=${CALLBACK}&client_secret=${WEB.clientSecret}&code=CODE&grant_type=authorization_code`,
    '200',
  ],
  [
    'PHP, league/oauth2-client',
    'the secret in the body',
    'token',
    { 'content-type': FORM },
    `${IN_BODY}&redirect_uri=${CALLBACK}&grant_type=authorization_code&code=CODE`,
    '200',
  ],
  [
    'Ruby, oauth2',
    'Basic as it is, not form-urlencoded',
    'token',
    { authorization: OF_WEB, 'content-type': FORM, accept: '*/*' },
    `grant_type=authorization_code&code=CODE&redirect_uri=${CALLBACK}`,
    '200',
  ],
  [
    'Java, ScribeJava',
    'the scope on an exchange, too',
    'token',
    { authorization: OF_WEB, 'content-type': FORM },
    `code=CODE&redirect_uri=${CALLBACK}&scope=repo-code%3Ar&grant_type=authorization_code`,
    '200',
  ],
  [
    'curl',
    'the scheme and every header in the case of the user',
    'token',
    { authorization: OF_WEB.replace('Basic', 'basic'), accept: '*/*', 'content-type': FORM },
    'grant_type=refresh_token&refresh_token=REFRESH',
    '200',
  ],
  [
    'a form that somebody fills in',
    'empty parameters',
    'token',
    { authorization: OF_WEB, accept: 'application/x-www-form-urlencoded, application/json', 'content-type': FORM },
    `grant_type=authorization_code&code=CODE&redirect_uri=${CALLBACK}&state=&audience=&resource=&code_verifier=`,
    '200',
  ],
  [
    'a form that somebody fills in',
    'an empty secret in the body beside Basic',
    'token',
    { authorization: OF_WEB, 'content-type': FORM },
    'grant_type=refresh_token&refresh_token=REFRESH&client_id=web&client_secret=',
    '200',
  ],
  [
    'people who write lists by hand',
    'spaces before, between and behind scopes',
    'token',
    { authorization: OF_WEB, 'content-type': FORM },
    'grant_type=refresh_token&refresh_token=REFRESH&scope=+repo-code%3Ar++account-profile%3Ar+',
    '200',
  ],
  [
    'JavaScript, simple-oauth2',
    'JSON alone in Accept, at a revocation',
    'revoke',
    { authorization: OF_WEB, accept: JSON_ALONE, 'content-type': FORM },
    'token=TOKEN&token_type_hint=access_token',
    '200 {}',
  ],
  [
    'Java, Spring',
    'JSON alone in Accept, with a charset',
    'revoke',
    { authorization: OF_WEB, accept: 'application/json;charset=UTF-8', 'content-type': `${FORM};charset=UTF-8` },
    'token=TOKEN',
    '200 {}',
  ],
  [
    'C#, Git Credential Manager',
    'Basic and the secret in the body, both: one too many',
    'token',
    { authorization: OF_WEB, accept: JSON_ALONE, 'content-type': FORM },
    `grant_type=refresh_token&refresh_token=REFRESH&${IN_BODY}`,
    '400 invalid_request',
  ],
  [
    'JavaScript, simple-oauth2',
    'JSON as the body, by an option',
    'token',
    { authorization: OF_WEB, 'content-type': JSON_ALONE },
    '{"grant_type":"refresh_token"}',
    '400 invalid_request',
  ],
  [
    'PHP, league/oauth2-client',
    'a comma between scopes, its default',
    'device_authorization',
    { authorization: OF_WEB, 'content-type': FORM },
    'scope=repo-code%3Ar%2Caccount-profile%3Ar',
    '400 invalid_scope',
  ],
].map(quirkOf)

const publicOnes: readonly Quirk[] = [
  [
    'Go, x/oauth2',
    'Basic with an empty secret',
    'token',
    { authorization: basic('native', ''), 'content-type': FORM },
    `code=CODE&code_verifier=${VERIFIER}&grant_type=authorization_code`,
    '200',
  ],
  [
    'Python, requests-oauthlib',
    'Basic with an empty secret, client_id too',
    'token',
    { authorization: basic('native', ''), accept: JSON_ALONE, 'content-type': FORM },
    `grant_type=authorization_code&client_id=native&code=CODE&code_verifier=${VERIFIER}`,
    '200',
  ],
  [
    'C#, Git Credential Manager',
    'Basic with an empty secret, client_id and an empty client_secret',
    'token',
    { authorization: basic('native', ''), accept: JSON_ALONE, 'content-type': FORM },
    `grant_type=authorization_code&code=CODE&code_verifier=${VERIFIER}&client_id=native&client_secret=`,
    '200',
  ],
  [
    'Python, Authlib',
    'client_id in the body',
    'token',
    { accept: JSON_ALONE, 'content-type': `${FORM};charset=UTF-8` },
    `grant_type=authorization_code&code=CODE&code_verifier=${VERIFIER}&client_id=native`,
    '200',
  ],
  [
    'JavaScript, simple-oauth2',
    'an empty secret in the body',
    'token',
    { accept: JSON_ALONE, 'content-type': FORM },
    `grant_type=authorization_code&code=CODE&code_verifier=${VERIFIER}&client_id=native&client_secret=`,
    '200',
  ],
].map(quirkOf)

type Row = readonly [string, string, string, Readonly<Record<string, string>>, string, string]

function quirkOf(row: (string | Readonly<Record<string, string>>)[]): Quirk {
  const [client, quirk, path, headers, form, answer] = row as unknown as Row // as every row above is
  return { client, quirk, path: path as Quirk['path'], headers, form, answer } // the same
}

/** Sends it as it was written, with what it stands for. */
async function answerTo(
  { server }: TestServer,
  { path, headers, form }: Quirk,
  given: Readonly<Record<string, string>>,
) {
  const text = form.replace(/CODE|REFRESH|TOKEN/g, (name) => given[name] ?? '')
  const { status, body } = await send(server, {
    ...requestOf({ method: 'POST', url: `/oauth2/${path}` }),
    headers,
    body: { type: 'text', text },
  })
  if (status !== 200) return `${status} ${JSON.parse(body).error}`
  return path === 'revoke' ? `200 ${body}` : '200'
}

describe('a confidential client', () => {
  it.each(confidential)('$client: $quirk: $answer', async (quirk) => {
    const test = await testServer()
    const first = await authorize(test)
    const { code } = await authorize(test)
    const exchange = { path: 'token', form: 'grant_type=authorization_code&code=CODE' } as const
    const made = await send(test.server, {
      ...requestOf({ method: 'POST', url: `/oauth2/${exchange.path}` }),
      headers: { authorization: OF_WEB, 'content-type': FORM },
      body: { type: 'text', text: exchange.form.replace('CODE', first.code) },
    })
    const { access_token, refresh_token } = JSON.parse(made.body)
    const given = { CODE: code, REFRESH: refresh_token, TOKEN: access_token }
    expect(await answerTo(test, quirk, given)).toBe(quirk.answer)
    expect(await works(test, access_token)).toBe(quirk.path !== 'revoke')
  })
})

describe('a public client', () => {
  it.each(publicOnes)('$client: $quirk: $answer', async (quirk) => {
    const test = await testServer()
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
    const { code } = await authorize(test, { client_id: 'native', redirect_uri: NATIVE_CALLBACK, ...pkce })
    expect(await answerTo(test, quirk, { CODE: code })).toBe(quirk.answer)
  })
})

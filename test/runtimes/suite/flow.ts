/**
 * The whole flow through the fetch adapter, as a browser, a client and an API see it.
 * @module
 * @see Specification, section 4
 */
import { seededEntropy } from 'grantwell/testing'
import type { Case, Suite } from './case.js'
import { demand, has, same } from './case.js'
import type { Tokens } from './site.js'
import {
  authorizationPath,
  basic,
  callApi,
  challengeOf,
  codeOf,
  consentForm,
  errorOf,
  form,
  ISSUER,
  makeSite,
  NATIVE_CALLBACK,
  OTHER,
  pairOf,
  redirected,
  SESSION,
  tokenRequest,
  tokensOf,
  VERIFIER,
  WEB,
  WEB_CALLBACK,
} from './site.js'

const METADATA = '/.well-known/oauth-authorization-server'

const cases: readonly Case[] = [
  {
    name: 'discovery names the endpoints, and HEAD answers as GET without the body',
    run: async () => {
      const { send } = await makeSite()
      const { status, headers, body } = await send({ path: METADATA })
      same([status, headers.get('content-type')], [200, 'application/json'], 'the metadata')
      has(
        JSON.parse(body),
        {
          issuer: ISSUER,
          authorization_endpoint: `${ISSUER}/oauth2/auth`,
          token_endpoint: `${ISSUER}/oauth2/token`,
          revocation_endpoint: `${ISSUER}/oauth2/revoke`,
          device_authorization_endpoint: `${ISSUER}/oauth2/device_authorization`,
        },
        'the metadata',
      )
      const head = await send({ method: 'HEAD', path: METADATA })
      same([head.status, head.body, head.headers.get('content-type')], [200, '', headers.get('content-type')], 'HEAD')
    },
  },
  {
    name: 'goes from the consent page with PKCE over the API and two refreshes to the revocation',
    run: async () => {
      const site = await makeSite()
      const { send } = site
      const parameters = {
        state: 'a state of any & kind ü',
        code_challenge: await challengeOf(VERIFIER),
        code_challenge_method: 'S256',
      }
      const stranger = redirected(await send({ path: authorizationPath(parameters) }))
      same(stranger.to, `${ISSUER}/sign-in`, 'a stranger')
      demand(stranger.query['return_to']?.startsWith(`${ISSUER}/oauth2/auth?`) === true, 'and comes back')

      const { page, agree } = await consentForm(site, parameters)
      demand(page.body.includes('<title>'), 'the consent page is HTML')
      demand(page.headers.get('content-security-policy')?.includes("frame-ancestors 'none'") === true, 'in no frame')
      const { to, query } = redirected(await send(agree))
      const { code = '', ...others } = query
      same([to, others], [WEB_CALLBACK, { state: parameters.state, iss: ISSUER }], 'back at the application')
      same(redirected(await send(agree)).query['code'], code, 'the same form once more')

      const exchanged = await send(tokenRequest({ grant_type: 'authorization_code', code, code_verifier: VERIFIER }))
      same([exchanged.status, exchanged.headers.get('cache-control')], [200, 'no-store'], 'the exchange')
      const first: Tokens = JSON.parse(exchanged.body)
      same((await send(agree)).status, 400, 'the form after the exchange')
      has(first, { token_type: 'bearer', expires_in: 28_800, scope: 'repo-code:rw account-profile:r' }, 'the tokens')
      const called = await callApi(site, first.access_token)
      const caller = { subject: 'ada', clientId: 'web', scopes: first.scope.split(' ') }
      same([called.status, JSON.parse(called.body)], [200, caller], 'the API')

      const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
      const second = await tokensOf(site, refresh)
      demand(second.access_token !== first.access_token, 'a new access token')
      same(await tokensOf(site, refresh), second, 'a second refresh within grace')
      const statuses = async (): Promise<readonly number[]> => [
        (await callApi(site, first.access_token)).status,
        (await callApi(site, second.access_token)).status,
      ]
      same(await statuses(), [200, 200], 'both access tokens within grace')

      const revoke = (token: string) => send(form('/oauth2/revoke', { token }, basic(WEB)))
      const revoked = await revoke(first.access_token)
      same([revoked.status, revoked.body], [200, ''], 'the revocation')
      same(await statuses(), [401, 200], 'after the revocation of an access token')
      same((await revoke(second.refresh_token)).status, 200, 'the revocation of a refresh token')
      same(await statuses(), [401, 401], 'after the revocation of the grant')
      const late = await send(tokenRequest({ grant_type: 'refresh_token', refresh_token: second.refresh_token }))
      same(errorOf(late), '400 invalid_grant', 'a refresh after it')
      same(site.errors, [], 'the errors of the server')
    },
  },
  {
    name: 'goes to the API for a public client on loopback, which must use PKCE',
    run: async () => {
      const site = await makeSite()
      const parameters = {
        client_id: 'native',
        redirect_uri: NATIVE_CALLBACK,
        code_challenge: await challengeOf(VERIFIER),
        code_challenge_method: 'S256',
      }
      const code = await codeOf(site, parameters)
      const exchange = { grant_type: 'authorization_code', client_id: 'native', code }
      const wrong = await site.send(tokenRequest({ ...exchange, code_verifier: VERIFIER.replace('a', 'b') }))
      same(errorOf(wrong), '400 invalid_grant', 'another verifier')
      const { access_token } = await tokensOf(site, { ...exchange, code_verifier: VERIFIER })
      same((await callApi(site, access_token)).status, 200, 'the API')
      const { code_challenge, code_challenge_method, ...plain } = parameters
      const refused = redirected(await site.send({ path: authorizationPath(plain), headers: { cookie: SESSION } }))
      same(refused.query['error'], 'invalid_request', 'without a challenge')
    },
  },
  {
    name: 'goes back with access_denied when the user refuses',
    run: async () => {
      const site = await makeSite()
      const { agree } = await consentForm(site, { state: 's' })
      const body = agree.body.replace('decision=agree', 'decision=refuse')
      const { query } = redirected(await site.send({ ...agree, body }))
      has(query, { error: 'access_denied', state: 's', iss: ISSUER }, 'the redirect')
    },
  },
  {
    name: 'a code that comes twice, at once or later, makes one grant, and none in the end',
    run: async () => {
      const site = await makeSite()
      const exchange = tokenRequest({ grant_type: 'authorization_code', code: await codeOf(site) })
      const answers = await Promise.all(Array.from({ length: 10 }, () => site.send(exchange)))
      const good = answers.filter(({ status }) => status === 200)
      same([good.length, answers.length], [1, 10], 'the redemptions')
      const { access_token }: Tokens = JSON.parse(good[0]?.body ?? '{}')
      same((await callApi(site, access_token)).status, 401, 'the API, after the code came again')
    },
  },
  {
    name: 'refreshes that race agree on one pair, and one after the grace period ends the grant',
    run: async () => {
      const site = await makeSite()
      const first = await pairOf(site)
      const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
      const pairs = await Promise.all(Array.from({ length: 20 }, () => tokensOf(site, refresh)))
      same(new Set(pairs.map((pair) => JSON.stringify(pair))).size, 1, 'the pairs')
      site.clock.advance(299)
      same((await callApi(site, first.access_token)).status, 200, 'the old access token within its grace')
      site.clock.advance(1)
      same((await callApi(site, first.access_token)).status, 401, 'and after it')
      same((await callApi(site, pairs[0]?.access_token ?? '')).status, 200, 'the new one')
      same(errorOf(await site.send(tokenRequest(refresh))), '400 invalid_grant', 'the replay')
      same((await callApi(site, pairs[0]?.access_token ?? '')).status, 401, 'the new one after it')
    },
  },
  {
    name: 'a token ends with its lifetime',
    run: async () => {
      const site = await makeSite()
      const { access_token, refresh_token } = await pairOf(site)
      site.clock.advance(28_799)
      same((await callApi(site, access_token)).status, 200, 'in its last second')
      site.clock.advance(1)
      same((await callApi(site, access_token)).status, 401, 'after it')
      site.clock.advance(15_552_000 - 28_800)
      const late = await site.send(tokenRequest({ grant_type: 'refresh_token', refresh_token }))
      same(errorOf(late), '400 invalid_grant', 'the refresh token after its own')
      same(site.store.size > 0, true, 'the applications are kept')
    },
  },
  {
    name: 'the guard says what is missing',
    run: async () => {
      const site = await makeSite()
      const narrow = await pairOf(site, { scope: 'account-profile:r' })
      const told = async (authorization?: string) => {
        const answer = await site.send({ path: '/api', headers: authorization === undefined ? {} : { authorization } })
        const challenge = answer.headers.get('www-authenticate') ?? ''
        return [answer.status, /error="(\w+)"/.exec(challenge)?.[1], challenge.startsWith('Bearer realm="oauth2"')]
      }
      same(await told(), [401, undefined, true], 'nothing')
      same(await told(basic(WEB).authorization), [401, undefined, true], 'another scheme')
      same(await told('Bearer'), [400, 'invalid_request', true], 'no token')
      same(await told('Bearer gwa_none'), [401, 'invalid_token', true], 'a token of nobody')
      same(await told(`Bearer ${narrow.access_token}`), [403, 'insufficient_scope', true], 'too little')
    },
  },
  {
    name: 'tokens of another application are neither refreshed nor revoked',
    run: async () => {
      const site = await makeSite()
      const { access_token, refresh_token } = await pairOf(site)
      const stolen = await site.send(
        form('/oauth2/token', { grant_type: 'refresh_token', refresh_token }, basic(OTHER)),
      )
      same(errorOf(stolen), '400 invalid_grant', 'a refresh')
      same(
        (await site.send(form('/oauth2/revoke', { token: refresh_token }, basic(OTHER)))).status,
        200,
        'a revocation',
      )
      same((await callApi(site, access_token)).status, 200, 'the API')
    },
  },
  {
    name: 'with the same entropy and time the tokens are the same on every runtime, those that are derived too',
    run: async () => {
      const site = await makeSite({ entropy: seededEntropy(7), derivationKey: new Uint8Array(32).fill(9) })
      const first = await pairOf(site)
      const second = await tokensOf(site, { grant_type: 'refresh_token', refresh_token: first.refresh_token })
      return JSON.stringify([first, second])
    },
  },
]

export const flow: Suite = { title: 'the flow through the fetch adapter', cases: () => cases }

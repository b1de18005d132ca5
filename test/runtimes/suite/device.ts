/**
 * The device flow through the fetch adapter: the device's requests, and the pages of its user.
 * @module
 * @see Specification, section 4.5; RFC 8628
 */
import type { Case, Suite } from './case.js'
import { demand, has, same } from './case.js'
import type { Answer, Served } from './site.js'
import { basic, callApi, errorOf, form, formOf, ISSUER, makeSite, NATIVE, SESSION, WEB } from './site.js'

/** What a device is told of its codes. */
interface Codes {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  readonly expires_in: number
  readonly interval: number
}

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

type Headers = Readonly<Record<string, string>>

async function begin(
  { send }: Served,
  fields: Record<string, string> = {},
  headers: Headers = basic(WEB),
): Promise<Codes> {
  const { status, body } = await send(form('/oauth2/device_authorization', fields, headers))
  same(status, 200, `the device authorization, which said ${body}`)
  return JSON.parse(body)
}

function poll(
  { send }: Served,
  { device_code }: Codes,
  fields: Record<string, string> = {},
  headers: Headers = basic(WEB),
) {
  return send(form('/oauth2/token', { grant_type: GRANT, device_code, ...fields }, headers))
}

/** The user opens the page, types the code as people do, and decides. */
async function decide({ send }: Served, { user_code }: Codes, decision: 'agree' | 'refuse'): Promise<Answer> {
  const asking = formOf(await send({ path: '/oauth2/device', headers: { cookie: SESSION } }), SESSION)
  const typed = { ...asking.fields, user_code: user_code.toLowerCase().replace('-', ' ') }
  const consent = await send(form(asking.action, typed, { cookie: asking.cookie }))
  demand(consent.body.includes(user_code), `the page shows the code: ${consent.status}`)
  const { action, fields } = formOf(consent, SESSION)
  return send(form(action, { ...fields, resource_scope: 'all', decision }, { cookie: asking.cookie }))
}

const cases: readonly Case[] = [
  {
    name: 'goes from the codes over the page of the user to the API',
    run: async () => {
      const site = await makeSite()
      const codes = await begin(site, { scope: 'repo-code:r' })
      has(codes, { verification_uri: `${ISSUER}/oauth2/device`, expires_in: 600, interval: 5 }, 'the codes')
      demand(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/.test(codes.user_code), codes.user_code)
      same(errorOf(await poll(site, codes)), '400 authorization_pending', 'the first poll')
      same(errorOf(await poll(site, codes)), '400 slow_down', 'a poll too soon')
      same((await decide(site, codes, 'agree')).status, 200, 'the decision')
      site.clock.advance(30)
      const answer = await poll(site, codes)
      same(answer.status, 200, answer.body)
      const { access_token, scope } = JSON.parse(answer.body)
      same(scope, 'repo-code:r', 'the scope')
      same((await callApi(site, access_token)).status, 200, 'the API')
      same(site.errors, [], 'the errors of the server')
    },
  },
  {
    name: 'goes to the API for a public client',
    run: async () => {
      const site = await makeSite()
      const client = { client_id: NATIVE.clientId }
      const codes = await begin(site, client, {})
      same((await decide(site, codes, 'agree')).status, 200, 'the decision')
      const answer = await poll(site, codes, client, {})
      same(answer.status, 200, answer.body)
      same((await callApi(site, JSON.parse(answer.body).access_token)).status, 200, 'the API')
    },
  },
  {
    name: 'ends where the user refuses, and with the lifetime of the code',
    run: async () => {
      const site = await makeSite()
      const refused = await begin(site)
      same((await decide(site, refused, 'refuse')).status, 200, 'the decision')
      same(errorOf(await poll(site, refused)), '400 access_denied', 'the poll of the one that was refused')
      const late = await begin(site)
      site.clock.advance(600)
      same(errorOf(await poll(site, late)), '400 expired_token', 'the poll of the one that came late')
    },
  },
]

export const device: Suite = { title: 'the device flow through the fetch adapter', cases: () => cases }

/**
 * Whole flows with good and bad ends, and everything that they leave: what clients, browsers, the host and the store have of them.
 * @module
 */
import type { AuditEvent, HttpResponse } from 'grantwell'
import { FORM_ENDPOINTS } from '../protocol/form-endpoints.js'
import { API, INTROSPECTION_PATH, withApi } from '../protocol/resource-server.js'
import {
  authorizationUrl,
  basic,
  CHALLENGE,
  guard,
  NATIVE,
  NATIVE_CALLBACK,
  OTHER,
  openConsent,
  post,
  registration,
  send,
  VERIFIER,
  WEB,
} from '../support.js'
import type { WatchedServer } from './helpers.js'
import { StoreFailure, watchedServer } from './helpers.js'

type Client = { readonly clientId: string; readonly clientSecret?: string }

/** Everything that can happen in a flow. */
export const STEPS = [
  'agree',
  'agree with PKCE',
  'refuse',
  'send a form again',
  'exchange',
  'exchange with a wrong redirect URI',
  'exchange with a wrong verifier',
  'exchange as another client',
  'exchange with a wrong secret',
  'exchange twice in one body',
  'exchange in the query',
  'refresh',
  'refresh as another client',
  'refresh with another scope',
  'refresh an old token',
  'revoke',
  'revoke as another client',
  'revoke with a wrong secret',
  'introspect',
  'introspect as another client',
  'introspect with a wrong secret',
  'call',
  'call for more',
  'call with the token in the query',
  'call with a code',
  'mistake one parameter for another',
  'swap identifier and secret',
  'wait',
  'wait long',
  'suspend',
  'register',
  'break the store',
] as const

export type Step = (typeof STEPS)[number]

/** What a flow left: everything that somebody other than the client can see, and every secret that there was. */
export interface Trace {
  readonly test: WatchedServer
  /** Answers, each with the secrets that it is there to hand out. */
  readonly answers: { readonly step: string; readonly response: HttpResponse; readonly given: readonly string[] }[]
  /** Everything that was ever written. */
  readonly written: string[]
  readonly credentials: Set<string>
  /** Client secrets, the verifier, and the tokens and cookies of forms. */
  readonly others: Set<string>
  /** What administrators were told by errors. */
  readonly thrown: string[]
}

/** Walks through a flow. */
export async function walk(steps: readonly Step[], consent: 'always' | 'once' = 'always'): Promise<Trace> {
  const credentials = new Set<string>()
  const options = {
    consent,
    onError: (error: unknown) => test.errors.push(error),
    // With the request that each came by, about which a careless host says everything that it knows.
    onEvent: (event: AuditEvent) => void test.events.push(event),
    requestId: () => [...credentials].reverse().join(' '),
  }
  const test: WatchedServer = await withApi(await watchedServer(options))
  const { server } = test
  const answers: Trace['answers'] = []
  const written: string[] = []
  const others = new Set([WEB.clientSecret, OTHER.clientSecret, API.clientSecret, VERIFIER])
  const thrown: string[] = []
  let code = 'none'
  let codeOfForm = 'none'
  let client: Client = WEB
  let pair = { access_token: 'none', refresh_token: 'none' }
  let old = pair
  let form: [Record<string, string>, Record<string, string>] = [{}, {}]
  const issued: string[] = []
  let failing = 0

  test.instead.write = (key, value, options) => {
    written.push(JSON.stringify([key, value, options]))
    if (failing-- > 0) throw new StoreFailure()
    return test.store.write(key, value, options)
  }
  const note = (step: string, response: HttpResponse, given: readonly string[] = []): HttpResponse => {
    answers.push({ step, response, given })
    for (const each of given) credentials.add(each)
    return response
  }
  const asClient = (who: Client, secret = who.clientSecret): [Record<string, string>, Record<string, string>] =>
    secret === undefined
      ? [{ client_id: who.clientId }, {}]
      : [{}, basic({ clientId: who.clientId, clientSecret: secret })]
  const ask = async (step: string, fields: Record<string, string>, who = client, secret?: string) => {
    const [more, headers] = asClient(who, secret ?? who.clientSecret)
    const response = await post(server, '/oauth2/token', { ...fields, ...more }, headers)
    const body = JSON.parse(response.body)
    const got = response.status === 200 ? [body.access_token, body.refresh_token] : []
    note(step, response, got)
    if (response.status === 200) {
      old = pair
      pair = body
    }
  }
  const exchanging = () => ({
    grant_type: 'authorization_code',
    code,
    code_verifier: client === NATIVE ? VERIFIER : '',
  })
  const refreshing = () => ({ grant_type: 'refresh_token', refresh_token: pair.refresh_token })
  const revoking = async (step: string, who: Client, secret?: string) => {
    const [more, headers] = asClient(who, secret ?? who.clientSecret)
    for (const token of [pair.access_token, pair.refresh_token]) {
      note(step, await post(server, '/oauth2/revoke', { token, ...more }, headers))
    }
  }
  const introspecting = async (step: string, who: Client, secret?: string) => {
    const [more, headers] = asClient(who, secret ?? who.clientSecret)
    for (const token of [pair.access_token, pair.refresh_token, code])
      note(step, await post(server, INTROSPECTION_PATH, { token, ...more }, headers))
    note(step, await post(server, `${INTROSPECTION_PATH}?token=${code}`, { token: code }, headers))
  }
  const guarded = async (step: string, text: string, scope?: string, url?: string) => {
    const request = { headers: { authorization: `Bearer ${text}` }, ...(url !== undefined && { url }) }
    const found = await guard(server, request, scope === undefined ? {} : { scope })
    if (found.type === 'refused') note(step, found.response)
  }

  /** Puts a secret wherever it does not belong: in any parameter, a query, a name, a header, a registration. */
  const misplace = async (step: Step, secret: string) => {
    for (const { url, client, reads } of FORM_ENDPOINTS) {
      const all = Object.fromEntries(reads.map((name) => [name, secret]))
      const { client_id, client_secret, ...asked } = all
      // A revocation by its own client would end the flow.
      const sender = basic(url.endsWith('/revoke') ? OTHER : client)
      note(step, await post(server, url, all))
      note(step, await post(server, url, { ...asked, [secret]: secret, token_type_hint: secret }, sender))
      note(step, await post(server, url, asked, basic({ clientId: 'somebody', clientSecret: secret })))
      note(step, await post(server, url, asked, basic({ clientId: secret, clientSecret: secret })))
      note(step, await post(server, url, asked, { authorization: `Bearer ${secret}` }))
      note(step, await post(server, url, `token=${secret}&token=${secret}`, sender))
      note(step, await post(server, `${url}?client_secret=${secret}&token=${secret}`, asked, sender))
      for (const grant_type of ['authorization_code', 'refresh_token'])
        note(step, await post(server, url, { ...asked, grant_type }, basic(OTHER)))
    }
    note(step, await post(server, '/oauth2/auth', { consent: secret, decision: 'agree', token: secret }))
    // Sent back to the application, the state is what it was.
    const echoed = await send(server, { url: authorizationUrl({ state: secret, scope: secret }) })
    const { Location, ...headers } = echoed.headers
    note(step, { ...echoed, headers })
    await guarded(step, `${secret}x`)
    const twice = { clientId: 'web', clientSecret: `${secret} x` }
    await server.applications.register(registration(), twice).catch((error: unknown) => thrown.push(String(error)))
  }

  for (const step of steps) {
    const other = client === OTHER ? WEB : OTHER
    switch (step) {
      case 'agree':
      case 'agree with PKCE':
      case 'refuse': {
        client = step === 'agree with PKCE' ? NATIVE : WEB
        const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
        const request = client === NATIVE ? { client_id: 'native', redirect_uri: NATIVE_CALLBACK, ...pkce } : {}
        const opened = await send(server, { url: authorizationUrl(request) })
        if (opened.status !== 200) {
          // A user who decided before is not asked again.
          const again = new URL(opened.headers['Location'] ?? 'none:').searchParams.get('code')
          note(step, opened, again === null ? [] : [again])
          code = again ?? code
          break
        }
        const shown = await openConsent(test, request)
        note(step, shown.page)
        others.add(shown.headers.cookie.split('=')[1] ?? '').add(shown.fields['consent'] ?? '')
        form = [{ ...shown.fields, decision: step === 'refuse' ? 'refuse' : 'agree' }, shown.headers]
        const response = await post(server, '/oauth2/auth', ...form)
        const given = new URL(response.headers['Location'] ?? 'none:').searchParams.get('code')
        note(step, response, given === null ? [] : [given])
        code = given ?? code
        codeOfForm = code
        break
      }
      case 'send a form again':
        // The same decision gets the same code, as long as that is good.
        note(step, await post(server, '/oauth2/auth', ...form), [codeOfForm])
        break
      case 'exchange':
        await ask(step, exchanging())
        break
      case 'exchange with a wrong redirect URI':
        await ask(step, { ...exchanging(), redirect_uri: 'https://evil.example/' })
        break
      case 'exchange with a wrong verifier':
        await ask(step, { ...exchanging(), code_verifier: VERIFIER.toUpperCase() })
        break
      case 'exchange as another client':
        await ask(step, exchanging(), other)
        break
      case 'exchange with a wrong secret':
        await ask(step, exchanging(), WEB, OTHER.clientSecret)
        break
      case 'exchange twice in one body':
        note(step, await post(server, '/oauth2/token', `code=${code}&code=${code}`, basic(WEB)))
        break
      case 'exchange in the query':
        note(step, await post(server, `/oauth2/token?code=${code}`, exchanging(), basic(WEB)))
        break
      case 'refresh':
        await ask(step, refreshing())
        break
      case 'refresh as another client':
        await ask(step, refreshing(), other)
        break
      case 'refresh with another scope':
        await ask(step, { ...refreshing(), scope: 'repo-delete:rw' })
        break
      case 'refresh an old token':
        await ask(step, { ...refreshing(), refresh_token: old.refresh_token })
        break
      case 'revoke':
        await revoking(step, client)
        break
      case 'revoke as another client':
        await revoking(step, other)
        break
      case 'revoke with a wrong secret':
        await revoking(step, WEB, OTHER.clientSecret)
        break
      case 'introspect':
        await introspecting(step, API)
        break
      case 'introspect as another client':
        await introspecting(step, client)
        await introspecting(step, other)
        break
      case 'introspect with a wrong secret':
        await introspecting(step, API, OTHER.clientSecret)
        break
      case 'call':
        await guarded(step, pair.access_token)
        break
      case 'call for more':
        await guarded(step, pair.access_token, 'repo-delete:rw')
        break
      case 'call with the token in the query':
        await guarded(step, pair.access_token, undefined, `/repos?access_token=${pair.access_token}`)
        break
      case 'call with a code':
        await guarded(step, code)
        await guarded(step, pair.refresh_token)
        break
      case 'mistake one parameter for another':
        for (const secret of [code, pair.access_token, pair.refresh_token, WEB.clientSecret, ...issued]) {
          const url = '/oauth2/token'
          note(step, await post(server, url, { grant_type: secret }, basic(WEB)))
          note(
            step,
            await post(server, url, { grant_type: 'refresh_token', refresh_token: secret, scope: secret }, basic(WEB)),
          )
          note(step, await post(server, url, { [secret]: secret }, basic(WEB)))
          note(step, await post(server, url, `${secret}=%zz&code=%zz${secret}`, basic(WEB)))
          note(step, await send(server, { url: authorizationUrl({ client_id: secret }) }))
          note(step, await send(server, { url: authorizationUrl({ redirect_uri: `https://${secret}/` }) }))
          note(step, await send(server, { url: authorizationUrl({ scope: secret, response_type: secret }) }))
          note(
            step,
            await post(server, '/oauth2/auth', { ...form[0], decision: secret, resource_scope: secret }, form[1]),
          )
          await misplace(step, secret)
        }
        break
      case 'swap identifier and secret':
        for (const secret of [code, pair.access_token, pair.refresh_token, WEB.clientSecret]) {
          const swapped = basic({ clientId: secret, clientSecret: 'web' })
          for (const url of ['/oauth2/token', '/oauth2/revoke', INTROSPECTION_PATH]) {
            note(step, await post(server, url, { token: secret }, swapped))
            note(step, await post(server, url, { client_id: secret, client_secret: 'web' }))
            note(step, await post(server, url, { client_id: secret, token: secret }))
          }
        }
        break
      case 'wait':
        test.clock.now += 100
        break
      case 'wait long':
        test.clock.now += 29_000
        break
      case 'suspend':
        await server.applications.suspend('web')
        note(step, await post(server, '/oauth2/token', exchanging(), basic(WEB)))
        await server.applications.reinstate('web')
        break
      case 'register': {
        const { clientSecret = '' } = await server.applications.register(registration())
        others.add(clientSecret)
        issued.splice(0, 1, clientSecret)
        break
      }
      case 'break the store':
        failing = 1
        await ask(step, refreshing())
        failing = 9
        await server.applications.suspend('web').catch((error: unknown) => thrown.push(String(error)))
        failing = 0
        test.instead.read = () => Promise.reject(new StoreFailure())
        await ask(step, refreshing())
        await revoking(step, client)
        await introspecting(step, API)
        // The store did not get so far as to tell that there is no such client.
        note(step, await post(server, '/oauth2/token', {}, basic({ clientId: code, clientSecret: code })))
        test.instead.read = undefined
        break
    }
  }
  for (const none of ['none', '']) credentials.delete(none)
  return { test, answers, written, credentials, others, thrown }
}

/**
 * Honest clients under faults: the flow that each of them walks, and the ledger of what they were told.
 *
 * A flow: a user is sent to the authorization endpoint, and agrees where the page asks, which it does unless an earlier
 * grant of that user still works; the application exchanges the code, sometimes calls the API, refreshes, and sometimes
 * revokes. A request whose answer is lost, or that is answered by 503, is sent again until there is an answer
 * that says something. Where an exchange was lost that way the code may be used up: then the flow begins anew.
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { AuthorizationServer, HttpRequest, RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import type { Tokens } from '../support.js'
import { authorizationUrl, basic, hiddenFields, ISSUER, registration, WEB } from '../support.js'

/** A request, to whichever server; rejects where the connection is lost. */
export type Call = (request: Pick<HttpRequest, 'method' | 'url'> & FlowRequest) => Promise<FlowResponse>

interface FlowRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly form?: string
}

/** Header names in lower case. */
export interface FlowResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The path of the guarded API, beside those of the server. */
export const API = '/api'

/** Who is signed in: a header says so here. */
export const SUBJECT_HEADER = 'x-subject'

/** What the client of one code was told. */
export interface Entry {
  readonly code: string
  /** How many exchanges of it were answered by 200. */
  redemptions: number
  /** Every pair that came, oldest first; each is the successor of the one before. */
  readonly pairs: Tokens[]
  /**
   * What has ended, told to the client: the grant, by a revocation that got its 200 or by a second exchange that was
   * refused; the last access token, by a revocation of it alone.
   */
  ended: 'nothing' | 'revoked' | 'replayed' | 'access_revoked'
}

/** What all clients were told, and what should never have happened. */
export interface Ledger {
  readonly entries: Entry[]
  readonly faults: string[]
  /** Requests that were sent again since the answer was lost, or was 503. */
  lost: number
  unavailable: number
  /** Flows that began anew. */
  anew: number
  /** Flows that are through. */
  flows: number
}

/** A ledger without entries. */
export function newLedger(): Ledger {
  return { entries: [], faults: [], lost: 0, unavailable: 0, anew: 0, flows: 0 }
}

/** A server over a store, for these flows. */
export function flowServer(store: RecordStore, onError: (error: unknown) => void): AuthorizationServer {
  return createAuthorizationServer({
    issuer: ISSUER,
    store,
    digests: nodeDigests,
    consent: 'once',
    // Few users come again and again, and every token of theirs is looked at in the end.
    grantLimit: 1000,
    user: ({ headers }) => ({ subject: String(headers[SUBJECT_HEADER]) }),
    signInUrl: () => '/sign-in',
    onError,
  })
}

/** Registers the application of the flows, once for each store. */
export async function registerFlowClient(server: AuthorizationServer): Promise<void> {
  await server.applications.register(registration(), WEB)
}

/** Calls servers of this process, each in turn. */
export function callAny(servers: readonly AuthorizationServer[]): Call {
  let turn = 0
  return async ({ method, url, headers, form }) => {
    const server = servers[turn++ % servers.length] as AuthorizationServer // a list with something in it
    if (url === API) {
      const found = await server.authenticate({ headers })
      return found.type === 'authenticated' ? OK : lowerCase(found.response)
    }
    const body = form === undefined ? undefined : ({ type: 'text', text: form } as const)
    const response = await server.handle({ method, url, headers, body, native: undefined })
    if (response === undefined) throw new Error(`not a path of the server: ${url}`)
    return lowerCase({ ...response, body: String(response.body) })
  }
}

const OK: FlowResponse = { status: 200, headers: {}, body: '' }

function lowerCase(response: FlowResponse): FlowResponse {
  const headers = Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value])
  return { ...response, headers: Object.fromEntries(headers) }
}

/** How long a client goes on sending one request, in milliseconds, and how long it waits in between. */
const PATIENCE = 300_000
const PAUSE = 20

/** How many users take turns. */
const USERS = 100

/** How often a flow begins anew before something must be wrong. */
const BEGINNINGS = 20

/** Options of {@link walk}. */
export interface Walk {
  readonly call: Call
  readonly ledger: Ledger
  readonly flows: number
  /** How many clients walk at the same time. */
  readonly workers: number
  /** Whole numbers from 0 up to a bound, by a seed. */
  readonly random: (below: number) => number
  /** Told after each flow. */
  readonly onFlow?: () => void
}

/** Walks so many flows, and writes the ledger. */
export async function walk(options: Walk): Promise<void> {
  const { ledger, flows, workers } = options
  let begun = 0
  const worker = async (): Promise<void> => {
    while (begun < flows) {
      await flow(begun++, options)
      ledger.flows++
      options.onFlow?.()
    }
  }
  await Promise.all(Array.from({ length: workers }, worker))
}

/** An answer that says something, and whether an earlier one was lost, so that the request may have been served before. */
interface Answer extends FlowResponse {
  readonly again: boolean
}

async function flow(number: number, options: Walk): Promise<void> {
  const { ledger } = options
  for (let beginning = 0; beginning < BEGINNINGS; beginning++) {
    if (await through(`user ${number % USERS}`, options)) return
    ledger.anew++
  }
  ledger.faults.push(`flow ${number} did not come through`)
}

/** @returns whether the flow is through; otherwise its code was lost on the way */
async function through(subject: string, { call, ledger, random }: Walk): Promise<boolean> {
  const twice = random(8) === 0
  const refreshTwice = random(8) === 0
  const end = random(8)
  const fault = (what: string, answer: FlowResponse): true => {
    ledger.faults.push(`${what}: ${answer.status} ${answer.body}`)
    return true
  }

  const code = await consent(subject, call, ledger)
  if (code === undefined) return false
  const entry: Entry = { code, redemptions: 0, pairs: [], ended: 'nothing' }
  ledger.entries.push(entry)

  const exchanges = await atOnce(twice ? 2 : 1, () => ask(call, ledger, exchangeOf(code)))
  const redeemed = exchanges.filter(({ status }) => status === 200)
  for (const { body } of redeemed) {
    entry.redemptions++
    entry.pairs.push(JSON.parse(body))
  }
  for (const answer of exchanges) if (answer.status !== 200 && !isInvalidGrant(answer)) return fault('exchange', answer)
  if (redeemed.length === 0) {
    const [answer] = exchanges
    // Of two, the second may have ended what the first one was about to get while the engine's client, cut off, sent its
    // write again: then neither gets anything, and nobody was told of a failure.
    return answer === undefined || exchanges.length > 1 || exchanges.some(({ again }) => again)
      ? false
      : fault('a code that nobody had used', answer)
  }
  // Whoever came second has ended what the first one got (RFC 6749, section 4.1.2).
  if (exchanges.length > redeemed.length) {
    entry.ended = 'replayed'
    return true
  }

  const [first] = entry.pairs as [Tokens]
  if (random(4) === 0) {
    const called = await ask(call, ledger, apiCall(first))
    if (called.status !== 200) return fault('the API with a new access token', called)
  }

  const refreshes = await atOnce(refreshTwice ? 2 : 1, () => ask(call, ledger, refreshOf(first)))
  for (const answer of refreshes) if (answer.status !== 200) return fault('refresh', answer)
  const successors = refreshes.map(({ body }) => JSON.parse(body) as Tokens)
  const [second] = successors as [Tokens]
  for (const { access_token } of successors)
    if (access_token !== second.access_token) ledger.faults.push('two successors of one pair')
  entry.pairs.push(second)

  if (end > 1) return true
  const revoked = end === 0 ? second.refresh_token : second.access_token
  const revocation = await ask(call, ledger, revocationOf(revoked))
  if (revocation.status !== 200) return fault('revocation', revocation)
  entry.ended = end === 0 ? 'revoked' : 'access_revoked'
  const refused = await ask(call, ledger, apiCall(second))
  if (refused.status !== 401) return fault('the API with a revoked access token', refused)
  return true
}

function atOnce<Result>(count: number, run: () => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, run))
}

/** Gets a code, by agreeing where the page asks; undefined where the answer with the code was lost. */
async function consent(subject: string, call: Call, ledger: Ledger): Promise<string | undefined> {
  const url = authorizationUrl()
  const page = await ask(call, ledger, { method: 'GET', url, headers: { [SUBJECT_HEADER]: subject } })
  const given = codeOf(page)
  if (given !== undefined) return given
  if (page.status !== 200) {
    ledger.faults.push(`no consent page: ${page.status} ${page.body}`)
    return undefined
  }
  const fields = { ...hiddenFields(page.body), resource_scope: 'all', decision: 'agree' }
  const cookie = page.headers['set-cookie']?.split(';')[0] ?? ''
  const headers = { [SUBJECT_HEADER]: subject, cookie, ...FORM }
  const agreed = await ask(call, ledger, {
    method: 'POST',
    url: '/oauth2/auth',
    headers,
    form: `${new URLSearchParams(fields)}`,
  })
  const code = codeOf(agreed)
  // A form that was sent before is refused.
  if (code === undefined && !(agreed.status === 400 && agreed.again))
    ledger.faults.push(`no code: ${agreed.status} ${agreed.body}`)
  return code
}

function codeOf({ headers }: FlowResponse): string | undefined {
  return new URL(headers['location'] ?? 'none:').searchParams.get('code') ?? undefined
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' } as const

type Asked = Parameters<Call>[0]

function post(url: string, fields: Record<string, string>): Asked {
  return { method: 'POST', url, headers: { ...FORM, ...basic(WEB) }, form: `${new URLSearchParams(fields)}` }
}

function exchangeOf(code: string): Asked {
  return post('/oauth2/token', { grant_type: 'authorization_code', code })
}

function refreshOf({ refresh_token }: Tokens): Asked {
  return post('/oauth2/token', { grant_type: 'refresh_token', refresh_token })
}

function revocationOf(token: string): Asked {
  return post('/oauth2/revoke', { token })
}

function apiCall({ access_token }: Tokens): Asked {
  return { method: 'GET', url: API, headers: { authorization: `Bearer ${access_token}` } }
}

function isInvalidGrant({ status, body }: FlowResponse): boolean {
  return status === 400 && JSON.parse(body).error === 'invalid_grant'
}

/** Sends a request until there is an answer that says something. */
async function ask(call: Call, ledger: Ledger, request: Asked): Promise<Answer> {
  const end = Date.now() + PATIENCE
  for (let again = false; ; again = true) {
    try {
      const answer = await call(request)
      if (answer.status !== 503) return { ...answer, again }
      ledger.unavailable++
      if (!/^[1-9][0-9]*$/.test(answer.headers['retry-after'] ?? '')) ledger.faults.push('503 without Retry-After')
    } catch {
      ledger.lost++
    }
    if (Date.now() > end) throw new Error(`no answer in time: ${request.method} ${request.url}`)
    await wait(PAUSE)
  }
}

/**
 * Looks up, when all is quiet again, whether everything that the clients were told holds.
 * @returns what does not; those that were noted on the way come first
 */
export async function audit(ledger: Ledger, call: Call): Promise<readonly string[]> {
  const faults = [...ledger.faults]
  const status = async (request: Asked): Promise<number> => (await ask(call, ledger, request)).status
  const works = async (pair: Tokens): Promise<boolean> => (await status(apiCall(pair))) === 200

  async function check(entry: Entry): Promise<void> {
    const { code, redemptions, pairs, ended } = entry
    const fault = (what: string): number => faults.push(`${what}; ${ended} ended, ${pairs.length} pairs received`)
    if (redemptions > 1) fault('a code was redeemed twice')
    const last = pairs.at(-1)
    for (const pair of pairs) {
      const shouldWork = ended === 'nothing' || (ended === 'access_revoked' && pair !== last)
      if ((await works(pair)) !== shouldWork)
        fault(shouldWork ? 'a received access token does not work' : 'an ended access token works')
    }
    for (const [index, pair] of pairs.entries()) {
      // The successor of one whose access token was revoked alone is not handed out again.
      const successor = pairs[index + 1]
      const shouldWork = ended === 'nothing' || (ended === 'access_revoked' && successor === undefined)
      const answer = await ask(call, ledger, refreshOf(pair))
      if ((answer.status === 200) !== shouldWork)
        fault(shouldWork ? 'a received refresh token does not work' : 'an ended refresh token works')
      else if (shouldWork && successor !== undefined && JSON.parse(answer.body).access_token !== successor.access_token)
        fault('a refresh token has another successor than before')
    }
    if (pairs.length > 0 && (await status(exchangeOf(code))) === 200) fault('a code that was used works again')
  }

  const entries = ledger.entries.values()
  await atOnce(AUDITORS, async () => {
    for (const entry of entries) await check(entry)
  })
  return faults
}

/** How many entries are looked up at the same time. */
const AUDITORS = 32

/** The ledger in one line. */
export function summary({ flows, entries, anew, lost, unavailable }: Ledger): string {
  const pairs = entries.reduce((total, entry) => total + entry.pairs.length, 0)
  const ended = entries.filter(({ ended }) => ended !== 'nothing').length
  return `${flows} flows, ${pairs} pairs received, ${ended} grants or tokens ended; ${lost} answers lost, ${unavailable} times 503, ${anew} flows begun anew`
}

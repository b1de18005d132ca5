/**
 * The requests that can be explored by name, the caller that they are run with, and the grant that they need.
 * @module
 */
import { configurationError } from '../../core/errors.js'
import type { GrantRules } from '../../core/grant/rules.js'
import type { Seconds } from '../../core/values.js'
import type { Beginning } from './beginning.js'
import type { FormDecision } from './calls.js'
import type { CallAnswer, ReceivedPair } from './history.js'

/**
 * The requests that there are by name, all on one grant. One that shows a token takes the newest pair that there is when
 * it begins, and waits for one where there is none yet.
 *
 * - `agree` sends the form of the consent, `agree otherwise` the same form with other resources, `refuse` with a refusal
 * - `exchange` redeems the code: for the first time, or for the second where the grant begins with tokens
 * - `refresh` shows the newest refresh token; `replay` the first one, whose grace is over before the requests begin
 * - `refresh for first` and `refresh for second` show it with the parameter `resource`: for the first or the second of the
 *   `audiences` that the option `server` declares
 * - `revoke` shows the newest refresh token, which ends the grant; `revoke access` the access token, which ends that alone
 * - `validate` asks the guard of the API about the newest access token, that of the first of the `audiences` where there are any
 * - `expiry` lets time pass: to the end of the code where the grant begins with one; else for a grace period where there is a
 *   refresh; else to the end of an access token
 */
export type RequestKind =
  | 'agree'
  | 'agree otherwise'
  | 'refuse'
  | 'exchange'
  | 'refresh'
  | 'refresh for first'
  | 'refresh for second'
  | 'replay'
  | 'revoke'
  | 'revoke access'
  | 'validate'
  | 'expiry'

/** The calls that a request of one's own can make. Each call is one request, at a server of the caller's own. */
export interface Caller {
  /** The authorization code of the grant. */
  readonly code: string
  /** The code of the grant; where there is none yet, waits for one. Undefined where none comes. */
  readonly newestCode: () => Promise<string | undefined>
  /** The first pair of the grant, where it begins with one. */
  readonly firstPair: ReceivedPair | undefined
  /** The newest pair that anybody has received; where there is none yet, waits for one. Undefined where none comes. */
  readonly newestPair: () => Promise<ReceivedPair | undefined>
  /** Sends the form of the consent with a decision. */
  readonly decide: (decision: FormDecision) => Promise<CallAnswer>
  /** Exchanges a code. */
  readonly exchange: (code: string) => Promise<CallAnswer>
  /** Refreshes a pair, for one of the `audiences` that the servers declare, or for all of them. */
  readonly refresh: (refreshToken: string, resource?: string) => Promise<CallAnswer>
  /** Revokes a refresh token or an access token. */
  readonly revoke: (token: string) => Promise<CallAnswer>
  /** Asks the guard of the API about an access token: that with this `audience`, or that without one. */
  readonly validate: (accessToken: string, audience?: string) => Promise<CallAnswer>
  /** Lets so many seconds pass, as one step. */
  readonly pass: (seconds: Seconds) => Promise<void>
}

/** A request of one's own, or several that follow each other. */
export interface OwnRequest {
  /** In the story. */
  readonly name: string
  /** Makes its calls, one after the other. An error that it throws is told as a broken rule. */
  readonly run: (caller: Caller) => Promise<void>
}

const KINDS: { readonly [Kind in RequestKind]: true } = {
  agree: true,
  'agree otherwise': true,
  refuse: true,
  exchange: true,
  refresh: true,
  'refresh for first': true,
  'refresh for second': true,
  replay: true,
  revoke: true,
  'revoke access': true,
  validate: true,
  expiry: true,
}

/** The names of the requests. */
export const REQUEST_KINDS: readonly string[] = Object.keys(KINDS)

/** Returns true for the name of a request, or a request of one's own. */
export function isRequest(value: unknown): boolean {
  if (typeof value === 'string') return Object.hasOwn(KINDS, value)
  if (typeof value !== 'object' || value === null || !('name' in value) || !('run' in value)) return false
  return typeof value.name === 'string' && typeof value.run === 'function'
}

/**
 * Returns the beginning that some requests need: the form where a decision on it is tried; a code where it is redeemed
 * several times, or nothing else is tried; else tokens.
 */
export function beginningFor(requests: readonly (RequestKind | OwnRequest)[]): Beginning {
  if (requests.some((each) => each === 'agree' || each === 'agree otherwise' || each === 'refuse')) return 'consent'
  if (requests.includes('replay')) return 'grace over'
  const redemptions = requests.filter((each) => each === 'exchange').length
  const others = requests.filter((each) => each !== 'exchange' && each !== 'expiry').length
  return redemptions > 1 || (redemptions === 1 && others === 0) ? 'code' : 'tokens'
}

/**
 * Returns the request of a name.
 * @param audience - the protected resources of the grant
 * @throws GrantwellError `ERR_CONFIGURATION` for a request for one that there is not
 */
export function requestOf(
  kind: RequestKind,
  beginning: Beginning,
  all: readonly (RequestKind | OwnRequest)[],
  rules: Pick<GrantRules, 'codeLifetime' | 'gracePeriod' | 'accessTokenLifetime'>,
  audience: readonly string[] = [],
): OwnRequest {
  const [first, second] = audience
  switch (kind) {
    case 'agree':
    case 'agree otherwise':
    case 'refuse':
      return request(kind, ({ decide }) => decide(kind))
    case 'exchange':
      return request(kind, async ({ exchange, newestCode }) => {
        const code = await newestCode()
        if (code !== undefined) await exchange(code)
      })
    case 'refresh':
      return withNewest(kind, ({ refresh }, { refreshToken }) => refresh(refreshToken))
    case 'refresh for first':
    case 'refresh for second': {
      const resource = kind === 'refresh for first' ? first : second
      if (resource === undefined)
        throw configurationError(`explore: the option server must declare audiences for ${kind}`)
      return withNewest(kind, ({ refresh }, { refreshToken }) => refresh(refreshToken, resource))
    }
    case 'replay':
      return request(kind, async ({ refresh, firstPair }) => firstPair && refresh(firstPair.refreshToken))
    case 'revoke':
      return withNewest(kind, ({ revoke }, { refreshToken }) => revoke(refreshToken))
    case 'revoke access':
      return withNewest(kind, ({ revoke }, { accessToken }) => revoke(accessToken))
    case 'validate':
      return withNewest(kind, ({ validate }, { accessToken }) => validate(accessToken, first))
    case 'expiry': {
      const isRefreshed = all.some((each) => typeof each === 'string' && each.startsWith('refresh'))
      const ofTokens = isRefreshed ? rules.gracePeriod : rules.accessTokenLifetime
      return request(kind, ({ pass }) =>
        pass(beginning === 'code' || beginning === 'consent' ? rules.codeLifetime : ofTokens),
      )
    }
  }
}

function request(name: RequestKind, run: (caller: Caller) => Promise<unknown>): OwnRequest {
  return {
    name,
    run: async (caller) => {
      await run(caller)
    },
  }
}

function withNewest(name: RequestKind, use: (caller: Caller, pair: ReceivedPair) => Promise<unknown>): OwnRequest {
  return request(name, async (caller) => {
    const pair = await caller.newestPair()
    if (pair !== undefined) await use(caller, pair)
  })
}

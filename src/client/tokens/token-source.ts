/**
 * The source of one user's tokens: always tokens that work, refreshed once for all callers in this process and in others that use
 * the same store.
 * @module
 * @see RFC 6749, section 6; RFC 9700, section 4.14
 */
import { FUNCTION, methods } from '../../core/takes.js'
import { harmless } from '../../shell/host.js'
import type { Client } from '../client.js'
import { CLIENT, checkClient } from '../client.js'
import type { ClientError } from '../errors.js'
import { configurationError } from '../errors.js'
import type { OptionChecks } from '../options.js'
import { duration, readOptions, SIGNAL } from '../options.js'
import type { RetriedOperation } from './retried-operation.js'
import { startOperation } from './retried-operation.js'
import type { Renewed, TokenKeeper } from './token-keeper.js'
import { createTokenKeeper } from './token-keeper.js'
import type { TokenStore, Tokens } from './tokens.js'
import { checkTokens } from './tokens-check.js'
import { checkWhole } from './tokens-json.js'

/** Options of {@link createTokenSource}. */
export interface TokenSourceOptions {
  /** The client from `discover`. */
  readonly client: Client
  /** The place where the tokens are kept. */
  readonly store: TokenStore
  /**
   * Seconds before its expiry at which an access token is refreshed; 60 by default, never more than a tenth of its life, and
   * half a day at most.
   */
  readonly refreshAhead?: number
  /**
   * Seconds for which a refresh without an answer is retried, with growing pauses; 30 by default, 300 at most. The retry
   * sends the same refresh token, and for 300 seconds a grantwell service answers with the same pair. After that it is a
   * replay, which ends the grant. Give 0 for a service that rotates refresh tokens without such a grace period: there every
   * retry is a replay.
   */
  readonly retryFor?: number
  /**
   * Gets errors of the store that no caller gets, since there are tokens that work: a new pair could not be written, or
   * an ended one could not be removed. `console.error` with the message by default.
   */
  readonly onError?: (error: ClientError) => void
}

/** Options of waiting for tokens. */
export interface WaitOptions {
  /** Ends the waiting, by throwing its reason. A refresh that has begun continues, for other callers and for the store. */
  readonly signal?: AbortSignal | undefined
}

/**
 * A source of tokens that work. Every method throws {@link ClientError}: `ERR_AUTHORIZATION_REQUIRED` if the user must authorize,
 * from now on until a new login; `ERR_UNREACHABLE` and `ERR_RESPONSE` if the service did not give tokens;
 * `ERR_TOKEN_STORE` if the store fails.
 */
export interface TokenSource {
  /** The issuer identifier of the service that gives the tokens. */
  readonly issuer: string
  /**
   * Returns tokens whose access token will work for a while. While the present access token has not expired, a failed refresh
   * is no error: the present tokens are returned, and the refresh is tried again later. Changes that other processes make to
   * the store are seen when the present tokens are no longer fresh, or are refused.
   */
  readonly get: (options?: WaitOptions) => Promise<Tokens>
  /**
   * Returns other tokens than those that an API has refused: the present ones if they differ, else new ones.
   * @param stale - the tokens that were refused
   */
  readonly refresh: (stale: Tokens, options?: WaitOptions) => Promise<Tokens>
  /**
   * Stores the tokens of a login. If they cannot be written, nothing changes. The tokens before them are forgotten,
   * but their grant continues at the service: to end it, call `revoke()` first. Incomplete tokens are `ERR_CONFIGURATION`.
   */
  readonly save: (tokens: Tokens) => Promise<void>
  /**
   * Ends the grant at the service and forgets the tokens. If the service fails, the tokens are forgotten too, and the error
   * is thrown: they may work until they expire. Without tokens it does nothing.
   */
  readonly revoke: () => Promise<void>
}

/** A renewal of the tokens that has started. */
interface Renewal extends RetriedOperation<Renewed> {
  /** Access tokens that were refused: the renewal must return others. */
  readonly refused: Set<string>
}

/** Seconds between a refresh ahead of expiry that failed and the next one. */
const REFRESH_PAUSE = 30

/** Seconds between two attempts to write a pair. */
const WRITE_PAUSE = 1

/** The state of a source. */
interface Source {
  readonly client: Client
  readonly keeper: TokenKeeper
  readonly retryFor: number
  renewal: Renewal | undefined
  /** Until then, by `performance.now()`, present tokens that work are returned although a renewal is due. */
  pauseUntil: number
}

/**
 * Creates the source of one user's tokens. One for each store and process is enough, for any number of callers.
 *
 * A new pair is written before any caller gets it. If it cannot be written, it is used all the same, since the old pair works
 * only for some minutes. Then `onError` gets the error, this process keeps the pair, and the next calls try to write it again.
 * @throws ClientError `ERR_CONFIGURATION` for a wrong option
 * @example
 * ```ts
 * const source = createTokenSource({ client, store: fileTokenStore(path) })
 * const { accessToken } = await source.get()
 * ```
 */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const {
    client,
    store,
    refreshAhead = 60,
    retryFor = 30,
    onError = report,
  } = readOptions<TokenSourceOptions>('createTokenSource', options, OPTIONS, ['client', 'store'])
  checkClient('createTokenSource', client)
  const keeper = createTokenKeeper({ client, store, refreshAhead, onError: harmless(onError, () => {}) })
  const own: Source = { client, keeper, retryFor, renewal: undefined, pauseUntil: 0 }
  const source: TokenSource & HasClock = {
    issuer: client.issuer,
    [clock]: keeper.now,
    get: (options = {}) => get(own, options),
    refresh: (stale, options = {}) => refresh(own, stale, options),
    save: (tokens) => save(own, tokens),
    revoke: () => keeper.revoke(),
  }
  return source
}

async function get(source: Source, options: WaitOptions): Promise<Tokens> {
  const { signal } = readOptions<WaitOptions>('get', options, WAIT_OPTIONS)
  signal?.throwIfAborted()
  const { keeper } = source
  const present = keeper.present()
  const isPaused = performance.now() < source.pauseUntil
  if (present !== undefined && (isPaused || (isGood(source, present) && !keeper.hasUnwritten()))) return present
  const renewal = joinRenewal(source)
  // Only the store is out of date, and no caller has to wait for that.
  if (present !== undefined && isGood(source, present)) return present
  try {
    const renewed = await renewal.resultWithoutRetry(signal)
    return renewed?.tokens ?? keeper.present() ?? (await renewal.result(signal)).tokens
  } catch (error) {
    const left = keeper.present()
    if (left === undefined || signal?.aborted) throw error
    return left
  }
}

async function refresh(source: Source, stale: Tokens, options: WaitOptions): Promise<Tokens> {
  const { signal } = readOptions<WaitOptions>('refresh', options, WAIT_OPTIONS)
  checkTokens('refresh', stale)
  for (;;) {
    signal?.throwIfAborted()
    const present = source.keeper.present()
    if (present !== undefined && present.accessToken !== stale.accessToken) return present
    const renewal = joinRenewal(source)
    renewal.refused.add(stale.accessToken)
    const { tokens, isNew } = await renewal.result(signal)
    // A renewal that had checked the refused tokens before this call returns them. Then another one is needed.
    if (tokens.accessToken !== stale.accessToken || isNew) return tokens
  }
}

async function save(source: Source, tokens: Tokens): Promise<void> {
  const { client, keeper } = source
  checkWhole('save', tokens)
  if (tokens.issuer !== client.issuer || tokens.clientId !== client.clientId)
    throw configurationError('these tokens belong to another service or another client')
  await keeper.save(tokens)
  source.pauseUntil = 0
}

/** Joins the renewal that is running, or starts one. */
function joinRenewal(source: Source): Renewal {
  if (source.renewal !== undefined) return source.renewal
  const { keeper, retryFor } = source
  const refused = new Set<string>()
  const operation = startOperation(() => keeper.renew(refused), {
    retryFor,
    now: keeper.now,
    onEnd: (succeeded) => {
      source.renewal = undefined
      const pause = keeper.hasUnwritten() ? WRITE_PAUSE : succeeded ? 0 : REFRESH_PAUSE
      source.pauseUntil = performance.now() + pause * 1000
    },
  })
  source.renewal = { ...operation, refused }
  return source.renewal
}

/** Checks whether tokens will work for a while, as far as this process knows. */
function isGood({ keeper, renewal }: Source, present: Tokens): boolean {
  return keeper.isFresh(present) && !renewal?.refused.has(present.accessToken)
}

/** A registered symbol, since in CommonJS each entry point has its own copy of this module. */
const clock: unique symbol = Symbol.for('grantwell.client.clock')

/** A member of a source for this package only. */
interface HasClock {
  /** Returns seconds since the epoch. */
  readonly [clock]?: () => number
}

/** Returns the clock of a source's client, in seconds since the epoch; the system's clock for a source made elsewhere. */
export function clockOf(source: TokenSource & HasClock): () => number {
  return (Object.hasOwn(source, clock) ? source[clock] : undefined) ?? (() => Date.now() / 1000)
}

/** Seconds in which a used refresh token is no replay: the grace period of a grantwell service. */
const MAX_RETRY = 300

/** Half a day in seconds. Nobody needs more, and 44 seconds or more given in milliseconds by mistake exceed it. */
const MAX_AHEAD = 43_200

const OPTIONS: OptionChecks<TokenSourceOptions> = {
  client: CLIENT,
  store: methods('a token store', 'read', 'write', 'exclusively'),
  refreshAhead: duration(MAX_AHEAD),
  retryFor: duration(MAX_RETRY),
  onError: FUNCTION,
}

const WAIT_OPTIONS: OptionChecks<WaitOptions> = { signal: SIGNAL }

function report(error: ClientError): void {
  // biome-ignore lint/suspicious/noConsole: an error without a listener must not vanish
  console.error(error.message)
}

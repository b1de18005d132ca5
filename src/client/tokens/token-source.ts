/**
 * Where a program gets its tokens from: always ones that work, refreshed once for all who ask, in this process and in
 * others that use the same store.
 * @module
 * @see RFC 6749, section 6; RFC 9700, section 4.14
 */
import { FUNCTION, methods } from '../../core/takes.js'
import { CLIENT, type Client, checkClient } from '../client.js'
import type { ClientError } from '../errors.js'
import { duration, mistake, type OptionChecks, readOptions, SIGNAL } from '../options.js'
import { type Flight, takeOff } from './flight.js'
import { type Renewed, tokenKeeper } from './token-keeper.js'
import type { TokenStore, Tokens } from './tokens.js'
import { checkTokens } from './tokens-check.js'
import { checkWhole } from './tokens-json.js'

/** Options of {@link createTokenSource}. */
export interface TokenSourceOptions {
  readonly client: Client
  readonly store: TokenStore
  /**
   * Seconds before an access token expires that it is refreshed; 60 by default, never more than a tenth of its life, and half a
   * day at most.
   */
  readonly refreshAhead?: number
  /**
   * Seconds for which a refresh that got no answer is tried again, with growing pauses; 30 by default. It is by the same refresh
   * token, and for 300 seconds the service answers with the same pair. After that a token whose answer was lost is a replay, which
   * ends all that was permitted: 300 is the most. Give 0 for a service that rotates refresh tokens without such a grace period,
   * where every retry is a replay.
   */
  readonly retryFor?: number
  /**
   * Told where the store failed and no caller is told, since there are tokens that work: a new pair could not be written, or
   * a dead one not be forgotten. `console.error` with the message by default.
   */
  readonly onError?: (error: ClientError) => void
}

/** How somebody waits for tokens. */
export interface WaitOptions {
  /** Ends the waiting, by throwing its reason. What is under way goes on, for others and for the store. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Gives tokens that work. Every method throws {@link ClientError}: `ERR_AUTHORIZATION_REQUIRED` where the user must authorize,
 * now and until there is a new login; `ERR_UNREACHABLE` and `ERR_RESPONSE` where the service did not give what is needed;
 * `ERR_TOKEN_STORE` where the store fails.
 */
export interface TokenSource {
  /** The service that gives the tokens. */
  readonly issuer: string
  /**
   * Tokens whose access token works for a while yet. As long as the present one has not expired, a refresh ahead of its expiry
   * that fails is no error: the present one is what is given, and it is tried again later. What other processes do to the store is
   * seen when the present ones are no longer fresh, or refused.
   */
  readonly get: (options?: WaitOptions) => Promise<Tokens>
  /**
   * Other tokens than ones that an API has refused: the present ones where they are others, else new ones.
   * @param stale - the tokens that were refused
   */
  readonly refresh: (stale: Tokens, options?: WaitOptions) => Promise<Tokens>
  /**
   * Takes the tokens of a login. Where they cannot be written, none of it has happened. Those that were there before are forgotten,
   * and their grant lives on at the service: to end it, `revoke()` first. Tokens that are not whole are `ERR_CONFIGURATION`.
   */
  readonly save: (tokens: Tokens) => Promise<void>
  /**
   * Ends the grant at the service and forgets the tokens, also where the service fails. It fails then, too: what was forgotten
   * may work until it expires. Without tokens there is nothing to do.
   */
  readonly revoke: () => Promise<void>
}

/** A flight that brings fresh tokens. */
interface Renewal extends Flight<Renewed> {
  /** Access tokens that were refused: what it brings must be others. */
  readonly refused: Set<string>
}

/** Seconds until a refresh ahead of expiry that failed is begun again. */
const REST = 30

/** Seconds until a pair that could not be written is written again. */
const REST_UNWRITTEN = 1

/**
 * Makes the source of one user's tokens. One for each store and process is enough, for any number of callers.
 *
 * A new pair is written before anybody gets it. Where it cannot be written it is used all the same, since the old one works
 * for some minutes only: `onError` is told, this process keeps it, and the next calls try to write it again.
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
  const keeper = tokenKeeper({ client, store, refreshAhead, onError: harmless(onError) })
  let underWay: Renewal | undefined
  /** Until when present tokens that work are good enough, although something is still to be done. */
  let restUntil = 0

  /** Joins the flight that is under way, or begins one. */
  function renewal(): Renewal {
    if (underWay !== undefined) return underWay
    const refused = new Set<string>()
    const flight = takeOff(() => keeper.renew(refused), {
      retryFor,
      now: keeper.now,
      onLanding: (succeeded) => {
        underWay = undefined
        const rest = keeper.hasUnwritten() ? REST_UNWRITTEN : succeeded ? 0 : REST
        restUntil = performance.now() + rest * 1000
      },
    })
    underWay = { ...flight, refused }
    return underWay
  }

  /** Whether tokens work for a while yet, as far as this process knows. */
  function isGood(present: Tokens): boolean {
    return keeper.isFresh(present) && !underWay?.refused.has(present.accessToken)
  }

  const source: TokenSource & HasClock = {
    issuer: client.issuer,
    [clock]: keeper.now,

    async get(options = {}) {
      const { signal } = readOptions<WaitOptions>('get', options, WAIT_OPTIONS)
      signal?.throwIfAborted()
      const present = keeper.present()
      const resting = performance.now() < restUntil
      if (present !== undefined && (resting || (isGood(present) && !keeper.hasUnwritten()))) return present
      const flight = renewal()
      // The store alone is behind: nobody has to wait for that.
      if (present !== undefined && isGood(present)) return present
      try {
        const renewed = await flight.resultForNow(signal)
        return renewed?.tokens ?? keeper.present() ?? (await flight.result(signal)).tokens
      } catch (error) {
        const left = keeper.present()
        if (left === undefined || signal?.aborted) throw error
        return left
      }
    },

    async refresh(stale, options = {}) {
      const { signal } = readOptions<WaitOptions>('refresh', options, WAIT_OPTIONS)
      checkTokens('refresh', stale)
      for (;;) {
        signal?.throwIfAborted()
        const present = keeper.present()
        if (present !== undefined && present.accessToken !== stale.accessToken) return present
        const flight = renewal()
        flight.refused.add(stale.accessToken)
        const { tokens, isNew } = await flight.result(signal)
        // The same, from a flight that had looked at them before it was told: then there is another one to come.
        if (tokens.accessToken !== stale.accessToken || isNew) return tokens
      }
    },

    async save(tokens) {
      checkWhole('save', tokens)
      if (tokens.issuer !== client.issuer || tokens.clientId !== client.clientId)
        throw mistake('these tokens are of another service or of another client')
      await keeper.save(tokens)
      restUntil = 0
    },

    revoke: () => keeper.revoke(),
  }
  return source
}

/** By a name that all copies of this module know: in CommonJS each entry point has its own. */
const clock: unique symbol = Symbol.for('grantwell.client.clock')

/** For this package alone: what else than tokens a request needs of a source. */
interface HasClock {
  /** Seconds since the epoch. */
  readonly [clock]?: () => number
}

/** The clock of a source's client, in seconds since the epoch; the system's where somebody else has made the source. */
export function clockOf(source: TokenSource & HasClock): () => number {
  return (Object.hasOwn(source, clock) ? source[clock] : undefined) ?? (() => Date.now() / 1000)
}

/** Seconds in which a refresh token that was used already is no replay: the grace period of a grantwell service. */
const LONGEST_RETRY = 300

/** Half a day: nobody refreshes so early, but in milliseconds all from 44 seconds on are more. */
const LONGEST_AHEAD = 43_200

const OPTIONS: OptionChecks<TokenSourceOptions> = {
  client: CLIENT,
  store: methods('a token store', 'read', 'write', 'exclusively'),
  refreshAhead: duration(LONGEST_AHEAD),
  retryFor: duration(LONGEST_RETRY),
  onError: FUNCTION,
}

const WAIT_OPTIONS: OptionChecks<WaitOptions> = { signal: SIGNAL }

function report(error: ClientError): void {
  // biome-ignore lint/suspicious/noConsole: an error that nobody asked to be told of must not vanish
  console.error(error.message)
}

/** What is told changes nothing of what it is told of. */
function harmless(tell: (error: ClientError) => void): (error: ClientError) => void {
  return (error) => {
    try {
      tell(error)
    } catch {
      // Whoever throws here has been told.
    }
  }
}

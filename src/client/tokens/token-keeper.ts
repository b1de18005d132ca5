/**
 * What one process knows of the tokens of one user, and how it comes to agree with their store and with the service: each
 * step once. Who waits for a step, and whether it is tried again, is the business of `token-source.ts`.
 * @module
 */
import { type Client, connectionOf } from '../client.js'
import { ClientError } from '../errors.js'
import { isClientError } from '../http/http.js'
import { refreshTokens, revokeTokens } from '../token-endpoint.js'
import type { TokenStore, Tokens } from './tokens.js'

/** What a keeper works with. */
export interface KeeperSettings {
  readonly client: Client
  readonly store: TokenStore
  /** Seconds before its expiry that an access token is no longer fresh. */
  readonly refreshAhead: number
  /** Told of what no caller is told of. Does not throw. */
  readonly onError: (error: ClientError) => void
}

/** The tokens of one user in one process. */
export interface TokenKeeper {
  /** Seconds since the epoch. */
  readonly now: () => number
  /** The newest tokens that this process knows of, where their access token has not expired. */
  readonly present: () => Tokens | undefined
  /** Whether their access token works for a while yet. */
  readonly isFresh: (tokens: Tokens) => boolean
  /** Whether there is a pair that the store does not have yet. */
  readonly hasUnwritten: () => boolean
  /**
   * Gives fresh tokens: those of the store, else new ones of the service, which are written first. One request at most.
   * @param failed - access tokens that do not work, whatever the clock says; asked for anew whenever it matters
   * @throws ClientError
   */
  readonly renew: (failed: ReadonlySet<string>) => Promise<Renewed>
  /** Takes the tokens of a login. */
  readonly save: (tokens: Tokens) => Promise<void>
  /** Ends the grant at the service, then forgets the tokens. */
  readonly revoke: () => Promise<void>
}

/** Fresh tokens. */
export interface Renewed {
  readonly tokens: Tokens
  /** Whether the service gave them just now. */
  readonly isNew: boolean
}

/** Makes the keeper of a store's tokens. */
export function tokenKeeper({ client, store, refreshAhead, onError }: KeeperSettings): TokenKeeper {
  const { now } = connectionOf(client)
  let present: Tokens | undefined
  /** A pair that could not be written, and what the store has instead: the pair that it is the successor of. */
  let unwritten: { readonly over: Tokens; readonly tokens: Tokens } | undefined
  /** What the store had when all ended, and what whoever asks is told as long as it has nothing else. */
  let ended: { readonly tokens: Tokens; readonly error: ClientError } | undefined
  /** An access token whose refresh began and was not answered: it may be superseded, and so not work for long. */
  let doubtful: string | undefined

  const isFresh = (tokens: Tokens): boolean =>
    now() < freshUntil(tokens, refreshAhead) && tokens.accessToken !== doubtful

  /** Tokens of another service or client are none to us. */
  async function readOwn(): Promise<Tokens | undefined> {
    const stored = await inStore('read', async () => store.read())
    return stored?.issuer === client.issuer && stored.clientId === client.clientId ? stored : undefined
  }

  const write = (tokens: Tokens | undefined): Promise<void> => inStore('written', async () => store.write(tokens))

  /** Runs an action alone. What the store throws comes out as its failure, what the action throws as it is. */
  async function exclusively<Result>(action: () => Promise<Result>): Promise<Result> {
    const done: { result?: () => Result } = {}
    try {
      await store.exclusively(async () => {
        done.result = await action().then(
          (value) => () => value,
          (error: unknown) => () => {
            throw error
          },
        )
      })
    } catch (error) {
      // What was done is done, even where the store fails afterwards.
      if (done.result === undefined) throw storeError('locked', error)
    }
    if (done.result === undefined) throw storeError('locked', new Error('the store did not run the action'))
    return done.result()
  }

  /** A pair that could not be written is newer than the one it came from, and older than anything else. */
  function newest(stored: Tokens): Tokens {
    if (unwritten !== undefined && !isSame(stored, unwritten.over)) unwritten = undefined
    return unwritten?.tokens ?? stored
  }

  /** Writes a pair over the one that it came from. Where that fails the pair is not lost: it lives on here. */
  async function keep(tokens: Tokens, over: Tokens): Promise<void> {
    try {
      await write(tokens)
      unwritten = undefined
    } catch (error) {
      // Told once for each pair, not at each further try.
      if (!isSame(unwritten?.tokens, tokens)) tell(error)
      unwritten = { over, tokens }
    }
    present = tokens
  }

  const tell = (error: unknown): void => onError(storeError('written', error))

  /** The step that needs the store alone to itself. */
  async function renewAlone(failed: ReadonlySet<string>): Promise<Renewed> {
    // Whatever was known before: another process may have refreshed, logged in or logged out meanwhile.
    const stored = await readOwn()
    if (stored === undefined) {
      present = undefined
      unwritten = undefined
    }
    if (stored === undefined || isSame(stored, ended?.tokens)) throw ended?.error ?? nobody()
    const known = newest(stored)
    present = known
    if (isFresh(known) && !failed.has(known.accessToken)) {
      if (unwritten !== undefined) await keep(known, stored)
      return { tokens: known, isNew: false }
    }
    const tokens = await refresh(known, stored)
    await keep(tokens, stored)
    return { tokens, isNew: true }
  }

  async function refresh(known: Tokens, stored: Tokens): Promise<Tokens> {
    try {
      return await refreshTokens(client, known)
    } catch (error) {
      if (!isClientError(error) || error.code !== 'ERR_AUTHORIZATION_REQUIRED') {
        doubtful = known.accessToken
        throw error
      }
      // Without a refresh token the access token alone is left; as long as it lives, others may find that it works.
      if (known.refreshToken === undefined && isFresh(known)) throw error
      end(stored, error)
      if (known.refreshToken !== undefined) await forget(stored).catch(tell)
      throw error
    }
  }

  /** Only while they are the ones: somebody who does not care for locks may have written others. */
  async function forget(stored: Tokens): Promise<void> {
    if (isSame(await readOwn(), stored)) await write(undefined)
  }

  /** Nothing works any more, until the store has something else than what it has now. */
  function end(stored: Tokens, error: ClientError): void {
    present = undefined
    unwritten = undefined
    ended = { tokens: stored, error }
  }

  async function revokeAlone(): Promise<void> {
    const stored = await readOwn()
    // Where the store has nothing any more, what is left here may still work.
    const known = stored === undefined ? present : newest(stored)
    if (known === undefined) return
    end(stored ?? known, nobody())
    try {
      // First at the service. A process that dies in between leaves tokens that are dead and found to be; the other way
      // round it would leave tokens that work and that nobody can end, since nobody knows them.
      await revokeTokens(client, known)
    } finally {
      if (stored !== undefined) await write(undefined)
    }
  }

  return {
    now,
    present: () => (present !== undefined && hasExpired(present, now()) ? undefined : present),
    isFresh,
    hasUnwritten: () => unwritten !== undefined,

    async renew(failed) {
      if (present === undefined) {
        // Nothing to compare with yet, or no more: a look without the lock. Most processes find fresh tokens and are done.
        const stored = await readOwn()
        if (present === undefined) {
          if (stored === undefined || isSame(stored, ended?.tokens)) throw ended?.error ?? nobody()
          if (isFresh(stored) && !failed.has(stored.accessToken)) {
            present = stored
            return { tokens: stored, isNew: false }
          }
        }
      }
      return exclusively(() => renewAlone(failed))
    },

    async save(tokens) {
      await exclusively(async () => {
        await write(tokens)
        present = tokens
        unwritten = undefined
        ended = undefined
      })
    },

    async revoke() {
      try {
        await exclusively(revokeAlone)
      } catch (error) {
        const known = present
        if (known !== undefined) {
          // The store failed before anything was done: what this process knows of ends all the same.
          end(known, nobody())
          await revokeTokens(client, known).catch(() => {}) // the failure of the store is the one to be told
        }
        throw error
      }
    },
  }
}

/** When an access token is no longer fresh, in seconds since the epoch. */
function freshUntil({ issuedAt, expiresAt, refreshToken }: Tokens, refreshAhead: number): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY
  if (refreshToken === undefined) return expiresAt
  // A tenth of its life at most: else tokens that live shortly would be refreshed at every call.
  return expiresAt - Math.min(refreshAhead, Math.max(0, expiresAt - issuedAt) / 10)
}

function hasExpired({ expiresAt }: Tokens, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt
}

function isSame(a: Tokens | undefined, b: Tokens | undefined): boolean {
  return a?.accessToken === b?.accessToken && a?.refreshToken === b?.refreshToken
}

function nobody(): ClientError {
  return new ClientError('ERR_AUTHORIZATION_REQUIRED', 'nobody is logged in: the user must authorize')
}

async function inStore<Result>(what: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    throw storeError(what, error)
  }
}

/** What a store throws, in the one form that callers know. */
function storeError(what: string, error: unknown): ClientError {
  if (isClientError(error)) return error
  return new ClientError('ERR_TOKEN_STORE', `the token store could not be ${what}`, { cause: error })
}

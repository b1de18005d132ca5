/**
 * The tokens of one user in one process, kept in agreement with their store and with the service. Each function does its step
 * once; `token-source.ts` decides who waits for a step, and whether it is retried.
 * @module
 */
import type { Client } from '../client.js'
import { connectionOf } from '../client.js'
import { ClientError, isClientError } from '../errors.js'
import { refreshTokens, revokeTokens } from '../token-endpoint.js'
import type { CheckedStore } from './checked-store.js'
import { createCheckedStore, storeError } from './checked-store.js'
import type { TokenStore, Tokens } from './tokens.js'

/** Settings of a keeper. */
export interface KeeperSettings {
  readonly client: Client
  readonly store: TokenStore
  /** Seconds before its expiry at which an access token is no longer fresh. */
  readonly refreshAhead: number
  /** Gets errors that no caller gets. Must not throw. */
  readonly onError: (error: ClientError) => void
}

/** The tokens of one user in one process. */
export interface TokenKeeper {
  /** Returns seconds since the epoch. */
  readonly now: () => number
  /** Returns the newest tokens that this process knows; undefined once their access token has expired. */
  readonly present: () => Tokens | undefined
  /** Checks whether the access token will work for a while. */
  readonly isFresh: (tokens: Tokens) => boolean
  /** Checks whether there is a pair that is not in the store yet. */
  readonly hasUnwritten: () => boolean
  /**
   * Gets fresh tokens, with one request at most: from the store or else from the service. New tokens are written before they
   * are returned.
   * @param failed - access tokens that do not work, whatever the clock says; read again each time it matters
   * @throws ClientError
   */
  readonly renew: (failed: ReadonlySet<string>) => Promise<Renewed>
  /** Stores the tokens of a login. */
  readonly save: (tokens: Tokens) => Promise<void>
  /** Ends the grant at the service, then forgets the tokens. */
  readonly revoke: () => Promise<void>
}

/** Fresh tokens. */
export interface Renewed {
  readonly tokens: Tokens
  /** True if they came from the service just now. */
  readonly isNew: boolean
}

/** The settings and the memory of a keeper. */
interface Keeper {
  readonly client: Client
  readonly store: CheckedStore
  readonly refreshAhead: number
  readonly onError: (error: ClientError) => void
  readonly now: () => number
  present: Tokens | undefined
  /** A pair that could not be written, and the older pair that is in the store instead. */
  unwritten: { readonly over: Tokens; readonly tokens: Tokens } | undefined
  /** The tokens in the store when the grant ended, and the error that callers get while the store has nothing else. */
  ended: { readonly tokens: Tokens; readonly error: ClientError } | undefined
  /** An access token whose refresh got no answer. The service may have replaced it, so it may stop working soon. */
  doubtful: string | undefined
}

/** Creates the keeper of the tokens in a store. */
export function createTokenKeeper({ client, store, refreshAhead, onError }: KeeperSettings): TokenKeeper {
  const keeper: Keeper = {
    client,
    store: createCheckedStore(store, client),
    refreshAhead,
    onError,
    now: connectionOf(client).now,
    present: undefined,
    unwritten: undefined,
    ended: undefined,
    doubtful: undefined,
  }
  return {
    now: keeper.now,
    present: () => {
      const { present } = keeper
      return present !== undefined && hasExpired(present, keeper.now()) ? undefined : present
    },
    isFresh: (tokens) => isFresh(keeper, tokens),
    hasUnwritten: () => keeper.unwritten !== undefined,
    renew: (failed) => renew(keeper, failed),
    save: (tokens) => keeper.store.exclusively(() => save(keeper, tokens)),
    revoke: () => revoke(keeper),
  }
}

async function renew(keeper: Keeper, failed: ReadonlySet<string>): Promise<Renewed> {
  if (keeper.present === undefined) {
    // Reads once without the lock: most processes find fresh tokens and need nothing else.
    const stored = await keeper.store.read()
    if (keeper.present === undefined) {
      const known = requireLive(keeper, stored)
      if (isFresh(keeper, known) && !failed.has(known.accessToken)) {
        keeper.present = known
        return { tokens: known, isNew: false }
      }
    }
  }
  return keeper.store.exclusively(() => renewLocked(keeper, failed))
}

/** Gets fresh tokens under the lock of the store. */
async function renewLocked(keeper: Keeper, failed: ReadonlySet<string>): Promise<Renewed> {
  // Another process may have refreshed, logged in or logged out, so nothing that was known before counts.
  const found = await keeper.store.read()
  if (found === undefined) {
    keeper.present = undefined
    keeper.unwritten = undefined
  }
  const stored = requireLive(keeper, found)
  const known = newest(keeper, stored)
  keeper.present = known
  if (isFresh(keeper, known) && !failed.has(known.accessToken)) {
    if (keeper.unwritten !== undefined) await keep(keeper, known, stored)
    return { tokens: known, isNew: false }
  }
  const tokens = await refresh(keeper, known, stored)
  await keep(keeper, tokens, stored)
  return { tokens, isNew: true }
}

/** Returns the tokens of the store. @throws ClientError `ERR_AUTHORIZATION_REQUIRED` if there are none, or they have ended */
function requireLive({ ended }: Keeper, stored: Tokens | undefined): Tokens {
  if (stored === undefined || isSame(stored, ended?.tokens)) throw ended?.error ?? notLoggedIn()
  return stored
}

/** Returns the unwritten pair if the store still has the pair that it replaced, and else the pair of the store. */
function newest(keeper: Keeper, stored: Tokens): Tokens {
  if (keeper.unwritten !== undefined && !isSame(stored, keeper.unwritten.over)) keeper.unwritten = undefined
  return keeper.unwritten?.tokens ?? stored
}

/** Writes a pair over the one that it replaced. If that fails, the pair stays in memory. */
async function keep(keeper: Keeper, tokens: Tokens, over: Tokens): Promise<void> {
  try {
    await keeper.store.write(tokens)
    keeper.unwritten = undefined
  } catch (error) {
    // Reported once for each pair, not for each retry.
    if (!isSame(keeper.unwritten?.tokens, tokens)) report(keeper, error)
    keeper.unwritten = { over, tokens }
  }
  keeper.present = tokens
}

async function refresh(keeper: Keeper, known: Tokens, stored: Tokens): Promise<Tokens> {
  try {
    return await refreshTokens(keeper.client, known)
  } catch (error) {
    if (!isClientError(error) || error.code !== 'ERR_AUTHORIZATION_REQUIRED') {
      keeper.doubtful = known.accessToken
      throw error
    }
    // Without a refresh token, only the access token is left. Other callers may find that it works while it lives.
    if (known.refreshToken === undefined && isFresh(keeper, known)) throw error
    endGrant(keeper, stored, error)
    if (known.refreshToken !== undefined)
      await forget(keeper, stored).catch((failed: unknown) => report(keeper, failed))
    throw error
  }
}

/** Removes ended tokens from the store, unless another program has written others without using the lock. */
async function forget({ store }: Keeper, stored: Tokens): Promise<void> {
  if (isSame(await store.read(), stored)) await store.write(undefined)
}

/** Remembers that the grant has ended, until the store has other tokens than now. */
function endGrant(keeper: Keeper, stored: Tokens, error: ClientError): void {
  keeper.present = undefined
  keeper.unwritten = undefined
  keeper.ended = { tokens: stored, error }
}

async function save(keeper: Keeper, tokens: Tokens): Promise<void> {
  await keeper.store.write(tokens)
  keeper.present = tokens
  keeper.unwritten = undefined
  keeper.ended = undefined
}

async function revoke(keeper: Keeper): Promise<void> {
  try {
    await keeper.store.exclusively(() => revokeLocked(keeper))
  } catch (error) {
    const known = keeper.present
    if (known !== undefined) {
      // The store failed before anything was done. The tokens of this process end all the same.
      endGrant(keeper, known, notLoggedIn())
      await revokeTokens(keeper.client, known).catch(() => {}) // the caller gets the error of the store
    }
    throw error
  }
}

/** Ends the grant under the lock of the store. */
async function revokeLocked(keeper: Keeper): Promise<void> {
  const stored = await keeper.store.read()
  // Even if the store is empty, the tokens of this process may still work.
  const known = stored === undefined ? keeper.present : newest(keeper, stored)
  if (known === undefined) return
  endGrant(keeper, stored ?? known, notLoggedIn())
  try {
    // First at the service: if the process dies in between, the tokens left in the store are dead, and a refresh will show
    // it. In the other order, tokens would remain that work, and that nobody could end, since nobody would know them.
    await revokeTokens(keeper.client, known)
  } finally {
    if (stored !== undefined) await keeper.store.write(undefined)
  }
}

function report({ onError }: Keeper, error: unknown): void {
  onError(storeError('written', error))
}

function isFresh({ now, refreshAhead, doubtful }: Keeper, tokens: Tokens): boolean {
  return now() < freshUntil(tokens, refreshAhead) && tokens.accessToken !== doubtful
}

/** Returns the time until which an access token is fresh, in seconds since the epoch. */
function freshUntil({ issuedAt, expiresAt, refreshToken }: Tokens, refreshAhead: number): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY
  if (refreshToken === undefined) return expiresAt
  // At most a tenth of its life, or else tokens with a short life would be refreshed at every call.
  return expiresAt - Math.min(refreshAhead, Math.max(0, expiresAt - issuedAt) / 10)
}

function hasExpired({ expiresAt }: Tokens, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt
}

function isSame(a: Tokens | undefined, b: Tokens | undefined): boolean {
  return a?.accessToken === b?.accessToken && a?.refreshToken === b?.refreshToken
}

function notLoggedIn(): ClientError {
  return new ClientError('ERR_AUTHORIZATION_REQUIRED', 'nobody is logged in: the user must authorize')
}

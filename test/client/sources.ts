/**
 * Token sources for tests: over a real service whose clock the test sets, and over a store that counts and fails.
 * @module
 */
import { type Client, type ClientOptions, discover, type TokenStore, type Tokens } from 'grantwell/client'
import { tokensOf } from '../../src/client/token-endpoint.js'
import { memoryTokenStore } from '../../src/client/tokens/memory-token-store.js'
import { tokens as tokensOfWeb, WEB } from '../support.js'
import type { Service } from './service.js'

/** A client of a service, whose clock is the service's. */
export function clientOf({ issuer, test }: Service, options: Partial<ClientOptions> = {}): Promise<Client> {
  // A time-out of seconds would fail on a busy machine.
  return discover({ issuer, ...WEB, clock: () => test.clock.now, timeout: 600, ...options })
}

/** The tokens of a new grant. */
export async function loggedIn({ test }: Service, client: Client): Promise<Tokens> {
  return tokensOf(client, { ...(await tokensOfWeb(test)), token_type: 'bearer' }, {})
}

/** Starts to count the requests to the token endpoint of a service. */
export function refreshesAt({ test }: Service): () => { readonly first: number; readonly again: number } {
  const begin = test.events.length
  return () => {
    const refreshed = test.events.slice(begin).flatMap((event) => (event.type === 'refreshed' ? [event.retry] : []))
    const again = refreshed.filter((retry) => retry).length
    return { first: refreshed.length - again, again }
  }
}

/** Starts to count the requests to the token endpoint, answered or not. */
export function requestsTo({ paths }: Service): () => number {
  const begin = paths.length
  return () => paths.slice(begin).filter((path) => path === '/oauth2/token').length
}

/** A store that counts what is done with it, and fails when it is told to. */
export interface WatchedStore extends TokenStore {
  readonly counts: { reads: number; writes: number; locks: number }
  /** The methods that throw. */
  readonly failing: Set<'read' | 'write' | 'exclusively'>
  /** The stored tokens. */
  readonly content: () => Tokens | undefined
}

/** A store in memory, or whichever is given, that is watched. */
export function watchedStore(tokens?: Tokens, inner: TokenStore = memoryTokenStore(tokens)): WatchedStore {
  const counts = { reads: 0, writes: 0, locks: 0 }
  const failing: WatchedStore['failing'] = new Set()
  let content = tokens
  const check = (method: 'read' | 'write' | 'exclusively'): void => {
    if (failing.has(method)) throw new Error(`no ${method} today`)
  }
  return {
    counts,
    failing,
    content: () => content,
    read: async () => {
      counts.reads++
      check('read')
      return inner.read()
    },
    write: async (next) => {
      counts.writes++
      check('write')
      await inner.write(next)
      content = next
    },
    exclusively: async (action) => {
      counts.locks++
      check('exclusively')
      return inner.exclusively(action)
    },
  }
}

/** The results of so many calls at once. */
export function many<Result>(count: number, call: () => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, call))
}

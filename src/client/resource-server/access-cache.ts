/**
 * The answers about tokens: each is kept as long as the service allows, and shared by callers who ask at the same time.
 * @module
 */
import { portableDigests } from '../../core/credentials/digests.js'
import type { AuthInfo } from '../../guard/auth-info.js'
import type { RunLimited } from '../http/concurrency.js'
import { limitConcurrency } from '../http/concurrency.js'
import type { Introspection } from './introspection.js'

/**
 * Limits of the requests of one API. Each request takes a socket: without a limit, one client that pipelines made-up tokens
 * takes all.
 */
const REQUESTS = { atOnce: 64, waiting: 4096 } as const

/** Settings of a cache. */
export interface CacheSettings {
  /** Asks the service about a token. */
  readonly introspect: (token: string) => Promise<Introspection>
  /** Number of answers that are kept; 0 for none. */
  readonly size: number
  /** Returns whole seconds since the epoch. */
  readonly now: () => number
  /** Seconds that a request may wait for others before it fails. */
  readonly patience: number
}

/** A function that returns the access of a token; undefined for a token that does not work. */
export type FindAccess = (token: string) => AuthInfo | undefined | Promise<AuthInfo | undefined>

/** An answer that is kept. */
interface Kept {
  readonly access: AuthInfo
  /** The end of its life, exclusive: milliseconds of `performance.now()`, which cannot be set back. */
  readonly until: number
}

/** A request that is running. */
interface Running {
  readonly answer: Promise<AuthInfo | undefined>
  /**
   * The answer to the following request, shared by all callers who came after this one began. This answer is not for them: it
   * may say that a token works which was revoked before they came.
   */
  next?: Promise<AuthInfo | undefined>
}

/** The state of a cache. The keys are digests, so that a memory dump shows no tokens because of the cache. */
interface Cache extends CacheSettings {
  readonly kept: Map<string, Kept>
  readonly running: Map<string, Running>
  readonly runLimited: RunLimited
}

/**
 * Creates a cache of answers.
 * @returns a function that throws ClientError `ERR_UNREACHABLE` or `ERR_RESPONSE` by its promise
 */
export function createAccessCache(settings: CacheSettings): FindAccess {
  const cache: Cache = {
    ...settings,
    kept: new Map(),
    running: new Map(),
    runLimited: limitConcurrency({ ...REQUESTS, patience: settings.patience }),
  }
  return (token) => findAccess(cache, token)
}

function findAccess(cache: Cache, token: string): ReturnType<FindAccess> {
  const { kept, running } = cache
  const key = portableDigests.sha256(token)
  const known = kept.get(key)
  if (known !== undefined && isValid(cache, known)) return known.access
  kept.delete(key)
  const current = running.get(key)
  if (current === undefined) {
    const answer = cache.runLimited(() => ask(cache, token, key)).finally(() => running.delete(key))
    running.set(key, { answer })
    return answer
  }
  const next = (): ReturnType<FindAccess> => findAccess(cache, token)
  current.next ??= current.answer.then(next, next)
  return current.next
}

/** Asks the service, and keeps its answer. */
async function ask(cache: Cache, token: string, key: string): Promise<AuthInfo | undefined> {
  const begun = performance.now()
  const { access, maxAge } = await cache.introspect(token)
  if (access === undefined) return undefined
  const answer = { access, until: begun + maxAge * 1000 }
  if (cache.size > 0 && isValid(cache, answer)) {
    const [oldest] = cache.kept.keys()
    if (cache.kept.size >= cache.size && oldest !== undefined) cache.kept.delete(oldest)
    cache.kept.set(key, answer)
  }
  return access
}

function isValid({ now }: Cache, { access, until }: Kept): boolean {
  return performance.now() < until && now() < access.expiresAt
}

/**
 * The options of the stores on engines, and the checks of what the host passes in.
 * @module
 */
import { checkArgument, readOptions } from '../../core/options.js'
import type { Takes, TakesOf } from '../../core/takes.js'
import type { Seconds } from '../../core/values.js'

/** Options of every store on an engine. */
export interface EngineOptions {
  /** Keeps the records of several issuers in one engine apart: 1 to 64 characters of `A-Z a-z 0-9 . _ : -`; `grantwell` by default. */
  readonly namespace?: string
  /** Whole seconds since the epoch; the system's clock by default. This clock decides which records have expired, not the engine's. */
  readonly clock?: () => Seconds
}

/** Options of a store whose engine is reached over a network. */
export interface RemoteEngineOptions extends EngineOptions {
  /** Milliseconds that an operation may take before it fails with `StorageUnavailable`; 5,000 by default. */
  readonly timeoutMs?: number
}

/** The default of `timeoutMs`. */
export const DEFAULT_TIMEOUT_MS = 5_000

/** The values of `timeoutMs`. Node's timers take no longer delay. */
export const TIMEOUT: Takes = {
  words: 'whole milliseconds from 1 to 2147483647',
  fits: (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31,
}

/** The values of the options that all stores have. */
const COMMON: TakesOf<EngineOptions> = {
  namespace: {
    words: '1 to 64 characters of A-Z a-z 0-9 . _ : -',
    fits: (value) => typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value),
  },
  clock: {
    words: 'a function that gives whole seconds since the epoch',
    fits: (value) => typeof value === 'function' && isSeconds(value()),
  },
}

/**
 * Checks the options of a store, and fills in the defaults that all stores have.
 * @param of - the name of the function that takes the options, for messages
 * @param more - the values of the store's own options, those beside `namespace` and `clock`
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown or wrong option
 */
export function readEngineOptions<Options extends EngineOptions>(
  of: string,
  given: Options,
  more: { readonly [Name in Exclude<keyof Options, keyof EngineOptions>]-?: Takes },
): Options & Required<EngineOptions> {
  const takes = { ...COMMON, ...more } as TakesOf<Options> // together, they are all options of this store
  const clock = (): Seconds => Math.floor(Date.now() / 1000)
  return { namespace: 'grantwell', clock, ...readOptions<Options>(of, given, takes) }
}

/**
 * Checks the engine's client that the host passes in. The message does not show it: an address may contain a password.
 * @param of - the name of the function that takes the client, for messages
 * @throws GrantwellError `ERR_CONFIGURATION` for a value of another kind
 */
export function checkClient(of: string, argument: string, takes: Omit<Takes, 'secret'>, value: unknown): void {
  checkArgument(of, argument, { ...takes, secret: true }, value)
}

/** Checks that a value is a time in seconds. A number this large is milliseconds. */
function isSeconds(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) < 1e11
}

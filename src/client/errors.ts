/**
 * What the functions of a client throw.
 * @module
 */
import { plain } from './http/plain.js'

/** The codes of {@link ClientError}. */
export type ClientErrorCode =
  /** Nobody is logged in, or what was permitted has ended (expired, revoked, taken back): the user must authorize again. */
  | 'ERR_AUTHORIZATION_REQUIRED'
  /** The user refused. */
  | 'ERR_ACCESS_DENIED'
  /** The user did not decide in time. */
  | 'ERR_LOGIN_EXPIRED'
  /** Nobody answers, or not in time, or the service is busy: worth another try. */
  | 'ERR_UNREACHABLE'
  /** The service answers, and refuses the request, or does not answer as such a service does. */
  | 'ERR_RESPONSE'
  /** A token of a type that this client does not know, and so must not use (RFC 6749, section 7.1). */
  | 'ERR_TOKEN_TYPE'
  /** The tokens cannot be kept, or read. */
  | 'ERR_TOKEN_STORE'
  /** A wrong option or argument. */
  | 'ERR_CONFIGURATION'

/**
 * What the functions of a client throw. Tell them apart by `code`, not by `instanceof`: in CommonJS each entry point has a class
 * of its own. `cause` is what went wrong beneath, not enumerable, so
 * that no log of fields has it.
 */
export class ClientError extends Error {
  override readonly name: string = 'ClientError'
  readonly code: ClientErrorCode
  /**
   * The code of the protocol that the service gave (RFC 6749, section 5.2), such as `invalid_client`: on one line, of at most 201
   * characters, and without what a terminal would obey.
   */
  readonly error: string | undefined

  constructor(
    code: ClientErrorCode,
    message: string,
    more: { readonly error?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(`grantwell: ${message}`)
    this.code = code
    this.error = more.error === undefined ? undefined : plain(more.error)
    Object.defineProperty(this, 'cause', { value: more.cause, enumerable: false })
  }
}

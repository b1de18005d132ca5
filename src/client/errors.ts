/**
 * Errors of the client's functions.
 * @module
 */
import { plain } from './http/plain.js'

/** The codes of {@link ClientError}. */
export type ClientErrorCode =
  /** Nobody is logged in, or the grant has ended (expired or revoked): the user must authorize again. */
  | 'ERR_AUTHORIZATION_REQUIRED'
  /** The user refused. */
  | 'ERR_ACCESS_DENIED'
  /** The user did not decide in time. */
  | 'ERR_LOGIN_EXPIRED'
  /** The service gives no answer, or not in time, or is busy: worth another try. */
  | 'ERR_UNREACHABLE'
  /** The service refuses the request, or its answer is not one of an authorization service. */
  | 'ERR_RESPONSE'
  /** The token has a type that this client does not know, and so must not use (RFC 6749, section 7.1). */
  | 'ERR_TOKEN_TYPE'
  /** The tokens cannot be stored or read. */
  | 'ERR_TOKEN_STORE'
  /** A wrong option or argument. */
  | 'ERR_CONFIGURATION'

/**
 * The error of every function of a client. Tell errors apart by `code`, not by `instanceof`: in CommonJS each entry point has
 * a class of its own. `cause` is the underlying error. It is not enumerable, so a log of the fields does not contain it.
 */
export class ClientError extends Error {
  /** The name of the class. */
  override readonly name: string = 'ClientError'
  /** The stable code of the error. */
  readonly code: ClientErrorCode
  /**
   * The error code of the service (RFC 6749, section 5.2), such as `invalid_client`: one line of at most 201
   * characters, without control characters.
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

/** Checks for a {@link ClientError} by name, since in CommonJS each entry point has a class of its own. */
export function isClientError(error: unknown): error is ClientError {
  return error instanceof Error && error.name === 'ClientError' && Object.hasOwn(error, 'code')
}

/** Makes the error for a caller's mistake, such as a wrong option. */
export function configurationError(message: string, cause?: unknown): ClientError {
  return new ClientError('ERR_CONFIGURATION', message, { cause })
}

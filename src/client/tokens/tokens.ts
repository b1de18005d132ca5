/**
 * The tokens of one user, and the store in which a client keeps them.
 * @module
 */

/** Tokens that a service gave to this client, for one user. They are JSON, so that any store can hold them. */
export type Tokens = {
  /** The version of this format. */
  readonly v: 1
  /** The service that gave them, and the client that got them. Tokens of another service or client are never used. */
  readonly issuer: string
  readonly clientId: string
  readonly accessToken: string
  /** The time of the answer, in seconds since the epoch by this machine's clock. */
  readonly issuedAt: number
  /** The time when the access token expires, in seconds since the epoch, exclusive; absent if the service did not say. */
  readonly expiresAt?: number
  /** Absent if the service gave none. Then the user must authorize again when the access token has expired. */
  readonly refreshToken?: string
  /**
   * The granted scopes: those that the service named or else those of the request (RFC 6749, section 5.1). Absent if neither
   * named any.
   */
  readonly scope?: string
} & TokenType

/** The type of an access token, which says how to use it (RFC 6749, section 7.1). */
export type TokenType =
  | { readonly tokenType: 'bearer' }
  /** Each request is signed with the key (draft-ietf-oauth-v2-http-mac-01). */
  | { readonly tokenType: 'mac'; readonly macKey: string; readonly macAlgorithm: 'hmac-sha-256' }

/** A store of the tokens of one user. Its methods throw if they fail. */
export interface TokenStore {
  /** Reads the tokens that were written last; undefined if there are none. */
  readonly read: () => Tokens | undefined | Promise<Tokens | undefined>
  /** Replaces the stored tokens, completely or not at all; undefined removes them. */
  readonly write: (tokens: Tokens | undefined) => void | Promise<void>
  /**
   * Runs an action under a lock: no other action on the same tokens runs at the same time, in this process or in another. An
   * action never starts another one inside.
   */
  readonly exclusively: <Result>(action: () => Promise<Result>) => Promise<Result>
}

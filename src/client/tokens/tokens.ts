/**
 * The tokens of one user as a client keeps them, and where it does.
 * @module
 */

/** What a service granted to this client, for one user. JSON, so that any store can hold it. */
export type Tokens = {
  /** Version of this shape. */
  readonly v: 1
  /** Whose tokens they are; tokens of another service or client are never used. */
  readonly issuer: string
  readonly clientId: string
  readonly accessToken: string
  /** When the answer came, in seconds since the epoch by this machine's clock. */
  readonly issuedAt: number
  /** When the access token expires, in seconds since the epoch, exclusive; absent where the service did not say. */
  readonly expiresAt?: number
  /** Absent where the service gave none: then the user authorizes again once the access token has expired. */
  readonly refreshToken?: string
  /** What was granted: as the service said or, where it did not, as it was asked for (RFC 6749, section 5.1). Absent where neither said. */
  readonly scope?: string
} & TokenType

/** How the access token is used (RFC 6749, section 7.1). */
export type TokenType =
  | { readonly tokenType: 'bearer' }
  /** Each request is signed with the key (draft-ietf-oauth-v2-http-mac-01). */
  | { readonly tokenType: 'mac'; readonly macKey: string; readonly macAlgorithm: 'hmac-sha-256' }

/** Where a client keeps the tokens of one user. Fails by throwing. */
export interface TokenStore {
  /** What was written last; undefined where there is nothing. */
  readonly read: () => Tokens | undefined | Promise<Tokens | undefined>
  /** Keeps them in place of what was there, whole or not at all; undefined forgets them. */
  readonly write: (tokens: Tokens | undefined) => void | Promise<void>
  /**
   * Runs an action while nobody else who uses the same tokens, in this process or in another, runs one of theirs. An action
   * never begins one within.
   */
  readonly exclusively: <Result>(action: () => Promise<Result>) => Promise<Result>
}

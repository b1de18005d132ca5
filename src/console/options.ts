/**
 * The options that a host gives to `createConsole`.
 * @module
 */
import type { HttpRequest } from '../protocol/message.js'
import type { User } from '../shell/options.js'

/** Options of `createConsole`. */
export interface ConsoleOptions<Native = unknown> {
  /**
   * Returns the user who may hand in applications; undefined or null for nobody, who is sent to sign in. The option `user` of the server
   * by default: everybody who is signed in.
   */
  readonly applicant?: (request: HttpRequest<Native>) => User | null | undefined | Promise<User | null | undefined>
  /**
   * Returns the user if it is an administrator; undefined or null for anybody else. Without it there are no pages for administrators.
   */
  readonly administrator?: (request: HttpRequest<Native>) => User | null | undefined | Promise<User | null | undefined>
  /** The path of the first page, below the `mountPath` of the server; `/oauth2/console` by default. */
  readonly path?: string
}

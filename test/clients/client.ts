/**
 * Other people's clients as the tests and the page of the documentation have them: what each needs, and what it was seen to do.
 * @module
 */
import type { Authentication } from './service.js'

/** Things that a client does by itself once it is logged in. */
export type Ability = 'call' | 'refresh' | 'revoke'

/** A client. */
export interface Client {
  /** Its name in the table. */
  readonly name: string
  readonly version: string
  /** Settings of the client that are not its defaults, in the words of the table; none by default. Those that are advised come second. */
  readonly client?: string
  /** Settings of the server that are not its defaults, in the words of the table. */
  readonly server?: string
  /** The path of its redirect URI; `/callback` by default. */
  readonly path?: string
  /** Its authentication as a confidential application, and as a public one; absent if it cannot be one. */
  readonly confidential?: Authentication
  readonly public?: Authentication
  /** True if it sends a challenge of PKCE. */
  readonly pkce: boolean
  /** True if it sends a state. */
  readonly state: boolean
  readonly does: readonly Ability[]
  /** Flows that other tests drive, or another one than the code flow, in the words of the table. */
  readonly also?: string
}

/** The types of applications. */
export const TYPES = ['confidential', 'public'] as const

/** A type of application. */
export type ApplicationType = (typeof TYPES)[number]

/**
 * What the tests ask of a client, so that one harness can drive all of them: each file of `npm` has a function `start`.
 * @module
 */
import type { Browser } from '../demo/walk.js'

/** What a client is told about the service and about itself. */
export interface Setting {
  readonly issuer: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly revocationEndpoint: string
  readonly deviceEndpoint: string
  readonly clientId: string
  /** Absent if the application is public. */
  readonly clientSecret?: string
  /** A registered redirect URI, for a client that listens nowhere. */
  readonly redirectUri: string
  readonly scopes: readonly string[]
  /** The guarded route. */
  readonly api: string
  /** The user's browser, signed in at the service. */
  readonly browser: Browser
}

/** The tokens that a client has. */
export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

/** A login that has begun. What a client cannot do by itself is absent. */
export interface Login {
  /** The address that the client sends the browser to. */
  readonly url: string | URL
  /** Takes the address that the browser came back to, and gives the tokens. */
  readonly finish: (callback: URL) => Promise<Tokens>
  /** Calls the guarded route by the client's own means; rejects unless the answer is 200. */
  readonly call?: (tokens: Tokens) => Promise<unknown>
  readonly refresh?: (tokens: Tokens) => Promise<Tokens>
  /** Revokes the refresh token, or the token that the client chooses. */
  readonly revoke?: (tokens: Tokens) => Promise<unknown>
  readonly close?: () => unknown
}

/** Begins a login on a device: the code and the page that it shows, and its wait for the tokens. */
export type StartDevice = (setting: Setting) => Promise<{
  readonly code: string
  readonly url: string
  readonly poll: () => Promise<Tokens>
}>

/** Begins a login. */
export type Start = (setting: Setting) => Promise<Login>

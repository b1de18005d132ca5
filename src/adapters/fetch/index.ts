/**
 * The entry point `grantwell/fetch`: the server and its guards on platforms that pass a `Request` and expect a `Response`.
 * @module
 */

export type { Authorized, ResourceNeeds, RouteNeeds } from '../../guard/adapter-guard.js'
export type { AuthInfo } from '../../guard/auth-info.js'
export type { GuardProvider } from '../../guard/guard.js'
export type { FetchGuard } from './guard.js'
export { createFetchGuard } from './guard.js'
export type { FetchHandler } from './handler.js'
export { createFetchHandler } from './handler.js'
export { toResponse } from './response.js'

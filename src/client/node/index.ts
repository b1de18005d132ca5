/**
 * The entry point `grantwell/client/node`: what a client adds to `grantwell/client` on Node, Bun and Deno, a login in the
 * user's browser and a file for the tokens. Needs the package `oauth4webapi`.
 * @module
 */
export type { BrowserLoginOptions } from './browser-login.js'
export { loginByBrowser } from './browser-login.js'
export type { CallbackOutcome, CallbackPage, CallbackText } from './callback.js'
export { fileTokenStore } from './file-token-store.js'

/**
 * The entry point `grantwell/client/node`: additions to `grantwell/client` on Node, Bun and Deno. They are a login in the
 * user's browser and a token store in a file. Needs the package `oauth4webapi`.
 * @module
 */
export type { BrowserLoginOptions } from './browser-login.js'
export { loginByBrowser } from './browser-login.js'
export type { CallbackOutcome, CallbackPage, CallbackText } from './callback.js'
export { fileTokenStore } from './file-token-store.js'

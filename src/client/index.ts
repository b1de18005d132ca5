/**
 * The entry point `grantwell/client`: a client of an authorization service, on any platform. It discovers the service, logs
 * a user in by the device flow, and keeps the tokens fresh. It finds the service of an API that refused a request, and registers
 * itself there. It also guards an API that runs elsewhere than the service. Needs the package `oauth4webapi`.
 * @module
 */

export type { Client, ClientOptions } from './client.js'
export { discover } from './client.js'
export { requiredScope } from './discovery/required-scope.js'
export type { ProtectedResource, ResourceDiscoveryOptions } from './discovery/resource.js'
export { discoverResource } from './discovery/resource.js'
export type { ClientErrorCode } from './errors.js'
export { ClientError } from './errors.js'
export type { AuthorizedFetchOptions } from './fetch/authorized-fetch.js'
export { authorizedFetch } from './fetch/authorized-fetch.js'
export type { LoginOptions, UserCode } from './login.js'
export { login } from './login.js'
export type { ClientCredentials, ClientRegistration } from './registration/client-information.js'
export type {
  ClientMetadata,
  RegistrationOptions,
  RegistrationRequestOptions,
} from './registration/registration.js'
export { deleteRegistration, readRegistration, registerClient } from './registration/registration.js'
export type { ResourceServerOptions } from './resource-server/resource-server.js'
export { resourceServer } from './resource-server/resource-server.js'
export { revokeTokens } from './token-endpoint.js'
export { memoryTokenStore } from './tokens/memory-token-store.js'
export type { TokenSource, TokenSourceOptions, WaitOptions } from './tokens/token-source.js'
export { createTokenSource } from './tokens/token-source.js'
export type { TokenStore, Tokens, TokenType } from './tokens/tokens.js'

/**
 * The entry point `grantwell`: the authorization server, and the pure functions that it is made of.
 * @module
 */
export type { Applications, ClientCredentials } from './applications.js'
export type { Application, Registration, ResourceScope } from './core/application.js'
export type { Credential, CredentialKind } from './core/credential.js'
export { CREDENTIAL_PREFIXES, parseCredential, parseGrantId, printCredential } from './core/credential.js'
export type { Digests } from './core/digests.js'
export { clientKeyOf, portableDigests } from './core/digests.js'
export type { OAuthError, OAuthErrorCode, RefusalReason } from './core/errors.js'
export { GrantwellError } from './core/errors.js'
export type { Approve, Exchange, IssuedCode } from './core/exchange.js'
export type {
  AuthorizationCode,
  Grant,
  GrantEvent,
  GrantRules,
  Inspection,
  IssuedTokens,
  Outcome,
  Resources,
  TokenPair,
} from './core/grant.js'
export { inspect, PAIRS_IN_GRACE, RETIRED_KEPT, retention } from './core/grant.js'
export type { RedirectRegistration } from './core/redirect-uri.js'
export type { Refresh } from './core/refresh.js'
export type { Revocation, Revoke } from './core/revoke.js'
export type { Permission, Scope, ScopeCatalogue, ScopeDefinition, ScopeEntry } from './core/scopes.js'
export {
  coversScopes,
  narrowScopes,
  normalizeScopes,
  parseScopes,
  printScopes,
  scopeCatalogue,
  serviceScopes,
} from './core/scopes.js'
export type { Command, Replies } from './core/transition.js'
export { ENTROPY_BYTES, transition } from './core/transition.js'
export type { ClientId, ClientKey, Digest, GrantId, Seconds, Subject } from './core/values.js'
export { parseClientId } from './core/values.js'
export type { AuditEvent, AuthorizationServerOptions, RefusedEvent, SpecifiedResource, User } from './options.js'
export type {
  ConsentPageModel,
  ConsentResource,
  ConsentScope,
  ErrorPageModel,
  Pages,
  ResourceKind,
} from './pages/index.js'
export type { NoToken } from './protocol/bearer.js'
export type { HttpBody, HttpHeaders, HttpRequest, HttpResponse, RequestLike } from './protocol/message.js'
export type { Authentication, AuthorizationServer } from './server.js'
export { createAuthorizationServer } from './server.js'
export type { JsonValue, RecordPage, RecordStore, StoredRecord, WriteOptions } from './storage/record-store.js'

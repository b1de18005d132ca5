/**
 * The entry point `grantwell`: the authorization server, its options, and the values that a host works with. The pure functions
 * of the server and the types of their values are in `grantwell/core`, the pages and their models in `grantwell/pages`.
 * @module
 */

export type { Application } from './core/application/application.js'
export type { RegistrationFault } from './core/application/faults.js'
export type { Amendment, Registration, Submission } from './core/application/registration.js'
export type { Digests } from './core/credentials/digests.js'
export { portableDigests } from './core/credentials/digests.js'
export type { OAuthError } from './core/errors.js'
export { GrantwellError, StorageUnavailable } from './core/errors.js'
export type { ProtectedResource, Resources } from './core/resource.js'
export { opensResource } from './core/resource.js'
export { scopeCatalogue } from './core/scopes/catalogue.js'
export { serviceScopes } from './core/scopes/service-scopes.js'
export type { Scope, ScopeCatalogue, ScopeDefinition } from './core/scopes.js'
export type { ClientId, GrantId, Seconds, Subject } from './core/values.js'
export type { AuthInfo, GuardResult, ResourceOf } from './guard/auth-info.js'
export type { Guard, GuardProvider } from './guard/guard.js'
export type { Applications, ClientCredentials } from './management/applications/interface.js'
export type { ActedBy } from './management/arguments.js'
export type { GrantSummary, Grants } from './management/grants/interface.js'
export type { Health } from './management/health.js'
export type { HttpHeaders, HttpRequest, HttpResponse, RequestLike } from './protocol/message.js'
export type { AuthorizationServer, HttpHandler } from './server.js'
export { createAuthorizationServer } from './server.js'
export type { AuditEvent } from './shell/audit.js'
export type { FetchedClientMetadata } from './shell/options/client-metadata.js'
export type { ClientCandidate, ClientVerdict } from './shell/options/client-policy.js'
export type { AudienceDefinition, AuthorizationServerOptions, PermissionRequest, User } from './shell/options.js'
export type {
  JsonValue,
  RecordPage,
  RecordStore,
  ScannedRecord,
  ScanPage,
  StoredRecord,
  WriteOptions,
} from './storage/record-store.js'

/**
 * The entry point `grantwell`: the authorization server, its options, and the values that a host works with. The pure functions
 * of the server are in `grantwell/core`, the models of the pages in `grantwell/pages`.
 * @module
 */

export type { Application, ApplicationTerms } from './core/application/application.js'
export type {
  FaultValues,
  RedirectFault,
  RedirectFaultCode,
  RedirectUriFaultCode,
  RegistrationFault,
  RegistrationFaultCode,
} from './core/application/faults.js'
export type {
  Amendment,
  Registration,
  ResourceServerRegistration,
  Submission,
} from './core/application/registration.js'
export type { Digests } from './core/credentials/digests.js'
export { portableDigests } from './core/credentials/digests.js'
export type { GrantwellErrorCode, OAuthError } from './core/errors.js'
export { GrantwellError, StorageUnavailable } from './core/errors.js'
export type { ProtectedResource, Resources } from './core/resource.js'
export { opensResource } from './core/resource.js'
export { scopeCatalogue } from './core/scopes/catalogue.js'
export type { ServiceScopesOptions } from './core/scopes/service-scopes.js'
export { serviceScopes } from './core/scopes/service-scopes.js'
export type {
  NamedScopeDefinition,
  Scope,
  ScopeCatalogue,
  ScopeCatalogueOptions,
  ScopeDefinition,
  ScopeDescription,
  ScopeTokenDefinition,
} from './core/scopes.js'
export type { ClientId, GrantId, Seconds, Subject } from './core/values.js'
export type { AuthInfo, AuthInfoFor, GuardResult, ResourceOf } from './guard/auth-info.js'
export type { Authenticate, Guard, GuardProvider } from './guard/guard.js'
export type {
  ApplicationPage,
  Applications,
  ClientCredentials,
  WantedApplications,
} from './management/applications/interface.js'
export type { ActedBy, AskedBy } from './management/arguments.js'
export type { GrantCount, GrantPage, GrantSummary, Grants } from './management/grants/interface.js'
export type { Health, HealthProblem } from './management/health.js'
export type { Logo } from './management/logos.js'
export type { Pages } from './pages/index.js'
export type { NoToken } from './protocol/bearer.js'
export type { HttpBody, HttpHeaders, HttpRequest, HttpResponse, RequestLike } from './protocol/message.js'
export type { PageSources } from './protocol/pages/page.js'
export type { AuthorizationServer, HttpHandler } from './server.js'
export { createAuthorizationServer } from './server.js'
export type { AuditedRequest, RequestSource } from './shell/audit/request.js'
export type { AuditEvent, NotStoredEvent, RefusedEvent } from './shell/audit.js'
export type { FetchedClientMetadata } from './shell/options/client-metadata.js'
export type { ClientCandidate, ClientVerdict } from './shell/options/client-policy.js'
export type {
  AudienceDefinition,
  AuthorizationServerOptions,
  AuthorizeVerdict,
  DeviceAttempt,
  PermissionRequest,
  RegistrationAttempt,
  SpecifiedResource,
  User,
  UserCodeAttempt,
} from './shell/options.js'
export type {
  JsonValue,
  RecordPage,
  RecordStore,
  ScannedRecord,
  ScanPage,
  StoredRecord,
  WriteOptions,
} from './storage/record-store.js'

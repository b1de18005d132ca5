/**
 * The entry point `grantwell`: the authorization server, and the pure functions that it is made of.
 * @module
 */

export type { Access, AccessTo } from './access.js'
export type { ApplicationPage, Applications, ClientCredentials } from './applications.js'
export type {
  Application,
  ApplicationCommand,
  ApplicationDetails,
  ApplicationEvent,
  ApplicationHead,
  ApplicationOutcome,
  ApplicationRefusal,
  ClientSecret,
  PublishedApplication,
  Review,
  SubmittedApplication,
} from './core/application.js'
export { isPublished, SECRETS_KEPT, transitionApplication } from './core/application.js'
export type { Credential, CredentialKind } from './core/credential.js'
export { CREDENTIAL_PREFIXES, parseCredential, parseGrantId, printCredential } from './core/credential.js'
export type { Decide, Decided, IssuedDeviceCode, Poll, RequestDevice } from './core/device.js'
export type { Digests } from './core/digests.js'
export { clientKeyOf, portableDigests } from './core/digests.js'
export type { AuthenticatedTime, GrantwellErrorCode, OAuthError, OAuthErrorCode, RefusalReason } from './core/errors.js'
export { GrantwellError, StorageUnavailable } from './core/errors.js'
export type { Approve, Exchange, IssuedCode } from './core/exchange.js'
export type {
  AuthorizationCode,
  DecidedEvent,
  DeviceAuthorization,
  DeviceCode,
  DeviceRequestedEvent,
  Grant,
  GrantEvent,
  GrantRecord,
  GrantRules,
  Inspection,
  IssuedTokens,
  Outcome,
  Resources,
  RevocationCause,
  TokenPair,
} from './core/grant.js'
export { inspect, isGrant, isLive, PAIRS_IN_GRACE, RETIRED_KEPT, retention } from './core/grant.js'
export type { RedirectRegistration } from './core/redirect-uri.js'
export type { Refresh } from './core/refresh.js'
export type {
  Amendment,
  Registration,
  RegistrationDetails,
  RegistrationFault,
  RequestedScope,
  ResourceScope,
  ResourceServerRegistration,
  Submission,
} from './core/registration.js'
export { APPLICATION_LIMITS, SUBMISSION_LIMITS } from './core/registration.js'
export type { ProtectedResource } from './core/resource.js'
export { opensResource } from './core/resource.js'
export type { Revocation, Revoke, Withdraw } from './core/revoke.js'
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
export type { Command, Replies, Written } from './core/transition.js'
export { ENTROPY_BYTES, transition } from './core/transition.js'
export type { ClientId, ClientKey, Digest, GrantId, Seconds, Subject } from './core/values.js'
export { parseClientId } from './core/values.js'
export type { GrantPage, Grants, PermittedGrant } from './grants.js'
export type { Authenticate, Authentication, Guard, Guarding, ResourceOf } from './guard.js'
export type { Logo } from './logos.js'
export type {
  AuditEvent,
  AuthorizationServerOptions,
  DeviceAttempt,
  RefusedEvent,
  SpecifiedResource,
  User,
  UserCodeAttempt,
} from './options.js'
export type {
  AuthorizedApplication,
  AuthorizedApplicationsPageModel,
  AuthorizedGrant,
  AuthorizedResources,
  ConsentPageModel,
  ConsentResource,
  ConsentScope,
  DevicePageModel,
  DeviceResultPageModel,
  ErrorPageModel,
  Pages,
  ResourceKind,
} from './pages/index.js'
export type { NoToken } from './protocol/bearer.js'
export type { HttpBody, HttpHeaders, HttpRequest, HttpResponse, RequestLike } from './protocol/message.js'
export type { AuthorizationServer } from './server.js'
export { createAuthorizationServer } from './server.js'
export type { JsonValue, RecordPage, RecordStore, StoredRecord, WriteOptions } from './storage/record-store.js'

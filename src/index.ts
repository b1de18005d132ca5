/**
 * The entry point `grantwell`: the authorization server, and the pure functions that it is made of.
 * @module
 */

export type {
  Application,
  ApplicationDetails,
  ApplicationHead,
  ClientSecret,
  PublishedApplication,
  Review,
  SubmittedApplication,
} from './core/application/application.js'
export { isPublished } from './core/application/application.js'
export type { RedirectRegistration } from './core/application/redirect-uri.js'
export type {
  Amendment,
  Registration,
  RegistrationDetails,
  RegistrationFault,
  RequestedScope,
  ResourceScope,
  ResourceServerRegistration,
  Submission,
} from './core/application/registration.js'
export { APPLICATION_LIMITS, SUBMISSION_LIMITS } from './core/application/registration.js'
export type {
  ApplicationCommand,
  ApplicationEvent,
  ApplicationOutcome,
  ApplicationRefusal,
} from './core/application/transition.js'
export { SECRETS_KEPT, transitionApplication } from './core/application/transition.js'
export type {
  AuthenticatedTime,
  GrantwellErrorCode,
  OAuthError,
  OAuthErrorCode,
  RefusalReason,
} from './core/errors.js'
export { GrantwellError, StorageUnavailable } from './core/errors.js'
export type { Approve, IssuedCode } from './core/grant/approve.js'
export type { Decide, Decided, IssuedDeviceCode, Poll, RequestDevice } from './core/grant/device.js'
export type { Exchange } from './core/grant/exchange.js'
export type {
  AuthorizationCode,
  DeviceAuthorization,
  DeviceCode,
  Grant,
  GrantRecord,
  TokenPair,
} from './core/grant/grant.js'
export { isGrant, isLive, PAIRS_IN_GRACE, RETIRED_KEPT, retention } from './core/grant/grant.js'
export type { Inspection } from './core/grant/inspect.js'
export { inspect } from './core/grant/inspect.js'
export type { DecidedEvent, DeviceRequestedEvent, GrantEvent, Outcome, RevocationCause } from './core/grant/outcome.js'
export type { IssuedTokens } from './core/grant/pair.js'
export type { Refresh } from './core/grant/refresh.js'
export type { Revocation, Revoke, Withdraw } from './core/grant/revoke.js'
export type { GrantRules } from './core/grant/rules.js'
export type { Command, Replies, Written } from './core/grant/transition.js'
export { ENTROPY_BYTES, transition } from './core/grant/transition.js'
export type { ProtectedResource, Resources } from './core/resource.js'
export { opensResource } from './core/resource.js'
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
export type { Credential, CredentialKind } from './core/tokens/credential.js'
export { CREDENTIAL_PREFIXES, parseCredential, parseGrantId, printCredential } from './core/tokens/credential.js'
export type { Digests } from './core/tokens/digests.js'
export { clientKeyOf, portableDigests } from './core/tokens/digests.js'
export type { ClientId, ClientKey, Digest, GrantId, Seconds, Subject } from './core/values.js'
export { parseClientId } from './core/values.js'
export type { Access, AccessTo } from './guard/access.js'
export type { Authenticate, Authentication, Guard, Guarding, ResourceOf } from './guard/guard.js'
export type { ApplicationPage, Applications, ClientCredentials } from './management/applications.js'
export type { GrantPage, Grants, PermittedGrant } from './management/grants.js'
export type { Logo } from './management/logos.js'
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
export type {
  AuditEvent,
  AuthorizationServerOptions,
  DeviceAttempt,
  RefusedEvent,
  SpecifiedResource,
  User,
  UserCodeAttempt,
} from './shell/options.js'
export type { JsonValue, RecordPage, RecordStore, StoredRecord, WriteOptions } from './storage/record-store.js'

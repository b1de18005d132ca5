/**
 * The entry point `grantwell/core`: the pure functions that the authorization server is made of, and their values.
 * @module
 */

export type {
  Application,
  ApplicationDetails,
  ApplicationHead,
  ApplicationTerms,
  ClientSecret,
  KeptDocument,
  PublishedApplication,
  Review,
  SelfRegistered,
  SubmittedApplication,
} from './application/application.js'
export { isPublished } from './application/application.js'
export type {
  FaultValues,
  RedirectFault,
  RedirectFaultCode,
  RedirectUriFaultCode,
  RegistrationFault,
  RegistrationFaultCode,
} from './application/faults.js'
export type { Logo } from './application/image.js'
export type { ApplicationCommand } from './application/life/commands.js'
export type { ApplicationEvent, ApplicationOutcome, ApplicationRefusal } from './application/life/outcome.js'
export { SECRETS_KEPT } from './application/life/upkeep.js'
export type { RedirectRegistration } from './application/redirect-uri.js'
export type {
  Amendment,
  Registration,
  RegistrationDetails,
  RequestedScope,
  ResourceScope,
  ResourceServerRegistration,
  Submission,
} from './application/registration.js'
export { APPLICATION_LIMITS, SUBMISSION_LIMITS } from './application/registration-form.js'
export { transitionApplication } from './application/transition.js'
export type { Audience, DeclaredResource, DeclaredResources, ResourceIdentifier } from './audiences/audience.js'
export { coversAudience } from './audiences/audience.js'
export type { Credential, CredentialKind } from './credentials/credential.js'
export { CREDENTIAL_PREFIXES, parseCredential, parseGrantId, printCredential } from './credentials/credential.js'
export type { DerivationRules, Digests } from './credentials/digests.js'
export { clientKeyOf, portableDigests } from './credentials/digests.js'
export type { AuthenticatedTime, GrantwellErrorCode, OAuthError, OAuthErrorCode, RefusalReason } from './errors.js'
export { isOAuthError } from './errors.js'
export type { ApproveCommand, IssuedCode } from './grant/approve.js'
export type { DecideCommand, Decided, IssuedDeviceCode, PollCommand, RequestDeviceCommand } from './grant/device.js'
export type { ExchangeCommand } from './grant/exchange.js'
export type {
  AuthorizationCode,
  DeviceAuthorization,
  DeviceCode,
  Grant,
  GrantRecord,
  TokenPair,
} from './grant/grant.js'
export { isGrant, isLive, PAIRS_IN_GRACE, RETIRED_KEPT, retention } from './grant/grant.js'
export type { Inspection } from './grant/inspect.js'
export { inspect } from './grant/inspect.js'
export type { DecidedEvent, DeviceRequestedEvent, GrantEvent, GrantOutcome, RevocationCause } from './grant/outcome.js'
export type { IssuedTokens } from './grant/pair.js'
export type { RefreshCommand } from './grant/refresh.js'
export type { Revocation, RevokeCommand, WithdrawCommand } from './grant/revoke.js'
export type { GrantRules } from './grant/rules.js'
export { ENTROPY_BYTES } from './grant/rules.js'
export type { GrantCommand, GrantReplies, GrantWrites } from './grant/transition.js'
export { transition } from './grant/transition.js'
export type { ProtectedResource, Resources } from './resource.js'
export { opensResource } from './resource.js'
export { scopeCatalogue } from './scopes/catalogue.js'
export type { ServiceScopesOptions } from './scopes/service-scopes.js'
export { serviceScopes } from './scopes/service-scopes.js'
export type {
  Inclusions,
  NamedScopeDefinition,
  Permission,
  Scope,
  ScopeCatalogue,
  ScopeCatalogueOptions,
  ScopeDefinition,
  ScopeDescription,
  ScopeEntry,
  ScopeTokenDefinition,
} from './scopes.js'
export {
  coversScopes,
  narrowScopes,
  normalizeScopes,
  parseRequestedScopes,
  parseScopes,
  printScopes,
} from './scopes.js'
export type { Branded, ClientId, ClientKey, Digest, GrantId, Seconds, Subject, UserCode } from './values.js'
export { parseClientId } from './values.js'

/**
 * The entry point `grantwell/testing`: tests of a store, of a server with its store and clock, of every order in which
 * requests can meet, and of pages of a host's own. For tests alone. Needs `fast-check` 4.
 * @module
 */

export type { ReachedApplication } from './arbitraries/applications.js'
export type { GrantOptions, ReachedGrant } from './arbitraries/grants.js'
export type { RegistrationOptions } from './arbitraries/registrations.js'
export type { RequestOptions } from './arbitraries/sound-requests.js'
export type { Arbitraries } from './arbitraries.js'
export { arbitraries } from './arbitraries.js'
export type { CheckPagesOptions } from './check-pages/options.js'
export { checkPages, PagesError } from './check-pages.js'
export type {
  Beginning,
  CallAnswer,
  Caller,
  Exploration,
  ExploreOptions,
  ExploreServerOptions,
  ExploreStoreWiring,
  FormDecision,
  OwnRequest,
  ReceivedPair,
  RequestKind,
} from './explore.js'
export { ExplorationError, explore } from './explore.js'
export type { LifecycleOptions, LifecycleTerms } from './lifecycle.js'
export { lifecycle } from './lifecycle.js'
export type { Terms } from './model.js'
export type { Entropy } from './seeded-entropy.js'
export { seededEntropy } from './seeded-entropy.js'
export type { ContractCase, MakeStore, StorageContractOptions, StoreWiring, TestedStore } from './storage-contract.js'
export { storageContract } from './storage-contract.js'
export type { VirtualClock } from './virtual-clock.js'
export { virtualClock } from './virtual-clock.js'
export type {
  LifecycleClient,
  LifecycleRequest,
  LifecycleResponse,
  LifecycleWiring,
  Wired,
  WireOptions,
} from './wiring.js'
export { wire } from './wiring.js'

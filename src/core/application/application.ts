/**
 * Applications: the record of a registration, from its submission on, and the questions that others ask of it.
 * @module
 * @see Specification, sections 1 and 2.1
 */

import type { ResourceIdentifier } from '../audiences/audience.js'
import { constantTimeEqual } from '../credentials/base64url.js'
import type { Resources } from '../resource.js'
import type { ClientId, Digest, Seconds, Subject } from '../values.js'
import { ownOf } from '../values.js'
import type { RegistrationDetails, ResourceScope } from './registration.js'
import { RESOURCE_CHOICES } from './registration.js'

/** The record of an application; `isPublished` tells the two kinds apart. JSON. */
export type Application = SubmittedApplication | PublishedApplication

/** An application that may not be used: nobody has approved it yet, or it was refused for good. */
export interface SubmittedApplication extends ApplicationHead {
  /** `pending` waits for the administrators; `rejected` was refused. */
  readonly state: 'pending' | 'rejected'
  /** The submission under review. */
  readonly review: Review
  /** The secret that a confidential client got when it registered itself; absent for any other, which gets none before approval. */
  readonly secrets?: readonly ClientSecret[]
}

/** An application that was approved. A suspended one gets nothing, and its live tokens do not work until it is reinstated. */
export interface PublishedApplication extends ApplicationHead, ApplicationDetails {
  /** `suspended` gets nothing until it is reinstated. */
  readonly state: 'approved' | 'suspended'
  /** The client identifier, equal to `id`. */
  readonly clientId: ClientId
  /** Newest first; none for a public client. */
  readonly secrets: readonly ClientSecret[]
  /** The time of the last approval, in seconds since the epoch. */
  readonly approvedAt: Seconds
  /** The terms that administrators alone decide on; absent where they decided on nothing. */
  readonly terms?: ApplicationTerms
  /** A change that waits for the administrators, or that they refused. */
  readonly review?: Review
}

/** Terms that administrators set for an application, whatever its applicant hands in. */
export interface ApplicationTerms {
  /**
   * True for an application of the service itself: no user is asked for consent where the answer goes to an `https` redirect URI. Absent
   * for any other.
   */
  readonly firstParty?: true
  /** Seconds that its access tokens work; those of the server where it is absent. */
  readonly accessTokenLifetime?: Seconds
  /** Seconds that its refresh tokens work; those of the server where it is absent. */
  readonly refreshTokenLifetime?: Seconds
}

/** The fields that every application has. */
export interface ApplicationHead {
  /** Version of this shape. */
  readonly v: 1
  /** The client identifier from the first approval on. */
  readonly id: ClientId
  /** The user who handed it in; absent where an administrator registered it. */
  readonly applicant?: Subject
  /** The number of submissions and changes so far, from 1. */
  readonly revision: number
  /** The time of the submission, in seconds since the epoch. */
  readonly createdAt: Seconds
  /** Present for a client that registered itself (RFC 7591), or whose identifier is the URL of its metadata. */
  readonly selfRegistered?: SelfRegistered
}

/** The life of a client that registered itself. */
export interface SelfRegistered {
  /** Seconds since the epoch, exclusive: an unused one is removed then. Absent once an administrator decided on it. */
  readonly keepUntil?: Seconds
  /** SHA-256 of its registration access token; absent for a client whose identifier is a URL (RFC 7592). */
  readonly accessToken?: Digest
  /** The metadata document that its identifier is the URL of; absent for a client without one. */
  readonly document?: KeptDocument
  /** The way to authenticate that it asked for, where that is not `client_secret_basic`. */
  readonly method?: 'client_secret_post'
  /** Present where the policy of the host approved it, and administrators have only suspended or reinstated it since. */
  readonly approvedByPolicy?: true
}

/** A metadata document, as it was read last. */
export interface KeptDocument {
  /** SHA-256 of what was read in it, to tell a document that changed. */
  readonly digest: Digest
  /** Seconds since the epoch, exclusive: from then on it is read again before a user is asked. */
  readonly until: Seconds
}

/** The part of an application that administrators review. */
export interface ApplicationDetails extends RegistrationDetails {
  /** The name of the record that holds the logo while it is in force or in review; empty for none. */
  readonly logo: string
  /** Present for an API that may introspect tokens; no user grants it anything (RFC 7662, section 2.1). */
  readonly resourceServer?: true
  /** The protected resource that such an API stands for (RFC 8707); absent for one that takes tokens which are limited to none. */
  readonly audience?: ResourceIdentifier
}

/** A submission or change, and its review. */
export type Review = {
  readonly revision: number
  readonly submittedAt: Seconds
  readonly details: ApplicationDetails
} & (
  | { readonly state: 'pending' }
  | { readonly state: 'rejected'; readonly rejectedAt: Seconds; readonly reason: string }
)

/** One secret of a confidential client. */
export interface ClientSecret {
  /** SHA-256 of the secret. */
  readonly digest: Digest
  /** Exclusive; absent for the one that stays. */
  readonly expiresAt?: Seconds
}

/** True for an application that was approved once: it has a client identifier and approved details. */
export function isPublished(application: Application | undefined): application is PublishedApplication {
  return application?.state === 'approved' || application?.state === 'suspended'
}

/**
 * True for an API that may introspect tokens. Checks an own property, so a polluted prototype cannot make one of an application.
 */
export function isResourceServer(application: Application): boolean {
  return isPublished(application) && Object.hasOwn(application, 'resourceServer')
}

/**
 * Returns what an application has of its own registration; undefined for any other. Reads own properties, so that a polluted prototype
 * neither ends an application nor gives one away.
 */
export function selfRegisteredOf(application: Application | undefined): SelfRegistered | undefined {
  const own = application !== undefined && Object.hasOwn(application, 'selfRegistered') && application.selfRegistered
  return own ? ownOf(own) : undefined
}

/** Returns the secrets that an application has already; undefined for one that gets its first at its approval. */
export function secretsOf(application: Application | undefined): readonly ClientSecret[] | undefined {
  return application !== undefined && Object.hasOwn(application, 'secrets') ? application.secrets : undefined
}

/** A secret to compare with where there is none: as long as a digest, and equal to none. */
const NO_SECRET: ClientSecret = { digest: '-'.repeat(43) as Digest, expiresAt: 0 } // no base64url of 32 bytes ends in it

/**
 * Checks a presented secret against those of the application. It takes the same time for a wrong secret, an unknown application
 * and a public client.
 * @param presented - the digest of the secret that the client sent
 */
export function hasSecret(application: Application | undefined, presented: Digest, now: Seconds): boolean {
  const secrets = isPublished(application) ? application.secrets : []
  let found = false
  for (const { digest, expiresAt } of secrets.length > 0 ? secrets : [NO_SECRET]) {
    const same = constantTimeEqual(digest, presented)
    found = (same && (expiresAt === undefined || now < expiresAt)) || found
  }
  return found
}

/** Limits the resources of a grant to the resource scope that its application is registered with now. */
export function limitResources(granted: Resources, registered: ResourceScope): Resources {
  if (RESOURCE_CHOICES[registered].includes(granted.kind)) return granted
  return registered === 'public' ? { kind: 'public' } : { kind: 'specified', ids: [] }
}

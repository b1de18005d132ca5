/**
 * Applications: the life of a registration from its submission on, as pure transitions of one record, and who may use it.
 *
 *     submit -> pending -> approved | rejected        approved <-> suspended
 *
 * What was approved is in force until a change to it is approved as well: a change waits in the record beside it.
 * @module
 * @see Specification, sections 1 and 2.1
 */

import type { Resources } from '../resource.js'
import type { Scope } from '../scopes.js'
import { narrowScopes } from '../scopes.js'
import { constantTimeEqual } from '../tokens/base64url.js'
import type { ClientId, Digest, Seconds, Subject } from '../values.js'
import type { RegistrationDetails, ResourceScope } from './registration.js'
import { RESOURCE_CHOICES } from './registration.js'

/** The record of an application; `isPublished` tells the two kinds apart. JSON. */
export type Application = SubmittedApplication | PublishedApplication

/** An application that may not be used: nobody has approved it yet, or it was refused for good. */
export interface SubmittedApplication extends ApplicationHead {
  readonly state: 'pending' | 'rejected'
  readonly review: Review
}

/** An application that was approved. A suspended one gets nothing, and its live tokens do not work until it is reinstated. */
export interface PublishedApplication extends ApplicationHead, ApplicationDetails {
  readonly state: 'approved' | 'suspended'
  readonly clientId: ClientId
  /** Newest first; none for a public client. */
  readonly secrets: readonly ClientSecret[]
  readonly approvedAt: Seconds
  /** A change that waits for the administrators, or that they refused. */
  readonly review?: Review
}

/** What every application has. */
export interface ApplicationHead {
  /** Version of this shape. */
  readonly v: 1
  /** Becomes the client identifier at the first approval. */
  readonly id: ClientId
  /** The user who handed it in; absent where an administrator registered it. */
  readonly applicant?: Subject
  /** Counts what was handed in, from 1. */
  readonly revision: number
  readonly createdAt: Seconds
}

/** What is reviewed about an application. */
export interface ApplicationDetails extends RegistrationDetails {
  /** Names the record that holds the logo, as long as it is in force or in review. */
  readonly logo: string
  /** Present for an API that may ask what tokens are good for; no user grants it anything (RFC 7662, section 2.1). */
  readonly resourceServer?: true
}

/** What was handed in, and what came of it. */
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
  readonly digest: Digest
  /** Exclusive; absent for the one that stays. */
  readonly expiresAt?: Seconds
}

/** How many secrets may be good at once. */
export const SECRETS_KEPT = 8

/** What can be asked of an application. */
export type ApplicationCommand =
  | {
      readonly type: 'submit'
      readonly id: ClientId
      readonly applicant?: Subject
      readonly details: ApplicationDetails
    }
  | {
      readonly type: 'change'
      /** Without a logo it keeps the one that it has. */
      readonly details: RegistrationDetails & { readonly logo?: string }
    }
  | {
      readonly type: 'approve'
      /** What was looked at: anything newer is refused, since nobody has reviewed it. */
      readonly revision: number
      /** In normal form; absent grants all that was asked for. */
      readonly scopes?: readonly Scope[]
      /** Of the secret that a confidential client gets if this is its first approval. */
      readonly secretDigest: Digest
    }
  | { readonly type: 'reject'; readonly revision: number; readonly reason: string }
  | { readonly type: 'suspend' }
  | { readonly type: 'reinstate' }
  | {
      readonly type: 'rotate_secret'
      readonly secretDigest: Digest
      /** Seconds that older secrets work on, at most. */
      readonly overlap: Seconds
    }

/** Why a command was refused. */
export type ApplicationRefusal =
  /** There is an application with that identifier. */
  | 'exists'
  /** There is no such application. */
  | 'unknown'
  /** It is not in a state in which this can be done. */
  | 'state'
  /** Something newer was handed in than what was reviewed. */
  | 'outdated'
  /** The scopes are not among those that were asked for. */
  | 'scopes'
  /** A change would make a confidential client public, or the reverse. */
  | 'type'
  /** Too many secrets work at once. */
  | 'secrets'

/** What happened to an application, for the audit trail. */
export interface ApplicationEvent {
  readonly type: 'application'
  readonly at: Seconds
  readonly applicationId: ClientId
  readonly change: 'submitted' | 'changed' | 'approved' | 'rejected' | 'suspended' | 'reinstated' | 'secret_rotated'
  readonly revision: number
}

/** The result of a command: the application as it is from now on, or why not. */
export type ApplicationOutcome =
  | {
      readonly type: 'done'
      readonly application: Application
      /** Absent where the application was so already. */
      readonly event?: ApplicationEvent
    }
  | { readonly type: 'refused'; readonly refusal: ApplicationRefusal }

/**
 * Applies a command to an application: every command has an answer in every state, and none throws.
 * @param application - the record as it was read; undefined where there is none
 */
export function transitionApplication(
  application: Application | undefined,
  command: ApplicationCommand,
  now: Seconds,
): ApplicationOutcome {
  if (command.type === 'submit') return application === undefined ? submit(command, now) : refused('exists')
  if (application === undefined) return refused('unknown')
  switch (command.type) {
    case 'change':
      return change(application, command, now)
    case 'approve':
      return approve(application, command, now)
    case 'reject':
      return reject(application, command, now)
    case 'suspend':
      return move(application, 'suspended', now)
    case 'reinstate':
      return move(application, 'approved', now)
    case 'rotate_secret':
      return rotateSecret(application, command, now)
  }
}

type Asked<Type extends ApplicationCommand['type']> = Extract<ApplicationCommand, { readonly type: Type }>

function submit({ id, applicant, details }: Asked<'submit'>, now: Seconds): ApplicationOutcome {
  const application: SubmittedApplication = {
    v: 1,
    id,
    state: 'pending',
    ...(applicant !== undefined && { applicant }),
    revision: 1,
    createdAt: now,
    review: { state: 'pending', revision: 1, submittedAt: now, details },
  }
  return done(application, 'submitted', now)
}

/** What is in force stays in force; what was handed in before gives way. */
function change(application: Application, { details }: Asked<'change'>, now: Seconds): ApplicationOutcome {
  if (application.state === 'rejected') return refused('state')
  // Nobody hands in a resource server, so nobody changes what it is told by handing in something else.
  if (isResourceServer(application)) return refused('state')
  // Tokens were issued to a client that authenticated, or to one that cannot: neither may become the other.
  if (isPublished(application) && details.type !== application.type) return refused('type')
  const { details: present } = isPublished(application) ? inReview(application) : application.review
  const revision = application.revision + 1
  const review: Review = {
    state: 'pending',
    revision,
    submittedAt: now,
    details: { ...details, logo: details.logo ?? present.logo },
  }
  return done({ ...application, revision, review }, 'changed', now)
}

function approve(application: Application, command: Asked<'approve'>, now: Seconds): ApplicationOutcome {
  const { review } = application
  if (review?.state !== 'pending') return refused('state')
  if (review.revision !== command.revision) return refused('outdated')
  const scopes = narrowScopes(review.details.scopes, command.scopes)
  if (scopes === undefined) return refused('scopes')
  const { v, id, applicant, revision, createdAt } = application
  const secrets = isPublished(application) ? application.secrets : firstSecrets(review.details, command.secretDigest)
  const published: PublishedApplication = {
    v,
    id,
    clientId: id,
    state: application.state === 'suspended' ? 'suspended' : 'approved',
    ...(applicant !== undefined && { applicant }),
    revision,
    createdAt,
    approvedAt: now,
    secrets,
    ...review.details,
    scopes,
    reasons: reasonsFor(scopes, review.details.reasons),
  }
  return done(published, 'approved', now)
}

function reject(application: Application, command: Asked<'reject'>, now: Seconds): ApplicationOutcome {
  const { review } = application
  if (review?.state !== 'pending') return refused('state')
  if (review.revision !== command.revision) return refused('outdated')
  const rejected: Review = { ...review, state: 'rejected', rejectedAt: now, reason: command.reason }
  return isPublished(application)
    ? done({ ...application, review: rejected }, 'rejected', now)
    : done({ ...application, state: 'rejected', review: rejected }, 'rejected', now)
}

function move(application: Application, state: PublishedApplication['state'], now: Seconds): ApplicationOutcome {
  if (!isPublished(application)) return refused('state')
  if (application.state === state) return { type: 'done', application }
  return done({ ...application, state }, state === 'suspended' ? 'suspended' : 'reinstated', now)
}

/** The new secret works at once; each older one for the overlap, or for what it had left where that is less. */
function rotateSecret(application: Application, command: Asked<'rotate_secret'>, now: Seconds): ApplicationOutcome {
  if (!isPublished(application) || application.type === 'public') return refused('state')
  const until = now + command.overlap
  const older = application.secrets
    .map(({ digest, expiresAt = until }) => ({ digest, expiresAt: Math.min(expiresAt, until) }))
    .filter(({ expiresAt }) => now < expiresAt)
  if (older.length >= SECRETS_KEPT) return refused('secrets')
  const secrets = [{ digest: command.secretDigest }, ...older]
  return done({ ...application, secrets }, 'secret_rotated', now)
}

/** Whether an application is, or was, in use: then it has a client identifier and what was approved. */
export function isPublished(application: Application | undefined): application is PublishedApplication {
  return application?.state === 'approved' || application?.state === 'suspended'
}

/** Whether it is an API that may ask what tokens are good for; by a property of its own, since more is opened by it. */
export function isResourceServer(application: Application): boolean {
  return isPublished(application) && Object.hasOwn(application, 'resourceServer')
}

/** Stands in where there is no secret: as long as one, and equal to none. */
const NO_SECRET: ClientSecret = { digest: '-'.repeat(43) as Digest, expiresAt: 0 } // no base64url of 32 bytes ends in it

/**
 * Whether a presented secret is one of the application's, in the same time for a wrong one, an unknown application and a
 * public client.
 * @param presented - the digest of what the client sent
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

/**
 * What a grant opens now that its application is registered with a resource scope: what the user chose and the
 * administrators still admit.
 */
export function limitResources(granted: Resources, registered: ResourceScope): Resources {
  if (RESOURCE_CHOICES[registered].includes(granted.kind)) return granted
  return registered === 'public' ? { kind: 'public' } : { kind: 'specified', ids: [] }
}

/** The reasons of the scopes that were approved; that of a `name:rw` goes with the `name:r` that was made of it. */
function reasonsFor(scopes: readonly Scope[], given: ApplicationDetails['reasons']): ApplicationDetails['reasons'] {
  const reasonOf = new Map(Object.entries(given))
  return Object.fromEntries(
    scopes.flatMap((scope) => {
      const reason = reasonOf.get(scope) ?? reasonOf.get(`${scope}w`)
      return reason === undefined ? [] : [[scope, reason]]
    }),
  )
}

function firstSecrets(details: ApplicationDetails, digest: Digest): readonly ClientSecret[] {
  return details.type === 'confidential' ? [{ digest }] : []
}

/** What an amendment starts from: the change that waits, or else what is in force. */
function inReview(application: PublishedApplication): { readonly details: ApplicationDetails } {
  return application.review?.state === 'pending' ? application.review : { details: application }
}

function done(application: Application, change: ApplicationEvent['change'], now: Seconds): ApplicationOutcome {
  const { id: applicationId, revision } = application
  return { type: 'done', application, event: { type: 'application', at: now, applicationId, change, revision } }
}

function refused(refusal: ApplicationRefusal): ApplicationOutcome {
  return { type: 'refused', refusal }
}

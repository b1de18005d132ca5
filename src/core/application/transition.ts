/**
 * The transitions of an application, as pure functions of its record.
 *
 *     submit -> pending -> approved | rejected        approved <-> suspended
 *
 * A client that registered itself takes the same way; `self-registered/` has what is special about it.
 *
 * The approved details are in force until a change is approved as well: a change waits in the record beside them.
 * @module
 * @see Specification, sections 1 and 2.1
 */

import type { Scope, ScopeCatalogue } from '../scopes.js'
import { narrowScopes } from '../scopes.js'
import type { ClientId, Digest, Seconds, Subject } from '../values.js'
import type {
  Application,
  ApplicationDetails,
  PublishedApplication,
  Review,
  SelfRegistered,
  SubmittedApplication,
} from './application.js'
import { isPublished, isResourceServer, secretsOf, selfRegisteredOf } from './application.js'
import { reasonOf } from './reason.js'
import type { RegistrationDetails } from './registration.js'
import { decidedByAdministrator, keptUntil } from './self-registered/life.js'

/** Secrets that may work at once. */
export const SECRETS_KEPT = 8

/** A command to an application. */
export type ApplicationCommand =
  | {
      readonly type: 'submit'
      readonly id: ClientId
      readonly applicant?: Subject
      readonly details: ApplicationDetails
      /** Given for a client that registers itself. */
      readonly selfRegistered?: SelfRegistered
      /** The digest of the secret that such a client has at once; absent for a public one. */
      readonly secretDigest?: Digest
    }
  | {
      readonly type: 'change'
      /** Without a logo the application keeps its present one. */
      readonly details: RegistrationDetails & { readonly logo?: string }
    }
  | {
      readonly type: 'approve'
      /** The revision that was reviewed: a newer one is refused, since nobody has reviewed it. */
      readonly revision: number
      /** In normal form; absent grants all requested scopes. */
      readonly scopes?: readonly Scope[]
      /** The scopes that the service has. */
      readonly catalogue: ScopeCatalogue
      /** The digest of the secret that a confidential client gets at its first approval. */
      readonly secretDigest: Digest
      /** The time until which a client is kept that the policy of the host approved; absent where an administrator did. */
      readonly keepUntil?: Seconds | undefined
    }
  | {
      readonly type: 'use'
      /** The time until which a client that registered itself is kept now. */
      readonly keepUntil: Seconds
    }
  | { readonly type: 'reject'; readonly revision: number; readonly reason: string }
  | { readonly type: 'suspend' }
  | { readonly type: 'reinstate' }
  | {
      readonly type: 'rotate_secret'
      readonly secretDigest: Digest
      /** Seconds for which older secrets work on, at most. */
      readonly overlap: Seconds
    }

/** The reason for which a command was refused. */
export type ApplicationRefusal =
  /** There is an application with that identifier. */
  | 'exists'
  /** There is no such application. */
  | 'unknown'
  /** The state of the application does not permit the command. */
  | 'state'
  /** A newer revision was handed in than the one that was reviewed. */
  | 'outdated'
  /** The scopes are not among the requested ones. */
  | 'scopes'
  /** A change would make a confidential client public, or the reverse. */
  | 'type'
  /** Too many secrets work at once. */
  | 'secrets'

/** An event of an application, for the audit trail. */
export interface ApplicationEvent {
  /** The kind of the event. */
  readonly type: 'application'
  /** Seconds since the epoch. */
  readonly at: Seconds
  /** The identifier of the application. */
  readonly applicationId: ClientId
  /** The change of the application. */
  readonly change:
    | 'submitted'
    | 'changed'
    | 'approved'
    | 'rejected'
    | 'suspended'
    | 'reinstated'
    | 'secret_rotated'
    | 'deleted'
  /** The revision after the change. */
  readonly revision: number
}

/** The result of a command: the application as it is from now on, or the reason of the refusal. */
export type ApplicationOutcome =
  | {
      readonly type: 'done'
      readonly application: Application
      /** Absent where nothing changed. */
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
  if (command.type === 'submit')
    return application === undefined ? done(submitted(command, now), 'submitted', now) : refused('exists')
  if (application === undefined) return refused('unknown')
  switch (command.type) {
    case 'change':
      return change(application, command, now)
    case 'approve':
      return approve(application, command, now)
    case 'use':
      return use(application, command)
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

/** Makes an application that waits for a decision. */
export function submitted(command: Asked<'submit'>, now: Seconds): SubmittedApplication {
  const { id, applicant, details, selfRegistered, secretDigest } = command
  return {
    v: 1,
    id,
    state: 'pending',
    ...(applicant !== undefined && { applicant }),
    revision: 1,
    createdAt: now,
    ...(selfRegistered !== undefined && { selfRegistered }),
    ...(secretDigest !== undefined && { secrets: [{ digest: secretDigest }] }),
    review: { state: 'pending', revision: 1, submittedAt: now, details },
  }
}

/** Takes in a change. The approved details stay in force; a change that was waiting gives way. */
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
  const scopes = narrowScopes(review.details.scopes, command.scopes, command.catalogue)
  if (scopes === undefined) return refused('scopes')
  const { v, id, applicant, revision, createdAt } = application
  const selfRegistered = selfRegisteredOf(application)
  // One that registered itself has its secret, unless a change before its approval has made it public.
  const secrets = review.details.type === 'public' ? [] : (secretsOf(application) ?? [{ digest: command.secretDigest }])
  const published: PublishedApplication = {
    v,
    id,
    clientId: id,
    state: application.state === 'suspended' ? 'suspended' : 'approved',
    ...(applicant !== undefined && { applicant }),
    ...(selfRegistered !== undefined && { selfRegistered: keptUntil(selfRegistered, command.keepUntil) }),
    revision,
    createdAt,
    approvedAt: now,
    secrets,
    ...review.details,
    scopes,
    reasons: reasonsFor(scopes, review.details.reasons, command.catalogue),
  }
  return done(published, 'approved', now)
}

function reject(application: Application, command: Asked<'reject'>, now: Seconds): ApplicationOutcome {
  const { review } = application
  if (review?.state !== 'pending') return refused('state')
  if (review.revision !== command.revision) return refused('outdated')
  const rejected: Review = { ...review, state: 'rejected', rejectedAt: now, reason: command.reason }
  // Who refuses a change has not looked at what is in force.
  return isPublished(application)
    ? done({ ...application, review: rejected }, 'rejected', now)
    : done({ ...decidedByAdministrator(application), state: 'rejected', review: rejected }, 'rejected', now)
}

function move(application: Application, state: PublishedApplication['state'], now: Seconds): ApplicationOutcome {
  if (!isPublished(application)) return refused('state')
  if (application.state === state) return { type: 'done', application }
  // Suspended for good: were its record removed, a client whose identifier is a URL would come back.
  const decided = decidedByAdministrator(application)
  return done({ ...decided, state }, state === 'suspended' ? 'suspended' : 'reinstated', now)
}

/** Keeps a client that registered itself for longer. It is no change that anybody has to know of. */
function use(application: Application, { keepUntil }: Asked<'use'>): ApplicationOutcome {
  if (!isPublished(application)) return refused('state')
  const selfRegistered = selfRegisteredOf(application)
  const present = selfRegistered?.keepUntil
  if (selfRegistered === undefined || present === undefined || present >= keepUntil)
    return { type: 'done', application }
  return { type: 'done', application: { ...application, selfRegistered: keptUntil(selfRegistered, keepUntil) } }
}

/** Adds a secret, which works at once. Each older one works on for the overlap, or until its own expiry if that is sooner. */
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

/** Returns the reasons of the approved scopes. */
function reasonsFor(
  scopes: readonly Scope[],
  given: ApplicationDetails['reasons'],
  catalogue: ScopeCatalogue,
): ApplicationDetails['reasons'] {
  return Object.fromEntries(
    scopes.flatMap((scope) => {
      const reason = reasonOf(given, scope, catalogue)
      return reason === undefined ? [] : [[scope, reason]]
    }),
  )
}

/** Returns the details that a change starts from: those of the change that waits, or else those in force. */
function inReview(application: PublishedApplication): { readonly details: ApplicationDetails } {
  return application.review?.state === 'pending' ? application.review : { details: application }
}

/** Makes an outcome that changed an application. */
export function done(application: Application, change: ApplicationEvent['change'], now: Seconds): ApplicationOutcome {
  const { id: applicationId, revision } = application
  return { type: 'done', application, event: { type: 'application', at: now, applicationId, change, revision } }
}

/** Makes the outcome of a command that was refused. */
export function refused(refusal: ApplicationRefusal): ApplicationOutcome {
  return { type: 'refused', refusal }
}

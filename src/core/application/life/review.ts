/**
 * The steps of a review: an application or a change is handed in, taken back, approved or rejected.
 * @module
 */
import type { Scope, ScopeCatalogue } from '../../scopes.js'
import { narrowScopes } from '../../scopes.js'
import type { Seconds } from '../../values.js'
import type {
  Application,
  ApplicationDetails,
  PublishedApplication,
  Review,
  SubmittedApplication,
} from '../application.js'
import { isPublished, isResourceServer, secretsOf, selfRegisteredOf } from '../application.js'
import { reasonOf } from '../reason.js'
import { decidedByAdministrator, keptUntil } from '../self-registered/life.js'
import type { CommandOf } from './commands.js'
import type { ApplicationOutcome } from './outcome.js'
import { done, refused, removed } from './outcome.js'
import { termsOf } from './terms.js'

/** Makes an application that waits for a decision. */
export function submitted(command: CommandOf<'submit'>, now: Seconds): SubmittedApplication {
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
export function change(
  application: Application,
  { details, revision: from }: CommandOf<'change'>,
  now: Seconds,
): ApplicationOutcome {
  if (application.state === 'rejected') return refused('state')
  if (from !== undefined && from !== application.revision) return refused('outdated')
  // Nobody hands in a resource server, so nobody changes what it is told by handing in something else.
  if (isResourceServer(application)) return refused('state')
  // Tokens were issued to a client that authenticated, or to one that cannot: neither may become the other.
  if (isPublished(application) && details.type !== application.type) return refused('type')
  const present = detailsToChange(application)
  const revision = application.revision + 1
  const review: Review = {
    state: 'pending',
    revision,
    submittedAt: now,
    details: { ...details, logo: details.logo ?? present.logo },
  }
  return done({ ...application, revision, review }, 'changed', now)
}

/** Returns the details that a change starts from: those that wait, or else those in force. */
export function detailsToChange(application: Application): ApplicationDetails {
  if (!isPublished(application)) return application.review.details
  return application.review?.state === 'pending' ? application.review.details : application
}

/** Takes back what waits, or what was refused. An application that was never approved is gone with it. */
export function withdraw(application: Application, now: Seconds): ApplicationOutcome {
  if (!isPublished(application)) {
    // A client whose identifier is a URL would come back with the next link.
    const comesBack = selfRegisteredOf(application)?.document !== undefined
    return comesBack ? refused('state') : removed(application, 'withdrawn', now)
  }
  const { review, ...rest } = application
  return review === undefined ? refused('state') : done(rest, 'withdrawn', now)
}

/** Puts in force what waits. */
export function approve(application: Application, command: CommandOf<'approve'>, now: Seconds): ApplicationOutcome {
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
    ...(isPublished(application) && Object.hasOwn(application, 'terms') && { terms: termsOf(application) }),
    ...review.details,
    scopes,
    reasons: reasonsFor(scopes, review.details.reasons, command.catalogue),
  }
  return done(published, 'approved', now)
}

/** Refuses what waits. */
export function reject(application: Application, command: CommandOf<'reject'>, now: Seconds): ApplicationOutcome {
  const { review } = application
  if (review?.state !== 'pending') return refused('state')
  if (review.revision !== command.revision) return refused('outdated')
  const rejected: Review = { ...review, state: 'rejected', rejectedAt: now, reason: command.reason }
  // Who refuses a change has not looked at what is in force.
  return isPublished(application)
    ? done({ ...application, review: rejected }, 'rejected', now)
    : done({ ...decidedByAdministrator(application), state: 'rejected', review: rejected }, 'rejected', now)
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

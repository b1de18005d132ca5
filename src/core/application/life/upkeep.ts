/**
 * The steps of an application outside of its review: its state, its secrets, its applicant, its terms and its end.
 * @module
 */
import type { Seconds } from '../../values.js'
import type { Application, PublishedApplication } from '../application.js'
import { isPublished, isResourceServer, selfRegisteredOf } from '../application.js'
import { decidedByAdministrator, keptUntil } from '../self-registered/life.js'
import type { CommandOf } from './commands.js'
import type { ApplicationOutcome } from './outcome.js'
import { done, refused, removed } from './outcome.js'

/** Secrets that may work at once. */
export const SECRETS_KEPT = 8

/** Suspends or reinstates a published application. */
export function move(application: Application, state: PublishedApplication['state'], now: Seconds): ApplicationOutcome {
  if (!isPublished(application)) return refused('state')
  if (application.state === state) return { type: 'done', application }
  // Suspended for good: were its record removed, a client whose identifier is a URL would come back.
  const decided = decidedByAdministrator(application)
  return done({ ...decided, state }, state === 'suspended' ? 'suspended' : 'reinstated', now)
}

/** Keeps a client that registered itself for longer. It is no change that anybody has to know of. */
export function use(application: Application, { keepUntil }: CommandOf<'use'>): ApplicationOutcome {
  if (!isPublished(application)) return refused('state')
  const selfRegistered = selfRegisteredOf(application)
  const present = selfRegistered?.keepUntil
  if (selfRegistered === undefined || present === undefined || present >= keepUntil)
    return { type: 'done', application }
  return { type: 'done', application: { ...application, selfRegistered: keptUntil(selfRegistered, keepUntil) } }
}

/**
 * Adds a secret, which works at once. Each older one works on for the overlap, or until its own expiry if that is sooner. One that is
 * there already changes nothing, so that a wish may come twice, and a wish that comes late brings no older secret back.
 */
export function rotateSecret(
  application: Application,
  command: CommandOf<'rotate_secret'>,
  now: Seconds,
): ApplicationOutcome {
  if (!isPublished(application) || application.type === 'public') return refused('state')
  if (application.secrets.some(({ digest }) => digest === command.secretDigest)) return { type: 'done', application }
  const until = now + command.overlap
  const older = application.secrets
    .map(({ digest, expiresAt = until }) => ({ digest, expiresAt: Math.min(expiresAt, until) }))
    .filter(({ expiresAt }) => now < expiresAt)
  if (older.length >= SECRETS_KEPT) return refused('secrets')
  const secrets = [{ digest: command.secretDigest }, ...older]
  return done({ ...application, secrets }, 'secret_rotated', now)
}

/** Gives an application to another applicant. */
export function transfer(
  application: Application,
  { applicant }: CommandOf<'transfer'>,
  now: Seconds,
): ApplicationOutcome {
  if (isResourceServer(application)) return refused('state')
  if (application.applicant === applicant) return { type: 'done', application }
  return done({ ...application, applicant }, 'transferred', now, { applicant })
}

/** Sets what administrators alone decide on. */
export function setTerms(
  application: Application,
  { terms }: CommandOf<'set_terms'>,
  now: Seconds,
): ApplicationOutcome {
  if (!isPublished(application) || isResourceServer(application)) return refused('state')
  // Such a client may change its redirect URIs without an administrator.
  if (terms.firstParty === true && selfRegisteredOf(application) !== undefined) return refused('state')
  const { terms: _, ...rest } = application
  return done(Object.keys(terms).length === 0 ? rest : { ...rest, terms }, 'terms_set', now, { terms })
}

/**
 * Removes an application. A live one is suspended first, so that nobody gets anything of it while its grants are ended. A client whose
 * identifier is a URL stays, since it would come back with the next link, whatever was decided on it.
 */
export function remove(application: Application, now: Seconds): ApplicationOutcome {
  if (selfRegisteredOf(application)?.document !== undefined) return refused('state')
  return application.state === 'approved' ? refused('state') : removed(application, 'deleted', now)
}

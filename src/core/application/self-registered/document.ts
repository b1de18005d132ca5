/**
 * Clients whose identifier is the URL of their metadata. What the document says is read again and again, and its author may write
 * something else each time: what a document takes away is gone at once, what it adds is decided on as a registration is.
 * @module
 * @see draft-ietf-oauth-client-id-metadata-document
 */
import type { Scope, ScopeCatalogue } from '../../scopes.js'
import type { ClientId, Digest, Seconds } from '../../values.js'
import type { Application, ApplicationDetails, KeptDocument, PublishedApplication, Review } from '../application.js'
import { isPublished, selfRegisteredOf } from '../application.js'
import type { ApplicationOutcome } from '../life/outcome.js'
import { done, refused } from '../life/outcome.js'
import { submitted } from '../life/review.js'
import type { RegistrationDetails } from '../registration.js'
import { transitionApplication } from '../transition.js'
import { isUnreviewed, UNUSED_LIFETIME, WAITING_LIFETIME } from './life.js'

/** The decision of the host's policy on a client. */
export type ClientDecision =
  | { readonly type: 'approve'; readonly scopes: readonly Scope[] }
  | { readonly type: 'review' }
  | { readonly type: 'refuse' }

/**
 * Returns the details of a client for its record: with the scopes that the policy approved, more or fewer than the client asks for, or
 * those that it asks an administrator for.
 * @see RFC 7591, section 3.2.1: a server may replace what a client asks for
 */
export function detailsFor(details: RegistrationDetails, decision: ClientDecision): ApplicationDetails {
  return { ...details, ...(decision.type === 'approve' && { scopes: decision.scopes }), logo: '' }
}

/** A document that was read, and the decision on it. */
export interface ReadDocument {
  /** The identifier of the client. */
  readonly id: ClientId
  /** The content of the document. */
  readonly details: RegistrationDetails
  readonly document: KeptDocument
  /** The decision on what it says; absent where it said the same as before, so that nobody was asked. */
  readonly decision?: ClientDecision
  /** The scopes that the service has. */
  readonly catalogue: ScopeCatalogue
}

/**
 * The time from which a document is due again; undefined for an application without one, or that nothing can change. A client that an
 * administrator gave a secret is no more what a document says, since that speaks for clients without one.
 */
export function documentDueAt(application: Application | undefined): Seconds | undefined {
  if (application?.state !== 'approved' && application?.state !== 'pending') return undefined
  if (isPublished(application) && application.type === 'confidential') return undefined
  return selfRegisteredOf(application)?.document?.until
}

/** True for a document that says the same as when it was read last. */
export function isSameDocument(application: Application | undefined, digest: Digest): boolean {
  return selfRegisteredOf(application)?.document?.digest === digest
}

/**
 * Adopts a document. It never keeps a client for longer, and opens no redirect URI that nobody decided on.
 * @param application - the record as it was read; undefined for a client that is new
 */
export function adoptDocument(
  application: Application | undefined,
  read: ReadDocument,
  now: Seconds,
): ApplicationOutcome {
  if (application === undefined) return registerByDocument(read, now)
  const selfRegistered = selfRegisteredOf(application)
  // Two identifiers may have one key, one of another kind may look like a URL, and a decision of an administrator stands.
  const isOfDocument = application.id === read.id && documentDueAt(application) !== undefined
  if (!isOfDocument || selfRegistered === undefined) return refused('state')
  const { document, decision } = read
  const current = { ...application, selfRegistered: { ...selfRegistered, document } }
  if (isSameDocument(application, document.digest)) return { type: 'done', application: current }
  if (decision === undefined) return refused('outdated')
  if (decision.type === 'refuse')
    return { type: 'done', application: narrowed(notAdopted(application, document.until), read) }
  const review: Review = {
    state: 'pending',
    revision: application.revision + 1,
    submittedAt: now,
    details: detailsFor(read.details, decision),
  }
  const changed = { ...narrowed(current, read), revision: review.revision, review }
  return decideOn(changed, read, now)
}

/** Registers a client that is new. Nothing is kept of one that the policy refuses. */
function registerByDocument(read: ReadDocument, now: Seconds): ApplicationOutcome {
  const { id, details, document, decision } = read
  if (decision === undefined || decision.type === 'refuse') return refused('unknown')
  const selfRegistered = { keepUntil: now + WAITING_LIFETIME, document }
  const submit = { type: 'submit', id, details: detailsFor(details, decision), selfRegistered } as const
  return decideOn(submitted(submit, now), read, now)
}

/**
 * Approves what waits in an application, where the policy does. The policy cannot undo what an administrator decided: then the change
 * waits for one.
 */
function decideOn(application: Application, { decision, catalogue }: ReadDocument, now: Seconds): ApplicationOutcome {
  const { revision } = application
  if (decision?.type !== 'approve' || !isUnreviewed(application))
    return done(application, revision === 1 ? 'submitted' : 'changed', now)
  // The end of one that is in use stays.
  const keepUntil = isPublished(application) ? selfRegisteredOf(application)?.keepUntil : now + UNUSED_LIFETIME
  const { scopes } = decision
  const approve = { type: 'approve', revision, scopes, catalogue, secretDigest: NO_SECRET, keepUntil } as const
  return transitionApplication(application, approve, now)
}

/** A public client has no secret. */
const NO_SECRET = '' as Digest // never read

/** Returns an application whose document is not adopted: it is read again when it is due, and decided on again. */
function notAdopted(application: Application, until: Seconds): Application {
  const selfRegistered = selfRegisteredOf(application)
  return { ...application, selfRegistered: { ...selfRegistered, document: { digest: NO_DIGEST, until } } }
}

/** A digest that no document has. */
const NO_DIGEST = '' as Digest // equal to none

/** Takes away the redirect URIs that a document no longer has. */
function narrowed<Narrowed extends Application>(application: Narrowed, { details }: ReadDocument): Narrowed {
  if (!isPublished(application)) return application
  const published: PublishedApplication & Narrowed = application
  const redirectUris = published.redirectUris.filter((uri) => details.redirectUris.includes(uri))
  return { ...application, redirectUris }
}

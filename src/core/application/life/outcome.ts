/**
 * The outcome of a command to an application, and its event.
 * @module
 */
import type { ClientId, Seconds, Subject } from '../../values.js'
import type { Application, ApplicationTerms } from '../application.js'

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
    | 'withdrawn'
    | 'transferred'
    | 'terms_set'
    | 'deleted'
  /** The revision after the change. */
  readonly revision: number
  /** The new terms, where they were set. */
  readonly terms?: ApplicationTerms
  /** The new applicant, where it was transferred. */
  readonly applicant?: Subject
  /** The one who did it, as the host named it; absent where the host named nobody. */
  readonly actor?: Subject
}

/** The result of a command: the application as it is from now on, or the reason of the refusal. */
export type ApplicationOutcome =
  | {
      readonly type: 'done'
      readonly application: Application
      /** Absent where nothing changed. */
      readonly event?: ApplicationEvent
    }
  /** The application is gone, and its record with it. */
  | { readonly type: 'removed'; readonly event: ApplicationEvent }
  | { readonly type: 'refused'; readonly refusal: ApplicationRefusal }

/** Makes an outcome that changed an application. */
export function done(
  application: Application,
  change: ApplicationEvent['change'],
  now: Seconds,
  more: Pick<ApplicationEvent, 'terms' | 'applicant'> = {},
): ApplicationOutcome {
  return { type: 'done', application, event: { ...eventOf(application, change, now), ...more } }
}

/** Makes the outcome of an application that is removed. */
export function removed(
  application: Application,
  change: ApplicationEvent['change'],
  now: Seconds,
): ApplicationOutcome {
  return { type: 'removed', event: eventOf(application, change, now) }
}

function eventOf(
  { id: applicationId, revision }: Application,
  change: ApplicationEvent['change'],
  at: Seconds,
): ApplicationEvent {
  return { type: 'application', at, applicationId, change, revision }
}

/** Makes the outcome of a command that was refused. */
export function refused(refusal: ApplicationRefusal): ApplicationOutcome {
  return { type: 'refused', refusal }
}

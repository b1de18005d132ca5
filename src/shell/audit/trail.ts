/**
 * The audit trail of a server. The code that writes events is loaded after the start, and not at all where nobody listens.
 * @module
 */
import type { OAuthError } from '../../core/errors.js'
import type { AuditEvent, AuditSettings, AuditTrail } from '../audit.js'
import { lazy } from '../lazy.js'
import type { MaybePromise } from '../maybe-promise.js'
import { andThen, isPromise } from '../maybe-promise.js'
import { unavailable } from '../records/checked-store.js'

const NOBODY_LISTENS: AuditTrail = {
  announce: () => undefined,
  conclude: () => undefined,
  refuse: () => {},
  isWritten: () => true,
}

/** Creates the audit trail of a server. */
export function createAuditTrail(
  settings: AuditSettings & {
    readonly audit: 'reported' | 'required'
    readonly onEvent: ((event: AuditEvent) => unknown) | undefined
  },
): AuditTrail {
  const { audit, onEvent, onError } = settings
  if (onEvent === undefined) return NOBODY_LISTENS
  const isRequired = audit === 'required'
  const loaded = lazy(async () =>
    isRequired
      ? (await import('./required.js')).createRequiredTrail(settings, onEvent)
      : (await import('./reported.js')).createReportedTrail(settings, onEvent),
  )

  /** Uses the trail once it is loaded. */
  function use<Result>(otherwise: Result, go: (trail: AuditTrail) => MaybePromise<Result>): MaybePromise<Result> {
    const used = andThen(loaded(), go)
    if (!isPromise(used)) return used
    return used.catch((error: unknown) => {
      onError(error)
      return otherwise
    })
  }

  return {
    announce: (events, request) =>
      isRequired && events.length > 0
        ? use<OAuthError | undefined>(unavailable('audit_failed'), (trail) => trail.announce(events, request))
        : undefined,
    conclude: (events, stored, request) =>
      events.length > 0 ? use<unknown>(undefined, (trail) => trail.conclude(events, stored, request)) : undefined,
    refuse: (request, ...refusal) => use<unknown>(undefined, (trail) => trail.refuse(request, ...refusal)),
    isWritten: (request) => (isRequired ? use(false, (trail) => trail.isWritten(request)) : true),
  }
}

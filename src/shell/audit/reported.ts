/**
 * The audit trail that only observes (`audit: 'reported'`): each event is told once its change is stored.
 * @module
 */
import type { AuditEvent, AuditSettings, AuditTrail } from '../audit.js'
import { harmless } from '../host.js'
import { refusedEvent } from './refused.js'
import { describeRequest } from './request.js'

/** Creates the trail. */
export function createReportedTrail(settings: AuditSettings, onEvent: (event: AuditEvent) => unknown): AuditTrail {
  const tell = harmless(onEvent, settings.onError)
  return {
    announce: () => undefined,
    conclude: (events, stored, request) => {
      if (stored === true) for (const event of events) tell({ ...event, ...describeRequest(settings, request) })
    },
    refuse: (request, ...refusal) => tell(refusedEvent(settings, request, refusal)),
    isWritten: () => true,
  }
}

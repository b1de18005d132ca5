/**
 * The audit trail that must be written (`audit: 'required'`): each event is written before its change is stored, and nothing happens where
 * it cannot be written.
 * @module
 */
import type { OAuthError } from '../../core/errors.js'
import type { AuditEvent, AuditSettings, AuditTrail, ChangeEvent, RequestSource } from '../audit.js'
import { unavailable } from '../records/checked-store.js'
import { refusedEvent } from './refused.js'
import { describeRequest } from './request.js'

/** Creates the trail. */
export function createRequiredTrail(settings: AuditSettings, onEvent: (event: AuditEvent) => unknown): AuditTrail {
  /** The refusals of each request that are being written. */
  const writing = new WeakMap<RequestSource, Promise<boolean>>()

  async function write(events: readonly AuditEvent[]): Promise<boolean> {
    try {
      for (const event of events) await onEvent(event)
      return true
    } catch (error) {
      settings.onError(error)
      return false
    }
  }

  async function announce(
    events: readonly ChangeEvent[],
    request: RequestSource | undefined,
  ): Promise<OAuthError | undefined> {
    const source = describeRequest(settings, request)
    const isWritten = await write(events.map((event) => ({ ...event, ...source })))
    return isWritten ? undefined : unavailable('audit_failed')
  }

  return {
    announce: (events, request) => (events.length === 0 ? undefined : announce(events, request)),

    conclude: (events, stored, request) => {
      if (stored === true || events.length === 0) return undefined
      const cause = stored === false ? 'overtaken' : 'unknown'
      const at = settings.clock()
      return write([{ type: 'not_stored', at, cause, events, ...describeRequest(settings, request) }])
    },

    refuse: (request, ...refusal) => {
      const before = writing.get(request)
      const written = write([refusedEvent(settings, request, refusal)])
      writing.set(
        request,
        before === undefined ? written : Promise.all([before, written]).then((all) => !all.includes(false)),
      )
    },

    isWritten: (request) => {
      const written = writing.get(request)
      writing.delete(request)
      return written ?? true
    },
  }
}

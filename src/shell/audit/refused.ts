/**
 * The event of a refused request.
 * @module
 */
import type { RefusalReason } from '../../core/errors.js'
import type { AuditEvent, AuditSettings, RefusedAbout, ReportRefusal, RequestSource } from '../audit.js'
import { bareRedirectUri, describeRequest, routeOf } from './request.js'

/** Reasons for which the client identifier was not verified. It may be any text then, even a misplaced secret. */
const UNVERIFIED: ReadonlySet<RefusalReason> = new Set(['client_unknown', 'store_failed'])

/** Own properties alone: a polluted prototype would be read otherwise. */
const NOTHING: RefusedAbout = Object.freeze(Object.create(null))

/** Makes the event of a refused request. */
export function refusedEvent(
  settings: AuditSettings,
  request: RequestSource,
  [endpoint, reason, error, about = NOTHING]: Parameters<ReportRefusal>,
): AuditEvent {
  const { clientId, redirectUri } = about
  const all = {
    error,
    ...about,
    clientId: UNVERIFIED.has(reason) ? undefined : clientId,
    redirectUri: redirectUri === undefined ? undefined : bareRedirectUri(redirectUri),
    route: endpoint === 'api' ? routeOf(request) : undefined,
  }
  const known = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return { type: 'refused', at: settings.clock(), endpoint, reason, ...known, ...describeRequest(settings, request) }
}

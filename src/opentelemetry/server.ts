/**
 * The telemetry of a server: a span and a duration for each request and each guarded call, and counts of what happened.
 * @module
 * @see OpenTelemetry semantic conventions, "HTTP server spans"
 */
import type { Attributes, Context } from '@opentelemetry/api'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { isObject } from '../core/takes.js'
import { ownOf } from '../core/values.js'
import type { Guard } from '../guard/guard.js'
import { ENDPOINT_PATHS } from '../protocol/endpoint-paths.js'
import type { HttpBody, HttpHeaders, HttpRequest, HttpResponse } from '../protocol/message.js'
import { originForm, pathOf } from '../protocol/message.js'
import { decodeComponent } from '../protocol/parameters.js'
import { DEVICE_CODE_GRANT } from '../protocol/token.js'
import type { AuthorizationServer, HttpHandler } from '../server.js'
import type { AuditEvent } from '../shell/audit.js'
import type { MaybePromise } from '../shell/maybe-promise.js'
import type { AuthorizationServerOptions } from '../shell/options.js'
import type { Instruments, TelemetryOptions } from './options.js'
import { createInstruments } from './options.js'
import type { ObservedRequest } from './request.js'
import { activeRequest, withRequest } from './request.js'
import { runInSpan } from './span.js'
import { observeStore } from './store.js'

/** A function that creates a server, such as `createAuthorizationServer`. */
export type CreateServer<Native> = (options: AuthorizationServerOptions<Native>) => AuthorizationServer<Native>

/**
 * Creates a server with telemetry: a span for each request, each guarded call and each round trip to the store, and their metrics. No span and no
 * metric has a secret, a user, or the query of an address.
 * @param create - `createAuthorizationServer` of `grantwell`
 * @param options - the options of the server. Its store gets telemetry too, unless it has it already
 * @throws GrantwellError `ERR_CONFIGURATION` for a wrong option
 * @example
 * ```ts
 * const server = instrumentServer(createAuthorizationServer, { issuer, store, user, signInUrl })
 * ```
 */
export function instrumentServer<Native = unknown>(
  create: CreateServer<Native>,
  options: AuthorizationServerOptions<Native>,
  telemetry: TelemetryOptions = {},
): AuthorizationServer<Native> {
  const instruments = createInstruments('instrumentServer', telemetry)
  const { store, onEvent } = options
  const server = create({
    ...options,
    ...(isObject(store) && { store: observeStore(store, instruments) }),
    // A server that must write its events refuses to start without a function that does.
    ...((onEvent !== undefined || options.audit !== 'required') && {
      onEvent: (event: AuditEvent) => {
        count(instruments, event)
        return onEvent?.(event)
      },
    }),
  })
  const guard: AuthorizationServer<Native>['guard'] = (needs) => observeGuard(instruments, server.guard(needs))
  const authenticate = server.authenticate as (...args: unknown[]) => ReturnType<Guard> // for any needs
  return {
    ...server,
    handle: observeHandle(instruments, server),
    guard,
    authenticate: (async (...args: unknown[]) =>
      observeCheck(instruments, () => authenticate(...args))) as typeof server.authenticate, // as of the line above
  }
}

/** Counts an event, and writes on the span of its request to whom it happened. */
function count({ grants, applications }: Instruments, event: AuditEvent): void {
  const request = activeRequest()
  if ('grantId' in event && event.grantId !== undefined) request?.span.setAttribute('grantwell.grant_id', event.grantId)
  if ('clientId' in event && event.clientId !== undefined)
    request?.span.setAttribute('grantwell.client_id', event.clientId)
  if (event.type === 'refused') {
    if (request !== undefined) request.reason = event.reason
  } else if (event.type === 'application') {
    applications.add(1, { 'grantwell.change': event.change })
  } else {
    grants.add(1, {
      'grantwell.event': event.type,
      ...('cause' in event && { 'grantwell.cause': event.cause }),
      ...('retry' in event && { 'grantwell.retry': event.retry }),
    })
  }
}

/** The names of the endpoints as the audit trail has them, and the ends of their paths. */
const ENDPOINTS = Object.entries(ENDPOINT_PATHS).map(([name, path]) => {
  const words = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return [words, path] as const
})

/** Observes the answers of a server. */
function observeHandle<Native>(
  instruments: Instruments,
  server: HttpHandler<Native>,
): AuthorizationServer<Native>['handle'] {
  return (request) => {
    if (!server.owns(request.url)) return server.handle(request)
    const route = pathOf(originForm(request.url))
    const grantType = grantTypeOf(request)
    const by: Attributes = {
      'grantwell.endpoint': ENDPOINTS.find(([, path]) => route.endsWith(path))?.[0] ?? 'document',
      ...(grantType !== undefined && { 'grantwell.grant_type': grantType }),
    }
    const method = METHODS.has(request.method) ? request.method : '_OTHER'
    const attributes = { 'http.request.method': method, 'http.route': route, ...by }
    return observe<HttpResponse<string | Uint8Array> | undefined>(
      instruments,
      { name: `${method} ${route}`, parent: parentOf(request.headers), attributes, by },
      () => server.handle(request),
      (answer) => answer?.status,
    )
  }
}

/** The methods of HTTP that a span may name (semantic conventions, "HTTP attributes"). */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])

/** The grant types by their names. Any other is `other`: a stranger must not be able to make up a new series of a metric. */
const GRANT_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['authorization_code', 'authorization_code'],
  ['refresh_token', 'refresh_token'],
  [DEVICE_CODE_GRANT, 'device_code'],
])

/** Returns the grant type of a request, by a name of {@link GRANT_TYPES}; undefined for a request without one. */
function grantTypeOf({ body }: HttpRequest<unknown>): string | undefined {
  const sent = sentGrantType(body)
  return sent === undefined ? undefined : (GRANT_TYPES.get(sent) ?? 'other')
}

/** Reads the grant type of a body, as text or as an earlier middleware has parsed it. */
function sentGrantType(body: HttpBody | undefined): unknown {
  if (body?.type === 'parsed') return isObject(body.fields) ? ownOf(body.fields)['grant_type'] : undefined
  if (body?.type !== 'text') return undefined
  const [, sent] = /(?:^|&)grant_type=([^&]{0,80})/.exec(body.text) ?? []
  return sent === undefined ? undefined : (decodeComponent(sent) ?? sent)
}

/** Returns the context that a request belongs to: the active one, or the one that its headers name. */
function parentOf(headers: HttpHeaders): Context {
  const active = context.active()
  return trace.getSpan(active) === undefined ? propagation.extract(active, headers) : active
}

/** Observes a guard. */
function observeGuard(instruments: Instruments, guard: Guard): Guard {
  const check = guard as (...args: unknown[]) => ReturnType<Guard> // it counts its arguments, so they are passed on as they came
  return ((...args: unknown[]) => observeCheck(instruments, () => check(...args))) as Guard // as of the line above
}

const BY_GUARD: Attributes = { 'grantwell.endpoint': 'api' }

/** Observes the check of one guarded call. */
function observeCheck(instruments: Instruments, check: () => ReturnType<Guard>): ReturnType<Guard> {
  return observe(
    instruments,
    { name: 'grantwell guard', parent: context.active(), attributes: BY_GUARD, by: BY_GUARD, kind: SpanKind.INTERNAL },
    check,
    (checked) => (checked.type === 'refused' ? checked.response.status : 200),
  )
}

/** A request as it begins. */
interface Begun {
  readonly name: string
  readonly parent: Context
  readonly attributes: Attributes
  /** The attributes of its metric. */
  readonly by: Attributes
  /** By default the server's own span, or one within that of the host's HTTP server. */
  readonly kind?: SpanKind
}

/** Runs the work on a request in its span, and measures it. */
function observe<Result>(
  { tracer, requests }: Instruments,
  { name, parent, attributes, by, kind }: Begun,
  work: () => MaybePromise<Result>,
  statusOf: (result: Result) => number | undefined,
): MaybePromise<Result> {
  const isInside = trace.getSpan(parent)?.isRecording() === true
  const span = tracer.startSpan(
    name,
    { kind: kind ?? (isInside ? SpanKind.INTERNAL : SpanKind.SERVER), attributes },
    parent,
  )
  const request: ObservedRequest = { span }
  return runInSpan(span, withRequest(parent, request), work, (ended, seconds) => {
    const status = ('result' in ended ? statusOf(ended.result) : undefined) ?? 500
    const told: Attributes = {
      'grantwell.result':
        status >= 500 ? 'failed' : status >= 400 || request.reason !== undefined ? 'refused' : 'answered',
      'http.response.status_code': status,
      ...(request.reason !== undefined && { 'grantwell.reason': request.reason }),
    }
    span.setAttributes(told)
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    requests.record(seconds, { ...by, ...told })
  })
}

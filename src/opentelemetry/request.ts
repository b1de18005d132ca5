/**
 * The request that is being answered, as the spans and metrics of its round trips and events find it: by the active context.
 * @module
 */
import type { Context, Span } from '@opentelemetry/api'
import { context, createContextKey } from '@opentelemetry/api'

/** A request while it is answered. */
export interface ObservedRequest {
  readonly span: Span
  /** The reason for which it was refused, as the audit trail has it. */
  reason?: string
  /** True after a conflict, until the decision is made anew. */
  retries?: boolean
}

const KEY = createContextKey('grantwell.request')

/** Returns the context of the work on a request. */
export function withRequest(parent: Context, request: ObservedRequest): Context {
  return parent.setValue(KEY, request)
}

/** Returns the request that the code which runs now answers; undefined for none, and where no context manager is registered. */
export function activeRequest(): ObservedRequest | undefined {
  return context.active().getValue(KEY) as ObservedRequest | undefined // `withRequest` alone sets it
}

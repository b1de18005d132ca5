/**
 * Work in a span: at once, or by a promise.
 * @module
 */
import type { Context, Span } from '@opentelemetry/api'
import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import type { MaybePromise } from '../shell/maybe-promise.js'
import { isPromise } from '../shell/maybe-promise.js'

/** The end of a piece of work: its result, or the kind of its error. */
export type Ended<Result> = { readonly result: Result } | { readonly errorType: string }

/**
 * Runs work in a span, and ends the span after it. An error is passed on. The span gets its kind alone, since a message may have a secret.
 * @param parent - the context that the span was made in
 * @param onEnd - called just before the span ends, with the seconds that the work took
 */
export function runInSpan<Result>(
  span: Span,
  parent: Context,
  work: () => MaybePromise<Result>,
  onEnd: (ended: Ended<Result>, seconds: number) => void,
): MaybePromise<Result> {
  const begun = performance.now()
  const end = (ended: Ended<Result>): void => {
    if ('errorType' in ended) {
      span.setAttribute('error.type', ended.errorType)
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
    onEnd(ended, (performance.now() - begun) / 1000)
    span.end()
  }
  const succeed = (result: Result): Result => {
    end({ result })
    return result
  }
  const fail = (error: unknown): never => {
    end({ errorType: errorTypeOf(error) })
    throw error
  }
  let working: MaybePromise<Result>
  try {
    working = context.with(trace.setSpan(parent, span), work)
  } catch (error) {
    return fail(error)
  }
  return isPromise(working) ? working.then(succeed, fail) : succeed(working)
}

/** Returns the code of an error, or the name of its class. Neither has anything of a request in it. */
function errorTypeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown } // any value can be thrown
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : error instanceof Error ? error.name : '_OTHER'
}

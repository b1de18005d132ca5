/**
 * The telemetry of a store: a span and a duration for each round trip.
 * @module
 * @see OpenTelemetry semantic conventions, "Database client spans"
 */
import type { Attributes, Link } from '@opentelemetry/api'
import { context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api'
import type { MaybePromise } from '../shell/maybe-promise.js'
import type { RecordStore } from '../storage/record-store.js'
import type { Engine, EngineObserver, WithEngine } from '../storage/shared/engine.js'
import { ENGINE } from '../storage/shared/engine.js'
import type { Instruments, TelemetryOptions } from './options.js'
import { createInstruments } from './options.js'
import { activeRequest } from './request.js'
import { runInSpan } from './span.js'

/** The name of a property that an instrumented store has. */
const INSTRUMENTED: unique symbol = Symbol.for('grantwell.instrumented')

/** Options of {@link instrumentStore}. */
export interface StoreTelemetryOptions extends TelemetryOptions {
  /**
   * The name of the engine, `db.system.name` of the semantic conventions, such as `mysql`. The stores of this package tell it themselves;
   * `_OTHER` by default for the store in memory and for any other.
   */
  readonly system?: string
}

/**
 * Gives a store telemetry: a span and a duration for each call of `read`, `write` and `list`, and counts of conflicts, retries and removed
 * records. No span has a key, a label or a value. Where a store gathers calls, each round trip to the engine has a span of its own, with links
 * to the spans of the calls that it carries.
 * @returns the store, with all that it has
 * @throws GrantwellError `ERR_CONFIGURATION` for a wrong option
 */
export function instrumentStore<Store extends RecordStore>(store: Store, options: StoreTelemetryOptions = {}): Store {
  const { system, ...others } = options
  return observeStore(store, createInstruments('instrumentStore', others), system)
}

/** Observes a store, unless it is observed already. */
export function observeStore<Store extends RecordStore>(store: Store, instruments: Instruments, named?: string): Store {
  if (INSTRUMENTED in store) return store
  const engine = engineOf(store)
  const system = named ?? engine?.system ?? '_OTHER'
  if (engine !== undefined) engine.observer = createObserver(instruments, system)
  const { tracer, operations, conflicts, retries } = instruments

  function call<Result>(
    operation: 'read' | 'write' | 'list',
    more: Attributes,
    go: () => MaybePromise<Result>,
    onResult?: (result: Result) => void,
  ): MaybePromise<Result> {
    const attributes = { 'db.system.name': system, 'db.operation.name': operation, ...more }
    const parent = context.active()
    const span = tracer.startSpan(`${operation} records`, { kind: SpanKind.CLIENT, attributes }, parent)
    return runInSpan(span, parent, go, (ended, seconds) => {
      if ('result' in ended) onResult?.(ended.result)
      const failed = 'errorType' in ended ? { 'error.type': ended.errorType } : {}
      operations.record(seconds, { 'db.system.name': system, 'db.operation.name': operation, ...failed })
    })
  }

  const observed: RecordStore = {
    read: (keys) => {
      const request = activeRequest()
      if (request?.retries === true) {
        request.retries = false
        retries.add(1)
      }
      return call('read', keys.length > 1 ? { 'db.operation.batch.size': keys.length } : {}, () => store.read(keys))
    },
    write: (key, value, how) =>
      call(
        'write',
        {},
        () => store.write(key, value, how),
        (isWritten) => {
          if (isWritten) return
          conflicts.add(1)
          const request = activeRequest()
          if (request !== undefined) request.retries = true
        },
      ),
    list: (label, page) => call('list', {}, () => store.list(label, page)),
  }
  return withMethods(store, { ...observed, [INSTRUMENTED]: true })
}

/**
 * Returns a store with other methods. What it has besides stays its own: its functions and getters work on the store itself. The copy
 * beneath is for a frozen store, whose properties a proxy could not replace.
 */
function withMethods<Store extends RecordStore>(store: Store, methods: RecordStore & { [INSTRUMENTED]: true }): Store {
  return new Proxy(
    { ...store },
    {
      get(_, name) {
        if (Object.hasOwn(methods, name)) return Reflect.get(methods, name)
        const value: unknown = Reflect.get(store, name, store)
        return typeof value === 'function' ? value.bind(store) : value
      },
      has: (_, name) => name === INSTRUMENTED || Reflect.has(store, name),
    },
  )
}

/** Returns the engine that a store tells of. */
function engineOf(store: RecordStore): Engine | undefined {
  return ENGINE in store ? (store as RecordStore & WithEngine)[ENGINE] : undefined // the symbol is this package's own
}

/** Makes what watches the round trips that carry several calls. */
function createObserver({ tracer, removed }: Instruments, system: string): EngineObserver {
  return {
    onCall: () => {
      const call = trace.getActiveSpan()
      call?.setAttribute('grantwell.gathered', true)
      return call?.spanContext()
    },

    onRoundTrip: async (operation, callers, go) => {
      const links = (callers as readonly (Link['context'] | undefined)[]).flatMap((each) =>
        each === undefined ? [] : [{ context: each }],
      ) // `onCall` made them
      const attributes = {
        'db.system.name': system,
        'db.operation.name': operation,
        ...(callers.length > 1 && { 'db.operation.batch.size': callers.length }),
      }
      // Its parent would be the request whose call came first, though it serves others too.
      const span = tracer.startSpan(`${operation} ${system}`, { kind: SpanKind.CLIENT, attributes, links, root: true })
      return runInSpan(span, ROOT_CONTEXT, go, () => {})
    },

    onRemoved: (count) => {
      if (count > 0) removed.add(count, { 'db.system.name': system })
    },
  }
}

/**
 * The options of telemetry, and the instruments made of them.
 * @module
 * @see OpenTelemetry semantic conventions, "Database client metrics" and "HTTP metrics"
 */
import type { Counter, Histogram, MeterProvider, Tracer, TracerProvider } from '@opentelemetry/api'
import { metrics, trace } from '@opentelemetry/api'
import { readOptions } from '../core/options.js'
import { methods } from '../core/takes.js'

/** Options of {@link instrumentServer} and {@link instrumentStore}. */
export interface TelemetryOptions {
  /** Gives the tracer; the global one of `@opentelemetry/api` by default. */
  readonly tracerProvider?: TracerProvider
  /** Gives the meter; the global one of `@opentelemetry/api` by default. */
  readonly meterProvider?: MeterProvider
}

/** The tracer, and the instruments of all metrics. */
export interface Instruments {
  readonly tracer: Tracer
  /** Seconds of a request, by endpoint, grant type, result, reason and status. Its count is the number of requests. */
  readonly requests: Histogram
  /** Seconds of an operation of the store, by engine and name. */
  readonly operations: Histogram
  /** Writes that another request was ahead of. */
  readonly conflicts: Counter
  /** Decisions that were made anew after a conflict. */
  readonly retries: Counter
  /** Events of grants, by their type. */
  readonly grants: Counter
  /** Events of applications, by their change. */
  readonly applications: Counter
  /** Expired records that a store removed. */
  readonly removed: Counter
}

const NAME = 'grantwell'

/** The limits of the histograms' buckets, in seconds, as the semantic conventions advise for databases and HTTP. */
const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * Makes the instruments.
 * @param of - the function that has the options
 * @throws GrantwellError `ERR_CONFIGURATION` for a wrong option
 */
export function createInstruments(of: string, options: TelemetryOptions): Instruments {
  const { tracerProvider = trace, meterProvider = metrics } = readOptions<TelemetryOptions>(of, options, {
    tracerProvider: methods('an object', 'getTracer'),
    meterProvider: methods('an object', 'getMeter'),
  })
  const meter = meterProvider.getMeter(NAME)
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(`grantwell.${name}`, { unit, description })
  const histogram = (name: string, description: string): Histogram =>
    meter.createHistogram(name, { unit: 's', advice: { explicitBucketBoundaries: SECONDS }, description })
  return {
    tracer: tracerProvider.getTracer(NAME),
    requests: histogram('grantwell.request.duration', 'Duration of requests to an endpoint or a guard.'),
    operations: histogram('db.client.operation.duration', 'Duration of calls of the store.'),
    conflicts: counter('store.conflicts', '{write}', 'Writes that another request was ahead of.'),
    retries: counter('store.retries', '{decision}', 'Decisions that were made anew after a conflict.'),
    grants: counter('grants', '{event}', 'Events of grants, by their type.'),
    applications: counter('applications', '{event}', 'Events of applications, by their change.'),
    removed: counter('store.removed', '{record}', 'Expired records that the store removed.'),
  }
}

/**
 * A server with telemetry, over the SDK of OpenTelemetry with exporters in memory.
 * @module
 */

import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { AuthorizationServerOptions } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { instrumentServer } from 'grantwell/opentelemetry'
import type { TestServer } from '../support.js'
import { ISSUER, testServer } from '../support.js'

/** One point of a metric. */
export interface Point {
  readonly metric: string
  readonly by: Readonly<Record<string, unknown>>
  /** The sum of a counter, the number of measurements of a histogram. */
  readonly value: number
}

/** Lets the code of a request find its context. Returns the function that ends it. */
export function manageContexts(): () => void {
  const manager = new AsyncLocalStorageContextManager().enable()
  context.setGlobalContextManager(manager)
  return () => {
    context.disable()
    manager.disable()
  }
}

/** Makes providers that keep what they get. */
export function collector() {
  const spans = new InMemorySpanExporter()
  const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: points })
  const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] })
  const meterProvider = new MeterProvider({ readers: [reader] })
  return {
    providers: { tracerProvider, meterProvider },
    spans: (): readonly ReadableSpan[] => spans.getFinishedSpans(),
    clear: () => spans.reset(),
    points: async (): Promise<readonly Point[]> => {
      points.reset()
      await reader.forceFlush()
      return points.getMetrics().flatMap(({ scopeMetrics }) =>
        scopeMetrics.flatMap(({ metrics }) =>
          metrics.flatMap(({ descriptor, dataPoints }) =>
            dataPoints.map(({ attributes, value }) => ({
              metric: descriptor.name,
              by: attributes,
              value: typeof value === 'number' ? value : (value as { readonly count: number }).count, // a histogram's
            })),
          ),
        ),
      )
    },
    end: () => meterProvider.shutdown(),
  }
}

/** The server of `testServer` with telemetry. */
export async function observedServer(
  { providers }: Pick<ReturnType<typeof collector>, 'providers'>,
  options: Partial<AuthorizationServerOptions> = {},
): Promise<TestServer> {
  const test = await testServer({ ...(options.store !== undefined && { store: options.store }) })
  const server = instrumentServer(
    createAuthorizationServer,
    {
      issuer: ISSUER,
      store: test.store,
      digests: nodeDigests,
      user: () => test.session.user,
      signInUrl: () => '/sign-in',
      clock: () => test.clock.now,
      onError: (error) => test.errors.push(error),
      ...options,
    },
    providers,
  )
  return { ...test, server }
}

/**
 * The code of the page "Telemetry": Prometheus fetches the metrics of a demonstration, and the dashboard and the alerts ask for these alone.
 * @module
 */

// #region imports
import { createAuthorizationServer } from 'grantwell'
import { instrumentServer } from 'grantwell/opentelemetry'
import { postgresStore } from 'grantwell/storage/postgres'
import type { Pool } from 'pg'
// #endregion imports

// #region sdk-imports
import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
// #endregion sdk-imports
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { describeWith, postgresql } from '../../test/engines/available.js'
import { startPostgres } from '../../test/engines/postgres.js'
import { freePort } from '../../test/engines/process.js'
import { authorize, call, exchange, refresh, registration, testServer, WEB } from '../../test/support.js'

// #region server
function createServer(pool: Pool) {
  return instrumentServer(createAuthorizationServer, {
    issuer: 'https://git.example',
    store: postgresStore(pool),
    user: () => ({ subject: 'ada' }), // your session
    signInUrl: () => '/sign-in',
  })
}
// #endregion server

// #region sdk
/** Call it once, before the server is created. */
function startTelemetry(spanExporter: SpanExporter, port = 9464) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const exporter = new PrometheusExporter({ port })
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }))
  const spans = new BatchSpanProcessor({ exporter: spanExporter })
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [spans] }))
  return { exporter, spans }
}
// #endregion sdk

describeWith(describe, postgresql, 'the page "Telemetry"', () => {
  let text: string
  const finished = new InMemorySpanExporter()

  beforeAll(async () => {
    const port = await freePort()
    const { exporter, spans } = startTelemetry(finished, port)
    const engine = await startPostgres()
    const pool = new pg.Pool(engine.connection)
    const complaints = vi.spyOn(console, 'error').mockImplementation(() => {})
    try {
      await postgresStore(pool).migrate()
      const server = createServer(pool)
      await server.applications.register(registration(), WEB)
      const demo = { ...(await testServer()), server }
      const { code } = await authorize(demo)
      const { body } = await exchange(demo, code)
      await refresh(demo, body.refresh_token)
      await call(demo, body.access_token)
      expect((await exchange(demo, code)).status).toBe(400)
      await pool.end()
      expect((await refresh(demo, body.refresh_token)).status).toBe(503)
      await spans.forceFlush()
      text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    } finally {
      complaints.mockRestore()
      await engine.remove()
      await exporter.shutdown()
      context.disable()
      metrics.disable()
      trace.disable()
    }
  })

  it('gives the exporter a span of each request, with its round trips to the store', () => {
    const spans = finished.getFinishedSpans()
    const [refreshed] = spans.filter(({ attributes }) => attributes['grantwell.grant_type'] === 'refresh_token')
    expect(refreshed).toMatchObject({ name: 'POST /oauth2/token', attributes: { 'grantwell.result': 'answered' } })
    const within = spans.filter(
      ({ parentSpanContext }) => parentSpanContext?.spanId === refreshed?.spanContext().spanId,
    )
    expect(within.map(({ name }) => name)).toEqual(['read records', 'write records'])
    expect(spans.map(({ name }) => name)).toContain('grantwell guard')
  })

  it('gives Prometheus the metrics of requests, of the store and of grants', () => {
    for (const line of [
      /^grantwell_request_duration_count\{.*grantwell_endpoint="token".*grantwell_grant_type="refresh_token".*grantwell_result="answered".*\} 1$/m,
      /^grantwell_request_duration_count\{.*grantwell_result="refused".*grantwell_reason="credential_replayed".*\} 1$/m,
      /^grantwell_request_duration_count\{.*grantwell_result="failed".*grantwell_reason="store_failed".*\} 1$/m,
      /^grantwell_request_duration_count\{.*grantwell_endpoint="api".*\} 1$/m,
      /^db_client_operation_duration_count\{.*db_system_name="postgresql".*error_type="\w+".*\} 1$/m,
      /^grantwell_grants_total\{.*grantwell_event="replayed".*\} 1$/m,
      /^grantwell_grants_total\{.*grantwell_cause="replay".*\} 1$/m,
    ])
      expect(text).toMatch(line)
  })

  it.each(['dashboard.json', 'alerts.yml'])('%s asks for metrics and labels that are there', (file) => {
    const asked = namesIn(readFileSync(new URL(`../public/telemetry/${file}`, import.meta.url), 'utf8'))
    expect(asked.length).toBeGreaterThan(10)
    const there = new Set([...namesIn(text), ...COUNTED_LATER])
    expect(asked.filter((name) => !there.has(name))).toEqual([])
  })
})

/** Counters that nothing counts up here; the tests of telemetry do: no record expires, and nobody is in anybody's way. */
const COUNTED_LATER = ['removed', 'conflicts', 'retries'].map((name) => `grantwell_store_${name}_total`)

/** The names of metrics and labels in a query of Prometheus. */
function namesIn(query: string): readonly string[] {
  // A collector adds the unit to a name, the exporter does not.
  return query.replaceAll('(_seconds)?', '').match(/\b(?:grantwell|db|error)_\w+/g) ?? []
}

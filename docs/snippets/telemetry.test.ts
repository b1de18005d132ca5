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
import { context, metrics } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
// #endregion sdk-imports
import { readFileSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { authorize, call, exchange, refresh, testServer } from '../../test/support.js'

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
function startTelemetry(port = 9464) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const exporter = new PrometheusExporter({ port })
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }))
  return exporter
}
// #endregion sdk

const PORT = 30_000 + (process.pid % 10_000)
let exporter: PrometheusExporter
let text: string

beforeAll(async () => {
  exporter = startTelemetry(PORT)
  const database = await PGlite.create()
  const store = postgresStore(database)
  await store.migrate()
  const test = await testServer()
  const server = instrumentServer(createAuthorizationServer, {
    issuer: test.server.issuer,
    store,
    user: () => ({ subject: 'ada' }),
    signInUrl: () => '/sign-in',
    clock: () => test.clock.now,
    onError: () => {},
  })
  const { WEB, registration } = await import('../../test/support.js')
  await server.applications.register(registration(), WEB)
  const demo = { ...test, server }
  const { body } = await exchange(demo, (await authorize(demo)).code)
  const { body: next } = await refresh(demo, body.refresh_token)
  await Promise.all([refresh(demo, next.refresh_token), refresh(demo, next.refresh_token)])
  test.clock.now += 301
  await refresh(demo, body.refresh_token)
  await call(demo, next.access_token)
  await store.removeExpired()
  await database.close()
  await refresh(demo, next.refresh_token)
  text = await (await fetch(`http://127.0.0.1:${PORT}/metrics`)).text()
})
afterAll(async () => {
  await exporter.shutdown()
  context.disable()
  metrics.disable()
})

it('gives Prometheus the metrics of requests, of the store and of grants', () => {
  expect(typeof createServer).toBe('function')
  for (const line of [
    /^grantwell_request_duration_count\{.*grantwell_endpoint="token".*grantwell_grant_type="authorization_code".*\} 1$/m,
    /^grantwell_request_duration_count\{.*grantwell_result="refused".*grantwell_reason="credential_replayed".*\} 1$/m,
    /^grantwell_request_duration_count\{.*grantwell_result="failed".*grantwell_reason="store_failed".*\} 1$/m,
    /^db_client_operation_duration_count\{.*db_system_name="postgresql".*error_type="\w+".*\} 1$/m,
    /^grantwell_grants_total\{.*grantwell_event="replayed".*\} 1$/m,
    /^grantwell_grants_total\{.*grantwell_cause="replay".*\} 1$/m,
  ])
    expect(text).toMatch(line)
})

/** The names of metrics and labels in a query of Prometheus. */
function namesIn(query: string): readonly string[] {
  // A collector adds the unit to a name, the exporter does not.
  return query.replaceAll('(_seconds)?', '').match(/\b(?:grantwell|db|error)_\w+/g) ?? []
}

it.each(['dashboard.json', 'alerts.yml'])('%s asks for metrics and labels that are there', (file) => {
  const asked = namesIn(readFileSync(new URL(`../public/telemetry/${file}`, import.meta.url), 'utf8'))
  expect(asked.length).toBeGreaterThan(10)
  // No record expires within the demonstration, and nobody is slow enough for a conflict.
  const there = new Set([
    ...namesIn(text),
    'grantwell_store_removed_total',
    'grantwell_store_conflicts_total',
    'grantwell_store_retries_total',
  ])
  expect(asked.filter((name) => !there.has(name))).toEqual([])
})

/**
 * Telemetry, as an exporter in memory gets it: the spans and metrics of requests, guarded calls and round trips to the store.
 * @module
 * @see OpenTelemetry semantic conventions, "Database client spans" and "HTTP server spans"
 */

import { PGlite } from '@electric-sql/pglite'
import { context, propagation, SpanKind, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { createAuthorizationServer } from 'grantwell'
import { instrumentServer, instrumentStore } from 'grantwell/opentelemetry'
import { memoryStore } from 'grantwell/storage/memory'
import { postgresStore } from 'grantwell/storage/postgres'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestServer } from '../support.js'
import { authorize, basic, call, exchange, guard, later, post, refresh, send, tokens, WEB } from '../support.js'
import type { Point } from './telemetry.js'
import { collector, manageContexts, observedServer } from './telemetry.js'

let endContexts: () => void
let collected: ReturnType<typeof collector>
beforeAll(() => {
  endContexts = manageContexts()
})
afterAll(() => endContexts())
beforeEach(() => {
  collected = collector()
})
afterEach(() => collected.end())

/** The points of one metric, each with its attributes in one line. */
async function counted(metric: string): Promise<Readonly<Record<string, number>>> {
  const points = (await collected.points()).filter((point) => point.metric === metric)
  return Object.fromEntries(points.map(({ by, value }: Point) => [Object.values(by).join(' '), value]))
}

/** The spans of a name. */
function named(name: string): readonly ReadableSpan[] {
  return collected.spans().filter((span) => span.name === name)
}

function parentOf(span: ReadableSpan | undefined): string | undefined {
  return span?.parentSpanContext?.spanId
}

/** One pair of tokens, a refresh, a replay, a guarded call that works and one that does not. */
async function liveOnce(test: TestServer): Promise<readonly string[]> {
  const { code } = await authorize(test)
  const { body } = await exchange(test, code)
  const { body: next } = await refresh(test, body.refresh_token)
  await call(test, next.access_token)
  test.clock.now += 301
  await refresh(test, body.refresh_token)
  await call(test, next.access_token)
  return [code, body.access_token, body.refresh_token, next.access_token, next.refresh_token]
}

describe('the span of a request', () => {
  it('says what was asked and how it ended, and the round trips to the store are within it', async () => {
    const test = await observedServer(collected)
    const { code } = await authorize(test)
    collected.clear()
    await exchange(test, code)
    const [span, ...others] = named('POST /oauth2/token')
    expect(others).toEqual([])
    expect(span).toMatchObject({
      kind: SpanKind.SERVER,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/oauth2/token',
        'http.response.status_code': 200,
        'grantwell.endpoint': 'token',
        'grantwell.grant_type': 'authorization_code',
        'grantwell.result': 'answered',
        'grantwell.client_id': WEB.clientId,
        'grantwell.grant_id': expect.any(String),
      },
    })
    const trips = collected.spans().filter((each) => each !== span)
    expect(trips.map(({ name, kind }) => [name, kind])).toEqual([
      ['read records', SpanKind.CLIENT],
      ['write records', SpanKind.CLIENT],
    ])
    expect(trips.map(parentOf)).toEqual([span?.spanContext().spanId, span?.spanContext().spanId])
    expect(trips[0]?.attributes).toEqual({
      'db.system.name': '_OTHER',
      'db.operation.name': 'read',
      'db.operation.batch.size': 2,
    })
  })

  it('says why it was refused; the status of the span is an error only where the server failed', async () => {
    const failing = { down: false }
    const store = memoryStore()
    const test = await observedServer(collected, {
      store: {
        ...store,
        read: (keys) => {
          if (failing.down) throw new TypeError('no connection with the password hunter2')
          return store.read(keys)
        },
      },
    })
    await exchange(test, 'x')
    failing.down = true
    await exchange(test, 'x')
    const [refused] = named('POST /oauth2/token')
    const failed = named('POST /oauth2/token').find(({ attributes }) => attributes['http.response.status_code'] === 503)
    expect(
      [refused, failed].map((span) => [
        span?.attributes['grantwell.result'],
        span?.attributes['grantwell.reason'],
        span?.status.code,
      ]),
    ).toEqual([
      ['refused', 'credential_unknown', 0],
      ['failed', 'store_failed', 2],
    ])
    const trip = named('read records').find(({ status }) => status.code === 2)
    expect(trip?.attributes['error.type']).toBe('TypeError')
    expect(
      JSON.stringify(collected.spans().map(({ attributes, status, events }) => [attributes, status, events])),
    ).not.toContain('hunter2')
  })

  it('is one of the trace that its header names, and lies within the span of the host where there is one', async () => {
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
    const test = await observedServer(collected)
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    await send(test.server, { url: '/oauth2/style.css', headers: { traceparent } })
    const host = collected.providers.tracerProvider.getTracer('host').startSpan('GET', { kind: SpanKind.SERVER })
    await context.with(trace.setSpan(context.active(), host), () =>
      send(test.server, { url: '/oauth2/style.css', headers: { traceparent } }),
    )
    propagation.disable()
    const [remote, local] = named('GET /oauth2/style.css')
    expect([remote?.spanContext().traceId, parentOf(remote), remote?.kind]).toEqual([
      'a'.repeat(32),
      'b'.repeat(16),
      SpanKind.SERVER,
    ])
    expect([parentOf(local), local?.kind]).toEqual([host.spanContext().spanId, SpanKind.INTERNAL])
  })

  it('is there for a guarded call, too, and not for a path of the host', async () => {
    const test = await observedServer(collected)
    const { access_token } = await tokens(test)
    collected.clear()
    await call(test, access_token, 'repo-code:r')
    await guard(test.server, {})
    await test.server.guard({ scope: 'repo-code:r' })({ headers: { authorization: `Bearer ${access_token}` } })
    const ofHost = { method: 'GET', url: '/repositories', headers: {}, native: undefined }
    expect(await test.server.handle(ofHost)).toBeUndefined()
    expect(
      named('grantwell guard').map(({ attributes }) => [
        attributes['grantwell.endpoint'],
        attributes['http.response.status_code'],
      ]),
    ).toEqual([
      ['api', 200],
      ['api', 401],
      ['api', 200],
    ])
    expect(named('GET /repositories')).toEqual([])
  })
})

describe('the metrics', () => {
  it('count requests by endpoint, grant type, result and reason, and what became of grants', async () => {
    const test = await observedServer(collected)
    await liveOnce(test)
    expect(await counted('grantwell.request.duration')).toMatchObject({
      'token authorization_code answered 200': 1,
      'token refresh_token answered 200': 1,
      'token refresh_token refused 400 credential_replayed': 1,
      'api answered 200': 1,
      'api refused 401 credential_revoked': 1,
    })
    expect(await counted('grantwell.grants')).toEqual({
      issued: 1,
      exchanged: 1,
      'refreshed false': 1,
      replayed: 1,
      'revoked replay': 1,
    })
    const trips = await counted('db.client.operation.duration')
    expect(Object.keys(trips).sort()).toEqual(['_OTHER read', '_OTHER write'])
  })

  it('know the grant type however it was written, and whoever has parsed the body', async () => {
    const test = await observedServer(collected)
    const device = 'urn:ietf:params:oauth:grant-type:device_code'
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...basic(WEB) }
    for (const body of [
      { type: 'text', text: `grant_type=${device}` },
      { type: 'text', text: `device_code=x&grant_type=${encodeURIComponent(device)}` },
      { type: 'parsed', fields: { grant_type: device } },
      { type: 'parsed', fields: Object.create({ grant_type: device }) },
      { type: 'parsed', fields: null },
      { type: 'text', text: 'grant_type=%' },
      { type: 'text', text: 'not_grant_type=refresh_token' },
    ] as const)
      await test.server.handle({ method: 'POST', url: '/oauth2/token', headers, body, native: undefined })
    const types = named('POST /oauth2/token').map(({ attributes }) => attributes['grantwell.grant_type'])
    expect(types).toEqual(['device_code', 'device_code', 'device_code', undefined, undefined, 'other', undefined])
  })

  it('have no series that a stranger makes up', async () => {
    const test = await observedServer(collected)
    for (const made of ['a', 'b', 'c']) await post(test.server, '/oauth2/token', { grant_type: made }, basic(WEB))
    await send(test.server, { method: 'MADE-UP', url: '/oauth2/token' })
    await send(test.server, { method: 'MADE-UP-TOO', url: '/oauth2/token' })
    const series = Object.keys(await counted('grantwell.request.duration'))
    expect(series).toHaveLength(2)
    expect(
      new Set(
        collected
          .spans()
          .map(({ name }) => name)
          .filter((name) => name.includes('token')),
      ),
    ).toEqual(new Set(['POST /oauth2/token', '_OTHER /oauth2/token']))
  })

  it('count the decisions that another request was ahead of, and those that were made anew', async () => {
    const store = memoryStore()
    const test = await observedServer(collected, { store: later(store) })
    const { refresh_token } = await tokens(test)
    await Promise.all([refresh(test, refresh_token), refresh(test, refresh_token), refresh(test, refresh_token)])
    const conflicts = (await counted('grantwell.store.conflicts'))['']
    expect(conflicts).toBeGreaterThan(0)
    expect((await counted('grantwell.store.retries'))['']).toBe(conflicts)
  })
})

describe('no span and no metric', () => {
  it('has a secret, a user or the query of an address', async () => {
    const test = await observedServer(collected)
    const secrets = [...(await liveOnce(test)), WEB.clientSecret, 'ada', 'code_challenge', 'response_type']
    const told = JSON.stringify([
      collected.spans().map(({ name, attributes, links, events, status }) => [name, attributes, links, events, status]),
      await collected.points(),
    ])
    for (const secret of secrets) expect(told).not.toContain(secret)
  })
})

describe('a store', () => {
  it('that gathers calls has a span for each round trip, with links to the calls that it carries', async () => {
    const database = await PGlite.create()
    const store = postgresStore(database)
    await store.migrate()
    const observed = instrumentStore(store, collected.providers)
    const tracer = collected.providers.tracerProvider.getTracer('test')
    const asked = ['a', 'b', 'c'].map((key) => {
      const span = tracer.startSpan(`request ${key}`)
      return context
        .with(trace.setSpan(context.active(), span), async () => observed.read([key]))
        .finally(() => span.end())
    })
    await Promise.all(asked)
    const [trip, ...others] = named('read postgresql')
    expect(others).toEqual([])
    const calls = named('read records')
    expect(calls.map(({ attributes }) => attributes['grantwell.gathered'])).toEqual([true, true, true])
    expect(trip?.links.map(({ context: { spanId } }) => spanId)).toEqual(calls.map((call) => call.spanContext().spanId))
    expect([parentOf(trip), trip?.kind, trip?.attributes]).toEqual([
      undefined,
      SpanKind.CLIENT,
      { 'db.system.name': 'postgresql', 'db.operation.name': 'read', 'db.operation.batch.size': 3 },
    ])
    await database.close()
  })

  it('counts the expired records that it removed, those of its background, too', async () => {
    const clock = { now: 1_800_000_000 }
    const store = sqliteStore(new Database(':memory:'), { clock: () => clock.now })
    const observed = instrumentStore(store, collected.providers)
    for (const key of ['a', 'b']) await observed.write(key, 1, { expected: 0, expiresAt: clock.now + 10 })
    clock.now += 1000
    expect(observed.removeExpired()).toBe(2)
    await observed.write('c', 1, { expected: 0, expiresAt: clock.now + 10 })
    clock.now += 1000
    await observed.write('d', 1, { expected: 0 })
    expect(await counted('grantwell.store.removed')).toEqual({ sqlite: 3 })
  })

  it('keeps what it has besides, and is observed once', () => {
    const store = Object.freeze(memoryStore())
    const observed = instrumentStore(store, collected.providers)
    observed.write('a', 1, { expected: 0 })
    expect([observed.size, store.size]).toEqual([1, 1])
    expect(instrumentStore(observed, collected.providers)).toBe(observed)
    instrumentServer(
      createAuthorizationServer,
      { issuer: 'https://git.example', store: observed, user: () => null, signInUrl: () => '/' },
      collected.providers,
    )
    expect(observed.read(['a'])).toMatchObject([{ value: 1 }])
    expect(named('read records')).toHaveLength(1)
  })
})

describe('wrong options', () => {
  it('are refused', () => {
    expect(() => instrumentStore(memoryStore(), { tracerProvider: {} as never })).toThrowError(
      expect.objectContaining({ code: 'ERR_CONFIGURATION' }),
    )
    expect(() =>
      instrumentServer(createAuthorizationServer, { issuer: 'https://git.example' } as never, collected.providers),
    ).toThrowError(expect.objectContaining({ code: 'ERR_CONFIGURATION' }))
    const required = {
      issuer: 'https://git.example',
      store: memoryStore(),
      user: () => null,
      signInUrl: () => '/',
      audit: 'required',
    } as const
    expect(() => instrumentServer(createAuthorizationServer, required, collected.providers)).toThrowError(/onEvent/)
  })
})

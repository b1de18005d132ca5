// What telemetry costs a server in this process, over a store in memory: operations of a second, as a ratio to the server without it.
//   npm run bench:telemetry
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { instrumentServer } from 'grantwell/opentelemetry'
import { memoryStore } from 'grantwell/storage/memory'

const SLICES = 40
const CALLS = 400
const CALLBACK = 'https://app.example/callback'
const CLIENT = { clientId: 'web', clientSecret: 's'.repeat(43) }
const HEADERS = {
  authorization: `Basic ${Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString('base64')}`,
  'content-type': 'application/x-www-form-urlencoded',
}

/** Exporters that throw everything away, so that the SDK alone is measured. */
const nowhere = {
  export: (_, done) => done({ code: 0 }),
  forceFlush: async () => {},
  shutdown: async () => {},
}
const providers = {
  tracerProvider: new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: nowhere })] }),
  meterProvider: new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: nowhere })] }),
}

const options = () => ({
  issuer: 'https://git.example',
  store: memoryStore(),
  digests: nodeDigests,
  user: () => ({ subject: 'ada', name: 'Ada' }),
  signInUrl: () => '/sign-in',
  // All refreshes of a grant happen in one second here, and old pairs must not pile up.
  gracePeriod: 0,
})

/** The servers that are compared, the one without telemetry first. */
const SERVERS = {
  'without telemetry': () => createAuthorizationServer(options()),
  'no SDK registered': () => instrumentServer(createAuthorizationServer, options()),
  'the SDK, exporting': () => instrumentServer(createAuthorizationServer, options(), providers),
}

async function contestant(create) {
  const server = create()
  await server.applications.register(
    {
      name: 'Bench',
      description: 'A bench',
      website: 'https://app.example',
      type: 'confidential',
      redirectUris: [CALLBACK],
      resourceScope: 'all',
      scopes: [{ scope: 'repo-code:r', reason: 'To measure' }],
      logo: Buffer.from('R0lGODlhAQABAIAAAAAAAAAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64'),
    },
    CLIENT,
  )
  const send = (method, url, form, headers = HEADERS) =>
    server.handle({
      method,
      url,
      headers,
      ...(form && { body: { type: 'text', text: String(new URLSearchParams(form)) } }),
    })
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'web',
    redirect_uri: CALLBACK,
    scope: 'repo-code:r',
    state: 's',
  })
  const url = `/oauth2/auth?${query}`
  const page = await send('GET', url, undefined, {})
  const field = (name) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.body)[1].replaceAll('&amp;', '&')
  const consent = { request: field('request'), consent: field('consent'), resource_scope: 'all', decision: 'agree' }
  const agreed = await send('POST', '/oauth2/auth', consent, {
    'content-type': HEADERS['content-type'],
    cookie: page.headers['Set-Cookie'].split(';')[0],
  })
  const code = new URL(agreed.headers.Location).searchParams.get('code')
  const tokens = async (form) => JSON.parse((await send('POST', '/oauth2/token', form)).body)
  let pair = await tokens({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK })
  const guard = server.guard({ scope: 'repo-code:r' })
  return {
    refresh: async () => {
      pair = await tokens({ grant_type: 'refresh_token', refresh_token: pair.refresh_token })
      if (pair.access_token === undefined) throw new Error(`not refreshed: ${JSON.stringify(pair)}`)
    },
    guard: async () => {
      const checked = await guard({ headers: { authorization: `Bearer ${pair.access_token}` } })
      if (checked.type === 'refused') throw new Error('refused')
    },
  }
}

/** Microseconds of processor time of each call. */
async function slice(call) {
  const begun = process.cpuUsage()
  for (let index = 0; index < CALLS; index++) await call()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / CALLS
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
const contestants = []
for (const [name, create] of Object.entries(SERVERS)) contestants.push([name, await contestant(create)])
for (const operation of ['guard', 'refresh']) {
  const times = new Map(contestants.map(([name]) => [name, []]))
  for (let round = -4; round < SLICES; round++)
    for (const [name, calls] of contestants) {
      const time = await slice(calls[operation])
      if (round >= 0) times.get(name).push(time)
    }
  const [[, first]] = [...times]
  for (const [name, all] of times)
    console.log(
      `${operation.padEnd(8)} ${name.padEnd(20)} ${median(all).toFixed(1).padStart(7)} µs  ${(median(all) / median(first)).toFixed(2)}`,
    )
}
await providers.tracerProvider.shutdown()
await providers.meterProvider.shutdown()

// What an operation of the server costs beside a loop that makes the same round trips, of the same bytes, and does nothing else.
//   POSTGRES_URL=postgres://postgres@127.0.0.1/test REDIS_URL=redis://127.0.0.1 node bench/round-trips.mjs [--only name] [--rounds n] [--in-flight n,n]
// Needs `npm run build`. What it makes in the engines it removes at the end.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { sqliteStore } from 'grantwell/storage/sqlite'
import { Redis } from 'ioredis'
import Database from 'libsql'
import pg from 'pg'

const { POSTGRES_URL, REDIS_URL } = process.env
const { values: args } = parseArgs({
  options: {
    /** The engines and operations with one of these in their names. */
    only: { type: 'string', multiple: true, default: [''] },
    rounds: { type: 'string', default: '15' },
    'in-flight': { type: 'string', default: '50' },
    grants: { type: 'string', default: '500' },
    pool: { type: 'string', default: '10' },
  },
})
const ROUNDS = Number(args.rounds)
const GRANTS = Number(args.grants)
const POOL = Number(args.pool)

const callback = 'https://app.example/cb'
const namespace = `trips-${process.pid}`
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
const basic = ({ clientId, clientSecret }) => `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`

/** Does a job for every number below `count`, `inFlight` at a time; microseconds for each. */
async function timed(count, inFlight, job) {
  const begun = process.hrtime.bigint()
  let next = 0
  const worker = async () => {
    while (next < count) await job(next++)
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return Number(process.hrtime.bigint() - begun) / 1_000 / count
}

/** A server with grants that were made through the flow, and the operations on them. */
async function serverOn(makeStore) {
  let now = Math.floor(Date.now() / 1_000)
  const clock = () => now
  const store = makeStore(clock)
  /** What an operation asks of the store, where somebody wants to know. */
  let trace
  const watched = {
    read: (keys) => {
      trace?.push({ read: keys })
      return store.read(keys)
    },
    write: (key, value, options) => {
      trace?.push({ write: key, value: JSON.stringify(value) })
      return store.write(key, value, options)
    },
    list: store.list,
  }
  const errors = []
  const optionsOf = (own) => ({
    issuer: 'https://bench.example',
    store: own,
    clock,
    digests: nodeDigests,
    user: () => ({ subject: 'u'.repeat(24) }),
    signInUrl: () => '/sign-in',
    onError: (error) => errors.push(error),
  })
  // The one that is timed has the store itself.
  const server = createAuthorizationServer(optionsOf(store))
  const traced = createAuthorizationServer(optionsOf(watched))
  const client = await server.applications.register({
    name: 'bench',
    logo: Uint8Array.from('\x89PNG\r\n\x1a\n', (character) => character.charCodeAt(0)),
    website: 'https://app.example',
    type: 'confidential',
    redirectUris: [callback],
    scopes: ['repo-code:rw'],
    resourceScope: 'all',
    deviceFlow: true,
  })
  const api = await server.applications.registerResourceServer({
    name: 'api',
    website: 'https://api.example',
    scopes: ['repo-code:rw'],
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: basic(client) }
  const post = (on, url, fields, more) => {
    const body = { type: 'text', text: new URLSearchParams(fields).toString() }
    return on.handle({ method: 'POST', url, headers: { ...headers, ...more }, body })
  }
  const ok = (response, status = 200) => {
    if (response?.status !== status) throw new Error(`${response?.status}: ${response?.body}`, { cause: errors[0] })
    return response
  }

  async function codeOf() {
    const query = new URLSearchParams({ response_type: 'code', client_id: client.clientId, redirect_uri: callback })
    const page = ok(await server.handle({ method: 'GET', url: `/oauth2/auth?${query}`, headers: {} }))
    const field = (name) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.body)[1].replaceAll('&amp;', '&')
    const consent = { request: field('request'), consent: field('consent'), resource_scope: 'all', decision: 'agree' }
    const cookie = page.headers['Set-Cookie'].split(';')[0]
    const agreed = await post(server, '/oauth2/auth', consent, { cookie })
    return new URL(agreed.headers.Location).searchParams.get('code')
  }
  const exchange = async (on, code) =>
    JSON.parse(ok(await post(on, '/oauth2/token', { grant_type: 'authorization_code', code })).body)
  const filled = async (make) => {
    const all = []
    await timed(GRANTS, 20, async (index) => {
      all[index] = await make(index)
    })
    return all
  }

  const pairs = await filled(async () => exchange(server, await codeOf()))
  let codes = []
  const exchanged = []
  let devices = []
  const guards = new Map([server, traced].map((on) => [on, on.guard({ scope: 'repo-code:rw' })]))
  const operations = {
    refresh: async (on, index) => {
      const { refresh_token } = pairs[index]
      const answer = ok(await post(on, '/oauth2/token', { grant_type: 'refresh_token', refresh_token }))
      pairs[index] = JSON.parse(answer.body)
    },
    guard: async (on, index) => {
      const found = await guards.get(on)({ headers: { authorization: `Bearer ${pairs[index].access_token}` } })
      if (found.type !== 'authenticated') throw new Error(found.error.reason, { cause: errors[0] })
    },
    introspect: async (on, index) => {
      const token = pairs[index].access_token
      const { body } = await post(on, '/oauth2/introspect', { token }, { authorization: basic(api) })
      if (!body.startsWith('{"active":true')) throw new Error(body, { cause: errors[0] })
    },
    exchange: async (on, index) => {
      exchanged[index] = await exchange(on, codes[index])
    },
    revoke: async (on, index) => {
      ok(await post(on, '/oauth2/revoke', { token: exchanged[index].refresh_token }))
    },
    poll: async (on, index) => {
      const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
      const { body } = await post(on, '/oauth2/token', { grant_type, device_code: devices[index] })
      if (!body.includes('authorization_pending')) throw new Error(body, { cause: errors[0] })
    },
  }
  return {
    store,
    operations: Object.fromEntries(
      Object.entries(operations).map(([name, operation]) => [
        name,
        {
          run: (index) => operation(server, index),
          /** Runs it while its reads and writes are noted. */
          shape: async (index) => {
            const own = []
            trace = own
            await operation(traced, index)
            trace = undefined
            return own
          },
        },
      ]),
    ),
    /** Makes what the operations of a round need: tokens that are due, codes that were never used. */
    prepare: async (name) => {
      // The life of an access token, as an application that is in use refreshes.
      if (name === 'refresh') now += 8 * 3_600
      if (name === 'exchange') codes = await filled(codeOf)
      if (name === 'poll') {
        devices = await filled(async () => {
          const { body } = ok(await post(server, '/oauth2/device_authorization', {}))
          return JSON.parse(body).device_code
        })
      }
    },
  }
}

/**
 * Measures one engine.
 * @param makeStore - makes the store, with a clock
 * @param loops - by name, what makes a loop's functions: `prepare` is given the records, `read` and `write` make one trip
 */
async function measure(engine, makeStore, loops, inFlight) {
  const wanted = (name) => args.only.some((each) => `${engine} ${name}`.includes(each))
  const { store, operations, prepare } = await serverOn(makeStore)
  const runs = {}
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, { run, shape }] of Object.entries(operations)) {
      if (!wanted(name) && !(name === 'exchange' && wanted('revoke'))) continue
      await prepare(name)
      // Before all rounds it is done once for every grant, and what it asks of the store becomes the loops' work.
      if (round < 0) {
        const before = []
        for (let index = 0; index < GRANTS; index++) before.push(await shape(index))
        const records = new Map()
        for (const trip of before.flat()) {
          for (const key of trip.read ?? []) records.set(key, JSON.stringify((await store.read([key]))[0]?.value))
          if (trip.write !== undefined) records.set(trip.write, trip.value)
        }
        const made = {}
        for (const [loop, make] of Object.entries(loops)) {
          const { fill, read, write } = make(name)
          await fill(records)
          const bytes = (keys) => keys.reduce((sum, key) => sum + (records.get(key)?.length ?? 0), 0)
          const steps = before.map((trips) =>
            trips.map((trip) =>
              trip.read === undefined
                ? { write: trip.write, value: trip.value }
                : { read: trip.read, bytes: bytes(trip.read) },
            ),
          )
          made[loop] = async (index) => {
            for (const step of steps[index]) {
              if (step.read === undefined) await write(step.write, step.value)
              else await read(step.read, step.bytes)
            }
          }
        }
        const [trips] = before
        const sizes = trips.map((trip) =>
          trip.read === undefined
            ? `write ${trip.value.length}`
            : `read ${trip.read.map((key) => records.get(key)?.length).join('+')}`,
        )
        runs[name] = {
          made,
          sizes: sizes.join(', '),
          times: { ours: [], ...Object.fromEntries(Object.keys(loops).map((loop) => [loop, []])) },
        }
        continue
      }
      const { made, times } = runs[name]
      const contenders = Object.entries({ ours: run, ...made })
      const turn = (round + 1) % contenders.length
      for (const [contender, job] of [...contenders.slice(turn), ...contenders.slice(0, turn)]) {
        const each = await timed(GRANTS, inFlight, job)
        if (round >= 0) times[contender].push(each)
      }
    }
  }
  for (const [name, { sizes, times }] of Object.entries(runs)) {
    const against = (loop) => times[loop].map((each, round) => each / times.ours[round])
    const least = (contender) => Math.min(...times[contender])
    const cells = [
      median(times.ours).toFixed(1),
      ...Object.keys(loops).flatMap((loop) => [
        median(times[loop]).toFixed(1),
        median(against(loop)).toFixed(2),
        (least(loop) / least('ours')).toFixed(2),
      ]),
    ]
    console.log(
      `${engine.padEnd(16)}${String(inFlight).padStart(4)} ${name.padEnd(12)}${cells.map((cell) => cell.padStart(9)).join('')}   ${sizes}`,
    )
  }
}

/** What PostgreSQL does at the least, by statements that are prepared once a connection. */
function postgresLoops(pool) {
  const ask = (name, text, values) => pool.query({ name, text, values })
  return {
    bare: (operation) => {
      const table = `bare_${process.pid}_${operation}`
      const versions = new Map()
      return {
        fill: async (records) => {
          await pool.query(`CREATE TABLE ${table} (key text PRIMARY KEY, version bigint, value text)`)
          for (const [key, value] of records) {
            await pool.query(`INSERT INTO ${table} VALUES ($1, 1, $2)`, [key, value])
            versions.set(key, 1)
          }
        },
        read: (keys) => ask(`read ${table}`, `SELECT value FROM ${table} WHERE key = ANY($1)`, [keys]),
        write: async (key, value) => {
          const version = versions.get(key)
          versions.set(key, version + 1)
          const text = `UPDATE ${table} SET version = $2, value = $3 WHERE key = $1 AND version = $4`
          const { rowCount } = await ask(`write ${table}`, text, [key, version + 1, value, version])
          if (rowCount !== 1) throw new Error('not written')
        },
      }
    },
    echo: () => ({
      fill: () => {},
      read: (keys, bytes) => ask('out', `SELECT repeat('x', $1::int), $2::text[]`, [bytes, keys]),
      write: (key, value) => ask('in', 'SELECT length($1::text), length($2::text)', [key, value]),
    }),
  }
}

function redisLoops(client) {
  return {
    bare: (operation) => ({
      fill: async (records) => {
        for (const [key, value] of records) await client.set(`${namespace}:${operation}:${key}`, value)
      },
      read: (keys) => client.mget(keys.map((key) => `${namespace}:${operation}:${key}`)),
      write: (key, value) => client.set(`${namespace}:${operation}:${key}`, value),
    }),
    echo: () => ({
      fill: () => {},
      read: (_, bytes) => client.echo('x'.repeat(bytes)),
      write: (_, value) => client.exists(value),
    }),
  }
}

function sqliteLoops(database) {
  return {
    bare: (operation) => {
      const table = `bare_${operation}`
      database.exec(`CREATE TABLE ${table} (key TEXT PRIMARY KEY, version INTEGER, value TEXT)`)
      const insert = database.prepare(`INSERT INTO ${table} VALUES (?, 1, ?)`)
      const select = database.prepare(`SELECT version, value FROM ${table} WHERE key = ?`)
      const update = database.prepare(`UPDATE ${table} SET version = ?, value = ? WHERE key = ? AND version = ?`)
      const versions = new Map()
      return {
        fill: (records) => {
          for (const [key, value] of records) {
            insert.run(key, value)
            versions.set(key, 1)
          }
        },
        read: (keys) => keys.map((key) => select.get(key)),
        write: (key, value) => {
          const version = versions.get(key)
          versions.set(key, version + 1)
          update.run(version + 1, value, key, version)
        },
      }
    },
  }
}

console.log(
  `microseconds an operation of grantwell; of a loop of the same trips that reads and writes the same bytes (bare), and of one whose
trips do nothing (echo): medians of ${ROUNDS} rounds of ${GRANTS} grants; after each, grantwell's rate in the loop's, as the median of the rounds'
ratios, and from the quickest round of both, which other work on the machine disturbed least`,
)
const head = ['grantwell', 'bare', 'ratio', 'quick', 'echo', 'ratio', 'quick'].map((cell) => cell.padStart(9)).join('')
console.log(`${'engine'.padEnd(16)}${'fly'.padStart(4)} ${'operation'.padEnd(12)}${head}   bytes of JSON`)

const asked = (engine) =>
  args.only.some((each) =>
    ['refresh', 'guard', 'introspect', 'exchange', 'revoke', 'poll', ''].some((name) =>
      `${engine} ${name}`.includes(each),
    ),
  )

for (const inFlight of args['in-flight'].split(',').map(Number)) {
  if (asked('memory')) await measure('memory', (clock) => memoryStore({ clock }), {}, inFlight)
  for (const synchronous of ['normal', 'full']) {
    const engine = `SQLite, ${synchronous}`
    if (!asked(engine)) continue
    const folder = mkdtempSync(join(tmpdir(), 'grantwell-bench-'))
    const database = new Database(join(folder, 'grants.db'))
    await measure(engine, (clock) => sqliteStore(database, { synchronous, clock }), sqliteLoops(database), 1)
    database.close()
    rmSync(folder, { recursive: true })
  }

  if (POSTGRES_URL === undefined) console.log('PostgreSQL: POSTGRES_URL does not tell where it is')
  else if (asked('PostgreSQL')) {
    const pools = ['grantwell', 'loops'].map(() => new pg.Pool({ connectionString: POSTGRES_URL, max: POOL }))
    const [own, others] = pools
    const table = `grantwell_${process.pid}`
    await postgresStore(own, { table }).migrate()
    const makeStore = (clock) => postgresStore(own, { table, namespace, clock })
    await measure('PostgreSQL', makeStore, postgresLoops(others), inFlight)
    const { rows } = await own.query(`SELECT format('DROP TABLE %I', tablename) AS drop FROM pg_tables
      WHERE tablename LIKE 'bare_${process.pid}_%' OR tablename = '${table}'`)
    for (const { drop } of rows) await own.query(drop)
    await own.query(`DROP FUNCTION ${table}_relabel`)
    await Promise.all(pools.map((pool) => pool.end()))
  }

  if (REDIS_URL === undefined) console.log('Redis: REDIS_URL does not tell where it is')
  else if (asked('Redis')) {
    const client = new Redis(REDIS_URL)
    await measure('Redis', (clock) => redisStore(client, { namespace, clock }), redisLoops(client), inFlight)
    for await (const found of client.scanStream({ match: `${namespace}:*`, count: 1_000 }))
      if (found.length > 0) await client.del(found)
    await client.quit()
  }
}

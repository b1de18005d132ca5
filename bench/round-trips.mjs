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
import { postgresTrips, redisTrips, sqliteTrips } from './stores/trips.mjs'

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
/** Rounds before those that count. */
const WARM_UP = 3

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
const basic = ({ clientId, clientSecret }) => `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`

/** Does a job for every number below `count`, `inFlight` at a time; microseconds for each, and what came of them. */
async function timed(count, inFlight, job) {
  const found = new Array(count)
  const begun = process.hrtime.bigint()
  let next = 0
  const worker = async () => {
    while (next < count) {
      const index = next++
      found[index] = await job(index)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return { each: Number(process.hrtime.bigint() - begun) / 1_000 / count, found }
}

/**
 * A server with grants that were made through the flow, and the operations on them.
 * @param makeStore - makes the store, with a clock, and where somebody wants to know what it asks of its engine, with who is told
 */
async function serverOn(makeStore) {
  let now = Math.floor(Date.now() / 1_000)
  const clock = () => now
  const store = makeStore(clock)
  /** What an operation asks of the store, and each time the store of its engine, where somebody wants to know. */
  let trace
  const observed = makeStore(clock, (command) => trace?.at(-1)?.commands.push(command))
  const watched = {
    read: (keys) => {
      trace?.push({ read: keys, commands: [] })
      return observed.read(keys)
    },
    write: (key, value, options) => {
      trace?.push({ write: key, value: JSON.stringify(value), commands: [] })
      return observed.write(key, value, options)
    },
    list: store.list,
  }
  const errors = []
  const optionsOf = (own) => ({
    issuer: 'https://bench.example',
    store: own,
    clock,
    digests: nodeDigests,
    user: ({ headers }) => ({ subject: headers['x-user'] }),
    signInUrl: () => '/sign-in',
    deviceLimiter: () => 0,
    onError: (error) => errors.push(error),
  })
  // The one that is timed has the store itself.
  const server = createAuthorizationServer(optionsOf(store))
  const traced = createAuthorizationServer(optionsOf(watched))
  const client = await server.applications.register({
    name: 'bench',
    logo: Uint8Array.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01', (character) => character.charCodeAt(0)),
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
  const form = (url, fields, more) => {
    const body = { type: 'text', text: new URLSearchParams(fields).toString() }
    return { method: 'POST', url, headers: { ...headers, ...more }, body }
  }
  const ok = (response, status = 200) => {
    if (response?.status !== status) throw new Error(`${response?.status}: ${response?.body}`, { cause: errors[0] })
    return response
  }

  // Nobody has thousands of grants of one application.
  let users = 0
  async function codeOf() {
    const user = { 'x-user': String(users++).padStart(24, 'u') }
    const query = new URLSearchParams({ response_type: 'code', client_id: client.clientId, redirect_uri: callback })
    const page = ok(await server.handle({ method: 'GET', url: `/oauth2/auth?${query}`, headers: user }))
    const field = (name) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.body)[1].replaceAll('&amp;', '&')
    const consent = { request: field('request'), consent: field('consent'), resource_scope: 'all', decision: 'agree' }
    const cookie = page.headers['Set-Cookie'].split(';')[0]
    const agreed = await server.handle(form('/oauth2/auth', consent, { cookie, ...user }))
    return new URL(agreed.headers.Location).searchParams.get('code')
  }
  const jsonOf = (response) => JSON.parse(ok(response).body)
  const exchange = (code) => form('/oauth2/token', { grant_type: 'authorization_code', code })
  const filled = async (make) => (await timed(GRANTS, 20, make)).found

  const pairs = await filled(async () => jsonOf(await server.handle(exchange(await codeOf()))))
  let codes = []
  const exchanged = []
  let devices = []
  const guards = new Map([server, traced].map((on) => [on, on.guard({ scope: 'repo-code:rw' })]))
  /**
   * Of an operation: the request, which is made before the time begins, how a server answers it, and how the answer is looked at,
   * after the time is over.
   */
  const operations = {
    refresh: {
      request: (index) =>
        form('/oauth2/token', { grant_type: 'refresh_token', refresh_token: pairs[index].refresh_token }),
      answer: (on, request) => on.handle(request),
      look: (response, index) => {
        pairs[index] = jsonOf(response)
      },
    },
    guard: {
      request: (index) => ({ headers: { authorization: `Bearer ${pairs[index].access_token}` } }),
      answer: (on, request) => guards.get(on)(request),
      look: (found) => {
        if (found.type !== 'authenticated') throw new Error(found.error.reason, { cause: errors[0] })
      },
    },
    introspect: {
      request: (index) =>
        form('/oauth2/introspect', { token: pairs[index].access_token }, { authorization: basic(api) }),
      answer: (on, request) => on.handle(request),
      look: (response) => {
        if (!jsonOf(response).active) throw new Error(response.body, { cause: errors[0] })
      },
    },
    exchange: {
      request: (index) => exchange(codes[index]),
      answer: (on, request) => on.handle(request),
      look: (response, index) => {
        exchanged[index] = jsonOf(response)
      },
    },
    revoke: {
      request: (index) => form('/oauth2/revoke', { token: exchanged[index].refresh_token }),
      answer: (on, request) => on.handle(request),
      look: (response) => ok(response),
    },
    poll: {
      request: (index) => {
        const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
        return form('/oauth2/token', { grant_type, device_code: devices[index] })
      },
      answer: (on, request) => on.handle(request),
      look: ({ body }) => {
        if (!body.includes('authorization_pending')) throw new Error(body, { cause: errors[0] })
      },
    },
  }
  return {
    store,
    operations: Object.fromEntries(
      Object.entries(operations).map(([name, { request, answer, look }]) => [
        name,
        {
          /** Does it for every grant; microseconds for each. */
          run: async (inFlight) => {
            const requests = pairs.map((_, index) => request(index))
            const { each, found } = await timed(GRANTS, inFlight, (index) => answer(server, requests[index]))
            found.forEach(look)
            return each
          },
          /** Does it for one, while what it asks for is noted. */
          shape: async (index) => {
            const own = []
            trace = own
            const found = await answer(traced, request(index))
            trace = undefined
            look(found, index)
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
          return jsonOf(await server.handle(form('/oauth2/device_authorization', {}))).device_code
        })
      }
    },
  }
}

/**
 * Measures one engine.
 * @param makeStore - makes the store, with a clock, and where somebody wants to know what it asks of its engine, with who is told
 * @param loops - by name, what makes a loop for an operation: `fill` is given the records and all round trips, `trip` makes one
 */
async function measure(engine, makeStore, loops, inFlight) {
  const wanted = (name) => args.only.some((each) => `${engine} ${name}`.includes(each))
  const { store, operations, prepare } = await serverOn(makeStore)
  const runs = {}
  for (let round = -1 - WARM_UP; round < ROUNDS; round++) {
    for (const [name, { run, shape }] of Object.entries(operations)) {
      if (!wanted(name) && !(name === 'exchange' && wanted('revoke'))) continue
      await prepare(name)
      // Before all rounds it is done once for every grant, and what it asks of the store becomes the loops' work.
      if (runs[name] === undefined) {
        const asked = []
        for (let index = 0; index < GRANTS; index++) asked.push(await shape(index))
        const records = new Map()
        for (const trip of asked.flat()) {
          for (const key of trip.read ?? []) records.set(key, JSON.stringify((await store.read([key]))[0]?.value))
          if (trip.write !== undefined) records.set(trip.write, trip.value)
        }
        const contenders = { ours: run }
        for (const [loop, make] of Object.entries(loops)) {
          const { fill, trip } = make(name)
          await fill(records, asked.flat())
          contenders[loop] = async () => {
            const { each } = await timed(GRANTS, inFlight, async (index) => {
              for (const step of asked[index]) await trip(step)
            })
            return each
          }
        }
        const sizes = asked[0].map((trip) =>
          trip.read === undefined
            ? `write ${trip.value.length}`
            : `read ${trip.read.map((key) => records.get(key)?.length).join('+')}`,
        )
        const times = Object.fromEntries(Object.keys(contenders).map((contender) => [contender, []]))
        runs[name] = { contenders: Object.entries(contenders), sizes: sizes.join(', '), times }
        continue
      }
      const { contenders, times } = runs[name]
      const turn = (round + 1 + WARM_UP) % contenders.length
      for (const [contender, job] of [...contenders.slice(turn), ...contenders.slice(0, turn)]) {
        const each = await job(inFlight)
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

/** A loop of the least that the engine can do. */
const bare = ({ fill, read, write }) => ({
  fill,
  trip: (step) => (step.read === undefined ? write(step.write, step.value) : read(step.read)),
})

function postgresLoops(pool, own) {
  return {
    bare: (operation) => bare(postgresTrips(pool, `bare_${process.pid}_${operation}`)),
    same: (operation) => {
      const copies = `${namespace}-${operation}`
      const again = new Map()
      return {
        fill: async (_, trips) => {
          await pool.query(`INSERT INTO ${own} SELECT '${copies}', label, key, version, value, expires_at, kept_until, labels
            FROM ${own} WHERE namespace = '${namespace}' AND label = '' ON CONFLICT DO NOTHING`)
          for (const { commands } of trips) {
            for (const command of commands) {
              const values = [copies, ...command.values.slice(1)]
              if (command.name.includes('.update.')) {
                // So that it finds each time the version that it left.
                const [, key, , version] = values
                values[8] = version
                await pool.query(`UPDATE ${own} SET version = $1 WHERE namespace = $2 AND key = $3`, [
                  version,
                  copies,
                  key,
                ])
              }
              again.set(command, { ...command, values })
            }
          }
        },
        trip: async ({ write, commands }) => {
          for (const command of commands) {
            const { rowCount } = await pool.query(again.get(command))
            if (write !== undefined && rowCount !== 1) throw new Error('not written')
          }
        },
      }
    },
  }
}

function redisLoops(client) {
  return {
    bare: (operation) => bare(redisTrips(client, `${namespace}:${operation}:`)),
    same: (operation) => {
      const copy = (key) => key.replace(`${namespace}:`, `${namespace}:${operation}:`)
      const isKey = (value) => value.startsWith(`${namespace}:`)
      const again = new Map()
      return {
        fill: async (_, trips) => {
          for (const { commands } of trips) {
            for (const command of commands) {
              const values = command.map((value) => (isKey(value) ? copy(value) : value))
              for (const key of command.filter(isKey)) {
                const text = await client.get(key).catch(() => null)
                if (text !== null) await client.set(copy(key), text)
              }
              if (values[0] === 'EVALSHA') {
                // So that it finds each time the version that it left.
                const first = 4 + Number(values[2])
                values[first] = values[first + 2].split(' ', 1)[0]
                await client.set(values[3], values[first + 2])
              }
              again.set(command, values)
            }
          }
        },
        trip: async ({ write, commands }) => {
          for (const command of commands) {
            const answer = await client.call(...again.get(command))
            if (write !== undefined && answer[0] !== 1) throw new Error('not written')
          }
        },
      }
    },
  }
}

function sqliteLoops(database) {
  return { bare: (operation) => bare(sqliteTrips(database, `bare_${operation}`)) }
}

console.log(
  `microseconds an operation of grantwell; of a loop that does nothing but read and write the same bytes by keys (bare), and of one that
sends the very commands that grantwell sends (same): medians of ${ROUNDS} rounds of ${GRANTS} grants; after each, grantwell's rate in the loop's, as the
median of the rounds' ratios, and from the quickest round of both, which other work on the machine disturbed least`,
)
const head = ['grantwell', 'bare', 'ratio', 'quick', 'same', 'ratio', 'quick'].map((cell) => cell.padStart(9)).join('')
console.log(`${'engine'.padEnd(16)}${'fly'.padStart(4)} ${'operation'.padEnd(12)}${head}   bytes of JSON`)

const asked = (engine) =>
  args.only.some((each) =>
    ['refresh', 'guard', 'introspect', 'exchange', 'revoke', 'poll', ''].some((name) =>
      `${engine} ${name}`.includes(each),
    ),
  )

for (const inFlight of args['in-flight'].split(',').map(Number)) {
  if (asked('memory')) {
    let only
    await measure('memory', (clock) => (only ??= memoryStore({ clock })), {}, inFlight)
  }
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
    const told = (tell) => ({
      on: () => {},
      query: (command) => {
        // Nobody waits for the removal of what has expired.
        if (!command.name?.includes('removeExpired')) tell(command)
        return own.query(command)
      },
    })
    const makeStore = (clock, tell) => postgresStore(tell === undefined ? own : told(tell), { table, namespace, clock })
    await measure('PostgreSQL', makeStore, postgresLoops(others, table), inFlight)
    const { rows } = await own.query(`SELECT format('DROP TABLE %I', tablename) AS drop FROM pg_tables
      WHERE tablename LIKE 'bare_${process.pid}_%' OR tablename = '${table}'`)
    for (const { drop } of rows) await own.query(drop)
    await own.query(`DROP FUNCTION ${table}_relabel, ${table}_update`)
    await Promise.all(pools.map((pool) => pool.end()))
  }

  if (REDIS_URL === undefined) console.log('Redis: REDIS_URL does not tell where it is')
  else if (asked('Redis')) {
    const client = new Redis(REDIS_URL)
    const told = (tell) => ({
      on: () => {},
      call: (...command) => {
        tell(command)
        return client.call(...command)
      },
    })
    const makeStore = (clock, tell) => redisStore(tell === undefined ? client : told(tell), { namespace, clock })
    await measure('Redis', makeStore, redisLoops(client), inFlight)
    for await (const found of client.scanStream({ match: `${namespace}:*`, count: 1_000 }))
      if (found.length > 0) await client.del(found)
    await client.quit()
  }
}

/**
 * What an engine does at the least: reads values by their keys, and writes one where its version is the one that was left before, by
 * statements that are prepared once. Each is made over a client; `fill` stores what is there at first, by key.
 */

/** Bytes of the records that grantwell reads for many: of an application, and of a resource server. */
const SHARED = { application: 466, api: 422 }

/**
 * Bytes of the grant that grantwell reads in an operation of `run.mjs`, beside the shared records; of what it writes in its place; and of
 * what it sends Redis with that: what else a record is found by, and until when (`total_net_input_bytes` of its `INFO` tells).
 */
const OPERATIONS = {
  guard: { shared: ['application'], reads: 639 },
  introspect: { shared: ['api', 'application'], reads: 639 },
  refresh: { shared: ['application'], reads: 639, writes: 949, beside: 270 },
  exchange: { shared: ['application'], reads: 389, writes: 639, beside: 270 },
  revoke: { shared: ['application'], reads: 639, writes: 456, beside: 270 },
  'device poll': { shared: ['application'], reads: 227, writes: 249, beside: 50 },
}
const GRANTS = 2_000

/** Fills an engine with records of an operation's sizes, and gives what makes the operation's round trips, each time for another grant. */
export async function tripsOf({ fill, read, write }) {
  // What is read is another record than what is written, so that it stays as long as it is.
  const keysOf = (operation, index) => ({ before: `${operation} ${index}`, after: `${operation} ${index} written` })
  const value = (bytes) => 'x'.repeat(bytes)
  await fill([
    ...Object.entries(SHARED).map(([name, bytes]) => [name, value(bytes)]),
    ...Object.entries(OPERATIONS).flatMap(([operation, { reads, writes }]) =>
      Array.from({ length: GRANTS }, (_, index) => keysOf(operation, index)).flatMap(({ before, after }) => [
        [before, value(reads)],
        ...(writes === undefined ? [] : [[after, value(writes)]]),
      ]),
    ),
  ])
  let next = 0
  return async (operation) => {
    const { shared, writes, beside } = OPERATIONS[operation]
    const { before, after } = keysOf(operation, next++ % GRANTS)
    await read([...shared, before])
    if (writes !== undefined) await write(after, value(writes), value(beside))
  }
}

/** @param table - to be made */
export function postgresTrips(pool, table) {
  const ask = (name, text, values) => pool.query({ name: `${name} ${table}`, text, values })
  const versions = new Map()
  return {
    fill: async (records) => {
      const columns = 'key text COLLATE "C" PRIMARY KEY, version bigint, value text'
      await pool.query(`CREATE TABLE ${table} (${columns}) WITH (fillfactor = 75)`)
      const [keys, values] = [0, 1].map((place) => Array.from(records, (record) => record[place]))
      await pool.query(`INSERT INTO ${table} SELECT key, 1, value FROM unnest($1::text[], $2::text[]) r (key, value)`, [
        keys,
        values,
      ])
      for (const key of keys) versions.set(key, 1)
    },
    // No array, for which PostgreSQL would plan anew each time.
    read: (keys) => {
      const places = keys.map((_, place) => `$${place + 1}`)
      return ask(`read ${keys.length}`, `SELECT value FROM ${table} WHERE key IN (${places})`, keys)
    },
    write: async (key, value) => {
      const version = versions.get(key)
      versions.set(key, version + 1)
      const text = `UPDATE ${table} SET version = $2, value = $3 WHERE key = $1 AND version = $4`
      const { rowCount } = await ask('write', text, [key, version + 1, value, version])
      if (rowCount !== 1) throw new Error('not written')
    },
  }
}

/** The shortest compare-and-set that Redis knows. */
const COMPARE_AND_SET = `if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`

/** @param prefix - of every key */
export function redisTrips(client, prefix) {
  const versions = new Map()
  let digest
  return {
    fill: async (records) => {
      digest = await client.script('LOAD', COMPARE_AND_SET)
      await client.mset(Array.from(records, ([key, value]) => [prefix + key, `1 ${value}`]).flat())
      for (const [key] of records) versions.set(key, 1)
    },
    read: (keys) => client.mget(keys.map((key) => prefix + key)),
    write: async (key, value, beside = '') => {
      const version = versions.get(key)
      versions.set(key, version + 1)
      if ((await client.evalsha(digest, 1, prefix + key, `${version} `, `${version + 1} ${value}`, beside)) !== 1)
        throw new Error('not written')
    },
  }
}

/**
 * As durable as grantwell's by default.
 * @param table - to be made
 */
export function sqliteTrips(database, table) {
  database.exec('PRAGMA journal_mode = WAL')
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
      if (update.run(version + 1, value, key, version).changes !== 1) throw new Error('not written')
    },
  }
}

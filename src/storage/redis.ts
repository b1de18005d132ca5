/**
 * The entry point `grantwell/storage/redis`: records in Redis or Valkey, one server or a cluster, for any number of
 * servers. Made for Redis 6.2 and later through ioredis 5 and 6 and node-redis 4 to 6; the client is passed in.
 *
 * Each write is one script, so Redis does all of it or nothing.
 * @module
 */
import type { Seconds } from '../core/values.js'
import type { JsonValue, RecordStore, WriteOptions } from './record-store.js'
import type { IoRedis, NodeRedis, NodeRedisCluster } from './redis/client.js'
import { createSender, listenToErrors, throwWithoutCommand } from './redis/client.js'
import type { Write } from './redis/commands.js'
import { createCommands } from './redis/commands.js'
import { MARGIN } from './redis/compare-and-write.js'
import type { Keys } from './redis/keys.js'
import { createKeys, shardOf } from './redis/keys.js'
import { FIRST_CURSOR, listPage } from './redis/list.js'
import { formatRecord, parseRecord } from './redis/record.js'
import { FIRST_SCAN, scanPage } from './redis/scan.js'
import { batch, batchReads } from './shared/batch.js'
import type { Engine, WithEngine } from './shared/engine.js'
import { ENGINE } from './shared/engine.js'
import { keptUntil } from './shared/expiry.js'
import { freshVersion } from './shared/fresh-version.js'
import { encodeName } from './shared/names.js'
import type { RemoteEngineOptions } from './shared/options.js'
import { DEFAULT_TIMEOUT_MS, readEngineOptions, TIMEOUT } from './shared/options.js'
import { createParseCache } from './shared/parse-cache.js'
import { withTimeout } from './shared/time-out.js'

export { StorageUnavailable } from '../core/errors.js'
export type {
  JsonValue,
  RecordPage,
  RecordStore,
  ScannedRecord,
  ScanPage,
  StoredRecord,
  WriteOptions,
} from './record-store.js'
export type { ErrorSource, IoRedis, NodeRedis, NodeRedisCluster } from './redis/client.js'
export type { EngineOptions, RemoteEngineOptions } from './shared/options.js'

/** Options of {@link redisStore}. */
export interface RedisStoreOptions extends RemoteEngineOptions {}

/**
 * Makes a store over a connected client. It listens to the client's errors, which would otherwise end the process of node-redis,
 * and gives the last one as the cause of a time-out.
 *
 * Redis may lose acknowledged writes when it dies, unless it runs with `appendonly yes` and `appendfsync always`; and when it fails
 * over to a replica. The page on Redis says what that means.
 * @throws GrantwellError `ERR_CONFIGURATION` for a wrong option
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * const store = redisStore(new Redis('redis://127.0.0.1:6379'))
 * ```
 */
export function redisStore(
  client: IoRedis | NodeRedis | NodeRedisCluster,
  options: RedisStoreOptions = {},
): RecordStore {
  const own = readEngineOptions('redisStore', options, { timeoutMs: TIMEOUT })
  const { namespace, clock, timeoutMs = DEFAULT_TIMEOUT_MS } = own
  const send = createSender(client)
  const lastError = listenToErrors(client)
  const keys = createKeys(namespace)
  const parse = createParseCache()
  const commands = createCommands(client, send, keys)
  const { spansSlots, readTexts, compareAndWrite } = commands
  const listing = { send, keys, clock, parse, readText: async (name: string) => (await readTexts([name]))[0] ?? null }

  const inTime = <Result>(work: Promise<Result>): Promise<Result> =>
    withTimeout(timeoutMs, 'Redis', work.catch(throwWithoutCommand), lastError)

  const engine: Engine = { system: 'redis' }
  const readAll = async (names: readonly string[]) => {
    const now = clock()
    const texts = await inTime(readTexts(names.map(encodeName)))
    return texts.map((text) => parseRecord(text, now, parse))
  }
  const readInBatches = batchReads(engine, readAll)

  const writeAll = (writes: readonly Write[]) => inTime(compareAndWrite(writes))
  const writeInBatches = batch({ operation: 'write', engine }, writeAll)
  const writeAlone = async (write: Write) => {
    const [isWritten = false] = await writeAll([write])
    return isWritten
  }

  const store: RecordStore & WithEngine = {
    [ENGINE]: engine,

    // In a cluster, one server that does not answer would fail the reads of all records in a batch.
    read: (names) => (spansSlots() ? readInBatches(names) : readAll(names)),

    write: (key, value, options) => {
      const now = clock()
      const { expiresAt } = options
      const isRemoval = expiresAt !== undefined && now >= expiresAt
      const write = createWrite(keys, key, value, options, now)
      // After a refused batch, each write is sent again. A removal that is sent again finds no record, and would return false.
      return spansSlots() && !isRemoval ? writeInBatches(write) : writeAlone(write)
    },

    list: (label, { limit = 100, cursor = FIRST_CURSOR } = {}) =>
      inTime(listPage(listing, encodeName(label), limit, cursor)),

    scan: ({ limit = 100, cursor = FIRST_SCAN } = {}) =>
      inTime(scanPage({ send, keys, clock, commands }, limit, cursor)),
  }
  return store
}

/** Creates the arguments of the script that writes a record. */
function createWrite(
  { record, index }: Keys,
  key: string,
  value: JsonValue,
  { expected, expiresAt, labels = [] }: WriteOptions,
  now: Seconds,
): Write {
  const name = encodeName(key)
  const shard = shardOf(name)
  const names = [...new Set(labels.map(encodeName))]
  const isRemoval = expiresAt !== undefined && now >= expiresAt
  const expiry = isRemoval ? undefined : expiresAt
  const text = formatRecord({
    version: freshVersion(),
    expiresAt: expiry ?? '',
    keptUntil: expiry === undefined ? '' : keptUntil(expiry, now),
    labels: names,
    value,
  })
  const secondsKept = isRemoval ? '0' : expiry === undefined ? '' : String(expiry - now + MARGIN)
  return {
    now,
    keys: [record(name, shard), ...names.flatMap((label) => index(shard, label))],
    values: [String(expected), text, secondsKept, name],
  }
}

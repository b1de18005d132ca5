/**
 * The entry point `grantwell/storage/redis`: records in Redis or Valkey, one server or a cluster, for any number of
 * servers. Made for Redis 6.2 and later through ioredis 5 and 6 and node-redis 4 to 6; the client is passed in.
 *
 * Every record is in one of 128 shards, each a hash slot of its own, together with its shard's part of every label's index:
 * so a write, which has to change them together, is one script in one slot, and a cluster spreads the shards.
 * @module
 */
import { sha1 } from '@noble/hashes/legacy.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Takes } from '../core/takes.js'
import { isObject } from '../core/takes.js'
import type { Seconds } from '../core/values.js'
import type { Parse, RemoteEngineOptions } from './engine.js'
import {
  checkEngine,
  decodeName,
  encodeName,
  engineOptions,
  freshVersion,
  gathered,
  gatheredReads,
  keptUntil,
  rememberingParser,
  TIMEOUT,
  TIMEOUT_MS,
  within,
} from './engine.js'
import type { RecordPage, RecordStore, StoredRecord } from './record-store.js'

export { StorageUnavailable } from '../core/errors.js'
export type { EngineOptions, RemoteEngineOptions } from './engine.js'
export type { JsonValue, RecordPage, RecordStore, StoredRecord, WriteOptions } from './record-store.js'

/** What tells of errors that belong to no command, such as the end of an idle connection. */
interface ErrorSource {
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** A `Redis` or `Cluster` of ioredis: what is used of it. */
export interface IoRedis extends ErrorSource {
  /** Whether it is a `Cluster`. */
  readonly isCluster?: boolean
  call(command: string, ...values: string[]): Promise<unknown>
}

/** A client of node-redis: what is used of it. */
export interface NodeRedis extends ErrorSource {
  sendCommand(values: string[]): Promise<unknown>
}

/** A cluster of node-redis: what is used of it. */
export interface NodeRedisCluster extends ErrorSource {
  readonly masters: unknown
  sendCommand(firstKey: string, isReadonly: boolean, values: string[]): Promise<unknown>
}

/** Options of {@link redisStore}. */
export interface RedisStoreOptions extends RemoteEngineOptions {}

/** How many hash slots the records are spread over. Another number would look for them elsewhere. */
const SHARDS = 128

/** Seconds that Redis keeps a record longer than its life, since its clock and ours may run on, or be set, differently. */
const MARGIN = 60

/** How many expired records a write that adds to a label's index takes out of it. */
const UNLISTED_AT_ONCE = 16

/** Characters that the three numbers of a record's first line and the spaces behind them have, at most; its labels have the rest. */
const NUMBERS = 60

/** What a script is told of one record. */
interface Write {
  readonly now: Seconds
  readonly keys: readonly string[]
  readonly values: readonly string[]
}

interface Script {
  readonly text: string
  /** What Redis calls it by once it has seen it. */
  readonly digest: string
}

function script(text: string): Script {
  return { text, digest: bytesToHex(sha1(utf8ToBytes(text))) }
}

/**
 * Writes records; for each whether it was written. KEYS, for each: the record; then for each label its index (members in the order of
 * their names) and its expiries (the same members by how long they are kept). ARGV: now; then for each: how many keys it has, expected
 * version, the new record, seconds to keep it ('' for ever, '0' to remove it), name.
 * A client that loses its connection may send a write again, and what was written before a script failed is written again, too: so one
 * that finds its own version has happened before. A removal that comes again finds nothing and says no, which makes the server decide anew.
 *
 * The indexes know of a record its labels, and how long it is kept: they are left alone where it has the labels that it had, and is
 * kept no longer and half as long at least, as at most writes. Numbers that are the same each time are texts: Lua prints the others anew.
 */
const WRITE = script(`
local call = redis.call
local now = tonumber(ARGV[1])
local function write(first, last, expected, record, life, name)
  local key = KEYS[first]
  local fresh, keeping, labels = string.match(record, '^(%d+) %d* (%d*)([^\\n]*)')
  local version, expiry, till, had = string.match(call('GETRANGE', key, '0', #labels + ${NUMBERS}), '^(%d+) (%d*) (%d*)([^\\n]*)')
  if not version or (expiry ~= '' and tonumber(expiry) <= now) then version, had = '0', nil end
  if version ~= expected then
    if version ~= fresh then return 0 end
    had = nil
  elseif life == '0' then
    call('DEL', key)
    return 1
  elseif life == '' then
    call('SET', key, record)
  else
    call('SET', key, record, 'EX', life)
  end
  local kept, before = tonumber(keeping) or math.huge, 0
  if had == labels then
    before = tonumber(till) or math.huge
    if kept <= before and before - now <= 2 * (kept - now) then return 1 end
  end
  local score = keeping == '' and '+inf' or keeping
  for k = first + 1, last, 2 do
    local index, expiries = KEYS[k], KEYS[k + 1]
    if call('ZADD', expiries, score, name) == 1 then
      call('ZADD', index, '0', name)
      local expired = call('ZRANGEBYSCORE', expiries, '-inf', ARGV[1], 'LIMIT', '0', '${UNLISTED_AT_ONCE}')
      if #expired > 0 then
        call('ZREM', index, unpack(expired))
        call('ZREM', expiries, unpack(expired))
      end
    end
    -- Both live as long as the longest is kept. They do already, unless they are new, or one was kept for ever, or this one longer.
    local left, needed = -1, kept
    if kept >= before then left = call('TTL', expiries) end
    if left == -1 then needed = tonumber(call('ZREVRANGE', expiries, '0', '0', 'WITHSCORES')[2]) end
    local rest = needed - now + ${MARGIN}
    if left < rest and needed ~= before then
      if rest < math.huge then
        local seconds = string.format('%d', rest + ${MARGIN})
        call('EXPIRE', index, seconds)
        call('EXPIRE', expiries, seconds)
      elseif left ~= -1 then
        call('PERSIST', index)
        call('PERSIST', expiries)
      end
    end
  end
  return 1
end
local written, first = {}, 1
for a = 2, #ARGV, 5 do
  local after = first + tonumber(ARGV[a])
  written[#written + 1] = write(first, after - 1, unpack(ARGV, a + 1, a + 4))
  first = after
end
return written`)

/**
 * Takes a record out of a label's index, unless it has the label. KEYS: record, index, expiries. ARGV: name, label. One that has expired
 * stays until Redis forgets it: for a server whose clock is behind it lives, and may be made to live on.
 */
const UNLIST = script(`
local stored = redis.call('GET', KEYS[1])
if stored and string.find(string.match(stored, '^[^\\n]*'), ARGV[2], 1, true) then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
return 1`)

/**
 * Makes a store over a connected client. It listens to the client's errors, which would else end the process of node-redis, and
 * gives the last one as the cause of a time-out. What Redis acknowledged it may lose when it dies, unless it runs with
 * `appendonly yes` and `appendfsync always`; and where it fails over to a replica: SECURITY.md says what that means.
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
  const { namespace, clock, timeoutMs = TIMEOUT_MS } = engineOptions('redisStore', options, { timeoutMs: TIMEOUT })
  const send = senderOf(client)
  const parse = rememberingParser()
  const lastError = lastErrorOf(client)
  const shardKey = (shard: number): string => `${namespace}:{${shard}}`
  const recordKey = (name: string, shard = shardOf(name)): string => `${shardKey(shard)}:record:${name}`
  const indexKeys = (shard: number, label: string): readonly [string, string] => [
    `${shardKey(shard)}:label:${label}`,
    `${shardKey(shard)}:expiry:${label}`,
  ]

  /** Whether one command reads and writes records of different hash slots. */
  let together = !('masters' in client || ('isCluster' in client && client.isCluster === true))

  const waiting = <Result>(work: Promise<Result>): Promise<Result> =>
    within(timeoutMs, 'Redis', work.catch(withoutCommand), lastError)

  /** Runs a script by its digest; in full where a server has not seen it. */
  async function run({ text, digest }: Script, keys: readonly string[], values: readonly string[]): Promise<unknown> {
    const [key = ''] = keys
    const rest = [String(keys.length), ...keys, ...values]
    try {
      return await send(key, ['EVALSHA', digest, ...rest])
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return send(key, ['EVAL', text, ...rest])
    }
  }

  /** Reads records that are anywhere: by one command, or where they cannot be, by one for each. */
  async function readAll(names: readonly string[]): Promise<readonly (string | null)[]> {
    const asked = names.map((name) => recordKey(name))
    const [key = ''] = asked
    try {
      if (together && asked.length > 1) return (await send(key, ['MGET', ...asked])) as readonly (string | null)[] // its reply
    } catch (error) {
      if (!isApart(error)) throw error
      together = false
    }
    return (await Promise.all(asked.map((each) => send(each, ['GET', each])))) as readonly (string | null)[] // its reply
  }

  async function read(keys: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    const now = clock()
    const texts = await waiting(readAll(keys.map(encodeName)))
    return texts.map((text) => recordOf(text, now, parse))
  }

  /** Writes records by one script. */
  async function writeAll(writes: readonly Write[]): Promise<readonly boolean[]> {
    const keys = writes.flatMap((each) => each.keys)
    // The earliest: before what any of them is kept until.
    const now = Math.min(...writes.map((each) => each.now))
    const values = [String(now), ...writes.flatMap((each) => [String(each.keys.length), ...each.values])]
    const writing = run(WRITE, keys, values).catch((error) => {
      if (isApart(error)) together = false
      throw error
    })
    const written = (await waiting(writing)) as readonly unknown[] // the script's
    return written.map((each) => Number(each) === 1)
  }

  async function write(alone: Write): Promise<boolean> {
    const [written = false] = await writeAll([alone])
    return written
  }

  const readTogether = gatheredReads(read)
  const writeTogether = gathered(writeAll)

  return {
    // In a cluster, one server that does not answer fails for nobody who does not need it.
    read: (keys) => (together ? readTogether(keys) : read(keys)),

    write: (key, value, { expected, expiresAt, labels = [] }) => {
      const now = clock()
      const name = encodeName(key)
      const names = [...new Set(labels.map(encodeName))]
      const shard = shardOf(name)
      const keys = [recordKey(name, shard), ...names.flatMap((label) => indexKeys(shard, label))]
      const gone = expiresAt !== undefined && now >= expiresAt
      const listed = `${expiresAt === undefined || gone ? '' : keptUntil(expiresAt, now)}${joined(names)}`
      const kept = expiresAt === undefined ? '' : gone ? '0' : String(expiresAt - now + MARGIN)
      const record = `${freshVersion()} ${gone ? '' : (expiresAt ?? '')} ${listed}\n${JSON.stringify(value)}`
      const values = [String(expected), record, kept, name]
      // A removal that came again would find nothing.
      return together && !gone ? writeTogether({ now, keys, values }) : write({ now, keys, values })
    },

    list: (label, { limit = 100, cursor = '0:' } = {}) => waiting(page(encodeName(label), limit, cursor)),
  }

  /** A cursor is a shard, and the name in it after which the page begins. */
  async function page(label: string, limit: number, cursor: string): Promise<RecordPage> {
    const now = clock()
    // It may come from the address of a page.
    const [, shardOfCursor = '', after = ''] = /^(\d{1,3}):(.*)$/s.exec(cursor) ?? []
    const begin = shardOfCursor === '' || Number(shardOfCursor) >= SHARDS ? SHARDS : Number(shardOfCursor)
    const shards = Array.from({ length: SHARDS - begin }, (_, place) => begin + place)
    const sizes = await Promise.all(
      shards.map(async (shard) => {
        const [index] = indexKeys(shard, label)
        return Number(await send(index, ['ZCARD', index]))
      }),
    )
    // As many shards as fill the page, if none of them has names that no longer count.
    const asked: number[] = []
    let most = 0
    for (const [place, shard] of shards.entries()) {
      if (most > limit) break
      const size = sizes[place] ?? 0
      if (size > 0) asked.push(shard)
      most += size
    }
    const found = await Promise.all(
      asked.map(async (shard) => {
        const [index] = indexKeys(shard, label)
        const from = shard === begin && after !== '' ? `(${after}` : '-'
        const range = ['ZRANGEBYLEX', index, from, '+', 'LIMIT', '0', String(limit + 1)]
        const names = (await send(index, range)) as readonly string[] // the members of a sorted set
        return names.map((name) => ({ shard, name }))
      }),
    )
    const places = found.flat()
    const records = await Promise.all(
      places.slice(0, limit).map(async ({ shard, name }) => {
        const [text = null] = await readAll([name])
        const record = recordOf(text, now, parse)
        if (record !== undefined && labelsOf(text).includes(joined([label])))
          return [{ ...record, key: decodeName(name) }]
        await run(UNLIST, [recordKey(name), ...indexKeys(shard, label)], [name, joined([label])])
        return []
      }),
    )
    const last = places.length > limit ? places[limit - 1] : undefined
    const next = last === undefined ? (asked.at(-1) ?? SHARDS) + 1 : last.shard
    const more = last !== undefined || (most > limit && next < SHARDS)
    return more ? { records: records.flat(), cursor: `${next}:${last?.name ?? ''}` } : { records: records.flat() }
  }
}

/**
 * A record as Redis has it, version, expiry, how long it is kept and labels in a line, then the value; undefined where there is none, or none
 * any more.
 */
function recordOf(text: string | null, now: number, parse: Parse): StoredRecord | undefined {
  if (text === null) return undefined
  const end = text.indexOf(' ')
  const expiresAt = text.slice(end + 1, text.indexOf(' ', end + 1))
  if (expiresAt !== '' && now >= Number(expiresAt)) return undefined
  const version = Number(text.slice(0, end))
  return { value: parse(text.slice(text.indexOf('\n', end) + 1), version), version }
}

/** Whether an error says that keys lie in different hash slots. */
function isApart(error: unknown): boolean {
  return error instanceof Error && error.message.includes('CROSSSLOT')
}

/** The line of a record that has its labels. */
function labelsOf(text: string | null): string {
  return text?.slice(0, text.indexOf('\n')) ?? ''
}

/** Labels as a record keeps them: each between tabs, which no encoded name has. */
function joined(labels: readonly string[]): string {
  return labels.map((label) => `\t=${label}\t`).join('')
}

/** What clients said of their own accord last. Stores of several namespaces share a client, and one listener. */
const lastErrors = new WeakMap<object, { error?: unknown }>()

function lastErrorOf(client: ErrorSource): () => unknown {
  const known = lastErrors.get(client)
  const last = known ?? {}
  if (known === undefined) {
    lastErrors.set(client, last)
    client.on('error', (error) => {
      last.error = error
    })
  }
  return () => last.error
}

/** Passes an error on without the command that failed, which ioredis puts into it: it has the record in it. */
function withoutCommand(error: unknown): never {
  if (error instanceof Error && 'command' in error) delete error.command
  throw error
}

/** FNV-1a over the characters of a name. */
function shardOf(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return (hash >>> 0) % SHARDS
}

/** Sends a command to the server that has a key. */
const CLIENT: Omit<Takes, 'secret'> = {
  words: 'a Redis or Cluster of ioredis, or a client or cluster of node-redis',
  fits: (value) => isObject(value) && ('call' in value || 'sendCommand' in value) && typeof value['on'] === 'function',
}

function senderOf(client: IoRedis | NodeRedis | NodeRedisCluster): (key: string, values: string[]) => Promise<unknown> {
  checkEngine('redisStore', 'client', CLIENT, client)
  if ('masters' in client) return (key, values) => client.sendCommand(key, false, values)
  if ('call' in client) return (_, [command = '', ...values]) => client.call(command, ...values)
  return (_, values) => client.sendCommand(values)
}

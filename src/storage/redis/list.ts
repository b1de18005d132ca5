/**
 * Lists of the records with a label, page by page through the shards.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { RecordPage, StoredRecord } from '../record-store.js'
import { decodeName } from '../shared/names.js'
import type { Parse } from '../shared/parse-cache.js'
import type { SendCommand } from './client.js'
import type { Keys } from './keys.js'
import { SHARDS } from './keys.js'
import { formatLabel, hasLabel, parseRecord } from './record.js'
import { createScript, runScript } from './scripts.js'

/**
 * Takes a record out of a label's index, unless it has the label. KEYS: record, index, expiries. ARGV: name, label.
 *
 * An expired record stays in the index until Redis removes the record: for a server whose clock is behind, the record lives, and a write
 * may make it live on.
 */
const UNLIST = createScript(`
local stored = redis.call('GET', KEYS[1])
if stored and string.find(string.match(stored, '^[^\\n]*'), ARGV[2], 1, true) then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
return 1`)

/** The things that a list needs of its store. */
export interface Listing {
  readonly send: SendCommand
  readonly keys: Keys
  readonly clock: () => Seconds
  readonly parse: Parse
  /** Reads the text of a record. */
  readonly readText: (name: string) => Promise<string | null>
}

/** A place in a label's index: a cursor is the place after which a page begins, as `shard:name`. */
interface Place {
  readonly shard: number
  readonly name: string
}

/** The place before the first record. */
export const FIRST_CURSOR = '0:'

/** Reads one page of the records with a label. */
export async function listPage(listing: Listing, label: string, limit: number, cursor: string): Promise<RecordPage> {
  const now = listing.clock()
  const begin = parseCursor(cursor)
  const { shards, names } = await shardsOfPage(listing, label, limit, begin.shard)
  const found = await Promise.all(shards.map((shard) => placesIn(listing, label, limit, shard, begin)))
  const places = found.flat()
  const records = await Promise.all(places.slice(0, limit).map((place) => readListed(listing, label, now, place)))
  const last = places.length > limit ? places[limit - 1] : undefined
  const next = last ?? { shard: (shards.at(-1) ?? SHARDS) + 1, name: '' }
  const isMore = last !== undefined || (names > limit && next.shard < SHARDS)
  return isMore ? { records: records.flat(), cursor: `${next.shard}:${next.name}` } : { records: records.flat() }
}

/** Parses a cursor. It may come from the address of a page; a wrong one is a place after all records. */
function parseCursor(cursor: string): Place {
  const [, shard = '', name = ''] = /^(\d{1,3}):(.*)$/s.exec(cursor) ?? []
  return { shard: shard === '' || Number(shard) >= SHARDS ? SHARDS : Number(shard), name }
}

/** Chooses as many shards as fill a page, if all of their names still count, and the number of those names. */
async function shardsOfPage(
  { send, keys }: Listing,
  label: string,
  limit: number,
  begin: number,
): Promise<{ readonly shards: readonly number[]; readonly names: number }> {
  const all = Array.from({ length: SHARDS - begin }, (_, index) => begin + index)
  const sizes = await Promise.all(
    all.map(async (shard) => {
      const [index] = keys.index(shard, label)
      return Number(await send(index, ['ZCARD', index]))
    }),
  )
  const shards: number[] = []
  let names = 0
  for (const [index, shard] of all.entries()) {
    if (names > limit) break
    const size = sizes[index] ?? 0
    if (size > 0) shards.push(shard)
    names += size
  }
  return { shards, names }
}

/** Reads the places of a shard, up to one more than a page has. */
async function placesIn(
  { send, keys }: Listing,
  label: string,
  limit: number,
  shard: number,
  begin: Place,
): Promise<readonly Place[]> {
  const [index] = keys.index(shard, label)
  const from = shard === begin.shard && begin.name !== '' ? `(${begin.name}` : '-'
  const range = ['ZRANGEBYLEX', index, from, '+', 'LIMIT', '0', String(limit + 1)]
  const names = (await send(index, range)) as readonly string[] // the members of a sorted set
  return names.map((name) => ({ shard, name }))
}

/** Reads the record of a place. Without a live record that has the label, takes the place out of the index. */
async function readListed(
  { send, keys, parse, readText }: Listing,
  label: string,
  now: Seconds,
  { shard, name }: Place,
): Promise<readonly (StoredRecord & { readonly key: string })[]> {
  const text = await readText(name)
  const record = parseRecord(text, now, parse)
  if (record !== undefined && hasLabel(text, label)) return [{ ...record, key: decodeName(name) }]
  await runScript(send, UNLIST, [keys.record(name), ...keys.index(shard, label)], [name, formatLabel(label)])
  return []
}

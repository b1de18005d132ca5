/**
 * The scan of all records: pages of Redis's own scan of its keys.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { ScanPage } from '../record-store.js'
import { decodeName } from '../shared/names.js'
import { parseAlone } from '../shared/parse-cache.js'
import type { SendCommand } from './client.js'
import type { Commands } from './commands.js'
import type { Keys } from './keys.js'
import { SHARDS } from './keys.js'
import { parseScanned } from './record.js'
import { createScript, runScript } from './scripts.js'

/**
 * Scans the keys of records. KEYS: the beginning of their keys. ARGV: Redis's cursor, the number of keys to look at, what may stand
 * between that beginning and the names. Returns the next cursor, then the names.
 *
 * It is a script since a script runs on the server that has its key, and since a client may put a prefix before keys.
 */
const SCAN = createScript(`
local start = KEYS[1]
local pattern = string.gsub(start, '[%[%]*?\\\\]', '\\\\%0') .. ARGV[3] .. '*'
local page = redis.call('SCAN', ARGV[1], 'MATCH', pattern, 'COUNT', ARGV[2])
local result = { page[1] }
for _, key in ipairs(page[2]) do
  local from = #start
  if ARGV[3] ~= '' then _, from = string.find(key, '}:record:', #start, true) end
  if from then result[#result + 1] = string.sub(key, from + 1) end
end
return result`)

/** The things that a scan needs of its store. */
export interface Scanning {
  readonly send: SendCommand
  readonly keys: Keys
  readonly clock: () => Seconds
  readonly commands: Pick<Commands, 'spansSlots' | 'readTexts'>
}

/**
 * A place in the scan, as `shard:cursor` of Redis. One server scans all shards at once; of a cluster, each shard is scanned on the server
 * that has it.
 */
interface Place {
  readonly shard: number
  readonly cursor: string
}

/**
 * The fewest keys that Redis looks at for a page. It also looks at keys of labels and of other namespaces, so a page of few records would
 * take many round trips.
 */
const LEAST_LOOKED_AT = 1_000

/** The cursor before the first page. */
export const FIRST_SCAN = '0:0'

/** Two names whose records are in different shards. */
export const OF_TWO_SHARDS = ['a', 'b'] as const

/** Reads one page of all records. */
export async function scanPage(scanning: Scanning, limit: number, cursor: string): Promise<ScanPage> {
  const { clock, commands } = scanning
  const now = clock()
  // One read of two shards finds a cluster whose client does not tell of it: of that, one server alone would be scanned.
  if (cursor === FIRST_SCAN && commands.spansSlots()) await commands.readTexts(OF_TWO_SHARDS)
  const isWhole = commands.spansSlots()
  const place = parsePlace(cursor)
  const { next, names } = await scanNames(scanning, limit, place, isWhole)
  const texts = names.length === 0 ? [] : await commands.readTexts(names)
  const records = names.flatMap((name, index) => {
    const found = parseScanned(texts[index] ?? null, now, parseAlone)
    return found === undefined ? [] : [{ ...found, key: decodeName(name) }]
  })
  if (next !== '0') return { records, cursor: `${place.shard}:${next}` }
  return isWhole || place.shard + 1 >= SHARDS ? { records } : { records, cursor: `${place.shard + 1}:0` }
}

/** Parses a cursor; a wrong one is the place before the last shard's first record. */
function parsePlace(cursor: string): Place {
  const [, shard, of] = /^(\d{1,3}):(\d{1,20})$/.exec(cursor) ?? []
  return of === undefined || Number(shard) >= SHARDS
    ? { shard: SHARDS - 1, cursor: '0' }
    : { shard: Number(shard), cursor: of }
}

/** Asks Redis for the names of a page. */
async function scanNames(
  { send, keys }: Scanning,
  limit: number,
  { shard, cursor }: Place,
  isWhole: boolean,
): Promise<{ readonly next: string; readonly names: readonly string[] }> {
  const [start, between] = isWhole ? [keys.anyShard, '*}:record:'] : [keys.record('', shard), '']
  const page = await runScript(send, SCAN, [start], [cursor, String(Math.max(limit, LEAST_LOOKED_AT)), between])
  const [next = '0', ...names] = page as readonly string[] // the script's reply
  return { next: String(next), names }
}

/**
 * The script that writes records and compares versions: a record is written only if its stored version is the expected one.
 * @module
 */
import { NUMBERS_LENGTH } from './record.js'
import type { Script } from './scripts.js'
import { createScript } from './scripts.js'

/** Seconds that Redis keeps a record beyond its life, because the clocks of Redis and of the servers may differ. */
export const MARGIN = 60

/** The most expired records that a write takes out of a label's index when it adds to the index. */
const MAX_UNLISTED = 16

/**
 * Writes records. Returns 1 for each that it wrote, else 0.
 *
 * - KEYS, for each record: the record; then for each label its index (members in the order of their names) and its expiries (the same
 *   members by the time they are kept until).
 * - ARGV: now; then for each record: its number of keys, the expected version, the new record, seconds to keep it (`''` for ever, `'0'`
 *   to remove it), its name.
 *
 * A client that loses its connection may send a script again, and the store sends one again that failed half-way. So a write that finds
 * its own version has happened before, and counts as written. A removal that is sent again finds no record and returns 0; then the server
 * decides anew.
 *
 * Most writes leave the indexes alone: those of a record with the labels that it had, which is kept no longer than before and at least half
 * as long. Arguments that are the same in each call are texts, because Lua formats a number anew each time.
 */
export const COMPARE_AND_WRITE: Script = createScript(`
local call = redis.call
local now = tonumber(ARGV[1])
local function write(first, last, expected, record, life, name)
  local key = KEYS[first]
  local fresh, keeping, labels = string.match(record, '^(%d+) %d* (%d*)([^\\n]*)')
  local version, expiry, till, had = string.match(call('GETRANGE', key, '0', #labels + ${NUMBERS_LENGTH}), '^(%d+) (%d*) (%d*)([^\\n]*)')
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
      local expired = call('ZRANGEBYSCORE', expiries, '-inf', ARGV[1], 'LIMIT', '0', '${MAX_UNLISTED}')
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

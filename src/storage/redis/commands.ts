/**
 * Reads and writes of several records, by one command where Redis permits it.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { RedisClient, SendCommand } from './client.js'
import { isAcrossSlots, isCluster } from './client.js'
import { COMPARE_AND_WRITE } from './compare-and-write.js'
import type { Keys } from './keys.js'
import { runScript } from './scripts.js'

/** The arguments of the script for one record. */
export interface Write {
  readonly now: Seconds
  readonly keys: readonly string[]
  readonly values: readonly string[]
}

/** The commands of a store. */
export interface Commands {
  /** True if one command may use records of different hash slots: not in a cluster. */
  readonly spansSlots: () => boolean
  /** Reads the texts of records, wherever they are: by one command, or in a cluster by one for each. */
  readonly readTexts: (names: readonly string[]) => Promise<readonly (string | null)[]>
  /** Writes records by one script. Returns true for each that it wrote. */
  readonly compareAndWrite: (writes: readonly Write[]) => Promise<readonly boolean[]>
}

/** Creates the commands of a store. If a client does not tell that it belongs to a cluster, the first CROSSSLOT error does. */
export function createCommands(client: RedisClient, send: SendCommand, keys: Keys): Commands {
  let spansSlots = !isCluster(client)

  return {
    spansSlots: () => spansSlots,

    async readTexts(names) {
      const records = names.map((name) => keys.record(name))
      const [first = ''] = records
      try {
        if (spansSlots && records.length > 1)
          return (await send(first, ['MGET', ...records])) as readonly (string | null)[] // its reply
      } catch (error) {
        if (!isAcrossSlots(error)) throw error
        spansSlots = false
      }
      const texts = await Promise.all(records.map((record) => send(record, ['GET', record])))
      return texts as readonly (string | null)[] // the replies
    },

    async compareAndWrite(writes) {
      // At the earliest of their times, each of the records is still to be kept.
      const now = Math.min(...writes.map((write) => write.now))
      const values = writes.flatMap((write) => [String(write.keys.length), ...write.values])
      try {
        const allKeys = writes.flatMap((write) => write.keys)
        const written = await runScript(send, COMPARE_AND_WRITE, allKeys, [String(now), ...values])
        return (written as readonly unknown[]).map((each) => Number(each) === 1) // the script's reply
      } catch (error) {
        if (isAcrossSlots(error)) spansSlots = false
        throw error
      }
    },
  }
}

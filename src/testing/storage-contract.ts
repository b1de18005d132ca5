/**
 * The contract of a `RecordStore`: every clause is a named case, for any engine and any test runner.
 * @module
 */
import type { Seconds } from '../core/values.js'
import { checkedOptions, WHOLE, wholeFrom } from './options.js'
import type { Examples } from './storage-contract/assert.js'
import { show } from './storage-contract/assert.js'
import type { Bench, Cases, Clause, Connection, MakeStore } from './storage-contract/bench.js'
import { connectionTo, FAR_AHEAD, LONG_PAST, random } from './storage-contract/bench.js'
import { connections } from './storage-contract/connections.js'
import { expiry } from './storage-contract/expiry.js'
import { keysAndValues } from './storage-contract/keys-and-values.js'
import { labelsAndLists } from './storage-contract/labels-and-lists.js'
import { readsAndWrites } from './storage-contract/reads-and-writes.js'
import { scans } from './storage-contract/scans.js'
import { virtualClock } from './virtual-clock.js'

export type { MakeStore, StoreWiring, TestedStore } from './storage-contract/bench.js'

/** A clause of the contract. */
export interface ContractCase {
  /** The clause, as the title of a test. */
  readonly name: string
  /** Rejects with an Error that says what the contract demands and what came instead. */
  readonly run: () => Promise<void>
}

/** Options of {@link storageContract}. */
export interface StorageContractOptions {
  /** The seed of random examples, a whole number; another one each time by default. A failure names its own. */
  readonly seed?: number
  /** The number of random examples of a case that has any, from 1 on; 50 by default. Fewer save time on a slow engine. */
  readonly numRuns?: number
}

/**
 * Makes the cases of the contract, each with a store of a namespace of its own. They may run in any order and at the same time;
 * a case makes at most some 2,000 round trips, many of them at once.
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown or wrong option
 * @example
 * ```ts
 * for (const { name, run } of storageContract(makeStore)) test(name, run)
 * ```
 */
export function storageContract(makeStore: MakeStore, options: StorageContractOptions = {}): readonly ContractCase[] {
  const examples = examplesOf(options)
  const session = `t${random().toString(36)}${random().toString(36)}`
  return CASES.map(({ name, clause, starts }, index) => ({
    name,
    run: async () => {
      for (const start of starts) {
        const namespace = `${session}-${index}-${random().toString(36)}`
        try {
          await tried(clause, makeStore, { start, namespace, examples })
        } catch (error) {
          if (starts.length === 1) throw error
          const reason = error instanceof Error ? error.message : show(error)
          throw new Error(`${reason}\nwith a clock that began at ${start}`, { cause: error })
        }
      }
    },
  }))
}

/** The clauses. Those on expiry run twice, with a clock far ahead of the engine's own and one far behind it. */
const CASES: readonly { readonly name: string; readonly clause: Clause; readonly starts: readonly Seconds[] }[] = [
  ...startedAt([FAR_AHEAD], { ...readsAndWrites, ...keysAndValues }),
  ...startedAt([LONG_PAST, FAR_AHEAD], expiry),
  ...startedAt([FAR_AHEAD], { ...labelsAndLists, ...scans, ...connections }),
]

function startedAt(starts: readonly Seconds[], cases: Cases): typeof CASES {
  return Object.entries(cases).map(([name, clause]) => ({ name, clause, starts }))
}

/** Tries a clause, and closes every store that it opened. */
async function tried(
  clause: Clause,
  makeStore: MakeStore,
  { start, namespace, examples }: Pick<Bench, 'start' | 'namespace' | 'examples'>,
): Promise<void> {
  const opened: Connection[] = []
  const clock = virtualClock(start)
  const connect = async (given = namespace): Promise<Connection> => {
    const connection = connectionTo(await makeStore({ clock, namespace: given }))
    opened.push(connection)
    return connection
  }
  try {
    await clause({ clock, start, namespace, connect, examples, store: await connect() })
  } catch (error) {
    await Promise.allSettled(opened.map(({ close }) => close()))
    throw error
  }
  await Promise.all(opened.map(({ close }) => close()))
}

function examplesOf(options: StorageContractOptions): Examples {
  const { seed = random() | 0, numRuns = 50 } = checkedOptions('storageContract', options, {
    seed: WHOLE,
    numRuns: wholeFrom(1),
  })
  return { seed, numRuns }
}

/**
 * Batches: calls made in one turn of the event loop go to the engine together, since a round trip costs the driver and the engine
 * more than the records in it. On PostgreSQL, this makes 1.5 to 1.8 times as many requests a second (bench/README.md).
 * @module
 */
import { StorageUnavailable } from '../../core/errors.js'
import type { RecordStore, StoredRecord } from '../record-store.js'
import type { Engine } from './engine.js'
import { isOutcomeUnknown } from './time-out.js'

/** The most calls in one batch. The next batch is under way while the engine works on this one. */
const MAX_BATCH = 16

/** Runs an action after the input that has arrived is handled; on a runtime without `setImmediate`, after the running code. */
const atEndOfTurn: (action: () => void) => void = typeof setImmediate === 'function' ? setImmediate : queueMicrotask

/** Processes the items of a batch. Returns a result for each, in their order. */
type ProcessAll<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>

/** The kind of a store's calls, and the engine that they go to. */
interface BatchTarget {
  readonly operation: 'read' | 'write'
  readonly engine: Engine
}

/** A call that waits for its result. */
interface Call<Item, Result> {
  readonly item: Item
  /** The value that the observer of the engine returned for it. */
  readonly caller: unknown
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Creates a function that processes single items, in batches. If the engine refuses a batch, each of its items is processed
 * alone, so that no call fails because of another one.
 * @param processAll - may be called again for an item that it was called for before
 */
export function batch<Item, Result extends {}>(
  target: BatchTarget,
  processAll: ProcessAll<Item, Result>,
): (item: Item) => Promise<Result> {
  let waiting: Call<Item, Result>[] = []
  const send = (): void => {
    const calls = waiting
    waiting = []
    if (calls.length > 0) sendBatch(target, processAll, calls)
  }
  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) atEndOfTurn(send)
      waiting.push({ item, resolve, reject, caller: target.engine.observer?.onCall() })
      if (waiting.length === MAX_BATCH) send()
    })
}

/** Processes a batch, and settles its calls. */
function sendBatch<Item, Result extends {}>(
  target: BatchTarget,
  processAll: ProcessAll<Item, Result>,
  calls: readonly Call<Item, Result>[],
): void {
  const settle = (results: readonly Result[]): void => {
    for (const [index, { resolve, reject }] of calls.entries()) {
      const result = results[index]
      if (result === undefined) reject(new StorageUnavailable('the engine left a result out of its answer'))
      else resolve(result)
    }
  }
  const fail = (error: unknown): void => {
    if (calls.length > 1 && !isOutcomeUnknown(error)) for (const call of calls) sendBatch(target, processAll, [call])
    else for (const { reject } of calls) reject(error)
  }
  const { observer } = target.engine
  const go = () => processAll(calls.map(({ item }) => item))
  const going =
    observer === undefined
      ? go()
      : observer.onRoundTrip(
          target.operation,
          calls.map(({ caller }) => caller),
          go,
        )
  going.then(settle, fail)
}

/**
 * Creates the `read` of a store, in batches. A key that several calls read, such as an application's, is read once.
 * @param read - reads records in one round trip
 */
export function batchReads(
  engine: Engine,
  read: (keys: readonly string[]) => Promise<readonly (StoredRecord | undefined)[]>,
): RecordStore['read'] {
  return batch({ operation: 'read', engine }, async (calls: readonly (readonly string[])[]) => {
    const keys = [...new Set(calls.flat())]
    const records = await read(keys)
    const found = new Map(keys.map((key, index) => [key, records[index]]))
    return calls.map((call) => call.map((key) => found.get(key)))
  })
}

/**
 * The memory that is in use after garbage collection.
 * @module
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc') // a context made after the flag has it

/** Bytes of the heap after a full collection; twice with a turn in between, for what finalizers let go of. */
export async function usedHeap(): Promise<number> {
  collect()
  await new Promise((resolve) => setTimeout(resolve, 20))
  collect()
  return process.memoryUsage().heapUsed
}

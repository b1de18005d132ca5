/**
 * Time-outs and failures of engines, as the one error `StorageUnavailable`.
 * @module
 */
import { StorageUnavailable } from '../../core/errors.js'

/** The errors of time-outs. Their cause is an earlier error of the client, not an answer of the engine. */
const timeOuts = new WeakSet<StorageUnavailable>()

/**
 * Waits for an engine's work, up to a time.
 * @param engine - the engine's name, for messages
 * @param lastError - returns the last error that the client emitted, which tells why there was no answer
 * @throws StorageUnavailable if the work fails or takes too long
 */
export function withTimeout<Result>(
  timeoutMs: number,
  engine: string,
  work: Promise<Result>,
  lastError?: () => unknown,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const cause = lastError?.()
      const late = new StorageUnavailable(`${engine} did not answer within ${timeoutMs} ms${reasonOf(cause)}`, cause)
      timeOuts.add(late)
      reject(late)
    }, timeoutMs)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: unknown) => {
        clearTimeout(timer)
        // The time-out of node-redis has an empty message.
        const reason = reasonOf(error instanceof Error && error.message === '' ? lastError?.() : error)
        reject(error instanceof StorageUnavailable ? error : new StorageUnavailable(`${engine} failed${reason}`, error))
      },
    )
  })
}

/**
 * Returns true if the outcome of an operation is unknown. The outcome of a refused operation is known:
 * - Redis begins its message with a word in capitals. What the script did before may be done again.
 * - PostgreSQL gives its error a severity, and has done nothing. But an error about the connection (class 08) or the server's
 *   end (class 57P) is not a refusal.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof StorageUnavailable)) return false
  const { cause } = error
  if (timeOuts.has(error) || !(cause instanceof Error)) return true
  if ('severity' in cause) return !('code' in cause) || /^(?:08|57P)/.test(String(cause.code))
  return !/^[A-Z]+ /.test(cause.message)
}

/**
 * Returns the part of an error that may be shown in a message: the error of a system call (`: connect ECONNREFUSED
 * 127.0.0.1:5432`), or the reason for which PostgreSQL refused a connection. All other messages may contain data.
 */
function reasonOf(error: unknown): string {
  // A name with several addresses gives an error for each; the first one is enough.
  const [first] = error instanceof AggregateError ? error.errors : [error]
  if (!(first instanceof Error)) return ''
  return 'syscall' in first || ('severity' in first && first.severity === 'FATAL') ? `: ${first.message}` : ''
}

/**
 * What the stores on engines share: options, versions, names as every engine can keep them, and errors.
 * @module
 */
import { configurationError, StorageUnavailable } from '../core/errors.js'
import type { Takes, TakesOf } from '../core/takes.js'
import { isTaken, mustBe, readOptions } from '../core/takes.js'
import type { Seconds } from '../core/values.js'
import type { JsonValue, RecordStore, StoredRecord } from './record-store.js'

/** Options of every store on an engine. */
export interface EngineOptions {
  /** Keeps the records of several issuers in one engine apart: 1 to 64 characters of `A-Z a-z 0-9 . _ : -`; `grantwell` by default. */
  readonly namespace?: string
  /** Whole seconds since the epoch; the system's clock by default. It decides what has expired, not the engine's. */
  readonly clock?: () => Seconds
}

/** Options of a store whose engine is reached over a network. */
export interface RemoteEngineOptions extends EngineOptions {
  /** Milliseconds that an operation may take before it fails with `StorageUnavailable`; 5,000 by default. */
  readonly timeoutMs?: number
}

/**
 * Checks the options that a store was given, and fills in the defaults that all have.
 * @param more - the options beside `namespace` and `clock`
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown or wrong option
 */
export function engineOptions<Options extends EngineOptions>(
  of: string,
  given: Options,
  more: { readonly [Name in Exclude<keyof Options, keyof EngineOptions>]-?: Takes },
): Options & Required<EngineOptions> {
  const takes = { ...TAKES, ...more } as TakesOf<Options> // what is no option of all is one of this store
  const own = readOptions<Options>(of, given, takes)
  if (typeof own === 'string') throw configurationError(own)
  const clock = (): Seconds => Math.floor(Date.now() / 1000)
  return { namespace: 'grantwell', clock, ...own }
}

const TAKES: TakesOf<EngineOptions> = {
  namespace: {
    words: '1 to 64 characters of A-Z a-z 0-9 . _ : -',
    fits: (value) => typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value),
  },
  clock: {
    words: 'a function that gives whole seconds since the epoch',
    fits: (value) => typeof value === 'function' && isSeconds(value()),
  },
}

/** Whether a value is a time; milliseconds are past all seconds that there will be. */
function isSeconds(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) < 1e11
}

/**
 * Checks the client of an engine that a store was given. It is not shown: an address may have a password in it.
 * @throws GrantwellError `ERR_CONFIGURATION`
 */
export function checkEngine(of: string, name: string, takes: Omit<Takes, 'secret'>, value: unknown): void {
  if (!isTaken(takes, value))
    throw configurationError(`${of}: the argument ${name} ${mustBe({ ...takes, secret: true }, value)}`)
}

/** What an operation may take by default, in milliseconds. */
export const TIMEOUT_MS = 5_000

/** A time-out: Node's timers take no more. */
export const TIMEOUT: Takes = {
  words: 'whole milliseconds from 1 to 2147483647',
  fits: (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31,
}

/** Random numbers that were drawn together, since each draw is dear; `left` of them are still to be used. */
const drawn = new Uint32Array(512)
let left = 0

/**
 * A version that no record had before: 53 random bits, since not every engine can count. That two are equal where it
 * would matter, the version that a writer read and the one written since, happens once in 9 * 10^15 conflicts.
 */
export function freshVersion(): number {
  if (left === 0) left = crypto.getRandomValues(drawn).length
  const [high = 0, low = 0] = [drawn[--left], drawn[--left]]
  return (high % 2 ** 21) * 2 ** 32 + low || 1
}

/**
 * Until when an engine keeps a record that expires: its expiry, rounded up by an eighth of its life at most. A grant lives a
 * little longer after each refresh; this seldom changes, nor does the index of what is to be removed.
 */
export function keptUntil(expiresAt: Seconds, now: Seconds): Seconds {
  const step = 2 ** Math.floor(Math.log2((expiresAt - now) / 8))
  return step > 1 ? Math.ceil(expiresAt / step) * step : expiresAt
}

/** How many values a store remembers at least; twice as many at most. */
const REMEMBERED = 512

/** Characters of a value that is remembered at most: none of the larger ones is read often, and a logo has millions. */
const REMEMBERED_LENGTH = 8192

/** Parses the value of a version. */
export type Parse = (json: string, version: number) => JsonValue

/**
 * Makes a parser that remembers what it parsed last: nearly every request reads an application that the one before it read.
 * Nobody changes a value, so one may go to many. A value is kept once it was asked for again, as that of most grants never is.
 */
export function rememberingParser(): Parse {
  /** Undefined for a version that was asked for once. */
  let recent = new Map<number, { readonly json: string; readonly value: JsonValue } | undefined>()
  let older: typeof recent = new Map()
  return (json, version) => {
    if (json.length > REMEMBERED_LENGTH) return JSON.parse(json)
    const known = recent.get(version) ?? older.get(version)
    const parsed = known?.json === json ? known : { json, value: JSON.parse(json) }
    if (recent.get(version) === undefined) {
      const isFirst = !recent.has(version) && !older.has(version)
      if (recent.size >= REMEMBERED) {
        older = recent
        recent = new Map()
      }
      recent.set(version, isFirst ? undefined : parsed)
    }
    return parsed.value
  }
}

/** Does something once the input that has arrived is dealt with; where a runtime has no such moment, after the code that runs. */
const atTurnsEnd: (action: () => void) => void = typeof setImmediate === 'function' ? setImmediate : queueMicrotask

/** How many operations go on one trip at most: the next is under way while the engine is at work on the one before. */
const TOGETHER = 16

/** Makes a trip for some questions; an answer for each, in their order. */
type Trip<Question, Answer> = (questions: readonly Question[]) => Promise<readonly Answer[]>

/** A question that waits for its trip, or for what comes of it. */
interface Waiting<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/**
 * Asks an engine once for all that is asked for in one turn of the event loop: a trip costs driver and engine more than what it
 * brings. Where an engine refuses some together, each is asked for alone, so that one cannot fail for another.
 * @param trip - may be made again for what it was made for
 */
export function gathered<Question, Answer extends {}>(
  trip: Trip<Question, Answer>,
): (question: Question) => Promise<Answer> {
  let waiting: Waiting<Question, Answer>[] = []
  const leave = (asked: readonly Waiting<Question, Answer>[]): void => {
    const answered = (answers: readonly Answer[]): void => {
      for (const [place, { resolve, reject }] of asked.entries()) {
        const answer = answers[place]
        if (answer === undefined) reject(new StorageUnavailable('The engine left an answer out'))
        else resolve(answer)
      }
    }
    const failed = (error: unknown): void => {
      if (asked.length > 1 && !isUnanswered(error)) for (const each of asked) leave([each])
      else for (const { reject } of asked) reject(error)
    }
    trip(asked.map(({ question }) => question)).then(answered, failed)
  }
  const leaveTogether = (): void => {
    const asked = waiting
    waiting = []
    if (asked.length > 0) leave(asked)
  }
  return (question) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) atTurnsEnd(leaveTogether)
      waiting.push({ question, resolve, reject })
      if (waiting.length === TOGETHER) leaveTogether()
    })
}

/**
 * Makes a store's `read` that gathers: what several ask for, as most do for an application, is read once.
 * @param read - makes a trip
 */
export function gatheredReads(
  read: (keys: readonly string[]) => Promise<readonly (StoredRecord | undefined)[]>,
): RecordStore['read'] {
  return gathered(async (asked: readonly (readonly string[])[]) => {
    const keys = [...new Set(asked.flat())]
    const records = await read(keys)
    const found = new Map(keys.map((key, place) => [key, records[place]]))
    return asked.map((each) => each.map((key) => found.get(key)))
  })
}

/** Names that are encoded as themselves: most of them, told at a glance. */
const ORDINARY = /^[ !#-[\]-~]+$/

/** What the empty name is encoded as, so that none is empty: JSON knows no such escape. */
const EMPTY = '\\0'

/**
 * A name in characters that every engine keeps apart: control characters and lone surrogates escaped as in JSON, no two
 * names alike. Names of ordinary characters stay what they are. A byte order mark, which decoders of UTF-8 take for no part
 * of a text that begins with it, is escaped too.
 */
export function encodeName(name: string): string {
  if (ORDINARY.test(name)) return name
  return name === '' ? EMPTY : JSON.stringify(name).slice(1, -1).replaceAll('\ufeff', '\\ufeff')
}

/** The name that was encoded. */
export function decodeName(encoded: string): string {
  return encoded === EMPTY ? '' : JSON.parse(`"${encoded}"`)
}

/** The errors of time-outs: what is said to be their cause came before, and is no answer. */
const timeOuts = new WeakSet<StorageUnavailable>()

/**
 * Waits for an engine, so long and no longer.
 * @param lastError - what the engine's client said last of its own accord, to tell why there was no answer
 * @throws StorageUnavailable where it fails or takes too long
 */
export function within<Result>(
  timeoutMs: number,
  engine: string,
  work: Promise<Result>,
  lastError?: () => unknown,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const last = lastError?.()
      const late = new StorageUnavailable(`${engine} did not answer within ${timeoutMs} ms${reasonOf(last)}`, last)
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
        // node-redis has a time-out of its own, which says nothing.
        const reason = reasonOf(error instanceof Error && error.message === '' ? lastError?.() : error)
        reject(error instanceof StorageUnavailable ? error : new StorageUnavailable(`${engine} failed${reason}`, error))
      },
    )
  })
}

/**
 * Whether nobody knows what became of what an engine was asked for. What it refused is known: Redis says so with a word in capitals, and
 * may be asked again for what it did before that; PostgreSQL with an error of its own that is none of its connections or its end, and
 * has done nothing.
 */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof StorageUnavailable)) return false
  const { cause } = error
  if (timeOuts.has(error) || !(cause instanceof Error)) return true
  if ('severity' in cause) return !('code' in cause) || /^(?:08|57P)/.test(String(cause.code))
  return !/^[A-Z]+ /.test(cause.message)
}

/**
 * Why an engine was not reached, for the message: what the system says (`: connect ECONNREFUSED 127.0.0.1:5432`), or why PostgreSQL
 * let nobody in. Nothing else that an engine says, which may have data in it.
 */
function reasonOf(error: unknown): string {
  // Where a name has several addresses, the first of them.
  const [said] = error instanceof AggregateError ? error.errors : [error]
  if (!(said instanceof Error)) return ''
  return 'syscall' in said || ('severity' in said && said.severity === 'FATAL') ? `: ${said.message}` : ''
}

/**
 * Compares a table with the one that a store makes. Columns that a host added and that no write must name are no difference.
 * @param expected - parts such as `key text NOT NULL`
 * @param found - the same of the table that is there
 * @returns what it lacks and what it has in place of that, in words; undefined where nothing is missing
 */
export function differenceFrom(expected: readonly string[], found: readonly string[]): string | undefined {
  const missing = expected.filter((part) => !found.includes(part))
  const foreign = found.filter((part) => !expected.includes(part))
  const inTheWay = foreign.filter((part) => missing.length > 0 || part.endsWith(' NOT NULL'))
  if (missing.length === 0 && inTheWay.length === 0) return undefined
  const words = (parts: readonly string[]): string => (parts.length === 0 ? 'nothing' : parts.join(', '))
  return `it lacks ${words(missing)}, and has ${words(inTheWay)}; rename it, or give the store a place of its own`
}

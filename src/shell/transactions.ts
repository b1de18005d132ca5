/**
 * The one place that decides on records of the store. It reads the records, decides, and writes one back if it still has the version
 * that was read. Otherwise it reads again and decides again.
 * @module
 */

import type { Application } from '../core/application/application.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import type { GrantRecord } from '../core/grant/grant.js'
import type { GrantOutcome } from '../core/grant/outcome.js'
import { ENTROPY_BYTES } from '../core/grant/rules.js'
import type { ClientKey, GrantId, Seconds } from '../core/values.js'
import type { JsonValue, RecordPage, StoredRecord } from '../storage/record-store.js'
import type { AuditTrail, ChangeEvent, RequestSource } from './audit.js'
import type { MaybePromise } from './maybe-promise.js'
import { isPromise } from './maybe-promise.js'
import type { Settings } from './options/settings.js'
import type { CheckedStore, PageWanted, ReadablePage, Records } from './records/checked-store.js'
import { unavailable } from './records/checked-store.js'
import type { RecordWrite } from './records.js'
import { grantWrite, keys, recordAs } from './records.js'

/** A decision on records: an answer, at most one write, and the events of it. */
export interface Decision<Reply> {
  readonly reply: Reply | OAuthError
  readonly write?: RecordWrite
  readonly events?: readonly ChangeEvent[]
}

/** Decides on the values of records, in the order of their keys. */
type Decide<Reply> = (values: readonly (JsonValue | undefined)[], now: Seconds, entropy: Uint8Array) => Decision<Reply>

/** The maximum number of tries at a decision. Another one is needed after another request wrote the record first. */
export const MAX_TRIES = 32

/** The number of tries without a pause. Later ones wait for a random time, so that requests do not keep colliding. */
const AT_ONCE = 3

/** The longest pause, in milliseconds. */
const PAUSE_MAX = 64

/** The transactions of one server. */
export interface Transactions {
  /** Reads records in one round trip; `temporarily_unavailable` if the store fails. */
  readonly read: (keys: readonly string[]) => MaybePromise<Records | OAuthError>
  /** Lists records by a label, page by page; `temporarily_unavailable` if the store fails, or a record is not readable. */
  readonly list: (label: string, page: PageWanted) => Promise<RecordPage | OAuthError>
  /** Lists records by a label, without those that are not readable. */
  readonly listReadable: (label: string, page: PageWanted) => Promise<ReadablePage | OAuthError>
  /** Reads records, decides, and writes at most one of them, each in one round trip. Nothing is half done. */
  readonly transact: <Reply>(keys: readonly string[], decide: Decide<Reply>) => Promise<Reply | OAuthError>
  /** Decides on a grant and its application; without a grant identifier, on the application alone. */
  readonly onGrant: <Reply>(
    clientKey: ClientKey,
    grantId: GrantId | undefined,
    decide: DecideOnGrant<Reply>,
  ) => Promise<Reply | OAuthError>
  /** Returns the same transactions for one request, which their events name; for none, these. */
  readonly by: (request: RequestSource | undefined) => Transactions
}

/** The parts of a server that its transactions work with. */
export interface TransactionContext {
  readonly settings: Pick<Settings<never>, 'clock' | 'entropy'>
  readonly store: CheckedStore
  readonly audit: AuditTrail
}

/** Decides on a grant by its record and the record of its application. */
export type DecideOnGrant<Reply> = (
  application: Application | undefined,
  grant: GrantRecord | undefined,
  now: Seconds,
  entropy: Uint8Array,
) => GrantOutcome<Reply, GrantRecord>

/** Creates the transactions of a server. The code of the guard works without them. */
export function createTransactions({ settings, store, audit }: TransactionContext): Transactions {
  const { clock, entropy } = settings

  async function list(label: string, page: PageWanted): Promise<RecordPage | OAuthError> {
    const listed = await store.list(label, page)
    return isOAuthError(listed) ? listed : (listed.leftOut ?? listed)
  }

  // Awaits promises alone: to await the answers of a store in memory as well makes a refresh over HTTP 6 % slower.
  async function transact<Reply>(
    wanted: readonly string[],
    decide: Decide<Reply>,
    request?: RequestSource,
  ): Promise<Reply | OAuthError> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      if (tries > AT_ONCE) await pause(tries)
      const reading = store.read(wanted)
      const records = isPromise(reading) ? await reading : reading
      if (isOAuthError(records)) return records
      const { reply, write, events = NONE } = decide(records.map(storedValue), clock(), entropy(ENTROPY_BYTES))
      const announcing = audit.announce(events, request)
      const unwritten = isPromise(announcing) ? await announcing : announcing
      if (unwritten !== undefined) return unwritten
      const writing = write === undefined || writeBack(store, write, records[wanted.indexOf(write.key)])
      const written = isPromise(writing) ? await writing : writing
      const concluding = audit.conclude(events, written, request)
      if (isPromise(concluding)) await concluding
      if (isOAuthError(written)) return written
      if (written) return reply
    }
    return unavailable('contention')
  }

  function onGrant<Reply>(
    clientKey: ClientKey,
    grantId: GrantId | undefined,
    decide: DecideOnGrant<Reply>,
    request?: RequestSource,
  ): Promise<Reply | OAuthError> {
    const application = keys.application(clientKey)
    const wanted = grantId === undefined ? [application] : [application, keys.grant(grantId)]
    return transact(wanted, decisionOnGrant(decide), request)
  }

  /** Binds transactions to a request. This runs for every request, so it makes no more than it must. */
  function by(request: RequestSource | undefined): Transactions {
    return {
      read: store.read,
      list,
      listReadable: store.list,
      transact: (wanted, decide) => transact(wanted, decide, request),
      onGrant: (clientKey, grantId, decide) => onGrant(clientKey, grantId, decide, request),
      by,
    }
  }

  return by(undefined)
}

const NONE: readonly never[] = []

/** Writes a record if it still has the version that was read. */
function writeBack(
  { write }: CheckedStore,
  { key, value, expiresAt, labels }: RecordWrite,
  read: StoredRecord | undefined,
): MaybePromise<boolean | OAuthError> {
  return write(key, value as JsonValue, { expected: read?.version ?? 0, expiresAt, labels }) // records are JSON alone
}

function storedValue(record: StoredRecord | undefined): JsonValue | undefined {
  return record?.value
}

/** Makes the decision on the records of an application and a grant. */
function decisionOnGrant<Reply>(decide: DecideOnGrant<Reply>): Decide<Reply> {
  return (values, now, entropy) =>
    grantChange(decide(recordAs.application(values[0]), recordAs.grantRecord(values[1]), now, entropy))
}

/** Makes the decision that stores the outcome of a transition. */
export function grantChange<Reply>({ reply, grant, events }: GrantOutcome<Reply, GrantRecord>): Decision<Reply> {
  return grant === undefined ? { reply, events } : { reply, events, write: grantWrite(grant) }
}

/** Waits for a random time that grows with the tries. */
function pause(tries: number): Promise<void> {
  const longest = Math.min(2 ** (tries - AT_ONCE - 1), PAUSE_MAX)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest))
}

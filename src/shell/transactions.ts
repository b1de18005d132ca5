/**
 * The one place that reads and writes the store: read the records, decide, write back if the version is still the one
 * that was read, else read again and decide anew.
 * @module
 */
import type { Application } from '../core/application/application.js'
import type { OAuthError } from '../core/errors.js'
import type { GrantRecord } from '../core/grant/grant.js'
import type { Outcome } from '../core/grant/outcome.js'
import { ENTROPY_BYTES } from '../core/grant/transition.js'
import type { ClientKey, GrantId, Seconds } from '../core/values.js'
import { isError } from '../protocol/parameters.js'
import type { JsonValue, RecordPage, StoredRecord } from '../storage/record-store.js'
import type { PageWanted, ReadablePage, Records, StoreSettings } from './checked-store.js'
import { createCheckedStore, createOwnerCheck, unavailable } from './checked-store.js'
import type { MaybePromise } from './maybe-promise.js'
import { andThen } from './maybe-promise.js'
import type { AuditEvent } from './options.js'
import type { RecordWrite } from './records.js'
import { grantWrite, keys, recordAs } from './records.js'

/** A decision on records: an answer, at most one write, and the events to tell of once it is stored. */
export interface Decision<Reply> {
  readonly reply: Reply | OAuthError
  readonly write?: RecordWrite
  readonly events?: readonly AuditEvent[]
}

/** Decides on the values of records, in the order of their keys. */
type Decide<Reply> = (values: readonly (JsonValue | undefined)[], now: Seconds, entropy: Uint8Array) => Decision<Reply>

/** Attempts at a decision: it is made anew after somebody else was quicker. */
export const ATTEMPTS = 32

/** Attempts that follow each other at once. The others wait for a time that differs, so that many do not go on meeting. */
const AT_ONCE = 3

/** The longest pause, in milliseconds. */
const PAUSE_MAX = 64

/** The transactions of one server. */
export interface Transactions {
  /** Reads records in one trip; `temporarily_unavailable` where the store fails. */
  readonly read: (keys: readonly string[]) => MaybePromise<Records | OAuthError>
  /** Lists records by a label, page by page; `temporarily_unavailable` where the store fails, or a record is not readable. */
  readonly list: (label: string, page: PageWanted) => Promise<RecordPage | OAuthError>
  /** Lists records so, but goes on without those that are not readable. */
  readonly listReadable: (label: string, page: PageWanted) => Promise<ReadablePage | OAuthError>
  /** Reads records, decides, and writes at most one of them, in one trip each; nothing is half-done. */
  readonly transact: <Reply>(keys: readonly string[], decide: Decide<Reply>) => MaybePromise<Reply | OAuthError>
  /** Transacts on a grant and its application. Without a grant identifier, on the application alone. */
  readonly onGrant: <Reply>(
    clientKey: ClientKey,
    grantId: GrantId | undefined,
    decide: DecideOnGrant<Reply>,
  ) => MaybePromise<Reply | OAuthError>
}

/** Decides on a grant by what is stored of it and of its application. */
export type DecideOnGrant<Reply> = (
  application: Application | undefined,
  grant: GrantRecord | undefined,
  now: Seconds,
  entropy: Uint8Array,
) => Outcome<Reply, GrantRecord>

/**
 * Binds the transactions to a server's store, clock, entropy and audit trail.
 *
 * Nothing is answered from records of another issuer: the first use of the store looks for the record that says whose they
 * are, and writes it where there is none. Once it is found to be this server's, nobody looks again.
 */
export function createTransactions(settings: StoreSettings): Transactions {
  const { clock, entropy, onEvent } = settings
  const store = createCheckedStore(settings)
  const owner = createOwnerCheck(settings, store)

  function read(asked: readonly string[]): MaybePromise<Records | OAuthError> {
    return owner.isKnown() ? store.read(asked) : owner.check().then((refused) => refused ?? store.read(asked))
  }

  async function listReadable(label: string, page: PageWanted): Promise<ReadablePage | OAuthError> {
    const refused = owner.isKnown() ? undefined : await owner.check()
    return refused ?? store.list(label, page)
  }

  async function list(label: string, page: PageWanted): Promise<RecordPage | OAuthError> {
    const listed = await listReadable(label, page)
    return 'type' in listed ? listed : (listed.leftOut ?? listed)
  }

  /** Decides at once where the store answers at once: see `maybe-promise.ts`. Only what meets somebody else's write waits. */
  function transact<Reply>(asked: readonly string[], decide: Decide<Reply>): MaybePromise<Reply | OAuthError> {
    return andThen(attempt(asked, decide), (decided) => (decided === undefined ? retry(asked, decide) : decided.reply))
  }

  async function retry<Reply>(asked: readonly string[], decide: Decide<Reply>): Promise<Reply | OAuthError> {
    for (let attempts = 2; attempts <= ATTEMPTS; attempts++) {
      if (attempts > AT_ONCE) await pause(attempts)
      const decided = await attempt(asked, decide)
      if (decided !== undefined) return decided.reply
    }
    return unavailable('contention')
  }

  /** Reads, decides and writes once. Answers undefined where somebody else wrote in between. */
  function attempt<Reply>(asked: readonly string[], decide: Decide<Reply>): MaybePromise<Decision<Reply> | undefined> {
    return andThen(read(asked), (records) => {
      if (isError(records)) return { reply: records }
      const decision = decide(records.map(storedValue), clock(), entropy(ENTROPY_BYTES))
      const { write, events = [] } = decision
      const stored = write === undefined || writeBack(write, records[asked.indexOf(write.key)])
      return andThen(stored, (written) => {
        if (typeof written === 'object') return { reply: written }
        if (!written) return undefined
        for (const event of events) onEvent(event)
        return decision
      })
    })
  }

  /** Writes what was decided, unless the record is not the one that was read any more. */
  function writeBack({ key, value, expiresAt, labels }: RecordWrite, read: StoredRecord | undefined) {
    return store.write(key, value as JsonValue, { expected: read?.version ?? 0, expiresAt, labels }) // records are JSON alone
  }

  return {
    read,
    list,
    listReadable,
    transact,
    onGrant: (clientKey, grantId, decide) => {
      const application = keys.application(clientKey)
      const asked = grantId === undefined ? [application] : [application, keys.grant(grantId)]
      return transact(asked, (values, now, bytes) =>
        grantChange(decide(recordAs.application(values[0]), recordAs.grantRecord(values[1]), now, bytes)),
      )
    },
  }
}

function storedValue(record: StoredRecord | undefined): JsonValue | undefined {
  return record?.value
}

/** Makes the decision that stores the outcome of a transition. */
export function grantChange<Reply>({ reply, grant, events }: Outcome<Reply, GrantRecord>): Decision<Reply> {
  return grant === undefined ? { reply, events } : { reply, events, write: grantWrite(grant) }
}

/** Waits for a random time that grows with the attempts. */
function pause(attempts: number): Promise<void> {
  const longest = Math.min(2 ** (attempts - AT_ONCE - 1), PAUSE_MAX)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest))
}

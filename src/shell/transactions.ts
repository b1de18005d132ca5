/**
 * The one place that reads and writes the store: read the records, decide, write back if the version is still the one
 * that was read, else read again and decide anew.
 * @module
 */
import type { Application } from '../core/application/application.js'
import type { OAuthError } from '../core/errors.js'
import { GrantwellError, oauthError } from '../core/errors.js'
import type { Consents } from '../core/grant/consents.js'
import type { Grant, GrantRecord, Outcome } from '../core/grant/grant.js'
import { isGrant, retention } from '../core/grant/grant.js'
import { ENTROPY_BYTES } from '../core/grant/transition.js'
import { sameJson } from '../core/json.js'
import type { Attempts } from '../core/rate-limit.js'
import type { Takes } from '../core/takes.js'
import { FLAG, isObject } from '../core/takes.js'
import type { ClientKey, Digest, GrantId, Seconds } from '../core/values.js'
import { isError } from '../protocol/parameters.js'
import type { JsonValue, RecordPage, StoredRecord, WriteOptions } from '../storage/record-store.js'
import { checkedAnswer, wrongAnswer } from './host.js'
import type { AuditEvent, Settings } from './options.js'

/** What a decision asks for: an answer, at most one write, and the events to tell of once it is stored. */
export interface Decision<Reply> {
  readonly reply: Reply | OAuthError
  readonly write?: { readonly key: string; readonly value: object } & Omit<WriteOptions, 'expected'>
  readonly events?: readonly AuditEvent[]
}

/** How often a decision is made anew after somebody else was quicker. */
export const ATTEMPTS = 32

/** How many of these follow each other at once; the others wait for a while that differs, so that many do not go on meeting. */
const AT_ONCE = 3

/** The longest pause, in milliseconds. */
const PAUSE_MAX = 64

/** The version of every kind of record that this release reads and writes. */
const RECORD_VERSION = 1

/** The key of the record that says whose records these are. */
export const ISSUER_KEY = 'issuer'

/** Keys of the store, by what they hold. */
export const keys = {
  application: (clientKey: ClientKey): string => `application:${clientKey}`,
  logo: (id: string): string => `logo:${id}`,
  grant: (grantId: GrantId): string => `grant:${grantId}`,
  /** The decisions of a user on an application. */
  consent: (clientKey: ClientKey, subjectDigest: Digest): string => `consent:${clientKey}:${subjectDigest}`,
  /** Which device shows a user code. */
  userCode: (digest: Digest): string => `user_code:${digest}`,
  /** That a signed request was made, by the digest of its token, timestamp and nonce. */
  nonce: (digest: Digest): string => `mac_nonce:${digest}`,
  /** Attempts to guess a user code, by the digest of who makes them. */
  attempts: (digest: Digest): string => `attempts:${digest}`,
} as const

/** The issuer whose records are in a namespace of a store. */
export interface IssuerRecord {
  readonly v: 1
  readonly issuer: string
}

/** An application's logo. */
export interface LogoRecord {
  readonly v: 1
  readonly base64url: string
}

/** The device that shows a user code. */
export interface UserCodeRecord {
  readonly v: 1
  readonly clientKey: ClientKey
  readonly grantId: GrantId
}

/** A value, or the promise of one: a store in memory answers at once, and nobody waits for it. */
export type Soon<Value> = Value | Promise<Value>

/** Goes on with a value, at once where it is there. */
export function after<Value, Result>(value: Soon<Value>, go: (value: Value) => Soon<Result>): Soon<Result> {
  return value instanceof Promise ? value.then(go) : go(value)
}

/** What a store gives for several keys. */
type Records = readonly (StoredRecord | undefined)[]

/** Which page of a list. */
interface PageWanted {
  readonly limit?: number
  readonly cursor?: string
}

/** A page of a list with the records that this release reads. */
interface ReadablePage extends RecordPage {
  /** Why some are left out; absent where none is. */
  readonly leftOut?: OAuthError
}

/** The transactions of one server. */
export interface Transactions {
  /** Reads records in one trip; `temporarily_unavailable` where the store fails. */
  readonly read: (keys: readonly string[]) => Soon<Records | OAuthError>
  /** Lists records by a label, page by page; `temporarily_unavailable` where the store fails, or a record is not readable. */
  readonly list: (label: string, page: PageWanted) => Promise<RecordPage | OAuthError>
  /** The same, but goes on without the records that are not readable. */
  readonly listReadable: (label: string, page: PageWanted) => Promise<ReadablePage | OAuthError>
  /** Reads records, decides, and writes at most one of them, in one trip each; nothing is half-done. */
  readonly transact: <Reply>(
    keys: readonly string[],
    decide: (values: readonly (JsonValue | undefined)[], now: Seconds, entropy: Uint8Array) => Decision<Reply>,
  ) => Soon<Reply | OAuthError>
  /** Does so for a grant and the application that it belongs to. Without a grant identifier, for the application alone. */
  readonly onGrant: <Reply>(
    clientKey: ClientKey,
    grantId: GrantId | undefined,
    decide: DecideOnGrant<Reply>,
  ) => Soon<Reply | OAuthError>
}

/** Decides on a grant by what is stored of it and of its application. */
export type DecideOnGrant<Reply> = (
  application: Application | undefined,
  grant: GrantRecord | undefined,
  now: Seconds,
  entropy: Uint8Array,
) => Outcome<Reply, GrantRecord>

/** The records of our own writes, as what they are. */
export const recordAs = {
  application: (value: JsonValue | undefined) => value as unknown as Application | undefined, // only ever written by its transitions
  grantRecord: (value: JsonValue | undefined) => value as unknown as GrantRecord | undefined, // only ever written by transitions
  /** Undefined for a device that still waits. */
  grant: (value: JsonValue | undefined): Grant | undefined => {
    const record = recordAs.grantRecord(value)
    return isGrant(record) ? record : undefined
  },
  logo: (value: JsonValue | undefined) => value as unknown as LogoRecord | undefined, // only ever written by registration
  consents: (value: JsonValue | undefined) => value as unknown as Consents | undefined, // only ever written by admitDecision
  userCode: (value: JsonValue | undefined) => value as unknown as UserCodeRecord | undefined, // only ever written with a device code
  attempts: (value: JsonValue | undefined) => value as unknown as Attempts | undefined, // only ever written by the limiter
} as const

/**
 * Binds the transactions to a server's store, clock, entropy and audit trail.
 *
 * Nothing is answered from records of another issuer: the first use of the store looks for the record that says whose they
 * are, and writes it where there is none. Once it is found to be this server's, nobody looks again.
 */
export function transactionsOf({
  issuer,
  store,
  clock,
  entropy,
  onEvent,
  onError,
}: Pick<Settings<never>, 'issuer' | 'store' | 'clock' | 'entropy' | 'onEvent' | 'onError'>): Transactions {
  let isOurs = false

  function read(asked: readonly string[]): Soon<Records | OAuthError> {
    return isOurs ? readNow(asked) : after(claim(), (refused) => refused ?? readNow(asked))
  }

  function readNow(asked: readonly string[]): Soon<Records | OAuthError> {
    try {
      const found = store.read(asked)
      return Array.isArray(found)
        ? checked(asked, found)
        : Promise.resolve(found).then((records) => checked(asked, records), failed)
    } catch (error) {
      return failed(error)
    }
  }

  function checked(asked: readonly string[], records: unknown): Records | OAuthError {
    return isWhole(records, asked)
      ? readable(asked, records)
      : failed(wrongAnswer('store.read()', recordsOf(asked), records, true))
  }

  /** Records as they are, if this release reads their versions: what a later one wrote must not be used, nor written over. */
  function readable(asked: readonly string[], records: Records): Records | OAuthError {
    let hasNull = false
    for (let index = 0; index < records.length; index++) {
      const record = records[index]
      if (record === null) hasNull = true
      else if (record !== undefined && !isReadable(record)) return failed(unreadable({ ...record, key: asked[index] }))
    }
    // An engine may give null for a record that is absent. Behind this line undefined alone means that.
    return hasNull ? records.map((record) => record ?? undefined) : records
  }

  /** Makes sure that the records are this issuer's. Whoever asks meanwhile asks as well, so that nobody waits for an answer that was lost. */
  function claim(): Soon<OAuthError | undefined> {
    return after(readNow([ISSUER_KEY]), claimIn)
  }

  function claimIn(records: Records | OAuthError): Soon<OAuthError | undefined> {
    if (isError(records)) return records
    const [record] = records
    if (record !== undefined) return ownedBy((record.value as Partial<IssuerRecord>).issuer) // of a version that is read
    const value: IssuerRecord = { v: RECORD_VERSION, issuer }
    return after(write(ISSUER_KEY, value as unknown as JsonValue, { expected: 0 }), (written) => {
      if (typeof written === 'object') return written
      // Somebody else was quicker: perhaps another server of this issuer.
      return written ? ownedBy(issuer) : after(readNow([ISSUER_KEY]), (again) => ownerIn(again))
    })
  }

  function ownerIn(records: Records | OAuthError): OAuthError | undefined {
    if (isError(records)) return records
    return ownedBy((records[0]?.value as Partial<IssuerRecord> | undefined)?.issuer) // as above
  }

  function ownedBy(owner: string | undefined): OAuthError | undefined {
    isOurs = owner === issuer
    return isOurs ? undefined : failed(notOurs(owner, issuer))
  }

  function failed(error: unknown): OAuthError {
    onError(error)
    return storeFailed(error)
  }

  async function listReadable(label: string, page: PageWanted): Promise<ReadablePage | OAuthError> {
    try {
      const refused = isOurs ? undefined : await claim()
      if (refused !== undefined) return refused
      const listed: RecordPage = checkedAnswer('store.list()', pageAfter(page.cursor), await store.list(label, page))
      const other = listed.records.find((record) => !isReadable(record))
      if (other === undefined) return listed
      return { ...listed, records: listed.records.filter(isReadable), leftOut: failed(unreadable(other)) }
    } catch (error) {
      return failed(error)
    }
  }

  async function list(label: string, page: PageWanted): Promise<RecordPage | OAuthError> {
    const listed = await listReadable(label, page)
    return 'type' in listed ? listed : (listed.leftOut ?? listed)
  }

  /** Writes; where the answer of the store was lost, finds out whether it was written all the same. */
  function write(key: string, value: JsonValue, options: WriteOptions): Soon<boolean | OAuthError> {
    const lost = async (error: unknown): Promise<boolean | OAuthError> => {
      onError(error)
      const records = await readNow([key])
      if (isError(records)) return records
      const [record] = records
      // What is to be gone by now is gone once it is written, and nothing tells that from a write that did not happen.
      const gone = record === undefined && options.expiresAt !== undefined && clock() >= options.expiresAt
      return gone || sameJson(record?.value, value) || storeFailed(error)
    }
    try {
      const written = store.write(key, value, options)
      return typeof written === 'boolean' ? written : Promise.resolve(written).then(isWritten).catch(lost)
    } catch (error) {
      return lost(error)
    }
  }

  function transact<Reply>(
    asked: readonly string[],
    decide: (values: readonly (JsonValue | undefined)[], now: Seconds, entropy: Uint8Array) => Decision<Reply>,
  ): Soon<Reply | OAuthError> {
    let attempts = 0
    return attempt()

    function attempt(): Soon<Reply | OAuthError> {
      return attempts++ < ATTEMPTS ? after(read(asked), decideOn) : unavailable('contention')
    }

    function decideOn(records: Records | OAuthError): Soon<Reply | OAuthError> {
      if (isError(records)) return records
      const decision = decide(records.map(storedValue), clock(), entropy(ENTROPY_BYTES))
      if (decision.write === undefined) return done(decision)
      const { key, value, expiresAt, labels } = decision.write
      const expected = records[asked.indexOf(key)]?.version ?? 0
      // Records are JSON alone.
      return after(write(key, value as JsonValue, { expected, expiresAt, labels }), (written) => {
        if (typeof written === 'object') return written
        if (written) return done(decision)
        return attempts < AT_ONCE ? attempt() : pause(attempts).then(attempt)
      })
    }

    function done({ reply, events = [] }: Decision<Reply>): Reply | OAuthError {
      for (const event of events) onEvent(event)
      return reply
    }
  }

  return {
    read,
    list,
    listReadable,
    transact,
    onGrant: (clientKey, grantId, decide) => {
      const asked =
        grantId === undefined ? [keys.application(clientKey)] : [keys.application(clientKey), keys.grant(grantId)]
      return transact(asked, (values, now, bytes) => {
        return grantChange(decide(recordAs.application(values[0]), recordAs.grantRecord(values[1]), now, bytes))
      })
    },
  }
}

function storedValue(record: StoredRecord | undefined): JsonValue | undefined {
  return record?.value
}

/** The decision that stores what a transition made of a grant. */
export function grantChange<Reply>({ reply, grant, events }: Outcome<Reply, GrantRecord>): Decision<Reply> {
  return grant === undefined ? { reply, events } : { reply, events, write: grantWrite(grant) }
}

/** The write of a grant; a device that waits is on nobody's list yet. */
export function grantWrite(grant: GrantRecord): NonNullable<Decision<never>['write']> {
  const labels = isGrant(grant) ? [`subject:${grant.subject}`, `client:${grant.clientId}`] : []
  return { key: keys.grant(grant.id), value: grant, expiresAt: retention(grant), labels }
}

/** Whether a record is of the version that this release reads. */
function isReadable({ value }: Pick<StoredRecord, 'value'>): boolean {
  return versionOf(value) === RECORD_VERSION
}

function versionOf(value: JsonValue): unknown {
  return (value as { readonly v?: unknown } | null)?.v // whatever JSON it is
}

/** The error of a record that this release must not touch. */
function unreadable({ key, value }: { readonly key: string | undefined; readonly value: JsonValue }): GrantwellError {
  const version = versionOf(value)
  const came = version === undefined ? 'no version' : `version ${JSON.stringify(version)}`
  return new GrantwellError(
    'ERR_RECORD_VERSION',
    `grantwell: the record ${key} has ${came}; this release reads version ${RECORD_VERSION}. Nothing was answered from it or written`,
  )
}

/** Waits for a random while that grows with the attempts. */
function pause(attempts: number): Promise<void> {
  const longest = Math.min(2 ** (attempts - AT_ONCE), PAUSE_MAX)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest))
}

/** The error of a namespace that is another issuer's. */
function notOurs(owner: string | undefined, issuer: string): GrantwellError {
  return new GrantwellError(
    'ERR_NAMESPACE',
    `grantwell: the records of this store belong to the issuer ${owner}, and this server is ${issuer}; give each issuer a namespace of its own`,
  )
}

/** The error of a store that fails, or for which too many ask at once. */
export function unavailable(reason: 'store_failed' | 'contention'): OAuthError {
  return oauthError('temporarily_unavailable', reason, 'The service is busy; try again.', { retryAfter: 1 })
}

/** What a store threw, by the error that a client sees; apart from it, so that no client ever does. */
const causes = new WeakMap<OAuthError, unknown>()

/** The error of a store that failed; its cause is for {@link storeError} alone. */
function storeFailed(cause: unknown): OAuthError {
  const failure = unavailable('store_failed')
  causes.set(failure, cause)
  return failure
}

/** The same for the functions that a host calls, which may know the cause. */
export function storeError(failure: OAuthError): GrantwellError {
  return new GrantwellError('ERR_STORE', 'grantwell: the store failed', [], causes.get(failure))
}

/** Whether an answer of the store has an entry for each key. What is in the records is for who knows their kind. */
function isWhole(found: unknown, asked: readonly string[]): found is readonly (StoredRecord | undefined)[] {
  return Array.isArray(found) && found.length === asked.length
}

function recordsOf({ length }: readonly string[]): string {
  return `a list of as many records as keys (${length}), undefined for one that is absent`
}

/** What a list gives. Behind a cursor comes another one: the same again would have no end. */
function pageAfter(cursor: string | undefined): Takes {
  return {
    words: '{ records, cursor }, a list of { key, value, version } and a string other than the cursor before',
    fits: (page) =>
      isObject(page) &&
      Array.isArray(page['records']) &&
      page['records'].every((record) => isObject(record) && typeof record['key'] === 'string') &&
      (page['cursor'] === undefined || (typeof page['cursor'] === 'string' && page['cursor'] !== cursor)),
    secret: true,
  }
}

/** Whether a record was written, as the store says. */
function isWritten(answer: unknown): boolean {
  return checkedAnswer('store.write()', FLAG, answer)
}

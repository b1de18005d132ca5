/**
 * The one place that reads and writes the store: read the records, decide, write back if the version is still the one
 * that was read, else read again and decide anew.
 * @module
 */
import type { Application } from './core/application.js'
import type { Attempts } from './core/attempts.js'
import type { OAuthError } from './core/errors.js'
import { GrantwellError, oauthError } from './core/errors.js'
import type { Grant, GrantRecord, Outcome } from './core/grant.js'
import { isGrant, retention } from './core/grant.js'
import { sameJson } from './core/json.js'
import { ENTROPY_BYTES } from './core/transition.js'
import type { ClientKey, Digest, GrantId, Seconds } from './core/values.js'
import type { AuditEvent, Settings } from './options.js'
import { isError } from './protocol/parameters.js'
import type { JsonValue, RecordPage, StoredRecord, WriteOptions } from './storage/record-store.js'

/** What a decision asks for: an answer, at most one write, and the events to tell of once it is stored. */
export interface Decision<Reply> {
  readonly reply: Reply | OAuthError
  readonly write?: { readonly key: string; readonly value: object } & Omit<WriteOptions, 'expected'>
  readonly events?: readonly AuditEvent[]
}

/** How often a decision is made anew after somebody else was quicker. */
export const ATTEMPTS = 32

/** Keys of the store, by what they hold. */
export const keys = {
  application: (clientKey: ClientKey): string => `application:${clientKey}`,
  logo: (id: string): string => `logo:${id}`,
  grant: (grantId: GrantId): string => `grant:${grantId}`,
  /** Where a user's last consent to a client is remembered. */
  consent: (clientKey: ClientKey, subjectDigest: Digest): string => `consent:${clientKey}:${subjectDigest}`,
  /** Which device shows a user code. */
  userCode: (digest: Digest): string => `user_code:${digest}`,
  /** That a signed request was made, by the digest of its token, timestamp and nonce. */
  nonce: (digest: Digest): string => `mac_nonce:${digest}`,
  /** Attempts to guess a user code, by the digest of who makes them. */
  attempts: (digest: Digest): string => `attempts:${digest}`,
} as const

/** An application's logo. */
export interface LogoRecord {
  readonly v: 1
  readonly base64url: string
}

/** The grant that came from a user's last consent to a client. */
export interface ConsentRecord {
  readonly v: 1
  readonly grantId: GrantId
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

/** The transactions of one server. */
export interface Transactions {
  /** Reads records in one trip; `temporarily_unavailable` where the store fails. */
  readonly read: (keys: readonly string[]) => Soon<readonly (StoredRecord | undefined)[] | OAuthError>
  /** Lists records by a label, page by page; `temporarily_unavailable` where the store fails. */
  readonly list: (
    label: string,
    page: { readonly limit?: number; readonly cursor?: string },
  ) => Promise<RecordPage | OAuthError>
  /** Reads records, decides, and writes at most one of them, in one trip each; nothing is half-done. */
  readonly transact: <Reply>(
    keys: readonly string[],
    decide: (values: readonly (JsonValue | undefined)[], now: Seconds, entropy: Uint8Array) => Decision<Reply>,
  ) => Soon<Reply | OAuthError>
  /** The same for a grant and the application that it belongs to. Without a grant identifier, for the application alone. */
  readonly onGrant: <Reply>(
    clientKey: ClientKey,
    grantId: GrantId | undefined,
    decide: (
      application: Application | undefined,
      grant: GrantRecord | undefined,
      now: Seconds,
      entropy: Uint8Array,
    ) => Outcome<Reply, GrantRecord>,
  ) => Soon<Reply | OAuthError>
}

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
  consent: (value: JsonValue | undefined) => value as unknown as ConsentRecord | undefined, // only ever written after consent
  userCode: (value: JsonValue | undefined) => value as unknown as UserCodeRecord | undefined, // only ever written with a device code
  attempts: (value: JsonValue | undefined) => value as unknown as Attempts | undefined, // only ever written by the limiter
} as const

/** Binds the transactions to a server's store, clock, entropy and audit trail. */
export function transactionsOf({
  store,
  clock,
  entropy,
  onEvent,
  onError,
}: Pick<Settings<never>, 'store' | 'clock' | 'entropy' | 'onEvent' | 'onError'>): Transactions {
  function read(asked: readonly string[]): Soon<readonly (StoredRecord | undefined)[] | OAuthError> {
    try {
      const found = store.read(asked)
      return Array.isArray(found) ? found : Promise.resolve(found).catch(failed)
    } catch (error) {
      return failed(error)
    }
  }

  function failed(error: unknown): OAuthError {
    onError(error)
    return unavailable('store_failed')
  }

  async function list(
    label: string,
    page: { readonly limit?: number; readonly cursor?: string },
  ): Promise<RecordPage | OAuthError> {
    try {
      return await store.list(label, page)
    } catch (error) {
      return failed(error)
    }
  }

  /** Writes; where the answer of the store was lost, finds out whether it was written all the same. */
  function write(key: string, value: JsonValue, options: WriteOptions): Soon<boolean | OAuthError> {
    const lost = async (error: unknown): Promise<boolean | OAuthError> => {
      onError(error)
      const records = await read([key])
      if (isError(records)) return records
      const [record] = records
      // What is to be gone by now is gone once it is written, and nothing tells that from a write that did not happen.
      const gone = record === undefined && options.expiresAt !== undefined && clock() >= options.expiresAt
      return gone || sameJson(record?.value, value) || unavailable('store_failed')
    }
    try {
      const written = store.write(key, value, options)
      return typeof written === 'boolean' ? written : Promise.resolve(written).catch(lost)
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

    function decideOn(records: readonly (StoredRecord | undefined)[] | OAuthError): Soon<Reply | OAuthError> {
      if (isError(records)) return records
      const decision = decide(records.map(storedValue), clock(), entropy(ENTROPY_BYTES))
      if (decision.write === undefined) return done(decision)
      const { key, value, expiresAt, labels } = decision.write
      const expected = records[asked.indexOf(key)]?.version ?? 0
      // Records are JSON alone.
      return after(write(key, value as JsonValue, { expected, expiresAt, labels }), (written) => {
        if (typeof written === 'object') return written
        return written ? done(decision) : attempt()
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
    transact,
    onGrant: (clientKey, grantId, decide) => {
      const asked =
        grantId === undefined ? [keys.application(clientKey)] : [keys.application(clientKey), keys.grant(grantId)]
      return transact(asked, (values, now, bytes) => {
        const { reply, grant, events } = decide(
          recordAs.application(values[0]),
          recordAs.grantRecord(values[1]),
          now,
          bytes,
        )
        return grant === undefined ? { reply, events } : { reply, events, write: grantWrite(grant) }
      })
    },
  }
}

function storedValue(record: StoredRecord | undefined): JsonValue | undefined {
  return record?.value
}

/** The write of a grant; a device that waits is on nobody's list yet. */
export function grantWrite(grant: GrantRecord): NonNullable<Decision<never>['write']> {
  const labels = isGrant(grant) ? [`subject:${grant.subject}`, `client:${grant.clientId}`] : []
  return { key: keys.grant(grant.id), value: grant, expiresAt: retention(grant), labels }
}

/** The error of a store that fails, or for which too many ask at once. */
export function unavailable(reason: 'store_failed' | 'contention'): OAuthError {
  return oauthError('temporarily_unavailable', reason, 'The service is busy; try again.', { retryAfter: 1 })
}

/** The same for the functions that a host calls. */
export function storeError(): GrantwellError {
  return new GrantwellError('ERR_STORE', 'grantwell: the store failed')
}

/**
 * The records of a server: their keys and their kinds.
 * @module
 */
import type { Application } from '../core/application/application.js'
import { GrantwellError } from '../core/errors.js'
import type { Consents } from '../core/grant/consents.js'
import type { Grant, GrantRecord } from '../core/grant/grant.js'
import { isGrant, retention } from '../core/grant/grant.js'
import type { Attempts } from '../core/rate-limit.js'
import type { ClientKey, Digest, GrantId, Subject } from '../core/values.js'
import type { JsonValue, WriteOptions } from '../storage/record-store.js'

/** The key of the record that names the issuer of all records. */
export const ISSUER_KEY = 'issuer'

/** The subject in a record that names no user. No user has it: a subject is never empty. */
export const NOBODY = '' as Subject // no user of any host

/** Keys of the store, by the kind of their records. */
export const keys = {
  application: (clientKey: ClientKey): string => `application:${clientKey}`,
  logo: (id: string): string => `logo:${id}`,
  grant: (grantId: GrantId): string => `grant:${grantId}`,
  /** The decisions of a user on an application. */
  consent: (clientKey: ClientKey, subjectDigest: Digest): string => `consent:${clientKey}:${subjectDigest}`,
  /** The device that shows a user code. */
  userCode: (digest: Digest): string => `user_code:${digest}`,
  /** A signed request, by the digest of its token, timestamp and nonce. */
  nonce: (digest: Digest): string => `mac_nonce:${digest}`,
  /** Attempts to guess a user code, by the digest of the user or address. */
  attempts: (digest: Digest): string => `attempts:${digest}`,
} as const

/** The issuer of the records in a namespace of a store. */
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

/** Types the value of a record by its kind. */
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

/** A write that a decision asks for. */
export interface RecordWrite extends Omit<WriteOptions, 'expected'> {
  readonly key: string
  readonly value: object
}

/** Makes the write of a grant. A device that waits is on nobody's list yet, and a grant that names no user is on that of its application alone. */
export function grantWrite(grant: GrantRecord): RecordWrite {
  const labels: string[] = []
  if (isGrant(grant)) {
    if (grant.subject !== NOBODY) labels.push(`subject:${grant.subject}`)
    labels.push(`client:${grant.clientId}`)
  }
  return { key: keys.grant(grant.id), value: grant, expiresAt: retention(grant), labels }
}

/** Makes the error of a namespace that is another issuer's. */
export function notOurs(owner: string | undefined, issuer: string): GrantwellError {
  return new GrantwellError(
    'ERR_NAMESPACE',
    `grantwell: the records of this store belong to the issuer ${owner}, and this server is ${issuer}; give each issuer a namespace of its own`,
  )
}

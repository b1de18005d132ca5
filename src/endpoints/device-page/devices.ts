/**
 * The devices that a user may be shown: one that waits for a decision, or one on which this user has decided.
 * @module
 */

import type { Application, PublishedApplication } from '../../core/application/application.js'
import { isPublished } from '../../core/application/application.js'
import type { Audience } from '../../core/audiences/audience.js'
import { audienceOf } from '../../core/audiences/audience.js'
import { GRANT_ID_BYTES, grantIdOf } from '../../core/credentials/credential.js'
import { userCodeDigests } from '../../core/credentials/user-code.js'
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError } from '../../core/errors.js'
import { deviceFlowFault, userCodeUnknown } from '../../core/grant/device.js'
import type { DeviceAuthorization, Grant, GrantRecord } from '../../core/grant/grant.js'
import { isGrant } from '../../core/grant/grant.js'
import { scopesNow } from '../../core/grant/pair.js'
import type { Scope } from '../../core/scopes.js'
import type { ClientKey, GrantId, UserCode } from '../../core/values.js'
import type { User } from '../../shell/options.js'
import type { UserCodeRecord } from '../../shell/records.js'
import { keys, recordAs } from '../../shell/records.js'
import type { StoredRecord } from '../../storage/record-store.js'
import type { PageContext } from '../interaction/context.js'

/** A device, and what its user may be shown of it. */
export interface ShownDevice {
  readonly userCode: UserCode
  readonly device: Pick<DeviceAuthorization, 'id'>
  readonly application: PublishedApplication
  readonly scopes: readonly Scope[]
  readonly audience?: Audience
}

/** A device that waits for a decision. */
export interface WaitingDevice extends ShownDevice {
  readonly type: 'waiting'
  /** The record of the user's decisions on the application. */
  readonly decisions: StoredRecord | undefined
}

/** A device on which its user has decided. */
export interface DecidedDevice extends ShownDevice {
  readonly device: Grant
}

/** The stored records of a device, as far as they are there. */
export interface DeviceRecords {
  readonly application: Application | undefined
  readonly record: GrantRecord | undefined
  /** The record of the user's decisions on the application. */
  readonly decisions?: StoredRecord | undefined
}

/** Keys under which the store has nothing: no digest and no random bytes are all zeros. */
const NOBODY: Omit<UserCodeRecord, 'v'> = {
  clientKey: 'AAAAAAAAAAAAAAAA' as ClientKey, // 12 bytes
  grantId: grantIdOf(new Uint8Array(GRANT_ID_BYTES)),
}

/** Finds the device that shows a code, if it waits for a decision. The error is the same for every other code. */
export async function findWaiting(
  context: PageContext<never>,
  { subject }: User,
  userCode: UserCode | undefined,
): Promise<WaitingDevice | OAuthError> {
  if (userCode === undefined) return userCodeUnknown()
  const { consents, transactions, rules } = context
  const found = await transactions.read(userCodeDigests(userCode, rules).map(keys.userCode))
  if (isOAuthError(found)) return found
  // An unknown code takes as many reads as a dead one.
  const { clientKey, grantId } = recordAs.userCode(found.find((record) => record !== undefined)?.value) ?? NOBODY
  const asked = [keys.application(clientKey), keys.grant(grantId), consents.keyOf({ clientKey, subject })]
  const records = await transactions.read(asked)
  if (isOAuthError(records)) return records
  const [application, record, decisions] = records
  return checkWaiting(context, userCode, {
    application: recordAs.application(application?.value),
    record: recordAs.grantRecord(record?.value),
    decisions,
  })
}

/** Loads the device that a form names by its identifier, and the application that it belongs to. */
export async function loadDevice(
  { consents, transactions, clientKeyOf }: PageContext<never>,
  { subject }: User,
  grantId: GrantId,
): Promise<DeviceRecords | OAuthError> {
  const records = await transactions.read([keys.grant(grantId)])
  if (isOAuthError(records)) return records
  const record = recordAs.grantRecord(records[0]?.value)
  if (record === undefined) return { application: undefined, record }
  const clientKey = clientKeyOf(record.clientId)
  const ofUser = await transactions.read([keys.application(clientKey), consents.keyOf({ clientKey, subject })])
  if (isOAuthError(ofUser)) return ofUser
  const [application, decisions] = ofUser
  return { application: recordAs.application(application?.value), record, decisions }
}

/** Returns a device whose user may decide: in time, and for an application that still may have what is asked for. */
export function checkWaiting(
  { rules, clock }: PageContext<never>,
  userCode: UserCode,
  { application, record, decisions }: DeviceRecords,
): WaitingDevice | OAuthError {
  const now = clock()
  if (record === undefined || isGrant(record) || now >= record.code.expiresAt) return userCodeUnknown()
  if (application?.state !== 'approved' || application.clientId !== record.clientId) return userCodeUnknown()
  if (deviceFlowFault(application) !== undefined) return userCodeUnknown()
  // The page cannot show a scope that the service has taken out of its catalogue.
  const scopes = scopesNow(record, application.scopes, rules)
  if (scopes.length === 0) return userCodeUnknown()
  const audience = audienceOf(record)
  const asked = { userCode, device: record, application, scopes, ...(audience !== undefined && { audience }) }
  return { type: 'waiting', decisions, ...asked }
}

/** Returns a device on which this very user decided; undefined where nobody or somebody else did. */
export function checkDecided(
  { subject }: User,
  userCode: UserCode,
  { application, record }: DeviceRecords,
): DecidedDevice | undefined {
  if (!isGrant(record) || record.subject !== subject || record.code.redirectUri !== undefined) return undefined
  // Neither page fits a grant that was agreed to, used, and revoked since.
  if (record.revokedAt !== undefined && record.code.usedAt !== undefined) return undefined
  if (!isPublished(application) || application.clientId !== record.clientId) return undefined
  return { userCode, device: record, application, scopes: record.scopes }
}

/** Returns what the user decided. */
export function decisionOf({ device }: DecidedDevice): 'agree' | 'refuse' {
  return device.revokedAt === undefined ? 'agree' : 'refuse'
}

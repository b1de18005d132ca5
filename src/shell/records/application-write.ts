/**
 * The write of an application. Apart from the other records, since only what is loaded after the start writes one.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { selfRegisteredOf } from '../../core/application/application.js'
import { applicationLabels } from '../../core/application/application-record.js'
import type { RecordWrite } from '../records.js'

/** Makes the write of an application. One that registered itself, and that nobody uses, is removed by its store. */
export function applicationWrite(key: string, application: Application): RecordWrite {
  const expiresAt = selfRegisteredOf(application)?.keepUntil
  return { key, value: application, expiresAt, labels: applicationLabels(application) }
}

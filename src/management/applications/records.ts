/**
 * The records of applications in the store: reads one, and applies commands to one.
 * @module
 */

import type { Application } from '../../core/application/application.js'
import { logosOf } from '../../core/application/application-record.js'
import type { ApplicationCommand, ApplicationRefusal } from '../../core/application/transition.js'
import { transitionApplication } from '../../core/application/transition.js'
import { isOAuthError } from '../../core/errors.js'
import type { ClientId, Seconds } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import type { Settings } from '../../shell/options/settings.js'
import { applicationWrite } from '../../shell/records/application-write.js'
import { storeError } from '../../shell/records/checked-store.js'
import { keys, recordAs } from '../../shell/records.js'
import type { Decision, Transactions } from '../../shell/transactions.js'
import type { Logos } from '../logos.js'
import { refusalError } from './errors.js'

/** The parts of a server that the functions on applications use. */
export interface ApplicationContext {
  readonly settings: Settings<never>
  readonly transactions: Transactions
  readonly logos: Logos
}

/** An application before and after commands. */
interface Applied {
  readonly type: 'done'
  readonly before: Application | undefined
  readonly after: Application
}

/** A command that an application refused. */
interface Refused {
  readonly type: 'refused'
  readonly refusal: ApplicationRefusal
  readonly state?: Application['state']
}

type Commands = readonly [ApplicationCommand, ...ApplicationCommand[]]

/**
 * Applies commands to an application, one after the other, in one write. Then removes the logos that its record names no more.
 * @throws GrantwellError of the refusal, or `ERR_STORE`
 */
export async function applyCommands(
  { settings, transactions, logos }: ApplicationContext,
  clientId: ClientId | undefined,
  ...commands: Commands
): Promise<Applied> {
  if (clientId === undefined) throw refusalError('unknown')
  const key = keys.application(settings.clientKeyOf(clientId))
  const reply = await transactions.transact([key], ([value], now) =>
    decide(key, recordAs.application(value), commands, now),
  )
  if (isOAuthError(reply)) throw storeError(reply)
  if (reply.type === 'refused') throw refusalError(reply.refusal, reply.state)
  const named = logosOf(reply.after)
  await logos.forget(logosOf(reply.before).filter((logo) => !named.includes(logo)))
  return reply
}

/** Decides on commands; the first that is refused refuses them all. */
function decide(
  key: string,
  before: Application | undefined,
  commands: Commands,
  now: Seconds,
): Decision<Applied | Refused> {
  let after = before
  const events = []
  for (const command of commands) {
    const outcome = transitionApplication(after, command, now)
    if (outcome.type === 'refused') return { reply: { ...outcome, ...(after !== undefined && { state: after.state }) } }
    after = outcome.application
    if (outcome.event !== undefined) events.push(outcome.event)
  }
  if (after === undefined) return { reply: { type: 'refused', refusal: 'unknown' } }
  const reply = { type: 'done', before, after } as const
  return after === before ? { reply } : { reply, events, write: applicationWrite(key, after) }
}

/**
 * Reads the record of an application in any state; undefined for an unknown one.
 * @throws GrantwellError `ERR_STORE`
 */
export async function readApplication(
  { settings, transactions }: ApplicationContext,
  id: string,
): Promise<Application | undefined> {
  const clientId = parseClientId(id)
  if (clientId === undefined) return undefined
  const records = await transactions.read([keys.application(settings.clientKeyOf(clientId))])
  if (isOAuthError(records)) throw storeError(records)
  return recordAs.application(records[0]?.value)
}

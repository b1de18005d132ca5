/**
 * The records of applications in the store: reads one, and applies commands to one.
 * @module
 */

import type { Application } from '../../core/application/application.js'
import { logosOf } from '../../core/application/application-record.js'
import type { ApplicationCommand } from '../../core/application/life/commands.js'
import type { ApplicationRefusal } from '../../core/application/life/outcome.js'
import { transitionApplication } from '../../core/application/transition.js'
import { isOAuthError } from '../../core/errors.js'
import type { ClientId, Seconds } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import type { Settings } from '../../shell/options/settings.js'
import { applicationWrite } from '../../shell/records/application-write.js'
import { storeError } from '../../shell/records/checked-store.js'
import { keys, recordAs } from '../../shell/records.js'
import type { Decision, Transactions } from '../../shell/transactions.js'
import type { ActedBy } from '../arguments.js'
import type { Logos } from '../logos.js'
import { LONG_PAST } from '../removed.js'
import { refusalError } from './errors.js'

/** The parts of a server that the functions on applications use. */
export interface ApplicationContext {
  readonly settings: Settings<never>
  readonly transactions: Transactions
  readonly logos: Logos
}

/** The record in place of a removed application until the engine deletes it: it says nothing of the application. */
const GONE = { v: 1 } as const

/** An application before and after commands. */
interface Applied {
  readonly type: 'done'
  readonly before: Application | undefined
  /** Undefined for an application that was removed. */
  readonly after: Application | undefined
}

/** A command that an application refused. */
interface Refused {
  readonly type: 'refused'
  readonly refusal: ApplicationRefusal
  readonly state?: Application['state']
}

/**
 * Applies commands to an application, one after the other, in one write. Then removes the logos that its record names no more.
 * @returns the application as it is from now on
 * @throws GrantwellError of the refusal, or `ERR_STORE`
 */
export async function applyCommands(
  context: ApplicationContext,
  clientId: ClientId | undefined,
  by: ActedBy,
  ...commands: readonly ApplicationCommand[]
): Promise<{ readonly before: Application | undefined; readonly after: Application }> {
  const { before, after } = await apply(context, clientId, by, commands)
  if (after === undefined) throw refusalError('unknown')
  return { before, after }
}

/**
 * Applies a command after which the application may be gone.
 * @throws GrantwellError of the refusal, or `ERR_STORE`
 */
export async function applyCommand(
  context: ApplicationContext,
  clientId: ClientId | undefined,
  by: ActedBy,
  command: ApplicationCommand,
): Promise<void> {
  await apply(context, clientId, by, [command])
}

async function apply(
  { settings, transactions, logos }: ApplicationContext,
  clientId: ClientId | undefined,
  by: ActedBy,
  commands: readonly ApplicationCommand[],
): Promise<Applied> {
  if (clientId === undefined) throw refusalError('unknown')
  const key = keys.application(settings.clientKeyOf(clientId))
  const reply = await transactions
    .by(by.request)
    .transact([key], ([value], now) => decide(key, recordAs.application(value), commands, now, by))
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
  commands: readonly ApplicationCommand[],
  now: Seconds,
  { actor }: ActedBy,
): Decision<Applied | Refused> {
  let after = before
  const events = []
  for (const command of commands) {
    const outcome = transitionApplication(after, command, now)
    if (outcome.type === 'refused') return { reply: { ...outcome, ...(after !== undefined && { state: after.state }) } }
    after = outcome.type === 'removed' ? undefined : outcome.application
    const { event } = outcome
    if (event !== undefined) events.push(actor === undefined ? event : { ...event, actor })
  }
  const reply = { type: 'done', before, after } as const
  if (after === before) return { reply }
  const write = after === undefined ? { key, value: GONE, expiresAt: LONG_PAST } : applicationWrite(key, after)
  return { reply, events, write }
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

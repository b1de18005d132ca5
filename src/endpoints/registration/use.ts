/**
 * Keeps the record of a client that registered itself, while it is in use.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { isPublished } from '../../core/application/application.js'
import { lifetimesFor } from '../../core/application/life/terms.js'
import { keepUntilOf } from '../../core/application/self-registered/life.js'
import { transitionApplication } from '../../core/application/transition.js'
import type { ClientId, Seconds } from '../../core/values.js'
import type { Settings } from '../../shell/options/settings.js'
import { applicationWrite } from '../../shell/records/application-write.js'
import { keys, recordAs } from '../../shell/records.js'
import type { Transactions } from '../../shell/transactions.js'

/**
 * Keeps a client for longer that gets tokens now, in a write of its own: at most once a week. If it fails, the tokens of this time end
 * with the record, and the client registers itself again.
 */
export function keepClient(
  settings: Settings<never>,
  transactions: Transactions,
  application: Application | undefined,
): Promise<void> | undefined {
  if (!isPublished(application)) return undefined
  const keepUntil = keepUntilOf(application, settings.clock(), lifetimesFor(application, settings.rules))
  return keepUntil === undefined ? undefined : keepUntilThen(settings, transactions, application.id, keepUntil)
}

async function keepUntilThen(
  { clientKeyOf }: Settings<never>,
  { transact }: Transactions,
  clientId: ClientId,
  keepUntil: Seconds,
): Promise<void> {
  const key = keys.application(clientKeyOf(clientId))
  await transact<{ readonly type: 'kept' }>([key], ([value], now) => {
    const reply = { type: 'kept' } as const
    const before = recordAs.application(value)
    const outcome = transitionApplication(before, { type: 'use', keepUntil }, now)
    return outcome.type !== 'done' || outcome.application === before
      ? { reply }
      : { reply, write: applicationWrite(key, outcome.application) }
  })
}

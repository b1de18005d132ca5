/**
 * Takes back what waits, and deletes and erases applications.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { isPublished, selfRegisteredOf } from '../../core/application/application.js'
import { applicationLabels } from '../../core/application/application-record.js'
import { checkArgument, readStrictOptions } from '../../core/options.js'
import { TEXT } from '../../core/takes.js'
import type { ClientId } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import type { ActedBy } from '../arguments.js'
import { ACTED_BY } from '../arguments.js'
import { endGrants } from '../grants/end.js'
import { clearIndex } from '../grants/pages.js'
import { refusalError } from './errors.js'
import type { Applications } from './interface.js'
import type { ApplicationContext } from './records.js'
import { applyCommand, applyCommands, readApplication } from './records.js'

/** Creates the functions that withdraw, delete and erase. */
export function createRemovalFunctions(
  context: ApplicationContext,
): Pick<Applications, 'withdraw' | 'delete' | 'erase'> {
  return {
    withdraw: async (id, options = {}) => {
      checkArgument('applications.withdraw', 'id', TEXT, id)
      const by = readStrictOptions<ActedBy>('applications.withdraw', options, ACTED_BY)
      await applyCommand(context, parseClientId(id), by, { type: 'withdraw' })
    },

    delete: async (id, options = {}) => {
      checkArgument('applications.delete', 'id', TEXT, id)
      const by = readStrictOptions<ActedBy>('applications.delete', options, ACTED_BY)
      const application = await readApplication(context, id)
      if (application === undefined) throw refusalError('unknown')
      await removeApplication(context, application, by)
    },

    erase: async (id, options = {}) => {
      checkArgument('applications.erase', 'id', TEXT, id)
      const by = readStrictOptions<ActedBy>('applications.erase', options, ACTED_BY)
      const clientId = parseClientId(id)
      if (clientId === undefined) throw refusalError('unknown')
      const application = await readApplication(context, id)
      if (application !== undefined) await removeApplication(context, application, by)
      await endAll(context, clientId, by, true)
      const labels = application === undefined ? [] : applicationLabels(application)
      for (const label of labels) await clearIndex(context.transactions, label)
    },
  }
}

/**
 * Removes an application and ends its grants. In this order, so that an interruption leaves an application that gets nothing, and a second
 * call ends the rest.
 */
async function removeApplication(context: ApplicationContext, application: Application, by: ActedBy): Promise<void> {
  const { id } = application
  if (selfRegisteredOf(application)?.document !== undefined) throw refusalError('state', application.state)
  if (isPublished(application)) {
    await applyCommands(context, id, by, { type: 'suspend' })
    await endAll(context, id, by)
  }
  await applyCommand(context, id, by, { type: 'delete' })
  // A decision of a user that was under way may have made one more.
  if (isPublished(application)) await endAll(context, id, by)
}

/** Ends all grants of an application; with `erase` their records say nothing of their users from then on. */
async function endAll(
  { transactions, settings }: ApplicationContext,
  clientId: ClientId,
  by: ActedBy,
  erase?: true,
): Promise<void> {
  await endGrants(transactions, settings.rules, `client:${clientId}`, {
    ...by,
    by: 'administrator',
    mayEnd: (grant) => grant.clientId === clientId,
    ...(erase && { erase }),
  })
}

/**
 * Takes back what waits, and deletes applications.
 * @module
 */
import { isPublished, selfRegisteredOf } from '../../core/application/application.js'
import { checkArgument, readStrictOptions } from '../../core/options.js'
import { TEXT } from '../../core/takes.js'
import { parseClientId } from '../../core/values.js'
import type { ActedBy } from '../arguments.js'
import { ACTED_BY } from '../arguments.js'
import { endGrants } from '../grants/end.js'
import { refusalError } from './errors.js'
import type { Applications } from './interface.js'
import type { ApplicationContext } from './records.js'
import { applyCommand, applyCommands, readApplication } from './records.js'

/** Creates the functions that withdraw and delete. */
export function createRemovalFunctions(context: ApplicationContext): Pick<Applications, 'withdraw' | 'delete'> {
  return {
    withdraw: async (id, options = {}) => {
      checkArgument('applications.withdraw', 'id', TEXT, id)
      const { actor } = readStrictOptions<ActedBy>('applications.withdraw', options, ACTED_BY)
      await applyCommand(context, parseClientId(id), actor, { type: 'withdraw' })
    },

    delete: async (id, options = {}) => {
      checkArgument('applications.delete', 'id', TEXT, id)
      const { actor } = readStrictOptions<ActedBy>('applications.delete', options, ACTED_BY)
      const clientId = parseClientId(id)
      const application = await readApplication(context, id)
      if (clientId === undefined || application === undefined) throw refusalError('unknown')
      if (selfRegisteredOf(application)?.document !== undefined) throw refusalError('state', application.state)
      const { transactions, settings } = context
      const mayEnd = (grant: { readonly clientId: string }) => grant.clientId === clientId
      const by = { by: 'administrator', ...(actor !== undefined && { actor }), mayEnd } as const
      const endAll = () => endGrants(transactions, settings.rules, `client:${clientId}`, by)
      // In this order, so that an interruption leaves an application that gets nothing, and a second call ends the rest.
      if (isPublished(application)) {
        await applyCommands(context, clientId, actor, { type: 'suspend' })
        await endAll()
      }
      await applyCommand(context, clientId, actor, { type: 'delete' })
      // A decision of a user that was under way may have made one more.
      if (isPublished(application)) await endAll()
    },
  }
}

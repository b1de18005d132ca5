/**
 * Reviews applications: an administrator approves or rejects a submission or a change.
 * @module
 */
import { isPublished, secretsOf } from '../../core/application/application.js'
import { registrationFault } from '../../core/application/faults.js'
import { reasonFault } from '../../core/application/reason.js'
import { digestOf } from '../../core/credentials/digests.js'
import { checkArgument, readStrictOptions } from '../../core/options.js'
import { normalizeScopes } from '../../core/scopes.js'
import type { Takes, TakesOf } from '../../core/takes.js'
import { ANYTHING, TEXT } from '../../core/takes.js'
import { parseClientId } from '../../core/values.js'
import type { ActedBy } from '../arguments.js'
import { ACTED_BY } from '../arguments.js'
import { refusalError, registrationError } from './errors.js'
import type { Applications } from './interface.js'
import type { ApplicationContext } from './records.js'
import { applyCommands } from './records.js'
import { createSecret } from './secrets.js'

type Approval = { readonly revision: number; readonly scopes?: readonly string[] } & ActedBy
type Rejection = { readonly revision: number; readonly reason: string } & ActedBy

const REVISION: Takes = { words: 'the whole number that was reviewed', fits: Number.isSafeInteger }
const APPROVAL: TakesOf<Approval> = {
  revision: REVISION,
  scopes: { words: 'a list of scopes', fits: Array.isArray },
  ...ACTED_BY,
}
const REJECTION: TakesOf<Rejection> = { revision: REVISION, reason: ANYTHING, ...ACTED_BY }

/** Creates the functions that approve and reject. */
export function createReviewFunctions(context: ApplicationContext): Pick<Applications, 'approve' | 'reject'> {
  return {
    approve: async (id, reviewed) => {
      checkArgument('applications.approve', 'id', TEXT, id)
      const given = readStrictOptions<Approval>('applications.approve', reviewed, APPROVAL, ['revision'])
      const scopes = given.scopes === undefined ? undefined : normalizeScopes(context.settings.scopes, given.scopes)
      if (given.scopes !== undefined && scopes === undefined) throw refusalError('scopes')
      const clientSecret = createSecret(context)
      const { before, after } = await applyCommands(context, parseClientId(id), given, {
        type: 'approve',
        revision: given.revision,
        catalogue: context.settings.scopes,
        ...(scopes !== undefined && { scopes }),
        secretDigest: digestOf(context.settings.digests, clientSecret),
      })
      const hadNone = !isPublished(before) && secretsOf(before) === undefined
      const isIssued = hadNone && isPublished(after) && after.type === 'confidential'
      return { clientId: after.id, ...(isIssued && { clientSecret }) }
    },

    reject: async (id, reviewed) => {
      checkArgument('applications.reject', 'id', TEXT, id)
      const required = ['revision'] as const
      const given = readStrictOptions<Rejection>('applications.reject', reviewed, REJECTION, required)
      const { revision, reason } = given
      const rule = reasonFault(reason)
      if (rule !== undefined) throw registrationError([registrationFault('reason', rule)])
      await applyCommands(context, parseClientId(id), given, { type: 'reject', revision, reason })
    },
  }
}

/**
 * The functions on the permissions of users: list them, and end them.
 * @module
 */

import { parseGrantId } from '../core/credentials/credential.js'
import type { Grant } from '../core/grant/grant.js'
import { checkArgument, readStrictOptions } from '../core/options.js'
import { NAME, TEXT } from '../core/takes.js'
import type { Internals } from '../shell/internals.js'
import type { PageWanted } from '../shell/records/checked-store.js'
import { storeError } from '../shell/records/checked-store.js'
import { keys } from '../shell/records.js'
import { createTransactions } from '../shell/transactions.js'
import type { ActedBy } from './arguments.js'
import { ACTED_BY, PAGE } from './arguments.js'
import { countGrants } from './grants/count.js'
import { endEverything, endGrant, endGrants } from './grants/end.js'
import { eraseSubject } from './grants/erase.js'
import type { Grants } from './grants/interface.js'
import { listReadableGrants } from './grants/list.js'

/** Creates the functions on a server's grants. */
export function createGrants(internals: Internals<never>): Grants {
  const { settings } = internals
  const { rules } = settings
  const transactions = createTransactions(internals)
  return {
    listGrants: async (subject, page = {}) => {
      checkArgument('grants.listGrants', 'subject', NAME, subject)
      const wanted = readStrictOptions<PageWanted>('grants.listGrants', page, PAGE)
      const { leftOut, ...listed } = await listReadableGrants(settings, transactions, subject, wanted)
      if (leftOut !== undefined) throw storeError(leftOut)
      return listed
    },

    revokeGrant: async (subject, grantId, options = {}) => {
      checkArgument('grants.revokeGrant', 'subject', NAME, subject)
      checkArgument('grants.revokeGrant', 'grantId', TEXT, grantId)
      const acted = readStrictOptions<ActedBy>('grants.revokeGrant', options, ACTED_BY)
      const id = parseGrantId(grantId)
      const mayEnd = (grant: Grant): boolean => grant.subject === subject
      return id !== undefined && endGrant(transactions, rules, keys.grant(id), { ...acted, by: whoEnds(acted), mayEnd })
    },

    revokeAll: async (subject, only = {}) => {
      checkArgument('grants.revokeAll', 'subject', NAME, subject)
      const takes = { clientId: TEXT, ...ACTED_BY }
      const given = readStrictOptions<{ clientId?: string } & ActedBy>('grants.revokeAll', only, takes)
      const { clientId, ...acted } = given
      // An undefined one was meant to be a client: if it were left out, every grant would end.
      if (Object.hasOwn(only, 'clientId')) checkArgument('grants.revokeAll', 'clientId', TEXT, clientId)
      const mayEnd = (grant: Grant): boolean =>
        grant.subject === subject && (clientId === undefined || grant.clientId === clientId)
      return endGrants(transactions, rules, `subject:${subject}`, { ...acted, by: whoEnds(acted), mayEnd })
    },

    revokeApplication: async (clientId, options = {}) => {
      checkArgument('grants.revokeApplication', 'clientId', TEXT, clientId)
      const by = readStrictOptions<ActedBy>('grants.revokeApplication', options, ACTED_BY)
      const mayEnd = (grant: Grant): boolean => grant.clientId === clientId
      return endGrants(transactions, rules, `client:${clientId}`, { ...by, by: 'administrator', mayEnd })
    },

    revokeEverything: async (options = {}) => {
      const by = readStrictOptions<ActedBy>('grants.revokeEverything', options, ACTED_BY)
      return endEverything(transactions, rules, by)
    },

    erase: async (subject, options = {}) => {
      checkArgument('grants.erase', 'subject', NAME, subject)
      const by = readStrictOptions<ActedBy>('grants.erase', options, ACTED_BY)
      return eraseSubject(settings, transactions, subject, by)
    },

    countGrants: async (clientId) => {
      checkArgument('grants.countGrants', 'clientId', TEXT, clientId)
      return countGrants(settings, transactions, clientId)
    },
  }
}

/** Tells who ends a grant of a user: the user, unless the host names an administrator. */
function whoEnds({ actor }: ActedBy): 'user' | 'administrator' {
  return actor === undefined ? 'user' : 'administrator'
}

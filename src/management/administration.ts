/**
 * The functions that a host calls for applicants, administrators and users. What they need is loaded behind the start.
 * @module
 */

import { loadLater } from '../shell/lazy.js'
import type { Settings } from '../shell/options.js'
import type { Transactions } from '../shell/transactions.js'
import type { Applications } from './applications.js'
import type { Grants } from './grants.js'

/** Binds the functions to a server. */
export function administrationOf<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
): { readonly applications: Applications; readonly grants: Grants } {
  const applications = loadLater(async () => {
    const { applicationsOf } = await import('./applications.js')
    return applicationsOf(settings, transactions)
  })
  const grants = loadLater(async () => {
    const { grantsOf } = await import('./grants.js')
    return grantsOf(settings, transactions)
  })
  return {
    applications: {
      register: async (...given) => (await applications()).register(...given),
      registerResourceServer: async (...given) => (await applications()).registerResourceServer(...given),
      submit: async (...given) => (await applications()).submit(...given),
      change: async (...given) => (await applications()).change(...given),
      approve: async (...given) => (await applications()).approve(...given),
      reject: async (...given) => (await applications()).reject(...given),
      suspend: async (...given) => (await applications()).suspend(...given),
      reinstate: async (...given) => (await applications()).reinstate(...given),
      rotateSecret: async (...given) => (await applications()).rotateSecret(...given),
      explainRedirect: async (...given) => (await applications()).explainRedirect(...given),
      get: async (...given) => (await applications()).get(...given),
      list: async (...given) => (await applications()).list(...given),
      logo: async (...given) => (await applications()).logo(...given),
    },
    grants: {
      listGrants: async (...given) => (await grants()).listGrants(...given),
      revokeGrant: async (...given) => (await grants()).revokeGrant(...given),
      revokeAll: async (...given) => (await grants()).revokeAll(...given),
      revokeApplication: async (...given) => (await grants()).revokeApplication(...given),
    },
  }
}

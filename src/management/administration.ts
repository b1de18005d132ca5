/**
 * The functions that a host calls for applicants, administrators and users. Their code is loaded after the start: together with
 * the rest it would be 7.6 kB more of the bundle of `grantwell` (25.8 instead of 18.2 kB by gzip, more than its 20), and a quarter
 * more of the time of its import.
 * @module
 */

import { lazy } from '../shell/lazy.js'
import type { Settings } from '../shell/options/settings.js'
import type { Transactions } from '../shell/transactions.js'
import type { Applications } from './applications/interface.js'
import type { Grants } from './grants/interface.js'

/** Creates the functions on a server's applications and grants. */
export function createAdministration(
  settings: Settings<never>,
  transactions: Transactions,
): { readonly applications: Applications; readonly grants: Grants } {
  const applications = lazy(async () => {
    const { createApplications } = await import('./applications.js')
    return createApplications(settings, transactions)
  })
  const grants = lazy(async () => {
    const { createGrants } = await import('./grants.js')
    return createGrants(settings, transactions)
  })
  return {
    applications: {
      register: async (...given) => (await applications()).register(...given),
      registerResourceServer: async (...given) => (await applications()).registerResourceServer(...given),
      submit: async (...given) => (await applications()).submit(...given),
      change: async (...given) => (await applications()).change(...given),
      approve: async (...given) => (await applications()).approve(...given),
      reject: async (...given) => (await applications()).reject(...given),
      withdraw: async (...given) => (await applications()).withdraw(...given),
      transfer: async (...given) => (await applications()).transfer(...given),
      setTerms: async (...given) => (await applications()).setTerms(...given),
      delete: async (...given) => (await applications()).delete(...given),
      suspend: async (...given) => (await applications()).suspend(...given),
      reinstate: async (...given) => (await applications()).reinstate(...given),
      rotateSecret: async (...given) => (await applications()).rotateSecret(...given),
      explainRedirect: async (...given) => (await applications()).explainRedirect(...given),
      get: async (...given) => (await applications()).get(...given),
      list: async (...given) => (await applications()).list(...given),
      search: async (...given) => (await applications()).search(...given),
      count: async (...given) => (await applications()).count(...given),
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

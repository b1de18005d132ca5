/**
 * The functions that a host calls for applicants, administrators and users. Their code is loaded after the start: together with
 * the rest it would be 7.6 kB more of the bundle of `grantwell` (25.8 instead of 18.2 kB by gzip, more than its 20), and a quarter
 * more of the time of its import.
 * @module
 */

import type { Internals } from '../shell/internals.js'
import { lazy } from '../shell/lazy.js'
import type { Applications } from './applications/interface.js'
import type { Grants } from './grants/interface.js'
import type { Health } from './health.js'

/** Every name of the functions, so that a forgotten one does not compile. */
const APPLICATIONS: Readonly<Record<keyof Applications, 0>> = {
  register: 0,
  registerResourceServer: 0,
  submit: 0,
  change: 0,
  withdraw: 0,
  transfer: 0,
  setTerms: 0,
  delete: 0,
  erase: 0,
  approve: 0,
  reject: 0,
  suspend: 0,
  reinstate: 0,
  rotateSecret: 0,
  explainRedirect: 0,
  get: 0,
  list: 0,
  search: 0,
  count: 0,
  logo: 0,
}

const GRANTS: Readonly<Record<keyof Grants, 0>> = {
  listGrants: 0,
  revokeGrant: 0,
  revokeAll: 0,
  revokeApplication: 0,
  revokeEverything: 0,
  erase: 0,
  countGrants: 0,
}

const HEALTH = { health: 0 } as const

/** Creates the functions on a server's applications, grants and health. */
export function createAdministration(internals: Internals<never>): {
  readonly applications: Applications
  readonly grants: Grants
  readonly health: () => Promise<Health>
} {
  return {
    ...loadedLater(HEALTH, async () => (await import('./health.js')).createHealthCheck(internals)),
    applications: loadedLater(APPLICATIONS, async () =>
      (await import('./applications.js')).createApplications(internals),
    ),
    grants: loadedLater(GRANTS, async () => (await import('./grants.js')).createGrants(internals)),
  }
}

/** Makes functions that load their code when the first of them is called. */
function loadedLater<Functions extends object>(
  names: Readonly<Record<keyof Functions, 0>>,
  load: () => Promise<Functions>,
): Functions {
  const loaded = lazy(load)
  const calls = Object.keys(names).map((name) => [
    name,
    async (...given: unknown[]) => ((await loaded()) as Record<string, Call>)[name]?.(...given),
  ])
  return Object.fromEntries(calls) as Functions // each name calls the function of that name
}

type Call = (...given: unknown[]) => unknown

/**
 * Looks up applications: one record, lists, logos, and the rule that a redirect URI breaks.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { isPublished } from '../../core/application/application.js'
import { redirectFault } from '../../core/application/faults.js'
import { brokenRedirectRule } from '../../core/application/redirect-uri.js'
import { configurationError, isOAuthError } from '../../core/errors.js'
import { checkArgument, readStrictOptions } from '../../core/options.js'
import type { TakesOf } from '../../core/takes.js'
import { NAME, oneOf, TEXT } from '../../core/takes.js'
import type { Subject } from '../../core/values.js'
import type { PageWanted } from '../../shell/records/checked-store.js'
import { storeError } from '../../shell/records/checked-store.js'
import { recordAs } from '../../shell/records.js'
import { PAGE } from '../arguments.js'
import { refusalError } from './errors.js'
import type { Applications } from './interface.js'
import type { ApplicationContext } from './records.js'
import { readApplication } from './records.js'

/** The states of applications. */
export const STATES: readonly Application['state'][] = ['pending', 'rejected', 'approved', 'suspended']

type Wanted = { readonly state?: Application['state']; readonly applicant?: Subject }
const WANTED: TakesOf<Wanted> = { state: oneOf(...STATES), applicant: NAME }

/** Creates the functions that look up applications. */
export function createLookupFunctions(
  context: ApplicationContext,
): Pick<Applications, 'explainRedirect' | 'get' | 'list' | 'logo'> {
  return {
    explainRedirect: async (id, redirectUri) => {
      checkArgument('applications.explainRedirect', 'clientId', TEXT, id)
      checkArgument('applications.explainRedirect', 'redirectUri', TEXT, redirectUri)
      const application = await readApplication(context, id)
      if (application === undefined) throw refusalError('unknown')
      if (!isPublished(application)) throw refusalError('state', application.state)
      const rule = brokenRedirectRule(application, redirectUri, context.settings.redirect)
      return rule && redirectFault(rule)
    },

    get: async (id) => {
      checkArgument('applications.get', 'id', TEXT, id)
      return structuredClone(await readApplication(context, id))
    },

    list: async (which, page = {}) => {
      const label = labelOf(readStrictOptions<Wanted>('applications.list', which, WANTED))
      const wanted = readStrictOptions<PageWanted>('applications.list, page', page, PAGE)
      const listed = await context.transactions.list(label, wanted)
      if (isOAuthError(listed)) throw storeError(listed)
      const { records, cursor } = listed
      const applications = records.flatMap(({ value }) => recordAs.application(value) ?? [])
      return { applications: structuredClone(applications), ...(cursor !== undefined && { cursor }) }
    },

    logo: (logo) => {
      checkArgument('applications.logo', 'logo', TEXT, logo)
      return context.logos.read(logo)
    },
  }
}

/** Returns the label of a state or of an applicant. */
function labelOf({ state, applicant }: Wanted): string {
  if ((state === undefined) === (applicant === undefined)) {
    const came = state === undefined ? 'neither' : 'both'
    throw configurationError(`applications.list: the argument which must be a state or an applicant; got ${came}`)
  }
  return state === undefined ? `applicant:${applicant}` : `applications:${state}`
}

/**
 * The terms that administrators set for an application, and the change of its applicant.
 * @module
 */
import type { ApplicationTerms } from '../../core/application/application.js'
import { configurationError } from '../../core/errors.js'
import { checkArgument, readStrictOptions } from '../../core/options.js'
import type { TakesOf } from '../../core/takes.js'
import { NAME, seconds, TEXT } from '../../core/takes.js'
import type { Subject } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import type { Settings } from '../../shell/options/settings.js'
import type { ActedBy } from '../arguments.js'
import { ACTED_BY } from '../arguments.js'
import type { Applications } from './interface.js'
import type { ApplicationContext } from './records.js'
import { applyCommands } from './records.js'

const DAY = 86_400

/** The terms that there are, with the limits of the options of the server. */
const TERMS: TakesOf<ApplicationTerms> = {
  firstParty: { words: 'true', fits: (value) => value === true },
  accessTokenLifetime: seconds(1, 31 * DAY),
  refreshTokenLifetime: seconds(1, 3650 * DAY),
}

/** Creates the functions that set the terms of an application, and give it to another applicant. */
export function createTermsFunctions(context: ApplicationContext): Pick<Applications, 'setTerms' | 'transfer'> {
  return {
    setTerms: async (id, given, options = {}) => {
      const of = 'applications.setTerms'
      checkArgument(of, 'clientId', TEXT, id)
      const terms = checkTerms(context.settings, of, given)
      const by = readStrictOptions<ActedBy>(of, options, ACTED_BY)
      await applyCommands(context, parseClientId(id), by, { type: 'set_terms', terms })
    },

    transfer: async (id, to) => {
      const of = 'applications.transfer'
      checkArgument(of, 'id', TEXT, id)
      const takes = { applicant: NAME, ...ACTED_BY }
      const required = ['applicant'] as const
      const given = readStrictOptions<{ applicant: Subject } & ActedBy>(of, to, takes, required)
      const { applicant } = given
      await applyCommands(context, parseClientId(id), given, { type: 'transfer', applicant })
    },
  }
}

/**
 * Checks terms.
 * @param of - the function that takes them
 * @throws GrantwellError `ERR_CONFIGURATION`
 */
export function checkTerms({ rules }: Settings<never>, of: string, given: unknown): ApplicationTerms {
  const terms = readStrictOptions<ApplicationTerms>(`${of}, terms`, given, TERMS)
  const { accessTokenLifetime, refreshTokenLifetime } = { ...rules, ...terms }
  if (refreshTokenLifetime >= accessTokenLifetime) return terms
  throw configurationError(
    `${of}, terms: the option refreshTokenLifetime must be accessTokenLifetime (${accessTokenLifetime}) or more; got ${refreshTokenLifetime}`,
  )
}

/**
 * The functions on applications, one file for each step of their life.
 * @module
 */
import type { Internals } from '../shell/internals.js'
import { createTransactions } from '../shell/transactions.js'
import type { Applications } from './applications/interface.js'
import { createLookupFunctions } from './applications/lookup.js'
import type { ApplicationContext } from './applications/records.js'
import { createRegistrationFunctions } from './applications/registration.js'
import { createRemovalFunctions } from './applications/removal.js'
import { createReviewFunctions } from './applications/review.js'
import { createSearchFunctions } from './applications/search.js'
import { createSecretFunctions } from './applications/secrets.js'
import { createSubmissionFunctions } from './applications/submission.js'
import { createTermsFunctions } from './applications/terms.js'
import { createLogos } from './logos.js'

/** Creates the functions on a server's applications. */
export function createApplications(internals: Internals<never>): Applications {
  const { settings } = internals
  const transactions = createTransactions(internals)
  const context: ApplicationContext = { settings, transactions, logos: createLogos(settings, transactions) }
  return {
    ...createRegistrationFunctions(context),
    ...createSubmissionFunctions(context),
    ...createReviewFunctions(context),
    ...createSecretFunctions(context),
    ...createTermsFunctions(context),
    ...createRemovalFunctions(context),
    ...createLookupFunctions(context),
    ...createSearchFunctions(context),
  }
}

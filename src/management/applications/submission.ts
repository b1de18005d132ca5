/**
 * Takes submissions of new applications and of changes, which wait for an administrator.
 * @module
 */
import type { SubmittedApplication } from '../../core/application/application.js'
import { selfRegisteredOf } from '../../core/application/application.js'
import { GrantwellError, isOAuthError } from '../../core/errors.js'
import { checkArgument, readStrictOptions } from '../../core/options.js'
import { NAME, TEXT } from '../../core/takes.js'
import type { Subject } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import { storeError } from '../../shell/records/checked-store.js'
import { recordAs } from '../../shell/records.js'
import type { Applications } from './interface.js'
import type { ApplicationContext } from './records.js'
import { applyCommands, readApplication } from './records.js'
import { checkDetails, createClientId, NO_LOGO } from './registration.js'

/** Submissions of one applicant that may wait. Several servers that take submissions at the same moment may exceed it. */
const SUBMISSIONS_WAITING = 20

/** Creates the functions that submit an application and a change. */
export function createSubmissionFunctions(context: ApplicationContext): Pick<Applications, 'submit' | 'change'> {
  const { logos } = context
  const inOrder = createQueues<Subject>()

  return {
    submit: async (submission, by = {}) => {
      const { applicant } = readStrictOptions<{ applicant?: Subject }>('applications.submit', by, { applicant: NAME })
      const { details, logo = NO_LOGO } = checkDetails(context, submission, { reasons: 'required', logo: 'required' })
      const id = createClientId(context)
      const submitter = applicant === undefined ? {} : { applicant }
      const submit = () =>
        logos.keepFor(logo, (logoId) =>
          applyCommands(context, id, { type: 'submit', id, ...submitter, details: { ...details, logo: logoId } }),
        )
      const { after } = await (applicant === undefined
        ? submit()
        : inOrder(applicant, async () => {
            await checkWaiting(context, applicant)
            return submit()
          }))
      return structuredClone(after as SubmittedApplication) // it was submitted this moment
    },

    change: async (id, amendment) => {
      checkArgument('applications.change', 'id', TEXT, id)
      const before = await readApplication(context, id)
      // Each redirect URI of a client that registered itself stands for itself alone, unless a change names a domain.
      const redirectUris = selfRegisteredOf(before) === undefined ? 'required' : 'exact'
      const { details, logo } = checkDetails(context, amendment, {
        reasons: 'required',
        logo: 'optional',
        redirectUris,
      })
      const change = (logoId: string | undefined) =>
        applyCommands(context, parseClientId(id), {
          type: 'change',
          details: { ...details, ...(logoId !== undefined && { logo: logoId }) },
        })
      const { after } = await (logo === undefined ? change(undefined) : logos.keepFor(logo, change))
      return structuredClone(after)
    },
  }
}

/**
 * Refuses an applicant with too many submissions that wait: each leaves a record and a logo until an administrator looks at it.
 * @throws GrantwellError `ERR_TOO_MANY_SUBMISSIONS`
 */
async function checkWaiting({ transactions }: ApplicationContext, applicant: Subject): Promise<void> {
  let waiting = 0
  let cursor: string | undefined
  do {
    const page: Awaited<ReturnType<typeof transactions.list>> = await transactions.list(
      `applicant:${applicant}`,
      cursor === undefined ? {} : { cursor },
    )
    if (isOAuthError(page)) throw storeError(page)
    waiting += page.records.filter(({ value }) => recordAs.application(value)?.state === 'pending').length
    cursor = page.cursor
  } while (cursor !== undefined && waiting < SUBMISSIONS_WAITING)
  if (waiting >= SUBMISSIONS_WAITING)
    throw new GrantwellError(
      'ERR_TOO_MANY_SUBMISSIONS',
      `grantwell: ${SUBMISSIONS_WAITING} submissions of this applicant wait for an administrator, and no more may`,
    )
}

/**
 * Creates a function that runs the tasks of each owner one after the other, so that no task counts before the one ahead of it
 * ends.
 */
function createQueues<Owner>(): <Result>(owner: Owner, task: () => Promise<Result>) => Promise<Result> {
  /** The last task of each owner with a task that runs. */
  const last = new Map<Owner, Promise<unknown>>()
  return async (owner, task) => {
    const turn = (last.get(owner) ?? Promise.resolve()).then(task, task)
    last.set(owner, turn)
    try {
      return await turn
    } finally {
      if (last.get(owner) === turn) last.delete(owner)
    }
  }
}

/**
 * Takes submissions of new applications and of changes, which wait for an administrator.
 * @module
 */
import type { Application, SubmittedApplication } from '../../core/application/application.js'
import { isResourceServer, selfRegisteredOf } from '../../core/application/application.js'
import { amended } from '../../core/application/life/amendment.js'
import { detailsToChange } from '../../core/application/life/review.js'
import { decodeBase64url } from '../../core/credentials/base64url.js'
import { GrantwellError, isOAuthError } from '../../core/errors.js'
import { checkArgument, readStrictOptions } from '../../core/options.js'
import type { TakesOf } from '../../core/takes.js'
import { isObject, NAME, TEXT } from '../../core/takes.js'
import type { ClientId, Subject } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import { storeError } from '../../shell/records/checked-store.js'
import { recordAs } from '../../shell/records.js'
import type { ActedBy } from '../arguments.js'
import { ACTED_BY } from '../arguments.js'
import { refusalError } from './errors.js'
import type { Applications } from './interface.js'
import type { ApplicationContext } from './records.js'
import { applyCommands, readApplication } from './records.js'
import { CLIENT_ID_BYTES, checkDetails, createClientId, NO_LOGO } from './registration.js'

/** Submissions of one applicant that may wait. Several servers that take submissions at the same moment may exceed it. */
const SUBMISSIONS_WAITING = 20

/** Creates the functions that submit an application and a change. */
export function createSubmissionFunctions(context: ApplicationContext): Pick<Applications, 'submit' | 'change'> {
  const { logos } = context
  const inOrder = createQueues<Subject>()

  return {
    submit: async (submission, by = {}) => {
      const given = readStrictOptions<SubmittedBy>('applications.submit', by, SUBMITTED_BY)
      const { applicant, actor = applicant, request } = given
      const from = { ...(actor !== undefined && { actor }), ...(request && { request }) }
      const { details, logo = NO_LOGO } = checkDetails(context, submission, { reasons: 'required', logo: 'required' })
      const id = given.id === undefined ? createClientId(context) : (given.id as ClientId) // base64url is printable ASCII
      const submitter = applicant === undefined ? {} : { applicant }
      const submit = () =>
        logos.keepFor(logo, (logoId) =>
          applyCommands(context, id, from, {
            type: 'submit',
            id,
            ...submitter,
            details: { ...details, logo: logoId },
          }),
        )
      const { after } = await (applicant === undefined
        ? submit()
        : inOrder(applicant, async () => {
            await checkWaiting(context, applicant)
            return submit()
          }))
      return structuredClone(after as SubmittedApplication) // it was submitted this moment
    },

    change: async (id, amendment, options = {}) => {
      checkArgument('applications.change', 'id', TEXT, id)
      const from = readStrictOptions<ChangeOptions>('applications.change', options, CHANGE_OPTIONS)
      const prepare = () => prepareChange(context, id, amendment, from)
      const prepared = await prepare()
      const { logo } = prepared
      const change = (logoId?: string) => applyChange(context, id, from, prepared, prepare, logoId)
      return structuredClone(await (logo === undefined ? change() : logos.keepFor(logo, change)))
    },
  }
}

/** The options of a submission. */
type SubmittedBy = { readonly applicant?: Subject; readonly id?: string } & ActedBy
const SUBMITTED_BY: TakesOf<SubmittedBy> = {
  applicant: NAME,
  id: {
    words: '16 random bytes as 22 characters of base64url',
    fits: (value) => typeof value === 'string' && decodeBase64url(value)?.length === CLIENT_ID_BYTES,
  },
  ...ACTED_BY,
}

/** The options of a change. */
type ChangeOptions = { readonly revision?: number } & ActedBy
const CHANGE_OPTIONS: TakesOf<ChangeOptions> = {
  revision: { words: 'the whole number that the change was made from', fits: Number.isSafeInteger },
  ...ACTED_BY,
}

/** A change that was checked, and the revision that it was made from. */
type PreparedChange = ReturnType<typeof checkDetails> & { readonly revision: number }

/** The maximum number of times that a change is made anew because somebody else changed the application meanwhile. */
const CHANGE_TRIES = 8

/** Stores a change. One that was made from no certain revision is made anew from a newer one. */
async function applyChange(
  context: ApplicationContext,
  id: string,
  from: ChangeOptions,
  prepared: PreparedChange,
  prepare: () => Promise<PreparedChange>,
  logo: string | undefined,
): Promise<Application> {
  for (let tries = 1; ; tries++) {
    const { revision, details } = tries === 1 ? prepared : await prepare()
    const change = { type: 'change', revision, details: { ...details, ...(logo !== undefined && { logo }) } } as const
    try {
      const { after } = await applyCommands(context, parseClientId(id), from, change)
      return after
    } catch (error) {
      const isOutdated = error instanceof GrantwellError && error.code === 'ERR_REVISION_OUTDATED'
      if (!isOutdated || from.revision !== undefined || tries === CHANGE_TRIES) throw error
    }
  }
}

/**
 * Makes the details that a change leads to, and checks them.
 * @throws GrantwellError `ERR_REGISTRATION` with every fault
 */
async function prepareChange(
  context: ApplicationContext,
  id: string,
  amendment: unknown,
  from: ChangeOptions,
): Promise<PreparedChange> {
  const before = await readApplication(context, id)
  if (before === undefined) throw refusalError('unknown')
  if (isResourceServer(before) || before.state === 'rejected') throw refusalError('state', before.state)
  if (from.revision !== undefined && from.revision !== before.revision) throw refusalError('outdated')
  const present = detailsToChange(before)
  const isScoped = isObject(amendment) && amendment['scopes'] !== undefined
  const checked = checkDetails(context, amended(present, amendment), {
    reasons: isScoped ? 'required' : 'optional',
    logo: 'optional',
    // Each redirect URI of a client that registered itself stands for itself alone, unless a change names a domain.
    redirectUris: selfRegisteredOf(before) === undefined ? 'required' : 'exact',
    ...(present.website === '' && { website: 'optional' }),
  })
  return { ...checked, revision: before.revision }
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

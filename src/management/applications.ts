/**
 * Applications in the store: functions for the host's applicants and administrators, no endpoint (specification, section 1).
 * @module
 */

import type { Application, ApplicationDetails, SubmittedApplication } from '../core/application/application.js'
import { isPublished } from '../core/application/application.js'
import { applicationLabels, logosOf } from '../core/application/application-record.js'
import { reasonFault } from '../core/application/reason.js'
import { brokenRedirectRule } from '../core/application/redirect-uri.js'
import type {
  Amendment,
  Registration,
  RegistrationFault,
  ResourceServerRegistration,
  Submission,
} from '../core/application/registration.js'
import type { RegistrationRules } from '../core/application/registration-check.js'
import { checkRegistration } from '../core/application/registration-check.js'
import type { ApplicationCommand, ApplicationRefusal } from '../core/application/transition.js'
import { transitionApplication } from '../core/application/transition.js'
import type { GrantwellErrorCode } from '../core/errors.js'
import { configurationError, GrantwellError } from '../core/errors.js'
import { normalizeScopes } from '../core/scopes.js'
import type { Takes, TakesOf } from '../core/takes.js'
import { ANYTHING, NAME, oneOf, seconds } from '../core/takes.js'
import { encodeBase64url } from '../core/tokens/base64url.js'
import { CLIENT_SECRET_PREFIX, SECRET_BYTES } from '../core/tokens/credential.js'
import { clientKeyOf, digestOf } from '../core/tokens/digests.js'
import type { ClientId, Seconds, Subject } from '../core/values.js'
import { parseClientId } from '../core/values.js'
import type { PageOptions } from '../shell/arguments.js'
import { isName, ownOptions, PAGE, TEXT } from '../shell/arguments.js'
import { storeError } from '../shell/checked-store.js'
import { checkArgument } from '../shell/host.js'
import type { Settings } from '../shell/options.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'
import type { Logo } from './logos.js'
import { logosIn } from './logos.js'

/** What an application needs to use the service. */
export interface ClientCredentials {
  readonly clientId: ClientId
  /** Shown this once; the store holds its digest. Absent for a public client, and where the client has one already. */
  readonly clientSecret?: string
}

/** A page of applications. */
export interface ApplicationPage {
  readonly applications: readonly Application[]
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string
}

/**
 * Functions for applicants and administrators; who may call them is for the host to say. All of them throw
 * GrantwellError: `ERR_STORE`, `ERR_CONFIGURATION` for options of another name or type, and where an application is to be
 * changed `ERR_CLIENT_UNKNOWN`.
 */
export interface Applications {
  /**
   * Registers an application that administrators have approved, in one step.
   * @param imported - identifier and secret that the application has from elsewhere; made at random by default. A
   * secret must have at least 24 visible ASCII characters, and be random: it is kept as a plain SHA-256
   * @throws GrantwellError `ERR_REGISTRATION` with every fault, or `ERR_CLIENT_EXISTS`
   */
  readonly register: (
    registration: Registration,
    imported?: { readonly clientId?: string; readonly clientSecret?: string },
  ) => Promise<ClientCredentials>
  /**
   * Registers an API of the service that lives elsewhere, which may then ask at the introspection endpoint. It is suspended,
   * reinstated, looked up and given a new secret as an application is, and has `resourceServer: true`.
   * @param imported - identifier and secret that it has from elsewhere, as for `register`
   * @throws GrantwellError `ERR_REGISTRATION` with every fault, `ERR_CLIENT_EXISTS`, or `ERR_CONFIGURATION` for a field that there is not
   * @see RFC 7662, section 2.1
   */
  readonly registerResourceServer: (
    registration: ResourceServerRegistration,
    imported?: { readonly clientId?: string; readonly clientSecret?: string },
  ) => Promise<Required<ClientCredentials>>
  /**
   * Hands in an application for approval.
   * @param by.applicant - the user who does so, to find it by
   * @returns the application, pending; its `id` becomes the client identifier once it is approved
   * @throws GrantwellError `ERR_REGISTRATION` with every fault, or `ERR_TOO_MANY_SUBMISSIONS` where 20 of the applicant wait
   */
  readonly submit: (submission: Submission, by?: { readonly applicant?: Subject }) => Promise<SubmittedApplication>
  /**
   * Hands in a change, which waits for approval; what was approved stays in force meanwhile. It takes the place of a
   * change, or of a submission, that waits already.
   * @param amendment - the whole registration as it is to be; without a logo, the present one stays
   * @throws GrantwellError `ERR_REGISTRATION` with every fault, or `ERR_APPLICATION_STATE` for a rejected application
   */
  readonly change: (id: string, amendment: Amendment) => Promise<Application>
  /**
   * Approves what waits: a new application, which gets its client identifier and secret, or a change.
   * @param reviewed.revision - the `review.revision` that the administrator looked at
   * @param reviewed.scopes - fewer or narrower scopes than were asked for; all of them by default
   * @returns `clientSecret` only at the first approval of a confidential client
   * @throws GrantwellError `ERR_REVISION_OUTDATED` where something newer was handed in, `ERR_APPLICATION_STATE` where
   * nothing waits, `ERR_REGISTRATION` for scopes that were not asked for
   */
  readonly approve: (
    id: string,
    reviewed: { readonly revision: number; readonly scopes?: readonly string[] },
  ) => Promise<ClientCredentials>
  /**
   * Refuses what waits: a new application for good, or a change, and what was approved stays in force.
   * @param reviewed.reason - for the applicant, 1 to 350 characters
   * @throws like `approve`
   */
  readonly reject: (id: string, reviewed: { readonly revision: number; readonly reason: string }) => Promise<void>
  /**
   * Stops an application: it gets nothing any more, and its tokens do not work from the very next request on.
   * @throws GrantwellError `ERR_APPLICATION_STATE` where it was never approved
   */
  readonly suspend: (clientId: string) => Promise<void>
  /** Lets a suspended application go on; what has not expired works again. @throws like `suspend` */
  readonly reinstate: (clientId: string) => Promise<void>
  /**
   * Gives a confidential client a new secret. The old one works on for an overlap, so that every server of the
   * application can be told; with an overlap of 0 every older one stops at once.
   * @param options.overlap - seconds; 86,400 (a day) by default, a year at most
   * @throws GrantwellError `ERR_APPLICATION_STATE` for a public client, one that was never approved, or one of which 8 secrets work
   */
  readonly rotateSecret: (
    clientId: string,
    options?: { readonly overlap?: Seconds },
  ) => Promise<Required<ClientCredentials>>
  /**
   * Says which rule a redirect URI breaks, for the application's developer who sees "This link cannot be accessed".
   * @param redirectUri - as the application sends it
   * @returns the rule, such as `must have the host app.example`; undefined where the URI is accepted
   * @throws GrantwellError `ERR_APPLICATION_STATE` for an application that was never approved
   */
  readonly explainRedirect: (clientId: string, redirectUri: string) => Promise<string | undefined>
  /** A copy of the record of an application, in whatever state; undefined where there is none. */
  readonly get: (id: string) => Promise<Application | undefined>
  /**
   * Lists applications, page by page, each once.
   * @param which - a state, where `pending` has everything that waits for an administrator, changes of published
   * applications too; or an applicant
   * @param page.limit - at most so many, 100 by default
   * @param page.cursor - from a page before
   * @throws GrantwellError `ERR_CONFIGURATION` for anything else than one of the two
   */
  readonly list: (
    which:
      | { readonly state: Application['state']; readonly applicant?: never }
      | { readonly applicant: Subject; readonly state?: never },
    page?: { readonly limit?: number; readonly cursor?: string },
  ) => Promise<ApplicationPage>
  /** The logo that a record names as `logo`, in force or in review; undefined where there is none. */
  readonly logo: (logo: string) => Promise<Logo | undefined>
}

const CLIENT_ID_BYTES = 16

/** Submissions of one applicant that may wait at once. Several that are handed in at the same moment may exceed it. */
const SUBMISSIONS_WAITING = 20
const SECRET_OVERLAP: Seconds = 86_400

const STATES: readonly Application['state'][] = ['pending', 'rejected', 'approved', 'suspended']

type Imported = { readonly clientId?: string; readonly clientSecret?: string }
type Approval = { readonly revision: number; readonly scopes?: readonly string[] }
type Rejection = { readonly revision: number; readonly reason: string }
type Wanted = { readonly state?: Application['state']; readonly applicant?: Subject }

/** Checked with the registration, so that all faults are told at once. */
const IMPORTED: TakesOf<Imported> = { clientId: ANYTHING, clientSecret: ANYTHING }
const RESOURCE_SERVER: TakesOf<ResourceServerRegistration> = {
  name: ANYTHING,
  description: ANYTHING,
  website: ANYTHING,
  scopes: ANYTHING,
}

const REVISION: Takes = { words: 'the whole number that was reviewed', fits: Number.isSafeInteger }
const APPROVAL: TakesOf<Approval> = {
  revision: REVISION,
  scopes: { words: 'a list of scopes', fits: Array.isArray },
}
const REJECTION: TakesOf<Rejection> = { revision: REVISION, reason: ANYTHING }
const WANTED: TakesOf<Wanted> = { state: oneOf(...STATES), applicant: NAME }

function checkId(of: string, id: unknown): void {
  checkArgument(`applications.${of}`, of === 'suspend' || of === 'reinstate' ? 'clientId' : 'id', TEXT, id)
}

/** Never comes to it: where a logo is required, there is one. */
const NO_LOGO: Uint8Array = new Uint8Array(0)

const IMPORTED_SECRET = /^[\x21-\x7e]{24,255}$/

/** Binds the functions to a server. */
export function applicationsOf<Native>(settings: Settings<Native>, transactions: Transactions): Applications {
  const { entropy, digests } = settings
  const { read, list, transact } = transactions
  const logos = logosIn(settings, transactions)

  /** Applies commands to the application, one after the other, in one write. */
  async function apply(
    clientId: ClientId | undefined,
    ...commands: readonly [ApplicationCommand, ...ApplicationCommand[]]
  ): Promise<{ readonly before: Application | undefined; readonly after: Application }> {
    if (clientId === undefined) throw failure('unknown')
    const key = keys.application(clientKeyOf(digests, clientId))
    const done = await transact<
      | { readonly type: 'done'; readonly before: Application | undefined; readonly after: Application }
      | { readonly type: 'refused'; readonly refusal: ApplicationRefusal; readonly state?: Application['state'] }
    >([key], ([value], now) => {
      const before = recordAs.application(value)
      let after = before
      const events = []
      for (const command of commands) {
        const outcome = transitionApplication(after, command, now)
        if (outcome.type === 'refused')
          return { reply: { ...outcome, ...(after !== undefined && { state: after.state }) } }
        after = outcome.application
        if (outcome.event !== undefined) events.push(outcome.event)
      }
      if (after === undefined) return { reply: { type: 'refused', refusal: 'unknown' } }
      const reply = { type: 'done', before, after } as const
      return after === before
        ? { reply }
        : { reply, events, write: { key, value: after, labels: applicationLabels(after) } }
    })
    if (done.type === 'error') throw storeError(done)
    if (done.type === 'refused') throw failure(done.refusal, done.state)
    const named = logosOf(done.after)
    await logos.forget(logosOf(done.before).filter((logo) => !named.includes(logo)))
    return done
  }

  /** What was handed in, checked; every fault at once, with those that were found elsewhere. */
  function checked(
    given: unknown,
    needs: Pick<RegistrationRules, 'reasons' | 'logo'> & Partial<Pick<RegistrationRules, 'redirectUris'>>,
    more: readonly RegistrationFault[] = [],
  ) {
    const specifiedResources = settings.resources !== undefined
    const { scopes, redirect, macTokens } = settings
    const rules = { scopes, redirect, specifiedResources, macTokens, redirectUris: 'required', ...needs } as const
    const result = checkRegistration(given, rules)
    if (result.type === 'faults') throw registrationError([...result.faults, ...more])
    if (more.length > 0) throw registrationError(more)
    return result
  }

  /** Hands in and approves in one write. */
  async function publish(
    details: ApplicationDetails,
    imported: string | undefined,
    clientSecret: string | undefined,
  ): Promise<ClientId> {
    const clientId = (imported ?? encodeBase64url(entropy(CLIENT_ID_BYTES))) as ClientId // checked before, or base64url
    const secretDigest = digestOf(digests, clientSecret ?? '')
    await apply(clientId, { type: 'submit', id: clientId, details }, { type: 'approve', revision: 1, secretDigest })
    return clientId
  }

  async function readApplication(id: string): Promise<Application | undefined> {
    const clientId = parseClientId(id)
    if (clientId === undefined) return undefined
    const records = await read([keys.application(clientKeyOf(digests, clientId))])
    if ('type' in records) throw storeError(records)
    return recordAs.application(records[0]?.value)
  }

  /** Refuses an applicant of whom enough waits: each submission leaves a record and a logo until somebody looks at it. */
  async function checkWaiting(applicant: Subject): Promise<void> {
    let waiting = 0
    let cursor: string | undefined
    do {
      const page: Awaited<ReturnType<typeof list>> = await list(
        `applicant:${applicant}`,
        cursor === undefined ? {} : { cursor },
      )
      if ('type' in page) throw storeError(page)
      waiting += page.records.filter(({ value }) => recordAs.application(value)?.state === 'pending').length
      cursor = page.cursor
    } while (cursor !== undefined && waiting < SUBMISSIONS_WAITING)
    if (waiting >= SUBMISSIONS_WAITING)
      throw new GrantwellError(
        'ERR_TOO_MANY_SUBMISSIONS',
        `grantwell: ${SUBMISSIONS_WAITING} submissions of this applicant wait for an administrator, and no more may`,
      )
  }

  /** The last submission of each applicant that is under way. */
  const submitting = new Map<Subject, Promise<unknown>>()

  /** Takes in the submissions of one applicant one after the other, so that none is counted before the one ahead of it is there. */
  async function inTurn<Result>(applicant: Subject, submit: () => Promise<Result>): Promise<Result> {
    const turn = (submitting.get(applicant) ?? Promise.resolve()).then(submit, submit)
    submitting.set(applicant, turn)
    try {
      return await turn
    } finally {
      if (submitting.get(applicant) === turn) submitting.delete(applicant)
    }
  }

  function newSecret(): string {
    return CLIENT_SECRET_PREFIX + encodeBase64url(entropy(SECRET_BYTES))
  }

  return {
    register: async (registration, given = {}) => {
      const imported = ownOptions<Imported>('applications.register', given, IMPORTED)
      const type = (registration as Registration | null | undefined)?.type // whatever it is, it is checked with the rest
      const faults = importFaults(type, imported)
      const { details, logo = NO_LOGO } = checked(registration, { reasons: 'optional', logo: 'required' }, faults)
      const clientSecret = details.type === 'confidential' ? (imported.clientSecret ?? newSecret()) : undefined
      const clientId = await logos.keepFor(logo, (id) =>
        publish({ ...details, logo: id }, imported.clientId, clientSecret),
      )
      return { clientId, ...(clientSecret !== undefined && { clientSecret }) }
    },

    registerResourceServer: async (registration, given = {}) => {
      const imported = ownOptions<Imported>('applications.registerResourceServer', given, IMPORTED)
      const of = 'applications.registerResourceServer, registration'
      const fields = ownOptions<ResourceServerRegistration>(of, registration, RESOURCE_SERVER)
      const whole = { ...fields, type: 'confidential', redirectUris: [], resourceScope: 'all' }
      const needs = { reasons: 'optional', logo: 'optional', redirectUris: 'none' } as const
      const { details } = checked(whole, needs, importFaults('confidential', imported))
      const clientSecret = imported.clientSecret ?? newSecret()
      const clientId = await publish({ ...details, logo: '', resourceServer: true }, imported.clientId, clientSecret)
      return { clientId, clientSecret }
    },

    submit: async (submission, by = {}) => {
      const { applicant } = ownOptions<{ applicant?: Subject }>('applications.submit', by, { applicant: NAME })
      const { details, logo = NO_LOGO } = checked(submission, { reasons: 'required', logo: 'required' })
      const id = encodeBase64url(entropy(CLIENT_ID_BYTES)) as ClientId // base64url is printable ASCII
      const submit = () =>
        logos.keepFor(logo, (logoId) =>
          apply(id, {
            type: 'submit',
            id,
            ...(applicant !== undefined && { applicant }),
            details: { ...details, logo: logoId },
          }),
        )
      const { after } = await (applicant === undefined
        ? submit()
        : inTurn(applicant, async () => {
            await checkWaiting(applicant)
            return submit()
          }))
      return structuredClone(after as SubmittedApplication) // it was handed in this moment
    },

    change: async (id, amendment) => {
      checkId('change', id)
      const { details, logo } = checked(amendment, { reasons: 'required', logo: 'optional' })
      const change = (logoId: string | undefined) =>
        apply(parseClientId(id), {
          type: 'change',
          details: { ...details, ...(logoId !== undefined && { logo: logoId }) },
        })
      const { after } = await (logo === undefined ? change(undefined) : logos.keepFor(logo, change))
      return structuredClone(after)
    },

    approve: async (id, reviewed) => {
      checkId('approve', id)
      const { revision, scopes: wanted } = ownOptions<Approval>('applications.approve', reviewed, APPROVAL, [
        'revision',
      ])
      const scopes = wanted === undefined ? undefined : normalizeScopes(settings.scopes, wanted)
      if (wanted !== undefined && scopes === undefined) throw failure('scopes')
      const clientSecret = newSecret()
      const { before, after } = await apply(parseClientId(id), {
        type: 'approve',
        revision,
        ...(scopes !== undefined && { scopes }),
        secretDigest: digestOf(digests, clientSecret),
      })
      const issued = !isPublished(before) && isPublished(after) && after.type === 'confidential'
      return { clientId: after.id, ...(issued && { clientSecret }) }
    },

    reject: async (id, reviewed) => {
      checkId('reject', id)
      const { revision, reason } = ownOptions<Rejection>('applications.reject', reviewed, REJECTION, ['revision'])
      const message = reasonFault(reason)
      if (message !== undefined) throw registrationError([{ path: 'reason', message }])
      await apply(parseClientId(id), { type: 'reject', revision, reason })
    },

    suspend: async (id) => {
      checkId('suspend', id)
      await apply(parseClientId(id), { type: 'suspend' })
    },

    reinstate: async (id) => {
      checkId('reinstate', id)
      await apply(parseClientId(id), { type: 'reinstate' })
    },

    rotateSecret: async (id, options = {}) => {
      checkId('rotateSecret', id)
      const { overlap = SECRET_OVERLAP } = ownOptions<{ overlap?: Seconds }>('applications.rotateSecret', options, {
        overlap: seconds(0, 365 * 86_400),
      })
      const clientSecret = newSecret()
      const secretDigest = digestOf(digests, clientSecret)
      const { after } = await apply(parseClientId(id), { type: 'rotate_secret', secretDigest, overlap })
      return { clientId: after.id, clientSecret }
    },

    explainRedirect: async (id, redirectUri) => {
      checkArgument('applications.explainRedirect', 'clientId', TEXT, id)
      checkArgument('applications.explainRedirect', 'redirectUri', TEXT, redirectUri)
      const application = await readApplication(id)
      if (application === undefined) throw failure('unknown')
      if (!isPublished(application)) throw failure('state', application.state)
      return brokenRedirectRule(application, redirectUri, settings.redirect)
    },

    get: async (id) => {
      checkId('get', id)
      return structuredClone(await readApplication(id))
    },

    list: async (which, page = {}) => {
      const { state, applicant } = ownOptions<Wanted>('applications.list', which, WANTED)
      if ((state === undefined) === (applicant === undefined)) {
        const came = state === undefined ? 'neither' : 'both'
        throw configurationError(`applications.list: the argument which must be a state or an applicant; got ${came}`)
      }
      const label = state === undefined ? `applicant:${applicant}` : `applications:${state}`
      const listed = await list(label, ownOptions<PageOptions>('applications.list, page', page, PAGE))
      if ('type' in listed) throw storeError(listed)
      const { records, cursor } = listed
      const applications = records.flatMap(({ value }) => recordAs.application(value) ?? [])
      return { applications: structuredClone(applications), ...(cursor !== undefined && { cursor }) }
    },

    logo: (logo) => {
      checkArgument('applications.logo', 'logo', TEXT, logo)
      return logos.read(logo)
    },
  }
}

/** What is wrong with an identifier and a secret that an application has from elsewhere. */
function importFaults(
  type: Registration['type'] | undefined,
  { clientId, clientSecret }: { readonly clientId?: string; readonly clientSecret?: string },
): readonly RegistrationFault[] {
  const faults: RegistrationFault[] = []
  if (clientId !== undefined && (!isName(clientId) || parseClientId(clientId) === undefined)) {
    faults.push({ path: 'clientId', message: 'must have 1 to 255 printable ASCII characters' })
  }
  if (clientSecret !== undefined && type === 'public') {
    faults.push({ path: 'clientSecret', message: 'must not be given: a public client has none' })
  } else if (clientSecret !== undefined && !(isName(clientSecret) && IMPORTED_SECRET.test(clientSecret))) {
    faults.push({ path: 'clientSecret', message: 'must have 24 to 255 visible ASCII characters' })
  }
  return faults
}

const REFUSALS: {
  readonly [Refusal in Exclude<ApplicationRefusal, 'scopes' | 'type'>]: readonly [GrantwellErrorCode, string]
} = {
  exists: ['ERR_CLIENT_EXISTS', 'there is an application with this client identifier'],
  unknown: ['ERR_CLIENT_UNKNOWN', 'there is no such application'],
  state: ['ERR_APPLICATION_STATE', 'this cannot be done with an application of this kind and state'],
  outdated: ['ERR_REVISION_OUTDATED', 'this is not the revision that waits: look at the application again'],
  secrets: ['ERR_APPLICATION_STATE', 'too many secrets work at once: let one expire, or rotate without an overlap'],
}

function failure(refusal: ApplicationRefusal, state?: Application['state']): GrantwellError {
  if (refusal === 'scopes') {
    return registrationError([{ path: 'scopes', message: 'must be among those that were asked for' }])
  }
  if (refusal === 'type') {
    return registrationError([{ path: 'type', message: 'must stay as it is: register another application' }])
  }
  const [code, message] = REFUSALS[refusal]
  return new GrantwellError(code, `grantwell: ${message}${refusal === 'state' ? `: it is ${state}` : ''}`)
}

function registrationError(faults: readonly RegistrationFault[]): GrantwellError {
  const message = faults.map((fault) => `${fault.path} ${fault.message}`.trim()).join('; ')
  return new GrantwellError('ERR_REGISTRATION', `grantwell: ${message}`, faults)
}

/**
 * The page of the device flow: its user types the code, or compares it, and decides.
 * @module
 * @see Specification, section 4.5; RFC 8628, section 3.3
 */

import type { Application, PublishedApplication } from '../core/application/application.js'
import { isPublished } from '../core/application/application.js'
import { deviceFlowFault } from '../core/application/registration.js'
import type { OAuthError } from '../core/errors.js'
import { oauthError } from '../core/errors.js'
import { userCodeUnknown } from '../core/grant/device.js'
import type { DeviceAuthorization, Grant, GrantRecord } from '../core/grant/grant.js'
import { isGrant } from '../core/grant/grant.js'
import { transition } from '../core/grant/transition.js'
import type { Resources } from '../core/resource.js'
import type { Scope, ScopeCatalogue } from '../core/scopes.js'
import { limitScopes, printScopes } from '../core/scopes.js'
import type { Takes } from '../core/takes.js'
import { shownName } from '../core/text.js'
import { GRANT_ID_BYTES, grantIdOf, parseGrantId } from '../core/tokens/credential.js'
import { clientKeyOf } from '../core/tokens/digests.js'
import { parseUserCode, printUserCode, userCodeDigest } from '../core/tokens/user-code.js'
import type { ClientKey, Seconds, UserCode } from '../core/values.js'
import { notAccessible } from '../protocol/authorization.js'
import { ENDPOINT_PATHS } from '../protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { queryOf, retryAfter } from '../protocol/message.js'
import type { FormBinding } from '../protocol/pages/consent.js'
import { FORM_FIELDS } from '../protocol/pages/consent.js'
import { pageResponse } from '../protocol/pages/page.js'
import type { Parameters } from '../protocol/parameters.js'
import { bodyParameters, isError, parseParameters, valueIn, valuesIn } from '../protocol/parameters.js'
import { consentRecordsOf } from '../shell/consents.js'
import { checkedAnswer } from '../shell/host.js'
import type { Refused, Settings, User } from '../shell/options.js'
import type { UserCodeRecord } from '../shell/records.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'
import type { ChoiceFault, Interaction, PageSettings } from './interaction.js'
import { isChoiceFault } from './interaction.js'
import { userCodeLimiterOf } from './user-code-limiter.js'

/** A device, and what its user may be shown of it. */
interface Shown {
  readonly device: Pick<DeviceAuthorization, 'id'>
  readonly application: PublishedApplication
  readonly scopes: readonly Scope[]
}

/** A device that waits. */
interface Waiting extends Shown {
  readonly type: 'waiting'
}

/** A device whose user has decided. */
interface Decided extends Shown {
  readonly device: Grant
}

/**
 * Makes the page of a server. `GET` asks for the code, and even where the link has it, it does no more than show it: to
 * be looked up, a code must be sent by a form of this page, since every look counts as a guess. `POST` takes that form,
 * and then the consent form.
 */
export function deviceEndpoint<Native>(
  settings: PageSettings<Native>,
  transactions: Transactions,
  interaction: Interaction<Native>,
  refused: Refused,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { issuerPath, clock, digests, pages, rules } = settings
  const stylesheet = issuerPath + ENDPOINT_PATHS.stylesheet
  const action = issuerPath + ENDPOINT_PATHS.device
  const consents = consentRecordsOf(settings, transactions)
  const { userCodeLimiter: ofHost } = settings
  const limiter =
    ofHost === undefined ? userCodeLimiterOf(settings, transactions) : checkedLimiter('userCodeLimiter', ofHost)

  function codePage(
    request: HttpRequest<Native>,
    user: User,
    code: { readonly userCode?: string; readonly complete: boolean },
    error?: OAuthError,
  ): HttpResponse {
    if (error !== undefined) refused('device', error.reason, error.code, undefined, user.subject)
    const binder = interaction.bind(request, user)
    const html = pages.device({
      user: { name: shownName(user.name, user.subject) },
      ...code,
      form: { action, fields: [binder.field(CODE_FORM)] },
      stylesheet,
      ...(error !== undefined && { fault: error.description }),
    })
    return pageResponse(error?.status ?? 200, html, [], { ...binder.headers, ...retryAfter(error) })
  }

  /** Counts an attempt; an error where there were too many. */
  async function admitted(request: HttpRequest<Native>, { subject }: User): Promise<OAuthError | undefined> {
    const wait = await limiter({ subject, address: addressOf(settings, request) })
    if (typeof wait === 'object') return wait
    if (wait === 0) return undefined
    const minutes = Math.ceil(wait / 60)
    const description = `Too many codes were tried. Wait ${minutes === 1 ? 'a minute' : `${minutes} minutes`}, and try again.`
    return oauthError('invalid_request', 'too_many_attempts', description, { status: 429, retryAfter: Math.ceil(wait) })
  }

  /** The device that shows a code, if it waits for a decision; anything else is alike. */
  async function deviceOf(userCode: UserCode | undefined): Promise<Waiting | OAuthError> {
    if (userCode === undefined) return userCodeUnknown()
    const found = await transactions.read([keys.userCode(userCodeDigest(userCode, digests, rules.derivationKey))])
    if ('type' in found) return found
    // Nobody's where there is none: a code that is dead takes as many reads as one that never was.
    const { clientKey, grantId } = recordAs.userCode(found[0]?.value) ?? NOBODY
    const records = await transactions.read([keys.application(clientKey), keys.grant(grantId)])
    if ('type' in records) return records
    return waiting(
      recordAs.application(records[0]?.value),
      recordAs.grantRecord(records[1]?.value),
      settings.scopes,
      clock(),
    )
  }

  function shownOf(userCode: UserCode, { device, application, scopes }: Shown): FormBinding['shown'] {
    const { clientId, name, resourceScope } = application
    return ['device consent', device.id, userCode, clientId, name, resourceScope, printScopes(scopes)]
  }

  async function consentPage(
    request: HttpRequest<Native>,
    user: User,
    userCode: UserCode,
    found: Waiting,
    again?: ChoiceFault,
  ): Promise<HttpResponse> {
    const { application, scopes, device } = found
    const binder = interaction.bind(request, user)
    const fields = [
      { name: FORM_FIELDS.userCode, value: userCode },
      { name: FORM_FIELDS.device, value: device.id },
      binder.field(shownOf(userCode, found)),
    ]
    const model = await interaction.consentModel(user, application, scopes, fields, again)
    if ('type' in model) return interaction.errorPage('device', model)
    const html = pages.consent({ ...model, userCode: printUserCode(userCode), form: { action, fields } })
    return pageResponse(again === undefined ? 200 : 400, html, [], binder.headers)
  }

  async function get(request: HttpRequest<Native>): Promise<HttpResponse> {
    const parameters = parseParameters(queryOf(request.url))
    const text = isError(parameters) ? undefined : valueIn(parameters, FORM_FIELDS.userCode)
    const userCode = typeof text === 'string' ? parseUserCode(text) : undefined
    const user = await interaction.signedIn(request)
    if (user === undefined) return signIn(request, userCode)
    return codePage(request, user, {
      ...(userCode !== undefined && { userCode: printUserCode(userCode) }),
      complete: userCode !== undefined,
    })
  }

  async function post(request: HttpRequest<Native>): Promise<HttpResponse> {
    const form = bodyParameters(request)
    if (isError(form)) return interaction.errorPage('device', form)
    const { consent, decision, device } = FORM_FIELDS
    const fields = valuesIn(form, [consent, decision, device])
    if (isError(fields)) return interaction.errorPage('device', fields)
    // Not through valuesIn: a tab that was pasted with a code is one of the things between its letters.
    const field = form.get(FORM_FIELDS.userCode)
    const typed = typeof field === 'string' ? field.slice(0, TYPED_MAX) : ''
    const userCode = parseUserCode(typed)
    const user = await interaction.signedIn(request)
    if (user === undefined) return signIn(request, userCode)
    return fields.decision === undefined
      ? lookUp(request, user, typed, fields.consent)
      : decide(request, user, userCode, form, { ...fields, decision: fields.decision })
  }

  /** The first form: finds the device. */
  async function lookUp(
    request: HttpRequest<Native>,
    user: User,
    typed: string,
    token: string | undefined,
  ): Promise<HttpResponse> {
    if (interaction.verify(request, user, CODE_FORM, token) === undefined) {
      return interaction.errorPage('device', notAccessible('consent_invalid'))
    }
    const userCode = parseUserCode(typed)
    const found = (await admitted(request, user)) ?? (await deviceOf(userCode))
    if (found.type === 'error') {
      if (found.code === 'temporarily_unavailable') return interaction.errorPage('device', found)
      return codePage(request, user, { userCode: typed, complete: false }, found)
    }
    // A code that was found can be read.
    return consentPage(request, user, userCode as UserCode, found)
  }

  /** The second form: takes the decision. The device is named by its identifier, which cannot be guessed. */
  async function decide(
    request: HttpRequest<Native>,
    user: User,
    userCode: UserCode | undefined,
    form: Parameters,
    fields: { readonly device: string | undefined; readonly consent: string | undefined; readonly decision: string },
  ): Promise<HttpResponse> {
    const { decision } = fields
    // The page in answer to a form of another site would bring a new key, and end the forms that are open.
    const grantId = interaction.canBeOurs(request, fields.consent) ? parseGrantId(fields.device ?? '') : undefined
    if (grantId === undefined || userCode === undefined || (decision !== 'agree' && decision !== 'refuse')) {
      return interaction.errorPage('device', notAccessible('consent_invalid'))
    }
    const records = await transactions.read([keys.grant(grantId)])
    if ('type' in records) return interaction.errorPage('device', records)
    const record = recordAs.grantRecord(records[0]?.value)
    const clientKey = record === undefined ? undefined : clientKeyOf(digests, record.clientId)
    const applications = clientKey === undefined ? [] : await transactions.read([keys.application(clientKey)])
    if ('type' in applications) return interaction.errorPage('device', applications)
    const application = recordAs.application(applications[0]?.value)
    const decided = decidedBefore(application, record, user)
    if (decided !== undefined) {
      return interaction.verifyOfAnyAge(request, user, shownOf(userCode, decided), fields.consent) === undefined
        ? codePage(request, user, { complete: false }, userCodeUnknown())
        : resultPage(decisionOf(decided), decided.application)
    }
    const found = waiting(application, record, settings.scopes, clock())
    if (found.type === 'error' || clientKey === undefined)
      return codePage(request, user, { complete: false }, userCodeUnknown())
    if (interaction.verify(request, user, shownOf(userCode, found), fields.consent) === undefined) {
      return interaction.errorPage('device', notAccessible('consent_invalid'))
    }
    const { scopes } = found
    const resources: Resources | ChoiceFault =
      decision === 'refuse' ? { kind: 'specified', ids: [] } : await interaction.chosen(user, found.application, form)
    if (isChoiceFault(resources)) return consentPage(request, user, userCode, found, resources)
    const { subject } = user
    const who = { clientKey, subject }
    if (decision === 'agree') {
      const notAdmitted = await consents.admit(who, { decision, grantId })
      if (notAdmitted !== undefined) return interaction.errorPage('device', notAdmitted)
    }
    const reply = await consents.onGrant(who, grantId, (current, device, now, bytes) => {
      if (decision === 'agree' && current?.state !== 'approved') return { reply: userCodeUnknown(), events: [] }
      return transition(device, { type: 'decide', decision, subject, scopes, resources }, now, bytes, rules)
    })
    if (!isError(reply)) return resultPage(decision, found.application)
    // The same form may have been quicker by a moment.
    const after = reply.reason === 'user_code_unknown' ? await transactions.read([keys.grant(grantId)]) : []
    const taken =
      'type' in after ? undefined : decidedBefore(found.application, recordAs.grantRecord(after[0]?.value), user)
    if (taken !== undefined) return resultPage(decisionOf(taken), taken.application)
    return reply.reason === 'user_code_unknown'
      ? codePage(request, user, { complete: false }, reply)
      : interaction.errorPage('device', reply)
  }

  function resultPage(decision: 'agree' | 'refuse', { name }: PublishedApplication): HttpResponse {
    return pageResponse(200, pages.deviceResult({ decision, application: { name }, stylesheet }))
  }

  function signIn(request: HttpRequest<Native>, userCode: UserCode | undefined): HttpResponse {
    const query = userCode === undefined ? '' : `${FORM_FIELDS.userCode}=${printUserCode(userCode)}`
    return interaction.signIn(request, 'device', query)
  }

  return interaction.guarded('device', (request) => (request.method === 'POST' ? post(request) : get(request)))
}

/** How many characters of what was typed are looked at, and shown again. */
const TYPED_MAX = 64

/** Keys under which nothing is: no digest and no random bytes are all zeros. */
const NOBODY: Omit<UserCodeRecord, 'v'> = {
  clientKey: 'AAAAAAAAAAAAAAAA' as ClientKey, // 12 bytes
  grantId: grantIdOf(new Uint8Array(GRANT_ID_BYTES)),
}

/** What the form that asks for a code is bound to, besides its user and browser. */
const CODE_FORM: FormBinding['shown'] = ['user code']

const WAIT: Takes = {
  words: 'seconds, 0 to let the attempt pass',
  fits: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
}

/** Somebody's address, which may not be known. What is in it, the limit that is kept in the store looks at. */
const ADDRESS: Takes = {
  words: 'a string, or undefined, at once',
  fits: (value) => value === undefined || value === null || typeof value === 'string',
}

/** The address that a request comes from, as the host tells it; undefined where it knows none. */
export function addressOf<Native>(settings: Settings<Native>, request: HttpRequest<Native>): string | undefined {
  const told = settings.remoteAddress(request)
  return checkedAnswer<string | null | undefined>('remoteAddress()', ADDRESS, told) ?? undefined
}

/** A limiter of the host, which must say something: a guess that nobody counted must not pass. */
export function checkedLimiter<Attempt>(
  name: string,
  limiter: (attempt: Attempt) => Seconds | Promise<Seconds>,
): (attempt: Attempt) => Promise<Seconds> {
  return async (attempt) => {
    return checkedAnswer(`${name}()`, WAIT, await limiter(attempt))
  }
}

function decisionOf({ device }: Decided): 'agree' | 'refuse' {
  return device.revokedAt === undefined ? 'agree' : 'refuse'
}

/** A device on which this very user decided; undefined where nobody or somebody else did. */
function decidedBefore(
  application: Application | undefined,
  device: GrantRecord | undefined,
  { subject }: User,
): Decided | undefined {
  if (!isGrant(device) || device.subject !== subject || device.code.redirectUri !== undefined) return undefined
  // What was permitted, used, and taken back since is neither of the two pages.
  if (device.revokedAt !== undefined && device.code.usedAt !== undefined) return undefined
  if (!isPublished(application) || application.clientId !== device.clientId) return undefined
  return { device, application, scopes: device.scopes }
}

/** A device whose user may decide: in time, and for an application that still may have what is asked for. */
function waiting(
  application: Application | undefined,
  record: GrantRecord | undefined,
  catalogue: ScopeCatalogue,
  now: Seconds,
): Waiting | OAuthError {
  if (record === undefined || isGrant(record) || now >= record.code.expiresAt) return userCodeUnknown()
  if (application?.state !== 'approved' || application.clientId !== record.clientId) return userCodeUnknown()
  if (deviceFlowFault(application) !== undefined) return userCodeUnknown()
  // The page cannot show a scope that the service has taken out of its catalogue.
  const scopes = limitScopes(record.scopes, application.scopes, catalogue)
  return scopes.length === 0 ? userCodeUnknown() : { type: 'waiting', device: record, application, scopes }
}

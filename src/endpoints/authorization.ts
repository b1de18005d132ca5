/**
 * The authorization endpoint: shows the user what is asked for, and takes the answer.
 * @module
 * @see Specification, section 4.1; RFC 6749, sections 4.1.1 and 4.1.2
 */

import type { PublishedApplication } from '../core/application/application.js'
import { RESOURCE_CHOICES } from '../core/application/registration.js'
import { oauthError } from '../core/errors.js'
import type { Approve } from '../core/grant/approve.js'
import type { Grant } from '../core/grant/grant.js'
import { transition } from '../core/grant/transition.js'
import type { Resources } from '../core/resource.js'
import { coversScopes } from '../core/scopes.js'
import { GRANT_ID_BYTES, grantIdOf, SECRET_BYTES } from '../core/tokens/credential.js'
import { clientKeyOf } from '../core/tokens/digests.js'
import type { GrantId } from '../core/values.js'
import { ownOf } from '../core/values.js'
import type { AuthorizationRequest, RedirectedError, RefusedLink } from '../protocol/authorization.js'
import {
  authorizationClientId,
  authorizationRequest,
  authorizationResponse,
  notAccessible,
} from '../protocol/authorization.js'
import { ENDPOINT_PATHS } from '../protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { EMPTY_HEADERS, headerOf, queryOf } from '../protocol/message.js'
import type { VerifiedForm } from '../protocol/pages/consent.js'
import { FORM_FIELDS, printAuthorizationRequest, shownOf } from '../protocol/pages/consent.js'
import { formTargets, pageResponse } from '../protocol/pages/page.js'
import { bodyParameters, isError, parseParameters, valuesIn } from '../protocol/parameters.js'
import { consentRecordsOf } from '../shell/consents.js'
import type { Refused, User } from '../shell/options.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'
import type { ChoiceFault, Interaction, PageSettings } from './interaction.js'
import { isChoiceFault } from './interaction.js'

/** Makes the endpoint of a server: `GET` shows the consent page, `POST` takes its form. */
export function authorizationEndpoint<Native>(
  settings: PageSettings<Native>,
  transactions: Transactions,
  interaction: Interaction<Native>,
  refused: Refused,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { issuer, issuerPath, entropy, digests, pages, rules } = settings
  const consents = consentRecordsOf(settings, transactions)
  const action = issuerPath + ENDPOINT_PATHS.authorization

  /** Reads and checks a request, from a query or from the field of the form. */
  async function read(text: string): Promise<AuthorizationRequest | RedirectedError | RefusedLink> {
    const parameters = parseParameters(text)
    if (isError(parameters)) return notAccessible('malformed_request')
    const clientId = authorizationClientId(parameters)
    if (typeof clientId === 'object') return clientId
    const records = await transactions.read([keys.application(clientKeyOf(digests, clientId))])
    if ('type' in records) return records
    const application = recordAs.application(records[0]?.value)
    const asked = authorizationRequest(parameters, application?.id === clientId ? application : undefined, {
      catalogue: settings.scopes,
      redirect: settings.redirect,
      requirePkce: settings.requirePkce,
    })
    return ownOf(asked)
  }

  function errorPage(error: RefusedLink): HttpResponse {
    return interaction.errorPage('authorization', error, error)
  }

  /**
   * Answers a request with a wrong parameter. The application is told only where a user is signed in, so that a link alone
   * never sends a stranger's browser on (specification, sections 4.1 and 7; RFC 9700, section 4.11.2).
   */
  function faultyRequest(asked: RedirectedError, user: User | undefined): HttpResponse {
    if (user !== undefined) return redirectedError(asked)
    const { clientId } = asked.application
    return interaction.errorPage('authorization', notAccessible(asked.error.reason), { clientId })
  }

  function redirectedError({ error, application, ...to }: Omit<RedirectedError, 'type'>): HttpResponse {
    refused('authorization', error.reason, error.code, application.clientId)
    return authorizationResponse(to, error, issuer)
  }

  async function consentPage(
    request: HttpRequest<Native>,
    asked: AuthorizationRequest,
    user: User,
    again?: ChoiceFault,
  ): Promise<HttpResponse> {
    const { application, redirectUri, scopes } = asked
    const binder = interaction.bind(request, user)
    const fields = [
      { name: FORM_FIELDS.request, value: printAuthorizationRequest(asked) },
      binder.field(shownOf(asked)),
    ]
    const model = await interaction.consentModel(user, application, scopes, fields, again)
    if ('type' in model) return redirectedError({ ...asked, error: model })
    const html = pages.consent({ ...model, redirectHost: redirectHost(redirectUri), form: { action, fields } })
    return pageResponse(again === undefined ? 200 : 400, html, formTargets(redirectUri), binder.headers)
  }

  /** Makes the grant and answers the application with its code. */
  async function approve(
    asked: AuthorizationRequest,
    user: User,
    resources: Resources,
    form: Pick<Approve, 'grantId' | 'formSecret' | 'formExpiresAt' | 'unasked'>,
    sparing?: GrantId,
  ): Promise<HttpResponse> {
    const { application, redirectUri, scopes, codeChallenge } = asked
    const { clientId } = application
    const { subject } = user
    const clientKey = clientKeyOf(digests, clientId)
    const who = { clientKey, subject }
    const notAdmitted = await consents.admit(who, { decision: 'agree', ...form }, sparing)
    if (notAdmitted !== undefined) return errorPage(notAdmitted)
    const command: Approve = {
      type: 'approve',
      clientId,
      clientKey,
      subject,
      scopes,
      resources,
      redirectUri,
      ...(codeChallenge !== undefined && { codeChallenge }),
      ...form,
    }
    const reply = await consents.onGrant(who, form.grantId, (current, existing, now, bytes) => {
      if (current?.state !== 'approved') return { reply: notAccessible('client_suspended'), events: [] }
      return transition(existing, command, now, bytes, rules)
    })
    return isError(reply) ? errorPage(reply) : authorizationResponse(asked, reply, issuer)
  }

  /** Tells the application that the user refused, and remembers that this form said so. */
  async function refuse(asked: AuthorizationRequest, user: User, form: VerifiedForm): Promise<HttpResponse> {
    const who = { clientKey: clientKeyOf(digests, asked.application.clientId), subject: user.subject }
    const { grantId, expiresAt: formExpiresAt } = form
    const notAdmitted = await consents.admit(who, { decision: 'refuse', grantId, formExpiresAt })
    if (notAdmitted !== undefined) return errorPage(notAdmitted)
    return redirectedError({ ...asked, error: oauthError('access_denied', 'consent_refused', 'The user refused.') })
  }

  /**
   * With `consent: 'once'`: finds a live grant of this user to this client that covers what is asked, and whose answer went to the same
   * redirect URI.
   */
  async function remembered(asked: AuthorizationRequest, user: User): Promise<Grant | undefined> {
    const { application, scopes, redirectUri } = asked
    if (!isRememberedFor(application)) return undefined
    const who = { clientKey: clientKeyOf(digests, application.clientId), subject: user.subject }
    const grants = await consents.consentedGrants(who)
    const covers = (grant: Grant): boolean =>
      grant.code.redirectUri === redirectUri &&
      coversScopes(grant.scopes, scopes) &&
      RESOURCE_CHOICES[application.resourceScope].includes(grant.resources.kind)
    return grants.find(covers)
  }

  /** A public client's redirect can be taken over by another program, so its user is asked every time (RFC 8252, 8.6). */
  function isRememberedFor(application: PublishedApplication): boolean {
    return settings.consent === 'once' && application.type === 'confidential'
  }

  async function get(request: HttpRequest<Native>): Promise<HttpResponse> {
    if (isAheadOfUser(request)) return NOT_AHEAD
    const asked = await read(queryOf(request.url))
    if (asked.type === 'error') return errorPage(asked)
    const user = await interaction.signedIn(request)
    if (asked.type === 'redirected_error') return faultyRequest(asked, user)
    if (user === undefined) return interaction.signIn(request, 'authorization', printAuthorizationRequest(asked))
    // A HEAD asks what a GET would say; it makes no grant.
    const sparing = request.method === 'GET' && isNavigation(request) ? await remembered(asked, user) : undefined
    if (sparing === undefined) return consentPage(request, asked, user)
    const made = {
      grantId: grantIdOf(entropy(GRANT_ID_BYTES)),
      formSecret: entropy(SECRET_BYTES),
      unasked: true,
    } as const
    return approve(asked, user, sparing.resources, made, sparing.id)
  }

  async function post(request: HttpRequest<Native>): Promise<HttpResponse> {
    const form = bodyParameters(request)
    if (isError(form)) return errorPage(form)
    const fields = valuesIn(form, [FORM_FIELDS.consent, FORM_FIELDS.decision, FORM_FIELDS.resourceScope])
    if (isError(fields)) return errorPage(fields)
    // Longer than any one parameter may be, since it has them all in it.
    const text = form.get(FORM_FIELDS.request)
    const asked = await read(typeof text === 'string' ? text : '')
    if (asked.type === 'error') return errorPage(asked)
    const user = await interaction.signedIn(request)
    if (asked.type === 'redirected_error') return faultyRequest(asked, user)
    if (user === undefined) return interaction.signIn(request, 'authorization', printAuthorizationRequest(asked))

    // Of any age: one that was decided in time may come again, and the first decision tells an old form from a new one.
    const verified = interaction.verifyOfAnyAge(request, user, shownOf(asked), fields.consent)
    if (verified === undefined) return errorPage(notAccessible('consent_invalid'))
    if (fields.decision === 'refuse') return refuse(asked, user, verified)
    if (fields.decision !== 'agree') return errorPage(notAccessible('consent_invalid'))

    const resources = await interaction.chosen(user, asked.application, form)
    if (isChoiceFault(resources)) return consentPage(request, asked, user, resources)
    const { grantId, secret: formSecret, expiresAt: formExpiresAt } = verified
    return approve(asked, user, resources, { grantId, formSecret, formExpiresAt })
  }

  return interaction.guarded('authorization', (request) => (request.method === 'POST' ? post(request) : get(request)))
}

/**
 * Checks that a browser shows the answer to its user as a page of its own. A script or an image of another page must get no grant
 * without a question, and must not learn whether there would be one. Browsers say what a request is for; other programs do not.
 */
function isNavigation({ headers }: HttpRequest): boolean {
  const [mode, destination] = [headerOf(headers, 'sec-fetch-mode'), headerOf(headers, 'sec-fetch-dest')]
  return (mode === undefined || mode === 'navigate') && (destination === undefined || destination === 'document')
}

/** Headers by which a browser says that it loads a page which its user may open, or never will. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const

/**
 * Checks whether a browser asks ahead of its user. In all else it looks like a navigation, and any page can make a browser do it, which
 * would even follow the redirect with a code.
 */
function isAheadOfUser({ headers }: HttpRequest): boolean {
  return PURPOSES.some((name) => {
    const purpose = headerOf(headers, name)
    return typeof purpose === 'string' ? /prefetch|prerender|preview/i.test(purpose) : purpose !== undefined
  })
}

/** The answer to a browser that asks ahead: it throws an error away, and asks again when its user opens the page. */
const NOT_AHEAD: HttpResponse = { status: 503, headers: EMPTY_HEADERS, body: '' }

/** Where the answer goes, for the eyes of the user. */
function redirectHost(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri)
  // What stands behind a private-use scheme is no host, however much it looks like one.
  return protocol === 'https:' || protocol === 'http:' ? host : protocol
}

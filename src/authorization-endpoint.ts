/**
 * The authorization endpoint: shows the user what is asked for, and takes the answer.
 * @module
 * @see Specification, section 4.1; RFC 6749, sections 4.1.1 and 4.1.2
 */
import type { PublishedApplication } from './core/application.js'
import { GRANT_ID_BYTES, grantIdOf } from './core/credential.js'
import { clientKeyOf, digestOf } from './core/digests.js'
import type { OAuthError } from './core/errors.js'
import { oauthError } from './core/errors.js'
import type { Resources } from './core/grant.js'
import { isLive } from './core/grant.js'
import { RESOURCE_CHOICES } from './core/registration.js'
import { coversScopes } from './core/scopes.js'
import { transition } from './core/transition.js'
import type { GrantId, Seconds } from './core/values.js'
import type { ChoiceFault, Interaction, PageSettings } from './interaction.js'
import { isChoiceFault } from './interaction.js'
import type { Refused, User } from './options.js'
import type { AuthorizationRequest, RedirectedError } from './protocol/authorization.js'
import {
  authorizationClientId,
  authorizationRequest,
  authorizationResponse,
  notAccessible,
} from './protocol/authorization.js'
import { FORM_FIELDS, printAuthorizationRequest, shownOf } from './protocol/consent.js'
import { ENDPOINT_PATHS } from './protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from './protocol/message.js'
import { queryOf } from './protocol/message.js'
import { formTargets, pageResponse } from './protocol/page.js'
import { bodyParameters, isError, parseParameters, valuesIn } from './protocol/parameters.js'
import type { Transactions } from './transactions.js'
import { keys, recordAs } from './transactions.js'

/** Makes the endpoint of a server: `GET` shows the consent page, `POST` takes its form. */
export function authorizationEndpoint<Native>(
  settings: PageSettings<Native>,
  transactions: Transactions,
  interaction: Interaction<Native>,
  refused: Refused,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { issuer, issuerPath, clock, entropy, digests, pages, rules } = settings
  const action = issuerPath + ENDPOINT_PATHS.authorization

  /** Reads and checks a request, from a query or from the field of the form. */
  async function read(text: string): Promise<AuthorizationRequest | RedirectedError | OAuthError> {
    const parameters = parseParameters(text)
    if (isError(parameters)) return notAccessible('malformed_request')
    const clientId = authorizationClientId(parameters)
    if (typeof clientId === 'object') return clientId
    const records = await transactions.read([keys.application(clientKeyOf(digests, clientId))])
    if ('type' in records) return records
    const application = recordAs.application(records[0]?.value)
    return authorizationRequest(parameters, application?.id === clientId ? application : undefined, {
      catalogue: settings.scopes,
      redirect: settings.redirect,
      requirePkce: settings.requirePkce,
    })
  }

  function errorPage(error: OAuthError): HttpResponse {
    return interaction.errorPage('authorization', error)
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
    const model = await interaction.consentModel(user, application, scopes, again)
    if ('type' in model)
      return model.code === 'server_error' ? redirectedError({ ...asked, error: model }) : errorPage(model)
    const binder = interaction.bind(request, user)
    const fields = [
      { name: FORM_FIELDS.request, value: printAuthorizationRequest(asked) },
      binder.field(shownOf(asked)),
    ]
    const html = pages.consent({ ...model, redirectHost: redirectHost(redirectUri), form: { action, fields } })
    return pageResponse(again === undefined ? 200 : 400, html, formTargets(redirectUri), binder.headers)
  }

  /** Makes the grant and answers the application with its code. */
  async function approve(
    asked: AuthorizationRequest,
    user: User,
    grant: { readonly grantId: GrantId; readonly expiresAt: Seconds; readonly resources: Resources },
  ): Promise<HttpResponse> {
    const { application, redirectUri, scopes, codeChallenge } = asked
    const { clientId } = application
    const clientKey = clientKeyOf(digests, clientId)
    const { grantId, resources } = grant
    const reply = await transactions.onGrant(clientKey, grantId, (current, existing, now, bytes) => {
      if (current?.state !== 'approved') return { reply: notAccessible('client_suspended'), events: [] }
      return transition(
        existing,
        {
          type: 'approve',
          grantId,
          clientId,
          clientKey,
          subject: user.subject,
          scopes,
          resources,
          redirectUri,
          ...(codeChallenge !== undefined && { codeChallenge }),
          consentExpiresAt: grant.expiresAt,
        },
        now,
        bytes,
        rules,
      )
    })
    if (isError(reply)) return errorPage(reply)
    return authorizationResponse(asked, reply, issuer)
  }

  /** With `consent: 'once'`: the resources that a live grant of this user to this client has, if it covers what is asked. */
  async function remembered(asked: AuthorizationRequest, user: User): Promise<Resources | undefined> {
    const { application, scopes } = asked
    if (!isRememberedFor(application)) return undefined
    const consents = await transactions.read([consentKey(application, user)])
    const consent = 'type' in consents ? undefined : recordAs.consent(consents[0]?.value)
    if (consent === undefined) return undefined
    const grants = await transactions.read([keys.grant(consent.grantId)])
    const grant = 'type' in grants ? undefined : recordAs.grant(grants[0]?.value)
    if (grant === undefined || !isLive(grant, clock()) || !coversScopes(grant.scopes, scopes)) return undefined
    return RESOURCE_CHOICES[application.resourceScope].includes(grant.resources.kind) ? grant.resources : undefined
  }

  async function remember(asked: AuthorizationRequest, user: User, grantId: GrantId): Promise<void> {
    if (!isRememberedFor(asked.application)) return
    const key = consentKey(asked.application, user)
    const expiresAt = clock() + rules.refreshTokenLifetime
    await transactions.transact<'kept'>([key], () => ({
      reply: 'kept',
      write: { key, value: { v: 1, grantId }, expiresAt },
    }))
  }

  /** A public client's redirect can be taken over by another program, so its user is asked every time (RFC 8252, 8.6). */
  function isRememberedFor(application: PublishedApplication): boolean {
    return settings.consent === 'once' && application.type === 'confidential'
  }

  function consentKey(application: PublishedApplication, user: User): string {
    return keys.consent(clientKeyOf(digests, application.clientId), digestOf(digests, user.subject))
  }

  async function get(request: HttpRequest<Native>): Promise<HttpResponse> {
    const asked = await read(queryOf(request.url))
    if (asked.type === 'error') return errorPage(asked)
    if (asked.type === 'redirected_error') return redirectedError(asked)
    const user = await interaction.signedIn(request)
    if (user === undefined) return interaction.signIn('authorization', printAuthorizationRequest(asked))
    // A HEAD asks what a GET would say; it makes no grant.
    const resources = request.method === 'GET' ? await remembered(asked, user) : undefined
    if (resources === undefined) return consentPage(request, asked, user)
    return approve(asked, user, { grantId: grantIdOf(entropy(GRANT_ID_BYTES)), expiresAt: clock(), resources })
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
    if (asked.type === 'redirected_error') return redirectedError(asked)
    const user = await interaction.signedIn(request)
    if (user === undefined) return interaction.signIn('authorization', printAuthorizationRequest(asked))

    const verified = interaction.verify(request, user, shownOf(asked), fields.consent)
    if (verified === undefined) return errorPage(notAccessible('consent_invalid'))
    if (fields.decision === 'refuse') {
      return redirectedError({ ...asked, error: oauthError('access_denied', 'consent_refused', 'The user refused.') })
    }
    if (fields.decision !== 'agree') return errorPage(notAccessible('consent_invalid'))

    const resources = await interaction.chosen(user, asked.application, form)
    if (isChoiceFault(resources)) return consentPage(request, asked, user, resources)
    const response = await approve(asked, user, { ...verified, resources })
    if (response.status === 302) await remember(asked, user, verified.grantId)
    return response
  }

  return interaction.guarded('authorization', (request) => (request.method === 'POST' ? post(request) : get(request)))
}

/** Where the answer goes, for the eyes of the user. */
function redirectHost(redirectUri: string): string {
  const url = new URL(redirectUri)
  return url.host === '' ? url.protocol : url.host
}

/**
 * The authorization endpoint: shows the user what is asked for, and takes the answer.
 * @module
 * @see Specification, section 4.1; RFC 6749, sections 4.1.1 and 4.1.2
 */

import type { Application } from '../core/application/application.js'
import { GRANT_ID_BYTES, grantIdOf, SECRET_BYTES } from '../core/credentials/credential.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import type { Grant } from '../core/grant/grant.js'
import type { ClientId } from '../core/values.js'
import { ownOf } from '../core/values.js'
import type { AuthorizationRequest, RedirectedError, RefusedLink } from '../protocol/authorization.js'
import { authorizationClientId, authorizationRequest, notAccessible } from '../protocol/authorization.js'
import { ENDPOINT_PATHS } from '../protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { EMPTY_HEADERS, queryOf } from '../protocol/message.js'
import { FORM_FIELDS, printAuthorizationRequest, shownOf } from '../protocol/pages/form-binding.js'
import { formTargets, pageResponse } from '../protocol/pages/page.js'
import type { Parameters } from '../protocol/parameters.js'
import { bodyParameters, parseParameters, printQuery, valuesIn } from '../protocol/parameters.js'
import type { User } from '../shell/options.js'
import { keys, recordAs } from '../shell/records.js'
import { approve, findConsent, refuse } from './authorization/decision.js'
import { answerFault, redirectError, showLinkError } from './authorization/errors.js'
import { isAheadOfUser, isNavigation, isPartOfPage } from './authorization/purpose.js'
import { createConsentModel } from './interaction/consent-model.js'
import type { PageAnswer, PageContext, ServerContext } from './interaction/context.js'
import { pageEndpoint } from './interaction/error-page.js'
import { createFormBinder, verifyFormOfAnyAge } from './interaction/forms.js'
import type { ChoiceFault } from './interaction/resources.js'
import { isChoiceFault, readChoice } from './interaction/resources.js'
import { readUser, sendToSignIn } from './interaction/sign-in.js'
import { isDocumentDue, readClientDocument } from './registration/client-document.js'

/** A sound request, and the user to ask. */
interface Asked {
  readonly asked: AuthorizationRequest
  readonly user: User
}

/** A consent form as it was sent. */
interface ConsentForm {
  readonly form: Parameters
  /** The request that the page was about, as a query. */
  readonly text: string
  readonly token: string | undefined
  readonly decision: string | undefined
}

/** The answer to a browser that asks ahead: it drops an error, and asks again when its user opens the page. */
const NOT_AHEAD: HttpResponse = { status: 503, headers: EMPTY_HEADERS, body: '' }

/** Makes the authorization endpoint: `GET` shows the consent page, `POST` takes its form. */
export function authorizationEndpoint<Native>(server: ServerContext<Native>): PageAnswer<Native> {
  return pageEndpoint(
    server,
    'authorization',
    (context, request) => (request.method === 'POST' ? takeDecision(context, request) : askUser(context, request)),
    // A form has the request in it, which says in which language its page was.
    (request) => (request.method === 'POST' ? requestIn(bodyParameters(request)) : queryOf(request.url)),
  )
}

/** Answers `GET`: asks the user, or grants at once where an earlier consent spares the question. */
async function askUser<Native>(context: PageContext<Native>, request: HttpRequest<Native>): Promise<HttpResponse> {
  if (isAheadOfUser(request)) return NOT_AHEAD
  const loaded = await loadAsked(context, request, queryOf(request.url))
  if (!('asked' in loaded)) return loaded
  const { asked, user } = loaded
  // A HEAD asks what a GET would say; it makes no grant.
  const earlier =
    request.method === 'GET' && isNavigation(request) ? await findConsent(context, asked, user) : undefined
  return earlier === undefined ? showConsent(context, request, loaded) : approveUnasked(context, loaded, earlier)
}

/** Answers `POST`: takes the decision from the form of a consent page. */
async function takeDecision<Native>(context: PageContext<Native>, request: HttpRequest<Native>): Promise<HttpResponse> {
  const sent = parseConsentForm(request)
  if (isOAuthError(sent)) return showLinkError(context, sent)
  const loaded = await loadAsked(context, request, sent.text)
  if (!('asked' in loaded)) return loaded
  const { asked, user } = loaded

  // A form of any age: it may come again after it was decided in time. The decision that is stored tells an old form from a new one.
  const verified = verifyFormOfAnyAge(context, request, user, shownOf(asked), sent.token)
  if (verified === undefined) return showLinkError(context, notAccessible('consent_invalid'))
  if (sent.decision === 'refuse') return refuse(context, asked, user, verified)
  if (sent.decision !== 'agree') return showLinkError(context, notAccessible('consent_invalid'))

  const resources = await readChoice(context, user, asked.application, sent.form)
  if (isChoiceFault(resources)) return showConsent(context, request, loaded, resources)
  const { grantId, secret: formSecret, expiresAt: formExpiresAt } = verified
  return approve(context, asked, user, resources, { grantId, formSecret, formExpiresAt })
}

/** Parses the form of a consent page. */
function parseConsentForm(request: HttpRequest): ConsentForm | OAuthError {
  const form = bodyParameters(request)
  if (isOAuthError(form)) return form
  const fields = valuesIn(form, [FORM_FIELDS.consent, FORM_FIELDS.decision, FORM_FIELDS.resourceScope])
  if (isOAuthError(fields)) return fields
  return { form, text: requestIn(form), token: fields.consent, decision: fields.decision }
}

/** Returns the request that a form is about, as a query; empty where it has none. */
function requestIn(form: Parameters | OAuthError): string {
  // Not through valuesIn: it holds all parameters of the request, so it may be longer than one of them.
  const text = isOAuthError(form) ? undefined : form.get(FORM_FIELDS.request)
  return typeof text === 'string' ? text : ''
}

/** Loads the request and its user; the answer to send where the request is faulty, or nobody is signed in. */
async function loadAsked<Native>(
  context: PageContext<Native>,
  request: HttpRequest<Native>,
  text: string,
): Promise<Asked | HttpResponse> {
  const named = await loadClient(context, text)
  if (isOAuthError(named)) return showLinkError(context, named)
  const isDue = isDocumentDue(context, named.clientId, named.application)
  const before = isDue ? undefined : checkRequest(context, named)
  if (isOAuthError(before)) return showLinkError(context, before)
  const user = await readUser(context, request)
  // Only for a user who is signed in: else anybody could make this server call any other.
  if (isDue && user === undefined) return sendToSignIn(context, request, 'authorization', printQuery(named.parameters))
  // A page of anybody's, with an image or a script, must not make it do so for its visitors.
  if (isDue && isPartOfPage(request)) return showLinkError(context, notAccessible('client_metadata_unavailable'))
  const asked = before ?? (await checkWithDocument(context, request, named))
  if (isOAuthError(asked)) return showLinkError(context, asked)
  if (asked.type === 'redirected_error') return answerFault(context, asked, user)
  if (user === undefined) return sendToSignIn(context, request, 'authorization', printAuthorizationRequest(asked))
  return { asked, user }
}

/** A request whose parameters were parsed, with the application that it names. */
interface NamedClient {
  readonly parameters: Parameters
  readonly clientId: ClientId
  /** Undefined where there is none. */
  readonly application: Application | undefined
}

/** Parses a request, and loads the application that it names. */
async function loadClient(
  { clientKeyOf, transactions }: PageContext<never>,
  text: string,
): Promise<NamedClient | RefusedLink> {
  const parameters = parseParameters(text)
  if (isOAuthError(parameters)) return notAccessible('malformed_request')
  const clientId = authorizationClientId(parameters)
  if (typeof clientId === 'object') return clientId
  const records = await transactions.read([keys.application(clientKeyOf(clientId))])
  if (isOAuthError(records)) return records
  const stored = recordAs.application(records[0]?.value)
  return { parameters, clientId, application: stored?.id === clientId ? stored : undefined }
}

/** Checks a request against the application that it names. */
function checkRequest(
  { scopes: catalogue, audiences, redirect, requirePkce }: PageContext<never>,
  { parameters, application }: NamedClient,
): AuthorizationRequest | RedirectedError | RefusedLink {
  return ownOf(authorizationRequest(parameters, application, { catalogue, audiences, redirect, requirePkce }))
}

/** Checks a request against what the document of its client says now. */
async function checkWithDocument<Native>(
  context: PageContext<Native>,
  request: HttpRequest<Native>,
  named: NamedClient,
): Promise<AuthorizationRequest | RedirectedError | RefusedLink> {
  const application = await readClientDocument(context, request, named.clientId, named.application)
  return isOAuthError(application) ? application : checkRequest(context, { ...named, application })
}

/** Shows the consent page. After a faulty choice of resources it is shown again, with the fault. */
async function showConsent(
  context: PageContext<never>,
  request: HttpRequest,
  { asked, user }: Asked,
  again?: ChoiceFault,
): Promise<HttpResponse> {
  const { redirectUri } = asked
  const binder = createFormBinder(context, request, user)
  const fields = [{ name: FORM_FIELDS.request, value: printAuthorizationRequest(asked) }, binder.field(shownOf(asked))]
  const model = await createConsentModel(context, user, asked, fields, again)
  if (isOAuthError(model)) return redirectError(context, { ...asked, error: model })
  const form = { action: context.issuerPath + ENDPOINT_PATHS.authorization, fields }
  const html = await context.show.consent({ ...model, redirectHost: shownHost(redirectUri), form })
  const status = again === undefined ? 200 : 400
  return pageResponse(context.pageSources, status, html, formTargets(redirectUri), binder.headers)
}

/** Makes a grant without a question, since the user gave the application as much before. */
function approveUnasked(context: PageContext<never>, { asked, user }: Asked, earlier: Grant): Promise<HttpResponse> {
  const { entropy } = context
  const by = { grantId: grantIdOf(entropy(GRANT_ID_BYTES)), formSecret: entropy(SECRET_BYTES), unasked: true } as const
  return approve(context, asked, user, earlier.resources, by, earlier.id)
}

/** Returns the host that the answer goes to, as the user sees it; for a private-use scheme the scheme alone. */
function shownHost(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri)
  // The text behind a private-use scheme is no host, even if it looks like one.
  return protocol === 'https:' || protocol === 'http:' ? host : protocol
}

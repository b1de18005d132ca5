/**
 * The authorization endpoint: shows the user what is asked for, and takes the answer.
 * @module
 * @see Specification, section 4.1; RFC 6749, sections 4.1.1 and 4.1.2
 */

import type { Application } from '../core/application/application.js'
import { GRANT_ID_BYTES, grantIdOf, SECRET_BYTES } from '../core/credentials/credential.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import type { Resources } from '../core/resource.js'
import type { ClientId, GrantId } from '../core/values.js'
import { ownOf } from '../core/values.js'
import type { AuthorizationRequest, RedirectedError, RefusedLink } from '../protocol/authorization.js'
import { authorizationClientId, authorizationRequest, notAccessible } from '../protocol/authorization.js'
import { ENDPOINT_PATHS } from '../protocol/endpoint-paths.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { EMPTY_HEADERS, queryOf } from '../protocol/message.js'
import { FORM_FIELDS, printAuthorizationRequest, shownOf } from '../protocol/pages/form-binding.js'
import { formTargets, pageResponse } from '../protocol/pages/page.js'
import type { Parameters } from '../protocol/parameters.js'
import { bodyParameters, parseParameters, printQuery, valuesIn } from '../protocol/parameters.js'
import type { LiveGrant } from '../shell/consents.js'
import type { User } from '../shell/options.js'
import { keys, recordAs } from '../shell/records.js'
import type { StoredRecord } from '../storage/record-store.js'
import type { ApprovedBy, SparedQuestion } from './authorization/decision.js'
import { approve, findSpared, refuse } from './authorization/decision.js'
import { answerFault, explainLinkError, redirectError, showLinkError } from './authorization/errors.js'
import { isAheadOfUser, isNavigation, isPartOfPage } from './authorization/purpose.js'
import { createConsentModel } from './interaction/consent-model.js'
import type { PageAnswer, PageContext, ServerContext } from './interaction/context.js'
import { describeWayBack, pageEndpoint } from './interaction/error-page.js'
import { createFormBinder, verifyFormOfAnyAge } from './interaction/forms.js'
import { admitChoice, admitPermission } from './interaction/host-decision.js'
import type { OpenChoice } from './interaction/resources.js'
import { isOpenChoice, readChoice, readOpenChoice } from './interaction/resources.js'
import { describeUser, readUser, sendToSignIn } from './interaction/sign-in.js'
import { isDocumentDue, readClientDocument } from './registration/client-document.js'

/** A sound request, and the user to ask. */
interface Asked {
  readonly asked: AuthorizationRequest
  readonly user: User
  /** The request as it came, as a query. */
  readonly query: string
  /** The record of the user's decisions on the application. */
  readonly decisions: StoredRecord | undefined
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
  const { user } = loaded
  const asked = await admitPermission(context, user, loaded.asked)
  if (isOAuthError(asked)) return redirectError(context, { ...loaded.asked, error: asked })
  // A HEAD asks what a GET would say; it makes no grant.
  const admitted = { ...loaded, asked }
  const granted = await readGranted(context, admitted)
  const spared = request.method === 'GET' && isNavigation(request) ? findSpared(context, asked, granted) : undefined
  return spared === undefined
    ? showConsent(context, request, admitted, granted)
    : approveUnasked(context, admitted, spared)
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
  const wayBack = describeWayBack(asked.application)
  if (verified === undefined) return showLinkError(context, notAccessible('consent_invalid'), wayBack)
  if (sent.decision === 'refuse') return refuse(context, asked, user, verified)
  const isSearch = sent.decision === 'search'
  if (!isSearch && sent.decision !== 'agree') return showLinkError(context, notAccessible('consent_invalid'), wayBack)

  const resources = isSearch
    ? readOpenChoice(sent.form, 'search')
    : await readChoice(context, user, asked.application, sent.form)
  if (isOpenChoice(resources))
    return showConsent(context, request, loaded, await readGranted(context, loaded), resources)
  const { grantId, secret: formSecret, expiresAt: formExpiresAt } = verified
  return approveAdmitted(context, loaded, resources, { grantId, formSecret, formExpiresAt })
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
  const sent = parseRequest(text)
  if (isOAuthError(sent)) return showLinkError(context, sent)
  const user = await readUser(context, request)
  const named = await loadClient(context, sent, user)
  if (isOAuthError(named)) return showLinkError(context, named)
  const isDue = isDocumentDue(context, named.clientId, named.application)
  const before = isDue ? undefined : checkRequest(context, named)
  if (isOAuthError(before)) return explainLinkError(context, user, before, named.application)
  // Only for a user who is signed in: else anybody could make this server call any other.
  if (isDue && user === undefined) return sendToSignIn(context, request, 'authorization', printQuery(named.parameters))
  // A page of anybody's, with an image or a script, must not make it do so for its visitors.
  if (isDue && isPartOfPage(request)) return showLinkError(context, notAccessible('client_metadata_unavailable'))
  const asked = before ?? (await checkWithDocument(context, request, named))
  if (isOAuthError(asked)) return explainLinkError(context, user, asked)
  if (asked.type === 'redirected_error') return answerFault(context, asked, user)
  if (user === undefined) return sendToSignIn(context, request, 'authorization', printAuthorizationRequest(asked))
  return { asked, user, query: printQuery(named.parameters), decisions: named.decisions }
}

/** A request whose parameters were parsed. */
interface SentRequest {
  readonly parameters: Parameters
  readonly clientId: ClientId
}

/** A request with the application that it names. */
interface NamedClient extends SentRequest {
  /** Undefined where there is none. */
  readonly application: Application | undefined
  /** The record of the user's decisions on it; undefined where there is none, or nobody is signed in. */
  readonly decisions: StoredRecord | undefined
}

/** Parses a request, and the client identifier in it. */
function parseRequest(text: string): SentRequest | RefusedLink {
  const parameters = parseParameters(text)
  if (isOAuthError(parameters)) return notAccessible('malformed_request')
  const clientId = authorizationClientId(parameters)
  return typeof clientId === 'object' ? clientId : { parameters, clientId }
}

/** Loads the application that a request names and, in the same round trip, the user's decisions on it. */
async function loadClient(
  { clientKeyOf, consents, transactions }: PageContext<never>,
  sent: SentRequest,
  user: User | undefined,
): Promise<NamedClient | RefusedLink> {
  const { clientId } = sent
  const clientKey = clientKeyOf(clientId)
  const ofUser = user === undefined ? [] : [consents.keyOf({ clientKey, subject: user.subject })]
  const records = await transactions.read([keys.application(clientKey), ...ofUser])
  if (isOAuthError(records)) return records
  const [application, decisions] = records
  const stored = recordAs.application(application?.value)
  return { ...sent, application: stored?.id === clientId ? stored : undefined, decisions }
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

/** Shows the consent page. After a search, or a faulty choice of resources, it is shown again. */
async function showConsent(
  context: PageContext<never>,
  request: HttpRequest,
  { asked, user, query }: Asked,
  granted: readonly LiveGrant[],
  again?: OpenChoice,
): Promise<HttpResponse> {
  const { redirectUri } = asked
  const signedIn = describeUser(context, user, 'authorization', query)
  const binder = createFormBinder(context, request, user)
  const fields = [{ name: FORM_FIELDS.request, value: printAuthorizationRequest(asked) }, binder.field(shownOf(asked))]
  const model = await createConsentModel(context, { user, signedIn, granted }, asked, fields, again)
  if (isOAuthError(model)) return redirectError(context, { ...asked, error: model })
  const form = { action: context.issuerPath + ENDPOINT_PATHS.authorization, fields }
  const html = await context.show.consent({ ...model, redirectHost: shownHost(redirectUri), form })
  const status = again?.type === 'fault' ? 400 : 200
  return pageResponse(context.pageSources, status, html, formTargets(redirectUri), binder.headers)
}

/** Reads the live grants of the user to the application. */
function readGranted(context: PageContext<never>, { asked, user, decisions }: Asked): Promise<readonly LiveGrant[]> {
  const clientKey = context.clientKeyOf(asked.application.clientId)
  return context.consents.liveGrants({ clientKey, subject: user.subject }, decisions)
}

/** Makes a grant without a question, since the user need not be asked. */
function approveUnasked(
  context: PageContext<never>,
  loaded: Asked,
  { resources, grantId }: SparedQuestion,
): Promise<HttpResponse> {
  const { entropy } = context
  const by = { grantId: grantIdOf(entropy(GRANT_ID_BYTES)), formSecret: entropy(SECRET_BYTES), unasked: true } as const
  return approveAdmitted(context, loaded, resources, by, grantId)
}

/** Makes a grant of what the host admits of it. */
async function approveAdmitted(
  context: PageContext<never>,
  { asked, user }: Asked,
  resources: Resources,
  by: ApprovedBy,
  sparing?: GrantId,
): Promise<HttpResponse> {
  const admitted = await admitChoice(context, user, asked, resources)
  if (isOAuthError(admitted)) return redirectError(context, { ...asked, error: admitted })
  return approve(context, admitted.asked, user, admitted.resources, by, sparing)
}

/** Returns the host that the answer goes to, as the user sees it; for a private-use scheme the scheme alone. */
function shownHost(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri)
  // The text behind a private-use scheme is no host, even if it looks like one.
  return protocol === 'https:' || protocol === 'http:' ? host : protocol
}

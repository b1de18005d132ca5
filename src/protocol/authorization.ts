/**
 * The authorization request, and the answers that go back through the browser.
 * @module
 * @see Specification, section 4.1; RFC 6749, section 4.1; RFC 7636, section 4.3; RFC 9207
 */
import type { Application, PublishedApplication } from '../core/application/application.js'
import { isPublished } from '../core/application/application.js'
import type { FaultValues, RedirectFaultCode } from '../core/application/faults.js'
import { redirectFault } from '../core/application/faults.js'
import type { RedirectRules } from '../core/application/redirect-uri.js'
import { matchRedirectUri, mismatchRule } from '../core/application/redirect-uri.js'
import type { Audience } from '../core/audiences/audience.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError, malformed, oauthError } from '../core/errors.js'
import type { Scope } from '../core/scopes.js'
import { coversScopes, narrowScopes, normalizeScopes, parseRequestedScopes } from '../core/scopes.js'
import type { ClientId, Subject } from '../core/values.js'
import { ownOf, parseClientId } from '../core/values.js'
import type { AudienceRules } from './audiences/requested-audience.js'
import { registeredForAudience, requestedAudience } from './audiences/requested-audience.js'
import type { HttpResponse } from './message.js'
import { listedTags, readTag } from './pages/locale.js'
import { redirectResponse } from './pages/page.js'
import type { ParameterFault, ParameterFaultCode, Parameters } from './parameters.js'
import { missing, PARAMETER_LIMITS, valueIn, valuesIn } from './parameters.js'
import { scopeError, unknownScope } from './token.js'

/** An authorization request that may be shown to the user. */
export interface AuthorizationRequest {
  readonly type: 'authorization_request'
  readonly application: PublishedApplication
  /** Exactly as sent, or the one that is registered. */
  readonly redirectUri: string
  /** Exactly as sent, the empty string too. */
  readonly state?: string
  readonly scopes: readonly Scope[]
  /** The protected resources that it asks for; absent where it names none. */
  readonly audience?: Audience
  readonly codeChallenge?: string | undefined
  /** The tags of the languages that it asks for; absent where it names none. */
  readonly uiLocales?: string
}

/** An error that the application may be told, since its redirect URI is trusted. */
export interface RedirectedError {
  readonly type: 'redirected_error'
  readonly error: OAuthError
  readonly application: PublishedApplication
  readonly redirectUri: string
  readonly state?: string
}

/** An error for a page, with what the audit trail is told besides. */
export interface RefusedLink extends OAuthError {
  /** Of the application, where the redirect URI is the reason. */
  readonly clientId?: ClientId
  /** The rule that the redirect URI breaks, where that is the reason. */
  readonly rule?: string
  /** That redirect URI as it was sent, where there was one. */
  readonly redirectUri?: string
  /** The wrong parameter, for the applicant of the application alone. */
  readonly detail?: LinkDetail
}

/** A wrong parameter of a link: its name, the rule that it breaks, and nothing of its value. */
export interface LinkDetail {
  /** The user who may see it; absent where nobody may. */
  readonly applicant: Subject | undefined
  readonly parameter: 'client_id' | 'redirect_uri'
  readonly code: RedirectFaultCode | ParameterFaultCode | 'client_suspended'
  readonly values: FaultValues
}

/** Settings for the check of authorization requests. */
export interface AuthorizationRules extends AudienceRules {
  readonly redirect: RedirectRules
  /** True if confidential clients need PKCE too; public ones always do. */
  readonly requirePkce: boolean
}

/** An S256 challenge is the base64url of 32 bytes. */
const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/** Reads the client of a request: before anything else, since without it nobody may be answered. */
export function authorizationClientId(parameters: Parameters): ClientId | OAuthError {
  const value = valueIn(parameters, 'client_id')
  const clientId = typeof value === 'string' ? parseClientId(value) : undefined
  return clientId ?? notAccessible('client_unknown')
}

/**
 * Checks an authorization request against the application that it names.
 * @returns the request; an error to be sent to the redirect URI; or, where none is trusted, an error for a page
 */
export function authorizationRequest(
  parameters: Parameters,
  application: Application | undefined,
  rules: AuthorizationRules,
): AuthorizationRequest | RedirectedError | RefusedLink {
  if (application === undefined) return notAccessible('client_unknown')
  if (!isPublished(application)) return notAccessible('client_not_approved')
  if (application.state !== 'approved') return suspended(application)
  const redirectUri = trustedRedirectUri(parameters, application, rules)
  if (isOAuthError(redirectUri)) return redirectUri
  // Not through valueIn: any string comes back as it was, the empty one too (specification, section 4.1).
  const sentState = parameters.get('state')
  const state = typeof sentState === 'string' ? { state: sentState } : {}
  const wish = stateFault(sentState) ?? requestedPermission(parameters, application, rules)
  return isOAuthError(wish)
    ? { type: 'redirected_error', error: wish, application, redirectUri, ...state }
    : { type: 'authorization_request', application, redirectUri, ...state, ...wish, ...uiLocalesOf(parameters) }
}

/** Reads the languages that a request asks for. What is no tag is left out, and a faulty value is as none: it changes words alone. */
function uiLocalesOf(parameters: Parameters): Pick<AuthorizationRequest, 'uiLocales'> {
  const value = valueIn(parameters, 'ui_locales')
  const tags = typeof value === 'string' ? listedTags(value).filter((tag) => readTag(tag) !== undefined) : []
  return tags.length > 0 ? { uiLocales: tags.join(' ') } : {}
}

/** Returns the redirect URI of a request, or the error for a page where it is not one of the application. */
function trustedRedirectUri(
  parameters: Parameters,
  application: PublishedApplication,
  { redirect }: AuthorizationRules,
): string | RefusedLink {
  const requested = valueIn(parameters, 'redirect_uri')
  const isFault = typeof requested === 'object'
  const redirectUri = isFault ? undefined : matchRedirectUri(application, requested, redirect)
  if (redirectUri !== undefined) return redirectUri
  const fault = isFault
    ? { code: requested.code, values: {}, message: requested.message }
    : redirectFault(mismatchRule(application, requested, redirect))
  const { code, values, message } = fault
  const { applicant, id: clientId } = ownOf(application)
  const detail = { applicant, parameter: 'redirect_uri', code, values } as const
  const sent = typeof requested === 'string' ? { redirectUri: requested } : {}
  return { ...notAccessible('redirect_uri_mismatch'), clientId, rule: `redirect_uri ${message}`, ...sent, detail }
}

/** Returns the error of a `state` that cannot come back as it was sent; undefined where it can. */
function stateFault(state: string | ParameterFault | undefined): OAuthError | undefined {
  if (typeof state === 'object') return malformed(`The parameter state ${state.message}.`)
  return (state?.length ?? 0) > PARAMETER_LIMITS.length ? malformed('The parameter state is too long.') : undefined
}

/** Returns the scopes, the audience and the challenge of a request, or the error for the application. */
function requestedPermission(
  parameters: Parameters,
  application: PublishedApplication,
  rules: AuthorizationRules,
): Pick<AuthorizationRequest, 'scopes' | 'audience' | 'codeChallenge'> | OAuthError {
  if (parameters.has('client_secret')) return malformed('The parameter client_secret must not be in the query.')
  const values = valuesIn(parameters, [
    'response_type',
    'response_mode',
    'scope',
    'code_challenge',
    'code_challenge_method',
  ])
  if (isOAuthError(values)) return values
  if (values.response_type === undefined) return missing('response_type')
  if (values.response_type !== 'code')
    return oauthError('unsupported_response_type', 'unsupported', 'The response_type must be code.')
  if ((values.response_mode ?? 'query') !== 'query') return malformed('The response_mode must be query.')
  const { code_challenge: codeChallenge, code_challenge_method: method } = values
  const fault = challengeFault(codeChallenge, method, rules.requirePkce || application.type === 'public')
  if (fault !== undefined) return fault
  const audience = requestedAudience(parameters, rules)
  if (isOAuthError(audience)) return audience
  const scopes = requestedScopes(application, values.scope, audience, rules)
  if (isOAuthError(scopes)) return scopes
  return { scopes, ...(audience !== undefined && { audience }), codeChallenge }
}

/** Returns the error of a wrong or missing challenge (RFC 7636, section 4.4.1); undefined where there is none. */
function challengeFault(
  challenge: string | undefined,
  method: string | undefined,
  isRequired: boolean,
): OAuthError | undefined {
  if (challenge === undefined) {
    if (method !== undefined) return malformed('There is a code_challenge_method without a code_challenge.')
    return isRequired ? oauthError('invalid_request', 'pkce_required', 'A code_challenge is required.') : undefined
  }
  return method === 'S256' && S256_CHALLENGE.test(challenge)
    ? undefined
    : malformed('The code_challenge must be one of the method S256.')
}

/**
 * Writes the answer to the application: its redirect URI with the code or the error.
 * @param answer - the code, or an error with its description
 * @param issuer - in every answer, so that a client knows whom it comes from (RFC 9207)
 */
export function authorizationResponse(
  to: { readonly redirectUri: string; readonly state?: string },
  answer: { readonly code: string } | OAuthError,
  issuer: string,
): HttpResponse {
  const parameters: (readonly [string, string])[] = isOAuthError(answer)
    ? [
        ['error', answer.code],
        ['error_description', answer.description],
      ]
    : [['code', answer.code]]
  const { redirectUri, state } = ownOf(to)
  if (state !== undefined) parameters.push(['state', state])
  parameters.push(['iss', issuer])
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  // A question mark at the very end already begins an empty query.
  const separator = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&'
  return redirectResponse(redirectUri + separator + query)
}

/** Makes the error of a link of an application that an administrator suspended. */
function suspended(application: PublishedApplication): RefusedLink {
  const { applicant } = ownOf(application)
  const detail = { applicant, parameter: 'client_id', code: 'client_suspended', values: {} } as const
  return { ...notAccessible('client_suspended'), detail }
}

/** Makes an error for a page, since nobody can be trusted to get it (specification, section 7). */
export function notAccessible(reason: OAuthError['reason']): OAuthError {
  return oauthError('invalid_request', reason, 'This link cannot be accessed.')
}

/**
 * Returns the scopes that a request asks for: those that it names or, where it names none, all registered ones that its audience
 * knows.
 */
export function requestedScopes(
  application: PublishedApplication,
  scope: string | undefined,
  audience: Audience | undefined,
  rules: AudienceRules,
): readonly Scope[] | OAuthError {
  const { catalogue } = rules
  // The service may have taken a scope out of its catalogue since the application was registered.
  const left = application.scopes.filter((each) => catalogue.entries.has(each))
  const registered = normalizeScopes(catalogue, left)
  if (registered === undefined) return scopeError('This application is registered for no scope that the service has.')
  const most = registeredForAudience(registered, audience, rules)
  if (isOAuthError(most) || scope === undefined) return most
  const wish = parseRequestedScopes(catalogue, scope)
  if (wish === undefined) return unknownScope(catalogue, scope)
  const scopes = narrowScopes(most, wish, catalogue)
  if (scopes !== undefined) return scopes
  const wider = wish.find((each) => !coversScopes(registered, [each], catalogue))
  if (wider !== undefined) return scopeError(`The scope ${wider} is not registered for this application.`)
  return scopeError(
    `The resource does not know the scope ${wish.find((each) => !coversScopes(most, [each], catalogue))}.`,
  )
}

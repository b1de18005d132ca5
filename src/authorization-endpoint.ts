/**
 * The authorization endpoint: shows the user what is asked for, and takes the answer.
 * @module
 * @see Specification, section 4.1; RFC 6749, sections 4.1.1 and 4.1.2
 */
import type { Application } from './core/application.js'
import { imageType, RESOURCE_CHOICES } from './core/application.js'
import { decodeBase64url } from './core/base64url.js'
import { GRANT_ID_BYTES, grantIdOf } from './core/credential.js'
import { clientKeyOf, digestOf } from './core/digests.js'
import type { OAuthError } from './core/errors.js'
import { oauthError } from './core/errors.js'
import type { Grant, Resources } from './core/grant.js'
import { coversScopes } from './core/scopes.js'
import { transition } from './core/transition.js'
import type { GrantId, Seconds } from './core/values.js'
import type { Refused, Settings, SpecifiedResource, User } from './options.js'
import { inaccessibleLink } from './pages/index.js'
import type { AuthorizationRequest, RedirectedError } from './protocol/authorization.js'
import {
  authorizationClientId,
  authorizationRequest,
  authorizationResponse,
  notAccessible,
} from './protocol/authorization.js'
import {
  BROWSER_KEY_BYTES,
  browserKeyOf,
  CONSENT_FIELDS,
  CONSENT_NONCE_BYTES,
  chosenResources,
  consentToken,
  fromOwnPage,
  printAuthorizationRequest,
  SPECIFIED_RESOURCES_MAX,
  setBrowserKey,
  verifyConsentToken,
} from './protocol/consent.js'
import type { HttpRequest, HttpResponse } from './protocol/message.js'
import { queryOf, redirectResponse } from './protocol/message.js'
import { ENDPOINT_PATHS } from './protocol/metadata.js'
import { formTargets, pageResponse } from './protocol/page.js'
import { bodyParameters, isError, listIn, parseParameters, valuesIn } from './protocol/parameters.js'
import type { LogoRecord, Transactions } from './transactions.js'
import { keys, recordAs } from './transactions.js'

/** Makes the endpoint of a server: `GET` shows the consent page, `POST` takes its form. */
export function authorizationEndpoint<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
  refused: Refused,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { issuer, issuerPath, clock, entropy, digests, pages, rules } = settings
  const stylesheet = issuerPath + ENDPOINT_PATHS.stylesheet
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
    return authorizationRequest(parameters, application?.clientId === clientId ? application : undefined, {
      catalogue: settings.scopes,
      redirect: settings.redirect,
      requirePkce: settings.requirePkce,
    })
  }

  function errorPage(error: OAuthError): HttpResponse {
    refused('authorization', error.reason, error.code)
    const busy = error.code === 'temporarily_unavailable' || error.code === 'server_error'
    const model = busy
      ? { title: 'The service is busy', message: 'Please try again in a moment.' }
      : { ...inaccessibleLink, ...(error.reason === 'consent_invalid' && { message: CONSENT_INVALID }) }
    const retry: Record<string, string> =
      error.retryAfter === undefined ? {} : { 'Retry-After': String(error.retryAfter) }
    return pageResponse(error.status, pages.error({ ...model, stylesheet }), [], retry)
  }

  function redirectedError({ error, application, ...to }: Omit<RedirectedError, 'type'>): HttpResponse {
    refused('authorization', error.reason, error.code, application.clientId)
    return authorizationResponse(to, error, issuer)
  }

  async function consentPage(
    request: HttpRequest<Native>,
    asked: AuthorizationRequest,
    user: User,
    again?: { readonly fault: string; readonly choice: string | undefined; readonly ids: readonly string[] },
  ): Promise<HttpResponse> {
    const { application, redirectUri, scopes } = asked
    const logo = await transactions.read([keys.logo(application.logo)])
    if ('type' in logo) return errorPage(logo)
    const offered = await resourcesOf(user)
    const choices = RESOURCE_CHOICES[application.resourceScope].filter(
      (kind) => kind !== 'specified' || settings.resources !== undefined,
    )
    if (choices.length === 0) {
      return redirectedError({
        ...asked,
        error: oauthError('server_error', 'host_failed', 'There is nothing to choose from.'),
      })
    }
    const kept = browserKeyOf(request.headers, issuer)
    const browserKey = kept ?? entropy(BROWSER_KEY_BYTES)
    const consent = consentToken(
      { issuer, subject: user.subject, request: asked, browserKey },
      clock() + settings.consentLifetime,
      entropy(CONSENT_NONCE_BYTES),
      digests,
    )
    const html = pages.consent({
      application: {
        name: application.name,
        ...(application.description !== undefined && { description: application.description }),
        website: application.website,
        ...dataUri(recordAs.logo(logo[0]?.value)),
      },
      user: { name: user.name ?? user.subject },
      redirectHost: redirectHost(redirectUri),
      // In the order of the catalogue, which is theirs as well.
      scopes: [...settings.scopes.entries.values()]
        .filter(({ scope }) => scopes.includes(scope))
        .map(({ scope, permission, definition }) => ({ scope, permission, description: definition.description })),
      resources: {
        choices,
        selected: choices.find((kind) => kind === again?.choice) ?? application.resourceScope,
        items: offered.map(({ id, name }) => ({ id, name: name ?? id, checked: again?.ids.includes(id) ?? false })),
      },
      form: {
        action,
        fields: [
          { name: CONSENT_FIELDS.request, value: printAuthorizationRequest(asked) },
          { name: CONSENT_FIELDS.consent, value: consent },
        ],
      },
      stylesheet,
      ...(again !== undefined && { fault: again.fault }),
    })
    const cookie: Record<string, string> = kept === undefined ? { 'Set-Cookie': setBrowserKey(browserKey, issuer) } : {}
    return pageResponse(again === undefined ? 200 : 400, html, formTargets(redirectUri), cookie)
  }

  async function resourcesOf(user: User): Promise<readonly SpecifiedResource[]> {
    return settings.resources === undefined ? [] : await settings.resources(user)
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
  function isRememberedFor(application: Application): boolean {
    return settings.consent === 'once' && application.type === 'confidential'
  }

  function consentKey(application: Application, user: User): string {
    return keys.consent(clientKeyOf(digests, application.clientId), digestOf(digests, user.subject))
  }

  async function get(request: HttpRequest<Native>): Promise<HttpResponse> {
    const asked = await read(queryOf(request.url))
    if (asked.type === 'error') return errorPage(asked)
    if (asked.type === 'redirected_error') return redirectedError(asked)
    const user = await signedIn(request)
    if (user === undefined) return signIn(asked)
    // A HEAD asks what a GET would say; it makes no grant.
    const resources = request.method === 'GET' ? await remembered(asked, user) : undefined
    if (resources === undefined) return consentPage(request, asked, user)
    return approve(asked, user, { grantId: grantIdOf(entropy(GRANT_ID_BYTES)), expiresAt: clock(), resources })
  }

  async function post(request: HttpRequest<Native>): Promise<HttpResponse> {
    const form = bodyParameters(request)
    if (isError(form)) return errorPage(form)
    const fields = valuesIn(form, [CONSENT_FIELDS.consent, CONSENT_FIELDS.decision, CONSENT_FIELDS.resourceScope])
    if (isError(fields)) return errorPage(fields)
    // Longer than any one parameter may be, since it has them all in it.
    const text = form.get(CONSENT_FIELDS.request)
    const asked = await read(typeof text === 'string' ? text : '')
    if (asked.type === 'error') return errorPage(asked)
    if (asked.type === 'redirected_error') return redirectedError(asked)
    const user = await signedIn(request)
    if (user === undefined) return signIn(asked)

    const browserKey = browserKeyOf(request.headers, issuer)
    const verified =
      browserKey !== undefined && fields.consent !== undefined && fromOwnPage(request.headers, issuer)
        ? verifyConsentToken(
            { issuer, subject: user.subject, request: asked, browserKey },
            fields.consent,
            clock(),
            digests,
          )
        : undefined
    if (verified === undefined) return errorPage(notAccessible('consent_invalid'))
    if (fields.decision === 'refuse') {
      return redirectedError({ ...asked, error: oauthError('access_denied', 'consent_refused', 'The user refused.') })
    }
    if (fields.decision !== 'agree') return errorPage(notAccessible('consent_invalid'))

    const ids = listIn(form, CONSENT_FIELDS.resource)
    const choice = fields.resource_scope
    const offered = new Set(choice === 'specified' ? (await resourcesOf(user)).map(({ id }) => id) : [])
    const resources = chosenResources(choice, ids, asked.application.resourceScope, offered)
    if (resources === undefined) {
      return consentPage(request, asked, user, {
        fault: `Choose which resources the application may use: at least one, and at most ${SPECIFIED_RESOURCES_MAX}.`,
        choice,
        ids,
      })
    }
    const response = await approve(asked, user, { ...verified, resources })
    if (response.status === 302) await remember(asked, user, verified.grantId)
    return response
  }

  async function signedIn(request: HttpRequest<Native>): Promise<User | undefined> {
    const user = await settings.user(request)
    if (user === undefined || user === null) return undefined // a session without a user is often null
    if (typeof user.subject !== 'string' || user.subject === '')
      throw new TypeError('grantwell: user() gave no subject')
    return user
  }

  function signIn(asked: AuthorizationRequest): HttpResponse {
    const url = settings.signInUrl(`${issuer}${ENDPOINT_PATHS.authorization}?${printAuthorizationRequest(asked)}`)
    // Nothing else can stand in a header.
    if (typeof url !== 'string' || !/^[\x21-\x7e]+$/.test(url))
      throw new TypeError('grantwell: signInUrl() gave no URL')
    return redirectResponse(url)
  }

  return async (request) => {
    try {
      return await (request.method === 'POST' ? post(request) : get(request))
    } catch (error) {
      settings.onError(error)
      return errorPage(oauthError('server_error', 'host_failed', 'The service failed.'))
    }
  }
}

const CONSENT_INVALID =
  'This form was sent before, is too old, or belongs to another session. Go back to the application and start again.'

/** Whether anything of a grant still works or can still be exchanged. */
function isLive(grant: Grant, now: Seconds): boolean {
  const last = grant.pairs.at(-1)?.refresh.expiresAt ?? (grant.code.usedAt === undefined ? grant.code.expiresAt : 0)
  return grant.revokedAt === undefined && now < last
}

/** Where the answer goes, for the eyes of the user. */
function redirectHost(redirectUri: string): string {
  const url = new URL(redirectUri)
  return url.host === '' ? url.protocol : url.host
}

/** A logo as the page embeds it. */
function dataUri(logo: LogoRecord | undefined): { readonly logo?: string } {
  const type = imageType(decodeBase64url(logo?.base64url.slice(0, 16) ?? '') ?? new Uint8Array(0))
  if (logo === undefined || type === undefined) return {}
  return { logo: `data:${type};base64,${logo.base64url.replaceAll('-', '+').replaceAll('_', '/')}` }
}

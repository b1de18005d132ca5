/**
 * The messages by which a client registers itself, and reads and deletes its registration.
 * @module
 * @see RFC 7591, section 3; RFC 7592, sections 2 and 3
 */
import type { Application, ApplicationDetails } from '../../core/application/application.js'
import { isPublished, selfRegisteredOf } from '../../core/application/application.js'
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError, malformed, oauthError } from '../../core/errors.js'
import { printScopes } from '../../core/scopes.js'
import type { ClientId } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import { ENDPOINT_PATHS } from '../endpoint-paths.js'
import type { HttpRequest, HttpResponse } from '../message.js'
import { EMPTY_HEADERS, errorResponse, headerOf, queryOf, TOKEN_HEADERS } from '../message.js'
import { parseParameters, valueIn } from '../parameters.js'
import { DEVICE_CODE_GRANT } from '../token.js'
import type { JsonObject } from './client-metadata.js'
import { ownMembers, parseJsonObject } from './client-metadata.js'

/** The prefix of a registration access token, for scanners that look for leaked secrets. */
export const REGISTRATION_TOKEN_PREFIX = 'gwm_'

/** A request about a registration that was made. */
export interface OwnRegistration {
  readonly clientId: ClientId
  /** The registration access token. */
  readonly token: string
}

/** The secrets of a client that has just registered. They are shown this once. */
export interface ShownSecrets {
  readonly token: string
  readonly clientSecret?: string
}

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?$/i

/**
 * Reads what a client that registers says about itself.
 * @throws the error of a body that is unreadable, which is a fault of the host
 */
export function registrationRequest(request: HttpRequest): JsonObject | OAuthError {
  const { body } = request
  if (body?.type === 'too_large')
    return oauthError('invalid_request', 'body_too_large', 'The body is too large.', { status: 413 })
  const contentType = headerOf(request.headers, 'content-type')
  if (typeof contentType !== 'string' || !JSON_TYPE.test(contentType))
    return malformed('The content type must be application/json.')
  if (body?.type === 'unreadable') throw body.error
  if (body?.type === 'parsed')
    return typeof body.fields === 'object' && body.fields !== null && !Array.isArray(body.fields)
      ? ownMembers(body.fields)
      : malformed('The body must be a JSON object.')
  return parseJsonObject(body?.type === 'text' ? body.text : '') ?? malformed('The body must be a JSON object.')
}

/** Reads whose registration a request is about, and by what right. Every fault is the same to whoever asks. */
export function ownRegistrationRequest({ url, headers }: HttpRequest): OwnRegistration | OAuthError {
  const parameters = parseParameters(queryOf(url))
  const id = isOAuthError(parameters) ? undefined : valueIn(parameters, 'client_id')
  const clientId = typeof id === 'string' ? parseClientId(id) : undefined
  const authorization = headerOf(headers, 'authorization')
  const token = typeof authorization === 'string' ? /^bearer +([\w-]{1,255}) *$/i.exec(authorization)?.[1] : undefined
  return clientId === undefined || token === undefined ? noRegistration() : { clientId, token }
}

/** Makes the error of a registration access token that does not work (RFC 7592, section 2). */
export function noRegistration(): OAuthError {
  return oauthError('invalid_token', 'credential_unknown', 'The registration access token does not work.')
}

/** Writes the answer to a registration (RFC 7591, section 3.2.1). */
export function registeredResponse(application: Application, secrets: ShownSecrets, issuer: string): HttpResponse {
  const { token, clientSecret } = secrets
  const shown = {
    ...describe(application, issuer),
    ...(clientSecret !== undefined && { client_secret: clientSecret, client_secret_expires_at: 0 }),
    registration_access_token: token,
  }
  return { status: 201, headers: TOKEN_HEADERS, body: JSON.stringify(shown) }
}

/**
 * Writes the answer to a client that reads its registration. A secret is shown once, so this answer has none.
 * @see RFC 7592, section 3
 */
export function readResponse(application: Application, token: string, issuer: string): HttpResponse {
  const shown = { ...describe(application, issuer), registration_access_token: token }
  return { status: 200, headers: TOKEN_HEADERS, body: JSON.stringify(shown) }
}

/** The answer to a registration that was deleted (RFC 7592, section 2.3). */
export const DELETED: HttpResponse = {
  status: 204,
  headers: { ...EMPTY_HEADERS, 'Cache-Control': 'no-store', Pragma: 'no-cache' },
  body: '',
}

/** Writes an error of the registration endpoint. A wrong token gets the challenge of RFC 6750. */
export function registrationError(error: OAuthError): HttpResponse {
  const response = errorResponse(error)
  if (error.code !== 'invalid_token') return response
  const challenge = `Bearer realm="oauth2", error="invalid_token", error_description="${error.description}"`
  return { ...response, headers: { ...response.headers, 'WWW-Authenticate': challenge } }
}

/** Returns the details of an application as it was approved, or as it waits. */
export function detailsOf(application: Application): ApplicationDetails {
  return isPublished(application) ? application : application.review.details
}

/** Describes a client as it is registered. */
function describe(application: Application, issuer: string): JsonObject {
  const { id, createdAt } = application
  const { type, name, website, redirectUris, scopes, deviceFlow } = detailsOf(application)
  const method = type === 'public' ? 'none' : (selfRegisteredOf(application)?.method ?? 'client_secret_basic')
  const usesCode = redirectUris.length > 0
  return {
    client_id: id,
    client_id_issued_at: createdAt,
    client_name: name,
    ...(website !== '' && { client_uri: website }),
    ...(usesCode && { redirect_uris: redirectUris }),
    response_types: usesCode ? ['code'] : [],
    grant_types: [
      ...(usesCode ? ['authorization_code'] : []),
      'refresh_token',
      ...(deviceFlow ? [DEVICE_CODE_GRANT] : []),
    ],
    token_endpoint_auth_method: method,
    scope: printScopes(scopes),
    registration_client_uri: `${issuer}${ENDPOINT_PATHS.registration}?client_id=${encodeURIComponent(id)}`,
  }
}

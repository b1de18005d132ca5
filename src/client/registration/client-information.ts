/**
 * The answer about a registration: the credentials of the client, and the metadata that were registered.
 * @module
 * @see RFC 7591, section 3.2.1; RFC 7592, section 3
 */
import { isObject } from '../../core/takes.js'
import { ClientError } from '../errors.js'
import { isSafeAddress } from '../http/address.js'
import { ownMembers } from '../http/own-members.js'
import { isBearer, isCredential } from '../tokens/tokens-check.js'

/** Credentials of a client, as options of `discover`. */
export interface ClientCredentials {
  /** The identifier of the client. */
  readonly clientId: string
  /** The secret of a confidential client. */
  readonly clientSecret?: string
  /** The way to send the secret, if the service named one that this client knows. */
  readonly clientAuthentication?: 'client_secret_basic' | 'client_secret_post'
}

/** A client that a service registered. It is JSON, and secret. */
export interface ClientRegistration {
  /** The issuer identifier of the service. The credentials are for this service alone. */
  readonly issuer: string
  /** The identifier of the client and, for a confidential client, its secret. */
  readonly credentials: ClientCredentials
  /** The time when the secret expires, in seconds since the epoch; absent if it does not. */
  readonly clientSecretExpiresAt?: number
  /** The token that lets the client manage its registration; absent if the service does not offer that. */
  readonly registrationAccessToken?: string
  /** The address of the registration, for the same. */
  readonly registrationUri?: string
  /** The other members of the answer: the metadata that the service registered. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/**
 * Reads the answer about a registration.
 * @param before - the registration that was read again: the answer may leave out its credentials
 * @throws ClientError `ERR_RESPONSE` if a member is missing or wrong, or if the answer is about another client
 */
export async function readInformation(
  issuer: string,
  answer: Response,
  before?: ClientRegistration,
): Promise<ClientRegistration> {
  const body: unknown = await answer.json().catch(() => undefined)
  if (!isObject(body)) throw wrongAnswer('has no JSON object')
  const {
    client_id: clientId,
    client_secret: secret = before?.credentials.clientSecret,
    client_secret_expires_at: expiresAt = before && (before.clientSecretExpiresAt ?? 0),
    registration_access_token: token = before?.registrationAccessToken,
    registration_client_uri: uri = before?.registrationUri,
    ...metadata
  } = ownMembers(body)
  if (!isCredential(clientId)) throw wrongMember('client_id')
  if (before !== undefined && clientId !== before.credentials.clientId) throw wrongAnswer('is about another client')
  if (secret !== undefined && !isCredential(secret)) throw wrongMember('client_secret')
  if (secret !== undefined && !isTime(expiresAt)) throw wrongMember('client_secret_expires_at')
  if (token !== undefined && !(isCredential(token) && isBearer(token))) throw wrongMember('registration_access_token')
  if (uri !== undefined && !isSafeAddress(uri, issuer)) throw wrongMember('registration_client_uri')
  const { token_endpoint_auth_method: method = before?.credentials.clientAuthentication } = metadata
  const isKnown = method === 'client_secret_basic' || method === 'client_secret_post'
  return {
    issuer,
    credentials: {
      clientId,
      ...(secret !== undefined && { clientSecret: secret, ...(isKnown && { clientAuthentication: method }) }),
    },
    ...(secret !== undefined && isTime(expiresAt) && expiresAt !== 0 && { clientSecretExpiresAt: expiresAt }),
    ...(token !== undefined && { registrationAccessToken: token }),
    ...(uri !== undefined && { registrationUri: uri }),
    metadata,
  }
}

/** Checks a time in seconds since the epoch; 0 stands for never. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function wrongMember(name: string): ClientError {
  return wrongAnswer(`has a wrong ${name}, or none`)
}

function wrongAnswer(problem: string): ClientError {
  return new ClientError('ERR_RESPONSE', `the answer about the registration ${problem}`)
}

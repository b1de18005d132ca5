/**
 * The metadata that an authorization service publishes.
 * @module
 * @see RFC 8414, section 3
 */
import * as oauth from 'oauth4webapi'
import type { Takes } from '../../core/takes.js'
import { came } from '../../core/takes.js'
import { ClientError, configurationError } from '../errors.js'
import { FORBIDDEN_IN_ADDRESS, isProtected, isSafeAddress, parseAddress } from '../http/address.js'
import type { HttpOptions } from '../http/http.js'
import { ask, memberOf } from '../http/http.js'
import { ownMembers } from '../http/own-members.js'
import { plain } from '../http/plain.js'

/** The endpoints to which a client sends credentials, or its user. */
const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'device_authorization_endpoint',
  'revocation_endpoint',
  'introspection_endpoint',
] as const

/**
 * Reads the metadata of a service.
 * @throws ClientError `ERR_UNREACHABLE`; `ERR_RESPONSE` if the answer is not from an authorization server, or from one with another
 *   issuer identifier
 */
export async function discoverService(issuer: URL, http: HttpOptions): Promise<oauth.AuthorizationServer> {
  const as = await ask(`there is no authorization server at ${issuer.href}`, undefined, async () => {
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...http })
    const named = response.status === 200 ? await memberOf(response, 'issuer') : undefined
    if (named === undefined || isSame(named, issuer))
      return ownMembers(await oauth.processDiscoveryResponse(issuer, response))
    throw new ClientError('ERR_RESPONSE', `the service at ${issuer.href} calls itself ${plain(named)}`)
  })
  for (const name of ENDPOINTS)
    if (as[name] !== undefined && !isSafeAddress(as[name], issuer)) throw wrong(name, issuer)
  return as
}

/** Makes the error for an endpoint with a wrong address. */
export function wrong(name: string, issuer: URL): ClientError {
  return new ClientError('ERR_RESPONSE', `the service at ${issuer.href} gives a wrong address as its ${name}`)
}

/** The option `issuer`. {@link readIssuer} checks the rest. */
export const ISSUER: Takes = {
  words: "an https address, such as 'https://git.example'",
  fits: (value) => typeof value === 'string',
}

/** Parses the option `issuer`. Without TLS others on the network could read the tokens, so `http` is allowed only on loopback. */
export function readIssuer(of: string, text: string): URL {
  const url = parseAddress(text)
  if (url === undefined || !isProtected(url, true))
    throw configurationError(
      `${of}: the option issuer must be an https address, or an http one on loopback; got ${came(text)}`,
    )
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text))
    throw configurationError(`${of}: the option issuer must have no user, no query and no fragment; got ${came(text)}`)
  return url
}

function isSame(text: string, issuer: URL): boolean {
  return !FORBIDDEN_IN_ADDRESS.test(text) && parseAddress(text)?.href === issuer.href
}

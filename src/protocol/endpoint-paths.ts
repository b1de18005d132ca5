/**
 * The paths of the endpoints.
 * @module
 * @see Specification, section 4; RFC 8414, section 3.1
 */

/** The paths of the endpoints, behind the issuer (specification, section 4). */
export const ENDPOINT_PATHS = {
  authorization: '/oauth2/auth',
  token: '/oauth2/token',
  revocation: '/oauth2/revoke',
  introspection: '/oauth2/introspect',
  deviceAuthorization: '/oauth2/device_authorization',
  device: '/oauth2/device',
  applications: '/oauth2/applications',
  registration: '/oauth2/register',
  stylesheet: '/oauth2/style.css',
  logo: '/oauth2/logo',
} as const

/** The well-known path, in front of the issuer's own path (RFC 8414, section 3.1). */
export const METADATA_PATH = '/.well-known/oauth-authorization-server'

/** The well-known path of OpenID Connect, in front of the issuer's own path or behind it (RFC 8414, section 5). */
export const OPENID_PATH = '/.well-known/openid-configuration'

/**
 * Where grants begin and users look after them: the endpoints that a browser meets, their pages, the one that gives a
 * device its codes, and the document in which a client finds them all. Loaded with the first request to one of them.
 * @module
 */
import { authorizationEndpoint } from './authorization-endpoint.js'
import { authorizedApplicationsEndpoint } from './authorized-applications.js'
import { deviceAuthorizationEndpoint } from './device-authorization-endpoint.js'
import { deviceEndpoint } from './device-endpoint.js'
import type { Grants } from './grants.js'
import type { PageSettings } from './interaction.js'
import { interactionOf } from './interaction.js'
import type { Refused, Settings } from './options.js'
import { defaultPages, stylesheet } from './pages/index.js'
import type { HttpRequest, HttpResponse } from './protocol/message.js'
import { metadataResponse } from './protocol/metadata.js'
import { documentResponse } from './protocol/page.js'
import type { Transactions } from './transactions.js'

/** What answers at each of its endpoints. */
export type FrontChannel<Native> = {
  readonly [Endpoint in
    | 'authorization'
    | 'deviceAuthorization'
    | 'device'
    | 'applications'
    | 'stylesheet'
    | 'metadata']: (request: HttpRequest<Native>) => HttpResponse | Promise<HttpResponse>
}

/** Binds the front channel to a server. */
export function frontChannelOf<Native>(
  given: Settings<Native>,
  transactions: Transactions,
  refused: Refused,
  grants: Grants,
): FrontChannel<Native> {
  const settings: PageSettings<Native> = { ...given, pages: { ...defaultPages, ...given.pages } }
  const interaction = interactionOf(settings, transactions, refused)
  const { issuer, scopes: catalogue, allowClientSecretPost: allowPost } = settings
  const metadata = metadataResponse(issuer, { catalogue, allowPost })
  const css = documentResponse('text/css;charset=UTF-8', stylesheet)
  return {
    authorization: authorizationEndpoint(settings, transactions, interaction, refused),
    deviceAuthorization: deviceAuthorizationEndpoint(settings, transactions, refused),
    device: deviceEndpoint(settings, transactions, interaction, refused),
    applications: authorizedApplicationsEndpoint(settings, transactions, interaction, grants),
    stylesheet: () => css,
    metadata: () => metadata,
  }
}

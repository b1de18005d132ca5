/**
 * The logos of applications, each at an address of its own, so that no page has one in it.
 *
 * An address names the application and its logo. The logo's name is random, and never gets other bytes. Anybody with the address of
 * a published application's logo gets it, since every user is shown it anyway. A logo that waits for an administrator, was refused
 * or was replaced is not served: the host reads it with `applications.logo`.
 * @module
 */

import { isPublished } from '../core/application/application.js'
import { isOAuthError } from '../core/errors.js'
import type { ClientId } from '../core/values.js'
import { parseClientId } from '../core/values.js'
import { logoOf } from '../management/logos.js'
import { ENDPOINT_PATHS } from '../protocol/endpoint-paths.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { EMPTY_HEADERS, errorResponse, queryOf } from '../protocol/message.js'
import { imageResponse } from '../protocol/pages/page.js'
import { parseParameters, valuesIn } from '../protocol/parameters.js'
import type { Settings } from '../shell/options/settings.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'
import { cacheLogos } from './logo/cache.js'

/** A logo that is asked for. */
interface Asked {
  readonly clientId: ClientId
  readonly logo: string
}

const NOT_FOUND: HttpResponse = { status: 404, headers: EMPTY_HEADERS, body: '' }

/** The logo of an application on a page: a path and query of this server. */
export interface LogoLink {
  readonly logo?: string
}

/** Makes the address of a published application's logo; nothing for one without a logo. */
export function logoLink(
  { issuerPath }: Pick<Settings<never>, 'issuerPath'>,
  { clientId, logo }: { readonly clientId: string; readonly logo: string },
): LogoLink {
  if (logo === '') return {}
  return { logo: `${issuerPath}${ENDPOINT_PATHS.logo}?client_id=${encodeURIComponent(clientId)}&logo=${logo}` }
}

/** Makes the endpoint of the logos. */
export function logoEndpoint(
  { clientKeyOf }: Settings<never>,
  transactions: Transactions,
): (request: HttpRequest) => Promise<HttpResponse<string | Uint8Array>> {
  const findLogo = cacheLogos(async (name) => {
    const found = await transactions.read([keys.logo(name)])
    return isOAuthError(found) ? found : logoOf(recordAs.logo(found[0]?.value))
  })

  return async (request) => {
    const asked = parseAddress(request)
    if (asked === undefined) return NOT_FOUND
    const records = await transactions.read([keys.application(clientKeyOf(asked.clientId))])
    if (isOAuthError(records)) return errorResponse(records)
    const application = recordAs.application(records[0]?.value)
    if (!isPublished(application) || application.clientId !== asked.clientId || application.logo !== asked.logo)
      return NOT_FOUND
    const logo = await findLogo(asked.logo)
    if (logo === undefined) return NOT_FOUND
    return 'bytes' in logo ? imageResponse(logo.type, logo.bytes) : errorResponse(logo)
  }
}

/** Parses the address of a logo; undefined for anything else. */
function parseAddress({ url }: HttpRequest): Asked | undefined {
  const parameters = parseParameters(queryOf(url))
  const asked = isOAuthError(parameters) ? parameters : valuesIn(parameters, ['client_id', 'logo'])
  if (isOAuthError(asked) || asked.logo === undefined) return undefined
  const clientId = parseClientId(asked.client_id ?? '')
  return clientId === undefined ? undefined : { clientId, logo: asked.logo }
}

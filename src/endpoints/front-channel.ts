/**
 * Where grants begin and users look after them: the endpoints that a browser meets, their pages, the one that gives a
 * device its codes, and the document in which a client finds them all. Loaded with the first request to one of them.
 * @module
 */

import type { Takes } from '../core/takes.js'
import type { Grants } from '../management/grants.js'
import type { Pages } from '../pages/index.js'
import { defaultPages, stylesheet } from '../pages/index.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { metadataResponse } from '../protocol/metadata.js'
import { documentResponse } from '../protocol/pages/page.js'
import { checkedAnswer } from '../shell/host.js'
import type { Refused, Settings } from '../shell/options.js'
import type { Transactions } from '../shell/transactions.js'
import { authorizedApplicationsEndpoint } from './applications-page.js'
import { authorizationEndpoint } from './authorization.js'
import { deviceAuthorizationEndpoint } from './device-authorization.js'
import { deviceEndpoint } from './device-page.js'
import type { PageSettings } from './interaction.js'
import { interactionOf } from './interaction.js'
import { logoEndpoint } from './logo.js'

/** What answers at each of its endpoints. */
export type FrontChannel<Native> = {
  readonly [Endpoint in
    | 'authorization'
    | 'deviceAuthorization'
    | 'device'
    | 'applications'
    | 'stylesheet'
    | 'logo'
    | 'metadata']: (
    request: HttpRequest<Native>,
  ) => HttpResponse<string | Uint8Array> | Promise<HttpResponse<string | Uint8Array>>
}

const HTML: Takes = { words: 'a string of HTML, at once', fits: (value) => typeof value === 'string', secret: true }

/** The pages of the host, each of which must give HTML. An error page that fails is no reason to show nothing: ours stands in. */
function checkedPages({ pages, onError }: Pick<Settings<never>, 'pages' | 'onError'>): Pages {
  const { error } = pages
  const checked: Pages = {
    consent: checkedPage('consent', pages.consent ?? defaultPages.consent),
    error: checkedPage('error', error ?? defaultPages.error),
    device: checkedPage('device', pages.device ?? defaultPages.device),
    deviceResult: checkedPage('deviceResult', pages.deviceResult ?? defaultPages.deviceResult),
    authorizedApplications: checkedPage(
      'authorizedApplications',
      pages.authorizedApplications ?? defaultPages.authorizedApplications,
    ),
  }
  if (error === undefined) return checked
  return {
    ...checked,
    error: (model) => {
      try {
        // A copy, since what it does with it must not keep ours from being shown.
        return checked.error(structuredClone(model))
      } catch (failure) {
        onError(failure)
        return defaultPages.error(model)
      }
    },
  }
}

function checkedPage<Model>(name: keyof Pages, page: (model: Model) => string): (model: Model) => string {
  return (model) => checkedAnswer(`pages.${name}()`, HTML, page(model))
}

/** Binds the front channel to a server. */
export function frontChannelOf<Native>(
  given: Settings<Native>,
  transactions: Transactions,
  refused: Refused,
  grants: Grants,
): FrontChannel<Native> {
  const settings: PageSettings<Native> = { ...given, pages: checkedPages(given) }
  const interaction = interactionOf(settings, refused)
  const { issuer, scopes: catalogue, allowClientSecretPost: allowPost, digests } = settings
  const metadata = metadataResponse(issuer, { catalogue, allowPost })
  const css = documentResponse('text/css;charset=UTF-8', stylesheet)
  return {
    authorization: authorizationEndpoint(settings, transactions, interaction, refused),
    deviceAuthorization: deviceAuthorizationEndpoint(settings, transactions, refused),
    device: deviceEndpoint(settings, transactions, interaction, refused),
    applications: authorizedApplicationsEndpoint(settings, transactions, interaction, grants),
    stylesheet: () => css,
    logo: logoEndpoint(digests, transactions),
    metadata: () => metadata,
  }
}

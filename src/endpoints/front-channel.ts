/**
 * The endpoints that a browser meets, the one that gives a device its codes, and the metadata. They are loaded after the start.
 * @module
 */
import { stylesheetOf } from '../pages/appearance/stylesheet.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { documentResponse } from '../protocol/pages/page.js'
import type { Internals } from '../shell/internals.js'
import { applicationsPageEndpoint } from './applications-page.js'
import { authorizationEndpoint } from './authorization.js'
import { deviceAuthorizationEndpoint } from './device-authorization.js'
import { devicePageEndpoint } from './device-page.js'
import { createPageContext } from './interaction/context.js'
import { logoEndpoint } from './logo.js'
import { metadataEndpoint, resourceMetadataEndpoint } from './metadata.js'

/** The endpoints, each with the function that answers there. */
export type FrontChannel<Native> = {
  readonly [Endpoint in
    | 'authorization'
    | 'deviceAuthorization'
    | 'device'
    | 'applications'
    | 'stylesheet'
    | 'logo'
    | 'metadata'
    | 'resourceMetadata']: (
    request: HttpRequest<Native>,
  ) => HttpResponse<string | Uint8Array> | Promise<HttpResponse<string | Uint8Array>>
}

/** Makes the front channel of a server. */
export function createFrontChannel<Native>(internals: Internals<Native>): FrontChannel<Native> {
  const { settings } = internals
  const context = createPageContext(internals)
  const css = documentResponse('text/css;charset=UTF-8', stylesheetOf(context.appearance))
  return {
    authorization: authorizationEndpoint(context),
    deviceAuthorization: deviceAuthorizationEndpoint(internals),
    device: devicePageEndpoint(context),
    applications: applicationsPageEndpoint(context),
    stylesheet: () => css,
    logo: logoEndpoint(settings, context.transactions),
    metadata: metadataEndpoint(settings),
    resourceMetadata: resourceMetadataEndpoint(settings),
  }
}

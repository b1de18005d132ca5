/**
 * The table of routes: the paths of a server, and the endpoint that answers each.
 * @module
 */

import type { BackChannel } from './endpoints/back-channel.js'
import type { FrontChannel } from './endpoints/front-channel.js'
import { resourceMetadataPath, resourcesAt } from './protocol/audiences/resource-metadata.js'
import { ENDPOINT_PATHS, METADATA_PATH, OPENID_PATH } from './protocol/endpoint-paths.js'
import type { HttpRequest, HttpResponse } from './protocol/message.js'
import type { RefusedEvent } from './shell/audit.js'
import type { Internals } from './shell/internals.js'
import { lazy } from './shell/lazy.js'
import type { MaybePromise } from './shell/maybe-promise.js'
import { andThen } from './shell/maybe-promise.js'

/** Answers the requests to a route. */
type Answer<Native> = (request: HttpRequest<Native>) => MaybePromise<HttpResponse<string | Uint8Array>>

/** A path of the server. */
export interface Route<Native> {
  /** The name in the audit trail; absent for documents. */
  readonly endpoint?: RefusedEvent['endpoint']
  readonly methods: readonly string[]
  /** True if pages of other origins may call it, and so ask beforehand. */
  readonly cors: boolean
  readonly answer: Answer<Native>
}

const GET = ['GET', 'HEAD'] as const
const POST = ['POST'] as const
const PAGE = ['GET', 'HEAD', 'POST'] as const
const REGISTRATION = ['GET', 'POST', 'DELETE'] as const

/** Creates the table of routes. The code of the endpoints is loaded after the start. */
export function createRoutes<Native>(internals: Internals<Native>): ReadonlyMap<string, Route<Native>> {
  const { settings } = internals
  const backChannel = lazy(async () => {
    const { createBackChannel } = await import('./endpoints/back-channel.js')
    return createBackChannel(internals)
  })
  const frontChannel = lazy(async () => {
    const { createFrontChannel } = await import('./endpoints/front-channel.js')
    return createFrontChannel(internals)
  })
  const back = (name: keyof BackChannel<Native>): Answer<Native> => answerOf(backChannel, name)
  const front = (name: keyof FrontChannel<Native>): Answer<Native> => answerOf(frontChannel, name)
  const { mountPath, issuerPath, openidConfiguration } = settings
  const cors = settings.corsOrigins !== false
  const at = (name: keyof typeof ENDPOINT_PATHS): string => mountPath + ENDPOINT_PATHS[name]
  // The second is for a server that only gets the requests under its mount path.
  const documents = (path: string): readonly string[] => [path + issuerPath, mountPath + path]
  const metadata = [...documents(METADATA_PATH), ...(openidConfiguration ? documents(OPENID_PATH) : [])]
  return new Map<string, Route<Native>>([
    [at('token'), { endpoint: 'token', methods: POST, cors, answer: back('token') }],
    [at('revocation'), { endpoint: 'revocation', methods: POST, cors, answer: back('revocation') }],
    [at('introspection'), { endpoint: 'introspection', methods: POST, cors: false, answer: back('introspection') }],
    [at('authorization'), { endpoint: 'authorization', methods: PAGE, cors: false, answer: front('authorization') }],
    [
      at('deviceAuthorization'),
      { endpoint: 'device_authorization', methods: POST, cors, answer: front('deviceAuthorization') },
    ],
    [at('device'), { endpoint: 'device', methods: PAGE, cors: false, answer: front('device') }],
    [at('applications'), { endpoint: 'applications', methods: PAGE, cors: false, answer: front('applications') }],
    ...(settings.clientPolicy === undefined
      ? []
      : [
          [
            at('registration'),
            { endpoint: 'registration', methods: REGISTRATION, cors, answer: back('registration') },
          ] as const,
        ]),
    [at('stylesheet'), { methods: GET, cors: false, answer: front('stylesheet') }],
    [at('logo'), { methods: GET, cors: false, answer: front('logo') }],
    ...metadata.map((path) => [path, { methods: GET, cors, answer: front('metadata') }] as const),
    ...resourcesAt(settings).map(
      ({ resource }) =>
        [resourceMetadataPath(resource), { methods: GET, cors, answer: front('resourceMetadata') }] as const,
    ),
  ])
}

/** Returns the answer of one endpoint of a channel, which may still be loading. */
function answerOf<Native, Endpoint extends string>(
  channel: () => MaybePromise<Readonly<Record<Endpoint, Answer<Native>>>>,
  name: Endpoint,
): Answer<Native> {
  return (request) => andThen(channel(), (endpoints) => endpoints[name](request))
}

/**
 * The console: its options, and the way from a request to its page.
 * @module
 */
import { configurationError } from '../core/errors.js'
import { checkArgument, readOptions } from '../core/options.js'
import type { Takes, TakesOf } from '../core/takes.js'
import { FUNCTION, isObject } from '../core/takes.js'
import { createPageContext } from '../endpoints/interaction/context.js'
import { originForm, pathOf } from '../protocol/message.js'
import type { AuthorizationServer, HttpHandler } from '../server.js'
import type { Internals, WithInternals } from '../shell/internals.js'
import { INTERNALS } from '../shell/internals.js'
import type { ConsoleOptions } from './options.js'
import { answerRequest } from './routes.js'
import type { ConsoleContext } from './visit.js'

const PLACE = 'createConsole'

const TAKES: TakesOf<ConsoleOptions<never>> = {
  applicant: FUNCTION,
  administrator: FUNCTION,
  path: {
    words: "a path such as '/oauth2/console', without a slash at its end",
    fits: (value) => typeof value === 'string' && /^(?:\/[\w.~-]+)+$/.test(value),
  },
}

const SERVER: Takes = {
  words: 'a server of createAuthorizationServer()',
  fits: (value) => isObject(value) && INTERNALS in value,
}

/** Maximum number of bytes of a form: a logo of 1 MiB in base64, beside the fields. */
const BODY_LIMIT = 4 * 1024 * 1024

/**
 * Creates the console of a server: pages on which applicants hand in applications and follow them, and administrators decide on them. It
 * is put on a platform as the server is, by `createNodeHandler` or `createFetchHandler`. Whatever somebody does there is in the audit
 * trail of the server, with the `subject` of who did it as `actor`.
 * @param server - a server of `createAuthorizationServer`, whose languages, look, store and sign-in the console shares
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown or wrong option, anything but a server, or a path of the server
 * @example
 * ```ts
 * const console = createConsole(server, { administrator: (request) => sessions.administratorOf(request.native) })
 * app.use(createNodeHandler(server))
 * app.use(createNodeHandler(console))
 * ```
 */
export function createConsole<Native>(
  server: AuthorizationServer<Native>,
  options: ConsoleOptions<Native> = {},
): HttpHandler<Native> {
  checkArgument(PLACE, 'server', SERVER, server)
  const internals = internalsOf(server)
  const { settings } = internals
  const own = readOptions<ConsoleOptions<Native>>(PLACE, options, TAKES)
  const { applicant = settings.user, administrator, path = '/oauth2/console' } = own
  const root = settings.mountPath + path
  if (server.owns(root))
    throw configurationError(`${PLACE}: the option path must not be a path of the server; got ${path}`)
  const console: ConsoleContext<Native> = {
    pages: createPageContext(internals),
    applications: server.applications,
    grants: server.grants,
    applicant,
    administrator,
    base: settings.issuerPath + path,
    address: settings.issuer + path,
  }
  /** Returns the part of a path behind that of the console, without a slash in front; undefined for a path of somebody else. */
  const placeOf = (whole: string): string | undefined => {
    if (whole === root) return ''
    return whole.startsWith(`${root}/`) ? whole.slice(root.length + 1) : undefined
  }
  return {
    bodyLimit: BODY_LIMIT,
    owns: (url) => placeOf(pathOf(originForm(url))) !== undefined,
    handle: (request) => {
      const place = placeOf(pathOf(request.url))
      return place === undefined ? undefined : answerRequest(console, request, place)
    },
  }
}

function internalsOf<Native>(server: AuthorizationServer<Native>): Internals<Native> {
  return (server as AuthorizationServer<Native> & WithInternals<Native>)[INTERNALS] // checked by its caller
}

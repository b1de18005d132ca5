/**
 * A service in this process, for what the demo cannot show: another user, another time, names that attack the page.
 * @module
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AuthorizationServer, AuthorizationServerOptions, RecordStore, User } from 'grantwell'
import { createAuthorizationServer, scopeCatalogue } from 'grantwell'
import { createNodeHandler, nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { CHALLENGE, registration, START, WEB } from '../support.js'

/** What would show, in the title of the page, that a value became more than text. */
export const HOSTILE = '"><script>document.title="ran"</script>'
const HOSTILE_IMAGE = `'"><img src=x onerror='document.title="ran"'><b>&lt;`

export interface Service {
  readonly origin: string
  readonly server: AuthorizationServer<IncomingMessage>
  readonly session: { user: User | undefined }
  readonly clock: { now: number }
  /** Every path and query that was asked for. */
  readonly asked: readonly string[]
  readonly close: () => void
  /** An authorization request of the application `sample`. */
  readonly authorizationUrl: (parameters?: Record<string, string>) => string
}

/** Options of the service: how far away its store is, and what stands in place of its own functions. */
type ServiceOptions = { readonly delay?: number } & Partial<
  Pick<
    AuthorizationServerOptions<IncomingMessage>,
    'signInUrl' | 'resources' | 'openidConfiguration' | 'accessTokenLifetime' | 'corsOrigins'
  >
>

/**
 * Opens the service.
 * @param options.delay - milliseconds that each operation of the store takes; 0 by default
 *
 * Every path but the server's own answers with its method and URL. */
export async function openService({ delay = 0, ...options }: ServiceOptions = {}): Promise<Service> {
  const http = createServer().listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo // a port, for it listens on TCP
  const origin = `http://127.0.0.1:${port}`
  const session: Service['session'] = { user: { subject: 'ada', name: `Ada ${HOSTILE}` } }
  const clock = { now: START }
  const store = memoryStore({ clock: () => clock.now })
  const server = createAuthorizationServer<IncomingMessage>({
    issuer: origin,
    store: delay === 0 ? store : slow(store, delay),
    digests: nodeDigests,
    user: () => session.user,
    signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
    resources: () => [{ id: `1 ${HOSTILE}`, name: `One ${HOSTILE_IMAGE}` }],
    scopes: scopeCatalogue([
      { name: 'wiki', permissions: ['r', 'rw'], description: `Wiki ${HOSTILE}` },
      { name: 'mail', permissions: ['r'], description: `Mail ${HOSTILE_IMAGE}` },
      { name: 'ruin', permissions: ['rw'], description: 'Everything' },
    ]),
    clock: () => clock.now,
    ...options,
  })
  const sound = registration({
    name: HOSTILE,
    description: HOSTILE_IMAGE,
    website: `https://app.example/${HOSTILE}`,
    redirectUris: ['http://127.0.0.1/callback', 'http://127.0.0.1/other'],
    scopes: ['wiki:rw', 'mail:r'],
  })
  for (const clientId of ['sample', 'another']) await server.applications.register(sound, { ...WEB, clientId })
  const handle = createNodeHandler(server)
  const asked: string[] = []
  http.on('request', (request: IncomingMessage, response) => {
    asked.push(request.url ?? '')
    handle(request, response, () => {
      response.writeHead(200, { 'Content-Type': 'text/plain' }).end(`${request.method} ${request.url}`)
    })
  })
  return {
    origin,
    server,
    session,
    clock,
    asked,
    close: () => {
      http.closeAllConnections()
      http.close()
    },
    authorizationUrl: (parameters = {}) => {
      const all = {
        response_type: 'code',
        client_id: 'sample',
        redirect_uri: `${origin}/callback`,
        scope: 'wiki:r mail:r',
        state: HOSTILE,
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
        ...parameters,
      }
      return `${origin}/oauth2/auth?${new URLSearchParams(all)}`
    },
  }
}

/** A store that is so many milliseconds away. */
function slow(store: RecordStore, delay: number): RecordStore {
  const away = () => new Promise((resolve) => setTimeout(resolve, delay))
  return {
    read: async (...read) => {
      await away()
      return store.read(...read)
    },
    write: async (...write) => {
      await away()
      return store.write(...write)
    },
    list: async (...list) => {
      await away()
      return store.list(...list)
    },
  }
}

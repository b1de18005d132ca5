/**
 * A wiring: a server, its store, its clock and two clients, seen from outside. `lifecycle` tests one, and `wire` makes one in
 * this process.
 * @module
 */
import type { GrantwellError } from '../core/errors.js'
import type { AuthorizationServer } from '../server.js'
import { createAuthorizationServer } from '../server.js'
import type { AuthorizationServerOptions } from '../shell/options.js'
import type { RecordStore } from '../storage/record-store.js'
import { checkedOptions, FUNCTION, OBJECT, TEXT } from './options.js'
import { seededEntropy } from './seeded-entropy.js'
import type { VirtualClock } from './virtual-clock.js'

/** A request to a server. */
export interface LifecycleRequest {
  /** The method, in upper case. */
  readonly method: 'GET' | 'POST'
  /** Path and query. */
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** A form; absent for a GET. */
  readonly body?: string
}

/** An answer of a server. */
export interface LifecycleResponse {
  /** The status code. */
  readonly status: number
  /** Names in any case; a list where a header came more than once. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body as text. */
  readonly body: string
}

/** An application that is registered and approved. */
export interface LifecycleClient {
  /** The client identifier. */
  readonly clientId: string
  /** Absent for a public client. */
  readonly clientSecret?: string
  /** A redirect URI of its own. */
  readonly redirectUri: string
  /** Values of its parameter `scope`: first all scopes that it is registered for, then narrower ones. */
  readonly scopes: readonly [string, ...string[]]
}

/** A server with its store and its clock, seen from outside. */
export interface LifecycleWiring {
  /** The clock that the server and its store run on. */
  readonly clock: VirtualClock
  /** Sends a request to the server, in process or over HTTP; follows no redirect. */
  readonly send: (request: LifecycleRequest) => Promise<LifecycleResponse>
  /**
   * Asks the guard of an API route about an access token. Resolves to its scopes, or to undefined for one that it refuses.
   * @param audience - the protected resource that the route belongs to, one of `audiences`; undefined for none
   */
  readonly validate: (
    accessToken: string,
    audience?: string,
  ) => Promise<{ readonly scopes: readonly string[] } | undefined>
  /**
   * Two protected resources that the server declares, with all scopes of the client: then grants and tokens are tried that are limited
   * to them (RFC 8707). None by default.
   */
  readonly audiences?: readonly [string, string]
  /** The client that gets the tokens. */
  readonly client: LifecycleClient
  /** Another client, which must not be able to use them. */
  readonly other: LifecycleClient
  /** Headers of a browser in which a user is signed in, names in lower case; none by default. */
  readonly browser?: Readonly<Record<string, string>>
  /** Errors inside the server, if the wiring records them; they go into the report of a failure. */
  readonly errors?: readonly unknown[]
  /** Ends the wiring after a run. */
  readonly close?: () => void | Promise<void>
}

/** Options of {@link wire}. */
export interface WireOptions {
  /** The store; a new one for every wiring, since records of before make a run differ from others of its seed. */
  readonly store: RecordStore
  /** The clock that the store runs on. */
  readonly clock: VirtualClock
  /**
   * Makes the server from the options of `wire`; `createAuthorizationServer` by default. Options can be added here:
   * `(options) => createAuthorizationServer({ ...options, gracePeriod: 60 })`.
   */
  readonly createServer?: (options: AuthorizationServerOptions) => AuthorizationServer
  /** The origin under which the server listens, where it does; `https://git.example` by default. */
  readonly issuer?: string
}

/** A wiring in this process. */
export interface Wired extends LifecycleWiring {
  /** The server. */
  readonly server: AuthorizationServer
  /** Errors inside the server so far, as its `onError` got them; empty if nothing failed. */
  readonly errors: readonly unknown[]
}

/** A PNG of one pixel. */
const LOGO = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)

/** The protected resources that the server declares, which know every scope. */
const AUDIENCES = ['https://git.example/mcp', 'https://ci.example'] as const

const SCOPES = [
  'repo-code:rw account-profile:r',
  'repo-code:r account-profile:r',
  'account-profile:r',
  'repo-code:r',
] as const

/**
 * Makes a server in this process over any store, registers two applications and signs a user in. Its entropy comes of a
 * seed, so that the same requests get the same answers.
 * @throws GrantwellError `ERR_CONFIGURATION` for a wrong option; those of the registration, such as `ERR_STORE` if the store fails
 * @example
 * ```ts
 * const clock = virtualClock()
 * const wiring = await wire({ store: memoryStore({ clock }), clock })
 * ```
 */
export async function wire(options: WireOptions): Promise<Wired> {
  const own = checkedOptions('wire', options, TAKES)
  const { store, clock, createServer = createAuthorizationServer, issuer = 'https://git.example' } = own
  const errors: unknown[] = []
  const make = (seed: number): AuthorizationServer =>
    createServer({
      issuer,
      store,
      clock,
      audiences: AUDIENCES.map((resource) => ({ resource, name: resource })),
      entropy: seededEntropy(seed),
      user: () => ({ subject: 'ada', name: 'Ada' }),
      signInUrl: () => '/sign-in',
      onError: (error) => errors.push(error),
    })
  const name = 'lifecycle'
  try {
    return await registered(make(1), name)
  } catch (error) {
    if (!(error instanceof Error) || !isTaken(error)) throw error
    // Somebody was here before: with the same entropy every grant would collide with one of theirs.
    const [seed = 0] = globalThis.crypto.getRandomValues(new Uint32Array(1))
    return registered(make(seed), `${name}-${seed}`)
  }

  async function registered(server: AuthorizationServer, clientId: string): Promise<Wired> {
    const client = await register(server, clientId, 'https://app.example/callback')
    const other = await register(server, `${clientId}-other`, 'https://other.example/callback')
    return {
      server,
      clock,
      client,
      other,
      errors,
      audiences: AUDIENCES,
      send: async ({ method, url, headers, body }) => {
        const text = body === undefined ? {} : { body: { type: 'text', text: body } as const }
        const response = await server.handle({ method, url, headers, ...text, native: undefined })
        if (response === undefined) throw new Error(`not a path of the server: ${url}`)
        return { ...response, body: String(response.body) } // only images are bytes
      },
      validate: async (accessToken, audience) => {
        const request = { headers: { authorization: `Bearer ${accessToken}` } }
        const found = await server.authenticate(request, audience === undefined ? {} : { audience })
        return found.type === 'authenticated' ? { scopes: found.scopes } : undefined
      },
    }
  }
}

const TAKES = { store: OBJECT, clock: FUNCTION, createServer: FUNCTION, issuer: TEXT }

async function register(server: AuthorizationServer, clientId: string, redirectUri: string): Promise<LifecycleClient> {
  const clientSecret = `a-secret-of-${clientId}-and-nobody-else`
  await server.applications.register(
    {
      name: clientId,
      logo: LOGO,
      website: new URL(redirectUri).origin,
      type: 'confidential',
      redirectUris: [redirectUri],
      scopes: SCOPES[0].split(' '),
      resourceScope: 'all',
    },
    { clientId, clientSecret },
  )
  return { clientId, clientSecret, redirectUri, scopes: SCOPES }
}

/** Checks the code, since the class is another one in a build of another kind. */
function isTaken(error: Error): boolean {
  return 'code' in error && error.code === ('ERR_CLIENT_EXISTS' satisfies GrantwellError['code'])
}

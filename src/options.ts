/**
 * What a host tells the server, checked once.
 * @module
 */
import type { ApplicationEvent } from './core/application.js'
import type { Digests } from './core/digests.js'
import { portableDigests } from './core/digests.js'
import type { OAuthErrorCode, RefusalReason } from './core/errors.js'
import { GrantwellError } from './core/errors.js'
import type { GrantEvent, GrantRules } from './core/grant.js'
import type { RedirectRules } from './core/redirect-uri.js'
import type { ScopeCatalogue } from './core/scopes.js'
import { serviceScopes } from './core/scopes.js'
import type { Seconds, Subject } from './core/values.js'
import type { Pages } from './pages/index.js'
import type { HttpRequest } from './protocol/message.js'
import type { RecordStore } from './storage/record-store.js'

/** Somebody who is signed in at the host. */
export interface User {
  /** The host's own identifier: a non-empty string that stays the same for ever. */
  readonly subject: Subject
  /** Shown on the consent page; the subject by default. */
  readonly name?: string | undefined
}

/** A resource that a user can specify on the consent page. */
export interface SpecifiedResource {
  /** The host's own identifier; what the guard reports. */
  readonly id: string
  /** Shown to the user; the identifier by default. */
  readonly name?: string | undefined
}

/** A request that was refused, for the audit trail. */
export interface RefusedEvent {
  readonly type: 'refused'
  readonly at: Seconds
  readonly endpoint:
    | 'authorization'
    | 'token'
    | 'revocation'
    | 'introspection'
    | 'device_authorization'
    | 'device'
    | 'applications'
    | 'api'
  /** What the client was told; absent where it was told nothing (a revocation that changed nothing). */
  readonly error?: OAuthErrorCode
  /** Why, as the client was not told. */
  readonly reason: RefusalReason
  /** The application; absent where the request did not get so far, where there is none, or where the store could not tell. */
  readonly clientId?: string
  /** The user, where a user code was refused. */
  readonly subject?: Subject
}

/** Tells the audit trail of a refusal. */
export type Refused = (
  endpoint: RefusedEvent['endpoint'],
  reason: RefusalReason,
  error?: OAuthErrorCode,
  clientId?: string,
  subject?: Subject,
) => void

/** One entry of the audit trail. Holds no secret, so it may be kept. */
export type AuditEvent = GrantEvent | ApplicationEvent | RefusedEvent

/** Somebody who types a user code. */
export interface UserCodeAttempt {
  readonly subject: Subject
  /** Of the user's browser, as the option `remoteAddress` tells it. */
  readonly address: string | undefined
}

/** Options of `createAuthorizationServer`. */
export interface AuthorizationServerOptions<Native = unknown> {
  /** The base address of the service, `https://host` or `https://host/path`, as clients know it; without a slash at its end. */
  readonly issuer: string
  /** Where records are kept; `memoryStore()` of `grantwell/storage/memory` for one process. */
  readonly store: RecordStore
  /** Who is signed in; undefined or null when nobody is. `request.native` is what the adapter got, with the host's session. */
  readonly user: (request: HttpRequest<Native>) => User | null | undefined | Promise<User | null | undefined>
  /** Where to sign in: a path or URL that sends the browser to `returnTo` afterwards, a whole URL that begins with the issuer. */
  readonly signInUrl: (returnTo: string) => string
  /** What a user can specify on the consent page; nothing by default, and then "specified" is not offered. */
  readonly resources?: (user: User) => readonly SpecifiedResource[] | Promise<readonly SpecifiedResource[]>
  /** The scopes of the service; those of the specification by default. */
  readonly scopes?: ScopeCatalogue

  /** Seconds; 600 by default. */
  readonly codeLifetime?: Seconds
  /** Seconds; 28,800 (8 hours) by default. */
  readonly accessTokenLifetime?: Seconds
  /** Seconds; 15,552,000 (180 days) by default. */
  readonly refreshTokenLifetime?: Seconds
  /** Seconds that both old tokens work on after a refresh; 300 by default. */
  readonly gracePeriod?: Seconds
  /** Seconds that a user may take to read the consent page; 600 by default. */
  readonly consentLifetime?: Seconds
  /** Seconds that a device waits for its user; 600 by default. */
  readonly deviceCodeLifetime?: Seconds
  /** Seconds between two polls of a device; 5 by default. */
  readonly devicePollingInterval?: Seconds
  /**
   * Limits how often user codes can be guessed: counts an attempt, and says how many seconds it is too soon, 0 to let it
   * pass. By default, kept in the store: 10 at once and one a minute more for each user, five times as many for each address.
   */
  readonly userCodeLimiter?: (attempt: UserCodeAttempt) => Seconds | Promise<Seconds>
  /**
   * The IP address that a request of a browser comes from, without a port; by default what Node's socket says, which behind
   * a proxy is the proxy. Undefined or null where nobody knows: then the limit on user codes holds for each user alone.
   */
  readonly remoteAddress?: (request: HttpRequest<Native>) => string | null | undefined

  /** A refresh token that comes back after its grace revokes its grant, the default, or is only refused. */
  readonly refreshReplay?: 'revoke' | 'refuse'
  /** Ask for consent every time, the default, or only where no live grant of the user to that confidential client has as much. */
  readonly consent?: 'always' | 'once'
  /** Redirect URIs anywhere in the authorized domain, the default, or exactly the registered ones. */
  readonly redirectMatching?: 'domain' | 'exact'
  /** Admit `http://localhost` beside `127.0.0.1` and `[::1]` as a redirect URI on loopback; false by default. */
  readonly allowLocalhost?: boolean
  /** Demand PKCE of confidential clients too; false by default. Public ones always need it. */
  readonly requirePkce?: boolean
  /** Admit the client secret in the body at the token endpoint; false by default. */
  readonly allowClientSecretPost?: boolean
  /** At least 32 random bytes, the same on every server over one store, mixed into what a refresh derives and into the digests of user codes: a copy of the store and an old token together then yield nothing. None by default. */
  readonly derivationKey?: Uint8Array
  /**
   * Give applications that are registered for it tokens of the type `mac`, of which every use is signed, and take no others from
   * them (specification, section 5.2; draft-ietf-oauth-v2-http-mac-01); false by default. Needs `derivationKey`, of which their
   * keys are derived. What it is for: API calls that are not protected by TLS all the way; their bodies and answers are not signed.
   */
  readonly macTokens?: boolean
  /** Seconds that the clock of a client that signs may differ, and that its request may take; 300 by default, a day at most. */
  readonly macWindow?: Seconds
  /**
   * Seconds that a resource server may go on with an answer of introspection, in its `Cache-Control`: a revocation takes as long to
   * reach it. 0 by default: it asks every time (RFC 7662, section 4). A day at most.
   */
  readonly introspectionMaxAge?: Seconds
  /** Bytes of a request's body; 65,536 by default. */
  readonly bodyLimit?: number
  /** The path in front of `/oauth2/...` in the requests that arrive; the issuer's path by default. Differs where a proxy or a fetch-style router strips it; Express and connect keep the whole path beside the stripped one, and need nothing. */
  readonly mountPath?: string
  /** Pages that replace the default ones; they are served under the same headers, so without scripts and inline styles. */
  readonly pages?: Partial<Pages>

  /** Told of everything that happened, after it is stored. What it throws goes to `onError`. */
  readonly onEvent?: (event: AuditEvent) => void
  /** Told what went wrong in the store or in a function of the host, which no client is; `console.error` by default. */
  readonly onError?: (error: unknown) => void
  /** Seconds since the epoch; the system's clock by default. */
  readonly clock?: () => Seconds
  /** So many random bytes, fresh and unpredictable; the platform's by default. */
  readonly entropy?: (length: number) => Uint8Array
  /** The digest functions; `nodeDigests` of `grantwell/node` are faster there, with the same results. */
  readonly digests?: Digests
  /** Admit an `http` issuer off loopback, where every token can be read on the wire, and where who can plant a cookie can answer a consent page; false by default. */
  readonly allowInsecureIssuer?: boolean
}

/** The options with every default in its place. */
export type Settings<Native> = Required<
  Omit<AuthorizationServerOptions<Native>, 'derivationKey' | 'resources' | 'pages' | 'userCodeLimiter'>
> & {
  readonly userCodeLimiter: AuthorizationServerOptions<Native>['userCodeLimiter'] | undefined
  readonly resources: AuthorizationServerOptions<Native>['resources'] | undefined
  /** Those of the host alone: the others are loaded with the first of them that is shown. */
  readonly pages: Partial<Pages>
  readonly rules: GrantRules
  readonly redirect: RedirectRules
  /** The issuer's own path, without a slash at its end. */
  readonly issuerPath: string
}

/** The names of the pages, without the pages. */
const PAGES: { readonly [Name in keyof Pages]: true } = {
  consent: true,
  error: true,
  device: true,
  deviceResult: true,
  authorizedApplications: true,
}

const OPTIONS: { readonly [Name in keyof Required<AuthorizationServerOptions>]: (value: unknown) => boolean } = {
  issuer: (value) => typeof value === 'string',
  store: (value) => hasFunctions(value, ['read', 'write', 'list']),
  user: isFunction,
  signInUrl: isFunction,
  resources: isFunction,
  scopes: (value) => typeof value === 'object' && value !== null && 'entries' in value && value.entries instanceof Map,
  codeLifetime: isPositive,
  accessTokenLifetime: isPositive,
  refreshTokenLifetime: isPositive,
  gracePeriod: isWhole,
  consentLifetime: isPositive,
  deviceCodeLifetime: isPositive,
  devicePollingInterval: isPositive,
  userCodeLimiter: isFunction,
  remoteAddress: isFunction,
  refreshReplay: (value) => value === 'revoke' || value === 'refuse',
  consent: (value) => value === 'always' || value === 'once',
  redirectMatching: (value) => value === 'domain' || value === 'exact',
  allowLocalhost: isBoolean,
  requirePkce: isBoolean,
  allowClientSecretPost: isBoolean,
  derivationKey: (value) => value instanceof Uint8Array && value.length >= 32,
  macTokens: isBoolean,
  macWindow: (value) => isPositive(value) && isWithinDay(value),
  introspectionMaxAge: (value) => isWhole(value) && isWithinDay(value),
  bodyLimit: isPositive,
  mountPath: (value) => typeof value === 'string' && /^(?:\/[^/?#]+)*$/.test(value),
  pages: (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).every(([name, page]) => Object.hasOwn(PAGES, name) && isFunction(page)),
  onEvent: isFunction,
  onError: isFunction,
  clock: isFunction,
  entropy: isFunction,
  digests: (value) => hasFunctions(value, ['sha256', 'hmacSha256']),
  allowInsecureIssuer: isBoolean,
}

/**
 * Checks the options and fills in the defaults.
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown, missing or wrong option
 */
export function resolveOptions<Native>(options: AuthorizationServerOptions<Native>): Settings<Native> {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  for (const [name, value] of Object.entries(given)) {
    if (!isOptionName(name)) throw mistake(`unknown option: ${name}`)
    if (!OPTIONS[name](value)) throw mistake(`not a valid value of the option ${name}`)
  }
  for (const name of ['issuer', 'store', 'user', 'signInUrl']) {
    if (!Object.hasOwn(given, name)) throw mistake(`the option ${name} is missing`)
  }
  // Own properties alone, each checked above, so that a polluted prototype changes nothing.
  const own = Object.assign(Object.create(null), given) as AuthorizationServerOptions<Native>
  if (own.clock !== undefined && !isTime(own.clock())) throw mistake('clock() must give whole seconds since the epoch')
  if (own.macTokens === true && own.derivationKey === undefined)
    throw mistake('the option macTokens needs the option derivationKey')
  const issuerPath = pathOfIssuer(own.issuer, own.allowInsecureIssuer ?? false)
  const rules: GrantRules = {
    codeLifetime: own.codeLifetime ?? 600,
    accessTokenLifetime: own.accessTokenLifetime ?? 28_800,
    refreshTokenLifetime: own.refreshTokenLifetime ?? 15_552_000,
    gracePeriod: own.gracePeriod ?? 300,
    refreshReplay: own.refreshReplay ?? 'revoke',
    deviceCodeLifetime: own.deviceCodeLifetime ?? 600,
    devicePollingInterval: own.devicePollingInterval ?? 5,
    digests: own.digests ?? portableDigests,
    derivationKey: own.derivationKey?.slice(),
  }
  // biome-ignore lint/suspicious/noConsole: an error that nobody asked to be told of must not vanish
  const onError = harmless(own.onError ?? ((error: unknown) => console.error(error)), () => {})
  const settings = {
    consentLifetime: 600,
    remoteAddress: socketAddress,
    consent: 'always',
    redirectMatching: 'domain',
    allowLocalhost: false,
    requirePkce: false,
    allowClientSecretPost: false,
    macTokens: false,
    macWindow: 300,
    introspectionMaxAge: 0,
    bodyLimit: 65_536,
    mountPath: issuerPath,
    clock: () => Math.floor(Date.now() / 1000),
    allowInsecureIssuer: false,
    ...own,
    scopes: own.scopes ?? serviceScopes(),
    onEvent: own.onEvent === undefined ? () => {} : harmless(own.onEvent, onError),
    onError,
    entropy: own.entropy === undefined ? entropyPool() : wholeEntropy(own.entropy),
    // All of them own properties where they are absent, too: else a polluted prototype would have them.
    resources: own.resources,
    userCodeLimiter: own.userCodeLimiter,
    pages: { ...own.pages },
    issuerPath,
    ...rules,
  } as const
  return {
    ...settings,
    rules,
    redirect: { matching: settings.redirectMatching, allowLocalhost: settings.allowLocalhost },
  }
}

/** What Node's request knows of where it comes from. */
function socketAddress({ native }: HttpRequest): string | undefined {
  const { socket } = (native ?? {}) as { readonly socket?: { readonly remoteAddress?: unknown } } // any object may be asked for it
  return typeof socket?.remoteAddress === 'string' ? socket.remoteAddress : undefined
}

/** Hosts that are the machine itself: what is sent there no network sees. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/** RFC 8414, section 2: an https URL without query and fragment. */
function pathOfIssuer(issuer: string, insecure: boolean): string {
  if (!URL.canParse(issuer)) throw mistake('the issuer is not a URL')
  const url = new URL(issuer)
  const canonical = url.href === issuer || url.href === `${issuer}/`
  if (
    !canonical ||
    issuer.endsWith('/') ||
    issuer.includes('?') ||
    issuer.includes('#') ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw mistake('the issuer must be a canonical URL without user info, query, fragment and a slash at its end')
  }
  const secure = url.protocol === 'https:' || (url.protocol === 'http:' && (insecure || LOOPBACK.test(url.hostname)))
  if (!secure) throw mistake('the issuer must be https; http is for loopback, or with allowInsecureIssuer')
  return url.pathname === '/' ? '' : url.pathname
}

/** A function of the host that changes no answer: what it throws, at once or by its promise, goes elsewhere. */
function harmless<Told>(tell: (told: Told) => unknown, failed: (error: unknown) => void): (told: Told) => void {
  return (told) => {
    try {
      const later = tell(told)
      if (typeof later === 'object') Promise.resolve(later).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}

/** Randomness of the host, which must be what was asked for: too few bytes would make secrets that can be guessed. */
function wholeEntropy(entropy: (length: number) => Uint8Array): (length: number) => Uint8Array {
  return (length) => {
    const bytes = entropy(length)
    if (bytes instanceof Uint8Array && bytes.length === length) return bytes
    throw mistake('entropy() must give a Uint8Array of as many bytes as it is asked for')
  }
}

/** Bytes handed out from a pool, since asking the platform for a few at a time is slow; what was handed out is zeroed. */
function entropyPool(): (length: number) => Uint8Array {
  const pool = new Uint8Array(8192)
  let used = pool.length
  return (length) => {
    if (length > pool.length) return globalThis.crypto.getRandomValues(new Uint8Array(length))
    if (used + length > pool.length) {
      globalThis.crypto.getRandomValues(pool)
      used = 0
    }
    const bytes = pool.slice(used, used + length)
    pool.fill(0, used, used + length)
    used += length
    return bytes
  }
}

/** What a programmer did wrong. */
export function mistake(message: string): GrantwellError {
  return new GrantwellError('ERR_CONFIGURATION', `grantwell: ${message}`)
}

function isOptionName(name: string): name is keyof typeof OPTIONS {
  return Object.hasOwn(OPTIONS, name)
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

/** Own or not: an engine may be an instance of a class. */
function hasFunctions(value: unknown, names: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && names.every((name) => isFunction(Reflect.get(value, name)))
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** Milliseconds would pass for seconds some thousands of years from now. */
function isTime(value: unknown): boolean {
  return isWhole(value) && Number(value) < 1e11
}

/** What was meant to be short: milliseconds would pass for seconds. */
function isWithinDay(value: unknown): boolean {
  return Number(value) <= 86_400
}

function isPositive(value: unknown): boolean {
  return isWhole(value) && value !== 0
}

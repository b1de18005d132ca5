/**
 * What a host tells the server, checked once.
 * @module
 */

import type { RedirectRules } from '../core/application/redirect-uri.js'
import type { ApplicationEvent } from '../core/application/transition.js'
import type { OAuthErrorCode, RefusalReason } from '../core/errors.js'
import { configurationError } from '../core/errors.js'
import type { GrantEvent } from '../core/grant/outcome.js'
import type { GrantRules } from '../core/grant/rules.js'
import type { ScopeCatalogue } from '../core/scopes.js'
import { serviceScopes } from '../core/scopes.js'
import type { Takes, TakesOf } from '../core/takes.js'
import { FLAG, FUNCTION, isObject, methods, mustBe, oneOf, readOptions, seconds } from '../core/takes.js'
import type { Digests } from '../core/tokens/digests.js'
import { portableDigests } from '../core/tokens/digests.js'
import type { ClientId, Seconds, Subject } from '../core/values.js'
import type { Pages } from '../pages/index.js'
import type { HttpRequest } from '../protocol/message.js'
import { memberOf } from '../protocol/message.js'
import type { RecordStore } from '../storage/record-store.js'
import { checkedAnswer, harmless, wrongAnswer } from './host.js'

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
  /** The rule that a redirect URI breaks, in words for the application's developer; nothing of the URI is in it. */
  readonly rule?: string
}

/** Tells the audit trail of a refusal. */
export type Refused = (
  endpoint: RefusedEvent['endpoint'],
  reason: RefusalReason,
  error?: OAuthErrorCode,
  clientId?: string,
  subject?: Subject,
  rule?: string,
) => void

/** One entry of the audit trail. Holds no secret, so it may be kept. */
export type AuditEvent = GrantEvent | ApplicationEvent | RefusedEvent

/** Somebody who types a user code. */
export interface UserCodeAttempt {
  readonly subject: Subject
  /** Of the user's browser, as the option `remoteAddress` tells it. */
  readonly address: string | undefined
}

/** A device that asks for its codes. */
export interface DeviceAttempt {
  readonly clientId: ClientId
  /** Of the device, as the option `remoteAddress` tells it. */
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

  /** Seconds; 600 by default, two days at most. */
  readonly codeLifetime?: Seconds
  /** Seconds; 28,800 (8 hours) by default, 31 days at most. */
  readonly accessTokenLifetime?: Seconds
  /** Seconds; 15,552,000 (180 days) by default, ten years at most, and no less than `accessTokenLifetime`. */
  readonly refreshTokenLifetime?: Seconds
  /** Seconds that both old tokens work on after a refresh; 300 by default, two days or `refreshTokenLifetime` at most. */
  readonly gracePeriod?: Seconds
  /** Seconds that a user may take to read the consent page; 600 by default, two days at most. */
  readonly consentLifetime?: Seconds
  /** Seconds that a device waits for its user; 600 by default, two days at most. */
  readonly deviceCodeLifetime?: Seconds
  /** Seconds between two polls of a device; 5 by default, an hour at most. */
  readonly devicePollingInterval?: Seconds
  /**
   * Limits how often user codes can be guessed: counts an attempt, and says how many seconds it is too soon, 0 to let it
   * pass. By default, kept in the store: 10 at once and one a minute more for each user, five times as many for each address.
   */
  readonly userCodeLimiter?: (attempt: UserCodeAttempt) => Seconds | Promise<Seconds>
  /**
   * Limits how many devices ask for codes: counts a request, and says how many seconds it is too soon, 0 to let it pass. By
   * default, kept in the store: 100 at once and 20 a minute more for each address; where no address is known, 1,000 at once and
   * one a second more for each application.
   */
  readonly deviceLimiter?: (attempt: DeviceAttempt) => Seconds | Promise<Seconds>
  /**
   * The IP address that a request of a browser or a device comes from, without a port; by default `request.remoteAddress`, which behind
   * a proxy is the proxy. Undefined or null where nobody knows: then the limit on user codes holds for each user alone, and that on devices for each application.
   */
  readonly remoteAddress?: (request: HttpRequest<Native>) => string | null | undefined

  /** A refresh token that comes back after its grace revokes its grant, the default, or is only refused. */
  readonly refreshReplay?: 'revoke' | 'refuse'
  /** Ask for consent every time, the default, or only where no live grant of the user to that confidential client has as much. */
  readonly consent?: 'always' | 'once'
  /** Live grants of one user to one application; beyond so many the oldest ends. 50 by default, 1,000 at most. */
  readonly grantLimit?: number
  /** Redirect URIs anywhere in the authorized domain, the default, or exactly the registered ones. */
  readonly redirectMatching?: 'domain' | 'exact'
  /** Admit `http://localhost` beside `127.0.0.1` and `[::1]` as a redirect URI on loopback; false by default. */
  readonly allowLocalhost?: boolean
  /** Demand PKCE of confidential clients too; false by default. Public ones always need it. */
  readonly requirePkce?: boolean
  /**
   * Admit the client secret in the body at the token, device authorization and introspection endpoints; true by default. The
   * revocation endpoint always does (specification, section 4.4).
   */
  readonly allowClientSecretPost?: boolean
  /** At least 32 random bytes, the same on every server over one store, mixed into what a refresh derives and into the digests of user codes: a copy of the store and an old token together then yield nothing. None by default. */
  readonly derivationKey?: Uint8Array
  /**
   * Give applications that are registered for it tokens of the type `mac`, of which every use is signed, and take no others from
   * them (specification, section 5.2; draft-ietf-oauth-v2-http-mac-01); false by default. Needs `derivationKey`, of which their
   * keys are derived. What it is for: API calls that are not protected by TLS all the way; their bodies and answers are not signed.
   */
  readonly macTokens?: boolean
  /**
   * Seconds that the clock of a client that signs may differ, and that its request may take; 300 by default, a day at most. The same on
   * every server over one store: where it is raised, a request that was signed up to so many seconds before counts once more.
   */
  readonly macWindow?: Seconds
  /**
   * Seconds that a resource server may go on with an answer of introspection, in its `Cache-Control`: a revocation takes as long to
   * reach it. 0 by default: it asks every time (RFC 7662, section 4). A day at most.
   */
  readonly introspectionMaxAge?: Seconds
  /** Bytes of a request's body; 65,536 by default, from 1,024 to 16,777,216 (16 MiB). */
  readonly bodyLimit?: number
  /** The path in front of `/oauth2/...` in the requests that arrive; the issuer's path by default. Differs where a proxy or a fetch-style router strips it; Express and connect keep the whole path beside the stripped one, and need nothing. */
  readonly mountPath?: string
  /** Pages that replace the default ones; they are served under the same headers, so without scripts and inline styles. */
  readonly pages?: Partial<Pages>

  /**
   * Told of everything that happened, after it is stored. What it throws goes to `onError`. Where the store's answer to a write was lost
   * and cannot be found out, it is told `refused` with the reason `store_failed`, and never what the write was of, though it may be stored.
   */
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
  Omit<
    AuthorizationServerOptions<Native>,
    'derivationKey' | 'resources' | 'pages' | 'userCodeLimiter' | 'deviceLimiter'
  >
> & {
  readonly userCodeLimiter: AuthorizationServerOptions<Native>['userCodeLimiter'] | undefined
  readonly deviceLimiter: AuthorizationServerOptions<Native>['deviceLimiter'] | undefined
  readonly resources: AuthorizationServerOptions<Native>['resources'] | undefined
  /** Those of the host alone: the others are loaded with the first of them that is shown. */
  readonly pages: Partial<Pages>
  readonly rules: GrantRules
  readonly redirect: RedirectRules
  /** The issuer's own path, without a slash at its end. */
  readonly issuerPath: string
}

/** The pages that a host can replace. */
const PAGES: TakesOf<Pages> = {
  consent: FUNCTION,
  error: FUNCTION,
  device: FUNCTION,
  deviceResult: FUNCTION,
  authorizedApplications: FUNCTION,
}

const DAY: Seconds = 86_400

/** Lifetimes of what somebody is at work on. No such time is longer; in milliseconds, all from 173 seconds on are. */
const SHORT = seconds(1, 2 * DAY)

/** Milliseconds would pass for seconds some thousands of years from now. */
const TIME: Takes = { ...seconds(0, 1e11 - 1), words: 'whole seconds since the epoch' }

const OPTIONS: TakesOf<AuthorizationServerOptions> = {
  issuer: { words: "an https URL without a slash at its end, such as 'https://git.example'", fits: isText },
  store: methods('a store', 'read', 'write', 'list'),
  user: FUNCTION,
  signInUrl: FUNCTION,
  resources: FUNCTION,
  scopes: {
    words: 'a catalogue that scopeCatalogue or serviceScopes made',
    fits: (value) => isObject(value) && value['entries'] instanceof Map,
  },
  codeLifetime: SHORT,
  // An hour is more in milliseconds.
  accessTokenLifetime: seconds(1, 31 * DAY),
  // Four days are more in milliseconds.
  refreshTokenLifetime: seconds(1, 3650 * DAY),
  gracePeriod: seconds(0, 2 * DAY),
  consentLifetime: SHORT,
  deviceCodeLifetime: SHORT,
  devicePollingInterval: seconds(1, 3600),
  userCodeLimiter: FUNCTION,
  deviceLimiter: FUNCTION,
  remoteAddress: FUNCTION,
  refreshReplay: oneOf('revoke', 'refuse'),
  consent: oneOf('always', 'once'),
  grantLimit: {
    words: 'a whole number from 1 to 1,000',
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 1000,
  },
  redirectMatching: oneOf('domain', 'exact'),
  allowLocalhost: FLAG,
  requirePkce: FLAG,
  allowClientSecretPost: FLAG,
  derivationKey: {
    words: 'a Uint8Array of 32 random bytes or more',
    fits: (value) => value instanceof Uint8Array && value.length >= 32,
    secret: true,
  },
  macTokens: FLAG,
  macWindow: seconds(1, DAY),
  introspectionMaxAge: seconds(0, DAY),
  bodyLimit: {
    words: 'a whole number of bytes from 1,024 to 16,777,216',
    // One string has to hold a body, and no string of V8 holds 512 MiB.
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 1024 && Number(value) <= 2 ** 24,
  },
  mountPath: {
    words: "a path such as '/base', without a slash at its end, or ''",
    fits: (value) => isText(value) && /^(?:\/[^/?#]+)*$/.test(value),
  },
  pages: { words: 'an object with pages', fits: isObject },
  onEvent: FUNCTION,
  onError: FUNCTION,
  clock: FUNCTION,
  entropy: FUNCTION,
  digests: methods('digests', 'sha256', 'hmacSha256'),
  allowInsecureIssuer: FLAG,
}

const CREATE = 'createAuthorizationServer'

/**
 * Checks the options and fills in the defaults.
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown, missing or wrong option
 */
export function resolveOptions<Native>(options: AuthorizationServerOptions<Native>): Settings<Native> {
  const own = found(readOptions<AuthorizationServerOptions<Native>>(CREATE, options, OPTIONS, REQUIRED))
  const pages = found(readOptions<Partial<Pages>>(`${CREATE}, pages`, own.pages ?? {}, PAGES))
  if (own.clock !== undefined) checkedAnswer('clock()', TIME, own.clock())
  if (own.macTokens === true && own.derivationKey === undefined)
    throw wrong('derivationKey', 'given where macTokens is true', undefined)
  const issuerPath = pathOfIssuer(own.issuer, own.allowInsecureIssuer ?? false)
  const rules: GrantRules = {
    catalogue: own.scopes ?? serviceScopes(),
    codeLifetime: own.codeLifetime ?? 600,
    accessTokenLifetime: own.accessTokenLifetime ?? 28_800,
    refreshTokenLifetime: own.refreshTokenLifetime ?? 15_552_000,
    gracePeriod: own.gracePeriod ?? 300,
    refreshReplay: own.refreshReplay ?? 'revoke',
    deviceCodeLifetime: own.deviceCodeLifetime ?? 600,
    devicePollingInterval: own.devicePollingInterval ?? 5,
    digests: own.digests === undefined ? portableDigests : checkedDigests(own.digests),
    // A copy: `slice` of a Buffer is none.
    derivationKey: own.derivationKey && Uint8Array.from(own.derivationKey),
  }
  checkLifetimes(rules, own)
  const { catalogue: scopes, ...lifetimes } = rules
  // biome-ignore lint/suspicious/noConsole: an error that nobody asked to be told of must not vanish
  const onError = harmless(own.onError ?? ((error: unknown) => console.error(error)), () => {})
  const settings = {
    consentLifetime: 600,
    remoteAddress: socketAddress,
    consent: 'always',
    grantLimit: 50,
    redirectMatching: 'domain',
    allowLocalhost: false,
    requirePkce: false,
    allowClientSecretPost: true,
    macTokens: false,
    macWindow: 300,
    introspectionMaxAge: 0,
    bodyLimit: 65_536,
    mountPath: issuerPath,
    allowInsecureIssuer: false,
    ...own,
    clock: own.clock === undefined ? () => Math.floor(Date.now() / 1000) : wholeSeconds(own.clock),
    scopes,
    onEvent: own.onEvent === undefined ? () => {} : harmless(withCopy(own.onEvent), onError),
    onError,
    entropy: own.entropy === undefined ? entropyPool() : wholeEntropy(own.entropy),
    // All of them own properties where they are absent, too: else a polluted prototype would have them.
    resources: own.resources,
    userCodeLimiter: own.userCodeLimiter,
    deviceLimiter: own.deviceLimiter,
    pages,
    issuerPath,
    ...lifetimes,
  } as const
  return {
    ...settings,
    rules,
    redirect: { matching: settings.redirectMatching, allowLocalhost: settings.allowLocalhost },
  }
}

/** Gives the host a copy of each event: what it does with it must not reach a record that a store may still hold. */
function withCopy(tell: (event: AuditEvent) => unknown): (event: AuditEvent) => unknown {
  return (event) => tell(structuredClone(event))
}

/** What Node's request knows of where it comes from. */
function socketAddress(request: HttpRequest): string | undefined {
  if (Object.hasOwn(request, 'remoteAddress') && request.remoteAddress !== undefined) return request.remoteAddress
  const native = (request.native ?? {}) as { readonly socket?: { readonly remoteAddress?: unknown } } // any object may be asked for it
  const remoteAddress = memberOf(memberOf(native, 'socket') ?? {}, 'remoteAddress')
  return typeof remoteAddress === 'string' ? remoteAddress : undefined
}

/** Hosts that are the machine itself: what is sent there no network sees. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/** A lifetime under another one, or a grace above both, is a slip: nothing would be left of it. */
function checkLifetimes(rules: GrantRules, { gracePeriod, devicePollingInterval }: Partial<GrantRules>): void {
  const { accessTokenLifetime: access, refreshTokenLifetime: refresh } = rules
  if (refresh < access) throw wrong('refreshTokenLifetime', `accessTokenLifetime (${access}) or more`, refresh)
  // The default is none of the host's: it ends with the tokens.
  if (gracePeriod !== undefined && gracePeriod > refresh)
    throw wrong('gracePeriod', `refreshTokenLifetime (${refresh}) or less`, gracePeriod)
  const { deviceCodeLifetime: lifetime, devicePollingInterval: interval } = rules
  if (interval < lifetime) return
  if (devicePollingInterval !== undefined)
    throw wrong('devicePollingInterval', `less than deviceCodeLifetime (${lifetime})`, interval)
  throw wrong('deviceCodeLifetime', `more than devicePollingInterval (${interval})`, lifetime)
}

/** RFC 8414, section 2: an https URL without query and fragment. */
function pathOfIssuer(issuer: string, insecure: boolean): string {
  if (!URL.canParse(issuer)) throw wrong('issuer', OPTIONS.issuer.words, issuer)
  const url = new URL(issuer)
  const canonical = url.href === issuer || url.href === `${issuer}/`
  if (
    !canonical ||
    issuer.endsWith('/') ||
    // The pages' forms would lead to another host.
    url.pathname.includes('//') ||
    issuer.includes('?') ||
    issuer.includes('#') ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw wrong('issuer', 'a canonical URL without user info, query, fragment and a slash at its end', issuer)
  }
  const secure = url.protocol === 'https:' || (url.protocol === 'http:' && (insecure || LOOPBACK.test(url.hostname)))
  if (!secure) throw wrong('issuer', 'https, or http on loopback or with allowInsecureIssuer', issuer)
  return url.pathname === '/' ? '' : url.pathname
}

/** Time of the host. */
function wholeSeconds(clock: () => Seconds): () => Seconds {
  return () => {
    const now = clock()
    return Number.isFinite(now) && now >= 0 ? now : checkedAnswer('clock()', TIME, now)
  }
}

/** Digests of the host: that they are what they should be is found out at once, that they stay texts and bytes at each use. */
function checkedDigests(digests: Digests): Digests {
  const checked: Digests = {
    sha256: (data) => {
      const digest = digests.sha256(data)
      if (typeof digest === 'string' && digest.length === 43) return digest
      throw wrongAnswer('digests.sha256()', '43 characters of base64url', digest, true)
    },
    hmacSha256: (key, data) => {
      const digest = digests.hmacSha256(key, data)
      if (isBytes(digest, 32)) return digest
      throw wrongAnswer('digests.hmacSha256()', 'a Uint8Array of 32 bytes', digest, true)
    },
  }
  const sample = new Uint8Array([1])
  const resultsOf = ({ sha256, hmacSha256 }: Digests): string =>
    [sha256('\u{e9}'), sha256(sample), ...hmacSha256(sample, sample)].join()
  if (resultsOf(checked) !== resultsOf(portableDigests)) throw wrong('digests', 'SHA-256 and HMAC-SHA-256', digests)
  return checked
}

/** Randomness of the host, which must be what was asked for: too few bytes would make secrets that can be guessed. */
function wholeEntropy(entropy: (length: number) => Uint8Array): (length: number) => Uint8Array {
  return (length) => {
    const bytes = entropy(length)
    // A copy, since the host may fill the same bytes anew; `slice` of a Buffer is none.
    if (isBytes(bytes, length)) return Uint8Array.from(bytes)
    throw wrongAnswer('entropy()', `a Uint8Array of as many bytes as it is asked for, here ${length}`, bytes, true)
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

const REQUIRED = ['issuer', 'store', 'user', 'signInUrl'] as const

/** Options that were read. @throws GrantwellError `ERR_CONFIGURATION` with the sentence that says what is wrong with them */
function found<Options extends object>(options: Options | string): Options {
  if (typeof options === 'string') throw configurationError(options)
  return options
}

function wrong(option: keyof AuthorizationServerOptions, words: string, value: unknown): Error {
  return configurationError(`${CREATE}: the option ${option} ${mustBe({ words }, value)}`)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Whether a value is so many bytes; a value that throws when it is looked at is none. */
function isBytes(value: unknown, length: number): value is Uint8Array {
  try {
    return value instanceof Uint8Array && value.length === length
  } catch {
    return false
  }
}

/**
 * Reads and checks the options that a host gives.
 * @module
 */
import type { DeclaredResources } from '../../core/audiences/audience.js'
import { configurationError } from '../../core/errors.js'
import type { GrantRules } from '../../core/grant/rules.js'
import { readOptions } from '../../core/options.js'
import type { ScopeCatalogue } from '../../core/scopes.js'
import { CATALOGUE } from '../../core/scopes.js'
import type { TakesOf } from '../../core/takes.js'
import { FLAG, FUNCTION, isObject, isRecord, methods, mustBe, oneOf, seconds } from '../../core/takes.js'
import type { Origin } from '../../core/url.js'
import { parseOrigin, parseUrl } from '../../core/url.js'
import type { Seconds } from '../../core/values.js'
import type { Pages } from '../../pages/index.js'
import type { AuthorizationServerOptions } from '../options.js'
import { readAudiences } from './audiences.js'

/** The pages that a host can replace. */
const PAGES: TakesOf<Pages> = {
  consent: FUNCTION,
  error: FUNCTION,
  device: FUNCTION,
  deviceResult: FUNCTION,
  authorizedApplications: FUNCTION,
}

const DAY: Seconds = 86_400

/**
 * Lifetimes of a step that a person takes. Two days are enough, and any time from 173 seconds on is more if given in
 * milliseconds.
 */
const SHORT = seconds(1, 2 * DAY)

const isKey = (value: unknown): boolean => value instanceof Uint8Array && value.length >= 32
const isKeyOrNone = (value: unknown): boolean => value === 'none' || isKey(value)

const OPTIONS: TakesOf<AuthorizationServerOptions> = {
  issuer: { words: "an https URL without a slash at its end, such as 'https://git.example'", fits: isText },
  store: methods('a store', 'read', 'write', 'list'),
  user: FUNCTION,
  signInUrl: FUNCTION,
  switchAccountUrl: FUNCTION,
  resources: FUNCTION,
  scopes: CATALOGUE,
  audiences: { words: 'a list of { resource, name, scopes }', fits: Array.isArray },
  authorize: FUNCTION,
  clientPolicy: FUNCTION,
  registrationLimiter: FUNCTION,
  fetchClientMetadata: FUNCTION,
  codeLifetime: SHORT,
  // An hour in milliseconds is more.
  accessTokenLifetime: seconds(1, 31 * DAY),
  // Four days in milliseconds are more.
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
  openidConfiguration: FLAG,
  requirePkce: FLAG,
  allowClientSecretPost: FLAG,
  derivationKey: {
    words: "a Uint8Array of 32 random bytes or more, or a list of such keys and 'none'",
    fits: (value) => isKey(value) || (Array.isArray(value) && value.some(isKey) && value.every(isKeyOrNone)),
    secret: true,
  },
  macTokens: FLAG,
  macWindow: seconds(1, DAY),
  introspectionMaxAge: seconds(0, DAY),
  bodyLimit: {
    words: 'a whole number of bytes from 1,024 to 16,777,216',
    // One string must hold a body, and no string of V8 holds 512 MiB.
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 1024 && Number(value) <= 2 ** 24,
  },
  mountPath: {
    words: "a path such as '/base', without a slash at its end, or ''",
    fits: (value) => isText(value) && /^(?:\/[^/?#]+)*$/.test(value),
  },
  corsOrigins: { words: 'a list of origins, or false', fits: (value) => value === false || Array.isArray(value) },
  appearance: { words: 'an object with name, logo, colours, font and URLs', fits: isAppearance },
  locale: FUNCTION,
  texts: { words: 'an object with texts for each language tag', fits: areTexts },
  // The lists are checked once the pages are loaded.
  pageSources: { words: 'an object with lists of origins', fits: isRecord },
  pages: { words: 'an object with pages', fits: isObject },
  onEvent: FUNCTION,
  audit: oneOf('reported', 'required'),
  requestId: FUNCTION,
  onError: FUNCTION,
  clock: FUNCTION,
  entropy: FUNCTION,
  digests: methods('digests', 'sha256', 'hmacSha256'),
  allowInsecureIssuer: FLAG,
}

const CREATE = 'createAuthorizationServer'

/**
 * True for texts by canonical tags of two or three letters first, since no language has more. The names of the texts are checked once
 * the pages are loaded, which have them.
 */
function areTexts(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.keys(value).every(
      (tag) => /^\w\w\w?\b/.test(tag) && `${Intl.getCanonicalLocales(tag)}` === tag && isRecord(value[tag]),
    )
  )
}

/** True for an object with the fields of an appearance. Their values are checked once the pages are loaded. */
function isAppearance(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.keys(value).every((name) => /^(?:name|logo|colours|font|(?:home|help|terms|privacy)Url)$/.test(name))
  )
}

const REQUIRED = ['issuer', 'store', 'user', 'signInUrl'] as const

/**
 * Reads the options, each on its own.
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown, missing or wrong option
 */
export function readServerOptions<Native>(
  options: AuthorizationServerOptions<Native>,
): AuthorizationServerOptions<Native> & { readonly pages: Partial<Pages> } {
  const own = readOptions<AuthorizationServerOptions<Native>>(CREATE, options, OPTIONS, REQUIRED)
  const pages = readOptions<Partial<Pages>>(`${CREATE}, pages`, own.pages ?? {}, PAGES)
  // Not a spread: the options must keep having no prototype.
  return Object.assign(own, { pages })
}

/** Makes the error of a wrong option. */
export function optionError(option: keyof AuthorizationServerOptions, words: string, value: unknown): Error {
  return configurationError(`${CREATE}: the option ${option} ${mustBe({ words }, value)}`)
}

/** Hosts that are the machine itself: no network sees the requests to them. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/**
 * Checks lifetimes that depend on each other.
 * @param given - the options that the host gave; a default is never at fault
 * @throws GrantwellError `ERR_CONFIGURATION`
 */
export function checkLifetimes(
  rules: GrantRules,
  given: Pick<AuthorizationServerOptions, 'gracePeriod' | 'devicePollingInterval'>,
): void {
  const { gracePeriod, devicePollingInterval } = given
  const { accessTokenLifetime: access, refreshTokenLifetime: refresh } = rules
  if (refresh < access) throw optionError('refreshTokenLifetime', `accessTokenLifetime (${access}) or more`, refresh)
  // The default may exceed it: then the grace period ends with the tokens.
  if (gracePeriod !== undefined && gracePeriod > refresh)
    throw optionError('gracePeriod', `refreshTokenLifetime (${refresh}) or less`, gracePeriod)
  const { deviceCodeLifetime: lifetime, devicePollingInterval: interval } = rules
  if (interval < lifetime) return
  if (devicePollingInterval !== undefined)
    throw optionError('devicePollingInterval', `less than deviceCodeLifetime (${lifetime})`, interval)
  throw optionError('deviceCodeLifetime', `more than devicePollingInterval (${interval})`, lifetime)
}

/**
 * Checks the issuer, an https URL without query and fragment.
 * @param insecure - true to allow http everywhere
 * @returns its path, without a slash at its end
 * @throws GrantwellError `ERR_CONFIGURATION`
 * @see RFC 8414, section 2
 */
export function issuerPathOf(issuer: string, insecure: boolean): string {
  const url = parseUrl(issuer)
  if (url === undefined) throw optionError('issuer', OPTIONS.issuer.words, issuer)
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
    throw optionError('issuer', 'a canonical URL without user info, query, fragment and a slash at its end', issuer)
  }
  if (!isSecure(url, insecure)) throw optionError('issuer', SECURE, issuer)
  return url.pathname === '/' ? '' : url.pathname
}

/**
 * Checks the origins that the option `corsOrigins` adds.
 * @param insecure - true to allow http everywhere
 * @throws GrantwellError `ERR_CONFIGURATION`
 */
export function corsOriginsOf(given: readonly unknown[] | false, insecure: boolean): ReadonlySet<Origin> | false {
  return given && new Set(given.map((each) => corsOriginOf(each, insecure)))
}

function corsOriginOf(given: unknown, insecure: boolean): Origin {
  const origin = isText(given) ? parseOrigin(given) : undefined
  if (origin === undefined)
    throw optionError('corsOrigins', "a list of origins, such as 'https://app.example', without a path", given)
  if (!isSecure(new URL(origin), insecure)) throw optionError('corsOrigins', `a list of origins with ${SECURE}`, given)
  return origin
}

/**
 * Reads the option `audiences`.
 * @param insecure - true to allow http everywhere
 * @throws GrantwellError `ERR_CONFIGURATION`
 */
export function audiencesOf(given: readonly unknown[], scopes: ScopeCatalogue, insecure: boolean): DeclaredResources {
  return readAudiences(CREATE, given, scopes, (url) => isSecure(url, insecure))
}

const SECURE = 'https, or http on loopback or with allowInsecureIssuer'

function isSecure({ protocol, hostname }: URL, insecure: boolean): boolean {
  return protocol === 'https:' || (protocol === 'http:' && (insecure || LOOPBACK.test(hostname)))
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/**
 * The shapes of records, for a check of what is stored. A server does not check them, as it wrote them itself.
 * @module
 */
import { isObject, isRecord } from '../../core/takes.js'
import { NOBODY } from '../records.js'

/** Finds what is wrong with a value; undefined for nothing. `at` is its path in the record. */
type Check = (value: unknown, at: string) => string | undefined

/** Makes the check of single values. */
function is(words: string, fits: (value: unknown) => boolean): Check {
  return (value, at) => (fits(value) ? undefined : `${at} must be ${words}`)
}

const TEXT = is('a text', (value) => typeof value === 'string')
const NAME = is('a text that is not empty', (value) => typeof value === 'string' && value !== '')
const WHOLE = is('a whole number from 0 on', (value) => Number.isSafeInteger(value) && Number(value) >= 0)
const NONE = is('an empty list', (value) => Array.isArray(value) && value.length === 0)
const FLAG = is('true or false', (value) => typeof value === 'boolean')
const TRUE = is('true', (value) => value === true)
const DIGEST = is('a digest', (value) => typeof value === 'string' && /^[\w-]{43}$/.test(value))

function oneOf(...values: readonly string[]): Check {
  return is(`one of ${values.join(', ')}`, (value) => values.some((each) => each === value))
}

function listOf(check: Check): Check {
  return (value, at) => {
    if (!Array.isArray(value)) return `${at} must be a list`
    return firstFault(value.map((each, index) => () => check(each, `${at}[${index}]`)))
  }
}

/** Makes the check of an object. A name that it does not know is left alone: a version says what is read. */
function object(needed: { readonly [name: string]: Check }, optional: { readonly [name: string]: Check } = {}): Check {
  return (value, at) => {
    if (!isRecord(value)) return `${at} must be an object`
    const own = (name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined)
    const path = (name: string): string => (at === RECORD ? name : `${at}.${name}`)
    return firstFault([
      ...Object.entries(needed).map(
        ([name, check]) =>
          () =>
            check(own(name), path(name)),
      ),
      ...Object.entries(optional).map(
        ([name, check]) =>
          () =>
            own(name) === undefined ? undefined : check(own(name), path(name)),
      ),
    ])
  }
}

const TEXTS_BY_NAME: Check = (value, at) =>
  isRecord(value) ? firstFault(Object.values(value).map((each) => () => TEXT(each, at))) : `${at} must be an object`

/** Makes the check of one of several objects, told apart by a value. */
function either(choose: (value: { readonly [name: string]: unknown }) => Check): Check {
  return (value, at) => (isObject(value) ? choose(value)(value, at) : `${at} must be an object`)
}

function firstFault(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const fault = check()
    if (fault !== undefined) return fault
  }
  return undefined
}

/** The path of the record itself. */
const RECORD = 'the record'

const AUDIENCE = listOf(NAME)

const RESOURCES = either(({ kind }) =>
  object({ kind: oneOf('all', 'public', 'specified'), ...(kind === 'specified' && { ids: listOf(TEXT) }) }),
)

const TOKEN_PAIR = object(
  {
    access: object(
      { digest: DIGEST, expiresAt: WHOLE, scopes: listOf(NAME) },
      { audience: AUDIENCE, type: oneOf('mac'), revokedAt: WHOLE },
    ),
    refresh: object({ digest: DIGEST, expiresAt: WHOLE }),
  },
  { superseded: object({ at: WHOLE, until: WHOLE, salt: NAME }) },
)

const DEVICE_CODE = object(
  { digest: DIGEST, expiresAt: WHOLE, interval: WHOLE },
  { polledAt: WHOLE, usedAt: WHOLE, tooSoon: object({ waited: WHOLE, slower: WHOLE }) },
)

const CODE = either(({ redirectUri }) =>
  redirectUri === undefined
    ? DEVICE_CODE
    : object(
        { digest: DIGEST, redirectUri: NAME, expiresAt: WHOLE },
        { codeChallenge: NAME, salt: NAME, usedAt: WHOLE },
      ),
)

const DEVICE_AUTHORIZATION = object(
  { id: NAME, clientId: NAME, scopes: listOf(NAME), createdAt: WHOLE, keepUntil: WHOLE, code: DEVICE_CODE },
  { audience: AUDIENCE },
)

/** A grant that names no user, as `withoutUser` makes it. */
const GRANT_OF_NOBODY = object({
  id: NAME,
  clientId: NAME,
  createdAt: WHOLE,
  keepUntil: WHOLE,
  code: either(({ redirectUri }) =>
    redirectUri === undefined ? DEVICE_CODE : object({ digest: DIGEST, redirectUri: TEXT, expiresAt: WHOLE }),
  ),
  pairs: NONE,
  retired: NONE,
  revokedAt: WHOLE,
})

const GRANT_OF_USER = object(
  {
    id: NAME,
    clientId: NAME,
    subject: NAME,
    scopes: listOf(NAME),
    resources: RESOURCES,
    createdAt: WHOLE,
    keepUntil: WHOLE,
    code: CODE,
    pairs: listOf(TOKEN_PAIR),
    retired: listOf(DIGEST),
  },
  { audience: AUDIENCE, lastUsedAt: WHOLE, revokedAt: WHOLE },
)

const GRANT = either(({ pairs, subject }) => {
  if (pairs === undefined && subject === undefined) return DEVICE_AUTHORIZATION
  return subject === NOBODY ? GRANT_OF_NOBODY : GRANT_OF_USER
})

const DETAILS = {
  name: NAME,
  website: TEXT,
  logo: TEXT,
  type: oneOf('confidential', 'public'),
  redirectUris: listOf(NAME),
  allowSubdomains: FLAG,
  scopes: listOf(NAME),
  reasons: TEXTS_BY_NAME,
  resourceScope: oneOf('all', 'public', 'specified'),
  deviceFlow: FLAG,
}
const OPTIONAL_DETAILS = {
  authorizedDomain: NAME,
  description: TEXT,
  tokenType: oneOf('mac'),
  resourceServer: TRUE,
  audience: NAME,
}

const REVIEW = either(({ state }) =>
  object({
    revision: WHOLE,
    submittedAt: WHOLE,
    details: object(DETAILS, OPTIONAL_DETAILS),
    state: oneOf('pending', 'rejected'),
    ...(state === 'rejected' && { rejectedAt: WHOLE, reason: TEXT }),
  }),
)

/** Empty for a document that was not adopted, which is read again. */
const DIGEST_OF_DOCUMENT: Check = (value, at) => (value === '' ? undefined : DIGEST(value, at))

const SECRETS = listOf(object({ digest: DIGEST }, { expiresAt: WHOLE }))

const HEAD = { id: NAME, revision: WHOLE, createdAt: WHOLE }
const OPTIONAL_HEAD = {
  applicant: NAME,
  selfRegistered: object(
    {},
    {
      keepUntil: WHOLE,
      accessToken: DIGEST,
      document: object({ digest: DIGEST_OF_DOCUMENT, until: WHOLE }),
      method: oneOf('client_secret_post'),
      approvedByPolicy: TRUE,
    },
  ),
}

const APPLICATION = either(({ state }) =>
  state === 'approved' || state === 'suspended'
    ? object(
        { ...HEAD, ...DETAILS, clientId: NAME, secrets: SECRETS, approvedAt: WHOLE },
        {
          ...OPTIONAL_HEAD,
          ...OPTIONAL_DETAILS,
          terms: object({}, { firstParty: TRUE, accessTokenLifetime: WHOLE, refreshTokenLifetime: WHOLE }),
          review: REVIEW,
        },
      )
    : object(
        { ...HEAD, state: oneOf('approved', 'suspended', 'pending', 'rejected'), review: REVIEW },
        { ...OPTIONAL_HEAD, secrets: SECRETS },
      ),
)

const CONSENT = object({
  decisions: listOf(
    object({ grantId: NAME, at: WHOLE }, { formExpiresAt: WHOLE, unasked: TRUE, over: oneOf('refused', 'replaced') }),
  ),
})

/** The kinds of records, by the first part of their keys. */
const KINDS: ReadonlyMap<string, Check> = new Map([
  ['issuer', object({ issuer: NAME })],
  ['application', APPLICATION],
  ['logo', object({ base64url: NAME })],
  ['grant', GRANT],
  ['consent', CONSENT],
  ['user_code', object({ clientKey: NAME, grantId: NAME })],
  ['mac_nonce', object({ by: NAME })],
  ['attempts', object({ freeAt: WHOLE, by: NAME })],
])

/** Returns the kind of a record. */
export function kindOf(key: string): string {
  return key.split(':', 1)[0] ?? key
}

/** Finds the first thing that is wrong with the shape of a record of the newest version; undefined for nothing. */
export function shapeFault(key: string, value: unknown): string | undefined {
  const check = KINDS.get(kindOf(key))
  return check === undefined ? 'this release knows no records of that kind' : check(value, RECORD)
}

/**
 * The settings of a server: the options that a host gave, checked, with all defaults filled in.
 * @module
 */
import type { RedirectRules } from '../../core/application/redirect-uri.js'
import type { DeclaredResources } from '../../core/audiences/audience.js'
import { portableDigests } from '../../core/credentials/digests.js'
import type { GrantRules } from '../../core/grant/rules.js'
import { serviceScopes } from '../../core/scopes/service-scopes.js'
import type { Origin } from '../../core/url.js'
import type { ClientId, ClientKey } from '../../core/values.js'
import type { Pages } from '../../pages/index.js'
import type { AuditEvent } from '../audit.js'
import { harmless } from '../host.js'
import type { AuthorizationServerOptions } from '../options.js'
import { createClientKeys } from '../records/client-keys.js'
import { audiencesOf, checkLifetimes, corsOriginsOf, issuerPathOf, optionError, readServerOptions } from './checks.js'
import {
  checkedClock,
  checkedDigests,
  checkedEntropy,
  createEntropyPool,
  socketAddress,
  systemClock,
} from './platform.js'

/** The functions of a host that have no default. */
type OptionalFunction =
  | 'switchAccountUrl'
  | 'resources'
  | 'locale'
  | 'requestId'
  | 'authorize'
  | 'clientPolicy'
  | 'registrationLimiter'
  | 'fetchClientMetadata'
  | 'userCodeLimiter'
  | 'deviceLimiter'

/** The options with all defaults filled in. */
export type Settings<Native> = Required<
  Omit<
    AuthorizationServerOptions<Native>,
    'derivationKey' | 'audiences' | 'pages' | 'corsOrigins' | 'onEvent' | OptionalFunction
  >
> & {
  readonly [Name in OptionalFunction]: AuthorizationServerOptions<Native>[Name] | undefined
} & {
  /** Tells the host of an event; undefined where it does not listen. */
  readonly onEvent: ((event: AuditEvent) => unknown) | undefined
  /** Origins that the host adds to those of the redirect URIs; false for no CORS at all. */
  readonly corsOrigins: ReadonlySet<Origin> | false
  /** The protected resources, by their identifiers. */
  readonly audiences: DeclaredResources
  /** The pages of the host alone: the default ones are loaded later. */
  readonly pages: Partial<Pages>
  readonly rules: GrantRules
  readonly redirect: RedirectRules
  /** Returns the key of a client's application. */
  readonly clientKeyOf: (clientId: ClientId) => ClientKey
  /** The issuer's own path, without a slash at its end. */
  readonly issuerPath: string
}

/**
 * Checks the options and fills in the defaults.
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown, missing or wrong option
 */
export function resolveOptions<Native>(options: AuthorizationServerOptions<Native>): Settings<Native> {
  const own = readServerOptions(options)
  const clock = own.clock === undefined ? systemClock : checkedClock(own.clock)
  if (own.macTokens === true && own.derivationKey === undefined)
    throw optionError('derivationKey', 'given where macTokens is true', undefined)
  if (own.fetchClientMetadata !== undefined && own.clientPolicy === undefined)
    throw optionError('clientPolicy', 'given where fetchClientMetadata is', undefined)
  if (own.audit === 'required' && own.onEvent === undefined)
    throw optionError('onEvent', "given where audit is 'required'", undefined)
  const issuerPath = issuerPathOf(own.issuer, own.allowInsecureIssuer ?? false)
  const rules = createRules(own)
  checkLifetimes(rules, own)
  const { catalogue: scopes, ...lifetimes } = rules
  const settings = {
    consentLifetime: 600,
    remoteAddress: socketAddress,
    audit: 'reported',
    consent: 'always',
    grantLimit: 50,
    redirectMatching: 'domain',
    allowLocalhost: true,
    openidConfiguration: false,
    requirePkce: false,
    allowClientSecretPost: true,
    macTokens: false,
    macWindow: 300,
    introspectionMaxAge: 0,
    bodyLimit: 65_536,
    mountPath: issuerPath,
    allowInsecureIssuer: false,
    texts: {},
    appearance: {},
    pageSources: {},
    ...own,
    clock,
    scopes,
    ...createObservers(own),
    corsOrigins: corsOriginsOf(own.corsOrigins ?? [], own.allowInsecureIssuer ?? false),
    entropy: own.entropy === undefined ? createEntropyPool() : checkedEntropy(own.entropy),
    // Own properties even if they are undefined: otherwise a polluted prototype would set them.
    switchAccountUrl: own.switchAccountUrl,
    resources: own.resources,
    locale: own.locale,
    requestId: own.requestId,
    authorize: own.authorize,
    clientPolicy: own.clientPolicy,
    registrationLimiter: own.registrationLimiter,
    fetchClientMetadata: own.fetchClientMetadata,
    userCodeLimiter: own.userCodeLimiter,
    deviceLimiter: own.deviceLimiter,
    issuerPath,
    ...lifetimes,
  } as const
  return {
    ...settings,
    rules,
    redirect: { matching: settings.redirectMatching, allowLocalhost: settings.allowLocalhost },
    clientKeyOf: createClientKeys(rules.digests),
  }
}

/** The catalogue of the specification. It is made once for all servers, since it takes more than half of the time of one. */
let defaultScopes: ReturnType<typeof serviceScopes> | undefined

/** Creates the rules of all grants. */
function createRules(own: AuthorizationServerOptions<never>): GrantRules & Pick<Settings<never>, 'audiences'> {
  defaultScopes ??= serviceScopes()
  const catalogue = own.scopes ?? defaultScopes
  return {
    catalogue,
    audiences: audiencesOf(own.audiences ?? [], catalogue, own.allowInsecureIssuer ?? false),
    codeLifetime: own.codeLifetime ?? 600,
    accessTokenLifetime: own.accessTokenLifetime ?? 28_800,
    refreshTokenLifetime: own.refreshTokenLifetime ?? 15_552_000,
    gracePeriod: own.gracePeriod ?? 300,
    refreshReplay: own.refreshReplay ?? 'revoke',
    deviceCodeLifetime: own.deviceCodeLifetime ?? 600,
    devicePollingInterval: own.devicePollingInterval ?? 5,
    digests: own.digests === undefined ? portableDigests : checkedDigests(own.digests),
    ...derivationKeysOf(own.derivationKey),
  }
}

/** Returns the key that derives, and those that are tried besides. */
function derivationKeysOf(
  given: AuthorizationServerOptions<never>['derivationKey'],
): Pick<GrantRules, 'derivationKey' | 'otherDerivationKeys'> {
  // Copies: `slice` of a Buffer makes none.
  const copy = (key: Uint8Array | 'none' | undefined) => (key instanceof Uint8Array ? Uint8Array.from(key) : undefined)
  const [first, ...others] = Array.isArray(given) ? given : [given]
  return { derivationKey: copy(first), otherDerivationKeys: others.map(copy) }
}

/** Creates the functions that report events and errors to the host. An error of the host in `onError` changes no answer. */
function createObservers(own: AuthorizationServerOptions<never>): Pick<Settings<never>, 'onEvent' | 'onError'> {
  // biome-ignore lint/suspicious/noConsole: an error must not get lost because the host gave no `onError`
  const onError = harmless(own.onError ?? ((error: unknown) => console.error(error)), () => {})
  return { onError, onEvent: own.onEvent && withCopy(own.onEvent) }
}

/** Gives the host a copy of each event, so that a change to it cannot reach a record that a store may still hold. */
function withCopy(tell: (event: AuditEvent) => unknown): (event: AuditEvent) => unknown {
  return (event) => tell(structuredClone(event))
}

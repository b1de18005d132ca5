/**
 * Registers applications and resource servers that administrators have approved.
 * @module
 */
import type { ApplicationDetails, ApplicationTerms } from '../../core/application/application.js'
import type { BrokenRule, RegistrationFault, RegistrationFaultCode } from '../../core/application/faults.js'
import { brokenRule, registrationFault } from '../../core/application/faults.js'
import type {
  Registration,
  RegistrationDetails,
  ResourceServerRegistration,
} from '../../core/application/registration.js'
import type { RegistrationRules } from '../../core/application/registration-check.js'
import { checkRegistration } from '../../core/application/registration-check.js'
import type { ResourceIdentifier } from '../../core/audiences/audience.js'
import { encodeBase64url } from '../../core/credentials/base64url.js'
import { digestOf } from '../../core/credentials/digests.js'
import { parseDigest, passwordHashKind } from '../../core/credentials/imported-secret.js'
import { readStrictOptions } from '../../core/options.js'
import type { TakesOf } from '../../core/takes.js'
import { ANYTHING, came, isTaken, NAME } from '../../core/takes.js'
import type { ClientId, Digest } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import type { ActedBy } from '../arguments.js'
import { ACTED_BY } from '../arguments.js'
import { registrationError } from './errors.js'
import type { Applications } from './interface.js'
import type { ApplicationContext } from './records.js'
import { applyCommands } from './records.js'
import { createSecret, SECRET } from './secrets.js'
import { checkTerms } from './terms.js'

/** Bytes of entropy in a client identifier. */
export const CLIENT_ID_BYTES = 16

/** Only for the type checker: a registration that requires a logo has one. */
export const NO_LOGO: Uint8Array = new Uint8Array(0)

type Imported = { readonly clientId?: string; readonly clientSecret?: string } & ActedBy
type RegisteredWith = Imported & { readonly clientSecretDigest?: string; readonly terms?: ApplicationTerms }

/** Their values are checked with the registration, so that the host learns all faults at once. */
const IMPORTED: TakesOf<Imported> = { clientId: ANYTHING, clientSecret: ANYTHING, ...ACTED_BY }
const REGISTERED_WITH: TakesOf<RegisteredWith> = { ...IMPORTED, clientSecretDigest: ANYTHING, terms: ANYTHING }
const RESOURCE_SERVER: TakesOf<ResourceServerRegistration> = {
  name: ANYTHING,
  description: ANYTHING,
  website: ANYTHING,
  scopes: ANYTHING,
  audience: ANYTHING,
}

/** Creates the functions that register. */
export function createRegistrationFunctions(
  context: ApplicationContext,
): Pick<Applications, 'register' | 'registerResourceServer'> {
  return {
    register: async (registration, given = {}) => {
      const of = 'applications.register'
      const imported = readStrictOptions<RegisteredWith>(of, given, REGISTERED_WITH)
      const terms = imported.terms === undefined ? undefined : checkTerms(context.settings, of, imported.terms)
      const type = (registration as Registration | null | undefined)?.type // whatever it is, it is checked with the rest
      const needs = { reasons: 'optional', logo: 'required' } as const
      const checked = checkDetails(context, registration, needs, importFaults(type, imported))
      const { details, logo = NO_LOGO } = checked
      // A public client has no secret, and that of an imported digest is unknown.
      const digest = parseDigest(imported.clientSecretDigest ?? '')
      const isSecret = details.type === 'confidential' && digest === undefined
      const clientSecret = isSecret ? (imported.clientSecret ?? createSecret(context)) : undefined
      const secretDigest = digest ?? digestOf(context.settings.digests, clientSecret ?? '')
      const clientId = await context.logos.keepFor(logo, (id) =>
        publish(context, { ...details, logo: id }, imported, secretDigest, terms),
      )
      return { clientId, ...(clientSecret !== undefined && { clientSecret }) }
    },

    registerResourceServer: async (registration, given = {}) => {
      const of = 'applications.registerResourceServer'
      const imported = readStrictOptions<Imported>(of, given, IMPORTED)
      const fields = readStrictOptions<ResourceServerRegistration>(`${of}, registration`, registration, RESOURCE_SERVER)
      const { audience, ...described } = fields
      const whole = { ...described, type: 'confidential', redirectUris: [], resourceScope: 'all' }
      const needs = { reasons: 'optional', logo: 'optional', redirectUris: 'none' } as const
      const more = [...audienceFaults(context, audience), ...importFaults('confidential', imported)]
      const { details } = checkDetails(context, whole, needs, more)
      const clientSecret = imported.clientSecret ?? createSecret(context)
      const bound = audience === undefined ? {} : { audience: audience as ResourceIdentifier } // audienceFaults has checked it
      const server = { ...details, logo: '', resourceServer: true, ...bound } as const
      const secretDigest = digestOf(context.settings.digests, clientSecret)
      const clientId = await publish(context, server, imported, secretDigest)
      return { clientId, clientSecret }
    },
  }
}

/**
 * Checks the details that a host, or an applicant, submits.
 * @param more - faults that were found elsewhere
 * @throws GrantwellError `ERR_REGISTRATION` with every fault
 */
export function checkDetails(
  { settings }: ApplicationContext,
  given: unknown,
  needs: Pick<RegistrationRules, 'reasons' | 'logo'> & Partial<Pick<RegistrationRules, 'redirectUris' | 'website'>>,
  more: readonly RegistrationFault[] = [],
): { readonly details: RegistrationDetails; readonly logo: Uint8Array | undefined } {
  const { scopes, redirect, macTokens } = settings
  const specifiedResources = settings.resources !== undefined
  const rules = { scopes, redirect, specifiedResources, macTokens, redirectUris: 'required', ...needs } as const
  const result = checkRegistration(given, rules)
  if (result.type === 'faults') throw registrationError([...result.faults, ...more])
  if (more.length > 0) throw registrationError(more)
  return result
}

/** Creates a random client identifier. */
export function createClientId({ settings }: Pick<ApplicationContext, 'settings'>): ClientId {
  return encodeBase64url(settings.entropy(CLIENT_ID_BYTES)) as ClientId // base64url is printable ASCII
}

/** Submits and approves an application in one write. */
async function publish(
  context: ApplicationContext,
  details: ApplicationDetails,
  by: Imported,
  secretDigest: Digest,
  terms?: ApplicationTerms,
): Promise<ClientId> {
  const { clientId: imported } = by
  const clientId = imported === undefined ? createClientId(context) : (imported as ClientId) // importFaults has checked it
  const submit = { type: 'submit', id: clientId, details } as const
  const approve = { type: 'approve', revision: 1, secretDigest, catalogue: context.settings.scopes } as const
  const more = terms === undefined ? [] : [{ type: 'set_terms', terms } as const]
  await applyCommands(context, clientId, by, submit, approve, ...more)
  return clientId
}

/** Finds the fault of the protected resource that a resource server stands for. */
function audienceFaults({ settings }: ApplicationContext, audience: unknown): readonly RegistrationFault[] {
  if (audience === undefined || settings.audiences.has(audience as ResourceIdentifier)) return [] // anything else is not in it
  return [registrationFault('audience', brokenRule('audience_unknown', { came: came(audience) }))]
}

/** Finds the faults of an identifier and a secret that an application already has. */
function importFaults(
  type: Registration['type'] | undefined,
  { clientId, clientSecret, clientSecretDigest }: RegisteredWith,
): readonly RegistrationFault[] {
  const faults: RegistrationFault[] = []
  const add = (path: keyof RegisteredWith, rule: BrokenRule<RegistrationFaultCode>) =>
    faults.push(registrationFault(path, rule))
  if (clientId !== undefined && !(isTaken(NAME, clientId) && parseClientId(clientId) !== undefined))
    add('clientId', brokenRule('client_id', { least: 1, most: 255 }))
  if (type === 'public') {
    if (clientSecret !== undefined) add('clientSecret', brokenRule('client_secret_of_public'))
    if (clientSecretDigest !== undefined) add('clientSecretDigest', brokenRule('client_secret_of_public'))
    return faults
  }
  if (clientSecret !== undefined && !isTaken(SECRET, clientSecret)) add('clientSecret', secretFault(clientSecret))
  if (clientSecretDigest === undefined) return faults
  if (clientSecret !== undefined) add('clientSecretDigest', brokenRule('client_secret_twice'))
  else if (typeof clientSecretDigest !== 'string' || parseDigest(clientSecretDigest) === undefined)
    add('clientSecretDigest', brokenRule('client_secret_digest'))
  return faults
}

/** Finds the rule that a secret breaks. */
function secretFault(secret: unknown): BrokenRule<RegistrationFaultCode> {
  const kind = typeof secret === 'string' ? passwordHashKind(secret) : undefined
  return kind === undefined
    ? brokenRule('client_secret', { least: 24, most: 255 })
    : brokenRule('client_secret_hashed', { kind })
}

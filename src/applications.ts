/**
 * Applications in the store: functions for the host's administrators, no endpoint (specification, section 1).
 * @module
 */
import type { Application, Registration } from './core/application.js'
import { registerApplication } from './core/application.js'
import { encodeBase64url } from './core/base64url.js'
import { CLIENT_SECRET_PREFIX, SECRET_BYTES } from './core/credential.js'
import { clientKeyOf, digestOf } from './core/digests.js'
import { GrantwellError } from './core/errors.js'
import type { ClientId } from './core/values.js'
import { parseClientId } from './core/values.js'
import type { Settings } from './options.js'
import type { Transactions } from './transactions.js'
import { keys, recordAs } from './transactions.js'

/** What an application needs to use the service. */
export interface ClientCredentials {
  readonly clientId: ClientId
  /** Shown this once; the store holds its digest. Absent for a public client. */
  readonly clientSecret?: string
}

/** Functions for the host's administrators. */
export interface Applications {
  /**
   * Registers an application that administrators have approved.
   * @param imported - identifier and secret that the application has from elsewhere; made at random by default. A
   * secret must have at least 24 visible ASCII characters, and be random: it is kept as a plain SHA-256
   * @throws GrantwellError `ERR_REGISTRATION` with every fault, `ERR_CLIENT_EXISTS`, or `ERR_STORE`
   */
  readonly register: (
    registration: Registration,
    imported?: { readonly clientId?: string; readonly clientSecret?: string },
  ) => Promise<ClientCredentials>
  /** A copy of the record of an application; undefined where there is none. @throws GrantwellError `ERR_STORE` */
  readonly get: (clientId: string) => Promise<Application | undefined>
  /**
   * Stops an application: it gets nothing any more, and its tokens do not work from the very next request on.
   * @throws GrantwellError `ERR_CLIENT_UNKNOWN` or `ERR_STORE`
   */
  readonly suspend: (clientId: string) => Promise<void>
  /** Lets a suspended application go on; what has not expired works again. @throws like `suspend` */
  readonly reinstate: (clientId: string) => Promise<void>
}

const CLIENT_ID_BYTES = 16

const IMPORTED_SECRET = /^[\x21-\x7e]{24,255}$/

/** Binds the functions to a server. */
export function applicationsOf<Native>(settings: Settings<Native>, { read, transact }: Transactions): Applications {
  const { entropy, digests } = settings

  async function move(id: string, state: Application['state']): Promise<void> {
    const clientId = parseClientId(id)
    const key = keys.application(clientKeyOf(digests, clientId ?? ('' as ClientId))) // no application has the empty identifier
    const reply = await transact<'moved' | 'unknown'>([key], ([value]) => {
      const application = recordAs.application(value)
      if (application === undefined) return { reply: 'unknown' }
      return application.state === state
        ? { reply: 'moved' }
        : { reply: 'moved', write: recordOf(key, { ...application, state }) }
    })
    if (typeof reply === 'object') throw storeError()
    if (reply === 'unknown') throw new GrantwellError('ERR_CLIENT_UNKNOWN', 'grantwell: there is no such application')
  }

  return {
    register: async (registration, imported = {}) => {
      const confidential = registration.type === 'confidential'
      const clientId = parseClientId(imported.clientId ?? encodeBase64url(entropy(CLIENT_ID_BYTES)))
      const made = CLIENT_SECRET_PREFIX + encodeBase64url(entropy(SECRET_BYTES))
      const clientSecret = confidential ? (imported.clientSecret ?? made) : undefined
      if (clientId === undefined) throw registrationError('clientId must have 1 to 255 printable ASCII characters')
      if (!confidential && imported.clientSecret !== undefined)
        throw registrationError('clientSecret: a public client has none')
      if (clientSecret !== undefined && !IMPORTED_SECRET.test(clientSecret)) {
        throw registrationError('clientSecret must have 24 to 255 visible ASCII characters')
      }
      const identity = {
        clientId,
        ...(clientSecret !== undefined && { secretDigest: digestOf(digests, clientSecret) }),
      }
      const result = registerApplication(registration, identity, settings.clock(), settings)
      if (result.type === 'faults')
        throw registrationError(result.faults.map(({ path, message }) => `${path} ${message}`).join('; '))
      const { application } = result
      if (application.resourceScope === 'specified' && settings.resources === undefined) {
        throw registrationError('resourceScope must not be specified: the server has no option resources')
      }

      // In a record of its own, since only the consent page needs it; named by its digest, so that it is the right one.
      const logoKey = keys.logo(application.logo)
      const logo = { v: 1, base64url: encodeBase64url(registration.logo) }
      const kept = await transact<'kept'>([logoKey], ([existing]) =>
        existing === undefined ? { reply: 'kept', write: { key: logoKey, value: logo } } : { reply: 'kept' },
      )
      if (typeof kept === 'object') throw storeError()
      const key = keys.application(clientKeyOf(digests, clientId))
      const reply = await transact<'registered' | 'exists'>([key], ([existing]) =>
        existing === undefined ? { reply: 'registered', write: recordOf(key, application) } : { reply: 'exists' },
      )
      if (typeof reply === 'object') throw storeError()
      if (reply === 'exists')
        throw new GrantwellError('ERR_CLIENT_EXISTS', 'grantwell: there is an application with this client identifier')
      return { clientId, ...(clientSecret !== undefined && { clientSecret }) }
    },

    get: async (id) => {
      const clientId = parseClientId(id)
      if (clientId === undefined) return undefined
      const records = await read([keys.application(clientKeyOf(digests, clientId))])
      if ('type' in records) throw storeError()
      return structuredClone(recordAs.application(records[0]?.value))
    },
    suspend: (id) => move(id, 'suspended'),
    reinstate: (id) => move(id, 'approved'),
  }
}

function recordOf(
  key: string,
  application: Application,
): { key: string; value: Application; labels: readonly string[] } {
  return { key, value: application, labels: [`applications:${application.state}`] }
}

function registrationError(faults: string): GrantwellError {
  return new GrantwellError('ERR_REGISTRATION', `grantwell: ${faults}`)
}

function storeError(): GrantwellError {
  return new GrantwellError('ERR_STORE', 'grantwell: the store failed')
}

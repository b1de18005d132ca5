/**
 * The store of one issuer: before its first use, the server checks that the records are its own.
 * @module
 */

import type { OAuthError } from '../../core/errors.js'
import { isOAuthError } from '../../core/errors.js'
import type { JsonValue } from '../../storage/record-store.js'
import type { IssuerRecord } from '../records.js'
import { ISSUER_KEY, notOurs } from '../records.js'
import type { CheckedStore, Records, StoreSettings } from './checked-store.js'
import { createCheckedStore, storeFailed } from './checked-store.js'
import { RECORD_VERSION } from './record-version.js'

/**
 * Creates the store of a server. Nothing is answered from the records of another issuer. The first use looks for the record that
 * names their issuer, and writes it if there is none. Once the issuer is known to be this server's, it is not checked again.
 */
export function createOwnedStore(settings: StoreSettings): CheckedStore {
  const store = createCheckedStore(settings)
  const owner = createOwnerCheck(settings, store)
  return {
    read: (wanted) =>
      owner.isKnown() ? store.read(wanted) : owner.check().then((refused) => refused ?? store.read(wanted)),

    list: async (label, page) => {
      const refused = owner.isKnown() ? undefined : await owner.check()
      return refused ?? store.list(label, page)
    },

    // A record is read before it is written, so its owner is known.
    write: store.write,
  }
}

/** The check that the records of a store are this issuer's. */
interface OwnerCheck {
  /** Returns true once they are known to be. */
  readonly isKnown: () => boolean
  /** Looks for the record that names the issuer, and writes it if there is none. */
  readonly check: () => Promise<OAuthError | undefined>
}

/** Creates the check. Each request that comes while one runs makes its own, so that none waits for an answer that was lost. */
function createOwnerCheck({ issuer, onError }: StoreSettings, store: CheckedStore): OwnerCheck {
  let isOurs = false

  async function check(): Promise<OAuthError | undefined> {
    const records = await store.read([ISSUER_KEY])
    if (isOAuthError(records) || records[0] !== undefined) return checkOwner(records)
    const value: IssuerRecord = { v: RECORD_VERSION, issuer }
    const written = await store.write(ISSUER_KEY, value as unknown as JsonValue, { expected: 0 }) // an interface has no index
    if (typeof written === 'object') return written
    // Another server wrote it meanwhile, perhaps one of this issuer.
    if (!written) return checkOwner(await store.read([ISSUER_KEY]))
    isOurs = true
    return undefined
  }

  function checkOwner(records: Records | OAuthError): OAuthError | undefined {
    if (isOAuthError(records)) return records
    const { issuer: owner } = (records[0]?.value ?? {}) as Partial<IssuerRecord> // of a version that is read
    isOurs = owner === issuer
    if (isOurs) return undefined
    const error = notOurs(owner, issuer)
    onError(error)
    return storeFailed(error)
  }

  return { isKnown: () => isOurs, check }
}

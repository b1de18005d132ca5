/**
 * The logos of applications. Each is a record of its own, since only pages need it, and belongs to one submission, so that it is
 * removed with it.
 * @module
 */
import type { Logo } from '../core/application/image.js'
import { imageType } from '../core/application/image.js'
import { decodeBase64url, encodeBase64url } from '../core/credentials/base64url.js'
import { GrantwellError, isOAuthError } from '../core/errors.js'
import type { Settings } from '../shell/options/settings.js'
import { storeError } from '../shell/records/checked-store.js'
import type { LogoRecord } from '../shell/records.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'

/** The logos in a store. */
export interface Logos {
  /** Stores a logo for a record that will name it, and removes it if that record is refused. */
  readonly keepFor: <Result>(bytes: Uint8Array, use: (logo: string) => Promise<Result>) => Promise<Result>
  /** Removes logos that no record names. A logo whose removal fails only takes room. */
  readonly forget: (logos: readonly string[]) => Promise<void>
  /** Reads a logo; undefined for an unknown name. */
  readonly read: (logo: string) => Promise<Logo | undefined>
}

const NAME_BYTES = 16

/** The record in place of a removed logo until the engine deletes it. */
const GONE: LogoRecord = { v: 1, base64url: '' }

/** Creates the functions on a server's logos. */
export function createLogos(settings: Settings<never>, transactions: Transactions): Logos {
  const forget: Logos['forget'] = async (logos) => {
    await Promise.all(logos.map((logo) => removeLogo(settings, transactions, logo)))
  }
  return {
    forget,

    keepFor: async (bytes, use) => {
      const logo = await storeLogo(settings, transactions, bytes)
      try {
        return await use(logo)
      } catch (error) {
        // If the store failed, the record may have been written all the same.
        if (error instanceof GrantwellError && error.code !== 'ERR_STORE') await forget([logo])
        throw error
      }
    },

    read: async (logo) => {
      if (decodeBase64url(logo)?.length !== NAME_BYTES) return undefined
      const records = await transactions.read([keys.logo(logo)])
      if (isOAuthError(records)) throw storeError(records)
      return logoOf(recordAs.logo(records[0]?.value))
    },
  }
}

/** Stores a logo under a random name. */
async function storeLogo({ entropy }: Settings<never>, { transact }: Transactions, bytes: Uint8Array): Promise<string> {
  const name = encodeBase64url(entropy(NAME_BYTES))
  const key = keys.logo(name)
  const value: LogoRecord = { v: 1, base64url: encodeBase64url(bytes) }
  const stored = await transact<'stored'>([key], () => ({ reply: 'stored', write: { key, value } }))
  if (typeof stored === 'object') throw storeError(stored)
  return name
}

async function removeLogo({ clock }: Settings<never>, { transact }: Transactions, logo: string): Promise<void> {
  const key = keys.logo(logo)
  await transact<'gone'>([key], () => ({ reply: 'gone', write: { key, value: GONE, expiresAt: clock() } }))
}

/** Reads the logo of a record; undefined if there is none, or if it is no image. */
export function logoOf(record: LogoRecord | undefined): Logo | undefined {
  const bytes = decodeBase64url(record?.base64url ?? '')
  const type = bytes === undefined ? undefined : imageType(bytes)
  return bytes === undefined || type === undefined ? undefined : { type, bytes }
}

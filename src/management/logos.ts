/**
 * The logos of applications: each in a record of its own, since only pages need it, and of one submission alone, so that
 * it can go with it.
 * @module
 */

import { imageType } from '../core/application/image.js'
import { GrantwellError } from '../core/errors.js'
import { decodeBase64url, encodeBase64url } from '../core/tokens/base64url.js'
import { storeError } from '../shell/checked-store.js'
import type { Settings } from '../shell/options.js'
import type { LogoRecord } from '../shell/records.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'

/** A logo as it was handed in. */
export interface Logo {
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  readonly bytes: Uint8Array
}

/** The logos in a store. */
export interface Logos {
  /** Keeps a logo for whatever comes to name it, and forgets it where that is refused. */
  readonly keepFor: <Result>(bytes: Uint8Array, use: (logo: string) => Promise<Result>) => Promise<Result>
  /** What is named no more goes; where that fails, it only takes room. */
  readonly forget: (logos: readonly string[]) => Promise<void>
  /** Undefined where there is none of that name. */
  readonly read: (logo: string) => Promise<Logo | undefined>
}

const NAME_BYTES = 16

/** A record in place of a logo until the engine forgets it. */
const GONE: LogoRecord = { v: 1, base64url: '' }

/** Binds the functions to a server. */
export function logosIn<Native>({ entropy, clock }: Settings<Native>, { read, transact }: Transactions): Logos {
  async function keep(bytes: Uint8Array): Promise<string> {
    const name = encodeBase64url(entropy(NAME_BYTES))
    const key = keys.logo(name)
    const value: LogoRecord = { v: 1, base64url: encodeBase64url(bytes) }
    const kept = await transact<'kept'>([key], () => ({ reply: 'kept', write: { key, value } }))
    if (typeof kept === 'object') throw storeError(kept)
    return name
  }

  async function forget(logos: readonly string[]): Promise<void> {
    await Promise.all(
      logos.map((logo) => {
        const key = keys.logo(logo)
        return transact<'gone'>([key], () => ({ reply: 'gone', write: { key, value: GONE, expiresAt: clock() } }))
      }),
    )
  }

  return {
    forget,

    keepFor: async (bytes, use) => {
      const logo = await keep(bytes)
      try {
        return await use(logo)
      } catch (error) {
        // Where the store failed, the record may have been written all the same.
        if (error instanceof GrantwellError && error.code !== 'ERR_STORE') await forget([logo])
        throw error
      }
    },

    read: async (logo) => {
      if (decodeBase64url(logo)?.length !== NAME_BYTES) return undefined
      const records = await read([keys.logo(logo)])
      if ('type' in records) throw storeError(records)
      return logoOf(recordAs.logo(records[0]?.value))
    },
  }
}

/** Reads the record of a logo; undefined where there is none, or it is no image. */
export function logoOf(record: LogoRecord | undefined): Logo | undefined {
  const bytes = decodeBase64url(record?.base64url ?? '')
  const type = bytes === undefined ? undefined : imageType(bytes)
  return bytes === undefined || type === undefined ? undefined : { type, bytes }
}

/**
 * The cache of logos: the ones that were asked for last stay decoded, and one that is still being sent is not decoded again.
 * @module
 */

import type { Logo } from '../../core/application/image.js'
import type { OAuthError } from '../../core/errors.js'
import { isPromise } from '../../shell/maybe-promise.js'

/** Bytes of logos that stay decoded, so that many requests for one share its bytes. */
const KEPT_BYTES = 8 * 1024 * 1024

/** Logos by their names. */
interface Logos {
  readonly get: (name: string) => Logo | undefined
  readonly add: (name: string, logo: Logo) => void
}

/** Finds a logo by its name; undefined where there is none. */
export type FindLogo = (name: string) => Promise<Logo | OAuthError | undefined>

/** Wraps the function that loads a logo, so that requests for one share the load and the bytes. */
export function cacheLogos(load: FindLogo): FindLogo {
  const kept = createKeptLogos()
  const sent = createSentLogos()
  /** Loads under way: requests that come meanwhile get the same logo. */
  const loading = new Map<string, Promise<Logo | OAuthError | undefined>>()

  return async (name) => {
    const known = kept.get(name) ?? sent.get(name)
    const asked = known ?? loading.get(name) ?? load(name)
    if (isPromise(asked)) loading.set(name, asked)
    try {
      const logo = await asked
      if (logo !== undefined && 'bytes' in logo) {
        kept.add(name, logo)
        sent.add(name, logo)
      }
      return logo
    } finally {
      loading.delete(name)
    }
  }
}

/** Makes the logos that stay decoded. Beyond {@link KEPT_BYTES} the ones that were asked for longest ago go. */
function createKeptLogos(): Logos {
  /** The one that was asked for last is at the end. */
  const kept = new Map<string, Logo>()
  let bytes = 0

  function drop(name: string): void {
    bytes -= kept.get(name)?.bytes.length ?? 0
    kept.delete(name)
  }

  return {
    get: (name) => kept.get(name),

    add: (name, logo) => {
      drop(name)
      kept.set(name, logo)
      bytes += logo.bytes.length
      for (const oldest of kept.keys()) {
        if (bytes <= KEPT_BYTES) break
        drop(oldest)
      }
    },
  }
}

/** Makes the logos that answers may still hold. However many clients read slowly, all answers with one logo share its bytes. */
function createSentLogos(): Logos {
  const sent = new Map<string, { readonly type: Logo['type']; readonly bytes: WeakRef<ArrayBufferLike> }>()
  return {
    get: (name) => {
      const found = sent.get(name)
      const buffer = found?.bytes.deref()
      return found === undefined || buffer === undefined
        ? undefined
        : { type: found.type, bytes: new Uint8Array(buffer) }
    },

    add: (name, { type, bytes }) => {
      if (sent.get(name)?.bytes.deref() === bytes.buffer) return
      for (const [other, { bytes: held }] of sent) if (held.deref() === undefined) sent.delete(other)
      sent.set(name, { type, bytes: new WeakRef(bytes.buffer) })
    },
  }
}

/**
 * What a server takes of its runtime where a host gives nothing: randomness and time.
 * @module
 */
import type { AuditEvent, AuthorizationServer } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { parseCredential } from 'grantwell/core'
import { memoryStore } from 'grantwell/storage/memory'
import type { Case, Suite } from './case.js'
import { demand, hexOf, platformBytes, same } from './case.js'
import { callApi, hostOptions, makeSite, pairOf, serve, tokensOf } from './site.js'

/** A server as hosts make it, while their module is loaded, when a runtime may refuse random numbers and timers. */
const early = made()

interface Made {
  readonly server: AuthorizationServer<Request>
  readonly events: readonly AuditEvent[]
}

function made(): Made | Error {
  try {
    const events: AuditEvent[] = []
    const onEvent = (event: AuditEvent): void => void events.push(event)
    return { server: createAuthorizationServer({ ...hostOptions, store: memoryStore(), onEvent }), events }
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** So many that what gives out random bytes from a pool fills it more than once. */
const GRANTS = 100

const cases: readonly Case[] = [
  {
    name: 'one that was made while its module was loaded works, by the clock of the runtime',
    run: async () => {
      if (early instanceof Error) throw early
      const { server, events } = early
      const before = Math.floor(Date.now() / 1000)
      const site = await serve(server)
      const { access_token, expires_in } = await pairOf(site)
      same([(await callApi(site, access_token)).status, expires_in], [200, 28_800], 'a token of now')
      const after = Math.floor(Date.now() / 1000)
      demand(events.length >= 4, 'the server told of registrations and of the grant')
      const outside = events.filter(({ at }) => at < before || at > after)
      same(outside, [], `events outside of ${before} to ${after}`)
    },
  },
  {
    name: 'its secrets have no eight bytes in common, and every bit of them changes',
    run: async () => {
      const site = await makeSite()
      const seen = new Set<string>()
      const [ones, zeros] = [new Uint8Array(32), new Uint8Array(32)]
      for (let grant = 0; grant < GRANTS; grant++) {
        const first = await pairOf(site)
        const second = await tokensOf(site, { grant_type: 'refresh_token', refresh_token: first.refresh_token })
        for (const token of [first.access_token, first.refresh_token, second.access_token]) {
          const written = parseCredential(token)?.secret
          demand(written !== undefined, `a credential, not ${token}`)
          const secret = platformBytes(written)
          same(secret.length, 32, 'bytes of a secret')
          for (let at = 0; at + 8 <= secret.length; at++) {
            const part = hexOf(secret.subarray(at, at + 8))
            demand(!seen.has(part), `${part} for the first time`)
            seen.add(part)
          }
          for (const [index, byte] of secret.entries()) {
            ones[index] = (ones[index] ?? 0) | byte
            zeros[index] = (zeros[index] ?? 0) | ~byte
          }
        }
      }
      same([hexOf(ones), hexOf(zeros)], ['ff'.repeat(32), 'ff'.repeat(32)], 'the bits that were ever 1, and ever 0')
    },
  },
]

export const defaults: Suite = { title: 'what a server takes of its runtime', cases: () => cases }

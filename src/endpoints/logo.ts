/**
 * The logos of applications, each at an address of its own, so that no page has one in it.
 *
 * An address names the application and its logo, whose name is random and never gets other bytes. Anybody who has the address of
 * a published application's logo gets it: every user is shown it anyway. What waits for an administrator, was refused or was
 * replaced is not served; `applications.logo` gives that to the host.
 * @module
 */
import { isPublished } from '../core/application/application.js'
import type { OAuthError } from '../core/errors.js'
import { clientKeyOf, type Digests } from '../core/tokens/digests.js'
import { parseClientId } from '../core/values.js'
import { type Logo, logoOf } from '../management/logos.js'
import { ENDPOINT_PATHS } from '../protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { EMPTY_HEADERS, errorResponse, queryOf } from '../protocol/message.js'
import { imageResponse } from '../protocol/pages/page.js'
import { isError, parseParameters, valuesIn } from '../protocol/parameters.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'

/** Bytes of logos that stay decoded, so that many requests for one share its bytes. */
const KEPT_BYTES = 8 * 1024 * 1024

const NOT_FOUND: HttpResponse = { status: 404, headers: EMPTY_HEADERS, body: '' }

/** Gives the address of a published application's logo: a path and query behind the issuer. */
export function logoAddress(application: { readonly clientId: string; readonly logo: string }): string {
  return `${ENDPOINT_PATHS.logo}?client_id=${encodeURIComponent(application.clientId)}&logo=${application.logo}`
}

/** Makes the endpoint of a server. */
export function logoEndpoint(
  digests: Digests,
  transactions: Transactions,
): (request: HttpRequest) => Promise<HttpResponse<string | Uint8Array>> {
  /** By their names, the one that was asked for last at the end. */
  const kept = new Map<string, Logo>()
  /** Those that are being sent, perhaps: each answer holds the same bytes, however many clients read slowly. */
  const sent = new Map<string, { readonly type: Logo['type']; readonly bytes: WeakRef<ArrayBufferLike> }>()
  /** Those that are being read: whoever asks meanwhile gets the same. */
  const loading = new Map<string, Promise<Logo | OAuthError | undefined>>()
  let keptBytes = 0

  function drop(name: string): void {
    keptBytes -= kept.get(name)?.bytes.length ?? 0
    kept.delete(name)
  }

  function keep(name: string, logo: Logo): void {
    drop(name)
    kept.set(name, logo)
    keptBytes += logo.bytes.length
    for (const oldest of kept.keys()) {
      if (keptBytes <= KEPT_BYTES) break
      drop(oldest)
    }
  }

  async function load(name: string): Promise<Logo | OAuthError | undefined> {
    const found = await transactions.read([keys.logo(name)])
    return 'type' in found ? found : logoOf(recordAs.logo(found[0]?.value))
  }

  function remember(name: string, { type, bytes }: Logo): void {
    if (sent.get(name)?.bytes.deref() === bytes.buffer) return
    for (const [other, { bytes: held }] of sent) if (held.deref() === undefined) sent.delete(other)
    sent.set(name, { type, bytes: new WeakRef(bytes.buffer) })
  }

  function stillSent(name: string): Logo | undefined {
    const found = sent.get(name)
    const buffer = found?.bytes.deref()
    return found === undefined || buffer === undefined ? undefined : { type: found.type, bytes: new Uint8Array(buffer) }
  }

  async function logoBy(name: string): Promise<Logo | OAuthError | undefined> {
    const known = kept.get(name) ?? stillSent(name)
    const asked = known ?? loading.get(name) ?? load(name)
    if (asked instanceof Promise) loading.set(name, asked)
    try {
      const logo = await asked
      if (logo !== undefined && 'bytes' in logo) {
        keep(name, logo)
        remember(name, logo)
      }
      return logo
    } finally {
      loading.delete(name)
    }
  }

  return async ({ url }) => {
    const parameters = parseParameters(queryOf(url))
    const asked = isError(parameters) ? parameters : valuesIn(parameters, ['client_id', 'logo'])
    const clientId = isError(asked) ? undefined : parseClientId(asked.client_id ?? '')
    if (isError(asked) || asked.logo === undefined || clientId === undefined) return NOT_FOUND
    const { logo: name } = asked
    const records = await transactions.read([keys.application(clientKeyOf(digests, clientId))])
    if ('type' in records) return errorResponse(records)
    const application = recordAs.application(records[0]?.value)
    if (!isPublished(application) || application.clientId !== clientId || application.logo !== name) return NOT_FOUND
    const logo = await logoBy(name)
    if (logo === undefined) return NOT_FOUND
    return 'bytes' in logo ? imageResponse(logo.type, logo.bytes) : errorResponse(logo)
  }
}

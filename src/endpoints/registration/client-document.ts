/**
 * Reads the document of a client whose identifier is its URL, when a user is to be asked about that client.
 * @module
 * @see draft-ietf-oauth-client-id-metadata-document, sections 4 and 6
 */
import type { Application } from '../../core/application/application.js'
import type { ReadDocument } from '../../core/application/self-registered/document.js'
import { adoptDocument, documentDueAt, isSameDocument } from '../../core/application/self-registered/document.js'
import { digestOf } from '../../core/credentials/digests.js'
import { isOAuthError } from '../../core/errors.js'
import type { Takes } from '../../core/takes.js'
import { isObject } from '../../core/takes.js'
import type { ClientId, Seconds } from '../../core/values.js'
import type { RefusedLink } from '../../protocol/authorization.js'
import { notAccessible } from '../../protocol/authorization.js'
import type { HttpRequest } from '../../protocol/message.js'
import { checkClientDocument, documentUrl } from '../../protocol/registration/client-id-url.js'
import type { ClientMetadata } from '../../protocol/registration/client-metadata.js'
import { checkedAnswer } from '../../shell/host.js'
import type { FetchedClientMetadata } from '../../shell/options/client-metadata.js'
import { applicationWrite } from '../../shell/records/application-write.js'
import { unavailable } from '../../shell/records/checked-store.js'
import { keys, recordAs } from '../../shell/records.js'
import type { PageContext } from '../interaction/context.js'
import { readAddress } from '../limits/network.js'
import { decideOnClient, metadataRules } from './policy.js'

/** Seconds for which a document counts as read: as its headers say, within these. */
export const DOCUMENT_LIFETIME = { least: 60, most: 86_400, usual: 3600 } as const

/** A document has no more bytes (section 4 recommends the limit). */
const DOCUMENT_BYTES = 5120

const FETCHED: Takes = {
  words: "{ type: 'document', text, maxAge } with at most 5,120 bytes, or { type: 'none', reason }",
  fits: (value) =>
    isObject(value) &&
    (value['type'] === 'none' ||
      (value['type'] === 'document' &&
        typeof value['text'] === 'string' &&
        new TextEncoder().encode(value['text']).length <= DOCUMENT_BYTES &&
        (value['maxAge'] === undefined || typeof value['maxAge'] === 'number'))),
  secret: true,
}

/** True for a client whose document must be read before a user is asked: it is new, or it was read too long ago. */
export function isDocumentDue(
  { fetchClientMetadata, clock }: PageContext<never>,
  clientId: ClientId,
  stored: Application | undefined,
): boolean {
  if (fetchClientMetadata === undefined || documentUrl(clientId) === undefined) return false
  const dueAt = documentDueAt(stored)
  return stored === undefined || (dueAt !== undefined && dueAt <= clock())
}

/**
 * Reads the document of a client and adopts it. The request is limited, since it makes this server call another one; that of a new client
 * counts as a registration.
 * @returns the application as it is from now on, or the error for a page
 */
export async function readClientDocument<Native>(
  context: PageContext<Native>,
  request: HttpRequest<Native>,
  clientId: ClientId,
  stored: Application | undefined,
): Promise<Application | RefusedLink> {
  const limit = stored === undefined ? context.registrationLimit : context.documentLimit
  const tooMany = await limit({ address: readAddress(context, request) })
  if (tooMany !== undefined) return tooMany
  const fetched = checkedAnswer<FetchedClientMetadata>(
    'fetchClientMetadata()',
    FETCHED,
    await context.fetchClientMetadata?.(clientId),
  )
  if (fetched.type === 'none') return unreadable(clientId, `document: ${fetched.reason}`)
  const metadata = checkClientDocument(clientId, fetched.text, metadataRules(context))
  if (isOAuthError(metadata)) return unreadable(clientId, `document: ${metadata.description}`)
  return adopt(context, clientId, stored, metadata, lifetimeOf(fetched.maxAge))
}

/** Stores what a document says, as the policy decides on it. */
async function adopt(
  context: PageContext<never>,
  clientId: ClientId,
  stored: Application | undefined,
  { details }: ClientMetadata,
  lifetime: Seconds,
): Promise<Application | RefusedLink> {
  const { digests, scopes: catalogue, transactions } = context
  const digest = digestOf(digests, JSON.stringify(details))
  const isSame = isSameDocument(stored, digest)
  const decided = isSame ? {} : { decision: await decideOnClient(context, 'document', clientId, details) }
  const key = keys.application(context.clientKeyOf(clientId))
  const reply = await transactions.transact<{ readonly type: 'adopted'; readonly application: Application }>(
    [key],
    ([value], now) => {
      const read: ReadDocument = {
        id: clientId,
        details,
        document: { digest, until: now + lifetime },
        catalogue,
        ...decided,
      }
      const outcome = adoptDocument(recordAs.application(value), read, now)
      if (outcome.type === 'refused' && outcome.refusal === 'unknown') return { reply: notAccessible('client_refused') }
      if (outcome.type !== 'done') return { reply: unavailable('contention') }
      const { application, event } = outcome
      const events = event === undefined ? [] : [event]
      return { reply: { type: 'adopted', application }, write: applicationWrite(key, application), events }
    },
  )
  return isOAuthError(reply) ? { ...reply, clientId } : reply.application
}

/** Returns the seconds for which a document counts as read. */
function lifetimeOf(maxAge: Seconds | undefined): Seconds {
  const { least, most, usual } = DOCUMENT_LIFETIME
  return maxAge === undefined || !Number.isFinite(maxAge) ? usual : Math.trunc(Math.min(most, Math.max(least, maxAge)))
}

/** Makes the error of a document that cannot be read; the audit trail is told why. */
function unreadable(clientId: ClientId, rule: string): RefusedLink {
  return { ...notAccessible('client_metadata_unavailable'), clientId, rule }
}

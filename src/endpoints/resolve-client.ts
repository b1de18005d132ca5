/**
 * The client that a request means.
 * @module
 * @see RFC 6749, section 2.3.1
 */

import type { Credential } from '../core/credentials/credential.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import type { PresentedClient } from '../protocol/client-authentication.js'
import { clientIdsOf, meantClient, registeredClient } from '../protocol/client-authentication.js'
import type { MaybePromise } from '../shell/maybe-promise.js'
import type { Settings } from '../shell/options/settings.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'

/**
 * Finds the client that a request means, where its identifier can be read in two ways. The store is read only if the credential
 * does not decide between them.
 * @param credential - the code or token of the request, which names its client
 */
export function resolveClient(
  presented: PresentedClient,
  credential: Credential | undefined,
  settings: Settings<never>,
  transactions: Pick<Transactions, 'read'>,
): MaybePromise<PresentedClient | OAuthError> {
  const client = meantClient(presented, credential, settings.digests)
  return client.clientIdAsItIs === undefined ? client : findRegistered(client, settings, transactions)
}

async function findRegistered(
  client: PresentedClient,
  { clientKeyOf }: Settings<never>,
  { read }: Pick<Transactions, 'read'>,
): Promise<PresentedClient | OAuthError> {
  const found = await read(clientIdsOf(client).map((id) => keys.application(clientKeyOf(id))))
  if (isOAuthError(found)) return found
  const registered = found.map((record) => recordAs.application(record?.value))
  return registeredClient(client, registered)
}

/**
 * The host's policy on clients that register themselves.
 * @module
 * @see RFC 7591, section 5
 */
import type { RegistrationDetails } from '../../core/application/registration.js'
import type { ClientDecision } from '../../core/application/self-registered/document.js'
import { normalizeScopes } from '../../core/scopes.js'
import type { Takes } from '../../core/takes.js'
import { isObject } from '../../core/takes.js'
import type { ClientId } from '../../core/values.js'
import type { ClientMetadataRules } from '../../protocol/registration/client-metadata.js'
import { checkedAnswer, wrongAnswer } from '../../shell/host.js'
import type { ClientCandidate, ClientVerdict } from '../../shell/options/client-policy.js'
import type { Settings } from '../../shell/options/settings.js'

const VERDICT: Takes = {
  words: "'approve', 'review', 'refuse', or { approve } with a list of scopes",
  fits: (value) =>
    value === 'approve' ||
    value === 'review' ||
    value === 'refuse' ||
    (isObject(value) && Array.isArray(value['approve'])),
}

/** Returns the rules for what a client says about itself. */
export function metadataRules(settings: Settings<never>): ClientMetadataRules {
  const { scopes, redirect, resources, allowClientSecretPost: allowPost } = settings
  return { scopes, redirect, specifiedResources: resources !== undefined, allowPost }
}

/**
 * Asks the host's policy about a client. It may approve other scopes than the client asks for (RFC 7591, section 3.2.1): clients of MCP
 * register for what their first call needs, and ask their users for more when a later one does.
 * @throws GrantwellError `ERR_CONFIGURATION` for an answer that is no verdict, or for scopes that the service does not have
 */
export async function decideOnClient(
  { clientPolicy, scopes: catalogue }: Settings<never>,
  source: ClientCandidate['source'],
  clientId: ClientId,
  details: RegistrationDetails,
): Promise<ClientDecision> {
  const { name, website, type, redirectUris, scopes, deviceFlow } = details
  // Copies, so that a change by the host reaches nothing that was checked.
  const lists = { redirectUris: [...redirectUris], scopes: [...scopes] }
  const answer = await clientPolicy?.({ source, clientId, name, website, type, deviceFlow, ...lists })
  const verdict = checkedAnswer<ClientVerdict>('clientPolicy()', VERDICT, answer)
  if (verdict === 'approve') return { type: 'approve', scopes }
  if (typeof verdict === 'string') return { type: verdict }
  const approved = normalizeScopes(catalogue, verdict.approve)
  if (approved === undefined) throw wrongAnswer('clientPolicy()', '{ approve } with scopes of the service', verdict)
  return { type: 'approve', scopes: approved }
}

/**
 * The host's policy on clients that register themselves: the client that it is asked about, and its verdict.
 * @module
 */
import type { ClientId } from '../../core/values.js'

/** A client that registers itself, or whose identifier is the URL of its metadata, as the host's policy sees it. */
export interface ClientCandidate {
  /** Its way: `registration` is a request to register (RFC 7591), `document` is the URL of its metadata. */
  readonly source: 'registration' | 'document'
  /** The client identifier that it has, or gets. */
  readonly clientId: ClientId
  /** The name that it gives itself. Nobody has checked it. */
  readonly name: string
  /** The website that it names; empty for none. */
  readonly website: string
  /** `confidential` gets a secret; `public` has none. */
  readonly type: 'confidential' | 'public'
  /** The redirect URIs, each of which stands for itself alone; none for a client of the device flow alone. */
  readonly redirectUris: readonly string[]
  /** The scopes that it names, or all that the service has. */
  readonly scopes: readonly string[]
  /** True if it asks for the device flow. */
  readonly deviceFlow: boolean
}

/**
 * The decision on a client that registers itself: `approve` lets it work at once, `review` lets it wait for an administrator, as a
 * submission does, and `refuse` keeps nothing of it. A list of scopes approves it for those, whatever it names: fewer, or more, which it
 * can then ask its users for.
 */
export type ClientVerdict = 'approve' | 'review' | 'refuse' | { readonly approve: readonly string[] }

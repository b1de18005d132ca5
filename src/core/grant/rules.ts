/**
 * The settings that the transitions of a grant go by, and the number of random bytes that each takes.
 * @module
 * @see Specification, section 8
 */

import type { DeclaredResources } from '../audiences/audience.js'
import type { DerivationRules } from '../credentials/digests.js'
import type { ScopeCatalogue } from '../scopes.js'
import type { Seconds } from '../values.js'

/** Settings and digest functions of the transitions, equal for every request of a server. */
export interface GrantRules extends DerivationRules {
  /** The scopes that the service has: no token has others. */
  readonly catalogue: ScopeCatalogue
  /** The protected resources that the service has; none by default. */
  readonly audiences?: DeclaredResources
  /** Lifetimes and the grace period, in seconds. */
  readonly codeLifetime: Seconds
  /** Seconds for which an access token works. */
  readonly accessTokenLifetime: Seconds
  /** Seconds for which a refresh token works. */
  readonly refreshTokenLifetime: Seconds
  /** Seconds for which a pair works on after its refresh. */
  readonly gracePeriod: Seconds
  /** Consequence of a refresh token that comes back after its grace: its grant is revoked, or it is refused and no more. */
  readonly refreshReplay: 'revoke' | 'refuse'
  /** Seconds that a device waits for a decision, and that it waits between two polls at first. */
  readonly deviceCodeLifetime: Seconds
  /** Seconds that must lie between two polls at first. */
  readonly devicePollingInterval: Seconds
}

/** Bytes of entropy that every transition is given. */
export const ENTROPY_BYTES = 64

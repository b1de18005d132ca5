/**
 * The commands to an application.
 * @module
 */
import type { Scope, ScopeCatalogue } from '../../scopes.js'
import type { ClientId, Digest, Seconds, Subject } from '../../values.js'
import type { ApplicationDetails, ApplicationTerms, SelfRegistered } from '../application.js'
import type { RegistrationDetails } from '../registration.js'

/** A command to an application. */
export type ApplicationCommand =
  | {
      readonly type: 'submit'
      readonly id: ClientId
      readonly applicant?: Subject
      readonly details: ApplicationDetails
      /** Given for a client that registers itself. */
      readonly selfRegistered?: SelfRegistered
      /** The digest of the secret that such a client has at once; absent for a public one. */
      readonly secretDigest?: Digest
    }
  | {
      readonly type: 'change'
      /** Without a logo the application keeps its present one. */
      readonly details: RegistrationDetails & { readonly logo?: string }
      /** The revision that the change was made from: a newer one is refused. Absent for a change of any. */
      readonly revision?: number
    }
  | {
      readonly type: 'approve'
      /** The revision that was reviewed: a newer one is refused, since nobody has reviewed it. */
      readonly revision: number
      /** In normal form; absent grants all requested scopes. */
      readonly scopes?: readonly Scope[]
      /** The scopes that the service has. */
      readonly catalogue: ScopeCatalogue
      /** The digest of the secret that a confidential client gets at its first approval. */
      readonly secretDigest: Digest
      /** The time until which a client is kept that the policy of the host approved; absent where an administrator did. */
      readonly keepUntil?: Seconds | undefined
    }
  | {
      readonly type: 'use'
      /** The time until which a client that registered itself is kept now. */
      readonly keepUntil: Seconds
    }
  | { readonly type: 'reject'; readonly revision: number; readonly reason: string }
  /** Takes back what waits: a new application, or a change. */
  | { readonly type: 'withdraw' }
  | { readonly type: 'transfer'; readonly applicant: Subject }
  | { readonly type: 'set_terms'; readonly terms: ApplicationTerms }
  /** Removes an application that may not be used: a live one must be suspended first. */
  | { readonly type: 'delete' }
  | { readonly type: 'suspend' }
  | { readonly type: 'reinstate' }
  | {
      readonly type: 'rotate_secret'
      readonly secretDigest: Digest
      /** Seconds for which older secrets work on, at most. */
      readonly overlap: Seconds
    }

/** A command of one type. */
export type CommandOf<Type extends ApplicationCommand['type']> = Extract<ApplicationCommand, { readonly type: Type }>

/**
 * The functions of a server for applicants and administrators: functions that the host calls, no endpoint.
 * @module
 * @see Specification, section 1
 */

import type { Application, ApplicationTerms, SubmittedApplication } from '../../core/application/application.js'
import type { RedirectFault } from '../../core/application/faults.js'
import type { Logo } from '../../core/application/image.js'
import type {
  Amendment,
  Registration,
  ResourceServerRegistration,
  Submission,
} from '../../core/application/registration.js'
import type { ClientId, Seconds, Subject } from '../../core/values.js'
import type { ActedBy } from '../arguments.js'

/** The credentials by which an application uses the service. */
export interface ClientCredentials {
  /** The client identifier. */
  readonly clientId: ClientId
  /**
   * Shown only once: the store holds its digest. Absent for a public client, and for a client that has a secret already or was
   * imported with the digest of one.
   */
  readonly clientSecret?: string
}

/**
 * Functions for applicants and administrators. The host decides who may call them. Each that changes an application takes the one
 * who asks for it as `actor`, and the request by which they ask as `request`, both for the audit trail. Each throws GrantwellError: `ERR_STORE` if the
 * store fails, `ERR_CONFIGURATION` for an option of another name or type, and, if it changes an application,
 * `ERR_CLIENT_UNKNOWN`.
 */
export interface Applications {
  /**
   * Registers an application that administrators have approved, in one step.
   * @param imported - an identifier and a secret that the application already has; random by default. The secret must have at
   * least 24 visible ASCII characters and be random, since the store holds its plain SHA-256
   * @param imported.clientSecretDigest - in place of the secret, its SHA-256 as another server kept it: 64 hexadecimal digits or 43
   * characters of base64url. Only of a random secret: that of a password is found by guessing
   * @param imported.terms - as for `setTerms`
   * @throws GrantwellError `ERR_REGISTRATION` with every fault, or `ERR_CLIENT_EXISTS`
   */
  readonly register: (
    registration: Registration,
    imported?: {
      readonly clientId?: string
      readonly clientSecret?: string
      readonly clientSecretDigest?: string
      readonly terms?: ApplicationTerms
    } & ActedBy,
  ) => Promise<ClientCredentials>
  /**
   * Registers an API of the service that runs elsewhere. It may then use the introspection endpoint. It is suspended, reinstated,
   * looked up and given a new secret like an application, and has `resourceServer: true`.
   * @param imported - an identifier and a secret that it already has, as for `register`
   * @throws GrantwellError `ERR_REGISTRATION` with every fault, `ERR_CLIENT_EXISTS`, or `ERR_CONFIGURATION` for an unknown field
   * @see RFC 7662, section 2.1
   */
  readonly registerResourceServer: (
    registration: ResourceServerRegistration,
    imported?: { readonly clientId?: string; readonly clientSecret?: string } & ActedBy,
  ) => Promise<Required<ClientCredentials>>
  /**
   * Submits an application for approval.
   * @param by.applicant - the user who submits it; `list` finds it by this user
   * @param by.id - 16 random bytes as base64url, to be the identifier: a form that has it can be sent twice and is submitted once.
   * Made here by default
   * @returns the pending application; its `id` becomes the client identifier once it is approved
   * @throws GrantwellError `ERR_REGISTRATION` with every fault, `ERR_TOO_MANY_SUBMISSIONS` if 20 of the applicant wait, or
   * `ERR_CLIENT_EXISTS` if the identifier is taken
   */
  readonly submit: (
    submission: Submission,
    by?: { readonly applicant?: Subject; readonly id?: string } & ActedBy,
  ) => Promise<SubmittedApplication>
  /**
   * Submits a change for approval. The approved registration stays in force until then. A change or a submission that waits
   * already is changed in its turn.
   * @param amendment - the fields that are to be other: `{ redirectUris: [...uris, uri] }`. A field that is left out stays as it is;
   * null takes an optional one away; a scope that is named alone keeps its reason
   * @param options.revision - the `revision` that the change was made from; by default it is made from the newest
   * @throws GrantwellError `ERR_REGISTRATION` with every fault, `ERR_APPLICATION_STATE` for a rejected application, or
   * `ERR_REVISION_OUTDATED` if somebody else changed it since that revision
   */
  readonly change: (
    id: string,
    amendment: Amendment,
    options?: { readonly revision?: number } & ActedBy,
  ) => Promise<Application>
  /**
   * Takes back what waits, or what was rejected: a change, or a new application, which is gone then.
   * @throws GrantwellError `ERR_APPLICATION_STATE` if there is nothing of that kind
   */
  readonly withdraw: (id: string, options?: ActedBy) => Promise<void>
  /**
   * Gives an application to another applicant, a colleague for example.
   * @param to.applicant - the user who has it from now on
   * @throws GrantwellError `ERR_APPLICATION_STATE` for a resource server
   */
  readonly transfer: (id: string, to: { readonly applicant: Subject } & ActedBy) => Promise<void>
  /**
   * Sets what administrators alone decide on, whatever an applicant hands in. It replaces the terms that were set before.
   * @param terms - `firstParty: true` for an application of the service itself, whose users are not asked for consent; lifetimes of its
   * tokens in seconds, in place of those of the server
   * @throws GrantwellError `ERR_APPLICATION_STATE` for an application that was never approved, or a resource server
   */
  readonly setTerms: (clientId: string, terms: ApplicationTerms, options?: ActedBy) => Promise<void>
  /**
   * Deletes an application as `delete` does, and erases what is left of it: no record of the store holds its applicant any more, nor what
   * was registered, nor the users who permitted it something. It may be called for an application that was deleted before.
   * @throws GrantwellError `ERR_APPLICATION_STATE` for a client whose identifier is the URL of its metadata: it has no applicant
   */
  readonly erase: (id: string, options?: ActedBy) => Promise<void>
  /**
   * Deletes an application in any state: it gets nothing more, all its grants end, and its record goes. After an interruption, a second
   * call ends the rest.
   */
  readonly delete: (id: string, options?: ActedBy) => Promise<void>
  /**
   * Approves a change, or a new application, which gets its client identifier and secret.
   * @param reviewed.revision - the `review.revision` that the administrator looked at
   * @param reviewed.scopes - fewer or narrower scopes than the application asked for; all of them by default
   * @returns `clientSecret` only at the first approval of a confidential client
   * @throws GrantwellError `ERR_REVISION_OUTDATED` if a newer revision was submitted, `ERR_APPLICATION_STATE` if nothing
   * waits, `ERR_REGISTRATION` for scopes that the application did not ask for
   */
  readonly approve: (
    id: string,
    reviewed: { readonly revision: number; readonly scopes?: readonly string[] } & ActedBy,
  ) => Promise<ClientCredentials>
  /**
   * Rejects a new application for good, or a change; then the approved registration stays in force.
   * @param reviewed.reason - the reason for the applicant, 1 to 350 characters
   * @throws like `approve`
   */
  readonly reject: (
    id: string,
    reviewed: { readonly revision: number; readonly reason: string } & ActedBy,
  ) => Promise<void>
  /**
   * Suspends an application: it gets no tokens, and its tokens stop working with the next request.
   * @throws GrantwellError `ERR_APPLICATION_STATE` if it was never approved
   */
  readonly suspend: (clientId: string, options?: ActedBy) => Promise<void>
  /** Reinstates a suspended application: its tokens that have not expired work again. @throws like `suspend` */
  readonly reinstate: (clientId: string, options?: ActedBy) => Promise<void>
  /**
   * Gives a confidential client a new secret. The old one works during an overlap, so that the host can tell every server of the
   * application. With an overlap of 0 every older secret stops at once.
   * @param options.overlap - seconds; 86,400 (a day) by default, a year at most
   * @param options.clientSecret - the secret: random, 24 to 255 visible ASCII characters. A second call with it changes nothing. Made
   * here by default
   * @throws GrantwellError `ERR_APPLICATION_STATE` for a public client, one that was never approved, or one with 8 working
   * secrets
   */
  readonly rotateSecret: (
    clientId: string,
    options?: { readonly overlap?: Seconds; readonly clientSecret?: string } & ActedBy,
  ) => Promise<Required<ClientCredentials>>
  /**
   * Names the rule that a redirect URI breaks, for a developer who sees "This link cannot be accessed".
   * @param redirectUri - the URI that the application sends
   * @returns the rule by its code, its values and its sentence, such as `must have the host app.example`; undefined for a URI that is
   * accepted
   * @throws GrantwellError `ERR_APPLICATION_STATE` for an application that was never approved
   */
  readonly explainRedirect: (clientId: string, redirectUri: string) => Promise<RedirectFault | undefined>
  /** Returns a copy of the record of an application in any state; undefined for an unknown one. */
  readonly get: (id: string) => Promise<Application | undefined>
  /**
   * Lists applications, page by page, each once.
   * @param which - an applicant, or a state. `pending` includes changes of published applications: everything that waits for an
   * administrator
   * @param page.limit - the maximum number of applications; 100 by default
   * @param page.cursor - the cursor of the page before
   * @throws GrantwellError `ERR_CONFIGURATION` unless exactly one of the two is given
   */
  readonly list: (
    which:
      | { readonly state: Application['state']; readonly applicant?: never }
      | { readonly applicant: Subject; readonly state?: never },
    page?: { readonly limit?: number; readonly cursor?: string },
  ) => Promise<{
    /** The applications, in the order of their registration. */
    readonly applications: readonly Application[]
    /** The start of the next page; absent on the last one. */
    readonly cursor?: string
  }>
  /**
   * Searches applications, page by page. It reads every application of that state or applicant, so it is for administrators.
   * @param which - the applications that the search is about; all of them by default
   * @param page.limit - the maximum number of applications; 100 by default. A page may have fewer, or none, and not be the last
   * @param page.cursor - the cursor of the page before
   */
  readonly search: (
    which?: {
      /** A state; `pending` includes changes of published applications, as for `list`. */
      readonly state?: Application['state']
      /** The user who handed them in. */
      readonly applicant?: Subject
      /** Words in the name, website, redirect URIs or applicant, in any case, or a whole identifier. */
      readonly text?: string
    },
    page?: { readonly limit?: number; readonly cursor?: string },
  ) => ReturnType<Applications['list']>
  /**
   * Counts the applications that a search would find. It reads as many.
   * @param which - the applications, as for `search`
   */
  readonly count: (which?: Parameters<Applications['search']>[0]) => Promise<number>
  /** Returns the logo that a record names as `logo`, in force or in review; undefined for an unknown one. */
  readonly logo: (logo: string) => Promise<Logo | undefined>
}

/** The applications that a search or a count is about. */
export type WantedApplications = NonNullable<Parameters<Applications['search']>[0]>

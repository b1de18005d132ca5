/**
 * The registration of an application, as an applicant hands it in and as it is kept.
 * @module
 * @see Specification, sections 2.1, 5.3 and 8; RFC 6749, section 2
 */

import type { Scope } from '../scopes.js'
import type { RedirectRegistration } from './redirect-uri.js'

/** The registration of an application (specification, section 2.1). */
export interface Registration {
  /** Shown to the user; at most 50 characters as a person counts them. */
  readonly name: string
  /** PNG, JPEG, GIF or WebP, at most 1 MB (1,048,576 bytes) and 4,096 pixels a side. No SVG: it can run scripts and load what it likes. */
  readonly logo: Uint8Array
  /** At most 350 characters. */
  readonly description?: string | undefined
  /** Official website: an http or https URL of at most 128 characters. */
  readonly website: string
  /** `confidential` keeps a secret (a server); `public` cannot (a native or command-line tool). */
  readonly type: 'confidential' | 'public'
  /** At least one: https, http on loopback (any port will be admitted), or a private-use scheme for public clients. */
  readonly redirectUris: readonly string[]
  /** The domain that redirect URIs must have; by default the one that all registered https URIs share. */
  readonly authorizedDomain?: string | undefined
  /** True to admit subdomains of it; false by default. */
  readonly allowSubdomains?: boolean | undefined
  /**
   * `exact` admits the registered redirect URIs alone, which may then have several hosts, and no authorized domain; `domain` by default
   * (the option `redirectMatching` of the server can make it `exact` for all).
   */
  readonly redirectMatching?: 'domain' | 'exact' | undefined
  /** The scopes that it may ask for, such as `['repo-code:rw', 'account-profile:r']`, each with a reason where there is one. */
  readonly scopes: readonly (string | RequestedScope)[]
  /** The widest resource scope that it may ask for; a user may grant a narrower one. */
  readonly resourceScope: ResourceScope
  /**
   * True if it may use the device flow; false by default. Anybody who knows a public client's identifier can begin that flow in
   * its name and send a user the link, so it is for tools that need it alone (RFC 8628, section 5.4).
   */
  readonly deviceFlow?: boolean | undefined
  /**
   * The type of its access tokens: `bearer` by default, or `mac`, where the server has the option `macTokens` (specification,
   * section 5.2).
   */
  readonly tokenType?: 'bearer' | 'mac' | undefined
}

/**
 * An API of the service that lives elsewhere and asks by introspection what tokens are good for (RFC 7662). It is no
 * application: no user ever grants it anything.
 */
export interface ResourceServerRegistration {
  /** At most 50 characters. */
  readonly name: string
  /** At most 350 characters. */
  readonly description?: string | undefined
  /** The address of the API: an http or https URL of at most 128 characters. */
  readonly website: string
  /** The scopes that it sees of a token. A token that has none of them is not active for it. */
  readonly scopes: readonly string[]
  /**
   * The protected resource that it stands for, as the option `audiences` declares it: then tokens for it alone are active. By default
   * those are active that are limited to none (RFC 8707).
   */
  readonly audience?: string | undefined
}

/** A registration that an applicant hands in: it gives a reason for every scope. */
export interface Submission extends Registration {
  /** The scopes that it may ask for, each with a reason. */
  readonly scopes: readonly RequestedScope[]
}

/**
 * A change that an applicant hands in: the fields that are to be other. A field that is left out stays as it is; null takes an
 * optional one away. A scope that is named alone keeps its reason.
 */
export type Amendment = {
  readonly [Field in keyof Registration]?: Registration[Field] | (undefined extends Registration[Field] ? null : never)
}

/** A scope and why the application needs it, in words for the administrators. */
export interface RequestedScope {
  /** A scope of the catalogue, such as `repo-code:rw`. */
  readonly scope: string
  /** 1 to 350 characters. */
  readonly reason: string
}

/** Authorization resource scope: all resources of the account, its public ones, or specified ones. */
export type ResourceScope = 'all' | 'public' | 'specified'

/** A registration that was checked, without its logo. JSON. */
export interface RegistrationDetails extends RedirectRegistration {
  /** The name that users are shown. */
  readonly name: string
  /** Absent where there is none. */
  readonly description?: string
  /** The official website; empty for a client that registered itself without one. */
  readonly website: string
  /** The scopes that it may ask for, in normal form. */
  readonly scopes: readonly Scope[]
  /** Why each scope is needed, by the scope; empty where nobody asked. */
  readonly reasons: Readonly<Record<string, string>>
  /** The widest resource scope that it may ask for. */
  readonly resourceScope: ResourceScope
  /** True if it may use the device flow. */
  readonly deviceFlow: boolean
  /** Absent for `bearer`. */
  readonly tokenType?: 'mac'
}

/** The resource scopes that a user may choose from, for each that an application is registered with. */
export const RESOURCE_CHOICES: { readonly [Registered in ResourceScope]: readonly ResourceScope[] } = {
  all: ['all', 'public', 'specified'],
  public: ['public', 'specified'],
  specified: ['specified'],
}

/**
 * The options that a host gives to `createAuthorizationServer`.
 * @module
 */

import type { Digests } from '../core/credentials/digests.js'
import type { Resources } from '../core/resource.js'
import type { ScopeCatalogue } from '../core/scopes.js'
import type { ClientId, Seconds, Subject } from '../core/values.js'
import type { Appearance, Pages, Texts } from '../pages/index.js'
import type { HttpRequest } from '../protocol/message.js'
import type { RecordStore } from '../storage/record-store.js'
import type { AuditEvent } from './audit.js'
import type { FetchedClientMetadata } from './options/client-metadata.js'
import type { ClientCandidate, ClientVerdict } from './options/client-policy.js'

/** A user who is signed in at the host. */
export interface User {
  /** The host's own identifier: a non-empty string that never changes. */
  readonly subject: Subject
  /** Shown on the consent page; the subject by default. */
  readonly name?: string | undefined
}

/** A permission that an application asks a user for, as the host's function `authorize` sees it. */
export interface PermissionRequest {
  /** The user who is signed in. */
  readonly user: User
  /** The application that asks. */
  readonly application: {
    readonly clientId: ClientId
    readonly name: string
    readonly type: 'confidential' | 'public'
    /** The user who handed it in; absent if an administrator registered it. */
    readonly applicant?: Subject
  }
  /** The scopes that it asks for, in normal form. */
  readonly scopes: readonly string[]
  /** The protected resources that its tokens are to be for; absent if the request named none (RFC 8707). */
  readonly audiences?: readonly string[]
  /** The resources that the user chose; absent before the user is asked. */
  readonly resources?: Resources
}

/** A protected resource: an API that tokens can be limited to. */
export interface AudienceDefinition {
  /** The URL by which clients name it, such as `https://git.example/mcp`: at most 512 characters, without query and fragment. */
  readonly resource: string
  /** The name that users are shown: one line of at most 50 characters. */
  readonly name: string
  /** The scopes that it knows, such as `['repo-code:r']`: a token for it alone has no others. All scopes by default. */
  readonly scopes?: readonly string[]
}

/** Options of `createAuthorizationServer`. */
export interface AuthorizationServerOptions<Native = unknown> {
  /** The base address of the service, `https://host` or `https://host/path`, as clients know it; without a slash at its end. */
  readonly issuer: string
  /** The store of all records; `memoryStore()` of `grantwell/storage/memory` for one process. */
  readonly store: RecordStore
  /**
   * Returns the user who is signed in; undefined or null for nobody. `request.native` is the platform's request, with the host's
   * session.
   */
  readonly user: (request: HttpRequest<Native>) => User | null | undefined | Promise<User | null | undefined>
  /**
   * Returns the page to sign in, a path or URL. It sends the browser to `returnTo` afterwards, a whole URL that begins with the
   * issuer.
   */
  readonly signInUrl: (returnTo: string) => string
  /**
   * Returns the page to sign in as another user, a path or URL, for a link beside the name of the user. It signs the browser in
   * anew and sends it to `returnTo`, as `signInUrl` does. Without it there is no link.
   */
  readonly switchAccountUrl?: (returnTo: string) => string
  /**
   * Returns the resources that a user can specify on the consent page; none by default, and then the page does not offer
   * "specified". `id` is the host's own identifier, which the guard reports. `name` is shown to the user; the identifier by default.
   */
  readonly resources?: (
    user: User,
  ) =>
    | readonly { readonly id: string; readonly name?: string | undefined }[]
    | Promise<readonly { readonly id: string; readonly name?: string | undefined }[]>
  /** The scopes of the service; those of the specification by default. */
  readonly scopes?: ScopeCatalogue
  /**
   * The protected resources that a token can be limited to, for a service with several APIs; none by default. A client names one by
   * the parameter `resource` (RFC 8707). Its tokens then work at guards with that `audience` alone, and no others work there.
   */
  readonly audiences?: readonly AudienceDefinition[]

  /**
   * Refuses a permission, or makes it narrower, by rules of the host: for members of an organisation, for a kind of application. It is
   * asked before the user is, without `resources`, and again with them when the user agreed. The application gets `access_denied`.
   * @returns true to admit the permission, false to refuse it. `scopes` and `resources` make it narrower: a list of scopes that are
   * covered by those asked for, and the identifiers of the resources that it is limited to
   */
  readonly authorize?: (
    request: PermissionRequest,
  ) =>
    | boolean
    | { readonly scopes?: readonly string[]; readonly resources?: readonly string[] }
    | Promise<boolean | { readonly scopes?: readonly string[]; readonly resources?: readonly string[] }>

  /**
   * Decides on clients that register themselves at `/oauth2/register` (RFC 7591), and on those whose identifier is a URL. Without it no
   * client can register itself.
   */
  readonly clientPolicy?: (client: ClientCandidate) => ClientVerdict | Promise<ClientVerdict>
  /**
   * Limits registrations by clients: counts a request, and returns the seconds to wait, 0 to let it pass. The default counts in the
   * store: 20 at once and one more every 3 minutes for each address; 1,000 at once and one more every 30 seconds for all together.
   * It is also asked before a known client's document is read again, of which the default lets 100 at once and one more every 3 seconds.
   */
  readonly registrationLimiter?: (attempt: {
    /** The address that it comes from, from the option `remoteAddress`. */
    readonly address: string | undefined
  }) => Seconds | Promise<Seconds>
  /**
   * Fetches the metadata document of a client whose identifier is its URL; `fetchClientMetadata` of `grantwell/node` does so safely. It
   * needs `clientPolicy`. Without it no URL is a client, unless it was registered as one.
   */
  readonly fetchClientMetadata?: (url: string) => Promise<FetchedClientMetadata>

  /** Seconds; 600 by default, two days at most. */
  readonly codeLifetime?: Seconds
  /** Seconds; 28,800 (8 hours) by default, 31 days at most. */
  readonly accessTokenLifetime?: Seconds
  /** Seconds; 15,552,000 (180 days) by default, ten years at most, and no less than `accessTokenLifetime`. */
  readonly refreshTokenLifetime?: Seconds
  /** Seconds that both old tokens still work after a refresh; 300 by default, two days or `refreshTokenLifetime` at most. */
  readonly gracePeriod?: Seconds
  /** Seconds that a user may take to read the consent page; 600 by default, two days at most. */
  readonly consentLifetime?: Seconds
  /** Seconds that a device waits for its user; 600 by default, two days at most. */
  readonly deviceCodeLifetime?: Seconds
  /** Seconds between two polls of a device; 5 by default, an hour at most. */
  readonly devicePollingInterval?: Seconds
  /**
   * Limits guesses of user codes: counts an attempt, and returns the seconds to wait, 0 to let it pass. The default counts in the
   * store: 10 at once and one more each minute for each user, five times as many for each address.
   */
  readonly userCodeLimiter?: (attempt: {
    /** The user who types the code. */
    readonly subject: Subject
    /** The address of the user's browser, from the option `remoteAddress`. */
    readonly address: string | undefined
  }) => Seconds | Promise<Seconds>
  /**
   * Limits the devices that ask for codes: counts a request, and returns the seconds to wait, 0 to let it pass. The default
   * counts in the store: 100 at once and 20 more each minute for each address. Without an address: 1,000 at once and one more
   * each second for each application.
   */
  readonly deviceLimiter?: (attempt: {
    /** The client identifier of the device. */
    readonly clientId: ClientId
    /** The address of the device, from the option `remoteAddress`. */
    readonly address: string | undefined
  }) => Seconds | Promise<Seconds>
  /**
   * Returns the IP address of a browser or a device, without a port; by default `request.remoteAddress`, which behind a proxy is
   * the proxy's. Undefined or null if it is unknown: then user codes are limited for each user alone, and devices for each
   * application.
   */
  readonly remoteAddress?: (request: HttpRequest<Native>) => string | null | undefined

  /**
   * The answer to a refresh token that is used again after its grace period: revoke its grant, the default, or only refuse it.
   */
  readonly refreshReplay?: 'revoke' | 'refuse'
  /**
   * Ask for consent every time, the default, or only if no live grant of the user to that confidential client covers the request.
   */
  readonly consent?: 'always' | 'once'
  /** The maximum number of live grants of one user to one application; one more ends the oldest. 50 by default, 1,000 at most. */
  readonly grantLimit?: number
  /** Allow redirect URIs anywhere in the authorized domain, the default, or only the registered ones. */
  readonly redirectMatching?: 'domain' | 'exact'
  /**
   * Allow `http://localhost` as a redirect URI on loopback, for an application that registered it so; true by default. It never stands
   * for `127.0.0.1` or `[::1]`, nor they for it (RFC 8252, section 8.3, advises against it).
   */
  readonly allowLocalhost?: boolean
  /**
   * Answer with the metadata document at `/.well-known/openid-configuration` too, for clients that look nowhere else; false by
   * default. There is no OpenID Connect behind it: no ID token, no `jwks_uri` (RFC 8414, section 5).
   */
  readonly openidConfiguration?: boolean
  /** Require PKCE of confidential clients too; false by default. Public clients always need it. */
  readonly requirePkce?: boolean
  /**
   * Allow the client secret in the body at the token, device authorization and introspection endpoints; true by default. The
   * revocation endpoint always does (specification, section 4.4).
   */
  readonly allowClientSecretPost?: boolean
  /**
   * At least 32 random bytes, equal on every server over one store; none by default. They are mixed into the tokens that a
   * refresh derives and into the digests of user codes. Then a copy of the store together with an old token is of no use.
   *
   * To change the key, give a list: the first derives, and all are tried. `'none'` in it stands for what was derived without a key.
   */
  readonly derivationKey?: Uint8Array | readonly (Uint8Array | 'none')[]
  /**
   * Give applications that are registered for it tokens of the type `mac`, whose every use is signed, and take no others from
   * them (specification, section 5.2; draft-ietf-oauth-v2-http-mac-01); false by default. Their keys are derived from
   * `derivationKey`, which is required. Meant for API calls that TLS does not protect all the way. Bodies and answers are not
   * signed.
   */
  readonly macTokens?: boolean
  /**
   * Seconds that the clock of a signing client may differ, and that its request may take; 300 by default, a day at most. Equal on
   * every server over one store. After it is raised, a request that was signed up to so many seconds before could be used once
   * more.
   */
  readonly macWindow?: Seconds
  /**
   * Seconds that a resource server may keep an answer of introspection, by its `Cache-Control`. A revocation takes as long to
   * reach it. 0 by default: it asks every time (RFC 7662, section 4). A day at most.
   */
  readonly introspectionMaxAge?: Seconds
  /** The maximum size of a request's body, in bytes; 65,536 by default, from 1,024 to 16,777,216 (16 MiB). */
  readonly bodyLimit?: number
  /**
   * The path before `/oauth2/...` in the requests that arrive; the issuer's path by default. Set it if a proxy or a fetch-style
   * router strips a part of the path. Express and connect also pass the whole path, so they do not need it.
   */
  readonly mountPath?: string
  /**
   * Origins of pages, beside those of an application's own redirect URIs, that may read the answers of the endpoints without a
   * page: `['https://app.example']`, with scheme, host and port. None by default. `false` switches CORS off, for the documents
   * under `/.well-known` too.
   */
  readonly corsOrigins?: readonly string[] | false
  /**
   * The look of the pages: name, logo, colours, font and links of the service. What is wrong in it is told to `onError` when the pages
   * are loaded, right after the start, and they then look as by default.
   */
  readonly appearance?: Appearance
  /**
   * Returns the tag of the language of a page, such as `de` or `pt-BR`; undefined or null to leave it to the request: its parameter
   * `ui_locales`, then the header `Accept-Language`, then English.
   */
  readonly locale?: (request: HttpRequest<Native>) => string | null | undefined | Promise<string | null | undefined>
  /**
   * Texts of the pages, by the tag of their language, that replace the default ones, or add a language. A text that is missing is the
   * default one, of a new language the English one.
   */
  readonly texts?: Readonly<Record<string, Partial<Texts>>>
  /**
   * Origins that pages may load from besides the server's own; none by default. Each is an https origin such as
   * `'https://cdn.example'`, at most 16 for each kind. There is no such option for scripts.
   */
  readonly pageSources?: {
    /** Origins of images. */
    readonly images?: readonly string[]
    /** Origins of fonts. Without it a page loads no font, not even from the server's own origin; with `[]` from that alone. */
    readonly fonts?: readonly string[]
    /** Origins of stylesheets. */
    readonly styles?: readonly string[]
  }
  /** Pages that replace the default ones. They have the same headers, so they can use no scripts and no inline styles. */
  readonly pages?: Partial<Pages>

  /**
   * Called with every event, after it is stored, or before with `audit: 'required'`. It may be asynchronous. An error that it throws, or by
   * which its promise rejects, goes to `onError`. If the answer of the store to a write is lost and the outcome stays unknown, it gets `refused` with the
   * reason `store_failed`, and no event of the write, which may be stored.
   */
  readonly onEvent?: (event: AuditEvent) => void
  /**
   * Report events once they happened, `reported`, the default; or make them happen only if `onEvent` succeeds, `required`: each change
   * waits until its events are written, and where that fails, nothing happens and the answer is 503. A refusal waits for its event, too.
   * A trail that is written first may tell of a change that was not stored then: an event `not_stored` says so.
   */
  readonly audit?: 'reported' | 'required'
  /** Returns the identifier of a request for the audit trail, such as a proxy gave it in a header; undefined or null for none. */
  readonly requestId?: (request: HttpRequest<Native>) => string | null | undefined
  /** Called with every error of the store or of a function of the host, which no client gets; `console.error` by default. */
  readonly onError?: (error: unknown) => void
  /** Seconds since the epoch; the system's clock by default. */
  readonly clock?: () => Seconds
  /** Returns as many random bytes as it is asked for, unpredictable and new each time; those of the platform by default. */
  readonly entropy?: (length: number) => Uint8Array
  /**
   * The digest functions; portable ones by default. `nodeDigests` of `grantwell/node` are faster on Node.js, with equal results.
   */
  readonly digests?: Digests
  /**
   * Allow an `http` issuer that is not on loopback; false by default. Everyone on the network can read its tokens then, and who
   * can set a cookie can answer a consent page.
   */
  readonly allowInsecureIssuer?: boolean
}

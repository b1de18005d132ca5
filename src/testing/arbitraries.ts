/**
 * Arbitraries of fast-check for everything that a server meets: scopes, registrations, applications and grants in any
 * reachable state, requests well-formed and hostile.
 * @module
 */
import * as fc from 'fast-check'
import type { Registration } from '../core/application/registration.js'
import { checkRegistration } from '../core/application/registration-check.js'
import type { Scope, ScopeCatalogue } from '../core/scopes.js'
import { normalizeScopes, serviceScopes } from '../core/scopes.js'
import { isLine, isLines, isVisible, isWithin } from '../core/text.js'
import type { HttpRequest } from '../protocol/message.js'
import type { GrantOptions, ReachedApplication, ReachedGrant } from './arbitraries/grants.js'
import { applications, grants } from './arbitraries/grants.js'
import type { RequestOptions } from './arbitraries/sound-requests.js'
import { anyText, requests } from './arbitraries/spoilt-requests.js'
import { checkedOptions, FLAG, OBJECT, type Takes, TEXT } from './options.js'

/** What registrations are made of. */
export interface RegistrationOptions {
  /** Where the scopes come from; `serviceScopes()` by default. */
  readonly scopes?: ScopeCatalogue
  /** Whether the service lets users specify resources, that is, has the option `resources`; false by default. */
  readonly specifiedResources?: boolean
}

/** Arbitraries: each a function that makes one. */
export interface Arbitraries {
  /** Scopes of a catalogue (`serviceScopes()` by default): one or more, in normal form. Shrinks to fewer. */
  readonly scopes: (catalogue?: ScopeCatalogue) => fc.Arbitrary<readonly Scope[]>
  /** Values of a parameter `scope`, well-formed and not: unknown names, wrong case, doubled spaces, names of prototypes, any text. */
  readonly scopeText: (catalogue?: ScopeCatalogue) => fc.Arbitrary<string>
  /** Registrations that are sound: clients of both types, one or more redirect URIs of every kind, names in any script. */
  readonly registration: (options?: RegistrationOptions) => fc.Arbitrary<Registration>
  /**
   * Applications in any state: pending, rejected, approved and suspended, with a change that waits or was refused, with
   * secrets that were rotated. Shrinks to one that was just handed in.
   * @throws TypeError for a `clientId` that is none; `web` by default
   */
  readonly application: (
    options?: RegistrationOptions & { readonly clientId?: string },
  ) => fc.Arbitrary<ReachedApplication>
  /**
   * Grants in any state: a code issued, expired, used or replayed, a device that waits, was refused or agreed to, pairs in
   * grace, tokens revoked, everything revoked or expired. With all credentials that were handed out, and the moment.
   * Shrinks to a code that was just issued.
   * @throws TypeError for a `clientId` that is none
   */
  readonly grant: (options?: GrantOptions & { readonly scopes?: ScopeCatalogue }) => fc.Arbitrary<ReachedGrant>
  /**
   * Requests to every endpoint, each well-formed at first and then spoilt in none, one or several ways: method, content
   * type, parameters that are missing, doubled, huge, badly encoded or of a strange name, credentials that are changed,
   * cut, or of another kind, doubled and malformed headers, bodies that were parsed by somebody else.
   * No parameter that an answer repeats (`state`) has a credential in it. Shrinks to a request that is not spoilt.
   */
  readonly request: (options?: RequestOptions) => fc.Arbitrary<HttpRequest<undefined>>
}

/**
 * Arbitraries for tests with fast-check.
 * @example
 * ```ts
 * fc.assert(fc.asyncProperty(arbitraries.request(), async (request) => {
 *   const response = await server.handle(request)
 *   assert(response === undefined || response.status < 500)
 * }))
 * ```
 */
export const arbitraries: Arbitraries = {
  scopes,
  scopeText,
  registration,
  application: (options = {}) => {
    const { clientId = 'web', ...own } = checkedOptions('arbitraries.application', options, {
      ...REGISTRATION,
      clientId: TEXT,
    })
    return applications(registration(own), own.scopes ?? serviceScopes(), clientId)
  },
  grant: (options = {}) => {
    const { scopes: catalogue, ...own } = checkedOptions('arbitraries.grant', options, GRANT)
    return grants(scopes(catalogue), own)
  },
  request: (options = {}) => requests(scopeText(), checkedOptions('arbitraries.request', options, REQUEST)),
}

const LIST: Takes = { words: 'a list', fits: Array.isArray }

const REGISTRATION = { scopes: OBJECT, specifiedResources: FLAG }
const GRANT = { scopes: OBJECT, clientId: TEXT, subject: TEXT, redirectUri: TEXT, rules: OBJECT }
const REQUEST = { clients: LIST, credentials: LIST }

function scopes(catalogue: ScopeCatalogue = serviceScopes()): fc.Arbitrary<readonly Scope[]> {
  return fc
    .uniqueArray(fc.constantFrom(...catalogue.entries.keys()), { minLength: 1, maxLength: 6 })
    .map((some) => normalizeScopes(catalogue, some) ?? [])
}

function scopeText(catalogue: ScopeCatalogue = serviceScopes()): fc.Arbitrary<string> {
  const known = scopes(catalogue).map((some) => some.join(' '))
  const spoil = fc.constantFrom<((text: string) => string)[]>(
    (text) => text.toUpperCase(),
    (text) => text.replaceAll(' ', '  '),
    (text) => ` ${text} `,
    (text) => text.replaceAll(' ', ','),
    (text) => text.replaceAll(':', ''),
    (text) => `${text} ${text}`,
    (text) => `${text} repo-code:w`,
    (text) => `${text}\u0000`,
    (text) => text.replaceAll(' ', '\u00a0'),
  )
  return fc.oneof(
    { weight: 4, arbitrary: known },
    { weight: 2, arbitrary: fc.tuple(known, spoil).map(([text, change]) => change(text)) },
    { weight: 1, arbitrary: fc.constantFrom('', ' ', '__proto__:r', 'constructor', 'toString:rw', 'repo-code:r:rw') },
    { weight: 1, arbitrary: anyText },
  )
}

/** The heads of the images that are admitted, of one pixel each. */
const IMAGES = [
  '\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0',
  '\xff\xd8\xff\xc0\0\x0b\x08\0\x01\0\x01\x01\x01\x11\0',
  'GIF89a\x01\0\x01\0\0\0\0;',
  'RIFF\x12\0\0\0WEBPVP8L\x05\0\0\0\x2f\0\0\0\0',
].map((head) => Uint8Array.from(head, (character) => character.charCodeAt(0)))

function registration(options: RegistrationOptions = {}): fc.Arbitrary<Registration> {
  const own = checkedOptions('arbitraries.registration', options, REGISTRATION)
  const { scopes: catalogue = serviceScopes(), specifiedResources = false } = own
  const text = (limit: number, sound: (text: string) => boolean): fc.Arbitrary<string> =>
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom('Sample', 'Ein Beispiel', '例え', 'مثال', 'Ünïcode & <b>"friends"</b> 👩‍👩‍👧'),
      },
      {
        weight: 1,
        arbitrary: fc
          .string({ unit: 'grapheme', minLength: 1, maxLength: limit })
          .filter((each) => isVisible(each) && isWithin(each, limit) && sound(each)),
      },
    )
  const domain = fc.oneof(fc.constantFrom('app.example', 'a.b.example', 'localhost.example'), fc.domain())
  const logo = fc.tuple(fc.constantFrom(...IMAGES), fc.uint8Array({ maxLength: 64 })).map((parts) => joined(...parts))
  const wanted = fc
    .tuple(scopes(catalogue), fc.boolean(), text(350, isLines))
    .map(([some, reasoned, reason]) => some.map((scope) => (reasoned ? { scope, reason } : scope)))
  return fc
    .record({
      name: text(50, isLine),
      logo,
      description: fc.option(text(350, isLines), { nil: undefined }),
      type: fc.constantFrom('confidential' as const, 'public' as const),
      domain,
      allowSubdomains: fc.boolean(),
      paths: fc.uniqueArray(fc.constantFrom('', '/', '/callback', '/a/b?c=d&e', '/%7Ename/%C3%BC'), {
        minLength: 1,
        maxLength: 3,
      }),
      more: fc.uniqueArray(
        fc.constantFrom('http://127.0.0.1/callback', 'http://[::1]:8080/', 'com.example.app:/callback'),
        { maxLength: 3 },
      ),
      scopes: wanted,
      resourceScope: fc.constantFrom<Registration['resourceScope'][]>(
        'all',
        'public',
        ...(specifiedResources ? (['specified'] as const) : []),
      ),
      deviceFlow: fc.option(fc.boolean(), { nil: undefined }),
    })
    .map(({ domain: host, paths, more, type, allowSubdomains, ...rest }): Registration => {
      const hosts = allowSubdomains ? [host, `sub.${host}`] : [host]
      const own = paths.map((path, index) => `https://${hosts[index % hosts.length]}${path}`)
      const others = more.filter((uri) => type === 'public' || uri.startsWith('http:'))
      const given = allowSubdomains || paths.length > 1 ? { authorizedDomain: host, allowSubdomains } : {}
      return { ...rest, type, website: `https://${host}/`, redirectUris: [...own, ...others], ...given }
    })
    .filter((made) => {
      // A random domain can be too long for a website, or one that a URL spells otherwise.
      const rules = { scopes: catalogue, redirect: { matching: 'domain', allowLocalhost: false } } as const
      const needs = { reasons: 'optional', logo: 'required', redirectUris: 'required' } as const
      const checked = checkRegistration(made, { ...rules, ...needs, specifiedResources, macTokens: false })
      return checked.type === 'details'
    })
}

function joined(head: Uint8Array, rest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + rest.length)
  bytes.set(head)
  bytes.set(rest, head.length)
  return bytes
}

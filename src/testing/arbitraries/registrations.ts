/**
 * An arbitrary of registrations that are sound.
 * @module
 */
import * as fc from 'fast-check'
import type { Registration } from '../../core/application/registration.js'
import { checkRegistration } from '../../core/application/registration-check.js'
import { serviceScopes } from '../../core/scopes/service-scopes.js'
import type { ScopeCatalogue } from '../../core/scopes.js'
import { isLine, isLines, isVisible, isWithin } from '../../core/text.js'
import { scopes } from './scopes.js'

/** Options of `arbitraries.registration`. */
export interface RegistrationOptions {
  /** The catalogue of the scopes; `serviceScopes()` by default. */
  readonly scopes?: ScopeCatalogue
  /** True if the service lets users specify resources, that is, has the option `resources`; false by default. */
  readonly specifiedResources?: boolean
}

/** The heads of the images that are admitted, of one pixel each. */
const IMAGES = [
  '\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0',
  '\xff\xd8\xff\xc0\0\x0b\x08\0\x01\0\x01\x01\x01\x11\0',
  'GIF89a\x01\0\x01\0\0\0\0;',
  'RIFF\x12\0\0\0WEBPVP8L\x05\0\0\0\x2f\0\0\0\0',
].map((head) => Uint8Array.from(head, (character) => character.charCodeAt(0)))

/** Makes an arbitrary of registrations. */
export function registrations(options: RegistrationOptions): fc.Arbitrary<Registration> {
  const { scopes: catalogue = serviceScopes(), specifiedResources = false } = options
  return fc
    .record({
      name: textOf(50, isLine),
      logo: fc.tuple(fc.constantFrom(...IMAGES), fc.uint8Array({ maxLength: 64 })).map((parts) => joined(...parts)),
      description: fc.option(textOf(350, isLines), { nil: undefined }),
      type: fc.constantFrom('confidential' as const, 'public' as const),
      uris,
      scopes: fc
        .tuple(scopes(catalogue), fc.boolean(), textOf(350, isLines))
        .map(([some, reasoned, reason]) => some.map((scope) => (reasoned ? { scope, reason } : scope))),
      resourceScope: fc.constantFrom<Registration['resourceScope'][]>(
        'all',
        'public',
        ...(specifiedResources ? (['specified'] as const) : []),
      ),
      deviceFlow: fc.option(fc.boolean(), { nil: undefined }),
    })
    .map(({ uris: parts, ...rest }): Registration => ({ ...rest, ...urisOf(parts, rest.type) }))
    .filter((made) => {
      // A random domain can be too long for a website, or one that a URL spells otherwise.
      const rules = { scopes: catalogue, redirect: { matching: 'domain', allowLocalhost: false } } as const
      const needs = { reasons: 'optional', logo: 'required', redirectUris: 'required' } as const
      return checkRegistration(made, { ...rules, ...needs, specifiedResources, macTokens: false }).type === 'details'
    })
}

/** Makes an arbitrary of texts in any script. */
function textOf(limit: number, sound: (text: string) => boolean): fc.Arbitrary<string> {
  return fc.oneof(
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
}

/** Parts of the URIs of a registration. */
interface UriParts {
  readonly domain: string
  readonly allowSubdomains: boolean
  readonly paths: readonly string[]
  readonly more: readonly string[]
}

const uris: fc.Arbitrary<UriParts> = fc.record({
  domain: fc.oneof(fc.constantFrom('app.example', 'a.b.example', 'localhost.example'), fc.domain()),
  allowSubdomains: fc.boolean(),
  paths: fc.uniqueArray(fc.constantFrom('', '/', '/callback', '/a/b?c=d&e', '/%7Ename/%C3%BC'), {
    minLength: 1,
    maxLength: 3,
  }),
  more: fc.uniqueArray(
    fc.constantFrom('http://127.0.0.1/callback', 'http://[::1]:8080/', 'com.example.app:/callback'),
    { maxLength: 3 },
  ),
})

function urisOf(
  { domain, allowSubdomains, paths, more }: UriParts,
  type: Registration['type'],
): Pick<Registration, 'website' | 'redirectUris' | 'authorizedDomain' | 'allowSubdomains'> {
  const hosts = allowSubdomains ? [domain, `sub.${domain}`] : [domain]
  const own = paths.map((path, index) => `https://${hosts[index % hosts.length]}${path}`)
  const others = more.filter((uri) => type === 'public' || uri.startsWith('http:'))
  const given = allowSubdomains || paths.length > 1 ? { authorizedDomain: domain, allowSubdomains } : {}
  return { website: `https://${domain}/`, redirectUris: [...own, ...others], ...given }
}

function joined(head: Uint8Array, rest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + rest.length)
  bytes.set(head)
  bytes.set(rest, head.length)
  return bytes
}

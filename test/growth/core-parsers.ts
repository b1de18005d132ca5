/**
 * What the core reads of a stranger: credentials, addresses, registrations, scopes.
 * @module
 */
import { portableDigests, serviceScopes } from 'grantwell'
import type { ImageType } from '../../src/core/application/image.js'
import { imageSize, imageType } from '../../src/core/application/image.js'
import { reasonFault } from '../../src/core/application/reason.js'
import {
  brokenRedirectRule,
  isLoopback,
  matchRedirectUri,
  mismatchRule,
  parseRedirectUri,
  redirectUriRule,
} from '../../src/core/application/redirect-uri.js'
import type { RegistrationRules } from '../../src/core/application/registration-check.js'
import { checkRegistration } from '../../src/core/application/registration-check.js'
import { constantTimeEqual, decodeBase64url, encodeBase64url } from '../../src/core/credentials/base64url.js'
import { parseCredential, parseGrantId } from '../../src/core/credentials/credential.js'
import { bytesOfAscii, digestOf } from '../../src/core/credentials/digests.js'
import { parseDigest, passwordHashKind } from '../../src/core/credentials/imported-secret.js'
import { parseUserCode } from '../../src/core/credentials/user-code.js'
import { sameJson } from '../../src/core/json.js'
import { nearest } from '../../src/core/nearest.js'
import { normalizeScopes, parseRequestedScopes, parseScopes, splitScopes } from '../../src/core/scopes.js'
import { isLine, isLines, isVisible, isWithin, shownName, unseenFault } from '../../src/core/text.js'
import { parseOrigin, parseResourceUrl } from '../../src/core/url.js'
import { parseClientId } from '../../src/core/values.js'
import type { Case } from './growth.js'
import { FACTOR, WHOLE } from './growth.js'
import type { Around, Inputs } from './shapes.js'
import { all, of, ofText, SEEN } from './shapes.js'

const catalogue = serviceScopes()
const lenient = serviceScopes({ unknown: 'leave_out' })
const redirect = { matching: 'domain', allowLocalhost: true } as const
const registered = {
  type: 'confidential',
  redirectUris: ['https://app.example/callback', 'http://127.0.0.1/callback'],
  authorizedDomain: 'app.example',
  allowSubdomains: true,
} as const
const rules: RegistrationRules = {
  scopes: catalogue,
  redirect,
  specifiedResources: true,
  macTokens: true,
  reasons: 'required',
  logo: 'required',
  redirectUris: 'required',
}

const REDIRECT_URIS: readonly Around[] = [
  ['', ''],
  ['https://app.example/', ''],
  ['https://', '/'],
  ['https://app.example/?', '#'],
  ['com.example.', ':/callback'],
  ['http://127.0.0.1/', ''],
]

/** Registrations of which one field is what it should not be. */
function ofRegistrations(): Inputs {
  const checked = (given: unknown) => () => checkRegistration(given, rules)
  const texts = (
    name: string,
    make: (text: string) => unknown,
    sizes = WHOLE,
    arounds: readonly Around[] = [['', '']],
  ) =>
    new Map(
      [...ofText((text) => checkRegistration(make(text), rules), arounds, sizes)].map(([of, each]) => [
        `${name} ${of}`,
        each,
      ]),
    )
  const list = <Item>(make: (index: number) => Item, size: number): Item[] =>
    Array.from({ length: size }, (_, index) => make(index))
  const object = (name: (index: number) => string, size: number) =>
    Object.fromEntries(list((index): [string, string] => [name(index), ''], size))
  return all(
    texts('name', (name) => ({ name }), { small: 50, large: 50 * FACTOR }),
    texts('description', (description) => ({ description }), SEEN),
    texts('reason', (reason) => ({ scopes: [{ scope: 'repo-code:r', reason }] }), SEEN),
    texts('website', (website) => ({ website }), { small: 128, large: 128 * FACTOR }, [
      ['', ''],
      ['https://', ''],
    ]),
    texts('redirect URI', (uri) => ({ redirectUris: [uri] }), { small: 128, large: 128 * FACTOR }, REDIRECT_URIS),
    ...['name', 'website', 'type', 'authorizedDomain', 'resourceScope', 'tokenType'].map((field) =>
      texts(field, (text) => ({ [field]: text })),
    ),
    of({
      'many redirect URIs': (size) => checked({ redirectUris: list((index) => `https://h${index}.example/`, size) }),
      'many that are none': (size) => checked({ redirectUris: list(() => 'x', size) }),
      'many scopes': (size) => checked({ scopes: list(() => 'repo-code:r', size) }),
      'a logo': (size) => checked({ logo: new Uint8Array(size) }),
    }),
    of(
      {
        'many fields': (size) => checked(object((index) => `field${index}`, size)),
        'many numbers as fields': (size) => checked(object((index) => `${index * 4096}`, size)),
        'one scope with many fields': (size) => checked({ scopes: [object((index) => `field${index}`, size)] }),
      },
      // Both far beyond the thousand fields at which V8 makes a table of an object, whose names cost more to list.
      WHOLE,
    ),
  )
}

const GIF_HEAD = 'GIF89a\x01\0\x01\0\0\0\0'

/** An image of a type, filled with a pattern behind a header. */
function sizeOfImage(head: string, pattern: string, type: ImageType): Case {
  return (size) => {
    const text = (head + pattern.repeat(size)).slice(0, size)
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
    return () => imageSize(bytes, type)
  }
}

/** The parsers of `src/core`. */
export const CORE: Readonly<Record<string, Inputs>> = {
  'core/credentials/base64url.ts decodeBase64url': ofText(decodeBase64url),
  'core/credentials/base64url.ts constantTimeEqual': ofText((text) => constantTimeEqual(text, text)),
  'core/credentials/base64url.ts encodeBase64url': of({
    bytes: (size) => {
      const bytes = new Uint8Array(size)
      return () => Buffer.from(encodeBase64url(bytes)) // which makes it flat
    },
  }),
  'core/credentials/imported-secret.ts parseDigest': ofText(parseDigest),
  'core/credentials/imported-secret.ts passwordHashKind': ofText(passwordHashKind, [
    ['{', '}'],
    ['$2b$12$', ''],
    ['$argon2id$', '$'],
    ['$6$', '$'],
    ['pbkdf2_', '$'],
    ['sha256$', '$'],
  ]),
  'core/credentials/credential.ts parseCredential': ofText(parseCredential, [
    ['', ''],
    ['gwa_', ''],
  ]),
  'core/credentials/credential.ts parseGrantId': ofText(parseGrantId),
  'core/credentials/digests.ts digestOf': ofText((text) => digestOf(portableDigests, text)),
  'core/application/redirect-uri.ts parseRedirectUri': ofText(
    (text) => parseRedirectUri(text, redirect),
    REDIRECT_URIS,
  ),
  'core/application/redirect-uri.ts redirectUriRule': ofText((text) => redirectUriRule(text, redirect), REDIRECT_URIS),
  'core/application/redirect-uri.ts matchRedirectUri': ofText(
    (text) => matchRedirectUri(registered, text, redirect),
    REDIRECT_URIS,
  ),
  'core/application/registration-check.ts checkRegistration': ofRegistrations(),
  'core/application/image.ts imageType': of({ bytes: (size) => () => imageType(new Uint8Array(size)) }),
  'core/application/image.ts imageSize': of({
    'a GIF of empty extensions': sizeOfImage(GIF_HEAD, '\x21\0\0', 'image/gif'),
    'a GIF of small blocks': sizeOfImage(`${GIF_HEAD}\x21\0`, '\x01', 'image/gif'),
    'a GIF of empty frames': sizeOfImage(GIF_HEAD, '\x2c\0\0\0\0\0\0\0\0\0\0\0', 'image/gif'),
    'a JPEG of fill bytes': sizeOfImage('\xff\xd8', '\xff', 'image/jpeg'),
    'a JPEG of stuffed zeros': sizeOfImage('\xff\xd8', '\xff\0', 'image/jpeg'),
    'a JPEG of empty segments': sizeOfImage('\xff\xd8', '\xff\xfe\0\x02', 'image/jpeg'),
    'a JPEG without markers': sizeOfImage('\xff\xd8', 'x', 'image/jpeg'),
  }),
  'core/scopes.ts parseScopes': all(
    ofText((text) => parseScopes(catalogue, text)),
    of({
      'one scope again and again': (size) => () => parseScopes(catalogue, 'repo-code:r '.repeat(size / 13)),
      'every scope again and again': (size) => {
        const every = [...catalogue.entries.keys()].join(' ')
        return () => parseScopes(catalogue, `${every} `.repeat(Math.max(1, size / every.length)))
      },
      'spaces between': (size) => () => parseScopes(catalogue, `repo-code:r${' '.repeat(size)}repo-pr:r`),
    }),
  ),
  'core/scopes.ts parseRequestedScopes': all(
    ofText((text) => parseRequestedScopes(lenient, text)),
    of({ 'unknown scopes': (size) => () => parseRequestedScopes(lenient, `${'a '.repeat(size / 2)}repo-code:r`) }),
  ),
  'core/scopes.ts normalizeScopes': of({
    'one scope again and again': (size) => {
      const list: readonly string[] = Array(size).fill('repo-code:r')
      return () => normalizeScopes(catalogue, list)
    },
  }),
  'core/scopes.ts splitScopes': ofText(splitScopes),
  'core/text.ts isWithin': ofText((text) => isWithin(text, 350), [['', '']], SEEN),
  'core/text.ts isVisible': ofText(isVisible),
  'core/text.ts shownName': ofText((text) => shownName(text, 'x')),
  'core/text.ts isLine': ofText(isLine),
  'core/text.ts isLines': ofText(isLines),
  'core/credentials/user-code.ts parseUserCode': ofText(parseUserCode),
  'core/values.ts parseClientId': ofText(parseClientId),
  'core/url.ts parseResourceUrl': ofText(parseResourceUrl, [
    ['', ''],
    ['https://', ''],
    ['https://git.example/', ''],
    ['https://', '@git.example'],
  ]),
  'core/url.ts parseOrigin': ofText(parseOrigin, [
    ['', ''],
    ['https://', ''],
    ['http://[', ']'],
    ['https://xn--', ''],
  ]),
  'core/credentials/digests.ts bytesOfAscii': ofText(bytesOfAscii),
  'core/json.ts sameJson': of({
    'a list': (size) => same(() => Array(size).fill('a')),
    'many names': (size) => same(() => Object.fromEntries(Array.from({ length: size }, (_, index) => [index, '']))),
    'lists in lists': (size) => same(() => Array.from({ length: size }, () => [['a']])),
  }),
  'core/nearest.ts nearest': ofText((name) => nearest(name, ['scope', 'redirectUris'])),
  'core/application/redirect-uri.ts brokenRedirectRule': ofText(
    (text) => brokenRedirectRule(registered, text, redirect),
    REDIRECT_URIS,
  ),
  'core/application/redirect-uri.ts mismatchRule': ofText(
    (text) => mismatchRule(registered, text, redirect),
    REDIRECT_URIS,
  ),
  'core/application/redirect-uri.ts isLoopback': ofText(
    (host) => isLoopback(host, true),
    [
      ['', ''],
      ['127.', ''],
    ],
  ),
  'core/application/reason.ts reasonFault': ofText(reasonFault, [['', '']], SEEN),
  'core/text.ts unseenFault': ofText(unseenFault),
}

/** Compares a value of JSON with another one like it. */
function same(make: () => unknown): () => boolean {
  const [one, other] = [make(), make()]
  return () => sameJson(one, other)
}

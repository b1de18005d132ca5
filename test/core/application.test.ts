/**
 * Applications (specification, sections 2.1 and 8): every limit at its boundary, every fault with its path, and secrets
 * that are compared in full.
 * @module
 */
import * as fc from 'fast-check'
import type { Application, Digest, Registration } from 'grantwell'
import { portableDigests, serviceScopes } from 'grantwell'
import { describe, expect, it } from 'vitest'
import {
  APPLICATION_LIMITS,
  hasSecret,
  imageType,
  RESOURCE_CHOICES,
  registerApplication,
} from '../../src/core/application.js'
import { digestOf } from '../../src/core/digests.js'
import { LOGO, registration } from '../support.js'
import { Counted } from './counted.js'
import { clientIdOf } from './histories.js'
import { anyText } from './texts.js'

const NOW = 1_800_000_000
const RULES = {
  scopes: serviceScopes(),
  redirect: { matching: 'domain', allowLocalhost: false },
  digests: portableDigests,
} as const

const SECRET = 'a secret that only the client keeps'
const IDENTITY = { clientId: clientIdOf('web'), secretDigest: digestOf(portableDigests, SECRET) }

function register(changes: { readonly [Name in keyof Registration]?: Registration[Name] } = {}) {
  return registerApplication(registration(changes), IDENTITY, NOW, RULES)
}

/** The application that came of it. */
function applicationOf(changes: Partial<Registration> = {}): Application {
  const result = register(changes)
  if (result.type === 'faults') expect.fail(JSON.stringify(result.faults))
  return result.application
}

/** The paths of everything that is wrong; none where it was registered. */
function faultsOf(changes: Partial<Registration> = {}): readonly string[] {
  const result = register(changes)
  return result.type === 'faults' ? result.faults.map(({ path }) => path) : []
}

/** What a caller without types can pass. */
function untyped(changes: { readonly [Name in keyof Registration]?: unknown }): Partial<Registration> {
  return changes as Partial<Registration> // wrong on purpose
}

const logoOf = (text: string, length = text.length): Uint8Array => {
  const bytes = new Uint8Array(length)
  bytes.set(Uint8Array.from(text, (character) => character.charCodeAt(0)))
  return bytes
}

/** One character to a person, and several to a machine. */
const CHARACTERS = {
  'a letter': 'x',
  'a letter with a combining mark': 'e\u0301',
  'a letter with three combining marks': 'a\u0302\u0323\u0301',
  'an emoji': '😀',
  'an emoji with a skin tone': '👍🏽',
  'a family of four': '👩‍👩‍👧‍👦',
  'a kiss of two skin tones, 15 code units': '👩🏽‍❤️‍💋‍👨🏿',
  'the flag of Scotland, 14 code units': '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
  'a flag': '🇩🇪',
  'a syllable of Hangul in three parts': '\u1112\u1161\u11ab',
  'a Chinese character': '字',
  'one outside the first plane': '𠀀',
}

describe('a sound registration', () => {
  it('becomes the record of an approved application, which is JSON', () => {
    const application = applicationOf({ scopes: ['account-profile:r', 'repo-code:r', 'repo-code:rw'] })
    expect(application).toStrictEqual({
      v: 1,
      clientId: 'web',
      type: 'confidential',
      state: 'approved',
      name: 'Sample',
      description: 'An application',
      website: 'https://app.example',
      logo: portableDigests.sha256(LOGO),
      redirectUris: ['https://app.example/callback'],
      authorizedDomain: 'app.example',
      allowSubdomains: false,
      scopes: ['repo-code:rw', 'account-profile:r'],
      resourceScope: 'all',
      secretDigest: portableDigests.sha256(SECRET),
      createdAt: NOW,
    })
    expect(JSON.parse(JSON.stringify(application))).toStrictEqual(application)
  })

  it('leaves out what is not there: a description, an empty one too, a domain, a secret', () => {
    const { description, ...required } = registration({ type: 'public', redirectUris: ['com.example.app:/callback'] })
    expect(description).toBeDefined()
    for (const given of [required, { ...required, description: '' }]) {
      const result = registerApplication(given, { clientId: IDENTITY.clientId }, NOW, RULES)
      if (result.type === 'faults') expect.fail(JSON.stringify(result.faults))
      for (const name of ['description', 'authorizedDomain', 'secretDigest'])
        expect(Object.hasOwn(result.application, name)).toBe(false)
    }
  })

  it('keeps a copy of the redirect URIs, so that a change of the list changes no record', () => {
    const redirectUris = ['https://app.example/callback']
    const application = applicationOf({ redirectUris })
    redirectUris.push('https://evil.example/')
    expect(application.redirectUris).toEqual(['https://app.example/callback'])
  })
})

describe('the limits of section 8', () => {
  it('are 50, 350 and 128 characters, and 1 MB', () => {
    expect(APPLICATION_LIMITS).toEqual({ name: 50, description: 350, website: 128, logo: 1024 * 1024 })
  })

  it.each(Object.entries(CHARACTERS))('a name has at most 50 characters, of %s: 50 and 51', (_, character) => {
    expect(applicationOf({ name: character.repeat(50) }).name).toBe(character.repeat(50))
    expect(faultsOf({ name: character.repeat(51) })).toEqual(['name'])
  })

  it.each(Object.entries(CHARACTERS))(
    'a description has at most 350 characters, of %s: 350 and 351',
    (_, character) => {
      expect(applicationOf({ description: character.repeat(350) }).description).toBe(character.repeat(350))
      expect(faultsOf({ description: character.repeat(351) })).toEqual(['description'])
    },
  )

  it('a name and a description count as a person counts, whatever characters are mixed', () => {
    // A letter of its own in front of each, so that no two of them join to one.
    const characters = fc.array(fc.constantFrom(...Object.values(CHARACTERS)), { minLength: 20, maxLength: 30 })
    fc.assert(
      fc.property(characters, (mixed) => {
        const name = mixed.map((one) => `-${one}`).join('')
        expect(faultsOf({ name })).toEqual(mixed.length <= 25 ? [] : ['name'])
      }),
    )
  })

  it('a character is not piled up without end: 16 code units for each that there may be, and no more', () => {
    const piled = (length: number): string => 'a'.padEnd(length, '\u0301')
    expect(faultsOf({ name: piled(50 * 16) })).toEqual([])
    expect(faultsOf({ name: piled(50 * 16 + 1) })).toEqual(['name'])
    expect(faultsOf({ description: piled(350 * 16) })).toEqual([])
    expect(faultsOf({ description: piled(350 * 16 + 1) })).toEqual(['description'])
  })

  it('a website has at most 128 characters: 128 and 129', () => {
    const url = (length: number): string => 'https://app.example/'.padEnd(length, 'x')
    expect(applicationOf({ website: url(128) }).website).toBe(url(128))
    expect(faultsOf({ website: url(129) })).toEqual(['website'])
  })

  it('a logo has at most 1,048,576 bytes: so many, and one more', () => {
    expect(faultsOf({ logo: logoOf('\x89PNG\r\n\x1a\n', 1_048_576) })).toEqual([])
    expect(faultsOf({ logo: logoOf('\x89PNG\r\n\x1a\n', 1_048_577) })).toEqual(['logo'])
  })
})

describe('each field', () => {
  it.each([
    ['one character', 'x', true],
    ['letters and spaces', 'My application', true],
    ['nothing', '', false],
    ['spaces alone', '   ', false],
    ['a no-break space alone', '\u00a0', false],
    ['a line break', 'a\nb', false],
    ['a NUL', 'a\0b', false],
    ['a delete', 'a\x7fb', false],
    ['a control character of Latin-1', 'a\u0085b', false],
  ])('a name of %s', (_, name, accepted) => {
    expect(faultsOf({ name })).toEqual(accepted ? [] : ['name'])
  })

  it.each([
    ['https://app.example', true],
    ['http://app.example/path?query#fragment', true],
    ['https://例え.example', true],
    ['javascript:alert(1)', false],
    ['data:text/html,x', false],
    ['ftp://app.example', false],
    ['app.example', false],
    ['//app.example', false],
    ['https://', false],
    ['', false],
  ])('the website %j', (website, accepted) => {
    expect(faultsOf({ website })).toEqual(accepted ? [] : ['website'])
  })

  it.each([
    ['PNG', '\x89PNG\r\n\x1a\n\0\0', 'image/png'],
    ['JPEG', '\xff\xd8\xff\xe0\0\x10JFIF', 'image/jpeg'],
    ['GIF of 1987', 'GIF87a\x01\0', 'image/gif'],
    ['GIF of 1989', 'GIF89a\x01\0', 'image/gif'],
    ['WebP', 'RIFF\x1a\0\0\0WEBPVP8 ', 'image/webp'],
  ])('a logo may be a %s', (_, text, type) => {
    expect(imageType(logoOf(text))).toBe(type)
    expect(faultsOf({ logo: logoOf(text) })).toEqual([])
  })

  it.each([
    ['nothing', ''],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ['SVG behind an XML declaration', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['SVG behind a byte order mark', '\xef\xbb\xbf<svg/>'],
    ['HTML', '<!doctype html><script>alert(1)</script>'],
    ['PDF', '%PDF-1.7'],
    ['an icon', '\0\0\x01\0\x01\0'],
    ['BMP', 'BM\x1e\0\0\0'],
    ['the first 7 bytes of a PNG', '\x89PNG\r\n\x1a'],
    ['a PNG whose line break was changed', '\x89PNG\n\x1a\n'],
    ['a PNG behind one byte', '\n\x89PNG\r\n\x1a\n'],
    ['two bytes of a JPEG', '\xff\xd8'],
    ['a GIF of no year', 'GIF88a'],
    ['sound', 'RIFF\x1a\0\0\0WAVEfmt '],
    ['WebP without its first bytes', '....\x1a\0\0\0WEBP'],
    ['the first 11 bytes of a WebP', 'RIFF\x1a\0\0\0WEB'],
  ])('a logo may not be %s', (_, text) => {
    expect(imageType(logoOf(text))).toBeUndefined()
    expect(faultsOf({ logo: logoOf(text) })).toEqual(['logo'])
  })

  it('type and resource scope are of the few that there are, and no name that every object has', () => {
    for (const type of ['', 'Confidential', 'native', 'constructor', undefined])
      expect(faultsOf(untyped({ type }))).toEqual(['type'])
    for (const resourceScope of ['', 'none', 'constructor', '__proto__', 'toString', undefined])
      expect(faultsOf(untyped({ resourceScope }))).toEqual(['resourceScope'])
    for (const resourceScope of ['all', 'public', 'specified'] as const)
      expect(applicationOf({ resourceScope }).resourceScope).toBe(resourceScope)
  })

  it('a user may choose what is registered or something narrower (specification, section 2.1)', () => {
    expect(RESOURCE_CHOICES).toEqual({
      all: ['all', 'public', 'specified'],
      public: ['public', 'specified'],
      specified: ['specified'],
    })
  })

  it('scopes are at least one, and of the catalogue', () => {
    expect(faultsOf({ scopes: [] })).toEqual(['scopes'])
    expect(faultsOf({ scopes: ['repo-code:r', 'repo-unknown:r'] })).toEqual(['scopes'])
    expect(faultsOf({ scopes: ['repo-delete:r'] })).toEqual(['scopes'])
    expect(applicationOf({ scopes: ['mission-manage:r', 'repo-code:r'] }).scopes).toEqual([
      'repo-code:r',
      'mission-manage:r',
    ])
  })
})

describe('redirect URIs and the authorized domain', () => {
  it('at least one, and each that is wrong is named by its place', () => {
    expect(faultsOf({ redirectUris: [] })).toEqual(['redirectUris'])
    const redirectUris = [
      'https://app.example/a',
      'http://app.example/',
      'https://app.example/#',
      'javascript:alert(1)',
    ]
    expect(faultsOf({ redirectUris })).toEqual(['redirectUris[1]', 'redirectUris[2]', 'redirectUris[3]'])
  })

  it('a private-use scheme is for public clients alone', () => {
    const redirectUris = ['https://app.example/callback', 'com.example.app:/callback']
    expect(faultsOf({ redirectUris })).toEqual(['redirectUris[1]'])
    expect(applicationOf({ redirectUris, type: 'public' }).redirectUris).toEqual(redirectUris)
  })

  it('http on loopback needs no domain, and http://localhost the option', () => {
    expect(applicationOf({ redirectUris: ['http://127.0.0.1/a', 'http://[::1]/a'] }).authorizedDomain).toBeUndefined()
    expect(faultsOf({ redirectUris: ['http://localhost/a'] })).toEqual(['redirectUris[0]'])
    const lenient = { ...RULES, redirect: { matching: 'domain', allowLocalhost: true } } as const
    const result = registerApplication(registration({ redirectUris: ['http://localhost/a'] }), IDENTITY, NOW, lenient)
    expect(result.type).toBe('application')
  })

  it('the domain is the one that all https URIs share, unless it is given', () => {
    const shared = ['https://app.example/a', 'https://app.example:8443/b', 'http://127.0.0.1/c']
    expect(applicationOf({ redirectUris: shared }).authorizedDomain).toBe('app.example')
    const several = ['https://a.app.example/', 'https://b.app.example/']
    expect(faultsOf({ redirectUris: several })).toEqual(['authorizedDomain'])
    expect(
      applicationOf({ redirectUris: several, authorizedDomain: 'app.example', allowSubdomains: true }),
    ).toMatchObject({ authorizedDomain: 'app.example', allowSubdomains: true })
  })

  it('every https URI lies in the given domain, below it only where subdomains are allowed', () => {
    const redirectUris = ['https://a.app.example/', 'https://app.example/', 'https://evilapp.example/']
    expect(faultsOf({ redirectUris, authorizedDomain: 'app.example' })).toEqual(['redirectUris', 'redirectUris'])
    expect(faultsOf({ redirectUris, authorizedDomain: 'app.example', allowSubdomains: true })).toEqual(['redirectUris'])
    const result = register({ redirectUris, authorizedDomain: 'app.example', allowSubdomains: true })
    expect(result.type === 'faults' && result.faults[0]?.message).toBe(
      'evilapp.example is not in the authorized domain',
    )
  })

  const label = (length: number): string => 'x'.repeat(length)

  it.each([
    ['app.example', true],
    ['localhost', true],
    ['127.0.0.1', true],
    ['xn--bcher-kva.example', true],
    ['a', true],
    [`${label(63)}.example`, true],
    [`${label(64)}.example`, false],
    [`${label(63)}.${label(63)}.${label(63)}.${label(61)}`, true],
    [`${label(63)}.${label(63)}.${label(63)}.${label(62)}`, false],
    ['', false],
    ['App.example', false],
    ['app.example.', false],
    ['.app.example', false],
    ['app..example', false],
    ['-app.example', false],
    ['app-.example', false],
    ['app.example:443', false],
    ['app.example/path', false],
    ['https://app.example', false],
    ['*.app.example', false],
    ['user@app.example', false],
    ['app.example\n', false],
    ['bücher.example', false],
    ['[::1]', false],
  ])('the domain %j: is one, or is not', (authorizedDomain, accepted) => {
    expect(faultsOf({ redirectUris: ['http://127.0.0.1/a'], authorizedDomain })).toEqual(
      accepted ? [] : ['authorizedDomain'],
    )
  })

  it('subdomains of a domain without a dot are a whole top-level domain', () => {
    const redirectUris = ['https://app.example/']
    expect(faultsOf({ redirectUris, authorizedDomain: 'example', allowSubdomains: true })).toEqual(['allowSubdomains'])
  })
})

describe('faults', () => {
  it('all come at once, each with its path and what is demanded', () => {
    const result = register(
      untyped({
        name: '',
        description: 'x'.repeat(351),
        website: 'app.example',
        logo: logoOf('<svg/>', 1_048_577),
        type: 'native',
        resourceScope: 'everything',
        redirectUris: ['https://a.example/', 'ftp://a.example/', 'https://b.example/', 'com.example.app:/'],
        authorizedDomain: 'Example',
        allowSubdomains: true,
        scopes: ['everything'],
      }),
    )
    if (result.type !== 'faults') expect.fail('registered')
    expect(result.faults.map(({ path }) => path)).toEqual([
      'name',
      'description',
      'website',
      'logo',
      'logo',
      'type',
      'resourceScope',
      'redirectUris[1]',
      'redirectUris[3]',
      'authorizedDomain',
      'allowSubdomains',
      'redirectUris',
      'redirectUris',
      'scopes',
    ])
    for (const { message } of result.faults) expect(message).toMatch(/^(?:must |[ab]\.example is not in )/)
  })

  it('of shape come first and alone: a field that is unknown, missing, or of the wrong type, whatever is in it', () => {
    const required = ['name', 'logo', 'website', 'type', 'redirectUris', 'scopes', 'resourceScope'] as const
    for (const name of required) {
      const { [name]: taken, ...rest } = registration()
      expect(taken).toBeDefined()
      expect(register(untyped({ ...rest, [name]: undefined })).type).toBe('faults')
      const result = registerApplication(rest as Registration, IDENTITY, NOW, RULES) // as a caller without types can
      expect(result).toEqual({ type: 'faults', faults: [{ path: name, message: 'is missing or of the wrong type' }] })
    }
    const values = [null, 1, true, 'x', [], ['x'], [1], {}, new Uint8Array(1), LOGO.buffer, () => 'x']
    const sound: { readonly [Name in keyof Required<Registration>]: (value: unknown) => boolean } = {
      name: (value) => value === 'x',
      logo: (value) => value instanceof Uint8Array,
      description: (value) => value === 'x',
      website: (value) => value === 'x',
      type: (value) => value === 'x',
      redirectUris: (value) => Array.isArray(value) && value[0] !== 1,
      authorizedDomain: (value) => value === 'x',
      allowSubdomains: (value) => value === true,
      scopes: (value) => Array.isArray(value) && value[0] !== 1,
      resourceScope: (value) => value === 'x',
    }
    for (const [name, fits] of Object.entries(sound)) {
      for (const value of values) {
        const result = register(untyped({ name: 'x', [name]: value }))
        const shape = result.type === 'faults' && result.faults.some(({ message }) => message.includes('wrong type'))
        expect([name, value, shape]).toEqual([name, value, !fits(value)])
      }
    }
    expect(faultsOf({ ...untyped({ scopes: 1 }), ...{ website: '', owner: 'ada', constructor: 1 } })).toEqual([
      'owner',
      'constructor',
      'scopes',
    ])
  })

  it('of a registration that is sound in all but one field name that field alone', () => {
    const wrong: readonly (readonly [string, Partial<Registration>])[] = [
      ['name', { name: '' }],
      ['description', { description: 'x'.repeat(351) }],
      ['website', { website: 'x' }],
      ['logo', { logo: new Uint8Array(0) }],
      ['redirectUris', { redirectUris: [] }],
      ['redirectUris[0]', { redirectUris: ['x'] }],
      ['authorizedDomain', { redirectUris: ['https://a.example/', 'https://b.example/'] }],
      ['scopes', { scopes: [] }],
    ]
    for (const [path, changes] of wrong) expect(faultsOf(changes)).toEqual([path])
  })
})

describe('client secrets', () => {
  const confidential = applicationOf()
  const { secretDigest, ...withoutSecret } = confidential
  const digest = (secret: string): Digest => digestOf(portableDigests, secret)

  it('[22] the record has the digest of the secret, never the secret', () => {
    expect(secretDigest).toBe(portableDigests.sha256(SECRET))
    const dump = JSON.stringify(confidential)
    const forms = [
      SECRET,
      ...(['base64', 'base64url', 'hex'] as const).map((form) => Buffer.from(SECRET).toString(form)),
    ]
    for (const form of forms) expect(dump).not.toContain(form)
  })

  it('[22] the right secret is believed, no other one, and none where there is no application or no secret', () => {
    expect(hasSecret(confidential, digest(SECRET))).toBe(true)
    expect(hasSecret({ ...confidential, state: 'suspended' }, digest(SECRET))).toBe(true)
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(hasSecret(confidential, digest(text))).toBe(text === SECRET)
        expect(hasSecret(withoutSecret, digest(text))).toBe(false)
        expect(hasSecret(undefined, digest(text))).toBe(false)
      }),
    )
  })

  it('[22] nothing that stands in for a missing secret is ever believed', () => {
    const stands = ['-'.repeat(43), '', '\0'.repeat(43), 'undefined'] as Digest[] // not even what no digest function gives
    for (const stand of stands) {
      expect(hasSecret(undefined, stand)).toBe(false)
      expect(hasSecret(withoutSecret, stand)).toBe(false)
      expect(hasSecret(confidential, stand)).toBe(false)
    }
  })

  it('[22] every character is compared exactly once, the same for a wrong secret, a right one, no secret and no application', () => {
    const everyPlace = Array.from({ length: 43 }, (_, index) => index)
    const wrongAt = everyPlace.map((at) => {
      const right = digest(SECRET)
      return right.slice(0, at) + (right[at] === 'A' ? 'B' : 'A') + right.slice(at + 1)
    })
    for (const application of [confidential, withoutSecret, undefined]) {
      for (const presented of [digest(SECRET), digest('wrong'), ...wrongAt]) {
        const counted = new Counted(presented)
        const believed = hasSecret(application, counted.text as Digest) // stands in for one
        expect(believed).toBe(application === confidential && presented === secretDigest)
        expect(counted.visited).toEqual(everyPlace)
      }
    }
  })
})

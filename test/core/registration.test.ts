/**
 * Registrations (specification, sections 2.1, 5.3 and 8): every limit at its boundary, every fault with its path, all of
 * them at once, and an answer to whatever is handed in.
 * @module
 */
import * as fc from 'fast-check'
import type { RegistrationFault } from 'grantwell'
import { serviceScopes } from 'grantwell'
import type { RegistrationDetails } from 'grantwell/core'
import { APPLICATION_LIMITS, SUBMISSION_LIMITS } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { imageType } from '../../src/core/application/image.js'
import { reasonFault } from '../../src/core/application/reason.js'
import { matchRedirectUri } from '../../src/core/application/redirect-uri.js'
import { RESOURCE_CHOICES } from '../../src/core/application/registration.js'
import type { RegistrationRules } from '../../src/core/application/registration-check.js'
import { checkRegistration } from '../../src/core/application/registration-check.js'
import { LOGO, registration } from '../support.js'
import { bytesOf, gif, jpeg, png, vp8, vp8l, vp8x } from './images.js'
import { anyText } from './texts.js'

/** Of the function `register`: an administrator speaks. */
const RULES: RegistrationRules = {
  scopes: serviceScopes(),
  redirect: { matching: 'domain', allowLocalhost: false },
  specifiedResources: true,
  macTokens: true,
  reasons: 'optional',
  logo: 'required',
  redirectUris: 'required',
}

/** Of the function `submit`: an applicant speaks. */
const SUBMISSION: RegistrationRules = { ...RULES, reasons: 'required' }

type Field =
  | 'name'
  | 'logo'
  | 'description'
  | 'website'
  | 'type'
  | 'redirectUris'
  | 'authorizedDomain'
  | 'allowSubdomains'
  | 'scopes'
  | 'resourceScope'
  | 'deviceFlow'
  | 'tokenType'

/** What anybody can hand in. */
type Given = { readonly [Name in Field]?: unknown } & { readonly [name: string]: unknown }

function check(changes: Given = {}, rules = RULES) {
  return checkRegistration({ ...registration(), ...changes }, rules)
}

/** The faults by their places and sentences; `faults.test.ts` holds that their codes and values say the same. */
function faults(given: unknown, rules = RULES): readonly Pick<RegistrationFault, 'path' | 'message'>[] {
  const result = checkRegistration(given, rules)
  return result.type === 'faults' ? result.faults.map(({ path, message }) => ({ path, message })) : []
}

/** The paths of everything that is wrong; none where it is accepted. */
function faultsOf(changes: Given = {}, rules = RULES): readonly string[] {
  return faults({ ...registration(), ...changes }, rules).map(({ path }) => path)
}

function detailsOf(changes: Given = {}, rules = RULES): RegistrationDetails {
  const result = check(changes, rules)
  return result.type === 'details' ? result.details : expect.fail(JSON.stringify(result.faults))
}

const isReason = (text: string): boolean => reasonFault(text) === undefined

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
  'a family of four, joined by three ZWJ': '👩\u200d👩\u200d👧\u200d👦',
  'a kiss of two skin tones, 15 code units': '👩🏽‍❤️‍💋‍👨🏿',
  'the flag of Scotland, 14 code units': '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
  'a flag of two regional indicators': '🇩🇪',
  'a keycap': '1\ufe0f\u20e3',
  'a syllable of Hangul in three parts': '\u1112\u1161\u11ab',
  'a syllable of Devanagari': 'नि',
  'a Chinese character': '字',
  'one outside the first plane': '𠀀',
}

describe('a sound registration', () => {
  it('becomes these details, which are JSON, and its logo beside them', () => {
    const result = check({ scopes: ['account-profile:r', 'repo-code:rw'], deviceFlow: true })
    expect(result).toStrictEqual({
      type: 'details',
      logo: LOGO,
      details: {
        type: 'confidential',
        name: 'Sample',
        description: 'An application',
        website: 'https://app.example',
        redirectUris: ['https://app.example/callback'],
        authorizedDomain: 'app.example',
        allowSubdomains: false,
        scopes: ['repo-code:rw', 'account-profile:r'],
        reasons: {},
        resourceScope: 'all',
        deviceFlow: true,
      },
    })
    const details = detailsOf()
    expect(JSON.parse(JSON.stringify(details))).toStrictEqual(details)
  })

  it('keeps the reason of each scope, by the scope', () => {
    const scopes = [
      { scope: 'account-profile:r', reason: 'To greet you' },
      'repo-pr:r',
      { scope: 'repo-code:rw', reason: 'To\r\npush\tthe result' },
    ]
    expect(detailsOf({ scopes })).toMatchObject({
      scopes: ['repo-code:rw', 'repo-pr:r', 'account-profile:r'],
      reasons: { 'account-profile:r': 'To greet you', 'repo-code:rw': 'To\r\npush\tthe result' },
    })
    expect(Object.keys(detailsOf({ scopes }).reasons)).toHaveLength(2)
  })

  it('leaves out what is not there: a description, an empty one too, and a domain', () => {
    const { description, ...required } = registration({ type: 'public', redirectUris: ['com.example.app:/callback'] })
    expect(description).toBeDefined()
    for (const given of [required, { ...required, description: '' }, { ...required, description: undefined }]) {
      const result = checkRegistration(given, RULES)
      if (result.type === 'faults') expect.fail(JSON.stringify(result.faults))
      for (const name of ['description', 'authorizedDomain']) expect(Object.hasOwn(result.details, name)).toBe(false)
    }
  })

  it('may go without a logo in a change, and nowhere else', () => {
    for (const logo of [undefined, 'absent'] as const) {
      const { logo: taken, ...rest } = registration()
      expect(taken).toBeDefined()
      const given = logo === undefined ? { ...rest, logo } : rest
      expect(checkRegistration(given, { ...RULES, logo: 'optional' })).toMatchObject({
        type: 'details',
        logo: undefined,
      })
      expect(faults(given)).toStrictEqual([{ path: 'logo', message: 'must be bytes in a Uint8Array; got undefined' }])
    }
    expect(faultsOf({ logo: null }, { ...RULES, logo: 'optional' })).toEqual(['logo'])
    expect(check({}, { ...RULES, logo: 'optional' })).toMatchObject({ type: 'details', logo: LOGO })
  })

  it('is kept as a copy, so that a change of its lists changes no record', () => {
    const redirectUris = ['https://app.example/callback']
    const scopes = ['repo-code:r']
    const details = detailsOf({ redirectUris, scopes })
    redirectUris.push('https://evil.example/')
    scopes.push('repo-delete:rw')
    expect(details).toMatchObject({ redirectUris: ['https://app.example/callback'], scopes: ['repo-code:r'] })
  })
})

describe('8 limits', () => {
  it('are 50, 350 and 128 characters, and 1 MB; and of our own 350 for a reason, and 64 redirect URIs', () => {
    expect(APPLICATION_LIMITS).toEqual({ name: 50, description: 350, website: 128, logo: 1024 * 1024, logoSide: 4096 })
    expect(SUBMISSION_LIMITS).toEqual({ reason: 350, redirectUris: 64 })
  })

  it.each(Object.entries(CHARACTERS))('a name has at most 50 characters, of %s: 50 and 51', (_, character) => {
    expect(detailsOf({ name: character.repeat(50) }).name).toBe(character.repeat(50))
    expect(faultsOf({ name: character.repeat(51) })).toEqual(['name'])
  })

  it.each(Object.entries(CHARACTERS))(
    'a description has at most 350 characters, and so has a reason, of %s: 350 and 351',
    (_, character) => {
      const [most, more] = [character.repeat(350), character.repeat(351)]
      expect(detailsOf({ description: most }).description).toBe(most)
      expect(faultsOf({ description: more })).toEqual(['description'])
      const asking = (reason: string) => ({ scopes: [{ scope: 'repo-code:r', reason }] })
      expect(detailsOf(asking(most)).reasons).toEqual({ 'repo-code:r': most })
      expect(faultsOf(asking(more))).toEqual(['scopes[0].reason'])
      expect([isReason(most), isReason(more)]).toEqual([true, false])
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
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...Object.values(CHARACTERS)), { minLength: 170, maxLength: 180 }),
        (mixed) => {
          const description = mixed.map((one) => `-${one}`).join('')
          expect(faultsOf({ description })).toEqual(mixed.length <= 175 ? [] : ['description'])
        },
      ),
      { numRuns: 30 },
    )
  })

  it('a line end of two characters is one to a person: 350 and 351', () => {
    expect(faultsOf({ description: '\r\n'.repeat(350) })).toEqual([])
    expect(faultsOf({ description: '\r\n'.repeat(351) })).toEqual(['description'])
  })

  it('a character is not piled up without end: 32 code units, and 16 on average of all that there may be', () => {
    const piled = (length: number): string => 'a'.padEnd(length, '\u0301')
    const full = (characters: number): string => piled(32).repeat(characters / 2)
    expect(faultsOf({ name: piled(32) })).toEqual([])
    expect(faultsOf({ name: piled(33) })).toEqual(['name'])
    expect(faultsOf({ name: `a${piled(33)}` })).toEqual(['name'])
    expect(faultsOf({ name: full(50) })).toEqual([])
    expect(faultsOf({ name: `${full(50)}a` })).toEqual(['name'])
    expect(faultsOf({ description: full(350) })).toEqual([])
    expect(faultsOf({ description: `${full(350)}a` })).toEqual(['description'])
    expect([isReason(full(350)), isReason(`${full(350)}a`), isReason(piled(33))]).toEqual([true, false, false])
  })

  it('a website has at most 128 characters: 128 and 129', () => {
    const url = (length: number): string => 'https://app.example/'.padEnd(length, 'x')
    expect(detailsOf({ website: url(128) }).website).toBe(url(128))
    expect(faultsOf({ website: url(129) })).toEqual(['website'])
    const marked = (count: number): string => `https://app.example/${'e\u0301'.repeat(count)}`
    expect(faultsOf({ website: marked(108) })).toEqual([])
    expect(faultsOf({ website: marked(109) })).toEqual(['website'])
  })

  it('a logo has at most 1,048,576 bytes: so many, and one more', () => {
    const logo = new Uint8Array(1_048_577)
    logo.set(LOGO)
    expect(faultsOf({ logo: logo.subarray(1) })).toEqual(['logo'])
    expect(faultsOf({ logo: logo.subarray(0, -1) })).toEqual([])
    expect(faultsOf({ logo })).toEqual(['logo'])
  })

  it.each([png, jpeg, gif, vp8, vp8l, vp8x])('a logo has at most 4,096 pixels a side: so many, and more', (make) => {
    for (const side of [1, 4096]) expect(faultsOf({ logo: make(side, side) })).toEqual([])
    for (const [width = 1, height = 1] of [[4097], [1, 4097], [16_383, 16_383]]) {
      const [wide, high] = [width, height].map((side) => side.toLocaleString('en'))
      const message = `has ${wide} x ${high} pixels; must have at most 4,096 x 4,096`
      const logo = make(width, height)
      expect(faults({ ...registration(), logo })).toStrictEqual([{ path: 'logo', message }])
    }
  })

  it('a logo whose header has no width and height is none', () => {
    const message = 'must be an image whose header has its width and height'
    for (const logo of [png(0, 1), png(1, 1).subarray(0, 16), jpeg(1, 0), gif(0, 0), logoOf('RIFF1234WEBP')])
      expect(faults({ ...registration(), logo })).toStrictEqual([{ path: 'logo', message }])
  })

  it('there are at most 64 redirect URIs: 64 and 65', () => {
    const uris = (length: number) => Array.from({ length }, (_, index) => `https://app.example/${index}`)
    expect(detailsOf({ redirectUris: uris(64) }).redirectUris).toEqual(uris(64))
    expect(faultsOf({ redirectUris: uris(65) })).toEqual(['redirectUris'])
  })
})

describe('2.1 name, description, website and logo', () => {
  it.each([
    ['one character', 'x', true],
    ['letters and spaces', 'My application', true],
    ['an emoji alone', '👩‍👩‍👧‍👦', true],
    ['a flag alone', '🇩🇪', true],
    ['a number alone', '7', true],
    ['letters of Arabic between their marks of direction', '\u200fتطبيق\u200f', true],
    ['letters of Persian with a non-joiner', 'می\u200cخواهم', true],
    ['nothing', '', false],
    ['spaces alone', '   ', false],
    ['a no-break space alone', '\u00a0', false],
    ['an ideographic space alone', '\u3000', false],
    ['a combining mark alone', '\u0301', false],
    ['zero-width spaces alone', '\u200b\u200b', false],
    ['a joiner alone', '\u200d', false],
    ['a soft hyphen alone', '\u00ad', false],
    ['a variation selector alone', '\ufe0f', false],
    ['a Hangul filler alone', '\u3164', false],
    ['a half-width Hangul filler alone', '\uffa0', false],
    ['tag characters alone', '\u{e0067}\u{e0062}', false],
    ['a blank of Braille alone', '\u2800', false],
    ['the place of an object alone', '\ufffc', false],
    ['a half space alone', '\u303f', false],
    ['blanks of Egyptian alone', '\u{13441}\u{13442}', false],
    ['a note without a head alone', '\u{1d159}', false],
    ['a letter among them', '\ufffc\u{13441}\u2800a\u{1d159}', true],
    ['marks of direction alone', '\u200e\u200f', false],
    ['a line break', 'a\nb', false],
    ['a line end of two characters', 'a\r\nb', false],
    ['a tab', 'a\tb', false],
    ['a line separator', 'a\u2028b', false],
    ['a paragraph separator', 'a\u2029b', false],
    ['a NUL', 'a\0b', false],
    ['a delete', 'a\x7fb', false],
    ['a control character of Latin-1', 'a\u0085b', false],
    ['the first half of a character', 'a\ud83d', false],
    ['the second half of a character', '\ude00b', false],
    ['two halves the wrong way round', '\ude00\ud83d', false],
    ['an embedding from right to left', 'a\u202bb', false],
    ['an override from right to left', 'a\u202egpj.exe', false],
    ['an override from left to right', 'a\u202db', false],
    ['an isolate', 'a\u2067b', false],
    ['the end of an isolate', 'a\u2069b', false],
    ['the end of an embedding', 'a\u202cb', false],
  ])('a name of %s', (_, name, accepted) => {
    expect(faultsOf({ name })).toEqual(accepted ? [] : ['name'])
  })

  it.each([
    ['nothing', '', true],
    ['a space', ' ', true],
    ['two lines', 'a\nb', true],
    ['two lines as a form sends them', 'a\r\nb', true],
    ['a tab', 'a\tb', true],
    ['a NUL', 'a\0b', false],
    ['a vertical tab', 'a\vb', false],
    ['an escape', 'a\x1bb', false],
    ['a control character of Latin-1', 'a\u0085b', false],
    ['half a character', 'a\ud83d', false],
    ['an override from right to left', 'a\u202eb', false],
    ['an isolate', 'a\u2066b', false],
  ])('a description of %s; a reason too, if it says something', (_, text, accepted) => {
    expect(faultsOf({ description: text })).toEqual(accepted ? [] : ['description'])
    expect(isReason(text)).toBe(accepted && text.trim() !== '')
    const asking = { scopes: [{ scope: 'repo-code:r', reason: text }] }
    expect(faultsOf(asking)).toEqual(isReason(text) ? [] : ['scopes[0].reason'])
  })

  it.each([
    ['https://app.example', true],
    ['http://app.example/path?query#fragment', true],
    ['https://app.example:8443/', true],
    ['https://例え.example', true],
    ['javascript:alert(1)', false],
    ['data:text/html,x', false],
    ['ftp://app.example', false],
    ['app.example', false],
    ['//app.example', false],
    ['https://', false],
    ['https://app.example@evil.example/', false],
    ['https://app.example:password@evil.example/', false],
    ['https://:password@evil.example/', false],
    [' https://app.example', false],
    ['https://app.example/a b', false],
    ['https://app.example/\n', false],
    ['https://app.example/\t', false],
    ['https://app.example/\0', false],
    ['https://app.example/\u202egnp', false],
    ['https://app.example/\u2066', false],
    ['https://app.example/\ud83d', false],
    ['java\nscript:alert(1)', false],
    ['', false],
  ])('the website %j', (website, accepted) => {
    expect(faultsOf({ website })).toEqual(accepted ? [] : ['website'])
  })

  it.each([
    ['PNG', png(1, 1), 'image/png'],
    ['JPEG', jpeg(1, 1), 'image/jpeg'],
    ['GIF of 1987', gif(1, 1, [], '87a'), 'image/gif'],
    ['GIF of 1989', gif(1, 1), 'image/gif'],
    ['WebP', vp8(1, 1), 'image/webp'],
  ])('a logo may be a %s, as a view into more bytes and as a Buffer too', (_, bytes, type) => {
    const view = bytesOf('<svg>', [...bytes]).subarray(5)
    for (const logo of [bytes, view, Buffer.from(bytes)]) {
      expect(imageType(logo)).toBe(type)
      expect(faultsOf({ logo })).toEqual([])
    }
  })

  it.each([
    ['nothing', ''],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ['SVG behind an XML declaration', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['SVG behind a byte order mark', '\xef\xbb\xbf<svg/>'],
    ['SVG that was compressed', '\x1f\x8b\x08\0\0\0'],
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
})

describe('2.1 type, resource scope and device flow', () => {
  it('are of the few that there are, and no name that every object has', () => {
    for (const type of ['', 'Confidential', 'native', 'constructor', undefined])
      expect(faultsOf({ type })).toEqual(['type'])
    for (const resourceScope of ['', 'none', 'constructor', '__proto__', 'toString', undefined])
      expect(faultsOf({ resourceScope })).toEqual(['resourceScope'])
    for (const resourceScope of ['all', 'public', 'specified'] as const)
      expect(detailsOf({ resourceScope }).resourceScope).toBe(resourceScope)
  })

  it('specified resources are for a service that can let users specify them', () => {
    const rules = { ...RULES, specifiedResources: false }
    expect(faultsOf({ resourceScope: 'specified' }, rules)).toEqual(['resourceScope'])
    for (const resourceScope of ['all', 'public']) expect(faultsOf({ resourceScope }, rules)).toEqual([])
  })

  it('the device flow is for those alone that ask for it', () => {
    const { deviceFlow, ...rest } = registration({ deviceFlow: true })
    for (const given of [rest, { ...rest, deviceFlow: undefined }, { ...rest, deviceFlow: false }])
      expect(checkRegistration(given, RULES)).toMatchObject({ type: 'details', details: { deviceFlow: false } })
    expect(detailsOf({ deviceFlow }).deviceFlow).toBe(true)
  })

  it('a token type is bearer, which is kept as nothing at all, or mac, and no other spelling of them', () => {
    const details = detailsOf()
    for (const tokenType of [undefined, 'bearer']) expect(detailsOf({ tokenType })).toStrictEqual(details)
    expect(Object.hasOwn(details, 'tokenType')).toBe(false)
    expect(detailsOf({ tokenType: 'mac' })).toStrictEqual({ ...details, tokenType: 'mac' })
    for (const tokenType of ['', 'Bearer', 'MAC', 'mac ', 'dpop', 'constructor', '__proto__']) {
      expect(faults({ ...registration(), tokenType })).toStrictEqual([
        { path: 'tokenType', message: 'must be bearer or mac' },
      ])
    }
  })

  it('tokens of the type mac are for a service that gives them out', () => {
    const rules = { ...RULES, macTokens: false }
    expect(faults({ ...registration(), tokenType: 'mac' }, rules)).toStrictEqual([
      { path: 'tokenType', message: 'must not be mac: the server has no option macTokens' },
    ])
    for (const tokenType of [undefined, 'bearer']) expect(faultsOf({ tokenType }, rules)).toEqual([])
  })

  it('a user may choose what is registered or something narrower', () => {
    expect(RESOURCE_CHOICES).toEqual({
      all: ['all', 'public', 'specified'],
      public: ['public', 'specified'],
      specified: ['specified'],
    })
  })
})

describe('2.1, 5.3 scopes', () => {
  it('are at least one, of the catalogue, each asked for once', () => {
    expect(faultsOf({ scopes: [] })).toEqual(['scopes'])
    expect(faultsOf({ scopes: ['repo-code:r', 'repo-unknown:r'] })).toEqual(['scopes[1]'])
    expect(faultsOf({ scopes: ['repo-delete:r'] })).toEqual(['scopes[0]'])
    expect(faultsOf({ scopes: ['repo-code:r', 'repo-pr:r', 'repo-code:r'] })).toEqual(['scopes[2]'])
    expect(faultsOf({ scopes: ['repo-code:r', 'repo-code:rw'] })).toEqual(['scopes[1]'])
    expect(
      faultsOf({
        scopes: [
          { scope: 'repo-code:rw', reason: 'x' },
          { scope: 'repo-code:r', reason: 'x' },
        ],
      }),
    ).toEqual(['scopes[1].scope'])
    for (const scope of ['', ' ', 'repo-code', 'repo-code:r repo-pr:r', '__proto__', 'constructor', 'toString:r']) {
      expect(faultsOf({ scopes: [scope] })).toEqual(['scopes[0]'])
      expect(faultsOf({ scopes: [{ scope, reason: 'x' }] })).toEqual(['scopes[0].scope'])
    }
  })

  it('are in the order of the catalogue in the end', () => {
    expect(detailsOf({ scopes: ['mission-manage:r', 'repo-code:r'] }).scopes).toEqual([
      'repo-code:r',
      'mission-manage:r',
    ])
    const names = new Map([...RULES.scopes.entries.values()].map(({ scope, position }) => [position, scope]))
    const every = [...names.values()]
    expect(detailsOf({ scopes: every.toReversed() }).scopes).toEqual(every)
  })

  it('have a reason each where an applicant asks, which an administrator may leave out', () => {
    const scopes = [
      'repo-code:r',
      { scope: 'repo-pr:r' },
      { scope: 'repo-issue:r', reason: undefined },
      { scope: 'repo-notes:r', reason: '' },
      { scope: 'repo-release:r', reason: '   ' },
      { scope: 'repo-manage:r', reason: '\u200b' },
      { scope: 'account-email:r', reason: 'x' },
    ]
    const empty = ['scopes[3].reason', 'scopes[4].reason', 'scopes[5].reason']
    expect(faultsOf({ scopes })).toEqual(empty)
    const missing = ['scopes[0].reason', 'scopes[1].reason', 'scopes[2].reason']
    expect(faultsOf({ scopes }, SUBMISSION)).toEqual([...missing, ...empty])
  })

  it.each([
    ['a number', 1, ['']],
    ['null', null, ['']],
    ['nothing', undefined, ['']],
    ['a function', () => 'repo-code:r', ['']],
    ['a list', ['repo-code:r'], ['.0', '.scope']],
    ['an object without fields', {}, ['.scope']],
    ['a reason alone', { reason: 'x' }, ['.scope']],
    ['a scope that is a list', { scope: ['repo-code:r'], reason: 'x' }, ['.scope']],
    ['a scope that is not there', { scope: undefined, reason: 1 }, ['.reason', '.scope']],
    ['a reason that is a number', { scope: 'repo-code:r', reason: 1 }, ['.reason']],
    ['a reason that is null', { scope: 'repo-code:r', reason: null }, ['.reason']],
    ['one field more', { scope: 'repo-code:r', reason: 'x', granted: true }, ['.granted']],
    ['a prototype from JSON', JSON.parse('{ "scope": "repo-code:r", "reason": "x", "__proto__": {} }'), ['.__proto__']],
    ['what is inherited alone', Object.create({ scope: 'repo-code:r', reason: 'x' }), ['.scope']],
  ] as const)('are not asked for by %s', (_, asked, where: readonly string[]) => {
    expect(faultsOf({ scopes: [asked] })).toEqual(where.map((path) => `scopes[0]${path}`))
    expect(faultsOf({ scopes: ['repo-pr:r', asked, 'unknown:r'] })).toEqual([
      ...where.map((path) => `scopes[1]${path}`),
      'scopes[2]',
    ])
  })

  it('unknown ones are told together with a reason that is missing', () => {
    expect(faultsOf({ scopes: [{ scope: 'unknown:r', reason: '' }, 'unknown:rw'] }, SUBMISSION)).toEqual([
      'scopes[0].reason',
      'scopes[0].scope',
      'scopes[1].reason',
      'scopes[1]',
    ])
  })
})

describe('2.1 redirect URIs and the authorized domain', () => {
  it('at least one, and each that is wrong is named by its place', () => {
    expect(faultsOf({ redirectUris: [] })).toEqual(['redirectUris'])
    const redirectUris = [
      'https://app.example/a',
      'http://app.example/',
      'https://app.example/#',
      'javascript:alert(1)',
      7,
      'https://app.example/?code=x',
    ]
    expect(faultsOf({ redirectUris })).toEqual([1, 2, 3, 4, 5].map((index) => `redirectUris[${index}]`))
  })

  it('none for a resource server, to which no browser is ever sent; every other rule stays', () => {
    const rules = { ...RULES, redirectUris: 'none' } as const
    const { authorizedDomain, ...details } = { authorizedDomain: undefined, ...detailsOf({ redirectUris: [] }, rules) }
    expect([authorizedDomain, details.redirectUris]).toEqual([undefined, []])
    const nowhere = [
      undefined,
      'https://app.example/callback',
      'https://app.example/',
      'http://127.0.0.1/',
      'http://[::1]:8080/',
      'com.example.app:/callback',
    ]
    for (const matching of ['domain', 'exact'] as const)
      for (const uri of nowhere)
        expect(matchRedirectUri(details, uri, { matching, allowLocalhost: true })).toBeUndefined()
    for (const redirectUris of [undefined, null, 'https://app.example/'])
      expect(faultsOf({ redirectUris }, rules)).toEqual(['redirectUris'])
    expect(faultsOf({ redirectUris: ['x'] }, rules)).toEqual(['redirectUris[0]'])
  })

  it('a private-use scheme is for public clients alone', () => {
    const redirectUris = ['https://app.example/callback', 'com.example.app:/callback']
    expect(faultsOf({ redirectUris })).toEqual(['redirectUris[1]'])
    expect(detailsOf({ redirectUris, type: 'public' }).redirectUris).toEqual(redirectUris)
    expect(faultsOf({ redirectUris, type: 'native' })).toEqual(['type'])
  })

  it('http on loopback needs no domain, and http://localhost the option', () => {
    expect(detailsOf({ redirectUris: ['http://127.0.0.1/a', 'http://[::1]/a'] }).authorizedDomain).toBeUndefined()
    expect(faultsOf({ redirectUris: ['http://localhost/a'] })).toEqual(['redirectUris[0]'])
    const lenient: RegistrationRules = { ...RULES, redirect: { matching: 'domain', allowLocalhost: true } }
    expect(faultsOf({ redirectUris: ['http://localhost/a'] }, lenient)).toEqual([])
  })

  it('the domain is the one that all https URIs share, unless it is given', () => {
    const shared = ['https://app.example/a', 'https://app.example:8443/b', 'http://127.0.0.1/c']
    expect(detailsOf({ redirectUris: shared }).authorizedDomain).toBe('app.example')
    const several = ['https://a.app.example/', 'https://b.app.example/']
    expect(faultsOf({ redirectUris: several })).toEqual(['authorizedDomain'])
    expect(detailsOf({ redirectUris: several, authorizedDomain: 'app.example', allowSubdomains: true })).toMatchObject({
      authorizedDomain: 'app.example',
      allowSubdomains: true,
    })
  })

  it('every https URI lies in the given domain, below it only where subdomains are allowed', () => {
    const redirectUris = ['https://a.app.example/', 'https://app.example/', 'https://evilapp.example/']
    expect(faultsOf({ redirectUris, authorizedDomain: 'app.example' })).toEqual(['redirectUris', 'redirectUris'])
    expect(
      faults(registration({ redirectUris, authorizedDomain: 'app.example', allowSubdomains: true })),
    ).toStrictEqual([{ path: 'redirectUris', message: 'evilapp.example is not in the authorized domain' }])
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
    const local = { redirectUris: ['https://localhost/'], authorizedDomain: 'localhost' }
    expect(faultsOf({ ...local, allowSubdomains: true })).toEqual(['allowSubdomains'])
    expect(faultsOf({ ...local, allowSubdomains: false })).toEqual([])
  })
})

/** Values of each field, and where they are at fault; each field is at fault or not whatever is in the others. */
const CHOICES: { readonly [Name in Field | 'owner']: readonly (readonly [value: unknown, ...paths: string[]])[] } = {
  name: [['Sample'], [undefined, 'name'], ['', 'name'], [7, 'name'], ['x'.repeat(51), 'name']],
  logo: [[LOGO], [undefined, 'logo'], ['PNG', 'logo'], [logoOf('<svg/>', 1_048_577), 'logo', 'logo']],
  description: [[undefined], ['about\nit'], [null, 'description'], ['\0', 'description']],
  website: [['https://app.example'], [{}, 'website'], ['javascript:1', 'website']],
  type: [['public'], ['confidential'], ['native', 'type'], [['public'], 'type']],
  redirectUris: [
    [['https://app.example/']],
    [[], 'redirectUris'],
    ['https://app.example/', 'redirectUris'],
    [['x', 'https://app.example/', 1], 'redirectUris[0]', 'redirectUris[2]'],
    [['https://app.example/', 'https://evil.example/'], 'redirectUris'],
  ],
  authorizedDomain: [['app.example']],
  allowSubdomains: [[undefined], [true], [false], ['yes', 'allowSubdomains'], [null, 'allowSubdomains']],
  scopes: [
    [['repo-code:rw']],
    [[], 'scopes'],
    [undefined, 'scopes'],
    ['repo-code:rw', 'scopes'],
    [[1, 'x', { scope: 'x', reason: '' }], 'scopes[0]', 'scopes[1]', 'scopes[2].scope', 'scopes[2].reason'],
  ],
  resourceScope: [['all'], ['everything', 'resourceScope'], [0, 'resourceScope']],
  deviceFlow: [[undefined], [true], [false], ['yes', 'deviceFlow'], [1, 'deviceFlow']],
  tokenType: [[undefined], ['bearer'], ['mac'], ['MAC', 'tokenType'], ['', 'tokenType'], [null, 'tokenType']],
  owner: [
    [undefined, 'owner'],
    ['ada', 'owner'],
  ],
}

describe('faults', () => {
  it('tell of 32 unknown fields at most, of the registration and of each scope', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field${index}`, '']))
    const told = (given: unknown, path: RegExp) => faults(given).filter((fault) => path.test(fault.path)).length
    expect(told(many, /^field/)).toBe(32)
    expect(told({ scopes: [many, many] }, /^scopes\[\d\]\.field/)).toBe(64)
  })

  it('all come at once, of shape and of content, each with its path and what is demanded', () => {
    const given = {
      owner: 'ada',
      constructor: 1,
      name: '',
      description: 'x'.repeat(351),
      website: 'app.example',
      logo: logoOf('<svg/>', 1_048_577),
      type: 'native',
      resourceScope: 'everything',
      redirectUris: ['https://a.example/', 'ftp://a.example/', 'https://b.example/', 'com.example.app:/', 7],
      authorizedDomain: 'Example',
      allowSubdomains: true,
      scopes: ['everything', 'repo-code:r', 'repo-code:rw', null],
    }
    expect(faults(given)).toStrictEqual([
      { path: 'owner', message: 'is not a field of a registration' },
      { path: 'constructor', message: 'is not a field of a registration' },
      { path: 'name', message: 'must have 1 to 50 characters, on one line' },
      { path: 'logo', message: 'must have at most 1,048,576 bytes' },
      { path: 'logo', message: 'must be a PNG, JPEG, GIF or WebP image' },
      { path: 'description', message: 'must have at most 350 characters' },
      { path: 'website', message: 'must be an http or https URL of at most 128 characters, without user info' },
      { path: 'type', message: 'must be confidential or public' },
      ...[
        { path: 'redirectUris[1]', message: expect.stringMatching(/^must be https, http on loopback, or /) },
        { path: 'redirectUris[4]', message: 'must be a string; got 7' },
      ],
      { path: 'authorizedDomain', message: 'must be a domain name in lower case, without port or trailing dot' },
      { path: 'allowSubdomains', message: 'must not open a top-level domain' },
      { path: 'redirectUris', message: 'a.example is not in the authorized domain' },
      { path: 'redirectUris', message: 'b.example is not in the authorized domain' },
      { path: 'scopes[0]', message: 'must be a scope of the catalogue, such as repo-code:r' },
      { path: 'scopes[2]', message: 'includes repo-code:r, which is asked for as well: name repo-code:rw alone' },
      { path: 'scopes[3]', message: 'must be a scope, or a scope with its reason; got null' },
      { path: 'resourceScope', message: 'must be all, public or specified' },
    ])
  })

  it('of scopes tell one that includes another from one that is asked for twice (5.3)', () => {
    const faultsOf = (...scopes: readonly string[]) => faults({ ...registration(), scopes })
    expect(faultsOf('repo-code:r', 'repo-code:r')).toStrictEqual([{ path: 'scopes[1]', message: 'is asked for twice' }])
    expect(faultsOf('repo-code:rw', 'repo-code:r')).toStrictEqual([
      { path: 'scopes[1]', message: 'is included in repo-code:rw: name repo-code:rw alone' },
    ])
    expect(faultsOf('repo-code:r', 'repo-code:rw')).toStrictEqual([
      { path: 'scopes[1]', message: 'includes repo-code:r, which is asked for as well: name repo-code:rw alone' },
    ])
    expect(faultsOf('repo-code:rw')).toStrictEqual([])
  })

  it('of one field are the same whatever is wrong in the others: misshapen ones hide no unsound ones', () => {
    const one = (name: keyof typeof CHOICES) => fc.option(fc.constantFrom(...CHOICES[name]), { nil: undefined })
    const names = Object.keys(CHOICES) as (keyof typeof CHOICES)[] // they are its keys
    fc.assert(
      fc.property(fc.tuple(...names.map(one)), (chosen) => {
        const given: Record<string, unknown> = { ...registration(), authorizedDomain: 'app.example' }
        const expected = chosen.flatMap((choice, index) => {
          const name = names[index]
          if (choice === undefined || name === undefined) return []
          const [value, ...paths] = choice
          given[name] = value
          return paths
        })
        const found = faults(given).map(({ path }) => path)
        expect(found.toSorted()).toEqual(expected.toSorted())
      }),
      { numRuns: 250 },
    )
  })

  it('name every field that is missing', () => {
    const required = ['name', 'logo', 'website', 'type', 'redirectUris', 'scopes', 'resourceScope']
    const missing = (path: string) => ({
      path,
      message: expect.stringMatching(/^must be (a string|a list|bytes in a Uint8Array); got undefined$/),
    })
    expect(faults({})).toStrictEqual(required.map(missing))
    for (const name of required) {
      const { [name]: taken, ...rest }: Record<string, unknown> = { ...registration() }
      expect(taken).toBeDefined()
      for (const given of [rest, { ...rest, [name]: undefined }]) expect(faults(given)).toStrictEqual([missing(name)])
    }
  })

  it('name every field of the wrong type, whatever is in it', () => {
    const values = [null, 1, 1n, true, Symbol('x'), 'x', [], ['x'], [1], {}, new Uint8Array(1), LOGO.buffer, () => 'x']
    const isText = (value: unknown) => typeof value === 'string'
    const fits: { readonly [Name in Field]: (value: unknown) => boolean } = {
      name: isText,
      logo: (value) => value instanceof Uint8Array,
      description: isText,
      website: isText,
      type: isText,
      redirectUris: Array.isArray,
      authorizedDomain: isText,
      allowSubdomains: (value) => value === true,
      scopes: Array.isArray,
      resourceScope: isText,
      deviceFlow: (value) => value === true,
      tokenType: isText,
    }
    const WRONG_TYPE = /^must be (a string|a list|true or false|bytes in a Uint8Array); got /
    for (const [name, isOfType] of Object.entries(fits)) {
      for (const value of values) {
        const given = { ...registration(), [name]: value }
        const shape = faults(given).some(({ path, message }) => path === name && WRONG_TYPE.test(message))
        expect([name, value, shape]).toEqual([name, value, !isOfType(value)])
      }
    }
  })
})

describe('hostile shapes', () => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['a big integer', 7n],
    ['a boolean', true],
    ['a text', 'a registration'],
    ['a symbol', Symbol('registration')],
    ['a function', () => registration()],
  ])('%s is no registration', (_, given) => {
    const message = expect.stringMatching(/^must be an object; got /)
    expect(faults(given)).toStrictEqual([{ path: '', message }])
  })

  it('a list, a date, a map or bytes are none', () => {
    for (const given of [
      [],
      [registration()],
      new Date(),
      new Map(Object.entries(registration())),
      new Uint8Array(3),
    ]) {
      expect(faults(given)).toMatchObject([{ path: '', message: expect.stringMatching(/^must be an object; got/) }])
    }
  })

  it('a field that is called like what every object has is an unknown one', () => {
    const hostile = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', '0', ' name', 'Name']
    for (const name of hostile) {
      const given = Object.fromEntries([...Object.entries(registration()), [name, { name: 'x' }]])
      expect(faults(given)).toStrictEqual([{ path: name, message: 'is not a field of a registration' }])
    }
    const parsed: object = JSON.parse('{ "__proto__": { "name": "Sample" }, "constructor": { "prototype": {} } }')
    expect(faults(parsed).map(({ path }) => path)).toEqual(expect.arrayContaining(['__proto__', 'constructor', 'name']))
  })

  it('what is inherited is not there, and what a polluted prototype has changes nothing', () => {
    expect(faults(Object.create(registration())).map(({ path }) => path)).toContain('name')
    const before = checkRegistration(registration(), RULES)
    const polluted = {
      description: 'polluted',
      owner: 'ada',
      authorizedDomain: 'evil.example',
      deviceFlow: true,
      tokenType: 'mac',
      resourceServer: true,
    }
    try {
      for (const [name, value] of Object.entries(polluted))
        Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: true, writable: true })
      const { description, deviceFlow, ...rest } = registration()
      expect(checkRegistration({ ...rest, description, deviceFlow }, RULES)).toStrictEqual(before)
      const result = checkRegistration(rest, RULES)
      for (const name of ['description', 'tokenType', 'resourceServer'])
        expect([name, result.type === 'details' && Object.hasOwn(result.details, name)]).toEqual([name, false])
      expect(result).toMatchObject({ details: { deviceFlow: false, authorizedDomain: 'app.example' } })
    } finally {
      for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name)
    }
  })

  it('an object without a prototype is as good as any', () => {
    expect(checkRegistration(Object.assign(Object.create(null), registration()), RULES)).toStrictEqual(check())
  })

  it('a field is read once, so what was checked is what is kept', () => {
    let reads = 0
    const given = Object.defineProperty(registration(), 'name', {
      get: () => (reads++ === 0 ? 'Sample' : '\u202e'),
      enumerable: true,
    })
    const scope = Object.defineProperty({ reason: 'x' }, 'scope', {
      get: () => (reads++ === 1 ? 'repo-code:r' : 'repo-delete:rw'),
      enumerable: true,
    })
    expect(checkRegistration({ ...given, scopes: [scope] }, RULES)).toMatchObject({
      type: 'details',
      details: { name: 'Sample', scopes: ['repo-code:r'] },
    })
  })

  it('lists without end have no faults without end', () => {
    const many = <Value>(value: Value) => Array<Value>(1_000_000).fill(value)
    expect(faultsOf({ redirectUris: many('x') })).toEqual([
      'redirectUris',
      ...Array.from({ length: 64 }, (_, index) => `redirectUris[${index}]`),
    ])
    expect(faultsOf({ redirectUris: many('https://app.example/') })).toEqual(['redirectUris'])
    expect(faultsOf({ scopes: many('x') })).toEqual(['scopes'])
    expect(faultsOf({ scopes: many('repo-code:r') })).toEqual(['scopes'])
    expect(faultsOf({ scopes: new Array(2 ** 32 - 1) })).toEqual(['scopes'])
    expect(faultsOf({ redirectUris: new Array(2 ** 32 - 1) })).toHaveLength(65)
    const { size } = RULES.scopes.entries
    expect(faultsOf({ scopes: Array(size).fill('x') })).toHaveLength(size)
  })

  it('texts without end are refused', () => {
    const endless = 'x'.repeat(20_000_000)
    const website = `https://app.example/${endless}`
    expect(faultsOf({ name: endless, description: endless, website, authorizedDomain: endless })).toEqual([
      'name',
      'description',
      'website',
      'authorizedDomain',
      'redirectUris',
    ])
    expect(faultsOf({ name: ' '.repeat(20_000_000), redirectUris: [website] })).toEqual(['name', 'redirectUris[0]'])
  })
})

const segments = (text: string): number => [...new Intl.Segmenter().segment(text)].length

const anything = fc.anything({
  withNullPrototype: true,
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
})
const anyScope = fc.constantFrom(...RULES.scopes.entries.keys())
const graphemes = (maxLength: number) => fc.string({ unit: 'grapheme', minLength: 1, maxLength })

/** A value of the field, most often one that may be sound. */
const likely = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 100, arbitrary }, { weight: 1, arbitrary: anyText() }, { weight: 1, arbitrary: anything })

/** A registration of which a few fields are anything. */
const anyRegistration = fc
  .record(
    {
      name: likely(graphemes(60)),
      logo: likely(
        fc.constantFrom(
          ...[png, jpeg, gif, vp8, vp8l, vp8x].flatMap((make) => [make(9, 4096), make(9, 9)]),
          ...['\xff\xd8\xff', 'RIFF1234WEBP', 'BM'].map((text) => logoOf(text)),
        ),
      ),
      description: likely(graphemes(400)),
      website: likely(fc.webUrl({ size: 'xsmall' })),
      type: likely(fc.constantFrom('confidential', 'public')),
      redirectUris: likely(
        fc.array(
          fc.constantFrom('https://a.example/', 'https://a.example:8/x', 'http://[::1]/', 'https://b.a.example/'),
          {
            minLength: 1,
            maxLength: 3,
          },
        ),
      ),
      authorizedDomain: likely(fc.constantFrom('a.example', undefined)),
      allowSubdomains: likely(fc.boolean()),
      deviceFlow: likely(fc.boolean()),
      scopes: likely(
        fc.uniqueArray(fc.oneof(anyScope, fc.record({ scope: anyScope, reason: graphemes(120) })), {
          minLength: 1,
          maxLength: 4,
          selector: (each) => (typeof each === 'string' ? each : each.scope).split(':')[0],
        }),
      ),
      resourceScope: likely(fc.constantFrom('all', 'public', 'specified')),
      tokenType: likely(fc.constantFrom('bearer', 'mac', undefined)),
    },
    { requiredKeys: [] },
  )
  .map((changes) => ({ ...registration(), ...changes }))

const anyGiven = fc.oneof({ weight: 1, arbitrary: anything }, { weight: 4, arbitrary: anyRegistration })

describe('whatever is handed in', () => {
  it('has an answer: details, or at least one fault, every one with a path that is in it', () => {
    let accepted = 0
    fc.assert(
      fc.property(anyGiven, fc.constantFrom(RULES, SUBMISSION), (given, rules) => {
        const result = checkRegistration(given, rules)
        if (result.type === 'details') {
          accepted++
          return
        }
        expect(result.faults).not.toEqual([])
        for (const { path, message } of result.faults) {
          expect(message).not.toBe('')
          const known =
            path === '' ||
            path in Object(given) ||
            /^(?:name|logo|website|type|redirectUris|scopes|resourceScope|authorizedDomain|deviceFlow|tokenType)\b/.test(
              path,
            )
          expect([path, known]).toEqual([path, true])
        }
      }),
      { numRuns: 1000 },
    )
    expect(accepted).toBeGreaterThan(100)
  })

  it('what is accepted is JSON, within every limit, and the same when it is handed in again', () => {
    let accepted = 0
    fc.assert(
      fc.property(anyGiven, fc.constantFrom(RULES, SUBMISSION), (given, rules) => {
        const result = checkRegistration(given, rules)
        if (result.type === 'faults') return
        accepted++
        const { details, logo = expect.fail('without a logo') } = result
        expect(JSON.parse(JSON.stringify(details))).toStrictEqual(details)
        const { name, description = '', website, redirectUris, scopes, reasons, authorizedDomain } = details
        expect(segments(name)).toBeLessThanOrEqual(50)
        expect(name.trim()).not.toBe('')
        expect(name).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u)
        expect(segments(description)).toBeLessThanOrEqual(350)
        expect(segments(website)).toBeLessThanOrEqual(128)
        expect(website).toMatch(/^https?:/i)
        expect(logo.length).toBeLessThanOrEqual(1_048_576)
        expect(redirectUris.length).toBeGreaterThan(0)
        for (const uri of redirectUris.filter((each) => each.startsWith('https:'))) {
          const { hostname } = new URL(uri)
          expect([hostname, `${hostname}`.slice(-(authorizedDomain?.length ?? 0))]).toEqual([
            hostname,
            authorizedDomain,
          ])
        }
        expect(new Set(scopes.map((scope) => scope.split(':')[0])).size).toBe(scopes.length)
        for (const scope of scopes) expect(RULES.scopes.entries.has(scope)).toBe(true)
        for (const [scope, reason] of Object.entries(reasons)) {
          expect(scopes).toContain(scope)
          expect(segments(reason)).toBeLessThanOrEqual(350)
        }
        const { reasons: given2, scopes: list, ...rest } = details
        const again = list.map((scope) => (given2[scope] === undefined ? scope : { scope, reason: given2[scope] }))
        expect(checkRegistration({ ...rest, scopes: again, logo }, rules)).toStrictEqual(result)
      }),
      { numRuns: 1000 },
    )
    expect(accepted).toBeGreaterThan(100)
  })
})

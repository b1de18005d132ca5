/**
 * Redirect URIs (specification, sections 2.1 and 4.1; DESIGN, "redirect URI"): which may be registered, and which
 * requested one is the application's own.
 * @module
 */
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { faultSentence } from '../../src/core/application/faults.js'
import type { RedirectRegistration, RedirectRules } from '../../src/core/application/redirect-uri.js'
import {
  brokenRedirectRule,
  isLoopback,
  matchRedirectUri,
  mismatchRule,
  parseRedirectUri,
  redirectUriRule,
} from '../../src/core/application/redirect-uri.js'
import { authorizationResponse } from '../../src/protocol/authorization.js'

const DOMAIN_RULES: RedirectRules = { matching: 'domain', allowLocalhost: false }
const EXACT_RULES: RedirectRules = { matching: 'exact', allowLocalhost: false }
const LOCALHOST_RULES: RedirectRules = { matching: 'domain', allowLocalhost: true }

function registered(changes: Partial<RedirectRegistration> = {}): RedirectRegistration {
  return {
    type: 'confidential',
    redirectUris: ['https://good.example/callback'],
    authorizedDomain: 'good.example',
    allowSubdomains: false,
    ...changes,
  }
}

const native = (...redirectUris: string[]): RedirectRegistration => ({
  type: 'public',
  redirectUris,
  allowSubdomains: false,
})

const WITH_SUBDOMAINS = registered({ allowSubdomains: true })

/** Accepted from nobody, in whatever way it is matched. */
const HOSTILE: readonly (readonly [what: string, uri: string])[] = [
  ['nothing', ''],
  ['no URI', 'callback'],
  ['a path', '/callback'],
  ['a URI without a scheme', '//good.example/callback'],
  ['a scheme alone', 'https:'],
  ['a scheme and slashes', 'https://'],
  ['one slash', 'https:/good.example/callback'],
  ['no slash', 'https:good.example/callback'],
  ['three slashes', 'https:///good.example/callback'],

  ['user info', 'https://user@good.example/callback'],
  ['user info with a password', 'https://user:password@good.example/callback'],
  ['empty user info', 'https://@good.example/callback'],
  ['empty user info with a colon', 'https://:@good.example/callback'],
  ['the domain as user info of another', 'https://good.example@evil.example/callback'],
  ['the domain as user info, its colon encoded', 'https://good.example%3a443@evil.example/callback'],
  ['the domain as user info behind a backslash', 'https://evil.example\\@good.example/callback'],

  ['a trailing dot', 'https://good.example./callback'],
  ['two trailing dots', 'https://good.example../callback'],
  ['a leading dot', 'https://.good.example/callback'],
  ['an empty label', 'https://good..example/callback'],
  ['an empty label below the domain', 'https://a..good.example/callback'],
  ['a host with an ampersand', 'https://evil.example&.good.example/callback'],
  ['a host with a semicolon', 'https://evil.example;.good.example/callback'],
  ['a host with a comma', 'https://evil.example,.good.example/callback'],
  ['a host with an asterisk', 'https://*.good.example/callback'],
  ['a host with an apostrophe', "https://evil'.good.example/callback"],
  ['the host in capitals', 'https://GOOD.example/callback'],
  ['the scheme in capitals', 'HTTPS://good.example/callback'],

  ['a doubled slash', 'https://good.example//callback'],
  ['a doubled slash at the end', 'https://good.example/callback//'],
  ['another host behind a doubled slash', 'https://good.example//evil.example'],
  ['an encoded slash', 'https://good.example/%2fcallback'],
  ['an encoded slash in capitals', 'https://good.example/a%2Fcallback'],
  ['an encoded slash in the host', 'https://evil.example%2f.good.example/callback'],
  ['a backslash', 'https://good.example\\callback'],
  ['a backslash behind the path', 'https://good.example/callback\\..'],
  ['backslashes for slashes', 'https:\\\\good.example\\callback'],
  ['another host before a backslash', 'https://evil.example\\.good.example/callback'],
  ['an encoded backslash', 'https://good.example/%5ccallback'],
  ['an encoded backslash in capitals', 'https://good.example/a%5C..'],

  ['a step up', 'https://good.example/a/../callback'],
  ['a step up at the start', 'https://good.example/../callback'],
  ['a step up at the end', 'https://good.example/callback/..'],
  ['a step nowhere', 'https://good.example/./callback'],
  ['an encoded step up', 'https://good.example/a/%2e%2e/callback'],
  ['a half encoded step up', 'https://good.example/a/.%2E/callback'],
  ['a step up that is encoded with its slash', 'https://good.example/a/..%2fcallback'],

  ['an IDN look-alike', 'https://gооd.example/callback'], // Cyrillic o
  ['an IDN', 'https://göod.example/callback'],
  ['wide letters', 'https://ｇｏｏｄ.example/callback'],
  ['an ideographic full stop', 'https://good。example/callback'],
  ['a wide full stop', 'https://good．example/callback'],
  ['a soft hyphen', 'https://go\u00adod.example/callback'],
  ['a zero-width joiner', 'https://go\u200dod.example/callback'],
  ['a wide slash', 'https://good.example／callback'],
  ['a wide number sign', 'https://evil.example＃.good.example/callback'],
  ['a wide at sign', 'https://good.example＠evil.example/callback'],
  ['the sign a/c, which becomes a slash', 'https://evil.c℀.good.example/callback'],
  ['an encoded dot in the host', 'https://good%2eexample/callback'],
  ['an encoded letter in the host', 'https://%67ood.example/callback'],
  ['a NUL in the host', 'https://good.example\0.evil.example/callback'],
  ['an encoded NUL in the host', 'https://good.example%00.evil.example/callback'],

  ['the default port, written', 'https://good.example:443/callback'],
  ['an empty port', 'https://good.example:/callback'],
  ['a port with zeros', 'https://good.example:00443/callback'],
  ['no port', 'https://good.example:port/callback'],
  ['a port that there is not', 'https://good.example:65536/callback'],

  ['a space before', ' https://good.example/callback'],
  ['a space behind', 'https://good.example/callback '],
  ['a space inside', 'https://good.example/call back'],
  ['a tab', 'https://good.example/call\tback'],
  ['a tab in the scheme', 'ht\ttps://good.example/callback'],
  ['a line break', 'https://good.example/callback\r\nLocation: https://evil.example'],
  ['a letter outside ASCII', 'https://good.example/cällback'],
  ['half a character', 'https://good.example/\ud800'],
  ['a quotation mark', 'https://good.example/"callback"'],
  ['an angle bracket', 'https://good.example/<script>'],
  ['2,049 characters', `https://good.example/${'x'.repeat(2028)}`],
]

/** Other people's addresses, well written. */
const FOREIGN: readonly (readonly [what: string, uri: string])[] = [
  ['another domain', 'https://evil.example/callback'],
  ['the domain as a label of another', 'https://good.example.evil.example/callback'],
  ['the domain as the end of a label', 'https://evilgood.example/callback'],
  ['the domain behind a hyphen', 'https://evil-good.example/callback'],
  ['the domain above', 'https://example/callback'],
  ['a domain beside', 'https://bad.example/callback'],
  ['the domain without its last letter', 'https://good.exampl/callback'],
  ['the domain with one letter more', 'https://good.examples/callback'],
  ['the domain in the path', 'https://evil.example/good.example/callback'],
  ['the domain in the query', 'https://evil.example/?https://good.example/callback'],
  ['the ASCII form of an IDN look-alike', 'https://xn--gd-emma.example/callback'],
  ['another port', 'https://good.example:8443/callback'],
  ['the port of http', 'https://good.example:80/callback'],
  ['an IPv4 address', 'https://192.0.2.1/callback'],
  ['an IPv6 address', 'https://[2001:db8::1]/callback'],
  ['loopback by its IPv6 address', 'https://[::1]/callback'],
  ['the domain over http', 'http://good.example/callback'],
  ['the domain over http, its port named', 'http://good.example:443/callback'],
]

describe('what is refused, whoever asks', () => {
  it.each(HOSTILE)('[2] %s: %j', (_, uri) => {
    expect(parseRedirectUri(uri, LOCALHOST_RULES)).toBeUndefined()
    for (const rules of [DOMAIN_RULES, EXACT_RULES, LOCALHOST_RULES]) {
      expect(matchRedirectUri(registered(), uri, rules)).toBeUndefined()
      expect(matchRedirectUri(WITH_SUBDOMAINS, uri, rules)).toBeUndefined()
      // Not even where a registration had let it through.
      expect(matchRedirectUri(registered({ redirectUris: [uri, 'https://good.example/'] }), uri, rules)).toBeUndefined()
    }
  })

  it.each(FOREIGN)('[2] %s: %j', (_, uri) => {
    for (const rules of [DOMAIN_RULES, EXACT_RULES, LOCALHOST_RULES]) {
      expect(matchRedirectUri(registered(), uri, rules)).toBeUndefined()
      expect(matchRedirectUri(WITH_SUBDOMAINS, uri, rules)).toBeUndefined()
    }
  })

  /** The authority of a URI as RFC 3986, appendix B, cuts it out: another reading than that of the WHATWG parser. */
  const authorityOf = (uri: string): string | undefined => /^(?:[^:/?#]+:)?\/\/([^/?#]*)/.exec(uri)?.[1]

  const pieces = fc.constantFrom(
    ...[
      'good.example',
      'evil.example',
      'https:',
      'http:',
      '//',
      '/',
      '\\',
      '@',
      ':',
      ':443',
      ':8443',
      '.',
      '..',
      '#',
      '?',
    ],
    ...[
      '%2f',
      '%5c',
      '%2e',
      '%00',
      '%40',
      ';',
      ',',
      '&',
      '=',
      ' ',
      '\t',
      '\n',
      '。',
      '．',
      '／',
      '＠',
      'о',
      '[::1]',
      '127.0.0.1',
    ],
    ...['a', 'callback', '*', "'", '-', '_', '\u00ad', 'javascript:', 'com.example:'],
  )

  it('[2] whatever the string, what is accepted has the authorized domain for its whole authority, to another parser too', () => {
    const put = fc.tuple(fc.nat(40), pieces)
    const altered = fc
      .array(put, { minLength: 1, maxLength: 3 })
      .map((puts) =>
        puts.reduce((uri, [at, piece]) => uri.slice(0, at) + piece + uri.slice(at), 'https://good.example/callback'),
      )
    const built = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''))
    const behind = fc
      .tuple(fc.constantFrom('https://good.example', 'https://a.good.example'), built)
      .map((parts) => parts.join(''))
    let accepted = 0
    fc.assert(
      fc.property(fc.oneof(altered, built, behind), (uri) => {
        for (const registration of [registered(), WITH_SUBDOMAINS]) {
          const matched = matchRedirectUri(registration, uri, DOMAIN_RULES)
          if (matched === undefined) continue
          accepted++
          expect(matched).toBe(uri)
          expect(uri.startsWith('https://')).toBe(true)
          const authority = authorityOf(uri) ?? ''
          expect(authority).toMatch(
            registration.allowSubdomains ? /^(?:[a-z0-9_-]+\.)*good\.example$/ : /^good\.example$/,
          )
          expect(uri).not.toContain('#')
        }
      }),
      { numRuns: 1500 },
    )
    expect(accepted).toBeGreaterThan(50) // else the pieces are too hostile to say anything
  })
})

describe('what is accepted', () => {
  const accept = (registration: RedirectRegistration, uri: string, rules: RedirectRules): void => {
    expect(matchRedirectUri(registration, uri, rules)).toBe(uri)
  }

  it.each([
    'https://good.example/callback',
    'https://good.example/',
    'https://good.example',
    'https://good.example/another/path',
    'https://good.example/callback/',
    'https://good.example/callback?from=grantwell',
    'https://good.example/callback?',
    'https://good.example/?next=%2Fhome&next=https://evil.example/',
    'https://good.example/caf%C3%A9;v=1,2/~user/@me',
    `https://good.example/${'x'.repeat(2027)}`,
  ])('by the rule "domain", any path and query of the authorized domain: %s', (uri) => {
    accept(registered(), uri, DOMAIN_RULES)
  })

  it('by the rule "exact", a registered URI and nothing beside it', () => {
    const two = registered({ redirectUris: ['https://good.example/callback', 'https://good.example/other?a=1'] })
    accept(two, 'https://good.example/callback', EXACT_RULES)
    accept(two, 'https://good.example/other?a=1', EXACT_RULES)
    for (const uri of [
      'https://good.example/',
      'https://good.example',
      'https://good.example/callback/',
      'https://good.example/Callback',
      'https://good.example/callback?',
      'https://good.example/other',
      'https://good.example/other?a=2',
      'https://good.example/other?a=1&b=2',
    ])
      expect(matchRedirectUri(two, uri, EXACT_RULES)).toBeUndefined()
  })

  it('subdomains, at any depth, only where the registration allows them', () => {
    for (const uri of ['https://www.good.example/callback', 'https://a.b-c_d.good.example/']) {
      accept(WITH_SUBDOMAINS, uri, DOMAIN_RULES)
      expect(matchRedirectUri(WITH_SUBDOMAINS, uri, EXACT_RULES)).toBeUndefined()
      expect(matchRedirectUri(registered(), uri, DOMAIN_RULES)).toBeUndefined()
    }
  })

  it('the port of a registered https URI, and no other', () => {
    const ported = registered({ redirectUris: ['https://good.example:8443/callback'] })
    accept(ported, 'https://good.example:8443/elsewhere', DOMAIN_RULES)
    expect(matchRedirectUri(ported, 'https://good.example/elsewhere', DOMAIN_RULES)).toBeUndefined()
    expect(matchRedirectUri(ported, 'https://good.example:8444/elsewhere', DOMAIN_RULES)).toBeUndefined()
  })

  it('no https URI at all where none is registered, though a domain is authorized', () => {
    const loopback = registered({ redirectUris: ['http://127.0.0.1/callback'] })
    expect(matchRedirectUri(loopback, 'https://good.example/callback', DOMAIN_RULES)).toBeUndefined()
    expect(matchRedirectUri(native('https://good.example/a'), 'https://good.example/b', DOMAIN_RULES)).toBeUndefined()
  })
})

describe('schemes', () => {
  it.each([
    'javascript:alert(1)',
    'javascript://good.example/%0aalert(1)',
    'JavaScript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'data:text/html;base64,PHNjcmlwdD4=',
    'vbscript:msgbox(1)',
    'file:///etc/passwd',
    'file://good.example/callback',
    'about:blank',
    'blob:https://good.example/5e2cdd60',
    'filesystem:https://good.example/temporary/',
    'view-source:https://good.example/callback',
    'mailto:user@good.example',
    'ftp://good.example/callback',
    'ws://good.example/callback',
    'wss://good.example/callback',
    'myapp:/callback',
    'urn:ietf:wg:oauth:2.0:oob',
    'chrome-extension://good/callback',
  ])('[3] never %s, registered or not', (uri) => {
    for (const rules of [DOMAIN_RULES, EXACT_RULES, LOCALHOST_RULES]) {
      expect(parseRedirectUri(uri, rules)).toBeUndefined()
      expect(matchRedirectUri(registered(), uri, rules)).toBeUndefined()
      expect(matchRedirectUri(native(uri), uri, rules)).toBeUndefined()
    }
  })

  it.each([
    'com.example.app:/callback',
    'com.example.app://callback',
    'com.example.app:callback?a=1',
    'org.example.my-app+2:/callback',
  ])('a private-use scheme is a reversed domain name, and matches exactly alone: %s', (uri) => {
    expect(parseRedirectUri(uri, DOMAIN_RULES)?.kind).toBe('private-use')
    for (const rules of [DOMAIN_RULES, EXACT_RULES]) {
      expect(matchRedirectUri(native(uri), uri, rules)).toBe(uri)
      expect(matchRedirectUri(native(uri), `${uri}x`, rules)).toBeUndefined()
      expect(matchRedirectUri(registered(), uri, rules)).toBeUndefined()
    }
  })

  it.each(['com.example.app:/call back', 'Com.Example.App:/callback', 'com.example.app:/a/../b', 'com.:/callback'])(
    'a private-use URI that is not written as a parser writes it is refused: %s',
    (uri) => {
      expect(parseRedirectUri(uri, DOMAIN_RULES)).toBeUndefined()
    },
  )
})

describe('loopback (RFC 8252, section 7.3)', () => {
  const port = fc.integer({ min: 1, max: 65_535 }).filter((one) => one !== 80)

  it('[3] http is accepted on the literals 127.0.0.1 and [::1], at any port, by both rules', () => {
    const host = fc.constantFrom('127.0.0.1', '[::1]')
    fc.assert(
      fc.property(host, port, port, fc.constantFrom(DOMAIN_RULES, EXACT_RULES), (name, one, another, rules) => {
        const asked = `http://${name}:${another}/callback`
        expect(matchRedirectUri(native(`http://${name}/callback`), asked, rules)).toBe(asked)
        expect(matchRedirectUri(native(`http://${name}:${one}/callback`), asked, rules)).toBe(asked)
        const without = `http://${name}/callback`
        expect(matchRedirectUri(native(`http://${name}:${one}/callback`), without, rules)).toBe(without)
      }),
    )
  })

  it('[3] http://localhost is accepted by option alone, at any port', () => {
    fc.assert(
      fc.property(port, (one) => {
        const asked = `http://localhost:${one}/callback`
        expect(matchRedirectUri(native('http://localhost/callback'), asked, LOCALHOST_RULES)).toBe(asked)
        expect(matchRedirectUri(native('http://localhost/callback'), asked, DOMAIN_RULES)).toBeUndefined()
        expect(matchRedirectUri(native(asked), asked, DOMAIN_RULES)).toBeUndefined()
      }),
    )
    expect(isLoopback('localhost', true)).toBe(true)
    expect(isLoopback('localhost', false)).toBe(false)
  })

  it.each([
    'http://127.0.0.1:51004/other',
    'http://127.0.0.1:51004/callback/',
    'http://127.0.0.1:51004/callback?a=1',
    'http://127.0.0.1:51004/',
    'http://[::1]:51004/callback',
    'http://localhost:51004/callback',
    'https://127.0.0.1:51004/callback',
    'http://127.0.0.1:51004/callback#',
  ])('only the port may differ from the registered URI: %s', (uri) => {
    expect(matchRedirectUri(native('http://127.0.0.1/callback'), uri, LOCALHOST_RULES)).toBeUndefined()
  })

  it.each([
    'http://127.0.0.2/callback',
    'http://127.1/callback',
    'http://2130706433/callback',
    'http://0x7f000001/callback',
    'http://0177.0.0.1/callback',
    'http://127.0.0.1./callback',
    'http://127.0.0.1.evil.example/callback',
    'http://127.0.0.1@evil.example/callback',
    'http://0.0.0.0/callback',
    'http://[::]/callback',
    'http://[0:0:0:0:0:0:0:1]/callback',
    'http://[::ffff:127.0.0.1]/callback',
    'http://[::ffff:7f00:1]/callback',
    'http://localhost./callback',
    'http://LOCALHOST/callback',
    'http://localhost.evil.example/callback',
    'http://evil.localhost/callback',
    'http://192.168.0.1/callback',
    'http://good.example/callback',
  ])('[3] http anywhere else is refused, registered or not: %s', (uri) => {
    for (const rules of [DOMAIN_RULES, LOCALHOST_RULES]) {
      expect(parseRedirectUri(uri, rules)).toBeUndefined()
      expect(matchRedirectUri(native(uri, 'http://127.0.0.1/callback'), uri, rules)).toBeUndefined()
    }
  })
})

describe('fragments and queries', () => {
  it.each([
    'https://good.example/callback#',
    'https://good.example/callback#fragment',
    'https://good.example#fragment',
    'https://good.example/callback?a=1#b',
    'http://127.0.0.1/callback#fragment',
    'com.example.app:/callback#fragment',
  ])('[4] a fragment, an empty one too, is refused: %s', (uri) => {
    expect(parseRedirectUri(uri, DOMAIN_RULES)).toBeUndefined()
    expect(matchRedirectUri(native(uri), uri, DOMAIN_RULES)).toBeUndefined()
  })

  it.each(
    ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'].flatMap((name) => [
      `https://good.example/callback?${name}=x`,
      `https://good.example/callback?${name}`,
      `https://good.example/callback?a=1&${name}=`,
      `https://good.example/callback?%${name.charCodeAt(0).toString(16)}${name.slice(1)}=x`,
      `http://127.0.0.1/callback?${name}=x`,
      `com.example.app:/callback?${name}=x`,
    ]),
  )('[4] a query that has a parameter of our answer is refused: %s', (uri) => {
    expect(parseRedirectUri(uri, DOMAIN_RULES)).toBeUndefined()
    expect(matchRedirectUri(native(uri), uri, DOMAIN_RULES)).toBeUndefined()
  })

  it('[4] nor has one in a spelling that some framework takes for it, in any mixture of these', () => {
    const spellings: readonly ((name: string) => string)[] = [
      (name) => name.toUpperCase(),
      (name) => name.replace(/^./, (letter) => letter.toUpperCase()),
      (name) => name.replace('s', '\u017f').replace('i', '\u0131'), // their upper case is S and I
      (name) => name.replaceAll('_', ' '),
      (name) => ` ${name}`,
      (name) => `${name}\t`,
      (name) => `\ufeff${name}`,
      (name) => `${name}\0rest`,
      (name) => `a;${name}`,
      (name) => `a&${name}`,
      (name) => `${name}[0]`,
      (name) => `${name}[`,
      (name) => `${name}]`,
      (name) => `${name}.x`,
      (name) => `[${name}]`,
    ]
    const names = fc.constantFrom('code', 'state', 'iss', 'error', 'error_description', 'error_uri')
    // At most one that puts something in front and one behind, so that the name stays one that frameworks read so.
    const spelt = fc.uniqueArray(fc.nat(spellings.length - 1), { minLength: 1, maxLength: 2 })
    fc.assert(
      fc.property(names, spelt, fc.boolean(), (name, chosen, first) => {
        const written = chosen
          .toSorted((a, b) => a - b)
          .reduce<string>((text, index) => spellings[index]?.(text) ?? text, name)
        const parameter = `${encodeURIComponent(written)}=x`
        const uri = `https://good.example/callback?${first ? `${parameter}&a=1` : `a=1&${parameter}`}`
        expect(parseRedirectUri(uri, DOMAIN_RULES)).toBeUndefined()
        expect(faultSentence(redirectUriRule(uri, DOMAIN_RULES))).toMatch(
          /^must not have the parameter [a-z_]+, in any spelling/,
        )
      }),
      { numRuns: 500 },
    )
  })

  it.each(['codes', 'barcode', 'my_state', 'status', 'errors', 'error-page', 'isset', 'x.code', 'x[code]', '%00', ''])(
    '[4] a query may have a parameter of another name: %s',
    (name) => {
      const uri = `https://good.example/callback?${name}=x`
      expect(parseRedirectUri(uri, DOMAIN_RULES)?.kind).toBe('https')
    },
  )

  it('[4] query parameters of a registered URI are kept, in front of ours, and both are read as they were meant', () => {
    const name = fc.stringMatching(/^[a-z]{1,8}$/).filter((one) => !['code', 'state', 'iss', 'error'].includes(one))
    const query = fc.array(fc.tuple(name, fc.string({ unit: 'grapheme', maxLength: 8 })), { maxLength: 4 })
    fc.assert(
      fc.property(query, fc.constantFrom('', '?', '&'), fc.string({ unit: 'grapheme' }), (parameters, end, state) => {
        const search = new URLSearchParams(parameters).toString()
        const uri = `https://good.example/callback${search === '' ? end.replace('&', '?') : `?${search}${end.replace('?', '')}`}`
        const matched = matchRedirectUri(registered({ redirectUris: [uri] }), uri, EXACT_RULES)
        if (matched === undefined) expect.fail(`not its own: ${uri}`)
        const answer = authorizationResponse({ redirectUri: matched, state }, { code: 'gwc_x' }, 'https://git.example')
        const location = answer.headers['Location'] ?? ''
        expect(location.startsWith(uri)).toBe(true)
        expect([...new URL(location).searchParams]).toEqual([
          ...parameters,
          ['code', 'gwc_x'],
          ['state', state],
          ['iss', 'https://git.example'],
        ])
      }),
    )
  })
})

describe('what is no redirect URI', () => {
  const SPELLING = 'must be spelled as a browser spells it, with a plain host and no empty or encoded parts in its path'
  const KIND = 'must be https, http on loopback, or a private-use scheme with a dot such as com.example.app:'

  it.each([
    [`https://good.example/${'a'.repeat(2048)}`, 'must have at most 2,048 characters'],
    ['callback', 'must be a whole URL'],
    ['', 'must be a whole URL'],
    ['https://good.example/#top', 'must not have a fragment'],
    ['https://good.example/#', 'must not have a fragment'],
    ['https://ada@good.example/', 'must not have user info'],
    ['https://:secret@good.example/', 'must not have user info'],
    [
      'https://good.example/?a=1&code=2',
      'must not have the parameter code, in any spelling: it is one of the response',
    ],
    ['https://good.example/?code[]=2', 'must not have the parameter code, in any spelling: it is one of the response'],
    ['https://good.example/?code.x=2', 'must not have the parameter code, in any spelling: it is one of the response'],
    ['https://good.example/?[[code]=2', 'must not have the parameter code, in any spelling: it is one of the response'],
    [
      'https://good.example/?code[%0A]=2',
      'must not have the parameter code, in any spelling: it is one of the response',
    ],
    ['https://good.example/?a=1;iss=x', 'must not have the parameter iss, in any spelling: it is one of the response'],
    [
      'https://good.example/?%20state%5B0%5D=x',
      'must not have the parameter state, in any spelling: it is one of the response',
    ],
    ['http://localhost:3000/callback', 'must have 127.0.0.1 or [::1] in place of localhost'],
    ['https://Good.example/callback', SPELLING],
    ['https://good.example:443/callback', SPELLING],
    ['https://good.example./callback', SPELLING],
    ['https://good.example/a//b', SPELLING],
    ['https://good.example/a%2Fb', SPELLING],
    ['http://good.example/callback', KIND],
    ['https://localhost:443/', SPELLING],
    ['ftp://127.0.0.1/', KIND],
    ['myapp://callback', KIND],
    ['javascript:alert(1)', KIND],
  ])('%s is told the first rule that it breaks', (text, rule) => {
    expect(parseRedirectUri(text, DOMAIN_RULES)).toBeUndefined()
    expect(faultSentence(redirectUriRule(text, DOMAIN_RULES))).toBe(rule)
  })

  it.each([
    ['http://localhost:3000//callback', SPELLING],
    ['http://127.0.0.1:3000/a%2Fb', SPELLING],
    ['http://localhost.:3000/callback', KIND],
  ])('%s is told so where localhost is loopback', (text, rule) => {
    expect(parseRedirectUri(text, LOCALHOST_RULES)).toBeUndefined()
    expect(faultSentence(redirectUriRule(text, LOCALHOST_RULES))).toBe(rule)
  })
})

describe('a request without a redirect URI', () => {
  it('gets the registered one where exactly one is registered, else none', () => {
    for (const rules of [DOMAIN_RULES, EXACT_RULES]) {
      expect(matchRedirectUri(registered(), undefined, rules)).toBe('https://good.example/callback')
      const two = registered({ redirectUris: ['https://good.example/a', 'https://good.example/b'] })
      expect(matchRedirectUri(two, undefined, rules)).toBeUndefined()
      expect(matchRedirectUri(registered({ redirectUris: [] }), undefined, rules)).toBeUndefined()
    }
  })
})

describe('a redirect URI that does not match', () => {
  const subdomains = registered({ allowSubdomains: true })
  const withLoopback = native('http://127.0.0.1/callback')
  const withScheme = native('com.example.app:/callback')
  const twoDomains = registered({ redirectUris: ['https://good.example/a', 'com.example.app:/callback'] })
  const HOST = { code: 'redirect_uri_host', values: { domain: 'good.example' } }
  const SUBDOMAIN = { code: 'redirect_uri_subdomain', values: { domain: 'good.example' } }
  const NOT_REGISTERED = { code: 'redirect_uri_not_registered', values: {} }
  const LOOPBACK = { code: 'redirect_uri_loopback', values: {} }
  const PORT = { code: 'redirect_uri_port', values: {} }

  it.each([
    [
      'none, where two are registered',
      twoDomains,
      undefined,
      DOMAIN_RULES,
      { code: 'redirect_uri_not_sent', values: {} },
    ],
    ['no redirect URI', registered(), 'callback', DOMAIN_RULES, { code: 'redirect_uri_incomplete', values: {} }],
    ['another host', registered(), 'https://evil.example/', DOMAIN_RULES, HOST],
    ['a subdomain', registered(), 'https://sub.good.example/', DOMAIN_RULES, HOST],
    ['another host, where subdomains are allowed', subdomains, 'https://evil.example/', DOMAIN_RULES, SUBDOMAIN],
    ['another port', registered(), 'https://good.example:8443/', DOMAIN_RULES, PORT],
    ['another port of a subdomain', subdomains, 'https://sub.good.example:8443/', DOMAIN_RULES, PORT],
    ['another path, by the rule "exact"', registered(), 'https://good.example/other', EXACT_RULES, NOT_REGISTERED],
    ['another host, by the rule "exact"', registered(), 'https://evil.example/', EXACT_RULES, NOT_REGISTERED],
    ['https, where no domain is authorized', withScheme, 'https://good.example/', DOMAIN_RULES, NOT_REGISTERED],
    ['another scheme', withScheme, 'com.example.other:/callback', DOMAIN_RULES, NOT_REGISTERED],
    ['another scheme, beside a domain', twoDomains, 'com.example.app:/other', DOMAIN_RULES, NOT_REGISTERED],
    ['another path on loopback', withLoopback, 'http://127.0.0.1:1/other', DOMAIN_RULES, LOOPBACK],
    ['another path on loopback, by the rule "exact"', withLoopback, 'http://127.0.0.1:1/other', EXACT_RULES, LOOPBACK],
    ['loopback, where none is registered', registered(), 'http://127.0.0.1/callback', DOMAIN_RULES, LOOPBACK],
  ] as const)('is told the rule that it breaks: %s', (_, registration, requested, rules, rule) => {
    expect(brokenRedirectRule(registration, requested, rules)).toMatchObject(rule)
    expect(mismatchRule(registration, requested, rules)).toMatchObject(rule)
  })

  it('of a domain matches beside a registered private-use scheme, and no domain is authorized by its absence', () => {
    expect(matchRedirectUri(twoDomains, 'https://good.example/b', DOMAIN_RULES)).toBe('https://good.example/b')
    const none = { ...native('https://good.example/a'), allowSubdomains: true }
    expect(matchRedirectUri(none, 'https://sub.undefined/', DOMAIN_RULES)).toBeUndefined()
  })

  it('is told none where it matches', () => {
    expect(brokenRedirectRule(registered(), 'https://good.example/other', DOMAIN_RULES)).toBeUndefined()
    expect(brokenRedirectRule(registered(), undefined, DOMAIN_RULES)).toBeUndefined()
  })

  it('is as long as 2,048 characters, and no longer', () => {
    const longest = `https://good.example/${'a'.repeat(2048 - 21)}`
    expect(matchRedirectUri(registered(), longest, DOMAIN_RULES)).toBe(longest)
    expect(redirectUriRule(`${longest.slice(0, -1)}#`, DOMAIN_RULES).code).toBe('redirect_uri_fragment')
    expect(redirectUriRule(`${longest}a`, DOMAIN_RULES).code).toBe('redirect_uri_length')
  })

  it('is on http where the same was registered on https, on loopback too: only the port may differ', () => {
    const both = native('https://127.0.0.1/callback', 'http://127.0.0.1/other')
    expect(matchRedirectUri(both, 'http://127.0.0.1:1/callback', DOMAIN_RULES)).toBeUndefined()
    expect(matchRedirectUri(both, 'http://127.0.0.1:1/other', DOMAIN_RULES)).toBe('http://127.0.0.1:1/other')
  })
})

describe('the cost of reading', () => {
  it('is bounded: a string over 2,048 characters is not even parsed', () => {
    const parse = vi.spyOn(globalThis, 'URL')
    const long = `https://good.example/${'../'.repeat(1000)}`
    expect(parseRedirectUri(long, DOMAIN_RULES)).toBeUndefined()
    expect(redirectUriRule(long, DOMAIN_RULES).code).toBe('redirect_uri_length')
    expect(parse).not.toHaveBeenCalled()
    parseRedirectUri('https://good.example/', DOMAIN_RULES)
    expect(parse).toHaveBeenCalled()
    parse.mockRestore()
  })
})

/**
 * URLs outside ASCII, before and after the engine has compiled the functions that read them.
 * @module
 */
import { serviceScopes } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { readLocation } from '../../src/client/fetch/redirects.js'
import { parseAddress } from '../../src/client/http/address.js'
import { redirectUriRule } from '../../src/core/application/redirect-uri.js'
import { checkRegistration } from '../../src/core/application/registration-check.js'
import { parseUrl } from '../../src/core/url.js'
import { websiteLink } from '../../src/pages/fragments.js'
import { issuerPathOf } from '../../src/shell/options/checks.js'
import { registration } from '../support.js'

const RULES = {
  scopes: serviceScopes(),
  redirect: { matching: 'domain', allowLocalhost: false },
  redirectUris: 'required',
  specifiedResources: true,
  macTokens: false,
  reasons: 'optional',
  logo: 'required',
} as const

/** The readers of URLs, each with an answer that says if the text was one. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  parseUrl: (text) => parseUrl(text)?.href,
  'the website of a registration': (website) => checkRegistration(registration({ website }), RULES).type,
  'the redirect URI of a registration': (text) => redirectUriRule(text, RULES.redirect),
  'the issuer of a server': (text) => issuerPathOf(text, false),
  'the website on a page': (text) => String(websiteLink(text)),
  'an address of the client': (text) => parseAddress(text)?.href,
  'a redirect that the client follows': (text) => readLocation(text, new URL('https://api.example')).href,
}

/** Calls after which Node.js 20 has compiled a function many times over. */
const CALLS = 10_000

describe('a URL with characters outside ASCII', () => {
  it.each(Object.entries(READERS))('is read by %s as before, however often it was called', (_, read) => {
    const texts = ['https://b\u{fc}cher.example/\u{e9}', 'https://git.example/\u{ff}', 'https://\u{3b1}.example/']
    const answer = (text: string): unknown => {
      try {
        return read(text)
      } catch (error) {
        return error
      }
    }
    const before = texts.map(answer)
    for (let call = 0; call < CALLS; call++) answer(`https://git.example/${call % 8}`)
    expect(texts.map(answer)).toEqual(before)
  })
})

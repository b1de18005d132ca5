/**
 * The origins that a host lets its pages load from: they widen the policy for images, fonts and stylesheets, and for nothing else.
 * @module
 * @see Content Security Policy Level 3, sections 2.3.1 and 6.4.1
 */
import * as fc from 'fast-check'
import type { AuthorizationServerOptions } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { isPageSource, pageResponse } from '../../src/protocol/pages/page.js'
import { authorizationUrl, send, testServer } from '../support.js'
import { unicodeText } from '../unicode.js'

type Options = Partial<AuthorizationServerOptions>

const DEFAULT =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

async function policyOf(url: string, options: Options): Promise<string> {
  const { headers } = await send((await testServer(options)).server, { url })
  return headers['Content-Security-Policy'] ?? ''
}

/** The policy of the device page with a value of the option, and what the host is told. */
async function withSources(pageSources: unknown) {
  const told: unknown[] = []
  const onError = (error: unknown) => told.push(error)
  // On purpose any value, as a program without types may give.
  const policy = await policyOf('/oauth2/device', { pageSources, onError } as Options)
  return { policy, told: told.map(String) }
}

describe('the origins that pages may load from', () => {
  it('are in the policy of every page, each in its directive, and nothing else of the policy changes', async () => {
    const pageSources = {
      images: ['https://images.example', 'https://cdn.example:8443'],
      fonts: ['https://fonts.example'],
      styles: ['https://xn--bcher-kva.example'],
    }
    for (const url of ['/oauth2/device', '/oauth2/applications', authorizationUrl({ client_id: 'nobody' })])
      expect(await policyOf(url, { pageSources })).toBe(
        "default-src 'none'; style-src 'self' https://xn--bcher-kva.example; " +
          "img-src 'self' https://images.example https://cdn.example:8443; font-src 'self' https://fonts.example; " +
          "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      )
    expect(await policyOf(authorizationUrl(), { pageSources: { images: ['https://images.example'] } })).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self' https://images.example; form-action 'self' https:; " +
        "frame-ancestors 'none'; base-uri 'none'",
    )
  })

  it('are none by default, and fonts come from nowhere then', async () => {
    for (const none of [undefined, {}, { images: [], styles: [] }, { fonts: undefined }])
      expect(await withSources(none)).toEqual({ policy: DEFAULT, told: [] })
  })

  it('are the origin of the server alone where the list of fonts is empty', async () => {
    expect((await withSources({ fonts: [] })).policy).toContain("; font-src 'self'; form-action")
  })

  it('do not change when the host changes its list, or a polluted prototype has one', async () => {
    const images = ['https://images.example']
    const { server } = await testServer({ pageSources: { images } })
    await send(server, { url: '/oauth2/device' })
    images.push('*')
    const polluted = Object.prototype as { fonts?: readonly string[] }
    polluted.fonts = ['*']
    try {
      const { headers } = await send(server, { url: '/oauth2/device' })
      expect(headers['Content-Security-Policy']).toContain("img-src 'self' https://images.example; form-action")
      expect((await withSources({ images: 7 })).policy).toBe(DEFAULT)
    } finally {
      delete polluted.fonts
    }
  })
})

describe('a wrong value', () => {
  it.each([
    ['a path', 'https://cdn.example/fonts'],
    ['a slash at its end', 'https://cdn.example/'],
    ['a query', 'https://cdn.example?a'],
    ['http', 'http://cdn.example'],
    ['no scheme', 'cdn.example'],
    ['a scheme alone', 'https:'],
    ['a wildcard', '*'],
    ['a wildcard for a label', 'https://*.example'],
    ['a wildcard for a port', 'https://cdn.example:*'],
    ['data:', 'data:'],
    ['blob:', 'blob:'],
    ['a keyword', "'unsafe-inline'"],
    ['a nonce', "'nonce-abc'"],
    ['a second source', 'https://cdn.example *'],
    ['a second directive', 'https://cdn.example; script-src *'],
    ['a second policy', 'https://cdn.example, script-src *'],
    ['a line end', 'https://cdn.example\r\nX: y'],
    ['a line end behind it', 'https://cdn.example\n'],
    ['user info', 'https://a:b@cdn.example'],
    ['capitals', 'https://CDN.example'],
    ['letters that are not ASCII', 'https://b\u00fccher.example'],
    ['the default port', 'https://cdn.example:443'],
    ['an IPv6 address', 'https://[::1]'],
    ['an underscore', 'https://my_cdn.example'],
    ['nothing', ''],
    ['a number', 7],
    ['a hole', undefined],
    ['a list', ['https://cdn.example']],
  ])('is told to the host, and the policy is the default one: %s', async (_what, origin) => {
    for (const name of ['images', 'fonts', 'styles']) {
      const { policy, told } = await withSources({
        styles: ['https://sound.example'],
        [name]: ['https://a.example', origin],
      })
      expect(policy).toBe(DEFAULT)
      expect(told).toEqual([
        expect.stringContaining(
          `createAuthorizationServer, pageSources: the option ${name}[1] must be an https origin such as 'https://cdn.example', without path and wildcard; got `,
        ),
      ])
    }
  })

  it.each([
    ['a text', { fonts: 'https://cdn.example' }, 'the option fonts must be a list of at most 16 https origins; got "'],
    ['too many', { images: Array(17).fill('https://a.example') }, 'of at most 16 https origins; got an array of 17'],
    ['scripts', { scripts: ['https://cdn.example'] }, 'there is no option scripts; it takes images, fonts, styles'],
    ['a directive', { 'script-src': [] }, 'there is no option "script-src"; '],
  ])('is told to the host, and the policy is the default one: %s', async (_what, given, message) => {
    expect(await withSources(given)).toEqual({ policy: DEFAULT, told: [expect.stringContaining(message)] })
  })

  it('is refused at the start where it is no object', async () => {
    await expect(withSources(['https://cdn.example'])).rejects.toThrow(
      'the option pageSources must be an object with lists of origins; got an array of 1',
    )
  })
})

it('no origin that is taken ends its source, its directive or the header', () => {
  const part = fc.constantFrom(
    'https://',
    'cdn',
    '.',
    'example',
    ':8443',
    '/',
    ';',
    ',',
    ' ',
    "'",
    '*',
    '\n',
    '[::1]',
    '@',
  )
  const text = fc.oneof(
    fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
    fc.tuple(fc.constant('https://a'), unicodeText({ maxLength: 4 })).map((two) => two.join('')),
    fc.domain().map((domain) => `https://${domain}`),
  )
  let taken = 0
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), (texts) => {
      const fonts = texts.filter(isPageSource)
      taken += fonts.length
      // The grammar of a host-source, without what the option leaves out.
      for (const source of fonts) expect(source).toMatch(/^https:\/\/[a-z\d-]+(\.[a-z\d-]+)*(:\d+)?$/)
      const { headers } = pageResponse({ fonts }, 200, '')
      const directives = (headers['Content-Security-Policy'] ?? '').split(';').map((each) => each.trim().split(' '))
      expect(directives.map(([name]) => name)).toEqual([
        'default-src',
        'style-src',
        'img-src',
        'font-src',
        'form-action',
        'frame-ancestors',
        'base-uri',
      ])
      expect(directives[3]).toEqual(['font-src', "'self'", ...fonts])
    }),
    { numRuns: 1000 },
  )
  expect(taken).toBeGreaterThan(500)
})

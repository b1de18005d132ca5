/**
 * The look of the pages: what a host gives reaches each of them, faint colours and wrong values are told to the host.
 * @module
 * @see WCAG 2.2, success criteria 1.4.3 and 1.4.11
 */
import type { AuthorizationServerOptions } from 'grantwell'
import type { Appearance } from 'grantwell/pages'
import { stylesheet } from 'grantwell/pages'
import { describe, expect, it } from 'vitest'
import { faintPairs } from '../../src/pages/appearance/colours.js'
import { attribute, elementsOf, textOf } from '../pages/tree.js'
import { authorizationUrl, openConsent, send, testServer } from '../support.js'

const WHOLE: Required<Appearance> = {
  name: 'Acme <Git>',
  logo: '/acme.svg',
  colours: { light: { primary: '#5b2bb5', 'primary-hover': '#4a2296' }, dark: { link: '#c4a8ff' } },
  font: "'Acme Sans', sans-serif",
  homeUrl: '/',
  helpUrl: 'https://help.acme.example/oauth?a=1&b="2"',
  termsUrl: '/terms',
  privacyUrl: '/privacy',
}

async function bodyOf(url: string, options: Partial<AuthorizationServerOptions>): Promise<string> {
  return (await send((await testServer(options)).server, { url })).body
}

/** The stylesheet, and what a host is told once its pages are loaded. */
async function styledBy(appearance: unknown): Promise<{ readonly css: string; readonly told: readonly string[] }> {
  const errors: unknown[] = []
  const options = { appearance, onError: (error: unknown) => errors.push(error) } as Partial<AuthorizationServerOptions>
  return { css: await bodyOf('/oauth2/style.css', options), told: errors.map(String) }
}

describe('the look of a host', () => {
  it.each([
    ['consent', authorizationUrl()],
    ['error', authorizationUrl({ client_id: 'nobody' })],
    ['device', '/oauth2/device'],
    ['applications', '/oauth2/applications'],
  ])('reaches the page %s', async (_page, url) => {
    const document = await bodyOf(url, { appearance: WHOLE })
    const nodes = elementsOf(document)
    const title = nodes.find(({ nodeName }) => nodeName === 'title')
    expect(title === undefined ? '' : textOf(title)).toMatch(/ – Acme <Git>$/)
    const links = nodes
      .filter(({ nodeName }) => nodeName === 'a')
      .map((node) => [textOf(node).trim(), attribute(node, 'href')])
    expect(links).toEqual(
      expect.arrayContaining([
        ['Acme <Git>', '/'],
        ['Help', 'https://help.acme.example/oauth?a=1&b="2"'],
        ['Terms', '/terms'],
        ['Privacy', '/privacy'],
      ]),
    )
    const images = nodes.filter(({ nodeName }) => nodeName === 'img').map((node) => attribute(node, 'src'))
    expect(images).toContain('/acme.svg')
  })

  it('is in the stylesheet: its colours, beside the default ones, and its font', async () => {
    const css = await bodyOf('/oauth2/style.css', { appearance: WHOLE })
    expect(css).toContain("--font: 'Acme Sans', sans-serif;")
    expect(css.match(/--primary: #\w+;/g)).toEqual(['--primary: #5b2bb5;', '--primary: #23794a;'])
    expect(css.match(/--link: #\w+;/g)).toEqual(['--link: #0b57c2;', '--link: #c4a8ff;'])
    expect(await bodyOf('/oauth2/style.css', {})).toBe(stylesheet)
  })

  it('is not there where the host gives none, or a part of it alone', async () => {
    const plain = await bodyOf(authorizationUrl(), {})
    expect(plain).not.toMatch(/class="brand"|<footer>| – /)
    expect(await bodyOf(authorizationUrl(), { appearance: { name: 'Acme' } })).toContain(
      '<p class="brand"><span>Acme</span></p>',
    )
    const logo = await bodyOf(authorizationUrl(), { appearance: { name: 'Acme', logo: '/acme.svg' } })
    expect(logo).toContain('<img src="/acme.svg" alt="" height="32">')
  })

  it('is not changed by a prototype that somebody polluted', async () => {
    const polluted: Record<string, unknown> = Object.prototype as never
    Object.assign(polluted, { light: { page: 'red;}*{' }, font: 'x;}*{', colours: { dark: {} }, name: 'Evil' })
    try {
      expect(await bodyOf('/oauth2/style.css', { appearance: { name: 'Acme' } })).toBe(stylesheet)
    } finally {
      for (const name of ['light', 'font', 'colours', 'name']) delete polluted[name]
    }
  })

  it('is the same for every page, whatever a page of the host does to it', async () => {
    const pages: AuthorizationServerOptions['pages'] = {
      consent: ({ appearance, texts }) => {
        expect(() => Object.assign(appearance, { name: 'Evil' })).toThrow(TypeError)
        expect(() => Object.assign(texts, { 'consent.agree': 'Evil' })).toThrow(TypeError)
        return 'done'
      },
    }
    expect(await bodyOf(authorizationUrl(), { appearance: { name: 'Acme' }, pages })).toBe('done')
  })

  it('comes with the input of a page of the host', async () => {
    const seen: unknown[] = []
    const pages: AuthorizationServerOptions['pages'] = {
      consent: ({ appearance, request }) => {
        seen.push(appearance.name, request.method)
        return ''
      },
    }
    await openConsent(await testServer({ appearance: { name: 'Acme' }, pages }))
    expect(seen).toEqual(['Acme', 'GET'])
  })
})

describe('colours', () => {
  it('of the default pages can be read, each on the other', () => {
    expect(faintPairs({})).toEqual([])
  })

  it.each([
    ['the same grey twice', { light: { text: '#777777', card: '#777' } }, 'text', 'card', 1],
    ['just too faint', { light: { text: '#777777', card: '#fff' } }, 'text', 'card', 4.47],
    ['an edge', { dark: { control: '#222a33' } }, 'control', 'card', 1.18],
  ] as const)('%s are found', (_what, colours, above, below, contrast) => {
    const found = faintPairs(colours).find((pair) => pair.above === above && pair.below === below)
    expect(found).toMatchObject({ scheme: Object.keys(colours)[0], contrast })
  })

  it('of black on white have a contrast of 21', () => {
    const [pair] = faintPairs({ light: { text: '#000', card: '#fff' } }).filter(
      ({ above, below }) => above === 'text' && below === 'card',
    )
    expect(pair).toBeUndefined()
    expect(
      faintPairs({ light: { muted: '#fff', card: '#000', page: '#000', text: '#fff' } }).some(
        ({ above }) => above === 'muted',
      ),
    ).toBe(false)
  })

  it('that are too faint are told to the host, with the pair and what it needs', async () => {
    const { css, told } = await styledBy({ colours: { light: { muted: '#a0a0a0' } } })
    expect(css).toContain('--muted: #a0a0a0;')
    expect(told).toStrictEqual([
      expect.stringContaining('muted on page has a contrast of 2.39 in the light; people need 4.5'),
      expect.stringContaining('muted on card has a contrast of 2.61 in the light; people need 4.5'),
    ])
  })
})

it.each([
  ['a name of two lines', { name: 'a\nb' }, 'appearance: the option name must be a line'],
  ['a name with a direction mark', { name: 'a\u202eb' }, 'the option name must be a line'],
  ['an empty name', { name: '' }, 'the option name must be a line'],
  ['a logo elsewhere', { logo: 'https://cdn.example/a.svg' }, 'the option logo must be the path of an image'],
  ['a logo of another host', { logo: '//cdn.example/a.svg' }, 'the option logo must be the path of an image'],
  ['a script as a link', { helpUrl: 'javascript:alert(1)' }, 'the option helpUrl must be a path'],
  ['a link over http', { termsUrl: 'http://acme.example' }, 'the option termsUrl must be a path'],
  ['a logo without a name', { logo: '/a.svg' }, 'the option name must be given where logo or homeUrl is'],
  ['a font with half of its quotes', { font: '"Inter\'' }, 'the option font must be names of fonts'],
  ['a font that ends its rule', { font: 'x;}body{display:none' }, 'the option font must be names of fonts'],
  ['a colour that ends its rule', { colours: { light: { page: '#fff;}' } } }, 'the option page must be a colour'],
  ['a colour by its name', { colours: { light: { page: 'white' } } }, 'the option page must be a colour'],
  ['an unknown colour', { colours: { light: { pgae: '#fff' } } }, 'there is no option pgae'],
  ['an unknown scheme', { colours: { night: {} } }, 'there is no option night'],
])('%s is told to the host, and the pages look as by default', async (_what, appearance, message) => {
  expect(await styledBy(appearance)).toStrictEqual({ css: stylesheet, told: [expect.stringContaining(message)] })
})

it('an unknown field is refused at the start', async () => {
  const appearance = { favicon: '/x' } as Appearance
  await expect(testServer({ appearance })).rejects.toThrow('the option appearance must be an object with name, logo')
})

/**
 * The code of the page "Name, logo and colours".
 * @module
 */
// #region imports
import { createAuthorizationServer } from 'grantwell'
import { createFetchHandler } from 'grantwell/fetch'
// #endregion imports
import { memoryStore } from 'grantwell/storage/memory'
import { expect, test } from 'vitest'

const errors: unknown[] = []
const host = {
  issuer: 'https://git.example',
  store: memoryStore(),
  user: () => ({ subject: 'ada' }),
  signInUrl: () => '/sign-in',
  onError: (error: unknown) => errors.push(error),
}

// #region appearance
const server = createAuthorizationServer({
  ...host,
  appearance: {
    name: 'Acme Git',
    logo: '/assets/acme.svg',
    colours: {
      light: { primary: '#5b2bb5', 'primary-hover': '#4a2296', link: '#5b2bb5' },
      dark: { primary: '#6d44c0', 'primary-hover': '#5b2bb5', link: '#c4a8ff' },
    },
    font: "'Inter', system-ui, sans-serif",
    homeUrl: '/',
    helpUrl: 'https://help.acme.example',
    termsUrl: '/terms',
    privacyUrl: '/privacy',
  },
})
// #endregion appearance

async function get(url: string): Promise<string> {
  const answer = await server.handle({ method: 'GET', url, headers: {}, native: undefined })
  return String(answer?.body)
}

test('name, logo and links are on the page, colours and font in the stylesheet, and none is too faint', async () => {
  const page = await get('/oauth2/applications')
  expect(page).toContain('<title>Authorized applications – Acme Git</title>')
  for (const part of ['/assets/acme.svg', 'https://help.acme.example', '/terms', '/privacy'])
    expect(page).toContain(part)
  expect(await get('/oauth2/style.css')).toContain("--font: 'Inter', system-ui, sans-serif;")
  expect(errors).toEqual([])
})

// #region sources
const withFont = createAuthorizationServer({
  ...host,
  appearance: { font: "'Acme Sans', sans-serif" },
  pageSources: { fonts: ['https://fonts.example'] },
})
// #endregion sources

// #region font
const FONT_FACE = `@font-face {
  font-family: 'Acme Sans';
  src: url('https://fonts.example/acme-sans.woff2') format('woff2');
  font-display: swap;
}
`
const handler = createFetchHandler(withFont)

async function handle(request: Request): Promise<Response> {
  const response = await handler(request)
  if (new URL(request.url).pathname !== '/oauth2/style.css') return response
  return new Response(FONT_FACE + (await response.text()), { headers: { 'Content-Type': 'text/css' } })
}
// #endregion font

test('a font from elsewhere is in the policy, and its rule stands before those of the server', async () => {
  const open = (path: string) => handle(new Request(`https://git.example${path}`))
  const policy = (await open('/oauth2/applications')).headers.get('content-security-policy')
  expect(policy).toContain("; font-src 'self' https://fonts.example; ")
  const style = await open('/oauth2/style.css')
  expect(style.headers.get('content-type')).toBe('text/css')
  expect(await style.text()).toMatch(/^@font-face \{[^}]+fonts\.example[^}]+\}[\s\S]+--font: 'Acme Sans', sans-serif;/)
  expect(errors).toEqual([])
})

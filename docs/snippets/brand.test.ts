/**
 * The code of the page "Name, logo and colours".
 * @module
 */
// #region imports
import { createAuthorizationServer } from 'grantwell'
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

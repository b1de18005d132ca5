/**
 * Hostile content in every field of an application, of a user and of a host's texts: on every page of the console it is text, and a logo is
 * an image.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { LOGO } from '../support.js'
import type { ConsoleTest, Fields } from './visitor.js'
import { consoleServer, HOME, handIn, SOUND, Visitor } from './visitor.js'

const MARKUP = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
/** Fifty marks; as many on one letter no registration takes. */
const MARKS = `a${'\u0301'.repeat(5)}`.repeat(10)
const HOSTILE: Fields = {
  ...SOUND,
  name: '<b onclick=x>&amp;"\'',
  description: `${MARKUP} ${MARKS}`,
  website: 'https://mirror.example/?a=<script>"\'',
  'reason repo-code:rw': `${MARKUP} ${MARKS}`,
}

/** Opens every page of the console that shows an application. */
async function pagesOf(test: ConsoleTest, id: string) {
  const bob = new Visitor(test, 'bob')
  const root = new Visitor(test, 'root')
  const own = ['', `/applications/${id}`, `/applications/${id}/edit`]
  const review = [
    '/administration',
    `/administration?text=${encodeURIComponent(MARKUP)}`,
    `/administration/applications/${id}`,
  ]
  return [
    ...(await Promise.all(own.map((place) => bob.open(HOME + place)))),
    ...(await Promise.all(review.map((place) => root.open(HOME + place)))),
  ]
}

/** Fails where a page has an element or an attribute that the console does not write. */
function expectHarmless(body: string): void {
  const tags = body.replace(/"[^"]*"/g, '""')
  expect(tags).not.toMatch(/<(?:script|b|svg|iframe|object)\b|<[^>]*\son\w+=/i)
  for (const [tag] of body.matchAll(/<img[^>]*>/g)) expect(tag).toMatch(/ src="(?:\/oauth2\/|data:image\/png;base64,)/)
  expect(body).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
}

describe('hostile content is text', () => {
  it('in every field of an application that waits, is changed and is rejected', async () => {
    const test = await consoleServer()
    const { id } = await handIn(new Visitor(test, 'bob'), HOSTILE)
    for (const { body, status } of await pagesOf(test, id)) {
      expect(status).toBe(200)
      expectHarmless(body)
    }
    await test.server.applications.approve(id, { revision: 1 })
    await test.server.applications.change(id, { name: '<i>', description: `</dd>${MARKUP}` })
    for (const { body } of await pagesOf(test, id)) expectHarmless(body)
    await test.server.applications.reject(id, { revision: 2, reason: MARKUP })
    const pages = await pagesOf(test, id)
    for (const { body } of pages) expectHarmless(body)
    expect(pages[1]?.body).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  it('in a form with faults, which shows what was typed', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    const { forms } = await bob.open(`${HOME}/new`)
    const form = forms[0] ?? expect.fail('no form')
    for (const value of [MARKUP, `a\u202eb${MARKUP}`, '</textarea><script>', MARKS.repeat(9)]) {
      const typed = { name: value, website: value, description: value, redirectUris: value, authorizedDomain: value }
      const { body, status } = await bob.submit(form, { ...SOUND, ...typed, 'reason repo-code:rw': value })
      expect(status).toBe(400)
      // What stands in a field is as it was typed; nowhere else may a mark reach.
      expectHarmless(body.replace(/ value="[^"]*"|<textarea[^>]*>[^<]*/g, ''))
    }
  })

  it('in the name of a user, the identifier of a colleague, and the texts of a host', async () => {
    const texts = { en: { 'console.title': MARKUP, 'console.new': MARKUP, 'console.transferred': `${MARKUP} {user}` } }
    const test = await consoleServer({ texts })
    const bob = new Visitor(test, '<b>"\u202e')
    for (const place of ['', '/new']) expectHarmless((await bob.open(HOME + place)).body)
    const { id, page } = await handIn(bob)
    const { body } = await bob.act(page, 'transfer', { applicant: MARKUP })
    expectHarmless(body)
    expect((await test.server.applications.get(id))?.applicant).toBe(MARKUP)
    expectHarmless((await new Visitor(test, 'root').open(`${HOME}/administration/applications/${id}`)).body)
  })

  it('as a logo that is not what it says', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    const form = (await bob.open(`${HOME}/new`)).forms[0] ?? expect.fail('no form')
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
    for (const logo of [svg, `${svg}PNG`, 'GIF', '<html>', '\0'])
      for (const preview of [undefined, '1']) {
        const { body, headers } = await bob.submit(form, { ...SOUND, logo: new TextEncoder().encode(logo), preview })
        expect(body).not.toContain('<img')
        expect(headers['Content-Security-Policy']).toContain("img-src 'self';")
      }
    // One that begins as an image is shown as an image of that type, whatever follows.
    const polyglot = new Uint8Array([...LOGO, ...new TextEncoder().encode('<script>alert(1)</script>')])
    const { body } = await bob.submit(form, { ...SOUND, logo: polyglot, preview: '1' })
    expectHarmless(body)
    const kept = await bob.submit(form, { ...SOUND, logo: undefined, keptLogo: Buffer.from(svg).toString('base64') })
    expect([kept.status, kept.body.includes('data:')]).toStrictEqual([400, false])
  })
})

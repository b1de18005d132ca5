/**
 * The logos of applications at addresses of their own.
 * @module
 */
import type { HttpResponse } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { gif } from '../core/images.js'
import { watchedServer } from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  answeredTo,
  authorizationUrl,
  LOGO,
  openConsent,
  registration,
  requestOf,
  send,
  testServer,
  WEB,
} from '../support.js'
import { logoIn } from './consent-form.js'

const IMAGE: HttpResponse = {
  status: 200,
  headers: {
    'Content-Type': 'image/png',
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Sec-Fetch-Site',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
  },
  body: Buffer.from(LOGO).toString('latin1'),
}
const NONE: HttpResponse = { status: 404, headers: { 'Cache-Control': 'no-store', Pragma: 'no-cache' }, body: '' }

const submission = (logo?: Uint8Array) => {
  const { logo: usual, ...rest } = registration()
  const scopes = [{ scope: 'repo-code:rw', reason: 'To push' }]
  return { ...rest, scopes, logo: logo ?? usual }
}
const addressOf = (clientId: string, logo: string) => `/oauth2/logo?client_id=${clientId}&logo=${logo}`
const at = ({ server }: TestServer, url: string, method = 'GET') => send(server, { url, method })

describe('a logo', () => {
  it('is served as its bytes, to be kept for good, to a GET and a HEAD of anybody', async () => {
    const test = await testServer()
    const { page } = await openConsent(test)
    test.session.user = undefined
    for (let time = 0; time < 2; time++) expect(await at(test, logoIn(page.body))).toStrictEqual(IMAGE)
    expect(await at(test, logoIn(page.body), 'HEAD')).toStrictEqual(answeredTo('HEAD', IMAGE))
    expect((await at(test, logoIn(page.body), 'PUT')).status).toBe(405)
  })

  it('of one megabyte comes whole, in whatever pieces', async () => {
    const logo = new Uint8Array(1_048_576).map((_, index) => index % 251)
    logo.set(LOGO)
    const test = await testServer()
    for (let index = 0; index < 10; index++)
      await test.server.applications.register(registration({ logo }), { ...WEB, clientId: `large${index}` })
    // More than stay decoded.
    for (let index = 0; index < 20; index++) {
      const page = await send(test.server, { url: authorizationUrl({ client_id: `large${index % 10}` }) })
      const { status, body } = await at(test, logoIn(page.body))
      expect([status, Buffer.from(logo).equals(Buffer.from(body, 'latin1'))]).toEqual([200, true])
    }
  })

  it('is only found by the name of its published application and its own', async () => {
    const test = await testServer()
    const { page } = await openConsent(test)
    const found = logoIn(page.body)
    const name = found.slice(-22)
    for (const url of [
      '/oauth2/logo',
      '/oauth2/logo?client_id=web',
      `/oauth2/logo?logo=${name}`,
      addressOf('other', name),
      addressOf('nobody', name),
      addressOf('web', 'A'.repeat(22)),
      addressOf('web', '..'),
      addressOf('', name),
      `${found}&logo=${name}`,
      `${found}&%zz`,
      addressOf('%00', name),
      addressOf('%F0%9F%98%80', name),
    ])
      expect([url, await at(test, url)]).toStrictEqual([url, NONE])
  })

  it('is not served before its application is approved, nor after it was replaced', async () => {
    const test = await testServer()
    const { applications } = test.server
    const changed = gif(2, 2)
    const { id, review } = await applications.submit(submission())
    const first = addressOf(id, review.details.logo)
    expect(await at(test, first)).toStrictEqual(NONE)
    await applications.approve(id, { revision: 1 })
    expect(await at(test, first)).toStrictEqual(IMAGE)
    const second = addressOf(id, (await applications.change(id, submission(changed))).review?.details.logo ?? '')
    expect([await at(test, first), await at(test, second)]).toStrictEqual([IMAGE, NONE])
    await applications.suspend(id)
    expect(await at(test, first)).toStrictEqual(IMAGE)
    await applications.reinstate(id)
    await applications.approve(id, { revision: 2 })
    expect(await at(test, first)).toStrictEqual(NONE)
    expect((await at(test, second)).headers['Content-Type']).toBe('image/gif')
  })

  it('is read once by however many ask at once, and stays decoded afterwards', async () => {
    const test = await watchedServer()
    const { page } = await openConsent(test)
    const url = logoIn(page.body)
    test.instead.read = async (keys) => {
      await new Promise((resolve) => setImmediate(resolve))
      return test.store.read(keys)
    }
    test.forget()
    await Promise.all(Array.from({ length: 30 }, () => at(test, url)))
    const logos = () => test.trips.keys.filter((key) => key.startsWith('logo:')).length
    expect(logos()).toBe(1)
    for (let again = 0; again < 3; again++) expect((await at(test, url)).status).toBe(200)
    expect(logos()).toBe(1)
  })

  it('is the same bytes in every answer that is still held, however many others were asked for', async () => {
    const test = await testServer()
    const urls: string[] = []
    for (let index = 0; index < 12; index++) {
      const logo = new Uint8Array(1_000_000)
      logo.set(LOGO)
      await test.server.applications.register(registration({ name: `App ${index}`, logo }), {
        clientId: `app${index}`,
        clientSecret: `${WEB.clientSecret}-${index}`,
      })
      urls.push(logoIn((await openConsent(test, { client_id: `app${index}` })).page.body))
    }
    const buffers = new Set<ArrayBufferLike>()
    const held: unknown[] = []
    for (let round = 0; round < 3; round++)
      for (const url of urls) {
        const answer = await test.server.handle(requestOf({ method: 'GET', url }))
        if (!(answer?.body instanceof Uint8Array)) return expect.fail(`status ${answer?.status}`)
        held.push(answer)
        buffers.add(answer.body.buffer)
      }
    expect([held.length, buffers.size]).toStrictEqual([36, 12])
  })

  it('whose record is gone, or is no image, is not there', async () => {
    for (const value of [
      { v: 1, base64url: '' },
      { v: 1, base64url: 'PHN2Zz4' },
      { v: 1, base64url: '<svg>' },
    ]) {
      const test = await testServer()
      const { page } = await openConsent(test)
      const url = logoIn(page.body)
      const key = `logo:${url.slice(-22)}`
      const [record] = await test.store.read([key])
      await test.store.write(key, value, { expected: record?.version ?? 0 })
      expect(await at(test, url)).toStrictEqual(NONE)
    }
  })
})

describe('lists that a host does not bound', () => {
  it('are cut on the consent page, which says how many are left out, and a resource that it shows can be chosen', async () => {
    const resources = Array.from({ length: 100_000 }, (_, index) => ({ id: `${index}`, name: `<${'n'.repeat(500)}` }))
    const test = await testServer({ resources: () => resources })
    test.session.user = { subject: 'ada', name: '"'.repeat(100_000) }
    const { page } = await openConsent(test)
    expect(page.body.length).toBeLessThan(250_000)
    const shown = page.body.split('name="resource" ').length - 1
    expect(shown).toBeGreaterThan(100)
    expect(page.body).toContain(
      `There are ${(100_000 - shown).toLocaleString('en')} more. Search for them by their names.`,
    )
  })

  it('are not denied on the consent page where the request leaves no room for any of them', async () => {
    const resources = [{ id: `${'x'.repeat(2000)}` }, { id: 'short' }]
    const { page } = await openConsent(await testServer({ bodyLimit: 2048, resources: () => resources }))
    expect(page.body).toContain('None of your resources can be chosen here.')
    expect(page.body).not.toContain('You have no resources')
  })
})

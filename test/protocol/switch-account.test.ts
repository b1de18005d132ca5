/**
 * The link "Not you?" of the pages, from the option `switchAccountUrl`.
 * @module
 * @see Specification, sections 4.1, 4.5 and 5.3
 */
import { describe, expect, it } from 'vitest'
import { attribute, elementsOf, textOf } from '../pages/tree.js'
import { authorizationUrl, ISSUER, openConsent, send, testServer } from '../support.js'
import { submit, withItems } from './consent-form.js'
import { codesOf, decideOn, enter, enterCode, openDevicePage } from './device-form.js'

const WORDS = 'Not you? Sign in as somebody else'

/** A server with the option, and the addresses that it was asked for. */
async function switching() {
  const asked: string[] = []
  const switchAccountUrl = (returnTo: string): string => {
    asked.push(returnTo)
    return `/switch?to=${encodeURIComponent(returnTo)}`
  }
  return { test: await testServer({ ...withItems, switchAccountUrl }), asked }
}

/** Where the links "Not you?" of a page lead. */
function linksIn(body: string): readonly (string | undefined)[] {
  return elementsOf(body)
    .filter((node) => node.nodeName === 'a' && textOf(node) === WORDS)
    .map((node) => attribute(node, 'href'))
}

const linkTo = (address: string): string => `/switch?to=${encodeURIComponent(ISSUER + address)}`

describe('"Not you?"', () => {
  it('leads from the consent page to the page of the host, and back to the request as it came', async () => {
    const { test, asked } = await switching()
    const url = authorizationUrl({ state: 'a b&c', login_hint: 'ünë' })
    const { body } = await send(test.server, { url })
    const [returnTo = ''] = asked
    const came = new URL(url, ISSUER)
    expect(new URL(returnTo).origin + new URL(returnTo).pathname).toBe(came.origin + came.pathname)
    expect([...new URL(returnTo).searchParams]).toStrictEqual([...came.searchParams])
    expect(linksIn(body)).toStrictEqual([`/switch?to=${encodeURIComponent(returnTo)}`])
    expect((await send(test.server, { url: returnTo.slice(ISSUER.length) })).status).toBe(200)
  })

  it('leads back to the request from a consent page that came back with a fault', async () => {
    const { test, asked } = await switching()
    const { fields, headers } = await openConsent(test)
    const form = { ...fields, decision: 'agree', resource_scope: 'nothing' }
    const { status, body } = await submit(test, form, headers)
    expect([status, linksIn(body).length]).toStrictEqual([400, 1])
    expect([...new URL(asked[1] ?? '').searchParams.keys()]).not.toContain('consent')
    expect(new URL(asked[1] ?? '').searchParams.get('client_id')).toBe('web')
  })

  it('leads back to the page of a device, with the code that it shows', async () => {
    const { test } = await switching()
    const { user_code } = await codesOf(test)
    const opened = await openDevicePage(test)
    expect(linksIn(opened.page.body)).toStrictEqual([linkTo('/oauth2/device')])
    const withCode = await openDevicePage(test, `user_code=${user_code}`)
    const expected = [linkTo(`/oauth2/device?user_code=${user_code}`)]
    expect(linksIn(withCode.page.body)).toStrictEqual(expected)
    const consent = await enter(test, opened, user_code)
    expect(linksIn(consent.page.body)).toStrictEqual(expected)
    expect(linksIn((await enter(test, opened, 'x"><a')).page.body)).toStrictEqual([linkTo('/oauth2/device')])
    const faulty = await decideOn(test, await enterCode(test, user_code), 'agree', { resource_scope: 'nothing' })
    expect(linksIn(faulty.body)).toStrictEqual(expected)
  })

  it('leads back to the page of the applications', async () => {
    const { test } = await switching()
    const { body } = await send(test.server, { url: '/oauth2/applications?from=3' })
    expect(linksIn(body)).toStrictEqual([linkTo('/oauth2/applications')])
  })

  it('is on no page without the option', async () => {
    const test = await testServer(withItems)
    const { user_code } = await codesOf(test)
    const pages = [
      (await openConsent(test)).page,
      (await openDevicePage(test)).page,
      (await enterCode(test, user_code)).page,
      await send(test.server, { url: '/oauth2/applications' }),
    ]
    for (const { status, body } of pages) expect([status, linksIn(body)]).toStrictEqual([200, []])
  })

  it.each([
    ['a promise', Promise.resolve('/')],
    ['nothing', undefined],
    ['a space', '/a b'],
    ['an empty string', ''],
  ])('must be a path or URL, as signInUrl: %s', async (_what, url) => {
    const switchAccountUrl = () => url as string // what a program without types could do
    const test = await testServer({ switchAccountUrl })
    expect((await send(test.server, { url: authorizationUrl() })).status).toBe(500)
    const message = expect.stringMatching(/^grantwell: switchAccountUrl\(\) must give a path or URL .+; got /)
    expect(test.errors).toMatchObject([{ code: 'ERR_CONFIGURATION', message }])
  })
})

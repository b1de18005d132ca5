/**
 * The console from one end to the other: the way from a submission to the first token, who sees what, and its options.
 * @module
 */
import type { AuthorizationServer } from 'grantwell'
import { createConsole } from 'grantwell/console'
import { createFetchHandler } from 'grantwell/fetch'
import { describe, expect, it } from 'vitest'
import { authorize, exchange, ISSUER } from '../support.js'
import { consoleServer, formOf, HOME, handIn, SOUND, secretIn, Visitor } from './visitor.js'

describe('the way from a submission to the first token', () => {
  it('goes through the console alone, and each step is in the audit trail with who took it', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    const root = new Visitor(test, 'root')
    const { page, id } = await handIn(bob)
    expect(page.text).toContain('The application was handed in.')
    expect(page.text).toContain('Waits for an administrator')

    const queue = await root.open(`${HOME}/administration`)
    expect(queue.text).toContain('Mirror')
    const review = await root.open(`${HOME}/administration/applications/${id}`)
    expect(review.text).toContain('To push')
    const approved = await root.act(review, 'approve', { scope: ['repo-code:r', 'account-profile:r'] })
    expect([approved.status, approved.text.includes('It is approved.')]).toStrictEqual([200, true])
    expect(approved.body).not.toContain('Client secret')

    const own = await bob.open(`${HOME}/applications/${id}`)
    expect(own.text).toContain('Approved')
    const rotated = await bob.act(own, 'rotate', { overlap: 'none' })
    const clientSecret = secretIn(rotated)

    test.session.user = { subject: 'ada' }
    const { code } = await authorize(test, { client_id: id, redirect_uri: 'https://mirror.example/callback' })
    const { status, body } = await exchange(test, code, {}, { clientId: id, clientSecret })
    expect([status, body.scope]).toStrictEqual([200, 'repo-code:r account-profile:r'])
    expect(test.events.flatMap((event) => (event.type === 'application' ? [[event.change, event.actor]] : []))).toEqual(
      [
        ['submitted', 'bob'],
        ['approved', 'root'],
        ['secret_rotated', 'bob'],
      ],
    )
  })
})

describe('a page of the console', () => {
  const PAGES = ['', '/new', '/administration', '/administration/resource-servers']

  it('sends whoever is not signed in to sign in, and from there back to it', async () => {
    const test = await consoleServer()
    for (const place of [...PAGES, '/administration?text=a&state=', '/applications/x']) {
      const { status, headers } = await new Visitor(test).open(HOME + place)
      expect([status, headers['Location']]).toStrictEqual([
        302,
        `/sign-in?return_to=${encodeURIComponent(`${ISSUER}${HOME}${place}`)}`,
      ])
    }
  })

  it('is for administrators where it is theirs, and nowhere without the option', async () => {
    const test = await consoleServer()
    const { id } = await handIn(new Visitor(test, 'bob'))
    const places = ['/administration', '/administration/resource-servers', `/administration/applications/${id}`]
    const none = { ...test, console: createConsole(test.server) }
    for (const place of places) {
      const seen = await new Visitor(test, 'bob').open(HOME + place)
      expect([seen.status, seen.text]).toStrictEqual([403, expect.stringContaining('This page is for administrators')])
      expect((await new Visitor(none, 'root').open(HOME + place)).status).toBe(404)
    }
    expect((await new Visitor(test, 'root').open(HOME)).text).toContain('Administration')
    expect((await new Visitor(test, 'bob').open(HOME)).text).not.toContain('Administration')
  })

  it('shows an application to its applicant alone, its logo too', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    const { id, page } = await handIn(bob)
    const logo = /src="([^"]+\/logo\/[^"]+)"/.exec(page.body)?.[1] ?? expect.fail(page.body)
    const eve = new Visitor(test, 'eve')
    for (const url of [`${HOME}/applications/${id}`, `${HOME}/applications/${id}/edit`, logo])
      expect([(await bob.open(url)).status, (await eve.open(url)).status], url).toStrictEqual([200, 404])
    const image = await bob.open(logo)
    expect(image.headers).toMatchObject({ 'Content-Type': 'image/png', 'Cache-Control': 'private, max-age=3600' })
    expect((await new Visitor(test, 'root').open(logo)).status).toBe(200)
    expect((await bob.open(logo.replace(/.{22}$/, 'A'.repeat(22)))).status).toBe(404)
  })

  it('takes no form of another browser, user or application, nor one that was changed', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    const { page, id } = await handIn(bob)
    const { id: other } = await handIn(bob)
    const form = formOf(page, 'delete')
    const wrong = [
      [new Visitor(test, 'bob'), form],
      [new Visitor(test, 'eve'), form],
      [bob, { ...form, action: form.action.replace(id, other) }],
      [
        bob,
        { ...form, controls: form.controls.map((each) => (each.name === 'revision' ? { ...each, value: '7' } : each)) },
      ],
      [
        bob,
        {
          ...form,
          controls: form.controls.map((each) => (each.value === 'delete' ? { ...each, value: 'withdraw' } : each)),
        },
      ],
    ] as const
    for (const [visitor, sent] of wrong) expect((await visitor.submit(sent)).status).toBeGreaterThanOrEqual(400)
    test.clock.now += 601
    expect((await bob.submit(form)).text).toContain('This form is too old')
    const foreign = new Visitor(test, 'bob', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })
    const fresh = await foreign.open(`${HOME}/applications/${id}`)
    expect((await foreign.act(fresh, 'delete')).status).toBe(400)
    expect(await test.server.applications.count({ applicant: 'bob' })).toBe(2)
  })

  it('has no script, and admits none', async () => {
    const test = await consoleServer()
    const root = new Visitor(test, 'root')
    for (const place of PAGES) {
      const { body, headers } = await root.open(HOME + place)
      expect(body).not.toMatch(/<script|\son\w+=/i)
      expect(headers['Content-Security-Policy']).toBe(
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      )
    }
  })

  it('is in the language of its reader', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob', { 'accept-language': 'de' })
    const { text, body } = await bob.open(HOME)
    expect(text).toContain('Sie haben noch keine Anwendung eingereicht.')
    expect(body).toContain('<html lang="de" dir="ltr">')
    const form = await bob.open(`${HOME}/new`)
    const faulty = await bob.submit(form.forms[0] ?? expect.fail('no form'), { ...SOUND, name: '' })
    expect(faulty.text).toMatch(/Der Name muss/)
  })

  it('is not there for other methods and places', async () => {
    const test = await consoleServer()
    const request = { headers: { 'x-user': 'bob' }, native: undefined }
    const answer = async (method: string, url: string) =>
      (await test.console.handle({ ...request, method, url }))?.status
    expect(await answer('POST', HOME)).toBe(405)
    expect(await answer('DELETE', `${HOME}/new`)).toBe(405)
    expect(await answer('HEAD', HOME)).toBe(200)
    for (const place of [
      '/none',
      '/applications',
      '/applications/%',
      '/applications/x/y',
      '/administration/x',
      '/new/x',
    ])
      expect(await answer('GET', HOME + place), place).toBe(404)
    for (const url of ['/', '/oauth2', `${HOME}x`, '/oauth2/token']) {
      expect(test.console.owns(url), url).toBe(false)
      expect(await answer('GET', url), url).toBeUndefined()
    }
    expect(test.console.owns(`${ISSUER}${HOME}/new?x=1`)).toBe(true)
  })

  it('says that the service is busy where the store or the host fails, and no more', async () => {
    const test = await consoleServer({}, { administrator: () => Promise.reject(new Error('s3cret')) })
    const failed = await new Visitor(test, 'bob').open(HOME)
    expect([failed.status, failed.body.includes('s3cret')]).toStrictEqual([500, false])
    expect(test.errors).toStrictEqual([new Error('s3cret')])
  })
})

describe('createConsole', () => {
  it('takes its options alone, and a server', async () => {
    const { server } = await consoleServer()
    const wrong = [
      [{}, {}, 'createConsole: the argument server must be a server of createAuthorizationServer()'],
      [server, { administrators: () => undefined }, 'there is no option administrators; did you mean administrator?'],
      [server, { applicant: 'ada' }, 'the option applicant must be a function'],
      [server, { path: 'console' }, "the option path must be a path such as '/oauth2/console'"],
      [server, { path: '/oauth2/token' }, 'the option path must not be a path of the server; got /oauth2/token'],
    ] as const
    for (const [given, options, words] of wrong)
      expect(() => createConsole(given as AuthorizationServer, options as object)).toThrow(words) // as a program without types calls it
  })

  it('stands where the host says, below the path of the issuer and of the mount', async () => {
    const issuer = 'https://git.example/base'
    const test = await consoleServer({ issuer, mountPath: '/base' }, { path: '/console' })
    const page = await new Visitor(test, 'bob').open('/base/console')
    expect(page.status).toBe(200)
    expect(page.body).toContain('href="/base/console/new"')
  })

  it('goes on a platform as a server does', async () => {
    const test = await consoleServer()
    const handler = createFetchHandler(test.console)
    const response = await handler(new Request(`${ISSUER}${HOME}/new`, { headers: { 'x-user': 'bob' } }))
    expect(response.status).toBe(200)
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    const consent = /name="consent" value="([^"]+)"/.exec(await response.text())?.[1] ?? ''
    const form = new FormData()
    const { logo, scope, ...fields } = SOUND
    for (const [name, value] of Object.entries({ ...fields, consent })) form.append(name, String(value))
    for (const each of scope as readonly string[]) form.append('scope', each) // as it is written there
    form.append('logo', new File([Uint8Array.from(logo as Uint8Array)], 'logo.png')) // as above
    const headers = { 'x-user': 'bob', cookie, origin: ISSUER }
    const sent = await handler(new Request(`${ISSUER}${HOME}/new`, { method: 'POST', body: form, headers }))
    expect(await sent.text()).toContain('The application was handed in.')
    const [application] = (await test.server.applications.list({ applicant: 'bob' })).applications
    expect(await test.server.applications.logo(application?.review?.details.logo ?? '')).toMatchObject({ bytes: logo })
  })
})

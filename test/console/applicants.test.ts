/**
 * The pages of applicants: faults beside their fields, the preview of a logo, changes, secrets, and the end of an application.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { LOGO } from '../support.js'
import type { ConsoleTest, Fields, Seen } from './visitor.js'
import { consoleServer, HOME, handIn, SOUND, secretIn, Visitor } from './visitor.js'

const newForm = async (visitor: Visitor) => (await visitor.open(`${HOME}/new`)).forms[0] ?? expect.fail('no form')
const editForm = async (visitor: Visitor, id: string) =>
  (await visitor.open(`${HOME}/applications/${id}/edit`)).forms[0] ?? expect.fail('no form')

/** The faults of a page, by the ids of the fields that name them. */
function faultsIn({ body }: Seen): Readonly<Record<string, string>> {
  const found = [...body.matchAll(/<div class="field-fault" id="fault-([^"]*)">(.*?)<\/div>/gs)]
  return Object.fromEntries(found.map(([, id = '', html = '']) => [id, html.replace(/<[^>]*>/g, '').trim()]))
}

/** Hands in an application of bob's, and approves it. */
async function approved(test: ConsoleTest, fields: Fields = SOUND) {
  const bob = new Visitor(test, 'bob')
  const { id } = await handIn(bob, fields)
  await test.server.applications.approve(id, { revision: 1 })
  return { bob, id }
}

describe('the form of an application', () => {
  const FAULTS: readonly (readonly [what: string, fields: Fields, field: string, words: RegExp])[] = [
    ['a long name', { name: 'n'.repeat(51) }, 'name', /^The name must have 1 to 50 characters/],
    ['a name with a direction mark', { name: 'a\u202eb' }, 'name', /control or direction mark/],
    ['a website without a scheme', { website: 'mirror' }, 'website', /http or https URL/],
    ['a long description', { description: 'd'.repeat(351) }, 'description', /at most 350 characters/],
    ['no redirect URI', { redirectUris: ' \n' }, 'redirectUris', /at least one redirect URI/],
    [
      'a wrong redirect URI beside a right one',
      { redirectUris: 'https://mirror.example/callback\r\nhttp://mirror.example/' },
      'redirectUris',
      /^http:\/\/mirror\.example\/ The redirect URI must be https/,
    ],
    ['a domain that has none of them', { authorizedDomain: 'other.example' }, 'redirectUris', /not in the authorized/],
    ['no scope', { scope: [] }, 'scopes', /one or more scopes/],
    ['a scope without its reason', { 'reason repo-code:rw': '' }, 'scope:repo-code:rw', /1 to 350 characters/],
    [
      'a scope beside one that includes it',
      { scope: ['repo-code:r', 'repo-code:rw', 'account-profile:r'], 'reason repo-code:r': 'x' },
      'scope:repo-code:rw',
      /includes repo-code:r, which is asked for as well/,
    ],
    [
      'a logo that is none',
      { logo: new TextEncoder().encode('<svg onload=alert(1)>') },
      'logo',
      /PNG, JPEG, GIF or WebP/,
    ],
    ['no logo', { logo: undefined }, 'logo', /missing/],
  ]

  it.each(FAULTS)('tells of %s beside its field, and keeps what was typed', async (_, fields, field, words) => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    const seen = await bob.submit(await newForm(bob), { ...SOUND, ...fields })
    expect(seen.status).toBe(400)
    expect(seen.text).toContain('Nothing was handed in yet.')
    expect(faultsIn(seen)).toMatchObject({ [field]: expect.stringMatching(words) })
    expect(seen.body).toContain(`aria-describedby="fault-${field}`)
    expect(seen.body).toContain('value="To greet you"')
    expect(await test.server.applications.count({ applicant: 'bob' })).toBe(0)
  })

  it('tells all faults at once', async () => {
    const bob = new Visitor(await consoleServer(), 'bob')
    const seen = await bob.submit(await newForm(bob), {
      name: '',
      website: 'x',
      redirectUris: 'x',
      resourceScope: 'all',
    })
    expect(Object.keys(faultsIn(seen)).sort()).toStrictEqual(['logo', 'name', 'redirectUris', 'scopes', 'website'])
  })

  it('shows a preview of the logo, which stays through it and through faults', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    const preview = await bob.submit(await newForm(bob), { ...SOUND, preview: '1' })
    const image = `data:image/png;base64,${Buffer.from(LOGO).toString('base64')}`
    expect([preview.status, preview.text]).toStrictEqual([200, expect.stringContaining('Nothing was handed in yet.')])
    expect(preview.body).toContain(`src="${image}"`)
    expect(preview.headers['Content-Security-Policy']).toContain("img-src 'self' data:;")
    const { logo: _, ...others } = SOUND
    const faulty = await bob.submit(preview.forms[0] ?? expect.fail(preview.text), { ...others, name: '' })
    expect(faulty.body).toContain(`src="${image}"`)
    const sent = await bob.submit(faulty.forms[0] ?? expect.fail(faulty.text), others)
    expect(sent.text).toContain('The application was handed in.')
    const [application] = (await test.server.applications.list({ applicant: 'bob' })).applications
    expect(await test.server.applications.logo(application?.review?.details.logo ?? '')).toMatchObject({ bytes: LOGO })
  })

  it('is not lost where it was open for long', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    const form = await newForm(bob)
    test.clock.now += 7200
    expect((await bob.submit(form, SOUND)).text).toContain('The application was handed in.')
  })

  it('is shown again for a body that is none', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    const form = await newForm(bob)
    const seen = await bob.submit({ ...form, controls: form.controls.filter(({ name }) => name !== 'logo') }, {})
    expect([seen.status, seen.text]).toStrictEqual([400, expect.stringContaining('The form could not be read.')])
  })

  it('is refused where twenty wait', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    for (let number = 0; number < 20; number++) await handIn(bob)
    const seen = await bob.submit(await newForm(bob), SOUND)
    expect([seen.status, seen.text]).toStrictEqual([429, expect.stringContaining('Too many of your applications wait')])
  })
})

describe('a change', () => {
  it('begins with what is there, shows what differs, and keeps the rest', async () => {
    const test = await consoleServer()
    const { bob, id } = await approved(test)
    const form = await editForm(bob, id)
    const values = Object.fromEntries(form.controls.map(({ name, value }) => [name, value]))
    expect(values).toMatchObject({ name: 'Mirror', website: 'https://mirror.example', authorizedDomain: '' })
    const fields = {
      ...SOUND,
      logo: undefined,
      name: 'Copy',
      redirectUris: 'https://mirror.example/next',
      scope: ['repo-code:rw'],
    }
    const seen = await bob.submit(form, fields)
    expect(seen.text).toContain('The change was handed in.')
    expect(seen.body).toMatch(/<del>.*Mirror.*<\/del> <ins>.*Copy.*<\/ins>/s)
    for (const words of [
      /<del>.*mirror\.example\/callback/,
      /<ins>.*mirror\.example\/next/,
      /<del>.*account-profile:r/,
    ])
      expect(seen.body).toMatch(words)
    const { review, ...inForce } = (await test.server.applications.get(id)) ?? expect.fail('gone')
    expect(inForce).toMatchObject({ state: 'approved', name: 'Mirror' })
    expect(review?.details).toMatchObject({
      name: 'Copy',
      scopes: ['repo-code:rw'],
      authorizedDomain: 'mirror.example',
    })
  })

  it('takes away what is left empty, and sets what is new', async () => {
    const test = await consoleServer()
    const { bob, id } = await approved(test)
    const redirectUris = 'https://mirror.example/callback\nhttps://other.example/callback'
    await bob.submit(await editForm(bob, id), {
      ...SOUND,
      logo: undefined,
      description: '',
      redirectUris,
      redirectMatching: 'exact',
      deviceFlow: '1',
      resourceScope: 'public',
    })
    const details = (await test.server.applications.get(id))?.review?.details
    expect(details).toMatchObject({ redirectUris: redirectUris.split('\n'), deviceFlow: true, resourceScope: 'public' })
    expect(details).not.toHaveProperty('description')
    expect(details).not.toHaveProperty('authorizedDomain')
  })

  it('that somebody else was faster with is not done, and says so', async () => {
    const test = await consoleServer()
    const { bob, id } = await approved(test)
    const form = await editForm(bob, id)
    await test.server.applications.change(id, { name: 'Other' })
    const seen = await bob.submit(form, { ...SOUND, logo: undefined, name: 'Mine' })
    expect([seen.status, seen.text]).toStrictEqual([409, expect.stringContaining('Somebody else was faster.')])
    expect((await test.server.applications.get(id))?.review?.details.name).toBe('Other')
  })

  it('of a rejected application is not there', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    const { id } = await handIn(bob)
    await test.server.applications.reject(id, { revision: 1, reason: 'No <b>' })
    const seen = await bob.open(`${HOME}/applications/${id}`)
    expect(seen.body).toContain('The administrator’s reason: <bdi>No &lt;b&gt;</bdi>')
    expect((await bob.open(`${HOME}/applications/${id}/edit`)).status).toBe(404)
  })
})

describe('what an applicant does with an application', () => {
  it('makes secrets, with the overlap that was chosen', async () => {
    const test = await consoleServer()
    const { bob, id } = await approved(test)
    const page = await bob.open(`${HOME}/applications/${id}`)
    await bob.act(page, 'rotate', { overlap: 'hour' })
    const application = await test.server.applications.get(id)
    expect(application?.secrets).toMatchObject([{}, { expiresAt: test.clock.now + 3600 }])
    for (let number = 0; number < 6; number++)
      await bob.act(await bob.open(`${HOME}/applications/${id}`), 'rotate', { overlap: 'week' })
    const full = await bob.act(await bob.open(`${HOME}/applications/${id}`), 'rotate', { overlap: 'week' })
    expect([full.status, full.text]).toStrictEqual([409, expect.stringContaining('as many working secrets')])
  })

  it('hands it over, to somebody else than themselves', async () => {
    const test = await consoleServer()
    const { bob, id } = await approved(test)
    const page = await bob.open(`${HOME}/applications/${id}`)
    for (const applicant of ['', ' bob '])
      expect((await bob.act(page, 'transfer', { applicant })).text).toContain('Name the colleague')
    const gone = await bob.act(page, 'transfer', { applicant: 'carol' })
    expect(gone.text).toContain('The application was handed over to carol.')
    expect((await bob.open(`${HOME}/applications/${id}`)).status).toBe(404)
    expect((await new Visitor(test, 'carol').open(HOME)).text).toContain('Mirror')
  })

  it('withdraws what waits, and deletes', async () => {
    const test = await consoleServer()
    const { bob, id } = await approved(test)
    await bob.submit(await editForm(bob, id), { ...SOUND, logo: undefined, name: 'Copy' })
    const withdrawn = await bob.act(await bob.open(`${HOME}/applications/${id}`), 'withdraw')
    expect(withdrawn.text).toContain('What waited was taken back.')
    expect(withdrawn.text).not.toContain('Copy')
    const deleted = await bob.act(await bob.open(`${HOME}/applications/${id}`), 'delete')
    expect(deleted.text).toContain('The application was deleted.')
    expect(await test.server.applications.get(id)).toBeUndefined()
    const actors = test.events.flatMap((event) => (event.type === 'application' ? [[event.change, event.actor]] : []))
    expect(actors.slice(2)).toStrictEqual([
      ['changed', 'bob'],
      ['withdrawn', 'bob'],
      ['suspended', 'bob'],
      ['deleted', 'bob'],
    ])
  })
})

describe('a list of many', () => {
  it('goes on on further pages, and begins anew for a cursor that is none', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    for (let number = 0; number < 60; number++) {
      const { id } = await handIn(bob, { ...SOUND, name: `Number ${number}.` })
      await test.server.applications.reject(id, { revision: 1, reason: 'Enough' })
    }
    const first = await bob.open(HOME)
    const next = /<a href="([^"]+\?cursor=[^"]+)"/.exec(first.body)?.[1] ?? expect.fail(first.text)
    const second = await bob.open(next.replaceAll('&amp;', '&'))
    const names = [first, second].flatMap(({ text }) => text.match(/Number \d+\./g) ?? [])
    expect([names.length, new Set(names).size]).toStrictEqual([60, 60])
    expect((await bob.open(`${HOME}?cursor=none`)).text).toContain('Number 0.')
  })
})

it('a secret of a form is one that works', async () => {
  const test = await consoleServer()
  const { bob, id } = await approved(test)
  const page = await bob.open(`${HOME}/applications/${id}`)
  const seen = await bob.act(page, 'rotate', { overlap: 'none' })
  const secret = secretIn(seen)
  expect(secret).toMatch(/^[\w-]{46,}$/)
  // Nothing of it was in the page with the form, or in the form.
  expect(page.body).not.toContain(secret.slice(-20))
  expect((await bob.open(`${HOME}/applications/${id}`)).body).not.toContain(secret)
})

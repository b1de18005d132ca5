/** The demo's pages on which applications are handed in, approved and stopped, as a browser of a few lines sees them. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hiddenFields } from '../support.js'
import { type Demo, freshClone, startDemo } from './start.js'
import { asAdministrator, ask, authorizationUrl, Browser, callApi, locationOf, signIn, tokensFor } from './walk.js'

const LOGO = readFileSync(new URL('../../examples/demo/logo.png', import.meta.url))

let clone: ReturnType<typeof freshClone>
let demo: Demo
const ada = new Browser()
const grace = new Browser()

beforeAll(async () => {
  clone = freshClone()
  demo = await startDemo(clone.path)
  await signIn(ada, demo)
  await signIn(grace, asAdministrator(demo))
})

afterAll(async () => {
  await demo?.end()
  clone?.remove()
})

describe('who may open it', () => {
  it('is nobody who has not signed in: they are sent to, and back', async () => {
    for (const path of [
      '/administration',
      '/applications',
      '/applications/new',
      '/applications/change?id=x',
      '/logo?id=x',
    ]) {
      const answer = await new Browser().get(demo.issuer + path)
      expect(answer.status).toBe(303)
      const location = locationOf(answer, demo.issuer)
      expect({ path: location.pathname, back: location.searchParams.get('return_to') }).toEqual({
        path: '/sign-in',
        back: path,
      })
    }
  })

  it('is the administrator alone, where applications are approved', async () => {
    const name = await handIn()
    const form = { ...(await formOf(name)), action: 'approve', scope: 'repo-code:r' }
    for (const answer of [await ada.get(url('/administration')), await ada.post(url('/administration'), form)]) {
      expect(answer.status).toBe(403)
      expect(await answer.text()).not.toContain(name)
    }
    expect((await new Browser().post(url('/administration'), form)).status).toBe(303)
    expect(await sectionOf(name)).toBe('Waiting for a decision')
    expect(await (await ada.get(demo.issuer)).text()).not.toContain('/administration')
    expect(await (await grace.get(demo.issuer)).text()).toContain('href="/administration"')
  })

  it('is the applicant alone, where an application is changed', async () => {
    const name = await handIn()
    const { id = '' } = await formOf(name)
    const path = url(`/applications/change?id=${id}`)
    expect((await ada.get(path)).status).toBe(200)
    for (const answer of [await grace.get(path), await grace.post(path, submission({ name: 'Taken over' }))]) {
      expect(answer.status).toBe(404)
    }
    expect(await sectionOf(name)).toBe('Waiting for a decision')
    expect(await (await grace.get(url('/applications'))).text()).not.toContain(name)
  })

  it('is no form of another site', async () => {
    const name = await handIn()
    const form = { ...(await formOf(name)), action: 'reject', reason: 'x' }
    for (const site of ['cross-site', 'same-site', 'none']) {
      const headers = { 'sec-fetch-site': site }
      expect((await grace.post(url('/administration'), form, headers)).status).toBe(403)
      expect((await ada.post(url('/applications/new'), submission({ name: 'Forged' }), headers)).status).toBe(403)
    }
    expect(await sectionOf(name)).toBe('Waiting for a decision')
    expect(await administration()).not.toContain('Forged')
  })
})

describe('handing in', () => {
  it('shows every fault beside its field, and what was typed', async () => {
    const form = submission({
      name: 'x'.repeat(51),
      website: 'ftp://notes.example',
      description: 'x'.repeat(351),
      type: 'both',
      redirectUris: 'https://notes.example/callback\r\n\r\nhttp://notes.example/callback',
      resourceScope: 'none',
      'reason repo-code': '',
    })
    form.delete('logo')
    const answer = await ada.post(url('/applications/new'), form)
    expect(answer.status).toBe(400)
    const page = await answer.text()
    const faults = Object.fromEntries(
      [...page.matchAll(/<p class="fault" id="fault-([^"]+)">([^<]*)</g)].map(([, path, text]) => [path, text]),
    )
    expect(Object.keys(faults).sort()).toEqual(
      ['name', 'logo', 'website', 'description', 'type', 'redirectUris', 'scopes[0]', 'resourceScope'].sort(),
    )
    expect(faults['name']).toBe('Must have 1 to 50 characters, on one line.')
    expect(faults['redirectUris']).toMatch(/^Number 2 must be https/)
    expect(faults['scopes[0]']).toBe('The reason must have 1 to 350 characters.')
    for (const field of ['name', 'logo', 'website', 'description', 'redirectUris']) {
      expect(page).toMatch(new RegExp(`name="${field}"[^>]* aria-invalid="true" aria-describedby="fault-${field}"`))
    }
    expect(page).toContain(`value="${'x'.repeat(51)}"`)
    expect(page).toContain('https://notes.example/callback\n\nhttp://notes.example/callback</textarea>')
    expect(page).toContain('<option value="rw" selected>')
    expect(await administration()).not.toContain('x'.repeat(51))
  })

  it('takes a logo of 1 MB and no larger, and ends a form that is much larger', async () => {
    const logo = (bytes: number) => {
      const form = submission({ name: `Logo of ${bytes}` })
      form.set('logo', new Blob([LOGO, new Uint8Array(bytes - LOGO.length)]), 'logo.png')
      return ada.post(url('/applications/new'), form)
    }
    const larger = await logo(1_048_577)
    expect(larger.status).toBe(400)
    expect(await larger.text()).toMatch(/id="fault-logo">Must have at most 1,048,576 bytes\./)
    expect((await logo(1_048_576)).status).toBe(303)
    const { status } = await logo(4_200_000).catch(() => ({ status: 413 })) // it may stop to listen before all is sent
    expect(status).toBe(413)
    const page = await administration()
    expect(page).toContain('Logo of 1048576')
    expect(page).not.toContain('Logo of 1048577')
    expect(page).not.toContain('Logo of 4200000')
  })

  it('takes nothing that is no form', async () => {
    const path = url('/applications/new')
    const cookie = [...ada.cookies].map((pair) => pair.join('=')).join('; ')
    for (const type of ['text/plain', 'multipart/form-data', 'multipart/form-data; boundary=x']) {
      const answer = await fetch(path, { method: 'POST', body: 'nonsense', headers: { cookie, 'content-type': type } })
      expect(answer.status).toBe(400)
    }
  })

  it('shows what was handed in as text, and the logo under a policy of its own', async () => {
    const hostile = `"><b>${counter()}`
    await handIn({ name: hostile, description: hostile, 'reason repo-code': hostile })
    for (const page of [await administration(), await (await ada.get(url('/applications'))).text()]) {
      expect(page).toContain('&quot;&gt;&lt;b&gt;')
      expect(page).not.toContain('"><b>')
    }
    const logo = /src="(\/logo\?id=[^"]+)"/.exec(cardOf(await administration(), '&quot;&gt;&lt;b&gt;'))?.[1] ?? ''
    const answer = await grace.get(demo.issuer + logo)
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(LOGO)
    expect(answer.headers.get('content-type')).toBe('image/png')
    expect(answer.headers.get('content-security-policy')).toContain('sandbox')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect((await grace.get(url('/logo?id=none'))).status).toBe(404)
  })
})

describe('deciding', () => {
  it('approves: shows client identifier and secret once, and they work', async () => {
    const name = await handIn()
    const { page, location, client } = await approve(name)
    expect(page).toContain('It is approved.')
    expect(client.client_secret).toMatch(/^gws_[\w-]{43}$/)
    const tokens = await tokensFor(client, {}, { scope: 'repo-code:rw' })
    expect((await callApi(demo.api, tokens.access_token)).status).toBe(200)
    for (const again of [await (await grace.get(location)).text(), await administration()]) {
      expect(again).not.toContain(client.client_secret)
    }
    expect(await (await ada.get(url('/applications'))).text()).not.toContain(client.client_secret)
    expect(cardOf(await (await ada.get(url('/applications'))).text(), name)).toContain(client.client_id)
  })

  it('gives a public application no secret', async () => {
    const { page } = await approve(await handIn({ type: 'public' }))
    expect(page).toContain('<dt>client_id</dt>')
    expect(page).not.toContain('client_secret')
  })

  it('narrows the scopes to the boxes that are checked: read-only, or fewer; at least one', async () => {
    const name = await handIn({ 'permission repo-pr': 'r', 'reason repo-pr': 'To read them' })
    const boxes = [...cardOf(await administration(), name).matchAll(/name="scope" value="([^"]+)" checked/g)]
    expect(boxes.map(([, scope]) => scope)).toEqual(['repo-code:rw', 'repo-code:r', 'repo-pr:r'])
    expect(await refused(await act(name, 'approve', {}))).toContain('Scopes must be among those that were asked for.')
    for (const scope of ['repo-pr:rw', 'repo-issue:r', 'nonsense']) {
      expect(await refused(await act(name, 'approve', { scope }))).toContain('Scopes must be')
    }
    const { client } = await approve(name, 'repo-code:r')
    const scopeOf = async (scope: string) => {
      const location = locationOf(await ada.get(authorizationUrl(client, { scope })))
      return location.searchParams.get('error')
    }
    expect((await tokensFor(client)).scope).toBe('repo-code:r')
    expect(await scopeOf('repo-code:rw')).toBe('invalid_scope')
    expect(await scopeOf('repo-pr:r')).toBe('invalid_scope')
  })

  it('rejects with a reason, which the applicant reads, and not without', async () => {
    const name = await handIn()
    for (const reason of ['', ' ', 'x'.repeat(351)]) {
      expect(await refused(await act(name, 'reject', { reason }))).toContain('Reason must have 1 to 350 characters.')
    }
    await act(name, 'reject', { reason: 'A <b>name</b> of ours' })
    expect(await sectionOf(name)).toBe('Rejected')
    const own = cardOf(await (await ada.get(url('/applications'))).text(), name)
    expect(own).toContain('Rejected.')
    expect(own).toContain('A &lt;b&gt;name&lt;/b&gt; of ours')
    expect(own).not.toContain('Change it')
  })

  it('takes no decision on what has changed since it was looked at', async () => {
    const name = await handIn()
    const looked = await formOf(name)
    const newer = await change(name)
    for (const [action, more] of [
      ['approve', { scope: 'repo-code:r' }],
      ['reject', { reason: 'No' }],
    ] as const) {
      const answer = await grace.post(url('/administration'), { ...looked, action, ...more })
      expect(await refused(answer)).toContain('look at the application again.')
    }
    expect(await sectionOf(newer)).toBe('Waiting for a decision')
    await approve(newer)
  })

  it('takes no decision twice, on nothing, or of another kind', async () => {
    const name = await handIn()
    const form = { ...(await formOf(name)), scope: 'repo-code:rw' }
    await approve(name)
    const again = await grace.post(url('/administration'), { ...form, action: 'approve' })
    expect(await refused(again)).toContain('This cannot be done with an application of this kind and state')
    const none = await grace.post(url('/administration'), { ...form, id: 'none', action: 'suspend' })
    expect(await refused(none)).toContain('There is no such application.')
    for (const action of ['', 'delete', 'constructor', '__proto__']) {
      await refused(await grace.post(url('/administration'), { ...form, action }))
    }
    const pending = await handIn()
    for (const action of ['suspend', 'reinstate', 'rotate']) await refused(await act(pending, action))
  })

  it('shows a change as old and new, and leaves in force what was approved until it is, too', async () => {
    const name = await handIn()
    const { client } = await approve(name)
    const newer = await change(name, {
      redirectUris: 'http://127.0.0.1/new',
      'permission repo-code': '',
      'permission repo-pr': 'r',
      'reason repo-pr': 'To read them',
    })
    const shown = cardOf(await administration(), newer)
    for (const part of [
      `<del><bdi>${name}</bdi></del> → <ins><bdi>${newer}</bdi></ins>`,
      '<del><code>http://127.0.0.1/callback</code></del>',
      '<ins>http://127.0.0.1/new</ins>',
      '<del>repo-code:rw</del>',
      '<ins>repo-pr:r</ins>',
    ]) {
      expect(shown).toContain(part)
    }
    expect(shown).not.toContain('<del><bdi>Keeps notes.</bdi></del>')
    await tokensFor(client, {}, { scope: 'repo-code:rw' })
    const location = locationOf(await act(newer, 'approve', { scope: 'repo-pr:r' }), demo.issuer)
    expect(await (await grace.get(location)).text()).not.toContain('client_secret')
    expect(await administration()).not.toContain(`<bdi>${name}</bdi>`)
    const now = { ...client, redirect_uri: 'http://127.0.0.1:4/new' }
    expect((await tokensFor(now)).scope).toBe('repo-pr:r')
    expect((await ada.get(authorizationUrl(client))).status).toBe(400)
  })

  it('lets an application use the device flow that was approved for it, and no other', async () => {
    const name = await handIn({ type: 'public' })
    const { client } = await approve(name)
    const begin = async () => {
      const body = new URLSearchParams({ client_id: client.client_id })
      const answer = await fetch(url('/oauth2/device_authorization'), { method: 'POST', body })
      return Object.keys((await answer.json()) as object)
    }
    expect(await begin()).toContain('error')
    await change(name, { name, type: 'public', deviceFlow: 'yes' })
    expect(cardOf(await administration(), name)).toContain('<del>No</del> → <ins>Yes</ins>')
    expect(await begin()).toContain('error')
    await act(name, 'approve', { scope: 'repo-code:r' })
    expect(await begin()).toContain('user_code')
  })

  it('keeps in force what was approved where a change is rejected', async () => {
    const name = await handIn()
    const { client } = await approve(name)
    const newer = await change(name)
    await act(newer, 'reject', { reason: 'Not this' })
    expect(await sectionOf(name)).toBe('Approved')
    expect(await administration()).not.toContain(newer)
    expect(cardOf(await (await ada.get(url('/applications'))).text(), name)).toContain('Not this')
    await tokensFor(client)
  })

  it('shows what is wrong with a change, and where the type would change', async () => {
    const name = await handIn()
    await approve(name)
    const { id = '' } = await formOf(name)
    const answer = await ada.post(url(`/applications/change?id=${id}`), submission({ name, type: 'public' }))
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('id="fault-type">Must stay as it is')
  })
})

describe('stopping', () => {
  it('suspends at once, whatever was handed in meanwhile, and reinstates what was looked at', async () => {
    const name = await handIn()
    const { client } = await approve(name)
    const { access_token } = await tokensFor(client)
    const looked = await formOf(name)
    await change(name, { name })
    const works = async () => (await callApi(demo.api, access_token)).status === 200
    expect(await works()).toBe(true)
    expect((await grace.post(url('/administration'), { ...looked, action: 'suspend' })).status).toBe(303)
    expect(await works()).toBe(false)
    const link = await ada.get(authorizationUrl(client))
    expect(await link.text()).toContain('This link cannot be accessed')
    const outdated = await grace.post(url('/administration'), { ...looked, action: 'reinstate' })
    expect(await refused(outdated)).toContain('look at the application again.')
    expect(await works()).toBe(false)
    expect((await act(name, 'reinstate', {}, 'Suspended')).status).toBe(303)
    expect(await works()).toBe(true)
  })

  it('gives a new secret, shows it once, and lets the old one work on', async () => {
    const name = await handIn()
    const { client } = await approve(name)
    const answer = await act(name, 'rotate', {}, 'Approved')
    const location = locationOf(answer, demo.issuer)
    const rotated = { ...client, ...credentialsIn(await (await grace.get(location)).text()) }
    expect(rotated.client_secret).not.toBe(client.client_secret)
    expect(await (await grace.get(location)).text()).not.toContain(rotated.client_secret)
    for (const each of [client, rotated]) await tokensFor(each)
    const wrong = await ask({ ...client, client_secret: `${client.client_secret}x` }, 'token', {
      grant_type: 'refresh_token',
    })
    expect(wrong.status).toBe(401)
  })
})

let counted = 0
function counter(): string {
  counted += 1
  return String(counted).padStart(3, '0')
}

function url(path: string): string {
  return demo.issuer + path
}

function submission(changes: Record<string, string> = {}): FormData {
  const form = new FormData()
  const fields = {
    name: 'Notes',
    website: 'https://notes.example/',
    description: 'Keeps notes.',
    type: 'confidential',
    redirectUris: 'http://127.0.0.1/callback',
    resourceScope: 'all',
    'permission repo-code': 'rw',
    'reason repo-code': 'To keep them in a repository',
    ...changes,
  }
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('logo', new Blob([LOGO], { type: 'image/png' }), 'logo.png')
  return form
}

/** Hands in an application with a name of its own. */
async function handIn(changes: Record<string, string> = {}): Promise<string> {
  const name = `Notes ${counter()}`
  const answer = await ada.post(url('/applications/new'), submission({ name, ...changes }))
  expect(answer.status).toBe(303)
  return changes['name'] ?? name
}

/** Changes it, its name too, and keeps the logo. */
async function change(name: string, changes: Record<string, string> = {}): Promise<string> {
  const { id = '' } = await formOf(name)
  const newer = changes['name'] ?? `Newer notes ${counter()}`
  const form = submission({ ...changes, name: newer })
  form.set('logo', new Blob([]), 'none') // a browser sends a field for a file that was left empty so, without the name
  expect((await ada.post(url(`/applications/change?id=${id}`), form)).status).toBe(303)
  return newer
}

async function administration(): Promise<string> {
  const answer = await grace.get(url('/administration'))
  expect(answer.status).toBe(200)
  return answer.text()
}

/** The one article that has a text, in a section where that is named. */
function cardOf(page: string, text: string, title = ''): string {
  const sections = page.split('<section>').filter((section) => section.includes(`<h2>${title}`) || title === '')
  return sections.flatMap((section) => section.split('<article')).find((card) => card.includes(text)) ?? ''
}

async function sectionOf(name: string): Promise<string | undefined> {
  const section = (await administration()).split('<section>').find((each) => each.includes(name))
  return /<h2>([^<]*)</.exec(section ?? '')?.[1]
}

async function formOf(name: string, title?: string): Promise<Record<string, string>> {
  return hiddenFields(cardOf(await administration(), name, title))
}

function act(name: string, action: string, form: Record<string, string> = {}, title?: string): Promise<Response> {
  return formOf(name, title).then((fields) => grace.post(url('/administration'), { ...fields, action, ...form }))
}

/** Approves a new application: the page that says so, and the demo with it as the client. */
async function approve(name: string, scope = 'repo-code:rw') {
  const answer = await act(name, 'approve', { scope })
  expect(answer.status).toBe(303)
  const location = locationOf(answer, demo.issuer)
  const page = await (await grace.get(location)).text()
  return { page, location, client: { ...demo, ...credentialsIn(page) } }
}

function credentialsIn(page: string): { client_id: string; client_secret: string } {
  const value = (name: string) => new RegExp(`<dt>${name}[^<]*</dt><dd><code>([^<]*)<`).exec(page)?.[1] ?? ''
  return { client_id: value('client_id'), client_secret: value('client_secret') }
}

/** What a page says that did not do what it was asked. */
async function refused(answer: Response): Promise<string> {
  expect(answer.status).toBe(400)
  return /role="alert">([^<]*)</.exec(await answer.text())?.[1] ?? ''
}

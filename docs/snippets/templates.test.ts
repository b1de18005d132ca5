/**
 * The code of the page "Pages with a template engine": the five pages as templates of Eta.
 * @module
 */
// #region imports
import { readdirSync, readFileSync } from 'node:fs'
import { Eta } from 'eta'
import { createAuthorizationServer } from 'grantwell'
import type { AuthorizedApplication, ConsentPageModel, ErrorPageModel, PageInput, Pages } from 'grantwell/pages'
import { displayText, loadTexts } from 'grantwell/pages'
import { memoryStore } from 'grantwell/storage/memory'
// #endregion imports
import { createFetchHandler } from 'grantwell/fetch'
import { checkPages as checkKept } from 'grantwell/testing'
import { expect, test } from 'vitest'
import { browser, MIRROR, MIRROR_CLIENT, userCodeFrom } from './page-browser.js'

// #region engine
const eta = new Eta({ autoEscape: true })

/** Compiles every template of the folder, so that a wrong syntax in one stops the start of the service. */
const folder = new URL('./templates/', import.meta.url)
for (const file of readdirSync(folder))
  eta.loadTemplate(`@${file.replace('.eta', '')}`, readFileSync(new URL(file, folder), 'utf8'))

/** Renders a template. No file is read. */
const render = (name: string, values: object): string => eta.render(`@${name}`, values)
// #endregion engine

// #region prepare
/** Values that must stay as they are, since the server or the browser reads them again. */
const KEPT = new Set(['form', 'id', 'href', 'logo', 'next', 'stylesheet'])

/** Prepares a model for a template: replaces the characters that would reorder the words around them. */
function forTemplate<Value>(value: Value): Value {
  if (typeof value === 'string') return displayText(value) as Value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(forTemplate) as Value
  const entries = Object.entries(value).map(([name, each]) => [name, KEPT.has(name) ? each : forTemplate(each)])
  return Object.fromEntries(entries)
}
// #endregion prepare

// #region pages
const pages: Pages = {
  consent: ({ model }) => render('consent', forTemplate(model)),
  device: ({ model }) => render('device', forTemplate(model)),
  deviceResult: ({ model }) => render('device-result', forTemplate(model)),
  authorizedApplications: ({ model }) => render('authorized-applications', forTemplate(model)),
  error: ({ model }) => render('error', forTemplate(model)),
}
// #endregion pages

// #region samples
const user = { name: 'Ada' }
const form = { action: '/sample', fields: [{ name: 'request', value: 'sample' }] }
const stylesheet = '/oauth2/style.css'
const scopes = [
  { scope: 'repo-code:r', permission: 'r', description: 'Code' },
  { scope: 'repo-issue:rw', permission: 'rw', description: 'Issues' },
] as const
const audiences = [{ name: 'Packages', resource: 'https://packages.example' }]
const fault = 'Something was wrong.'

/** A model that has every optional field, and one that has none. */
const web = {
  application: {
    name: 'Mirror',
    description: 'Mirrors',
    website: 'https://mirror.example',
    logo: '/logo',
    host: 'mirror.example',
    unchecked: true,
  },
  user,
  scopes,
  audiences,
  resources: {
    choices: ['all', 'public', 'specified'],
    selected: 'specified',
    items: [{ id: 'ada/engine', name: 'Engine', checked: true }],
    notShown: 2,
  },
  form,
  stylesheet,
  fault,
  redirectHost: 'mirror.example',
} satisfies ConsentPageModel
const device = {
  application: { name: 'Tool', website: '' },
  user,
  scopes: [],
  resources: { choices: ['all'], selected: 'all', items: [] },
  form,
  stylesheet,
  userCode: 'WDJB-MJHT',
} satisfies ConsentPageModel

const shown = { kind: 'specified', items: ['Engine'], notShown: 2, isMore: true } as const
const grant = {
  scopes,
  resources: { kind: 'all', items: [] },
  createdAt: 1_700_000_000,
  expiresAt: 1_700_000_000,
} as const
const listed: AuthorizedApplication = {
  ...web.application,
  suspended: true,
  grants: [{ ...grant, resources: shown, audiences, lastUsedAt: 1_700_000_000 }, grant],
  older: { count: 3, scopes, audiences, resources: [shown, grant.resources] },
  form,
}
const bare: AuthorizedApplication = { ...device.application, suspended: false, grants: [grant], form }
const failed: ErrorPageModel = { code: 'link', title: 'A title', message: 'A message.', stylesheet }
// #endregion samples

// #region check
/** The rest of what a page gets: the language of the reader, its texts, and the request. */
const beside = {
  locale: 'en',
  appearance: {},
  texts: await loadTexts('en'),
  request: { method: 'GET', url: '/', headers: {}, native: undefined },
}
const inputOf = <Model>(model: Model): PageInput<Model> => ({ model, ...beside })

/** Renders each page with sample models. Throws if a template fails, or shows a field that is not there. */
async function checkPages(pages: Pages): Promise<void> {
  const list = { user, stylesheet, more: false }
  const rendered = [
    ...[web, device].map((model) => ['consent', pages.consent(inputOf(model))] as const),
    ...[
      { complete: false },
      { complete: false, userCode: 'WDJB', fault },
      { complete: true, userCode: 'WDJB-MJHT' },
    ].map((each) => ['device', pages.device(inputOf({ user, form, stylesheet, ...each }))] as const),
    ...(['agree', 'refuse'] as const).map(
      (decision) =>
        ['deviceResult', pages.deviceResult(inputOf({ decision, application: { name: 'Tool' }, stylesheet }))] as const,
    ),
    ...[
      { ...list, applications: [] },
      { ...list, applications: [listed, bare], next: '/next', more: true, isIncomplete: true as const },
    ].map((model) => ['authorizedApplications', pages.authorizedApplications(inputOf(model))] as const),
    ...[failed, { ...failed, link: { href: '/sign-in', text: 'Sign in' } }].map(
      (model) => ['error', pages.error(inputOf(model))] as const,
    ),
  ]
  for (const [name, page] of rendered) {
    const [wrong] = /undefined|NaN|Invalid Date|\[object Object\]/.exec(await page) ?? []
    if (wrong !== undefined) throw new Error(`the page ${name} shows "${wrong}": look for a wrong name in its template`)
  }
}

await checkPages(pages) // before the server starts
// #endregion check

const told: unknown[] = []
const onError = (error: unknown) => told.push(error)
let present = true
const userOf = (_request: Request | undefined) => (present ? { subject: 'ada', name: 'Ada \u202e& Co' } : undefined)
const resources = () => [{ id: 'ada/engine' }, { id: 'ada/notes"', name: 'Notes <b>' }]

// #region server
const store = memoryStore() // everything is gone when the process ends

const server = createAuthorizationServer<Request>({
  issuer: 'https://git.example',
  store,
  user: (request) => userOf(request.native),
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
  resources,
  pages,
  onError,
})
// #endregion server

const handle = createFetchHandler(server)
const CONSENT = '/oauth2/auth?response_type=code&client_id=mirror&state=%E2%80%AEs%22'
const AGREED = [
  ['decision', 'agree'],
  ['resource_scope', 'specified'],
  ['resource', 'ada/notes"'],
] as const

await server.applications.register(MIRROR, MIRROR_CLIENT)

test('the five templates work, from the consent to the end of the access', async () => {
  const ada = browser(handle)
  const { page } = await ada.open(CONSENT)
  expect(page).toContain('Says &lt;i&gt;hello&lt;/i&gt;')
  expect(page).toContain('Ada \ufffd&amp; Co')
  expect(page).toContain('value="ada/notes&quot;"')
  expect(page).toContain('Notes &lt;b&gt;')
  const nothing = await ada.submit([
    ['decision', 'agree'],
    ['resource_scope', 'specified'],
  ])
  expect(nothing.answer.status).toBe(400)
  expect(nothing.page).toContain('role="alert">Choose which resources')
  const location = (await ada.submit(AGREED)).answer.headers.get('location') ?? ''
  expect(new URL(location).searchParams.get('state')).toBe('\u202es"')

  expect((await ada.open(`/oauth2/device?user_code=${await userCodeFrom(handle)}`)).page).toContain(
    'shows the same code',
  )
  await ada.open('/oauth2/device')
  expect((await ada.submit([['user_code', 'WDJB-MJHT']])).page).toContain('This code is not known')
  expect((await ada.submit([['user_code', await userCodeFrom(handle)]])).page).toContain(
    'your own device shows the code',
  )
  expect((await ada.submit(AGREED)).page).toContain('is connected')
  await ada.open('/oauth2/device')
  await ada.submit([['user_code', await userCodeFrom(handle)]])
  expect((await ada.submit([['decision', 'refuse']])).page).toContain('Nothing was shared')

  const listed = await ada.open('/oauth2/applications')
  expect(listed.page.match(/Permitted on/g)).toHaveLength(2)
  expect(listed.page).toContain('<bdi>Notes &lt;b&gt;</bdi>')
  const revoked = (await ada.submit()).page
  expect(revoked).toContain('role="status">Access was revoked: 1 application.')
  expect(revoked).toContain('No application has access')
  expect(told).toEqual([])
})

test('the list of applications shows the permissions before the newest ones, and what cannot be shown', async () => {
  const ada = browser(handle)
  for (let times = 0; times < 120; times++) {
    await ada.open(CONSENT)
    await ada.submit(AGREED)
  }
  const { page } = await ada.open('/oauth2/applications')
  expect(page).toMatch(/Permitted before, \d+ times in all/)
  const model = { kind: 'specified', items: ['a'], notShown: 2, isMore: true }
  expect(render('permission', { scopes: [], places: [model] })).toContain('2 or more others cannot be shown')
  expect(told).toEqual([])
})

test('the error page leads to the sign-in', async () => {
  const ada = browser(handle)
  expect((await ada.open('/oauth2/auth?client_id=nobody')).page).toContain('<h1>This link cannot be accessed</h1>')
  await ada.open(CONSENT)
  present = false
  const { page } = await ada.submit(AGREED)
  present = true
  expect(page).toContain('<a href="/sign-in?return_to=')
  expect(told).toEqual([])
})

test('the templates keep everything that a page must keep', async () => {
  await checkKept(pages)
})

test('a wrong syntax is found when a template is compiled', () => {
  expect(() => new Eta().loadTemplate('@wrong', '<% if (it.user) { %>')).toThrow()
})

test('a wrong name is found by the check, in whatever page and field it is', async () => {
  const from = (template: string) => {
    eta.loadTemplate('@wrong', template)
    return ({ model }: PageInput<object>) => eta.render('@wrong', model)
  }
  for (const template of ['<%= it.titel %>', '<%= it.user?.nmae %>', '<%= it %>'])
    for (const name of Object.keys(pages) as (keyof Pages)[]) // of an object of this file
      await expect(checkPages({ ...pages, [name]: from(template) })).rejects.toThrow(`the page ${name} shows "`)
  await expect(checkPages({ ...pages, error: from('<%= it.likn.href %>') })).rejects.toThrow()
  await expect(checkPages({ ...pages, error: async () => 'undefined' })).rejects.toThrow('the page error shows "')
})

test('the templates show the logo, the host and the warning, and no link without an address', () => {
  const consent = pages.consent(inputOf(web))
  expect(consent).toContain('<img class="logo" src="/logo"')
  expect(consent).toContain('<bdi>mirror.example</bdi> calls itself <bdi>Mirror</bdi> and wants')
  expect(consent).toContain('This application registered itself')
  expect(consent).toContain('<a href="https://mirror.example"')
  const bareConsent = pages.consent(inputOf(device))
  const list = { user, stylesheet, more: false }
  const absent = ['<img', 'calls itself', 'Website', '<a ']
  for (const each of [...absent, 'registered itself']) expect(bareConsent).not.toContain(each)
  for (const each of absent) {
    expect(pages.authorizedApplications(inputOf({ ...list, applications: [listed] }))).toContain(each)
    expect(pages.authorizedApplications(inputOf({ ...list, applications: [bare] }))).not.toContain(each)
  }
})

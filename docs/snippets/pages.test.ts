/**
 * The code of the page "Pages of your own".
 * @module
 */
// #region imports
import { createAuthorizationServer } from 'grantwell'
import { createFetchHandler } from 'grantwell/fetch'
import type { ConsentPageModel, PageInput } from 'grantwell/pages'
import { displayText, html, renderHtml, stylesheet } from 'grantwell/pages'
import { memoryStore } from 'grantwell/storage/memory'
// #endregion imports
// #region express-imports
import express from 'express'
import { createNodeHandler } from 'grantwell/node'
// #endregion express-imports
// #region http-imports
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
// #endregion http-imports
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AuthorizationServer } from 'grantwell'
import { loadTexts } from 'grantwell/pages'
import { expect, test } from 'vitest'
import { LOGO, MIRROR, MIRROR_CLIENT } from './page-browser.js'

// #region consent
const CHOICES = {
  all: 'Everything in your account',
  public: 'Only what is public',
  specified: 'Only what you choose here',
}

/** Writes the consent page, for a web application and for a device. */
function consentPage({ model }: PageInput<ConsentPageModel>): string {
  const { application, user, resources, audiences = [], form, fault } = model
  const { host, website } = application
  const name = html`<bdi>${displayText(application.name)}</bdi>`
  const calledBy = host === undefined ? undefined : html`<bdi>${host}</bdi> calls itself `
  const answerTo =
    model.userCode === undefined
      ? html`<p>Your answer goes to <bdi>${model.redirectHost}</bdi>.</p>`
      : html`<p>Agree only if your own device shows the code <b>${model.userCode}</b>.</p>`
  return renderHtml(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Access for ${displayText(application.name)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${model.stylesheet}">
</head>
<body>
<main>
${fault === undefined ? undefined : html`<p class="fault" role="alert">${fault}</p>`}
${application.logo === undefined ? undefined : html`<img class="logo" src="${application.logo}" alt="" width="56" height="56">`}
<h1>${calledBy}${name} asks for access to the account <bdi>${displayText(user.name)}</bdi></h1>
${application.unchecked === true ? html`<p class="warning">It registered itself, and nobody here has checked its name.</p>` : undefined}
${website === '' ? undefined : html`<p>Its website is <a href="${website}" rel="noreferrer noopener">${website}</a>.</p>`}
${application.description === undefined ? undefined : html`<blockquote>${displayText(application.description)}</blockquote>`}
${audiences.map((each) => html`<p>It works only at <bdi>${displayText(each.name)}</bdi> (${each.resource}).</p>`)}
<ul>
${model.scopes.map((each) => html`<li>${each.permission === 'rw' ? 'Change' : 'Read'}: ${each.description}</li>`)}
</ul>
<form method="post" action="${form.action}" autocomplete="off">
<input type="submit" formmethod="dialog" formnovalidate hidden>
${form.fields.map((field) => html`<input type="hidden" name="${field.name}" value="${field.value}">`)}
${resourceFields(resources)}
${answerTo}
<button type="submit" name="decision" value="agree">Agree</button>
<button type="submit" name="decision" value="refuse" formnovalidate>Refuse</button>
</form>
</main>
</body>
</html>`)
}
// #endregion consent

// #region resources
/** Writes the fields by which the user says where the application may act. */
function resourceFields({ choices, selected, items, notShown = 0 }: ConsentPageModel['resources']) {
  const kinds = choices.map((kind) => {
    const checked = kind === selected ? html` checked` : undefined
    const field = html`<input type="radio" name="resource_scope" value="${kind}" required${checked}>`
    return html`<p><label>${field} ${CHOICES[kind]}</label></p>`
  })
  const boxes = items.map(({ id, name, checked }) => {
    const field = html`<input type="checkbox" name="resource" value="${id}"${checked ? html` checked` : undefined}>`
    return html`<p><label>${field} <bdi>${displayText(name)}</bdi></label></p>`
  })
  const more = notShown > 0 ? html`<p>You have ${notShown} more, which cannot be chosen here.</p>` : undefined
  return html`${kinds}${choices.includes('specified') ? html`<fieldset>${boxes}${more}</fieldset>` : undefined}`
}
// #endregion resources

/** What a page gets beside its model. */
const beside = {
  locale: 'en',
  appearance: {},
  texts: await loadTexts('en'),
  request: { method: 'GET', url: '/', headers: {}, native: undefined },
}

const failures: unknown[] = []
const onError = (error: unknown) => failures.push(error)

// #region server
const store = memoryStore() // everything is gone when the process ends

const server = createAuthorizationServer<Request>({
  issuer: 'https://git.example',
  store,
  user: (request) => userOf(request.native),
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
  resources: () => [{ id: 'ada/engine' }, { id: 'ada/notes', name: 'Notes' }],
  pages: { consent: consentPage },
  onError,
})
// #endregion server

// #region stylesheet
const oauth = createFetchHandler(server)

const ownStylesheet = `${stylesheet}
:root { --primary: #5b2bb5; --primary-hover: #4a2296; --link: #5b2bb5; }
@media (prefers-color-scheme: dark) { :root { --link: #c4a8ff; } }
`

/** Serves the stylesheet with colours of the service, and everything else of the server as it is. */
async function handle(request: Request): Promise<Response> {
  if (new URL(request.url).pathname === '/oauth2/style.css')
    return new Response(ownStylesheet, { headers: { 'Content-Type': 'text/css; charset=utf-8' } })
  return oauth(request)
}
// #endregion stylesheet

/** Starts the same service in Express. */
function startExpress(server: AuthorizationServer<IncomingMessage>) {
  // #region express
  const app = express()
  app.get('/oauth2/style.css', (_request, response) => {
    response.type('css').send(ownStylesheet)
  })
  app.use(createNodeHandler(server))
  // #endregion express
  return app.listen(0, '127.0.0.1')
}

/** Makes a service on `node:http` whose pages have a stylesheet of their own. */
function createHttpService(server: AuthorizationServer<IncomingMessage>) {
  // #region own-stylesheet
  const css = readFileSync(new URL('./pages.css', import.meta.url))
  const oauth = createNodeHandler(server)

  const service = createServer((request, response) => {
    oauth(request, response, () => {
      const [path] = (request.url ?? '').split('?')
      if (path === '/assets/pages.css')
        response.writeHead(200, { 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': 'max-age=3600' }).end(css)
      else response.writeHead(404).end() // your sign-in page and your routes
    })
  })
  // #endregion own-stylesheet
  return service.listen(0, '127.0.0.1')
}

function userOf(request: Request) {
  return request.headers.get('x-demo-user') === null ? undefined : { subject: 'ada', name: '<Ada>' }
}

async function register(of: typeof server) {
  await of.applications.register(MIRROR, MIRROR_CLIENT)
}

type Field = [name: string, value: string]

const ASKED = 'https://git.example/oauth2/auth?response_type=code&client_id=mirror&state=s'

/** Opens the consent page, and gives the fields of its form and the cookie of the browser. */
async function open() {
  const response = await handle(new Request(ASKED, { headers: { 'x-demo-user': 'ada' } }))
  const page = await response.text()
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(
    ([, name = '', value = '']): Field => [name, value.replaceAll('&amp;', '&')],
  )
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return { response, page, fields, cookie }
}

function submit(fields: Field[], cookie: string) {
  const headers = { 'x-demo-user': 'ada', cookie }
  return handle(
    new Request('https://git.example/oauth2/auth', { method: 'POST', headers, body: new URLSearchParams(fields) }),
  )
}

test('the page shows what is asked, escaped, and its form gives a code', async () => {
  await register(server)
  const { response, page, fields, cookie } = await open()
  expect(response.status).toBe(200)
  expect(page).toContain('Says &lt;i&gt;hello&lt;/i&gt;')
  expect(page).toContain('&lt;Ada&gt;')
  expect(page).toContain('<li>Change: Repository code through Git commands</li>')
  expect(fields.map(([name]) => name)).toEqual(['request', 'consent'])
  const agreed: Field[] = [...fields, ['decision', 'agree'], ['resource_scope', 'specified'], ['resource', 'ada/notes']]
  const answer = await submit(agreed, cookie)
  expect(answer.status).toBe(302)
  expect(new URL(answer.headers.get('location') ?? '').searchParams.get('code')).toMatch(/^gwc_/)
})

test('the headers of a page are the ones that the guide shows', async () => {
  const { response } = await open()
  const guide = await readFile(new URL('../guides/pages.md', import.meta.url), 'utf8')
  const [, fence = ''] = /```http\n(Content-Type.*?)```/s.exec(guide) ?? []
  const headers = fence.trim().split('\n')
  expect(headers.length).toBe(8)
  for (const header of headers) {
    const [name = '', value] = header.split(/: (.*)/)
    expect(response.headers.get(name), name).toBe(value)
  }
})

test('form-action has the sources that the guide names', async () => {
  const { clientId } = await server.applications.register({
    name: 'Tool',
    logo: LOGO,
    website: 'https://tool.example',
    type: 'public',
    redirectUris: ['http://127.0.0.1/callback', 'com.example.app:/callback'],
    scopes: ['account-profile:r'],
    resourceScope: 'all',
  })
  const ask = async (query: string) => {
    const challenge = `&code_challenge_method=S256&code_challenge=${'a'.repeat(43)}`
    const url = `https://git.example/oauth2/${query}${challenge}`
    const answer = await handle(new Request(url, { headers: { 'x-demo-user': 'ada' } }))
    return /form-action ([^;]*)/.exec(answer.headers.get('content-security-policy') ?? '')?.[1]
  }
  const uri = (redirect: string) =>
    `auth?response_type=code&state=s&client_id=${clientId}&redirect_uri=${encodeURIComponent(redirect)}`
  expect(await ask(uri('http://127.0.0.1:8123/callback'))).toBe("'self' http: https:")
  expect(await ask(uri('com.example.app:/callback'))).toBe("'self' com.example.app: https:")
  expect(await ask('auth?client_id=nobody')).toBe("'self'")
  expect(await ask('device?')).toBe("'self'")
  expect(await ask('applications?')).toBe("'self'")
})

test('a wrong decision, a wrong resource_scope and a long body are answered as the guide says', async () => {
  const { fields, cookie } = await open()
  for (const decision of [[], [['decision', 'yes']]] as Field[][]) {
    const answer = await submit([...fields, ...decision, ['resource_scope', 'all']], cookie)
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('This form was sent before')])
  }
  const withoutRequest = await submit([...fields.slice(1), ['decision', 'agree'], ['resource_scope', 'all']], cookie)
  expect(await withoutRequest.text()).toContain('The link that brought you here is incomplete')
  for (const choice of [[], [['resource_scope', 'everything']]] as Field[][]) {
    const answer = await submit([...fields, ['decision', 'agree'], ...choice], cookie)
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('Choose which resources')])
  }
  const long = await submit([...fields, ['decision', 'agree'], ['resource', 'a'.repeat(70_000)]], cookie)
  expect([long.status, await long.text()]).toEqual([413, expect.stringContaining('This link cannot be accessed')])
})

test('a page that gives an empty string is sent as it is', async () => {
  const empty = createAuthorizationServer<Request>({
    issuer: 'https://git.example',
    store,
    user: () => ({ subject: 'ada' }),
    signInUrl: () => '/sign-in',
    pages: { consent: () => '' },
  })
  const answer = await createFetchHandler(empty)(new Request(ASKED))
  expect([answer.status, await answer.text()]).toEqual([200, ''])
})

test('a form of a user who was signed out gets the error page with a link', async () => {
  const { fields, cookie } = await open()
  const body = new URLSearchParams([...fields, ['decision', 'agree']])
  const answer = await handle(
    new Request('https://git.example/oauth2/auth', { method: 'POST', headers: { cookie }, body }),
  )
  expect([answer.status, answer.headers.get('refresh')]).toEqual([403, expect.stringMatching(/^0;url=\/sign-in\?/)])
  expect(await answer.text()).toMatch(/<a href="\/sign-in\?[^"]*">Sign in<\/a>/)
})

test('Express serves the stylesheet of the service', async () => {
  const web = startExpress(server as unknown as AuthorizationServer<IncomingMessage>)
  await new Promise((listening) => web.once('listening', listening))
  const { port } = web.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}/oauth2/style.css`)
  expect([answer.headers.get('content-type'), await answer.text()]).toEqual([
    'text/css; charset=utf-8',
    expect.stringContaining('--primary: #5b2bb5'),
  ])
  await new Promise((closed) => web.close(closed))
})

test('a form that lacks a hidden field is refused, and one without a choice comes back with the fault', async () => {
  const { fields, cookie } = await open()
  const [request = ['', ''], consent = ['', '']] = fields
  const without = await submit([request, ['decision', 'agree'], ['resource_scope', 'all']], cookie)
  expect([without.status, await without.text()]).toEqual([400, expect.stringContaining('This form was sent before')])
  const chosen: Field[] = [request, consent, ['decision', 'agree'], ['resource_scope', 'specified']]
  const faulty = await submit(chosen, cookie)
  expect([faulty.status, await faulty.text()]).toEqual([400, expect.stringContaining('class="fault"')])
  const refused = await submit([request, consent, ['decision', 'refuse']], cookie)
  expect(refused.headers.get('location')).toContain('error=access_denied')
})

test('an unknown resource is refused, and the choices that are valid stay', async () => {
  const { fields, cookie } = await open()
  const agree = async (...chosen: Field[]) => {
    const answer = await submit([...fields, ['decision', 'agree'], ...chosen], cookie)
    const page = await answer.text()
    const checked = [...page.matchAll(/name="resource(?:_scope)?" value="([^"]+)"[^>]* checked>/g)].map(([, id]) => id)
    return { status: answer.status, fault: page.includes('Choose which resources'), checked }
  }
  const specified: Field = ['resource_scope', 'specified']
  expect(await agree(specified, ['resource', 'ada/notes'], ['resource', 'ada/gone'])).toEqual({
    status: 400,
    fault: true,
    checked: ['specified', 'ada/notes'],
  })
  expect(await agree(['resource_scope', 'everything'], ['resource', 'ada/notes'])).toEqual({
    status: 400,
    fault: true,
    checked: ['all', 'ada/notes'],
  })
})

test('the page shows the logo, the host and the warning, and no link without an address', () => {
  const model: ConsentPageModel = {
    application: { name: 'Tool', website: '', logo: '/logo', host: 'tool.example', unchecked: true },
    user: { name: 'ada' },
    scopes: [],
    resources: { choices: ['all'], selected: 'all', items: [] },
    form: { action: '/oauth2/auth', fields: [] },
    stylesheet: '/oauth2/style.css',
    redirectHost: 'tool.example',
  }
  const page = consentPage({ ...beside, model })
  expect(page).toContain('<img class="logo" src="/logo"')
  expect(page).toContain('<bdi>tool.example</bdi> calls itself <bdi>Tool</bdi>')
  expect(page).toContain('It registered itself')
  expect(page).not.toContain('website')
})

test('node:http serves a stylesheet of its own, at a path that the handler leaves to the service', async () => {
  const web = createHttpService(server as unknown as AuthorizationServer<IncomingMessage>)
  await new Promise((listening) => web.once('listening', listening))
  const { port } = web.address() as AddressInfo
  const [own, below] = await Promise.all(
    ['/assets/pages.css', '/oauth2/pages.css'].map((path) => fetch(`http://127.0.0.1:${port}${path}`)),
  )
  expect([own?.status, own?.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8'])
  expect(await own?.text()).toContain('main {')
  expect([below?.status, below?.headers.get('content-type')]).toEqual([404, expect.not.stringContaining('css')])
  await new Promise((closed) => web.close(closed))
})

test('the same page serves a device', () => {
  const model: ConsentPageModel = {
    application: { name: 'Tool', website: 'https://tool.example' },
    user: { name: 'ada' },
    scopes: [],
    resources: { choices: ['all'], selected: 'all', items: [] },
    form: { action: '/oauth2/device', fields: [] },
    stylesheet: '/oauth2/style.css',
    userCode: 'WDJB-MJHT',
  }
  expect(consentPage({ ...beside, model })).toContain('your own device shows the code <b>WDJB-MJHT</b>')
})

test('the stylesheet has the colours of the service behind the default ones', async () => {
  const text = await (await handle(new Request('https://git.example/oauth2/style.css'))).text()
  expect(text.lastIndexOf('--primary: #5b2bb5')).toBeGreaterThan(text.lastIndexOf('--primary: #23794a'))
})

test('the table of the guide has every custom property with its colours', async () => {
  const guide = await readFile(new URL('../guides/pages.md', import.meta.url), 'utf8')
  const rows = [...guide.matchAll(/^\| `(--[a-z-]+)` \| [^|]* \| `(#\w+)` \| `(#\w+)` \|$/gm)].map(
    ([, name, light, dark]) => [name, light, dark],
  )
  const declared = [...stylesheet.matchAll(/^ +(--[a-z-]+): (#\w+);/gm)]
  const names = [...new Set(declared.map(([, name]) => name))]
  const colours = names.map((name) => {
    const [light, dark = light] = declared.filter((each) => each[1] === name).map((each) => each[2])
    return [name, light, dark]
  })
  expect(rows).toEqual(colours)
})

test('a page that gives no text is told to onError, and the user gets the error page', async () => {
  const told: unknown[] = []
  const broken = createAuthorizationServer<Request>({
    issuer: 'https://git.example',
    store,
    user: () => ({ subject: 'ada' }),
    signInUrl: () => '/sign-in',
    pages: { consent: (async () => 7) as unknown as typeof consentPage },
    onError: (error) => told.push(error),
  })
  const answer = await createFetchHandler(broken)(new Request(ASKED))
  expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining('The service is busy')])
  expect(told.map(String)).toEqual([
    expect.stringContaining('pages.consent() must give a string of HTML, or a promise of one; got a number'),
  ])
})

test('a page may be async', async () => {
  const later = createAuthorizationServer<Request>({
    issuer: 'https://git.example',
    store,
    user: () => ({ subject: 'ada' }),
    signInUrl: () => '/sign-in',
    pages: { consent: async (input) => consentPage(input) },
  })
  const answer = await createFetchHandler(later)(new Request(ASKED))
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('asks for access')])
})

test('an unknown page is refused at start', () => {
  const start = () =>
    createAuthorizationServer({
      issuer: 'https://git.example',
      store,
      user: () => undefined,
      signInUrl: () => '/sign-in',
      pages: { consents: consentPage } as object,
    })
  expect(start).toThrow(/pages: .*consents/)
})

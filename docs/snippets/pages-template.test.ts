/**
 * The code of the page "Pages of your own": all five pages, in two languages.
 * @module
 */
// #region imports
import { createAuthorizationServer, scopeCatalogue } from 'grantwell'
import { createFetchHandler } from 'grantwell/fetch'
import type {
  AuthorizedApplication,
  AuthorizedApplicationsPageModel,
  AuthorizedResources,
  ConsentPageModel,
  ConsentScope,
  DevicePageModel,
  DeviceResultPageModel,
  ErrorPageModel,
  Pages,
  SafeHtml,
} from 'grantwell/pages'
import { displayText, html, renderHtml } from 'grantwell/pages'
import { memoryStore } from 'grantwell/storage/memory'
// #endregion imports
import type { IncomingMessage } from 'node:http'
import express from 'express'
import type { AuthorizationServerOptions } from 'grantwell'
import { createNodeHandler } from 'grantwell/node'
import type { PageInput } from 'grantwell/pages'
import { countedText, fillText, loadTexts } from 'grantwell/pages'
// #region check-imports
import { checkPages } from 'grantwell/testing'
import { expect, test } from 'vitest'
// #endregion check-imports
import { listen } from '../../test/adapters/http.js'
import { browser, MIRROR, MIRROR_CLIENT, userCodeFrom } from './page-browser.js'
import { readPage } from './page-words.js'

// #region words
type Language = 'en' | 'de'

const ENGLISH = {
  accessFor: 'Access for',
  signedIn: 'Signed in as',
  wants: 'wants to access your account',
  callsItself: 'calls itself',
  unchecked: 'This application registered itself, and nobody here has checked its name.',
  worksAt: 'Works only at',
  saysOfItself: 'The application says about itself',
  website: 'Website',
  answerTo: 'Your answer goes to',
  compare: 'Agree only if your own device shows the code',
  r: 'Read',
  rw: 'Read and change',
  where: 'Where may it do this?',
  all: 'Everything in your account',
  public: 'Only what is public',
  specified: 'Only what you choose here',
  notShown: 'More, which cannot be shown here:',
  orMore: 'or more',
  agree: 'Agree',
  refuse: 'Refuse',
  device: 'Connect a device',
  ownDevice: 'Only use a code from a device that is yours and in front of you.',
  code: 'Code on your device',
  same: 'Go on only if your device shows the same code:',
  goOn: 'Continue',
  agreed: 'Your device is connected. Go back to it.',
  refused: 'Nothing was shared. You can close this page.',
  applications: 'Authorized applications',
  none: 'No application has access to your account.',
  suspended: 'The administrators stopped it.',
  permitted: 'Permitted on',
  lastUsed: 'last used on',
  ends: 'ends unless it is renewed on',
  before: 'Permitted before, in all (times):',
  revoke: 'Revoke access',
  next: 'More applications',
  more: 'There are more applications than these pages show.',
  incomplete: 'Some applications cannot be shown at present.',
}

const GERMAN: typeof ENGLISH = {
  accessFor: 'Zugriff für',
  signedIn: 'Angemeldet als',
  wants: 'möchte auf Ihr Konto zugreifen',
  callsItself: 'nennt sich',
  unchecked: 'Diese Anwendung hat sich selbst registriert, und niemand hier hat ihren Namen geprüft.',
  worksAt: 'Gilt nur bei',
  saysOfItself: 'Die Anwendung sagt über sich',
  website: 'Webseite',
  answerTo: 'Ihre Antwort geht an',
  compare: 'Stimmen Sie nur zu, wenn Ihr eigenes Gerät diesen Code zeigt:',
  r: 'Lesen',
  rw: 'Lesen und ändern',
  where: 'Wo darf sie das?',
  all: 'Überall in Ihrem Konto',
  public: 'Nur bei Öffentlichem',
  specified: 'Nur bei dem, was Sie hier wählen',
  notShown: 'Weitere, die hier nicht gezeigt werden können:',
  orMore: 'oder mehr',
  agree: 'Zustimmen',
  refuse: 'Ablehnen',
  device: 'Ein Gerät verbinden',
  ownDevice: 'Nehmen Sie nur einen Code von einem Gerät, das Ihnen gehört und vor Ihnen steht.',
  code: 'Code auf Ihrem Gerät',
  same: 'Weiter nur, wenn Ihr Gerät denselben Code zeigt:',
  goOn: 'Weiter',
  agreed: 'Ihr Gerät ist verbunden. Gehen Sie zu ihm zurück.',
  refused: 'Es wurde nichts weitergegeben. Sie können diese Seite schließen.',
  applications: 'Anwendungen mit Zugriff',
  none: 'Keine Anwendung hat Zugriff auf Ihr Konto.',
  suspended: 'Die Betreiber haben sie angehalten.',
  permitted: 'Erlaubt am',
  lastUsed: 'zuletzt benutzt am',
  ends: 'endet, wenn sie nicht erneuert wird, am',
  before: 'Früher erlaubt, zusammen (Male):',
  revoke: 'Zugriff entziehen',
  next: 'Weitere Anwendungen',
  more: 'Es gibt mehr Anwendungen, als diese Seiten zeigen.',
  incomplete: 'Einige Anwendungen können gerade nicht gezeigt werden.',
}

const WORDS = { en: ENGLISH, de: GERMAN }
// #endregion words

// #region parts
/** Writes a text of a stranger. `<bdi>` and `displayText` keep it from reordering the words around it. */
const shown = (text: string) => html`<bdi>${displayText(text)}</bdi>`

const day = (language: Language, seconds: number) =>
  new Date(seconds * 1000).toLocaleDateString(language, { dateStyle: 'long', timeZone: 'UTC' })

/** Writes the frame of every page. The stylesheet may be another one of this origin. */
function layOut(language: Language, title: string, stylesheet: string, body: SafeHtml): string {
  return renderHtml(html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<title>${displayText(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<main>
${body}
</main>
</body>
</html>`)
}

const signedIn = (language: Language, user: { readonly name: string }) =>
  html`<p>${WORDS[language].signedIn} ${shown(user.name)}</p>`

const faultNote = (fault: string | undefined) =>
  fault === undefined ? undefined : html`<p class="fault" role="alert">${fault}</p>`

const hidden = (fields: ConsentPageModel['form']['fields']) =>
  html`${fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`)}`

const scopeList = (language: Language, scopes: readonly ConsentScope[]) =>
  html`<ul>${scopes.map((each) => html`<li>${WORDS[language][each.permission]}: ${each.description}</li>`)}</ul>`
// #endregion parts

// #region consent
function consentPage(language: Language, model: ConsentPageModel): string {
  const words = WORDS[language]
  const { application, form, audiences = [] } = model
  const { host, website, logo } = application
  const answerTo =
    model.userCode === undefined
      ? html`<p>${words.answerTo} ${shown(model.redirectHost)}.</p>`
      : html`<p>${words.compare} <b>${model.userCode}</b></p>`
  const body = html`${signedIn(language, model.user)}
${faultNote(model.fault)}
${logo === undefined ? undefined : html`<img class="logo" src="${logo}" alt="" width="56" height="56">`}
<h1>${host === undefined ? undefined : html`${shown(host)} ${words.callsItself} `}${shown(application.name)} ${words.wants}</h1>
${application.unchecked === true ? html`<p class="warning">${words.unchecked}</p>` : undefined}
${application.description === undefined ? undefined : html`<p>${words.saysOfItself}: ${shown(application.description)}</p>`}
${website === '' ? undefined : html`<p>${words.website}: <a href="${website}" rel="noreferrer noopener">${website}</a></p>`}
${audiences.map(({ name, resource }) => html`<p>${words.worksAt}: ${shown(name)} (${resource})</p>`)}
${scopeList(language, model.scopes)}
<form method="post" action="${form.action}" autocomplete="off">
<input type="submit" formmethod="dialog" formnovalidate hidden>
${hidden(form.fields)}
${resourceFields(language, model.resources)}
${answerTo}
<button type="submit" name="decision" value="agree">${words.agree}</button>
<button type="submit" name="decision" value="refuse" formnovalidate>${words.refuse}</button>
</form>`
  return layOut(language, `${words.accessFor} ${application.name}`, model.stylesheet, body)
}

function resourceFields(language: Language, { choices, selected, items, notShown }: ConsentPageModel['resources']) {
  const words = WORDS[language]
  const kinds = choices.map((kind) => {
    const checked = kind === selected ? html` checked` : undefined
    return html`<p><label><input type="radio" name="resource_scope" value="${kind}" required${checked}> ${words[kind]}</label></p>`
  })
  const boxes = items.map(({ id, name, checked }) => {
    const field = html`<input type="checkbox" name="resource" value="${id}"${checked ? html` checked` : undefined}>`
    return html`<p><label>${field} ${shown(name)}</label></p>`
  })
  return html`<fieldset><legend>${words.where}</legend>${kinds}
${choices.includes('specified') ? html`${boxes}` : undefined}
${notShown === undefined ? undefined : html`<p>${words.notShown} ${notShown}</p>`}</fieldset>`
}
// #endregion consent

// #region device
function devicePage(language: Language, model: DevicePageModel): string {
  const words = WORDS[language]
  const { userCode = '', complete, form } = model
  const code = complete
    ? html`<p>${words.same} <b>${userCode}</b></p><input type="hidden" name="user_code" value="${userCode}">`
    : html`<p><label>${words.code} <input name="user_code" value="${userCode}" required maxlength="64" autocomplete="off"></label></p>`
  const body = html`${signedIn(language, model.user)}
${faultNote(model.fault)}
<h1>${words.device}</h1>
<p>${words.ownDevice}</p>
<form method="post" action="${form.action}" autocomplete="off">
${hidden(form.fields)}
${code}
<button type="submit">${words.goOn}</button>
</form>`
  return layOut(language, words.device, model.stylesheet, body)
}

function deviceResultPage(language: Language, { decision, application, stylesheet }: DeviceResultPageModel): string {
  const words = WORDS[language]
  const text = decision === 'agree' ? words.agreed : words.refused
  return layOut(language, text, stylesheet, html`<h1>${text}</h1><p>${shown(application.name)}</p>`)
}
// #endregion device

// #region applications
function applicationsPage(language: Language, model: AuthorizedApplicationsPageModel): string {
  const words = WORDS[language]
  const { applications, notice, next } = model
  const isEmpty = applications.length === 0 && model.isIncomplete === undefined
  const body = html`${signedIn(language, model.user)}
${notice === undefined ? undefined : html`<p role="status">${notice}</p>`}
<h1>${words.applications}</h1>
${isEmpty ? html`<p>${words.none}</p>` : undefined}
${applications.map((each) => applicationSection(language, each))}
${next === undefined ? undefined : html`<p><a href="${next}">${words.next}</a></p>`}
${model.more ? html`<p>${words.more}</p>` : undefined}
${model.isIncomplete === true ? html`<p>${words.incomplete}</p>` : undefined}`
  return layOut(language, words.applications, model.stylesheet, body)
}

function applicationSection(language: Language, application: AuthorizedApplication): SafeHtml {
  const words = WORDS[language]
  const { name, website, suspended, older, form } = application
  const grants = application.grants.map(({ scopes, resources, createdAt, lastUsedAt, expiresAt }) => {
    const used = lastUsedAt === undefined ? undefined : html`, ${words.lastUsed} ${day(language, lastUsedAt)}`
    const ends = html`, ${words.ends} ${day(language, expiresAt)}`
    return html`<p>${words.permitted} ${day(language, createdAt)}${used}${ends}</p>
${scopeList(language, scopes)}${places(language, resources)}`
  })
  const before =
    older === undefined
      ? undefined
      : html`<p>${words.before} ${older.count}</p>${scopeList(language, older.scopes)}${older.resources.map((each) => places(language, each))}`
  return html`<section>
<h2>${shown(name)}</h2>
<p>${words.website}: ${website}</p>
${suspended ? html`<p>${words.suspended}</p>` : undefined}
${grants}${before}
<form method="post" action="${form.action}" autocomplete="off">
${hidden(form.fields)}
<button type="submit">${words.revoke}</button>
</form>
</section>`
}

function places(language: Language, { kind, items, notShown, isMore }: AuthorizedResources): SafeHtml {
  if (kind !== 'specified') return html`<p>${WORDS[language][kind]}</p>`
  const more =
    notShown === undefined
      ? undefined
      : html`<li>${WORDS[language].notShown} ${notShown}${isMore ? ` ${WORDS[language].orMore}` : ''}</li>`
  return html`<ul>${items.map((item) => html`<li>${shown(item)}</li>`)}${more}</ul>`
}
// #endregion applications

// #region error
function errorPage(language: Language, { title, message, link, stylesheet }: ErrorPageModel): string {
  const more = link === undefined ? undefined : html`<p><a href="${link.href}">${link.text}</a></p>`
  return layOut(language, title, stylesheet, html`<h1>${title}</h1><p>${message}</p>${more}`)
}

/** Returns the language of a page: `locale` below chooses among these two alone. */
const languageOf = (locale: string): Language => (locale === 'de' ? 'de' : 'en')

/** The five pages, each in the language of its reader. */
const pages: Pages = {
  consent: ({ model, locale }) => consentPage(languageOf(locale), model),
  device: ({ model, locale }) => devicePage(languageOf(locale), model),
  deviceResult: ({ model, locale }) => deviceResultPage(languageOf(locale), model),
  authorizedApplications: ({ model, locale }) => applicationsPage(languageOf(locale), model),
  error: ({ model, locale }) => errorPage(languageOf(locale), model),
}
// #endregion error

// #region check
test('the pages keep all that they must', async () => {
  await checkPages(pages)
  await checkPages(pages, { locale: 'de' })
})
// #endregion check

let present: string | undefined = 'ada'
const userOf = (_request: Request | undefined) => (present === undefined ? undefined : { subject: present })
const told: unknown[] = []
const onError = (error: unknown) => told.push(error)

// #region choose
/** Chooses the language that the browser likes best, of those that the pages have. */
function likedLanguage(accepted: string | readonly string[] | null | undefined): Language {
  const ranges = String(accepted ?? '')
    .split(',')
    .map((range) => {
      const [tag = '', quality = 'q=1'] = range.split(';').map((part) => part.trim())
      return { language: tag.toLowerCase().split('-')[0], quality: Number(quality.replace(/^q=/i, '')) }
    })
  const liked = ranges.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality)
  return liked.find(({ language }) => language === 'de' || language === 'en')?.language === 'de' ? 'de' : 'en'
}
// #endregion choose

// #region server
const server = createAuthorizationServer<Request>({
  issuer: 'https://git.example',
  store: memoryStore(), // everything is gone when the process ends
  user: (request) => userOf(request.native),
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
  resources: () => [{ id: 'ada/engine' }, { id: 'ada/notes', name: 'Notes' }],
  scopes: scopeCatalogue([
    {
      name: 'account-profile',
      permissions: ['r'],
      description: { en: 'Your name and picture', de: 'Ihr Name und Bild' },
    },
    {
      name: 'repo-code',
      permissions: ['r', 'rw'],
      description: { en: 'Code of repositories', de: 'Code der Repositorys' },
    },
  ]),
  locale: ({ headers }) => likedLanguage(headers['accept-language']),
  pages,
  onError,
})

const handle = createFetchHandler(server)
// #endregion server

/** The address of the page that asks for consent, by the client identifier. */
const askedBy = (clientId: string) => `/oauth2/auth?response_type=code&client_id=${clientId}&state=s`

await server.applications.register(MIRROR, MIRROR_CLIENT)

const AGREED = [
  ['decision', 'agree'],
  ['resource_scope', 'all'],
] as const

test.each([
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['en-GB, de;q=0.5', 'en'],
  ['fr, de;q=0.2, en;q=0.1', 'de'],
  ['de;q=0, en', 'en'],
  ['en;Q=0.1, de;Q=0.9', 'de'],
  ['*', 'en'],
  [null, 'en'],
] as const)('the language of %j is %s', (accepted, language) => {
  expect(likedLanguage(accepted)).toBe(language)
})

test('the language may change between a page and its form', async () => {
  for (const [first, second] of [
    ['de', 'en'],
    ['en', 'de'],
  ] as const) {
    const ada = browser(handle, first)
    const { page } = await ada.open(askedBy('mirror'))
    expect(page).toContain(first === 'de' ? 'Lesen und ändern: Code der Repositorys' : 'Read and change: Code of repo')
    ada.speak(second)
    const { answer } = await ada.submit(AGREED)
    expect(answer.headers.get('location')).toMatch(/\?code=gwc_/)
  }
})

test('Express answers in the language of the browser', async () => {
  const overNode = createAuthorizationServer<IncomingMessage>({
    issuer: 'https://git.example',
    store: memoryStore(),
    user: () => ({ subject: 'ada' }),
    signInUrl: () => '/sign-in',
    locale: ({ headers }) => likedLanguage(headers['accept-language']),
    pages,
  })
  const app = express()
  app.use(createNodeHandler(overNode))
  const { port, close } = await listen(app)
  try {
    for (const language of ['de', 'en'] as const) {
      const headers = { 'accept-language': language }
      const answer = await fetch(`http://127.0.0.1:${port}${askedBy('nobody')}`, { headers })
      expect(await answer.text()).toContain((await loadTexts(language))['error.linkTitle'])
    }
  } finally {
    await close()
  }
})

test('the five pages work in both languages', async () => {
  for (const language of ['en', 'de'] as const) {
    const words = WORDS[language]
    const ada = browser(handle, language)
    const link = await ada.open(`/oauth2/device?user_code=${await userCodeFrom(handle)}`)
    expect(link.page).toContain(words.same)
    expect((await ada.open('/oauth2/device')).page).toContain(words.code)
    const { page } = await ada.submit([['user_code', await userCodeFrom(handle)]])
    expect(page).toContain(words.compare)
    expect(page).toContain('Says &lt;i&gt;hello&lt;/i&gt;')
    expect((await ada.submit(AGREED)).page).toContain(words.agreed)
    const listed = await ada.open('/oauth2/applications')
    expect(listed.page).toContain(words.permitted)
    const revoked = (await ada.submit()).page
    expect(revoked).toContain('role="status"')
    expect(revoked).toContain(words.none)
  }
  expect(told).toEqual([])
})

/** Lets the server say every sentence that it has, in a language. Returns them by their fields, with the statuses of their pages. */
async function sentencesIn(language: Language): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
  const statuses = new Map<string, Set<number>>()
  const shown: string[] = [] // on the page that is being made
  const note = <Model extends ConsentPageModel | DevicePageModel | ErrorPageModel>(input: PageInput<Model>): string => {
    const { fault, title, message, link } = input.model as Partial<ErrorPageModel> & { readonly fault?: string }
    for (const each of [fault, title, message, link?.text]) if (each !== undefined) shown.push(each)
    const name = 'form' in input.model ? ('scopes' in input.model ? 'consent' : 'device') : 'error'
    return String(pages[name](input as never))
  }
  const noting: AuthorizationServerOptions<Request> = {
    issuer: 'https://git.example',
    store: memoryStore(),
    user: (request) => userOf(request.native),
    signInUrl: () => '/sign-in',
    resources: () => [{ id: 'ada/engine' }],
    locale: ({ headers }) => likedLanguage(headers['accept-language']),
    pages: { consent: note, device: note, error: note },
    onError,
  }
  const noted = createAuthorizationServer(noting)
  await noted.applications.register(MIRROR, MIRROR_CLIENT)
  const withoutSessions = createAuthorizationServer<Request>({
    ...noting,
    user: () => {
      throw new Error('no sessions today')
    },
  })
  const fail = () => Promise.reject(new Error('no records today'))
  const withoutStore = createAuthorizationServer<Request>({
    ...noting,
    store: { read: fail, write: fail, list: fail },
  })
  let answers = createFetchHandler(noted)
  const watched = async (request: Request): Promise<Response> => {
    shown.length = 0
    const answer = await answers(request)
    for (const sentence of shown) statuses.set(sentence, (statuses.get(sentence) ?? new Set()).add(answer.status))
    return answer
  }
  try {
    const ada = browser(watched, language)
    await ada.open('/oauth2/auth?response_type=code&client_id=nobody')
    await ada.post('/oauth2/auth', [['request', 'a'.repeat(70_000)]])
    await ada.open(askedBy('mirror'))
    await ada.submit([['decision', 'yes']])
    await ada.open(askedBy('mirror'))
    await ada.submit([['decision', 'agree']])
    present = undefined
    await ada.submit(AGREED)
    present = 'ada'
    await ada.post('/oauth2/device', [['user_code', 'WDJB-MJHT']])
    await ada.post('/oauth2/applications', [['client_id', 'mirror']])
    for (let tries = 0; tries < 12; tries++) {
      await ada.open('/oauth2/device')
      await ada.submit([['user_code', 'WDJB-MJHT']])
    }
    for (const broken of [withoutSessions, withoutStore]) {
      answers = createFetchHandler(broken)
      await ada.open(askedBy('mirror'))
    }
  } finally {
    present = 'ada'
    told.length = 0
  }
  return statuses
}

test('every sentence of the server that reaches a page is in the guide with its name and statuses, and is translated', async () => {
  const [statuses, german] = [await sentencesIn('en'), await sentencesIn('de')]
  expect([...german.values()]).toEqual([...statuses.values()])
  for (const sentence of german.keys()) expect([...statuses.keys()]).not.toContain(sentence)

  const rows = readPage('guides/pages').matchAll(
    /^\| `(?:error|consent|device)\.[\w.]+` \| `([\w.]+)` \| `([^`]+)` \| ([^|]+) \|/gm,
  )
  const table = [...rows].map(([, name = '', sentence = '', cell = '']) => ({ name, sentence, cell }))
  const texts = await loadTexts('en')
  // The server of this test lets a user wait for a minute.
  const written: Readonly<Record<string, string>> = {
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fillText(String(text), { most: 256 })])),
    'device.tooManyCodes': countedText({ locale: 'en', texts }, 'device.tooManyCodes', 1),
  }
  for (const { name, sentence } of table) expect(written[name]).toBe(sentence)
  const said = table.map(({ sentence, cell }) => [sentence, cell.match(/\d{3}/g)?.map(Number)])
  const seen = (sentence: string) => {
    const found = [...(statuses.get(sentence) ?? [])].toSorted()
    // A user who decides a thousand times within minutes takes too long for a test.
    return found.includes(503) ? [429, ...found] : found
  }
  expect(said).toHaveLength(statuses.size)
  expect(Object.fromEntries(said)).toEqual(Object.fromEntries([...statuses.keys()].map((each) => [each, seen(each)])))
})

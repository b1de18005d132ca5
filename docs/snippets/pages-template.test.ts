/**
 * The code of the page "Pages of your own": all five pages, in two languages.
 * @module
 */
// #region imports
import { createAuthorizationServer, scopeCatalogue } from 'grantwell'
import { createFetchHandler } from 'grantwell/fetch'
import { createNodeHandler } from 'grantwell/node'
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
import { expect, test } from 'vitest'
import { listen } from '../../test/adapters/http.js'
import { browser, MIRROR, MIRROR_CLIENT, userCodeFrom } from './page-browser.js'
import { readPage } from './page-words.js'

// #region words
type Language = 'en' | 'de'

const ENGLISH = {
  accessFor: 'Access for',
  signedIn: 'Signed in as',
  wants: 'wants to access your account',
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
  before: 'Früher erlaubt, zusammen (Male):',
  revoke: 'Zugriff entziehen',
  next: 'Weitere Anwendungen',
  more: 'Es gibt mehr Anwendungen, als diese Seiten zeigen.',
  incomplete: 'Einige Anwendungen können gerade nicht gezeigt werden.',
}

const WORDS = { en: ENGLISH, de: GERMAN }
// #endregion words

// #region sentences
/** The sentences of the server that reach a page, in German. */
const GERMAN_SENTENCES = new Map([
  ['This link cannot be accessed', 'Dieser Link kann nicht geöffnet werden'],
  [
    'The link that brought you here is incomplete, or the application may not use it. Nothing was shared. Go back to the application and try again; if that does not help, tell the people who run it.',
    'Der Link ist unvollständig, oder die Anwendung darf ihn nicht benutzen. Es wurde nichts weitergegeben. Gehen Sie zur Anwendung zurück und versuchen Sie es noch einmal.',
  ],
  [
    'This form was sent before, is too old, or belongs to another session. Go back to the application and start again.',
    'Dieses Formular wurde schon gesendet, ist zu alt oder gehört zu einer anderen Sitzung. Beginnen Sie noch einmal bei der Anwendung.',
  ],
  [
    'This form was sent before, is too old, or belongs to another session. Start again on your device.',
    'Dieses Formular wurde schon gesendet, ist zu alt oder gehört zu einer anderen Sitzung. Beginnen Sie noch einmal auf Ihrem Gerät.',
  ],
  [
    'This form is too old, or belongs to another session. Nothing was changed. Open the page again.',
    'Dieses Formular ist zu alt oder gehört zu einer anderen Sitzung. Es wurde nichts geändert. Öffnen Sie die Seite noch einmal.',
  ],
  ['The service is busy', 'Der Dienst ist überlastet'],
  ['Please try again in a moment.', 'Bitte versuchen Sie es gleich noch einmal.'],
  ['You were signed out', 'Sie wurden abgemeldet'],
  [
    'Nothing was changed. Sign in again to go on.',
    'Es wurde nichts geändert. Melden Sie sich wieder an, um fortzufahren.',
  ],
  ['Sign in', 'Anmelden'],
  [
    'Choose which resources the application may use: at least one, and at most 256.',
    'Wählen Sie, was die Anwendung benutzen darf: mindestens eines, höchstens 256.',
  ],
  [
    'The code is unknown, was used before, or expired.',
    'Der Code ist unbekannt, wurde schon benutzt oder ist abgelaufen.',
  ],
])

/** Translates a sentence of the server. One that a later release adds stays English until it is in the list. */
function translate(language: Language, sentence: string): string {
  if (language === 'en') return sentence
  const minutes = /^Too many codes were tried\. Wait (a minute|(\d+) minutes), and try again\.$/.exec(sentence)
  if (minutes !== null)
    return `Zu viele Versuche. Warten Sie ${minutes[2] ?? '1'} min, und versuchen Sie es dann wieder.`
  return GERMAN_SENTENCES.get(sentence) ?? sentence
}
// #endregion sentences

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

const faultNote = (language: Language, fault: string | undefined) =>
  fault === undefined ? undefined : html`<p class="fault" role="alert">${translate(language, fault)}</p>`

const hidden = (fields: ConsentPageModel['form']['fields']) =>
  html`${fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`)}`

const scopeList = (language: Language, scopes: readonly ConsentScope[]) =>
  html`<ul>${scopes.map((each) => html`<li>${WORDS[language][each.permission]}: ${each.description}</li>`)}</ul>`
// #endregion parts

// #region consent
function consentPage(language: Language, model: ConsentPageModel): string {
  const words = WORDS[language]
  const { application, form } = model
  const answerTo =
    model.userCode === undefined
      ? html`<p>${words.answerTo} ${shown(model.redirectHost)}.</p>`
      : html`<p>${words.compare} <b>${model.userCode}</b></p>`
  const body = html`${signedIn(language, model.user)}
${faultNote(language, model.fault)}
<h1>${shown(application.name)} ${words.wants}</h1>
${application.description === undefined ? undefined : html`<p>${words.saysOfItself}: ${shown(application.description)}</p>`}
<p>${words.website}: <a href="${application.website}" rel="noreferrer noopener">${application.website}</a></p>
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
${faultNote(language, model.fault)}
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
  const { applications, next } = model
  const isEmpty = applications.length === 0 && model.isIncomplete === undefined
  const body = html`${signedIn(language, model.user)}
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
  const grants = application.grants.map(({ scopes, resources, createdAt, lastUsedAt }) => {
    const used = lastUsedAt === undefined ? undefined : html`, ${words.lastUsed} ${day(language, lastUsedAt)}`
    return html`<p>${words.permitted} ${day(language, createdAt)}${used}</p>
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
  const heading = translate(language, title)
  const more =
    link === undefined ? undefined : html`<p><a href="${link.href}">${translate(language, link.text)}</a></p>`
  const body = html`<h1>${heading}</h1><p>${translate(language, message)}</p>${more}`
  return layOut(language, heading, stylesheet, body)
}

/** Makes the five pages in one language. */
const pagesIn = (language: Language): Pages => ({
  consent: (model) => consentPage(language, model),
  device: (model) => devicePage(language, model),
  deviceResult: (model) => deviceResultPage(language, model),
  authorizedApplications: (model) => applicationsPage(language, model),
  error: (model) => errorPage(language, model),
})
// #endregion error

let present: string | undefined = 'ada'
const userOf = (_request: Request | undefined) => (present === undefined ? undefined : { subject: present })
const told: unknown[] = []
const onError = (error: unknown) => told.push(error)

// #region servers
/** What both servers have in common: the store, the issuer, and every option that is not about words. */
const common = {
  issuer: 'https://git.example',
  store: memoryStore(),
  user: (request: { readonly native?: Request }) => userOf(request.native),
  signInUrl: (returnTo: string) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
  resources: () => [{ id: 'ada/engine' }, { id: 'ada/notes', name: 'Notes' }],
  onError,
}

/** One catalogue for each language: the same names, permissions and order, and other descriptions. */
const catalogueOf = (profile: string, code: string) =>
  scopeCatalogue([
    { name: 'account-profile', permissions: ['r'], description: profile },
    { name: 'repo-code', permissions: ['r', 'rw'], description: code },
  ])

const english = createAuthorizationServer<Request>({
  ...common,
  scopes: catalogueOf('Your name and picture', 'Code of repositories'),
  pages: pagesIn('en'),
})

const german = createAuthorizationServer<Request>({
  ...common,
  scopes: catalogueOf('Ihr Name und Bild', 'Code der Repositorys'),
  pages: pagesIn('de'),
})
// #endregion servers

// #region choose
/** Chooses the language that the browser likes best, of those that there are. */
function languageOf(accepted: string | null | undefined): Language {
  const ranges = (accepted ?? '').split(',').map((range) => {
    const [tag = '', quality = 'q=1'] = range.split(';').map((part) => part.trim())
    return { language: tag.toLowerCase().split('-')[0], quality: Number(quality.replace(/^q=/i, '')) }
  })
  const liked = ranges.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality)
  return liked.find(({ language }) => language === 'de' || language === 'en')?.language === 'de' ? 'de' : 'en'
}

const handlers = { en: createFetchHandler(english), de: createFetchHandler(german) }

/** Serves the server of the browser's language. */
function handle(request: Request, platform?: unknown): Promise<Response> {
  return handlers[languageOf(request.headers.get('accept-language'))](request, platform)
}
// #endregion choose

const app = express()
const overNode = { ...common, user: () => ({ subject: 'ada' }) }
const englishOverNode = createAuthorizationServer<IncomingMessage>({ ...overNode, pages: pagesIn('en') })
const germanOverNode = createAuthorizationServer<IncomingMessage>({ ...overNode, pages: pagesIn('de') })

// #region express
const nodeHandlers = { en: createNodeHandler(englishOverNode), de: createNodeHandler(germanOverNode) }

app.use((request, response, next) =>
  nodeHandlers[languageOf(request.headers['accept-language'])](request, response, next),
)
// #endregion express

/** The address of the page that asks for consent, by the client identifier. */
const askedBy = (clientId: string) => `/oauth2/auth?response_type=code&client_id=${clientId}&state=s`

await english.applications.register(MIRROR, MIRROR_CLIENT)

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
  expect(languageOf(accepted)).toBe(language)
})

test('a form of one server is accepted by the other', async () => {
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
  const { port, close } = await listen(app)
  try {
    for (const language of ['de', 'en'] as const) {
      const headers = { 'accept-language': language }
      const answer = await fetch(`http://127.0.0.1:${port}${askedBy('nobody')}`, { headers })
      expect(await answer.text()).toContain(translate(language, 'This link cannot be accessed'))
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
    expect((await ada.submit()).answer.headers.get('location')).toBe('/oauth2/applications')
    expect((await ada.open('/oauth2/applications')).page).toContain(words.none)
  }
  expect(told).toEqual([])
})

test('every sentence of the server that reaches a page is in the guide with its statuses, and has a translation', async () => {
  const statuses = new Map<string, Set<number>>()
  const shown: string[] = [] // on the page that is being made
  const note = <Model extends ConsentPageModel | DevicePageModel | ErrorPageModel>(model: Model): string => {
    const { fault, title, message, link } = model as Partial<ErrorPageModel> & { readonly fault?: string }
    for (const each of [fault, title, message, link?.text]) if (each !== undefined) shown.push(each)
    return pagesIn('en')['form' in model ? ('scopes' in model ? 'consent' : 'device') : 'error'](model as never)
  }
  const noting = { ...common, scopes: catalogueOf('a', 'b'), pages: { consent: note, device: note, error: note } }
  const server = createAuthorizationServer<Request>(noting)
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
  const watched = async (request: Request): Promise<Response> => {
    shown.length = 0
    const answer = await handle(request)
    for (const sentence of shown) statuses.set(sentence, (statuses.get(sentence) ?? new Set()).add(answer.status))
    return answer
  }
  const before = handlers.en
  try {
    handlers.en = createFetchHandler(server)
    const ada = browser(watched, 'en')
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
      handlers.en = createFetchHandler(broken)
      await ada.open(askedBy('mirror'))
    }
  } finally {
    handlers.en = before
    present = 'ada'
    told.length = 0
  }
  const sentences = [...statuses.keys()]
  const fixed = sentences.filter((sentence) => !sentence.startsWith('Too many codes'))
  expect(fixed.toSorted()).toEqual([...GERMAN_SENTENCES.keys()].toSorted())
  for (const sentence of sentences) expect(translate('de', sentence)).not.toBe(sentence)
  expect(translate('de', 'Too many codes were tried. Wait 2 minutes, and try again.')).toContain('2 min')

  const rows = readPage('guides/pages').matchAll(
    /^\| `(?:error|consent|device)\.[\w.]+` \| `([^`]+)`[^|]* \| ([^|]+) \|/gm,
  )
  const said = [...rows].map(([, sentence, cell = '']) => [sentence, cell.match(/\d{3}/g)?.map(Number)])
  const seen = (sentence: string) => {
    const found = [...(statuses.get(sentence) ?? [])].toSorted()
    // A user who decides a thousand times within minutes takes too long for a test.
    return found.includes(503) ? [429, ...found] : found
  }
  expect(said).toHaveLength(statuses.size)
  expect(Object.fromEntries(said)).toEqual(Object.fromEntries(sentences.map((each) => [each, seen(each)])))
})

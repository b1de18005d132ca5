/**
 * The code of the page "Languages".
 * @module
 */
// #region imports
import type { IncomingMessage } from 'node:http'
import type { Submission } from 'grantwell'
import { createAuthorizationServer, GrantwellError, scopeCatalogue } from 'grantwell'
import type { PageInput, PageLanguage, Texts } from 'grantwell/pages'
import { countedText, defaultPages, faultText, fillHtml, html, loadTexts, renderHtml } from 'grantwell/pages'
// #endregion imports
import type { AuthorizationServer, AuthorizationServerOptions } from 'grantwell'
import type { ErrorPageModel } from 'grantwell/pages'
import { memoryStore } from 'grantwell/storage/memory'
import { expect, test } from 'vitest'

interface Account {
  readonly id: string
  readonly language: string | null
}
const account: Account = { id: 'ada', language: null }
const accountOf = (_request: IncomingMessage): Account => account

const host = {
  issuer: 'https://git.example',
  store: memoryStore(),
  user: () => ({ subject: account.id }),
  signInUrl: () => '/sign-in',
}

// #region locale
const server = createAuthorizationServer<IncomingMessage>({
  ...host,
  // From the user's settings; null leaves the choice to the browser.
  locale: (request) => accountOf(request.native).language,
})
// #endregion locale

// #region override
const texts = {
  en: { 'consent.agree': 'Allow', 'consent.refuse': 'Cancel' },
  de: { 'consent.agree': 'Erlauben', 'consent.refuse': 'Abbrechen' },
}
const withOwnWords = createAuthorizationServer({ ...host, texts })
// #endregion override

async function added() {
  const dutch = { 'consent.agree': 'Akkoord' }
  // #region language
  const nl: Texts = { ...(await loadTexts('en')), ...dutch }
  const withDutch = createAuthorizationServer({ ...host, texts: { nl } })
  // #endregion language
  return withDutch
}

// #region scopes
const scopes = scopeCatalogue([
  { name: 'page', permissions: ['r', 'rw'], description: { en: 'Wiki pages', de: 'Wiki-Seiten', ja: 'Wikiページ' } },
  { name: 'history', permissions: ['r'], description: { en: 'Who changed what', de: 'Wer was geändert hat' } },
])
// #endregion scopes

// #region faults
async function submit(submission: Submission, language: PageLanguage): Promise<readonly (readonly [string, string])[]> {
  try {
    await server.applications.submit(submission)
    return []
  } catch (error) {
    if (!(error instanceof GrantwellError)) throw error
    const reader = { locale: language, texts: await loadTexts(language) }
    return error.faults.map((fault) => [fault.path, faultText(reader, fault)])
  }
}
// #endregion faults

// #region page
function errorPage({ model, locale, texts }: PageInput<ErrorPageModel>): string {
  const heading = html`<h1>${model.title}</h1>`
  return renderHtml(html`<!doctype html>
<html lang="${locale}" dir="${texts.direction}">
<head><title>${model.title}</title><link rel="stylesheet" href="${model.stylesheet}"></head>
<body><main>${heading}<p>${model.message}</p></main></body>
</html>`)
}
// #endregion page

async function filled() {
  const language = { locale: 'de', texts: await loadTexts('de') }
  // #region fill
  const name = html`<b>Loom</b>`
  const heading = renderHtml(fillHtml(language.texts['consent.heading'], { application: name }))
  const more = countedText(language, 'applications.notShown', 12_000)
  // #endregion fill
  return [heading, more]
}

async function spoken(
  one: AuthorizationServer<IncomingMessage> | AuthorizationServer,
  url: string,
  language = '',
): Promise<string> {
  const headers = { 'accept-language': language }
  const request = {
    method: 'GET',
    url,
    headers,
    body: undefined,
    remoteAddress: undefined,
    native: {} as IncomingMessage,
  }
  const answer = await (one as AuthorizationServer<IncomingMessage>).handle(request)
  return String(answer?.body)
}

test('the user chooses, else the browser', async () => {
  expect(await spoken(server, '/oauth2/applications', 'fr-CH')).toContain('lang="fr-CH"')
  Object.assign(account, { language: 'ja' })
  expect(await spoken(server, '/oauth2/applications', 'fr-CH')).toContain('lang="ja"')
  Object.assign(account, { language: null })
  expect(await spoken(server, '/oauth2/auth?ui_locales=ar', 'fr')).toContain('lang="ar" dir="rtl"')
})

test('the words of the host are on the page, and its language is one of them', async () => {
  const client = { clientId: 'wiki', clientSecret: 'a-secret-that-is-long-enough-for-it' }
  const registration = {
    ...{ name: 'Wiki', logo: PNG, website: 'https://wiki.example', type: 'confidential' as const },
    ...{ redirectUris: ['https://wiki.example/callback'], resourceScope: 'all' as const },
  }
  const url = '/oauth2/auth?response_type=code&client_id=wiki'
  await withOwnWords.applications.register({ ...registration, scopes: ['repo-code:r'] }, client)
  expect(await spoken(withOwnWords, url, 'de')).toContain('>Erlauben</button>')
  expect(await spoken(await added(), url, 'nl')).toContain('>Akkoord</button>')
  const store = memoryStore()
  const withScopes = createAuthorizationServer({ ...host, store, scopes })
  await withScopes.applications.register({ ...registration, scopes: ['page:rw', 'history:r'] }, client)
  const page = await spoken(withScopes, url, 'ja')
  expect([page.includes('Wikiページ'), page.includes('Who changed what')]).toEqual([true, true])
})

test('an applicant reads the faults of a submission', async () => {
  const submission: Submission = {
    ...{ name: '', logo: PNG, website: 'https://wiki.example', type: 'confidential' },
    ...{ redirectUris: ['https://wiki.example/callback'], resourceScope: 'all' },
    scopes: [{ scope: 'repo-code:r', reason: 'Shows the code' }],
  }
  expect(await submit(submission, 'de')).toEqual([['name', 'Der Name muss 1 bis 50 Zeichen in einer Zeile haben.']])
  expect(await submit({ ...submission, name: 'Wiki' }, 'de')).toEqual([])
})

test('a page of the host has the language of its reader', async () => {
  const options: AuthorizationServerOptions = { ...host, store: memoryStore(), pages: { error: errorPage } }
  const page = await spoken(createAuthorizationServer(options), '/oauth2/auth', 'es')
  expect(page).toContain('<html lang="es" dir="ltr">')
  expect(page).toContain((await loadTexts('es'))['error.linkTitle'])
})

test('values are written into texts', async () => {
  expect(await filled()).toEqual(['<b>Loom</b> möchte auf Ihr Konto zugreifen', expect.stringContaining('12.000')])
  const model = { code: 'busy', title: 'x', message: 'y', stylesheet: '/s' } as const
  expect(defaultPages.error({ model })).toContain('lang="en"')
})

const PNG = Uint8Array.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01', (letter) => letter.charCodeAt(0))

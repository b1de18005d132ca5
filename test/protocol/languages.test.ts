/**
 * The language of the pages: who chooses it, where it stays, and that no page has words of another.
 * @module
 * @see RFC 9110, section 12.5.4; RFC 4647, section 3.4
 */
import type { AuthorizationServerOptions } from 'grantwell'
import { scopeCatalogue } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { pseudoTexts, readableIn, translated } from '../pages/pseudo.js'
import { authorizationUrl, hiddenFields, ISSUER, openConsent, post, send, testServer } from '../support.js'
import { submit } from './consent-form.js'

/** Returns the language of a page, and what its button to agree says. */
function spokenBy(body: string): readonly [lang: string | undefined, agree: string | undefined] {
  return [/<html lang="([^"]+)"/.exec(body)?.[1], /value="agree"[^>]*>([^<]+)</.exec(body)?.[1]]
}

async function consentIn(
  accepted: string | undefined,
  parameters: Record<string, string> = {},
  options: Partial<AuthorizationServerOptions> = {},
) {
  const { server } = await testServer(options)
  const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-language': accepted }
  return spokenBy((await send(server, { url: authorizationUrl(parameters), headers })).body)
}

const ENGLISH = ['en', 'Agree'] as const
const GERMAN = ['de', 'Zustimmen'] as const

describe('the language is', () => {
  it.each([
    ['no header', undefined, ENGLISH],
    ['German', 'de', GERMAN],
    ['German as in Austria', 'de-at,de;q=0.9,en;q=0.8', ['de-AT', 'Zustimmen']],
    ['the one with the greatest weight', 'en;q=0.2, de;q=0.8, fr;q=0.5', GERMAN],
    ['the first of equal weight', 'de, fr', GERMAN],
    ['not the one that is not wanted', 'de;q=0, ja;q=0.1', ['ja', '許可する']],
    ['the next where there is none of the first', 'tlh, de;q=0.1', GERMAN],
    ['English where there is none', 'tlh', ENGLISH],
    ['English for anything', '*', ENGLISH],
    ['Portuguese of Brazil', 'pt-BR', ['pt-BR', 'Permitir']],
    ['simplified Chinese of China', 'zh-CN', ['zh-CN', '同意']],
    ['not simplified Chinese for who reads the traditional one', 'zh-TW, de;q=0.5', GERMAN],
    ['without what a tag adds for dates and digits', 'de-u-nu-thai', GERMAN],
    ['English for what is no tag', 'd\u00e9,;;q=1,"<b>",a_b', ENGLISH],
    ['English for a tag without end', `de-${'abcdefgh-'.repeat(100)}x`, ENGLISH],
    ['English for a weight that is no number', 'de;q=x', ENGLISH],
  ])('that of the browser: %s', async (_what, accepted, spoken) => {
    expect(await consentIn(accepted)).toStrictEqual(spoken)
  })

  it('that of the request, before that of the browser', async () => {
    expect(await consentIn('fr', { ui_locales: 'tlh de' })).toStrictEqual(GERMAN)
    expect(await consentIn('de', { ui_locales: 'tlh' })).toStrictEqual(GERMAN)
    expect(await consentIn('de', { ui_locales: '' })).toStrictEqual(GERMAN)
  })

  it('the choice of the host, before all others', async () => {
    expect(await consentIn('fr', { ui_locales: 'ja' }, { locale: () => 'de' })).toStrictEqual(GERMAN)
    expect(await consentIn('de', {}, { locale: async () => undefined })).toStrictEqual(GERMAN)
    expect(await consentIn('de', {}, { locale: () => null })).toStrictEqual(GERMAN)
    const locale: AuthorizationServerOptions['locale'] = ({ headers }) => String(headers['x-language'] ?? '')
    expect(await consentIn('de', {}, { locale })).toStrictEqual(GERMAN)
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no session')
      },
      'no session',
    ],
    ['rejects', () => Promise.reject(new Error('no session')), 'no session'],
    ['gives a number', (() => 5) as unknown as () => string, 'locale() must give a language tag'],
  ])('chosen without a host whose function %s, which is told', async (_how, locale, message) => {
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    expect(await consentIn('de', {}, { locale, onError })).toStrictEqual(GERMAN)
    expect(errors.map(String)).toStrictEqual([expect.stringContaining(message)])
  })
})

describe('the language stays', () => {
  it('over the sign-in, for the request names it', async () => {
    const { server, session } = await testServer()
    session.user = undefined
    const { headers } = await send(server, { url: authorizationUrl({ ui_locales: 'de' }) })
    const returnTo = new URL(headers['Location'] ?? '', ISSUER).searchParams.get('return_to') ?? ''
    expect(new URL(returnTo).searchParams.get('ui_locales')).toBe('de')
  })

  it('by tags alone, so that nothing else fills the form of the page', async () => {
    const { server } = await testServer()
    const { body } = await send(server, { url: authorizationUrl({ ui_locales: `tlh ${'"'.repeat(4000)} de` }) })
    expect(hiddenFields(body)['request']).toMatch(/&ui_locales=tlh%20de$/)
  })

  it('and the host is asked once, also for a form', async () => {
    let asked = 0
    const test = await testServer({ locale: () => `${asked++ < 0 ? 'fr' : 'de'}` })
    const { fields, headers } = await openConsent(test)
    asked = 0
    expect((await submit(test, { ...fields, decision: 'agree', resource_scope: 'all' }, headers)).status).toBe(302)
    expect(asked).toBe(1)
  })

  it('after the form, on the page with a fault and on the one of an error', async () => {
    const test = await testServer({ resources: () => [{ id: 'a' }] })
    const { fields, headers } = await openConsent(test, { ui_locales: 'de' })
    const faulty = { ...fields, decision: 'agree', resource_scope: 'specified' }
    const again = await submit(test, faulty, headers)
    expect(spokenBy(again.body)).toStrictEqual(GERMAN)
    expect(again.body).toContain('mindestens eine, höchstens 256')
    const wrong = await submit(test, { ...fields, decision: 'other' }, headers)
    expect(wrong.body).toContain('Dieses Formular')
  })
})

describe('texts of the host', () => {
  it('replace the default ones in their language alone', async () => {
    const texts = { de: { 'consent.agree': 'Erlauben' }, 'de-CH': { 'consent.agree': 'Zulassen' } }
    expect(await consentIn('de', {}, { texts })).toStrictEqual(['de', 'Erlauben'])
    expect(await consentIn('de-CH', {}, { texts })).toStrictEqual(['de-CH', 'Zulassen'])
    expect(await consentIn('de-AT', {}, { texts })).toStrictEqual(['de-AT', 'Erlauben'])
    expect(await consentIn('fr', {}, { texts })).toStrictEqual(['fr', 'Accepter'])
  })

  it('add a language, in English where they leave one out', async () => {
    const { server } = await testServer({ texts: { nl: { 'consent.agree': 'Akkoord' } } })
    const { body } = await send(server, { url: authorizationUrl(), headers: { 'accept-language': 'nl-BE' } })
    expect(spokenBy(body)).toStrictEqual(['nl-BE', 'Akkoord'])
    expect(body).toContain('>Refuse<')
  })

  it('that no page has are told to the host', async () => {
    const errors: unknown[] = []
    const texts = { de: { 'consent.aggree': 'x' } } as AuthorizationServerOptions['texts']
    expect(await consentIn('de', {}, { texts: texts ?? {}, onError: (error) => errors.push(error) })).toStrictEqual(
      GERMAN,
    )
    expect(errors.map(String)).toStrictEqual([expect.stringContaining('no page has the text "consent.aggree"')])
  })

  it.each([
    [
      'a string in place of the forms of a number',
      { 'resources.notShown': 'x' },
      'must be an object with the plural form other',
    ],
    ['forms in place of a string', { 'error.busy': { other: 'x' } }, 'error.busy must be a string'],
    ['nothing', { 'error.busyTitle': undefined }, 'error.busyTitle must be a string; got undefined'],
  ])('that no page can write are told to the host, and the page keeps its own: %s', async (_what, own, message) => {
    const errors: unknown[] = []
    const texts = { de: own } as unknown as NonNullable<AuthorizationServerOptions['texts']>
    expect(await consentIn('de', {}, { texts, onError: (error) => errors.push(error) })).toStrictEqual(GERMAN)
    expect(errors.map(String)).toStrictEqual([expect.stringContaining(message)])
  })

  it.each([
    ['a list', []],
    ['a text alone', { de: 'x' }],
    ['what is no tag', { de_DE: {} }],
    ['a tag that is not canonical', { 'DE-at': {} }],
  ])('are refused at the start where they are %s', async (_what, texts) => {
    await expect(testServer({ texts: texts as AuthorizationServerOptions['texts'] & object })).rejects.toThrow(
      'the option texts must be',
    )
  })
})

describe('scopes', () => {
  it('of the specification are described in the language of the page', async () => {
    const { server } = await testServer()
    const { body } = await send(server, {
      url: authorizationUrl({ scope: 'repo-code:r' }),
      headers: { 'accept-language': 'es' },
    })
    expect(body).not.toContain('Repository code')
    expect(body).toContain('<data value="repo-code:r"><bdi>Código')
  })

  it('of the host are described in its languages, else in English, else in the first', async () => {
    const scopes = scopeCatalogue([
      {
        name: 'repo-code',
        permissions: ['r', 'rw'],
        description: { 'no tag': 'x', en: 'Wiki pages', 'de-CH': 'Wikiseiten' },
      },
      { name: 'account-profile', permissions: ['r', 'rw'], description: { fr: 'Notes' } },
    ])
    const { server } = await testServer({ scopes })
    const described = async (accepted: string) => {
      const { body } = await send(server, { url: authorizationUrl(), headers: { 'accept-language': accepted } })
      return [...body.matchAll(/<data value="[\w:-]+"><bdi>([^<]*)</g)].map(([, text]) => text)
    }
    expect(await described('de')).toStrictEqual(['Wikiseiten', 'Notes'])
    expect(await described('ja')).toStrictEqual(['Wiki pages', 'Notes'])
  })
})

describe('a page of a language in which no text has a letter has none but what is data', () => {
  // The tag of a language that nobody has: the catalogue of the host is whole.
  const accept = { 'accept-language': 'tlh' }
  const own = { user: { subject: '1', name: 'Ωμέγα' } }

  async function pseudoServer() {
    const test = await testServer({ texts: { tlh: pseudoTexts }, resources: () => [{ id: '1', name: '1' }] })
    Object.assign(test.session, own)
    return test
  }

  function expectVeiled(body: string): void {
    expect(body).toContain('lang="tlh"')
    // Days are in English: no runtime has months of this language.
    const data = /Sample|An application|https?:\S+|app\.example|January 15, 2027/g
    expect(readableIn(body).filter((text) => /[a-z]/i.test(translated(text).replace(data, '')))).toStrictEqual([])
  }

  it('consent, with a fault, and after a form that is not good', async () => {
    const test = await pseudoServer()
    const url = authorizationUrl({ ui_locales: 'tlh' })
    const opened = await send(test.server, { url })
    expectVeiled(opened.body)
    const fields = hiddenFields(opened.body)
    const cookie = { cookie: (opened.headers['Set-Cookie'] ?? '').split(';')[0] ?? '' }
    expectVeiled((await submit(test, { ...fields, decision: 'agree', resource_scope: 'specified' }, cookie)).body)
    expectVeiled((await submit(test, { ...fields, decision: 'x' }, cookie)).body)
    test.session.user = undefined
    expectVeiled((await submit(test, { ...fields, decision: 'agree', resource_scope: 'all' }, cookie)).body)
  })

  it('a link that cannot be accessed, the pages of devices and of applications', async () => {
    const test = await pseudoServer()
    const get = async (url: string) => (await send(test.server, { url, headers: accept })).body
    expectVeiled(await get(authorizationUrl({ client_id: 'nobody' })))
    expectVeiled(await get('/oauth2/device'))
    expectVeiled(await get('/oauth2/applications'))
    const { body, headers } = await send(test.server, { url: '/oauth2/device', headers: accept })
    const cookie = (headers['Set-Cookie'] ?? '').split(';')[0] ?? ''
    const form = { ...hiddenFields(body), user_code: '1' }
    expectVeiled((await post(test.server, '/oauth2/device', form, { ...accept, cookie })).body)
  })
})

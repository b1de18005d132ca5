/**
 * The page of a link that cannot be accessed: the applicant of the application is told which parameter is wrong, and nobody else is.
 * @module
 * @see Specification, section 7; RFC 6749, section 4.1.2.1
 */
import type { AuthorizationServerOptions, Registration, User } from 'grantwell'
import type { ErrorPageModel, PageInput } from 'grantwell/pages'
import { faultText, loadTexts } from 'grantwell/pages'
import { describe, expect, it } from 'vitest'
import { en } from '../../src/pages/texts/en.js'
import type { TestServer } from '../support.js'
import { registration, send, testServer } from '../support.js'
import { withoutWayBack } from './helpers.js'

const APPLICANT = { subject: 'bob' }
const SHOWN = 'You see this because you handed in the application.'
const CALLBACK = 'https://app.example/callback'

/** A server with an application that a user handed in. */
async function withApplicant(options: Partial<AuthorizationServerOptions> = {}, changes: Partial<Registration> = {}) {
  const test = await testServer(options)
  const scopes = [{ scope: 'repo-code:rw', reason: 'To push' }]
  const submission = { ...registration(changes), scopes }
  const { id } = await test.server.applications.submit(submission, { applicant: APPLICANT.subject })
  const { clientId } = await test.server.applications.approve(id, { revision: 1 })
  test.events.length = 0
  return { test, clientId }
}

/** The page of a link, as a user sees it. */
async function page(test: TestServer, user: User | undefined, query: string, headers = {}) {
  Object.assign(test.session, { user })
  return send(test.server, { url: `/oauth2/auth?${query}`, headers })
}

const linkOf = (clientId: string, redirectUri: string): string =>
  `response_type=code&client_id=${clientId}&redirect_uri=${encodeURIComponent(redirectUri)}`

/** Query behind the client, and the text of the rule that it breaks. */
const WRONG = [
  ['another host', `redirect_uri=${encodeURIComponent('https://other.example/?token=s3cret')}`, 'redirect_uri_host'],
  ['a fragment', `redirect_uri=${encodeURIComponent(`${CALLBACK}#s3cret`)}`, 'redirect_uri_fragment'],
  [
    'a parameter of the answer',
    `redirect_uri=${encodeURIComponent(`${CALLBACK}?code=s3cret`)}`,
    'redirect_uri_parameter',
  ],
  ['a redirect URI twice', 'redirect_uri=s3cret&redirect_uri=s3cret', 'parameter_repeated'],
  ['a redirect URI of broken characters', 'redirect_uri=s3cret%ff', 'parameter_malformed'],
  ['a redirect URI without end', `redirect_uri=s3cret${'a'.repeat(8192)}`, 'parameter_length'],
  ['no redirect URI, where two are registered', 's3cret=s3cret', 'redirect_uri_not_sent'],
] as const

describe('a link with a wrong redirect URI', () => {
  it.each(WRONG)(
    'tells the applicant of the application its rule and not its value: %s',
    async (_what, query, code) => {
      const { test, clientId } = await withApplicant({}, { redirectUris: [CALLBACK, `${CALLBACK}/2`] })
      const { status, body } = await page(test, APPLICANT, `client_id=${clientId}&${query}`)
      const values = { domain: 'app.example', parameter: 'code' }
      expect([status, body]).toEqual([400, expect.stringContaining(SHOWN)])
      expect(body).toContain('<code dir="ltr">redirect_uri</code>')
      expect(body).toContain(`<p dir="auto">${faultText({ locale: 'en', texts: en }, { code, values })}</p>`)
      expect(body).not.toContain('s3cret')
      expect(test.events).toMatchObject([{ type: 'refused', clientId, reason: 'redirect_uri_mismatch' }])
    },
  )

  it.each(WRONG)('tells nobody else: %s', async (_what, query) => {
    const { test, clientId } = await withApplicant({}, { redirectUris: [CALLBACK, `${CALLBACK}/2`] })
    const link = `client_id=${clientId}&${query}`
    const pages = [await page(test, { subject: 'ada' }, link), await page(test, undefined, link)]
    const [unknown] = [await page(test, APPLICANT, 'client_id=nobody')]
    for (const response of pages) {
      const { status, body } = withoutWayBack(response)
      expect([status, body]).toEqual([unknown?.status, unknown?.body])
    }
  })

  it('tells it in the language of the applicant', async () => {
    const { test, clientId } = await withApplicant()
    const texts = await loadTexts('ar')
    const link = linkOf(clientId, 'https://other.example/')
    const { body } = await page(test, APPLICANT, link, { 'accept-language': 'ar' })
    const fault = { code: 'redirect_uri_host', values: { domain: 'app.example' } } as const
    expect(body).toContain(faultText({ locale: 'ar', texts }, fault))
    expect(body).toContain(texts['error.detail'].split('{parameter}')[0])
  })

  it('of an application that nobody handed in is told to nobody', async () => {
    const test = await testServer({ user: () => APPLICANT })
    const { body } = await send(test.server, { url: `/oauth2/auth?${linkOf('web', 'https://other.example/')}` })
    expect(String(body)).not.toContain(SHOWN)
  })

  it('has the detail in the model of a page of the host', async () => {
    const models: ErrorPageModel[] = []
    const error = ({ model }: PageInput<ErrorPageModel>): string => {
      models.push(model)
      return 'own'
    }
    const { test, clientId } = await withApplicant({ pages: { error } })
    await page(test, APPLICANT, linkOf(clientId, 'https://other.example/'))
    await page(test, { subject: 'ada' }, linkOf(clientId, 'https://other.example/'))
    expect(models.map(({ detail }) => detail)).toStrictEqual([
      { parameter: 'redirect_uri', rule: 'The redirect URI must have the host app.example.' },
      undefined,
    ])
  })
})

describe('a link of a suspended application', () => {
  it('tells the applicant alone that it is suspended', async () => {
    const { test, clientId } = await withApplicant()
    await test.server.applications.suspend(clientId)
    const { body } = await page(test, APPLICANT, linkOf(clientId, CALLBACK))
    expect(body).toContain('<code dir="ltr">client_id</code>')
    expect(body).toContain(en['fault.client_suspended'])
    for (const user of [{ subject: 'ada' }, undefined])
      expect((await page(test, user, linkOf(clientId, CALLBACK))).body).not.toContain(SHOWN)
  })
})

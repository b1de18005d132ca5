/**
 * The code of docs/guides/applications.md: the life of an application, from its submission to its end.
 * @module
 */

// #region imports
import { readFileSync } from 'node:fs'
import type { Amendment, PermissionRequest, Registration, Submission } from 'grantwell'
import { GrantwellError } from 'grantwell'
import { isPublished } from 'grantwell/core'
// #endregion imports
// #region form-imports
import type { Request, Response } from 'express'
import type { Application } from 'grantwell'
import { html, renderHtml } from 'grantwell/pages'
// #endregion form-imports
// #region applicant-imports
import type { NextFunction } from 'express'
import type { RegistrationFault } from 'grantwell'
import { faultText, loadTexts } from 'grantwell/pages'
import multer from 'multer'
// #endregion applicant-imports
// #region no-public-imports
import type { Pages } from 'grantwell/pages'
import { defaultPages } from 'grantwell/pages'
// #endregion no-public-imports
import type { AuthorizationServer } from 'grantwell'
import express from 'express'
import { beforeAll, expect, it } from 'vitest'
import { listen } from '../../test/adapters/http.js'
import type { TestServer } from '../../test/support.js'
import { authorize, call, exchange, openConsent, testServer, works } from '../../test/support.js'
import { messageOf, readPage } from './page-words.js'

let test: TestServer
let server: AuthorizationServer
beforeAll(async () => {
  test = await testServer()
  server = test.server
})

// #region submission
const submission: Submission = {
  name: 'Issue Mirror',
  logo: readFileSync(new URL('logo.png', import.meta.url)), // a PNG, JPEG, GIF or WebP
  description: 'Shows your issues elsewhere',
  website: 'https://mirror.example',
  type: 'confidential',
  redirectUris: ['https://mirror.example/callback'],
  scopes: [{ scope: 'repo-issue:rw', reason: 'Copies issues in both directions' }],
  resourceScope: 'all',
}
// #endregion submission

// #region submit
async function submit(applicant: string, given: Submission): Promise<string> {
  try {
    const { id } = await server.applications.submit(given, { applicant })
    return `Your application waits for an administrator: ${id}`
  } catch (error) {
    if (error instanceof GrantwellError && error.code === 'ERR_REGISTRATION')
      return error.faults.map(({ path, message }) => `${path} ${message}`).join('\n')
    throw error
  }
}
// #endregion submit

it('goes from a submission by its review to a secret', async () => {
  expect(await submit('ada', submission)).toMatch(/^Your application waits/)
  const faults = await submit('ada', {
    ...submission,
    name: '',
    redirectUris: ['http://mirror.example/callback'],
    scopes: [{ scope: 'repo-issues:r', reason: '' }],
  })
  expect(faults.split('\n')).toHaveLength(4)
  expect(readPage('guides/applications')).toContain(faults)

  // #region review
  const { applications } = await server.applications.list({ state: 'pending' })
  for (const { id, applicant, review } of applications) {
    if (review === undefined) continue
    const { name, website, redirectUris, scopes, reasons } = review.details
    console.log(id, review.revision, applicant, name, website, redirectUris, scopes, reasons)
    const logo = await server.applications.logo(review.details.logo) // { type, bytes }
    console.log(logo?.type, logo?.bytes.length)
  }
  // #endregion review
  const [waiting] = applications
  if (waiting?.review === undefined) return expect.fail('nothing waits')
  const { id } = waiting
  const { revision } = waiting.review

  // #region approve
  const { clientId, clientSecret } = await server.applications.approve(id, {
    revision, // the one that the administrator looked at
    scopes: ['repo-issue:r'], // fewer than asked for; left out, all of them
  })
  // #endregion approve
  expect([clientId, clientSecret]).toEqual([id, expect.stringMatching(/^gws_/)])
  const approved = await server.applications.get(id)
  expect(approved).toMatchObject({ state: 'approved', scopes: ['repo-issue:r'] })

  const reject = async (id: string, revision: number) => {
    // #region reject
    await server.applications.reject(id, { revision, reason: 'The website does not answer.' })
    // #endregion reject
  }
  const other = await server.applications.submit(submission, { applicant: 'grace' })
  const page = readPage('guides/applications')
  expect(page).toContain(`| \`${await messageOf(() => reject(other.id, 7))}\` |`)
  await reject(other.id, other.review.revision)
  expect(await server.applications.get(other.id)).toMatchObject({
    state: 'rejected',
    review: { reason: 'The website does not answer.' },
  })
  expect(page).toContain(await messageOf(() => reject(other.id, 1)))
  expect(page).toContain(await messageOf(() => server.applications.suspend('nobody')))

  // #region mine
  const mine = await server.applications.list({ applicant: 'ada' }, { limit: 20 })
  const states = mine.applications.map((each) => ({
    id: each.id,
    state: each.state,
    clientId: isPublished(each) ? each.clientId : undefined,
    refusedBecause: each.review?.state === 'rejected' ? each.review.reason : undefined,
  }))
  // mine.cursor is there if there are more: list({ applicant: 'ada' }, { limit: 20, cursor: mine.cursor })
  // #endregion mine
  expect(states).toEqual([{ id, state: 'approved', clientId: id, refusedBecause: undefined }])
})

// #region form
/** Writes the form by which an administrator decides. `formToken` belongs to the administrator's session. */
function reviewForm({ id, applicant = 'an administrator', review }: Application, formToken: string): string {
  if (review === undefined) return 'Nothing waits here.'
  const { name, website, logo, redirectUris, scopes, reasons, resourceScope, deviceFlow } = review.details
  return renderHtml(html`<form method="post" action="/admin/applications/${id}">
    <img src="/admin/logos/${logo}" alt="" width="96">
    <p>${name}, ${website}, handed in by ${applicant}</p>
    <p>Sends users to: ${redirectUris.join(', ')}</p>
    <p>Resources: ${resourceScope}. Device flow: ${deviceFlow ? 'yes' : 'no'}</p>
    ${scopes.map(
      (scope) =>
        html`<label><input type="checkbox" name="scopes" value="${scope}" checked> ${scope}: ${reasons[scope] ?? ''}</label>`,
    )}
    <input type="hidden" name="revision" value="${review.revision}">
    <input type="hidden" name="form_token" value="${formToken}">
    <input name="reason" maxlength="350">
    <button name="decision" value="approve">Approve</button> <button name="decision" value="reject">Reject</button>
  </form>`)
}

/** Takes the form. In front of it stand your check of the administrator, `express.urlencoded()` and your check of the form token. */
async function takeReview({ params, body }: Request, response: Response): Promise<void> {
  const id = String(params['id'])
  const revision = Number(body.revision) // a form sends text, and the functions take a number
  try {
    if (body.decision === 'approve') {
      const scopes = [body.scopes ?? []].flat() // one checked box is a text, several are a list
      const { clientId, clientSecret } = await server.applications.approve(id, { revision, scopes })
      response.send(
        renderHtml(html`<p>Approved: ${clientId}</p><p>Shown this once: ${clientSecret ?? 'no secret'}</p>`),
      )
    } else {
      await server.applications.reject(id, { revision, reason: String(body.reason ?? '') })
      response.send('Rejected.')
    }
  } catch (error) {
    const [status, sentence] = refusalOf(error)
    response.status(status).type('text').send(sentence)
  }
}

/** Returns the status and the sentence for a decision that was not taken. Any other error goes on to Express. */
function refusalOf(error: unknown): readonly [status: number, sentence: string] {
  if (!(error instanceof GrantwellError)) throw error
  switch (error.code) {
    case 'ERR_APPLICATION_STATE':
      return [409, 'Somebody has decided about this already. Look at the application again.']
    case 'ERR_REVISION_OUTDATED':
      return [409, 'The applicant has handed in something newer. Look at the application again.']
    case 'ERR_CLIENT_UNKNOWN':
      return [404, 'There is no such application.']
    case 'ERR_REGISTRATION': // an empty reason, for example
      return [400, `Nothing was decided: ${error.faults.map(({ path, message }) => `${path} ${message}`).join(', ')}.`]
    default:
      throw error
  }
}

/** Sends a logo that is in review. The server's own address has only logos of approved applications. */
async function sendLogo({ params }: Request, response: Response): Promise<void> {
  const logo = await server.applications.logo(String(params['logo']))
  if (logo === undefined) response.sendStatus(404)
  else response.type(logo.type).set('X-Content-Type-Options', 'nosniff').send(Buffer.from(logo.bytes))
}
// #endregion form

const applicantOf = (_request: Request): string => 'ada'
const formTokenOf = (_request: Request): string => 'a-token'
const ownForm = ({ body }: Request, response: Response, next: NextFunction): void => {
  if (body['form_token'] === 'a-token') next()
  else response.status(403).send('Open the page again.')
}

// #region applicant
const ASKABLE = ['repo-issue:rw', 'repo-code:r'] // the scopes that your form offers

type Fault = Pick<RegistrationFault, 'path' | 'code' | 'values'>
const english = { locale: 'en', texts: await loadTexts('en') } // or the language of your applicant

/** Writes the form of an applicant: with what was typed before, and a sentence beside each field that has a fault. */
function submissionForm(request: Request, faults: readonly Fault[] = []): string {
  const typed = (field: string) => textOf(request, field)
  const beside = (field: string) =>
    faults
      .filter(({ path }) => path.split(/[[.]/)[0] === field) // redirectUris[0] belongs to redirectUris
      .map((fault) => html`<p role="alert">${faultText(english, fault)}</p>`)
  return renderHtml(html`<form method="post" action="/applications/new" enctype="multipart/form-data">
    <input type="hidden" name="form_token" value="${formTokenOf(request)}">
    <label>Name <input name="name" value="${typed('name')}"></label>${beside('name')}
    <label>Website <input name="website" value="${typed('website')}"></label>${beside('website')}
    <label>Redirect URI <input name="redirectUri" value="${typed('redirectUri')}"></label>${beside('redirectUris')}
    ${ASKABLE.map((scope) => html`<label>Why ${scope}, if at all? <input name="${scope}" value="${typed(scope)}"></label>`)}
    ${beside('scopes')}
    <label>Logo, at most 1 MB <input type="file" name="logo"></label>${beside('logo')}
    <button>Hand in</button>
  </form>`)
}

/** Returns the text in a field of the form; empty before the form was sent. */
function textOf({ body }: Request, field: string): string {
  const text: unknown = body?.[field]
  return typeof text === 'string' ? text : ''
}

const readForm = multer({ limits: { fileSize: 1_048_576, files: 1 } }).single('logo') // the file stays in memory

/** Reads the form. A logo that is too large is a fault of its field. */
function readSubmission(request: Request, response: Response, next: NextFunction): void {
  readForm(request, response, (error: unknown) => {
    if (error === undefined) next()
    else if (error instanceof multer.MulterError && error.code === 'LIMIT_FILE_SIZE') {
      const fault = { path: 'logo', code: 'logo_bytes', values: { most: 1_048_576 } } as const
      response.status(413).send(submissionForm(request, [fault]))
    } else response.status(400).send('This form cannot be read.')
  })
}

/** Hands in what was read. Your check of the form token stands between the two. */
async function takeSubmission(request: Request, response: Response): Promise<void> {
  const scopes = ASKABLE.map((scope) => ({ scope, reason: textOf(request, scope) }))
  const submission: Submission = {
    name: textOf(request, 'name'),
    website: textOf(request, 'website'),
    logo: request.file?.buffer ?? new Uint8Array(),
    redirectUris: [textOf(request, 'redirectUri')],
    scopes: scopes.filter(({ reason }) => reason !== ''),
    type: 'confidential', // these two may be fields as well
    resourceScope: 'all',
  }
  try {
    await server.applications.submit(submission, { applicant: applicantOf(request) })
    response.send('Your application waits for an administrator.')
  } catch (error) {
    if (!(error instanceof GrantwellError)) throw error
    if (error.code === 'ERR_REGISTRATION') response.status(400).send(submissionForm(request, error.faults))
    else if (error.code === 'ERR_TOO_MANY_SUBMISSIONS')
      response.status(429).send('Too many applications of yours wait for an administrator.')
    else throw error
  }
}
// #endregion applicant

it('is reviewed by a form, whose revision is text', async () => {
  const { server: made } = await testServer()
  const before = server
  server = made
  const app = express().set('env', 'test')
  app.post('/admin/applications/:id', express.urlencoded(), takeReview)
  app.get('/admin/logos/:logo', sendLogo)
  const web = await listen(app)
  try {
    const send = async (id: string, form: Record<string, string>): Promise<string> => {
      const body = new URLSearchParams(form)
      const answer = await fetch(`${web.origin}/admin/applications/${id}`, { method: 'POST', body })
      return `${answer.status} ${await answer.text()}`
    }
    const decide = async (form: Record<string, string>): Promise<string> => {
      const [waiting] = (await made.applications.list({ state: 'pending' })).applications
      if (waiting?.review === undefined) return expect.fail('nothing waits')
      const page = reviewForm(waiting, 'a-token')
      expect(page).toContain('Copies issues in both directions')
      const src = /src="([^"]+)"/.exec(page)?.[1] ?? ''
      const logo = await fetch(web.origin + src)
      expect([logo.headers.get('content-type'), logo.headers.get('x-content-type-options')]).toEqual([
        'image/png',
        'nosniff',
      ])
      const id = /action="\/admin\/applications\/([^"]+)"/.exec(page)?.[1] ?? ''
      const revision = /name="revision" value="(\d+)"/.exec(page)?.[1] ?? ''
      return send(id, { revision, ...form })
    }
    const approval = { decision: 'approve', scopes: 'repo-issue:rw' }
    const rejection = { decision: 'reject', reason: 'The website does not answer.' }
    const decided = '409 Somebody has decided about this already. Look at the application again.'
    const first = await made.applications.submit(submission, { applicant: 'ada' })
    expect(await decide(approval)).toMatch(/^200 .*Approved: .*Shown this once: gws_/s)
    expect(await send(first.id, { revision: '1', ...approval })).toBe(decided) // the button was pressed twice
    expect(await send(first.id, { revision: '1', ...rejection })).toBe(decided)

    const second = await made.applications.submit(submission, { applicant: 'ada' })
    const noReason = '400 Nothing was decided: reason must have 1 to 350 characters.'
    expect(await decide({ decision: 'reject', reason: '' })).toBe(noReason)
    expect(await decide({ decision: 'reject' })).toBe(noReason)
    expect(await decide({ decision: 'approve' })).toMatch(/^400 Nothing was decided: scopes must /)
    expect(await decide({ decision: 'approve', scopes: 'repo-code:rw' })).toMatch(
      /^400 Nothing was decided: scopes must /,
    )
    expect(await send(second.id, { revision: '7', ...approval })).toMatch(
      /^409 The applicant has handed in something newer/,
    )
    expect(await decide(rejection)).toBe('200 Rejected.')
    expect(await send(second.id, { revision: '1', ...rejection })).toBe(decided)
    expect(await send('nobody', { revision: '1', ...approval })).toBe('404 There is no such application.')
    expect(await send('nobody', { revision: 'first', ...approval })).toMatch(/^500 /)
    expect(await fetch(`${web.origin}/admin/logos/none`).then(({ status }) => status)).toBe(404)
    const asText = { revision: '1' as unknown as number }
    expect(readPage('guides/applications')).toContain(await messageOf(() => made.applications.approve('x', asText)))
  } finally {
    server = before
    await web.close()
  }
})

it('is handed in by a form with a file, and has every fault beside its field', async () => {
  const { server: made } = await testServer()
  const before = server
  server = made
  const app = express().set('env', 'test')
  // #region applicant-routes
  app.get('/applications/new', (request, response) => {
    response.send(submissionForm(request))
  })
  app.post('/applications/new', readSubmission, ownForm, takeSubmission)
  // #endregion applicant-routes
  const web = await listen(app)
  try {
    const typed = {
      name: 'Issue Mirror',
      website: 'https://mirror.example',
      redirectUri: 'https://mirror.example/callback',
      'repo-issue:rw': 'Copies issues in both directions',
    }
    const send = async (logo: Uint8Array, fields: Record<string, string> = {}) => {
      const form = await (await fetch(`${web.origin}/applications/new`)).text()
      const token = /name="form_token" value="([^"]+)"/.exec(form)?.[1] ?? ''
      const body = new FormData()
      for (const [name, value] of Object.entries({ form_token: token, ...typed, ...fields })) body.set(name, value)
      body.set('logo', new Blob([Uint8Array.from(logo)]), 'logo.png')
      const answer = await fetch(`${web.origin}/applications/new`, { method: 'POST', body })
      return `${answer.status} ${await answer.text()}`
    }
    const logo = readFileSync(new URL('logo.png', import.meta.url))
    expect(await send(logo)).toBe('200 Your application waits for an administrator.')
    const [waiting] = (await made.applications.list({ applicant: 'ada' })).applications
    const { scopes, reasons } = waiting?.review?.details ?? expect.fail('nothing waits')
    expect([scopes, reasons['repo-issue:rw']]).toEqual([['repo-issue:rw'], typed['repo-issue:rw']])

    const large = await send(new Uint8Array(1_048_577))
    expect(large).toMatch(/^413 <form/)
    expect(large).toContain('name="logo"></label><p role="alert">The logo must have at most 1,048,576 bytes.</p>')
    for (const text of Object.values(typed)) expect(large).toContain(`value="${text}"`)
    expect(await send(new Uint8Array(1_048_576))).toMatch(/^400 .*<p role="alert">The logo must be a PNG, /s)
    expect(await send(new Uint8Array())).toMatch(/^400 .*<p role="alert">The logo must be a PNG, /s)

    const faulty = await send(logo, { name: '', redirectUri: 'http://mirror.example/', 'repo-issue:rw': '' })
    expect(faulty).toMatch(/name="name" value=""><\/label><p role="alert">The name must have 1 to 50 characters/)
    expect(faulty).toMatch(/<\/label><p role="alert">The redirect URI must be https/)
    expect(faulty).toMatch(/<p role="alert">The scopes must /)
    expect(await send(logo, { form_token: 'of another site' })).toMatch(/^403 /)
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const torn = await fetch(`${web.origin}/applications/new`, { method: 'POST', headers, body: '--x\r\n' })
    expect([torn.status, await torn.text()]).toEqual([400, 'This form cannot be read.'])

    for (let each = 1; each < 20; each++) await made.applications.submit(submission, { applicant: 'ada' })
    expect(await send(logo)).toBe('429 Too many applications of yours wait for an administrator.')
  } finally {
    server = before
    await web.close()
  }
})

it('asks for no public resources on a page that leaves them out', async () => {
  // #region no-public
  const pages: Partial<Pages> = {
    consent: (input) => {
      const { resources } = input.model
      const choices = resources.choices.filter((kind) => kind !== 'public')
      return defaultPages.consent({ ...input, model: { ...input.model, resources: { ...resources, choices } } })
    },
  }
  // #endregion no-public
  const changed = await testServer({ pages })
  const { page } = await openConsent(changed)
  expect(page.body).not.toContain('All public resources')
  expect(page.body).toContain('All resources of your account')
  const { code } = await authorize(changed)
  expect((await exchange(changed, code)).status).toBe(200)

  const usual = await testServer()
  expect((await openConsent(usual)).page.body).toContain('All public resources')
  const narrow = await authorize(usual, {}, { resource_scope: 'public' })
  const { access_token } = (await exchange(usual, narrow.code)).body
  expect(await call(usual, access_token)).toMatchObject({ resources: { kind: 'public' } })
})

const registered = { clientId: 'mirror', clientSecret: 'a-secret-that-the-mirror-has-already' }
// #region registration
const registration: Registration = { ...submission, scopes: ['repo-issue:rw', 'repo-code:rw'] } // reasons may be left out
// #endregion registration

it('is registered in one step, and keeps the credentials that it has', async () => {
  // #region register
  const { clientId, clientSecret } = await server.applications.register(registration, {
    clientId: 'mirror', // left out, both are made at random
    clientSecret: 'a-secret-that-the-mirror-has-already',
  })
  // #endregion register
  expect({ clientId, clientSecret }).toEqual(registered)
})

it('changes what it is only when the change is approved', async () => {
  const clientId = 'mirror'
  // #region change
  const amendment: Amendment = { name: 'Issue Mirror Pro' }
  const changed = await server.applications.change(clientId, amendment)
  // #endregion change
  expect(changed).toMatchObject({ name: 'Issue Mirror', review: { state: 'pending', revision: 2 } })
  await server.applications.approve(clientId, { revision: 2 })
  const after = await server.applications.get(clientId)
  expect(after).toMatchObject({ name: 'Issue Mirror Pro' })
  const page = readPage('guides/applications')
  expect(page).toContain(await messageOf(() => server.applications.approve(clientId, { revision: 2 })))
  const other = () => server.applications.change(clientId, { type: 'public' })
  expect(page).toContain(await messageOf(other))
})

it('is withdrawn, given away, found and deleted, and has terms of its own', async () => {
  const { id } = await server.applications.submit(submission, { applicant: 'ada' })
  // #region exact
  const redirectUris = ['https://mirror.example/callback', 'https://mirror.test/callback']
  await server.applications.change(id, { redirectUris, redirectMatching: 'exact' })
  // #endregion exact
  // #region transfer
  await server.applications.transfer(id, { applicant: 'grace' }) // she has it from now on
  // #endregion transfer
  await server.applications.approve(id, { revision: 2 })
  await server.applications.change(id, { name: 'Another name' })
  // #region withdraw
  await server.applications.withdraw(id) // the change that waits; or the application, if it was never approved
  // #endregion withdraw
  // #region terms
  await server.applications.setTerms(id, { firstParty: true, accessTokenLifetime: 900 })
  // #endregion terms
  expect(await server.applications.get(id)).toMatchObject({
    applicant: 'grace',
    redirectUris,
    terms: { firstParty: true },
  })
  // #region search
  const { applications, cursor } = await server.applications.search({ text: 'mirror', state: 'approved' })
  const waiting = await server.applications.count({ state: 'pending' })
  // #endregion search
  expect([applications.some((each) => each.id === id), cursor, waiting]).toStrictEqual([
    true,
    undefined,
    await server.applications.count({ state: 'pending' }),
  ])
  // #region delete
  await server.applications.delete(id)
  // #endregion delete
  expect(await server.applications.get(id)).toBeUndefined()
  const { id: other } = await server.applications.submit(submission)
  test.events.length = 0
  // #region actor
  await server.applications.reject(other, { revision: 1, reason: 'We know this name.', actor: 'root' })
  // { type: 'application', change: 'rejected', actor: 'root', ... }
  // #endregion actor
  expect(test.events).toMatchObject([{ type: 'application', change: 'rejected', actor: 'root' }])
})

it('is refused by rules of the host, or gets less', async () => {
  const isMember = (subject: string): boolean => subject === 'grace'
  // #region authorize
  const authorizeRequest = ({ user, application, scopes }: PermissionRequest) => {
    if (isMember(user.subject)) return true
    if (application.type === 'public') return false
    return { scopes: scopes.filter((scope) => !scope.endsWith(':rw')) } // guests read
  }
  // in the options: authorize: authorizeRequest
  // #endregion authorize
  const guest = await testServer({ authorize: authorizeRequest })
  const { code } = await authorize(guest, { scope: 'repo-code:rw account-profile:r' })
  expect((await exchange(guest, code)).body.scope).toBe('account-profile:r')
})

it('stops at the next request while it is suspended', async () => {
  const clientId = 'mirror'
  const callback = { client_id: clientId, redirect_uri: 'https://mirror.example/callback' }
  const { code } = await authorize(test, callback)
  const { access_token } = (await exchange(test, code, {}, registered)).body
  expect(await works(test, access_token)).toBe(true)
  // #region suspend
  await server.applications.suspend(clientId)
  // #endregion suspend
  expect(await works(test, access_token)).toBe(false)
  // #region reinstate
  await server.applications.reinstate(clientId)
  // #endregion reinstate
  expect(await works(test, access_token)).toBe(true)
  // #region end
  await server.applications.suspend(clientId)
  await server.grants.revokeApplication(clientId)
  // #endregion end
  await server.applications.reinstate(clientId)
  expect(await works(test, access_token)).toBe(false)
})

it('gets new secrets, beside which the older ones work for a time', async () => {
  const clientId = 'mirror'
  const authenticates = async (clientSecret: string) => {
    const { body } = await exchange(test, 'unknown', {}, { clientId, clientSecret })
    return body.error !== 'invalid_client'
  }
  // #region rotate
  const { clientSecret } = await server.applications.rotateSecret(clientId) // the older one works for a day
  // #endregion rotate
  expect([await authenticates(clientSecret), await authenticates(registered.clientSecret)]).toEqual([true, true])
  // #region leaked
  const fresh = await server.applications.rotateSecret(clientId, { overlap: 0 }) // all older ones stop now
  // #endregion leaked
  expect([await authenticates(fresh.clientSecret), await authenticates(clientSecret)]).toEqual([true, false])
})

it('learns which rule a redirect URI breaks', async () => {
  const clientId = 'mirror'
  // #region explain
  const fault = await server.applications.explainRedirect(clientId, 'https://other.example/callback')
  console.log(fault?.message) // must have the host mirror.example
  console.log(fault && faultText(english, fault)) // The redirect URI must have the host mirror.example.
  // #endregion explain
  expect(fault).toStrictEqual({
    code: 'redirect_uri_host',
    values: { domain: 'mirror.example' },
    message: 'must have the host mirror.example',
  })
})

it('may not wait in more than 20 submissions of one applicant', async () => {
  for (let each = 0; each < 20; each++) await server.applications.submit(submission, { applicant: 'eve' })
  expect(readPage('guides/applications')).toContain(
    await messageOf(() => server.applications.submit(submission, { applicant: 'eve' })),
  )
})

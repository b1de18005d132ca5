/**
 * The pages on which users hand in applications of their own, and changes of them.
 * @module
 */
import { html } from 'grantwell/pages'
import { readUpload, redirect, sendNotFound, sendPage } from './page.mjs'
import { identity, isolated, sentencesOf, terms } from './registration.mjs'
import { EMPTY, registrationOf, submissionForm, valuesIn, valuesOf } from './submission-form.mjs'

const STATES = {
  pending: 'Waits for an administrator.',
  approved: 'Approved.',
  suspended: 'Suspended by an administrator.',
  rejected: 'Rejected.',
}

/** The routes, each a function of `{ user, request, response, url }`. */
export function submissionRoutes({ applications, scopes, place }) {
  return {
    'GET /applications': show,
    'GET /applications/new': ({ response }) => sendForm(response, { values: EMPTY }),
    'POST /applications/new': ({ user, ...page }) =>
      handIn(page, {}, (given) => applications.submit(given, { applicant: user.subject })),
    'GET /applications/change': ofUser(({ application, response }) =>
      sendForm(response, { id: application.id, values: valuesOf(latest(application)) }),
    ),
    'POST /applications/change': ofUser(({ application: { id }, ...page }) =>
      handIn(page, { id }, (given) => applications.change(id, given)),
    ),
  }

  async function show({ user, response }) {
    const found = []
    let cursor
    do {
      const page = await applications.list({ applicant: user.subject }, { ...(cursor && { cursor }) })
      found.push(...page.applications)
      cursor = page.cursor
    } while (cursor)
    const body = html`${found.length === 0 ? html`<p>You have handed in none.</p>` : undefined}
${found.map((application) => html`<article class="registration">${own(application)}</article>\n`)}
<p><a class="button" href="/applications/new">Hand in an application</a></p>
<p><a href="/">To the start</a></p>`
    sendPage(response, 200, { title: 'Your applications', place, body })
  }

  /** Takes the form; where something is wrong with it, shows it again with every fault. */
  async function handIn({ request, response }, { id }, use) {
    const form = await readUpload(request, response)
    if (form === undefined) return
    const values = valuesIn(form, scopes)
    const logo = form.get('logo')
    // A field for a file that was left empty comes as a file without a byte.
    const bytes = logo instanceof File && logo.size > 0 ? new Uint8Array(await logo.arrayBuffer()) : undefined
    try {
      await use({ ...registrationOf(values), logo: bytes })
      redirect(response, '/applications')
    } catch (error) {
      const problem = sentencesOf(error).join(' ') // throws what is nobody's mistake
      const { faults } = error
      const told = faults.length > 0 ? 'Nothing was handed in yet: see below what is wrong.' : problem
      sendForm(response, { id, values, faults, problem: told })
    }
  }

  function sendForm(response, form) {
    const title = form.id === undefined ? 'Hand in an application' : 'Change an application'
    sendPage(response, form.problem ? 400 : 200, { title, place, body: submissionForm(form, scopes) })
  }

  /** For an application of the user's own: any other is as good as none. */
  function ofUser(answer) {
    return async (page) => {
      const application = await applications.get(page.url.searchParams.get('id') ?? '')
      const own = application?.applicant === page.user.subject
      return own ? answer({ ...page, application }) : sendNotFound(page.response)
    }
  }
}

/** What was handed in last, as long as it waits or where there is nothing else; or what is in force. */
function latest(application) {
  const { review } = application
  return isPublished(application) && review?.state !== 'pending' ? application : review.details
}

function isPublished({ state }) {
  return state === 'approved' || state === 'suspended'
}

function own(application) {
  const { id, state, review } = application
  const inForce = isPublished(application) ? application : undefined
  const change = html`<p><a href="/applications/change?id=${encodeURIComponent(id)}">Change it</a></p>`
  return html`${identity(latest(application), inForce)}
<p><b>${STATES[state]}</b> ${inForce && review?.state === 'pending' ? 'A change waits for an administrator.' : ''}</p>
${review?.state === 'rejected' ? rejection(review, inForce) : undefined}
${terms(latest(application), inForce)}
${inForce && html`<dl><div><dt>Client identifier</dt><dd><code>${id}</code></dd></div></dl>`}
${state === 'rejected' ? undefined : change}`
}

function rejection({ reason }, inForce) {
  return html`<p>${inForce ? 'A change was rejected' : 'The reason'}: ${isolated(reason)}</p>`
}

/**
 * The page on which an administrator approves applications, and stops them. Who may open it is for the host to say.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { GrantwellError } from 'grantwell'
import { html } from 'grantwell/pages'
import { readForm, redirect, sendPage } from './page.mjs'
import { askedScope, identity, isolated, sentencesOf, terms } from './registration.mjs'

/** How many outcomes are kept that nobody has looked at yet. */
const NOTICES_MAX = 100

/** The routes, each a function of `{ user, request, response, url }`. */
export function administrationRoutes({ applications, scopes, place }) {
  /** What came of a form, with a secret perhaps, until it is shown for the first and last time. */
  const notices = new Map()

  /** What the buttons do. Each returns what to say. */
  const actions = {
    approve: async ({ id, revision, form }) => {
      const issued = await applications.approve(id, { revision, scopes: form.getAll('scope') })
      return html`<p>It is approved.</p>${credentials(issued)}`
    },
    reject: async ({ id, revision, form }) => {
      await applications.reject(id, { revision, reason: form.get('reason') ?? '' })
      return html`<p>It is rejected, and its applicant can read why.</p>`
    },
    // Whatever was handed in meanwhile: nobody may be able to keep an administrator from stopping an application.
    suspend: async ({ id }) => {
      await applications.suspend(id)
      return html`<p>It is suspended: its tokens do not work any more.</p>`
    },
    reinstate: async ({ id, revision }) => {
      await wasLookedAt(id, revision)
      await applications.reinstate(id)
      return html`<p>It is reinstated.</p>`
    },
    rotate: async ({ id, revision }) => {
      await wasLookedAt(id, revision)
      return html`<p>It has a new secret. The old one works for another day.</p>
${credentials(await applications.rotateSecret(id))}`
    },
  }

  return { 'GET /administration': show, 'POST /administration': act }

  async function act({ request, response }) {
    const form = await readForm(request, response)
    if (form === undefined) return
    const action = Object.hasOwn(actions, form.get('action')) ? actions[form.get('action')] : undefined
    const id = form.get('id') ?? ''
    const revision = Number(form.get('revision'))
    try {
      if (action === undefined) throw new GrantwellError('ERR_APPLICATION_STATE', 'this is nothing that can be done')
      const outcome = await action({ id, revision, form })
      const application = await applications.get(id)
      const { name } = application.review?.details ?? application
      const notice = randomUUID()
      notices.set(notice, html`<p><b>${isolated(name)}</b></p>${outcome}`)
      if (notices.size > NOTICES_MAX) notices.delete(notices.keys().next().value)
      redirect(response, `/administration?notice=${notice}`)
    } catch (error) {
      await sendLists(response, 400, html`<p class="fault" role="alert">${sentencesOf(error).join(' ')}</p>`)
    }
  }

  /** The page; with the outcome of a form once, so that a secret does not come back with Reload or Back. */
  async function show({ request, response, url }) {
    const id = url.searchParams.get('notice')
    const notice = notices.get(id)
    if (request.method === 'GET') notices.delete(id)
    await sendLists(response, 200, notice && html`<div class="notice" role="status">${notice}</div>`)
  }

  async function sendLists(response, status, message) {
    const lists = await Promise.all(['pending', 'approved', 'suspended', 'rejected'].map(listOf))
    const [pending, approved, suspended, rejected] = lists
    const body = html`${message}
${section('Waiting for a decision', pending, waiting)}
${section('Approved', approved, (application) => published(application, 'suspend', 'Suspend'))}
${section('Suspended', suspended, (application) => published(application, 'reinstate', 'Reinstate'))}
${section('Rejected', rejected, ({ review }) => html`${card(review.details)}${rejection(review)}`)}
<p><a href="/">To the start</a></p>`
    sendPage(response, status, { title: 'Administration', place, body })
  }

  async function listOf(state) {
    const found = []
    let cursor
    do {
      const page = await applications.list({ state }, { ...(cursor && { cursor }) })
      found.push(...page.applications)
      cursor = page.cursor
    } while (cursor)
    return found
  }

  /** The library compares the revision where something is approved or rejected; here it is looked up before. */
  async function wasLookedAt(id, revision) {
    const application = await applications.get(id)
    if (application === undefined || application.revision === revision) return
    throw new GrantwellError('ERR_REVISION_OUTDATED', 'something newer was handed in: look at the application again')
  }

  /** A new application, or a change of one that is in use. */
  function waiting(application) {
    const { review, applicant } = application
    const before = application.state === 'pending' ? undefined : application
    return html`${card(review.details, before)}
<p class="hint">${before ? 'A change of an application in use' : 'A new application'}, handed in by ${applicant ?? 'nobody known'};
revision ${review.revision}</p>
<form method="post" action="/administration" autocomplete="off">
${lookedAt(application)}
<fieldset><legend>Grant these scopes</legend>
${review.details.scopes.map((scope) => scopeChoice(scope, review.details, before))}</fieldset>
<button name="action" value="approve">Approve</button>
</form>
<form method="post" action="/administration" autocomplete="off">
${lookedAt(application)}
<label class="field">Reason, for the applicant<textarea name="reason" required></textarea></label>
<button class="danger" name="action" value="reject">Reject</button>
</form>`
  }

  /** Where reading and writing are asked for, reading alone can be granted. */
  function scopeChoice(scope, details, before) {
    const box = (value) => html`<input type="checkbox" name="scope" value="${value}" checked>`
    const narrower = scope.replace(/:rw$/, ':r')
    const choice = html`<label class="choice">${box(scope)} <span>${askedScope(scope, details, before)}</span></label>\n`
    if (narrower === scope || !scopes.entries.has(narrower)) return choice
    return html`${choice}<label class="choice narrower">${box(narrower)} <code>${narrower}</code></label>\n`
  }
}

function section(title, applications, show) {
  return html`<section><h2>${title}</h2>
${applications.length === 0 ? html`<p>None.</p>` : undefined}
${applications.map((application) => html`<article class="registration">${show(application)}</article>\n`)}</section>`
}

function card(details, before) {
  return html`${identity(details, before)}${terms(details, before)}`
}

function published(application, action, label) {
  const { review, clientId } = application
  const rotate = html`<button class="danger" name="action" value="rotate">New secret</button>`
  return html`${card(application)}
<dl><div><dt>Client identifier</dt><dd><code>${clientId}</code></dd></div></dl>
${review?.state === 'rejected' ? rejection(review, 'A change was rejected') : undefined}
<form method="post" action="/administration" autocomplete="off">
${lookedAt(application)}
<button class="${action === 'suspend' ? 'danger' : ''}" name="action" value="${action}">${label}</button>
${application.type === 'confidential' ? rotate : undefined}
</form>`
}

function rejection({ reason }, what = 'Rejected') {
  return html`<p>${what}: ${isolated(reason)}</p>`
}

/** What a decision is about: the application, and which state of it the administrator has before them. */
function lookedAt({ id, revision }) {
  return html`<input type="hidden" name="id" value="${id}">
<input type="hidden" name="revision" value="${revision}">`
}

function credentials({ clientId, clientSecret }) {
  const secret = html`<div><dt>client_secret, shown this once</dt><dd><code>${clientSecret}</code></dd></div>`
  return html`<dl><div><dt>client_id</dt><dd><code>${clientId}</code></dd></div>
${clientSecret ? secret : undefined}</dl>`
}

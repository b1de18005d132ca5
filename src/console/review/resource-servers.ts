/**
 * The page of the resource servers for administrators.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { isPublished, isResourceServer } from '../../core/application/application.js'
import type { RegistrationFault } from '../../core/application/faults.js'
import { decodeBase64url, encodeBase64url } from '../../core/credentials/base64url.js'
import { ifTrue, isolated } from '../../pages/fragments.js'
import type { SafeHtml } from '../../pages/html.js'
import { html } from '../../pages/html.js'
import { faultText } from '../../pages/index.js'
import type { HttpResponse } from '../../protocol/message.js'
import { listIn } from '../../protocol/parameters.js'
import { credentials, secretOf } from '../applicant/application.js'
import { checkbox } from '../applicant/registration-form.js'
import { scopeName } from '../describe.js'
import { errorCodeOf, faultsOf } from '../errors.js'
import type { SentAction } from '../forms.js'
import { actionForm, fieldOf, readAction } from '../forms.js'
import type { Told, Visit } from '../visit.js'
import { askedBy, pathOf, placeOf, respond } from '../visit.js'

/** The things that the form of a new one is filled with. */
interface Filled {
  readonly name: string
  readonly website: string
  readonly scopes: readonly string[]
  readonly audience: string
}

const EMPTY: Filled = { name: '', website: '', scopes: [], audience: '' }

/** The thing that the form of a new one is about: nothing yet. */
const NEW = { id: '', revision: 0 } as const

/** Shows the resource servers, and the form that registers one. */
export function resourceServersPage(visit: Visit): Promise<HttpResponse> {
  return showServers(visit, {}, EMPTY, [], 200)
}

async function showServers(
  visit: Visit,
  told: Told,
  filled: Filled,
  faults: readonly RegistrationFault[],
  status: number,
): Promise<HttpResponse> {
  const { texts } = visit.context.language
  const servers = await loadServers(visit)
  const main = html`<p>${texts['console.review.serversHint']}</p>
${ifTrue(servers.length === 0, html`<p>${texts['console.review.noServers']}</p>`)}
<ul class="listed">
${servers.map((server) => html`<li>${entry(visit, server)}</li>\n`)}</ul>
${registerForm(visit, filled, faults)}`
  return respond(visit, { title: texts['console.review.servers'], main, told, status })
}

/** Loads the resource servers. A service has few of them, and a search reads all applications. */
async function loadServers({ console }: Visit): Promise<readonly Application[]> {
  const found: Application[] = []
  for (const state of ['approved', 'suspended'] as const) {
    let cursor: string | undefined
    do {
      const page: Awaited<ReturnType<typeof console.applications.list>> = await console.applications.list(
        { state },
        cursor === undefined ? {} : { cursor },
      )
      found.push(...page.applications.filter(isResourceServer))
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  return found
}

function entry(visit: Visit, application: Application): SafeHtml {
  const { texts } = visit.context.language
  if (!isPublished(application)) return html``
  const { id, name, state, audience } = application
  const rotate = html`<div class="actions"><button type="submit">${texts['console.newSecret']}</button></div>`
  return html`<div><a href="${pathOf(visit, placeOf(id, 'administration/'))}">${isolated(name)}</a>
<p class="hint">${texts[`console.state.${state}`]} <code dir="ltr">${id}</code>${audience && html` ${isolated(audience)}`}</p>
${actionForm({ ...visit, place: 'administration/resource-servers' }, `rotate ${id}`, { id, revision: 0 }, rotate)}</div>`
}

function registerForm(visit: Visit, filled: Filled, faults: readonly RegistrationFault[]): SafeHtml {
  const { context } = visit
  const { texts } = context.language
  const of = (field: string): SafeHtml => {
    const found = faults.filter(({ path }) => path.split(/[[.]/)[0] === field)
    return html`${found.map((fault) => html`<p class="field-fault">${isolated(faultText(context.language, fault))}</p>\n`)}`
  }
  const audiences = [...context.audiences.values()]
  const option = (value: string, label: string): SafeHtml =>
    html`<option value="${value}"${ifTrue(value === filled.audience, html` selected`)}>${label}</option>`
  const audience = html`<label class="field">${texts['console.review.audience']}
<select name="audience">${option('', texts['console.review.noAudience'])}${audiences.map(({ resource, name }) => option(resource, `${name} (${resource})`))}</select></label>`
  const scopes = [...context.scopes.entries.keys()]
  const content = html`<h2>${texts['console.review.registerServer']}</h2>
<label class="field">${texts['console.name']}
<input name="name" value="${filled.name}" required></label>
${of('name')}
<label class="field">${texts['application.website']}
<input name="website" value="${filled.website}" required spellcheck="false"></label>
${of('website')}
${ifTrue(audiences.length > 0, audience)}${of('audience')}
<fieldset class="choices"><legend>${texts['console.scopes']}</legend>
${scopes.map((scope) => checkbox('scope', filled.scopes.includes(scope), scopeName(visit, scope), scope))}</fieldset>
${of('scopes')}
<div class="actions"><button type="submit" class="primary">${texts['console.review.registerServer']}</button></div>`
  return actionForm({ ...visit, place: 'administration/resource-servers' }, 'register', NEW, content)
}

/** Takes a form of the page. */
export async function sendResourceServer(visit: Visit): Promise<HttpResponse> {
  const { texts } = visit.context.language
  const registering = readAction(visit, NEW.id)
  if (registering?.action === 'register') return registerServer(visit, registering)
  for (const { id } of await loadServers(visit)) {
    const rotating = readAction(visit, id)
    if (rotating?.action === `rotate ${id}`) return rotateSecret(visit, id, rotating)
  }
  return showServers(visit, { fault: texts['error.applicationsForm'] }, EMPTY, [], 400)
}

async function registerServer(visit: Visit, sent: SentAction): Promise<HttpResponse> {
  const { texts } = visit.context.language
  const filled: Filled = {
    name: fieldOf(sent, 'name').trim(),
    website: fieldOf(sent, 'website').trim(),
    scopes: listIn(sent.parameters, 'scope'),
    audience: fieldOf(sent, 'audience'),
  }
  const { audience, ...registration } = filled
  // The form decides on both, so that it makes one resource server, however often it is sent.
  const clientSecret = secretOf(sent)
  const bytes = decodeBase64url(visit.context.digests.sha256(sent.secret)) as Uint8Array // a digest is base64url
  const clientId = encodeBase64url(bytes.subarray(0, 16))
  const shown = (notice: string) =>
    showServers(visit, { notice, more: credentials(visit, clientId, clientSecret) }, EMPTY, [], 200)
  try {
    await visit.console.applications.registerResourceServer(
      { ...registration, ...(audience !== '' && { audience }) },
      { clientId, clientSecret, ...askedBy(visit) },
    )
    return await shown(`${texts['console.review.serverRegistered']} ${texts['console.secretOnce']}`)
  } catch (error) {
    if (errorCodeOf(error) === 'ERR_CLIENT_EXISTS')
      return shown(`${texts['console.doneBefore']} ${texts['console.secretOnce']}`)
    if (errorCodeOf(error) !== 'ERR_REGISTRATION') throw error
    return showServers(visit, { fault: texts['console.faults'] }, filled, faultsOf(error), 400)
  }
}

async function rotateSecret(visit: Visit, id: string, sent: SentAction): Promise<HttpResponse> {
  const clientSecret = secretOf(sent)
  await visit.console.applications.rotateSecret(id, { clientSecret, ...askedBy(visit) })
  const told = {
    notice: visit.context.language.texts['console.secretOnce'],
    more: credentials(visit, id, clientSecret),
  }
  return showServers(visit, told, EMPTY, [], 200)
}

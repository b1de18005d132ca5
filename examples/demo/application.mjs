/**
 * The third-party application: a page that walks through the steps of OAuth 2.0 and shows every message.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { CREDENTIAL_PREFIXES } from 'grantwell/core'
import { html } from 'grantwell/pages'
import * as oauth from 'oauth4webapi'
import { cookieOf, readForm, redirect, sendNotFound, sendPage, setCookie, site } from './page.mjs'
import { stepsOf } from './steps.mjs'

/** How many walks are kept; then the oldest is forgotten. */
const FLOWS_MAX = 100

/** Headers that every response has and that say nothing about OAuth. */
const DULL_HEADERS = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

/**
 * Makes the application.
 * @param origin - where it will be reached
 * @param service - `issuer`, `api`, `clientId` and `clientSecret`, as the service gave them to its makers
 */
export function createApplication({ origin, ...service }) {
  const redirectUri = `${origin}/callback`
  const steps = stepsOf({ ...service, redirectUri })
  const look = { place: `Sample application, ${origin}`, look: 'sample' }
  // Cookies know no ports, so the name has it.
  const sessionCookie = `application-${new URL(origin).port}`

  /** Every walk through the steps, by its identifier. Each belongs to the browser that began it. */
  const flows = new Map()

  return { origin, redirectUri, handle: site(origin, answer) }

  function answer(route, request, response, url) {
    switch (route) {
      case 'GET /':
        return showStart(response)
      case 'POST /flow':
        return start(request, response)
      case 'GET /flow':
        return showFlow(request, response, url)
      case 'POST /step':
        return takeStep(request, response)
      case 'GET /callback':
        return takeAnswer(request, response, url)
      default:
        return sendNotFound(response)
    }
  }

  function showStart(response) {
    const body = html`<p>This is somebody else's application. It would like to list your repositories at the service,
and never learn your password. OAuth 2.0 makes that possible, in ten steps.</p>
<p>Take them one by one: each shows what was sent and what came back.</p>
<form method="post" action="/flow">
<label class="choice"><input type="checkbox" name="write" value="yes"> Ask to change code, too, and not only to read it</label>
<p><button>Start</button></p>
</form>`
    sendPage(response, 200, { ...look, title: 'Watch OAuth 2.0 at work', body })
  }

  async function start(request, response) {
    const form = await readForm(request, response)
    if (form === undefined) return
    // An identifier of our own making: one that somebody slipped the browser is not taken over.
    const session = flowOf(request, () => true)?.session ?? randomUUID()
    const id = randomUUID()
    const scope = form.get('write') ? 'repo-code:rw account-profile:r' : 'repo-code:r account-profile:r'
    flows.set(id, { id, session, scope, next: 0, done: [] })
    if (flows.size > FLOWS_MAX) flows.delete(flows.keys().next().value)
    redirect(response, `/flow?id=${id}`, setCookie(sessionCookie, session))
  }

  async function takeStep(request, response) {
    const form = await readForm(request, response)
    if (form === undefined) return
    const flow = flowOf(request, ({ id }) => id === form.get('id'))
    const step = steps[flow?.next]
    // A button that was pressed twice, or on a page from before, changes nothing.
    if (step?.button && step.name === form.get('step')) await run(flow)
    if (flow === undefined) sendNotFound(response)
    else redirect(response, `/flow?id=${flow.id}#${steps[flow.done.length - 1]?.name}`)
  }

  /** The browser comes back with the answer of the service. */
  async function takeAnswer(request, response, url) {
    // Only an answer to a request that this very browser made, and only the first one.
    const state = url.searchParams.get('state')
    const flow = flowOf(request, (each) => each.state === state && steps[each.next]?.name === 'callback')
    if (flow === undefined) {
      const body = html`<p>This answer belongs to no request that this browser made, or it came before. It may be
forged, so the application leaves it alone.</p><p><a class="button" href="/">Start again</a></p>`
      return sendPage(response, 400, { ...look, title: 'Unexpected answer', body })
    }
    await run(flow, url)
    // On to an address without the code, so that the code stays in no history and Reload does not bring it again.
    redirect(response, `/flow?id=${flow.id}#callback`)
  }

  function flowOf(request, matches) {
    const session = cookieOf(request, sessionCookie)
    return [...flows.values()].find((flow) => flow.session === session && matches(flow))
  }

  /** Runs the next step and keeps its messages. */
  async function run(flow, ...input) {
    const step = steps[flow.next]
    const done = { messages: [], outcome: '' }
    const show = (method, url, init, answered) => {
      done.messages.push({ request: requestText(method, url, init), response: answered })
    }
    flow.done.push(done)
    flow.next += 1 // before anything is sent, so that no step is taken twice
    try {
      const http = {
        show,
        // Without TLS everybody on the way can read the tokens: never but on loopback.
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: async (url, init) => {
          const response = await fetch(url, init)
          show(init.method, new URL(url), init, await responseText(response))
          return response
        },
      }
      done.outcome = await step.run(flow, http, ...input)
    } catch (error) {
      done.outcome = error.message
      done.failed = true
      flow.next = steps.length
    }
  }

  function showFlow(request, response, url) {
    const flow = flowOf(request, ({ id }) => id === url.searchParams.get('id'))
    if (flow === undefined) return sendNotFound(response)
    const mark = markCredentials()
    const items = steps.map((step, index) => {
      const done = flow.done[index]
      if (done) return showDone(step, done, index === flow.done.length - 1, mark)
      return index === flow.next ? showNext(step, flow) : html`<li class="later"><h2>${step.title}</h2></li>\n`
    })
    const end = flow.next < steps.length ? undefined : html`<p><a class="button" href="/">Start again</a></p>`
    const body = html`<ol class="steps">\n${items}</ol>\n${end}`
    sendPage(response, 200, { ...look, title: 'Watch OAuth 2.0 at work', body })
  }

  function showDone({ name, title, why, terms = {} }, { messages, outcome, failed }, latest, mark) {
    return html`<li id="${name}" class="${failed ? 'failed' : 'done'}"><details${latest ? html` open` : undefined}>
<summary><h2>${title}</h2></summary>
<div class="step">
<p>${why}</p>
${messages.map(
  ({ request, response }) => html`<section class="message"><h3>Request</h3><pre>${mark(request)}</pre></section>
${response && html`<section class="message"><h3>Response</h3><pre>${mark(response)}</pre></section>`}`,
)}
${failed ? undefined : showTerms(terms)}
<p class="outcome">${outcome}</p>
</div>
</details></li>
`
  }

  function showTerms(terms) {
    const items = Object.entries(terms).map(([term, meaning]) => html`<dt>${term}</dt><dd>${meaning}</dd>\n`)
    return items.length > 0 ? html`<dl class="terms">\n${items}</dl>` : undefined
  }

  function showNext({ name, title, why, button }, flow) {
    const go = button
      ? html`<form method="post" action="/step"><input type="hidden" name="id" value="${flow.id}">
<button name="step" value="${name}">${button}</button></form>`
      : html`<p><a class="button" href="${flow.link}">Go to the service</a></p>`
    return html`<li class="next"><h2>${title}</h2>
<div class="step"><p>${why}</p>
${go}</div></li>
`
  }
}

/** A request as text, its parameters one a line. */
function requestText(method, url, { headers = {}, body = '' } = {}) {
  const query = url.search && `\n  ${parameterLines(url.search)}`
  const lines = [`${method} ${url.pathname}${query}`, `host: ${url.host}`]
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body) lines.push('', parameterLines(String(body)))
  return lines.join('\n')
}

function parameterLines(text) {
  return text.replaceAll('&', '\n  &')
}

/** A response as text. Its body can still be read afterwards. */
async function responseText(response) {
  const lines = [`${response.status} ${response.statusText}`]
  for (const [name, value] of response.headers) if (!DULL_HEADERS.includes(name)) lines.push(`${name}: ${value}`)
  const body = await response.clone().text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  if (body) lines.push('', isJson ? jsonText(JSON.parse(body)) : body)
  return lines.join('\n')
}

/** JSON with indentation, and lists of words on one line. */
function jsonText(value) {
  return JSON.stringify(value, null, 2).replace(/\[[^[\]{}]*\]/g, (list) => list.replace(/\s+/g, ' '))
}

/** Makes the function that marks each credential in a text with a name that is the same in every message. */
function markCredentials() {
  const kinds = new Map(Object.entries(CREDENTIAL_PREFIXES).map(([kind, prefix]) => [prefix, kind.replace('_', ' ')]))
  const credential = new RegExp(`((?:${[...kinds.keys()].join('|')})[\\w-]{80})`)
  const names = new Map()

  function nameOf(text) {
    const kind = kinds.get(text.slice(0, 4))
    const others = [...names.values()].filter((name) => name.startsWith(kind))
    if (!names.has(text)) names.set(text, `${kind} ${others.length + 1}`)
    return names.get(text)
  }

  // Split at the group of the pattern, every second part is a credential.
  return (text) =>
    text.split(credential).map((part, index) => {
      if (index % 2 === 0) return html`${part}`
      const name = nameOf(part)
      return html`<mark class="${name.split(' ')[0]}" data-name="${name}">${part}</mark>`
    })
}

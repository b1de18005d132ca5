/**
 * An application as its applicant and the administrators see it.
 * @module
 */
import { displayText, html } from 'grantwell/pages'

const TYPES = { confidential: 'Confidential: it keeps a secret', public: 'Public: it cannot keep a secret' }
const RESOURCES = {
  all: 'All resources of an account',
  public: 'Public resources of an account',
  specified: 'Resources that the user chooses',
}

/** The logo and the name, which is a heading. */
export function identity({ name, logo }, before) {
  const picture = (id) => html`<img class="logo" src="/logo?id=${id}" alt="" width="56" height="56">`
  return html`<div class="identity">
${before && before.logo !== logo ? html`<del>${picture(before.logo)}</del><span>→</span>` : undefined}${picture(logo)}
<h3>${changed(before?.name, name, isolated)}</h3>
</div>`
}

/**
 * What was handed in.
 * @param details - of a review, or a published application
 * @param before - what is in force, where this is a change of it: shown as old → new
 */
export function terms(details, before) {
  const of = (name, show = isolated) => changed(before && (before[name] ?? ''), details[name] ?? '', show)
  const { scopes = [] } = before ?? {}
  return html`<dl>
<div><dt>Website</dt><dd>${of('website', link)}</dd></div>
<div><dt>Type</dt><dd>${of('type', (type) => TYPES[type])}</dd></div>
<div class="wide"><dt>Description</dt><dd>${of('description')}</dd></div>
<div class="wide"><dt>Redirect URIs</dt><dd>${list(details.redirectUris, before?.redirectUris)}</dd></div>
<div class="wide"><dt>Device flow</dt><dd>${of('deviceFlow', (may) => (may ? 'Yes' : 'No'))}</dd></div>
<div><dt>Authorized domain</dt><dd>${changed(before && domain(before), domain(details), isolated)}</dd></div>
<div><dt>Resources</dt><dd>${of('resourceScope', (scope) => RESOURCES[scope])}</dd></div>
<div class="wide"><dt>Scopes</dt><dd><ul>
${scopes.filter((scope) => !details.scopes.includes(scope)).map((scope) => html`<li><del>${scope}</del></li>\n`)}
${details.scopes.map((scope) => html`<li>${askedScope(scope, details, before)}</li>\n`)}
</ul></dd></div>
</dl>`
}

/** A scope with its reason. */
export function askedScope(scope, details, before) {
  const isNew = before !== undefined && !before.scopes.includes(scope)
  const reason = changed(before?.reasons[scope], details.reasons[scope] ?? '', isolated)
  return html`<code>${isNew ? html`<ins>${scope}</ins>` : scope}</code> <span class="hint">${reason}</span>`
}

/** Text in its own direction, which cannot reorder the words around it. */
export function isolated(text) {
  return html`<bdi>${displayText(text)}</bdi>`
}

/** The sentences for what grantwell throws at a caller's mistake; anything else is thrown on. */
export function sentencesOf(error) {
  if (error?.name !== 'GrantwellError' || error.code === 'ERR_STORE') throw error
  const texts =
    error.faults.length > 0 ? error.faults.map(({ path, message }) => `${path} ${message}`) : [error.message]
  return texts.map((text) => sentence(text.replace(/^grantwell: /, '')))
}

export function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** Old → new where there was something else before. */
function changed(before, now, show) {
  if (before === undefined || before === now) return html`${show(now)}`
  return html`<del>${before === '' ? 'nothing' : show(before)}</del> → <ins>${now === '' ? 'nothing' : show(now)}</ins>`
}

function list(now, before = now) {
  return html`<ul>
${before.filter((uri) => !now.includes(uri)).map((uri) => html`<li><del><code>${uri}</code></del></li>\n`)}
${now.map((uri) => html`<li><code>${before.includes(uri) ? uri : html`<ins>${uri}</ins>`}</code></li>\n`)}
</ul>`
}

/** Was checked to be one of http or https; shown as a browser reads it, so that no look-alike passes for another. */
function link(address) {
  const { href } = new URL(address)
  return html`<a href="${href}" rel="noreferrer noopener">${href}</a>`
}

function domain({ authorizedDomain = 'None', allowSubdomains }) {
  return allowSubdomains ? `${authorizedDomain} and its subdomains` : authorizedDomain
}

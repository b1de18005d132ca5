/**
 * The details of an application as a list, and what a change makes different in them.
 * @module
 */
import type { Application, ApplicationDetails } from '../core/application/application.js'
import { isPublished } from '../core/application/application.js'
import { registrationOf } from '../core/application/life/amendment.js'
import { reasonOf } from '../core/application/reason.js'
import type { Scope } from '../core/scopes.js'
import { describeScopes } from '../endpoints/interaction/consent-model.js'
import { ifTrue, isolated, logoOf, websiteLink } from '../pages/fragments.js'
import type { SafeHtml } from '../pages/html.js'
import { displayText, html } from '../pages/html.js'
import type { Texts } from '../pages/index.js'
import { logoPath } from './logo.js'
import type { Visit } from './visit.js'

/** Returns the details that were handed in last: those that wait, or else those in force. */
export function latestDetails(application: Application): ApplicationDetails {
  const { review } = application
  if (!isPublished(application)) return application.review.details
  return review?.state === 'pending' ? review.details : application
}

/** Returns the details in force; undefined where there are none yet. */
export function detailsInForce(application: Application): ApplicationDetails | undefined {
  return isPublished(application) ? application : undefined
}

/** Writes the logo and the name of an application, as a heading of a section. */
export function identity(visit: Visit, id: string, details: ApplicationDetails, before?: ApplicationDetails): SafeHtml {
  const { texts } = visit.context.language
  const logos = [before, details].filter((each, index, all) => each !== undefined && each.logo !== all[1 - index]?.logo)
  const shown = logos.length === 2 ? [before, details] : [details]
  return html`<div class="identity">
${shown.map((each) => (each === undefined ? html`` : logoOf({ name: each.name, ...logoPath(visit, id, each) })))}
<h2>${changed(texts, before?.name, details.name, isolated)}</h2>
</div>`
}

/** Writes the details of an application as a list; with those before, each difference is marked. */
export function describeDetails(visit: Visit, details: ApplicationDetails, before?: ApplicationDetails): SafeHtml {
  const { texts } = visit.context.language
  const yesOrNo = (value: boolean): SafeHtml => html`${texts[value ? 'console.yes' : 'console.no']}`
  const row = (label: string, value: SafeHtml): SafeHtml => html`<div><dt>${label}</dt><dd>${value}</dd></div>\n`
  const of = <Value extends string | boolean>(
    read: (of: ApplicationDetails) => Value,
    show: (value: Value) => SafeHtml,
  ): SafeHtml => changed(texts, before && read(before), read(details), show)
  const isMac = (each: ApplicationDetails): boolean => each.tokenType === 'mac'
  const isServer = details.resourceServer === true
  return html`<dl class="details">
${row(
  texts['application.website'],
  of(({ website }) => website, websiteLink),
)}\
${row(
  texts['console.type'],
  of(
    ({ type }) => type,
    (type) => html`${texts[`console.type.${type}`]}`,
  ),
)}\
${row(
  texts['console.description'],
  of(({ description = '' }) => description, isolated),
)}\
${ifTrue(!isServer, row(texts['console.redirectUris'], listOf(texts, details.redirectUris, before?.redirectUris, address)))}\
${ifTrue(
  !isServer,
  row(
    texts['console.redirectMatching'],
    of(
      (each) => registrationOf(each).redirectMatching ?? 'domain',
      (way) => html`${texts[`console.redirectMatching.${way}`]}`,
    ),
  ),
)}\
${ifTrue(!isServer, row(texts['console.authorizedDomain'], of(domainOf, address)))}\
${ifTrue(
  !isServer,
  row(
    texts['resources.title'],
    of(
      ({ resourceScope }) => resourceScope,
      (kind) => html`${texts[`resources.${kind}`]}`,
    ),
  ),
)}\
${ifTrue(
  !isServer,
  row(
    texts['console.deviceFlow'],
    of(({ deviceFlow }) => deviceFlow, yesOrNo),
  ),
)}\
${ifTrue(visit.context.macTokens && !isServer, row(texts['console.tokenType'], of(isMac, yesOrNo)))}\
${row(texts['console.scopes'], scopesOf(visit, details, before))}</dl>`
}

/** Writes the scopes, each with its reason; those that a change adds or takes away are marked. */
function scopesOf(visit: Visit, details: ApplicationDetails, before: ApplicationDetails | undefined): SafeHtml {
  const { texts } = visit.context.language
  const scopes = [...(before?.scopes ?? []).filter((scope) => !details.scopes.includes(scope)), ...details.scopes]
  return html`<ul>
${scopes.map((scope) => {
  const name = scopeName(visit, scope)
  if (!details.scopes.includes(scope)) return html`<li>${removed(texts, name)}</li>\n`
  const isNew = before !== undefined && !before.scopes.includes(scope)
  const reason = (of: ApplicationDetails): string => reasonOf(of.reasons, scope, visit.context.scopes) ?? ''
  const why = changed(texts, isNew || before === undefined ? undefined : reason(before), reason(details), isolated)
  return html`<li>${isNew ? added(texts, name) : name}<p class="reason">${why}</p></li>\n`
})}</ul>`
}

/** Writes a scope by its description, with its name. */
export function scopeName({ context }: Visit, scope: Scope): SafeHtml {
  const [described] = describeScopes(context, [scope])
  const words =
    described &&
    html`${isolated(described.description)} – ${context.language.texts[`permissions.${described.permission}`]} `
  return html`${words}<code dir="ltr">${displayText(scope)}</code>`
}

function domainOf({ authorizedDomain = '', allowSubdomains }: ApplicationDetails): string {
  return allowSubdomains ? `*.${authorizedDomain}` : authorizedDomain
}

function address(text: string): SafeHtml {
  return html`<code dir="ltr">${displayText(text)}</code>`
}

function listOf(
  texts: Texts,
  now: readonly string[],
  before: readonly string[] | undefined,
  show: (text: string) => SafeHtml,
): SafeHtml {
  const gone = (before ?? []).filter((each) => !now.includes(each))
  const isNew = (each: string): boolean => before !== undefined && !before.includes(each)
  return html`<ul>
${gone.map((each) => html`<li>${removed(texts, show(each))}</li>\n`)}\
${now.map((each) => html`<li>${isNew(each) ? added(texts, show(each)) : show(each)}</li>\n`)}</ul>`
}

/** Writes a value; with the one before where that was another. */
function changed<Value extends string | boolean>(
  texts: Texts,
  before: Value | undefined,
  now: Value,
  show: (value: Value) => SafeHtml,
): SafeHtml {
  const written = (value: Value): SafeHtml => (value === '' ? html`${texts['console.nothing']}` : show(value))
  if (before === undefined || before === now) return written(now)
  return html`${removed(texts, written(before))} ${added(texts, written(now))}`
}

// What a line through a word says, assistive technology does not tell.
function removed(texts: Texts, content: SafeHtml): SafeHtml {
  return html`<del><span class="unseen">${texts['console.was']} </span>${content}</del>`
}

function added(texts: Texts, content: SafeHtml): SafeHtml {
  return html`<ins><span class="unseen">${texts['console.is']} </span>${content}</ins>`
}

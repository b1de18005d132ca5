/**
 * The page on which a user sees the applications that have access, and revokes it.
 * @module
 * @see Specification, section 5.3; RFC 6819, section 5.1.5.2
 */
import {
  called,
  dayOf,
  faultNote,
  hiddenFields,
  ifTrue,
  isolated,
  logoOf,
  NOT_RESTORED,
  noticeNote,
  shortened,
  titled,
  websiteLink,
} from './fragments.js'
import { displayText, html, type SafeHtml } from './html.js'
import { type DefaultPageInput, readInput } from './input.js'
import { layOut, type SignedInUser } from './layout.js'
import { type ConsentAudience, type ConsentScope, permissionGroups, type ResourceKind, worksAt } from './permissions.js'
import type { Language, Texts } from './texts/texts.js'
import { countedText, fillHtml, fillText } from './texts/texts.js'

/** The model of the page of the authorized applications: the things that it shows, and the targets of its forms. */
export interface AuthorizedApplicationsPageModel {
  /** The user who is signed in. */
  readonly user: SignedInUser
  /** The applications that the user permitted something, the most recent first. */
  readonly applications: readonly AuthorizedApplication[]
  /** The URL path of the stylesheet. */
  readonly stylesheet: string
  /** The path and query of the next page; absent on the last. */
  readonly next?: string
  /** True if there are more applications than all these pages show. */
  readonly more: boolean
  /** True if some permissions cannot be read at present, and are on none of the pages; absent otherwise. */
  readonly isIncomplete?: true
  /** The form that revokes the access of every application whose `choice` is checked; absent if the page has fewer than two. */
  readonly choiceForm?: AuthorizedApplication['form']
  /** The outcome of the form that was just sent; absent if none was. No link can set it. */
  readonly notice?: string
  /** The fault in the last submission of a form of this page; absent if there is none. */
  readonly fault?: string
}

/** An application and everything that the user permitted it. */
export interface AuthorizedApplication {
  /** The name of the application. */
  readonly name: string
  /** The website: shown as a link if it is an `http` or `https` URL, else as text; empty if there is none. */
  readonly website: string
  /** The path and query of an image on this server; anything else is left out. */
  readonly logo?: string
  /** The host of the URL that identifies it; absent if it has another identifier. */
  readonly host?: string
  /** True if the administrators stopped it: it can do nothing at present. */
  readonly suspended: boolean
  /** The user's permissions, the newest first. */
  readonly grants: readonly AuthorizedGrant[]
  /** The permissions before those, as one; absent if there are none. */
  readonly older?: {
    readonly count: number
    /** All scopes that any of them has. */
    readonly scopes: readonly ConsentScope[]
    /** The resources of all of them, one entry for each kind. */
    readonly resources: readonly AuthorizedResources[]
    /** The protected resources of all of them; absent if the tokens of one are not limited so. */
    readonly audiences?: readonly ConsentAudience[]
  }
  /** The form that revokes all access of this application: the target of its POST, and its hidden fields. */
  readonly form: {
    readonly action: string
    /** The values should have no line ends, since browsers submit each as CR LF. */
    readonly fields: readonly { readonly name: string; readonly value: string }[]
  }
  /** The name and value of the checkbox that chooses it in `choiceForm`; absent if there is no such form. */
  readonly choice?: { readonly name: string; readonly value: string }
}

/** A permission that the user gave at one time. */
export interface AuthorizedGrant {
  /** The scopes of the grant. */
  readonly scopes: readonly ConsentScope[]
  /** The user's resources that it covers. */
  readonly resources: AuthorizedResources
  /** The protected resources that its tokens work at, and nowhere else; absent if they are not limited so. */
  readonly audiences?: readonly ConsentAudience[]
  /** The time of the permission, in seconds since the epoch. */
  readonly createdAt: number
  /** The time at which the application last got tokens, in seconds since the epoch and coarse; absent if it never did. */
  readonly lastUsedAt?: number
  /** The time when it ends unless the application renews it, in seconds since the epoch, exclusive. */
  readonly expiresAt: number
}

/** Resources that an application was permitted to use. */
export interface AuthorizedResources {
  /** The kind of the resources. */
  readonly kind: ResourceKind
  /** The names of the specified ones. */
  readonly items: readonly string[]
  /** The number of further ones; absent if there are none. */
  readonly notShown?: number
  /** True if there may be more than `notShown` says; absent otherwise. */
  readonly isMore?: true
}

/**
 * Writes the page of the authorized applications. Each has a form of its own, which posts its hidden fields and nothing else. Where
 * there are several, one more form posts the checkboxes of the chosen ones.
 *
 * @param input - the things to show, every one of them text, and the language
 * @returns a whole HTML document, without script
 */
export function authorizedApplicationsPage(input: DefaultPageInput<AuthorizedApplicationsPageModel>): string {
  const { model, ...frame } = readInput(input)
  const { texts } = frame
  const { applications, choiceForm, fault, isIncomplete, notice, stylesheet } = model
  const isEmpty = applications.length === 0 && !isIncomplete
  const main = html`${faultNote(fault)}${noticeNote(notice)}
<h1>${texts['applications.title']}</h1>
<p>${texts[isEmpty ? 'applications.none' : 'applications.introduction']}</p>
${applications.map((application, i) => html`${section(frame, application, `application-${i + 1}`)}\n`)}
${choiceForm && formOfChosen(frame, choiceForm)}
${model.next === undefined ? undefined : html`<p class="more"><a href="${model.next}">${texts['applications.next']}</a></p>`}
${ifTrue(isIncomplete === true, html`<p class="more">${texts['applications.incomplete']}</p>`)}
${ifTrue(model.more, html`<p class="more">${texts['applications.more']}</p>`)}`
  return layOut({ title: titled(texts, texts['applications.title'], fault), stylesheet, user: model.user, main }, frame)
}

function section(language: Language, application: AuthorizedApplication, id: string): SafeHtml {
  const { website, suspended, grants, older } = application
  const { texts } = language
  return html`<section class="application" aria-labelledby="${id}">
<div class="identity">
${logoOf(application)}
<h2 id="${id}">${called(texts, application)}</h2>
</div>
${choiceOf(texts, application)}
${ifTrue(suspended, html`<p class="suspended">${texts['applications.suspended']}</p>`)}
${ifTrue(website !== '', html`<dl>\n<div><dt>${texts['application.website']}</dt><dd>${websiteLink(website)}</dd></div>\n</dl>`)}
<ul class="grants">
${grants.map((grant) => html`<li>${permitted(language, grant)}</li>\n`)}</ul>
${older === undefined ? undefined : permittedBefore(language, older)}
${form(language, application)}
</section>`
}

function permitted(language: Language, grant: AuthorizedGrant): SafeHtml {
  const { scopes, resources, audiences, createdAt, lastUsedAt, expiresAt } = grant
  const { texts } = language
  return html`${ifTrue(scopes.length === 0, html`<p>${texts['applications.noPermissions']}</p>`)}
${permissionGroups(texts, scopes)}
<dl>
${worksAt(texts, audiences)}
<div><dt>${texts['applications.where']}</dt><dd>${places(language, resources)}</dd></div>
<div><dt>${texts['applications.permitted']}</dt><dd>${dayOf(language, createdAt)}</dd></div>
<div><dt>${texts['applications.lastUsed']}</dt><dd>${lastUsedAt === undefined ? texts['applications.neverUsed'] : dayOf(language, lastUsedAt)}</dd></div>
<div><dt>${texts['applications.ends']}</dt><dd>${fillHtml(texts['applications.endsOn'], { day: dayOf(language, expiresAt) })}</dd></div>
</dl>`
}

function permittedBefore(language: Language, older: NonNullable<AuthorizedApplication['older']>): SafeHtml {
  const { count, scopes, resources, audiences } = older
  const { texts } = language
  return html`<div class="older">
<p>${countedText(language, 'applications.older', count)}</p>
${permissionGroups(texts, scopes)}
<dl>
${worksAt(texts, audiences)}
<div><dt>${texts['applications.where']}</dt>${resources.map((each) => html`<dd>${places(language, each)}</dd>\n`)}</div>
</dl>
</div>`
}

/** The length of a list that no reader wants to scroll through on the way to the button. */
const LONG_LIST = 12

function places(language: Language, { kind, items, notShown = 0, isMore }: AuthorizedResources): SafeHtml {
  const { texts } = language
  if (kind !== 'specified') return html`${texts[`resources.${kind}`]}`
  if (items.length === 0 && notShown === 0) return html`${texts['applications.noResource']}`
  const others = isMore ? 'applications.notShownOrMore' : 'applications.notShown'
  const list = html`<ul>
${items.map((item) => html`<li>${isolated(shortened(item))}</li>\n`)}\
${ifTrue(notShown > 0, html`<li>${countedText(language, others, notShown)}</li>\n`)}</ul>`
  const count = items.length + notShown
  if (count <= LONG_LIST) return list
  const all = isMore ? 'applications.resourcesOrMore' : 'applications.resources'
  return html`<details><summary>${countedText(language, all, count)}</summary>
${list}
</details>`
}

// The name for assistive technology has the visible words in it (WCAG 2.2, success criterion 2.5.3), and tells the buttons
// apart. As on the consent page, a button has no id: a link that ends in an id would focus it.
function form({ texts }: Language, { name, form }: AuthorizedApplication): SafeHtml {
  const label = fillText(texts['applications.revokeOf'], { application: displayText(name) })
  return html`<form method="post" action="${form.action}" ${NOT_RESTORED}>
${hiddenFields(form.fields)}
<div class="actions"><button type="submit" class="danger" aria-label="${label}">${texts['applications.revoke']}</button></div>
</form>`
}

/** The form that the checkboxes of all applications belong to, wherever they stand. */
const CHOICE_FORM = 'chosen'

function choiceOf(texts: Texts, { name, choice }: AuthorizedApplication): SafeHtml | undefined {
  if (choice === undefined) return undefined
  const box = html`<input type="checkbox" form="${CHOICE_FORM}" name="${choice.name}" value="${choice.value}">`
  const label = fillHtml(texts['applications.choose'], { application: isolated(name) })
  return html`<label class="choice">${box} <span>${label}</span></label>`
}

// The Enter key in a checkbox presses the first submit button of its form: one that does nothing.
function formOfChosen({ texts }: Language, { action, fields }: AuthorizedApplication['form']): SafeHtml {
  return html`<form id="${CHOICE_FORM}" method="post" action="${action}" ${NOT_RESTORED}>
<input type="submit" formmethod="dialog" formnovalidate hidden>
${hiddenFields(fields)}
<div class="actions"><button type="submit" class="danger">${texts['applications.revokeChosen']}</button></div>
</form>`
}

/**
 * The page on which a user sees the applications that have access, and revokes it.
 * @module
 * @see Specification, section 5.3; RFC 6819, section 5.1.5.2
 */
import {
  called,
  faultNote,
  hiddenFields,
  ifTrue,
  isolated,
  logoOf,
  NOT_RESTORED,
  ownModel,
  shortened,
  signedInAs,
  titled,
  websiteLink,
} from './fragments.js'
import { displayText, html, type SafeHtml } from './html.js'
import { layOut } from './layout.js'
import {
  CHOICE_LABELS,
  type ConsentAudience,
  type ConsentScope,
  permissionGroups,
  type ResourceKind,
  worksAt,
} from './permissions.js'

/** The model of the page of the authorized applications: the things that it shows, and the targets of its forms. */
export interface AuthorizedApplicationsPageModel {
  /** The user who is signed in. */
  readonly user: { readonly name: string }
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
 * Writes the page of the authorized applications. Each has a form of its own, which posts its hidden fields and nothing else.
 *
 * @param model - the things to show; every value is text
 * @returns a whole HTML document, without script
 */
export function authorizedApplicationsPage(model: AuthorizedApplicationsPageModel): string {
  const own = ownModel(model)
  const { applications, fault, isIncomplete } = own
  return layOut({
    title: titled('Authorized applications', fault),
    stylesheet: own.stylesheet,
    body: html`${signedInAs(own.user)}
<main>
${faultNote(fault)}
<h1>Authorized applications</h1>
${applications.length > 0 || isIncomplete ? INTRODUCTION : html`<p>No application has access to your account.</p>`}
${applications.map((application, i) => html`${section(application, `application-${i + 1}`)}\n`)}
${own.next === undefined ? undefined : html`<p class="more"><a href="${own.next}">More applications</a></p>`}
${ifTrue(isIncomplete === true, html`<p class="more">Some applications with access cannot be shown at present.</p>`)}
${ifTrue(own.more, html`<p class="more">There are more than these. Take access back from some, and the others will be shown.</p>`)}
</main>`,
  })
}

const INTRODUCTION: SafeHtml = html`<p>You permitted these applications to access your account. “Last used” is when an \
application last got or renewed its access; what it does with it in between is not shown here. Days are those of UTC.</p>`

function section(application: AuthorizedApplication, id: string): SafeHtml {
  const { website, suspended, grants, older } = application
  return html`<section class="application" aria-labelledby="${id}">
<div class="identity">
${logoOf(application)}
<h2 id="${id}">${called(application)}</h2>
</div>
${ifTrue(suspended, html`<p class="suspended">The administrators stopped it: it can do nothing at present.</p>`)}
${ifTrue(website !== '', html`<dl>\n<div><dt>Website</dt><dd>${websiteLink(website)}</dd></div>\n</dl>`)}
<ul class="grants">
${grants.map((grant) => html`<li>${permitted(grant)}</li>\n`)}</ul>
${older === undefined ? undefined : permittedBefore(older)}
${form(application)}
</section>`
}

function permitted({ scopes, resources, audiences, createdAt, lastUsedAt }: AuthorizedGrant): SafeHtml {
  return html`${scopes.length === 0 ? html`<p>It can do nothing more than know that you agreed.</p>` : undefined}
${permissionGroups(scopes)}
<dl>
${worksAt(audiences)}
<div><dt>Where</dt><dd>${places(resources)}</dd></div>
<div><dt>Permitted</dt><dd>${day(createdAt)}</dd></div>
<div><dt>Last used</dt><dd>${lastUsedAt === undefined ? html`Never` : day(lastUsedAt)}</dd></div>
</dl>`
}

function permittedBefore({
  count,
  scopes,
  resources,
  audiences,
}: NonNullable<AuthorizedApplication['older']>): SafeHtml {
  const before =
    count === 1
      ? 'You permitted it something once before:'
      : `You permitted it something ${count} times before. In all:`
  return html`<div class="older">
<p>${before}</p>
${permissionGroups(scopes)}
<dl>
${worksAt(audiences)}
<div><dt>Where</dt>${resources.map((each) => html`<dd>${places(each)}</dd>\n`)}</div>
</dl>
</div>`
}

/** The length of a list that no reader wants to scroll through on the way to the button. */
const LONG_LIST = 12

function places({ kind, items, notShown = 0, isMore }: AuthorizedResources): SafeHtml {
  if (kind !== 'specified') return html`${CHOICE_LABELS[kind]}`
  if (items.length === 0 && notShown === 0) return html`No resource`
  const list = html`<ul>
${items.map((item) => html`<li>${isolated(shortened(item))}</li>\n`)}${ifTrue(notShown > 0, html`<li>${isMore === true ? `${notShown} or more others` : `${notShown} more`}</li>\n`)}</ul>`
  const count = items.length + notShown
  if (count <= LONG_LIST) return list
  return html`<details><summary>${isMore === true ? `${count} or more` : count} resources</summary>
${list}
</details>`
}

// The name for assistive technology begins with the visible words (WCAG 2.2, success criterion 2.5.3), and tells the buttons
// apart. As on the consent page, a button has no id: a link that ends in an id would focus it.
function form({ name, form }: AuthorizedApplication): SafeHtml {
  return html`<form method="post" action="${form.action}" ${NOT_RESTORED}>
${hiddenFields(form.fields)}
<div class="actions"><button type="submit" class="danger" aria-label="Revoke access of ${displayText(name)}">\
Revoke access</button></div>
</form>`
}

const MONTHS: readonly string[] = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
]

/** Writes a day of UTC. */
function day(seconds: number): SafeHtml {
  // Not by `Intl`, whose words depend on the runtime.
  const date = new Date(seconds * 1000)
  const [year, month, dayOfMonth] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  const digits = [year, twoDigits(month + 1), twoDigits(dayOfMonth)].join('-')
  return html`<time datetime="${digits}">${dayOfMonth} ${MONTHS[month]} ${year}</time>`
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}

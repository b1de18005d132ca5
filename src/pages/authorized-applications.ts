/**
 * The page on which a user sees which applications have access, and takes it back (specification, 5.3; RFC 6819,
 * 5.1.5.2: users can revoke what they permitted).
 * @module
 */
import {
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
import { type ConsentScope, choiceLabels, permissionGroups, type ResourceKind } from './permissions.js'

/** What the page of the authorized applications shows and where it sends its forms. */
export interface AuthorizedApplicationsPageModel {
  /** Who is signed in. */
  readonly user: { readonly name: string }
  /** One entry for each application that the user permitted something, most recent first. */
  readonly applications: readonly AuthorizedApplication[]
  /** URL path of the stylesheet. */
  readonly stylesheet: string
  /** Path of the page with the applications that come next, with its query; absent on the last. */
  readonly next?: string
  /** Whether there are more than all these pages show. */
  readonly more: boolean
  /** True where some permissions cannot be read at present, and are on none of the pages. */
  readonly isIncomplete?: true
  /** What was wrong with the last submission of a form of this page. */
  readonly fault?: string
}

/** An application and everything that the user permitted it. */
export interface AuthorizedApplication {
  readonly name: string
  /** Becomes a link when it is an `http` or `https` URL, and is shown as text otherwise. */
  readonly website: string
  /** Path of an image on this server, with its query; anything else is left out. */
  readonly logo?: string
  /** Whether the administrators stopped it: it can do nothing at present. */
  readonly suspended: boolean
  /** One for each time that the user permitted something, the newest first. */
  readonly grants: readonly AuthorizedGrant[]
  /** The times before those, as one; absent where there are none. */
  readonly older?: {
    readonly count: number
    /** Everything that was permitted at any of those times. */
    readonly scopes: readonly ConsentScope[]
    /** One entry for each kind. */
    readonly resources: readonly AuthorizedResources[]
  }
  /** The form that takes everything back from this application: target of the POST, and its hidden fields. */
  readonly form: {
    readonly action: string
    /** Browsers submit every line end in a value as CR LF, so values should be without any. */
    readonly fields: readonly { readonly name: string; readonly value: string }[]
  }
}

/** What the user permitted at one time. */
export interface AuthorizedGrant {
  readonly scopes: readonly ConsentScope[]
  /** Which of the user's resources it opens. */
  readonly resources: AuthorizedResources
  /** Seconds since the epoch. */
  readonly createdAt: number
  /** Seconds since the epoch, coarse: when it last got tokens; absent when it never did. */
  readonly lastUsedAt?: number
}

/** Resources that an application was permitted to use. */
export interface AuthorizedResources {
  readonly kind: ResourceKind
  /** Names of the specified ones. */
  readonly items: readonly string[]
  /** The number of those beyond the named ones; absent where there are none. */
  readonly notShown?: number
  /** True where there may be more than `notShown` says; absent otherwise. */
  readonly isMore?: true
}

/**
 * The page of the authorized applications. Each has a form of its own, which posts its hidden fields and nothing else.
 *
 * @param model what to show; every value is text
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
${applications.length > 0 || isIncomplete ? introduction : html`<p>No application has access to your account.</p>`}
${applications.map((application, i) => html`${section(application, `application-${i + 1}`)}\n`)}
${own.next === undefined ? undefined : html`<p class="more"><a href="${own.next}">More applications</a></p>`}
${ifTrue(isIncomplete === true, html`<p class="more">Some applications with access cannot be shown at present.</p>`)}
${ifTrue(own.more, html`<p class="more">There are more than these. Take access back from some, and the others will be shown.</p>`)}
</main>`,
  })
}

const introduction: SafeHtml = html`<p>You permitted these applications to access your account. “Last used” is when an \
application last got or renewed its access; what it does with it in between is not shown here. Days are those of UTC.</p>`

function section(application: AuthorizedApplication, id: string): SafeHtml {
  const { name, website, suspended, grants, older } = application
  return html`<section class="application" aria-labelledby="${id}">
<div class="identity">
${logoOf(application)}
<h2 id="${id}">${isolated(name)}</h2>
</div>
${ifTrue(suspended, html`<p class="suspended">The administrators stopped it: it can do nothing at present.</p>`)}
<dl>
<div><dt>Website</dt><dd>${websiteLink(website)}</dd></div>
</dl>
<ul class="grants">
${grants.map((grant) => html`<li>${permitted(grant)}</li>\n`)}</ul>
${older === undefined ? undefined : permittedBefore(older)}
${form(application)}
</section>`
}

function permitted({ scopes, resources, createdAt, lastUsedAt }: AuthorizedGrant): SafeHtml {
  return html`${scopes.length === 0 ? html`<p>It can do nothing more than know that you agreed.</p>` : undefined}
${permissionGroups(scopes)}
<dl>
<div><dt>Where</dt><dd>${places(resources)}</dd></div>
<div><dt>Permitted</dt><dd>${day(createdAt)}</dd></div>
<div><dt>Last used</dt><dd>${lastUsedAt === undefined ? html`Never` : day(lastUsedAt)}</dd></div>
</dl>`
}

function permittedBefore({ count, scopes, resources }: NonNullable<AuthorizedApplication['older']>): SafeHtml {
  const before =
    count === 1
      ? 'You permitted it something once before:'
      : `You permitted it something ${count} times before. In all:`
  return html`<div class="older">
<p>${before}</p>
${permissionGroups(scopes)}
<dl>
<div><dt>Where</dt>${resources.map((each) => html`<dd>${places(each)}</dd>\n`)}</div>
</dl>
</div>`
}

// More than a reader would scroll through on the way to the button.
const longList = 12

function places({ kind, items, notShown = 0, isMore }: AuthorizedResources): SafeHtml {
  if (kind !== 'specified') return html`${choiceLabels[kind]}`
  if (items.length === 0) return html`No resource`
  const list = html`<ul>
${items.map((item) => html`<li>${isolated(shortened(item))}</li>\n`)}${ifTrue(notShown > 0, html`<li>${isMore === true ? `${notShown} or more others` : `${notShown} more`}</li>\n`)}</ul>`
  const count = items.length + notShown
  if (count <= longList) return list
  return html`<details><summary>${isMore === true ? `${count} or more` : count} resources</summary>
${list}
</details>`
}

// The name that assistive technology reads begins with what is seen (WCAG 2.2, 2.5.3) and tells the buttons apart. As
// on the consent page, a button has no id: a link that ends in one would focus it.
function form({ name, form }: AuthorizedApplication): SafeHtml {
  return html`<form method="post" action="${form.action}" ${NOT_RESTORED}>
${hiddenFields(form.fields)}
<div class="actions"><button type="submit" class="danger" aria-label="Revoke access of ${displayText(name)}">\
Revoke access</button></div>
</form>`
}

const months: readonly string[] = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
]

// Not `Intl`, whose words depend on the runtime.
function day(seconds: number): SafeHtml {
  const date = new Date(seconds * 1000)
  const [year, month, dayOfMonth] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  const digits = [year, twoDigits(month + 1), twoDigits(dayOfMonth)].join('-')
  return html`<time datetime="${digits}">${dayOfMonth} ${months[month]} ${year}</time>`
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}

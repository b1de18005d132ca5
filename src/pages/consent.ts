/**
 * The page on which a user permits or refuses an application (RFC 6749, 3.1 and 4.1; specification, 2.1, 4.1, 5.3).
 * @module
 */
import { displayText, html, type SafeHtml } from './html.js'
import { layOut } from './layout.js'

/** The authorization resource scope (specification, 2.1): all resources, all public ones, or those that are named. */
export type ResourceKind = 'all' | 'public' | 'specified'

/** What the consent page shows and where it sends its form. */
export interface ConsentPageModel {
  /** Who asks, as registered. */
  readonly application: {
    readonly name: string
    readonly description?: string
    /** Becomes a link when it is an `http` or `https` URL, and is shown as text otherwise. */
    readonly website: string
    /** A `data:` URI of an image; anything else is left out. */
    readonly logo?: string
  }
  /** Who is signed in. */
  readonly user: { readonly name: string }
  /** Where the answer goes: `app.example`, `127.0.0.1:8123`, `com.example.app:`. */
  readonly redirectHost: string
  /** Everything that agreeing grants. */
  readonly scopes: readonly ConsentScope[]
  /** Which of the user's resources agreeing opens. */
  readonly resources: {
    /** What the user may choose from, at least one. */
    readonly choices: readonly ResourceKind[]
    /** The choice that is set at first; where it is not among the choices, the user has to make one. */
    readonly selected: ResourceKind
    /** What `specified` can name. */
    readonly items: readonly ConsentResource[]
  }
  /** Target of the POST, and hidden fields that come back with it. */
  readonly form: {
    readonly action: string
    /** Browsers submit every line end in a value as CR LF, so values should be without any. */
    readonly fields: readonly { readonly name: string; readonly value: string }[]
  }
  /** URL path of the stylesheet. */
  readonly stylesheet: string
  /** What was wrong with the last submission of this form. */
  readonly fault?: string
}

/** One permission that is asked for. */
export interface ConsentScope {
  /** Its name on the wire, such as `repo-code:rw`. Not shown, but in the document for who looks. */
  readonly scope: string
  readonly permission: 'r' | 'rw'
  /** What it covers, in the user's words. */
  readonly description: string
}

/** One resource that the user can name. */
export interface ConsentResource {
  /** Comes back as a value of the field `resource`. */
  readonly id: string
  readonly name: string
  readonly checked: boolean
}

/**
 * The consent page. Its form posts the hidden fields and
 *
 * - `decision`: `agree` or `refuse`,
 * - `resource_scope`: one of `resources.choices`,
 * - `resource`, repeated: ids of the checked items. They are sent whatever `resource_scope` says, and mean something
 *   only when it says `specified`.
 *
 * @param model what to show; every value is text
 * @returns a whole HTML document, without script
 */
export function consentPage(model: ConsentPageModel): string {
  const { application, fault } = model
  return layOut({
    title: `${fault === undefined ? '' : 'Error: '}Authorize ${application.name}`,
    stylesheet: model.stylesheet,
    body: html`<header>
<p>Signed in as ${isolated(model.user.name)}</p>
</header>
<main>
${faultNote(fault)}
${identity(application)}
${description(application.description)}
<dl>
<div><dt>Website</dt><dd>${website(application.website)}</dd></div>
<div><dt>You will return to</dt><dd>${isolated(model.redirectHost)}</dd></div>
</dl>
${permissions(model.scopes)}
${form(model)}
</main>`,
  })
}

// At the top, for the form may start below the fold.
function faultNote(fault: string | undefined): SafeHtml | undefined {
  return fault === undefined ? undefined : html`<p class="fault" role="alert" dir="auto">${displayText(fault)}</p>`
}

function identity(application: ConsentPageModel['application']): SafeHtml {
  return html`<div class="identity">
${logo(application)}
<h1>${isolated(application.name)} <span>wants to access your account</span></h1>
</div>`
}

function logo({ name, logo }: ConsentPageModel['application']): SafeHtml {
  return logo !== undefined && /^data:image\//i.test(logo)
    ? html`<img class="logo" src="${logo}" alt="" width="56" height="56">`
    : html`<span class="logo" aria-hidden="true">${[...displayText(name).trim()][0]}</span>`
}

// The application wrote this, not the service, and the page says so: it may claim anything.
function description(text: string | undefined): SafeHtml | undefined {
  if (text === undefined || text === '') return undefined
  return html`<figure>
<figcaption>The application says about itself</figcaption>
<blockquote dir="auto">${displayText(text)}</blockquote>
</figure>`
}

function website(address: string): SafeHtml {
  const link = webAddress(address)
  return link === undefined ? isolated(address) : html`<a href="${link}" rel="noreferrer noopener">${link}</a>`
}

// User info is dropped: `https://bank.example@evil.example/` would show the wrong name first. What is left of an
// http URL is ASCII, with the host in its Punycode form.
function webAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, host, pathname, search, hash } = new URL(address)
  return protocol === 'https:' || protocol === 'http:' ? `${protocol}//${host}${pathname}${search}${hash}` : undefined
}

function permissions(scopes: readonly ConsentScope[]): SafeHtml {
  return html`<section aria-labelledby="permissions">
<h2 id="permissions">If you agree, it will be able to</h2>
${scopes.length === 0 ? html`<p>do nothing more than know that you agreed.</p>` : undefined}
${permissionGroup(scopes, 'rw')}
${permissionGroup(scopes, 'r')}
</section>`
}

const permissionTitles: Readonly<Record<ConsentScope['permission'], string>> = { r: 'Read', rw: 'Read and change' }

function permissionGroup(all: readonly ConsentScope[], permission: ConsentScope['permission']): SafeHtml | undefined {
  const group = all.filter((scope) => scope.permission === permission)
  if (group.length === 0) return undefined
  return html`<h3 class="${permission}">${permissionTitles[permission]}</h3>
<ul class="scopes">
${group.map(({ scope, description }) => html`<li><data value="${scope}">${isolated(description)}</data></li>\n`)}</ul>`
}

// Enter in a radio button or a checkbox presses the first submit button of a form, which must not be "Agree": the
// one in front of it is hidden, and the method `dialog` outside a dialog does nothing (HTML, 4.10.22.3).
//
// The buttons have no id and no autofocus: a link that ends in the id of a button focuses it, and a user who was
// told to hold the Enter key would agree. `#decision` is not focusable.
function form({ form, resources }: ConsentPageModel): SafeHtml {
  return html`<form method="post" action="${form.action}">
<input type="submit" formmethod="dialog" formnovalidate hidden>
${form.fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
${resourceScope(resources)}
<div id="decision" class="decision">
<button type="submit" name="decision" value="agree">Agree</button>
<button type="submit" name="decision" value="refuse" formnovalidate>Refuse</button>
</div>
</form>`
}

const choiceLabels: Readonly<Record<ResourceKind, string>> = {
  all: 'All resources of your account',
  public: 'All public resources of your account',
  specified: 'Only the resources that you choose',
}

function resourceScope({ choices, selected, items }: ConsentPageModel['resources']): SafeHtml {
  const [first, second] = choices
  const named = choices.includes('specified') ? resourceItems(items) : undefined
  if (first !== undefined && second === undefined) {
    return html`<section class="resources" aria-labelledby="resources">
<h2 id="resources">Where it may do this</h2>
<input type="hidden" name="resource_scope" value="${first}">
<p>${choiceLabels[first]}</p>
${named}
</section>`
  }
  return html`<fieldset class="resources">
<legend>Where may it do this?</legend>
${choices.map((kind) => html`<label class="choice">${radio(kind, kind === selected)} ${choiceLabels[kind]}</label>\n`)}
${named}
</fieldset>`
}

function radio(kind: ResourceKind, checked: boolean): SafeHtml {
  return html`<input type="radio" name="resource_scope" value="${kind}" required${ifTrue(checked, html` checked`)}>`
}

// More than a reader would tab through on the way to the decision.
const longList = 12

function resourceItems(items: readonly ConsentResource[]): SafeHtml {
  if (items.length === 0) return html`<p class="items">You have no resources to choose from.</p>`
  return html`<fieldset class="items">
<legend>Resources</legend>
${ifTrue(items.length > longList, html`<a class="skip" href="#decision">Skip the list of resources</a>`)}
<ul>
${items.map((item) => html`<li>${resourceItem(item)}</li>\n`)}</ul>
</fieldset>`
}

function resourceItem({ id, name, checked }: ConsentResource): SafeHtml {
  const box = html`<input type="checkbox" name="resource" value="${id}"${ifTrue(checked, html` checked`)}>`
  return html`<label class="choice">${box} ${isolated(name)}</label>`
}

function isolated(text: string): SafeHtml {
  return html`<bdi>${displayText(text)}</bdi>`
}

function ifTrue(condition: boolean, fragment: SafeHtml): SafeHtml | undefined {
  return condition ? fragment : undefined
}

/**
 * The page on which a user permits or refuses an application.
 * @module
 * @see RFC 6749, sections 3.1 and 4.1; RFC 8628, section 3.3; specification, sections 2.1, 4.1 and 5.3
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
import {
  CHOICE_LABELS,
  type ConsentAudience,
  type ConsentScope,
  permissionGroups,
  type ResourceKind,
  worksAt,
} from './permissions.js'

/** The model of the consent page: the things that it shows, and the target of its form. */
export type ConsentPageModel = {
  /** The application that asks, as registered. */
  readonly application: {
    readonly name: string
    readonly description?: string
    /** The website: shown as a link if it is an `http` or `https` URL, else as text; empty if there is none. */
    readonly website: string
    /** The path and query of an image on this server; anything else is left out. */
    readonly logo?: string
    /** The host of the URL that identifies it: all that is known of it. Absent if it has another identifier. */
    readonly host?: string
    /** True if it registered itself, and nobody at this service looked at it; absent otherwise. */
    readonly unchecked?: true
  }
  /** The user who is signed in. */
  readonly user: { readonly name: string }
  /** All scopes that the user grants by agreeing. */
  readonly scopes: readonly ConsentScope[]
  /** The protected resources that the tokens work at, and nowhere else; absent if they are not limited so (RFC 8707). */
  readonly audiences?: readonly ConsentAudience[]
  /** The choice of the user's resources that the application may use. */
  readonly resources: {
    /** The kinds that the user may choose from, at least one. */
    readonly choices: readonly ResourceKind[]
    /** The kind that is chosen at first. If it is not among the choices, none is, and the user has to choose. */
    readonly selected: ResourceKind
    /** The resources that the user can name with `specified`. */
    readonly items: readonly ConsentResource[]
    /** The number of resources that the page cannot offer; absent if there are none. */
    readonly notShown?: number
  }
  /** The target of the POST, and the hidden fields that come back with it. */
  readonly form: {
    readonly action: string
    /** The values should have no line ends, since browsers submit each as CR LF. */
    readonly fields: readonly { readonly name: string; readonly value: string }[]
  }
  /** The URL path of the stylesheet. */
  readonly stylesheet: string
  /** The fault in the last submission of this form; absent if there is none. */
  readonly fault?: string
} & (
  | {
      /** The host or scheme that gets the answer: `app.example`, `127.0.0.1:8123`, `com.example.app:`. */
      readonly redirectHost: string
      readonly userCode?: never
    }
  | {
      /** The code on the device that gets the answer, as the device shows it: `WDJB-MJHT` (RFC 8628, section 3.3). */
      readonly userCode: string
      readonly redirectHost?: never
    }
)

/** A resource that the user can name. */
export interface ConsentResource {
  /** The identifier, which comes back as a value of the field `resource`. */
  readonly id: string
  /** The name that the user is shown. */
  readonly name: string
  /** True if it is chosen when the page opens. */
  readonly checked: boolean
}

/**
 * Writes the consent page. Its form posts the hidden fields and
 *
 * - `decision`: `agree` or `refuse`,
 * - `resource_scope`: one of `resources.choices`,
 * - `resource`, repeated: the ids of the checked items. They are always sent, and count only if `resource_scope` is `specified`.
 *
 * @param model - the things to show; every value is text
 * @returns a whole HTML document, without script
 */
export function consentPage(model: ConsentPageModel): string {
  const own = ownModel(model)
  const { application, fault } = own
  return layOut({
    title: titled(`Authorize ${application.host ?? application.name}`, fault),
    stylesheet: own.stylesheet,
    body: html`${signedInAs(own.user)}
<main>
${faultNote(fault)}
${identity(application)}
${description(application.description)}
<dl>
${ifTrue(application.website !== '', html`<div><dt>Website</dt><dd>${websiteLink(application.website)}</dd></div>`)}
${whereTo(own)}
${worksAt(own.audiences)}
</dl>${ifTrue(application.unchecked === true, UNCHECKED_WARNING)}${own.userCode === undefined ? undefined : DEVICE_WARNING}
${permissions(own.scopes)}
${form(own)}
</main>`,
  })
}

function identity(application: ConsentPageModel['application']): SafeHtml {
  return html`<div class="identity">
${logoOf(application)}
<h1>${called(application)} <span>wants to access your account</span></h1>
</div>`
}

// Anybody can give an own document any name. The host in front is the part that nobody else could have written.
function called({ name, host }: ConsentPageModel['application']): SafeHtml {
  return host === undefined
    ? isolated(name)
    : html`${isolated(host)} <span>calls itself</span> ${isolated(name)} <span>and</span>`
}

// The application wrote this text and may claim anything, so the page says who wrote it.
function description(text: string | undefined): SafeHtml | undefined {
  if (text === undefined || text === '') return undefined
  return html`<figure>
<figcaption>The application says about itself</figcaption>
<blockquote dir="auto">${displayText(text)}</blockquote>
</figure>`
}

function whereTo({ redirectHost, userCode }: ConsentPageModel): SafeHtml {
  return userCode === undefined
    ? html`<div><dt>You will return to</dt><dd>${isolated(redirectHost)}</dd></div>`
    : html`<div><dt>Code on your device</dt><dd class="code">${isolated(userCode)}</dd></div>`
}

// An attacker who sends the code of an own device to a victim gets the victim's access (RFC 8628, section 5.4).
const DEVICE_WARNING: SafeHtml = html`
<p class="warning">Agree only if a device that is yours and in front of you shows this very code. It is that device \
which gets the access.</p>`

const UNCHECKED_WARNING: SafeHtml = html`
<p class="warning">This application registered itself. Nobody at this service has checked its name. Agree only if you have just \
started it yourself.</p>`

function permissions(scopes: readonly ConsentScope[]): SafeHtml {
  return html`<section aria-labelledby="permissions">
<h2 id="permissions">If you agree, it will be able to</h2>
${scopes.length === 0 ? html`<p>do nothing more than know that you agreed.</p>` : undefined}
${permissionGroups(scopes)}
</section>`
}

// The Enter key in a radio button or a checkbox presses the first submit button of a form. It must not be "Agree", so a hidden
// one comes first. Its method `dialog` does nothing outside a dialog (HTML, section 4.10.22.3).
//
// The buttons have no id and no autofocus. A link that ends in the id of a button focuses it, and a user who was
// told to hold the Enter key would agree. `#decision` is not focusable.
function form(model: ConsentPageModel): SafeHtml {
  const { form, resources } = model
  return html`<form method="post" action="${form.action}" ${NOT_RESTORED}>
<input type="submit" formmethod="dialog" formnovalidate hidden>
${hiddenFields(form.fields)}
${resourceScope(resources)}
<div id="decision" class="decision">
<p id="asked" class="asked">${inShort(model)}</p>
<button type="submit" name="decision" value="agree" aria-describedby="asked">Agree</button>
<button type="submit" name="decision" value="refuse" formnovalidate aria-describedby="asked">Refuse</button>
</div>
</form>`
}

// Beside the buttons, since a page that opens this one in a small window can scroll past everything above them.
function inShort({ application, user, redirectHost, userCode }: ConsentPageModel): SafeHtml {
  const asked = html`${isolated(application.host ?? application.name)} wants to access the account ${isolated(shortened(user.name))}.`
  return userCode === undefined
    ? html`${asked} Your answer goes to ${isolated(redirectHost)}.`
    : html`${asked} Agree only if your own device shows the code ${isolated(userCode)}.`
}

function resourceScope({ choices, selected, items, notShown = 0 }: ConsentPageModel['resources']): SafeHtml {
  const [first, second] = choices
  const named = choices.includes('specified') ? resourceItems(items, notShown) : undefined
  if (first !== undefined && second === undefined) {
    return html`<section class="resources" aria-labelledby="resources">
<h2 id="resources">Where it may do this</h2>
<input type="hidden" name="resource_scope" value="${first}">
<p>${CHOICE_LABELS[first]}</p>
${named}
</section>`
  }
  return html`<fieldset class="resources">
<legend>Where may it do this?</legend>
${choices.map((kind) => html`<label class="choice">${radio(kind, kind === selected)} ${CHOICE_LABELS[kind]}</label>\n`)}
${named}
</fieldset>`
}

function radio(kind: ResourceKind, checked: boolean): SafeHtml {
  return html`<input type="radio" name="resource_scope" value="${kind}" required${ifTrue(checked, html` checked`)}>`
}

/** The length of a list that no reader wants to tab through on the way to the decision. */
const LONG_LIST = 12

const NO_RESOURCES = 'You have no resources to choose from.'
const NONE_SHOWN = 'None of your resources can be chosen here.'

function resourceItems(items: readonly ConsentResource[], notShown: number): SafeHtml {
  if (items.length === 0) return html`<p class="items">${notShown > 0 ? NONE_SHOWN : NO_RESOURCES}</p>`
  return html`<fieldset class="items">
<legend>Resources</legend>
${ifTrue(items.length > LONG_LIST, html`<a class="skip" href="#decision">Skip the list of resources</a>`)}
<ul>
${items.map((item) => html`<li>${resourceItem(item)}</li>\n`)}</ul>
${ifTrue(notShown > 0, html`<p class="more">You have ${notShown} more, which cannot be chosen here.</p>`)}
</fieldset>`
}

function resourceItem({ id, name, checked }: ConsentResource): SafeHtml {
  const box = html`<input type="checkbox" name="resource" value="${id}"${ifTrue(checked, html` checked`)}>`
  return html`<label class="choice">${box} ${isolated(shortened(name))}</label>`
}

/**
 * The page on which a user permits or refuses an application.
 * @module
 * @see RFC 6749, sections 3.1 and 4.1; RFC 8628, section 3.3; specification, sections 2.1, 4.1 and 5.3
 */
import {
  dayOf,
  faultNote,
  hiddenFields,
  ifTrue,
  isolated,
  logoOf,
  NOT_RESTORED,
  shortened,
  titled,
  websiteLink,
} from './fragments.js'
import { displayText, html, type SafeHtml } from './html.js'
import { type DefaultPageInput, readInput } from './input.js'
import { type Frame, layOut, type SignedInUser } from './layout.js'
import { type ConsentAudience, type ConsentScope, permissionGroups, type ResourceKind, worksAt } from './permissions.js'
import type { Language, Texts } from './texts/texts.js'
import { countedText, fillHtml, fillText } from './texts/texts.js'

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
    /**
     * The time at which the people who run the service approved it, in seconds since the epoch; absent if they did not, but the policy
     * of the host.
     */
    readonly checkedAt?: number
  }
  /** The user who is signed in. */
  readonly user: SignedInUser
  /** All scopes that the user grants by agreeing. */
  readonly scopes: readonly ConsentScope[]
  /**
   * The time of the user's last permission to this application that still works, in seconds since the epoch; absent if there is none.
   * Where it is there, `isNew` of a scope counts.
   */
  readonly permittedAt?: number
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
    /**
     * The words that the user searched for, empty at first; absent if the list is short. Where it is there, the page has a text field
     * `search` and a button `decision` with the value `search`.
     */
    readonly search?: string
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
 * - `decision`: `agree` or `refuse`, or `search` for the page again, with the resources that have the words in `search`,
 * - `resource_scope`: one of `resources.choices`,
 * - `resource`, repeated: the ids of the checked items. They are always sent, and count only if `resource_scope` is `specified`.
 *
 * @param input - the things to show, every one of them text, and the language
 * @returns a whole HTML document, without script
 */
export function consentPage(input: DefaultPageInput<ConsentPageModel>): string {
  const { model, ...frame } = readInput(input)
  const { texts } = frame
  const { application, user, stylesheet, fault } = model
  const title = fillText(texts['consent.title'], { application: application.host ?? application.name })
  const main = html`${faultNote(fault)}
${identity(texts, application)}
${checked(frame, application.checkedAt)}
${description(texts, application.description)}
<dl>
${ifTrue(application.website !== '', html`<div><dt>${texts['application.website']}</dt><dd>${websiteLink(application.website)}</dd></div>`)}
${whereTo(texts, model)}
${worksAt(texts, model.audiences)}
</dl>
${warnings(texts, model)}
${permissions(frame, model)}
${form(frame, model)}`
  return layOut({ title: titled(texts, title, fault), stylesheet, user, main }, frame)
}

function identity(texts: Texts, application: ConsentPageModel['application']): SafeHtml {
  const { name, host } = application
  const heading =
    host === undefined
      ? fillHtml(texts['consent.heading'], { application: isolated(name) })
      : fillHtml(texts['consent.headingOfHost'], { host: isolated(host), name: isolated(name) })
  return html`<div class="identity">
${logoOf(application)}
<h1>${heading}</h1>
</div>`
}

function checked(frame: Frame, at: number | undefined): SafeHtml | undefined {
  if (at === undefined) return undefined
  const { texts, appearance } = frame
  const day = dayOf(frame, at)
  const words =
    appearance.name === undefined
      ? fillHtml(texts['consent.checked'], { day })
      : fillHtml(texts['consent.checkedBy'], { service: isolated(appearance.name), day })
  return html`<p class="checked">${words}</p>`
}

// The application wrote this text and may claim anything, so the page says who wrote it.
function description(texts: Texts, text: string | undefined): SafeHtml | undefined {
  if (text === undefined || text === '') return undefined
  return html`<figure>
<figcaption>${texts['consent.description']}</figcaption>
<blockquote dir="auto">${displayText(text)}</blockquote>
</figure>`
}

function whereTo(texts: Texts, { redirectHost, userCode }: ConsentPageModel): SafeHtml {
  return userCode === undefined
    ? html`<div><dt>${texts['consent.returnTo']}</dt><dd>${isolated(redirectHost)}</dd></div>`
    : html`<div><dt>${texts['consent.deviceCode']}</dt><dd class="code">${isolated(userCode)}</dd></div>`
}

// An attacker who sends the code of an own device to a victim gets the victim's access (RFC 8628, section 5.4).
function warnings(texts: Texts, { application, userCode }: ConsentPageModel): readonly SafeHtml[] {
  const shown = [
    ...(application.unchecked === true ? [texts['consent.unreviewedWarning']] : []),
    ...(userCode === undefined ? [] : [texts['consent.deviceWarning']]),
  ]
  return shown.map(
    (text) => html`<p class="warning">${text}</p>
`,
  )
}

function permissions(language: Language, { scopes, permittedAt }: ConsentPageModel): SafeHtml {
  const { texts } = language
  const before = texts[scopes.some(({ isNew }) => isNew) ? 'consent.before' : 'consent.beforeNothingNew']
  return html`<section aria-labelledby="permissions">
<h2 id="permissions">${texts['consent.permissions']}</h2>
${permittedAt === undefined ? undefined : html`<p>${fillHtml(before, { day: dayOf(language, permittedAt) })}</p>`}
${ifTrue(scopes.length === 0, html`<p>${texts['consent.noPermissions']}</p>`)}
${ifTrue(
  scopes.some(({ reason }) => reason !== undefined),
  html`<p class="hint">${texts['consent.reasons']}</p>`,
)}
${permissionGroups(texts, scopes)}
</section>`
}

// The Enter key in a radio button or a checkbox presses the first submit button of a form. It must not be "Agree", so a hidden
// one comes first. Its method `dialog` does nothing outside a dialog (HTML, section 4.10.22.3). Where there is a search, its button
// is the first: Enter in its field searches, and elsewhere brings back the page with what was chosen.
//
// The buttons have no id and no autofocus. A link that ends in the id of a button focuses it, and a user who was
// told to hold the Enter key would agree. `#decision` is not focusable.
function form(language: Language, model: ConsentPageModel): SafeHtml {
  const { form, resources } = model
  const { texts } = language
  return html`<form method="post" action="${form.action}" ${NOT_RESTORED}>
${ifTrue(!hasSearch(resources), html`<input type="submit" formmethod="dialog" formnovalidate hidden>\n`)}\
${hiddenFields(form.fields)}
${resourceScope(language, resources)}
<div id="decision" class="decision">
<p id="asked" class="asked">${inShort(texts, model)}</p>
<button type="submit" name="decision" value="agree" aria-describedby="asked">${texts['consent.agree']}</button>
<button type="submit" name="decision" value="refuse" formnovalidate aria-describedby="asked">${texts['consent.refuse']}</button>
</div>
</form>`
}

// Beside the buttons, since a page that opens this one in a small window can scroll past everything above them.
function inShort(texts: Texts, { application, user, redirectHost, userCode }: ConsentPageModel): SafeHtml {
  const asked = fillHtml(texts['consent.asked'], {
    application: isolated(application.host ?? application.name),
    user: isolated(shortened(user.name)),
  })
  return userCode === undefined
    ? html`${asked} ${fillHtml(texts['consent.answerGoesTo'], { host: isolated(redirectHost) })}`
    : html`${asked} ${fillHtml(texts['consent.compareCode'], { code: isolated(userCode) })}`
}

function resourceScope(language: Language, resources: ConsentPageModel['resources']): SafeHtml {
  const { choices, selected } = resources
  const { texts } = language
  const [first, second] = choices
  const named = choices.includes('specified') ? resourceItems(language, resources) : undefined
  if (first !== undefined && second === undefined) {
    return html`<section class="resources" aria-labelledby="resources">
<h2 id="resources">${texts['resources.title']}</h2>
<input type="hidden" name="resource_scope" value="${first}">
<p>${texts[`resources.${first}`]}</p>
${named}
</section>`
  }
  return html`<fieldset class="resources">
<legend>${texts['resources.question']}</legend>
${choices.map((kind) => html`<label class="choice">${radio(kind, kind === selected)} ${texts[`resources.${kind}`]}</label>\n`)}
${named}
</fieldset>`
}

function radio(kind: ResourceKind, checked: boolean): SafeHtml {
  return html`<input type="radio" name="resource_scope" value="${kind}" required${ifTrue(checked, html` checked`)}>`
}

/** The length of a list that no reader wants to tab through on the way to the decision. A longer one has a search. */
export const LONG_LIST: number = 12

/** Characters of the words that are searched for. */
export const SEARCH_CHARACTERS: number = 100

function hasSearch({ choices, search }: ConsentPageModel['resources']): boolean {
  return search !== undefined && choices.includes('specified')
}

function resourceItems(language: Language, resources: ConsentPageModel['resources']): SafeHtml {
  const { items, notShown = 0, search } = resources
  const { texts } = language
  if (items.length === 0 && search === undefined)
    return html`<p class="items">${texts[notShown > 0 ? 'resources.noneShown' : 'resources.none']}</p>`
  const others = search === undefined ? 'resources.notShown' : 'resources.notListed'
  const more = notShown > 0 ? countedText(language, others, notShown) : undefined
  return html`<fieldset class="items">
<legend>${texts['resources.list']}</legend>
${search === undefined ? undefined : searchField(texts, search)}
${ifTrue(items.length === 0 && notShown === 0, html`<p role="status">${texts['resources.noneFound']}</p>`)}
${ifTrue(items.length > LONG_LIST, html`<a class="skip" href="#decision">${texts['resources.skip']}</a>`)}
<ul>
${items.map((item) => html`<li>${resourceItem(item)}</li>\n`)}</ul>
${more && html`<p class="more">${more}</p>`}
</fieldset>`
}

// The focus goes to the field after a search, where the next words are typed. Its Enter key searches, and never agrees.
function searchField(texts: Texts, search: string): SafeHtml {
  const marks = html` maxlength="${SEARCH_CHARACTERS}" enterkeyhint="search"${ifTrue(search !== '', html` autofocus`)}`
  return html`<div class="search">
<label class="field">${texts['resources.search']}
<input type="text" name="search" value="${search}" dir="auto"${marks}></label>
<button type="submit" name="decision" value="search" formnovalidate>${texts['resources.find']}</button>
</div>`
}

function resourceItem({ id, name, checked }: ConsentResource): SafeHtml {
  const box = html`<input type="checkbox" name="resource" value="${id}"${ifTrue(checked, html` checked`)}>`
  return html`<label class="choice">${box} ${isolated(shortened(name))}</label>`
}

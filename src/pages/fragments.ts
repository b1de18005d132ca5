/**
 * The fragments that several pages share.
 * @module
 */
import { displayText, html, type SafeHtml } from './html.js'

/** Text in the direction of its own first letter, which leaves the words around it where they are (HTML, 4.5.24). */
export function isolated(text: string): SafeHtml {
  return html`<bdi>${displayText(text)}</bdi>`
}

/** The fragment, or nothing. */
export function ifTrue(condition: boolean, fragment: SafeHtml): SafeHtml | undefined {
  return condition ? fragment : undefined
}

/** Title of a page that may tell a fault. */
export function titled(title: string, fault: string | undefined): string {
  return `${fault === undefined ? '' : 'Error: '}${title}`
}

/** Characters of a name that nobody bounds but whoever chose it. */
const NAME_CHARACTERS = 256

/** The beginning of a name that can be of any length. */
export function shortened(name: string): string {
  return name.length <= NAME_CHARACTERS ? name : `${[...name.slice(0, NAME_CHARACTERS)].slice(0, -1).join('')}…`
}

/** Landmark that says whose account it is. */
export function signedInAs({ name }: { readonly name: string }): SafeHtml {
  return html`<header>
<p>Signed in as ${isolated(shortened(name))}</p>
</header>`
}

/**
 * What was wrong with the last submission; a field that it is about names the id `fault` in `aria-describedby`.
 * Stands at the top, for the form may start below the fold.
 */
export function faultNote(fault: string | undefined, id?: 'fault'): SafeHtml | undefined {
  if (fault === undefined) return undefined
  return html`<p class="fault"${id && html` id="${id}"`} role="alert" dir="auto">${displayText(fault)}</p>`
}

/**
 * Attribute of every form. After Back or Reload, browsers fill fields in again by their place, and a list that grew in between
 * has another resource there.
 */
export const NOT_RESTORED: SafeHtml = html`autocomplete="off"`

/** Fields that come back with the form as they are. */
export function hiddenFields(fields: readonly { readonly name: string; readonly value: string }[]): SafeHtml {
  return html`${fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">\n`)}`
}

// Browsers drop tabs and line ends from an address, and read `/\` as they read `//`, behind which another host stands.
const OWN_PATH = /^\/(?![\t\n\r]*[/\\])/

/** The logo of an application, or the first letter of its name. Images come from paths of this server alone. */
export function logoOf({ name, logo }: { readonly name: string; readonly logo?: string }): SafeHtml {
  return logo !== undefined && OWN_PATH.test(logo)
    ? html`<img class="logo" src="${logo}" alt="" width="56" height="56">`
    : html`<span class="logo" aria-hidden="true">${[...displayText(name).trim()][0]}</span>`
}

/** The website of an application: a link when its address is one of `http` or `https`, text otherwise. */
export function websiteLink(address: string): SafeHtml {
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

/**
 * Copies a model, with its own properties alone: what code has added to the prototype of all objects must stand for no property that
 * is absent, such as the host that an answer goes to.
 */
export function ownModel<Model>(model: Model): Model {
  if (typeof model !== 'object' || model === null) return model
  if (Array.isArray(model)) return model.map(ownModel) as Model // of the same entries
  const own = Object.entries(model).map(([name, value]) => [name, ownModel(value)])
  return Object.assign(Object.create(null), Object.fromEntries(own))
}

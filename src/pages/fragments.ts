/**
 * The fragments of HTML that several pages share.
 * @module
 */
import { displayText, html, type SafeHtml } from './html.js'
import { formatsOf } from './texts/formats.js'
import type { Language, Texts } from './texts/texts.js'
import { fillHtml, fillText } from './texts/texts.js'

/** Writes text in the direction of its own first letter, without effect on the words around it (HTML, section 4.5.24). */
export function isolated(text: string): SafeHtml {
  return html`<bdi>${displayText(text)}</bdi>`
}

/** Returns the fragment if the condition is true. */
export function ifTrue(condition: boolean, fragment: SafeHtml): SafeHtml | undefined {
  return condition ? fragment : undefined
}

/** Returns the title of a page, marked if the page tells a fault. */
export function titled(texts: Texts, title: string, fault: string | undefined): string {
  return fault === undefined ? title : fillText(texts['page.faultTitle'], { title })
}

/** Characters shown of a name that has no limit of its own. */
const NAME_CHARACTERS = 256

/** Returns a name, or the beginning of one that is too long. */
export function shortened(name: string): string {
  return name.length <= NAME_CHARACTERS ? name : `${[...name.slice(0, NAME_CHARACTERS)].slice(0, -1).join('')}…`
}

/**
 * Writes the fault in the last submission, for the top of the page: the form may be below the window. A field with the fault
 * names the id in `aria-describedby`.
 */
export function faultNote(fault: string | undefined, id?: 'fault'): SafeHtml | undefined {
  if (fault === undefined) return undefined
  return html`<p class="fault"${id && html` id="${id}"`} role="alert" dir="auto">${displayText(fault)}</p>`
}

/** Writes the outcome of the last submission, for the top of the page. */
export function noticeNote(notice: string | undefined): SafeHtml | undefined {
  if (notice === undefined) return undefined
  return html`<p class="notice" role="status" dir="auto">${displayText(notice)}</p>`
}

/** Writes a day of UTC. */
export function dayOf({ locale }: Pick<Language, 'locale'>, seconds: number): SafeHtml {
  const date = new Date(seconds * 1000)
  return html`<time datetime="${date.toISOString().slice(0, 10)}">${formatsOf(locale).days.format(date)}</time>`
}

/**
 * The attribute of every form that keeps browsers from filling in its fields after Back or Reload. They would fill them in by
 * place, where a list that grew in between has another resource.
 */
export const NOT_RESTORED: SafeHtml = html`autocomplete="off"`

/** Writes fields that come back with the form as they are. */
export function hiddenFields(fields: readonly { readonly name: string; readonly value: string }[]): SafeHtml {
  return html`${fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">\n`)}`
}

// Browsers drop tabs and line ends from an address, and read `/\` as `//`, which another host follows.
const OWN_PATH = /^\/(?![\t\n\r]*[/\\])/

/** Writes the logo of an application, or the first letter of its name. Images come from paths of this server alone. */
export function logoOf({ name, logo }: { readonly name: string; readonly logo?: string }): SafeHtml {
  return logo !== undefined && OWN_PATH.test(logo)
    ? html`<img class="logo" src="${logo}" alt="" width="56" height="56">`
    : html`<span class="logo" aria-hidden="true">${[...displayText(name).trim()][0]}</span>`
}

/**
 * Writes the name of an application, behind the host of the URL that identifies it. Anybody can give an own document any name, and the
 * host is the part that nobody else could have written.
 */
export function called(texts: Texts, { name, host }: { readonly name: string; readonly host?: string }): SafeHtml {
  if (host === undefined) return isolated(name)
  return fillHtml(texts['application.ofHost'], { host: isolated(host), name: isolated(name) })
}

/**
 * Writes the website of an application: as a link if its address is one of `http` or `https`, else as text. An address is read from left
 * to right in every language.
 */
export function websiteLink(address: string): SafeHtml {
  const link = webAddress(address)
  return link === undefined
    ? isolated(address)
    : html`<a href="${link}" dir="ltr" rel="noreferrer noopener">${link}</a>`
}

/** Writes the link back to an application; undefined if it has no website with an address of `http` or `https`. */
export function backLink(
  texts: Texts,
  { name, website = '' }: { readonly name: string; readonly website?: string },
): SafeHtml | undefined {
  const link = webAddress(website)
  const text = fillHtml(texts['page.backTo'], { application: isolated(name) })
  return link === undefined ? undefined : html`<p><a href="${link}" rel="noreferrer noopener">${text}</a></p>`
}

/** Returns an address of `http` or `https` in ASCII, with its host in Punycode; undefined for any other. */
export function webAddress(address: string): string | undefined {
  let url: URL
  // Not by URL.canParse, which refuses characters from U+0080 to U+00FF once Node.js 20 has compiled a call of it.
  try {
    url = new URL(address)
  } catch {
    return undefined
  }
  const { protocol, host, pathname, search, hash } = url
  // Without user info: `https://bank.example@evil.example/` would show the wrong name first.
  return protocol === 'https:' || protocol === 'http:' ? `${protocol}//${host}${pathname}${search}${hash}` : undefined
}

/**
 * Copies a model with its own properties alone, so that a polluted prototype cannot set a property that is absent, for example
 * the host that gets an answer.
 */
export function ownModel<Model>(model: Model): Model {
  if (typeof model !== 'object' || model === null) return model
  if (Array.isArray(model)) return model.map(ownModel) as Model // of the same entries
  const own = Object.entries(model).map(([name, value]) => [name, ownModel(value)])
  return Object.assign(Object.create(null), Object.fromEntries(own))
}

/**
 * HTML from templates in which every value is text: WHATWG HTML, 13.3 (escaping a string) and 13.1.2.3 (attributes).
 * @module
 */

const markup: unique symbol = Symbol.for('grantwell.pages.markup')

/**
 * A piece of HTML that came out of {@link html}. A plain string is none, and neither is anything read from JSON:
 * the key is a symbol, which no peer can send.
 */
export interface SafeHtml {
  readonly [markup]: string
}

/** What may stand in a template: text, a number, finished fragments, or `undefined` for nothing. */
export type HtmlValue = string | number | SafeHtml | readonly SafeHtml[] | undefined

const entities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
  // A parser turns a bare CR into LF, and drops or replaces NUL according to where it stands (13.2.3.5, 13.2.5).
  ['\r', '&#13;'],
  ['\0', '\uFFFD'],
])

/**
 * Escapes text for the inside of an element or of a quoted attribute.
 *
 * It makes no text safe inside `<script>`, `<style>` or an unquoted attribute, and does not judge URLs.
 *
 * @param text any string
 * @returns HTML that a parser reads back as `text`, NUL as U+FFFD
 * @see https://html.spec.whatwg.org/multipage/parsing.html#escapingString
 */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\r\0]/g, (character) => entities.get(character) ?? character)
}

/**
 * Tag for a template of HTML: every interpolated value is escaped, unless it came out of `html` itself.
 *
 * Values belong in text or in quoted attributes, nowhere else: see {@link escapeHtml}.
 *
 * @param strings the literal parts, which the author of the page wrote
 * @param values what stands between them; the fragments of an array are joined without a separator
 * @returns a fragment for another template or for {@link renderHtml}
 * @throws TypeError when called as a plain function, where its argument would pass for an author's literal
 * @example
 * const names = ['Ada', '<b>']
 * renderHtml(html`<ul title="${'"'}">${names.map((name) => html`<li>${name}</li>`)}</ul>`)
 * // <ul title="&quot;"><li>Ada</li><li>&lt;b&gt;</li></ul>
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): SafeHtml {
  if (!Object.hasOwn(strings, 'raw')) throw new TypeError('html is a tag of template literals, not a function')
  return { [markup]: strings.map((literal, i) => markupOf(values[i - 1]) + literal).join('') }
}

/**
 * Turns a finished fragment into the string to send.
 *
 * @param fragment what {@link html} returned
 * @returns its HTML
 */
export function renderHtml(fragment: SafeHtml): string {
  return fragment[markup]
}

/**
 * Makes text harmless to its surroundings on the screen. `<bdi>` alone is not enough: a PDI in a name closes the
 * isolate around it, and an override after that reorders the host's own words.
 *
 * @param text any string
 * @returns `text` with bidirectional embeddings, overrides and isolates (UAX #9, 2.1 to 2.5), line and paragraph
 *   separators and control characters as U+FFFD, so that their presence shows; tabs and line ends as spaces
 * @see https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters
 */
export function displayText(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu, (c) => (/[\t\n\r]/.test(c) ? ' ' : '\uFFFD'))
}

function markupOf(value: HtmlValue): string {
  if (value === undefined) return ''
  if (isFragments(value)) return value.map(markupOf).join('')
  // What a caller without types passes, `null` too, becomes text.
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, markup)) return value[markup]
  return escapeHtml(String(value))
}

// `Array.isArray` does not narrow readonly arrays.
function isFragments(value: HtmlValue): value is readonly SafeHtml[] {
  return Array.isArray(value)
}

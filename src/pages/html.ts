/**
 * HTML from templates in which every value is text.
 * @module
 * @see WHATWG HTML, sections 13.3 (escaping a string) and 13.1.2.3 (attributes)
 */

const markup: unique symbol = Symbol.for('grantwell.pages.markup')

/**
 * A fragment of HTML that {@link html} made. No string and no value from JSON is one: the key is a symbol, which no peer can
 * send.
 */
export interface SafeHtml {
  /** The markup. */
  readonly [markup]: string
}

/** A value in a template: text, a number, finished fragments, or `undefined` for nothing. */
export type HtmlValue = string | number | SafeHtml | readonly SafeHtml[] | undefined

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
  // A parser turns a bare CR into LF, and drops or replaces NUL (sections 13.2.3.5 and 13.2.5).
  ['\r', '&#13;'],
  ['\0', '\uFFFD'],
])

/**
 * Escapes text for the inside of an element or of a quoted attribute.
 *
 * The result is not safe inside `<script>`, `<style>` or an unquoted attribute, and URLs are not checked.
 *
 * @param text - any string
 * @returns HTML that a parser reads back as `text`, NUL as U+FFFD
 * @see https://html.spec.whatwg.org/multipage/parsing.html#escapingString
 */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\r\0]/g, (character) => ENTITIES.get(character) ?? character)
}

/**
 * Makes a fragment of HTML from a template, as its tag. Every value is escaped, unless `html` itself made it.
 *
 * Values belong in text or in quoted attributes, nowhere else: see {@link escapeHtml}.
 *
 * @param strings - the literal parts, which the author of the page wrote
 * @param values - the values between them; the fragments of an array are joined without a separator
 * @returns a fragment for another template or for {@link renderHtml}
 * @throws TypeError if called as a plain function, whose argument would pass for an author's literal
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
 * Returns the string of a finished fragment, to send.
 *
 * @param fragment - a fragment that {@link html} made
 * @returns its HTML
 */
export function renderHtml(fragment: SafeHtml): string {
  return fragment[markup]
}

/**
 * Replaces characters that could change the text around them on the screen. `<bdi>` alone is not enough: a PDI in a name closes
 * the isolate around it, and an override after that reorders the host's own words.
 *
 * @param text - any string
 * @returns `text` with U+FFFD in place of bidirectional embeddings, overrides and isolates (UAX #9, sections 2.1 to 2.5), of line
 *   and paragraph separators, and of control characters; tabs and line ends become spaces
 * @see https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters
 */
export function displayText(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu, (c) => (/[\t\n\r]/.test(c) ? ' ' : '\uFFFD'))
}

function markupOf(value: HtmlValue): string {
  if (value === undefined) return ''
  if (isFragments(value)) return value.map(markupOf).join('')
  // Anything else that a caller without types passes becomes text, `null` too.
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, markup)) return value[markup]
  return escapeHtml(String(value))
}

// `Array.isArray` does not narrow readonly arrays.
function isFragments(value: HtmlValue): value is readonly SafeHtml[] {
  return Array.isArray(value)
}

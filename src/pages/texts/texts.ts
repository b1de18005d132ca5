/**
 * The type of a language's texts, and how values are written into them.
 * @module
 */
import type { HtmlValue, SafeHtml } from '../html.js'
import { html } from '../html.js'
import type { enForDevelopers } from './developers/en.js'
import type { en } from './en.js'
import { formatsOf } from './formats.js'

/**
 * A text that depends on a number, in the forms that its language has for it: `{ one: '{count} more', other: '{count} more' }`. The
 * categories are those of `Intl.PluralRules`.
 */
export type PluralText = { readonly other: string } & { readonly [Category in Intl.LDMLPluralRule]?: string }

/** The name of a text, such as `consent.agree`. */
export type TextName = keyof typeof en

/**
 * All texts of one language by their names. A text has values in braces, such as `{application}`, in any order; `{count}` may be left
 * out of a plural form.
 */
export type Texts = {
  readonly [Name in TextName]: (typeof en)[Name] extends string ? string : PluralText
}

/** The texts of one language that developers and administrators read. */
export type DeveloperTexts = Pick<Texts, keyof typeof enForDevelopers>

/** The name of a text that depends on a number. */
export type PluralName = { [Name in TextName]: (typeof en)[Name] extends string ? never : Name }[TextName]

/** A language that a page is written in. */
export interface Language {
  /** The tag by which numbers and days are written, such as `de` or `pt-BR`. */
  readonly locale: string
  /** The texts of the language. */
  readonly texts: Texts
}

const VALUE = /(\{\w{1,32}\})/

/**
 * Writes values into a text.
 * @param values - by the names in the braces; a name without a value stays as it is
 */
export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  return partsOf(text, values).join('')
}

/**
 * Writes values into a text, as a fragment of HTML.
 * @param values - by the names in the braces: fragments, or text that is escaped
 */
export function fillHtml(text: string, values: Readonly<Record<string, HtmlValue>>): SafeHtml {
  return html`${partsOf(text, values).map((part) => html`${part}`)}`
}

/** Returns the form of a text that a number needs, with the number in it. */
export function countedText({ locale, texts }: Language, name: PluralName, count: number): string {
  const forms: PluralText = texts[name]
  const form = forms[formatsOf(locale).plurals.select(count)] ?? forms.other
  return fillText(form, { count: formatsOf(locale).numbers.format(count) })
}

function partsOf<Value>(text: string, values: Readonly<Record<string, Value>>): readonly (string | Value)[] {
  return text.split(VALUE).map((part) => {
    const name = part.slice(1, -1)
    return VALUE.test(part) && Object.hasOwn(values, name) ? (values[name] ?? part) : part
  })
}

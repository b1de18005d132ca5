/**
 * The texts of faults of a registration, for the form of an applicant.
 * @module
 */
import { formatsOf } from './formats.js'
import type { Language, TextName } from './texts.js'
import { fillText } from './texts.js'

/** The codes of the faults that have a text: all of `RegistrationFaultCode` and `RedirectFaultCode`, and those of a link. */
export type ShownFaultCode = TextName extends infer Name ? (Name extends `fault.${infer Code}` ? Code : never) : never

/**
 * Returns the sentence of a fault in a language, such as `The name must have 1 to 50 characters, on one line.` It stands alone, beside a
 * field. It is plain text: escape it in HTML.
 * @param fault - a fault of a `GrantwellError`, or the answer of `applications.explainRedirect`
 */
export function faultText(
  { locale, texts }: Language,
  fault: { readonly code: ShownFaultCode; readonly values: Readonly<Record<string, string | number>> },
): string {
  const { numbers } = formatsOf(locale)
  const values = Object.entries(fault.values).map(([name, value]) => [
    name,
    typeof value === 'number' ? numbers.format(value) : value,
  ])
  return fillText(texts[`fault.${fault.code}`], Object.fromEntries(values))
}

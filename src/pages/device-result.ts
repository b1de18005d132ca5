/**
 * The page after the decision on a device. The user goes back to the device.
 * @module
 * @see RFC 8628, section 3.3
 */
import { backLink, isolated } from './fragments.js'
import { html } from './html.js'
import { type DefaultPageInput, readInput } from './input.js'
import { layOut } from './layout.js'
import { fillHtml } from './texts/texts.js'

/** The model of the page after the decision. */
export interface DeviceResultPageModel {
  /** The user's decision. */
  readonly decision: 'agree' | 'refuse'
  /** The application that asked, as registered. */
  readonly application: {
    readonly name: string
    /** The website, an `http` or `https` URL; absent if no administrator approved the application, or one stopped it. */
    readonly website?: string
  }
  /** The URL path of the stylesheet. */
  readonly stylesheet: string
}

/**
 * Writes the page after the decision. It has no form: the rest happens on the device.
 *
 * @param input - the things to show, every one of them text, and the language
 * @returns a whole HTML document, without script
 */
export function deviceResultPage(input: DefaultPageInput<DeviceResultPageModel>): string {
  const { model, ...frame } = readInput(input)
  const { texts } = frame
  const [title, text] =
    model.decision === 'agree'
      ? [texts['device.agreedTitle'], texts['device.agreed']]
      : [texts['device.refusedTitle'], texts['device.refused']]
  const main = html`<h1>${title}</h1>
<p>${fillHtml(text, { application: isolated(model.application.name) })}</p>
${backLink(texts, model.application)}`
  return layOut({ title, stylesheet: model.stylesheet, main }, frame)
}

/**
 * The page on which a user enters the code of a device, or compares it.
 * @module
 * @see RFC 8628, sections 3.3, 3.3.1 and 5.4
 */
import { faultNote, hiddenFields, isolated, NOT_RESTORED, titled } from './fragments.js'
import { html, type SafeHtml } from './html.js'
import { type DefaultPageInput, readInput } from './input.js'
import { layOut, type SignedInUser } from './layout.js'
import type { Texts } from './texts/texts.js'
import { fillHtml, fillText } from './texts/texts.js'

/** The model of the device page: the things that it shows, and the target of its form. */
export interface DevicePageModel {
  /** The user who is signed in. */
  readonly user: SignedInUser
  /** The text in the field, from the link or the last submission; absent for an empty field. */
  readonly userCode?: string
  /**
   * True if the code came with the link (RFC 8628, section 3.3.1), and the user compares it with the device instead of typing it.
   * Set it only for text that is a code: the author of the link chose the text, and the page shows it large.
   */
  readonly complete: boolean
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
}

/**
 * Writes the device page. Its form posts the hidden fields and `user_code`: as typed, in any case, with or without dashes.
 *
 * @param input - the things to show, every one of them text, and the language
 * @returns a whole HTML document, without script
 * @see RFC 8628, section 3.3
 */
export function devicePage(input: DefaultPageInput<DevicePageModel>): string {
  const { model, ...frame } = readInput(input)
  const { texts } = frame
  const { user, userCode, complete, stylesheet, fault } = model
  const main = complete && userCode ? comparison(texts, model, userCode) : entry(texts, model)
  return layOut({ title: titled(texts, texts['device.title'], fault), stylesheet, user, main }, frame)
}

// A link with a code saves the victim of an attack the typing, which could have given pause (RFC 8628, section 5.4). So the
// code is large, and the user is asked to compare it before the button.
function comparison(texts: Texts, { form, fault }: DevicePageModel, userCode: string): SafeHtml {
  const code = isolated(userCode)
  return html`${faultNote(fault)}
<h1>${texts['device.title']}</h1>
<p>${texts['device.compare']}</p>
<p class="code">${code}</p>
<p>${texts['device.compareAdvice']}</p>
${warning(texts)}
<form method="post" action="${form.action}" ${NOT_RESTORED}>
${hiddenFields([...form.fields, { name: 'user_code', value: userCode }])}
${button(texts, fillHtml(texts['device.continueCompared'], { code }))}
</form>`
}

/** The form of a code, as the page shows it to the user. */
const EXAMPLE = { length: 8, example: 'WDJB-MJHT' } as const

// The label is around the field, which has no id: a link that ends in an id would put the focus there.
function entry(texts: Texts, { form, fault, userCode = '' }: DevicePageModel): SafeHtml {
  const marks =
    fault === undefined ? html` aria-describedby="hint"` : html` aria-invalid="true" aria-describedby="fault hint"`
  const typing = html` inputmode="text" autocomplete="off" autocapitalize="characters" autocorrect="off" spellcheck="false"`
  return html`${faultNote(fault, 'fault')}
<h1>${texts['device.title']}</h1>
<p>${texts['device.enter']}</p>
${warning(texts)}
<form method="post" action="${form.action}" ${NOT_RESTORED}>
${hiddenFields(form.fields)}
<label class="field">${texts['device.field']}
<input type="text" name="user_code" value="${userCode}" dir="ltr" required maxlength="64"${typing}${marks}></label>
<p id="hint" class="hint">${fillText(texts['device.hint'], EXAMPLE)}</p>
${button(texts, html`${texts['device.continueEntered']}`)}
</form>`
}

function warning(texts: Texts): SafeHtml {
  return html`<p class="warning">${texts['device.warning']}</p>`
}

// As on the consent page, the warning is beside the button, which has no id: a link that ends in an id would focus it.
function button(texts: Texts, inShort: SafeHtml): SafeHtml {
  return html`<div class="actions"><p id="asked" class="asked">${inShort}</p>
<button type="submit" class="primary" aria-describedby="asked">${texts['device.continue']}</button></div>`
}

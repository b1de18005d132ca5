/**
 * The page on which a user enters the code of a device, or compares it.
 * @module
 * @see RFC 8628, sections 3.3, 3.3.1 and 5.4
 */
import { faultNote, hiddenFields, isolated, NOT_RESTORED, ownModel, signedInAs, titled } from './fragments.js'
import { html, type SafeHtml } from './html.js'
import { layOut } from './layout.js'

/** The model of the device page: the things that it shows, and the target of its form. */
export interface DevicePageModel {
  /** The user who is signed in. */
  readonly user: { readonly name: string }
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
 * @param model - the things to show; every value is text
 * @returns a whole HTML document, without script
 * @see RFC 8628, section 3.3
 */
export function devicePage(model: DevicePageModel): string {
  const own = ownModel(model)
  const { userCode, complete, fault } = own
  return layOut({
    title: titled('Connect a device', fault),
    stylesheet: own.stylesheet,
    body: html`${signedInAs(own.user)}
<main>
${complete && userCode ? comparison(own, userCode) : entry(own)}
</main>`,
  })
}

// A link with a code saves the victim of an attack the typing, which could have given pause (RFC 8628, section 5.4). So the
// code is large, and the user is asked to compare it before the button.
function comparison({ form, fault }: DevicePageModel, userCode: string): SafeHtml {
  return html`${faultNote(fault)}
<h1>Connect a device</h1>
<p>The link that brought you here has this code in it. Compare it with the code that your device shows.</p>
<p class="code">${isolated(userCode)}</p>
<p>Continue only if the two are the same and you started this yourself. Otherwise close this page.</p>
${WARNING}
<form method="post" action="${form.action}" ${NOT_RESTORED}>
${hiddenFields([...form.fields, { name: 'user_code', value: userCode }])}
${button(html`Continue only if your own device shows the code ${isolated(userCode)}.`)}
</form>`
}

// The label is around the field, which has no id: a link that ends in an id would put the focus there.
function entry({ form, fault, userCode = '' }: DevicePageModel): SafeHtml {
  const marks =
    fault === undefined ? html` aria-describedby="hint"` : html` aria-invalid="true" aria-describedby="fault hint"`
  const typing = html` inputmode="text" autocomplete="off" autocapitalize="characters" autocorrect="off" spellcheck="false"`
  return html`${faultNote(fault, 'fault')}
<h1>Connect a device</h1>
<p>Enter the code that your device shows. Before anything is shared, you will see which application asks for what.</p>
${WARNING}
<form method="post" action="${form.action}" ${NOT_RESTORED}>
${hiddenFields(form.fields)}
<label class="field">Code on your device
<input type="text" name="user_code" value="${userCode}" required maxlength="64"${typing}${marks}></label>
<p id="hint" class="hint">8 letters, such as WDJB-MJHT</p>
${button(html`Continue only with a code from your own device, never with one that somebody sent you.`)}
</form>`
}

const WARNING: SafeHtml = html`<p class="warning">Only use a code from a device that is yours and in front of you. \
Nobody from this service will ever send you a code: whoever does wants to get into your account.</p>`

// As on the consent page, the warning is beside the button, which has no id: a link that ends in an id would focus it.
function button(inShort: SafeHtml): SafeHtml {
  return html`<div class="actions"><p id="asked" class="asked">${inShort}</p>
<button type="submit" class="primary" aria-describedby="asked">Continue</button></div>`
}

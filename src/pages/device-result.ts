/**
 * The page after the decision on a device. The user goes back to the device.
 * @module
 * @see RFC 8628, section 3.3
 */
import { isolated } from './fragments.js'
import { html, type SafeHtml } from './html.js'
import { layOut } from './layout.js'

/** The model of the page after the decision. */
export interface DeviceResultPageModel {
  /** The user's decision. */
  readonly decision: 'agree' | 'refuse'
  /** The application that asked, as registered. */
  readonly application: { readonly name: string }
  /** The URL path of the stylesheet. */
  readonly stylesheet: string
}

/**
 * Writes the page after the decision. It has no form and no link: the rest happens on the device.
 *
 * @param model - the things to show; every value is text
 * @returns a whole HTML document, without script
 */
export function deviceResultPage(model: DeviceResultPageModel): string {
  const { title, text } = words(isolated(model.application.name))[model.decision]
  return layOut({
    title,
    stylesheet: model.stylesheet,
    body: html`<main>
<h1>${title}</h1>
<p>${text}</p>
</main>`,
  })
}

type Words = Readonly<Record<DeviceResultPageModel['decision'], { readonly title: string; readonly text: SafeHtml }>>

function words(name: SafeHtml): Words {
  return {
    agree: {
      title: 'Your device is connected',
      text: html`${name} has the access that you agreed to. Go back to your device; this page can be closed.`,
    },
    refuse: {
      title: 'Nothing was shared',
      text: html`You refused ${name} the access that it asked for. This page can be closed.`,
    },
  }
}

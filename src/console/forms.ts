/**
 * The forms that ask for one action on an application. Each is bound to the user, the browser, the action, the application and the
 * revision that was shown.
 * @module
 */
import { isOAuthError } from '../core/errors.js'
import { deriveFromVerified, verifyForm } from '../endpoints/interaction/forms.js'
import { hiddenFields, NOT_RESTORED } from '../pages/fragments.js'
import type { SafeHtml } from '../pages/html.js'
import { html } from '../pages/html.js'
import type { FormBinding } from '../protocol/pages/form-binding.js'
import { FORM_FIELDS } from '../protocol/pages/form-binding.js'
import type { Parameters } from '../protocol/parameters.js'
import { bodyParameters, valuesIn } from '../protocol/parameters.js'
import type { Visit } from './visit.js'
import { pathOf } from './visit.js'

/** The name of the field that binds a form. */
export const TOKEN_FIELD: string = FORM_FIELDS.consent

/** A form that came back unchanged. */
export interface SentAction {
  readonly action: string
  readonly revision: number
  readonly parameters: Parameters
  /** 32 bytes that this form gives in this browser alone, and that are nowhere in the page. */
  readonly secret: Uint8Array
}

/** The thing that an action is about. */
export interface Subject {
  readonly id: string
  readonly revision: number
}

/** Writes a form. It goes to the page that it stands on. */
export function actionForm(visit: Visit, action: string, { id, revision }: Subject, content: SafeHtml): SafeHtml {
  const fields = [
    { name: 'action', value: action },
    { name: 'revision', value: String(revision) },
    visit.binder.field(boundTo(action, id, revision)),
  ]
  return html`<form method="post" action="${pathOf(visit, visit.place)}" ${NOT_RESTORED}>
${hiddenFields(fields)}${content}
</form>`
}

/** Reads a form about an application; undefined for one that was changed, is too old or is another browser's. */
export function readAction(visit: Visit, id: string): SentAction | undefined {
  const parameters = bodyParameters(visit.request)
  if (isOAuthError(parameters)) return undefined
  const values = valuesIn(parameters, ['action', 'revision', FORM_FIELDS.consent])
  if (isOAuthError(values)) return undefined
  const { action = '', revision: text = '', [FORM_FIELDS.consent]: token } = values
  const revision = Number(text)
  const { context, request, user } = visit
  const shown = boundTo(action, id, revision)
  if (token === undefined || verifyForm(context, request, user, shown, token) === undefined) return undefined
  return { action, revision, parameters, secret: deriveFromVerified(context, request, user, shown, token) }
}

/** Returns the value of a field, with line ends as one character; empty where it is absent, repeated or malformed. */
export function fieldOf({ parameters }: Pick<SentAction, 'parameters'>, name: string): string {
  const value = parameters.get(name)
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : ''
}

function boundTo(action: string, id: string, revision: number): FormBinding['shown'] {
  return ['console', action, id, String(revision)]
}

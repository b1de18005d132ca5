/**
 * The forms of the applications page: one for each application, and one for several that the user chose.
 * @module
 */
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError } from '../../core/errors.js'
import type { Grant } from '../../core/grant/grant.js'
import type { ClientId } from '../../core/values.js'
import { endGrants } from '../../management/grants/end.js'
import type { HttpRequest } from '../../protocol/message.js'
import type { FormBinding } from '../../protocol/pages/form-binding.js'
import { FORM_FIELDS } from '../../protocol/pages/form-binding.js'
import { bodyParameters, listIn, valuesIn } from '../../protocol/parameters.js'
import type { User } from '../../shell/options.js'
import type { PageContext } from '../interaction/context.js'
import type { FormBinder, HiddenField } from '../interaction/forms.js'
import { clientField } from './model.js'

/** A form of the page as it was sent. */
export interface SentForm {
  /** The identifiers of the applications; empty where the user chose none of several. */
  readonly clientIds: ReadonlySet<string>
  /** The values that the form is bound to, besides its user and browser. */
  readonly shown: FormBinding['shown']
  readonly token: string | undefined
}

/** The decision of the form of several applications. The form of one has none. */
const CHOSEN = 'chosen'

/** The values that the form of several is bound to: the user has checked the applications after the page was made. */
const CHOSEN_FORM: FormBinding['shown'] = ['revoke chosen']

/** Makes the hidden fields of the form that revokes an application's access. */
export function fieldsOfOne(binder: FormBinder, clientId: ClientId): readonly HiddenField[] {
  return [clientField(clientId), binder.field(formOfOne(clientId))]
}

/** Makes the hidden fields of the form that revokes the access of the chosen applications. */
export function fieldsOfChosen(binder: FormBinder): readonly HiddenField[] {
  return [{ name: FORM_FIELDS.decision, value: CHOSEN }, binder.field(CHOSEN_FORM)]
}

/** Parses a form of the page. */
export function parseForm(request: HttpRequest): SentForm | OAuthError {
  const form = bodyParameters(request)
  if (isOAuthError(form)) return form
  const fields = valuesIn(form, [FORM_FIELDS.consent, FORM_FIELDS.decision])
  if (isOAuthError(fields)) return fields
  const { consent: token, decision } = fields
  if (decision === CHOSEN) {
    const clientIds = listIn(form, FORM_FIELDS.clientId).filter((clientId) => clientId !== '')
    return { clientIds: new Set(clientIds), shown: CHOSEN_FORM, token }
  }
  const one = valuesIn(form, [FORM_FIELDS.clientId])
  if (isOAuthError(one)) return one
  const { client_id: clientId = '' } = one
  return { clientIds: new Set([clientId]), shown: formOfOne(clientId), token }
}

/**
 * Ends every grant of a user to some applications, in one pass over the user's grants.
 * @throws GrantwellError `ERR_STORE` if some could not be ended
 */
export async function revokeAll(
  { transactions, rules }: PageContext<never>,
  { subject }: User,
  clientIds: ReadonlySet<string>,
): Promise<void> {
  const mayEnd = (grant: Grant): boolean => grant.subject === subject && clientIds.has(grant.clientId)
  await endGrants(transactions, rules, `subject:${subject}`, { by: 'user', mayEnd })
}

function formOfOne(clientId: string): FormBinding['shown'] {
  return ['revoke', clientId]
}

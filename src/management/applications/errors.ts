/**
 * The errors of the functions on applications.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import type { RegistrationFault } from '../../core/application/faults.js'
import { brokenRule, registrationFault } from '../../core/application/faults.js'
import type { ApplicationRefusal } from '../../core/application/life/outcome.js'
import type { GrantwellErrorCode } from '../../core/errors.js'
import { GrantwellError } from '../../core/errors.js'

const REFUSALS: {
  readonly [Refusal in Exclude<ApplicationRefusal, 'scopes' | 'type'>]: readonly [GrantwellErrorCode, string]
} = {
  exists: ['ERR_CLIENT_EXISTS', 'there is an application with this client identifier'],
  unknown: ['ERR_CLIENT_UNKNOWN', 'there is no such application'],
  state: ['ERR_APPLICATION_STATE', 'this cannot be done with an application of this kind and state'],
  outdated: ['ERR_REVISION_OUTDATED', 'there is a newer revision than this one: look at the application again'],
  secrets: ['ERR_APPLICATION_STATE', 'too many secrets work at once: let one expire, or rotate without an overlap'],
}

/** Makes the error of a command that an application refused. */
export function refusalError(refusal: ApplicationRefusal, state?: Application['state']): GrantwellError {
  if (refusal === 'scopes') return registrationError([registrationFault('scopes', brokenRule('scopes_wider'))])
  if (refusal === 'type') return registrationError([registrationFault('type', brokenRule('client_type_changed'))])
  const [code, message] = REFUSALS[refusal]
  return new GrantwellError(code, `grantwell: ${message}${refusal === 'state' ? `: it is ${state}` : ''}`)
}

/** Makes the error of a registration with faults. */
export function registrationError(faults: readonly RegistrationFault[]): GrantwellError {
  const message = faults.map(({ path, message }) => `${path || 'the registration'} ${message}`).join('; ')
  return new GrantwellError('ERR_REGISTRATION', `grantwell: ${message}`, faults)
}

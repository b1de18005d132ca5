/**
 * The pages on which an applicant hands in an application, or a change of one.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { isPublished } from '../../core/application/application.js'
import type { RegistrationFault } from '../../core/application/faults.js'
import { decodeBase64url, encodeBase64url } from '../../core/credentials/base64url.js'
import { verifyFormOfAnyAge } from '../../endpoints/interaction/forms.js'
import { fillText } from '../../pages/index.js'
import type { HttpResponse } from '../../protocol/message.js'
import type { FormBinding } from '../../protocol/pages/form-binding.js'
import { latestDetails } from '../describe.js'
import { errorCodeOf, faultsOf } from '../errors.js'
import { logoPath } from '../logo.js'
import type { Told, Visit } from '../visit.js'
import { askedBy, respond, respondError } from '../visit.js'
import { applicationPage, loadOwn } from './application.js'
import { listAfter } from './list.js'
import type { RegistrationForm } from './registration-form.js'
import { hasOwnImage, registrationForm } from './registration-form.js'
import type { SentRegistration, Values } from './values.js'
import { EMPTY, readRegistration, registrationFrom, valuesOf } from './values.js'

/** Shows the form of a new application. */
export function newForm(visit: Visit): Promise<HttpResponse> {
  return Promise.resolve(showNew(visit, EMPTY, undefined, [], {}, 200))
}

const NEW_FORM: FormBinding['shown'] = ['console', 'submit']

function showNew(
  visit: Visit,
  values: Values,
  sentLogo: Uint8Array | undefined,
  faults: readonly RegistrationFault[],
  told: Told,
  status: number,
): HttpResponse {
  const fields = [visit.binder.field(NEW_FORM)]
  const form = { values, faults, fields, sentLogo, presentLogo: undefined, isTypeFixed: false }
  return showForm(visit, visit.context.language.texts['console.new'], form, told, status)
}

function showForm(visit: Visit, title: string, form: RegistrationForm, told: Told, status: number): HttpResponse {
  return respond(visit, { title, main: registrationForm(visit, form), told, status, hasOwnImage: hasOwnImage(form) })
}

/** Takes the form of a new application. */
export async function handInNew(visit: Visit): Promise<HttpResponse> {
  const { console, context, user } = visit
  const { texts } = context.language
  const sent = await readRegistration(visit)
  if (sent === undefined) return showNew(visit, EMPTY, undefined, [], { fault: texts['console.unreadable'] }, 400)
  const { values, logo } = sent
  const secret = verified(visit, NEW_FORM, sent)
  // What somebody typed is not lost because the form is too old: it is shown again, to be sent once more.
  const again = (told: Told, status: number, faults: readonly RegistrationFault[] = []) =>
    showNew(visit, values, logo, faults, told, status)
  if (secret === undefined) return again({ fault: texts['console.unreadable'] }, 400)
  if (sent.isPreview) return again({ notice: texts['console.previewed'] }, 200)
  const id = identifierOf(context.digests.sha256(secret))
  try {
    const submission = Object.entries(registrationFrom(visit, values, logo)).filter(([, value]) => value !== null)
    await console.applications.submit(Object.fromEntries(submission) as never, {
      applicant: user.subject,
      ...askedBy(visit),
      id,
    })
    return await applicationPage(visit, id, { notice: texts['console.submitted'] })
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'ERR_REGISTRATION') return again({ fault: texts['console.faults'] }, 400, faultsOf(error))
    if (code !== 'ERR_CLIENT_EXISTS' && code !== 'ERR_TOO_MANY_SUBMISSIONS') throw error
    if ((await loadOwn(visit, id)) !== undefined)
      return applicationPage(visit, id, { notice: texts['console.doneBefore'] })
    if (code === 'ERR_CLIENT_EXISTS') return listAfter(visit, { notice: texts['console.doneBefore'] })
    return again({ fault: texts['console.tooMany'] }, 429)
  }
}

/** Returns the identifier of the application that a form makes: however often it is sent, it is this one. */
function identifierOf(digest: string): string {
  const bytes = decodeBase64url(digest) as Uint8Array // a digest is base64url
  return encodeBase64url(bytes.subarray(0, 16))
}

function verified(visit: Visit, shown: FormBinding['shown'], { token }: SentRegistration): Uint8Array | undefined {
  return verifyFormOfAnyAge(visit.context, visit.request, visit.user, shown, token)?.secret
}

/** Shows the form of a change, with everything that is there. */
export async function changeForm(visit: Visit, id: string): Promise<HttpResponse> {
  const application = await loadOwn(visit, id)
  if (application === undefined || application.state === 'rejected') return respondError(visit.context, 404, 'notFound')
  return showChange(visit, application, valuesOf(visit, latestDetails(application)), undefined, [], {}, 200)
}

function showChange(
  visit: Visit,
  application: Application,
  values: Values,
  sentLogo: Uint8Array | undefined,
  faults: readonly RegistrationFault[],
  told: Told,
  status: number,
): HttpResponse {
  const { id, revision } = application
  const details = latestDetails(application)
  const fields = [{ name: 'revision', value: String(revision) }, visit.binder.field(changeOf(id, revision))]
  const presentLogo = logoPath(visit, id, details).logo
  const title = fillText(visit.context.language.texts['console.changeOf'], { application: details.name })
  const form = { values, faults, fields, sentLogo, presentLogo, isTypeFixed: isPublished(application) }
  return showForm(visit, title, form, told, status)
}

function changeOf(id: string, revision: number): FormBinding['shown'] {
  return ['console', 'change', id, String(revision)]
}

/** Takes the form of a change. */
export async function handInChange(visit: Visit, id: string): Promise<HttpResponse> {
  const { console, context } = visit
  const { texts } = context.language
  const application = await loadOwn(visit, id)
  if (application === undefined || application.state === 'rejected') return respondError(context, 404, 'notFound')
  const sent = await readRegistration(visit)
  if (sent === undefined) return applicationPage(visit, id, { fault: texts['console.unreadable'] }, 400)
  const { values, logo, revision } = sent
  const again = (told: Told, status: number, faults: readonly RegistrationFault[] = []) =>
    showChange(visit, application, values, logo, faults, told, status)
  if (verified(visit, changeOf(id, revision), sent) === undefined)
    return again({ fault: texts['console.unreadable'] }, 400)
  if (sent.isPreview) return again({ notice: texts['console.previewed'] }, 200)
  try {
    await console.applications.change(id, registrationFrom(visit, values, logo), { revision, ...askedBy(visit) })
    return await applicationPage(visit, id, { notice: texts['console.changed'] })
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'ERR_REGISTRATION') return again({ fault: texts['console.faults'] }, 400, faultsOf(error))
    if (code === 'ERR_REVISION_OUTDATED') return outdated(visit, id, sent)
    if (code === 'ERR_APPLICATION_STATE')
      return applicationPage(visit, id, { fault: texts['console.notPossible'] }, 409)
    throw error
  }
}

/** Says that this form made the newest change itself, or that somebody else was faster. */
async function outdated(visit: Visit, id: string, { values, revision }: SentRegistration): Promise<HttpResponse> {
  const { texts } = visit.context.language
  const application = await loadOwn(visit, id)
  const isDone = application?.revision === revision + 1 && isSame(valuesOf(visit, latestDetails(application)), values)
  return isDone
    ? applicationPage(visit, id, { notice: texts['console.doneBefore'] })
    : applicationPage(visit, id, { fault: texts['console.outdated'] }, 409)
}

function isSame(stored: Values, sent: Values): boolean {
  const plain = ({ scopes, reasons, name, description, redirectUris, isMac }: Values) =>
    JSON.stringify([
      name,
      description,
      redirectUris.split(/\s+/),
      isMac,
      scopes.map((each) => [each, reasons.get(each)]),
    ])
  return plain(stored) === plain(sent)
}

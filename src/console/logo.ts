/**
 * Logos in the console: of applications that wait too, for those who may see them, and the preview of one that was just sent.
 * @module
 */
import type { Application, ApplicationDetails } from '../core/application/application.js'
import { isPublished } from '../core/application/application.js'
import { imageType } from '../core/application/image.js'
import { encodeBase64url } from '../core/credentials/base64url.js'
import type { HttpResponse } from '../protocol/message.js'
import { imageResponse } from '../protocol/pages/page.js'
import type { Visit } from './visit.js'
import { pathOf, placeOf, respondError } from './visit.js'

/** Answers with the logo of an application, to its applicant and to administrators. */
export async function logoResponse(visit: Visit, id: string, name: string): Promise<HttpResponse<string | Uint8Array>> {
  const { context, console, user, isAdministrator } = visit
  const application = await console.applications.get(id)
  const maySee = isAdministrator || application?.applicant === user.subject
  const logo = maySee && logosOf(application).includes(name) ? await console.applications.logo(name) : undefined
  if (logo === undefined) return respondError(context, 404, 'notFound')
  const response = imageResponse(logo.type, logo.bytes)
  return { ...response, headers: { ...response.headers, 'Cache-Control': 'private, max-age=3600' } }
}

function logosOf(application: Application | undefined): readonly string[] {
  if (application === undefined) return []
  const inReview = application.review?.details.logo ?? ''
  return [inReview, isPublished(application) ? application.logo : ''].filter((logo) => logo !== '')
}

/** Returns the path of the logo in details of an application, for the pages; nothing where there is none. */
export function logoPath(visit: Visit, id: string, { logo }: ApplicationDetails): { readonly logo?: string } {
  return logo === '' ? {} : { logo: `${pathOf(visit, placeOf(id))}/logo/${logo}` }
}

/** Returns the address of an image that is part of the page; undefined for bytes that are no image that is taken. */
export function dataUrl(bytes: Uint8Array): string | undefined {
  const type = imageType(bytes)
  return type === undefined ? undefined : `data:${type};base64,${toBase64(bytes)}`
}

/** Writes bytes in base64, for a hidden field and the address of an image. */
export function toBase64(bytes: Uint8Array): string {
  const text = encodeBase64url(bytes).replaceAll('-', '+').replaceAll('_', '/')
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=')
}

/**
 * What a store keeps of an application beside it: the lists that it is in, and its logos.
 * @module
 */
import type { Application } from './application.js'
import { isPublished } from './application.js'

/** The names of the lists that an application is in: its state, what waits for the administrators, its applicant. */
export function applicationLabels(application: Application): readonly string[] {
  const { state, review, applicant } = application
  return [
    `applications:${state}`,
    ...(review?.state === 'pending' && state !== 'pending' ? ['applications:pending'] : []),
    ...(applicant === undefined ? [] : [`applicant:${applicant}`]),
  ]
}

/** The logos that are needed: that in force and that in review; what was rejected is kept without. */
export function logosOf(application: Application | undefined): readonly string[] {
  const inForce = isPublished(application) ? [application.logo] : []
  return application?.review?.state === 'pending' ? [...inForce, application.review.details.logo] : inForce
}

/**
 * The parts of an application that a store keeps beside it: the lists that it is in, and its logos.
 * @module
 */
import type { Application } from './application.js'
import { isPublished } from './application.js'

/** Returns the names of the lists that an application is in: its state, what waits for the administrators, its applicant. */
export function applicationLabels(application: Application): readonly string[] {
  const { state, review, applicant } = application
  return [
    `applications:${state}`,
    ...(review?.state === 'pending' && state !== 'pending' ? ['applications:pending'] : []),
    ...(applicant === undefined ? [] : [`applicant:${applicant}`]),
  ]
}

/** Returns the names of the logos in force and in review. A rejected change keeps none. */
export function logosOf(application: Application | undefined): readonly string[] {
  const inForce = isPublished(application) ? [application.logo] : []
  const all = application?.review?.state === 'pending' ? [...inForce, application.review.details.logo] : inForce
  return all.filter((logo) => logo !== '')
}

/**
 * The question that a browser asks before it sends the request of a page to another origin.
 * @module
 * @see Fetch, section 3.3.2 (HTTP requests)
 */
import type { HttpRequest } from '../message.js'
import { headerOf } from '../message.js'

/** Checks whether a request is a preflight. Any other `OPTIONS` is a method like all others. */
export function isPreflight({ method, headers }: HttpRequest): boolean {
  const has = (name: string): boolean => typeof headerOf(headers, name) === 'string'
  return method === 'OPTIONS' && has('origin') && has('access-control-request-method')
}

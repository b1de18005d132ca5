/**
 * The purpose of a browser's request: to show a page to its user, or something that must make no grant.
 *
 * Browsers tell it in headers that no page can set. Other programs send none of them.
 * @module
 * @see Fetch Metadata Request Headers, sections 2.1 and 2.2
 */
import type { HttpRequest } from '../../protocol/message.js'
import { headerOf } from '../../protocol/message.js'

/** Headers in which browsers say that they load a page ahead of their user, who may never open it. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const

/**
 * True if a browser shows the answer to its user as a page of its own. A script or an image of another page must get no grant
 * without a question, and must not learn whether there would be one.
 */
export function isNavigation({ headers }: HttpRequest): boolean {
  const [mode, destination] = [headerOf(headers, 'sec-fetch-mode'), headerOf(headers, 'sec-fetch-dest')]
  return (mode === undefined || mode === 'navigate') && (destination === undefined || destination === 'document')
}

/** True if a browser asks for a part of a page, such as an image or a frame, or for a script of one. */
export function isPartOfPage({ headers }: HttpRequest): boolean {
  const destination = headerOf(headers, 'sec-fetch-dest')
  return destination !== undefined && destination !== 'document'
}

/**
 * True if a browser asks ahead of its user. In all else the request is like a navigation, and any page can make a browser send
 * it. The browser would even follow the redirect with a code.
 */
export function isAheadOfUser({ headers }: HttpRequest): boolean {
  return PURPOSES.some((name) => {
    const purpose = headerOf(headers, name)
    return typeof purpose === 'string' ? /prefetch|prerender|preview/i.test(purpose) : purpose !== undefined
  })
}

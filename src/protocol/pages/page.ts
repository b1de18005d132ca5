/**
 * Answers of the front channel: pages that cannot be framed, scripted, cached or leak where they came from; documents and redirects.
 * @module
 * @see RFC 9700, section 4.16; RFC 6749, section 10.13
 */
import type { HttpResponse } from '../message.js'

/**
 * A page.
 * @param formTargets - CSP sources that a form of the page may lead to besides this server: browsers hold redirects of a
 * form's answer against them too
 */
export function pageResponse(
  status: number,
  html: string,
  formTargets: readonly string[] = [],
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]
  return {
    status,
    headers: {
      'Content-Type': 'text/html;charset=UTF-8',
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      'Content-Security-Policy': policy.join('; '),
      // A link's fragment must not scroll past who asks and for what.
      'Document-Policy': 'force-load-at-top',
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      ...headers,
    },
    body: html,
  }
}

/**
 * CSP sources that the answer of a form may lead to. Chromium holds every hop of the redirects that follow against the
 * list, so it names what the application may go on to as well: any https page and, from loopback, any http one, for
 * which no narrower source would do (an IPv6 address cannot be one). A callback that redirects to the scheme of a native program
 * is not followed: it could be any scheme, and a source for all of them does not exist. SECURITY.md says what such a one does.
 */
export function formTargets(redirectUri: string): readonly string[] {
  const { protocol } = new URL(redirectUri)
  return protocol === 'https:' ? ['https:'] : [protocol, 'https:']
}

/** A document that may be read by anyone and kept for a while. */
export function documentResponse(contentType: string, body: string): HttpResponse {
  return {
    status: 200,
    headers: {
      'Content-Type': contentType,
      'Cache-Control': 'public, max-age=3600',
      'X-Content-Type-Options': 'nosniff',
    },
    body,
  }
}

/**
 * Headers that send the browser on from the answer to a form, to any address. Chromium follows no redirect of a form to an
 * address that `form-action` does not list, and says nothing; a refresh is a navigation of its own.
 * @param address - a path or URL of visible ASCII characters
 * @see HTML, section 4.2.5.3 (Refresh); Content Security Policy Level 3, section 6.4.1 (form-action)
 */
export function refreshTo(address: string): Readonly<Record<string, string>> {
  return { Refresh: `0;url=${address}` }
}

/** Seconds of a year. */
const YEAR = 31_536_000

/**
 * An image whose address never gets another one, so that it is kept for good (RFC 8246). Opened by itself it can do nothing, and
 * no other origin can embed it, nor tell by the time it takes whether the browser has it: what our own pages were given is not
 * for requests of others, which another origin of the same site would share a cache with.
 */
export function imageResponse(contentType: string, bytes: Uint8Array): HttpResponse<Uint8Array> {
  return {
    status: 200,
    headers: {
      'Content-Type': contentType,
      'Cache-Control': `public, max-age=${YEAR}, immutable`,
      Vary: 'Sec-Fetch-Site',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'",
      'Cross-Origin-Resource-Policy': 'same-origin',
    },
    body: bytes,
  }
}

/** A redirect. */
export function redirectResponse(location: string): HttpResponse {
  return {
    status: 302,
    headers: { Location: location, 'Cache-Control': 'no-store', Pragma: 'no-cache', 'Referrer-Policy': 'no-referrer' },
    body: '',
  }
}

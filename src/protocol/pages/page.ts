/**
 * The answers to browsers: pages, which cannot be framed, scripted or cached and send no referrer; documents, images and redirects.
 * @module
 * @see RFC 9700, section 4.16; RFC 6749, section 10.13; Content Security Policy Level 3, section 2.3.1
 */
import { parseOrigin } from '../../core/url.js'
import type { HttpResponse } from '../message.js'

/** Origins that pages may load from besides the server's own, as the option `pageSources` has them. */
export type PageSources = { readonly [Kind in 'images' | 'fonts' | 'styles']?: readonly string[] }

/**
 * Makes the answer with a page.
 * @param sources - each passed {@link isPageSource}, so it ends no directive
 * @param formTargets - CSP sources that a form of the page may lead to besides this server; browsers hold redirects of a
 * form's answer against them too
 */
export function pageResponse(
  { images, fonts, styles }: PageSources,
  status: number,
  html: string,
  formTargets: readonly string[] = [],
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const policy = [
    "default-src 'none'",
    directive('style-src', styles),
    directive('img-src', images),
    ...(fonts === undefined ? [] : [directive('font-src', fonts)]),
    directive('form-action', formTargets),
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
      // A link's fragment must not scroll past the application and the scopes.
      'Document-Policy': 'force-load-at-top',
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      ...headers,
    },
    body: html,
  }
}

/** True for an https origin that can be a source of the policy: no IPv6 address can, and no host with an underscore. */
export function isPageSource(value: unknown): value is string {
  return typeof value === 'string' && /^https:[^[_]+$/.test(value) && parseOrigin(value) !== undefined
}

/** Writes a directive of the policy: this server, and what else there is. */
function directive(name: string, sources: readonly string[] = []): string {
  return [name, "'self'", ...sources].join(' ')
}

/**
 * Returns the CSP sources that the answer of a form may lead to. Chromium holds every redirect that follows against the list, so
 * it names the pages that the application may go on to: any https page and, from loopback, any http one. No narrower source would
 * do, since an IPv6 address cannot be one.
 *
 * Chromium does not follow a callback that redirects to the scheme of a native program. It could be any scheme, and no source
 * stands for all of them. The page on the duties of a host says what to do instead.
 */
export function formTargets(redirectUri: string): readonly string[] {
  const { protocol } = new URL(redirectUri)
  return protocol === 'https:' ? ['https:'] : [protocol, 'https:']
}

/** Makes the answer with a document that anyone may read, and keep for an hour. */
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
 * Makes the headers that send the browser from the answer to a form to any address. Chromium follows no redirect of a form to an
 * address that `form-action` does not list, without a word to the user. A refresh is a navigation of its own.
 * @param address - a path or URL of visible ASCII characters
 * @see HTML, section 4.2.5.3 (Refresh); Content Security Policy Level 3, section 6.4.1 (form-action)
 */
export function refreshTo(address: string): Readonly<Record<string, string>> {
  return { Refresh: `0;url=${address}` }
}

/** Seconds in a year. */
const YEAR = 31_536_000

/**
 * Makes the answer with an image that browsers keep for good, since its address never gets another one (RFC 8246).
 *
 * The image runs nothing where it is opened by itself, and no other origin can embed it. Nor can another origin of the same site
 * measure whether the browser has it: `Vary` keeps the copy of our own pages from requests of others.
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

/** Makes a redirect. */
export function redirectResponse(location: string): HttpResponse {
  return {
    status: 302,
    headers: { Location: location, 'Cache-Control': 'no-store', Pragma: 'no-cache', 'Referrer-Policy': 'no-referrer' },
    body: '',
  }
}

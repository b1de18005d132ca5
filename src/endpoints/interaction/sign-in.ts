/**
 * The user who is signed in at the host, and the way to its sign-in page and back.
 * @module
 */
import type { Takes } from '../../core/takes.js'
import { isObject, isTaken } from '../../core/takes.js'
import { shownName } from '../../core/text.js'
import type { SignedInUser } from '../../pages/index.js'
import { ENDPOINT_PATHS } from '../../protocol/endpoint-paths.js'
import type { HttpRequest, HttpResponse } from '../../protocol/message.js'
import { pageResponse, redirectResponse, refreshTo } from '../../protocol/pages/page.js'
import { checkedAnswer } from '../../shell/host.js'
import type { User } from '../../shell/options.js'
import type { PageContext, PageEndpoint } from './context.js'
import { describeError } from './error-page.js'
import { isText, isTextOrNone, wrongFields } from './texts.js'

const USER: Takes = {
  words:
    '{ subject, name }, a string that is not empty and one that may be left out, or undefined where nobody is signed in',
  fits: (value) =>
    isObject(value) && isText(value['subject']) && value['subject'] !== '' && isTextOrNone(value['name']),
}

/** A header can hold nothing else. */
const SIGN_IN_URL: Takes = {
  words: 'a path or URL of visible ASCII characters, at once',
  fits: (value) => isText(value) && /^[\x21-\x7e]+$/.test(value),
  secret: true,
}

/** Asks the host who is signed in; undefined for nobody. */
export async function readUser<Native>(
  context: PageContext<Native>,
  request: HttpRequest<Native>,
): Promise<User | undefined> {
  const user = await context.user(request)
  if (user === undefined || user === null) return undefined // a session without a user is often null
  if (!isTaken(USER, user)) throw wrongFields('user()', USER, user)
  return user
}

/** Sends the browser to sign in, and from there back to an endpoint with a query. */
export function sendToSignIn(
  context: PageContext<never>,
  request: HttpRequest,
  endpoint: PageEndpoint,
  query: string,
): Promise<HttpResponse> {
  return sendToSignInAndBack(context, request, addressOf(context, endpoint, query))
}

/**
 * Sends the browser to sign in, and from there to an address of this service.
 *
 * A form is answered with a page that leads there, since Chromium would not follow its redirect to every address.
 */
export async function sendToSignInAndBack(
  context: PageContext<never>,
  { method }: HttpRequest,
  returnTo: string,
): Promise<HttpResponse> {
  const { stylesheet, pageSources, show, language } = context
  const url = context.signInUrl(returnTo)
  const address = checkedAnswer<string>('signInUrl()', SIGN_IN_URL, url)
  if (method !== 'POST') return redirectResponse(address)
  const link = { href: address, text: language.texts['error.signIn'] }
  const html = await show.error({ ...describeError(language, 'signedOut'), link, stylesheet })
  return pageResponse(pageSources, 403, html, [], refreshTo(address))
}

/**
 * Describes the user who is signed in, with the address at which somebody else can sign in and come back to an endpoint with a query;
 * without that address where the host has none.
 */
export function describeUser(
  context: PageContext<never>,
  user: User,
  endpoint: PageEndpoint,
  query: string,
): SignedInUser {
  return describeUserAt(context, user, addressOf(context, endpoint, query))
}

/** Describes the user who is signed in, with the address at which somebody else can sign in and come back to an address. */
export function describeUserAt(context: PageContext<never>, { name, subject }: User, returnTo: string): SignedInUser {
  const signedIn = { name: shownName(name, subject) }
  if (context.switchAccountUrl === undefined) return signedIn
  const url = context.switchAccountUrl(returnTo)
  return { ...signedIn, switchAccountUrl: checkedAnswer<string>('switchAccountUrl()', SIGN_IN_URL, url) }
}

/** Returns the address of an endpoint with a query, as clients and browsers know it. */
function addressOf({ issuer }: PageContext<never>, endpoint: PageEndpoint, query: string): string {
  return `${issuer}${ENDPOINT_PATHS[endpoint]}${query === '' ? '' : `?${query}`}`
}

/**
 * The login of a native application in the user's own browser, which is then redirected to this machine.
 * @module
 * @see RFC 8252
 */
import * as oauth from 'oauth4webapi'
import { FUNCTION } from '../../core/takes.js'
import type { Client } from '../client.js'
import { checkClient, connectionOf } from '../client.js'
import { ClientError, configurationError, isClientError } from '../errors.js'
import { withTimeout } from '../http/timeout.js'
import type { OptionChecks } from '../options.js'
import { readOptions, SCOPE, SIGNAL, waitingTime } from '../options.js'
import { requestTokens, tokenRequest } from '../token-endpoint.js'
import type { Tokens } from '../tokens/tokens.js'
import type { CallbackPage } from './callback.js'
import { listenForCallback } from './callback.js'
import { createPlatformOpener } from './open-browser.js'

/** Options of {@link loginByBrowser}. */
export interface BrowserLoginOptions {
  /** The scopes to request, separated by spaces; by default those that the service gives to a request without scopes. */
  readonly scope?: string
  /**
   * Opens an address in the user's browser; by default with the program of the platform (`open`, `xdg-open`, `rundll32`).
   * False opens no browser: then `onUrl` must show the address. The login does not wait for it. Its error ends the login,
   * unless `onUrl` is given.
   *
   * The program of the platform gets the address of a page that only this user can read, and that forwards to the login.
   * Every user of a machine sees the arguments of programs, and anybody with the address of the login could log the tool in
   * to another account. Your own function gets the address itself, and must not pass it as an argument of a program.
   */
  readonly openBrowser?: false | ((url: string) => void | Promise<void>)
  /**
   * Gets the address before any browser is opened, to show it to a user who must open it: over SSH with a forwarded port, or
   * if no browser is found. Its error ends the login. None by default.
   */
  readonly onUrl?: (url: string) => void | Promise<void>
  /** Ends the login at once, which then throws the reason of the signal. */
  readonly signal?: AbortSignal
  /** Seconds that the user may take; 300 by default, half a day at most. */
  readonly timeout?: number
  /** Returns the text that the browser shows at the end, for example in the user's language; English by default. */
  readonly page?: CallbackPage
}

/**
 * Logs a user in with the browser of this machine.
 *
 * It listens on a free port of 127.0.0.1 until the browser is redirected there, so the client must be registered with the
 * redirect URI `http://127.0.0.1/callback`. PKCE, a random state and the issuer in the answer bind the answer to this login.
 * Any other request to the port gets an error page and changes nothing. When the login is over, the port is closed, and the
 * page that forwarded the browser is removed.
 * @throws ClientError `ERR_ACCESS_DENIED` if the user refused; `ERR_LOGIN_EXPIRED` if the time was over; `ERR_UNREACHABLE` if
 *   there is no answer to the token request, or the service is busy: log in again; `ERR_RESPONSE`, with the service's code in
 *   `error`; `ERR_TOKEN_TYPE`; `ERR_CONFIGURATION` for a wrong option, or if no browser can be opened, or the port cannot be
 *   opened; the reason of the signal
 * @example
 * ```ts
 * const tokens = await loginByBrowser(client, { onUrl: (url) => console.log(`Your browser opens ${url}`) })
 * ```
 */
export async function loginByBrowser(client: Client, options: BrowserLoginOptions = {}): Promise<Tokens> {
  const given = readOptions<BrowserLoginOptions>('loginByBrowser', options, OPTIONS)
  checkClient('loginByBrowser', client)
  const platform = createPlatformOpener()
  const { scope, openBrowser = platform.open, onUrl, signal, timeout = 300, page } = given
  if (openBrowser === false && onUrl === undefined)
    throw configurationError(
      'loginByBrowser: the option onUrl must be given where openBrowser is false, to get the address; got undefined',
    )
  const { as, client: self, resources } = connectionOf(client)
  const endpoint = as.authorization_endpoint
  if (endpoint === undefined) throw new ClientError('ERR_RESPONSE', 'the service has no authorization endpoint')

  const state = oauth.generateRandomState()
  const verifier = oauth.generateRandomCodeVerifier()
  const callback = await listenForCallback(state, page)
  const { redirectUri } = callback
  try {
    const url = new URL(endpoint)
    const parameters = {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(scope !== undefined && { scope }),
    }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    for (const each of resources) url.searchParams.append(...each)

    const late = new ClientError('ERR_LOGIN_EXPIRED', `the browser was not redirected back within ${timeout} seconds`)
    const answer = await withTimeout({ signal, time: { seconds: timeout, late } }, async (ended) => {
      await onUrl?.(url.href)
      // Whoever took so long to show it: nobody waits for the browser any more, and anybody may listen where it would come back.
      ended.throwIfAborted()
      const failed = openBrowser === false ? [] : [failureOf(openBrowser, url.href, onUrl !== undefined)]
      return Promise.race([callback.received, ...failed])
    })
    const tokens = await requestTokens(client, 'the service gave no tokens', { scope }, signal, async (connection) => {
      const { authentication } = connection
      const code = oauth.validateAuthResponse(as, self, answer, state)
      const request = tokenRequest(connection, signal)
      return oauth.authorizationCodeGrantRequest(as, self, authentication, code, redirectUri, verifier, request)
    })
    await callback.end('done')
    return tokens
  } catch (thrown) {
    const error = meaningOf(thrown)
    await callback.end(isClientError(error) && error.code === 'ERR_ACCESS_DENIED' ? 'refused' : 'failed')
    throw error
  } finally {
    await platform.end()
  }
}

const OPTIONS: OptionChecks<BrowserLoginOptions> = {
  scope: SCOPE,
  openBrowser: { words: 'a function, or false', fits: (value) => value === false || typeof value === 'function' },
  onUrl: FUNCTION,
  signal: SIGNAL,
  timeout: waitingTime(43_200),
  page: FUNCTION,
}

/**
 * Opens the browser. The promise settles only if that fails: the end of the program says nothing about the user.
 * @param isHarmless - true if the login continues after a failure, since the user has the address
 */
async function failureOf(
  openBrowser: (url: string) => void | Promise<void>,
  url: string,
  isHarmless: boolean,
): Promise<never> {
  try {
    await openBrowser(url)
  } catch (error) {
    if (!isHarmless) throw error
  }
  return new Promise<never>(() => {})
}

/** Converts an error of the service to its meaning in this flow (RFC 6749, section 4.1.2.1). */
function meaningOf(thrown: unknown): unknown {
  if (!isClientError(thrown) || thrown.code !== 'ERR_RESPONSE') return thrown
  const { error, cause } = thrown
  if (error === 'access_denied') return new ClientError('ERR_ACCESS_DENIED', 'the user refused', { error, cause })
  if (error !== 'temporarily_unavailable' && error !== 'server_error') return thrown
  return new ClientError('ERR_UNREACHABLE', `the service is busy (${error})`, { error, cause })
}

/**
 * The login of a native application: in the user's own browser, which comes back to this machine.
 * @module
 * @see RFC 8252
 */
import * as oauth from 'oauth4webapi'
import { FUNCTION } from '../../core/takes.js'
import { type Client, checkClient, connectionOf } from '../client.js'
import { ClientError } from '../errors.js'
import { inTime, isClientError } from '../http/http.js'
import { mistake, type OptionChecks, readOptions, SCOPE, SIGNAL, wait } from '../options.js'
import { requestTokens } from '../token-endpoint.js'
import type { Tokens } from '../tokens/tokens.js'
import { type CallbackPage, listenForCallback } from './callback.js'
import { platformOpener } from './open-browser.js'

/** Options of {@link loginByBrowser}. */
export interface BrowserLoginOptions {
  /** What to ask for, separated by spaces; by default what the service gives when nothing is asked for. */
  readonly scope?: string
  /**
   * Opens an address in the user's browser; by default with the opener of the platform (`open`, `xdg-open`, `rundll32`). False
   * opens none: then `onUrl` must show it. It is not waited for; what it throws ends the login, unless `onUrl` is there.
   *
   * The platform's gets the address of a page that only this user can read, and that goes on to the login: every user of a
   * machine sees the arguments of programs, and whoever has the address can log the tool in to their own account. An opener of
   * your own gets the address itself, and must not make an argument of it.
   */
  readonly openBrowser?: false | ((url: string) => void | Promise<void>)
  /**
   * Gets the address before any browser is opened, to show it to a user who has to open it: over SSH with a forwarded port, or
   * where no browser is found. What it throws ends the login. None by default.
   */
  readonly onUrl?: (url: string) => void | Promise<void>
  /** Ends the login at once; it then throws the reason of the signal. */
  readonly signal?: AbortSignal
  /** Seconds that the user may take; 300 by default, half a day at most. */
  readonly timeout?: number
  /** The words that the browser shows at the end, in the user's language say; English ones by default. */
  readonly page?: CallbackPage
}

/**
 * Logs a user in by the browser of this machine.
 *
 * It listens on a free port of 127.0.0.1 until the browser has come back, so the client must be registered with the redirect
 * URI `http://127.0.0.1/callback`. PKCE, a random state and the issuer in the answer bind it to this login: a request that
 * somebody else sends there is answered with an error page and changes nothing. Nothing listens any more once it is over, and
 * the page that led the browser there is gone.
 * @throws ClientError `ERR_ACCESS_DENIED` where the user refused; `ERR_LOGIN_EXPIRED` where the time was over;
 *   `ERR_UNREACHABLE` where there is no answer to the request for tokens, or the service is busy: log in again;
 *   `ERR_RESPONSE`, with `error` being what the service said; `ERR_TOKEN_TYPE`; `ERR_CONFIGURATION` for a wrong option, where
 *   no browser can be opened, or nothing may listen; the reason of the signal
 * @example
 * ```ts
 * const tokens = await loginByBrowser(client, { onUrl: (url) => console.log(`Your browser opens ${url}`) })
 * ```
 */
export async function loginByBrowser(client: Client, options: BrowserLoginOptions = {}): Promise<Tokens> {
  const given = readOptions<BrowserLoginOptions>('loginByBrowser', options, OPTIONS)
  checkClient('loginByBrowser', client)
  const platform = platformOpener()
  const { scope, openBrowser = platform.open, onUrl, signal, timeout = 300, page } = given
  if (openBrowser === false && onUrl === undefined)
    throw mistake(
      'loginByBrowser: the option onUrl must be given where openBrowser is false, to get the address; got undefined',
    )
  const { as, client: self } = connectionOf(client)
  const endpoint = as.authorization_endpoint
  if (endpoint === undefined) throw new ClientError('ERR_RESPONSE', 'the service offers no login by a browser')

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

    const late = new ClientError('ERR_LOGIN_EXPIRED', `nobody came back from the browser within ${timeout} seconds`)
    const answer = await inTime({ signal, time: { seconds: timeout, late } }, async () => {
      await onUrl?.(url.href)
      const failed = openBrowser === false ? [] : [failureOf(openBrowser, url.href, onUrl !== undefined)]
      return Promise.race([callback.received, ...failed])
    })
    const tokens = await requestTokens(client, 'the service gave no tokens', { scope }, signal, async (connection) => {
      const { authentication, http } = connection
      const code = oauth.validateAuthResponse(as, self, answer, state)
      return oauth.authorizationCodeGrantRequest(as, self, authentication, code, redirectUri, verifier, http(signal))
    })
    await callback.end('done')
    return tokens
  } catch (thrown) {
    const error = verdict(thrown)
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
  timeout: wait(43_200),
  page: FUNCTION,
}

/**
 * Opens the browser; settles only where that fails, for the end of an opener says nothing of the user.
 * @param harmless - whether the login goes on then, since the user has the address
 */
async function failureOf(
  openBrowser: (url: string) => void | Promise<void>,
  url: string,
  harmless: boolean,
): Promise<never> {
  try {
    await openBrowser(url)
  } catch (error) {
    if (!harmless) throw error
  }
  return new Promise<never>(() => {})
}

/** What a failure means in this flow (RFC 6749, section 4.1.2.1). */
function verdict(thrown: unknown): unknown {
  if (!isClientError(thrown) || thrown.code !== 'ERR_RESPONSE') return thrown
  const { error, cause } = thrown
  if (error === 'access_denied') return new ClientError('ERR_ACCESS_DENIED', 'the user refused', { error, cause })
  if (error !== 'temporarily_unavailable' && error !== 'server_error') return thrown
  return new ClientError('ERR_UNREACHABLE', `the service is busy (${error})`, { error, cause })
}

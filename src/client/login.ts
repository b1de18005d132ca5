/**
 * The device flow: the login of a command-line tool, or of a device without a browser. The user types a code into a page on
 * another device.
 * @module
 * @see RFC 8628
 */
import * as oauth from 'oauth4webapi'
import { FUNCTION } from '../core/takes.js'
import type { Client } from './client.js'
import { checkClient, connectionOf } from './client.js'
import { ClientError, isClientError } from './errors.js'
import { isSafeAddress } from './http/address.js'
import { ask, retryAfterOf } from './http/http.js'
import { ownMembers } from './http/own-members.js'
import { sleep, withTimeout } from './http/timeout.js'
import type { OptionChecks } from './options.js'
import { MAX_TIMER, readOptions, SCOPE, SIGNAL } from './options.js'
import { requestTokens, tokenRequest } from './token-endpoint.js'
import type { Tokens } from './tokens/tokens.js'
import { isCredential } from './tokens/tokens-check.js'

/** The code to show to the user. It has no characters that control a terminal or change the direction of text. */
export interface UserCode {
  /** At most 64 characters. */
  readonly userCode: string
  /** The address of the page for the code: `https` or, if the service is on loopback, `http` on loopback. */
  readonly verificationUri: string
  /** The address of the page with the code in it, for a QR code or a link; absent if the service gives none. */
  readonly verificationUriComplete?: string
  /** Seconds until the code expires. */
  readonly expiresIn: number
}

/** Options of {@link login}. */
export interface LoginOptions {
  /** The scopes to request, separated by spaces; by default those that the service gives to a request without scopes. */
  readonly scope?: string
  /**
   * Shows the code to the user. It is called once. The service is asked after it has finished, and an error of it ends the
   * login.
   */
  readonly show: (code: UserCode) => void | Promise<void>
  /** Ends the login at once; it then throws the reason of the signal. */
  readonly signal?: AbortSignal
}

/** Seconds between two polls if the service does not say (RFC 8628, section 3.2), and the seconds that `slow_down` adds (3.5). */
const INTERVAL = 5
const SLOW_DOWN = 5

/** The longest pause in seconds between two polls without an answer, unless the service asks for a longer one. */
const MAX_BACKOFF = 60

/**
 * Logs a user in by the device flow.
 *
 * It polls at the interval that the service gives until the code expires. The interval grows each time the service says
 * `slow_down`, and the pauses grow while the service gives no answer.
 * @throws ClientError `ERR_ACCESS_DENIED` if the user refused; `ERR_LOGIN_EXPIRED` if the code expired, with the last failure
 *   as `cause` if there was no answer at the end; `ERR_UNREACHABLE` if there is no answer to the first request;
 *   `ERR_RESPONSE`, with the service's code in `error`, such as `invalid_scope`, or for an invalid answer, such as a negative
 *   interval; `ERR_TOKEN_TYPE`; `ERR_CONFIGURATION` for a wrong option; the reason of the signal
 * @example
 * ```ts
 * const tokens = await login(client, {
 *   scope: 'repo-code:r',
 *   show: ({ userCode, verificationUri }) => console.log(`Open ${verificationUri} and type in ${userCode}`),
 * })
 * ```
 */
export function login(client: Client, options: LoginOptions): Promise<Tokens> {
  return loginWith(client, options, { now: () => performance.now() / 1000, sleep })
}

/** The clock and the timer of a login. */
export interface Waiting {
  /** Returns seconds of a clock that is never set: a device's system clock may be years off until it is on the network. */
  readonly now: () => number
  readonly sleep: (seconds: number, signal: AbortSignal | undefined) => Promise<void>
}

/** Logs a user in like {@link login}, with the given clock and timer. */
export async function loginWith(client: Client, options: LoginOptions, { now, sleep }: Waiting): Promise<Tokens> {
  const { scope, show, signal } = readOptions<LoginOptions>('login', options, OPTIONS, ['show'])
  checkClient('login', client)
  const { now: clock } = connectionOf(client)
  const codes = await requestCodes(client, scope, signal)
  const deadline = now() + codes.code.expiresIn
  await withTimeout({ signal }, async () => show(codes.code))

  let interval = codes.interval ?? INTERVAL
  let wait = interval // longer than the interval while no answer comes
  let unanswered: ClientError | undefined
  for (;;) {
    await sleep(Math.max(0, Math.min(wait, deadline - now(), MAX_TIMER)), signal)
    if (now() >= deadline) throw expired(unanswered)
    try {
      return await requestTokens(client, 'the service gave no tokens', { scope }, signal, (connection) => {
        const { as, client: self, authentication } = connection
        return oauth.deviceCodeGrantRequest(
          as,
          self,
          authentication,
          codes.deviceCode,
          tokenRequest(connection, signal),
        )
      })
    } catch (error) {
      if (!isClientError(error)) throw error
      unanswered = error.code === 'ERR_UNREACHABLE' ? error : undefined
      if (error.error === 'slow_down') interval += SLOW_DOWN
      else if (unanswered === undefined) checkPending(error)
      wait = unanswered === undefined ? interval : Math.max(interval, retryAfterOf(error, clock()) ?? backOff(wait))
    }
  }
}

const OPTIONS: OptionChecks<LoginOptions> = { scope: SCOPE, show: FUNCTION, signal: SIGNAL }

/** Characters that a terminal obeys, or that make a code look like another one. A space may separate its groups. */
const FORBIDDEN_IN_CODE = /(?! )[\p{Cc}\p{Cf}\p{Z}\p{Cs}]/u

/** Characters that a code may have. A user types it, and services give about eight. */
const MAX_CODE = 64

/**
 * The shortest interval or lifetime in seconds. A shorter one is an error of the service, and this client would poll
 * endlessly.
 */
const MIN_SECONDS = 0.1

/** The longest interval or lifetime in seconds: a year. */
const MAX_SECONDS = 31_536_000

/** The codes of a device, and the interval of polls in seconds. */
interface Codes {
  readonly deviceCode: string
  readonly interval: number | undefined
  readonly code: UserCode
}

/** Requests the codes, and checks the answer (RFC 8628, section 3.1 and 3.2). */
async function requestCodes(
  client: Client,
  scope: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Codes> {
  const { as, client: self, authentication, http, resources } = connectionOf(client)
  const parameters = new URLSearchParams(resources)
  if (scope !== undefined) parameters.set('scope', scope)
  const answer = await ask('the service gave no code', signal, async () => {
    const response = await oauth.deviceAuthorizationRequest(as, self, authentication, parameters, http(signal))
    return ownMembers(await oauth.processDeviceAuthorizationResponse(as, self, response))
  })
  const { user_code: userCode, device_code: deviceCode, expires_in: expiresIn, interval } = answer
  if (!isCredential(deviceCode))
    throw new ClientError('ERR_RESPONSE', 'the service gave a device code with characters that no code may have')
  for (const [name, value] of Object.entries({ expires_in: expiresIn, interval }))
    if (value !== undefined && !(value >= MIN_SECONDS && value <= MAX_SECONDS))
      throw new ClientError(
        'ERR_RESPONSE',
        `the service gave ${value} as ${name}: seconds from ${MIN_SECONDS} to ${MAX_SECONDS} are expected`,
      )
  if (FORBIDDEN_IN_CODE.test(userCode) || [...userCode].length > MAX_CODE)
    throw new ClientError('ERR_RESPONSE', 'the service gave a code that cannot be shown')
  const { verification_uri: uri, verification_uri_complete: complete } = answer
  for (const address of [uri, ...(complete === undefined ? [] : [complete])]) {
    if (!isSafeAddress(address, client.issuer))
      throw new ClientError('ERR_RESPONSE', 'the service gave an unsafe address for typing in the code')
  }
  const code: UserCode = {
    userCode,
    verificationUri: uri,
    expiresIn,
    ...(complete !== undefined && { verificationUriComplete: complete }),
  }
  return { deviceCode, interval, code }
}

/** Throws the meaning of a refusal, unless the user has not decided yet (RFC 8628, section 3.5). */
function checkPending(refusal: ClientError): void {
  const { error, cause } = refusal
  if (error === 'authorization_pending') return
  if (error === 'access_denied') throw new ClientError('ERR_ACCESS_DENIED', 'the user refused', { error, cause })
  throw error === 'expired_token' ? expired(refusal) : refusal
}

function expired(cause: ClientError | undefined): ClientError {
  const message = 'the code expired before the user decided'
  return new ClientError('ERR_LOGIN_EXPIRED', message, { error: cause?.error, cause })
}

/** Returns a longer pause, after a poll without an answer (RFC 8628, section 3.5). */
function backOff(wait: number): number {
  return Math.min(wait * 2, MAX_BACKOFF)
}

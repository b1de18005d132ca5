/**
 * The login of a command-line tool, or of a device without a browser: the user types a code into a page elsewhere.
 * @module
 * @see RFC 8628
 */
import * as oauth from 'oauth4webapi'
import { FUNCTION } from '../core/takes.js'
import { type Client, checkClient, connectionOf, isSafeAddress } from './client.js'
import { ClientError } from './errors.js'
import { ask, inTime, isClientError, pause, retryAfterOf } from './http/http.js'
import { LONGEST_WAIT, type OptionChecks, readOptions, SCOPE, SIGNAL } from './options.js'
import { requestTokens } from './token-endpoint.js'
import type { Tokens } from './tokens/tokens.js'
import { isCredential } from './tokens/tokens-check.js'

/** The code as the user is shown it. Nothing in it moves a terminal or turns the direction of reading. */
export interface UserCode {
  /** At most 64 characters. */
  readonly userCode: string
  /** Where it is typed in: an `https` address or, of a service on loopback, an `http` one there. */
  readonly verificationUri: string
  /** The same with the code in it, for a QR code or a link; absent where the service gives none. */
  readonly verificationUriComplete?: string
  /** Seconds until the code is worth nothing. */
  readonly expiresIn: number
}

/** Options of {@link login}. */
export interface LoginOptions {
  /** What to ask for, separated by spaces; by default what the service gives when nothing is asked for. */
  readonly scope?: string
  /** Shows the code to the user. Called once; the service is asked once it is done, and what it throws ends the login. */
  readonly show: (code: UserCode) => void | Promise<void>
  /** Ends the login at once; it then throws the reason of the signal. */
  readonly signal?: AbortSignal
}

/** Seconds between two polls where the service does not say (RFC 8628, section 3.2), and what `slow_down` adds (3.5). */
const INTERVAL = 5
const SLOWER = 5

/** Seconds between two tries, at most, where no answer comes and the service does not say when it will. */
const BACKOFF_MAX = 60

/**
 * Logs a user in by the device flow.
 *
 * It asks at the pace that the service gives, more slowly for good where it is told to, and ever more slowly while no answer
 * comes, until the code has expired.
 * @throws ClientError `ERR_ACCESS_DENIED` where the user refused; `ERR_LOGIN_EXPIRED` where the time was over, `cause` being
 *   the last failure where no answer came at the end; `ERR_UNREACHABLE` where there is no answer to the first request;
 *   `ERR_RESPONSE`, with `error` being what the service said, such as `invalid_scope`, or for an answer that has no sense, such as
 *   a pace below a second; `ERR_TOKEN_TYPE`; `ERR_CONFIGURATION`
 *   for a wrong option; the reason of the signal
 * @example
 * ```ts
 * const tokens = await login(client, {
 *   scope: 'repo-code:r',
 *   show: ({ userCode, verificationUri }) => console.log(`Open ${verificationUri} and type in ${userCode}`),
 * })
 * ```
 */
export function login(client: Client, options: LoginOptions): Promise<Tokens> {
  return loginWith(client, options, { now: () => performance.now() / 1000, sleep: pause })
}

/** How a login waits. */
export interface Waiting {
  /** Seconds by a clock that nobody sets: the one of a device may be years off until it has found the network. */
  readonly now: () => number
  readonly sleep: (seconds: number, signal: AbortSignal | undefined) => Promise<void>
}

/** {@link login}, waiting as it is told to. */
export async function loginWith(client: Client, options: LoginOptions, { now, sleep }: Waiting): Promise<Tokens> {
  const { scope, show, signal } = readOptions<LoginOptions>('login', options, OPTIONS, ['show'])
  checkClient('login', client)
  const { now: clock } = connectionOf(client)
  const { device_code, interval = INTERVAL, code } = await requestCodes(client, scope, signal)
  const deadline = now() + code.expiresIn
  await inTime({ signal }, async () => show(code))

  let pace = interval
  let wait = pace // longer than the pace as long as no answer comes
  let unanswered: ClientError | undefined
  for (;;) {
    await sleep(Math.max(0, Math.min(wait, deadline - now(), LONGEST_WAIT)), signal)
    if (now() >= deadline) throw expired(unanswered)
    try {
      return await requestTokens(client, 'the service gave no tokens', { scope }, signal, (connection) => {
        const { as, client: self, authentication, http } = connection
        return oauth.deviceCodeGrantRequest(as, self, authentication, device_code, http(signal))
      })
    } catch (error) {
      if (!isClientError(error)) throw error
      unanswered = error.code === 'ERR_UNREACHABLE' ? error : undefined
      if (error.error === 'slow_down') pace += SLOWER
      else if (unanswered === undefined) checkPending(error)
      wait = unanswered === undefined ? pace : Math.max(pace, retryAfterOf(error, clock()) ?? longer(wait))
    }
  }
}

const OPTIONS: OptionChecks<LoginOptions> = { scope: SCOPE, show: FUNCTION, signal: SIGNAL }

/** Characters that a terminal obeys, or that show a code otherwise than it is; a blank may part its groups. */
const NOT_OF_CODE = /(?! )[\p{Cc}\p{Cf}\p{Z}\p{Cs}]/u

/** Characters of a code that somebody is to type in: services give some eight. */
const MAX_CODE = 64

/** A pace or lifetime under it is a slip of the service, and would make this client ask without end. */
const MIN_SECONDS = 0.1

/** Seconds that a code may live, and that may pass between two polls: a year. */
const MAX_SECONDS = 31_536_000

/** RFC 8628, section 3.1 and 3.2. */
async function requestCodes(
  client: Client,
  scope: string | undefined,
  signal: AbortSignal | undefined,
): Promise<{ readonly device_code: string; readonly interval?: number; readonly code: UserCode }> {
  const { as, client: self, authentication, http } = connectionOf(client)
  const parameters = new URLSearchParams(scope === undefined ? {} : { scope })
  const answer = await ask('the service gave no code', signal, async () => {
    const response = await oauth.deviceAuthorizationRequest(as, self, authentication, parameters, http(signal))
    return oauth.processDeviceAuthorizationResponse(as, self, response)
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
  if (NOT_OF_CODE.test(userCode) || [...userCode].length > MAX_CODE)
    throw new ClientError('ERR_RESPONSE', 'the service gave a code that cannot be shown')
  const { verification_uri: uri, verification_uri_complete: complete } = answer
  for (const address of [uri, ...(complete === undefined ? [] : [complete])]) {
    if (!isSafeAddress(address, client.issuer))
      throw new ClientError('ERR_RESPONSE', 'the service gave a wrong address to type the code in')
  }
  const code: UserCode = {
    userCode,
    verificationUri: uri,
    expiresIn,
    ...(complete !== undefined && { verificationUriComplete: complete }),
  }
  return { device_code: deviceCode, code, ...(interval !== undefined && { interval }) }
}

/** Whether the user has still to decide, and what else a refusal means (RFC 8628, section 3.5). */
function checkPending(refusal: ClientError): void {
  const { error, cause } = refusal
  if (error === 'authorization_pending') return
  if (error === 'access_denied') throw new ClientError('ERR_ACCESS_DENIED', 'the user refused', { error, cause })
  throw error === 'expired_token' ? expired(refusal) : refusal
}

function expired(cause: ClientError | undefined): ClientError {
  const message = 'the code expired before an answer of the user came'
  return new ClientError('ERR_LOGIN_EXPIRED', message, { error: cause?.error, cause })
}

/** RFC 8628, section 3.5, where a connection times out. */
function longer(wait: number): number {
  return Math.min(wait * 2, BACKOFF_MAX)
}

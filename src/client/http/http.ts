/**
 * Requests of a client. An answer is complete and in time, or the request fails with a {@link ClientError}.
 * @module
 */
import * as oauth from 'oauth4webapi'
import { ClientError, isClientError } from '../errors.js'
import { plain } from './plain.js'
import { withTimeout } from './timeout.js'

/** Settings of requests. */
export interface HttpSettings {
  readonly fetch: typeof fetch
  /** Seconds to wait for a complete answer. */
  readonly timeout: number
}

/** Bytes that an answer may have. The metadata of a service has a few thousand. */
const MAX_ANSWER = 1_048_576

/** Statuses without a body. A `Response` cannot be made with one (Fetch, "null body status"). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Arguments that oauth4webapi passes to `fetch`. */
interface RequestParts {
  readonly method: string
  readonly headers: Record<string, string>
  readonly redirect: 'manual'
  readonly body: URLSearchParams | string | undefined
}

/** Options of a request of oauth4webapi. */
export interface HttpOptions {
  readonly [oauth.customFetch]: (url: string, parts: RequestParts) => Promise<Response>
  readonly [oauth.allowInsecureRequests]: boolean
}

/**
 * Creates a `fetch` for oauth4webapi that returns complete answers.
 *
 * It throws `ERR_UNREACHABLE` if no answer comes in time, if it breaks off, or if the service is busy (5xx, 429). For a busy
 * service `error` is the code in its body, and `cause` is the answer, for {@link retryAfterOf}. An aborted signal throws its
 * reason at once, whatever the given `fetch` does.
 */
export function createWholeFetch(
  { fetch, timeout }: HttpSettings,
  signal?: AbortSignal,
): HttpOptions[typeof oauth.customFetch] {
  return async (url, { method, headers, redirect, body }) => {
    const { host } = new URL(url)
    const unanswered = (problem: string, cause?: unknown): ClientError =>
      new ClientError('ERR_UNREACHABLE', `${host} ${problem}`, { cause })
    const late = unanswered(`gives no answer within ${timeout} seconds`)
    const answer = await withTimeout({ signal, time: { seconds: timeout, late } }, async (ended) =>
      readWhole(
        host,
        await fetch(url, { method, headers, redirect, signal: ended, ...(body !== undefined && { body }) }),
      ),
    ).catch((error: unknown) => {
      throw signal?.aborted || isClientError(error) ? error : unanswered(`gives no answer${reasonOf(error)}`, error)
    })
    if (answer.status < 500 && answer.status !== 429) return answer
    const error = await memberOf(answer, 'error')
    const code = error === undefined ? '' : `, ${plain(error)}`
    throw new ClientError('ERR_UNREACHABLE', `${host} is busy (${answer.status}${code})`, { error, cause: answer })
  }
}

/** Makes options of a request to a service. It may be `http` if the service is: then it is on loopback, see `isProtected`. */
export function httpOptions(settings: HttpSettings, { protocol }: URL, signal?: AbortSignal): HttpOptions {
  return {
    [oauth.customFetch]: createWholeFetch(settings, signal),
    [oauth.allowInsecureRequests]: protocol === 'http:',
  }
}

/** Reads an answer to its end. */
async function readWhole(host: string, response: Response): Promise<Response> {
  const { status, statusText, headers } = response
  // No `Response` can be made with these: a redirect that a browser hides, and undefined statuses.
  if (status < 200 || status > 599) {
    await response.body?.cancel()
    return response
  }
  const parts: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = response.body?.getReader()
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    length += part.value.length
    if (length > MAX_ANSWER) {
      await reader?.cancel()
      throw new ClientError('ERR_RESPONSE', `${host} gives an answer of more than ${MAX_ANSWER} bytes`)
    }
    parts.push(part.value)
  }
  return new Response(WITHOUT_BODY.has(status) ? null : new Blob(parts), {
    status,
    statusText,
    headers: withoutLongChallenge(headers),
  })
}

/**
 * Removes a challenge that is too long. oauth4webapi parses one in time quadratic in its length: 0.1 s for the 16 KiB that
 * Node accepts.
 */
function withoutLongChallenge(headers: Headers): Headers {
  if ((headers.get(CHALLENGE)?.length ?? 0) <= MAX_CHALLENGE) return headers
  const rest = new Headers(headers)
  rest.delete(CHALLENGE)
  return rest
}

const CHALLENGE = 'www-authenticate'

/** Characters that a challenge may have. Those of services have one or two hundred. */
const MAX_CHALLENGE = 2048

/**
 * Returns the seconds that a busy service asks to wait; undefined if it does not say.
 * @param error - the error of a request
 * @param now - seconds since the epoch
 * @see RFC 9110, section 10.2.3
 */
export function retryAfterOf(error: unknown, now: number): number | undefined {
  const answer = isClientError(error) ? error.cause : undefined
  const text = answer instanceof Response ? (answer.headers.get('retry-after') ?? '') : ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil(at / 1000 - now))
}

/**
 * Sends a request and reads its answer. Every failure becomes a {@link ClientError}, or the reason of the signal.
 * @param failure - the failure, as the beginning of a sentence
 */
export async function ask<Answer>(
  failure: string,
  signal: AbortSignal | undefined,
  request: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await request()
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw isClientError(error) ? error : await responseError(error, failure)
  }
}

/**
 * Converts an error of oauth4webapi. An error that holds the answer to a token request is not kept as `cause`: the answer may
 * contain tokens, and a log shows causes.
 */
async function responseError(thrown: unknown, failure: string): Promise<ClientError> {
  if (thrown instanceof oauth.ResponseBodyError || thrown instanceof oauth.AuthorizationResponseError) {
    const { error, error_description: description } = thrown
    const problem = description === undefined ? plain(error) : `${plain(description)} (${plain(error)})`
    return new ClientError('ERR_RESPONSE', `${failure}: ${problem}`, { error, cause: thrown })
  }
  if (thrown instanceof oauth.WWWAuthenticateChallengeError) {
    const error = await memberOf(thrown.response, 'error')
    const problem = 'the service does not know this client, or its secret is wrong'
    return new ClientError('ERR_RESPONSE', `${failure}: ${problem}`, { error, cause: thrown })
  }
  return new ClientError('ERR_RESPONSE', `${failure}: ${problemOf(thrown)}`)
}

function problemOf(thrown: unknown): string {
  if (!(thrown instanceof oauth.OperationProcessingError)) return plain(thrown)
  const { code, cause, message } = thrown
  if (code === oauth.RESPONSE_IS_NOT_CONFORM && cause instanceof Response) return `it answers ${cause.status}`
  if (code === oauth.RESPONSE_IS_NOT_JSON || code === oauth.PARSE_ERROR) return 'its answer is not JSON'
  return plain(message)
}

/** Returns a string member of an answer's JSON; undefined if there is none. The answer can still be read afterwards. */
export async function memberOf(answer: Response, name: string): Promise<string | undefined> {
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => undefined)
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return undefined
  const value = (body as Readonly<Record<string, unknown>>)[name] // checked on the line above
  return typeof value === 'string' ? value : undefined
}

/** Returns the platform's code of a failure, such as `ECONNREFUSED`, in parentheses. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? ` (${plain(code)})` : ''
}

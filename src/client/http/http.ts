/**
 * Requests of a client: an answer is whole and in time, or there is none. And what a failure is called.
 * @module
 */
import * as oauth from 'oauth4webapi'
import { ClientError } from '../errors.js'
import { plain } from './plain.js'

/** How requests are made. */
export interface HttpSettings {
  readonly fetch: typeof fetch
  /** Seconds to wait for a whole answer. */
  readonly timeout: number
}

/** Bytes of an answer. What a service says of itself has a few thousand. */
const ANSWER_LIMIT = 1_048_576

/** Statuses that have no body, and that no `Response` can be made of with one (Fetch, "null body status"). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** What oauth4webapi asks a `fetch` for. */
interface RequestParts {
  readonly method: string
  readonly headers: Record<string, string>
  readonly redirect: 'manual'
  readonly body: URLSearchParams | undefined
}

/** Options of a request of oauth4webapi. */
export interface HttpOptions {
  readonly [oauth.customFetch]: (url: string, parts: RequestParts) => Promise<Response>
  readonly [oauth.allowInsecureRequests]: boolean
}

/**
 * A `fetch` for oauth4webapi that gives back an answer that has all come.
 *
 * It throws `ERR_UNREACHABLE` where none comes in time, where it breaks off, or where the service is busy (5xx, 429): then
 * `error` is the code of its body, and `cause` the answer, for {@link retryAfterOf}. A signal that is aborted throws its
 * reason at once, whatever the given `fetch` does.
 */
export function wholeAnswers(
  { fetch, timeout }: HttpSettings,
  signal: AbortSignal | undefined,
): HttpOptions[typeof oauth.customFetch] {
  return async (url, { method, headers, redirect, body }) => {
    const { host } = new URL(url)
    const unanswered = (problem: string, cause?: unknown): ClientError =>
      new ClientError('ERR_UNREACHABLE', `${host} ${problem}`, { cause })
    const late = unanswered(`gives no answer within ${timeout} seconds`)
    const answer = await inTime({ signal, time: { seconds: timeout, late } }, async (ended) =>
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

/** Reads an answer to its end. */
async function readWhole(host: string, response: Response): Promise<Response> {
  const { status, statusText, headers } = response
  // What can only be looked at: a redirect as browsers hide it, and statuses that nobody has defined.
  if (status < 200 || status > 599) {
    await response.body?.cancel()
    return response
  }
  const parts: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = response.body?.getReader()
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    length += part.value.length
    if (length > ANSWER_LIMIT) {
      await reader?.cancel()
      throw new ClientError('ERR_RESPONSE', `${host} gives an answer of more than ${ANSWER_LIMIT} bytes`)
    }
    parts.push(part.value)
  }
  return new Response(WITHOUT_BODY.has(status) ? null : new Blob(parts), {
    status,
    statusText,
    headers: readable(headers),
  })
}

/**
 * The headers without a challenge that is too long. oauth4webapi reads one in a time that is quadratic in its length: 16 KiB, which
 * Node lets through, take 0.1 s.
 */
function readable(headers: Headers): Headers {
  if ((headers.get(CHALLENGE)?.length ?? 0) <= CHALLENGE_LIMIT) return headers
  const left = new Headers(headers)
  left.delete(CHALLENGE)
  return left
}

const CHALLENGE = 'www-authenticate'

/** Characters of a challenge. Those of services have a hundred or two. */
const CHALLENGE_LIMIT = 2048

/** What ends an action before it has ended itself. */
export interface Limits {
  /** Its reason is thrown. */
  readonly signal?: AbortSignal | undefined
  /** Seconds that it has, and what is thrown then; any number by default. */
  readonly time?: { readonly seconds: number; readonly late: unknown }
}

/**
 * Runs an action within limits. Its promise is left alone once one of them is reached: no action that does not look at the
 * signal that it gets holds anybody up.
 */
export function inTime<Result>(
  { signal, time }: Limits,
  action: (ended: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  return new Promise<Result>((resolve, reject) => {
    const end = (reason: unknown): void => {
      settle()
      reject(reason)
      controller.abort(reason)
    }
    const onAbort = (): void => end(signal?.reason)
    const timer = time && setTimeout(() => end(time.late), time.seconds * 1000)
    const settle = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    if (signal?.aborted) {
      onAbort()
      return
    }
    signal?.addEventListener('abort', onAbort)
    action(controller.signal).then(resolve, reject).finally(settle)
  })
}

/** Waits so many seconds, or until the signal is aborted, and then throws its reason. */
export function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  const late = Symbol('late')
  return inTime({ signal, time: { seconds, late } }, () => new Promise<never>(() => {})).catch((thrown: unknown) => {
    if (thrown !== late) throw thrown
  })
}

/**
 * Seconds that a service which is busy asks to wait; undefined where it does not say.
 * @param error - what a request threw
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
 * Sends a request and reads its answer; what goes wrong is a {@link ClientError}, or the reason of the signal.
 * @param what - what did not succeed then, as the beginning of a sentence
 */
export async function ask<Answer>(
  what: string,
  signal: AbortSignal | undefined,
  request: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await request()
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw isClientError(error) ? error : await refusalOf(error, what)
  }
}

/**
 * What an error of oauth4webapi is to our caller. One that holds the answer to a token request, which may have tokens in it,
 * is no `cause`: a log shows that.
 */
async function refusalOf(thrown: unknown, what: string): Promise<ClientError> {
  if (thrown instanceof oauth.ResponseBodyError || thrown instanceof oauth.AuthorizationResponseError) {
    const { error, error_description: description } = thrown
    const problem = description === undefined ? plain(error) : `${plain(description)} (${plain(error)})`
    return new ClientError('ERR_RESPONSE', `${what}: ${problem}`, { error, cause: thrown })
  }
  if (thrown instanceof oauth.WWWAuthenticateChallengeError) {
    const error = await memberOf(thrown.response, 'error')
    const problem = 'the service does not know this client, or not by this secret'
    return new ClientError('ERR_RESPONSE', `${what}: ${problem}`, { error, cause: thrown })
  }
  return new ClientError('ERR_RESPONSE', `${what}: ${problemOf(thrown)}`)
}

function problemOf(thrown: unknown): string {
  if (!(thrown instanceof oauth.OperationProcessingError)) return plain(thrown)
  const { code, cause, message } = thrown
  if (code === oauth.RESPONSE_IS_NOT_CONFORM && cause instanceof Response) return `it answers ${cause.status}`
  if (code === oauth.RESPONSE_IS_NOT_JSON || code === oauth.PARSE_ERROR) return 'its answer is no JSON'
  return plain(message)
}

/** A member of an answer's JSON that is a string; undefined where there is none. The answer can still be read. */
export async function memberOf(answer: Response, name: string): Promise<string | undefined> {
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => undefined)
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return undefined
  const value = (body as Readonly<Record<string, unknown>>)[name] // it has one, as was just seen
  return typeof value === 'string' ? value : undefined
}

/**
 * Whether it is a {@link ClientError}, of this copy of the module or another: in CommonJS each entry point has its own.
 */
export function isClientError(error: unknown): error is ClientError {
  return error instanceof Error && error.name === 'ClientError' && Object.hasOwn(error, 'code')
}

/** The code that the platform gives to a failure, such as `ECONNREFUSED`. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? ` (${plain(code)})` : ''
}

/**
 * `fetch` with the user's token.
 * @module
 * @see RFC 6750, sections 2.1 and 3.1
 */
import { isLoopback } from '../core/application/redirect-uri.js'
import { came, FUNCTION, isObject, type Takes } from '../core/takes.js'
import { parseAddress } from './http/address.js'
import { isClientError } from './http/http.js'
import { MOST_REDIRECTS, nextStep, type Step } from './http/redirects.js'
import { refusalsOf } from './http/refusals.js'
import { type Init, type Input, type Redirect, readInit, sendingOf } from './http/sending.js'
import { authorizationOf, type Signature, toldTime } from './mac.js'
import { checkArgument, mistake, type OptionChecks, readOptions } from './options.js'
import { clockOf, type TokenSource } from './tokens/token-source.js'
import type { Tokens } from './tokens/tokens.js'

/** Options of {@link authorizedFetch}. */
export interface AuthorizedFetchOptions {
  /**
   * Where else than to the issuer's own origin the token may go, such as `https://api.example`. `http` is for loopback alone.
   */
  readonly origins?: readonly string[]
  /** What requests are made with; the platform's by default. */
  readonly fetch?: typeof fetch
}

/**
 * Makes a `fetch` that adds the token of a source. Where the answer is 401 it asks the source for other tokens and sends the
 * request once more; a second 401 is the caller's, and so is the first where the service cannot be reached or where, within the
 * last minute, other tokens did not help. A request whose body is a stream cannot be sent again: the caller gets its
 * 401, and the next request has the new token. What comes in a `Request` can, since it is kept until the answer is there.
 *
 * Redirects are followed here, 20 at most, unless the caller says otherwise: the token goes to origins that may have it, and from
 * the first other one on to nobody. From https to http, but on loopback, none is followed. Tokens of the type `mac` sign each
 * request anew, by the client's clock or, where that is wrong, by the time that the guard tells under the token's own key for
 * this very request. None is signed that a redirect leads to, since nobody signs answers.
 *
 * It throws what the source throws and, before anything is sent, {@link ClientError} `ERR_CONFIGURATION` for a request to an
 * origin that may not have the token, or with an `Authorization` of its own.
 * @throws ClientError `ERR_CONFIGURATION` for a wrong option
 * @example
 * ```ts
 * const api = authorizedFetch(source, { origins: ['https://api.example'] })
 * const response = await api('https://api.example/user')
 * ```
 */
export function authorizedFetch(source: TokenSource, options: AuthorizedFetchOptions = {}): typeof globalThis.fetch {
  checkArgument('authorizedFetch', 'source', SOURCE, source)
  const { origins = [], fetch = globalThis.fetch } = readOptions<AuthorizedFetchOptions>(
    'authorizedFetch',
    options,
    OPTIONS,
  )
  const allowed = new Set([new URL(source.issuer).origin, ...origins].map(readOrigin))
  const now = clockOf(source)
  const refusals = refusalsOf(source)

  return async (input, options) => {
    const init = readInit(options)
    const target = targetOf(input, init)
    const { origin } = target.url
    if (!allowed.has(origin)) throw mistake(`the token may not go to ${origin}: the option origins does not have it`)
    const headers = headersOf(input, init)
    if (headers.has('authorization')) throw mistake('the request has an Authorization header of its own')
    const own = init.signal === undefined && input instanceof Request ? input.signal : init.signal
    const signal = own ?? undefined // null is none, also where the Request has one
    const mode = init.redirect ?? (input instanceof Request ? input.redirect : 'follow')
    // As they are now: what the caller does to its objects while the source is asked changes nothing of what was checked.
    const sending = sendingOf(input, target.url.href, { ...init, headers })
    // The platform sends no fragment, but a function in its place would see that of a Request.
    const isAsGiven = !(input instanceof Request) || input.url === target.url.href
    const first: Step = { ...target, headers, hasBody: sending.hasBody }
    try {
      let tokens = await source.get({ signal })
      let mayCorrect = true
      let mayRefresh = true

      /** The last one that was sent: the answer to any other is not looked at. */
      let signature: Signature | undefined

      const transmit = async (step: Step, isBearing: boolean, redirect: Redirect): Promise<Response> => {
        const own = new Headers(step.headers)
        if (isBearing) {
          const time = (refusals.clocks.get(step.url.origin) ?? now)()
          const authorization = await authorizationOf(tokens, step, time)
          own.set('authorization', authorization.header)
          signature = authorization.signature
        }
        const isFirst = step === first && isAsGiven
        return fetch(...(isFirst ? sending.asGiven(own, redirect) : sending.redirected(step, own, redirect)))
      }

      /** Does what there is to do about a refusal. @returns whether it is worth another try */
      const isRemedied = async (refusal: Response, step: Step): Promise<boolean> => {
        const isRepeatable = !step.hasBody || sending.isRepeatable
        if (mayCorrect && (await isClockSet(refusal, step.url.origin))) {
          mayCorrect = false
          return isRepeatable
        }
        if (!mayRefresh) refusals.refused(tokens)
        if (refusals.isHopeless(tokens) || !mayRefresh) return false
        mayRefresh = false
        if (!isRepeatable) {
          source.refresh(tokens).then(refusals.replaced, () => {}) // whoever asks for tokens next is told
          return false
        }
        try {
          tokens = await source.refresh(tokens, { signal })
        } catch (error) {
          // The API has answered, and that is what the caller asked for.
          if (isClientError(error) && error.code === 'ERR_UNREACHABLE') return false
          letGo(refusal)
          throw error
        }
        refusals.replaced(tokens)
        return true
      }

      /** Whether the guard has told its own time, which then counts for all that comes. */
      const isClockSet = async (refusal: Response, origin: string): Promise<boolean> => {
        const told = signature && (await toldTime(refusal, signature))
        if (told === undefined) return false
        // By a stopwatch, since a clock that was wrong may be set right meanwhile: by a difference we would sign for the future.
        const since = performance.now()
        refusals.clocks.set(origin, () => told + (performance.now() - since) / 1000)
        return true
      }

      /** The answer to one request, the token and all: without redirects, unless the platform must follow them. */
      const answerTo = async (step: Step, isBearing: boolean): Promise<Response> => {
        for (;;) {
          let answer = await transmit(step, isBearing, mode === 'follow' ? 'manual' : mode)
          if (mode === 'follow' && answer.type === 'opaqueredirect') {
            // A browser, which does not tell where to. It drops the header where the redirect leaves the origin.
            if (step.hasBody && !sending.isRepeatable)
              throw new TypeError('fetch failed: the answer is a redirect, and the body cannot be sent again')
            answer = await transmit(step, isBearing, 'follow')
          }
          if (!isBearing || isOfAnother(answer, tokens, step.url.origin)) return answer
          if (answer.status !== 401) {
            refusals.taken(tokens)
            return answer
          }
          if (!(await isRemedied(answer, step))) return answer
          letGo(answer)
        }
      }

      let step = first
      let isBearing = true
      for (let redirects = 0; ; redirects++) {
        const answer = await answerTo(step, isBearing)
        const next = mode === 'follow' ? following(step, answer, sending.isRepeatable) : undefined
        if (next === undefined) return redirects === 0 ? answer : marked(answer)
        letGo(answer)
        if (redirects === MOST_REDIRECTS) throw new TypeError('fetch failed: too many redirects')
        // Once it was dropped it stays dropped: nobody gets it by way of somebody else. And nothing is signed that an answer asks
        // for: whoever stands between could have written it, and would have any address signed.
        isBearing &&= allowed.has(next.url.origin) && tokens.tokenType !== 'mac'
        step = next
      }
    } finally {
      sending.release()
    }
  }
}

const OPTIONS: OptionChecks<AuthorizedFetchOptions> = {
  origins: {
    words: "a list of origins such as 'https://api.example'",
    fits: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  },
  fetch: FUNCTION,
}

const SOURCE: Takes = {
  words: 'a token source, as createTokenSource() makes it',
  fits: (value) =>
    isObject(value) && typeof value['get'] === 'function' && parseAddress(String(value['issuer'])) !== undefined,
}

/** Written as it is compared, so that nobody takes a path in it for a limit. */
function readOrigin(text: string): string {
  const url = parseAddress(text)
  if (url === undefined || url.origin !== text.toLowerCase())
    throw mistake(`authorizedFetch: each of origins must be an origin such as https://api.example; got ${came(text)}`)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname, true))) return url.origin
  throw mistake(`the token may not go to ${url.origin}, where others on the way could read it`)
}

/** Where the platform will send a request, and how it writes its method. */
function targetOf(input: Input, { method }: Init): { readonly method: string; readonly url: URL } {
  const given = input instanceof Request ? input : undefined
  const request = new Request(given?.url ?? input, { method: method ?? given?.method ?? 'GET' })
  const url = new URL(request.url)
  // Never sent, and guards of signed requests refuse it where a handler gets its Request from no network.
  url.hash = ''
  return { method: request.method, url }
}

/** Those of a call stand for all of those of its `Request`, as with `fetch`. */
function headersOf(input: Input, { headers }: Init): Headers {
  return new Headers(headers ?? (input instanceof Request ? input.headers : undefined))
}

/** Where an answer leads to. One that leads nowhere is let go. */
function following(step: Step, answer: Response, isRepeatable: boolean): Step | undefined {
  try {
    return nextStep(step, answer, isRepeatable)
  } catch (error) {
    letGo(answer)
    throw error
  }
}

/** Nobody reads its body. */
function letGo(answer: Response): void {
  answer.body?.cancel().catch(() => {})
}

/** An answer that redirects have led to, as `fetch` marks it. */
function marked(answer: Response): Response {
  Reflect.defineProperty(answer, 'redirected', { value: true, configurable: true })
  return answer
}

/** Whether an answer says nothing of the token: by redirects of the platform it is another origin's, or for a MAC another address's. */
function isOfAnother({ redirected, url }: Response, { tokenType }: Tokens, origin: string): boolean {
  return redirected && (tokenType === 'mac' || new URL(url).origin !== origin)
}

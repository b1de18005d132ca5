/**
 * One call of an authorized `fetch`: sends the request with a token, remedies a refusal, and follows redirects.
 * @module
 * @see RFC 6750, sections 2.1 and 3.1
 */
import { isClientError } from '../errors.js'
import type { TokenSource } from '../tokens/token-source.js'
import type { Tokens } from '../tokens/tokens.js'
import type { Signature } from './mac.js'
import { authorize, toldTime } from './mac.js'
import type { Step } from './redirects.js'
import { MAX_REDIRECTS, nextStep } from './redirects.js'
import type { Refusals } from './refusals.js'
import type { Redirect, Sending } from './sending.js'

/** The settings of one authorized `fetch`. */
export interface FetchSettings {
  readonly source: TokenSource
  readonly fetch: typeof fetch
  /** Origins to which the token may go. */
  readonly allowed: ReadonlySet<string>
  /** Returns seconds since the epoch. */
  readonly now: () => number
  readonly refusals: Refusals
}

/** The request of a caller. */
export interface CallerRequest {
  readonly sending: Sending
  readonly first: Step
  /** True if the caller's own arguments can be passed on. */
  readonly isAsGiven: boolean
  readonly signal: AbortSignal | undefined
  readonly redirect: Redirect
}

/** One call: its request, its tokens, and the remedies that are left. */
interface Call extends FetchSettings, CallerRequest {
  tokens: Tokens
  /** The signature of the last request that was sent. */
  signature: Signature | undefined
  mayCorrectClock: boolean
  mayRefresh: boolean
}

/**
 * Sends the caller's request with a token of the source, and follows redirects.
 * @throws the errors of the source and of `fetch`
 */
export async function startCall(settings: FetchSettings, request: CallerRequest): Promise<Response> {
  const call: Call = {
    ...settings,
    ...request,
    tokens: await settings.source.get({ signal: request.signal }),
    signature: undefined,
    mayCorrectClock: true,
    mayRefresh: true,
  }
  let step = call.first
  let hasToken = true
  for (let redirects = 0; ; redirects++) {
    const answer = await answerTo(call, step, hasToken)
    const next = call.redirect === 'follow' ? stepAfter(step, answer, call.sending.isRepeatable) : undefined
    if (next === undefined) return redirects === 0 ? answer : markRedirected(answer)
    discard(answer)
    if (redirects === MAX_REDIRECTS) throw new TypeError('fetch failed: too many redirects')
    // Once removed, the token is not added again: no other origin may decide who gets it. And no signature is made because of an
    // answer: an attacker on the network could have written the answer, and would get any address signed.
    hasToken &&= call.allowed.has(next.url.origin) && call.tokens.tokenType !== 'mac'
    step = next
  }
}

/** Sends one request until its answer is final: a 401 is remedied if possible. Redirects are left to the caller. */
async function answerTo(call: Call, step: Step, hasToken: boolean): Promise<Response> {
  for (;;) {
    const answer = await send(call, step, hasToken)
    if (!hasToken || isFromElsewhere(answer, call.tokens, step.url.origin)) return answer
    if (answer.status !== 401) {
      call.refusals.accepted(call.tokens)
      return answer
    }
    if (!(await remedy(call, answer, step))) return answer
    discard(answer)
  }
}

/** Sends one request. In a browser, which hides the target of a redirect, the platform follows redirects. */
async function send(call: Call, step: Step, hasToken: boolean): Promise<Response> {
  if (call.redirect !== 'follow') return transmit(call, step, hasToken, call.redirect)
  const answer = await transmit(call, step, hasToken, 'manual')
  if (answer.type !== 'opaqueredirect') return answer
  if (step.hasBody && !call.sending.isRepeatable)
    throw new TypeError('fetch failed: the answer is a redirect, and the body cannot be sent again')
  // A browser removes the header when a redirect leads to another origin.
  return transmit(call, step, hasToken, 'follow')
}

/** Calls the platform's `fetch` once. */
async function transmit(call: Call, step: Step, hasToken: boolean, redirect: Redirect): Promise<Response> {
  const headers = new Headers(step.headers)
  if (hasToken) {
    const time = (call.refusals.clocks.get(step.url.origin) ?? call.now)()
    const { header, signature } = await authorize(call.tokens, step, time)
    headers.set('authorization', header)
    call.signature = signature
  }
  const isFirst = step === call.first && call.isAsGiven
  const { fetch, sending } = call
  return fetch(...(isFirst ? sending.asGiven(headers, redirect) : sending.redirected(step, headers, redirect)))
}

/**
 * Remedies a refusal: corrects the clock, or gets other tokens, each once for a call.
 * @returns true if the request should be sent again
 */
async function remedy(call: Call, refusal: Response, step: Step): Promise<boolean> {
  const isRepeatable = !step.hasBody || call.sending.isRepeatable
  if (call.mayCorrectClock && (await correctClock(call, refusal, step.url.origin))) {
    call.mayCorrectClock = false
    return isRepeatable
  }
  if (!call.mayRefresh) call.refusals.refused(call.tokens)
  if (call.refusals.isHopeless(call.tokens) || !call.mayRefresh) return false
  call.mayRefresh = false
  if (isRepeatable) return replaceTokens(call, refusal)
  call.source.refresh(call.tokens).then(call.refusals.replaced, () => {}) // the next caller of the source gets the error
  return false
}

/**
 * Gets other tokens from the source.
 * @returns false if the service cannot be reached
 */
async function replaceTokens(call: Call, refusal: Response): Promise<boolean> {
  try {
    call.tokens = await call.source.refresh(call.tokens, { signal: call.signal })
  } catch (error) {
    // The caller asked for the answer of the API, and gets it.
    if (isClientError(error) && error.code === 'ERR_UNREACHABLE') return false
    discard(refusal)
    throw error
  }
  call.refusals.replaced(call.tokens)
  return true
}

/** Takes over the time that a guard tells, for all later requests to its origin. @returns false if it tells none */
async function correctClock({ signature, refusals }: Call, refusal: Response, origin: string): Promise<boolean> {
  const told = signature && (await toldTime(refusal, signature))
  if (told === undefined) return false
  // Not a difference to the system's clock: the user may correct that clock later, and then we would sign for the future.
  const since = performance.now()
  refusals.clocks.set(origin, () => told + (performance.now() - since) / 1000)
  return true
}

/** Returns the request that follows an answer, and discards an answer with a wrong redirect. */
function stepAfter(step: Step, answer: Response, isRepeatable: boolean): Step | undefined {
  try {
    return nextStep(step, answer, isRepeatable)
  } catch (error) {
    discard(answer)
    throw error
  }
}

/** Discards an answer whose body is not read. */
function discard(answer: Response): void {
  answer.body?.cancel().catch(() => {})
}

/** Marks an answer as redirected, as `fetch` does. */
function markRedirected(answer: Response): Response {
  Reflect.defineProperty(answer, 'redirected', { value: true, configurable: true })
  return answer
}

/**
 * Checks whether an answer says nothing about the token. That is so if redirects of the platform led to another origin or,
 * for a MAC, to another address.
 */
function isFromElsewhere({ redirected, url }: Response, { tokenType }: Tokens, origin: string): boolean {
  return redirected && (tokenType === 'mac' || new URL(url).origin !== origin)
}

/**
 * The scopes that an API asks for when it refuses a request.
 * @module
 * @see RFC 6750, section 3
 */
import type { Takes } from '../../core/takes.js'
import { isObject } from '../../core/takes.js'
import { checkArgument, SCOPE } from '../options.js'
import type { Tokens } from '../tokens/tokens.js'
import { checkTokens } from '../tokens/tokens-check.js'
import type { Challenge } from './challenge.js'
import { challengesOf } from './challenge.js'

/**
 * Returns the scopes to log in with after an API refused a request: those that its challenge names, and those that the tokens have.
 *
 * It reads a 401, and a 403 with the error `insufficient_scope`. It asks nobody: your program calls its login with these scopes. If the
 * API refuses the request again afterwards, do not log in once more.
 * @param response - the answer of the API, as `authorizedFetch` returns it
 * @param tokens - the tokens that the request had; none by default
 * @returns undefined if a login with other scopes does not help: the challenge names no scopes, or it is a 403 and the tokens have them
 * @throws ClientError `ERR_CONFIGURATION` for a wrong argument
 * @example
 * ```ts
 * const scope = requiredScope(response, await source.get())
 * if (scope !== undefined) await source.save(await login(client, { scope, show }))
 * ```
 * @see RFC 6750, section 3.1
 */
export function requiredScope(response: Pick<Response, 'status' | 'headers'>, tokens?: Tokens): string | undefined {
  checkArgument('requiredScope', 'response', RESPONSE, response)
  if (tokens !== undefined) checkTokens('requiredScope', tokens)
  const { status } = response
  if (status !== 401 && status !== 403) return undefined
  const challenge = challengesOf(response).find(
    (each) => each.has('scope') && (status === 401 || each.get('error') === 'insufficient_scope'),
  )
  const needed = challenge && scopeOf([challenge])
  if (needed === undefined) return undefined
  const present = tokens?.scope?.split(' ').filter((each) => each !== '') ?? []
  const all = new Set([...present, ...needed.split(' ')])
  return status === 403 && all.size === new Set(present).size ? undefined : [...all].join(' ')
}

/** Returns the scopes that a challenge names, in the form of a request; undefined if it names none. */
export function scopeOf(challenges: readonly Challenge[]): string | undefined {
  const named = challenges.find((each) => each.has('scope'))?.get('scope') ?? ''
  const scope = named
    .split(' ')
    .filter((each) => each !== '')
    .join(' ')
  return SCOPE.fits(scope) ? scope : undefined
}

const RESPONSE: Takes = {
  words: 'a Response, as fetch() gives it',
  fits: (value) =>
    isObject(value) &&
    typeof value['status'] === 'number' &&
    isObject(value['headers']) &&
    typeof value['headers']['get'] === 'function',
}

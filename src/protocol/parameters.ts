/**
 * `application/x-www-form-urlencoded`, read strictly: in a query, in a body, or as an earlier middleware left it.
 *
 * A fault of a parameter is found when somebody asks for that parameter, so unknown ones are ignored whatever
 * they are (RFC 6749, section 3.1).
 * @module
 * @see RFC 6749, sections 3.1, 3.2 and appendix B
 */
import type { OAuthError } from '../core/errors.js'
import { isOAuthError, malformed, oauthError } from '../core/errors.js'
import type { HttpRequest } from './message.js'
import { headerOf, queryOf } from './message.js'

/** Values by name, or what is wrong with them. */
export type Parameters = ReadonlyMap<string, string | ParameterFault>

/** The codes of the faults of a parameter. */
export type ParameterFaultCode = 'parameter_malformed' | 'parameter_length' | 'parameter_repeated'

/** The fault of one parameter. */
export interface ParameterFault {
  readonly type: 'fault'
  readonly code: ParameterFaultCode
  readonly message: string
  /** All values, where each of them alone would be sound. */
  readonly values?: readonly string[]
}

/** Limits: parameters of a message, and characters of one. */
export const PARAMETER_LIMITS = { count: 2048, length: 8192 } as const

const MALFORMED = { type: 'fault', code: 'parameter_malformed', message: 'is not well-formed' } as const
const TOO_LONG: ParameterFault = { type: 'fault', code: 'parameter_length', message: 'is too long' }

/** Parameters that have no business in the query of an endpoint that takes a body (RFC 6749, section 2.3.1). */
const BODY_PARAMETERS = [
  'client_id',
  'client_secret',
  'code',
  'code_verifier',
  'refresh_token',
  'device_code',
  'token',
  'access_token',
  'grant_type',
]

/** Control characters (Unicode's category Cc); no parameter but `state` can have one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\x00-\x1f\x7f-\x9f]/

/** The characters of a form, and those of them that stand for themselves: all but `%` and `+`. */
const ASCII = /^[\x20-\x7e]*$/
const PLAIN = /^[\x20-\x24\x26-\x2a\x2c-\x7e]*$/

/** The media type as clients write it, and every other spelling of it. */
const USUAL_FORM = 'application/x-www-form-urlencoded'
const FORM = /^application\/x-www-form-urlencoded[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?$/i

/** Reads the text of a form or query. A total function. */
export function parseParameters(text: string): Parameters | OAuthError {
  const parameters: Reading = new Map()
  let left: number = PARAMETER_LIMITS.count
  for (let begin = 0; begin <= text.length; ) {
    if (left-- === 0) return malformed('There are too many parameters.')
    const ampersand = text.indexOf('&', begin)
    const end = ampersand < 0 ? text.length : ampersand
    const pair = text.slice(begin, end)
    begin = end + 1
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decodeComponent(equals < 0 ? pair : pair.slice(0, equals))
    if (name === undefined) return malformed('A parameter name is not well-formed.')
    add(parameters, name, equals < 0 ? '' : decodeComponent(pair.slice(equals + 1)))
  }
  return parameters
}

/**
 * Reads one part of a form: `+` is a space, `%XX` are bytes of UTF-8, and everything else is ASCII.
 * @returns undefined for anything else
 * @see RFC 6749, appendix B
 */
export function decodeComponent(text: string): string | undefined {
  if (PLAIN.test(text)) return text
  if (!ASCII.test(text)) return undefined
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/**
 * The parameters of a request's body; an error where the body is too large, not a form, or not there.
 * @throws the error of a form that is unreadable, which is a fault of the host
 */
export function bodyParameters(request: HttpRequest): Parameters | OAuthError {
  const { body } = request
  if (body?.type === 'too_large')
    return oauthError('invalid_request', 'body_too_large', 'The body is too large.', { status: 413 })
  const contentType = headerOf(request.headers, 'content-type')
  if (contentType !== USUAL_FORM && !(typeof contentType === 'string' && FORM.test(contentType)))
    return malformed('The content type must be application/x-www-form-urlencoded.')
  if (body === undefined) return malformed('The body is missing.')
  if (body.type === 'unreadable') throw body.error
  if (body.type === 'bytes') return malformed('The body is not a form.')
  return body.type === 'text' ? parseParameters(body.text) : parsedParameters(body.fields)
}

/** The form of a request to an endpoint that takes credentials in its body; refused where the query has some. */
export function formOf(request: HttpRequest): Parameters | OAuthError {
  const text = queryOf(request.url)
  if (text === '') return bodyParameters(request)
  const query = parseParameters(text)
  if (isOAuthError(query)) return query
  const misplaced = BODY_PARAMETERS.find((name) => query.has(name))
  return misplaced === undefined
    ? bodyParameters(request)
    : malformed(`The parameter ${misplaced} must not be in the query.`)
}

/** Reads the fields that a form parser of the host made of a body: strings, and lists for repeated ones. */
function parsedParameters(fields: unknown): Parameters | OAuthError {
  if (typeof fields !== 'object' || fields === null) return malformed('The body is not a form.')
  const parameters: Reading = new Map()
  let left: number = PARAMETER_LIMITS.count
  for (const [name, value] of Object.entries(fields)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    left -= values.length
    if (left < 0) return malformed('There are too many parameters.')
    for (const each of values) add(parameters, name, typeof each === 'string' ? each : undefined)
  }
  return parameters
}

/** Parameters while they are read: the values of one that is repeated are one list, since copies of it would be quadratic. */
type Reading = Map<string, string | (ParameterFault & { readonly values?: string[] })>

function add(parameters: Reading, name: string, value: string | undefined): void {
  const before = parameters.get(name)
  if (value === undefined) parameters.set(name, MALFORMED)
  else if (before === undefined) parameters.set(name, value)
  else if (typeof before === 'string')
    parameters.set(name, { type: 'fault', code: 'parameter_repeated', message: 'is repeated', values: [before, value] })
  else before.values?.push(value)
}

/**
 * Reads the value of one parameter.
 * @returns undefined where it is absent or empty, which is the same (RFC 6749, section 3.1); a fault where it is
 * repeated, malformed, too long, or has a control character
 */
export function valueIn(parameters: Parameters, name: string): string | ParameterFault | undefined {
  const value = parameters.get(name)
  if (value === '' || typeof value !== 'string') return value === '' ? undefined : value
  if (value.length > PARAMETER_LIMITS.length) return TOO_LONG
  return CONTROL.test(value) ? MALFORMED : value
}

/** Reads all values of a parameter that may come more than once; none where one of them is malformed. */
export function listIn(parameters: Parameters, name: string): readonly string[] {
  const value = parameters.get(name)
  return typeof value === 'string' ? [value] : (value?.values ?? [])
}

/** The values of several parameters; undefined where one is absent. */
export type Values<Name extends string> = { readonly [Each in Name]: string | undefined }

/** Reads the values of several parameters; gives the error of the first that has a fault. */
export function valuesIn<Name extends string>(
  parameters: Parameters,
  names: readonly Name[],
): Values<Name> | OAuthError {
  const values: { [Each in Name]?: string | undefined } = {}
  for (const name of names) {
    const value = valueIn(parameters, name)
    if (typeof value === 'object') return malformed(`The parameter ${name} ${value.message}.`)
    // An own property where it is absent, too, so that a polluted prototype adds no parameter.
    values[name] = value
  }
  return values as Values<Name> // every name has been set
}

/** Writes parameters as a query, so that they are read as they were; those that are malformed are left out. */
export function printQuery(parameters: Parameters): string {
  return [...parameters.keys()]
    .flatMap((name) =>
      listIn(parameters, name).map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
    )
    .join('&')
}

/** Makes the error of a parameter that is missing. */
export function missing(name: string): OAuthError {
  return malformed(`The parameter ${name} is missing.`)
}

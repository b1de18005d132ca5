/**
 * Challenges: the reasons of an API that refuses a request, in its header `WWW-Authenticate`.
 * @module
 * @see RFC 9110, section 11.6.1
 */

/** The parameters of one challenge, by their names in lower case. */
export type Challenge = ReadonlyMap<string, string>

/** Characters that the header may have. More of them are read as no challenge. */
const MAX_HEADER = 8192

/** A parameter, perhaps behind the scheme of a challenge that begins with it (RFC 9110, section 11.2). */
const PARAMETER =
  /^(?:([\w!#$%&'*+.^`|~-]+)[ \t]+)?([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]+))$/

/** A challenge without parameters: its scheme, perhaps with a text of its own. */
const SCHEME = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]+[\w.~+/-]+=*)?$/

/**
 * Reads the challenges of an answer.
 * @param of - the answer, or the text of its header
 */
export function challengesOf(of: string | Pick<Response, 'headers'>): readonly Challenge[] {
  return parseChallenges(typeof of === 'string' ? of : (of.headers.get('www-authenticate') ?? ''))
}

/** Parses the header, up to its first fault. A parameter that is repeated counts as it was first. */
export function parseChallenges(header: string): readonly Challenge[] {
  const challenges: Map<string, string>[] = []
  if (header.length > MAX_HEADER) return challenges
  for (const part of partsOf(header)) {
    if (part === '') continue
    const [, scheme, name = '', quoted, plain = ''] = PARAMETER.exec(part) ?? []
    if (name === '' && !SCHEME.test(part)) break
    if (name === '' || scheme !== undefined) challenges.push(new Map())
    const last = challenges.at(-1)
    if (last === undefined) break
    const key = name.toLowerCase()
    if (key !== '' && !last.has(key)) last.set(key, quoted?.replace(/\\(.)/g, '$1') ?? plain)
  }
  return challenges
}

/** Returns a parameter of the first challenge that has it. */
export function parameterOf(challenges: readonly Challenge[], name: string): string | undefined {
  return challenges.find((each) => each.has(name))?.get(name)
}

/** Splits the header at commas that are not quoted. */
function partsOf(header: string): readonly string[] {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let at = 0; at < header.length; at++) {
    const character = header[at]
    if (character === '"') isQuoted = !isQuoted
    else if (isQuoted && character === '\\') at++
    else if (!isQuoted && character === ',') {
      parts.push(header.slice(start, at).trim())
      start = at + 1
    }
  }
  return [...parts, header.slice(start).trim()]
}

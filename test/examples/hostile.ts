/**
 * Hostile request targets, and what has to hold whatever is sent: a request is refused, or the one resource that the token opens
 * was touched. They are shared by the examples, the README's code and the guards of every platform.
 * @module
 * @see RFC 9112, section 3.2; RFC 3986, sections 3 and 5.2.4
 */
import fc from 'fast-check'
import { expect } from 'vitest'
import { raw, wire } from '../adapters/http.js'

/** A route `PUT <base>/<id>`, and two of its resources. */
export interface Route {
  readonly base: string
  readonly ids: readonly [string, string]
}

/** Targets that one reader may take for `here` and the next for `there`. */
export function hostileTargets(base: string, here: string, there: string): readonly string[] {
  const [own, other] = [`${base}/${here}`, `${base}/${there}`]
  const dots = ['..', '%2e%2e', '%2E%2E', '.%2e', '%2e.', '%252e%252e', '..;', '..%00', '%c0%ae%c0%ae', '%u002e%u002e']
  const slashes = ['/', '%2f', '%2F', '%252f', '\\', '%5c', '%5C', '%c0%af', '%e0%80%af', '%ef%bc%8f', '%u002f']
  const ends = [
    '?',
    '??',
    '#',
    '?#',
    '#?',
    ';',
    '%3f',
    '%3F',
    '%23',
    '%3b',
    '%00',
    '%0a',
    '%0d%0a',
    '%20',
    '%09',
    '&',
    ',',
  ]
  const origins = [
    'http://127.0.0.1',
    'http://other.example',
    'https://other.example:443',
    'HTTP://OTHER.EXAMPLE',
    'http://user:password@other.example',
    `http://other.example${other}@127.0.0.1`,
    `http://${there}`,
    'file://',
    `//${there}`,
    '//other.example',
    '/\\other.example',
    'javascript:',
  ]
  return [
    own,
    // A query, a fragment, a matrix parameter or a control character, and the other resource behind it.
    ...ends.flatMap((end) => [`${own}${end}`, `${own}${end}${other}`, `${own}${end}/${there}`, `${own}${end}${there}`]),
    ...ends.flatMap((end) => [`${base}/${end}${here}`, `${base}${end}/${there}`, `${end}${other}`, `/${end}${other}`]),
    `${own}?/repos/${there}`,
    `${own};id=${there}`,
    `${base};id=${there}/${here}`,
    `${own}?id=${there}`,
    `${own}?id=${here}&id=${there}`,
    `${own}?id[]=${there}&params[id]=${there}`,
    `${own}?url=${encodeURIComponent(other)}&path=${other}`,
    // Dot segments, however they are written.
    ...dots.flatMap((up) => slashes.map((slash) => `${own}${slash}${up}${slash}${there}`)),
    ...dots.flatMap((up) => [`${base}/${up}${other}`, `${base}/x/${up}/${there}`, `${own}/${up}`, `/${up}${own}`]),
    `${base}/./${here}`,
    `${own}/.`,
    `${own}/./`,
    // Slashes, doubled, trailing and inside.
    ...slashes.flatMap((slash) => [`${own}${slash}`, `${own}${slash}${slash}`, `${own}${slash}${there}`]),
    ...slashes.flatMap((slash) => [`${slash}${own}`, `${base}${slash}${here}`, `${base}/${slash}${here}`]),
    // Absolute form, authority form, and what is none.
    ...origins.flatMap((origin) => [`${origin}${own}`, `${origin}${own}?${other}`, `${origin}${own}#${other}`]),
    `${there}:80`,
    '*',
    'http://[',
    'http://:80:80/',
    // Case, encoded letters, other letters, and bytes that are no UTF-8.
    own.toUpperCase(),
    `${base}/${here.toUpperCase()}`,
    `${base.toUpperCase()}/${here}`,
    `${base}/${encodeEach(here)}`,
    `${base}/${encodeEach(encodeEach(here))}`,
    `${base}/${encodeEach(there)}`,
    `${base}/${encodeURIComponent(here)}`,
    `${encodeEach(base.slice(1))}/${here}`,
    ...[
      '%',
      '%2',
      '%zz',
      '%ff',
      '%ed%a0%80',
      '%e2%80%8b',
      '%ef%bb%bf',
      '%cc%81',
      '\xff',
      '\xc3\xa9',
      '+',
      '%2b',
      '~',
      '.',
    ].flatMap((letter) => [`${own}${letter}`, `${base}/${letter}${here}`, `${own}${letter}/${there}`]),
    `${base}/${encodeURIComponent(fullWidth(here))}`,
    `${base}/${encodeURIComponent(fullWidth(there))}`,
    // Very long.
    `${own}?${'a'.repeat(8_000)}${other}`,
    `${own}${'/x/..'.repeat(1_500)}/../${there}`,
    `${base}/${'../'.repeat(2_000)}${other}`,
    `${own}${'/'.repeat(8_000)}${there}`,
    `${own}${'a'.repeat(8_000)}`,
    `${own}?${'a'.repeat(40_000)}${other}`,
    `${own}?${`id=${there}&`.repeat(500)}`,
    // What is every object's.
    ...['__proto__', 'constructor', 'undefined', 'null', '[object%20Object]', '0'].map((name) => `${base}/${name}`),
  ]
}

/** Every byte as `%XX`, which is another spelling of the text. */
function encodeEach(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
}

/** The text in letters that Unicode's compatibility forms fold into it. */
function fullWidth(text: string): string {
  return text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0))
}

/** Targets that are put together from all that has a meaning in one. */
export function madeUpTargets(base: string, ids: readonly [string, string]): fc.Arbitrary<string> {
  const pieces = [
    base,
    ...ids,
    '/',
    '//',
    '..',
    '.',
    ';',
    '?',
    '#',
    '&',
    '=',
    'id',
    'repos',
    '%2f',
    '%2e',
    '%00',
    '%5c',
    '\\',
    '@',
    ':',
  ]
  return fc
    .tuple(fc.constantFrom(...ids), fc.array(fc.constantFrom(...pieces), { maxLength: 12 }))
    .map(([id, rest]) => `${base}/${id}${rest.join('')}`)
}

/** What came back. */
export interface HostileAnswer {
  readonly target: string
  readonly status: number
  readonly body: string
}

/** Sends `PUT <target>` as it is, which no client would. */
export async function putRaw(port: number, target: string, token: string): Promise<HostileAnswer> {
  const answer = await raw(port, wire(`PUT ${target}`, [`Authorization: Bearer ${token}`]))
  const start = answer.indexOf('\r\n\r\n') + 4
  const body = answer.slice(start)
  const chunked = /^transfer-encoding: chunked/im.test(answer.slice(0, start))
  return { target, status: Number(answer.slice(9, 12)), body: chunked ? unchunked(body) : body }
}

function unchunked(body: string): string {
  const end = body.indexOf('\r\n')
  const size = Number.parseInt(body.slice(0, end), 16)
  return size > 0 ? body.slice(end + 2, end + 2 + size) + unchunked(body.slice(end + 4 + size)) : ''
}

/** How a request may be turned away: as no request, no route or no resource of this token. */
const TURNED_AWAY = [301, 302, 307, 308, 400, 403, 404, 405, 414, 431]

/**
 * Attacks a route with two tokens, each of which opens one of its two resources. Both are sent to the same targets: so a target that looks
 * like one resource and leads to the other comes with a token for the first, and with one for the second.
 * @param tokenFor - makes the token that opens a resource
 * @param check - asserts that an answer of success names the one resource that the token opens
 */
export async function attack(
  port: number,
  { base, ids }: Route,
  tokenFor: (opens: string) => Promise<string>,
  check: (opens: string, answer: HostileAnswer) => void,
): Promise<void> {
  for (const opens of ids) {
    const token = await tokenFor(opens)
    const judge = async (target: string): Promise<number> => {
      const answer = await putRaw(port, target, token)
      if (answer.status === 200) check(opens, answer)
      else expect(TURNED_AWAY, `${answer.status} for ${target.slice(0, 200)}`).toContain(answer.status)
      return answer.status
    }
    for (const id of ids) expect(await judge(`${base}/${id}`), id).toBe(id === opens ? 200 : 403)
    for (const target of hostileTargets(base, ...ids)) await judge(target)
    await fc.assert(
      fc.asyncProperty(madeUpTargets(base, ids), async (target) => void (await judge(target))),
      { numRuns: 200 },
    )
  }
}

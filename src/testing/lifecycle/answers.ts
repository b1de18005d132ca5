/**
 * Compares a server with the model: its answers, and every token after them.
 * @module
 */
import type { Scope } from '../../core/scopes.js'
import type { Seconds } from '../../core/values.js'
import type { Access, Answer, Lifecycle, Ruling, Shown, Terms } from '../model.js'
import type { LifecycleResponse, LifecycleWiring } from '../wiring.js'
import type { Sender } from './client.js'
import { headerOf, post } from './client.js'

/** A grant: its model, and everything that was handed out. */
export interface Life {
  /** Counted from 1. */
  readonly number: number
  readonly model: Lifecycle
  readonly challenged: boolean
  readonly code: string
  readonly pairs: { readonly accessToken: string; readonly refreshToken: string }[]
}

/** All grants of a run, and their clock. */
export interface World {
  readonly lives: Life[]
  readonly clock: () => Seconds
}

/** The server of a run. */
export interface Real {
  readonly wiring: LifecycleWiring
  readonly terms: Terms
  readonly requirePkce: boolean
  /** The story: a line for each command and its result. */
  readonly story: string[]
}

/** The protected resources of a request. */
export type AudienceChoice = 'none' | 'first' | 'second' | 'both'

/** The sender: the client whose grant it is, another client, or somebody with a wrong secret. */
export type By = 'owner' | 'other' | 'nobody'

/** The number of grants that live at once: two show that neither touches the other. */
export const LIVE = 2

/** The newest tokens that are validated after every command, of each grant that may live. Of all others, one by turns. */
const VALIDATED = 8

/** Sends identical token requests at once. The answers must be those of the model, one after the other, in any order. */
export async function token(
  life: Life,
  { wiring }: Real,
  form: Readonly<Record<string, string>>,
  by: By,
  times: number,
  rule: (now: number) => Ruling,
): Promise<string> {
  const now = wiring.clock()
  const sender = senderOf(wiring, by)
  const responses = await Promise.all(Array.from({ length: times }, () => post(wiring, '/oauth2/token', form, sender)))
  const expected = Array.from({ length: times }, () => {
    const ruling = by === 'nobody' ? REFUSED : rule(now)
    ruling.change?.()
    return describe(ruling.answer)
  })
  const actual = responses.map((response) => describe(answerOf(life, response)))
  const [wanted, got] = [expected, actual].map((each) => each.toSorted().join(' and '))
  if (wanted !== got) throw new Error(`expected ${wanted}; got ${got}`)
  return String(wanted)
}

/** Checks that an access token works exactly where the model says so, with its scopes, and that nothing else does. */
export async function validate({ lives }: World, { wiring, story }: Real): Promise<void> {
  const now = wiring.clock()
  const turn = story.length
  await Promise.all(
    lives.flatMap(({ number: grant, pairs, model, code }) => {
      const newest = pairs.length - (grant > lives.length - LIVE ? VALIDATED : 0)
      const numbers = [...pairs.keys()].filter((number) => number >= newest || number === turn % pairs.length)
      return [
        ...numbers.map((number) => {
          const credential = credentialOf({ code, pairs }, { what: 'access', pair: number })
          return works(
            credential,
            model.access(number, now),
            turn + number,
            `access token ${number + 1} of grant ${grant}`,
          )
        }),
        // What is no access token must not pass for one.
        ...(grant === lives.length
          ? [same(pairs.at(-1)?.refreshToken ?? code, undefined, 'what is no access token')]
          : []),
      ]
    }),
  )

  /** Asks where a token should work, and at one other place, since each question may be a request over a network. */
  async function works(credential: string, access: Access | undefined, turn: number, name: string): Promise<void> {
    const all = [undefined, ...(wiring.audiences ?? [])]
    const places = new Set([access?.audience?.[0], all[turn % all.length]])
    for (const place of places) {
      const isMeant = place === undefined ? access?.audience === undefined : access?.audience?.includes(place)
      await same(credential, isMeant ? access?.scopes : undefined, name, place)
    }
  }

  async function same(
    credential: string,
    expected: readonly string[] | undefined,
    name: string,
    place?: string,
  ): Promise<void> {
    const found = await wiring.validate(credential, place)
    const [wanted, got] = [expected, found?.scopes].map((scopes) =>
      scopes === undefined ? 'is refused' : `works with ${scopes.toSorted().join(' ')}`,
    )
    const where = place === undefined ? '' : ` at ${place}`
    if (wanted !== got) throw new Error(`then ${name} ${got}${where}; expected that it ${wanted}`)
  }
}

/** Reads the answer of a token endpoint in the words of the model. A new pair gets the next number. */
function answerOf({ pairs }: Life, response: LifecycleResponse): Answer | { readonly says: string } {
  if (response.status === 429) return { says: 'too many', retryAfter: Number(headerOf(response, 'retry-after')) }
  if (response.status !== 200)
    return {
      says: `${errorIn(response)}${response.status === 400 || response.status === 401 ? '' : ` (status ${response.status})`}`,
    }
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn, scope } = jsonOf(response)
  if (
    typeof accessToken !== 'string' ||
    typeof refreshToken !== 'string' ||
    typeof expiresIn !== 'number' ||
    typeof scope !== 'string'
  )
    return { says: `no tokens: ${response.body}` }
  const known = pairs.findIndex((pair) => pair.accessToken === accessToken || pair.refreshToken === refreshToken)
  const pair = known < 0 ? pairs.push({ accessToken, refreshToken }) - 1 : known
  if (pairs[pair]?.accessToken !== accessToken || pairs[pair]?.refreshToken !== refreshToken)
    return { says: `half of pair ${pair + 1}` }
  return { says: 'tokens', pair, expiresIn, scopes: scopesIn(scope) }
}

function describe(answer: Answer | { readonly says: string }): string {
  if ('scopes' in answer) {
    const { pair, expiresIn, scopes } = answer
    return `pair ${pair + 1}, expires in ${expiresIn} s, ${scopes.toSorted().join(' ')}`
  }
  return 'retryAfter' in answer ? `${answer.says}, retry after ${answer.retryAfter} s` : answer.says
}

/** The answer to a client that is not authentic, whatever it shows. */
export const REFUSED: Ruling = { answer: { says: 'invalid_client' } }

export function senderOf({ client, other }: LifecycleWiring, by: By): Sender {
  return { client: by === 'other' ? other : client, authentic: by !== 'nobody' }
}

export function credentialOf({ code, pairs }: Pick<Life, 'code' | 'pairs'>, shown: Shown): string {
  if (!('pair' in shown)) return shown.what === 'code' ? code : unknownLike(pairs.at(-1)?.refreshToken ?? code)
  const pair = pairs[shown.pair]
  if (pair === undefined) throw new Error(`no pair ${shown.pair + 1}`)
  return shown.what === 'access' ? pair.accessToken : pair.refreshToken
}

/** Changes one character near the end of a credential, where the secret is. */
function unknownLike(credential: string): string {
  const at = credential.length - 5
  return `${credential.slice(0, at)}${credential[at] === 'A' ? 'B' : 'A'}${credential.slice(at + 1)}`
}

export function errorIn(response: LifecycleResponse): string {
  return String(jsonOf(response)['error'] ?? response.body)
}

function jsonOf({ body }: LifecycleResponse): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
  } catch {
    return {}
  }
}

export function scopeOf({ client }: LifecycleWiring, index: number): string {
  return client.scopes[index] ?? client.scopes[0]
}

/** Returns the protected resources of a choice: none, the first, the second, or both. */
export function audienceOf({ audiences }: LifecycleWiring, choice: AudienceChoice): readonly string[] {
  if (audiences === undefined || choice === 'none') return []
  const [first, second] = audiences
  return choice === 'both' ? audiences : [choice === 'first' ? first : second]
}

export function scopesIn(text: string): readonly Scope[] {
  return text.split(' ') as Scope[] // whatever the wiring's catalogue calls a scope; only compared
}

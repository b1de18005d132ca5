/**
 * The search for an order of the requests that explains every answer: each takes effect at one moment between its
 * beginning and its end, and the model of a grant's life, asked in that order, answers the same.
 *
 * A server reads its clock once, at any moment of the request: so each request has a time of its own among those that the
 * clock showed meanwhile. A request that got no answer may have taken effect where it wrote, and has not where it did not.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { Answer, Lifecycle, Ruling, Shown } from '../model.js'
import { lifecycle } from '../model.js'
import type { CallAnswer, History, Operation } from './history.js'
import { isAnswered, isBefore, isCheck } from './history.js'
import { describeAnswer, describeOperation, letterOf, nameOfText } from './story.js'

/** The model, and the pairs that it gave to clients. */
interface Explained {
  readonly model: Lifecycle
  /** The number of the pair of each token. */
  readonly numbers: Map<string, number>
  /** The access and refresh token of each pair, as they were first received. */
  readonly texts: Map<number, string>
}

/** A request in an order, at the time at which it takes effect. */
interface Placed {
  readonly operation: Operation
  readonly now: Seconds
}

/** An order, and the answer that the model has for its last request, which came otherwise. */
interface Disagreement {
  readonly order: readonly Placed[]
  readonly wanted: string
}

/**
 * Looks for an order that explains a history.
 * @returns undefined where there is one; else in words what the best order does not explain
 */
export function unexplained(history: History): string | undefined {
  const optional = history.operations.filter((operation) => !isAnswered(operation) && operation.wrote.length > 0)
  let best: Disagreement | undefined
  for (let subset = 0; subset < 2 ** optional.length; subset++) {
    const effective = history.operations.filter(
      (operation) => isAnswered(operation) || ((subset >> optional.indexOf(operation)) & 1) === 1,
    )
    const found = extend(history, [], explain(history, []), effective)
    if (found === undefined) return undefined
    best = further(best, found)
  }
  return best === undefined ? undefined : describe(best, history)
}

/** Extends an order by all operations that are left. @returns undefined where the model explains them all */
function extend(
  history: History,
  placed: readonly Placed[],
  explained: Explained,
  left: readonly Operation[],
): Disagreement | undefined {
  const order = [...placed]
  let rest = left
  while (rest.length > 0) {
    const next = rest.filter((each) => !rest.some((other) => other !== each && isBefore(other, each)))
    const ways = next.flatMap((operation) => operation.nows.map((now) => ({ operation, now })))
    const [only] = ways
    if (only === undefined) throw new Error('an operation without a time')
    if (ways.length > 1) return extendAnyWay(history, order, rest, ways)
    const wanted = disagreement(explained, only)
    order.push(only)
    if (wanted !== undefined) return { order, wanted }
    rest = rest.filter((each) => each !== only.operation)
  }
  return undefined
}

/** Extends an order by each operation that can be next. @returns undefined where one way explains all that is left */
function extendAnyWay(
  history: History,
  order: readonly Placed[],
  left: readonly Operation[],
  ways: readonly Placed[],
): Disagreement | undefined {
  let best: Disagreement | undefined
  for (const way of ways) {
    const explained = explain(history, order)
    const wanted = disagreement(explained, way)
    const longer = [...order, way]
    const found =
      wanted === undefined
        ? extend(
            history,
            longer,
            explained,
            left.filter((each) => each !== way.operation),
          )
        : { order: longer, wanted }
    if (found === undefined) return undefined
    best = further(best, found)
  }
  return best
}

/** Returns the one that explains more. */
function further(best: Disagreement | undefined, found: Disagreement): Disagreement {
  return best === undefined || found.order.length > best.order.length ? found : best
}

/** Lets a new model answer requests in their order, each of which it explains. */
function explain({ terms, scopes, audience, issuedAt, formExpiresAt }: History, order: readonly Placed[]): Explained {
  const model = lifecycle(terms, scopes, false, issuedAt, formExpiresAt, audience)
  const explained = { model, numbers: new Map<string, number>(), texts: new Map<number, string>() }
  for (const each of order) disagreement(explained, each)
  return explained
}

/** Lets the model answer a request. @returns in words what it would have answered, where that is not what was answered */
function disagreement(explained: Explained, { operation, now }: Placed): string | undefined {
  const { does, shows, resource, told } = operation
  const { model, numbers } = explained
  const number = numbers.get(shows)
  if (isCheck(does))
    return disagreementOnAccess(number === undefined ? undefined : model.access(number, now), resource, told)
  if (does === 'decide') {
    const { answer, change } = model.decide(now, shows)
    change?.()
    if (!isAnswered(operation)) return undefined
    const came = told?.says === 'refused' ? told.error : told?.says
    return came === answer.says ? undefined : `it is answered ${answer.says}`
  }
  const { answer, change } = rulingOn(model, does, shownAs(does, shows, number), resource, now)
  change?.()
  if (!isAnswered(operation)) return undefined
  switch (answer.says) {
    case 'tokens':
      return disagreementOnTokens(explained, answer, told)
    case 'revoked':
    case 'unchanged':
      return told?.says === 'done' ? undefined : 'it is answered 200'
    case 'too many':
      return told?.says === 'refused' && told.status === 429 ? undefined : 'it is answered 429'
    default:
      return told?.says === 'refused' && told.error === answer.says ? undefined : `it is answered ${answer.says}`
  }
}

function disagreementOnAccess(
  active: ReturnType<Lifecycle['access']>,
  resource: string | undefined,
  told: CallAnswer | undefined,
): string | undefined {
  const isMeant = resource === undefined ? active?.audience === undefined : active?.audience?.includes(resource)
  if (active !== undefined && !isMeant) return told?.says === 'active' ? 'it works elsewhere alone' : undefined
  if (told?.says !== 'active') return active === undefined ? undefined : 'it still works'
  if (active === undefined) return 'it works no more'
  if (active.until !== told.until) return `it works until ${active.until}, not ${told.until}`
  return active.scopes.join(' ') === told.scope ? undefined : `it has the scopes ${active.scopes.join(' ')}`
}

function disagreementOnTokens(
  { numbers, texts }: Explained,
  { pair, expiresIn, scopes }: Extract<Answer, { says: 'tokens' }>,
  told: CallAnswer | undefined,
): string | undefined {
  if (told?.says !== 'tokens') return 'it gets tokens'
  const text = `${told.accessToken} ${told.refreshToken}`
  const known = texts.get(pair)
  if (known === undefined ? numbers.has(told.accessToken) : known !== text)
    return known === undefined ? 'it gets a new pair' : 'it gets the pair that others got'
  texts.set(pair, text)
  numbers.set(told.accessToken, pair).set(told.refreshToken, pair)
  if (told.expiresIn !== expiresIn) return `expires_in is ${expiresIn}, not ${told.expiresIn}`
  return told.scope === scopes.join(' ') ? undefined : `the scope is ${scopes.join(' ')}`
}

/** Names a code or token as the model does. */
function shownAs(does: TokenRequest, text: string, number: number | undefined): Shown {
  if (does === 'exchange') return { what: 'code' }
  return number === undefined
    ? { what: 'unknown' }
    : { what: text.startsWith('gwa_') ? 'access' : 'refresh', pair: number }
}

type TokenRequest = 'exchange' | 'refresh' | 'revoke'

function rulingOn(
  model: Lifecycle,
  does: TokenRequest,
  shown: Shown,
  resource: string | undefined,
  now: Seconds,
): Ruling {
  switch (does) {
    case 'exchange':
      return model.exchange(now, shown, true, 'none', 'none')
    case 'refresh':
      return model.refresh(now, shown, true, undefined, resource === undefined ? undefined : [resource])
    case 'revoke':
      return model.revoke(now, shown, true)
  }
}

/** Says what the order that goes furthest does not explain. */
function describe({ order, wanted }: Disagreement, { code, pairs }: History): string {
  const nameOf = nameOfText(code, pairs)
  const last = order.at(-1)?.operation
  if (last?.told === undefined) return wanted
  const names = order.flatMap(({ operation: { by } }) => (typeof by === 'number' ? [letterOf(by)] : []))
  const who = typeof last.by === 'number' ? letterOf(last.by) : 'whoever comes afterwards'
  const sent = describeOperation(last, nameOf)
  const came = describeAnswer(last.does, last.told, nameOf)
  return `in the order ${names.join(', ')}, where ${who} ${sent}, ${wanted}; but ${who} ${came}`
}

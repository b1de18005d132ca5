/**
 * Whether some order of the requests explains every answer: one in which each takes effect at one moment between its
 * beginning and its end, and in which the model of a grant's life answers the same.
 *
 * A server reads its clock once, at any moment of the request: so each request has a time of its own among those that the
 * clock showed meanwhile. A request that got no answer may have taken effect where it wrote, and has not where it did not.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { Lifecycle, Shown } from '../model.js'
import { lifecycle } from '../model.js'
import type { History, Operation } from './history.js'
import { isAnswered, isBefore } from './history.js'
import { describeAnswer, describeOperation, letterOf, nameOfText } from './story.js'

/** The model, and which of the texts that clients have is which of its pairs. */
interface Explained {
  readonly model: Lifecycle
  readonly numbers: Map<string, number>
  /** Access and refresh token of a pair, as they were first received. */
  readonly texts: Map<number, string>
}

interface Placed {
  readonly operation: Operation
  readonly now: Seconds
}

/** The order that explains most, and what is the first that it does not. */
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
    const found = extend([], beginning(history), effective)
    if (found === undefined) return undefined
    if (best === undefined || found.order.length > best.order.length) best = found
  }
  return best === undefined ? undefined : describe(best, history)

  /** Extends an order by all that is left; undefined where that can be done. */
  function extend(placed: readonly Placed[], so: Explained, left: readonly Operation[]): Disagreement | undefined {
    const order = [...placed]
    let explained = so
    let rest = left
    while (rest.length > 0) {
      const next = rest.filter((each) => !rest.some((other) => other !== each && isBefore(other, each)))
      const ways = next.flatMap((operation) => operation.nows.map((now) => ({ operation, now })))
      const [only] = ways
      if (only === undefined) throw new Error('an operation without a time')
      if (ways.length > 1) return branch(order, rest, ways)
      const wanted = disagreement(explained, only)
      order.push(only)
      if (wanted !== undefined) return { order, wanted }
      rest = rest.filter((each) => each !== only.operation)
    }
    return undefined

    function branch(
      order: readonly Placed[],
      rest: readonly Operation[],
      ways: readonly Placed[],
    ): Disagreement | undefined {
      let best: Disagreement | undefined
      for (const way of ways) {
        explained = beginning(history)
        for (const each of order) disagreement(explained, each)
        const wanted = disagreement(explained, way)
        const longer = [...order, way]
        const found =
          wanted === undefined
            ? extend(
                longer,
                explained,
                rest.filter((each) => each !== way.operation),
              )
            : { order: longer, wanted }
        if (found === undefined) return undefined
        if (best === undefined || found.order.length > best.order.length) best = found
      }
      return best
    }
  }
}

function beginning({ terms, scopes, issuedAt, formExpiresAt }: History): Explained {
  return { model: lifecycle(terms, scopes, false, issuedAt, formExpiresAt), numbers: new Map(), texts: new Map() }
}

/** Lets the model answer a request. @returns in words what it would have answered, where that is not what was answered */
function disagreement(so: Explained, { operation, now }: Placed): string | undefined {
  const { does, shows, told } = operation
  const { model, numbers } = so
  const number = numbers.get(shows)
  if (does === 'validate') {
    const active = number === undefined ? undefined : model.access(number, now)
    if (told?.says !== 'active') return active === undefined ? undefined : 'it still works'
    if (active === undefined) return 'it works no more'
    if (active.until !== told.until) return `it works until ${active.until}, not ${told.until}`
    return active.scopes.join(' ') === told.scope ? undefined : `it has the scopes ${active.scopes.join(' ')}`
  }
  if (does === 'decide') {
    const { answer, change } = model.decide(now, shows)
    change?.()
    if (!isAnswered(operation)) return undefined
    const came = told?.says === 'refused' ? told.error : told?.says
    return came === answer.says ? undefined : `it is answered ${answer.says}`
  }
  const shown: Shown =
    does === 'exchange'
      ? { what: 'code' }
      : number === undefined
        ? { what: 'unknown' }
        : { what: shows.startsWith('gwa_') ? 'access' : 'refresh', pair: number }
  const { answer, change } =
    does === 'exchange'
      ? model.exchange(now, shown, true, 'none', 'none')
      : does === 'refresh'
        ? model.refresh(now, shown, true, undefined)
        : model.revoke(now, shown, true)
  change?.()
  if (!isAnswered(operation)) return undefined
  switch (answer.says) {
    case 'tokens': {
      if (told?.says !== 'tokens') return 'it gets tokens'
      const texts = `${told.accessToken} ${told.refreshToken}`
      const known = so.texts.get(answer.pair)
      if (known === undefined ? numbers.has(told.accessToken) : known !== texts)
        return known === undefined ? 'it gets a new pair' : 'it gets the pair that others got'
      so.texts.set(answer.pair, texts)
      numbers.set(told.accessToken, answer.pair).set(told.refreshToken, answer.pair)
      if (told.expiresIn !== answer.expiresIn) return `expires_in is ${answer.expiresIn}, not ${told.expiresIn}`
      return told.scope === answer.scopes.join(' ') ? undefined : `the scope is ${answer.scopes.join(' ')}`
    }
    case 'revoked':
    case 'unchanged':
      return told?.says === 'done' ? undefined : 'it is answered 200'
    case 'too many':
      return told?.says === 'refused' && told.status === 429 ? undefined : 'it is answered 429'
    default:
      return told?.says === 'refused' && told.error === answer.says ? undefined : `it is answered ${answer.says}`
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

/**
 * The rules that must hold after every history, from the specification and from the promises of grantwell beyond it. First
 * plain rules, each one sentence, so that a failure says what it means; last the one that includes them all: the model
 * explains every answer.
 * @module
 * @see Specification, sections 3 and 4; RFC 6749, section 4.1.2; RFC 7009, section 2; RFC 9700, section 4.14.2
 */
import type { Grant } from '../../core/grant/grant.js'
import type { History, Operation } from './history.js'
import { isAnswered, isBefore, isCheck, isGranted, isUnavailable } from './history.js'
import { unexplained } from './linearization.js'
import { describeAnswer, describeOperation, letterOf, nameOfText } from './story.js'

/** A rule that a history breaks. */
export interface BrokenRule {
  /** The rule, a sentence. */
  readonly rule: string
  /** The fact that breaks it, in words. */
  readonly came: string
}

interface Rule {
  readonly rule: string
  /** Says in words what breaks it; undefined where nothing does. */
  readonly broken: (history: History) => string | undefined
}

const STATUSES: readonly number[] = [400, 401, 503]

const RULES: readonly Rule[] = [
  {
    rule: 'Every request comes to an end.',
    broken: ({ ending }) => (ending === 'endless' ? 'they ask the store again and again' : undefined),
  },
  {
    rule: 'A request of your own finds what it demands.',
    broken: ({ thrown }) =>
      thrown === undefined ? undefined : String(thrown instanceof Error ? thrown.message : thrown),
  },
  {
    rule: 'Every answer is a 200, 400 or 401, or a 503 after a fault.',
    broken: (history) =>
      first(history, ({ told, faults }) => {
        if (told?.says !== 'refused') return false
        return !STATUSES.includes(told.status) || (isUnavailable(told) && faults.length === 0)
      }),
  },
  {
    rule: 'A write that was stored is answered, even if the answer of the store is lost.',
    broken: (history) =>
      first(history, (operation) => {
        const { faults, wrote, end = 0 } = operation
        const [at = 0] = wrote
        const alone = history.operations.every(
          (other) => other === operation || !other.wrote.some((time) => time > at && time < end),
        )
        return faults.join() === 'lost-answer' && wrote.length === 1 && alone && isUnavailable(operation.told)
      }),
  },
  {
    rule: 'A form has one decision and, where that is to agree, one code.',
    broken: (history) => {
      const taken = inOrderOfAnswers(history).filter(({ told }) => told?.says === 'code' || told?.says === 'denied')
      const other = taken.find((each) => each.shows !== taken[0]?.shows || codeOf(each) !== codeOf(taken[0]))
      return other === undefined ? undefined : told(history, other)
    },
  },
  {
    rule: 'A code is redeemed at most once.',
    broken: (history) => {
      const redeemed = inOrderOfAnswers(history).filter((each) => each.does === 'exchange' && isGranted(each))
      return redeemed.length > 1
        ? `it was redeemed for ${list(redeemed.map((each) => pairOf(history, each)))}`
        : undefined
    },
  },
  {
    rule: 'All refreshes with one token get the same successor.',
    broken: (history) => {
      const successors = new Map<string, Operation>()
      for (const each of inOrderOfAnswers(history)) {
        if (each.does !== 'refresh' || !isGranted(each) || each.by === 'probe') continue
        const other = successors.get(each.shows) ?? each
        successors.set(each.shows, other)
        if (pairOf(history, other) !== pairOf(history, each))
          return `${name(history, each.shows)} was answered with ${pairOf(history, other)} and with ${pairOf(history, each)}`
      }
      return undefined
    },
  },
  {
    rule: 'An access token that was refreshed for one resource works there alone.',
    broken: (history) => {
      for (const each of history.operations.filter(({ told }) => told?.says === 'active')) {
        const other = resourcesOf(history, each.shows).find((one) => one !== each.resource)
        if (other !== undefined) return `${told(history, each)}, which was refreshed for ${other}`
      }
      return undefined
    },
  },
  {
    rule: 'After a second redemption of a code nothing of the grant works.',
    broken: (history) =>
      after(history, (each) => {
        const won = each.does === 'exchange' && isAnswered(each) && !isGranted(each)
        return (
          won &&
          history.operations.some((other) => other.does === 'exchange' && isGranted(other) && isBefore(other, each))
        )
      }),
  },
  {
    rule: 'Once a revocation is answered with 200, what it revoked is refused.',
    broken: (history) =>
      after(
        history,
        ({ does, told, shows, end = 0 }) => does === 'revoke' && told?.says === 'done' && wasAlive(history, shows, end),
        (revoked, later) => revoked.shows.startsWith('gwr_') || later.shows === revoked.shows,
      ),
  },
  {
    rule: 'A pair that a client received works until it is revoked, replayed, superseded or expired.',
    broken: (history) => {
      const harmless = history.operations.every(
        (each) =>
          each.by === 'probe' ||
          isCheck(each.does) ||
          (each.does === 'refresh' && wasAlive(history, each.shows, each.end ?? Number.POSITIVE_INFINITY)) ||
          (each.does === 'exchange' && (each.by === 'before' || isGranted(each) || !isAnswered(each))),
      )
      // The first probes, before the code is shown once more.
      const shown = history.operations.findIndex(({ by, does }) => by === 'probe' && does === 'exchange')
      const probes = history.operations.slice(0, shown).filter(({ by }) => by === 'probe')
      const redemptions = history.operations.slice(0, shown).filter(({ does }) => does === 'exchange')
      const dead = probes.find(
        (each) => !isGranted(each) && isMeant(history, each) && wasAlive(history, each.shows, Number.POSITIVE_INFINITY),
      )
      return harmless && redemptions.length < 2 && dead !== undefined ? told(history, dead) : undefined
    },
  },
  {
    rule: 'No record is half-made.',
    broken: (history) => (history.ending === 'over' ? halfMade(history) : undefined),
  },
  {
    rule: 'Some order of the requests explains every answer.',
    broken: (history) => (history.ending === 'over' ? unexplained(history) : undefined),
  },
]

/** Returns the first rule that a history breaks; undefined where it breaks none. */
export function brokenRule(history: History): BrokenRule | undefined {
  for (const { rule, broken } of RULES) {
    const came = broken(history)
    if (came !== undefined) return { rule, came }
  }
  return undefined
}

function inOrderOfAnswers({ operations }: History): readonly Operation[] {
  return operations.toSorted((a, b) => (a.end ?? 0) - (b.end ?? 0))
}

function first(history: History, isWrong: (operation: Operation) => boolean): string | undefined {
  const wrong = history.operations.find(isWrong)
  return wrong === undefined ? undefined : told(history, wrong)
}

/** Says what still works after the answer to a request that should have ended it. */
function after(
  history: History,
  ends: (operation: Operation) => boolean,
  concerns: (ending: Operation, later: Operation) => boolean = () => true,
): string | undefined {
  for (const ending of history.operations.filter(ends)) {
    const works = history.operations.find(
      (later) => isGranted(later) && isBefore(ending, later) && concerns(ending, later),
    )
    if (works !== undefined)
      return `after ${who(ending)} ${describeOperation(ending, (text) => name(history, text))}, ${told(history, works)}`
  }
  return undefined
}

/** Returns true if a token was alive in any order of the requests: it was new, or the newest before, and no time has passed. */
function wasAlive({ operations, pairs, startedAt }: History, text: string, until: number): boolean {
  const before = operations.filter(({ by }) => by === 'before').length
  const place = pairs.findIndex(({ accessToken, refreshToken }) => accessToken === text || refreshToken === text)
  const timeStoodStill = operations.every(
    ({ by, begin = 0, nows }) => by === 'before' || begin > until || nows.every((now) => now === startedAt),
  )
  return timeStoodStill && place >= Math.max(0, before - 1)
}

/** Returns the resources for which an access token was handed out by a refresh that named one. */
function resourcesOf({ operations }: History, accessToken: string): readonly (string | undefined)[] {
  return operations.flatMap(({ resource, told }) =>
    told?.says === 'tokens' && told.accessToken === accessToken && resource !== undefined ? [resource] : [],
  )
}

/** Returns true if a token is shown where it is known to be good: at the service itself, or at the resource that its refresh named. */
function isMeant(history: History, { does, shows, resource }: Operation): boolean {
  return history.audience === undefined || !isCheck(does) || resourcesOf(history, shows).includes(resource)
}

function codeOf(operation: Operation | undefined): string | undefined {
  return operation?.told?.says === 'code' ? operation.told.code : undefined
}

/** Says what is half-made about the record of a grant: its pairs are a chain, and a revoked grant has none. */
function halfMade({ record, operations, startedAt, issuedAt }: History): string | undefined {
  // Nobody may have agreed, or been told so, by the time when the record was read.
  const issued =
    issuedAt !== undefined || operations.some(({ by, told }) => typeof by === 'number' && told?.says === 'code')
  if (!issued) return undefined
  if (record === undefined) {
    const late = operations.some(({ nows }) => nows.some((now) => now > startedAt))
    return late ? undefined : 'the grant is gone'
  }
  const { code, pairs, retired, revokedAt } = record as unknown as Grant // what is not one has none of its parts
  if (code === undefined || !Array.isArray(pairs) || !Array.isArray(retired)) return 'the grant lacks a part'
  if (revokedAt !== undefined)
    return pairs.length + retired.length > 0 ? 'the grant is revoked, and has tokens' : undefined
  if (pairs.length > 0 !== (code.usedAt !== undefined))
    return 'the grant has tokens without a redeemed code, or the reverse'
  const broken = pairs.findIndex((pair, index) => (pair.superseded !== undefined) !== index < pairs.length - 1)
  return broken < 0 ? undefined : `pair ${broken + 1} of the grant is superseded without a successor, or the reverse`
}

function name({ code, pairs }: History, text: string): string {
  return nameOfText(code, pairs)(text)
}

function pairOf(history: History, { told }: Operation): string {
  return told?.says === 'tokens'
    ? describeAnswer('refresh', told, (text) => name(history, text)).replace('is answered 200 with ', '')
    : ''
}

function who({ by }: Operation): string {
  return typeof by === 'number' ? letterOf(by) : 'somebody'
}

/** Describes an operation and its answer. */
function told(history: History, operation: Operation): string {
  const nameOf = (text: string): string => name(history, text)
  const answer =
    operation.told === undefined ? 'is not answered' : describeAnswer(operation.does, operation.told, nameOf)
  return `${who(operation)} who ${describeOperation(operation, nameOf)} ${answer}`
}

function list(words: readonly string[]): string {
  return words.join(' and ')
}

/**
 * Tells a history in words.
 * @module
 */
import type { CallAnswer, History, Operation, OperationKind, ReceivedPair } from './history.js'
import type { Choice, Fate } from './schedule.js'

/** Returns the letter of a request: A, B, C and so on. */
export function letterOf(actor: number): string {
  return String.fromCharCode(65 + actor)
}

/** Prints choices, such as `A B B:lost-answer A`: each request named takes its next step, and meets the fate behind the colon. */
export function printChoices(choices: readonly Choice[]): string {
  return choices.map(({ actor, fate }) => letterOf(actor) + (fate === 'happens' ? '' : `:${fate}`)).join(' ')
}

/**
 * Parses choices.
 * @throws TypeError for any other text
 */
export function parseChoices(text: string): readonly Choice[] {
  return text.split(/\s+/).flatMap((word) => {
    if (word === '') return []
    const [, letter = '', fate = 'happens'] = /^([A-Z])(?::([a-z-]+))?$/.exec(word) ?? []
    if (letter === '') throw new TypeError(`not a step of a history: ${word}`)
    return [{ actor: letter.charCodeAt(0) - 65, fate: fate as Fate }] // a fate that there is not is none that can be chosen
  })
}

/** Returns a function that names a code or a token. */
export function nameOfText(code: string, pairs: readonly ReceivedPair[]): (text: string) => string {
  return (text) => {
    if (text === code) return 'the code'
    const access = pairs.findIndex(({ accessToken }) => accessToken === text)
    if (access >= 0) return `the access token of pair ${access + 1}`
    const refresh = pairs.findIndex(({ refreshToken }) => refreshToken === text)
    if (refresh >= 0) return `the refresh token of pair ${refresh + 1}`
    return text.startsWith('gwc_') ? 'another code' : 'an unknown token'
  }
}

/** Describes an answer, to be read after the name of the one who gets it. */
export function describeAnswer(does: OperationKind, told: CallAnswer, nameOf: (text: string) => string): string {
  switch (told.says) {
    case 'tokens':
      return `is answered 200 with ${nameOf(told.accessToken).replace('the access token of ', '')}`
    case 'active':
      return does === 'introspect' ? 'is told that the token works' : 'lets the token through'
    case 'done':
      return 'is answered 200'
    case 'code':
      return `is sent on with ${nameOf(told.code)}`
    case 'denied':
      return 'is sent on, refused'
    case 'refused':
      if (told.status === 401 && does === 'validate') return 'refuses the token'
      if (told.error === 'invalid_token' && does === 'introspect') return 'is told that the token does not work'
      return `is answered ${told.status} ${told.error}`
  }
}

const VERBS = {
  exchange: 'redeems',
  refresh: 'refreshes with',
  revoke: 'revokes',
  validate: 'is asked about',
  introspect: 'introspects',
}

/** Describes a request, to be read after its letter. */
export function describeOperation({ does, shows, resource }: Operation, nameOf: (text: string) => string): string {
  if (does === 'decide') return `sends the form: ${shows}`
  const where = resource === undefined ? '' : ` ${does === 'refresh' ? 'for' : 'at'} ${resource}`
  return `${VERBS[does]} ${nameOf(shows)}${where}`
}

/**
 * Tells the story of a history, a line for each step.
 * @param names - of the requests
 */
export function tell(history: History, names: readonly string[]): readonly string[] {
  const nameOf = nameOfText(history.code, history.pairs)
  const told = new Set<number>()
  const lines = history.lines.map(({ actor, text, note }) => {
    const who = told.has(actor) ? letterOf(actor) : `${letterOf(actor)} (${names[actor]})`
    told.add(actor)
    return `${who} ${text}${note === undefined ? '' : `   <- ${note}`}`
  })
  const retries = history.operations.flatMap((operation) => {
    if (operation.by !== 'retry' || operation.told === undefined) return []
    const answer = describeAnswer(operation.does, operation.told, nameOf)
    return [`A server that is well ${describeOperation(operation, nameOf)} once more, and ${answer}`]
  })
  const all = [...lines, ...retries]
  const width = String(all.length).length + 1
  return all.map((line, index) => `${String(index + 1).padStart(width)}. ${line}`)
}

/** Describes the beginning of a history in a sentence. */
export function tellBeginning({ pairs, operations, issuedAt }: History): string {
  if (issuedAt === undefined) return 'The grant begins with a form that nobody has decided on.'
  const before = operations.filter(({ by }) => by === 'before').length
  if (before === 0) return 'The grant begins with a code that nobody has redeemed.'
  if (before === 1 && pairs.length > 0) return 'The grant begins with pair 1.'
  return 'The grant begins with pair 1, whose grace is over, and pair 2, its successor.'
}

/**
 * The commands of the page of one grant's life, and their text in a link: `authorize,exchange,+5m,refresh`.
 * @module
 */

/** The moves of the clock, in seconds. */
export const MOVES = { '+1m': 60, '+5m': 300, '+1h': 3600, '+8h': 28_800, '+1d': 86_400 } as const

/** A move of the clock. */
export type Move = keyof typeof MOVES

/** One command of the reader: `again-2` shows refresh token 2 again, `a` and `b` let a client of a race take its next step. */
export type Command = (typeof PLAIN)[number] | Move | `again-${number}`

/** The commands without a number, but for the moves of the clock. */
const PLAIN = [
  'authorize',
  'exchange',
  'refresh',
  'lose',
  'again-code',
  'revoke',
  'race',
  'race-code',
  'a',
  'b',
] as const

/** The most commands of a link. */
const MOST = 300

/** A history as it was read: its commands, or what is wrong with it. */
export type ParsedHistory =
  | { readonly commands: readonly Command[]; readonly error?: undefined }
  | { readonly commands?: undefined; readonly error: string }

/** Returns the seconds of a move of the clock; undefined for any other command. */
export function secondsOf(command: Command): number | undefined {
  return Object.entries(MOVES).find(([move]) => move === command)?.[1]
}

/** Reads one command. */
export function parseCommand(word: string): Command | undefined {
  const again = /^again-([1-9]\d{0,2})$/.exec(word)?.[1]
  if (again !== undefined) return `again-${Number(again)}`
  const moves = Object.keys(MOVES) as Move[] // an object of this file, with no other keys
  return [...PLAIN, ...moves].find((each) => each === word)
}

/** Prints commands as the hash of a link, without its `#`. */
export function printHistory(commands: readonly Command[]): string {
  return commands.join(',')
}

/** Reads a link or its hash, or the text of a story of `explore`. */
export function parseHistory(hash: string): ParsedHistory {
  const text = decoded(hash.replace(/^[^#\s]*#/, '')).trim()
  if (text === '') return { commands: [] }
  if (isStory(text)) return parseStory(text)
  const words = text.split(',').map((word) => word.trim())
  if (words.length > MOST) return { error: `A history has at most ${MOST} commands.` }
  const commands: Command[] = []
  for (const word of words) {
    const command = parseCommand(word)
    if (command === undefined) return { error: `There is no command “${word.slice(0, 40)}”.` }
    commands.push(command)
  }
  return { commands }
}

/** Tells a story of `explore`, or its order of steps alone, from commands. */
function isStory(text: string): boolean {
  return /\bhistory: '/.test(text) || /^[A-Z](:[a-z-]+)?(\s+[A-Z](:[a-z-]+)?)*$/.test(text)
}

/** The races that stand for two requests of `explore`, with what comes before them. */
const RACES: Readonly<Record<string, readonly Command[]>> = {
  'refresh, refresh': ['authorize', 'exchange', 'race'],
  'exchange, exchange': ['authorize', 'race-code'],
}

/** Reads the order of the steps of two requests: two refreshes where the text does not name them. */
function parseStory(text: string): ParsedHistory {
  const requests = /\bhistories of ([^;]+);/.exec(text)?.[1] ?? 'refresh, refresh'
  const before = RACES[requests.replace(/\s+/g, ' ')]
  if (before === undefined) return { error: 'This page shows the explorer’s races of two refreshes or two exchanges.' }
  const order = (/\bhistory: '([^']*)'/.exec(text)?.[1] ?? text).split(/\s+/)
  if (order.length > MOST) return { error: `A history has at most ${MOST} commands.` }
  if (order.some((step) => step.includes(':'))) return { error: 'This page shows no faults of the explorer.' }
  const steps = order.map((step) => (step === 'A' ? 'a' : step === 'B' ? 'b' : undefined))
  if (steps.includes(undefined)) return { error: 'This page shows races of two requests, A and B.' }
  return { commands: [...before, ...steps.filter((step) => step !== undefined)] }
}

/** Decodes the percent signs of a hash, where they mean something. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

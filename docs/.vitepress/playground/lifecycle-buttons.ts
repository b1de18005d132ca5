/**
 * The buttons of the page in a state, and histories to begin with.
 * @module
 */
import type { State } from './lifecycle.js'
import { isPossible } from './lifecycle.js'
import type { Command } from './lifecycle-commands.js'
import { type MOVES, parseCommand } from './lifecycle-commands.js'

/** A button that runs a command. */
export interface Button {
  readonly command: Command
  readonly label: string
  readonly isPossible: boolean
}

/** Buttons with a title. */
export interface Group {
  readonly title: string
  readonly buttons: readonly Button[]
}

/** The labels of the moves of the clock. */
const MOVE_LABELS: Readonly<Record<keyof typeof MOVES, string>> = {
  '+1m': '+1 min',
  '+5m': '+5 min',
  '+1h': '+1 h',
  '+8h': '+8 h',
  '+1d': '+1 day',
}

/** Histories that show one thing each. */
export const EXAMPLES: readonly { readonly label: string; readonly history: string }[] = [
  { label: 'A lost answer costs nothing', history: 'authorize,exchange,lose,refresh,+1m,refresh' },
  { label: 'A stolen token ends the grant', history: 'authorize,exchange,refresh,+5m,again-1' },
  { label: 'Two clients refresh at once', history: 'authorize,exchange,race,a,b,b,a,a' },
  { label: 'A code comes twice', history: 'authorize,exchange,+1m,again-code' },
]

/** Returns the buttons of a state. */
export function groupsOf(state: State): readonly Group[] {
  const button = (command: Command, label: string): Button => ({
    command,
    label,
    isPossible: isPossible(state, command),
  })
  const step = (racer: 'a' | 'b'): Button =>
    button(racer, `Client ${racer.toUpperCase()}: ${state.race?.next[racer] ?? 'no step left'}`)
  const agains = state.shown.toSorted((a, b) => a - b)
  const moves = Object.entries(MOVE_LABELS).map(([move, label]) => [parseCommand(move), label] as const)
  return [
    {
      title: 'Requests',
      buttons: [
        button('authorize', 'Authorize'),
        button('exchange', 'Exchange the code'),
        button('refresh', 'Refresh'),
        button('revoke', 'Revoke'),
      ],
    },
    {
      title: 'Trouble',
      buttons: [
        button('lose', 'Lose the next answer'),
        button('again-code', 'Replay the code'),
        ...agains.map((number) => button(`again-${number}`, `Replay refresh token ${number}`)),
      ],
    },
    {
      title: 'Clock',
      buttons: moves.flatMap(([move, label]) => (move === undefined ? [] : [button(move, label)])),
    },
    {
      title: 'Race',
      buttons: [
        button('race', 'Race two refreshes'),
        button('race-code', 'Race two exchanges'),
        ...(state.race === undefined ? [] : [step('a'), step('b')]),
      ],
    },
  ]
}

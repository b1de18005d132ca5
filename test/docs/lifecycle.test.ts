/**
 * The page of one grant's life: what its functions make of commands, links and the stored grant.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { State } from '../../docs/.vitepress/playground/lifecycle.js'
import { isPossible, openSession, play } from '../../docs/.vitepress/playground/lifecycle.js'
import { endOf, layout, printTime, statusOf } from '../../docs/.vitepress/playground/lifecycle-bars.js'
import type { Command, Move } from '../../docs/.vitepress/playground/lifecycle-commands.js'
import { MOVES, parseHistory, printHistory } from '../../docs/.vitepress/playground/lifecycle-commands.js'
import { unicodeText } from '../unicode.js'

const PLAIN: readonly Command[] = ['authorize', 'exchange', 'refresh', 'lose', 'again-code', 'revoke', 'race']
const STEPS: readonly Command[] = ['race-code', 'a', 'b']
const moves = fc.constantFrom(...(Object.keys(MOVES) as Move[])) // an object of constants
const again = fc.integer({ min: 1, max: 999 }).map((number): Command => `again-${number}`)
const anyCommand: fc.Arbitrary<Command> = fc.oneof(fc.constantFrom(...PLAIN, ...STEPS), moves, again)

/** Replays a history of which every command must be possible. */
async function stateAfter(history: string): Promise<State> {
  const { commands, error } = parseHistory(history)
  expect(error).toBeUndefined()
  const played = await play(commands ?? [])
  expect(played.error).toBeUndefined()
  return played.session.state()
}

/** Names each bar with its status. */
function statuses({ bars, now }: State): Record<string, string> {
  return Object.fromEntries(bars.map((bar) => [bar.name, statusOf(bar, now)]))
}

/** Walks through possible commands, chosen by numbers. */
async function walk(choices: readonly number[], first: readonly Command[] = []): Promise<State> {
  const session = await openSession()
  for (const command of first) expect(await session.run(command)).toBe(true)
  for (const choice of choices) {
    const state = session.state()
    const agains = state.shown.map((number): Command => `again-${number}`)
    const all: readonly Command[] = [...PLAIN, ...STEPS, '+1m', '+5m', '+8h', ...agains]
    const possible = all.filter((each) => isPossible(state, each))
    const command = possible[choice % possible.length]
    expect(command !== undefined && (await session.run(command))).toBe(true)
  }
  return session.state()
}

const choices = fc.array(fc.nat(1000), { maxLength: 20 })

describe('the history of a grant', () => {
  it('replays to the same state from its link', async () => {
    await fc.assert(
      fc.asyncProperty(choices, async (chosen) => {
        const state = await walk(chosen)
        expect(await stateAfter(printHistory(state.commands))).toEqual(state)
      }),
      { numRuns: 30 },
    )
  })

  it('walks from a code to tokens, by the same requests as any client', async () => {
    const state = await stateAfter('authorize,exchange')
    expect(state.messages.map(({ answer }) => answer.slice(0, 3))).toEqual(['200', '302', '200'])
    expect(state.messages[2]?.request).toMatch(/^POST \/oauth2\/token\nauthorization: Basic .*code_verifier=/s)
    expect(statuses(state)).toEqual({
      Code: 'used at 0',
      'Access token 1': 'works until 8 h',
      'Refresh token 1': 'works until 180 d',
    })
    expect(JSON.parse(state.record ?? '')).toMatchObject({ subject: 'ada', pairs: [{}] })
  })

  it('says when a code and an access token expire', async () => {
    expect(statuses(await stateAfter('authorize,+5m,+5m'))).toEqual({ Code: 'expired at 10 min' })
    const state = await stateAfter('authorize,exchange,+8h')
    expect(statuses(state)).toMatchObject({ 'Access token 1': 'expired at 8 h' })
  })

  it('gets the same successor again after a lost answer, within the grace period', async () => {
    const lost = await stateAfter('authorize,exchange,lose,refresh')
    expect(lost.received).toEqual([1])
    expect(lost.messages.at(-1)).toMatchObject({ lost: true })
    expect(lost.latest).toBe('Client: refresh with refresh token 1: 200, pair 2, but the answer is lost.')
    const found = await stateAfter('authorize,exchange,lose,refresh,+1m,+1m,+1m,+1m,refresh')
    expect(found.received).toEqual([1, 2])
    expect(tokensIn(found)).toEqual(tokensIn(lost))
    expect(found.latest).toBe('Client: refresh with refresh token 1: 200, pair 2.')
    expect(statuses(found)).toMatchObject({ 'Refresh token 1': 'grace period, works until 5 min' })
  })

  it('revokes the grant where an old refresh token comes back after its grace period', async () => {
    for (const history of [
      'refresh,+5m,again-1',
      'lose,refresh,+5m,refresh',
      'again-code',
      'revoke',
      '+8h,again-code',
    ]) {
      const state = await stateAfter(`authorize,exchange,${history}`)
      expect(state.latest).toMatch(/ The grant is revoked\.$/)
      expect(layout(state.bars, state.now).rows.filter(({ works }) => works)).toEqual([])
    }
    const harmless = await stateAfter('authorize,exchange,refresh,+1m,again-1')
    expect(harmless.latest).toBe('Client: replay of refresh token 1: 200, pair 2.')
  })

  it.each(['authorize,exchange,race', 'authorize,exchange,+1m,lose,race'])(
    'gives both of two racing refreshes the same successor in every order of steps: %s',
    async (before) => {
      const orders = await everyOrder(before)
      expect(orders.length).toBeGreaterThan(5)
      for (const { messages, bars, race } of orders) {
        const answers = messages.slice(-2).map(({ answer }) => JSON.parse(answer.replace(/^200/, '')))
        expect(answers[0].refresh_token).toBe(answers[1].refresh_token)
        expect(answers[0].access_token).toBe(answers[1].access_token)
        expect(bars.filter(({ kind }) => kind === 'refresh')).toHaveLength(2)
        expect(race?.lines.filter((line) => line.endsWith(': stored'))).toHaveLength(1)
      }
      expect(orders.some(({ race }) => race?.lines.some((line) => line.endsWith(': not stored')))).toBe(true)
    },
  )

  it('gives tokens to one of two racing exchanges, and revokes them', async () => {
    for (const state of await everyOrder('authorize,race-code')) {
      expect(state.messages.slice(-2).map(({ answer }) => answer.slice(0, 3))).toEqual(['200', '400'])
      expect(state.bars.every((bar) => state.now >= endOf(bar))).toBe(true)
    }
  })

  it('stops at a command that is not possible', async () => {
    const { session, error } = await play(['authorize', 'refresh', 'exchange'])
    expect(error).toBe('Command 2, refresh, is not possible at its place.')
    expect(session.state().commands).toEqual(['authorize'])
  })
})

describe('a link', () => {
  it('reads what it prints, also out of an address', () => {
    fc.assert(
      fc.property(fc.array(anyCommand, { maxLength: 300 }), (commands) => {
        const { href } = new URL(`#${printHistory(commands)}`, 'https://docs.example/playground/lifecycle')
        expect(parseHistory(new URL(href).hash)).toEqual({ commands })
      }),
    )
  })

  it('says what is wrong with any other text, and never throws', () => {
    expect(parseHistory('#authorize,fly').error).toBe('There is no command “fly”.')
    expect(parseHistory('again-0').error).toBe('There is no command “again-0”.')
    expect(parseHistory('%E0%A4%A').error).toContain('%E0%A4%A')
    expect(parseHistory(Array(301).fill('a').join(',')).error).toContain('at most 300')
    fc.assert(
      fc.property(unicodeText(), (text) => {
        const { commands, error } = parseHistory(text)
        expect((commands === undefined) !== (error === undefined)).toBe(true)
      }),
    )
  })

  it('takes the order of the steps of two requests from a story of the explorer', () => {
    const story = (requests: string, order: string): string =>
      `Explored 6 histories of ${requests}; the shortest that breaks a rule has no fault.\n` +
      ` 1. A (refresh) reads the application and the grant\nOnce more: explore({ ..., history: '${order}' })`
    expect(printHistory(parseHistory('#A%20B%20B').commands ?? [])).toBe('authorize,exchange,race,a,b,b')
    expect(printHistory(parseHistory(story('refresh, refresh', 'B A')).commands ?? [])).toBe(
      'authorize,exchange,race,b,a',
    )
    expect(printHistory(parseHistory(story('exchange, exchange', 'A B')).commands ?? [])).toBe(
      'authorize,race-code,a,b',
    )
    expect(parseHistory(story('refresh, revoke', 'A B')).error).toContain('two refreshes')
    expect(parseHistory('A B:lost-answer A').error).toContain('no faults')
    expect(parseHistory('A B C').error).toContain('A and B')
  })
})

describe('the time line', () => {
  it('draws every piece inside the line', async () => {
    await fc.assert(
      fc.asyncProperty(choices, async (chosen) => {
        const { bars, now } = await walk(chosen)
        const { rows, ticks, now: left } = layout(bars, now)
        for (const piece of rows.flatMap((row) => row.pieces)) {
          expect(piece.width).toBeGreaterThan(0)
          expect(piece.left).toBeGreaterThanOrEqual(0)
          expect(piece.left + piece.width).toBeLessThanOrEqual(100.001)
        }
        expect(ticks.filter((tick) => tick.isNow)).toEqual([{ label: printTime(now), left, isNow: true }])
      }),
      { numRuns: 30 },
    )
  })

  it('says of a refresh token what the service says of it', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(choices, async (chosen) => {
        const { bars, now, commands, shown } = await walk(chosen, ['authorize', 'exchange'])
        for (const number of shown) {
          const { session, error } = await play([...commands, `again-${number}`])
          const bar = bars.find(({ name }) => name === `Refresh token ${number}`)
          // A race that runs takes no other command.
          if (error !== undefined || bar === undefined) continue
          compared++
          expect(session.state().messages.at(-1)?.answer.startsWith('200')).toBe(now < endOf(bar))
        }
      }),
      { numRuns: 60 },
    )
    expect(compared).toBeGreaterThan(0)
  })

  it('prints times in the units that they have', () => {
    expect([0, 1, 300, 3660, 86_400, 119_400].map(printTime)).toEqual([
      '0',
      '1 s',
      '5 min',
      '1 h 1 min',
      '1 d',
      '1 d 9 h 10 min',
    ])
  })
})

/** Returns the pair of the last answer. */
function tokensIn({ messages }: State): unknown {
  const { access_token, refresh_token } = JSON.parse(messages.at(-1)?.answer.replace(/^200/, '') ?? '')
  return { access_token, refresh_token }
}

/** Runs a race to its end in every order of its steps. */
async function everyOrder(history: string): Promise<readonly State[]> {
  const state = await stateAfter(history)
  const next = (['a', 'b'] as const).filter((racer) => isPossible(state, racer))
  if (next.length === 0) return [state]
  const ends: State[] = []
  for (const racer of next) ends.push(...(await everyOrder(`${history},${racer}`)))
  return ends
}

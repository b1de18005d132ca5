/**
 * The two kinds of commands of the lifecycle test: one that does something, and one that shows a credential of a grant.
 * @module
 */
import type * as fc from 'fast-check'
import type { Shown } from '../model.js'
import type { Life, Real, World } from './answers.js'
import { credentialOf, scopeOf, validate } from './answers.js'
import type { Names } from './names.js'
import { BEFORE } from './names.js'

/** A command: fast-check runs some in a row, and makes a failing row shorter. */
export type LifecycleCommand = fc.AsyncCommand<World, Real>

/** The credential that is shown: of the newest grant or the one before, of a pair so many back from its newest. */
export interface Choice {
  readonly what: Shown['what']
  readonly back: number
  readonly grant: 0 | 1
}

/** Makes a command that does something, and then checks every token. */
export function command(
  text: string,
  check: (world: World) => boolean,
  run: (world: World, real: Real & { readonly told: (text: string) => void }) => Promise<string>,
): LifecycleCommand {
  return {
    check,
    run: async (world, real) => {
      const line = real.story.push(text) - 1
      const told = (now: string): void => {
        real.story[line] = now
      }
      const add = (outcome: string): void => told(`${real.story[line]}: ${outcome}`)
      try {
        const outcome = await run(world, { ...real, told })
        if (outcome !== '') add(outcome)
        await validate(world, real)
      } catch (error) {
        add(error instanceof Error ? error.message : String(error))
        throw error
      }
    },
    toString: () => text,
  }
}

/** Makes a command that shows a credential of a grant; left out where there is none yet. */
export function onGrant(
  text: (names: Names) => string,
  { what, back, grant }: Choice,
  run: (life: Life, real: Real, shown: Shown, credential: string) => Promise<string>,
  fits: (life: Life) => boolean = () => true,
): LifecycleCommand {
  const isToken = what === 'access' || what === 'refresh'
  const of = grant === 0 ? 'the newest grant' : 'the grant before it'
  const newest = back === 0 ? `the newest ${what} token` : `the ${what} token ${back} before the newest`
  const shownBefore = isToken ? newest : what === 'code' ? 'the code' : 'an unknown token'
  const find = ({ lives }: World): Life | undefined => {
    // Where there are fewer, the nearest: so a history that is made shorter still hangs together.
    const life = lives.at(-1 - grant) ?? lives[0]
    return life !== undefined && fits(life) && (!isToken || life.pairs.length > 0) ? life : undefined
  }
  return command(
    text({ ...BEFORE, shown: `${shownBefore} of ${of}` }),
    (world) => find(world) !== undefined,
    async (world, real) => {
      const life = find(world)
      if (life === undefined) throw new Error('no such grant')
      const shown: Shown = isToken ? { what, pair: Math.max(0, life.pairs.length - 1 - back) } : { what }
      const named = 'pair' in shown ? `${what} token ${shown.pair + 1}` : shownBefore
      const scope = (choice: number): string => `scope ${scopeOf(real.wiring, choice)}`
      real.told(text({ shown: `${named} of grant ${life.number}`, scope }))
      return run(life, real, shown, credentialOf(life, shown))
    },
  )
}
